#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154
# doc/RECIPES.md, as it stands there; those of other engines are in tests/engines.

load helpers
load postgres
load recipes

setup_file() {
	[ "$(id -u)" -eq 0 ] && postgres_there || return 0
	# the server's user must reach it, whatever TMPDIR is
	PG_HOME=$(mktemp -d /tmp/exitmeter-pg.XXXXXX)
	chmod 755 "$PG_HOME"
	export PG_HOME PG_BIN
	postgres_start "$PG_HOME/pg"
	export PG_DIR
}

teardown_file() {
	[ -n "${PG_HOME:-}" ] || return 0
	postgres_stop || true
	rm -rf "$PG_HOME"
}

# sqlite_recipe NAME: its rows, columns separated by |
sqlite_recipe() {
	recipe "$1" | python3 -c '
import sqlite3, sys
for row in sqlite3.connect("runs.db").execute(sys.stdin.read()):
    print("|".join("" if v is None else str(v) for v in row))'
}

@test "recipes: SQLite" {
	recipe_folder
	recipe_run sqlite
	until_true 30 recipe_spool_empty
	same row "$(sqlite_recipe sqlite-query | cut -d'|' -f2,3)" '["make","-j2"]|0'
	within peak "$(sqlite_recipe sqlite-query | cut -d'|' -f4)" 30 120
	exitmeter -q --journal one.journal -- true
	exitmeter -q --journal two.journal -- true
	for _ in 1 2; do
		recipe_run sqlite-journals
		same rows "$(sqlite_recipe sqlite-query | wc -l)" 3
	done
}

@test "recipes: PostgreSQL" {
	[ "$(id -u)" -eq 0 ] || skip "elsewhere: the test's server is started by root"
	[ -n "${PG_HOME:-}" ]
	recipe_folder
	recipe postgres-setup | psql -X -q -v ON_ERROR_STOP=1 "$PG_URL"
	export DB="postgresql://meter@/runs?host=$PG_DIR"
	recipe_run postgres >said 2>&1
	until_true 30 recipe_spool_empty
	recipe postgres-query | psql -X -q -At -v ON_ERROR_STOP=1 "$DB" >rows
	cat said rows
	grep "^hold|$(uname -n)|3[0-9]|3$" rows
	grep "^exitmeter: ask for " said
}

@test "recipes: a run for Prometheus to be filled back with" {
	command -v promtool >/dev/null || skip "elsewhere: no promtool"
	recipe_folder
	export TSDB=$PWD/tsdb
	recipe_run prometheus-fill
	same blocks "$(find tsdb -name meta.json | wc -l)" 1
	within samples "$(jq .stats.numSamples tsdb/*/meta.json)" 10 10000
}
