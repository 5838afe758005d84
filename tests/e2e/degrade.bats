#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031 # the inner shells expand it; each test is a shell of its own
# What is missing never stops a command: it runs, its status comes out, and the record says what
# its figures are worth.

load helpers

auto_only() {
	[ "$SOURCE" = bpf ] || skip "elsewhere: falling back from BPF"
	command -v setpriv >/dev/null || skip "elsewhere: no setpriv (util-linux)"
	chmod 777 .
}

seccomp_there() {
	"$WORK/refuse" bpf -- true 2>err || skip "elsewhere: no seccomp filters ($(cat err))"
}

mounts_there() {
	unshare -m true 2>/dev/null || skip "elsewhere: no mount namespaces"
}

# Others may enter the folders of the programs.
plain_there() {
	"${PLAIN[@]}" "$EXITMETER" --version || skip "elsewhere: others may not enter this folder"
}

PLAIN=(setpriv --reuid=65534 --regid=65534 --clear-groups)
HIDE_BTF=(unshare -m sh -c 'mount --bind empty /sys/kernel/btf/vmlinux && exec "$@"' sh)

# run_under COMMAND...: a run that COMMAND... starts, checked for what must hold in any case
run_under() {
	rm -f out err report sum.json run.journal
	status=0
	timeout 60 "$@" "$EXITMETER" -i 0.05 -o report --json sum.json --journal run.journal -- \
		sh -c '"$0" touch=20 burn=60 idle=60; exit 7' "$WORK/hold" \
		>out 2>err 3>&- || status=$?
	cat report
	summary '{source, completeness} | tojson'
	same status "$status" 7
	same "bytes on stderr" "$(wc -c <err)" 0
	checked
	holds "the peak" ".usage.peak_rss_process_bytes | . >= 20 * $MIB and . < 30 * $MIB"
	holds "the CPU" '.usage.cpu_seconds | . >= 0.06 and . < 1'
}

# first_line TEXT: of the report, also when it is made from the journal
first_line() {
	local line
	line=$(head -n 1 report)
	echo "first line: $line"
	[[ $line == "$1"* ]]
	"$EXITMETER" report -o again run.journal
	same "from the journal" "$(head -n 1 again)" "$line"
}

# exact_with SAMPLES: BPF, nothing missed
exact_with() {
	exact
	holds "the source" '.source.exits == "bpf" and .source.hook != null
		and .source.fallback_reason == null'
	same samples "$(summary .source.samples)" "$1"
	same "a note of the tick" "$(summary '.source.notes | index("no-kernel-tick") != null')" \
		"$([ "$1" = bpf+proc ] && echo true || echo false)"
	first_line "exitmeter: peak "
}

# sampled_since REASON: /proc, and why
sampled_since() {
	holds "the source" '.source.exits == "proc" and .source.hook == null
		and .source.samples == "proc"'
	holds "the reason" ".source.fallback_reason // \"\" | test(\"$1\")"
	holds "not exact" '.completeness | (.exact | not) and .reasons == ["sampled only, no exit records"]'
	holds "no row is exact" 'all(.processes[]; .peak_rss_exact | not)'
	first_line "exitmeter: sampled only, no exit records: $(summary .source.fallback_reason)"
}

# traced_since REASON: ptrace, as exact, and why not BPF
traced_since() {
	exact
	holds "the source" '.source.exits == "ptrace" and .source.hook == "PTRACE_EVENT_EXIT"'
	holds "the reason" ".source.fallback_reason // \"\" | test(\"$1\")"
	holds "each row has all" 'all(.processes[]; .peak_rss_bytes > 0 and .cpu_seconds > 0 and .exit_code != null)'
	first_line "exitmeter: exits from ptrace, not bpf: $(summary .source.fallback_reason)"
}

REFUSED='^bpf\\(\\) refused: needs root, or CAP_BPF and CAP_PERFMON'
NO_BTF='^the kernel has no BTF'

@test "degrade: nothing is missing" {
	auto_only
	run_under env
	exact_with bpf-tick+proc
}

