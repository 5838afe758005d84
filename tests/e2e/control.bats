#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# phases and attempts named while a run goes on: the control channel, exitmeter span, --spans

# shellcheck disable=SC2016,SC2238 # what the run's own shell expands; talk is a program of ours

load helpers

# talk LINE...: on the run's socket, the answers on stdout; for use inside the run
write_talk() {
	cat >talk <<-'END'
		#!/usr/bin/python3
		import os, socket, sys
		name = os.environ["EXITMETER_CONTROL"].removeprefix("unix:")
		s = socket.socket(socket.AF_UNIX)
		s.connect("\0" + name[1:] if name.startswith("@") else name)
		f = s.makefile("rw", errors="surrogateescape")
		for line in sys.argv[1:]:
		    f.write(line + "\n")
		    f.flush()
		    print(f.readline(), end="", flush=True)
	END
	chmod +x talk
}

# attempt ID FILTER: of the one attempt of that id
attempt() {
	jq -e --argjson id "$1" "[.attempts[] | select(.id == \$id)] |
		if length == 1 then .[0] else error(\"\(length) attempts\") end | $2" sum.json
}

# What a shell and exitmeter span have at most; a sanitised one has more.
own_size() {
	[ -z "${EM_SAN:-}" ] && echo $((12 * MIB)) || echo $((48 * MIB))
}

phase() {
	jq -e --arg name "$1" "[.phases[] | select(.name == \$name)] |
		if length == 1 then .[0] else error(\"\(length) phases\") end | $2" sum.json
}

@test "each line is answered, and its work is done by then" {
	write_talk
	meter -- ./talk ping 'phase setup' 'attempt start 7' 'attempt start x y' usage 'attempt end 7' \
		reset-peak 'attempt end x y'
	sed 's/^usage {.*}$/usage/' out >got
	printf '%s\n' ack ack ack ack usage ack ack ack | diff - got
	sed -n 's/^usage //p' out | jq -e '.peak_rss_bytes > 1e6 and .cpu_seconds > 0 and has("peak_cpus")'
	[ "$(summary '[.phases[].name, .attempts[].id] | @json')" = '["setup",7,"x y"]' ]
	attempt 7 '.started > .ended and .ended > 0'
	# the journal has it in this order
	[ "$(jq -r 'select(.event | test("phase|attempt")) | "\(.event) \(.id // .name)"' run.journal | paste -sd,)" = \
		'phase setup,attempt_start 7,attempt_start x y,attempt_end 7,attempt_end x y' ]
}

@test "bad lines get an error each and change nothing" {
	write_talk
	local long
	long=$(printf '%5000s' '' | tr ' ' x)
	meter -- ./talk bogus '' 'phase' 'attempt start' 'attempt start 1' 'attempt start 1' 'attempt end 2' \
		"phase $long" 'phase run 3/2' 'attempt end 1' 'attempt end 1' 'attempt start 1' 'attempt end 1'
	cat >want <<-END
		error not known
		error an empty line
		error a phase needs a name
		error an attempt needs an id
		ack
		error the attempt is open already
		error no such attempt is open
		error the line is too long
		error a run after the last
		ack
		error no such attempt is open
		ack
		ack
	END
	diff want out
	[ "$(summary '[(.phases | length), (.attempts | length)] | @json')" = '[0,2]' ]
}

@test "a name with control characters and quotes is safe in every output" {
	write_talk
	meter -- ./talk $'phase a"b\\c\x1b[2J\t\xff' $'attempt start \x7f'
	summary '.phases[0].name' | grep -F 'a"b\c' >/dev/null
	[ "$(grep -cP "\x1b|\x7f" sum.json run.journal | grep -cv ":0$")" -eq 0 ]
}

@test "an attempt's peak and CPU are its own: what ran before, beside and after is not" {
	exits_needed "attempts"
	cat >run.sh <<-'END'
		"$WORK/hold" touch=120 exit=0
		"$EXITMETER" span small -- "$WORK/hold" touch=30 exit=0
		"$EXITMETER" span large -- "$WORK/hold" touch=60 burn=300 exit=0
		"$WORK/hold" touch=90 burn=100 exit=0
	END
	export EXITMETER
	meter -- sh run.sh
	local base
	base=$(own_size)
	attempt '"small"' ".usage.peak_rss_bytes | . >= $((30 * MIB)) and . <= $((30 * MIB + base))"
	attempt '"large"' ".usage.peak_rss_bytes | . >= $((60 * MIB)) and . <= $((60 * MIB + base))"
	attempt '"large"' '.usage.cpu_seconds >= 0.3 and .usage.cpu_seconds < 0.4'
	attempt '"small"' '.usage.cpu_seconds < 0.1'
	attempt '"large"' '.resources | (.cpu_user_seconds + .cpu_system_seconds) >= 0.299'
	# together no more than the run
	summary '([.attempts[].usage.cpu_seconds] | add) <= .usage.cpu_seconds' | grep true
}

@test "an attempt of a few milliseconds between samples" {
	exits_needed "attempts"
	export EXITMETER
	meter -i 60 -- sh -c '"$WORK/hold" touch=50 exit=0; "$EXITMETER" span 1 -- "$WORK/hold" touch=16 exit=0;
		"$EXITMETER" span 2 -- "$WORK/tiny"; :'
	local base
	base=$(own_size)
	attempt 1 ".usage.peak_rss_bytes | . >= $((16 * MIB)) and . < $((16 * MIB + base))"
	attempt 2 ".usage.peak_rss_bytes < $base and .usage.cpu_seconds > 0"
}

@test "I/O, switches and threads of an attempt, ended and living processes" {
	exits_needed "attempts"
	write_talk
	cat >run.py <<-'END'
		import os, subprocess, sys, threading
		talk = lambda line: subprocess.check_call(["./talk", line], stdout=subprocess.DEVNULL)
		junk = open("/dev/zero", "rb", 0)
		junk.read(1 << 20)
		subprocess.check_call(["head", "-c", "30000000", "/dev/zero"], stdout=subprocess.DEVNULL)
		talk("attempt start 1")
		junk.read(5 << 20)
		subprocess.check_call(["head", "-c", "20000000", "/dev/zero"], stdout=subprocess.DEVNULL)
		go = threading.Event()
		more = [threading.Thread(target=go.wait) for _ in range(5)]
		for t in more: t.start()
		talk("phase threads")
		go.set()
		for t in more: t.join()
		talk("attempt end 1")
		junk.read(9 << 20)
	END
	meter -- /usr/bin/python3 run.py
	# 5 MiB of our own and 20 MB of the child's; what python reads to start talk comes on top
	attempt 1 '.resources.io.rchar | . >= 25242880 and . < 29500000'
	attempt 1 '.resources.io.source == "exit"'
	attempt 1 '.resources.voluntary_ctxt_switches > 0 and .resources.max_threads >= 6'
	attempt 1 '.resources.rss_at.threads > 5000000'
}

@test "R-1, R-2: reset-peak sets the marks back, the sum says where it is from" {
	exits_needed "high-water marks"
	write_talk
	cat >run.sh <<-'END'
		mkfifo told go
		"$WORK/hold" touch=100 free touch=10 tell=told wait=go touch=20 tell=told wait=go exit=0 &
		read -r pid <told
		./talk 'attempt start 1' 'attempt end 1'
		./talk 'attempt start 2' reset-peak
		echo x >go
		read -r pid <told
		./talk 'attempt end 2'
		echo x >go
		wait
	END
	meter -- bash run.sh
	attempt 1 '.resources.peak_source != "vmhwm-reset"'
	attempt 2 '.resources.peak_source == "vmhwm-reset"'
	attempt 2 ".resources.peak_rss_sum_bytes | . >= $((30 * MIB)) and . < $((75 * MIB))"
	# what was before the reset is in the row all the same
	[ "$(row '.comm == "hold"' '.peak_rss_bytes')" -ge $((100 * MIB - $(hwm_slack))) ]
	[ "$(summary .usage.peak_rss_lower_bytes)" -le "$(summary .usage.peak_rss_upper_bytes)" ]
}

@test "R-20 to R-23: with -i 0 only the first and the last run are looked at" {
	write_talk
	meter -i 0 -- ./talk 'attempt start 1' 'phase setup' 'phase run 1/5' 'phase run 2/5' 'phase run 3/5' \
		'phase run 4/5' 'phase run 5/5' 'attempt end 1'
	[ "$(sort -u out)" = ack ]
	# every look at the machine is in the journal
	[ "$(jq -c 'select(.event == "sample") | .asked' run.journal | sort | uniq -c | awk '{ print $1, $2 }')" = '5 true' ]
	[ "$(jq -r 'select(.event == "phase") | "\(.name) \(.rss_bytes != null)"' run.journal | paste -sd,)" = \
		'setup true,run 1/5 true,run 2/5 false,run 3/5 false,run 4/5 false,run 5/5 true' ]
	# between the two of them nothing but phases that were not looked at
	[ "$(jq -r '.event + (.name // "")' run.journal | sed -n '/^phaserun 1/,/^phaserun 5/p' | grep -cv '^phaserun [1-5]/5$')" -eq 1 ]
	attempt 1 '.resources.rss_at | keys == ["run 1/5", "run 5/5", "setup"]'
}

@test "R-4: a server that starts in the first run is not in the memory after setup" {
	write_talk
	cat >run.sh <<-'END'
		mkfifo told go
		./talk 'attempt start 1' 'phase setup'
		"$WORK/hold" touch=80 tell=told wait=go exit=0 &
		read -r pid <told
		./talk 'phase run 1/2' 'phase run 2/2' 'attempt end 1'
		echo x >go
		wait
	END
	meter -i 0 -- bash run.sh
	attempt 1 ".resources.rss_at | .[\"run 1/2\"] - .setup | . > $((70 * MIB)) and . < $((90 * MIB))"
}

@test "not ended: null, and what it used up to the end" {
	write_talk
	meter -- sh -c './talk "attempt start 1" "phase p" >/dev/null; "$WORK/hold" touch=40 exit=0; :'
	attempt 1 ".ended == null and .started > 0"
	[ "$SOURCE" = proc ] || attempt 1 ".usage.peak_rss_bytes >= $((40 * MIB))"
	phase p '.ended == null'
}

# ---- where lines come from ----------------------------------------------------------------

@test "--control unix:PATH: another process of the same user" {
	mkfifo tell go
	meter_background --control unix:ctl -- "$WORK/hold" touch=5 tell=tell wait=go exit=0
	read -r _ <tell
	test -S ctl
	[ "$(stat -c %a ctl)" = 600 ]
	write_talk
	EXITMETER_CONTROL=unix:ctl ./talk 'phase outside' ping >answers
	echo x >go
	meter_wait
	[ "$(paste -sd, answers)" = ack,ack ]
	phase outside '.rss_bytes >= 5242880'
	[ ! -e ctl ]
}

@test "--control unix:PATH: not for other users, whatever the file's mode" {
	root_only "users"
	mkfifo go
	meter_background --control unix:ctl -- "$WORK/hold" touch=5 wait=go exit=0
	until_true 10 test -S ctl
	chmod 666 ctl
	chmod 755 .
	write_talk
	chmod 755 talk
	cp talk /tmp/exitmeter-talk-$$
	status=0
	(cd / && EXITMETER_CONTROL=unix:$BATS_TEST_TMPDIR/ctl setpriv --reuid 12345 --clear-groups /tmp/exitmeter-talk-$$ \
		'phase x') >answers 2>&1 || status=$?
	rm /tmp/exitmeter-talk-$$
	echo x >go
	meter_wait
	cat answers
	grep -E '^error not allowed|Permission denied|ConnectionReset|BrokenPipe' answers >/dev/null
	[ "$(summary '.phases | length')" -eq 0 ]
}

root_only() {
	[ "$(id -u)" -eq 0 ] || skip "$1: needs root"
}

@test "--user: the socket is that user's, and nothing of it stays" {
	root_only "--user"
	write_talk
	chmod 755 talk
	# shellcheck disable=SC2016
	meter --user 12345 -- /usr/bin/python3 -c "$(sed 's/sys.argv\[1:\]/["phase x"]/' talk)
import os
d = os.path.dirname(name)
print(d)
for p in name, d:
    st = os.stat(p)
    print(st.st_uid, oct(st.st_mode & 0o777))"
	[ "$(sed '2d' out | paste -sd,)" = 'ack,12345 0o600,12345 0o700' ]
	[ ! -e "$(sed -n 2p out)" ]
	phase x '.at > 0'
}

@test "the private socket: none can be made in folders, then an abstract one; nothing stays" {
	mkdir tmp
	write_talk
	TMPDIR=$PWD/tmp XDG_RUNTIME_DIR='' meter -- sh -c './talk ping; echo "$EXITMETER_CONTROL"'
	grep "^unix:$PWD/tmp/exitmeter-" out >/dev/null
	[ -z "$(ls -A tmp)" ]
	local deep
	deep=$PWD/$(printf '%0100d' 0)
	mkdir "$deep"
	TMPDIR=$deep XDG_RUNTIME_DIR=$deep meter -- sh -c './talk ping; echo "$EXITMETER_CONTROL"'
	grep -E '^unix:/tmp/exitmeter-' out >/dev/null
	[ -z "$(ls -A "$deep")" ]
	# in a folder of another user's it would stay when ours is his by then
	[ "$(id -u)" -eq 0 ] || return 0
	mkdir -m 777 theirs
	chown 12345 theirs
	TMPDIR=$PWD/theirs XDG_RUNTIME_DIR=$PWD/theirs meter -- sh -c './talk ping; echo "$EXITMETER_CONTROL"'
	grep -E '^unix:/tmp/exitmeter-' out >/dev/null
}

@test "--control fd:N,M: pipes of whoever started exitmeter; the command has neither" {
	mkfifo go told
	cat >outer.py <<-'END'
		import os, subprocess, sys
		r, w = os.pipe(); ar, aw = os.pipe()
		open("pipes", "w").write(f"pipe:.{os.fstat(r).st_ino}\npipe:.{os.fstat(aw).st_ino}\n")
		os.set_inheritable(r, True); os.set_inheritable(aw, True)
		p = subprocess.Popen([sys.argv[1], "-q", "--source=" + sys.argv[2], "--json", "sum.json", "--journal",
		    "run.journal", "--control", f"fd:{r},{aw}", "--", "sh", "-c",
		    "ls -l /proc/self/fd >fds; echo x >told; read x <go"], close_fds=False)
		os.close(r); os.close(aw)
		open("told").read()
		answers = os.fdopen(ar)
		for line in ["phase from outside", "attempt start 1", "bogus", "attempt end 1"]:
		    os.write(w, (line + "\n").encode())
		    print(answers.readline(), end="", flush=True)
		open("go", "w").write("x\n")
		sys.exit(p.wait())
	END
	/usr/bin/python3 outer.py "$EXITMETER" "$SOURCE" >out 2>err 3>&-
	checked
	[ "$(paste -sd, out)" = 'ack,ack,error not known,ack' ]
	cat fds
	[ "$(grep -cf pipes fds)" -eq 0 ]
	phase 'from outside' '.at > 0'
}

@test "--control fifo:PATH: a shell needs nothing else; who dies in the middle harms nothing" {
	mkfifo ctl answers
	cat >run.sh <<-'END'
		exec 5>ctl 6<answers
		echo 'phase one' >&5; read -r a <&6; echo "$a"
		echo 'attempt start 1' >&5; read -r a <&6; echo "$a"
		(exec 5>&- 6<&-; printf 'attempt en' >ctl) # and it is gone
		echo ' nothing' >&5; read -r a <&6; echo "$a"
		echo 'attempt end 1' >&5; read -r a <&6; echo "$a"
	END
	meter --control fifo:ctl,answers -- bash run.sh
	[ "$(paste -sd, out)" = 'ack,ack,error an attempt starts or ends,ack' ]
	attempt 1 '.ended > 0'
}

@test "a client of a socket that dies in the middle of a line" {
	cat >half.py <<-'END'
		import os, socket
		for text in [b"phase ha", b"attempt start 1\nattempt e", b""]:
		    s = socket.socket(socket.AF_UNIX)
		    s.connect(os.environ["EXITMETER_CONTROL"].removeprefix("unix:"))
		    s.send(text)
		    s.close()
	END
	write_talk
	meter -- sh -c '/usr/bin/python3 half.py; ./talk ping "attempt end 1"'
	[ "$(paste -sd, out)" = 'ack,ack' ]
	[ "$(summary '[(.phases | length), (.attempts | length)] | @json')" = '[0,1]' ]
}

@test "a fifo that nobody reads, 10,000 phases: the run goes on and ends" {
	mkfifo ctl answers
	meter --control fifo:ctl,answers -i 0 -- bash -c 'for ((i = 1; i <= 10000; i++)); do echo "phase p$i"; echo nonsense; done >ctl; exit 7'
	[ "$status" -eq 7 ]
	# where each look reads all of /proc, what is left at the end is said
	[ "$SOURCE" != proc ] || ! summary .source.notes | grep control-lines-left || return 0
	[ "$(jq -c 'select(.event == "phase")' run.journal | wc -l)" -eq 10000 ]
	[ "$(summary '(.phases | length) + (.phases_omitted // 0)')" -eq 10000 ]
	phase p10000 '.ended == null'
	summary '.source.notes | index("control-answers-dropped") != null' | grep true
	[ "$(summary .source.self_peak_rss_bytes)" -lt $((120 * MIB)) ]
}

@test "many clients at once, all answered" {
	write_talk
	meter -- bash -c 'for i in $(seq 40); do ./talk ping "attempt start $i" "attempt end $i" & done; wait'
	[ "$(sort out | uniq -c | awk '{ print $1, $2 }')" = '120 ack' ]
	[ "$(summary '.attempts | length')" -eq 40 ]
}

@test "unusable: one line, 125, nothing started" {
	local where
	mkfifo fifo
	touch file
	mkdir folder
	for where in fifo:file fifo:none fd:0 fd:99 fd:x fd:1,x unix:folder/none/ctl nonsense "unix:$(printf '%0200d' 0)" fifo:fifo,file; do
		status=0
		"$EXITMETER" -q --source="$SOURCE" --control "$where" -- touch started >out 2>err 3>&- || status=$?
		echo "$where: $(cat err)"
		[ "$status" -eq 125 ]
		[ "$(wc -l <err)" -eq 1 ]
		[ ! -e started ]
	done
}

# ---- exitmeter span -----------------------------------------------------------------------

@test "span: outside any run the command just runs, also where the variable leads nowhere" {
	local value
	for value in '' unix:/nowhere/at/all unix:@exitmeter-nobody nonsense unix:; do
		status=0
		EXITMETER_CONTROL=$value "$EXITMETER" span a -- sh -c 'echo in; exit 9' >out 2>err 3>&- || status=$?
		[ "$status" -eq 9 ]
		[ "$(cat out)" = in ]
		[ ! -s err ]
	done
	EXITMETER_CONTROL='' "$EXITMETER" span a
	[ -z "$("$EXITMETER" span a 2>&1)" ]
}

@test "span: the command's status, its signal's, 126 and 127" {
	export EXITMETER
	meter -- bash -c '"$EXITMETER" span a -- sh -c "exit 9"; echo $?; "$EXITMETER" span a -- sh -c "kill -TERM \$\$"; echo $?
		"$EXITMETER" span a -- ./none 2>/dev/null; echo $?; "$EXITMETER" span a -- / 2>/dev/null; echo $?'
	[ "$(paste -sd, out)" = 9,143,127,126 ]
	[ "$(summary '.attempts | length')" -eq 4 ]
}

@test "span: where SIGCHLD is ignored the command's status is there all the same" {
	status=0
	/usr/bin/python3 -c 'import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])' "$EXITMETER" span a -- sh -c 'exit 9' || status=$?
	[ "$status" -eq 9 ]
}

@test "what the last phase and an open attempt came to after the last look is theirs" {
	exits_needed "what comes between two looks"
	export EXITMETER
	meter -i 60 -- sh -c '"$EXITMETER" span last; "$WORK/hold" touch=5 exit=0; "$WORK/hold" touch=60 exit=0'
	local most
	most=$(summary .usage.peak_rss_lower_bytes)
	phase last ".resources.peak_rss_sum_bytes >= $((60 * MIB)) and .resources.peak_rss_sum_bytes <= $most"
}

@test "an only attempt has nothing of what ended before it began" {
	exits_needed "peaks of what ended"
	export EXITMETER
	meter -- sh -c '"$WORK/hold" touch=90 exit=0; "$EXITMETER" span B -- "$WORK/hold" touch=20 exit=0'
	attempt '"B"' ".usage.peak_rss_bytes >= $((20 * MIB)) and .usage.peak_rss_bytes < $((60 * MIB))"
	# U-74: but of whoever lived in it
	meter -- "$EXITMETER" span A -- "$WORK/hold" touch=30 exit=0
	attempt '"A"' ".usage.peak_rss_bytes >= $((30 * MIB))"
}

@test "R-1: marks that are set back again and again add up once" {
	[ "$SOURCE" != proc ] || skip "high-water marks: source proc sets none back"
	write_talk
	mkfifo tell go
	cat >run.sh <<-'END'
		"$WORK/hold" touch=100 tell=tell wait=go exit=0 &
		read -r _ <tell
		./talk 'attempt start X' reset-peak reset-peak reset-peak 'attempt end X' >/dev/null
		echo x >go
		wait
	END
	meter -- bash run.sh
	attempt '"X"' ".resources.peak_rss_sum_bytes >= $((100 * MIB)) and .resources.peak_rss_sum_bytes < $((160 * MIB))"
}

@test "span: a refused name is told in one line and does not hold up its command" {
	export EXITMETER
	meter -- bash -c '"$EXITMETER" span $'"'a\nb'"'; echo $?; "$EXITMETER" span "" -- echo ran; echo $?
		"$EXITMETER" span a -- "$EXITMETER" span a -- echo twice; echo $?'
	[ "$(paste -sd, out)" = 1,ran,0,twice,0 ]
	[ "$(grep -c '^exitmeter: span' err)" -eq 3 ]
	[ "$(summary '.attempts | length')" -eq 1 ]
	status=0
	"$EXITMETER" span >out 2>err || status=$?
	[ "$status" -eq 125 ]
}

@test "an inner exitmeter has a channel of its own" {
	local inner=$SOURCE
	[ "$SOURCE" != ptrace ] || inner=proc # nobody is traced twice
	write_talk
	export EXITMETER inner
	meter -- sh -c './talk "phase outer"; "$EXITMETER" -q --source="$inner" --json inner.json -- ./talk "phase inner"; ./talk "phase outer again"'
	[ "$(jq -r '[.phases[].name] | join(",")' inner.json)" = inner ]
	[ "$(summary '[.phases[].name] | join(",")')" = 'outer,outer again' ]
}

@test "phases from make and from a shell, as in the man page" {
	export EXITMETER
	printf 'all:\n\t$(EXITMETER) span compile -- $(WORK)/hold touch=25 exit=0\n\t$(EXITMETER) span link -- $(WORK)/tiny\n' >Makefile
	meter -- make -s
	[ "$SOURCE" = proc ] || attempt '"compile"' ".usage.peak_rss_bytes >= $((25 * MIB))"
	[ "$SOURCE" = proc ] || attempt '"link"' '.usage.cpu_seconds > 0'
	meter -- sh -c '"$EXITMETER" span setup; "$WORK/hold" touch=15 exit=0; "$EXITMETER" span test; "$WORK/tiny"'
	[ "$(summary '[.phases[].name] | join(",")')" = setup,test ]
}

# shown WORD: the man page's example in which that stands, as a user would copy it
shown() {
	awk -v word="$1" '/^\.Bd -literal/ { text = ""; inside = 1; next }
		/^\.Ed/ { if (index(text, word)) printf "%s", text; inside = 0 }
		inside { text = text $0 "\n" }' "$ROOT/doc/exitmeter.1" | sed 's/\\e/\\/g'
}

@test "attempts from pytest, as in the man page" {
	/usr/bin/python3 -c 'import pytest' 2>/dev/null || skip "elsewhere: pytest is not installed"
	shown pytest.fixture >conftest.py
	printf '%s\n' 'import subprocess, os' 'hold = os.environ["WORK"] + "/hold"' \
		'def test_small(): assert subprocess.run([hold, "touch=20", "exit=0"]).returncode == 0' \
		'def test_large(): assert subprocess.run([hold, "touch=90", "exit=3"]).returncode == 3' >test_it.py
	meter -- /usr/bin/python3 -m pytest -q -p no:cacheprovider test_it.py
	cat out
	[ "$status" -eq 0 ]
	[ "$(summary '[.attempts[].id] | @json')" = '["test_small","test_large"]' ]
	[ "$SOURCE" = proc ] || attempt '"test_large"' ".usage.peak_rss_bytes >= $((90 * MIB))"
	attempt '"test_small"' ".usage.peak_rss_bytes < $((90 * MIB)) and .ended != null"
}

@test "phases from Node, as in the man page" {
	command -v node || skip "elsewhere: node is not installed"
	shown 'export async function phase' >phases.mjs
	printf '%s\n' "import { phase, done } from './phases.mjs';" "await phase('load');" "await phase('query');" 'done();' >run.mjs
	meter -- node run.mjs
	[ "$status" -eq 0 ]
	[ "$(summary '[.phases[].name] | join(",")')" = load,query ]
}

# ---- --spans ------------------------------------------------------------------------------

@test "--spans: attempts known afterwards, by seconds and by the clock" {
	cat >run.sh <<-'END'
		"$WORK/hold" burn=300 exit=0
		date -u +%Y-%m-%dT%H:%M:%S.%NZ >border
		"$WORK/hold" touch=80 burn=300 exit=0
		printf '{"id":1,"started":0,"ended":"%s"}\n{"id":"two","started":"%s","ended":null}\n' \
			"$(cat border)" "$(cat border)" >spans
	END
	meter -i 0.05 --spans spans -- sh run.sh
	attempt 1 '.usage.cpu_seconds > 0.24 and .usage.cpu_seconds < 0.4'
	attempt 1 ".usage.peak_rss_bytes < $((30 * MIB))"
	attempt '"two"' ".usage.peak_rss_bytes >= $((80 * MIB)) and .ended == null"
	attempt '"two"' '.resources.peak_source | . == "marks" or . == "exit"'
	attempt '"two"' '.resources.io.rchar == null'
	summary '([.attempts[].usage.cpu_seconds] | add) - .usage.cpu_seconds | fabs < 1e-6' | grep true
}

@test "--spans: attempts that are known before are followed as the run goes on" {
	printf '{"id":%s,"started":%s,"ended":%s}\n' 1 0 1 2 1 2 '"later"' 2 null '"never"' 60 61 '"before"' -3 -1 >spans
	# two programs of 60 and 30 MiB that come and go between two samples, each in its own attempt
	meter -i 10 --spans spans -- sh -c '"$WORK/hold" touch=60 exit=0; sleep 1.3; "$WORK/hold" touch=30 exit=0; sleep 1'
	[ ! -s err ]
	[ "$(summary '[.attempts[].id] | @json')" = '[1,2,"later","never","before"]' ]
	attempt 1 '.resources.peak_source != "marks"'
	[ "$SOURCE" = proc ] || attempt 1 ".usage.peak_rss_bytes >= $((60 * MIB))"
	[ "$SOURCE" = proc ] || attempt 2 ".usage.peak_rss_bytes >= $((30 * MIB)) and .usage.peak_rss_bytes < $((40 * MIB))"
	attempt '"later"' ".usage.peak_rss_bytes < $((20 * MIB)) and .ended == null"
	attempt '"never"' '.usage.peak_rss_bytes == null'
	summary '([.attempts[] | select(.id == 1 or .id == 2 or .id == "later") | .usage.cpu_seconds] | add) - .usage.cpu_seconds | fabs < 1e-6' | grep true
	[ "$(jq -c 'select(.event == "attempt_start") | .id' run.journal | paste -sd,)" = '1,2,"later"' ]
	"$EXITMETER" report run.journal -q --json again.json
	cmp sum.json again.json
}

@test "--spans: malformed lines are told by number, the others stand; the status is the command's" {
	printf '%s\n' '{"id":1,"started":0,"ended":9}' 'x' '{"id":2,"started":2,"ended":1}' '' '{"id":3}' >spans
	meter --spans spans -- sh -c 'exit 3'
	[ "$status" -eq 3 ]
	printf '%s\n' 'exitmeter: spans:2: not a JSON object' 'exitmeter: spans:3: it ends before it starts' \
		'exitmeter: spans:5: there is no start' | diff - err
	[ "$(summary '[.attempts[].id] | @json')" = '[1]' ]
	mkfifo nobody
	meter --spans nobody -- sh -c 'exit 5'
	[ "$status" -eq 5 ]
	grep "^exitmeter: cannot read 'nobody': " err
	meter --spans none -- true
	[ "$(cat err)" = "exitmeter: cannot read 'none': No such file or directory" ]
}

@test "report --spans shares a recorded run out again; a whole journal tells its attempts as they were" {
	write_talk
	meter -i 0.05 -- sh -c './talk "attempt start 1" "phase p" >/dev/null; "$WORK/hold" touch=40 burn=200 exit=0;
		./talk "attempt end 1" "attempt start 2" >/dev/null'
	"$EXITMETER" report run.journal -q --json again.json
	diff <(jq -S '.phases, .attempts, .marks' sum.json) <(jq -S '.phases, .attempts, .marks' again.json)
	echo '{"id":"all","started":0}' >spans
	"$EXITMETER" report run.journal --spans spans -q --json shared.json
	valid shared.json
	jq -e '.attempts | length == 3' shared.json
	jq -e '(.attempts[2].usage.cpu_seconds - .usage.cpu_seconds) | fabs < 1e-6' shared.json
	# cut off: ended attempts as they were, those still open from the marks
	sed '$d' run.journal >cut.journal
	status=0
	"$EXITMETER" report cut.journal -q --json cut.json 2>err || status=$?
	[ "$status" -eq 1 ]
	valid cut.json
	diff <(jq -S '.attempts[0] | .usage, .resources' sum.json) <(jq -S '.attempts[0] | .usage, .resources' cut.json)
	jq -e '.attempts | length == 2 and .[1].ended == null' cut.json
	status=0
	echo x >spans
	"$EXITMETER" report run.journal --spans spans -q --json shared.json 2>err || status=$?
	[ "$status" -eq 1 ]
	[ "$(cat err)" = 'exitmeter: spans:1: not a JSON object' ]
}

# ---- a benchmark runner -------------------------------------------------------------------

@test "a runner in Node: 29 small tests and one with a server; nothing is read between timed runs" {
	exits_needed "per-test resources"
	command -v node || skip "elsewhere: node is not installed"
	printf '#!/bin/sh\n"%s" touch=120 tell=ready wait=go exit=0 & echo $! >pid; read -r _ <ready; echo up; read -r _; echo x >go; wait\n' \
		"$WORK/hold" >server
	chmod +x server
	mkfifo ready go
	meter -i 0 -- node "$ROOT/tests/lib/runner.mjs" 5 ./server
	[ "$(summary '.attempts | length')" -eq 30 ]
	"$EXITMETER" report run.journal --runner >runner.json
	# R-10 to R-12: the runner's names, MiB and ms
	jq -e '.tests | length == 30' runner.json
	jq -e '.tests[].resources | .peakRssUpperBoundMB > 20 and .cpuMs.user >= 0 and .threads >= 1 and
		.involuntaryCtxSwitches >= 0 and .rssSplitMB.anon > 1 and .io.source == "exit" and
		(.rssMB | keys == ["afterFirstRun", "afterLastRun", "afterSetup"])' runner.json | sort -u | grep true
	jq -e '[.tests[].resources.peakRssUpperBoundMB] | all(. * 10 == (. * 10 | round))' runner.json
	# the server was stopped during setup
	jq -e '.tests.server.resources.rssMB | .afterFirstRun - .afterSetup > 115 and .afterFirstRun - .afterSetup < 140' runner.json
	jq -e '.tests.server.resources.peakSource == "vmhwm-reset"' runner.json
	jq -e '.tests["small-1"].resources.peakRssUpperBoundMB < .tests.server.resources.peakRssUpperBoundMB - 100' runner.json
	# R-20, R-23, proved by the journal: a look for each border, reset, setup, first and last run
	[ "$(jq -c 'select(.event == "sample")' run.journal | wc -l)" -eq $((30 * 6)) ]
	[ "$(jq -c 'select(.event == "sample" and .asked == null)' run.journal | wc -l)" -eq 0 ]
	jq -r 'select(.event == "sample" or .event == "phase") | .name // "look"' run.journal >seen
	[ "$(grep -c '^run [234]/5$' seen)" -eq 90 ]
	[ "$(grep -B1 '^run [234]/5$' seen | grep -c look)" -eq 0 ]
}

@test "a runner with PostgreSQL as its server" {
	exits_needed "per-test resources"
	command -v node || skip "elsewhere: node is not installed"
	command -v initdb && command -v postgres || skip "elsewhere: PostgreSQL is not installed"
	root_only "another user's database"
	local base=/tmp/exitmeter-pg.$$
	mkdir "$base"
	chown nobody "$base"
	local as=(setpriv --reuid nobody --regid "$(id -g nobody)" --clear-groups env HOME="$base")
	"${as[@]}" initdb -D "$base/data" -A trust -U me >initdb.log 2>&1 || {
		cat initdb.log
		rm -rf "$base"
		skip "elsewhere: initdb does not work here"
	}
	cat >server <<-END
		#!/bin/bash
		coproc ${as[*]@Q} postgres -D '$base/data' -k '$base' -c listen_addresses= 2>&1
		while read -r line <&\${COPROC[0]}; do [[ \$line != *"ready to accept"* ]] || break; done
		echo up
		read -r _
		kill -INT "\$COPROC_PID"
		wait
	END
	chmod +x server
	meter -i 0 -- node "$ROOT/tests/lib/runner.mjs" 3 ./server
	rm -rf "$base"
	"$EXITMETER" report run.journal --runner >runner.json
	jq -e '.tests.server.resources | .rssMB.afterFirstRun - .rssMB.afterSetup > 10 and .threads >= 6' runner.json
	[ "$(summary '[.processes[] | select(.comm == "postgres")] | length')" -ge 5 ]
	[ "$(summary .completeness.running_at_end)" -eq 0 ]
}
