// Groups, differences, call graphs, flame charts and names in the page in a file: node test_file_contents.mjs STROBE

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { boxContrasts, drawn, newPage, ready } from './browser.mjs';
import { browser, CALLS, choose, compared, files, finish, folder, fragment, HOSTILE, openAt, openFile, page_, picture, press, search, site, strobe, text, texts } from './file_pages.mjs';
import { check, some, test } from './lib.mjs';

for (const [name, address] of some([['class-diff', '/?run=shop/trace2&base=shop/trace&scale=none&by=class'], ['classes', '/runs/shop/trace?by=class'], ['files', '/runs/shop/trace?by=file']]))
	await test(`a file of grouped values offers no other grouping: ${name}`, async () => {
		const by = name === 'files' ? 'file' : 'class', path = address.replace(/^.runs.shop.trace./, '/?run=shop/trace&');
		strobe('flamegraph', '-q', `${site}${address}`, '-o', page_(name));
		check(readFileSync(page_(name), 'utf8').includes(`"grouped":"${by}"`), name);
		const page = await openFile(name);
		check((await page.$$eval('select[aria-label="Group by"] option', (all) => all.map((o) => o.value))).join() === by && page.complaints.length === 0, name, page.complaints);
		check((await text(page, '.functions .sum')).includes(by === 'file' ? ' files' : ' classes') && !await page.$('.warning'), await text(page, '.functions .sum'));
		await page.close();
		await compared(name, path, {});
	});

await test('a file of functions offers every grouping', async () => {
	const own = await openFile('trace');
	check((await own.$$('select[aria-label="Group by"] option')).length === 6, 'number of groupings');
	await own.close();
});

await test('grouping by own code gives all other code one row', async () => {
	writeFileSync(join(folder, 'foreign.json'), JSON.stringify({ $schema: 'https://www.speedscope.app/file-format-schema.json',
		shared: { frames: [{ name: 'main', file: '/srv/index.php' }, { name: 'Lib\\Boot::run', file: '/srv/vendor/lib/boot/Boot.php' }, { name: 'mine', file: '/srv/a.php' }, { name: 'usleep' }] },
		profiles: [{ type: 'sampled', name: 'samples', unit: 'none', startValue: 0, endValue: 100, samples: [[0, 3], [1], [1, 2], [1, 2, 3], [3]], weights: [10, 20, 30, 15, 25] }] }));
	strobe('flamegraph', '-q', join(folder, 'foreign.json'), '-o', page_('foreign'));
	await fetch(`${site}/api/v1/runs?source=shop&id=foreign`, { method: 'POST', body: readFileSync(join(folder, 'foreign.json')) });
	for (const open of [() => openFile('foreign', 'by=own'), () => openAt(`${site}/runs/shop/foreign?by=own`)]) {
		const page = await open();
		const says = (words) => page.waitForFunction((w) => document.querySelector('.functions .sum').textContent === w, {}, words);
		await says('100 samples · 3 functions');
		await choose(page, 'Group by', '');
		await says('100 samples · 4 functions');
		await page.close();
	}
	const plain = await openAt(`${site}/runs/shop/foreign?by=own`, { scripts: false });
	check(/\[other code\]<[^]*?45\.0/.test(await plain.content()), 'without scripts');
	await plain.close();
});

await test('a diff can be colored by self values and drawn with other widths', async () => {
	const page = await openFile('diff'), colors = () => page.$eval('.flame canvas', (c) => [...c.getContext('2d').getImageData(0, c.height - 45, 1000, 1).data].join());
	const before = await colors();
	await press(page, 'self');
	check(await fragment(page) === '#self=1' && await colors() !== before, await fragment(page));
	await choose(page, 'Width', 'difference');
	check(await fragment(page) === '#self=1&width=difference', await fragment(page));
	check((await text(page, '.about h2')).includes('after.folded compared with'), await text(page, '.about h2'));
	await press(page, 'call graph');
	await page.waitForSelector('.call-graph .node');
	check((await text(page, '.call-graph')).includes('→'));
	await picture(page, 'diff-calls');
	await page.close();
});

