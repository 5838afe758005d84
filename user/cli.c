// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_gates.h"
#include "journal/outbox.h"
#include "host/energy.h"
#include "log.h"
#include "model/budget.h"
#include "names.h"
#include "options.h"
#include "output.h"
#include "report/timeformat.h"
#include "session/split.h"
#include "url.h"

#define INTERVAL_DEFAULT_S 0.25
#define INTERVAL_MIN_S     0.01
#define INTERVAL_MAX_S     86400.0
#define DURATION_MAX_S     (100 * 365 * 86400.0)
#define PIDS_MAX           64
#define TOP_DEFAULT        10
#define LIST_MAX           1000
#define DISKS_MAX          64
#define REPEAT_MAX         100000

enum {
	OPT_LOG_FD = 256,
	OPT_POSIX,
	OPT_REPORT,
	OPT_COLOR,
	OPT_PROGRESS,
	OPT_JSON,
	OPT_JOURNAL,
	OPT_JOURNAL_MAX,
	OPT_NO_TICK,
	OPT_SORT,
	OPT_ALL,
	OPT_SOURCE,
	OPT_REQUIRE_EXACT,
	OPT_WAIT_TREE,
	OPT_USER,
	OPT_RUN_ID,
	OPT_LABEL,
	OPT_NO_ARGV,
	OPT_DEBUG,
	OPT_DURATION,
	OPT_CONTROL,
	OPT_SPANS,
	OPT_SPLIT,
	OPT_SPLIT_KEY,
	OPT_DISK,
	OPT_PSS,
	OPT_TO,
	OPT_SPOOL,
	OPT_CGROUP,
	OPT_ENERGY,
};

/* The man page is checked against the --help this makes. */
static const struct opt opts[] = {
	{ 'o', "output", "FILE", "write the report to FILE, - for stdout (default stderr)" },
	{ 'a', "append", NULL, "append to the report's FILE" },
	{ OPT_LOG_FD, "log-fd", "N", "write the report to descriptor N" },
	{ 'q', "quiet", NULL, "print no report" },
	{ 'f', "format", "FORMAT", "a report in GNU time's way: %e %U %S %M ..., %{FIELD}" },
	{ 'v', "verbose", NULL, "all that GNU time -v tells, and the lines of text" },
	{ OPT_POSIX, "posix", NULL, "real, user and sys, as time -p" },
	{ OPT_REPORT, "report", "KIND", "kind of report: text, tree, table, csv, markdown ..." },
	{ OPT_PROGRESS, "progress", "WHEN", "a status line while it runs: auto, always or never" },
	{ OPT_COLOR, "color", "WHEN", "colours in tree and table: auto, always or never" },
	{ OPT_JSON, "json", "FILE", "write the summary as JSON; - for stdout, fd:N" },
	{ OPT_JOURNAL, "journal", "FILE", "write every process as it ends; - for stdout, fd:N" },
	{ OPT_JOURNAL_MAX, "journal-max", "SIZE",
	  "what the journal may grow to; rows and samples end there" },
	MADE_ROWS /* */
	{ 'i', "interval", "S",
	  "seconds between samples (default 0.25; 0: phases and exits only)" },
	{ OPT_NO_TICK, "no-tick", NULL, "no kernel-side tick: bursts between switches go unseen" },
	{ 'n', "top", "N", "list the first N processes in the report (default 10)" },
	{ OPT_SORT, "sort", "KEY", "order of listed processes: peak, cpu or start" },
	{ OPT_ALL, "all", NULL, "list every process, however many" },
	{ OPT_SOURCE, "source", "NAME",
	  "where exits come from: auto, bpf[:PLAN], probed, ptrace or proc" },
	{ OPT_REQUIRE_EXACT, "require-exact", NULL, "do not start unless every exit can be exact" },
	{ 'r', "repeat", "N", "run the command N times, and tell medians and spread" },
	{ OPT_WAIT_TREE, "wait-tree", NULL, "wait for descendants after the command ended" },
	{ 'p', "pid", "PID[,PID...]", "attach to running processes and all below them" },
	{ OPT_SPLIT, "split", NULL, "attached: each direct child is a run of its own" },
	{ OPT_SPLIT_KEY, "split-key", "KEY", "what names a run: ENV:NAME, cgroup or comm" },
	{ OPT_DURATION, "duration", "S", "attached: detach after S seconds" },
	{ OPT_CONTROL, "control", "WHERE",
	  "name phases and attempts: fd:N[,M], unix:PATH, fifo:PATH[,PATH]" },
	{ OPT_SPANS, "spans", "FILE", "attempts: lines of JSON with id, started and ended" },
	{ OPT_PSS, "pss", NULL, "sample the memory of the tree with shared pages counted once" },
	{ OPT_TO, "to", "URL",
	  "record the run in sqlite:FILE, postgresql://... or http(s)://...; repeatable" },
	SCHEDULER_ROWS,
	{ OPT_SPOOL, "spool", "DIR", "where runs wait that are not recorded yet" },
	{ OPT_CGROUP, "cgroup", NULL, "run the command in a cgroup of its own and tell its peak" },
	{ OPT_ENERGY, "energy", "[=NAME]",
	  "what the machine used: auto, rapl, perf, nvml or hwmon" },
	{ OPT_DISK, "disk", "DIR", "tell how large a folder is at the end; repeatable" },
	GATE_ROWS /* */
	{ OPT_USER, "user", "NAME", "run the command as this user, a name or a number (as root)" },
	{ OPT_RUN_ID, "run-id", "ID", "name of the run (default: a new UUID)" },
	{ OPT_LABEL, "label", "K=V", "a label for the record; repeatable" },
	{ OPT_NO_ARGV, "no-argv", NULL,
	  "keep arguments, which may hold secrets, out of every output" },
	{ OPT_DEBUG, "debug", NULL, "say on stderr which hooks are in use" },
	{ 'h', "help", NULL, "print this text" },
	{ 'V', "version", NULL, "print the version" },
};

