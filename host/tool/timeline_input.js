// SPDX-License-Identifier: MIT
// User input, and its test: #selftest in the address.

function show(from, to) {
	const range = Math.min(Math.max(to - from, 10), 1.2 * data.duration + 20), middle = (from + to) / 2;
	begin = Math.min(Math.max(middle - range / 2, -.1 * data.duration - 10), 1.1 * data.duration + 10 - range);
	end = begin + range;
	redraw();
}

function zoom(factor, x) {
	const t = toTime(Math.max(x, NAMES)), range = Math.min(Math.max((end - begin) * factor, 10), 1.2 * data.duration + 20);
	const from = t - (t - begin) / (end - begin) * range;
	show(from, from + range);
}

const move = part => show(begin + part * (end - begin), end + part * (end - begin));
const showAll = () => { scroll = 0; show(0, Math.max(data.duration, 1)); };

function choose(p) {
	chosen = p;
	showPacket();
	redraw();
}

function goTo(p) {
	const lane = lanes.find(l => l.whole && l.packets.includes(p)), span = Math.max((p[END] - first(p)) * 5, 60);
	choose(p);
	if (lane) scroll += lane.y - canvas.clientHeight / 2;
	show((first(p) + p[END] - span) / 2, (first(p) + p[END] + span) / 2);
}

// Selects the next packet with the fence id, after the selected one.
function find(text) {
	const fence = text.trim() === "" ? NaN : Number(text), matches = data.packets.filter(p => p[FENCE] === fence);
	const next = matches.length ? matches[(matches.indexOf(chosen) + 1) % matches.length] : null;
	byId("fence").classList.toggle("none", text !== "" && !next);
	byId("found").textContent = matches.length > 1 ? `${matches.indexOf(next) + 1} of ${matches.length}` : "";
	if (next) goTo(next); else choose(null);
	return matches.length;
}

function select(from, to) {
	selection = from === null ? null : [Math.max(Math.min(from, to), 0), Math.min(Math.max(from, to), data.duration)];
	redraw();
	return showStats();
}

canvas.addEventListener("wheel", e => {
	e.preventDefault();
	if (e.offsetX < NAMES) { scroll += e.deltaY; redraw(); }
	else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) move((e.deltaX || e.deltaY) / 1000);
	else zoom(1.002 ** e.deltaY, e.offsetX);
}, { passive: false });
canvas.addEventListener("mousedown", e => {
	drag = { x: e.offsetX, y: e.offsetY, begin, end, scroll, measures: e.shiftKey, overview: e.offsetY < OVERVIEW, moved: false };
	if (drag.overview) dragTo(e);
});

function dragTo(e) {
	const range = drag.end - drag.begin, shift = (e.offsetX - drag.x) / width() * range;
	drag.moved ||= Math.abs(e.offsetX - drag.x) + Math.abs(e.offsetY - drag.y) > 3;
	if (drag.overview) {
		const middle = (e.offsetX - NAMES) / width() * data.duration;
		show(middle - range / 2, middle + range / 2);
	} else if (drag.measures) {
		select(toTime(drag.x), toTime(e.offsetX));
	} else if (drag.moved) {
		scroll = drag.scroll - (e.offsetY - drag.y);
		show(drag.begin - shift, drag.end - shift);
	}
}

function point(e) {
	const p = packetAt(e.offsetX, e.offsetY), mark = p ? null : markAt(e.offsetX, e.offsetY), tip = byId("tip");
	if (p !== pointed) { pointed = p; redraw(); }
	tip.style.display = p || mark ? "block" : "none";
	if (!p && !mark) return;
	tip.textContent = p ? `${KINDS[p[KIND]][0]} packet\n` + describe(p).map(([name, value]) => name.padEnd(20) + value).join("\n") : `${time(mark[0])}\n${mark[3] === null ? "" : data.lanes[mark[3]][NAME] + "\n"}${mark[2]}`;
	tip.style.left = Math.min(e.clientX + 14, innerWidth - tip.offsetWidth - 8) + "px";
	tip.style.top = Math.min(e.clientY + 14, innerHeight - tip.offsetHeight - 8) + "px";
}

