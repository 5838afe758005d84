// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/load.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "procfs/reading.h"
#include "procfs/system.h"
#include "units.h"

/* All the first line may take: a name and ten numbers of 64 bits. */
#define LINE_MAX_BYTES 512

void load_open(struct load_source *s)
{
	long hz = sysconf(_SC_CLK_TCK);

	s->fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
	s->tick_ns = hz > 0 ? NS_PER_S / hz : UNKNOWN;
}

void load_close(struct load_source *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

static int64_t ticks_ns(int64_t ticks, int64_t tick_ns)
{
	int64_t ns;

	return tick_ns < 0 || __builtin_mul_overflow(ticks, tick_ns, &ns) ? UNKNOWN : ns;
}

void load_read(const struct load_source *s, struct load_reading *ret)
{
	struct cpu_ticks ticks;
	char text[LINE_MAX_BYTES];
	ssize_t n = s->fd < 0 ? -1 : pread(s->fd, text, sizeof(text), 0);

	*ret = (struct load_reading){ .at_ns = clock_ns(CLOCK_MONOTONIC),
				      .busy_ns = UNKNOWN,
				      .steal_ns = UNKNOWN,
				      .self_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID),
				      .tree_ns = UNKNOWN };
	if (n <= 0 || cpu_ticks_parse(text, (size_t)n, &ticks))
		return;
	ret->busy_ns = ticks_ns(ticks.busy, s->tick_ns);
	ret->steal_ns = ticks_ns(ticks.steal, s->tick_ns);
}

int load_watch_host(const struct load_source *s, int64_t window_ns, struct host_load *ret)
{
	int64_t wait_ns = window_ns < LOAD_MIN_SPAN_NS ? LOAD_MIN_SPAN_NS : window_ns;
	struct load_reading before, after;
	struct timespec until;

	load_read(s, &before);
	until.tv_sec = (time_t)((before.at_ns + wait_ns) / NS_PER_S);
	until.tv_nsec = (long)((before.at_ns + wait_ns) % NS_PER_S);
	if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL))
		return -EINTR;
	load_read(s, &after);
	before.tree_ns = after.tree_ns = 0;
	/* A little longer than was asked for is no padding. */
	return load_judge(&before, &after, window_ns < wait_ns ? window_ns : UNKNOWN, ret);
}
