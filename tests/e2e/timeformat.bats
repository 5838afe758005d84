#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031
# GNU time's formats beside GNU time itself (SPEC 5.5), and the status format (SPEC 5.2).

load helpers

TIME=/usr/bin/time
# All specifiers but %x, which differs after a signal on purpose.
ALL='%% %C|D%D E%E F%F I%I K%K M%M O%O P%P R%R S%S U%U W%W X%X Z%Z c%c e%e k%k p%p r%r s%s t%t w%w'
ODD='\t\n\\\q%q%y%@ '

gnu_time() {
	[ -x "$TIME" ] || skip "elsewhere: no $TIME"
	"$TIME" --version 2>&1 | head -n1
}

# meter_as OPTION... -- COMMAND...: only the report, in got; status
meter_as() {
	status=0
	"$EXITMETER" --source="$SOURCE" -o got "$@" >out 2>err 3>&- || status=$?
	cat err
}

# faked FIGURES: run.journal with these for the run's own; in rusage's order (tests/lib/rusage.c)
faked() {
	jq -c --arg of "$1" '
		def us($s): $s | ("000000" + .) | .[:-6] as $a | .[-6:] as $b
			| "\($a).\($b)" | ltrimstr("00000") | tonumber;
		($of / " ") as $f | ($f[10] | tonumber) as $w |
		if .event != "summary" then . else
			.run.wall_seconds = us($f[0]) |
			.usage.cpu_user_seconds = us($f[1]) | .usage.cpu_system_seconds = us($f[2]) |
			.usage.peak_rss_process_bytes = ($f[3] | tonumber) * 1024 |
			.usage.minor_faults = ($f[4] | tonumber) |
			.usage.major_faults = ($f[5] | tonumber) |
			.usage.io.read_bytes = ($f[6] | tonumber) * 512 |
			.usage.io.write_bytes = ($f[7] | tonumber) * 512 |
			.usage.voluntary_ctxt_switches = ($f[8] | tonumber) |
			.usage.involuntary_ctxt_switches = ($f[9] | tonumber) |
			.run.exit_code = (if $w % 256 == 0 then $w / 256 else null end) |
			.run.exit_signal = (if $w % 128 > 0 then $w % 128 else null end)
		end' run.journal >faked.journal
}

@test "format: L-40 the same as GNU time, byte for byte, of the same figures" {
	local figures format
	gnu_time
	cc -shared -fPIC -D_GNU_SOURCE -o rusage.so "$ROOT/tests/lib/rusage.c"
	meter -- true 'a b' '\n' ''
	for figures in \
		'1234567 999999 5001 10 1 2 3 4 5 6 0' \
		'3600000001 7200000000 999999 205936 1 1 1 1 1 1 0' \
		'90061009999 15009999 20019999 1048576 4294967296 1 2048 4096 1 1 10752' \
		'500 400 300 1 1 1 1 1 1 1 9' \
		'10009999 10009999 10009999 0 0 0 0 0 0 0 0'; do
		faked "$figures"
		for format in "$ALL" "$ODD" ''; do
			FAKE_RUSAGE=$figures LD_PRELOAD=$PWD/rusage.so \
				"$TIME" -o want -f "$format" true 'a b' '\n' '' || true
			"$EXITMETER" report faked.journal -o got -f "$format"
			diff want got
		done
		# GNU time leaves out the newline here
		FAKE_RUSAGE=$figures LD_PRELOAD=$PWD/rusage.so "$TIME" -o want -f '%e %' true || true
		"$EXITMETER" report faked.journal -f '%e %' -o got
		diff <(cat want; echo) got
		FAKE_RUSAGE=$figures LD_PRELOAD=$PWD/rusage.so "$TIME" -o want -p true || true
		"$EXITMETER" report faked.journal -o got --posix
		diff want got
		FAKE_RUSAGE=$figures LD_PRELOAD=$PWD/rusage.so "$TIME" -o want -v true 'a b' '\n' '' || true
		"$EXITMETER" report faked.journal -o got -v
		# exitmeter's own lines come behind the block
		within "own lines" "$(sed 1,23d got | grep -vc '^exitmeter: ')" 0 1
		grep -v '^exitmeter: ' got | sed 's/status: 1[34].$/status: 0/' >block
		[[ $figures == *' 0' || $figures =~ (256|10752|65280)$ ]] || sed -i 's/status: .*/status: 0/' block want
		diff want block
	done
}

