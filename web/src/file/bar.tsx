// The bar at the top of a page in a file: what it shows.

import * as format from '../format';
import { KeysButton } from '../keys';
import { facts } from './start';

const HIDDEN = ['uncharted_calls'];

export function Bar() {
	return <header class="bar"><h1>{facts().title}</h1><span class="space" /><KeysButton /></header>;
}

// Sums and labels, as the page of a run has them.
export function FileFacts() {
	const { columns, labels, compared, note, subtitle } = facts();
	if (compared)
		return note ? <section class="about"><p class="subtitle">{note}</p></section> : null;
	return <section class="about" aria-label="Selection">
		{subtitle && <p class="subtitle">{subtitle}</p>}
		<dl class="facts">
			{columns.filter((c) => c.total).map((c) => <div key={c.name}><dt>{format.columnName(c.name)}</dt><dd>{format.value(c.total, c.unit)}</dd></div>)}
			{Object.entries(labels).filter(([key]) => !HIDDEN.includes(key)).map(([key, value]) => <div key={key}><dt>{key}</dt><dd>{value}</dd></div>)}
		</dl>
	</section>;
}
