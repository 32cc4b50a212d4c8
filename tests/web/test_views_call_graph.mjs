// The call graph of a run and of a comparison, in a real browser: node test_views_call_graph.mjs STROBE

import { join } from 'node:path';
import { accessible, boxContrasts, drawn, newPage, printed } from './browser.mjs';
import { check, some, test } from './lib.mjs';
import { at, browser, finish, openPage, press, site, text } from './run_pages.mjs';

await test('the call graph opens at the critical path, can be zoomed and moved, and opens functions', async () => {
	const open = await openPage('/runs/shop/before#show=calls');
	const svg = await open.waitForSelector('.call-graph svg .node');
	check(svg);
	const box = () => open.$eval('.call-graph svg', (e) => e.getAttribute('viewBox').split(' ').map(Number));
	const first = await box(), size = await open.$eval('.node.critical text', (e) => e.getBoundingClientRect().height);
	const inside = await open.$eval('.node.critical', (e) => { const b = e.getBoundingClientRect(); return b.top >= 0 && b.bottom <= innerHeight && b.left >= 0 && b.right <= innerWidth; });
	check(size >= 7 && inside, 'the start of the critical path is readable', size, inside);
	await press(open, '+');
	check((await box())[2] < first[2], await box());
	await open.focus('.call-graph');
	await open.keyboard.down('Shift');
	await open.keyboard.press('ArrowRight');
	await open.keyboard.up('Shift');
	check((await box())[0] > first[0], await box());
	await open.keyboard.press('0');
	const nodes = (await open.$$('.call-graph .node')).length;
	await open.$eval('.threshold input', (e) => { e.value = '7'; e.dispatchEvent(new Event('change', { bubbles: true })); });
	await at(open, 'threshold=10');
	await open.waitForFunction((n) => document.querySelectorAll('.call-graph .node').length < n, {}, nodes);
	const titles = await open.$$eval('.call-graph .node a', (all) => all.map((e) => e.getAttribute('xlink:title').split('\n')[0]));
	check(titles.some((title) => title.startsWith('App\\')) && !titles.some((title) => title.includes('\ue05c')), titles);
	await open.$$eval('.call-graph .node', (all) => all.find((e) => e.querySelector('a').getAttribute('xlink:title').startsWith('App\\')).focus());
	await open.keyboard.press('Enter');
	await at(open, 'function=App');
	check(open.complaints.length === 0, open.complaints);
	await open.close();
});

await test('the call graph is a single tab stop, and arrow keys move between its functions', async () => {
	const open = await openPage('/runs/shop/before?threshold=2.5#show=calls');
	await open.waitForSelector('.call-graph svg .node');
	check(await open.$$eval('.call-graph [tabindex="0"]', (all) => all.length) === 0);
	const now = () => open.evaluate(() => {
		const e = document.activeElement, r = e.getBoundingClientRect(), all = document.querySelector('.call-graph').getBoundingClientRect();
		return { name: e.querySelector('a')?.getAttribute('xlink:title').split('\n')[0], top: r.top, left: r.left,
			isIn: r.top >= all.top && r.bottom <= all.bottom && r.left >= all.left && r.right <= all.right };
	});
	await open.focus('.call-graph');
	await open.keyboard.press('ArrowDown');
	const first = await now();
	check(first.name === '{main}' && first.isIn, first);
	await open.keyboard.press('ArrowDown');
	const second = await now();
	check(second.name === 'App\\Kernel::handle' && second.isIn, second);
	await open.keyboard.press('ArrowUp');
	check((await now()).name === first.name, await now());
	const seen = new Set(), all = (await open.$$('.call-graph .node')).length;
	for (let i = 0; i < all; i++) {
		const { name, isIn } = await now();
		check(name && isIn, 'the focused box is visible', await now());
		seen.add(name);
		await open.keyboard.press('ArrowRight');
	}
	check(all > 9 && seen.size === all, 'every box is reached', seen.size, all);
	const { name } = await now();
	await open.keyboard.press('Enter');
	await at(open, 'function=');
	check(new URL(open.url()).searchParams.get('function') === name, open.url(), name);
	await open.goBack();
	await open.waitForFunction((name) => document.activeElement.querySelector('a')?.getAttribute('xlink:title')?.split('\n')[0] === name, { timeout: 5000 }, name);
	check(open.complaints.length === 0, open.complaints);
	await open.close();
});

