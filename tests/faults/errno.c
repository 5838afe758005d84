// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * errno - a library to preload: the Nth call of one function fails, as it may in life
 *
 *   EXITMETER_FAULT=NAME:N[/K][:ERROR]   the Nth call, with /K each Kth from there on too; ERROR is
 * a number for errno, or "short" for half of a read or write N is 0: none fails, all are told of
 *   EXITMETER_FAULT_TOLD=FILE            who called is written there each time, a line a call
 *   EXITMETER_FAULT_CLOCK=SECONDS        each look at the wall clock is that much after the one
 * before
 *
 * Calls are counted over the process and those it forks, not in what these execute: the variables
 * and LD_PRELOAD are gone from the environment before main().  System calls without a function of
 * their own are syscall(2)'s: bpf, pidfd_open, perf_event_open, other.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SHORT (-1)
#define DEPTH 9 /* frames, two of them ours */

static struct {
	char name[32];
	long first, each;
	int error; /* 0: what is usual for that function */
	char told[256];
	long *calls; /* shared with forked processes */
	long step_s;
} fault;

/* --- which call ---------------------------------------------------------------------------- */

static void take_variables(void)
{
	const char *text = getenv("EXITMETER_FAULT"), *told = getenv("EXITMETER_FAULT_TOLD");
	const char *clock = getenv("EXITMETER_FAULT_CLOCK");
	char *at;
	size_t len;

	fault.step_s = clock ? atol(clock) : 0;
	if (told && strlen(told) < sizeof(fault.told))
		strcpy(fault.told, told);
	at = text ? strchr(text, ':') : NULL;
	len = at ? (size_t)(at - text) : 0;
	if (!len || len >= sizeof(fault.name))
		return;
	memcpy(fault.name, text, len);
	fault.first = strtol(at + 1, &at, 10);
	if (*at == '/')
		fault.each = strtol(at + 1, &at, 10);
	if (*at == ':')
		fault.error = !strcmp(at + 1, "short") ? SHORT : atoi(at + 1);
}

