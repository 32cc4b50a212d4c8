// Shared by the tests of the live page: a store with known content behind a server, and ways to act on its page.

import { drawn, launch, newPage, ready } from './browser.mjs';
import { end, serve } from './lib.mjs';

export const program = process.argv[2];
export const site = await serve(program);
export const browser = await launch();

// Everything that a page should not say, while it is open.
export async function openPage(address, { width = 1440, height = 900, dark = false, scripts = true, phone = false } = {}) {
	const page = await newPage(browser, { width, height, dark, scripts, phone });
	page.on('requestfailed', (r) => r.failure()?.errorText !== 'net::ERR_ABORTED' && page.complaints.push(`failed: ${r.url()}`));
	page.on('request', (r) => r.url().startsWith('data:') || new URL(r.url()).origin === new URL(address).origin ||
		page.complaints.push(`external request: ${r.url()}`));
	await page.evaluateOnNewDocument(() => {
		globalThis.violations = [];
		globalThis.shift = 0;
		document.addEventListener('securitypolicyviolation', (e) => globalThis.violations.push(`${e.violatedDirective} ${e.blockedURI}`));
		new PerformanceObserver((list) => list.getEntries().forEach((e) => globalThis.shift += e.value)).observe({ type: 'layout-shift', buffered: true });
	});
	await page.goto(address);
	if (scripts)
		await ready(page);
	return page;
}

// The address changes when the page has heard of what was done, which may be after the answer to who did it.
export const at = (page, part) => page.waitForFunction((p) => location.href.includes(p), {}, part);
export const notAt = (page, part) => page.waitForFunction((p) => !location.href.includes(p), {}, part);

export const colors = (page) => page.evaluate(() => {
	const c = document.querySelector('.flame canvas'), bytes = new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer);
	return new Set(bytes).size;
});

export const text = (page, selector) => page.$eval(selector, (e) => e.textContent);

// The middle of the widest part of the row `above` the root.
export async function pointInRow(page, above, share = 0.6) {
	await drawn(page);
	return page.$eval('.flame', (e, n, s) => {
		const r = e.getBoundingClientRect();
		return { x: r.left + e.clientWidth * s, y: r.bottom - 4 - (n + 0.5) * 19 };
	}, above, share);
}

export async function clickRow(page, above, share) {
	const { x, y } = await pointInRow(page, above, share);
	await page.mouse.click(x, y);
	await drawn(page);
}

// The button may be in a part of the page that is still on its way.
export const pressed = async (page, words) => {
	await page.waitForFunction((w) => {
		const button = [...document.querySelectorAll('button')].find((b) => b.textContent === w);
		button?.click();
		return !!button;
	}, {}, words);
	await drawn(page);
};

export async function finish() {
	await browser.close();
	await end();
}
