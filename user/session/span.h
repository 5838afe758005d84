/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * span - exitmeter span: a part of the run is named from inside it
 */
#ifndef SPAN_H
#define SPAN_H

/* @argv: "span" and what follows.  The exit status. */
int span_main(char **argv);

#endif /* SPAN_H */
