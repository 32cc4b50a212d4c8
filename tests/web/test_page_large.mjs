// A graph of 80,000 boxes: node test_page_large.mjs TEST-SERVER

import { drawn } from './browser.mjs';
import { check, serve, some, test } from './lib.mjs';
import { at, clickRow, colors, finish, openPage, program, text } from './live_pages.mjs';

const big = await serve(program, '--boxes', '80000');

await test('a graph of 80,000 boxes is requested in parts, zoomed and searched', async () => {
	const other = await openPage(`${big}/?entry=big#show=graph`);
	await drawn(other);
	check(await colors(other) > 100);
	const bytes = await (await fetch(`${big}/api/v1/profile?entry=big&format=flame`)).arrayBuffer();
	check(new DataView(bytes).getUint32(8, true) >= 80000);
	const asked = [];
	other.on('request', (r) => r.url().includes('format=flame') && asked.push(new URL(r.url()).searchParams));
	await clickRow(other, 3);
	await at(other, 'zoom=');
	await other.waitForSelector('main[data-ready="true"]');
	check(asked.length === 1 && asked[0].get('pixels') >= 1000 && asked[0].get('zoom').includes(';'), asked.map(String));
	await other.goBack();
	await drawn(other);
	check(asked.length === 1, 'the whole graph is not requested again');

	// The table of a zoomed box has every function on it, as does a search.
	await clickRow(other, 3);
	await at(other, 'zoom=');
	await other.evaluate(() => [...document.querySelectorAll('.panes button')].find((b) => b.textContent === 'table').click());
	await other.waitForFunction(() => document.querySelectorAll('table.wide tbody tr').length > 10);
	check(asked.length === 2 && !asked[1].has('pixels'), asked.map(String));
	await other.goBack();
	await other.goBack();
	await other.reload();
	await other.waitForSelector('main[data-ready="true"]');
	check(asked.length === 3 && asked[2].has('pixels'), asked.map(String));
	await other.type('#search', 'method1');
	await other.waitForFunction(() => document.querySelector('.matched').textContent.endsWith('matched'));
	check(asked.length === 4 && !asked[3].has('pixels'), asked.map(String));
	const all = readBoxes(bytes), covered = new Set();
	let sum = 0;
	for (const b of all.list) {
		const above = covered.has(b.parent), hit = b.name.includes('method1');
		sum += hit && !above ? b.width : 0;
		if (hit || above)
			covered.add(b);
	}
	check(Math.abs(parseFloat(await text(other, '.matched')) - 100 * sum / all.list[0].width) < 0.1, await text(other, '.matched'), sum, all.list[0].width);
	await other.close();
});

// As src/render/flame_data.h draws them, each with its parent and the path of names and places.
function readBoxes(buffer) {
	const head = new DataView(buffer), n = head.getUint32(8, true), depths = head.getUint32(12, true);
	let at = 64;
	const take = (count, Type = Uint32Array, size = 4) => {
		const part = new Type(buffer, at, count);
		at += (count * size + 7) & ~7;
		return part;
	};
	check(head.getUint32(16, true) === 4 && head.getUint32(32, true) === 0);
	const offsets = take(depths + 1), start = take(n), width = take(n), frame = take(n);
	const words = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, at, head.getUint32(20, true))));
	const joined = head.getUint32(40, true), gray = joined ? words.frame_name.length - 1 : -1, list = [];
	for (let d = 0; d < depths; d++)
		for (let i = offsets[d], p = offsets[Math.max(0, d - 1)]; i < offsets[d + 1]; i++) {
			while (d && start[p] + width[p] <= start[i])
				p++;
			const f = frame[i], name = words.names[words.frame_name[f]], parent = d ? list[p] : null;
			list.push({ start: start[i], width: width[i], name, isGray: f === gray, parent,
				path: d ? `${parent.path};${name}@${words.files[words.frame_file[f]]}${words.frame_line[f] ? `:${words.frame_line[f]}` : ''}` : '' });
		}
	return { list, joined };
}

const flame = async (more) => readBoxes(await (await fetch(`${big}/api/v1/profile?entry=big&format=flame${more}`)).arrayBuffer());

for (const how of some(['', '&reverse=1']))
	await test(`the visible boxes are those of the full graph, also when zoomed${how && ', reversed'}`, async () => {
		const all = await flame(how), full = new Map(all.list.map((b) => [b.path, b]));
		check(all.joined === 0 && full.size === all.list.length && full.size > 50000, full.size);
		const deep = all.list.filter((b) => b.path.split(';').length > 4), small = deep.reduce((a, b) => b.width > 20 && b.width < a.width ? b : a);
		for (const zoomed of [all.list[0], all.list[1], deep[0], small]) {
			const names = zoomed.path.split(';').slice(1), pixels = 600;
			const part = await flame(`${how}&pixels=${pixels}&zoom=${encodeURIComponent(names.map(encodeURIComponent).join(';'))}`);
			const least = (b) => Math.max(1, Math.floor((`${b.path};`.startsWith(`${zoomed.path};`) ? zoomed : all.list[0]).width / (2 * pixels)));
			const seen = new Set(), covered = new Map();
			for (const b of part.list) {
				const same = full.get(b.path);
				covered.set(b.parent, (covered.get(b.parent) || 0) + b.width);
				check(b.isGray || same && same.start === b.start && same.width === b.width, 'a box differs from the full graph', b.path, b.width);
				if (!b.isGray)
					seen.add(b.path);
			}
			for (const b of all.list)
				check(b.width < least(b) || seen.has(b.path), 'a box is missing', b.path, b.width);
			check(part.list.filter((b) => !b.isGray).length + part.joined === all.list.length, 'merged boxes are counted', part.joined);
			check(part.list.length < all.list.length / 2 && part.joined > 0, part.list.length);

			// Gray boxes are exactly as wide as what they stand for.
			const children = new Map();
			for (const b of all.list)
				children.set(b.parent, (children.get(b.parent) || 0) + b.width);
			for (const b of part.list)
				check(b.isGray || (covered.get(b) || 0) === (children.get(full.get(b.path)) || 0), 'self values differ', b.path);
		}
	});

await finish();
