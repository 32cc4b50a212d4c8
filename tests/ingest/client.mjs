// A program under @pyroscope/nodejs: client.mjs URL. Burns time in two functions until its standard input ends.
import { createRequire } from "node:module";

const Pyroscope = createRequire(`${process.env.NODE_MODULES}/x`)("@pyroscope/nodejs");

function burnOften(until) {
	let n = 0;
	while (Date.now() < until)
		n += Math.sqrt(n + 1);
	return n;
}

function burnSeldom(until) {
	return burnOften(until);
}

Pyroscope.init({ appName: "node-shop", serverAddress: process.argv[2], tenantID: "team-7", tags: { region: "eu" },
	flushIntervalMs: 500, wall: { samplingIntervalMicros: 5000, collectCpuTime: true }, heap: { samplingIntervalBytes: 1024 } });
Pyroscope.start();
const kept = [];
let ends = false;
process.stdin.on("end", () => { ends = true; }).resume();
for (let i = 0; !ends; i++) {
	Pyroscope.wrapWithLabels({ page: `p${i % 2}` }, () => {
		burnOften(Date.now() + 60);
		burnSeldom(Date.now() + 20);
	});
	kept[i % 20] = (new Array(5000).fill(0).map((_, k) => ({ k })));
	await new Promise((done) => setTimeout(done, 10));
}
// Without Pyroscope.stop(), which fails where a round of its own is due at that moment.
process.exit(kept.length ? 0 : 1);
