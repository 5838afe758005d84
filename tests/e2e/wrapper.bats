#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2034
# A wrapper's first manners: statuses, streams, the report and where it goes.

load helpers

# plain ARGUMENT...: exitmeter with its report
plain() {
	status=0
	"$EXITMETER" --source="$SOURCE" "$@" >out 2>err 3>&- || status=$?
	cat -v err
}

report_lines() {
	within "lines of the report" "$(wc -l <"$1")" 2 4
	same "lines that are not ours" "$(grep -cv '^exitmeter: ' "$1")" 0
	if [ "$SOURCE" = proc ]; then
		[[ $(head -n 1 "$1") == "exitmeter: sampled only, no exit records: asked for" ]]
		return
	fi
	[ "$(head -n 1 "$1" | grep -cE '^exitmeter: peak [0-9.]+ [kMGT]?B, CPU .* s.*, wall .* s, [0-9]+ process')" -eq 1 ]
}

@test "wrapper: the command's status" {
	plain -- sh -c 'exit 77'
	same status "$status" 77
	plain -- sh -c 'kill -9 $$'
	same status "$status" 137
	plain -- sh -c 'exit 0'
	same status "$status" 0
	plain -- sh -c 'exit 125'
	same status "$status" 125
}

# says LINE OPTION...: of the report how the command ended, in the live one and in the journal's
says() {
	plain --journal run.journal "${@:2}"
	same "how it ended" "$(grep 'Command ' err || true)" "$1"
	same "and the figures" "$(grep -c '^exitmeter: .*wall ' err)" 1
	"$EXITMETER" report run.journal 2>err || true
	same "by the journal" "$(grep 'Command ' err || true)" "$1"
}

@test "wrapper: the report says that the command failed" {
	says "" -- true
	says "exitmeter: Command exited with non-zero status 77" -- sh -c 'exit 77'
	says "exitmeter: Command terminated by signal 9" -- sh -c 'kill -9 $$'
	says "exitmeter: Command exited with non-zero status 3" --report=table -- sh -c 'exit 3'
	plain -v -- false
	same "once with GNU time's" "$(grep Command err | grep -v timed)" "Command exited with non-zero status 1"
}

@test "wrapper: not executable, not found" {
	touch file
	plain -- ./file
	same status "$status" 126
	same "lines that are not ours" "$(grep -cv '^exitmeter: ' err)" 0
	plain -- /no/such/program
	same status "$status" 127
	plain -- no-such-program-anywhere
	same status "$status" 127
	same "lines that are not ours" "$(grep -cv '^exitmeter: ' err)" 0
	plain -- "$BATS_TEST_TMPDIR"
	same status "$status" 126
}

@test "wrapper: stdout and stdin are the command's" {
	head -c 300000 /dev/urandom >data
	status=0
	"$EXITMETER" --source="$SOURCE" -- cat <data >out 2>err || status=$?
	same status "$status" 0
	cmp data out
	report_lines err
}

@test "wrapper: the command's stderr comes through" {
	plain -- sh -c 'echo mine >&2'
	same "first line" "$(head -n 1 err)" mine
	sed 1d err >report
	report_lines report
}

@test "wrapper: the report's place: -q, -o, -a, --log-fd" {
	plain -q -- true
	same "quiet" "$(wc -c <err)" 0
	plain -o report -- true
	same "nothing on stderr" "$(wc -c <err)" 0
	report_lines report
	plain -o report -- true
	report_lines report
	plain -o report -a -- true
	same "both reports are there" "$(grep -c '^exitmeter: .*CPU ' report)" 2
	head -n $(($(wc -l <report) / 2)) report >first
	report_lines first
	status=0
	"$EXITMETER" --source="$SOURCE" --log-fd 7 -- sh -c 'ls -l /proc/self/fd' 7>report >out 2>err || status=$?
	same status "$status" 0
	same "nothing on stderr" "$(wc -c <err)" 0
	report_lines report
}

@test "wrapper: machine output on stdout and on a descriptor" {
	"$EXITMETER" -q --source="$SOURCE" --json - -- true >sum.json
	valid sum.json
	identities sum.json
	"$EXITMETER" -q --source="$SOURCE" --json fd:8 -- true 8>sum.json
	valid sum.json
	"$EXITMETER" -q --source="$SOURCE" --journal - -- true >run.journal
	valid run.journal
}

