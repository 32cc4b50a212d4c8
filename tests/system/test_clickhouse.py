"""ClickHouse as a store: what every store promises, on one server and on two; the same answers as SQLite; and samples that count
once, whatever happens to the daemon and to the servers. One pair of servers is shared, each test has a database of its own; tests that
end or hang servers share another pair, which has few tables and is therefore there again at once."""
import json
import os
import re
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request

from clickhouse_samples import Page, answers, collect, collected, samples_of, stacks, stored
from clickhouse_server import ClickHouse, Proxy
from strobe_test import ROOT, STROBE, Directory, Skip, check, main, test, wait_for

CONFORMANCE = os.environ.get('STROBE_STORE_TESTS', '').split(':')
DOCS = f'{ROOT}/docs/clickhouse.md'
shared, mortal = [], []


def started(pair):
    """Both of a pair, started when the first test needs them, and again when one ended one."""
    if not pair:
        pair.extend([ClickHouse(), ClickHouse()])
        for server in pair:
            server.join('both', [[s] for s in pair])
    return [s.start() for s in pair]


def servers():
    return started(shared)


def mortals():
    return started(mortal)


def both(database, more='', pair=shared):
    one, two = started(pair)
    return one.url(database, f'?shards={one.server},{two.server}{more}')


def drop_databases(prefix):
    """Each has eight tables, which the server looks after as long as they are there."""
    for server in servers():
        for name in server.ask('SHOW DATABASES').split():
            if name.startswith(prefix):
                server.ask(f'DROP DATABASE {name}')


def conforms(url, rows):
    """All programs at the same time: they mostly wait for answers. With `rows`, entries share their stacks, as in the daemon."""
    if not all(os.path.exists(program) for program in CONFORMANCE):
        raise Skip('the tests of stores are not built')
    programs = [(os.path.basename(program), subprocess.Popen([program], env={**os.environ, 'STORE_URL': url, **rows}, stdout=subprocess.PIPE,
                                                             stderr=subprocess.STDOUT, text=True)) for program in CONFORMANCE]
    for name, p in programs:
        said = p.communicate()[0]
        bad = [line for line in said.splitlines() if line.startswith(('not ok', '#'))]
        check(p.returncode == 0, f'{name}: ' + '; '.join(bad)[:2000])
        check(said.count('\nok - ') > 0, f'{name} has tests')
    drop_databases('test_')


@test
def one_server_keeps_what_every_store_promises():
    conforms(servers()[0].url('NEW'), {})
    conforms(servers()[0].url('NEW'), {'STROBE_TEST_ROWS': '1'})


@test
def two_shards_keep_what_every_store_promises():
    conforms(both('NEW'), {'STROBE_TEST_ROWS': '1'})


def real_lines():
    """Real stacks where they are at hand, else synthetic ones."""
    path = os.path.join(os.path.dirname(ROOT), 'shared', 'data', 'mediawiki.folded.zst')
    if not os.path.exists(path):
        return stacks(5000)
    text = subprocess.run(['zstd', '-dc', path], stdout=subprocess.PIPE, check=True).stdout.decode(errors='replace')
    return [line + '\n' for line in text.split('\n') if ' ' in line][:5000]


@test
def the_same_batches_give_the_same_answers_as_sqlite():
    one, two = servers()
    lines = real_lines()
    with Directory() as d:
        collected(lines, f'sqlite:{d}/sqlite', one.url('same'), both('same2'), directory=d)
        check(stored('same', one) == samples_of(lines), 'one server has all samples')
        parts = [stored('same2', s) for s in (one, two)]
        check(sum(parts) == samples_of(lines) and min(parts) > 0, f'two have them together: {parts}')
        end = int(one.ask('SELECT max(toUInt32(day) * 86400 + bucket * 10) FROM samples WHERE kind > 0', 'same'))
        found = {}
        for name, url in (('sqlite', f'sqlite:{d}/sqlite'), ('one', one.url('same')), ('two', both('same2'))):
            os.mkdir(f'{d}/page-{name}')
            with Page(f'{d}/page-{name}', url) as page:
                found[name] = answers(page, end)
        for name in ('one', 'two'):
            for what, value in found['sqlite'].items():
                check(found[name][what] == value, f'{what} of {name}: {str(found[name][what])[:300]}, not {str(value)[:300]}')
        check(len(found['sqlite']['folded']) > 100, 'there is something to compare')


