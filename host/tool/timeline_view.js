// SPDX-License-Identifier: MIT
// The view in the address of the page, and its colours.

function setDark(on) {
	colours = on ? DARK : LIGHT;
	document.documentElement.classList.toggle("dark", on);
	byId("dark").classList.toggle("on", on);
	redraw();
}

// The view as the part of the address behind #: FROM-TO in microseconds, then what else is not as at first.
function viewLink() {
	const parts = [`${Number(begin.toFixed(3))}-${Number(end.toFixed(3))}`];
	if (scroll) parts.push(`y=${Math.round(scroll)}`);
	if (hidden.size) parts.push(`hide=${[...hidden].join("+")}`);
	if (compact) parts.push("compact");
	if (chosen) parts.push(`packet=${data.packets.indexOf(chosen)}`);
	if (selection) parts.push(`measure=${selection.map(t => Number(t.toFixed(3))).join("-")}`);
	if (colours !== (prefersDark.matches ? DARK : LIGHT)) parts.push(colours === DARK ? "dark" : "light");
	return "#" + parts.join("&");
}

// Restores a view. Whatever the link does not have is as at first.
function openLink(link) {
	const [range, ...rest] = decodeURIComponent(link.slice(1)).split("&"), part = /^(-?[\d.]+)-(-?[\d.]+)$/.exec(range);
	const of = name => rest.find(text => text === name || text.startsWith(name + "="))?.slice(name.length + 1) ?? null;
	const names = [...KINDS, ...MARKS].map(([name]) => name), measured = /^([\d.]+)-([\d.]+)$/.exec(of("measure") ?? "");
	hidden.clear();
	for (const name of (of("hide") ?? "").split("+")) if (names.includes(name)) hidden.add(name);
	byId("legend").querySelectorAll("button").forEach(key => key.classList.toggle("off", hidden.has(key.textContent)));
	compact = of("compact") !== null;
	byId("idle").classList.toggle("on", compact);
	setDark(of("dark") !== null || (prefersDark.matches && of("light") === null));
	if (part) show(Number(part[1]), Number(part[2])); else show(0, Math.max(data.duration, 1));
	if (measured) select(Number(measured[1]), Number(measured[2])); else select(null);
	choose(data.packets[of("packet") ?? -1] ?? null);
	scroll = Number(of("y") ?? 0) || 0;
	draw();
}

// Keeps the address up to date, not more often than browsers allow.
let keeping = false;
function keepLink() {
	if (keeping || location.hash === "#selftest") return;
	keeping = true;
	setTimeout(() => { keeping = false; history.replaceState(null, "", viewLink()); }, 300);
}

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
prefersDark.addEventListener("change", e => setDark(e.matches));
byId("dark").addEventListener("click", () => setDark(colours === LIGHT));
byId("link").addEventListener("click", () => {
	history.replaceState(null, "", viewLink());
	navigator.clipboard?.writeText(location.href);
});
addEventListener("hashchange", () => { if (location.hash !== "#selftest" && location.hash !== viewLink()) openLink(location.hash); });
