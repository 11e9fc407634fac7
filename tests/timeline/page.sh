#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# page.sh SAMPLE PATCHBAY: the page of 100,000 packets in a browser. The page zooms, moves, searches and measures by
# itself (#selftest), and the results are compared with `patchbay trace decode`. Drawing cost is counted in rectangles.
# shellcheck source=scripts/lib.sh disable=SC2154
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib.sh"

sample=$1 patchbay=$2
packets=100000
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# browse HEIGHT MILLISECONDS URL ARGUMENT...: the page after so long on its own clock, in $work/dom; messages in $work/log.
browse() {
	local height=$1 budget=$2 url=$3
	shift 3
	HOME=$work timeout "$patience" chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
		--user-data-dir="$work/profile" --window-size="1440,$height" --virtual-time-budget="$budget" "$@" \
		--dump-dom "$url" >"$work/dom" 2>"$work/log"
}

read -r render present _ preempted _ < <("$sample" "$packets" "$work/sample.trace" waits)
"$patchbay" trace export --html "$work/page.html" "$work/sample.trace"
browse 600 10000 "file://$work/page.html#selftest" --enable-logging=stderr

if grep CONSOLE "$work/log"; then
	echo "the browser reports an error" >&2
	exit 1
fi
sed -n '/^begin-of-report$/,/^end-of-report$/{//!p}' "$work/dom" | sed 's/&amp;/\&/g' >"$work/report"

failed=0
# want WHAT CONDITION: an awk expression in which v["name"] is a value of the page's report.
want() {
	if ! awk -v packets="$packets" -v render="$render" "{ name = \$1; value = \$2; sub(/^[^ ]+ /, \"\"); v[name] = value ~ /^[-0-9.]+\$/ && NF == 1 ? value + 0 : \$0 }
		function near(a, b) { return a - b < 0.001 * b + 1 && b - a < 0.001 * b + 1 } END { exit !($2) }" "$work/report"; then
		echo "failed: $1: $2" >&2
		failed=1
	fi
}

want "all is shown" 'v["all.begin"] == 0 && v["all.end"] == v["duration"] && v["duration"] > 1000000'
order=''
for n in 0 1 2 3; do
	order+=" node $n:"
	for c in 1 2 3; do
		order+=" channel $c, queue 0x$(printf '%08x' $((0x10000 + 4 * (c - 1) + n)))"
	done
done
want "each node is followed by its queues" "v[\"order\"] == \"${order# }\""
want "idle lanes are hidden" 'v["all.lanes"] == 16 && v["compact.lanes"] < 16 && v["compact.lanes"] == v["compact.active"]'
want "eight steps of the wheel" 'near(v["zoomed.end"] - v["zoomed.begin"], v["duration"] * 1.002 ^ -4000)'
want "the point under the pointer stays" 'near((v["zoomed.end"] + v["zoomed.begin"]) / 2, v["duration"] / 2)'
want "dragged to the left" 'near(v["moved.begin"], v["zoomed.begin"] + 100 / v["width"] * (v["zoomed.end"] - v["zoomed.begin"]))'
want "the range stays" 'near(v["moved.end"] - v["moved.begin"], v["zoomed.end"] - v["zoomed.begin"])'
want "a fence is found" 'v["found.fence"] ~ /^0x/ && v["found.begin"] <= v["found.at"] && v["found.at"] <= v["found.end"]'
want "and described" 'index(v["tip"], "fence " v["found.fence"] " ") > 0 && v["tip"] ~ / running /'
want "a quarter is selected" 'near(v["selected.range.0"], v["duration"] / 4) && near(v["selected.range.1"], v["duration"] / 2)'
want "a kind is hidden" 'v["hidden.count"] == packets - render'
want "names scroll" 'v["all.scroll"] == 0 && v["scrolled.scroll"] > 30'
# Without a level of detail: two bars and more of each packet.
want "few rectangles for all" 'v["all.rectangles"] > 1000 && v["all.rectangles"] < 16000'
want "fewer for a part" 'v["zoomed.rectangles"] > 100 && v["zoomed.rectangles"] < 3000'

