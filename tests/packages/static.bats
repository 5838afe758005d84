#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2153
# make dist-static: one archive for any Linux from 5.10 on

load helpers

setup_file() {
	maker dist-static 2>"$BATS_FILE_TMPDIR/said" >"$BATS_FILE_TMPDIR/archive" || {
		cat "$BATS_FILE_TMPDIR/said"
		return 1
	}
	tar -xzf "$(tail -n 1 "$BATS_FILE_TMPDIR/archive")" -C "$BATS_FILE_TMPDIR"
	HERE=$BATS_FILE_TMPDIR/exitmeter-$VERSION-linux-$(uname -m)
	export HERE
}

@test "static: the programs need no library and no loader" {
	local program
	for program in bin/exitmeter libexec/exitmeter/exitmeter-report; do
		readelf -lW "$HERE/$program" >"$BATS_TEST_TMPDIR/headers"
		grep LOAD "$BATS_TEST_TMPDIR/headers"
		run ! grep -E 'INTERP|RWE' "$BATS_TEST_TMPDIR/headers"
		grep GNU_RELRO "$BATS_TEST_TMPDIR/headers"
	done
}

@test "static: FILES names every file, and each library that is linked in has its licence" {
	local name
	diff <(cd "$HERE" && find bin libexec share ! -type d | LC_ALL=C sort) "$HERE/FILES"
	# exitmeter is made of these, whatever else the archives bring
	for name in libbpf libelf libcap-ng libjson-c zlib libc6 libgcc; do
		compgen -G "$HERE/share/doc/exitmeter/linked/$name*" || {
			echo "no licence of $name"
			return 1
		}
	done
	if grep -q 'Apache ECharts' "$HERE/libexec/exitmeter/exitmeter-report"; then
		grep -F 'Apache License' "$HERE/share/doc/exitmeter/linked/echarts"
		[ -s "$HERE/share/doc/exitmeter/linked/zrender" ]
	fi
}

@test "static: it meters and reports in a root that has nothing else" {
	[ "$(id -u)" -eq 0 ] || skip "chroot needs root"
	local root=$BATS_TEST_TMPDIR/root
	mkdir -p "$root"/{proc,tmp}
	cp -R "$HERE" "$root/e"
	unshare -m sh -ec 'mount -t proc proc "$0/proc"
		chroot "$0" /e/bin/exitmeter --source=ptrace -q --json /tmp/sum.json --journal /tmp/journal -- \
			/e/bin/exitmeter --version >"$1/out"
		chroot "$0" /e/bin/exitmeter report /tmp/journal >"$1/report" 2>&1' "$root" "$BATS_TEST_TMPDIR"
	same "the command" "$(cat "$BATS_TEST_TMPDIR/out")" "exitmeter $VERSION"
	same "exit" "$(jq -c .run.exit_code "$root/tmp/sum.json")" 0
	grep '1 process' "$BATS_TEST_TMPDIR/report"
}

@test "static: unpacked, installed and removed on Linux 5.10" {
	local status=0
	(cd "$ROOT" && tools/vm 5.10 'sh /tests/vm/packed.sh') >"$BATS_TEST_TMPDIR/out" 2>&1 || status=$?
	[ "$status" -ne 77 ] || skip "elsewhere: $(tail -n 1 "$BATS_TEST_TMPDIR/out")"
	cat "$BATS_TEST_TMPDIR/out"
	same "status" "$status" 0
	[ "$(grep -c '^ok .*the static archive' "$BATS_TEST_TMPDIR/out")" -ge 5 ]
}
