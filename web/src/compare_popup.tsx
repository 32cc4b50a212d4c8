// Chooses the base of a comparison: the range at another time, or samples with another label, such as the previous
// deploy.

import { useState } from 'preact/hooks';
import { compareWith, isBase } from './compare';
import * as format from './format';
import { flame, labels } from './load';
import { change, filterKey, filtersOf, labelOf, view, type View } from './state';

const DAY = 86400, SECONDS: Record<string, number> = { s: 1, m: 60, h: 3600, d: DAY, w: 7 * DAY };

// Parses "-90m" as a time before now; NaN if malformed.
function before(text: string): number {
	const [, n, unit] = /^-(\d+)([smhdw])$/.exec(text) || [];
	return text === 'now' ? 0 : n ? Number(n) * SECONDS[unit] : NaN;
}

// In seconds since 1970, as the server reads it: times without a zone are UTC.
function moment(text: string): number {
	const ago = before(text);
	return !Number.isNaN(ago) ? Date.now() / 1000 - ago : /^[\d.]+$/.test(text) ? Number(text) : Date.parse(/T.*[^Z]$/.test(text) ? `${text}Z` : text) / 1000;
}

// The ends of the range by the server's clock, or by this machine's if the server has not answered.
function range(): [from: number, to: number] {
	const about = flame.peek()?.about, { from, to } = view.peek();
	return about ? [about.from, about.to] : [moment(from), moment(to)];
}

// A range relative to now is compared with one that is, too.
function shifted(earlier: (unix: number) => number): [string, string][] {
	const { from, to } = view.peek(), ends = [before(from), before(to)], both = range(), now = both[1] + (ends[1] || 0);
	const moments = ends.some(Number.isNaN) ? both.map((unix) => new Date(earlier(unix) * 1000).toISOString()) : ends.map((s) => `-${Math.round(now - earlier(now - s))}s`);
	return [['base_from', moments[0]], ['base_to', moments[1]]];
}

// The only value by which the label is filtered; '' if there is none or several.
function chosen(label: string): string {
	const all = filtersOf(label), [one] = all;
	return all.length !== 1 || /^!|^[^=].*\*$|^\*$/.test(one) ? '' : one.replace(/^=/, '');
}

function Label({ close }: { close(): void }) {
	const several = labels.value.filter((l) => l.values.length > 1), [key, setKey] = useState(several[0]?.key || '');
	const values = several.find((l) => l.key === key)?.values || [];
	const [after, setAfter] = useState(chosen(key));
	const choose = (e: SubmitEvent) => {
		const f = new FormData(e.currentTarget as HTMLFormElement), side = (name: string) => String(f.get(name) || '');
		e.preventDefault();
		close();
		const part: Partial<View> = { filters: [...view.peek().filters.filter(([k]) => labelOf(k) !== key), ...side('after') ? [[filterKey(key), `=${side('after')}`] as [string, string]] : []] };
		change({ ...part, subject: [...view.peek().subject.filter((pair) => !isBase(pair)), [`base.${key}`, `=${side('before')}`]] });
	};
	if (!several.length)
		return null;
	const options = values.map((v) => <option key={v.value} value={v.value}>{v.value || '(none)'}</option>);
	return <form onSubmit={choose}>
		<label>label <select name="key" value={key} onChange={(e) => {
			setKey(e.currentTarget.value);
			setAfter(chosen(e.currentTarget.value));
		}}>{several.map((l) => <option key={l.key} value={l.key}>{l.key}</option>)}</select></label>
		<label>of <select name="after" value={after} onChange={(e) => setAfter(e.currentTarget.value)}><option value="">all</option>{options}</select></label>
		<label>with <select name="before" aria-label="compared with">{options}</select></label>
		<button class="primary">Compare</button>
	</form>;
}

export function ComparePopup({ close }: { close?(): void }) {
	const [from, to] = range(), take = (earlier: (unix: number) => number) => {
		close!();
		compareWith(shifted(earlier));
	};
	return <div class="popup">
		<p>What changed since</p>
		<button type="button" onClick={() => take((unix) => unix - Math.ceil(to - from))}>the same range before</button>
		<button type="button" onClick={() => take((unix) => format.daysBefore(unix, 1))}>yesterday at this time</button>
		<button type="button" onClick={() => take((unix) => format.daysBefore(unix, 7))}>a week ago at this time</button>
		<Label close={close!} />
	</div>;
}
