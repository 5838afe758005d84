// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_metrics - runs as Prometheus and OpenMetrics have them, on fixed summaries (INTERFACE 6)
 */
#include <errno.h>
#include <stdlib.h>

#include "format/metrics_labels.h"
#include "format/openmetrics.h"
#include "format/prometheus.h"
#include "tap.h"
#include "units.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static char *take(void *copy)
{
	if (!copy)
		exit(99);
	return copy;
}

/* --- labels -------------------------------------------------------------------------------- */

#define LONG "0123456789012345678901234567890123456789012345678901234567890123456789"

static const struct label_row {
	const char *label;
	const char *words[4], *exe; /* of the command */
	const char *key, *value;    /* a label of the run's */
	const char *want;
} labels[] = {
	{ "words of a command", { "make", "-j2" }, NULL, NULL, NULL, "command=\"make -j2\"" },
	{ "not recorded: the program", { NULL }, "/usr/bin/make", NULL, NULL, "command=\"make\"" },
	{ "nothing is known", { NULL }, NULL, NULL, NULL, "command=\"\"" },
	{ "quote and backslash",
	  { "a\"b", "c\\d" },
	  NULL,
	  NULL,
	  NULL,
	  "command=\"a\\\"b c\\\\\\\\d\"" },
	{ "newline, escape sequence, no UTF-8",
	  { "a\nb", "\x1b[31m", "\xff\xc3\xa9" },
	  NULL,
	  NULL,
	  NULL,
	  "command=\"a\\\\x0ab \\\\x1b[31m \\\\xff\xc3\xa9\"" },
	{ "an end of the label that is none",
	  { "x\"} 1\n# EOF" },
	  NULL,
	  NULL,
	  NULL,
	  "command=\"x\\\"} 1\\\\x0a# EOF\"" },
	{ "cut",
	  { LONG LONG, LONG LONG },
	  NULL,
	  NULL,
	  NULL,
	  "command=\"" LONG LONG " " LONG "012345678901234567890123456789012345678...\"" },
	{ "a label of the run", { "x" }, NULL, "host", "a", "command=\"x\",host=\"a\"" },
	{ "its value escaped", { "x" }, NULL, "k", "\"\n", "command=\"x\",k=\"\\\"\\\\x0a\"" },
	{ "a key of other characters",
	  { "x" },
	  NULL,
	  "a-b.c d",
	  "1",
	  "command=\"x\",a_b_c_d=\"1\"" },
	{ "a key that begins with a digit", { "x" }, NULL, "1st", "1", "command=\"x\",_1st=\"1\"" },
	{ "a key of an attack", { "x" }, NULL, "a\"} 1\n", "1", "command=\"x\",a___1_=\"1\"" },
	{ "an empty key", { "x" }, NULL, "", "1", "command=\"x\",_=\"1\"" },
	{ "never a pid", { "x" }, NULL, "pid", "1", "command=\"x\",label_pid=\"1\"" },
	{ "one of ours", { "x" }, NULL, "command", "1", "command=\"x\",label_command=\"1\"" },
	{ "one of Prometheus's",
	  { "x" },
	  NULL,
	  "__name__",
	  "1",
	  "command=\"x\",label___name__=\"1\"" },
	{ "an empty value", { "x" }, NULL, "k", "", "command=\"x\",k=\"\"" },
};

static void test_labels(void)
{
	for (size_t i = 0; i < COUNT(labels); i++) {
		const struct label_row *r = &labels[i];
		struct label l = { (char *)(uintptr_t)r->key, (char *)(uintptr_t)r->value };
		struct run_facts run = {
			.command = r->words[0] ? (char **)(uintptr_t)r->words : NULL,
			.exe_path = (char *)(uintptr_t)r->exe,
			.labels = &l,
			.n_labels = r->key ? 1 : 0,
		};
		char *got = labels_of_run(&run, false);

		EQ_S(got, r->want, "labels: %s", r->label);
		free(got);
	}
}

static void test_keys_again(void)
{
	char id[] = "id", a[] = "a.b", b[] = "a-b", one[] = "1", two[] = "2", x[] = "x";
	char *words[] = { x, NULL };
	struct label l[] = { { a, one }, { b, two } };
	struct run_facts run = { .id = id, .command = words, .labels = l, .n_labels = 2 };
	char *got = labels_of_run(&run, true);

	EQ_S(got, "run=\"id\",command=\"x\",a_b=\"2\"", "of keys that come out the same the last");
	free(got);
}

/* --- texts --------------------------------------------------------------------------------- */

