#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# bench - what one hook plan costs an exit and a system call; inside
# tools/vm -i -c 1 with load, nothing and pairs of tests/bench
#
# usage: bench.sh PLAN [PAIRS]      PLAN+compat: with the hook that 32-bit programs need there
#
# Paired runs in ABBA order (tests/bench/pairs.c), A against A beside them: CPU of the workload
# under exitmeter against it alone.  The clock is the number of instructions (qemu -icount), so a
# plan's figures are what the kernel and the programs execute, whatever else the host does.
# Prints for each workload: PLAN WORKLOAD MEDIAN LOW HIGH AA-MEDIAN AA-LOW AA-HIGH (per cent) and
# the nanoseconds (instructions) that one exit or call takes alone.
plan=${1%+compat}
pairs=${2:-40}
[ "$plan" = "$1" ] || export EXITMETER_TEST_COMPAT=1
cd /tmp || exit 1
mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
status=0

# bench WORKLOAD N EACH: EACH operations a unit
bench() {
	said=$(pairs -n "$pairs" -s 0.04 load /files/load "$1" "$2" -- \
		exitmeter -q --source="bpf:$plan" -i 0.25 --) || {
		status=1
		return
	}
	# shellcheck disable=SC2086 # words
	set -- "$1" "$2" "$3" $said
	load "$1" "${17}" result
	read -r _ cpu <result
	echo "$PLAN $1 $5 $6 $7 $9 ${10} ${11} $((cpu / (${17} * $3)))"
}

PLAN=$1
PATH=$PATH:/files
exitmeter -q --source="bpf:$plan" true || exit
bench exec 50 1
bench syscall 100 1000
exit $status
