// Names, scales, widths, and pages without scripts, in a real browser: node test_views_screens.mjs STROBE

import { join } from 'node:path';
import { accessible, drawn, newPage, ready } from './browser.mjs';
import { check, some, test } from './lib.mjs';
import { api, at, browser, files, finish, folder, HOSTILE, notAt, openPage, press, pressed, site, strobe, text, texts } from './run_pages.mjs';

for (const address of some(['/runs/shop/hostile', '/runs/shop/hostile#show=table', '/runs/shop/hostile#show=calls', `/runs/shop/hostile?function=${encodeURIComponent(HOSTILE[1])}#show=%3Cscript%3E`,
	`/runs/shop/hostile?function=${encodeURIComponent(HOSTILE[0])}`]))
	await test(`hostile names are rendered as text in every view: ${address}`, async () => {
		const open = await openPage(address);
		if (address.includes('calls'))
			await open.waitForSelector('.call-graph svg .node');
		if (address.includes('function='))
			await open.waitForSelector('.edges tbody tr');
		await drawn(open);
		check(!(await open.title()).includes('owned') || (await open.title()).includes('onerror') || (await open.title()).includes('script'), await open.title());
		check(await open.$$eval('#app img, #app script, #app svg script', (all) => all.length) === 0, address);
		check(open.complaints.length === 0, address, open.complaints);
		await open.close();
	});

await test('hostile names are escaped on pages without scripts', async () => {
	const plain = await openPage('/runs/shop/hostile', { scripts: false });
	check((await plain.content()).includes('&lt;img src=x onerror'));
	await plain.close();
});

await test('without scripts a run has its facts, its picture, every metric and pages of functions', async () => {
	const open = await openPage('/runs/shop/cart?sort=total', { scripts: false });
	const html = await open.content();
	check(html.includes('Cart::add') && html.includes('off-CPU') && html.includes('-64.0 KiB') && await open.$('img.picture'));
	await Promise.all([open.waitForNavigation(), open.$$eval('.functions tbody a', (all) => all.find((a) => a.textContent === 'PDO::query').click())]);
	const page = await open.content();
	check(open.url().includes('function=PDO') && page.includes('Callers') && page.includes('82.5') && page.includes('Cart::add'), page.slice(0, 2000));
	await open.close();
});

await test('without scripts a comparison has totals, scales and a link to each side, and can be sorted', async () => {
	const open = await openPage('/?run=shop/after&base=shop/before&sort=name', { scripts: false });
	const said = await text(open, '.choices');
	check(/Scaled automatically, as measured, in shares of the total/.test(said) && await open.$('.choices a[href*="scale=total"]'), said);
	await open.goto(`${site}/?run=shop/after&base=shop/before&scale=total`);
	check(/In the table the values before are scaled: × \d/.test(await text(open, 'main')) && (await text(open, '.choices strong:last-of-type')), await text(open, 'main'));
	await open.goto(`${site}/?run=shop/after&base=shop/before&sort=name`);
	const facts = await open.$eval('section[aria-label="Run"]', (s) => s.textContent);
	check(/samples: [\d,]+ before, [\d,]+ after, \+[\d,]+ \(\+[\d.]+%\)/.test(facts), facts);
	const links = await open.$$eval('section[aria-label="Run"] a', (all) => all.map((a) => a.getAttribute('href')));
	check(links.join() === '/runs/shop/after,/runs/shop/before', links);
	const names = await open.$$eval('.functions tbody th', (all) => all.map((th) => th.textContent));
	check(names.length > 50 && names.join() === [...names].sort((a, b) => a < b ? -1 : 1).join(), names.slice(0, 9));
	await open.close();
});

await test('the scale of a comparison can be selected, and is in the URL', async () => {
	const open = await openPage('/?run=shop/longer&base=shop/long'), select = 'select[aria-label="Scale of the values before"]';
	await open.select(select, 'none');
	await open.waitForFunction(() => location.search.includes('scale=none'));
	await ready(open);
	check(!(await open.$eval('.about', (e) => e.textContent)).includes('×'));
	await open.goBack();
	await open.waitForFunction(() => !location.search.includes('scale='));
	check(await open.$eval(select, (e) => e.value) === '');
	await open.close();
});

