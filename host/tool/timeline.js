// SPDX-License-Identifier: MIT
"use strict";
// The program of timeline.html. All times are microseconds since the first record.

const data = JSON.parse(document.getElementById("data").textContent);
// Fields of a packet's row; null: not in the trace.
const [KIND, LANE, NODE, CONTEXT, FENCE, ERROR, PATCHES, FEEDS, SUBMIT, PATCH, PATCHED, FEED, RUN, END] = Array(14).keys();
// Fields of a queue's row; null: not in the trace.
const [NAME, CHANNEL, HANDLE, ON, PRIORITY] = Array(5).keys();
// Drawing order within a pixel: failures first, else the first packet.
const KINDS = [["render", "#3f7cc9"], ["present", "#1f9e8f"], ["paging", "#e0a021"], ["preempted", "#8e5bc0"], ["failed", "#d0392b"], ["open", "#7d8794"]];
const MARKS = [["interrupt", "#58a06a"], ["preemption", "#8e5bc0"], ["reset", "#d0602b"], ["error", "#b3123f"], ["other", "#7d8794"]];
const hex = n => "0x" + n.toString(16);
// DDI calls of a WDDM kernel, and events of a Linux guest: time, name, lane, fence id of a packet, id of a preemption,
// NTSTATUS or error. They are marks, too.
const [AT, CALL, CALL_LANE, CALL_FENCE, CALL_ID, STATUS] = Array(6).keys();
if (data.calls.length) MARKS.push(["host", "#0f7fa8"]);
for (const c of data.calls)
	data.marks.push([c[AT], MARKS.length - 1, c[CALL] + (c[CALL_FENCE] !== null ? " fence " + hex(c[CALL_FENCE]) : "") + (c[CALL_ID] !== null ? " preemption " + c[CALL_ID] : "") + (c[STATUS] ? " status " + hex(c[STATUS]) : ""), c[CALL_LANE], null]);
if (data.calls.length) data.marks.sort((a, b) => a[0] - b[0]);
const PATCHING = "#16202c", INK = "#1c2733", SOFT = "#5a6875", LINE = "#e3e8ed", GROUND = "#1c27330a";
// Sizes in pixels: column of names, overview, axis, row of a lane, row of a group of marks.
const NAMES = 196, INDENT = 12, OVERVIEW = 34, AXIS = 22, TOP = OVERVIEW + AXIS, ROW = 14, GAP = 7, TICK = 6, ROWS_MAX = 8;
// Bars narrower than this are drawn without parts.
const DETAIL = 3;

const byId = id => document.getElementById(id);
const canvas = byId("view"), context = canvas.getContext("2d");
const hidden = new Set();
let begin = 0, end = Math.max(data.duration, 1), scroll = 0, chosen = null, pointed = null, selection = null;
let drag = null, wanted = false, rectangles = 0, tall = 0, compact = false, shown = [];

const first = p => p[SUBMIT] ?? p[PATCH] ?? p[FEED] ?? p[END];
const escaped = text => text.replace(/[&<>]/g, c => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c]);

function time(t) {
	const size = Math.abs(t);
	return size >= 1e6 ? (t / 1e6).toFixed(3) + " s" : size >= 1e3 ? (t / 1e3).toFixed(3) + " ms" : t.toFixed(t % 1 ? 1 : 0) + " \u00b5s";
}

// ---- lanes ----

// Sorts bars by start, puts overlapping ones in different rows, and computes the largest end up to each bar.
function makeLane(name, detail, packets, from, mid) {
	const order = packets.sort((a, b) => from(a) - from(b)), count = order.length, free = [];
	const lane = { name, detail, packets: order, from: new Float64Array(count), mid: new Float64Array(count), to: new Float64Array(count), reach: new Float64Array(count), row: new Uint8Array(count), y: 0, marks: [] };
	let reach = -Infinity;
	order.forEach((p, i) => {
		lane.from[i] = from(p);
		lane.mid[i] = mid(p);
		lane.to[i] = p[END];
		lane.reach[i] = reach = Math.max(reach, p[END]);
		let row = free.findIndex(t => t <= lane.from[i]);
		if (row < 0) row = Math.min(free.length, ROWS_MAX - 1);
		free[row] = p[END];
		lane.row[i] = row;
	});
	lane.rows = Math.max(free.length, 1);
	lane.height = lane.rows * ROW;
	return lane;
}

