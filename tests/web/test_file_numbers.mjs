// The numbers of the page in a file are those of the server's page: node test_file_numbers.mjs STROBE

import { drawn } from './browser.mjs';
import { boxes, compared, files, finish, openAt, openFile, page_, picture, rows, site, strobe, text, texts } from './file_pages.mjs';
import { check, some, test } from './lib.mjs';

for (const [name, by, column] of some([['trace', '', ''], ['trace', 'own', ''], ['trace', 'class', 'calls'], ['trace', 'namespace', ''], ['trace', 'file', ''], ['trace', 'package', 'wall_ns'],
	['after', '', ''], ['after', 'class', ''], ['after', 'own', ''], ['cart', '', ''], ['cart', '', 'cpu_ns'], ['cart', 'class', ''], ['cart', 'own', ''], ['recursion', '', ''], ['shop', '', ''],
	['shop', 'class', '']]))
	await test(`the table of ${name} by ${by || 'function'}${column && ` and ${column}`} matches the server`, () =>
		compared(name, `/runs/shop/${name}`, { ...by && { by }, ...column && { column } }));

for (const [name, by, fn] of some([['trace', '', 'App\\View::render'], ['trace', '', 'App\\Tree::walk'], ['trace', '', 'PDO::query'], ['trace', 'own', 'App\\View::render'], ['trace', 'class', 'App\\View'],
	['after', '', 'App\\Part3\\Class2::step1'], ['after', 'class', 'App\\Part3\\Class2'], ['cart', '', 'main()'], ['recursion', '', 'main()']]))
	await test(`callers and callees of ${fn} in ${name}${by && ` by ${by}`} match the server`, () =>
		compared(name, `/runs/shop/${name}`, { ...by && { by }, function: fn }, async (page) => [...await rows(page, '.edges'), await text(page, '.function-head .facts')]));

for (const width of some(['after', 'before', 'difference', 'maximum']))
	await test(`the graph of a diff with width=${width} has the same boxes and pixels as on the server`, async () => {
		const a = await openAt(`${site}/?run=shop/after&base=shop/before&scale=none&width=${width}#show=graph`), b = await openFile('diff', `width=${width}&show=graph`);
		check(await boxes(a) === await boxes(b) && await boxes(a) > 3, await boxes(a), await boxes(b));
		const look = (page) => page.$eval('.flame canvas', (c) => [...c.getContext('2d').getImageData(0, c.height - 60, Math.min(1200, c.width), 60).data].join());
		for (const page of [a, b])
			await drawn(page);
		check(await a.$eval('select[aria-label="Width"]', (e) => e.value) === width.replace('maximum', ''));
		check(await look(a) === await look(b), 'the pixels differ');
		await a.close();
		await b.close();
	});

for (const how of some([{ 'keep-i': 'part3' }, { remove: 'Part3.*step1', keep: 'Class[12]::' }, { 'keep-i': 'part3', by: 'class' },
	{ keep: '^App.Part3.Class1$', by: 'class' }, { 'remove-i': 'Part3$', by: 'namespace' }, { keep: 'Part3.Class1::step1', by: 'namespace' }, { keep: '\\bstep1\\b', by: 'own' }]))
	await test(`the server and a file filter stacks alike: ${JSON.stringify(how)}`, () => compared('after', '/runs/shop/after', how));

for (const by of some(['', 'class', 'namespace', 'own']))
	await test(`the table of a diff by ${by || 'function'}, with the confidence of each change, matches the server`, () =>
		compared('diff', '/?run=shop/after&base=shop/before&scale=none', { ...by && { by } }));

await test('callers and callees of a diff match the server', () =>
	compared('diff', '/?run=shop/after&base=shop/before&scale=none', { function: 'App\\Part3\\Class2::step1' }, (page) => rows(page, '.edges')));

// Calls of a comparison are those of each function and of each arrow, never of what is below.
const AROUND = [['', 'App\\Kernel::handle'], ['', 'App\\View::render'], ['', 'App\\Tree::walk'], ['', 'PDO::query'], ['own', 'App\\View::render'], ['class', 'App\\Tree'], ['file', '/srv/app/View.php']];

