# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # status and target are the sourcing file's
#
# tap - what the cases inside tools/vm share; by busybox's shell
#
# Truths are what the workloads print of themselves (smaps_rollup, wait4), never exitmeter's.
count=0
failed=0
cd /tmp || exit 1

# rows: of sum.json, a line each
rows() {
	sed 's/.*"processes":\[//; s/{"pid"/\n{"pid"/g; s/\],"processes_omitted.*//' sum.json | grep '^{"pid"'
}

# row NAME TEXT: the value of the first row that holds the text
row() {
	rows | grep -F "$2" | head -n 1 | grep -o "\"$1\":[^,}]*" | head -n 1 | cut -d: -f2-
}

# part NAME FIELD: of the completeness, usage, source or rusage of sum.json
part() {
	sed "s/.*\"$1\":{//" sum.json | grep -o "\"$2\":[^,}]*" | head -n 1 | cut -d: -f2-
}

top() {
	part completeness "$1"
}

# Rows by name, which cover every process.
rows_by_name() {
	sed 's/.*"groups":\[//; s/\].*//' sum.json | grep -o '"processes":[0-9]*' |
		awk -F: '{ n += $2 } END { print n + 0 }'
}

# Readings are exact at an end; sums are not where threads count for themselves, or where a kernel
# before 5.19 keeps none, or where an emulated processor was away while it had an entry locked.  Any
# other reason is one too many.
exact() {
	[ "$(top events_lost)" = 0 ] &&
		[ -z "$(sed 's/.*"reasons":\[//; s/\].*//; s/"rss-counted-by-thread: 1",*//
			s/"busy-address-spaces: [12]",*//
			s/"this kernel.s BPF cannot sum up[^"]*",*//' sum.json)" ]
}

usage() {
	part usage "$1"
}

# each EXITS: all of them, each with one row
each() {
	[ "$(top exits)" = "$1" ] && [ "$(rows_by_name)" = "$1" ]
}

# until_true COMMAND...: for 30 s at most
until_true() {
	tries=0
	until "$@" || [ $tries -ge 600 ]; do
		sleep 0.05
		tries=$((tries + 1))
	done
	"$@"
}

# attach COMMAND...: to the process $target, for half a second
attach() {
	rm -f sum.json
	exitmeter -q --source="${SOURCE:-bpf}" --json sum.json -p "$target" "$@" >out 2>err
	status=$?
}

# Everyone was seen.
adds_up() {
	[ $(($(top initial) + $(top forks))) -eq $(($(top exits) + $(top running_at_end))) ]
}

truth() {
	sed -n "s/^$1=//p" out | tail -n 1
}

meter() {
	rm -f sum.json
	exitmeter -q --source="${SOURCE:-bpf}" --json sum.json "$@" >out 2>err
	status=$?
}

# check NAME: by the status of the command before, with what was said
check() {
	result=$?
	count=$((count + 1))
	if [ $result -eq 0 ]; then
		echo "ok $count - ${SOURCE:+$SOURCE: }$1"
	else
		echo "not ok $count - ${SOURCE:+$SOURCE: }$1"
		failed=1
		{
			echo "status $status; $(grep -o '"completeness":{[^}]*}' sum.json)"
			grep -o '"peak_rss_lower_bytes":[^,]*,"peak_rss_upper_bytes":[^,]*' sum.json
			cat err
			grep '=' out
			rows | cut -c1-400 | head -n 2
		} 2>&1 | head -n 12 | sed 's/^/# /'
	fi
}

# skip NAME REASON
skip() {
	count=$((count + 1))
	echo "ok $count - $1 # skip elsewhere: $2"
}

# 128: it died of something, 512: it warned (KERNEL: admin-guide/tainted-kernels).
kernel_is_well() {
	[ $(($(cat /proc/sys/kernel/tainted) & 640)) -eq 0 ]
}

finish() {
	kernel_is_well
	check "the kernel has nothing to complain of"
	echo "1..$count"
	exit $failed
}

# near A B BYTES
near() {
	[ -n "$1" ] && [ -n "$2" ] && [ "$1" != null ] && [ $(($1 - $2)) -le "$3" ] && [ $(($2 - $1)) -le "$3" ]
}

# between N LOW HIGH
between() {
	[ -n "$1" ] && [ "$1" != null ] && [ "$1" -ge "$2" ] && [ "$1" -le "$3" ]
}

# milliseconds of a number of seconds
ms() {
	echo "$1" | awk '{ printf "%d", $1 * 1000 + 0.5 }'
}

# The CPU that wait4 has for the command and whom it waited for, in milliseconds.
waited_ms() {
	echo $(($(ms "$(part rusage cpu_user_seconds)") + $(ms "$(part rusage cpu_system_seconds)")))
}

echo "# $(uname -rm), $(nproc) CPUs"
