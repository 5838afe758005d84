// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/source_proc.h"

#include <stdlib.h>
#include <string.h>

#include "units.h"

#define ARGV_MAX 4096

int64_t proc_ticks_ns(const struct source_proc *s, uint64_t n)
{
	return (int64_t)n * s->ticks_ns;
}

static struct process_key key_of(const struct source_proc *s, const struct seen *p)
{
	return (struct process_key){ .start_ns = p->stat.start_ticks * (uint64_t)s->ticks_ns,
				     .tgid = (uint32_t)p->pid };
}

/* Of a process that was there before only what came since. */
static void take_off_before(const struct source_proc *s, const struct seen *p,
			    struct exit_record *r)
{
	r->cpu_ns = count_since(r->cpu_ns, p->cpu_before_ns);
	r->cpu_user_ns -= proc_ticks_ns(s, p->before.utime_ticks);
	r->cpu_system_ns -= proc_ticks_ns(s, p->before.stime_ticks);
	r->minor_faults -= (int64_t)p->before.minor_faults;
	r->major_faults -= (int64_t)p->before.major_faults;
	io_subtract(&r->io, &p->io_before);
	if (r->peak_rss_bytes > p->mark_before_bytes)
		return;
	r->peak_source = PEAK_LIFETIME;
	r->peak_since_bytes = p->rss_max_bytes;
}

int proc_hand_on(struct source_proc *s, struct seen *p, bool running)
{
	struct exit_record r = exit_record_unknown;

	r.key = key_of(s, p);
	r.pid = p->pid;
	r.ppid = p->ppid;
	r.running = running;
	r.born_ns = p->born_ns;
	if (p->reaped) {
		r.ended_ns = p->reaped_ns;
		r.wait_status = p->wait_status;
	}
	if (p->has_status) {
		r.peak_rss_bytes = p->status.vm_hwm_bytes;
		r.peak_vm_bytes = p->status.vm_peak_bytes;
	}
	r.io = p->io;
	if (p->has_stat) {
		r.cpu_user_ns = proc_ticks_ns(s, p->stat.utime_ticks);
		r.cpu_system_ns = proc_ticks_ns(s, p->stat.stime_ticks);
		r.cpu_ns = p->cpu_ns;
		r.minor_faults = (int64_t)p->stat.minor_faults;
		r.major_faults = (int64_t)p->stat.major_faults;
	}
	if (r.peak_rss_bytes >= 0)
		r.peak_source = PEAK_VMHWM;
	else if (p->shares)
		r.notes |= NOTE_SHARED_MM;
	if (p->taken_in)
		take_off_before(s, p, &r);
	if (r.cpu_ns < 0 && r.cpu_user_ns + r.cpu_system_ns > 0)
		r.cpu_ns = r.cpu_user_ns + r.cpu_system_ns; /* by ticks, of which none is unknown */
	if (r.cpu_ns < 0)
		r.cpu_user_ns = r.cpu_system_ns = UNKNOWN;
	cpu_split(r.cpu_ns, r.cpu_user_ns, r.cpu_system_ns, &r.cpu_user_ns, &r.cpu_system_ns);
	memcpy(r.comm, p->stat.comm, strnlen(p->stat.comm, sizeof(r.comm) - 1));
	return s->base.sink.on_exit(s->base.sink.ctx, &r);
}

int proc_drop(struct source_proc *s, struct seen *p)
{
	int err = proc_hand_on(s, p, false);

	proc_remove_root(s, p->pid);
	HASH_DEL(s->by_pid, p);
	free(p);
	return err;
}

/* Its arguments, again whenever its name changes: that is as much of an exec as can be seen. */
int proc_read_image(struct source_proc *s, struct seen *p)
{
	struct exec_record r = { .key = key_of(s, p) };
	char argv[ARGV_MAX];
	ssize_t len;

	if (!s->taken_in || !strcmp(p->argv_of, p->stat.comm))
		return 0; /* nobody takes records before all is open */
	len = scan_cmdline(p->pid, argv, sizeof(argv));
	if (len <= 0)
		return 0;
	memcpy(p->argv_of, p->stat.comm, sizeof(p->argv_of));
	memcpy(r.comm, p->stat.comm, strnlen(p->stat.comm, sizeof(r.comm) - 1));
	r.argv = argv;
	r.argv_len = (size_t)len;
	r.argv_known = true;
	r.argv_truncated = len == sizeof(argv);
	return s->base.sink.on_exec(s->base.sink.ctx, &r);
}
