// SPDX-License-Identifier: GPL-2.0-or-later
// A benchmark runner that names its tests: 29 small ones in this process, one with a server that it
// starts in the first run.  usage: node runner.mjs RUNS SERVER [ARG...]
//
// The server is any program that prints a line once it is ready and ends when its stdin does.
import { spawn } from 'node:child_process';
import { createConnection } from 'node:net';
import { once } from 'node:events';

const [runs, server, ...args] = process.argv.slice(2);
const RUNS = Number(runs);

// The control channel: one line, one answer.  Without exitmeter every line is answered at once.
function channel(name) {
	if (!name?.startsWith('unix:'))
		return { tell: async () => {}, end() {} };
	const path = name.slice('unix:'.length).replace(/^@/, '\0');
	const socket = createConnection(path);
	const waiting = [];
	let rest = '';
	socket.on('data', (data) => {
		const lines = (rest + data).split('\n');
		rest = lines.pop();
		for (const line of lines)
			waiting.shift()(line);
	});
	return {
		async tell(line) {
			const answer = new Promise((resolve) => waiting.push(resolve));
			socket.write(line + '\n');
			if ((await answer) !== 'ack')
				throw new Error(`${line}: not acknowledged`);
		},
		end: () => socket.end(),
	};
}

const control = channel(process.env.EXITMETER_CONTROL);

async function test(id, { setup = () => {}, run, teardown = () => {} }) {
	const times = [];
	await control.tell(`attempt start ${id}`);
	await control.tell('reset-peak');
	await setup();
	await control.tell('phase setup');
	for (let k = 1; k <= RUNS; k++) {
		const start = process.hrtime.bigint();
		await run(k);
		times.push(process.hrtime.bigint() - start);
		await control.tell(`phase run ${k}/${RUNS}`);
	}
	await teardown();
	await control.tell(`attempt end ${id}`);
	return times;
}

for (let i = 1; i <= 29; i++) {
	let held;
	await test(`small-${i}`, {
		run() {
			held = new Float64Array(1000 * i).map((_, k) => Math.sqrt(k));
			return held[7];
		},
	});
}

let child;
await test('server', {
	async run(k) {
		if (k > 1)
			return;
		child = spawn(server, args, { stdio: ['pipe', 'pipe', 'inherit'] });
		await once(child.stdout, 'data');
	},
	async teardown() {
		child.stdin.end();
		await once(child, 'exit');
	},
});
control.end();
