#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# kprobes - kprobes that are switched off while a run may count on them; inside tools/vm.  Speaks
# TAP.
. "${0%/*}/tap.sh"

kprobes=/sys/kernel/debug/kprobes/enabled
meter -- hold touch=10 print
hook=$(part source hook)
if ! [ -e $kprobes ] || [ "${hook#*kprobe}" = "$hook" ]; then
	skip "kprobes switched off" "not what exits are read by here"
else
	echo 0 >$kprobes
	meter -- hold touch=10 print exit=4
	echo 1 >$kprobes
	[ "$status" -eq 4 ] && adds_up && {
		[ "$(row peak_rss_exact '"comm":"hold"')" = false ] ||
			near "$(row peak_rss_bytes '"comm":"hold"')" "$(truth rss)" 65536
	} && { [ "$(top exact)" = false ] || [ "$(part source hook)" != "$hook" ]; }
	check "kprobes switched off: no wrong peak, and it is said"
fi

finish
