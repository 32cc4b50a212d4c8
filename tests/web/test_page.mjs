// The page in a real browser, on a store with known content: node test_page.mjs TEST-SERVER

import http from 'node:http';
import { join } from 'node:path';
import { accessible, drawn, launch, newPage, printed, ready } from './browser.mjs';
import { check, end, raw, serve, test } from './lib.mjs';

const program = process.argv[2];

const site = await serve(program);
const bare = await serve(program, '--empty');
const big = await serve(program, '--boxes', '80000');
const browser = await launch();

// Everything that a page should not say, while it is open.
async function openPage(address, { width = 1440, height = 900, dark = false, scripts = true, phone = false } = {}) {
	const page = await newPage(browser, { width, height, dark, scripts, phone });
	page.on('requestfailed', (r) => r.failure()?.errorText !== 'net::ERR_ABORTED' && page.complaints.push(`failed: ${r.url()}`));
	page.on('request', (r) => r.url().startsWith('data:') || new URL(r.url()).origin === new URL(address).origin ||
		page.complaints.push(`elsewhere: ${r.url()}`));
	await page.evaluateOnNewDocument(() => {
		globalThis.violations = [];
		globalThis.shift = 0;
		document.addEventListener('securitypolicyviolation', (e) => globalThis.violations.push(`${e.violatedDirective} ${e.blockedURI}`));
		new PerformanceObserver((list) => list.getEntries().forEach((e) => globalThis.shift += e.value)).observe({ type: 'layout-shift', buffered: true });
	});
	await page.goto(address);
	if (scripts)
		await ready(page);
	return page;
}

// The address changes when the page has heard of what was done, which may be after the answer to who did it.
const at = (page, part) => page.waitForFunction((p) => location.href.includes(p), {}, part);
const notAt = (page, part) => page.waitForFunction((p) => !location.href.includes(p), {}, part);

const colors = (page) => page.evaluate(() => {
	const c = document.querySelector('.flame canvas'), bytes = new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer);
	return new Set(bytes).size;
});

const text = (page, selector) => page.$eval(selector, (e) => e.textContent);

// The middle of the widest part of the row `above` the root.
async function pointInRow(page, above, share = 0.6) {
	await drawn(page);
	return page.$eval('.flame', (e, n, s) => {
		const r = e.getBoundingClientRect();
		return { x: r.left + e.clientWidth * s, y: r.bottom - 4 - (n + 0.5) * 19 };
	}, above, share);
}

async function clickRow(page, above, share) {
	const { x, y } = await pointInRow(page, above, share);
	await page.mouse.click(x, y);
	await drawn(page);
}

let page = await openPage(site);

await test('the page opens without complaints of the browser or violations of its policy', async () => {
	await page.waitForSelector('.plot canvas');
	check(page.complaints.length === 0, page.complaints);
	check((await page.evaluate(() => globalThis.violations)).length === 0, await page.evaluate(() => globalThis.violations));
});

await test('nothing on the page jumps while it loads', async () => {
	const fresh = await openPage(`${site}/?entry=index`);
	await fresh.waitForSelector('.plot canvas');
	await drawn(fresh);
	const shift = await fresh.evaluate(() => globalThis.shift);
	check(shift < 0.1, 'layout shift', shift);
	await fresh.close();
});

await test('the flame graph is drawn', async () => {
	await drawn(page);
	check(await colors(page) > 50, 'colors', await colors(page));
});

await test('the table has the functions with the largest self value first', async () => {
	const rows = await page.$$eval('.rows tbody tr:not(.gap)', (all) => all.map((tr) => parseFloat(tr.cells[0].textContent)));
	check(rows.length > 10 && rows[0] > 5, rows);
	check(rows.every((v, i) => i === 0 || v <= rows[i - 1]), rows);
});

await test('a search marks boxes and says how much of the graph they are', async () => {
	const before = await colors(page);
	await page.type('#search', 'parser::PARSE');
	await drawn(page);
	check(/^\d+(\.\d+)?% matched$/.test(await text(page, '.matched')), await text(page, '.matched'));
	await at(page, '#search=parser%3A%3APARSE');
	check(await colors(page) !== before);
});

await test('the matched share is what the API has as total', async () => {
	const shown = parseFloat(await text(page, '.matched'));
	const { functions } = await (await fetch(`${site}/api/v1/functions?limit=0`)).json();
	const share = 100 * functions.find((f) => f.name === 'Wiki\\Parser::parse').total_share;
	check(Math.abs(shown - share) < 0.06, shown, share);
});

await test('Enter goes to the next match, and its name is told', async () => {
	await page.focus('#search');
	await page.keyboard.press('Enter');
	await drawn(page);
	await at(page, 'search=');
});

await test('a search that is no regular expression is taken as text', async () => {
	await page.$eval('#search', (e) => e.select());
	await page.type('#search', 'parse(');
	await drawn(page);
	check(await text(page, '.matched') === 'no match');
	await page.keyboard.press('Escape');
	await drawn(page);
	check(await text(page, '.matched') === '');
});

await test('a click zooms, the address has the path, and Back leads out again', async () => {
	await clickRow(page, 2);
	await at(page, 'Wiki%5CKernel%3A%3Ahandle');
	check((await text(page, '.crumbs')).includes('Wiki\\Kernel::handle'));
	await page.goBack();
	await drawn(page);
	await notAt(page, 'zoom=');
	check(!(await text(page, '.crumbs')).includes('Wiki\\Kernel::handle'));
	await page.goForward();
	await drawn(page);
	check((await text(page, '.crumbs')).includes('Wiki\\Kernel::handle'));
});

await test('a link opens the same zoom and search', async () => {
	const other = await openPage(`${site}/?inverted=1#zoom=%7Bmain%7D%40%2Fsrv%2Fwiki%2Findex.php%3A1;Wiki%5CKernel%3A%3Ahandle&search=preg`);
	await drawn(other);
	check((await text(other, '.crumbs')).includes('Wiki\\Kernel::handle'));
	check((await text(other, '.matched')).endsWith('matched'));
	check(await other.$eval('.flame', (e) => e.scrollTop) === 0);
	await other.close();
});

await test('the table shows what is on the zoomed box only', async () => {
	check(!(await text(page, '.rows tbody')).includes('Wiki\\Queue::work'));
	await page.click('.crumbs .reset');
	await drawn(page);
	await page.type('.narrow', 'queue work');
	await drawn(page);
	check((await text(page, '.rows tbody')).includes('Wiki\\Queue::work'), await text(page, '.rows tbody'));
	await page.$eval('.narrow', (e) => e.select());
	await page.keyboard.press('Backspace');
});

