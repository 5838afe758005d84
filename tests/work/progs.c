// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * progs - prints how many BPF programs the kernel holds; by CAP_SYS_ADMIN
 */
#include "work.h"
#include <linux/bpf.h>

int main(void)
{
	union bpf_attr attr;
	int n = -1;

	memset(&attr, 0, sizeof(attr));
	do {
		n++;
		attr.start_id = attr.next_id;
	} while (!syscall(SYS_bpf, BPF_PROG_GET_NEXT_ID, &attr, sizeof(attr)));
	if (errno != ENOENT)
		die("bpf");
	printf("%d\n", n);
	return 0;
}
