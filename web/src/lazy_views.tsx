// Loads the views of views.ts when one is first shown.

import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

const views = signal<typeof import('./views') | null>(null);

function Lazy({ view, name }: { view: 'CallGraph' | 'TimeChart' | 'FunctionPage'; name: string }) {
	const View = views.value?.[view];
	useEffect(() => void import('./views').then((m) => views.value = m), []);
	return View ? <View /> : <section class={name} aria-busy />;
}

export const LazyChart = () => <Lazy view="TimeChart" name="time-chart" />;
export const LazyCallGraph = () => <Lazy view="CallGraph" name="calls" />;
export const LazyFunctionPage = () => <Lazy view="FunctionPage" name="function" />;
