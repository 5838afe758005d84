#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2034
# A wrapper's manners: nobody notices exitmeter but by its report.

load helpers

STATIC=${EXITMETER_STATIC-$ROOT/build/static/exitmeter}
# Outputs of every kind, so that each has its descriptor.
ALL_OUTPUTS=(--source="$SOURCE" -o report --json sum.json --journal run.journal)

has_file() {
	[ -e "$1" ]
}

gone() {
	! kill -0 "$1" 2>/dev/null
}

state_of() {
	sed 's/.*) //; s/ .*//' "/proc/$1/stat"
}

in_state() {
	[ "$(state_of "$1")" = "$2" ]
}

# the first child of a process, once there is one
child_of() {
	until_true 20 pgrep -P "$1" >/dev/null
	pgrep -P "$1" | head -n 1
}

root_needed() {
	[ "$(id -u)" -eq 0 ] || skip "elsewhere: $1 needs root"
}

unshare_needed() {
	unshare "$@" true 2>/dev/null || skip "elsewhere: unshare $* is not permitted"
}

static_needed() {
	[ -x "$STATIC" ] || skip "elsewhere: no static exitmeter (make static)"
}

# ---- statuses -----------------------------------------------------------------------------

@test "manners: statuses: own, 128 + n, 126, 127, 125" {
	local code n
	for code in 0 1 2 122 123 125 126 127 128 255; do
		meter_raw -- sh -c "exit $code"
		same "status" "$status" "$code"
	done
	for n in 1 2 3 6 9 10 13 14 15 24; do
		meter_raw -- env --default-signal sh -c "ulimit -c 0; kill -$n \$\$"
		same "after signal $n" "$status" $((128 + n))
		same "in the record" "$(summary .run.exit_signal)" "$n"
	done
	meter_raw -- /
	same "a folder" "$status" 126
	meter_raw -- ''
	same "an empty name" "$status" 127
	meter_raw --no-such-option -- touch started
	same "bad usage" "$status" 125
	[ ! -e started ]
}

@test "manners: scripts without #!, an empty PATH, a relative path" {
	local before=$PATH
	mkdir folder
	printf 'echo "script $1"; exit 4\n' >folder/script
	printf '#!/no/such/interpreter\n' >folder/orphan
	chmod +x folder/script folder/orphan
	meter -- folder/script one
	same status "$status" 4
	same out "$(cat out)" "script one"
	same "the file" "$(summary .run.exe.path)" "$PWD/folder/script"
	meter_raw -- folder/orphan
	same "no such interpreter" "$status" 127
	cd folder
	PATH="" meter_raw -- script two
	PATH=$before
	same status "$status" 4
	same out "$(cat out)" "script two"
	same "found in the current folder" "$(summary .run.exe.path)" "$PWD/script"
	PATH="/no/such/folder::$before" meter_raw -- script three
	same status "$status" 4
	same "an empty element is the current folder" "$(summary .run.exe.path)" "$PWD/script"
	PATH="" meter_raw -- no-such-program
	same "not found" "$status" 127
}

# ---- descriptors --------------------------------------------------------------------------

# closed SET COMMAND...: with these of 0, 1 and 2 closed
closed() {
	(
		case $1 in *0*) exec 0<&- ;; esac
		case $1 in *1*) exec 1>&- ;; esac
		case $1 in *2*) exec 2>&- ;; esac
		exec 3>&-
		shift
		exec "$@"
	)
}

@test "case 41, 42: descriptors: none leaked, 0 to 2 as they were, closed ones too" {
	local set code look='ls -l /proc/self/fd 2>/dev/null | sed -n "s/.* \([0-9]* -> .*\)/\1/p" | sed "s/\[.*//; s,/proc/[0-9]*/fd,,; s,/.*with.*,,"'
	for set in none 0 1 2 01 02 12 012; do
		code=0
		closed $set sh -c "{ $look; } 9>without >&9 9>&-"
		closed $set "$EXITMETER" "${ALL_OUTPUTS[@]}" -- sh -c "{ $look; } 9>with >&9 9>&-; exit 7" || code=$?
		sed 's/without//' without >a
		sed 's/with//' with >b
		echo "closed: $set"
		same status "$code" 7
		diff a b
		valid sum.json run.journal
		identities sum.json
		[ "$(grep -c '^exitmeter: ' report)" -ge 1 ]
		rm -f sum.json run.journal report
	done
}