#define N_OPTS (sizeof(opts) / sizeof(opts[0]))

static void print_help(void)
{
	printf("Usage: exitmeter [OPTION...] [--] COMMAND [ARG...]\n"
	       "       exitmeter [OPTION...] -p PID[,PID...]\n"
	       "       exitmeter report JOURNAL... | --from URL --run ID [OPTION...]\n"
	       "       exitmeter record JOURNAL... | --replay [--to URL]\n"
	       "       exitmeter suggest --from URL --command PATTERN\n"
	       "       exitmeter serve [JOURNAL...] [--listen ADDR]\n"
	       "       exitmeter span NAME [-- COMMAND [ARG...]]\n"
	       "       exitmeter host [OPTION...]\n"
	       "       exitmeter doctor [--json]\n"
	       "Tell what a command and every process it starts used: memory and CPU, exact.\n\n");
	options_print(opts, N_OPTS);
	printf("\nExit status: the command's; 128+N after signal N; 125 exitmeter failed,\n"
	       "126 the command is not executable, 127 it was not found; 123 a budget was\n"
	       "exceeded, 122 the host was not quiet.\n");
}

static bool parse_interval(const char *text, double *ret)
{
	double v;

	if (!options_seconds(text, &v) || v > INTERVAL_MAX_S || (v > 0 && v < INTERVAL_MIN_S)) {
		log_line("interval '%s': seconds from %g to %g, or 0", text, INTERVAL_MIN_S,
			 INTERVAL_MAX_S);
		return false;
	}
	*ret = v;
	return true;
}

static bool parse_duration(const char *text, double *ret)
{
	double v;

	if (!options_seconds(text, &v) || v <= 0 || v > DURATION_MAX_S)
		return log_line("duration '%s': seconds above 0", text), false;
	*ret = v;
	return true;
}

/* Decimal numbers with commas between; the same one twice is one. */
static bool parse_pids(const char *text, struct config *c)
{
	const char *p = text;

	for (;;) {
		char *end;
		long pid;
		int *more;
		bool known = false;

		errno = 0;
		pid = *p >= '0' && *p <= '9' ? strtol(p, &end, 10) : 0;
		if (pid <= 0 || pid > INT_MAX || errno || (*end && *end != ',')) {
			log_line("pid '%s': process ids with commas between", text);
			return false;
		}
		for (size_t i = 0; i < c->n_pids; i++)
			known |= c->pids[i] == pid;
		if (!known) {
			more = realloc(c->pids, (c->n_pids + 1) * sizeof(*more));
			if (!more)
				return false;
			c->pids = more;
			c->pids[c->n_pids++] = (int)pid;
		}
		if (!*end)
			break;
		p = end + 1;
	}
	if (c->n_pids <= PIDS_MAX)
		return true;
	log_line("pid: at most %d processes", PIDS_MAX);
	return false;
}