@test
def stacks_that_a_query_has_read_are_not_asked_for_again():
    server = servers()[0]
    lines = stacks(5000)
    with Directory() as d, Proxy(server, 'nothing that is said') as proxy:
        collected(lines, server.url('once'), directory=d)
        end = int(server.ask('SELECT max(toUInt32(day) * 86400 + bucket * 10) FROM samples WHERE kind > 0', 'once'))
        with Page(d, proxy.url('once')) as page:
            def ask(later):
                return page.get(f'/api/v1/profile?from={end - 3600}&to={end + later}&format=folded')
            first = ask(10)
            proxy.pattern = re.compile(rb'FROM (stacks|frames)')
            second = ask(20)
        check(sorted(first.splitlines()) == sorted(second.splitlines()), 'both have the same stacks')
        check(sum(int(line.rsplit(' ', 1)[1]) for line in second.splitlines()) == samples_of(lines), 'all of them')
        check(not proxy.cut.is_set(), 'the second query, in a process of its own, reads neither stacks nor frames')


@test
def a_server_killed_between_names_and_samples_loses_nothing():
    server = mortals()[0]
    lines = stacks(5000)
    server.ask('CREATE DATABASE IF NOT EXISTS killed')
    with Directory() as d, Proxy(server, 'INSERT INTO samples', server.kill) as proxy:
        p = collect(proxy.url('killed'), directory=d)
        p.stdin.write(''.join(lines))
        p.stdin.flush()
        check(proxy.cut.wait(120), 'the server was killed')
        server.start()
        check(int(server.ask('SELECT count() FROM stacks', 'killed')) > 0, 'names had come')
        check(int(server.ask('SELECT count() FROM samples', 'killed')) == 0, 'samples had not')
        p.communicate(timeout=300)
        check(stored('killed', server) == samples_of(lines), f'all count once: {stored("killed", server)} of {samples_of(lines)}')


@test
def an_insert_whose_answer_is_lost_counts_once():
    server = servers()[0]
    lines = stacks(5000)
    with Directory() as d, Proxy(server, 'INSERT INTO samples', after=True) as proxy:
        collected(lines, proxy.url('lost'), directory=d)
        check(proxy.cut.is_set(), 'an answer was lost')
        check(stored('lost', server) == samples_of(lines), f'{stored("lost", server)} of {samples_of(lines)}')
        check(int(server.ask('SELECT count() FROM (SELECT stack, series FROM samples WHERE kind = 0 GROUP BY stack, series HAVING'
                             ' count() > 1)', 'lost')) == 0, 'each piece has one marker')


@test
def a_server_killed_after_an_insert_counts_it_once():
    server = mortals()[0]
    lines = stacks(5000)
    with Directory() as d, Proxy(server, 'INSERT INTO samples', server.kill, after=True) as proxy:
        p = collect(proxy.url('after'), directory=d)
        p.stdin.write(''.join(lines))
        p.stdin.flush()
        check(proxy.cut.wait(120), 'the server was killed')
        server.start()
        p.communicate(timeout=300)
        check(stored('after', server) == samples_of(lines), f'{stored("after", server)} of {samples_of(lines)}')


@test
def a_daemon_killed_between_names_and_samples_sends_them_again():
    server = servers()[0]
    lines = stacks(5000)
    for after in (False, True):
        database = f'daemon{int(after)}'
        with Directory() as d:
            with open(f'{d}/lines', 'w') as f:
                f.write(''.join(lines))
            children = []
            with Proxy(server, 'INSERT INTO samples', lambda: children[0].kill(), after=after) as proxy:
                children.append(collect(proxy.url(database), directory=d, source=f'file:{d}/lines'))
                check(proxy.cut.wait(120), 'the daemon was killed')
                check(children[0].wait(60) == -signal.SIGKILL, 'and is gone')
                second = collect(proxy.url(database), directory=d, source=f'file:{d}/lines')
                whole = wait_for(lambda: stored(database, server) >= samples_of(lines), 120)
                second.terminate()
                second.communicate(timeout=60)
                children[0].communicate()
            check(whole and stored(database, server) == samples_of(lines), f'{stored(database, server)} of {samples_of(lines)}')


@test
def samples_wait_while_clickhouse_is_down():
    server = mortals()[0]
    lines = stacks(5000)
    server.kill()
    with Directory() as d:
        p = collect(server.url('down'), directory=d)
        p.stdin.write(''.join(lines))
        p.stdin.flush()
        said = [p.stderr.readline() for _ in range(2)]
        check(any('no samples can be stored there until it is available' in line for line in said), f'it says so: {said}')
        server.start()
        p.communicate(timeout=300)
        check(stored('down', server) == samples_of(lines), 'nothing is lost')


