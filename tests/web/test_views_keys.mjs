// The keyboard, the focus, and the state of a view in its address, in a real browser: node test_views_keys.mjs STROBE

import { drawn, newPage, ready } from './browser.mjs';
import { check, some, test } from './lib.mjs';
import { at, browser, finish, focused, notAt, openPage, press, pressed, site, text, texts, wideTable } from './run_pages.mjs';

await test('a table is a single tab stop, and arrow keys move between its rows, headings and buttons', async () => {
	const open = await openPage('/runs/shop/before'), names = async () => texts(open, '.rows tbody tr:not(.gap) .function-link');
	await open.focus('#narrow');
	check(await pressed(open, 'Tab') === 'Table of functions', await focused(open));
	check(await pressed(open, 'Tab') === 'Width of the table', await focused(open));
	await open.keyboard.down('Shift');
	check(await pressed(open, 'Tab') === 'Table of functions', await focused(open));
	await open.keyboard.up('Shift');
	const first = (await names()).slice(0, 2);
	check((await pressed(open, 'ArrowDown')).endsWith(first[0]), await focused(open), first);
	check((await pressed(open, 'ArrowDown')).endsWith(first[1]), await focused(open), first);
	check((await pressed(open, 'ArrowLeft')).endsWith('mark'), await focused(open));
	check((await pressed(open, 'ArrowUp', 'ArrowUp')).startsWith('heading'), await focused(open));
	check((await pressed(open, 'ArrowRight')).startsWith('heading total'), await focused(open));
	check((await pressed(open, 'ArrowDown')).endsWith(first[0]), await focused(open));
	check(await pressed(open, 'Tab') === 'Width of the table', await focused(open));
	await open.close();
});

// The share of the accent color in a line of pixels above an element.
async function edgeAbove(open, selector) {
	const accent = await open.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue('--accent').trim()), box = await (await open.$(selector)).boundingBox();
	const png = await open.screenshot({ encoding: 'base64', clip: { x: box.x, y: box.y - 4, width: box.width, height: 4 } });
	return open.evaluate(async (png, accent) => {
		const image = await createImageBitmap(new Blob([Uint8Array.from(atob(png), (c) => c.charCodeAt(0))], { type: 'image/png' }));
		const canvas = new OffscreenCanvas(image.width, image.height), g = canvas.getContext('2d');
		g.fillStyle = accent;
		g.fillRect(0, 0, 1, 1);
		const wanted = g.getImageData(0, 0, 1, 1).data.slice(0, 3).join();
		g.drawImage(image, 0, 0);
		const { data } = g.getImageData(0, 0, image.width, image.height), rows = Array(image.height).fill(0);
		for (let i = 0; i < data.length; i += 4)
			rows[Math.floor(i / 4 / image.width)] += data.slice(i, i + 3).join() === wanted ? 1 / image.width : 0;
		return Math.max(...rows);
	}, png, accent);
}

for (const [address, selector] of some([['/runs/shop/before', '.graph .flame'], ['/runs/shop/before', '.functions .rows'], ['/runs/shop/before#show=table', '.functions .rows'],
	['/runs/shop/lines?function=total', '.code-rows']]))
	await test(`the focus of graphs and tables is visible: ${address} ${selector}`, async () => {
		const open = await openPage(address);
		await open.waitForSelector(selector);
		await drawn(open);
		const before = await edgeAbove(open, selector);
		await open.focus('.brand');
		await open.keyboard.press('Tab');		// from now on the focus is that of a keyboard
		await open.focus(selector);
		await drawn(open);
		const after = await edgeAbove(open, selector);
		check(before < 0.1 && after > 0.9, address, selector, before, after);
		await open.close();
	});

