// SPDX-License-Identifier: GPL-2.0-or-later
//
// table - the processes as rows: sorted, searched, one chosen.  Only the rows in sight exist.
import { endText, peakText } from './timeline.js';
import { bytesText, command, countText, exactBytesText, fineBytesText, foreign, list, make, momentText, plural,
	secondsText, telling } from './text.js';

const ROW = 26; // pixels; page.css has the same
const SPARE = 8;

const nothing = '–';
const orNothing = (value, text) => value === null ? nothing : text(value);

// Of each: its title, what to sort by, what to show; numbers the largest first.
const COLUMNS = [
	{ key: 'command', title: 'Command', sort: (p) => `${p.name}\u0000${(p.argv ?? []).join(' ')}`,
		show: (p) => commandCell(p) },
	{ key: 'pid', title: 'PID', number: true, rising: true, sort: (p) => p.pid,
		show: (p) => String(p.pid) },
	{ key: 'start', title: 'Start', number: true, rising: true, sort: (p) => p.started,
		show: (p) => orNothing(p.started, (s) => momentText(s, 1)) },
	{ key: 'time', title: 'Time', number: true, sort: (p) => p.duration,
		show: (p) => orNothing(p.duration, secondsText) },
	{ key: 'peak', title: 'Peak', number: true, sort: (p) => p.peak, show: (p) => peakText(p) },
	{ key: 'cpu', title: 'CPU', number: true, sort: (p) => p.cpu,
		show: (p) => orNothing(p.cpu, secondsText) },
	{ key: 'threads', title: 'Threads', number: true, sort: (p) => p.threads,
		show: (p) => orNothing(p.threads, countText) },
	{ key: 'end', title: 'End', sort: (p) => p.running ? 1000 : p.signal !== null ? p.signal + 300 : p.code,
		show: (p) => endCell(p) },
];

function commandCell(p) {
	return make('span', {}, foreign(p.name, { class: 'name' }), ' ',
		p.argv && p.argv.length > 1 ? command(telling(p.argv.slice(1), 50), 200, { class: 'words' }) : null);
}

function endCell(p) {
	return make('span', { class: p.failed ? 'bad' : null }, p.failed ? '✕ ' : '', endText(p));
}

// Unknown stands last, whichever way.
function compare(a, b, rising) {
	if (a === b)
		return 0;
	if (a === null || b === null)
		return a === null ? 1 : -1;
	return (a < b ? -1 : 1) * (rising ? 1 : -1);
}

class Table {
	constructor(run, view, timeline) {
		this.run = run;
		this.view = view;
		this.timeline = timeline;
		this.box = document.getElementById('table');
		this.search = document.getElementById('search');
		this.column = COLUMNS.find((column) => column.key === 'peak');
		this.rising = false;
		this.build();
		this.listen();
		this.filter();
	}

	build() {
		this.head = make('tr', { 'aria-rowindex': 1 });
		for (const column of COLUMNS) {
			const button = make('button', { type: 'button', 'data-sort': column.key,
				on: { click: () => this.sort(column) } }, column.title, make('i', { 'aria-hidden': 'true' }));
			this.head.append(make('th', { scope: 'col', class: column.number ? 'number' : null }, button));
		}
		this.above = make('tbody', { 'aria-hidden': 'true' }, make('tr', {}, make('td')));
		this.below = make('tbody', { 'aria-hidden': 'true' }, make('tr', {}, make('td')));
		this.body = make('tbody');
		this.table = make('table', {}, make('thead', {}, this.head), this.above, this.body, this.below);
		this.box.replaceChildren(this.table);
	}

	listen() {
		this.box.addEventListener('scroll', () => this.fill());
		new ResizeObserver(() => this.fill()).observe(this.box);
		this.box.addEventListener('keydown', (event) => this.key(event));
		this.body.addEventListener('click', (event) => {
			const row = event.target.closest('tr');
			if (row && row.process)
				this.view.choose(row.process);
		});
		this.search.addEventListener('input', () => this.filter());
		this.view.watch((what) => {
			if (what !== 'chosen')
				return;
			this.fill(true);
			this.showDetails();
		});
	}

	sort(column) {
		if (this.column === column)
			this.rising = !this.rising;
		else
			this.rising = column.rising ?? !column.number;
		this.column = column;
		this.order();
	}

	order() {
		const { sort } = this.column;
		const keys = new Map(this.shown.map((p) => [p, sort(p)]));
		this.shown.sort((a, b) => compare(keys.get(a), keys.get(b), this.rising) || a.index - b.index);
		for (const [i, cell] of [...this.head.children].entries()) {
			const mine = COLUMNS[i] === this.column;
			if (mine)
				cell.setAttribute('aria-sort', this.rising ? 'ascending' : 'descending');
			else
				cell.removeAttribute('aria-sort');
			cell.querySelector('i').textContent = mine ? (this.rising ? '▲' : '▼') : '';
		}
		this.box.scrollTop = 0;
		this.fill(true);
	}

	// Each word must be in the name, an argument, or be the pid.
	filter() {
		const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
		const matches = words.length === 0 ? null : (p) => {
			p.text ??= `${p.name} ${(p.argv ?? []).join(' ')}`.toLowerCase();
			return words.every((word) => p.text.includes(word) || String(p.pid) === word);
		};
		const all = this.run.processes;
		this.shown = matches ? all.filter(matches) : [...all];
		document.getElementById('found').textContent = matches ?
			`${countText(this.shown.length)} of ${countText(all.length)}` :
			plural(all.length, 'row') + (this.run.others.processes ?
				`; ${countText(this.run.others.processes)} smaller ones have none` : '');
		this.table.setAttribute('aria-rowcount', String(this.shown.length + 1));
		this.order();
		if (matches || this.view.matches)
			this.view.search(matches);
	}

