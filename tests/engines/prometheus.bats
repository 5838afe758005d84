#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2034
# Prometheus itself and node_exporter, with folders and ports of their own: what they make of ours.

load ../e2e/helpers
load ports
load ../e2e/recipes

teardown() {
	local pid
	for pid in ${PIDS:-}; do
		kill -TERM "$pid" 2>/dev/null || true
	done
	for pid in ${PIDS:-}; do
		wait "$pid" 2>/dev/null || true
	done
}

# needs PROGRAM PACKAGE
needs() {
	command -v "$1" >/dev/null || skip "elsewhere: $1 is not there (Debian's package $2)"
}

# start PROGRAM ARGUMENT...: in the background, until its address in URL answers
start() {
	"$@" >"${1##*/}.log" 2>&1 3>&- &
	PIDS="${PIDS:-} $!"
	until_true 60 curl -sf -o /dev/null "$URL" || {
		tail -n 20 "${1##*/}.log"
		return 1
	}
}

# start_prometheus: with prometheus.yml and the folder db
start_prometheus() {
	local port
	port=$(free_port)
	PROMETHEUS=http://127.0.0.1:$port
	URL=$PROMETHEUS/-/ready
	start prometheus --config.file=prometheus.yml --storage.tsdb.path=db \
		--web.listen-address="127.0.0.1:$port" --log.level=warn
}

