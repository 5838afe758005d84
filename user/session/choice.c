// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/choice.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "log.h"

#define WHY_MAX 384

static const struct {
	enum source_choice choice;
	const char *name;
	int (*open)(const struct source_options *o, const struct source_sink *sink,
		    struct source **ret_source, char *why, size_t cap);
} all[] = {
	{ SOURCE_BPF, "bpf", source_bpf_open },
	{ SOURCE_PROBED, "probed", source_probed_open },
	{ SOURCE_PTRACE, "ptrace", source_ptrace_open },
	{ SOURCE_PROC, "proc", source_proc_open },
};

int choice_open(const struct config *c, const struct source_options *o,
		const struct source_sink *sink, struct source **ret_source, char *reason,
		size_t cap)
{
	char why[WHY_MAX] = "";
	size_t used = 0;
	int err = -EINVAL;

	*reason = '\0';
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (c->source != SOURCE_AUTO && c->source != all[i].choice)
			continue;
		err = all[i].open(o, sink, ret_source, why, sizeof(why));
		log_debug("source %s: %s", all[i].name,
			  err                        ? why
			  : (*ret_source)->info.hook ? (*ret_source)->info.hook
						     : "samples");
		if (!err && all[i].choice == SOURCE_PROBED)
			*reason = '\0'; /* as good as what was refused */
		if (!err)
			return 0;
		if (!*why) /* nobody offers that one */
			snprintf(why, sizeof(why), "%s",
				 c->source == SOURCE_AUTO ? "" : "no exitmeter-probed answers");
		if (!*why)
			continue;
		used += (size_t)snprintf(reason + used, cap - used, "%s%s", used ? "; " : "", why);
		if (used >= cap)
			used = cap - 1;
	}
	return err;
}