@test "wrapper: options end at the command" {
	plain -- sh -c 'printf %s "$1"' sh --json
	same out "$(cat out)" --json
	plain printf %s -q
	same out "$(cat out)" -q
	[ -s err ]
	plain -- report
	same "after -- it is the command" "$status" 127
}

# What the command finds: the same descriptors, environment, limits, mask, group as without us.
look() {
	"$@" sh -c 'ls /proc/self/fd; env | grep -v -e "^EXITMETER_" -e "^_=" | sort; umask; ulimit -a; nice
		grep -E "^(SigBlk|SigIgn|SigCgt|NoNewPrivs|Seccomp|CapEff|CapBnd|Threads)" /proc/self/status
		sed "s/.*) //" /proc/$$/stat | cut -d" " -f3,4,5,6; readlink /proc/self/ns/*; pwd; cat /proc/self/oom_score_adj'
}

@test "wrapper: the command's surroundings" {
	look env >without 3>&-
	look "$EXITMETER" -q --source="$SOURCE" --json sum.json --journal j -- >with 3>&-
	diff without with
}

@test "wrapper: -h and -V" {
	plain --help
	same status "$status" 0
	[ "$(grep -c -- '--journal' out)" -ge 1 ]
	plain --version
	same status "$status" 0
	same lines "$(wc -l <out)" 1
	[[ $(cat out) == "exitmeter "* ]]
}

@test "wrapper: what goes into the record: --run-id, --label, --no-argv" {
	meter --run-id the-run --label team=kernel --label 'b=c=d' -- sh -c ': secret-word; true'
	same id "$(summary .run.id)" the-run
	same labels "$(summary '.run.labels | tojson')" '{"team":"kernel","b":"c=d"}'
	same command "$(summary '.run.command | tojson')" '["sh","-c",": secret-word; true"]'
	meter --no-argv -- sh -c ': secret-word; true'
	same "arguments in the outputs" "$(cat sum.json run.journal err | grep -c secret-word)" 0
}

@test "wrapper: a tree that outlives the root is reported at once" {
	local pid
	mkfifo go
	meter_raw -- sh -c "'$WORK/hold' populate=20 wait=go & echo \$!"
	pid=$(cat out)
	echo x >go
	checked
	same running "$(summary .completeness.running_at_end)" 1
	same "its row" "$(row ".pid == $pid" .running)" true
	same code "$(row ".pid == $pid" .exit_code)" null
}

@test "wrapper: source proc says first that it only samples" {
	status=0
	"$EXITMETER" --source=proc --json sum.json -- "$WORK/hold" touch=50 exit=3 >out 2>err || status=$?
	cat err
	same status "$status" 3
	valid sum.json
	identities sum.json
	same exact "$(summary .completeness.exact)" false
	same source "$(summary .source.exits)" proc
	[[ $(head -n 1 err) == "exitmeter: sampled only"* ]]
	within "wait4 knows the root" "$(summary .rusage.maxrss_bytes)" $((50 * MIB)) $((54 * MIB))
}

@test "wrapper: a user who may not use BPF still gets the command run" {
	[ "$(id -u)" -eq 0 ] || skip "already a plain user"
	command -v setpriv >/dev/null || skip "no setpriv (util-linux)"
	chmod 777 .
	status=0
	setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$EXITMETER" --json sum.json -- sh -c 'exit 9' >out 2>err || status=$?
	cat err
	same status "$status" 9
	same source "$(summary .source.exits)" ptrace
	same exact "$(summary .completeness.exact)" true
	holds "why" '.source.fallback_reason | type == "string" and length > 0'
	valid sum.json
}

@test "case 52: a leak-free program built with -fsanitize=address" {
	cat >leakfree.c <<-'E2'
		#include <stdlib.h>
		int main(void)
		{
			char *volatile p = malloc(1 << 20);
			p[5] = 1;
			free(p);
			return 9;
		}
	E2
	gcc -fsanitize=address -o leakfree leakfree.c 2>err || skip "elsewhere: no -fsanitize=address ($(head -n 1 err))"
	for SOURCE in bpf ptrace proc; do
		[ "$SOURCE" != bpf ] || [ "$(id -u)" -eq 0 ] || continue
		rm -f sum.json
		meter -- ./leakfree
		same "status under $SOURCE" "$status" 9
		same "said" "$(grep -c LeakSanitizer err)" 0
	done
}
