/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * confine - what exitmeter-probed may not do, given up for good
 */
#ifndef CONFINE_H
#define CONFINE_H

/*
 * Keeps CAP_BPF and CAP_PERFMON, where it has them, and can never get more.  Nobody of the same
 * user may trace it.  0; -EPERM: it has not got them; or another -errno.
 */
int confine_capabilities(void);

/* From here on only the system calls that serving takes.  0 or -errno. */
int confine_server(void);
/* The same of one session whose programs are loaded: it starts nobody and takes no connection. */
int confine_session(void);

#endif /* CONFINE_H */