static bool parse_source(const char *text, struct config *c)
{
	if (!strcmp(text, "auto"))
		c->source = SOURCE_AUTO;
	else if (!strcmp(text, "probed"))
		c->source = SOURCE_PROBED;
	else if (!strcmp(text, "ptrace"))
		c->source = SOURCE_PTRACE;
	else if (!strcmp(text, "proc"))
		c->source = SOURCE_PROC;
	else if (!strcmp(text, "bpf") || !strncmp(text, "bpf:", 4))
		c->source = SOURCE_BPF;
	else
		return log_line("source '%s': auto, bpf, probed, ptrace or proc", text), false;
	c->source_plan = !strncmp(text, "bpf:", 4) ? text + 4 : NULL;
	return true;
}

/* A site's default. */
static bool source_of_environment(struct config *c)
{
	const char *text = getenv("EXITMETER_SOURCE");

	return !text || !*text || parse_source(text, c);
}

/* The last of these and of --report counts. */
static bool time_format(struct config *c, const char *format, bool own_lines)
{
	c->kind = &kind_time;
	c->format = format;
	c->own_lines = own_lines;
	return true;
}

/* A site's default. */
static void default_kind(struct config *c)
{
	const char *format = getenv("EXITMETER_FORMAT");

	if (c->kind)
		return;
	c->kind = &kind_text;
	if (format && *format)
		time_format(c, format, false);
}

static bool add_label(const char *text, struct config *c)
{
	const char *eq = strchr(text, '=');
	const char **more;

	if (!eq || eq == text) {
		log_line("label '%s': K=V", text);
		return false;
	}
	more = realloc(c->labels, (c->n_labels + 1) * sizeof(*more));
	if (!more)
		return false;
	c->labels = more;
	c->labels[c->n_labels++] = text;
	return true;
}

static bool add_disk(const char *path, struct config *c)
{
	const char **more;

	if (!*path)
		return log_line("disk: it must not be empty"), false;
	if (c->n_disks == DISKS_MAX)
		return log_line("disk: at most %d folders", DISKS_MAX), false;
	more = realloc(c->disks, (c->n_disks + 1) * sizeof(*more));
	if (!more)
		return false;
	c->disks = more;
	c->disks[c->n_disks++] = path;
	return true;
}

static bool add_to(const char *text, struct config *c)
{
	struct url url;
	char **more;

	if (!url_parse(text, &url))
		return false;
	if (c->n_to == OUTBOX_URLS_MAX)
		return log_line("to: at most %d URLs", OUTBOX_URLS_MAX), false;
	more = realloc(c->to, (c->n_to + 1) * sizeof(*more));
	if (!more)
		return false;
	c->to = more;
	c->to[c->n_to] = url_absolute(&url);
	return c->to[c->n_to] && ++c->n_to;
}

/* "fd:N" for --log-fd N, so that there is one way to name a descriptor. */
static bool parse_log_fd(const char *text, struct config *c)
{
	static char name[32];
	long fd;

	if (!options_number("log-fd", text, 0, INT_MAX, &fd))
		return false;
	snprintf(name, sizeof(name), "fd:%ld", fd);
	c->report = name;
	return true;
}

static bool parse_journal_max(const char *text, struct config *c)
{
	if (budget_size_parse(text, &c->journal_max))
		return true;
	log_line("journal-max '%s': a size, at least 1, with K, M, G or T for more", text);
	return false;
}

