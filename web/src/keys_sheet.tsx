// The sheet of keys: those of the current view, or of a list.

import { useEffect, useRef } from 'preact/hooks';
import { shown, type KeyList } from './keys';
import { pane, view, type Pane } from './state';

const ZOOM: KeyList = [['Backspace', 'zoom out by one'], ['Escape', 'all of it']];
const BOXES: KeyList = [['arrow keys', 'in a graph, to which Tab leads: walk its boxes'], ['Enter', 'zoom to the marked box'], ...ZOOM,
	['f, Ctrl+click', 'callers and callees of the box']];
const TABLE: KeyList = [['↑, ↓, Home, End', 'in a table, to which Tab leads: its rows, and the headings above'], ['←, →, Enter', 'in a row: its buttons and links']];
const MATCHES: KeyList = [['Enter, Shift+Enter', 'in the search: next and previous match'], ['n, N', 'next and previous match']];
const GRAPH: KeyList = [...MATCHES, ...BOXES];
const KEYS: Record<Pane | 'function', KeyList> = {
	both: [...GRAPH, ...TABLE], graph: GRAPH, table: [...TABLE, ...ZOOM], function: [...BOXES, ...TABLE, ['a', 'back to all functions']],
	calls: [['+, -', 'zoom'], ['0, Escape, double click', 'all of it'], ['arrow keys', 'in the graph, to which Tab leads: walk its functions'], ['Enter', 'go to the function'], ['Shift+arrow keys', 'there: move'], ['wheel, drag', 'zoom, move']],
	time: [...MATCHES, ['+ or w, - or s', 'zoom in, zoom out'], ['← or a, → or d', 'earlier, later'], ['↑, ↓', 'in the chart, to which Tab leads: scroll its rows'], ['0, Escape', 'all of it'], ['wheel, drag', 'zoom, move'],
		['Shift+wheel', 'scroll the rows']],
};

// Keys of the current view.
function keysOfView(): KeyList {
	const shown = view.value.function ? 'function' : pane.value, search: KeyList = shown === 'function' || shown === 'calls' ? [] :
		[['/' + (IN_FILE ? ', Ctrl+F' : ''), shown === 'table' ? 'filter the table' : `search the ${shown === 'time' ? 'chart' : 'graph'}, in either case`]];
	return [['?', 'this sheet'], ...search, ...KEYS[shown], ['g', 'go to a function by its name']];
}

export function KeysSheet({ keys = keysOfView() }: { keys?: KeyList }) {
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
