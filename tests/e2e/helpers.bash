# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# helpers - what the end-to-end tests share: `load helpers` first in each file
#
# Environment: EXITMETER the binary, WORK the folder of built workloads, SOURCE where exits come
# from. Each test runs in a folder of its own. `meter` runs a command and leaves out and err (what
# the command and exitmeter wrote), sum.json, run.journal and $status, after it has checked what
# must hold for every run whatever it did.

bats_require_minimum_version 1.5.0

ROOT=$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd)
EXITMETER=${EXITMETER:-$ROOT/build/exitmeter}
export WORK=${WORK:-$ROOT/build/work}
SOURCE=${SOURCE:-bpf}
MIB=1048576
PAGE=$(getconf PAGESIZE)
export BATS_TEST_TIMEOUT=${BATS_TEST_TIMEOUT:-120}
export LC_ALL=C.UTF-8
unset EXITMETER_FORMAT EXITMETER_DISABLE EXITMETER_CONTROL EXITMETER_SOURCE

setup_file() {
	[ -x "$EXITMETER" ] || {
		echo "no $EXITMETER: build it first (make)" >&2
		return 1
	}
	make -s -C "$ROOT/tests/work" OUT="$WORK"
}

setup() {
	[ "$SOURCE" != bpf ] || [ "$(id -u)" -eq 0 ] || skip "the BPF source needs root"
	cd "$BATS_TEST_TMPDIR" || return 1
	METER_PID=
	SHAPE_SEEN=
}

teardown() {
	[ -z "$METER_PID" ] || kill -CONT "$METER_PID" 2>/dev/null || true
	[ -z "$METER_PID" ] || kill -TERM "$METER_PID" 2>/dev/null || true
	# a workload of a failed test that still waits at a fifo goes on and ends
	local fifo
	for fifo in *; do
		[ ! -p "$fifo" ] || echo x 1<>"$fifo"
	done
}

# ---- running ------------------------------------------------------------------------------

# meter [OPTION...] -- COMMAND...: one run, checked
meter() {
	meter_raw "$@"
	checked
}

# meter_raw: the same without the checks, for runs that may end before they begin
meter_raw() {
	status=0
	"$EXITMETER" -q --source="$SOURCE" --json sum.json --journal run.journal "$@" \
		>out 2>err 3>&- || status=$?
}

# meter_background: as meter_raw, in the background, its pid in METER_PID; then meter_wait
meter_background() {
	"$EXITMETER" -q --source="$SOURCE" --json sum.json --journal run.journal "$@" \
		>out 2>err 3>&- &
	METER_PID=$!
}

meter_wait() {
	status=0
	wait "$METER_PID" || status=$?
	METER_PID=
	checked
}

# What must hold for every run; a test that repeats a run sets SHAPE_SEEN after the first: the
# schemas take longer than a run.
checked() {
	cat err
	[ -n "$SHAPE_SEEN" ] || valid sum.json run.journal
	identities sum.json
	journal_agrees run.journal sum.json
}

# until_true SECONDS COMMAND...: polls for a condition; a deadline, not a wait
until_true() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		if [ "$SECONDS" -gt "$end" ]; then
			echo "never came true: $*"
			return 1
		fi
		sleep 0.01
	done
}

# Does this source see every process's end? proc sees only what a sample catches.
exits_needed() {
	[ "$SOURCE" != proc ] || skip "$1: source proc has no exit records"
}

# Does this source add up the tree's memory by itself?  The others know it at samples only.
sums() {
	[ "$SOURCE" = bpf ]
}

# ---- reading ------------------------------------------------------------------------------

# summary FILTER: one value of sum.json
summary() {
	jq -r "$1" sum.json
}

# rows FILTER: of the processes, the ones that FILTER selects, as a JSON array
rows() {
	jq -c "[.processes[] | select($1)]" sum.json
}

# row FILTER VALUE: of the one process that FILTER selects
row() {
	local found
	found=$(rows "$1")
	if [ "$(jq length <<<"$found")" -ne 1 ]; then
		echo "rows with $1: $(jq length <<<"$found"), not 1" >&2
		return 1
	fi
	jq -r ".[0] | $2" <<<"$found"
}

# truth NAME [FILE]: what a workload said, "name=value"; the last one counts
truth() {
	local value
	value=$(sed -n "s/^$1=//p" "${2:-out}" | tail -n 1)
	if [ -z "$value" ]; then
		echo "no $1 in ${2:-out}" >&2
		return 1
	fi
	echo "$value"
}

# rollup PID: resident bytes by the kernel's own walk
rollup() {
	awk '$1 == "Rss:" { print $2 * 1024 }' "/proc/$1/smaps_rollup"
}

# word FILE: a 64-bit number in shared memory
word() {
	od -An -t u8 -N8 "$1" | tr -d ' '
}