@test "case 34: degrade: a plain user" {
	auto_only
	plain_there
	run_under "${PLAIN[@]}"
	traced_since "$REFUSED"
}

@test "degrade: a plain user with CAP_BPF and CAP_PERFMON" {
	auto_only
	plain_there
	run_under "${PLAIN[@]}" --inh-caps=+bpf,+perfmon --ambient-caps=+bpf,+perfmon
	exact_with bpf-tick+proc
}

@test "degrade: a plain user with CAP_BPF alone" {
	auto_only
	plain_there
	run_under "${PLAIN[@]}" --inh-caps=+bpf --ambient-caps=+bpf
	traced_since "$REFUSED"
}

@test "degrade: root of a user namespace" {
	auto_only
	unshare -r true 2>/dev/null || skip "elsewhere: no user namespaces"
	run_under unshare -r
	traced_since "$REFUSED"
}

@test "case 34: degrade: root without CAP_BPF and CAP_SYS_ADMIN" {
	auto_only
	run_under setpriv --bounding-set=-bpf,-sys_admin
	traced_since "$REFUSED"
}

@test "degrade: root without CAP_PERFMON and CAP_SYS_ADMIN" {
	auto_only
	run_under setpriv --bounding-set=-perfmon,-sys_admin
	traced_since "$REFUSED"
}

@test "degrade: root without CAP_SYS_ADMIN alone" {
	auto_only
	run_under setpriv --bounding-set=-sys_admin
	exact_with bpf-tick+proc
}

@test "degrade: root without CAP_SYS_PTRACE" {
	auto_only
	run_under setpriv --bounding-set=-sys_ptrace
	exact_with bpf-tick+proc
}

@test "case 34: degrade: a kernel without BTF" {
	auto_only
	mounts_there
	export EXITMETER_TEST_CACHE=$PWD/cache
	: >empty
	run_under "${HIDE_BTF[@]}"
	traced_since "$NO_BTF"
}

@test "degrade: BTF that only the cache has is enough" {
	auto_only
	mounts_there
	export EXITMETER_TEST_CACHE=$PWD/cache
	: >empty
	"$EXITMETER" -q -- true
	run_under "${HIDE_BTF[@]}"
	exact_with bpf-tick+proc
}

@test "case 34: degrade: no tracefs" {
	auto_only
	if [ -e /sys/kernel/tracing/events ] || [ -e /sys/kernel/debug/tracing/events ]; then
		mounts_there
		run_under unshare -m sh -c 'for at in /sys/kernel/tracing /sys/kernel/debug; do
			[ ! -d $at ] || mount -t tmpfs none $at || exit; done; exec "$@"' sh
	else
		run_under env
	fi
	exact_with bpf-tick+proc
}

@test "degrade: no /proc" {
	auto_only
	mounts_there
	[ -z "${EM_SAN:-}" ] || skip "elsewhere: sanitisers need /proc"
	run_under unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' sh
	holds "exact" '.source.exits == "bpf" and .completeness.exact and .source.fallback_reason == null'
	first_line "exitmeter: peak "
}

@test "degrade: no /sys" {
	auto_only
	mounts_there
	run_under unshare -m sh -c 'mount -t tmpfs none /sys && exec "$@"' sh
	traced_since "^the CPUs cannot be counted"
}

@test "case 34: degrade: bpf() refused by seccomp" {
	auto_only
	seccomp_there
	run_under "$WORK/refuse" bpf --
	traced_since "$REFUSED.*seccomp"
}

@test "degrade: perf_event_open() refused by seccomp: nothing needs it" {
	auto_only
	seccomp_there
	run_under "$WORK/refuse" perf_event_open --
	exact_with bpf-tick+proc
}

@test "case 35: degrade: ptrace() refused by seccomp" {
	auto_only
	seccomp_there
	no_leak_check
	run_under "$WORK/refuse" ptrace --
	exact_with bpf-tick+proc
}

@test "degrade: memfd_create() refused by seccomp: the kernel's whole BTF is read" {
	auto_only
	seccomp_there
	run_under "$WORK/refuse" memfd_create --
	holds "exact" '.source.exits == "bpf" and .completeness.exact and .source.fallback_reason == null'
	first_line "exitmeter: peak "
}

