// The timeline, live mode and ranges in zones: node test_page_time.mjs TEST-SERVER

import { drawn, newPage, ready } from './browser.mjs';
import { check, raw, some, test } from './lib.mjs';
import { at, browser, finish, notAt, openPage, site, text } from './live_pages.mjs';

// Pixels of the chart by color.
const painted = (open) => open.evaluate(() => {
	const c = document.querySelector('.plot canvas'), { data } = c.getContext('2d').getImageData(0, 0, c.width, c.height), counts = {};
	for (let i = 0; i < data.length; i += 4) {
		const color = data[i + 3] === 255 ? '#' + [...data.slice(i, i + 3)].map((v) => v.toString(16).padStart(2, '0')).join('') : '';
		counts[color] = (counts[color] || 0) + 1;
	}
	return counts;
});

for (const [where, how] of some([['light', {}], ['dark', { dark: true }], ['on a phone', { width: 390, height: 844, phone: true }]]))
	await test(`the timeline is split by a label into layers in proportion to its values: ${where}`, async () => {
		const open = await openPage(`${site}/?from=-2h`, how);
		await open.waitForSelector('.plot canvas');
		await open.select('.caption select', 'host');
		await at(open, 'split=host');
		await open.waitForSelector('.series li');
		await drawn(open);
		const { values } = JSON.parse((await raw(site, '/api/v1/labels?from=-2h')).bytes).labels.find((l) => l.key === 'host');
		const legend = await open.$$eval('.series li', (all) => all.map((e) => [e.querySelector('span').textContent, e.querySelector('.num').textContent]));
		const sum = values.reduce((n, v) => n + v.samples, 0);
		check(legend.map(([name]) => name).join() === values.map((v) => v.value).join(), legend, values);
		legend.forEach(([, part], i) => check(Math.abs(parseFloat(part) - 100 * values[i].samples / sum) < 0.06, part, values[i], sum));
		const colors = await open.evaluate(() => [1, 2].map((i) => getComputedStyle(document.documentElement).getPropertyValue(`--series-${i}`).trim()));
		const pixels = await painted(open), [first, second] = colors.map((c) => pixels[c] || 0);
		// Areas are as the numbers, but for the edges of bars.
		check(first > 100 && second > 100 && Math.abs(first / (first + second) - values[0].samples / sum) < 0.08, first, second, values);
		const over = await open.evaluate(() => document.documentElement.scrollWidth - innerWidth);
		check(over <= 0, 'the page fits the window', over);
		await open.select('.caption select', '');
		await notAt(open, 'split=');
		await open.waitForFunction(() => !document.querySelector('.series'));
		await drawn(open);
		check(!(await painted(open))[colors[1]], 'the timeline has one layer again');
		check(open.complaints.length === 0, open.complaints);
		await open.close();
	});

// Its timeline has other numbers of samples.
async function pageWithSamples(change) {
	const open = await newPage(browser);
	await open.setRequestInterception(true);
	open.on('request', async (r) => {
		if (!r.url().includes('/api/v1/timeline'))
			return r.continue();
		const answer = await (await fetch(r.url())).json();
		r.respond({ contentType: 'application/json', body: JSON.stringify({ ...answer, samples: answer.samples.map(change) }) });
	});
	return open;
}

await test('large numbers on the axis of the timeline are not cut off', async () => {
	const open = await pageWithSamples((n) => n * 100_000);
	await open.goto(site);
	await open.waitForSelector('.plot canvas');
	await drawn(open);
	const [columns, room] = await open.evaluate(() => {
		const c = document.querySelector('.plot canvas'), { data } = c.getContext('2d').getImageData(0, 0, 3, c.height);
		return [data.filter((v, i) => i % 4 === 3 && v > 0).length, document.querySelector('.plot .u-over').offsetLeft];
	});
	check(columns === 0 && room > 60, columns, room);
	await open.close();
});

for (const [query, says] of some([['&keep-i=a', true], ['&remove=nothing', true], ['', false]]))
	await test(`the timeline notes if there are stack filters, which do not apply to it${query && `: ${query}`}`, async () => {
		const open = await openPage(`${site}/?from=-24h${query}`);
		await open.waitForFunction(() => /samples/.test(document.querySelector('.caption').textContent));
		check((await text(open, '.caption')).includes('keep and remove do not apply') === says, query, await text(open, '.caption'));
		await open.setViewport({ width: 390, height: 844 });
		check(await open.$eval('.caption span', (e) => e.scrollWidth <= e.clientWidth), 'the whole caption is visible on a phone');
		await open.close();
	});

await test('a link opens the split timeline, also with an unknown label', async () => {
	const open = await openPage(`${site}/?from=-24h&split=nothing`);
	await open.waitForSelector('.series li');
	check((await text(open, '.series')).includes('others'), await text(open, '.series'));
	check(await open.$eval('.caption select', (e) => e.value) === 'nothing');
	await open.goto(`${site}/?from=-24h&split=entry`);
	await ready(open);
	await open.waitForFunction(() => document.querySelectorAll('.series li').length === 5);
	await open.close();
});

