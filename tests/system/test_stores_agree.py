"""The same samples in SQLite, in one ClickHouse and in two: all queries give the same answers, to the order of
their rows."""
import itertools
import json
import os
import random
import re
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

from clickhouse_samples import Page
from clickhouse_server import ClickHouse
from pprof_file import Pprof
from strobe_test import STROBE, Directory, Skip, check, main, skip_all, some, test, wait_for

CPU = 'process_cpu:cpu:nanoseconds:cpu:nanoseconds'
HOSTS, FILES = ('web1', 'web2', 'web3'), ('src/a.php', 'src/b.php', 'lib/c.php', 'src/d/e.php')


def call_stacks(r, count):
    """Functions of one name stand in several files, as in the releases of a site, and many values are equal."""
    stacks = []
    for _ in range(count):
        stack = [('{main}', f'{r.choice(FILES)}', 1)]
        for _ in range(r.randrange(1, 9)):
            name = r.choice(('App\\Cart::total', 'App\\Cart::add', 'App\\Db::query', 'render', 'Näme', 'strlen', '{closure}', 'Lib\\Json::encode'))
            stack.append((name, '' if name == 'strlen' else r.choice(FILES), r.randrange(2, 30)))
        stacks.append(stack)
    return stacks


def pushes(now):
    """Addresses and bodies."""
    r = random.Random(7)
    stacks = call_stacks(r, 400)
    for bucket in range(6):
        at = (now - 300 + 50 * bucket) * 10**9
        when = f'from={now - 310 + 50 * bucket}&until={now - 300 + 50 * bucket}'
        for host in HOSTS:
            cpu = [(s, (n := r.choice((1, 1, 2, 5)), n * 10**7), {'entry': r.choice(('index', 'api', 'cron'))}) for s in r.sample(stacks, 120)]
            p = Pprof((('samples', 'count'), ('cpu', 'nanoseconds')), cpu, at, ('cpu', 'nanoseconds'), 10**7)
            yield f'/ingest?name=shop{{host={host},region=eu}}&format=pprof&{when}', p.gzip()
        if bucket > 2:
            continue
        memory = [(s, (1, r.choice((64, 4096))), {}) for s in r.sample(stacks, 60)]
        p = Pprof((('alloc_objects', 'count'), ('alloc_space', 'bytes')), memory, at)
        yield f'/ingest?name=shop{{host=web1,only=memory}}&format=pprof&{when}', p.gzip()
        text = ''.join(';'.join(f[0] for f in s) + f' {r.choice((1, 3))}\n' for s in r.sample(stacks, 50))
        yield f'/ingest?name=blog.wall{{host=web2,deploy=7}}&{when}', text.encode()


def post(url, body, **headers):
    with urllib.request.urlopen(urllib.request.Request(url, body, {k.replace('_', '-'): v for k, v in headers.items()}), timeout=120) as r:
        return r.read().decode(errors='replace')


def ask(page, path, body=None):
    try:
        if body is not None:
            return post(page.daemon.url + path, json.dumps(body).encode(), Content_Type='application/json')
        with urllib.request.urlopen(page.daemon.url + path, timeout=120) as r:
            return r.read().decode(errors='replace')
    except urllib.error.HTTPError as e:
        return f'{e.code} {e.read().decode(errors="replace")}'


def api_addresses(now):
    views = ['', '&host=web1', '&host=!web1', '&entry=a*', '&entry=!a*&host=!=web2', '&host=web1&host=web2', '&region=none', '&reverse=1', '&column=cpu_ns',
             '&column=alloc_space', '&column=wall_ns', '&host=web1&base.host=web2', f'&base_from={now - 300}&base_to={now - 200}',
             f'&host=web1&base.host=web3&scale=none', '&lines=1', '&lines=0']
    by = [f'&by={by}' for by in ('line', 'file', 'class', 'namespace', 'package', 'own')]
    for path in ('/api/v1/functions', '/api/v1/table', '/api/v1/profile', '/api/v1/callgraph', '/flamegraph.svg', '/callgraph.svg'):
        for view in views + by:
            yield path, view
    for path in ('/api/v1/functions', '/api/v1/table'):
        for sort in ('total', 'name'):
            yield path, f'&sort={sort}&limit=20'
    for f in ('folded', 'svg', 'html', 'json', 'nothing'):
        yield '/api/v1/profile', f'&format={f}'
    for name in ('App\\Cart::total', 'render', '{closure}', 'strlen', '{main}', 'missing'):
        for more in ('', '&host=web3', '&host=web1&base.host=web2', '&column=cpu_ns'):
            for path in ('/api/v1/function', '/api/v1/source', '/'):
                yield path, f'&function={urllib.parse.quote(name)}{more}'
    for file in FILES:
        yield '/api/v1/source', f'&by=file&function={file}'
    for more in ('', '&host=web1', '&entry=index&host=!web2'):
        yield '/api/v1/labels', more
        for split in ('', '&split=host', '&split=entry', '&split=nothing'):
            yield '/api/v1/timeline', more + split
    for more in views + by:
        yield '/', more


