// SPDX-License-Identifier: GPL-2.0-or-later
#include "made.h"

#define MADE_KIND(id, option, by_name, help) { option, by_name },

const struct made_kind made_kinds[MADE_N] = { MADE_OUTPUTS(MADE_KIND) };