# both COMMAND...: as GNU time sees it and as exitmeter does, a line of fields each
both() {
	local format='%x %W %X %D %K %p %t %s %r %k %Z %M %R %F %I %O %w %c %e %U %S\n%C'
	"$TIME" -o want -f "$format" "$@" >/dev/null 2>&1 || true
	"$EXITMETER" --source="$SOURCE" -o got -f "$format" -- "$@" >/dev/null 2>&1 || true
	diff <(sed '/^[0-9]* 0 0 0/d' want) <(sed '/^[0-9]* 0 0 0/d' got)
	sed -i '/^[0-9]* 0 0 0/!d' want got
	echo "$*"
	echo "  GNU time:  $(cat want)"
	echo "  exitmeter: $(cat got)"
	paste -d ' ' want got | awk -v "proc=$([ "$SOURCE" != proc ] || echo 1)" '
		function near(i, share, more,    a, b) {
			a = $i
			b = $(i + 21)
			if (b < a * (1 - share) - more || b > a * (1 + share) + more) {
				print "field " i ": " a " and " b
				bad = 1
			}
		}
		{
			if ($1 > 128 || $22 <= 128)
				near(1, 0, 0) # %x after a signal is 128+n
			for (i = 2; i <= 11; i++)
				near(i, 0, 0)
			if (!proc && $33 == "?" && $22 != 127 && $22 != 126) {
				print "no peak"
				bad = 1
			}
			if (!proc && $33 != "?") {
				near(12, 0.1, 1024)
				near(13, 0.5, 400)
				near(14, 0, 200)
				near(16, 0.05, 64)
			}
			near(19, 2, 3)
			near(20, 1, 1)
			near(21, 1, 1)
		}
		END { exit bad }'
}

@test "format: 20 commands as GNU time measures them" {
	gnu_time
	both true
	both false
	both sh -c 'exit 7'
	both sh -c 'kill -9 $$'
	both sh -c 'kill -TERM $$'
	both no-such-command-here 1 2
	both /etc/passwd
	both echo 'a b' c
	both printf '%s\n' x
	both cat /proc/self/stat
	both ls -l /usr/bin
	both sleep 0.1
	both sh -c 'for i in 1 2 3 4 5; do /bin/true; done'
	both sh -c 'seq 20 | xargs -n1 /bin/true'
	both seq 100000
	both sort -r /etc/passwd
	both "$WORK/hold" populate=60
	both "$WORK/hold" touch=30 burn=100
	both dd if=/dev/zero of=file bs=64k count=32
	both sh -c '"$0" populate=40; exit 3' "$WORK/hold"
	[ "$SOURCE" = proc ] || within "largest, of a child" "$(awk '/^[0-9]/ { print $12 }' got)" 40960 46000
}

@test "format: L-31 %M of a program that fills 200 MiB; L-30 its status" {
	exits_needed "the end"
	meter_as -f %M -- "$WORK/hold" touch=200
	within '%M' "$(cat got)" 204800 209000
	rm got
	meter_as --report=status -- "$WORK/hold" touch=200
	within VmHWM "$(awk '$1 == "VmHWM:" { print $2 }' got)" 204800 209000
	[ "$(awk '$1 == "VmPeak:" { print $2 }' got)" -ge "$(awk '$1 == "VmHWM:" { print $2 }' got)" ]
}

