// SPDX-License-Identifier: GPL-2.0-or-later
//
// page - opens the pages of a folder, uses them, and compares what they show with the journals
import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const { chromium } = createRequire(join(process.env.MODULES, 'of.cjs'))('playwright-core');
const folder = process.argv[2];
const PAGE_BYTES_MOST = 1.2e6;
const SCRIPT_SECONDS_MOST = 1;

// --- TAP

let count = 0;
let failures = 0;

function ok(holds, label, got = '') {
	count++;
	failures += !holds;
	console.log(`${holds ? 'ok' : 'not ok'} ${count} - ${label}`);
	if (!holds && got !== '')
		console.log(`# got ${JSON.stringify(got)}`);
}

const same = (got, want, label) => ok(JSON.stringify(got) === JSON.stringify(want), label, { got, want });

// --- journals

function journal(name) {
	const events = readFileSync(join(folder, `${name}.journal`), 'utf8').split('\n').flatMap((text) => {
		try {
			return [JSON.parse(text)];
		} catch {
			return []; // half a line of one that was cut off
		}
	});
	return { rows: events.filter((e) => e.event === 'process'), summary: events.find((e) => e.event === 'summary') };
}

// As the text report has it.
function bytesText(bytes) {
	const mib = bytes / 2 ** 20;
	return `${mib.toFixed(mib < 9.95 ? 1 : 0)} MB`;
}

// --- pages

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM,
	args: process.getuid() === 0 ? ['--no-sandbox'] : [] });

// A page in a window of its own, with what went wrong in it.
async function open(name, colorScheme = 'light') {
	const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme });
	const wrong = [];
	const requests = [];
	page.on('console', (message) => wrong.push(message.text()));
	page.on('pageerror', (error) => wrong.push(error.message));
	page.on('dialog', (dialog) => wrong.push(`dialog ${dialog.message()}`) && dialog.dismiss());
	page.on('request', (request) => requests.push(request.url()));
	await page.goto(`file://${join(folder, `${name}.html`)}`);
	await page.waitForFunction(() => document.documentElement.dataset.readyMs !== undefined);
	await frame(page);
	return { page, wrong, requests, name };
}

const frame = (page) => page.evaluate(() => new Promise((done) =>
	requestAnimationFrame(() => requestAnimationFrame(() => done()))));

async function close({ page, wrong, requests, name }) {
	if (process.env.SHOTS)
		await page.screenshot({ path: join(process.env.SHOTS, `${name}.png`), fullPage: true });
	same(wrong, [], `${name}: no error, no message, no dialog`);
	same(requests.length, 1, `${name}: nothing was asked for but the page itself`);
	await page.close();
}

const textOf = (page, selector) => page.evaluate((s) => document.querySelector(s)?.textContent ?? null, selector);
const shownPids = (page) => page.evaluate(() =>
	[...document.querySelectorAll('#table tr[aria-rowindex] td:nth-child(2)')].map((cell) => Number(cell.textContent)));
const sortOf = (page, key) => page.evaluate((k) =>
	document.querySelector(`[data-sort=${k}]`).closest('th').getAttribute('aria-sort'), key);
const shownRange = (page) => textOf(page, '#zoom [role=status]');

// Whether these stand by a figure, as far as the page has it: times to the microsecond.
function inOrder(pids, rows, figure, rising) {
	const by = new Map(rows.map((row) => [row.pid, row[figure]]));
	const enough = figure.endsWith('_bytes') ? 0 : 2e-6;
	return pids.every((pid, i) => {
		const step = i === 0 ? 0 : by.get(pid) - by.get(pids[i - 1]);
		return rising ? step >= -enough : step <= enough;
	});
}

async function pictureOf(page, selector) {
	return page.evaluate((s) => document.querySelector(s).toDataURL(), selector);
}

// --- what is checked

