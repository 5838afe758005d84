#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2034
# CASES "Short lives and CPU": nothing lost, nothing twice.

load helpers

# CPU of the whole tree by wait4 of the root, microseconds
rusage_us() {
	summary '.rusage | (.cpu_user_seconds + .cpu_system_seconds) * 1e6 | round'
}

every_cpu_positive() {
	holds "every row has CPU" '[.processes[] | select(.cpu_seconds == null or .cpu_seconds <= 0)] == []'
}

@test "case 14: true alone" {
	meter -- true
	exact
	same processes "$(summary .usage.total_processes)" 1
	same group "$(summary '.groups[] | select(.comm == "true") | .processes')" 1
	every_cpu_positive
	cpu_close cpu "$(summary .usage.cpu_seconds)" "$(rusage_us)"
}

@test "case 14: 200 times true in a loop" {
	meter -- sh -c 'i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i + 1)); done'
	exact
	same processes "$(summary .usage.total_processes)" 201
	same group "$(summary '.groups[] | select(.comm == "true") | .processes')" 200
	same "rows of true" "$(rows '.comm == "true"' | jq length)" 200
	every_cpu_positive
	cpu_close cpu "$(summary .usage.cpu_seconds)" "$(rusage_us)"
}

@test "case 14: 2000 true by xargs -P4" {
	seq 2000 >list
	meter -- xargs -a list -n1 -P4 /bin/true
	exact
	same processes "$(summary .usage.total_processes)" 2001
	same group "$(summary '.groups[] | select(.comm == "true") | .processes')" 2000
	every_cpu_positive
	within listed "$(summary '.processes | length')" 400 1000
	same omitted "$(summary '.processes_omitted + (.processes | length)')" 2001
	faults 'select(.event == "process" and (.cpu_seconds == null or .cpu_seconds <= 0))
		| "no CPU: \(.pid)"' run.journal
	within "at once" "$(summary .usage.max_processes)" 3 5
	cpu_close cpu "$(summary .usage.cpu_seconds)" "$(rusage_us)"
}

@test "case 14: --all has every row" {
	meter --all -- "$WORK/churn" 1500 vfork
	exact
	same listed "$(summary '.processes | length')" 1501
	same omitted "$(summary .processes_omitted)" 0
}

@test "case 15: 400 children that burn 2 ms each" {
	local root
	meter --all -- "$WORK/burn" children 400 2
	exact
	root=$(summary .run.pid)
	echo "rows of other parents: $(rows ".ppid != $root and .pid != $root")"
	same children "$(rows ".ppid == $root" | jq length)" 400
	holds "each has its 2 ms" "[.processes[] | select(.ppid == $root and .cpu_seconds < 0.002)] == []"
	cpu_close "their sum" "$(rows ".ppid == $root" | jq '[.[].cpu_seconds] | add')" "$(truth children_us)"
	cpu_close cpu "$(summary .usage.cpu_seconds)" "$(rusage_us)"
}

@test "case 16: two burners beside each other" {
	meter -- sh -c "'$WORK/burn' 500 & '$WORK/burn' 500 & wait; :"
	exact
	same processes "$(summary .usage.total_processes)" 3
	holds "1 s and little more" '.usage.cpu_seconds | . >= 1 and . < 1.2'
	cpu_close cpu "$(summary .usage.cpu_seconds)" "$(rusage_us)"
}

@test "case 17: a burner ends in the middle of an interval" {
	meter -i 0.5 -- sh -c "'$WORK/burn' 1200; '$WORK/hold' idle=700; :"
	exact
	# journal_agrees has seen to it that no sample has more cores than the machine and none falls
	holds "there were samples" '[inputs, .] | map(select(.event == "sample")) | length >= 2' run.journal
	holds "the burner is there" '.usage.cpu_seconds >= 1.2'
	holds "no more than one at a time" '.usage.peak_cpus | . > 0.1 and . < 1.1'
	cpu_close cpu "$(summary .usage.cpu_seconds)" "$(rusage_us)"
}

@test "case 18: a burner that nobody reaped" {
	local ns
	meter -- timeout 0.7 sh -c "'$WORK/burn' progress used 5000; true"
	same status "$status" 124
	ns=$(word used)
	holds "what it used is there" ".usage.cpu_seconds * 1e9 >= $ns - 20e6"
	holds "and not much more" ".usage.cpu_seconds * 1e9 <= $ns + 100e6"
}

@test "case 18: --wait-tree waits for it" {
	local ns
	meter --wait-tree -- timeout --foreground 0.3 sh -c "'$WORK/burn' progress used 1000; true"
	exact
	same status "$status" 124
	ns=$(word used)
	same running "$(summary .completeness.running_at_end)" 0
	holds "its row" "[.processes[] | select(.comm == \"burn\" and .cpu_seconds * 1e9 >= $ns
		and .cpu_seconds >= 1 and .exit_code == 0 and .running == false)] | length == 1"
	holds "wall time is the waiting's" '.run.wall_seconds >= 1'
}

@test "case 18: without it the burner is listed as running" {
	local pid ns
	meter -- timeout --foreground 0.4 sh -c "'$WORK/burn' progress used 1200; true"
	ns=$(word used)
	same status "$status" 124
	same running "$(summary .completeness.running_at_end)" 1
	pid=$(row .running .pid)
	same comm "$(row .running .comm)" burn
	holds "its CPU so far" ".processes[] | select(.running) | .cpu_seconds | . > 0 and . * 1e9 <= $ns + 20e6"
	holds "its memory so far" '.processes[] | select(.running) | .peak_rss_bytes > 300000'
	tail --pid="$pid" -f /dev/null
}

