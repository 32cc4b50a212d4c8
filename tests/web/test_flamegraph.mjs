// Flame graphs as SVG in a real browser: node test_flamegraph.mjs STROBE. test_file.mjs is of the page in a file.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { accessible, drawn, launch, newPage } from './browser.mjs';
import { check, end, test } from './lib.mjs';

const program = process.argv[2], folder = mkdtempSync(join(tmpdir(), 'strobe-picture-'));

// --- Pictures, and a server that hands them out under a given policy ---

const FOLDED = `main;load;parse 30
main;load;parse;lex 10
main;load;read 20
main;render;Parse::tree 25
main;render;paint 14
main;idle 1
`;
const DIFFERENCE = `main;load;parse 10 30
main;load;read 20 20
main;gone 20 0
main;render 50 40
`;

function draw(name, folded, ...options) {
	const done = spawnSync(program, ['flamegraph', '-', '-q', '-o', join(folder, name), ...options], { input: folded, maxBuffer: 1 << 30 });
	if (done.status !== 0)
		throw new Error(`${name}: ${done.stderr}`);
}

// Stacks with shared prefixes and Zipf-like weights, until the picture has as many frames as wished.
function manyStacks(lines) {
	let seed = 88172645463325252n & 0xffffffffn, text = '';
	const random = () => {
		seed = (seed * 1664525n + 1013904223n) & 0xffffffffn;
		return Number(seed >> 8n) / 2 ** 24;
	};
	const stacks = [];
	for (let i = 0; i < lines; i++) {
		const from = stacks.length ? stacks[Math.floor(random() * stacks.length)] : [], depth = 20 + Math.floor(random() * 40);
		const stack = from.slice(0, Math.min(depth - 1, Math.floor(from.length * (0.3 + 0.65 * random()))));
		while (stack.length < depth)
			stack.push(`Wiki\\Part${Math.floor(random() * 40)}::step${Math.floor(random() * 150)}`);
		stacks.push(stack);
		text += `${stack.join(';')} ${1 + Math.floor(3 / (0.05 + random()))}\n`;
	}
	return text;
}

draw('a.svg', FOLDED);
draw('long.svg', `main;${'a'.repeat(60)}! 5\n`);
draw('layer.svg', FOLDED, '--color-by', 'layer', '--inverted');
draw('reverse.svg', FOLDED, '--reverse');
draw('many.svg', manyStacks(4550), '--minwidth', '0');

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
const site = `http://127.0.0.1:${server.address().port}`;
const under = (policy, file) => `${site}/${Buffer.from(policy).toString('base64url')}/${file}`;

// --- A page and what one does there ---

const browser = await launch();

async function openPage(address, { dark = false, scripts = true, phone = false, width = 1200, height = 800 } = {}) {
	const page = await newPage(browser, { width, height, dark, scripts, phone, ignore: 'favicon' });
	page.on('request', (r) => r.url().startsWith(site) || page.complaints.push(`elsewhere: ${r.url()}`));
	await page.goto(address);
	return page;
}

const text = (page, selector) => page.$eval(selector, (e) => e.textContent);
const said = (page) => text(page, '#said, #details');
const matched = (page) => text(page, '#share, #matched');
const fragment = (page) => page.evaluate(() => decodeURIComponent(location.hash));

async function press(page, words) {
	await page.evaluate((w) => [...document.querySelectorAll('button')].find((b) => b.textContent.startsWith(w) || b.title.startsWith(w)).click(), words);
	await drawn(page);
}

const isOff = (page, words) => page.evaluate((w) => [...document.querySelectorAll('button')].find((b) => b.textContent === w ||
	b.title.startsWith(w)).disabled, words);

async function search(page, words) {
	await page.$eval('input', (e, w) => {
		e.value = w;
		e.dispatchEvent(new Event('input'));
	}, words);
	await drawn(page);
}

// Frames of an SVG: name, left edge, width, class, fill, row.
const frames = (page) => page.$$eval('#frames g', (all) => Object.fromEntries(all.map((g) => {
	const r = g.querySelector('rect');
	return [g.querySelector('title').textContent.split(' (')[0], { x: +r.getAttribute('x'), width: +r.getAttribute('width'),
		y: +r.getAttribute('y'), kind: g.getAttribute('class') || '', fill: r.getAttribute('fill') }];
})));

async function clickFrame(page, name, touch = false) {
	const at = await page.$$eval('#frames g', (all, n) => {
		const r = all.find((g) => g.querySelector('title').textContent.startsWith(`${n} (`)).querySelector('rect').getBoundingClientRect();
		return { x: r.x + r.width / 2, y: r.y + r.height / 2 };
	}, name);
	await (touch ? page.touchscreen.tap(at.x, at.y) : page.mouse.click(at.x, at.y));
	await drawn(page);
}

