#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# energy - counters of the machine (--energy), on folders that stand in for sysfs

load helpers

# a folder of the test's own
export EXITMETER_TEST_SYSFS=sys
COUNTERS=

teardown() {
	[ -z "$METER_PID" ] || kill -TERM "$METER_PID" 2>/dev/null || true
	[ -z "$COUNTERS" ] || kill "$COUNTERS" 2>/dev/null || true
}

# zone NAME ZONE: a powercap zone of that name
zone() {
	mkdir -p "sys/class/powercap/$2"
	echo "$1" >"sys/class/powercap/$2/name"
}

# counter ZONE VALUE RANGE: that stands still
counter() {
	echo "$2" >"sys/class/powercap/$1/energy_uj"
	echo "$3" >"sys/class/powercap/$1/max_energy_range_uj"
}

# advance ZONE=START+STEP%RANGE...: counters that live, until the test ends
advance() {
	"$WORK/counters" sys "$@" &
	COUNTERS=$!
	local last=${*: -1}
	until_true 10 [ -e "sys/class/powercap/${last%%=*}/energy_uj" ]
}

# live ENTRIES OPTION... -- COMMAND...: until all entries live: where others have the processors a
# counter may seem not to
live() {
	local want=$1
	shift
	for _ in $(seq 30); do
		meter_raw "$@"
		[ "$(jq '[.energy[] | select(.status == "live")] | length' sum.json)" -ne "$want" ] || break
	done
	checked
}

# raw ZONE: its counter now, read here
raw() {
	cat "sys/class/powercap/$1/energy_uj"
}

root_or_skip() {
	[ "$(id -u)" -eq 0 ] || skip "elsewhere: needs root"
}

two_packages() {
	mkdir -p sys/class/powercap/intel-rapl
	zone package-0 intel-rapl:0
	zone core intel-rapl:0:0
	zone dram intel-rapl:0:1
	zone package-1 intel-rapl:1
	zone package-0 intel-rapl-mmio:0
	counter intel-rapl-mmio:0 7 1000000
}

@test "energy: J-32, J-33: two sockets on a folder, each by its own counter" {
	local before0 before1 after0 after1 range=262143328850
	two_packages
	advance intel-rapl:0=1000+3%$range intel-rapl:0:0=500000000+1%$range \
		intel-rapl:0:1=700000000+2%$range intel-rapl:1=9000000000+11%$range
	before0=$(raw intel-rapl:0)
	before1=$(raw intel-rapl:1)
	live 3 --energy -- "$WORK/hold" idle=300
	after0=$(raw intel-rapl:0)
	after1=$(raw intel-rapl:1)
	jq -c '.energy[]' sum.json
	holds "auto: what lives and is no part of another" \
		'[.energy[] | [.source, .domain]] == [["rapl", "package-0"], ["rapl", "package-0/dram"], ["rapl", "package-1"]]'
	holds "measured, and what" '.energy | all(.quality == "measured" and .status == "live" and .reason == null
		and .delta_uj == .end_uj - .start_uj and .delta_uj > 0 and .wraps == 0)
		and (.[0].covers | contains("all processes, idle power included"))'
	within "start of package-0" "$(summary '.energy[0].start_uj')" "$before0" "$after0"
	within "end of package-0" "$(summary '.energy[0].end_uj')" "$before0" "$after0"
	within "start of package-1" "$(summary '.energy[2].start_uj')" "$before1" "$after1"
	within "end of package-1" "$(summary '.energy[2].end_uj')" "$before1" "$after1"
	within "start of dram" "$(summary '.energy[1].start_uj')" 700000000 900000000
	"$EXITMETER" report run.journal -q --json again.json
	cmp sum.json again.json
	"$EXITMETER" report run.journal >text 2>&1
	grep '^exitmeter: energy package-0: [0-9.]* J (measured, the whole CPU socket: all processes, idle' text
	grep '^exitmeter: energy of the sockets together: [0-9.]* J$' text
}

# wrapped: the counter is past its end
wrapped() {
	[ "$(raw intel-rapl:0)" -lt 100000000 ]
}

@test "energy: J-31: a counter that wraps while the run goes on" {
	local range=262143328850
	zone package-0 intel-rapl:0
	mkfifo told go
	for _ in $(seq 30); do
		advance "intel-rapl:0=$((range - 500000))+1%$range"
		meter_background --energy=rapl -- "$WORK/hold" tell=told wait=go
		read -r _ <told
		kill -USR1 "$COUNTERS"
		until_true 10 wrapped
		echo x >go
		meter_wait
		kill "$COUNTERS"
		wait "$COUNTERS" || true
		COUNTERS=
		[ "$(summary '.energy[0].status')" != live ] || break
	done
	jq -c '.energy[]' sum.json
	holds "one wrap" ".energy[0] | .wraps == 1 and .start_uj > $range - 500000 and .end_uj < 1000000
		and .delta_uj == $range - .start_uj + .end_uj"
	within delta "$(summary '.energy[0].delta_uj')" 1000000 1200000
}

