// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_energy - which counters are taken, and what they come to, on scripts and fixed text (SPEC 4)
 */
#include <errno.h>
#include <stdlib.h>

#include "host/energy.h"
#include "procfs/power.h"
#include "tap.h"
#include "units.h"

#define COUNT(a)  (sizeof(a) / sizeof((a)[0]))
#define READS     (ENERGY_INTERVALS + 1)
#define TEXT(lit) (lit), sizeof(lit) - 1

/* --- a counter that is read by a script ---------------------------------------------------- */

struct script {
	uint64_t values[64];
	int errs[64];
	int reads;
};

static int burns;

static int read_script(void *ctx, uint64_t *ret_uj)
{
	struct script *s = ctx;
	int at = s->reads < 63 ? s->reads++ : 63;

	if (s->errs[at])
		return s->errs[at];
	*ret_uj = s->values[at];
	return 0;
}

static void count_burn(void *ctx)
{
	(void)ctx;
	burns++;
}

static struct energy_domain scripted(struct script *s)
{
	return (struct energy_domain){ .source = ENERGY_RAPL,
				       .name = strdup("package-0"),
				       .covers = "all of it",
				       .read = read_script,
				       .ctx = s };
}

static struct energy_domains one(struct script *s)
{
	struct energy_domains all = { 0 };
	struct energy_domain d = scripted(s);

	energy_add(&all, &d);
	return all;
}

/* --- J-20 to J-22: the probe --------------------------------------------------------------- */

/* Advances in the first @n intervals, by one each. */
static void advance(struct script *s, int n)
{
	for (int i = 0; i < READS; i++)
		s->values[i] = 1000 + (uint64_t)(i < n ? i : n);
}

static void lumps(struct script *s, int n)
{
	for (int i = 0; i < READS; i++)
		s->values[i] = 1000 + (uint64_t)(i / n * n);
}

static void wraps(struct script *s, int n)
{
	for (int i = 0; i < READS; i++)
		s->values[i] = (uint64_t)(i % n);
}

static void falls(struct script *s, int n)
{
	for (int i = 0; i < READS; i++)
		s->values[i] = 1000 - (uint64_t)(i * n);
}

static void fails(struct script *s, int at)
{
	advance(s, READS);
	s->errs[at] = -EIO;
}

static void is_denied(struct script *s, int at)
{
	advance(s, READS);
	s->errs[at] = -EACCES;
}

static void is_forbidden(struct script *s, int at)
{
	advance(s, READS);
	s->errs[at] = -EPERM;
}

static const struct probe_row {
	const char *label;
	void (*fill)(struct script *s, int n);
	int n;
	uint64_t range;
	enum energy_status want;
} probes[] = {
	{ "advances at every read", advance, 20, 0, ENERGY_LIVE },
	{ "constant", advance, 0, 0, ENERGY_STALE },
	{ "one step", advance, 1, 0, ENERGY_STALE },
	{ "15 of 20", advance, 15, 0, ENERGY_STALE },
	{ "16 of 20", advance, 16, 0, ENERGY_LIVE },
	{ "17 of 20", advance, 17, 0, ENERGY_LIVE },
	{ "in lumps of 2", lumps, 2, 0, ENERGY_STALE },
	{ "in lumps of 10", lumps, 10, 0, ENERGY_STALE },
	{ "wraps", wraps, 7, 6, ENERGY_LIVE },
	{ "falls, and has a range", falls, 1, 5000, ENERGY_LIVE },
	{ "goes backwards", falls, 1, 0, ENERGY_STALE },
	{ "cannot be read", fails, 0, 0, ENERGY_UNAVAILABLE },
	{ "fails after ten reads", fails, 10, 0, ENERGY_UNAVAILABLE },
	{ "fails at the last read", fails, 20, 0, ENERGY_UNAVAILABLE },
	{ "may not be read", is_denied, 0, 0, ENERGY_DENIED },
	{ "may not be read any more", is_denied, 12, 0, ENERGY_DENIED },
	{ "is forbidden", is_forbidden, 0, 0, ENERGY_DENIED },
};

