// The state of the page in its URL: by names instead of pixels, so that a link still works when the picture has been
// redrawn from newer data. Each step is an entry of the browser's history, so that Back means undo.

import { MEANINGS, type Meaning } from '../flame/derive';

export type ColorBy = 'function' | 'layer' | 'package';

export interface FilterText {
	text: string;
	keep: boolean;
	ignoreCase: boolean;
}

export interface State {
	zoom: string[];
	search: string;
	ignoreCase: boolean;
	filters: FilterText[];
	reversed: boolean;
	inverted: boolean;
	color: ColorBy;
	meaning: Meaning;
	self: boolean;			// color by self instead of total differences
}

const COLORS: ColorBy[] = ['function', 'layer', 'package'];

export function toFragment(s: State, start: State): string {
	const parts: string[] = [], path = s.zoom.map((name) => `;${encodeURIComponent(name)}`).join('');
	if (path)
		parts.push(`zoom=${path}`);
	if (s.search)
		parts.push(`search=${encodeURIComponent(s.search)}`);
	if (s.ignoreCase !== start.ignoreCase)
		parts.push(`ic=${s.ignoreCase ? 1 : 0}`);
	for (const f of s.filters)
		parts.push(`${f.keep ? 'keep' : 'remove'}${f.ignoreCase ? '-i' : ''}=${encodeURIComponent(f.text)}`);
	for (const key of ['reversed', 'inverted', 'self'] as const)
		if (s[key] !== start[key])
			parts.push(`${key}=${s[key] ? 1 : 0}`);
	if (s.color !== start.color)
		parts.push(`color=${s.color}`);
	if (s.meaning !== start.meaning)
		parts.push(`width=${s.meaning}`);
	return `#${parts.join('&')}`;
}

function decode(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;		// typed by hand
	}
}

export function fromFragment(fragment: string, start: State): State {
	const s: State = { ...start, filters: [] };
	for (const part of fragment.replace(/^#/, '').split('&')) {
		const at = part.indexOf('='), key = part.slice(0, at), raw = part.slice(at + 1), value = decode(raw);
		if (key === 'zoom')
			s.zoom = raw.replace(/^;/, '').split(';').map(decode);
		else if (key === 'search')
			s.search = value;
		else if (key === 'ic')
			s.ignoreCase = value === '1';
		else if (/^(keep|remove)(-i)?$/.test(key) && value)
			s.filters.push({ text: value, keep: key.startsWith('keep'), ignoreCase: key.endsWith('-i') });
		else if (key === 'reversed' || key === 'inverted' || key === 'self')
			s[key] = value === '1';
		else if (key === 'color')
			s.color = COLORS.find((c) => c === value) || start.color;
		else if (key === 'width')
			s.meaning = MEANINGS.find((m) => m === value) || start.meaning;
	}
	return s;
}

// The steps made so far. Some viewers have no history for documents; then this list alone serves undo.
export class Steps {
	private list: string[];
	private at: number;
	private mirrored = true;
	private lastKind = '';

	constructor(private readonly apply: (fragment: string) => void) {
		const kept = history.state as { strobe?: number; of?: number } | null;
		this.at = kept?.strobe || 0;
		this.list = new Array(Math.max(this.at + 1, kept?.of || 0)).fill('');
		this.list[this.at] = location.hash || '#';
		this.mirror('replaceState', location.hash || '#');
		addEventListener('popstate', (e) => {
			// A URL typed by hand is a step that was not added here.
			const at = (e.state as { strobe?: number } | null)?.strobe;
			this.at = at ?? this.list.push(location.hash) - 1;
			this.lastKind = '';
			this.apply(location.hash);
		});
	}

	get canUndo(): boolean { return this.at > 0; }
	get canRedo(): boolean { return this.at + 1 < this.list.length; }

	// Consecutive steps of one kind, such as typed letters, are merged; '' is never merged.
	add(fragment: string, kind: string): void {
		if (fragment === (this.list[this.at] || location.hash || '#'))
			return;
		const goesOn = kind !== '' && kind === this.lastKind;
		this.lastKind = kind;
		if (!goesOn) {
			this.at++;
			this.list.length = this.at;
		}
		this.list[this.at] = fragment;
		this.mirror(goesOn ? 'replaceState' : 'pushState', fragment);
	}

	private mirror(how: 'pushState' | 'replaceState', fragment: string): void {
		try {
			history[how]({ strobe: this.at, of: this.list.length }, '', fragment === '#' ? location.href.replace(/#.*/, '#') : fragment);
		} catch {
			this.mirrored = false;
		}
	}

	go(step: 1 | -1): void {
		if (step < 0 ? !this.canUndo : !this.canRedo)
			return;
		this.lastKind = '';
		if (this.mirrored) {
			history.go(step);
			return;
		}
		this.at += step;
		this.apply(this.list[this.at]);
	}
}
