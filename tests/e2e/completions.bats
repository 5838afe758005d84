#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2034
# Completions for bash, zsh and fish: every option of every --help is there, and what options take.

load helpers

setup_file() {
	export MADE=$BATS_FILE_TMPDIR/completions
	"$ROOT/tools/completions" "${EXITMETER%/*}" "$MADE"
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

# options COMMAND...: of its --help, long ones
options() {
	"$EXITMETER" "$@" --help | sed -nE 's/^  (-.,|   ) (--[a-z-]+).*/\2/p' | sort
}

COMMANDS=$(for name in report record serve span suggest host doctor; do
	! "$EXITMETER" "$name" --help >/dev/null 2>&1 || echo "$name"
done)

# offered WORD...: what bash offers for the last word of this line
offered() {
	bash --norc --noprofile -c '. "$MADE/exitmeter"
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
		_exitmeter
		printf "%s\n" "${COMPREPLY[@]}"' bash "$@" | sort
}

@test "completions: bash offers each option of each command" {
	local command
	offered exitmeter -- >got
	diff <(options) got
	for command in $COMMANDS; do
		diff <(options "$command") <(offered exitmeter "$command" -- | sed '/^$/d')
	done
}

@test "completions: bash: values, subcommands, and the command's own" {
	touch here.json
	same "kinds" "$(offered exitmeter --report ma)" markdown
	same "kinds, with =" "$(offered exitmeter --report = ma)" markdown
	same "nothing typed" "$(offered exitmeter report --sort '' | xargs)" "cpu peak start"
	same "a file" "$(offered exitmeter -o he)" here.json
	same "a number" "$(offered exitmeter -n '')" ""
	offered exitmeter rep | grep -x report
	same "the command's file" "$(offered exitmeter -o x -- cat he)" here.json
	same "the command's file" "$(offered exitmeter -n 3 cat he)" here.json
	offered exitmeter -- tru | grep -x true
	same "a journal" "$(offered exitmeter report --sort cpu he)" here.json
}

@test "completions: zsh has each option, and takes its file" {
	local command
	command -v zsh >/dev/null || skip "elsewhere: no zsh"
	zsh -n "$MADE/_exitmeter"
	for command in exitmeter $COMMANDS; do
		sed -n "/^_exitmeter_of_$command()/,/^}/p" "$MADE/_exitmeter" |
			{ grep -oE "'--[a-z-]+" || true; } | tr -d "'" | sort >got
		# shellcheck disable=SC2046 # none for exitmeter itself
		diff <(options $([ "$command" = exitmeter ] || echo "$command")) got
	done
	# loaded as zsh would, with a stub for what it calls
	zsh -f -c 'compdef() { : }; _arguments() { print -l -- "$@" >args }; . "$MADE/_exitmeter"' </dev/null
	grep -F -- '--source=[where exits come from' args
}

@test "completions: fish offers each option, subcommands, and the command's own" {
	local command
	command -v fish >/dev/null || skip "elsewhere: no fish"
	export HOME=$PWD
	fish -n "$MADE/exitmeter.fish"
	for command in '' $COMMANDS; do
		fish -c 'source $MADE/exitmeter.fish; complete -C "exitmeter $argv --"' "$command" |
			cut -f 1 | sort >got
		# shellcheck disable=SC2086 # none for exitmeter itself
		diff <(options $command) <(grep -E '^--' got)
	done
	same "values" "$(fish -c 'source $MADE/exitmeter.fish; complete -C "exitmeter report --sort "' | cut -f 1 | xargs)" \
		"cpu peak start"
	fish -c 'source $MADE/exitmeter.fish; complete -C "exitmeter -n 3 rep"' | grep ^report
	touch here.json
	fish -c 'source $MADE/exitmeter.fish; complete -C "exitmeter -n 3 cat her"' | grep ^here.json
}
