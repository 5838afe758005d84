// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * truth - what is true of a history: sums of what lives, most of each, counts
 */
#include <string.h>

#include "history.h"

static void note(struct truth *t, int64_t more)
{
	int64_t gross = more, net = more;

	if (t->begun_ns < 0)
		return;
	for (int i = 0; i < t->n_spaces; i++) {
		const struct area *s = &t->spaces[i];

		if (!s->users)
			continue;
		gross += s->rss;
		net += larger(s->rss - s->inherited, 0);
	}
	t->gross_max = larger(t->gross_max, gross);
	t->net_max = larger(t->net_max, net);
	t->instants[t->n_instants++] = (struct instant){ t->now_ns, gross, net, t->threads };
}

static void count(struct truth *t, int64_t processes, int64_t threads)
{
	if (t->begun_ns < 0)
		return;
	t->alive += processes;
	t->threads += threads;
	t->alive_max = larger(t->alive_max, t->alive);
	t->threads_max = larger(t->threads_max, t->threads);
}

static int space_new(struct truth *t, int64_t rss, int64_t inherited)
{
	t->spaces[t->n_spaces] =
		(struct area){ .rss = rss, .peak = rss, .inherited = inherited, .users = 1 };
	return t->n_spaces++;
}

/* Of all who have the address space as their own: it is this large just now. */
static void raise(struct truth *t, int space, int64_t rss)
{
	struct area *s = &t->spaces[space];

	s->peak = larger(s->peak, rss);
	for (int i = 0; i < t->n; i++) {
		struct being *b = &t->all[i];

		if (b->alive && b->space == space && !b->shared)
			b->gross = larger(b->gross, b->own = larger(b->own, rss));
	}
}

static void resize(struct truth *t, int space, int64_t rss)
{
	t->spaces[space].rss = rss;
	raise(t, space, rss);
	note(t, 0);
}

void truth_begin(struct truth *t, const struct history *h)
{
	struct being *root = &t->all[0];

	memset(t, 0, offsetof(struct truth, spaces));
	t->n_spaces = 0;
	t->now_ns = START_NS;
	t->begun_ns = -1;
	t->n_instants = 0;
	t->initial = t->forks = t->exits = t->alive = t->alive_max = 0;
	t->threads = t->threads_max = t->gross_max = t->net_max = t->cpu_ns = 0;
	*root = (struct being){ .alive = true,
				.creator = -1,
				.born_ns = START_NS,
				.threads = 1,
				.threads_ever = 1,
				.images = -1,
				.own = -1,
				.gross = -1 };
	t->n = 1;
	if (h->attach) {
		root->space = space_new(t, 50, 0);
		root->gross = root->own = 50;
		return;
	}
	/* The held child's image is exitmeter's. */
	root->space = -1;
	root->held = root->shared = root->member = true;
	t->begun_ns = START_NS;
	t->initial = 1;
	count(t, 1, 1);
}

void truth_attach(struct truth *t)
{
	bool owned[sizeof(t->spaces) / sizeof(t->spaces[0])] = { false };

	t->begun_ns = t->now_ns;
	for (int i = 0; i < t->n_spaces; i++) {
		t->spaces[i].peak = t->spaces[i].rss;
		t->spaces[i].inherited = 0;
	}
	for (int i = 0; i < t->n; i++) {
		struct being *b = &t->all[i];

		if (!b->alive)
			continue;
		b->member = b->taken_in = true;
		b->forked = false;
		/* Of several who share one the first that is met has it. */
		b->shared = owned[b->space];
		owned[b->space] = true;
		b->rss_before = t->spaces[b->space].rss;
		b->mark_before = larger(t->spaces[b->space].mark, b->rss_before);
		b->life = b->gross;
		b->gross = b->own = b->shared ? -1 : b->rss_before;
		b->images = -1;
		b->execs = 0;
		b->threads_ever = b->threads;
		b->cpu_before_ns = b->cpu_ns;
		b->cpu_ns = 0;
		memset(b->counters, 0, sizeof(b->counters));
		t->initial++;
		count(t, 1, b->threads);
	}
	note(t, 0);
}

/* Two of them at most use CPU between two steps, so that no more is busy than there is. */
static void use(struct truth *t, int who, int64_t dt_ns, uint64_t luck)
{
	struct being *b = &t->all[who];
	int64_t cpu_ns = dt_ns * (int64_t)(luck % 101) / 100;

	if (who >= t->n || !b->alive || b->held)
		return;
	b->cpu_ns += cpu_ns;
	if (b->member)
		t->cpu_ns += cpu_ns;
	b->counters[COUNTER_UTIME] += cpu_ns / 4000000 * 3000000;
	b->counters[COUNTER_STIME] += cpu_ns / 4000000 * 1000000;
	for (int i = COUNTER_MINFLT + 1; i < COUNTERS; i++)
		b->counters[i] += (int64_t)(luck >> (i + 8)) % 8;
}

static void leave_space(struct truth *t, struct being *b)
{
	if (b->space >= 0)
		t->spaces[b->space].users--;
	b->space = -1;
}

