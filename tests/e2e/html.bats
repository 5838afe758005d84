#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031
# The HTML report: its data is the journal's, and no journal can make it do anything else.

load helpers

# page JOURNAL [STATUS]: its page as page.html, and the data of that as data.json
page() {
	status=0
	"$EXITMETER" report "$1" -q --html page.html 2>err || status=$?
	cat -v err
	! grep -q 'built without npm' err || skip "elsewhere: built without npm"
	same status "$status" "${2:-0}"
	/usr/bin/python3 "$ROOT/tests/e2e/page.py" --data page.html >data.json
}

# agrees JOURNAL: the page's data with it; and no page reaches outside
agrees() {
	/usr/bin/python3 "$ROOT/tests/e2e/page.py" page.html "$1"
}

# data FILTER: of the page's data
data() {
	jq -r "$1" data.json
}

@test "html: the page has every row, sample and figure of the journal" {
	meter -i 0.05 --label 'a=<b>' -- sh -c '"$EXITMETER" span build -- "$WORK/hold" populate=20 burn=60
		seq 60 | xargs -n1 /bin/true; "$EXITMETER" span "<last>"
		sh -c "kill -9 \$\$"; sleep 0.2; sleep 9 & exit 3' || true
	page run.journal
	agrees run.journal
	[ "$SOURCE" = proc ] || same rows "$(data '.processes.rows | length')" "$(jq '.processes | length' sum.json)"
	same phase "$(data '.summary.phases[0].name')" '<last>'
	same attempt "$(data '.summary.attempts[0].id')" build
	same others "$(data '.others.processes')" 0
}

@test "html: --html on a run is the page of its journal" {
	status=0
	"$EXITMETER" -q --source="$SOURCE" --journal run.journal --html after.html -- sh -c 'exit 4' \
		2>err || status=$?
	cat err
	same status "$status" 4
	page run.journal
	cmp page.html after.html
	"$EXITMETER" report - -q --html - <run.journal | cmp page.html -
	"$EXITMETER" report -q --html fd:5 run.journal 5>fd.html
	cmp page.html fd.html
}

@test "html: names and arguments of any kind stay text" {
	meter -- true
	/usr/bin/python3 - run.journal >hostile.journal <<-'PY'
		import json, sys
		lines = [json.loads(line) for line in open(sys.argv[1])]
		row = next(line for line in lines if line["event"] == "process")
		names = ["</script>", "<!--<script>", "'\"`${1}", "\\u003c/b>", "a\u001b[31m\u0007",
		         "\u202ecod\u202c", "\u05d0\u05d1", "]]>&lt;", "\u2028\u2029", "{a|b}{c}", "=1+1", "",
		         "<img src=x>", "\x7f\u0085", "\U0001f600\U0001f600"]
		for line in lines:
		    if line["event"] in ("run_start", "summary"):
		        line["run"]["command"] = ["<script>alert(1)</script>", *names]
		        line["run"]["cwd"] = "/</title><b>"
		        line["run"]["labels"] = {"</script><svg onload=a>": "\u202e"}
		        line["env"]["cpu_model"] = "<b onclick=a>"
		    if line["event"] == "summary":
		        line["completeness"]["reasons"] = ["<i>", "\u0000"][:1]
		        line["at_peak"] = [{"pid": 1, "comm": "</script>", "rss_bytes": 5}]
		        line["groups"] = [{"comm": "</script>", "processes": 1, "cpu_seconds": 1, "peak_rss_bytes": 1}]
		        line["phases"] = [{"name": "</script><script>x", "at": 0, "ended": None, "rss_bytes": 1,
		                           "usage": {"peak_rss_bytes": 1, "cpu_seconds": 0, "peak_cpus": None}}]
		    if line["event"] != "process":
		        print(json.dumps(line))
		        continue
		    for i, name in enumerate(names):
		        print(json.dumps({**row, "pid": 100 + i, "comm": name, "argv": [name, *names, "x" * 10000]}))
	PY
	page hostile.journal
	"$EXITMETER" report run.journal -q --html plain.html
	same "ends of elements" "$(grep -c '</script' page.html)" "$(grep -c '</script' plain.html)"
	# the summary's are changed where the reader drops what no summary has; rows and safety are checked
	/usr/bin/python3 "$ROOT/tests/e2e/page.py" page.html hostile.journal | tee faults || true
	same "faults" "$(grep -v 'the summary is not' faults)" ""
	same "a name" "$(data '.processes.names[] | select(startswith("</"))')" '</script>'
	same "a phase" "$(data '.summary.phases[0].name')" '</script><script>x'
	same "the command" "$(data '.summary.run.command[0]')" '<script>alert(1)</script>'
	[ "$(data '[.processes.arguments[][] | length] | max')" -le 10000 ]
	[ "$(data '[.processes.arguments[] | add | length] | min')" -ge 1000 ]
}

