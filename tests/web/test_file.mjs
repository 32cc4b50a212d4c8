// The page that `strobe flamegraph` and `strobe diff` write into one file, in a real browser, and its numbers beside those of the
// server's page: node test_file.mjs STROBE [PICTURES]

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { accessible, boxContrasts, drawn, launch, newPage, printed, ready } from './browser.mjs';
import { check, end, folded, message, run, serveStore, some, test } from './lib.mjs';

const [, , program, pictures] = process.argv, folder = mkdtempSync(join(tmpdir(), 'strobe-file-'));
const data = (name) => join(dirname(fileURLToPath(import.meta.url)), '../data', name);

// --- Profiles ---

const HOSTILE = ['<img src=x onerror=document.title="owned">', '"><script>document.title="owned"</script>', "'+alert(1)+'", 'a&lt<b', '</script><script>document.title="owned"</script>',
	'\u202eright', 'back\\slash::m', '__proto__', 'constructor'];

// A trace with files, libraries, recursion and calls in order.
const FRAMES = [['main()'], ['App\\Kernel::handle', '/srv/app/Kernel.php', 12], ['Lib\\Router::match', '/srv/vendor/lib/router/Router.php', 30], ['PDO::query'],
	['App\\View::render', '/srv/app/View.php', 8], ['Lib\\Twig::escape', '/srv/vendor/lib/twig/Twig.php', 9], ['App\\Tree::walk', '/srv/app/Tree.php', 5], [HOSTILE[0], '/srv/app/x.php', 1]];
const NODES = [[0, 0], [1, 1], [2, 2], [3, 3], [2, 4], [5, 5], [6, 4], [2, 6], [8, 6], [9, 6], [7, 3], [1, 7]];
const CALLS = [[1, 0, 1_000_000], [2, 1000, 900_000], [3, 2000, 300_000], [4, 3000, 200_000], [5, 310_000, 250_000], [6, 320_000, 60_000], [7, 330_000, 40_000], [11, 335_000, 20_000],
	[6, 400_000, 50_000], [8, 570_000, 200_000], [9, 580_000, 100_000], [10, 590_000, 50_000], [12, 950_000, 20_000]];

// More calls of some functions, and deeper recursion.
const MORE_CALLS = [...CALLS.slice(0, 12), [5, 772_000, 30_000], [6, 773_000, 10_000], [5, 805_000, 20_000], [8, 830_000, 60_000], [9, 832_000, 40_000], [10, 833_000, 10_000],
	[10, 845_000, 10_000], [9, 875_000, 5_000], CALLS[12]];

const files = { cart: data('cart.xhprof'), recursion: data('recursion.xhprof'), shop: data('shop.strobe') };
for (const [name, content] of Object.entries({ 'before.folded': folded(1), 'after.folded': folded(4), 'hostile.folded': `${HOSTILE.map((n) => `{main};${n};inner ${n.length}`).join('\n')}\n`,
	'trace.strobe': message('trace', { frames: FRAMES, nodes: NODES, calls: CALLS, labels: { name: 'a <b>trace</b>' } }),
	'trace2.strobe': message('trace', { frames: FRAMES, nodes: NODES, calls: MORE_CALLS, labels: { name: 'a <b>trace</b>' } }) })) {
	files[name.replace(/\..*/, '')] = join(folder, name);
	writeFileSync(join(folder, name), content);
}

files.twins = join(folder, 'twins.json');
writeFileSync(files.twins, JSON.stringify({ $schema: 'https://www.speedscope.app/file-format-schema.json',
	shared: { frames: [{ name: 'main', file: '/srv/index.php' }, { name: 'setup', file: '/srv/a.php' }, { name: 'setup', file: '/srv/b.php' }] },
	profiles: [{ type: 'sampled', name: 'samples', unit: 'none', startValue: 0, endValue: 50, samples: [[0, 1], [0, 2]], weights: [20, 30] }] }));

const strobe = (...args) => run(program, ...args);

const store = `sqlite:${join(folder, 'store')}`, page_ = (name) => join(folder, `${name}.html`);
for (const [id, file] of Object.entries(files)) {
	strobe('import', '--source', 'shop', '--id', id, '--store', store, file);
	strobe('flamegraph', '-q', file, '-o', page_(id));
}
strobe('diff', files.before, files.after, '--normalize', 'none', '-o', page_('diff'));
strobe('diff', files.before, files.after, '-o', page_('scaled'));
strobe('diff', files.trace, files.trace, '--force', '-o', page_('same'));
strobe('diff', files.trace, files.trace2, '--normalize', 'none', '-o', page_('traces'));
strobe('diff', files.trace, files.trace2, '--normalize', 'total', '-o', page_('scaled-traces'));
strobe('flamegraph', '-q', files.after, '--reverse', '--inverted', '--colors', 'blue', '--title', 'Leaves & <b>callers</b>', '--subtitle', 'of </style> Monday', '-o', page_('options'));

// --- A server with the same runs, and one that hands out files under a policy ---

const { site, stop } = await serveStore(program, folder, store);

