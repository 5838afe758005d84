// SPDX-License-Identifier: GPL-2.0-or-later
//
// facts - what stands in words and small tables: the run, who made its peak, the machine, the method
import { bytesText, coresText, countText, cut, foreign, list, make, momentText, plain, plural,
	rangeText, secondsText, wordsText } from './text.js';

const byId = (id) => document.getElementById(id);
const sentence = (text) => make('p', {}, text);

function howItEnded(run) {
	const { exit_code: code, exit_signal: signal, mode, detached } = run;
	if (signal !== null && signal !== undefined)
		return { text: `killed by signal ${signal}${run.core_dumped ? ', core dumped' : ''}`, bad: true };
	if (code !== null && code !== undefined)
		return { text: `exit ${code}`, bad: code !== 0 };
	if (detached || mode === 'attach')
		return { text: detached ? 'went on after the measurement' : 'end unknown', bad: false };
	return { text: 'end unknown', bad: true };
}

function drawHead(run) {
	const { run: facts, tool } = run.summary;
	const words = facts.command ? wordsText(facts.command) :
		`${facts.mode === 'attach' ? 'attached to ' : ''}process ${facts.pid ?? ''}`;
	byId('version').textContent = plain(tool.version ?? '');
	byId('command').replaceChildren(make('bdi', {}, cut(words, 2000)));
	document.title = cut(words, 80);
	const when = facts.started_at ? new Date(facts.started_at) : null;
	byId('when').replaceChildren(
		when && !Number.isNaN(when.getTime()) ?
			make('time', { datetime: facts.started_at }, when.toLocaleString()) : '',
		facts.cwd ? ' in ' : '', facts.cwd ? foreign(facts.cwd) : '',
		...Object.entries(facts.labels ?? {}).map(([key, value]) =>
			make('span', { class: 'label' }, foreign(`${key}=${value}`))));
}

// "peak rss: 204 MB, not 100 MB"
function budgetText({ what, limit, value }) {
	const text = /_bytes$/.test(what) ? bytesText : /_seconds$/.test(what) ? secondsText : countText;
	return `${what.replace(/_(bytes|seconds)$/, '').replace(/_/g, ' ')}: ${text(value)}, not ${text(limit)}`;
}

// Each [kind, mark, text]: the mark says without colour what the colour says.
function badges(run) {
	const { completeness, source, host_load: load, cut_off: cutOff, run: facts } = run.summary;
	const end = howItEnded(facts);
	const out = [[end.bad ? 'bad' : 'good', end.bad ? '✕' : '✓', end.text]];
	if (facts.oom_killed)
		out.push(['bad', '✕', 'a process was killed for lack of memory']);
	if (cutOff)
		out.push(['bad', '!', 'the journal was cut off']);
	else if (completeness.exact)
		out.push(['good', '✓', 'exact: every end seen, nothing lost']);
	else
		out.push(['warn', '!', source.exits === 'proc' ? 'sampled only' : 'not exact']);
	if (load?.verdict === 'quiet')
		out.push(['good', '✓', 'host quiet']);
	else if (load?.verdict === 'cotenant')
		out.push(['warn', '!', `host busy (${coresText(load.foreign_cores)} foreign cores)`]);
	for (const over of run.summary.budget?.exceeded ?? [])
		out.push(['bad', '✕', `over budget: ${budgetText(over)}`]);
	return out;
}

function drawBadges(run) {
	byId('badges').replaceChildren(...badges(run).map(([kind, mark, text]) =>
		make('li', { class: kind }, make('span', { 'aria-hidden': 'true' }, mark), ` ${plain(text)}`)));
}

function drawWarnings(run) {
	const { completeness, source } = run.summary;
	const texts = [...(completeness.reasons ?? []), ...(source.notes ?? [])];
	if (source.fallback_reason)
		texts.unshift(`exits from ${source.exits}: ${source.fallback_reason}`);
	byId('warnings').hidden = texts.length === 0;
	byId('warnings').firstElementChild.replaceChildren(...texts.map((text) =>
		make('li', {}, foreign(text))));
}

function tile(title, value, ...more) {
	return make('div', { class: 'tile' }, make('dt', {}, title), make('dd', {}, make('b', {}, value),
		...more.filter(Boolean).map((text) => make('span', {}, text))));
}