await test('a scale that cannot be computed is explained, and another can be selected', async () => {
	const open = await openPage('/?run=shop/longer&base=shop/long&scale=requests'), select = 'select[aria-label="Scale of the values before"]';
	const why = await text(open, 'main .why');
	check(why.startsWith('The number of requests is unknown') && why.endsWith('try scale=total'), why);
	await open.select(select, 'total');
	await open.waitForFunction(() => location.search.includes('scale=total') && document.querySelector('.flame canvas'));
	await open.close();
});

await test('without scripts an unchanged exact value is not called noise', async () => {
	const open = await openPage('/?run=shop/cart&base=shop/cart&column=memory_bytes', { scripts: false });
	const cells = await texts(open, '.functions tbody td');
	check(cells.includes('0 B') && !cells.some((c) => c.includes('?')), cells.slice(0, 12));
	check(!(await text(open, 'main')).includes('within the noise'));
	await open.close();
});

await test('own code is counted in functions, and strobe report of a page by class lists classes', async () => {
	const open = await openPage('/runs/shop/cart?by=own');
	check(/ functions?$/.test(await text(open, '.functions .sum')), await text(open, '.functions .sum'));
	await open.close();
	const table = strobe('report', `${site}/runs/shop/cart?by=class`);
	check(/\bclass\b/.test(table) && !/\bfunctions?\b/.test(table), table);
});

await test('the title of the call graph has the total and the name of its column', async () => {
	const picture = await (await fetch(`${site}/callgraph.svg?run=shop/loops&column=memory_bytes`)).text(), { columns, column } = await api('/api/v1/table?run=shop/loops&column=memory_bytes');
	check(columns[column].total === 1024 && columns[column].whole > 1024, columns);
	check(/>memory: 1(\.0+)? KiB;/.test(picture), picture.match(/>[^<]*memory[^<]*</)?.[0]);
});

for (const i of some([...Array(8).keys()]))
	await test(`on a phone the flame graph is as tall as its box from the first frame on, load ${i}`, async () => {
		const open = await openPage('/runs/shop/deep', { width: 390, height: 844, phone: true });
		await open.waitForSelector('.flame canvas');
		await drawn(open);
		const { canvas, box, rows } = await open.$eval('.flame', (e) => ({ canvas: e.querySelector('canvas').offsetHeight, box: e.clientHeight, rows: e.scrollHeight }));
		check(canvas === box && box > 200 && rows > box + 100, `a canvas of ${canvas} px in a box of ${box}, ${rows} px of rows`);
		await open.close();
	});