function groupBy(key, packets) {
	const groups = new Map();
	for (const p of packets) {
		if (!groups.has(p[key])) groups.set(p[key], []);
		groups.get(p[key]).push(p);
	}
	return [...groups.entries()].sort((a, b) => a[0] - b[0]);
}

// Lanes: each node, and below it its queues, which data.lanes has in that order. Queues of an unknown node come last.
function makeLanes() {
	const nodes = new Map(groupBy(NODE, data.packets.filter(p => p[FEED] !== null && p[NODE] !== null)));
	const packets = new Map(groupBy(LANE, data.packets)), byNode = new Map(), byQueue = new Map(), lanes = [];
	for (const n of [...new Set([...nodes.keys(), ...data.lanes.map(q => q[ON])])].sort((a, b) => (a ?? Infinity) - (b ?? Infinity))) {
		byNode.set(n, makeLane(n === null ? "node unknown" : `node ${n}`, n === null ? "" : "its ring", nodes.get(n) ?? [], p => p[FEED], p => p[RUN] ?? p[END]));
		lanes.push(byNode.get(n));
		data.lanes.forEach((q, i) => {
			if (q[ON] !== n) return;
			byQueue.set(i, makeLane(q[NAME].replace(/ \(node .*/, ""), "", packets.get(i) ?? [], first, p => p[RUN] ?? p[END]));
			byQueue.get(i).whole = true;
			lanes.push(byQueue.get(i));
		});
	}
	for (const m of data.marks) (m[3] !== null ? byQueue.get(m[3]) : byNode.get(m[4]))?.marks.push(m);
	return lanes;
}
const lanes = makeLanes();

// Computes the load of the nodes in each part of the trace, and where packets failed.
function makeOverview() {
	const bins = 600, busy = new Float64Array(bins), failed = new Uint8Array(bins), size = Math.max(data.duration, 1) / bins;
	const nodes = Math.max(lanes.filter(l => !l.whole).length, 1);
	for (const p of data.packets) {
		if (p[KIND] === 4) failed[Math.min(Math.floor(p[END] / size), bins - 1)] = 1;
		if (p[RUN] === null) continue;
		for (let b = Math.floor(p[RUN] / size); b < bins && b * size < p[END]; b++)
			busy[b] += (Math.min(p[END], (b + 1) * size) - Math.max(p[RUN], b * size)) / size / nodes;
	}
	return { busy, failed };
}
const overview = makeOverview();

// ---- drawing ----

const width = () => Math.max(canvas.clientWidth - NAMES, 1);
const toX = t => NAMES + (t - begin) / (end - begin) * width();
const toTime = x => begin + (x - NAMES) / width() * (end - begin);

function fill(colour, x, y, w, h) {
	context.fillStyle = colour;
	context.fillRect(x, y, w, h);
	rectangles++;
}

// Returns the index of the first element of a sorted list that is not below a value.
function search(list, value) {
	let low = 0, high = list.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (list[middle] < value) low = middle + 1; else high = middle;
	}
	return low;
}

// Draws a packet with its parts: light while it waits, full while the engine runs it; below, the time of patching.
function drawBar(lane, i, y, left, right) {
	const p = lane.packets[i], colour = KINDS[p[KIND]][1], from = Math.max(left, NAMES), to = Math.min(right, NAMES + width());
	const run = Math.min(Math.max(toX(lane.mid[i]), from), to), fed = p[FEED] === null ? to : Math.min(Math.max(toX(p[FEED]), from), run);
	context.globalAlpha = .22;
	if (fed > from) fill(colour, from, y, fed - from, ROW - 2);
	context.globalAlpha = .45;
	if (run > fed) fill(colour, fed, y, run - fed, ROW - 2);
	context.globalAlpha = 1;
	if (to > run) fill(colour, run, y, to - run, ROW - 2);
	if (lane.whole && p[PATCH] !== null && p[PATCHED] !== null) {
		const at = Math.max(toX(p[PATCH]), NAMES);
		fill(PATCHING, at, y + ROW - 5, Math.max(Math.min(toX(p[PATCHED]), to) - at, 1), 3);
	}
	if (right <= NAMES + width()) fill(INK, right - 1, y, 1, ROW - 2); // its fence
	if (to - run > 44 || run - from > 44) {
		context.fillStyle = to - run > 44 ? "#fff" : INK;
		context.fillText(hex(p[FENCE]), (to - run > 44 ? run : from) + 3, y + 9.5, (to - run > 44 ? to - run : run - from) - 6);
	}
	if (p === chosen || p === pointed) {
		context.strokeStyle = INK;
		context.lineWidth = p === chosen ? 2 : 1;
		context.strokeRect(from - .5, y - 1, to - from + 1, ROW);
	}
}

