// Shared by the tests of profiles from elsewhere: daemons, checks, and what the API answers.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import net from "node:net";
import { tmpdir } from "node:os";

export const program = process.argv[2];
export const require = createRequire(`${process.env.NODE_MODULES}/x`);
export const directory = mkdtempSync(`${tmpdir()}/strobe-ingest-`);
const daemons = [];
let failed = 0, bad = [];

export function check(holds, sentence) {
	if (!holds) {
		bad.push(sentence);
		console.log(`# NOT TRUE: ${sentence}`);
	}
	return holds;
}

export function same(a, b, sentence) {
	return check(JSON.stringify(a) === JSON.stringify(b), `${sentence}: ${JSON.stringify(a)} is not ${JSON.stringify(b)}`);
}

export async function test(sentence, run) {
	bad = [];
	try {
		await run();
	} catch (e) {
		check(false, e.stack);
	}
	console.log(`${bad.length ? "not ok" : "ok"} - ${sentence}`);
	failed += bad.length > 0;
}

// Starts a daemon; resolves once it listens.
export function daemon(name, ...options) {
	const child = spawn(program, ["serve", "--listen", "127.0.0.1:0", "--from", `unix:${directory}/${name}.sock`, "--store",
		`sqlite:${directory}/${name}`, ...options], { stdio: ["ignore", "ignore", "pipe"] });
	const d = { child, said: "" };

	daemons.push(child);
	return new Promise((resolve, reject) => {
		child.stderr.on("data", (text) => {
			d.said += text;
			d.url ??= /listening on (http:\S+)/.exec(d.said)?.[1];
			if (d.url)
				resolve(d);
		});
		child.on("exit", () => reject(new Error(d.said)));
	});
}

export function end() {
	for (const d of daemons)
		d.kill("SIGKILL");
	rmSync(directory, { recursive: true, force: true });
	process.exit(failed ? 1 : 0);
}

export async function until(holds, what) {
	for (let i = 0; i < 600; i++) {
		const got = await holds();

		if (got)
			return got;
		await new Promise((done) => setTimeout(done, 50));
	}
	throw new Error(`never: ${what}`);
}

export async function get(d, path) {
	const answer = await fetch(d.url + path);

	if (!answer.ok)
		throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
	return answer.text();
}

export const post = (d, path, body, headers = {}) => fetch(d.url + path, { method: "POST", body, headers });

// All samples that came are stored, and the counters add up.
export async function settled(d) {
	return until(async () => {
		const source = JSON.parse(await get(d, "/api/v1/status")).sources.find((s) => s.url === "http:");
		const n = source.samples;

		check(n.received === n.stored + n.dropped + n.in_flight, `the source adds up: ${JSON.stringify(n)}`);
		return n.in_flight === 0 && source;
	}, "all is stored");
}

// {"main;Cart::total": 7}
export async function stacks(d, filter, column = "samples") {
	const text = await get(d, `/api/v1/profile?from=-1h&format=folded&column=${column}&${filter}`);

	return Object.fromEntries(text.split("\n").filter(Boolean).map((l) => [l.slice(0, l.lastIndexOf(" ")), Number(l.slice(l.lastIndexOf(" ") + 1))])
		.sort(([a], [b]) => (a < b ? -1 : 1)));
}

export async function labels(d) {
	const all = JSON.parse(await get(d, "/api/v1/labels?from=-1h")).labels;

	return Object.fromEntries(all.map((l) => [l.key, l.values.map((v) => v.value).sort()]));
}

// The bytes of a request as they are, and the answer as text.
export function raw(d, text) {
	return new Promise((resolve, reject) => {
		const { hostname, port } = new URL(d.url), s = net.connect(port, hostname, () => s.write(text));
		let answer = "";

		s.on("data", (b) => {
			answer += b;
			s.end();
		});
		s.on("close", () => resolve(answer));
		s.on("error", reject);
	});
}
