// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/text_asked.h"

#include <string.h>

#include "lib/exitmeter.h"
#include "units.h"

#define LINE "exitmeter: "

static void put_plain(FILE *out, const char *text)
{
	char plain[1024];

	plain_text(text ? text : "", text ? strlen(text) : 0, plain, sizeof(plain));
	fputs(plain, out);
}

static void say_why_not(FILE *out, const struct texts *notes)
{
	static const char *const asked[] = { "pss: ", "cgroup: " };
	for (size_t i = 0; i < notes->n; i++)
		for (size_t k = 0; k < sizeof(asked) / sizeof(asked[0]); k++) {
			if (strncmp(notes->at[i], asked[k], strlen(asked[k])) != 0)
				continue;
			fputs(LINE, out);
			put_plain(out, notes->at[i]);
			fputc('\n', out);
		}
}

static bool has_figure(const struct energy *e)
{
	return e->delta_uj >= 0 && e->quality;
}

/* Value, unit, quality and domain (SPEC J-12). */
static void say_joules(FILE *out, const struct energy *e)
{
	fputs(LINE "energy ", out);
	put_plain(out, e->domain);
	fprintf(out, ": %.3f J (", (double)e->delta_uj / 1e6);
	put_plain(out, e->quality);
	if (e->covers) {
		fputs(", ", out);
		put_plain(out, e->covers);
	}
	fputs(")\n", out);
}

static void say_none(FILE *out, const struct energy *e)
{
	put_plain(out, e->source);
	if (e->domain) {
		fputc(' ', out);
		put_plain(out, e->domain);
	}
	fputc(' ', out);
	put_plain(out, e->status);
	if (!e->reason)
		return;
	fputs(" (", out);
	put_plain(out, e->reason);
	fputc(')', out);
}

static void say_energy(FILE *out, const struct energy *e, size_t n)
{
	int64_t together = energy_packages_uj(e, n);
	const char *before = LINE "no energy figure: ";

	for (size_t i = 0; i < n; i++)
		if (has_figure(&e[i]))
			say_joules(out, &e[i]);
	if (together >= 0)
		fprintf(out, LINE "energy of the sockets together: %.3f J\n",
			(double)together / 1e6);
	for (size_t i = 0; i < n; i++) {
		if (has_figure(&e[i]))
			continue;
		fputs(before, out);
		say_none(out, &e[i]);
		before = "; ";
	}
	if (*before == ';')
		fputc('\n', out);
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
	say_energy(out, s->energies, s->n_energies);
}
