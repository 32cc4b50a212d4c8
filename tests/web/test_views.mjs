// The page of a run, and the numbers of pages beside those of the command line, in a real browser: node test_views.mjs STROBE

import { drawn } from './browser.mjs';
import { check, some, test } from './lib.mjs';
import { api, at, code, colors, files, finish, notAt, openPage, press, site, strobe, text, texts, wideTable } from './run_pages.mjs';

// --- Numbers ---

function sameTable(table, report, where) {
	const names = table.columns.map((c) => c.name), rows = new Map(table.name.map((name, i) => [name, i]));
	check(report.functions.length === table.name.length && report.functions.length > 3, where, report.functions.length, table.name.length);
	for (const f of report.functions) {
		const i = rows.get(f.function ?? f.class);
		check(i !== undefined, where, f);
		for (const [column, v] of Object.entries(f.columns ?? { [report.column]: f })) {
			const c = names.indexOf(column), scale = table.columns[c].unit === 'millionths' ? 1e6 : 1;
			check(table.self[c][i] === Math.round(v.self * scale) && (column === 'calls' || table.total[c][i] === Math.round(v.total * scale)), where, column, f, table.self[c][i], table.total[c][i]);
		}
		check(table.at_most.includes(i) === !!f.total_at_most, where, 'limits', f);
	}
}

await test('the table of a run matches strobe report in every metric', async () => {
	for (const id of ['cart', 'recursion', 'before'])
		sameTable(await api(`/api/v1/table?run=shop/${id}`), JSON.parse(strobe('report', files[id], '--json', '--all-columns', '-n', '0')), id);
});

await test('the table of a weighted average matches strobe report', async () => {
	const table = await api('/api/v1/table?run=shop/cart&run=shop/recursion&weights=3,1');
	sameTable(table, JSON.parse(strobe('report', '--weights', '3,1', files.cart, files.recursion, '--json', '--all-columns', '-n', '0')), 'average');
});

await test('tables of groups match strobe report --by', async () => {
	for (const by of ['class', 'namespace', 'package']) {
		const report = JSON.parse(strobe('report', files.after, '--json', '--all-columns', '-n', '0', '--by', by));
		const [rows] = Object.values(report).filter(Array.isArray), table = await api(`/api/v1/table?run=shop/after&by=${by}`);
		check(rows.length === table.name.length && rows.length > 1, by, rows.length, table.name.length);
		for (const row of rows) {
			const i = table.name.indexOf(row[by]), v = row.columns?.samples ?? row;
			check(table.self[0][i] === v.self && table.total[0][i] === v.total, by, row);
		}
	}
});

await test('callers and callees of a function match strobe report', async () => {
	for (const [id, name] of [['cart', 'PDO::query'], ['recursion', 'a'], ['before', 'App\\Part3\\Class2::step1']]) {
		const report = JSON.parse(strobe('report', files[id], '--callers', name, '--callees', name, '--json', '-n', '0', '--all-columns'));
		const page = await api(`/api/v1/function?run=shop/${id}&function=${encodeURIComponent(name)}`);
		const columns = page.columns.map((c) => c.name);
		for (const side of ['callers', 'callees']) {
			check(page[side].length === report[side].edges.length, id, side, page[side].length);
			for (const e of report[side].edges) {
				const mine = page[side].find((x) => x.name === e.function);
				check(mine, id, side, e, page[side]);
				for (const [c, v] of Object.entries(e.values))
					check(mine.values[columns.indexOf(c)] === v, id, side, c, e, mine);
				check(mine.at_most === !!e.at_most, id, side, e);
			}
			for (const [c, v] of Object.entries(report[side].total))
				check(page.function.total[columns.indexOf(c)] === v && page.function.self[columns.indexOf(c)] === report[side].self[c], id, c);
		}
	}
});

await test('the table of a comparison matches strobe diff', async () => {
	const report = JSON.parse(strobe('diff', files.before, files.after, '--json', '--all', '--rows', '0'));
	const table = await api('/api/v1/table?run=shop/after&base=shop/before');
	check(report.functions.length === table.name.length && report.functions.some((f) => f.self.changed), report.functions.length, table.name.length);
	for (const f of report.functions) {
		const i = table.name.indexOf(f.function);
		for (const kind of ['self', 'total']) {
			check(table[kind][0][i] === f[kind].before && table[kind][1][i] === f[kind].after, kind, f);
			check(table[`${kind}_changed`].includes(i) === f[kind].changed, kind, f);
		}
	}
});

