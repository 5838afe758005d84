#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# manners - a wrapper that nobody notices, and what is missing stops nothing, on every kernel; by BPF, and
# (SOURCE=ptrace) what a tracer can spoil; by busybox's shell, inside tools/vm.  Speaks TAP.
# shellcheck disable=SC2016,SC2086,SC2181,SC2317,SC3045 # the inner shells expand it; words; statuses of here-documents;
# called by name; busybox's shell has it
. "${0%/*}/tap.sh"
M=1048576
source=${SOURCE:-bpf}
ulimit -c 0

# several COUNT COMMAND...: all of them
several() {
	left=$1
	shift
	while [ "$left" -gt 0 ]; do
		"$@" || return 1
		left=$((left - 1))
	done
}

# in_state PID STATES
in_state() {
	case $2 in *$(sed 's/.*) //; s/ .*//' "/proc/$1/stat")*) true ;; *) false ;; esac
}

# begin COMMAND...: as meter, in the background: $meter
begin() {
	rm -f sum.json ready
	exitmeter -q --source="$source" --json sum.json "$@" >out 2>err &
	meter=$!
}

ended() {
	wait "$meter"
	status=$?
}

now_ms() {
	awk '{ printf "%d", $1 * 1000 }' /proc/uptime
}

# A program that was preempted is skipped by others (7.0 on), which is said.
none_lost() {
	case $(uname -r) in
	[1-6].*) exact ;;
	*) [ "$(top events_lost)" = 0 ] ;;
	esac
}

execs_storm() {
	meter -- threads execstorm 8 20
	none_lost && [ "$status" -eq 0 ] && each 1 && [ "$(row execs '"argv":["threads"')" = 21 ] &&
		[ "$(row threads '"argv":["threads"')" = 161 ]
}

crash() {
	meter -- threads segv 16
	none_lost && [ "$status" -eq 139 ] && each 1 && [ "$(row exit_signal '"comm":"threads"')" = 11 ] &&
		[ "$(row threads '"comm":"threads"')" = 17 ]
}

several 5 execs_storm
check "case 24: eight threads and an exec, 5 times 20"

several 5 crash
check "case 24: one of 16 threads raises SIGSEGV, 5 times"

rm -f tell let
mkfifo tell let
begin -- hold tell=tell pause
read -r pid <tell
kill -STOP $meter
until_true in_state $meter T
kill -KILL "$pid"
before=$(now_ms)
kill -CONT $meter
ended
echo "# $(($(now_ms) - before)) ms"
[ "$status" -eq 137 ] && [ $(($(now_ms) - before)) -lt 1000 ] && [ ! -e "/proc/$pid" ] &&
	[ "$(row exit_signal "\"pid\":$pid,")" = 9 ]
check "case 26: exitmeter stopped, the command killed, exitmeter continued"

begin -- hold tell=tell wait=let exit=11
read -r pid <tell
kill -STOP "$pid"
until_true in_state "$pid" Tt && kill -0 $meter && kill -CONT "$pid" && until_true in_state "$pid" SRD
seen=$?
echo >let
ended
[ $seen -eq 0 ] && [ "$status" -eq 11 ] && exact
check "case 38: the command stopped and continued"

several 5 meter -- stopper 7
exact && [ "$status" -eq 7 ] && each 2
check "case 38: the tree's own wait hears of a stop, of its end and of an exit"

for signal in TERM HUP; do
	begin -- sh -c "trap 'exit 40' $signal; : >ready; while :; do usleep 20000; done"
	until_true [ -e ready ]
	kill -$signal $meter
	ended
	[ "$status" -eq 40 ] && [ "$(part run exit_code)" = 40 ]
	check "case 39: $signal is passed on"
done

# Nobody of the session is stopped or has died of it.
storm() {
	rm -f ready stop said
	setsid exitmeter -q --source="$source" -- \
		sh -c 'while [ ! -e stop ]; do churn 20 jobs=2 >/dev/null || exit; : >ready; done; echo well >said' &
	meter=$!
	until_true [ -e ready ]
	hold idle=$1
	kill -KILL $meter
	wait $meter 2>/dev/null
	: >stop
	until_true [ -s said ]
}

