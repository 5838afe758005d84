#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031
# The status line: at a terminal (tmux is one), in a pipe, and where it must not be.

load helpers

setup() {
	[ "$SOURCE" != bpf ] || [ "$(id -u)" -eq 0 ] || skip "the BPF source needs root"
	cd "$BATS_TEST_TMPDIR" || return 1
	SERVER=exitmeter-$$-$BATS_TEST_NUMBER
	unset TMUX CI NO_COLOR
	export EXITMETER SOURCE
}

teardown() {
	tmux -L "${SERVER%-wide}" kill-server 2>/dev/null || true
	tmux -L "${SERVER%-wide}-wide" kill-server 2>/dev/null || true
}

# screen WIDTH: a terminal with a shell in it
screen() {
	command -v tmux >/dev/null || skip "elsewhere: no tmux"
	[ -e /dev/ptmx ] || skip "elsewhere: no pseudo terminals"
	tmux -L "$SERVER" -f /dev/null new-session -d -x "$1" -y 24 -s t \
		"env PS1='$ ' TERM=\"\${SCREEN_TERM:-screen}\" bash --norc --noprofile" 3>&-
	until_true 20 shows '^\$'
}

keys() {
	tmux -L "$SERVER" send-keys -t t "$@"
}

shown() {
	tmux -L "$SERVER" capture-pane -p -t t "$@"
}

# shows PATTERN: a line of the screen is like that
shows() {
	shown | grep -E "$1" >/dev/null
}

STATUS='^exitmeter: [0-9:]+, .* now, peak .* processes, newest '

# status_row: the line is there, in the last row
status_row() {
	shown | sed -n 24p | grep -E "$STATUS" >/dev/null
}

@test "progress: a row of its own at 80 and 200 columns, gone at the end" {
	local width wide="$SERVER-wide" narrow="$SERVER"
	screen 80
	SERVER=$wide screen 200
	for SERVER in "$narrow" "$wide"; do
		keys 'clear; "$EXITMETER" --source="$SOURCE" sh -c "echo first; printf \"no newline: \"; while [ ! -e go ]; do sleep 0.2; done; echo last; exit 3"; echo "status $?"' Enter
	done
	for SERVER in "$narrow" "$wide"; do
		width=80
		[ "$SERVER" = "$narrow" ] || width=200
		until_true 30 status_row
		shown
		same "the command's own" "$(shown | sed -n 1,2p)" $'first\nno newline:'
		same "status rows" "$(shown | grep -cE "$STATUS")" 1
		[ "$(shown | sed -n 24p | wc -L)" -lt "$width" ]
	done
	touch go
	for SERVER in "$narrow" "$wide"; do
		until_true 30 shows '^status 3'
		shown
		same "status rows left" "$(shown | grep -cE "$STATUS")" 0
		same "the command's own" "$(shown | sed -n 1,2p)" $'first\nno newline: last'
		# all rows scroll again
		keys 'seq 100' Enter
		until_true 20 shows '^100$'
		same "the last rows" "$(shown | sed -n 23,24p)" $'100\n$'
	done
}

@test "progress: what the command writes is whole, however much" {
	screen 80
	tmux -L "$SERVER" set-option -g history-limit 5000
	tmux -L "$SERVER" new-window -t t:9 "env PS1='$ ' TERM=screen bash --norc --noprofile"
	tmux -L "$SERVER" select-window -t t:9
	keys 'clear; "$EXITMETER" --source="$SOURCE" sh -c "sleep 1.2; for i in 1 2 3 4; do seq 200; sleep 0.1; done"; echo "status $?"' Enter
	until_true 30 shows '^status 0'
	shown -S - | grep -E '^[0-9]+$' >numbers
	for _ in 1 2 3 4; do seq 200; done | cmp - numbers
	shown -S - | grep -vE '^([0-9]+|status 0|\$ *|exitmeter: (peak|tree|host|exits|sampled|cost).*|)$' >rest || true
	cat rest
	same "status rows, or parts of them" "$(grep -cE 'now,|newest|cores, ' rest)" 0
}

@test "progress: Ctrl-Z gives the row back, fg takes it again" {
	screen 80
	keys 'clear; "$EXITMETER" --source="$SOURCE" sh -c "while [ ! -e go ]; do sleep 0.2; done"' Enter
	until_true 30 status_row
	keys C-z
	until_true 20 shows 'Stopped'
	same "status rows" "$(shown | grep -cE "$STATUS")" 0
	keys fg Enter
	until_true 20 status_row
	touch go
	keys 'echo "ended with $?"' Enter
	until_true 30 shows '^ended with 0'
	same "status rows" "$(shown | grep -cE "$STATUS")" 0
}

@test "progress: not while a program has the keys, or a shell of its own is in front" {
	screen 80
	keys 'clear; "$EXITMETER" --source="$SOURCE" sh -c "stty -icanon; while [ ! -e go ]; do sleep 0.2; done; stty icanon; while [ ! -e end ]; do sleep 0.2; done"; echo "status $?"' Enter
	sleep 1.5 # nothing is to be waited for: that is the point
	same "status rows" "$(shown | grep -cE "$STATUS")" 0
	touch go
	until_true 20 status_row
	touch end
	until_true 30 shows '^status 0'
}

@test "progress: TERM=dumb, CI, --quiet and never: nothing; a short command: nothing" {
	screen 80
	cat >four <<-'EOF'
		CI=1 "$EXITMETER" --source="$SOURCE" sleep 1.4 &
		TERM=dumb "$EXITMETER" --source="$SOURCE" sleep 1.4 &
		"$EXITMETER" --progress=never --source="$SOURCE" sleep 1.4 &
		"$EXITMETER" -q --source="$SOURCE" sleep 1.4 &
		wait
		"$EXITMETER" --source="$SOURCE" true
	EOF
	keys 'clear; sh four; echo "status $?"' Enter
	for _ in $(seq 2000); do
		! shows '^status 0' || break
		! shows "$STATUS" || false
		sleep 0.05
	done
	shows '^status 0'
}

@test "progress: lines in a pipe with always, and none by itself" {
	local pids=()
	"$EXITMETER" -q --source="$SOURCE" -- sleep 1.2 2>auto 3>&- &
	pids+=($!)
	# without samples there is the time alone
	"$EXITMETER" -q -i 0 --source="$SOURCE" --progress=always -- sleep 1.2 2>timed 3>&- &
	pids+=($!)
	"$EXITMETER" -q --source="$SOURCE" --progress=always -- sh -c 'sleep 2.1; exit 4' >out 2>err ||
		status=$?
	wait "${pids[@]}"
	cat err timed
	same status "$status" 4
	within lines "$(grep -cE '^exitmeter: 0:0[1-9], ' err)" 1 4
	same "all lines" "$(wc -l <err)" "$(grep -cE '^exitmeter: [0-9:]+(, [^,]+)*, newest (sh|sleep)$' err)"
	same "bytes" "$(wc -c <auto)" 0
	grep -E '^exitmeter: 0:0[1-9](, newest sleep)?$' timed
	status=0
	"$EXITMETER" --progress=sometimes true 2>err || status=$?
	same status "$status" 125
	one_line err
}