await test('bars of a short range are as wide as their interval', async () => {
	const open = await pageWithSamples(() => 5);
	await open.goto(`${site}/?from=-1m`);
	await open.waitForSelector('.plot canvas');
	await drawn(open);
	const [filled, all] = await open.evaluate(() => {
		const c = document.querySelector('.plot canvas'), { offsetLeft, offsetTop, clientWidth, clientHeight } = document.querySelector('.plot .u-over');
		const { data } = c.getContext('2d').getImageData(offsetLeft, offsetTop + clientHeight / 2, clientWidth, 1);
		return [data.filter((v, i) => i % 4 === 3 && v === 255).length, clientWidth];
	});
	check(all > 1000 && filled > 0.95 * all, filled, all);
	await open.close();
});

await test('dragging a finger over the timeline selects a range', async () => {
	const open = await openPage(`${site}/?from=-15m`, { width: 390, height: 844, phone: true });
	await open.waitForSelector('.plot .u-over');
	await drawn(open);
	const r = await open.$eval('.plot .u-over', (e) => { const b = e.getBoundingClientRect(); return { x: b.x, y: b.y, w: b.width, h: b.height }; });
	const drag = async (from, to) => {
		const touch = await open.touchscreen.touchStart(r.x + r.w * from, r.y + r.h / 2);
		for (let i = 1; i <= 5; i++)
			await touch.move(r.x + r.w * (from + (to - from) * i / 5), r.y + r.h / 2);
		return touch;
	};
	await (await drag(0.5, 0.5)).end();
	check(open.url().includes('from=-15m'), 'a tap selects nothing', open.url());
	const touch = await drag(0.8, 0.4);
	await drawn(open);
	const marked = await open.$eval('.plot .u-select', (e) => e.getBoundingClientRect().width);
	check(Math.abs(marked - 0.4 * r.w) < 3, 'the selection is highlighted', marked, r.w);
	await touch.end();
	await at(open, '&to=');
	const q = new URL(open.url()).searchParams, seconds = (Date.parse(q.get('to')) - Date.parse(q.get('from'))) / 1000;
	check(seconds >= 340 && seconds <= 400, open.url());
	check(open.complaints.length === 0, open.complaints);
	await open.close();
});

await test('dragging the mouse over the timeline selects a range', async () => {
	const page = await openPage(site);
	await page.waitForSelector('.plot .u-over');
	const r = await page.$eval('.plot .u-over', (e) => { const b = e.getBoundingClientRect(); return { x: b.x, y: b.y, w: b.width, h: b.height }; });
	await page.mouse.move(r.x + r.w * 0.3, r.y + r.h / 2);
	await page.mouse.down();
	await page.mouse.move(r.x + r.w * 0.5, r.y + r.h / 2, { steps: 5 });
	await page.mouse.up();
	await ready(page);
	await at(page, 'from=');
	check(/from=\d{4}-\d\d-\d\dT[^&]+&to=\d{4}-/.test(page.url()), page.url());
	await page.goBack();
	await ready(page);
	await notAt(page, 'from=');
	check(page.complaints.length === 0, page.complaints);
	await page.close();
});

await test('live mode is in the URL, and ends when a range with an end is selected', async () => {
	const open = await openPage(`${site}/?from=-15m`), pressed = () => open.$eval('button.live', (b) => b.getAttribute('aria-pressed'));
	check(await pressed() === 'false');
	await open.click('button.live');
	await at(open, '#live=1');
	await open.reload();
	await ready(open);
	check(await pressed() === 'true' && open.url().includes('from=-15m'), open.url());
	const r = await open.$eval('.plot .u-over', (e) => { const b = e.getBoundingClientRect(); return { x: b.x, y: b.y, w: b.width, h: b.height }; });
	await open.mouse.move(r.x + r.w * 0.3, r.y + r.h / 2);
	await open.mouse.down();
	await open.mouse.move(r.x + r.w * 0.5, r.y + r.h / 2, { steps: 5 });
	await open.mouse.up();
	await at(open, '&to=');
	check(await pressed() === 'false' && !open.url().includes('live'), open.url());
	await open.click('button.live');
	await ready(open);
	await notAt(open, 'to=');
	check(await pressed() === 'true' && open.url().endsWith('#live=1'), open.url());
	await open.goBack();
	await at(open, '&to=');
	check(await pressed() === 'false', open.url());
	await open.close();
});

await test('live mode is off for a range with an end, whatever the URL says', async () => {
	const open = await openPage(`${site}/?from=-30m&to=-5m#live=1`);
	check(await open.$eval('button.live', (b) => b.getAttribute('aria-pressed')) === 'false');
	await open.close();
});

