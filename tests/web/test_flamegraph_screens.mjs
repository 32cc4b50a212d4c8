// Flame graphs as SVG on all screens, printed, and without scripts: node test_flamegraph_screens.mjs STROBE

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { accessible, drawn } from './browser.mjs';
import { check, some, test } from './lib.mjs';
import { draw, finish, folder, FOLDED, frames, openPage, said, search, site, table, under } from './svg_pages.mjs';

await test('svg: frames have the positions of flamegraph.pl, and the toolbar has its own space above them', async () => {
	const page = await openPage(`${site}/a.svg`), still = await openPage(`${site}/a.svg`, { scripts: false });
	const now = await frames(page);
	check(now.all.y === 101 && now.all.x === 10, now.all);
	const [bar, title] = await page.evaluate(() => ['.controls', '#title'].map((s) => document.querySelector(s).getBoundingClientRect()).map((r) => [r.top, r.bottom]));
	check(bar[0] >= 0 && bar[1] <= title[0], bar, title);
	check(await still.$eval('svg', (e) => e.getAttribute('viewBox')) === '0 0 1200 150');
	await page.close();
	await still.close();
});

// High enough for no window, with names too long for most boxes.
const HIGH = Array.from({ length: 40 }, (_, i) => `${Array.from({ length: 60 }, (_, d) =>
	`App\\Shop\\Module${i >> Math.max(0, 3 - d)}\\Service${d}::handle${d}`).join(';')} ${5 + i % 3}\n`).join('');

draw('high.svg', HIGH, '--subtitle', 'a subtitle that is much longer than the screen of a telephone is wide, and is cut there');

for (const [width, height, phone] of some([[320, 640, true], [390, 844, true], [1024, 768], [3840, 2160], [1920, 1080]]))
	await test(`svg: the picture fills a window of ${width} px, opens at the root, and its toolbar stays visible`, async () => {
		const page = await openPage(`${site}/high.svg`, { width, height, phone }), inWindow = () => page.evaluate(() => {
			const of = (e) => e.getBoundingClientRect(), out = (r) => r.left < 0 || r.right > innerWidth || r.top < 0 || r.bottom > innerHeight;
			return [...document.querySelectorAll('.controls > *, #details, #matched')].filter((e) => of(e).width && out(of(e))).map((e) => e.outerHTML.slice(0, 80));
		});
		const start = await frames(page), root = await page.$eval('#frames g', (g) => {
			const r = g.querySelector('rect').getBoundingClientRect();
			return { left: r.left, width: r.width, bottom: r.bottom, high: innerHeight, wide: document.documentElement.scrollWidth };
		});
		check(start.all.width === width - 20 && root.width > width - 21 && root.left === 10 && root.wide <= width, start.all, root);
		check(root.bottom < root.high && root.bottom > Math.min(root.high - 60, 500), 'the root is visible', root);
		check((await inWindow()).length === 0, await inWindow());
		await search(page, 'handle59');
		await page.evaluate(() => scrollTo(0, 100));
		await page.keyboard.press('ArrowUp');
		await page.keyboard.press('ArrowUp');
		await drawn(page);
		check((await said(page)).includes('::handle0 ('), await said(page));
		check((await inWindow()).length === 0, 'scrolled', await inWindow());
		const texts = await page.$$eval('#title, #subtitle', (all) => all.map((e) => e.getBoundingClientRect()).every((r) => r.left >= 0 && r.right <= innerWidth));
		check(texts, 'headings fit');
		await page.setViewport({ width: 700, height: 500 });
		await drawn(page);
		check((await frames(page)).all.width === 680, 'the picture follows the size of the window');
		check(page.complaints.length === 0, page.complaints);
		await page.close();
	});

await test('svg: visible boxes of a very deep picture have labels, and print draws the widest boxes', async () => {
	const stack = (name) => Array.from({ length: 1500 }, (_, i) => `${name}::level${i}`).join(';');
	draw('rows.svg', `${stack('Wide')} 80\n${stack('Narrow')} 20\n`);
	const page = await openPage(`${site}/rows.svg`, { width: 1440 });
	const labels = () => page.$$eval('#frames text', (all) => all.filter((e) => {
		const { top, bottom } = e.getBoundingClientRect();
		return top > 60 && bottom < innerHeight - 30;
	}).map((e) => e.textContent));
	// Each row between the bars has both, whatever its number.
	const isLabeled = async (where) => {
		const seen = await labels(), levels = [...new Set(seen.map((t) => t.replace(/.*level/, '')))].filter((l) => l !== 'all');
		check(levels.length > 40 && levels.every((l) => seen.includes(`Wide::level${l}`) && seen.includes(`Narrow::level${l}`)), where, levels.length, seen.length);
		check(await page.$$eval('#frames > g', (all) => all.length) < 900, where);
	};
	await isLabeled('at the root');
	for (const y of [0, 12_000, 3000]) {
		await page.evaluate((to) => scrollTo(0, to), y);
		await page.waitForFunction(() => [...document.querySelectorAll('#frames text')].some((e) => Math.abs(e.getBoundingClientRect().top - innerHeight / 2) < 20));
		await isLabeled(y);
	}
	await page.emulateMediaType('print');
	await page.waitForFunction(() => document.querySelectorAll('#frames > g').length >= 1500);
	await page.emulateMediaType(null);
	await page.waitForFunction(() => document.querySelectorAll('#frames > g').length < 900);
	await isLabeled('after print');
	check(page.complaints.length === 0, page.complaints);
	await page.close();
});