@test
def a_shard_that_is_away_is_named_and_the_rest_is_shown():
    one, two = mortals()
    lines = stacks(5000)
    with Directory() as d:
        collected(lines, both('away', pair=mortal), directory=d)
        second = stored('away', two)
        with Page(d, both('away', pair=mortal)) as page:
            for away in (two.pause, two.kill):
                away()
                with urllib.request.urlopen(page.daemon.url + '/api/v1/profile?from=-2h', timeout=60) as r:
                    warning, answer = r.headers['Strobe-Warning'], json.loads(r.read())
                check(two.server in (warning or '') and one.server not in warning, f'the header names it: {warning}')
                check(two.server in answer.get('warning', ''), 'so does the answer')
                check(answer['looked']['samples'] == samples_of(lines) - second, 'the other half is there')
                with urllib.request.urlopen(page.daemon.url + '/api/v1/labels?from=-2h', timeout=60) as r:
                    check(two.server in (r.headers['Strobe-Warning'] or ''), 'labels say so, too')
                    check(two.server in json.loads(r.read())['warning'], 'in their JSON, too')
                check(two.server in json.loads(page.get('/api/v1/timeline?from=-2h'))['warning'], 'the timeline says so')
                check(two.server in json.loads(page.get('/api/v1/runs'))['warning'], 'the list of runs says so')
                check(f'no answer from {two.server}' in page.get('/runs'), 'and its page')
                check(two.server in page.get('/?from=-2h'), 'and the page')
                answers = [(status_of(page, f'/api/v1/runs/shop/n{i}'), time.monotonic()) for i in range(2)]
                check(all(code == 503 and two.server in text for (code, text), _ in answers), f'a run that may be there: {answers}')
                check(answers[1][1] - answers[0][1] < 5, f'no long wait for it: {answers}')
                began = time.monotonic()
                posted = [status_of(page, f'/api/v1/runs?source=shop&id={away.__name__}{i}', 'POST', b'main;work 3') for i in range(4)]
                check(all(code in (201, 503) for code, _ in posted), f'runs are stored, or to be sent again: {posted}')
                check(time.monotonic() - began < 25, f'without long waits: {time.monotonic() - began}')
                if away is two.pause:
                    two.resume()
            two.start()
            answer = json.loads(page.get('/api/v1/profile?from=-2h'))
            check('warning' not in answer and answer['looked']['samples'] == samples_of(lines), 'it comes back')


def readiness(page):
    """The status and the text of /readyz, and how long they took."""
    began = time.monotonic()
    try:
        with urllib.request.urlopen(page.daemon.url + '/readyz', timeout=60) as r:
            return r.status, r.read().decode(), time.monotonic() - began
    except urllib.error.HTTPError as e:
        return e.code, e.read().decode(), time.monotonic() - began


@test
def a_client_of_little_patience_gets_the_other_shard_and_the_name_of_the_one_that_hangs():
    one, two = mortals()
    lines = stacks(500)
    with Directory() as d:
        collected(lines, both('patience', pair=mortal), directory=d)
        first = stored('patience', one)
        with Page(d, both('patience', pair=mortal)) as page:
            now = int(time.time() * 1000)
            body = {'profileTypeID': 'wall:samples:count:wall:nanoseconds', 'labelSelector': '{}', 'start': now - 7200_000, 'end': now}
            types = page.daemon.url + '/querier.v1.QuerierService/ProfileTypes'
            r = urllib.request.Request(types, json.dumps({'start': now - 7200_000, 'end': now}).encode(), {'Content-Type': 'application/json'})
            with urllib.request.urlopen(r, timeout=60) as answer:
                kinds = [t['ID'] for t in json.loads(answer.read())['profileTypes']]
            body['profileTypeID'] = next(k for k in kinds if ':samples:count:' in k)
            two.pause()
            try:
                r = urllib.request.Request(page.daemon.url + '/querier.v1.QuerierService/SelectMergeStacktraces', json.dumps(body).encode(),
                                           {'Content-Type': 'application/json', 'Connect-Timeout-Ms': '3000'})
                with urllib.request.urlopen(r, timeout=60) as answer:
                    warning, graph = answer.headers['Strobe-Warning'] or '', json.loads(answer.read())['flamegraph']
                check(two.server in warning and one.server not in warning, f'the header names it: {warning}')
                check(int(graph['total']) == first, f'the other half is there: {graph["total"]} of {first}')
            finally:
                two.resume()


