// SPDX-License-Identifier: GPL-2.0-or-later
#include "hostcmd/look.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host/env.h"
#include "lib/exitmeter.h"
#include "procfs/reading.h"
#include "report/json_env.h"
#include "report/json_fields.h"
#include "report/json_load.h"
#include "units.h"

#define SCHEMA "exitmeter.host/1"

#define SECONDS(ns) ((double)(ns) / (double)NS_PER_S)

/* --- looking ------------------------------------------------------------------------------- */

static int64_t since(int64_t from, int64_t to)
{
	return from < 0 || to < from ? UNKNOWN : to - from;
}

static struct psi psi_since(const struct psi *from, const struct psi *to)
{
	return (struct psi){ since(from->some_ns, to->some_ns), since(from->full_ns, to->full_ns) };
}

int look_take(const struct load_source *s, int64_t window_ns, struct look *ret)
{
	struct env_reading reading = { .of = 0 };
	char *cwd = getcwd(NULL, 0); /* NULL: it was removed */
	struct env before;
	int err;

	*ret = (struct look){ .env = env_blank(), .load = host_load_blank() };
	env_read_root(&ret->env, getpid());
	env_read_start(&ret->env, &reading, cwd, sysconf(_SC_NPROCESSORS_ONLN));
	free(cwd);
	before = ret->env; /* its numbers: the texts are the other's */
	err = load_watch_host(s, window_ns, &ret->load);
	env_read_end(&ret->env, &reading);
	ret->waited_cpu = psi_since(&before.psi_cpu, &ret->env.psi_cpu);
	ret->waited_memory = psi_since(&before.psi_memory, &ret->env.psi_memory);
	ret->waited_io = psi_since(&before.psi_io, &ret->env.psi_io);
	ret->at_ns = clock_ns(CLOCK_REALTIME);
	return err;
}

void look_free(struct look *l)
{
	host_load_free(&l->load);
	env_free(&l->env);
}

/* --- for people ---------------------------------------------------------------------------- */

/* A growing line: "part, part"; what does not fit is left out. */
struct line {
	char text[512];
	size_t len;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *l, const char *format, ...)
{
	char part[256];
	va_list args;

	va_start(args, format);
	vsnprintf(part, sizeof(part), format, args);
	va_end(args);
	if (l->len)
		l->len += (size_t)snprintf(l->text + l->len, sizeof(l->text) - l->len, ", ");
	if (l->len < sizeof(l->text))
		l->len += (size_t)plain_text(part, strlen(part), l->text + l->len,
					     sizeof(l->text) - l->len);
	if (l->len >= sizeof(l->text))
		l->len = sizeof(l->text) - 1;
}

static void put(const char *name, struct line *l)
{
	if (l->len)
		printf("%-12s  %s\n", name, l->text);
	*l = (struct line){ .len = 0 };
}

static void add_text(struct line *l, const char *before, const char *text)
{
	if (text)
		add(l, "%s%s", before, text);
}

static void add_bytes(struct line *l, int64_t bytes)
{
	char text[32];

	if (em_bytes_text(bytes, text, sizeof(text)))
		add(l, "%s", text);
}

static void add_waited(struct line *l, const char *what, const struct psi *p)
{
	if (p->some_ns >= 0)
		add(l, "%s %.2f s", what, SECONDS(p->some_ns));
}

static void put_machine(const struct env *e)
{
	struct line l = { .len = 0 };

	add_text(&l, "", e->kernel);
	add_text(&l, "", e->machine);
	put("kernel", &l);
	if (e->cpus >= 0)
		add(&l, "%lld", (long long)e->cpus);
	if (e->affinity_cpus >= 0)
		add(&l, "%lld for this process", (long long)e->affinity_cpus);
	add_text(&l, "", e->cpu_model);
	add_text(&l, "governor ", e->governor);
	put("processors", &l);
	add_bytes(&l, e->memory_bytes);
	if (e->page_size >= 0)
		add(&l, "pages of %lld bytes", (long long)e->page_size);
	add_text(&l, "huge pages ", e->thp);
	put("memory", &l);
	add_text(&l, "", e->sched_class);
	if (e->sched_priority >= 0)
		add(&l, "priority %lld", (long long)e->sched_priority);
	put("scheduling", &l);
	if (e->cgroup.version >= 0)
		add(&l, "version %lld", (long long)e->cgroup.version);
	if (e->cgroup.cpu_limit >= 0)
		add(&l, "at most %.2f processors", e->cgroup.cpu_limit);
	if (e->cgroup.memory_limit_bytes >= 0)
		add(&l, "at most %lld bytes", (long long)e->cgroup.memory_limit_bytes);
	put("cgroup", &l);
	add_text(&l, "", e->container);
	put("container", &l);
	add_text(&l, "", e->work_fs_type);
	put("work folder", &l);
	add_text(&l, "", e->boot_id);
	put("boot", &l);
}

static void verdict_text(const struct host_load *h, char *buf, size_t cap)
{
	const em_verdict v = { .host = h->verdict, .foreign = h->foreign_cores };

	if (!em_verdict_text(&v, buf, cap))
		snprintf(buf, cap, "host unavailable: %s", h->reason ? h->reason : "no verdict");
}

void look_print(const struct look *l)
{
	const struct host_load *h = &l->load;
	struct line line = { .len = 0 };
	char text[128];

	verdict_text(h, text, sizeof(text));
	printf("%s", text);
	if (h->verdict != EM_HOST_UNAVAILABLE)
		printf(" in %.2f s; busy from %.2f on", SECONDS(h->window_ns), h->threshold_cores);
	printf("\n");
	if (l->env.load_end[0] >= 0)
		add(&line, "%.2f %.2f %.2f", l->env.load_end[0], l->env.load_end[1],
		    l->env.load_end[2]);
	put("load", &line);
	add_waited(&line, "for processors", &l->waited_cpu);
	add_waited(&line, "memory", &l->waited_memory);
	add_waited(&line, "I/O", &l->waited_io);
	put("waited", &line);
	if (h->steal_ns >= 0)
		add(&line, "%.2f s", SECONDS(h->steal_ns));
	put("stolen", &line);
	put_machine(&l->env);
}

void look_print_line(const struct look *l)
{
	char at[40], text[128];

	wall_clock_text(l->at_ns, at, sizeof(at));
	verdict_text(&l->load, text, sizeof(text));
	printf("%s %s\n", at, text);
}

/* --- for programs -------------------------------------------------------------------------- */

int look_print_json(const struct look *l)
{
	struct env window = env_blank();
	struct json j;
	char at[40];
	int err;

	window.psi_cpu = l->waited_cpu;
	window.psi_memory = l->waited_memory;
	window.psi_io = l->waited_io;
	wall_clock_text(l->at_ns, at, sizeof(at));
	json_init(&j);
	json_open(&j);
	json_key(&j, "schema");
	json_cstring(&j, SCHEMA);
	json_key(&j, "at");
	json_cstring(&j, at);
	json_key(&j, "host_load");
	json_load(&j, &l->load);
	json_key(&j, "pressure");
	json_psi(&j, &window);
	json_key(&j, "env");
	json_env(&j, &l->env);
	json_close(&j);
	json_newline(&j);
	err = j.err;
	if (!err)
		fwrite(j.buf, 1, j.len, stdout);
	json_free(&j);
	return err;
}
