// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * source_bpf_compat - 32-bit programs on a machine of 64 bits: their system calls, which the
 * kernel's classic tracepoints leave out
 *
 * A hook at every system call of the machine tells of them.  So it is attached only once it is
 * needed; loaded it is from the start, for then it is there before the program's first page.
 */
#include "capture/source_bpf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "log.h"

#define SCRIPTS_MAX 4   /* one run by another (KERNEL: fs/exec.c) */
#define HEAD_BYTES  256 /* of a file that the kernel looks at (KERNEL: BINPRM_BUF_SIZE) */

/* What this machine's are built for, and the numbers that the calls have there; all 0: not known.
 */
static const struct {
	uint16_t machine;
	__u32 exit, exit_group, execve, execveat;
} compat =
#if defined(__x86_64__)
	{ EM_386, 1, 252, 11, 358 };
#else
	{ 0 };
#endif

bool source_bpf_compat_is(void)
{
	return compat.machine;
}

void source_bpf_compat_configure(struct exitmeter_bpf *skel)
{
	skel->rodata->compat_exit = compat.exit;
	skel->rodata->compat_exit_group = compat.exit_group;
	skel->rodata->compat_execve = compat.execve;
	skel->rodata->compat_execveat = compat.execveat;
}

/* The program that runs a script, into @path; false: the file is none. */
static bool interpreter_of(char *head, char *path, size_t cap)
{
	char *save, *name;

	if (strncmp(head, "#!", 2) != 0)
		return false;
	name = strtok_r(head + 2, " \t\n", &save);
	if (!name || strlen(name) >= cap)
		return false;
	memcpy(path, name, strlen(name) + 1);
	return true;
}

/* Whether the file, or what runs it where it is a script, is a 32-bit program. */
static bool is_compat_program(const char *program)
{
	char path[HEAD_BYTES], head[HEAD_BYTES];
	Elf32_Ehdr elf;
	ssize_t n;
	int fd;

	for (int i = 0; i <= SCRIPTS_MAX; i++) {
		memset(head, 0, sizeof(head));
		fd = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0)
			return false;
		n = read(fd, head, sizeof(head) - 1);
		close(fd);
		if (n <= 0)
			return false;
		memcpy(&elf, head, sizeof(elf));
		if (!memcmp(elf.e_ident, ELFMAG, SELFMAG))
			return elf.e_ident[EI_CLASS] == ELFCLASS32 &&
			       elf.e_machine == compat.machine;
		if (!interpreter_of(head, path, sizeof(path)))
			return false;
		program = path;
	}
	return false;
}

static void hook(struct source_bpf *s, bool late)
{
	int err = compat.machine
			  ? source_bpf_attach(s, s->probes->progs.on_compat_call, "sys_enter")
			  : -ENOTSUP;

	log_debug("a 32-bit program: %s", err ? strerror(-err) : "hooked");
	s->skel->bss->compat_programs = EVENT_COMPAT_HOOKED;
	if (err)
		texts_add(&s->base.notes, "32-bit-programs-not-hooked");
	else if (late)
		texts_add(&s->base.notes, "32-bit-programs-hooked-late");
}

void source_bpf_compat_begin(struct source_bpf *s)
{
	if (getenv("EXITMETER_TEST_COMPAT") || (s->program && is_compat_program(s->program)))
		hook(s, false);
}

void source_bpf_compat_follow(struct source_bpf *s, bool late)
{
	if (s->skel->bss->compat_programs != EVENT_COMPAT_SEEN)
		return;
	if (s->probes)
		hook(s, late);
	else /* a plan of bounds */
		s->skel->bss->compat_programs = EVENT_COMPAT_HOOKED;
}
