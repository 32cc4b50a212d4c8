// The base of a comparison: shows it, its scale, and a button to remove it.

import { useRef, useState } from 'preact/hooks';
import { LazyCompare } from './lazy_views';
import { flame } from './load';
import { usePopup } from './popup';
import { change, view } from './state';

export const isBase = ([key]: [string, string]) => key.startsWith('base') || key === 'scale';

export function compareWith(base: [string, string][]): void {
	change({ subject: [...view.peek().subject.filter((pair) => !isBase(pair)), ...base] });
}

const SCALES = [['', 'automatic'], ['total', 'shares of the total'], ['none', 'as measured'], ['rate', 'per second'], ['requests', 'per request']];

function setScale(scale: string): void {
	const others = view.peek().subject.filter(([key]) => key !== 'scale');
	change({ subject: scale ? [...others, ['scale', scale]] : others });
}

// Chooses how to scale the values before, as far as the data allows: samples have no number of requests.
export function Scale() {
	const scale = view.value.subject.find(([key]) => key === 'scale')?.[1] || '', known = flame.value?.about.compared?.scales ?? ['total', 'none'];
	return <select aria-label="Scale of the values before" value={scale} onChange={(e) => setScale(e.currentTarget.value)}>
		{SCALES.filter(([key]) => !key || key === scale || known.includes(key)).map(([key, words]) => <option key={key} value={key}>{words}</option>)}
	</select>;
}

function EndComparison() {
	return view.value.subject.some(isBase) ? <button type="button" onClick={() => compareWith([])}>end comparison</button> : null;
}

export function Compare() {
	const [open, setOpen] = useState(false), root = useRef<HTMLDivElement>(null);
	usePopup(root, open, () => setOpen(false));
	return <div class="compare" ref={root}>
		<button type="button" aria-expanded={open} aria-pressed={view.value.subject.some(isBase)} onClick={() => setOpen(!open)}>compare</button>
		<EndComparison />
		{open && <LazyCompare close={() => setOpen(false)} />}
	</div>;
}
