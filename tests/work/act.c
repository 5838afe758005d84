// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * act FILE - plays the script in FILE (act.h), as process 0 of it; the others are born in it
 *
 * All sleep but the one whose step it is, so that between two steps nothing changes, and what each
 * has resident is what it read of itself after its last step.  An image touches all of itself that
 * it will ever need before it begins.
 */
#include "work.h"

#include <limits.h>
#include <linux/futex.h>
#include <poll.h>

#include "act.h"

#define AREA_BYTES  (1ull << 32)
#define WARM_BYTES  (32 * 1024ul) /* of a stack */
#define STACK_BYTES (4 * WARM_BYTES)
#define THREADS     8
#define WAIT_S      60

extern char __executable_start[], end[];

struct thread {
	uint32_t stop, tid;
};

struct self {
	uint32_t id;
	int threads;
	struct thread *all[THREADS];
};

static struct act_file *file;
static char *path;
/* Of the address space, whoever uses it. */
static char *area;
static size_t top, page;

static void futex_sleep(uint32_t *word, uint32_t value)
{
	struct timespec most = { .tv_sec = WAIT_S };

	if (syscall(SYS_futex, word, FUTEX_WAIT, value, &most, NULL, 0) && errno == ETIMEDOUT)
		syscall(SYS_exit_group, 99); /* nobody is there any more */
}

static void futex_wake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static uint32_t load(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void advance(void)
{
	__atomic_fetch_add(&file->turn, 1, __ATOMIC_RELEASE);
	futex_wake(&file->turn);
}

/* All that the program consists of, and the stack that it will use. */
static void warm(void)
{
	volatile char stack[WARM_BYTES];
	uintptr_t from = (uintptr_t)__executable_start & ~(page - 1);

	for (size_t i = 0; i < sizeof(stack); i += page)
		stack[i] = 1;
	for (uintptr_t at = from; at < (uintptr_t)end; at += page)
		if (madvise((void *)at, page, MADV_POPULATE_WRITE)) /* else it is read only */
			madvise((void *)at, page, MADV_POPULATE_READ);
	madvise(file, sizeof(*file), MADV_POPULATE_WRITE);
	rss_bytes(0);
	rss_bytes(0);
}

static void wait_dead(pid_t pid)
{
	struct pollfd p = { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };

	if (p.fd < 0)
		return;
	while (poll(&p, 1, 10000) < 0 && errno == EINTR)
		;
	close(p.fd);
}

static struct act_step *await_turn(const struct self *me)
{
	uint32_t turn, dying;

	for (;;) {
		turn = load(&file->turn);
		if (turn < file->n && file->steps[turn].who == me->id)
			break;
		futex_sleep(&file->turn, turn);
	}
	dying = load(&file->dying);
	if (dying)
		wait_dead((pid_t)dying);
	file->dying = 0;
	file->steps[turn].pid = getpid();
	return &file->steps[turn];
}

static void note(struct act_step *s)
{
	s->rss_bytes = rss_bytes(0);
	if (s->rss_bytes > s->most_bytes)
		s->most_bytes = s->rss_bytes;
}

static void grow(size_t pages)
{
	touch(area + top, pages * page);
	top += pages * page;
}

static void shrink(size_t pages)
{
	size_t bytes = pages * page < top ? pages * page : top;

	top -= bytes;
	madvise(area + top, bytes, MADV_DONTNEED);
}

static void *new_stack(void)
{
	void *p = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	return p;
}

static int thread_main(void *arg)
{
	struct thread *t = arg;

	while (!load(&t->stop))
		syscall(SYS_futex, &t->stop, FUTEX_WAIT, 0, NULL, NULL, 0);
	syscall(SYS_exit, 0);
	return 0;
}

static void thread_start(struct self *me)
{
	char *stack = new_stack();
	struct thread *t = (struct thread *)stack;

	me->all[me->threads++] = t;
	if (clone(thread_main, stack + STACK_BYTES,
		  CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
			  CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID,
		  t, &t->tid, NULL, &t->tid) < 0)
		die("clone");
}

static void thread_end(struct self *me)
{
	struct thread *t = me->all[--me->threads];
	uint32_t tid;

	__atomic_store_n(&t->stop, 1, __ATOMIC_RELEASE);
	futex_wake(&t->stop);
	while ((tid = load(&t->tid)))
		futex_sleep(&t->tid, tid);
	munmap(t, STACK_BYTES);
}

static _Noreturn void play(struct self *me);

static void born(struct self *me, struct act_step *s)
{
	s->pid = getpid();
	s->first_bytes = rss_bytes(0);
	warm();
	me->id = s->child;
	me->threads = 0;
	note(s);
	advance();
}

static int guest(void *arg)
{
	struct self me = { 0 };

	born(&me, arg);
	play(&me);
}

static _Noreturn void exec_again(const struct self *me)
{
	char id[16];
	char *argv[] = { "act", path, id, NULL };

	snprintf(id, sizeof(id), "%u", me->id);
	execv("/proc/self/exe", argv);
	die("exec");
}

static _Noreturn void go(const struct act_step *s)
{
	uint32_t what = s->what, n = s->n;

	file->dying = (uint32_t)getpid();
	advance();
	if (what == ACT_KILL)
		kill(getpid(), (int)n);
	end_now((int)n);
}

static void burst(struct act_step *s)
{
	grow(s->n);
	note(s);
	shrink(s->n);
}

/* False: somebody else goes on from here. */
static bool act(struct self *me, struct act_step *s)
{
	switch (s->what) {
	case ACT_FORK:
		if (!syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL))
			born(me, s);
		return false;
	case ACT_VFORK:
		if (clone(guest, (char *)new_stack() + STACK_BYTES, CLONE_VM | SIGCHLD, s) < 0)
			die("clone");
		return false;
	case ACT_EXEC:
		exec_again(me);
	case ACT_THREAD:
		thread_start(me);
		break;
	case ACT_THREAD_END:
		thread_end(me);
		break;
	case ACT_GROW:
		grow(s->n);
		break;
	case ACT_SHRINK:
		shrink(s->n);
		break;
	case ACT_BURST:
		burst(s);
		break;
	case ACT_EXIT:
	case ACT_KILL:
		go(s);
	case ACT_ATTACH:
		file->waits = 1;
		while (!load(&file->go))
			idle_ms(1);
		break;
	default:
		burn_ns(CLOCK_PROCESS_CPUTIME_ID, 100000);
		break;
	}
	note(s);
	return true;
}