canvas.addEventListener("mousemove", e => { if (drag) dragTo(e); else point(e); });
canvas.addEventListener("mouseleave", () => { byId("tip").style.display = "none"; });
addEventListener("mouseup", e => {
	if (drag && !drag.moved && !drag.overview && e.target === canvas) {
		if (drag.measures) select(null); else choose(packetAt(e.offsetX, e.offsetY));
	}
	drag = null;
});
byId("fence").addEventListener("input", e => { chosen = null; find(e.target.value); });
byId("fence").addEventListener("keydown", e => { if (e.key === "Enter") find(e.target.value); e.stopPropagation(); });
byId("all").addEventListener("click", showAll);
byId("idle").addEventListener("click", () => { compact = byId("idle").classList.toggle("on"); redraw(); });
addEventListener("resize", redraw);
addEventListener("keydown", e => {
	const keys = { w: () => zoom(.7, NAMES + width() / 2), s: () => zoom(1 / .7, NAMES + width() / 2), a: () => move(-.2), d: () => move(.2), 0: showAll,
		ArrowLeft: () => move(-.2), ArrowRight: () => move(.2), ArrowUp: () => { scroll -= 40; redraw(); }, ArrowDown: () => { scroll += 40; redraw(); },
		"/": () => { byId("fence").focus(); e.preventDefault(); }, Escape: () => { select(null); choose(null); } };
	if (!e.ctrlKey && !e.altKey && !e.metaKey) keys[e.key]?.();
});

for (const [name, colour] of [...KINDS, ...MARKS]) {
	const key = document.createElement("button");
	if (name === KINDS[0][0] || name === MARKS[0][0]) byId("legend").append(name === KINDS[0][0] ? "packets" : "events");
	key.innerHTML = `<i style="background:${colour}"></i>${name}`;
	key.addEventListener("click", () => { key.classList.toggle("off", !hidden.delete(name) && !!hidden.add(name)); showStats(); redraw(); });
	byId("legend").append(key);
}
byId("about").textContent = `${data.packets.length.toLocaleString("en")} packets, ${data.marks.length.toLocaleString("en")} events, ${time(data.duration)}` + (data.lost ? `, ${data.lost} records lost` : "");
showStats();
openLink(location.hash);

// ---- self-test: writes its result to the page ----

