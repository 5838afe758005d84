#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2034
# Bad input: one line, 125, nothing started; a broken journal is rendered as far as it goes.

load helpers

# refused ARGUMENT...: exitmeter will not run this
refused() {
	status=0
	"$EXITMETER" "$@" >out 2>err || status=$?
	echo "exitmeter $*"
	same status "$status" 125
	one_line err
	same "bytes on stdout" "$(wc -c <out)" 0
	same "started" "$([ -e marker ] && echo yes || echo no)" no
}

@test "bad input: an unknown option" {
	refused --no-such-option -- touch marker
	refused -Z -- touch marker
}

@test "bad input: no command" {
	refused
	refused -q
	refused --
	refused --json sum.json
	same "an output was made" "$([ -s sum.json ] && echo yes || echo no)" no
}

@test "bad input: intervals that are none" {
	refused -i -1 -- touch marker
	refused -i nan -- touch marker
	refused --interval=inf -- touch marker
	refused -i 1x -- touch marker
	refused -i '' -- touch marker
	refused -i 1e400 -- touch marker
}

@test "bad input: numbers and words that are none" {
	refused -n x -- touch marker
	refused -n -1 -- touch marker
	refused --sort=size -- touch marker
	refused --source=magic -- touch marker
	refused --log-fd 99 -- touch marker
	refused --label novalue -- touch marker
}

@test "bad input: an option without its argument" {
	refused --json
	refused -i
}

@test "bad input: two outputs on -" {
	refused --json - --journal - -- touch marker
}

@test "bad input: outputs that cannot be opened" {
	refused --json no/such/folder/sum.json -- touch marker
	refused --journal no/such/folder/j -- touch marker
	refused -o no/such/folder/report -- touch marker
	mkdir folder
	refused --json folder -- touch marker
	refused --json fd:99 -- touch marker
}

@test "bad input: --require-exact without an exact source" {
	refused --source=proc --require-exact -- touch marker
}

# A journal of some rows to spoil.
journal_make() {
	meter -i 0.05 -- sh -c "'$WORK/hold' populate=30 burn=120; true; /bin/true; '$WORK/hold' exit=3; :"
	cp sum.json whole.json
	cp run.journal whole.journal
}

# report_run JOURNAL: text in text (wherever it goes), JSON in again.json, messages in err
report_run() {
	status=0
	rm -f again.json
	"$EXITMETER" report --json again.json "$1" >text 2>err || status=$?
	cat text err
}

@test "report: a journal gives its summary and text again" {
	journal_make
	report_run whole.journal
	same status "$status" 0
	valid again.json
	identities again.json
	for part in .run .completeness .usage .rusage .groups; do
		same "$part" "$(jq -cS "$part" again.json)" "$(jq -cS "$part" whole.json)"
	done
	same "rows" "$(jq -cS '.processes | sort_by(.pid)' again.json)" "$(jq -cS '.processes | sort_by(.pid)' whole.json)"
	[ "$(cat text err | grep -c 'CPU .*wall')" -ge 1 ]
}

@test "report: a malformed line is refused with its number and the rest rendered" {
	journal_make
	sed '3i{"event":"process","t":0.1,' whole.journal >bad.journal
	report_run bad.journal
	same status "$status" 1
	[ "$(grep -c '^exitmeter: .*\b3\b' err)" -ge 1 ]
	[ "$(cat text err | grep -c 'CPU .*wall')" -ge 1 ]
	same "processes" "$(jq .usage.total_processes again.json)" "$(jq .usage.total_processes whole.json)"
}

@test "report: bytes that are no JSON at all" {
	journal_make
	{
		sed -n 1,2p whole.journal
		printf '\xff\xfe\0\e[31m garbage\n'
		sed -n '3,$p' whole.journal
	} >bad.journal
	report_run bad.journal
	same status "$status" 1
	[ "$(grep -c '^exitmeter: .*\b3\b' err)" -ge 1 ]
	same "control bytes on stderr" "$(tr -d '\n' <err | LC_ALL=C grep -c '[[:cntrl:]]')" 0
}

@test "report: a foreign journal" {
	printf '{"level":"info","msg":"hello"}\n[1,2]\n' >foreign.journal
	report_run foreign.journal
	same status "$status" 1
	[ "$(grep -c '^exitmeter: .*\b1\b' err)" -ge 1 ]
}

@test "report: no such journal, no journal named" {
	report_run nowhere.journal
	[ "$status" -eq 125 ] || [ "$status" -eq 1 ]
	one_line err
	status=0
	"$EXITMETER" report >out 2>err || status=$?
	[ "$status" -eq 125 ] || [ "$status" -eq 1 ]
	one_line err
}

@test "report: a journal cut off in the middle of a line is rendered and marked" {
	local lines
	journal_make
	lines=$(grep -n '"event":"process"' whole.journal | sed -n 2p | cut -d: -f1)
	head -n "$lines" whole.journal >cut.journal
	truncate -s -9 cut.journal
	report_run cut.journal
	[ "$status" -eq 0 ] || [ "$status" -eq 1 ]
	valid again.json
	same "exact" "$(jq .completeness.exact again.json)" false
	holds "it says why" '.completeness.reasons | length > 0' again.json
	same "the row before the cut" "$(jq '[.processes[] | select(.running | not)] | length' again.json)" 1
	[ "$(cat text err | grep -ciE 'cut|incomplete|truncated|unfinished')" -ge 1 ]
}

@test "report: a journal whose last line is whole but which has no end" {
	journal_make
	sed '$d' whole.journal >cut.journal
	report_run cut.journal
	valid again.json
	same "exact" "$(jq .completeness.exact again.json)" false
	same "rows" "$(jq '.processes | length' again.json)" "$(jq '.processes | length' whole.json)"
}

# of_kill: exitmeter itself killed; what it had drained is there, and the command goes on
@test "report: the journal of a killed exitmeter" {
	local pid
	exits_needed "rows of who ended"
	mkfifo tell go
	meter_background -- sh -c "/bin/true; '$WORK/hold' populate=10; '$WORK/hold' tell=tell wait=go; echo done >left"
	read -r pid <tell
	until_true 10 grep -c '"comm":"hold"' run.journal
	kill -KILL "$METER_PID"
	wait "$METER_PID" || true
	METER_PID=
	[ -e "/proc/$pid" ]
	echo x >go
	until_true 10 [ -s left ]
	report_run run.journal
	same "exact" "$(jq .completeness.exact again.json)" false
	holds "the rows that had ended" '[.processes[] | select(.running | not) | .comm] | sort == ["hold", "true"]' again.json
}

@test "two outputs do not go into one file" {
	run "$EXITMETER" --json both --journal both -- true
	same status "$status" 125
	same message "$output" "exitmeter: only one output can go to 'both'"
	[ ! -e both ]
	touch one
	ln one other
	run "$EXITMETER" --json one -o other -- true
	same "by another name" "$status" 125
	"$EXITMETER" --source="$SOURCE" --json /dev/null -o /dev/null -- true
}

@test "two outputs do not go into one new file, however it is spelled" {
	mkdir folder
	ln -s folder linked
	ln -s new named
	local spelled
	for spelled in ./yy "$PWD/yy" folder/../yy linked/../yy; do
		refused -o yy --json "$spelled" -- touch marker
		[ ! -e yy ]
	done
	refused --html linked/a --trace folder/a -- touch marker
	refused --journal new --json named -- touch marker
	run "$EXITMETER" --source="$SOURCE" --json a -o folder/a --journal linked/b -- true
	same "other files" "$status" 0
	[ -s a ] && [ -s folder/a ] && [ -s folder/b ]
}
