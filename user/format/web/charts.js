// SPDX-License-Identifier: GPL-2.0-or-later
//
// charts - memory with its bounds and cores over time, phases and attempts shaded
import { LineChart } from 'echarts/charts';
import { AxisPointerComponent, DataZoomInsideComponent, DataZoomSliderComponent, GridComponent,
	MarkAreaComponent, MarkLineComponent, TooltipComponent } from 'echarts/components';
import { init, use } from 'echarts/core';
import { CanvasRenderer } from 'echarts/renderers';

import { theme } from './colours.js';
import { bytesText, coresText, countText, cut, make, momentText, plain, rangeText, tickText } from './text.js';

use([LineChart, AxisPointerComponent, DataZoomInsideComponent, DataZoomSliderComponent, GridComponent,
	MarkAreaComponent, MarkLineComponent, TooltipComponent, CanvasRenderer]);

// Of the charts and the timeline alike, so that their times stand above each other.
export const LEFT = 72;
export const RIGHT = 24;

const SHADED_MOST = 60;

// A value holds from the sample before to its own: a step that begins at the one before.
function steps(samples, key) {
	const points = samples.filter((s) => s[key] !== null).map((s) => [s.at, s[key]]);
	return points.length ? [[0, points[0][1]], ...points] : [];
}

// Between two samples that are far apart: the cores used on average.
function means(samples) {
	const known = samples.filter((s) => s.cpu_seconds !== null);
	const points = [];
	let before = { at: 0, cpu_seconds: 0 };
	for (const s of known) {
		if (s.at > before.at)
			points.push([s.at, Math.max(s.cpu_seconds - before.cpu_seconds, 0) / (s.at - before.at)]);
		before = s;
	}
	return points.length ? [[0, points[0][1]], ...points] : [];
}

// The bounds of the peak so far, up to the summary's own at the end.
function bounds(run) {
	const { usage } = run.summary;
	const points = run.samples.filter((s) => s.lower_bytes !== null && s.upper_bytes !== null)
		.map((s) => [s.at, s.lower_bytes, Math.max(s.upper_bytes, s.lower_bytes)]);
	if (usage.peak_rss_lower_bytes !== null && usage.peak_rss_upper_bytes !== null &&
	    !(points.length && points[points.length - 1][0] >= run.end))
		points.push([run.end, usage.peak_rss_lower_bytes, usage.peak_rss_upper_bytes]);
	return points.length ? [[0, points[0][1], points[0][2]], ...points] : [];
}

// @label: null, or [text, line]; it is left out while its area is narrow.
function areaOf(stretch, run, view, style, label) {
	const from = Math.max(stretch.from ?? 0, 0);
	const to = Math.min(stretch.to ?? run.end, run.end);
	const width = () => (Math.min(to, view.to) - Math.max(from, view.from)) / (view.to - view.from) * 1100;
	return [{
		name: stretch.name,
		xAxis: from,
		itemStyle: style,
		label: label ? {
			offset: [0, label[1] * 14],
			formatter: () => width() < label[0].length * 6.5 ? '' : label[0],
		} : { show: false },
	}, { xAxis: to }];
}

// What is shaded behind the curves; labels stand in the upper chart alone.
function shades(run, view, colours, labels) {
	const text = (name, line) => labels ? [cut(plain(name), 24), line] : null;
	const areas = [];
	if (run.phases.length <= SHADED_MOST)
		run.phases.forEach((phase, i) => areas.push(areaOf(phase, run, view, {
			color: colours.phase,
			opacity: i % 2 ? 0.45 : 0.9,
		}, text(phase.name, 0))));
	if (run.attempts.length <= SHADED_MOST)
		for (const attempt of run.attempts)
			areas.push(areaOf(attempt, run, view, {
				color: colours.phase,
				opacity: 0.5,
				borderColor: colours.soft,
				borderWidth: 1,
				borderType: 'dashed',
			}, text(attempt.name, 1)));
	if (run.busy?.verdict === 'cotenant') {
		const from = run.busy.at;
		areas.push(areaOf({ name: 'busy', from, to: from + (run.busy.seconds ?? 0) }, run, view, {
			color: colours.warn,
			opacity: 0.18,
			borderColor: colours.warn,
			borderWidth: 1,
			borderType: 'dotted',
		}, text('host busy', 2)));
	}
	return {
		silent: true,
		label: { color: colours.ink, position: 'insideTopLeft', distance: 4, fontSize: 11 },
		data: areas,
	};
}

function peakLine(run, colours) {
	const at = run.summary.usage.peak_rss_at_seconds;
	return {
		silent: true,
		symbol: 'none',
		lineStyle: { color: colours.ink, type: 'solid', width: 1 },
		label: { formatter: 'peak', color: colours.ink, fontSize: 11, position: 'end' },
		data: at === null ? [] : [{ xAxis: at }],
	};
}

