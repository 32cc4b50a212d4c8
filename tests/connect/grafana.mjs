// Calls a daemon as Grafana's data source (bytes) and its app Profiles Drilldown (JSON) do: grafana.mjs URL START END
//
// In the range, given in milliseconds, the daemon has the samples and runs that tests/system/test_grafana.py sends. Prints lines that
// the runner counts.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const load = createRequire(process.env.NODE_MODULES + '/');
const { createFileRegistry, fromBinary, toBinary } = await import(load.resolve('@bufbuild/protobuf'));
const { FileDescriptorSetSchema } = await import(load.resolve('@bufbuild/protobuf/wkt'));
const { createClient, Code } = await import(load.resolve('@connectrpc/connect'));
const { createConnectTransport, compressionGzip } = await import(load.resolve('@connectrpc/connect-node'));
const { Profile } = await import(load.resolve('pprof-format')).then((m) => m.default ?? m);

const [url, startText, endText] = process.argv.slice(2);
const start = BigInt(startText), end = BigInt(endText);
const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(process.env.PROTO)));
const service = (name) => registry.getService(name);

const WALL = 'wall:wall:nanoseconds:cpu:nanoseconds', SAMPLES = 'wall:samples:count:cpu:nanoseconds';
const CPU = 'process_cpu:cpu:nanoseconds:cpu:nanoseconds', RUN_CALLS = 'run:calls:count::';
const SPAN = '0123456789abcdef', TRACE = '0123456789abcdef0123456789abcdef';

let failed = false;
async function test(sentence, body) {
	const wrong = [];
	const check = (holds, what) => { if (!holds) wrong.push(what); };
	try {
		await body(check);
	} catch (e) {
		wrong.push(e.stack ?? String(e));
	}
	for (const what of wrong)
		console.log(`# NOT TRUE: ${what}`);
	console.log(`${wrong.length ? 'not ok' : 'ok'} - ${sentence}`);
	failed ||= wrong.length > 0;
}

const json = (value) => JSON.stringify(value, (_, v) => typeof v === 'bigint' ? Number(v) : v);
const same = (check, found, wanted, what) => check(json(found) === json(wanted), `${what}: ${json(found)}, wanted ${json(wanted)}`);

async function api(path) {
	const answer = await fetch(url + path);
	if (!answer.ok)
		throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
	return answer;
}

/** Stacks of folded text with their values. */
function stacksOf(text) {
	const stacks = {};
	for (const line of text.trimEnd().split('\n').filter(Boolean)) {
		const at = line.lastIndexOf(' ');
		stacks[line.slice(0, at)] = (stacks[line.slice(0, at)] ?? 0) + Number(line.slice(at + 1));
	}
	return stacks;
}

const range = () => `from=${Number(start) / 1000}&to=${Number(end) / 1000}`;
const stored = async (column, filter = '') => stacksOf(await (await api(`/api/v1/profile?format=folded&column=${column}&${range()}${filter}`)).text());
const sorted = (stacks) => Object.fromEntries(Object.entries(stacks).sort(([a], [b]) => a < b ? -1 : 1));
const sum = (stacks) => Object.values(stacks).reduce((a, b) => a + b, 0);

/** The stacks of a flame graph, rebuilt as the data source does: a node goes to the first one above that holds all of it. */
function rebuilt(graph, width = 4, side = 0) {
	let above = [{ from: 0, to: Number(graph.levels[0].values[3 * side + 1]), path: [] }];
	const stacks = {};
	for (const { values } of graph.levels.slice(1)) {
		const here = [];
		for (let i = 0, end = 0; i < values.length; i += width) {
			const [x, total, self] = values.slice(i + 3 * side, i + 3 * side + 3).map(Number);
			const name = graph.names[Number(values[i + width - 1])];
			const from = end + x;
			end = from + total;
			if (!total)
				continue;
			const parent = above.find((a) => from >= a.from && end <= a.to);
			here.push({ from, to: end, path: [...parent.path, name] });
			if (self)
				stacks[[...parent.path, name].join(';')] = self;
		}
		above = here;
	}
	return stacks;
}