@test
def a_daemon_is_not_ready_while_a_shard_hangs():
    one, two = mortals()
    with Directory() as d, Page(d, both('ready', pair=mortal)) as page:
        check(readiness(page)[:2] == (200, 'ok\n'), f'ready at first: {readiness(page)}')
        two.pause()
        try:
            for _ in range(2):
                status, text, seconds = readiness(page)
                check(status == 503 and two.server in text and one.server not in text, f'it names the shard: {status} {text}')
                check(seconds < 5, f'in bounded time: {seconds}')
            one.pause()
            names = ', '.join(sorted((one.server, two.server)))
            check(wait_for(lambda: f'{names} do not answer' in readiness(page)[1], 30), f'it names both: {readiness(page)}')
            one.resume()
            with urllib.request.urlopen(page.daemon.url + '/ingest?name=shop.cpu', data=b'main;work 3', timeout=20) as r:
                check(r.status == 200, 'samples are accepted and queued')
        finally:
            one.resume()
            two.resume()
        check(wait_for(lambda: readiness(page)[0] == 200, 30), f'and ready again: {readiness(page)}')


@test
def a_cluster_gets_tables_that_read_all_shards():
    one, two = servers()
    lines = stacks(2000)
    with Directory() as d:
        collected(lines, both('cluster'), directory=d)
        collected(lines, both('cluster', '&cluster=both'), directory=d)
        each = [stored('cluster', s) for s in (one, two)]
        check(min(each) > 0 and sum(each) == 2 * samples_of(lines), f'each shard got its samples: {each}')
        for server in (one, two):
            check(int(server.ask('SELECT sum(value) FROM samples_all WHERE kind > 0', 'cluster')) == sum(each), 'any shard reads all')
            joined = server.ask('SELECT sum(n) FROM (SELECT stack, sum(value) AS n FROM samples_all WHERE kind > 0 GROUP BY stack) ANY INNER JOIN'
                                ' (SELECT stack, frames FROM stacks_all) USING stack WHERE length(frames) = 5', 'cluster')
            check(int(joined) == sum(each), f'with their stacks: {joined}')
            local = server.ask('SELECT sum(value) FROM samples_all ANY INNER JOIN (SELECT stack, frames FROM cluster.stacks) USING stack'
                               ' WHERE kind > 0 AND length(frames) = 5', 'cluster')
            check(int(local) == sum(each), f'joined on each shard by itself: {local}')
        try:
            one.ask('INSERT INTO samples_all SELECT * FROM samples', 'cluster')
            check(False, 'nothing is inserted through them')
        except RuntimeError as e:
            check('sharding key' in str(e), f'it is refused for what it has not: {e}')
        for shards, cluster, word in ((f'{two.server},{one.server}', 'both', "in the cluster's order"),
                                      (one.server, 'both', 'has 2 shards'),
                                      (f'{one.server},{two.server}', 'none', "has no cluster 'none'")):
            p = collect(one.url('cluster', f'?shards={shards}&cluster={cluster}'), directory=d)
            said = p.communicate('a;b 1\n', timeout=300)[1]
            check(p.returncode and word in said, f'{word}: {said}')
        check(sum(stored('cluster', s) for s in (one, two)) == sum(each), 'and nothing was stored')


@test
def one_server_by_two_names_is_no_pair_of_shards():
    server = servers()[0]
    with Directory() as d:
        for other, word in ((server.server, 'twice; remove one of them'), (f'localhost:{server.port}', 'is one of those before it')):
            p = collect(server.url('twice', f'?shards={server.server},{other}'), directory=d)
            said = p.communicate('a;b 1\n', timeout=300)[1]
            check(p.returncode and word in said, f'{other}: {said}')
        check('twice' not in server.ask('SHOW DATABASES'), 'nothing was created')


@test
def a_question_above_the_limits_is_refused_with_a_sentence():
    server = servers()[0]
    with Directory() as d:
        collected([f'index.php;main;f{i};g{i % 7} 1\n' for i in range(120000)], server.url('limits'), directory=d)
        with Page(d, server.url('limits', '?memory=16m')) as page:        # the range of the store takes 8 MB, by what parts there are
            for path in ('/api/v1/profile?from=-8760h', '/?from=-8760h'):
                try:
                    page.get(path)
                    check(False, f'{path} is refused')
                except urllib.error.HTTPError as e:
                    text = e.read().decode()
                    check(e.code == 503 and 'exceeded its memory limit' in text and 'shorter range' in text, f'{path}: {text}')


