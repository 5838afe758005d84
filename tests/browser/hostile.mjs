#!/usr/bin/env node
// SPDX-License-Identifier: GPL-2.0-or-later
//
// hostile - a journal whose names and arguments try to get out of a page: from stdin to stdout
import { readFileSync } from 'node:fs';

const attack = '</script><script>window.hit=1</script><img src=x onerror="window.hit=2">';
const names = ['</script>', '<b>bold', '"><svg/onload', "'\"`${hit}", '{a|b}{c}', '\u001b[31mred', '\u202egnp.exe',
	'\u05d0\u05d1\u05d2', '&lt;b&gt;', '<!--', '=cmd|calc', '', '\u2028\u2029', '%s%n', '\ud83d\ude00'];

for (const text of readFileSync(0, 'utf8').split('\n').filter(Boolean)) {
	const line = JSON.parse(text);
	if (line.event === 'process') {
		const i = line.pid % names.length;
		line.comm = names[i];
		line.argv = [attack, ...names, 'x'.repeat(10000)];
	}
	if (line.event === 'run_start' || line.event === 'summary') {
		line.run.command = [attack, ...names];
		line.run.cwd = attack;
		line.run.labels = { [attack]: attack };
		line.env.cpu_model = attack;
		line.env.container = '\u202e<i>';
	}
	if (line.event === 'summary') {
		line.completeness.exact = false;
		line.completeness.reasons = [attack, '\u0007bell'];
		line.source.notes = [attack];
		line.source.hook = attack;
		for (const phase of line.phases)
			phase.name = attack;
		for (const attempt of line.attempts)
			attempt.id = `${attack}${attempt.id}`;
		for (const who of [...line.at_peak, ...line.groups])
			who.comm = names[Math.abs(who.pid ?? who.processes) % names.length];
	}
	process.stdout.write(`${JSON.stringify(line)}\n`);
}
