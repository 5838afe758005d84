/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json_load - whether there was a co-tenant, as JSON (INTERFACE 3)
 */
#ifndef JSON_LOAD_H
#define JSON_LOAD_H

#include "journal/json.h"
#include "model/load.h"

/* One object. */
void json_load(struct json *j, const struct host_load *h);

#endif /* JSON_LOAD_H */