__attribute__((constructor)) static void begin(void)
{
	long *calls = (long *)syscall(SYS_mmap, NULL, sizeof(long), PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	void *frame;

	take_variables();
	backtrace(&frame, 1); /* loads what it needs */
	unsetenv("LD_PRELOAD");
	unsetenv("EXITMETER_FAULT");
	unsetenv("EXITMETER_FAULT_TOLD");
	unsetenv("EXITMETER_FAULT_CLOCK");
	if (calls != MAP_FAILED)
		fault.calls = calls; /* from now on */
}

/* As hex, behind what is there; no function that could be one of ours. */
static size_t put_hex(char *to, uintptr_t value)
{
	size_t n = 0;

	for (int shift = 60; shift >= 0; shift -= 4)
		if (n || value >> shift || !shift)
			to[n++] = "0123456789abcdef"[(value >> shift) & 15];
	return n;
}

/* "NAME STACK FRAME...": STACK is the same for calls that came the same way. */
static void tell(void)
{
	char line[1024];
	void *frames[DEPTH];
	uintptr_t stack = 0, at;
	size_t n = (size_t)(stpcpy(line, fault.name) - line), hash_at = n + 1;
	int depth = backtrace(frames, DEPTH);
	Dl_info of;
	long fd;

	n += 18;
	for (int i = 2; i < depth; i++) {
		of = (Dl_info){ 0 };
		if (!dladdr(frames[i], &of) || !of.dli_fname)
			continue;
		at = (uintptr_t)frames[i] - (uintptr_t)of.dli_fbase;
		stack = stack * 1000003 + at;
		if (n + strlen(of.dli_fname) + 24 > sizeof(line))
			continue;
		line[n++] = ' ';
		n = (size_t)(stpcpy(line + n, of.dli_fname) - line);
		line[n++] = '+';
		n += put_hex(line + n, at);
	}
	memset(line + hash_at - 1, ' ', 18);
	put_hex(line + hash_at, stack);
	line[n++] = '\n';
	fd = syscall(SYS_openat, AT_FDCWD, fault.told, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
		     0600);
	if (fd >= 0) {
		syscall(SYS_write, fd, line, n);
		syscall(SYS_close, fd);
	}
}

/* Does this call fail?  Then errno is set. */
static bool fails(const char *name, int usual)
{
	static _Thread_local bool inside; /* what telling calls itself */
	long n;

	if (!fault.calls || inside || strcmp(name, fault.name) != 0)
		return false;
	n = __atomic_add_fetch(fault.calls, 1, __ATOMIC_RELAXED);
	if (fault.first && n != fault.first &&
	    (!fault.each || n < fault.first || (n - fault.first) % fault.each != 0))
		return false;
	inside = true;
	if (*fault.told)
		tell();
	inside = false;
	if (!fault.first)
		return false;
	errno = fault.error ? fault.error : usual;
	return true;
}

#define REAL(name) real_##name
#define FIND(name)                                                                           \
	do {                                                                                 \
		if (!REAL(name))                                                             \
			REAL(name) = (typeof(REAL(name)))(uintptr_t)dlsym(RTLD_NEXT, #name); \
	} while (0)

/* FAIL(type, name, errno, what it returns then, (parameters), (arguments)) */
#define FAIL(type, name, usual, bad, parameters, arguments) \
	type name parameters                                \
	{                                                   \
		static type(*REAL(name)) parameters;        \
                                                            \
		FIND(name);                                 \
		if (fails(#name, usual))                    \
			return bad;                         \
		return REAL(name) arguments;                \
	}

/* One that may also do half of it. */
#define HALF(name, usual, parameters, arguments, halved) \
	ssize_t name parameters                          \
	{                                                \
		static ssize_t(*REAL(name)) parameters;  \
                                                         \
		FIND(name);                              \
		if (!fails(#name, usual))                \
			return REAL(name) arguments;     \
		if (errno != SHORT)                      \
			return -1;                       \
		return REAL(name) halved;                \
	}

/* --- memory -------------------------------------------------------------------------------- */

/* dlsym may want some before it has told where the real ones are. */
static char early[8192];
static size_t early_used;

static void *take_early(size_t size)
{
	void *at = early + early_used;

	early_used += (size + 15) & ~(size_t)15;
	return early_used <= sizeof(early) ? at : NULL;
}

static bool is_early(const void *at)
{
	return (const char *)at >= early && (const char *)at < early + sizeof(early);
}

static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static void (*real_free)(void *);
static bool finding;

static bool find_memory(void)
{
	if (real_free)
		return true;
	if (finding)
		return false;
	finding = true;
	FIND(malloc);
	FIND(calloc);
	FIND(realloc);
	FIND(free);
	finding = false;
	return true;
}

void *malloc(size_t size)
{
	if (!find_memory())
		return take_early(size);
	return fails("malloc", ENOMEM) ? NULL : real_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	if (!find_memory())
		return take_early(n * size);
	return fails("calloc", ENOMEM) ? NULL : real_calloc(n, size);
}

void *realloc(void *at, size_t size)
{
	find_memory();
	return fails("realloc", ENOMEM) ? NULL : real_realloc(at, size);
}

void free(void *at)
{
	if (!is_early(at) && find_memory())
		real_free(at);
}

#define MAPPING (void *at, size_t len, int prot, int flags, int fd, off_t from)
FAIL(void *, mmap, ENOMEM, MAP_FAILED, MAPPING, (at, len, prot, flags, fd, from))
FAIL(void *, mmap64, ENOMEM, MAP_FAILED, MAPPING, (at, len, prot, flags, fd, from))

/* --- files --------------------------------------------------------------------------------- */

/* NAMED(name, parameters before the flags, arguments): one that opens, its mode perhaps left out */
#define NAMED(name, parameters, arguments)                                       \
	int name parameters                                                      \
	{                                                                        \
		static int(*REAL(name)) parameters;                              \
		mode_t mode;                                                     \
		va_list args;                                                    \
                                                                                 \
		va_start(args, flags);                                           \
		mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0; \
		va_end(args);                                                    \
		FIND(name);                                                      \
		if (fails(#name, EMFILE))                                        \
			return -1;                                               \
		return REAL(name) arguments;                                     \
	}

NAMED(open, (const char *path, int flags, ...), (path, flags, mode))
NAMED(open64, (const char *path, int flags, ...), (path, flags, mode))
NAMED(openat, (int at, const char *path, int flags, ...), (at, path, flags, mode))
NAMED(openat64, (int at, const char *path, int flags, ...), (at, path, flags, mode))

HALF(read, EIO, (int fd, void *to, size_t n), (fd, to, n), (fd, to, n > 1 ? n / 2 : n))
HALF(write, ENOSPC, (int fd, const void *from, size_t n), (fd, from, n),
     (fd, from, n > 1 ? n / 2 : n))
HALF(pread, EIO, (int fd, void *to, size_t n, off_t at), (fd, to, n, at),
     (fd, to, n > 1 ? n / 2 : n, at))
HALF(pwrite, ENOSPC, (int fd, const void *from, size_t n, off_t at), (fd, from, n, at),
     (fd, from, n > 1 ? n / 2 : n, at))
FAIL(size_t, fread, EIO, 0, (void *to, size_t size, size_t n, FILE *f), (to, size, n, f))

size_t fwrite(const void *from, size_t size, size_t n, FILE *f)
{
	static size_t (*REAL(fwrite))(const void *, size_t, size_t, FILE *);

	FIND(fwrite);
	if (!fails("fwrite", ENOSPC))
		return REAL(fwrite)(from, size, n, f);
	f->_flags |= 0x20; /* glibc's: ferror() tells of it */
	return 0;
}

FAIL(FILE *, fopen, EMFILE, NULL, (const char *path, const char *mode), (path, mode))
FAIL(FILE *, fopen64, EMFILE, NULL, (const char *path, const char *mode), (path, mode))
FAIL(FILE *, fdopen, ENOMEM, NULL, (int fd, const char *mode), (fd, mode))
FAIL(FILE *, open_memstream, ENOMEM, NULL, (char **to, size_t *len), (to, len))
FAIL(int, fflush, ENOSPC, EOF, (FILE * f), (f))
FAIL(DIR *, opendir, EMFILE, NULL, (const char *path), (path))
FAIL(DIR *, fdopendir, ENOMEM, NULL, (int fd), (fd))
FAIL(struct dirent *, readdir, EIO, NULL, (DIR * d), (d))
FAIL(int, fstat, EIO, -1, (int fd, struct stat *to), (fd, to))
FAIL(int, stat, EIO, -1, (const char *path, struct stat *to), (path, to))
FAIL(int, lstat, EIO, -1, (const char *path, struct stat *to), (path, to))
FAIL(int, fstatat, EIO, -1, (int at, const char *path, struct stat *to, int flags),
     (at, path, to, flags))
FAIL(int, fstatfs, EIO, -1, (int fd, struct statfs *to), (fd, to))
FAIL(ssize_t, readlink, EIO, -1, (const char *path, char *to, size_t n), (path, to, n))
FAIL(char *, getcwd, ENOENT, NULL, (char *to, size_t n), (to, n))
FAIL(off_t, lseek, EIO, -1, (int fd, off_t at, int from), (fd, at, from))
FAIL(int, ftruncate, EIO, -1, (int fd, off_t len), (fd, len))
FAIL(int, fsync, EIO, -1, (int fd), (fd))
FAIL(int, rename, EIO, -1, (const char *from, const char *to), (from, to))
FAIL(int, renameat, EIO, -1, (int a, const char *from, int b, const char *to), (a, from, b, to))
FAIL(int, unlink, EIO, -1, (const char *path), (path))
FAIL(int, mkdir, ENOSPC, -1, (const char *path, mode_t mode), (path, mode))
FAIL(char *, mkdtemp, ENOSPC, NULL, (char *name), (name))
FAIL(int, mkostemp, ENOSPC, -1, (char *name, int flags), (name, flags))
FAIL(int, fchmod, EPERM, -1, (int fd, mode_t mode), (fd, mode))
FAIL(int, lchown, EPERM, -1, (const char *path, uid_t u, gid_t g), (path, u, g))
FAIL(int, memfd_create, EMFILE, -1, (const char *name, unsigned int flags), (name, flags))
FAIL(int, dup2, EMFILE, -1, (int from, int to), (from, to))
FAIL(int, dup3, EMFILE, -1, (int from, int to, int flags), (from, to, flags))
FAIL(int, flock, ENOLCK, -1, (int fd, int how), (fd, how))

int fcntl(int fd, int command, ...)
{
	static int (*REAL(fcntl))(int, int, ...);
	va_list args;
	void *value;

	va_start(args, command);
	value = va_arg(args, void *);
	va_end(args);
	FIND(fcntl);
	return fails("fcntl", EMFILE) ? -1 : REAL(fcntl)(fd, command, value);
}

int ioctl(int fd, unsigned long command, ...)
{
	static int (*REAL(ioctl))(int, unsigned long, ...);
	va_list args;
	void *value;

	va_start(args, command);
	value = va_arg(args, void *);
	va_end(args);
	FIND(ioctl);
	return fails("ioctl", ENOTTY) ? -1 : REAL(ioctl)(fd, command, value);
}

/* --- processes, signals, sockets ------------------------------------------------------------ */

FAIL(int, pipe, EMFILE, -1, (int fds[2]), (fds))
FAIL(int, pipe2, EMFILE, -1, (int fds[2], int flags), (fds, flags))
FAIL(pid_t, fork, EAGAIN, -1, (void), ())
FAIL(int, execv, EACCES, -1, (const char *path, char *const argv[]), (path, argv))
FAIL(int, execvp, EACCES, -1, (const char *path, char *const argv[]), (path, argv))
FAIL(int, waitid, EINTR, -1, (idtype_t type, id_t id, siginfo_t *to, int options),
     (type, id, to, options))
FAIL(pid_t, waitpid, EINTR, -1, (pid_t pid, int *status, int options), (pid, status, options))
FAIL(pid_t, wait4, EINTR, -1, (pid_t pid, int *status, int options, struct rusage *to),
     (pid, status, options, to))
FAIL(int, kill, EPERM, -1, (pid_t pid, int signo), (pid, signo))
FAIL(int, sigaction, EINVAL, -1, (int signo, const struct sigaction *act, struct sigaction *old),
     (signo, act, old))
FAIL(int, signalfd, EMFILE, -1, (int fd, const sigset_t *set, int flags), (fd, set, flags))
FAIL(int, eventfd, EMFILE, -1, (unsigned int from, int flags), (from, flags))
FAIL(int, epoll_create1, EMFILE, -1, (int flags), (flags))
FAIL(int, epoll_ctl, ENOSPC, -1, (int fd, int op, int on, struct epoll_event *ev), (fd, op, on, ev))
FAIL(int, epoll_wait, EINTR, -1, (int fd, struct epoll_event *ev, int n, int ms), (fd, ev, n, ms))
FAIL(int, poll, EINTR, -1, (struct pollfd * fds, nfds_t n, int ms), (fds, n, ms))
FAIL(int, nanosleep, EINTR, -1, (const struct timespec *t, struct timespec *left), (t, left))
FAIL(int, getrusage, EFAULT, -1, (__rusage_who_t who, struct rusage *to), (who, to))
FAIL(int, sched_getaffinity, EPERM, -1, (pid_t pid, size_t n, cpu_set_t *to), (pid, n, to))
FAIL(int, socket, EMFILE, -1, (int domain, int type, int protocol), (domain, type, protocol))
FAIL(int, bind, EADDRINUSE, -1, (int fd, const struct sockaddr *to, socklen_t n), (fd, to, n))
FAIL(int, listen, EADDRINUSE, -1, (int fd, int backlog), (fd, backlog))
FAIL(int, connect, ECONNREFUSED, -1, (int fd, const struct sockaddr *to, socklen_t n), (fd, to, n))
FAIL(int, accept4, EMFILE, -1, (int fd, struct sockaddr *from, socklen_t *n, int flags),
     (fd, from, n, flags))
FAIL(int, setsockopt, EINVAL, -1, (int fd, int level, int name, const void *value, socklen_t n),
     (fd, level, name, value, n))
FAIL(int, setenv, ENOMEM, -1, (const char *name, const char *value, int over), (name, value, over))

int prctl(int option, ...)
{
	static int (*REAL(prctl))(int, ...);
	unsigned long a[4];
	va_list args;

	va_start(args, option);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(args, unsigned long);
	va_end(args);
	FIND(prctl);
	return fails("prctl", EPERM) ? -1 : REAL(prctl)(option, a[0], a[1], a[2], a[3]);
}

long ptrace(int request, ...)
{
	static long (*REAL(ptrace))(int, ...);
	va_list args;
	void *at, *data;
	pid_t pid;

	va_start(args, request);
	pid = va_arg(args, pid_t);
	at = va_arg(args, void *);
	data = va_arg(args, void *);
	va_end(args);
	FIND(ptrace);
	return fails("ptrace", EPERM) ? -1 : REAL(ptrace)(request, pid, at, data);
}

static const char *name_of(long number)
{
	return number == SYS_bpf               ? "bpf"
	       : number == SYS_pidfd_open      ? "pidfd_open"
	       : number == SYS_perf_event_open ? "perf_event_open"
					       : "other";
}

long syscall(long number, ...)
{
	static long (*REAL(syscall))(long, ...);
	va_list args;
	long a[6];

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	FIND(syscall);
	if (fails(name_of(number), EPERM))
		return -1;
	return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* --- the wall clock ------------------------------------------------------------------------- */

int clock_gettime(clockid_t clock, struct timespec *to)
{
	static int (*REAL(clock_gettime))(clockid_t, struct timespec *);
	static long looks;
	int err;

	FIND(clock_gettime);
	err = REAL(clock_gettime)(clock, to);
	if (!err && fault.step_s && clock == CLOCK_REALTIME)
		to->tv_sec += fault.step_s * looks++;
	return err;
}
