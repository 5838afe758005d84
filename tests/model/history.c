// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * history - made from a seed: each step is one that the tree as it then is can make
 */
#include "history.h"

#define MS 1000000ll

uint64_t luck_of(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

const char *teller_name(enum teller t)
{
	static const char *const names[] = { "bpf", "ptrace", "proc" };

	return names[t];
}

struct maker {
	uint64_t state;
	int weights[STEPS];
	int sum;
	size_t wanted; /* steps */
	int64_t pages; /* the most of one step */
};

static uint64_t next(struct maker *m)
{
	m->state += 0x9e3779b97f4a7c15ull;
	return luck_of(m->state);
}

static int64_t below(struct maker *m, int64_t n)
{
	return (int64_t)(next(m) % (uint64_t)n);
}

static void choose_weights(struct maker *m)
{
	static const int usual[STEPS] = {
		[STEP_WORK] = 6,    [STEP_FORK] = 10,      [STEP_VFORK] = 4, [STEP_EXEC] = 10,
		[STEP_THREAD] = 3,  [STEP_THREAD_END] = 2, [STEP_GROW] = 14, [STEP_SHRINK] = 7,
		[STEP_BURST] = 5,   [STEP_EXIT] = 7,       [STEP_KILL] = 2,  [STEP_PHASE] = 1,
		[STEP_ATTEMPT] = 2,
	};

	for (int i = 0; i < STEPS; i++) {
		/* One history has much of this, another of that. */
		m->weights[i] = usual[i] * (int)(1 + below(m, 6)) * (below(m, 8) ? 1 : 0);
		m->sum += m->weights[i];
	}
	if (!m->sum)
		m->sum = m->weights[STEP_WORK] = 1;
}

static enum what choose(struct maker *m)
{
	int at = (int)below(m, m->sum), i = 0;

	while (at >= m->weights[i])
		at -= m->weights[i++];
	return (enum what)i;
}

static int someone(struct maker *m, const struct truth *t)
{
	int who = (int)below(m, t->n);

	for (int i = 0; i < t->n; i++, who = (who + 1) % t->n)
		if (t->all[who].alive)
			return who;
	return -1;
}

/* What @who can do as it is; else it works. */
static void fit(struct maker *m, const struct truth *t, const struct history *h, struct step *s)
{
	const struct being *b = &t->all[s->who];
	int64_t rss = b->space >= 0 ? t->spaces[b->space].rss : 0;

	s->n = 0;
	switch (s->what) {
	case STEP_FORK:
	case STEP_VFORK:
		if (t->n == PROCESSES)
			s->what = STEP_WORK;
		break;
	case STEP_EXEC:
		s->n = 1 + below(m, m->pages);
		break;
	case STEP_THREAD_END:
		if (b->threads < 2)
			s->what = STEP_WORK;
		break;
	case STEP_GROW:
	case STEP_BURST:
		s->n = 1 + below(m, m->pages);
		break;
	case STEP_SHRINK:
		s->n = rss > 1 ? 1 + below(m, rss - 1) : 0;
		if (!s->n)
			s->what = STEP_WORK;
		break;
	case STEP_EXIT:
		s->n = below(m, 4) ? 0 : below(m, 256);
		break;
	case STEP_KILL:
		s->n = 1 + below(m, 31);
		break;
	default:
		break;
	}
	/* Who is not metered is not spoken of either. */
	if ((s->what == STEP_PHASE || s->what == STEP_ATTEMPT) && t->begun_ns < 0)
		s->what = STEP_WORK;
	/* An attached tree has somebody in it. */
	if (h->attach && t->begun_ns < 0 && s->who == 0 &&
	    (s->what == STEP_EXIT || s->what == STEP_KILL))
		s->what = STEP_WORK;
}

static void add(struct maker *m, struct history *h, struct truth *t, struct step s)
{
	s.luck = next(m);
	h->steps[h->n++] = s;
	truth_step(t, &s, h);
}

void history_make(struct history *h, uint64_t seed)
{
	static _Thread_local struct truth t;
	struct maker m = { .state = luck_of(seed) };
	int64_t now = START_NS, gap = 1 + below(&m, 60);
	size_t attach_at;

	*h = (struct history){ .seed = seed };
	h->teller = (enum teller)(below(&m, 10) < 6 ? TELLER_BPF : 1 + below(&m, 2));
	h->cpus = 2 + (int)below(&m, 3);
	h->interval_ns = (int64_t[]){ 0, 50 * MS, 250 * MS, 250 * MS, 1000 * MS }[below(&m, 5)];
	if (h->teller == TELLER_PROC && !h->interval_ns)
		h->interval_ns = 250 * MS;
	h->noise = below(&m, 2) ? 0 : 1 + below(&m, 300);
	h->attach = !below(&m, 3);
	h->losing = h->teller != TELLER_PROC && !below(&m, 8);
	h->left = !below(&m, 3);
	h->budget = !below(&m, 4);
	m.wanted = (size_t)(4 + below(&m, below(&m, 4) ? 50 : STEPS_MAX - 10));
	m.pages = below(&m, 3) ? 3000 : 40;
	choose_weights(&m);
	attach_at = h->attach ? (size_t)below(&m, (int64_t)m.wanted / 2 + 1) : 0;
	truth_begin(&t, h);
	if (!h->attach)
		add(&m, h, &t, (struct step){ STEP_EXEC, 0, 1 + below(&m, m.pages), now += 1, 0 });
	while (h->n < m.wanted) {
		struct step s = { .what = choose(&m) };

		s.at_ns = now += below(&m, 12) ? below(&m, gap * MS) : below(&m, 500 * MS);
		if (h->attach && h->n == attach_at) {
			s.what = STEP_ATTACH;
			add(&m, h, &t, s);
			continue;
		}
		s.who = someone(&m, &t);
		if (s.who < 0)
			break;
		fit(&m, &t, h, &s);
		add(&m, h, &t, s);
	}
}

void history_print(const struct history *h, size_t steps, FILE *to)
{
	static const char *const names[] = {
		[STEP_WORK] = "works",         [STEP_FORK] = "forks",
		[STEP_VFORK] = "vforks",       [STEP_EXEC] = "execs, pages",
		[STEP_THREAD] = "new thread",  [STEP_THREAD_END] = "thread ends",
		[STEP_GROW] = "takes pages",   [STEP_SHRINK] = "frees pages",
		[STEP_BURST] = "burst, pages", [STEP_EXIT] = "exits",
		[STEP_KILL] = "is killed by",  [STEP_ATTACH] = "metering begins",
		[STEP_PHASE] = "phase",        [STEP_ATTEMPT] = "attempt",
	};
	int born = 1;

	fprintf(to, "# seed %llu: %s, %s%s%s, marks off by %lld, %d CPUs, a sample each %lld ms\n",
		(unsigned long long)h->seed, teller_name(h->teller),
		h->attach ? "attached" : "command", h->losing ? ", records lost" : "",
		h->left ? ", some left running" : "", (long long)h->noise, h->cpus,
		(long long)(h->interval_ns / MS));
	for (size_t i = 0; i < steps; i++) {
		const struct step *s = &h->steps[i];

		fprintf(to, "# %3zu %10.3f ms: %d %s %lld", i, (double)(s->at_ns - START_NS) / 1e6,
			s->who, names[s->what], (long long)s->n);
		if (s->what == STEP_FORK || s->what == STEP_VFORK)
			fprintf(to, " -> %d", born++);
		fputc('\n', to);
	}
}
