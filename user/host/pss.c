// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/pss.h"

#include <errno.h>
#include <string.h>

#include "procfs/scan.h"
#include "units.h"

#define SHARE      20               /* of the time at most one part goes to looks */
#define LEAST_NS   (50 * NS_PER_MS) /* between two */
#define STEADY_NS  NS_PER_S         /* memory can become unshared without a new high */
#define HIGH_BYTES (1 << 20)

void pss_init(struct pss *p, bool wanted, int err)
{
	*p = (struct pss){ .wanted = wanted,
			   .on = wanted && !err,
			   .err = err,
			   .failed = !!err,
			   .peak_bytes = UNKNOWN,
			   .since_bytes = UNKNOWN,
			   .high_bytes = UNKNOWN };
}

static int64_t pause_after(int64_t took_ns)
{
	return took_ns * (SHARE - 1) > LEAST_NS ? took_ns * (SHARE - 1) : LEAST_NS;
}

bool pss_due(struct pss *p, int64_t now_ns, int64_t rss_bytes, bool asked)
{
	bool higher = rss_bytes >= 0 && rss_bytes > p->high_bytes + HIGH_BYTES;

	if (!p->on || now_ns < p->next_ns)
		return false;
	if (p->readings && !asked && !higher && now_ns - p->last_ns < STEADY_NS)
		return false;
	if (!p->rest)
		return true;
	p->rest = false;
	p->next_ns = now_ns + pause_after(p->longest_ns);
	return false;
}

void pss_take(struct pss *p, int64_t now_ns, int64_t rss_bytes, const struct pss_pass *pass)
{
	p->readings++;
	p->spent_ns += pass->duration_ns;
	if (pass->longest_ns > p->longest_ns)
		p->longest_ns = pass->longest_ns;
	p->last_ns = now_ns;
	p->next_ns = now_ns + pause_after(pass->duration_ns);
	p->rest = pass->longest_ns > SCAN_PSS_SLOW_NS;
	if (!pass->whole) {
		p->failed++;
		p->err = pass->err;
		return;
	}
	if (pass->bytes <= 0) /* nobody was left */
		return;
	if (rss_bytes > p->high_bytes)
		p->high_bytes = rss_bytes;
	if (pass->bytes > p->peak_bytes)
		p->peak_bytes = pass->bytes;
	if (pass->bytes > p->since_bytes)
		p->since_bytes = pass->bytes;
}

int64_t pss_since(struct pss *p)
{
	int64_t bytes = p->since_bytes;

	p->since_bytes = UNKNOWN;
	return bytes;
}

const char *pss_reason(const struct pss *p)
{
	if (!p->wanted || (!p->failed && p->peak_bytes >= 0))
		return NULL;
	if (!p->failed)
		return "the run ended before it was looked at";
	if (p->err == -ETIME)
		return "the tree is too large to be looked at within 0.25 s";
	if (p->err == -ENODATA)
		return "the kernel does not tell it";
	return strerror(-p->err);
}