const BEGIN = 'Orange is more than before, blue is less; widths are ';

for (const [fragment, note] of some([['self=1&width=after', 'Orange took more itself than before, blue less; widths are after'], ['', `${BEGIN}the larger of before and after`],
	['width=before', `${BEGIN}before`], ['width=difference', `${BEGIN}how much changed`]]))
	await test(`the subtitle of a diff names the widths and colors in use: ${fragment}`, async () => {
		const page = await openFile('diff', fragment);
		check(await text(page, '.subtitle') === note, fragment, await text(page, '.subtitle'));
		await choose(page, 'Width', '');
		check((await text(page, '.subtitle')).endsWith('the larger of before and after'), fragment, await text(page, '.subtitle'));
		await page.close();
	});

await test('the call graph shows values and the critical path, applies a threshold and opens functions', async () => {
	const page = await openFile('trace', 'show=calls');
	await page.waitForSelector('.call-graph .node');
	const nodes = await texts(page, '.call-graph .node'), arrows = await page.$$eval('.call-graph .edge a', (all) => all.map((a) => a.getAttribute('xlink:title')));
	check(nodes.length === 8 && nodes.some((n) => n.startsWith('App\\Tree::walk') && n.includes('total 200 µs (20.0%)')), nodes);
	// 250 µs of rendering, in which the escape calls it again; the recursion of walk has an arrow of its own.
	check(arrows.some((a) => a.startsWith('App\\Kernel::handle → App\\View::render\n250 µs (25.0%)')) && arrows.some((a) => a.startsWith('App\\Tree::walk → App\\Tree::walk\n100 µs')), arrows);
	check((await texts(page, '.call-graph .node.critical')).length >= 3);
	const least = await page.$$eval('.call-graph .node', (all) => {
		const r = all.map((e) => e.getBoundingClientRect());
		return r.every((a, i) => r.every((b, j) => i === j || a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top));
	});
	check(least, 'boxes overlap');
	await picture(page, 'calls');
	await page.$eval('.threshold input', (e) => {
		e.value = '8';
		e.dispatchEvent(new Event('change', { bubbles: true }));
	});
	await page.waitForFunction(() => document.querySelectorAll('.call-graph .node').length < 8);
	check((await fragment(page)).includes('threshold=20'), await fragment(page));
	await page.evaluate(() => document.querySelector('.call-graph .node').dispatchEvent(new MouseEvent('click', { bubbles: true })));
	await page.waitForSelector('.function-head');
	await page.close();
});

for (const [name, dark] of some(['traces', 'diff', 'trace', 'after'].flatMap((name) => [[name, false], [name, true]])))
	await test(`text in call graph boxes has enough contrast: ${name}${dark ? ', in dark mode' : ''}`, async () => {
		const page = await openFile(name, 'show=calls&threshold=1', { dark });
		await page.waitForSelector('.call-graph .node');
		const all = await boxContrasts(page), bad = all.filter(({ contrast }) => contrast < 4.5);
		check(all.length > 1 && !bad.length, name, dark, all.length, bad);
		await picture(page, `contrast-${name}-${dark}`);
		await page.close();
	});

await test('boxes of two functions with the same name open their own function', async () => {
	for (const [file, total] of [['a', '20'], ['b', '30']]) {
		const page = await openFile('twins', 'show=calls');
		await page.waitForSelector('.call-graph .node');
		await page.$$eval('.call-graph .node', (all, file) => all.find((e) => e.querySelector('a').getAttribute('xlink:title') === `setup\n/srv/${file}.php`)
			.dispatchEvent(new MouseEvent('click', { bubbles: true })), file);
		await page.waitForSelector('.function-head .facts');
		check((await fragment(page)).includes(`function_file=%2Fsrv%2F${file}.php`) && (await text(page, '.function-head .facts')).includes(`samples${total} self`), await fragment(page), await text(page, '.function-head'));
		await page.close();
	}
});