function drawTiles(run) {
	const { usage, run: facts } = run.summary;
	const at = usage.peak_rss_at_seconds;
	byId('tiles').replaceChildren(
		tile('Peak memory', rangeText(usage.peak_rss_lower_bytes, usage.peak_rss_upper_bytes),
			at === null ? null : `at ${momentText(at, run.end)}`,
			usage.peak_rss_upper_bytes === null ? 'no upper bound known' :
				'the whole tree, resident at one moment'),
		tile('Largest process', bytesText(usage.peak_rss_process_bytes), 'by itself'),
		tile('CPU', secondsText(usage.cpu_seconds),
			usage.cpu_user_seconds === null ? null : `${secondsText(usage.cpu_user_seconds)} user, ` +
				`${secondsText(usage.cpu_system_seconds)} system`,
			usage.baseline_cpu_seconds ? `${secondsText(usage.baseline_cpu_seconds)} before not counted` :
				null),
		tile('Busy cores', usage.peak_cpus === null ? coresText(usage.mean_cpus) :
			`up to ${coresText(usage.peak_cpus)}`,
		usage.mean_cpus === null ? null : `${coresText(usage.mean_cpus)} on average`),
		tile('Wall time', secondsText(facts.wall_seconds)),
		tile('Processes', countText(usage.total_processes),
			usage.max_processes === null ? null : `at most ${countText(usage.max_processes)} at once`,
			usage.max_threads === null ? null : `at most ${plural(usage.max_threads, 'thread')} at once`));
	if (usage.peak_pss_bytes !== null)
		byId('tiles').append(tile('Peak, shared pages once', bytesText(usage.peak_pss_bytes), 'PSS, sampled'));
	if (usage.cgroup_peak_bytes !== null)
		byId('tiles').append(tile('Peak of the cgroup', bytesText(usage.cgroup_peak_bytes)));
}

// A bar whose length says the share; the number stands beside it.
function share(part, whole, colour) {
	const bar = make('div', { class: 'share', 'aria-hidden': 'true' }, make('i'));
	bar.firstChild.style.width = `${whole > 0 ? Math.min(Math.max(part / whole, 0), 1) * 100 : 0}%`;
	if (colour)
		bar.firstChild.style.background = colour;
	return bar;
}

export function table(titles, rows) {
	const head = make('tr', {}, ...titles.map(([title, number]) =>
		make('th', { scope: 'col', class: number ? 'number' : null }, title)));
	return make('table', {}, make('thead', {}, head), make('tbody', {}, ...rows.map((cells) =>
		make('tr', {}, ...cells.map((cell, i) => make('td', { class: titles[i][1] ? 'number' : null },
			cell))))));
}

function drawPeak(run, colours, goTo) {
	const { at_peak: who, usage } = run.summary;
	const known = who.filter((w) => w.rss_bytes !== null).sort((a, b) => b.rss_bytes - a.rss_bytes);
	const sum = known.reduce((all, w) => all + w.rss_bytes, 0);
	byId('peak-note').textContent = known.length ?
		`${plural(known.length, 'process', 'processes')} with ${bytesText(sum)} together` +
		(usage.peak_rss_at_seconds === null ? '' : `, ${momentText(usage.peak_rss_at_seconds, run.end)} ` +
			'after the start') :
		'Not known: this source does not add up memory at each moment.';
	if (!known.length)
		return;
	const at = usage.peak_rss_at_seconds ?? 0;
	const button = (w) => {
		const p = run.processes.find((q) => q.pid === w.pid && q.from <= at && q.to >= at) ??
			run.processes.find((q) => q.pid === w.pid);
		return p ? make('button', { type: 'button', class: 'link', on: { click: () => goTo(p) } },
			foreign(w.comm)) : foreign(w.comm);
	};
	byId('peak').replaceChildren(scrolled('Who made the peak', table(
		[['Name'], ['PID', true], ['Resident', true], ['']],
		known.map((w) => [button(w), String(w.pid), bytesText(w.rss_bytes),
			share(w.rss_bytes, known[0].rss_bytes, colours.of(w.comm))]))));
}