static int append(void *ctx, const char *data, size_t len)
{
	char **text = ctx;
	size_t had = *text ? strlen(*text) : 0;

	*text = take(realloc(*text, had + len + 1));
	memcpy(*text + had, data, len);
	(*text)[had + len] = '\0';
	return 0;
}

static char *text_of(const struct metrics *m, const struct metrics_form *form)
{
	char *text = NULL;
	const struct document_sink to = { append, &text };

	append(&text, "", 0);
	EQ_I(metrics_text(m, form, &to), 0, "put out");
	return text;
}

/* make for 12.5 s from 1000000000 on, of which only that is known. */
static struct summary *run_of(const char *id, int64_t started_s)
{
	struct summary *s = (void *)take((void *)summary_new());

	s->run.id = take(strdup(id));
	s->run.command = (void *)take(calloc(2, sizeof(char *)));
	s->run.command[0] = take(strdup("make"));
	s->run.started_at_ns = started_s * NS_PER_S;
	s->run.wall_ns = 12500 * NS_PER_MS;
	s->completeness.exact = UNKNOWN;
	s->aged_at_ns = s->run.started_at_ns + 13 * NS_PER_S;
	return s;
}

static void fill(struct summary *s)
{
	s->env.kernel = take(strdup("6.1.0"));
	s->usage.peak_lower_bytes = 9007199254740993;
	s->usage.peak_upper_bytes = 0;
	s->usage.cpu_ns = 1500 * NS_PER_MS;
	s->usage.cpu_user_ns = 1500 * NS_PER_MS;
	s->usage.cpu_system_ns = 0;
	s->usage.peak_cpus = 1.25;
	s->usage.total_processes = 214;
	s->run.exit_signal = 9;
	s->host_load.foreign_cores = -0.015625;
	s->host_load.verdict = EM_HOST_QUIET;
	s->completeness.exact = 1;
	s->completeness.events_lost = 0;
}

#define HEAD(name, type) "# TYPE " name " " type "\n"

/* The text without its HELP lines, whose words are no promise. */
static void drop_help(char *text)
{
	char *to = text;

	for (const char *line = text; *line;) {
		size_t len = strcspn(line, "\n") + 1;

		if (strncmp(line, "# HELP ", 7) != 0) {
			memmove(to, line, len);
			to += len;
		}
		line += len;
	}
	*to = '\0';
}

static void test_prometheus(void)
{
	static const char
		want[] =
			HEAD("exitmeter_run_info",
			     "gauge") "exitmeter_run_info{command=\"make\","
				      "kernel=\"6.1.0\"} 1\n" HEAD(
					      "exitmeter_run_peak_rss_bytes",
					      "gauge") "exitmeter_run_peak_"
						       "rss_bytes{command="
						       "\"make\",kind="
						       "\"lower\"} "
						       "9007199254740993\n"
						       "exitmeter_run_peak_"
						       "rss_bytes{command="
						       "\"make\",kind="
						       "\"upper\"} 0\n" HEAD(
							       "exitmeter_"
							       "run_cpu_"
							       "seconds_"
							       "total",
							       "counter") "e"
									  "x"
									  "i"
									  "t"
									  "m"
									  "e"
									  "t"
									  "e"
									  "r"
									  "_"
									  "r"
									  "u"
									  "n"
									  "_"
									  "c"
									  "p"
									  "u"
									  "_"
									  "s"
									  "e"
									  "c"
									  "o"
									  "n"
									  "d"
									  "s"
									  "_"
									  "t"
									  "o"
									  "t"
									  "a"
									  "l"
									  "{"
									  "c"
									  "o"
									  "m"
									  "m"
									  "a"
									  "n"
									  "d"
									  "="
									  "\"make\",mode=\"user\"} "
									  "1.5\n"
									  "e"
									  "x"
									  "i"
									  "t"
									  "m"
									  "e"
									  "t"
									  "e"
									  "r"
									  "_"
									  "r"
									  "u"
									  "n"
									  "_"
									  "c"
									  "p"
									  "u"
									  "_"
									  "s"
									  "e"
									  "c"
									  "o"
									  "n"
									  "d"
									  "s"
									  "_"
									  "t"
									  "o"
									  "t"
									  "a"
									  "l"
									  "{"
									  "c"
									  "o"
									  "m"
									  "m"
									  "a"
									  "n"
									  "d"
									  "="
									  "\"make\",mode="
									  "\"system\"} 0\n" HEAD("e"
												 "x"
												 "i"
												 "t"
												 "m"
												 "e"
												 "t"
												 "e"
												 "r"
												 "_"
												 "r"
												 "u"
												 "n"
												 "_"
												 "p"
												 "e"
												 "a"
												 "k"
												 "_"
												 "c"
												 "p"
												 "u"
												 "s",
												 "g"
												 "a"
												 "u"
												 "g"
												 "e") "exitmeter_run_peak_cpus{command=\"make\"} 1.25\n" HEAD("exitmeter_run_duration_seconds", "gauge") "exitmeter_run_duration_seconds{command=\"make\"} 12.5\n" HEAD("exitmeter_run_start_time_seconds", "gauge") "exitmeter_run_start_time_seconds{command=\"make\"} 1000000000\n" HEAD("exitmeter_run_exit_status", "gauge") "exitmeter_run_exit_status{command=\"make\"} 137\n" HEAD("exitmeter_run_processes_total", "counter") "exitmeter_run_processes_total{command=\"make\"} 214\n" HEAD("exitmeter_run_foreign_cores",
																																																																								    "gauge") "exitmeter_run_foreign_cores{command=\"make\"} -0.015625\n" HEAD("exitmeter_run_cotenant", "gauge") "exitmeter_run_cotenant{command=\"make\"} 0\n" HEAD("exitmeter_run_exact", "gauge") "exitmeter_run_exact{command=\"make\"} 1\n" HEAD("exitmeter_events_lost_total",
																																																																																																						      "counter") "exitmeter_events_lost_total{command=\"make\"} 0\n";
	struct summary *s = run_of("a", 1000000000);
	struct metrics m;
	char *text;

	metrics_init(&m, false);
	fill(s);
	EQ_I(metrics_add_run(&m, s), 0, "added");
	text = text_of(&m, &prometheus);
	OK(strstr(text, "# HELP exitmeter_run_info "), "a help for each, before its type");
	drop_help(text);
	EQ_S(text, want, "all there is; measured 0 is 0");
	free(text);
	metrics_free(&m);
	summary_free(s);
}