# Computed from the decoded trace: what ended in the selection, and the median of its patching time.
read -r from to < <(awk '$1 == "selected.range.0" { from = $2 } $1 == "selected.range.1" { print from, $2 }' "$work/report")
"$patchbay" trace decode "$work/sample.trace" >"$work/decoded"
read -r count half < <(awk -v from="$from" -v to="$to" '
	{ split($1, at, "."); t = at[1] * 1000000 + at[2] }
	$2 == "PATCH" { patch[$6] = t }
	$2 == "PATCHED" { patched[$6] = t - patch[$6] }
	$2 == "RETURN" && t >= from && t <= to { count++ }
	$2 == "COMPLETE" && t >= from && t <= to { count++; if ($6 in patched) { sum[patched[$6]]++; n++ } }
	END { for (part = 0; seen < n / 2; part++) seen += sum[part]; print count, part - 1 }' "$work/decoded")
want "submissions that ended there are counted" "v[\"selected.measured.count\"] == $count && $count > packets / 8"
want "half of the patching" "near(v[\"selected.measured.parts.patching.0\"], $half)"
want "preempted submissions are counted" "v[\"selected.measured.counts.3\"] > 0 && v[\"selected.measured.counts.3\"] < $preempted"
# Of all queues at a moment: what was submitted, less what has ended.
while read -r at depth; do
	want "the depth at $at us" "v[\"depth.$at\"] == $depth"
done < <(awk 'FNR == NR { if (sub(/^depth\./, "", $1)) moments[++n] = $1; next }
	{ split($1, at, "."); t = at[1] * 1000000 + at[2] }
	$2 == "SUBMIT" || $2 == "COMPLETE" || $2 == "RETURN" {
		for (i = 1; i <= n; i++) if (t <= moments[i] + 0) depth[i] += $2 == "SUBMIT" ? 1 : -1 }
	END { for (i = 1; i <= n; i++) print moments[i], depth[i] + 0; if (n != 20) print "none", 1 }' "$work/report" "$work/decoded")
want "packets are stacked" 'v["stacked"] == "true"'
# A signal is the last end in the queue that was waited for; the packet that goes on is the next one that is patched or fed.
wakes=$(awk '$2 == "WAKE" { pending[$4]++ }
	$2 == "PATCH" || $2 == "FEED" { if ($2 == "PATCH" || !($6 in seen)) { count += pending[$4]; pending[$4] = 0 } seen[$6] = 1 }
	END { print count }' "$work/decoded")
want "signals lead to packets" "v[\"wakes\"] == $wakes && $wakes > packets / 25"
want "arrows are drawn" 'v["arrows"] >= 1 && v["signal"] ~ /^paging 0x/'
want "each present ends a frame" "v[\"frames\"] == $present"
want "no label repeats" 'v["ticks.repeated"] == 0 && v["ticks.least"] >= 2'
want "a link keeps the view" 'v["link.again"] == v["link.first"] && v["link.back"] == "true"'
want "and says all of it" 'v["link.first"] == "#1234.5-2345.25&hide=failed&compact&packet=7&measure=1000-2500.5&dark"'
want "dark is dark" 'v["link.dark"] == "rgb(22, 27, 33)"'
# The frames that two programs have marked: a line through a lane of its host for each, also of those without a label.
"$sample" 2000 "$work/small.trace" >"$work/small"
python3 "$(dirname "$0")/frames.py" "$work/small.trace" "$work/host"
"$patchbay" trace import "$work/small.trace" "$work/host" "$work/joined.trace" >"$work/imported"
"$patchbay" trace export --html "$work/frames.html" "$work/joined.trace"
browse 900 10000 "file://$work/frames.html#selftest" --enable-logging=stderr
if grep CONSOLE "$work/log" || ! grep -qx 'marked 60' "$work/dom" || ! grep -qx 'lines 60' "$work/dom"; then
	echo "failed: frames of hosts" >&2
	sed -n '/^begin-of-report$/,/^end-of-report$/p' "$work/dom" >&2
	failed=1
fi
# The link is opened anew.
browse 600 3000 "file://$work/page.html$(awk '$1 == "link.first" { print $2 }' "$work/report")"
grep -q '<html lang="en" class="dark">' "$work/dom" && grep -q '<h2>Selection: 1.500 ms</h2>' "$work/dom" &&
	grep -q '<button id="idle" class="on">' "$work/dom" || { echo "failed: a link that is opened" >&2; failed=1; }
((failed == 0)) || cat "$work/report" >&2
exit "$failed"
