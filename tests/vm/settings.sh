#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# settings - what a running kernel's settings change: yama, bpf() for plain users, a cgroup's
# memory.peak, and where --cgroup makes one; inside tools/vm.  Speaks TAP.
. "${0%/*}/tap.sh"
M=1048576

# as_user OPTION... -- COMMAND...: a run by a plain user
as_user() {
	rm -f sum.json
	su user -c "exitmeter -q -i 0.05 --json /tmp/sum.json $*" >out 2>err
	status=$?
}

# traced: without BPF, and exact
traced() {
	[ "$status" -eq 4 ] && [ "$(part source exits)" = '"ptrace"' ] && [ "$(top exact)" = true ] &&
		grep -q '"fallback_reason":"bpf() refused: needs root' sum.json &&
		between "$(part usage peak_rss_process_bytes)" $((10 * M)) $((14 * M))
}

# sampled: nothing is exact, and why is said
sampled() {
	[ "$status" -eq 4 ] && [ "$(part source exits)" = '"proc"' ] && [ "$(top exact)" = false ] &&
		grep -q '"fallback_reason":"bpf() refused: needs root' sum.json &&
		between "$(part usage peak_rss_process_bytes)" $((10 * M)) $((14 * M))
}

# doctor_says NAME TEXT [SU...]
doctor_says() {
	name=$1 text=$2
	shift 2
	"$@" exitmeter doctor >out 2>err
	status=$?
	grep "^$name " out | grep -F "$text" >/dev/null
}

# shellcheck disable=SC2317 # called by name
user() {
	su user -c "$*"
}

yama=/proc/sys/kernel/yama/ptrace_scope
for scope in 0 1 2 3; do
	if ! [ -e $yama ]; then
		skip "yama's ptrace_scope $scope" "this kernel has no yama"
		continue
	fi
	echo $scope >$yama
	as_user -- hold touch=10 burn=300 exit=4
	case $scope in
	[01]) traced ;;
	*) sampled ;;
	esac
	check "ptrace_scope $scope: a plain user's run is traced where it may be, else sampled, and says why"
	case $scope in
	[01]) says="a child was traced to its end; yama's ptrace_scope is $scope" ;;
	2) says="yama allows it with CAP_SYS_PTRACE only" ;;
	3) says="yama allows it to nobody" ;;
	esac
	doctor_says ptrace "$says" user
	check "ptrace_scope $scope: what doctor says to a plain user"
	meter -- hold touch=10 print exit=4
	exact && [ "$status" -eq 4 ] && near "$(row peak_rss_bytes '"comm":"hold"')" "$(truth rss)" 65536
	check "ptrace_scope $scope: exact for root"
done

unprivileged=/proc/sys/kernel/unprivileged_bpf_disabled
for value in 0 2 1; do
	echo $value 2>/dev/null >$unprivileged
	[ "$(cat $unprivileged)" = $value ] && as_user -- hold touch=10 burn=300 exit=4
	sampled && doctor_says bpf "this process lacks CAP_BPF or CAP_PERFMON" user
	result=$?
	grep -o '"fallback_reason":"[^"]*"' sum.json | sed 's/^/# /'
	grep '^bpf ' out | sed 's/^/# /'
	[ $result -eq 0 ]
	check "unprivileged_bpf_disabled $value: a plain user's run is sampled, and says why"
done

mkdir -p /cgroup
if ! mount -t cgroup2 none /cgroup || ! echo +memory >/cgroup/cgroup.subtree_control; then
	skip "a cgroup's memory.peak" "no memory controller in v2"
elif mkdir /cgroup/run && ! [ -e /cgroup/run/memory.peak ]; then
	skip "a cgroup's memory.peak" "this kernel has none (5.19)"
else
	# shellcheck disable=SC2016 # the inner shell expands it
	meter -- sh -c 'echo $$ >/cgroup/run/cgroup.procs; exec together 20 30 20'
	peak=$(cat /cgroup/run/memory.peak)
	echo "# memory.peak $peak, tree $(part usage peak_rss_lower_bytes) to $(part usage peak_rss_upper_bytes)," \
		"truth $(truth truth)"
	exact && [ "$peak" -ge "$(($(part usage peak_rss_lower_bytes) - 4 * M))" ] &&
		[ "$peak" -le "$(($(part usage peak_rss_upper_bytes) + 4 * M))" ]
	check "a cgroup's memory.peak agrees with the tree's bounds"
	# shellcheck disable=SC2016 # the inner shell expands it
	doctor_says cgroup "memory.peak is readable" sh -c 'echo $$ >/cgroup/run/cgroup.procs; exec "$@"' sh
	check "doctor finds memory.peak"
fi

# of_chain: the cgroup of 10, 20 and 30 MiB, and nothing that went wrong
of_chain() {
	[ "$status" -eq 0 ] && between "$(usage cgroup_peak_bytes)" $((60 * M)) $((66 * M)) &&
		! grep -q '"cgroup: ' sum.json && ! ls -d /cgroup/exitmeter* /cgroup/run/exitmeter* 2>/dev/null
}

# in_run WORD...: what the cgroup "run" holds: exitmeter, and with "beside" a shell too
in_run() {
	rm -f sum.json
	# shellcheck disable=SC2016 # the inner shell expands it
	sh -c 'echo $$ >/cgroup/run/cgroup.procs; '"$1"' exitmeter -q --source=proc --cgroup --json sum.json -- "$@"; exit $?' \
		sh "$2" "$3" "$4" "$5" >out 2>err
	status=$?
}

# shellcheck disable=SC2317 # called by name
empty_run() {
	[ -z "$(cat /cgroup/run/cgroup.procs)" ]
}

if [ -e /cgroup/run/memory.peak ]; then
	# shellcheck disable=SC2016 # the inner shell expands it
	meter --cgroup -- sh -c 'cat /proc/self/cgroup; chain 10 20 30'
	of_chain && grep -q '^0::/exitmeter-run-' out
	check "--cgroup: at the top of version 2, below it"
	# shellcheck disable=SC2016 # the inner shell expands it
	in_run exec sh -c 'cat /proc/self/cgroup; chain 10 20 30; sleep 30 & echo $! >/tmp/sleeps'
	of_chain && grep -q '^0::/run/exitmeter-run-' out && [ -z "$(cat /cgroup/run/cgroup.subtree_control)" ] &&
		[ "$(cat /cgroup/run/cgroup.procs)" = "$(cat sleeps)" ]
	check "--cgroup: alone in one, below it; who goes on is back there"
	kill "$(cat sleeps)"
	in_run '' sh -c 'cat /proc/self/cgroup; chain 10 20 30' sh
	of_chain && grep -q '^0::/exitmeter-run-' out
	check "--cgroup: not alone, beside it"
	echo 300M >/cgroup/run/memory.max
	in_run '' sh -c 'cat /proc/self/cgroup; exit 7' sh
	[ "$status" -eq 7 ] && grep -qx '0::/run' out && grep -q '"cgroup_peak_bytes":null' sum.json &&
		grep -q 'and it has limits, which a cgroup beside it would not have' sum.json
	check "--cgroup: not alone where limits are: null, and why"
	until_true empty_run
	in_run exec hold populate=600 exit=1 exit=1
	[ "$status" -eq 137 ] && grep -q '"cgroup: processes of it that the OOM killer ended: 1"' sum.json &&
		between "$(usage cgroup_peak_bytes)" $((200 * M)) $((300 * M))
	check "--cgroup: limits go on to hold below, and the OOM killer leaves evidence"
fi

finish
