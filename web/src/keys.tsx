// The sheet of keys, on "?".

import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { openFunction, view } from './state';

const shown = signal(false);

const KEYS: [string, string][] = [
	['?', 'this sheet'], ['/' + (IN_FILE ? ', Ctrl+F' : ''), 'search the graph'], ['Enter, Shift+Enter', 'in the search: next and previous match'],
	['n, N', 'next and previous match, in the graph'], ['arrow keys', 'walk the boxes of a graph; move a call graph'],
	['Enter', 'zoom to the marked box'], ['Backspace', 'zoom out by one'], ['Escape', 'all of it'],
	['f, Ctrl+click', 'callers and callees of the box'], ['g', 'go to a function by its name'], ['a', 'back to all functions'],
	['+, -, 0', 'zoom a call graph or a flame chart; show all of it'], ['wheel, drag', 'zoom and move a call graph or a flame chart'],
];

function isTyping(e: KeyboardEvent): boolean {
	return e.target instanceof HTMLInputElement || e.target instanceof HTMLSelectElement || e.target instanceof HTMLTextAreaElement;
}

export function listenForKeys(): void {
	addEventListener('keydown', (e) => {
		if (IN_FILE && (e.key === 'F3' || e.key === 'f' && (e.ctrlKey || e.metaKey))) {
			document.getElementById(view.value.function ? '' : 'search')?.focus();
			e.preventDefault();
			return;
		}
		if (isTyping(e) || e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented)
			return;
		if (e.key === '?')
			shown.value = !shown.value;
		else if (e.key === 'a' && view.value.function)
			openFunction('');
		else if (e.key === '/' || e.key === 'g')
			document.getElementById(e.key === 'g' ? 'find' : 'search')?.focus();
		else
			return;
		e.preventDefault();
	});
}

export function KeysButton() {
	return <button type="button" class="icon keys-button" title="Keys (?)" aria-label="Keys" onClick={() => shown.value = true}>?</button>;
}

export function Keys({ keys = KEYS }) {
	const dialog = useRef<HTMLDialogElement>(null);
	useEffect(() => {
		const d = dialog.current!;
		if (shown.value && !d.open)
			d.showModal();
		else if (!shown.value && d.open)
			d.close();
	}, [shown.value]);
	return <dialog class="keys" ref={dialog} aria-label="Keys" onClose={() => shown.value = false}
		onClick={(e) => e.target === dialog.current && dialog.current!.close()}>
		<h2>Keys</h2>
		<dl>{keys.map(([key, what]) => <div key={key}><dt>{key}</dt><dd>{what}</dd></div>)}</dl>
		<form method="dialog"><button class="primary">Close</button></form>
	</dialog>;
}
