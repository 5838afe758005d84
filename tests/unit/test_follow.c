// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_follow - a journal read on while it is written, written anew and removed
 */
#include "journal/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

static char folder[] = "/tmp/exitmeter-follow-XXXXXX", path[sizeof(folder) + 16];

#define START                                                                              \
	"{\"event\":\"run_start\",\"t\":0,\"run\":{\"id\":\"one\",\"labels\":{},\"mode\":" \
	"\"command\",\"command\":[\"make\"],\"pid\":7},\"source\":{\"exits\":\"bpf\","     \
	"\"interval_seconds\":0.25,\"notes\":[]}}\n"
#define SAMPLE(t, rss, cpu)                                                            \
	"{\"event\":\"sample\",\"t\":" t ",\"rss_bytes\":" rss ",\"cpu_seconds\":" cpu \
	",\"cpus\":1,\"processes\":3,\"threads\":4,\"lower_bytes\":" rss               \
	",\"upper_bytes\":null}\n"
#define ROW(pid, code)                                                                        \
	"{\"event\":\"process\",\"t\":1,\"pid\":" pid ",\"ppid\":1,\"comm\":\"cc\",\"argv\":" \
	"null,\"exit_code\":" code ",\"running\":false,\"peak_rss_bytes\":" pid "}\n"
#define END                                                                                  \
	"{\"event\":\"summary\",\"t\":2,\"schema\":\"exitmeter.summary/1\",\"run\":{\"id\":" \
	"\"one\",\"wall_seconds\":2.5,\"exit_code\":3},\"source\":{\"notes\":[]},"           \
	"\"completeness\":{\"exact\":true},\"usage\":{\"cpu_seconds\":1.5}}\n"

static void put(const char *text, int flags)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);
	size_t len = strlen(text);

	if (fd < 0 || write(fd, text, len) != (ssize_t)len || close(fd))
		exit(99);
}

static void append(const char *text)
{
	put(text, O_APPEND);
}

static void test_grows(struct follow *f)
{
	EQ_I(follow_read(f, 100), -ENOENT, "not there yet");
	OK(!f->run && !f->behind, "nothing is known");
	append("");
	EQ_I(follow_read(f, 100), 0, "an empty file");
	OK(!f->run, "nothing is known still");
	append("{\"event\":\"run_start\",\"t\":0,\"run\"");
	EQ_I(follow_read(f, 100), 0, "half a line");
	EQ_I(f->n_faults, 0, "which is no fault");
	append(START + strlen("{\"event\":\"run_start\",\"t\":0,\"run\""));
	EQ_I(follow_read(f, 100), 0, "and its rest");
	EQ_S(f->run ? f->run->run.id : "", "one", "the run");
	EQ_I(f->sampled_ns, UNKNOWN, "no sample yet");
	append(SAMPLE("0.25", "4096", "0.125") SAMPLE("0.5", "2048", "0.375"));
	EQ_I(follow_read(f, 100), 0, "samples");
	EQ_I(f->now.rss_bytes, 2048, "the newest");
	EQ_I(f->sampled_ns, 500000000, "its time");
	EQ_D(f->series.last_cpus, 1, 1e-9, "its cores");
	EQ_I(f->series.n, 3, "marks, the start's too");
	append(ROW("5", "0") ROW("6", "1") ROW("4", "0"));
	append("{\"event\":\"phase\",\"t\":1,\"name\":\"setup\",\"rss_bytes\":1}\n"
	       "{\"event\":\"lost\",\"t\":1,\"what\":\"exits\",\"count\":2}\n");
	EQ_I(follow_read(f, 100), 0, "rows");
	EQ_I(f->rows, 3, "all of them");
	EQ_I(f->failed, 1, "one failed");
	EQ_I(f->by_peak.n, 3, "are kept");
	EQ_I(f->lost, 2, "what was lost");
	EQ_S(f->phase, "setup", "the phase");
}

#define RUN_END(name, pid, peak)                                                           \
	"{\"event\":\"run_end\",\"t\":1,\"run\":1,\"name\":" name ",\"pid\":" pid          \
	",\"started\":0.5,\"ended\":null,\"exit_code\":3,\"exit_signal\":null,\"usage\":{" \
	"\"peak_rss_bytes\":" peak ",\"cpu_seconds\":0.5}}\n"

static void test_split(struct follow *f)
{
	append(RUN_END("\"seven\"", "7", "70") RUN_END("null", "8", "null"));
	EQ_I(follow_read(f, 100), 0, "runs of a split tree");
	EQ_I(f->n_runs, 2, "both");
	EQ_S(f->runs[0].name, "seven", "a name");
	EQ_I(f->runs[0].usage.peak_lower_bytes, 70, "a peak");
	EQ_I(f->runs[0].usage.cpu_ns, 500000000, "CPU");
	EQ_I(f->runs[0].ended_ns, TIME_NONE, "no end");
	EQ_S(f->runs[1].name, NULL, "no name");
	EQ_I(f->runs[1].usage.peak_lower_bytes, UNKNOWN, "no peak");
	for (int i = 0; i < FOLLOW_RUNS; i++)
		append(RUN_END("\"again\"", "9", "1"));
	append(RUN_END("7", "9", "1"));
	EQ_I(follow_read(f, 100), 0, "more than are kept, and one that is malformed");
	EQ_I(f->n_runs, FOLLOW_RUNS + 2, "are counted");
	EQ_S(f->runs[1].name, "again", "the latest are kept");
}

