// Profiles that others send: Pyroscope's clients and its push.v1, OTLP of both layouts and codecs; and what is sent on to them.
// All that arrives is compared with sums made here, by other decoders.
import { spawn, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { gunzipSync, gzipSync } from "node:zlib";
import { check, daemon, directory, end, get, labels, post, raw, require, same, settled, stacks, test, until } from "./lib.mjs";
import { proto109, proto110, protoPush, request } from "./otlp.mjs";

const protobuf = require("protobufjs");
const { Profile } = require("pprof-format");
const here = new URL(".", import.meta.url).pathname;
const layouts = Object.fromEntries(Object.entries({ 109: proto109, 110: proto110, push: protoPush })
	.map(([k, text]) => [k, protobuf.parse(text, { keepCase: false }).root]));
const OTLP = "/v1development/profiles", PUSH = "/push.v1.PusherService/Push";
const PROTO = { "Content-Type": "application/x-protobuf" }, JSON_TYPE = { "Content-Type": "application/json" };
const nowNs = () => BigInt(Date.now() - 2000) * 1000000n;

function encode(root, type, object) {
	const t = layouts[root].lookupType(type);

	return Buffer.from(t.encode(t.fromObject(object)).finish());
}

const decode = (type, bytes) => layouts[110].lookupType(type).toObject(layouts[110].lookupType(type).decode(new Uint8Array(bytes)));

// A pprof with samples [[functions from the root], [values], {labels}].
function pprof(types, samples, { period = 10000000, periodType = "cpu" } = {}) {
	// Maps, as some tests have tens of thousands of names.
	const indices = new Map([["", 0]]), at = (s) => indices.get(s) ?? indices.set(s, indices.size).size - 1;
	const names = [...new Set(samples.flatMap(([stack]) => stack))], ids = new Map(names.map((n, i) => [n, i + 1]));
	const root = protobuf.parse(`syntax = "proto3"; message Profile { repeated VT sample_type = 1; repeated Sample sample = 2;
		repeated Location location = 4; repeated Function function = 5; repeated string string_table = 6; int64 time_nanos = 9;
		int64 duration_nanos = 10; VT period_type = 11; int64 period = 12; }
		message VT { int64 type = 1; int64 unit = 2; } message Label { int64 key = 1; int64 str = 2; }
		message Sample { repeated uint64 location_id = 1; repeated int64 value = 2; repeated Label label = 3; }
		message Location { uint64 id = 1; repeated Line line = 4; } message Line { uint64 function_id = 1; int64 line = 2; }
		message Function { uint64 id = 1; int64 name = 2; int64 filename = 4; }`).root.lookupType("Profile");
	const o = {
		sampleType: types.map(([t, u]) => ({ type: at(t), unit: at(u) })),
		sample: samples.map(([stack, value, of = {}]) => ({ locationId: stack.map((n) => ids.get(n)).reverse(), value,
			label: Object.entries(of).map(([k, v]) => ({ key: at(k), str: at(v) })) })),
		location: names.map((_, i) => ({ id: i + 1, line: [{ functionId: i + 1, line: 3 }] })),
		function: names.map((n, i) => ({ id: i + 1, name: at(n), filename: at("app.php") })),
		periodType: { type: at(periodType), unit: at("nanoseconds") }, period, timeNanos: String(nowNs()),
	};

	o.stringTable = [...indices.keys()];

	return Buffer.from(root.encode(root.fromObject(o)).finish());
}

const d = await daemon("receiver");

await test("folded, lines, trie and tree pushes are stored exactly", async () => {
	const varint = (text) => Buffer.from(text, "latin1");

	for (const [type, format, body] of [["folded", "folded", "main;work 12\nmain;idle 3\n"], ["lines", "lines", "main;work\nmain;work\nmain;idle\n"],
		["trie", "trie", varint("\0\0\x01\x05main;\0\x02\x04work\x07\0\x04idle\x02\0")],
		["tree", "tree", varint("\0\0\x01\x04main\x01\x02\x04work\x04\0\x04idle\x05\0")]]) {
		const a = await post(d, `/pyroscope/ingest?name=${type}-app.wall{region=eu,pid=9}&from=now-10s&until=now&sampleRate=50&spyName=phpspy` +
			`&format=${format}`, body);

		same([a.status, await a.text()], [200, ""], type);
	}
	await settled(d);
	same(await stacks(d, "label.service_name=folded-app"), { "main;idle": 3, "main;work": 12 }, "folded");
	same(await stacks(d, "label.service_name=lines-app"), { "main;idle": 1, "main;work": 2 }, "lines");
	same(await stacks(d, "label.service_name=trie-app"), { "main;idle": 2, "main;work": 7 }, "trie");
	same(await stacks(d, "label.service_name=tree-app"), { main: 1, "main;idle": 5, "main;work": 4 }, "tree");
	same(await stacks(d, "label.service_name=folded-app", "wall_ns"), { "main;idle": 60000000, "main;work": 240000000 }, "time at 50 Hz");
	same((await labels(d)).pyroscope_spy, ["phpspy"], "the spy is a label");
	check(!("pid" in await labels(d)), "process ids are not labels");
});

await test("pprof is accepted as a file and in a form, and its labels become series", async () => {
	const types = [["samples", "count"], ["cpu", "nanoseconds"]];
	const bytes = gzipSync(pprof(types, [[["main", "a"], [2, 20000000], { "http.route": "/x", span_id: "0123456789abcdef" }],
		[["main", "b"], [3, 30000000], { "http.route": "/y", trace_id: "0".repeat(32) }], [["main", "a"], [1, 10000000], { "http.route": "/x" }]]));
	const form = new FormData();

	form.append("profile", new Blob([bytes]), "profile.pprof");
	form.append("sample_type_config", new Blob([JSON.stringify({ cpu: { units: "nanoseconds" } })]), "config.json");
	same((await post(d, "/ingest?name=form-app&from=now-10s", form)).status, 200, "the form");
	same((await post(d, "/ingest?name=plain-app&format=pprof", bytes)).status, 200, "the file");
	await settled(d);
	same(await stacks(d, "label.service_name=form-app"), { "main;a": 3, "main;b": 3 }, "all");
	same(await stacks(d, "label.service_name=plain-app&label.http_route=/x", "cpu_ns"), { "main;a": 30000000 }, "one label");
	const all = await labels(d);
	check(!("span_id" in all) && !("trace_id" in all) && !("profile_id" in all), "span and trace ids are not labels");
});

await test("invalid pushes are rejected with a message and counted", async () => {
	const before = (await settled(d)).rejected_pushes;
	const cases = [
		["/ingest?name=x&format=jfr", "", 415, "OTLP"], ["/ingest?name=x&format=speedscope", "", 415, "speedscope"],
		["/ingest", "a 1", 400, "name is missing"], ["/ingest?name=x{a", "a 1", 400, "'}'"], ["/ingest?name=x&from=yesterday", "a 1", 400, "from"],
		["/ingest?name=x&sampleRate=0", "a 1", 400, "sampleRate"], ["/ingest?name=x", "main;work\n", 422, "line 1"],
		["/ingest?name=x&format=pprof", "[object FormData]", 422, "FormData"], ["/ingest?name=x&format=pprof", "nonsense", 422, ""],
		["/ingest?name=x&format=tree", "\x09a", 422, "tree"],
		["/ingest?name=x&format=pprof", pprof([["cpu", "nanoseconds"]], [[["main"], [1, 2]]]), 422, "values"],
	];

	for (const [path, body, status, part] of cases) {
		const a = await post(d, path, body), text = await a.text();

		check(a.status === status && JSON.parse(text).message.includes(part), `${path}: ${a.status} ${text}`);
	}
	same((await post(d, "/ingest?name=x", "a 1", { "X-Scope-OrgID": "a|b" })).status, 400, "two tenants");
	same((await post(d, "/ingest?name=x", "a 1", { "Content-Encoding": "br" })).status, 415, "an encoding");
	same((await fetch(`${d.url}/ingest?name=x`)).status, 405, "GET");
	const after = (await settled(d)).rejected_pushes;
	same(Object.fromEntries(Object.entries(after).map(([k, v]) => [k, v - before[k]])),
		{ parameters: 5, unsupported: 3, damaged: 5, large: 0, busy: 0, profiles: 0 }, "counted by reason");
});

await test("push v1 is accepted in both codecs", async () => {
	const bytes = pprof([["samples", "count"]], [[["main", "pushed"], [4], { page: "p1", service_name: "not this" }], [["main"], [6]]]);
	const push = (service, raw) => ({ series: [{ labels: [{ name: "__name__", value: "process_cpu" }, { name: "service_name", value: service }],
		samples: [{ rawProfile: raw, ID: "7d1d6c2e-0000-4000-8000-000000000000" }] }] });
	let a = await post(d, PUSH, gzipSync(encode("push", "PushRequest", push("push-proto", gzipSync(bytes)))),
		{ "Content-Type": "application/proto", "Content-Encoding": "gzip", "X-Scope-OrgID": "team-1" });

	same([a.status, a.headers.get("content-type"), (await a.arrayBuffer()).byteLength], [200, "application/proto", 0], "proto");
	a = await post(d, PUSH, JSON.stringify(push("push-json", bytes.toString("base64"))), JSON_TYPE);
	same([a.status, a.headers.get("content-type"), await a.text()], [200, "application/json", "{}"], "JSON");
	await settled(d);
	same(await stacks(d, "label.service_name=push-proto&label.tenant=team-1"), { main: 6, "main;pushed": 4 }, "proto");
	same(await stacks(d, "label.service_name=push-json&label.page=p1"), { "main;pushed": 4 }, "JSON");
	for (const [body, part] of [[{ series: [{ labels: [{ name: "__name__", value: "x" }], samples: [] }] }, "service_name"],
		[{ series: [{ labels: [{ name: "a", value: "1" }, { name: "a", value: "2" }] }] }, "duplicate"],
		[push("x", Buffer.from("garbage").toString("base64")), ""], [{ series: 1 }, "list"]]) {
		a = await post(d, PUSH, JSON.stringify(body), JSON_TYPE);
		const error = await a.json();

		check(a.status === 400 && error.code === "invalid_argument" && error.message.includes(part), `${JSON.stringify(body)}: ${JSON.stringify(error)}`);
	}
	same((await post(d, PUSH, "x", { "Content-Type": "text/plain" })).status, 415, "another type");
});

await test("OTLP is accepted in both layouts and both codecs", async () => {
	const sent = [["otlp-110", "110", PROTO], ["otlp-109", "109", PROTO], ["otlp-json", null, JSON_TYPE]];

	for (const [service, root, headers] of sent) {
		const object = request(nowNs(), service, { attributes: [1, 2] });
		const body = root ? encode(root, "ExportProfilesServiceRequest", object) : JSON.stringify(object);
		const a = await post(d, OTLP, gzipSync(body), { ...headers, "Content-Encoding": "gzip", "OTLP-Profiles-Development-Version": "1" });

		same([a.status, a.headers.get("content-type"), await a.text()], [200, headers["Content-Type"], root ? "" : "{}"], service);
	}
	await settled(d);
	for (const [service] of sent)
		same(await stacks(d, `label.service_name=${service}&label.region=eu&label.k8s_pod_name=pod-1`),
			{ "main;Cart::total": 7, "main;Cart::total;libc.so.6+0x1000": 5 }, service);
	same(await stacks(d, "label.service_name=otlp-110", "cpu_ns"), { "main;Cart::total": 350000000, "main;Cart::total;libc.so.6+0x1000": 250000000 },
		"time by the period");
	const all = await labels(d);
	check(!("thread_id" in all) && !("process_pid" in all), "thread and process ids are not labels");
});

await test("OTLP version headers and unsupported layouts are rejected", async () => {
	const body = encode("110", "ExportProfilesServiceRequest", request(nowNs(), "otlp-refused"));

	for (const version of ["2", "01", "x", "1.0", "-1"]) {
		const a = await post(d, OTLP, body, { ...PROTO, "OTLP-Profiles-Development-Version": version });
		const status = decode("Status", await a.arrayBuffer());

		check(a.status === 400 && status.code === 3 && status.message.includes("OTLP-Profiles-Development-Version"), `${version}: ${JSON.stringify(status)}`);
	}
	const host = new URL(d.url).host;
	check((await raw(d, `POST ${OTLP} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n` +
		"OTLP-Profiles-Development-Version: 1\r\nOTLP-Profiles-Development-Version: 1\r\n\r\n{}")).startsWith("HTTP/1.1 400"), "twice");
	const oldest = JSON.stringify({ resourceProfiles: [{ scopeProfiles: [{ profiles: [{ locationIndices: [1, 2] }] }] }] });
	let a = await post(d, OTLP, oldest, JSON_TYPE);
	same((await a.json()).message, "OTLP profiles: this is the layout of opentelemetry-proto 1.7 or older; 1.8 to 1.11 are supported. Upgrade the sender.",
		"1.7");
	a = await post(d, OTLP, Buffer.concat([body, encode("109", "ExportProfilesServiceRequest", { resourceProfiles:
		request(nowNs(), "x", { attributes: [1] }).resourceProfiles })]), PROTO);
	check(a.status === 400 && decode("Status", await a.arrayBuffer()).message.includes("mixes the layouts"), "both layouts at once");
	same((await post(d, OTLP, "x", { "Content-Type": "text/plain" })).status, 415, "another type");
	a = await post(d, OTLP, body.subarray(0, body.length - 5), PROTO);
	same([a.status, decode("Status", await a.arrayBuffer()).code], [400, 3], "truncated");
	same((await post(d, OTLP, "", PROTO)).status, 200, "an empty request");
});

await test("profiles with invalid indices are rejected and reported", async () => {
	const good = request(nowNs(), "otlp-partly"), wrong = request(nowNs(), "otlp-partly", { values: [[1, 3], [99, 1]] });

	good.resourceProfiles[0].scopeProfiles[0].profiles.push(wrong.resourceProfiles[0].scopeProfiles[0].profiles[0]);
	let a = await post(d, OTLP, encode("110", "ExportProfilesServiceRequest", good), PROTO);
	const partial = decode("ExportProfilesServiceResponse", await a.arrayBuffer()).partialSuccess;

	check(a.status === 200 && Number(partial.rejectedProfiles) === 1 && partial.errorMessage.includes("stack 99"), JSON.stringify(partial));
	a = await post(d, OTLP, JSON.stringify(wrong), JSON_TYPE);
	same((await a.json()).partialSuccess.rejectedProfiles, "1", "in JSON");
	await settled(d);
	same(await stacks(d, "label.service_name=otlp-partly"), { "main;Cart::total": 7, "main;Cart::total;libc.so.6+0x1000": 5 }, "the rest");
});

await test("a dictionary entry with an invalid index rejects only the profiles that use it", async () => {
	const name = "otlp-entries", r = request(nowNs(), name, { values: [[1, 7]] }), d_ = r.dictionary;
	const add = (stack) => r.resourceProfiles.push(request(nowNs(), name, { values: [[stack, 1]] }).resourceProfiles[0]);
	const functions = d_.functionTable.push({ nameStrindex: 999 }), locations = d_.locationTable.push({ lines: [{ functionIndex: functions - 1, line: 1 }] }, { mappingIndex: 99 });
	const stacks_ = d_.stackTable.push({ locationIndices: [1, locations - 2] }, { locationIndices: [locations - 1] }, { locationIndices: [88] }, { locationIndices: [1] });

	d_.attributeTable.push({ keyStrindex: 77 });
	for (let i = 4; i >= 1; i--)
		add(stacks_ - i);
	r.resourceProfiles.push({ ...request(nowNs(), name, { values: [[1, 1]] }).resourceProfiles[0], resource: { attributes: [{ keyStrindex: 66, value: { stringValue: "x" } }] } });
	for (const [body, type] of [[encode("110", "ExportProfilesServiceRequest", r), PROTO], [JSON.stringify(r), JSON_TYPE]]) {
		const a = await post(d, OTLP, body, type), partial = type === PROTO ?
			decode("ExportProfilesServiceResponse", await a.arrayBuffer()).partialSuccess : (await a.json()).partialSuccess;

		check(a.status === 200 && Number(partial.rejectedProfiles) === 4, JSON.stringify(partial));
		check(partial.errorMessage.includes(`stack ${stacks_ - 4} of the dictionary cannot be used: location ${locations - 2} of the dictionary ` +
			`cannot be used: function ${functions - 1} of the dictionary cannot be used: string 999 is out of range: the dictionary has`),
		partial.errorMessage);
	}
	await settled(d);
	same(await stacks(d, `label.service_name=${name}`), { main: 2, "main;Cart::total": 14 }, "the rest");
});

await test("the attribute limit counts attributes per sample, so a small request cannot cause hours of work", async () => {
	const name = "otlp-attributes", r = request(nowNs(), name, { values: Array(1000).fill([1, 1]) });

	r.resourceProfiles[0].scopeProfiles[0].profiles[0].attributeIndices = Array(4000).fill(1);
	same((await post(d, OTLP, encode("110", "ExportProfilesServiceRequest", r), PROTO)).status, 200, "four million attributes are accepted");
	r.resourceProfiles[0].scopeProfiles[0].profiles[0].attributeIndices = Array(5000).fill(1);
	const a = await post(d, OTLP, encode("110", "ExportProfilesServiceRequest", r), PROTO);
	check(a.status === 413 && (await a.text()).includes("the attributes of its samples, with those of their profiles, exceed the limit"), String(a.status));
});

await test("span and trace ids in the labels of a push are dropped and counted", async () => {
	const count = async () => Number(/^strobe_labels_dropped_total (\d+)$/m.exec(await (await fetch(`${d.url}/metrics`)).text())[1]), before = await count();

	same((await post(d, "/ingest?name=spans%7Bspan_id%3D0011223344556677%2Ctrace_id%3D7%2Cprofile_id%3D1%2Cspan_name%3Dx%7D", "a;b 3", {})).status, 200, "the push");
	same(await count() - before, 3, "counted");
});

await test("a gzip bomb is rejected before it is decompressed", async () => {
	const bomb = gzipSync(Buffer.alloc(80 << 20));

	for (const [path, headers] of [[OTLP, PROTO], [PUSH, { "Content-Type": "application/proto" }], ["/ingest?name=x", {}]])
		same((await post(d, path, bomb, { ...headers, "Content-Encoding": "gzip" })).status, 413, path);
	same((await post(d, "/ingest?name=x&format=pprof", bomb)).status, 413, "a profile");
	same((await post(d, OTLP, gzipSync(Buffer.alloc(17 << 20, " ")), { ...JSON_TYPE, "Content-Encoding": "gzip" })).status, 413, "JSON");
});

await test("an HTTP/2 preface is rejected and logged with a remedy", async () => {
	await raw(d, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
	await until(() => d.said.includes("otlphttp"), "the remedy is logged");
});

await test("all profiles sent by the Node.js client are stored", async () => {
	const bodies = [];
	let pending = 0;
	const proxy = createServer((q, r) => {
		const parts = [];

		q.on("data", (b) => parts.push(b));
		q.on("end", async () => {
			pending++;
			const body = Buffer.concat(parts);
			const a = await fetch(d.url + q.url, { method: "POST", body, headers: { "Content-Type": q.headers["content-type"] ?? "",
				"X-Scope-OrgID": q.headers["x-scope-orgid"] ?? "" } });

			bodies.push([q.url, body, a.status]);
			r.writeHead(a.status).end(Buffer.from(await a.arrayBuffer()));
			pending--;
		});
	}).listen(0, "127.0.0.1");
	await until(() => proxy.address(), "the proxy");
	const client = spawn(process.execPath, [`${here}client.mjs`, `http://127.0.0.1:${proxy.address().port}`], { stdio: ["pipe", "inherit", "inherit"] });
	const ended = new Promise((done) => client.on("exit", done));

	await until(() => ["wall", "inuse_space"].every((type) => bodies.some(([, b]) => gunzipSync(b).includes(type))), "wall and heap profiles were sent");
	client.stdin.end();
	const code = await ended;

	await new Promise((done) => proxy.close(done));
	await until(() => !pending, "all requests were answered");
	same(code, 0, "the client exits with 0");
	check(bodies.length >= 2 && bodies.every(([, , status]) => status === 200), `requests: ${bodies.map(([u, , s]) => `${s} ${u}`)}`);
	const sums = {};
	for (const [, body] of bodies) {
		const p = Profile.decode(gunzipSync(body)), text = (i) => p.stringTable.strings[Number(i)];

		for (const s of p.sample)
			p.sampleType.forEach((t, i) => { sums[text(t.type)] = (sums[text(t.type)] ?? 0) + Number(s.value[i]); });
	}
	await settled(d);
	for (const [type, column] of [["samples", "samples"], ["wall", "wall_ns"], ["cpu", "cpu_ns"], ["inuse_objects", "inuse_objects"],
		["inuse_space", "inuse_space"]]) {
		const got = Object.values(await stacks(d, "label.service_name=node-shop&label.tenant=team-7&label.region=eu", column)).reduce((a, b) => a + b, 0);

		same(got, sums[type], column);
		check(sums[type] > 0, `${type} is not empty`);
	}
	same(Object.keys(await stacks(d, "label.service_name=node-shop&label.page=p0")).some((s) => s.includes("burnOften")), true, "a label of the program");
});

await test("forwarding by OTLP and push v1 preserves all samples", async () => {
	const [o, p] = await Promise.all([daemon("otlp", "--allow-host", "localhost"), daemon("pyroscope")]);
	const sender = await daemon("sender", "--to", o.url.replace("http", "otlp"), "--to", p.url.replace("http", "pyroscope"));
	const text = "main;Cart::total 12\nmain;Cart::total;query 30\nmain 1\nmain;\u00fcber 2\n";

	for (const region of ["eu", "us"])
		same((await post(sender, `/ingest?name=shop.cpu{region=${region}}&sampleRate=100`, text, { "X-Scope-OrgID": `team-${region}` })).status, 200, region);
	await post(sender, "/ingest?name=shop.inuse_space", "main;keep 4096\n");
	await settled(sender);
	for (const to of [o, p])
		await until(async () => Object.keys(await stacks(to, "label.service_name=shop", "inuse_space").catch(() => ({}))).length &&
			(await settled(to)).samples.stored === 90, `all at ${to.url}`);
	for (const filter of ["label.service_name=shop&label.region=eu", "label.region=us", "label.tenant=team-us", "label.clock=cpu"])
		for (const column of ["samples", "cpu_ns"])
			for (const to of [o, p])
				same(await stacks(to, filter, column), await stacks(sender, filter, column), `${filter} ${column} at ${to.url}`);
	for (const to of [o, p])
		same(await stacks(to, "label.service_name=shop", "inuse_space"), { "main;keep": 4096 }, "memory");
	const sinks = JSON.parse(await get(sender, "/api/v1/status")).sinks;
	for (const s of sinks)
		check(s.samples.handed === 90 && s.samples.stored === 90, `${s.url}: ${JSON.stringify(s.samples)}`);
});

await test("exports are retried while the receiver is unavailable and dropped when it rejects them", async () => {
	let answers = [[503, {}], [429, { "Retry-After": "1" }], [200, {}]];
	const got = [];
	const receiver = createServer((q, r) => {
		const parts = [], [status, headers] = answers.length > 1 ? answers.shift() : answers[0];

		q.on("data", (b) => parts.push(b));
		q.on("end", () => {
			if (status === 200)
				got.push([q.headers, gunzipSync(Buffer.concat(parts))]);
			r.writeHead(status, headers).end();
		});
	}).listen(0, "127.0.0.1");
	await until(() => receiver.address(), "the receiver");
	const url = `otlp://127.0.0.1:${receiver.address().port}/?tenant=team-9`;
	const sender = await daemon("retries", "--to", url);
	const sink = async () => JSON.parse(await get(sender, "/api/v1/status")).sinks.find((s) => s.url.startsWith("otlp:"));

	await post(sender, "/ingest?name=shop.wall", "main;work 5\n");
	await until(() => got.length, "the export was retried");
	const decoded = layouts[110].lookupType("ExportProfilesServiceRequest").decode(got[0][1]);
	const profile = decoded.resourceProfiles[0].scopeProfiles[0].profiles[0], dictionary = decoded.dictionary;
	const names = dictionary.stackTable[profile.samples[0].stackIndex].locationIndices.map((l) =>
		dictionary.stringTable[dictionary.functionTable[dictionary.locationTable[l].lines[0].functionIndex].nameStrindex]);

	same([names, profile.samples.map((s) => s.values.map(Number)), dictionary.stringTable[profile.sampleType.typeStrindex], got[0][0]["x-scope-orgid"]],
		[["work", "main"], [[5]], "samples", "team-9"], "decoded with protobufjs");
	same(decoded.resourceProfiles[0].resource.attributes.map((a) => [a.key, a.value.stringValue]), [["service.name", "shop"]], "attributes");
	await until(async () => (await sink()).samples.stored === 5, "exported samples are counted");
	same((await sink()).counts["export_retried_requests_total"], 2, "retries");
	answers = [[400, {}]];
	await post(sender, "/ingest?name=shop.wall", "main;work 8\n");
	await until(async () => (await sink()).samples.dropped.rejected === 8, "permanently rejected samples are dropped");
	same((await sink()).counts["export_rejected_samples_total"], 8, "rejected samples are counted");
	receiver.close();
});

// A certificate of its own authority for this address.
function certificate() {
	const key = `${directory}/tls.key`, cert = `${directory}/tls.pem`;
	const made = spawnSync("openssl", ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=receiver",
		"-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert], { encoding: "utf8" });

	if (made.status !== 0)
		throw new Error(made.error?.message || made.stderr);
	return { key, cert };
}

await test("samples are exported over HTTPS with a token and only to receivers with a valid certificate", async () => {
	const { key, cert } = certificate(), got = {};
	const receiver = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, (q, r) => {
		q.resume();
		q.on("end", () => {
			(got[q.url] ||= []).push(q.headers.authorization);
			r.writeHead(200, { "Content-Type": q.headers["content-type"] }).end();
		});
	}).listen(0, "127.0.0.1");
	await until(() => receiver.address(), "the receiver");
	const to = `127.0.0.1:${receiver.address().port}/`;

	writeFileSync(`${directory}/sink-token`, "sink-token-of-the-test\n", { mode: 0o600 });
	writeFileSync(`${directory}/sink-password`, "secret\n", { mode: 0o600 });
	const sender = await daemon("tls", "--to", `otlp://${to}?tls=yes&ca-file=${cert}&token-file=${directory}/sink-token`,
		"--to", `pyroscope://ann@${to}?tls=yes&ca-file=${cert}&password-file=${directory}/sink-password`);
	const stranger = await daemon("tls-stranger", "--to", `otlp://${to}?tls=yes`);
	const sinks = async (d) => JSON.parse(await get(d, "/api/v1/status")).sinks.filter((s) => /^(otlp|pyroscope):/.test(s.url));

	await post(sender, "/ingest?name=shop.wall", "main;work 5\n");
	await until(async () => (await sinks(sender)).every((s) => s.samples.stored === 5), "both receivers have the samples");
	same([got[OTLP], got[PUSH]], [["Bearer sink-token-of-the-test"], [`Basic ${Buffer.from("ann:secret").toString("base64")}`]], "the Authorization headers");
	check(!/sink-token-of-the-test|secret\n|command line/.test(sender.said), `no secret is logged or wrongly reported: ${sender.said}`);
	await post(stranger, "/ingest?name=shop.wall", "main;work 7\n");
	await until(() => /certificate/i.test(stranger.said), `the log names the certificate: ${stranger.said}`);
	same((await sinks(stranger))[0].samples.stored, 0, "nothing is sent to an untrusted receiver");
	same(Object.values(got).flat().length, 2, "an untrusted receiver gets no request");
	receiver.closeAllConnections();
	receiver.close();
});

await test("pushes require the write token if tokens are configured", async () => {
	writeFileSync(`${directory}/token`, "0123456789abcdef-write\n", { mode: 0o600 });
	writeFileSync(`${directory}/read-token`, "0123456789abcdef-read\n", { mode: 0o600 });
	const t = await daemon("tokens", "--token-file", `${directory}/token`, "--read-token-file", `${directory}/read-token`);
	const send = async (headers) => (await post(t, "/ingest?name=x", "a 1\n", headers)).status;
	const basic = (token) => ({ Authorization: `Basic ${Buffer.from(`anybody:${token}`).toString("base64")}` });

	same([await send({}), await send({ Authorization: "Bearer 0123456789abcdef-read" }), await send({ Authorization: "Bearer 0123456789abcdef-write" })],
		[401, 403, 200], "none, reading, writing");
	same([await send(basic("wrong-wrong-wrong-wrong")), await send(basic("0123456789abcdef-read")), await send(basic("0123456789abcdef-write"))],
		[401, 403, 200], "as a password");
	const a = await post(t, OTLP, "{}", JSON_TYPE);
	same([a.status, (await a.json()).code], [401, 16], "as an OTLP error");
	same((await post(t, PUSH, "{}", JSON_TYPE)).status, 401, "as a Connect error");
});

await test("a request that exceeds the queue is stored or rejected as a whole", async () => {
	const t = await daemon("short", "--queue-bytes", "8M");
	const many = (stacks, who) => Array.from({ length: stacks }, (_, i) => `main;${who}_a${i};${who}_b${i};${who}_c${i} 1`).join("\n");
	const large = await post(t, "/ingest?name=large.wall", many(30000, "large"));

	same(large.status, 413, "a request larger than the queue is rejected");
	check(/more than the queue may hold; send fewer stacks at once, or raise queue-bytes/.test(await large.text()), "the message names a remedy");
	const pusher = await post(t, PUSH, JSON.stringify({ series: [{ labels: [{ name: "__name__", value: "process_cpu" }, { name: "service_name", value: "large" }],
		samples: [{ rawProfile: pprof([["samples", "count"]], Array.from({ length: 12000 }, (_, i) => [[`f${i}`, `g${i}`, `h${i}`, `i${i}`], [1]])).toString("base64") }] }] }), JSON_TYPE);

	const refusal = await pusher.json();

	same([pusher.status, refusal.code, /more than the queue/.test(refusal.message)], [400, "invalid_argument", true], refusal.message);
	const sent = await Promise.all(["a", "b", "c", "d", "e", "f"].map(async (who) => [who, (await post(t, `/ingest?name=${who}.wall`, many(9000, who))).status]));

	check(sent.every(([, status]) => status === 200 || status === 503) && sent.some(([, status]) => status === 200), JSON.stringify(sent));
	const { samples, rejected_pushes } = await settled(t);
	const accepted = sent.filter(([, status]) => status === 200);

	same([samples.received, samples.stored], [accepted.length * 9000, accepted.length * 9000], "all accepted samples are stored");
	same([rejected_pushes.large, rejected_pushes.busy], [2, sent.length - accepted.length], "counted");
});

await test("the example requests in the manual are accepted", async () => {
	const manual = readFileSync(`${here}../../docs/ingest.md`, "utf8");
	const commands = manual.split("\n").filter((line) => line.startsWith("    curl "));

	check(commands.length >= 3, "the manual contains examples");
	for (const command of commands) {
		const r = spawnSync("sh", ["-c", command.trim().replace("curl", "curl -sf").replace("http://127.0.0.1:8787", d.url)]);

		check(r.status === 0, `${command}: ${r.status} ${r.stdout} ${r.stderr}`);
	}
	await settled(d);
	same(await stacks(d, "label.service_name=shop&label.tenant=team-1"), { "main;Cart::total": 3 }, "their samples are stored");
});

end();
