// Shared by the tests of pages in files: profiles, their pages as `strobe flamegraph` and `strobe diff` write them, a server with
// the same runs, and one that hands out files under a policy. Arguments: STROBE [PICTURES].

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { drawn, launch, newPage, ready } from './browser.mjs';
import { check, end, folded, message, run, serveStore } from './lib.mjs';

export const [, , program, pictures] = process.argv, folder = mkdtempSync(join(tmpdir(), 'strobe-file-'));
export const data = (name) => join(dirname(fileURLToPath(import.meta.url)), '../data', name);

// --- Profiles ---

export const HOSTILE = ['<img src=x onerror=document.title="owned">', '"><script>document.title="owned"</script>', "'+alert(1)+'", 'a&lt<b', '</script><script>document.title="owned"</script>',
	'\u202eright', 'back\\slash::m', '__proto__', 'constructor'];

// A trace with files, libraries, recursion and calls in order.
export const FRAMES = [['main()'], ['App\\Kernel::handle', '/srv/app/Kernel.php', 12], ['Lib\\Router::match', '/srv/vendor/lib/router/Router.php', 30], ['PDO::query'],
	['App\\View::render', '/srv/app/View.php', 8], ['Lib\\Twig::escape', '/srv/vendor/lib/twig/Twig.php', 9], ['App\\Tree::walk', '/srv/app/Tree.php', 5], [HOSTILE[0], '/srv/app/x.php', 1]];
export const NODES = [[0, 0], [1, 1], [2, 2], [3, 3], [2, 4], [5, 5], [6, 4], [2, 6], [8, 6], [9, 6], [7, 3], [1, 7]];
export const CALLS = [[1, 0, 1_000_000], [2, 1000, 900_000], [3, 2000, 300_000], [4, 3000, 200_000], [5, 310_000, 250_000], [6, 320_000, 60_000], [7, 330_000, 40_000], [11, 335_000, 20_000],
	[6, 400_000, 50_000], [8, 570_000, 200_000], [9, 580_000, 100_000], [10, 590_000, 50_000], [12, 950_000, 20_000]];

// More calls of some functions, and deeper recursion.
export const MORE_CALLS = [...CALLS.slice(0, 12), [5, 772_000, 30_000], [6, 773_000, 10_000], [5, 805_000, 20_000], [8, 830_000, 60_000], [9, 832_000, 40_000], [10, 833_000, 10_000],
	[10, 845_000, 10_000], [9, 875_000, 5_000], CALLS[12]];

export const files = { cart: data('cart.xhprof'), recursion: data('recursion.xhprof'), shop: data('shop.strobe') };
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

export const strobe = (...args) => run(program, ...args);

export const store = `sqlite:${join(folder, 'store')}`, page_ = (name) => join(folder, `${name}.html`);
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

export const { site, stop } = await serveStore(program, folder, store);

let policy = '';
export const setPolicy = (text) => {
	policy = text;
};
export const plain = http.createServer((q, r) => {
	r.setHeader('Content-Type', 'text/html');
	if (policy)
		r.setHeader('Content-Security-Policy', policy);
	r.end(readFileSync(join(folder, new URL(q.url, 'http://x').pathname.slice(1))));
});
await new Promise((r) => plain.listen(0, '127.0.0.1', r));

// --- Pages ---

export const browser = await launch();

export async function openAt(address, { width = 1440, height = 900, dark = false, scripts = true, phone = false, wait = scripts } = {}) {
	const page = await newPage(browser, { width, height, dark, scripts, phone, timeout: 60_000 });
	page.on('request', (r) => /^(blob|data):/.test(r.url()) || r.url().startsWith(address.replace(/^(file:\/\/|http:\/\/[^/]*).*/, '$1')) || page.complaints.push(`external request: ${r.url()}`));
	await page.goto(address);
	if (wait)
		await ready(page);
	return page;
}

export const openFile = (name, fragment = '', how = {}) => openAt(pathToFileURL(page_(name)).href + (fragment && `#${fragment}`), how);
export const text = (page, selector) => page.$eval(selector, (e) => e.textContent);
export const texts = (page, selector) => page.$$eval(selector, (all) => all.map((e) => e.textContent));
export const fragment = (page) => page.evaluate(() => location.hash);
export const boxes = (page) => page.$eval('.flame', (e) => Number(/ ([\d,]+) boxes/.exec(e.getAttribute('aria-label'))[1].replaceAll(',', '')));

export async function press(page, words) {
	await page.evaluate((w) => [...document.querySelectorAll('button')].find((b) => b.textContent.trim() === w).click(), words);
	await drawn(page);
}

export async function choose(page, label, value) {
	await page.select(`select[aria-label="${label}"]`, value);
	await drawn(page);
}

export async function search(page, words) {
	await page.$eval('#search', (e, w) => {
		e.value = w;
		e.dispatchEvent(new InputEvent('input', { bubbles: true }));
	}, words);
	await drawn(page);
}

export async function picture(page, name) {
	if (pictures)
		await page.bringToFront(), await page.screenshot({ path: join(pictures, `${name}.png`) });
}

// All that tables say: each row's cells, without what only one of them has room for.
export const rows = (page, within = '.functions') => page.$$eval(`${within} tbody tr:not(.gap)`, (all) => all.slice(0, 30).map((tr) => [...tr.children].map((c) => c.textContent).join(' | ')));

export async function compared(name, address, how, act = rows) {
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

export const ALL_COLUMNS = ['calls', 'wall_ns', 'cpu_ns', 'off_cpu_ns', 'memory_bytes'];

export async function finish() {
	await browser.close();
	plain.close();
	await stop();
	rmSync(folder, { recursive: true });
	await end();
}