async function checkFigures() {
	const { rows, summary } = journal('tree');
	const opened = await open('tree');
	const { page } = opened;
	const tiles = await textOf(page, '#tiles');
	const { usage } = summary;
	ok(tiles.includes(bytesText(usage.peak_rss_upper_bytes)), 'tiles: the peak', tiles);
	ok(tiles.includes(bytesText(usage.peak_rss_process_bytes)), 'tiles: the largest process', tiles);
	ok(tiles.includes(`up to ${usage.peak_cpus.toFixed(1)}`), 'tiles: cores', tiles);
	ok(tiles.includes(`Processes${usage.total_processes}`), 'tiles: processes', tiles);
	same(await page.getAttribute('#table table', 'aria-rowcount'), String(rows.length + 1), 'table: every row');
	const who = await page.evaluate(() => [...document.querySelectorAll('#peak tbody tr')].map((row) =>
		[Number(row.cells[1].textContent), row.cells[2].textContent]));
	same(who, [...summary.at_peak].sort((a, b) => b.rss_bytes - a.rss_bytes)
		.map((w) => [w.pid, bytesText(w.rss_bytes)]), 'who made the peak');
	const groups = await page.evaluate(() => [...document.querySelectorAll('#groups tbody tr')].map((row) =>
		[row.cells[0].textContent, Number(row.cells[1].textContent)]));
	same(groups, summary.groups.map((g) => [g.comm, g.processes]), 'by name');
	const stretches = await page.evaluate(() => [...document.querySelectorAll('#stretches tbody tr')].map((row) =>
		[row.cells[0].textContent, row.cells[1].textContent, row.cells[4].textContent]));
	same(stretches, [...summary.phases.map((p) => ['phase', p.name, bytesText(p.usage.peak_rss_bytes)]),
		...summary.attempts.map((a) => ['attempt', a.id, bytesText(a.usage.peak_rss_bytes)])],
	'phases and attempts');
	ok((await textOf(page, '#env')).includes(summary.env.kernel), 'the machine: its kernel');
	ok((await textOf(page, '#when')).includes('build=<first>'), 'a label is text');
	ok((await textOf(page, '#complete')).includes(`${summary.completeness.forks} were created`), 'completeness');
	await close(opened);
}

async function checkTable() {
	const { rows } = journal('tree');
	const opened = await open('tree');
	const { page } = opened;
	const peak = (pid) => rows.find((row) => row.pid === pid).peak_rss_bytes;
	let pids = await shownPids(page);
	ok(pids.length > 10 && inOrder(pids, rows, 'peak_rss_bytes', false), 'table: the largest first', pids);
	same(peak(pids[0]), Math.max(...rows.map((row) => row.peak_rss_bytes)), 'table: the largest is there');
	await page.click('[data-sort=cpu]');
	pids = await shownPids(page);
	ok(inOrder(pids, rows, 'cpu_seconds', false), 'a click sorts by CPU, most first', pids);
	same(await sortOf(page, 'cpu'), 'descending', 'and says so');
	await page.click('[data-sort=cpu]');
	ok(inOrder(await shownPids(page), rows, 'cpu_seconds', true), 'another click: least first');
	same(await sortOf(page, 'cpu'), 'ascending', 'and says so');
	await page.focus('[data-sort=start]');
	await page.keyboard.press('Enter');
	ok(inOrder(await shownPids(page), rows, 'started', true), 'a key sorts by start');

	await page.focus('#table');
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('ArrowDown');
	pids = await shownPids(page);
	const chosen = rows.find((row) => row.pid === pids[1]);
	const details = await textOf(page, '#details');
	ok(details.includes(`(pid ${chosen.pid})`), 'arrow keys choose a row', details);
	ok(details.includes(`${chosen.peak_rss_bytes.toLocaleString('en-US')} bytes`),
		'its details have the peak to the byte', details);
	await page.keyboard.press('End');
	await frame(page);
	const last = await shownPids(page);
	ok((await textOf(page, '#details')).includes(`(pid ${last[last.length - 1]})`), 'End goes to the last row');

	const want = rows.filter((row) => [row.comm, ...(row.argv ?? [])].join(' ').toLowerCase().includes('f3.c'));
	await page.fill('#search', 'F3.c');
	same(await textOf(page, '#found'), `${want.length} of ${rows.length}`, 'search: how many were found');
	same((await shownPids(page)).sort(), want.map((row) => row.pid).sort(), 'search: those that were');
	await page.fill('#search', String(chosen.pid));
	ok((await shownPids(page)).includes(chosen.pid), 'search: by pid');
	await page.fill('#search', 'no such word');
	same((await shownPids(page)).length, 0, 'search: nothing');
	await page.fill('#search', '');
	await page.click('#groups button');
	ok((await textOf(page, '#found')).includes(' of '), 'a click on a name searches for it');
	await close(opened);
}

