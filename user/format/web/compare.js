// SPDX-License-Identifier: GPL-2.0-or-later
//
// compare - the page of several runs: what differs, how far their figures do, their memory over time
import { init } from 'echarts/core';

import { axis, even, LEFT, line, RIGHT, timeAxis } from './charts.js';
import { sideColour, theme } from './colours.js';
import { scrolled, table } from './facts.js';
import { bytesText, countText, cut, fineBytesText, foreign, make, plain, plural, secondsText }
	from './text.js';

const UNITS = {
	bytes: bytesText,
	seconds: secondsText,
	cores: (v) => v.toFixed(v > -9.95 && v < 9.95 ? 1 : 0),
	count: (v) => countText(Math.round(v)),
};
const DASHES = ['solid', 'dashed', 'dotted'];
const CURVES_MOST = 40;

const unitText = (figure) => figure.name.endsWith('disk') ? fineBytesText : UNITS[figure.unit];

function valueText(value, text) {
	if (!value.known)
		return '–';
	const range = value.known > 1 && text(value.least) !== text(value.most) ?
		` (${text(value.least)} to ${text(value.most)})` : '';
	return `${text(value.median)}${range}`;
}

// How far from the first side: a word says what the mark says.
function differenceCell(value, text) {
	if (value.by === null)
		return '–';
	if (value.by === 0)
		return 'none';
	const parts = [`${value.by < 0 ? '−' : '+'}${text(Math.abs(value.by))}`];
	if (value.share !== null)
		parts.push(`${value.share < 0 ? '−' : '+'}${Math.abs(value.share * 100).toFixed(1)} %`);
	if (value.noise !== null)
		parts.push(value.apart ? `noise ${text(value.noise)}` : 'ranges overlap');
	return make('span', { class: value.noise === null ? null : value.apart ? 'apart' : 'quiet' },
		parts.join(', '));
}

function sideName(side) {
	return make('span', {}, foreign(cut(side.name, 60)), side.runs > 1 ? ` (${plural(side.runs, 'run')})` : '');
}

function drawFigures(told) {
	const titles = [['Figure']];
	told.sides.forEach((side, i) => {
		titles.push([sideName(side), true]);
		if (i)
			titles.push(['against the first', true]);
	});
	const rows = told.figures.filter((figure) => figure.sides.some((value) => value.known)).map((figure) => {
		const text = unitText(figure);
		return [figure.name, ...figure.sides.flatMap((value, i) =>
			i ? [valueText(value, text), differenceCell(value, text)] : [valueText(value, text)])];
	});
	return scrolled('Figures', table(titles, rows), told.sides.length > 1 ? 'scroll whole' : 'scroll whole alone');
}

function drawDifferences(told) {
	const differing = told.facts.filter((fact) => fact.differs);
	if (!differing.length)
		return make('p', {}, 'Nothing that is recorded differs: the same machine, command and way of measuring.');
	return scrolled('What differs', table([['What'], ...told.sides.map((side) => [sideName(side)])],
		differing.map((fact) => [fact.name, ...fact.sides.map((text) =>
			foreign(cut(text, 300), { class: 'wrap' }))])));
}

function options(told, runs) {
	const colours = theme();
	const end = Math.max(...runs.flatMap((run) => run.marks.map(([at]) => at)), 1e-3);
	const largest = Math.max(...runs.flatMap((run) => run.marks.map(([, rss]) => rss ?? 0)));
	const seen = new Set();
	return {
		animation: false,
		textStyle: { fontFamily: colours.font, color: colours.ink },
		grid: [{ left: LEFT, right: RIGHT, top: 40, height: 260 }],
		xAxis: [timeAxis(0, { end }, colours, true, () => end)],
		yAxis: [axis(0, colours, 'resident memory', (v) => v === 0 ? '0' : bytesText(v),
			even(largest, largest >= 10 * 2 ** 30 ? 2 ** 30 : 2 ** 20, 5))],
		series: runs.map((run) => {
			const points = run.marks.filter(([, rss]) => rss !== null).map(([at, rss]) => [at, rss]);
			const first = !seen.has(run.side);
			seen.add(run.side);
			return line(run.name, points.length ? [[0, points[0][1]], ...points] : [], 0, {
				color: sideColour(run.side),
				width: first ? 2 : 1,
				type: DASHES[run.side % DASHES.length],
			}, { silent: true });
		}),
	};
}

function drawKey(told) {
	return make('div', { class: 'names' }, ...told.sides.map((side, i) => {
		const mark = make('i', { class: `dash ${DASHES[i % DASHES.length]}` });
		mark.style.borderTopColor = sideColour(i);
		return make('span', {}, mark, sideName(side));
	}));
}

function drawCurves(told) {
	const runs = told.runs.filter((run) => run.marks.some(([, rss]) => rss !== null)).slice(0, CURVES_MOST);
	if (!runs.length)
		return make('p', { class: 'quiet' }, 'No samples were taken of these runs.');
	const box = make('div', { class: 'curves', role: 'img', 'aria-label':
		`Resident memory of ${plural(runs.length, 'run')} over time` });
	const holder = make('div', {}, drawKey(told), box);
	const media = window.matchMedia('(prefers-color-scheme: dark)');
	requestAnimationFrame(() => {
		const chart = init(box, null, { renderer: 'canvas' });
		const draw = () => {
			holder.replaceChild(drawKey(told), holder.firstChild);
			chart.setOption(options(told, runs), true);
		};
		draw();
		media.addEventListener('change', draw);
		new ResizeObserver(() => chart.resize()).observe(box);
	});
	if (told.runs.length > runs.length)
		holder.append(make('p', { class: 'quiet' }, `${plural(runs.length, 'run')} of ` +
			`${countText(told.runs.length)} are drawn.`));
	return holder;
}

function section(title, ...content) {
	return make('section', {}, make('h2', {}, title), ...content);
}

function explained(told) {
	if (told.sides.length === 1)
		return 'Medians, with the least and the most of the runs.';
	if (told.runs.length === told.sides.length)
		return 'One run of each: how much of a difference is noise is not known. Repeats can be told by a label.';
	return 'Medians, with the least and the most of the runs of each side. Noise is half of what the runs ' +
		'of both sides lie apart; where ranges overlap there may be no difference.';
}

export function drawComparison(told) {
	const names = told.sides.map((side) => plain(cut(side.name, 60)));
	const title = names.length > 1 ? `${names[0]} compared with ${names.slice(1).join(', ')}` : names[0];
	document.title = `exitmeter: ${title}`;
	document.querySelector('.skip').remove();
	document.getElementById('version').textContent = plain(told.version);
	document.getElementById('command').replaceChildren(make('bdi', {}, title));
	document.getElementById('when').textContent = `${plural(told.runs.length, 'run')}${names.length > 1 ? ' compared' : ''}` +
		(told.by === null ? '' : `, repeats by their label ${plain(told.by)}`);
	document.querySelector('main').replaceChildren(
		section('What differs between them', drawDifferences(told)),
		section('Figures', make('p', { class: 'quiet' }, explained(told)),
		drawFigures(told)),
		section('Memory over time', drawCurves(told)));
}
