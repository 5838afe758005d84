// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * report_main - exitmeter report: a journal rendered again, without privileges
 */
#include <errno.h>
#include <locale.h>
#include <string.h>

#include "config.h"
#include "format/format.h"
#include "log.h"
#include "output.h"
#include "programs.h"
#include "report_cli.h"
#include "report_journal.h"

/* Before anything is read, as exitmeter does before it starts anything.  @later: not the first. */
static int open_outputs(const struct report_options *o, bool later, struct report_outputs *out)
{
	int err = output_open(o->json, later, &out->json);

	if (!err)
		err = output_open(o->report, o->append || later || o->kind->appended, &out->report);
	if (!err && !o->quiet && !o->report)
		output_stderr(&out->report);
	for (int i = 0; !err && i < MADE_N; i++) {
		if (format_of_made((enum made_output)i)->whole ||
		    (i == MADE_HTML && o->n_journals > 1)) /* one page, of the comparison */
			continue;
		err = later ? output_open(o->made[i], true, &out->made[i])
			    : output_open_whole(o->made[i], &out->made[i]);
	}
	return err;
}

static void close_outputs(struct report_outputs *out)
{
	output_drop(&out->json);
	output_drop(&out->report);
	for (int i = 0; i < MADE_N; i++)
		output_drop(&out->made[i]);
}

static int report_all(const struct report_options *o, struct wholes *wholes,
		      struct comparing *comparing)
{
	int status = 0;

	for (int i = 0; i < o->n_journals; i++) {
		struct report_outputs out = {
			.json.fd = -1, .report.fd = -1, .wholes = wholes, .comparing = comparing
		};
		int one = STATUS_FAILED;

		for (int k = 0; k < MADE_N; k++)
			out.made[k].fd = -1;
		if (!open_outputs(o, i > 0, &out))
			one = report_journal(o, o->journals[i], &out);
		close_outputs(&out);
		if (one > status)
			status = one;
	}
	return status;
}

/* Database code is in a program of its own. */
static int ask_database(char **argv)
{
	static char name[] = "report"; /* as which it shall work */
	int err;

	argv[0] = name;
	err = program_exec("suggest", argv);
	log_line("exitmeter-suggest: %s", err == -ENOENT ? "not installed" : strerror(-err));
	return STATUS_FAILED;
}

int main(int argc, char **argv)
{
	struct report_options o;
	struct comparing comparing = { .page.fd = -1 };
	struct wholes wholes;
	int status;

	setlocale(LC_CTYPE, ""); /* how wide a character is; numbers stay as they are */
	if (report_cli_parse(argc, argv, &o, &status))
		return status;
	if (o.from_database)
		return ask_database(argv);
	status = STATUS_FAILED;
	if (!wholes_open(&o, &wholes) && !comparing_open(&o, &comparing))
		status = report_all(&o, &wholes, &comparing);
	if (o.page_missing)
		status = STATUS_FAILED;
	if (wholes_close(&wholes))
		status = STATUS_FAILED;
	if (comparing_close(&o, &comparing))
		status = STATUS_FAILED;
	return status;
}
