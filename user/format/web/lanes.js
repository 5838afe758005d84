// SPDX-License-Identifier: GPL-2.0-or-later
//
// lanes - where each process's bar stands: below its parent's, as high as there is room

// Of @rows with from and to, in the order of their starts; how many lanes there are.
function place(rows, parentOf, gap) {
	const free = []; // of each lane: from when on
	for (const row of rows) {
		const parent = parentOf(row);
		let lane = parent === null ? 0 : parent.lane + 1;
		while (lane < free.length && free[lane] > row.from)
			lane++;
		row.lane = lane;
		while (free.length < lane)
			free.push(0);
		free[lane] = Math.max(row.to, row.from + gap);
	}
	return free.length;
}

// A pid may come again: the parent is the one of that pid that had begun last.
export function placeProcesses(processes, end) {
	const order = [...processes].sort((a, b) => a.from - b.from || a.index - b.index);
	const latest = new Map();
	return place(order, (p) => {
		const parent = latest.get(p.ppid) ?? null;
		latest.set(p.pid, p);
		return parent && parent.to >= p.from ? parent : null;
	}, end / 2000);
}

export function placeStretches(stretches, end) {
	const rows = stretches.map((stretch) => ({ ...stretch, from: stretch.from ?? 0,
		to: stretch.to ?? end })).sort((a, b) => a.from - b.from);
	return { rows, lanes: place(rows, () => null, 0) };
}
