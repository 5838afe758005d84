// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * source_bpf_lend - one client's session in exitmeter-probed
 *
 * The client gets the ring buffer, which holds its own tree's records and nothing else, and copies
 * of totals.  Maps and programs stay here: their keys and variables are addresses of the kernel,
 * and what a program reads from a variable it takes for one.
 */
#include "capture/lend.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "capture/source_bpf_wire.h"
#include "units.h"

#define OPEN_MS 5000 /* to say what it wants */

struct lent {
	const struct lend_client *client;
	struct source_bpf *source;
	struct source_lent terms;
	int proofs[SEED_ROOTS_MAX];
	size_t n_proofs;
};

/* --- packets ------------------------------------------------------------------------------- */

/* The next request, its descriptors in @l->proofs.  0, -EPIPE: it is gone; or -errno. */
static int receive(struct lent *l, struct wire_request *ret)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(l->proofs))];
	} control;
	struct iovec io = { ret, sizeof(*ret) };
	struct msghdr m = { .msg_iov = &io,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	const struct cmsghdr *c;
	ssize_t n = recvmsg(l->client->socket, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);

	if (n <= 0)
		return n ? -errno : -EPIPE;
	for (c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, (struct cmsghdr *)c)) {
		size_t len = c->cmsg_len - CMSG_LEN(0), have = l->n_proofs * sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		if (have + len > sizeof(l->proofs)) /* the kernel gave no more than that */
			return -EMSGSIZE;
		memcpy((char *)l->proofs + have, CMSG_DATA(c), len);
		l->n_proofs += len / sizeof(int);
	}
	if (n != sizeof(*ret) || m.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
		return -EMSGSIZE;
	return ret->version == WIRE_VERSION ? 0 : -EPROTO;
}

static void drop_proofs(struct lent *l)
{
	while (l->n_proofs)
		close(l->proofs[--l->n_proofs]);
}

/* Waits for the next request. */
static int next_request(struct lent *l, int ms, struct wire_request *ret)
{
	struct pollfd p[2] = { { .fd = l->client->socket, .events = POLLIN },
			       { .fd = l->client->process, .events = POLLIN } };
	int n;

	do
		n = poll(p, 2, ms);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n ? -errno : -ETIMEDOUT;
	if (p[1].revents) /* it has ended, whoever else may have its socket */
		return -EPIPE;
	return receive(l, ret);
}

/* Never waits: a client that does not read is one that hangs. */
static int send_packet(const struct lent *l, const void *packet, size_t size, int fd)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .head = { .cmsg_len = CMSG_LEN(sizeof(int)),
				.cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS } };
	struct iovec io = { (void *)packet, size };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1 };

	if (fd >= 0) {
		memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
		m.msg_control = &control;
		m.msg_controllen = sizeof(control);
	}
	return sendmsg(l->client->socket, &m, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)size
		       ? 0
		       : -errno;
}

static int wake(void *ctx)
{
	static const struct wire_state again = { .version = WIRE_VERSION, .op = WIRE_WAKE };

	return send_packet(ctx, &again, sizeof(again), -1);
}

/* --- requests ------------------------------------------------------------------------------ */

/* What the client may know: neither numbers of places nor anything that is not counted. */
static void fill_state(const struct source_bpf *s, struct wire_state *w)
{
	w->cpu_ns = source_bpf_cpu_ns(s);
	w->skips = source_bpf_skips(s);
	w->oom_evidence_ns = s->oom_evidence_ns;
	w->tree = *s->tree;
	w->tree.claimed = 0;
	if (s->old)
		w->tree.largest_peak_pages = source_bpf_old_largest(s);
	w->drops = *s->drops;
	w->flags |= (s->tick_wanted ? WIRE_TICK : 0) | (s->skel->bss->closed ? WIRE_CLOSED : 0) |
		    (s->counted ? WIRE_COUNTED : 0) | (s->old ? WIRE_OLD : 0) |
		    (s->split_rss ? WIRE_THREADS : 0);
}

static int send_living(const struct lent *l)
{
	const struct source_bpf *s = l->source;
	struct wire_living w;
	uint64_t at = 0;
	int err;

	do {
		memset(&w, 0, sizeof(w));
		w.version = WIRE_VERSION;
		while (w.n < WIRE_BATCH && source_bpf_next_living(s, &at, &w.at[w.n])) {
			struct exit_event *e = &w.at[w.n++].event;

			if (e->flags & EVENT_FOREIGN)
				e->rchar = e->wchar = e->syscr = e->syscw = e->read_bytes =
					e->write_bytes = e->cancelled_write_bytes = 0;
		}
		err = send_packet(l, &w, sizeof(w), -1);
		if (err == -EAGAIN) { /* it has many to read */
			struct pollfd p = { .fd = l->client->socket, .events = POLLOUT };

			err = poll(&p, 1, OPEN_MS) > 0 ? send_packet(l, &w, sizeof(w), -1)
						       : -ETIMEDOUT;
		}
	} while (!err && w.n);
	return err;
}