static void probe_cases(void)
{
	for (const struct probe_row *r = probes; r < probes + COUNT(probes); r++) {
		struct script s = { .reads = 0 };
		struct energy_domains all = one(&s);
		struct energy_counter c;
		int reads;

		r->fill(&s, r->n);
		all.at[0].range_uj = r->range;
		burns = 0;
		energy_probe(&all, count_burn, NULL);
		EQ_S(energy_status_name(all.at[0].status), energy_status_name(r->want), "J-22: %s",
		     r->label);
		OK(!*all.at[0].reason == (r->want == ENERGY_LIVE), "%s: a reason if not live",
		   r->label);
		reads = s.reads;
		OK(reads <= READS && burns <= ENERGY_INTERVALS, "%s: 20 intervals at most",
		   r->label);
		energy_probe(&all, count_burn, NULL);
		EQ_I(s.reads, reads, "J-4: %s: probed once", r->label);
		EQ_I(energy_counter_open(&all.at[0], 0, &c), r->want == ENERGY_LIVE ? 0 : -EPERM,
		     "J-5: %s: only a live one is constructed", r->label);
		energy_domains_free(&all);
	}
}

static void probe_together(void)
{
	struct script s[3] = { { .reads = 0 } };
	struct energy_domains all = { 0 };
	struct energy_domain none = { .source = ENERGY_NVML, .err = -ENOENT };
	struct energy_counter c;

	advance(&s[0], 20);
	advance(&s[1], 3);
	fails(&s[2], 5);
	for (int i = 0; i < 3; i++) {
		struct energy_domain d = scripted(&s[i]);

		energy_add(&all, &d);
	}
	energy_add(&all, &none);
	EQ_I(energy_counter_open(&all.at[0], 0, &c), -EPERM, "J-5: not before it was probed");
	all.at[0].status = ENERGY_LIVE;
	EQ_I(energy_counter_open(&all.at[0], 0, &c), -EPERM, "J-5: whatever is claimed");
	burns = 0;
	energy_probe(&all, count_burn, NULL);
	EQ_I(burns, ENERGY_INTERVALS, "one probe for all");
	EQ_I(all.at[0].status, ENERGY_LIVE, "the first lives");
	EQ_I(all.at[1].status, ENERGY_STALE, "the second does not");
	EQ_I(all.at[2].status, ENERGY_UNAVAILABLE, "the third fails");
	EQ_I(all.at[3].status, ENERGY_UNAVAILABLE, "the last is not there");
	EQ_I(s[0].reads, READS, "21 reads");
	energy_domains_free(&all);
	burns = 0;
	energy_add(&all, &none);
	energy_probe(&all, count_burn, NULL);
	EQ_I(burns, 0, "nothing is burnt where there is nothing to count");
	energy_domains_free(&all);
}

/* --- J-7, J-23: every combination of statuses ---------------------------------------------- */

#define STATUSES 4

/* One counter of each source, and one narrower than the work that lives with each. */
static struct energy_domains combination(const enum energy_status status[ENERGY_SOURCES])
{
	struct energy_domains all = { 0 };

	for (int part = 1; part >= 0; part--)
		for (int i = 0; i < ENERGY_SOURCES; i++) {
			struct energy_domain d = { .source = (enum energy_source)i,
						   .part = part,
						   .probed = true,
						   .status = part ? ENERGY_LIVE : status[i] };

			energy_add(&all, &d);
		}
	return all;
}

static bool wanted(const struct energy_domain *d, enum energy_source choice,
		   const enum energy_status status[ENERGY_SOURCES])
{
	if (choice != ENERGY_AUTO)
		return d->source == choice;
	if (d->part || d->status != ENERGY_LIVE)
		return false;
	return d->source != ENERGY_PERF || status[ENERGY_RAPL] != ENERGY_LIVE;
}

static void combinations(void)
{
	int wrong = 0, tried = 0;

	for (int k = 0; k < STATUSES * STATUSES * STATUSES * STATUSES; k++) {
		enum energy_status status[ENERGY_SOURCES];
		struct energy_domains all;

		for (int i = 0, rest = k; i < ENERGY_SOURCES; i++, rest /= STATUSES)
			status[i] = (enum energy_status)(rest % STATUSES);
		all = combination(status);
		for (int choice = 0; choice <= ENERGY_AUTO; choice++)
			for (size_t i = 0; i < all.n; i++, tried++)
				wrong += energy_chosen(&all, i, (enum energy_source)choice) !=
					 wanted(&all.at[i], (enum energy_source)choice, status);
		energy_domains_free(&all);
	}
	EQ_I(tried, 256 * 5 * 8, "J-23: all combinations of four sources and four statuses");
	EQ_I(wrong, 0, "J-23: auto takes what lives and is not narrower, a name that source alone");
}

