#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031
# What machine a run ran on, and how large its folders are: every field against a second source
# (SPEC 3.4, R-9).

load helpers

# env_is FIELD WANT: of the summary
env_is() {
	same "env.$1" "$(summary ".env.$1 | if . == null then \"null\" else . end")" "$2"
}

# The journal and exitmeter report say the same.
agrees() {
	"$EXITMETER" report run.journal -q --json again.json
	cmp sum.json again.json
	jq -n --slurpfile sum sum.json 'input.env | del(.load_end, .steal_seconds, .psi)
		== ($sum[0].env | del(.load_end, .steal_seconds, .psi))' run.journal | grep -qx true
	holds "what only the end knows" '.env | .load_end == null and .steal_seconds == null' \
		<(head -n 1 run.journal)
}

root_only() {
	[ "$(id -u)" -eq 0 ] || skip "elsewhere: needs root"
}

# A test that mounts does so in a namespace of its own.
in_mounts() {
	unshare -m true 2>/dev/null || skip "elsewhere: no mount namespaces"
}

@test "env: kernel, processors and memory as others tell them" {
	meter -- true
	env_is source proc
	env_is kernel "$(uname -r)"
	env_is machine "$(uname -m)"
	env_is cpus "$(getconf _NPROCESSORS_ONLN)"
	env_is memory_bytes "$(awk '$1 == "MemTotal:" { printf "%.0f", $2 * 1024 }' /proc/meminfo)"
	env_is page_size "$(getconf PAGESIZE)"
	env_is clock_ticks "$(getconf CLK_TCK)"
	env_is boot_id "$(cat /proc/sys/kernel/random/boot_id)"
	env_is cpu_model "$(sed -n 's/^model name[[:space:]]*: *//p' /proc/cpuinfo | head -n 1 | sed 's/^$/null/; s/ *$//' | grep . || echo null)"
	env_is thp "$(sed 's/.*\[\(.*\)\].*/\1/' /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null || echo null)"
	agrees
}

@test "env: the governor of all processors" {
	local names
	meter -- true
	names=$(cat /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor 2>/dev/null | sort -u)
	case $(grep -c . <<<"$names") in
	0) env_is governor null ;;
	1) env_is governor "$names" ;;
	*) holds "numbers" '.env.governor | test("^[a-z]+ [0-9]+(, [a-z]+ [0-9]+)+$")' ;;
	esac
}

@test "env: load, steal and pressure lie between what was read before and after" {
	local before after steal_before steal_after
	before=$(cut -d' ' -f1-3 /proc/loadavg)
	steal_before=$(awk 'NR == 1 { print $9 }' /proc/stat)
	cat /proc/pressure/cpu >pressure.before 2>/dev/null || true
	meter -- sh -c 'cut -d" " -f1-3 /proc/loadavg >inside; sleep 0.2'
	steal_after=$(awk 'NR == 1 { print $9 }' /proc/stat)
	after=$(cut -d' ' -f1-3 /proc/loadavg)
	# it changes every 5 s
	holds "start" ".env.load_start as \$l | [[$(tr ' ' , <<<"$before")], [$(tr ' ' , <inside)]] | any(. == \$l)"
	holds "end" ".env.load_end as \$l | [[$(tr ' ' , <inside)], [$(tr ' ' , <<<"$after")]] | any(. == \$l)"
	holds "steal" ".env.steal_seconds >= 0 and .env.steal_seconds <= $((steal_after - steal_before)) / $(getconf CLK_TCK)"
	if [ -s pressure.before ]; then
		holds "pressure" ".env.psi.cpu.some_seconds * 1e6 >= $(sed -n 's/^some.*total=//p' pressure.before) - 1
			and .env.psi.cpu.some_seconds * 1e6 <= $(sed -n 's/^some.*total=//p' /proc/pressure/cpu) + 1"
	else
		env_is psi null
	fi
	agrees
}

