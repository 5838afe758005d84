/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lend - programs that are loaded for another process: exitmeter-probed's side of a session
 */
#ifndef LEND_H
#define LEND_H

#include <stddef.h>
#include <sys/types.h>

/* Who asks, and who decides what of. */
struct lend_client {
	int socket;  /* connected, SOCK_SEQPACKET; borrowed */
	int process; /* a pidfd of it; borrowed */
	pid_t pid;
	uid_t uid;
	gid_t gid;
	int silent_ms; /* so long may it say nothing */
	void *ctx;
	/*
	 * May it look at @pid, which it proves by @proof?  Called again once the process is
	 * marked: what was allowed must still be that process.  0 or -errno.
	 */
	int (*may_look)(void *ctx, int n, pid_t pid, int proof);
	/* All is loaded but what WIRE_LATE asks for: less will do from here on.  0 or -errno. */
	int (*confine)(void *ctx);
};

/* Until the client is gone, says too little or something wrong.  0 or -errno. */
int lend(const struct lend_client *c);

/* Says that there is no session, and why. */
void lend_refuse(int socket, const char *why);

/*
 * Loads all once and unloads it: then the kernel's types are in the cache.  0; or -errno and one
 * clause in @why.
 */
int lend_rehearse(char *why, size_t cap);

#endif /* LEND_H */