async function checkTime() {
	const { rows, summary } = journal('tree');
	const opened = await open('tree');
	const { page } = opened;
	const canvas = page.locator('#timeline canvas');
	await canvas.scrollIntoViewIfNeeded();
	const before = await pictureOf(page, '#timeline canvas');
	let box = await canvas.boundingBox();
	await page.mouse.move(box.x + box.width * 0.3, box.y + 60);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * 0.5, box.y + 60, { steps: 4 });
	await page.mouse.up();
	await frame(page);
	const range = await shownRange(page);
	const [from, to] = range.split(' to ').map(parseFloat);
	const wall = summary.run.wall_seconds;
	ok(from > 0.2 * wall && to < 0.6 * wall && to > from, 'a drag zooms in', range);
	ok(before !== await pictureOf(page, '#timeline canvas'), 'and the timeline is drawn anew');
	await page.mouse.dblclick(box.x + box.width * 0.4, box.y + 60);
	same(await shownRange(page), '', 'a double click shows the whole run');

	await page.locator('#charts').scrollIntoViewIfNeeded();
	const charts = await page.locator('#charts').boundingBox();
	await page.mouse.move(charts.x + 500, charts.y + 150);
	await page.keyboard.down('Control');
	await page.mouse.wheel(0, -300);
	await page.keyboard.up('Control');
	await page.waitForFunction(() => document.querySelector('#zoom [role=status]').textContent !== '');
	ok(true, 'Ctrl and wheel on the curves zoom, for the timeline too');
	await page.click('#zoom button:last-of-type');
	same(await shownRange(page), '', 'a button shows the whole run');
	await page.mouse.move(charts.x + 500, charts.y + 150);
	await page.mouse.move(charts.x + 520, charts.y + 150);
	await page.waitForFunction(() => document.querySelector('#charts .tip') !== null);
	ok((await textOf(page, '#charts .tip')).includes('most resident'), 'the curves tell their values');

	await page.focus('#timeline');
	for (const key of ['+', '+', 'ArrowRight'])
		await page.keyboard.press(key);
	ok((await shownRange(page)) !== '', 'keys zoom and move');
	await page.keyboard.press('0');
	same(await shownRange(page), '', '0 shows the whole run');
	await page.keyboard.press('Escape'); // a click above may have chosen one
	await page.keyboard.press('ArrowDown');
	const root = rows.find((row) => row.pid === summary.run.pid);
	const tip = await textOf(page, '#tip');
	ok(tip.includes(`(pid ${root.pid})`) && tip.includes(bytesText(root.peak_rss_bytes)) && tip.includes('CPU'),
		'a key chooses the first process and tells of it', tip);
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('Enter');
	ok(await page.evaluate(() => document.activeElement.id === 'table' &&
		document.querySelector('#table tr[aria-selected=true]') !== null), 'Enter goes to its row');

	await canvas.scrollIntoViewIfNeeded();
	box = await canvas.boundingBox();
	const lanes = 22 + 2 * 16 + 4; // the ruler, phases, attempts
	await page.mouse.move(box.x + 1, box.y + 1);
	await page.mouse.click(box.x + box.width / 2, box.y + lanes + 5);
	ok((await textOf(page, '#details')).includes(`(pid ${root.pid})`), 'a click on a bar chooses its process',
		await textOf(page, '#details'));
	ok((await textOf(page, '#tip')).includes(root.comm), 'and the pointer tells of it');
	await page.mouse.move(box.x + box.width / 2, box.y + 22 + 8);
	ok((await textOf(page, '#tip')).startsWith('phase check'), 'the pointer tells of a phase',
		await textOf(page, '#tip'));
	await page.click('#stretches tbody tr:first-child button');
	ok((await shownRange(page)) !== '', 'a click on a phase shows it');
	await close(opened);
}

function contrast(a, b) {
	const light = (colour) => {
		const [r, g, blue] = colour.match(/\d+/g).map((v) => {
			const c = Number(v) / 255;
			return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
		});
		return 0.2126 * r + 0.7152 * g + 0.0722 * blue;
	};
	const [low, high] = [light(a), light(b)].sort((x, y) => x - y);
	return (high + 0.05) / (low + 0.05);
}

async function checkColours() {
	const seen = {};
	for (const scheme of ['light', 'dark']) {
		const opened = await open('tree', scheme);
		const { page } = opened;
		const colours = await page.evaluate(() => ['body', '.quiet', '.good', 'section', 'button.link'].map((s) => {
			const element = document.querySelector(s);
			let behind = element;
			while (getComputedStyle(behind).backgroundColor === 'rgba(0, 0, 0, 0)')
				behind = behind.parentElement;
			return [s, getComputedStyle(element).color, getComputedStyle(behind).backgroundColor];
		}));
		for (const [selector, ink, paper] of colours)
			ok(contrast(ink, paper) >= 4.5, `${scheme}: ${selector} can be read`, [ink, paper]);
		seen[scheme] = await pictureOf(page, '#charts canvas');
		if (scheme === 'light') {
			await page.emulateMedia({ colorScheme: 'dark' });
			await frame(page);
			ok(await pictureOf(page, '#charts canvas') !== seen.light, 'the curves change with the scheme');
		}
		opened.name = `tree-${scheme}`;
		await close(opened);
	}
	ok(seen.light !== seen.dark, 'light and dark are two pictures');
}

