#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031 # the inner shells expand it; each test is a shell of its own
# exitmeter doctor: what works here, what does not, and what would allow it.

load helpers

NAMES='["btf","bpf","sched_wakeup_new","sched_switch","sched_process_exit","sched_process_exec",
	"sched_prepare_exec","mark_victim","tick","iterator","probed","ptrace","proc","cgroup","energy",
	"memlock","tracefs"]'

bpf_only() {
	[ "$SOURCE" = bpf ] || skip "elsewhere: what the BPF source needs"
}

# doctor STATUS [COMMAND...]: run by COMMAND..., as JSON in doctor.json and as text in text
doctor() {
	local want=$1
	shift
	status=0
	timeout 60 "$@" "$EXITMETER" doctor --json >doctor.json 2>err || status=$?
	cat err
	jq -c '.checks[]' doctor.json
	jq -c 'del(.checks)' doctor.json
	same status "$status" "$want"
	same "bytes on stderr" "$(wc -c <err)" 0
	holds "the names" '[.checks[].name] == '"$NAMES" doctor.json
	holds "its shape" '.schema == "exitmeter.doctor/1"
		and (.source | IN("bpf", "ptrace", "proc"))
		and (.exact | type == "boolean") and (.exact == (.reason == null))
		and all(.checks[]; has("ok") and (.required | type == "boolean")
			and (.detail | type == "string" and length > 0)
			and (.remedy == null or (.remedy | length > 0)))' doctor.json
	holds "exact by BPF only if all that is required works" \
		'.source != "bpf" or .via == "probed" or (.exact | not) or all(.checks[] | select(.required); .ok == true)' doctor.json
	status=0
	timeout 60 "$@" "$EXITMETER" doctor >text || status=$?
	same "status with text" "$status" "$want"
	same "lines" "$(wc -l <text)" "$(($(jq '.checks | length' doctor.json) + 1))"
	[[ $(tail -n 1 text) == "source now: $(jq -r .source doctor.json)"* ]]
}

