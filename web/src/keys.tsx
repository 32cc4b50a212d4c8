// The sheet of keys, on "?".

import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { openFunction, pane, setZoom, view, zoom, type Pane } from './state';

const shown = signal(false);

type KeyList = [keys: string, what: string][];

const ZOOM: KeyList = [['Backspace', 'zoom out by one'], ['Escape', 'all of it']];
const BOXES: KeyList = [['arrow keys', 'walk the boxes'], ['Enter', 'zoom to the marked box'], ...ZOOM,
	['f, Ctrl+click', 'callers and callees of the box']];
const TABLE: KeyList = [['↑, ↓', 'in a table, to which Tab leads: its rows, and the headings above'], ['←, →, Enter', 'in a row: its buttons and links']];
const GRAPH: KeyList = [['Enter, Shift+Enter', 'in the search: next and previous match'], ['n, N', 'next and previous match, in the graph'], ...BOXES];
const KEYS: Record<Pane | 'function', KeyList> = {
	both: [...GRAPH, ...TABLE], graph: GRAPH, table: [...TABLE, ...ZOOM], function: [...BOXES, ...TABLE, ['a', 'back to all functions']],
	calls: [['+, -', 'zoom'], ['0, Escape, double click', 'all of it'], ['arrow keys', 'move'], ['Tab, Enter', 'next function, go to it'], ['wheel, drag', 'zoom, move']],
	time: [['+ or w, - or s', 'zoom in, zoom out'], ['← or a, → or d', 'earlier, later'], ['↑, ↓', 'scroll the rows'], ['0, Escape', 'all of it'], ['wheel, drag', 'zoom, move'],
		['Shift+wheel', 'scroll the rows']],
};

// Those of the view that is shown.
function keysOfView(): KeyList {
	const shown = view.value.function ? 'function' : pane.value, search: KeyList = shown === 'function' || shown === 'calls' ? [] :
		[['/' + (IN_FILE ? ', Ctrl+F' : ''), shown === 'table' ? 'filter the table' : `search the ${shown === 'time' ? 'chart' : 'graph'}, in either case`]];
	return [['?', 'this sheet'], ...search, ...KEYS[shown], ['g', 'go to a function by its name']];
}

function isTyping(e: KeyboardEvent): boolean {
	return e.target instanceof HTMLInputElement || e.target instanceof HTMLSelectElement || e.target instanceof HTMLTextAreaElement;
}

// The browser has the keys of fields that are not there.
function focus(...ids: string[]): boolean {
	const field = ids.map((id) => document.getElementById(id)).find((e) => e);
	field?.focus();
	return !!field;
}

// As if the graph had the focus. A table alone has the zoom of the address.
function zoomOut(e: KeyboardEvent): boolean {
	const graphs = document.querySelectorAll('.flame, .call-graph');
	graphs.forEach((graph) => graph.dispatchEvent(new KeyboardEvent('keydown', { key: e.key, cancelable: true })));
	if (!graphs.length && zoom.value.length)
		setZoom(e.key === 'Escape' ? [] : zoom.value.slice(0, -1));
	return graphs.length > 0;
}

function act(e: KeyboardEvent, isFind: boolean): boolean {
	if (e.key === '?' && !isFind)
		shown.value = !shown.value;
	else if (shown.value)
		return false;
	else if (isFind || e.key === '/')
		return focus('search', 'chart-search', 'narrow');
	else if (e.key === 'g')
		return focus('find');
	else if (e.key === 'a' && view.value.function)
		openFunction('');
	else if (e.key === 'Escape' || e.key === 'Backspace')
		return zoomOut(e);
	else
		return false;
	return true;
}

export function listenForKeys(): void {
	addEventListener('keydown', (e) => {
		const command = e.ctrlKey || e.metaKey, isFind = IN_FILE && (e.key === 'F3' || e.key === 'f' && command);
		if ((isFind || !(isTyping(e) || command || e.altKey || e.defaultPrevented)) && act(e, isFind))
			e.preventDefault();
	});
}

export function KeysButton() {
	return <button type="button" class="icon keys-button" title="Keys (?)" aria-label="Keys" onClick={() => shown.value = true}>?</button>;
}

export function Keys({ keys = keysOfView() }) {
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
