/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * exitmeter - libexitmeter: whose memory and CPU was it
 *
 * The arithmetic of exitmeter for programs that start or watch others themselves: a meter keeps a
 * process tree's memory and CPU over time, attribute shares them out among attempts, and the rest
 * sends and shows the result.
 *
 * Plain structures and doubles.  Times are seconds, memory is bytes, CPU is seconds of user and
 * system, cores are CPU seconds per second.  -1 is "none, not known" in every member; 0 was
 * measured.  Nothing here reads /proc, keeps global state, or allocates, but em_meter_new and
 * em_meter_copy.  All functions may be called from any thread; one meter by one at a time.  No
 * text depends on the locale.
 */
#ifndef EXITMETER_H
#define EXITMETER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EM_VERSION 1 /* of this interface; only ever added to within one soname */

#define EM_MAX_MARKS          1024
#define EM_MARKS_PARSE_MAX    (EM_MAX_MARKS + 2) /* rows that em_marks_parse takes */
#define EM_MIN_SAMPLE_SECONDS 0.25

/* What a meter keeps of one or more samples. */
typedef struct em_mark {
	double at;   /* seconds on one monotonic clock; seconds before now once aged */
	int64_t rss; /* bytes: the most since the mark before; -1 at start and end */
	double cpu;  /* seconds so far */
	double cpus; /* most cores busy over one sample's interval; -1 none */
} em_mark;

/* An attempt, in seconds before now. */
typedef struct em_span {
	int64_t id;
	double started;
	double ended; /* -1: it had not ended when the process did */
} em_span;

/* One process that ended, in seconds before now. */
typedef struct em_exit {
	double started;
	double ended;
	int64_t peak_rss; /* bytes, -1 not known */
	double cpu;       /* seconds, -1 not known */
} em_exit;

typedef struct em_usage {
	int64_t peak_rss_bytes;
	double cpu_seconds;
	double peak_cpus;
} em_usage;

/* --- meter --------------------------------------------------------------------------------- */

typedef struct em_meter em_meter;

/* CLOCK_MONOTONIC in seconds. */
double em_now(void);

/*
 * A meter with its start mark at @now (below 0: em_now()).  @min_sample_seconds: the least time
 * between two samples (below 0: EM_MIN_SAMPLE_SECONDS).  NULL: out of memory.  em_meter_free.
 */
em_meter *em_meter_new(double now, double min_sample_seconds);
em_meter *em_meter_copy(const em_meter *m); /* NULL: out of memory, or of NULL */
void em_meter_free(em_meter *m);            /* NULL is fine */

/*
 * A periodic look at the tree: its resident bytes, its CPU seconds so far.  Neither time nor CPU
 * ever goes down: a lower one is raised to the one before.  False: dropped, sooner than
 * min_sample_seconds after the sample before, or after the end.
 */
bool em_meter_sample(em_meter *m, int64_t rss, double cpu, double now);
/* A look that was asked for: always kept; the next sample's cores are not counted from it. */
void em_meter_reading(em_meter *m, int64_t rss, double cpu, double now);
/*
 * The process ended: wait4 says that its largest process had @max_rss bytes (ru_maxrss is in KiB)
 * and that it used @cpu seconds; -1 where not known.  What comes after is ignored.
 */
void em_meter_end(em_meter *m, int64_t max_rss, double cpu, double now);

/*
 * Copies the marks with at = now - at, the oldest first.  Returns how many: at most @cap, and never
 * more than EM_MAX_MARKS.
 */
size_t em_meter_aged(const em_meter *m, double now, em_mark *out, size_t cap);
int64_t em_meter_max_rss(const em_meter *m);  /* of em_meter_end; -1 before */
double em_meter_peak_cpus(const em_meter *m); /* the largest of any sample's interval; -1 none */

/* --- attribute ----------------------------------------------------------------------------- */

/*
 * What each of @m spans used: out[i] is of spans[i], -1 where nothing is known.  @aged: @n marks
 * of em_meter_aged, the oldest first, ages of the same now as the spans'.
 *
 * Peak: the largest rss sampled in the span, else the sample just after it; @max_rss raises it
 * where there is one span only.  CPU: the meter's at its end less that at its start, linear between
 * marks, so that spans side by side add up to the total.  Cores: the busiest interval it overlaps.
 * Without any sample the only span gets max_rss and the total, of several none gets anything.
 * Spans are clipped to the meter's life; one wholly outside gets nothing.
 */
void em_attribute(const em_mark *aged, size_t n, int64_t max_rss, const em_span *spans, size_t m,
		  em_usage *out);

/*
 * The same, with @k processes' ends known.  A process that lived inside a span raises its peak to
 * its own, however short it was; one that only overlaps does where there is one span only.  CPU of
 * processes that lived between two marks counts where they lived, the rest is linear: the sum is
 * the same.
 */
