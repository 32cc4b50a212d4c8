// Chooses one value of a label: a button that opens a list with a field to narrow it down. Works for thousands of
// values: the best ones by fuzzy match are shown.

import uFuzzy from '@leeoniya/ufuzzy';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import * as format from './format';

const SHOWN = 60;
const fuzzy = new uFuzzy({ intraMode: 1 });

export function fuzzyFilter(all: string[], needle: string): number[] | null {
	if (!needle.trim())
		return null;
	const [found, info, order] = fuzzy.search(all, needle, 0, 1000);
	if (!found)
		return [];
	return order && info ? order.map((i) => info.idx[i]) : found;
}

interface Props {
	label: string;
	all: string;
	chosen: string;
	values: { value: string; samples: number }[];
	choose(value: string): void;
}

// How a filter of the address reads: "!x" is not x, "x*" begins with x.
function words(chosen: string): string {
	if (chosen.startsWith('='))
		return chosen.slice(1);
	return chosen.startsWith('!') ? `not ${chosen.slice(1)}` : chosen;
}

// What stands for exactly this value.
function exact(value: string): string {
	return /^[!=]/.test(value) || value.endsWith('*') ? `=${value}` : value;
}

export function Picker({ label, all, chosen, values, choose }: Props) {
	const [open, setOpen] = useState(false), [needle, setNeedle] = useState(''), [at, setAt] = useState(0);
	const root = useRef<HTMLDivElement>(null), field = useRef<HTMLInputElement>(null), button = useRef<HTMLButtonElement>(null);
	const id = `pick-${label}`;
	const options = useMemo(() => {
		const names = values.map((v) => v.value), order = fuzzyFilter(names, needle);
		const shown = (order ? order.map((i) => values[i]) : values).slice(0, SHOWN);
		return needle ? shown : [{ value: '', samples: -1 }, ...shown];
	}, [values, needle]);
	const most = Math.max(1, ...values.map((v) => v.samples));

	useEffect(() => {
		if (!open)
			return;
		field.current?.focus();
		const away = (e: Event) => root.current?.contains(e.target as Node) || setOpen(false);
		addEventListener('pointerdown', away);
		return () => removeEventListener('pointerdown', away);
	}, [open]);

	const take = (value: string) => {
		setOpen(false);
		setNeedle('');
		button.current?.focus();
		choose(value && exact(value));
	};
	const key = (e: KeyboardEvent) => {
		const step = e.key === 'ArrowDown' ? 1 : e.key === 'ArrowUp' ? -1 : 0;
		if (step)
			setAt(Math.min(options.length - 1, Math.max(0, at + step)));
		else if (e.key === 'Enter' && options[at])
			take(options[at].value);
		else if (e.key === 'Escape') {
			setOpen(false);
			button.current?.focus();
		} else
			return;
		e.preventDefault();
	};

	return <div class="picker" ref={root}>
		<button ref={button} type="button" class={chosen ? 'pick chosen' : 'pick'} aria-haspopup="listbox" aria-expanded={open}
			onClick={() => { setOpen(!open); setAt(0); }}>
			<span class="key">{label}</span> <span class="val">{chosen ? words(chosen) : all}</span>
		</button>
		{open && <div class="popup">
			<input ref={field} type="text" role="combobox" aria-expanded="true" aria-controls={id} placeholder={`find ${label}`}
				aria-label={`Find ${label}`} aria-activedescendant={`${id}-${at}`} autocomplete="off" spellcheck={false}
				value={needle} onKeyDown={key} onInput={(e) => { setNeedle(e.currentTarget.value); setAt(0); }} />
			<ul id={id} role="listbox" aria-label={label}>
				{options.map((o, i) => <li key={o.value} id={`${id}-${i}`} role="option" aria-selected={i === at}
					onPointerMove={() => setAt(i)} onClick={() => take(o.value)}>
					<span class="val">{o.samples < 0 ? all : o.value || '(none)'}</span>
					{o.samples >= 0 && <><meter aria-hidden="true" min={0} max={most} value={o.samples} />
						<span class="num">{format.count(o.samples)}</span></>}
				</li>)}
				{!options.length && <li class="none">no {label} like this</li>}
			</ul>
		</div>}
	</div>;
}
