"""Grafana's Pyroscope data source and Profiles Drilldown: every call, over Connect, by its own client and byte by byte."""
import gzip
import http.client
import json
import os
import subprocess
import time
import urllib.parse

from clickhouse_server import ClickHouse
from clickhouse_site import Site
from daemon import Daemon
from strobe_test import ROOT, Directory, Skip, check, main, test, wait_for
from wire import connect, message, run_message

CACHE = os.environ.get('STROBE_CONNECT_CACHE', os.path.join(ROOT, 'build', 'connect'))
TOKENS = {'write': 'the-token-that-writes-0123456789', 'read': 'the-token-that-reads-0123456789'}
SPAN, TRACE = '0123456789abcdef', '0123456789abcdef0123456789abcdef'
WALL = 'wall:wall:nanoseconds:cpu:nanoseconds'
SERVICE = '/querier.v1.QuerierService/'
CALLS = [(0, 'main()', 1, 2_000_000, 100), (1, 'Cart::add', 3, 5_000_000, 4096), (1, 'free', 9, 1_000_000, 2048)]
JSON, PROTO = 'application/json', 'application/proto'


def blog():
    with open(os.path.join(ROOT, 'tests/data/blog.folded'), encoding='utf-8') as f:
        return {tuple(stack.split(';')): int(n) for stack, n in (line.rsplit(' ', 1) for line in f)}


def fill(daemon, at_ns):
    """Two services on three hosts by wall time, one by CPU time, and two runs of one of them, one of which is a span."""
    shop = {('shop.php', 'Cart::total'): 7, ('shop.php', 'Cart::total', 'PDO::query'): 30, ('shop.php', ''): 2}
    s = connect(daemon.socket)
    s.send(message(blog(), {'entry': 'blog', 'host': 'web1'}, end=at_ns))
    for i, host in enumerate(('web2', 'web3')):
        s.send(message({k: n + i for k, n in shop.items()}, {'service_name': 'checkout', 'entry': 'index', 'host': host},
                       end=at_ns + i * 130_000_000_000))
    s.send(message({('cron.php', 'work'): 500}, {'entry': 'cron', 'host': 'web1'}, clock=2, end=at_ns))
    labels = {'source': 'shop', 'service_name': 'checkout', 'host': 'web2'}
    for i, more in enumerate(({'id': 'r1', 'span_id': SPAN, 'trace_id': TRACE}, {'id': 'r2'})):
        s.send(run_message(CALLS, {**labels, **more}, end=at_ns + i * 60_000_000_000))
    samples = sum(blog().values()) + 2 * 39 + 3 + 500
    check(wait_for(lambda: daemon.status()['samples']['stored'] == samples and daemon.status()['runs']['stored'] == 2),
          f'{samples} samples and two runs are stored: {daemon.status()["samples"]}')


def send(daemon, method, path, body=None, **headers):
    """Status, headers and body of an answer; the body goes as it is, in chunks if it is a list."""
    c = http.client.HTTPConnection(urllib.parse.urlparse(daemon.url).netloc, timeout=30)
    headers = {k.replace('_', '-'): v for k, v in headers.items()}
    c.request(method, path, iter(body) if isinstance(body, list) else body, headers, encode_chunked=isinstance(body, list))
    r = c.getresponse()
    answer = r.status, r.headers, r.read()
    c.close()
    return answer


def call(daemon, name, fields, path=SERVICE, **headers):
    status, got, body = send(daemon, 'POST', path + name, json.dumps(fields), Content_Type=JSON, **headers)
    check(got['Content-Type'] == JSON, f'{name} returns JSON, not {got["Content-Type"]}')
    return status, json.loads(body)


def refused(daemon, wanted, code, part, method, path, body=None, **headers):
    status, got, text = send(daemon, method, path, body, **headers)
    check(status == wanted and got['Content-Type'] == JSON, f'{method} {path}: {status} {got["Content-Type"]}, wanted {wanted}')
    said = json.loads(text)
    check(said['code'] == code and part in said['message'], f'{method} {path}: {said}, wanted {code} with {part!r}')
    return got


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out + bytearray([n]))


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


