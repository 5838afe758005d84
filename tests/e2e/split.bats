#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# --split: each child of what is attached to is a run of its own

load helpers

# attach RUNS OPTION...: a scheduler of that many runs, attached to before it starts any
attach() {
	sums || skip "runs of their own: source $SOURCE does not tell them apart"
	local runs=$1 pid scheduler
	shift
	mkfifo told go
	"$WORK/scheduler" "$runs" told go ${CONTROL:+"$CONTROL"} >truth 3>&- &
	scheduler=$!
	read -r pid <told
	meter_background "$@" -p "$pid"
	until_true 10 started
	[ -z "${CONTROL-}" ] || until_true 10 test -S "$CONTROL"
	echo x >go
	wait "$scheduler"
	# what it left behind goes on until it is told to end
	[[ " $* " != *" --wait-tree "* ]] || echo x >go
	meter_wait
	[[ -z ${CONTROL-} || " $* " == *" --wait-tree "* ]] || echo x >go
	jq -c 'select(.event == "run_end")' run.journal >ends
}

# follow_outer KEY: outer.sh, which writes its pid into told and waits for go, is attached to and told
follow_outer() {
	local pid
	bash outer.sh 3>&- &
	read -r pid <told
	meter_background --control unix:ctl --split-key "$1" -p "$pid"
	until_true 10 test -S ctl
	until_true 10 started
	echo x >go
}

# end_of NAME FILTER: of the one run of that name
end_of() {
	jq -se --arg name "$1" "map(select(.name == \$name)) |
		if length == 1 then .[0] else error(\"\(length) ends of \(\$name)\") end | $2" ends
}

started() {
	[ -s run.journal ]
}

@test "every attempt of runs that go on at once: peak and CPU within its own truth" {
	CONTROL=ctl
	attach 20 --control unix:ctl --split-key ENV:JOB
	[ "$(wc -l <ends)" -eq 20 ]
	[ "$(jq -r .name ends | sort -n | paste -sd,)" = "$(seq 20 | paste -sd,)" ]
	jq -c '.attempts[] | [.id, .usage.peak_rss_bytes, .usage.cpu_seconds, .ended]' ends >got
	[ "$(wc -l <got)" -eq 60 ]
	[ "$(wc -l <truth)" -eq 60 ]
	local id bytes cpu
	while read -r id bytes cpu; do
		# what the program itself is on top: less than 3 MiB; CPU of talking and being looked at
		jq -se --arg id "$id" --argjson bytes "$bytes" --argjson cpu "$cpu" '
			map(select((.[0] | tostring) == $id)) | length == 1 and (.[0] |
			.[1] >= $bytes and .[1] < $bytes + 3145728 and
			.[2] >= $cpu / 1e6 - 0.0002 and .[2] < $cpu / 1e6 + 0.02)' got || {
			echo "attempt $id: truth $bytes bytes, $cpu us"
			false
		}
	done <truth
	# the killed: their last attempt had not ended, and the signal is told
	end_of 5 '.exit_signal == 9 and .exit_code == null and .attempts[2].ended == null'
	end_of 3 '.exit_code == 3'
	# the daemon is its run's: two processes without a program of their own
	local number
	number=$(end_of 6 .run)
	[ "$(jq -c --argjson n "$number" 'select(.event == "process" and .run == $n)' run.journal | wc -l)" -eq 3 ]
	[ "$(summary '.completeness.events_lost')" -eq 0 ]
	# alone the daemons go on
	[ "$(summary '.completeness.reasons | @json')" = '["4 processes still ran at the end"]' ]
}

