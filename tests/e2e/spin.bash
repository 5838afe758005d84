# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# spin - processes outside any tree that compute: `load spin` after helpers

SPINNERS=()

# spin [N]: N of them (1), until unspin; `spun` is the CPU that the first has used, ns
spin() {
	local i
	for ((i = 0; i < ${1:-1}; i++)); do
		"$WORK/burn" progress "$([ "$i" -gt 0 ] && echo spun.$i || echo spun)" 600000 3>&- &
		SPINNERS+=($!)
	done
	until_true 20 spins
}

spins() {
	[ -s spun ] && [ "$(word spun)" -gt 0 ]
}

unspin() {
	local pid
	for pid in "${SPINNERS[@]}"; do
		kill "$pid" 2>/dev/null || true
		wait "$pid" || true
	done
	SPINNERS=()
}

teardown() {
	unspin
	[ -z "$METER_PID" ] || kill -TERM "$METER_PID" 2>/dev/null || true
}
