// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/refusal.h"

#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include <cap-ng.h>

#include "capture/lockdown.h"

#define SCOPE_ADMIN_ONLY 2
#define SCOPE_NOBODY     3

static bool has(unsigned int capability)
{
	return !capng_get_caps_process() && capng_have_capability(CAPNG_EFFECTIVE, capability);
}

static bool first_line(const char *path, char *buf, int cap)
{
	FILE *f = fopen(path, "re");
	bool got = f && fgets(buf, cap, f);

	if (f)
		fclose(f);
	return got;
}

/* Where every uid stands for itself capabilities are the machine's. */
static bool in_user_namespace(void)
{
	unsigned long inside, outside, count;
	char line[128];

	return first_line("/proc/self/uid_map", line, sizeof(line)) &&
	       (sscanf(line, "%lu %lu %lu", &inside, &outside, &count) != 3 || inside || outside ||
		count != 4294967295ul);
}

static bool filtered(void)
{
	return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_MODE_FILTER;
}

const char *refusal_of_bpf(const char **ret_remedy)
{
	*ret_remedy = NULL;
	if (!has(CAP_SYS_ADMIN) && !(has(CAP_BPF) && has(CAP_PERFMON))) {
		*ret_remedy = "run it as root, or with CAP_BPF and CAP_PERFMON "
			      "(setcap cap_bpf,cap_perfmon=ep EXITMETER); before Linux 5.8 "
			      "CAP_SYS_ADMIN";
		return "this process lacks CAP_BPF or CAP_PERFMON";
	}
	if (in_user_namespace()) {
		*ret_remedy = "run it outside the user namespace";
		return "capabilities in a user namespace do not count";
	}
	if (filtered()) {
		*ret_remedy = "a seccomp profile that allows bpf()";
		return "a seccomp filter is in force";
	}
	if (kernel_locked_down()) {
		*ret_remedy = "boot without lockdown=confidentiality";
		return "the kernel is locked down";
	}
	return NULL;
}

const char *refusal_of_ptrace(const char **ret_remedy)
{
	*ret_remedy = NULL;
	switch (yama_scope()) {
	case SCOPE_NOBODY:
		*ret_remedy = "boot with a lower kernel.yama.ptrace_scope";
		return "yama allows it to nobody";
	case SCOPE_ADMIN_ONLY:
		if (has(CAP_SYS_PTRACE))
			break;
		*ret_remedy = "run it with CAP_SYS_PTRACE, or sysctl kernel.yama.ptrace_scope=1";
		return "yama allows it with CAP_SYS_PTRACE only";
	default:
		break;
	}
	if (!filtered())
		return NULL;
	*ret_remedy = "a seccomp profile that allows ptrace()";
	return "a seccomp filter is in force";
}

int yama_scope(void)
{
	char line[16];
	int scope;

	if (!first_line("/proc/sys/kernel/yama/ptrace_scope", line, sizeof(line)) ||
	    sscanf(line, "%d", &scope) != 1)
		return -1;
	return scope;
}

bool may_read_others(void)
{
	return has(CAP_SYS_PTRACE);
}
