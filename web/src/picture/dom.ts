// XHTML elements, which work in an SVG's foreignObject as well as in a page.

const XHTML = 'http://www.w3.org/1999/xhtml', SVG = 'http://www.w3.org/2000/svg';

type Attributes = Record<string, string | number | boolean>;

function make<T extends Element>(space: string, name: string, attributes: Attributes, children: (Node | string)[]): T {
	const e = document.createElementNS(space, name);
	for (const key in attributes)
		if (attributes[key] !== false)
			e.setAttribute(key, String(attributes[key]));
	e.append(...children);
	return e as T;
}

export function html<K extends keyof HTMLElementTagNameMap>(name: K, attributes: Attributes = {}, ...children: (Node | string)[]): HTMLElementTagNameMap[K] {
	return make(XHTML, name, attributes, children);
}

export function svg<K extends keyof SVGElementTagNameMap>(name: K, attributes: Attributes = {}, ...children: (Node | string)[]): SVGElementTagNameMap[K] {
	return make(SVG, name, attributes, children);
}

// One element of SVG as a file has it, which is well-formed.
export function parse(markup: string): Element {
	const inside = `<svg xmlns="${SVG}" xmlns:xlink="http://www.w3.org/1999/xlink">${markup}</svg>`;
	return document.importNode(new DOMParser().parseFromString(inside, 'image/svg+xml').documentElement.firstElementChild!, true);
}

// Lines of 16 by 16, drawn in the color of the text.
const ICONS = {
	undo: 'M6 3 2.5 6.5 6 10M3 6.5h6.5a3.5 3.5 0 0 1 0 7H6',
	redo: 'm10 3 3.5 3.5L10 10M13 6.5H6.5a3.5 3.5 0 0 0 0 7H10',
	previous: 'm10 3-5 5 5 5',
	next: 'm6 3 5 5-5 5',
	find: 'M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9M10.5 10.5 14 14',
};

export function icon(name: keyof typeof ICONS): SVGElement {
	return svg('svg', { viewBox: '0 0 16 16', width: 14, height: 14, 'aria-hidden': 'true', class: 'icon' }, svg('path', { d: ICONS[name] }));
}

export function button(what: string | Node, title: string, act: () => void): HTMLButtonElement {
	const b = html('button', { type: 'button', title, 'aria-label': typeof what === 'string' ? false : title }, what);
	b.addEventListener('click', act);
	return b;
}