static int serve(struct lent *l, const struct wire_request *r)
{
	struct source_bpf *s = l->source;
	struct wire_state w = { .version = WIRE_VERSION, .op = r->op };

	if (!s) /* not opened */
		return -EPROTO;
	if (!s->beside && s->tree->repaired)
		source_bpf_open_beside(s);
	source_bpf_compat_follow(s, true);
	switch (r->op) {
	case WIRE_PULSE:
		break;
	case WIRE_SAMPLE:
		if (!s->old && !source_bpf_settle(s))
			w.flags |= WIRE_SETTLED;
		w.interval_pages = source_bpf_take_interval(s);
		break;
	case WIRE_LATE:
		if (!s->late_tried)
			source_bpf_open_late(s);
		break;
	case WIRE_IDLE:
		__atomic_store_n(&s->skel->bss->tree_idle, 1, __ATOMIC_SEQ_CST);
		break;
	case WIRE_CLOSE:
		if (s->tree->processes || s->tree->exits > s->tree->records)
			source_bpf_close_metering(s);
		source_bpf_settle(s);
		source_bpf_seed_count(s);
		w.interval_pages = source_bpf_take_interval(s);
		break;
	case WIRE_LIVING:
		return s->skel->bss->closed || !s->tree->processes ? send_living(l) : -EPROTO;
	default:
		return -EPROTO;
	}
	fill_state(s, &w);
	if (!strcmp(s->base.info.samples, "bpf+proc"))
		w.flags &= ~WIRE_TICK;
	return send_packet(l, &w, sizeof(w), -1);
}

/* --- opening ------------------------------------------------------------------------------- */

static int look_at_all(const struct lent *l, const struct wire_request *r)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < r->n_roots; i++)
		err = l->client->may_look(l->client->ctx, (int)i, r->roots[i], l->proofs[i]);
	return err;
}

static void say_refused(int err, char *why, size_t cap)
{
	if (err == -EACCES || err == -EPERM)
		snprintf(why, cap, "exitmeter-probed: that process is not yours to look at");
	else if (err == -ESRCH)
		snprintf(why, cap, "exitmeter-probed: that process has ended");
	else if (err == -EXDEV)
		snprintf(why, cap, "exitmeter-probed sees another /proc");
	else
		snprintf(why, cap, "exitmeter-probed: %s", strerror(-err));
}

/* The sink of a source that hands on nothing. */
static const struct source_sink nowhere = { 0 };

static int open_source(struct lent *l, const struct wire_request *r, char *why, size_t cap)
{
	const struct source_options o = { .root = r->roots[0],
					  .roots = r->roots,
					  .n_roots = r->flags & WIRE_ATTACH ? r->n_roots : 0,
					  .tick = r->flags & WIRE_TICK,
					  .lent = &l->terms };
	struct source *source = NULL;
	int err;

	if (!r->n_roots || r->n_roots > SEED_ROOTS_MAX || l->n_proofs != r->n_roots ||
	    (!(r->flags & WIRE_ATTACH) && r->n_roots != 1))
		return -EPROTO;
	for (uint32_t i = 0; i < r->n_roots; i++)
		if (r->roots[i] <= 0)
			return -EPROTO;
	err = look_at_all(l, r);
	if (!err) {
		err = source_bpf_open(&o, &nowhere, &source, why, cap);
		if (err)
			return err;
		l->source = (struct source_bpf *)source;
		/* It was them, not somebody who got their numbers meanwhile. */
		err = look_at_all(l, r);
	}
	if (err)
		say_refused(err, why, cap);
	return err;
}

static int answer_open(struct lent *l, const struct wire_request *r)
{
	struct wire_state w = { .version = WIRE_VERSION, .op = WIRE_OPEN };
	const struct source_bpf *s;
	int ring = -1, err;

	w.err = r->op == WIRE_OPEN ? open_source(l, r, w.why, sizeof(w.why)) : -EPROTO;
	drop_proofs(l);
	if (!w.err) {
		s = l->source;
		fill_state(s, &w);
		w.ring_bytes = s->skel->rodata->ring_bytes;
		w.slack_pages = s->slack_pages;
		w.n_cpus = (uint32_t)s->n_cpus;
		w.ticks_off = s->ticks_off;
		snprintf(w.hook, sizeof(w.hook), "%s", s->base.info.hook);
		snprintf(w.refused, sizeof(w.refused), "%s", s->refused);
		if (s->base.info.degraded)
			snprintf(w.degraded, sizeof(w.degraded), "%s", s->base.info.degraded);
		ring = bpf_map__fd(s->skel->maps.events);
	}
	err = send_packet(l, &w, sizeof(w), ring);
	return w.err ? w.err : err;
}

int lend(const struct lend_client *c)
{
	struct lent l = { .client = c };
	struct wire_request r = { 0 };
	int err;

	l.terms = (struct source_lent){
		.client = c->pid, .uid = c->uid, .gid = c->gid, .wake = wake, .ctx = &l
	};
	err = next_request(&l, OPEN_MS, &r);
	if (!err)
		err = answer_open(&l, &r);
	if (!err)
		err = c->confine(c->ctx);
	while (!err) {
		err = next_request(&l, c->silent_ms, &r);
		drop_proofs(&l);
		if (!err)
			err = serve(&l, &r);
	}
	drop_proofs(&l);
	source_close(l.source ? &l.source->base : NULL);
	return err == -EPIPE ? 0 : err;
}

void lend_refuse(int socket, const char *why)
{
	const struct lend_client c = { .socket = socket };
	const struct lent l = { .client = &c };
	struct wire_state w = { .version = WIRE_VERSION, .op = WIRE_OPEN, .err = -EUSERS };

	snprintf(w.why, sizeof(w.why), "%s", why);
	send_packet(&l, &w, sizeof(w), -1);
}

static int wake_nobody(void *ctx)
{
	(void)ctx;
	return -ECANCELED;
}

int lend_rehearse(char *why, size_t cap)
{
	const struct source_lent terms = { .client = getpid(), .wake = wake_nobody };
	const struct source_options o = { .root = getpid(), .lent = &terms };
	struct source *source = NULL;
	int err = source_bpf_open(&o, &nowhere, &source, why, cap);

	source_close(source);
	return err == -ECANCELED ? 0 : err;
}
