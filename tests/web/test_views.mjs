// The pages of a run, an average and a comparison in a real browser, and their numbers beside those of the command line:
// node test_views.mjs STROBE

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { accessible, boxContrasts, drawn, launch, newPage, printed, ready } from './browser.mjs';
import { check, end, run, serveStore, some, test } from './lib.mjs';

const program = process.argv[2], folder = mkdtempSync(join(tmpdir(), 'strobe-views-'));
const data = (name) => join(dirname(fileURLToPath(import.meta.url)), '../data', name);

// --- A server with runs ---

const HOSTILE = ['<img src=x onerror=document.title="owned">', '"><script>document.title="owned"</script>', "'+alert(1)+'", 'a&amp;b', '\u202eright', 'back\\slash::m'];

function folded(factor) {
	let text = '', seed = 7;
	const random = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
	for (let i = 0; i < 3000; i++) {
		const stack = ['{main}', 'App\\Kernel::handle'];
		for (let d = random(12); d >= 0; d--)
			stack.push(`App\\Part${random(9)}\\Class${random(7)}::step${random(5)}`);
		text += `${stack.join(';')} ${1 + random(20) * (stack[2].includes('Part3') ? factor : 1)}\n`;
	}
	return text;
}

// Calls by the thousand, and memory that is given back.
const loops = join(folder, 'loops.json');
writeFileSync(loops, JSON.stringify({ 'main()': { ct: 1, wt: 9000, mu: 1024 }, 'main()==>total': { ct: 1, wt: 8000, mu: 9216 }, 'main()==>free': { ct: 1, wt: 10, mu: -8192 },
	'total==>price': { ct: 3000, wt: 4000, mu: 9216 }, 'total==>tax': { ct: 1000, wt: 1000, mu: 0 } }));

const files = { loops, freed: data('shop.xt'), cart: data('cart.xhprof'), again: data('cart.xhprof'), recursion: data('recursion.xhprof') };
for (const [name, text] of Object.entries({ before: folded(1), after: folded(4), hostile: HOSTILE.map((n) => `{main};${n};inner ${n.length}`).join('\n'),
	edge: '{main};App\\NamespaceOfManyLetters\\Ab::aMethodWithAVeryLongNameAtTheEnd 10\n{main};other 5',
	long: `{main};App\\${'NamespaceOfManyLetters\\'.repeat(6)}Ab::aMethod 10\n{main};/srv/${'folder-of-many-letters/'.repeat(6)}index.php 9\n{main};${'a'.repeat(150)} 8`,
	names: '{main};Прайс\\Корзина::сумма 5\n{main};計算 4\n{main};a->b 3\n{main};prices 2',
	crowd: ['{main};zz1 22', '{main};zz1;zz2 8', ...Array.from({ length: 120 }, (_, i) => `{main};C${i};D${i} 10`)].join('\n'),
	deep: `${['{main}', ...Array(60).keys()].join(';step')} 5`,
	huge: `{main};${'L'.repeat(9000)} 5\n{main};${'M'.repeat(7500)} 5`,
	places: `{main};wide 100000\n${Array.from({ length: 300 }, (_, i) => `{main};f${String(i).padStart(3, '0')};hit 1`).join('\n')}\n{main};lone 2\n{main};twice;twice 3`,
	longer: `{main};App\\${'NamespaceOfManyLetters\\'.repeat(6)}Ab::aMethod 15` })) {
	files[name] = join(folder, `${name}.folded`);
	writeFileSync(files[name], `${text}\n`);
}

// A file of PHP, and a profile of its executed lines. The text is as hostile as the names.
const code = join(folder, 'shop', 'cart.php');
mkdirSync(dirname(code));
writeFileSync(code, ['<?php', 'function total(array $cart): int', '{', '\t$sum = 0;', '\tforeach ($cart as $item) {',
	'\t\t$sum += price($item); // </code><script>document.title="owned"</script>', '\t}', '\treturn $sum;', '}', ...Array(80).fill('//'),
	'function price(array $item): int', '{', `\treturn ${Array(60).fill('$item["price"]').join(' + ')};`, '}', ''].join('\n'));
function lined(name, weights, of = '', withLines = true, mainLine = 95) {
	const frames = [[code, mainLine], [`${of}total`, 6, 2], [`${of}total`, 5, 2], [`${of}price`, 92, 90], ['gone', 4, 1]].map(([n, line]) =>
		({ name: n, file: n === 'gone' ? '/nowhere/gone.php' : code, ...withLines && line && { line } }));
	files[name] = join(folder, `${name}.speedscope.json`);
	writeFileSync(files[name], JSON.stringify({ $schema: 'https://www.speedscope.app/file-format-schema.json', shared: { frames },
		profiles: [{ type: 'sampled', name: 'samples', unit: 'none', startValue: 0, endValue: 100, samples: [[0, 1], [0, 1, 3], [0, 2], [0, 4]], weights }],
		strobe_starts: [0, 2, 2, 90, 1] }));
}
lined('lines', [10, 60, 20, 10]);
lined('lines2', [10, 30, 50, 10]);
lined('methods', [10, 60, 20, 10], 'Cart::');
lined('nolines', [10, 60, 20, 10], '', false);
lined('somelines', [10, 60, 20, 10], '', true, 0);

// Functions of one name in two files, and one of PHP below them.
files.twins = join(folder, 'twins.speedscope.json');
writeFileSync(files.twins, JSON.stringify({ $schema: 'https://www.speedscope.app/file-format-schema.json',
	shared: { frames: [{ name: '{main}', file: '/srv/index.php' }, { name: 'setup', file: '/srv/a.php' }, { name: 'setup', file: '/srv/b.php' }, { name: 'usleep' }, { name: 'only', file: '/srv/a.php' }] },
	profiles: [{ type: 'sampled', name: 'samples', unit: 'none', startValue: 0, endValue: 100, samples: [[0, 1, 3], [0, 2], [0, 2, 4]], weights: [20, 30, 50] }] }));

// Calls of one file with and without lines.
files.hues = join(folder, 'hues.speedscope.json');
writeFileSync(files.hues, JSON.stringify({ $schema: 'https://www.speedscope.app/file-format-schema.json',
	shared: { frames: [{ name: '{main}', file: '/srv/shop/index.php' }, { name: 'a', file: '/srv/shop/index.php', line: 15 }, { name: 'b', file: '/srv/shop/index.php', line: 6 }] },
	profiles: [{ type: 'sampled', name: 'samples', unit: 'none', startValue: 0, endValue: 100, samples: [[0, 1, 2]], weights: [100] }] }));

const strobe = (...args) => run(program, ...args);

const store = `sqlite:${join(folder, 'store')}`;
for (const [id, file] of Object.entries(files))
	if (id !== 'again')
		strobe('import', '--source', 'shop', '--id', id, '--name', `<b>${id}</b>`, '--store', store, file);

const { site, stop } = await serveStore(program, folder, store, '--source-dir', dirname(code));

// --- Pages ---

const browser = await launch();

// The table of all metrics takes the place of that of the boxes, which has one of them and comes first.
const wideTable = (open, least = 2) => open.waitForFunction((n) => document.querySelectorAll('table.wide .groups th').length >= n, {}, least);

async function openPage(address, { width = 1440, height = 900, dark = false, scripts = true, phone = false, policy = true } = {}) {
	const page = await newPage(browser, { width, height, dark, scripts, phone });
	page.on('request', (r) => r.url().startsWith('data:') || r.url().startsWith(site) || page.complaints.push(`elsewhere: ${r.url()}`));
	await page.setBypassCSP(!policy);
	await page.goto(site + address);
	if (scripts)
		await ready(page);
	return page;
}

const at = (page, part) => page.waitForFunction((p) => location.href.includes(p), {}, part);
const notAt = (page, part) => page.waitForFunction((p) => !location.href.includes(p), {}, part);
const text = (page, selector) => page.$eval(selector, (e) => e.textContent);
const texts = (page, selector) => page.$$eval(selector, (all) => all.map((e) => e.textContent));
const api = async (path) => (await fetch(site + path)).json();

const colors = (page, selector = '.flame canvas') => page.$eval(selector, (c) =>
	new Set(new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer)).size);

async function press(page, words) {
	await page.evaluate((w) => [...document.querySelectorAll('button')].find((b) => b.textContent.trim() === w).click(), words);
	await drawn(page);
}

// --- Numbers ---

function sameTable(table, report, where) {
	const names = table.columns.map((c) => c.name), rows = new Map(table.name.map((name, i) => [name, i]));
	check(report.functions.length === table.name.length && report.functions.length > 3, where, report.functions.length, table.name.length);
	for (const f of report.functions) {
		const i = rows.get(f.function ?? f.class);
		check(i !== undefined, where, f);
		for (const [column, v] of Object.entries(f.columns ?? { [report.column]: f })) {
			const c = names.indexOf(column), scale = table.columns[c].unit === 'millionths' ? 1e6 : 1;
			check(table.self[c][i] === Math.round(v.self * scale) && (column === 'calls' || table.total[c][i] === Math.round(v.total * scale)), where, column, f, table.self[c][i], table.total[c][i]);
		}
		check(table.at_most.includes(i) === !!f.total_at_most, where, 'limits', f);
	}
}

await test('the table of a run has the numbers of strobe report, in every metric', async () => {
	for (const id of ['cart', 'recursion', 'before'])
		sameTable(await api(`/api/v1/table?run=shop/${id}`), JSON.parse(strobe('report', files[id], '--json', '--all-columns', '-n', '0')), id);
});

await test('so has an average of weighted runs', async () => {
	const table = await api('/api/v1/table?run=shop/cart&run=shop/recursion&weights=3,1');
	sameTable(table, JSON.parse(strobe('report', '--weights', '3,1', files.cart, files.recursion, '--json', '--all-columns', '-n', '0')), 'average');
});

await test('groups are those of strobe report --by', async () => {
	for (const by of ['class', 'namespace', 'package']) {
		const report = JSON.parse(strobe('report', files.after, '--json', '--all-columns', '-n', '0', '--by', by));
		const [rows] = Object.values(report).filter(Array.isArray), table = await api(`/api/v1/table?run=shop/after&by=${by}`);
		check(rows.length === table.name.length && rows.length > 1, by, rows.length, table.name.length);
		for (const row of rows) {
			const i = table.name.indexOf(row[by]), v = row.columns?.samples ?? row;
			check(table.self[0][i] === v.self && table.total[0][i] === v.total, by, row);
		}
	}
});

await test('callers and callees of a function have the numbers of strobe report', async () => {
	for (const [id, name] of [['cart', 'PDO::query'], ['recursion', 'a'], ['before', 'App\\Part3\\Class2::step1']]) {
		const report = JSON.parse(strobe('report', files[id], '--callers', name, '--callees', name, '--json', '-n', '0', '--all-columns'));
		const page = await api(`/api/v1/function?run=shop/${id}&function=${encodeURIComponent(name)}`);
		const columns = page.columns.map((c) => c.name);
		for (const side of ['callers', 'callees']) {
			check(page[side].length === report[side].edges.length, id, side, page[side].length);
			for (const e of report[side].edges) {
				const mine = page[side].find((x) => x.name === e.function);
				check(mine, id, side, e, page[side]);
				for (const [c, v] of Object.entries(e.values))
					check(mine.values[columns.indexOf(c)] === v, id, side, c, e, mine);
				check(mine.at_most === !!e.at_most, id, side, e);
			}
			for (const [c, v] of Object.entries(report[side].total))
				check(page.function.total[columns.indexOf(c)] === v && page.function.self[columns.indexOf(c)] === report[side].self[c], id, c);
		}
	}
});

await test('a comparison has the numbers of strobe diff', async () => {
	const report = JSON.parse(strobe('diff', files.before, files.after, '--json', '--all', '--rows', '0'));
	const table = await api('/api/v1/table?run=shop/after&base=shop/before');
	check(report.functions.length === table.name.length && report.functions.some((f) => f.self.changed), report.functions.length, table.name.length);
	for (const f of report.functions) {
		const i = table.name.indexOf(f.function);
		for (const kind of ['self', 'total']) {
			check(table[kind][0][i] === f[kind].before && table[kind][1][i] === f[kind].after, kind, f);
			check(table[`${kind}_changed`].includes(i) === f[kind].changed, kind, f);
		}
	}
});

