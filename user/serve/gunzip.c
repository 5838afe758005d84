// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/gunzip.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include <zlib.h>

#define GZIP_ONLY (16 + MAX_WBITS)

int gunzip(const char *data, size_t len, size_t most, char **ret, size_t *ret_len)
{
	z_stream z = { .next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)len };
	char *plain;
	int got;

	if (len > UINT32_MAX || most > UINT32_MAX)
		return -E2BIG;
	plain = malloc(most ? most : 1);
	if (!plain || inflateInit2(&z, GZIP_ONLY) != Z_OK) {
		free(plain);
		return -ENOMEM;
	}
	z.next_out = (Bytef *)plain;
	z.avail_out = (uInt)most;
	got = inflate(&z, Z_FINISH);
	*ret_len = most - z.avail_out;
	inflateEnd(&z);
	if (got == Z_STREAM_END && !z.avail_in) {
		*ret = plain;
		return 0;
	}
	free(plain);
	if (got == Z_MEM_ERROR)
		return -ENOMEM;
	return (got == Z_BUF_ERROR || got == Z_OK) && !z.avail_out && z.avail_in ? -E2BIG
										 : -EBADMSG;
}
