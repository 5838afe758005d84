// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/source_bpf.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "procfs/scan.h"

int64_t source_bpf_pages(const struct source_bpf *s, uint64_t n)
{
	return (int64_t)n * s->page_bytes;
}

static struct process_key key_of(uint64_t start_ns, uint32_t tgid)
{
	return (struct process_key){ .start_ns = start_ns, .tgid = tgid };
}

/* What it runs when it is taken in, which no exec told of. */
static int take_image(struct source_bpf *s, const struct fork_record *f)
{
	struct exec_record r = { .key = f->key, .run = f->run, .at_ns = f->at_ns, .no_exec = true };
	char argv[EVENT_ARGV_MAX];
	struct proc_stat stat;
	ssize_t len;

	if (scan_stat(f->pid, &stat) || !source_bpf_same(s, f->key.start_ns, &stat))
		return 0;
	memcpy(r.comm, stat.comm, strnlen(stat.comm, sizeof(r.comm) - 1));
	len = scan_cmdline(f->pid, argv, sizeof(argv));
	r.argv_known = len > 0;
	r.argv = argv;
	r.argv_len = len > 0 ? (size_t)len : 0;
	r.argv_truncated = len == sizeof(argv);
	return s->base.sink.on_exec(s->base.sink.ctx, &r);
}

static int take_fork(struct source_bpf *s, const struct fork_event *e)
{
	const struct fork_record r = {
		.key = key_of(e->start_ns, e->tgid),
		.pid = (int32_t)e->pid,
		.ppid = (int32_t)e->ppid,
		.run = e->run,
		.at_ns = (int64_t)e->at_ns,
		.inherited_rss_bytes = source_bpf_pages(s, e->inherited_pages),
		.shared_mm = e->flags & EVENT_SHARED_MM,
		.taken_in = e->flags & EVENT_TAKEN_IN,
	};
	int err = s->base.sink.on_fork(s->base.sink.ctx, &r);

	return !err && r.taken_in ? take_image(s, &r) : err;
}

static int take_exec(struct source_bpf *s, const struct exec_event *e, size_t size)
{
	struct exec_record r = {
		.key = key_of(e->start_ns, e->tgid),
		.run = e->run,
		.at_ns = (int64_t)e->at_ns,
		.argv = e->argv,
		.argv_len = e->argv_len,
		.argv_known = e->argv_len > 0,
		.argv_truncated = e->flags & EVENT_ARGV_TRUNCATED,
		.at_peak_bytes = source_bpf_pages(s, e->at_peak_pages),
		.at_peak_epoch = e->at_peak_epoch,
	};

	if (e->argv_len > size - sizeof(*e))
		return -EBADMSG;
	memcpy(r.comm, e->comm, sizeof(r.comm));
	return s->base.sink.on_exec(s->base.sink.ctx, &r);
}

uint32_t source_bpf_notes(const struct exit_event *e, bool hiwater)
{
	uint32_t notes = 0;

	if (e->flags & EVENT_SHARED_MM && !e->execs)
		notes |= NOTE_SHARED_MM;
	if (hiwater)
		notes |= NOTE_HIWATER;
	if (e->flags & EVENT_REPAIRED)
		notes |= NOTE_REPAIRED;
	if (e->flags & EVENT_IMAGE_UNSEEN)
		notes |= NOTE_IMAGE_UNSEEN;
	if (e->flags & EVENT_UNTRACKED_MM)
		notes |= NOTE_UNTRACKED;
	if (e->flags & EVENT_MARK_RESET)
		notes |= NOTE_MARK_RESET;
	return notes;
}

/* Only SIGKILL is the OOM killer's, and only with a hook can it be told from another. */
static int8_t oom_killed(const struct source_bpf *s, const struct exit_event *e)
{
	if (e->flags & EVENT_OOM_VICTIM)
		return 1;
	return (e->exit_code & 0x7f) == SIGKILL && (int64_t)e->ended_ns < s->oom_evidence_ns
		       ? UNKNOWN
		       : 0;
}

