// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/sink.h"

int sink_open(const struct url *url, const struct scheduler *scheduler, struct sink **ret)
{
	switch (url->kind) {
	case URL_SQLITE:
		return scheduler->on ? attempts_sqlite_open(url, scheduler, ret)
				     : sqlite_sink_open(url, ret);
	case URL_CLICKHOUSE:
		return clickhouse_sink_open(url, ret);
	case URL_POSTGRES:
		return scheduler->on ? attempts_postgres_open(url, scheduler, ret)
				     : postgres_sink_open(url, ret);
	case URL_HTTP:
	default:
		return http_sink_open(url, ret);
	}
}
