// Shared by the tests of flame graphs as SVG: pictures, a server that hands them out under a given policy, and ways to act on a picture.
// Arguments: STROBE.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { drawn, launch, newPage } from './browser.mjs';
import { end } from './lib.mjs';

export const program = process.argv[2], folder = mkdtempSync(join(tmpdir(), 'strobe-picture-'));

// --- Pictures, and a server that hands them out under a given policy ---

export const FOLDED = `main;load;parse 30
main;load;parse;lex 10
main;load;read 20
main;render;Parse::tree 25
main;render;paint 14
main;idle 1
`;
export const DIFFERENCE = `main;load;parse 10 30
main;load;read 20 20
main;gone 20 0
main;render 50 40
`;

export function draw(name, folded, ...options) {
	const done = spawnSync(program, ['flamegraph', '-', '-q', '-o', join(folder, name), ...options], { input: folded, maxBuffer: 1 << 30 });
	if (done.status !== 0)
		throw new Error(`${name}: ${done.stderr}`);
}

draw('a.svg', FOLDED);

const server = http.createServer((q, r) => {
	const name = new URL(q.url, 'http://x').pathname.slice(1), [policy, file] = name.includes('/') ? name.split('/') : ['', name];
	r.setHeader('Content-Type', file.endsWith('.svg') ? 'image/svg+xml' : 'text/html');
	if (policy)
		r.setHeader('Content-Security-Policy', Buffer.from(policy, 'base64url').toString());
	try {
		r.end(readFileSync(join(folder, file)));
	} catch {
		r.statusCode = 404;
		r.end();
	}
});
await new Promise((r) => server.listen(0, '127.0.0.1', r));
export const site = `http://127.0.0.1:${server.address().port}`;
export const under = (policy, file) => `${site}/${Buffer.from(policy).toString('base64url')}/${file}`;

// --- A page and what one does there ---

export const browser = await launch();

export async function openPage(address, { dark = false, scripts = true, phone = false, width = 1200, height = 800 } = {}) {
	const page = await newPage(browser, { width, height, dark, scripts, phone, ignore: 'favicon' });
	page.on('request', (r) => r.url().startsWith(site) || page.complaints.push(`external request: ${r.url()}`));
	await page.goto(address);
	return page;
}

export const text = (page, selector) => page.$eval(selector, (e) => e.textContent);
export const said = (page) => text(page, '#said, #details');
export const matched = (page) => text(page, '#share, #matched');
export const fragment = (page) => page.evaluate(() => decodeURIComponent(location.hash));

export async function press(page, words) {
	await page.evaluate((w) => [...document.querySelectorAll('button')].find((b) => b.textContent.startsWith(w) || b.title.startsWith(w)).click(), words);
	await drawn(page);
}

export const isOff = (page, words) => page.evaluate((w) => [...document.querySelectorAll('button')].find((b) => b.textContent === w ||
	b.title.startsWith(w)).disabled, words);

export async function search(page, words) {
	await page.$eval('input', (e, w) => {
		e.value = w;
		e.dispatchEvent(new Event('input'));
	}, words);
	await drawn(page);
}

// Frames of an SVG: name, left edge, width, class, fill, row.
export const frames = (page) => page.$$eval('#frames g', (all) => Object.fromEntries(all.map((g) => {
	const r = g.querySelector('rect');
	return [g.querySelector('title').textContent.split(' (')[0], { x: +r.getAttribute('x'), width: +r.getAttribute('width'),
		y: +r.getAttribute('y'), kind: g.getAttribute('class') || '', fill: r.getAttribute('fill') }];
})));

export async function clickFrame(page, name, touch = false) {
	const at = await page.$$eval('#frames g', (all, n) => {
		const r = all.find((g) => g.querySelector('title').textContent.startsWith(`${n} (`)).querySelector('rect').getBoundingClientRect();
		return { x: r.x + r.width / 2, y: r.y + r.height / 2 };
	}, name);
	await (touch ? page.touchscreen.tap(at.x, at.y) : page.mouse.click(at.x, at.y));
	await drawn(page);
}

// The table that stands beside the picture, opened if it is not: names and their numbers.
export async function table(page) {
	if (!await page.$('.twin'))
		await press(page, 'Table');
	return page.$$eval('.twin tbody tr', (all) => Object.fromEntries(all.map((tr) => [tr.cells[0].textContent, [...tr.cells].slice(1).map((c) => c.textContent)])));
}

export async function finish() {
	await browser.close();
	server.close();
	rmSync(folder, { recursive: true });
	await end();
}
