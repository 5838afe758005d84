// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_pss - when shares of memory are looked at, and what comes of the looks
 */
#include "host/pss.h"

#include <errno.h>

#include "tap.h"
#include "units.h"

#define MIB (1LL << 20)
#define MS  NS_PER_MS

static const struct pss_pass quick = { .whole = true, .bytes = 60 * MIB, .duration_ns = MS };
static const struct pss_pass slow = {
	.whole = true, .bytes = 900 * MIB, .duration_ns = 100 * MS, .longest_ns = 90 * MS
};

static struct pss after(const struct pss_pass *pass, int64_t rss)
{
	struct pss p;

	pss_init(&p, true, 0);
	OK(pss_due(&p, 1000 * MS, rss, false), "the first look is due at once");
	pss_take(&p, 1000 * MS, rss, pass);
	return p;
}

static void turns(void)
{
	struct pss p = after(&quick, 100 * MIB);

	OK(!pss_due(&p, 1040 * MS, 500 * MIB, true), "not within 50 ms, whoever asks");
	OK(pss_due(&p, 1060 * MS, 500 * MIB, false), "a new high");
	OK(!pss_due(&p, 1060 * MS, 100 * MIB, false), "no new high");
	OK(!pss_due(&p, 1060 * MS, 101 * MIB, false), "not by more than 1 MiB");
	OK(!pss_due(&p, 1060 * MS, UNKNOWN, false), "resident memory unknown");
	OK(pss_due(&p, 1060 * MS, 100 * MIB, true), "asked for");
	OK(pss_due(&p, 2000 * MS, 100 * MIB, false), "once a second");
	OK(pss_due(&p, 2000 * MS, UNKNOWN, false), "once a second, resident memory unknown");
	pss_init(&p, false, 0);
	OK(!pss_due(&p, 5000 * MS, MIB, true), "not wanted: never");
	pss_init(&p, true, -ENOENT);
	OK(!pss_due(&p, 5000 * MS, MIB, true), "not to be had: never");
}

static void budget(void)
{
	struct pss p = after(&slow, 1000 * MIB);
	const int64_t first = 1000 + 19 * 100;

	OK(!pss_due(&p, (first - 1) * MS, 2000 * MIB, true), "a look of 100 ms is paid for first");
	OK(!pss_due(&p, first * MS, 2000 * MIB, false), "who took long has a turn left out");
	OK(!pss_due(&p, (first + 100) * MS, 2000 * MIB, false), "all of it");
	OK(pss_due(&p, (first + 19 * 90) * MS, 2000 * MIB, false), "then it is due");
	p = after(&slow, 1000 * MIB);
	pss_take(&p, 5000 * MS, 2000 * MIB, &quick);
	OK(pss_due(&p, 5060 * MS, 3000 * MIB, false), "a quick look makes no pause");
	EQ_I(p.readings, 2, "looks");
	EQ_I(p.spent_ns, 101 * MS, "their time");
	EQ_I(p.longest_ns, 90 * MS, "the longest of one process");
}

/* Of all time a twentieth at most, whatever the tree does. */
static void share(void)
{
	static const struct pss_pass passes[] = {
		{ .whole = true, .bytes = 1, .duration_ns = MS / 10 },
		{ .whole = true, .bytes = 1, .duration_ns = 30 * MS, .longest_ns = 4 * MS },
		{ .whole = true, .bytes = 1, .duration_ns = 240 * MS, .longest_ns = 240 * MS },
		{ .err = -ETIME, .duration_ns = 260 * MS, .longest_ns = 20 * MS },
	};

	for (size_t i = 0; i < sizeof(passes) / sizeof(passes[0]); i++) {
		int64_t now = 0, rss = 0;
		struct pss p;

		pss_init(&p, true, 0);
		while (now < 100 * NS_PER_S) {
			now += MS;
			rss += 10 * MIB;
			if (!pss_due(&p, now, rss, true))
				continue;
			now += passes[i].duration_ns;
			pss_take(&p, now, rss, &passes[i]);
		}
		OK(p.spent_ns <= now / 20 + passes[i].duration_ns, "a twentieth of the time: %zu",
		   i);
		OK(p.readings > 10, "and not never: %zu", i);
	}
}

static void figures(void)
{
	const struct pss_pass none = { .whole = true };
	const struct pss_pass failed = { .err = -EACCES, .bytes = 999 * MIB };
	struct pss p;

	pss_init(&p, true, 0);
	EQ_I(p.peak_bytes, UNKNOWN, "nothing seen");
	EQ_S(pss_reason(&p), "the run ended before it was looked at", "said");
	p = after(&none, 0);
	EQ_I(p.peak_bytes, UNKNOWN, "nobody was left: no figure, not 0");
	p = after(&failed, MIB);
	EQ_I(p.peak_bytes, UNKNOWN, "half a look is none");
	EQ_S(pss_reason(&p), "Permission denied", "and says why");
	pss_take(&p, 2000 * MS, MIB, &quick);
	EQ_I(p.peak_bytes, 60 * MIB, "a whole one counts");
	OK(pss_reason(&p), "the failed one is still said");
	pss_take(&p, 3000 * MS, MIB, &(struct pss_pass){ .whole = true, .bytes = 5 * MIB });
	EQ_I(p.peak_bytes, 60 * MIB, "the largest stays");
	EQ_I(pss_since(&p), 60 * MIB, "since the start");
	EQ_I(pss_since(&p), UNKNOWN, "nothing since");
	p = after(&quick, MIB);
	EQ_S(pss_reason(&p), NULL, "all is well");
	pss_init(&p, false, 0);
	EQ_S(pss_reason(&p), NULL, "not wanted: nothing to say");
	pss_init(&p, true, -ENOENT);
	EQ_S(pss_reason(&p), "No such file or directory", "not to be had");
}

int main(void)
{
	turns();
	budget();
	share();
	figures();
	return tap_done();
}
