// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * suggest_main - exitmeter suggest, and exitmeter report --from: asked of a database, without
 * privileges
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "journal/json.h"
#include "lib/exitmeter.h"
#include "log.h"
#include "options.h"
#include "output.h"
#include "query/past.h"
#include "units.h"

#define STATUS_NOTHING 1 /* nothing is known of it, or it could not be asked */
#define HOSTS_MAX      4096
#define TEXT_MAX       64

enum {
	OPT_FROM = 256,
	OPT_COMMAND,
	OPT_JSON,
	OPT_RUN,
};

/* The man pages are checked against the --help these make. */
static const struct opt suggest_opts[] = {
	{ OPT_FROM, "from", "URL", "the database: sqlite:FILE or postgresql://..." },
	{ OPT_COMMAND, "command", "PATTERN",
	  "which runs: their command line, program, name, or an attempt's id; * and ?" },
	{ OPT_JSON, "json", "FILE", "write the figures as JSON; - for stdout, fd:N" },
	{ 'h', "help", NULL, "print this text" },
	{ 'V', "version", NULL, "print the version" },
};

/* exitmeter report hands these on. */
static const struct opt report_opts[] = {
	{ OPT_FROM, "from", "URL", "" },  { OPT_RUN, "run", "ID", "" },
	{ OPT_JSON, "json", "FILE", "" }, { 'o', "output", "FILE", "" },
	{ 'a', "append", NULL, "" },
};

struct options {
	bool report;
	char *from_text;
	struct url from;
	const char *command, *run, *json, *output;
	bool append;
};

static void print_help(void)
{
	printf("Usage: exitmeter suggest --from URL --command PATTERN [OPTION...]\n"
	       "Memory and cores to ask for next time, from past runs of the same.\n\n");
	options_print(suggest_opts, sizeof(suggest_opts) / sizeof(suggest_opts[0]));
	printf("\nExit status: 0; 1 no such run is known, or the database cannot be asked;\n"
	       "125 bad usage.\n");
}

static bool take(int key, const char *arg, void *options)
{
	struct options *o = options;
	switch (key) {
	case OPT_FROM:
		o->from_text = strdup(arg);
		return o->from_text && url_parse(o->from_text, &o->from);
	case OPT_COMMAND:
		o->command = arg;
		return true;
	case OPT_RUN:
		o->run = arg;
		return true;
	case OPT_JSON:
		o->json = arg;
		return true;
	case 'o':
		o->output = arg;
		return true;
	case 'a':
		return o->append = true;
	default:
		return false;
	}
}

static bool complete(const struct options *o, bool more)
{
	const char *command = o->report ? "report" : "suggest";

	if (!o->from_text)
		log_line("--from is missing (see exitmeter %s --help)", command);
	else if (o->report ? !o->run : !o->command)
		log_line("--%s is missing (see exitmeter %s --help)", o->report ? "run" : "command",
			 command);
	else if (more)
		log_line("no journal goes with --from");
	else
		return true;
	return false;
}

/* 0: go on; else what to exit with, in *@ret_status. */
static int parse(int argc, char **argv, struct options *o, int *ret_status)
{
	static const struct options_command suggest_command = {
		suggest_opts, sizeof(suggest_opts) / sizeof(suggest_opts[0]), print_help, take
	};
	static const struct options_command report_command = {
		report_opts, sizeof(report_opts) / sizeof(report_opts[0]), print_help, take
	};

	if (!options_take(argc, argv, o->report ? &report_command : &suggest_command, o,
			  ret_status))
		return 1;
	return !complete(o, optind < argc);
}

/* --- values -------------------------------------------------------------------------------- */

static const char *bytes(int64_t v, char buf[TEXT_MAX])
{
	if (v < 0)
		return "?";
	em_bytes_text(v, buf, TEXT_MAX);
	return buf;
}

static const char *seconds(double v, char buf[TEXT_MAX])
{
	if (v < 0)
		return "?";
	em_cpu_text(v, buf, TEXT_MAX);
	return buf;
}

static const char *count(int64_t processes, char buf[TEXT_MAX])
{
	if (processes < 0)
		return "? processes";
	snprintf(buf, TEXT_MAX, "%lld process%s", (long long)processes, processes == 1 ? "" : "es");
	return buf;
}

/* --- suggest ------------------------------------------------------------------------------- */

