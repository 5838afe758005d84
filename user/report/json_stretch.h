/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json_stretch - phases and attempts as JSON (INTERFACE 3)
 */
#ifndef JSON_STRETCH_H
#define JSON_STRETCH_H

#include "journal/json.h"
#include "model/summary.h"

/* Two members of the summary: "phases" and "attempts". */
void json_stretches(struct json *j, const struct summary *s);

/* An attempt's id as a value: an integer stays one. */
void json_attempt_id(struct json *j, const char *id, size_t len);
/* What a stretch used, as the members "usage" and "resources". */
void json_stretch_members(struct json *j, const struct stretch *s, const char *io_source);

#endif /* JSON_STRETCH_H */
