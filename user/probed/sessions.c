// SPDX-License-Identifier: GPL-2.0-or-later
#include "probed/sessions.h"

bool sessions_have_room(const struct sessions *s, uid_t uid)
{
	int own = 0;

	for (int i = 0; i < s->n; i++)
		own += s->at[i].uid == uid;
	return s->n < s->most && s->n < SESSIONS_MOST && own < s->most_per_user;
}

void sessions_add(struct sessions *s, pid_t process, uid_t uid)
{
	s->at[s->n].process = process;
	s->at[s->n++].uid = uid;
}

void sessions_remove(struct sessions *s, pid_t process)
{
	for (int i = 0; i < s->n; i++)
		if (s->at[i].process == process) {
			s->at[i] = s->at[--s->n];
			return;
		}
}
