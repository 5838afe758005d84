#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# plans - each hook plan that this kernel loads, by itself: every way to end, every kind of number
#
# usage: plans.sh [PLAN...]      inside tools/vm, or anywhere with the workloads on the PATH
#
# Truth is what the workload reads of itself (smaps_rollup) just before its end, and wait4's word.
# Speaks TAP; ends with the rows of the table in doc/PLANS.md.  "exact": to the page; "bound": said to
# be one, and it holds.
count=0
failed=0
cells=
plan=

# What a kernel that has the plan must give; the rest may be bounds.
must_be_exact() {
	case $plan:$1:$(uname -r) in
	*:fell:* | maxrss:peak:* | maxrss:split:* | maxrss:SIGKILL:* | maxrss:seccomp:* | maxrss:threads:* | maxrss:exec:* | maxrss:vfork:* | maxrss:32-bit:*) false ;;
	exit_group*:seccomp:5.*) false ;; # no signal is delivered then
	exit_group*:split:5.* | exit_group*:split:6.[01].* | *:exec:5.* | *:exec:6.[01].*) false ;; # threads count for themselves
	esac
}

run() {
	rm -f sum.json
	exitmeter -q --source="bpf:$plan" --json sum.json "$@" >out 2>err
	status=$?
	said=out
}

# The row whose text holds $1, as "name value" lines.
row() {
	sed 's/.*"processes":\[//; s/{"pid"/\n{"pid"/g' sum.json | grep '^{"pid"' | grep -F "$1" | head -n 1 |
		sed 's/"argv":\[[^]]*\],//; s/"rss_split_bytes":{"anon":/"split_anon":/; s/[{}]//g' |
		tr ',' '\n' | sed 's/^"\([a-z_]*\)":/\1 /' >row
}

value() {
	sed -n "s/^$1 //p" row | head -n 1
}

truth() {
	sed -n "s/^$1=//p" "$said" | head -n 1
}

# within DIFFERENCE SLACK
within() {
	[ "$1" -le "$2" ] && [ $((-($1))) -le "$2" ]
}

# total NAME: of the completeness
total() {
	sed 's/.*"completeness"://' sum.json | grep -o "\"$1\":[^,}]*" | head -n 1 | cut -d: -f2
}

# peak_is TRUTH SLACK [FIELD]: exact within SLACK bytes, or a bound that holds; worsens $grade
peak_is() {
	peak=$(value "${3:-peak_rss_bytes}")
	error=$(value peak_rss_error_bytes)
	case $peak in '' | null)
		say "no peak"
		return
		;;
	esac
	off=$((peak - $1))
	if [ "$(value peak_rss_exact)" = true ]; then
		within "$off" "$2" || say "said to be exact: $peak, truth $1"
		return
	fi
	[ "$grade" = wrong ] || grade=bound
	case $error in
	null) ;; # it says that it does not know
	*) within "$off" $((error + $2)) || say "bound $peak ± $error, truth $1" ;;
	esac
}

# equal NAME VALUE
equal() {
	[ "$(value "$1")" = "$2" ] || say "$1 is $(value "$1"), not $2"
}

say() {
	grade=wrong
	why="$why; $1"
}

# case_is ASPECT: its line and its cell
case_is() {
	count=$((count + 1))
	if [ "$grade" = wrong ] || { [ "$grade" != exact ] && must_be_exact "$1"; }; then
		failed=1
		echo "not ok $count - $plan: $1: $grade$why"
		sed 's/^/# /' err
		head -c 600 row | tr '\n' ' ' | sed 's/^/# /'
		echo
	else
		echo "ok $count - $plan: $1: $grade"
	fi
	cells="$cells $grade |"
}

# rollup: the most that tiny-32 or tiny-nolibc printed of itself
rollup() {
	awk '$1 == "Rss:" && $2 > most { most = $2 } END { print most * 1024 }' "$said"
}

# alike NAME...: what tiny-nolibc's row, in the file wide, says of these
alike() {
	for name; do
		equal "$name" "$(sed -n "s/^$name //p" wide | head -n 1)"
	done
}