@test "env: scheduling class, priority and affinity are the root's as it starts" {
	local class
	meter -- true
	env_is sched_class "$(chrt -p $$ | sed -n 's/.*policy: \([A-Z_]*\).*/\1/p')"
	env_is sched_priority 0
	env_is affinity_cpus "$(nproc)"
	status=0
	taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')" "$EXITMETER" -q --source="$SOURCE" \
		--json sum.json -- true || status=$?
	same status "$status" 0
	env_is affinity_cpus 1
	for class in batch idle; do
		chrt "--$class" 0 "$EXITMETER" -q --source="$SOURCE" --json sum.json -- true
		env_is sched_class "SCHED_${class^^}"
	done
	# what the command makes of itself afterwards is not what it was started with
	meter -- chrt --batch 0 true
	env_is sched_class "$(chrt -p $$ | sed -n 's/.*policy: \([A-Z_]*\).*/\1/p')"
}

@test "env: a root that is SCHED_FIFO shows it" {
	root_only
	chrt -f 1 true 2>/dev/null || skip "elsewhere: no real-time priorities here"
	chrt -f 1 "$EXITMETER" -q --source="$SOURCE" --json sum.json --journal run.journal -- \
		sh -c 'chrt -p $$ >inside'
	grep -q SCHED_FIFO inside
	env_is sched_class SCHED_FIFO
	env_is sched_priority 1
	agrees
}

@test "env: attached: the first target's class and folder" {
	chrt --batch 0 sleep 60 &
	METER_PID=$!
	until_true 5 grep -qx sleep "/proc/$METER_PID/comm"
	"$EXITMETER" -q --source="$SOURCE" --duration 0.2 --json sum.json --journal run.journal -p "$METER_PID"
	kill "$METER_PID"
	METER_PID=
	env_is sched_class SCHED_BATCH
	env_is work_fs_type "$(findmnt -n -o FSTYPE --target .)"
	agrees
}

@test "env: R-34 the file system of the run's folder, with spaces, nested and hidden" {
	root_only
	in_mounts
	meter -- true
	env_is work_fs_type "$(findmnt -n -o FSTYPE --target .)"
	mkdir "my work"
	unshare -m sh -ec '
		mount -t tmpfs none "my work"
		mkdir -p "my work/a/b" "my work/ab" "my work/shut"
		mount -t ramfs none "my work/a"
		mkdir "my work/a/b"
		mount -t tmpfs none "my work/shut"
		mkdir "my work/shut/in"
		mount -t ramfs none "my work/shut/in"
		mount -t ramfs none "my work/shut"
		mount -t tmpfs none "my work/shut"
		mkdir "my work/shut/in"
		for at in "my work" "my work/a/b" "my work/ab" "my work/shut/in"; do
			(cd "$at" && "$@" && stat -f -c %T .)
		done' sh "$EXITMETER" -q --source="$SOURCE" --json fd:4 -- true 4>all.json >types
	same "types" "$(jq -r .env.work_fs_type all.json | tr '\n' ' ')" "$(tr '\n' ' ' <types)"
	same "of the nested" "$(tr '\n' ' ' <types)" "tmpfs ramfs tmpfs tmpfs "
}

@test "env: the limits of the run's own cgroup" {
	local top=/sys/fs/cgroup own
	root_only
	meter -- true
	if grep -q ':memory:' /proc/self/cgroup; then
		env_is cgroup.version 1
		own=$top/memory/exitmeter-test-$$
		mkdir "$own" 2>/dev/null || skip "elsewhere: cgroups cannot be made here"
		mkdir "$own/below"
		echo $((512 * MIB)) >"$own/memory.limit_in_bytes"
	else
		env_is cgroup.version 2
		own=$top/exitmeter-test-$$
		mkdir "$own" 2>/dev/null || skip "elsewhere: cgroups cannot be made here"
		echo "+memory" >"$own/cgroup.subtree_control" 2>/dev/null || true
		mkdir "$own/below"
		[ -e "$own/memory.max" ] || {
			rmdir "$own/below" "$own"
			skip "elsewhere: the memory controller is not on"
		}
		echo $((512 * MIB)) >"$own/memory.max"
	fi
	# what is above limits as well
	sh -c 'echo $$ >"$0/below/cgroup.procs" && exec "$@"' "$own" "$EXITMETER" -q \
		--source="$SOURCE" --json sum.json --journal run.journal -- true || status=$?
	until_true 5 rmdir "$own/below"
	rmdir "$own"
	env_is cgroup.memory_limit_bytes $((512 * MIB))
	agrees
}

