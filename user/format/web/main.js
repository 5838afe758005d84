// SPDX-License-Identifier: GPL-2.0-or-later
//
// main - the page of one run, or of several that are compared
import { drawCharts } from './charts.js';
import { nameColours } from './colours.js';
import { drawComparison } from './compare.js';
import { readRun } from './data.js';
import { drawFacts } from './facts.js';
import { drawTable } from './table.js';
import { make, momentText } from './text.js';
import { drawTimeline } from './timeline.js';
import { newView } from './view.js';

// A box beside the pointer, inside of the window.
function newTip() {
	const box = document.getElementById('tip');
	return {
		show(content, x, y) {
			box.replaceChildren(content);
			box.hidden = false;
			const { width, height } = box.getBoundingClientRect();
			const left = x + 14 + width > window.innerWidth ? x - 14 - width : x + 14;
			const top = y + 14 + height > window.innerHeight ? y - 14 - height : y + 14;
			box.style.left = `${Math.max(left, 4)}px`;
			box.style.top = `${Math.max(top, 4)}px`;
		},
		hide() {
			box.hidden = true;
		},
	};
}

function drawZoom(view) {
	const button = (text, label, act) => make('button', { type: 'button', title: label,
		'aria-label': label, on: { click: act } }, text);
	const said = make('span', { class: 'quiet', role: 'status' });
	document.getElementById('zoom').append(said,
		button('+', 'Zoom in', () => view.zoom(0.5)),
		button('−', 'Zoom out', () => view.zoom(2)),
		button('◂', 'Earlier', () => view.move(-0.4)),
		button('▸', 'Later', () => view.move(0.4)),
		button('Whole run', 'Show the whole run', () => view.whole()));
	const say = () => {
		const span = view.to - view.from;
		said.textContent = span < view.end * 0.999 ?
			`${momentText(view.from, span)} to ${momentText(view.to, span)}` : '';
	};
	view.watch((what) => what === 'time' && say());
	say();
}

function drawRun(told) {
	const run = readRun(told);
	const view = newView(run.end);
	const colours = nameColours(run);
	let table = null; // drawn last
	const goTo = (process) => table.goTo(process);
	drawFacts(run, view, colours, { goTo, search: (text) => table.lookFor(text) });
	drawZoom(view);
	drawCharts(run, view);
	const timeline = drawTimeline(run, view, colours, newTip(), goTo);
	table = drawTable(run, view, timeline);
}

const begun = performance.now();
const told = JSON.parse(document.getElementById('data').textContent);
if (told.format.startsWith('exitmeter.comparison/'))
	drawComparison(told);
else
	drawRun(told);
document.documentElement.dataset.readyMs = (performance.now() - begun).toFixed(1);
