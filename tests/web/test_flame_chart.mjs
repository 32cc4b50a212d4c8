// The flame chart of a run in a real browser: what it shows, how it is moved, what it asks the server for:
// node test_flame_chart.mjs STROBE [PICTURES]

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accessible, drawn, launch, newPage, ready } from './browser.mjs';
import { check, end, message, run, serveStore, test } from './lib.mjs';

const [, , program, pictures] = process.argv, folder = mkdtempSync(join(tmpdir(), 'strobe-chart-'));

// --- Runs ---

const HOSTILE = '<img src=x onerror=document.title="owned">';
const FRAMES = [['main()'], ['App\\Kernel::handle', '/srv/app/Kernel.php', 12], ['App\\Cart::load', '/srv/app/Cart.php', 30], ['PDO::query'],
	['App\\View::render', '/srv/app/View.php', 8], ['htmlspecialchars'], [HOSTILE, '/srv/x.php', 1]];
const NODES = [[0, 0], [1, 1], [2, 2], [3, 3], [2, 4], [5, 5], [1, 6]];
const LOOP = 30_000;

// Two requests: a query each, then a view that escapes many strings; in the second one the query is slow.
function shop() {
	const calls = [];
	let at = 1000;
	const call = (node, duration, inside) => {
		const mine = [node, at, 0];
		calls.push(mine);
		at += 100;
		inside?.();
		at += duration;
		mine[2] = at - mine[1];
		at += 50;
	};
	call(1, 1000, () => {
		for (const query of [2_000_000, 9_000_000])
			call(2, 100_000, () => {
				call(3, 50_000, () => call(4, query));
				call(5, 20_000, () => { for (let i = 0; i < LOOP; i++) call(6, 60); });
			});
		call(7, 3_000_000);
	});
	return calls;
}

const CALLS = shop(), LENGTH = CALLS[0][1] + CALLS[0][2];
const files = {
	chart: message('chart', { frames: FRAMES, nodes: NODES, calls: CALLS, labels: { name: '<b>two requests</b>', uncharted_calls: '12345' } }),
	short: message('short', { frames: FRAMES, nodes: NODES, calls: [[1, 0, 300], [2, 10, 200], [3, 20, 0], [4, 20, 0], [5, 20, 100]] }),
	plain: message('plain', { frames: FRAMES, nodes: NODES, calls: [] }),
};
const store = `sqlite:${join(folder, 'store')}`;

const strobe = (...args) => run(program, ...args);

for (const [id, bytes] of Object.entries(files)) {
	files[id] = join(folder, `${id}.strobe`);
	writeFileSync(files[id], bytes);
	if (id !== 'plain')
		strobe('import', '--store', store, files[id]);
}
writeFileSync(join(folder, 'plain.folded'), 'a;b 3\na;c 4\n');
strobe('import', '--source', 'shop', '--id', 'plain', '--store', store, join(folder, 'plain.folded'));

const { site, stop } = await serveStore(program, folder, store);

// --- The API ---

// As flame_data.h draws it.
function boxes(buffer) {
	const v = new DataView(buffer), n = v.getUint32(8, true), depths = v.getUint32(12, true), size = v.getUint32(16, true), found = [];
	let at = 64;
	const take = (count, bytes) => {
		const here = at;
		at += (count * bytes + 7) & ~7;
		return here;
	};
	const offsets = take(depths + 1, 4), start = take(n, size), width = take(n, size), frame = take(n, 4);
	const value = (o, i) => size === 8 ? v.getFloat64(o + 8 * i, true) : v.getUint32(o + 4 * i, true);
	const text = JSON.parse(new TextDecoder().decode(buffer.slice(at)));
	for (let d = 0; d < depths; d++)
		for (let i = v.getUint32(offsets + 4 * d, true); i < v.getUint32(offsets + 4 * d + 4, true); i++)
			found.push({ depth: d, start: value(start, i), width: value(width, i), name: text.names[text.frame_name[v.getUint32(frame + 4 * i, true)]] });
	return { found, text };
}

const ask = (query) => fetch(`${site}/api/v1/profile?${query}`);
const chart = async (query) => boxes(await (await ask(`format=chart&${query}`)).arrayBuffer());

