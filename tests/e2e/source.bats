#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# The BPF source itself: its cache of kernel types, its second copies, its maps when they are full,
# the evidence of the OOM killer.

# shellcheck disable=SC2030,SC2031 # each test is a shell of its own
load helpers

bpf_only() {
	[ "$SOURCE" = bpf ] || skip "elsewhere: the BPF source only"
}

# What is in the cache; it must be one file.
cached() {
	local files=("$EXITMETER_TEST_CACHE"/*.btf)
	[ -f "${files[0]}" ] && [ ${#files[@]} -eq 1 ] && echo "${files[0]}"
}

# A run whose types came from somewhere and fit.
good_run() {
	"$EXITMETER" -q --source=bpf --json sum.json -- "$WORK/hold" touch=20
	holds "a right run" '.completeness.exact and .usage.peak_rss_bytes >= 20971520'
}

@test "cache: made at the first run, used at the next" {
	bpf_only
	export EXITMETER_TEST_CACHE=$PWD/cache
	local file before
	good_run
	file=$(cached)
	same "folder and file" "$(stat -c %u:%a cache "$file" | tr '\n' ' ')" "0:755 0:644 "
	before=$(stat -c %i "$file")
	good_run
	same "the same file" "$(stat -c %i "$file")" "$before"
}

cut_off() { truncate -s 100 "$1"; }
flip_a_byte() { printf '\377' | dd of="$1" bs=1 seek=300 conv=notrunc status=none; }
other_kernel() { printf 'x' | dd of="$1" bs=1 seek=30 conv=notrunc status=none; }
empty() { : >"$1"; }

@test "cache: cut off, changed, foreign or empty files are replaced" {
	bpf_only
	export EXITMETER_TEST_CACHE=$PWD/cache
	local how file before
	good_run
	file=$(cached)
	before=$(sha256sum <"$file")
	for how in cut_off flip_a_byte other_kernel empty; do
		echo "$how"
		"$how" "$file"
		[ "$(sha256sum <"$file")" != "$before" ]
		good_run
		same "replaced" "$(sha256sum <"$file")" "$before"
	done
}

@test "cache: a folder that others can write, or a link, is left alone" {
	bpf_only
	export EXITMETER_TEST_CACHE=$PWD/cache
	mkdir -m 777 cache
	good_run
	same "left empty" "$(ls cache)" ""
	rmdir cache
	mkdir elsewhere
	ln -s elsewhere cache
	good_run
	same "left empty" "$(ls elsewhere)" ""
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

@test "proc: a command too short for a look has its name, its CPU and its faults all the same" {
	local i
	for i in 1 2 3 4 5; do
		rm -f sum.json
		"$EXITMETER" -q --source=proc --json sum.json -- "$WORK/burn" 30
		holds "run $i" '.processes | length == 1 and (.[0] | .comm == "burn" and .cpu_seconds >= 0.03
			and .cpu_seconds < 0.2 and .cpu_user_seconds + .cpu_system_seconds - .cpu_seconds < 1e-9
			and .minor_faults > 0 and .exit_code == 0)'
		# to the ns, where ticks say 3 hundredths
		holds "and its group" '.groups == [{ comm: "burn", processes: 1, cpu_seconds: .processes[0].cpu_seconds,
			peak_rss_bytes: .processes[0].peak_rss_bytes }]'
	done
}

looked() {
	[ "$(grep -c '"event":"sample"' run.journal)" -ge "$1" ]
}

@test "proc: a zombie that nobody waits for is one row, and counted once" {
	mkfifo tell go
	"$EXITMETER" -q --source=proc -i 0.05 --json sum.json --journal run.journal -- \
		"$WORK/spawner" 3 zombie tell go "$WORK/burn" 150 3>&- &
	local meter=$! before
	read -r _ <tell
	before=$(grep -c '"event":"sample"' run.journal)
	until_true 10 looked $((before + 4)) # while it is a zombie
	echo x >go
	wait "$meter"
	holds "one row each" '(.processes | map(.pid) | unique | length) == (.processes | length)'
	holds "each with its end" '[.processes[] | select(.comm == "burn")] | length == 1 and
		all(.cpu_seconds >= 0.15 and .cpu_seconds < 0.4)'
	holds "the sum" '.usage.cpu_seconds >= 0.15 and .usage.cpu_seconds < 0.5'
}
