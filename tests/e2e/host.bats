#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2034
# Whether the host was quiet (SPEC 2): what must hold however loaded the machine is.  A tree that
# sleeps while one process outside computes sees at least that one.

load helpers
load spin

# What SPEC 2.3 and H-33 say of every run's own figures
consistent() {
	holds "foreign is busy less own" '.host_load
		| (.busy_seconds - .own_seconds) / .window_seconds - .foreign_cores | fabs < 1e-6'
	holds "the threshold" '.host_load
		| 1 + 0.02 / .window_seconds - .threshold_cores | fabs < 1e-9'
	holds "the verdict" '.host_load
		| .verdict == (if .foreign_cores >= .threshold_cores then "cotenant" else "quiet" end)'
	holds "the worst window" '.host_load | .worst_window == null or
		(.worst_window | .seconds >= 0.1 and .at >= 0
		and .verdict == (if .foreign_cores >= 1 + 0.02 / .seconds then "cotenant" else "quiet" end))'
	# what is attached to is metered a little before the span begins
	holds "own is the tree and exitmeter" '.run.mode as $mode | .usage.cpu_seconds as $tree | .host_load
		| .own_seconds >= $tree - 0.01 or $mode == "attach"'
}

# The journal and exitmeter report say the same.
agrees() {
	"$EXITMETER" report run.journal -q --json again.json
	cmp sum.json again.json
}

@test "H-30: one that computes outside the tree is foreign" {
	local before after
	spin
	# what it used is read inside the span
	meter -- sh -c 'cat spun >before; sleep 0.8; cat spun >after'
	unspin
	before=$(word before)
	after=$(word after)
	consistent
	# the counter has ticks of 10 ms, on each processor and at each end
	holds "what it used" ".host_load | .busy_seconds - .own_seconds > ($after - $before) / 1e9 * 0.9 - 0.1"
	holds "a core or nearly" '.host_load.foreign_cores >= 0.7'
	holds "the worst window is no better" '.host_load
		| .worst_window.foreign_cores >= .foreign_cores - 0.1'
	agrees
}

@test "H-4, H-5: the same inside the tree is own, while it lives and once it has ended" {
	SHAPE_SEEN=1
	meter -- "$WORK/burn" 500
	consistent
	holds "own" '.source.self_cpu_seconds as $self | .host_load
		| .own_seconds >= 0.5 and .own_seconds < 0.6 + $self'
	rm run.journal
	meter_background -- sh -c 'echo $$ >here; exec "$WORK/burn" 600000'
	until_true 20 test -s here
	until_true 20 grep -q '"host_load":{"at"' run.journal
	kill "$(cat here)"
	meter_wait
	consistent
	holds "all of it" '(.usage.cpu_seconds - .host_load.own_seconds | fabs) < 0.2'
	agrees
}

@test "H-5: daemonised and attached to, it is own too" {
	local before after
	SHAPE_SEEN=1
	exits_needed "an orphan is followed"
	meter --wait-tree -- "$WORK/daemonise" leave 0 200 truth
	holds "the daemon's" ".host_load.own_seconds >= $(truth cpu_us truth) / 1e6 - 0.02"
	spin
	before=$(word spun)
	meter -p "${SPINNERS[0]}" --duration 0.4
	after=$(word spun)
	unspin
	consistent
	# no more than it used, and all of that but what it used before and after
	holds "own" ".host_load | .own_seconds < ($after - $before) / 1e9 + 0.3 and .own_seconds > 0.02"
	holds "the tree's and exitmeter's" '.host_load.own_seconds < .usage.cpu_seconds + 0.3'
}

@test "H-31: the worst window finds what the length of a run dilutes" {
	SHAPE_SEEN=1
	meter_background -- sleep 1.5
	until_true 20 grep -q '"host_load":{"at"' run.journal
	"$WORK/burn" 500
	meter_wait
	consistent
	holds "half a second at one core or nearly" '.host_load.worst_window.foreign_cores >= 0.7'
	# but where the worst is the time after the last sample
	holds "in the journal too" '(.host_load.worst_window | [.at + .seconds, .foreign_cores]) as $worst
		| [inputs | select(.event == "sample" and .host_load != null).host_load]
		| $worst[0] > .[-1].at + 0.01
		  or any(.[]; (.at - $worst[0] | fabs) < 1e-6 and .foreign_cores == $worst[1])' \
		<(cat sum.json run.journal)
	agrees
}

@test "H-30a: a run shorter than 0.1 s has no verdict, and does not wait for one" {
	SHAPE_SEEN=1
	meter -- true
	holds "unavailable" '.host_load | .verdict == "unavailable" and .reason == "short-span"
		and .foreign_cores == null and .worst_window == null
		and .span_seconds < 0.1 and .own_seconds >= 0'
	"$EXITMETER" --source="$SOURCE" true 2>text
	same "lines about it" "$(grep -c host text)" 0
}

@test "the text says it, and a journal that was cut off still does" {
	SHAPE_SEEN=1
	meter --journal run.journal -- sleep 0.7
	head -n -1 run.journal >cut.journal
	"$EXITMETER" report cut.journal --json cut.json 2>text || [ $? -eq 1 ]
	holds "judged" '.host_load | .verdict != "unavailable" and .worst_window != null' cut.json
	grep -E '^exitmeter: host (quiet|busy) \(-?[0-9]+\.[0-9] foreign cores\).*; exits from |^exitmeter: host (quiet|busy)' text
	# figures of another run, which are told as they are
	jq -c 'if .event == "summary" then .host_load |= (.verdict = "quiet" | .foreign_cores = 0.26 | .reason = null
		| .span_seconds = 20 | .steal_seconds = 1.5
		| .worst_window = {at: 3.25, seconds: 0.25, foreign_cores: 1.62, verdict: "cotenant"}) else . end' \
		run.journal >told.journal
	"$EXITMETER" report told.journal 2>text
	grep -E '^exitmeter: host quiet \(0\.3 foreign cores\), but busy \(1\.6 foreign cores\) for 0\.25 s at 3\.2 s(; |$)' text
	grep -x 'exitmeter: the hypervisor took 1\.5 s of CPU time for others' text
	exits_needed "the line of the exits"
	"$EXITMETER" report run.journal 2>text
	grep -E '^exitmeter: host (quiet|busy) \(-?[0-9]+\.[0-9] foreign cores\)(, but busy .*)?; exits from' text
}