await test('a window has the visible calls with their exact times', async () => {
	const { found, text } = await chart('run=shop/chart&pixels=1000');
	check(text.chart.calls === CALLS.length && text.chart.length_ns === LENGTH && text.charted_calls === undefined && text.about.charted_calls === CALLS.length, text.chart, text.about);
	check(found.length < 200, `${CALLS.length} calls are ${found.length} boxes`);
	for (const [depth, node, name] of [[2, 2, 'App\\Kernel::handle'], [4, 4, 'PDO::query']]) {
		const of = found.filter((b) => b.depth === depth && b.name === name).map((b) => [b.start, b.width]);
		check(JSON.stringify(of) === JSON.stringify(CALLS.filter((c) => c[0] === node).map((c) => [c[1], c[2]])), name, of);
	}
	check(found.filter((b) => b.name === '[short calls]').length >= 2, 'each loop is merged into one box', found);
	// Close up each call of the loop is there.
	const first = CALLS.findIndex((c) => c[0] === 6) + 500, [, from] = CALLS[first], to = CALLS[first + 20][1];
	const close = await chart(`run=shop/chart&pixels=2000&chart_from=${from}&chart_to=${to}`);
	const loop = close.found.filter((b) => b.name === 'htmlspecialchars').map((b) => b.start);
	check(CALLS.slice(first, first + 20).every((c) => loop.includes(c[1])) && loop.length < 25, loop);
	check(close.text.chart.from_ns === from && close.text.chart.to_ns === to, close.text.chart);
});

await test('profiles without a flame chart and invalid windows are rejected with a reason', async () => {
	for (const [query, status, words] of [['run=shop/plain', 404, 'no flame chart'], ['from=-1h', 400, 'only one run'], ['run=shop/chart&run=shop/short', 400, 'only one run'],
		['run=shop/chart&base=shop/short', 400, 'only one run'], ['run=shop/chart&by=class', 400, 'by function'], ['run=shop/chart&chart_from=9&chart_to=3', 400, 'not before'],
		['run=shop/chart&chart_from=x', 400, 'whole number'], ['run=shop/chart&pixels=99999', 400, 'whole number'], ['run=shop/none', 404, 'no run'],
		['run=shop/chart&chart_search=a(', 400, "chart_search=a(: the regular expression 'a('"], ['run=shop/chart&chart_match=1', 400, 'give chart_search, too'],
		['run=shop/chart&chart_search=a&chart_match=-1', 400, 'whole number']]) {
		const answer = await ask(`format=chart&${query}`), said = await answer.json();
		check(answer.status === status && said.error.includes(words), query, answer.status, said);
	}
	check(JSON.stringify((await chart('run=shop/short&keep=nothing')).found) === JSON.stringify((await chart('run=shop/short')).found), 'stack filters do not apply to calls');
	check((await chart('run=shop/short&chart_from=5000000&chart_to=6000000')).found.length === 1, 'a window after the end has only the root');
});

// Matching calls of a window, from the list that the run was made of.
const matching = (name, from, to) => CALLS.filter(([node, start, length]) => FRAMES[NODES[node - 1][1]][0] === name && start < to && start + length >= from);

await test('a search counts the matching calls in each box, and steps from one match to the next', async () => {
	const loop = CALLS.filter((c) => c[0] === 6), [, start, length] = loop[700];
	for (const [from, to, pixels] of [[0, LENGTH, 1000], [start, start + 100_000, 50], [start, start + 1000, 2000]])
		for (const [name, pattern] of [['htmlspecialchars', '^html'], ['PDO::query', 'pdo::QUERY$'], ['main()', 'main']]) {
			const { found, text: { chart: { search, to_ns } } } = await chart(`run=shop/chart&pixels=${pixels}&chart_from=${from}&chart_to=${to}&chart_search=${encodeURIComponent(pattern)}`);
			const expected = matching(name, from, to_ns).length;
			check(search.calls === matching(name, 0, Infinity).length && search.boxes.length === found.length, name, search.calls, found.length);
			check(search.boxes.reduce((a, b) => a + b) === expected, name, from, to, search.boxes.reduce((a, b) => a + b), expected);
			check(found.every((b, i) => !search.boxes[i] || b.name === name || b.width * pixels <= to - from || b.name === '[short calls]'), 'other calls are not marked');
		}
	const go = async (from, nth) => (await chart(`run=shop/chart&pixels=1&chart_from=${from}&chart_search=%5Ehtml&chart_match=${nth}`)).text.chart.search.call;
	for (const [from, nth, number] of [[start, 1, 701], [start + 1, 1, 702], [start, 0, 700], [0, 701, 701], [0, 1, 1], [0, 0, 2 * LOOP], [0, 2 * LOOP + 1, 1]]) {
		const call = await go(from, nth), wanted = loop[number - 1];
		check(call.number === number && call.from_ns === wanted[1] && call.to_ns === wanted[1] + wanted[2] && call.depth === 4, from, nth, call, wanted);
	}
	check(!(await chart('run=shop/chart&chart_search=nowhere&chart_match=1')).text.chart.search.call && length > 0, 'a search without matches has no next call');
});

