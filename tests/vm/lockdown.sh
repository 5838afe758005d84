#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# lockdown - what is left where the kernel keeps its memory to itself (lockdown=confidentiality);
# inside tools/vm.  Speaks TAP.
. "${0%/*}/tap.sh"
M=1048576

grep -q '\[confidentiality\]' /sys/kernel/security/lockdown
check "lockdown=confidentiality is in force"

SOURCE=auto
meter -- hold touch=20 print exit=4
[ "$status" -eq 4 ] && [ "$(part source exits)" = '"ptrace"' ] && exact &&
	grep -q '"fallback_reason":"[^"]*lock' sum.json &&
	near "$(row peak_rss_bytes '"comm":"hold"')" "$(truth rss)" 65536
check "a run is traced, and says why"

SOURCE=proc
meter -- hold touch=20 burn=400 exit=4
grep -o '"fallback_reason":"[^"]*"' sum.json | sed 's/^/# /'

between "$(part usage peak_rss_process_bytes)" $M $((24 * M)) &&
	near "$(ms "$(part usage cpu_seconds)")" "$(waited_ms)" 20 && ! grep -q '"peak_rss_exact":true' sum.json
check "sampled: no figure is wrong, no peak exact"

exitmeter --source=bpf --require-exact -- hold exit=0 >out 2>err
status=$?
[ "$status" -eq 125 ]
check "BPF alone does not start it"

exitmeter doctor >out 2>err
status=$?
grep '^bpf ' out | grep -F 'the kernel is locked down' >/dev/null
check "doctor names it, and the remedy"
grep '^bpf \|^source now' out | sed 's/^/# /'

finish
