// Loads the views of views.ts when one is first shown.

import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { KeyList } from './keys';

const views = signal<typeof import('./views') | null>(null);

function Lazy({ view, name, keys, close }: { view: 'CallGraph' | 'TimeChart' | 'FunctionPage' | 'KeysSheet' | 'ComparePopup' | 'HowToStart' | 'DifferenceChoice'; name: string; keys?: KeyList; close?(): void }) {
	const View = views.value?.[view];
	useEffect(() => void import('./views').then((m) => views.value = m), []);
	return View ? <View keys={keys} close={close} /> : name ? <section class={name} aria-busy /> : null;
}

export const LazyChart = () => <Lazy view="TimeChart" name="time-chart" />;
export const LazyCallGraph = () => <Lazy view="CallGraph" name="calls" />;
export const LazyFunctionPage = () => <Lazy view="FunctionPage" name="function" />;
export const LazyHowToStart = () => <Lazy view="HowToStart" name="" />;
export const LazyDifference = () => <Lazy view="DifferenceChoice" name="" />;
export const LazyCompare = ({ close }: { close(): void }) => <Lazy view="ComparePopup" name="" close={close} />;
export const LazyKeys = ({ keys }: { keys?: KeyList }) => <Lazy view="KeysSheet" name="" keys={keys} />;
