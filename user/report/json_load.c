// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/json_load.h"

#include "report/fields.h"
#include "report/json_fields.h"

void json_load(struct json *j, const struct host_load *h)
{
	json_open(j);
	json_fields(j, h, &host_load_fields);
	if (h->worst.span_ns > 0) {
		json_fields_object(j, "worst_window", &h->worst, &load_window_fields);
	} else {
		json_key(j, "worst_window");
		json_null(j);
	}
	json_close(j);
}
