// A table is one tab stop: the region in which it scrolls. Arrow keys go to the links and buttons of its rows, since
// thousands of rows would be as many stops before the rest of the page.

const STOPS = 'a[href], button', SMALL_STEP = 40;

const rowsOf = (region: HTMLElement) => [...region.querySelectorAll('tr')].filter((row) => row.querySelector(STOPS));
const isHead = (row: Element | null) => row?.parentElement?.tagName === 'THEAD';

// The distances of the row from the headings and from the lower edge, and of its end from that of the visible part.
function hangsBelow(region: HTMLElement, row: Element): number[] {
	const r = row.getBoundingClientRect(), all = region.getBoundingClientRect();
	return [r.top - all.top - (region.querySelector('thead')?.clientHeight || 0), r.top - all.bottom, r.bottom - all.top - region.clientHeight];
}

function isInSight(region: HTMLElement, row: Element): boolean {
	const [head, edge] = hangsBelow(region, row);
	return head >= -1 && edge < 0;
}

function enter(region: HTMLElement, row: HTMLElement, at: number): void {
	const stops = [...row.querySelectorAll<HTMLElement>(STOPS)], to = stops[at] || row.querySelector<HTMLElement>('a[href]') || stops[0], head = isHead(row);
	to.focus({ preventScroll: !head });
	if (head)
		return;
	const [above, , below] = hangsBelow(region, row);
	region.scrollTop += Math.min(0, above) || Math.max(0, below);
}

function toRow(region: HTMLElement, now: HTMLElement | null, step: number, at: number): boolean {
	const rows = rowsOf(region), body = rows.filter((row) => !isHead(row)), head = rows.length > body.length ? rows[rows.length - body.length - 1] : undefined;
	const first = Math.max(0, body.findIndex((row) => isInSight(region, row))), next = now && !isHead(now) ? body.indexOf(now as HTMLTableRowElement) + step : step > 0 ? first : isHead(now) ? -2 : first - 1;
	const to = next === -1 ? head : body[next];
	if (to)
		enter(region, to, isHead(to) === isHead(now) ? at : -1);
	if (to && !body[next + step])
		region.dispatchEvent(new Event('scroll'));		// has more rows drawn: keys may come faster than frames
	return !!to;
}

// A row that was out of sight is drawn after the table has scrolled to it.
function toEnd(region: HTMLElement, isLast: boolean, at: number): void {
	region.scrollTop = isLast ? 1e9 : 0;
	region.dispatchEvent(new Event('scroll'));
	queueMicrotask(() => {
		const to = rowsOf(region).filter((row) => !isHead(row)).at(isLast ? -1 : 0);
		if (to)
			enter(region, to, at);
	});
}

// Handles keys pressed in the region.
export function walkTable(e: KeyboardEvent): void {
	const region = e.currentTarget as HTMLElement, now = region === e.target ? null : (e.target as Element).closest('tr');
	if (e.ctrlKey || e.metaKey || e.altKey || e.shiftKey)
		return;
	if (/^Page/.test(e.key) && now)
		region.focus({ preventScroll: true });		// this scrolls
	const step = e.key === 'ArrowDown' ? 1 : e.key === 'ArrowUp' ? -1 : 0, aside = e.key === 'ArrowRight' ? 1 : e.key === 'ArrowLeft' ? -1 : 0;
	const stops = now ? [...now.querySelectorAll<HTMLElement>(STOPS)] : [], at = stops.indexOf(e.target as HTMLElement);
	if (now && /^(Home|End)$/.test(e.key)) {
		e.preventDefault();
		toEnd(region, e.key === 'End', isHead(now) ? -1 : at);
	} else if (step && toRow(region, now, step, at))
		e.preventDefault();
	else if (aside && now) {
		e.preventDefault();
		if (stops[at + aside])
			stops[at + aside].focus();
		else
			region.scrollLeft += aside * SMALL_STEP;
	}
}

// Rows out of sight are removed from the document, and would take the focus along.
export function keepFocus(region: HTMLElement): void {
	const row = region === document.activeElement ? null : region.contains(document.activeElement) && document.activeElement!.closest('tbody tr');
	if (row && !isInSight(region, row))
		region.focus({ preventScroll: true });
}
