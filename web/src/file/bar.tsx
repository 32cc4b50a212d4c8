// The bar at the top of a page in a file: what it shows.

import * as format from '../format';
import { KeysButton } from '../keys';
import { view } from '../state';
import { ofSelf } from './paint';
import { facts } from './start';

const HIDDEN = ['uncharted_calls'];

export function Bar() {
	return <header class="bar"><h1>{facts().title}</h1><span class="space" /><KeysButton /></header>;
}

const WIDTHS: Record<string, string> = { after: 'after', before: 'before', difference: 'how much changed' };

// The sentence of src/render/difference.c, with the current colors and widths.
function noteNow(note: string): string {
	const width = view.value.filters.find(([key]) => key === 'width')?.[1] ?? facts().widthOf ?? '', [more, less] = ofSelf.value ? ['took more itself', 'less'] : ['is more', 'is less'];
	return note.replace(/^(\w+).*?, (\w+).*; widths are .*/, (_all, up: string, down: string) =>
		`${up} ${more} than before, ${down} ${less}; widths are ${WIDTHS[width] ?? 'the larger of before and after'}`);
}

// Sums and labels, as on the page of a run.
export function FileFacts() {
	const { columns, labels, compared, note, subtitle } = facts();
	if (compared)
		return note ? <section class="about"><p class="subtitle">{noteNow(note)}</p></section> : null;
	return <section class="about" aria-label="Selection">
		{subtitle && <p class="subtitle">{subtitle}</p>}
		<dl class="facts">
			{columns.filter((c) => c.total).map((c) => <div key={c.name}><dt>{format.columnName(c.name)}</dt><dd>{format.value(c.total, c.unit)}</dd></div>)}
			{Object.entries(labels).filter(([key]) => !HIDDEN.includes(key)).map(([key, value]) => <div key={key}><dt>{key}</dt><dd>{value}</dd></div>)}
		</dl>
	</section>;
}
