// SPDX-License-Identifier: GPL-2.0-or-later
//
// build - the page as one file: node build.mjs NODE_MODULES OUT
//
// The style and the script are inside, named by their hashes in the page's policy, so that nothing
// else can run in it.  Its data goes where @exitmeter-data@ stands (format/page.c).
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [modules, out] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const { build } = createRequire(join(modules, 'of.cjs'))('esbuild');

// ECharts' files bear their licence in comments that are not kept.
const notice = readFileSync(join(modules, 'echarts/NOTICE'), 'utf8').trim();

const made = await build({
	entryPoints: [join(here, 'main.js'), join(here, 'page.css')],
	outdir: '/',
	nodePaths: [modules],
	bundle: true,
	minify: true,
	format: 'iife',
	target: 'es2020',
	define: { 'process.env.NODE_ENV': '"production"' },
	legalComments: 'eof',
	footer: { js: `/*\n${notice}\nUnder the Apache License, Version 2.0.\n*/` },
	charset: 'utf8',
	write: false,
});

const text = (end) => made.outputFiles.find((file) => file.path.endsWith(end)).text.trim();
const script = text('.js');
const style = text('.css');
if (/<\/script|<!--/i.test(script) || /<\/style/i.test(style))
	throw new Error('the script or the style would end its element');

const hash = (content) => `'sha256-${createHash('sha256').update(content).digest('base64')}'`;
const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; ` +
	`base-uri 'none'; form-action 'none'`;

const parts = { policy, style, script };
const page = readFileSync(join(here, 'page.html'), 'utf8')
	.replace(/\n\t*/g, '\n')
	.replace(/@(policy|style|script)@/g, (_, part) => parts[part]);
writeFileSync(out, page);