async function checkMany() {
	const { rows } = journal('many');
	const bytes = statSync(join(folder, 'many.html')).size;
	ok(rows.length >= 3000, 'many: 3,000 processes', rows.length);
	ok(bytes <= PAGE_BYTES_MOST, `many: the page is at most ${PAGE_BYTES_MOST / 1e6} MB`, bytes);
	const opened = await open('many');
	const { page } = opened;
	const client = await page.context().newCDPSession(page);
	await client.send('Performance.enable');
	await page.reload();
	await page.waitForFunction(() => document.documentElement.dataset.readyMs !== undefined);
	await frame(page);
	opened.requests.pop();
	const { metrics } = await client.send('Performance.getMetrics');
	const script = metrics.find((m) => m.name === 'ScriptDuration').value;
	ok(script <= SCRIPT_SECONDS_MOST, `many: at most ${SCRIPT_SECONDS_MOST} s of script`, script);
	console.log(`# ${bytes} bytes, ${(script * 1000).toFixed(0)} ms of script`);
	await page.click('[data-sort=pid]');
	await page.focus('#table');
	await page.keyboard.press('End');
	await frame(page);
	same((await shownPids(page)).pop(), Math.max(...rows.map((row) => row.pid)), 'many: the last row can be reached');
	ok(await page.evaluate(() => document.querySelectorAll('#table tr').length) < 120,
		'many: only rows in sight exist');
	await close(opened);
}

async function checkHostile() {
	const { rows } = journal('hostile');
	const opened = await open('hostile');
	const { page } = opened;
	same(await page.evaluate(() => window.hit ?? null), null, 'hostile: nothing was run');
	same(await page.evaluate(() => document.querySelectorAll('img, svg, iframe, main b:not(dd b), i i').length), 0,
		'hostile: no element of theirs');
	same(await page.getAttribute('#table table', 'aria-rowcount'), String(rows.length + 1), 'hostile: every row');
	for (const name of ['\\u202egnp.exe', '</script>', '\\x1b[31mred'])
		ok((await textOf(page, 'main')).includes(name), `hostile: ${name} is shown as it is`);
	await page.focus('#table');
	await page.keyboard.press('ArrowDown');
	await page.focus('#timeline');
	await page.keyboard.press('ArrowDown');
	const harmful = await page.evaluate(() => {
		const bad = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/u;
		const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
		const out = [];
		while (walker.nextNode())
			if (walker.currentNode.parentElement.tagName !== 'SCRIPT' && bad.test(walker.currentNode.data))
				out.push(walker.currentNode.data.slice(0, 80));
		return [...out, ...(bad.test(document.title) ? [document.title] : [])];
	});
	same(harmful, [], 'hostile: no control character or direction mark is shown');
	await page.locator('#charts').scrollIntoViewIfNeeded();
	const charts = await page.locator('#charts').boundingBox();
	await page.mouse.move(charts.x + 500, charts.y + 150);
	await page.mouse.move(charts.x + 520, charts.y + 150);
	await page.waitForFunction(() => document.querySelector('#charts .tip') !== null);
	same(await page.evaluate(() => window.hit ?? null), null, 'hostile: nor with a tooltip over a phase');
	await close(opened);
}

async function checkCompare() {
	const figure = (name) => journal(name).summary.usage.peak_rss_process_bytes;
	const median = (side) => (figure(`${side}1`) + figure(`${side}2`)) / 2;
	const opened = await open('compare');
	const { page } = opened;
	const cells = await page.evaluate(() => [...document.querySelectorAll('tbody tr')]
		.map((row) => [...row.cells].map((cell) => cell.textContent))
		.find(([name]) => name === 'largest process'));
	ok(cells[1].startsWith(bytesText(median('old'))) && cells[2].startsWith(bytesText(median('new'))),
		'compare: the medians', cells);
	ok(cells[3].startsWith(`+${bytesText(median('new') - median('old'))}, +`) && cells[3].includes('noise'),
		'compare: the difference and its noise', cells);
	ok((await textOf(page, 'main section:first-child')).includes('populate=60'), 'compare: what differs');
	ok((await textOf(page, 'h1')).includes('<b>new'), 'compare: a name is text');
	await page.waitForSelector('.curves canvas');
	await close(opened);
}

async function checkOthers() {
	const short = await open('short');
	ok(!await short.page.isHidden('#charts-none') || !await short.page.isHidden('#charts'),
		'short: curves, or why there are none');
	await close(short);
	const cut = await open('cut');
	ok((await textOf(cut.page, '#badges')).includes('cut off'), 'cut: a badge says so');
	ok((await textOf(cut.page, '#warnings')).includes('the journal was cut off'), 'cut: and a warning');
	await close(cut);
}

try {
	for (const check of [checkFigures, checkTable, checkTime, checkColours, checkMany, checkHostile, checkCompare,
		checkOthers])
		try {
			await check();
		} catch (error) {
			ok(false, `${check.name}: ${error.message.split('\n')[0]}`);
		}
} finally {
	await browser.close();
}
console.log(`1..${count}`);
process.exitCode = failures ? 1 : 0;
