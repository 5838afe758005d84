#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# cpus - many CPUs: parts of the RSS on each, and a mark that none of them makes exact; inside
# tools/vm.  Speaks TAP.
. "${0%/*}/tap.sh"

# said: what the kernel's own counts make of it
said() {
	echo "# $1: truth $(truth rss), ours $(row peak_rss_bytes '"comm":"threads"')," \
		"VmHWM $(truth hwm), ru_maxrss $(truth maxrss)"
}

for pages in 5 30 60; do
	meter -- threads spread $pages 0
	said "$pages pages on each CPU"
	[ "$(truth cpus)" = "$(nproc)" ] && exact &&
		[ "$(row peak_rss_bytes '"comm":"threads"')" = "$(truth rss)" ] &&
		[ "$(row peak_rss_exact '"comm":"threads"')" = true ]
	check "$pages pages on each of $(nproc) CPUs: equal to the page"
done

# fell: truth and bound of a peak that is over before the end
fell() {
	peak=$(row peak_rss_bytes '"comm":"threads"')
	error=$(row peak_rss_error_bytes '"comm":"threads"')
	echo "# $1: truth $(truth top), ours $peak, error at most $error, VmHWM $(truth hwm)"
	[ "$(row peak_rss_exact '"comm":"threads"')" = false ] && [ "${error:-0}" -gt 0 ] &&
		near "$peak" "$(truth top)" "$error"
}

meter -- threads spread 20 60
fell "a peak that fell"
check "a peak that fell before the end: not exact, within the error it states"

meter --no-tick -i 0 -- threads spread 20 60
fell "the same, no tick and no sample"
check "a peak that fell, no tick and no sample: within the error it states"

meter -- churn 200 jobs=8
exact && [ "$(top exits)" = 209 ] && adds_up
check "8 loops of forks: none lost"

before=$(cut -d' ' -f1 /proc/uptime)
meter -- tiny-nolibc
exact && [ "$(row peak_rss_bytes '"comm":"tiny-nolibc"')" = "$(($(sed -n 's/^Rss: *\([0-9]*\).*/\1/p' out) * 1024))" ]
check "case 12: some 20 pages on $(nproc) CPUs, to the page"
echo "# a whole run took $before to $(cut -d' ' -f1 /proc/uptime) s"

finish
