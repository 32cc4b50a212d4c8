// Chooses values of a label, or all but these, or those with a prefix: a button that opens a list with a field to narrow it
// down. Works for thousands of values: the best ones by fuzzy match are shown.

import uFuzzy from '@leeoniya/ufuzzy';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import * as format from './format';
import { usePopup } from './popup';

const SHOWN = 60;
const fuzzy = new uFuzzy({ intraMode: 1 });

// The texts that contain the needle, those beginning with it first, and short ones before long ones; if none does,
// similar ones.
export function fuzzyFilter(all: string[], needle: string): number[] | null {
	const text = needle.trim().toLowerCase();
	if (!text)
		return null;
	const at = all.map((s) => s.toLowerCase().indexOf(text)), hits = [...all.keys()].filter((i) => at[i] >= 0);
	if (hits.length)
		return hits.sort((i, k) => +(at[i] > 0) - +(at[k] > 0) || all[i].length - all[k].length);
	const [found, info, order] = fuzzy.search(all, text.replace(/(^|\s)-+/g, '$1'), 0, 1000);	// in which a - is a "not"
	if (!found)
		return [];
	return order && info ? order.map((i) => info.idx[i]) : found;
}

// One filter of the address: "x" is x, "x*" begins with x, "=x" is exactly x; with "!" before it, that is not so.
interface Filter {
	value: string;
	not?: boolean;
	prefix?: boolean;
}

function parse(text: string): Filter {
	const not = text.startsWith('!'), rest = text.slice(+not);
	if (rest.startsWith('='))
		return { value: rest.slice(1), not };
	return rest.endsWith('*') ? { value: rest.slice(0, -1), not, prefix: true } : { value: rest, not };
}

function written({ value, not, prefix }: Filter): string {
	const isExact = !prefix && (/^=|\*$/.test(value) || !not && /^(!|$)/.test(value));
	return (not ? '!' : '') + (isExact ? '=' : '') + value + (prefix ? '*' : '');
}

// Escapes a value that looks like a prefix.
function literal(value: string): string {
	return value.endsWith('*') ? `"${value}"` : value || '(none)';
}

function words(chosen: Filter[]): string {
	const said = (not: boolean) => chosen.filter((c) => !!c.not === not).map((c) => c.prefix ? `${c.value}*` : literal(c.value)).join(', '), isNot = said(true);
	return [said(false), isNot && `not ${isNot}`].filter(Boolean).join(', ');
}

interface Option {
	kind: 'all' | 'prefix' | 'value';
	value: string;
	samples: number;
}

interface Props {
	label: string;
	all: string;
	chosen: string[];
	values: { value: string; samples: number }[];
	opened?: boolean;
	choose(filters: string[]): void;
}

// The values that match the typed text, or all if it is empty.
function optionsOf(values: Props['values'], needle: string): Option[] {
	const order = fuzzyFilter(values.map((v) => v.value), needle);
	const shown: Option[] = (order ? order.map((i) => values[i]) : values).slice(0, SHOWN).map((v) => ({ kind: 'value', ...v }));
	if (!needle)
		return [{ kind: 'all', value: '', samples: -1 }, ...shown];
	const samples = values.filter((v) => v.value.startsWith(needle)).reduce((sum, v) => sum + v.samples, 0);
	return /^[!=]/.test(needle) ? shown : [...shown, { kind: 'prefix', value: needle, samples }];
}