@test "each run has its own bounds, none of another's memory" {
	CONTROL=ctl
	attach 10 --control unix:ctl --split-key ENV:JOB
	jq -se 'all(.usage.peak_rss_lower_bytes <= .usage.peak_rss_upper_bytes)' ends
	local id bytes rest
	# no more than its largest attempt
	while read -r id bytes rest; do
		[[ $id == *.3 ]] || continue
		end_of "${id%.3}" ".usage.peak_rss_lower_bytes | . >= $bytes and . < $bytes + 3145728"
	done <truth
	# what they used adds up to the tree, but for the scheduler
	jq -se --slurpfile sum sum.json 'map(.usage.cpu_seconds) | add as $all | $sum[0].usage.cpu_seconds |
		. >= $all - 0.001 and . < $all + 0.1' ends
	jq -se 'all(.completeness | .initial + .forks == .exits + .running_at_end)' ends
	# every row of theirs carries the number
	[ "$(jq -c 'select(.event == "process" and .run == null)' run.journal | wc -l)" -eq 1 ]
}

@test "1,000 short runs: 1,000 ends, none lost, memory flat" {
	attach 1000 --split
	[ "$(wc -l <ends)" -eq 1000 ]
	[ "$(jq .run ends | sort -n | uniq | wc -l)" -eq 1000 ]
	jq -se 'all(.exit_code != null and .usage.cpu_seconds > 0 and .name == "exe")' ends
	[ "$(summary .completeness.events_lost)" -eq 0 ]
	[ "$(summary '[.completeness.reasons[] | select(test("without-a-run"))] | length')" -eq 0 ]
	local few many before now
	few=$(summary .source.self_peak_rss_bytes)
	before=$(most_at_once)
	rm -f told go run.journal
	attach 5000 --split
	summary '.completeness.reasons | @json'
	[ "$(wc -l <ends)" -eq 5000 ]
	many=$(summary .source.self_peak_rss_bytes)
	now=$(most_at_once)
	echo "# self peak: 1000 runs $few ($before at once), 5000 runs $many ($now at once)" >&3
	# of those that are there at once, 64 kB each; nothing of those that have ended
	[ "$now" -ge "$before" ] || now=$before
	[ -n "${EM_SAN-}" ] || [ $((many - few)) -lt $((6 * MIB + (now - before) * 65536)) ]
}

# The most runs that had begun, and whose end was not told yet, at one moment.
most_at_once() {
	jq -s '[.[] | [.started, 1], [.t, -1]] | sort | reduce .[] as $e ({ n: 0, most: 0 };
		.n += $e[1] | .most = ([.most, .n] | max)) | .most' ends
}

@test "a run of which descendants live on ends with its first process; --wait-tree: with its last" {
	CONTROL=ctl
	attach 6 --control unix:ctl --split-key ENV:JOB
	end_of 1 '.completeness.running_at_end == 1'
	rm -f told go run.journal
	attach 6 --control unix:ctl --split-key ENV:JOB --wait-tree
	[ "$(wc -l <ends)" -eq 6 ]
	end_of 1 '.completeness.running_at_end == 0'
}

@test "a line names a run from outside; the report is of the whole tree" {
	sums || skip "runs of their own: source $SOURCE does not tell them apart"
	mkfifo told go hold1
	cat >outer.sh <<-'END'
		echo $$ >told
		read -r x <go
		JOB=a "$WORK/hold" touch=20 tell=told wait=hold1 exit=0 &
		wait
	END
	follow_outer ENV:JOB
	read -r pid <told
	until_true 10 talk_ok 'run a attempt start 1'
	talk_ok 'run a attempt end 1'
	[ "$(talk 'run b attempt start 1')" = 'error no such run' ]
	talk_ok 'attempt start all'
	echo x >hold1
	meter_wait
	jq -c 'select(.event == "run_end")' run.journal | jq -e '.name == "a" and (.attempts | length) == 1'
	[ "$(summary '[.attempts[].id] | @json')" = '["all"]' ]
	"$EXITMETER" report run.journal -q --json again.json
	diff <(jq -S 'del(.processes)' sum.json) <(jq -S 'del(.processes)' again.json)
}

