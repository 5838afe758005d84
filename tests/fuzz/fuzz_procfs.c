// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_procfs - any bytes to every /proc parser
 *
 * Besides what the sanitizers see it checks the promises of parse.h: 0 or -EBADMSG, and *ret
 * untouched on failure.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "procfs/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define UNTOUCHED 0xa5

static void check(int err, const void *ret, size_t size)
{
	const unsigned char *p = ret;

	if (!err)
		return;
	if (err != -EBADMSG)
		abort();
	for (size_t i = 0; i < size; i++) {
		if (p[i] != UNTOUCHED)
			abort();
	}
}

#define FEED(parse, ret)                                        \
	({                                                      \
		int err_;                                       \
                                                                \
		memset(&(ret), UNTOUCHED, sizeof(ret));         \
		err_ = parse((const char *)data, size, &(ret)); \
		check(err_, &(ret), sizeof(ret));               \
		!err_;                                          \
	})

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct proc_stat stat;
	struct proc_statm statm;
	struct proc_status status;
	struct proc_kin kin;
	struct proc_io io;
	struct proc_rollup rollup;
	struct proc_schedstat schedstat;
	struct proc_vmstat vmstat;

	if (FEED(proc_stat_parse, stat) &&
	    (!memchr(stat.comm, '\0', sizeof(stat.comm)) || stat.pid < 0 || stat.ppid < 0))
		abort();
	FEED(proc_statm_parse, statm);
	if (FEED(proc_status_parse, status) && (status.vm_rss_bytes < -1 || status.threads < -1))
		abort();
	if (FEED(proc_kin_parse, kin) && (kin.tgid < 0 || kin.ppid < 0 || kin.tracer_pid < 0))
		abort();
	if (FEED(proc_rollup_parse, rollup) && (rollup.rss_bytes < 0 || rollup.pss_bytes < -1))
		abort();
	if (FEED(proc_io_parse, io) && (io.rchar < -1 || io.cancelled_write_bytes < -1))
		abort();
	FEED(proc_schedstat_parse, schedstat);
	FEED(proc_vmstat_parse, vmstat);
	return 0;
}