// A page that is refreshed every 0.3 s, and whose graphs come after `delay` ms.
async function openLive(delay, height) {
	const open = await newPage(browser, { height }), graphs = { answered: 0, aborted: 0 };
	await open.evaluateOnNewDocument(() => {
		const set = globalThis.setInterval;
		globalThis.setInterval = (act, ms) => set(act, ms === 10_000 ? 300 : ms);
	});
	await open.setRequestInterception(true);
	const isGraph = (r) => r.url().includes('format=flame');
	open.on('request', (r) => isGraph(r) ? setTimeout(() => r.continue().catch(() => {}), delay) : r.continue());
	open.on('requestfinished', (r) => graphs.answered += isGraph(r));
	open.on('requestfailed', (r) => graphs.aborted += isGraph(r));
	await open.goto(`${site}/?from=-1h&entry=index#show=graph&live=1`);
	await ready(open);
	const refreshed = async (n) => {
		for (const end = graphs.answered + n; graphs.answered < end;)
			await new Promise((r) => setTimeout(r, 50));
		await drawn(open);
	};
	return { open, graphs, refreshed };
}

await test('live mode waits for a response that takes longer than the refresh interval', async () => {
	const { open, graphs, refreshed } = await openLive(1000, 900);
	await refreshed(2);
	check(graphs.aborted === 0, graphs);
	await open.close();
});

await test('a refresh keeps the zoom, the scroll position and the selected box', async () => {
	const { open, refreshed } = await openLive(0, 480), below = () => open.$eval('.flame', (e) => e.scrollHeight - e.clientHeight - e.scrollTop);
	await open.focus('.flame');
	for (const key of ['ArrowUp', 'ArrowUp', 'ArrowUp'])
		await open.keyboard.press(key);
	const marked = await text(open, '.graph .sr');
	await open.$eval('.flame', (e) => e.scrollTop -= 25);
	await drawn(open);
	const scrolled = await below();
	check(scrolled > 0, 'the graph is taller than its window');
	await refreshed(3);
	check(await below() === scrolled, await below(), scrolled);
	await open.keyboard.press('Enter');
	await at(open, 'zoom=');
	check(decodeURIComponent(open.url()).endsWith(`${marked.split(',')[0]}&show=graph&live=1`), open.url(), marked);
	await refreshed(2);
	check((await text(open, '.crumbs')).includes(marked.split(',')[0]));
	await open.close();
});

await test('a refresh reloads the call graph, and keeps its visible part and the focus', async () => {
	const open = await openPage(`${site}/?from=-1h&entry=index#show=calls`), asked = () => open.waitForResponse((r) => r.url().includes('/api/v1/callgraph'));
	const state = () => open.evaluate(() => document.activeElement.getAttribute('class') + document.activeElement.textContent +
		document.querySelector('.call-graph svg').getAttribute('viewBox').split(' ').map((v) => Math.round(v)));
	await open.waitForSelector('.call-graph .node');
	await open.$eval('.call-graph .node', (e) => e.focus());
	await open.keyboard.press('+');
	await at(open, 'at=');
	const before = await state();
	check(before.includes('node'), before);
	await open.$eval('.call-graph svg', (e) => { e.dataset.old = 'yes'; });
	await Promise.all([asked(), open.$eval('button[aria-label="Refresh"]', (e) => e.click())]);
	await open.waitForSelector('.call-graph svg:not([data-old])');
	await open.waitForSelector('.calls[aria-busy="false"]');
	check(await state() === before, await state(), before);
	await Promise.all([asked(), open.click('button.live')]);
	await open.close();
});

await test('a custom range is entered in the displayed time zone', async () => {
	const other = await newPage(browser);
	await other.emulateTimezone('Asia/Kolkata');
	await other.goto(`${site}/?from=-15m`);
	await ready(other);
	await other.click('.ranges .custom');
	check((await text(other, '.times p')).includes('(Asia/'), await text(other, '.times p'));
	await other.$eval('.times input[name=from]', (e) => e.value = '2026-03-01T07:30');
	await other.click('.times .primary');
	await at(other, 'from=2026-03-01T02%3A00%3A00Z');
	await ready(other);
	await other.click('.ranges .custom');
	check(await other.$eval('.times input[name=from]', (e) => e.value) === '2026-03-01T07:30:00');
	await other.close();
});

await test('warnings have times in the displayed time zone', async () => {
	const { looked } = JSON.parse((await raw(site, '/api/v1/table?from=-24h')).bytes), iso = (unix) => new Date(unix * 1000).toISOString();
	const other = await newPage(browser);
	await other.emulateTimezone('Asia/Kolkata');
	await other.goto(`${site}/?from=${iso(looked.store_to - 20)}&to=${iso(looked.store_to - 10)}&base_from=-24h&base_to=now`);
	await ready(other);
	const there = new Date((looked.store_to - 20 + 5.5 * 3600) * 1000).toISOString().slice(0, 19).replace('T', ' '), said = await text(other, 'main .warning');
	check(said.includes('samples') && said.includes(there) && !/\dZ/.test(said), said, there);
	await other.close();
});

await finish();
