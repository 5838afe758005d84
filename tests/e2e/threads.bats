#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2034
# CASES "Threads, exec, exit": one process is one row, however its threads come and go.

load helpers

one_row() {
	exact
	same processes "$(summary .usage.total_processes)" 1
	same rows "$(summary '.processes | length')" 1
	same pid "$(row true .pid)" "$(summary .run.pid)"
}

@test "case 22: eight threads that end one by one" {
	meter -- "$WORK/threads" onebyone 8 20
	one_row
	same threads "$(row true .threads)" 9
	same "at once" "$(summary .usage.max_threads)" 9
	holds "all their CPU" '.processes[0].cpu_seconds >= 0.160'
	cpu_close cpu "$(summary .usage.cpu_seconds)" \
		"$(summary '.rusage | (.cpu_user_seconds + .cpu_system_seconds) * 1e6 | round')" 4
}

@test "case 22: the leader first, then a worker exits 7" {
	meter -- "$WORK/threads" leaderfirst 30 7
	one_row
	same status "$status" 7
	same code "$(row true .exit_code)" 7
	same "of the run" "$(summary .run.exit_code)" 7
	same threads "$(row true .threads)" 2
	holds "the worker's CPU" '.processes[0].cpu_seconds >= 0.030'
}

@test "case 23: a thread that is not the leader execs" {
	meter -- "$WORK/threads" nonleader true
	one_row
	same status "$status" 0
	same comm "$(row true .comm)" true
	same execs "$(row true .execs)" 2
	same threads "$(row true .threads)" 2
}

@test "case 24: eight threads and an exec, 100 times" {
	meter -- "$WORK/threads" execstorm 8 100
	one_row
	same status "$status" 0
	same execs "$(row true .execs)" 101
	same threads "$(row true .threads)" 801
}

@test "case 24: one of 16 threads raises SIGSEGV" {
	meter -- "$WORK/threads" segv 16
	one_row
	same status "$status" 139
	same signal "$(row true .exit_signal)" 11
	same threads "$(row true .threads)" 17
}

# ended CODE SIGNAL STATUS
ended() {
	one_row
	same status "$status" "$3"
	same code "$(row true .exit_code)" "$1"
	same signal "$(row true .exit_signal)" "$2"
	same "code of the run" "$(summary .run.exit_code)" "$1"
	same "signal of the run" "$(summary .run.exit_signal)" "$2"
}

@test "case 25: exit 77" {
	meter -- "$WORK/hold" exit=77
	ended 77 null 77
}

@test "case 25: SIGKILL" {
	meter -- "$WORK/hold" kill=9
	ended null 9 137
}

@test "case 25: SIGSEGV" {
	meter -- "$WORK/hold" segv
	ended null 11 139
}

@test "case 25: SIGTERM" {
	meter -- "$WORK/hold" kill=15
	ended null 15 143
}

@test "case 25: the same below a shell" {
	meter -- sh -c "'$WORK/hold' exit=77; '$WORK/hold' kill=9; '$WORK/hold' segv; '$WORK/hold' kill=15; exit 5"
	exact
	same status "$status" 5
	same ends "$(rows '.comm == "hold"' | jq -c 'sort_by(.started) | map(.exit_code // -.exit_signal)')" \
		"[77,-9,-11,-15]"
}

@test "case 25: a threaded process killed" {
	meter -- "$WORK/threads" killed 4 5
	ended null 9 137
	same threads "$(row true .threads)" 5
	within memory "$(row true .peak_rss_bytes)" "$(truth rss)" $(($(truth rss) + MIB / 2))
}