def pyroscope_calls(now):
    times = {'start': (now - 3600) * 1000, 'end': (now + 60) * 1000}
    for selector in ('{}', '{service_name="shop"}', '{service_name="shop",host=~"web[12]"}', '{service_name="shop",entry!="index"}', '{service_name="no"}'):
        yield 'ProfileTypes', times
        yield 'LabelNames', {**times, 'matchers': [selector]}
        for name in ('host', 'entry', 'service_name', '__profile_type__', 'none'):
            yield 'LabelValues', {**times, 'name': name, 'matchers': [selector]}
        for names in ([], ['service_name', '__profile_type__'], ['host']):
            yield 'Series', {**times, 'matchers': [selector], 'labelNames': names}
        for type_ in (CPU, 'memory:alloc_space:bytes:space:bytes', 'wall:wall:nanoseconds:wall:nanoseconds', 'process_cpu:samples:count:cpu:nanoseconds'):
            query = {**times, 'profileTypeID': type_, 'labelSelector': selector}
            for nodes in (0, 20):
                yield 'SelectMergeStacktraces', {**query, 'maxNodes': nodes}
                yield 'SelectMergeProfile', {**query, 'maxNodes': nodes}
            for group in ([], ['host'], ['entry', 'host']):
                yield 'SelectSeries', {**query, 'step': 15, 'groupBy': group}
            yield 'SelectHeatmap', {**query, 'step': 60, 'queryType': 1}
    yield 'GetProfileStats', {}
    side = {**times, 'profileTypeID': CPU}
    yield 'Diff', {'left': {**side, 'labelSelector': '{host="web1"}'}, 'right': {**side, 'labelSelector': '{host="web2"}'}}


def pyroscope_addresses(now):
    times = {'from': now - 3600, 'until': now + 60}
    for selector in ('{}', '{service_name="shop",host="web1"}'):
        for more in ({}, {'groupBy': 'host'}, {'max-nodes': 16}, {'format': 'dot'}):
            yield '/pyroscope/render?' + urllib.parse.urlencode({'query': CPU + selector, **times, **more})
    sides = {f'{s}{k}': v for s, q in (('left', 'web1'), ('right', 'web3'))
             for k, v in (('Query', f'{CPU}{{host="{q}"}}'), ('From', times['from']), ('Until', times['until']))}
    yield '/pyroscope/render-diff?' + urllib.parse.urlencode(sides)
    for label in ('host', 'entry', 'service_name', '__name__', 'none'):
        yield '/pyroscope/label-values?' + urllib.parse.urlencode({'label': label, **times})


def stacks_of_tree(answer):
    """Turns the arrays of a tree, whose order is not part of the answer, into stacks."""
    names, frames, nodes = answer.pop('strings'), answer.pop('frames'), answer.pop('nodes')
    shown = [(names[n], names[f], line) for n, f, line in zip(frames['name'], frames['file'], frames['line'])]
    lines = nodes.get('line') or [0] * len(nodes['parent'])
    stacks = [()]
    for i in range(1, len(nodes['parent'])):
        stacks.append((*stacks[nodes['parent'][i]], (*shown[nodes['frame'][i]], lines[i])))
    numbers = [nodes[k] for k in sorted(nodes) if k not in ('parent', 'frame', 'line')]
    answer['stacks'] = sorted((stack, repr([by_column(n, i) for n in numbers])) for i, stack in enumerate(stacks))


def by_column(numbers, i):
    return [n[i] for n in numbers] if numbers and isinstance(numbers[0], list) else numbers[i]


def stacks_of_pprof(answer):
    """The same for profile.proto in JSON."""
    names = answer.pop('stringTable')
    functions = {f['id']: (names[int(f.get('name', 0))], names[int(f.get('filename', 0))], f.get('startLine')) for f in answer.pop('function', [])}
    places = {at['id']: [(functions[line['functionId']], line.get('line')) for line in at['line']] for at in answer.pop('location', [])}
    answer['sample'] = sorted(([places[i] for i in s['locationId']], s['value']) for s in answer.pop('sample', []))


def same(text):
    """Without the pieces that a store read, and trees by their stacks."""
    text = re.sub(r'"chunks": ?\d+', '"chunks":0', text)
    if text.startswith('{') and ('"nodes"' in text or '"stringTable"' in text):
        answer = json.loads(text)
        (stacks_of_tree if 'nodes' in answer else stacks_of_pprof)(answer)
        return json.dumps(answer)
    return text


def first_difference(a, b):
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return f'at {at} of {len(a)}: {a[max(0, at - 60):at + 100]!r}, not {b[max(0, at - 60):at + 100]!r}'


def compare(pages, path, body=None):
    found = {name: same(ask(page, path, body)) for name, page in pages.items()}
    for name in ('one', 'two'):
        check(found[name] == found['sqlite'], f'{path} {body or ""} of {name}: {first_difference(found[name], found["sqlite"])}')
    return found['sqlite']