static void named(void)
{
	enum energy_source s = ENERGY_RAPL;

	for (int i = 0; i <= ENERGY_AUTO; i++) {
		OK(energy_source_parse(energy_source_name((enum energy_source)i), &s) &&
			   (int)s == i,
		   "--energy=%s", energy_source_name((enum energy_source)i));
	}
	OK(!energy_source_parse("", &s) && !energy_source_parse("RAPL", &s) &&
		   !energy_source_parse("rapl2", &s) && s == ENERGY_AUTO,
	   "other names are none");
}

/* --- J-8, J-30, J-31: counting ------------------------------------------------------------- */

#define S(n) ((n)*NS_PER_S)

/* One that was seen to live; then @values, a reading every @step_ns. */
static struct energy counted(const uint64_t *values, const int *errs, int n, uint64_t range,
			     int64_t step_ns)
{
	struct script s = { .reads = 0 };
	struct energy_domains all = one(&s);
	struct energy_counter c = { 0 };
	struct energy e;

	advance(&s, 20);
	energy_probe(&all, count_burn, NULL);
	all.at[0].range_uj = range;
	s.reads = 0;
	for (int i = 0; i < n; i++) {
		s.values[i] = values[i];
		s.errs[i] = errs ? errs[i] : 0;
	}
	EQ_I(energy_counter_open(&all.at[0], 0, &c), 0, "opened");
	for (int i = 1; i < n; i++)
		energy_counter_update(&c, i * step_ns);
	if (energy_counter_tell(&c, &e))
		abort();
	energy_domains_free(&all);
	return e;
}

static void forget(struct energy *e)
{
	struct energy *copy = malloc(sizeof(*copy));

	if (!copy)
		abort();
	*copy = *e;
	energies_free(copy, 1);
}

static const struct count_row {
	const char *label;
	uint64_t values[8];
	int errs[8];
	int n;
	uint64_t range;
	int64_t step_ns, start, end, delta, wraps;
	const char *reason;
} counts[] = {
	{ "advances", { 1000, 4000 }, { 0 }, 2, 0, S(1), 1000, 4000, 3000, 0, NULL },
	{ "J-31: the wrap example",
	  { 262143000000, 171150 },
	  { 0 },
	  2,
	  262143328850,
	  S(10),
	  262143000000,
	  171150,
	  500000,
	  1,
	  NULL },
	{ "two wraps, seen one by one",
	  { 90, 10, 60, 20 },
	  { 0 },
	  4,
	  100000000,
	  S(0),
	  90,
	  20,
	  2 * 100000000 - 70,
	  2,
	  NULL },
	{ "J-8: did not advance",
	  { 5000, 5000, 5000 },
	  { 0 },
	  3,
	  0,
	  S(1),
	  5000,
	  5000,
	  -1,
	  0,
	  "did-not-advance" },
	{ "once all round is more than was seen",
	  { 5000, 5000 },
	  { 0 },
	  2,
	  262143328850,
	  S(900),
	  5000,
	  5000,
	  -1,
	  -1,
	  "not read for so long that it may have wrapped more than once" },
	{ "backwards without a range",
	  { 5000, 4000 },
	  { 0 },
	  2,
	  0,
	  S(1),
	  5000,
	  4000,
	  -1,
	  -1,
	  "the counter went backwards" },
	{ "and then on",
	  { 5000, 4000, 9000 },
	  { 0 },
	  3,
	  0,
	  S(1),
	  5000,
	  4000,
	  -1,
	  -1,
	  "the counter went backwards" },
	{ "beyond its range",
	  { 5000, 9000 },
	  { 0 },
	  2,
	  8000,
	  S(0),
	  5000,
	  9000,
	  -1,
	  -1,
	  "the counter is beyond its range" },
	{ "cannot be read at the end",
	  { 1000, 2000, 0 },
	  { 0, 0, -EIO },
	  3,
	  0,
	  S(1),
	  1000,
	  -1,
	  -1,
	  -1,
	  "Input/output error" },
	{ "cannot be read in between",
	  { 1000, 0, 3500 },
	  { 0, -EIO, 0 },
	  3,
	  0,
	  S(1),
	  1000,
	  3500,
	  2500,
	  0,
	  NULL },
	{ "from 0", { 0, 7 }, { 0 }, 2, 0, S(1), 0, 7, 7, 0, NULL },
};

