// SPDX-License-Identifier: GPL-2.0-or-later
//
// timeline - a bar for each process on a canvas, phases and attempts above, the rest counted below
import { LEFT, RIGHT } from './charts.js';
import { theme } from './colours.js';
import { placeProcesses, placeStretches } from './lanes.js';
import { bytesText, command, countText, cut, foreign, list, make, momentText, plain, plural, secondsText,
	tickText } from './text.js';

const RULER = 22;
const STRETCH = 16;
const OTHERS = 44;
const LANE_MOST = 18;
const LANE_LEAST = 5;
const HEIGHT_MOST = 460;
const STRETCHES_MOST = 6; // lanes of them

export function endText(p) {
	if (p.running)
		return 'still running';
	if (p.signal !== null)
		return `signal ${p.signal}${p.coreDumped ? ', core dumped' : ''}` +
			(p.oomKilled ? ', out of memory' : '');
	return p.code === null ? 'end unknown' : `exit ${p.code}`;
}

export function peakText(p) {
	return (p.peak === null ? 'unknown' : bytesText(p.peak)) +
		(p.peak === null || p.peakExact ? '' :
			p.peakError !== null && p.peakError > 0 ? ` ±${bytesText(p.peakError)}` : ' (not exact)');
}

function niceStep(span, most) {
	const rough = span / most;
	const power = 10 ** Math.floor(Math.log10(rough));
	return [1, 2, 5, 10].map((m) => m * power).find((step) => step >= rough);
}

class Timeline {
	constructor(run, view, colours, tip, onEnter) {
		this.run = run;
		this.view = view;
		this.colours = colours;
		this.tip = tip;
		this.onEnter = onEnter;
		this.box = document.getElementById('timeline');
		this.canvas = this.box.querySelector('canvas');
		this.spacer = this.box.querySelector('.height');
		this.lanes = placeProcesses(run.processes, run.end);
		this.byLane = Array.from({ length: this.lanes }, () => []);
		for (const p of [...run.processes].sort((a, b) => a.from - b.from))
			this.byLane[p.lane].push(p);
		this.order = [...run.processes].sort((a, b) => a.from - b.from || a.index - b.index);
		this.placed = placeStretches([...run.phases, ...run.attempts], run.end);
		this.stretchLanes = Math.min(this.placed.lanes, STRETCHES_MOST);
		this.top = RULER + this.stretchLanes * STRETCH + (this.stretchLanes ? 4 : 0);
		this.bottom = run.others.processes ? OTHERS : 0;
		this.hot = null;
		this.drag = null;
		this.name = null; // the one name that stands out
		this.listen();
		this.resize();
	}

