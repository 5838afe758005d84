// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/journals.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"
#include "units.h"

#define SUFFIX     ".journal"
#define LINES_MAX  5000 /* read of one at a time, so that requests are answered meanwhile */
#define SILENT_NS  (60 * NS_PER_S)
#define INTERVALS  10 /* without a sample are silence too */
#define FAULTS_MAX 20 /* told of one journal */

static int add(struct journals *j, const char *name, bool of_folder)
{
	struct served *more;

	if (j->n == JOURNALS_MAX) {
		if (!j->told_too_many)
			log_line("more than %d journals: the rest is not served", JOURNALS_MAX);
		j->told_too_many = true;
		return 0;
	}
	more = reallocarray(j->all, j->n + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	j->all = more;
	more[j->n] = (struct served){ .follow = follow_new(name), .of_folder = of_folder };
	if (!more[j->n].follow)
		return -ENOMEM;
	j->n++;
	return 0;
}

static int add_name(struct journals *j, const char *name)
{
	struct stat st;

	if (stat(name, &st)) {
		if (errno != ENOENT)
			return -errno;
		return add(j, name, false);
	}
	if (S_ISDIR(st.st_mode)) {
		j->folders[j->n_folders++] = name;
		return access(name, R_OK | X_OK) ? -errno : 0;
	}
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	return access(name, R_OK) ? -errno : add(j, name, false);
}

int journals_open(char *const *names, int n, struct journals *ret)
{
	int err;

	*ret = (struct journals){ .folders = calloc((size_t)n + 1, sizeof(char *)) };
	if (!ret->folders)
		return -ENOMEM;
	for (int i = 0; i < n; i++) {
		err = add_name(ret, names[i]);
		if (err) {
			log_line("cannot serve '%s': %s", names[i],
				 err == -EINVAL ? "neither a file nor a folder" : strerror(-err));
			return err;
		}
	}
	return 0;
}

void journals_close(struct journals *j)
{
	for (size_t i = 0; i < j->n; i++)
		follow_free(j->all[i].follow);
	free(j->all);
	free(j->folders);
	*j = (struct journals){ 0 };
}

/* --- folders ------------------------------------------------------------------------------- */

static bool is_served(const struct journals *j, const char *name)
{
	for (size_t i = 0; i < j->n; i++)
		if (!strcmp(j->all[i].follow->name, name))
			return true;
	return false;
}

static int look_into(struct journals *j, const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	char path[PATH_MAX];
	int err = 0;

	if (!dir)
		return 0;
	while (!err && (entry = readdir(dir))) {
		size_t len = strlen(entry->d_name), suffix = strlen(SUFFIX);

		if (len <= suffix || strcmp(entry->d_name + len - suffix, SUFFIX) != 0 ||
		    (entry->d_type != DT_REG && entry->d_type != DT_UNKNOWN &&
		     entry->d_type != DT_LNK))
			continue;
		if (snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) <
			    (int)sizeof(path) &&
		    !is_served(j, path))
			err = add(j, path, true);
	}
	closedir(dir);
	return err;
}

/* --- reading ------------------------------------------------------------------------------- */

static void tell(struct served *s, int err)
{
	const struct follow *f = s->follow;

	if (err && err != -ENOENT && err != s->told_err)
		log_line("cannot read '%s': %s", f->name,
			 err == -EINVAL ? "no file" : strerror(-err));
	s->told_err = err;
	if (f->n_faults < s->told_faults) /* begun anew */
		s->told_faults = 0;
	if (f->n_faults > s->told_faults && s->told_faults < FAULTS_MAX)
		log_line("%s:%llu: %s", f->name, f->fault.line, f->fault.why.text);
	if (f->n_faults > s->told_faults + 1 && s->told_faults < FAULTS_MAX)
		log_line("%s: and %llu more malformed lines before it", f->name,
			 f->n_faults - s->told_faults - 1);
	s->told_faults = f->n_faults;
}

static void drop(struct journals *j, size_t i)
{
	follow_free(j->all[i].follow);
	j->all[i] = j->all[--j->n];
}

int journals_read(struct journals *j)
{
	int err = 0;

	for (size_t i = 0; !err && i < j->n_folders; i++)
		err = look_into(j, j->folders[i]);
	j->behind = false;
	for (size_t i = 0; !err && i < j->n; i++) {
		struct served *s = &j->all[i];
		int one = follow_read(s->follow, LINES_MAX);

		if (one == -ENOMEM)
			return one;
		tell(s, one);
		j->behind |= s->follow->behind;
		if (one == -ENOENT && s->of_folder)
			drop(j, i--);
	}
	return err;
}

enum journal_state journal_state_of(const struct follow *f, int64_t now_ns)
{
	int64_t silence_ns = now_ns - f->place.mtime_ns, most = SILENT_NS;

	if (f->behind)
		return JOURNAL_BEHIND;
	if (!f->run)
		return JOURNAL_WAITING;
	if (f->ended)
		return JOURNAL_ENDED;
	if (f->run->source.interval_ns > most / INTERVALS &&
	    __builtin_mul_overflow(f->run->source.interval_ns, INTERVALS, &most))
		most = INT64_MAX;
	return silence_ns > most ? JOURNAL_SILENT : JOURNAL_LIVE;
}

const char *journal_state_name(enum journal_state state)
{
	static const char *const names[] = {
		[JOURNAL_WAITING] = "waiting", [JOURNAL_BEHIND] = "reading",
		[JOURNAL_LIVE] = "live",       [JOURNAL_SILENT] = "silent",
		[JOURNAL_ENDED] = "ended",
	};

	return names[state];
}