await test('an empty call graph and a truncated one say why', async () => {
	writeFileSync(join(folder, 'flat.folded'), Array.from({ length: 140 }, (_, i) => `f${i} 1\n`).join(''));
	strobe('flamegraph', '-q', join(folder, 'flat.folded'), '-o', page_('flat'));
	const page = await openFile('flat', 'show=calls&threshold=5');
	await page.waitForSelector('.calls .note');
	check((await text(page, '.calls .note')).startsWith('There is no call graph: no function has at least 5% of all.'), await text(page, '.calls .note'));
	await page.$eval('.threshold input', (e) => {
		e.value = '0';
		e.dispatchEvent(new Event('change', { bubbles: true }));
	});
	await page.waitForSelector('.call-graph .node');
	check((await text(page, '.calls .note')).startsWith('The picture shows 120 of the 140 functions; a higher threshold'), await text(page, '.calls .note'));
	await page.close();
});

await test('a truncated call graph has the whole critical path', async () => {
	writeFileSync(join(folder, 'crowd.folded'), ['{main};zz1 22', '{main};zz1;zz2 8', ...Array.from({ length: 120 }, (_, i) => `{main};C${i};D${i} 10`)].join('\n'));
	strobe('flamegraph', '-q', join(folder, 'crowd.folded'), '-o', page_('crowd'));
	const page = await openFile('crowd', 'show=calls');
	await page.waitForSelector('.call-graph .node');
	check((await text(page, '.calls .note')).startsWith('The picture shows 120 of the 243 functions with at least 0.5%; a'), await text(page, '.calls .note'));
	const path = await page.$$eval('.node.critical a', (all) => all.map((e) => e.getAttribute('xlink:title')).sort());
	check(path.join() === 'zz1,zz2,{main}' && (await page.$$('.call-graph .node')).length === 120, path);
	await page.close();
});

await test('Ctrl+F focuses the search field of the view, and is left to the browser where there is none', async () => {
	for (const [how, field] of [['', 'search'], ['show=table', 'narrow'], ['show=time', 'chart-search'], ['show=calls', ''], ['function=PDO%3A%3Aquery', '']]) {
		const page = await openFile('trace', how);
		await drawn(page);
		const taken = await page.evaluate(() => !document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'f', ctrlKey: true, bubbles: true, cancelable: true })));
		check(taken === (field !== '') && (!field || await page.evaluate(() => document.activeElement.id) === field), how, taken);
		await page.close();
	}
});

await test('no control of a diff is cut off at any window width', async () => {
	const page = await openFile('diff', 'keep-i=App.Part3.Class2&remove=step1');
	for (const width of [320, 390, 640, 700, 752, 790, 821, 880, 899, 900, 1000, 1199, 1200, 1600, 3840]) {
		await page.setViewport({ width, height: 800 });
		await drawn(page);
		const cut = await page.evaluate(() => [...document.querySelectorAll('.views button, .views select, .views input, .tools button, .tools input')].filter((e) => {
			const { left, right, width } = e.getBoundingClientRect();
			return width > 0 && (left < 0 || right > innerWidth);
		}).map((e) => e.textContent));
		check(cut.length === 0 && await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), width, cut);
	}
	await page.close();
});

await test('searches ignore case on the page, in a file and in an SVG, and the field says so', async () => {
	strobe('flamegraph', '-q', files.after, '-o', join(folder, 'after.svg'));
	for (const open of [() => openAt(`${site}/runs/shop/after`), () => openFile('after'), () => openAt(pathToFileURL(join(folder, 'after.svg')).href, { wait: false })]) {
		const page = await open(), field = await page.waitForSelector('#search, #find input, input[type="search"]');
		await field.evaluate((e) => {
			e.value = 'app.kernel';
			e.dispatchEvent(new InputEvent('input', { bubbles: true }));
		});
		await page.waitForFunction(() => /100(\.0+)?%/.test(document.querySelector('.matched, #matched, #share').textContent));
		check((await field.evaluate((e) => e.title)).toLowerCase().includes('upper and lower case are equal'));
		await page.close();
	}
});