export function scrolled(name, content, kind = 'scroll small') {
	return make('div', { class: kind, tabindex: '0', role: 'group', 'aria-label': name }, content);
}

function drawGroups(run, colours, search) {
	const { groups } = run.summary;
	const most = Math.max(...groups.map((g) => g.cpu_seconds ?? 0), 0);
	byId('groups').replaceChildren(scrolled('By name', table(
		[['Name'], ['Processes', true], ['Largest', true], ['CPU', true], ['']],
		groups.map((g) => [
			g.other ? 'all other names' : make('button', { type: 'button', class: 'link',
				on: { click: () => search(g.comm) } }, foreign(g.comm)),
			countText(g.processes), bytesText(g.peak_rss_bytes), secondsText(g.cpu_seconds),
			share(g.cpu_seconds ?? 0, most, g.other ? null : colours.of(g.comm)),
		]))));
}

function drawStretches(run, view) {
	const all = [...run.phases, ...run.attempts];
	if (!all.length)
		return;
	const box = byId('stretches');
	const left = (run.summary.phases_omitted ?? 0) + (run.summary.attempts_omitted ?? 0);
	box.hidden = false;
	box.lastElementChild.replaceChildren(scrolled('Phases and attempts', table(
		[['Kind'], ['Name'], ['From', true], ['Time', true], ['Peak', true], ['CPU', true], ['Cores', true]],
		all.map((s) => [s.kind,
			make('button', { type: 'button', class: 'link', on: { click: () =>
				view.show(s.from, s.to ?? run.end) } }, foreign(cut(s.name, 200))),
			momentText(s.from, run.end),
			s.to === null ? 'not ended' : secondsText(s.to - s.from),
			bytesText(s.usage?.peak_rss_bytes), secondsText(s.usage?.cpu_seconds),
			coresText(s.usage?.peak_cpus)]))));
	if (left)
		box.append(make('p', { class: 'quiet' }, `${countText(left)} earlier ones are only counted.`));
}

function drawCompleteness(run) {
	const { completeness: c, source, cut_off: cutOff } = run.summary;
	const out = [];
	if (cutOff)
		out.push('The journal ends before its run did. What is here is what it holds; what only the end ' +
			'would have told is unknown.');
	if (c.exact)
		out.push('Every process’s end was seen and nothing was lost: CPU times and counts are exact, and ' +
			'the tree’s peak lies between its two bounds.');
	else if (source.exits === 'proc')
		out.push('Processes were only looked at from time to time. What began and ended between two looks ' +
			'is missing, and peaks may have been higher.');
	else
		out.push('Not everything is exact, for the reasons at the top of this page.');
	if (c.initial !== null && c.forks !== null && c.exits !== null)
		out.push(`${plural(c.initial, 'process was', 'processes were')} there at the start, ` +
			`${countText(c.forks)} were created, ${countText(c.exits)} ended` +
			(c.running_at_end === null ? '.' : ` and ${countText(c.running_at_end)} still ran at the end.`));
	if (c.events_lost)
		out.push(`Of ${plural(c.events_lost, 'process', 'processes')} the record was lost: their rows are ` +
			'missing, the totals are not changed by it.');
	if (c.records_repaired)
		out.push(`${plural(c.records_repaired, 'record')} had to be repaired: memory at their end was not ` +
			'seen.');
	byId('complete').replaceChildren(...out.map(sentence));
}

const EXITS = {
	bpf: 'The kernel told of each process’s end through BPF, while its memory was still there: peaks and ' +
		'CPU of every process are known, however short it lived.',
	ptrace: 'Each process was stopped for a moment at its end (ptrace), while its memory was still there. ' +
		'That slows programs down that start many processes.',
	proc: 'Processes were looked at in /proc at each sample.',
};

