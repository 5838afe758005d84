// SPDX-License-Identifier: GPL-2.0-or-later
//
// data - the run that the page is about, from the JSON in it (format/html.c writes it)

// The bits of a row's flags, as format/html_rows.c has them.
const RUNNING = 1;
const PEAK_EXACT = 2;
const CORE_DUMPED = 4;
const OOM_KILLED = 8;
const ARGUMENTS_CUT = 16;
const NOTES_SHIFT = 8;

const seconds = (us) => us === null ? null : us / 1e6;

function readProcess(row, at, told, end) {
	const flags = row[at.flags];
	const notes = flags >> NOTES_SHIFT;
	const status = row[at.status];
	const started = seconds(row[at.started_us]);
	const ended = seconds(row[at.ended_us]);
	const argv = row[at.arguments] === null ? null : told.arguments[row[at.arguments]];
	return {
		pid: row[at.pid],
		ppid: row[at.ppid],
		name: told.names[row[at.name]],
		argv,
		argvCut: (flags & ARGUMENTS_CUT) !== 0,
		started,
		ended,
		// Where its bar begins and ends: inside of the run.
		from: started === null ? 0 : started,
		to: ended === null ? end : ended,
		duration: started === null ? null : (ended === null ? end : ended) - started,
		code: status !== null && status >= 0 ? status : null,
		signal: status !== null && status < 0 ? -status : null,
		failed: status !== null && status !== 0,
		running: (flags & RUNNING) !== 0,
		coreDumped: (flags & CORE_DUMPED) !== 0,
		oomKilled: (flags & OOM_KILLED) !== 0,
		peak: row[at.peak],
		peakExact: (flags & PEAK_EXACT) !== 0,
		peakError: row[at.error],
		peakSource: told.sources[row[at.peak_source]],
		cpu: seconds(row[at.cpu_us]),
		cpuUser: seconds(row[at.user_us]),
		threads: row[at.threads],
		execs: row[at.execs],
		minorFaults: row[at.minor_faults],
		majorFaults: row[at.major_faults],
		voluntary: row[at.voluntary],
		involuntary: row[at.involuntary],
		inherited: row[at.inherited],
		vm: row[at.peak_vm],
		read: row[at.read_bytes],
		write: row[at.write_bytes],
		notes: told.notes.filter((_, i) => notes >> i & 1),
	};
}

function readSamples(told) {
	return told.points.map((point) =>
		Object.fromEntries(told.columns.map((column, i) => [column, point[i]])));
}

// Ages become seconds since the run's start: the newest moment is the run's end.
function readAttempts(summary, agedAt) {
	return (summary.attempts ?? []).map((attempt) => ({
		kind: 'attempt',
		name: String(attempt.id),
		from: agedAt - attempt.started,
		to: attempt.ended === null ? null : agedAt - attempt.ended,
		usage: attempt.usage,
	}));
}

function readPhases(summary) {
	return (summary.phases ?? []).map((phase) => ({
		kind: 'phase',
		name: phase.name,
		from: phase.at,
		to: phase.ended,
		usage: phase.usage,
	}));
}

export function readRun(told) {
	const { summary } = told;
	const at = Object.fromEntries(told.processes.columns.map((column, i) => [column, i]));
	const samples = readSamples(told.samples);
	const agedAt = told.aged_seconds ?? 0;
	let end = Math.max(summary.run.wall_seconds ?? agedAt, 0);
	for (const sample of samples)
		end = Math.max(end, sample.at);
	for (const row of told.processes.rows)
		end = Math.max(end, seconds(row[at.ended_us]) ?? 0);
	const processes = told.processes.rows.map((row) => readProcess(row, at, told.processes, end));
	processes.forEach((p, i) => {
		p.index = i;
	});
	return {
		summary,
		samples,
		stride: told.samples.stride,
		processes,
		others: told.others,
		othersEnd: seconds(told.others.end_us) ?? end,
		phases: readPhases(summary),
		attempts: readAttempts(summary, agedAt),
		busy: summary.host_load?.worst_window ?? null,
		end: end || 1e-3,
	};
}