	listen() {
		const { box, view } = this;
		this.view.watch(() => this.redraw());
		new ResizeObserver(() => this.resize()).observe(box);
		window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () =>
			this.redraw());
		box.addEventListener('scroll', () => this.redraw());
		box.addEventListener('wheel', (event) => {
			if (!event.ctrlKey && !event.metaKey)
				return;
			event.preventDefault();
			view.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.timeAt(this.spot(event).x));
		}, { passive: false });
		this.canvas.addEventListener('pointerdown', (event) => this.press(event));
		this.canvas.addEventListener('pointermove', (event) => this.move(event));
		this.canvas.addEventListener('pointerup', (event) => this.release(event));
		this.canvas.addEventListener('pointercancel', () => this.letGo());
		this.canvas.addEventListener('pointerleave', () => this.hover(null));
		this.canvas.addEventListener('dblclick', () => view.whole());
		box.addEventListener('keydown', (event) => this.key(event));
		box.addEventListener('blur', () => this.tip.hide());
	}

	resize() {
		const width = this.box.clientWidth;
		const room = HEIGHT_MOST - this.top - this.bottom;
		this.lane = Math.min(Math.max(Math.floor(room / Math.max(this.lanes, 1)), LANE_LEAST), LANE_MOST);
		const whole = this.top + this.lanes * this.lane + this.bottom + 6;
		this.height = Math.min(whole, HEIGHT_MOST);
		this.box.style.height = `${this.height}px`;
		this.spacer.style.height = `${whole - this.height}px`;
		if (width === this.width && this.height === this.drawnHeight)
			return;
		this.width = width;
		this.drawnHeight = this.height;
		const scale = window.devicePixelRatio || 1;
		this.canvas.width = Math.round(width * scale);
		this.canvas.height = Math.round(this.height * scale);
		this.canvas.style.width = `${width}px`;
		this.canvas.style.height = `${this.height}px`;
		this.redraw();
	}

	redraw() {
		if (this.asked)
			return;
		this.asked = true;
		requestAnimationFrame(() => {
			this.asked = false;
			this.draw();
		});
	}

	xOf(time) {
		const { from, to } = this.view;
		return LEFT + (time - from) / (to - from) * (this.width - LEFT - RIGHT);
	}

	timeAt(x) {
		const { from, to } = this.view;
		return from + (x - LEFT) / (this.width - LEFT - RIGHT) * (to - from);
	}

	yOf(lane) {
		return this.top + lane * this.lane - this.box.scrollTop;
	}

	spot(event) {
		const rect = this.canvas.getBoundingClientRect();
		return { x: event.clientX - rect.left, y: event.clientY - rect.top };
	}

	// The process under a point, a narrow one within some pixels.
	at({ x, y }) {
		if (y < this.top || y > this.height - this.bottom)
			return null;
		const lane = this.byLane[Math.floor((y - this.top + this.box.scrollTop) / this.lane)];
		let best = null;
		let bestFar = 4;
		for (const p of lane ?? []) {
			const far = Math.max(this.xOf(p.from) - x, x - Math.max(this.xOf(p.to), this.xOf(p.from) + 1), 0);
			if (far < bestFar) {
				best = p;
				bestFar = far;
			}
		}
		return best;
	}

	// The phase or attempt under a point.
	stretchAt({ x, y }) {
		const lane = Math.floor((y - RULER) / STRETCH);
		if (y < RULER || lane >= this.stretchLanes)
			return null;
		return this.placed.rows.find((s) => s.lane === lane && x >= this.xOf(s.from) - 1 &&
			x <= this.xOf(s.to) + 1) ?? null;
	}

	// --- drawing

	draw() {
		const c = this.canvas.getContext('2d');
		const scale = window.devicePixelRatio || 1;
		const look = theme();
		c.setTransform(scale, 0, 0, scale, 0, 0);
		c.clearRect(0, 0, this.width, this.height);
		c.textBaseline = 'middle';
		c.font = `11px ${look.font}`;
		c.save();
		c.beginPath();
		c.rect(LEFT, 0, this.width - LEFT - RIGHT, this.height - this.bottom);
		c.clip();
		this.drawBusy(c, look);
		c.save();
		c.beginPath();
		c.rect(LEFT, this.top, this.width, this.height - this.bottom - this.top);
		c.clip();
		this.drawBars(c, look);
		c.restore();
		this.drawStretches(c, look);
		c.restore();
		this.drawRuler(c, look);
		if (this.bottom)
			this.drawOthers(c, look);
		this.drawDrag(c, look);
	}

	drawRuler(c, look) {
		const { from, to } = this.view;
		const step = niceStep(to - from, Math.max((this.width - LEFT - RIGHT) / 110, 2));
		c.fillStyle = look.soft;
		c.strokeStyle = look.line;
		c.textAlign = 'center';
		for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
			const x = Math.round(this.xOf(at)) + 0.5;
			c.beginPath();
			c.moveTo(x, RULER - 5);
			c.lineTo(x, this.height - this.bottom);
			c.globalAlpha = 0.6;
			c.stroke();
			c.globalAlpha = 1;
			if (x > LEFT + 20 && x < this.width - RIGHT - 20)
				c.fillText(tickText(at, to - from), x, 8);
		}
		c.textAlign = 'left';
	}

	drawBusy(c, look) {
		const { busy } = this.run;
		if (busy?.verdict !== 'cotenant')
			return;
		const x = this.xOf(busy.at);
		c.globalAlpha = 0.18;
		c.fillStyle = look.warn;
		c.fillRect(x, RULER - 4, this.xOf(busy.at + (busy.seconds ?? 0)) - x, this.height);
		c.globalAlpha = 1;
	}

	drawStretches(c, look) {
		for (const s of this.placed.rows) {
			if (s.lane >= this.stretchLanes)
				continue;
			const x = Math.max(this.xOf(s.from), LEFT - 2);
			const w = Math.max(Math.min(this.xOf(s.to), this.width) - x, 1);
			const y = RULER + s.lane * STRETCH;
			c.fillStyle = look.phase;
			c.fillRect(x, y, w, STRETCH - 2);
			c.strokeStyle = look.soft;
			c.setLineDash(s.kind === 'attempt' ? [3, 2] : []);
			c.strokeRect(x + 0.5, y + 0.5, w - 1, STRETCH - 3);
			c.setLineDash([]);
			this.label(c, plain(s.name), x, y + STRETCH / 2 - 1, w, look.ink);
		}
	}

	label(c, text, x, y, w, colour) {
		const from = Math.max(x, LEFT) + 4;
		const room = Math.min(x + w, this.width - RIGHT) - from - 3;
		const fits = Math.floor(room / 6.2);
		if (fits < 2)
			return;
		c.fillStyle = colour;
		c.fillText(cut(text, fits), from, y);
	}

	// Of narrow bars beside each other one is drawn a pixel, so that thousands stay fluid.
	drawBars(c, look) {
		const { view } = this;
		const high = this.lane > 8 ? this.lane - 3 : this.lane - 1;
		for (let lane = 0; lane < this.lanes; lane++) {
			const y = this.yOf(lane);
			if (y + this.lane < this.top || y > this.height - this.bottom)
				continue;
			let last = -1;
			for (const p of this.byLane[lane]) {
				if (p.to < view.from || p.from > view.to)
					continue;
				const x = this.xOf(p.from);
				const w = Math.max(this.xOf(p.to) - x, 1);
				if (w <= 1 && Math.floor(x) === last && p !== view.chosen)
					continue;
				last = Math.floor(x + w);
				this.drawBar(c, look, p, x, y, w, high);
			}
		}
	}

	drawBar(c, look, p, x, y, w, high) {
		const faded = (this.view.matches && !this.view.matches(p)) ||
			(this.name !== null && p.name !== this.name);
		c.globalAlpha = faded ? 0.15 : 1;
		c.fillStyle = this.colours.of(p.name);
		c.fillRect(x, y, w > 3 ? w - 0.5 : w, high);
		if (p.failed && w >= 5) {
			c.fillStyle = look.paper;
			c.fillRect(x + w - 4, y, 1.5, high);
			c.fillStyle = look.warn;
			c.fillRect(x + w - 2.5, y, 2.5, high);
		}
		if (high >= 11)
			this.label(c, plain(p.name), x, y + high / 2 + 0.5, w - (p.failed ? 5 : 0), look.paper);
		c.globalAlpha = 1;
		if (p === this.view.chosen || p === this.hot) {
			c.strokeStyle = look.choice;
			c.lineWidth = p === this.view.chosen ? 3 : 1.5;
			c.strokeRect(x - 1, y - 1, w + 2, high + 2);
			c.lineWidth = 1;
		}
	}

	drawOthers(c, look) {
		const { others, othersEnd } = this.run;
		const most = Math.max(...others.alive, 1);
		const base = this.height - 4;
		const high = this.bottom - 20;
		c.fillStyle = look.paper;
		c.fillRect(0, this.height - this.bottom, this.width, this.bottom);
		c.save();
		c.beginPath();
		c.rect(LEFT, this.height - this.bottom, this.width - LEFT - RIGHT, this.bottom);
		c.clip();
		c.fillStyle = look.soft;
		others.alive.forEach((n, i) => {
			const x = this.xOf(i * othersEnd / others.alive.length);
			const w = this.xOf((i + 1) * othersEnd / others.alive.length) - x;
			c.fillRect(x, base - n / most * high, w + 0.5, n / most * high);
		});
		c.restore();
		c.fillStyle = look.ink;
		c.fillText(`${plural(others.processes, 'other process', 'other processes')}, at most ` +
			`${countText(most)} at about one time`, LEFT, this.height - this.bottom + 9);
	}

	drawDrag(c, look) {
		if (!this.drag || this.drag.pan || Math.abs(this.drag.x - this.drag.now) < 4)
			return;
		c.globalAlpha = 0.2;
		c.fillStyle = look.choice;
		c.fillRect(this.drag.x, 0, this.drag.now - this.drag.x, this.height);
		c.globalAlpha = 1;
	}

	// --- pointer and keys

	press(event) {
		if (event.button !== 0)
			return;
		const { x } = this.spot(event);
		this.drag = { x, now: x, pan: event.shiftKey, from: this.view.from, to: this.view.to };
		this.canvas.setPointerCapture(event.pointerId);
		this.tip.hide();
	}

	move(event) {
		const spot = this.spot(event);
		if (!this.drag) {
			this.hover(this.at(spot), event);
			this.hoverStretch(this.stretchAt(spot), event);
			return;
		}
		this.drag.now = spot.x;
		if (this.drag.pan) {
			const by = (this.drag.x - spot.x) / (this.width - LEFT - RIGHT) *
				(this.drag.to - this.drag.from);
			this.view.show(this.drag.from + by, this.drag.to + by);
		}
		this.redraw();
	}

	release(event) {
		const { drag } = this;
		this.letGo();
		if (!drag || drag.pan)
			return;
		if (Math.abs(drag.x - drag.now) < 4) {
			const p = this.at(this.spot(event));
			const stretch = this.stretchAt(this.spot(event));
			if (p)
				this.view.choose(p);
			else if (stretch)
				this.view.show(stretch.from, stretch.to);
			return;
		}
		this.view.show(this.timeAt(Math.min(drag.x, drag.now)), this.timeAt(Math.max(drag.x, drag.now)));
	}

	letGo() {
		this.drag = null;
		this.redraw();
	}

	hover(p, event) {
		if (p !== this.hot) {
			this.hot = p;
			this.redraw();
		}
		if (p && event)
			this.tip.show(processTip(p), event.clientX, event.clientY);
		else
			this.tip.hide();
	}

	hoverStretch(stretch, event) {
		if (stretch)
			this.tip.show(stretchTip(stretch, this.run), event.clientX, event.clientY);
	}

	key(event) {
		const { view } = this;
		const keys = {
			'+': () => view.zoom(0.5),
			'=': () => view.zoom(0.5),
			'-': () => view.zoom(2),
			0: () => view.whole(),
			ArrowLeft: () => view.move(event.shiftKey ? -0.8 : -0.2),
			ArrowRight: () => view.move(event.shiftKey ? 0.8 : 0.2),
			ArrowUp: () => this.step(-1),
			ArrowDown: () => this.step(1),
			Enter: () => view.chosen && this.onEnter(view.chosen),
			Escape: () => view.choose(null),
		};
		if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys))
			return;
		event.preventDefault();
		keys[event.key]();
	}

	// The next one by start of those that are not faded.
	step(by) {
		const { view, order } = this;
		let i = view.chosen ? order.indexOf(view.chosen) : by > 0 ? -1 : order.length;
		do
			i += by;
		while (order[i] && view.matches && !view.matches(order[i]));
		if (!order[i])
			return;
		view.choose(order[i]);
		this.reveal(order[i]);
		const rect = this.canvas.getBoundingClientRect();
		this.tip.show(processTip(order[i]), rect.left + Math.max(this.xOf(order[i].from), LEFT),
			rect.top + this.yOf(order[i].lane) + this.lane);
	}

	reveal(p) {
		const { view, box } = this;
		if (p.to < view.from || p.from > view.to)
			view.move(((p.from + p.to) / 2 - (view.from + view.to) / 2) / (view.to - view.from));
		const y = p.lane * this.lane;
		const room = this.height - this.top - this.bottom;
		if (y < box.scrollTop || y + this.lane > box.scrollTop + room)
			box.scrollTop = y - room / 2;
	}
}

