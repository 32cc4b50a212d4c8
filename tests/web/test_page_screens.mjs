// The page on screens of all sizes, and printed: node test_page_screens.mjs TEST-SERVER

import { drawn, newPage, printed, ready } from './browser.mjs';
import { check, test } from './lib.mjs';
import { at, browser, colors, finish, openPage, pointInRow, site, text } from './live_pages.mjs';

await test('the top bar has one row with the usual labels, also with a long name of the time zone', async () => {
	const other = await openPage(`${site}/?entry=index&deploy=7`);
	await other.emulateTimezone('America/Argentina/Buenos_Aires');
	await other.reload();
	await ready(other);
	const rows = async () => other.$$eval('.bar > *, .bar .strip > *, .bar .ends > *', (all) => new Set(all.filter((e) => e.offsetHeight).map((e) => Math.round((e.getBoundingClientRect().top + e.getBoundingClientRect().bottom) / 20))).size);
	check((await other.$$('.bar .picker')).length >= 4, 'pickers');
	check(await rows() === 1, await rows());
	await other.emulateTimezone('UTC');
	await other.reload();
	await ready(other);
	check(await other.$eval('.bar', (e) => e.offsetHeight) < 50, 'labels do not wrap where there is room');
	await other.goto(`${site}/?entry=index&deploy=7&pool=a&method=GET&release=1`);
	await ready(other);
	check(await rows() === 1, 'more labels wrap beside the brand', await rows());
	await other.close();
});

await test('print has the timeline at the width of a sheet and the graph, in light colors without controls', async () => {
	const other = await openPage(`${site}/?entry=index`, { dark: true });
	await other.waitForSelector('.plot canvas');
	const was = await other.$eval('.plot canvas', (e) => e.width), { canvases: [plot, flame], muted } = await printed(other);
	check(plot.width === 680 && was > 1200, plot, was);
	check(flame.corner.join() === '255,255,255' && muted === '#66625b', flame, muted);
	await drawn(other);
	check(await other.$eval('.plot canvas', (e) => e.width) === was);
	await other.emulateMediaType('print');
	const seen = (selector) => other.$$eval(selector, (all) => all.filter((e) => e.checkVisibility()).length);
	check(await seen('.search, .tools, .ends, .ranges, .views, .hint, select, .caption select, .crumbs') === 0);
	check(await seen('.brand') === 1 && await seen('.pick') === 1 && (await text(other, '.pick.chosen')).includes('index'), 'the selected label is printed');
	await other.close();
});

await test('the page does not scroll sideways on a phone', async () => {
	const other = await openPage(site, { width: 390, height: 844, phone: true });
	const over = await other.evaluate(() => document.documentElement.scrollWidth - innerWidth);
	check(over <= 0, over);
	check(await colors(other) > 30);
	for (const button of await other.$$('.picker .pick')) {
		await button.click();
		const r = await other.$eval('.picker .popup', (e) => { const b = e.getBoundingClientRect(); return [b.left, b.right]; });
		check(r[0] >= 0 && r[1] <= 390, 'a list of values fits the screen', r);
		await button.click();
	}
	await other.close();
});

await test('the time axis of a short range has several ticks on a phone, which do not overlap', async () => {
	const other = await newPage(browser, { width: 390, height: 844, phone: true });
	await other.evaluateOnNewDocument(() => {
		const draw = CanvasRenderingContext2D.prototype.fillText;
		globalThis.written = [];
		CanvasRenderingContext2D.prototype.fillText = function (text, x, ...at) {
			if (/^\d\d:\d\d/.test(text))
				globalThis.written.push([text, x / devicePixelRatio, this.measureText(text).width / devicePixelRatio]);
			draw.call(this, text, x, ...at);
		};
	});
	// From a full hour on, as the number of ticks of a range that ends now depends on the clock.
	const hour = new Date(Math.floor(Date.now() / 3_600_000 - 2) * 3_600_000);
	for (const minutes of [2, 5, 8, 25, 90]) {
		await other.goto(`${site}/?from=${hour.toISOString()}&to=${new Date(+hour + minutes * 60_000).toISOString()}`);
		await ready(other);
		await other.waitForFunction(() => globalThis.written.length > 0);
		const ticks = await other.evaluate(() => [...new Map(globalThis.written.map((w) => [w[0], w])).values()].sort((a, b) => a[1] - b[1]));
		check(ticks.length >= 3, minutes, ticks);
		check(ticks.every((t, i) => i === 0 || t[1] - ticks[i - 1][1] > t[2] + 4), minutes, ticks);
	}
	await other.close();
});

await test('on a phone the top bar has three rows, and its filters scroll sideways', async () => {
	const other = await openPage(`${site}/?from=-24h&sapi=fpm-fcgi&split=host`, { width: 390, height: 844, phone: true });
	await other.waitForSelector('.views');
	const high = () => other.evaluate(() => ['.bar', '.views', '.graph .tools'].map((s) => document.querySelector(s).offsetHeight));
	const [bar, views, tools] = await high();
	check(bar < 124 && views < 120 && tools < 90, bar, views, tools);
	const first = await other.$eval('.picker', (e) => e.getBoundingClientRect().left >= 0) && await other.$eval('.pick.chosen', (e) => e.getBoundingClientRect().right <= 390);
	check(first, 'the selected value is visible');
	const cut = await other.$$eval('.bar .pickers > *', (all) => all.some((e) => { const r = e.getBoundingClientRect(); return r.left < 360 && r.right > 390; }));
	check(cut && await other.$eval('.bar .ranges', (e) => e.getBoundingClientRect().right <= 390 && e.getBoundingClientRect().left >= 0), 'the ranges are visible, and a filter is cut off where more follow', cut);
	check(await other.$eval('.bar .zone', (e) => e.getBoundingClientRect().right <= 390), 'the time zone is visible');
	for (const [button, popup] of [['button.custom', '.times'], ['.compare > button', '.compare .popup']]) {
		await other.click(button);
		await other.waitForSelector(popup);
		const r = await other.$eval(popup, (e) => { const b = e.getBoundingClientRect(), at = document.elementFromPoint(b.left + 20, b.top + 12); return [b.left, b.right, e.contains(at)]; });
		check(r[0] >= 0 && r[1] <= 390 && r[2], popup, r);
		await other.keyboard.press('Escape');
	}
	await other.close();
});

await test('the ranges are visible on a tablet with many selected labels', async () => {
	const other = await openPage(`${site}/?from=-24h&sapi=fpm-fcgi&entry=index&entry=api*&host=!web1&clock=wall&from=2026-01-01T00:00`, { width: 899, height: 800 });
	await other.waitForSelector('.ranges');
	const right = await other.$eval('.ranges', (e) => e.getBoundingClientRect().right);
	check(right <= 899, right);
	await other.close();
});

await test('on a phone the first tap shows a box, and the second one zooms', async () => {
	const other = await openPage(site, { width: 390, height: 844, phone: true });
	await other.$eval('.flame', (e) => e.scrollIntoView({ block: 'center' }));
	const { x, y } = await pointInRow(other, 2);
	await other.touchscreen.tap(x, y);
	await other.waitForSelector('.tip');
	check(!other.url().includes('zoom='), other.url());
	await other.touchscreen.tap(x, y);
	await drawn(other);
	await at(other, 'zoom=');
	await other.close();
});

await finish();
