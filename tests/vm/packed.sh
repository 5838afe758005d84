#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# packed - the archive of make dist-static: from where it is unpacked, and installed as its README says; inside
# tools/vm.  Speaks TAP.
# shellcheck disable=SC2094
. "${0%/*}/tap.sh"

mkdir /tmp/packed && tar xzf /exitmeter-*-linux-*.tar.gz -C /tmp/packed
unpacked=$(echo /tmp/packed/*)

PATH=$unpacked/bin:$PATH
meter -- hold touch=20 print exit=7
[ "$status" -eq 7 ] && exact && near "$(row peak_rss_bytes '"comm":"hold"')" "$(truth rss)" 65536
check "the static archive, unpacked: exact"

"$unpacked/bin/exitmeter" -q --journal packed.journal -- churn 20 >out 2>&1 &&
	"$unpacked/bin/exitmeter" report packed.journal >report 2>&1 &&
	[ "$(grep -c '21 processes' report)" -eq 1 ]
check "the static archive, unpacked: a report from a journal"

if "$unpacked/bin/exitmeter" report packed.journal --html page.html >out 2>err; then
	grep -q churn page.html && grep -q '</html>' page.html
else
	grep -q 'built without npm' err
fi
check "the static archive, unpacked: the HTML page, or what is missing"

mkdir -p /usr/local && (cd "$unpacked" && cp -R bin libexec share /usr/local/)
/usr/local/bin/exitmeter report packed.journal >installed 2>&1 && cmp report installed &&
	[ -e /usr/local/share/man/man1/exitmeter.1 ]
check "the static archive, installed: the same report"

(cd /usr/local && xargs rm -f) <"$unpacked/FILES"
rm -rf /usr/local/libexec/exitmeter /usr/local/share/exitmeter /usr/local/share/doc/exitmeter
[ -z "$(find /usr/local ! -type d)" ] && [ -z "$(find /usr/local -name '*exitmeter*')" ]
check "the static archive, removed: nothing is left"

finish
