// Facts about runs and comparisons, below the bar.

import type { ComponentChildren } from 'preact';
import { Scale } from './compare';
import type { About, Run } from './flame/data';
import * as format from './format';
import { flame } from './load';

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
	return <div><dt>{name}</dt><dd>{children}</dd></div>;
}

function address(run: Run): string {
	return `/runs/${run.source}/${run.id}`;
}

export function runName(run: Run): string {
	return run.name || run.url || run.id;
}

function Totals() {
	return flame.value!.about.columns.filter((c) => c.total && c.before === undefined).map((c) => <Fact key={c.name} name={format.columnName(c.name)}>{format.value(c.total, c.unit)}</Fact>);
}

function OneRun({ run }: { run: Run }) {
	return <>
		<h2>{runName(run)}</h2>
		<dl class="facts">
			<Fact name="run">{run.source}/{run.id}</Fact>
			{run.url && run.url !== runName(run) && <Fact name="URL">{run.url}</Fact>}
			<Fact name="started">{format.time(run.start, true)}</Fact>
			<Fact name="duration">{format.value(run.duration_ns, 'nanoseconds')}</Fact>
			<Totals />
			{Object.entries(run.labels).map(([k, v]) => <Fact key={k} name={k}>{v}</Fact>)}
		</dl>
	</>;
}

function Several({ runs }: { runs: Run[] }) {
	const sum = runs.reduce((n, r) => n + r.weight, 0), isWeighted = runs.some((r) => r.weight !== runs[0].weight);
	return <>
		<h2>{runs.length} runs, averaged</h2>
		<dl class="facts">
			{runs.map((r) => <Fact key={address(r)} name="run"><a href={address(r)} title={runName(r)}>{r.source}/{r.id}</a>{isWeighted && `, weight ${r.weight} of ${sum}`}</Fact>)}
			<Totals />
		</dl>
	</>;
}

// Ranges, in the time zone of the page.
export function sides(about: About): [after: string, before: string] {
	const { after, before, before_from, before_to, before_labels, after_labels } = about.compared!;
	if (before_labels !== undefined && before_from !== undefined && before_to !== undefined) {
		const same = Math.abs(before_from - about.from) < 1 && Math.abs(before_to - about.to) < 1;
		const side = (words: string, from: number, to: number) => [words || 'all', ...same ? [] : [format.range(from, to)]].join(', ');
		return [side(after_labels || '', about.from, about.to), side(before_labels, before_from, before_to)];
	}
	return [about.runs ? after : format.range(about.from, about.to),
		before_from !== undefined && before_to !== undefined ? format.range(before_from, before_to) : before];
}

function Compared() {
	const { about } = flame.value!, { columns, column } = about, { factor } = about.compared!, c = columns[column], [after, before] = sides(about);
	return <>
		<h2>{after} compared with {before}</h2>
		<dl class="facts">
			{c && <Fact name={format.columnName(c.name)}>{format.value(c.given ?? c.before ?? 0, c.unit)} → {format.value(c.total, c.unit)}</Fact>}
			{factor !== 1 && <Fact name="scaled">what was before × {Number(factor.toPrecision(4))}</Fact>}
			{!IN_FILE && <Fact name="scale"><Scale /></Fact>}
			<Fact name="colors"><i class="swatch more" /> more <i class="swatch less" /> less</Fact>
		</dl>
	</>;
}

export function Facts() {
	const about = flame.value?.about;
	if (!about || (!about.runs && !about.compared))
		return null;
	return <section class="about" aria-label="Selection">
		{about.compared ? <Compared /> : about.runs!.length > 1 ? <Several runs={about.runs!} /> : <OneRun run={about.runs![0]} />}
	</section>;
}