function processTip(p) {
	return make('div', { class: 'tip' },
		make('div', { class: 'head' }, foreign(p.name), ` (pid ${p.pid})`),
		p.argv ? command(p.argv, 300, { class: 'words' }) : null,
		list([
			['peak', peakText(p)],
			['CPU', secondsText(p.cpu)],
			['time', p.started === null ? 'unknown' :
				`${secondsText(p.duration)} from ${momentText(p.started, 1)}`],
			['end', endText(p)],
		], { class: 'pairs' }));
}

function stretchTip(s, run) {
	return make('div', { class: 'tip' },
		make('div', { class: 'head' }, `${s.kind} `, foreign(cut(s.name, 200))),
		list([
			['peak', bytesText(s.usage?.peak_rss_bytes)],
			['CPU', secondsText(s.usage?.cpu_seconds)],
			['cores', s.usage?.peak_cpus === null || !s.usage ? null :
				`up to ${s.usage.peak_cpus.toFixed(1)}`],
			['time', `${secondsText(s.to - s.from)} from ${momentText(s.from, run.end)}`],
		], { class: 'pairs' }));
}

function drawNames(run, colours, timeline) {
	const box = document.getElementById('names');
	const chip = (name) => {
		const mark = make('i');
		mark.style.background = colours.of(name);
		const button = make('button', { type: 'button', 'aria-pressed': 'false', on: { click() {
			const on = timeline.name !== name;
			for (const other of box.querySelectorAll('button'))
				other.setAttribute('aria-pressed', String(on && other === button));
			timeline.name = on ? name : null;
			timeline.redraw();
		} } }, mark, foreign(name));
		return button;
	};
	const draw = () => box.replaceChildren(...colours.names.map(chip),
		...(colours.more ? [make('span', { class: 'quiet' },
			`and ${plural(colours.more, 'other name')} in grey`)] : []));
	draw();
	window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
}

export function drawTimeline(run, view, colours, tip, onEnter) {
	const timeline = new Timeline(run, view, colours, tip, onEnter);
	const { processes } = run.others;
	const failed = run.processes.filter((p) => p.failed).length;
	drawNames(run, colours, timeline);
	document.getElementById('timeline').setAttribute('aria-label',
		`${plural(run.processes.length, 'process', 'processes')} over ${momentText(run.end, 1)}`);
	document.getElementById('timeline-note').textContent = processes ?
		`${plural(run.processes.length, 'process', 'processes')} drawn, those with most memory or CPU, ` +
		`that failed or still run; ${countText(processes)} more are counted below them` :
		plural(run.processes.length, 'process', 'processes') +
			(failed ? `; ${countText(failed)} failed, with a red end` : '');
	return timeline;
}