@test
def all_calls_work_with_the_clients_that_grafana_uses():
    with Directory() as d, Daemon(d) as daemon:
        now = time.time_ns()
        at = now - 900_000_000_000
        fill(daemon, at)
        r = subprocess.run([f'{ROOT}/tests/connect/run.sh', CACHE, 'grafana.mjs', daemon.url, str(at // 10**6 - 60_000),
                            str(at // 10**6 + 300_000)], capture_output=True, text=True, timeout=300)
        if r.returncode == 77:
            raise Skip(r.stderr.strip())
        for line in r.stdout.splitlines():
            print(line if line.startswith('#') else f'# {line}', flush=True)
        check(r.returncode == 0, f'the clients exit with 0, not {r.returncode} {r.stderr[-400:]}')
        metrics = daemon.get('/metrics')
        check('strobe_grafana_calls_total{call="SelectSeries"} 0\n' not in metrics and 'call="SelectSeries"' in metrics, 'the calls are counted')


@test
def the_server_implements_the_connect_protocol():
    with Directory() as d, Daemon(d) as daemon:
        s = connect(daemon.socket)
        at = (time.time_ns() - 600_000_000_000) // 10**10 * 10**10
        s.send(message({('main',): 1, ('main', 'query'): 2, ('main', 'render'): 4, ('main', 'render', 'query'): 5}, end=at + 10**9))
        check(wait_for(lambda: daemon.status()['samples']['stored'] == 12), 'the samples are stored')
        start, end = at // 10**6, at // 10**6 + 10_000
        kind = 'wall:samples:count:cpu:nanoseconds'
        request = field(1, kind) + field(2, '{}') + field(3, start) + field(4, end) + field(5, 8192)
        # As Pyroscope answered for these stacks.
        recorded = bytes.fromhex('0a440a05746f74616c0a046d61696e0a0672656e6465720a05717565727912060a04000c0000'
                                 '12060a04000c0101120a0a08010202030009040212060a0407050503180c2005')
        path = SERVICE + 'SelectMergeStacktraces'
        for what, body, headers in (
                ('plain', request, {}), ('with a charset', request, {'Content_Type': PROTO + '; charset=utf-8'}),
                ('in chunks', [request[:20], request[20:]], {}), ('compressed', gzip.compress(request), {'Content_Encoding': 'gzip'}),
                ('compressed in chunks', [gzip.compress(request)], {'Content_Encoding': 'gzip'})):
            status, got, answer = send(daemon, 'POST', path, body, **{'Content_Type': PROTO, **headers})
            check((status, got['Content-Type'], answer) == (200, PROTO, recorded), f'{what}: {status} {answer.hex()}')
        for prefix in ('/strobe', '/a/b/c'):
            check(send(daemon, 'POST', prefix + path, request, Content_Type=PROTO)[2] == recorded, f'the call works behind the prefix {prefix}')

        # Names of both kinds, numbers and strings, unknown fields, and what an app sends.
        status, said = call(daemon, 'SelectMergeStacktraces', {'profile_typeID': kind, 'labelSelector': '{}', 'start': start,
                            'end': str(end), 'maxNodes': 100, 'format': 'PROFILE_FORMAT_SANDWICH', 'later': {}, 'async': None},
                            Sec_Fetch_Site='same-origin', User_Agent='Mozilla/5.0')
        check(status == 200 and said['flamegraph']['names'] == ['total', 'main', 'render', 'query'] and said['flamegraph']['maxSelf'] == '5',
              f'{status} {said}')
        check(call(daemon, 'ProfileTypes', {'start': 1000, 'end': 4000}) == (200, {}), 'a time range without samples returns an empty object')
        check(call(daemon, 'AnalyzeQuery', {}) == (200, {}), 'an AnalyzeQuery call returns an empty object')
        check(send(daemon, 'POST', SERVICE + 'ProfileTypes', field(1, 1000) + field(2, 4000), Content_Type=PROTO)[2] == b'', 'an empty protobuf message has no bytes')
        check(len(send(daemon, 'POST', SERVICE + 'GetProfileStats', None, Content_Type=PROTO)[2]) > 4, 'an empty body is an empty message')
        status, got, body = send(daemon, 'POST', SERVICE + 'Series', json.dumps({}), Content_Type=JSON, Accept_Encoding='gzip')
        check(got['Content-Encoding'] is None, 'a small response is not compressed')

        refused(daemon, 415, 'invalid_argument', 'text/plain', 'POST', path, 'x', Content_Type='text/plain')
        got = refused(daemon, 415, 'invalid_argument', 'application/proto', 'POST', path, request)
        check('application/proto' in (got['Accept-Post'] or ''), f'the Accept-Post header names the protobuf type: {got["Accept-Post"]}')
        check(refused(daemon, 405, 'unimplemented', 'POST', 'GET', path)['Allow'] == 'POST', 'the Allow header names POST')
        refused(daemon, 501, 'unimplemented', 'gzip', 'POST', path, request, Content_Type=PROTO, Content_Encoding='br')
        refused(daemon, 400, 'invalid_argument', 'gzip', 'POST', path, request, Content_Type=PROTO, Content_Encoding='gzip')
        refused(daemon, 400, 'invalid_argument', 'JSON', 'POST', path, '', Content_Type=JSON)
        refused(daemon, 400, 'invalid_argument', 'JSON', 'POST', path, '[object FormData]', Content_Type=JSON)
        refused(daemon, 400, 'invalid_argument', "'start'", 'POST', path, '{"start": "x"}', Content_Type=JSON)
        refused(daemon, 400, 'invalid_argument', 'malformed', 'POST', path, request[:-1], Content_Type=PROTO)
        refused(daemon, 400, 'invalid_argument', 'profile type', 'POST', path, '{}', Content_Type=JSON)
        refused(daemon, 413, 'resource_exhausted', 'bytes', 'POST', path, b'x' * 50_000, Content_Type=PROTO)
        refused(daemon, 413, 'resource_exhausted', 'decompressed', 'POST', path, gzip.compress(bytes(5_000_000)), Content_Type=PROTO, Content_Encoding='gzip')
        refused(daemon, 501, 'unimplemented', 'NoSuchCall', 'POST', SERVICE + 'NoSuchCall', '{}', Content_Type=JSON)
        refused(daemon, 501, 'unimplemented', 'vcs.v1', 'POST', '/vcs.v1.VCSService/GithubApp', '{}', Content_Type=JSON)
        refused(daemon, 404, 'not_found', 'not found', 'POST', '/querier.v1.OtherService/Get', '{}', Content_Type=JSON)
        refused(daemon, 403, 'permission_denied', 'another origin', 'POST', path, request, Content_Type=PROTO, Origin='http://evil.example')
        check(send(daemon, 'POST', path, request, Content_Type=PROTO, Connect_Timeout_Ms='20000')[2] == recorded, 'a sufficient timeout is accepted')


@test
def the_details_of_a_rare_function_are_not_pruned():
    """The app asks for 500 nodes below a call site, however small it is in the whole profile."""
    with Directory() as d, Daemon(d) as daemon:
        s = connect(daemon.socket)
        at = (time.time_ns() - 600_000_000_000) // 10**10 * 10**10
        rare = {('main', 'rare', 'parse'): 1, ('main', 'rare', 'parse', ''): 2, ('main', 'rare'): 3}
        s.send(message({**{('main', f'f{i}'): 1000 for i in range(1500)}, **rare}, end=at + 10**9))
        check(wait_for(lambda: daemon.status()['samples']['stored'] == 1_500_006), 'the samples are stored')

        def samples(site, most):
            status, said = call(daemon, 'SelectMergeProfile', {'profile_typeID': 'wall:samples:count:cpu:nanoseconds', 'label_selector': '{}',
                                'start': at // 10**6, 'end': at // 10**6 + 10_000, 'maxNodes': most,
                                'stackTraceSelector': {'call_site': [{'name': name} for name in site]}})
            check(status == 200, f'{site}: {status} {said}')
            names = {f['id']: said['stringTable'][int(f.get('name', 0))] for f in said.get('function', [])}
            functions = {x['id']: names[x['line'][0]['functionId']] for x in said.get('location', [])}
            return sum(int(x['value'][0]) for x in said.get('sample', [])), {functions[x['locationId'][0]] for x in said.get('sample', [])}
        check(samples(['main', 'rare'], 500) == (6, {'rare', 'parse', '[unknown]'}), f'{samples(["main", "rare"], 500)}')
        check(samples(['main', 'rare', 'parse', '[unknown]'], 500) == (2, {'[unknown]'}), 'a call site is selected by the name shown in flame graphs')
        check(samples(['main', 'rare', 'parse', ''], 500) == (2, {'[unknown]'}), 'a call site is selected by its own, empty name')
        status, said = call(daemon, 'SelectMergeStacktraces', {'profileTypeID': 'wall:samples:count:cpu:nanoseconds', 'labelSelector': '{}',
                            'start': at // 10**6, 'end': at // 10**6 + 10_000,
                            'stackTraceSelector': {'call_site': [{'name': 'main'}, {'name': 'rare'}, {'name': 'parse'}, {}]}})
        check(status == 200 and int(said['flamegraph']['total']) == 2, f'a call site is selected in flame graphs as well: {said}')
        check(samples(['main', 'rare'], 6)[0] == 6 and 'other' in samples(['main'], 100)[1], 'only the call site is pruned')
        check(samples(['main', 'nobody'], 500) == (0, set()), 'an unknown call site returns no samples')


def old_runs_among_newer_ones(daemon):
    """The limit of 200 runs counts those that match, in every call."""
    s = connect(daemon.socket)
    at = time.time_ns() - 900_000_000_000

    def send_runs(count, first_ns, **labels):
        for i in range(count):
            s.send(run_message(CALLS, {'id': f'{labels["service"]}{i}', **labels}, end=first_ns + i * 1_000_000))
    send_runs(3, at, source='shop', service='cart', host='web1', span_id=f'{7:016x}')
    send_runs(205, at + 60 * 10**9, source='shop', service='stock', host='web2')
    send_runs(300, at + 120 * 10**9, source='busy', service='busy', host='web3')
    older = [{'profile_id': f'{8:016x}'}] * 2 + [{'profile_id': f'{9:016x}', 'span_id': f'{9:016x}'}]
    for i, ids in enumerate(older):
        send_runs(1, at + (180 + i) * 10**9, source='shop', service='stock', host='web2', id=f'older{i}', **ids)
    check(wait_for(lambda: daemon.status()['runs']['stored'] == 511), f'all runs are stored: {daemon.status()["runs"]}')
    span = {'start': at // 10**6 - 60_000, 'end': at // 10**6 + 300_000}
    kind, one = 'run:wall:nanoseconds::', 8_000_000

    def total(selector, **more):
        status, said = call(daemon, 'SelectMergeStacktraces', {'profileTypeID': kind, 'labelSelector': selector, **span, **more})
        check(status == 200, f'{selector}: {status} {said}')
        return int(said['flamegraph'].get('total', 0)) // one
    for selector in ('service_name="cart"', 'service="cart"', 'service_name=~"c.*"', 'service_name!~"(busy|stock)"', 'source="shop",host!="web2"',
                     'source=~"sh.p",host="web1"', 'host=~"web1|web9"', f'span_id="{7:016x}"', f'__profile_type__="{kind}",host="web1"',
                     'service_name="cart",rack=""'):
        check(total('{' + selector + '}') == 3, f'{{{selector}}}: {total("{" + selector + "}")} runs')
    check(total('{service_name="cart",rack!=""}') == total('{__name__="wall"}') == 0, 'a selector without matches returns no runs')
    check(total('{}', profileIdSelector=['shop/cart1']) == total('{service_name="cart"}', profileIdSelector=['shop/cart1']) == 1, 'a run is selected by its id')
    check(total('{}', spanSelector=[f'{7:016x}']) == 3, 'runs are selected by span')
    check(total('{}', spanSelector=[f'{8:016x}']) == 2, 'runs are selected by the older attribute of a span id')
    check(total('{}', spanSelector=[f'{i:016x}' for i in (9, 8, 7)]) == 6, 'runs are selected by either attribute and counted once')
    _, said = call(daemon, 'SelectSeries', {'profileTypeID': kind, 'labelSelector': '{host="web1"}', 'step': 60, **span, 'exemplarType': 2})
    found = [e['profileId'] for p in said['series'][0]['points'] for e in p.get('exemplars', [])]
    check(sorted(found) == ['shop/cart0', 'shop/cart1', 'shop/cart2'], f'exemplars: {found}')
    matchers = [f'{{__profile_type__="{kind}"}}']
    _, said = call(daemon, 'LabelValues', {'name': 'service_name', **span, 'matchers': matchers})
    check(said['names'] == ['busy', 'cart', 'stock'], f'the services are listed: {said}')
    _, said = call(daemon, 'Series', {'labelNames': ['service_name', 'host'], **span, 'matchers': [*matchers, '{host!="web3"}']})
    check([[x['value'] for x in x['labels']] for x in said['labelsSet']] == [['web1', 'cart'], ['web2', 'stock']], f'the label sets are listed: {said}')
    check(call(daemon, 'LabelNames', {**span, 'matchers': [f'{{__profile_type__="{WALL}"}}']})[1] == {}, 'no label names are returned for a profile type without samples')

    def warning(selector):
        body = json.dumps({'profileTypeID': kind, 'labelSelector': selector, **span})
        return send(daemon, 'POST', SERVICE + 'SelectMergeStacktraces', body, Content_Type=JSON)[1]['Strobe-Warning']
    check(total('{service="stock"}') == 200 and 'latest 200 matching runs' in warning('{service="stock"}'), f'the limit of runs is reported: {warning("{}")}')
    check(warning('{service="cart"}') is None, f'no warning is sent when all runs are included: {warning("{}")}')


@test
def older_runs_are_selected_from_many_newer_ones():
    with Directory() as d, Daemon(d) as daemon:
        old_runs_among_newer_ones(daemon)


@test
def older_runs_are_selected_from_many_newer_ones_in_clickhouse():
    with Directory() as d, ClickHouse() as server, Site(d, server.start().url('runs')) as daemon:
        old_runs_among_newer_ones(daemon)


@test
def the_legacy_pyroscope_http_api_is_supported():
    with Directory() as d, Daemon(d) as daemon:
        at = time.time_ns() - 900_000_000_000
        fill(daemon, at)
        times = {'from': at // 10**9 - 60, 'until': at // 10**9 + 300}

        def get(path, **params):
            status, got, body = send(daemon, 'GET', f'{path}?{urllib.parse.urlencode(params)}')
            return status, json.loads(body)
        _, said = get('/pyroscope/render', query=WALL + '{service_name="blog"}', **times, groupBy='host', format='json')
        total = sum(blog().values()) * 10_000_000
        check(said['flamebearer']['numTicks'] == total and said['flamebearer']['levels'][0] == [0, total, 0, 0], f'{said["flamebearer"]["levels"][0]}')
        check(said['metadata'] == {'format': 'single', 'spyName': '', 'sampleRate': 100, 'units': 'nanoseconds', 'name': 'wall'}, said['metadata'])
        check(sum(said['timeline']['samples']) == total and said['timeline']['durationDelta'] == 15, f'timeline: {said["timeline"]}')
        for shift in range(15):
            _, counted = get('/pyroscope/render', query=WALL.replace('wall:wall:nanoseconds', 'wall:samples:count') + '{}', **{**times, 'from': times['from'] - shift},
                             groupBy='host')
            ticks, steps = counted['flamebearer']['numTicks'], counted['timeline']['samples']
            check(ticks and sum(steps) == ticks == sum(sum(g['samples']) for g in counted['groups'].values()), f'{shift} s: {ticks} {sum(steps)}')
        check(list(said['groups']) == ['web1'] and said['heatmap'] is None, f'groups: {said["groups"]}')
        few = get('/behind/a/proxy/pyroscope/render', query=WALL + '{}', **times, **{'max-nodes': 4})[1]
        check('other' in few['flamebearer']['names'], f'a limit of four nodes is applied: {few["flamebearer"]["names"]}')
        side = {f'{s}{k}': v for s, q in (('left', 'blog'), ('right', 'checkout'))
                for k, v in {'Query': f'{WALL}{{service_name="{q}"}}', 'From': times['from'] * 1000, 'Until': times['until'] * 1000}.items()}
        _, said = get('/pyroscope/render-diff', **side)
        check(said['leftTicks'] == total and said['rightTicks'] == 81 * 10_000_000 and said['metadata']['format'] == 'double', f'{said["leftTicks"]} {said["rightTicks"]}')
        check(all(len(level) % 7 == 0 for level in said['flamebearer']['levels']), 'every node has seven numbers')
        check(WALL in get('/pyroscope/label-values', label='__name__')[1], 'the profile types are listed')
        for params in ({}, {'query': 'cpu{}'}, {'query': WALL + '{}', 'from': 'yesterday'}, {'query': WALL + '{', 'from': 'now-1h'},
                       {'query': WALL + '{}', 'max-nodes': 'x'}):
            status, said = get('/pyroscope/render', **params)
            check(status == 400 and said['code'] == 'invalid_argument', f'{params}: {status} {said}')
        check(get('/pyroscope/render-diff', **{**side, 'rightQuery': 'process_cpu:cpu:nanoseconds:cpu:nanoseconds{}'})[0] == 400, 'a comparison of different profile types is rejected')


@test
def the_read_token_permits_queries_and_only_the_write_token_permits_settings():
    with Directory() as d:
        for role, token in TOKENS.items():
            with open(f'{d}/{role}', 'w', opener=lambda path, flags: os.open(path, flags, 0o600), encoding='utf-8') as f:
                f.write(token)
        with Daemon(d, '--token-file', f'{d}/write', '--read-token-file', f'{d}/read', '--service-label', 'host') as daemon:
            s = connect(daemon.socket)
            s.send(message({('main',): 1}, {'entry': 'blog', 'host': 'web1'}))
            check(wait_for(lambda: json.loads(send(daemon, 'GET', '/api/v1/status', Authorization=f'Bearer {TOKENS["read"]}')[2])
                           ['samples']['stored'] == 1), 'the sample is stored')
            reader, writer = ({'Authorization': f'Bearer {TOKENS[role]}'} for role in ('read', 'write'))
            refused(daemon, 401, 'unauthenticated', 'token', 'POST', SERVICE + 'GetProfileStats', '{}', Content_Type=JSON)
            check(call(daemon, 'GetProfileStats', {}, **reader)[1]['dataIngested'] is True, 'the read token permits queries')
            check(call(daemon, 'LabelValues', {'name': 'service_name'}, **reader)[1] == {'names': ['web1']}, 'the services are those of --service-label')
            setting = {'setting': {'name': 'a', 'value': 'b'}}
            where = '/settings.v1.SettingsService/'
            check(call(daemon, 'Get', {}, where, **reader) == (200, {}), 'no settings are stored')
            check(call(daemon, 'Set', setting, where, **reader)[0] == 403, 'the read token does not permit changes')
            check(call(daemon, 'Set', setting, where, **writer)[0] == 200, 'the write token permits changes')
            check(call(daemon, 'Get', {}, where, **reader)[1]['settings'][0]['value'] == 'b', 'the setting is stored')


main()