function selfTest() {
	const report = { errors: [] }, fire = (type, x, y, more) => canvas.dispatchEvent(new (type === "wheel" ? WheelEvent : MouseEvent)(type, { clientX: canvas.getBoundingClientRect().left + x, clientY: canvas.getBoundingClientRect().top + y, bubbles: true, cancelable: true, ...more }));
	const step = name => { draw(); report[name] = { begin, end, rectangles, scroll, lanes: shown.length }; }, middle = NAMES + width() / 2;
	addEventListener("error", e => report.errors.push(e.message));
	step("all");
	report.order = lanes.map(l => l.whole ? l.name : `${l.name}:`).join(" ");
	for (let i = 0; i < 8; i++) fire("wheel", middle, 200, { deltaY: -500 });
	step("zoomed");
	byId("idle").click();
	show(begin, begin + 100);
	step("compact");
	report.compact.active = new Set(data.packets.filter(p => first(p) <= end && p[END] >= begin).flatMap(p => [`queue ${p[LANE]}`, ...(p[FEED] === null || p[FEED] > end ? [] : [`node ${p[NODE]}`])])).size;
	byId("idle").click();
	show(report.zoomed.begin, report.zoomed.end);
	fire("mousedown", middle, 200);
	fire("mousemove", middle - 100, 200);
	fire("mouseup", middle - 100, 200);
	step("moved");
	showAll();
	byId("fence").value = hex(data.packets[data.packets.length >> 1][FENCE]);
	byId("fence").dispatchEvent(new Event("input"));
	step("found");
	report.found.fence = hex(chosen[FENCE]);
	report.found.at = first(chosen);
	const [lane, place] = placeOf.get(chosen), pointed = (first(chosen) + chosen[END]) / 2;
	fire("mousemove", toX(pointed), lane.y + (lane.rows - 1 - Math.min(rowAt(lane, place, pointed), lane.rows - 1)) * ROW + 5);
	report.tip = byId("tip").style.display === "block" ? byId("tip").textContent : "";
	showAll();
	draw();
	fire("mousedown", NAMES + width() / 4, 200, { shiftKey: true });
	fire("mousemove", middle, 200, { shiftKey: true });
	fire("mouseup", middle, 200, { shiftKey: true });
	step("selected");
	report.selected.range = selection;
	report.selected.measured = measure(...selection);
	report.width = width();
	report.duration = data.duration;
	byId("legend").querySelector("button").click();
	step("hidden");
	report.hidden.count = measure(0, data.duration).count;
	byId("legend").querySelector("button").click();
	fire("wheel", 20, 200, { deltaY: 1e6 });
	step("scrolled");
	report.depth = Object.fromEntries(Array.from({ length: 20 }, (_, i) => Math.floor((i + 1) * data.duration / 21) + .5).map(t => [t, lanes.filter(l => l.whole).reduce((sum, l) => sum + depthAt(l, t), 0)]));
	// In each lane the packets of a moment stand one above the other, without a gap.
	report.stacked = lanes.every(l => l.packets.every((p, i) => { if (i % 97) return true; const t = l.from[i] + .25; return depthAt(l, t) <= 1 || l.packets.filter((_, k) => l.from[k] <= t && l.to[k] > t).map(q => rowAt(l, l.packets.indexOf(q), t)).sort((a, b) => a - b).every((row, k) => row === k); }));
	report.frames = data.frames.length;
	report.marked = measure(0, data.duration).marked;
	// The lane of each host has a line for each of its frames, over its whole height.
	report.lines = 0;
	const drawn = fill;
	fill = (colour, x, y, w, h) => { report.lines += colour === colours.accent && w === 1 && lanes.some(l => l.host && y === l.y - 4 && h === l.height + 4); drawn(colour, x, y, w, h); };
	showAll();
	scroll = tall; // down to the hosts
	draw();
	fill = drawn;
	report.wakes = data.wakes.length;
	// The part around a signal of a paging buffer has its arrow.
	const wake = data.wakes.find(w => data.packets[w[SIGNAL]][KIND] === 2), signal = wake && data.packets[wake[SIGNAL]];
	scroll = 0;
	if (wake) show(signal[END] - 2000, wake[WOKEN] + 2000);
	draw();
	report.arrows = arrows;
	report.signal = wake ? signalOf(data.packets[wake[WAITER]]) : "";
	// Whatever is shown, no two ticks have one label.
	report.ticks = { repeated: 0, least: Infinity };
	for (let range = 10; range < 1.2 * data.duration; range *= 1.7) {
		for (const at of [0, .37, .93]) {
			show(at * data.duration, at * data.duration + range);
			const labels = ticks().map(([t, step]) => tickLabel(t, step));
			report.ticks.repeated += labels.length - new Set(labels).size;
			report.ticks.least = Math.min(report.ticks.least, labels.length);
		}
	}
	// A link keeps the view.
	select(null);
	choose(null);
	showAll();
	const before = viewLink();
	byId("dark").click();
	byId("idle").click();
	byId("legend").querySelectorAll("button")[4].click();
	choose(data.packets[7]);
	select(1000, 2500.5);
	show(1234.5, 2345.25);
	draw();
	report.link = { first: viewLink(), back: "", again: "" };
	openLink(before);
	report.link.back = viewLink() === before && !hidden.size && !chosen && !selection && !compact && colours === LIGHT;
	openLink(report.link.first);
	report.link.again = viewLink();
	report.link.dark = colours === DARK && getComputedStyle(document.body).backgroundColor;
	const result = document.createElement("pre"), lines = [];
	const put = (name, value) => {
		if (typeof value === "object" && value !== null) Object.entries(value).forEach(([key, part]) => put(name ? `${name}.${key}` : key, part));
		else lines.push(`${name} ${String(value).replace(/\s+/g, " ")}`);
	};
	put("", report);
	result.textContent = `\nbegin-of-report\n${lines.join("\n")}\nend-of-report\n`;
	document.body.append(result);
}
if (location.hash === "#selftest") selfTest();