# hwm_slack: how far the kernel's high-water mark may be off (SPEC U-131), bytes
hwm_slack() {
	local cpus batch
	cpus=$(nproc --all)
	batch=$((2 * cpus > 32 ? 2 * cpus : 32))
	echo $((3 * (batch - 1) * cpus * PAGE))
}

# ---- saying what must be ------------------------------------------------------------------

# lower_is TRUTH MOST: the lower bound; where it comes from samples it may be anything below
lower_is() {
	local least=$(($1 * 99 / 100))
	sums || least=$(summary .usage.peak_rss_process_bytes)
	within lower "$(summary .usage.peak_rss_lower_bytes)" "$least" "$2"
}

# within WHAT GOT LOW HIGH: integers
within() {
	echo "$1: got $2, want $3 to $4"
	[[ $2 =~ ^-?[0-9]+$ ]] && [ "$2" -ge "$3" ] && [ "$2" -le "$4" ]
}

# same WHAT GOT WANT: as text
same() {
	echo "$1: got $2, want $3"
	[ "$2" = "$3" ]
}

# holds WHAT EXPRESSION [FILE]: jq says true
holds() {
	echo "$1: $2"
	jq -e "$2" "${3:-sum.json}" >/dev/null
}

# cpu_close WHAT SECONDS MICROSECONDS [MS]: within 0.5 % or 2 ms (MS) of the kernel's word
cpu_close() {
	echo "$1: got $2 s, the kernel says $3 us"
	jq -en --argjson got "$2" --argjson want "$3" --argjson ms "${4:-2}" \
		'($got * 1e6 - $want | fabs) <= ([$want * 0.005, $ms * 1000] | max)' >/dev/null
}

# exact: every end seen, nothing lost
exact() {
	exits_needed "exactness"
	summary '.completeness | "completeness: \(tojson)"'
	holds "exact" '.completeness | .exact and .events_lost == 0 and (.reasons | length) == 0'
}

# one_line FILE: exactly one message of exitmeter's
one_line() {
	cat "$1"
	same "lines" "$(wc -l <"$1")" 1
	[[ $(cat "$1") == "exitmeter: "* ]]
}

# valid FILE...: each as its schema in doc/ says, when there is one
valid() {
	local file schema pairs=()
	for file in "$@"; do
		schema=$ROOT/doc/summary.schema.json
		[[ $file != *journal* ]] || schema=$ROOT/doc/journal.schema.json
		if [ -e "$schema" ]; then
			pairs+=("$schema" "$file")
		else
			jq empty "$file"
		fi
	done
	[ "${#pairs[@]}" -eq 0 ] || /usr/bin/python3 "$ROOT/tests/e2e/validate.py" "${pairs[@]}"
}

# faults FILTER FILE...: FILTER yields a text for each thing that is wrong
faults() {
	local said
	said=$(jq -r "$@") || return 1
	[ -z "$said" ] || {
		echo "$said"
		return 1
	}
}