def imported(url, *arguments):
    return subprocess.Popen([STROBE, 'import', '--store', url, *arguments, f'{ROOT}/tests/data/cart.xhprof'],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@test
def two_that_add_a_run_of_one_name_store_one():
    url = both('runs')
    same = [imported(url, '--source', 'shop', '--id', 'same') for _ in range(4)]
    said = [p.communicate(timeout=120)[1] for p in same]
    check(all(p.returncode == 0 for p in same), f'all are content: {said}')
    check(sum('already stored' in text for text in said) == 3, f'three find it there: {said}')
    other = [imported(url, '--source', 'shop', '--id', 'other', '--label', f'n={i}') for i in range(4)]
    said = [p.communicate(timeout=120)[1] for p in other]
    check(sorted(p.returncode for p in other) == [0, 2, 2, 2], f'one wins: {said}')
    check(sum("there is another run 'other'" in text for text in said) == 3, f'the others are told: {said}')
    check(sum(int(s.ask('SELECT count() FROM runs', 'runs')) for s in servers()) == 2, 'two are there')


def status_of(page, path, method='GET', data=None):
    r = urllib.request.Request(page.daemon.url + path, data, method=method)
    try:
        with urllib.request.urlopen(r, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as e:
        return e.code, e.read().decode()


def runs_stored(database, pair):
    return sum(int(s.ask('SELECT count() FROM runs WHERE seq NOT IN (SELECT seq FROM runs_removed)', database)) for s in pair)


@test
def runs_are_found_after_a_shard_was_added():
    one, two = servers()
    names = [f'r{i}' for i in range(12)]
    post = lambda page, name, text: status_of(page, f'/api/v1/runs?source=shop&id={name}', 'POST', text.encode())
    with Directory() as d:
        with Page(d, one.url('grown')) as page:
            check(all(post(page, n, f'main;{n} 3\n')[0] == 201 for n in names), 'runs are stored in one server')
        with Page(d, both('grown')) as page:
            for n in names:
                status, text = status_of(page, f'/api/v1/runs/shop/{n}?format=folded')
                check(status == 200 and f'main;{n} 3' in text, f'{n} is found: {status} {text[:200]}')
                status, text = post(page, n, f'main;{n} 3\n')
                check(status == 200 and not json.loads(text)['stored'], f'and known: {status} {text[:200]}')
                status, text = post(page, n, f'main;{n} 4\n')
                check(status == 409, f'another one of its name is refused: {status} {text[:200]}')
            check(len(json.loads(status_of(page, '/api/v1/runs?source=shop&limit=100')[1])['runs']) == len(names), 'each is listed once')
            for n in names[:6]:
                check(status_of(page, f'/api/v1/runs/shop/{n}', 'DELETE')[0] in (200, 204), f'{n} is removed')
                check(status_of(page, f'/api/v1/runs/shop/{n}')[0] == 404, f'{n} is gone')
                check(post(page, n, f'main;{n} 5\n')[0] == 201, f'{n} is stored again')
            check(runs_stored('grown', (one, two)) == len(names) and runs_stored('grown', (two,)) > 0, 'some of these in the new one')
        with Page(d, two.url('grown', f'?shards={two.server},{one.server}')) as page:
            check(all(status_of(page, f'/api/v1/runs/shop/{n}')[0] == 200 for n in names), 'all are found in another order')


@test
def tables_that_disappear_under_a_daemon_are_created_again():
    one, two = pair = servers()
    with Directory() as d, Page(d, both('emptied')) as page:
        def ingest(tag):
            lines = ''.join(f'main;{tag}{i} 1\n' for i in range(40)).encode()
            check(status_of(page, f'/ingest?name={tag}.cpu', 'POST', lines)[0] == 200, f'{tag} is taken')

        def functions():
            status, text = status_of(page, '/api/v1/profile?from=-2h&format=folded')
            return sorted({line.split(';')[1].split()[0] for line in text.splitlines()}) if status == 200 else [text]
        ingest('first')
        check(wait_for(lambda: len(functions()) == 40), 'forty are there')
        two.ask('DROP DATABASE emptied')
        ingest('second')
        check(wait_for(lambda: sum('second' in f for f in functions()) == 40, 100), f'all that comes then: {functions()[:3]}')
        check(all('first' in f or 'second' in f for f in functions()), f'by their names: {functions()}')
        for table in ('frames', 'schema'):
            one.ask(f'DROP TABLE {table}', 'emptied')
            ingest(table)
            check(wait_for(lambda: sum(table in f for f in functions()) == 40, 100), f'nor without {table}: {functions()[:3]}')
        check(wait_for(lambda: readiness(page)[0] == 200, 30), 'it is ready')
    check(any('recreated tables' in line for line in page.daemon.said.lines()), 'the log says so')


@test
def names_are_sent_again_where_another_daemon_created_the_tables():
    server = servers()[0]
    url = server.url('renewed')
    with Directory() as d, Page(d, url) as page, Directory() as other:
        def shown():
            status, text = status_of(page, '/api/v1/profile?from=-2h&format=folded')
            return text
        ingest = lambda: status_of(page, '/ingest?name=shop.cpu', 'POST', b'main;work 1\n')
        ingest()
        check(wait_for(lambda: 'main;work' in shown()), 'it is there')
        # As if nothing of this daemon had met them while they were gone.
        page.daemon.process.send_signal(signal.SIGSTOP)
        server.ask('DROP DATABASE renewed')
        collected(['other;thing 1\n'], url, directory=other)
        page.daemon.process.send_signal(signal.SIGCONT)
        ingest()
        check(wait_for(lambda: ingest() and 'main;work' in shown(), 100), f'its names are sent again: {shown()}')
        check(wait_for(lambda: 'other;thing' in shown()), 'beside those of the other one')


@test
def sums_stay_right_when_a_shard_lost_the_kinds_of_its_samples():
    one, two = servers()
    lines = stacks(200)

    def forget_kinds(server):
        server.ask('ALTER TABLE kinds DELETE WHERE kind > 0', 'kindless')
        check(wait_for(lambda: int(server.ask('SELECT count() FROM kinds', 'kindless')) == 0, 60), 'they are gone')
    with Directory() as d:
        collected(lines, both('kindless'), directory=d)
        end = int(one.ask('SELECT max(toUInt32(day) * 86400 + bucket * 10) FROM samples WHERE kind > 0', 'kindless'))
        check(stored('kindless', one) > 0 and stored('kindless', two) > 0, 'both have samples')
        with Page(d, both('kindless')) as page:
            def found():
                sums = status_of(page, f'/pyroscope/render?query=samples:samples:count::{{}}&from={end - 600}&until={end + 600}')
                return {**answers(page, end), 'sums': sums}
            before = found()
            check(sum(json.loads(before['sums'][1])['timeline']['samples']) == samples_of(lines), before['sums'])
            check(sum(before['time line']) == samples_of(lines), f'all are there: {before["looked"]}')
            forget_kinds(two)
            check(found() == before, f'nothing is missing: {found()["looked"]}')
            two.ask("INSERT INTO kinds VALUES (77, 1, 0, 0, 'samples', 'count', 0)", 'kindless')
            check(found() == before, f'nor if it knows another one: {found()["looked"]}')
            check(not any('their kind' in line for line in page.daemon.said.lines()), 'so there is nothing to say')
            forget_kinds(two)
            forget_kinds(one)
            check(sum(found()['time line']) == 0 and not found()['folded'], 'where no shard has them, nothing can be shown')
            said = lambda: [line for line in page.daemon.said.lines() if 'their kind is in no server' in line]
            check(wait_for(said) and len(said()) == 1, f'which the log says once: {page.daemon.said.lines()}')


@test
def labels_that_a_server_lost_come_back_from_the_others():
    one, two = pair = servers()
    unlabelled = lambda s: int(s.ask('SELECT count() FROM samples WHERE kind > 0 AND series NOT IN (SELECT series FROM series)', 'unlabelled'))
    lose = lambda s: s.ask('TRUNCATE TABLE series', 'unlabelled')
    with Directory() as d:
        for name in 'shop', 'blog':
            with Page(d, both('unlabelled')) as page:
                lines = ''.join(f'main;f{i} 3\n' for i in range(200))
                check(status_of(page, f'/ingest?name={name}', 'POST', lines.encode())[0] == 200, 'accepted')
                of = lambda n: samples_of(status_of(page, f'/api/v1/profile?from=-1h&service_name={n}&format=folded')[1].splitlines())
                check(wait_for(lambda: of(name) == 600), f'all are there: {of(name)}')
        lose(two)
        check(unlabelled(two) > 0, 'it has lost them')
        with Page(d, both('unlabelled')) as page:
            check(wait_for(lambda: of('shop') == of('blog') == 600, 20), f'they are back: {of("shop")}, {of("blog")}')
            check(any('copied from the other servers' in line for line in page.daemon.said.lines()), 'the log says so')
        for s in pair:
            lose(s)
        with Page(d, both('unlabelled')) as page:
            said = lambda: [line for line in page.daemon.said.lines() if 'no other server has them' in line]
            check(wait_for(lambda: len(said()) == 2, 20), f'where none has them, the log says so: {page.daemon.said.lines()}')


@test
def notes_about_removed_runs_go_when_the_runs_are_gone():
    one, two = pair = servers()
    noted = lambda: [int(s.ask('SELECT count() FROM runs_removed', 'swept')) for s in pair]
    with Directory() as d:
        with Page(d, both('swept')) as page:
            for i in range(20):
                check(status_of(page, f'/api/v1/runs?source=shop&id=r{i}', 'POST', f'main;f{i} 3\n'.encode())[0] == 201, 'stored')
        for s in pair:          # of runs of long ago
            s.ask('INSERT INTO runs_removed SELECT 202601, number + 1 FROM system.numbers LIMIT 2000', 'swept')
        with Page(d, both('swept'), '--runs-count', '5') as page:
            check(wait_for(lambda: max(noted()) <= 20), f'they are swept up: {noted()}')
            check(wait_for(lambda: sum(int(s.ask('SELECT count() FROM runs', 'swept')) for s in pair) == 5), 'so are the runs')
            ids = sorted(r['id'] for r in json.loads(status_of(page, '/api/v1/runs?source=shop')[1])['runs'])
            check(ids == sorted(f'r{i}' for i in range(15, 20)), f'the newest are left: {ids}')
            check(sum(noted()) == 15, f'notes about runs that were stored a moment ago stay: {noted()}')


@test
def runs_are_rewritten_only_when_many_of_them_are_removed():
    server = servers()[0]
    mutations = lambda table, more='': int(server.ask('SELECT count() FROM system.mutations WHERE database = currentDatabase()'
                                                      f" AND table = '{table}'{more}", 'rewritten'))
    rows = lambda: int(server.ask('SELECT count() FROM runs', 'rewritten'))
    ids = [f'r{i:02}' for i in range(40)]

    def removed_and_maintained(names, also=lambda page: None):
        """A daemon's first maintenance comes soon, and sweeps up notes of long ago after it has decided about runs."""
        with Page(d, server.url('rewritten')) as page:
            also(page)
            for name in names:
                check(status_of(page, f'/api/v1/runs/shop/{name}', 'DELETE')[0] in (200, 204), f'{name} is removed')
        before = mutations('runs_removed')
        server.ask('INSERT INTO runs_removed SELECT 202601, number + 1 FROM system.numbers LIMIT 2000', 'rewritten')
        with Page(d, server.url('rewritten')) as page:
            check(wait_for(lambda: mutations('runs_removed') > before, 100), 'maintenance was there')
            check(wait_for(lambda: not mutations('runs', ' AND is_done = 0') and not mutations('runs_removed', ' AND is_done = 0')), 'done')
            return sorted(r['id'] for r in json.loads(status_of(page, '/api/v1/runs?source=shop&limit=100')[1])['runs'])

    def store_all(page):
        for name in ids:
            check(status_of(page, f'/api/v1/runs?source=shop&id={name}', 'POST', f'main;{name} 3\n'.encode())[0] == 201, 'stored')
    with Directory() as d:
        removed_and_maintained(ids[:1], store_all)
        check(mutations('runs') == 1 and rows() == 39, f'the first of a day is deleted at once: {rows()}')
        removed_and_maintained(ids[1:3])
        check(mutations('runs') == 1 and rows() == 39, f'two of 39 are left for later: {rows()}')
        listed = removed_and_maintained(ids[3:10])
        check(mutations('runs') == 2 and rows() == 30, f'nine are deleted together: {rows()}')
        check(listed == ids[10:], f'the others are there: {listed}')


@test
def two_sinks_with_a_server_and_a_database_in_common_are_refused():
    one, two = servers()
    alias = f'clickhouse://localhost:{two.server.rsplit(":", 1)[1]}/overlap'

    def serve(d, config):
        with open(f'{d}/config.yaml', 'w') as f:
            f.write(config)
        return [STROBE, 'serve', '--config', f'{d}/config.yaml', '--listen', '127.0.0.1:0']
    with Directory() as d:
        start = f'store: "{both("overlap")}"\nstate: {d}/state\nfrom:\n  - unix:{d}/strobe.sock\n'
        p = subprocess.run(serve(d, f'{start}to:\n  - "{alias}"\n'), capture_output=True, text=True, timeout=60)
        said = p.stdout + p.stderr
        check(p.returncode and 'the store of the page and a sink write to one database' in said and 'twice' in said, said)
        p = collect(both('overlap'), alias, directory=d)
        said = p.communicate('a;b 1\n', timeout=60)[1]
        check(p.returncode and 'two sinks write to one database of the ClickHouse server localhost' in said, said)
        p = subprocess.Popen(serve(d, start), stderr=subprocess.PIPE, text=True)
        lines = []
        reader = threading.Thread(target=lambda: lines.extend(iter(p.stderr.readline, '')), daemon=True)
        reader.start()
        try:
            check(wait_for(lambda: any('listening on' in line for line in lines), 60), f'it starts: {lines}')
            serve(d, f'{start}to:\n  - "{alias}"\n')
            p.send_signal(signal.SIGHUP)
            check(wait_for(lambda: any('the store of the page and a sink write to one database' in line for line in lines), 30), f'refused: {lines}')
            serve(d, f'{start}to:\n  - "{alias}2"\n')
            p.send_signal(signal.SIGHUP)
            check(wait_for(lambda: two.ask('SHOW DATABASES').split().count('overlap2'), 30), f'another database is fine: {lines}')
            serve(d, f'{start}to:\n  - "{alias}2?timeout=20s"\n')
            p.send_signal(signal.SIGHUP)
            check(wait_for(lambda: any('timeout=20s' in line for line in lines), 30), f'and so is another URL instead: {lines}')
            check(not any('two sinks' in line for line in lines), f'{lines}')
        finally:
            p.terminate()
            check(p.wait(60) == 0, f'it goes on until it is stopped: {lines}')
            reader.join(10)
            p.stderr.close()


@test
def passwords_come_from_files_and_are_not_shown():
    with ClickHouse(password='geheim7') as server, Directory() as d:
        with open(f'{d}/password', 'w') as f:
            f.write('geheim7\n')
        url = server.url('secret', f'?password-file={d}/password').replace('//', '//default@')
        collected(stacks(10), url, directory=d)
        check(stored('secret', server) > 0, 'samples are there')
        p = collect(server.url('secret').replace('//', '//default:wrong9@'), directory=d)
        said = p.communicate('a;b 1\n', timeout=60)[1]
        check(p.returncode and 'wrong' in said and 'wrong9' not in said and 'geheim7' not in said, said)


def sql_of_docs():
    with open(DOCS) as f:
        return re.findall(r'```sql\n(.*?)```', f.read(), re.S)


@test
def the_schema_of_the_docs_is_the_schema():
    server = servers()[0]
    with Directory() as d:
        collected(stacks(100), server.url('schema1'), directory=d)
    server.ask('CREATE DATABASE schema2')
    tables = [s for block in sql_of_docs() for s in block.split(';') if 'CREATE TABLE' in s]
    for sql in tables:
        server.ask(sql, 'schema2')
    shown = [server.ask("SELECT name, engine, partition_key, sorting_key FROM system.tables WHERE database = 'schema%d' ORDER BY name" % i)
             + server.ask("SELECT table, name, type FROM system.columns WHERE database = 'schema%d' ORDER BY table, name" % i) for i in (1, 2)]
    check(shown[0] == shown[1] and len(tables) == 8, f'{len(tables)} tables: {shown}')


@test
def the_questions_of_the_docs_have_answers():
    server = servers()[0]
    with Directory() as d:
        collected(stacks(2000), server.url('docs'), directory=d)
        imported(server.url('docs'), '--source', 'shop').communicate()
    count = 0
    for block in sql_of_docs():
        for sql in block.split(';'):
            if not sql.strip() or 'CREATE TABLE' in sql or 'newer servers' in block:
                continue
            answer = server.ask(sql, 'docs')
            count += 1
            check(answer or 'SELECT' not in sql.split('\n')[0], f'{sql[:200]} has no answer')
    check(count > 8, f'{count} questions')


try:
    main()
finally:
    for s in shared + mortal:
        s.__exit__()
