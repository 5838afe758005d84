/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names - of output files, with what tells one run of many from another
 */
#ifndef NAMES_H
#define NAMES_H

/*
 * @name with %h the host's name, %p our process ID, %j and %t SLURM_JOB_ID and SLURM_PROCID
 * (nothing where they are not set), %% a percent sign; others stay.  A new text, or NULL: out of
 * memory.
 */
char *name_expand(const char *name);

#endif /* NAMES_H */