@test "energy: J-8, J-21: what stands still, is not there or may not be read is null, and said" {
	zone package-0 intel-rapl:0
	counter intel-rapl:0 5000 262143328850
	meter --energy=rapl -- sh -c 'exit 3'
	same status "$status" 3
	export SHAPE_SEEN=1
	holds "stale" '.energy == [{"source": "rapl", "domain": "package-0", "covers": .energy[0].covers, "start_uj": null,
		"end_uj": null, "delta_uj": null, "wraps": null, "quality": null, "status": "stale",
		"reason": "it advanced in 0 of 20 intervals of 5 ms"}]'
	meter --energy -- true
	holds "auto: each source says why" '[.energy[] | [.source, .status]] == [["rapl", "stale"],
		["perf", "unavailable"], ["nvml", "unavailable"], ["hwmon", "unavailable"]]
		and (.energy | all(.delta_uj == null and .quality == null and .reason != null))'
	"$EXITMETER" report run.journal >text 2>&1
	grep "^exitmeter: no energy figure: rapl package-0 stale (it advanced in 0 of 20 intervals of 5 ms); perf unavailable (" text
	echo nonsense >sys/class/powercap/intel-rapl:0/energy_uj
	meter --energy=rapl -- true
	holds "no number" '.energy[0] | .status == "unavailable" and .delta_uj == null'
	meter --energy=perf -- true
	holds "J-23: a name is never another" '[.energy[].source] == ["perf"]'
	meter -- true
	holds "not asked for" '.energy == []'
}

@test "energy: denied to a plain user, and what would allow it" {
	root_or_skip
	two_packages
	counter intel-rapl:0 5000 262143328850
	counter intel-rapl:1 5000 262143328850
	chmod 400 sys/class/powercap/*/energy_uj
	chmod 711 . && chmod 755 "$BATS_TEST_TMPDIR"
	status=0
	setpriv --reuid 65534 --regid 65534 --clear-groups "$EXITMETER" -q --source=proc --energy=rapl --json - -- \
		sh -c 'exit 4' >sum.json 2>err || status=$?
	[ "$status" -eq 4 ] || skip "elsewhere: another user may not come here: $(cat err)"
	holds "denied" '.energy | length == 2 and all(.status == "denied" and .delta_uj == null
		and (.reason | startswith("only root may read it, or whom chmod o+r ")))'
}

@test "energy: hwmon: by driver and label; cores of their own are narrower" {
	local dev=sys/class/hwmon/hwmon3
	mkdir -p "$dev"
	echo amd_energy >"$dev/name"
	echo Ecore000 >"$dev/energy1_label"
	echo 5 >"$dev/energy1_input"
	echo Esocket0 >"$dev/energy2_label"
	echo 6 >"$dev/energy2_input"
	echo 7 >"$dev/energy4_input"
	meter --energy=hwmon -- true
	holds "all of it" '[.energy[] | [.source, .domain, .status]] == [["hwmon", "amd_energy/Ecore000", "stale"],
		["hwmon", "amd_energy/Esocket0", "stale"], ["hwmon", "amd_energy/energy4", "stale"]]'
	meter --energy -- true
	holds "auto: not a core" '[.energy[] | select(.source == "hwmon") | .domain] == ["amd_energy/Esocket0", "amd_energy/energy4"]'
}

@test "energy: perf: a PMU whose events cannot be opened is not live" {
	local pmu=sys/bus/event_source/devices/power
	mkdir -p "$pmu/events" "$pmu/format"
	echo 987654 >"$pmu/type"
	echo 0 >"$pmu/cpumask"
	echo config:0-7 >"$pmu/format/event"
	echo event=0x02 >"$pmu/events/energy-pkg"
	echo 2.3283064365386962890625e-10 >"$pmu/events/energy-pkg.scale"
	echo Joules >"$pmu/events/energy-pkg.unit"
	meter --energy=perf -- true
	holds "said" '.energy | length == 1 and .[0].domain == "package-0" and .[0].delta_uj == null
		and (.[0].status == "unavailable" or .[0].status == "denied")'
	echo Watts >"$pmu/events/energy-pkg.unit"
	meter --energy=perf -- true
	holds "another unit is none" '.energy | length == 1 and .[0].domain == null and .[0].status == "unavailable"'
}

@test "energy: NVML: a card that counts, one that cannot, one that counts in lumps" {
	mkdir nvml
	gcc -shared -fPIC -o nvml/libnvidia-ml.so.1 "$ROOT/tests/lib/nvml.c"
	export LD_LIBRARY_PATH=$PWD/nvml
	meter --energy=nvml -- true
	holds "the first" '.energy[0] | .domain == "gpu-0" and .status == "live" and .quality == "measured"
		and .delta_uj == 2000 and .start_uj >= 5000000 and (.covers | contains("not processors"))'
	holds "the second" '.energy[1] | .domain == "gpu-1" and .status == "unavailable" and .delta_uj == null'
	NVML_LUMPS=1 meter --energy=nvml -- true
	holds "J-1: in lumps" '.energy[0] | .status == "stale" and .delta_uj == null'
}

@test "energy: a name that is none is refused before anything starts" {
	run -125 "$EXITMETER" --energy=sun -- touch started
	same "messages" "$output" "exitmeter: energy 'sun': auto, rapl, perf, nvml or hwmon"
	[ ! -e started ]
	run -125 "$EXITMETER" --energy= -- touch started
	[ ! -e started ]
}
