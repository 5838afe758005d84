/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * disk - how large a folder is with all that is in it (SPEC R-9)
 *
 * By a walk that follows no symbolic link inside it and stays on its file system; what has several
 * names counts once.  A copy that shares its blocks with another (a reflink) counts in full.
 */
#ifndef HOST_DISK_H
#define HOST_DISK_H

#include "model/env.h"
#include "model/texts.h"

/*
 * Fills the sizes of @d, of the folder at @d->path, which may itself be a symbolic link; both are
 * unknown where there is none.  What could not be read, and so is missing, is said in @notes.
 */
void disk_measure(struct disk *d, struct texts *notes);

#endif /* HOST_DISK_H */
