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
// NTSTATUS or error; of an event of a host its number; of the end of a host's frame the frame's. They are marks, too.
const [AT, CALL, CALL_LANE, CALL_FENCE, CALL_ID, STATUS, CALL_HOST, CALL_FRAME] = Array(8).keys();
if (data.calls.length) MARKS.push(["host", "#0f7fa8"]);
for (const c of data.calls)
	data.marks.push([c[AT], MARKS.length - 1, c[CALL] + (c[CALL_FENCE] !== null ? " fence " + hex(c[CALL_FENCE]) : "") + (c[CALL_ID] !== null ? " preemption " + c[CALL_ID] : "") + (c[STATUS] ? " status " + hex(c[STATUS]) : "") + (c[CALL_FRAME] != null ? " " + c[CALL_FRAME] : ""), c[CALL_LANE], null, c[CALL_HOST] ?? null, c[CALL_FRAME] ?? null]);
if (data.calls.length) data.marks.sort((a, b) => a[0] - b[0]);
// Signals that let a packet go on: index of the signalled packet and of the one that waited, time of WAIT or null, of WAKE.
const [SIGNAL, WAITER, SINCE, WOKEN] = Array(4).keys();
// Ends of frames: index of a packet that presents, and number of the frame in its queue.
const [SHOWN, FRAME] = Array(2).keys();
const LIGHT = { patching: "#16202c", ink: "#1c2733", soft: "#5a6875", line: "#e3e8ed", ground: "#1c27330a", paper: "#fff", load: "#a9bdd3", accent: "#2463b0", bar: "#c3ccd6" };
const DARK = { patching: "#f2f5f8", ink: "#dfe6ed", soft: "#93a1b0", line: "#2f3944", ground: "#dfe6ed0a", paper: "#1e252d", load: "#40566e", accent: "#6fa8ee", bar: "#4a5866" };
let colours = LIGHT;
// Sizes in pixels: column of names, overview, axis, row of a lane, row of a group of marks.
const NAMES = 196, INDENT = 12, OVERVIEW = 34, AXIS = 22, TOP = OVERVIEW + AXIS, ROW = 14, GAP = 7, TICK = 6, ROWS_MAX = 8;
// Bars narrower than this are drawn without parts.
const DETAIL = 3;
// More arrows than this would hide the packets.
const ARROWS_MAX = 2000;

const byId = id => document.getElementById(id);
const canvas = byId("view"), context = canvas.getContext("2d");
const hidden = new Set();
let begin = 0, end = Math.max(data.duration, 1), scroll = 0, chosen = null, pointed = null, selection = null;
let drag = null, wanted = false, rectangles = 0, arrows = 0, tall = 0, compact = false, shown = [];

const first = p => p[SUBMIT] ?? p[PATCH] ?? p[FEED] ?? p[END];
const escaped = text => text.replace(/[&<>]/g, c => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c]);

// The label of a tick: one unit for all, and the digits that tell two ticks apart.
function tickLabel(t, step) {
	const most = Math.max(Math.abs(begin), Math.abs(end)), [unit, name] = most >= 1e6 ? [1e6, "s"] : most >= 1e3 ? [1e3, "ms"] : [1, "\u00b5s"];
	return (t / unit).toFixed(Math.max(Math.ceil(-Math.log10(step / unit) - 1e-9), 0)) + " " + name;
}

function time(t) {
	const size = Math.abs(t);
	return size >= 1e6 ? (t / 1e6).toFixed(3) + " s" : size >= 1e3 ? (t / 1e3).toFixed(3) + " ms" : t.toFixed(t % 1 ? 1 : 0) + " \u00b5s";
}

// ---- lanes ----

// Sorts bars by start and stacks them: the oldest packet is at the bottom, the others above it, and each comes down when
// one below it has ended. `below` has the ends of those below a bar when it begins; `reach` the largest end up to a bar.
function makeLane(name, detail, packets, from, mid) {
	const order = packets.map((p, i) => [p, i]).sort(([a, i], [b, j]) => from(a) - from(b) || i - j).map(([p]) => p), count = order.length;
	const lane = { name, detail, packets: order, from: new Float64Array(count), mid: new Float64Array(count), to: new Float64Array(count), reach: new Float64Array(count), below: [], y: 0, marks: [], depth: 0 };
	let reach = -Infinity, open = [];
	order.forEach((p, i) => {
		lane.from[i] = from(p);
		lane.mid[i] = mid(p);
		lane.to[i] = p[END];
		lane.reach[i] = reach = Math.max(reach, p[END]);
		open = open.filter(t => t > lane.from[i]);
		lane.below.push(open.slice().sort((a, b) => a - b));
		open.push(p[END]);
		lane.depth = Math.max(lane.depth, open.length);
	});
	lane.rows = Math.min(Math.max(lane.depth, 1), ROWS_MAX);
	lane.height = lane.rows * ROW;
	return lane;
}

