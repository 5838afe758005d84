#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# Random histories, acted out by processes that tell the truth about themselves (tests/model).

load helpers

# acted SOURCE: some tens of them under it
acted() {
	local model=${EXITMETER%/*}/model/act_model
	{ [ -x "$model" ] && [ -x "$WORK/static/act" ]; } || skip "elsewhere: $model is not built (make check-model ACT=1)"
	run "$model" -s "$1" "$EXITMETER" "$WORK/static/act" 1 25
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "histories acted out: bpf" {
	acted bpf
}

@test "histories acted out: ptrace" {
	acted ptrace
}

@test "histories acted out: proc" {
	acted proc
}
