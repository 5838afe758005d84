#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2034
# What a run is held to: budgets and a quiet host (INTERFACE 1, 2).  However loaded the machine is,
# the status says what the summary says.

load helpers
load spin

# passed WHAT: the only limit that was passed is that
passed() {
	holds "$1 alone" ".budget.exceeded | length == 1 and .[0].what == \"$1\"
		and .[0].value > .[0].limit and .[0].at >= 0"
}

agrees() {
	"$EXITMETER" report run.journal -q --json again.json
	cmp sum.json again.json
}

all_busy() {
	[ "$(nproc)" -gt 1 ] || skip "elsewhere: one processor can never be a core busier than it is"
	spin "$(nproc)"
}

@test "budget: far below every limit" {
	exits_needed "each process is counted"
	SHAPE_SEEN=1
	meter --budget peak_rss=1G,cpu=60,wall=60,processes=50 -- "$WORK/hold" touch=20
	same status "$status" 0
	holds "nothing passed" '.budget | .on == "lower" and .exceeded == [] and .unknown == []
		and .limits == {peak_rss_bytes: 1073741824, cpu_seconds: 60, wall_seconds: 60, processes: 50}'
	same "messages" "$(wc -c <err)" 0
	agrees
	meter -- true
	holds "no budget" '.budget | .on == null and .exceeded == [] and all(.limits[]; . == null)'
}

@test "budget: peak_rss, by the process that made it, at the moment it did" {
	exits_needed "it may live between two samples"
	meter --budget peak_rss=30M,wall=60 -- sh -c '"$WORK/tiny" 0; "$WORK/hold" touch=60; true'
	same status "$status" 123
	passed peak_rss_bytes
	holds "by the holder" '.budget.exceeded[0] | .comm == "hold" and .limit == 31457280'
	holds "a row" '.budget.exceeded[0].pid as $pid | any(.processes[]; .pid == $pid and .comm == "hold")'
	holds "while it lived" '.budget.exceeded[0] as $e | .processes[] | select(.pid == $e.pid)
		| $e.at >= .started and $e.at <= .ended + 0.001'
	one_line err
	agrees
}

@test "budget: cpu and wall" {
	exits_needed "it may live between two samples"
	SHAPE_SEEN=1
	meter --budget cpu=0.1 -- sh -c '"$WORK/burn" 200; true'
	same status "$status" 123
	passed cpu_seconds
	holds "by the burner" '.budget.exceeded[0].comm == "burn"'
	meter --budget wall=0.2 -- sleep 0.3
	same status "$status" 123
	passed wall_seconds
	holds "by the root, at the limit" '.run.pid as $root | .budget.exceeded[0] | .pid == $root and .at == 0.2'
	"$EXITMETER" report run.journal 2>text
	grep -Ex 'exitmeter: over budget: wall 0\.[0-9]+ s, allowed 0\.20 s, at 0\.2 s by sleep \(pid [0-9]+\)' text
}

@test "budget: processes, by the first that was one too many" {
	exits_needed "each process is counted"
	SHAPE_SEEN=1
	meter --budget processes=3 -- sh -c '"$WORK/tiny" 0; "$WORK/tiny" 0; sleep 0; "$WORK/tiny" 0; true'
	same status "$status" 123
	passed processes
	holds "the fourth" '.budget.exceeded[0] | .comm == "sleep" and .value == 5'
	meter --budget processes=5 -- sh -c '"$WORK/tiny" 0; "$WORK/tiny" 0; sleep 0; "$WORK/tiny" 0; true'
	same status "$status" 0
}

@test "budget: what only might have been passed fails on the upper bound alone" {
	sums || skip "elsewhere: only BPF has an upper bound that differs here"
	SHAPE_SEEN=1
	# a child of 60 MiB shares them: between 60 and 120 were there
	meter --budget peak_rss=90M -- "$WORK/spawner" 60 fork true
	same status "$status" 0
	holds "the bounds differ" '.usage | .peak_rss_lower_bytes < 94371840 and .peak_rss_upper_bytes > 94371840'
	meter --budget peak_rss=90M --budget-on=upper -- "$WORK/spawner" 60 fork true
	same status "$status" 123
	holds "the upper one" '.usage.peak_rss_upper_bytes as $upper | .budget | .on == "upper"
		and [.exceeded[] | [.what, .value]] == [["peak_rss_bytes", $upper]]'
	agrees
}

@test "budget: a figure that is not known is said and does not fail" {
	SOURCE=proc
	meter --budget peak_rss=1K,wall=60 --budget-on=upper -- sleep 0.1
	same status "$status" 0
	holds "unknown" '.budget | .unknown == ["peak_rss_bytes"] and .exceeded == []'
	one_line err
	grep -x "exitmeter: budget: peak_rss's upper bound is not known, and not judged" err
	"$EXITMETER" report run.journal 2>text
	grep -x "exitmeter: budget not judged: peak_rss's upper bound is not known" text
	agrees
}

