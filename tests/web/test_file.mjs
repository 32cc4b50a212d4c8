// The page that `strobe flamegraph` and `strobe diff` write into one file, used by a person in a real browser: node test_file.mjs STROBE [PICTURES]

import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawn, ready } from './browser.mjs';
import { ALL_COLUMNS, choose, compared, finish, folder, fragment, HOSTILE, openAt, openFile, page_, press, rows, search, site, strobe, text, texts } from './file_pages.mjs';
import { check, some, test } from './lib.mjs';

await test('the page opens from a file without console errors or requests, and its CSP has its scripts by hash', async () => {
	for (const name of ['trace', 'after', 'cart', 'hostile', 'diff', 'options']) {
		const page = await openFile(name);
		check(page.complaints.length === 0, name, page.complaints);
		await page.close();
	}
	const file = readFileSync(page_('trace'), 'utf8'), scripts = [...file.matchAll(/<script>([^]*?)<\/script>/g)].map((m) => m[1]);
	const hashes = scripts.map((script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`);
	check(scripts.length === 2 && file.includes(`script-src ${hashes.reverse().join(' ')};`) && file.includes("default-src 'none'") && !file.includes('connect-src'));
	check(file.length < 260_000, file.length);
});

await test('switching the value updates the table and the URL, and Back reverts it', async () => {
	const page = await openFile('cart'), options = await page.$$eval('select[aria-label="Value"] option', (all) => all.map((o) => o.value));
	check(ALL_COLUMNS.every((c) => options.includes(c)), options);
	const before = await rows(page);
	await choose(page, 'Value', 'memory_bytes');
	check(await fragment(page) === '#column=memory_bytes' && JSON.stringify(await rows(page)) !== JSON.stringify(before), await fragment(page));
	check((await text(page, '.functions .sum')).includes('iB'), await text(page, '.functions .sum'));
	await page.goBack();
	await drawn(page);
	check(await fragment(page) === '' && JSON.stringify(await rows(page)) === JSON.stringify(before));
	await page.close();
});

await test('the value of a diff with several columns can be switched', async () => {
	const page = await openFile('same');
	await choose(page, 'Value', 'calls');
	check(await fragment(page) === '#column=calls' && (await text(page, '.about h2')).includes('compared with'), await fragment(page));
	check((await text(page, '.about .facts')).includes('calls13 → 13'), await text(page, '.about .facts'));
	await page.close();
});

await test('grouping by own code folds the rest, and grouping by package lists packages', async () => {
	const page = await openFile('trace');
	await choose(page, 'Group by', 'own');
	const names = (await texts(page, '.functions .function-link')).sort();
	check(names.join() === [HOSTILE[0], 'App\\Kernel::handle', 'App\\Tree::walk', 'App\\View::render', '[other code]'].sort().join(), names);
	await choose(page, 'Group by', 'package');
	check((await texts(page, '.functions .function-link')).includes('lib/twig'), await texts(page, '.functions .function-link'));
	check(await fragment(page) === '#by=package');
	await page.close();
});

await test('a URL with a scale or lines, which a file does not have, shows warnings', async () => {
	const page = await openFile('trace', 'by=line&scale=total'), said = (await texts(page, '.warning')).join();
	check(said.includes('no grouping by line') && said.includes('another scale'), said);
	await page.close();
});

await test('keys navigate, zoom and open callers and callees, and ? shows the keyboard shortcuts', async () => {
	const page = await openFile('trace');
	await page.focus('.flame');
	for (const key of ['ArrowUp', 'ArrowUp', 'ArrowUp', 'Enter'])
		await page.keyboard.press(key);
	check(await fragment(page) === '#zoom=main();App%5CKernel%3A%3Ahandle', await fragment(page));
	await page.keyboard.press('Escape');
	check(await fragment(page) === '', await fragment(page));
	await page.keyboard.press('?');
	await page.waitForSelector('dialog.keys[open]');
	await page.keyboard.press('Escape');
	await page.focus('.flame');
	for (const key of ['ArrowUp', 'ArrowUp', 'f'])
		await page.keyboard.press(key);
	await page.waitForSelector('.function .edges');
	check((await fragment(page)).includes('function='), await fragment(page));
	await page.keyboard.press('a');
	await page.waitForSelector('.functions');
	await page.keyboard.down('Control');
	await page.keyboard.press('f');
	await page.keyboard.up('Control');
	check(await page.evaluate(() => document.activeElement.id) === 'search');
	await page.close();
});

await test('a search shows the matched share, and catastrophic backtracking does not hang the page', async () => {
	const page = await openFile('after');
	await search(page, 'Part3');
	check(/^[\d.]+% matched$/.test(await text(page, '.matched')), await text(page, '.matched'));
	check((await fragment(page)) === '#search=Part3');
	await search(page, '(App.*)+Part3.*1$');
	await page.waitForFunction(() => document.querySelector('.matched').textContent.endsWith('matched'));
	check(page.complaints.length === 0, page.complaints);
	await search(page, '(([A-Za-z\\\\:0-9])+)+!$');
	await page.waitForFunction(() => ['takes too long', 'no match'].includes(document.querySelector('.matched').textContent));
	await page.close();
});

await test('in a large graph the zoom comes first, and the table is updated afterwards', async () => {
	writeFileSync(join(folder, 'large.folded'), Array.from({ length: 6000 }, (_, i) => `main;a${i % 50};b${i};c${i};d${i};e${i} 1\n`).join(''));
	strobe('flamegraph', '-q', join(folder, 'large.folded'), '-o', page_('large'));
	const page = await openFile('large'), sum = () => text(page, '.functions .sum');
	check((await sum()).startsWith('6,000 samples'), await sum());
	await page.focus('.flame');
	for (let i = 0; i < 3; i++)
		await page.keyboard.press('ArrowUp');
	const during = await page.evaluate(async () => {
		document.querySelector('.flame').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
		await null;
		return [location.hash, document.querySelector('.functions .sum').textContent];
	});
	check(during[0].startsWith('#zoom=main;a') && during[1].startsWith('6,000 samples'), during);
	await page.waitForFunction(() => document.querySelector('.functions .sum').textContent.startsWith('120 samples'));
	await page.close();
});

await test('functions are found by parts of their names', async () => {
	const page = await openFile('after', 'show=table');
	await page.type('.narrow', 'Part3 Class2 step1');
	await drawn(page);
	check((await texts(page, '.functions .function-link'))[0] === 'App\\Part3\\Class2::step1', await texts(page, '.functions .function-link'));
	await page.close();
});

await test('keep and remove filter stacks in every view, and a click removes a filter', async () => {
	const page = await openFile('trace');
	await search(page, 'View::render');
	await press(page, 'keep');
	let names = await texts(page, '.functions .function-link');
	check(!names.includes('App\\Tree::walk') && names.includes('Lib\\Twig::escape'), names);
	check(await fragment(page) === '#keep-i=View%3A%3Arender', await fragment(page));
	await search(page, 'escape');
	await press(page, 'remove');
	names = await texts(page, '.functions .function-link');
	check(!names.includes('Lib\\Twig::escape') && names.includes('App\\View::render'), names);
	await press(page, 'call graph');
	await page.waitForSelector('.call-graph .node');
	check(!(await text(page, '.call-graph')).includes('Tree::walk') && (await text(page, '.call-graph')).includes('View::render'));
	await press(page, 'without escape ×');
	check((await fragment(page)).startsWith('#keep-i=View%3A%3Arender'), await fragment(page));
	await press(page, 'both');
	await search(page, 'main');
	await press(page, 'remove');
	check((await text(page, '.empty')).includes('Nothing is left'), await text(page, 'main'));
	await page.goBack();
	await page.waitForSelector('.functions');
	check(page.complaints.length === 0, page.complaints);
	await page.close();
});

writeFileSync(join(folder, 'slow.folded'), `main;load;${'a'.repeat(60)}! 5\nmain;idle 3\n`);
strobe('flamegraph', '-q', join(folder, 'slow.folded'), '-o', page_('slow'));
const SLOW = '(a%2B)%2B%24', CHOICES = `${'(aa|a)'.repeat(30)}c`, names = (page) => texts(page, '.functions .function-link');

for (const key of some(['keep', 'keep-i', 'remove', 'remove-i']))
	await test(`slow filters, from the URL or by Back, are stopped with a warning: ${key}`, async () => {
		const page = await openFile('slow', `${key}=${SLOW}&remove=idle`);
		check((await text(page, '.warning')) === 'Filter stopped, it takes too long: (a+)+$', await text(page, '.warning'));
		check((await texts(page, '.chips button')).join() === 'given up: (a+)+$ ×,without idle ×', await texts(page, '.chips button'));
		check((await names(page)).sort().join() === ['a'.repeat(60) + '!', 'load', 'main'].join(), await names(page));
		await page.evaluate((k, s) => location.hash = `${k}=${s}`, key, encodeURIComponent(CHOICES));
		await page.waitForFunction((s) => document.querySelector('.warning')?.textContent.endsWith(s), {}, CHOICES);
		check((await names(page)).includes('idle'), await names(page));
		await page.goBack();
		await page.waitForFunction(() => document.querySelector('.warning')?.textContent.endsWith('(a+)+$'));
		await press(page, 'given up: (a+)+$ ×');
		await page.waitForFunction(() => !document.querySelector('.warning'));
		check(!(await names(page)).includes('idle') && page.complaints.length === 0, page.complaints);
		await page.close();
	});

await test('an invalid filter is ignored with a warning, and others can be added', async () => {
	const page = await openFile('slow', 'keep=%28');
	check((await text(page, '.warning')) === 'Filter ignored, invalid regular expression: (' && (await names(page)).length === 4, await text(page, '.warning'));
	await search(page, '(i|o).*');
	await page.waitForFunction(() => document.querySelector('.matched').textContent.endsWith('matched'));
	await press(page, 'keep');
	await page.waitForFunction(() => document.querySelectorAll('.chips button').length === 2);
	await page.waitForFunction(() => document.querySelector('main').dataset.ready === 'true');
	await page.close();
});

await test('a link restores the view, also with the parameters of older files', async () => {
	const page = await openFile('after', 'zoom=;%7Bmain%7D;App%5CKernel%3A%3Ahandle;no%20longer&search=Part3&reversed=0&color=layer&keep=Part3');
	check((await texts(page, '.crumbs button')).includes('App\\Kernel::handle') && await page.$eval('select[aria-label="Colors"]', (e) => e.value) === 'layer');
	check((await texts(page, '.chips button')).join() === 'with Part3 ×', await texts(page, '.chips button'));
	await page.close();
	const old = await openFile('after', 'reversed=1');
	check(await old.$eval('.tools button[title^="Merge"]', (b) => b.getAttribute('aria-pressed')) === 'true');
	await old.close();
});

for (const [fragment, has] of some([['', true], ['show=graph', true], ['by=own', true], ['function=App%5CKernel%3A%3Ahandle', true], ['by=class', false], ['show=calls', false], ['show=table', false]]))
	await test(`colors can be chosen for flame graphs of functions only: ${fragment}`, async () => {
		const page = await openFile('after', [fragment, 'color=layer'].filter(Boolean).join('&'));
		check(!!await page.$('select[aria-label="Colors"]') === has && !!await page.$('.legend.layers') === has, fragment);
		await page.close();
	});

await test('a color scheme of functions does not apply to boxes of groups', async () => {
	const page = await openFile('after', 'by=class&color=layer&show=graph'), pixels = (p) => p.$eval('.flame canvas', (c) => c.toDataURL()), layers = await pixels(page);
	const plain = await openFile('after', 'by=class&show=graph');
	check(await pixels(plain) === layers, 'colors of groups');
	await plain.close();
	await page.close();
});

for (const by of some(['', 'own', 'class', 'namespace', 'file', 'package']))
	await test(`the server's page and a file have the same colors in every grouping${by && `: ${by}`}`, async () => {
		const pixels = async (page) => {
			await drawn(page);
			const all = await page.$eval('.flame canvas', (c) => {
				const { data } = c.getContext('2d').getImageData(0, 0, c.width, c.height), n = {};
				for (let i = 0; i < data.length; i += 4) {
					const color = data.slice(i, i + 3).join();
					n[color] = (n[color] || 0) + 1;
				}
				return Object.keys(n).filter((color) => n[color] > 1500).sort().join(' ');
			});
			await page.close();
			return all;
		};
		const file = await pixels(await openFile('after', `by=${by}&show=graph`)), page = await pixels(await openAt(`${site}/runs/shop/after?by=${by}#show=graph`));
		check(file === page && file.includes(' '), by, file, page);
	});

await test('command-line options set the initial view', async () => {
	const page = await openFile('options'), pressed = () => page.$$eval('.graph .tools .segments button', (all) => all.map((b) => b.getAttribute('aria-pressed')).join());
	check(await pressed() === 'true,true' && await text(page, 'h1') === 'Leaves & <b>callers</b>' && (await text(page, '.subtitle')).includes('</style> Monday'));
	check(await page.title() === 'Leaves & <b>callers</b>' && await page.$eval('select[aria-label="Colors"]', (e) => e.value) === 'function');
	// Most of the pixels of some narrow boxes, as there are gaps between them.
	const blue = await page.$eval('.flame canvas', (c) => [...Array(60).keys()].filter((x) => {
		const [r, , b] = c.getContext('2d').getImageData(80 + x, 35, 1, 1).data;
		return b > r + 40;
	}).length);
	check(blue > 30, blue);
	await press(page, 'reversed');
	check(await fragment(page) === '#reverse=0' && await pressed() === 'false,true', await fragment(page));
	await page.reload();
	await ready(page);
	check(await pressed() === 'false,true');
	await page.close();
});

await test('--factor, --total, --countname and --nameattr have the same effect as in the static picture', async () => {
	writeFileSync(join(folder, 'attributes'), 'parse\ttitle=reads &lt;it&gt;\thref=#of-parse\n');
	writeFileSync(join(folder, 'small.folded'), 'main;load;parse 60\nmain;idle 40\n');
	strobe('flamegraph', '-q', join(folder, 'small.folded'), '--factor', '2.5', '--total', '200', '--countname', 'pages', '--nameattr', join(folder, 'attributes'), '-o', page_('small'));
	const page = await openFile('small');
	await page.focus('.flame');
	const said = async (key) => {
		await page.keyboard.press(key);
		await drawn(page);
		return text(page, '.graph .sr');
	};
	check(/^all, total 500 , 100%/.test(await said('ArrowUp')), await text(page, '.graph .sr'));
	check(/^main, total 250 , 50.0%/.test(await said('ArrowUp')), await text(page, '.graph .sr'));
	await said('ArrowUp');
	check(/^load, total 150/.test(await text(page, '.graph .sr')) || /^load/.test(await said('ArrowRight')), await text(page, '.graph .sr'));
	check((await said('ArrowUp')).startsWith('reads <it>, total 150'), await text(page, '.graph .sr'));
	check((await text(page, '.about .facts')).startsWith('pages250'), await text(page, '.about .facts'));
	await page.keyboard.press('f');
	await page.waitForFunction(() => location.hash === '#of-parse');
	await page.close();
});

await test('fractional counts are preserved, also with --factor and in a weighted average', async () => {
	writeFileSync(join(folder, 'parts.folded'), 'main;load 1.5\nmain;idle 2.25\n');
	strobe('flamegraph', '-q', join(folder, 'parts.folded'), '-o', page_('parts'));
	strobe('flamegraph', '-q', join(folder, 'parts.folded'), '--factor', '2', '--countname', 'pages', '-o', page_('many-parts'));
	strobe('flamegraph', '-q', `${site}/?run=shop/after&run=shop/before&weights=3,1`, '-o', page_('average'));
	for (const [name, sum, facts] of [['parts', '3.75 ', 'samples3.75'], ['many-parts', '7.5 ', 'pages7.5']]) {
		const page = await openFile(name);
		check((await text(page, '.functions .sum')).startsWith(sum) && (await text(page, '.about .facts')).startsWith(facts), name, await text(page, '.functions .sum'), await text(page, '.about .facts'));
		await page.close();
	}
	await compared('average', '/?run=shop/after&run=shop/before&weights=3,1', {});
	const page = await openFile('average');
	check((await text(page, '.about .facts')).includes('averageshop/after, weight 3 of 4; shop/before, weight 1 of 4'), await text(page, '.about .facts'));
	await page.close();
});

await finish();
