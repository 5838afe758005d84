# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# helpers - what the tests of packages share: `load helpers` first in each file
#
# Environment: B the build folder.

bats_require_minimum_version 1.5.0

ROOT=$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd)
B=${B:-$ROOT/build}
VERSION=$(sed -n 's/^VERSION := //p' "$ROOT/Makefile")

# maker ARGUMENT...: make in this repository; the flags of the make that runs the tests are not its business
maker() {
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s --no-print-directory -C "$ROOT" B="$B" "$@"
}

# tools_there TOOL...: or the test is skipped
tools_there() {
	local tool
	for tool in "$@"; do
		command -v "$tool" >/dev/null || skip "elsewhere: no $tool"
	done
}

# same NAME GOT WANTED
same() {
	[ "$2" = "$3" ] || {
		printf '%s: %s, not %s\n' "$1" "$2" "$3"
		return 1
	}
}
