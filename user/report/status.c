// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/gather.h"
#include "units.h"

/* As asctime has it, in local time; it is the moment of writing where the end is not known. */
static void put_date(FILE *out, const struct summary *s, int64_t ended_ns)
{
	int64_t started_ns = s->run.started_at_ns / NS_PER_MS * NS_PER_MS; /* as a journal has it */
	int64_t ns = s->aged_at_ns;
	char text[64] = "";
	struct tm tm;
	time_t t;

	if (ended_ns != TIME_NONE && s->run.started_at_ns >= 0 &&
	    __builtin_add_overflow(started_ns, ended_ns, &ns))
		return;
	t = (time_t)(ns / NS_PER_S);
	if (ns >= 0 && localtime_r(&t, &tm) && asctime_r(&tm, text))
		fprintf(out, "Date: %s", text); /* it ends the line */
}

static void put_argument(FILE *out, const char *arg, size_t len)
{
	size_t cap = 4 * len + 1;
	char *safe = malloc(cap);

	if (!safe)
		return;
	harmless_text(arg, len, safe, cap);
	fprintf(out, " %s", safe);
	free(safe);
}

static void put_arguments(FILE *out, const struct process *p)
{
	const char *at = p->argv, *end = p->argv + p->argv_len;

	if (!p->argv_known)
		put_argument(out, p->comm, strnlen(p->comm, sizeof(p->comm)));
	while (p->argv_known && at < end) {
		size_t len = strnlen(at, (size_t)(end - at));

		put_argument(out, at, len);
		at += len + 1;
	}
}

static void put_size(FILE *out, const char *label, int64_t bytes)
{
	if (bytes >= 0)
		fprintf(out, "%s:\t%8lld kB\n", label, (long long)(bytes / 1024));
}

/* @command: as it was started; NULL: what the row has. */
static void put_record(FILE *out, const struct summary *s, const struct process *p, char **command)
{
	put_date(out, s, p->ended_ns);
	fputs("Cmd: ", out);
	for (char **arg = command; arg && *arg; arg++)
		put_argument(out, *arg, strlen(*arg));
	if (!command)
		put_arguments(out, p);
	putc('\n', out);
	put_size(out, "VmPeak", p->peak_vm_bytes);
	put_size(out, "VmHWM", p->final_peak_bytes);
	putc('\n', out);
}

static bool is_root(const struct summary *s, const struct process *p)
{
	return s->root && p->pid == s->root->pid && p->started_ns == s->root->started_ns;
}

/* Its row may be lost: when it ended is then all there is. */
static int put_root(FILE *out, const struct summary *s)
{
	struct process *blank = s->root ? NULL : process_blank(0);

	if (!s->root && !blank)
		return -ENOMEM;
	if (blank)
		blank->ended_ns = s->run.wall_ns < 0 ? TIME_NONE : s->run.wall_ns;
	put_record(out, s, s->root ? s->root : blank, s->run.command);
	process_unref(blank);
	return 0;
}

int document_status(const struct summary *s, const struct document_rows *all,
		    const struct document_sink *to)
{
	struct gathered g;
	struct process *p;
	int err = gather_open(&g);

	if (err)
		return err;
	while (all && !err && (p = all->next(all->ctx))) {
		if (!is_root(s, p))
			put_record(g.f, s, p, NULL);
		process_unref(p);
		err = gather_hand_on(&g, GATHER_CHUNK, to);
	}
	if (!err)
		err = put_root(g.f, s);
	return gather_close(&g, err, to);
}