static void test_unknown(void)
{
	struct summary *s = run_of("a", 1000000000);
	struct metrics m;
	char *text;

	s->run.started_at_ns = s->run.wall_ns = UNKNOWN;
	metrics_init(&m, false);
	metrics_add_run(&m, s);
	text = text_of(&m, &prometheus);
	drop_help(text);
	EQ_S(text, HEAD("exitmeter_run_info", "gauge") "exitmeter_run_info{command=\"make\"} 1\n",
	     "what is unknown is left out, its head too");
	free(text);
	metrics_free(&m);
	s->usage.cpu_ns = NS_PER_S;
	metrics_init(&m, false);
	metrics_add_run(&m, s);
	text = text_of(&m, &prometheus);
	OK(strstr(text, "_cpu_seconds_total{command=\"make\",mode=\"unknown\"} 1\n"),
	   "CPU of which user and system are not known");
	OK(!strstr(text, "mode=\"user\""), "nor told");
	free(text);
	metrics_free(&m);
	summary_free(s);
	metrics_init(&m, false);
	text = text_of(&m, &openmetrics);
	EQ_S(text, "# EOF\n", "nothing at all");
	free(text);
	metrics_free(&m);
}

/* How often @what stands in @text. */
static size_t times(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

static void test_energy(void)
{
	struct summary *s = run_of("a", 1000000000);
	struct metrics m;
	char *text;

	s->n_energies = 3;
	s->energies = (void *)take(calloc(3, sizeof(*s->energies)));
	for (size_t i = 0; i < 3; i++)
		s->energies[i] = energy_blank();
	s->energies[0].domain = take(strdup("package-0"));
	s->energies[0].delta_uj = 12345000;
	s->energies[0].quality = take(strdup("measured"));
	s->energies[1].domain = take(strdup("package-1"));
	s->energies[1].status = take(strdup("stale"));
	s->energies[2].domain = take(strdup("package-0"));
	s->energies[2].delta_uj = 1;
	s->energies[2].quality = take(strdup("measured"));
	metrics_init(&m, false);
	EQ_I(metrics_add_run(&m, s), 0, "added");
	text = text_of(&m, &prometheus);
	OK(strstr(text,
		  "exitmeter_energy_joules_total{command=\"make\",domain=\"package-0\"} 12.345\n"),
	   "a counter by its domain, in joules");
	OK(!strstr(text, "package-1"), "one that was not measured is left out");
	EQ_I(times(text, "domain=\"package-0\""), 1, "no domain twice");
	free(text);
	metrics_free(&m);
	summary_free(s);
}

static void test_several(void)
{
	static const int64_t starts[] = { 2000, 3000, 1000 };
	struct tree_now now = { 4096, NS_PER_S, 3, 0.5 };
	struct metrics m;
	char *text;

	metrics_init(&m, false);
	for (size_t i = 0; i < COUNT(starts); i++) {
		struct summary *s = run_of("x", starts[i]);

		metrics_add_run(&m, s);
		if (!i)
			metrics_add_tree(&m, &s->run, &s->env, &now);
		summary_free(s);
	}
	text = text_of(&m, &prometheus);
	EQ_I(times(text, "\nexitmeter_run_start_time_seconds{"), 1, "one series of a name");
	OK(strstr(text, "_start_time_seconds{command=\"make\"} 3000\n"), "of the last to begin");
	EQ_I(times(text, "\nexitmeter_run_info{"), 1, "one info of what runs and what has ended");
	OK(strstr(text, "\nexitmeter_tree_resident_memory_bytes{command=\"make\"} 4096\n"),
	   "and the one that runs");
	OK(strstr(text, "\nexitmeter_tree_cpus{command=\"make\"} 0.5\n"), "with its cores");
	free(text);
	metrics_free(&m);
}

/* --- OpenMetrics --------------------------------------------------------------------------- */

static void test_backfill(void)
{
	static const struct em_mark marks[] = { { 13, -1, 0, -1 },
						{ 12, 4096, .5, .5 },
						{ 11.9996, 8192, .75, .25 },
						{ 11.9994, 1024, 1, -1 },
						{ .5, -1, 1.5, -1 } };
	static const char want[] = HEAD(
		"exitmeter_run",
		"info") "exitmeter_run_info{run=\"id\",command=\"make\"} 1 "
			"1000000012.500\n" HEAD(
				"exitmeter_run_duration_seconds",
				"gauge") "# UNIT exitmeter_run_duration_seconds seconds\n"
					 "exitmeter_run_duration_seconds{run=\"id\",command="
					 "\"make\"} 12.5 "
					 "1000000012.500\n" HEAD(
						 "exitmeter_run_start_time_seconds",
						 "gauge") "# UNIT exitmeter_run_start_time_seconds "
							  "seconds\n"
							  "exitmeter_run_start_time_seconds{run="
							  "\"id\",command=\"make\"} "
							  "1000000000 1000000012.500\n" HEAD(
								  "exitmeter_tree_resident_memory_"
								  "bytes",
								  "gauge") "# UNIT "
									   "exitmeter_tree_"
									   "resident_memory_bytes "
									   "bytes\n"
									   "exitmeter_tree_"
									   "resident_memory_bytes{"
									   "run=\"id\",command="
									   "\"make\"} "
									   "8192 1000000001.000\n"
									   "exitmeter_tree_"
									   "resident_memory_bytes{"
									   "run=\"id\",command="
									   "\"make\"} "
									   "1024 "
									   "1000000001.001\n" HEAD(
										   "exitmeter_tree_"
										   "cpu_seconds",
										   "counter") "# "
											      "UNIT"
											      " exi"
											      "tmet"
											      "er_"
											      "tree"
											      "_cpu"
											      "_sec"
											      "onds"
											      " sec"
											      "onds"
											      "\n"
											      "exit"
											      "mete"
											      "r_"
											      "tree"
											      "_cpu"
											      "_sec"
											      "onds"
											      "_tot"
											      "al{"
											      "run="
											      "\"id"
											      "\","
											      "comm"
											      "and="
											      "\"ma"
											      "ke\""
											      "} 0 "
											      "1000"
											      "0000"
											      "00."
											      "000"
											      "\n"
											      "exit"
											      "mete"
											      "r_"
											      "tree"
											      "_cpu"
											      "_sec"
											      "onds"
											      "_tot"
											      "al{"
											      "run="
											      "\"id"
											      "\","
											      "comm"
											      "and="
											      "\"ma"
											      "ke\""
											      "} "
											      "0."
											      "75 "
											      "1000"
											      "0000"
											      "01."
											      "000"
											      "\n"
											      "exit"
											      "mete"
											      "r_"
											      "tree"
											      "_cpu"
											      "_sec"
											      "onds"
											      "_tot"
											      "al{"
											      "run="
											      "\"id"
											      "\","
											      "comm"
											      "and="
											      "\"ma"
											      "ke\""
											      "} 1 "
											      "1000"
											      "0000"
											      "01."
											      "001"
											      "\n"
											      "exit"
											      "mete"
											      "r_"
											      "tree"
											      "_cpu"
											      "_sec"
											      "onds"
											      "_tot"
											      "al{"
											      "run="
											      "\"id"
											      "\","
											      "comm"
											      "and="
											      "\"ma"
											      "ke\""
											      "} "
											      "1.5 "
											      "1000"
											      "0000"
											      "12."
											      "500"
											      "\n" HEAD(
												      "exitmeter_tree_cpus",
												      "gauge") "exitmeter_tree_cpus{run=\"id\",command=\"make\"} 0.5 1000000001.000\n"
													       "# EOF\n";
	struct summary *s = run_of("id", 1000000000);
	struct metrics m;
	char *text;

	memcpy(s->marks, marks, sizeof(marks));
	s->n_marks = COUNT(marks);
	metrics_init(&m, true);
	EQ_I(metrics_add_run(&m, s), 0, "added");
	text = text_of(&m, &openmetrics);
	drop_help(text);
	EQ_S(text, want, "every mark with its time; two in a millisecond are one");
	free(text);
	metrics_free(&m);
	s->run.started_at_ns = s->aged_at_ns = UNKNOWN;
	metrics_init(&m, true);
	metrics_add_run(&m, s);
	text = text_of(&m, &openmetrics);
	OK(!strstr(text, "exitmeter_tree_"), "no marks where their time is not known");
	free(text);
	metrics_free(&m);
	summary_free(s);
}

/* What a reader that multiplies by 1000 and cuts off makes of the times: each once, in order. */
static void test_times(void)
{
	struct summary *s = run_of("id", 1796001687);
	const char *at;
	int64_t before = 0;
	size_t n = 0, wrong = 0;
	struct metrics m;
	char *text;

	s->n_marks = EM_MAX_MARKS;
	for (size_t i = 0; i < s->n_marks; i++)
		s->marks[i] = (struct em_mark){ 1.0 - (double)i * 0.0007, 1, 1, 1 };
	metrics_init(&m, true);
	metrics_add_run(&m, s);
	text = text_of(&m, &openmetrics);
	for (at = text; (at = strstr(at, "\nexitmeter_tree_cpus{")); n++) {
		int64_t ms;

		at = strstr(at, "} 1 ") + 4;
		ms = (int64_t)(strtod(at, NULL) * 1000);
		wrong += ms <= before;
		before = ms;
	}
	EQ_I(wrong, 0, "no time twice");
	OK(n > 500, "%zu marks of 0.7 s", n);
	free(text);
	metrics_free(&m);
	summary_free(s);
}

static void test_self(void)
{
	static const struct self_now now = { 1500 * NS_PER_MS, 4096, UNKNOWN, 7, 1024, NS_PER_S };
	static const char want[] = HEAD(
		"process_cpu_seconds",
		"counter") "# UNIT process_cpu_seconds seconds\nprocess_cpu_seconds_total "
			   "1.5\n" HEAD(
				   "process_resident_memory_bytes",
				   "gauge") "# UNIT process_resident_memory_bytes "
					    "bytes\nprocess_resident_memory_bytes "
					    "4096\n" HEAD(
						    "process_open_fds",
						    "gauge") "process_open_fds "
							     "7\n" HEAD(
								     "process_"
								     "max_fds",
								     "gauge") "p"
									      "r"
									      "o"
									      "c"
									      "e"
									      "s"
									      "s"
									      "_"
									      "m"
									      "a"
									      "x"
									      "_"
									      "f"
									      "d"
									      "s"
									      " "
									      "1"
									      "0"
									      "2"
									      "4"
									      "\n" HEAD(
										      "process_"
										      "start_time_"
										      "seconds",
										      "gauge") "# "
											       "UNI"
											       "T "
											       "pro"
											       "ces"
											       "s_"
											       "sta"
											       "rt_"
											       "tim"
											       "e_"
											       "sec"
											       "ond"
											       "s "
											       "sec"
											       "ond"
											       "s\n"
											       "pro"
											       "ces"
											       "s_"
											       "sta"
											       "rt_"
											       "tim"
											       "e_"
											       "sec"
											       "ond"
											       "s "
											       "1\n"
											       "# "
											       "EOF"
											       "\n";
	struct metrics m;
	char *text;

	metrics_init(&m, false);
	EQ_I(metrics_add_self(&m, &now), 0, "added");
	text = text_of(&m, &openmetrics);
	drop_help(text);
	EQ_S(text, want, "exitmeter itself, without labels");
	free(text);
	metrics_free(&m);
}

int main(void)
{
	test_labels();
	test_keys_again();
	test_prometheus();
	test_energy();
	test_unknown();
	test_several();
	test_backfill();
	test_times();
	test_self();
	return tap_done();
}