/** The stacks of a pprof profile. */
function stacksOfPprof(p) {
	const text = (i) => p.stringTable[Number(i)];
	const functions = new Map(p.function.map((f) => [Number(f.id), text(f.name)]));
	const locations = new Map(p.location.map((l) => [Number(l.id), functions.get(Number(l.line[0].functionId))]));
	const stacks = {};
	for (const s of p.sample) {
		const stack = [...s.locationId].reverse().map((id) => locations.get(Number(id))).join(';');
		stacks[stack] = (stacks[stack] ?? 0) + Number(s.value[0]);
	}
	return stacks;
}

const transport = (more = {}) => createConnectTransport({ baseUrl: url, httpVersion: '1.1', useBinaryFormat: true, ...more });
const kinds = [
	['bytes', {}],
	['JSON', { useBinaryFormat: false }],
	['bytes in gzip, behind a prefix', { baseUrl: `${url}/profiles/strobe`, sendCompression: compressionGzip, compressMinBytes: 0 }, true],
];

async function refusal(promise) {
	try {
		await promise;
		return 'no error';
	} catch (e) {
		return `${Code[e.code]}: ${e.rawMessage}`;
	}
}

for (const [kind, options, isFraming] of kinds) {
	const q = createClient(service('querier.v1.QuerierService'), transport(options));
	const settings = createClient(service('settings.v1.SettingsService'), transport(options));
	const rules = createClient(service('settings.v1.RecordingRulesService'), transport(options));
	const select = (type, labelSelector, more = {}) => ({ profileTypeID: type, labelSelector, start, end, ...more });

	await test(`${kind}: profile types, labels, series and statistics are listed`, async (check) => {
		const { profileTypes } = await q.profileTypes({ start, end });
		same(check, profileTypes.map((t) => t.ID), [CPU, 'process_cpu:samples:count:cpu:nanoseconds', RUN_CALLS, 'run:memory:bytes::', 'run:wall:nanoseconds::', SAMPLES, WALL], 'types');
		same(check, [profileTypes[0].name, profileTypes[0].sampleType, profileTypes[0].sampleUnit, profileTypes[0].periodType, profileTypes[0].periodUnit], CPU.split(':'), 'parts');
		same(check, (await q.profileTypes({ start: 1000n, end: 4000n })).profileTypes, [], 'types in 1970');
		check((await q.profileTypes({})).profileTypes.length > 0, 'the last hour has types');
		const names = (await q.labelNames({ start, end, matchers: [`{__profile_type__="${WALL}", service_name="blog"}`] })).names;
		same(check, names, ['clock', 'entry', 'host', 'service_name'], 'names of labels');
		const values = async (name, ...matchers) => (await q.labelValues({ name, start, end, matchers })).names;
		same(check, await values('service_name'), ['blog', 'checkout', 'cron'], 'services');
		same(check, await values('service_name', '{host=~"web[12]"}', '{service_name!="cron"}'), ['blog', 'checkout'], 'services of hosts');
		same(check, await values('host', '{service_name="checkout"}'), ['web2', 'web3'], 'hosts');
		same(check, await values('__profile_type__', '{service_name="cron"}'), [CPU, 'process_cpu:samples:count:cpu:nanoseconds'], 'types of cron');
		same(check, await values('span_id'), [], 'spans create no series');
		same(check, await values('nothing'), [], 'values of an unknown label');
		const { labelsSet } = await q.series({ start, end, labelNames: ['service_name', '__profile_type__'], matchers: ['{service_name=~"cron|blog"}'] });
		same(check, labelsSet.map((s) => s.labels.map((l) => `${l.name}=${l.value}`).join()).sort(), [
			`__profile_type__=${CPU},service_name=cron`, '__profile_type__=process_cpu:samples:count:cpu:nanoseconds,service_name=cron',
			`__profile_type__=${SAMPLES},service_name=blog`, `__profile_type__=${WALL},service_name=blog`], 'series');
		same(check, (await q.series({ start: 1000n, end: 4000n })).labelsSet, [], 'series in 1970');
		const stats = await q.getProfileStats({});
		check(stats.dataIngested && stats.newestProfileTime >= start && stats.oldestProfileTime <= end, `stats: ${json(stats)}`);
		check(await q.analyzeQuery({ start, end, query: WALL + '{}' }), 'an analysis');
	});

	await test(`${kind}: flame graphs match the profiles in the store`, async (check) => {
		const graph = async (...a) => (await q.selectMergeStacktraces(select(...a))).flamegraph;
		const all = await graph(WALL, '{}', { maxNodes: 16384n });
		same(check, sorted(rebuilt(all)), sorted(await stored('wall_ns')), 'all stacks');
		same(check, Number(all.total), sum(await stored('wall_ns')), 'their total');
		same(check, all.names[Number(all.levels[0].values[3])], 'total', 'the root');
		same(check, sorted(rebuilt(await graph(SAMPLES, '{service_name="blog"}'))), sorted(await stored('samples', '&entry=blog')), 'one service by entry');
		same(check, sorted(rebuilt(await graph(WALL, '{service_name="checkout", host!="web3"}'))), sorted(await stored('wall_ns', '&service_name=checkout&host=web2')), 'one service by label');
		same(check, sorted(rebuilt(await graph(WALL, '{service_name=~"b.*|checkout", host=~"web(1|3)"}'))),
			sorted({ ...await stored('wall_ns', '&entry=blog'), ...await stored('wall_ns', '&service_name=checkout&host=web3') }), 'two by pattern');
		same(check, sorted(rebuilt(await graph(CPU, '{clock="cpu"}'))), sorted(await stored('cpu_ns')), 'CPU time');
		same(check, (await graph(WALL, '{host="nobody"}')).levels.map((l) => l.values.map(Number)), [[0, 0, 0, 0]], 'an empty result has only a root');
		same(check, (await graph(WALL, '{}', { start: 1000n, end: 4000n })).names, ['total'], 'a range in 1970');
		same(check, (await graph('nothing:x:count::', '{}')).names, ['total'], 'an unknown type');
		const { dot } = await q.selectMergeStacktraces(select(WALL, '{}', { format: 3 }));
		check(/^digraph [^]*query[^]*->[^]*}\s*$/.test(dot), `a call graph: ${dot.slice(0, 200)}`);
		check((await q.selectMergeStacktraces(select(WALL, '{host="nobody"}', { format: 3 }))).dot.startsWith('digraph '), 'an empty call graph');
		const drawn = await api(`/pyroscope/render?format=dot&query=${encodeURIComponent(`${WALL}{}`)}&from=now-3h`);
		check(drawn.headers.get('content-type').startsWith('text/vnd.graphviz') && (await drawn.text()).startsWith('digraph '), 'the same by its older URL');
		same(check, (await graph(WALL, '{}', { format: 5 })).names[0], 'total', 'an unknown format');
		const few = await graph(WALL, '{}', { maxNodes: 5n });
		check(few.names.includes('other') && few.total === all.total, `five nodes: ${json(few.names)}`);
		const site = await graph(WALL, '{service_name="blog"}', { stackTraceSelector: { callSite: [{ name: 'index.php' }, { name: 'Kernel::handle' }] } });
		const wanted = Object.entries(await stored('wall_ns', '&entry=blog')).filter(([s]) => (s + ';').startsWith('index.php;Kernel::handle;'));
		check(wanted.length > 0, 'the call site is in the data');
		same(check, sorted(rebuilt(site)), sorted(Object.fromEntries(wanted)), 'a call site');
		for (const names of [['nobody'], ['index.php', 'nobody'], ['Kernel::handle'], ['']]) {
			const none = await graph(WALL, '{service_name="blog"}', { stackTraceSelector: { callSite: names.map((name) => ({ name })) } });
			same(check, [Number(none.total), ...none.levels.map((l) => l.values.map(Number))], [0, [0, 0, 0, 0]], `no such call site: ${names}`);
		}
	});

	/* The rest is the same whatever a body is wrapped in. */
	if (isFraming)
		continue;
	await test(`${kind}: pprof and tree formats match the store`, async (check) => {
		const wall = sorted(await stored('wall_ns', '&entry=blog'));
		const merged = await q.selectMergeProfile(select(WALL, '{service_name="blog"}'));
		same(check, sorted(stacksOfPprof(merged)), wall, 'pprof');
		const type = merged.sampleType[0];
		same(check, [merged.stringTable[0], merged.stringTable[Number(type.type)], merged.stringTable[Number(type.unit)]], ['', 'wall', 'nanoseconds'], 'its type');
		const other = (await q.selectMergeStacktraces(select(WALL, '{service_name="blog"}', { format: 4 }))).pprof.profile;
		same(check, sorted(stacksOfPprof(other)), wall, 'the same as an output format');
		const { tree } = await q.selectMergeStacktraces(select(SAMPLES, '{service_name="blog"}', { format: 2 }));
		check(tree.length > 10 && tree[0] === 0 && tree[1] === 0 && tree[2] === 1, `a tree begins with its root: ${tree.slice(0, 4)}`);
		const read = Profile.decode(toBinary(registry.getMessage('querier.v1.Profile'), merged));
		same(check, read.sample.length, merged.sample.length, 'pprof-format reads the same number of samples');
	});

	await test(`${kind}: values over time add up to the totals`, async (check) => {
		const before = start - 3600_000n;		/* nothing was measured there, so that the first step adds none */
		for (const step of [15, 60, 7, 600]) {
			const edge = end + BigInt(step * 1000);
			const { series } = await q.selectSeries({ profileTypeID: WALL, labelSelector: '{}', start: before, end: edge, step });
			same(check, [series.length, series[0].labels], [1, []], 'all series are merged into one');
			const total = series[0].points.reduce((a, p) => a + p.value, 0);
			check(Math.abs(total / sum(await stored('wall_ns')) - 1) < 1e-9, `steps of ${step} s add up to ${total}`);
			check(series[0].points.every((p) => (p.timestamp - before) % BigInt(step * 1000) === 0n), 'bucket edges follow the request');
		}
		const by = await q.selectSeries(select(WALL, '{}', { step: 3600, start: before, end: end + 3600_000n, groupBy: ['service_name', 'nothing'] }));
		const of = (s) => s.points.reduce((a, p) => a + p.value, 0);
		same(check, by.series.map((s) => s.labels.map((l) => `${l.name}=${l.value}`).join()).sort(), ['service_name=blog', 'service_name=checkout'], 'groups');
		check(of(by.series[0]) >= of(by.series[1]), 'the largest comes first');
		check(Math.abs(of(by.series.find((s) => s.labels[0].value === 'checkout')) - sum(await stored('wall_ns', '&service_name=checkout'))) < 1, 'one of them');
		same(check, (await q.selectSeries(select(WALL, '{}', { step: 60, groupBy: ['host'], limit: 1n }))).series.length, 1, 'a limit');
		same(check, (await q.selectSeries(select(WALL, '{host="nobody"}', { step: 60 }))).series, [], 'nothing');
	});

	await test(`${kind}: queries by span, trace and run type are answered from runs`, async (check) => {
		const calls = async (more) => rebuilt((await q.selectMergeStacktraces(select(RUN_CALLS, '{}', more))).flamegraph);
		same(check, sorted(await calls({})), { 'main()': 2, 'main();Cart::add': 6, 'main();free': 18 }, 'all runs');
		same(check, sorted(await calls({ spanSelector: [SPAN] })), { 'main()': 1, 'main();Cart::add': 3, 'main();free': 9 }, 'a span');
		same(check, sorted(await calls({ traceIdSelector: [TRACE] })), sorted(await calls({ spanSelector: [SPAN] })), 'its trace');
		same(check, sorted(await calls({ traceIdSelector: [TRACE.toUpperCase()] })), sorted(await calls({ traceIdSelector: [TRACE] })), 'the trace in upper case');
		same(check, sorted(await calls({ profileIdSelector: ['shop/r1'] })), sorted(await calls({ spanSelector: [SPAN] })), 'its run');
		same(check, await calls({ spanSelector: ['ffffffffffffffff'] }), {}, 'an unknown span');
		const span = (await q.selectMergeSpanProfile(select(WALL, '{}', { spanSelector: [SPAN] }))).flamegraph;
		same(check, sorted(rebuilt(span)), { 'main()': 2000000, 'main();Cart::add': 5000000, 'main();free': 1000000 }, 'its wall time by the older call');
		same(check, (await q.selectMergeSpanProfile(select(WALL, '{service_name="blog"}', { spanSelector: [SPAN] }))).flamegraph.names, ['total'], 'another service');
		const series = (await q.selectSeries(select(RUN_CALLS, '{}', { start: start - 3600_000n, end: end + 60_000n, step: 60, exemplarType: 3 }))).series;
		same(check, series[0].points.reduce((a, p) => a + p.value, 0), 26, 'calls over time');
		const exemplars = series[0].points.flatMap((p) => p.exemplars);
		same(check, exemplars.map((e) => [e.profileId, e.spanId, e.traceId, Number(e.value)]), [['shop/r1', SPAN, TRACE, 13]], 'the span of a point');
		const heatmap = await q.selectHeatmap(select(RUN_CALLS, '{}', { step: 60, queryType: 1 }));
		same(check, heatmap.series[0].slots.flatMap((s) => s.counts).reduce((a, b) => a + b, 0), 2, 'runs of a heatmap');
		same(check, heatmap.series[0].slots[0].yMin.length, heatmap.series[0].slots[0].counts.length, 'its rows');
		same(check, (await q.selectHeatmap(select(RUN_CALLS, '{}', { step: 60, queryType: 2 }))).series[0].slots.flatMap((s) => s.counts).reduce((a, b) => a + b, 0), 1, 'spans of one');
	});

	await test(`${kind}: a diff contains both flame graphs`, async (check) => {
		const side = (service) => select(SAMPLES, `{service_name="${service}"}`);
		const { flamegraph } = await q.diff({ left: side('blog'), right: side('checkout') });
		const [left, right] = [await stored('samples', '&entry=blog'), await stored('samples', '&service_name=checkout')];
		same(check, sorted(rebuilt(flamegraph, 7, 0)), sorted(left), 'left');
		same(check, sorted(rebuilt(flamegraph, 7, 1)), sorted(right), 'right');
		same(check, [flamegraph.leftTicks, flamegraph.rightTicks, flamegraph.total].map(Number), [sum(left), sum(right), sum(left) + sum(right)], 'ticks');
	});

	await test(`${kind}: errors have a code and a message`, async (check) => {
		const wrong = async (promise, code, part) => {
			const said = await refusal(promise);
			check(said.startsWith(code + ':') && said.includes(part), `${said}, wanted ${code} with '${part}'`);
		};
		await wrong(q.selectMergeStacktraces(select('cpu', '{}')), 'InvalidArgument', 'five parts');
		await wrong(q.selectMergeStacktraces(select(WALL, '{host=}')), 'InvalidArgument', 'a quoted string');
		await wrong(q.selectMergeStacktraces(select(WALL, '{host=~"("}')), 'InvalidArgument', 'regular expression');
		await wrong(q.selectMergeStacktraces(select(WALL, '{}', { maxNodes: -1n })), 'InvalidArgument', 'max_nodes');
		await wrong(q.selectMergeStacktraces(select(WALL, '{}', { maxNodes: 1048577n })), 'InvalidArgument', 'max_nodes');
		await wrong(q.selectMergeStacktraces(select(WALL, '{}', { start: end, end: start })), 'InvalidArgument', 'ends before it starts');
		await wrong(q.selectMergeStacktraces(select(WALL, '{}', { start: 0n })), 'InvalidArgument', 'milliseconds');
		await wrong(q.selectMergeSpanProfile(select(WALL, '{}', { spanSelector: ['${__span.tags["pyroscope.profile.id"]}'] })), 'InvalidArgument', 'the variable was not replaced');
		await wrong(q.selectMergeStacktraces(select(WALL, '{}', { traceIdSelector: [SPAN] })), 'InvalidArgument', '32 hexadecimal digits');
		await wrong(q.selectMergeStacktraces(select(WALL, '{}', { traceIdSelector: [TRACE], spanSelector: [SPAN] })), 'InvalidArgument', 'not several');
		await wrong(q.selectSeries(select(WALL, '{}', { step: 0.0001 })), 'InvalidArgument', 'step');
		await wrong(q.labelValues({ start, end }), 'InvalidArgument', 'name');
		await wrong(q.diff({ left: select(WALL, '{}'), right: select(CPU, '{}') }), 'InvalidArgument', 'the same profile type');
		await wrong(q.noSuchCall({}), 'Unimplemented', 'NoSuchCall');
		await wrong(rules.listRecordingRules({}), 'Unimplemented', 'RecordingRulesService');
	});

	await test(`${kind}: settings of the app are saved`, async (check) => {
		const value = JSON.stringify({ maxNodes: kind });
		same(check, (await settings.set({ setting: { name: 'pluginSettings', value } })).setting.value, value, 'the saved value is returned');
		same(check, (await settings.get({})).settings.map((s) => [s.name, s.value]), [['pluginSettings', value]], 'the saved value is listed');
	});
}
process.exit(failed ? 1 : 0);