function drawMethod(run) {
	const { source, usage } = run.summary;
	const out = [EXITS[source.exits] ?? (source.exits ? `Ends of processes come from ${source.exits}.` : null)];
	out.push('Memory is resident memory (RSS), as page tables hold it; a MB is 2²⁰ bytes. The lower bound ' +
		'of the tree’s peak was seen resident at one moment; the upper one cannot have been passed. Pages ' +
		'that processes share after a fork are counted for each, so the sum can be more than what was ' +
		'really used.');
	out.push('The curve shows the most that was seen resident since the sample before, cores are CPU time ' +
		'over wall time between two samples. What is unknown is left out or called so; it is never 0.');
	byId('method').replaceChildren(...out.filter(Boolean).map(sentence), list([
		['hook', source.hook],
		['tree', source.tree],
		['samples', source.samples],
		['interval', source.interval_seconds === null ? null : source.interval_seconds === 0 ?
			'only where asked for' : secondsText(source.interval_seconds)],
		['source of the peak', usage.peak_source],
		['exitmeter itself', source.self_cpu_seconds === null ? null :
			`${secondsText(source.self_cpu_seconds)} CPU, ${bytesText(source.self_peak_rss_bytes)}`],
	].map(([term, value]) => [term, typeof value === 'string' ? plain(value) : value]), { class: 'facts' }));
}

function loadText(load) {
	return load && load.every((v) => v !== null) ? load.map((v) => v.toFixed(2)).join(' ') : null;
}

function busyText(load) {
	if (load?.verdict !== 'quiet' && load?.verdict !== 'cotenant')
		return load?.reason ? `not known if busy: ${load.reason}` : null;
	const worst = load.worst_window;
	return `${load.verdict === 'quiet' ? 'quiet' : 'busy'}: ${coresText(load.foreign_cores)} foreign cores` +
		(worst?.verdict === 'cotenant' ?
			`, at worst ${coresText(worst.foreign_cores)} at ${momentText(worst.at, 10)}` : '');
}

function pressureText(psi) {
	return psi && psi.some_seconds !== null ? `${secondsText(psi.some_seconds)} since it was started` : null;
}

function drawEnvironment(run) {
	const { env, run: facts, disk, energy, host_load: load } = run.summary;
	const group = env.cgroup ?? {};
	const pairs = [
		['kernel', env.kernel], ['machine', env.machine], ['processor', env.cpu_model],
		['processors', env.cpus === null ? null : env.affinity_cpus !== null &&
			env.affinity_cpus !== env.cpus ? `${env.cpus}, ${env.affinity_cpus} of them allowed` :
			String(env.cpus)],
		['CPU limit', group.cpu_limit === null ? null : `${group.cpu_limit} cores`],
		['memory', env.memory_bytes === null ? null : bytesText(env.memory_bytes)],
		['memory limit', group.memory_limit_bytes === null ? null : bytesText(group.memory_limit_bytes)],
		['host', busyText(load)],
		['load at the start', loadText(env.load_start)], ['load at the end', loadText(env.load_end)],
		['stolen by the hypervisor', env.steal_seconds === null ? null : secondsText(env.steal_seconds)],
		['waited for memory', pressureText(env.psi?.memory)],
		['governor', env.governor], ['huge pages', env.thp], ['scheduled as', env.sched_class],
		['file system', env.work_fs_type], ['container', env.container],
		['program', facts.exe?.path], ['build id', facts.exe?.build_id], ['run', facts.id],
	];
	for (const d of disk ?? [])
		pairs.push([`size of ${cut(plain(d.path ?? ''), 60)}`, d.apparent_bytes === null ? null :
			`${bytesText(d.apparent_bytes)}, ${bytesText(d.allocated_bytes)} on disk`]);
	for (const e of energy ?? [])
		if (e.delta_uj !== null && e.delta_uj !== undefined)
			pairs.push([`energy of ${plain(e.domain ?? e.source ?? '')}`,
				`${(e.delta_uj / 1e6).toFixed(2)} J (the whole domain, not this run alone)`]);
	byId('env').replaceChildren(list(pairs.map(([term, value]) =>
		[term, typeof value === 'string' ? foreign(value) : value]), { class: 'facts' }));
}

export function drawFacts(run, view, colours, { goTo, search }) {
	drawHead(run);
	drawBadges(run);
	drawWarnings(run);
	drawTiles(run);
	drawPeak(run, colours, goTo);
	drawGroups(run, colours, search);
	drawStretches(run, view);
	drawCompleteness(run);
	drawMethod(run);
	drawEnvironment(run);
}