@test "format: -v is GNU time's block, then exitmeter's own lines" {
	gnu_time
	meter_as -v -- sh -c 'exit 3'
	same status "$status" 3
	"$TIME" -v -o want sh -c 'exit 3' || true
	sed -E 's/: ([0-9:.]*|[?])%*$/:/' want >want.labels
	head -n 24 got | sed -E 's/: ([0-9:.]*|[?])%*$/:/' | diff want.labels -
	within "own lines" "$(sed 1,24d got | grep -c '^exitmeter: ')" 2 4
}

@test "format: where a format comes from: the last option, else EXITMETER_FORMAT" {
	EXITMETER_FORMAT='env %x' meter_as -- true
	same environment "$(cat got)" 'env 0'
	EXITMETER_FORMAT='env %x' meter_as -f 'option %x' -- true
	same option "$(cat got)" 'option 0'
	EXITMETER_FORMAT='env %x' meter_as --posix -- true
	same posix "$(sed 's/ .*//' got | xargs)" 'real user sys'
	meter_as -v --posix -f 'last %x' -- true
	same last "$(cat got)" 'last 0'
	meter_as -f x --report=text -- true
	grep '^exitmeter: .*CPU' got
	EXITMETER_FORMAT=x meter_as --report=text -- true
	grep '^exitmeter: .*CPU' got
	EXITMETER_FORMAT='' meter_as -- true
	grep '^exitmeter: .*CPU' got
	EXITMETER_FORMAT=x run_quiet
}

run_quiet() {
	"$EXITMETER" --source="$SOURCE" -q -f x -- true >out 2>err
	same bytes "$(cat out err | wc -c)" 0
}

