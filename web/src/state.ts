// The state of the page, kept in the URL so that links, reload and Back work. Parameters of requests are in the
// query, with the API's own names; display settings are in the fragment and never leave the browser. A page in a file
// has everything in the fragment.

import { computed, signal } from '@preact/signals';
import { initialState } from './file/start';
import { onPrint } from './flame/print';

export interface View {
	from: string;
	to: string;
	column: string;
	by: string;				// '': functions
	function: string;			// '': all of them
	functionFile: string;			// '': all files
	split: string;				// the label that the timeline is split by; '': none
	lines: string;				// lines of source: '': around executed lines, 'all'
	threshold: string;			// call graph: the threshold in percent; '': the server's default
	reverse: boolean;
	inverted: boolean;
	subject: [string, string][];		// runs and comparisons
	filters: [string, string][];
}

// The order of the table: a metric by its column ('': the chosen one) and kind; kind '' is the name.
export interface Order {
	group: string;
	kind: string;
	down: boolean;
}

export type Pane = 'both' | 'graph' | 'table' | 'calls' | 'time';

// A range, a run, or several runs averaged; each may be compared with something.
export type Kind = 'range' | 'run' | 'runs';

const HOW = ['from', 'to', 'step', 'format', 'limit', 'column', 'title', 'reverse', 'inverted', 'lines', 'by', 'function', 'function_file', 'threshold', 'sort', 'split',
	'chart_from', 'chart_to', 'chart_search', 'chart_match', 'pixels', 'zoom', 'side'];
const SUBJECT = ['run', 'weights', 'base', 'base_from', 'base_to', 'scale'];
const isSubject = (key: string) => SUBJECT.includes(key) || key.startsWith('base.');
const PANES = ['graph', 'table', 'calls', 'time'];

const DISPLAY = ['zoom', 'callers', 'search', 'filter', 'order', 'at', 'time', 'show'];		// keys of the fragment

// The initial state of a page in a file.
const start: ReturnType<typeof initialState> = IN_FILE ? initialState() : { reverse: false, inverted: false };

// The run in the path, as in /runs/shop/1.
const pathRun = /^\/runs\/([^/]+\/[^/]+)$/.exec(location.pathname)?.[1] || '';

export const view = signal<View>(readView());
export const zoom = signal<string[]>([]);
export const callersZoom = signal<string[]>([]);
export const search = signal('');
export const pane = signal<Pane>('both');
export const callBox = signal('');		// visible part of the call graph: 'all', or 'x,y,width,height' in its units; '': the critical path
export const chartWindow = signal('');	// visible part of the flame chart: 'from,to' in nanoseconds; '': all of it
export const filter = signal('');		// filter of the table
export const order = signal<Order>({ group: '', kind: 'self', down: true });
export const line = signal(0);		// line of the source that the URL points to; 0: none
export const selfColors = signal(false);	// differences: colors by self values; in a file this is a filter of the address
export const live = signal(false);		// requested again every few seconds; only for ranges that end now

export const onPaper = signal(false);

onPrint((on) => {
	onPaper.value = on;
	document.documentElement.classList.toggle('paper', on);		// its colors
});

export const kind = computed<Kind>(() => {
	if (IN_FILE)
		return 'run';
	const runs = view.value.subject.filter(([key]) => key === 'run').length;
	return runs > 1 ? 'runs' : runs ? 'run' : 'range';
});

readFragment(view.peek());

function readView(): View {
	const p = new URLSearchParams(IN_FILE ? location.hash.slice(1) : location.search), given = [...p].filter(([key, value]) => value && !(IN_FILE && DISPLAY.includes(key)));
	const flag = (key: 'reverse' | 'inverted') => IN_FILE ? (p.get(key) ?? (key === 'reverse' ? p.get('reversed') : null) ?? Number(start[key])) == 1 : p.get(key) === '1';
	const subject = given.filter(([key]) => isSubject(key) && !(pathRun && key === 'run'));
	return {
		from: p.get('from') || '-1h',
		to: p.get('to') || 'now',
		column: p.get('column') || '',
		by: start.grouped || p.get('by') || '',
		function: p.get('function') || '',
		functionFile: p.get('function_file') || '',
		lines: p.get('lines') === 'all' ? 'all' : '',
		threshold: p.get('threshold') || '',
		split: p.get('split') || '',
		reverse: flag('reverse'),
		inverted: flag('inverted'),
		subject: pathRun ? [['run', pathRun], ...subject] : subject,
		filters: given.filter(([key]) => !(IN_FILE && key === 'reversed') && !HOW.includes(key) && !isSubject(key)),
	};
}

