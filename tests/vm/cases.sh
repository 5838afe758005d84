#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# cases - what the programs must give on every kernel; by busybox's shell, inside tools/vm.  Speaks TAP.
. "${0%/*}/tap.sh"
M=1048576
page=$(awk '$1 == "KernelPageSize:" { print $2 * 1024; exit }' /proc/self/smaps)

# check_sum NAME MOST: as check; before 5.19 the programs keep no sum of the tree: then what a scan found is not
# above MOST, no upper bound is claimed, and it is said
check_sum() {
	result=$?
	case $(uname -r)$(usage peak_rss_upper_bytes) in
	5.*null)
		case $(usage peak_rss_lower_bytes) in null) ;; *) [ "$(usage peak_rss_lower_bytes)" -le "$2" ] ;; esac &&
			[ "$(top exact)" = false ] && grep -q "this kernel.s BPF cannot sum up" sum.json
		;;
	*) [ $result -eq 0 ] ;;
	esac
	check "$1"
}

meter --require-exact -- true
case $(uname -r) in
5.* | 6.[01].*) [ "$status" -eq 125 ] ;; # sums are not, and whoever asks is told before the start
*) [ "$status" -eq 0 ] && [ "$(top exact)" = true ] ;;
esac
check "--require-exact starts what can be exact"

# races WHO: several may look like the last, in the hook and off the CPU
races() {
	meter -- threads atonce 16 50
	exact && each 51 && [ "$(usage max_processes)" = 2 ] && [ "$(usage max_threads)" = 17 ]
	check "16 threads end at once, 50 times: one row each$1"

	meter -- threads atonce 4 100
	exact && each 101 && [ "$(usage max_threads)" = 5 ]
	check "four threads on four CPUs end at once, 100 times: one row each$1"
}

races ""
case $(uname -r) in 6.1.*)
	export EXITMETER_TEST_OLD=1
	races " (by the programs for kernels before 5.19)"
	meter -- churn 500
	exact && each 501 && [ "$(top peak_rss_upper_bytes)" = null ]
	check "case 14: 500 children (by the programs for kernels before 5.19)"
	unset EXITMETER_TEST_OLD
	;;
esac

meter -- sh -c 'hold touch=20 idle=1500 & hold touch=30 idle=1500; wait'
lower=$(usage peak_rss_lower_bytes)
upper=$(usage peak_rss_upper_bytes)
near "$lower" $((54 * 1048576)) $((4 * 1048576)) && [ "$(usage max_processes)" = 3 ]
case $?$upper$(uname -r) in
0null5.*) true ;;
0null* | [1-9]*) false ;;
*) [ "$upper" -ge "$lower" ] ;;
esac
check "case 5: two at once: their sum"

# used PID: ms of CPU, by the kernel's word
used() {
	sed 's/.*) //' "/proc/$1/stat" | awk '{ print ($12 + $13) * 10 }'
}

burn 100000 >/dev/null &
rm -f sum.json
before=$(used $!)
exitmeter -q --source="${SOURCE:-bpf}" --json sum.json -p $! --duration 1 >out 2>err
status=$?
after=$(used $!)
wall=$(ms "$(grep -o '"wall_seconds":[^,]*' sum.json | head -n 1 | cut -d: -f2)")
[ $status -eq 0 ] && [ "$(top running_at_end)" = 1 ] &&
	[ "$(ms "$(usage cpu_seconds)")" -ge $((wall / 2)) ] &&
	[ "$(ms "$(usage cpu_seconds)")" -le $((after - before + 20)) ]
check "attached to one that never leaves its CPU: what it used"
kill $! 2>/dev/null

for how in "exec hold touch=30 print" "hold touch=30 print; :"; do
	meter -- sh -c "$how"
	exact && near "$(row peak_rss_bytes '"comm":"hold"')" "$(truth rss)" 65536
	check "case 4: sh -c '$how'"
done