@test "env: the processors that a cgroup allows" {
	local own=/sys/fs/cgroup/cpu/exitmeter-test-$$
	root_only
	grep -q ':cpu[:,]' /proc/self/cgroup || skip "elsewhere: cpu is no controller of version 1"
	mkdir "$own" 2>/dev/null || skip "elsewhere: cgroups cannot be made here"
	[ -e "$own/cpu.cfs_quota_us" ] || {
		rmdir "$own"
		skip "elsewhere: no CPU bandwidth control"
	}
	echo 150000 >"$own/cpu.cfs_quota_us"
	sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$own" "$EXITMETER" -q \
		--source="$SOURCE" --json sum.json -- true || status=$?
	until_true 5 rmdir "$own"
	env_is cgroup.cpu_limit 1.5
}

@test "env: a hint of the container" {
	root_only
	in_mounts
	unshare -m sh -ec 'mount -t tmpfs none /run; touch /run/.containerenv; exec "$@"' sh \
		"$EXITMETER" -q --source="$SOURCE" --json sum.json -- true
	env_is container podman
}

@test "env: R-36 without /proc it is unavailable" {
	root_only
	in_mounts
	[ -z "${EM_SAN:-}" ] || skip "elsewhere: sanitisers need /proc"
	[ "$SOURCE" != ptrace ] || skip "elsewhere: tracing needs /proc"
	status=0
	unshare -m sh -ec 'mount -t tmpfs none /proc; exec "$@"' sh "$EXITMETER" -q --source="$SOURCE" \
		--json sum.json --journal run.journal -- sh -c 'exit 3' 2>err || status=$?
	cat err
	same status "$status" 3
	valid sum.json run.journal
	env_is source unavailable
	env_is kernel "$(uname -r)"
	holds "what cannot be read" '.env | [.load_start, .load_end, .steal_seconds, .work_fs_type,
		.memory_bytes, .boot_id, .psi, .cgroup.version] | all(. == null)'
	"$EXITMETER" report run.journal -q --json again.json
	cmp sum.json again.json
}

@test "env: a journal that was cut off has what was known at the start" {
	meter -- true
	sed '$d' run.journal >cut.journal
	status=0
	"$EXITMETER" report cut.journal -q --json again.json || status=$?
	same status "$status" 1
	valid again.json
	same env "$(jq -cS .env again.json)" "$(head -n 1 run.journal | jq -cS .env)"
	holds "no end" '.env | .load_end == null and .steal_seconds == null and .load_start != null' again.json
}

@test "env: the runner's names, left out where unknown" {
	meter --disk . -- true
	"$EXITMETER" report run.journal --runner >runner.json
	# shellcheck disable=SC2016
	jq -e --slurpfile s sum.json '$s[0].env as $e | .env
		| .source == $e.source and .kernel == $e.kernel and .loadAverage.start == $e.load_start
		and .loadAverage.end == $e.load_end and .stealMs == ($e.steal_seconds * 1000 | round)
		and .workFsType == $e.work_fs_type and .schedClass == $e.sched_class
		and .memoryMB == ($e.memory_bytes / 1048576 * 10 | round) / 10
		and has("governor") == ($e.governor != null) and ([.. | select(. == null)] | length) == 0' runner.json
	holds "of the run" '.diskMB | keys == ["allocated", "apparent"]' runner.json
	meter --disk . -- "$EXITMETER" span one -- true
	"$EXITMETER" report run.journal --runner >runner.json
	holds "of the only test" '.tests.one.resources.diskMB.allocated >= 0 and (has("diskMB") | not)' runner.json
}