# no_programs: but those that were there
no_programs() {
	[ "$(progs)" -le "$programs" ]
}

programs=$(progs)
storm 0 && storm 7 && storm 20 && storm 33 && until_true no_programs
check "case 39: kill -9 of exitmeter in a fork storm: the command goes on, no BPF stays"

case $source in
ptrace)
	meter -- leakfree 9
	[ "$status" -eq 9 ] && grep -q '"notes":\[[^]]*disturbed: leakfree: ' sum.json && [ "$(top exact)" = false ]
	check "case 52: a program with a leak check keeps its status: it is let go, and named"

	meter -- debugger hold exit=3
	[ "$status" -eq 120 ] && grep -q '"notes":\[[^]]*disturbed: debugger: ' sum.json
	check "case 52: a debugger inside is named"
	;;
bpf)
	meter -- leakfree 9
	exact && [ "$status" -eq 9 ] && each 2
	check "case 52: a program with a leak check keeps its status"

	meter -- debugger hold exit=3
	exact && [ "$status" -eq 3 ] && each 2
	check "case 52: a debugger inside works"
	;;
esac

cp /work/hold own
chmod 4755 own
chmod 666 tell let

# privilege WHO OPTION...: the effective uid of a setuid program that WHO runs
privilege() {
	who=$1
	shift
	chown "${owner:-0}" own && chmod 4755 own
	rm -f sum.json
	su "$who" -c "exitmeter -q --json /tmp/sum.json $* -- ./own tell=tell wait=let exit=6" >out 2>err &
	meter=$!
	read -r pid <tell
	uid=$(awk '$1 == "Uid:" { print $3 }' "/proc/$pid/status")
	echo >let
	ended
}

if [ "$source" = ptrace ]; then
	privilege user --source=ptrace
	[ "$status" -eq 6 ] && [ "$uid" = 1000 ] && grep -q '"notes":\[[^]]*disturbed: own: ' sum.json
	check "case 38: a setuid program that a tracer takes its privilege from is named"
	finish
fi

privilege user --source=proc
[ "$status" -eq 6 ] && [ "$uid" = 0 ]
check "case 38: a setuid program keeps its privilege, run by a plain user"

owner=1000
privilege root --source=bpf
owner=
[ "$status" -eq 6 ] && [ "$uid" = 1000 ] && exact
check "case 38: a setuid program keeps its privilege, from root to another"

# ---- /proc and namespaces
chown 0 own && chmod 4755 own
rm -f sum.json
unshare -p -f -m sh -c 'mount -t proc -o hidepid=2 proc /proc && exec su user -c "$1"' sh \
	'exitmeter -q --source=proc -i 0.05 --json sum.json -- sh -c "./own idle=1200 & hold touch=10 idle=1300; wait; exit 5"' \
	>out 2>err
status=$?
[ "$status" -eq 5 ] && between "$(row peak_rss_bytes '"comm":"hold"')" $((10 * M)) $((13 * M)) &&
	! rows | grep '"comm":"own"' | grep -v '"peak_rss_bytes":null' >/dev/null &&
	grep -q '"notes":\[[^]]*proc-hides-others' sum.json
check "case 29: hidepid and a setuid program: the others are complete, and it is said"

meter --user 1000 -- sh -c './own touch=5 & hold touch=5; wait; exit 5'
[ "$status" -eq 5 ] && exact && [ "$(rows | grep -c '"peak_rss_bytes":[1-9]')" -eq 3 ]
check "case 29: a setuid program in the tree, by BPF: complete"

source=proc
begin -i 0.01 -- sh -c 'churn 300 jobs=2; exit 6'
ended
source=bpf
[ "$status" -eq 6 ] && [ "$(part run exit_code)" = 6 ] && between "$(usage peak_rss_process_bytes)" $((M / 4)) $((8 * M))
check "case 29: processes that vanish while they are read stop nothing"

