# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# postgres - a PostgreSQL server of a test's own, on a socket in its folder
#
# postgres_home_start in setup_file leaves PG_HOME and PG_URL where there is a server to be had and
# we are root, as whom it refuses to run: it is the user "postgres" then; postgres_home_stop in
# teardown_file.  postgres_stop and postgres_go between them.

postgres_as() {
	if [ "$(id -u)" -eq 0 ]; then
		(cd / && setpriv --reuid=postgres --regid=postgres --clear-groups -- "$@")
	else
		"$@"
	fi
}

postgres_there() {
	PG_BIN=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1)
	[ -n "$PG_BIN" ]
}

postgres_go() {
	postgres_as "$PG_BIN/pg_ctl" -D "$PG_DIR/data" -l "$PG_DIR/log" -w -t 60 \
		-o "-k $PG_DIR -c listen_addresses='' -c fsync=off" start >/dev/null 3>&- 4>&-
}

postgres_start() {
	PG_DIR=$1
	mkdir -p "$PG_DIR"
	chmod 755 "$PG_DIR"
	[ "$(id -u)" -ne 0 ] || chown postgres "$PG_DIR"
	postgres_as "$PG_BIN/initdb" -D "$PG_DIR/data" -A trust -U postgres -N >/dev/null
	postgres_go
	export PG_URL="postgresql://postgres@/postgres?host=$PG_DIR"
}

postgres_stop() {
	postgres_as "$PG_BIN/pg_ctl" -D "$PG_DIR/data" -m immediate -w -t 60 stop >/dev/null
}

postgres_home_start() {
	[ "$(id -u)" -eq 0 ] && postgres_there || return 0
	# the server's user must reach it, whatever TMPDIR is
	PG_HOME=$(mktemp -d /tmp/exitmeter-pg.XXXXXX)
	chmod 755 "$PG_HOME"
	postgres_start "$PG_HOME/pg"
	export PG_HOME PG_BIN PG_DIR
}

postgres_home_stop() {
	[ -n "${PG_HOME:-}" ] || return 0
	postgres_stop || true
	rm -rf "$PG_HOME"
}

# postgres_fresh: nothing is in it
postgres_fresh() {
	psql -X -q "$PG_URL" -c 'DROP SCHEMA public CASCADE; CREATE SCHEMA public' 2>/dev/null
}

# recorders SPOOL: pids of those that work on it
recorders() {
	local file
	grep -lF "$1" /proc/[0-9]*/cmdline 2>/dev/null | while read -r file; do
		[[ $(cat "${file%/*}/comm" 2>/dev/null) != exitmeter-recor ]] || basename "${file%/*}"
	done
}

recorders_gone() {
	[ -z "$(recorders "$1")" ]
}

kill_recorders() {
	local p
	for p in $(recorders "$1"); do
		kill -KILL "$p" 2>/dev/null || true
	done
}
