// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * act_model [-s SOURCE] EXITMETER ACT [FIRST [COUNT]] - histories acted out by processes under
 * exitmeter
 *
 * Of each seed the history is made a script that tests/work/act plays; what its processes read of
 * themselves is the truth, to the page.  Speaks TAP; the files of what was wrong stay, in the
 * current folder, under its seed.
 */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../work/act.h"
#include "history.h"

#define ACTORS      24
#define THREADS     8
#define STEPS_ACTED 60
#define ARG_PAGES   2
#define BASE_PAGES  400 /* of an image that has not taken any, at most */
#define DEADLINE_S  20

/* What each showed when it was found. */
static const uint64_t found[] = {
	33,         /* ptrace: a zombie in the tree that it attached to was waited for in vain */
	11,         /* proc: memory that is shared by those whose creator has ended counted twice */
	4,    1028, /* the page of an exec's arguments; ptrace: images of before it attached */
	1071,       /* proc: --wait-tree ended while one lived whose parent had ended just then */
};

struct actor {
	bool alive, shared, member, taken_in;
	int32_t pid, wait_status;
	int space;
	int creator;
	int64_t threads, threads_ever, execs;
	int64_t first; /* resident at its birth by fork, while it has that image; else 0 */
	int64_t own;   /* the most of its image; -1 none */
	int64_t images_least, images_most; /* net, of those before; -1 none */
	bool fell;                         /* an image of its had more than it had later */
};

struct stage {
	uint64_t seed;
	const char *source, *exitmeter, *act;
	struct act_file *file;
	bool attach, left;
	struct actor all[ACTORS];
	int n;
	int spaces;
	int64_t rss[ACTORS + ACT_STEPS]; /* of each space now; 0 when it is gone */
	bool fell[ACTORS + ACT_STEPS];
	int64_t most[ACTORS + ACT_STEPS];
	int64_t gross_max;
	int64_t peaks; /* of all images, added up */
	bool shares;   /* somebody had another's address space */
	int64_t initial, forks, exits, alive, alive_max, threads, threads_max;
	bool metered;
	int wrong;
};

