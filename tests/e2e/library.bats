#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# libexitmeter as others use it: installed, found by pkg-config, called from C, Python and Node

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

MIB700=734003200
MARKS='[[6,-1,0,-1],[5,104857600,0.9,0.9],[4,314572800,2.8,1.9],[3,262144000,4.6,1.8],[2,838860800,8.5,3.9],[1,125829120,8.7,0.2],[0.5,-1,9,-1]]'

setup_file() {
	export PREFIX=$BATS_FILE_TMPDIR/prefix
	export PKG_CONFIG_PATH=$PREFIX/lib/pkgconfig
	# A shell's make flags are not the library's business.
	env -u MAKEFLAGS -u MFLAGS make -s -C "$ROOT" install-lib PREFIX="$PREFIX" \
		B="$BATS_FILE_TMPDIR/build"
	# shellcheck disable=SC2046 # a list of words
	"${CC:-cc}" -Wall -Wextra -Werror "$ROOT/tests/lib/share.c" -o "$BATS_FILE_TMPDIR/share" \
		$(pkg-config --cflags --libs libexitmeter) -Wl,-rpath,"$PREFIX/lib"
}

# The same figures as in SPEC 1.10, E1, with what doubles make of them.
e1() {
	jq -es 'map([.peak_rss_bytes / 1048576, .cpu_seconds, .peak_cpus]) as $got |
		[[300, 3.52, 1.9], [800, 4.96, 3.9], [120, 0.01, 0.2], [120, 0.31, 0.2]] as $want |
		($got | length) == 4 and
		all(range(4) as $i | range(3) as $k |
			($got[$i][$k] - $want[$i][$k]) | fabs < 1e-9; .)'
}

@test "C: E1 through pkg-config and the shared library" {
	ldd "$BATS_FILE_TMPDIR/share" | grep 'libexitmeter\.so\.1 => '"$PREFIX" >/dev/null
	printf '%s\n' "$MARKS" "$MIB700" '1 5.8 3.5' '2 3.5 1.2' '3 1.15 1.1' '4 1.05 -1' |
		"$BATS_FILE_TMPDIR/share" >got
	cut -f 1 got | e1
	[ "$(sed -n 2p got | cut -f 2)" = 'peak 800 MB, CPU 5.0 s on up to 3.9 cores' ]
}

@test "C: the same through the archive" {
	# shellcheck disable=SC2046 # a list of words
	"${CC:-cc}" "$ROOT/tests/lib/share.c" -o share $(pkg-config --cflags libexitmeter) \
		"$PREFIX/lib/libexitmeter.a" -lm
	printf '%s\n' "$MARKS" "$MIB700" '1 5.8 3.5' '2 3.5 1.2' '3 1.15 1.1' '4 1.05 -1' |
		./share | cut -f 1 | e1
}

@test "C: marks that are none are refused in words" {
	status=0
	printf '[[1,2,3]]\n0\n' | "$BATS_FILE_TMPDIR/share" 2>err || status=$?
	[ "$status" -eq 1 ]
	[ "$(cat err)" = 'marks: a mark is not four numbers, its second an integer' ]
}

@test "Python: a meter of its own through ctypes, E1" {
	python3 "$ROOT/tests/lib/share.py" "$PREFIX/lib/libexitmeter.so.1" >got
	[ "$(sed -n 1p got | jq -c 'map(.[0:2])')" = "$(jq -c 'map(.[0:2])' <<<"$MARKS")" ]
	sed 1d got | e1
}

# node_share THROUGH
node_share() {
	jq -n --argjson marks "$MARKS" --argjson max "$MIB700" '{marks: $marks, max_rss: $max,
		attempts: [{id: 1, started: 5.8, ended: 3.5}, {id: 2, started: 3.5, ended: 1.2},
			{id: 3, started: 1.15, ended: 1.1}, {id: 4, started: 1.05, ended: -1}]}' |
		SHARE_THROUGH=$1 node "$ROOT/tests/lib/share.mjs" "$PREFIX/lib/libexitmeter.so.1" \
			"$BATS_FILE_TMPDIR/share"
}

@test "Node: E1 through a program" {
	command -v node || skip "elsewhere: node is not installed"
	node_share program >got
	e1 <got
	[ "$(jq -s -c 'map(.id)' got)" = '[1,2,3,4]' ]
}

@test "Node: E1 through koffi" {
	command -v node || skip "elsewhere: node is not installed"
	node_share koffi >got 2>err || {
		[ "$(cat err)" = 'koffi is not installed' ] || cat err
		[ "$(cat err)" = 'koffi is not installed' ]
		skip "elsewhere: koffi is not installed"
	}
	e1 <got
}

# example N: of exitmeter(3), as a reader would copy it
example() {
	sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/p' "$ROOT/doc/exitmeter.3" |
		awk -v n="$1" '/^\.Ed/ { on = 0 } on; /^\.Bd/ { on = ++count == n }' | sed 's/\\e/\\/g' >"$1.c"
	# shellcheck disable=SC2046 # a list of words
	"${CC:-cc}" -Wall -Wextra -Werror "$1.c" -o "$1" $(pkg-config --cflags --libs libexitmeter) \
		-Wl,-rpath,"$PREFIX/lib"
}

@test "C: the examples of exitmeter(3)" {
	example 1
	./1 "$WORK/hold" touch=50 >got
	cat got
	grep -E '^peak 5[0-9] MB, CPU [0-9.]+ s' got
	run ! ./1
	example 2
	./2 >got
	diff got - <<-'EOF'
		attempt 1: peak 100 MB, CPU 2.7 s on up to 1.8 cores
		attempt 2: peak 250 MB, CPU 6.3 s on up to 1.8 cores
	EOF
}

@test "the library exports its interface, versioned, and nothing else" {
	nm -D --defined-only "$PREFIX/lib/libexitmeter.so.1" | awk '$2 == "T" { print $3 }' | sort >got
	grep -oE '\bem_[a-z_]+\(' "$PREFIX/include/exitmeter.h" | sed 's/($/@@EXITMETER_1/' |
		sort -u >want
	[ "$(wc -l <want)" -ge 20 ]
	diff got want
	readelf -d "$PREFIX/lib/libexitmeter.so.1" | grep 'SONAME.*\[libexitmeter\.so\.1\]' >/dev/null
}