/* What an ended and a living process's event have in common. */
void source_bpf_record(const struct source_bpf *s, const struct exit_event *e,
		       struct exit_record *r)
{
	*r = (struct exit_record){
		.key = key_of(e->start_ns, e->tgid),
		.pid = (int32_t)e->pid,
		.ppid = (int32_t)e->ppid,
		.run = e->run,
		.born_ns = (int64_t)e->born_ns,
		.ended_ns = (int64_t)e->ended_ns,
		.wait_status = (int32_t)e->exit_code,
		.oom_killed = oom_killed(s, e),
		.inherited_rss_bytes = e->flags & EVENT_TAKEN_IN && !e->execs
					       ? UNKNOWN
					       : source_bpf_pages(s, e->inherited_pages),
		.peak_rss_bytes = UNKNOWN,
		.peak_since_bytes = UNKNOWN,
		.peak_error_bytes = UNKNOWN,
		.final_peak_bytes = UNKNOWN,
		.peak_vm_bytes = UNKNOWN,
		.split = { UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN },
		.cpu_ns = (int64_t)e->cpu_ns,
		.threads = e->threads,
		.execs = e->execs,
		.minor_faults = (int64_t)e->minor_faults,
		.major_faults = (int64_t)e->major_faults,
		.voluntary_switches = (int64_t)e->voluntary_switches,
		.involuntary_switches = (int64_t)e->involuntary_switches,
		.io = { .read_bytes = (int64_t)e->read_bytes,
			.write_bytes = (int64_t)e->write_bytes,
			.cancelled_write_bytes = (int64_t)e->cancelled_write_bytes,
			.rchar = (int64_t)e->rchar,
			.wchar = (int64_t)e->wchar,
			.syscr = (int64_t)e->syscr,
			.syscw = (int64_t)e->syscw },
		.at_peak_bytes = source_bpf_pages(s, e->at_peak_pages),
		.at_peak_epoch = e->at_peak_epoch,
	};
	memcpy(r->comm, e->comm, sizeof(r->comm));
	if (e->flags & EVENT_FOREIGN)
		r->io = io_unknown;
	cpu_split(r->cpu_ns, (int64_t)e->utime_ns, (int64_t)e->stime_ns, &r->cpu_user_ns,
		  &r->cpu_system_ns);
}

/* SPEC, attached: the mark of its whole life, unless it rose since. */
void source_bpf_lifetime(const struct source_bpf *s, const struct exit_event *e,
			 struct exit_record *r)
{
	int64_t before = source_bpf_pages(s, e->mark_before_pages);

	if (!(e->flags & EVENT_TAKEN_IN) || r->peak_rss_bytes > before)
		return;
	r->peak_since_bytes = r->peak_rss_bytes;
	r->peak_rss_bytes = before;
	r->peak_error_bytes = UNKNOWN;
	r->peak_rss_exact = false;
	r->peak_source = PEAK_LIFETIME;
}

/* The root; of several the last. */
static bool is_root(struct source_bpf *s, const struct exit_event *e)
{
	if (!s->attaching)
		return (pid_t)e->pid == s->root;
	for (size_t i = 0; i < s->n_roots; i++)
		if (s->roots[i] == (pid_t)e->pid && e->flags & EVENT_TAKEN_IN)
			s->roots_recorded++;
	return s->roots_recorded >= s->n_roots;
}

static enum peak_source peak_source(const struct exit_event *e, bool images, bool hiwater)
{
	if (images || !(e->flags & EVENT_BOUND))
		return PEAK_EXIT;
	return hiwater ? PEAK_RUSAGE : PEAK_TRACKED;
}