# ---- folders ------------------------------------------------------------------------------

# sizes DIR: apparent and allocated bytes by find: each inode once, no other file system
sizes() {
	find "$1" -xdev -printf '%D:%i %s %b\n' | sort -u |
		awk '{ a += $2; b += $3 * 512 } END { printf "%.0f %.0f\n", a, b }'
}

# disk_is N DIR: both sizes are those of du and of find
disk_is() {
	local got
	got=$(summary ".disk[$1] | \"\(.apparent_bytes) \(.allocated_bytes)\"")
	same "find: $2" "$got" "$(sizes "$2")"
	same "du: $2" "${got#* }" "$(du -sx -B1 "$2" | cut -f1 | head -n 1)"
	# later ones leave folders' own sizes out of this
	mkdir -p empty
	[ "$(du -s -B1 --apparent-size empty | cut -f1)" -eq 0 ] ||
		same "du --apparent-size: $2" "${got% *}" "$(du -sx -B1 --apparent-size "$2" | cut -f1 | head -n 1)"
}

@test "disk: R-9 the folder after the run, as du has it; the status is the command's" {
	mkdir -p work/a/b
	meter --disk work --disk work/a -- sh -c '
		head -c 1000000 /dev/zero >work/full
		truncate -s 50M work/holes
		ln work/full work/a/again
		ln work/full work/a/b/more
		ln -s full work/a/link
		ln -s .. work/a/b/up
		ln -s / work/root
		mkfifo work/fifo
		head -c 70000 /dev/urandom >work/a/b/last
		sync -f work
		exit 5'
	same status "$status" 5
	holds "in order" '[.disk[].path] == ["work", "work/a"] and (.source.notes | map(select(startswith("disk"))) == [])'
	disk_is 0 work
	disk_is 1 work/a
	holds "holes" '.disk[0] | .apparent_bytes > 50000000 and .allocated_bytes < 3000000'
	"$EXITMETER" report run.journal -q --json again.json
	cmp sum.json again.json
}

@test "disk: an attempt and a phase have the folder as it was when they ended" {
	export EXITMETER
	mkdir data
	meter --disk data -- sh -c '"$EXITMETER" span first -- sh -c "head -c 300000 /dev/zero >data/a"
		"$EXITMETER" span load; head -c 200000 /dev/zero >data/b; "$EXITMETER" span query; rm data/a'
	holds "the attempt" '.attempts[0].resources.disk | .path == "data" and .apparent_bytes >= 300000 and .apparent_bytes < 320000'
	holds "the phase that ended" '.phases[0].resources.disk | .apparent_bytes >= 500000 and .apparent_bytes < 520000'
	holds "the one that did not" '.phases[1].resources.disk | .apparent_bytes >= 200000 and .apparent_bytes < 220000'
	holds "the run" '.disk[0] | .apparent_bytes >= 200000 and .apparent_bytes < 220000'
	"$EXITMETER" report run.journal -q --json again.json
	cmp sum.json again.json
	"$EXITMETER" report run.journal --runner >runner.json
	holds "the runner's" '.tests.first.resources.diskMB.apparent == 0.3' runner.json
	meter -- sh -c '"$EXITMETER" span first -- true'
	holds "not asked for, left out" '.attempts[0].resources | has("disk") | not'
}

@test "disk: not asked for, there is none" {
	meter -- true
	holds "none" '.disk == []'
}

@test "disk: a folder that is not there at the end" {
	mkdir gone
	: >file
	meter --disk gone --disk file --disk . -- rmdir gone
	same status "$status" 0
	holds "unknown" '.disk[:2] | map(.apparent_bytes, .allocated_bytes) | all(. == null)'
	holds "said" '.source.notes | any(. == "disk: gone: No such file or directory")
		and any(. == "disk: file: Not a directory")'
	holds "the other" '.disk[2].apparent_bytes > 0'
}

