// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/page.h"

#include <errno.h>
#include <string.h>

/* Where the page has its data; format/web/page.html. */
static const char mark[] = "@exitmeter-data@";

#ifdef PAGE_FILE
__asm__(".pushsection .rodata\n"
	".global exitmeter_page, exitmeter_page_end\n"
	".hidden exitmeter_page, exitmeter_page_end\n"
	"exitmeter_page:\n"
	".incbin \"" PAGE_FILE "\"\n"
	"exitmeter_page_end:\n"
	".byte 0\n"
	".popsection\n");

extern const char exitmeter_page[], exitmeter_page_end[];
#else
static const char exitmeter_page[1];
static const char *const exitmeter_page_end = exitmeter_page;
#endif

bool page_get(struct page *ret)
{
	size_t len = (size_t)(exitmeter_page_end - exitmeter_page);
	const char *at = memmem(exitmeter_page, len, mark, sizeof(mark) - 1);

	if (!at)
		return false;
	ret->before = exitmeter_page;
	ret->before_len = (size_t)(at - exitmeter_page);
	ret->after = at + sizeof(mark) - 1;
	ret->after_len = len - ret->before_len - (sizeof(mark) - 1);
	return true;
}

/* In JSON a '<' can only stand in a string; there the page must not see one (</script>, <!--). */
static int put_escaped(const struct json *j, const struct document_sink *to)
{
	static const char less[] = "\\u003c";
	size_t from = 0;
	int err = 0;

	for (size_t i = 0; !err && i < j->len; i++) {
		if (j->buf[i] != '<')
			continue;
		err = to->put(to->ctx, j->buf + from, i - from);
		if (!err)
			err = to->put(to->ctx, less, sizeof(less) - 1);
		from = i + 1;
	}
	return err ? err : to->put(to->ctx, j->buf + from, j->len - from);
}

int page_write(const struct json *data, const struct document_sink *to)
{
	struct page page;
	int err;

	if (!page_get(&page))
		return -ENOSYS;
	err = to->put(to->ctx, page.before, page.before_len);
	if (!err)
		err = put_escaped(data, to);
	return err ? err : to->put(to->ctx, page.after, page.after_len);
}