/* Whether what it may be off by is known. */
static bool is_bounded(const struct source_bpf *s, const struct exit_event *e, bool by_mark)
{
	if (e->flags & EVENT_MARK_RESET || !(e->flags & (EVENT_MEMORY | EVENT_BOUND)))
		return false;
	/* Of one that was there before, an image may have ended while it was taken in. */
	if (e->flags & EVENT_IMAGE_UNSEEN && e->flags & EVENT_TAKEN_IN)
		return false;
	/* Where threads count for themselves the mark has no such bound. */
	return !(s->split_rss && (by_mark || e->flags & (EVENT_BOUND | EVENT_IMAGE_UNSEEN)));
}

static int take_exit(struct source_bpf *s, const struct exit_event *e)
{
	uint64_t high = e->peak_pages + e->error_pages;
	bool images = e->images_peak_pages > e->peak_pages;
	uint64_t peak = images ? e->images_peak_pages : e->peak_pages;
	bool hiwater = e->flags & (images ? EVENT_IMAGES_HIWATER : EVENT_HIWATER);
	bool fell = e->flags & (images ? EVENT_IMAGES_FELL : EVENT_FELL);
	struct exit_record r;

	source_bpf_record(s, e, &r);
	r.notes = source_bpf_notes(e, hiwater);
	if (e->flags & EVENT_MEMORY && !(e->flags & EVENT_NO_SPLIT)) {
		r.split = (struct rss_split){ .anon_bytes = source_bpf_pages(s, e->anon_pages),
					      .file_bytes = source_bpf_pages(s, e->file_pages),
					      .shmem_bytes = source_bpf_pages(s, e->shmem_pages),
					      .swap_bytes = source_bpf_pages(s, e->swap_pages),
					      .hugetlb_bytes =
						      source_bpf_pages(s, e->hugetlb_pages) };
	}
	if (e->vm_peak_pages)
		r.peak_vm_bytes = source_bpf_pages(s, e->vm_peak_pages);
	if (e->flags & (EVENT_MEMORY | EVENT_BOUND))
		r.final_peak_bytes = source_bpf_pages(s, e->peak_pages);
	if (e->flags & (EVENT_MEMORY | EVENT_BOUND) || e->images_peak_pages) {
		r.peak_rss_bytes = source_bpf_pages(s, peak);
		r.peak_source = peak_source(e, images, hiwater);
		if (e->images_peak_pages + e->images_error_pages > high)
			high = e->images_peak_pages + e->images_error_pages;
		if (is_bounded(s, e, hiwater || fell) && !(fell && high == peak))
			r.peak_error_bytes = source_bpf_pages(s, high - peak);
		r.peak_rss_exact = e->flags & EVENT_MEMORY && !hiwater && !fell && high == peak &&
				   !(e->flags & (EVENT_IMAGE_UNSEEN | EVENT_MARK_RESET));
	}
	s->bounded += e->flags & EVENT_BOUND || (e->flags & EVENT_IMAGE_UNSEEN);
	source_bpf_lifetime(s, e, &r);
	if (is_root(s, e))
		s->root_recorded = true;
	return s->base.sink.on_exit(s->base.sink.ctx, &r);
}

static int take_oom(struct source_bpf *s, const struct oom_event *e)
{
	struct oom_record r = { .key = key_of(e->start_ns, e->tgid),
				.pid = (int32_t)e->pid,
				.at_ns = (int64_t)e->at_ns };

	memcpy(r.comm, e->comm, sizeof(r.comm));
	return s->base.sink.on_oom(s->base.sink.ctx, &r);
}

static int take_env(struct source_bpf *s, const struct env_event *e)
{
	enum run_variable which = e->type == EVENT_ENV ? RUN_NAME : RUN_START;
	const char *name = which == RUN_NAME ? s->split_env : s->start_env;
	bool known = e->found != EVENT_ENV_MORE;
	const char *value = e->found && known ? e->text + strlen(name) + 1 : NULL;
	size_t len = value ? strnlen(value, (size_t)(e->text + EVENT_ENV_MAX - value)) : 0;

	return s->base.sink.on_env(s->base.sink.ctx, e->run, which, known, value, len);
}

