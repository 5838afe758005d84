#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154
# doc/RECIPES.md, as it stands there; those of other engines are in tests/engines.  What CI services,
# workflow managers, docker and Kubernetes would run and read is run and read by their rules.

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

@test "recipes: a compressed journal, and one of a size" {
	command -v zstd >/dev/null || skip "elsewhere: no zstd"
	recipe_folder
	recipe journal-compressed >compress.sh
	bash -e compress.sh 3>&-
	until_true 10 zstd -tq run.journal.zst
	recipe_run journal-uncompressed >out 2>&1
	same "what is said" "$(grep -c 'processes$' out)" 1
	recipe_run journal-max >out 2>&1
	same "what is said" "$(grep -c 'processes$' out)" 1
}

@test "recipes: what a compressed journal held when exitmeter was killed" {
	command -v zstd >/dev/null || skip "elsewhere: no zstd"
	exits_needed "a row of each"
	"$EXITMETER" -q --source="$SOURCE" --journal >(exec 3>&-; tee seen | zstd -q -f -o killed.zst) -- \
		sh -c '/bin/true; /bin/true; exec sleep 60' 3>&- &
	METER_PID=$!
	until_true 30 grep -q '"event":"process".*true' seen
	kill -9 "$METER_PID"
	kill "$(head -n 1 seen | jq .run.pid)" # which has the pipe too
	until_true 10 zstd -tq killed.zst 2>/dev/null
	METER_PID=
	status=0
	zstd -dcq killed.zst | "$EXITMETER" report - --json cut.json 2>err || status=$?
	same status "$status" 1
	holds "what was there" '.cut_off and ([.processes[] | select(.comm == "true")] | length > 0)' cut.json
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

# ---- builds and tests ---------------------------------------------------------------------

@test "recipes: make: the whole, its steps, how many jobs" {
	exits_needed "a row of each process"
	recipe_folder
	recipe_run make >tree 2>said
	grep -E 'peak [0-9]+ MB' said
	same "rows of hold" "$(grep -cE '^exitmeter: +[0-9]+ MB .*hold populate=30' said)" 3
	same "in the tree" "$(grep -cE '[├└]─hold populate=30' tree)" 3
	recipe_run make-jobs 2>sides
	grep -F j4.journal sides
	recipe make-step >Makefile
	echo 'int main(void) { return 0; }' >main.c
	recipe_run make-steps >said
	grep $'\t' said >steps
	same step "$(cut -f 1 steps)" link
	within "its peak" "$(cut -f 2 steps)" "$MIB" $((500 * MIB))
	rm app
	make -s app # without exitmeter around it
	[ -x app ]
}

@test "recipes: ninja: the largest processes, each edge" {
	command -v ninja >/dev/null || skip "elsewhere: no ninja"
	recipe_folder
	echo 'int main(void) { return 0; }' >main.c
	recipe ninja-rule >build.ninja
	recipe_run ninja >said 2>&1
	cat said
	[ "$SOURCE" = proc ] || grep -E 'cc1|as ' said
	touch main.c
	exitmeter -q --json build.json -- ninja >out
	same edges "$(jq -r '.attempts[].id' build.json)" main.o
}

@test "recipes: pytest: what each test used" {
	/usr/bin/python3 -c 'import pytest' 2>/dev/null || skip "elsewhere: pytest is not installed"
	recipe_folder
	recipe pytest-conftest >conftest.py
	printf '#!/bin/sh\nexec /usr/bin/python3 -m pytest -p no:cacheprovider "$@"\n' >bin/pytest
	chmod +x bin/pytest
	cat >test_it.py <<-'END'
		def test_small():
		    pass
		def test_large():
		    assert len(bytearray(80 << 20))
	END
	recipe_run pytest >said
	cat said
	grep $'\t' said >rows
	same tests "$(cut -f 1 rows | sort | xargs)" "test_large test_small"
	same largest "$(head -n 1 rows | cut -f 1)" test_large
	within peak "$(head -n 1 rows | cut -f 2)" $((80 * MIB)) $((200 * MIB))
	pytest -q # without exitmeter around it
}

# ---- CI -----------------------------------------------------------------------------------

# yaml NAME PYTHON: an expression on the document
yaml() {
	/usr/bin/python3 -c 'import yaml; yaml' 2>/dev/null || skip "elsewhere: no YAML parser"
	recipe "$1" | /usr/bin/python3 -c "import sys, yaml
for line in (lambda d: $2)(yaml.safe_load(sys.stdin)): print(line)"
}

@test "recipes: GitHub: a summary of the job and figures to keep" {
	recipe_folder
	yaml github '[s["run"] for s in d["jobs"]["build"]["steps"] if "run" in s]' >steps
	same "actions" "$(yaml github '[s["uses"] for s in d["jobs"]["build"]["steps"] if "uses" in s]' |
		sed 's/@v[0-9]*$//' | xargs)" \
		"actions/checkout benchmark-action/github-action-benchmark actions/upload-artifact"
	export GITHUB_STEP_SUMMARY=$PWD/summary.md
	echo 'what an earlier step wrote' >"$GITHUB_STEP_SUMMARY"
	bash -e steps 3>&-
	cat summary.md
	# GitHub's own Markdown: a heading, tables with a row of dashes and as many cells in each row;
	# a job's summary has a MiB at most
	/usr/bin/python3 - <<-'END'
		import json, os, re
		text = open("summary.md", encoding="utf-8").read()
		assert text.startswith("what an earlier step wrote\n") and len(text.encode()) < 1 << 20
		tables = re.findall(r"(?:^\|.*\|\n)+", text, re.M)
		assert len(tables) == 2, tables
		for table in tables:
		    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in table.splitlines()]
		    assert all(re.fullmatch(r":?-+:?", cell) for cell in rows[1]), rows[1]
		    assert len({len(row) for row in rows}) == 1 and len(rows) > 2, rows
		assert re.search(r"^### <code>build</code>$", text, re.M)
		entries = json.load(open("bench.json"))
		assert {e["name"].split(": ")[0] for e in entries} == {"build"}, entries
		assert all(set(e) <= {"name", "unit", "value", "range", "extra"} for e in entries)
		assert all(isinstance(e["value"], (int, float)) for e in entries)
	END
	same "where it is read from" "$(yaml github \
		'[s["with"]["output-file-path"] for s in d["jobs"]["build"]["steps"] if "benchmark" in s.get("uses", "")]')" bench.json
	same "the journal" "$(yaml github '[s["with"]["path"] for s in d["jobs"]["build"]["steps"] if "artifact" in s.get("uses", "")]')" \
		build.journal
}

