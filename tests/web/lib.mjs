// Shared by the browser tests: sentences with ok or not ok, servers with known content, requests as raw as wished.

import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let failures = 0;
const open = new Set();

const IN_FULL = Boolean(process.env.STROBE_TEST_IN_FULL);
let loops = 0;

// Cases whose tests differ by values alone: every fourth, from the first one on. With STROBE_TEST_IN_FULL=1, as in the suite "long", all of
// them, and tests that are outside of such loops do not run.
export function* some(cases) {
	loops++;
	try {
		yield* cases.filter((_, i) => IN_FULL || i % 4 === 0);
	} finally {
		loops--;
	}
}

// Runs a test. STROBE_TEST_TIMES=1 prints the seconds of each.
export async function test(sentence, run) {
	if (IN_FULL && !loops)
		return;
	const begun = performance.now();
	try {
		await run();
		console.log(`ok - ${sentence}`);
	} catch (why) {
		failures++;
		for (const line of String(why?.stack || why).split('\n').slice(0, 6))
			console.log(`# ${line}`);
		console.log(`not ok - ${sentence}`);
	}
	if (process.env.STROBE_TEST_TIMES)
		console.log(`# ${((performance.now() - begun) / 1000).toFixed(1)} s`);
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
		child.on('exit', (code) => reject(new Error(`the test server exited with status ${code}`)));
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

// Runs a command of strobe; returns its output.
export function run(program, ...args) {
	const done = spawnSync(program, args, { maxBuffer: 1 << 28, encoding: 'utf8' });
	if (done.status !== 0)
		throw new Error(`strobe ${args.join(' ')}: ${done.stderr}`);
	return done.stdout;
}

// Starts `strobe serve` on a store, with its socket in `folder`; resolves to its address and a function that ends it.
export function serveStore(program, folder, store, ...args) {
	const child = spawn(program, ['serve', '--listen', '127.0.0.1:0', '--from', `unix:${join(folder, 's.sock')}`, '--store', store, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
	const gone = new Promise((r) => child.on('exit', r));
	const stop = () => child.kill() && gone;
	return new Promise((resolve, reject) => {
		let log = '';
		child.stderr.on('data', (d) => {
			log += d;
			const at = /http:\/\/127\.0\.0\.1:\d+/.exec(log);
			if (at)
				resolve({ site: at[0], stop });
		});
		child.on('exit', (code) => reject(new Error(`the server exited with status ${code}: ${log}`)));
	});
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

// Stacks of 3,000 lines, the same each time; those of Part3 weigh `factor` times as much.
export function folded(factor) {
	let text = '', seed = 7;
	const random = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
	for (let i = 0; i < 3000; i++) {
		const stack = ['{main}', 'App\\Kernel::handle'];
		for (let d = random(12); d >= 0; d--)
			stack.push(`App\\Part${random(9)}\\Class${random(7)}::step${random(5)}`);
		text += `${stack.join(';')} ${1 + random(20) * (stack[2].includes('Part3') ? factor : 1)}\n`;
	}
	return text;
}

export const START = 1_790_000_000_000_000_000n;

// A run, as wire/strobe_wire.h draws it. Frames by name; nodes as [parent, frame]; calls as [node, start, duration].
export function message(id, { frames, nodes, calls, labels = {} }) {
	const bytes = [], strings = [], reference = (s) => (strings.includes(s) ? 0 : strings.push(s), strings.indexOf(s) + 1);
	const varint = (n) => {
		for (n = BigInt(n); n >= 128n; n >>= 7n)
			bytes.push(Number(n & 127n) | 128);
		bytes.push(Number(n));
	};
	const pairs = Object.entries({ source: 'shop', id, ...labels }).map(([k, v]) => [reference(k), reference(v)]);
	const columns = [['calls', 'count'], ['wall_ns', 'nanoseconds']].map(([name, unit]) => [reference(name), reference(unit)]);
	const named = frames.map(([name, file, line]) => [reference(name), file ? reference(file) : 0, line || 0]);
	const total = nodes.map(() => 0), count = nodes.map(() => 0), own = nodes.map(() => 0);
	for (const [node, , duration] of calls) {
		total[node - 1] += duration;
		count[node - 1]++;
	}
	nodes.forEach(([parent], i) => {
		own[i] += total[i];
		if (parent)
			own[parent - 1] -= total[i];
	});
	for (const s of strings) {
		const text = Buffer.from(s);
		varint(text.length);
		bytes.push(...text);
	}
	[...pairs, ...columns].flat().forEach(varint);
	named.flat().forEach(varint);
	nodes.forEach(([parent, frame], i) => [i + 1 - parent, frame, 2 * count[i], 2 * Math.max(0, own[i])].forEach(varint));
	let last = 0;
	for (const [node, start, duration] of calls) {
		[node, start - last, duration].forEach(varint);
		last = start;
	}
	const head = Buffer.alloc(80), length = Math.max(...calls.map(([, start, duration]) => start + duration), 1);
	head.write('STRB');
	[[4, calls.length ? 2 : 1], [5, 2]].forEach(([at, v]) => head.writeUInt8(v, at));
	head.writeBigUInt64LE(START, 16);
	head.writeBigUInt64LE(START + BigInt(length), 24);
	[[40, pairs.length], [42, columns.length]].forEach(([at, v]) => head.writeUInt16LE(v, at));
	[[48, strings.length], [52, frames.length], [56, nodes.length], [68, calls.length]].forEach(([at, v]) => head.writeUInt32LE(v, at));
	const all = Buffer.concat([calls.length ? head : head.subarray(0, 64), Buffer.from(bytes)]);
	all.writeUInt32LE(all.length, 8);
	return all;
}