@test "format: any field of the summary" {
	meter_as --label a=b --json sum.json --run-id 'r 1' -f \
		'%{run.id}|%{peak_rss_bytes}|%{cpu_seconds}|%{run.labels.a}|%{processes_omitted}|%{env.kernel}|%{no}|%{' -- true
	same fields "$(cat got)" "$(summary '"\(.run.id)|\(.usage.peak_rss_bytes // "?")|\(.usage.cpu_seconds // "?")|b|0|\(.env.kernel)|?{no}|?{"')"
}

@test "format: -o replaces, -a appends; stderr, a descriptor, stdout" {
	meter_as -f 'one' -- true
	meter_as -f 'two' -- true
	same replaced "$(cat got)" two
	meter_as -a -f 'three' -- true
	same appended "$(xargs <got)" 'two three'
	"$EXITMETER" --source="$SOURCE" -f four -- true 2>err
	same stderr "$(cat err)" four
	"$EXITMETER" --source="$SOURCE" -f five -o - -- true >out
	same stdout "$(cat out)" five
	"$EXITMETER" --source="$SOURCE" -f six --log-fd 7 -- true 7>seven
	same descriptor "$(cat seven)" six
}

@test "format: attached, and with arguments kept out" {
	"$WORK/hold" tell=go pause >/dev/null 3>&- &
	target=$!
	"$EXITMETER" --source="$SOURCE" -p "$target" --duration 0.3 -o got -f '%x %e %C'
	kill "$target"
	cat got
	[[ $(cat got) =~ ^\?\ 0\.[0-9][0-9]\ .*hold\ tell=go\ pause$ ]]
	meter_as --no-argv -f '%C' -- /bin/echo secret
	same "program" "$(cat got)" "$(readlink -f /bin/echo)"
}

# ---- status -------------------------------------------------------------------------------

# record FILE: the lines of its last record
record() {
	tail -n 5 "$1"
}

@test "status: L-10 to L-15 a record, to the byte" {
	exits_needed "the end"
	local before after
	before=$(date +%s)
	meter_as --report=status -- find . -name '*txt' -maxdepth 0
	after=$(date +%s)
	same lines "$(wc -l <got)" 5
	[[ $(sed -n 1p got) =~ ^Date:\ ([A-Z][a-z]{2}\ [A-Z][a-z]{2}\ [\ 0-9][0-9]\ [0-9:]{8}\ [0-9]{4})$ ]]
	within date "$(date -d "${BASH_REMATCH[1]}" +%s)" "$before" "$after"
	same command "$(sed -n 2p got)" "Cmd:  find . -name *txt -maxdepth 0"
	[[ $(sed -n 3p got) =~ ^VmPeak:$'\t'[\ 0-9]{8}\ kB$ ]]
	[[ $(sed -n 4p got) =~ ^VmHWM:$'\t'[\ 0-9]{8}\ kB$ ]]
	same "the last" "$(sed -n 5p got)" ""
}

@test "status: L-10 always appends; a file that is not there is made; L-15 with TZ" {
	TZ=UTC+5 meter_as --report=status -- true
	TZ=UTC-5 meter_as --report=status -- true
	same records "$(grep -c '^Date: ' got)" 2
	mapfile -t dates < <(sed -n 's/^Date: //p' got)
	within "hours between" "$((($(date -d "${dates[1]}" +%s) - $(date -d "${dates[0]}" +%s)) / 3600))" 9 10
	"$EXITMETER" --source="$SOURCE" --report=status -- true 2>err
	same "on stderr" "$(grep -c '^Cmd:  true$' err)" 1
}

@test "status: L-16 of the final image, as the process sees itself" {
	exits_needed "the end"
	meter_as --report=status -- sh -c '"$0" touch=1 >/dev/null; exec cat /proc/self/status' "$WORK/hold"
	same command "$(sed -n 2p got)" "Cmd:  sh -c \"\$0\" touch=1 >/dev/null; exec cat /proc/self/status $WORK/hold"
	same VmPeak "$(grep ^VmPeak got)" "$(grep ^VmPeak out)"
	within VmHWM "$(awk '$1 == "VmHWM:" { print $2 }' got)" \
		$(($(awk '$1 == "VmHWM:" { print $2 }' out) - $(hwm_slack) / 1024)) 4000
	# an image before it was larger
	rm got
	meter_as --report=status -- "$WORK/hold" touch=50 exec true
	within VmHWM "$(awk '$1 == "VmHWM:" { print $2 }' got)" 300 10000
}

@test "status: L-16 --all: one for every process, the root last" {
	exits_needed "a row of each"
	meter_as --report=status --all --json sum.json --journal run.journal -- \
		sh -c 'seq 40 | xargs -n1 /bin/true; exit 0'
	same records "$(grep -c '^Date: ' got)" "$(grep -c '"event":"process"' run.journal)"
	same "the root's" "$(record got | sed -n 2p)" "Cmd:  sh -c seq 40 | xargs -n1 /bin/true; exit 0"
	same "lines of records" "$(wc -l <got)" $((5 * $(grep -c '^Date: ' got)))
	rm -f again
	"$EXITMETER" report run.journal --report=status --all -o again
	cmp got again
	"$EXITMETER" report run.journal --report=status -o one
	record got | diff - one
}

@test "status: L-17 many at once do not mix" {
	exits_needed "the end"
	local pids=()
	for _ in $(seq 12); do
		"$EXITMETER" --source="$SOURCE" --report=status -o log -- true 3>&- &
		pids+=($!)
	done
	wait "${pids[@]}"
	same records "$(grep -c '^Date: ' log)" 12
	same "in order" "$(sed 's/:.*//' log | paste -sd ' ' | sed 's/Date Cmd VmPeak VmHWM  */./g')" \
		"$(printf '.%.0s' {1..12})"
}

@test "status: L-23 of a command that fails, is killed, cannot be run" {
	exits_needed "the end"
	meter_as --report=status -- sh -c 'exit 9'
	same status "$status" 9
	meter_as --report=status -- sh -c 'kill -9 $$'
	same status "$status" 137
	meter_as --report=status -- no-such-command-here
	same status "$status" 127
	same "records" "$(grep -c '^Date: ' got)" 3
	meter_as --report=status -- sh -c 'exit 0' "$(head -c 5000 /dev/zero | tr '\0' x)"
	same "a long line is whole" "$(record got | sed -n 2p | wc -c)" 5020
}
