/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * journals - the journals that are served, read on as they grow
 */
#ifndef SERVE_JOURNALS_H
#define SERVE_JOURNALS_H

#include "journal/follow.h"

#define JOURNALS_MAX 1000 /* of a folder, and in all */

struct served {
	struct follow *follow;
	bool of_folder; /* it goes with its file */
	int told_err;   /* that it cannot be read was told */
	unsigned long long told_faults;
};

struct journals {
	const char **folders; /* names are borrowed */
	size_t n_folders;
	struct served *all;
	size_t n;
	bool behind; /* of one of them there is more to be read at once */
	bool told_too_many;
};

enum journal_state {
	JOURNAL_WAITING, /* there is no run in it yet */
	JOURNAL_BEHIND,  /* what is there has not been read yet */
	JOURNAL_LIVE,
	JOURNAL_SILENT, /* it has not ended, but nothing has come for long */
	JOURNAL_ENDED,
};

/*
 * @names: files, which need not be there yet, and folders, of which every *.journal is served.
 * 0, or -errno after one line was printed; journals_close in any case.
 */
int journals_open(char *const *names, int n, struct journals *ret);
/* Reads on for a while; what is wrong is told, once.  0 or -ENOMEM. */
int journals_read(struct journals *j);
void journals_close(struct journals *j);

/* @now_ns: CLOCK_REALTIME. */
enum journal_state journal_state_of(const struct follow *f, int64_t now_ns);
const char *journal_state_name(enum journal_state state);

#endif /* SERVE_JOURNALS_H */