await test('without scripts the picture fits the width of a phone or tablet window', async () => {
	for (const [window, drawn] of [[390, 360], [800, 640], [1440, 1200]]) {
		const open = await openPage('/?run=shop/longer&base=shop/long', { scripts: false, width: window, height: 844 });
		const picture = await open.$eval('img.picture', async (img) => {
			await img.decode();
			return { natural: img.naturalWidth, shown: img.getBoundingClientRect().right };
		});
		check(picture.natural === drawn && picture.shown <= window, picture);
		check(await open.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
		await open.close();
	}
});

await test('without scripts rows have at most two lines on a phone, and methods stay visible', async () => {
	for (const address of ['/runs/shop/long', '/?run=shop/longer&base=shop/long', '/runs/shop/long?function={main}']) {
		const open = await openPage(address, { scripts: false, width: 390, height: 844, phone: true });
		const rows = await open.$$eval('.plain tbody tr', (all) => all.map((tr) => tr.getBoundingClientRect().height));
		check(rows.length >= 3 && Math.max(...rows) <= 45, `${address}: ${rows}`);
		check(await open.evaluate(() => document.documentElement.scrollWidth) === 390, `${address}: the page fits the phone`);
		const method = await open.$$eval('.plain tbody a span:last-child', (all) => {
			const span = all.find((s) => s.textContent === '::aMethod' && s.previousSibling.textContent === 'Ab'), cell = span.closest('th').getBoundingClientRect();
			return [span, span.previousSibling].every((s) => s.scrollWidth <= s.clientWidth + 1) && span.getBoundingClientRect().right <= cell.right && cell.left < 30;
		});
		check(method, `${address}: the method is fully visible`);
		await open.close();
	}
});

await test('long names leave room for the numbers beside them', async () => {
	for (const [width, most] of [[390, 200], [1440, 1200]]) {
		const open = await openPage('/runs/shop/long#show=table', { width, height: 844, phone: width < 900 });
		await open.waitForSelector('.rows tbody th');
		const [name, number] = await open.$eval('.rows tbody tr', (tr) => [tr.querySelector('th').getBoundingClientRect().right, tr.querySelector('td').getBoundingClientRect().right]);
		check(name <= most && number <= width, `${width}: the name ends at ${name}, the first number at ${number}`);
		await open.close();
	}
});

await test('on a phone keep and remove appear once there is something to filter by', async () => {
	const open = await openPage('/?run=shop/after&base=shop/before', { width: 390, height: 844, phone: true }), high = () => open.$eval('[aria-label="Filter stacks"]', (e) => e.offsetHeight);
	await drawn(open);
	check(await high() === 0, await high());
	await open.type('#search', 'Part3');
	await open.waitForFunction(() => document.querySelector('[aria-label="Filter stacks"]').offsetHeight > 20);
	await open.close();
});

await test('on a phone callees of a comparison show the whole method, in rows of at most two lines', async () => {
	const open = await openPage('/?run=shop/edge&base=shop/edge&function={main}', { width: 390, height: 844, phone: true });
	await open.waitForSelector('section[aria-label="Callees"] tbody .function-link');
	const rows = await open.$$eval('.edges tbody tr', (all) => all.map((tr) => tr.getBoundingClientRect().height));
	check(rows.length > 2 && Math.max(...rows) <= 50, rows);
	const method = await open.$$eval('section[aria-label="Callees"] .function-link span:last-child', (all) => {
		const span = all.find((s) => s.textContent === '::aMethodWithAVeryLongNameAtTheEnd');
		return [span.scrollWidth - span.clientWidth, span.getBoundingClientRect().right];
	});
	check(method[0] <= 1 && method[1] <= 390, 'the method is fully visible', method);
	const wide = await open.$$eval('.edges .rows', (all) => all.map((e) => e.scrollWidth - e.clientWidth));
	check(wide.every((v) => v <= 0), 'nothing overflows sideways', wide);
	await open.close();
});

await test('functions are found by any part of their names, in any script, and by similar spelling', async () => {
	const open = await openPage('/runs/shop/names#show=table');
	await open.waitForSelector('.rows tbody th');
	for (const [typed, found] of [['сумма', 'Прайс\\Корзина::сумма'], ['計算', '計算'], ['::сум', 'Прайс\\Корзина::сумма'], ['a->b', 'a->b'], ['-prices', ''], ['proces', 'prices'], ['PRICES', 'prices']]) {
		await open.$eval('.functions .narrow', (i, v) => {
			i.value = v;
			i.dispatchEvent(new Event('input', { bubbles: true }));
		}, typed);
		await drawn(open);
		const names = await open.$$eval('.rows tbody .function-link', (all) => all.map((a) => a.textContent).join());
		check(found ? names === found : !names.includes('Корзина'), `${typed}: ${names}`);
	}
	await open.close();
});

await test('calls of callees are shares of all calls that the function makes', async () => {
	const rows = (open) => open.$$eval('section[aria-label="Callees"] tbody tr', (all) => all.map((tr) => tr.textContent).filter((t) => !t.includes('itself')));
	for (const scripts of [true, false]) {
		const open = await openPage('/runs/shop/loops?function=total', { scripts });
		await open.waitForSelector('section[aria-label="Callees"] tbody tr');
		const all = (await rows(open)).join(' ');
		check(/75\.0\s?%/.test(all) && /25\.0\s?%/.test(all) && !/\d{3}\.\d\s?%/.test(all.replaceAll('100.0', '')), `${scripts}: ${all}`);
		await open.close();
	}
	const both = await openPage('/?run=shop/loops&base=shop/loops&column=calls&function=total');
	await both.waitForSelector('section[aria-label="Callees"] thead');
	const shares = (await rows(both)).join(' ');
	check(/75\.0\s?%/.test(shares) && /25\.0\s?%/.test(shares), `of a comparison: ${shares}`);
	await both.close();
});

await test('totals include freed memory, and the call graph has the functions that freed it', async () => {
	const open = await openPage('/runs/shop/loops?column=memory_bytes');
	check((await open.$eval('.about', (e) => e.textContent)).includes('memory1.00 KiB'), await open.$eval('.about', (e) => e.textContent));
	await open.waitForFunction(() => document.querySelector('.functions .sum').textContent.startsWith('1.00 KiB'));
	await open.goto(`${site}/runs/shop/loops?column=memory_bytes#show=calls`);
	await open.reload();
	await open.waitForSelector('.call-graph .node');
	const nodes = await open.$$eval('.call-graph .node', (all) => all.map((n) => n.textContent.replace(/\s+/g, ' ')).join(' | '));
	check(/ free self -8\.00 KiB \(-\d+\.\d%\)/.test(nodes), nodes);
	await open.close();
	const both = await openPage('/?run=shop/loops&base=shop/loops&column=memory_bytes');
	check((await both.$eval('.about', (e) => e.textContent)).includes('1.00 KiB → 1.00 KiB'), await both.$eval('.about', (e) => e.textContent));
	await both.close();
});

await test('the table opens in the sort order of the URL', async () => {
	for (const [sort, kind] of [['total', 'descending'], ['name', 'ascending']]) {
		const open = await openPage(`/runs/shop/cart?sort=${sort}`);
		const how = await open.$eval(sort === 'name' ? '.functions th.name' : '.functions th.total', (th) => th.getAttribute('aria-sort'));
		check(how === kind, `${sort}: ${how}`);
		await open.close();
	}
});

// The focused element, as a person would name it.
await test('scaling by requests is offered only where their number is known, and explained elsewhere', async () => {
	for (const [sides, wanted] of [['run=shop/after&base=shop/before', ',total,none'], ['run=shop/again&base=shop/cart', ',total,none,rate,requests']]) {
		const open = await openPage(`/?${sides.replace('again', 'cart')}`), offered = await open.$$eval('select[aria-label^="Scale"] option', (all) => all.map((o) => o.value).join());
		check(offered === wanted, sides, offered);
		await open.close();
	}
	const open = await openPage('/?run=shop/after&base=shop/before&scale=requests');
	check((await text(open, '.empty .why')).startsWith('The number of requests is unknown'), await text(open, '.empty'));
	check((await open.$$eval('select option', (all) => all.map((o) => o.value).join())).endsWith(',total,none,requests'));
	await open.select('select[aria-label^="Scale"]', 'total');
	await open.waitForSelector('.about h2');
	await open.close();
});

const SETUP_A = 'function=setup&function_file=%2Fsrv%2Fa.php';

await test('functions of the same name in several files have pages of their own and a common one', async () => {
	const one = await api(`/api/v1/function?run=shop/twins&${SETUP_A}`), all = await api('/api/v1/function?run=shop/twins&function=setup');
	check(one.function.total[0] === 20 && one.function.places === 1 && all.function.total[0] === 100 && all.function.places === 2, one, all);
	check(one.function.files.join() === '/srv/a.php,/srv/b.php' && all.function.files.length === 2, one.function.files);
	const none = await (await fetch(`${site}/api/v1/function?run=shop/twins&function=setup&function_file=x`)).json();
	check(none.error.includes("has 'setup' in 2 other files, but not in 'x'"), none);
	for (const scripts of [true, false]) {
		const open = await openPage('/runs/shop/twins', { scripts }), links = await open.$$eval('.functions a.function-link', (list) => list.map((a) => a.getAttribute('href').replace(/^.*\?/, '')));
		check(links.includes(SETUP_A) && links.includes(SETUP_A.replace('a.php', 'b.php')) && links.includes('function=only'), scripts, links);
		await open.goto(`${site}/runs/shop/twins?${SETUP_A}`);
		await open.waitForSelector('.note a, section p a[href$="b.php"]');
		check((await text(open, 'main')).includes('2 functions of different files have this name; the values cover one of them'), await text(open, 'main'));
		check(/usleep/.test(await text(open, 'section[aria-label="Callees"]')) && !/only/.test(await text(open, 'section[aria-label="Callees"]')), scripts);
		await open.goto(`${site}/runs/shop/twins?function=setup`);
		await open.waitForFunction(() => document.querySelector('main').textContent.includes('the values cover all of them'));
		await open.close();
	}
	const open = await openPage('/runs/shop/twins');
	await (await open.waitForSelector('.functions a[href$="b.php"]')).evaluate((a) => a.click());
	await at(open, 'function_file=%2Fsrv%2Fb.php');
	await open.waitForSelector('.note a');
	const boxes = (n) => open.waitForFunction((words) => document.querySelector('[aria-label^="Callees,"]')?.ariaLabel.startsWith(words), {}, `Callees, ${n} boxes`);
	await boxes(1);
	await open.evaluate(() => [...document.querySelectorAll('.note a')].find((a) => a.textContent === 'all of them').click());
	await notAt(open, 'function_file');
	await boxes(2);
	await open.close();
	const graph = await openPage('/runs/shop/twins#show=calls');
	await graph.waitForSelector('.call-graph svg .node');
	await graph.$$eval('.call-graph .node', (all) => all.find((e) => e.querySelector('a').getAttribute('xlink:title').includes('/srv/b.php')).focus());
	await graph.keyboard.press('Enter');
	await at(graph, 'function_file=%2Fsrv%2Fb.php');
	await graph.close();
	strobe('flamegraph', '-q', files.twins, '-o', join(folder, 'twins.html'));
	const file = await newPage(browser);
	await file.goto(`file://${join(folder, 'twins.html')}#${SETUP_A}`);
	await file.waitForFunction(() => document.querySelector('.note')?.textContent.includes('cover one'));
	check(!/only/.test(await text(file, 'section[aria-label="Callees"]')));
	await file.close();
});

await test('a function outside your own code is reported as such, with a link to search all functions', async () => {
	const address = '/runs/shop/twins?function=usleep&by=own';
	check((await fetch(site + address)).status === 200 && (await fetch(`${site}/runs/shop/twins?function=nothing`)).status === 404);
	for (const scripts of [true, false]) {
		const open = await openPage(address, { scripts });
		await open.waitForFunction(() => document.querySelector('main').textContent.includes('of your own code in the selected profile'));
		await open.evaluate(() => [...document.querySelectorAll('main button, main a')].find((e) => /search all functions/i.test(e.textContent)).click());
		await open.waitForFunction(() => !location.href.includes('own') && document.querySelector('section[aria-label="Callers"]')?.textContent.includes('setup'));
		check(scripts || open.complaints.length === 0, open.complaints);
		await open.close();
	}
});

await test('a name that is too long for a URL is not a link and says why, and others open their function', async () => {
	const links = [];
	for (const scripts of [true, false]) {
		const open = await openPage('/runs/shop/huge', { scripts });
		await open.waitForFunction(() => document.querySelectorAll('.functions .function-link').length === 3);
		links.push(...await open.$$eval('.functions .function-link', (all) => all.map((e) => e.getAttribute('href') ?? e.title.slice(0, 33))));
		await open.close();
	}
	check(links.filter((l) => l === 'The name is too long for a link: ').length === 2, links.map((l) => l.slice(0, 60)));
	for (const link of links.filter((l) => l.startsWith('/')))
		check((await fetch(site + link)).status === 200, link.slice(0, 60));
});

// All samples that a page is about.
const whole = async (open) => (await api(`/api/v1/table?run=shop/before&${new URL(open.url()).search.slice(1)}`)).columns[0].whole;

for (const [by, query] of some([['class', 'Part3.Class1$'], ['namespace', '\\bPart3\\b'], ['', '\\bstep1\\b']]))
	await test(`keep turns the search into a stack filter on the server's page, by ${by || 'function'}`, async () => {
		const open = await openPage(`/runs/shop/before?by=${by}`);
		const all = await whole(open);
		await open.type('#search', query);
		await open.waitForFunction(() => /[1-9].*matched/.test(document.querySelector('.matched').textContent));
		const share = parseFloat(await text(open, '.matched'));
		await press(open, 'keep');
		await at(open, 'keep-i=');
		check(Math.abs(100 * await whole(open) / all - share) < 0.1, by, await whole(open), all, share);
		await open.close();
	});

await test('stack filters apply to the whole page of the server, and a click removes a filter', async () => {
	const open = await openPage('/runs/shop/before'), total = () => whole(open), all = await total();
	await open.type('#search', 'part3');
	await open.waitForFunction(() => document.querySelector('.matched').textContent.includes('matched'));
	const matched = parseFloat(await text(open, '.matched'));
	await press(open, 'keep');
	await at(open, 'keep-i=part3');
	check(Math.abs(100 * await total() / all - matched) < 0.1, await total(), all, matched);
	await open.waitForFunction((n) => document.querySelector('.functions .sum').textContent.startsWith(n), {}, (await total()).toLocaleString('en'));
	await open.waitForSelector('main[aria-busy="false"]');		// a graph that comes now would take the focus
	await open.focus('.flame');
	await pressed(open, 'ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowUp');
	await press(open, 'remove');
	await at(open, 'remove=%5E');
	check(await open.$$eval('.chips button', (list) => list.length) === 2);
	await open.evaluate(() => document.querySelector('.chips button').click());
	await notAt(open, 'keep-i');
	check(open.complaints.length === 0, open.complaints);
	await open.goto(`${site}/runs/shop/before#search=step1(%3F!x)`);
	await open.waitForFunction(() => /[1-9].*matched/.test(document.querySelector('.matched').textContent));
	check(await open.$$eval('.segments[aria-label="Filter stacks"] button', (all) => all.every((b) => b.disabled && b.title.startsWith('The server cannot filter'))));
	await open.goto(`${site}/runs/shop/before?keep=nothing+at+all`);
	await open.waitForFunction(() => /no stack passes all (stack )?filters/i.test(document.querySelector('.empty')?.textContent));
	await press(open, 'Remove the filters of stacks');
	await open.waitForSelector('.functions tbody tr');
	await open.evaluate(() => {
		history.pushState(null, '', '?keep=(');
		dispatchEvent(new PopStateEvent('popstate'));
	});
	await open.waitForFunction(() => document.querySelector('.empty .why')?.textContent.startsWith('The filter keep=(: '));
	await press(open, 'Remove the filters of stacks');
	await open.waitForSelector('.functions tbody tr');
	await open.close();
	const plain = await openPage('/?keep=App&entry=x', { scripts: false });
	check((await text(plain, '.filters')).includes('with App ×'), await text(plain, '.filters'));
	await plain.close();
});

await test('a stack filter is added only once, and filters and value can be changed on an empty page', async () => {
	const open = await openPage('/runs/shop/before?keep-i=part3'), chips = () => open.$$eval('.chips button', (all) => all.length);
	await open.type('#search', 'part3');
	await open.waitForFunction(() => /[1-9].*matched/.test(document.querySelector('.matched').textContent));
	await press(open, 'keep');
	await open.waitForFunction(() => !document.querySelector('#search').value);
	check(await chips() === 1 && new URL(open.url()).searchParams.getAll('keep-i').length === 1, open.url());
	await press(open, 'keep');
	await open.goto(`${site}/runs/shop/before?keep-i=nothing+at+all&keep=Part3`);
	await open.waitForSelector('.empty');
	check(await chips() === 2 && !await open.$('.panes'));
	await open.click('.chips button');
	await open.waitForSelector('.functions tbody tr');
	await open.goto(`${site}/runs/shop/loops?column=memory_bytes&keep=free`);
	await open.waitForSelector('.empty');
	await open.select('select[aria-label="Value"]', 'calls');
	await open.waitForSelector('.functions tbody tr');
	check(open.complaints.length === 0, open.complaints);
	await open.close();
});

await test('boxes of a comparison can be colored by self values', async () => {
	const open = await openPage('/?run=shop/after&base=shop/before'), look = () => open.$eval('.flame canvas', (c) => c.toDataURL());
	await drawn(open);
	const before = await look();
	await press(open, 'self');
	await at(open, 'self=1');
	await drawn(open);
	check(await look() !== before);
	await open.close();
});

for (const [where, size] of some([['a desktop', { width: 1400, height: 900 }], ['a phone', { width: 390, height: 844, phone: true }]]))
	await test(`a shallow graph of callers and a source without lines take no more space than needed: ${where}`, async () => {
		const open = await openPage('/runs/shop/before?function=App%5CKernel%3A%3Ahandle', size);
		await open.waitForSelector('.source.bare');
		await drawn(open);
		const [flame, rows] = await open.$eval('[aria-label^="Callers,"]', (e) => [e.offsetHeight, parseInt(e.style.getPropertyValue('--rows'))]);
		check(Math.abs(flame - rows) <= 1, 'the graph of callers has the height of its rows', flame, rows);
		const [left, high] = await open.$eval('.source.bare', (e) => [e.getBoundingClientRect().left, e.offsetHeight]);
		check(left === 0 && high < 120, 'the source has one row', left, high);
		await open.close();
	});

// The function is the first box of both.
await test('both graphs of a function share one color scale, in which noise is pale', async () => {
	const run = (id, stacks) => fetch(`${site}/api/v1/runs?source=chance&id=${id}`, { method: 'POST', body: stacks });
	await run('a', 'main;f;g 60\nmain;f;h 41\nmain;z 99\n');
	await run('b', 'main;f;g 10\nmain;f;h 90\nmain;z 99\n');
	const open = await openPage('/?run=chance/b&base=chance/a&scale=none&function=f'), at = (label, y) => open.$eval(`[aria-label^="${label}"] canvas`, (c, y) => {
		const k = devicePixelRatio, [r, g, b] = c.getContext('2d').getImageData(2 * k, (y < 0 ? c.height / k + y : y) * k, 1, 1).data;
		return `${r},${g},${b}`;
	}, y);
	await open.waitForSelector('.sandwich canvas');
	await drawn(open);
	const [up, down, callee] = [await at('Callers,', -7), await at('Callees,', 7), await at('Callees,', 26)];
	check(up === down && up === '221,230,238', up, down);
	check(callee === '43,123,186', callee);
	await open.goto(`${site}/?run=chance/b&base=chance/a&scale=none#zoom=main;f&show=both`);
	await open.waitForSelector('.functions tbody tr');
	await drawn(open);
	const zoomed = await texts(open, '.functions tbody tr:not(.gap)');
	check(zoomed.length === 3 && zoomed.filter((row) => row.includes('?')).every((row) => row.endsWith('f')), zoomed);
	await open.close();
});

await test('boxes of a comparison are dark in dark mode, with the strongest color for the largest change', async () => {
	const open = await openPage('/?run=chance/b&base=chance/a&scale=none&function=f', { dark: true });
	await open.waitForSelector('.sandwich canvas');
	await drawn(open);
	const [f, g] = await open.$eval('[aria-label^="Callees,"] canvas', (c) => [7, 26].map((y) =>
		`${c.getContext('2d').getImageData(2 * devicePixelRatio, y * devicePixelRatio, 1, 1).data.slice(0, 3)}`));
	check(f === '60,69,76' && g === '34,104,164', f, g);
	await open.close();
});

// --- On all screens ---

const VIEWS = ['/runs/shop/before', '/runs/shop/cart#show=table', '/runs/shop/before#show=calls', '/runs/shop/before?function=App%5CKernel%3A%3Ahandle',
	'/?run=shop/lines2&base=shop/lines&function=total', '/?run=shop/after&base=shop/before', '/runs/shop/lines?function=total', '/runs/shop/lines?function=price&lines=all'];

for (const [where, how] of some([['light', {}], ['dark', { dark: true }], ['on a phone', { width: 390, height: 844, phone: true }], ['at 4K', { width: 3840, height: 2160 }]]))
	for (const address of some(VIEWS))
		await test(`every view fits the window, and axe reports no serious violations: ${where} ${address}`, async () => {
			const open = await openPage(address, { ...how, policy: false });
			if (address.includes('calls'))
				await open.waitForSelector('.call-graph svg .node');
			if (address.includes('function='))
				await open.waitForSelector('.edges tbody tr');
			if (address.includes('shop/lines'))
				await open.waitForSelector('table.source');
			await drawn(open);
			const over = await open.evaluate(() => document.documentElement.scrollWidth - innerWidth);
			check(over <= 0, 'sideways overflow in px:', over);
			const high = await open.$$eval('.rows tbody tr:not(.gap), table.source tr', (all) => Math.max(0, ...all.map((tr) => tr.offsetHeight)));
			check(high <= 40, 'row height in px:', high);
			if (where !== 'at 4K')		// which says no more there, and takes a software renderer half a minute
				await accessible(open, where);
			await open.close();
		});

const LONG_NAMES = ['labels', 'long', 'huge', 'hostile', 'edge'].flatMap((id) => ['', '#show=table', '#show=calls'].map((view) => `/runs/shop/${id}${view}`));

// A phone widens its window to what sticks out.
const widthOf = (page) => page.evaluate(() => Math.max(innerWidth, document.documentElement.scrollWidth));

for (const address of some([...LONG_NAMES, '/?run=shop/longer&base=shop/long', '/?run=shop/longer&run=shop/long', '/runs']))
	await test(`on a phone no page scrolls sideways, even with long names and labels: ${address}`, async () => {
		const page = await newPage(browser, { width: 390, height: 844, phone: true });
		await page.goto(site + address);
		await (address === '/runs' ? page.waitForSelector('.runs tbody tr') : ready(page));
		if (address.includes('calls'))
			await page.waitForSelector('.call-graph svg .node');
		await drawn(page);
		check(await widthOf(page) <= 390, await widthOf(page));
		await page.close();
	});

await test('on a phone saved filters and their deletion page do not scroll sideways, even with long names', async () => {
	const page = await newPage(browser, { width: 390, height: 844, phone: true, dark: true });
	await page.goto(`${site}/filters?deploy=${'7'.repeat(60)}`);
	await page.type('main input[name="name"]', 'n'.repeat(80));
	await Promise.all([page.waitForNavigation(), page.click('main form button')]);
	check(await widthOf(page) <= 390, 'width of the list of filters');
	await Promise.all([page.waitForNavigation(), page.click('main li button')]);
	check(await page.$eval('main h2', (h) => h.textContent.includes('nnn')) && await widthOf(page) <= 390, 'width of the deletion page');
	await page.close();
});

await test('a printed list of runs has all columns on white, without controls', async () => {
	const open = await newPage(browser, { width: 718, height: 1000, dark: true });
	await open.goto(`${site}/runs`);
	await open.waitForSelector('.runs tbody tr');
	await open.$eval('.runs tbody tr a', (a) => a.textContent = 'x'.repeat(190));		// as long as names may be
	await open.emulateMediaType('print');
	await drawn(open);
	const paper = await open.evaluate(() => ({
		right: Math.max(...[...document.querySelectorAll('.runs th, .runs td')].map((e) => e.getBoundingClientRect().right)), wide: document.documentElement.scrollWidth,
		least: Math.min(...[...document.querySelectorAll('.runs .text, .runs tbody th')].map((e) => e.getBoundingClientRect().width)),
		controls: [...document.querySelectorAll('input, button:not(.zone), select, summary')].filter((e) => e.getBoundingClientRect().width > 1).map((e) => e.outerHTML.slice(0, 80)),
		colors: ['body', '.plain'].map((s) => getComputedStyle(document.querySelector(s)).backgroundColor).join(),
	}));
	check(paper.right <= 718 && paper.wide <= 718 && paper.least >= 40 && paper.controls.length === 0 && paper.colors === 'rgb(255, 255, 255),rgb(255, 255, 255)', paper);
	await open.emulateMediaType('screen');
	await open.goto(`${site}/runs?search=cart`);
	await open.waitForSelector('.runs tbody tr');
	await open.emulateMediaType('print');
	await drawn(open);
	const kept = await open.$$eval('input, select', (all) => all.filter((e) => e.getBoundingClientRect().width > 1).map((e) => e.value));
	check(kept.join() === 'cart', kept);
	await open.close();
});

for (const address of some(['/runs/shop/before', '/runs', '/?run=shop/after&base=shop/before']))
	await test(`print names the time zone: ${address}`, async () => {
		const open = await newPage(browser);
		await open.goto(site + address);
		await open.waitForSelector('.zone');
		await open.emulateMediaType('print');
		const shown = await open.$$eval('.ends > *', (all) => all.filter((e) => e.getBoundingClientRect().width > 0).map((e) => e.textContent));
		check(shown.length === 1 && shown[0] === await open.evaluate(() => Intl.DateTimeFormat().resolvedOptions().timeZone), address, shown);
		await open.close();
	});

await test('in a low window, panes that overflow keep the background of the page', async () => {
	const open = await openPage('/runs/shop/before', { width: 1000, height: 600 });
	await drawn(open);
	const [over, colors] = await open.evaluate(() => [document.querySelector('.functions .rows').getBoundingClientRect().bottom - document.querySelector('.work').getBoundingClientRect().bottom,
		['body', '.work'].map((s) => getComputedStyle(document.querySelector(s)).backgroundColor)]);
	check(over > 0 && colors[0] === colors[1], over, colors);
	await open.close();
});

const long = (n) => `/runs/shop/before?function=${'a'.repeat(n)}`;
const ERRORS = [['/nope', 404, 'not found'], ['/runs/shop', 404, 'ends in its source and its id'], ['/flamegraph.svg?from=never', 400, 'from'],
	[long(8200), 414, 'longer than 8192 bytes'], [long(17_000), 414, 'longer than 8192 bytes'], [long(900_000), 414, 'longer than 8192 bytes']];

for (const [address, status, sentence, dark] of some([false, true].flatMap((dark) => ERRORS.map((how) => [...how, dark]))))
	await test(`URL errors are pages with a title, a reason and a link home: ${status}, ${address.length} bytes${dark ? ', in dark mode' : ''}`, async () => {
		const open = await newPage(browser, { dark }), answer = await open.goto(site + address);
		check(answer.status() === status && (await open.$eval('.why', (e) => e.textContent)).includes(sentence), address.slice(0, 60), answer.status());
		check((await open.title()).endsWith(' – Strobe') && await open.evaluate(() => document.documentElement.lang) === 'en', await open.title());
		check(await open.$eval('main a', (a) => a.getAttribute('href')) === '/' && await open.$eval('body', (b) => getComputedStyle(b).fontFamily !== 'serif'), address.slice(0, 60));
		await accessible(open, address.slice(0, 60), { evaluate: true });
		await open.close();
	});

await finish();