// The table that stands beside the picture, opened if it is not: names and their numbers.
async function table(page) {
	if (!await page.$('.twin'))
		await press(page, 'Table');
	return page.$$eval('.twin tbody tr', (all) => Object.fromEntries(all.map((tr) => [tr.cells[0].textContent, [...tr.cells].slice(1).map((c) => c.textContent)])));
}

// --- Use by a person ---

{
	const address = `${site}/a.svg`;

	await test(`svg: it opens without complaints and fetches nothing`, async () => {
		const page = await openPage(address);
		check(page.complaints.length === 0, page.complaints);
		check(await isOff(page, 'Undo') && await isOff(page, 'Redo') && await isOff(page, 'Keep'));
		await page.close();
	});

	await test(`svg: arrow keys walk to callees, siblings and callers, Enter zooms, Escape resets`, async () => {
		const page = await openPage(address), seen = [];
		for (const key of ['ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowRight', 'ArrowLeft', 'ArrowUp', 'ArrowDown']) {
			await page.keyboard.press(key);
			seen.push((await said(page)).split(' ')[1]);
		}
		check(seen.join() === 'all,main,load,render,load,parse,load', seen);
		await page.keyboard.press('Enter');
		check(await fragment(page) === '#zoom=;main;load', await fragment(page));
		await page.keyboard.press('Backspace');
		check(await fragment(page) === '#zoom=;main', await fragment(page));
		await page.keyboard.press('Escape');
		check(await fragment(page) === '', await fragment(page));
		await page.close();
	});

	await test(`svg: a search by regular expression says the share, steps through matches, and minds case if asked`, async () => {
		const page = await openPage(address), seen = [];
		await page.keyboard.down('Control');
		await page.keyboard.press('f');
		await page.keyboard.up('Control');
		await page.keyboard.type('^parse|lex');
		check(await matched(page) === 'Matched: 65.00%', await matched(page));
		check(await fragment(page) === '#search=^parse|lex', await fragment(page));
		await press(page, 'Match case');
		check(await matched(page) === 'Matched: 40.00%', await matched(page));
		for (const shift of [false, false, true]) {
			if (shift)
				await page.keyboard.down('Shift');
			await page.keyboard.press('Enter');
			await page.keyboard.up('Shift');
			seen.push((await said(page)).split(' ')[1]);
		}
		check(seen.join() === 'parse,lex,parse', seen);
		check(await fragment(page) === '#search=^parse|lex&ic=0', await fragment(page));
		await search(page, '(');
		check(await matched(page) === 'Not a regular expression' && await isOff(page, 'Keep') && await isOff(page, 'Next'));
		check(await page.$eval('input', (e) => e.getAttribute('aria-invalid')) === 'true');
		await page.close();
	});

	await test(`svg: an expression that takes for ever is given up, and the page answers meanwhile`, async () => {
		const page = await openPage(address.replace('a.svg', 'long.svg'));
		await search(page, '(a+)+$');
		await page.evaluate(() => 1);
		await page.waitForFunction(() => document.querySelector('#matched').textContent === 'Takes too long');
		check(await page.$eval('input', (e) => e.getAttribute('aria-invalid')) === 'true' && await isOff(page, 'Keep'));
		await search(page, '(m|b)ai.*');
		await page.waitForFunction(() => document.querySelector('#matched').textContent === 'Matched: 100.00%');
		await press(page, 'Keep');
		await page.waitForFunction(() => location.hash.includes('keep-i='));
		await page.reload();
		await page.waitForFunction(() => document.querySelector('#matched').textContent === 'Matched: 100.00%');
		await page.close();
	});

	await test(`svg: a filter that takes for ever is given up, also where no worker is permitted, and says so`, async () => {
		const slow = (page) => page.$$eval('.chips button', (all) => all.map((b) => b.textContent).join());
		const hashes = readFileSync(join(folder, 'long.svg'), 'utf8').match(/'sha256-[^']*'/g).join(' ');
		for (const at of [`${site}/long.svg`, under(`default-src 'none'; style-src 'unsafe-inline'; script-src ${hashes}`, 'long.svg')]) {
			const page = await openPage(`${at}#keep=(a%2B)%2B%24&remove=%28&remove=m.*n`);
			await page.waitForFunction(() => document.querySelector('.chips')?.textContent.includes('given up'));
			check(await slow(page) === 'given up: (a+)+$ ×,invalid: ( ×,without m.*n ×', await slow(page));
			check((await said(page)).startsWith('Nothing is left'), await said(page));
			await page.close();
		}
	});

	await test(`svg: filters keep and remove stacks, are undone and redone, and end at a click`, async () => {
		const page = await openPage(address);
		await search(page, 'load');
		await press(page, 'Keep');
		let rows = await table(page);
		check(rows.main[2] === '60' && !rows.render && rows.parse[0] === '30', rows);
		await search(page, 'lex');
		await press(page, 'Remove');
		rows = await table(page);
		check(rows.main[2] === '50' && !rows.lex, rows);
		check(await fragment(page) === '#keep-i=load&remove-i=lex', await fragment(page));
		await press(page, 'Undo');
		await press(page, 'Undo');
		await page.waitForFunction(() => location.hash.startsWith('#search=load&keep-i=load') || location.hash === '#search=load&keep-i=load');
		check((await table(page)).main[2] === '60');
		await press(page, 'Redo');
		await press(page, 'Redo');
		await page.waitForFunction(() => location.hash === '#keep-i=load&remove-i=lex');
		check((await table(page)).main[2] === '50');
		await press(page, 'without lex');
		check((await table(page)).main[2] === '60');
		await search(page, 'main');
		await press(page, 'Remove');
		check((await said(page)).startsWith('Nothing is left'), await said(page));
		await page.goBack();
		await drawn(page);
		check((await table(page)).main[2] === '60');
		check(page.complaints.length === 0, page.complaints);
		await page.close();
	});

	await test(`svg: reversed merges stacks from their ends, and keeps filters`, async () => {
		const page = await openPage(`${address}#remove=idle`);
		await press(page, 'Reversed');
		check(await fragment(page) === '#remove=idle&reversed=1');
		await page.keyboard.press('ArrowUp');
		await page.keyboard.press('ArrowUp');
		check((await said(page)).startsWith('Function: parse (30 samples, 30.30%)'), await said(page));
		await page.keyboard.press('ArrowUp');
		check((await said(page)).startsWith('Function: load (30 samples'), await said(page));
		const rows = await table(page);
		check(rows.parse[0] === '30' && rows.lex[0] === '10' && rows.main[2] === '99' && rows.main[0] === '0', rows);
		await page.close();
	});

	await test(`svg: icicle puts the root on top, and arrow keys follow`, async () => {
		const page = await openPage(address), seen = [];
		await press(page, 'Icicle');
		check(await fragment(page) === '#inverted=1');
		for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowUp']) {
			await page.keyboard.press(key);
			seen.push((await said(page)).split(' ')[1]);
		}
		check(seen.join() === 'all,main,load,main', seen);
		await page.close();
	});

	await test(`svg: a link opens the same view, at the deepest frame of its path that is still there`, async () => {
		const page = await openPage(`${address}#zoom=;main;render;no%20longer&search=paint&ic=1&color=layer`);
		check(await matched(page) === 'Matched: 35.90%', await matched(page));
		check(await page.$eval('select', (e) => e.value) === 'layer');
		check((await text(page, '.legend')).includes('kernel'));
		await page.close();
	});

	await test(`svg: the table sorts, and a name in it searches exactly that`, async () => {
		const page = await openPage(address);
		let names = Object.keys(await table(page));
		check(names[0] === 'parse' && names.length === 9, names);
		await press(page, 'Total');
		names = Object.keys(await table(page));
		check(names[0] === 'main', names);
		check(await page.$eval('.twin th[aria-sort]', (e) => e.getAttribute('aria-sort')) === 'descending');
		await press(page, 'Search Parse::tree');
		check(await fragment(page) === '#search=^Parse::tree$', await fragment(page));
		check(await matched(page) === 'Matched: 25.00%');
		await page.close();
	});

	for (const dark of [false, true])
		await test(`svg: axe finds nothing serious${dark ? ' in the dark' : ''}`, async () => {
			const page = await openPage(`${address}#search=parse&keep=load&zoom=;main`, { dark });
			await accessible(page, 'svg', { evaluate: true });
			await table(page);
			await accessible(page, `svg, with its table`, { evaluate: true });
			await page.close();
		});

	await test(`svg: in the dark the paper is dark and words are light`, async () => {
		const page = await openPage(address, { dark: true });
		const [paper, words] = await page.evaluate((svg) => {
			const style = (selector) => getComputedStyle(document.querySelector(selector));
			return svg ? [style('#paper').fill, style('#title').fill] : [style('body').backgroundColor, style('h1').color];
		}, true);
		const light = (color) => color.match(/\d+/g).slice(0, 3).reduce((a, b) => a + +b, 0);
		check(light(paper) < 120 && light(words) > 600, paper, words);
		await page.close();
	});

	await test(`svg: with scripts off, or forbidden by a policy, there is a whole still picture`, async () => {
		for (const [how, where] of [[{ scripts: false }, address], [{}, under("default-src 'none'; script-src 'none'; style-src 'unsafe-inline'", `a.svg`)]]) {
			const page = await openPage(where, how);
			const content = await page.content();
			check(['lex', 'Parse::tree', 'paint'].every((n) => content.includes(`>${n}</text>`)), where);
			check(!content.includes('class="controls"'));
			await page.close();
		}
	});

	await test(`svg: its scripts run where the policy names them by their hashes, and not if it names one only`, async () => {
		const file = readFileSync(join(folder, `a.svg`), 'utf8'), hashes = file.match(/'sha256-[^']*'/g);
		const script = /<script>(?:<!\[CDATA\[)?([^]*?)(?:\]\]>)?<\/script>/.exec(file)[1];
		check(hashes[0] === `'sha256-${createHash('sha256').update(script).digest('base64')}'` && hashes.length === 2, hashes);
		const policy = (of) => `default-src 'none'; script-src ${of.join(' ')}; style-src 'unsafe-inline'`;
		const page = await openPage(under(policy(hashes), `a.svg`));
		await page.waitForSelector('.controls');
		check(page.complaints.length === 0, page.complaints);
		await page.close();
		const still = await openPage(under(policy(hashes.slice(0, 1)), 'a.svg'));
		check(!(await still.content()).includes('class="controls"') && still.complaints.length > 0);
		await still.close();
	});
}

	await test(`svg: of a difference widths and colors can mean something else, and what is gone is there`, async () => {
		draw(`difference.svg`, DIFFERENCE);
		const page = await openPage(`${site}/difference.svg`);
		let rows = await table(page);
		check(rows.gone.join() === '20,0,−20,-100.00%' && rows.parse[3] === '200.00%', rows);
		await page.select('select', 'after');
		await drawn(page);
		rows = await table(page);
		check(!rows.gone && rows.main[1] === '90' && await fragment(page) === '#width=after', rows);
		await press(page, 'Self');
		check((await fragment(page)).includes('self=1'));
		{
			const now = await frames(page);
			check(now.main.fill === now.read.fill && now.main.fill !== now.parse.fill, now);
		}
		check(page.complaints.length === 0, page.complaints);
		await page.close();
	});

	await test(`svg: --factor, --total, --negate and --nameattr mean the same as in the still picture`, async () => {
		writeFileSync(join(folder, 'attributes'), 'parse\ttitle=reads &lt;it&gt;\thref=#of-parse\tclass=special\n');
		draw(`options.svg`, FOLDED, '--factor', '2.5', '--total', '200', '--nameattr', join(folder, 'attributes'));
		const page = await openPage(`${site}/options.svg`), seen = [];
		for (const key of ['ArrowUp', 'ArrowUp', 'ArrowUp', 'Enter', 'ArrowUp']) {
			await page.keyboard.press(key);
			seen.push(await said(page));
		}
		check(seen[0] === 'Function: all (500 samples, 100%)' && seen[1] === 'Function: main (250 samples, 50.00%)', seen);
		check(seen[4].startsWith('Function: reads <it>'), seen);
		check(await page.$eval('g.special > a[*|href="#of-parse"] rect', (e) => +e.getAttribute('width')) === 786.7);
		await page.close();

		draw(`negate.svg`, DIFFERENCE, '--negate');
		const other = await openPage(`${site}/negate.svg`);
		const colors = await other.$$eval('.legend i', (all) => all.map((e) => e.style.background));
		check(colors[0] === 'rgb(230, 97, 1)' && (await said(other)).startsWith('Blue is more than before, orange is less'), colors, await said(other));
		await other.close();
	});