static void counting(void)
{
	for (const struct count_row *r = counts; r < counts + COUNT(counts); r++) {
		struct energy e = counted(r->values, r->errs, r->n, r->range, r->step_ns);

		EQ_I(e.start_uj, r->start, "%s: start", r->label);
		EQ_I(e.end_uj, r->end, "%s: end", r->label);
		EQ_I(e.delta_uj, r->delta, "%s: delta", r->label);
		EQ_I(e.wraps, r->wraps, "%s: wraps", r->label);
		EQ_S(e.reason, r->reason, "%s: reason", r->label);
		EQ_S(e.quality, r->delta >= 0 ? "measured" : NULL, "J-9: %s: quality", r->label);
		EQ_S(e.status, "live", "%s: status", r->label);
		EQ_S(e.source, "rapl", "%s: source", r->label);
		EQ_S(e.domain, "package-0", "%s: domain", r->label);
		EQ_S(e.covers, "all of it", "J-6: %s: what it counts", r->label);
		forget(&e);
	}
}

static void no_counter(void)
{
	struct energy_domain d = { .source = ENERGY_HWMON,
				   .status = ENERGY_DENIED,
				   .reason = "not to you" };
	struct energy e;

	EQ_I(energy_domain_tell(&d, &e), 0, "told");
	EQ_S(e.source, "hwmon", "J-10: the source");
	EQ_S(e.status, "denied", "its status");
	EQ_S(e.reason, "not to you", "why");
	OK(!e.domain && !e.quality && e.start_uj < 0 && e.end_uj < 0 && e.delta_uj < 0 &&
		   e.wraps < 0,
	   "J-10: and no figure at all");
	forget(&e);
}

/* --- J-32: a sum of sockets ---------------------------------------------------------------- */

#define MEASURED "measured"

static void sums(void)
{
	struct energy e[] = {
		{ .source = "rapl", .domain = "package-0", .delta_uj = 5, .quality = MEASURED },
		{ .source = "rapl",
		  .domain = "package-0/core",
		  .delta_uj = 70,
		  .quality = MEASURED },
		{ .source = "rapl", .domain = "package-1", .delta_uj = 6, .quality = MEASURED },
		{ .source = "hwmon",
		  .domain = "board/energy1",
		  .delta_uj = 900,
		  .quality = MEASURED },
		{ .source = "rapl", .domain = NULL, .delta_uj = -1 },
	};

	EQ_I(energy_packages_uj(e, COUNT(e)), 11, "J-32: sockets, never a core beside its package");
	EQ_I(energy_packages_uj(e, 2), -1, "one socket is no sum");
	EQ_I(energy_packages_uj(e, 0), -1, "nothing is no sum");
	e[2].quality = NULL;
	e[2].delta_uj = -1;
	EQ_I(energy_packages_uj(e, COUNT(e)), -1, "J-32: one is not measured: no sum");
	e[2].delta_uj = 6;
	e[2].quality = "estimated";
	EQ_I(energy_packages_uj(e, COUNT(e)), -1, "J-9: one is only estimated: no sum");
	e[2].quality = MEASURED;
	e[2].source = "perf";
	EQ_I(energy_packages_uj(e, COUNT(e)), -1, "of two sources: no sum");
}

/* --- parsers on fixed text ----------------------------------------------------------------- */