static bool take(int key, const char *arg, struct config *c)
{
	int sort;

	switch (key) {
	case 'o':
		c->report = arg;
		return true;
	case 'a':
		return c->append = true;
	case OPT_LOG_FD:
		return parse_log_fd(arg, c);
	case 'q':
		return c->quiet = true;
	case 'f':
		return time_format(c, arg, false);
	case 'v':
		return time_format(c, timeformat_verbose, true);
	case OPT_POSIX:
		return time_format(c, timeformat_posix, false);
	case OPT_PROGRESS:
		return when_of("progress", arg, &c->progress);
	case OPT_COLOR:
		return when_of("color", arg, &c->colour);
	case OPT_REPORT:
		c->kind = report_kind_of(arg);
		return c->kind;
	case OPT_JSON:
		c->json = arg;
		return true;
	case OPT_JOURNAL:
		c->journal = arg;
		return true;
	case OPT_JOURNAL_MAX:
		return parse_journal_max(arg, c);
	case 'i':
		return parse_interval(arg, &c->interval_s);
	case OPT_NO_TICK:
		c->tick = false;
		return true;
	case 'n':
		c->list = true;
		return options_number("top", arg, 0, LIST_MAX, &c->top);
	case OPT_SORT:
		c->list = true;
		if (!options_sort(arg, &sort))
			return false;
		c->sort = (enum sort_choice)sort;
		return true;
	case OPT_ALL:
		c->list = true;
		return c->all = true;
	case OPT_SOURCE:
		c->source_given = true;
		return parse_source(arg, c);
	case OPT_REQUIRE_EXACT:
		return c->require_exact = true;
	case 'r':
		return options_number("repeat", arg, 1, REPEAT_MAX, &c->repeat);
	case OPT_WAIT_TREE:
		return c->wait_tree = true;
	case 'p':
		return parse_pids(arg, c);
	case OPT_DURATION:
		return parse_duration(arg, &c->duration_s);
	case OPT_CONTROL:
		c->control = arg;
		return true;
	case OPT_SPANS:
		c->spans = arg;
		return true;
	case OPT_SPLIT:
		return c->split = true;
	case OPT_SPLIT_KEY:
		if (!split_key_valid(arg)) {
			log_line("split-key '%s': ENV:NAME, cgroup or comm", arg);
			return false;
		}
		c->split_key = strcmp(arg, "comm") != 0 ? arg : NULL;
		return c->split = true;
	case OPT_PSS:
		return c->pss = true;
	case OPT_TO:
		return add_to(arg, c);
	case OPT_SPOOL:
		c->spool = arg;
		return true;
	case OPT_CGROUP:
		return c->cgroup = true;
	case OPT_ENERGY:
		c->energy = arg ? arg : "auto";
		if (energy_source_parse(c->energy, &(enum energy_source){ ENERGY_AUTO }))
			return true;
		log_line("energy '%s': auto, rapl, perf, nvml or hwmon", arg);
		return false;
	case OPT_DISK:
		return add_disk(arg, c);
	case OPT_USER:
		c->user = arg;
		return true;
	case OPT_RUN_ID:
		c->run_id = arg;
		if (*arg)
			return true;
		log_line("run-id: it must not be empty");
		return false;
	case OPT_LABEL:
		return add_label(arg, c);
	case OPT_NO_ARGV:
		c->argv = false;
		return true;
	case OPT_DEBUG:
		return c->debug = true;
	default:
		if (key < MADE_OPTION || key >= MADE_OPTION + MADE_N)
			return !scheduler_take(&c->scheduler, key, arg);
		c->made[key - MADE_OPTION] = arg;
		return true;
	}
}

static bool expand_name(struct config *c, const char **name)
{
	char *expanded;

	if (!*name || !strchr(*name, '%'))
		return true;
	expanded = name_expand(*name);
	if (!expanded)
		return false;
	c->expanded[c->n_expanded++] = expanded;
	*name = expanded;
	return true;
}

static bool expand_names(struct config *c)
{
	bool all = expand_name(c, &c->report) && expand_name(c, &c->json) &&
		   expand_name(c, &c->journal);

	for (int i = 0; all && i < MADE_N; i++)
		all = expand_name(c, &c->made[i]);
	return all;
}

static bool outputs_fit(const struct config *c)
{
	const char *names[3 + MADE_N] = { c->quiet ? NULL : c->report, c->json, c->journal };

	for (int i = 0; i < MADE_N; i++)
		names[3 + i] = c->made[i];
	return outputs_differ(names, 3 + MADE_N);
}

static bool is_subcommand(const char *word)
{
	static const char *const names[] = { "report",  "record", "serve", "span",
					     "suggest", "host",   "doctor" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(word, names[i]))
			return true;
	return false;
}

/* Of a run that is not split the start is one: the environment is the same now as anywhere in it.
 */