	fill(anew = false) {
		const first = Math.max(Math.floor(this.box.scrollTop / ROW) - SPARE, 0);
		const count = Math.ceil((this.box.clientHeight || 400) / ROW) + 2 * SPARE;
		const last = Math.min(first + count, this.shown.length);
		if (!anew && first === this.first && last === this.last)
			return;
		this.first = first;
		this.last = last;
		this.above.firstChild.style.height = `${first * ROW}px`;
		this.below.firstChild.style.height = `${(this.shown.length - last) * ROW}px`;
		this.above.hidden = first === 0;
		this.below.hidden = last === this.shown.length;
		this.body.replaceChildren(...this.shown.slice(first, last).map((p, i) => this.row(p, first + i)));
	}

	row(p, i) {
		const row = make('tr', { 'aria-rowindex': i + 2,
			'aria-selected': p === this.view.chosen ? 'true' : null, class: i % 2 ? 'odd' : null });
		row.process = p;
		for (const column of COLUMNS)
			row.append(make('td', { class: column.number ? 'number' : null }, column.show(p)));
		return row;
	}

	key(event) {
		if (event.target !== this.box || event.ctrlKey || event.altKey || event.metaKey)
			return;
		const page = Math.max(Math.floor(this.box.clientHeight / ROW) - 2, 1);
		const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page,
			Home: -Infinity, End: Infinity };
		if (event.key === 'Enter' && this.view.chosen) {
			this.timeline.box.focus();
			this.timeline.reveal(this.view.chosen);
			return;
		}
		if (!(event.key in moves) || !this.shown.length)
			return;
		event.preventDefault();
		const at = this.view.chosen ? this.shown.indexOf(this.view.chosen) : -1;
		const to = Math.min(Math.max(at + moves[event.key], 0), this.shown.length - 1);
		this.view.choose(this.shown[to]);
		this.reveal(this.shown[to]);
	}

	reveal(p) {
		const at = this.shown.indexOf(p);
		if (at < 0)
			return;
		const top = at * ROW;
		const room = this.box.clientHeight - ROW;
		if (top < this.box.scrollTop)
			this.box.scrollTop = top;
		else if (top + ROW > this.box.scrollTop + room)
			this.box.scrollTop = top + ROW - room;
		this.fill(true);
	}

	// To a process from elsewhere on the page, though a search may hide it.
	goTo(p) {
		if (!this.shown.includes(p)) {
			this.search.value = '';
			this.filter();
		}
		this.view.choose(p);
		this.reveal(p);
		this.box.scrollIntoView({ block: 'nearest' });
		this.box.focus({ preventScroll: true });
	}

	lookFor(text) {
		this.search.value = text;
		this.filter();
		this.search.scrollIntoView({ block: 'nearest' });
		this.search.focus({ preventScroll: true });
	}

	showDetails() {
		const box = document.getElementById('details');
		const p = this.view.chosen;
		box.replaceChildren(...(p ? [this.details(p)] : []));
	}

	details(p) {
		const parent = this.run.processes.find((q) => q.pid === p.ppid && q.from <= p.from &&
			q.to >= p.from);
		return make('div', {},
			make('h3', {}, foreign(p.name), ` (pid ${p.pid})`),
			p.argv ? make('p', { class: 'words' }, command(p.argv, Infinity),
				p.argvCut ? ' … (cut here)' : null) :
				make('p', { class: 'quiet' }, 'No arguments are known: it never ran a program of its own.'),
			list([
				['parent', parent ? make('button', { type: 'button', class: 'link',
					on: { click: () => this.goTo(parent) } }, foreign(parent.name), ` (${p.ppid})`) :
					String(p.ppid ?? 'unknown')],
				['start', p.started === null ? null : momentText(p.started, 0.1)],
				['end', p.ended === null ? endText(p) : `${momentText(p.ended, 0.1)}, ${endText(p)}`],
				['peak memory', p.peak === null ? null :
					`${peakText(p)}: ${exactBytesText(p.peak)}, source ${p.peakSource ?? 'unknown'}`],
				['shared by fork', p.inherited ? bytesText(p.inherited) : null],
				['peak of virtual size', p.vm === null ? null : bytesText(p.vm)],
				['CPU', p.cpu === null ? null : `${secondsText(p.cpu)}: ` +
					`${secondsText(p.cpuUser)} user, ` +
					`${secondsText(p.cpuUser === null ? null : p.cpu - p.cpuUser)} system`],
				['programs run', p.execs === null ? null : countText(p.execs)],
				['threads', p.threads === null ? null : countText(p.threads)],
				['page faults', p.minorFaults === null ? null :
					`${countText(p.minorFaults)} minor, ${countText(p.majorFaults)} major`],
				['context switches', p.voluntary === null ? null :
					`${countText(p.voluntary)} voluntary, ${countText(p.involuntary)} not`],
				['disk', p.read === null ? null :
					`${fineBytesText(p.read)} read, ${fineBytesText(p.write)} written`],
				['notes', p.notes.length ? p.notes.join(', ') : null],
			], { class: 'facts' }));
	}
}

export function drawTable(run, view, timeline) {
	return new Table(run, view, timeline);
}
