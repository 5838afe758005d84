// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * trace - Chrome trace event JSON, for Perfetto and about:tracing
 *
 * One track a process: it is a "process" of the trace with one slice from its start to its end.
 * A track's number is the pid, but for a pid that comes again, which gets one above all pids.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "journal/json.h"
#include "report/gather.h"
#include "report/json_summary.h"
#include "units.h"

#define PID_LIMIT ((int64_t)1 << 22) /* the kernel's PID_MAX_LIMIT */

struct trace {
	struct json j;
	unsigned char *seen; /* a bit a pid */
	int64_t next;        /* track beyond all pids */
};

/* Trace times are microseconds; here with three decimals. */
static void put_us(struct json *j, const char *key, int64_t ns)
{
	json_key(j, key);
	json_double(j, (double)ns / (double)NS_PER_US);
}

static void begin(struct trace *t, const char *ph, const char *name, int64_t track)
{
	json_open(&t->j);
	json_key(&t->j, "ph");
	json_cstring(&t->j, ph);
	json_key(&t->j, "name");
	json_cstring(&t->j, name);
	json_key(&t->j, "pid");
	json_int(&t->j, track);
	json_key(&t->j, "tid");
	json_int(&t->j, track);
}

static void end(struct trace *t)
{
	json_close(&t->j);
}

static int64_t track_of(struct trace *t, int32_t pid)
{
	unsigned char bit;

	if (pid < 0 || pid >= PID_LIMIT)
		return t->next++;
	bit = (unsigned char)(1 << (pid & 7));
	if (t->seen[pid >> 3] & bit)
		return t->next++;
	t->seen[pid >> 3] |= bit;
	return pid;
}

static void name_track(struct trace *t, int64_t track, const char *name)
{
	begin(t, "M", "process_name", track);
	json_key(&t->j, "args");
	json_open(&t->j);
	json_key(&t->j, "name");
	json_cstring(&t->j, name);
	json_close(&t->j);
	end(t);
}

static void put_process(struct trace *t, const struct process *p, const struct summary *s)
{
	int64_t track = track_of(t, p->pid);
	int64_t start = p->started_ns == TIME_NONE ? 0 : p->started_ns;
	int64_t until = p->ended_ns == TIME_NONE ? s->aged_ns : p->ended_ns;
	char name[EM_COMM_LEN + 1];

	memcpy(name, p->comm, EM_COMM_LEN);
	name[EM_COMM_LEN] = '\0';
	name_track(t, track, name);
	begin(t, "X", name, track);
	put_us(&t->j, "ts", start);
	put_us(&t->j, "dur", until > start ? until - start : 0);
	json_key(&t->j, "args");
	json_process(&t->j, p);
	end(t);
}

int format_trace(const struct format_input *in, const struct document_sink *to)
{
	struct trace t = { .next = PID_LIMIT };
	struct process *p;
	int err = 0;

	t.seen = calloc(1, (size_t)PID_LIMIT / 8);
	if (!t.seen)
		return -ENOMEM;
	json_init(&t.j);
	json_open(&t.j);
	json_key(&t.j, "displayTimeUnit");
	json_cstring(&t.j, "ms");
	json_key(&t.j, "traceEvents");
	json_array(&t.j);
	while (!err && (p = in->rows->next(in->rows->ctx))) {
		put_process(&t, p, in->summary);
		process_unref(p);
		err = json_hand_on(&t.j, GATHER_CHUNK, to);
	}
	json_array_end(&t.j);
	json_close(&t.j);
	json_newline(&t.j);
	if (!err)
		err = json_hand_on(&t.j, 0, to);
	json_free(&t.j);
	free(t.seen);
	return err;
}
