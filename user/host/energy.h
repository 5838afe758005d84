/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * energy - which energy counters live, and what they come to (SPEC chapter 4)
 *
 * Pure: how a counter is read, and how time goes by, are functions of the caller's.  Microjoules.
 */
#ifndef HOST_ENERGY_H
#define HOST_ENERGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/energy.h"

#define ENERGY_INTERVALS   20 /* of a probe, of 5 ms each, */
#define ENERGY_ADVANCES    16 /* in how many of which a counter that is live advances (J-20) */
#define ENERGY_INTERVAL_MS 5
#define ENERGY_EVERY_S     30 /* between two readings at most (J-31) */

enum energy_source { ENERGY_RAPL, ENERGY_PERF, ENERGY_NVML, ENERGY_HWMON, ENERGY_SOURCES };
#define ENERGY_AUTO ENERGY_SOURCES

enum energy_status {
	ENERGY_UNAVAILABLE, /* there is no such interface, or it cannot be read */
	ENERGY_DENIED,      /* not to this user */
	ENERGY_STALE,       /* it can be read, and does not advance again and again */
	ENERGY_LIVE,
};

/* One counter, and exactly what it counts. */
struct energy_domain {
	enum energy_source source;
	char *name;         /* owned; NULL: the source has no counter here */
	const char *covers; /* static; NULL with @name */
	bool part;          /* of another domain: narrower than the work may be (J-7) */
	uint64_t range_uj;  /* it wraps there; 0: it does not */
	int (*read)(void *ctx, uint64_t *ret_uj); /* 0 or -errno */
	void (*close)(void *ctx);                 /* NULL: nothing to do */
	void *ctx;
	int err; /* -errno of finding it; 0: it can be tried */
	bool probed;
	enum energy_status status;
	char reason[160]; /* why it is not live; "" */
};

struct energy_domains {
	struct energy_domain *at;
	size_t n;
};

const char *energy_source_name(enum energy_source source);
/* "auto", or the name of one. */
bool energy_source_parse(const char *text, enum energy_source *ret);
const char *energy_status_name(enum energy_status status);

/* Takes @d over; without memory it is closed and left out. */
void energy_add(struct energy_domains *all, const struct energy_domain *d);
void energy_domains_free(struct energy_domains *all);

/*
 * The one probe for all, each once (J-2, J-4): reads all, calls @burn, 20 times.  @burn uses 5 ms
 * of CPU, so that a live counter has something to count.
 */
void energy_probe(struct energy_domains *all, void (*burn)(void *ctx), void *ctx);

/*
 * Whether an entry is given for it: a source that was named, whatever its status; or (ENERGY_AUTO)
 * each that is live, never a part of another, and perf only where powercap has none (J-7, J-23).
 */
bool energy_chosen(const struct energy_domains *all, size_t i, enum energy_source choice);

struct energy_counter {
	const struct energy_domain *of; /* borrowed */
	uint64_t start_uj, last_uj, delta_uj;
	int64_t wraps, last_ns;
	const char *broken; /* why it can no longer be a measurement; NULL */
	int err;            /* of a reading */
};

/* -EPERM unless @d was probed and is live (J-5); or -errno of reading. */
int energy_counter_open(const struct energy_domain *d, int64_t now_ns, struct energy_counter *ret);
/* A reading: often enough that it wraps once at most in between (J-31). */
void energy_counter_update(struct energy_counter *c, int64_t now_ns);
/* What it came to, of the newest reading.  0 or -ENOMEM, @ret to be freed in any case. */
int energy_counter_tell(const struct energy_counter *c, struct energy *ret);
/* Of a domain that has no counter: its status, and no figure at all (J-10).  The same. */
int energy_domain_tell(const struct energy_domain *d, struct energy *ret);

#endif /* HOST_ENERGY_H */