// Joins adjacent narrow bars of a row that have one colour.
class Runs {
	constructor(y) { this.y = y; this.to = this.from = -1; this.kind = 0; }
	flush() {
		if (this.to > this.from) fill(KINDS[this.kind][1], this.from, this.y, this.to - this.from, ROW - 2);
		this.from = this.to;
	}
	add(from, to, kind) {
		if (from < this.to && (kind <= this.kind || kind <= 2)) from = Math.min(this.to, to);
		if (from >= to) return;
		if (from > this.to || kind !== this.kind) {
			this.to = Math.min(this.to, Math.max(from, this.from));
			this.flush();
			this.from = from;
			this.kind = kind;
		}
		this.to = to;
	}
}

// Tells whether a lane has a packet in the part of the trace that is shown.
function isActive(lane) {
	const i = search(lane.reach, begin);
	return i < lane.packets.length && lane.from[i] <= end;
}

function drawLane(lane, y) {
	const runs = Array.from({ length: lane.rows }, (_, row) => new Runs(y + row * ROW)), right_ = NAMES + width();
	fill(GROUND, NAMES, y - 2, width(), lane.height + 2);
	for (let i = search(lane.reach, begin); i < lane.packets.length && lane.from[i] <= end; i++) {
		const p = lane.packets[i], row = lane.row[i];
		if (lane.to[i] < begin || hidden.has(KINDS[p[KIND]][0])) continue;
		const left = toX(lane.from[i]), right = Math.max(toX(lane.to[i]), left + 1);
		if (right - left < DETAIL && p !== chosen) {
			runs[row].add(Math.max(Math.floor(left), NAMES), Math.min(Math.max(Math.ceil(right), Math.floor(left) + 1), right_), p[KIND]);
		} else {
			runs[row].flush();
			drawBar(lane, i, y + row * ROW, left, right);
		}
	}
	for (const run of runs) run.flush();
	let last = -1;
	for (const m of lane.marks) {
		const x = Math.round(toX(m[0]));
		if (m[1] === 4 || x < NAMES || x > right_ || x === last || hidden.has(MARKS[m[1]][0])) continue;
		fill(MARKS[m[1]][1], last = x, y - 5, 2, 5);
	}
}

// Draws all marks, one row for each group.
function drawMarks(y) {
	const last = MARKS.map(() => -1);
	fill(GROUND, NAMES, y - 2, width(), MARKS.length * TICK + 2);
	for (let i = search(markTimes, begin); i < data.marks.length && markTimes[i] <= end; i++) {
		const group = data.marks[i][1], x = Math.round(toX(markTimes[i]));
		if (x === last[group] || hidden.has(MARKS[group][0])) continue;
		fill(MARKS[group][1], last[group] = x, y + group * TICK, 2, TICK - 1);
	}
}
const markTimes = Float64Array.from(data.marks, m => m[0]);

// Draws the axis with round times, about 100 pixels apart.
function ticks() {
	const least = (end - begin) / (width() / 100), ten = 10 ** Math.floor(Math.log10(least)), list = [];
	const step = [1, 2, 5, 10].map(n => n * ten).find(n => n >= least);
	for (let i = Math.ceil(begin / step); i * step <= end; i++) list.push(Number((i * step).toPrecision(12)));
	return list;
}

function drawAxis() {
	fill("#fff", NAMES, OVERVIEW, width(), AXIS);
	for (const t of ticks()) {
		fill(LINE, Math.round(toX(t)), OVERVIEW + 4, 1, AXIS - 4);
		context.fillStyle = SOFT;
		context.fillText(time(t).replace(/^[-.\d]+/, n => parseFloat(n)), toX(t) + 4, OVERVIEW + 15);
	}
}

