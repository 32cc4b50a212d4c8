// Answers beside the page: formats, hostile names, other origins, logins: node test_page_answers.mjs TEST-SERVER

import http from 'node:http';
import { ready } from './browser.mjs';
import { check, raw, serve, test } from './lib.mjs';
import { browser, finish, openPage, program, site } from './live_pages.mjs';

await test('every format of a profile has the same number of samples', async () => {
	const range = 'from=-24h&to=now&entry=cron';
	const { total } = await (await fetch(`${site}/api/v1/functions?${range}`)).json();
	const { nodes, columns, frames } = await (await fetch(`${site}/api/v1/profile?${range}`)).json();
	check(total > 0 && columns[0].name === 'samples' && columns[0].total === total);
	check(nodes.values[0].reduce((a, b) => a + b, 0) === total);
	check(nodes.parent.every((p, i) => i === 0 ? p === 0 : p < i) && nodes.frame.every((f) => f < frames.name.length));
	const folded = await (await fetch(`${site}/api/v1/profile?${range}&format=folded`)).text();
	check(folded.trim().split('\n').reduce((a, l) => a + Number(l.slice(l.lastIndexOf(' '))), 0) === total);
	const { bytes } = await raw(site, `/api/v1/profile?${range}&format=strobe`);
	check(bytes.subarray(0, 4).toString() === 'STRB');
	const flame = await (await fetch(`${site}/api/v1/profile?${range}&format=flame`)).arrayBuffer();
	check(new DataView(flame).getFloat64(24, true) === total);
	const timeline = await (await fetch(`${site}/api/v1/timeline?${range}`)).json();
	check(timeline.samples.reduce((a, b) => a + b, 0) === total);
});

await test('names with all 256 byte values are sent as valid JSON and UTF-8', async () => {
	for (const path of ['/api/v1/profile?entry=bytes', '/api/v1/functions?entry=bytes&limit=0']) {
		const { bytes } = await raw(site, path);
		const said = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
		const names = JSON.parse(said).functions?.map((f) => f.name) ?? JSON.parse(said).strings;
		check(names.length >= 256 - 1 && !said.includes('<'), path, names.length);
	}
});

await test('names with all 256 byte values give a well-formed picture and page', async () => {
	const svg = await raw(site, '/flamegraph.svg?entry=bytes'), html = await raw(site, '/?entry=bytes');
	const blank = await browser.newPage();
	const wrong = await blank.evaluate((s) => {
		const d = new DOMParser().parseFromString(s, 'image/svg+xml');
		return d.querySelector('parsererror')?.textContent || (d.documentElement.localName === 'svg' ? '' : 'no svg');
	}, new TextDecoder('utf-8', { fatal: true }).decode(svg.bytes));
	check(wrong === '', wrong);
	await blank.close();
	new TextDecoder('utf-8', { fatal: true }).decode(html.bytes);
	const other = await openPage(`${site}/?entry=bytes`);
	check(other.complaints.length === 0, other.complaints);
	await other.close();
});

await test('the SVG runs its own script, and a click zooms', async () => {
	const tab = await browser.newPage(), said = [];
	tab.on('console', (m) => said.push(m.text()));
	tab.on('pageerror', (e) => said.push(e.message));
	await tab.goto(`${site}/flamegraph.svg?entry=index`);
	// Ask the page itself: the driver learns the address a moment later.
	const address = () => tab.evaluate(() => location.href), before = await address();
	const frame = await tab.evaluateHandle(() => [...document.querySelectorAll('#frames g, #frames rect, #frames path')]
		.find((e) => e.textContent.includes('Kernel::handle')));
	await frame.asElement().click();
	check(said.length === 0, said);
	check(await address() !== before, before);
	await tab.close();
});

await test('a foreign Host header is answered 421, which prevents DNS rebinding', async () => {
	for (const path of ['/', '/api/v1/status', '/metrics', '/healthz', '/nothing']) {
		const answer = await raw(site, path, { headers: { Host: `evil.example:${new URL(site).port}` } });
		check(answer.status === 421, path, answer.status);
	}
});

