// SPDX-License-Identifier: GPL-2.0-or-later
/* How many sessions exitmeter-probed gives to whom. */
#include "probed/sessions.h"
#include "tap.h"

static void per_user(void)
{
	struct sessions s = { .most = 4, .most_per_user = 2 };

	OK(sessions_have_room(&s, 1), "none yet");
	sessions_add(&s, 11, 1);
	OK(sessions_have_room(&s, 1), "one of two");
	sessions_add(&s, 12, 1);
	OK(!sessions_have_room(&s, 1), "two of two");
	OK(sessions_have_room(&s, 2), "another user has its own");
	sessions_add(&s, 21, 2);
	sessions_add(&s, 31, 3);
	OK(!sessions_have_room(&s, 4), "four in all");
	sessions_remove(&s, 11);
	OK(sessions_have_room(&s, 1), "one ended");
	OK(sessions_have_room(&s, 4), "which is room for others too");
	sessions_remove(&s, 99);
	EQ_I(s.n, 3, "one that is not known");
	sessions_remove(&s, 31);
	sessions_remove(&s, 21);
	sessions_remove(&s, 12);
	EQ_I(s.n, 0, "all ended, in any order");
}

static void in_all(void)
{
	struct sessions s = { .most = SESSIONS_MOST + 1, .most_per_user = SESSIONS_MOST + 1 };

	for (int i = 0; i < SESSIONS_MOST; i++) {
		OK(sessions_have_room(&s, 1), "session %d", i);
		sessions_add(&s, 100 + i, 1);
	}
	OK(!sessions_have_room(&s, 1), "never more than there are places");
}

int main(void)
{
	per_user();
	in_all();
	return tap_done();
}