let policy = '';
const plain = http.createServer((q, r) => {
	r.setHeader('Content-Type', 'text/html');
	if (policy)
		r.setHeader('Content-Security-Policy', policy);
	r.end(readFileSync(join(folder, new URL(q.url, 'http://x').pathname.slice(1))));
});
await new Promise((r) => plain.listen(0, '127.0.0.1', r));

// --- Pages ---

const browser = await launch();

async function openAt(address, { width = 1440, height = 900, dark = false, scripts = true, phone = false, wait = scripts } = {}) {
	const page = await newPage(browser, { width, height, dark, scripts, phone, timeout: 60_000 });
	page.on('request', (r) => /^(blob|data):/.test(r.url()) || r.url().startsWith(address.replace(/^(file:\/\/|http:\/\/[^/]*).*/, '$1')) || page.complaints.push(`elsewhere: ${r.url()}`));
	await page.goto(address);
	if (wait)
		await ready(page);
	return page;
}

const openFile = (name, fragment = '', how = {}) => openAt(pathToFileURL(page_(name)).href + (fragment && `#${fragment}`), how);
const text = (page, selector) => page.$eval(selector, (e) => e.textContent);
const texts = (page, selector) => page.$$eval(selector, (all) => all.map((e) => e.textContent));
const fragment = (page) => page.evaluate(() => location.hash);
const boxes = (page) => page.$eval('.flame', (e) => Number(/ ([\d,]+) boxes/.exec(e.getAttribute('aria-label'))[1].replaceAll(',', '')));

async function press(page, words) {
	await page.evaluate((w) => [...document.querySelectorAll('button')].find((b) => b.textContent.trim() === w).click(), words);
	await drawn(page);
}

async function choose(page, label, value) {
	await page.select(`select[aria-label="${label}"]`, value);
	await drawn(page);
}

async function search(page, words) {
	await page.$eval('#search', (e, w) => {
		e.value = w;
		e.dispatchEvent(new InputEvent('input', { bubbles: true }));
	}, words);
	await drawn(page);
}

async function picture(page, name) {
	if (pictures)
		await page.bringToFront(), await page.screenshot({ path: join(pictures, `${name}.png`) });
}

// --- The same as the server's page ---

// All that tables say: each row's cells, without what only one of them has room for.
const rows = (page, within = '.functions') => page.$$eval(`${within} tbody tr:not(.gap)`, (all) => all.slice(0, 30).map((tr) => [...tr.children].map((c) => c.textContent).join(' | ')));

async function compared(name, address, how, act = rows) {
	const query = new URLSearchParams(how), join = address.includes('?') ? '&' : '?';
	const a = await openAt(`${site}${address}${join}${query}#show=table`), b = await openFile(name, `${query}&show=table`);
	for (const page of [a, b])
		await page.waitForSelector(`main[aria-busy="false"] ${how.function ? '.edges' : '.functions'} tbody tr`);		// until then the table is made of boxes
	const [wanted, got] = [await act(a), await act(b)];
	const at = wanted.findIndex((row, i) => row !== got[i]);
	check(wanted.length > 1 && wanted.length === got.length && at < 0, name, how, got.length, got[at], 'instead of', wanted.length, wanted[at]);
	check(b.complaints.length === 0, b.complaints);
	await a.close();
	await b.close();
}

const ALL_COLUMNS = ['calls', 'wall_ns', 'cpu_ns', 'off_cpu_ns', 'memory_bytes'];

for (const [name, by, column] of some([['trace', '', ''], ['trace', 'own', ''], ['trace', 'class', 'calls'], ['trace', 'namespace', ''], ['trace', 'file', ''], ['trace', 'package', 'wall_ns'],
	['after', '', ''], ['after', 'class', ''], ['after', 'own', ''], ['cart', '', ''], ['cart', '', 'cpu_ns'], ['cart', 'class', ''], ['cart', 'own', ''], ['recursion', '', ''], ['shop', '', ''],
	['shop', 'class', '']]))
	await test(`the table of ${name} by ${by || 'function'}${column && ` and ${column}`} is that of the server`, () =>
		compared(name, `/runs/shop/${name}`, { ...by && { by }, ...column && { column } }));

for (const [name, by, fn] of some([['trace', '', 'App\\View::render'], ['trace', '', 'App\\Tree::walk'], ['trace', '', 'PDO::query'], ['trace', 'own', 'App\\View::render'], ['trace', 'class', 'App\\View'],
	['after', '', 'App\\Part3\\Class2::step1'], ['after', 'class', 'App\\Part3\\Class2'], ['cart', '', 'main()'], ['recursion', '', 'main()']]))
	await test(`callers and callees of ${fn} in ${name}${by && ` by ${by}`} are those of the server`, () =>
		compared(name, `/runs/shop/${name}`, { ...by && { by }, function: fn }, async (page) => [...await rows(page, '.edges'), await text(page, '.function-head .facts')]));

