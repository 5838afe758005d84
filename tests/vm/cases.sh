#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# cases - what must come out on every kernel; by busybox's shell, inside tools/vm.  Speaks TAP.
#
# Truths are what the workloads print of themselves (smaps_rollup, wait4), never exitmeter's.
count=0
failed=0
cd /tmp || exit 1

# field NAME FILTER-TEXT: of the first object of sum.json's processes that holds the text
row() {
	sed 's/.*"processes":\[//; s/{"pid"/\n{"pid"/g' sum.json | grep '^{"pid"' | grep -F "$2" | head -n 1 |
		grep -o "\"$1\":[^,}]*" | head -n 1 | cut -d: -f2
}

top() {
	sed 's/.*"completeness"://' sum.json | grep -o "\"$1\":[^,}]*" | head -n 1 | cut -d: -f2
}

# Rows by name, which cover every process.
rows() {
	sed 's/.*"groups":\[//; s/\].*//' sum.json | grep -o '"processes":[0-9]*' |
		awk -F: '{ n += $2 } END { print n + 0 }'
}

# Readings are exact at an end; sums are not where threads count for themselves, or where a kernel
# before 5.19 keeps none.  Any other reason is one too many.
exact() {
	[ "$(top events_lost)" = 0 ] &&
		[ -z "$(sed 's/.*"reasons":\[//; s/\].*//; s/"rss-counted-by-thread: 1",*//
			s/"this kernel.s BPF cannot sum up[^"]*",*//' sum.json)" ]
}

# each EXITS: all of them, each with one row
each() {
	[ "$(top exits)" = "$1" ] && [ "$(rows)" = "$1" ]
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
		echo "ok $count - $1"
	else
		echo "not ok $count - $1"
		failed=1
		{
			echo "status $status; $(grep -o '"completeness":{[^}]*}' sum.json)"
			cat err
			grep '=' out
			sed 's/.*"processes":\[//; s/{"pid"/\n{"pid"/g' sum.json | grep '^{"pid"' | cut -c1-400 | head -n 2
		} 2>&1 | head -n 10 | sed 's/^/# /'
	fi
}

# near A B BYTES
near() {
	[ -n "$1" ] && [ -n "$2" ] && [ "$1" != null ] && [ $(($1 - $2)) -le "$3" ] && [ $(($2 - $1)) -le "$3" ]
}

# milliseconds of a number of seconds
ms() {
	echo "$1" | awk '{ printf "%d", $1 * 1000 + 0.5 }'
}

echo "# $(uname -r), $(nproc) CPUs"

meter -- hold touch=20 print exit=7
[ $status -eq 7 ] && near "$(row peak_rss_bytes '"comm":"hold"')" "$(truth rss)" 65536 &&
	[ "$(row exit_code '"comm":"hold"')" = 7 ]
check "exit 7: peak, code"

for how in kill=9 kill=11 kill=15 abort; do
	meter -- sh -c "hold touch=30 print $how; exit 3"
	case $how in kill=*) want=${how#kill=} ;; *) want=6 ;; esac
	[ $status -eq 3 ] && near "$(row peak_rss_bytes '"comm":"hold"')" "$(truth rss)" 65536 &&
		[ "$(row exit_signal '"comm":"hold"')" = "$want" ]
	check "ends by $how: peak, signal"
done

for how in fork vfork spawn; do
	meter -- spawner 60 $how /work/tiny
	exact && near "$(row peak_rss_bytes '"comm":"tiny"')" 500000 1500000 &&
		near "$(row peak_rss_bytes '"comm":"spawner"')" "$(truth rss)" 262144
	check "case 1: $how+exec from 60 MiB: the child has its own"
done

meter -- hold touch=50 exec /work/hold exit=5
[ $status -eq 5 ] && [ "$(row execs '"comm":"hold"')" = 2 ] &&
	near "$(row peak_rss_bytes '"comm":"hold"')" $((50 * 1048576)) 2000000
check "case 3: 50 MiB, then exec: the largest image counts"

meter -- threads onebyone 8 20
exact && [ "$(row threads '"comm":"threads"')" = 9 ] &&
	[ "$(ms "$(row cpu_seconds '"comm":"threads"')")" -ge 160 ]
check "case 22: eight threads end one by one: one row, all CPU"

meter -- threads leaderfirst 20 7
[ "$(top forks)" = 0 ] && each 1 && [ "$(row exit_code '"comm":"threads"')" = $status ]
check "case 22: the leader ends first: one row, the code that wait4 has"

# races WHO: several may look like the last, in the hook and off the CPU
races() {
	meter -- threads atonce 16 50
	exact && each 51 && [ "$(top max_processes)" = 2 ] && [ "$(top max_threads)" = 17 ]
	check "16 threads end at once, 50 times: one row each$1"

	meter -- threads atonce 4 100
	exact && each 101 && [ "$(top max_threads)" = 5 ]
	check "four threads on four CPUs end at once, 100 times: one row each$1"
}

races ""
case $(uname -r) in 6.1.*)
	export EXITMETER_TEST_OLD=1
	races " (by the programs for kernels before 5.19)"
	meter -- churn 500
	exact && each 501 && [ "$(top peak_rss_upper_bytes)" = null ]
	check "case 14: 500 children (by the programs for kernels before 5.19)"
	unset EXITMETER_TEST_OLD
	;;
