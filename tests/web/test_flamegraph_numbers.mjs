// Numbers of flame graphs as SVG, which are those of the profile, in a real browser: node test_flamegraph_numbers.mjs STROBE

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawn } from './browser.mjs';
import { check, some, test } from './lib.mjs';
import { clickFrame, draw, finish, folder, fragment, frames, matched, openPage, press, program, said, search, site, table, text } from './svg_pages.mjs';

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

const NARROW = `main;wide;and;deep;below 100000\n${Array.from({ length: 1200 }, (_, i) =>
	`main;part${i % 60};load${i};filters${i % 2 ? ';wide' : ''}${i % 3 ? ';filters' : ''} ${1 + i % 5}\n`).join('')}`;

for (const [name, ...options] of some([['narrow.svg'], ['narrow-reversed.svg', '--reverse'], ['narrow-elements.svg', '--minwidth', '200']]))
	await test(`svg: the table and searches include frames that are too narrow to be drawn: ${name}`, async () => {
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

await test('svg: the table and searches of a zoomed part are exact, and its narrow frames are drawn', async () => {
	const page = await openPage(`${site}/narrow.svg#zoom=;main;part7`), part = NARROW.split('\n').filter((l) => l.includes(';part7;')).join('\n');
	await press(page, 'Table');
	const table = await tableOf(page), truth = functionsOf(part).filter((line) => !line.startsWith('main '));
	check(JSON.stringify(table) === JSON.stringify(truth), table.slice(0, 9), truth.slice(0, 9));
	await search(page, '^filters$');
	check(await matched(page) === 'Matched: 100.00%' && (await frames(page)).load7, await matched(page));
	await page.close();
});

await test('svg: titles have fractional counts, before and after a zoom', async () => {
	draw('parts.svg', 'a;b 0.4\na;c 0.4\na;d 0.2\n');
	const page = await openPage(`${site}/parts.svg`), titles = (p) => p.$$eval('#frames title', (all) => all.map((t) => t.textContent));
	check((await titles(page)).join() === 'all (1 samples, 100%),a (1 samples, 100.00%),b (0.4 samples, 40.00%),c (0.4 samples, 40.00%),d (0.2 samples, 20.00%)', await titles(page));
	await clickFrame(page, 'c');
	check((await titles(page)).includes('c (0.4 samples, 40.00%)'), await titles(page));
	check((await table(page)).c[0] === '0.4', await table(page));
	await page.close();
});

// --- Many frames ---

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

for (const [name, ...options] of some([['large.svg', '--minwidth', '5'], ['large-reversed.svg', '--minwidth', '5', '--reverse']]))
	await test(`svg: frames beyond the limit of the file are included in the values of functions: ${name}`, async () => {
		const folded = manyStacks(4550);
		draw(name, folded, ...options);
		const page = await openPage(`${site}/${name}`), functions = functionsOf(folded);
		await press(page, 'Table');
		const table = await tableOf(page), truth = new Set(functions), caption = await text(page, '.twin caption');
		check(table.length >= 2000 && table.every((line) => truth.has(line)), table.filter((line) => !truth.has(line)).slice(0, 9));
		await press(page, 'Table');		// searches draw it anew
		check(caption.startsWith(`all: ${functions.length.toLocaleString('en-US')} functions`), caption);
		await search(page, '^Wiki.Part7::step7$');
		const one = shareOf(folded, /^Wiki.Part7::step7$/), share = await matched(page);
		check(share === `Matched: ${one}` || share === `Matched: ≥ ${one}`, share, one);
		await search(page, 'Part7::');
		const least = /^Matched: ≥ ([0-9.]+)%$/.exec(await matched(page));
		check(least && +least[1] <= parseFloat(shareOf(folded, /Part7::/)), await matched(page));
		await page.close();
	});

draw('many.svg', manyStacks(4550), '--minwidth', '0');

await test('svg: a picture with many frames can be opened, zoomed, searched and reversed', async () => {
	const began = performance.now(), page = await openPage(`${site}/many.svg`);
	await drawn(page);
	const times = { open: performance.now() - began };
	const label = await page.$eval('#frames, .flame', (e) => e.getAttribute('aria-label'));
	const timed = async (name, act) => {
		times[name] = await page.evaluate(async (code) => {
			const t = performance.now();
			(0, eval)(code);
			await new Promise((r) => requestAnimationFrame(() => setTimeout(r)));
			return performance.now() - t;
		}, act);
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
	console.log(`# svg: ${label.split('.')[0]}: ${Object.entries(times).map(([k, v]) => `${k} ${v.toFixed(0)} ms`).join(', ')}`);
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

draw('pairs.svg', pairs.stdout);
draw('circle.svg', CIRCLE);
writeFileSync(join(folder, 'before.pairs'), pairs.stdout);
writeFileSync(join(folder, 'after.pairs'), pairsAfter.stdout);
spawnSync(program, ['diff', join(folder, 'before.pairs'), join(folder, 'after.pairs'), '--normalize', 'none', '-o', join(folder, 'pairs-changed.svg')]);

await test('svg: with caller/callee pairs, the table, searches and titles have measured values', async () => {
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
	check((await page.evaluate(() => document.documentElement.textContent)).includes('estimated stacks'), 'estimated stacks are mentioned');
	await page.close();
});

await test('svg: values of a part of estimated stacks are marked as estimates', async () => {
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

await test('svg: values that caller/callee pairs do not determine are shown as upper bounds', async () => {
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

await test('svg: a diff of caller/callee pairs has the measured values of both sides', async () => {
	const page = await openPage(`${site}/pairs-changed.svg`), rows = await table(page);
	const before = functionsOf(RECURSIVE), after = functionsOf(RECURSIVE.replace(';u 50', ';u 250'));
	for (const [name, [a, b]] of Object.entries(rows)) {
		const find = (lines) => lines.find((line) => line.startsWith(`${name} `))?.split(' ')[2];
		check(a.replace(',', '') === find(before) && b.replace(',', '') === find(after), name, a, b, find(before), find(after));
	}
	check(Object.keys(rows).length === before.length, rows);
	await page.close();
});

await finish();
