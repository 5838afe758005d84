#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# preempt - with preempt=full: programs are skipped (7.0 on), and wait4 returns before the last
# switch; inside tools/vm.  Speaks TAP.
. "${0%/*}/tap.sh"

grep -q '(full)' /sys/kernel/debug/sched/preempt
check "preempt=full is in force"

# ended: the rows of the forked, by the journal: the summary is one line, too long for a shell
ended() {
	grep '"event":"process"' run.journal | grep '"execs":0'
}

# Peaks that are said to be exact but are not what all of them have, within a few pages.
wrong_peaks() {
	ended | grep '"peak_rss_exact":true' | sed 's/.*"peak_rss_bytes":\([^,]*\).*/\1/' |
		awk -v low="$1" -v high="$2" '$1 < low || $1 > high { n++ } END { print n + 0 }'
}

# Others that are neither unknown nor say how far they may be off, or that they do not know it.
unflagged() {
	ended | grep '"peak_rss_exact":false' |
		grep -cv '"peak_rss_bytes":null\|"peak_rss_error_bytes":\(null\|[1-9][0-9]*\)'
}

# What a child of churn has: by one of it alone, on an idle machine.
meter -- churn 1
one=$(row peak_rss_bytes '"execs":0')
between "$one" 65536 1048576
check "a child of churn has a peak"

meter --journal run.journal -- churn 4000 jobs=4
[ "$(top forks)" = 4004 ] && [ "$(top exits)" = 4005 ] && [ "$(top events_lost)" = 0 ] && adds_up
check "4,000 forks by four loops: none lost"
echo "# repaired $(top records_repaired), $(grep -o '"reasons":\[[^]]*' sum.json | head -n 1)"

[ "$(ended | wc -l)" -eq 4004 ] && [ "$(wrong_peaks $((one - 65536)) $((one + 65536)))" -eq 0 ] &&
	[ "$(unflagged)" -eq 0 ]
check "4,000 forks: a peak is right, or flagged"

[ "$(top exact)" = true ] || grep -q 'program-skips\|busy-address\|rss-counted-by-thread' sum.json
check "4,000 forks: what was skipped is said"

meter -- taskset 1 churn 500
[ "$(top exits)" = 501 ] && [ "$(top events_lost)" = 0 ] && adds_up
check "case 51: 500 times fork and _exit on one CPU: no record is missing"

missing=0
i=0
while [ $i -lt 20 ]; do
	meter -- taskset 1 hold touch=1 exit=$i
	[ "$status" -eq "$i" ] && [ "$(top exits)" = 1 ] && [ "$(top events_lost)" = 0 ] &&
		[ "$(row exit_code '"comm":"hold"')" = $i ] || missing=$((missing + 1))
	i=$((i + 1))
done
[ $missing -eq 0 ]
check "case 51: 20 short runs on one CPU: each has its record"

EXITMETER_TEST_BESIDE=1
export EXITMETER_TEST_BESIDE
meter -- churn 1000 jobs=4
[ "$(top exits)" = 1005 ] && [ "$(top events_lost)" = 0 ] && adds_up
check "with second copies from the start: counted once"

finish
