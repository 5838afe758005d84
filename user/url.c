// SPDX-License-Identifier: GPL-2.0-or-later
#include "url.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "log.h"

static const struct {
	const char *scheme;
	enum url_kind kind;
	unsigned char skip; /* bytes of the text that are not of the rest */
} schemes[] = {
	{ "sqlite:", URL_SQLITE, sizeof("sqlite:") - 1 },
	{ "postgresql://", URL_POSTGRES, 0 },
	{ "postgres://", URL_POSTGRES, 0 },
	{ "http://", URL_HTTP, 0 },
	{ "https://", URL_HTTP, 0 },
	{ "clickhouse+http://", URL_CLICKHOUSE, sizeof("clickhouse+") - 1 },
	{ "clickhouse+https://", URL_CLICKHOUSE, sizeof("clickhouse+") - 1 },
};

/* "user:secret@host", or a parameter that is one. */
static bool says_password(const char *text)
{
	static const char *const names[] = { "password=", "sslpassword=", "passwd=" };
	const char *host = strstr(text, "://");
	const char *at, *colon;
	size_t authority;

	if (!host)
		return false;
	host += 3;
	authority = strcspn(host, "/?#");
	at = memrchr(host, '@', authority);
	colon = at ? memchr(host, ':', (size_t)(at - host)) : NULL;
	if (colon && colon + 1 < at)
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t len = strlen(names[i]);

		for (const char *p = strpbrk(host, "?&"); p; p = strpbrk(p + 1, "?&"))
			if (!strncasecmp(p + 1, names[i], len))
				return true;
	}
	return false;
}

/* As it stands, and as it is read. */
static bool holds_password(const char *text)
{
	char *plain = strdup(text), *to = plain;
	bool yes;

	for (const char *p = text; plain && *p; p++) {
		unsigned int byte;

		if (*p == '%' && isxdigit((unsigned char)p[1]) && isxdigit((unsigned char)p[2]) &&
		    sscanf(p + 1, "%2x", &byte) == 1) {
			*to++ = (char)byte;
			p += 2;
		} else {
			*to++ = *p;
		}
	}
	if (plain)
		*to = '\0';
	yes = !plain || says_password(text) || says_password(plain);
	free(plain);
	return yes;
}

/* http://HOST/DATABASE, one folder below the server's root. */
static bool names_database(const char *text)
{
	const char *path = strchr(strstr(text, "://") + 3, '/');
	size_t len = path ? strcspn(path + 1, "?#") : 0;

	return len && !memchr(path + 1, '/', len);
}

bool url_parse(const char *text, struct url *ret)
{
	for (const char *p = text; *p; p++) {
		if (iscntrl((unsigned char)*p)) {
			log_line("a control character in '%s'", text);
			return false;
		}
	}
	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		size_t len = strlen(schemes[i].scheme);

		if (strncmp(text, schemes[i].scheme, len) != 0)
			continue;
		if (!text[len]) {
			log_line("URL: nothing after '%s'", text);
			return false;
		}
		if (schemes[i].kind != URL_SQLITE && holds_password(text)) {
			log_line("a password in a URL can be seen by everyone: use "
				 "PGPASSFILE, "
				 "netrc or the environment");
			return false;
		}
		if (schemes[i].kind == URL_CLICKHOUSE && !names_database(text)) {
			log_line("URL: no database in '%s': clickhouse+http://HOST/DATABASE", text);
			return false;
		}
		*ret = (struct url){ schemes[i].kind, text, text + schemes[i].skip };
		return true;
	}
	log_line("URL: '%s' is no URL of sqlite:, postgresql://, clickhouse+http(s):// or "
		 "http(s)://",
		 text);
	return false;
}

char *url_absolute(const struct url *url)
{
	char *here, *text = NULL;

	if (url->kind != URL_SQLITE || *url->rest == '/')
		return strdup(url->text);
	here = get_current_dir_name();
	if (here && asprintf(&text, "sqlite:%s/%s", here, url->rest) < 0)
		text = NULL;
	free(here);
	return text;
}
