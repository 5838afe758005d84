/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * accept - what a client would rather have, by its Accept header (RFC 9110, 12.5.1)
 */
#ifndef SERVE_ACCEPT_H
#define SERVE_ACCEPT_H

#include <stdbool.h>

/*
 * Whether OpenMetrics is named in @accept (NULL: no header) and is wanted no less than plain text.
 */
bool accept_openmetrics(const char *accept);

#endif /* SERVE_ACCEPT_H */