void em_attribute_exits(const em_mark *aged, size_t n, int64_t max_rss, const em_exit *exits,
			size_t k, const em_span *spans, size_t m, em_usage *out);

/* --- the host ------------------------------------------------------------------------------ */

#define EM_COTENANT_CORES            1.0  /* foreign load from which on there is a co-tenant */
#define EM_COUNTER_ALLOWANCE_SECONDS 0.02 /* two ticks of the busy counter, of each span */
#define EM_MIN_SPAN_SECONDS          0.1  /* below it the counter is too coarse to rest on */

/* One look at the machine: seconds so far; -1 or NaN where something could not be read. */
typedef struct em_load {
	double wall; /* on a monotonic clock of any origin, and so of any sign */
	double busy; /* of all processors together: not idle, not waiting for I/O, not stolen */
	double own;  /* of what is measured, with its children, and of who measures */
} em_load;

enum em_host {
	EM_HOST_UNAVAILABLE = 0, /* there is no verdict */
	EM_HOST_QUIET = 1,
	EM_HOST_COTENANT = 2, /* work that was not the measured program's took a core or more */
};

enum em_host_reason {
	EM_HOST_JUDGED = 0,
	EM_HOST_NO_READING = 1, /* a value that is none */
	EM_HOST_EMPTY_SPAN = 2, /* no time between the two */
	EM_HOST_WENT_BACK = 3,  /* a counter did */
	EM_HOST_NO_WINDOW = 4,  /* no length, or longer than the span */
};

typedef struct em_verdict {
	enum em_host host;
	enum em_host_reason reason; /* why it is unavailable */
	double foreign;             /* cores; below 0 where the coarse counter trails; or NaN */
	double threshold;           /* cores: from this on it is a co-tenant; or NaN */
} em_verdict;

/*
 * Whether there was a co-tenant between two looks: foreign is the machine's busy time less the own,
 * divided by the time between, and a co-tenant from EM_COTENANT_CORES plus the allowance on.  A
 * span shorter than EM_MIN_SPAN_SECONDS is judged too: who cares waits before the second look, and
 * gives the length of what he measured as @window (at most the span's): all that is foreign in the
 * span is then charged to it.
 */
em_verdict em_classify(const em_load *before, const em_load *after);
em_verdict em_classify_window(const em_load *before, const em_load *after, double window);

/* "quiet", "cotenant", "unavailable"; and of a reason, "" for none.  Static; of any int. */
const char *em_host_name(int host);
const char *em_host_reason_text(int reason);
/* "host quiet (0.1 foreign cores)", "host busy (1.5 foreign cores)", "" without a verdict. */
int em_verdict_text(const em_verdict *v, char *buf, size_t cap);

/* --- texts --------------------------------------------------------------------------------- */

/*
 * Each writes a NUL-terminated text of at most @cap bytes, like snprintf, and returns its full
 * length; what is not known is left out, nothing known is "".
 *
 * "812 MB" (MiB; GB, GiB, from 10 GiB on); "41.2 s", "90.0 min", "2.0 h";
 * "peak 812 MB, CPU 41.2 s on up to 3.9 cores".
 */
int em_bytes_text(int64_t bytes, char *buf, size_t cap);
int em_cpu_text(double seconds, char *buf, size_t cap);
int em_usage_text(const em_usage *u, char *buf, size_t cap);

/* --- JSON ---------------------------------------------------------------------------------- */

/* Why something was refused. */
enum em_error {
	EM_OK = 0,
	EM_ESYNTAX = -1, /* no JSON, or not of this form */
	EM_EROW = -2,    /* a row that is not four numbers, rss an integer */
	EM_EROWS = -3,   /* more than EM_MARKS_PARSE_MAX rows */
	EM_EORDER = -4,  /* an age larger than the one before */
	EM_EROOM = -5,   /* more rows than @cap */
	EM_EVALUE = -6,  /* a member that is no number of its kind */
};

/* In words, static; of any int. */
const char *em_error_text(int err);

/*
 * Aged marks as [[age,rss,cpu,cpus],...], -1 for none; doubles read back as the same ones.  Like
 * snprintf: the full length, at most @cap bytes written, NUL-terminated.
 */
int em_marks_json(const em_mark *aged, size_t n, char *buf, size_t cap);
/* And back.  How many, or an em_error: then @out is not defined. */
int em_marks_parse(const char *json, size_t len, em_mark *out, size_t cap);

/* {"peak_rss_bytes":...,"cpu_seconds":...,"peak_cpus":...}, null for what is not known. */
int em_usage_json(const em_usage *u, char *buf, size_t cap);
/* And back: -1 for what is null or missing; other members are passed over.  EM_OK or an em_error.
 */
int em_usage_parse(const char *json, size_t len, em_usage *ret);

#ifdef __cplusplus
}
#endif

#endif /* EXITMETER_H */
