// SPDX-License-Identifier: GPL-2.0-or-later
//
// live - opens the page of exitmeter serve, gives it the token, and watches a run end
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const { chromium } = createRequire(join(process.env.MODULES, 'of.cjs'))('playwright-core');
const [, , address, go, children] = process.argv;
const PATIENCE = { timeout: 60000 };

let count = 0;
let failures = 0;

function ok(holds, label, got = '') {
	count++;
	failures += !holds;
	console.log(`${holds ? 'ok' : 'not ok'} ${count} - ${label}`);
	if (!holds && got !== '')
		console.log(`# got ${JSON.stringify(got)}`);
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM,
	args: process.getuid() === 0 ? ['--no-sandbox'] : [] });
const page = await browser.newPage();
const wrong = [];
const others = [];
page.on('console', (message) => wrong.push(message.text()));
page.on('pageerror', (error) => wrong.push(error.message));
page.on('dialog', (dialog) => wrong.push(`dialog ${dialog.message()}`) && dialog.dismiss());
page.on('request', (request) => request.url().startsWith(address) || others.push(request.url()));

const shown = (text) => page.waitForFunction((t) => document.body.innerText.includes(t), text, PATIENCE)
	.then(() => true, () => false);
const stateOf = (text) => page.evaluate((t) => [...document.querySelectorAll('section')]
	.find((s) => s.innerText.includes(t))?.querySelector('.state').textContent ?? null, text);

await page.goto(address);
await page.waitForSelector('#token:visible', PATIENCE);
ok(await page.evaluate(() => document.querySelectorAll('section').length) === 0, 'nothing of a run without the token');
// What a browser says of the 401s is no fault of the page's.
ok(wrong.every((w) => w.includes('401')), 'no message but that', wrong);
wrong.length = 0;
await page.fill('#token', 'secret');
await page.click('button');
ok(await shown('a.journal'), 'the runs, with the token');
await page.waitForSelector('#ask', { state: 'hidden', ...PATIENCE });
wrong.length = 0;
ok(await shown('processes that failed: 1'), 'a run that ended');
ok(await shown('<img src=x onerror=alert(1)>'), 'names as text');
ok(await page.evaluate(() => document.querySelectorAll('img').length) === 0, 'and as nothing else');
ok(await shown('\\u001b[31m'), 'control characters as escapes');
await page.waitForFunction(() => [...document.querySelectorAll('section')].some((s) =>
	s.innerText.includes('b.journal') && s.querySelector('path.rss')?.getAttribute('d').includes('L')), undefined, PATIENCE);
ok(await stateOf('b.journal') === 'live', 'a run that goes on, with its curve', await stateOf('b.journal'));
await page.evaluate(() => [...document.querySelectorAll('section')]
	.find((s) => s.innerText.includes('a.journal')).querySelector('details').setAttribute('open', ''));
writeFileSync(go, 'x\n');
ok(await page.waitForFunction(() => [...document.querySelectorAll('section')].some((s) =>
	s.innerText.includes('b.journal') && s.querySelector('.state').textContent === 'ended' &&
	/wall [^,]+, 2 processes, exit 4/.test(s.innerText)), undefined, PATIENCE).then(() => true, () => false), 'its end');
ok(await page.evaluate(() => [...document.querySelectorAll('section')]
	.find((s) => s.innerText.includes('a.journal')).querySelector('details').open), 'what was opened stays open');
ok(await shown('c.journal'), 'a scheduler');
writeFileSync(children, 'x\n');
ok(await shown('Runs that ended last, of 3'), 'and the runs of its children');
ok(wrong.length === 0, 'no error, no message, no dialog', wrong);
ok(others.length === 0, 'nothing was asked of others', others);
await browser.close();
console.log(`1..${count}`);
process.exit(failures ? 1 : 0);
