// Shared by the tests of pages of runs, averages and comparisons: a server with runs of many kinds, and pages of it.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { drawn, launch, newPage, ready } from './browser.mjs';
import { end, folded, message, run, serveStore } from './lib.mjs';

const program = process.argv[2];
export const folder = mkdtempSync(join(tmpdir(), 'strobe-views-'));
const data = (name) => join(dirname(fileURLToPath(import.meta.url)), '../data', name);

// --- A server with runs ---

export const HOSTILE = ['<img src=x onerror=document.title="owned">', '"><script>document.title="owned"</script>', "'+alert(1)+'", 'a&amp;b', '\u202eright', 'back\\slash::m'];

// Calls by the thousand, and memory that is given back.
const loops = join(folder, 'loops.json');
writeFileSync(loops, JSON.stringify({ 'main()': { ct: 1, wt: 9000, mu: 1024 }, 'main()==>total': { ct: 1, wt: 8000, mu: 9216 }, 'main()==>free': { ct: 1, wt: 10, mu: -8192 },
	'total==>price': { ct: 3000, wt: 4000, mu: 9216 }, 'total==>tax': { ct: 1000, wt: 1000, mu: 0 } }));

export const files = { loops, freed: data('shop.xt'), cart: data('cart.xhprof'), again: data('cart.xhprof'), recursion: data('recursion.xhprof') };
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

// A run with labels as long as they may be.
files.labels = join(folder, 'labels.strobe');
writeFileSync(files.labels, message('labels', { frames: [['main()']], nodes: [[0, 0]], calls: [[1, 0, 1000]], labels: { url: `https://shop.example/${'folder-of-many-letters/'.repeat(8)}`,
	[`${'a_label_with_a_long_name_'.repeat(2)}of_letters`]: 'x'.repeat(180), entry: 'y'.repeat(180) } }));

// A file of PHP, and a profile of its executed lines. The text is as hostile as the names.
export const code = join(folder, 'shop', 'cart.php');
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

export const strobe = (...args) => run(program, ...args);

const store = `sqlite:${join(folder, 'store')}`;
for (const [id, file] of Object.entries(files))
	if (id !== 'again')
		strobe('import', '--source', 'shop', '--id', id, '--name', `<b>${id}</b>`, '--store', store, file);

export const { site, stop } = await serveStore(program, folder, store, '--source-dir', dirname(code));

// --- Pages ---

export const browser = await launch();

// The table of all metrics takes the place of that of the boxes, which has one of them and comes first.
export const wideTable = (open, least = 2) => open.waitForFunction((n) => document.querySelectorAll('table.wide .groups th').length >= n, {}, least);

export async function openPage(address, { width = 1440, height = 900, dark = false, scripts = true, phone = false, policy = true } = {}) {
	const page = await newPage(browser, { width, height, dark, scripts, phone });
	page.on('request', (r) => r.url().startsWith('data:') || r.url().startsWith(site) || page.complaints.push(`external request: ${r.url()}`));
	await page.setBypassCSP(!policy);
	await page.goto(site + address);
	if (scripts)
		await ready(page);
	return page;
}

export const at = (page, part) => page.waitForFunction((p) => location.href.includes(p), {}, part);
export const notAt = (page, part) => page.waitForFunction((p) => !location.href.includes(p), {}, part);
export const text = (page, selector) => page.$eval(selector, (e) => e.textContent);
export const texts = (page, selector) => page.$$eval(selector, (all) => all.map((e) => e.textContent));
export const api = async (path) => (await fetch(site + path)).json();

export const colors = (page, selector = '.flame canvas') => page.$eval(selector, (c) =>
	new Set(new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer)).size);

export async function press(page, words) {
	await page.evaluate((w) => [...document.querySelectorAll('button')].find((b) => b.textContent.trim() === w).click(), words);
	await drawn(page);
}

// The element that has the focus, in words.
export const focused = (open) => open.evaluate(() => {
	const e = document.activeElement;
	return e.closest('.rows tbody, .code-rows tbody') ? `row ${e.closest('tr').rowIndex} ${e.textContent || 'mark'}` : e.closest('thead') ? `heading ${e.textContent}` :
		e.getAttribute('role') === 'region' ? e.ariaLabel.replace(/:.*/, '') : e.ariaLabel || e.textContent || e.tagName;
});

export const pressed = async (open, ...keys) => {
	for (const key of keys)
		await open.keyboard.press(key);
	await drawn(open);
	return focused(open);
};

// Ends the program, with the exit code of its tests.
export async function finish() {
	await browser.close();
	await stop();
	rmSync(folder, { recursive: true });
	await end();
}
