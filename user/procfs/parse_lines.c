// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * parse_lines - status, io and vmstat: a key and a number on each line
 */
#include "procfs/parse.h"

#include <errno.h>
#include <string.h>

#include "procfs/parse_cursor.h"

static bool take_key(struct cursor *c, const char *key)
{
	size_t len = strlen(key);

	if ((size_t)(c->end - c->p) < len || memcmp(c->p, key, len) != 0)
		return false;
	c->p += len;
	return true;
}

static bool cut_off(const char *text, size_t len)
{
	return !len || text[len - 1] != '\n';
}

/* The next line without its newline; false at the end. */
static bool take_line(struct cursor *c, struct cursor *ret_line)
{
	const char *newline = NULL;

	if (c->p < c->end)
		newline = memchr(c->p, '\n', (size_t)(c->end - c->p));
	if (!newline)
		return false;
	*ret_line = (struct cursor){ c->p, newline };
	c->p = newline + 1;
	return true;
}

/* "key:  number" or "key:  number kB", and where it goes. */
struct line_field {
	const char *key;
	int64_t *value;
	bool kib;
};

static bool field_parse(struct cursor *line, const struct line_field *field)
{
	int64_t v;

	while (at(line, ' ') || at(line, '\t'))
		line->p++;
	if (!take_i64(line, &v) || v < 0)
		return false;
	if (field->kib && (!take_key(line, " kB") || __builtin_mul_overflow(v, 1024, &v)))
		return false;
	*field->value = v;
	return line->p == line->end;
}

/* Whether every line of @fields that is there could be read; counts them. */
static bool lines_parse(const char *text, size_t len, const struct line_field *fields, size_t n,
			size_t *ret_found)
{
	struct cursor c = { text, text + len }, line;
	size_t found = 0;

	while (take_line(&c, &line)) {
		for (size_t i = 0; i < n; i++) {
			if (!take_key(&line, fields[i].key))
				continue;
			if (!field_parse(&line, &fields[i]))
				return false;
			found++;
			break;
		}
	}
	*ret_found = found;
	return true;
}

static bool state_parse(const char *text, size_t len, char *ret)
{
	struct cursor c = { text, text + len }, line;

	while (take_line(&c, &line)) {
		if (take_key(&line, "State:\t"))
			return take_state(&line, ret);
	}
	return false;
}

int proc_status_parse(const char *text, size_t len, struct proc_status *ret)
{
	struct proc_status st = { -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0 };
	const struct line_field fields[] = {
		{ "VmPeak:", &st.vm_peak_bytes, true },
		{ "VmHWM:", &st.vm_hwm_bytes, true },
		{ "VmRSS:", &st.vm_rss_bytes, true },
		{ "RssAnon:", &st.rss_anon_bytes, true },
		{ "RssFile:", &st.rss_file_bytes, true },
		{ "RssShmem:", &st.rss_shmem_bytes, true },
		{ "VmSwap:", &st.vm_swap_bytes, true },
		{ "HugetlbPages:", &st.hugetlb_bytes, true },
		{ "Threads:", &st.threads, false },
		{ "voluntary_ctxt_switches:", &st.voluntary_switches, false },
		{ "nonvoluntary_ctxt_switches:", &st.involuntary_switches, false },
	};
	size_t found;

	if (cut_off(text, len) || !state_parse(text, len, &st.state) ||
	    !lines_parse(text, len, fields, sizeof(fields) / sizeof(fields[0]), &found))
		return -EBADMSG;
	*ret = st;
	return 0;
}

int proc_kin_parse(const char *text, size_t len, struct proc_kin *ret)
{
	struct proc_kin kin = { -1, -1, -1 };
	const struct line_field fields[] = {
		{ "Tgid:", &kin.tgid, false },
		{ "PPid:", &kin.ppid, false },
		{ "TracerPid:", &kin.tracer_pid, false },
	};
	size_t found;

	if (cut_off(text, len) ||
	    !lines_parse(text, len, fields, sizeof(fields) / sizeof(fields[0]), &found) ||
	    kin.tgid < 0 || kin.ppid < 0 || kin.tracer_pid < 0)
		return -EBADMSG;
	*ret = kin;
	return 0;
}

int proc_rollup_parse(const char *text, size_t len, struct proc_rollup *ret)
{
	struct proc_rollup r = { -1, -1 };
	const struct line_field fields[] = {
		{ "Rss:", &r.rss_bytes, true },
		{ "Pss:", &r.pss_bytes, true },
	};
	size_t found;

	if (cut_off(text, len) ||
	    !lines_parse(text, len, fields, sizeof(fields) / sizeof(fields[0]), &found) ||
	    r.rss_bytes < 0)
		return -EBADMSG;
	*ret = r;
	return 0;
}

int proc_io_parse(const char *text, size_t len, struct proc_io *ret)
{
	struct proc_io io = { -1, -1, -1, -1, -1, -1, -1 };
	const struct line_field fields[] = {
		{ "rchar:", &io.rchar, false },
		{ "wchar:", &io.wchar, false },
		{ "syscr:", &io.syscr, false },
		{ "syscw:", &io.syscw, false },
		{ "read_bytes:", &io.read_bytes, false },
		{ "write_bytes:", &io.write_bytes, false },
		{ "cancelled_write_bytes:", &io.cancelled_write_bytes, false },
	};
	size_t found;

	if (cut_off(text, len) ||
	    !lines_parse(text, len, fields, sizeof(fields) / sizeof(fields[0]), &found) || !found)
		return -EBADMSG;
	*ret = io;
	return 0;
}

/* pgsteal_* twice: by who took the page, and by what the page was. */
struct steal_sums {
	uint64_t by_reclaimer, by_kind;
	bool has_reclaimer, has_kind;
};

static bool steal_parse(struct cursor *line, struct steal_sums *sums)
{
	bool kind = take_key(line, "anon ") || take_key(line, "file ");
	uint64_t *sum = kind ? &sums->by_kind : &sums->by_reclaimer;
	uint64_t v;

	while (!kind && line->p < line->end && !take(line, ' '))
		line->p++;
	if (!take_u64(line, &v) || line->p != line->end || __builtin_add_overflow(*sum, v, sum))
		return false;
	*(kind ? &sums->has_kind : &sums->has_reclaimer) = true;
	return true;
}

int proc_vmstat_parse(const char *text, size_t len, struct proc_vmstat *ret)
{
	struct cursor c = { text, text + len }, line;
	struct steal_sums sums = { 0 };
	bool has_swap = false;
	uint64_t swapped = 0;

	if (cut_off(text, len))
		return -EBADMSG;
	while (take_line(&c, &line)) {
		if (take_key(&line, "pgsteal_")) {
			if (!steal_parse(&line, &sums))
				return -EBADMSG;
		} else if (take_key(&line, "pswpout ")) {
			if (!take_u64(&line, &swapped) || line.p != line.end)
				return -EBADMSG;
			has_swap = true;
		}
	}
	if (!has_swap || (!sums.has_kind && !sums.has_reclaimer))
		return -EBADMSG;
	/*
	 * The two are the same pages, so never their sum; by kind (since 5.8) also counts what a
	 * cgroup's limit took, which the other leaves out (mm/vmscan.c, shrink_inactive_list).
	 */
	*ret = (struct proc_vmstat){
		.stolen_pages = sums.has_kind ? sums.by_kind : sums.by_reclaimer,
		.swapped_out_pages = swapped,
	};
	return 0;
}