@test "recipes: GitLab: a metrics report, as GitLab reads it" {
	exits_needed "the upper bound"
	recipe_folder
	yaml gitlab 'd["build"]["script"] + d["build"]["after_script"]' >steps
	bash -e steps 3>&-
	same report "$(yaml gitlab '[d["build"]["artifacts"]["reports"]["metrics"]]')" metrics.txt
	cat metrics.txt
	# a comment from # on, words as a shell has them: the name with its labels, and the first value
	/usr/bin/python3 - <<-'END'
		import re, shlex
		metrics = {}
		for line in open("metrics.txt", encoding="utf-8"):
		    words = shlex.split(re.sub("#.*", "", line))
		    assert len(words) == 2, line
		    assert re.fullmatch(r"[a-z_]+\{[^{}]*\}", words[0]), words
		    assert words[0] not in metrics
		    metrics[words[0]] = float(words[1])
		peak = metrics['exitmeter_run_peak_rss_bytes{command=make,job=build,kind=lower}']
		assert 30 << 20 <= peak <= 200 << 20, peak
		assert any("cpu_seconds" in name for name in metrics)
	END
}

# ---- workflows ----------------------------------------------------------------------------

@test "recipes: Snakemake and Nextflow: the files that they would read" {
	recipe_folder
	/usr/bin/python3 - "$(recipe snakemake | sed -n 's/.*shell: "\(.*\)"$/\1/p')" >asked <<-'END'
		import sys
		class Output(list):
		    usage = "solve.tsv"
		print(sys.argv[1].format(output=Output(["out.txt"])))
	END
	sh -e asked 3>&-
	# tabs, a header that names the columns in Snakemake's order, h:m:s, numbers or a dash
	/usr/bin/python3 - <<-'END'
		import csv, re
		(row,) = csv.DictReader(open("solve.tsv"), delimiter="\t")
		assert list(row) == "s h:m:s max_rss max_vms max_uss max_pss io_in io_out mean_load cpu_time".split()
		assert re.fullmatch(r"\d+:\d\d:\d\d", row.pop("h:m:s"))
		assert all(v == "-" or float(v) >= 0 for v in row.values()), row
		assert 30 <= float(row["max_rss"]) <= 200
	END
	recipe nextflow | sed -n 's/^    \(exitmeter .*\)/\1/p' >asked
	sh -e asked 3>&-
	/usr/bin/python3 - <<-'END'
		head, *lines = open("usage.trace").read().splitlines()
		assert head == "nextflow.trace/v2"
		fields = dict(line.split("=") for line in lines)
		assert 30 << 10 <= int(fields["rss"]) <= 200 << 10, fields
		assert int(fields["realtime"]) > 0
	END
}

# ---- services and containers --------------------------------------------------------------