@test "case 41: a closed stderr or stdout as the place of an output" {
	local code=0
	closed 2 "$EXITMETER" --source="$SOURCE" -- sh -c 'exit 7' || code=$?
	same "no place for the report" "$code" 7
	code=0
	closed 1 "$EXITMETER" -q --source="$SOURCE" --json - -- touch started 2>err || code=$?
	same "an output that is closed" "$code" 125
	one_line err
	[ ! -e started ]
}

@test "case 42: inherited descriptors stay, the report's own does not" {
	"$EXITMETER" -q --source="$SOURCE" --json fd:8 -- \
		sh -c 'for n in 6 7 8; do [ ! -e /proc/self/fd/$n ] || echo $n; done' \
		6</dev/null 7>seven 8>sum.json >out
	same "descriptors" "$(tr '\n' ' ' <out)" "6 7 "
	valid sum.json
}

@test "manners: who reads from the command sees that it closed its output" {
	mkfifo stream go
	"$EXITMETER" -q --source="$SOURCE" -- sh -c 'echo last; exec >&-; read -r _ <go; exit 6' >stream 3>&- &
	METER_PID=$!
	timeout 20 cat stream >got
	same "all until the end of file" "$(cat got)" last
	kill -0 "$METER_PID"
	echo x >go
	status=0
	wait "$METER_PID" || status=$?
	METER_PID=
	same status "$status" 6
}

# ---- what is inherited --------------------------------------------------------------------

# twice FOLLOWED...: AS is put before the command, once without and once with exitmeter
twice() {
	"${AS[@]}" "$@" >without 3>&-
	"${AS[@]}" "$EXITMETER" "${ALL_OUTPUTS[@]}" -- "$@" >with 3>&-
	cat without
	diff without with
}

# The one variable that is exitmeter's own: there once, and else the same.
same_environment() {
	"${AS[@]}" "$@" >without 3>&-
	"${AS[@]}" "$EXITMETER" "${ALL_OUTPUTS[@]}" -- "$@" >all 3>&-
	[ "$(tr '\0' '\n' <all | grep -c '^EXITMETER_CONTROL=unix:/')" -eq 1 ]
	sed -z '/^EXITMETER_CONTROL=unix:/d' all >with
	cmp without with
}