int source_bpf_on_record(void *ctx, void *data, size_t size)
{
	struct source_bpf *s = ctx;
	const struct fork_event *fork = data;
	const struct exec_event *exec = data;
	const struct exit_event *exit = data;
	const struct oom_event *oom = data;
	const struct env_event *env = data;
	const struct awake_event *awake = data;
	const struct count_event *count = data;

	/* The type lies elsewhere in each; the sizes differ. */
	s->seen_records++;
	if (size == sizeof(*fork) && fork->type == EVENT_FORK)
		s->seen_forks++, s->err = take_fork(s, fork);
	else if (size == sizeof(*exit) && exit->type == EVENT_EXIT)
		s->seen_exits++, s->err = take_exit(s, exit);
	else if (size == sizeof(*env) && (env->type == EVENT_ENV || env->type == EVENT_ENV_START))
		s->err = take_env(s, env);
	else if (size >= sizeof(*exec) && exec->type == EVENT_EXEC)
		s->err = take_exec(s, exec, size);
	else if (size == sizeof(*oom) && oom->type == EVENT_OOM)
		s->err = take_oom(s, oom);
	else if (size == sizeof(*awake) && awake->type == EVENT_AWAKE)
		source_bpf_wake(s);
	else if (size == sizeof(*count) && count->type == EVENT_COUNT)
		s->err = source_bpf_count(s, count);
	else
		s->err = -EBADMSG;
	return s->err;
}

void source_bpf_totals(const struct source_bpf *s, const struct run_totals *t, int64_t cpu_ns,
		       struct totals *ret)
{
	*ret = (struct totals){
		.initial = s->attaching ? (int64_t)t->initial : 1,
		.baseline_cpu_ns = s->attaching ? (int64_t)t->before_cpu_ns : UNKNOWN,
		.forks = (int64_t)t->forks,
		.exits = (int64_t)t->exits,
		.records = (int64_t)t->records,
		.lost_exits = (int64_t)t->lost_exits,
		.repaired = (int64_t)t->repaired,
		.processes = (int64_t)t->processes,
		.processes_max = (int64_t)t->processes_max,
		.threads = (int64_t)t->threads,
		.threads_max = (int64_t)t->threads_max,
		.cpu_ns = cpu_ns,
		.minor_faults = (int64_t)t->minor_faults,
		.major_faults = (int64_t)t->major_faults,
		.voluntary_switches = (int64_t)t->voluntary_switches,
		.involuntary_switches = (int64_t)t->involuntary_switches,
		.io = { .read_bytes = (int64_t)t->read_bytes,
			.write_bytes = (int64_t)t->write_bytes,
			.cancelled_write_bytes = (int64_t)t->cancelled_write_bytes,
			.rchar = (int64_t)t->rchar,
			.wchar = (int64_t)t->wchar,
			.syscr = (int64_t)t->syscr,
			.syscw = (int64_t)t->syscw },
		.largest_peak_bytes = source_bpf_pages(s, t->largest_peak_pages),
		.sum_peak_bytes = source_bpf_pages(s, t->sum_peak_pages),
		.outside_bytes = source_bpf_pages(s, t->outside_pages),
		.lower_bytes = source_bpf_pages(s, t->lower_pages),
		.upper_bytes = source_bpf_pages(s, t->upper_pages),
		.lower_max_bytes = source_bpf_pages(s, t->lower_max_pages),
		.upper_max_bytes = source_bpf_pages(s, t->upper_max_pages),
		.lower_max_at_ns = (int64_t)t->lower_max_at_ns,
		.epoch = t->epoch,
	};
	cpu_split(ret->cpu_ns, (int64_t)t->utime_ns, (int64_t)t->stime_ns, &ret->cpu_user_ns,
		  &ret->cpu_system_ns);
	if (s->old)
		source_bpf_old_totals(s, ret);
}
