// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/energy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "procfs/reading.h"
#include "units.h"

/* More than any domain takes: how long a range lasts at least. */
#define MOST_WATTS  1000
#define NO_ADVANCE  "did-not-advance"
#define WENT_BACK   "the counter went backwards"
#define BEYOND      "the counter is beyond its range"
#define UNREAD_LONG "not read for so long that it may have wrapped more than once"

const char *energy_source_name(enum energy_source source)
{
	static const char *const names[] = { "rapl", "perf", "nvml", "hwmon", "auto" };

	return names[source];
}

bool energy_source_parse(const char *text, enum energy_source *ret)
{
	for (int i = 0; i <= ENERGY_AUTO; i++)
		if (!strcmp(text, energy_source_name((enum energy_source)i))) {
			*ret = (enum energy_source)i;
			return true;
		}
	return false;
}

const char *energy_status_name(enum energy_status status)
{
	static const char *const names[] = { "unavailable", "denied", "stale", "live" };

	return names[status];
}

static void domain_close(const struct energy_domain *d)
{
	if (d->close)
		d->close(d->ctx);
	free(d->name);
}

void energy_add(struct energy_domains *all, const struct energy_domain *d)
{
	struct energy_domain *more = realloc(all->at, (all->n + 1) * sizeof(*more));

	if (!more) {
		domain_close(d);
		return;
	}
	all->at = more;
	all->at[all->n++] = *d;
}

void energy_domains_free(struct energy_domains *all)
{
	for (size_t i = 0; i < all->n; i++)
		domain_close(&all->at[i]);
	free(all->at);
	*all = (struct energy_domains){ 0 };
}

/* --- the probe ----------------------------------------------------------------------------- */

struct trial {
	uint64_t last_uj;
	int advances, err;
};

static void try_once(const struct energy_domain *d, struct trial *t, bool first)
{
	uint64_t v = 0;
	int err = t->err ? t->err : d->read(d->ctx, &v);

	t->err = err;
	if (err)
		return;
	/* One that wraps advances over its end. */
	if (!first && (v > t->last_uj || (v < t->last_uj && d->range_uj)))
		t->advances++;
	t->last_uj = v;
}

static void judge(struct energy_domain *d, int err, int advances)
{
	d->probed = true;
	if (err == -EACCES || err == -EPERM)
		d->status = ENERGY_DENIED;
	else if (err)
		d->status = ENERGY_UNAVAILABLE;
	else
		d->status = advances >= ENERGY_ADVANCES ? ENERGY_LIVE : ENERGY_STALE;
	if (*d->reason || d->status == ENERGY_LIVE)
		return;
	if (err)
		snprintf(d->reason, sizeof(d->reason), "%s", strerror(-err));
	else
		snprintf(d->reason, sizeof(d->reason), "it advanced in %d of %d intervals of %d ms",
			 advances, ENERGY_INTERVALS, ENERGY_INTERVAL_MS);
}

void energy_probe(struct energy_domains *all, void (*burn)(void *ctx), void *ctx)
{
	struct trial *trials = calloc(all->n + 1, sizeof(*trials));
	bool any = false;

	for (size_t i = 0; trials && i < all->n; i++) {
		trials[i].err = all->at[i].err;
		if (!all->at[i].probed)
			try_once(&all->at[i], &trials[i], true);
		any |= !all->at[i].probed && !trials[i].err;
	}
	for (int k = 0; any && k < ENERGY_INTERVALS; k++) {
		burn(ctx);
		for (size_t i = 0; i < all->n; i++)
			if (!all->at[i].probed)
				try_once(&all->at[i], &trials[i], false);
	}
	for (size_t i = 0; i < all->n; i++)
		if (!all->at[i].probed)
			judge(&all->at[i], trials ? trials[i].err : -ENOMEM,
			      trials ? trials[i].advances : 0);
	free(trials);
}

/* --- choosing ------------------------------------------------------------------------------ */

bool energy_chosen(const struct energy_domains *all, size_t i, enum energy_source choice)
{
	const struct energy_domain *d = &all->at[i];

	if (choice != ENERGY_AUTO)
		return d->source == choice;
	if (d->status != ENERGY_LIVE || d->part)
		return false;
	/* Both read the same counters. */
	for (size_t k = 0; d->source == ENERGY_PERF && k < all->n; k++)
		if (all->at[k].source == ENERGY_RAPL && all->at[k].status == ENERGY_LIVE &&
		    !all->at[k].part)
			return false;
	return true;
}

/* --- counting ------------------------------------------------------------------------------ */

int energy_counter_open(const struct energy_domain *d, int64_t now_ns, struct energy_counter *ret)
{
	struct energy_counter c = { .of = d, .last_ns = now_ns };
	int err;

	if (!d->probed || d->status != ENERGY_LIVE)
		return -EPERM;
	err = d->read(d->ctx, &c.start_uj);
	if (err)
		return err;
	c.last_uj = c.start_uj;
	*ret = c;
	return 0;
}

/* How long its range lasts, at the very least. */
static int64_t range_ns(uint64_t range_uj)
{
	return (int64_t)(range_uj / MOST_WATTS) * NS_PER_US;
}

void energy_counter_update(struct energy_counter *c, int64_t now_ns)
{
	const uint64_t range = c->of->range_uj;
	uint64_t v = 0;

	c->err = c->of->read(c->of->ctx, &v);
	if (c->err || c->broken)
		return;
	if (range && (v > range || c->last_uj > range)) {
		c->broken = BEYOND;
	} else if (range && now_ns - c->last_ns > range_ns(range)) {
		c->broken = UNREAD_LONG;
	} else if (v >= c->last_uj) {
		c->delta_uj += v - c->last_uj;
	} else if (range) {
		c->delta_uj += range - c->last_uj + v; /* J-31 */
		c->wraps++;
	} else {
		c->broken = WENT_BACK;
	}
	c->last_uj = v;
	c->last_ns = now_ns;
}

static char *copy(const char *text, int *err)
{
	char *s = text && *text ? strdup(text) : NULL;

	if (text && *text && !s)
		*err = -ENOMEM;
	return s;
}

static int64_t signed_uj(uint64_t v)
{
	return v <= INT64_MAX ? (int64_t)v : UNKNOWN;
}

int energy_domain_tell(const struct energy_domain *d, struct energy *ret)
{
	int err = 0;

	*ret = energy_blank();
	ret->source = copy(energy_source_name(d->source), &err);
	ret->domain = copy(d->name, &err);
	ret->covers = copy(d->covers, &err);
	ret->status = copy(energy_status_name(d->status), &err);
	ret->reason = copy(d->reason, &err);
	return err;
}

int energy_counter_tell(const struct energy_counter *c, struct energy *ret)
{
	const char *why = c->err ? strerror(-c->err) : c->broken;
	int err = energy_domain_tell(c->of, ret);

	if (!why && !c->delta_uj)
		why = NO_ADVANCE; /* J-8 */
	ret->start_uj = signed_uj(c->start_uj);
	ret->end_uj = c->err ? UNKNOWN : signed_uj(c->last_uj);
	ret->wraps = c->err || c->broken ? UNKNOWN : c->wraps;
	if (!why)
		ret->delta_uj = signed_uj(c->delta_uj);
	if (ret->delta_uj >= 0)
		ret->quality = copy("measured", &err);
	free(ret->reason);
	ret->reason = copy(why, &err);
	return err;
}