static bool read_start(struct scheduler *s)
{
	const char *text = getenv(s->start_env);
	bool ok = text && scheduler_number(text, &s->start);

	if (!ok)
		log_line("start: %s is %s: attempts are not recorded", s->start_env,
			 text ? "no number" : "not set");
	free(s->start_env);
	s->start_env = NULL;
	return ok;
}

/* How attempts are recorded goes with each URL.  False after one line was printed. */
static bool scheduler_fits(struct config *c)
{
	if (!scheduler_check(&c->scheduler))
		return false;
	if (c->scheduler.on && !c->n_to) {
		log_line("--worker, --start, --select-sql and --update-sql go with --to");
		return false;
	}
	if (c->scheduler.start_env && !c->split && !read_start(&c->scheduler))
		while (c->n_to)
			free(c->to[--c->n_to]);
	for (size_t i = 0; i < c->n_to; i++) {
		char *target;

		if (!scheduler_suits(&c->scheduler, c->to[i]))
			return false;
		target = scheduler_target(&c->scheduler, c->to[i]);

		if (!target)
			return false;
		free(c->to[i]);
		c->to[i] = target;
	}
	return true;
}

enum cli_result cli_parse(int argc, char **argv, struct config *ret_config)
{
	struct config c = { .interval_s = INTERVAL_DEFAULT_S,
			    .tick = true,
			    .top = TOP_DEFAULT,
			    .argv = true,
			    .fail_status = -1 };
	struct option longs[OPTIONS_MAX + 1];
	char shorts[3 * OPTIONS_MAX];
	int key;

	/* "+": options end at the first word that is none. */
	options_getopt(opts, N_OPTS, "+:", shorts, longs);
	opterr = 0;
	while ((key = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		switch (key) {
		case 'h':
			print_help();
			cli_free(&c);
			return CLI_DONE;
		case 'V':
			printf("exitmeter %s\n", EXITMETER_VERSION);
			cli_free(&c);
			return CLI_DONE;
		case ':':
		case '?':
			options_say_wrong(key, argv);
			goto bad;
		default:
			if (!(is_gate(key) ? gate_take : take)(key, optarg, &c))
				goto bad;
		}
	}
	if (!c.source_given && !source_of_environment(&c))
		goto bad;
	default_kind(&c);
	c.quiet |= c.kind == &kind_none;
	if (!expand_names(&c) || !outputs_fit(&c) || !gates_fit(&c))
		goto bad;
	if (c.n_pids && optind < argc) {
		log_line("-p with a command: it is either the one or the other");
		goto bad;
	}
	if (c.duration_s > 0 && !c.n_pids) {
		log_line("--duration is for -p only");
		goto bad;
	}
	if (c.split && !c.n_pids) {
		log_line("--split is for -p only");
		goto bad;
	}
	if (c.journal_max && !c.journal) {
		log_line("--journal-max goes with --journal");
		goto bad;
	}
	if (c.cgroup && c.n_pids) {
		log_line("--cgroup is for a command only");
		goto bad;
	}
	if (c.repeat && c.n_pids) {
		log_line("--repeat is for a command only");
		goto bad;
	}
	if (c.user && c.n_pids) {
		log_line("--user is for a command only");
		goto bad;
	}
	if (optind == argc && !c.n_pids) {
		log_line("no command given (see --help)");
		goto bad;
	}
	if (!scheduler_fits(&c))
		goto bad;
	c.command = c.n_pids ? NULL : argv + optind;
	*ret_config = c;
	if (c.n_pids)
		return CLI_RUN;
	if (strcmp(argv[optind - 1], "--") != 0 && is_subcommand(argv[optind]))
		return CLI_SUBCOMMAND;
	return CLI_RUN;
bad:
	cli_free(&c);
	return CLI_ERROR;
}

void cli_free(struct config *c)
{
	while (c->n_expanded)
		free(c->expanded[--c->n_expanded]);
	free(c->labels);
	free(c->disks);
	for (size_t i = 0; i < c->n_to; i++)
		free(c->to[i]);
	free(c->to);
	scheduler_free(&c->scheduler);
	free(c->pids);
	c->labels = NULL;
	c->disks = NULL;
	c->to = NULL;
	c->n_to = 0;
	c->pids = NULL;
}
