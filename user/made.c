// SPDX-License-Identifier: GPL-2.0-or-later
#include "made.h"

#define MADE_NAME(id, option, help) option,

const char *const made_options[MADE_N] = { MADE_OUTPUTS(MADE_NAME) };
