/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * server - the loop: requests, journals that grow, the signal that ends it
 */
#ifndef SERVE_SERVER_H
#define SERVE_SERVER_H

#include "serve/listen.h"
#include "serve/routes.h"

/* Takes over @fds.  Until TERM or INT: 0; -errno after one line was printed. */
int server_run(struct site *site, const int *fds, int n);

#endif /* SERVE_SERVER_H */