@test "case 19: SIGCHLD ignored in the parent" {
	local root
	meter -- "$WORK/daemonise" ignore 1 20 none
	exact
	root=$(summary .run.pid)
	same children "$(rows ".ppid == $root" | jq length)" 20
	same processes "$(summary .usage.total_processes)" 21
	holds "all have their memory" "[.processes[] | select(.ppid == $root and .peak_rss_bytes < 1048576)] == []"
}

# daemon_counted: the three of daemonise, each with its creator
daemon_counted() {
	local middle daemon
	exact
	middle=$(truth middle daemon)
	daemon=$(truth daemon daemon)
	same processes "$(summary .usage.total_processes)" 3
	same "ppid of the middle" "$(row ".pid == $middle" .ppid)" "$(summary .run.pid)"
	same "ppid of the daemon" "$(row ".pid == $daemon" .ppid)" "$middle"
	within memory "$(row ".pid == $daemon" .peak_rss_bytes)" "$(truth rss daemon)" \
		$(($(truth rss daemon) + MIB))
	holds "CPU" ".processes[] | select(.pid == $daemon) | .cpu_seconds * 1e6 >= $(truth cpu_us daemon)"
}

@test "case 19: double fork and setsid" {
	meter -- "$WORK/daemonise" stay 20 30 daemon
	daemon_counted
}

@test "case 19: the first parent ends first" {
	meter --wait-tree -- "$WORK/daemonise" leave 20 30 daemon
	daemon_counted
}

journal_has_row() {
	[ "$(grep -c "\"event\":\"process\".*\"pid\":$1[,}]" run.journal)" -gt 0 ]
}

samples_after_row() {
	[ "$(sed "1,/\"event\":\"process\".*\"pid\":$1[,}]/d" run.journal | grep -c '"event":"sample"')" -ge "$2" ]
}

@test "case 20: a child of 200 MB that is never waited for" {
	local pid
	exits_needed "a row of a zombie"
	mkfifo tell go
	meter_background -- "$WORK/spawner" 10 zombie tell go "$WORK/hold" populate=200
	read -r pid <tell
	until_true 10 journal_has_row "$pid"
	same "it is a zombie still" "$(sed 's/.*) //' "/proc/$pid/stat" | cut -d' ' -f1)" Z
	until_true 10 samples_after_row "$pid" 3
	echo x >go
	meter_wait
	exact
	within row "$(row ".pid == $pid" .peak_rss_bytes)" $((200 * MIB)) $((203 * MIB))
	holds "a zombie holds nothing" "[inputs, .]
		| (map(.event == \"process\" and .pid == $pid) | index(true)) as \$at
		| .[\$at:] | map(select(.event == \"sample\")) | .[1:]
		| length > 0 and all(.rss_bytes < 30 * 1048576)" run.journal
}

@test "case 21: the end of a process of 1 GiB" {
	local pid
	meter -- "$WORK/waiter" kernel "$WORK/hold" populate=1024
	exact
	pid=$(truth pid kernel)
	cpu_close row "$(row ".pid == $pid" .cpu_seconds)" "$(truth cpu_us kernel)"
	cpu_close tree "$(summary .usage.cpu_seconds)" "$(rusage_us)"
	within memory "$(row ".pid == $pid" .peak_rss_bytes)" $((1024 * MIB)) $((1027 * MIB))
}

@test "the living's CPU is the ended's: ordinary, batch and real-time burners on one CPU" {
	local last
	taskset -c 0 chrt -f 1 true 2>/dev/null || skip "elsewhere: no real-time scheduling here"
	meter -i 0.25 -- taskset -c 0 sh -c '
		for how in "chrt -f 1" "chrt -r 1" "chrt -b 0" "nice -n 5" "chrt -o 0"; do
			$how "$0" 100 &
		done
		wait
		sleep 0.7' "$WORK/burn"
	exact
	# All but sh and sleep have ended by then: slices counted at switches and ticks, against
	# the sums at TASK_DEAD.
	last=$(jq -s '[.[] | select(.event == "sample") | .cpu_seconds] | last | . * 1e6 | round' run.journal)
	within "end less last sample, us" "$(($(summary '.usage.cpu_seconds * 1e6 | round') - last))" 0 5000
	within "all, us" "$last" 500000 900000
}

@test "CPU of a task that changes its scheduling class again and again" {
	taskset -c 0 chrt -f 1 true 2>/dev/null || skip "elsewhere: no real-time scheduling here"
	meter -i 0.25 -- sh -c 'taskset -c 0 "$0" 900 & for i in 1 2 3 4 5; do
			chrt -f -p 1 $!; sleep 0.08; chrt -o -p 0 $!; sleep 0.08
		done; wait' "$WORK/burn"
	exact
	within "rows less usage, us" "$(summary '(([.processes[].cpu_seconds] | add) - .usage.cpu_seconds) * 1e6 | round')" -100 100
	holds "samples end below the total" \
		"[inputs | select(.event == \"sample\") | .cpu_seconds] | max <= $(summary .usage.cpu_seconds)" run.journal
}