static void events(void)
{
	uint64_t v = 77;
	double d = 77;

	EQ_I(power_event_parse(TEXT("event=0x02\n"), &v), 0, "an event");
	EQ_I(v, 2, "its config");
	EQ_I(power_event_parse(TEXT("event=0xfffffffffffffffF\n"), &v), -EBADMSG, "no hex");
	EQ_I(power_event_parse(TEXT("event=0x10000000000000000\n"), &v), -EBADMSG, "too large");
	EQ_I(power_event_parse(TEXT("event=0x02,umask=0x01\n"), &v), -EBADMSG, "two fields");
	EQ_I(power_event_parse(TEXT("event=0x02"), &v), -EBADMSG, "cut");
	EQ_I(power_event_parse(TEXT("event=0x\n"), &v), -EBADMSG, "no digit");
	EQ_I(power_event_parse(TEXT(""), &v), -EBADMSG, "nothing");
	EQ_I(v, 2, "left as it was");
	EQ_I(power_scale_parse(TEXT("2.3283064365386962890625e-10\n"), &d), 0, "a scale");
	EQ_D(d, 1.0 / (1LL << 32), 0, "its value");
	EQ_I(power_scale_parse(TEXT("0\n"), &d), -EBADMSG, "a scale of 0");
	EQ_I(power_scale_parse(TEXT("-1e-3\n"), &d), -EBADMSG, "below 0");
	EQ_I(power_scale_parse(TEXT("1e-10"), &d), -EBADMSG, "cut");
	EQ_I(power_scale_parse(TEXT("1e-10 J\n"), &d), -EBADMSG, "more");
	EQ_I(power_scale_parse(TEXT("1e999\n"), &d), -EBADMSG, "infinite");
}

static void processors(void)
{
	static const struct {
		const char *label, *text;
		size_t len;
		int err;
		size_t n;
		int first, last;
	} rows[] = {
		{ "one", TEXT("0\n"), 0, 1, 0, 0 },
		{ "one a socket", TEXT("0,18\n"), 0, 2, 0, 18 },
		{ "ranges", TEXT("0-1,8,10-11\n"), 0, 5, 0, 11 },
		{ "more than fit", TEXT("0-99\n"), 0, 8, 0, 7 },
		{ "none", TEXT("\n"), -EBADMSG, 0, 0, 0 },
		{ "empty", TEXT(""), -EBADMSG, 0, 0, 0 },
		{ "cut", TEXT("0,1"), -EBADMSG, 0, 0, 0 },
		{ "cut behind the comma", TEXT("0,"), -EBADMSG, 0, 0, 0 },
		{ "backwards", TEXT("3-1\n"), -EBADMSG, 0, 0, 0 },
		{ "too large", TEXT("0-99999999\n"), -EBADMSG, 0, 0, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		int cpus[8] = { 0 };
		size_t n = 0;

		EQ_I(power_cpus_parse(rows[i].text, rows[i].len, cpus, 8, &n), rows[i].err,
		     "processors: %s", rows[i].label);
		EQ_I(n, rows[i].n, "processors: %s: how many", rows[i].label);
		if (n) {
			EQ_I(cpus[0], rows[i].first, "processors: %s: first", rows[i].label);
			EQ_I(cpus[n - 1], rows[i].last, "processors: %s: last", rows[i].label);
		}
	}
}

static void zones(void)
{
	static const struct {
		const char *name;
		bool top, part;
	} rows[] = {
		{ "package-0", true, false },    { "package-0-die-1", true, false },
		{ "psys", true, false },         { "dram", false, false },
		{ "core", false, true },         { "uncore", false, true },
		{ "core", true, true },          { "package-0", false, true },
		{ "something-new", true, true }, { "something-new", false, true },
	};
	char *name = power_name_parse(TEXT("package-0\n"));

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct power_zone z = power_zone_of(rows[i].name, rows[i].top);

		EQ_I(z.part, rows[i].part, "J-7: %s%s: narrower than the work or not",
		     rows[i].top ? "" : "below: ", rows[i].name);
		OK(strstr(z.covers, "all processes"), "J-6: %s: it says who is in it",
		   rows[i].name);
	}
	EQ_S(name, "package-0", "a zone's name");
	free(name);
	EQ_S(power_name_parse(TEXT("two words\n")), NULL, "no name");
	EQ_S(power_name_parse(TEXT("package-0")), NULL, "a name that was cut off");
	EQ_S(power_name_parse(TEXT("\n")), NULL, "an empty name");
}

int main(void)
{
	probe_cases();
	probe_together();
	combinations();
	named();
	counting();
	no_counter();
	sums();
	events();
	processors();
	zones();
	return tap_done();
}