__attribute__((format(printf, 3, 4))) static bool must(struct stage *st, bool holds,
						       const char *format, ...)
{
	va_list args;

	if (holds)
		return true;
	if (!st->wrong++)
		printf("# seed %llu, %s%s%s\n", (unsigned long long)st->seed, st->source,
		       st->attach ? ", attached" : "", st->left ? ", some left" : "");
	printf("# wrong: ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	return false;
}

/* --- the script ------------------------------------------------------------------------------ */

struct writer {
	struct act_file *file;
	bool alive[ACTORS], shared[ACTORS];
	int threads[ACTORS], n;
};

static void add(struct writer *w, enum act_what what, int who, uint32_t n)
{
	struct act_step *s = &w->file->steps[w->file->n++];

	*s = (struct act_step){ .what = what, .who = (uint32_t)who, .n = n };
	switch (what) {
	case ACT_FORK:
	case ACT_VFORK:
		s->child = (uint32_t)w->n;
		w->alive[w->n] = true;
		w->shared[w->n] = what == ACT_VFORK;
		w->threads[w->n] = 0;
		w->n++;
		break;
	case ACT_EXEC:
		w->threads[who] = 0;
		w->shared[who] = false;
		break;
	case ACT_THREAD:
		w->threads[who]++;
		break;
	case ACT_THREAD_END:
		w->threads[who]--;
		break;
	case ACT_EXIT:
	case ACT_KILL:
		w->alive[who] = false;
		break;
	default:
		break;
	}
}

static void add_step(struct writer *w, const struct step *s)
{
	static const uint32_t deadly[] = { SIGKILL, SIGTERM, SIGSEGV, SIGABRT };
	uint32_t n = (uint32_t)s->n / 2 + 1;
	bool room = w->n < ACTORS;
	int who = s->who;

	if (who >= w->n || !w->alive[who])
		return;
	switch (s->what) {
	case STEP_FORK:
	case STEP_VFORK:
		add(w, !room ? ACT_WORK : s->what == STEP_FORK ? ACT_FORK : ACT_VFORK, who, 0);
		break;
	case STEP_EXEC:
		add(w, ACT_EXEC, who, n);
		break;
	case STEP_THREAD: /* a guest has no place of its own for one */
		add(w, w->shared[who] || w->threads[who] == THREADS ? ACT_WORK : ACT_THREAD, who,
		    0);
		break;
	case STEP_THREAD_END:
		add(w, w->threads[who] ? ACT_THREAD_END : ACT_WORK, who, 0);
		break;
	case STEP_GROW:
		add(w, ACT_GROW, who, n);
		break;
	case STEP_SHRINK:
		add(w, ACT_SHRINK, who, n);
		break;
	case STEP_BURST:
		add(w, ACT_BURST, who, n);
		break;
	case STEP_EXIT:
		add(w, ACT_EXIT, who, (uint32_t)s->n);
		break;
	case STEP_KILL:
		add(w, ACT_KILL, who, deadly[s->n % 4]);
		break;
	case STEP_ATTACH:
		add(w, ACT_ATTACH, who, 0);
		break;
	default:
		add(w, ACT_WORK, who, 0);
		break;
	}
}

/* The script of the history; those that are left at its end end too, or only the root does. */
static void write_script(struct stage *st, const struct history *h)
{
	struct writer w = { .file = st->file, .n = 1, .alive = { true } };
	bool attached = false;

	memset(st->file, 0, sizeof(*st->file));
	for (size_t i = 0; i < h->n && st->file->n < STEPS_ACTED; i++) {
		const struct step *s = &h->steps[i];

		if (!st->file->n && s->what != STEP_EXEC)
			add(&w, ACT_EXEC, 0, 10);
		attached |= s->what == STEP_ATTACH;
		add_step(&w, s);
	}
	if (!st->file->n)
		add(&w, ACT_EXEC, 0, 10);
	st->attach = attached;
	st->left = h->left && w.alive[0];
	for (int i = w.n; i--;)
		if (w.alive[i] && (!st->left || !i))
			add(&w, ACT_EXIT, i, (uint32_t)i % 3);
}

/* --- the truth ------------------------------------------------------------------------------- */

static void count(struct stage *st, const struct actor *a, int64_t processes, int64_t threads)
{
	if (!a->member)
		return;
	st->alive += processes;
	st->threads += threads;
	st->alive_max = larger(st->alive_max, st->alive);
	st->threads_max = larger(st->threads_max, st->threads);
}

static bool is_metered(const struct stage *st, int space)
{
	for (int i = 0; i < st->n; i++)
		if (st->all[i].alive && st->all[i].member && st->all[i].space == space)
			return true;
	return false;
}

static void sum(struct stage *st)
{
	int64_t gross = 0;

	for (int i = 0; i < st->spaces; i++)
		gross += is_metered(st, i) ? st->rss[i] : 0;
	if (st->metered)
		st->gross_max = larger(st->gross_max, gross);
}

/* It has @most at one moment, then @now: so have all who use it. */
static void resize(struct stage *st, int space, int64_t most, int64_t now)
{
	bool falls = most > now || st->rss[space] > now;

	st->fell[space] |= falls;
	if (most > st->most[space]) {
		st->peaks += most - st->most[space];
		st->most[space] = most;
	}
	st->rss[space] = most;
	for (int i = 0; i < st->n; i++) {
		struct actor *a = &st->all[i];

		if (!a->alive || a->space != space || a->shared)
			continue;
		a->own = larger(a->own, most);
		a->fell |= falls;
	}
	sum(st);
	st->rss[space] = now;
}

static void leave(struct stage *st, struct actor *a)
{
	int space = a->space;

	a->space = -1;
	for (int i = 0; i < st->n; i++)
		if (st->all[i].alive && st->all[i].space == space)
			return;
	if (space >= 0)
		st->rss[space] = 0;
}

static void see_birth(struct stage *st, const struct act_step *s)
{
	const struct actor *creator = &st->all[s->who];
	struct actor *a = &st->all[st->n++];
	bool shared = s->what == ACT_VFORK;

	st->shares |= shared;
	*a = (struct actor){ .alive = true,
			     .shared = shared,
			     .member = creator->member,
			     .creator = (int)s->who,
			     .pid = s->pid,
			     .space = shared ? creator->space : st->spaces++,
			     .threads = 1,
			     .threads_ever = 1,
			     .first = shared ? 0 : (int64_t)s->first_bytes,
			     .own = -1,
			     .images_least = -1,
			     .images_most = -1 };
	st->forks += a->member;
	count(st, a, 1, 1);
	resize(st, a->space, (int64_t)s->most_bytes, (int64_t)s->rss_bytes);
}

static void see_exec(struct stage *st, struct actor *a, const struct act_step *s)
{
	if (!a->shared && a->own >= 0) {
		int64_t least = larger(a->own - a->first, 0);
		/* What a fork leaves to be found again in files is not its creator's. */
		int64_t most = a->first ? least + BASE_PAGES * PAGE_BYTES : least;

		a->images_least = larger(a->images_least, least);
		a->images_most = larger(a->images_most, most < a->own ? most : a->own);
	}
	count(st, a, 0, 1 - a->threads);
	a->threads = 1;
	leave(st, a);
	a->space = st->spaces++;
	a->shared = false;
	a->first = 0;
	a->own = -1;
	a->execs++;
	a->pid = s->pid;
	resize(st, a->space, (int64_t)s->most_bytes, (int64_t)s->rss_bytes);
}

static void see_attach(struct stage *st)
{
	bool owned[ACTORS + ACT_STEPS] = { false };

	st->metered = true;
	for (int i = 0; i < st->n; i++) {
		struct actor *a = &st->all[i];

		/* Whose parent has ended belongs to nobody. */
		if (!a->alive || (i && !(st->all[a->creator].alive && st->all[a->creator].member)))
			continue;
		a->member = a->taken_in = true;
		count(st, a, 1, a->threads);
		a->shared = owned[a->space];
		owned[a->space] = true;
		a->own = a->shared ? -1 : st->rss[a->space];
		a->images_least = a->images_most = -1;
		a->first = 0;
		a->execs = 0;
		a->threads_ever = a->threads;
		st->initial++;
	}
	sum(st);
}

static void see(struct stage *st, const struct act_step *s)
{
	struct actor *a = &st->all[s->who];

	switch (s->what) {
	case ACT_FORK:
	case ACT_VFORK:
		see_birth(st, s);
		return;
	case ACT_EXEC:
		see_exec(st, a, s);
		return;
	case ACT_EXIT:
	case ACT_KILL:
		a->alive = false;
		a->wait_status = s->what == ACT_KILL ? (int)s->n : (int)s->n << 8;
		st->exits += a->member;
		count(st, a, -1, -a->threads);
		leave(st, a);
		return;
	case ACT_THREAD:
		a->threads_ever++;
		a->threads++;
		count(st, a, 0, 1);
		break;
	case ACT_THREAD_END:
		a->threads--;
		count(st, a, 0, -1);
		break;
	case ACT_ATTACH:
		see_attach(st);
		break;
	default:
		break;
	}
	resize(st, a->space, (int64_t)s->most_bytes, (int64_t)s->rss_bytes);
}

static void find_truth(struct stage *st)
{
	struct actor *root = &st->all[0];

	*root = (struct actor){ .alive = true,
				.shared = true,
				.member = !st->attach,
				.space = -1,
				.threads = 1,
				.threads_ever = 1,
				.own = -1,
				.images_least = -1,
				.images_most = -1 };
	st->n = 1;
	st->metered = !st->attach;
	st->initial = st->metered;
	count(st, root, 1, 1);
	for (uint32_t i = 0; i < st->file->n; i++)
		see(st, &st->file->steps[i]);
}

/* --- acting ---------------------------------------------------------------------------------- */

static void nap(void)
{
	const struct timespec t = { .tv_nsec = 1000000 };

	nanosleep(&t, NULL);
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static pid_t run(const char *const argv[])
{
	pid_t pid = fork();

	if (pid)
		return pid;
	execv(argv[0], (char *const *)argv);
	_exit(127);
}

/* False: it took too long. */
static bool await(pid_t pid)
{
	double until = now_s() + DEADLINE_S;

	while (waitpid(pid, NULL, WNOHANG) == 0) {
		if (now_s() > until) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
			return false;
		}
		nap();
	}
	return true;
}

/* Names of the files of a seed. */
static void name(const struct stage *st, char *buf, size_t cap, const char *what)
{
	snprintf(buf, cap, "act-%s-%llu.%s", st->source, (unsigned long long)st->seed, what);
}

static bool until_begun(struct stage *st)
{
	double until = now_s() + DEADLINE_S;
	char journal[64];

	name(st, journal, sizeof(journal), "journal");

	for (; now_s() < until; nap()) {
		char text[256] = "";
		int fd = open(journal, O_RDONLY | O_CLOEXEC);
		ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

		if (fd >= 0)
			close(fd);
		if (n > 0 && strstr(text, "run_start"))
			return true;
	}
	return must(st, false, "exitmeter did not begin");
}

static void end_left(struct stage *st)
{
	for (int i = 0; i < st->n; i++)
		if (st->all[i].alive && st->all[i].pid > 0)
			kill(st->all[i].pid, SIGKILL);
}

/* Some may go on whom nobody sees any more. */
static bool until_played(const struct stage *st)
{
	double until = now_s() + DEADLINE_S;

	while (__atomic_load_n(&st->file->turn, __ATOMIC_ACQUIRE) < st->file->n) {
		if (now_s() > until)
			return false;
		nap();
	}
	return true;
}

/* exitmeter on the command @act and its script, or attached to the pid. */
static pid_t start_meter(const struct stage *st, const char *first, const char *second)
{
	char json[64], journal[64], source[32];
	const char *argv[16] = { st->exitmeter, "-q", source, "--interval", "0.01" };
	int n = 5;

	name(st, json, sizeof(json), "json");
	name(st, journal, sizeof(journal), "journal");
	snprintf(source, sizeof(source), "--source=%s", st->source);
	unlink(journal);
	argv[n++] = "--json";
	argv[n++] = json;
	argv[n++] = "--journal";
	argv[n++] = journal;
	if (!st->left)
		argv[n++] = "--wait-tree";
	argv[n++] = st->attach ? "-p" : "--";
	argv[n++] = first;
	argv[n++] = second;
	return run(argv);
}

static bool perform(struct stage *st)
{
	char script[64], pid_text[16];
	pid_t act = 0, meter;
	bool done;

	name(st, script, sizeof(script), "script");
	if (st->attach) {
		act = run((const char *const[]){ st->act, script, NULL });
		while (!__atomic_load_n(&st->file->waits, __ATOMIC_ACQUIRE))
			nap();
		snprintf(pid_text, sizeof(pid_text), "%d", act);
		meter = start_meter(st, pid_text, NULL);
		if (!until_begun(st)) {
			kill(meter, SIGKILL);
		}
		__atomic_store_n(&st->file->go, 1, __ATOMIC_RELEASE);
		done = await(act);
		done &= await(meter) && until_played(st);
	} else {
		meter = start_meter(st, st->act, script);
		done = await(meter);
	}
	find_truth(st);
	end_left(st);
	return must(st, done, "it did not come to an end, at step %u", st->file->turn) &&
	       must(st, st->file->turn == st->file->n, "played %u of %u steps", st->file->turn,
		    st->file->n);
}

/* --- what exitmeter says ---------------------------------------------------------------------- */

static json_object *member(json_object *o, const char *key)
{
	json_object *v = NULL;

	json_object_object_get_ex(o, key, &v);
	return v;
}

/* -1: null. */
static int64_t value(json_object *o, const char *key)
{
	json_object *v = member(o, key);

	return v ? json_object_get_int64(v) : -1;
}

static bool by_proc(const struct stage *st)
{
	return !strcmp(st->source, "proc");
}

/*
 * What rose and fell again below what there was later may be missing in the kernel's approximate
 * mark (KERNEL: lib/percpu_counter.c), and nobody can tell.
 */
static int64_t blind(void)
{
	int64_t cpus = sysconf(_SC_NPROCESSORS_CONF), batch = 2 * cpus > 32 ? 2 * cpus : 32;

	return 3 * (batch - 1) * cpus * PAGE_BYTES;
}

static void check_peak(struct stage *st, json_object *row, const struct actor *a, int i)
{
	int64_t got = value(row, "peak_rss_bytes"), error = value(row, "peak_rss_error_bytes");
	int64_t least = larger(a->own, a->images_least), most = larger(a->own, a->images_most);
	const char *from = json_object_get_string(member(row, "peak_source"));
	bool exact = json_object_get_boolean(member(row, "peak_rss_exact"));

	if (by_proc(st) || (from && !strcmp(from, "vmhwm-lifetime")))
		return;
	if (most < 0) {
		must(st, got < 0, "%d has no memory of its own, its row %lld", i, (long long)got);
		return;
	}
	if (exact)
		must(st, got >= least - (a->fell ? blind() : 0) && got <= most,
		     "%d: exact peak %lld, in truth %lld to %lld", i, (long long)got,
		     (long long)least, (long long)most);
	else if (error >= 0)
		must(st, got + larger(error, a->fell ? blind() : 0) >= least && got - error <= most,
		     "%d: peak %lld by %lld, in truth %lld to %lld", i, (long long)got,
		     (long long)error, (long long)least, (long long)most);
	if (!exact && member(row, "running") && json_object_get_boolean(member(row, "running")))
		must(st, got <= most + blind(), "%d runs: peak %lld, in truth at most %lld", i,
		     (long long)got, (long long)most);
}

static void check_row(struct stage *st, json_object *row, const struct actor *a, int i)
{
	bool running = json_object_get_boolean(member(row, "running"));
	int64_t code = a->wait_status & 0x7f ? -1 : a->wait_status >> 8;
	int64_t signo = a->wait_status & 0x7f ? a->wait_status & 0x7f : -1;

	check_peak(st, row, a, i);
	if (by_proc(st))
		return;
	must(st, running == a->alive, "%d: running %d", i, running);
	must(st, value(row, "threads") == a->threads_ever, "%d: %lld threads, want %lld", i,
	     (long long)value(row, "threads"), (long long)a->threads_ever);
	must(st, value(row, "execs") == a->execs, "%d: %lld execs, want %lld", i,
	     (long long)value(row, "execs"), (long long)a->execs);
	if (running)
		return;
	must(st, value(row, "exit_code") == code && value(row, "exit_signal") == signo,
	     "%d: ended with %lld, %lld, want %lld, %lld", i, (long long)value(row, "exit_code"),
	     (long long)value(row, "exit_signal"), (long long)code, (long long)signo);
}

static void check_rows(struct stage *st, json_object *rows)
{
	int seen[ACTORS] = { 0 };

	for (size_t k = 0; k < json_object_array_length(rows); k++) {
		json_object *row = json_object_array_get_idx(rows, k);
		int i = 0;

		while (i < st->n && (st->all[i].pid != value(row, "pid") || !st->all[i].member))
			i++;
		if (!must(st, i < st->n, "a row of nobody: %lld", (long long)value(row, "pid")))
			continue;
		seen[i]++;
		check_row(st, row, &st->all[i], i);
	}
	for (int i = 0; i < st->n; i++)
		must(st, seen[i] == st->all[i].member || (by_proc(st) && !seen[i]),
		     "%d has %d rows", i, seen[i]);
}

static void check_counts(struct stage *st, json_object *sum_of)
{
	json_object *c = member(sum_of, "completeness"), *u = member(sum_of, "usage");
	bool exact = json_object_get_boolean(member(c, "exact"));
	struct {
		const char *what;
		int64_t got, want;
	} all[] = {
		{ "initial", value(c, "initial"), st->initial },
		{ "forks", value(c, "forks"), st->forks },
		{ "exits", value(c, "exits"), st->exits },
		{ "running_at_end", value(c, "running_at_end"), st->alive },
		{ "lost", value(c, "events_lost"), 0 },
		{ "exact", exact, !st->alive },
		{ "total_processes", value(u, "total_processes"), st->initial + st->forks },
		{ "max_processes", value(u, "max_processes"), st->alive_max },
		{ "max_threads", value(u, "max_threads"), st->threads_max },
	};

	if (by_proc(st)) {
		must(st, !exact, "proc is exact");
		return;
	}
	/* To a tracer each lives until it is waited for. */
	for (size_t i = 7; !strcmp(st->source, "ptrace") && i < 9; i++)
		if (all[i].got > all[i].want && all[i].got <= all[i].want + THREADS)
			all[i].want = all[i].got;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		must(st, all[i].got == all[i].want, "%s: got %lld, want %lld", all[i].what,
		     (long long)all[i].got, (long long)all[i].want);
	if (exact == !st->alive)
		return;
	printf("#   %s\n", json_object_to_json_string(member(c, "reasons")));
}

static void check_bounds(struct stage *st, json_object *sum_of)
{
	json_object *u = member(sum_of, "usage");
	const char *from = json_object_get_string(member(u, "peak_source"));
	bool scan = from && !strcmp(from, "scan"), sums = !strcmp(st->source, "bpf");
	int64_t missing = 0, most = st->gross_max;
	int64_t lower = value(u, "peak_rss_lower_bytes"), upper = value(u, "peak_rss_upper_bytes");

	/* A scan is not one moment; and the kernel counts an exec's arguments while it is on its
	 * way. */
	if (scan && !sums)
		most = st->peaks;
	most += ARG_PAGES * PAGE_BYTES;
	if (by_proc(st)) /* it may be the mark of one */
		most += blind();
	/* What is shared may change between two that are looked at, and is not known again then. */
	if (by_proc(st) && st->shares)
		most = INT64_MAX;
	must(st, lower <= most, "lower %lld, in truth %lld", (long long)lower, (long long)most);
	must(st, lower > 0 || !sums, "lower %lld", (long long)lower);
	for (int i = 0; i < st->spaces; i++)
		missing += st->fell[i] ? blind() : 0;
	if (upper >= 0)
		must(st, upper + missing >= st->gross_max, "upper %lld, in truth %lld",
		     (long long)upper, (long long)st->gross_max);
	must(st, upper > 0 || !sums, "no upper bound");
}

static void check(struct stage *st)
{
	char json[64];
	json_object *sum_of;

	name(st, json, sizeof(json), "json");
	sum_of = json_object_from_file(json);
	if (!must(st, sum_of != NULL, "no %s", json))
		return;
	check_rows(st, member(sum_of, "processes"));
	check_counts(st, sum_of);
	check_bounds(st, sum_of);
	json_object_put(sum_of);
}

static void tidy(const struct stage *st)
{
	static const char *const what[] = { "script", "json", "journal" };
	char path[64];

	for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++) {
		name(st, path, sizeof(path), what[i]);
		unlink(path);
	}
}

