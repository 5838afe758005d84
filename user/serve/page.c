// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/page.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#define PLACE "@NONCE@"

__asm__(".pushsection .rodata\n"
	".global exitmeter_live_page\n"
	".hidden exitmeter_live_page\n"
	"exitmeter_live_page:\n"
	".incbin \"user/serve/page.html\"\n"
	".byte 0\n"
	".popsection\n");

extern const char exitmeter_live_page[];

static int make_nonce(char text[33])
{
	unsigned char random[16];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return -EIO;
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(text + 2 * i, 3, "%02x", random[i]);
	return 0;
}

int page_make(struct reply *ret)
{
	char nonce[33];
	const char *at = exitmeter_live_page, *place;
	int err = make_nonce(nonce);

	*ret = (struct reply){ .status = 200, .type = "text/html; charset=utf-8" };
	while (!err && (place = strstr(at, PLACE))) {
		err = reply_put(ret, at, (size_t)(place - at));
		if (!err)
			err = reply_put(ret, nonce, strlen(nonce));
		at = place + strlen(PLACE);
	}
	if (!err)
		err = reply_put(ret, at, strlen(at));
	snprintf(ret->policy, sizeof(ret->policy),
		 "default-src 'none'; script-src 'nonce-%s'; style-src 'nonce-%s'; "
		 "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		 nonce, nonce);
	return err;
}
