// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/reply.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "journal/json.h"

void reply_error(struct reply *r, unsigned int status, const char *format, ...)
{
	char text[256];
	struct json j;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	free(r->body);
	*r = (struct reply){ .status = status, .type = "application/json" };
	json_init(&j);
	json_open(&j);
	json_key(&j, "error");
	json_cstring(&j, text);
	json_close(&j);
	json_newline(&j);
	if (!j.err)
		reply_put(r, j.buf, j.len);
	json_free(&j);
}

int reply_put(void *reply, const char *data, size_t len)
{
	struct reply *r = reply;
	char *more = realloc(r->body, r->len + len + 1);

	if (!more)
		return -ENOMEM;
	memcpy(more + r->len, data, len);
	r->body = more;
	r->len += len;
	return 0;
}
