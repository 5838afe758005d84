// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/request.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/number.h"

struct text {
	const char *at;
	size_t len;
};

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct text trimmed(struct text t)
{
	while (t.len && blank(*t.at)) {
		t.at++;
		t.len--;
	}
	while (t.len && blank(t.at[t.len - 1]))
		t.len--;
	return t;
}

static bool is(struct text t, const char *word)
{
	return t.len == strlen(word) && !memcmp(t.at, word, t.len);
}

/* The first word of *@t, which is then what follows it. */
static struct text take_word(struct text *t)
{
	struct text word = *t;

	word.len = 0;
	while (word.len < t->len && !blank(t->at[word.len]))
		word.len++;
	*t = trimmed((struct text){ t->at + word.len, t->len - word.len });
	return word;
}

static bool take_count(struct text t, uint64_t *ret)
{
	bool integer;
	int64_t v;

	if (em_number_len(t.at, t.len, &integer) != t.len || !t.len || !integer ||
	    !em_number_int(t.at, t.len, &v) || v < 1)
		return false;
	*ret = (uint64_t)v;
	return true;
}

/* "K/N" */
static bool take_run(struct text t, struct request *r)
{
	const char *slash = t.len ? memchr(t.at, '/', t.len) : NULL;
	size_t k;

	if (!slash)
		return false;
	k = (size_t)(slash - t.at);
	return take_count((struct text){ t.at, k }, &r->run) &&
	       take_count((struct text){ slash + 1, t.len - k - 1 }, &r->runs);
}

static const char *parse_phase(struct text rest, struct request *r)
{
	struct text after = rest, word = take_word(&after);

	if (!rest.len)
		return "a phase needs a name";
	r->kind = REQUEST_PHASE;
	r->name = rest.at;
	r->name_len = rest.len;
	if (!is(word, "run") || !take_run(after, r)) {
		r->run = r->runs = 0;
		return NULL;
	}
	r->kind = REQUEST_RUN;
	return r->run > r->runs ? "a run after the last" : NULL;
}

static const char *parse_attempt(struct text rest, struct request *r)
{
	struct text word = take_word(&rest);

	if (is(word, "start"))
		r->kind = REQUEST_ATTEMPT_START;
	else if (is(word, "end"))
		r->kind = REQUEST_ATTEMPT_END;
	else
		return "an attempt starts or ends";
	if (!rest.len)
		return "an attempt needs an id";
	r->name = rest.at;
	r->name_len = rest.len;
	return NULL;
}

const char *request_parse(const char *line, size_t len, struct request *ret)
{
	static const struct {
		const char *word;
		enum request_kind kind;
	} plain[] = { { "reset-peak", REQUEST_RESET_PEAK },
		      { "usage", REQUEST_USAGE },
		      { "ping", REQUEST_PING } };
	struct text rest = trimmed((struct text){ line, len }), word;

	*ret = (struct request){ 0 };
	if (len && memchr(line, '\0', len))
		return "a NUL in the line";
	word = take_word(&rest);
	if (is(word, "run")) {
		word = take_word(&rest);
		if (!rest.len)
			return "a run needs its id and what to do";
		ret->of = word.at;
		ret->of_len = word.len;
		word = take_word(&rest);
	}
	if (is(word, "phase"))
		return parse_phase(rest, ret);
	if (is(word, "attempt"))
		return parse_attempt(rest, ret);
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		if (!is(word, plain[i].word))
			continue;
		ret->kind = plain[i].kind;
		return rest.len ? "something behind it" : NULL;
	}
	return word.len ? "not known" : "an empty line";
}

bool request_run_counts(const struct request *r)
{
	return r->run == 1 || r->run == r->runs;
}

bool name_is_run(const char *name, size_t len, uint64_t *ret_run, uint64_t *ret_runs)
{
	struct text rest = trimmed((struct text){ name, len });
	struct request r;

	if (parse_phase(rest, &r) || r.kind != REQUEST_RUN)
		return false;
	*ret_run = r.run;
	*ret_runs = r.runs;
	return true;
}

bool name_is_middle_run(const char *name, size_t len)
{
	struct request r = { 0 };

	return name_is_run(name, len, &r.run, &r.runs) && !request_run_counts(&r);
}

bool name_is_integer(const char *name, size_t len, int64_t *ret)
{
	char again[32];
	bool integer;
	int n;

	if (!len || em_number_len(name, len, &integer) != len || !integer ||
	    !em_number_int(name, len, ret))
		return false;
	n = snprintf(again, sizeof(again), "%" PRId64, *ret); /* not -0 */
	return n >= 0 && (size_t)n == len && !memcmp(again, name, len);
}
