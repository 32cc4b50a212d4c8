// The list of runs in a real browser: node test_runs.mjs TEST-SERVER

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accessible, launch, newPage } from './browser.mjs';
import { check, end, raw, serve, some, test } from './lib.mjs';

const site = await serve(process.argv[2], '--empty');
const files = mkdtempSync(join(tmpdir(), 'strobe-drop-'));
const browser = await launch();

const HOSTILE = '"><img src=x onerror=alert(1)></script>';
const array = (wall) => JSON.stringify({ 'main()': { ct: 1, wt: wall, cpu: wall / 2, mu: 4096, pmu: 99999 }, 'main()==>f': { ct: 3, wt: 1 } });
const ids = (page) => page.$$eval('.runs tbody tr', (rows) => rows.map((row) => row.querySelector('input').value));

async function open(path, { width = 1440, height = 900, dark = false, scripts = true, zone } = {}) {
	const page = await newPage(browser, { width, height, dark, scripts, ignore: '' });
	page.on('dialog', (d) => { page.complaints.push(`dialog: ${d.message()}`); d.dismiss(); });
	if (zone)
		await page.emulateTimezone(zone);
	await page.goto(site + path);
	if (scripts && await page.$('header.bar'))
		await page.waitForSelector('.bar .keys-button');	/* the script of lists loads after the page's */
	return page;
}

async function close(page) {
	check(page.complaints.length === 0, page.complaints);
	await page.close();
}

async function press(page, selector) {
	await Promise.all([page.waitForNavigation(), page.click(selector)]);
}

for (let i = 0; i < 12; i++) {
	const url = i === 3 ? HOSTILE : `/index.php?title=A_page_with_a_rather_long_name_${i}&action=view&oldid=${1000 + i}`;
	await raw(site, `/api/v1/runs?source=${i % 3 ? 'shop' : 'blog'}&id=5f1a${i}&url=${encodeURIComponent(url)}&label.host=web${i % 2}`,
		{ method: 'POST', body: array(100 + i * 7 % 12) });
}

