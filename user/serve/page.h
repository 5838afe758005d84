/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page - the live page: one HTML document that asks only the server it came from
 */
#ifndef SERVE_PAGE_H
#define SERVE_PAGE_H

#include "serve/reply.h"

/* With a nonce of its own, which its policy names.  0, -ENOMEM or -EIO: no random bytes. */
int page_make(struct reply *ret);

#endif /* SERVE_PAGE_H */
