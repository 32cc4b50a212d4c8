/* Zoom and pan of a call graph: the wheel and + - zoom, dragging and the arrow keys move, 0 or a double click shows all.
 * Only the view box changes; without scripts the graph fills the window and that is all. */
(function () {
"use strict";

const svg = document.currentScript.ownerSVGElement || document.documentElement;
const box = svg.viewBox.baseVal;
const all = { x: box.x, y: box.y, width: box.width, height: box.height };
const pointers = new Map();

function show(x, y, width, height) {
	box.x = x;
	box.y = y;
	box.width = width;
	box.height = height;
}

const showAll = () => show(all.x, all.y, all.width, all.height);

/* Screen to graph, by the matrix that the browser draws with. */
function at(clientX, clientY) {
	return new DOMPoint(clientX, clientY).matrixTransform(svg.getScreenCTM().inverse());
}

function zoom(factor, clientX, clientY) {
	const width = Math.min(all.width * 2, Math.max(all.width / 200, box.width * factor)), k = width / box.width;
	const p = at(clientX, clientY);
	show(p.x - (p.x - box.x) * k, p.y - (p.y - box.y) * k, width, box.height * k);
}

function move(dx, dy) {
	show(box.x + dx, box.y + dy, box.width, box.height);
}

svg.addEventListener("wheel", event => {
	event.preventDefault();
	zoom(Math.exp(Math.max(-0.5, Math.min(0.5, event.deltaY * 0.002))), event.clientX, event.clientY);
}, { passive: false });

svg.addEventListener("pointerdown", event => pointers.set(event.pointerId, event));
for (const name of ["pointerup", "pointercancel", "pointerleave"])
	svg.addEventListener(name, event => pointers.delete(event.pointerId));

const gap = (a, b) => Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);

/* One finger or the mouse drags; two pinch. */
svg.addEventListener("pointermove", event => {
	const before = pointers.get(event.pointerId);
	if (!before)
		return;
	const other = [...pointers.values()].find(p => p.pointerId !== event.pointerId);
	const from = at(before.clientX, before.clientY), to = at(event.clientX, event.clientY);
	if (other && gap(event, other) > 0)
		zoom(gap(before, other) / gap(event, other), other.clientX, other.clientY);
	else
		move(from.x - to.x, from.y - to.y);
	pointers.set(event.pointerId, event);
});

svg.addEventListener("dblclick", showAll);

document.addEventListener("keydown", event => {
	const x = innerWidth / 2, y = innerHeight / 2, step = box.width / 10;
	const keys = {
		"+": () => zoom(0.8, x, y), "=": () => zoom(0.8, x, y), "-": () => zoom(1.25, x, y), "0": showAll,
		ArrowLeft: () => move(-step, 0), ArrowRight: () => move(step, 0),
		ArrowUp: () => move(0, -step), ArrowDown: () => move(0, step),
	};
	if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey)
		return;
	event.preventDefault();
	keys[event.key]();
});
})();