await test('without scripts a skip link leads past a table, and is visible while focused', async () => {
	const open = await openPage('/runs/shop/before?function=App%5CKernel%3A%3Ahandle', { scripts: false });
	for (const [name, next] of [['callers', 'skip'], ['callees', '']]) {
		const isSeen = () => open.$eval(`a[href="#after-${name}"]`, (e) => getComputedStyle(e).clipPath === 'none');
		check(name !== 'callers' || !await isSeen());
		await open.focus(`a[href="#after-${name}"]`);
		check(await isSeen());
		await open.keyboard.press('Enter');
		await open.keyboard.press('Tab');
		check(await open.evaluate((n) => !document.activeElement.closest('table') && (!n || document.activeElement.className === n), next), name);
	}
	await open.close();
});

await test('the focus of a table reaches rows out of view and survives scrolling, and Enter opens a function', async () => {
	const open = await openPage('/runs/shop/before', { height: 600 });
	await open.focus('.functions .rows');
	for (let i = 0; i < 60; i++)
		await open.keyboard.press('ArrowDown');
	await drawn(open);
	const at60 = await open.evaluate(() => ({ row: document.activeElement.closest('tr').ariaRowIndex, box: document.activeElement.getBoundingClientRect().toJSON(), all: document.querySelector('.functions .rows').getBoundingClientRect().toJSON() }));
	check(at60.row === '61' && at60.box.bottom <= at60.all.bottom && at60.box.top >= at60.all.top, at60);
	await open.$eval('.functions .rows', (e) => e.scrollTop = 3000);
	await drawn(open);
	check(await focused(open) === 'Table of functions', await focused(open));
	const name = (await pressed(open, 'ArrowDown')).replace(/^row \d+ /, '');
	check(name.includes('::step'), name);
	await pressed(open, 'Enter');
	await open.waitForSelector('.function-head h2');
	check(open.url().includes('function=') && await text(open, '.function-head h2') === name);
	await open.waitForSelector('.edges tbody tr');
	await open.focus('.edges .rows');
	check((await pressed(open, 'ArrowDown')).startsWith('row 1'), await focused(open));
	check(await pressed(open, 'Tab') === 'Table of callees', await focused(open));
	await open.close();
});

await test('keys that arrive faster than frames still visit every row of a table', async () => {
	const open = await openPage('/runs/shop/before', { height: 600 });
	await open.waitForFunction(() => document.querySelectorAll('.functions tbody tr').length > 20);
	const rows = await open.evaluate(async () => {
		const seen = [], now = () => document.activeElement.closest('tr')?.ariaRowIndex;
		document.querySelector('.functions .rows').focus();
		for (const key of [...Array(100).fill('ArrowDown'), ...Array(60).fill('ArrowUp')]) {
			document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
			for (let i = 0; i < 5; i++)
				await null;		// what a key changes is drawn after it, and before any frame
			seen.push(Number(now()));
		}
		return seen;
	});
	check(rows.every((row, i) => row === (i < 100 ? i + 2 : 200 - i)), rows);
	await open.close();
});

await test('End and Home move to the last and the first row of a table in the focused column', async () => {
	const open = await openPage('/runs/shop/before', { height: 600 });
	await open.waitForFunction(() => document.querySelectorAll('.functions tbody tr').length > 20);
	const now = () => open.evaluate(() => {
		const e = document.activeElement, r = e.getBoundingClientRect(), all = e.closest('.rows').getBoundingClientRect();
		return `${Number(e.closest('tr')?.ariaRowIndex) - 1} of ${e.closest('table')?.ariaRowCount - 1} ${e.localName} ${r.top >= all.top && r.bottom <= all.bottom ? 'in sight' : 'hidden'}`;
	});
	const rows = await open.$eval('.functions table', (e) => e.ariaRowCount - 1), press = async (...keys) => {
		await pressed(open, ...keys);
		return now();
	};
	check(rows > 100, rows);
	await open.focus('.functions .rows');
	for (const [keys, wanted] of [[['ArrowDown', 'ArrowDown', 'End'], `${rows} of ${rows} a`], [['ArrowDown'], `${rows} of ${rows} a`], [['ArrowUp'], `${rows - 1} of ${rows} a`],
		[['Home'], `1 of ${rows} a`], [['ArrowLeft', 'End'], `${rows} of ${rows} button`], [['Home', 'ArrowDown'], `2 of ${rows} button`], [['End', 'ArrowUp', 'ArrowUp'], `${rows - 2} of ${rows} button`]])
		check(await press(...keys) === `${wanted} in sight`, keys, await now(), wanted);
	await press('Home', 'ArrowUp');
	check((await focused(open)).startsWith('heading'), await focused(open));
	check(await press('End') === `${rows} of ${rows} a in sight`, 'from a heading', await now());
	await open.close();
	const source = await openPage('/runs/shop/lines?function=total&lines=all');
	await source.waitForSelector('table.source');
	await source.focus('.code-rows');
	await pressed(source, 'ArrowDown', 'End');
	const last = await source.$eval('table.source tbody tr:last-child', (tr) => tr.id);
	check(await source.evaluate(() => document.activeElement.closest('tr').id) === last, last);
	await source.close();
});

