/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * identity - the user that a command is to run as
 *
 * Only uid, gid and supplementary groups, as setpriv --reuid --regid --init-groups; never the
 * environment.
 */
#ifndef IDENTITY_H
#define IDENTITY_H

#include <stddef.h>
#include <sys/types.h>

struct identity {
	uid_t uid;
	gid_t gid;
	gid_t *groups; /* owned */
	size_t n_groups;
};

/*
 * @name: a number, which is uid and gid, with no other group and nothing looked up; else a name
 * from the user database.  A static program reads /etc/passwd and /etc/group alone.  0 and
 * *@ret, -ENOENT when there is no such user, or another -errno.
 */
int identity_find(const char *name, struct identity *ret);

/* Becomes it, for good.  0 or -errno. */
int identity_assume(const struct identity *as);

void identity_free(struct identity *i);

#endif /* IDENTITY_H */
