// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tell_proc - what looking at /proc now and then finds: those that live then, their marks; an end
 * is seen by the look that finds the process no more
 */
#include <string.h>

#include "procfs/scan.h"
#include "tell.h"

struct seen {
	bool seen, gone;
	int told;        /* the image whose arguments were handed on; -1 none */
	struct being as; /* at the last look */
	int64_t shared_mark_bytes, mark_bytes, rss_bytes, most_bytes, mark_before_bytes;
};

static struct {
	struct seen all[PROCESSES];
	struct totals totals;
	bool open; /* records are taken */
} p;

static void hand_on(struct world *w, int i, bool running)
{
	struct seen *s = &p.all[i];
	const struct being *b = &w->truth.all[i];
	struct exit_record r = exit_record_unknown;

	r.key = key_of_being(&w->truth, i);
	r.pid = pid_of(i);
	r.ppid = b->creator < 0 ? 1 : pid_of(b->creator);
	r.running = running;
	r.born_ns = b->born_ns;
	if (s->mark_bytes >= 0) {
		r.peak_rss_bytes = s->mark_bytes;
		r.peak_source = PEAK_VMHWM;
	}
	r.cpu_ns = s->as.cpu_ns;
	cpu_split(r.cpu_ns, s->as.counters[COUNTER_UTIME], s->as.counters[COUNTER_STIME],
		  &r.cpu_user_ns, &r.cpu_system_ns);
	r.minor_faults = s->as.counters[COUNTER_MINFLT];
	if (b->taken_in && r.peak_rss_bytes <= s->mark_before_bytes) {
		r.peak_source = PEAK_LIFETIME;
		r.peak_since_bytes = s->most_bytes;
	}
	comm_of(&s->as, r.comm);
	s->gone = true;
	if (!w->err)
		w->err = w->sink.on_exit(w->sink.ctx, &r);
}

static void meet(struct world *w, int i)
{
	const struct being *b = &w->truth.all[i];
	struct seen *s = &p.all[i];
	struct exec_record x = { .key = key_of_being(&w->truth, i), .argv_known = true };
	struct proc_status status;
	char argv[64];

	if (!s->seen)
		s->told = -1;
	if (p.open && s->told != b->image) {
		s->told = b->image;
		x.argv = argv;
		x.argv_len = argv_of(&w->truth, i, argv, sizeof(argv));
		comm_of(b, x.comm);
		if (!w->err)
			w->err = w->sink.on_exec(w->sink.ctx, &x);
	}
	if (!s->seen)
		s->mark_bytes = s->most_bytes = UNKNOWN;
	s->seen = true;
	s->as = *b;
	/* As kcmp(2) tells: of several who share one the first that is met. */
	for (int k = 0; k < i; k++)
		if (w->truth.all[k].alive && w->truth.all[k].space == b->space) {
			scan_status(pid_of(i), &status);
			s->shared_mark_bytes = status.vm_hwm_bytes;
			return;
		}
	if (!scan_status(pid_of(i), &status)) {
		if (status.vm_hwm_bytes == s->shared_mark_bytes)
			status.vm_hwm_bytes = status.vm_rss_bytes;
		s->mark_bytes = larger(s->mark_bytes, status.vm_hwm_bytes);
		s->rss_bytes = status.vm_rss_bytes;
		s->most_bytes = larger(s->most_bytes, status.vm_rss_bytes);
		p.totals.interval_max_bytes += status.vm_rss_bytes;
	}
}

static void pass(struct world *w)
{
	p.totals.interval_max_bytes = 0;
	p.totals.processes = p.totals.threads = 0;
	for (int i = 0; i < w->truth.n; i++) {
		const struct being *b = &w->truth.all[i];

		if (b->alive && b->member) {
			meet(w, i);
			p.totals.processes++;
			p.totals.threads += b->threads;
		} else if (p.all[i].seen && !p.all[i].gone) {
			hand_on(w, i, false);
		}
	}
	if (!p.totals.processes)
		return;
	p.totals.processes_max = larger(p.totals.processes_max, p.totals.processes);
	p.totals.threads_max = larger(p.totals.threads_max, p.totals.threads);
}

static void proc_begin(struct world *w)
{
	memset(&p, 0, sizeof(p));
	p.totals = (struct totals){ .initial = w->h->attach ? w->truth.initial : 1,
				    .baseline_cpu_ns = UNKNOWN,
				    .forks = UNKNOWN,
				    .exits = UNKNOWN,
				    .records = UNKNOWN,
				    .lost_exits = UNKNOWN,
				    .repaired = UNKNOWN,
				    .processes_max = UNKNOWN,
				    .threads_max = UNKNOWN,
				    .minor_faults = UNKNOWN,
				    .major_faults = UNKNOWN,
				    .voluntary_switches = UNKNOWN,
				    .involuntary_switches = UNKNOWN,
				    .io = io_unknown,
				    .largest_peak_bytes = UNKNOWN,
				    .sum_peak_bytes = UNKNOWN,
				    .lower_bytes = UNKNOWN,
				    .upper_bytes = UNKNOWN,
				    .lower_max_bytes = UNKNOWN,
				    .upper_max_bytes = UNKNOWN,
				    .lower_max_at_ns = UNKNOWN };
	if (w->h->attach)
		pass(w);
	for (int i = 0; i < w->truth.n; i++)
		p.all[i].mark_before_bytes =
			larger(p.all[i].mark_bytes, p.all[i].shared_mark_bytes);
	p.open = true;
}

static void nothing(struct world *w, const struct step *s)
{
	(void)w;
	(void)s;
}

static void no_drain(struct world *w)
{
	(void)w;
}

static void proc_sample(struct world *w, struct tree_sample *ret)
{
	pass(w);
	p.totals.cpu_ns = w->truth.cpu_ns;
	p.totals.cpu_user_ns = p.totals.cpu_ns;
	ret->totals = p.totals;
	ret->scanned = true;
	ret->scan = (struct scan_result){ .complete = true,
					  .processes = p.totals.processes,
					  .threads = p.totals.threads,
					  .rss_bytes = p.totals.interval_max_bytes,
					  .net_rss_bytes = p.totals.interval_max_bytes,
					  .split = { .anon_bytes = UNKNOWN } };
	if (!p.totals.processes)
		ret->totals.interval_max_bytes = UNKNOWN;
}

static void proc_finish(struct world *w, bool root_ended, int64_t now_ns, struct totals *ret)
{
	struct tree_sample s = { .at_ns = now_ns };

	(void)root_ended;
	proc_sample(w, &s);
	for (int i = 0; i < w->truth.n; i++)
		if (p.all[i].seen && !p.all[i].gone)
			hand_on(w, i, true);
	*ret = s.totals;
}

static size_t no_losses(struct world *w, struct loss *out)
{
	(void)w;
	(void)out;
	return 0;
}

const struct tell tell_proc = {
	.begin = proc_begin,
	.before = nothing,
	.after = nothing,
	.drain = no_drain,
	.sample = proc_sample,
	.finish = proc_finish,
	.losses = no_losses,
};