await test('exports preserve the order of calls', async () => {
	for (const address of ['/api/v1/profile?run=shop/chart&format=chrome', '/api/v1/runs/shop/chart?format=chrome']) {
		const { traceEvents } = await (await fetch(site + address)).json();
		check(traceEvents.length === CALLS.length && traceEvents.every((e, i) => e.name === FRAMES[NODES[CALLS[i][0] - 1][1]][0]), address, traceEvents.length);
	}
	const stored = Buffer.from(await (await fetch(`${site}/api/v1/runs/shop/chart?format=strobe`)).arrayBuffer());
	check(stored.readUInt32LE(68) === CALLS.length, 'the stored run has every call');
	check(JSON.parse(strobe('convert', '-q', '-f', 'chrome', `${site}/api/v1/runs/shop/chart?format=strobe`)).traceEvents.length === CALLS.length, 'convert reads every call from a URL');
	const posted = await fetch(`${site}/api/v1/runs?source=up&id=loaded`, { method: 'POST', body: readFileSync(files.chart) });
	check(posted.status === 201 && (await chart('run=up/loaded')).text.chart.calls === CALLS.length, posted.status);
});

// --- The page ---

const browser = await launch();

async function openPage(address, { width = 1440, height = 900, dark = false, phone = false, policy = true } = {}) {
	const page = await newPage(browser, { width, height, dark, phone, timeout: Number(process.env.TIMEOUT) || 120_000 });
	page.asked = [];
	page.on('request', (r) => r.url().includes('format=chart') && page.asked.push(r.url()));
	await page.setBypassCSP(!policy);
	await page.goto(site + address);
	await ready(page);
	return page;
}

const chartReady = (page) => page.waitForSelector('.time-chart[aria-busy="false"] .flame:not([data-boxes=""])');

const canvas = '.time-chart canvas';
const windowOf = (page) => page.evaluate(() => /time=([\d,]+)/.exec(location.hash)?.[1].split(',').map(Number) || null);
const windowChanges = async (page, act) => {
	const before = JSON.stringify(await windowOf(page));
	await act();
	await page.waitForFunction((b) => JSON.stringify(/time=([\d,]+)/.exec(location.hash)?.[1].split(',').map(Number) || null) !== b, {}, before);
	return windowOf(page);
};

// The position of a time and a depth on the canvas.
async function placeOf(page, ns, depth) {
	const [from, to] = await windowOf(page) || [0, LENGTH], r = await page.$eval(canvas, (c) => c.getBoundingClientRect().toJSON());
	return [r.x + (ns - from) * r.width / (to - from), r.y + 22 + 4 + depth * 19 + 9];
}

let page, boxesOfAll;

// The boxes of a part may be there for a while after the window has become the whole.
async function showAll() {
	await page.focus('.time-chart .flame');
	await page.keyboard.press('0');
	await page.waitForFunction((n) => !location.hash.includes('time=') && document.querySelector('.time-chart .flame').dataset.boxes === n, {}, boxesOfAll);
	await drawn(page);
}

