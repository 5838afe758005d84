// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * source_bpf_probed - the BPF source of a plain user: exitmeter-probed has the programs, we have
 * the ring buffer, and hear of totals what it copies
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "capture/borrow.h"
#include "capture/source_bpf_ring.h"
#include "capture/source_bpf_wire.h"
#include "hash.h"
#include "log.h"
#include "procfs/scan.h"
#include "units.h"

#define SIGN_MS 20000 /* of life, while the tree sleeps */

struct known_key {
	uint64_t start_ns, tgid; /* all of its bytes count */
};

/* One that was born and has not ended, as the ring tells: all there is once probed is gone. */
struct known {
	struct known_key key;
	struct fork_event born;
	UT_hash_handle hh;
};

struct probed {
	struct source_bpf bpf; /* without programs */
	int socket, ring_fd, epoll_fd;
	bool gone; /* what is in @state is the last that was heard */
	struct lent_ring ring;
	struct known *known;
	uint64_t unknown_ends; /* of those that lived when it went */
	struct wire_state state;
	struct wire_state opened; /* its texts */
};

static struct probed *self(struct source *base)
{
	return (struct probed *)base;
}

/* --- asking -------------------------------------------------------------------------------- */

static ssize_t receive(const struct probed *p, void *packet, size_t size, int *ret_fd)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec io = { packet, size };
	struct msghdr m = { .msg_iov = &io,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	const struct cmsghdr *c;
	int resets = 0;
	ssize_t n;

	/* It may have closed before it read all of ours; what it said comes after that. */
	do
		n = recvmsg(p->socket, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && (errno == EINTR || (errno == ECONNRESET && !resets++)));
	c = n < 0 ? NULL : CMSG_FIRSTHDR(&m);
	if (ret_fd && c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(ret_fd, CMSG_DATA(c), sizeof(int));
	return n < 0 ? -errno : n;
}

/* The next state; programs are attached and wait to meet us as we wait again (WIRE_WAKE). */
static int next_state(struct probed *p, struct wire_state *ret, int *ret_fd)
{
	ssize_t n;

	do {
		n = receive(p, ret, sizeof(*ret), ret_fd);
		if (n < 0)
			return (int)n;
		if (n != sizeof(*ret) || ret->version != WIRE_VERSION)
			return n ? -EPROTO : -EPIPE;
	} while (ret->op == WIRE_WAKE);
	return 0;
}

static void take_state(struct probed *p, const struct wire_state *w)
{
	struct source_bpf *s = &p->bpf;

	p->state = *w;
	s->counted = w->flags & WIRE_COUNTED;
	s->oom_evidence_ns = w->oom_evidence_ns;
	s->base.info.samples = w->flags & WIRE_TICK ? "bpf-tick+proc" : "bpf+proc";
}

static void lose(struct probed *p, int err)
{
	log_debug("exitmeter-probed is gone: %s", strerror(-err));
	p->gone = true;
}

/* 0, or -errno: it is gone. */
static int ask(struct probed *p, enum wire_op op)
{
	const struct wire_request r = { .version = WIRE_VERSION, .op = op };
	struct wire_state w = { 0 };
	int err = p->gone ? -EPIPE : 0;

	if (!err && send(p->socket, &r, sizeof(r), MSG_NOSIGNAL) != sizeof(r))
		err = -errno;
	if (!err)
		err = next_state(p, &w, NULL);
	if (!err && w.op != op)
		err = -EPROTO;
	if (!err)
		take_state(p, &w);
	else if (!p->gone)
		lose(p, err);
	return err;
}

/* --- records ------------------------------------------------------------------------------- */

static int remember(struct probed *p, const struct fork_event *e)
{
	struct known *k = calloc(1, sizeof(*k));

	if (!k)
		return -ENOMEM;
	k->key.start_ns = e->start_ns;
	k->key.tgid = e->tgid;
	k->born = *e;
	HASH_ADD(hh, p->known, key, sizeof(k->key), k);
	if (hash_is_in(k))
		return 0;
	free(k);
	return -ENOMEM;
}

static void forget(struct probed *p, const struct exit_event *e)
{
	const struct known_key key = { .start_ns = e->start_ns, .tgid = e->tgid };
	struct known *k;

	// NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): it has no other bytes
	HASH_FIND(hh, p->known, &key, sizeof(key), k);
	if (!k)
		return;
	HASH_DEL(p->known, k);
	free(k);
}

static int take_record(void *ctx, void *data, size_t size)
{
	const struct fork_event *fork = data;
	const struct exit_event *exit = data;
	struct probed *p = ctx;
	int err = source_bpf_on_record(&p->bpf, data, size);

	if (!err && size == sizeof(*fork) && fork->type == EVENT_FORK)
		err = remember(p, fork);
	else if (size == sizeof(*exit) && exit->type == EVENT_EXIT)
		forget(p, exit);
	return err;
}

/* --- running ------------------------------------------------------------------------------- */

static void become_idle(struct probed *p)
{
	if (p->bpf.idle || ++p->bpf.quiet < QUIET_POLLS)
		return;
	/* From here a switch to one of the tree's tasks sends an event that wakes us. */
	p->bpf.idle = !ask(p, WIRE_IDLE);
}

static int probed_drain(struct source *base)
{
	struct probed *p = self(base);
	struct source_bpf *s = &p->bpf;
	int n = lent_ring_consume(&p->ring, take_record, p);

	if (n < 0)
		return s->err ? s->err : n;
	if (!s->late_tried && clock_ns(CLOCK_MONOTONIC) - s->opened_ns >= LATE_MS * NS_PER_MS) {
		s->late_tried = true;
		ask(p, WIRE_LATE);
	} else if (!n) {
		ask(p, WIRE_PULSE);
	}
	if (n > 0 || p->state.cpu_ns != s->seen_cpu_ns) {
		s->seen_cpu_ns = p->state.cpu_ns;
		source_bpf_wake(s);
	} else {
		become_idle(p);
	}
	return 0;
}

/* What came after the last state is known by its records alone, and how many ends came later. */
static void totals_of_records(const struct probed *p, struct totals *ret)
{
	ret->forks = (int64_t)p->bpf.seen_forks - ret->initial;
	ret->exits = ret->records = (int64_t)(p->bpf.seen_exits + p->unknown_ends);
	ret->lost_exits = (int64_t)p->unknown_ends;
	ret->processes = ret->initial + ret->forks - ret->exits;
}

static void totals_from(const struct probed *p, struct totals *ret)
{
	const struct source_bpf *s = &p->bpf;
	int64_t most = source_bpf_pages(s, p->state.interval_pages);

	source_bpf_totals(s, s->tree, (int64_t)p->state.cpu_ns, ret);
	if (!s->old)
		ret->interval_max_bytes = most > ret->lower_bytes ? most : ret->lower_bytes;
	if (p->gone)
		totals_of_records(p, ret);
}

static int probed_sample(struct source *base, struct tree_sample *sample)
{
	struct probed *p = self(base);
	bool settled = !ask(p, WIRE_SAMPLE) && p->state.flags & WIRE_SETTLED;

	sample->settled = settled;
	sample->whole = settled && !p->state.tree.unread_mms;
	totals_from(p, &sample->totals);
	if (p->state.cpu_ns != p->bpf.seen_cpu_ns)
		source_bpf_wake(&p->bpf);
	return 0;
}

/* Of those that lived when probed went /proc may know: else their ends are lost. */
static int hand_on_known(struct probed *p)
{
	struct known *k, *next;
	struct proc_stat stat;
	int err = 0;

	HASH_ITER (hh, p->known, k, next) {
		const struct fork_event *f = &k->born;
		const struct living l = { .event = { .start_ns = f->start_ns,
						     .born_ns = f->at_ns,
						     .inherited_pages = f->inherited_pages,
						     .tgid = f->tgid,
						     .pid = f->pid,
						     .ppid = f->ppid,
						     .run = f->run,
						     .flags = f->flags,
						     .threads = 1 } };

		if (!err && !scan_stat((pid_t)f->pid, &stat) &&
		    source_bpf_same(&p->bpf, f->start_ns, &stat) && stat.state != 'Z')
			err = source_bpf_hand_on(&p->bpf, &l);
		else
			p->unknown_ends++;
	}
	return err;
}

/* All of them, as packets come; the last is empty. */
static int hand_on_living(struct probed *p)
{
	const struct wire_request r = { .version = WIRE_VERSION, .op = WIRE_LIVING };
	struct wire_living w = { .n = 1 };
	int err = 0, n = 0;

	if (!p->gone && send(p->socket, &r, sizeof(r), MSG_NOSIGNAL) != sizeof(r))
		lose(p, -errno);
	if (p->gone)
		return hand_on_known(p);
	while (!err && w.n) {
		if (receive(p, &w, sizeof(w), NULL) != sizeof(w) || w.version != WIRE_VERSION ||
		    w.n > WIRE_BATCH) {
			lose(p, -EPROTO);
			return n ? 0 : hand_on_known(p);
		}
		for (uint32_t i = 0; !err && i < w.n; i++, n++)
			err = source_bpf_hand_on(&p->bpf, &w.at[i]);
	}
	return err;
}

static int probed_finish(struct source *base, bool root_ended, struct totals *ret)
{
	struct probed *p = self(base);
	struct source_bpf *s = &p->bpf;
	int64_t deadline = clock_ns(CLOCK_MONOTONIC) + SETTLE_MS * NS_PER_MS;
	struct timespec pause = { .tv_nsec = PAUSE_LEAST_NS };
	bool missing = false;
	int err = 0;

	ask(p, WIRE_PULSE);
	while (!err && !missing && !p->gone &&
	       ((root_ended && !s->root_recorded) || s->tree->exits > s->tree->records)) {
		if (s->attaching && !root_ended)
			break; /* some always are on their way */
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < NS_PER_MS)
			pause.tv_nsec *= 2;
		err = probed_drain(base);
		if (!ask(p, WIRE_PULSE))
			missing = clock_ns(CLOCK_MONOTONIC) >= deadline;
	}
	ask(p, WIRE_CLOSE);
	if (!err)
		err = lent_ring_consume(&p->ring, take_record, p);
	if (err >= 0)
		err = hand_on_living(p);
	totals_from(p, ret);
	if (p->state.flags & WIRE_CLOSED) /* who has begun to end has not ended yet */
		ret->exits = ret->records;
	if (!err && missing)
		err = -ETIME;
	return err;
}