for (const [name, scale, column, by, fn] of some([['traces', 'none'], ['scaled-traces', 'total']].flatMap((what) => ['calls', 'wall_ns'].flatMap((column) => AROUND.map((one) => [...what, column, ...one])))))
	await test(`${column} of callers and callees of ${fn}${by && ` by ${by}`} in a diff of traces, ${scale === 'none' ? 'as measured' : 'scaled'}, match the server`, () =>
		compared(name, `/?run=shop/trace2&base=shop/trace&scale=${scale}`, { ...by && { by }, function: fn, column },
			async (page) => {
			const self = /self(.*?) → (.*?),/.exec(await text(page, '.function-head .facts')), itself = await texts(page, '.edges .itself .amount');
			check(column === 'calls' ? !self && !itself.length : itself.join() === self.slice(1).join(), self, itself);
			return [...await rows(page, '.edges'), await text(page, '.function-head .facts')];
		}));

// More is known from pairs of caller and callee than from their tree, which is an estimate.
for (const scale of some(['none', 'total']))
	for (const how of some([...['main()', 'PDO::query', 'a', 'b'].flatMap((fn) => ['wall_ns', 'calls'].map((column) => ({ function: fn, column }))), { function: 'PDO', by: 'class' }]))
		await test(`callers and callees in a diff of caller/callee pairs match the server, ${scale === 'none' ? 'as measured' : 'scaled'}: ${Object.values(how).join()}`, async () => {
			strobe('diff', files.cart, files.recursion, '--force', '--normalize', scale, '-o', page_('pairs'));
			await compared('pairs', `/?run=shop/recursion&base=shop/cart&scale=${scale}`, how, async (page) => [...await rows(page, '.edges'), ...how.by ? [] : [await text(page, '.function-head .facts')]]);
		});

// The words of boxes and arrows. The file leaves out those of thin arrows.
const saidOfGraph = (page) => page.evaluate(() => {
	const words = (e) => [...e.querySelectorAll('text')].map((t) => t.textContent.trim()).join(' '), title = (e) => e.querySelector('a').getAttribute('xlink:title').split('\n')[0];
	const all = (kind) => [...document.querySelectorAll(`.call-graph .${kind}`)];
	return { nodes: all('node').map(words).sort(), edges: all('edge').map((e) => [title(e), words(e)]).sort(),
		gray: all('node').map((e) => [title(e), new Set(e.querySelector('[fill]').getAttribute('fill').match(/[0-9a-f]{2}(?=([0-9a-f]{2})*$)|\d+/g)).size === 1]).sort() };
});

for (const [name, address, how] of some([['traces', '/?run=shop/trace2&base=shop/trace&scale=none', 'column=calls'], ['traces', '/?run=shop/trace2&base=shop/trace&scale=none', 'column=wall_ns'],
	['scaled-traces', '/?run=shop/trace2&base=shop/trace&scale=total', 'column=calls'], ['scaled-traces', '/?run=shop/trace2&base=shop/trace&scale=total', 'column=wall_ns'], ['trace', '/runs/shop/trace?', 'column=calls']]))
	await test(`boxes and arrows of the call graph of ${name} with ${how} have the same labels as on the server`, async () => {
		const a = await openAt(`${site}${address}&${how}&threshold=0#show=calls`), b = await openFile(name, `${how}&threshold=0&show=calls`), said = [];
		for (const page of [a, b]) {
			await page.waitForSelector('.call-graph .node');
			said.push(await saidOfGraph(page));
			check(await page.$$eval('.call-graph .edge text', (all) => all.map((e) => e.getBoundingClientRect())
				.every((a, i, r) => r.every((b, j) => i === j || a.right <= b.left || b.right <= a.left || a.bottom - 3 <= b.top || b.bottom - 3 <= a.top))), 'labels of arrows overlap');
			await picture(page, `calls-${name}-${how.slice(7)}-${page === a ? 'server' : 'file'}`);
			await page.close();
		}
		const shares = / \([\d.]+%\)/g, [wanted, got] = said.map((t) => JSON.parse(JSON.stringify(t).replaceAll(shares, ''))), words = new Map(wanted.edges);
		check(wanted.nodes.length > 4 && wanted.nodes.join('\n') === got.nodes.join('\n'), got.nodes, 'instead of', wanted.nodes);
		check(got.edges.map(([e]) => e).join() === wanted.edges.map(([e]) => e).join() && got.edges.every(([e, said]) => !said || said === words.get(e)), got.edges, 'instead of', wanted.edges);
		check(name === 'trace' || JSON.stringify(got.gray) === JSON.stringify(wanted.gray) && got.gray.some(([, gray]) => !gray), got.gray, wanted.gray);
	});

