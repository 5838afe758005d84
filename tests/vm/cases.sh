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

# Readings are exact at an end; sums are not where threads count for themselves.
exact() {
	[ "$(top events_lost)" = 0 ] && { [ "$(top exact)" = true ] || grep -q 'rss-counted-by-thread' sum.json; }
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
[ "$(top forks)" = 0 ] && [ "$(top exits)" = 1 ]
check "case 22: the leader ends first: one row"

meter -- threads nonleader /work/hold touch=10 exit=4
[ $status -eq 4 ] && [ "$(top exits)" = 1 ] &&
	near "$(row peak_rss_bytes '"comm":"hold"')" $((10 * 1048576)) 2000000
check "case 23: a thread that is not the leader execs"

meter -- threads killed 4 5
[ $status -eq 137 ] && near "$(row peak_rss_bytes '"comm":"threads"')" $((20 * 1048576)) 2500000
check "case 13: threads killed at 20 MiB"

meter -- churn 500
exact && [ "$(top exits)" = 501 ]
check "case 14: 500 children"

meter -- taskset 1 churn 500
exact && [ "$(top exits)" = 501 ]
check "case 51: on one CPU no record is missing"

meter -- churn 2000 jobs=4
[ "$(top events_lost)" = 0 ] && [ $(($(top initial) + $(top forks))) -eq "$(top exits)" ]
check "four loops at once: the identity holds"

meter -- burn 200
[ "$(ms "$(row cpu_seconds '"comm":"burn"')")" -ge 200 ] &&
	[ "$(ms "$(row cpu_seconds '"comm":"burn"')")" -le 400 ]
check "case 15: CPU"

target forks 20 counts 200 >/dev/null &
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