// --- The page of a run ---

let page = await openPage('/runs/shop/before');

await test('a memory graph says how much freed memory it does not draw', async () => {
	const notes = async (query) => {
		const open = await openPage(`/runs/shop/freed${query}`), said = await open.$$eval('.graph .note', (all) => all.map((n) => n.textContent));
		await open.close();
		return said.join();
	};
	check(await notes('?column=memory_bytes') === 'Values below zero, such as freed memory, are not drawn: -7.26 KiB in all. Shares are of what is drawn.', await notes('?column=memory_bytes'));
	check(await notes('?column=wall_ns') === '');
});

await test('values of a memory graph are labeled as drawn, and its table names the base of the shares', async () => {
	const table = await api('/api/v1/table?run=shop/loops&column=memory_bytes'), { total, whole } = table.columns[table.column];
	check(total === 1024 && whole === 9216, total, whole);
	for (const [column, base, facts] of [['memory_bytes', ', shares of 9.00 KiB', ['total drawn', 'self drawn']], ['wall_ns', '', ['total', 'self']]]) {
		const open = await openPage(`/runs/shop/loops?column=${column}`), sum = () => text(open, '.functions .sum');
		await drawn(open);
		check((await sum()).includes(base) && (await sum()).includes('shares') === (base !== ''), await sum());
		await open.focus('.graph .flame');
		for (const words of ['all, ', 'main(), ']) {
			await open.keyboard.press('ArrowUp');
			await open.waitForFunction((w) => document.querySelector('.graph .sr').textContent.startsWith(w), {}, words);
		}
		const said = await text(open, '.graph .sr');
		check(facts.every((f) => said.includes(`, ${f} `)), said);
		await open.keyboard.press('Enter');
		await open.waitForFunction(() => location.hash.includes('zoom='));
		await open.waitForFunction((f) => [...document.querySelectorAll('.functions thead button')].some((b) => b.textContent.replace(/[▾▴]/, '') === f), {}, facts[0]);
		check(!(await sum()).includes('shares'), await sum());
		await open.close();
	}
});

await test('the page of a run has the top bar, the flame graph and the controls of the live page', async () => {
	await drawn(page);
	check(await page.$('header.bar .brand') && await page.$('.work .functions') && await page.$('#search'));
	check(await colors(page) > 30, await colors(page));
	check((await text(page, '.about h2')) === '<b>before</b>', await text(page, '.about h2'));
	const below = await page.$eval('.flame', (e) => e.scrollHeight - e.clientHeight - e.scrollTop);
	check(Math.abs(below) <= 1, 'the graph opens at its root', below);
	check(page.complaints.length === 0, page.complaints);
});

await test('a table row opens its function, and Back returns to the table', async () => {
	const name = await text(page, '.rows tbody tr:not(.gap) th a');
	await page.click('.rows tbody tr:not(.gap) th a');
	await at(page, `function=${encodeURIComponent(name).replaceAll('%20', '+')}`);
	await page.waitForSelector('.edges tbody tr');
	check((await text(page, '.function-head h2')) === name);
	check((await texts(page, '.edges h3')).map((t) => t.split(' ')[0]).join() === 'Callers,Callees');
	await page.goBack();
	await notAt(page, 'function=');
	await page.waitForSelector('.work .functions');
});

await test('a slow response has a progress indicator', async () => {
	const open = await openPage('/runs/shop/before'), held = [];
	await drawn(open);
	await open.setRequestInterception(true);
	open.on('request', (r) => r.url().includes('/api/v1/function') ? held.push(r) : r.continue());
	const strip = () => open.$eval('main', (m) => [m.getAttribute('aria-busy'), getComputedStyle(m, '::before').content !== 'none']);
	check((await strip()).join() === 'false,false', await strip());
	await open.click('.rows tbody tr:not(.gap) th a');
	await open.waitForSelector('main[aria-busy="true"]');
	while (!held.length)
		await new Promise((r) => setTimeout(r, 20));
	// The request leaves the page before its strip is painted, and the answer is held until that is seen.
	await open.waitForFunction(() => {
		const m = document.querySelector('main');
		return m.getAttribute('aria-busy') === 'true' && getComputedStyle(m, '::before').content !== 'none';
	});
	held.forEach((r) => r.continue());
	await open.waitForSelector('.edges tbody tr');
	await open.waitForSelector('main[aria-busy="false"]');
	check((await strip()).join() === 'false,false', await strip());
	await open.close();
});