await test('the flame chart is offered only for runs that have one', async () => {
	const plain = await openPage('/runs/shop/plain');
	check(!(await plain.$$eval('.panes button', (all) => all.map((b) => b.textContent))).includes('flame chart'), 'a run without one does not offer it');
	await plain.close();
	page = await openPage('/runs/shop/chart');
	check(page.asked.length === 0, 'the chart is not requested before it is shown');
	check(await page.$('.filter-stacks') && await page.$('select[aria-label="Value"]') && await page.$('select[aria-label="Group by"]'));
	await page.evaluate(() => [...document.querySelectorAll('.panes button')].find((b) => b.textContent === 'flame chart').click());
	await chartReady(page);
	await drawn(page);
	boxesOfAll = await page.$eval('.time-chart .flame', (e) => e.dataset.boxes);
	check(page.url().endsWith('#show=time') && page.asked.length === 1, page.url(), page.asked);
	check(!await page.$('.filter-stacks'), 'stack filters are not offered');
	check(!await page.$('select[aria-label="Value"], select[aria-label="Group by"]'), 'values and groupings are not offered');
	const words = await page.$eval('.time-chart', (e) => e.textContent);
	check(words.includes('12,345 calls of this run are not in its flame chart'), words);
	const [x, y] = await placeOf(page, CALLS.find((c) => c[0] === 4)[1] + 1_000_000, 4);
	await page.mouse.move(x, y);
	await page.waitForFunction(() => document.querySelector('.tip b')?.textContent === 'PDO::query');
	const tip = await page.$eval('.tip', (e) => e.textContent);
	check(tip.includes('2.00 ms') && tip.includes('begins at'), tip);
	if (pictures)
		await page.screenshot({ path: join(pictures, 'chart.png') });
});

await test('the self time of a call is shown only where all of its callees are drawn', async () => {
	const tipOf = async (node, name) => {
		const [, start, length] = CALLS.find((c) => c[0] === node);
		await page.mouse.move(...await placeOf(page, start + length / 2, 3));
		await page.waitForFunction((n) => document.querySelector('.tip b')?.textContent === n, {}, name);
		return page.$eval('.tip dl', (e) => e.textContent);
	};
	const load = CALLS.find((c) => c[0] === 3)[2] - CALLS.find((c) => c[0] === 4)[2], known = await tipOf(3, 'App\\Cart::load');
	check(known.includes(`self${(load / 1000).toFixed(1)} µs`), known, load);
	const joined = await tipOf(5, 'App\\View::render');
	check(joined.includes('lasts') && !joined.includes('self'), joined);
});

await test('wheel, drag, keys and buttons move the window, update the URL and load shorter calls', async () => {
	const loop = CALLS.filter((c) => c[0] === 6)[100], [x, y] = await placeOf(page, loop[1], 4);
	await page.mouse.move(x, y);
	let [from, to] = await windowChanges(page, () => page.mouse.wheel({ deltaY: -400 }));
	check(from < loop[1] && to > loop[1] && to - from < LENGTH * 0.7, from, to);
	for (let i = 0; i < 12; i++)
		await page.mouse.wheel({ deltaY: -400 });
	await page.waitForFunction(() => { const m = /time=(\d+),(\d+)/.exec(location.hash); return m && m[2] - m[1] < 300_000; });
	await page.waitForFunction((n) => performance.getEntriesByType('resource').filter((r) => r.name.includes('chart_from=')).length >= n, {}, 1);
	[from, to] = await windowOf(page);
	check(from < loop[1] && to > loop[1], 'the zoom keeps the call under the pointer in view', from, to, loop);
	const dragged = await windowChanges(page, async () => {
		await page.mouse.move(800, y);
		await page.mouse.down();
		await page.mouse.move(650, y, { steps: 5 });
		await page.mouse.up();
	});
	check(dragged[0] > from && Math.abs((dragged[1] - dragged[0]) - (to - from)) <= 2, 'dragging to the left moves to later times', dragged, from, to);
	check(!page.url().includes('function='), 'dragging is not a click');
	await page.focus('.time-chart .flame');
	const key = (k) => windowChanges(page, () => page.keyboard.press(k)), length = ([a, b]) => b - a;
	const left = await key('ArrowLeft'), out = await key('-'), inside = await key('+');
	check(left[0] < dragged[0] && length(out) > length(left) && length(inside) < length(out), left, out, inside);
	check(await key('0') === null, '0 shows the whole chart');
	await page.evaluate(() => document.activeElement.blur());
	await key('+');
	const right = await key('ArrowRight'), back = await key('ArrowLeft');
	check(right[0] > back[0], 'keys work with the focus on the page', right, back);
	await page.type('#chart-search', 'xy');
	await page.keyboard.press('ArrowLeft');
	await new Promise((r) => setTimeout(r, 400));
	check(JSON.stringify(await windowOf(page)) === JSON.stringify(back) && await page.$eval('#chart-search', (e) => e.selectionStart) === 1, 'keys in a field do not move the window');
	await page.$eval('#chart-search', (e) => { e.value = ''; e.dispatchEvent(new Event('input', { bubbles: true })); });
	await windowChanges(page, () => page.click('[aria-label="Zoom in"]'));
	const later = await windowChanges(page, () => page.click('[aria-label="Later"]'));
	check(later[0] > 0 && later[1] <= LENGTH + 1, later);
});