esac

meter -- threads nonleader /work/hold touch=10 exit=4
[ $status -eq 4 ] && [ "$(top exits)" = 1 ] &&
	near "$(row peak_rss_bytes '"comm":"hold"')" $((10 * 1048576)) 2000000
check "case 23: a thread that is not the leader execs"

meter -- threads killed 4 5
[ $status -eq 137 ] && near "$(row peak_rss_bytes '"comm":"threads"')" $((20 * 1048576)) 2500000
check "case 13: threads killed at 20 MiB"

meter -- churn 500
exact && each 501
check "case 14: 500 children"

meter -- taskset 1 churn 500
exact && each 501
check "case 51: on one CPU no record is missing"

meter -- churn 2000 jobs=4
[ "$(top events_lost)" = 0 ] && [ $(($(top initial) + $(top forks))) -eq "$(top exits)" ] &&
	each "$(top exits)"
check "four loops at once: the identity holds"

meter -- burn 200
[ "$(ms "$(row cpu_seconds '"comm":"burn"')")" -ge 200 ] &&
	[ "$(ms "$(row cpu_seconds '"comm":"burn"')")" -le 400 ]
check "case 15: CPU"

meter -- sh -c 'hold touch=20 idle=1500 & hold touch=30 idle=1500; wait'
lower=$(top peak_rss_lower_bytes)
upper=$(top peak_rss_upper_bytes)
near "$lower" $((54 * 1048576)) $((4 * 1048576)) && [ "$(top max_processes)" = 3 ]
case $?$upper$(uname -r) in
0null5.*) true ;;
0null* | [1-9]*) false ;;
*) [ "$upper" -ge "$lower" ] ;;
esac
check "case 5: two at once: their sum"

burn 100000 >/dev/null &
rm -f sum.json
exitmeter -q --source="${SOURCE:-bpf}" --json sum.json -p $! --duration 1 >out 2>err
status=$?
wall=$(ms "$(grep -o '"wall_seconds":[^,]*' sum.json | cut -d: -f2)")
[ $status -eq 0 ] && [ "$(top running_at_end)" = 1 ] &&
	[ "$(ms "$(top cpu_seconds)")" -ge $((wall / 2)) ] &&
	[ "$(ms "$(top cpu_seconds)")" -le $((wall + 300)) ]
check "attached to one that never leaves its CPU: what it used"
kill $! 2>/dev/null

plan=kprobe:taskstats_exit
SOURCE=bpf:$plan
meter -- hold touch=20 print kill=9
SOURCE=
grep -qF "\"hook\":\"$plan\"" sum.json && near "$(row peak_rss_bytes '"comm":"hold"')" "$(truth rss)" 65536
check "plan $plan: peak of one that is killed"

target forks 120 counts 200 >/dev/null &
sleep 0.3
rm -f sum.json
exitmeter -q --source="${SOURCE:-bpf}" --json sum.json -p $! --duration 1 >out 2>err
status=$?
kill $!
[ $status -eq 0 ] && [ "$(top forks)" -gt 5 ] &&
	[ $(($(top initial) + $(top forks))) -eq $(($(top exits) + $(top running_at_end))) ]
check "case 31: attached to a target that forks"

echo "1..$count"
exit $failed
