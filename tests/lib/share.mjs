// SPDX-License-Identifier: GPL-2.0-or-later
// A caller of libexitmeter in Node: through koffi where that package is installed, else through a
// program beside it.  usage: node share.mjs LIBRARY PROGRAM
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';

const [library, program] = process.argv.slice(2);
// stdin: {"marks":[[age,rss,cpu,cpus],...],"max_rss":N,"attempts":[{"id","started","ended"},...]}
const chunks = [];
for await (const chunk of process.stdin)
	chunks.push(chunk);
const { marks, max_rss, attempts } = JSON.parse(Buffer.concat(chunks).toString());

function throughProgram() {
	const input = [
		JSON.stringify(marks),
		max_rss,
		...attempts.map((a) => `${a.id} ${a.started} ${a.ended}`),
	].join('\n');
	const done = spawnSync(program, { input: input + '\n', encoding: 'utf8' });
	if (done.status !== 0)
		throw new Error(done.stderr);
	return done.stdout.trimEnd().split('\n').map((line) => JSON.parse(line.split('\t')[0]));
}

function throughKoffi(koffi) {
	const em = koffi.load(library);
	koffi.struct('em_mark', { at: 'double', rss: 'int64', cpu: 'double', cpus: 'double' });
	koffi.struct('em_span', { id: 'int64', started: 'double', ended: 'double' });
	const usage = koffi.struct('em_usage', {
		peak_rss_bytes: 'int64',
		cpu_seconds: 'double',
		peak_cpus: 'double',
	});
	const attribute = em.func(
		'void em_attribute(em_mark *aged, size_t n, int64 max_rss, em_span *spans, size_t m, _Out_ em_usage *out)',
	);
	const out = Buffer.alloc(koffi.sizeof(usage) * attempts.length);
	attribute(
		marks.map(([at, rss, cpu, cpus]) => ({ at, rss, cpu, cpus })),
		marks.length,
		max_rss,
		attempts,
		attempts.length,
		out,
	);
	return koffi.decode(out, koffi.array(usage, attempts.length));
}

function koffiOrNull() {
	try {
		return createRequire(import.meta.url)('koffi');
	} catch {
		return null;
	}
}

const koffi = process.env.SHARE_THROUGH === 'program' ? null : koffiOrNull();
if (process.env.SHARE_THROUGH === 'koffi' && !koffi) {
	console.error('koffi is not installed');
	process.exit(3);
}
const usages = koffi ? throughKoffi(koffi) : throughProgram();
for (const [i, usage] of usages.entries())
	console.log(JSON.stringify({ id: attempts[i].id, ...usage }));