function drawOverview() {
	const bins = overview.busy.length, w = width() / bins, all = Math.max(data.duration, 1);
	fill("#fff", 0, 0, NAMES + width(), OVERVIEW);
	for (let b = 0; b < bins; b++) {
		const tall = Math.min(overview.busy[b], 1) * (OVERVIEW - 8);
		if (tall > .3) fill("#a9bdd3", NAMES + b * w, OVERVIEW - 4 - tall, w + .5, tall);
		if (overview.failed[b]) fill(KINDS[4][1], NAMES + b * w, OVERVIEW - 6, w + .5, 3);
	}
	const from = NAMES + Math.max(begin / all, 0) * width(), to = NAMES + Math.min(end / all, 1) * width();
	context.strokeStyle = "#2463b0";
	context.lineWidth = 2;
	context.strokeRect(from, 2, Math.max(to - from, 3), OVERVIEW - 4);
}

function drawNames(height) {
	let y = TOP + GAP - scroll;
	fill("#fff", 0, OVERVIEW, NAMES, height);
	context.fillStyle = SOFT;
	context.fillText("events", 12, y + 10);
	y += MARKS.length * TICK + GAP;
	for (const lane of shown) {
		context.fillStyle = INK;
		context.fillText(lane.name, lane.whole ? 2 * INDENT : INDENT, y + 10, NAMES - 2 * INDENT - 4);
		context.fillStyle = SOFT;
		context.fillText(lane.detail, 90, y + 10, NAMES - 94);
		y += lane.height + GAP;
	}
	fill("#fff", 0, 0, NAMES, TOP);
	context.fillStyle = SOFT;
	context.fillText("busy", 12, OVERVIEW - 12);
}

function draw() {
	const ratio = devicePixelRatio, w = canvas.clientWidth, h = canvas.clientHeight;
	wanted = false;
	rectangles = 0;
	if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
		canvas.width = Math.round(w * ratio);
		canvas.height = Math.round(h * ratio);
	}
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	context.clearRect(0, 0, w, h);
	context.font = "11px system-ui, 'Liberation Sans', sans-serif";
	for (const lane of lanes) lane.y = -1e9;
	shown = compact ? lanes.filter(isActive) : lanes;
	tall = MARKS.length * TICK + GAP + shown.reduce((sum, lane) => sum + lane.height + GAP, GAP);
	scroll = Math.max(Math.min(scroll, tall - (h - TOP)), 0);
	for (const t of ticks()) fill(LINE, Math.round(toX(t)), TOP, 1, h);
	let y = TOP + GAP - scroll;
	drawMarks(y);
	y += MARKS.length * TICK + GAP;
	for (const lane of shown) {
		lane.y = y;
		if (y + lane.height >= TOP && y < h) drawLane(lane, y);
		y += lane.height + GAP;
	}
	drawSelection(h);
	drawAxis();
	drawNames(h);
	drawOverview();
	if (tall > h - TOP) fill("#c3ccd6", w - 6, TOP + scroll / tall * (h - TOP), 5, (h - TOP) ** 2 / tall);
}
const redraw = () => { if (!wanted) { wanted = true; requestAnimationFrame(draw); } };

function drawSelection(height) {
	if (!selection) return;
	const from = toX(selection[0]), to = toX(selection[1]);
	fill("#2463b01c", from, TOP, to - from, height);
	fill("#2463b0", from, TOP, 1, height);
	fill("#2463b0", to, TOP, 1, height);
}

// ---- hit test ----

function packetAt(x, y) {
	if (x < NAMES || y < TOP) return null;
	const lane = lanes.find(l => y >= l.y && y < l.y + l.height), slack = 1.5 * (end - begin) / width();
	if (!lane) return null;
	const t = toTime(x), row = Math.floor((y - lane.y) / ROW);
	let best = null, distance = slack;
	for (let i = search(lane.reach, t - slack); i < lane.packets.length && lane.from[i] <= t + slack; i++) {
		const off = Math.max(lane.from[i] - t, t - lane.to[i], 0);
		if (lane.row[i] !== row || off > distance || hidden.has(KINDS[lane.packets[i][KIND]][0])) continue;
		best = lane.packets[i];
		distance = off;
	}
	return best;
}

function markAt(x, y) {
	const group = Math.floor((y - (TOP + GAP - scroll)) / TICK), slack = 3 * (end - begin) / width(), t = toTime(x);
	if (x < NAMES || y < TOP) return null;
	const near = m => Math.abs(m[0] - t) <= slack && !hidden.has(MARKS[m[1]][0]);
	if (group >= 0 && group < MARKS.length) {
		for (let i = search(markTimes, t - slack); i < data.marks.length && markTimes[i] <= t + slack; i++)
			if (data.marks[i][1] === group && near(data.marks[i])) return data.marks[i];
	}
	return lanes.find(l => y >= l.y - 2 && y < l.y + l.height)?.marks.find(m => m[1] !== 4 && near(m)) ?? null;
}