await test('since and until are entered in the displayed time zone', async () => {
	const page = await open('/runs?since=2026-03-01T02:00Z&until=now', { zone: 'Asia/Kolkata' }), label = (name) => page.$eval(`input[name=${name}]`, (e) => e.closest('label').textContent.trim());
	await page.waitForFunction(() => !document.querySelector('input[name=since]').closest('label').textContent.includes('UTC'));
	check(/^Since \(Asia\//.test(await label('since')) && /^Until \(Asia\//.test(await label('until')), await label('since'));
	check(await page.$eval('input[name=since]', (e) => e.value) === '2026-03-01T07:30:00');
	await page.$eval('input[name=since]', (e) => e.value = '2026-03-02 07:30');
	await press(page, 'form.controls button');
	check(new URL(page.url()).searchParams.get('since') === '2026-03-02T02:00:00Z', page.url());
	await close(page);
	const plain = await open('/runs', { scripts: false });
	check((await plain.$eval('input[name=since]', (e) => e.closest('label').textContent)).includes('Since (UTC)'));
	await close(plain);
});

await test('comparing a single selected run is rejected', async () => {
	const { text, bytes, status } = await raw(site, '/runs/choose?do=compare&run=shop/5f1a1');
	check(status >= 400 && String(text ?? bytes).includes('1 is ticked'), status, String(text ?? bytes).slice(0, 300));
});

for (const scripts of some([true, false]))
	await test(`a saved filter can be created, opened and deleted${scripts ? '' : ', without scripts'}`, async () => {
		const page = await open('/?from=-6h&host=web1&by=class', { width: scripts ? 1440 : 390, dark: scripts, scripts });
		await page.waitForSelector('.bar a[href^="/filters"]');
		await press(page, '.bar a[href^="/filters"]');
		await page.type('input[name=name]', HOSTILE);
		await press(page, 'main form button');
		check(new URL(page.url()).pathname === '/filters', page.url());
		check(await page.$eval('main li a', (e) => e.textContent) === HOSTILE && !await page.$('main img'));
		check(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page fits the window');
		if (process.env.SHOTS)
			await page.screenshot({ path: `${process.env.SHOTS}/filters-${scripts}.png` });
		await press(page, 'main li a');
		const p = new URL(page.url()).searchParams;
		check(p.get('from') === '-6h' && p.get('host') === 'web1' && p.get('by') === 'class', page.url());
		await page.goto(`${site}/filters`);
		await press(page, 'main li button');
		check((await page.$eval('main h2', (e) => e.textContent)).includes(HOSTILE) && await page.$('main form button') && !await page.$('main img'));
		await press(page, 'main form a');
		check(await page.$('main li'), 'the filter is kept on cancel');
		await press(page, 'main li button');
		await press(page, 'main form button');
		check(!await page.$('main li'));
		await close(page);
	});

const NAMED = [['/runs/shop/5f1a1?column=cpu_ns', { run: 'shop/5f1a1', column: 'cpu_ns' }], ['/?run=shop/5f1a2&base=shop/5f1a1', { run: 'shop/5f1a2', base: 'shop/5f1a1' }], ['/runs', {}]];

for (const [address, has, scripts] of some([false, true].flatMap((scripts) => NAMED.map((how) => [...how, scripts]))))
	await test(`saved filters include runs and comparisons: ${address}${scripts ? '' : ', without scripts'}`, async () => {
		const page = await open(address, { scripts });
		await page.waitForSelector('.bar a[href^="/filters"]');
		await press(page, '.bar a[href^="/filters"]');
		const p = new URL(page.url()).searchParams;
		check(new URL(page.url()).pathname === '/filters' && Object.entries(has).every(([k, v]) => p.get(k) === v), address, page.url());
		if (Object.keys(has).length) {
			await page.type('input[name=name]', `of ${address}`);
			await press(page, 'main form button');
			await press(page, 'main li:last-child a');
			const now = new URL(page.url());
			check(Object.entries(has).every(([k, v]) => now.searchParams.get(k) === v), address, page.url());
			await page.goto(`${site}/filters`);
			await press(page, 'main li:last-child button');
			await press(page, 'main form button');
		}
		await close(page);
	});

await test('the list has times in the time zone of the top bar, which can be switched and is remembered', async () => {
	const still = await open('/runs', { scripts: false }), cell = (page) => page.$eval('.runs time', (e) => e.textContent);
	const words = (page) => page.$eval('.runs th a[href*="sort=start"]', (e) => e.textContent), utc = await cell(still);
	check(await words(still) === 'Started (UTC)' && !await still.$('.zone'));
	await close(still);
	const page = await open('/runs', { zone: 'Asia/Kolkata' });
	check(await page.$eval('.bar .zone', (e) => e.textContent) === 'Asia/Calcutta' || await page.$eval('.bar .zone', (e) => e.textContent) === 'Asia/Kolkata');
	check((await words(page)).startsWith('Started (Asia/'), await words(page));
	check(Date.parse(`${(await cell(page)).replace(' ', 'T')}+05:30`) === Date.parse(`${utc.replace(' ', 'T')}Z`), await cell(page), utc);
	await page.click('.bar .zone');
	check(await words(page) === 'Started (UTC)' && await cell(page) === utc, await cell(page));
	await page.reload();
	check(await words(page) === 'Started (UTC)' && await cell(page) === utc, 'the time zone is remembered');
	await page.click('.bar .zone');
	await close(page);
});

await test('lists have the time zone and the keyboard shortcuts in their top bars', async () => {
	for (const [path, keys] of [['/runs', '?this sheet/search the list'], ['/filters', '?this sheet']]) {
		const page = await open(path);
		await page.keyboard.press('?');
		await page.waitForSelector('dialog.keys[open]');
		check(await page.$eval('dialog.keys dl', (e) => e.textContent) === keys, await page.$eval('dialog.keys dl', (e) => e.textContent));
		await page.keyboard.press('Escape');
		await page.waitForSelector('dialog.keys:not([open])');
		check(await page.$('.bar .zone') !== null && await page.$('.bar .keys-button') !== null, path);
		if (path === '/runs') {
			await page.keyboard.press('/');
			check(await page.evaluate(() => document.activeElement.name) === 'search', 'the search field has the focus');
		}
		await close(page);
	}
});

await test('the list can be sorted, filtered and compared without scripts', async () => {
	const page = await open('/runs', { scripts: false });
	check((await ids(page)).length === 12, await ids(page));
	await press(page, 'th a[href*="sort=wall"]');
	const sorted = await ids(page);
	check(sorted[0] === 'shop/5f1a5' && sorted[11] === 'blog/5f1a0', sorted);
	check(await page.$eval('th[aria-sort]', (th) => th.textContent.startsWith('Wall') && th.getAttribute('aria-sort') === 'descending'));
	await press(page, 'th[aria-sort] a');
	check(String(await ids(page)) === String(sorted.reverse()), 'the order is reversed');
	await page.select('select[name=source]', 'blog');
	await page.type('input[name=labels]', 'host=web0');
	await press(page, '.controls button');
	check(page.url().includes('sort=wall') && (await ids(page)).sort().join() === 'blog/5f1a0,blog/5f1a6', await ids(page));
	const [upper, lower] = await ids(page);
	for (const box of await page.$$('.runs input[type=checkbox]'))
		await box.click();
	const leads = page.waitForResponse((r) => r.status() === 302);
	await press(page, 'button[value=compare]');
	check((await leads).headers().location === `/?run=${upper}&base=${lower}`, (await leads).headers().location);
	await page.close();
});

await test('files can be uploaded and runs deleted without scripts', async () => {
	writeFileSync(join(files, '77.form.xhprof'), array(5));
	const page = await open('/runs', { scripts: false });
	await (await page.$('input[type=file]')).uploadFile(join(files, '77.form.xhprof'));
	await press(page, '.upload button');
	check(page.url() === `${site}/runs/form/77`, page.url());
	await page.goto(`${site}/runs?source=form`);
	await page.click('.runs input[type=checkbox]');
	await press(page, 'button[formaction="/runs/delete"]');
	check(await page.$eval('h2', (h) => h.textContent) === 'Delete 1 run?');
	await press(page, 'form button');
	check(page.url() === `${site}/runs?source=form` && (await page.content()).includes('No runs to show'), page.url());
	await page.close();
});

await test('files that are dropped anywhere on the list are uploaded', async () => {
	for (const name of ['81.drop.xhprof', '82.drop.uprofiler'])
		writeFileSync(join(files, name), array(6));
	const page = await open('/runs');
	const client = await page.createCDPSession();
	const data = { items: [], files: [join(files, '81.drop.xhprof'), join(files, '82.drop.uprofiler')], dragOperationsMask: 1 };
	const drag = (type) => client.send('Input.dispatchDragEvent', { type, x: 700, y: 300, data });
	await drag('dragEnter');
	await drag('dragOver');
	await page.waitForSelector('body.dropping');
	await Promise.all([page.waitForNavigation(), drag('drop')]);
	check((await ids(page)).filter((id) => id.startsWith('drop/')).sort().join() === 'drop/81,drop/82', await ids(page));
	await close(page);
});

await test('the top bar of a list has the time zone at its right end and the fields on one line below', async () => {
	for (const [path, lines, zone] of [['/runs', 2], ['/runs', 2, 'Asia/Kolkata'], ['/filters', 1]]) {
		const page = await open(path, { width: 1280, zone });
		await page.waitForSelector('.bar .keys-button');
		const { height, right, top, tops } = await page.evaluate(() => ({
			height: document.querySelector('.bar').offsetHeight, right: innerWidth - document.querySelector('.keys-button').getBoundingClientRect().right,
			top: Math.abs(document.querySelector('.keys-button').getBoundingClientRect().top - document.querySelector('.brand').getBoundingClientRect().top),
			tops: [...document.querySelectorAll('.bar form :is(select, input:not([type="hidden"]), button)')].map((e) => Math.round(e.getBoundingClientRect().top)) }));
		check(height < 36 * lines + 15 && right < 20 && top < 10 && new Set(tops).size <= 1, path, zone || '', { height, right, top, tops });
		await close(page);
	}
});

for (const [width, height, lines, dark] of some([false, true].flatMap((dark) => [[390, 844, 2], [3840, 2160, 1], [1440, 900, 1]].map((size) => [...size, dark]))))
	await test(`rows have one line, two on a phone, and nothing overflows: ${width} px${dark ? ', in dark mode' : ''}`, async () => {
		const page = await open('/runs', { width, height, dark });
		const tall = await page.$$eval('.runs tbody tr', (rows) => Math.max(...rows.map((r) => r.getBoundingClientRect().height)));
		check(tall <= 8 + 21 * lines, `${width}: a row of ${tall} px`);
		check(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${width}: the page is wider than the window`);
		check((await page.content()).includes('&lt;/script&gt;'), 'the hostile name is text');
		check(await page.$('main img') === null, 'the hostile name creates no element');
		await close(page);
	});

await test('on a phone runs of the same URL can be told apart', async () => {
	const many = await Promise.all(['20261121-120000-4f3a9c1271', '20261121-120000-4f3a9c1272'].map((id) =>
		raw(site, `/api/v1/runs?source=twins&id=${id}&url=${encodeURIComponent('/w/index.php?title=Special:RecentChanges&days=7')}`, { method: 'POST', body: array(100) })));
	check(many.every(({ status }) => status === 201), many);
	for (const width of [320, 390]) {
		const page = await open('/runs?source=twins', { width, height: 844 }), looks = [];
		for (const row of await page.$$('.runs tbody tr')) {
			const { x, y, width: wide, height } = await (await row.$('th')).boundingBox();
			check(height <= 8 + 21 * 2 && x + wide < width, `${width}: ${height} px`);
			looks.push(await page.screenshot({ encoding: 'base64', clip: { x, y: y + 2, width: wide, height: height - 4 } }));
		}
		check(looks.length === 2 && looks[0] !== looks[1], `${width}: ${looks.length} rows look the same`);
		check(await page.$eval('.runs tbody th', (e) => getComputedStyle(e, '::after').content.includes('twins/20261121-120000-4f3a9c127')), 'the id is shown');
		await accessible(page, 'twins', { evaluate: true });
		await close(page);
	}
	const wide = await open('/runs?source=twins');
	check(await wide.$eval('.runs tbody th', (e) => getComputedStyle(e, '::after').content) === 'none', 'the id has its own column where there is room');
	await close(wide);
	for (const id of ['20261121-120000-4f3a9c1271', '20261121-120000-4f3a9c1272'])
		await raw(site, `/api/v1/runs/twins/${id}`, { method: 'DELETE' });
});

await test('on a phone the fields of the list are collapsed until one is used, and the totals are visible', async () => {
	for (const [path, isOpen] of [['/runs', false], ['/runs?search=page', true]]) {
		const page = await open(path, { width: 390, height: 844 });
		await page.waitForSelector('.fold');
		check(await page.$eval('.fold', (e) => e.open) === isOpen, path);
		const right = await page.$$eval('.runs tbody tr', (rows) => Math.max(...rows.map((r) => r.querySelector('td:has(time) + td + td').getBoundingClientRect().right)));
		check(right <= 390, `${path}: wall and CPU time end at ${right}`);
		check(isOpen || await page.$eval('.runs', (e) => e.getBoundingClientRect().top) < 140, 'the list is at the top');
		await page.click('.fold > summary');
		check(await page.$eval('.fold', (e) => e.open) !== isOpen, path);
		await accessible(page, path, { evaluate: true });
		await close(page);
	}
	const wide = await open('/runs');
	await wide.waitForSelector('.fold[open]');
	check(await wide.$eval('.fold > summary', (e) => e.offsetHeight) === 0, 'the fields cannot be collapsed where there is room');
	await close(wide);
});

for (const dark of some([false, true]))
	await test(`axe reports no serious violations in the list${dark ? ' in dark mode' : ''}`, async () => {
		const page = await open('/runs', { dark });
		await accessible(page, 'the list', { evaluate: true });
		await close(page);
	});

await browser.close();
rmSync(files, { recursive: true });
await end();
