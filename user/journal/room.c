// SPDX-License-Identifier: GPL-2.0-or-later
#include "journal/room.h"

void room_run_init(struct room_run *r)
{
	*r = (struct room_run){ .left_out = left_out_blank() };
}

/* The first of them says from when on the file has not all. */
static void begin_leaving_out(struct room_run *r, int64_t t_ns)
{
	if (r->left_out.from_ns != TIME_NONE)
		return;
	r->left_out.from_ns = t_ns;
	r->next_ns = t_ns + t_ns / 4;
}

static bool has_room(struct room *of, enum room_line kind, size_t len)
{
	if (kind == ROOM_RESULT)
		return true;
	of->full |= of->used_bytes + (int64_t)len > of->most_bytes;
	return !of->full;
}

bool room_takes(struct room *of, struct room_run *r, enum room_line kind, size_t len, int64_t t_ns)
{
	bool takes = has_room(of, kind, len);

	if (!takes)
		begin_leaving_out(r, t_ns);
	if (!takes && kind == ROOM_SAMPLE) {
		takes = t_ns >= r->next_ns && t_ns > r->left_out.from_ns;
		if (takes)
			r->next_ns = t_ns + t_ns / 4;
		else
			r->left_out.samples++;
	}
	if (takes)
		of->used_bytes += (int64_t)len;
	return takes;
}

void room_row_out(struct room_run *r, const struct process *p)
{
	r->left_out.processes++;
	r->left_out.failed += process_failed(p);
}

void room_row_again(struct room_run *r, const struct process *p)
{
	r->left_out.processes--;
	r->left_out.failed -= process_failed(p);
}