@test "html: of many processes the largest have rows, the others are counted" {
	meter -- true
	/usr/bin/python3 - run.journal >many.journal <<-'PY'
		import json, sys
		for text in open(sys.argv[1]):
		    line = json.loads(text)
		    if line["event"] == "summary":
		        line["run"]["wall_seconds"] = 100
		    if line["event"] != "process":
		        print(json.dumps(line))
		        continue
		    for i in range(5600):
		        # from 5000 on the smallest; of these the first 20 fail, the next 30 take the most CPU
		        print(json.dumps({**line, "pid": 10 + i, "peak_rss_bytes": 10**7 - i,
		                          "started": i % 50, "ended": i % 50 + 0.5,
		                          "exit_code": int(5000 <= i < 5020),
		                          "cpu_seconds": 9 if 5020 <= i < 5050 else 0.001}))
	PY
	page many.journal
	agrees many.journal
	same rows "$(data '.processes.rows | length')" 5000
	same "others" "$(data '.others.processes')" 600
	same "that failed" "$(data '[.processes | (.columns | index("status")) as $c | .rows[] | select(.[$c] == 1)] | length')" 20
	same "with much CPU" "$(data '[.processes | (.columns | index("cpu_us")) as $c | .rows[] | select(.[$c] == 9e6)] | length')" 30
	same "CPU of the others" "$(data '.others.cpu_us')" 600000
	same "the others end half-way" "$(data '.others.alive | [(.[:200] | add > 0), (.[204:] | add)] | join(" ")')" "true 0"
	[ "$(wc -c <page.html)" -lt 1700000 ]
}

@test "html: a page of 3,000 processes is small" {
	exits_needed "a row of each"
	"$EXITMETER" -q --source="$SOURCE" --journal run.journal -- \
		sh -c 'i=0; while [ $i -lt 1000 ]; do a=$(echo $i | sed s/1/2/); i=$((i + 1)); done'
	page run.journal
	agrees run.journal
	[ "$(data '.processes.rows | length')" -ge 3000 ]
	echo "bytes: $(wc -c <page.html)"
	[ "$(wc -c <page.html)" -le 1200000 ]
	# with arguments of their own each, as many and as long as are kept
	jq -c 'if .event == "process" then .pid as $pid | .argv = [range(400) | "-D\(.)=\($pid)"] else . end' \
		run.journal | head -n 3001 >long.journal
	page long.journal 1
	agrees long.journal
	[ "$(data '.processes.rows | length')" -ge 2900 ]
	echo "bytes: $(wc -c <page.html)"
	[ "$(wc -c <page.html)" -le 1200000 ]
	[ "$(data '[.processes.arguments[] | add | length] | min')" -ge 40 ]
}

@test "html: the proportional share, where it was read" {
	meter --pss -i 0.05 -- sh -c '"$WORK/hold" populate=30 burn=300'
	page run.journal
	agrees run.journal
	same "the largest" "$(data '[.samples | (.columns | index("pss_bytes")) as $c | .points[][$c] // 0] | max')" \
		"$(jq -s '[.[] | select(.event == "sample") | .pss_bytes // 0] | max' run.journal)"
}

@test "html: a journal that was cut off says so on its page" {
	meter -i 0.05 -- sh -c 'sleep 0.3; true'
	sed '$d' run.journal | head -c -20 >cut.journal
	page cut.journal 1
	agrees cut.journal
	same "cut off" "$(data .summary.cut_off)" true
	same wall "$(data .summary.run.wall_seconds)" null
}

@test "html: without npm the rest is made, and one line says what is missing" {
	meter -- true
	status=0
	"$EXITMETER" report run.journal -q --html page.html --json again.json 2>err || status=$?
	[ -s err ] || skip "elsewhere: built with npm"
	one_line err
	same status "$status" 125
	[ ! -e page.html ]
	cmp sum.json again.json
}