static int probed_poll_fd(struct source *base)
{
	return self(base)->epoll_fd;
}

static int probed_poll_ms(struct source *base)
{
	const struct source_bpf *s = &self(base)->bpf;

	if (!s->late_tried)
		return LATE_MS;
	return s->idle ? SIGN_MS : POLL_MS;
}

static size_t probed_losses(struct source *base, struct loss *out, size_t cap)
{
	struct probed *p = self(base);
	size_t n = source_bpf_losses(&p->bpf, p->state.skips, out, cap);

	if (p->gone && n < cap)
		out[n++] = (struct loss){ "programs-withdrawn", 1, UPPER_NONE };
	return n;
}

static void probed_reaped(struct source *base, pid_t pid, int status, const struct rusage *ru)
{
	(void)base;
	(void)pid;
	(void)status;
	(void)ru;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void probed_close(struct source *base)
{
	struct probed *p = self(base);
	struct known *k = p->known, *next;

	HASH_CLEAR(hh, p->known);
	for (; k; k = next) {
		next = k->hh.next;
		free(k);
	}
	lent_ring_unmap(&p->ring);
	close_fd(p->ring_fd);
	close_fd(p->epoll_fd);
	close_fd(p->socket);
	free(p);
}

static const struct source_ops probed_ops = {
	.drain = probed_drain,
	.sample = probed_sample,
	.finish = probed_finish,
	.poll_fd = probed_poll_fd,
	.poll_ms = probed_poll_ms,
	.losses = probed_losses,
	.reaped = probed_reaped,
	.close = probed_close,
};

/* --- opening ------------------------------------------------------------------------------- */

/* With what proves that we may look at each.  0 or -errno. */
static int send_open(const struct probed *p, const struct wire_request *r)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(SEED_ROOTS_MAX * sizeof(int))];
	} control = { .head = { .cmsg_len = CMSG_LEN(r->n_roots * sizeof(int)),
				.cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS } };
	struct iovec io = { (void *)r, sizeof(*r) };
	struct msghdr m = { .msg_iov = &io,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = CMSG_SPACE(r->n_roots * sizeof(int)) };
	int proofs[SEED_ROOTS_MAX] = { 0 };
	uint32_t n = 0;
	int err = 0;

	for (; !err && n < r->n_roots; n += !err) {
		proofs[n] = borrow_proof(r->roots[n]);
		err = proofs[n] < 0 ? proofs[n] : 0;
	}
	memcpy(CMSG_DATA(&control.head), proofs, n * sizeof(int));
	if (!err && sendmsg(p->socket, &m, MSG_NOSIGNAL) != sizeof(*r))
		err = -errno;
	while (n)
		close(proofs[--n]);
	return err;
}