for (const width of some(['after', 'before', 'difference', 'maximum']))
	await test(`the graph of a difference with widths of ${width} has the boxes of the server's, and looks like it`, async () => {
		const a = await openAt(`${site}/?run=shop/after&base=shop/before&scale=none&width=${width}#show=graph`), b = await openFile('diff', `width=${width}&show=graph`);
		check(await boxes(a) === await boxes(b) && await boxes(a) > 3, await boxes(a), await boxes(b));
		const look = (page) => page.$eval('.flame canvas', (c) => [...c.getContext('2d').getImageData(0, c.height - 60, Math.min(1200, c.width), 60).data].join());
		for (const page of [a, b])
			await drawn(page);
		check(await a.$eval('select[aria-label="Width"]', (e) => e.value) === width.replace('maximum', ''));
		check(await look(a) === await look(b), 'they look different');
		await a.close();
		await b.close();
	});

for (const how of some([{ 'keep-i': 'part3' }, { remove: 'Part3.*step1', keep: 'Class[12]::' }, { 'keep-i': 'part3', by: 'class' },
	{ keep: '^App.Part3.Class1$', by: 'class' }, { 'remove-i': 'Part3$', by: 'namespace' }, { keep: 'Part3.Class1::step1', by: 'namespace' }, { keep: '\\bstep1\\b', by: 'own' }]))
	await test(`the server filters stacks as a file does: ${JSON.stringify(how)}`, () => compared('after', '/runs/shop/after', how));

for (const by of some(['', 'class', 'namespace', 'own']))
	await test(`the table of a difference by ${by || 'function'} is that of the server, with how sure each change is`, () =>
		compared('diff', '/?run=shop/after&base=shop/before&scale=none', { ...by && { by } }));

await test('callers and callees of a difference are those of the server', () =>
	compared('diff', '/?run=shop/after&base=shop/before&scale=none', { function: 'App\\Part3\\Class2::step1' }, (page) => rows(page, '.edges')));

// Calls of a comparison are those of each function and of each arrow, never of what is below.
for (const [name, scale] of [['traces', 'none'], ['scaled-traces', 'total']])
	for (const column of ['calls', 'wall_ns'])
		for (const [by, fn] of some([['', 'App\\Kernel::handle'], ['', 'App\\View::render'], ['', 'App\\Tree::walk'], ['', 'PDO::query'], ['own', 'App\\View::render'], ['class', 'App\\Tree'], ['file', '/srv/app/View.php']]))
			await test(`${column} around ${fn}${by && ` by ${by}`} in a difference of traces, ${scale === 'none' ? 'as measured' : 'scaled'}, are those of the server`, () =>
				compared(name, `/?run=shop/trace2&base=shop/trace&scale=${scale}`, { ...by && { by }, function: fn, column },
					async (page) => {
					const self = /self(.*?) → (.*?),/.exec(await text(page, '.function-head .facts')), itself = await texts(page, '.edges .itself .amount');
					check(column === 'calls' ? !self && !itself.length : itself.join() === self.slice(1).join(), self, itself);
					return [...await rows(page, '.edges'), await text(page, '.function-head .facts')];
				}));

// More is known from pairs of caller and callee than from their tree, which is an estimate.
for (const scale of some(['none', 'total']))
	await test(`callers and callees of a difference of pairs are those of the server, ${scale === 'none' ? 'as measured' : 'scaled'}`, async () => {
		strobe('diff', files.cart, files.recursion, '--force', '--normalize', scale, '-o', page_('pairs'));
		for (const fn of ['main()', 'PDO::query', 'a', 'b'])
			for (const column of ['wall_ns', 'calls'])
				await compared('pairs', `/?run=shop/recursion&base=shop/cart&scale=${scale}`, { function: fn, column }, async (page) => [...await rows(page, '.edges'), await text(page, '.function-head .facts')]);
		await compared('pairs', `/?run=shop/recursion&base=shop/cart&scale=${scale}`, { function: 'PDO', by: 'class' }, (page) => rows(page, '.edges'));
	});

// The words of boxes and arrows. The file leaves out those of thin arrows.
const saidOfGraph = (page) => page.evaluate(() => {
	const words = (e) => [...e.querySelectorAll('text')].map((t) => t.textContent.trim()).join(' '), title = (e) => e.querySelector('a').getAttribute('xlink:title').split('\n')[0];
	const all = (kind) => [...document.querySelectorAll(`.call-graph .${kind}`)];
	return { nodes: all('node').map(words).sort(), edges: all('edge').map((e) => [title(e), words(e)]).sort(),
		grey: all('node').map((e) => [title(e), new Set(e.querySelector('[fill]').getAttribute('fill').match(/[0-9a-f]{2}(?=([0-9a-f]{2})*$)|\d+/g)).size === 1]).sort() };
});