meter -- sh -c 'for i in 1 2 3 4; do hold touch=20; done; :'
exact && [ "$(top exits)" = 5 ] && between "$(usage peak_rss_lower_bytes)" $((20 * M)) $((24 * M)) &&
	between "$(usage peak_rss_sum_bytes)" $((80 * M)) $((86 * M))
check_sum "case 5: four one after another" $((24 * M))

meter -- together 20 20 20 20
exact && between "$(usage peak_rss_lower_bytes)" "$(($(truth truth) - 4 * M))" "$(($(truth truth) + M / 2))" &&
	between "$(usage peak_rss_upper_bytes)" "$(truth truth)" $(($(truth truth) + 8 * M))
check_sum "case 5: four at once" "$(($(truth truth) + M / 2))"

meter -- hold touch=30 burn=400 free clearrefs
between "$(row peak_rss_bytes '"comm":"hold"')" $((29 * M)) $((33 * M))
check "case 6: the high-water mark reset from inside"

# What the mark may be off by since 6.2, and what the threads of earlier kernels keep to themselves.
slack=$((3 * 31 * $(nproc) * page))
for option in "" --no-tick; do
	# shellcheck disable=SC2086 # none or one
	meter -i 30 $option -- hold touch=40 print free
	near "$(row peak_rss_bytes '"comm":"hold"')" "$(truth rss)" $slack
	check "case 7: 40 MiB touched and freed between samples${option:+, $option}"
done

meter -- spawner 40 pause 200 /work/tiny
exact && between "$(usage peak_rss_lower_bytes)" "$(($(truth rss) - M))" $((44 * M)) &&
	between "$(usage peak_rss_upper_bytes)" "$(truth rss)" $((46 * M))
check_sum "case 8: a vfork child that waits before its exec" $((44 * M))

meter -- spawner 30 clonevm 20
exact && near "$(usage peak_rss_lower_bytes)" "$(truth rss_after)" $M &&
	[ "$(row peak_rss_bytes '"execs":0')" = null ] && [ "$(top exits)" = 2 ]
check_sum "case 8: two processes that share one address space" "$(($(truth rss_after) + M))"

# to_the_page PROGRAM: what the program, which has no library, says of itself
to_the_page() {
	meter -- "$1"
	exact && [ "$status" -eq 0 ] && [ "$(row peak_rss_exact "\"comm\":\"$1\"")" = true ] &&
		[ "$(row peak_rss_bytes "\"comm\":\"$1\"")" = "$(($(sed -n 's/^Rss: *\([0-9]*\).*/\1/p' out) * 1024))" ]
}

to_the_page tiny-nolibc
check "case 12: a static program of some 20 pages, to the page"

if ! [ -e /work/tiny-32 ]; then
	skip "case 53: a static 32-bit program" "no 32-bit programs on this machine"
elif ! tiny-32 >/dev/null; then
	skip "case 53: a static 32-bit program" "this kernel runs none (CONFIG_IA32_EMULATION)"
else
	to_the_page tiny-32
	check "case 53: a static 32-bit program, to the page"
fi

meter -- sh -c 'burn 200 & burn 200 & wait'
[ "$(ms "$(usage cpu_seconds)")" -ge 400 ] && near "$(ms "$(usage cpu_seconds)")" "$(waited_ms)" 10 &&
	[ "$(top exits)" = 3 ]
check "case 16: two burners side by side: nothing twice"

meter -i 0.1 --journal run.journal -- sh -c 'burn 350; hold idle=100; :'
grep '"event":"sample"' run.journal | sed 's/.*"cpu_seconds":\([^,]*\),"cpus":\([^,]*\),.*/\1 \2/' |
	awk -v cpus="$(nproc)" '$1 < last || ($2 != "null" && $2 > cpus + 0.005) { bad = 1 }
		{ last = $1; n++ } END { exit bad || n < 2 }'
check "case 17: no sample above the machine, the total never falls"

meter -- timeout 1 sh -c 'burn 3000; true'
[ "$(ms "$(usage cpu_seconds)")" -ge 200 ] && [ "$(top running_at_end)" -ge 1 ] && adds_up
check "case 18: a burner that nobody reaps: its CPU is there"