@test "recipes: systemd: the command of a unit, stopped as systemd does" {
	recipe_folder
	mkdir lib
	recipe systemd | sed -n 's/^ExecStart=\(..*\)/exec \1/p' |
		sed "s,/var/lib/report,$PWD/lib,; s/%n/report.service/; s/make -j2/sleep 60/" >asked
	sh -e asked 3>&- &
	local pid=$!
	until_true 10 grep -q run_start lib/report.service.journal
	kill -TERM "$pid"
	status=0
	wait "$pid" || status=$?
	same status "$status" 143
	same "its end" "$(jq -c 'select(.event == "summary") | .run.exit_signal' lib/report.service.journal)" 15
	command -v systemd-analyze >/dev/null || skip "elsewhere: no systemd-analyze"
	{
		recipe systemd | sed "s,=exitmeter,=$PWD/bin/exitmeter,"
	} >report.service
	systemd-analyze verify --man=no ./report.service 2>&1 | tee said
	[ ! -s said ] || skip "elsewhere: systemd-analyze needs a systemd"
}

# Docker's default set.
DOCKER_CAPS=+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+setpcap,+net_bind_service,+net_raw,+sys_chroot,+mknod,+audit_write,+setfcap

# contained CAPS COMMAND...: as root of a PID namespace of its own with Docker's capabilities and these
contained() {
	local caps=$1
	shift
	unshare --pid --fork --mount-proc -- \
		setpriv --bounding-set="-all,$DOCKER_CAPS$caps" --inh-caps=-all -- "$@" 3>&-
}

containers_needed() {
	[ "$(id -u)" -eq 0 ] || skip "elsewhere: needs root to give up capabilities"
	[ "$SOURCE" = bpf ] || skip "BPF is what they are for"
	unshare --pid --fork --mount-proc true 2>/dev/null || skip "elsewhere: no PID namespaces"
}

from() {
	same "$1" "$(jq -r .source.exits sum.json)" "$2"
}

@test "recipes: docker: which capabilities and system calls make which source" {
	containers_needed
	recipe_folder
	local caps run=(exitmeter -q --json sum.json -- make -j2)
	no_leak_check
	recipe docker | grep -o 'exitmeter -- make -j2'
	caps=$(recipe docker | grep -oE -- '--cap-add [A-Z_]+' | sed 's/.* /,+/' | tr -d '\n' | tr '[:upper:]' '[:lower:]')
	same caps "$caps" ,+bpf,+perfmon
	contained "$caps" "${run[@]}"
	from "with both" bpf
	same exact "$(jq .completeness.exact sum.json)" true
	contained '' "${run[@]}"
	from "as docker gives them" ptrace
	contained ,+bpf "${run[@]}"
	from "with one" ptrace
	"$WORK/refuse" bpf perf_event_open -- setpriv --no-new-privs \
		--bounding-set="-all,$DOCKER_CAPS$caps" --inh-caps=-all "${run[@]}"
	from "seccomp without bpf" ptrace
	"$WORK/refuse" bpf perf_event_open ptrace -- setpriv --no-new-privs \
		--bounding-set="-all,$DOCKER_CAPS$caps" --inh-caps=-all "${run[@]}"
	from "nor ptrace" proc
	unshare --user --map-root-user true 2>/dev/null || skip "elsewhere: no user namespaces"
	unshare --user --map-root-user "${run[@]}"
	from "rootless" ptrace
}

@test "recipes: Kubernetes: a sidecar with the capabilities of its YAML" {
	containers_needed
	recipe_folder
	mkdir out
	chmod 777 out .
	same shared "$(yaml kubernetes '[d["kind"], d["spec"]["shareProcessNamespace"]]' | xargs)" "Pod True"
	yaml kubernetes 'd["spec"]["containers"][1]["args"]' | sed "s,/out/,$PWD/out/," >sidecar
	caps=$(yaml kubernetes '["-all"] + ["+" + c.lower() for c in
		d["spec"]["containers"][1]["securityContext"]["capabilities"]["add"]]' | paste -sd,)
	same caps "$caps" -all,+bpf,+perfmon,+sys_ptrace
	same "every volume is there" "$(yaml kubernetes '[{v["name"] for v in d["spec"]["volumes"]} ==
		{m["name"] for c in d["spec"]["containers"] for m in c.get("volumeMounts", [])}]')" True
	cp "$WORK/hold" solve
	cat >pod <<-'END'
		setpriv --reuid=65534 --regid=65534 --clear-groups sh -c 'sleep 0.5; exec ./solve populate=40 idle=2000' &
		setpriv --bounding-set="$1" --inh-caps=-all sh -e sidecar
		wait
	END
	unshare --pid --fork --mount-proc sh -e pod "$caps" 3>&-
	jq -c 'select(.event == "summary") | [.source.exits, .run.mode, .usage.peak_rss_bytes]' out/solver.journal >got
	cat got
	same source "$(jq -r '.[0:2] | join(" ")' got)" "bpf attach"
	within peak "$(jq '.[2]' got)" $((40 * MIB)) $((80 * MIB))
}