await test('a table that loads after the graph does not move the focus', async () => {
	const open = await newPage(browser, { height: 600 });
	let release;
	const held = new Promise((r) => release = r);
	await open.setRequestInterception(true);
	open.on('request', async (r) => {
		if (r.url().includes('/api/v1/table'))
			await held;
		await r.continue();
	});
	await open.goto(`${site}/?run=shop/after&run=shop/before`);
	await ready(open);
	await open.waitForFunction(() => document.querySelectorAll('.functions tbody tr').length > 10);
	await open.focus('.functions .rows');
	const row = await pressed(open, ...Array(8).fill('ArrowDown')), answered = open.waitForResponse((r) => r.url().includes('/api/v1/table'));
	release();
	await answered;
	await open.waitForFunction(() => document.querySelector('main').ariaBusy === 'false');
	await drawn(open);
	check(row.startsWith('row 8 ') && (await focused(open)).startsWith('row 8 '), row, await focused(open));
	await open.close();
});

for (const show of some(['', '#show=table']))
	await test(`Back from a function returns to the table row it was opened from${show && `: ${show}`}`, async () => {
		const open = await openPage(`/runs/shop/before${show}`, { height: 600 });
		const order = () => open.$eval('.functions th.total', (th) => th.ariaSort), place = () => open.$eval('.functions .rows', (e) => e.scrollTop);
		await open.$eval('.functions th.total button', (b) => b.click());
		await at(open, 'order=total');
		await open.focus('.functions .rows');
		for (let i = 0; i < 50; i++)
			await open.keyboard.press('ArrowDown');
		await drawn(open);
		const row = await focused(open), top = await place();
		check(top > 500, top);
		for (const back of [() => open.goBack(), () => open.keyboard.press('a')]) {
			await pressed(open, 'Enter');
			await at(open, 'function=');
			await open.waitForSelector('.function-head');
			await back();
			await notAt(open, 'function=');
			await open.waitForSelector('.functions .rows');
			await drawn(open);
			check(await focused(open) === row && await place() === top && await order() === 'descending', `${await focused(open)} for ${row}`, await place(), top, await order());
		}
		await open.$eval('.functions th.self button', (b) => b.click());
		await open.waitForFunction(() => document.querySelector('.functions .rows').scrollTop === 0);
		await open.close();
	});

// A graph takes keys once its canvas is there, which is a frame after its data.
const listens = async (open, selector) => {
	await open.waitForSelector(selector);
	await drawn(open);
};

await test('Escape and Backspace zoom out from anywhere except a field, also after a reload', async () => {
	const path = ['{main}', 'App\\Kernel::handle'].map(encodeURIComponent).join(';');
	for (const show of ['', '&show=table']) {
		const open = await openPage(`/runs/shop/before#zoom=${path}${show}`);
		await open.reload();
		await ready(open);
		await listens(open, show ? '.functions tbody tr' : '.flame canvas');
		await pressed(open, 'Backspace');
		await open.waitForFunction(() => /zoom=[^;]*$|zoom=[^;]*&/.test(location.href));
		await pressed(open, 'Escape');
		await notAt(open, 'zoom=');
		await open.goBack();
		await at(open, 'zoom=');
		await open.focus('#narrow, #find');
		await pressed(open, 'Backspace', 'Escape');
		check(open.url().includes('zoom='), 'keys in a field do not zoom out', open.url());
		await open.close();
	}
	const open = await openPage(`/runs/shop/before?function=${encodeURIComponent('App\\Kernel::handle')}#callers=%7Bmain%7D`);
	await listens(open, '.sandwich canvas');
	await pressed(open, 'Escape');
	await notAt(open, 'callers=');
	await open.close();
});