await test('the shares of callers add up to 100%', async () => {
	const open = await openPage('/runs/shop/before?function=App%5CPart3%5CClass2%3A%3Astep1');
	await open.waitForSelector('.edges tbody tr');
	const shares = await open.$$eval('.edges:first-of-type tbody tr td:first-of-type', (all) => all.map((td) => parseFloat(td.querySelector('span:last-of-type').textContent)));
	const sum = shares.reduce((a, b) => a + b, 0);
	check(shares.length > 3 && Math.abs(sum - 100) < 0.06 * shares.length, sum, shares);
	await drawn(open);
	for (const canvas of await open.$$('.sandwich canvas'))
		check(await canvas.evaluate((c) => new Set(new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer)).size) > 5);
	await open.close();
});

await test('both graphs of a function can be zoomed, and a link restores that', async () => {
	const open = await openPage('/runs/shop/before?function=App%5CPart3%5CClass2%3A%3Astep1');
	await open.waitForSelector('.sandwich canvas');
	await drawn(open);
	const r = await open.$eval('.sandwich section:nth-child(2) .flame', (e) => { const b = e.getBoundingClientRect(); return { x: b.x, y: b.y }; });
	await open.mouse.click(r.x + 20, r.y + 4 + 1.5 * 19);
	await at(open, '#zoom=');
	const up = await open.$eval('.sandwich section:nth-child(1) .flame', (e) => { const b = e.getBoundingClientRect(); return { x: b.x, y: b.bottom }; });
	await open.mouse.click(up.x + 20, up.y - 4 - 1.5 * 19);
	await at(open, 'callers=');
	const link = open.url(), other = await openPage(link.slice(site.length));
	await drawn(other);
	check(other.url() === link, other.url(), link);
	await other.close();
	await open.close();
});

await test('reversing a zoomed graph is one step, which Back undoes', async () => {
	const open = await openPage('/runs/shop/before#show=graph&zoom=%7Bmain%7D;App%5CKernel%3A%3Ahandle');
	await press(open, 'reversed');
	await at(open, 'reverse=1');
	check(!open.url().includes('zoom='), open.url());
	await open.goBack();
	await notAt(open, 'reverse=1');
	check(open.url().includes('zoom='), open.url());
	await open.close();
});

await test('a second click on a box opens its function', async () => {
	await drawn(page);
	const r = await page.$eval('.flame', (e) => { const b = e.getBoundingClientRect(); return { x: b.left + e.clientWidth / 2, y: b.bottom }; });
	await page.mouse.click(r.x, r.y - 4 - 2.5 * 19);
	await at(page, 'zoom=');
	await page.mouse.click(r.x, r.y - 4 - 2.5 * 19);
	await at(page, 'function=App%5CKernel%3A%3Ahandle');
	await page.keyboard.press('a');
	await notAt(page, 'function=');
	await page.waitForSelector('.work .functions');
});

const sourceRows = (page) => page.$$eval('table.source tbody tr[id]', (all) => all.map((tr) => [Number(tr.id.slice(1)), tr.className, ...[...tr.children].map((c) => c.textContent)]));