// --- The page of a run ---

let page = await openPage('/runs/shop/before');

await test('a graph of memory says how much was freed, which it cannot draw', async () => {
	const notes = async (query) => {
		const open = await openPage(`/runs/shop/freed${query}`), said = await open.$$eval('.graph .note', (all) => all.map((n) => n.textContent));
		await open.close();
		return said.join();
	};
	check(await notes('?column=memory_bytes') === 'Values below zero, such as freed memory, are not drawn: -7.26 KiB in all. Shares are of what is drawn.', await notes('?column=memory_bytes'));
	check(await notes('?column=wall_ns') === '');
});

await test('a run has the bar, the canvas and the controls of the live page', async () => {
	await drawn(page);
	check(await page.$('header.bar .brand') && await page.$('.work .functions') && await page.$('#search'));
	check(await colors(page) > 30, await colors(page));
	check((await text(page, '.about h2')) === '<b>before</b>', await text(page, '.about h2'));
	const below = await page.$eval('.flame', (e) => e.scrollHeight - e.clientHeight - e.scrollTop);
	check(Math.abs(below) <= 1, 'opens at its root', below);
	check(page.complaints.length === 0, page.complaints);
});

await test('a row leads to its function, and Back out of it', async () => {
	const name = await text(page, '.rows tbody tr:not(.gap) th a');
	await page.click('.rows tbody tr:not(.gap) th a');
	await at(page, `function=${encodeURIComponent(name).replaceAll('%20', '+')}`);
	await page.waitForSelector('.edges tbody tr');
	check((await text(page, '.function-head h2')) === name);
	check((await texts(page, '.edges h3')).map((t) => t.split(' ')[0]).join() === 'Callers,Callees');
	await page.goBack();
	await notAt(page, 'function=');
	await page.waitForSelector('.work .functions');
});

await test('an answer that takes its time is seen to be on its way', async () => {
	const open = await openPage('/runs/shop/before'), held = [];
	await drawn(open);
	await open.setRequestInterception(true);
	open.on('request', (r) => r.url().includes('/api/v1/function') ? held.push(r) : r.continue());
	const strip = () => open.$eval('main', (m) => [m.getAttribute('aria-busy'), getComputedStyle(m, '::before').content !== 'none']);
	check((await strip()).join() === 'false,false', await strip());
	await open.click('.rows tbody tr:not(.gap) th a');
	await open.waitForSelector('main[aria-busy="true"]');
	while (!held.length)
		await new Promise((r) => setTimeout(r, 20));
	check((await strip()).join() === 'true,true', await strip());
	held.forEach((r) => r.continue());
	await open.waitForSelector('.edges tbody tr');
	await open.waitForSelector('main[aria-busy="false"]');
	check((await strip()).join() === 'false,false', await strip());
	await open.close();
});

await test('shares of callers add up to all of the function', async () => {
	const open = await openPage('/runs/shop/before?function=App%5CPart3%5CClass2%3A%3Astep1');
	await open.waitForSelector('.edges tbody tr');
	const shares = await open.$$eval('.edges:first-of-type tbody tr td:first-of-type', (all) => all.map((td) => parseFloat(td.querySelector('span:last-of-type').textContent)));
	const sum = shares.reduce((a, b) => a + b, 0);
	check(shares.length > 3 && Math.abs(sum - 100) < 0.06 * shares.length, sum, shares);
	await drawn(open);
	for (const canvas of await open.$$('.sandwich canvas'))
		check(await canvas.evaluate((c) => new Set(new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer)).size) > 5);
	await open.close();
});

await test('both graphs of a function zoom, and links bring that back', async () => {
	const open = await openPage('/runs/shop/before?function=App%5CPart3%5CClass2%3A%3Astep1');
	await open.waitForSelector('.sandwich canvas');
	await drawn(open);
	const r = await open.$eval('.sandwich section:nth-child(2) .flame', (e) => { const b = e.getBoundingClientRect(); return { x: b.x, y: b.y }; });
	await open.mouse.click(r.x + 20, r.y + 4 + 1.5 * 19);
	await at(open, '#zoom=');
	const up = await open.$eval('.sandwich section:nth-child(1) .flame', (e) => { const b = e.getBoundingClientRect(); return { x: b.x, y: b.bottom }; });
	await open.mouse.click(up.x + 20, up.y - 4 - 1.5 * 19);
	await at(open, 'callers=');
	const link = open.url(), other = await openPage(link.slice(site.length));
	await drawn(other);
	check(other.url() === link, other.url(), link);
	await other.close();
	await open.close();
});

await test('a zoomed graph is reversed in one step, which Back undoes at once', async () => {
	const open = await openPage('/runs/shop/before#show=graph&zoom=%7Bmain%7D;App%5CKernel%3A%3Ahandle');
	await press(open, 'reversed');
	await at(open, 'reverse=1');
	check(!open.url().includes('zoom='), open.url());
	await open.goBack();
	await notAt(open, 'reverse=1');
	check(open.url().includes('zoom='), open.url());
	await open.close();
});

await test('a second click on a box leads to its function', async () => {
	await drawn(page);
	const r = await page.$eval('.flame', (e) => { const b = e.getBoundingClientRect(); return { x: b.left + e.clientWidth / 2, y: b.bottom }; });
	await page.mouse.click(r.x, r.y - 4 - 2.5 * 19);
	await at(page, 'zoom=');
	await page.mouse.click(r.x, r.y - 4 - 2.5 * 19);
	await at(page, 'function=App%5CKernel%3A%3Ahandle');
	await page.keyboard.press('a');
	await notAt(page, 'function=');
	await page.waitForSelector('.work .functions');
});

const sourceRows = (page) => page.$$eval('table.source tbody tr[id]', (all) => all.map((tr) => [Number(tr.id.slice(1)), tr.className, ...[...tr.children].map((c) => c.textContent)]));

await test('next and previous match lead to each match, however narrow, and to no page of a function', async () => {
	const page = await openPage('/runs/shop/places#search=%5Ehit%24&show=graph'), step = async (words) => {
		await page.click(`button[aria-label="${words} match"]`);
		await drawn(page);
		return decodeURIComponent(/zoom=([^&]*)/.exec(page.url())?.[1] || '');
	};
	const marked = () => page.$eval('.flame canvas', (c) => new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer).filter((v) => v === 0xffc92f8b).length);
	await page.waitForFunction(() => document.querySelector('.matched').textContent.includes('matched'));
	check(await page.$eval('.matched', (e) => e.title) === '300 samples of 1 function in 300 places', await page.$eval('.matched', (e) => e.title));
	for (const n of ['000', '001', '002', '003']) {
		check(await step('Next') === `{main};f${n}`, n, page.url());
		check(await marked() > 1000, 'the match has its colour where it is zoomed', await marked());
	}
	check(await step('Previous') === '{main};f002', page.url());
	await page.focus('.flame');
	await page.keyboard.press('Escape');
	await drawn(page);
	check(await step('Previous') === '{main};f001' && await step('Previous') === '{main};f000', 'on from where it was', page.url());
	check(await step('Previous') === '{main};f299', 'before the first one is the last one', page.url());
	await page.focus('#search');
	await page.$eval('#search', (e) => e.select());
	await page.type('#search', 'lone');
	await drawn(page);
	for (let i = 0; i < 3; i++) {
		await page.keyboard.press('Enter');
		await drawn(page);
		check(page.url().includes('zoom=%7Bmain%7D;lone') && !page.url().includes('function='), 'one match, directly below a wide caller', page.url());
	}
	check(page.complaints.length === 0, page.complaints);
	await page.close();
});

await test('next match stops at matches on matches, too', async () => {
	const page = await openPage('/runs/shop/places#search=%5Etwice%24&show=graph'), said = [];
	await page.waitForFunction(() => document.querySelector('.matched').title.includes('2 places'));
	for (let i = 0; i < 3; i++) {
		await page.click('button[aria-label="Next match"]');
		await drawn(page);
		await page.focus('.flame');
		await page.keyboard.press('ArrowDown');
		await drawn(page);
		said.push((await text(page, '.graph .sr')).split(',')[0]);
		await page.keyboard.press('ArrowUp');
	}
	check(said.join() === '{main},twice,{main}', said);
	await page.close();
});

await test('the source of a function stands beside what its lines took', async () => {
	const open = await openPage('/runs/shop/lines?function=total');
	await open.waitForSelector('table.source');
	const rows = await sourceRows(open), took = rows.filter((r) => r[2] || r[3]).map((r) => r.slice(0, 5));
	check(JSON.stringify(took) === '[[5,"hot","20","20","5"],[6,"hot","10","70","6"]]', took);
	check(rows.find((r) => r[0] === 6)[5].endsWith('$sum += price($item); // </code><script>document.title="owned"</script>'), rows[5]);
	check(!rows.some((r) => r[0] > 30), 'only around what ran', rows.length);
	check(!(await open.title()).includes('owned'), 'hostile source is inert');
	check(open.complaints.length === 0, open.complaints);
	await open.close();
});

await test('a line has an address, and the whole file is a click away', async () => {
	const open = await openPage('/runs/shop/lines?function=total');
	await open.waitForSelector('#L6');
	await open.click('#L6 a');
	await at(open, '#L6');
	check(await open.$eval('#L6', (tr) => tr.classList.contains('at')), 'marked');
	const address = new URL(open.url());
	await press(open, 'all lines');
	await at(open, 'lines=all');
	await open.waitForSelector('#L90');
	await open.click('.source-head a');
	await at(open, 'by=file');
	await open.waitForFunction(() => document.querySelectorAll('table.source tr.hot, table.source tr.took').length === 4);
	await open.close();
	const again = await openPage(address.pathname + address.search + address.hash);
	await again.waitForSelector('#L6.at');
	const seen = await again.$eval('#L6', (tr) => {
		const row = tr.getBoundingClientRect(), pane = tr.closest('.code-rows').getBoundingClientRect(), head = tr.closest('table').querySelector('thead th').getBoundingClientRect();
		return row.top >= head.bottom - 1 && row.bottom <= pane.bottom + 1 && pane.bottom <= innerHeight;
	});
	check(seen, 'the link shows its line');
	await again.$eval('.code-rows', (pane) => pane.scrollTop = pane.scrollHeight);
	await drawn(again);
	check(await again.evaluate(() => Math.abs(document.querySelector('table.source thead th').getBoundingClientRect().top - document.querySelector('.code-rows').getBoundingClientRect().top) < 2), 'headings stay');
	await again.close();
});

await test('a comparison has both sides of each line, and a file that is not there says why', async () => {
	const open = await openPage('/?run=shop/lines2&base=shop/lines&function=total');
	await open.waitForSelector('table.source');
	check((await texts(open, 'table.source thead th')).join() === 'self before,self after,total before,total after,line,source', await texts(open, 'table.source thead th'));
	check((await sourceRows(open)).find((r) => r[0] === 5).slice(2, 6).join() === '20,50,20,50', await sourceRows(open));
	await open.close();
	const gone = await openPage('/runs/shop/lines?function=gone');
	await gone.waitForSelector('.source .warning');
	check((await text(gone, '.source .warning')).includes('--source-dir /nowhere or a directory above that'), await text(gone, '.source .warning'));
	check((await sourceRows(gone)).map((r) => r.slice(0, 4).join()).join() === '4,hot,10,10', await sourceRows(gone));
	await gone.close();
});

