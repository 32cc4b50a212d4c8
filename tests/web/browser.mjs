// Shared by the tests in a browser: Chromium, pages that collect what the browser complains about, and axe.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { check } from './lib.mjs';

const load = createRequire(join(process.env.NODE_MODULES, 'x.js'));
const { default: puppeteer } = await import(load.resolve('puppeteer-core'));

// All tabs share one process: another for each would take half of the time of these tests. Scripts are not optimized, which would take
// longer than it saves, as each page runs them anew.
export const launch = () => puppeteer.launch({
	executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu', '--renderer-process-limit=1', '--js-flags=--no-maglev,--no-opt'],
	protocolTimeout: 120_000,
});

// An empty page. `page.complaints` gets exceptions, and errors and warnings of the console except those that contain `ignore`, which
// by default is Chromium's hint about reading a canvas back.
export async function newPage(browser, { width = 1440, height = 900, dark = false, scripts = true, phone = false, ignore = 'getImageData', timeout = 120_000 } = {}) {
	const page = await browser.newPage();
	page.setDefaultTimeout(timeout);
	page.complaints = [];
	page.on('console', (m) => ['error', 'warn', 'warning'].includes(m.type()) && !(ignore && m.text().includes(ignore)) && page.complaints.push(m.text()));
	page.on('pageerror', (e) => page.complaints.push(e.message));
	await page.setViewport({ width, height, isMobile: phone, hasTouch: phone });
	await page.emulateMediaFeatures([
		{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }, { name: 'prefers-reduced-motion', value: 'reduce' },
	]);
	await page.setJavaScriptEnabled(scripts);
	return page;
}

// Waits for two frames, after which everything is drawn. A tab in the background gets no frames.
export async function drawn(page) {
	await page.bringToFront();
	await page.evaluate(() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r))));
}

export const ready = (page) => page.waitForSelector('main[data-ready="true"]');

// Prints a page to a PDF, and returns its canvases and the color of the page's words as they were when it was laid out: after the page had heard
// of it, which it does in time or not at all.
export async function printed(page) {
	await page.bringToFront();
	await page.evaluate(() => {
		const look = () => {
			globalThis.onSheet = {
				canvases: [...document.querySelectorAll('canvas')].map((c) => {
					const { data } = c.getContext('2d').getImageData(0, 0, c.width, c.height), at = (x, y) => [...data.slice(4 * (y * c.width + x), 4 * (y * c.width + x) + 3)];
					return { width: c.width, height: c.height, corner: at(1, 1), rootLeft: at(3, c.height - 30), rootRight: at(c.width - 6, c.height - 30) };
				}),
				muted: getComputedStyle(document.documentElement).getPropertyValue('--muted'),
				rows: document.querySelectorAll('.functions tbody tr:not(.gap)').length, text: document.querySelector('main').textContent,
			};
		};
		addEventListener('beforeprint', () => queueMicrotask(() => queueMicrotask(() => queueMicrotask(look))), { once: true });
	});
	const pdf = await page.pdf({ format: 'A4' });
	return { ...await page.evaluate(() => globalThis.onSheet), pdf };
}

// Checks that axe finds nothing serious, contrast and scrollable regions included, on a page or in a part of it. `evaluate` is for pages whose
// policy forbids a script element.
export async function accessible(page, where, { evaluate = false, within = '' } = {}) {
	const axe = load.resolve('axe-core/axe.min.js');
	if (!await page.evaluate(() => 'axe' in globalThis))
		await (evaluate ? page.evaluate(readFileSync(axe, 'utf8')) : page.addScriptTag({ path: axe }));
	const bad = await page.evaluate(async (part) => (await globalThis.axe.run(part || document, { resultTypes: ['violations'], selectors: false })).violations
		.filter((v) => v.impact === 'serious' || v.impact === 'critical')
		.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(' | ')}`), within);
	check(bad.length === 0, where, bad);
}

const luminance = (color) => color.map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);

// The contrast of words in each box of a call graph that is seen and large enough: the color beside the words, with filters applied, and that
// of the words, which have none.
export async function boxContrasts(page) {
	await drawn(page);
	const boxes = await page.$$eval('.node', (all) => all.map((e) => {
		const shape = e.querySelector('path, polygon'), r = shape.getBoundingClientRect(), scale = r.width / shape.getBBox().width;
		return { x: Math.round(r.left + 4 * scale), y: Math.round(r.top + r.height / 2) - 3, width: r.width, color: getComputedStyle(e.querySelector('text')).fill.match(/\d+/g).map(Number) };
	}).filter(({ x, y, width }) => width >= 60 && x >= 0 && x + 3 <= innerWidth && y >= 0 && y + 6 <= innerHeight));
	const png = await page.screenshot({ encoding: 'base64' }), reader = await page.browser().newPage();
	const fills = await reader.evaluate(async (png, boxes) => {
		const image = new Image();
		image.src = `data:image/png;base64,${png}`;
		await image.decode();
		const canvas = new OffscreenCanvas(image.width, image.height), g = canvas.getContext('2d');
		g.drawImage(image, 0, 0);
		return boxes.map(({ x, y }) => {
			const { data } = g.getImageData(x, y, 3, 6), n = {};
			for (let i = 0; i < data.length; i += 4) {
				const color = data.slice(i, i + 3).join();
				n[color] = (n[color] || 0) + 1;
			}
			return Object.keys(n).sort((a, b) => n[b] - n[a])[0].split(',').map(Number);
		});
	}, png, boxes);
	await reader.close();
	await page.bringToFront();
	return fills.map((fill, i) => {
		const [a, b] = [luminance(fill), luminance(boxes[i].color)].sort((a, b) => b - a);
		return { contrast: (a + 0.05) / (b + 0.05), fill, color: boxes[i].color };
	});
}