await test('next and previous match zoom to every match, however narrow, and never open a function', async () => {
	const page = await openPage('/runs/shop/places#search=%5Ehit%24&show=graph'), step = async (words) => {
		await page.click(`button[aria-label="${words} match"]`);
		await drawn(page);
		return decodeURIComponent(/zoom=([^&]*)/.exec(page.url())?.[1] || '');
	};
	const marked = () => page.$eval('.flame canvas', (c) => new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer).filter((v) => v === 0xffc92f8b).length);
	await page.waitForFunction(() => document.querySelector('.matched').textContent.includes('matched'));
	check(await page.$eval('.matched', (e) => e.title) === '300 samples of 1 function in 300 places', await page.$eval('.matched', (e) => e.title));
	for (const n of ['000', '001', '002', '003']) {
		check(await step('Next') === `{main};f${n}`, n, page.url());
		check(await marked() > 1000, 'the zoomed match is highlighted', await marked());
	}
	check(await step('Previous') === '{main};f002', page.url());
	await page.focus('.flame');
	await page.keyboard.press('Escape');
	await drawn(page);
	check(await step('Previous') === '{main};f001' && await step('Previous') === '{main};f000', 'stepping continues from the last match', page.url());
	check(await step('Previous') === '{main};f299', 'stepping wraps around to the last match', page.url());
	await page.focus('#search');
	await page.$eval('#search', (e) => e.select());
	await page.type('#search', 'lone');
	await drawn(page);
	for (let i = 0; i < 3; i++) {
		await page.keyboard.press('Enter');
		await drawn(page);
		check(page.url().includes('zoom=%7Bmain%7D;lone') && !page.url().includes('function='), 'a single match directly below a wide caller', page.url());
	}
	check(page.complaints.length === 0, page.complaints);
	await page.close();
});

await test('next match also stops at matches within matches', async () => {
	const page = await openPage('/runs/shop/places#search=%5Etwice%24&show=graph'), said = [];
	await page.waitForFunction(() => document.querySelector('.matched').title.includes('2 places'));
	for (let i = 0; i < 3; i++) {
		await page.click('button[aria-label="Next match"]');
		await drawn(page);
		await page.focus('.flame');
		await page.keyboard.press('ArrowDown');
		await drawn(page);
		said.push((await text(page, '.graph .sr')).split(',')[0]);
		await page.keyboard.press('ArrowUp');
	}
	check(said.join() === '{main},twice,{main}', said);
	await page.close();
});

await test('the source of a function is shown with the values of its lines', async () => {
	const open = await openPage('/runs/shop/lines?function=total');
	await open.waitForSelector('table.source');
	const rows = await sourceRows(open), took = rows.filter((r) => r[2] || r[3]).map((r) => r.slice(0, 5));
	check(JSON.stringify(took) === '[[5,"hot","20","20","5"],[6,"hot","10","70","6"]]', took);
	check(rows.find((r) => r[0] === 6)[5].endsWith('$sum += price($item); // </code><script>document.title="owned"</script>'), rows[5]);
	check(!rows.some((r) => r[0] > 30), 'only lines around executed ones are shown', rows.length);
	check(!(await open.title()).includes('owned'), 'hostile source is inert');
	check(open.complaints.length === 0, open.complaints);
	await open.close();
});

await test('each line has a link, and the whole file can be opened', async () => {
	const open = await openPage('/runs/shop/lines?function=total');
	await open.waitForSelector('#L6');
	await open.click('#L6 a');
	await at(open, '#L6');
	check(await open.$eval('#L6', (tr) => tr.classList.contains('at')), 'the linked line is highlighted');
	const address = new URL(open.url());
	await press(open, 'all lines');
	await at(open, 'lines=all');
	await open.waitForSelector('#L90');
	await open.click('.source-head a');
	await at(open, 'by=file');
	await open.waitForFunction(() => document.querySelectorAll('table.source tr.hot, table.source tr.took').length === 4);
	await open.close();
	const again = await openPage(address.pathname + address.search + address.hash);
	await again.waitForSelector('#L6.at');
	const seen = await again.$eval('#L6', (tr) => {
		const row = tr.getBoundingClientRect(), pane = tr.closest('.code-rows').getBoundingClientRect(), head = tr.closest('table').querySelector('thead th').getBoundingClientRect();
		return row.top >= head.bottom - 1 && row.bottom <= pane.bottom + 1 && pane.bottom <= innerHeight;
	});
	check(seen, 'the linked line is visible');
	await again.$eval('.code-rows', (pane) => pane.scrollTop = pane.scrollHeight);
	await drawn(again);
	check(await again.evaluate(() => Math.abs(document.querySelector('table.source thead th').getBoundingClientRect().top - document.querySelector('.code-rows').getBoundingClientRect().top) < 2), 'headings stay visible');
	await again.close();
});