static void fill_request(const struct source_options *o, struct wire_request *r)
{
	*r = (struct wire_request){ .version = WIRE_VERSION,
				    .op = WIRE_OPEN,
				    .flags = (o->tick ? WIRE_TICK : 0) |
					     (o->n_roots ? WIRE_ATTACH : 0),
				    .n_roots = o->n_roots ? (uint32_t)o->n_roots : 1 };
	if (!o->n_roots)
		r->roots[0] = o->root;
	for (size_t i = 0; i < o->n_roots; i++)
		r->roots[i] = o->roots[i];
}

/* What both kinds of the BPF source know of the tree from the start. */
static void take_opened(struct probed *p, const struct source_options *o)
{
	struct wire_state *w = &p->opened;
	struct source_bpf *s = &p->bpf;

	w->hook[sizeof(w->hook) - 1] = w->refused[sizeof(w->refused) - 1] =
		w->degraded[sizeof(w->degraded) - 1] = '\0';
	s->tree = &p->state.tree;
	s->drops = &p->state.drops;
	s->old = w->flags & WIRE_OLD;
	s->split_rss = w->flags & WIRE_THREADS;
	s->slack_pages = w->slack_pages;
	s->n_cpus = (int)w->n_cpus;
	s->ticks_off = w->ticks_off;
	s->page_bytes = sysconf(_SC_PAGESIZE);
	s->root = o->n_roots ? o->roots[0] : o->root;
	s->attaching = o->n_roots > 0;
	s->n_roots = o->n_roots;
	for (size_t i = 0; i < o->n_roots; i++)
		s->roots[i] = o->roots[i];
	s->opened_ns = clock_ns(CLOCK_MONOTONIC);
	s->tick_wanted = o->tick;
	s->base.info = (struct source_info){ .exits = "bpf",
					     .via = "probed",
					     .hook = w->hook,
					     .tree = "fork-events",
					     .exact = true,
					     .sums = !s->old,
					     .degraded = *w->degraded ? w->degraded : NULL,
					     .refused = w->refused,
					     .stops = UNKNOWN,
					     .stopped_ns = UNKNOWN };
	take_state(p, w);
}