await test('a truncated call graph says how many functions it shows and has the whole critical path', async () => {
	const open = await openPage('/runs/shop/crowd#show=calls');
	await open.waitForSelector('.calls .note');
	const note = await text(open, '.calls .note'), [, shown] = /(\d+) of the 243 functions with at least 0\.5%.*; a higher threshold chooses fewer$/.exec(note) || [];
	check(Number(shown) <= 200 && (await open.$$('.call-graph .node')).length === Number(shown), note);
	const path = await open.$$eval('.node.critical a', (all) => all.map((e) => e.getAttribute('xlink:title')).sort());
	check(path.join() === 'zz1,zz2,{main}', path);
	const { headers } = await fetch(`${site}/api/v1/callgraph?run=shop/crowd`);
	check(headers.get('Strobe-Warning')?.includes(' of the 243 functions with at least 0.5%'), [...headers]);
	await open.$eval('.threshold input', (e) => { e.value = '4'; e.dispatchEvent(new Event('change', { bubbles: true })); });
	await open.waitForFunction(() => !document.querySelector('.calls .note') && document.querySelectorAll('.call-graph .node').length === 2);
	check(open.complaints.length === 0, open.complaints);
	await open.close();
});

await test('the call graph shows warnings of the server, and says why it is empty', async () => {
	const open = await newPage(browser), words = 'The layout took longer than 1.5 seconds, so the picture shows 40 of 90 functions (≤ 50)';
	await open.setRequestInterception(true);
	open.on('request', async (r) => {
		if (!r.url().includes('/api/v1/callgraph'))
			return r.continue();
		const svg = await (await fetch(r.url())).text();
		r.respond({ contentType: 'image/svg+xml', headers: { 'Strobe-Warning': words }, body: r.url().includes('threshold=20') ? svg.replace(/class="node/g, 'class="none') : svg });
	});
	await open.goto(`${site}/runs/shop/before#show=calls`);
	await open.waitForSelector('.calls .note');
	check(await text(open, '.calls .note') === words, await text(open, '.calls .note'));
	await open.$eval('.threshold input', (e) => { e.value = '8'; e.dispatchEvent(new Event('change', { bubbles: true })); });
	await open.waitForFunction(() => document.querySelector('.calls .note')?.textContent.includes('at least 20% of all'));
	await open.close();
});

for (const dark of some([false, true]))
	await test(`the call graph of a comparison has both sides, colored by change${dark ? ', in dark mode' : ''}`, async () => {
		const open = await openPage('/?run=shop/cart&base=shop/recursion&threshold=0#show=calls', { dark, policy: false });
		await open.waitForSelector('.call-graph svg .node');
		const nodes = await open.$$eval('.call-graph .node', (all) => all.map((n) => ({
			kind: ['grew', 'fell', 'same'].find((k) => n.classList.contains(k)), dashed: !!n.querySelector('[stroke-dasharray]'),
			words: [...n.querySelectorAll('text')].map((t) => t.textContent).join(' '), label: n.getAttribute('aria-label') })));
		for (const word of ['gone', 'new'])
			check(nodes.some((n) => n.words.includes(`(${word})`)), word, nodes);
		check(nodes.every((n) => n.dashed === /total [^()]*\(gone\)/.test(n.words)), nodes);
		const color = (k) => open.$$eval(`.call-graph .edge.${k} path`, (all) => all.map((e) => getComputedStyle(e).stroke.match(/\d+/g).map(Number)));
		check((await color('grew')).every(([r, , b]) => r > b) && (await color('fell')).every(([r, , b]) => r < b), 'colors of arrows', await color('grew'), await color('fell'));
		check((await color('grew')).length > 0 && (await color('fell')).length > 0, 'some arrows grew and some fell');
		check(await text(open, '.legend') === 'gone', 'the legend explains functions that are gone');
		await accessible(open, 'the call graph of a comparison');
		await open.$eval('.call-graph .node.fell', (e) => e.focus());
		await open.keyboard.press('Enter');
		await at(open, 'function=');
		check(open.complaints.length === 0, open.complaints);
		await open.close();
	});

await test('the call graph of a run is not colored by change', async () => {
	const plain = await openPage('/runs/shop/cart#show=calls');
	await plain.waitForSelector('.call-graph svg .node');
	check(!await plain.$('.legend') && !await plain.$('.call-graph .change'), 'neither a legend nor changes are shown');
	await plain.close();
});

await test('the visible part of the call graph is in the URL, and a link restores it', async () => {
	const box = (page) => page.$eval('.call-graph svg', (e) => e.getAttribute('viewBox').split(' ').map((v) => +(+v).toFixed(2)).join());
	const open = await openPage('/runs/shop/before?threshold=2.5#show=calls');
	await open.waitForSelector('.call-graph svg .node');
	await open.keyboard.press('+');		// without the focus
	await at(open, 'at=');
	await open.focus('.call-graph');
	await open.keyboard.down('Shift');
	await open.keyboard.press('ArrowDown');
	await open.keyboard.up('Shift');
	await at(open, 'at=');
	await open.waitForFunction(() => location.hash.includes(`at=${document.querySelector('.call-graph svg').getAttribute('viewBox').split(' ').map((v) => +(+v).toFixed(2)).join()}`));
	const seen = await box(open), other = await openPage((await open.url()).replace(/^https?:..[^/]*/, ''));
	await other.waitForSelector('.call-graph svg .node');
	check(await box(other) === seen, await box(other), seen);
	await other.focus('.call-graph');
	await other.keyboard.press('0');
	await at(other, 'at=all');
	await other.keyboard.press('-');		// from the shape of the graph, not that of the window
	await at(other, 'at=-');
	const whole = await box(other);
	await other.reload();
	await other.waitForSelector('.call-graph svg .node');
	check(await box(other) === whole, await box(other), whole);
	await press(other, 'critical path');
	await other.waitForFunction(() => !location.hash.includes('at='));
	for (const page of [open, other]) {
		check(page.complaints.length === 0, page.complaints);
		await page.close();
	}
});

await test('print has the visible part of the call graph at the width of the sheet, with a note', async () => {
	const open = await openPage('/?run=shop/after&base=shop/before&threshold=2.5#show=calls', { dark: true });
	await open.waitForSelector('.calls[aria-busy="false"] .node');
	const seen = () => open.$eval('.call-graph svg', (e) => {
		const { width, height } = e.getBoundingClientRect(), b = e.viewBox.baseVal, host = e.parentNode.getBoundingClientRect();
		return { isWhole: Math.abs(width / height - b.width / b.height) < 0.02 && Math.abs(host.height - height) < 1, wide: width, page: innerWidth };
	});
	await press(open, '+');
	await press(open, '+');
	const part = await printed(open), words = 'Only the part in view is printed';
	check(part.text.includes(words) && part.muted === '#66625b', part.text, part.muted);
	await open.setViewport({ width: 794, height: 1100 });
	await open.emulateMediaType('print');
	const { isWhole, wide, page: sheet } = await seen();
	check(isWhole && wide > sheet - 30, 'the picture is not cut off', isWhole, wide, sheet);
	check(await open.$eval('.facts select', (e) => getComputedStyle(e).appearance) === 'none', 'the scale is printed as text');
	await open.emulateMediaType('screen');
	await open.setViewport({ width: 1440, height: 900 });
	await press(open, 'all of it');
	check(!(await printed(open)).text.includes(words));
	check(open.complaints.length === 0, open.complaints);
	await open.close();
});

await test('the accessible name of a call graph box has all its lines, even if some are out of view', async () => {
	const open = await openPage('/runs/shop/edge#show=calls', { policy: false });
	await open.waitForSelector('.call-graph svg .node.critical');
	await drawn(open);
	const between = await open.evaluate(() => {		// the ends of "self 10 (66.7%)" and of "total 10 (66.7%)", which is longer
		const box = [...document.querySelectorAll('.node')].find((n) => n.textContent.includes('Namespace'));
		const [self, total] = [...box.querySelectorAll('text')].slice(-2).map((t) => t.getBoundingClientRect());
		const p = new DOMPoint((self.right + total.right) / 2, self.top - 150)
			.matrixTransform(document.querySelector('.call-graph svg').getScreenCTM().inverse());
		return [p.x, p.y, 400].map(Math.round).join();
	});
	const part = await openPage(`/runs/shop/edge#show=calls&at=${between}`, { policy: false });
	const box = await part.waitForSelector('.call-graph svg .node.critical');
	const { name, role } = await part.accessibility.snapshot({ root: box });
	check(role === 'link' && /^\{main\} self 0 \(0\.00%\) total 15 \(100%\)$/.test(name), role, name);
	const hidden = await part.evaluate(() => {
		const edge = document.querySelector('.call-graph').getBoundingClientRect().left;
		return [...[...document.querySelectorAll('.node')].find((n) => n.textContent.includes('Namespace')).querySelectorAll('text')]
			.map((t) => t.getBoundingClientRect().right < edge).join();
	});
	check(hidden === 'false,false,true,false', hidden);
	await accessible(part, between);
	for (const page of [open, part]) {
		check(page.complaints.length === 0, page.complaints);
		await page.close();
	}
});

await test('call graph boxes are dark with light text in dark mode', async () => {
	const open = await openPage('/runs/shop/before?threshold=2.5#show=calls', { dark: true, policy: false });
	await open.waitForSelector('.call-graph svg .node');
	await drawn(open);
	const r = await open.$eval('.node.critical', (e) => { const b = e.getBoundingClientRect(); return { x: b.x, y: b.y, width: b.width, height: b.height }; });
	const light = await open.evaluate(async (png) => {
		const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob()), canvas = new OffscreenCanvas(image.width, image.height);
		const g = canvas.getContext('2d');
		g.drawImage(image, 0, 0);
		const { data } = g.getImageData(0, 0, image.width, image.height), all = [];
		for (let i = 0; i < data.length; i += 4)
			all.push(data[i] + data[i + 1] + data[i + 2]);
		return [all.filter((v) => v < 300).length / all.length, Math.max(...all)];
	}, await open.screenshot({ clip: r, encoding: 'base64' })).catch((why) => String(why));
	check(light[0] > 0.6 && light[1] > 450, light);
	await open.close();
});

const CALL_GRAPHS = ['/?run=shop/after&base=shop/before&scale=none&threshold=1', '/?run=shop/cart&base=shop/recursion&threshold=0', '/?run=shop/recursion&base=shop/cart&threshold=0',
	'/runs/shop/before?', '/runs/shop/cart?', '/callgraph.svg?run=shop/after&base=shop/before&scale=none&threshold=20', '/callgraph.svg?run=shop/cart'];

for (const [address, dark] of some([false, true].flatMap((dark) => CALL_GRAPHS.map((address) => [address, dark]))))
	await test(`text in call graph boxes has enough contrast: ${address}${dark ? ', in dark mode' : ''}`, async () => {
		const isPicture = address.startsWith('/callgraph'), open = isPicture ? await newPage(browser, { dark }) : await openPage(`${address}#show=calls`, { dark, policy: false });
		if (isPicture)
			await open.goto(site + address);
		await open.waitForSelector('.node');
		const all = await boxContrasts(open), bad = all.filter(({ contrast }) => contrast < 4.5);
		check(all.length > 1 && !bad.length, all.length, bad);
		if (process.env.SHOTS)
			await open.screenshot({ path: join(process.env.SHOTS, `${address.replace(/\W+/g, '-')}-${dark}.png`) });
		await open.close();
	});

await finish();
