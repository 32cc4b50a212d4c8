// Access control of a server that listens beyond its own machine, and when it refuses to start. No browser needed, so this runs
// wherever node is: node test_door.mjs TEST-SERVER

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { check, end, raw, serve, test } from './lib.mjs';

const program = process.argv[2], token = 'correct-horse-battery', reader = 'another-horse-battery';
const address = await serve(program, '--empty', '--token', token, '--read-token', reader);

function start(...args) {
	const folder = mkdtempSync(join(tmpdir(), 'strobe-door-'));
	const done = spawnSync(program, [folder, '--empty', ...args], { input: '', encoding: 'utf8' });
	rmSync(folder, { recursive: true });
	return done;
}

await test('every path is answered 401 without the token', async () => {
	for (const path of ['/', '/api/v1/status', '/metrics', '/healthz', '/flamegraph.svg', '/nothing'])
		check((await raw(address, path)).status === 401, path);
	const page = await raw(address, '/', { headers: { Accept: 'text/html' } });
	check(page.status === 401 && page.bytes.toString().includes('action="/login"') && page.headers['www-authenticate'] === 'Bearer');
});

function post(path, body, headers = {}) {
	return raw(address, path, { method: 'POST', body, headers: { Origin: address,
		'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': body.length, ...headers } });
}

await test('the token is accepted as a bearer token', async () => {
	check((await raw(address, '/metrics', { headers: { Authorization: `Bearer ${token}` } })).status === 200);
	check((await raw(address, '/metrics', { headers: { Authorization: `Bearer ${token}x` } })).status === 401);
});

await test('posting the token starts a session that logout ends', async () => {
	const login = await post('/login', `token=${token}`);
	const cookie = login.headers['set-cookie'][0], headers = { Cookie: cookie.split(';')[0] };
	check(login.status === 303 && login.headers.location === '/' && /; HttpOnly; SameSite=Lax/.test(cookie) && !cookie.includes('Secure'), cookie);
	check(!cookie.includes(token), cookie);
	const page = await raw(address, '/', { headers });
	check(page.status === 200 && page.bytes.toString().includes('action="/logout"'));
	const behindTls = await post('/login', `token=${token}`, { Origin: address.replace('http:', 'https:') });
	check(behindTls.headers['set-cookie'][0].endsWith('; Secure'), behindTls.headers);
	check((await post('/logout', '', headers)).status === 303);
	check((await raw(address, '/', { headers })).status === 401);
});

await test('a token in the URL is rejected', async () => {
	const login = await raw(address, `/login?token=${token}`);
	check(login.status === 400 && !login.headers['set-cookie'] && !login.bytes.toString().includes(token), login.status);
});

await test('the read token can read but not write', async () => {
	const bearer = { Authorization: `Bearer ${reader}` };
	check((await raw(address, '/api/v1/status', { headers: bearer })).status === 200);
	const written = await post('/api/v1/runs?source=a', 'main;f 3\n', bearer);
	check(written.status === 403 && written.bytes.toString().includes('this token is for reading'), written.status);
	check((await post('/api/v1/runs?source=a', 'main;f 3\n', { Authorization: `Bearer ${token}` })).status === 201);
});

await test('after ten wrong tokens all tokens are answered 429 for a while', async () => {
	let last;
	for (let i = 0; i < 12; i++)
		last = await post('/login', 'token=wrong-wrong-wrong');
	check(last.status === 429 && Number(last.headers['retry-after']) > 0, last.status);
	check((await post('/login', `token=${token}`)).status === 429);
	check((await raw(address, '/metrics', { headers: { Authorization: `Bearer ${token}` } })).status === 429);
});

await test('a listen address that is in use is an error with its name and a remedy', async () => {
	const { host } = new URL(address), done = start('--listen', host);
	check(done.status === 2 && done.stderr.includes(`${host} is in use`) && done.stderr.includes('choose another with --listen'), done.stderr);
});

await test('listening on other than loopback addresses requires a token', async () => {
	const open = start('--listen', '0.0.0.0:0');
	check(open.status === 2 && open.stderr.includes('give a token'), open.stderr);
	check(start('--listen', '0.0.0.0:0', '--token', token).status === 0);
	check(start('--listen', '0.0.0.0:0', '--token', 'short').stderr.includes('the token has 5 characters'));
});

await test('an invalid listen address is rejected with a hint', async () => {
	for (const bad of ['8787', 'localhost', ':8787', '127.0.0.1:99999', '127.0.0.1:x'])
		check(start('--listen', bad).stderr.includes('use an address and port'), bad);
});

await test('the server listens on the IPv6 loopback address where there is one', async () => {
	const done = start('--listen', '[::1]:0');
	check(done.status === 0 ? /^http:\/\/\[::1\]:\d+$/.test(done.stdout.trim()) : done.stderr.includes('cannot listen on [::1]:0'), done);
});

await end();