await test('each line of the axis has a label, the last one to its left', async () => {
	const other = await newPage(browser);
	await other.evaluateOnNewDocument(() => {
		const { fillRect, fillText } = CanvasRenderingContext2D.prototype;
		globalThis.axis = { lines: [], words: [] };
		CanvasRenderingContext2D.prototype.fillRect = function (x, y, width, height) {
			if (y === 0 && height === 22)
				width === 1 ? globalThis.axis.lines.push(x) : globalThis.axis = { lines: [], words: [] };
			fillRect.call(this, x, y, width, height);
		};
		CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
			if (y === 11)
				globalThis.axis.words.push([text, x, x + this.measureText(text).width]);
			fillText.call(this, text, x, y);
		};
	});
	for (const [window, last] of [['0,5010000', '5,000 µs'], ['0,5000000', '5,000 µs'], ['1000000,5000400', '5,000 µs']]) {
		await other.goto('about:blank');
		await other.goto(`${site}/runs/shop/chart#time=${window}&show=time`);
		await ready(other);
		await chartReady(other);
		await drawn(other);
		const { lines, words } = await other.evaluate(() => globalThis.axis), [text, from, to] = words.at(-1), width = await other.$eval(canvas, (e) => e.clientWidth);
		check(lines.length > 5 && lines.length === words.length && text === last, window, lines, words);
		check(to < lines.at(-1) && lines.at(-1) < width && from > words.at(-2)[2], 'the last label is to the left of its line', window, lines, words, width);
	}
	await other.close();
});

await test('a link opens the same window of the flame chart', async () => {
	const from = CALLS.filter((c) => c[0] === 4)[1][1], to = from + 2_000_000;
	const linked = await openPage(`/runs/shop/chart#time=${from},${to}&show=time`);
	await chartReady(linked);
	await linked.waitForFunction(() => performance.getEntriesByType('resource').some((r) => r.name.includes('chart_from=')));
	await drawn(linked);
	check(JSON.stringify(await windowOf(linked)) === JSON.stringify([from, to]), await windowOf(linked));
	const [x, y] = await placeOf(linked, from + 1_000_000, 4);
	await linked.mouse.move(x, y);
	await linked.waitForFunction(() => document.querySelector('.tip b')?.textContent === 'PDO::query');
	check((await linked.$eval('.tip', (e) => e.textContent)).includes('9.00 ms'), 'the slow query is at the pointer');
	await linked.close();
});

await test('a click on a call opens its function, and a click on short calls zooms in on them', async () => {
	await showAll();
	const loops = CALLS.filter((c) => c[0] === 6), [x, y] = await placeOf(page, (loops[0][1] + loops[LOOP - 1][1]) / 2, 4);
	const [from, to] = await windowChanges(page, () => page.mouse.click(x, y));
	check(Math.abs(from - loops[0][1]) <= 1 && Math.abs(to - loops[LOOP - 1][1] - loops[LOOP - 1][2]) <= 1, from, to, loops[0], loops[LOOP - 1]);
	await showAll();
	await page.mouse.click(...await placeOf(page, CALLS.find((c) => c[0] === 4)[1] + 1_000_000, 4));
	await page.waitForFunction(() => location.search.includes('function=PDO'));
	await page.waitForSelector('.function-head');
	await page.goBack();
	await chartReady(page);
});

const purple = (p) => p.$eval(canvas, (c) => {
	const { data } = c.getContext('2d').getImageData(0, 0, c.width, c.height);
	let n = 0;
	for (let i = 0; i < data.length; i += 4)
		n += data[i] === 0x8b && data[i + 1] === 0x2f && data[i + 2] === 0xc9;
	return n;
});

const words = (p) => p.$eval('.time-chart output', (e) => e.textContent);
const says = (p, text) => p.waitForFunction((t) => document.querySelector('.time-chart output').textContent === t, {}, text);

async function typeSearch(p, text) {
	await p.$eval('#chart-search', (e, value) => { e.value = value; e.dispatchEvent(new Event('input', { bubbles: true })); }, text);
}

