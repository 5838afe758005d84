#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# no_tick - without high-resolution timers (highres=off) the kernel's tick is no timer; inside
# tools/vm.  Speaks TAP.
. "${0%/*}/tap.sh"

meter -- hold touch=20 burn=100 print exit=3
exact && [ "$status" -eq 3 ] && [ "$(part source samples)" = '"bpf+proc"' ] &&
	grep -q '"notes":\["no-kernel-tick"' sum.json && near "$(row peak_rss_bytes '"comm":"hold"')" "$(truth rss)" 65536
check "no tick: exact all the same, and it is said"

finish
