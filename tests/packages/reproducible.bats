#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# The same sources make the same bytes, wherever and by whomever they are built.

load helpers

setup_file() {
	maker dist >"$BATS_FILE_TMPDIR/archive"
	archive=$(tail -n 1 "$BATS_FILE_TMPDIR/archive")
	export ONE=$BATS_FILE_TMPDIR/one OTHER=$BATS_FILE_TMPDIR/quite/another
	export PAGE_BUILT=
	[ ! -s "$ROOT/build/web/page.html" ] || PAGE_BUILT=$ROOT/build/web/page.html
	for dir in "$ONE" "$OTHER"; do
		mkdir -p "$dir"
		tar -xzf "$archive" -C "$dir" --strip-components=1
	done
}

# both TARGET...: in both folders, the other with another umask, time zone, home and language
both() {
	(cd "$ONE" && alone make -s -j2 NPM= PAGE="$PAGE_BUILT" "$@")
	(
		umask 077
		cd "$OTHER" && TZ=Asia/Kathmandu LC_ALL=C HOME=/nowhere USER=somebody alone make -s NPM= PAGE="$PAGE_BUILT" "$@"
	)
}

alone() {
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u B DEB_BUILD_OPTIONS=nocheck "$@" >"$BATS_TEST_TMPDIR/said" 2>&1 || {
		tail -n 20 "$BATS_TEST_TMPDIR/said"
		return 1
	}
}

# alike PATTERN: what it names in both folders' build/ is there, and the same
alike() {
	local file n=0
	for file in "$ONE"/build/$1; do
		cmp "$file" "$OTHER/${file#"$ONE/"}"
		n=$((n + 1))
	done
	[ "$n" -gt 0 ]
}

# no_path FILE...: they do not say where they were built
no_path() {
	run ! grep -Fl -e "$ONE" -e "$OTHER" "$@"
}

@test "reproducible: the sources, packed from what was unpacked" {
	both dist
	alike 'dist/exitmeter-*.tar.gz'
	cmp "$ONE/build/dist/exitmeter-$VERSION.tar.gz" "$(tail -n 1 "$BATS_FILE_TMPDIR/archive")"
}

@test "reproducible: the static archive, the objects for the kernel, the library" {
	both all dist-static
	alike 'dist/exitmeter-*-linux-*.tar.gz'
	alike 'bpf/*.bpf.o'
	alike 'lib/libexitmeter.*'
	alike 'exitmeter*[a-z]'
	no_path "$ONE"/build/exitmeter "$ONE"/build/exitmeter-[a-z]* "$ONE"/build/static/exitmeter* "$ONE"/build/bpf/*.bpf.o
}

@test "reproducible: the page" {
	[ -n "$PAGE_BUILT" ] || skip "elsewhere: built without the page"
	node "$OTHER/user/format/web/build.mjs" "$ROOT/build/web/node_modules" "$BATS_TEST_TMPDIR/page.html"
	cmp "$BATS_TEST_TMPDIR/page.html" "$PAGE_BUILT"
}

@test "reproducible: Debian's packages, and their sources" {
	tools_there dpkg-buildpackage dh
	both deb
	alike 'deb/*.deb'
	alike 'deb/*.dsc'
	alike 'deb/*.tar.xz'
	same "packages" "$(find "$ONE/build/deb" -name '*.deb' ! -name '*dbgsym*' | wc -l)" 6
}