await test('a comparison has both sides of each line, and a missing source file is explained', async () => {
	const open = await openPage('/?run=shop/lines2&base=shop/lines&function=total');
	await open.waitForSelector('table.source');
	check((await texts(open, 'table.source thead th')).join() === 'self before,self after,total before,total after,line,source', await texts(open, 'table.source thead th'));
	check((await sourceRows(open)).find((r) => r[0] === 5).slice(2, 6).join() === '20,50,20,50', await sourceRows(open));
	await open.close();
	const gone = await openPage('/runs/shop/lines?function=gone');
	await gone.waitForSelector('.source .warning');
	check((await text(gone, '.source .warning')).includes('--source-dir /nowhere or a directory above that'), await text(gone, '.source .warning'));
	check((await sourceRows(gone)).map((r) => r.slice(0, 4).join()).join() === '4,hot,10,10', await sourceRows(gone));
	await gone.close();
});

const PHONE_SOURCES = [['/?run=shop/lines2&base=shop/lines&function=total', 5, 'self 20 → 50 total 20 → 50'], ['/?run=shop/lines2&base=shop/lines&function=price', 91, ''],
	['/runs/shop/lines?function=total', 6, 'self 10 total 70']];

for (const [address, line, wanted, scripts] of some([true, false].flatMap((scripts) => PHONE_SOURCES.map((how) => [...how, scripts]))))
	await test(`on a phone the source is visible, with the values below each line: ${address}${scripts ? '' : ', without scripts'}`, async () => {
		const open = await openPage(address, { width: 390, height: 844, phone: true, scripts });
		await open.waitForSelector('table.source');
		const [code, seen] = await open.$eval(`#L${line}`, (tr) => {
			const { left, top } = tr.querySelector('.code').getBoundingClientRect();
			const values = [...tr.children].filter((td) => td.dataset.of && td.offsetWidth).map((td) => [td.getBoundingClientRect(), `${td.dataset.of} ${td.textContent || 0}`]);
			return [left, values.every(([r]) => r.left >= 0 && r.right <= innerWidth && r.top > top) && values.map(([, words]) => words).join(' ')];
		});
		check(code < 100 && seen === wanted, address, scripts, code, seen);
		check(await open.$$eval('table.source tr', (all) => all.every((tr) => tr.offsetHeight <= 40)), 'rows have at most two lines');
		await open.close();
	});