@test "degrade: memlock 64 KiB" {
	auto_only
	run_under prlimit --memlock=65536
	exact_with bpf-tick+proc
	run_under prlimit --memlock=65536 setpriv --bounding-set=-sys_admin,-sys_resource
	exact_with bpf-tick+proc
}

@test "degrade: few descriptors" {
	auto_only
	no_leak_check
	run_under prlimit --nofile=20
	traced_since "Too many open files"
}

@test "case 35: degrade: several together" {
	auto_only
	mounts_there
	seccomp_there
	plain_there
	no_leak_check
	export EXITMETER_TEST_CACHE=$PWD/cache
	: >empty
	run_under "${HIDE_BTF[@]}" prlimit --memlock=65536 "$WORK/refuse" bpf perf_event_open ptrace -- \
		"${PLAIN[@]}"
	sampled_since "$NO_BTF.*ptrace\\\\(\\\\) refused"
	run_under prlimit --memlock=65536 "$WORK/refuse" bpf perf_event_open ptrace -- "${PLAIN[@]}"
	sampled_since "$NO_BTF|$REFUSED"
	run_under prlimit --memlock=65536 "$WORK/refuse" perf_event_open -- \
		setpriv --bounding-set=-sys_ptrace,-sys_admin
	exact_with bpf-tick+proc
}

@test "degrade: --no-tick is a choice, not a loss" {
	auto_only
	meter --source=auto --no-tick -- "$WORK/hold" idle=30
	holds "no note" '.source.samples == "bpf+proc" and .source.notes == []'
}

@test "degrade: --require-exact and --source=bpf start nothing" {
	auto_only
	local way
	seccomp_there
	no_leak_check
	for way in --require-exact --source=bpf; do
		status=0
		"$WORK/refuse" bpf ptrace -- "$EXITMETER" $way -- touch marker >out 2>err || status=$?
		same status "$status" 125
		one_line err
		[[ $(cat err) == *"bpf() refused"* ]]
		[ ! -e marker ]
	done
}

@test "case 29: hidepid and a setuid program in the tree: the others are complete" {
	auto_only
	plain_there
	mounts_there
	cp /bin/sleep foreign
	chmod 4755 foreign
	[ "$(stat -f -c %T .)" != nosuid ] || skip "elsewhere: setuid is off here"
	run_hidden() {
		unshare -pf --mount-proc sh -c 'mount -t proc -o hidepid=2 proc /proc && exec "$@"' sh \
			"${PLAIN[@]}" "$EXITMETER" -q --source=proc -i 0.05 "$@"
	}
	run_hidden -- true || skip "elsewhere: no proc can be mounted"
	run_hidden --json sum.json --journal run.journal -- sh -c './foreign 0.6 & sleep 0.7; wait; exit 5' &&
		false
	valid sum.json run.journal
	same code "$(summary .run.exit_code)" 5
	holds "the others are complete" '[.processes[] | select(.comm == "sh" or .comm == "sleep")
		| select(.peak_rss_bytes == null or .cpu_seconds == null)] == []'
	holds "both were seen" '[.processes[] | select(.comm == "sh" or .comm == "sleep")] | length == 2'
	same "the foreign one has no figures" \
		"$(summary '[.processes[] | select(.comm == "foreign" and .peak_rss_bytes != null)] | length')" 0
	holds "it is said" '.source.notes | index("proc-hides-others") != null'
}

@test "case 29: a setuid program in the tree, by BPF: complete" {
	[ "$SOURCE" = bpf ] || skip "elsewhere: needs BPF"
	cp /bin/sleep foreign
	chmod 4755 foreign
	chmod 777 .
	"$EXITMETER" -q --user 65534 --json sum.json --journal run.journal -- \
		sh -c './foreign 0.3 & sleep 0.3; wait' 2>err
	checked
	exact
	holds "three with peaks" '[.processes[] | select(.peak_rss_bytes > 0)] | length == 3'
}
