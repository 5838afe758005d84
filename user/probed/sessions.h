/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sessions - how many there are, and whose; pure
 */
#ifndef SESSIONS_H
#define SESSIONS_H

#include <stdbool.h>
#include <sys/types.h>

#define SESSIONS_MOST 256

struct sessions {
	int most, most_per_user;
	int n;
	struct {
		pid_t process; /* that serves it */
		uid_t uid;
	} at[SESSIONS_MOST];
};

bool sessions_have_room(const struct sessions *s, uid_t uid);
/* There is room. */
void sessions_add(struct sessions *s, pid_t process, uid_t uid);
void sessions_remove(struct sessions *s, pid_t process);

#endif /* SESSIONS_H */