await test('the glass beside a function searches exactly it', async () => {
	await page.click('.rows tbody tr:not(.gap) .mark');
	await drawn(page);
	check((await page.$eval('#search', (e) => e.value)).startsWith('^'));
	check((await text(page, '.matched')).endsWith('matched'));
	await page.click('.rows tbody tr.chosen .mark');
	await drawn(page);
	check(await page.$eval('#search', (e) => e.value) === '');
});

await test('columns sort both ways', async () => {
	await page.click('th.name button');
	const first = await text(page, '.rows tbody tr:not(.gap) th a');
	await page.click('th.name button');
	check(await text(page, '.rows tbody tr:not(.gap) th a') !== first);
	check(await page.$eval('th.name', (e) => e.ariaSort) === 'descending');
	await page.click('th.self button');
});

await test('arrow keys walk the boxes and tell where they are', async () => {
	await page.focus('.flame');
	for (const key of ['ArrowUp', 'ArrowUp', 'ArrowUp'])
		await page.keyboard.press(key);
	await drawn(page);
	const said = await text(page, '.graph .sr');
	check(/^.+, .+, total [\d,]+ , [\d.]+%/.test(said) && said.includes('Kernel::handle'), said);
	await page.keyboard.press('Enter');
	await drawn(page);
	await at(page, 'zoom=');
	await page.keyboard.press('Escape');
	await drawn(page);
	await notAt(page, 'zoom=');
});

await test('the pointer shows name, place, self and total', async () => {
	const { x, y } = await pointInRow(page, 2);
	await page.mouse.move(x, y);
	await page.waitForSelector('.tip');
	const said = await text(page, '.tip');
	check(said.includes('Wiki\\Kernel::handle') && said.includes('Kernel.php:48') && said.includes('self'), said);
	await page.mouse.move(5, 5);
});

await test('an entry point can be chosen, and the reversed graph keeps it', async () => {
	await page.click('.picker .pick');
	await page.type('.picker input', 'cron');
	await page.keyboard.press('Enter');
	await ready(page);
	await at(page, 'entry=cron');
	await page.waitForFunction(() => document.querySelector('.rows tbody').textContent.includes('Queue::work'));
	await page.evaluate(() => [...document.querySelectorAll('.graph .segments button')].find((b) => b.textContent === 'reversed').click());
	await ready(page);
	await at(page, 'entry=cron');
	await at(page, 'reverse=1');
	await page.goto(site);
	await ready(page);
});

// --- Filters by mouse ---

const filters = async (open, label) => {
	await open.waitForFunction(() => document.querySelector('main').dataset.ready === 'true');
	return new URL(open.url()).searchParams.getAll(label);
};
const popupOf = (open, label) => open.evaluateHandle((l) => [...document.querySelectorAll('.picker')].find((p) => p.querySelector('.key').textContent === l), label);
const clickIn = async (open, label, selector, words) => {
	const picker = await popupOf(open, label);
	const found = await open.waitForFunction((p, s, w) => [...p.querySelectorAll(s)].find((e) => !w || (e.closest('li') || e).textContent.includes(w)), {}, picker, selector, words);
	await found.click();
};
const ticked = async (open, label) => open.evaluate((p) => [...p.querySelectorAll('[aria-selected="true"]')].map((e) => e.querySelector('.val').textContent), await popupOf(open, label));
const becomes = (open, label, wanted) => open.waitForFunction((l, w) => new URL(location).searchParams.getAll(l).join() === w, {}, label, wanted.join());

// The result of the address has as many samples as the values that were chosen had in the list of all.
async function samplesAre(open, label, wanted) {
	const { labels } = JSON.parse((await raw(site, '/api/v1/labels?from=-24h')).bytes), { values } = labels.find((l) => l.key === label);
	const sum = values.filter((v) => wanted(v.value)).reduce((n, v) => n + v.samples, 0);
	const { looked } = JSON.parse((await raw(site, `/api/v1/functions${new URL(open.url()).search}`)).bytes);
	check(sum > 0 && looked.samples === sum && sum < values.reduce((n, v) => n + v.samples, 0), label, sum, looked);
}

await test('several values of a label are ticked, turned to "not", and untied again, by mouse', async () => {
	const open = await openPage(`${site}/?from=-24h`);
	await clickIn(open, 'entry', '.pick');
	await clickIn(open, 'entry', 'li .tick', 'cron');
	await becomes(open, 'entry', ['cron']);
	await clickIn(open, 'entry', 'li .tick', 'index');
	await becomes(open, 'entry', ['cron', 'index']);
	check((await ticked(open, 'entry')).sort().join() === 'cron,index', await ticked(open, 'entry'));
	await samplesAre(open, 'entry', (v) => v === 'cron' || v === 'index');
	await clickIn(open, 'entry', '.segments button', 'is not');
	await becomes(open, 'entry', ['!cron', '!index']);
	await samplesAre(open, 'entry', (v) => v !== 'cron' && v !== 'index');
	check((await text(open, '.picker .pick .val')) === 'not cron, index', await text(open, '.picker .pick .val'));
	await open.reload();
	await ready(open);
	await clickIn(open, 'entry', '.pick');
	check((await ticked(open, 'entry')).sort().join() === 'cron,index', 'after a reload');
	await clickIn(open, 'entry', 'li .tick', 'cron');
	await becomes(open, 'entry', ['!index']);
	await clickIn(open, 'entry', 'li .val', 'all entry points');
	await becomes(open, 'entry', []);
	check(!await open.$('.picker .popup'), 'a click on a line is all that is wanted');
	check(open.complaints.length === 0, open.complaints);
	await open.close();
});

await test('a prefix can be clicked, alone and beside values; Back undoes each step', async () => {
	const open = await openPage(`${site}/?from=-24h`);
	await clickIn(open, 'entry', '.pick');
	await open.type('.picker input', 'in');
	await clickIn(open, 'entry', 'li .val', 'begins with');
	await becomes(open, 'entry', ['in*']);
	await samplesAre(open, 'entry', (v) => v.startsWith('in'));
	await clickIn(open, 'entry', '.pick');
	await clickIn(open, 'entry', 'li .tick', 'cron');
	await becomes(open, 'entry', ['in*', 'cron']);
	await samplesAre(open, 'entry', (v) => v.startsWith('in') || v === 'cron');
	check((await filters(open, 'entry')).length === 2);
	await open.goBack();
	await becomes(open, 'entry', ['in*']);
	await open.close();
});