static void give_birth(struct truth *t, const struct step *s)
{
	struct being *parent = &t->all[s->who], *b = &t->all[t->n];
	bool shared = s->what == STEP_VFORK;

	*b = (struct being){ .alive = true,
			     .member = parent->member,
			     .shared = shared,
			     .was_shared = shared,
			     .forked = !shared,
			     .creator = s->who,
			     .space = parent->space,
			     .born_ns = t->now_ns,
			     .threads = 1,
			     .threads_ever = 1,
			     .images = -1,
			     .own = -1,
			     .gross = -1,
			     .image = parent->image };
	t->n++;
	if (shared) {
		t->spaces[b->space].users++;
	} else {
		int64_t rss = t->spaces[parent->space].rss;

		b->space = space_new(t, rss, rss);
		b->gross = b->own = rss;
	}
	if (b->member)
		t->forks++;
	count(t, 1, 1);
	note(t, 0);
}

static void new_image(struct truth *t, struct being *b, const struct step *s)
{
	if (!b->shared)
		b->images = larger(b->images, larger(b->own - t->spaces[b->space].inherited, 0));
	count(t, 0, 1 - b->threads);
	b->threads = 1;
	leave_space(t, b);
	b->space = space_new(t, s->n, 0);
	b->own = s->n;
	b->gross = larger(b->gross, b->own);
	b->held = b->shared = b->forked = false;
	b->execs++;
	b->image = (int)((s->luck >> 40) % 9) + 1;
	note(t, 0);
}

static void end(struct truth *t, struct being *b, const struct step *s)
{
	b->alive = false;
	b->ended_ns = t->now_ns;
	b->wait_status = s->what == STEP_KILL ? (int32_t)s->n : (int32_t)s->n << 8;
	if (b->member)
		t->exits++;
	count(t, -1, -b->threads);
	leave_space(t, b);
	note(t, 0);
}

void truth_step(struct truth *t, const struct step *s, const struct history *h)
{
	struct being *b = &t->all[s->who];
	struct area *space = b->space >= 0 ? &t->spaces[b->space] : NULL;
	int64_t dt_ns = s->at_ns - t->now_ns, rss;
	int64_t off =
		h->noise ? (int64_t)(luck_of(s->luck) % (uint64_t)(2 * h->noise + 1)) - h->noise
			 : 0;

	t->now_ns = s->at_ns;
	use(t, s->who, dt_ns, s->luck);
	use(t, (s->who + 1 + (int)((s->luck >> 16) % 7)) % PROCESSES, dt_ns, s->luck >> 24);
	switch (s->what) {
	case STEP_FORK:
	case STEP_VFORK:
		give_birth(t, s);
		break;
	case STEP_EXEC:
		new_image(t, b, s);
		break;
	case STEP_THREAD:
		b->threads++;
		b->threads_ever++;
		count(t, 0, 1);
		note(t, 0);
		break;
	case STEP_THREAD_END:
		b->threads--;
		count(t, 0, -1);
		note(t, 0);
		break;
	case STEP_GROW:
		b->counters[COUNTER_MINFLT] += s->n;
		resize(t, b->space, space->rss + s->n);
		break;
	case STEP_BURST:
	case STEP_SHRINK:
		rss = space->rss + (s->what == STEP_BURST ? s->n : 0);
		if (s->what == STEP_BURST)
			resize(t, b->space, rss);
		/* The kernel's mark is brought up to date before memory goes. */
		space->mark = larger(space->mark, larger(rss + off, 1));
		resize(t, b->space, rss - s->n);
		break;
	case STEP_EXIT:
	case STEP_KILL:
		end(t, b, s);
		break;
	case STEP_ATTACH:
		truth_attach(t);
		break;
	default:
		break;
	}
}

static int64_t most(const struct truth *t, int64_t from_ns, int64_t to_ns, size_t field)
{
	int64_t largest = 0;

	for (size_t i = t->n_instants; i--;) {
		const struct instant *m = &t->instants[i];

		if (m->at_ns > to_ns)
			continue;
		largest = larger(largest, *(const int64_t *)((const char *)m + field));
		if (m->at_ns < from_ns)
			break;
	}
	return largest;
}

int64_t truth_gross(const struct truth *t, int64_t from_ns, int64_t to_ns)
{
	return most(t, from_ns, to_ns, offsetof(struct instant, gross));
}

int64_t truth_net(const struct truth *t, int64_t from_ns, int64_t to_ns)
{
	return most(t, from_ns, to_ns, offsetof(struct instant, net));
}

int64_t truth_threads(const struct truth *t, int64_t from_ns, int64_t to_ns)
{
	return most(t, from_ns, to_ns, offsetof(struct instant, threads));
}

int64_t truth_net_now(const struct truth *t)
{
	return t->n_instants ? t->instants[t->n_instants - 1].net : 0;
}

int64_t truth_peak(const struct truth *t, const struct being *b)
{
	(void)t;
	return larger(b->images, b->own);
}
