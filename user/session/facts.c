// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/facts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "procfs/scan.h"
#include "session/build_id.h"
#include "units.h"

#define ARGS_MAX 4096

/* A random UUID (RFC 4122, version 4). */
static char *new_id(void)
{
	unsigned char b[16];
	char *text;

	if (getrandom(b, sizeof(b), 0) != (ssize_t)sizeof(b))
		return NULL;
	b[6] = (b[6] & 0x0f) | 0x40;
	b[8] = (b[8] & 0x3f) | 0x80;
	if (asprintf(&text, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
		     b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11],
		     b[12], b[13], b[14], b[15]) < 0)
		return NULL;
	return text;
}

/* The file that execvp would take; NULL for none. */
static char *find_program(const char *name)
{
	const char *path = getenv("PATH"), *end;
	char *full;

	if (strchr(name, '/'))
		return realpath(name, NULL);
	for (path = path ? path : "/bin:/usr/bin"; path; path = *end ? end + 1 : NULL) {
		struct stat st;
		char *real;

		end = strchrnul(path, ':');
		/* An empty element is the current folder. */
		if (asprintf(&full, "%.*s%s%s", (int)(end - path), path, end > path ? "/" : "",
			     name) < 0)
			return NULL;
		if (!access(full, X_OK) && !stat(full, &st) && S_ISREG(st.st_mode)) {
			real = realpath(full, NULL);
			free(full);
			return real;
		}
		free(full);
	}
	return NULL;
}

static void file_facts(struct run_facts *f, const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	unsigned char *file;
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		goto out;
	f->exe_size_bytes = st.st_size;
	f->exe_mtime_ns = (int64_t)st.st_mtim.tv_sec * NS_PER_S + st.st_mtim.tv_nsec;
	f->exe_inode = (int64_t)st.st_ino;
	if (!st.st_size)
		goto out;
	file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (file == MAP_FAILED)
		goto out;
	f->exe_build_id = build_id_of(file, (size_t)st.st_size);
	munmap(file, (size_t)st.st_size);
out:
	close(fd);
}

static int copy_labels(const struct config *c, struct run_facts *f)
{
	f->labels = calloc(c->n_labels ? c->n_labels : 1, sizeof(*f->labels));
	if (!f->labels)
		return -ENOMEM;
	for (size_t i = 0; i < c->n_labels; i++) {
		const char *eq = strchr(c->labels[i], '=');
		struct label l = { strndup(c->labels[i], (size_t)(eq - c->labels[i])),
				   strdup(eq + 1) };

		f->labels[f->n_labels++] = l;
		if (!l.key || !l.value)
			return -ENOMEM;
	}
	return 0;
}

static int copy_command(const struct config *c, struct run_facts *f)
{
	size_t n = 0;

	if (!c->argv)
		return 0;
	while (c->command[n])
		n++;
	f->command = calloc(n + 1, sizeof(char *));
	for (size_t i = 0; f->command && i < n; i++) {
		f->command[i] = strdup(c->command[i]);
		if (!f->command[i])
			return -ENOMEM;
	}
	return f->command ? 0 : -ENOMEM;
}

/* What both have. */
static int begin(const struct config *c, const char *mode, struct run_facts *ret)
{
	*ret = facts_blank();
	ret->id = c->run_id ? strdup(c->run_id) : new_id();
	ret->mode = strdup(mode);
	return ret->id && ret->mode ? copy_labels(c, ret) : -ENOMEM;
}

int facts_of_command(const struct config *c, struct run_facts *ret)
{
	int err = begin(c, "command", ret);

	if (!err)
		err = copy_command(c, ret);
	if (err) {
		facts_free(ret);
		return err;
	}
	ret->cwd = getcwd(NULL, 0); /* NULL: it was removed */
	ret->exe_path = find_program(c->command[0]);
	if (ret->exe_path)
		file_facts(ret, ret->exe_path);
	return 0;
}

/* Where the link of that name in /proc/PID leads; NULL where that is not to be had. */
static char *link_of(int pid, const char *name)
{
	char path[64], target[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	n = readlink(path, target, sizeof(target) - 1);
	return n > 0 ? strndup(target, (size_t)n) : NULL;
}

static int copy_arguments(int pid, struct run_facts *f)
{
	char args[ARGS_MAX];
	ssize_t len = scan_cmdline(pid, args, sizeof(args));
	size_t n = 0;

	if (len <= 0)
		return 0;
	f->command = calloc((size_t)len + 1, sizeof(char *));
	for (ssize_t at = 0; f->command && at < len; n++) {
		f->command[n] = strndup(args + at, (size_t)(len - at));
		if (!f->command[n])
			return -ENOMEM;
		at += (ssize_t)strlen(f->command[n]) + 1;
	}
	return f->command ? 0 : -ENOMEM;
}

int facts_of_target(const struct config *c, struct run_facts *ret)
{
	int err = begin(c, "attach", ret), pid = c->pids[0];
	char exe[64];

	if (!err && c->argv)
		err = copy_arguments(pid, ret);
	if (err) {
		facts_free(ret);
		return err;
	}
	ret->cwd = link_of(pid, "cwd");
	ret->exe_path = link_of(pid, "exe");
	snprintf(exe, sizeof(exe), "/proc/%d/exe",
		 pid); /* the file itself, whatever its name is now */
	if (ret->exe_path)
		file_facts(ret, exe);
	return 0;
}
