// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/process.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static const char *const source_names[] = {
	[PEAK_EXIT] = "exit",
	[PEAK_TRACKED] = "tracked",
	[PEAK_SCAN] = "scan",
	[PEAK_VMHWM] = "vmhwm",
	[PEAK_LIFETIME] = "vmhwm-lifetime",
	[PEAK_RUSAGE] = "rusage",
	[PEAK_RESET] = "vmhwm-reset",
	[PEAK_MARKS] = "marks",
};

static void set_status(struct process *p, const struct exit_record *r)
{
	p->exit_code = p->exit_signal = UNKNOWN;
	p->core_dumped = UNKNOWN;
	if (r->running || r->wait_status == UNKNOWN)
		return;
	p->core_dumped = 0;
	if (WIFSIGNALED(r->wait_status)) {
		p->exit_signal = WTERMSIG(r->wait_status);
		p->core_dumped = !!WCOREDUMP(r->wait_status);
	} else {
		p->exit_code = WEXITSTATUS(r->wait_status);
	}
}

static int64_t since(int64_t at_ns, int64_t run_start_ns)
{
	return at_ns < 0 ? TIME_NONE : at_ns - run_start_ns;
}

struct process *process_new(const struct exit_record *r, int64_t run_start_ns, const char *argv,
			    size_t argv_len, bool argv_truncated)
{
	struct process *p = calloc(1, sizeof(*p) + (argv ? argv_len : 0));

	if (!p)
		return NULL;
	p->refs = 1;
	p->key = r->key;
	p->pid = r->pid;
	p->ppid = r->ppid;
	p->run = r->run;
	memcpy(p->comm, r->comm, sizeof(p->comm));
	p->started_ns = since(r->born_ns, run_start_ns);
	p->ended_ns = r->running ? TIME_NONE : since(r->ended_ns, run_start_ns);
	p->running = r->running;
	set_status(p, r);
	p->oom_killed = r->oom_killed;
	p->notes = r->notes;
	p->peak_rss_bytes = r->peak_rss_bytes;
	p->peak_error_bytes = r->peak_error_bytes;
	p->peak_rss_exact = r->peak_rss_exact;
	p->peak_source = r->peak_source;
	p->final_peak_bytes = r->final_peak_bytes;
	p->inherited_rss_bytes = r->inherited_rss_bytes;
	p->peak_vm_bytes = r->peak_vm_bytes;
	p->split = r->split;
	p->cpu_ns = r->cpu_ns;
	p->cpu_user_ns = r->cpu_user_ns;
	p->cpu_system_ns = r->cpu_system_ns;
	p->threads = r->threads;
	p->execs = r->execs;
	p->minor_faults = r->minor_faults;
	p->major_faults = r->major_faults;
	p->voluntary_switches = r->voluntary_switches;
	p->involuntary_switches = r->involuntary_switches;
	p->io = r->io;
	if (argv) {
		p->argv_known = 1;
		p->argv_truncated = argv_truncated;
		p->argv_len = argv_len;
		memcpy(p->argv, argv, argv_len);
	}
	return p;
}

struct process *process_blank(size_t argv_len)
{
	struct process *p = calloc(1, sizeof(*p) + argv_len);

	if (!p)
		return NULL;
	p->refs = 1;
	p->pid = p->ppid = UNKNOWN;
	p->started_ns = p->ended_ns = TIME_NONE;
	p->exit_code = p->exit_signal = UNKNOWN;
	p->core_dumped = p->oom_killed = UNKNOWN;
	p->peak_rss_bytes = p->peak_error_bytes = UNKNOWN;
	p->final_peak_bytes = p->inherited_rss_bytes = p->peak_vm_bytes = UNKNOWN;
	p->split = (struct rss_split){ UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN };
	p->cpu_ns = p->cpu_user_ns = p->cpu_system_ns = UNKNOWN;
	p->threads = p->execs = UNKNOWN;
	p->minor_faults = p->major_faults = UNKNOWN;
	p->voluntary_switches = p->involuntary_switches = UNKNOWN;
	p->io = (struct io_counts){ UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN };
	return p;
}

struct process *process_ref(struct process *p)
{
	p->refs++;
	return p;
}

void process_unref(struct process *p)
{
	if (p && --p->refs == 0)
		free(p);
}

bool process_failed(const struct process *p)
{
	return p->exit_code > 0 || p->exit_signal > 0;
}

const char *peak_source_name(enum peak_source source)
{
	return source_names[source];
}

enum peak_source peak_source_of(const char *name)
{
	for (size_t i = 0; name && i < sizeof(source_names) / sizeof(source_names[0]); i++)
		if (source_names[i] && !strcmp(source_names[i], name))
			return (enum peak_source)i;
	return PEAK_NONE;
}

const char *record_note_name(enum record_note note)
{
	switch (note) {
	case NOTE_SHARED_MM:
		return "shared-mm";
	case NOTE_HIWATER:
		return "high-water-mark";
	case NOTE_REPAIRED:
		return "exit-hook-skipped";
	case NOTE_IMAGE_UNSEEN:
		return "earlier-image-unseen";
	case NOTE_UNTRACKED:
		return "not-in-tree-sums";
	case NOTE_MARK_RESET:
		return "high-water-mark-reset";
	}
	return NULL;
}
