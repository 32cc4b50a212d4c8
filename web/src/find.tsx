// A field that finds functions, in every view: it offers the best matches for the text typed so far.

import { useMemo, useState } from 'preact/hooks';
import { table } from './load';
import { fuzzyFilter } from './picker';
import { openFunction, view } from './state';

const OFFERED = 20;

export function FindFunction() {
	const [typed, setTyped] = useState(''), t = table.value, { by } = view.value;
	const offered = useMemo(() => t && typed ? [...new Set((fuzzyFilter(t.name, typed) || []).map((i) => t.name[i]))].slice(0, OFFERED) : [], [t, typed]);
	const open = (name?: string) => {
		if (!name)
			return;
		setTyped('');
		openFunction(name);
	};
	return <form class="find" onSubmit={(e) => {
		e.preventDefault();
		open(offered.find((name) => name === typed) || offered[0]);
	}}>
		<input id="find" type="text" list="found" placeholder={`go to ${by && by !== 'own' ? by : 'function'}`} aria-label="Go to a function" value={typed} spellcheck={false} autocomplete="off"
			onInput={(e) => {
				const { value } = e.currentTarget;
				setTyped(value);
				if (/^insertR/.test((e as InputEvent).inputType ?? 'insertR') && t?.name.includes(value))	// chosen, not typed
					open(value);
			}} />
		<datalist id="found">{offered.map((name) => <option key={name} value={name} />)}</datalist>
	</form>;
}