# until_true COMMAND...: for 30 s at most
until_true() {
	tries=0
	until "$@" 2>/dev/null || [ $tries -ge 600 ]; do
		sleep 0.05
		tries=$((tries + 1))
	done
}

# attached_to PROGRAM: by its parent, while it waits for the end of its input; its row
attached_to() {
	rm -f end truth run.journal sum.json
	mkfifo end
	sh -c "$1 read >truth; :" <end &
	target=$!
	exec 3>end
	until_true grep -q Rss: truth
	exitmeter -q --source="bpf:$plan" --json sum.json --journal run.journal -p $target >out 2>err 3>&- &
	meter=$!
	until_true [ -s run.journal ]
	exec 3>&-
	wait $target $meter
	row "\"comm\":\"$1\""
}

# A 32-bit program has the row that a 64-bit one has.
narrow_try() {
	for how in exit "exec $(command -v tiny-nolibc)"; do
		# shellcheck disable=SC2086 # words
		run tiny-nolibc $how
		row '"comm":"tiny-nolibc"'
		cp row wide
		case $how in exec*) how="exec $(command -v tiny-32)" ;; esac
		# shellcheck disable=SC2086
		run tiny-32 $how
		row '"comm":"tiny-32"'
		peak_is "$(rollup)" 0
		alike peak_rss_exact exit_code exit_signal threads execs
	done
	case $plan in exit_group*) ;; *) return ;; esac
	# Its hook is attached when it is needed.
	run sh -c 'tiny-32; sleep 0.3; tiny-32 exit >second'
	row '"argv":["tiny-32"],' # the shell's copy before it may have been larger
	whole=$grade
	peak_is "$(rollup)" 0 peak_rss_final_bytes
	[ "$grade" = wrong ] || grade=$whole # it may have ended before it was noticed
	row '"argv":["tiny-32","exit"]'
	said=second
	peak_is "$(rollup)" 0 peak_rss_final_bytes
	attached_to tiny-32
	equal exit_code 0
	[ "$(value split_anon)" != null ] || [ "$grade" = wrong ] || grade=bound
}

begin() {
	grade=exact
	why=
}

# one_ends WAY: by itself
one_ends() {
	run ending "$1" 8
	mv out "said.$1"
	cp sum.json "sum.$1"
	echo "$1 $status" >>ended
}

# all_end WAY...: each a child of one shell, which writes down what wait4 says of it.  The mark that is all
# that maxrss has would be the shell's as well.
all_end() {
	rm -f ended said.* sum.*
	if [ "$plan" = maxrss ]; then
		for way; do
			one_ends "$way"
		done
		run threads onebyone 8 2
		mv sum.json sum.threads
		return
	fi
	# shellcheck disable=SC2016 # the inner shell expands it
	run --all sh -c 'for way; do ending $way 8 >said.$way; echo "$way $?" >>ended; done; threads onebyone 8 2; :' sh "$@"
	for way in threads "$@"; do
		cp sum.json "sum.$way"
	done
}

# ends WAY: the row of it, and what it said
ends() {
	cp "sum.$1" sum.json
	said=said.$1
	row "\"argv\":[\"ending\",\"$1\","
}