static void suggestion_text(const struct suggestion *s, FILE *out)
{
	char a[TEXT_MAX], b[TEXT_MAX], c[TEXT_MAX];

	fprintf(out, "exitmeter: ask for %s", bytes(s->memory_bytes, a));
	if (s->cpus > 0)
		fprintf(out, " and %lld core%s", (long long)s->cpus, s->cpus == 1 ? "" : "s");
	fputc('\n', out);
	fprintf(out, "exitmeter: peaks of %zu: half at most %s, 95 %% at most %s, largest %s\n",
		s->n_peaks, bytes(s->median_bytes, a), bytes(s->p95_bytes, b),
		bytes(s->max_bytes, c));
	fprintf(out, "exitmeter: wall time: 95 %% at most %s, longest %s\n",
		seconds(s->p95_wall_s, a), seconds(s->max_wall_s, b));
	if (s->failed)
		fprintf(out, "exitmeter: %zu failed, they are counted in\n", s->failed);
	if (s->for_memory && s->killed_bytes < 0)
		fprintf(out,
			"exitmeter: %zu killed for want of memory, nobody knows with how much\n",
			s->for_memory);
	else if (s->for_memory)
		fprintf(out,
			"exitmeter: %zu killed for want of memory, with up to %s: twice that is "
			"asked for\n",
			s->for_memory, bytes(s->killed_bytes, a));
}

static void suggestion_json(const struct suggestion *s, const char *command, struct json *j)
{
	json_open(j);
	json_key(j, "command");
	json_cstring(j, command);
	json_count(json_key(j, "memory_bytes"), s->memory_bytes);
	json_count(json_key(j, "cpus"), s->cpus);
	json_count(json_key(j, "runs"), (int64_t)s->runs);
	json_count(json_key(j, "failed"), (int64_t)s->failed);
	json_count(json_key(j, "oom_killed"), (int64_t)s->for_memory);
	json_count(json_key(j, "peak_rss_median_bytes"), s->median_bytes);
	json_count(json_key(j, "peak_rss_p95_bytes"), s->p95_bytes);
	json_count(json_key(j, "peak_rss_max_bytes"), s->max_bytes);
	json_count(json_key(j, "oom_killed_peak_rss_bytes"), s->killed_bytes);
	json_figure(json_key(j, "wall_p95_seconds"), s->p95_wall_s);
	json_figure(json_key(j, "wall_max_seconds"), s->max_wall_s);
	json_close(j);
	json_newline(j);
}

/* --- one run ------------------------------------------------------------------------------- */

static void fleet_text(const char *id, const struct fleet_list *l, const struct fleet_host *hosts,
		       size_t n, FILE *out)
{
	char name[256], a[TEXT_MAX], b[TEXT_MAX], c[TEXT_MAX], d[TEXT_MAX], e[TEXT_MAX];
	double cpu_s = 0;
	int64_t processes = 0;

	for (size_t i = 0; i < n; i++) {
		cpu_s = cpu_s < 0 || hosts[i].cpu_s < 0 ? -1 : cpu_s + hosts[i].cpu_s;
		processes = processes < 0 || hosts[i].processes < 0
				    ? -1
				    : processes + hosts[i].processes;
	}
	plain_text(id, strlen(id), name, sizeof(name));
	fprintf(out, "exitmeter: run %s: %zu journal%s of %zu host%s, CPU %s, %s\n", name, l->n,
		l->n == 1 ? "" : "s", n, n == 1 ? "" : "s", seconds(cpu_s, a), count(processes, b));
	for (size_t i = 0; i < n; i++) {
		const struct fleet_host *h = &hosts[i];

		plain_text(h->host, strlen(h->host), name, sizeof(name));
		fprintf(out,
			"exitmeter: %s: peak between %s and %s, CPU %s, wall %s, %s in %zu "
			"journal%s%s",
			name, bytes(h->lower_bytes, a), bytes(h->upper_bytes, b),
			seconds(h->cpu_s, c), seconds(h->wall_s, d), count(h->processes, e),
			h->parts, h->parts == 1 ? "" : "s", h->exact ? "" : ", not exact");
		if (h->failed)
			fprintf(out, ", %zu failed", h->failed);
		fputc('\n', out);
	}
}

static void host_json(const struct fleet_host *h, struct json *j)
{
	json_open(j);
	json_key(j, "host");
	json_cstring(j, h->host);
	json_count(json_key(j, "journals"), (int64_t)h->parts);
	json_count(json_key(j, "failed"), (int64_t)h->failed);
	json_count(json_key(j, "peak_rss_lower_bytes"), h->lower_bytes);
	json_count(json_key(j, "peak_rss_upper_bytes"), h->upper_bytes);
	json_figure(json_key(j, "cpu_seconds"), h->cpu_s);
	json_figure(json_key(j, "wall_seconds"), h->wall_s);
	json_count(json_key(j, "processes"), h->processes);
	json_key(j, "exact");
	json_bool(j, h->exact);
	json_close(j);
}