for (const [name, address, how] of some([['traces', '/?run=shop/trace2&base=shop/trace&scale=none', 'column=calls'], ['traces', '/?run=shop/trace2&base=shop/trace&scale=none', 'column=wall_ns'],
	['scaled-traces', '/?run=shop/trace2&base=shop/trace&scale=total', 'column=calls'], ['scaled-traces', '/?run=shop/trace2&base=shop/trace&scale=total', 'column=wall_ns'], ['trace', '/runs/shop/trace?', 'column=calls']]))
	await test(`boxes and arrows of the call graph of ${name} say of ${how} the same as the server's`, async () => {
		const a = await openAt(`${site}${address}&${how}&threshold=0#show=calls`), b = await openFile(name, `${how}&threshold=0&show=calls`), said = [];
		for (const page of [a, b]) {
			await page.waitForSelector('.call-graph .node');
			said.push(await saidOfGraph(page));
			check(await page.$$eval('.call-graph .edge text', (all) => all.map((e) => e.getBoundingClientRect())
				.every((a, i, r) => r.every((b, j) => i === j || a.right <= b.left || b.right <= a.left || a.bottom - 3 <= b.top || b.bottom - 3 <= a.top))), 'words of arrows cover each other');
			await picture(page, `calls-${name}-${how.slice(7)}-${page === a ? 'server' : 'file'}`);
			await page.close();
		}
		const shares = / \([\d.]+%\)/g, [wanted, got] = said.map((t) => JSON.parse(JSON.stringify(t).replaceAll(shares, ''))), words = new Map(wanted.edges);
		check(wanted.nodes.length > 4 && wanted.nodes.join('\n') === got.nodes.join('\n'), got.nodes, 'instead of', wanted.nodes);
		check(got.edges.map(([e]) => e).join() === wanted.edges.map(([e]) => e).join() && got.edges.every(([e, said]) => !said || said === words.get(e)), got.edges, 'instead of', wanted.edges);
		check(name === 'trace' || JSON.stringify(got.grey) === JSON.stringify(wanted.grey) && got.grey.some(([, grey]) => !grey), got.grey, wanted.grey);
	});

await test('the head of a scaled difference says what there was, as that of the server', async () => {
	const head = (page) => page.$eval('.about .facts', (e) => e.textContent.split(/scale(?!d)/)[0].split('colors')[0]);
	const a = await openAt(`${site}/?run=shop/after&base=shop/before&scale=total`), b = await openFile('scaled', '');
	check(await head(a) === await head(b) && (await head(b)).includes('what was before ×'), await head(a), await head(b));
	await a.close();
	await b.close();
});

// The sides are not equally much, so that values before are scaled. Boxes are rounded along the tree, values of functions are not.
const SCALED = '/?run=shop/after&base=shop/before&scale=total';

for (const by of some(['', 'class', 'namespace', 'own']))
	await test(`values before in the table of a scaled difference by ${by || 'function'} are those of the server`, () => compared('scaled', SCALED, { ...by && { by } }));

for (const how of some([{ 'keep-i': 'part3' }, { remove: 'Part3.*step1', keep: 'Class[12]::' }, { keep: '^App.Part3.Class1$', by: 'class' }]))
	await test(`stack filters leave the scale of a difference alone, on the server and in a file: ${JSON.stringify(how)}`, async () => {
		// Chance is judged by what was measured of fewer functions.
		await compared('scaled', SCALED, how);
		await compared('scaled', SCALED, how, (page) => texts(page, '.about .facts').then(([all]) => [all.split(/scale(?!d)/)[0].split('colors')[0], all.match(/× [\d.]+/)[0]]));
	});

for (const [by, fn] of some([['', 'App\\Kernel::handle'], ['', 'App\\Part3\\Class2::step1'], ['', 'App\\Part1\\Class0::step4'], ['class', 'App\\Part5\\Class1']]))
	await test(`values before of ${fn} in a scaled difference are those of the server, and of strobe diff`, async () => {
		await compared('scaled', SCALED, { function: fn, ...by && { by } }, async (page) => [...await rows(page, '.edges'), await text(page, '.function-head .facts')]);
		if (by)
			return;
		const { functions } = JSON.parse(strobe('diff', '--json', '--all', '--rows', '0', files.before, files.after)), f = functions.find((f) => f.function === fn);
		const page = await openFile('scaled', `function=${encodeURIComponent(fn)}&show=table`), facts = await text(page, '.function-head .facts');
		for (const value of [f.self.before, f.self.after, f.total.before, f.total.after])
			check(facts.includes(value.toLocaleString('en')), value, facts);
		await page.close();
	});

for (const [name, how] of some([['trace', ''], ['trace', 'by=own'], ['trace', 'by=class&column=calls'], ['after', ''], ['after', 'reverse=1'], ['after', 'by=namespace'], ['cart', 'column=memory_bytes']]))
	await test(`the flame graph of ${name} ${how} has the boxes of the server's, and looks like it`, async () => {
		const a = await openAt(`${site}/runs/shop/${name}?${how}#show=graph`), b = await openFile(name, `${how}&show=graph`);
		check(await boxes(a) === await boxes(b) && await boxes(a) > 3, await boxes(a), await boxes(b));
		// The lowest rows, as the panes are not equally high.
		const look = (page) => page.$eval('.flame canvas', (c) => [...c.getContext('2d').getImageData(0, c.height - 60, Math.min(1200, c.width), 60).data].join());
		for (const page of [a, b])
			await drawn(page);
		check(await look(a) === await look(b), 'they look different');
		await a.close();
		await b.close();
	});

// --- Use by a person ---