export function Picker({ label, all, chosen: texts, values, opened = false, choose }: Props) {
	const chosen = texts.map(parse), said = chosen.length ? words(chosen) : '';
	const [open, setOpen] = useState(opened), [needle, setNeedle] = useState(''), [at, setAt] = useState(0);
	const [not, setNot] = useState(!!chosen[0]?.not);
	const root = useRef<HTMLDivElement>(null), field = useRef<HTMLInputElement>(null), button = useRef<HTMLButtonElement>(null);
	const id = `pick-${label}`, options = useMemo(() => optionsOf(values, needle), [values, needle]);
	const most = Math.max(1, ...values.map((v) => v.samples));
	const same = (o: Option) => (c: Filter) => c.value === o.value && !!c.prefix === (o.kind === 'prefix') && !!c.not === not;

	useLayoutEffect(() => field.current?.focus(), [open]);		// immediately: later it would steal the focus
	usePopup(root, open, () => {
		setOpen(false);
		setNeedle('');
	});

	const close = () => {
		setOpen(false);
		setNeedle('');
		button.current?.focus();
	};
	const take = (filters: Filter[]) => choose(filters.map(written));
	const only = (o: Option) => {
		close();
		take(o.kind === 'all' ? [] : [{ value: o.value, not, prefix: o.kind === 'prefix' }]);
	};
	// Adds or removes a chosen value.
	const toggle = (o: Option) => {
		const others = chosen.filter((c) => c.value !== o.value || !!c.prefix !== (o.kind === 'prefix'));
		take(o.kind === 'all' ? [] : chosen.some(same(o)) ? others : [...others, { value: o.value, not, prefix: o.kind === 'prefix' }]);
	};
	const turn = (to: boolean) => {
		setNot(to);
		setAt(0);
		if (to !== not)
			take(chosen.map((c) => ({ ...c, not: to })));
	};
	const key = (e: KeyboardEvent) => {
		const step = e.key === 'ArrowDown' ? 1 : e.key === 'ArrowUp' ? -1 : 0;
		if (step)
			setAt(Math.min(options.length - 1, Math.max(0, at + step)));
		else if (e.key === 'Enter' && options[at])
			(e.shiftKey ? toggle : only)(options[at]);
		else
			return;
		e.preventDefault();
	};
	const isTick = (e: MouseEvent) => e.shiftKey || e.ctrlKey || e.metaKey || (e.target as Element).classList.contains('tick');

	return <div class="picker" ref={root}>
		<button ref={button} type="button" class={said ? 'pick chosen' : 'pick'} aria-haspopup="listbox" aria-expanded={open} title={said || undefined}
			onClick={() => { setOpen(!open); setAt(0); setNot(!!chosen[0]?.not); }}>
			<span class="key">{label}</span> <span class="val">{said || all}</span>
		</button>
		{open && <div class="popup">
			<div class="segments" role="group" aria-label={`How ${label} is compared`}>
				<button type="button" aria-pressed={!not} onClick={() => turn(false)}>is</button>
				<button type="button" aria-pressed={not} onClick={() => turn(true)}>is not</button>
			</div>
			<input ref={field} type="text" role="combobox" aria-expanded="true" aria-controls={id} placeholder={`find ${label}`}
				aria-label={`Find ${label}; Shift+Enter adds to the selection`} aria-activedescendant={`${id}-${at}`} autocomplete="off" spellcheck={false}
				value={needle} onKeyDown={key} onInput={(e) => { setNeedle(e.currentTarget.value); setAt(0); }} />
			<ul id={id} role="listbox" aria-label={label} aria-multiselectable="true">
				{options.map((o, i) => <li key={o.kind + o.value} id={`${id}-${i}`} role="option" class={i === at ? 'at' : ''}
					aria-selected={o.kind === 'all' ? !chosen.length : chosen.some(same(o))}
					onPointerMove={() => setAt(i)} onClick={(e) => (isTick(e) ? toggle : only)(o)}>
					<span class="tick" title={o.kind === 'all' ? undefined : 'Several can be selected'} />
					<span class="val">{o.kind === 'all' ? all : o.kind === 'prefix' ? <>begins with <b>{o.value}</b></> : literal(o.value)}</span>
					{o.samples >= 0 && <><meter aria-hidden="true" min={0} max={most} value={Math.min(o.samples, most)} />
						<span class="num">{format.count(o.samples)}</span></>}
				</li>)}
				{!options.length && <li class="none">no {label} like this</li>}
			</ul>
		</div>}
	</div>;
}