await test('a page of another origin can neither read nor embed responses', async () => {
	const other = http.createServer((_q, r) => {
		r.setHeader('Content-Type', 'text/html');
		r.end('<!doctype html><title>elsewhere</title>');
	});
	await new Promise((r) => other.listen(0, '127.0.0.1', r));
	const tab = await browser.newPage();
	await tab.goto(`http://127.0.0.1:${other.address().port}/`);
	const got = await tab.evaluate(async (address) => {
		const reads = async (mode) => {
			try {
				const r = await fetch(`${address}/api/v1/status`, { mode });
				return mode === 'cors' ? r.status : r.type;
			} catch {
				return 'refused';
			}
		};
		const image = new Image();
		const shown = new Promise((resolve) => { image.onload = () => resolve('shown'); image.onerror = () => resolve('refused'); });
		image.src = `${address}/flamegraph.svg`;
		return { cors: await reads('cors'), blind: await reads('no-cors'), image: await shown };
	}, site);
	check(got.cors === 'refused' && got.image === 'refused' && got.blind === 'refused', got);
	await tab.close();
	other.close();
});

await test('the login form redirects back to the requested page, and logout ends the session', async () => {
	const guarded = await serve(program, '--token', 'correct-horse-battery');
	const tab = await browser.newPage();
	const send = (button) => Promise.all([tab.waitForNavigation(), tab.click(button)]);
	tab.setDefaultTimeout(120_000);
	await tab.goto(`${guarded}/?from=-2h#search=index&show=table`);
	await tab.type('input[name=token]', 'wrong-wrong-wrong');
	await send('.login button');
	check((await tab.$eval('.login p', (p) => p.textContent)).includes('not a token of this server'));
	await tab.type('input[name=token]', 'correct-horse-battery');
	await send('.login button');
	check(tab.url() === `${guarded}/?from=-2h#search=index&show=table`, tab.url());
	await ready(tab);
	check(await tab.evaluate(() => document.cookie) === '', 'scripts cannot read the cookie');
	await tab.deleteCookie(...await tab.cookies());
	await tab.select('select[aria-label="Group by"]', 'class');
	await tab.waitForSelector('input[name=token]');
	check(tab.url().startsWith(`${guarded}/login?next=`) && tab.url().endsWith('#search=index&show=table'), 'an expired session leads to the login form', tab.url());
	await tab.type('input[name=token]', 'correct-horse-battery');
	await send('.login button');
	check(tab.url() === `${guarded}/?from=-2h&by=class#search=index&show=table`, tab.url());
	await ready(tab);
	await tab.deleteCookie(...await tab.cookies());
	for (const next of ['//elsewhere.example/#//elsewhere.example', 'https://elsewhere.example/#https://elsewhere.example', '%2F#javascript:alert(1)']) {
		await tab.goto(`${guarded}/login?next=${next}`);
		check(await tab.$eval('.login form', (e) => e.action) === `${guarded}/login#${next.split('#')[1]}`, next);
	}
	await tab.type('input[name=token]', 'correct-horse-battery');
	await send('.login button');
	check(new URL(tab.url()).origin === guarded, tab.url());
	await ready(tab);
	await send('.bar .who button');
	check(tab.url() === `${guarded}/login`, tab.url());
	await tab.goto(`${guarded}/runs`);
	check(await tab.$('input[name=token]') !== null, 'logout ends the session');
	await tab.close();
});

await test('no response has a CORS header, and every response has a CSP and the other security headers', async () => {
	for (const path of ['/', '/api/v1/status', '/nothing', '/flamegraph.svg', '/metrics']) {
		const { headers } = await raw(site, path, { headers: { Host: new URL(site).host } });
		check(!Object.keys(headers).some((h) => h.startsWith('access-control')), path);
		check(headers['content-security-policy']?.includes("default-src 'none'") && headers['x-content-type-options'] === 'nosniff', path);
		check(headers['referrer-policy'] === 'same-origin' && headers['cache-control'] === 'no-store', path);
	}
});

await test('HEAD has no body, and unexpected bodies, methods and oversized requests are rejected', async () => {
	const head = await raw(site, '/api/v1/status', { method: 'HEAD' });
	check(head.status === 200 && head.bytes.length === 0 && Number(head.headers['content-length']) > 100);
	const body = await raw(site, '/api/v1/status', { method: 'POST', headers: { Origin: site, 'Content-Length': 3 }, body: 'abc' });
	check(body.status === 413, body.status);
	const post = await raw(site, '/api/v1/status', { method: 'POST', headers: { Origin: site, 'Content-Length': 0 } });
	check(post.status === 405 && post.headers.allow === 'GET, HEAD', post.status);
	const long = await raw(site, `/?a=${'x'.repeat(9000)}`);
	check(long.status === 414 && (await raw(site, `/api/v1/table?a=${'x'.repeat(9000)}`)).status === 400, long.status);
	const huge = await raw(site, '/', { headers: { X: 'x'.repeat(60000) } }).catch(() => ({ status: 431 }));
	check(huge.status === 431, huge.status);
});

await finish();