export function line(name, data, grid, style, more = {}) {
	return {
		name,
		type: 'line',
		xAxisIndex: grid,
		yAxisIndex: grid,
		data,
		step: 'start',
		symbol: 'none',
		sampling: 'max',
		lineStyle: style,
		itemStyle: { color: style.color },
		emphasis: { disabled: true },
		...more,
	};
}

function memorySeries(run, view, colours) {
	const both = bounds(run);
	const thin = { color: colours.soft, width: 1, type: 'dashed' };
	return [
		line('lower', both.map(([at, lower]) => [at, lower]), 0, thin,
			{ stack: 'bounds', sampling: null, markLine: peakLine(run, colours) }),
		line('upper', both.map(([at, lower, upper]) => [at, upper - lower]), 0,
			{ ...thin, type: 'dotted' },
			{ stack: 'bounds', sampling: null, areaStyle: { color: colours.band, opacity: 1 } }),
		line('resident', steps(run.samples, 'rss_bytes'), 0, { color: colours.memory, width: 2 }, {
			areaStyle: { color: colours.memory, opacity: 0.15 },
			markArea: shades(run, view, colours, true),
		}),
		line('share', steps(run.samples, 'pss_bytes'), 0, { color: colours.good, width: 2, type: 'dashed' }),
	];
}

function coreSeries(run, view, colours) {
	const most = steps(run.samples, 'cpus');
	const area = { areaStyle: { color: colours.cores, opacity: 0.18 },
		markArea: shades(run, view, colours, false) };
	const solid = { color: colours.cores, width: 2 };
	if (run.stride === 1)
		return [line('cores', most, 1, solid, area)];
	return [
		line('cores', means(run.samples), 1, solid, area),
		line('most cores', most, 1, { color: colours.cores, width: 1, type: 'dotted' }),
	];
}

// At even numbers of @unit, whatever the largest value is.
export function even(largest, unit, most) {
	const rough = Math.max(largest / unit, 1e-9) / most;
	const power = 10 ** Math.floor(Math.log10(rough));
	const interval = [1, 2, 5, 10].map((m) => m * power).find((step) => step >= rough) * unit;
	return { interval, max: Math.ceil(Math.max(largest, 1e-9) * 1.04 / interval) * interval };
}

export function axis(grid, colours, text, label, scale) {
	return {
		gridIndex: grid,
		type: 'value',
		min: 0,
		...scale,
		name: text,
		nameLocation: 'end',
		nameGap: 12,
		nameTextStyle: { color: colours.soft, align: 'left', padding: [0, 0, 0, -LEFT + 12] },
		axisLabel: { color: colours.soft, formatter: label },
		splitLine: { lineStyle: { color: colours.line } },
		axisLine: { show: false },
		axisTick: { show: false },
	};
}

export function timeAxis(grid, run, colours, labelled, span) {
	return {
		gridIndex: grid,
		type: 'value',
		min: 0,
		max: run.end,
		axisLabel: {
			show: labelled,
			color: colours.soft,
			hideOverlap: true,
			showMinLabel: false,
			showMaxLabel: false,
			formatter: (at) => tickText(at, span()),
		},
		axisLine: { lineStyle: { color: colours.soft } },
		splitLine: { show: false },
	};
}