@test "disk: names of any bytes" {
	local odd
	odd=$(printf 'a\xe9\x85\xff\n"\134')
	mkdir "$odd"
	head -c 5000 /dev/zero >"$odd/$odd"
	meter --disk "$odd" -- true
	disk_is 0 "$odd"
	"$EXITMETER" report run.journal -q --json again.json
	cmp sum.json again.json
}

@test "disk: a link as the folder itself leads there, links inside lead nowhere" {
	mkdir -p real other
	head -c 5000 /dev/zero >real/x
	head -c 500000 /dev/zero >other/y
	ln -s ../other real/link
	ln -s real named
	meter --disk named -- true
	disk_is 0 real
}

@test "disk: other file systems are not crossed" {
	root_only
	in_mounts
	mkdir -p work/tmp work/bound big
	head -c 5000 /dev/zero >work/x
	head -c 500000 /dev/zero >big/y
	unshare -m sh -ec 'mount -t tmpfs none work/tmp
		head -c 300000 /dev/zero >work/tmp/z
		mount --bind big work/bound
		exec "$@"' sh "$EXITMETER" -q --source="$SOURCE" --json sum.json --disk work -- true
	within apparent "$(summary '.disk[0].apparent_bytes')" 5000 30000
}

@test "disk: more levels than descriptors, many entries in each" {
	python3 - <<-'PY'
		import os
		os.mkdir("deep")
		fd = os.open("deep", os.O_RDONLY)
		for level in range(300):
		    for i in range(3):
		        os.mkdir(f"side{i}", dir_fd=fd)
		        os.close(os.open(f"{'n' * 200}{i}", os.O_CREAT | os.O_WRONLY, dir_fd=fd))
		    if level % 50 == 0:
		        for i in range(100):
		            os.close(os.open(f"{'m' * 200}{i}", os.O_CREAT | os.O_WRONLY, dir_fd=fd))
		    os.mkdir("below", dir_fd=fd)
		    down = os.open("below", os.O_RDONLY, dir_fd=fd)
		    os.close(fd)
		    fd = down
	PY
	(ulimit -n 100 && meter_raw --disk deep -- true)
	holds "nothing missed" '.source.notes | map(select(startswith("disk"))) == []'
	disk_is 0 deep
}

@test "disk: 5000 levels: what lies deeper is said" {
	python3 - <<-'PY'
		import os
		os.mkdir("deep")
		fd = os.open("deep", os.O_RDONLY)
		for level in range(5000):
		    os.mkdir("d", dir_fd=fd)
		    down = os.open("d", os.O_RDONLY, dir_fd=fd)
		    os.close(fd)
		    fd = down
	PY
	meter --disk deep -- true
	holds "said" '.source.notes | any(startswith("disk: 1 part of deep could not be read"))'
	holds "the rest counted" '.disk[0].apparent_bytes > 0'
	rm -rf deep
}

@test "disk: what may not be read is said, and the rest counted" {
	root_only
	chmod 711 . && mkdir -m 755 open && mkdir -m 700 open/shut open/closed && mkdir -m 755 open/in
	head -c 5000 /dev/zero >open/in/x
	head -c 500000 /dev/zero >open/shut/x
	status=0
	chmod 755 "$BATS_TEST_TMPDIR"
	setpriv --reuid 65534 --regid 65534 --clear-groups "$EXITMETER" -q --source=proc --json - \
		--disk open -- true >sum.json 2>err || status=$?
	[ "$status" -eq 0 ] || skip "elsewhere: another user may not come here: $(cat err)"
	holds "said" '.source.notes | any(. == "disk: 2 parts of open could not be read: Permission denied")'
	within apparent "$(summary '.disk[0].apparent_bytes')" 5000 30000
}

@test "disk: an empty name is refused before anything starts" {
	run -125 "$EXITMETER" --disk '' -- touch started
	same "messages" "$output" "exitmeter: disk: it must not be empty"
	[ ! -e started ]
}
