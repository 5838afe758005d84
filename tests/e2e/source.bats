#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# The BPF source itself: its cache of kernel types, its second copies, its maps when they are full,
# the evidence of the OOM killer.

load helpers

bpf_only() {
	[ "$SOURCE" = bpf ] || skip "elsewhere: the BPF source only"
}

# own_cache COMMAND...: with an empty /var/cache of its own
own_cache() {
	unshare -m bash -c 'mount -t tmpfs none /var/cache && "$@"' own_cache "$@"
}

cached() {
	local file
	for file in /var/cache/exitmeter/*.btf; do
		[ -f "$file" ] || return 1
		echo "$file"
	done
}

good_run() {
	"$EXITMETER" -q --source=bpf --json "$BATS_TEST_TMPDIR/sum.json" -- "$WORK/hold" touch=20 || return
	jq -e '.completeness.exact and .usage.peak_rss_bytes >= 20971520' "$BATS_TEST_TMPDIR/sum.json"
}

fresh_then_cached() {
	local file before
	good_run && file=$(cached) || return
	[ "$(stat -c %u:%a /var/cache/exitmeter "$file" | tr '\n' ' ')" = "0:755 0:644 " ] || return
	before=$(stat -c %i "$file")
	good_run && [ "$(stat -c %i "$file")" = "$before" ]
}

@test "cache: made at the first run, used at the next" {
	bpf_only
	export -f good_run cached fresh_then_cached
	export EXITMETER WORK BATS_TEST_TMPDIR
	own_cache fresh_then_cached
}

# spoil COMMAND...: a cache file that COMMAND changed is replaced, and the run is right
spoil() {
	local file before
	good_run && file=$(cached) || return
	before=$(sha256sum <"$file")
	"$@" "$file" || return
	[ "$(sha256sum <"$file")" != "$before" ] || return
	good_run && [ "$(sha256sum <"$file")" = "$before" ]
}

cut_off() { truncate -s 100 "$1"; }
flip_a_byte() { printf '\377' | dd of="$1" bs=1 seek=300 conv=notrunc status=none; }
other_kernel() { printf 'x' | dd of="$1" bs=1 seek=30 conv=notrunc status=none; }
empty() { : >"$1"; }

@test "cache: cut off, changed, foreign or empty files are replaced" {
	bpf_only
	local how
	export -f good_run cached spoil cut_off flip_a_byte other_kernel empty
	export EXITMETER WORK BATS_TEST_TMPDIR
	for how in cut_off flip_a_byte other_kernel empty; do
		echo "$how"
		own_cache spoil "$how"
	done
}

untrusted() {
	mkdir -m 777 /var/cache/exitmeter && good_run && ! cached
}

linked() {
	mkdir /var/cache/elsewhere && ln -s elsewhere /var/cache/exitmeter && good_run &&
		[ -z "$(ls /var/cache/elsewhere)" ]
}

@test "cache: a folder that others can write, or a link, is left alone" {
	bpf_only
	export -f good_run cached untrusted linked
	export EXITMETER WORK BATS_TEST_TMPDIR
	own_cache untrusted
	own_cache linked
}

@test "second copies beside the first change nothing" {
	bpf_only
	export EXITMETER_TEST_BESIDE=1
	meter -- sh -c 'seq 200 | xargs -P2 -n1 /bin/true; '"$WORK/threads"' exec-other 4 || true'
	exact
	same "programs skipped" "$(summary .completeness.records_repaired)" 0
}

@test "full maps: counted, not exact, the command unharmed" {
	bpf_only
	export EXITMETER_TEST_MAP_ENTRIES=8
	# shellcheck disable=SC2016 # the command's own shell expands it
	meter_raw -- sh -c 'for i in $(seq 40); do sleep 0.5 & done; wait; exit 7'
	same status "$status" 7
	holds "it says so" '.completeness.exact | not'
	holds "what was not followed" '.completeness.reasons | any(test("processes-unfollowed"))'
}

@test "the OOM killer is named with evidence" {
	bpf_only
	local group=/sys/fs/cgroup/memory/exitmeter-test.$$
	mkdir "$group" 2>/dev/null || skip "elsewhere: no cgroup v1 memory controller to limit with"
	echo $((60 * MIB)) >"$group/memory.limit_in_bytes"
	meter_raw -- sh -c "echo \$\$ >$group/cgroup.procs; $WORK/hold touch=200"
	rmdir "$group"
	same "row" "$(row '.oom_killed == true' .exit_signal)" 9
	holds "the run says so" '.run.oom_killed'
	same "a line in the journal" "$(jq -c 'select(.event == "oom") | .comm' run.journal)" '"hold"'
}