plan_try() {
	cells=
	all_end return exit_group sys_exit sigalrm sigsegv abort sigkill seccomp_thread seccomp_process \
		fell thread_exit_group threads_sigkill last_thread
	begin
	for way in return exit_group sys_exit sigalrm sigsegv abort; do
		ends $way
		case $way in return) slack=32768 ;; *) slack=0 ;; esac
		peak_is "$(truth rss)" $slack
	done
	case_is peak

	begin
	ends fell
	peak_is "$(truth most)" 16384
	case_is fell

	begin
	for way in exit_group sigsegv thread_exit_group; do
		ends $way
		equal peak_vm_bytes "$(truth vm)"
	done
	case_is VmPeak

	begin
	for way in exit_group sigkill thread_exit_group last_thread; do
		ends $way
		case $(value split_anon) in
		null) [ "$grade" = wrong ] || grade=unknown ;;
		*) equal split_anon "$(truth anon)" ;;
		esac
	done
	case_is split

	begin
	run burn 100
	row '"comm":"burn"'
	ours=$(value cpu_seconds)
	theirs=$(sed -n 's/.*"rusage":{\([^}]*\)}.*/\1/p' sum.json | tr ',' '\n' | sed -n 's/.*cpu_.*"://p' |
		awk '{ s += $1 } END { printf "%.6f", s }')
	awk -v a="$ours" -v b="$theirs" 'BEGIN { d = a - b; exit !(a > 0 && d < 0.002 && d > -0.002) }' ||
		say "CPU $ours, wait4 $theirs"
	case_is CPU

	begin
	[ "$(wc -l <ended)" -eq 13 ] || say "$(wc -l <ended) ended"
	while read -r way code; do
		ends "$way"
		# wait4's word; up to 6.0 a leader that ended first has the last one.
		if [ "$code" -ge 128 ]; then
			equal exit_signal $((code - 128))
		else
			equal exit_code "$code"
			equal exit_signal null
		fi
	done <ended
	case_is codes

	begin
	for way in sigkill threads_sigkill; do
		ends $way
		peak_is "$(truth rss)" 0
	done
	case_is SIGKILL

	begin
	for way in seccomp_thread seccomp_process; do
		ends $way
		peak_is "$(truth rss)" 0
	done
	case_is seccomp

	begin
	for way in thread_exit_group last_thread; do
		ends $way
		peak_is "$(truth rss)" 0
	done
	equal threads 2
	cp sum.threads sum.json
	row '"comm":"threads"'
	equal threads 9
	case_is threads

	begin
	run ending nonleader_exec 8
	row '"comm":"ending"'
	peak_is "$(truth rss)" 0
	equal execs 2
	equal exit_code 3
	case_is exec

	begin
	run spawner 40 vfork "$(command -v tiny)"
	row '"comm":"tiny"'
	[ "$(value peak_rss_bytes)" -lt 8000000 ] || say "the child has $(value peak_rss_bytes)"
	peak_is "$(value peak_rss_bytes)" 0
	row '"comm":"spawner"'
	peak_is "$(truth rss)" 262144
	case_is vfork

	begin
	if tiny-32 >/dev/null 2>&1; then
		narrow_try
		case_is 32-bit
	else
		count=$((count + 1))
		echo "ok $count - $plan: 32-bit # skip elsewhere: no 32-bit programs here"
		cells="$cells none |"
	fi

	begin
	target forks 120 counts 200 >/dev/null 2>&1 &
	target=$!
	run -p $target --duration 0.5
	kill $target
	wait $target 2>/dev/null
	[ "$status" = 0 ] && [ "$(total forks)" -gt 3 ] && [ "$(total events_lost)" = 0 ] &&
		[ $(($(total initial) + $(total forks))) = $(($(total exits) + $(total running_at_end))) ]
	# shellcheck disable=SC2181 # the last of them tells
	[ $? = 0 ] || say "status $status; $(grep -o '"completeness":{[^}]*' sum.json)"
	case_is attach
	rows="$rows
| $(uname -r) | $plan |$cells"
}

cd "$(mktemp -d)" || exit 1
grep -q tracefs /proc/mounts || mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
echo "# $(uname -r), $(nproc) CPUs"
rows=
[ $# -gt 0 ] || set -- sched_process_exit+mm kprobe:taskstats_exit fentry:taskstats_exit \
	exit_group+exit+signal_deliver maxrss
for plan in "$@"; do
	run true
	if [ $status = 0 ]; then
		plan_try
	else
		echo "# $plan: $(head -n 1 err)"
		rows="$rows
| $(uname -r) | $plan | $(sed -n 's/.*can be read: [^:]*:*[a-z_]*: //p' err | head -n 1) |"
	fi
done
echo "$rows" | sed '1d; s/^/# /'
echo "1..$count"
exit $failed
