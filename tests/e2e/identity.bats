#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2034
# CASES "/proc, identity, namespaces": names are bytes, pids are no identity.

load helpers

HOSTILE=$'x\n"\\\e[1m\xffz'

@test "case 27: a comm that looks like the rest of /proc/PID/stat" {
	local pid
	meter -i 0.05 -- "$WORK/names" 'a) R 1 (' 3 300
	exact
	pid=$(truth pid)
	same comm "$(row ".pid == $pid" .comm)" 'a) R 1 ('
	same code "$(row ".pid == $pid" .exit_code)" 3
	within memory "$(row ".pid == $pid" .peak_rss_bytes)" $((MIB / 2)) $((4 * MIB))
	holds "samples of it are sane" '[inputs, .] | map(select(.event == "sample"))
		| length > 0 and all(.processes == 1 and .threads == 1 and .cpu_seconds < 1)' run.journal
}

@test "case 27: newline, quote, backslash, 0xff and an escape sequence in comm and argv" {
	meter -- "$WORK/names" "$HOSTILE" 0 0 "$HOSTILE" $'\a\x7f' ''
	exact
	holds comm '.processes[0].comm == "x\n\"\\\u001b[1m\u00ffz"'
	holds argv '.processes[0].argv[4:] == ["x\n\"\\\u001b[1m\u00ffz", "\u0007\u007f", ""]'
	holds "argv of the run" '.run.command[4:] == ["x\n\"\\\u001b[1m\u00ffz", "\u0007\u007f", ""]'
	same "raw control bytes in JSON" "$(tr -d '\n' <sum.json | LC_ALL=C grep -c '[[:cntrl:]]')" 0
	iconv -f utf-8 -t utf-8 sum.json run.journal >/dev/null
	holds "in the journal" '[inputs, .] | map(select(.event == "process")) | .[0].comm | startswith("x\n\"")' \
		run.journal
}

@test "case 27: the same in a program's file name" {
	cp "$WORK/hold" "./$HOSTILE"
	meter -- sh -c '"$1" populate=20; :' sh "./$HOSTILE"
	exact
	holds "its row" '[.processes[] | select(.comm == "x\n\"\\\u001b[1m\u00ffz" and .peak_rss_bytes > 20 * 1048576)]
		| length == 1'
}

@test "case 27: the terminal is safe" {
	cp "$WORK/names" "./$HOSTILE"
	"$EXITMETER" --source="$SOURCE" -- "./$HOSTILE" "$HOSTILE" 0 0 "$HOSTILE" $'\a\x7f' 2>err >out
	"$EXITMETER" --source="$SOURCE" -- sh -c '"$@"; :' sh "./$HOSTILE" "$HOSTILE" 0 0 2>>err >out
	"$EXITMETER" --source="$SOURCE" -- "./no$HOSTILE" 2>>err >out || true
	cat -v err
	same "control bytes on stderr" "$(tr -d '\n' <err | LC_ALL=C grep -c '[[:cntrl:]]')" 0
	iconv -f utf-8 -t utf-8 err >/dev/null
	same "lines that are not ours" "$(grep -cv '^exitmeter: ' err)" 0
}

@test "case 28: three processes with the same pid, by ns_last_pid" {
	[ "$(id -u)" -eq 0 ] || skip "elsewhere: needs root to choose a pid"
	local pid
	meter -- "$WORK/samepid" last 3
	exact
	same status "$status" 0
	pid=$(truth pid)
	same codes "$(rows ".pid == $pid" | jq -c 'sort_by(.started) | map(.exit_code)')" "[10,11,12]"
	same processes "$(summary .usage.total_processes)" $((1 + $(truth forks)))
}

@test "case 28: three first processes of pid namespaces" {
	[ "$(id -u)" -eq 0 ] || skip "elsewhere: needs root to make a pid namespace"
	local pid
	meter -- "$WORK/samepid" ns 3
	exact
	same status "$status" 0
	same processes "$(summary .usage.total_processes)" 7
	same "pids as this namespace sees them" \
		"$(rows '.exit_code >= 10' | jq -c 'map(.pid) | unique | length')" 6
	while read -r pid; do
		[ "$(row ".pid == $pid" .exit_code)" -ge 10 ]
	done < <(sed -n 's/^pid=//p' out)
}

@test "case 32: 3 GiB through rchar" {
	local pid
	meter -- "$WORK/ioread" 3072 written 3
	exact
	pid=$(summary .run.pid)
	within rchar "$(row ".pid == $pid" .io.rchar)" "$(truth rchar)" $(($(truth rchar) + 65536))
	within "of the tree" "$(summary .usage.io.rchar)" $((3072 * MIB)) $((3073 * MIB))
	within syscr "$(row ".pid == $pid" .io.syscr)" "$(truth syscr)" $(($(truth syscr) + 8))
	same wchar "$(($(row ".pid == $pid" .io.wchar) / MIB))" $(($(truth wchar) / MIB))
	within written "$(row ".pid == $pid" .io.write_bytes)" "$(truth write_bytes)" \
		$(($(truth write_bytes) + 65536))
}

@test "case 32: what a child read is not its parent's" {
	meter -i 0.05 -- sh -c '"$0/ioread" 20 written 2; "$0/hold" idle=300; :' "$WORK"
	within "the shell's" "$(row '.comm == "sh"' .io.rchar)" 1 "$MIB"
}

@test "case 32: nothing sampled, hardly any time" {
	meter -i 0 -- "$WORK/tiny-nolibc"
	exact
	same samples "$(grep -c '"event":"sample"' run.journal)" 0
	same "peak cores" "$(summary .usage.peak_cpus)" null
	holds "mean cores" '.usage.mean_cpus == null or (.usage.mean_cpus >= 0 and .usage.mean_cpus < 100)'
	"$EXITMETER" --source="$SOURCE" -i 0 -- "$WORK/tiny-nolibc" 2>err >out
	cat err
	same "nan or inf" "$(grep -ciwE -- '-?nan|inf' err)" 0
}