// Returns a table of names and values.
function describe(p) {
	const span = (name, from, to) => [name, from === null || to === null ? null : time(to - from)];
	const q = data.lanes[p[LANE]], handle = q[HANDLE] === null ? "unknown" : "0x" + q[HANDLE].toString(16).padStart(8, "0");
	return [["fence", hex(p[FENCE])], ["channel", q[CHANNEL] ?? "unknown"], ["queue", handle], ["priority", q[PRIORITY]], ["node", p[NODE] ?? "unknown"], ["context", p[CONTEXT]],
		["error", p[ERROR] ? data.errors[p[ERROR]] ?? p[ERROR] : null], ["patches", p[PATCH] === null ? null : p[PATCHES]],
		["given to the engine", p[FEEDS] > 1 ? p[FEEDS] + " times" : null], ["seen at", time(first(p))],
		span("until patched", p[SUBMIT], p[PATCH]), span("patching", p[PATCH], p[PATCHED]), span("in the ring", p[FEED], p[RUN] ?? p[END]),
		span("running", p[RUN], p[END]), ["in all", time(p[END] - first(p))], ...callsOf(p)].filter(([, value]) => value !== null);
}

// Returns the DDI calls and guest events of a packet, with their times from its first record.
function callsOf(p) {
	return data.calls.filter(c => c[CALL_LANE] === p[LANE] && c[CALL_FENCE] === p[FENCE]).map(c => [c[CALL], time(c[AT] - first(p))]);
}

const rows = pairs => pairs.map(([name, value]) => `<tr><td>${escaped(name)}<td>${escaped(String(value))}`).join("");

function showPacket() {
	byId("packet").innerHTML = chosen ? `<h2>${KINDS[chosen[KIND]][0]} packet</h2><table>${rows(describe(chosen))}</table>` : "";
}

// Statistics of the packets that ended in a range: number, durations, and run time of each node.
function measure(from, to) {
	const counts = KINDS.map(() => 0), latency = [], waiting = [], patching = [], running = [], busy = new Map();
	for (const p of data.packets) {
		if (p[RUN] !== null) busy.set(p[NODE], (busy.get(p[NODE]) ?? 0) + Math.max(Math.min(p[END], to) - Math.max(p[RUN], from), 0));
		if (p[END] < from || p[END] > to || hidden.has(KINDS[p[KIND]][0])) continue;
		counts[p[KIND]]++;
		latency.push(p[END] - first(p));
		if (p[RUN] !== null) running.push(p[END] - p[RUN]);
		if (p[RUN] !== null) waiting.push(p[RUN] - first(p));
		if (p[PATCH] !== null && p[PATCHED] !== null) patching.push(p[PATCHED] - p[PATCH]);
	}
	const part = list => [.5, .9, .99, 1].map(q => list[Math.max(Math.ceil(q * list.length) - 1, 0)] ?? null);
	const parts = { latency, waiting, patching, running };
	for (const name in parts) parts[name] = part(Float64Array.from(parts[name]).sort());
	return { count: latency.length, counts, parts, busy: [...busy.entries()].sort((a, b) => a[0] - b[0]).map(([n, t]) => [n, t / Math.max(to - from, 1)]) };
}

function showStats() {
	const [from, to] = selection ?? [0, data.duration], m = measure(from, to);
	const of = Object.entries(m.parts).map(([name, values]) => `<tr><td>${name}${values.map(v => `<td>${v === null ? "-" : v.toFixed(0)}`).join("")}`);
	byId("stats").innerHTML = `<h2>${selection ? "Selection" : "Whole trace"}: ${time(to - from)}</h2><table>${rows([["packets", m.count], ...m.counts.map((n, k) => [KINDS[k][0], n]).filter(([, n]) => n), ["a second", (m.count / Math.max(to - from, 1) * 1e6).toFixed(0)]])}</table>` +
		`<h2>Time of a packet, \u00b5s</h2><table><thead><tr><th><th>p50<th>p90<th>p99<th>max</thead>${of.join("")}</table><h2>Nodes busy</h2><table>` +
		m.busy.map(([n, share]) => `<tr><td>node ${n}<td style="width:50%"><div class="share"><div style="width:${(100 * share).toFixed(1)}%"></div></div><td>${(100 * share).toFixed(1)} %`).join("") + "</table>";
	return m;
}
