// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/token.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "log.h"

#define VARIABLE "EXITMETER_TOKEN"
#define SCHEME   "Bearer "

/* As RFC 6750 has it, and nothing that a header could not hold. */
static int set(struct token *t, const char *text, const char *from)
{
	size_t len = strlen(text);

	if (!len || len > TOKEN_MAX) {
		log_line("%s: a token has 1 to %d characters", from, TOKEN_MAX);
		return -EINVAL;
	}
	for (size_t i = 0; i < len; i++)
		if (text[i] <= ' ' || text[i] > '~') {
			log_line("%s: a token has no spaces and only ASCII characters", from);
			return -EINVAL;
		}
	memcpy(t->text, text, len + 1);
	return 0;
}

static int read_file(const char *path, struct token *ret)
{
	FILE *file = fopen(path, "re");
	char line[TOKEN_MAX + 3] = "";
	struct stat st;
	int err = 0;

	if (!file || (!fgets(line, sizeof(line), file) && ferror(file)))
		err = -errno;
	if (!err && !fstat(fileno(file), &st) && st.st_mode & S_IROTH)
		log_line("'%s' can be read by everyone", path);
	if (file)
		fclose(file);
	if (err) {
		log_line("cannot read '%s': %s", path, strerror(-err));
		return err;
	}
	line[strcspn(line, "\r\n")] = '\0';
	err = set(ret, line, path);
	explicit_bzero(line, sizeof(line));
	return err;
}

int token_read(const char *path, struct token *ret)
{
	const char *text = getenv(VARIABLE);
	int err = 0;

	*ret = (struct token){ "" };
	if (path)
		err = read_file(path, ret);
	else if (text && *text)
		err = set(ret, text, VARIABLE);
	unsetenv(VARIABLE);
	return err;
}

bool token_matches(const struct token *t, const char *header)
{
	size_t want = strlen(t->text), got;
	unsigned int differs;

	if (!want)
		return true;
	if (!header || strncasecmp(header, SCHEME, strlen(SCHEME)) != 0)
		return false;
	header += strlen(SCHEME);
	header += strspn(header, " ");
	got = strlen(header);
	differs = got != want;
	/* As many steps whatever was sent; its end comes again where it is shorter. */
	for (size_t i = 0; i < want; i++)
		differs |= (unsigned int)(t->text[i] ^ header[i < got ? i : got]);
	return !differs;
}