await test('a search highlights calls, also those that are merged into one box', async () => {
	await drawn(page);
	check(await purple(page) === 0, 'nothing is highlighted without a search');
	await page.type('#chart-search', 'PDO::');
	await says(page, '2 matches');
	await drawn(page);
	check(await purple(page) > 2000, await purple(page));
	if (pictures)
		await page.screenshot({ path: join(pictures, 'chart-search.png') });
	await typeSearch(page, '^htmlspecialchars$');
	await says(page, `${(2 * LOOP).toLocaleString('en')} matches`);
	await drawn(page);
	check(await purple(page) > 2000, 'matching short calls are highlighted', await purple(page));
	const loops = CALLS.filter((c) => c[0] === 6), view = CALLS.find((c) => c[0] === 5), [x, y] = await placeOf(page, view[1] + view[2] / 2, 4);
	await page.mouse.move(x, y);
	await page.waitForFunction(() => document.querySelector('.tip b')?.textContent === '[short calls]');
	check((await page.$eval('.tip dl', (e) => e.textContent)).includes(`matches${(loops.length / 2).toLocaleString('en')}`), await page.$eval('.tip dl', (e) => e.textContent));
});

await test('next and previous match step through all matches in order of time, short calls included', async () => {
	const loops = CALLS.filter((c) => c[0] === 6), of = (n) => `${n.toLocaleString('en')} of ${loops.length.toLocaleString('en')}`;
	const isSeen = async (n) => {
		const [, start, length] = loops[n - 1], [from, to] = await windowOf(page);
		check(from <= start && to >= start + length && length * 400 > to - from, n, from, to, start, length);
		await page.waitForFunction(() => document.querySelector('.time-chart[aria-busy="false"]'));
	};
	await page.evaluate(() => document.activeElement.blur());
	await page.mouse.move(1, 1);
	await windowChanges(page, () => page.keyboard.press('n'));
	await says(page, of(1));
	await isSeen(1);
	for (let i = 2; i <= 4; i++)
		await page.keyboard.press('n');
	await says(page, of(4));
	await page.keyboard.press('N');
	await says(page, of(3));
	await page.focus('#chart-search');
	await page.keyboard.down('Shift');
	for (let i = 0; i < 3; i++)
		await page.keyboard.press('Enter');
	await page.keyboard.up('Shift');
	await says(page, of(loops.length));
	await page.waitForFunction((at) => /time=(\d+)/.exec(location.hash)?.[1] > at, {}, loops.at(-20)[1]);
	await isSeen(loops.length);
	await page.waitForFunction(() => !document.querySelector('[aria-label="Next match"]').disabled);
	await page.click('[aria-label="Next match"]');
	await says(page, of(1));
	// Elsewhere the next one is that behind the beginning of the window.
	await page.evaluate((hash) => location.hash = hash, `#search=%5Ehtmlspecialchars%24&time=${loops[1000][1] - 10},${loops[1050][1]}&show=time`);
	await page.waitForFunction((from) => location.hash.includes(from), {}, String(loops[1000][1] - 10));
	await drawn(page);
	await page.focus('.time-chart .flame');
	await page.keyboard.press('n');
	await says(page, of(1001));
	await typeSearch(page, '');
	await says(page, '');
	await showAll();
});

await test('a step of the search sends one request, for the call and the boxes around it', async () => {
	await typeSearch(page, '^htmlspecialchars$');
	await says(page, `${(2 * LOOP).toLocaleString('en')} matches`);
	await page.focus('.time-chart .flame');
	// The one before the first is the last, far from it.
	for (const [key, number] of [['n', 1], ['n', 2], ['N', 1], ['N', 2 * LOOP], ['n', 1]]) {
		const before = page.asked.length;
		await page.keyboard.press(key);
		await says(page, `${number.toLocaleString('en')} of ${(2 * LOOP).toLocaleString('en')}`);
		// Longer than the page waits before it asks for more boxes.
		await new Promise((r) => setTimeout(r, 600));
		await page.waitForFunction((at) => { const m = /time=(\d+),(\d+)/.exec(location.hash); return m && m[1] <= at && at <= m[2]; }, {}, CALLS.filter((c) => c[0] === 6).at(number - 1)[1]);
		check(page.asked.length - before === 1, key, number, page.asked.slice(before));
	}
	await typeSearch(page, '');
	await says(page, '');
	await showAll();
});

