#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# preempt - with preempt=full: programs are skipped (7.0 on), and wait4 returns before the last
# switch; inside tools/vm.  Speaks TAP.
#
# usage: preempt.sh [RUNS]      how many short runs on one CPU; 20
. "${0%/*}/tap.sh"
runs=${1:-20}

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

# Who waits and who ends are on one CPU: there a last record mostly comes after wait4 has returned.
rm -f run.journal sum.json
taskset 1 exitmeter -q --source=bpf -r "$runs" --journal run.journal -- hold exit=3 >out 2>err
status=$?
[ $status -eq 3 ] && [ "$(grep '"event":"process"' run.journal | grep -c '"exit_code":3,')" -eq "$runs" ] &&
	[ "$(grep '"event":"summary"' run.journal | grep -c '"exits":1,"running_at_end":0,"events_lost":0,')" -eq "$runs" ]
check "case 51: short runs on one CPU with exitmeter: each has its record"
echo "# $(grep -c '"event":"process"' run.journal) records of $runs runs"

EXITMETER_TEST_BESIDE=1
export EXITMETER_TEST_BESIDE
meter -- churn 1000 jobs=4
[ "$(top exits)" = 1005 ] && [ "$(top events_lost)" = 0 ] && adds_up
check "with second copies from the start: counted once"

finish