await test('svg: words of a difference are the same when it is zoomed', async () => {
	const page = await openPage(`${site}/difference.svg`), titles = () => page.$$eval('#frames g title', (all) => all.map((e) => e.textContent));
	const before = await titles();
	await clickFrame(page, 'load');
	const now = await titles();
	check(now.length === 5 && now.every((t) => before.includes(t)) && now.some((t) => t.includes('all of it self')), now, before);
	await page.close();
});

// --- The SVG ---

await test('svg: a click zooms, callers are dimmed, and Back and Reset lead out', async () => {
	const page = await openPage(`${site}/a.svg`), start = await frames(page);
	await clickFrame(page, 'load');
	let now = await frames(page);
	check(now.load.width === 1180 && now.main.kind === 'dim' && !now.render && now.parse.width === 786.7, now);
	await clickFrame(page, 'parse');
	await page.goBack();
	await drawn(page);
	check(JSON.stringify(await frames(page)) === JSON.stringify(now));
	await press(page, 'Reset zoom');
	now = await frames(page);
	check(JSON.stringify(now) === JSON.stringify(start), now);
	await page.close();
});

await test("svg: links made for flamegraph.pl's script open: ?x=&y=&s=", async () => {
	const page = await openPage(`${site}/a.svg`), { load } = await frames(page);
	const other = await openPage(`${site}/a.svg?x=${load.x}&y=${load.y}&s=lex`), now = await frames(other);
	check(now.load.width === 1180 && now.lex.kind === 'match', now);
	check(await matched(other) === 'Matched: 16.67%', await matched(other));
	await page.close();
	await other.close();
});