await test('without scripts the source is shown as a table', async () => {
	const plain = await openPage('/runs/shop/lines?function=total#L6', { scripts: false });
	const rows = await sourceRows(plain);
	check(rows.find((r) => r[0] === 6).slice(2, 5).join() === '10,70,6', rows);
	check(await plain.$eval('#L6', (tr) => tr.matches(':target')), 'the URL targets the line');
	check(await plain.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page fits the window');
	await plain.close();
});

await test('the source is also shown for classes and when grouped by own code', async () => {
	const own = await openPage('/runs/shop/lines?by=own&function=total');
	await own.waitForSelector('table.source');
	check((await sourceRows(own)).find((r) => r[0] === 6).slice(2, 4).join() === '10,70', await sourceRows(own));
	await own.close();
	const whole = await openPage('/runs/shop/methods?by=class&function=Cart');
	await whole.waitForSelector('table.source');
	check((await sourceRows(whole)).filter((r) => r[3]).map((r) => [r[0], ...r.slice(2, 4)].join()).join(' ') === '5,20,20 6,10,70 92,60,60', 'lines of all its methods', await sourceRows(whole));
	await whole.close();
	const none = await openPage('/runs/shop/lines?by=package&function=%5Bno%20package%5D');
	await none.waitForSelector('.edges');
	check(!await none.$('.source'), 'packages have no source');
	await none.close();
});

await test('the source of a function without lines opens at its first line', async () => {
	const open = await openPage('/runs/shop/nolines?function=price');
	await open.waitForSelector('table.source');
	check(await open.$eval('#L90', (tr) => {
		const row = tr.getBoundingClientRect(), pane = tr.closest('.code-rows').getBoundingClientRect();
		return row.top >= pane.top && row.bottom <= pane.bottom;
	}), 'the first line is visible');
	await open.close();
});

// From the root up, the hues of the boxes at this part of the width.
const huesAt = (page, part) => page.$eval('.flame canvas', (c, at) => {
	const { data } = c.getContext('2d').getImageData(Math.floor(c.width * at), 0, 1, c.height), hues = [];
	for (let i = data.length - 4, isIn = false; i >= 0; i -= 4) {
		const [r, g, b] = data.subarray(i, i + 3), most = Math.max(r, g, b), range = most - Math.min(r, g, b), wasIn = isIn;
		isIn = range >= 40;		// not in the root or a gap
		if (isIn && !wasIn)
			hues.push(60 * (most === r ? (g - b) / range : most === g ? 2 + (b - r) / range : 4 + (r - g) / range));
	}
	return hues;
}, part);

await test('frames without a line have the source of their file', async () => {
	for (const scripts of [true, false]) {
		const open = await openPage(`/runs/shop/somelines?by=line&function=${encodeURIComponent(`${code} [no line]`)}`, { scripts });
		await open.waitForSelector('table.source');
		check((await sourceRows(open)).filter((r) => r[3]).map((r) => [r[0], ...r.slice(2, 4)].join()).join(' ') === '5,20,20 6,10,70 92,60,60', await sourceRows(open));
		check((await texts(open, '.source .warning')).join().includes('these are the known lines of its file'), await texts(open, '.source'));
		await open.close();
	}
	for (const by of ['file', 'line']) {
		const none = await openPage(`/runs/shop/twins?by=${by}&function=%5Bno%20file%5D`);
		await none.waitForSelector('.source .warning');
		check((await text(none, '.source .warning')).includes('no file is known') && !none.complaints.length, await text(none, '.source'), none.complaints);
		await none.close();
	}
});

for (const dark of some([false, true]))
	await test(`boxes of the same file have the same hue, with and without lines${dark ? ', in dark mode' : ''}`, async () => {
		const open = await openPage('/runs/shop/hues?by=line#show=graph', { dark });
		await drawn(open);
		const hues = await huesAt(open, 0.6);
		check(hues.length === 3 && Math.max(...hues) - Math.min(...hues) <= 2, 'three boxes have the same hue', hues);
		await open.close();
	});

for (const width of some([1280, 1440, 1920, 1024, 390]))
	await test(`the table of a comparison fits the window or scrolls with its headings: ${width} px`, async () => {
		const open = await openPage('/?run=shop/after&base=shop/before#show=table', { width, height: 800, phone: width < 600 }), fits = width >= 1280;
		await wideTable(open, 1);
		const places = (row) => open.$$eval(`.rows ${row} > *`, (all) => all.map((e) => [e.getBoundingClientRect().left, e.getBoundingClientRect().right].map(Math.round).join()));
		for (const end of [false, true]) {
			await open.$eval('.rows', (e, last) => e.scrollLeft = last ? 9999 : 0, end);
			await drawn(open);
			const heads = await places('thead tr:last-child'), row = await places('tbody tr:first-child'), box = await open.$eval('.rows', (e) => ({ inner: e.clientWidth, all: e.scrollWidth }));
			check(heads.length === 7 && heads.join(' ') === row.join(' '), width, heads, row);
			check(fits === (box.all <= box.inner) && (!fits && !end) === (Number(row.at(-1).split(',')[1]) > box.inner), width, box, row);
			check(Number(row[0].split(',')[1]) >= Math.min(200, width * 0.4), 'names have enough room', width, row);
		}
		await open.close();
	});

for (const from of some(['/runs/shop/after', '/runs/shop/after#show=calls', '/runs/shop/after?function=App%5CKernel%3A%3Ahandle', '/?run=shop/after&base=shop/before#show=graph', '/?run=shop/cart&run=shop/recursion#show=table']))
	await test(`a function can be found by part of its name from every view: ${from}`, async () => {
		const open = await openPage(from), name = from.includes('cart') ? 'PDO::query' : 'App\\Part3\\Class2::step4';
		await open.waitForSelector('.edges, .rows, .call-graph, .graph');
		await drawn(open);
		await open.keyboard.press('g');
		await open.type('#find', from.includes('cart') ? 'query' : 'part3 class2 step4');
		await open.waitForFunction((n) => document.querySelector('#found option')?.value.includes(n), {}, name);
		await open.keyboard.press('Enter');
		await at(open, 'function=');
		await open.waitForFunction((n) => document.querySelector('.function-head h2')?.textContent.includes(n), {}, name);
		check(await open.$eval('#find', (e) => e.value) === '', 'the field is empty again');
		check(open.complaints.length === 0, open.complaints);
		await open.close();
	});

await test('the selected value and grouping are in the URL', async () => {
	const open = await openPage('/runs/shop/cart');
	await open.select('select[aria-label="Value"]', 'memory_bytes');
	await at(open, 'column=memory_bytes');
	await open.waitForFunction(() => document.querySelector('.sum').textContent.startsWith('50.0 KiB'));
	await open.select('select[aria-label="Group by"]', 'class');
	await at(open, 'by=class');
	await open.waitForFunction(() => [...document.querySelectorAll('.rows tbody th a')].some((a) => a.textContent === 'PDO'));
	check(open.complaints.length === 0, open.complaints);
	await open.close();
});

await test('the wide table has every metric and can be sorted by each', async () => {
	const open = await openPage('/runs/shop/cart#show=table');
	await wideTable(open);
	const heads = await texts(open, '.rows thead tr:last-child th');
	check(heads.length === 10, heads);
	check((await texts(open, '.groups th')).join() === 'wall time,calls,CPU time,off-CPU time,memory', await texts(open, '.groups th'));
	for (let i = 2; i <= heads.length; i++) {
		await open.click(`.rows thead tr:last-child th:nth-child(${i}) button`);
		await drawn(open);
		const shares = await open.$$eval('.rows tbody tr', (all, n) => all.map((tr) => parseFloat(tr.cells[n - 1].querySelector('span:last-of-type').textContent)), i);
		const sorted = [...shares].sort((a, b) => b - a), direction = await open.$eval(`.rows thead tr:last-child th:nth-child(${i})`, (e) => e.ariaSort);
		check(shares.join() === (direction === 'descending' ? sorted : sorted.reverse()).join(), heads[i - 1], direction, shares);
	}
	await open.close();
});

await test('a comparison shows increases and decreases, and offers widths and colors for flame graphs', async () => {
	const open = await openPage('/?run=shop/after&base=shop/before');
	await drawn(open);
	check((await text(open, '.about h2')) === 'run shop/after compared with run shop/before');
	const changes = await texts(open, '.rows tbody tr:not(.gap) td:first-child');
	check(changes.some((c) => /^\+[\d,]+$/.test(c)) && changes.some((c) => /^-.*/.test(c)), changes);
	check(await colors(open) > 20);
	const choices = () => open.$$eval('.views label, .views button', (all) => all.map((e) => e.firstChild.textContent.trim()));
	for (const [pane, isThere] of [['both', true], ['table', false], ['flame graph', true], ['call graph', false], ['both', true]]) {
		await open.evaluate((p) => [...document.querySelectorAll('.panes button')].find((b) => b.textContent.endsWith(p)).click(), pane);
		await open.waitForFunction((on) => !!document.querySelector('select[aria-label="Width"]') === on, {}, isThere);
		check((await choices()).includes('self') === isThere, 'widths and colors are offered only with a flame graph', pane, await choices());
	}
	await open.close();
});

await test('an average lists its runs and their weights', async () => {
	const open = await openPage('/?run=shop/cart&run=shop/recursion&weights=3,1');
	const [, calls, wall] = /^2 runs, averagedrunshop\/cart, weight 3 of 4runshop\/recursion, weight 1 of 4calls([\d,.]+)wall time([\d.]+ ms)/.exec(await text(open, '.about')) || [];
	check(calls && (await text(open, '.functions .sum')).startsWith(`${wall} `), await text(open, '.about'), await text(open, '.functions .sum'));
	check(await open.$('.about a[href="/runs/shop/recursion"]'));
	await open.close();
	const equal = await openPage('/?run=shop/cart&run=shop/recursion&column=calls');
	const [, count] = /^2 runs, averagedrunshop\/cartrunshop\/recursioncalls([\d,.]+)wall/.exec(await text(equal, '.about')) || [];
	check(count && (await text(equal, '.functions .sum')).startsWith(`${count} calls · `), await text(equal, '.about'), await text(equal, '.functions .sum'));
	await equal.close();
});

await test('the page has logged no console errors during the tests', async () => {
	check(page.complaints.length === 0, page.complaints);
});

await finish();
