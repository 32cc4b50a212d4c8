// Times of the page in a headless Chromium without a GPU: node browser.mjs JSON, as bench/browser.py calls it. Prints a line of JSON for
// each measurement. A time ends with the frame in which the result can be seen.

import { createRequire } from 'node:module';
import { join } from 'node:path';

const load = createRequire(join(process.env.NODE_MODULES, 'x.js'));
const { default: puppeteer } = await import(load.resolve('puppeteer-core'));
const given = JSON.parse(process.argv[2]);
const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu'], protocolTimeout: 300_000 });

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const say = (name, times, more = '') => {
	const [elapsed, busy] = [0, 1].map((i) => times.map((t) => t[i]));
	console.log(JSON.stringify([name, median(elapsed), `${more}of ${times.length}, least ${Math.min(...elapsed).toFixed(0)}; the page's CPU time ${median(busy).toFixed(1)}`]));
};

async function open(address, still = true) {
	const page = await browser.newPage();
	page.setDefaultTimeout(300_000);
	await page.setViewport({ width: 1440, height: 900 });
	await page.setBypassCSP(true);		// the measured code is our own
	await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: still ? 'reduce' : 'no-preference' }]);
	await cpu(page);
	page.began = performance.now();		// the page exists
	await page.goto(address);
	return page;
}

// CPU time of the page's own thread so far, ms: the useful part of a time on a machine shared with others.
async function cpu(page) {
	if (!page.cdp) {
		page.cdp = await page.createCDPSession();
		await page.cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
	}
	return 1000 * (await page.cdp.send('Performance.getMetrics')).metrics.find((m) => m.name === 'TaskDuration').value;
}

const ready = (page) => page.waitForSelector('main[data-ready="true"]');

// The time from an action in the idle page to the frame in which `isDone` is true, and the thread's CPU time in it.
async function timed(page, act, isDone = 'true') {
	await page.evaluate(() => new Promise((r) => setTimeout(() => requestIdleCallback(r), 300)));
	const before = await cpu(page), elapsed = await waited(page, act, isDone);
	return [elapsed, await cpu(page) - before];
}

const waited = (page, act, isDone) => page.evaluate(async (code, done) => {
	const frame = () => new Promise((r) => requestAnimationFrame(() => setTimeout(r)));
	const began = performance.now();
	(0, eval)(code);
	do
		await frame();
	while (!(0, eval)(done));
	return performance.now() - began;
}, act, isDone);

const button = (words) => `[...document.querySelectorAll('button')].find((b) => b.textContent.trim().startsWith(${JSON.stringify(words)}))`;
const key = (k, where = "document.querySelector('.flame')") => `${where}.dispatchEvent(new KeyboardEvent('keydown', { key: '${k}', bubbles: true }))`;

// A day of samples: from a click on another range until its graph is drawn.
async function day({ site, empty, full }) {
	const page = await open(`${site}/?${empty}`), times = [];
	await ready(page);
	for (let i = 0; i < 3; i++) {
		await page.evaluate((to) => history.replaceState(null, '', to), `/?${empty}`);
		await page.evaluate(() => dispatchEvent(new PopStateEvent('popstate')));
		await page.waitForFunction(() => document.querySelector('.empty'));
		times.push(await timed(page, `history.replaceState(null, '', '/?${full}'); dispatchEvent(new PopStateEvent('popstate'))`,
			"!!document.querySelector('.flame canvas') && / [\\d,]{4,} boxes/.test(document.querySelector('.flame').ariaLabel || document.querySelector('.flame').getAttribute('aria-label'))"));
		await ready(page);
	}
	const label = await page.$eval('.flame', (e) => e.getAttribute('aria-label'));
	say('page: a day of samples, first paint after the click', times, `${/([\d,]+) boxes/.exec(label)[1]} boxes, `);
	say('page: the same day, zoom, per frame', [await frames(page)]);
	await page.close();
}

// The time of drawing the canvas while zooming in and out, until its pixels are ready.
async function frames(page) {
	const before = await cpu(page);
	const times = await page.evaluate(async (acts) => {
		const times = [], context = document.querySelector('.flame canvas').getContext('2d');
		const measured = (code) => {
			const began = performance.now();
			(0, eval)(code);
			context.getImageData(0, 0, 1, 1);
			return performance.now() - began;
		};
		for (let round = 0; round < 8; round++)
			for (const [i, code] of acts.entries()) {
				await new Promise((r) => requestAnimationFrame(r));
				const took = measured(code);
				if (i >= 3 && round)
					times.push(took);
			}
		return times;
	}, [key('ArrowUp'), key('ArrowUp'), key('ArrowUp'), key('Enter'), key('Escape')]);
	return [median(times), (await cpu(page) - before) / 40];
}

// A file while it is opened, zoomed, searched, reversed and sorted.
async function file({ name, address, rounds = 3, acts = ['zoom'] }) {
	const least = {};
	const note = (what, ms) => (least[what] ||= []).push(ms);
	for (let i = 0; i < rounds; i++) {
		const page = await open(address);
		if (address.endsWith('.svg'))
			await page.waitForSelector('.controls');
		else
			await ready(page);
		await page.evaluate(() => new Promise((r) => requestAnimationFrame(() => setTimeout(r))));
		note('open', [performance.now() - page.began, await cpu(page)]);
		const isSvg = address.endsWith('.svg'), at = isSvg ? 'document.documentElement' : undefined;
		if (acts.includes('zoom')) {
			for (const k of ['ArrowUp', 'ArrowUp', 'ArrowUp'])
				await page.evaluate(key(k, at));
			note('zoom', await timed(page, key('Enter', at)));
			note('zoom out', await timed(page, key('Escape', at)));
		}
		if (acts.includes('frame'))
			note('zoom, per frame', await frames(page));
		if (acts.includes('sort')) {
			await page.evaluate(`${button('table')}.click()`);
			await page.waitForSelector('table.wide');
			note('sort', await timed(page, `${button('total')}.click()`, "document.querySelector('th.total').ariaSort !== 'none' || document.querySelector('th.total').getAttribute('aria-sort') !== 'none'"));
			note('sort by name', await timed(page, "document.querySelector('thead th.name button').click()", "document.querySelector('thead th.name').getAttribute('aria-sort') !== 'none'"));
		}
		if (acts.includes('calls'))
			note('call graph', await timed(page, `${button('call graph')}.click()`, "!!document.querySelector('.call-graph .node')"));
		await page.close();
	}
	for (const [what, times] of Object.entries(least))
		say(`${name}: ${what}`, times);
}

for (const [what, how] of given)
	await { day, file }[what](how);
await browser.close();