rm -f sum.json
unshare -p -f --mount-proc sh -c 'true; "$@"; exit $?' sh \
	exitmeter -q --source=bpf --json sum.json -- sh -c 'hold touch=20 print; echo $$ >pid; exit 12' >out 2>err
status=$?
exact && [ "$status" -eq 12 ] && [ "$(part run pid)" = "$(cat pid)" ] && between "$(cat pid)" 2 20 &&
	[ "$(row pid '"comm":"hold"')" = "$(truth pid)" ] && near "$(row peak_rss_bytes '"comm":"hold"')" "$(truth rss)" 65536
check "case 30: inside a pid namespace: the same numbers, its pids"

meter -- unshare -p -f grep '^Pid:' /proc/self/status
exact && [ "$status" -eq 0 ] && [ "$(row pid '"comm":"grep"')" = "$(awk '{ print $2 }' out)" ] &&
	[ "$(row ppid '"comm":"grep"')" = "$(row pid '"comm":"unshare"')" ]
check "case 30: a command that makes a pid namespace: pids as exitmeter sees them"

rm -f sum.json orphan
unshare -p -f --mount-proc exitmeter -q --source=bpf --json sum.json -- sh -c '
	sh -c "hold idle=100 & echo \$! >orphan"
	while [ -e "/proc/$(cat orphan)" ]; do usleep 20000; done
	hold pause &
	exit 13' >out 2>err
status=$?
[ "$status" -eq 13 ] && adds_up && [ "$(row exit_code "\"pid\":$(cat orphan),")" = 0 ]
check "case 54: PID 1 of a container: reaps orphans, ends with its command, reports"

rm -f sum.json ready
unshare -p -f --mount-proc exitmeter -q --source=bpf --json sum.json -- \
	sh -c "trap 'exit 14' TERM; : >ready; while :; do usleep 20000; done" >out 2>err &
meter=$!
until_true [ -e ready ]
kill -TERM "$(cut -d' ' -f1 "/proc/$meter/task/$meter/children" 2>/dev/null || pgrep -P $meter)"
ended
[ "$status" -eq 14 ] && adds_up
check "case 54: PID 1 of a container: forwards TERM"

# ---- what is missing
echo 'hold touch=20 burn=60 idle=60; exit 7' >job

# under COMMAND...: a run that COMMAND... starts
under() {
	rm -f sum.json
	"$@" exitmeter -q -i 0.05 --json /tmp/sum.json -- sh job >out 2>err
	status=$?
	[ "$status" -eq 7 ] && [ ! -s err ] && between "$(usage peak_rss_process_bytes)" $((20 * M)) $((24 * M)) &&
		between "$(ms "$(usage cpu_seconds)")" 60 2000
}

# by SOURCE [REASON]
by() {
	grep -o '"fallback_reason":"[^"]*"' sum.json | sed 's/^/# /'
	[ "$(part source exits)" = "\"$1\"" ] && case $1 in
	proc) [ "$(top exact)" = false ] && ! grep -q '"peak_rss_exact":true' sum.json ;;
	*) exact ;;
	esac && { [ -z "${2:-}" ] || grep -q "\"fallback_reason\":\"[^\"]*$2" sum.json; }
}

as_user() {
	su user -c "$*"
}

: >empty
under as_user && by ptrace 'bpf() refused: needs root'
check "case 34: a plain user is traced, and it is said why"

under refuse bpf -- && by ptrace 'bpf() refused: .*seccomp'
check "case 34: bpf() refused by seccomp: traced, and it is said why"

export EXITMETER_TEST_CACHE=/tmp/nowhere
under unshare -m sh -c 'mount --bind empty /sys/kernel/btf/vmlinux && exec "$@"' sh && by ptrace 'the kernel has no BTF'
check "case 34: no BTF: traced, and it is said why"
unset EXITMETER_TEST_CACHE

under unshare -m sh -c 'for at in /sys/kernel/tracing /sys/kernel/debug; do
	[ ! -d $at ] || mount -t tmpfs none $at || exit; done; exec "$@"' sh && by bpf
check "case 34: no tracefs: exact all the same"