def fill(pages, now):
    for address, body in pushes(now):
        for page in pages.values():
            post(page.daemon.url + urllib.parse.quote(address, safe='/?&={},'), body)
    for name, page in pages.items():
        check(wait_for(lambda: page.daemon.status()['samples']['queued'] == 0), f'{name} has stored them')


with_pages = []


def pages():
    """Filled once; the time is that of the samples."""
    return with_pages[0]


@test
def the_api_returns_the_same_from_every_store():
    every, now = pages()
    times = f'from={now - 600}&to={now + 60}'
    answers = [compare(every, f'{path}?{times}{view}') for path, view in some(api_addresses(now), 7)]
    check(sum(len(a) > 500 for a in answers) > len(answers) / 2, 'responses are large enough to compare')


@test
def ranges_without_some_series_return_the_same_from_every_store():
    """But for the lists of types, labels and series, which are those of whole days in SQLite."""
    every, now = pages()
    ranges = ((140, 0), (143, 97), (250, 247), (90, 30), (5, 0), (3600, 900), (604800, 0), (31536000, 86400))
    paths = ('/api/v1/functions', '/api/v1/table', '/api/v1/profile', '/api/v1/labels', '/api/v1/timeline', '/', '/flamegraph.svg')
    views = ('', '&host=web1', '&only=memory', '&column=alloc_space', '&host=none')
    for (first, last), path, view in some(itertools.product(ranges, paths, views), 9):
        compare(every, f'{path}?from={now - first}&to={now - last}{view}')
    for first, last in ranges:
        ms = {'start': (now - first) * 1000 + 1, 'end': (now - last) * 1000 - 1}
        for name, more in (('SelectSeries', {'profileTypeID': CPU, 'labelSelector': '{}', 'step': 15}),
                           ('SelectMergeStacktraces', {'profileTypeID': CPU, 'labelSelector': '{}'})):
            compare(every, '/querier.v1.QuerierService/' + name, {**ms, **more})


@test
def exported_profiles_contain_the_same_from_every_store():
    """Tables of them, as the order of stacks in a file means nothing."""
    every, now = pages()
    with Directory() as d:
        for f in ('pprof', 'speedscope', 'callgrind', 'chrome', 'xhprof', 'strobe'):
            tables = {}
            for name, page in every.items():
                with urllib.request.urlopen(f'{page.daemon.url}/api/v1/profile?from={now - 600}&to={now + 60}&format={f}', timeout=120) as r, \
                     open(f'{d}/{name}.{f}', 'wb') as out:
                    out.write(r.read())
                table = subprocess.run([STROBE, 'report', '-n', '0', f'{d}/{name}.{f}'], stdout=subprocess.PIPE, text=True, check=True).stdout
                tables[name] = table.replace(f'{d}/{name}', '')
            for name in ('one', 'two'):
                check(tables[name] == tables['sqlite'], f'{f} of {name}: {first_difference(tables[name], tables["sqlite"])}')
            check(len(tables['sqlite']) > 300, f'{f} has a table: {tables["sqlite"][:200]}')


@test
def calls_by_grafana_return_the_same_from_every_store():
    every, now = pages()
    answers = [compare(every, '/querier.v1.QuerierService/' + name, fields) for name, fields in some(pyroscope_calls(now), 5)]
    answers += [compare(every, path) for path in pyroscope_addresses(now)]
    check(sum(len(a) > 200 for a in answers) > len(answers) / 3, 'responses are large enough to compare')


@test
def a_function_in_several_files_is_attributed_to_the_first_path():
    every, now = pages()
    function = json.loads(ask(every['one'], f'/api/v1/function?from={now - 600}&to={now + 60}&function=render'))['function']
    check(function['file'] == 'lib/c.php' and function['places'] == 5, function)
    source = json.loads(ask(every['one'], f'/api/v1/source?from={now - 600}&to={now + 60}&function=render'))
    check(source['others'] == sorted(source['others']) and len(source['others']) == 3, source['others'])


@test
def label_values_are_sorted_and_unique():
    every, now = pages()
    for label, values in (('host', list(HOSTS)), ('entry', ['api', 'cron', 'index'])):
        said = json.loads(ask(every['two'], f'/pyroscope/label-values?label={label}&from={now - 3600}&until={now + 60}'))
        check(said == values, f'{label}: {said}')


def test_all():
    with Directory() as d, ClickHouse() as a, ClickHouse() as b:
        for folder in ('p', 'q', 'r'):
            os.mkdir(f'{d}/{folder}')
        two = a.url('two', f'?shards={a.server},{b.server}')
        with Page(f'{d}/p', f'sqlite:{d}/p/store') as p, Page(f'{d}/q', a.url('one')) as q, Page(f'{d}/r', two) as r:
            at = int(time.time()) // 10 * 10
            with_pages.append(({'sqlite': p, 'one': q, 'two': r}, at))
            fill(*with_pages[0])
            main()


try:
    test_all()
except Skip as reason:
    skip_all(reason)