@test "case 42: the environment, but EXITMETER_CONTROL" {
	AS=(env -i "PATH=$PATH" A= 'B=two
lines' 'C= ' NO_COLOR=1 LD_BIND_NOW=1)
	same_environment env -0
	AS=(env -i)
	same_environment /usr/bin/env -0
}

@test "case 41: signal dispositions and mask" {
	AS=(env --default-signal "--ignore-signal=INT,QUIT,PIPE,CHLD,HUP,TERM,TSTP,XFSZ"
		"--block-signal=USR1,ALRM,CHLD,CONT,TERM")
	twice grep -E '^(Sig(Pnd|Blk|Ign|Cgt)|ShdPnd)' /proc/self/status
	AS=(env --default-signal)
	twice grep -E '^(Sig(Pnd|Blk|Ign|Cgt)|ShdPnd)' /proc/self/status
	[ -z "${EM_SAN:-}" ] || return 0 # whose runtime handles some of them itself
	AS=(env --ignore-signal --block-signal)
	twice grep -E '^(Sig(Pnd|Blk|Ign|Cgt)|ShdPnd)' /proc/self/status
}

@test "case 41: SIGCHLD ignored or blocked by the caller" {
	local how
	for how in --ignore-signal=CHLD --block-signal=CHLD; do
		status=0
		env "$how" "$EXITMETER" -q --source="$SOURCE" --json sum.json -- sh -c 'true; exit 7' || status=$?
		same "status, $how" "$status" 7
		identities sum.json
	done
}

@test "manners: umask, nice, limits, OOM score, timer slack, scheduling, group, session" {
	AS=(sh -c 'umask 027; ulimit -n 99; ulimit -f 5000; echo 77 >/proc/self/oom_score_adj
		echo 12345 >/proc/$$/timerslack_ns; exec nice -n 5 "$@"' sh)
	twice sh -c 'umask; ulimit -a; nice; cat /proc/self/oom_score_adj /proc/self/timerslack_ns
		cut -d" " -f5-8,18-19,41 "/proc/$$/stat"; ls -l /proc/self/ns | sed "s/.*-> //"; pwd; cat /proc/self/cgroup
		grep -E "^(NoNewPrivs|Seccomp|Cpus_allowed|CoreDumping|Threads|Umask):" /proc/self/status'
	same "the OOM score" "$(grep -cx 77 with)" 1
	same "the slack" "$(grep -cx 12345 with)" 1
}

@test "manners: capabilities, ambient ones, no_new_privs" {
	root_needed "changing capabilities"
	command -v setpriv >/dev/null || skip "elsewhere: no setpriv"
	chmod 777 .
	local look=(grep -E '^(Cap|NoNewPrivs|Uid|Gid|Groups)' /proc/self/status)
	AS=(env)
	twice "${look[@]}"
	AS=(setpriv --bounding-set -sys_time --inh-caps +net_raw --ambient-caps +net_raw)
	twice "${look[@]}"
	rm -f report sum.json run.journal
	SOURCE=auto
	ALL_OUTPUTS[0]=--source=auto
	AS=(setpriv --reuid 65534 --regid 65534 --groups 65533 --inh-caps +net_raw --ambient-caps +net_raw)
	twice "${look[@]}"
	[ "$(grep -c '^CapAmb:.*2000$' with)" -eq 1 ]
	rm -f report sum.json run.journal # where all may write root does not write another's
	AS=(setpriv --no-new-privs)
	twice "${look[@]}"
}

@test "case 38: a setuid program keeps its privilege" {
	root_needed "a setuid program"
	cp "$(command -v id)" own-id
	chmod 4755 own-id
	chmod 777 .
	[ "$(setpriv --reuid=65534 --regid=65534 --clear-groups ./own-id -u)" = 0 ] ||
		skip "elsewhere: setuid programs do not work in $PWD"
	setpriv --reuid=65534 --regid=65534 --clear-groups "$EXITMETER" -q --source=proc -- ./own-id -u >out
	same "run by a plain user" "$(cat out)" 0
	chown 65534 own-id
	chmod 4755 own-id
	meter -- ./own-id -u
	same "from root to another" "$(cat out)" 65534
}

# ---- signals ------------------------------------------------------------------------------

# A command that is ready when there is a file of that name, and ends by its trap.
trapping() {
	echo "trap '$2' $1; : >ready; while :; do sleep 0.02; done"
}

@test "case 39: TERM, HUP, USR1, USR2 and ALRM are passed on" {
	local sig
	for sig in TERM HUP USR1 USR2 ALRM; do
		rm -f ready
		meter_background -- sh -c "$(trapping $sig 'exit 40')"
		until_true 20 has_file ready
		kill "-$sig" "$METER_PID"
		meter_wait
		same "status after $sig" "$status" 40
		SHAPE_SEEN=1
	done
	rm -f ready
	meter_background -- sh -c ': >ready; exec sleep 60'
	until_true 20 has_file ready
	kill -TERM "$METER_PID"
	meter_wait
	same "the command died of it" "$status" 143
	same "and the record says so" "$(summary .run.exit_signal)" 15
}

@test "case 39: INT and QUIT to exitmeter alone change nothing" {
	env --default-signal=INT,QUIT "$EXITMETER" -q --source="$SOURCE" --json sum.json -- \
		sh -c "$(trapping USR1 'exit 5')" 3>&- &
	METER_PID=$!
	until_true 20 has_file ready
	kill -INT "$METER_PID"
	kill -QUIT "$METER_PID"
	kill -USR1 "$METER_PID"
	status=0
	wait "$METER_PID" || status=$?
	METER_PID=
	same status "$status" 5
	identities sum.json
}

@test "case 39: Ctrl-C while it starts: the status of a command that it ended" {
	for _ in $(seq 10); do
		env --default-signal=INT setsid "$EXITMETER" -q --source="$SOURCE" -- sleep 60 2>err 3>&- &
		METER_PID=$!
		child_of "$METER_PID" >child
		kill -INT -- "-$METER_PID"
		status=0
		wait "$METER_PID" || status=$?
		METER_PID=
		cat err
		same status "$status" 130
	done
}

@test "manners: five seconds after TERM it reports and leaves with 143, the command untouched" {
	local began pid
	mkfifo go
	meter_background -- sh -c 'trap "" TERM; echo $$ >pid; : >ready; read -r _ <go; echo >went-on'
	until_true 20 has_file ready
	pid=$(cat pid)
	began=$EPOCHREALTIME
	kill -TERM "$METER_PID"
	meter_wait
	same status "$status" 143
	within "milliseconds" "$(((${EPOCHREALTIME/./} - ${began/./}) / 1000))" 4900 15000
	same "its row" "$(row ".pid == $pid" .running)" true
	same "code" "$(summary .run.exit_code)" null
	echo x >go
	until_true 20 has_file went-on
}

@test "manners: a second TERM reports at once" {
	local began
	mkfifo go
	meter_background -- sh -c "trap ': >term' TERM; : >ready; while :; do sleep 0.02; [ ! -e end ] || exit 0; done"
	until_true 20 has_file ready
	began=$EPOCHREALTIME
	kill -TERM "$METER_PID"
	until_true 20 has_file term
	while kill -0 "$METER_PID" 2>/dev/null && [ $(((${EPOCHREALTIME/./} - ${began/./}) / 1000)) -lt 4500 ]; do
		sleep 0.1 # two within 50 ms would be one
		kill -TERM "$METER_PID" 2>/dev/null || true
	done
	within "milliseconds" "$(((${EPOCHREALTIME/./} - ${began/./}) / 1000))" 0 4400
	: >end
	meter_wait
	same status "$status" 143
}

@test "manners: TERMs that come at once, to exitmeter and to its group as timeout's do, are one" {
	local often
	meter_background -- sh -c "trap 'trap \"\" TERM; \"$WORK/hold\" idle=400; exit 3' TERM; : >ready; while :; do sleep 0.02; done"
	until_true 20 has_file ready
	# one builtin: all of them within a millisecond or so
	mapfile -t often < <(yes "$METER_PID" | head -n 400)
	kill -TERM "${often[@]}"
	meter_wait
	same "the command's own end" "$status" 3
}

@test "manners: started with TERM ignored, TERM ends nothing" {
	env --ignore-signal=TERM "$EXITMETER" -q --source="$SOURCE" --json sum.json -- \
		sh -c ': >ready; sleep 6; exit 8' 3>&- &
	METER_PID=$!
	until_true 20 has_file ready
	kill -TERM "$METER_PID"
	status=0
	wait "$METER_PID" || status=$?
	METER_PID=
	same status "$status" 8
}

@test "manners: a timer set before exitmeter ends the command" {
	command -v perl >/dev/null || skip "elsewhere: no perl"
	meter_raw -- true
	status=0
	perl -e 'alarm 2; exec @ARGV' "$EXITMETER" -q --source="$SOURCE" --json sum.json -- sleep 30 3>&- || status=$?
	same status "$status" 142
	same "signal" "$(summary .run.exit_signal)" 14
}

@test "manners: --wait-tree is ended by INT and by TERM, and reports" {
	local sig pid
	exits_needed "a descendant that still runs"
	for sig in INT TERM; do
		rm -f root child
		env --default-signal=INT "$EXITMETER" -q --source="$SOURCE" --json sum.json --wait-tree -- \
			sh -c 'sleep 60 >/dev/null 2>&1 & echo $! >child; echo $$ >root; exit 9' 3>&- &
		METER_PID=$!
		until_true 20 has_file root
		until_true 20 gone "$(cat root)"
		pid=$(cat child)
		kill -0 "$METER_PID"
		kill "-$sig" "$METER_PID"
		status=0
		wait "$METER_PID" || status=$?
		METER_PID=
		same "status after $sig" "$status" 9
		same "the descendant" "$(row ".pid == $pid" .running)" true
		kill "$pid"
	done
}

@test "case 26: exitmeter stopped, the command killed, exitmeter continued" {
	local pid began
	meter_background -- sh -c 'echo $$ >pid; : >ready; exec sleep 60'
	until_true 20 has_file ready
	pid=$(cat pid)
	kill -STOP "$METER_PID"
	until_true 20 in_state "$METER_PID" T
	kill -KILL "$pid"
	until_true 20 in_state "$pid" Z
	began=$EPOCHREALTIME
	kill -CONT "$METER_PID"
	until_true 20 gone "$pid"
	meter_wait
	within "milliseconds" "$(((${EPOCHREALTIME/./} - ${began/./}) / 1000))" 0 1500
	same status "$status" 137
}

@test "case 38: the command stopped and continued" {
	local pid
	meter_background -- sh -c 'echo $$ >pid; : >ready; while [ ! -e end ]; do sleep 0.02; done; exit 11'
	until_true 20 has_file ready
	pid=$(cat pid)
	kill -STOP "$pid"
	# one that is traced says so
	until_true 20 in_state "$pid" "$([ "$SOURCE" = ptrace ] && echo t || echo T)"
	: >end
	kill -0 "$METER_PID"
	same "exitmeter waits on" "$(state_of "$METER_PID" | tr -d SRD)" ""
	kill -CONT "$pid"
	meter_wait
	same status "$status" 11
}

# The BPF objects that a process holds, "prog 12"
objects_of() {
	cat "/proc/$1"/fdinfo/* 2>/dev/null | sed -nE 's/^(prog|map|link)_id:\s*([0-9]+)$/\1 \2/p' | sort -u
}

objects_gone() {
	local kind id
	while read -r kind id; do
		! bpftool "$kind" show id "$id" >/dev/null 2>&1 || return 1
	done <objects
}

@test "case 39: kill -9 of exitmeter in a storm of forks: the command goes on, no BPF stays" {
	local pid
	mkfifo result
	# the command's status is told by its own parent, which exitmeter's death does not touch
	meter_background -- sh -c 'sh -c "i=0; while [ \$i -lt 300 ]; do /bin/true || exit 1; i=\$((i + 1)); [ \$i -ne 20 ] || : >ready; done; exit 21"; echo $? >result'
	until_true 20 has_file ready
	objects_of "$METER_PID" >objects
	cat objects
	[ "$SOURCE" != bpf ] || [ "$(grep -c '^prog' objects)" -ge 3 ]
	kill -KILL "$METER_PID"
	same "the command's own status" "$(timeout 30 cat result)" 21
	wait "$METER_PID" || true
	METER_PID=
	if [ "$SOURCE" = bpf ]; then
		command -v bpftool >/dev/null || skip "elsewhere: no bpftool"
		until_true 20 objects_gone
	fi
	within "lines of the journal that is left" "$(wc -l <run.journal)" 1 100000
}

@test "manners: children from before exitmeter was executed are not the command's" {
	status=0
	sh -c '"$1" populate=60 burn=300 >/dev/null & shift; exec "$@"' sh "$WORK/hold" \
		"$EXITMETER" -q --source="$SOURCE" -i 0.02 --json sum.json --journal run.journal -- \
		sh -c 'sleep 1.5; exit 4' >out 2>err 3>&- || status=$?
	checked
	same status "$status" 4
	same "its row" "$(rows '.comm == "hold"')" "[]"
	within "peak" "$(summary .usage.peak_rss_bytes)" 1 $((30 * MIB))
	holds "CPU" '.usage.cpu_seconds < 0.15'
}

# ---- outputs ------------------------------------------------------------------------------

@test "case 41: /dev/full as report, summary and journal" {
	local option
	[ -c /dev/full ] || skip "elsewhere: no /dev/full"
	for option in "-o" "-q --json" "-q --journal"; do
		status=0
		# shellcheck disable=SC2086
		"$EXITMETER" --source="$SOURCE" $option /dev/full -- sh -c 'exit 7' 2>err 3>&- || status=$?
		same "status with $option" "$status" 7
		one_line err
	done
	status=0
	"$EXITMETER" --source="$SOURCE" -- sh -c 'exit 7' 2>/dev/full || status=$?
	same "stderr itself is full" "$status" 7
}

@test "case 41: a full disk" {
	unshare_needed --mount
	mkdir disk
	status=0
	unshare --mount sh -c 'mount -t tmpfs -o size=4k none disk && echo old >disk/other && shift && exec "$@"' sh - \
		"$EXITMETER" --source="$SOURCE" -o disk/report --json disk/sum.json --journal disk/run.journal -- \
		sh -c 'exit 7' 2>err 3>&- || status=$?
	cat err
	same status "$status" 7
	within "messages" "$(wc -l <err)" 1 3
	same "other lines" "$(grep -cv '^exitmeter: cannot write ' err)" 0
}

@test "case 41: a full disk: of what is made from the journal nothing half is left, and what was there stays" {
	local option
	unshare_needed --mount
	mkdir disk
	for option in --html --trace --prom --openmetrics; do
		status=0
		unshare --mount sh -ec 'mount -t tmpfs -o size=16k,mode=755 none disk; echo old >disk/file; ln -s file disk/link
			head -c 12k /dev/zero >disk/other; shift; status=0; "$@" || status=$?; ls disk; cat disk/file; exit $status' sh - \
			"$EXITMETER" --source="$SOURCE" -q "$option" disk/link -- sh -c 'seq 300 | xargs -n 9 true; exit 7' \
			>out 2>err 3>&- || status=$?
		cat out err
		same "$option: status" "$status" 7
		same "$option: what is there" "$(xargs <out)" "file link other old"
		one_line err
		grep -E "^exitmeter: cannot write 'disk/link'" err
	done
}

@test "case 41: a limit on the size of files" {
	status=0
	(
		ulimit -f 16 # 16 KiB
		exec "$EXITMETER" -q --source="$SOURCE" --journal run.journal --json sum.json -- \
			sh -c 'i=0; while [ $i -lt 60 ]; do /bin/true $i; i=$((i + 1)); done; exit 7'
	) 2>err 3>&- || status=$?
	cat err
	same status "$status" 7
	same "other lines" "$(grep -cv '^exitmeter: cannot write ' err)" 0
	[ "$SOURCE" = proc ] || within "messages" "$(wc -l <err)" 1 2
}

@test "case 41: the report into a closed pipe" {
	status=0
	# shellcheck disable=SC2261
	{
		"$EXITMETER" --source="$SOURCE" --log-fd 8 -- sh -c 'until [ -e closed ]; do sleep 0.02; done; exit 7' 2>err 3>&- || status=$?
		echo "$status" >status
	} 8> >(exec 8>&-; : >closed)
	until_true 20 has_file status
	same status "$(cat status)" 7
	one_line err
}

@test "case 41: an output that cannot be opened: 125, nothing started" {
	local option
	mkdir folder
	for option in "-o folder" "-q --json folder" "-q --journal folder" "-o no/such/folder/file" "--log-fd 77" \
		"-q --json fd:77"; do
		status=0
		# shellcheck disable=SC2086
		"$EXITMETER" --source="$SOURCE" $option -- touch started 2>err 3>&- || status=$?
		same "status with $option" "$status" 125
		one_line err
		[ ! -e started ]
	done
}

# ---- --user -------------------------------------------------------------------------------

@test "manners: --user NAME and number: ids, groups and privileges, nothing else" {
	root_needed "--user"
	local home=$HOME name gid
	chmod 777 .
	for name in nobody daemon man; do
		getent passwd "$name" >/dev/null || continue
		gid=$(id -g "$name")
		setpriv --reuid "$name" --regid "$gid" --init-groups grep -E '^(Uid|Gid|Groups|Cap[IPE]|NoNew)' /proc/self/status >without
		"$EXITMETER" -q --source="$SOURCE" --user "$name" -- \
			grep -E '^(Uid|Gid|Groups|Cap[IPE]|NoNew)' /proc/self/status >with
		diff without with
	done
	meter --user 12345 -- sh -c 'id -u; id -g; grep ^Groups /proc/self/status | tr -d "[:space:]"; echo; echo "$HOME"'
	same "number" "$(tr '\n' ' ' <out)" "12345 12345 Groups: $home "
	AS=(env -i "PATH=$PATH" HOME=/elsewhere USER=someone)
	"${AS[@]}" env >without
	"${AS[@]}" "$EXITMETER" -q --source="$SOURCE" --user 12345 -- env >all
	sed '/^EXITMETER_CONTROL=unix:/d' all >with
	diff without with
	meter_raw --user 12345 -- sh -c 'kill -9 $$'
	same status "$status" 137
	status=0
	EXITMETER_DISABLE=1 "$EXITMETER" --user 12345 -- id -u >out || status=$?
	same "status" "$status" 0
	same "also when disabled" "$(cat out)" 12345
}

@test "manners: --user: supplementary groups, by the static program too" {
	root_needed "--user"
	unshare_needed --mount
	cp /etc/passwd passwd
	cp /etc/group group
	echo 'em-test:x:54321:54322::/:/bin/sh' >>passwd
	printf 'em-own:x:54322:\nem-one:x:54323:other,em-test\nem-two:x:54324:em-test\n' >>group
	local program
	for program in "$EXITMETER" "$STATIC"; do
		[ -x "$program" ] || continue
		unshare --mount sh -c 'mount --bind passwd /etc/passwd && mount --bind group /etc/group && exec "$@"' sh \
			"$program" -q --source="$SOURCE" --user em-test -- id -u >out
		same uid "$(cat out)" 54321
		unshare --mount sh -c 'mount --bind passwd /etc/passwd && mount --bind group /etc/group && exec "$@"' sh \
			"$program" -q --source="$SOURCE" --user em-test -- id -G >out
		same groups "$(tr ' ' '\n' <out | sort | tr '\n' ' ')" "54322 54323 54324 "
	done
}

@test "manners: --user: unknown or not root: one line, 125, nothing started" {
	local name
	chmod 777 .
	if [ "$(id -u)" -eq 0 ]; then
		for name in no-such-user '' -1 4294967295 4294967296 12x; do
			meter_raw --user "$name" -- touch started
			same "status with '$name'" "$status" 125
			one_line err
			[ ! -e started ]
		done
		status=0
		setpriv --reuid=65534 --regid=65534 --clear-groups \
			"$EXITMETER" --user 65534 -- touch started 2>err || status=$?
	else
		status=0
		"$EXITMETER" --user 65534 -- touch started 2>err || status=$?
	fi
	same "status as another user" "$status" 125
	one_line err
	[ ! -e started ]
}

# ---- namespaces, containers ---------------------------------------------------------------

@test "case 30: inside a pid namespace: the same numbers, pids of that namespace" {
	unshare_needed --pid --fork --mount-proc
	status=0
	unshare --pid --fork --mount-proc sh -c 'true; "$@"; exit $?' sh \
		"$EXITMETER" -q --source="$SOURCE" --json sum.json --journal run.journal -- \
		sh -c "'$WORK/hold' touch=50 print; echo \$\$ >pid; exit 12" >out 2>err 3>&- || status=$?
	checked
	same status "$status" 12
	same "the root" "$(summary .run.pid)" "$(cat pid)"
	within "a small number" "$(cat pid)" 2 100
	exits_needed "a row of each"
	same "its row" "$(row ".pid == $(cat pid)" .comm)" sh
	same "the workload's own word" "$(row '.comm == "hold"' .pid)" "$(truth pid)"
	within "peak" "$(row '.comm == "hold"' .peak_rss_bytes)" "$(truth rss)" $(($(truth rss) + 2 * MIB))
}

@test "case 30: a command that makes a pid namespace: pids as exitmeter sees them" {
	unshare_needed --pid --fork
	exits_needed "a row of each"
	# /proc is still the outer one
	meter -- unshare --pid --fork grep '^Pid:' /proc/self/status
	same status "$status" 0
	same "as seen from outside" "$(row '.comm == "grep"' .pid)" "$(awk '{ print $2 }' out)"
	same "its creator" "$(row '.comm == "grep"' .ppid)" "$(row '.comm == "unshare"' .pid)"
}

@test "case 30: a /proc that numbers other processes is not read" {
	[ "$SOURCE" != ptrace ] || skip "memory: source ptrace reads it in /proc"
	unshare_needed --pid --fork
	status=0
	unshare --pid --fork "$EXITMETER" -q --source="$SOURCE" -i 0.02 --json sum.json --journal run.journal -- \
		sh -c 'sleep 0.3; exit 12' >out 2>err 3>&- || status=$?
	checked
	same status "$status" 12
	holds "the record says so" '.source.notes == ["proc-of-another-namespace"]'
	same "nothing of another process" "$(summary .source.self_peak_rss_bytes)" null
	[ "$SOURCE" = proc ] || exact
}

@test "case 54: PID 1 of a container: reaps orphans, ends with its command, reports" {
	unshare_needed --pid --fork --mount-proc
	status=0
	# an orphan of a shell that is gone; the command waits until nobody is a zombie
	unshare --pid --fork --mount-proc "$EXITMETER" --source="$SOURCE" --json sum.json -- sh -c '
		sh -c "sleep 0.1 & echo \$! >orphan"
		i=0
		while [ -e "/proc/$(cat orphan)" ] && [ $i -lt 500 ]; do sleep 0.02; i=$((i + 1)); done
		[ ! -e "/proc/$(cat orphan)" ] || exit 99
		sleep 600 >/dev/null 2>&1 &
		exit 13' >out 2>err 3>&- || status=$?
	cat err
	same status "$status" 13
	identities sum.json
	same "our pid" "$(summary '.run.pid > 1')" true
	[ "$(grep -c '^exitmeter: ' err)" -ge 1 ]
	exits_needed "a row of each"
	same "the orphan" "$(row ".pid == $(cat orphan)" .exit_code)" 0
}

@test "case 54: PID 1 of a container: forwards TERM" {
	local pid
	unshare_needed --pid --fork --mount-proc
	unshare --pid --fork --mount-proc "$EXITMETER" -q --source="$SOURCE" --json sum.json -- \
		sh -c "$(trapping TERM 'exit 14')" 3>&- &
	METER_PID=$!
	until_true 20 has_file ready
	pid=$(child_of "$METER_PID")
	kill -TERM "$pid"
	status=0
	wait "$METER_PID" || status=$?
	METER_PID=
	same status "$status" 14
	identities sum.json
}

# bare_root: a folder with the static exitmeter and one static program
bare_root() {
	root_needed "chroot"
	static_needed
	mkdir -p bare
	cp "$STATIC" bare/exitmeter
	cp "$WORK/static/hold" bare/hold 2>/dev/null ||
		gcc -O1 -D_GNU_SOURCE -pthread -static -o bare/hold "$ROOT/tests/work/hold.c"
}

@test "case 43: without /proc the programs that come later are loaded too" {
	[ "$SOURCE" = bpf ] || skip "elsewhere: the BPF source only"
	local with without
	[ -z "${EM_SAN:-}" ] || skip "elsewhere: sanitisers need /proc"
	unshare -m true 2>/dev/null || skip "elsewhere: no mount namespaces"
	meter -- "$WORK/hold" burn=200 exit=0
	with=$(summary '[.source.samples, .run.oom_killed] | @json')
	rm -f sum.json run.journal
	unshare -m sh -c 'mount --make-rprivate / && mount -t tmpfs none /proc && exec "$@"' sh \
		"$EXITMETER" -q --source=bpf --json sum.json -- "$WORK/hold" burn=200 exit=0
	without=$(summary '[.source.samples, .run.oom_killed] | @json')
	same "without /proc" "$without" "$with"
	holds "what is missing is said" '.source.notes == ["no-proc"]'
	same "left behind" "$(compgen -G '/tmp/exitmeter-btf-*' || true)" ""
}

@test "case 43: an empty root file system" {
	bare_root
	status=0
	chroot bare /exitmeter --json /sum.json --journal /run.journal -- /hold touch=5 exit=7 2>err 3>&- || status=$?
	cat err
	same status "$status" 7
	valid bare/sum.json bare/run.journal
	identities bare/sum.json
	same "lines that are not ours" "$(grep -cv '^exitmeter: ' err)" 0
	holds "why no BPF" '.source.fallback_reason | contains("/sys")' bare/sum.json
	holds "no /proc" '.source.notes == ["no-proc"]' bare/sum.json
	holds "not exact" '.completeness.exact == false' bare/sum.json
	holds "what wait4 knows" '.usage.cpu_seconds > 0 and .rusage.maxrss_bytes > 5e6' bare/sum.json
	holds "unknown is null" '[.usage.peak_rss_bytes, .usage.max_processes, .usage.max_threads, .processes[].cpu_seconds,
		.processes[].minor_faults, .source.self_peak_rss_bytes] | all(. == null)' bare/sum.json
	status=0
	chroot bare /exitmeter -q -- /no/such/program 2>err || status=$?
	same "not found" "$status" 127
	status=0
	chroot bare /exitmeter -q --user 4321 -- /hold kill=9 || status=$?
	same "--user with a number" "$status" 137
	status=0
	chroot bare /exitmeter -q --user nobody -- /hold touch=1 2>err || status=$?
	same "--user with a name" "$status" 125
	one_line err
}

# with_proc COMMAND...: in the bare root, with /proc
with_proc() {
	unshare --mount sh -c 'mount -t proc none bare/proc && exec chroot bare "$@"' sh "$@"
}

@test "case 43: reports that exitmeter-report makes, in a root without /dev" {
	local report=${STATIC%/*}/exitmeter-report option
	bare_root
	unshare_needed --mount
	[ -x "$report" ] || skip "elsewhere: no static exitmeter-report"
	cp "$report" bare/
	mkdir -p bare/tmp bare/proc
	for option in --html --trace --prom; do
		status=0
		with_proc /exitmeter -q --source=proc "$option" /out -- /hold touch=1 exit=7 2>err 3>&- || status=$?
		cat err
		! grep -q 'built without npm' err || continue
		same "$option: status" "$status" 7
		same "$option: messages" "$(wc -c <err)" 0
		[ -s bare/out ]
		rm bare/out
	done
	# what cannot be executed is said, and leaves nothing
	rm bare/exitmeter-report
	mkdir bare/exitmeter-report
	status=0
	with_proc /exitmeter -q --source=proc --html /out -- /hold touch=1 exit=7 2>err 3>&- || status=$?
	same "status" "$status" 7
	one_line err
	[ ! -e bare/out ]
}

@test "case 43: an empty root file system with /proc" {
	bare_root
	unshare_needed --mount
	mkdir bare/proc
	status=0
	unshare --mount sh -c 'mount -t proc none bare/proc && exec chroot bare "$@"' sh \
		/exitmeter -i 0.02 --json /sum.json -- /hold touch=20 idle=500 exit=7 2>err 3>&- || status=$?
	cat err
	same status "$status" 7
	valid bare/sum.json
	identities bare/sum.json
	holds "no note" '.source.notes == []' bare/sum.json
	within "the sampled peak" "$(jq .usage.peak_rss_bytes bare/sum.json)" $((20 * MIB)) $((24 * MIB))
}
