// SPDX-License-Identifier: GPL-2.0-or-later
//
// view - what of the run is looked at: one stretch of time, one process, one search; whoever draws
// is told of changes

// Of a run of @end seconds.
export function newView(end) {
	const watchers = [];
	const least = Math.max(end / 1e5, 1e-5);
	const view = {
		from: 0,
		to: end,
		end,
		chosen: null,
		matches: null, // of processes, a function; null: all

		watch(watcher) {
			watchers.push(watcher);
		},
		changed(what) {
			for (const watcher of watchers)
				watcher(what);
		},
		// As near to it as the run allows.
		show(from, to) {
			const span = Math.min(Math.max(to - from, least), end);
			const begin = Math.min(Math.max(from - Math.max(span - (to - from), 0) / 2, 0), end - span);
			if (Math.abs(begin - view.from) < least / 10 &&
			    Math.abs(begin + span - view.to) < least / 10)
				return;
			view.from = begin;
			view.to = begin + span;
			view.changed('time');
		},
		zoom(factor, around = (view.from + view.to) / 2) {
			view.show(around - (around - view.from) * factor, around + (view.to - around) * factor);
		},
		move(share) {
			const span = view.to - view.from;
			const from = Math.min(Math.max(view.from + span * share, 0), end - span);
			view.show(from, from + span);
		},
		whole() {
			view.show(0, end);
		},
		choose(process) {
			if (view.chosen === process)
				return;
			view.chosen = process;
			view.changed('chosen');
		},
		search(matches) {
			view.matches = matches;
			view.changed('search');
		},
	};
	return view;
}