meter --wait-tree -- sh -c 'burn 300 & exit 3'
[ "$status" -eq 3 ] && [ "$(top running_at_end)" = 0 ] &&
	[ "$(ms "$(row cpu_seconds '"comm":"burn"')")" -ge 300 ]
check "case 18: --wait-tree waits for it"

meter --wait-tree -- daemonise leave 10 50 daemon
exact && [ "$(top exits)" = 3 ] && daemon=$(sed -n 's/^daemon=//p' daemon) &&
	[ "$(row ppid "\"pid\":$daemon,")" = "$(sed -n 's/^middle=//p' daemon)" ] &&
	near "$(row peak_rss_bytes "\"pid\":$daemon,")" "$(sed -n 's/^rss=//p' daemon)" $M
check "case 19: a daemon: its peak, its creator"

meter -- daemonise ignore 5 5 none
exact && [ "$(top exits)" = 6 ]
check "case 19: SIGCHLD ignored: all are counted"

mkfifo tell let
rm -f run.journal
exitmeter -q --source="${SOURCE:-bpf}" --json sum.json --journal run.journal -- \
	spawner 5 zombie tell let /work/hold touch=20 >out 2>err &
until read -r child <tell; do :; done # a child's end may interrupt its opening
until_true grep -q "\"event\":\"process\".*\"pid\":$child," run.journal
seen=$?
echo >let
wait $!
[ $seen -eq 0 ] && between "$(row peak_rss_bytes "\"pid\":$child,")" $((20 * M)) $((23 * M))
check "case 20: the row is there before the zombie is reaped"

meter -- waiter kernel hold populate=300
exact && cpu=$(sed -n 's/^cpu_us=//p' kernel) &&
	near "$(ms "$(row cpu_seconds '"comm":"hold"')")" $((cpu / 1000)) $((cpu / 50000 + 4)) &&
	[ "$(row minor_faults '"comm":"hold"')" = "$(sed -n 's/^minflt=//p' kernel)" ]
check "case 21: 300 MiB torn down: CPU and faults as wait4 has them"

# ends HOW CODE SIGNAL STATUS
ends() {
	meter -- hold "$1"
	exact && [ "$(row exit_code '"comm":"hold"')" = "$2" ] &&
		[ "$(row exit_signal '"comm":"hold"')" = "$3" ] && [ "$status" -eq "$4" ]
}
ends exit=77 77 null 77 && ends kill=9 null 9 137 && ends segv null 11 139 && ends kill=15 null 15 143
check "case 25: exit 77, SIGKILL, SIGSEGV, SIGTERM"

meter -- names 'a) R 1 (' 3 0
[ "$(row exit_code '"comm":"a) R 1 ("')" = 3 ]
check "case 27: a comm that looks like the rest of stat"

hostile=$(printf 'x\n"\\\033[1m\377z')
meter -- names "$hostile" 0 0 "$hostile"
grep -qF '"comm":"x\n\"\\\u001b[1m\u00ffz"' sum.json && ! tr -d '\n' <sum.json | grep '[[:cntrl:]]' >/dev/null
check "case 27: newline, quote, backslash, escape and 0xff"

meter -- samepid last 3
pid=$(truth pid)
exact && [ "$status" -eq 0 ] && [ "$(rows | grep -c "\"pid\":$pid,.*\"exit_code\":1[012],")" -eq 3 ]
check "case 28: three processes with the same pid"

meter -- samepid ns 3
exact && [ "$(top exits)" = 7 ] && [ "$(rows | grep -c '"exit_code":1[012],')" -eq 6 ]
check "case 28: three first processes of pid namespaces"

meter -- ioread 300 written 2
exact && between "$(row rchar '"comm":"ioread"')" $((300 * M)) $((301 * M)) &&
	near "$(row syscr '"comm":"ioread"')" "$(truth syscr)" 16
check "case 32: what was read"

