// Shared by the browser tests: sentences with ok or not ok, servers with known content, requests as raw as wished.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let failures = 0;
const open = new Set();

export async function test(sentence, run) {
	try {
		await run();
		console.log(`ok - ${sentence}`);
	} catch (why) {
		failures++;
		for (const line of String(why?.stack || why).split('\n').slice(0, 6))
			console.log(`# ${line}`);
		console.log(`not ok - ${sentence}`);
	}
}

export function check(condition, ...what) {
	if (!condition)
		throw new Error(what.map((w) => typeof w === 'string' ? w : JSON.stringify(w)).join(' ').slice(0, 1500));
}

// Starts the test server; resolves to its address.
export function serve(program, ...args) {
	const folder = mkdtempSync(join(tmpdir(), 'strobe-page-'));
	const child = spawn(program, [folder, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
	const server = { stop: () => child.stdin.end(), gone: new Promise((r) => child.on('exit', r)), folder };
	open.add(server);
	return new Promise((resolve, reject) => {
		let said = '';
		child.stdout.on('data', (d) => {
			said += d;
			if (said.includes('\n'))
				resolve(said.trim());
		});
		child.on('exit', (code) => reject(new Error(`the test server ended with ${code}`)));
	});
}

export async function end() {
	for (const server of open) {
		server.stop();
		await server.gone;
		rmSync(server.folder, { recursive: true });
	}
	process.exit(failures ? 1 : 0);
}

// A request with exactly these headers.
export function raw(address, path, { method = 'GET', headers = {}, body } = {}) {
	const { hostname, port } = new URL(address);
	return new Promise((resolve, reject) => {
		const q = http.request({ hostname, port, path, method, headers, agent: false }, (r) => {
			const parts = [];
			r.on('data', (d) => parts.push(d));
			r.on('end', () => resolve({ status: r.statusCode, headers: r.headers, bytes: Buffer.concat(parts) }));
		});
		q.on('error', reject);
		q.end(body);
	});
}