static int watch(int epoll_fd, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN };

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

static int open_session(struct probed *p, const struct source_options *o, char *why, size_t cap)
{
	struct wire_request r;
	int err;

	p->socket = borrow_connect(why, cap);
	if (p->socket < 0)
		return p->socket;
	fill_request(o, &r);
	err = send_open(p, &r);
	if (!err || err == -EPIPE) /* who refuses says so without listening */
		err = next_state(p, &p->opened, &p->ring_fd);
	if (!err && (p->opened.op != WIRE_OPEN || (!p->opened.err && p->ring_fd < 0)))
		err = -EPROTO;
	if (err) {
		snprintf(why, cap, "exitmeter-probed: %s",
			 err == -EPIPE ? "it refused (too many sessions?)" : strerror(-err));
		return err;
	}
	if (p->opened.err) {
		p->opened.why[sizeof(p->opened.why) - 1] = '\0';
		snprintf(why, cap, "%s", p->opened.why);
		return p->opened.err < 0 ? p->opened.err : -EPROTO;
	}
	take_opened(p, o);
	err = lent_ring_map(&p->ring, p->ring_fd, p->opened.ring_bytes);
	p->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (!err && (p->epoll_fd < 0 || watch(p->epoll_fd, p->ring_fd)))
		err = -errno;
	if (err)
		snprintf(why, cap, "exitmeter-probed's ring buffer: %s", strerror(-err));
	return err;
}

int source_probed_open(const struct source_options *o, const struct source_sink *sink,
		       struct source **ret_source, char *why, size_t cap)
{
	struct probed *p;
	int err;

	*why = '\0';
	if (o->split || o->plan) {
		snprintf(why, cap, "exitmeter-probed: not with --split");
		return -ENOTSUP;
	}
	if (o->n_roots > SEED_ROOTS_MAX)
		return -ENOBUFS;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->socket = p->ring_fd = p->epoll_fd = -1;
	p->bpf.base = (struct source){ .ops = &probed_ops, .sink = *sink };
	err = open_session(p, o, why, cap);
	if (err)
		probed_close(&p->bpf.base);
	else
		*ret_source = &p->bpf.base;
	return err;
}