await test('svg: labels omit the namespace first, then the class, and keep the method', async () => {
	draw('labels.svg', 'Wiki\\Page\\Parser::parse 30\nWiki\\Page\\Parser::finish 10\nWiki\\Page\\Parser::lookAtAllLinks 3\n');
	const labels = (page) => page.$$eval('#frames text', (all) => all.map((e) => e.textContent).filter((s) => s !== 'all').sort());
	const still = await openPage(`${site}/labels.svg`, { scripts: false });
	check((await labels(still)).join() === 'Wiki\\Page\\Parser::finish,Wiki\\Page\\Parser::parse,lookAtAll..', await labels(still));
	for (const [width, words] of [[1200, 'Wiki\\Page\\Parser::finish,Wiki\\Page\\Parser::parse,lookAtAll..'], [400, 'Wiki\\Page\\Parser::parse,finish,l..'],
		[3000, 'Parser::lookAtAllLinks,Wiki\\Page\\Parser::finish,Wiki\\Page\\Parser::parse']]) {
		const page = await openPage(`${site}/labels.svg`, { width });
		check((await labels(page)).join() === words, width, await labels(page));
		await page.close();
	}
	await still.close();
});

await test('svg: --width is kept in a smaller window, which the toolbar does not leave', async () => {
	draw('wide.svg', FOLDED, '--width', '1500');
	const page = await openPage(`${site}/wide.svg`, { width: 600 });
	check((await frames(page)).all.width === 1480);
	for (const x of [0, 400, 900]) {
		await page.evaluate((left) => scrollTo(left, 0), x);
		await drawn(page);
		const out = await page.$$eval('.controls > *', (all) => all.map((e) => e.getBoundingClientRect()).filter((r) => r.width && (r.left < 0 || r.right > 600)).length);
		check(out === 0, x, out);
	}
	await page.close();
});

await test('svg: the toolbar of a narrow picture wraps', async () => {
	draw('narrow.svg', FOLDED, '--width', '420');
	const page = await openPage(`${site}/narrow.svg`, { width: 430 });
	const over = await page.evaluate(() => {
		const bar = document.querySelector('.controls').getBoundingClientRect();
		return [bar.height, ...[...document.querySelectorAll('.controls > *')].map((e) => e.getBoundingClientRect().right - bar.right)];
	});
	check(over[0] > 50 && over.slice(1).every((v) => v < 1), over);
	await page.close();
});

for (const dark of [false, true])
	await test(`svg: axe reports no serious violations${dark ? ' in dark mode' : ''}`, async () => {
		const page = await openPage(`${site}/a.svg#search=parse&keep=load&zoom=;main`, { dark });
		await accessible(page, 'svg', { evaluate: true });
		await table(page);
		await accessible(page, 'svg, with its table', { evaluate: true });
		await page.close();
	});

await test('svg: dark mode has light text on a dark background', async () => {
	const page = await openPage(`${site}/a.svg`, { dark: true });
	const [paper, words] = await page.$$eval('#paper, #title', (both) => both.map((e) => getComputedStyle(e).fill));
	const light = (color) => color.match(/\d+/g).slice(0, 3).reduce((a, b) => a + +b, 0);
	check(light(paper) < 120 && light(words) > 600, paper, words);
	await page.close();
});

await test('svg: print has light colors, also in dark mode', async () => {
	const page = await openPage(`${site}/a.svg`, { dark: true, width: 900 });
	await page.emulateMediaType('print');
	const [paper, words] = await page.$$eval('#paper, #title', (both) => both.map((e) => getComputedStyle(e).fill));
	check(paper === 'rgb(255, 255, 255)' && /rgb\((\d|[12]\d), /.test(words), paper, words);
	await page.close();
});

await test('svg: print has no controls and no space for them', async () => {
	const page = await openPage(`${site}/a.svg`);
	await page.emulateMediaType('print');
	check(await page.$eval('.controls', (e) => getComputedStyle(e).display) === 'none');
	await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
	check(await page.$eval('svg', (e) => e.getAttribute('viewBox')) === '0 0 1200 150');
	await page.close();
});

await test('svg: with scripts disabled or blocked by a CSP, the complete static picture is shown', async () => {
	for (const [how, where] of [[{ scripts: false }, `${site}/a.svg`], [{}, under("default-src 'none'; script-src 'none'; style-src 'unsafe-inline'", 'a.svg')]]) {
		const page = await openPage(where, how);
		const content = await page.content();
		check(['lex', 'Parse::tree', 'paint'].every((n) => content.includes(`>${n}</text>`)), where);
		check(!content.includes('class="controls"'));
		await page.close();
	}
});

await test('svg: scripts run under a CSP that has both of their hashes, and not with only one', async () => {
	const file = readFileSync(join(folder, 'a.svg'), 'utf8'), hashes = file.match(/'sha256-[^']*'/g);
	const script = /<script>(?:<!\[CDATA\[)?([^]*?)(?:\]\]>)?<\/script>/.exec(file)[1];
	check(hashes[0] === `'sha256-${createHash('sha256').update(script).digest('base64')}'` && hashes.length === 2, hashes);
	const policy = (of) => `default-src 'none'; script-src ${of.join(' ')}; style-src 'unsafe-inline'`;
	const page = await openPage(under(policy(hashes), 'a.svg'));
	await page.waitForSelector('.controls');
	check(page.complaints.length === 0, page.complaints);
	await page.close();
	const still = await openPage(under(policy(hashes.slice(0, 1)), 'a.svg'));
	check(!(await still.content()).includes('class="controls"') && still.complaints.length > 0);
	await still.close();
});

await finish();
