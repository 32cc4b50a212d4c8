// The page of a range in a real browser: node test_page.mjs TEST-SERVER

import { accessible, drawn, ready } from './browser.mjs';
import { check, raw, serve, some, test } from './lib.mjs';
import { at, browser, clickRow, colors, finish, notAt, openPage, pointInRow, pressed, program, site, text } from './live_pages.mjs';

const bare = await serve(program, '--empty');
const page = await openPage(site);

await test('the page opens without console errors or CSP violations', async () => {
	await page.waitForSelector('.plot canvas');
	check(page.complaints.length === 0, page.complaints);
	check((await page.evaluate(() => globalThis.violations)).length === 0, await page.evaluate(() => globalThis.violations));
});

await test('the layout does not shift while the page loads', async () => {
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

await test('the table is sorted by self value, largest first', async () => {
	const rows = await page.$$eval('.rows tbody tr:not(.gap)', (all) => all.map((tr) => parseFloat(tr.cells[0].textContent)));
	check(rows.length > 10 && rows[0] > 5, rows);
	check(rows.every((v, i) => i === 0 || v <= rows[i - 1]), rows);
});

await test('a search highlights boxes and shows their share of the graph', async () => {
	const before = await colors(page);
	await page.type('#search', 'parser::PARSE');
	await drawn(page);
	check(/^\d+(\.\d+)?% matched$/.test(await text(page, '.matched')), await text(page, '.matched'));
	await at(page, '#search=parser%3A%3APARSE');
	check(await colors(page) !== before);
});

await test('the matched share equals the total share in the API', async () => {
	const shown = parseFloat(await text(page, '.matched'));
	const { functions } = await (await fetch(`${site}/api/v1/functions?limit=0`)).json();
	const share = 100 * functions.find((f) => f.name === 'Wiki\\Parser::parse').total_share;
	check(Math.abs(shown - share) < 0.06, shown, share);
});

await test('Enter in the search field keeps the search in the URL', async () => {
	await page.focus('#search');
	await page.keyboard.press('Enter');
	await drawn(page);
	await at(page, 'search=');
});

await test('an invalid regular expression is searched as text, and Escape clears it', async () => {
	await page.$eval('#search', (e) => e.select());
	await page.type('#search', 'parse(');
	await drawn(page);
	check(await text(page, '.matched') === 'no match');
	await page.keyboard.press('Escape');
	await drawn(page);
	check(await text(page, '.matched') === '');
});

await test('a click zooms and puts the path into the URL, and Back and Forward follow', async () => {
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

await test('a link restores the zoom and the search', async () => {
	const other = await openPage(`${site}/?inverted=1#zoom=%7Bmain%7D%40%2Fsrv%2Fwiki%2Findex.php%3A1;Wiki%5CKernel%3A%3Ahandle&search=preg`);
	await drawn(other);
	check((await text(other, '.crumbs')).includes('Wiki\\Kernel::handle'));
	check((await text(other, '.matched')).endsWith('matched'));
	check(await other.$eval('.flame', (e) => e.scrollTop) === 0);
	await other.close();
});

await test('the table is limited to the zoomed box', async () => {
	check(!(await text(page, '.rows tbody')).includes('Wiki\\Queue::work'));
	await page.click('.crumbs .reset');
	await drawn(page);
	await page.type('.narrow', 'queue work');
	await drawn(page);
	check((await text(page, '.rows tbody')).includes('Wiki\\Queue::work'), await text(page, '.rows tbody'));
	await page.$eval('.narrow', (e) => e.select());
	await page.keyboard.press('Backspace');
});

await test('the search button beside a function searches for exactly that function', async () => {
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

await test('arrow keys move between boxes and announce the current one', async () => {
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

await test('hovering over a box shows its name, location and values', async () => {
	const { x, y } = await pointInRow(page, 2);
	await page.mouse.move(x, y);
	await page.waitForSelector('.tip');
	const said = await text(page, '.tip');
	check(said.includes('Wiki\\Kernel::handle') && said.includes('Kernel.php:48') && said.includes('self'), said);
	await page.mouse.move(5, 5);
});

await test('an entry point can be selected, and reversing the graph keeps it', async () => {
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

await test('an empty result gives the reason and offers all stored data', async () => {
	const other = await openPage(`${site}/?entry=nothing`);
	const said = await text(other, '.empty');
	check(/No samples of entry=nothing between .* and .*; the store holds samples from .* to .*, entries: .*index/.test(said), said);
	await other.evaluate(() => [...document.querySelectorAll('.ways button')].find((b) => b.textContent === 'Show all stored data').click());
	await other.waitForSelector('.rows tbody button');
	check((await text(other, '.rows tbody')).length > 100);
	await other.close();
});

await test('the page of a function in a range lists callers and callees', async () => {
	const other = await openPage(`${site}/?entry=index&function=Wiki%5CRouter%3A%3Adispatch`);
	await other.waitForSelector('.edges tbody tr');
	const named = await other.$$eval('.edges tbody th', (all) => all.map((th) => th.textContent));
	check(named[0] === 'Wiki\\Kernel::handle' && named.includes('Wiki\\Page::view') && named.at(-1) === 'itself', named);
	await other.close();
});

await test('the page of an empty store explains how to get started', async () => {
	const other = await openPage(bare);
	const said = await text(other, '.empty');
	check(said.includes('strobe run -- php script.php') && said.includes('strobe.mode=sample'), said);
	check(other.complaints.length === 0, other.complaints);
	await other.close();
});

await test('an invalid parameter is answered 400 with the reason', async () => {
	const answer = await raw(site, '/?limit=x');
	check(answer.status === 400 && answer.bytes.toString().includes('limit=x: give a number of rows'));
});

await test('without scripts the page has the form, the picture and the table', async () => {
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

for (const [where, how] of some([['light', {}], ['dark', { dark: true }], ['on a phone', { width: 390, height: 844, phone: true }]]))
	await test(`axe reports no serious violations: ${where}`, async () => {
		const open = await browser.newPage();
		await open.setBypassCSP(true);		// axe itself comes from outside
		await open.setViewport({ width: how.width || 1440, height: how.height || 900 });
		await open.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: how.dark ? 'dark' : 'light' }]);
		await open.goto(site);
		await ready(open);
		await accessible(open, where);
		await open.click('.picker .pick');
		await accessible(open, `${where}, list open`, { within: '.picker .popup' });
		await open.keyboard.press('Escape');
		await pressed(open, 'compare');
		await accessible(open, `${where}, menu of comparisons open`, { within: '.compare .popup' });
		for (const address of [`${site}/?entry=nothing`, bare]) {
			await open.goto(address);
			await ready(open);
			await accessible(open, `${where}, ${address}`);
		}
		await open.close();
	});

await test('the page has logged no console errors during the tests', async () => {
	check(page.complaints.length === 0, page.complaints);
});

await finish();