await test('the question mark shows the keyboard shortcuts, and Escape hides them', async () => {
	const page = await openPage('/runs/shop/before');
	await page.keyboard.press('?');
	await page.waitForSelector('dialog.keys[open]');
	await page.keyboard.press('Escape');
	await page.waitForFunction(() => !document.querySelector('dialog.keys[open]'));
	await page.close();
});

await test('the list of keyboard shortcuts is that of the view, and no shortcut acts while it is open', async () => {
	const open = await openPage('/runs/shop/before'), sheet = async () => {
		await open.keyboard.press('?');
		await open.waitForSelector('dialog.keys[open]');
		return texts(open, 'dialog.keys dt');
	};
	const hidden = async () => {
		await open.keyboard.press('Escape');
		await open.waitForFunction(() => !document.querySelector('dialog.keys[open]'));
	};
	const all = { both: ['/', 'n, N', 'Backspace', 'Escape'], 'flame graph': ['/', 'n, N'], table: ['/'], 'call graph': ['0, Escape, double click'] };
	for (const [show, wanted] of Object.entries(all)) {
		await press(open, show);
		const keys = await sheet();
		check(wanted.every((k) => keys.includes(k)) && keys.includes('g') && !keys.includes('a'), show, keys);
		const lines = await open.$$eval('.keys dl div', (all) => all.map((e) => [...e.children].map((c) => c.textContent))), arrows = lines.filter(([k]) => /arrow|[↑↓←→]/.test(k));
		check(arrows.length > 0 && arrows.every(([, what]) => /to which Tab leads|^there:|^in a row:/.test(what)), show, arrows);
		check(keys.includes('Enter, Shift+Enter') === (show === 'both' || show === 'flame graph') && keys.includes('/') === (show !== 'call graph'), show, keys);
		await hidden();
	}
	await open.goto(`${site}/runs/shop/before?function=App%5CKernel%3A%3Ahandle`);
	await ready(open);
	const keys = await sheet();
	check(keys.includes('a') && keys.includes('Backspace') && !keys.includes('/'), keys);
	await open.keyboard.press('a');
	await drawn(open);
	check(open.url().includes('function='), open.url());
	await hidden();
	await open.keyboard.press('a');
	await notAt(open, 'function=');
	await open.close();
});

for (const [address, selector, field] of some([['/runs/shop/before', '.flame', 'search'], ['/runs/shop/before#show=table', '.rows', 'narrow'], ['/runs/shop/before?function=App%5CKernel%3A%3Ahandle', '.flame', ''],
	['/runs/shop/before#show=calls', '.call-graph', '']]))
	await test(`a slash focuses the search field of the view, and is left to the browser where there is none: ${address}`, async () => {
		const open = await openPage(address);
		await open.waitForSelector(selector);
		await drawn(open);
		const taken = await open.$eval(selector, (e) => !e.dispatchEvent(new KeyboardEvent('keydown', { key: '/', bubbles: true, cancelable: true })));
		check(taken === (field !== '') && (!field || await open.evaluate(() => document.activeElement.id) === field), address, taken);
		await open.close();
	});

