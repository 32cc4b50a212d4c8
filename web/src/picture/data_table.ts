// The same content as a table: for screen readers, for copying, and for people who prefer numbers.

import { functionRows, rounded, type FlameData } from '../flame/data';
import { button, html } from './dom';
import { tableWhole } from './estimate';
import { amount, atMost, grouped, percent, type Unit } from './words';

const AT_FIRST = 100;

interface Line {
	name: string;
	self: number;
	total: number;
	before: number;
	after: number;
	limit: boolean;		// total, before and after are upper limits
}

type Key = Exclude<keyof Line, 'limit'> | 'delta';

function linesOf(data: FlameData, within: number): Line[] {
	const { whole } = data;
	if (whole && within === 0)
		return data.frameName.map((n, i) => {
			const name = data.names[n];
			const a = whole.first[i], b = whole.second[i], limit = WITH_EXACT && data.exact?.known[i] === 2;
			return data.before ? { name, self: 0, total: Math.max(a, b), before: a, after: b, limit } :
				{ name, self: a, total: b, before: 0, after: 0, limit };
		}).filter((line, i) => i !== data.frame[0] && line.total > 0);
	const before = new Map<number, number>(), after = new Map<number, number>();
	if (WITH_CHANGES && data.before && data.after) {
		functionRows(data, within, data.before).forEach((r) => before.set(r.frame, rounded(r.total)));
		functionRows(data, within, data.after).forEach((r) => after.set(r.frame, r.total));
	}
	return functionRows(data, within).map((r) => ({
		name: r.name, self: r.self, total: r.total, before: before.get(r.frame) || 0, after: after.get(r.frame) || 0, limit: false,
	}));
}

export class DataTable {
	readonly box = html('div', { class: 'twin', role: 'region', 'aria-label': 'Table of functions', tabindex: 0 });
	private sort: { by: Key; down: boolean };
	private limit = AT_FIRST;
	private data: FlameData | null = null;
	private within = 0;

	constructor(private readonly unit: Unit, private readonly isDifference: boolean, private readonly choose: (name: string) => void) {
		this.sort = { by: isDifference ? 'delta' : 'self', down: true };
	}

	show(data: FlameData, within: number): void {
		this.data = data;
		this.within = within;
		this.fill();
	}

	private value(line: Line, by: Key): number {
		return by === 'delta' ? line.after - line.before : by === 'name' ? 0 : line[by];
	}

	private compare(a: Line, b: Line): number {
		const { by, down } = this.sort, order = by === 'name' ? (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)
			: by === 'delta' ? Math.abs(this.value(a, by)) - Math.abs(this.value(b, by)) : this.value(a, by) - this.value(b, by);
		return (down ? -order : order) || b.total - a.total || (a.name < b.name ? -1 : 1);
	}

	private head(by: Key, words: string): HTMLTableCellElement {
		const mine = this.sort.by === by, b = html('button', { type: 'button' }, `${words}${mine ? (this.sort.down ? ' ▾' : ' ▴') : ''}`);
		b.addEventListener('click', () => {
			this.sort = { by, down: mine ? !this.sort.down : by !== 'name' };
			this.fill();
			this.box.querySelector<HTMLElement>(`th[aria-sort] button`)?.focus();
		});
		return html('th', mine ? { scope: 'col', 'aria-sort': this.sort.down ? 'descending' : 'ascending' } : { scope: 'col' }, b);
	}

	private line(line: Line, all: number): HTMLTableRowElement {
		const mark = (text: string, limit: boolean) => limit ? atMost(text) : text;
		const number = (v: number, limit = false) =>
			html('td', {}, mark(amount(v, { ...this.unit, countName: this.unit.countName === null ? null : '' }).trim(), limit));
		const share = (v: number, limit = false) => html('td', { class: 'share' }, mark(percent(v, all), limit));
		const choose = html('button', { type: 'button', title: `Search ${line.name}` }, line.name);
		choose.addEventListener('click', () => this.choose(line.name));
		const cells = WITH_CHANGES && this.isDifference ?
			[number(line.before, line.limit), number(line.after, line.limit), number(line.after - line.before), html('td', { class: 'share' }, line.before ? percent(line.after - line.before, line.before) : 'new')] :
			[number(line.self), share(line.self), number(line.total, line.limit), share(line.total, line.limit)];
		return html('tr', {}, html('th', { scope: 'row' }, choose), ...cells);
	}

	private caption(lines: number, all: number): string {
		const data = this.data!, isWhole = this.within === 0 && data.whole;
		const unlisted = isWhole ? data.whole!.unlisted : 0;
		return `${data.name(this.within)}: ${grouped(lines + unlisted)} functions, ${amount(all, this.unit)}${
			unlisted ? `; without the ${grouped(unlisted)} that took least` : ''}${
			data.isPartial && !isWhole ? '; without the narrowest frames, which are not in this file' : ''}${
			WITH_EXACT && data.exact && !isWhole ? '; from estimated stacks' : ''}`;
	}

	private fill(): void {
		const data = this.data!, all = WITH_EXACT && data.exact ? tableWhole(data, data.exact, this.within) : data.width[this.within],
			lines = linesOf(data, this.within).sort((a, b) => this.compare(a, b));
		const shown = lines.slice(0, this.limit), d = this.isDifference;
		const share = (words: string) => html('th', { scope: 'col', class: 'share' }, words);
		const heads = WITH_CHANGES && d ? [this.head('before', 'Before'), this.head('after', 'After'), this.head('delta', 'Change'), share('of before')] :
			[this.head('self', 'Self'), share('share of self'), this.head('total', 'Total'), share('share of total')];
		const table = html('table', {},
			html('caption', {}, this.caption(lines.length, all)),
			html('thead', {}, html('tr', {}, this.head('name', 'Function'), ...heads)),
			html('tbody', {}, ...shown.map((line) => this.line(line, all))));
		this.box.replaceChildren(table);
		if (shown.length < lines.length)
			this.box.append(button(`Show all ${grouped(lines.length)}`, 'Show all functions', () => {
				this.limit = Infinity;
				this.fill();
			}));
	}
}