meter -- hold touch=20 print
case $(part source hook) in
'"sched_process_exit+mm"'*) [ "$(part source fallback_reason)" = null ] ;;
*) grep -q '"fallback_reason":"sched_process_exit+mm' sum.json ;;
esac && near "$(row peak_rss_bytes '"comm":"hold"')" "$(truth rss)" 65536
result=$?
grep -o '"hook":"[^"]*","fallback_reason":[^,]*' sum.json | sed 's/^/# /'
[ $result -eq 0 ]
check "case 34: a program that the kernel rejects is named, the next best is exact"

under refuse ptrace -- && by bpf
check "case 35: no ptrace: BPF does not need it"

under refuse bpf ptrace perf_event_open -- && by proc 'ptrace() refused'
check "case 35: neither BPF nor ptrace: sampled, and it is said why"

# no_peak REASON: of the cgroup
no_peak() {
	meter --cgroup -- hold touch=10 exit=3
	grep -o '"cgroup: [^"]*"' sum.json | sed 's/^/# /'
	[ "$status" -eq 3 ] && [ "$(usage cgroup_peak_bytes)" = null ] && grep -q "\"cgroup: [^\"]*$1" sum.json &&
		near "$(usage peak_rss_process_bytes)" $((10 * M)) $((2 * M))
}

no_peak ''
check "case 36: no cgroup mounted: null, and why"

mkdir /v2
mount -t cgroup2 none /v2
mount -o remount,ro /v2 && no_peak ''
check "case 36: cgroups that may not be changed: null, and why"

mount -o remount,rw /v2
case $(uname -r) in
5.*) no_peak memory.peak ;; # from 5.19 on
*)
	meter --cgroup -- hold touch=10 exit=3
	[ "$status" -eq 3 ] && between "$(usage cgroup_peak_bytes)" $((10 * M)) $((14 * M))
	;;
esac
check "case 36: version 2: its memory.peak, or null and that this kernel has none"
umount /v2

# ---- a terminal
mkdir -p /dev/pts
mount -t devpts none /dev/pts

# at_terminal: what stdin says is done there
at_terminal() {
	{
		echo 'see OUT<0>'
		cat
		echo 'type exit 0'
	} | PS1='OUT<$?> ' typist sh -i >out 2>err
	status=$?
	[ $status -eq 0 ]
}

at_terminal <<-'END'
	type exitmeter --source=bpf --json sum.json -- sh -c 'echo re""ady; exec hold idle=100000'
	see ready
	front exitmeter
	press Z
	see Stopped
	see OUT<148>
	type fg
	front exitmeter
	press C
	see exitmeter: 
	see OUT<130>
END
check "case 39, 40: Ctrl-Z, fg and Ctrl-C of a metered command"

at_terminal <<-'END'
	type PS1='IN<$?> ' exitmeter -q --source=bpf --json sum.json -- sh -i
	see IN<0>
	type hold idle=100000
	front hold
	press Z
	see Stopped
	see IN<148>
	type bg
	see IN<0>
	type fg
	front hold
	press C
	see IN<130>
	type exit 37
	see OUT<37>
END
[ $? -eq 0 ] && [ "$(row exit_signal '"comm":"hold"')" = 2 ] && exact
check "case 40: an interactive shell with jobs of its own"

at_terminal <<-'END'
	type exitmeter -q --source=bpf -- sh -c 'echo re""ady; read x; echo "got-$x"; stty -echo; echo hid""den; read y; stty echo; echo "also-$y"; exit 9'
	see ready
	type one
	see got-one
	see hidden
	type sec
	see also-sec
	see OUT<9>
END
[ $? -eq 0 ] && [ "$(grep -c sec out)" -eq 1 ]
check "case 40: read and stty"

seq 100 | sed 's/^/line /' >page
at_terminal <<-'END'
	type exitmeter -q --source=bpf -- vi page
	see line 12
	type :s/line/page/
	see page 1
	type :wq
	see OUT<0>
END
[ $? -eq 0 ] && [ "$(head -n 1 page)" = 'page 1' ] && [ "$(wc -l <page)" -eq 100 ]
check "case 40: an editor"

