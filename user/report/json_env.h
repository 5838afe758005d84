/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json_env - the machine a run ran on, as JSON
 */
#ifndef JSON_ENV_H
#define JSON_ENV_H

#include "journal/json.h"
#include "model/env.h"

void json_env(struct json *j, const struct env *e); /* one object, as a value */
void json_psi(struct json *j, const struct env *e); /* of its pressure alone; or null */

#endif /* JSON_ENV_H */