await test('a prefix is excluded as a value is, and "is" and "is not" are distinguished', async () => {
	const open = await openPage(`${site}/?from=-24h&entry=in*&entry=cron`);
	await clickIn(open, 'entry', '.pick');
	await clickIn(open, 'entry', '.segments button', 'is not');
	await becomes(open, 'entry', ['!in*', '!cron']);
	await samplesAre(open, 'entry', (v) => !v.startsWith('in') && v !== 'cron');
	check((await text(open, '.picker .pick .val')) === 'not in*, cron', await text(open, '.picker .pick .val'));
	await clickIn(open, 'entry', 'li .tick', 'cron');
	await becomes(open, 'entry', ['!in*']);
	await open.type('.picker input', 'cr');
	await clickIn(open, 'entry', 'li .val', 'begins with');
	await becomes(open, 'entry', ['!cr*']);
	await samplesAre(open, 'entry', (v) => !v.startsWith('cr'));
	await open.goto(`${site}/?from=-24h&entry=in*&entry=!cron`);
	await ready(open);
	check((await text(open, '.picker .pick .val')) === 'in*, not cron', await text(open, '.picker .pick .val'));
	await open.close();
});

await test('lists and forms that pop up are closed by Escape, wherever the focus is, and by a click elsewhere', async () => {
	const open = await openPage(`${site}/?from=-24h`);
	for (const [button, popup] of [['.picker .pick', '.picker .popup'], ['button.custom', '.times'], ['.compare > button', '.compare .popup']]) {
		await open.click(button);
		await open.waitForSelector(popup);
		await open.evaluate(() => document.activeElement.blur());
		await open.keyboard.press('Escape');
		await open.waitForFunction((s) => !document.querySelector(s), {}, popup);
		check(await open.evaluate((s) => document.activeElement.matches(s), button), 'the focus is back', button);
		await open.click(button);
		await open.waitForSelector(popup);
		const { x, y } = await open.$eval('.flame', (e) => ({ x: e.getBoundingClientRect().right - 40, y: e.getBoundingClientRect().top + 4 }));
		await open.mouse.click(x, y);
		await open.waitForFunction((s) => !document.querySelector(s), {}, popup);
	}
	await open.close();
});

await test('an Escape that comes before a list is painted gives the focus back, too', async () => {
	const open = await openPage(`${site}/?from=-24h`);
	const focus = await open.evaluate(async () => {
		const button = document.querySelector('.picker .pick'), turn = async (done) => {
			for (let i = 0; i < 1000 && !done(); i++)
				await Promise.resolve();
		};
		button.click();
		await turn(() => document.querySelector('.picker .popup'));
		document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
		await turn(() => !document.querySelector('.picker .popup'));
		return document.activeElement.className;
	});
	check(focus === 'pick', focus);
	await open.close();
});

await test('any label of the data can be filtered by', async () => {
	const open = await openPage(`${site}/?from=-24h`);
	await open.waitForSelector('.more-labels');
	check(!(await open.$$eval('.picker .key', (all) => all.map((e) => e.textContent))).includes('clock'), 'it has one value');
	await open.select('.more-labels', 'clock');
	await clickIn(open, 'clock', '.segments button', 'is not');
	await clickIn(open, 'clock', 'li .tick', 'wall');
	await becomes(open, 'clock', ['!wall']);
	await open.waitForSelector('.empty');
	await clickIn(open, 'clock', 'li .tick', 'wall');
	await becomes(open, 'clock', []);
	await open.close();
});

// Pixels of the chart by color.
const painted = (open) => open.evaluate(() => {
	const c = document.querySelector('.plot canvas'), { data } = c.getContext('2d').getImageData(0, 0, c.width, c.height), counts = {};
	for (let i = 0; i < data.length; i += 4) {
		const color = data[i + 3] === 255 ? '#' + [...data.slice(i, i + 3)].map((v) => v.toString(16).padStart(2, '0')).join('') : '';
		counts[color] = (counts[color] || 0) + 1;
	}
	return counts;
});

await test('without scripts any label is filtered by, is not a value, or begins with one', async () => {
	const other = await openPage(site, { scripts: false });
	const samples = async () => Number((await (await fetch(`${site}/api/v1/table${new URL(other.url()).search}`)).json()).looked.samples);
	for (const [label, is, value, words] of [['sapi', 'not', 'cli', 'sapi is not cli'], ['host', 'not-prefix', 'none', 'host does not begin with none'], ['entry', 'prefix', 'in', 'entry begins with in'], ['entry', '', 'cron', 'entry is cron']]) {
		await other.select('select[name="filter_label"]', label);
		await other.select('select[name="filter_is"]', is);
		await other.$eval('input[name="filter_value"]', (e, v) => e.value = v, value);
		await Promise.all([other.waitForNavigation(), other.click('form.controls button')]);
		check((await text(other, '.filters')).includes(`${words} ×`), await text(other, '.filters'), other.url());
	}
	const all = await samples();
	check(all > 0 && new URL(other.url()).search.split('entry=').length === 3, other.url());
	await Promise.all([other.waitForNavigation(), other.click('.filters a:last-child')]);
	check(!other.url().includes('cron') && other.url().includes('entry=in*'.replace('*', '%2A')), other.url());
	check(other.complaints.length === 0, other.complaints);
	await other.close();
});