// The first sample at or after a moment, whose values hold there; null behind the last.
function sampleAt(samples, at) {
	let low = 0;
	let high = samples.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (samples[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return samples[low] ?? null;
}

function tooltip(run, span, at) {
	const s = sampleAt(run.samples, at);
	const row = (term, value) => value === null ? null :
		make('div', { class: 'pair' }, make('span', {}, term), make('b', {}, value));
	const known = (value, text) => value === null ? null : text(value);
	const box = make('div', { class: 'tip' }, make('div', { class: 'head' },
		s ? `up to ${momentText(s.at, span())}` : `${momentText(at, span())}: behind the last sample`));
	if (s)
		box.append(...[
			row('most resident', known(s.rss_bytes, bytesText)),
			row('shared pages once', known(s.pss_bytes, bytesText)),
			row('peak so far', s.lower_bytes === null || s.upper_bytes === null ? null :
				rangeText(s.lower_bytes, s.upper_bytes)),
			row('cores', known(s.cpus, coresText)),
			row('CPU so far', known(s.cpu_seconds, (v) => `${v.toFixed(2)} s`)),
			row('processes', known(s.processes, countText)),
			row('threads', known(s.threads, countText)),
		].filter(Boolean));
	for (const stretch of [...run.phases, ...run.attempts])
		if (at >= stretch.from && at <= (stretch.to ?? run.end))
			box.append(row(stretch.kind, cut(plain(stretch.name), 40)));
	return box;
}

function options(run, view) {
	const colours = theme();
	const span = () => view.to - view.from;
	const { usage } = run.summary;
	const largestBytes = Math.max(usage.peak_rss_upper_bytes ?? 0, ...run.samples.map((s) =>
		Math.max(s.rss_bytes ?? 0, s.upper_bytes ?? 0)));
	const largestCores = Math.max(...run.samples.map((s) => s.cpus ?? 0));
	return {
		animation: false,
		textStyle: { fontFamily: colours.font, color: colours.ink },
		grid: [
			{ left: LEFT, right: RIGHT, top: 40, height: 230 },
			{ left: LEFT, right: RIGHT, top: 318, height: 96 },
		],
		xAxis: [timeAxis(0, run, colours, false, span), timeAxis(1, run, colours, true, span)],
		yAxis: [
			axis(0, colours, 'resident memory', (v) => v === 0 ? '0' : bytesText(v), even(largestBytes, largestBytes >= 10 * 2 ** 30 ?
				2 ** 30 : 2 ** 20, 5)),
			axis(1, colours, 'busy cores', coresText, even(largestCores, 1, 3)),
		],
		axisPointer: { link: [{ xAxisIndex: 'all' }], label: { show: false },
			lineStyle: { color: colours.soft } },
		tooltip: {
			trigger: 'axis',
			confine: true,
			backgroundColor: colours.paper,
			borderColor: colours.soft,
			textStyle: { color: colours.ink, fontFamily: colours.font },
			formatter: (params) => tooltip(run, span, params[0].axisValue),
		},
		dataZoom: [
			{ type: 'inside', xAxisIndex: [0, 1], filterMode: 'none', zoomOnMouseWheel: 'ctrl',
				startValue: view.from, endValue: view.to, minSpan: 1e-3 },
			{ type: 'slider', xAxisIndex: [0, 1], filterMode: 'none', left: LEFT, right: RIGHT,
				top: 444, height: 24, showDataShadow: false, brushSelect: false, minSpan: 1e-3,
				startValue: view.from, endValue: view.to, borderColor: colours.line,
				fillerColor: colours.band, handleStyle: { color: colours.paper,
					borderColor: colours.soft },
				textStyle: { color: colours.soft },
				labelFormatter: (at) => tickText(at, run.end) },
		],
		series: [...memorySeries(run, view, colours), ...coreSeries(run, view, colours)],
	};
}

// What the picture shows, for those who do not see it.
function description(run) {
	const { usage } = run.summary;
	return `Resident memory and busy cores over ${momentText(run.end, 1)}. Peak between ` +
		`${bytesText(usage.peak_rss_lower_bytes)} and ${bytesText(usage.peak_rss_upper_bytes)}, ` +
		`at most ${coresText(usage.peak_cpus)} cores.`;
}

function drawKey(element, run) {
	const entry = (kind, text) => make('span', { class: `entry ${kind}` }, make('i', {}), text);
	element.append(entry('resident', run.stride === 1 ? 'most resident since the sample before' :
		`most resident of ${run.stride} samples`));
	if (bounds(run).length)
		element.append(entry('bounds',
			'the peak so far lies between the dashed (seen) and the dotted line (cannot be passed)'));
	if (run.samples.some((s) => s.pss_bytes !== null))
		element.append(entry('pss', 'shared pages counted once (PSS), where it was read'));
	element.append(entry('cores', run.stride === 1 ? 'busy cores' :
		`busy cores; dotted: the most of ${run.stride} samples`));
	if (run.phases.length > SHADED_MOST || run.attempts.length > SHADED_MOST)
		element.append(entry('none', 'too many phases or attempts to shade: see their table'));
}

export function drawCharts(run, view) {
	const element = document.getElementById('charts');
	if (!run.samples.length) {
		const none = document.getElementById('charts-none');
		none.hidden = false;
		none.textContent = 'No sample was taken: the run was shorter than the time between two, or ' +
			'none were asked for. What is known of it is below.';
		element.hidden = true;
		return;
	}
	drawKey(document.getElementById('key'), run);
	element.setAttribute('aria-label', description(run));
	const chart = init(element, null, { renderer: 'canvas' });
	let ours = false;
	chart.setOption(options(run, view));
	chart.on('datazoom', () => {
		const [zoom] = chart.getOption().dataZoom;
		if (!ours)
			view.show(zoom.startValue, zoom.endValue);
	});
	view.watch((what) => {
		if (what !== 'time')
			return;
		ours = true;
		chart.dispatchAction({ type: 'dataZoom', startValue: view.from, endValue: view.to });
		ours = false;
	});
	window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () =>
		chart.setOption(options(run, view), true));
	new ResizeObserver(() => chart.resize()).observe(element);
}