@test "budget: the command's own end goes before it, --fail-status after" {
	SHAPE_SEEN=1
	meter --budget wall=0.00001 -- sh -c 'exit 7'
	same "its code" "$status" 7
	holds "said all the same" '.budget.exceeded | length == 1'
	meter --budget wall=0.00001 -- sh -c 'kill -KILL $$'
	same "its signal" "$status" 137
	meter --budget wall=0.00001 --fail-status 3 -- true
	same "--fail-status" "$status" 3
	meter --budget wall=0.00001 --fail-status 0 -- true
	same "only said" "$status" 0
}

@test "budget: of what is attached to" {
	SHAPE_SEEN=1
	sleep 60 3>&- &
	METER_PID=$!
	local target=$METER_PID
	meter_raw -p "$target" --duration 0.3 --budget wall=0.1
	checked
	same status "$status" 123
	meter_raw -p "$target" --duration 0.1 --budget wall=60
	checked
	same status "$status" 0
	kill "$target"
}

@test "budget: what is no budget starts nothing" {
	local option
	for option in --budget= --budget=peak_rss --budget=peak_rss=0 --budget=peak_rss=5Q --budget=cpu=1s \
		--budget=processes=1.5 --budget=wall=1,wall=2 --budget=disk=1 '--budget=wall=1 --budget-on=both' \
		--budget-on=upper --fail-status=256 --fail-status=x --wait-quiet=-1 --wait-quiet=x; do
		# shellcheck disable=SC2086 # several words
		meter_raw $option -- touch started
		same "$option" "$status" 125
		one_line err
		[ ! -e started ]
	done
	meter_raw --wait-quiet=1 -p $$ --duration 0.1
	same "--wait-quiet -p" "$status" 125
	one_line err
}

@test "--require-quiet: fails where a co-tenant was seen, and waits for that" {
	all_busy
	SHAPE_SEEN=1
	meter --require-quiet -- true
	unspin
	same status "$status" "$(summary '.host_load.verdict | if . == "cotenant" then 122 else 0 end')"
	# under sanitisers exitmeter itself can take a processor of the spinners for that long
	if [ -z "${EM_SAN:-}" ]; then
		same status "$status" 122
		one_line err
	fi
	# where it was not too slow to be shorter
	holds "padded" '.host_load | .verdict != "unavailable" and .span_seconds >= 0.1 and .window_seconds > 0
		and (.window_seconds < 0.1 or .window_seconds == .span_seconds)'
	agrees
}

@test "--require-quiet: the status is the verdict's; a budget goes before it" {
	SHAPE_SEEN=1
	meter --require-quiet -- sleep 0.2
	same status "$status" "$(summary '.host_load.verdict | if . == "cotenant" then 122 else 0 end')"
	spin
	meter --require-quiet --budget wall=0.1 -- sleep 0.2
	same "a budget" "$status" 123
	meter --require-quiet -- sh -c 'exit 9'
	same "the command's" "$status" 9
}

@test "--wait-quiet: gives up after its time, and with --require-quiet does not start" {
	all_busy
	SHAPE_SEEN=1
	meter_raw --wait-quiet 0 -- touch started
	checked
	same status "$status" 0
	[ -e started ]
	holds "noted" '.source.notes | any(. == "host-not-quiet-at-start")'
	rm started
	meter_raw --wait-quiet 0.1 --require-quiet -- touch started
	same status "$status" 122
	one_line err
	[ ! -e started ]
	meter_raw --wait-quiet 0.1 --require-quiet --fail-status 44 -- touch started
	same "--fail-status" "$status" 44
	[ ! -e started ]
	meter_raw --wait-quiet 0.1 --require-quiet --fail-status 0 -- touch started
	same "only said" "$status" 0
	[ -e started ]
}

# Whether the background run watches the machine by now
watches() {
	find "/proc/$METER_PID/fd" -lname /proc/stat 2>/dev/null | grep . >/dev/null
}

@test "--wait-quiet: the command starts after what kept the host busy" {
	all_busy
	SHAPE_SEEN=1
	meter_background --wait-quiet 2 -- touch started
	until_true 20 watches
	date +%s.%N >ended
	unspin
	meter_wait
	same status "$status" 0
	[ -e started ]
	holds "later" "(.run.started_at | sub(\"\\\\.\\\\d+Z\"; \"Z\") | fromdateiso8601) + 1 >= $(cat ended)"
}