# query EXPRESSION [TIME]: its one value, empty for none
query() {
	curl -sfG --data-urlencode "query=$1" ${2:+--data-urlencode "time=$2"} "$PROMETHEUS/api/v1/query" |
		jq -r 'if .status == "success" and (.data.result | length) <= 1
			then (.data.result[0].value[1] // "") else "not one value: \(tojson)" end'
}

# becomes VALUE EXPRESSION
becomes() {
	[ "$(query "$2")" = "$1" ]
}

@test "prometheus: scrapes a run that goes on and what it came to, with a token" {
	needs prometheus prometheus
	echo secret >token
	chmod 600 token
	"$EXITMETER" serve run.journal --listen 0 --token-file token 2>serve.err 3>&- &
	PIDS=$!
	until_true 30 grep -qs 'listening on' serve.err
	cat >prometheus.yml <<-YML
		global: {scrape_interval: 1s}
		scrape_configs:
		  - job_name: exitmeter
		    authorization: {credentials_file: $PWD/token}
		    static_configs: [{targets: ['$(sed -n 's,.*http://\(.*\)/,\1,p' serve.err)']}]
	YML
	promtool check config prometheus.yml
	start_prometheus
	mkfifo go
	meter_background -i 0.1 --label team='a "b"' -- sh -c "'$WORK/hold' populate=30 wait=go; exit 4"
	until_true 60 becomes 2 'exitmeter_tree_processes{team="a \"b\"",job="exitmeter"}'
	within memory "$(query 'max_over_time(exitmeter_tree_resident_memory_bytes[1m])')" $((30 * MIB)) $((40 * MIB))
	echo x >go
	meter_wait
	until_true 60 becomes 4 exitmeter_run_exit_status
	same lower "$(query 'exitmeter_run_peak_rss_bytes{kind="lower"}')" "$(summary .usage.peak_rss_lower_bytes)"
	same upper "$(query 'exitmeter_run_peak_rss_bytes{kind="upper"}')" "$(summary .usage.peak_rss_upper_bytes)"
	jq -e --argjson got "$(query 'sum(exitmeter_run_cpu_seconds_total)')" \
		'.usage.cpu_seconds - $got | fabs < 1e-6' sum.json
	same kernel "$(query "exitmeter_run_info{kernel=\"$(uname -r)\"}")" 1
	same "the server is up" "$(query 'min_over_time(up[1m])')" 1
	same "its errors" "$(curl -sf "$PROMETHEUS/api/v1/targets" | jq -r '.data.activeTargets[].lastError')" ""
	same "type" "$(curl -sf "$PROMETHEUS/api/v1/metadata?metric=exitmeter_run_peak_rss_bytes" |
		jq -r '.data[][0].type')" gauge
}

@test "prometheus: a run that was filled back is found at its time" {
	needs prometheus prometheus
	meter -i 0.1 --run-id filled --openmetrics run.om -- sh -c "'$WORK/hold' populate=30; sleep 0.5"
	promtool tsdb create-blocks-from openmetrics run.om db
	echo 'scrape_configs: []' >prometheus.yml
	start_prometheus
	local end
	end=$(jq '(.aged_at | sub("\\.[0-9]+Z$"; "Z") | fromdate) + 1' sum.json)
	same memory "$(query 'max_over_time(exitmeter_tree_resident_memory_bytes{run="filled"}[5m])' "$end")" \
		"$(summary '[.marks[] | .[1]] | max')"
	same marks "$(query 'count_over_time(exitmeter_tree_cpu_seconds_total{run="filled"}[5m])' "$end")" \
		"$(summary '.marks | length')"
	same peak "$(query 'exitmeter_run_peak_rss_bytes{run="filled",kind="lower"}' "$end")" \
		"$(summary .usage.peak_rss_lower_bytes)"
}

@test "node_exporter: hands on the text file of a run, also over and over" {
	needs prometheus-node-exporter prometheus-node-exporter
	local port i errors
	port=$(free_port)
	URL=http://127.0.0.1:$port/metrics
	mkdir texts
	start prometheus-node-exporter --collector.disable-defaults --collector.textfile \
		--collector.textfile.directory="$PWD/texts" --web.listen-address="127.0.0.1:$port"
	meter --prom texts/run.prom --label odd=$'\xff"\n' -- sh -c 'exit 7'
	curl -sf "$URL" >body
	same code "$(sed -n 's/^exitmeter_run_exit_status{.*} //p' body)" 7
	same errors "$(sed -n 's/^node_textfile_scrape_error //p' body)" 0
	for ((i = 0; i < 40; i++)); do
		"$EXITMETER" report run.journal -q --prom texts/run.prom
	done &
	while kill -0 $! 2>/dev/null; do
		curl -sf "$URL" >body
		errors=$(sed -n 's/^node_textfile_scrape_error //p' body)
		[ "$errors" = 0 ] && [ "$(grep -c '^exitmeter_run_exit_status' body)" -eq 1 ] || {
			cat prometheus-node-exporter.log
			return 1
		}
	done
	same "left beside it" "$(ls texts)" run.prom
}

@test "prometheus: the recipe for live runs" {
	needs prometheus prometheus
	local port
	port=$(free_port)
	recipe_folder
	recipe prometheus-live | sed "s/9477/$port/; s/^exitmeter serve/exec &/" >live.sh
	sh -e live.sh 2>live.err 3>&- &
	PIDS=$!
	recipe prometheus-scrape | sed "s/9477/$port/" >prometheus.yml
	sed -i '1i global: {scrape_interval: 1s}' prometheus.yml
	promtool check config prometheus.yml
	start_prometheus
	until_true 60 becomes 0 exitmeter_run_exit_status
	same processes "$(query exitmeter_run_processes_total)" 4
}

@test "node_exporter: the recipe for jobs that come and go" {
	needs prometheus-node-exporter prometheus-node-exporter
	local port
	port=$(free_port)
	recipe_folder
	mkdir texts
	export TEXTS=$PWD/texts
	recipe_run prometheus-text
	URL=http://127.0.0.1:$port/metrics
	start prometheus-node-exporter --collector.disable-defaults --collector.textfile \
		--collector.textfile.directory="$TEXTS" --web.listen-address="127.0.0.1:$port"
	curl -sf "$URL" >body
	same code "$(sed -n 's/^exitmeter_run_exit_status{.*branch="main".*} //p' body)" 0
}