# found NAME OK DETAIL REMEDY: as regular expressions, an empty one for null
found() {
	holds "$1" '.checks[] | select(.name == "'"$1"'") | .ok == '"$2"'
		and (.detail | test("'"$3"'"))
		and (if "'"$4"'" == "" then .remedy == null else .remedy // "" | test("'"$4"'") end)' \
		doctor.json
}

works() {
	local name
	for name; do
		found "$name" true . ''
	done
}

# not_exact REASON
not_exact() {
	holds "what a run would do" '.source == "proc" and .plan == null and (.exact | not)
		and (.reason | test("'"$1"'"))' doctor.json
}

# traced REASON: exact all the same, and why not by BPF
traced() {
	holds "what a run would do" '.source == "ptrace" and .plan == "PTRACE_EVENT_EXIT" and .exact
		and (.fallback_reason | test("'"$1"'"))' doctor.json
}

refused_by_seccomp() {
	"$WORK/refuse" "$1" -- true 2>err || skip "elsewhere: no seccomp filters ($(cat err))"
}

@test "doctor: all of the plan works for root, and a run is exact" {
	bpf_only
	doctor 0
	works btf bpf sched_wakeup_new sched_switch sched_process_exit sched_process_exec proc memlock
	holds "what a run would do" '.source == "bpf" and .exact
		and (.plan | type == "string" and length > 0)
		and (.cost | test("system call"))' doctor.json
	meter -- true
	same "what a run does" "$(summary .source.hook)" "$(jq -r .plan doctor.json)"
}

@test "doctor: what this kernel has besides" {
	bpf_only
	[ "$(uname -r | cut -d. -f1)" -ge 6 ] || skip "elsewhere: Linux 6 or newer"
	doctor 0
	works mark_victim tick iterator ptrace
}

@test "doctor: no group, energy or tracefs is no reason to fail" {
	bpf_only
	doctor 0
	holds "not required" '[.checks[] | select(.name == ("cgroup", "energy", "tracefs", "memlock")) | .required]
		== [false, false, false, false]' doctor.json
	if [ -e /sys/kernel/tracing/events ] || [ -e /sys/kernel/debug/tracing/events ]; then
		works tracefs
	else
		found tracefs false "not mounted" "mount -t tracefs"
	fi
	if [ ! -e /sys/class/powercap ]; then
		found energy false "no such interface" ''
	fi
}

@test "doctor: a plain user is told what BPF takes" {
	bpf_only
	local user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	"${user[@]}" "$EXITMETER" --version || skip "elsewhere: others may not enter this folder"
	doctor 0 "${user[@]}"
	found bpf false "CAP_BPF or CAP_PERFMON" "root.*CAP_BPF and CAP_PERFMON"
	found sched_switch null "not tried" ''
	traced "bpf\\\\(\\\\) refused"
	works ptrace
	no_leak_check
	doctor 1 "$WORK/refuse" ptrace -- "${user[@]}"
	not_exact "bpf\\\\(\\\\) refused.*ptrace\\\\(\\\\) refused"
}

@test "doctor: a plain user with the two capabilities is as good as root" {
	bpf_only
	local user=(setpriv --reuid=65534 --regid=65534 --clear-groups
		--inh-caps="+bpf,+perfmon" --ambient-caps="+bpf,+perfmon")
	"${user[@]}" "$EXITMETER" --version || skip "elsewhere: these capabilities cannot be given on"
	doctor 0 "${user[@]}"
	works bpf sched_process_exit tick
}

@test "doctor: root without the capabilities" {
	bpf_only
	doctor 0 setpriv --bounding-set=-bpf,-sys_admin
	found bpf false "CAP_BPF or CAP_PERFMON" CAP_BPF
	doctor 0 setpriv --bounding-set=-perfmon,-sys_admin
	found bpf false "CAP_BPF or CAP_PERFMON" CAP_PERFMON
}

@test "doctor: a kernel without BTF" {
	bpf_only
	unshare -m true 2>/dev/null || skip "elsewhere: no mount namespaces"
	export EXITMETER_TEST_CACHE=$PWD/cache
	: >empty
	doctor 0 unshare -m sh -c 'mount --bind empty /sys/kernel/btf/vmlinux && exec "$@"' sh
	found btf false /sys/kernel/btf/vmlinux CONFIG_DEBUG_INFO_BTF
	found bpf null "not tried" ''
	traced "no BTF"
}

@test "doctor: BTF that only the cache has" {
	bpf_only
	unshare -m true 2>/dev/null || skip "elsewhere: no mount namespaces"
	export EXITMETER_TEST_CACHE=$PWD/cache
	: >empty
	"$EXITMETER" -q -- true
	doctor 0 unshare -m sh -c 'mount --bind empty /sys/kernel/btf/vmlinux && exec "$@"' sh
	found btf true "from the cache" ''
	found iterator false /sys/kernel/btf/vmlinux ''
}

@test "doctor: bpf() refused by seccomp" {
	bpf_only
	refused_by_seccomp bpf
	doctor 0 "$WORK/refuse" bpf --
	found bpf false "seccomp" "seccomp profile that allows bpf"
	traced "refused"
}

@test "doctor: perf_event_open() and ptrace() refused by seccomp: exact without them" {
	bpf_only
	refused_by_seccomp perf_event_open
	no_leak_check
	doctor 0 "$WORK/refuse" perf_event_open ptrace --
	works tick
	found ptrace false "seccomp" "seccomp profile that allows ptrace"
}

@test "doctor: no /proc" {
	bpf_only
	unshare -m true 2>/dev/null || skip "elsewhere: no mount namespaces"
	[ -z "${EM_SAN:-}" ] || skip "elsewhere: sanitisers need /proc"
	doctor 0 unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' sh
	found proc false "not mounted" "mount -t proc"
}

# A /proc of its own: the options of one are those of all mounts of a pid namespace.
@test "doctor: /proc that hides others' processes" {
	bpf_only
	unshare -pf --mount-proc true 2>/dev/null || skip "elsewhere: no pid namespaces"
	doctor 0 unshare -pf --mount-proc sh -c 'mount -t proc -o hidepid=2 proc /proc && "$@"' sh \
		setpriv --reuid=65534 --regid=65534 --clear-groups
	found proc false "hidepid=" "hidepid=0"
}

@test "doctor: SIGCHLD ignored, few descriptors, a small memlock limit" {
	bpf_only
	doctor 0 env --ignore-signal=CHLD
	no_leak_check
	doctor 0 prlimit --nofile=8 # ptrace does with as few
	doctor 0 prlimit --memlock=65536
	works memlock
}

@test "doctor: bad usage is one line and 125" {
	local bad
	for bad in --no-such-option -x --json=1 extra; do
		status=0
		"$EXITMETER" doctor "$bad" >out 2>err || status=$?
		same status "$status" 125
		one_line err
		same "bytes on stdout" "$(wc -c <out)" 0
	done
	status=0
	"$EXITMETER" doctor >/dev/full 2>err || status=$?
	same "a full disk" "$status" 125
	one_line err
}

@test "doctor: the static program can do it alone" {
	bpf_only
	[ -x "${EXITMETER_STATIC:-}" ] || skip "elsewhere: no static build in this flavour"
	cp "$EXITMETER_STATIC" ./alone
	EXITMETER=./alone doctor 0
}

@test "doctor: a command of that name runs after --" {
	printf '#!/bin/sh\nexit 9\n' >doctor
	chmod 755 doctor
	status=0
	PATH=$PWD:$PATH "$EXITMETER" -q --source=proc -- doctor --json || status=$?
	same status "$status" 9
}

@test "case 36: no memory.peak is null in the record, with the reason in doctor" {
	[ ! -e /sys/fs/cgroup/memory.peak ] || skip "elsewhere: there is one"
	"$EXITMETER" -q --json sum.json -- true
	[ "$(jq .usage.cgroup_peak_bytes sum.json)" = null ]
	"$EXITMETER" doctor --json >doctor.json || true
	jq -e '.checks[] | select(.name == "cgroup") | .detail | test("memory")' doctor.json
}