# identities SUMMARY: INTERFACE 3, for every run
identities() {
	# shellcheck disable=SC2016
	faults '
	def wrong(what): "identity: \(what)";
	. as $s | .completeness as $c | .usage as $u
	| ([.processes[] | select(.running | not)] | length) as $ended
	| ([.processes[] | select(.running)] | length) as $running
	| ($c.exact or (.source.exits != "proc" and .source.exits != "none")) as $seen
	| (if $seen and $c.initial + $c.forks != $c.exits + $c.running_at_end
	   then wrong("initial \($c.initial) + forks \($c.forks) != exits \($c.exits) + running_at_end \($c.running_at_end)")
	   else empty end),
	  (if $seen and .processes_omitted == 0 and $ended + $c.events_lost != $c.exits
	   then wrong("rows \($ended) + events_lost \($c.events_lost) != exits \($c.exits)") else empty end),
	  (if $seen and .processes_omitted == 0 and $running != $c.running_at_end
	   then wrong("running rows \($running) != running_at_end \($c.running_at_end)") else empty end),
	  (if $seen and $ended + $running + .processes_omitted + $c.events_lost != $c.exits + $c.running_at_end
	   then wrong("rows \($ended + $running) + omitted \(.processes_omitted) + lost \($c.events_lost) != exits \($c.exits) + running \($c.running_at_end)")
	   else empty end),
	  (if $seen and $u.total_processes != $c.initial + $c.forks
	   then wrong("total_processes \($u.total_processes) != initial + forks \($c.initial + $c.forks)") else empty end),
	  (if $seen and ([.groups[].processes] | add // 0) + $c.events_lost != $c.initial + $c.forks
	   then wrong("groups cover \([.groups[].processes] | add // 0) of \($c.initial + $c.forks)") else empty end),
	  (if (.groups | length) > 257 or (.processes | length) > 1000 and .processes_omitted > 0
	   then wrong("lists too long") else empty end),
	  (if $c.exact and (($c.reasons | length) > 0 or $c.events_lost > 0)
	   then wrong("exact in spite of \($c.reasons) and \($c.events_lost) lost") else empty end),
	  (if ($c.exact | not) and ($c.reasons | length) == 0 then wrong("not exact, but no reason") else empty end),
	  (if $u.peak_rss_bytes != $u.peak_rss_lower_bytes then wrong("peak is not lower") else empty end),
	  (if $u.peak_rss_lower_bytes != null and $u.peak_rss_upper_bytes != null
	      and $u.peak_rss_lower_bytes > $u.peak_rss_upper_bytes
	   then wrong("lower \($u.peak_rss_lower_bytes) > upper \($u.peak_rss_upper_bytes)") else empty end),
	  (if $c.exact then .processes[] | select(.peak_rss_bytes != null and .peak_rss_bytes > $u.peak_rss_upper_bytes)
	     | wrong("peak \(.peak_rss_bytes) of \(.pid) > upper \($u.peak_rss_upper_bytes)") else empty end),
	  (if $c.exact then .processes[] | select(.peak_rss_exact and .inherited_rss_bytes == 0 and .peak_rss_bytes > $u.peak_rss_lower_bytes)
	     | wrong("exact peak \(.peak_rss_bytes) of \(.pid) > lower \($u.peak_rss_lower_bytes)") else empty end),
	  (if $c.exact and .processes_omitted == 0
	      and $u.peak_rss_process_bytes != ([.processes[].peak_rss_bytes // 0] | max)
	   then wrong("largest process \($u.peak_rss_process_bytes) is no row") else empty end),
	  (if $c.exact and .processes_omitted == 0 and $running == 0
	      and (([.processes[].cpu_seconds] | add) - $u.cpu_seconds | fabs) > 1e-6 * (1 + ($ended * 0.001))
	   then wrong("cpu of rows \([.processes[].cpu_seconds] | add) != \($u.cpu_seconds)") else empty end),
	  (.processes[] | select(.running and (.exit_code != null or .exit_signal != null))
	     | wrong("\(.pid) runs and has ended")),
	  (.processes[] | select(.exit_signal != null and .exit_code != null)
	     | wrong("\(.pid) has a code and a signal")),
	  (.processes[] | select(.started != null and .ended != null and .started > .ended)
	     | wrong("\(.pid) ended before it started")),
	  (.. | numbers | select(isnan or isinfinite) | wrong("a number that is none"))
	' "$1"
}

# journal_agrees JOURNAL SUMMARY: the spine says what the summary says
journal_agrees() {
	# shellcheck disable=SC2016
	faults -n --slurpfile sum "$2" --argjson cpus "$(nproc --all)" '
	def wrong(what): "journal: \(what)";
	reduce inputs as $l ({ n: 0, rows: 0, running: 0, cpu: 0, bad: [], last: null, first: null };
	    .n += 1 | .last = $l.event | .first = (.first // $l.event)
	    | if $l.event == "process" then (if $l.running then .running += 1 else .rows += 1 end)
	      elif $l.event == "sample" and $l.run == null then
	        (if $l.cpu_seconds != null and $l.cpu_seconds < .cpu
	         then .bad += ["cpu fell to \($l.cpu_seconds) from \(.cpu)"] else . end)
	        | .cpu = ([.cpu, $l.cpu_seconds // 0] | max)
	        | (if $l.lower_bytes != null and $l.upper_bytes != null and $l.lower_bytes > $l.upper_bytes
	           then .bad += ["a sample: lower \($l.lower_bytes) > upper \($l.upper_bytes)"] else . end)
	        | (if $sum[0].completeness.exact and $l.rss_bytes != null and $l.rss_bytes > $sum[0].usage.peak_rss_upper_bytes
	           then .bad += ["a sample: rss \($l.rss_bytes) > upper \($sum[0].usage.peak_rss_upper_bytes)"] else . end)
	        | (if $l.cpus != null and $l.cpus > $cpus + 0.005
	           then .bad += ["a sample: \($l.cpus) cores on a machine of \($cpus)"] else . end)
	      else . end)
	| (.bad[:5][] | wrong(.)),
	  (if .first != "run_start" then wrong("begins with \(.first)") else empty end),
	  (if .last != "summary" then wrong("ends with \(.last)") else empty end),
	  (if $sum[0].source.exits != "proc" and .rows + $sum[0].completeness.events_lost != $sum[0].completeness.exits
	   then wrong("rows \(.rows) + lost \($sum[0].completeness.events_lost) != exits \($sum[0].completeness.exits)") else empty end),
	  (if $sum[0].usage.cpu_seconds != null and .cpu > $sum[0].usage.cpu_seconds + 1e-9
	   then wrong("a sample has cpu \(.cpu), the end \($sum[0].usage.cpu_seconds)") else empty end)
	' "$1"
}

# LeakSanitizer traces, which a test that refuses ptrace() or descriptors takes away from it.
no_leak_check() {
	export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
}
