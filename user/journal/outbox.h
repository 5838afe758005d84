/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outbox - the spool: a folder of journals that are still owed to a database
 *
 * An entry is NAME.jnl, and NAME.to: a line for each target (scheduler.h) it is owed to.  Whoever
 * writes or records an entry holds a lock on it (flock), which goes with the process; so whatever
 * ends whenever, an entry is there until its last URL has it.  Names sort by the moment they were
 * made.
 */
#ifndef JOURNAL_OUTBOX_H
#define JOURNAL_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>

#define OUTBOX_NAME_MAX  64
#define OUTBOX_BYTES_MAX (1LL << 30) /* of all entries: a run more is not kept */
#define OUTBOX_URLS_MAX  16

/*
 * Opens @dir (NULL: $XDG_STATE_HOME/exitmeter, else $HOME/.local/state/exitmeter), made for us
 * alone where there is none.  A descriptor of the folder in *@ret_fd.  0 or -errno; -EPERM: it is
 * another user's or others may write there.
 */
int outbox_open(const char *dir, int *ret_fd);
/* The folder's name, for messages and for another process.  False: there is no home. */
bool outbox_dir(const char *dir, char *buf, size_t cap);

/*
 * A new entry, locked, to be written to *@ret_fd.  0 or -errno; -EDQUOT: the folder holds
 * OUTBOX_BYTES_MAX.
 */
int outbox_new(int dir, const char *const *urls, size_t n, char name[OUTBOX_NAME_MAX], int *ret_fd);

/* Why one of these failed, in words. */
const char *outbox_error(int err);

/* Names of all entries, the oldest first, each to be freed and the list too.  0 or -errno. */
int outbox_list(int dir, char ***ret, size_t *ret_n);

struct outbox_entry {
	int dir;
	char name[OUTBOX_NAME_MAX];
	int fd; /* of the journal, locked, at its start */
	char *urls[OUTBOX_URLS_MAX];
	size_t n_urls; /* 0: nobody knows whose it is: owed to whom is asked */
};

/*
 * Takes an entry.  @wait: until whoever has it lets it go.  0; -EAGAIN: another has it; -ENOENT: it
 * is gone; -errno.  To be closed after 0.
 */
int outbox_take(int dir, const char *name, bool wait, struct outbox_entry *ret);
/*
 * The same without the lock, while another writes it: who it is owed to, and its journal, to be
 * read only.
 */
int outbox_look(int dir, const char *name, struct outbox_entry *ret);
/* @url has it now: it is owed to the others, or gone.  0 or -errno. */
int outbox_paid(struct outbox_entry *e, const char *url);
/* It goes: nothing is in it. */
int outbox_drop(struct outbox_entry *e);
/* It is no journal, and never will be: out of the way, as NAME.bad. */
int outbox_reject(struct outbox_entry *e);
/* On the disk, whatever happens next. */
void outbox_sync(struct outbox_entry *e);
void outbox_close(struct outbox_entry *e);

#endif /* JOURNAL_OUTBOX_H */