@test "-i 0: the machine's counters are read at the start, at the end and when asked, not between" {
	command -v strace >/dev/null || skip "elsewhere: no strace"
	[ -z "${EM_SAN:-}" ] || skip "elsewhere: sanitisers do not live under strace"
	strace -f -qq -e trace=pread64 -o trace "$EXITMETER" -q --source=proc -i 0 sleep 0.6
	same "looks" "$(grep -c '"cpu  ' trace)" 2
}

# ---- exitmeter host -----------------------------------------------------------------------

# looked STATUS FILE: the status is that of the verdict
looked() {
	same "status" "$1" "$(jq -r '.host_load.verdict | {quiet: 0, cotenant: 122, unavailable: 125}[.]' "$2")"
}

@test "exitmeter host: the verdict now, with its status, and the machine" {
	local status=0
	"$EXITMETER" host --json --window 0.2 >now.json || status=$?
	/usr/bin/python3 "$ROOT/tests/e2e/validate.py" "$ROOT/doc/host.schema.json" now.json
	looked "$status" now.json
	holds "judged" '.host_load | .verdict != "unavailable" and .span_seconds >= 0.2 and .own_seconds < 0.1
		and ((.busy_seconds - .own_seconds) / .window_seconds - .foreign_cores | fabs) < 1e-6' now.json
	same kernel "$(jq -r .env.kernel now.json)" "$(uname -r)"
	same class "$(jq -r .env.sched_class now.json)" SCHED_OTHER
	[ ! -e /proc/pressure/cpu ] || holds "waited" '.pressure.cpu.some_seconds >= 0
		and .pressure.cpu.some_seconds <= .env.psi.cpu.some_seconds' now.json
	status=0
	"$EXITMETER" host --window 0.1 >text || status=$?
	[[ $status -eq 0 || $status -eq 122 ]]
	[[ $(head -n 1 text) =~ ^host\ $([ "$status" -eq 0 ] && echo quiet || echo busy)\ \(-?[0-9.]+\ foreign\ cores\)\ in\ [0-9.]+\ s\;\ busy\ from ]]
	grep "^kernel  *$(uname -r)" text
}

@test "exitmeter host: busy while every processor is, 0.05 s padded" {
	[ "$(nproc)" -gt 1 ] || skip "elsewhere: one processor can never be a core busier than it is"
	local status=0
	spin "$(nproc)"
	"$EXITMETER" host --json --window 0.05 >now.json || status=$?
	unspin
	same status "$status" 122
	looked "$status" now.json
	holds "padded" '.host_load | .window_seconds == 0.05 and .span_seconds >= 0.1' now.json
}

@test "exitmeter host --watch: a line for each window until a signal, the last one's status" {
	local status=0 pid
	"$EXITMETER" host --watch --json --window 0.1 >lines 3>&- &
	pid=$!
	METER_PID=$pid
	until_true 20 has_lines 3
	kill -TERM "$pid"
	wait "$pid" || status=$?
	METER_PID=
	tail -n 1 lines >last.json
	looked "$status" last.json
	holds "each later than the one before" '[.[].at] | . == sort and length >= 3' <(jq -s . lines)
}

has_lines() {
	[ "$(wc -l <lines)" -ge "$1" ]
}

@test "exitmeter host: nothing to judge by, bad usage, a full disk" {
	local word status=0
	for word in --window=0 --window=x --window=nan --foo more '--window 0.1 more'; do
		status=0
		# shellcheck disable=SC2086 # several words
		"$EXITMETER" host $word 2>err || status=$?
		same "$word" "$status" 125
		one_line err
	done
	status=0
	"$EXITMETER" host --window 0.1 >/dev/full 2>err || status=$?
	same "full" "$status" 125
	one_line err
}

@test "without /proc there is no verdict, which fails nothing" {
	[ -z "${EM_SAN:-}" ] || skip "elsewhere: sanitisers need /proc"
	unshare -m true 2>/dev/null || skip "elsewhere: no mount namespaces"
	unshare -m sh -c 'mount -t tmpfs none /proc; "$1" host --json --window 0.1; echo $? >status' sh "$EXITMETER" >now.json
	same "status" "$(cat status)" 125
	holds "unavailable" '.host_load | .verdict == "unavailable" and .reason == "no-counter"' now.json
	holds "the machine all the same" '.env | .source == "unavailable" and .kernel != null' now.json
	unshare -m sh -c 'mount -t tmpfs none /proc; "$1" host --window 0.1; echo $? >status' sh "$EXITMETER" >text
	same "status" "$(cat status)" 125
	same "text" "$(head -n 1 text)" "host unavailable: no-counter"
	unshare -m sh -c 'mount -t tmpfs none /proc; exec "$@"' sh "$EXITMETER" -q --json sum.json --require-quiet \
		--wait-quiet 5 -- touch started 2>err
	[ -e started ]
	cat err
	same "said before and after" "$(grep -c 'host not judged' err)" 2
	holds "a run has none" '.host_load | .verdict == "unavailable" and .reason == "no-counter"
		and .busy_seconds == null and .worst_window == null'
}
