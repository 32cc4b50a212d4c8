"""Runs: over the socket, over HTTP, by `strobe import`, and `strobe run --trace`."""
import gzip
import http.client
import json
import os
import re
import signal
import sqlite3
import subprocess
import threading
import time
import urllib.error
import urllib.request

from daemon import Daemon
from strobe_test import EXTENSION, STROBE, Directory, Skip, check, main, test, test_in_full, wait_for
from wire import connect, message, run_message, send_memfd

# (parent, name, calls, wall, memory)
CALLS = [(0, 'main()', 1, 2_000_000, 100), (1, 'Cart::add', 3, 5_000_000, 4096), (2, 'free', 9, 1_000_000, -2048)]
XHPROF = json.dumps({'main()': {'ct': 1, 'wt': 900, 'mu': 50}, 'main()==>load': {'ct': 4, 'wt': 600, 'mu': -10}})
RECURSION = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'data/recursion.xhprof')


def strobe(*arguments, **options):
    return subprocess.run([STROBE, *arguments], capture_output=True, text=True, timeout=120, **options)


def ask(d, path, method='GET', body=None, **headers):
    """(status, headers, body) of a request."""
    request = urllib.request.Request(d.url + path, data=body, method=method, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as r:
            return r.status, r.headers, r.read()
    except urllib.error.HTTPError as e:
        return e.code, e.headers, e.read()


def listed(d, query=''):
    return [f'{r["source"]}/{r["id"]}' for r in json.loads(d.get('/api/v1/runs' + query))['runs']]


def counted(d, key):
    return d.status()['runs'][key]


def labels(id, **more):
    return {'source': 'shop', 'id': id, 'url': f'/cart?n={id}', 'host': 'web1', **more}


@test
def a_run_sent_by_php_is_stored_listed_fetched_and_rendered():
    with Directory() as directory, Daemon(directory) as d:
        s = connect(d.socket)
        s.send(message({('main', 'work'): 3}))
        s.send(run_message(CALLS, labels('r1', name='first')))
        check(wait_for(lambda: listed(d) == ['shop/r1']), f'the run is listed: {listed(d)}')
        check(wait_for(lambda: d.status()['samples']['stored'] == 3), 'samples are stored as well')
        run = json.loads(d.get('/api/v1/runs'))['runs'][0]
        check(run['totals'] == {'calls': 13, 'wall_ns': 8_000_000, 'memory_bytes': 2148}, f'totals: {run["totals"]}')
        check(run['url'] == '/cart?n=r1' and run['name'] == 'first' and run['labels'] == {'host': 'web1'}, f'{run}')
        check(run['duration_ns'] == 1_000_000 and abs(run['start'] - time.time()) < 60, f'the time of the run: {run}')
        profile = json.loads(d.get('/api/v1/runs/shop/r1'))
        check(profile['nodes']['values'][2] == [0, 100, 4096, -2048], f'values keep their sign: {profile["nodes"]}')
        folded = d.get('/api/v1/runs/shop/r1?format=folded')
        check(folded == 'main() 2000000\nmain();Cart::add 5000000\nmain();Cart::add;free 1000000\n', folded)
        memory = d.get('/api/v1/runs/shop/r1?format=folded&column=memory_bytes')
        check('free' not in memory and 'Cart::add 4096' in memory, memory)
        report = json.loads(d.get('/api/v1/runs/shop/r1/report'))
        check(report['functions'][0]['name'] == 'Cart::add' and report['functions'][0]['self']['calls'] == 3,
              f'{report["functions"][0]}')
        for path in ('/api/v1/runs/shop/r1/flamegraph', '/runs/shop/r1/flamegraph.svg?column=memory_bytes'):
            status, headers, svg = ask(d, path)
            check(status == 200 and headers['Content-Type'] == 'image/svg+xml' and b'Cart::add' in svg, path)
        page = d.get('/runs')
        check('href="/runs/shop/r1">first</a>' in page, 'the page lists it')
        one = d.get('/runs/shop/r1')
        check('Cart::add' in one and '-2.00 KiB' in one and 'src="/flamegraph.svg?run=shop/r1' in one, 'the page shows the run')
        check('<script>' not in page + one and 'style=' not in page + one, 'no inline scripts or styles')
        s.close()


@test
def a_repeated_run_is_deduplicated_and_a_conflicting_one_is_dropped_and_counted():
    with Directory() as directory, Daemon(directory) as d:
        s = connect(d.socket)
        first = run_message(CALLS, labels('r1'))
        s.send(first)
        s.send(first)
        s.send(run_message(CALLS[:1], labels('r1')))
        s.send(run_message(CALLS, {}))
        s.send(run_message(CALLS, labels('..'), drops={2: 7}))
        s.send(run_message(CALLS, labels('r2'), drops={2: 7}))
        check(wait_for(lambda: counted(d, 'received') == 5 and counted(d, 'queued') == 0), f'{d.status()["runs"]}')
        runs = d.status()['runs']
        check((runs['stored'], runs['deduplicated'], runs['dropped']['conflict']) == (3, 1, 1), f'counted: {runs}')
        check(runs['dropped_by_senders']['socket_full'] == 7, f'drops of the sender are counted: {runs["dropped_by_senders"]}')
        check(d.status()['sources'][0]['rejected']['bad_label'] == 1, 'an id that is invalid in a URL is rejected')
        check(sum(k.startswith('default/') for k in listed(d)) == 1, f'a run without an id got one: {listed(d)}')
        metrics = d.get('/metrics')
        check('strobe_runs_dropped_total{reason="conflict"} 1' in metrics and 'strobe_runs 3' in metrics, 'metrics')
        text = strobe('status', '--url', d.url).stdout
        check('runs        5 received from PHP, 3 stored' in text and 'conflict 1' in text, text)
        s.close()


@test
def the_trace_of_a_killed_process_is_counted_as_dropped():
    if not os.path.exists(EXTENSION):
        raise Skip(f'{EXTENSION} is not built')
    with Directory() as directory, Daemon(directory) as d:
        script = f'{directory}/script.php'
        with open(script, 'w') as f:
            f.write(f'<?php touch("{directory}/ready"); while (!file_exists("{directory}/end")) usleep(1000);')
        command = ['php', '-d', f'extension={EXTENSION}', '-d', 'strobe.mode=off', '-d', 'strobe.trace_rate=1', '-d',
                   f'strobe.socket={d.socket}', script]
        for killed in (1, 2):
            process = subprocess.Popen(command)
            check(wait_for(lambda: os.path.exists(f'{directory}/ready')), 'the script is running')
            os.unlink(f'{directory}/ready')
            process.kill()
            process.wait()
            check(wait_for(lambda: d.status()['runs']['dropped_by_senders']['killed'] == killed),
                  f'{killed}: {d.status()["runs"]}')
        check('strobe_runs_dropped_total{reason="killed"} 2' in d.get('/metrics'), 'in the metrics')
        check('killed 2' in strobe('status', '--url', d.url).stdout, 'in strobe status')
        with open(f'{directory}/end', 'w'):
            subprocess.run(command, check=True)
        check(wait_for(lambda: counted(d, 'stored') == 1), f'a completed trace is stored: {d.status()["runs"]}')
        check(d.status()['runs']['dropped_by_senders']['killed'] == 2, 'a completed trace is not counted as dropped')


@test
def committed_runs_survive_sigkill():
    with Directory() as directory:
        with Daemon(directory) as d:
            s = connect(d.socket)
            for i in range(300):
                s.send(run_message(CALLS, labels(f'r{i}')))
            wait_for(lambda: counted(d, 'stored') > 50)
            stored = counted(d, 'stored')
            d.process.kill()
            d.process.wait()
            s.close()
        with Daemon(directory) as d:
            names = listed(d, '?limit=1000')
            check(len(names) >= stored > 50, f'{stored} were stored, {len(names)} are listed')
            check(b'Cart::add' in ask(d, f'/api/v1/runs/{names[-1]}?format=folded')[2], 'the run is complete')


@test
def runs_sent_just_before_shutdown_are_stored():
    with Directory() as directory:
        with Daemon(directory) as d:
            s = connect(d.socket)
            for i in range(100):
                s.send(run_message(CALLS, labels(f'r{i}')))
            check(d.stop() == 0, 'exits with 0')
            s.close()
        with Daemon(directory) as d:
            check(len(listed(d, '?limit=1000')) == 100, 'all are stored')


@test
def a_run_two_hundred_thousand_calls_deep_is_stored_and_rendered():
    deep = [(i, 'down', 1, 1000, 16) for i in range(200_000)]
    with Directory() as directory, Daemon(directory) as d:
        s = connect(d.socket)
        send_memfd(s, run_message(deep, labels('deep')))
        check(wait_for(lambda: listed(d) == ['shop/deep'], 60), 'the run is stored')
        check(json.loads(d.get('/api/v1/runs'))['runs'][0]['totals']['wall_ns'] == 200_000_000, 'the run is complete')
        status, _, svg = ask(d, '/runs/shop/deep/flamegraph.svg')
        check(status == 200 and b'down' in svg, 'rendered as SVG')
        check('200 ms' in d.get('/runs/shop/deep'), 'shown as a page')
        s.close()


@test
def runs_are_posted_in_many_formats_and_invalid_ones_are_rejected_with_a_message():
    with Directory() as directory, Daemon(directory) as d:
        status, headers, body = ask(d, '/api/v1/runs?source=shop&id=x1&url=/a%3Fb&label.deploy=7', 'POST', XHPROF.encode())
        check(status == 201 and headers['Location'] == '/api/v1/runs/shop/x1', f'{status} {body}')
        profile = json.loads(d.get('/api/v1/runs/shop/x1'))
        check(profile['run']['url'] == '/a?b' and profile['run']['labels'] == {'deploy': '7'}, f'{profile["run"]}')
        check(profile['run']['totals']['memory_bytes'] == 50, f'{profile["run"]["totals"]}')
        check(ask(d, '/api/v1/runs?source=shop&id=x1&url=/a%3Fb&label.deploy=7', 'POST', XHPROF.encode())[0] == 200, 'the same run is accepted again')
        check(ask(d, '/api/v1/runs?source=shop&id=x1', 'POST', b'main;f 3\n')[0] == 409, 'a conflicting run is rejected')
        check(ask(d, '/api/v1/runs?source=shop&id=x2', 'POST', gzip.compress(b'main;f 3\n'))[0] == 201, 'compressed')
        check(ask(d, '/api/v1/runs', 'POST', run_message(CALLS, labels('x3')))[0] == 201, 'native, with its own name')
        fetched = ask(d, '/api/v1/runs/shop/x3?format=strobe')[2]
        check(ask(d, '/api/v1/runs', 'POST', fetched)[0] == 200, 'a fetched run is recognized as the same')
        check(len(listed(d)) == 3 and counted(d, 'posted') == 3, f'{listed(d)}')
        cases = [(b'', 400, 'no body'), (b'\x89PNG', 415, 'PNG'), (b'a:1:{s:2:"ct"', 400, 'at byte 12'),
                 (XHPROF.encode()[:-5], 400, 'line 1'), (b'f 0\n', 400, 'no values')]
        for body, code, word in cases:
            status, _, answer = ask(d, '/api/v1/runs?id=bad', 'POST', body)
            check(status == code and word in json.loads(answer)['error'], f'{body}: {status} {answer}')
        for query in ('source=a/b', 'id=..', 'host=x', 'id=a%00', 'source=a&label.source=b', 'label.id=b', 'label.url=/', 'label.name=b'):
            check(ask(d, '/api/v1/runs?' + query, 'POST', b'f 1\n')[0] == 400, query)
        for origin in ('http://evil.example', 'null'):
            check(ask(d, '/api/v1/runs?id=evil', 'POST', b'f 1\n', Origin=origin)[0] == 403, 'other origins are rejected')
        check(ask(d, '/api/v1/runs?id=evil', 'POST', b'f 1\n', **{'User-Agent': 'Mozilla/5.0'})[0] == 403, 'browsers without an Origin header are rejected')
        check(ask(d, '/api/v1/runs/shop/x2', 'DELETE')[0] == 204, 'removed')
        check(ask(d, '/api/v1/runs/shop/x2', 'DELETE')[0] == 404, 'only once')
        check(ask(d, '/api/v1/runs/shop/x2')[0] == 404, 'the run is deleted')


@test
def all_responses_about_a_posted_run_are_computed_from_its_exact_call_pairs():
    """a and b call each other down to usleep, which took all: a tree made of the pairs gave a third to [folded]."""
    with Directory() as directory, Daemon(directory) as d:
        with open(RECURSION, 'rb') as f:
            body = f.read()
        check(ask(d, '/api/v1/runs?source=shop&id=r', 'POST', body)[0] == 201, 'stored')
        functions = json.loads(d.get('/api/v1/runs/shop/r/report'))['functions']
        check([(f['name'], f['self']['wall_ns'], f['total_at_most']) for f in functions[:2]] ==
              [('usleep', 406408000, False), ('a', 35000, False)], f'{functions[:2]}')
        check({f['name'] for f in functions} == {'usleep', 'a', 'b', 'main()', 'tideways_xhprof_disable'}, f'{functions}')
        profile = json.loads(d.get('/api/v1/runs/shop/r'))
        check(profile['estimated'] is True, 'the tree is an estimate')
        edges, names = profile['edges'], [profile['strings'][n] for n in profile['frames']['name']]
        called = [names[f] for f in edges['functions']['frame'][1:]]
        wall = [c['name'] for c in profile['columns']].index('wall_ns')
        values = {(([''] + called)[a], ([''] + called)[b]): 0 for a, b in zip(edges['pairs']['caller'], edges['pairs']['callee'])}
        for a, b, v in zip(edges['pairs']['caller'], edges['pairs']['callee'], edges['pairs']['values'][wall]):
            values[([''] + called)[a], ([''] + called)[b]] += v
        check(values['b', 'usleep'] == 200208000 and values['', 'main()'] == 406485000, f'{values}')
        check(b'estimated stacks' in ask(d, '/runs/shop/r/flamegraph.svg')[2], 'the SVG mentions estimated stacks')
        page = d.get('/runs/shop/r')
        check('[folded]' not in page and '406 ms' in page, 'the table shows the call pairs')
        stored = ask(d, '/api/v1/runs/shop/r?format=strobe')[2]
        check(stored[:5] == b'STRB\x02' and ask(d, '/api/v1/runs?source=shop&id=r', 'POST', stored)[0] == 200, 'recognized as the same run')
        written = ask(d, '/api/v1/runs/shop/r?format=xhprof')[2]
        check(written == body, 'the export equals the posted body')


@test
def bodies_over_the_limit_are_rejected_before_and_during_the_upload():
    with Directory() as directory, Daemon(directory) as d:
        host = d.url.removeprefix('http://')
        c = http.client.HTTPConnection(host, timeout=60)
        c.putrequest('POST', '/api/v1/runs')
        c.putheader('Content-Length', str(65 << 20))
        c.endheaders()
        r = c.getresponse()
        check(r.status == 413 and b'gzip' in r.read(), 'rejected by Content-Length')
        c.close()
        c = http.client.HTTPConnection(host, timeout=60)
        c.putrequest('POST', '/runs')
        c.putheader('Content-Length', str(65 << 20))
        c.putheader('Origin', d.url)
        c.endheaders()
        r = c.getresponse()
        said = r.read().decode()
        check(r.status == 413 and 'gzip' in said and 'href="/runs"' in said, f'a form gets a page: {r.status} {said[:500]}')
        c.close()
        c = http.client.HTTPConnection(host, timeout=60)
        c.request('POST', '/api/v1/runs', body=(b'x' * (1 << 20) for _ in range(66)), encode_chunked=True,
                  headers={'Transfer-Encoding': 'chunked'})
        check(c.getresponse().status == 413, 'rejected without Content-Length')
        c.close()
        bomb = gzip.compress(b'main;f 1\n' * (30 << 20), 1)
        check(ask(d, '/api/v1/runs?id=bomb', 'POST', bomb)[0] == 413, 'rejected during decompression')
        check(ask(d, '/api/v1/runs?id=fine', 'POST', b'f 1\n')[0] == 201, 'the next upload is accepted')


def field(number, content):
    """A field of protobuf: a number, or bytes."""
    if isinstance(content, int):
        return bytes([number << 3, content])
    size, rest = b'', len(content)
    while rest > 127:
        size, rest = size + bytes([rest & 127 | 128]), rest >> 7
    return bytes([number << 3 | 2]) + size + bytes([rest]) + content


def slow_profile():
    """Some KB that stand for 400,000 stacks, each of 65,536 frames: minutes of work in little memory."""
    head = field(1, field(1, 1) + field(2, 2)) + b''.join(field(6, s) for s in (b'', b'f', b'count'))
    head += field(5, field(1, 1) + field(2, 1)) + field(4, field(1, 1) + field(4, field(1, 1)) * 1024)
    return gzip.compress(head + field(2, field(1, b'\1' * 64) + field(2, b'\1')) * 400_000, 1)


def post_many(d, body, count):
    """Posts it so many times at once; returns the threads, and a list for their (status, text)."""
    answers = []

    def post(i):
        try:
            status, _, text = ask(d, f'/api/v1/runs?id=slow{i}', 'POST', body)
            answers.append((status, text.decode()))
        except OSError as e:
            answers.append((0, str(e)))

    threads = [threading.Thread(target=post, args=(i,)) for i in range(count)]
    for t in threads:
        t.start()
    return threads, answers


@test
def fractional_counts_are_stored_and_shown_exactly():
    with Directory() as directory, Daemon(directory) as d:
        status, _, text = ask(d, '/api/v1/runs?source=parts&id=one', 'POST', b'a;b 0.4\na;c 0.4\na;d 0.2\n')
        check(status == 201, f'posted: {status} {text}')
        check(d.get('/api/v1/runs/parts/one?format=folded') == 'a;b 0.4\na;c 0.4\na;d 0.2\n', 'read as folded stacks')
        run = json.loads(d.get('/api/v1/runs?source=parts'))['runs'][0]
        check(run['totals'] == {'samples': 1}, f'listed with their sum: {run["totals"]}')


@test
def slow_uploads_neither_block_http_threads_nor_delay_shutdown():
    with Directory() as directory, Daemon(directory) as d:
        s = connect(d.socket)
        s.send(message({('main', 'work'): 3}))
        check(wait_for(lambda: d.status()['samples']['received'] == 3), 'a sample arrived')
        threads, answers = post_many(d, slow_profile(), 20)
        # Two are read and eight wait, unless all came before the first was taken up.
        check(wait_for(lambda: len(answers) >= 10), f'{len(answers)} of 20 are rejected')
        check(all(a == (503, '{"error":"too many profiles are being read or removed at this moment; try again"}\n') for a in answers),
              f'with a message: {answers}')
        for _ in range(20):
            check(d.get('/healthz') and d.get('/metrics') and d.get('/api/v1/status'), 'every endpoint responds during the uploads')
        busy = int(re.search(r'strobe_uploads_rejected_total\{reason="busy"\} (\d+)', d.get('/metrics')).group(1))
        check(10 <= busy <= 12, f'counted in the metrics: {busy}')
        check(d.stop() == 0, 'shutdown succeeds without an error')
        for t in threads:
            t.join(60)
        check(all(status in (0, 503) for status, _ in answers), f'no other response is sent: {answers[10:]}')
        d.start()
        check(d.status()['samples'].get('received') == 0 and 'work' in d.get('/api/v1/profile?from=-1h&format=folded'),
              'samples received before shutdown are stored')


@test
def deletions_that_wait_for_another_writer_block_no_http_threads():
    with Directory() as directory, Daemon(directory) as d:
        for i in range(8):
            check(ask(d, f'/api/v1/runs?source=shop&id={i}', 'POST', b'a;b 1\n')[0] == 201, f'run {i} is posted')
        other = sqlite3.connect(f'{directory}/state/runs.sqlite', isolation_level=None, check_same_thread=False)
        other.execute('BEGIN IMMEDIATE')        # as `strobe import` does
        answers = []
        threads = [threading.Thread(target=lambda i=i: answers.append(ask(d, f'/api/v1/runs/shop/{i}', 'DELETE')[0])) for i in range(8)]
        for t in threads:
            t.start()
        for _ in range(10):
            check(d.get('/healthz') and d.get('/metrics'), 'probes respond during the deletions')
        check(not answers, f'before any deletion completes: {answers}')
        other.execute('ROLLBACK')
        other.close()
        for t in threads:
            t.join(60)
        check(answers == [204] * 8 and listed(d) == [], f'all deletions complete: {answers}, {listed(d)}')


def figure(d, name):
    return int(re.search(rf'^{re.escape(name)} (\d+)$', d.get('/metrics'), re.M).group(1))


@test
def uploads_count_against_the_query_memory_limit():
    with Directory() as directory, Daemon(directory, '--query-memory', '64M') as d:
        def stacks(n):
            return gzip.compress(''.join(f'main;f{i};g{i} 1\n' for i in range(n)).encode(), 1)

        check(ask(d, '/api/v1/runs?id=small', 'POST', stacks(10))[0] == 201, 'a small run is stored')
        check(ask(d, '/api/v1/runs?id=middle', 'POST', stacks(30000))[0] == 201, 'a run over one sixteenth may use half of the memory')
        status, _, text = ask(d, '/api/v1/runs?id=large', 'POST', stacks(1000000))
        check(status == 413 and b'the limit of 32 MB of memory' in text, f'a run over half of the memory is rejected: {status} {text}')
        check('strobe_uploads_rejected_total{reason="memory"} 1' in d.get('/metrics'), 'it is counted')
        check(wait_for(lambda: figure(d, 'strobe_query_memory_bytes') == 0), 'the memory is released')


PRUNED = re.compile(r'the smallest stacks, with [\d.]+ % of (\w+), are cut short at \[pruned\]')


def sum_of(folded):
    return sum(int(line.rsplit(' ', 1)[1]) for line in folded.splitlines())


@test
def a_run_over_the_query_memory_limit_is_pruned_with_a_warning():
    with Directory() as directory, Daemon(directory, '--query-memory', '64M') as d:
        many = 300000
        with open(f'{directory}/large.folded', 'w') as f:
            f.writelines(f'main;Module{i % 300};Class{i % 7000};method{i};leaf {i % 50 + 1}\n' for i in range(many))
        whole = sum(i % 50 + 1 for i in range(many))
        r = strobe('import', '--store', f'sqlite:{directory}/state', '--source', 'big', '--id', '1', f'{directory}/large.folded')
        check(r.returncode == 0, f'import has no memory limit: {r}')
        check(json.loads(d.get('/api/v1/runs?source=big'))['runs'][0]['nodes'] > 600000, 'a large run is listed')
        status, headers, text = ask(d, '/api/v1/runs/big/1?format=folded')
        check(status == 200 and PRUNED.search(headers.get('Strobe-Warning', '')), f'folded output carries the warning: {status} {headers} {text[:200]}')
        check(b'[pruned]' in text and sum_of(text.decode()) == whole, f'folded output adds up to {whole}')
        for path in ('/api/v1/runs/big/1', '/api/v1/runs/big/1/report', '/runs/big/1'):
            status, headers, text = ask(d, path)
            check(status == 200 and PRUNED.search(headers.get('Strobe-Warning', '')) and PRUNED.search(text.decode()),
                  f'{path} shows the warning: {status} {text[:300]}')
        for path in ('/api/v1/runs/big/1/flamegraph', '/runs/big/1/flamegraph.svg?reverse=1', '/api/v1/runs/big/1?format=strobe'):
            status, headers, _ = ask(d, path)
            check(status == 200 and PRUNED.search(headers.get('Strobe-Warning', '')), f'{path} shows the warning: {status} {headers}')
        check(figure(d, 'strobe_queries_pruned_total') >= 7, 'counted in the metrics')
        check(wait_for(lambda: figure(d, 'strobe_query_memory_bytes') == 0), 'the memory is released')


@test
def a_pruned_run_with_edges_keeps_the_values_of_its_largest_functions():
    with Directory() as directory, Daemon(directory, '--query-memory', '64M') as d:
        many = 90000
        edges = {'main()': {'ct': 1, 'wt': sum(range(many))}}
        for i in range(many):
            edges[f'main()==>f{i}'] = {'ct': i % 5 + 1, 'wt': i}
            edges[f'f{i}==>g{i % 100}'] = {'ct': 1, 'wt': i // 2}
        of_g = [sum(i // 2 for i in range(g, many, 100)) for g in range(100)]
        for g in range(100):
            edges[f'g{g}==>h'] = {'ct': g + 1, 'wt': of_g[g] // 2}
        with open(f'{directory}/large.xhprof', 'w') as f:
            json.dump(edges, f)
        r = strobe('import', '--store', f'sqlite:{directory}/state', '--source', 'big', '--id', 'edges', f'{directory}/large.xhprof')
        check(r.returncode == 0, f'imported: {r}')
        status, headers, text = ask(d, '/api/v1/runs/big/edges/report?column=wall_ns&limit=0')
        check(status == 200 and PRUNED.search(headers.get('Strobe-Warning', '')), f'the warning is present: {status} {headers} {text[:300]}')
        functions = {f['name']: f for f in json.loads(text)['functions']}

        def values(name):
            f = functions[name]
            return f['self']['calls'], f['total']['wall_ns'] // 1000, f['self']['wall_ns'] // 1000

        check(values('f89999') == (5, 89999, 45000), f'f89999: {values("f89999")}')
        check(values('g99') == (900, of_g[99], of_g[99] - of_g[99] // 2), f'g99: {values("g99")}')
        check(values('h') == (5050, sum(w // 2 for w in of_g), sum(w // 2 for w in of_g)), f'h: {values("h")}')
        check(sum(f['self']['wall_ns'] for f in functions.values()) == sum(range(many)) * 1000, 'the values add up to the total')
        check('[pruned]' in functions, 'the smallest functions are merged into [pruned]')


@test_in_full
def an_upload_that_takes_too_long_is_rejected_with_a_message():
    with Directory() as directory, Daemon(directory, '--query-memory', '256M') as d:
        threads, answers = post_many(d, slow_profile(), 1)
        check(wait_for(lambda: figure(d, 'strobe_query_memory_bytes') >= 4 << 20), 'memory of a running upload is counted')
        for t in threads:
            t.join(60)
        check(wait_for(lambda: figure(d, 'strobe_query_memory_bytes') == 0), 'the memory is released')
        [(status, text)] = answers
        check((status, json.loads(text)['error']) == (413, 'reading the profile exceeds the limit of 15 seconds; '
              "make it smaller, or use 'strobe import' on the daemon's machine"), f'{status} {text}')
        check('strobe_uploads_rejected_total{reason="deadline"} 1' in d.get('/metrics'), 'it is counted')
        check(ask(d, '/api/v1/runs?id=fine', 'POST', b'f 1\n')[0] == 201, 'the next upload is accepted')
        blanks = gzip.compress(b''.join(b'# perf\nmain' + b' ' * 65000 + b'y 4\n' for _ in range(1000)))
        check(ask(d, '/api/v1/runs?id=blanks', 'POST', blanks)[0] in (201, 400, 415), 'whitespace takes no time')
        check(d.stop() == 0, 'shutdown succeeds')


@test
def posting_and_deleting_require_the_token_if_one_is_configured():
    with Directory() as directory:
        with open(f'{directory}/token', 'w') as f:
            f.write('0123456789abcdef0123456789abcdef\n')
        os.chmod(f'{directory}/token', 0o600)
        with Daemon(directory, '--token-file', f'{directory}/token') as d:
            bearer = {'Authorization': 'Bearer 0123456789abcdef0123456789abcdef'}
            check(ask(d, '/api/v1/runs?id=1', 'POST', b'f 1\n')[0] in (401, 403), 'posting without the token is rejected')
            check(ask(d, '/api/v1/runs?id=1', 'POST', b'f 1\n', **bearer)[0] == 201, 'posting with the token is accepted')
            check(ask(d, '/api/v1/runs/default/1', 'DELETE')[0] in (401, 403), 'deleting without the token is rejected')


@test
def import_works_with_and_without_a_running_daemon():
    with Directory() as directory:
        store = ['--store', f'sqlite:{directory}/state']
        with open(f'{directory}/a.xhprof', 'w') as f:
            f.write(XHPROF)
        os.utime(f'{directory}/a.xhprof', (1_700_000_000, 1_700_000_000))
        before = strobe('import', *store, '--source', 'old', '--id', 'a', f'{directory}/a.xhprof')
        check(before.returncode == 0 and before.stdout == 'old/a\n', f'without: {before}')
        with Daemon(directory) as d:
            check(listed(d) == ['old/a'], 'the daemon lists the imported run')
            run = json.loads(d.get('/api/v1/runs'))['runs'][0]
            check(abs(run['start'] - 1_700_000_000) < 1, f'its time is the file\'s: {run["start"]}')
            s = connect(d.socket)
            imports = [subprocess.Popen([STROBE, 'import', *store, '--source', 'beside', '--name', f'copy {i}',
                                         f'{directory}/a.xhprof'],
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) for i in range(8)]
            for i in range(200):
                s.send(run_message(CALLS, labels(f'r{i}')))
            outs = [p.communicate(timeout=120)[0].strip() for p in imports]
            check(all(p.returncode == 0 for p in imports), 'all exit with 0')
            check(wait_for(lambda: counted(d, 'stored') == 200), f'{d.status()["runs"]}')
            check(sorted(outs) == sorted(listed(d, '?source=beside')), 'the printed ids are listed')
            check(d.status()['store']['runs'] == 209, f'{d.status()["store"]}')
            piped = strobe('import', *store, '--source', 'pipe', '--label', 'host=web1', '-', input='main;f 3\n')
            check(piped.returncode == 0 and piped.stdout.startswith('pipe/'), f'{piped}')
            check(listed(d, '?label.host=web1&source=pipe') == [piped.stdout.strip()], 'the run is found by its label')
            s.close()


@test
def runs_are_evicted_by_the_limits_of_serve():
    with Directory() as directory:
        with Daemon(directory) as d:
            s = connect(d.socket)
            for i in range(20):
                s.send(run_message(CALLS, labels(f'r{i}')))
            check(wait_for(lambda: counted(d, 'stored') == 20), 'stored')
            s.close()
            d.stop()
        with Daemon(directory, '--runs-count', '5', '--runs-age', '1', '--runs-size', '1G') as d:
            check(wait_for(lambda: d.status()['store']['runs'] == 5), 'five runs remain after startup')
            check(sorted(listed(d)) == sorted(f'shop/r{i}' for i in range(15, 20)), f'the newest runs remain: {listed(d)}')
            check(wait_for(lambda: d.status()['store']['runs_removed']['count'] == 15), 'evictions are counted')
            check('strobe_runs_removed_total{reason="count"} 15\n' in d.get('/metrics'), 'evictions are in the metrics')
    for options in (['--runs-size', 'lots'], ['--runs-age', '-1'], ['--runs-count', '-1']):
        r = strobe('serve', *options)
        check(r.returncode == 1 and options[0] in r.stderr, f'{options}: {r}')


# --- strobe run --trace, with a sender that does as the extension does ---

FAKE = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
from wire import connect, run_message, send_memfd
ini = [p for p in os.environ['PHP_INI_SCAN_DIR'].split(':') if 'strobe-run' in p][0] + '/strobe.ini'
settings = open(ini).read()
assert 'strobe.trace_rate=1\\n' in settings and 'strobe.instrument=1\\n' in settings and 'strobe.mode=off' in settings
path = settings.split("strobe.socket='")[1].split("'")[0]
COLUMNS = ('calls', 'wall_ns', 'cpu_ns', 'off_cpu_ns', 'memory_bytes')
def send(calls):
    s = connect(path)
    send_memfd(s, run_message(calls, {'source': 'cli', 'id': str(os.getpid())}, COLUMNS))
    s.close()
deep = int(sys.argv[2])
if os.fork() == 0:
    send([(0, 'main()', 1, 1000, 500, 500, 0), (1, 'child', 5, 4_000_000, 1_000_000, 3_000_000, -512)])
    os._exit(0)
os.wait()
send([(0, 'main()', 1, 2000, 2000, 0, 64)] + [(i + 1, 'down', 1, 100, 60, 40, 8) for i in range(deep)])
print('output')
sys.exit(3)
"""


def trace(directory, deep, *options):
    with open(f'{directory}/fake.py', 'w') as f:
        f.write(FAKE)
    return strobe('run', '--extension', EXTENSION, '--trace', *options, '--', 'python3', f'{directory}/fake.py',
                  os.path.dirname(os.path.abspath(__file__)), str(deep), cwd=directory)


@test
def run_trace_sums_parent_and_child_processes_and_writes_all_columns():
    if not os.path.exists(EXTENSION):
        raise Skip('the extension is not built')
    with Directory() as directory:
        r = trace(directory, 10)
        check(r.returncode == 3 and r.stdout == 'output\n', f'exit code and output of the command are preserved: {r}')
        check('17 calls in 2 traces' in r.stderr, r.stderr)
        check('calls' in r.stderr and 'off-CPU' in r.stderr and '-512 B' in r.stderr, r.stderr)
        first = r.stderr.splitlines()[2]
        check(first.split()[-1] == 'child' and '4.00 ms' in first, f'most wall time first: {first}')
        names = json.loads(strobe('report', '--json', '--metric', 'calls', cwd=directory).stdout)
        check(names['total'] == 17, f'{names}')
        for metric in ('wall_ns', 'cpu_ns', 'off_cpu_ns', 'memory_bytes', 'calls'):
            svg = strobe('flamegraph', '--metric', metric, 'profile.strobe', cwd=directory)
            check(svg.returncode == 0 and '<svg' in svg.stdout, f'{metric}: {svg.stderr}')
        wrong = strobe('flamegraph', '--metric', 'cycles', 'profile.strobe', cwd=directory)
        check(wrong.returncode == 2 and 'calls, wall_ns, cpu_ns' in wrong.stderr, wrong.stderr)
        kept = strobe('import', '--store', f'sqlite:{directory}/state', '--id', 'mine', 'profile.strobe', cwd=directory)
        check(kept.stdout == 'cli/mine\n', f'{kept}')


@test
def run_trace_handles_a_stack_of_two_hundred_thousand_calls():
    if not os.path.exists(EXTENSION):
        raise Skip('the extension is not built')
    with Directory() as directory:
        r = trace(directory, 200_000)
        check(r.returncode == 3 and '200,007 calls' in r.stderr, r.stderr)
        check(strobe('flamegraph', '-o', 'deep.svg', cwd=directory).returncode == 0, 'rendered as SVG')
        check('down' in strobe('report', cwd=directory).stdout, 'shown by strobe report')


@test
def the_reason_for_an_empty_trace_is_reported():
    if not os.path.exists(EXTENSION):
        raise Skip('the extension is not built')
    with Directory() as directory:
        r = strobe('run', '--extension', EXTENSION, '--trace', '--', 'true', cwd=directory)
        check(r.returncode == 0 and 'no trace arrived' in r.stderr and 'no PHP' in r.stderr, r.stderr)
        mixed = strobe('run', '--trace', '-F', '10', '--', 'true', cwd=directory)
        check(mixed.returncode == 125 and '-F' in mixed.stderr, mixed.stderr)


if __name__ == '__main__':
    main()
