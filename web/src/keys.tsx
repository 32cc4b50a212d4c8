// Keys, and the button of their sheet, on "?".

import { signal } from '@preact/signals';
import { LazyKeys } from './lazy_views';
import { openFunction, setZoom, view, zoom } from './state';

export const shown = signal(false);
const wanted = signal(false);

// Keys of a page without views.
export type KeyList = [keys: string, what: string][];

function isTyping(e: KeyboardEvent): boolean {
	return e.target instanceof HTMLInputElement || e.target instanceof HTMLSelectElement || e.target instanceof HTMLTextAreaElement;
}

// Keys for fields that do not exist are left to the browser.
function focus(...ids: string[]): boolean {
	const field = ids.map((id) => document.getElementById(id)).find((e) => e);
	field?.focus();
	return !!field;
}

// Handles keys as if the graph had the focus. A table alone uses the zoom of the URL.
function forward(e: KeyboardEvent): boolean[] {
	return [...document.querySelectorAll('.flame, .call-graph')].map((graph) => !graph.dispatchEvent(new KeyboardEvent('keydown', { key: e.key, cancelable: true })));
}

function zoomOut(e: KeyboardEvent): boolean {
	const taken = forward(e);
	if (!taken.length && zoom.value.length)
		setZoom(e.key === 'Escape' ? [] : zoom.value.slice(0, -1));
	return taken.length > 0;
}

function show(on: boolean): void {
	wanted.value ||= on;
	shown.value = on;
}

function act(e: KeyboardEvent, isFind: boolean): boolean {
	if (e.key === '?' && !isFind)
		show(!shown.value);
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
		return e.target === document.body && (/^[wasdfnN0+=-]$/.test(e.key) || /^Arrow[LR]/.test(e.key) && !!document.querySelector('.time-chart')) && forward(e).includes(true);
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
	return <button type="button" class="icon keys-button" title="Keys (?)" aria-label="Keys" onClick={() => show(true)}>?</button>;
}

export function Keys({ keys }: { keys?: KeyList }) {
	return wanted.value ? <LazyKeys keys={keys} /> : null;
}