await test('the facts above a scaled diff, with the values before, match the server', async () => {
	const head = (page) => page.$eval('.about .facts', (e) => e.textContent.split(/scale(?!d)/)[0].split('colors')[0]);
	const a = await openAt(`${site}/?run=shop/after&base=shop/before&scale=total`), b = await openFile('scaled', '');
	check(await head(a) === await head(b) && (await head(b)).includes('what was before ×'), await head(a), await head(b));
	await a.close();
	await b.close();
});

// The sides are not equally much, so that values before are scaled. Boxes are rounded along the tree, values of functions are not.
const SCALED = '/?run=shop/after&base=shop/before&scale=total';

for (const by of some(['', 'class', 'namespace', 'own']))
	await test(`the values before in the table of a scaled diff by ${by || 'function'} match the server`, () => compared('scaled', SCALED, { ...by && { by } }));

for (const how of some([{ 'keep-i': 'part3' }, { remove: 'Part3.*step1', keep: 'Class[12]::' }, { keep: '^App.Part3.Class1$', by: 'class' }]))
	await test(`stack filters do not change the scale of a diff, on the server and in a file: ${JSON.stringify(how)}`, async () => {
		// Chance is judged by what was measured of fewer functions.
		await compared('scaled', SCALED, how, async (page) => {
			const [all] = await texts(page, '.about .facts');
			return [...await rows(page), all.split(/scale(?!d)/)[0].split('colors')[0], all.match(/× [\d.]+/)[0]];
		});
	});

for (const [by, fn] of some([['', 'App\\Kernel::handle'], ['', 'App\\Part3\\Class2::step1'], ['', 'App\\Part1\\Class0::step4'], ['class', 'App\\Part5\\Class1']]))
	await test(`the values before of ${fn} in a scaled diff match the server and strobe diff`, async () => {
		const { functions } = JSON.parse(strobe('diff', '--json', '--all', '--rows', '0', files.before, files.after)), f = !by && functions.find((f) => f.function === fn);
		await compared('scaled', SCALED, { function: fn, ...by && { by } }, async (page) => {
			const facts = await text(page, '.function-head .facts');
			for (const value of f ? [f.self.before, f.self.after, f.total.before, f.total.after] : [])
				check(facts.includes(value.toLocaleString('en')), value, facts);
			return [...await rows(page, '.edges'), facts];
		});
	});

for (const [name, how] of some([['trace', ''], ['trace', 'by=own'], ['trace', 'by=class&column=calls'], ['after', ''], ['after', 'reverse=1'], ['after', 'by=namespace'], ['cart', 'column=memory_bytes']]))
	await test(`the flame graph of ${name} ${how} has the same boxes and pixels as on the server`, async () => {
		const a = await openAt(`${site}/runs/shop/${name}?${how}#show=graph`), b = await openFile(name, `${how}&show=graph`);
		check(await boxes(a) === await boxes(b) && await boxes(a) > 3, await boxes(a), await boxes(b));
		// The lowest rows, as the panes are not equally high.
		const look = (page) => page.$eval('.flame canvas', (c) => [...c.getContext('2d').getImageData(0, c.height - 60, Math.min(1200, c.width), 60).data].join());
		for (const page of [a, b])
			await drawn(page);
		check(await look(a) === await look(b), 'the pixels differ');
		await a.close();
		await b.close();
	});

await finish();
