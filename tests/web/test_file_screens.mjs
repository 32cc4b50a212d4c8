// The page in a file on all screens, printed, and without scripts: node test_file_screens.mjs STROBE [PICTURES]

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { accessible, drawn, printed } from './browser.mjs';
import { finish, folder, openAt, openFile, page_, picture, plain, program, setPolicy, strobe } from './file_pages.mjs';
import { check, message, some, test } from './lib.mjs';

for (const [name, how] of some([['trace', ''], ['trace', 'show=calls'], ['trace', 'show=time'], ['trace', 'function=App%5CView%3A%3Arender'], ['diff', ''], ['trace', 'show=table'], ['diff', 'show=table']]))
	for (const dark of some([false, true]))
		await test(`axe reports no serious violations: ${name} ${how}${dark ? ' in dark mode' : ''}`, async () => {
			const page = await openFile(name, how, { dark });
			await drawn(page);
			await picture(page, `${name}-${how.replace(/[^a-z]+/gi, '')}-${dark ? 'dark' : 'light'}`);
			await accessible(page, how, { evaluate: true });
			check(page.complaints.length === 0, page.complaints);
			await page.close();
		});

for (const [width, height, phone] of some([[320, 640, true], [390, 844, true], [1024, 768], [3840, 2160]]))
	await test(`at ${width} px nothing overflows the window, and table rows have at most two lines`, async () => {
		for (const [name, how] of [['trace', ''], ['trace', 'show=table'], ['trace', 'show=calls'], ['trace', 'function=App%5CView%3A%3Arender'], ['diff', ''], ['options', '']]) {
			const page = await openFile(name, how, { width, height, phone });
			await drawn(page);
			const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), tall = await page.$$eval('.rows tbody tr:not(.gap)', (all) => Math.max(0, ...all.map((e) => e.offsetHeight)));
			check(over <= 0 && tall <= 45, name, how, over, tall);
			await picture(page, `${name}-${how.replace(/[^a-z]+/gi, '')}-${width}`);
			await page.close();
		}
	});

await test('dark mode has light text on a dark background, and print has dark text on white', async () => {
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

await test('the graph stays scrolled to its root when the window is resized or printed', async () => {
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
	check(Math.abs(await below() - 30) < 1, 'the scroll position is kept', await below());
	await page.close();
});

const SHEET_STACK = Array.from({ length: 60 }, (_, i) => `f${i}`).join(';'), SHEET_WIDE = Array.from({ length: 400 }, (_, i) => `f0;g${i} 1`).join('\n');
writeFileSync(join(folder, 'sheet.folded'), `${SHEET_STACK} 5000\n${SHEET_WIDE}\n`);
strobe('flamegraph', '-q', join(folder, 'sheet.folded'), '-o', page_('sheet'));

for (const dark of some([true, false]))
	await test(`print has the whole graph and the first table rows in light colors, and leaves the page as it was${dark ? ', in dark mode' : ''}`, async () => {
		const page = await openFile('sheet', '', { dark }), state = () => page.evaluate(() => {
			const c = document.querySelector('.flame canvas');
			return [c.width, c.height, c.toDataURL().length, document.querySelector('.flame').scrollTop, document.querySelectorAll('.functions tbody tr').length].join();
		});
		await drawn(page);
		await page.$eval('.rows', (e) => e.scrollTop = 600);
		await page.$eval('.flame', (e) => e.scrollTop -= 100);
		await drawn(page);
		const before = await state(), { canvases: [c], rows, text: words } = await printed(page);
		check(c.height === 2 * (61 * 19 + 8) && c.width > 1800, 'all rows are printed', c);
		check(c.corner.join() === '255,255,255', dark, 'background', c);
		check(Math.min(...c.rootLeft) > 200 && c.rootLeft.join() === c.rootRight.join() && c.rootLeft.join() !== c.corner.join(), dark, 'the root spans the full width', c);
		check(rows === 200 && words.includes('The first 200 of 460 functions.'), rows);
		await drawn(page);
		check(await state() === before, before, await state());
		check(await page.$eval('.rows', (e) => e.scrollTop) === 600, 'the scroll position of the table is kept');
		await page.emulateMediaType('print');
		await page.setViewport({ width: 794, height: 1123 });
		await drawn(page);
		const { left, right, ratio, below } = await page.$eval('.flame canvas', (e) => {
			const r = e.getBoundingClientRect(), table = document.querySelector('.functions').getBoundingClientRect();
			return { left: r.left, right: r.right, ratio: r.width / r.height / (e.width / e.height), below: table.top - r.bottom };
		});
		check(left >= 0 && right <= 794 && right > 760 && Math.abs(ratio - 1) < 0.01 && below >= 0, 'the graph fits the sheet', left, right, ratio, below);
		check(page.complaints.length === 0, page.complaints);
		await page.close();
	});

await test('print of a very deep graph has only the rows at the root, with a note', async () => {
	writeFileSync(join(folder, 'abyss.folded'), `${Array.from({ length: 700 }, (_, i) => `f${i}`).join(';')} 5\n`);
	strobe('flamegraph', '-q', join(folder, 'abyss.folded'), '-o', page_('abyss'));
	const page = await openFile('abyss', 'show=graph'), { canvases: [c], text: words } = await printed(page);
	check(c.height === 2 * (300 * 19 + 8) && words.includes('Of 701 rows these are the 300 at the root.'), c);
	await page.close();
	const calls = Array.from({ length: 700 }, (_, i) => [i + 1, i * 10, 20_000 - 20 * i]);
	writeFileSync(join(folder, 'abyss.strobe'), message('abyss', { frames: [['walk']], nodes: calls.map((_, i) => [i, 0]), calls }));
	strobe('flamegraph', '-q', join(folder, 'abyss.strobe'), '-o', page_('abyss-chart'));
	const chart = await openFile('abyss-chart', 'show=time');
	check((await printed(chart)).text.includes('Of 701 rows these are the 300 at the root.'), 'note below a flame chart');
	await chart.close();
});

await test('with scripts disabled, blocked by a CSP or broken, the complete static picture is shown', async () => {
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
	setPolicy("default-src 'none'; script-src 'none'; style-src 'unsafe-inline'");
	const forbidden = await openAt(address, { wait: false });
	await still(forbidden);
	await forbidden.close();
	setPolicy('');
	const whole = readFileSync(page_('trace'), 'utf8').replace(/<meta http-equiv[^>]*>/, ''), begin = whole.lastIndexOf('<script>');
	for (const end of ['<script>}{</script>', '<script>throw new Error("too old")</script>', '']) {
		writeFileSync(page_('broken'), whole.slice(0, begin) + end);
		const broken = await openFile('broken', '', { wait: false });
		await broken.waitForSelector('#still svg');
		await still(broken);
		await broken.close();
	}
	setPolicy(`default-src 'none'; script-src ${own}; worker-src blob:; style-src 'unsafe-inline'; sandbox allow-scripts`);
	const named = await openAt(address);
	check(named.complaints.length === 0, named.complaints);
	await named.close();
	setPolicy('');
});

await test('a file without values has no script and opens without console errors', async () => {
	writeFileSync(join(folder, 'nothing.folded'), 'main 0\n');
	spawnSync(program, ['flamegraph', '-q', join(folder, 'nothing.folded'), '-o', page_('nothing')]);
	const page = await openFile('nothing', '', { wait: false });
	check(!(await page.content()).includes('<script') && page.complaints.length === 0);
	await page.close();
});

await finish();
