// Flame graphs as SVG in a real browser: node test_flamegraph.mjs STROBE. test_file.mjs is of the page in a file.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawn } from './browser.mjs';
import { check, test } from './lib.mjs';
import { clickFrame, DIFFERENCE, draw, finish, folder, FOLDED, fragment, frames, isOff, matched, openPage, press, said, site, table, text } from './svg_pages.mjs';

await test('svg: the picture opens without console errors or further requests', async () => {
	const page = await openPage(`${site}/a.svg`);
	check(page.complaints.length === 0, page.complaints);
	check(await isOff(page, 'Undo') && await isOff(page, 'Redo') && await isOff(page, 'Keep'));
	await page.close();
});

await test('svg: arrow keys move to callees, siblings and callers, Enter zooms, Escape resets', async () => {
	const page = await openPage(`${site}/a.svg`), seen = [];
	for (const key of ['ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowRight', 'ArrowLeft', 'ArrowUp', 'ArrowDown']) {
		await page.keyboard.press(key);
		seen.push((await said(page)).split(' ')[1]);
	}
	check(seen.join() === 'all,main,load,render,load,parse,load', seen);
	await page.keyboard.press('Enter');
	check(await fragment(page) === '#zoom=;main;load', await fragment(page));
	await page.keyboard.press('Backspace');
	check(await fragment(page) === '#zoom=;main', await fragment(page));
	await page.keyboard.press('Escape');
	check(await fragment(page) === '', await fragment(page));
	await page.close();
});

await test('svg: a click zooms and dims callers, and Back and Reset zoom out', async () => {
	const page = await openPage(`${site}/a.svg`), start = await frames(page);
	await clickFrame(page, 'load');
	let now = await frames(page);
	check(now.load.width === 1180 && now.main.kind === 'dim' && !now.render && now.parse.width === 786.7, now);
	await clickFrame(page, 'parse');
	await page.goBack();
	await drawn(page);
	check(JSON.stringify(await frames(page)) === JSON.stringify(now));
	await press(page, 'Reset zoom');
	now = await frames(page);
	check(JSON.stringify(now) === JSON.stringify(start), now);
	await page.close();
});

await test("svg: links of the script of flamegraph.pl work: ?x=&y=&s=", async () => {
	const page = await openPage(`${site}/a.svg`), { load } = await frames(page);
	const other = await openPage(`${site}/a.svg?x=${load.x}&y=${load.y}&s=lex`), now = await frames(other);
	check(now.load.width === 1180 && now.lex.kind === 'match', now);
	check(await matched(other) === 'Matched: 16.67%', await matched(other));
	await page.close();
	await other.close();
});

await test('svg: the first tap shows a frame, and the second one zooms', async () => {
	const page = await openPage(`${site}/a.svg`, { phone: true });
	await clickFrame(page, 'load', true);
	check((await said(page)).startsWith('Function: load') && await fragment(page) === '', await said(page));
	await clickFrame(page, 'load', true);
	check(await fragment(page) === '#zoom=;main;load', await fragment(page));
	await page.close();
});

await test('svg: reversing merges stacks from their leaves and keeps filters', async () => {
	const page = await openPage(`${site}/a.svg#remove=idle`);
	await press(page, 'Reversed');
	check(await fragment(page) === '#remove=idle&reversed=1');
	await page.keyboard.press('ArrowUp');
	await page.keyboard.press('ArrowUp');
	check((await said(page)).startsWith('Function: parse (30 samples, 30.30%)'), await said(page));
	await page.keyboard.press('ArrowUp');
	check((await said(page)).startsWith('Function: load (30 samples'), await said(page));
	const rows = await table(page);
	check(rows.parse[0] === '30' && rows.lex[0] === '10' && rows.main[2] === '99' && rows.main[0] === '0', rows);
	await page.close();
});

await test('svg: the icicle layout has the root on top and reverses the up and down keys', async () => {
	const page = await openPage(`${site}/a.svg`), seen = [];
	await press(page, 'Icicle');
	check(await fragment(page) === '#inverted=1');
	for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowUp']) {
		await page.keyboard.press(key);
		seen.push((await said(page)).split(' ')[1]);
	}
	check(seen.join() === 'all,main,load,main', seen);
	await page.close();
});

await test('svg: a link restores the view, zoomed to the deepest frame of its path that exists', async () => {
	const page = await openPage(`${site}/a.svg#zoom=;main;render;no%20longer&search=paint&ic=1&color=layer`);
	check(await matched(page) === 'Matched: 35.90%', await matched(page));
	check(await page.$eval('select', (e) => e.value) === 'layer');
	check((await text(page, '.legend')).includes('kernel'));
	await page.close();
});