await test('on a phone the source is in sight, and below each line what it took', async () => {
	for (const [address, line, wanted] of [['/?run=shop/lines2&base=shop/lines&function=total', 5, 'self 20 → 50 total 20 → 50'], ['/?run=shop/lines2&base=shop/lines&function=price', 91, ''],
		['/runs/shop/lines?function=total', 6, 'self 10 total 70']])
		for (const scripts of [true, false]) {
			const open = await openPage(address, { width: 390, height: 844, phone: true, scripts });
			await open.waitForSelector('table.source');
			const [code, seen] = await open.$eval(`#L${line}`, (tr) => {
				const { left, top } = tr.querySelector('.code').getBoundingClientRect();
				const values = [...tr.children].filter((td) => td.dataset.of && td.offsetWidth).map((td) => [td.getBoundingClientRect(), `${td.dataset.of} ${td.textContent || 0}`]);
				return [left, values.every(([r]) => r.left >= 0 && r.right <= innerWidth && r.top > top) && values.map(([, words]) => words).join(' ')];
			});
			check(code < 100 && seen === wanted, address, scripts, code, seen);
			check(await open.$$eval('table.source tr', (all) => all.every((tr) => tr.offsetHeight <= 40)), 'no row is taller than two lines');
			await open.close();
		}
});