await test('bidirectional control characters are drawn as replacement characters, in a page and in an SVG', async () => {
	for (const c of ['\u202e', '\u2067']) {
		writeFileSync(join(folder, 'turned.folded'), `main;${c}thgir 5\n`);
		strobe('flamegraph', '-q', join(folder, 'turned.folded'), '-o', page_('turned'));
		strobe('flamegraph', '-q', join(folder, 'turned.folded'), '-o', join(folder, 'turned.svg'));
		check(readFileSync(join(folder, 'turned.svg'), 'utf8').includes('>\ufffdthgir</text>'), c);
		const page = await newPage(browser, { timeout: 60_000 });
		await page.evaluateOnNewDocument(() => {
			const draw = CanvasRenderingContext2D.prototype.fillText;
			globalThis.written = [];
			CanvasRenderingContext2D.prototype.fillText = function (text, ...at) {
				globalThis.written.push(text);
				draw.call(this, text, ...at);
			};
		});
		await page.goto(pathToFileURL(page_('turned')).href);
		await ready(page);
		await drawn(page);
		const written = await page.evaluate(() => globalThis.written);
		check(written.includes('\ufffdthgir') && !written.some((t) => t.includes(c)), written);
		await page.close();
	}
});

await test('a call graph of many functions has no overlapping boxes', async () => {
	const page = await openFile('after', 'show=calls&threshold=0&at=all');
	await page.waitForSelector('.call-graph .node');
	await drawn(page);
	const over = await page.$$eval('.call-graph .node', (all) => {
		const r = all.map((e) => e.getBoundingClientRect());
		return [r.length, r.filter((a, i) => r.some((b, j) => i < j && a.left + 0.5 < b.right && b.left + 0.5 < a.right && a.top + 0.5 < b.bottom && b.top + 0.5 < a.bottom)).length];
	});
	check(over[0] > 50 && over[1] === 0, over);
	await picture(page, 'many-calls');
	await page.close();
});

await test('the file of a trace has a flame chart with every call, and other profiles have none', async () => {
	const page = await openFile('trace', 'show=time');
	await page.waitForSelector('.time-chart[aria-busy="false"] .flame:not([data-boxes=""])');
	check(Number(await page.$eval('.flame', (e) => e.dataset.boxes)) === CALLS.length + 1, await page.$eval('.flame', (e) => e.dataset.boxes));
	await page.focus('.flame');
	for (let i = 0; i < 6; i++)
		await page.keyboard.press('+');
	await page.waitForFunction(() => location.hash.includes('time='));
	await picture(page, 'chart');
	check(page.complaints.length === 0, page.complaints);
	await page.close();
	const other = await openFile('after');
	check(!(await texts(other, '.panes button')).includes('flame chart'));
	await other.close();
});

for (const show of some(['', 'show=table', 'show=calls', 'by=class', 'show=calls&threshold=0', 'search=img', `function=${encodeURIComponent(HOSTILE[4])}`]))
	await test(`hostile names are rendered as text: ${show.slice(0, 24)}`, async () => {
		const page = await openFile('hostile', show);
		await drawn(page);
		check(await page.title() !== 'owned' && page.complaints.length === 0, show, await page.title(), page.complaints);
		check(await page.$('img') === null);
		await page.close();
	});

await test('hostile names are unchanged in the table', async () => {
	const page = await openFile('hostile', 'show=table'), names = await texts(page, '.functions .function-link');
	check(HOSTILE.every((n) => names.includes(n)), names);
	await page.close();
});

await test('a search of caller/callee pairs has measured values, and their graph is called an estimate', async () => {
	const page = await openFile('cart');
	await search(page, '^main\\(\\)$');
	check(await text(page, '.matched') === '100% matched', await text(page, '.matched'));
	check((await text(page, '.graph')).includes('estimate'));
	await page.close();
});

await finish();