await test('svg: the table can be sorted, and searches for exactly one of its names', async () => {
	const page = await openPage(`${site}/a.svg`);
	let names = Object.keys(await table(page));
	check(names[0] === 'parse' && names.length === 9, names);
	await press(page, 'Total');
	names = Object.keys(await table(page));
	check(names[0] === 'main', names);
	check(await page.$eval('.twin th[aria-sort]', (e) => e.getAttribute('aria-sort')) === 'descending');
	await press(page, 'Search Parse::tree');
	check(await fragment(page) === '#search=^Parse::tree$', await fragment(page));
	check(await matched(page) === 'Matched: 25.00%');
	await page.close();
});

await test('svg: a picture that was drawn with --reverse can be switched back', async () => {
	draw('reverse.svg', FOLDED, '--reverse');
	const page = await openPage(`${site}/reverse.svg`);
	check((await frames(page)).lex.y === (await frames(page)).paint.y);
	await press(page, 'Reversed');
	const now = await frames(page);
	check(now.main.width === 1180 && now.load.width === 708 && await fragment(page) === '#reversed=0', now);
	await page.close();
});

await test('svg: --color-by and --inverted set the initial view, which can be changed', async () => {
	draw('layer.svg', FOLDED, '--color-by', 'layer', '--inverted');
	const page = await openPage(`${site}/layer.svg`), start = await frames(page);
	check(await page.$eval('select', (e) => e.value) === 'layer' && start['Parse::tree'].fill !== start.paint.fill && start.all.y < start.main.y, start);
	await page.select('select', 'package');
	await drawn(page);
	const now = await frames(page);
	check(now['Parse::tree'].fill !== start['Parse::tree'].fill && await fragment(page) === '#color=package', now);
	await press(page, 'Icicle');
	check((await frames(page)).all.y > (await frames(page)).main.y && (await fragment(page)).includes('inverted=0'));
	await page.close();
});

await test('svg: widths and colors of a diff can be switched, and the table lists functions that are gone', async () => {
	draw('difference.svg', DIFFERENCE);
	const page = await openPage(`${site}/difference.svg`);
	let rows = await table(page);
	check(rows.gone.join() === '20,0,−20,-100.00%' && rows.parse[3] === '200.00%', rows);
	await page.select('select', 'after');
	await drawn(page);
	rows = await table(page);
	check(!rows.gone && rows.main[1] === '90' && await fragment(page) === '#width=after', rows);
	await press(page, 'Self');
	check((await fragment(page)).includes('self=1'));
	const now = await frames(page);
	check(now.main.fill === now.read.fill && now.main.fill !== now.parse.fill, now);
	check(page.complaints.length === 0, page.complaints);
	await page.close();
});

await test('svg: --factor, --total, --negate and --nameattr have the same effect as in the static picture', async () => {
	writeFileSync(join(folder, 'attributes'), 'parse\ttitle=reads &lt;it&gt;\thref=#of-parse\tclass=special\n');
	draw('options.svg', FOLDED, '--factor', '2.5', '--total', '200', '--nameattr', join(folder, 'attributes'));
	const page = await openPage(`${site}/options.svg`), seen = [];
	for (const key of ['ArrowUp', 'ArrowUp', 'ArrowUp', 'Enter', 'ArrowUp']) {
		await page.keyboard.press(key);
		seen.push(await said(page));
	}
	check(seen[0] === 'Function: all (500 samples, 100%)' && seen[1] === 'Function: main (250 samples, 50.00%)', seen);
	check(seen[4].startsWith('Function: reads <it>'), seen);
	check(await page.$eval('g.special > a[*|href="#of-parse"] rect', (e) => +e.getAttribute('width')) === 786.7);
	await page.close();

	draw('negate.svg', DIFFERENCE, '--negate');
	const other = await openPage(`${site}/negate.svg`);
	const colors = await other.$$eval('.legend i', (all) => all.map((e) => e.style.background));
	check(colors[0] === 'rgb(230, 97, 1)' && (await said(other)).startsWith('Blue is more than before, orange is less'), colors, await said(other));
	await other.close();
});

await test('svg: titles of frames in a diff do not change with the zoom', async () => {
	const page = await openPage(`${site}/difference.svg`), titles = () => page.$$eval('#frames g title', (all) => all.map((e) => e.textContent));
	const before = await titles();
	await clickFrame(page, 'load');
	const now = await titles();
	check(now.length === 5 && now.every((t) => before.includes(t)) && now.some((t) => t.includes('all of it self')), now, before);
	await page.close();
});

await finish();