await test('times are in a named time zone, which can be switched and is remembered', async () => {
	const open = await browser.newPage();
	await open.emulateTimezone('Asia/Tokyo');
	await open.goto(`${site}/runs/shop/cart`);
	await ready(open);
	const started = () => open.evaluate(() => [...document.querySelectorAll('.about div')].find((d) => d.textContent.startsWith('started')).textContent);
	check((await text(open, '.zone')) === 'Asia/Tokyo');
	const there = await started();
	await open.click('.zone');
	await open.waitForFunction(() => document.querySelector('.zone').textContent === 'UTC');
	const utc = await started(), hours = (t) => Number(/ (\d\d):/.exec(t)[1]);
	check((hours(there) - hours(utc) + 24) % 24 === 9, there, utc);
	await open.reload();
	await ready(open);
	check((await text(open, '.zone')) === 'UTC', 'the time zone is remembered');
	await open.click('.zone');
	await open.close();
});

await test('the divider between table and graph can be dragged and moved by keys, and is remembered', async () => {
	const page = await openPage('/runs/shop/before');
	const width = () => page.$eval('.work .functions', (e) => e.clientWidth);
	const before = await width(), r = await page.$eval('.split', (e) => { const b = e.getBoundingClientRect(); return { x: b.x + 3, y: b.y + 200 }; });
	await page.mouse.move(r.x, r.y);
	await page.mouse.down();
	await page.mouse.move(r.x + 200, r.y, { steps: 4 });
	await page.mouse.up();
	await drawn(page);
	check(Math.abs(await width() - before - 200) < 12, before, await width());
	await page.focus('.split');
	await page.keyboard.press('ArrowLeft');
	await drawn(page);
	const moved = await width();
	check(moved < before + 200, moved);
	await page.reload();
	await ready(page);
	await page.waitForSelector('.work .functions');
	check(Math.abs(await width() - moved) < 3, moved, await width());
	await page.close();
});

await test('the sort order and the filter of a table are in the URL', async () => {
	const open = await openPage('/runs/shop/cart#show=table');
	await wideTable(open);
	await open.click('.rows thead th.total button');
	await at(open, 'order=total');
	await open.type('.narrow', 'cart');
	await at(open, 'filter=cart');
	const shown = await texts(open, '.rows tbody th a'), other = await openPage(open.url().slice(site.length));
	await wideTable(other);
	check((await texts(other, '.rows tbody th a')).join() === shown.join() && shown.length === 2, shown);
	check(await other.$eval('.rows thead th.total', (e) => e.ariaSort) === 'descending');
	await other.close();
	await open.close();
});

for (const other of some(['table', 'call graph']))
	await test(`the selected box is deselected when its graph is closed: ${other}`, async () => {
		const open = await openPage('/runs/shop/before');
		await ready(open);
		await open.focus('.flame');
		for (const key of ['ArrowUp', 'ArrowUp', 'ArrowRight', 'ArrowUp', 'ArrowRight', 'ArrowRight'])
			await open.keyboard.press(key);
		const keep = () => open.$eval('.filter-stacks button', (e) => e.disabled);
		check(!await keep(), 'the selected box can be kept');
		await open.evaluate((name) => [...document.querySelectorAll('button')].find((e) => e.textContent.trim() === name).click(), other);
		await open.waitForFunction(() => !document.querySelector('.flame canvas'));
		check(await keep(), 'no box is selected');
		await open.select('select[aria-label="Group by"]', 'file');
		await at(open, 'by=file');
		await open.waitForFunction(() => document.querySelector('main').getAttribute('aria-busy') !== 'true');
		await drawn(open);
		check(open.complaints.length === 0, other, open.complaints);
		await open.close();
	});

await test('a slow regular expression is stopped, and the page keeps working', async () => {
	const open = await openPage('/runs/shop/before#search=%5E((%5Cw%7C%5C%5C%7C%3A)%2B)%2B%24x');
	await open.waitForFunction(() => document.querySelector('.matched').textContent === 'takes too long');
	await open.$eval('#search', (e) => e.select());
	await open.type('#search', 'Part[0-3].*step');
	await open.waitForFunction(() => document.querySelector('.matched').textContent.endsWith('% matched'));
	check(open.complaints.length === 0, open.complaints);
	await open.close();
});

await finish();