// How many packets are below a bar at a time.
const rowAt = (lane, i, t) => lane.below[i].length - search(lane.below[i], t + 1e-6);
// How many packets a lane has at a time.
function depthAt(lane, t) {
	let depth = 0;
	for (let i = search(lane.reach, t); i < lane.packets.length && lane.from[i] <= t; i++) depth += lane.to[i] > t;
	return depth;
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
	const packets = new Map(groupBy(LANE, data.packets)), byNode = new Map(), byQueue = new Map(), byHost = new Map(), lanes = [];
	for (const n of [...new Set([...data.nodes, ...nodes.keys(), ...data.lanes.map(q => q[ON])])].sort((a, b) => (a ?? Infinity) - (b ?? Infinity))) {
		byNode.set(n, makeLane(n === null ? "node unknown" : `node ${n}`, n === null ? "" : nodes.has(n) ? "its ring" : "idle", nodes.get(n) ?? [], p => p[FEED], p => p[RUN] ?? p[END]));
		lanes.push(byNode.get(n));
		data.lanes.forEach((q, i) => {
			if (q[ON] !== n) return;
			byQueue.set(i, makeLane(q[NAME].replace(/ \(node .*/, ""), "", packets.get(i) ?? [], first, p => p[RUN] ?? p[END]));
			byQueue.get(i).whole = true;
			lanes.push(byQueue.get(i));
		});
	}
	// Processes of hosts: number, name, process id, channel.
	for (const [n, name, pid, channel] of data.hosts) {
		byHost.set(n, makeLane(`host ${name} ${pid}, channel ${channel}`, "", [], first, first));
		Object.assign(byHost.get(n), { whole: true, host: true });
		lanes.push(byHost.get(n));
	}
	for (const m of data.marks) (m[5] != null ? byHost.get(m[5]) : m[3] !== null ? byQueue.get(m[3]) : byNode.get(m[4]))?.marks.push(m);
	return lanes;
}
const lanes = makeLanes();
// Where each packet is: its lane of a queue, and its place there.
const placeOf = new Map(lanes.filter(l => l.whole).flatMap(l => l.packets.map((p, i) => [p, [l, i]])));
for (const [i, n] of data.frames) placeOf.get(data.packets[i])?.[0] && (data.packets[i].frame = n);

// Computes how far the nodes are occupied in each part of the trace, and where packets failed.
function makeOverview() {
	const bins = 600, occupied = new Float64Array(bins), failed = new Uint8Array(bins), size = Math.max(data.duration, 1) / bins;
	const nodes = Math.max(lanes.filter(l => !l.whole).length, 1);
	for (const p of data.packets) {
		if (p[KIND] === 4) failed[Math.min(Math.floor(p[END] / size), bins - 1)] = 1;
		if (p[RUN] === null) continue;
		for (let b = Math.floor(p[RUN] / size); b < bins && b * size < p[END]; b++)
			occupied[b] += (Math.min(p[END], (b + 1) * size) - Math.max(p[RUN], b * size)) / size / nodes;
	}
	return { occupied, failed };
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

// Draws a packet where it has one height: light while it waits, full while the engine runs it; below, the time of patching.
function drawPart(lane, i, y, left, right) {
	const p = lane.packets[i], colour = KINDS[p[KIND]][1], from = Math.max(left, NAMES), to = Math.min(right, NAMES + width()), last = right >= toX(p[END]) - .5;
	const run = Math.min(Math.max(toX(lane.mid[i]), from), to), fed = p[FEED] === null ? to : Math.min(Math.max(toX(p[FEED]), from), run);
	context.globalAlpha = .22;
	if (fed > from) fill(colour, from, y, fed - from, ROW - 2);
	context.globalAlpha = .45;
	if (run > fed) fill(colour, fed, y, run - fed, ROW - 2);
	context.globalAlpha = 1;
	if (to > run) fill(colour, run, y, to - run, ROW - 2);
	if (lane.whole && p[PATCH] !== null && p[PATCHED] !== null) {
		const at = Math.max(toX(p[PATCH]), from), until = Math.min(toX(p[PATCHED]), to);
		if (until >= at) fill(colours.patching, at, y + ROW - 5, Math.max(until - at, 1), 3);
	}
	if (last && right <= NAMES + width()) fill(colours.ink, right - 1, y, 1, ROW - 2); // its fence
	if (last && p.frame && right <= NAMES + width()) { // the end of a frame
		fill(colours.accent, right - 1, lane.y - 4, 1, lane.height + 4);
		if (to - from > 70) { context.fillStyle = colours.accent; context.fillText(`frame ${p.frame}`, right + 3, lane.y + 2); }
	}
	if (to - run > 44 || run - from > 44) {
		context.fillStyle = to - run > 44 ? "#fff" : colours.ink;
		context.fillText(hex(p[FENCE]), (to - run > 44 ? run : from) + 3, y + 9.5, (to - run > 44 ? to - run : run - from) - 6);
	}
	if (p === chosen || p === pointed) {
		context.strokeStyle = colours.ink;
		context.lineWidth = p === chosen ? 2 : 1;
		context.strokeRect(from - .5, y - 1, to - from + 1, ROW);
	}
}

// Draws a packet, which comes down by a row whenever one below it has ended.
function drawBar(lane, i) {
	const ends = lane.below[i], bottom = lane.y + (lane.rows - 1) * ROW;
	for (let k = 0, from = lane.from[i]; k <= ends.length; k++) {
		const to = k < ends.length ? Math.min(ends[k], lane.to[i]) : lane.to[i], row = ends.length - k;
		if (to > begin && from < end && (to > from || k === ends.length) && row < lane.rows) drawPart(lane, i, bottom - row * ROW, toX(from), k === ends.length ? Math.max(toX(to), toX(lane.from[i]) + 1) : toX(to));
		from = Math.max(from, to);
	}
}

// Draws an arrow from the end of each signalled packet to the one that went on, as long as there are not too many.
function drawArrows() {
	const seen = data.wakes.filter(w => w[WOKEN] >= begin && data.packets[w[SIGNAL]][END] <= end);
	if (seen.length > ARROWS_MAX) return arrows = 0;
	arrows = 0;
	for (const w of seen) {
		const signal = data.packets[w[SIGNAL]], waiter = data.packets[w[WAITER]], [from, i] = placeOf.get(signal), [to, k] = placeOf.get(waiter);
		if (from.y < -1e8 || to.y < -1e8 || hidden.has(KINDS[signal[KIND]][0]) || hidden.has(KINDS[waiter[KIND]][0])) continue;
		const x = toX(signal[END]), y = from.y + from.height - ROW / 2, tx = toX(waiter[PATCH] ?? waiter[FEED]), ty = to.y + to.height - ROW / 2;
		context.strokeStyle = context.fillStyle = KINDS[signal[KIND]][1];
		context.lineWidth = 1.5;
		context.beginPath();
		context.moveTo(x, y);
		context.bezierCurveTo(x + 18, y, tx - 18, ty, tx - 3, ty);
		context.stroke();
		context.beginPath();
		context.moveTo(tx, ty);
		context.lineTo(tx - 6, ty - 3.5);
		context.lineTo(tx - 6, ty + 3.5);
		context.fill();
		arrows++;
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

// Tells whether a lane has a packet, or an event of a host, in the part of the trace that is shown.
function isActive(lane) {
	if (lane.host) return lane.marks.some(m => m[0] >= begin && m[0] <= end);
	const i = search(lane.reach, begin);
	return i < lane.packets.length && lane.from[i] <= end;
}

function drawLane(lane, y) {
	const runs = Array.from({ length: lane.rows }, (_, row) => new Runs(y + row * ROW)), right_ = NAMES + width();
	fill(colours.ground, NAMES, y - 2, width(), lane.height + 2);
	for (let i = search(lane.reach, begin); i < lane.packets.length && lane.from[i] <= end; i++) {
		const p = lane.packets[i], row = lane.rows - 1 - Math.min(rowAt(lane, i, Math.max(lane.from[i], begin)), lane.rows - 1);
		if (lane.to[i] < begin || hidden.has(KINDS[p[KIND]][0])) continue;
		const left = toX(lane.from[i]), right = Math.max(toX(lane.to[i]), left + 1);
		if (right - left < DETAIL && p !== chosen) {
			runs[row].add(Math.max(Math.floor(left), NAMES), Math.min(Math.max(Math.ceil(right), Math.floor(left) + 1), right_), p[KIND]);
		} else {
			runs[row].flush();
			drawBar(lane, i);
		}
	}
	for (const run of runs) run.flush();
	let last = -1, labelled = -Infinity;
	for (const m of lane.marks) {
		const x = Math.round(toX(m[0]));
		if (m[6] != null && x >= NAMES && x <= right_ && !hidden.has(MARKS[m[1]][0])) { // the end of a host's frame
			fill(colours.accent, x, y - 4, 1, lane.height + 4);
			if (x - labelled > 70) { context.fillStyle = colours.accent; context.fillText(`frame ${m[6]}`, (labelled = x) + 3, y + 9.5); }
			continue;
		}
		if (m[1] === 4 || x < NAMES || x > right_ || x === last || hidden.has(MARKS[m[1]][0])) continue;
		fill(MARKS[m[1]][1], last = x, y - 5, 2, 5);
	}
}

// Draws all marks, one row for each group.
function drawMarks(y) {
	const last = MARKS.map(() => -1);
	fill(colours.ground, NAMES, y - 2, width(), MARKS.length * TICK + 2);
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
	for (let i = Math.ceil(begin / step); i * step <= end; i++) list.push([Number((i * step).toPrecision(12)), step]);
	return list;
}

function drawAxis() {
	fill(colours.paper, NAMES, OVERVIEW, width(), AXIS);
	for (const [t, step] of ticks()) {
		fill(colours.line, Math.round(toX(t)), OVERVIEW + 4, 1, AXIS - 4);
		context.fillStyle = colours.soft;
		context.fillText(tickLabel(t, step), toX(t) + 4, OVERVIEW + 15);
	}
}

function drawOverview() {
	const bins = overview.occupied.length, w = width() / bins, all = Math.max(data.duration, 1);
	fill(colours.paper, 0, 0, NAMES + width(), OVERVIEW);
	for (let b = 0; b < bins; b++) {
		const tall = Math.min(overview.occupied[b], 1) * (OVERVIEW - 8);
		if (tall > .3) fill(colours.load, NAMES + b * w, OVERVIEW - 4 - tall, w + .5, tall);
		if (overview.failed[b]) fill(KINDS[4][1], NAMES + b * w, OVERVIEW - 6, w + .5, 3);
	}
	context.fillStyle = colours.soft;
	context.fillText("nodes occupied", 12, OVERVIEW - 12);
	const from = NAMES + Math.max(begin / all, 0) * width(), to = NAMES + Math.min(end / all, 1) * width();
	context.strokeStyle = colours.accent;
	context.lineWidth = 2;
	context.strokeRect(from, 2, Math.max(to - from, 3), OVERVIEW - 4);
}

function drawNames(height) {
	let y = TOP + GAP - scroll;
	fill(colours.paper, 0, OVERVIEW, NAMES, height);
	context.fillStyle = colours.soft;
	context.fillText("events", 12, y + 10);
	y += MARKS.length * TICK + GAP;
	for (const lane of shown) {
		context.fillStyle = colours.ink;
		context.fillText(lane.name, lane.whole ? 2 * INDENT : INDENT, y + 10, NAMES - 2 * INDENT - 4);
		context.fillStyle = colours.soft;
		context.fillText(lane.detail, 90, y + 10, NAMES - 94);
		y += lane.height + GAP;
	}
	fill(colours.paper, 0, 0, NAMES, TOP);
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
	for (const [t] of ticks()) fill(colours.line, Math.round(toX(t)), TOP, 1, h);
	let y = TOP + GAP - scroll;
	drawMarks(y);
	y += MARKS.length * TICK + GAP;
	for (const lane of shown) {
		lane.y = y;
		if (y + lane.height >= TOP && y < h) drawLane(lane, y);
		y += lane.height + GAP;
	}
	drawArrows();
	drawSelection(h);
	drawAxis();
	drawNames(h);
	drawOverview();
	keepLink();
	if (tall > h - TOP) fill(colours.bar, w - 6, TOP + scroll / tall * (h - TOP), 5, (h - TOP) ** 2 / tall);
}
const redraw = () => { if (!wanted) { wanted = true; requestAnimationFrame(draw); } };

function drawSelection(height) {
	if (!selection) return;
	const from = toX(selection[0]), to = toX(selection[1]);
	fill(colours.accent + "1c", from, TOP, to - from, height);
	fill(colours.accent, from, TOP, 1, height);
	fill(colours.accent, to, TOP, 1, height);
}

// ---- hit test ----

function packetAt(x, y) {
	if (x < NAMES || y < TOP) return null;
	const lane = lanes.find(l => y >= l.y && y < l.y + l.height), slack = 1.5 * (end - begin) / width();
	if (!lane) return null;
	const t = toTime(x), row = lane.rows - 1 - Math.floor((y - lane.y) / ROW);
	let best = null, distance = slack;
	for (let i = search(lane.reach, t - slack); i < lane.packets.length && lane.from[i] <= t + slack; i++) {
		const off = Math.max(lane.from[i] - t, t - lane.to[i], 0);
		if (Math.min(rowAt(lane, i, Math.min(Math.max(t, lane.from[i]), lane.to[i])), lane.rows - 1) !== row || off > distance || hidden.has(KINDS[lane.packets[i][KIND]][0])) continue;
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
		["frame", p.frame ?? null], ["waited for", signalOf(p)], ["given to the engine", p[FEEDS] > 1 ? p[FEEDS] + " times" : null], ["seen at", time(first(p))],
		span("waiting", p[SUBMIT], p[PATCH] ?? p[FEED]), span("patching", p[PATCH], p[PATCHED]), span("in the ring", p[FEED], p[RUN] ?? p[END]),
		span("running", p[RUN], p[END]), ["in all", time(p[END] - first(p))], ...callsOf(p)].filter(([, value]) => value !== null);
}

// Returns what a packet waited for, or null.
function signalOf(p) {
	const w = data.wakes.findLast(w => data.packets[w[WAITER]] === p), signal = w && data.packets[w[SIGNAL]];
	return w ? `${KINDS[signal[KIND]][0]} ${hex(signal[FENCE])}` + (w[SINCE] === null ? "" : `, ${time(w[WOKEN] - w[SINCE])}`) : null;
}

// Returns the DDI calls and guest events of a packet, with their times from its first record.
function callsOf(p) {
	return data.calls.filter(c => c[CALL_LANE] === p[LANE] && c[CALL_FENCE] === p[FENCE]).map(c => [c[CALL], time(c[AT] - first(p))]);
}

const rows = pairs => pairs.map(([name, value]) => `<tr><td>${escaped(name)}<td>${escaped(String(value))}`).join("");

function showPacket() {
	byId("packet").innerHTML = chosen ? `<h2>${KINDS[chosen[KIND]][0]} packet</h2><table>${rows(describe(chosen))}</table>` : "";
}

// Statistics of the packets that ended in a range: number, durations, and for each node the share of the time in which it had a packet to run (not engine time).
function measure(from, to) {
	const frames = data.frames.map(([i]) => data.packets[i][END]).filter(t => t >= from && t <= to).length, marked = data.calls.filter(c => c[CALL_FRAME] != null && c[AT] >= from && c[AT] <= to).length, counts = KINDS.map(() => 0), latency = [], waiting = [], patching = [], running = [], occupied = new Map();
	for (const p of data.packets) {
		if (p[RUN] !== null) occupied.set(p[NODE], (occupied.get(p[NODE]) ?? 0) + Math.max(Math.min(p[END], to) - Math.max(p[RUN], from), 0));
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
	for (const n of data.nodes) if (!occupied.has(n)) occupied.set(n, 0);
	return { count: latency.length, counts, parts, frames, marked, occupied: [...occupied.entries()].sort((a, b) => a[0] - b[0]).map(([n, t]) => [n, t / Math.max(to - from, 1)]) };
}

function showStats() {
	const [from, to] = selection ?? [0, data.duration], m = measure(from, to);
	const of = Object.entries(m.parts).map(([name, values]) => `<tr><td>${name}${values.map(v => `<td>${v === null ? "-" : v.toFixed(0)}`).join("")}`);
	byId("stats").innerHTML = `<h2>${selection ? "Selection" : "Whole trace"}: ${time(to - from)}</h2><table>${rows([["packets", m.count], ...m.counts.map((n, k) => [KINDS[k][0], n]).filter(([, n]) => n), ["frames", m.frames], ...(m.marked ? [["frames of hosts", m.marked]] : []), ["a second", (m.count / Math.max(to - from, 1) * 1e6).toFixed(0)]])}</table>` +
		`<h2>Time of a packet, \u00b5s</h2><table><thead><tr><th><th>p50<th>p90<th>p99<th>max</thead>${of.join("")}</table><h2>Nodes occupied</h2><table>` +
		m.occupied.map(([n, share]) => `<tr><td>node ${n}<td style="width:50%"><div class="share"><div style="width:${(100 * share).toFixed(1)}%"></div></div><td>${(100 * share).toFixed(1)} %`).join("") + "</table>";
	return m;
}