await test('without scripts the source is a table too', async () => {
	const plain = await openPage('/runs/shop/lines?function=total#L6', { scripts: false });
	const rows = await sourceRows(plain);
	check(rows.find((r) => r[0] === 6).slice(2, 5).join() === '10,70,6', rows);
	check(await plain.$eval('#L6', (tr) => tr.matches(':target')), 'the address points to it');
	check(await plain.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page is not too wide');
	await plain.close();
});

await test('a class, and only my code, have their source too', async () => {
	const own = await openPage('/runs/shop/lines?by=own&function=total');
	await own.waitForSelector('table.source');
	check((await sourceRows(own)).find((r) => r[0] === 6).slice(2, 4).join() === '10,70', await sourceRows(own));
	await own.close();
	const whole = await openPage('/runs/shop/methods?by=class&function=Cart');
	await whole.waitForSelector('table.source');
	check((await sourceRows(whole)).filter((r) => r[3]).map((r) => [r[0], ...r.slice(2, 4)].join()).join(' ') === '5,20,20 6,10,70 92,60,60', 'all its methods', await sourceRows(whole));
	await whole.close();
	const none = await openPage('/runs/shop/lines?by=package&function=%5Bno%20package%5D');
	await none.waitForSelector('.edges');
	check(!await none.$('.source'), 'packages have none');
	await none.close();
});

await test('a function without lines is shown where it begins', async () => {
	const open = await openPage('/runs/shop/nolines?function=price');
	await open.waitForSelector('table.source');
	check(await open.$eval('#L90', (tr) => {
		const row = tr.getBoundingClientRect(), pane = tr.closest('.code-rows').getBoundingClientRect();
		return row.top >= pane.top && row.bottom <= pane.bottom;
	}), 'its first line is in sight');
	await open.close();
});

// From the root up, the hues of the boxes at this part of the width.
const huesAt = (page, part) => page.$eval('.flame canvas', (c, at) => {
	const { data } = c.getContext('2d').getImageData(Math.floor(c.width * at), 0, 1, c.height), hues = [];
	for (let i = data.length - 4, isIn = false; i >= 0; i -= 4) {
		const [r, g, b] = data.subarray(i, i + 3), most = Math.max(r, g, b), range = most - Math.min(r, g, b), wasIn = isIn;
		isIn = range >= 40;		// not in the root or a gap
		if (isIn && !wasIn)
			hues.push(60 * (most === r ? (g - b) / range : most === g ? 2 + (b - r) / range : 4 + (r - g) / range));
	}
	return hues;
}, part);

await test('what has no line has the source of its file, and its hue', async () => {
	for (const scripts of [true, false]) {
		const open = await openPage(`/runs/shop/somelines?by=line&function=${encodeURIComponent(`${code} [no line]`)}`, { scripts });
		await open.waitForSelector('table.source');
		check((await sourceRows(open)).filter((r) => r[3]).map((r) => [r[0], ...r.slice(2, 4)].join()).join(' ') === '5,20,20 6,10,70 92,60,60', await sourceRows(open));
		check((await texts(open, '.source .warning')).join().includes('these are the known lines of its file'), await texts(open, '.source'));
		await open.close();
	}
	for (const by of ['file', 'line']) {
		const none = await openPage(`/runs/shop/twins?by=${by}&function=%5Bno%20file%5D`);
		await none.waitForSelector('.source .warning');
		check((await text(none, '.source .warning')).includes('no file is known') && !none.complaints.length, await text(none, '.source'), none.complaints);
		await none.close();
	}
	for (const dark of [false, true]) {
		const open = await openPage('/runs/shop/hues?by=line#show=graph', { dark });
		await drawn(open);
		const hues = await huesAt(open, 0.6);
		check(hues.length === 3 && Math.max(...hues) - Math.min(...hues) <= 2, 'three boxes of one file', hues);
		await open.close();
	}
});

await test('the table of a comparison fits a window, and one that cannot scrolls with its headings', async () => {
	for (const width of [1280, 1440, 1920, 1024, 390]) {
		const open = await openPage('/?run=shop/after&base=shop/before#show=table', { width, height: 800, phone: width < 600 }), fits = width >= 1280;
		await wideTable(open, 1);
		const places = (row) => open.$$eval(`.rows ${row} > *`, (all) => all.map((e) => [e.getBoundingClientRect().left, e.getBoundingClientRect().right].map(Math.round).join()));
		for (const end of [false, true]) {
			await open.$eval('.rows', (e, last) => e.scrollLeft = last ? 9999 : 0, end);
			await drawn(open);
			const heads = await places('thead tr:last-child'), row = await places('tbody tr:first-child'), box = await open.$eval('.rows', (e) => ({ inner: e.clientWidth, all: e.scrollWidth }));
			check(heads.length === 7 && heads.join(' ') === row.join(' '), width, heads, row);
			check(fits === (box.all <= box.inner) && (!fits && !end) === (Number(row.at(-1).split(',')[1]) > box.inner), width, box, row);
			check(Number(row[0].split(',')[1]) >= Math.min(200, width * 0.4), 'names have room', width, row);
		}
		await open.close();
	}
});

await test('a function is found by a part of its name, from every view', async () => {
	for (const from of ['/runs/shop/after', '/runs/shop/after#show=calls', '/runs/shop/after?function=App%5CKernel%3A%3Ahandle', '/?run=shop/after&base=shop/before#show=graph', '/?run=shop/cart&run=shop/recursion#show=table']) {
		const open = await openPage(from), name = from.includes('cart') ? 'PDO::query' : 'App\\Part3\\Class2::step4';
		await open.waitForSelector('.edges, .rows, .call-graph, .graph');
		await drawn(open);
		await open.keyboard.press('g');
		await open.type('#find', from.includes('cart') ? 'query' : 'part3 class2 step4');
		await open.waitForFunction((n) => document.querySelector('#found option')?.value.includes(n), {}, name);
		await open.keyboard.press('Enter');
		await at(open, 'function=');
		await open.waitForFunction((n) => document.querySelector('.function-head h2')?.textContent.includes(n), {}, name);
		check(await open.$eval('#find', (e) => e.value) === '', 'the field is empty again');
		check(open.complaints.length === 0, open.complaints);
		await open.close();
	}
});

await test('groups and values are chosen, and stand in the address', async () => {
	const open = await openPage('/runs/shop/cart');
	await open.select('select[aria-label="Value"]', 'memory_bytes');
	await at(open, 'column=memory_bytes');
	await open.waitForFunction(() => document.querySelector('.sum').textContent.startsWith('50.0 KiB'));
	await open.select('select[aria-label="Group by"]', 'class');
	await at(open, 'by=class');
	await open.waitForFunction(() => [...document.querySelectorAll('.rows tbody th a')].some((a) => a.textContent === 'PDO'));
	check(open.complaints.length === 0, open.complaints);
	await open.close();
});

await test('the wide table has every metric, and sorts by each', async () => {
	const open = await openPage('/runs/shop/cart#show=table');
	await wideTable(open);
	const heads = await texts(open, '.rows thead tr:last-child th');
	check(heads.length === 10, heads);
	check((await texts(open, '.groups th')).join() === 'wall time,calls,CPU time,off-CPU time,memory', await texts(open, '.groups th'));
	for (let i = 2; i <= heads.length; i++) {
		await open.click(`.rows thead tr:last-child th:nth-child(${i}) button`);
		await drawn(open);
		const shares = await open.$$eval('.rows tbody tr', (all, n) => all.map((tr) => parseFloat(tr.cells[n - 1].querySelector('span:last-of-type').textContent)), i);
		const sorted = [...shares].sort((a, b) => b - a), direction = await open.$eval(`.rows thead tr:last-child th:nth-child(${i})`, (e) => e.ariaSort);
		check(shares.join() === (direction === 'descending' ? sorted : sorted.reverse()).join(), heads[i - 1], direction, shares);
	}
	await open.close();
});

await test('a comparison shows what changed, more in one colour and less in the other', async () => {
	const open = await openPage('/?run=shop/after&base=shop/before');
	await drawn(open);
	check((await text(open, '.about h2')) === 'run shop/after compared with run shop/before');
	const changes = await texts(open, '.rows tbody tr:not(.gap) td:first-child');
	check(changes.some((c) => /^\+[\d,]+$/.test(c)) && changes.some((c) => /^-.*/.test(c)), changes);
	check(await colors(open) > 20);
	const choices = () => open.$$eval('.views label, .views button', (all) => all.map((e) => e.firstChild.textContent.trim()));
	for (const [pane, isThere] of [['both', true], ['table', false], ['flame graph', true], ['call graph', false], ['both', true]]) {
		await open.evaluate((p) => [...document.querySelectorAll('.panes button')].find((b) => b.textContent.endsWith(p)).click(), pane);
		await open.waitForFunction((on) => !!document.querySelector('select[aria-label="Width"]') === on, {}, isThere);
		check((await choices()).includes('self') === isThere, 'what widths and colours mean, where some are drawn', pane, await choices());
	}
	await open.close();
});

await test('an average names its runs', async () => {
	const open = await openPage('/?run=shop/cart&run=shop/recursion&weights=3,1');
	const [, calls, wall] = /^2 runs, averagedrunshop\/cart, weight 3 of 4runshop\/recursion, weight 1 of 4calls([\d,.]+)wall time([\d.]+ ms)/.exec(await text(open, '.about')) || [];
	check(calls && (await text(open, '.functions .sum')).startsWith(`${wall} `), await text(open, '.about'), await text(open, '.functions .sum'));
	check(await open.$('.about a[href="/runs/shop/recursion"]'));
	await open.close();
	const equal = await openPage('/?run=shop/cart&run=shop/recursion&column=calls');
	const [, count] = /^2 runs, averagedrunshop\/cartrunshop\/recursioncalls([\d,.]+)wall/.exec(await text(equal, '.about')) || [];
	check(count && (await text(equal, '.functions .sum')).startsWith(`${count} calls · `), await text(equal, '.about'), await text(equal, '.functions .sum'));
	await equal.close();
});

// --- The call graph ---

await test('the call graph opens readable on the critical path, zooms, moves, and leads to functions', async () => {
	const open = await openPage('/runs/shop/before#show=calls');
	const svg = await open.waitForSelector('.call-graph svg .node');
	check(svg);
	const box = () => open.$eval('.call-graph svg', (e) => e.getAttribute('viewBox').split(' ').map(Number));
	const first = await box(), size = await open.$eval('.node.critical text', (e) => e.getBoundingClientRect().height);
	const inside = await open.$eval('.node.critical', (e) => { const b = e.getBoundingClientRect(); return b.top >= 0 && b.bottom <= innerHeight && b.left >= 0 && b.right <= innerWidth; });
	check(size >= 7 && inside, 'the first of the path', size, inside);
	await press(open, '+');
	check((await box())[2] < first[2], await box());
	await open.focus('.call-graph');
	await open.keyboard.down('Shift');
	await open.keyboard.press('ArrowRight');
	await open.keyboard.up('Shift');
	check((await box())[0] > first[0], await box());
	await open.keyboard.press('0');
	const nodes = (await open.$$('.call-graph .node')).length;
	await open.$eval('.threshold input', (e) => { e.value = '7'; e.dispatchEvent(new Event('change', { bubbles: true })); });
	await at(open, 'threshold=10');
	await open.waitForFunction((n) => document.querySelectorAll('.call-graph .node').length < n, {}, nodes);
	const titles = await open.$$eval('.call-graph .node a', (all) => all.map((e) => e.getAttribute('xlink:title').split('\n')[0]));
	check(titles.some((title) => title.startsWith('App\\')) && !titles.some((title) => title.includes('\ue05c')), titles);
	await open.$$eval('.call-graph .node', (all) => all.find((e) => e.querySelector('a').getAttribute('xlink:title').startsWith('App\\')).focus());
	await open.keyboard.press('Enter');
	await at(open, 'function=App');
	check(open.complaints.length === 0, open.complaints);
	await open.close();
});

await test('the call graph is one stop of the Tab key, and arrow keys walk its functions', async () => {
	const open = await openPage('/runs/shop/before#show=calls');
	await open.waitForSelector('.call-graph svg .node');
	check(await open.$$eval('.call-graph [tabindex="0"]', (all) => all.length) === 0);
	const now = () => open.evaluate(() => {
		const e = document.activeElement, r = e.getBoundingClientRect(), all = document.querySelector('.call-graph').getBoundingClientRect();
		return { name: e.querySelector('a')?.getAttribute('xlink:title').split('\n')[0], top: r.top, left: r.left,
			isIn: r.top >= all.top && r.bottom <= all.bottom && r.left >= all.left && r.right <= all.right };
	});
	await open.focus('.call-graph');
	await open.keyboard.press('ArrowDown');
	const first = await now();
	check(first.name === '{main}' && first.isIn, first);
	await open.keyboard.press('ArrowDown');
	const second = await now();
	check(second.name === 'App\\Kernel::handle' && second.isIn, second);
	await open.keyboard.press('ArrowUp');
	check((await now()).name === first.name, await now());
	const seen = new Set(), all = (await open.$$('.call-graph .node')).length;
	for (let i = 0; i < all; i++) {
		const { name, isIn } = await now();
		check(name && isIn, 'the box with the focus is in sight', await now());
		seen.add(name);
		await open.keyboard.press('ArrowRight');
	}
	check(all > 9 && seen.size === all, 'all are reached', seen.size, all);
	const { name } = await now();
	await open.keyboard.press('Enter');
	await at(open, 'function=');
	check(new URL(open.url()).searchParams.get('function') === name, open.url(), name);
	await open.goBack();
	await open.waitForFunction((name) => document.activeElement.querySelector('a')?.getAttribute('xlink:title')?.split('\n')[0] === name, { timeout: 5000 }, name);
	check(open.complaints.length === 0, open.complaints);
	await open.close();
});

await test('the call graph of many functions says how many it shows, and has all of the critical path', async () => {
	const open = await openPage('/runs/shop/crowd#show=calls');
	await open.waitForSelector('.calls .note');
	const note = await text(open, '.calls .note'), [, shown] = /(\d+) of the 243 functions with at least 0\.5%.*; a higher threshold chooses fewer$/.exec(note) || [];
	check(Number(shown) <= 200 && (await open.$$('.call-graph .node')).length === Number(shown), note);
	const path = await open.$$eval('.node.critical a', (all) => all.map((e) => e.getAttribute('xlink:title')).sort());
	check(path.join() === 'zz1,zz2,{main}', path);
	const { headers } = await fetch(`${site}/api/v1/callgraph?run=shop/crowd`);
	check(headers.get('Strobe-Warning')?.includes(' of the 243 functions with at least 0.5%'), [...headers]);
	await open.$eval('.threshold input', (e) => { e.value = '4'; e.dispatchEvent(new Event('change', { bubbles: true })); });
	await open.waitForFunction(() => !document.querySelector('.calls .note') && document.querySelectorAll('.call-graph .node').length === 2);
	check(open.complaints.length === 0, open.complaints);
	await open.close();
});

await test('the call graph says what it lacks, and why it is empty', async () => {
	const open = await newPage(browser), words = 'The layout took longer than 1.5 seconds, so the picture shows 40 of 90 functions (≤ 50)';
	await open.setRequestInterception(true);
	open.on('request', async (r) => {
		if (!r.url().includes('/api/v1/callgraph'))
			return r.continue();
		const svg = await (await fetch(r.url())).text();
		r.respond({ contentType: 'image/svg+xml', headers: { 'Strobe-Warning': words }, body: r.url().includes('threshold=20') ? svg.replace(/class="node/g, 'class="none') : svg });
	});
	await open.goto(`${site}/runs/shop/before#show=calls`);
	await open.waitForSelector('.calls .note');
	check(await text(open, '.calls .note') === words, await text(open, '.calls .note'));
	await open.$eval('.threshold input', (e) => { e.value = '8'; e.dispatchEvent(new Event('change', { bubbles: true })); });
	await open.waitForFunction(() => document.querySelector('.calls .note')?.textContent.includes('at least 20% of all'));
	await open.close();
});

await test('the call graph of a comparison draws both sides, in colours of the change', async () => {
	for (const dark of [false, true]) {
		const open = await openPage('/?run=shop/cart&base=shop/recursion&threshold=0#show=calls', { dark, policy: false });
		await open.waitForSelector('.call-graph svg .node');
		const nodes = await open.$$eval('.call-graph .node', (all) => all.map((n) => ({
			kind: ['grew', 'fell', 'same'].find((k) => n.classList.contains(k)), dashed: !!n.querySelector('[stroke-dasharray]'),
			words: [...n.querySelectorAll('text')].map((t) => t.textContent).join(' '), label: n.getAttribute('aria-label') })));
		for (const word of ['gone', 'new'])
			check(nodes.some((n) => n.words.includes(`(${word})`)), word, nodes);
		check(nodes.every((n) => n.dashed === /total [^()]*\(gone\)/.test(n.words)), nodes);
		const color = (k) => open.$$eval(`.call-graph .edge.${k} path`, (all) => all.map((e) => getComputedStyle(e).stroke.match(/\d+/g).map(Number)));
		check((await color('grew')).every(([r, , b]) => r > b) && (await color('fell')).every(([r, , b]) => r < b), 'arrows', await color('grew'), await color('fell'));
		check((await color('grew')).length > 0 && (await color('fell')).length > 0, 'there are both');
		check(await text(open, '.legend') === 'gone', 'a legend beside that of the colours');
		await accessible(open, 'the call graph of a comparison');
		await open.$eval('.call-graph .node.fell', (e) => e.focus());
		await open.keyboard.press('Enter');
		await at(open, 'function=');
		check(open.complaints.length === 0, open.complaints);
		await open.close();
	}
	const plain = await openPage('/runs/shop/cart#show=calls');
	await plain.waitForSelector('.call-graph svg .node');
	check(!await plain.$('.legend') && !await plain.$('.call-graph .change'), 'a run has no difference');
	await plain.close();
});

await test('the part of the call graph that is seen stands in the address; a link opens it again', async () => {
	const box = (page) => page.$eval('.call-graph svg', (e) => e.getAttribute('viewBox').split(' ').map((v) => +(+v).toFixed(2)).join());
	const open = await openPage('/runs/shop/before#show=calls');
	await open.waitForSelector('.call-graph svg .node');
	await open.keyboard.press('+');		// without the focus
	await at(open, 'at=');
	await open.focus('.call-graph');
	await open.keyboard.down('Shift');
	await open.keyboard.press('ArrowDown');
	await open.keyboard.up('Shift');
	await at(open, 'at=');
	await open.waitForFunction(() => location.hash.includes(`at=${document.querySelector('.call-graph svg').getAttribute('viewBox').split(' ').map((v) => +(+v).toFixed(2)).join()}`));
	const seen = await box(open), other = await openPage((await open.url()).replace(/^https?:..[^/]*/, ''));
	await other.waitForSelector('.call-graph svg .node');
	check(await box(other) === seen, await box(other), seen);
	await other.focus('.call-graph');
	await other.keyboard.press('0');
	await at(other, 'at=all');
	await other.keyboard.press('-');		// from the shape of the graph, not that of the window
	await at(other, 'at=-');
	const whole = await box(other);
	await other.reload();
	await other.waitForSelector('.call-graph svg .node');
	check(await box(other) === whole, await box(other), whole);
	await press(other, 'critical path');
	await other.waitForFunction(() => !location.hash.includes('at='));
	for (const page of [open, other]) {
		check(page.complaints.length === 0, page.complaints);
		await page.close();
	}
});

await test('on paper the call graph is the part in view, as wide as the sheet, and says so', async () => {
	const open = await openPage('/?run=shop/after&base=shop/before#show=calls', { dark: true });
	await open.waitForSelector('.calls[aria-busy="false"] .node');
	const seen = () => open.$eval('.call-graph svg', (e) => {
		const { width, height } = e.getBoundingClientRect(), b = e.viewBox.baseVal, host = e.parentNode.getBoundingClientRect();
		return { isWhole: Math.abs(width / height - b.width / b.height) < 0.02 && Math.abs(host.height - height) < 1, wide: width, page: innerWidth };
	});
	await press(open, '+');
	await press(open, '+');
	const part = await printed(open), words = 'Only the part in view is printed';
	check(part.text.includes(words) && part.muted === '#66625b', part.text, part.muted);
	await open.setViewport({ width: 794, height: 1100 });
	await open.emulateMediaType('print');
	const { isWhole, wide, page: sheet } = await seen();
	check(isWhole && wide > sheet - 30, 'nothing of it is cut', isWhole, wide, sheet);
	check(await open.$eval('.facts select', (e) => getComputedStyle(e).appearance) === 'none', 'the scale is a word');
	await open.emulateMediaType('screen');
	await open.setViewport({ width: 1440, height: 900 });
	await press(open, 'all of it');
	check(!(await printed(open)).text.includes(words));
	check(open.complaints.length === 0, open.complaints);
	await open.close();
});

await test('a box of the call graph has its lines for a name, also where the edge hides some of them', async () => {
	const open = await openPage('/runs/shop/edge#show=calls', { policy: false });
	await open.waitForSelector('.call-graph svg .node.critical');
	await drawn(open);
	const between = await open.evaluate(() => {		// the ends of "self 10 (66.7%)" and of "total 10 (66.7%)", which is longer
		const box = [...document.querySelectorAll('.node')].find((n) => n.textContent.includes('Namespace'));
		const [self, total] = [...box.querySelectorAll('text')].slice(-2).map((t) => t.getBoundingClientRect());
		const p = new DOMPoint((self.right + total.right) / 2, self.top - 150)
			.matrixTransform(document.querySelector('.call-graph svg').getScreenCTM().inverse());
		return [p.x, p.y, 400].map(Math.round).join();
	});
	const part = await openPage(`/runs/shop/edge#show=calls&at=${between}`, { policy: false });
	const box = await part.waitForSelector('.call-graph svg .node.critical');
	const { name, role } = await part.accessibility.snapshot({ root: box });
	check(role === 'link' && /^\{main\} self 0 \(0\.00%\) total 15 \(100%\)$/.test(name), role, name);
	const hidden = await part.evaluate(() => {
		const edge = document.querySelector('.call-graph').getBoundingClientRect().left;
		return [...[...document.querySelectorAll('.node')].find((n) => n.textContent.includes('Namespace')).querySelectorAll('text')]
			.map((t) => t.getBoundingClientRect().right < edge).join();
	});
	check(hidden === 'false,false,true,false', hidden);
	await accessible(part, between);
	for (const page of [open, part]) {
		check(page.complaints.length === 0, page.complaints);
		await page.close();
	}
});

await test('boxes of the call graph are dark in the dark, with light words', async () => {
	const open = await openPage('/runs/shop/before#show=calls', { dark: true, policy: false });
	await open.waitForSelector('.call-graph svg .node');
	await drawn(open);
	const r = await open.$eval('.node.critical', (e) => { const b = e.getBoundingClientRect(); return { x: b.x, y: b.y, width: b.width, height: b.height }; });
	const light = await open.evaluate(async (png) => {
		const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob()), canvas = new OffscreenCanvas(image.width, image.height);
		const g = canvas.getContext('2d');
		g.drawImage(image, 0, 0);
		const { data } = g.getImageData(0, 0, image.width, image.height), all = [];
		for (let i = 0; i < data.length; i += 4)
			all.push(data[i] + data[i + 1] + data[i + 2]);
		return [all.filter((v) => v < 300).length / all.length, Math.max(...all)];
	}, await open.screenshot({ clip: r, encoding: 'base64' })).catch((why) => String(why));
	check(light[0] > 0.6 && light[1] > 450, light);
	await open.close();
});

await test('words in boxes of call graphs can be read, in the light and in the dark', async () => {
	for (const dark of [false, true])
		for (const address of ['/?run=shop/after&base=shop/before&scale=none&threshold=1', '/?run=shop/cart&base=shop/recursion&threshold=0', '/?run=shop/recursion&base=shop/cart&threshold=0', '/runs/shop/before?', '/runs/shop/cart?',
			'/callgraph.svg?run=shop/after&base=shop/before&scale=none&threshold=20', '/callgraph.svg?run=shop/cart']) {
			const isPicture = address.startsWith('/callgraph'), open = isPicture ? await newPage(browser, { dark }) : await openPage(`${address}#show=calls`, { dark, policy: false });
			if (isPicture)
				await open.goto(site + address);
			await open.waitForSelector('.node');
			const all = await boxContrasts(open), bad = all.filter(({ contrast }) => contrast < 4.5);
			check(all.length > 1 && !bad.length, address, dark, all.length, bad);
			if (process.env.SHOTS)
				await open.screenshot({ path: join(process.env.SHOTS, `${address.replace(/\W+/g, '-')}-${dark}.png`) });
			await open.close();
		}
});

// --- Names, keys, times, widths ---

await test('hostile names stay what they are in every view', async () => {
	const name = HOSTILE[0];
	for (const address of ['/runs/shop/hostile', '/runs/shop/hostile#show=table', '/runs/shop/hostile#show=calls',
		`/runs/shop/hostile?function=${encodeURIComponent(name)}`, `/runs/shop/hostile?function=${encodeURIComponent(HOSTILE[1])}#show=%3Cscript%3E`]) {
		const open = await openPage(address);
		if (address.includes('calls'))
			await open.waitForSelector('.call-graph svg .node');
		if (address.includes('function='))
			await open.waitForSelector('.edges tbody tr');
		await drawn(open);
		check(!(await open.title()).includes('owned') || (await open.title()).includes('onerror') || (await open.title()).includes('script'), await open.title());
		check(await open.$$eval('#app img, #app script, #app svg script', (all) => all.length) === 0, address);
		check(open.complaints.length === 0, address, open.complaints);
		await open.close();
	}
	const plain = await openPage('/runs/shop/hostile', { scripts: false });
	check((await plain.content()).includes('&lt;img src=x onerror'));
	await plain.close();
});

await test('without scripts a run has its facts, picture, every metric and its functions', async () => {
	const open = await openPage('/runs/shop/cart?sort=total', { scripts: false });
	const html = await open.content();
	check(html.includes('Cart::add') && html.includes('off-CPU') && html.includes('-64.0 KiB') && await open.$('img.picture'));
	await Promise.all([open.waitForNavigation(), open.$$eval('.functions tbody a', (all) => all.find((a) => a.textContent === 'PDO::query').click())]);
	const page = await open.content();
	check(open.url().includes('function=PDO') && page.includes('Callers') && page.includes('82.5') && page.includes('Cart::add'), page.slice(0, 2000));
	await open.close();
});

await test('without scripts a comparison has the totals, a link to each side, and is sorted as asked', async () => {
	const open = await openPage('/?run=shop/after&base=shop/before&sort=name', { scripts: false });
	const said = await text(open, '.choices');
	check(/Scaled automatically, as measured, in shares of the total/.test(said) && await open.$('.choices a[href*="scale=total"]'), said);
	await open.goto(`${site}/?run=shop/after&base=shop/before&scale=total`);
	check(/In the table the values before are scaled: × \d/.test(await text(open, 'main')) && (await text(open, '.choices strong:last-of-type')), await text(open, 'main'));
	await open.goto(`${site}/?run=shop/after&base=shop/before&sort=name`);
	const facts = await open.$eval('section[aria-label="Run"]', (s) => s.textContent);
	check(/samples: [\d,]+ before, [\d,]+ after, \+[\d,]+ \(\+[\d.]+%\)/.test(facts), facts);
	const links = await open.$$eval('section[aria-label="Run"] a', (all) => all.map((a) => a.getAttribute('href')));
	check(links.join() === '/runs/shop/after,/runs/shop/before', links);
	const names = await open.$$eval('.functions tbody th', (all) => all.map((th) => th.textContent));
	check(names.length > 50 && names.join() === [...names].sort((a, b) => a < b ? -1 : 1).join(), names.slice(0, 9));
	await open.close();
});

await test('the scale of a comparison is chosen on the page, and is in the address', async () => {
	const open = await openPage('/?run=shop/longer&base=shop/long'), select = 'select[aria-label="Scale of the values before"]';
	await open.select(select, 'none');
	await open.waitForFunction(() => location.search.includes('scale=none'));
	await ready(open);
	check(!(await open.$eval('.about', (e) => e.textContent)).includes('×'));
	await open.goBack();
	await open.waitForFunction(() => !location.search.includes('scale='));
	check(await open.$eval(select, (e) => e.value) === '');
	await open.close();
});

await test('a scale that cannot be computed leaves the list of scales, and names the parameter', async () => {
	const open = await openPage('/?run=shop/longer&base=shop/long&scale=requests'), select = 'select[aria-label="Scale of the values before"]';
	const why = await text(open, 'main .why');
	check(why.startsWith('The number of requests is unknown') && why.endsWith('try scale=total'), why);
	await open.select(select, 'total');
	await open.waitForFunction(() => location.search.includes('scale=total') && document.querySelector('.flame canvas'));
	await open.close();
});

await test('without scripts an exact value that did not change is not called chance', async () => {
	const open = await openPage('/?run=shop/cart&base=shop/cart&column=memory_bytes', { scripts: false });
	const cells = await texts(open, '.functions tbody td');
	check(cells.includes('0 B') && !cells.some((c) => c.includes('?')), cells.slice(0, 12));
	check(!(await text(open, 'main')).includes('within the noise'));
	await open.close();
});

await test('only my code is counted as functions, and a page by class is reported as classes', async () => {
	const open = await openPage('/runs/shop/cart?by=own');
	check(/ functions?$/.test(await text(open, '.functions .sum')), await text(open, '.functions .sum'));
	await open.close();
	const table = strobe('report', `${site}/runs/shop/cart?by=class`);
	check(/\bclass\b/.test(table) && !/\bfunctions?\b/.test(table), table);
});

await test('the call graph is headed by the total, with the name that its column has on pages', async () => {
	const picture = await (await fetch(`${site}/callgraph.svg?run=shop/loops&column=memory_bytes`)).text(), { columns, column } = await api('/api/v1/table?run=shop/loops&column=memory_bytes');
	check(columns[column].total === 1024 && columns[column].whole > 1024, columns);
	check(/>memory: 1(\.0+)? KiB;/.test(picture), picture.match(/>[^<]*memory[^<]*</)?.[0]);
});

await test('on a phone the flame graph is as high as its box from the first picture on', async () => {
	for (let i = 0; i < 8; i++) {
		const open = await openPage('/runs/shop/deep', { width: 390, height: 844, phone: true });
		await open.waitForSelector('.flame canvas');
		await drawn(open);
		const { canvas, box, rows } = await open.$eval('.flame', (e) => ({ canvas: e.querySelector('canvas').offsetHeight, box: e.clientHeight, rows: e.scrollHeight }));
		check(canvas === box && box > 200 && rows > box + 100, `load ${i}: a canvas of ${canvas} px in a box of ${box}, ${rows} px of rows`);
		await open.close();
	}
});

await test('without scripts the picture is as wide as the window of a phone or tablet has room for', async () => {
	for (const [window, drawn] of [[390, 360], [800, 640], [1440, 1200]]) {
		const open = await openPage('/?run=shop/longer&base=shop/long', { scripts: false, width: window, height: 844 });
		const picture = await open.$eval('img.picture', async (img) => {
			await img.decode();
			return { natural: img.naturalWidth, shown: img.getBoundingClientRect().right };
		});
		check(picture.natural === drawn && picture.shown <= window, picture);
		check(await open.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
		await open.close();
	}
});

await test('without scripts no row is taller than two lines on a phone, and a method stays when its namespace is cut', async () => {
	for (const address of ['/runs/shop/long', '/?run=shop/longer&base=shop/long', '/runs/shop/long?function={main}']) {
		const open = await openPage(address, { scripts: false, width: 390, height: 844, phone: true });
		const rows = await open.$$eval('.plain tbody tr', (all) => all.map((tr) => tr.getBoundingClientRect().height));
		check(rows.length >= 3 && Math.max(...rows) <= 45, `${address}: ${rows}`);
		check(await open.evaluate(() => document.documentElement.scrollWidth) === 390, `${address}: the page is as wide as the phone`);
		const method = await open.$$eval('.plain tbody a span:last-child', (all) => {
			const span = all.find((s) => s.textContent === '::aMethod' && s.previousSibling.textContent === 'Ab'), cell = span.closest('th').getBoundingClientRect();
			return [span, span.previousSibling].every((s) => s.scrollWidth <= s.clientWidth + 1) && span.getBoundingClientRect().right <= cell.right && cell.left < 30;
		});
		check(method, `${address}: the method is whole and in sight`);
		await open.close();
	}
});

await test('names leave room for the numbers beside them, however long they are', async () => {
	for (const [width, most] of [[390, 200], [1440, 1200]]) {
		const open = await openPage('/runs/shop/long#show=table', { width, height: 844, phone: width < 900 });
		await open.waitForSelector('.rows tbody th');
		const [name, number] = await open.$eval('.rows tbody tr', (tr) => [tr.querySelector('th').getBoundingClientRect().right, tr.querySelector('td').getBoundingClientRect().right]);
		check(name <= most && number <= width, `${width}: the name ends at ${name}, the first number at ${number}`);
		await open.close();
	}
});

await test('keep and remove take room on a phone once there is something to filter by', async () => {
	const open = await openPage('/?run=shop/after&base=shop/before', { width: 390, height: 844, phone: true }), high = () => open.$eval('[aria-label="Filter stacks"]', (e) => e.offsetHeight);
	await drawn(open);
	check(await high() === 0, await high());
	await open.type('#search', 'Part3');
	await open.waitForFunction(() => document.querySelector('[aria-label="Filter stacks"]').offsetHeight > 20);
	await open.close();
});

await test('callees of a comparison have their methods whole on a phone, in rows of at most two lines', async () => {
	const open = await openPage('/?run=shop/edge&base=shop/edge&function={main}', { width: 390, height: 844, phone: true });
	await open.waitForSelector('section[aria-label="Callees"] tbody .function-link');
	const rows = await open.$$eval('.edges tbody tr', (all) => all.map((tr) => tr.getBoundingClientRect().height));
	check(rows.length > 2 && Math.max(...rows) <= 50, rows);
	const method = await open.$$eval('section[aria-label="Callees"] .function-link span:last-child', (all) => {
		const span = all.find((s) => s.textContent === '::aMethodWithAVeryLongNameAtTheEnd');
		return [span.scrollWidth - span.clientWidth, span.getBoundingClientRect().right];
	});
	check(method[0] <= 1 && method[1] <= 390, 'the method is whole and in sight', method);
	const wide = await open.$$eval('.edges .rows', (all) => all.map((e) => e.scrollWidth - e.clientWidth));
	check(wide.every((v) => v <= 0), 'nothing is off to the side', wide);
	await open.close();
});

await test('functions are found by any part of their names, in any script, and by much the same', async () => {
	const open = await openPage('/runs/shop/names#show=table');
	await open.waitForSelector('.rows tbody th');
	for (const [typed, found] of [['сумма', 'Прайс\\Корзина::сумма'], ['計算', '計算'], ['::сум', 'Прайс\\Корзина::сумма'], ['a->b', 'a->b'], ['-prices', ''], ['proces', 'prices'], ['PRICES', 'prices']]) {
		await open.$eval('.functions .narrow', (i, v) => {
			i.value = v;
			i.dispatchEvent(new Event('input', { bubbles: true }));
		}, typed);
		await drawn(open);
		const names = await open.$$eval('.rows tbody .function-link', (all) => all.map((a) => a.textContent).join());
		check(found ? names === found : !names.includes('Корзина'), `${typed}: ${names}`);
	}
	await open.close();
});

await test('the calls that a function makes are shares of all that it makes', async () => {
	const rows = (open) => open.$$eval('section[aria-label="Callees"] tbody tr', (all) => all.map((tr) => tr.textContent).filter((t) => !t.includes('itself')));
	for (const scripts of [true, false]) {
		const open = await openPage('/runs/shop/loops?function=total', { scripts });
		await open.waitForSelector('section[aria-label="Callees"] tbody tr');
		const all = (await rows(open)).join(' ');
		check(/75\.0\s?%/.test(all) && /25\.0\s?%/.test(all) && !/\d{3}\.\d\s?%/.test(all.replaceAll('100.0', '')), `${scripts}: ${all}`);
		await open.close();
	}
	const both = await openPage('/?run=shop/loops&base=shop/loops&column=calls&function=total');
	await both.waitForSelector('section[aria-label="Callees"] thead');
	const shares = (await rows(both)).join(' ');
	check(/75\.0\s?%/.test(shares) && /25\.0\s?%/.test(shares), `of a comparison: ${shares}`);
	await both.close();
});

await test('memory that was given back: totals are sums, and the call graph has the functions that did', async () => {
	const open = await openPage('/runs/shop/loops?column=memory_bytes');
	check((await open.$eval('.about', (e) => e.textContent)).includes('memory1.00 KiB'), await open.$eval('.about', (e) => e.textContent));
	await open.waitForFunction(() => document.querySelector('.functions .sum').textContent.startsWith('1.00 KiB'));
	await open.goto(`${site}/runs/shop/loops?column=memory_bytes#show=calls`);
	await open.reload();
	await open.waitForSelector('.call-graph .node');
	const nodes = await open.$$eval('.call-graph .node', (all) => all.map((n) => n.textContent.replace(/\s+/g, ' ')).join(' | '));
	check(/ free self -8\.00 KiB \(-\d+\.\d%\)/.test(nodes), nodes);
	await open.close();
	const both = await openPage('/?run=shop/loops&base=shop/loops&column=memory_bytes');
	check((await both.$eval('.about', (e) => e.textContent)).includes('1.00 KiB → 1.00 KiB'), await both.$eval('.about', (e) => e.textContent));
	await both.close();
});

await test('the table opens sorted as the address says', async () => {
	for (const [sort, kind] of [['total', 'descending'], ['name', 'ascending']]) {
		const open = await openPage(`/runs/shop/cart?sort=${sort}`);
		const how = await open.$eval(sort === 'name' ? '.functions th.name' : '.functions th.total', (th) => th.getAttribute('aria-sort'));
		check(how === kind, `${sort}: ${how}`);
		await open.close();
	}
});

// The focused element, as a person would name it.
const focused = (open) => open.evaluate(() => {
	const e = document.activeElement;
	return e.closest('.rows tbody, .code-rows tbody') ? `row ${e.closest('tr').rowIndex} ${e.textContent || 'mark'}` : e.closest('thead') ? `heading ${e.textContent}` :
		e.getAttribute('role') === 'region' ? e.ariaLabel.replace(/:.*/, '') : e.ariaLabel || e.textContent || e.tagName;
});

const pressed = async (open, ...keys) => {
	for (const key of keys)
		await open.keyboard.press(key);
	await drawn(open);
	return focused(open);
};

await test('a comparison is scaled by requests only where they are known, and says so elsewhere', async () => {
	for (const [sides, wanted] of [['run=shop/after&base=shop/before', ',total,none'], ['run=shop/again&base=shop/cart', ',total,none,rate,requests']]) {
		const open = await openPage(`/?${sides.replace('again', 'cart')}`), offered = await open.$$eval('select[aria-label^="Scale"] option', (all) => all.map((o) => o.value).join());
		check(offered === wanted, sides, offered);
		await open.close();
	}
	const open = await openPage('/?run=shop/after&base=shop/before&scale=requests');
	check((await text(open, '.empty .why')).startsWith('The number of requests is unknown'), await text(open, '.empty'));
	check((await open.$$eval('select option', (all) => all.map((o) => o.value).join())).endsWith(',total,none,requests'));
	await open.select('select[aria-label^="Scale"]', 'total');
	await open.waitForSelector('.about h2');
	await open.close();
});

const SETUP_A = 'function=setup&function_file=%2Fsrv%2Fa.php';

await test('functions of one name in several files have pages of their own, and the page of all says so', async () => {
	const one = await api(`/api/v1/function?run=shop/twins&${SETUP_A}`), all = await api('/api/v1/function?run=shop/twins&function=setup');
	check(one.function.total[0] === 20 && one.function.places === 1 && all.function.total[0] === 100 && all.function.places === 2, one, all);
	check(one.function.files.join() === '/srv/a.php,/srv/b.php' && all.function.files.length === 2, one.function.files);
	const none = await (await fetch(`${site}/api/v1/function?run=shop/twins&function=setup&function_file=x`)).json();
	check(none.error.includes("has 'setup' in 2 other files, but not in 'x'"), none);
	for (const scripts of [true, false]) {
		const open = await openPage('/runs/shop/twins', { scripts }), links = await open.$$eval('.functions a.function-link', (list) => list.map((a) => a.getAttribute('href').replace(/^.*\?/, '')));
		check(links.includes(SETUP_A) && links.includes(SETUP_A.replace('a.php', 'b.php')) && links.includes('function=only'), scripts, links);
		await open.goto(`${site}/runs/shop/twins?${SETUP_A}`);
		await open.waitForSelector('.note a, section p a[href$="b.php"]');
		check((await text(open, 'main')).includes('2 functions of different files have this name; these are the numbers of one'), await text(open, 'main'));
		check(/usleep/.test(await text(open, 'section[aria-label="Callees"]')) && !/only/.test(await text(open, 'section[aria-label="Callees"]')), scripts);
		await open.goto(`${site}/runs/shop/twins?function=setup`);
		await open.waitForFunction(() => document.querySelector('main').textContent.includes('these are the numbers of all'));
		await open.close();
	}
	const open = await openPage('/runs/shop/twins');
	await (await open.waitForSelector('.functions a[href$="b.php"]')).evaluate((a) => a.click());
	await at(open, 'function_file=%2Fsrv%2Fb.php');
	await open.waitForSelector('.note a');
	const boxes = (n) => open.waitForFunction((words) => document.querySelector('[aria-label^="Callees,"]')?.ariaLabel.startsWith(words), {}, `Callees, ${n} boxes`);
	await boxes(1);
	await open.evaluate(() => [...document.querySelectorAll('.note a')].find((a) => a.textContent === 'all of them').click());
	await notAt(open, 'function_file');
	await boxes(2);
	await open.close();
	const graph = await openPage('/runs/shop/twins#show=calls');
	await graph.waitForSelector('.call-graph svg .node');
	await graph.$$eval('.call-graph .node', (all) => all.find((e) => e.querySelector('a').getAttribute('xlink:title').includes('/srv/b.php')).focus());
	await graph.keyboard.press('Enter');
	await at(graph, 'function_file=%2Fsrv%2Fb.php');
	await graph.close();
	strobe('flamegraph', '-q', files.twins, '-o', join(folder, 'twins.html'));
	const file = await newPage(browser);
	await file.goto(`file://${join(folder, 'twins.html')}#${SETUP_A}`);
	await file.waitForFunction(() => document.querySelector('.note')?.textContent.includes('of one'));
	check(!/only/.test(await text(file, 'section[aria-label="Callees"]')));
	await file.close();
});

await test('a function that is not of your own code is said to be that, with a way to it', async () => {
	const address = '/runs/shop/twins?function=usleep&by=own';
	check((await fetch(site + address)).status === 200 && (await fetch(`${site}/runs/shop/twins?function=nothing`)).status === 404);
	for (const scripts of [true, false]) {
		const open = await openPage(address, { scripts });
		await open.waitForFunction(() => document.querySelector('main').textContent.includes('of your own code in the selected profile'));
		await open.evaluate(() => [...document.querySelectorAll('main button, main a')].find((e) => /look for it/i.test(e.textContent)).click());
		await open.waitForFunction(() => !location.href.includes('own') && document.querySelector('section[aria-label="Callers"]')?.textContent.includes('setup'));
		check(scripts || open.complaints.length === 0, open.complaints);
		await open.close();
	}
});

await test('a name that is too long for an address is no link, and says so; one that fits leads to its function', async () => {
	const links = [];
	for (const scripts of [true, false]) {
		const open = await openPage('/runs/shop/huge', { scripts });
		await open.waitForFunction(() => document.querySelectorAll('.functions .function-link').length === 3);
		links.push(...await open.$$eval('.functions .function-link', (all) => all.map((e) => e.getAttribute('href') ?? e.title.slice(0, 33))));
		await open.close();
	}
	check(links.filter((l) => l === 'The name is too long for a link: ').length === 2, links.map((l) => l.slice(0, 60)));
	for (const link of links.filter((l) => l.startsWith('/')))
		check((await fetch(site + link)).status === 200, link.slice(0, 60));
});

await test('stacks are kept and removed on the page of the server too, in all it shows, and filters end at a click', async () => {
	const open = await openPage('/runs/shop/before'), total = async () => (await api(`/api/v1/table?run=shop/before&${new URL(open.url()).search.slice(1)}`)).columns[0].whole, all = await total();
	await open.type('#search', 'part3');
	await open.waitForFunction(() => document.querySelector('.matched').textContent.includes('matched'));
	const matched = parseFloat(await text(open, '.matched'));
	await press(open, 'keep');
	await at(open, 'keep-i=part3');
	check(Math.abs(100 * await total() / all - matched) < 0.1, await total(), all, matched);
	await open.waitForFunction((n) => document.querySelector('.functions .sum').textContent.startsWith(n), {}, (await total()).toLocaleString('en'));
	await open.focus('.flame');
	await pressed(open, 'ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowUp');
	await press(open, 'remove');
	await at(open, 'remove=%5E');
	check(await open.$$eval('.chips button', (list) => list.length) === 2);
	await open.evaluate(() => document.querySelector('.chips button').click());
	await notAt(open, 'keep-i');
	check(open.complaints.length === 0, open.complaints);
	for (const [by, query] of [['class', 'Part3.Class1$'], ['namespace', '\\bPart3\\b'], ['', '\\bstep1\\b']]) {
		await open.goto(`${site}/runs/shop/before?by=${by}`);
		await open.waitForSelector('.functions tbody tr');
		await open.type('#search', query);
		await open.waitForFunction(() => /[1-9].*matched/.test(document.querySelector('.matched').textContent));
		const share = parseFloat(await text(open, '.matched'));
		await press(open, 'keep');
		await at(open, 'keep-i=');
		check(Math.abs(100 * await total() / all - share) < 0.1, by, await total(), all, share);
	}
	await open.goto(`${site}/runs/shop/before#search=step1(%3F!x)`);
	await open.waitForFunction(() => /[1-9].*matched/.test(document.querySelector('.matched').textContent));
	check(await open.$$eval('.segments[aria-label="Filter stacks"] button', (all) => all.every((b) => b.disabled && b.title.startsWith('The server cannot filter'))));
	await open.goto(`${site}/runs/shop/before?keep=nothing+at+all`);
	await open.waitForFunction(() => /no stack passes all (stack )?filters/i.test(document.querySelector('.empty')?.textContent));
	await press(open, 'Remove the filters of stacks');
	await open.waitForSelector('.functions tbody tr');
	await open.evaluate(() => {
		history.pushState(null, '', '?keep=(');
		dispatchEvent(new PopStateEvent('popstate'));
	});
	await open.waitForFunction(() => document.querySelector('.empty .why')?.textContent.startsWith('The filter keep=(: '));
	await press(open, 'Remove the filters of stacks');
	await open.waitForSelector('.functions tbody tr');
	await open.close();
	const plain = await openPage('/?keep=App&entry=x', { scripts: false });
	check((await text(plain, '.filters')).includes('with App ×'), await text(plain, '.filters'));
	await plain.close();
});

await test('a filter of stacks is added once, and can be cleared where nothing is left, as can the value', async () => {
	const open = await openPage('/runs/shop/before?keep-i=part3'), chips = () => open.$$eval('.chips button', (all) => all.length);
	await open.type('#search', 'part3');
	await open.waitForFunction(() => /[1-9].*matched/.test(document.querySelector('.matched').textContent));
	await press(open, 'keep');
	await open.waitForFunction(() => !document.querySelector('#search').value);
	check(await chips() === 1 && new URL(open.url()).searchParams.getAll('keep-i').length === 1, open.url());
	await press(open, 'keep');
	await open.goto(`${site}/runs/shop/before?keep-i=nothing+at+all&keep=Part3`);
	await open.waitForSelector('.empty');
	check(await chips() === 2 && !await open.$('.panes'));
	await open.click('.chips button');
	await open.waitForSelector('.functions tbody tr');
	await open.goto(`${site}/runs/shop/loops?column=memory_bytes&keep=free`);
	await open.waitForSelector('.empty');
	await open.select('select[aria-label="Value"]', 'calls');
	await open.waitForSelector('.functions tbody tr');
	check(open.complaints.length === 0, open.complaints);
	await open.close();
});

await test('boxes of a difference are coloured by self values, as in a file', async () => {
	const open = await openPage('/?run=shop/after&base=shop/before'), look = () => open.$eval('.flame canvas', (c) => c.toDataURL());
	await drawn(open);
	const before = await look();
	await press(open, 'self');
	await at(open, 'self=1');
	await drawn(open);
	check(await look() !== before);
	await open.close();
});

await test('a shallow graph of callers takes no more room than it needs, and a source without lines one row', async () => {
	for (const size of [{ width: 1400, height: 900 }, { width: 390, height: 844, phone: true }]) {
		const open = await openPage('/runs/shop/before?function=App%5CKernel%3A%3Ahandle', size);
		await open.waitForSelector('.source.bare');
		await drawn(open);
		const [flame, rows] = await open.$eval('[aria-label^="Callers,"]', (e) => [e.offsetHeight, parseInt(e.style.getPropertyValue('--rows'))]);
		check(Math.abs(flame - rows) <= 1, 'callers', flame, rows);
		const [left, high] = await open.$eval('.source.bare', (e) => [e.getBoundingClientRect().left, e.offsetHeight]);
		check(left === 0 && high < 120, 'source', left, high);
		await open.close();
	}
});

// The function is the first box of both.
await test('both graphs of a function have one scale of colours, in which chance is pale', async () => {
	const run = (id, stacks) => fetch(`${site}/api/v1/runs?source=chance&id=${id}`, { method: 'POST', body: stacks });
	await run('a', 'main;f;g 60\nmain;f;h 41\nmain;z 99\n');
	await run('b', 'main;f;g 10\nmain;f;h 90\nmain;z 99\n');
	const open = await openPage('/?run=chance/b&base=chance/a&scale=none&function=f'), at = (label, y) => open.$eval(`[aria-label^="${label}"] canvas`, (c, y) => {
		const k = devicePixelRatio, [r, g, b] = c.getContext('2d').getImageData(2 * k, (y < 0 ? c.height / k + y : y) * k, 1, 1).data;
		return `${r},${g},${b}`;
	}, y);
	await open.waitForSelector('.sandwich canvas');
	await drawn(open);
	const [up, down, callee] = [await at('Callers,', -7), await at('Callees,', 7), await at('Callees,', 26)];
	check(up === down && up === '221,230,238', up, down);
	check(callee === '43,123,186', callee);
	await open.goto(`${site}/?run=chance/b&base=chance/a&scale=none#zoom=main;f&show=both`);
	await open.waitForSelector('.functions tbody tr');
	await drawn(open);
	const zoomed = await texts(open, '.functions tbody tr:not(.gap)');
	check(zoomed.length === 3 && zoomed.filter((row) => row.includes('?')).every((row) => row.endsWith('f')), zoomed);
	await open.close();
});

await test('boxes of a comparison are dark in the dark, strongest where they changed most', async () => {
	const open = await openPage('/?run=chance/b&base=chance/a&scale=none&function=f', { dark: true });
	await open.waitForSelector('.sandwich canvas');
	await drawn(open);
	const [f, g] = await open.$eval('[aria-label^="Callees,"] canvas', (c) => [7, 26].map((y) =>
		`${c.getContext('2d').getImageData(2 * devicePixelRatio, y * devicePixelRatio, 1, 1).data.slice(0, 3)}`));
	check(f === '60,69,76' && g === '34,104,164', f, g);
	await open.close();
});

await test('a table is one stop of the Tab key, and arrow keys walk its rows, headings and buttons', async () => {
	const open = await openPage('/runs/shop/before'), names = async () => texts(open, '.rows tbody tr:not(.gap) .function-link');
	await open.focus('#narrow');
	check(await pressed(open, 'Tab') === 'Table of functions', await focused(open));
	check(await pressed(open, 'Tab') === 'Width of the table', await focused(open));
	await open.keyboard.down('Shift');
	check(await pressed(open, 'Tab') === 'Table of functions', await focused(open));
	await open.keyboard.up('Shift');
	const first = (await names()).slice(0, 2);
	check((await pressed(open, 'ArrowDown')).endsWith(first[0]), await focused(open), first);
	check((await pressed(open, 'ArrowDown')).endsWith(first[1]), await focused(open), first);
	check((await pressed(open, 'ArrowLeft')).endsWith('mark'), await focused(open));
	check((await pressed(open, 'ArrowUp', 'ArrowUp')).startsWith('heading'), await focused(open));
	check((await pressed(open, 'ArrowRight')).startsWith('heading total'), await focused(open));
	check((await pressed(open, 'ArrowDown')).endsWith(first[0]), await focused(open));
	check(await pressed(open, 'Tab') === 'Width of the table', await focused(open));
	await open.close();
});

await test('without scripts a link leads past a table, and is seen while it has the focus', async () => {
	const open = await openPage('/runs/shop/before?function=App%5CKernel%3A%3Ahandle', { scripts: false });
	for (const [name, next] of [['callers', 'skip'], ['callees', '']]) {
		const isSeen = () => open.$eval(`a[href="#after-${name}"]`, (e) => getComputedStyle(e).clipPath === 'none');
		check(name !== 'callers' || !await isSeen());
		await open.focus(`a[href="#after-${name}"]`);
		check(await isSeen());
		await open.keyboard.press('Enter');
		await open.keyboard.press('Tab');
		check(await open.evaluate((n) => !document.activeElement.closest('table') && (!n || document.activeElement.className === n), next), name);
	}
	await open.close();
});

await test('the focus in a table goes to rows out of sight, survives scrolling, and Enter opens a function', async () => {
	const open = await openPage('/runs/shop/before', { height: 600 });
	await open.focus('.functions .rows');
	for (let i = 0; i < 60; i++)
		await open.keyboard.press('ArrowDown');
	await drawn(open);
	const at60 = await open.evaluate(() => ({ row: document.activeElement.closest('tr').ariaRowIndex, box: document.activeElement.getBoundingClientRect().toJSON(), all: document.querySelector('.functions .rows').getBoundingClientRect().toJSON() }));
	check(at60.row === '61' && at60.box.bottom <= at60.all.bottom && at60.box.top >= at60.all.top, at60);
	await open.$eval('.functions .rows', (e) => e.scrollTop = 3000);
	await drawn(open);
	check(await focused(open) === 'Table of functions', await focused(open));
	const name = (await pressed(open, 'ArrowDown')).replace(/^row \d+ /, '');
	check(name.includes('::step'), name);
	await pressed(open, 'Enter');
	await open.waitForSelector('.function-head h2');
	check(open.url().includes('function=') && await text(open, '.function-head h2') === name);
	await open.waitForSelector('.edges tbody tr');
	await open.focus('.edges .rows');
	check((await pressed(open, 'ArrowDown')).startsWith('row 1'), await focused(open));
	check(await pressed(open, 'Tab') === 'Table of callees', await focused(open));
	await open.close();
});

await test('keys that come faster than frames walk every row of a table', async () => {
	const open = await openPage('/runs/shop/before', { height: 600 });
	await open.waitForFunction(() => document.querySelectorAll('.functions tbody tr').length > 20);
	const rows = await open.evaluate(async () => {
		const seen = [], now = () => document.activeElement.closest('tr')?.ariaRowIndex;
		document.querySelector('.functions .rows').focus();
		for (const key of [...Array(100).fill('ArrowDown'), ...Array(60).fill('ArrowUp')]) {
			document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
			for (let i = 0; i < 5; i++)
				await null;		// what a key changes is drawn after it, and before any frame
			seen.push(Number(now()));
		}
		return seen;
	});
	check(rows.every((row, i) => row === (i < 100 ? i + 2 : 200 - i)), rows);
	await open.close();
});

await test('End and Home go to the last and the first row of a table, in the column of the focus', async () => {
	const open = await openPage('/runs/shop/before', { height: 600 });
	await open.waitForFunction(() => document.querySelectorAll('.functions tbody tr').length > 20);
	const now = () => open.evaluate(() => {
		const e = document.activeElement, r = e.getBoundingClientRect(), all = e.closest('.rows').getBoundingClientRect();
		return `${Number(e.closest('tr')?.ariaRowIndex) - 1} of ${e.closest('table')?.ariaRowCount - 1} ${e.localName} ${r.top >= all.top && r.bottom <= all.bottom ? 'in sight' : 'hidden'}`;
	});
	const rows = await open.$eval('.functions table', (e) => e.ariaRowCount - 1), press = async (...keys) => {
		await pressed(open, ...keys);
		return now();
	};
	check(rows > 100, rows);
	await open.focus('.functions .rows');
	for (const [keys, wanted] of [[['ArrowDown', 'ArrowDown', 'End'], `${rows} of ${rows} a`], [['ArrowDown'], `${rows} of ${rows} a`], [['ArrowUp'], `${rows - 1} of ${rows} a`],
		[['Home'], `1 of ${rows} a`], [['ArrowLeft', 'End'], `${rows} of ${rows} button`], [['Home', 'ArrowDown'], `2 of ${rows} button`], [['End', 'ArrowUp', 'ArrowUp'], `${rows - 2} of ${rows} button`]])
		check(await press(...keys) === `${wanted} in sight`, keys, await now(), wanted);
	await press('Home', 'ArrowUp');
	check((await focused(open)).startsWith('heading'), await focused(open));
	check(await press('End') === `${rows} of ${rows} a in sight`, 'from a heading', await now());
	await open.close();
	const source = await openPage('/runs/shop/lines?function=total&lines=all');
	await source.waitForSelector('table.source');
	await source.focus('.code-rows');
	await pressed(source, 'ArrowDown', 'End');
	const last = await source.$eval('table.source tbody tr:last-child', (tr) => tr.id);
	check(await source.evaluate(() => document.activeElement.closest('tr').id) === last, last);
	await source.close();
});

await test('a table that arrives after the graph leaves the focus where it is', async () => {
	const open = await newPage(browser, { height: 600 });
	let release;
	const held = new Promise((r) => release = r);
	await open.setRequestInterception(true);
	open.on('request', async (r) => {
		if (r.url().includes('/api/v1/table'))
			await held;
		await r.continue();
	});
	await open.goto(`${site}/?run=shop/after&run=shop/before`);
	await ready(open);
	await open.waitForFunction(() => document.querySelectorAll('.functions tbody tr').length > 10);
	await open.focus('.functions .rows');
	const row = await pressed(open, ...Array(8).fill('ArrowDown')), answered = open.waitForResponse((r) => r.url().includes('/api/v1/table'));
	release();
	await answered;
	await open.waitForFunction(() => document.querySelector('main').ariaBusy === 'false');
	await drawn(open);
	check(row.startsWith('row 8 ') && (await focused(open)).startsWith('row 8 '), row, await focused(open));
	await open.close();
});

await test('Back from a function leads to the row of the table that it was opened from', async () => {
	for (const show of ['', '#show=table']) {
		const open = await openPage(`/runs/shop/before${show}`, { height: 600 });
		const order = () => open.$eval('.functions th.total', (th) => th.ariaSort), place = () => open.$eval('.functions .rows', (e) => e.scrollTop);
		await open.$eval('.functions th.total button', (b) => b.click());
		await at(open, 'order=total');
		await open.focus('.functions .rows');
		for (let i = 0; i < 50; i++)
			await open.keyboard.press('ArrowDown');
		await drawn(open);
		const row = await focused(open), top = await place();
		check(top > 500, top);
		for (const back of [() => open.goBack(), () => open.keyboard.press('a')]) {
			await pressed(open, 'Enter');
			await at(open, 'function=');
			await open.waitForSelector('.function-head');
			await back();
			await notAt(open, 'function=');
			await open.waitForSelector('.functions .rows');
			await drawn(open);
			check(await focused(open) === row && await place() === top && await order() === 'descending', `${await focused(open)} for ${row}`, await place(), top, await order());
		}
		await open.$eval('.functions th.self button', (b) => b.click());
		await open.waitForFunction(() => document.querySelector('.functions .rows').scrollTop === 0);
		await open.close();
	}
});

// A graph takes keys once its canvas is there, which is a frame after its data.
const listens = async (open, selector) => {
	await open.waitForSelector(selector);
	await drawn(open);
};

await test('Escape and Backspace zoom out from anywhere but a field, also after a reload', async () => {
	const path = ['{main}', 'App\\Kernel::handle'].map(encodeURIComponent).join(';');
	for (const show of ['', '&show=table']) {
		const open = await openPage(`/runs/shop/before#zoom=${path}${show}`);
		await open.reload();
		await ready(open);
		await listens(open, show ? '.functions tbody tr' : '.flame canvas');
		await pressed(open, 'Backspace');
		await open.waitForFunction(() => /zoom=[^;]*$|zoom=[^;]*&/.test(location.href));
		await pressed(open, 'Escape');
		await notAt(open, 'zoom=');
		await open.goBack();
		await at(open, 'zoom=');
		await open.focus('#narrow, #find');
		await pressed(open, 'Backspace', 'Escape');
		check(open.url().includes('zoom='), 'a field has its own keys', open.url());
		await open.close();
	}
	const open = await openPage(`/runs/shop/before?function=${encodeURIComponent('App\\Kernel::handle')}#callers=%7Bmain%7D`);
	await listens(open, '.sandwich canvas');
	await pressed(open, 'Escape');
	await notAt(open, 'callers=');
	await open.close();
});

await test('the question mark shows the keys, and Escape hides them', async () => {
	await page.bringToFront();
	await page.keyboard.press('?');
	await page.waitForSelector('dialog.keys[open]');
	await page.keyboard.press('Escape');
	await page.waitForFunction(() => !document.querySelector('dialog.keys[open]'));
});

await test('the sheet has the keys of the view that is shown, which do not act behind it', async () => {
	const sheet = async (address) => {
		const open = await openPage(address);
		await open.keyboard.press('?');
		await open.waitForSelector('dialog.keys[open]');
		return { open, keys: await texts(open, 'dialog.keys dt') };
	};
	const all = { '': ['/', 'n, N', 'Backspace', 'Escape'], '#show=graph': ['/', 'n, N'], '#show=table': ['/'], '#show=calls': ['0, Escape, double click'] };
	for (const [show, wanted] of Object.entries(all)) {
		const { open, keys } = await sheet(`/runs/shop/before${show}`);
		check(wanted.every((k) => keys.includes(k)) && keys.includes('g') && !keys.includes('a'), show, keys);
		check(keys.includes('Enter, Shift+Enter') === (show === '' || show === '#show=graph') && keys.includes('/') === (show !== '#show=calls'), show, keys);
		await open.close();
	}
	const { open, keys } = await sheet('/runs/shop/before?function=App%5CKernel%3A%3Ahandle');
	check(keys.includes('a') && keys.includes('Backspace') && !keys.includes('/'), keys);
	await open.keyboard.press('a');
	await drawn(open);
	check(open.url().includes('function='), open.url());
	await open.keyboard.press('Escape');
	await open.waitForFunction(() => !document.querySelector('dialog.keys[open]'));
	await open.keyboard.press('a');
	await notAt(open, 'function=');
	await open.close();
});

await test('a slash leads to the field that the view has, and is left to the browser where there is none', async () => {
	for (const [address, selector, field] of [['/runs/shop/before', '.flame', 'search'], ['/runs/shop/before#show=table', '.rows', 'narrow'], ['/runs/shop/before#show=calls', '.call-graph', ''],
		['/runs/shop/before?function=App%5CKernel%3A%3Ahandle', '.flame', '']]) {
		const open = await openPage(address);
		await open.waitForSelector(selector);
		await drawn(open);
		const taken = await open.$eval(selector, (e) => !e.dispatchEvent(new KeyboardEvent('keydown', { key: '/', bubbles: true, cancelable: true })));
		check(taken === (field !== '') && (!field || await open.evaluate(() => document.activeElement.id) === field), address, taken);
		await open.close();
	}
});

await test('times are in a zone that is named and can be switched', async () => {
	const open = await browser.newPage();
	await open.emulateTimezone('Asia/Tokyo');
	await open.goto(`${site}/runs/shop/cart`);
	await ready(open);
	const started = () => open.evaluate(() => [...document.querySelectorAll('.about div')].find((d) => d.textContent.startsWith('started')).textContent);
	check((await text(open, '.zone')) === 'Asia/Tokyo');
	const there = await started();
	await open.click('.zone');
	await open.waitForFunction(() => document.querySelector('.zone').textContent === 'UTC');
	const utc = await started(), hours = (t) => Number(/ (\d\d):/.exec(t)[1]);
	check((hours(there) - hours(utc) + 24) % 24 === 9, there, utc);
	await open.reload();
	await ready(open);
	check((await text(open, '.zone')) === 'UTC', 'it is remembered');
	await open.click('.zone');
	await open.close();
});

await test('the line between table and graph is dragged, moved by keys and remembered', async () => {
	const width = () => page.$eval('.work .functions', (e) => e.clientWidth);
	const before = await width(), r = await page.$eval('.split', (e) => { const b = e.getBoundingClientRect(); return { x: b.x + 3, y: b.y + 200 }; });
	await page.mouse.move(r.x, r.y);
	await page.mouse.down();
	await page.mouse.move(r.x + 200, r.y, { steps: 4 });
	await page.mouse.up();
	await drawn(page);
	check(Math.abs(await width() - before - 200) < 12, before, await width());
	await page.focus('.split');
	await page.keyboard.press('ArrowLeft');
	await drawn(page);
	const moved = await width();
	check(moved < before + 200, moved);
	await page.reload();
	await ready(page);
	await page.waitForSelector('.work .functions');
	check(Math.abs(await width() - moved) < 3, moved, await width());
});

await test('how a table is sorted and filtered stands in its address', async () => {
	const open = await openPage('/runs/shop/cart#show=table');
	await wideTable(open);
	await open.click('.rows thead th.total button');
	await at(open, 'order=total');
	await open.type('.narrow', 'cart');
	await at(open, 'filter=cart');
	const shown = await texts(open, '.rows tbody th a'), other = await openPage(open.url().slice(site.length));
	await wideTable(other);
	check((await texts(other, '.rows tbody th a')).join() === shown.join() && shown.length === 2, shown);
	check(await other.$eval('.rows thead th.total', (e) => e.ariaSort) === 'descending');
	await other.close();
	await open.close();
});

await test('a regular expression that takes for ever is given up, and the page goes on', async () => {
	const open = await openPage('/runs/shop/before#search=%5E((%5Cw%7C%5C%5C%7C%3A)%2B)%2B%24x');
	await open.waitForFunction(() => document.querySelector('.matched').textContent === 'takes too long');
	await open.$eval('#search', (e) => e.select());
	await open.type('#search', 'Part[0-3].*step');
	await open.waitForFunction(() => document.querySelector('.matched').textContent.endsWith('% matched'));
	check(open.complaints.length === 0, open.complaints);
	await open.close();
});

// --- On all screens ---

const VIEWS = ['/runs/shop/before', '/runs/shop/cart#show=table', '/runs/shop/before#show=calls', '/runs/shop/before?function=App%5CKernel%3A%3Ahandle',
	'/?run=shop/after&base=shop/before', '/?run=shop/lines2&base=shop/lines&function=total', '/runs/shop/lines?function=total', '/runs/shop/lines?function=price&lines=all'];

for (const [where, how] of some([['light', {}], ['dark', { dark: true }], ['on a phone', { width: 390, height: 844, phone: true }], ['at 4K', { width: 3840, height: 2160 }]]))
	await test(`every view fits and axe finds nothing serious: ${where}`, async () => {
		const { width = 1440 } = how;
		for (const address of VIEWS) {
			const open = await openPage(address, { ...how, policy: false });
			if (address.includes('calls'))
				await open.waitForSelector('.call-graph svg .node');
			if (address.includes('function='))
				await open.waitForSelector('.edges tbody tr');
			if (address.includes('shop/lines'))
				await open.waitForSelector('table.source');
			await drawn(open);
			const over = await open.evaluate(() => document.documentElement.scrollWidth - innerWidth);
			check(over <= 0, address, 'is too wide by', over);
			const high = await open.$$eval('.rows tbody tr:not(.gap), table.source tr', (all) => Math.max(0, ...all.map((tr) => tr.offsetHeight)));
			check(high <= 40, address, 'a row of', high);
			if (width < 3000)		// which says no more there, and takes a software renderer half a minute
				await accessible(open, `${where} ${address}`);
			await open.close();
		}
	});

await test('errors of addresses are pages with a title, a sentence and a way back', async () => {
	const long = (n) => `/runs/shop/before?function=${'a'.repeat(n)}`;
	for (const dark of [false, true])
		for (const [address, status, sentence] of [['/nope', 404, 'not found'], ['/runs/shop', 404, 'ends in its source and its id'], ['/flamegraph.svg?from=never', 400, 'from'],
			[long(8200), 414, 'longer than 8192 bytes'], [long(17_000), 414, 'longer than 8192 bytes'], [long(900_000), 414, 'longer than 8192 bytes']]) {
			const open = await newPage(browser, { width: 1440, height: 900, dark }), answer = await open.goto(site + address, { waitUntil: 'networkidle0' });
			check(answer.status() === status && (await open.$eval('.why', (e) => e.textContent)).includes(sentence), address.slice(0, 60), answer.status());
			check((await open.title()).endsWith(' – Strobe') && await open.evaluate(() => document.documentElement.lang) === 'en', await open.title());
			check(await open.$eval('main a', (a) => a.getAttribute('href')) === '/' && await open.$eval('body', (b) => getComputedStyle(b).fontFamily !== 'serif'), address.slice(0, 60));
			await accessible(open, address.slice(0, 60), { evaluate: true });
			await open.close();
		}
});

await test('after all this the page has nothing to complain about', async () => {
	check(page.complaints.length === 0, page.complaints);
});

await browser.close();
await stop();
rmSync(folder, { recursive: true });
await end();
