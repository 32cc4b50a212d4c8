// Search and filters of flame graphs as SVG in a real browser: node test_flamegraph_filters.mjs STROBE

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawn } from './browser.mjs';
import { check, test } from './lib.mjs';
import { draw, finish, folder, fragment, frames, isOff, matched, openPage, press, said, search, site, table, under } from './svg_pages.mjs';

draw('long.svg', `main;${'a'.repeat(60)}! 5\n`);

await test('svg: a regular expression search shows the share, steps through matches, and can match case', async () => {
	const page = await openPage(`${site}/a.svg`), seen = [];
	await page.keyboard.down('Control');
	await page.keyboard.press('f');
	await page.keyboard.up('Control');
	await page.keyboard.type('^parse|lex');
	check(await matched(page) === 'Matched: 65.00%', await matched(page));
	check(await fragment(page) === '#search=^parse|lex', await fragment(page));
	await press(page, 'Match case');
	check(await matched(page) === 'Matched: 40.00%', await matched(page));
	for (const shift of [false, false, true]) {
		if (shift)
			await page.keyboard.down('Shift');
		await page.keyboard.press('Enter');
		await page.keyboard.up('Shift');
		seen.push((await said(page)).split(' ')[1]);
	}
	check(seen.join() === 'parse,lex,parse', seen);
	check(await fragment(page) === '#search=^parse|lex&ic=0', await fragment(page));
	await search(page, '(');
	check(await matched(page) === 'Not a regular expression' && await isOff(page, 'Keep') && await isOff(page, 'Next'));
	check(await page.$eval('input', (e) => e.getAttribute('aria-invalid')) === 'true');
	await page.close();
});

await test('svg: a slow regular expression is stopped, and the page stays responsive', async () => {
	const page = await openPage(`${site}/long.svg`);
	await search(page, '(a+)+$');
	await page.evaluate(() => 1);
	await page.waitForFunction(() => document.querySelector('#matched').textContent === 'Takes too long');
	check(await page.$eval('input', (e) => e.getAttribute('aria-invalid')) === 'true' && await isOff(page, 'Keep'));
	await search(page, '(m|b)ai.*');
	await page.waitForFunction(() => document.querySelector('#matched').textContent === 'Matched: 100.00%');
	await press(page, 'Keep');
	await page.waitForFunction(() => location.hash.includes('keep-i='));
	await page.reload();
	await page.waitForFunction(() => document.querySelector('#matched').textContent === 'Matched: 100.00%');
	await page.close();
});

await test('svg: a slow filter is stopped and marked as such, also where the CSP forbids workers', async () => {
	const slow = (page) => page.$$eval('.chips button', (all) => all.map((b) => b.textContent).join());
	const hashes = readFileSync(join(folder, 'long.svg'), 'utf8').match(/'sha256-[^']*'/g).join(' ');
	for (const at of [`${site}/long.svg`, under(`default-src 'none'; style-src 'unsafe-inline'; script-src ${hashes}`, 'long.svg')]) {
		const page = await openPage(`${at}#keep=(a%2B)%2B%24&remove=%28&remove=m.*n`);
		await page.waitForFunction(() => document.querySelector('.chips')?.textContent.includes('given up'));
		check(await slow(page) === 'given up: (a+)+$ ×,invalid: ( ×,without m.*n ×', await slow(page));
		check((await said(page)).startsWith('Nothing is left'), await said(page));
		await page.close();
	}
});

await test('svg: filters keep and remove stacks, can be undone and redone, and are removed by a click', async () => {
	const page = await openPage(`${site}/a.svg`);
	await search(page, 'load');
	await press(page, 'Keep');
	let rows = await table(page);
	check(rows.main[2] === '60' && !rows.render && rows.parse[0] === '30', rows);
	await search(page, 'lex');
	await press(page, 'Remove');
	rows = await table(page);
	check(rows.main[2] === '50' && !rows.lex, rows);
	check(await fragment(page) === '#keep-i=load&remove-i=lex', await fragment(page));
	await press(page, 'Undo');
	await press(page, 'Undo');
	await page.waitForFunction(() => location.hash.startsWith('#search=load&keep-i=load') || location.hash === '#search=load&keep-i=load');
	check((await table(page)).main[2] === '60');
	await press(page, 'Redo');
	await press(page, 'Redo');
	await page.waitForFunction(() => location.hash === '#keep-i=load&remove-i=lex');
	check((await table(page)).main[2] === '50');
	await press(page, 'without lex');
	check((await table(page)).main[2] === '60');
	await search(page, 'main');
	await press(page, 'Remove');
	check((await said(page)).startsWith('Nothing is left'), await said(page));
	await page.goBack();
	await drawn(page);
	check((await table(page)).main[2] === '60');
	check(page.complaints.length === 0, page.complaints);
	await page.close();
});

await test('svg: without a search, keep and remove apply to the selected frame', async () => {
	const page = await openPage(`${site}/a.svg`);
	for (const key of ['ArrowUp', 'ArrowUp', 'ArrowUp'])
		await page.keyboard.press(key);
	await press(page, 'Remove');
	const now = await frames(page);
	check(!now.load && now.render.width === 1150.5 && now.all.width === 1180, now);
	check(await fragment(page) === '#remove=^load$', await fragment(page));
	await page.close();
});

await finish();
