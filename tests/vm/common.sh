#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# common - what must come out on every kernel, by BPF and (SOURCE=ptrace) by ptrace; inside tools/vm.
# Speaks TAP.
. "${0%/*}/tap.sh"

meter -- hold touch=20 print exit=7
[ "$status" -eq 7 ] && near "$(row peak_rss_bytes '"comm":"hold"')" "$(truth rss)" 65536 &&
	[ "$(row exit_code '"comm":"hold"')" = 7 ]
check "exit 7: peak, code"

for how in kill=9 kill=11 kill=15 abort; do
	meter -- sh -c "hold touch=30 print $how; exit 3"
	case $how in kill=*) want=${how#kill=} ;; *) want=6 ;; esac
	[ "$status" -eq 3 ] && near "$(row peak_rss_bytes '"comm":"hold"')" "$(truth rss)" 65536 &&
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
[ "$status" -eq 5 ] && [ "$(row execs '"comm":"hold"')" = 2 ] &&
	near "$(row peak_rss_bytes '"comm":"hold"')" $((50 * 1048576)) 2000000
check "case 3: 50 MiB, then exec: the largest image counts"

meter -- threads onebyone 8 20
exact && [ "$(row threads '"comm":"threads"')" = 9 ] &&
	[ "$(ms "$(row cpu_seconds '"comm":"threads"')")" -ge 160 ]
check "case 22: eight threads end one by one: one row, all CPU"

meter -- threads leaderfirst 20 7
code=$(row exit_code '"comm":"threads"')
# Up to 6.0 a tracer cannot tell, and says so.
case ${SOURCE:-bpf}:$(uname -r) in ptrace:5.*) status=null ;; esac
[ "$(top forks)" = 0 ] && each 1 && [ "$code" = $status ]
check "case 22: the leader ends first: one row, the code that wait4 has"

meter -- threads nonleader /work/hold touch=10 exit=4
[ "$status" -eq 4 ] && [ "$(top exits)" = 1 ] &&
	near "$(row peak_rss_bytes '"comm":"hold"')" $((10 * 1048576)) 2000000
check "case 23: a thread that is not the leader execs"

meter -- threads killed 4 5
[ "$status" -eq 137 ] && near "$(row peak_rss_bytes '"comm":"threads"')" $((20 * 1048576)) 2500000
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
	near "$(ms "$(row cpu_seconds '"comm":"burn"')")" "$(waited_ms)" 5
check "case 15: CPU as wait4 has it"

target forks 60 counts 200 &
target=$!
until_true [ -s counts ]
attach --duration 0.7
[ "$status" -eq 0 ] && [ "$(top forks)" -gt 5 ] && adds_up
check "case 31: attached to a target that forks"
kill $target

finish