static bool holds(uint64_t seed, const char *source, const char *exitmeter, const char *act)
{
	static struct history h;
	static struct stage st;
	char script[64];
	int fd;

	history_make(&h, seed);
	memset(&st, 0, sizeof(st));
	st.seed = seed;
	st.source = source;
	st.exitmeter = exitmeter;
	st.act = act;
	name(&st, script, sizeof(script), "script");
	fd = open(script, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(*st.file)))
		abort();
	st.file = mmap(NULL, sizeof(*st.file), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (st.file == MAP_FAILED)
		abort();
	write_script(&st, &h);
	if (perform(&st))
		check(&st);
	munmap(st.file, sizeof(*st.file));
	if (!st.wrong)
		tidy(&st);
	fflush(stdout);
	return !st.wrong;
}

int main(int argc, char **argv)
{
	uint64_t first = 1, n = 20, wrong = 0;
	size_t n_found = sizeof(found) / sizeof(found[0]);
	const char *source = "bpf";
	int opt;

	while ((opt = getopt(argc, argv, "s:")) != -1) {
		if (opt != 's')
			return 2;
		source = optarg;
	}
	if (argc - optind < 2)
		return 2;
	if (argc - optind > 2)
		first = strtoull(argv[optind + 2], NULL, 10);
	if (argc - optind > 3)
		n = strtoull(argv[optind + 3], NULL, 10);
	for (size_t i = 0; i < n_found; i++)
		wrong += !holds(found[i], source, argv[optind], argv[optind + 1]);
	printf("%sok 1 - seeds that once were wrong: %zu\n", wrong ? "not " : "", n_found);
	for (uint64_t seed = first; seed < first + n; seed++)
		wrong += !holds(seed, source, argv[optind], argv[optind + 1]);
	printf("%sok 2 - %s: histories acted out from %llu on: %llu, wrong: %llu\n1..2\n",
	       wrong ? "not " : "", source, (unsigned long long)first, (unsigned long long)n,
	       (unsigned long long)wrong);
	return wrong > 0;
}