await test('svg: frames stay where flamegraph.pl draws them; the bar has room of its own above', async () => {
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

for (const [width, height, phone] of [[320, 640, true], [390, 844, true], [1024, 768], [1920, 1080], [3840, 2160]])
	await test(`svg: it fills a window of ${width} px, opens at the root, and its bar and words stay in sight`, async () => {
		const page = await openPage(`${site}/high.svg`, { width, height, phone }), inWindow = () => page.evaluate(() => {
			const of = (e) => e.getBoundingClientRect(), out = (r) => r.left < 0 || r.right > innerWidth || r.top < 0 || r.bottom > innerHeight;
			return [...document.querySelectorAll('.controls > *, #details, #matched')].filter((e) => of(e).width && out(of(e))).map((e) => e.outerHTML.slice(0, 80));
		});
		const start = await frames(page), root = await page.$eval('#frames g', (g) => {
			const r = g.querySelector('rect').getBoundingClientRect();
			return { left: r.left, width: r.width, bottom: r.bottom, high: innerHeight, wide: document.documentElement.scrollWidth };
		});
		check(start.all.width === width - 20 && root.width > width - 21 && root.left === 10 && root.wide <= width, start.all, root);
		check(root.bottom < root.high && root.bottom > Math.min(root.high - 60, 500), 'the root is in the window', root);
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
		check((await frames(page)).all.width === 680, 'it follows its window');
		check(page.complaints.length === 0, page.complaints);
		await page.close();
	});

await test('svg: boxes in sight have labels, however many rows the picture has, and on paper all that are widest', async () => {
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

await test('svg: labels leave out the namespace, then the class, and keep the method', async () => {
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

await test('svg: a width that was chosen stays, and its bar does not leave a smaller window', async () => {
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

	await test(`svg: it is printed in light colors, also in the dark`, async () => {
		const page = await openPage(`${site}/a.svg`, { dark: true, width: 900 });
		await page.emulateMediaType('print');
		const [paper, words] = await page.evaluate((isSvg) => {
			const style = (selector) => getComputedStyle(document.querySelector(selector));
			return isSvg ? [style('#paper').fill, style('#title').fill] : [style('body').backgroundColor, style('h1').color];
		}, true);
		check(paper === 'rgb(255, 255, 255)' && /rgb\((\d|[12]\d), /.test(words), paper, words);
		await page.close();
	});

await test('svg: a narrow picture wraps its bar', async () => {
	draw('narrow.svg', FOLDED, '--width', '420');
	const page = await openPage(`${site}/narrow.svg`, { width: 430 });
	const over = await page.evaluate(() => {
		const bar = document.querySelector('.controls').getBoundingClientRect();
		return [bar.height, ...[...document.querySelectorAll('.controls > *')].map((e) => e.getBoundingClientRect().right - bar.right)];
	});
	check(over[0] > 50 && over.slice(1).every((v) => v < 1), over);
	await page.close();
});

await test('svg: colors by layer and package, and what --color-by and --inverted begin with', async () => {
	const page = await openPage(`${site}/layer.svg`), start = await frames(page);
	check(await page.$eval('select', (e) => e.value) === 'layer' && start['Parse::tree'].fill !== start.paint.fill && start.all.y < start.main.y, start);
	await page.select('select', 'package');
	await drawn(page);
	const now = await frames(page);
	check(now['Parse::tree'].fill !== start['Parse::tree'].fill && await fragment(page) === '#color=package', now);
	await press(page, 'Icicle');
	check((await frames(page)).all.y > (await frames(page)).main.y && (await fragment(page)).includes('inverted=0'));
	await page.close();
});

await test('svg: a reversed picture is turned back', async () => {
	const page = await openPage(`${site}/reverse.svg`);
	check((await frames(page)).lex.y === (await frames(page)).paint.y);
	await press(page, 'Reversed');
	const now = await frames(page);
	check(now.main.width === 1180 && now.load.width === 708 && await fragment(page) === '#reversed=0', now);
	await page.close();
});

// Each function in folded text as the table shows it, recursion counted once: name, self, total.
function functionsOf(folded) {
	const self = new Map(), total = new Map(), add = (map, name, v) => map.set(name, (map.get(name) || 0) + v);
	for (const line of folded.trim().split('\n')) {
		const [, stack, count] = /^(.*) (\d+)$/.exec(line), names = stack.split(';');
		add(self, names.at(-1), +count);
		new Set(names).forEach((name) => add(total, name, +count));
	}
	return [...total].map(([name, v]) => [name, self.get(name) || 0, v].join(' ')).sort();
}

async function tableOf(page) {
	await press(page, 'Show all functions').catch(() => {});
	return page.$$eval('.twin tbody tr', (all) => all.map((tr) => [tr.cells[0], tr.cells[1], tr.cells[3]]
		.map((c) => c.textContent.replaceAll(',', '')).join(' ')).sort());
}

// The part of folded text that goes through matching frames.
function shareOf(folded, pattern) {
	let all = 0, hit = 0;
	for (const line of folded.trim().split('\n')) {
		const [, stack, count] = /^(.*) (\d+)$/.exec(line);
		all += +count;
		hit += stack.split(';').some((name) => pattern.test(name)) ? +count : 0;
	}
	return `${(100 * hit / all).toFixed(2)}%`;
}

const NARROW = `main;wide;and;deep;below 100000\n${Array.from({ length: 3000 }, (_, i) =>
	`main;part${i % 60};load${i};filters${i % 2 ? ';wide' : ''}${i % 3 ? ';filters' : ''} ${1 + i % 5}\n`).join('')}`;

for (const [name, ...options] of [['narrow.svg'], ['narrow-reversed.svg', '--reverse'], ['narrow-elements.svg', '--minwidth', '200']])
	await test(`svg: table and search are those of the profile, drawn or not: ${name}`, async () => {
		draw(name, NARROW, ...options);
		const page = await openPage(`${site}/${name}`), drawn = Object.keys(await frames(page)).length;
		await press(page, 'Table');
		const table = await tableOf(page), truth = functionsOf(NARROW);
		check(drawn < table.length && JSON.stringify(table) === JSON.stringify(truth), table.length, table.slice(0, 9), truth.slice(0, 9));
		for (const pattern of ['^filters$', 'filters|load1', 'load.*7', 'wide'])
			await search(page, pattern), check(await matched(page) === `Matched: ${shareOf(NARROW, new RegExp(pattern))}`, pattern, await matched(page));
		await press(page, 'Reversed');
		await search(page, '^filters$');
		check(await matched(page) === `Matched: ${shareOf(NARROW, /^filters$/)}`, await matched(page));
		await page.close();
	});

await test('svg: table and search of one part are those of the profile too, and its narrow frames appear', async () => {
	const page = await openPage(`${site}/narrow.svg#zoom=;main;part7`), part = NARROW.split('\n').filter((l) => l.includes(';part7;')).join('\n');
	await press(page, 'Table');
	const table = await tableOf(page), truth = functionsOf(part).filter((line) => !line.startsWith('main '));
	check(JSON.stringify(table) === JSON.stringify(truth), table.slice(0, 9), truth.slice(0, 9));
	await search(page, '^filters$');
	check(await matched(page) === 'Matched: 100.00%' && (await frames(page)).load7, await matched(page));
	await page.close();
});

for (const [name, ...options] of [['large.svg', '--minwidth', '5'], ['large-reversed.svg', '--minwidth', '5', '--reverse']])
	await test(`svg: more frames than the file can have are in the sums of functions: ${name}`, async () => {
		const folded = manyStacks(4550);
		draw(name, folded, ...options);
		const page = await openPage(`${site}/${name}`), functions = functionsOf(folded);
		await press(page, 'Table');
		const table = await tableOf(page), truth = new Set(functions), caption = await text(page, '.twin caption');
		check(table.length >= 2000 && table.every((line) => truth.has(line)), table.filter((line) => !truth.has(line)).slice(0, 9));
		check(caption.startsWith(`all: ${functions.length.toLocaleString('en-US')} functions`), caption);
		await search(page, '^Wiki.Part7::step7$');
		const one = shareOf(folded, /^Wiki.Part7::step7$/), share = await matched(page);
		check(share === `Matched: ${one}` || share === `Matched: ≥ ${one}`, share, one);
		await search(page, 'Part7::');
		const least = /^Matched: ≥ ([0-9.]+)%$/.exec(await matched(page));
		check(least && +least[1] <= parseFloat(shareOf(folded, /Part7::/)), await matched(page));
		await page.close();
	});

// --- Pictures of pairs of caller and callee, whose stacks are an estimate ---

// Stacks of functions that call each other, and the same as callgrind's pairs.
const RECURSIVE = `main;a;b;a;b;u 100\nmain;b;a;u 50\nmain;b;c;b;u 25\nmain;c 5\nmain;a;a;u 7\n${Array.from({ length: 40 }, (_, i) =>
	`main;${[...'abcab'].slice(i % 5).join(';')};${'xyz'[i % 3]}${i % 2 ? ';a' : ''} ${1 + i}\n`).join('')}`;
// main;a;b;a and main;b;a;b without levels: of a and b only limits are known.
const CIRCLE = 'events: Ir\nfn=main\n1 10\ncfn=a\ncalls=1 1\n1 60\ncfn=b\ncalls=1 1\n1 45\nfn=a\n1 35\ncfn=b\ncalls=2 1\n1 65\nfn=b\n1 70\ncfn=a\ncalls=2 1\n1 40\n';

const pairs = spawnSync(program, ['convert', '-f', 'callgrind', '-'], { input: RECURSIVE });
const pairsAfter = spawnSync(program, ['convert', '-f', 'callgrind', '-'], { input: RECURSIVE.replace(';u 50', ';u 250') });
{
	draw(`pairs.svg`, pairs.stdout);
	draw(`circle.svg`, CIRCLE);
	writeFileSync(join(folder, 'before.pairs'), pairs.stdout);
	writeFileSync(join(folder, 'after.pairs'), pairsAfter.stdout);
	spawnSync(program, ['diff', join(folder, 'before.pairs'), join(folder, 'after.pairs'), '--normalize', 'none', '-o', join(folder, `pairs-changed.svg`)]);

	await test(`svg: of pairs of caller and callee, table, search and titles have what was measured, not what is drawn`, async () => {
		const page = await openPage(`${site}/pairs.svg`), truth = functionsOf(RECURSIVE);
		for (let i = 0; i < 5; i++)
			await page.keyboard.press('ArrowUp');
		const [, name, total, own] = /Function: (\w+) \(total ([\d,]+) \w+, [\d.]+%; (?:self (\d+) \w+, [\d.]+%; )?estimated here /.exec(await said(page)) || [];
		check(truth.includes([name, own || 0, total].join(' ')), await said(page));
		await press(page, 'Table');
		const table = await tableOf(page);
		check(JSON.stringify(table) === JSON.stringify(truth), table, truth);
		for (const pattern of ['^u$', '^a$', 'a|b', 'main', 'nothing'])
			await search(page, pattern), check(await matched(page) === `Matched: ${shareOf(RECURSIVE, new RegExp(pattern))}`, pattern, await matched(page));
		for (const pattern of ['u|c', 'x|y|z']) {		// a and b call them, and they call a and b
			await search(page, pattern);
			const limit = /^Matched: ≤ ([0-9.]+)%$/.exec(await matched(page));
			check(limit && +limit[1] >= parseFloat(shareOf(RECURSIVE, new RegExp(pattern))) && +limit[1] < 90, pattern, await matched(page));
		}
		check((await page.evaluate(() => document.documentElement.textContent)).includes('estimated stacks'), 'no word of the estimate');
		await page.close();
	});

	await test(`svg: a part of estimated stacks is an estimate, and says so`, async () => {
		const page = await openPage(`${site}/pairs.svg#zoom=;main;a`);
		await press(page, 'Table');
		await search(page, '^u$');
		check(/^Matched: ≈ /.test(await matched(page)), await matched(page));
		check((await text(page, '.twin caption')).endsWith('; from estimated stacks'), await text(page, '.twin caption'));
		await page.close();
		const filtered = await openPage(`${site}/pairs.svg#remove=%5Ex%24`);
		await search(filtered, '^u$');
		check(/^Matched: ≈ /.test(await matched(filtered)), await matched(filtered));
		await filtered.close();
	});

	await test(`svg: what pairs do not determine is told as a limit`, async () => {
		const page = await openPage(`${site}/circle.svg`), rows = await table(page);
		check(rows.a[2] === '≤100' && rows.b[2] === '≤105' && rows.b[0] === '70' && rows.main[2] === '115', rows);
		await search(page, '^b$');
		check(await matched(page) === 'Matched: ≤ 91.30%', await matched(page));
		await search(page, 'a|b');		// 105 was called from main
		check(await matched(page) === 'Matched: 100.00%', await matched(page));
		await search(page, '^(a|b)$');
		check(await matched(page) === 'Matched: 91.30%', await matched(page));
		await page.close();
	});

	await test(`svg: a difference of pairs has both sides as they were measured`, async () => {
		const page = await openPage(`${site}/pairs-changed.svg`), rows = await table(page);
		const before = functionsOf(RECURSIVE), after = functionsOf(RECURSIVE.replace(';u 50', ';u 250'));
		for (const [name, [a, b]] of Object.entries(rows)) {
			const find = (lines) => lines.find((line) => line.startsWith(`${name} `))?.split(' ')[2];
			check(a.replace(',', '') === find(before) && b.replace(',', '') === find(after), name, a, b, find(before), find(after));
		}
		check(Object.keys(rows).length === before.length, rows);
		await page.close();
	});
}

await test('svg: parts of counts are told by titles, before and after a zoom', async () => {
	draw('parts.svg', 'a;b 0.4\na;c 0.4\na;d 0.2\n');
	const page = await openPage(`${site}/parts.svg`), titles = (p) => p.$$eval('#frames title', (all) => all.map((t) => t.textContent));
	check((await titles(page)).join() === 'all (1 samples, 100%),a (1 samples, 100.00%),b (0.4 samples, 40.00%),c (0.4 samples, 40.00%),d (0.2 samples, 20.00%)', await titles(page));
	await clickFrame(page, 'c');
	check((await titles(page)).includes('c (0.4 samples, 40.00%)'), await titles(page));
	check((await table(page)).c[0] === '0.4', await table(page));
	await page.close();
});

await test('svg: the first touch shows a frame and the second one zooms', async () => {
	const page = await openPage(`${site}/a.svg`, { phone: true });
	await clickFrame(page, 'load', true);
	check((await said(page)).startsWith('Function: load') && await fragment(page) === '', await said(page));
	await clickFrame(page, 'load', true);
	check(await fragment(page) === '#zoom=;main;load', await fragment(page));
	await page.close();
});

await test('svg: printed, it has no controls and no room for them', async () => {
	const page = await openPage(`${site}/a.svg`);
	await page.emulateMediaType('print');
	check(await page.$eval('.controls', (e) => getComputedStyle(e).display) === 'none');
	await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
	check(await page.$eval('svg', (e) => e.getAttribute('viewBox')) === '0 0 1200 150');
	await page.close();
});

await test('svg: keep and remove are about the marked frame when nothing is searched', async () => {
	const page = await openPage(`${site}/a.svg`);
	for (const key of ['ArrowUp', 'ArrowUp', 'ArrowUp'])
		await page.keyboard.press(key);
	await press(page, 'Remove');
	const now = await frames(page);
	check(!now.load && now.render.width === 1150.5 && now.all.width === 1180, now);
	check(await fragment(page) === '#remove=^load$', await fragment(page));
	await page.close();
});

// --- Many frames ---

const times = {};		// the least of each

for (let time = 0; time < 3; time++)
	await test(`svg: many frames open, zoom, are searched and turned over`, async () => {
		const began = performance.now(), page = await openPage(`${site}/many.svg`);
		await drawn(page);
		const opened = performance.now() - began, least = times.svg ||= {};
		least.open = Math.min(least.open ?? Infinity, opened);
		const label = await page.$eval('#frames, .flame', (e) => e.getAttribute('aria-label'));
		const timed = async (name, act) => {
			least[name] = Math.min(least[name] ?? Infinity, await page.evaluate(async (code) => {
				const t = performance.now();
				(0, eval)(code);
				await new Promise((r) => requestAnimationFrame(() => setTimeout(r)));
				return performance.now() - t;
			}, act));
		};
		for (let i = 0; i < 3; i++)
			await page.keyboard.press('ArrowUp');
		await timed('zoom', "document.documentElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }))");
		check((await fragment(page)).startsWith('#zoom='));
		await timed('unzoom', "document.documentElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Backspace', bubbles: true }))");
		await timed('search', "{ const i = document.querySelector('input'); i.value = 'step1'; i.dispatchEvent(new Event('input')); }");
		check(parseFloat((await matched(page)).slice(9)) > 10, await matched(page));
		await timed('reversed', "[...document.querySelectorAll('button')].find((b) => b.textContent === 'Reversed').click()");
		const elements = await page.$$eval('#frames *', (all) => all.length);
		check(elements < 12000, 'elements', elements);
		check(page.complaints.length === 0, page.complaints);
		console.log(`# svg: ${label.split('.')[0]}: ${Object.entries(least).map(([k, v]) => `${k} ${v.toFixed(0)} ms`).join(', ')}`);
		await page.close();
	});

await browser.close();
server.close();
rmSync(folder, { recursive: true });
await end();