mkfifo start finish
EXITMETER_TEST_MAP_ENTRIES=64 EXITMETER_TEST_RING_BYTES=4096 exitmeter -q --source="${SOURCE:-bpf}" --json sum.json -- \
	churn 2000 vfork jobs=2 big=20 start=start done=finish >out 2>err &
meter=$!
# shellcheck disable=SC2317 # called by name
stopped() {
	grep -q '^State:.T' "/proc/$meter/status"
}
read -r _ <start
kill -STOP $meter
until_true stopped
echo >start
read -r _ <finish
kill -CONT $meter
echo >finish
wait $meter
[ "$(top exits)" = $(($(truth forks) + 1)) ] && [ "$(top events_lost)" -ge 1000 ] && [ "$(top exact)" = false ] &&
	between "$(usage peak_rss_process_bytes)" $((20 * M)) $((23 * M))
check "case 33: a full ring: lost and counted, totals are not"

meter -- handover 6 32
exact && between "$(usage peak_rss_lower_bytes)" $((24 * M)) "$(($(truth truth) + M / 2))" &&
	[ "$(usage peak_rss_upper_bytes)" -ge "$(truth truth)" ]
check_sum "case 47: 32 MiB handed over, never resident twice" "$(($(truth truth) + M / 2))"

meter -- burst 16
exact && [ "$(usage peak_rss_upper_bytes)" -ge "$(truth truth)" ] &&
	[ "$(usage peak_rss_lower_bytes)" -le "$(($(truth truth) + M / 2))" ]
check_sum "case 48: a burst at the end of another" "$(($(truth truth) + M / 2))"

# noted_outside COMMAND...: the bounds hold; who looks at a sleeper only now and then need not see
# that it changed, and says how often it did.
noted_outside() {
	noted=0
	for _ in 1 2 3; do
		meter -i 0.05 -- "$@"
		between "$(usage peak_rss_lower_bytes)" "$(($(truth truth) / 2))" "$(($(truth truth) + M))" &&
			[ "$(usage peak_rss_upper_bytes)" -ge "$(($(truth truth) - M / 4))" ] || return 1
		! grep -q changed-from-outside sum.json || noted=$((noted + 1))
	done
	echo "# noted $noted times of 3"
}

noted_outside outside truncate file 40 500
check_sum "case 49: a file truncated under a sleeper" "$(($(truth truth) + M))"

noted_outside outside write 20 500
check_sum "case 49: process_vm_writev into a sleeper" "$(($(truth truth) + M))"

meter -- threads growexec 16 /work/tiny
[ "$(top exits)" = 1 ] && between "$(row peak_rss_bytes '"comm":"tiny"')" "$(truth truth)" "$(($(truth truth) + M / 2))"
check "case 50: a thread still grows while another execs"

target crowd 60 &
target=$!
# shellcheck disable=SC2317 # called by name
threads_there() {
	set -- /proc/"$target"/task/*
	[ $# -ge 3 ]
}
until_true threads_there
attach --duration 0.5
[ "$status" -eq 0 ] && [ "$(top initial)" = 2 ] && [ "$(top running_at_end)" = 2 ] && adds_up &&
	[ "$(row threads "\"pid\":$target,")" -ge 3 ] && [ "$(ms "$(usage baseline_cpu_seconds)")" -gt 0 ]
check "case 31: attached to busy threads and a child"
kill $target

mkfifo go
rm -f run.journal
hold wait=go touch=30 exit=6 &
target=$!
exitmeter -q --source="${SOURCE:-bpf}" --json sum.json --journal run.journal -p $target >out 2>err &
meter=$!
until_true grep -q '"event":"sample"' run.journal
echo >go
wait $meter
status=$?
[ $status -eq 0 ] && [ "$(row exit_code '"comm":"hold"')" = 6 ] && [ "$(top exits)" = 1 ] &&
	between "$(row peak_rss_bytes '"comm":"hold"')" $((30 * M)) $((33 * M))
check "attached: a rise since, and the end"

finish