/* Until somebody else has gone on. */
static void await_next(const struct act_step *s)
{
	uint32_t turn = (uint32_t)(s - file->steps);

	while (load(&file->turn) == turn)
		futex_sleep(&file->turn, turn);
}

static _Noreturn void play(struct self *me)
{
	for (;;) {
		struct act_step *s = await_turn(me);

		if (act(me, s))
			advance();
		else
			await_next(s);
	}
}

/* An image begins with the step that made it. */
static void begin(void)
{
	struct rlimit none = { 0, 0 };
	int fd = open(path, O_RDWR | O_CLOEXEC);

	setrlimit(RLIMIT_CORE, &none);
	page = (size_t)sysconf(_SC_PAGESIZE);
	if (fd < 0)
		die(path);
	file = mmap(NULL, sizeof(*file), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	area = mmap(NULL, AREA_BYTES, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (file == MAP_FAILED || area == MAP_FAILED)
		die("mmap");
	madvise(area, AREA_BYTES, MADV_NOHUGEPAGE);
	close(fd);
	warm();
}

int main(int argc, char **argv)
{
	struct self me = { 0 };
	struct act_step *s;

	if (argc < 2)
		usage("FILE");
	path = argv[1];
	me.id = argc > 2 ? (uint32_t)number(argv[2]) : 0;
	begin();
	s = &file->steps[load(&file->turn)];
	s->pid = getpid();
	grow(s->n);
	note(s);
	advance();
	play(&me);
}
