// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/text_asked.h"

#include <string.h>

#include "lib/exitmeter.h"
#include "units.h"

#define LINE "exitmeter: "

static void say_why_not(FILE *out, const struct texts *notes)
{
	static const char *const asked[] = { "pss: ", "cgroup: " };
	char plain[1024];

	for (size_t i = 0; i < notes->n; i++)
		for (size_t k = 0; k < sizeof(asked) / sizeof(asked[0]); k++) {
			if (strncmp(notes->at[i], asked[k], strlen(asked[k])) != 0)
				continue;
			plain_text(notes->at[i], strlen(notes->at[i]), plain, sizeof(plain));
			fprintf(out, LINE "%s\n", plain);
		}
}

void text_asked(FILE *out, const struct summary *s)
{
	char text[32];

	if (s->usage.peak_pss_bytes >= 0) {
		em_bytes_text(s->usage.peak_pss_bytes, text, sizeof(text));
		fprintf(out, LINE "%s with shared pages counted once (PSS, sampled)\n", text);
	}
	if (s->usage.cgroup_peak_bytes >= 0) {
		em_bytes_text(s->usage.cgroup_peak_bytes, text, sizeof(text));
		fprintf(out, LINE "%s in the cgroup, page cache and kernel memory included\n",
			text);
	}
	say_why_not(out, &s->source.notes);
}
