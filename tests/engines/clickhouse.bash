# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# clickhouse - a ClickHouse server of a test's own, on loopback, with all it writes in its folder
#
# clickhouse_start FOLDER: leaves CH_URL and CH_HTTP; clickhouse_go; clickhouse_stop.  The user
# "meter" has the password "kept"; "default" has none.

clickhouse_config() {
	cat >"$CH_DIR/config.xml" <<-END
		<yandex>
		<logger><level>warning</level><log>$CH_DIR/log</log><errorlog>$CH_DIR/errors</errorlog></logger>
		<http_port>$CH_PORT</http_port><tcp_port>$1</tcp_port>
		<listen_host>127.0.0.1</listen_host>
		<path>$CH_DIR/data/</path><tmp_path>$CH_DIR/tmp/</tmp_path>
		<user_files_path>$CH_DIR/files/</user_files_path>
		<format_schema_path>$CH_DIR/schemas/</format_schema_path>
		<users_config>$CH_DIR/users.xml</users_config>
		<default_profile>default</default_profile><default_database>default</default_database>
		<mark_cache_size>100000000</mark_cache_size>
		</yandex>
	END
	cat >"$CH_DIR/users.xml" <<-END
		<yandex><profiles><default/></profiles><quotas><default/></quotas><users>
		<default><password></password><networks><ip>127.0.0.1</ip></networks>
		<profile>default</profile><quota>default</quota></default>
		<meter><password>kept</password><networks><ip>127.0.0.1</ip></networks>
		<profile>default</profile><quota>default</quota></meter>
		</users></yandex>
	END
}

clickhouse_answers() {
	curl -s -o "$CH_DIR/answer" "$CH_HTTP" && [ "$(cat "$CH_DIR/answer")" = Ok. ]
}

clickhouse_go() {
	clickhouse-server --config-file="$CH_DIR/config.xml" >"$CH_DIR/out" 2>&1 3>&- 4>&- &
	CH_PID=$!
	echo "$CH_PID" >"$CH_DIR/pid"
	until_true 60 clickhouse_answers
}

clickhouse_start() {
	CH_DIR=$1
	mkdir -p "$CH_DIR"
	CH_PORT=$(free_port)
	export CH_DIR CH_PORT CH_HTTP=http://127.0.0.1:$CH_PORT/
	export CH_URL=clickhouse+http://127.0.0.1:$CH_PORT/runs
	clickhouse_config "$(free_port)"
	clickhouse_go
}

clickhouse_gone() {
	! kill -0 "$1" 2>/dev/null
}

# clickhouse_stop [SIGNAL]
clickhouse_stop() {
	local pid
	pid=$(cat "$CH_DIR/pid")
	kill "-${1:-TERM}" "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || until_true 60 clickhouse_gone "$pid"
}

# clickhouse_ask SQL: the answer, tabs between columns
clickhouse_ask() {
	curl -s --fail-with-body "$CH_HTTP?database=${CH_DB-runs}" --data-binary "$1"
}