# ---- what is inherited, and where the output goes
(
	trap '' CHLD
	meter -- sh -c 'true; exit 7'
	exact && [ "$status" -eq 7 ] && each 1
)
check "case 41: SIGCHLD ignored by the caller"

# closed FDS COMMAND...
closed() {
	(
		case $1 in *0*) exec 0<&- ;; esac
		case $1 in *1*) exec 1>&- ;; esac
		case $1 in *2*) exec 2>&- ;; esac
		shift
		exec "$@"
	)
}

look='for fd in /proc/self/fd/*; do readlink $fd; done >&9'
# plain FILE: without what differs anyway
plain() {
	sed 's,/proc/[0-9]*/,,; s/without/with/; s/\[.*//' "$1"
}

same_descriptors() {
	for set in none 0 1 2 012; do
		closed $set sh -c "$look" 9>without
		rm -f sum.json report
		closed $set exitmeter --source=bpf -o report --json sum.json --journal run.journal -- \
			sh -c "$look; exit 7" 9>with
		status=$?
		plain without >without.plain
		plain with >with.plain
		if [ $status -ne 7 ] || ! [ -s sum.json ] || ! [ -s report ] || ! [ -s with ] ||
			! cmp without.plain with.plain; then
			echo "# closed: $set"
			return 1
		fi
	done
}
same_descriptors
check "case 41, 42: descriptors: none leaked, 0 to 2 as they were, closed ones too"

env -i PATH="$PATH" A= 'B=two
lines' env >without
env -i PATH="$PATH" A= 'B=two
lines' exitmeter -q --source=bpf -- env >with
[ "$(grep -c '^EXITMETER_CONTROL=unix:/' with)" -eq 1 ] && [ "$(grep -v '^EXITMETER_CONTROL=' with)" = "$(cat without)" ]
check "case 42: the environment, but EXITMETER_CONTROL"

# said N: as many lines of exitmeter's, none of another's
said() {
	[ "$(grep -c '^exitmeter: ' err)" -eq "$1" ] && [ "$(wc -l <err)" -eq "$1" ]
}

mkdir disk
mount -t tmpfs -o size=4k none disk && echo old >disk/other
for option in '-o /dev/full' '-q --json /dev/full' '-q --journal /dev/full' '-q --json disk/sum.json'; do
	exitmeter --source=bpf $option -- sh -c 'exit 7' >out 2>err
	status=$?
	[ "$status" -eq 7 ] && said 1
	check "case 41: an output without room: $option"
done
umount disk

for option in '-o disk' '-q --json disk' '-q --journal disk'; do
	exitmeter --source=bpf $option -- touch started >out 2>err
	status=$?
	if [ "$status" -ne 125 ] || ! said 1; then
		status=wrong
		break
	fi
done
[ "$status" = 125 ] && [ ! -e started ]
check "case 41: an output that is a folder: 125, nothing started"

mkdir bare
cp /bin/exitmeter /work/hold bare/
chroot bare /exitmeter --json /sum.json -- /hold touch=5 exit=7 >out 2>err
status=$?
cp bare/sum.json .
[ "$status" -eq 7 ] && [ "$(grep -cv '^exitmeter: ' err)" -eq 0 ] && grep -q '"notes":\["no-proc"\]' sum.json &&
	[ "$(top exact)" = false ] && [ "$(usage peak_rss_bytes)" = null ] && between "$(part rusage maxrss_bytes)" $((5 * M)) $((8 * M))
check "case 43: an empty root file system, one static program"

mkdir bare/proc bare/sys
mount -t proc none bare/proc
mount -t sysfs none bare/sys
chroot bare /exitmeter -q --json /sum.json -- /hold touch=5 exit=7 >out 2>err
status=$?
umount bare/proc
umount bare/sys
cp bare/sum.json .
[ "$status" -eq 7 ] && [ "$(part source exits)" = '"bpf"' ] && exact &&
	between "$(row peak_rss_bytes '"comm":"hold"')" $((5 * M)) $((7 * M))
check "case 43: the same with /proc and /sys: exact, no helper programs"

finish