await test('a file highlights and steps through the same matches', async () => {
	strobe('flamegraph', '-o', join(folder, 'chart.html'), files.chart);
	const file = await newPage(browser), all = (2 * LOOP).toLocaleString('en'), slow = CALLS.filter((c) => c[0] === 4)[1];
	await file.goto(`file://${join(folder, 'chart.html')}#search=%5Ehtmlspecialchars%24&show=time`);
	await says(file, `${all} matches`);
	await drawn(file);
	check(await purple(file) > 2000, 'calls narrower than a pixel are highlighted', await purple(file));
	for (const [key, number] of [['n', 1], ['n', 2], ['N', 1], ['N', 2 * LOOP]]) {
		await file.keyboard.press(key);
		await says(file, `${number.toLocaleString('en')} of ${all}`);
	}
	const last = CALLS.findLast((c) => c[0] === 6);
	await file.waitForFunction((at) => /time=(\d+)/.exec(location.hash)?.[1] > at, {}, last[1] - 100_000);
	const [from, to] = await windowOf(file);
	check(from <= last[1] && to >= last[1] + last[2] && last[2] * 400 > to - from, from, to, last);
	await typeSearch(file, 'pdo');
	await says(file, '2 matches');
	await file.keyboard.press('N');
	await says(file, '2 of 2');
	await file.waitForFunction((at) => /time=(\d+)/.exec(location.hash)?.[1] <= at, {}, slow[1]);
	await typeSearch(file, '^(([A-Za-z]|[a-z]|[^ ])+)+$x');
	await file.waitForSelector('.time-chart [role="alert"]');
	check((await file.$eval('.time-chart [role="alert"]', (e) => e.textContent)).includes('takes too long'), 'the search is stopped');
	check(file.complaints.length === 0, file.complaints);
	await file.close();
});

await test('slow expressions do not hang the search, and an invalid one is reported beside the chart', async () => {
	await typeSearch(page, '^(([A-Za-z]|[a-z]|[^ ])+)+$x');
	await says(page, 'no match');
	await typeSearch(page, 'html(?=special)');
	await page.waitForFunction(() => document.querySelector('.time-chart [role="alert"]')?.textContent.includes('has a group with flags'));
	check(await words(page) === '' && Number(await page.$eval('.time-chart .flame', (e) => e.dataset.boxes)) > 10, await words(page));
	const linked = await openPage('/runs/shop/chart#search=html(%3F%3Dspecial)&show=time');
	await linked.waitForSelector('.time-chart [role="alert"]');
	check(Number(await linked.$eval('.time-chart .flame', (e) => e.dataset.boxes)) > 10, 'the chart is still shown');
	await linked.close();
	await typeSearch(page, 'nowhere');
	await says(page, 'no match');
	check(!await page.$('.time-chart [role="alert"]') && await page.$eval('[aria-label="Next match"]', (e) => e.disabled), 'next match is disabled');
	await typeSearch(page, '');
	await says(page, '');
	page.complaints = page.complaints.filter((c) => !c.includes('400'));
});

await test('the flame chart works in dark mode, on a phone, and with calls of zero duration', async () => {
	const phone = await openPage('/runs/shop/chart#show=time', { width: 390, height: 844, dark: true, phone: true });
	await chartReady(phone);
	await drawn(phone);
	check(await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing overflows the window');
	const corner = await phone.$eval(canvas, (c) => [...c.getContext('2d').getImageData(c.width - 2, 2, 1, 1).data]);
	check(corner[0] < 40 && corner[1] < 40 && corner[2] < 40, 'the axis is dark', corner);
	if (pictures)
		await phone.screenshot({ path: join(pictures, 'chart-phone.png') });
	check(phone.complaints.length === 0, phone.complaints);
	await phone.close();
	const short = await openPage('/runs/shop/short#show=time');
	await chartReady(short);
	await drawn(short);
	check((await short.$eval('.time-chart .flame', (e) => e.getAttribute('aria-label'))).includes('5 calls over 300 ns'), 'the chart has an accessible name');
	check(short.complaints.length === 0, short.complaints);
	await short.close();
});

await test('hostile names are text, axe reports no serious violations, and the console has no errors', async () => {
	check(await page.title() !== 'owned' && page.complaints.length === 0, page.complaints);
	const open = await openPage('/runs/shop/chart#show=time', { policy: false });
	await chartReady(open);
	await accessible(open, 'the chart');
	await open.close();
});

await browser.close();
await stop();
rmSync(folder, { recursive: true });
await end();
