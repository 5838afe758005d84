// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/identity.h"

#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static int add_group(struct identity *i, gid_t gid)
{
	gid_t *more = realloc(i->groups, (i->n_groups + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	i->groups = more;
	i->groups[i->n_groups++] = gid;
	return 0;
}

static int from_number(const char *text, struct identity *ret)
{
	unsigned long v;
	char *end;

	errno = 0;
	v = strtoul(text, &end, 10);
	/* The largest means "leave it" to the kernel. */
	if (*end || errno || v >= (uid_t)-1)
		return -ENOENT;
	ret->uid = (uid_t)v;
	ret->gid = (gid_t)v;
	return 0;
}

static int from_database(const char *name, struct identity *ret)
{
	const struct passwd *pw;
	int n = 0;

	errno = 0;
	pw = getpwnam(name);
	if (!pw)
		return errno && errno != ESRCH && errno != EPERM && errno != EBADF ? -errno
										   : -ENOENT;
	ret->uid = pw->pw_uid;
	ret->gid = pw->pw_gid;
	getgrouplist(name, pw->pw_gid, NULL, &n); /* how many */
	ret->groups = calloc((size_t)n + 1, sizeof(*ret->groups));
	if (!ret->groups)
		return -ENOMEM;
	if (getgrouplist(name, pw->pw_gid, ret->groups, &n) < 0)
		return -EAGAIN;
	ret->n_groups = (size_t)n;
	return 0;
}

static int groups_from_file(const char *name, struct identity *ret)
{
	FILE *f = fopen("/etc/group", "re");
	int err = add_group(ret, ret->gid);
	const struct group *gr;

	while (f && !err && (gr = fgetgrent(f)))
		for (char **m = gr->gr_mem; !err && *m; m++)
			if (!strcmp(*m, name) && gr->gr_gid != ret->gid)
				err = add_group(ret, gr->gr_gid);
	if (f)
		fclose(f);
	return err;
}

static int from_files(const char *name, struct identity *ret)
{
	FILE *f = fopen("/etc/passwd", "re");
	const struct passwd *pw;
	bool found = false;

	while (f && !found && (pw = fgetpwent(f)))
		if (!strcmp(pw->pw_name, name)) {
			ret->uid = pw->pw_uid;
			ret->gid = pw->pw_gid;
			found = true;
		}
	if (f)
		fclose(f);
	return found ? groups_from_file(name, ret) : -ENOENT;
}

/* Without a dynamic linker the modules of the user database may be those of another libc. */
static bool is_static(void)
{
	return !getauxval(AT_BASE);
}

int identity_find(const char *name, struct identity *ret)
{
	struct identity i = { 0 };
	int err;

	if (isdigit((unsigned char)*name))
		err = from_number(name, &i);
	else if (is_static())
		err = from_files(name, &i);
	else
		err = from_database(name, &i);
	if (err)
		identity_free(&i);
	else
		*ret = i;
	return err;
}

int identity_assume(const struct identity *as)
{
	if (setgroups(as->n_groups, as->groups) || setgid(as->gid) || setuid(as->uid))
		return -errno;
	return 0;
}

void identity_free(struct identity *i)
{
	free(i->groups);
	*i = (struct identity){ 0 };
}
