// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/compare_units.h"

#include <stdio.h>
#include <string.h>

#include "lib/exitmeter.h"

#define SHORT_SECONDS 0.1

void compare_unit_text(double v, enum compare_unit unit, char *buf, size_t cap)
{
	switch (unit) {
	case COMPARE_BYTES:
		em_bytes_text((int64_t)v, buf, cap);
		break;
	case COMPARE_SECONDS:
		if (v > 0 && v < SHORT_SECONDS)
			snprintf(buf, cap, "%.3g ms", v * 1000);
		else
			em_cpu_text(v, buf, cap);
		break;
	case COMPARE_CORES:
		snprintf(buf, cap, "%.1f", v);
		break;
	case COMPARE_COUNT:
		snprintf(buf, cap, "%.0f", v);
		break;
	}
}

void compare_range_text(const struct compare_value *v, enum compare_unit unit,
			char buf[COMPARE_TEXT_MAX])
{
	char least[32], most[32], *space;

	*buf = '\0';
	if (v->n < 2)
		return;
	compare_unit_text(v->least, unit, least, sizeof(least));
	compare_unit_text(v->most, unit, most, sizeof(most));
	if (!strcmp(least, most))
		return;
	/* "0.47 to 0.50 s": one unit is enough. */
	space = strchr(least, ' ');
	if (space && strchr(most, ' ') && !strcmp(space, strchr(most, ' ')))
		*space = '\0';
	snprintf(buf, COMPARE_TEXT_MAX, "%s to %s", least, most);
}

void compare_value_text(const struct compare_value *v, enum compare_unit unit,
			char buf[COMPARE_TEXT_MAX])
{
	char range[COMPARE_TEXT_MAX];
	size_t len;

	if (!v->n) {
		snprintf(buf, COMPARE_TEXT_MAX, "-");
		return;
	}
	compare_unit_text(v->median, unit, buf, COMPARE_TEXT_MAX);
	compare_range_text(v, unit, range);
	len = strlen(buf);
	if (*range)
		snprintf(buf + len, COMPARE_TEXT_MAX - len, " (%s)", range);
}
