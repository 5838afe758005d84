/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * descriptors - 0 to 2 stay what the caller made them, for the command too
 */
#ifndef DESCRIPTORS_H
#define DESCRIPTORS_H

#include <stdbool.h>

/*
 * First of all: takes the places among 0 to 2 that are closed, until the next exec, so that no file
 * of ours lands there.  Reading and writing them fails with EBADF as before.
 */
void descriptors_reserve(void);

/*
 * Once the command has its own: gives up standard input and output, so that whoever is at their
 * other end sees when the command closes them.  Outputs have copies (output_open).
 */
void descriptors_release(void);

/* Before that: another command is to have them too. */
void descriptors_keep(void);
/* As they were kept, for the next command; @last: they are kept no longer. */
void descriptors_restore(bool last);
void descriptors_forget(void);

#endif /* DESCRIPTORS_H */