static void test_faults(struct follow *f)
{
	append("garbage\n{\"event\":\"sample\",\"t\":1,\"rss_bytes\":\"x\"}\n"
	       "{\"event\":\"sample\",\"run\":3,\"t\":1,\"rss_bytes\":1}\n{\"event\":\"new\",\"t\":"
	       "1}\n");
	EQ_I(follow_read(f, 100), 0, "read on over what is malformed");
	EQ_I(f->n_faults, 3, "and count it");
	EQ_I(f->fault.line, 33, "the line of the last");
	EQ_S(f->fault.why.text, "rss_bytes is not a count or null", "in words");
	EQ_I(f->now.rss_bytes, 2048, "a sample of one run of a split tree is not the tree's");
}

static void test_ends(struct follow *f)
{
	append(END);
	EQ_I(follow_read(f, 100), 0, "the end");
	OK(f->ended, "has come");
	EQ_I(f->run->run.exit_code, 3, "the code");
	EQ_I(f->run->usage.cpu_ns, 1500000000, "the CPU");
	EQ_I(f->rows, 3, "the rows stay");
	append("{\"event\":\"phase\",\"t\":1,\"name\":\"x\"}\n");
	EQ_I(follow_read(f, 100), 0, "a line behind it");
	EQ_I(f->n_faults, 4, "is malformed");
}

static void test_again(struct follow *f)
{
	append(START SAMPLE("0.5", "512", "0.1") ROW("5", "0"));
	EQ_I(follow_read(f, 100), 0, "another run");
	OK(f->run && !f->ended, "is there, and has not ended");
	EQ_I(f->rows, 1, "its rows alone");
	EQ_I(f->by_peak.n, 1, "the largest of these");
	EQ_I(f->now.rss_bytes, 512, "its newest sample");
	EQ_I(f->last_ns, 1000000000, "its own time");
	EQ_I(f->n_runs, 0, "no runs of a split tree");
	append("{\"event\":\"sample\",\"t\":1,\"rs" START);
	EQ_I(follow_read(f, 100), 0, "cut off, and another behind it");
	EQ_I(f->n_faults, 4, "which is no fault");
	EQ_I(f->rows, 0, "there is nothing of it yet");
	append(END);
	EQ_I(follow_read(f, 100), 0, "its end");
	OK(f->ended, "has come");
}

static void test_anew(struct follow *f)
{
	put("", O_TRUNC);
	EQ_I(follow_read(f, 100), 0, "emptied");
	OK(!f->run && !f->ended && !f->n_faults, "begun anew");
	append(START SAMPLE("1", "1", "1"));
	EQ_I(follow_read(f, 100), 0, "written");
	EQ_I(f->now.rss_bytes, 1, "and followed");
	/* Longer than before, so that its size tells nothing. */
	put("{\"event\":\"run_start\",\"t\":0,\"run\":{\"id\":\"two\",\"pid\":8},\"source\":{"
	    "\"notes\":[]}}\n" SAMPLE("1", "77", "1") SAMPLE("2", "78", "1") SAMPLE("3", "79", "1"),
	    O_TRUNC);
	EQ_I(follow_read(f, 100), 0, "written over");
	EQ_S(f->run ? f->run->run.id : "", "two", "another run");
	EQ_I(f->series.n, 4, "with its own marks");
	EQ_I(f->n_faults, 0, "from its first line on");
	unlink(path);
	EQ_I(follow_read(f, 100), -ENOENT, "removed");
	OK(!f->run, "forgotten");
}

static void test_slowly(struct follow *f)
{
	append(START SAMPLE("1", "1", "1") SAMPLE("2", "2", "2"));
	EQ_I(follow_read(f, 2), 0, "two lines of three");
	OK(f->behind, "there is more");
	EQ_I(f->now.rss_bytes, 1, "not read yet");
	EQ_I(follow_read(f, 2), 0, "the third");
	OK(!f->behind, "that was all");
	EQ_I(f->now.rss_bytes, 2, "read");
	unlink(path);
	if (mkfifo(path, 0600))
		exit(99);
	EQ_I(follow_read(f, 2), -EINVAL, "a pipe is not waited for");
	unlink(path);
	if (mkdir(path, 0700))
		exit(99);
	EQ_I(follow_read(f, 2), -EINVAL, "nor is a folder read");
	rmdir(path);
}

/* What was written at any bytes comes to the same. */
static void test_pieces(void)
{
	static const char text[] = START SAMPLE("1", "10", "0.5") ROW("5", "0") END;
	size_t wrong = 0;

	for (size_t at = 1; at < sizeof(text) - 1; at += 7) {
		struct follow *f = follow_new(path);
		char first[sizeof(text)];

		if (!f)
			exit(99);
		memcpy(first, text, at);
		first[at] = '\0';
		put(first, O_TRUNC);
		wrong += follow_read(f, 100) != 0;
		append(text + at);
		wrong += follow_read(f, 100) != 0 || !f->ended || f->rows != 1 || f->n_faults ||
			 f->now.rss_bytes != 10;
		follow_free(f);
	}
	EQ_I(wrong, 0, "cut anywhere and gone on with");
	unlink(path);
}

int main(void)
{
	struct follow *f;

	if (!mkdtemp(folder))
		exit(99);
	snprintf(path, sizeof(path), "%s/j", folder);
	f = follow_new(path);
	if (!f)
		exit(99);
	test_grows(f);
	test_split(f);
	test_faults(f);
	test_ends(f);
	test_again(f);
	test_anew(f);
	test_slowly(f);
	follow_free(f);
	test_pieces();
	rmdir(folder);
	return tap_done();
}