await test('it opens from a file without complaints, fetches nothing, and keeps its policy', async () => {
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

await test('the value is switched, and the address says so', async () => {
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

await test('a difference of several values is switched too', async () => {
	const page = await openFile('same');
	await choose(page, 'Value', 'calls');
	check(await fragment(page) === '#column=calls' && (await text(page, '.about h2')).includes('compared with'), await fragment(page));
	check((await text(page, '.about .facts')).includes('calls13 → 13'), await text(page, '.about .facts'));
	await page.close();
});

await test('only my code, and classes', async () => {
	const page = await openFile('trace');
	await choose(page, 'Group by', 'own');
	const names = (await texts(page, '.functions .function-link')).sort();
	check(names.join() === [HOSTILE[0], 'App\\Kernel::handle', 'App\\Tree::walk', 'App\\View::render', '[other code]'].sort().join(), names);
	await choose(page, 'Group by', 'package');
	check((await texts(page, '.functions .function-link')).includes('lib/twig'), await texts(page, '.functions .function-link'));
	check(await fragment(page) === '#by=package');
	await page.close();
});

await test('an address with a scale or lines says that the file has none', async () => {
	const page = await openFile('trace', 'by=line&scale=total'), said = (await texts(page, '.warning')).join();
	check(said.includes('no grouping by line') && said.includes('another scale'), said);
	await page.close();
});

await test('keys walk, zoom and lead to callers and callees; the sheet of keys opens on ?', async () => {
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

await test('a search marks and says the share, steps, and one without end is given up by a worker', async () => {
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

await test('a large graph is zoomed first, and its table summed up then', async () => {
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

await test('stacks are kept and removed, in all views, and filters end at a click', async () => {
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

await test('filters that take for ever are given up, from the address, by Back and when they are typed, and the page says so', async () => {
	writeFileSync(join(folder, 'slow.folded'), `main;load;${'a'.repeat(60)}! 5\nmain;idle 3\n`);
	strobe('flamegraph', '-q', join(folder, 'slow.folded'), '-o', page_('slow'));
	const SLOW = '(a%2B)%2B%24', CHOICES = `${'(aa|a)'.repeat(30)}c`, names = (page) => texts(page, '.functions .function-link');
	for (const key of ['keep', 'keep-i', 'remove', 'remove-i']) {
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
	}
	const page = await openFile('slow', 'keep=%28');
	check((await text(page, '.warning')) === 'Filter ignored, invalid regular expression: (' && (await names(page)).length === 4, await text(page, '.warning'));
	await search(page, '(i|o).*');
	await page.waitForFunction(() => document.querySelector('.matched').textContent.endsWith('matched'));
	await press(page, 'keep');
	await page.waitForFunction(() => document.querySelectorAll('.chips button').length === 2);
	await page.waitForFunction(() => document.querySelector('main').dataset.ready === 'true');
	await page.close();
});

await test('its own link opens the same view, and so do those of older files', async () => {
	const page = await openFile('after', 'zoom=;%7Bmain%7D;App%5CKernel%3A%3Ahandle;no%20longer&search=Part3&reversed=0&color=layer&keep=Part3');
	check((await texts(page, '.crumbs button')).includes('App\\Kernel::handle') && await page.$eval('select[aria-label="Colors"]', (e) => e.value) === 'layer');
	check((await texts(page, '.chips button')).join() === 'with Part3 ×', await texts(page, '.chips button'));
	await page.close();
	const old = await openFile('after', 'reversed=1');
	check(await old.$eval('.tools button[title^="Merge"]', (b) => b.getAttribute('aria-pressed')) === 'true');
	await old.close();
});

await test('colors are chosen where boxes have them: not of groups, nor in the call graph', async () => {
	for (const [fragment, has] of [['', true], ['show=graph', true], ['by=own', true], ['function=App%5CKernel%3A%3Ahandle', true], ['by=class', false], ['show=calls', false], ['show=table', false]]) {
		const page = await openFile('after', [fragment, 'color=layer'].filter(Boolean).join('&'));
		check(!!await page.$('select[aria-label="Colors"]') === has && !!await page.$('.legend.layers') === has, fragment);
		await page.close();
	}
	const page = await openFile('after', 'by=class&color=layer&show=graph'), pixels = (p) => p.$eval('.flame canvas', (c) => c.toDataURL()), layers = await pixels(page);
	const plain = await openFile('after', 'by=class&show=graph');
	check(await pixels(plain) === layers, 'of groups');
	await plain.close();
	await page.close();
});

await test('the page of the server and that in a file have the same colors, in every grouping', async () => {
	for (const by of ['', 'own', 'class', 'namespace', 'file', 'package']) {
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
	}
});

await test('options of the picture are how it begins', async () => {
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

await test('--factor, --total, --countname and --nameattr mean the same as in the still picture', async () => {
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

await test('parts of counts are those of the still picture, as are those of an average', async () => {
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

await test('a file of groups offers no other groups', async () => {
	for (const [name, address] of [['classes', '/runs/shop/trace?by=class'], ['files', '/runs/shop/trace?by=file'], ['class-diff', '/?run=shop/trace2&base=shop/trace&scale=none&by=class']]) {
		const by = name === 'files' ? 'file' : 'class', path = address.replace(/^.runs.shop.trace./, '/?run=shop/trace&');
		strobe('flamegraph', '-q', `${site}${address}`, '-o', page_(name));
		check(readFileSync(page_(name), 'utf8').includes(`"grouped":"${by}"`), name);
		const page = await openFile(name);
		check((await page.$$eval('select[aria-label="Group by"] option', (all) => all.map((o) => o.value))).join() === by && page.complaints.length === 0, name, page.complaints);
		check((await text(page, '.functions .sum')).includes(by === 'file' ? ' files' : ' classes') && !await page.$('.warning'), await text(page, '.functions .sum'));
		await page.close();
		await compared(name, path, {});
	}
	const own = await openFile('trace');
	check((await own.$$('select[aria-label="Group by"] option')).length === 6, 'of functions there are all');
	await own.close();
});

await test('only my code: what is not has a row', async () => {
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

await test('a difference: widths, and colors of what functions took themselves', async () => {
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

await test('the sentence above a difference says the widths and colors that are shown', async () => {
	const begin = 'Orange is more than before, blue is less; widths are ';
	for (const [fragment, note] of [['', `${begin}the larger of before and after`], ['width=before', `${begin}before`], ['width=difference', `${begin}how much changed`],
		['self=1&width=after', 'Orange took more itself than before, blue less; widths are after']]) {
		const page = await openFile('diff', fragment);
		check(await text(page, '.subtitle') === note, fragment, await text(page, '.subtitle'));
		await choose(page, 'Width', '');
		check((await text(page, '.subtitle')).endsWith('the larger of before and after'), fragment, await text(page, '.subtitle'));
		await page.close();
	}
});

await test('the call graph: functions and arrows with their values, the critical path, a threshold, and a way to the function', async () => {
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

await test('words in boxes of the call graph can be read, in the light and in the dark', async () => {
	for (const dark of [false, true])
		for (const name of ['traces', 'diff', 'trace', 'after']) {
			const page = await openFile(name, 'show=calls&threshold=1', { dark });
			await page.waitForSelector('.call-graph .node');
			const all = await boxContrasts(page), bad = all.filter(({ contrast }) => contrast < 4.5);
			check(all.length > 1 && !bad.length, name, dark, all.length, bad);
			await picture(page, `contrast-${name}-${dark}`);
			await page.close();
		}
});

await test('boxes of two functions of one name lead to each of them', async () => {
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

await test('a call graph without functions says why, and so does one with too many', async () => {
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

await test('a call graph of too many functions has all of the critical path', async () => {
	writeFileSync(join(folder, 'crowd.folded'), ['{main};zz1 22', '{main};zz1;zz2 8', ...Array.from({ length: 120 }, (_, i) => `{main};C${i};D${i} 10`)].join('\n'));
	strobe('flamegraph', '-q', join(folder, 'crowd.folded'), '-o', page_('crowd'));
	const page = await openFile('crowd', 'show=calls');
	await page.waitForSelector('.call-graph .node');
	check((await text(page, '.calls .note')).startsWith('The picture shows 120 of the 243 functions with at least 0.5%; a'), await text(page, '.calls .note'));
	const path = await page.$$eval('.node.critical a', (all) => all.map((e) => e.getAttribute('xlink:title')).sort());
	check(path.join() === 'zz1,zz2,{main}' && (await page.$$('.call-graph .node')).length === 120, path);
	await page.close();
});

await test('Ctrl+F leads to the field that the view has, and is the browser\'s where there is none', async () => {
	for (const [how, field] of [['', 'search'], ['show=table', 'narrow'], ['show=time', 'chart-search'], ['show=calls', ''], ['function=PDO%3A%3Aquery', '']]) {
		const page = await openFile('trace', how);
		await drawn(page);
		const taken = await page.evaluate(() => !document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'f', ctrlKey: true, bubbles: true, cancelable: true })));
		check(taken === (field !== '') && (!field || await page.evaluate(() => document.activeElement.id) === field), how, taken);
		await page.close();
	}
});

await test('no control is cut off at any width, in a difference neither', async () => {
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

await test('upper and lower case are equal in searches of the page, of a file and of an SVG, which say so', async () => {
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

await test('characters that turn others around are drawn as such, in the page and in an SVG', async () => {
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

await test('many functions are laid out without boxes over each other', async () => {
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

await test('a trace has its flame chart in the file, every call of it, and no other profile has one', async () => {
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

await test('names are text, whatever they say', async () => {
	for (const show of ['', 'show=table', 'show=calls', 'show=calls&threshold=0', `function=${encodeURIComponent(HOSTILE[4])}`, 'by=class', 'search=img']) {
		const page = await openFile('hostile', show);
		await drawn(page);
		check(await page.title() !== 'owned' && page.complaints.length === 0, show, await page.title(), page.complaints);
		check(await page.$('img') === null);
		await page.close();
	}
	const page = await openFile('hostile', 'show=table'), names = await texts(page, '.functions .function-link');
	check(HOSTILE.every((n) => names.includes(n)), names);
	await page.close();
});

await test('of pairs of caller and callee the search says what was measured, and limits', async () => {
	const page = await openFile('cart');
	await search(page, '^main\\(\\)$');
	check(await text(page, '.matched') === '100% matched', await text(page, '.matched'));
	check((await text(page, '.graph')).includes('estimate'));
	await page.close();
});

// --- Everywhere ---

for (const [name, how] of some([['trace', ''], ['trace', 'show=calls'], ['trace', 'show=time'], ['trace', 'function=App%5CView%3A%3Arender'], ['diff', ''], ['trace', 'show=table'], ['diff', 'show=table']]))
	for (const dark of [false, true])
		await test(`axe finds nothing serious: ${name} ${how}${dark ? ' in the dark' : ''}`, async () => {
			const page = await openFile(name, how, { dark });
			await drawn(page);
			await picture(page, `${name}-${how.replace(/[^a-z]+/gi, '')}-${dark ? 'dark' : 'light'}`);
			await accessible(page, how, { evaluate: true });
			check(page.complaints.length === 0, page.complaints);
			await page.close();
		});

for (const [width, height, phone] of some([[320, 640, true], [390, 844, true], [1024, 768], [3840, 2160]]))
	await test(`${width} px: nothing is wider than the window, and rows of the table are no taller than two lines`, async () => {
		for (const [name, how] of [['trace', ''], ['trace', 'show=table'], ['trace', 'show=calls'], ['trace', 'function=App%5CView%3A%3Arender'], ['diff', ''], ['options', '']]) {
			const page = await openFile(name, how, { width, height, phone });
			await drawn(page);
			const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), tall = await page.$$eval('.rows tbody tr:not(.gap)', (all) => Math.max(0, ...all.map((e) => e.offsetHeight)));
			check(over <= 0 && tall <= 45, name, how, over, tall);
			await picture(page, `${name}-${how.replace(/[^a-z]+/gi, '')}-${width}`);
			await page.close();
		}
	});

await test('in the dark the paper is dark and words are light; printed they are dark on white', async () => {
	const page = await openFile('trace', '', { dark: true }), light = (color) => color.match(/[\d.]+/g).slice(0, 3).reduce((a, b) => a + +b, 0);
	const colors = () => page.evaluate(() => [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector('h1')).color]);
	let [paper, words] = await colors();
	check(light(paper) < 120 && light(words) > 600, paper, words);
	const corner = () => page.$eval('.flame canvas', (c) => c.getContext('2d').getImageData(2, 2, 1, 1).data[0]);
	check(await corner() < 60, await corner());
	await page.emulateMediaType('print');
	await drawn(page);
	[paper, words] = await colors();
	check(light(paper) === 765 && light(words) < 120 && await corner() === 255, paper, words, await corner());
	check(await page.$eval('.tools', (e) => getComputedStyle(e).display) === 'none');
	await picture(page, 'print');
	await page.close();
});

await test('the rows at the root stay in sight when the window grows, and when it is printed', async () => {
	writeFileSync(join(folder, 'deep.folded'), `${Array.from({ length: 60 }, (_, i) => `f${i}`).join(';')} 5\n`);
	strobe('flamegraph', '-q', join(folder, 'deep.folded'), '-o', page_('deep'));
	const page = await openFile('deep', 'show=graph', { height: 500 }), below = () => page.$eval('.flame', (e) => e.scrollHeight - e.clientHeight - e.scrollTop);
	for (const height of [800, 600, 700]) {
		await page.setViewport({ width: 1440, height });
		await drawn(page);
		check(await below() < 1, height, await below());
	}
	await page.emulateMediaType('print');
	await drawn(page);
	check(await below() < 1, 'printed', await below());
	await page.emulateMediaType('screen');
	await drawn(page);
	await page.$eval('.flame', (e) => e.scrollTop -= 30);
	await drawn(page);
	await page.setViewport({ width: 1440, height: 720 });
	await drawn(page);
	check(Math.abs(await below() - 30) < 1, 'where one has scrolled to', await below());
	await page.close();
});

await test('a print has all of the graph and the first rows of the table, in light colors; afterwards the page is what it was', async () => {
	const stack = Array.from({ length: 60 }, (_, i) => `f${i}`).join(';'), wide = Array.from({ length: 400 }, (_, i) => `f0;g${i} 1`).join('\n');
	writeFileSync(join(folder, 'sheet.folded'), `${stack} 5000\n${wide}\n`);
	strobe('flamegraph', '-q', join(folder, 'sheet.folded'), '-o', page_('sheet'));
	for (const dark of [false, true]) {
		const page = await openFile('sheet', '', { dark }), state = () => page.evaluate(() => {
			const c = document.querySelector('.flame canvas');
			return [c.width, c.height, c.toDataURL().length, document.querySelector('.flame').scrollTop, document.querySelectorAll('.functions tbody tr').length].join();
		});
		await drawn(page);
		await page.$eval('.rows', (e) => e.scrollTop = 600);
		await page.$eval('.flame', (e) => e.scrollTop -= 100);
		await drawn(page);
		const before = await state(), { canvases: [c], rows, text: words } = await printed(page);
		check(c.height === 2 * (61 * 19 + 8) && c.width > 1800, 'all rows', c);
		check(c.corner.join() === '255,255,255', dark, 'paper', c);
		check(Math.min(...c.rootLeft) > 200 && c.rootLeft.join() === c.rootRight.join() && c.rootLeft.join() !== c.corner.join(), dark, 'the root, to both ends', c);
		check(rows === 200 && words.includes('The first 200 of 460 functions.'), rows);
		await drawn(page);
		check(await state() === before, before, await state());
		check(await page.$eval('.rows', (e) => e.scrollTop) === 600, 'where the table was scrolled to');
		await page.emulateMediaType('print');
		await page.setViewport({ width: 794, height: 1123 });
		await drawn(page);
		const { left, right, ratio, below } = await page.$eval('.flame canvas', (e) => {
			const r = e.getBoundingClientRect(), table = document.querySelector('.functions').getBoundingClientRect();
			return { left: r.left, right: r.right, ratio: r.width / r.height / (e.width / e.height), below: table.top - r.bottom };
		});
		check(left >= 0 && right <= 794 && right > 760 && Math.abs(ratio - 1) < 0.01 && below >= 0, 'the sheet has room for it', left, right, ratio, below);
		check(page.complaints.length === 0, page.complaints);
		await page.close();
	}
});

await test('of a very deep graph a print has the rows at the root, and says so', async () => {
	writeFileSync(join(folder, 'abyss.folded'), `${Array.from({ length: 700 }, (_, i) => `f${i}`).join(';')} 5\n`);
	strobe('flamegraph', '-q', join(folder, 'abyss.folded'), '-o', page_('abyss'));
	const page = await openFile('abyss', 'show=graph'), { canvases: [c], text: words } = await printed(page);
	check(c.height === 2 * (300 * 19 + 8) && words.includes('Of 701 rows these are the 300 at the root.'), c);
	await page.close();
	const calls = Array.from({ length: 700 }, (_, i) => [i + 1, i * 10, 20_000 - 20 * i]);
	writeFileSync(join(folder, 'abyss.strobe'), message('abyss', { frames: [['walk']], nodes: calls.map((_, i) => [i, 0]), calls }));
	strobe('flamegraph', '-q', join(folder, 'abyss.strobe'), '-o', page_('abyss-chart'));
	const chart = await openFile('abyss-chart', 'show=time');
	check((await printed(chart)).text.includes('Of 701 rows these are the 300 at the root.'), 'of a flame chart');
	await chart.close();
});

await test('with scripts off, or forbidden by a policy, there is a whole still picture', async () => {
	const still = async (page) => {
		const content = await page.content();
		check(['>main()</text>', 'App\\View::render'].every((n) => content.includes(n)) && !content.includes('class="views"'));
		check(await page.$eval('#still svg', (e) => e.getBoundingClientRect().width) > 300);
	};
	const on = await openFile('trace');
	check(!await on.$('#still'));
	await on.close();
	const off = await openFile('trace', '', { scripts: false });
	await still(off);
	await picture(off, 'still');
	await off.setViewport({ width: 800, height: 240 });
	const root = await off.$$eval('#frames > g', (all) => Math.max(...all.map((g) => g.getBoundingClientRect().bottom)));
	check(root > 120 && root < 240, root);			// it is scrolled to its root
	await off.close();
	const address = `http://127.0.0.1:${plain.address().port}/trace.html`, own = /script-src ([^;]*)/.exec(readFileSync(page_('trace'), 'utf8'))[1];
	policy = "default-src 'none'; script-src 'none'; style-src 'unsafe-inline'";
	const forbidden = await openAt(address, { wait: false });
	await still(forbidden);
	await forbidden.close();
	policy = '';
	const whole = readFileSync(page_('trace'), 'utf8').replace(/<meta http-equiv[^>]*>/, ''), begin = whole.lastIndexOf('<script>');
	for (const end of ['<script>}{</script>', '<script>throw new Error("too old")</script>', '']) {
		writeFileSync(page_('broken'), whole.slice(0, begin) + end);
		const broken = await openFile('broken', '', { wait: false });
		await broken.waitForSelector('#still svg');
		await still(broken);
		await broken.close();
	}
	policy = `default-src 'none'; script-src ${own}; worker-src blob:; style-src 'unsafe-inline'; sandbox allow-scripts`;
	const named = await openAt(address);
	check(named.complaints.length === 0, named.complaints);
	await named.close();
	policy = '';
});

await test('a file without values says so, and needs no script', async () => {
	writeFileSync(join(folder, 'nothing.folded'), 'main 0\n');
	spawnSync(program, ['flamegraph', '-q', join(folder, 'nothing.folded'), '-o', page_('nothing')]);
	const page = await openFile('nothing', '', { wait: false });
	check(!(await page.content()).includes('<script') && page.complaints.length === 0);
	await page.close();
});

await browser.close();
plain.close();
await stop();
rmSync(folder, { recursive: true });
await end();
