/* Zoom, search and keys of a flame graph. The frames stand in the document as elements for whoever runs no script, and
 * as numbers in the table "profile", in preorder. This script draws from the numbers: only what can be seen becomes an
 * element, so that 76,000 frames zoom as quickly as 76. The state is in the address, by frame names, so that Back is
 * undo and a link still fits when the picture has been drawn again from newer data.
 */
(function () {
"use strict";

const SVG = "http://www.w3.org/2000/svg", XHTML = "http://www.w3.org/1999/xhtml";
const svg = document.currentScript.ownerSVGElement || document.documentElement;
const byId = id => svg.querySelector("#" + id);
const data = JSON.parse(byId("profile").textContent);
const { depth: depths, name: nameOf, start: starts, value: values } = data;
const count = depths.length, inner = data.width - 2 * data.margin;
const framesGroup = byId("frames"), details = byId("details"), matchedText = byId("matched");

/* --- The tree, from preorder and depths ------------------------------------------------------------------------- */

const parents = new Int32Array(count), ends = new Int32Array(count), rows = [];

function buildTree() {
	const open = [];
	for (let i = 0; i < count; i++) {
		while (open.length > depths[i])
			ends[open.pop()] = i;
		parents[i] = open.length ? open[open.length - 1] : 0;
		open.push(i);
		(rows[depths[i]] ||= []).push(i);
	}
	while (open.length)
		ends[open.pop()] = count;
}

const nameAt = i => data.names[nameOf[i]];
const isInside = (i, zoomed) => i >= zoomed && i < ends[zoomed];
const isAncestor = (i, zoomed) => i <= zoomed && zoomed < ends[i];

/* --- Words ------------------------------------------------------------------------------------------------------ */

const TIMES = [[3600e9, 3600e9, "h"], [600e9, 60e9, "min"], [1e9, 1e9, "s"], [1e6, 1e6, "ms"], [1e3, 1e3, "\u00b5s"],
	[0, 1, "ns"]];
const SIZES = [[2 ** 40, 2 ** 40, "TiB"], [2 ** 30, 2 ** 30, "GiB"], [2 ** 20, 2 ** 20, "MiB"], [1024, 1024, "KiB"],
	[0, 1, "B"]];

function amount(v) {
	if (data.countName !== null)
		return v.toLocaleString("en-US") + " " + data.countName;
	const [, size, unit] = (data.unit === "time" ? TIMES : SIZES).find(([from]) => v >= from);
	const shown = v / size;
	return shown.toFixed(size === 1 || shown >= 99.95 ? 0 : shown >= 9.995 ? 1 : 2) + " " + unit;
}

const percent = (part, whole) => (100 * part / whole).toFixed(2) + "%";

function titleOf(i) {
	return nameAt(i) + " (" + amount(values[i]) + ", " + (i ? percent(values[i], values[0]) : "100%") + ")";
}

function describe(i) {
	const place = data.places[nameOf[i]];
	return data.nameType + " " + titleOf(i) + (place ? " \u2014 " + place : "");
}

/* --- What is shown ---------------------------------------------------------------------------------------------- */

const state = { zoom: 0, search: "", ignoreCase: false, cursor: -1 };
let matches = null;		/* by name: does it match the search? null without a search */
let drawn = [];			/* [frame, its element], left to right in each row */

const scale = () => inner / values[state.zoom];

const rowTop = depth => data.inverted ? data.top + depth * data.frameHeight :
	data.height - data.bottom - (depth + 1) * data.frameHeight + data.gap;

function box(i) {
	const whole = isAncestor(i, state.zoom);
	const x = whole ? 0 : (starts[i] - starts[state.zoom]) * scale();
	const width = whole ? inner : values[i] * scale();
	return { x: x + data.margin, y: rowTop(depths[i]), width, height: data.frameHeight - data.gap };
}

function element(name, attributes, parent) {
	const e = document.createElementNS(SVG, name);
	for (const key in attributes)
		e.setAttribute(key, attributes[key]);
	parent?.append(e);
	return e;
}

const color = c => "rgb(" + (c >> 16) + "," + (c >> 8 & 255) + "," + (c & 255) + ")";

function label(name, width) {
	const room = Math.floor(width / data.characterWidth);
	if (room < 3)
		return "";
	if (name.length <= room)
		return name;
	const characters = Array.from(name);
	return characters.length <= room ? name : characters.slice(0, room - 2).join("") + "..";
}

function drawFrame(i, into) {
	const b = box(i), g = element("g", {}, into), text = label(nameAt(i), b.width);
	element("title", {}, g).textContent = titleOf(i);
	element("rect", { x: b.x.toFixed(1), y: b.y, width: b.width.toFixed(1), height: b.height,
		fill: color(data.fills[nameOf[i]]), rx: 2, ry: 2 }, g);
	if (text)
		element("text", { x: (b.x + 3).toFixed(2), y: b.y + b.height / 2 + 3 }, g).textContent = text;
	drawn.push([i, g]);
}

const rounded = px => Math.round(px * 10) / 10;		/* toFixed takes four times as long */
const down = "v" + (data.frameHeight - data.gap) + "h-";

function rectangle(x, y, width) {
	const w = rounded(width);
	return "M" + rounded(x) + " " + y + "h" + w + down + w + "z";
}

/* Frames that are no elements: one path for each colour, and one for all that are narrower than a pixel, whose
 * neighbours flow together. */
function narrowPaths() {
	const paths = new Map(), k = scale(), first = starts[state.zoom], open = [[], []];
	const add = (fill, x, depth, width) => {
		const piece = rectangle(x, rowTop(depth), width), path = paths.get(fill);
		path ? path.push(piece) : paths.set(fill, [piece]);
	};
	const close = (run, fill, depth) => run && add(fill, run.x, depth, Math.max(run.end - run.x, 0.2));

	for (let i = state.zoom; i < ends[state.zoom]; i++) {
		if (values[i] >= leastElement)
			continue;
		const x = data.margin + (starts[i] - first) * k, width = values[i] * k, depth = depths[i];
		const match = matches && matches[nameOf[i]] ? 1 : 0;
		if (width >= 1) {
			add(match ? MATCH : data.fills[nameOf[i]], x, depth, width);
			continue;
		}
		const run = open[match][depth];
		if (run && x - run.end < 0.2) {
			run.end = x + width;
		} else {
			close(run, match ? MATCH : data.narrowFill, depth);
			open[match][depth] = { x, end: x + width };
		}
	}
	open[0].forEach((run, depth) => close(run, data.narrowFill, depth));
	open[1].forEach((run, depth) => close(run, MATCH, depth));
	return paths;
}

const MATCH = 0xe600e6;
let leastElement = data.elementMin;

/* The document has the paths of the whole picture; they come back when they fit again. */
const originalPaths = [...framesGroup.querySelectorAll("path")];

function drawNarrow() {
	const all = document.createDocumentFragment();
	for (const path of framesGroup.querySelectorAll("path"))
		path.remove();
	if (state.zoom === 0 && !matches)
		return framesGroup.prepend(...originalPaths);
	for (const [fill, pieces] of narrowPaths())
		element("path", { class: "narrow", fill: color(fill), d: pieces.join("") }, all);
	framesGroup.prepend(all);
}

/* The widest are elements with a title and, if there is room, a label. */
const ELEMENTS = 500;

function chooseElements() {
	const wide = [];
	for (let i = state.zoom; i < ends[state.zoom]; i++)
		if (values[i] * scale() >= 1)
			wide.push(values[i]);
	return wide.length > ELEMENTS ? wide.sort((a, b) => b - a)[ELEMENTS] + 1 : 1 / scale();
}

function draw() {
	const all = document.createDocumentFragment();
	if (state.zoom === 0) {
		leastElement = data.elementMin;
		drawn = original;
		framesGroup.replaceChildren(...original.map(([, g]) => g));
		return mark();
	}
	leastElement = chooseElements();
	drawn = [];
	const callers = [];
	for (let i = state.zoom; i; i = parents[i])
		callers.unshift(parents[i]);
	callers.forEach(i => drawFrame(i, all));
	for (let i = state.zoom; i < ends[state.zoom]; i++)
		if (values[i] >= leastElement)
			drawFrame(i, all);
	framesGroup.replaceChildren(all);
	mark();
}

/* Classes of the elements that are there: dimmed ancestors, matches. */
function mark() {
	for (const [i, g] of drawn) {
		const dim = i !== state.zoom && isAncestor(i, state.zoom), match = matches && matches[nameOf[i]];
		const wanted = dim && match ? "dim match" : dim ? "dim" : match ? "match" : "";
		if (wanted)
			g.setAttribute("class", wanted);
		else
			g.removeAttribute("class");
	}
	drawNarrow();
	showCursor();
}

/* The elements of the document as it came are in the order of the table. They are what is shown without a zoom. */
const original = [];

function adoptElements() {
	const elements = framesGroup.querySelectorAll("g");
	for (let i = 0, at = 0; i < count; i++)
		if (values[i] >= data.elementMin)
			original.push([i, elements[at++]]);
	drawn = original;
}

/* --- Search ----------------------------------------------------------------------------------------------------- */

function compile(text) {
	if (!text)
		return null;
	try {
		return new RegExp(text, state.ignoreCase ? "iu" : "u");
	} catch {
		try {
			return new RegExp(text, state.ignoreCase ? "i" : "");
		} catch {
			return undefined;
		}
	}
}

/* The value of what matches below the zoomed frame, where a match inside another match counts once. */
function matchedValue() {
	let sum = 0;
	for (let i = state.zoom; i < ends[state.zoom];) {
		if (matches[nameOf[i]]) {
			sum += values[i];
			i = ends[i];
		} else {
			i++;
		}
	}
	return sum;
}

function find() {
	const pattern = compile(state.search);
	controls.input.classList.toggle("wrong", pattern === undefined);
	matches = pattern ? data.names.map(name => pattern.test(name)) : null;
	const shown = pattern === undefined ? "Not a regular expression" :
		matches ? "Matched: " + percent(matchedValue(), values[state.zoom]) : "";
	matchedText.textContent = shown;
	matchedText.setAttribute("data-share", matches ? matchedValue() / values[state.zoom] : "");
	controls.previous.disabled = controls.next.disabled = !matches;
}

function step(direction) {
	const found = matches ? drawn.map(([i]) => i).filter(i => matches[nameOf[i]]).sort((a, b) => a - b) : [];
	if (!found.length)
		return;
	const at = direction > 0 ? found.findIndex(i => i > state.cursor) :
		found.findLastIndex(i => i < state.cursor);
	moveTo(found[at >= 0 ? at : direction > 0 ? 0 : found.length - 1]);
}

/* --- The address ------------------------------------------------------------------------------------------------ */

function pathOf(i) {
	const names = [];
	for (; i; i = parents[i])
		names.push(";" + encodeURIComponent(nameAt(i)));
	return names.reverse().join("");
}

/* The frame of that path, or the deepest that is there. */
function frameOf(path) {
	let at = 0;
	for (const part of path ? path.split(";").slice(1) : []) {
		const name = decodeURIComponent(part);
		let child = at + 1;
		while (child < ends[at] && nameAt(child) !== name)
			child = ends[child];
		if (child >= ends[at])
			break;
		at = child;
	}
	return at;
}

function address() {
	const parts = [];
	if (state.zoom)
		parts.push("zoom=" + pathOf(state.zoom));
	if (state.search)
		parts.push("search=" + encodeURIComponent(state.search));
	if (state.ignoreCase)
		parts.push("ic=1");
	return "#" + parts.join("&");
}

/* A new entry in the history for each zoom; typing replaces the one that is there. */
function remember(isStep) {
	const now = address();
	if (now === (location.hash || "#"))
		return;
	try {
		history[isStep ? "pushState" : "replaceState"](null, "", now);
	} catch {
		/* Some viewers give a document no history; then there is no Back either. */
	}
}

function readAddress() {
	const given = Object.fromEntries(location.hash.slice(1).split("&").map(part => {
		const at = part.indexOf("=");
		return [part.slice(0, at), part.slice(at + 1)];
	}));
	try {
		state.zoom = frameOf(given.zoom);
		state.search = decodeURIComponent(given.search || "");
	} catch {
		state.zoom = 0;		/* not percent-encoded as we do it */
	}
	state.ignoreCase = given.ic === "1";
}

/* Links made for flamegraph.pl's script: ?x=PIXEL&y=PIXEL&s=SEARCH. */
function readQuery() {
	const query = new URLSearchParams(location.search);
	if (query.has("x") && query.has("y"))
		state.zoom = Math.max(0, frameAt(Number(query.get("x")) + 0.05, Number(query.get("y")) + 1));
	state.search = query.get("s") || state.search;
}

/* --- What a person does ----------------------------------------------------------------------------------------- */

function frameAt(x, y) {
	const from = data.inverted ? y - data.top : data.height - data.bottom - y;
	const depth = Math.floor(from / data.frameHeight), row = rows[depth];
	if (!row || x < data.margin || x > data.margin + inner)
		return -1;
	if (depth <= depths[state.zoom]) {
		let i = state.zoom;
		while (depths[i] > depth)
			i = parents[i];
		return i;
	}
	const at = starts[state.zoom] + (x - data.margin) / scale();
	let low = 0, high = row.length;
	while (low < high) {
		const middle = low + high >> 1;
		if (starts[row[middle]] <= at)
			low = middle + 1;
		else
			high = middle;
	}
	const i = low ? row[low - 1] : -1;
	return i >= 0 && isInside(i, state.zoom) && at < starts[i] + values[i] ? i : -1;
}

function zoomTo(i, isStep) {
	if (i === state.zoom)
		return;
	state.zoom = i;
	if (state.cursor >= 0 && !isInside(state.cursor, i) && !isAncestor(state.cursor, i))
		state.cursor = i;
	if (isStep)
		remember(true);
	refresh();
}

function showState() {
	controls.reset.hidden = state.zoom === 0;
	if (controls.input.value !== state.search)
		controls.input.value = state.search;
	controls.ignoreCase.setAttribute("aria-pressed", state.ignoreCase);
	find();
}

/* After a change of zoom: draws again. After one of the search alone marking is enough. */
function refresh(searchOnly) {
	showState();
	if (searchOnly)
		mark();
	else
		draw();
}

function search(text) {
	state.search = text;
	remember(false);
	refresh(true);
}

function toggleCase() {
	state.ignoreCase = !state.ignoreCase;
	remember(false);
	refresh(true);
}

function outline(e, i) {
	const b = i >= 0 ? box(i) : null;
	e.setAttribute("visibility", b ? "visible" : "hidden");
	if (!b)
		return;
	for (const key in b)
		e.setAttribute(key, key === "width" ? Math.max(b.width, 1) : b[key]);
}

const pointer = element("rect", { id: "pointer", visibility: "hidden" });
const cursor = element("rect", { id: "cursor", visibility: "hidden" });

function showCursor() {
	outline(cursor, state.cursor);
	outline(pointer, -1);
}

function moveTo(i) {
	state.cursor = i;
	showCursor();
	details.textContent = describe(i);
	cursor.scrollIntoView({ block: "nearest", inline: "nearest" });
}

const firstChild = i => i + 1 < ends[i] ? i + 1 : i;

/* Towards the leaves by the widest child. */
function widestChild(i) {
	let best = i, most = -1;
	for (let child = firstChild(i); child > i && child < ends[i]; child = ends[child])
		if (values[child] > most)
			[best, most] = [child, values[child]];
	return best;
}

function neighbour(i, direction) {
	const row = rows[depths[i]], next = row[row.indexOf(i) + direction];
	return next !== undefined && isInside(next, state.zoom) ? next : i;
}

function walk(key) {
	if (state.cursor < 0)
		return moveTo(state.zoom);
	const outwards = (key === "ArrowUp") !== data.inverted;
	if (key === "ArrowLeft" || key === "ArrowRight")
		return moveTo(neighbour(state.cursor, key === "ArrowLeft" ? -1 : 1));
	if (!outwards)
		return moveTo(parents[state.cursor]);
	let child = widestChild(state.cursor);
	if (isAncestor(state.cursor, state.zoom) && state.cursor !== state.zoom)
		for (child = state.zoom; parents[child] !== state.cursor;)
			child = parents[child];
	moveTo(child);
}

function escape() {
	if (state.search)
		search("");
	else if (state.zoom)
		zoomTo(0, true);
	state.cursor = -1;
	showCursor();
	details.textContent = data.note;
	controls.input.blur();
}

function onKey(e) {
	const typing = e.target === controls.input, command = e.ctrlKey || e.metaKey;
	if (command && !e.altKey && e.key.toLowerCase() === "f" || e.key === "/" && !typing) {
		controls.input.focus();
		controls.input.select();
	} else if (command && !e.altKey && e.key.toLowerCase() === "i") {
		toggleCase();
	} else if (e.key === "Escape") {
		escape();
	} else if (e.key === "F3" || typing && e.key === "Enter") {
		if (e.key === "F3" && !matches)
			controls.input.focus();
		step(e.shiftKey ? -1 : 1);
	} else if (!typing && !command && e.key.startsWith("Arrow")) {
		walk(e.key);
	} else if (e.target.localName !== "button" && e.key === "Enter" && state.cursor >= 0) {
		zoomTo(state.cursor, true);
	} else {
		return;
	}
	e.preventDefault();
}

function position(e) {
	const p = new DOMPoint(e.clientX, e.clientY).matrixTransform(svg.getScreenCTM().inverse());
	return e.target.closest?.(".controls, .strip") ? -1 : frameAt(p.x, p.y);
}

function onMove(e) {
	const i = position(e);
	outline(pointer, i);
	svg.style.cursor = i >= 0 ? "pointer" : "";
	details.textContent = i >= 0 ? describe(i) : state.cursor >= 0 ? describe(state.cursor) : data.note;
}

function onClick(e) {
	const i = position(e);
	if (i < 0 || e.button !== 0)
		return;
	state.cursor = -1;
	zoomTo(i, true);
	details.textContent = describe(i);
	showCursor();
}

/* --- Controls: above and below the frames, kept in sight when a high picture is scrolled ------------------------- */

const controls = {};
const BAR = 30;

function html(name, attributes, parent, text) {
	const e = document.createElementNS(XHTML, name);
	for (const key in attributes)
		e.setAttribute(key, attributes[key]);
	if (text)
		e.textContent = text;
	parent.append(e);
	return e;
}

function button(parent, text, title, act) {
	const b = html("button", { type: "button", title, "aria-label": title }, parent, text);
	b.addEventListener("click", act);
	return b;
}

function buildControls() {
	const head = element("g", { id: "head" }, svg), foot = element("g", { id: "foot" }, svg);
	const strip = { class: "strip", x: 0, width: data.width, visibility: "hidden" };
	controls.head = head;
	controls.foot = foot;
	controls.headStrip = element("rect", { ...strip, y: 0, height: BAR }, head);
	controls.footStrip = element("rect", { ...strip, y: data.height - data.bottom + 4, height: data.bottom - 4 }, foot);
	foot.append(details, matchedText);

	const hole = element("foreignObject", { x: data.margin, y: 3, width: inner, height: BAR - 4 }, head);
	hole.style.pointerEvents = "none";
	const bar = html("div", { class: "controls" }, hole);
	controls.reset = button(bar, "Reset zoom", "Reset zoom (Escape)", () => zoomTo(0, true));
	html("span", { class: "space" }, bar);
	controls.input = html("input", { type: "search", placeholder: "Search (Ctrl-F)", "aria-label":
		"Search function names by regular expression", spellcheck: "false" }, bar);
	controls.input.addEventListener("input", () => search(controls.input.value));
	controls.ignoreCase = button(bar, "aA", "Ignore case (Ctrl-I)", toggleCase);
	controls.previous = button(bar, "\u2039", "Previous match (Shift-Enter)", () => step(-1));
	controls.next = button(bar, "\u203a", "Next match (Enter)", () => step(1));
}

function keepInSight() {
	const r = svg.getBoundingClientRect(), size = r.height / data.height || 1;
	const up = Math.max(0, -r.top) / size, down = Math.max(0, r.bottom - innerHeight) / size;
	controls.head.setAttribute("transform", "translate(0 " + up + ")");
	controls.foot.setAttribute("transform", "translate(0 " + -down + ")");
	controls.headStrip.setAttribute("visibility", up ? "visible" : "hidden");
	controls.footStrip.setAttribute("visibility", down ? "visible" : "hidden");
}

function restore() {
	readAddress();
	refresh(false);
}

buildTree();
adoptElements();
svg.append(pointer, cursor);
buildControls();
details.setAttribute("aria-live", "polite");
keepInSight();
readAddress();
readQuery();
if (address() !== "#")
	refresh(state.zoom === 0);
else
	showState();

svg.addEventListener("pointermove", onMove);
svg.addEventListener("click", onClick);
window.addEventListener("keydown", onKey);
window.addEventListener("popstate", restore);
window.addEventListener("hashchange", restore);
window.addEventListener("scroll", keepInSight, { passive: true });
window.addEventListener("resize", keepInSight);
})();