for (const [where, how] of [['light', {}], ['dark', { dark: true }], ['on a phone', { width: 390, height: 844, phone: true }]])
	await test(`samples over time are split by a label, in layers as high as its values: ${where}`, async () => {
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
		check(over <= 0, 'fits', over);
		await open.select('.caption select', '');
		await notAt(open, 'split=');
		await open.waitForFunction(() => !document.querySelector('.series'));
		await drawn(open);
		check(!(await painted(open))[colors[1]], 'one layer again');
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

await test('large numbers beside the timeline are not cut off', async () => {
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

await test('the timeline says that filters of stacks do not apply to it', async () => {
	for (const [query, says] of [['', false], ['&keep-i=a', true], ['&remove=nothing', true]]) {
		const open = await openPage(`${site}/?from=-24h${query}`);
		await open.waitForFunction(() => /samples/.test(document.querySelector('.caption').textContent));
		check((await text(open, '.caption')).includes('keep and remove do not apply') === says, query, await text(open, '.caption'));
		await open.setViewport({ width: 390, height: 844 });
		check(await open.$eval('.caption span', (e) => e.scrollWidth <= e.clientWidth), 'all of it is in sight on a phone');
		await open.close();
	}
});

await test('a link to the split timeline opens it, also of a label that is not there', async () => {
	const open = await openPage(`${site}/?from=-24h&split=nothing`);
	await open.waitForSelector('.series li');
	check((await text(open, '.series')).includes('others'), await text(open, '.series'));
	check(await open.$eval('.caption select', (e) => e.value) === 'nothing');
	await open.goto(`${site}/?from=-24h&split=entry`);
	await ready(open);
	await open.waitForFunction(() => document.querySelectorAll('.series li').length === 5);
	await open.close();
});

await test('bars of a short range are as wide as the time they stand for', async () => {
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

await test('a finger that is dragged over the timeline chooses a range', async () => {
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
	check(open.url().includes('from=-15m'), 'a tap chooses nothing', open.url());
	const touch = await drag(0.8, 0.4);
	await drawn(open);
	const marked = await open.$eval('.plot .u-select', (e) => e.getBoundingClientRect().width);
	check(Math.abs(marked - 0.4 * r.w) < 3, 'the part is marked', marked, r.w);
	await touch.end();
	await at(open, '&to=');
	const q = new URL(open.url()).searchParams, seconds = (Date.parse(q.get('to')) - Date.parse(q.get('from'))) / 1000;
	check(seconds >= 340 && seconds <= 400, open.url());
	check(open.complaints.length === 0, open.complaints);
	await open.close();
});

await test('dragging over the timeline chooses a range', async () => {
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
});

await test('live is in the address, and ends when a range with an end is chosen', async () => {
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

await test('live of a range with an end is off, whatever the address says', async () => {
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

await test('a live page waits for an answer that takes longer than it refreshes', async () => {
	const { open, graphs, refreshed } = await openLive(1000, 900);
	await refreshed(2);
	check(graphs.aborted === 0, graphs);
	await open.close();
});

await test('a refresh keeps the zoom, the scroll position and the marked box', async () => {
	const { open, refreshed } = await openLive(0, 480), below = () => open.$eval('.flame', (e) => e.scrollHeight - e.clientHeight - e.scrollTop);
	await open.focus('.flame');
	for (const key of ['ArrowUp', 'ArrowUp', 'ArrowUp'])
		await open.keyboard.press(key);
	const marked = await text(open, '.graph .sr');
	await open.$eval('.flame', (e) => e.scrollTop -= 25);
	await drawn(open);
	const scrolled = await below();
	check(scrolled > 0, 'the graph is higher than its window');
	await refreshed(3);
	check(await below() === scrolled, await below(), scrolled);
	await open.keyboard.press('Enter');
	await at(open, 'zoom=');
	check(decodeURIComponent(open.url()).endsWith(`${marked.split(',')[0]}&show=graph&live=1`), open.url(), marked);
	await refreshed(2);
	check((await text(open, '.crumbs')).includes(marked.split(',')[0]));
	await open.close();
});

await test('a refresh asks for the call graph, too, and keeps its part and the focus', async () => {
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

await test('an empty result says why, and offers what there is', async () => {
	const other = await openPage(`${site}/?entry=nothing`);
	const said = await text(other, '.empty');
	check(/No samples of entry=nothing between .* and .*; the store holds samples from .* to .*, entries: .*index/.test(said), said);
	await other.evaluate(() => [...document.querySelectorAll('.ways button')].find((b) => b.textContent === 'Show all stored data').click());
	await other.waitForSelector('.rows tbody button');
	check((await text(other, '.rows tbody')).length > 100);
	await other.close();
});

await test('the address of a comparison with nothing leads to the page, which says what there is', async () => {
	const open = await newPage(browser);
	await open.goto(`${site}/?base_from=-72h&base_to=-71h`);
	await open.waitForSelector('.bar button.live');
	await open.waitForSelector('main .why');
	const said = await text(open, 'main .why');
	check(/^Nothing to compare: no samples in \S+ \S+ to \S+ \S+; the store holds samples from \S+ \S+ to \S+ \S+, entries: \w+(, \w+)*$/.test(said) && !/\dZ/.test(said), said);
	await open.evaluate(() => [...document.querySelectorAll('main button')].find((b) => b.textContent === 'end comparison').click());
	await open.waitForSelector('.rows tbody button');
	check(!open.url().includes('base'), open.url());
	await open.close();
});

// The button may be in a part of the page that is still on its way.
const pressed = async (page, words) => {
	await page.waitForFunction((w) => {
		const button = [...document.querySelectorAll('button')].find((b) => b.textContent === w);
		button?.click();
		return !!button;
	}, {}, words);
	await drawn(page);
};

await test('a range is compared with the same range before, yesterday and labels by a few clicks', async () => {
	const other = await openPage(`${site}/?from=-15m&entry=search`), heading = () => text(other, '.about h2');
	await pressed(other, 'compare');
	await pressed(other, 'the same range before');
	await at(other, 'base_from=-1800s&base_to=-900s');
	await other.waitForSelector('.about h2');
	check(/^\d\d:\d\d:\d\d – .* compared with .*\d\d:\d\d:\d\d – /.test(await heading()), await heading());
	check((await text(other, '.rows thead')).includes('change'));
	await pressed(other, 'end comparison');
	await other.waitForFunction(() => !location.search.includes('base') && !document.querySelector('.about'));
	await pressed(other, 'compare');
	await other.waitForSelector('.compare select[name=before] option[value=api]');
	await other.select('.compare select[name=before]', 'api');
	await pressed(other, 'Compare');
	await at(other, 'base.entry=%3Dapi');
	await other.waitForSelector('.about h2');
	check(await heading() === 'entry=search compared with entry=api', await heading());
	const { compared, columns } = await (await fetch(`${site}/api/v1/table?from=-15m&entry=search&base.entry=api`)).json();
	const alone = async (entry) => (await (await fetch(`${site}/api/v1/table?from=-15m&entry=${entry}`)).json()).columns[0].whole;
	check(compared.before_labels === 'entry=api' && compared.after_labels === 'entry=search', compared);
	check(Math.abs(columns[0].whole - await alone('search')) <= 20 && Math.abs(columns[0].before - await alone('api')) <= 20, columns);
	await pressed(other, 'end comparison');
	await other.waitForFunction(() => !location.search.includes('base'));
	await pressed(other, 'compare');
	await other.waitForSelector('.compare select[name=after]');
	const side = () => other.$eval('.compare select[name=after]', (e) => e.value);
	check(other.url().includes('entry=%3Dsearch') && await side() === 'search', 'the side that is filtered by is chosen again', other.url(), await side());
	await pressed(other, 'a week ago at this time');
	await at(other, 'base_from=-605700s');
	await other.waitForFunction(() => document.querySelector('.empty .why')?.textContent.includes('Nothing to compare'));
	await pressed(other, 'end comparison');
	await other.waitForFunction(() => !location.search.includes('base') && document.querySelector('.flame canvas'));
	await other.close();
});

await test('a comparison that fails shows nothing of the one before, and another can be chosen', async () => {
	const other = await openPage(`${site}/?from=-15m&base_from=-1800s&base_to=-900s`);
	await other.waitForSelector('.about h2');
	await pressed(other, 'compare');
	await pressed(other, 'a week ago at this time');
	await other.waitForSelector('.empty .why');
	check(await other.$('.about') === null && !(await other.title()).includes(' and '), await other.title());
	await pressed(other, 'compare');
	await pressed(other, 'the same range before');
	await at(other, 'base_from=-1800s&base_to=-900s');
	await other.waitForSelector('.about h2');
	await other.goto(`${site}/?from=2020-01-01T10:00&to=2020-01-01T11:00&base_from=-2h`);
	await other.waitForSelector('.empty .why');
	await pressed(other, 'compare');
	await pressed(other, 'the same range before');
	await at(other, 'base_from=2020-01-01T09%3A00%3A00.000Z&base_to=2020-01-01T10%3A00%3A00.000Z');
	await other.close();
});

await test('yesterday at this time is the same time of the clocks, also after they were changed', async () => {
	const other = await newPage(browser);
	await other.evaluateOnNewDocument((changed) => {		// which were an hour ahead until then
		for (const name of ['toLocaleDateString', 'toLocaleTimeString']) {
			const was = Date.prototype[name];
			Date.prototype[name] = function (...how) { return was.apply(new Date(+this + (+this < changed ? 3_600_000 : 0)), how); };
		}
	}, Date.now() - 12 * 3_600_000);
	await other.goto(`${site}/?from=-15m`);
	await ready(other);
	await pressed(other, 'compare');
	await pressed(other, 'yesterday at this time');
	await at(other, 'base_from=-90900s&base_to=-90000s');
	await other.close();
});

await test('a custom range is typed in the zone that is shown', async () => {
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

await test('warnings have their times in the zone that is shown', async () => {
	const { looked } = JSON.parse((await raw(site, '/api/v1/table?from=-24h')).bytes), iso = (unix) => new Date(unix * 1000).toISOString();
	const other = await newPage(browser);
	await other.emulateTimezone('Asia/Kolkata');
	await other.goto(`${site}/?from=${iso(looked.store_to - 20)}&to=${iso(looked.store_to - 10)}&base_from=-24h&base_to=now`);
	await ready(other);
	const there = new Date((looked.store_to - 20 + 5.5 * 3600) * 1000).toISOString().slice(0, 19).replace('T', ' '), said = await text(other, 'main .warning');
	check(said.includes('samples') && said.includes(there) && !/\dZ/.test(said), said, there);
	await other.close();
});

await test('what is no prefix is not shown as one', async () => {
	for (const [filter, words] of [['=in*', '"in*"'], ['!=in*', 'not "in*"'], ['!in*', 'not in*']]) {
		const open = await openPage(`${site}/?from=-24h&entry=${filter}`);
		check((await text(open, '.picker .pick .val')) === words, await text(open, '.picker .pick .val'));
		await clickIn(open, 'entry', '.pick');
		await clickIn(open, 'entry', 'li .tick', 'cron');
		await becomes(open, 'entry', [filter, filter[0] === '!' ? '!cron' : 'cron']);
		await open.close();
	}
});

await test('a range is compared with the one before it, and both are named in the zone of the page', async () => {
	const other = await openPage(`${site}/?from=-20m&base_from=-40m&base_to=-20m`);
	check(/^\d\d:\d\d:\d\d – .* compared with .*\d\d:\d\d:\d\d – /.test(await text(other, '.about h2')), await text(other, '.about h2'));
	await other.waitForFunction(() => /^[+-]/.test(document.querySelector('.rows tbody tr:not(.gap)')?.cells[0].textContent));
	check(other.complaints.length === 0, other.complaints);
	await other.close();
});

await test('a function of a range has its callers and callees', async () => {
	const other = await openPage(`${site}/?entry=index&function=Wiki%5CRouter%3A%3Adispatch`);
	await other.waitForSelector('.edges tbody tr');
	const named = await other.$$eval('.edges tbody th', (all) => all.map((th) => th.textContent));
	check(named[0] === 'Wiki\\Kernel::handle' && named.includes('Wiki\\Page::view') && named.at(-1) === 'itself', named);
	await other.close();
});

await test('an empty store says how to begin', async () => {
	const other = await openPage(bare);
	const said = await text(other, '.empty');
	check(said.includes('strobe run -- php script.php') && said.includes('strobe.mode=sample'), said);
	check(other.complaints.length === 0, other.complaints);
	await other.close();
});

await test('a bad parameter is answered with its sentence', async () => {
	const answer = await raw(site, '/?limit=x');
	check(answer.status === 400 && answer.bytes.toString().includes('limit=x: give a number of rows'));
});

await test('without scripts there are the form, the picture and the table', async () => {
	const other = await openPage(site, { scripts: false });
	const html = await other.content();
	check(html.includes('file_get_contents') && html.includes('<select name="entry">'));
	const byTotal = (await raw(site, '/?sort=total')).bytes.toString();
	check(byTotal.indexOf('Wiki\\Router::dispatch') > 0 && byTotal.indexOf('Wiki\\Router::dispatch') < byTotal.indexOf('Wiki\\Parser::parse'));
	await other.waitForSelector('img.picture');
	const answer = await raw(site, '/flamegraph.svg');
	check(answer.status === 200 && answer.headers['content-type'] === 'image/svg+xml');
	await other.close();
});

for (const [where, how] of [['light', {}], ['dark', { dark: true }], ['on a phone', { width: 390, height: 844, phone: true }]])
	await test(`axe finds nothing serious: ${where}`, async () => {
		const open = await browser.newPage();
		await open.setBypassCSP(true);		// axe itself comes from outside
		await open.setViewport({ width: how.width || 1440, height: how.height || 900 });
		await open.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: how.dark ? 'dark' : 'light' }]);
		await open.goto(site);
		await ready(open);
		await accessible(open, where);
		await open.click('.picker .pick');
		await accessible(open, `${where}, list open`);
		await open.keyboard.press('Escape');
		await pressed(open, 'compare');
		await accessible(open, `${where}, choice of comparisons open`);
		for (const address of [`${site}/?entry=nothing`, bare]) {
			await open.goto(address);
			await ready(open);
			await accessible(open, `${where}, ${address}`);
		}
		await open.close();
	});

await test('the bar has one row with the usual labels, and whatever the zone is called', async () => {
	const other = await openPage(`${site}/?entry=index&deploy=7`);
	await other.emulateTimezone('America/Argentina/Buenos_Aires');
	await other.reload();
	await ready(other);
	const rows = async () => other.$$eval('.bar > *, .bar .strip > *, .bar .ends > *', (all) => new Set(all.filter((e) => e.offsetHeight).map((e) => Math.round((e.getBoundingClientRect().top + e.getBoundingClientRect().bottom) / 20))).size);
	check((await other.$$('.bar .picker')).length >= 4, 'pickers');
	check(await rows() === 1, await rows());
	await other.emulateTimezone('UTC');
	await other.reload();
	await ready(other);
	check(await other.$eval('.bar', (e) => e.offsetHeight) < 50, 'labels wrap though there is room');
	await other.goto(`${site}/?entry=index&deploy=7&pool=a&method=GET&release=1`);
	await ready(other);
	check(await rows() === 1, 'more labels take rows of their own, beside the brand', await rows());
	await other.close();
});

await test('a print has the timeline, as wide as a sheet, the graph and no controls, in light colors', async () => {
	const other = await openPage(`${site}/?entry=index`, { dark: true });
	await other.waitForSelector('.plot canvas');
	const was = await other.$eval('.plot canvas', (e) => e.width), { canvases: [plot, flame], muted } = await printed(other);
	check(plot.width === 680 && was > 1200, plot, was);
	check(flame.corner.join() === '255,255,255' && muted === '#66625b', flame, muted);
	await drawn(other);
	check(await other.$eval('.plot canvas', (e) => e.width) === was);
	await other.emulateMediaType('print');
	const seen = (selector) => other.$$eval(selector, (all) => all.filter((e) => e.checkVisibility()).length);
	check(await seen('.search, .tools, .ends, .ranges, .views, .hint, select, .caption select, .crumbs') === 0);
	check(await seen('.brand') === 1 && await seen('.pick') === 1 && (await text(other, '.pick.chosen')).includes('index'), 'the label that was chosen');
	await other.close();
});

await test('a phone needs no sideways scrolling', async () => {
	const other = await openPage(site, { width: 390, height: 844, phone: true });
	const over = await other.evaluate(() => document.documentElement.scrollWidth - innerWidth);
	check(over <= 0, over);
	check(await colors(other) > 30);
	for (const button of await other.$$('.picker .pick')) {
		await button.click();
		const r = await other.$eval('.picker .popup', (e) => { const b = e.getBoundingClientRect(); return [b.left, b.right]; });
		check(r[0] >= 0 && r[1] <= 390, 'a list of values', r);
		await button.click();
	}
	await other.close();
});

await test('a range of minutes has several times below it on a phone, and they do not touch', async () => {
	const other = await newPage(browser, { width: 390, height: 844, phone: true });
	await other.evaluateOnNewDocument(() => {
		const draw = CanvasRenderingContext2D.prototype.fillText;
		globalThis.written = [];
		CanvasRenderingContext2D.prototype.fillText = function (text, x, ...at) {
			if (/^\d\d:\d\d/.test(text))
				globalThis.written.push([text, x / devicePixelRatio, this.measureText(text).width / devicePixelRatio]);
			draw.call(this, text, x, ...at);
		};
	});
	// From a full hour on, as the number of ticks of a range that ends now depends on the clock.
	const hour = new Date(Math.floor(Date.now() / 3_600_000 - 2) * 3_600_000);
	for (const minutes of [2, 5, 8, 25, 90]) {
		await other.goto(`${site}/?from=${hour.toISOString()}&to=${new Date(+hour + minutes * 60_000).toISOString()}`);
		await ready(other);
		await other.waitForFunction(() => globalThis.written.length > 0);
		const ticks = await other.evaluate(() => [...new Map(globalThis.written.map((w) => [w[0], w])).values()].sort((a, b) => a[1] - b[1]));
		check(ticks.length >= 3, minutes, ticks);
		check(ticks.every((t, i) => i === 0 || t[1] - ticks[i - 1][1] > t[2] + 4), minutes, ticks);
	}
	await other.close();
});

await test('the bar takes three rows on a phone: ranges, and filters that scroll sideways; choices wrap', async () => {
	const other = await openPage(`${site}/?from=-24h&sapi=fpm-fcgi&split=host`, { width: 390, height: 844, phone: true });
	await other.waitForSelector('.views');
	const high = () => other.evaluate(() => ['.bar', '.views', '.graph .tools'].map((s) => document.querySelector(s).offsetHeight));
	const [bar, views, tools] = await high();
	check(bar < 124 && views < 120 && tools < 90, bar, views, tools);
	const first = await other.$eval('.picker', (e) => e.getBoundingClientRect().left >= 0) && await other.$eval('.pick.chosen', (e) => e.getBoundingClientRect().right <= 390);
	check(first, 'the chosen value is in sight');
	const cut = await other.$$eval('.bar .pickers > *', (all) => all.some((e) => { const r = e.getBoundingClientRect(); return r.left < 360 && r.right > 390; }));
	check(cut && await other.$eval('.bar .ranges', (e) => e.getBoundingClientRect().right <= 390 && e.getBoundingClientRect().left >= 0), 'the ranges too, and more filters than fit are seen to go on', cut);
	check(await other.$eval('.bar .zone', (e) => e.getBoundingClientRect().right <= 390), 'and the zone');
	for (const [button, popup] of [['button.custom', '.times'], ['.compare > button', '.compare .popup']]) {
		await other.click(button);
		await other.waitForSelector(popup);
		const r = await other.$eval(popup, (e) => { const b = e.getBoundingClientRect(), at = document.elementFromPoint(b.left + 20, b.top + 12); return [b.left, b.right, e.contains(at)]; });
		check(r[0] >= 0 && r[1] <= 390 && r[2], popup, r);
		await other.keyboard.press('Escape');
	}
	await other.close();
});

await test('the ranges are in sight on a tablet, however many labels are chosen', async () => {
	const other = await openPage(`${site}/?from=-24h&sapi=fpm-fcgi&entry=index&entry=api*&host=!web1&clock=wall&from=2026-01-01T00:00`, { width: 899, height: 800 });
	await other.waitForSelector('.ranges');
	const right = await other.$eval('.ranges', (e) => e.getBoundingClientRect().right);
	check(right <= 899, right);
	await other.close();
});

await test('on a phone the first touch shows a box and the second one zooms', async () => {
	const other = await openPage(site, { width: 390, height: 844, phone: true });
	await other.$eval('.flame', (e) => e.scrollIntoView({ block: 'center' }));
	const { x, y } = await pointInRow(other, 2);
	await other.touchscreen.tap(x, y);
	await other.waitForSelector('.tip');
	check(!other.url().includes('zoom='), other.url());
	await other.touchscreen.tap(x, y);
	await drawn(other);
	await at(other, 'zoom=');
	await other.close();
});

await test('eighty thousand boxes are drawn with few rectangles, and searched', async () => {
	const other = await openPage(`${big}/?entry=big#show=graph`);
	await drawn(other);
	check(await colors(other) > 100);
	const bytes = await (await fetch(`${big}/api/v1/profile?entry=big&format=flame`)).arrayBuffer();
	check(new DataView(bytes).getUint32(8, true) >= 80000);
	const asked = [];
	other.on('request', (r) => r.url().includes('format=flame') && asked.push(new URL(r.url()).searchParams));
	await clickRow(other, 3);
	await at(other, 'zoom=');
	await other.waitForSelector('main[data-ready="true"]');
	check(asked.length === 1 && asked[0].get('pixels') >= 1000 && asked[0].get('zoom').includes(';'), asked.map(String));
	await other.goBack();
	await drawn(other);
	check(asked.length === 1, 'the whole is still there');

	// The table of a zoomed box has every function on it, as does a search.
	await clickRow(other, 3);
	await at(other, 'zoom=');
	await other.evaluate(() => [...document.querySelectorAll('.panes button')].find((b) => b.textContent === 'table').click());
	await other.waitForFunction(() => document.querySelectorAll('table.wide tbody tr').length > 10);
	check(asked.length === 2 && !asked[1].has('pixels'), asked.map(String));
	await other.goBack();
	await other.goBack();
	await other.reload();
	await other.waitForSelector('main[data-ready="true"]');
	check(asked.length === 3 && asked[2].has('pixels'), asked.map(String));
	await other.type('#search', 'method1');
	await other.waitForFunction(() => document.querySelector('.matched').textContent.endsWith('matched'));
	check(asked.length === 4 && !asked[3].has('pixels'), asked.map(String));
	const all = readBoxes(bytes), covered = new Set();
	let sum = 0;
	for (const b of all.list) {
		const above = covered.has(b.parent), hit = b.name.includes('method1');
		sum += hit && !above ? b.width : 0;
		if (hit || above)
			covered.add(b);
	}
	check(Math.abs(parseFloat(await text(other, '.matched')) - 100 * sum / all.list[0].width) < 0.1, await text(other, '.matched'), sum, all.list[0].width);
	await other.close();
});

// As src/render/flame_data.h draws them, each with its parent and the path of names and places.
function readBoxes(buffer) {
	const head = new DataView(buffer), n = head.getUint32(8, true), depths = head.getUint32(12, true);
	let at = 64;
	const take = (count, Type = Uint32Array, size = 4) => {
		const part = new Type(buffer, at, count);
		at += (count * size + 7) & ~7;
		return part;
	};
	check(head.getUint32(16, true) === 4 && head.getUint32(32, true) === 0);
	const offsets = take(depths + 1), start = take(n), width = take(n), frame = take(n);
	const words = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, at, head.getUint32(20, true))));
	const joined = head.getUint32(40, true), grey = joined ? words.frame_name.length - 1 : -1, list = [];
	for (let d = 0; d < depths; d++)
		for (let i = offsets[d], p = offsets[Math.max(0, d - 1)]; i < offsets[d + 1]; i++) {
			while (d && start[p] + width[p] <= start[i])
				p++;
			const f = frame[i], name = words.names[words.frame_name[f]], parent = d ? list[p] : null;
			list.push({ start: start[i], width: width[i], name, isGrey: f === grey, parent,
				path: d ? `${parent.path};${name}@${words.files[words.frame_file[f]]}${words.frame_line[f] ? `:${words.frame_line[f]}` : ''}` : '' });
		}
	return { list, joined };
}

await test('the boxes that can be seen are those of the whole, node by node, also where one zooms', async () => {
	const flame = async (more) => readBoxes(await (await fetch(`${big}/api/v1/profile?entry=big&format=flame${more}`)).arrayBuffer());
	for (const how of ['', '&reverse=1']) {
		const all = await flame(how), full = new Map(all.list.map((b) => [b.path, b]));
		check(all.joined === 0 && full.size === all.list.length && full.size > 50000, full.size);
		const deep = all.list.filter((b) => b.path.split(';').length > 4), small = deep.reduce((a, b) => b.width > 20 && b.width < a.width ? b : a);
		for (const zoomed of [all.list[0], all.list[1], deep[0], small]) {
			const names = zoomed.path.split(';').slice(1), pixels = 600;
			const part = await flame(`${how}&pixels=${pixels}&zoom=${encodeURIComponent(names.map(encodeURIComponent).join(';'))}`);
			const least = (b) => Math.max(1, Math.floor((`${b.path};`.startsWith(`${zoomed.path};`) ? zoomed : all.list[0]).width / (2 * pixels)));
			const seen = new Set(), covered = new Map();
			for (const b of part.list) {
				const same = full.get(b.path);
				covered.set(b.parent, (covered.get(b.parent) || 0) + b.width);
				check(b.isGrey || same && same.start === b.start && same.width === b.width, 'another box', b.path, b.width);
				if (!b.isGrey)
					seen.add(b.path);
			}
			for (const b of all.list)
				check(b.width < least(b) || seen.has(b.path), 'a box is not there', b.path, b.width);
			check(part.list.filter((b) => !b.isGrey).length + part.joined === all.list.length, 'the others are counted', part.joined);
			check(part.list.length < all.list.length / 2 && part.joined > 0, part.list.length);

			// Grey boxes are exactly as wide as what they stand for.
			const children = new Map();
			for (const b of all.list)
				children.set(b.parent, (children.get(b.parent) || 0) + b.width);
			for (const b of part.list)
				check(b.isGrey || (covered.get(b) || 0) === (children.get(full.get(b.path)) || 0), 'own values differ', b.path);
		}
	}
});

await test('every format of a profile adds up to the same samples', async () => {
	const range = 'from=-24h&to=now&entry=cron';
	const { total } = await (await fetch(`${site}/api/v1/functions?${range}`)).json();
	const { nodes, columns, frames } = await (await fetch(`${site}/api/v1/profile?${range}`)).json();
	check(total > 0 && columns[0].name === 'samples' && columns[0].total === total);
	check(nodes.values[0].reduce((a, b) => a + b, 0) === total);
	check(nodes.parent.every((p, i) => i === 0 ? p === 0 : p < i) && nodes.frame.every((f) => f < frames.name.length));
	const folded = await (await fetch(`${site}/api/v1/profile?${range}&format=folded`)).text();
	check(folded.trim().split('\n').reduce((a, l) => a + Number(l.slice(l.lastIndexOf(' '))), 0) === total);
	const { bytes } = await raw(site, `/api/v1/profile?${range}&format=strobe`);
	check(bytes.subarray(0, 4).toString() === 'STRB');
	const flame = await (await fetch(`${site}/api/v1/profile?${range}&format=flame`)).arrayBuffer();
	check(new DataView(flame).getFloat64(24, true) === total);
	const timeline = await (await fetch(`${site}/api/v1/timeline?${range}`)).json();
	check(timeline.samples.reduce((a, b) => a + b, 0) === total);
});

await test('names of all 256 byte values are valid JSON and UTF-8', async () => {
	for (const path of ['/api/v1/profile?entry=bytes', '/api/v1/functions?entry=bytes&limit=0']) {
		const { bytes } = await raw(site, path);
		const said = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
		const names = JSON.parse(said).functions?.map((f) => f.name) ?? JSON.parse(said).strings;
		check(names.length >= 256 - 1 && !said.includes('<'), path, names.length);
	}
});

await test('names of all 256 byte values are a well-formed picture and page', async () => {
	const svg = await raw(site, '/flamegraph.svg?entry=bytes'), html = await raw(site, '/?entry=bytes');
	const blank = await browser.newPage();
	const wrong = await blank.evaluate((s) => {
		const d = new DOMParser().parseFromString(s, 'image/svg+xml');
		return d.querySelector('parsererror')?.textContent || (d.documentElement.localName === 'svg' ? '' : 'no svg');
	}, new TextDecoder('utf-8', { fatal: true }).decode(svg.bytes));
	check(wrong === '', wrong);
	await blank.close();
	new TextDecoder('utf-8', { fatal: true }).decode(html.bytes);
	const other = await openPage(`${site}/?entry=bytes`);
	check(other.complaints.length === 0, other.complaints);
	await other.close();
});

await test('the picture opens with its own script, which zooms', async () => {
	const tab = await browser.newPage(), said = [];
	tab.on('console', (m) => said.push(m.text()));
	tab.on('pageerror', (e) => said.push(e.message));
	await tab.goto(`${site}/flamegraph.svg?entry=index`);
	// Ask the page itself: the driver learns the address a moment later.
	const address = () => tab.evaluate(() => location.href), before = await address();
	const frame = await tab.evaluateHandle(() => [...document.querySelectorAll('#frames g, #frames rect, #frames path')]
		.find((e) => e.textContent.includes('Kernel::handle')));
	await frame.asElement().click();
	check(said.length === 0, said);
	check(await address() !== before, before);
	await tab.close();
});

await test('a rebound name is misdirected', async () => {
	for (const path of ['/', '/api/v1/status', '/metrics', '/healthz', '/nothing']) {
		const answer = await raw(site, path, { headers: { Host: `evil.example:${new URL(site).port}` } });
		check(answer.status === 421, path, answer.status);
	}
});

await test('a page of another origin can neither read nor embed', async () => {
	const other = http.createServer((_q, r) => {
		r.setHeader('Content-Type', 'text/html');
		r.end('<!doctype html><title>elsewhere</title>');
	});
	await new Promise((r) => other.listen(0, '127.0.0.1', r));
	const tab = await browser.newPage();
	await tab.goto(`http://127.0.0.1:${other.address().port}/`);
	const got = await tab.evaluate(async (address) => {
		const reads = async (mode) => {
			try {
				const r = await fetch(`${address}/api/v1/status`, { mode });
				return mode === 'cors' ? r.status : r.type;
			} catch {
				return 'refused';
			}
		};
		const image = new Image();
		const shown = new Promise((resolve) => { image.onload = () => resolve('shown'); image.onerror = () => resolve('refused'); });
		image.src = `${address}/flamegraph.svg`;
		return { cors: await reads('cors'), blind: await reads('no-cors'), image: await shown };
	}, site);
	check(got.cors === 'refused' && got.image === 'refused' && got.blind === 'refused', got);
	await tab.close();
	other.close();
});

await test('a browser logs in by the form, comes back to its page, and logs out', async () => {
	const guarded = await serve(program, '--token', 'correct-horse-battery');
	const tab = await browser.newPage();
	const send = (button) => Promise.all([tab.waitForNavigation(), tab.click(button)]);
	tab.setDefaultTimeout(120_000);
	await tab.goto(`${guarded}/?from=-2h#search=index&show=table`);
	await tab.type('input[name=token]', 'wrong-wrong-wrong');
	await send('.login button');
	check((await tab.$eval('.login p', (p) => p.textContent)).includes('not a token of this server'));
	await tab.type('input[name=token]', 'correct-horse-battery');
	await send('.login button');
	check(tab.url() === `${guarded}/?from=-2h#search=index&show=table`, tab.url());
	await ready(tab);
	check(await tab.evaluate(() => document.cookie) === '', 'scripts do not see the cookie');
	await tab.deleteCookie(...await tab.cookies());
	await tab.select('select[aria-label="Group by"]', 'class');
	await tab.waitForSelector('input[name=token]');
	check(tab.url().startsWith(`${guarded}/login?next=`) && tab.url().endsWith('#search=index&show=table'), 'the session has expired', tab.url());
	await tab.type('input[name=token]', 'correct-horse-battery');
	await send('.login button');
	check(tab.url() === `${guarded}/?from=-2h&by=class#search=index&show=table`, tab.url());
	await ready(tab);
	await tab.deleteCookie(...await tab.cookies());
	for (const next of ['//elsewhere.example/#//elsewhere.example', 'https://elsewhere.example/#https://elsewhere.example', '%2F#javascript:alert(1)']) {
		await tab.goto(`${guarded}/login?next=${next}`);
		check(await tab.$eval('.login form', (e) => e.action) === `${guarded}/login#${next.split('#')[1]}`, next);
	}
	await tab.type('input[name=token]', 'correct-horse-battery');
	await send('.login button');
	check(new URL(tab.url()).origin === guarded, tab.url());
	await ready(tab);
	await send('.bar .who button');
	check(tab.url() === `${guarded}/login`, tab.url());
	await tab.goto(`${guarded}/runs`);
	check(await tab.$('input[name=token]') !== null, 'the session is over');
	await tab.close();
});

await test('no answer ever has a CORS header, and all have the policy', async () => {
	for (const path of ['/', '/api/v1/status', '/nothing', '/flamegraph.svg', '/metrics']) {
		const { headers } = await raw(site, path, { headers: { Host: new URL(site).host } });
		check(!Object.keys(headers).some((h) => h.startsWith('access-control')), path);
		check(headers['content-security-policy']?.includes("default-src 'none'") && headers['x-content-type-options'] === 'nosniff', path);
		check(headers['referrer-policy'] === 'same-origin' && headers['cache-control'] === 'no-store', path);
	}
});

await test('HEAD answers without a body, and bodies are refused', async () => {
	const head = await raw(site, '/api/v1/status', { method: 'HEAD' });
	check(head.status === 200 && head.bytes.length === 0 && Number(head.headers['content-length']) > 100);
	const body = await raw(site, '/api/v1/status', { method: 'POST', headers: { Origin: site, 'Content-Length': 3 }, body: 'abc' });
	check(body.status === 413, body.status);
	const post = await raw(site, '/api/v1/status', { method: 'POST', headers: { Origin: site, 'Content-Length': 0 } });
	check(post.status === 405 && post.headers.allow === 'GET, HEAD', post.status);
	const long = await raw(site, `/?a=${'x'.repeat(9000)}`);
	check(long.status === 414 && (await raw(site, `/api/v1/table?a=${'x'.repeat(9000)}`)).status === 400, long.status);
	const huge = await raw(site, '/', { headers: { X: 'x'.repeat(60000) } }).catch(() => ({ status: 431 }));
	check(huge.status === 431, huge.status);
});

await test('after all this the page has nothing to complain about', async () => {
	check(page.complaints.length === 0, page.complaints);
});

await browser.close();
await end();
