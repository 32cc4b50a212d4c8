// What is looked at, kept in the address so that links, reload and Back work. What is asked of the server stands in the
// query, with the API's own names; how the answer is looked at stands in the fragment and never leaves the browser.

import { signal } from '@preact/signals';

export interface View {
	from: string;
	to: string;
	column: string;
	reverse: boolean;
	inverted: boolean;
	filters: [string, string][];
}

export type Pane = 'both' | 'graph' | 'table';

const HOW = ['from', 'to', 'step', 'format', 'limit', 'column', 'title', 'reverse', 'inverted'];

export const view = signal<View>(readView());
export const zoom = signal<string[]>([]);
export const search = signal('');
export const pane = signal<Pane>('both');
export const live = signal(false);

readFragment();

function readView(): View {
	const p = new URLSearchParams(location.search);
	return {
		from: p.get('from') || '-1h',
		to: p.get('to') || 'now',
		column: p.get('column') || '',
		reverse: p.get('reverse') === '1',
		inverted: p.get('inverted') === '1',
		filters: [...p].filter(([key, value]) => value && !HOW.includes(key)),
	};
}

function readFragment(): void {
	const parts = new Map(location.hash.slice(1).split('&').map((s) => {
		const at = s.indexOf('=');
		return [s.slice(0, at), s.slice(at + 1)] as [string, string];
	}));
	const decode = (s: string) => {
		try {
			return decodeURIComponent(s);
		} catch {
			return s;	// typed by hand
		}
	};
	const wanted = parts.get('show');
	zoom.value = parts.get('zoom') ? parts.get('zoom')!.split(';').map(decode) : [];
	search.value = decode(parts.get('search') || '');
	pane.value = wanted === 'graph' || wanted === 'table' ? wanted : 'both';
}

// The query of a view, with what else a link needs.
export function queryOf(v: View, more: Record<string, string> = {}): string {
	const p = new URLSearchParams();
	if (v.from !== '-1h')
		p.set('from', v.from);
	if (v.to !== 'now')
		p.set('to', v.to);
	if (v.column)
		p.set('column', v.column);
	if (v.reverse)
		p.set('reverse', '1');
	if (v.inverted)
		p.set('inverted', '1');
	for (const [key, value] of v.filters)
		p.append(key, value);
	for (const [key, value] of Object.entries(more))
		p.set(key, value);
	return p.toString();
}

function fragment(): string {
	const parts = [];
	if (zoom.value.length)
		parts.push(`zoom=${zoom.value.map(encodeURIComponent).join(';')}`);
	if (search.value)
		parts.push(`search=${encodeURIComponent(search.value)}`);
	if (pane.value !== 'both')
		parts.push(`show=${pane.value}`);
	return parts.length ? `#${parts.join('&')}` : '';
}

export function address(v = view.value): string {
	const query = queryOf(v);
	return location.pathname + (query ? `?${query}` : '') + fragment();
}

// A step that Back undoes, or (while typing) one that it does not.
function remember(step: boolean): void {
	const to = address();
	if (to === location.pathname + location.search + location.hash)
		return;
	if (step)
		history.pushState(null, '', to);
	else
		history.replaceState(null, '', to);
}

export function change(part: Partial<View>): void {
	view.value = { ...view.value, ...part };
	remember(true);
}

export function setZoom(path: string[]): void {
	zoom.value = path;
	remember(true);
}

export function setSearch(text: string, step: boolean): void {
	search.value = text;
	remember(step);
}

export function setPane(p: Pane): void {
	pane.value = p;
	remember(true);
}

export function setFilter(key: string, value: string): void {
	const others = view.value.filters.filter(([k]) => k !== key);
	change({ filters: value ? [...others, [key, value]] : others });
}

addEventListener('popstate', () => {
	const old = queryOf(view.value), now = readView();
	readFragment();
	if (queryOf(now) !== old)
		view.value = now;
});
