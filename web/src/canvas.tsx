// One flame graph on a canvas, with a description of the box under the pointer or keyboard focus. Used for the whole
// flame graph and for both halves of a function's page.

import { effect, untracked } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { drawnOnly, rounded, type FlameData } from './flame/data';
import { boxCount, isGray } from './flame/gray';
import { FlameView } from './flame/view';
import * as format from './format';
import { paintOf } from './paint';
import { follow, titleOf } from './file/paint';

export interface CanvasProps {
	label: string;				// "Flame graph"
	question(): string;			// data for the same query replaces the previous data in place
	data(): FlameData | null;		// called in effects, again when a signal changes
	graphs?(): FlameData[];			// graphs that share a color scale
	zoomed(): number;
	inverted(): boolean;
	zoom(box: number): void;
	match?(): Uint8Array | null;
	focused?: { value: number };
	open(name: string, place: string): void;	// the page of a function
	next?(step: number): void;
}

type Facts = [string, string][];

function describeChange(d: FlameData, box: number, unit: string, drawn: string): Facts {
	const [ownBefore, ownAfter] = d.ownSides(box), before = d.before![box], after = d.after![box];
	const sides = (from: number, to: number) => `${format.value(rounded(from), unit)} → ${format.value(to, unit)}, ${format.change(to - rounded(from), unit)}`;
	return [[`total${drawn}`, sides(before, after)], ['of all', `${format.share(before, d.before![0])} → ${format.share(after, d.after![0])}`],
		[`self${drawn}`, sides(ownBefore, ownAfter)]];
}

export function describe(d: FlameData, box: number, z: number): { name: string; place: string; facts: Facts } {
	const { about } = d, column = about.columns[about.column], unit = column?.unit || 'count';
	const total = d.width[box], self = d.self(box), gray = isGray(d, box), calls = column?.name === 'calls', drawn = drawnOnly(column), words = { name: IN_FILE && titleOf(d, box) || d.name(box), place: d.place(d.frame[box]) };
	if (d.before)
		return { ...words, facts: describeChange(d, box, unit, drawn) };
	const facts: Facts = [
		[calls ? 'with all below' : `total${drawn}`, `${format.value(total, unit)} · ${format.share(total, d.total)}`],
		gray ? ['click', 'to see what it is'] : [calls ? 'called' : about.reverse ? 'end' : `self${drawn}`, `${format.value(self, unit)} · ${format.share(self, d.total)}`],
	];
	if (z > 0)
		facts.push(['of zoomed', format.share(Math.min(total, d.width[z]), d.width[z])]);
	if (unit === 'count' && about.period_ns > 0 && column.name === 'samples')
		facts.push(['about', format.value(total * about.period_ns, 'nanoseconds')]);
	return { ...words, facts };
}

interface Tip {
	box: number;
	x: number;
	y: number;
}

export function Tooltip({ tip, data, zoomed, facts: given }: { tip: Tip; data: FlameData; zoomed: number; facts?: Facts }) {
	const box = useRef<HTMLDivElement>(null);
	const { name, place, facts } = given ? { name: data.name(tip.box), place: data.place(data.frame[tip.box]), facts: given } : describe(data, tip.box, zoomed);

	useEffect(() => {
		const e = box.current!;
		const x = Math.min(tip.x + 14, innerWidth - e.offsetWidth - 8);
		const y = tip.y + 18 + e.offsetHeight > innerHeight ? tip.y - e.offsetHeight - 10 : tip.y + 18;
		e.style.transform = `translate(${Math.max(8, x)}px, ${Math.max(8, y)}px)`;
	});
	return <div class="tip" ref={box} role="tooltip">
		<b>{name}</b>
		{place && <span class="place">{place}</span>}
		<dl>{facts.map(([k, v]) => <div key={k}><dt>{k}</dt><dd>{v}</dd></div>)}</dl>
	</div>;
}

function say(data: FlameData, box: number, zoomed: number): string {
	const { name, place, facts } = describe(data, box, zoomed);
	return `${name}${place ? `, ${place}` : ''}, ${facts.map(([k, v]) => `${k} ${v.replace('·', ',')}`).join(', ')}`;
}

export function Canvas(p: CanvasProps) {
	const host = useRef<HTMLDivElement>(null), canvas = useRef<FlameView | null>(null), latest = useRef(p);
	const [tip, setTip] = useState<Tip | null>(null), [spoken, setSpoken] = useState('');
	latest.current = p;

	useEffect(() => {
		const now = () => latest.current;
		let answered = '';
		const c = canvas.current = new FlameView(host.current!, {
			zoom: (box) => { setTip(null); now().zoom(box); },
			hover: (box, x, y) => setTip(box >= 0 ? { box, x, y } : null),
			focus: (box) => {
				if (p.focused)
					p.focused.value = box;
				setSpoken(say(now().data()!, box, now().zoomed()));
			},
			open: (box) => box > 0 && !isGray(now().data()!, box) && !(IN_FILE && follow(now().data()!, box)) && now().open(now().data()!.name(box), now().data()!.place(now().data()!.frame[box])),
			next: (step) => now().next?.(step),
		});
		const undo = [
			effect(() => {
				const d = now().data();
				setTip(null);
				if (d) {
					const question = now().question();
					c.setPaint(paintOf(d, now().graphs?.()));
					c.setData(d, untracked(() => now().zoomed()), question === answered);
					answered = question;
				}
				if (p.focused)
					p.focused.value = c.marked;
			}),
			effect(() => c.setInverted(now().inverted())),
			effect(() => c.setZoom(now().zoomed())),
			effect(() => { void now().data(); c.setMatch(now().match?.() || null); }),
			effect(() => p.focused && p.focused.value !== c.marked ? c.setFocus(p.focused.value) : undefined),
		];
		return () => {
			undo.forEach((f) => f());
			c.destroy();
			// Nobody else moves the mark to the box's number in other data.
			if (p.focused)
				p.focused.value = -1;
		};
	}, []);

	const d = p.data();
	return <>
		<div class="flame" ref={host} tabIndex={0} role="application" aria-roledescription="flame graph"
			aria-label={d ? `${p.label}, ${format.count(boxCount(d))} boxes${d.joined ? `, ${format.count(d.joined)} of them too narrow to be seen` : ''}. Arrow keys walk, Enter zooms, F opens the function, Escape resets; the table has the same content.` : p.label} />
		<p class="sr" role="status">{spoken}</p>
		{tip && d && tip.box < d.count && <Tooltip tip={tip} data={d} zoomed={p.zoomed()} />}
	</>;
}
