#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# A person at a terminal: job control, Ctrl-Z, Ctrl-C, full-screen programs (terminal.py types).

load helpers

# scenario NAME: what terminal.py does under that name
scenario() {
	[ -x /usr/bin/python3 ] || skip "elsewhere: no /usr/bin/python3"
	[ -e /dev/ptmx ] || skip "elsewhere: no pseudo terminals"
	timeout 110 /usr/bin/python3 "$ROOT/tests/e2e/terminal.py" "$1" "$EXITMETER" "$SOURCE" 3>&-
}

@test "case 39, 40: Ctrl-Z, jobs, fg, bg, Ctrl-C of a metered command" {
	scenario sleep
	same "signal" "$(summary .run.exit_signal)" 2
	identities sum.json
}

@test "case 40: an interactive shell with jobs of its own" {
	scenario inner
	same "code" "$(summary .run.exit_code)" 37
	identities sum.json
	exits_needed "a row of each"
	same "the job that Ctrl-C ended" "$(row '.comm == "sleep"' .exit_signal)" 2
}

@test "case 40: an inner shell is suspended and goes on" {
	scenario suspended
}

@test "case 40: a command that stops only itself" {
	scenario alone
}

@test "case 40: a command that ignores Ctrl-Z" {
	scenario ignoring
}

@test "case 40: TSTP and CONT to exitmeter alone; a reader in the background" {
	scenario background
}

@test "case 40: read, stty and the window's size" {
	scenario reading
}

@test "case 40: full-screen programs" {
	scenario screen
}