@test "two runs of one name, a number, a run that has ended, the counters of who lives on" {
	sums || skip "runs of their own: source $SOURCE does not tell them apart"
	mkfifo told go go2 told1 told2 told3 hold1 hold2 hold3
	cat >outer.sh <<-'END'
		echo $$ >told
		read -r x <go
		JOB=a "$WORK/hold" touch=20 tell=told1 wait=hold1 exit=0 &
		JOB=a "$WORK/hold" touch=20 tell=told2 wait=hold2 exit=0 &
		JOB=2 sh -c '"$WORK/hold" touch=40 tell=told3 wait=hold3 exit=0 & read x <go2' &
		wait
		read -r x <go
	END
	follow_outer ENV:JOB
	read -r pid <told1
	read -r pid <told2
	read -r pid <told3
	until_true 5 sleeps "$pid"
	echo x >go2
	until_true 10 talk_ok 'run 1 attempt start n1'
	[ "$(talk 'run a attempt start x')" = 'error more than one run has that name' ]
	talk_ok 'run 1 attempt end n1'
	# the number 2 and the name 2 are different runs: the name is meant, and it has ended
	until_true 10 run_ended 2
	jq -se 'map(select(.event == "run_end" and .name == "2")) | .[0] | .completeness.running_at_end == 1 and
		.usage.minor_faults > 40 * 256 and .usage.io.rchar > 0 and .usage.voluntary_ctxt_switches > 0' run.journal
	jq -se 'map(select(.event == "attempt_end")) | .[0] | .at <= .t and .at > .t - 20' run.journal
	echo x >hold1
	echo x >hold2
	echo x >hold3
	echo x >go
	meter_wait
	# and a second run of a place that was used has nothing of the first
	[ "$(jq -c 'select(.event == "run_end")' run.journal | wc -l)" -eq 3 ]
}

sleeps() {
	[ "$(awk '$1 == "State:" { print $2 }' "/proc/$1/status")" = S ]
}

@test "a run bears its cgroup's name, or its program's" {
	sums || skip "runs of their own: source $SOURCE does not tell them apart"
	local key own
	mkfifo told go hold1
	cat >outer.sh <<-'END'
		echo $$ >told
		read -r x <go
		"$WORK/hold" touch=1 wait=hold1 exit=0 &
		echo $! >child
		wait
	END
	for key in cgroup comm; do
		rm -f run.journal child
		follow_outer "$key"
		until_true 10 test -s child
		# version 1's hierarchy for memory, where there is one
		own=$(awk -F: '$2 == "memory" { m = $3 } $2 == "" { u = $3 } END { print m ? m : u }' "/proc/$(cat child)/cgroup")
		[ "$key" = cgroup ] || own=hold
		until_true 10 talk_ok 'run 1 attempt start x' # it was met, and named, alive
		echo x >hold1
		meter_wait
		run_ended "$own"
	done
}

@test "a variable behind 600 others names its run all the same" {
	sums || skip "runs of their own: source $SOURCE does not tell them apart"
	mkfifo told go hold1
	cat >outer.sh <<-'END'
		echo $$ >told
		read -r x <go
		for i in $(seq 600); do export "V$i=$i"; done
		env -u JOB ZJOB=no JOB=deep "$WORK/hold" touch=1 wait=hold1 exit=0 &
		wait
	END
	follow_outer ENV:JOB
	until_true 10 talk_ok 'run deep attempt start x'
	echo x >hold1
	meter_wait
	run_ended deep
}

run_ended() {
	jq -se --arg name "$1" 'any(.event == "run_end" and .name == $name)' run.journal
}

talk() {
	/usr/bin/python3 - "$1" <<-'END'
		import socket, sys
		s = socket.socket(socket.AF_UNIX)
		s.connect("ctl")
		s.send(sys.argv[1].encode() + b"\n")
		print(s.recv(1000).decode(), end="")
	END
}

talk_ok() {
	[ "$(talk "$1")" = ack ]
}

@test "--split is for -p, --split-key is one of three" {
	local args
	for args in '--split -- true' '--split-key x -p 1' '--split-key ENV: -p 1' '--split-key ENV:1a -p 1'; do
		status=0
		# shellcheck disable=SC2086 # a list of words
		"$EXITMETER" -q $args 2>err || status=$?
		[ "$status" -eq 125 ]
		[ "$(wc -l <err)" -eq 1 ]
	done
}