// Links include the order of the tables that the server renders.
function sortOfQuery(): string {
	const sort = IN_FILE ? null : new URLSearchParams(location.search).get('sort');
	return sort === 'name' ? ',,up' : sort || 'self';
}

function readFragment(v: View): void {
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
	line.value = IN_FILE ? 0 : Number(/(?:#|&)L(\d+)(?:&|$)/.exec(location.hash)?.[1] || 0);
	const path = (key: string) => parts.get(key) ? parts.get(key)!.split(';').map(decode).filter((name, i) => !IN_FILE || i || name) : [];
	zoom.value = path('zoom');
	callersZoom.value = path('callers');
	search.value = decode(parts.get('search') || '');
	callBox.value = decode(parts.get('at') || '');
	chartWindow.value = decode(parts.get('time') || '');
	filter.value = decode(parts.get('filter') || '');
	const [kind, group, way] = decode(parts.get('order') ?? sortOfQuery()).split(',');
	order.value = { kind, group: group || '', down: way !== 'up' };
	pane.value = PANES.includes(wanted || '') ? wanted as Pane : 'both';
	selfColors.value = parts.get('self') === '1';
	live.value = parts.get('live') === '1' && v.to === 'now';
}

function put(p: URLSearchParams, v: View): URLSearchParams {
	if (v.from !== '-1h')
		p.set('from', v.from);
	if (v.to !== 'now')
		p.set('to', v.to);
	for (const key of ['column', 'by', 'function', 'lines', 'threshold'] as const)
		if (v[key])
			p.set(key, v[key]);
	if (v.function && v.functionFile)
		p.set('function_file', v.functionFile);
	for (const key of ['reverse', 'inverted'] as const)
		if (v[key] !== start[key])
			p.set(key, v[key] ? '1' : '0');
	for (const [key, value] of v.filters)
		p.append(key, value);
	return p;
}

// The query of a view, plus other parameters of a link. It is complete, whatever the page's own path contains.
export function queryOf(v: View, more: Record<string, string> = {}): string {
	const p = put(new URLSearchParams(v.subject), v);
	for (const [key, value] of Object.entries(more))
		p.set(key, value);
	return p.toString();
}

// In a file the first of several names may be that of the root, which is empty, as in URLs of an SVG.
function joined(path: string[]): string {
	return (IN_FILE && !path[0] ? ';' : '') + path.map(encodeURIComponent).join(';');
}

function fragment(): string {
	const parts = line.value && view.value.function ? [`L${line.value}`] : [];
	if (zoom.value.length)
		parts.push(`zoom=${joined(zoom.value)}`);
	if (callersZoom.value.length)
		parts.push(`callers=${joined(callersZoom.value)}`);
	if (search.value)
		parts.push(`search=${encodeURIComponent(search.value)}`);
	if (filter.value)
		parts.push(`filter=${encodeURIComponent(filter.value)}`);
	const { kind, group, down } = order.value, by = [kind, group, down ? '' : 'up'].join(',').replace(/,+$/, '');
	if (by !== 'self')
		parts.push(`order=${by}`);
	if (callBox.value && pane.value === 'calls')
		parts.push(`at=${callBox.value}`);
	if (chartWindow.value && pane.value === 'time')
		parts.push(`time=${chartWindow.value}`);
	if (pane.value !== 'both')
		parts.push(`show=${pane.value}`);
	if (selfColors.value && !IN_FILE)
		parts.push('self=1');
	if (live.value)
		parts.push('live=1');
	return parts.length ? `#${parts.join('&')}` : '';
}

export function address(v = view.value): string {
	const p = put(new URLSearchParams(v.subject.filter(([key]) => !(pathRun && key === 'run'))), v);
	if (v.split)
		p.set('split', v.split);
	const query = p.toString();
	if (IN_FILE)
		return '#' + [query, fragment().slice(1)].filter(Boolean).join('&');
	return location.pathname + (query ? `?${query}` : '') + fragment();
}

// Stores a step that Back undoes, or (while typing) one that it does not.
function remember(step: boolean): void {
	const to = address();
	if (IN_FILE) {
		keepInFile(to, step);
		return;
	}
	if (to === location.pathname + location.search + location.hash)
		return;
	if (step)
		history.pushState(null, '', to);
	else
		history.replaceState(null, '', to);
}

// Some viewers have no history for documents.
function keepInFile(to: string, step: boolean): void {
	if (to === (location.hash || '#'))
		return;
	try {
		history[step ? 'pushState' : 'replaceState'](null, '', to);
	} catch {
		// the view changes nevertheless
	}
}

// A range with a fixed end is not updated.
export function change(part: Partial<View>): void {
	if (part.to && part.to !== 'now')
		live.value = false;
	view.value = { ...view.value, ...part };
	remember(true);
}

export function setLive(on: boolean): void {
	const { from, to } = view.value;
	live.value = on;
	if (on && to !== 'now')
		change({ from: from.startsWith('-') ? from : '-1h', to: 'now' });
	else
		remember(false);
}

// Switches to the reversed graph, which has another zoom.
export function reverse(): void {
	zoom.value = [];
	change({ reverse: !view.value.reverse });
}

export function setZoom(path: string[]): void {
	zoom.value = path;
	remember(true);
}

export function setCallersZoom(path: string[]): void {
	callersZoom.value = path;
	remember(true);
}

// Opens a function, or with '' returns to all of them. The zoom belonged to another graph.
export function openFunction(name: string, file = ''): void {
	zoom.value = [];
	callersZoom.value = [];
	line.value = 0;
	change({ function: name, functionFile: file, lines: '' });
}

// The URL of that, for links that open in another tab.
export function functionAddress(name: string, file = ''): string {
	const to = { ...view.value, function: name, functionFile: file, lines: '' };
	if (IN_FILE)
		return `#${put(new URLSearchParams(), to)}`;
	return address(to).replace(/#.*/, '');
}

export function setLine(n: number): void {
	line.value = n;
	remember(false);
}

export function setSearch(text: string, step: boolean): void {
	search.value = text;
	remember(step);
}

export function setTableFilter(text: string): void {
	filter.value = text;
	remember(false);
}

export function setCallBox(box: string): void {
	callBox.value = box;
	remember(false);
}

export function setChartWindow(window: string): void {
	chartWindow.value = window;
	remember(false);
}

export function setSelfColors(on: boolean): void {
	selfColors.value = on;
	remember(true);
}

export function setOrder(o: Order): void {
	order.value = o;
	remember(true);
}

export function setPane(p: Pane): void {
	pane.value = p;
	remember(true);
}

// The label of a filter: "label.from" means the label with a parameter's name.
export function labelOf(key: string): string {
	return key.startsWith('label.') ? key.slice(6) : key;
}

// Whether it filters stacks, not labels: those through functions that match, or all others.
export const isStackFilter = ([key]: [key: string, text: string]) => /^(keep|remove)(-i)?$/.test(key);

// Neither a stack filter nor the width of a difference, which files store beside them.
export const isLabelFilter = (f: [key: string, text: string]) => !isStackFilter(f) && f[0] !== 'width';

// The key of a filter of that label.
export function filterKey(label: string): string {
	return HOW.includes(label) || isSubject(label) || !IN_FILE && !isLabelFilter([label, '']) ? `label.${label}` : label;
}

export function filtersOf(label: string): string[] {
	return view.value.filters.filter(([key]) => labelOf(key) === label).map(([, filter]) => filter);
}

// Replaces all filters of that label.
export function setFilters(label: string, filters: string[]): void {
	const key = filterKey(label);
	const others = view.value.filters.filter(([k]) => labelOf(k) !== label);
	change({ filters: [...others, ...filters.map((filter) => [key, filter] as [string, string])] });
}

addEventListener('popstate', () => {
	const old = view.value, now = readView();
	readFragment(now);
	if (queryOf(now) !== queryOf(old) || now.split !== old.split)
		view.value = now;
});
