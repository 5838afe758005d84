// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/source_ptrace_program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <gelf.h>

#include "hash.h"
#define FILES_MAX   4096 /* then it begins anew */
#define SYMBOLS_MAX 300000

struct file_key {
	dev_t dev;
	ino_t ino;
	struct timespec mtime;
};

struct known_file {
	struct file_key key;
	UT_hash_handle hh;
	bool leak_sanitizer, tracer;
};

struct program_cache {
	struct known_file *files;
};

struct program_cache *program_cache_new(void)
{
	elf_version(EV_CURRENT);
	return calloc(1, sizeof(struct program_cache));
}

static void forget_all(struct program_cache *c)
{
	struct known_file *f = c->files, *next;

	HASH_CLEAR(hh, c->files);
	for (; f; f = next) {
		next = f->hh.next;
		free(f);
	}
}

void program_cache_free(struct program_cache *c)
{
	if (c)
		forget_all(c);
	free(c);
}

static void see_name(struct known_file *f, const char *name)
{
	static const char *const leaks[] = { "__lsan_init", "__lsan_do_leak_check", "__asan_init" };

	if (!name)
		return;
	for (size_t i = 0; i < sizeof(leaks) / sizeof(leaks[0]); i++)
		f->leak_sanitizer |= !strcmp(name, leaks[i]);
	f->tracer |= !strcmp(name, "ptrace");
}

static void see_symbols(struct known_file *f, Elf *elf, Elf_Scn *scn, const GElf_Shdr *head)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t n = data && head->sh_entsize ? head->sh_size / head->sh_entsize : 0;
	GElf_Sym sym;

	for (size_t i = 0; i < n && i < SYMBOLS_MAX; i++)
		if (gelf_getsym(data, (int)i, &sym))
			see_name(f, elf_strptr(elf, head->sh_link, sym.st_name));
}

static void see_libraries(struct known_file *f, Elf *elf, Elf_Scn *scn, const GElf_Shdr *head)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t n = data && head->sh_entsize ? head->sh_size / head->sh_entsize : 0;
	const char *name;
	GElf_Dyn dyn;

	for (size_t i = 0; i < n; i++) {
		if (!gelf_getdyn(data, (int)i, &dyn) || dyn.d_tag != DT_NEEDED)
			continue;
		name = elf_strptr(elf, head->sh_link, dyn.d_un.d_val);
		f->leak_sanitizer |= name && (!strncmp(name, "libasan.so", 10) ||
					      !strncmp(name, "liblsan.so", 10));
	}
}

static void see_file(struct known_file *f, int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	Elf_Scn *scn = NULL;
	GElf_Shdr head;

	while (elf && (scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &head))
			continue;
		/* Also of a static program, whose only names are these. */
		if (head.sh_type == SHT_DYNSYM || head.sh_type == SHT_SYMTAB)
			see_symbols(f, elf, scn, &head);
		else if (head.sh_type == SHT_DYNAMIC)
			see_libraries(f, elf, scn, &head);
	}
	elf_end(elf);
}

/*
 * Whether it lies where a process serves the files (FUSE): that one may be ours, and stopped for
 * us. Only file systems without a device of their own are looked up.
 */
static bool is_served(pid_t pid, const struct statx *st)
{
	char path[32], line[4096], type[32];
	unsigned int major, minor;
	const char *rest;
	bool served = false;
	FILE *f;

	if (st->stx_dev_major)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%*d %*d %u:%u", &major, &minor) == 2 && !major &&
		    minor == st->stx_dev_minor && (rest = strstr(line, " - ")) &&
		    sscanf(rest, " - %31s", type) == 1)
			served |= !strncmp(type, "fuse", 4);
	if (!f)
		return true;
	fclose(f);
	return served;
}

static struct known_file *file_find(struct program_cache *c, pid_t pid, const char *path,
				    const struct statx *st)
{
	struct file_key key;
	struct known_file *f;
	int fd;

	memset(&key, 0, sizeof(key)); /* padding is hashed */
	key.dev = makedev(st->stx_dev_major, st->stx_dev_minor);
	key.ino = st->stx_ino;
	key.mtime.tv_sec = st->stx_mtime.tv_sec;
	key.mtime.tv_nsec = st->stx_mtime.tv_nsec;
	HASH_FIND(hh, c->files, &key, sizeof(key), f);
	if (f)
		return f;
	if (HASH_COUNT(c->files) >= FILES_MAX)
		forget_all(c);
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	memcpy(&f->key, &key, sizeof(key));
	HASH_ADD(hh, c->files, key, sizeof(f->key), f);
	if (!hash_is_in(f)) {
		free(f);
		return NULL;
	}
	fd = is_served(pid, st) ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		see_file(f, fd);
		close(fd);
	}
	return f;
}

/* Whose ids it runs with, after its exec. */
static bool others_file(const char *proc, const struct statx *file)
{
	struct stat own;

	if (stat(proc, &own))
		return false;
	return (file->stx_mode & S_ISUID && own.st_uid != file->stx_uid) ||
	       ((file->stx_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
		own.st_gid != file->stx_gid);
}

struct program_facts program_look(struct program_cache *c, pid_t pid)
{
	struct program_facts facts = { 0 };
	const struct known_file *f;
	char path[32], proc[32];
	struct statx st;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	snprintf(proc, sizeof(proc), "/proc/%d", (int)pid);
	/* What is known here: no server is asked. */
	if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &st)) {
		facts.unreadable = errno == EACCES;
		return facts;
	}
	f = file_find(c, pid, path, &st);
	if (f) {
		facts.leak_sanitizer = f->leak_sanitizer;
		facts.tracer = f->tracer;
	}
	facts.setuid = st.stx_mode & (S_ISUID | S_ISGID) && others_file(proc, &st);
	return facts;
}