static void fleet_json(const char *id, const struct fleet_host *hosts, size_t n, struct json *j)
{
	double cpu_s = 0;
	int64_t processes = 0;

	json_open(j);
	json_key(j, "run");
	json_cstring(j, id);
	for (size_t i = 0; i < n; i++) {
		cpu_s = cpu_s < 0 || hosts[i].cpu_s < 0 ? -1 : cpu_s + hosts[i].cpu_s;
		processes = processes < 0 || hosts[i].processes < 0
				    ? -1
				    : processes + hosts[i].processes;
	}
	json_figure(json_key(j, "cpu_seconds"), cpu_s);
	json_count(json_key(j, "processes"), processes);
	json_key(j, "hosts");
	json_array(j);
	for (size_t i = 0; i < n; i++)
		host_json(&hosts[i], j);
	json_array_end(j);
	json_close(j);
	json_newline(j);
}

/* --- putting out --------------------------------------------------------------------------- */

static int put(const char *name, bool append, const char *text, size_t len)
{
	struct output out;
	int err = output_open(name, append, &out);

	if (err)
		return err;
	err = output_put(&out, text, len);
	return output_close(&out, err);
}

static int put_both(const struct options *o, struct json *j, const char *text, size_t len)
{
	int err = j->err;

	if (!err && o->json)
		err = put(o->json, false, j->buf, j->len);
	if (!err && o->output)
		err = put(o->output, o->append, text, len);
	else if (!err && (o->report || !o->json || strcmp(o->json, "-") != 0))
		err = write_all(o->report ? 2 : 1, text, len);
	return err;
}

static int ask_suggest(struct query *q, const struct options *o, struct json *j, FILE *out)
{
	struct past_list past;
	struct suggestion s;
	int err = past_find(q, o->command, &past);

	if (!err && !past.n) {
		log_line("no run of '%s' is known", o->command);
		err = -ENOENT;
	} else if (!err) {
		s = suggest(past.at, past.n);
		suggestion_text(&s, out);
		suggestion_json(&s, o->command, j);
	} else {
		log_line("%s: %s", o->from.text, query_why(q));
	}
	past_free(&past);
	return err;
}

static int ask_report(struct query *q, const struct options *o, struct json *j, FILE *out)
{
	const char *id = o->run ? o->run : "";
	struct fleet_list parts;
	struct fleet_host *hosts = calloc(HOSTS_MAX, sizeof(*hosts));
	int err = past_parts(q, id, &parts);
	size_t n;

	if (err) {
		log_line("%s: %s", o->from.text, query_why(q));
	} else if (!parts.n) {
		log_line("no run '%s' is known", id);
		err = -ENOENT;
	} else if (!hosts) {
		log_line("out of memory");
		err = -ENOMEM;
	} else {
		n = fleet_hosts(parts.at, parts.n, hosts, HOSTS_MAX);
		if (n > HOSTS_MAX) {
			log_line("of %zu hosts the first %d", n, HOSTS_MAX);
			n = HOSTS_MAX;
		}
		fleet_text(id, &parts, hosts, n, out);
		fleet_json(id, hosts, n, j);
	}
	past_parts_free(&parts);
	free(hosts);
	return err;
}

static int ask(const struct options *o)
{
	struct query *q = NULL;
	struct json j;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int err = out ? query_open(&o->from, &q) : -ENOMEM;

	json_init(&j);
	if (err)
		log_line("%s: %s", o->from.text, query_why(q));
	else
		err = o->report ? ask_report(q, o, &j, out) : ask_suggest(q, o, &j, out);
	if (out && fclose(out) && !err)
		err = -ENOMEM;
	if (!err)
		err = put_both(o, &j, text, len);
	query_close(q);
	json_free(&j);
	free(text);
	return err ? STATUS_NOTHING : 0;
}

int main(int argc, char **argv)
{
	/* exitmeter report executes us for --from, under its own name. */
	struct options o = { .report = argc && !strcmp(argv[0], "report") };
	int status;

	if (!parse(argc, argv, &o, &status))
		status = ask(&o);
	free(o.from_text);
	return status;
}
