# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# postgres - a PostgreSQL server of a test's own, on a socket in its folder
#
# postgres_start FOLDER: leaves PG_URL; postgres_stop; postgres_continue.  It runs as the user
# "postgres" where we are root: the server refuses to run as root.

postgres_as() {
	if [ "$(id -u)" -eq 0 ]; then
		setpriv --reuid=postgres --regid=postgres --clear-groups -- "$@"
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
