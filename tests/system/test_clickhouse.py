"""ClickHouse as a store: the same answers as SQLite; samples that count once, whatever happens to the daemon and to the servers; runs; and
the statements of the docs."""
import json
import os
import re
import signal
import subprocess
import threading
import urllib.error

from clickhouse_pair import both, mortals, run_tests, servers, status_of
from clickhouse_samples import Page, answers, collect, collected, samples_of, stacks, stored
from clickhouse_server import ClickHouse, Proxy
from strobe_test import ROOT, STROBE, Directory, check, test, wait_for

DOCS = f'{ROOT}/docs/clickhouse.md'


def real_lines():
    """Real stacks where they are at hand, else synthetic ones."""
    path = os.path.join(os.path.dirname(ROOT), 'shared', 'data', 'mediawiki.folded.zst')
    if not os.path.exists(path):
        return stacks(5000)
    text = subprocess.run(['zstd', '-dc', path], stdout=subprocess.PIPE, check=True).stdout.decode(errors='replace')
    return [line + '\n' for line in text.split('\n') if ' ' in line][:5000]


@test
def clickhouse_and_sqlite_answer_queries_identically_for_the_same_batches():
    one, two = servers()
    lines = real_lines()
    with Directory() as d:
        collected(lines, f'sqlite:{d}/sqlite', one.url('same'), both('same2'), directory=d)
        check(stored('same', one) == samples_of(lines), 'a single server stores all samples')
        parts = [stored('same2', s) for s in (one, two)]
        check(sum(parts) == samples_of(lines) and min(parts) > 0, f'two shards store all samples together: {parts}')
        end = int(one.ask('SELECT max(toUInt32(day) * 86400 + bucket * 10) FROM samples WHERE kind > 0', 'same'))
        found = {}
        for name, url in (('sqlite', f'sqlite:{d}/sqlite'), ('one', one.url('same')), ('two', both('same2'))):
            os.mkdir(f'{d}/page-{name}')
            with Page(f'{d}/page-{name}', url) as page:
                found[name] = answers(page, end)
        for name in ('one', 'two'):
            for what, value in found['sqlite'].items():
                check(found[name][what] == value, f'{what} of {name}: {str(found[name][what])[:300]}, not {str(value)[:300]}')
        check(len(found['sqlite']['folded']) > 100, 'there are enough stacks to compare')


@test
def stacks_read_by_one_query_are_cached_for_the_next():
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
        check(sorted(first.splitlines()) == sorted(second.splitlines()), 'both queries return the same stacks')
        check(sum(int(line.rsplit(' ', 1)[1]) for line in second.splitlines()) == samples_of(lines), 'the second query returns all samples')
        check(not proxy.cut.is_set(), 'the second query, in a process of its own, reads neither stacks nor frames')


@test
def no_samples_are_lost_when_the_server_is_killed_between_names_and_samples():
    server = mortals()[0]
    lines = stacks(5000)
    server.ask('CREATE DATABASE IF NOT EXISTS killed')
    with Directory() as d, Proxy(server, 'INSERT INTO samples', server.kill) as proxy:
        p = collect(proxy.url('killed'), directory=d)
        p.stdin.write(''.join(lines))
        p.stdin.flush()
        check(proxy.cut.wait(120), 'the server was killed')
        server.start()
        check(int(server.ask('SELECT count() FROM stacks', 'killed')) > 0, 'names were stored')
        check(int(server.ask('SELECT count() FROM samples', 'killed')) == 0, 'samples were not yet stored')
        p.communicate(timeout=300)
        check(stored('killed', server) == samples_of(lines), f'every sample is stored once: {stored("killed", server)} of {samples_of(lines)}')


@test
def an_insert_whose_response_is_lost_is_deduplicated_on_retry():
    server = servers()[0]
    lines = stacks(5000)
    with Directory() as d, Proxy(server, 'INSERT INTO samples', after=True) as proxy:
        collected(lines, proxy.url('lost'), directory=d)
        check(proxy.cut.is_set(), 'a response was lost')
        check(stored('lost', server) == samples_of(lines), f'{stored("lost", server)} of {samples_of(lines)}')
        check(int(server.ask('SELECT count() FROM (SELECT stack, series FROM samples WHERE kind = 0 GROUP BY stack, series HAVING'
                             ' count() > 1)', 'lost')) == 0, 'each inserted block has one marker')


@test
def an_insert_is_deduplicated_when_the_server_is_killed_after_it():
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
def samples_are_sent_again_when_the_daemon_is_killed_between_names_and_samples():
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
                check(children[0].wait(60) == -signal.SIGKILL, 'the daemon has exited')
                second = collect(proxy.url(database), directory=d, source=f'file:{d}/lines')
                whole = wait_for(lambda: stored(database, server) >= samples_of(lines), 120)
                second.terminate()
                second.communicate(timeout=60)
                children[0].communicate()
            check(whole and stored(database, server) == samples_of(lines), f'{stored(database, server)} of {samples_of(lines)}')


@test
def samples_are_queued_while_clickhouse_is_down():
    server = mortals()[0]
    lines = stacks(5000)
    server.kill()
    with Directory() as d:
        p = collect(server.url('down'), directory=d)
        p.stdin.write(''.join(lines))
        p.stdin.flush()
        said = [p.stderr.readline() for _ in range(2)]
        check(any('no samples can be stored there until it is available' in line for line in said), f'the log reports the outage: {said}')
        server.start()
        p.communicate(timeout=300)
        check(stored('down', server) == samples_of(lines), 'no samples are lost')


@test
def a_cluster_gets_distributed_tables_that_read_all_shards():
    one, two = servers()
    lines = stacks(2000)
    with Directory() as d:
        collected(lines, both('cluster'), directory=d)
        collected(lines, both('cluster', '&cluster=both'), directory=d)
        each = [stored('cluster', s) for s in (one, two)]
        check(min(each) > 0 and sum(each) == 2 * samples_of(lines), f'each shard stores its share of the samples: {each}')
        for server in (one, two):
            check(int(server.ask('SELECT sum(value) FROM samples_all WHERE kind > 0', 'cluster')) == sum(each), 'every shard can read all samples')
            joined = server.ask('SELECT sum(n) FROM (SELECT stack, sum(value) AS n FROM samples_all WHERE kind > 0 GROUP BY stack) ANY INNER JOIN'
                                ' (SELECT stack, frames FROM stacks_all) USING stack WHERE length(frames) = 5', 'cluster')
            check(int(joined) == sum(each), f'samples can be joined with their stacks: {joined}')
            local = server.ask('SELECT sum(value) FROM samples_all ANY INNER JOIN (SELECT stack, frames FROM cluster.stacks) USING stack'
                               ' WHERE kind > 0 AND length(frames) = 5', 'cluster')
            check(int(local) == sum(each), f'a join local to each shard returns all samples: {local}')
        try:
            one.ask('INSERT INTO samples_all SELECT * FROM samples', 'cluster')
            check(False, 'an insert through a distributed table is rejected')
        except RuntimeError as e:
            check('sharding key' in str(e), f'the error names the missing sharding key: {e}')
        for shards, cluster, word in ((f'{two.server},{one.server}', 'both', "in the cluster's order"),
                                      (one.server, 'both', 'has 2 shards'),
                                      (f'{one.server},{two.server}', 'none', "has no cluster 'none'")):
            p = collect(one.url('cluster', f'?shards={shards}&cluster={cluster}'), directory=d)
            said = p.communicate('a;b 1\n', timeout=300)[1]
            check(p.returncode and word in said, f'{word}: {said}')
        check(sum(stored('cluster', s) for s in (one, two)) == sum(each), 'no samples were stored')


@test
def two_names_of_one_server_are_rejected_as_shards():
    server = servers()[0]
    with Directory() as d:
        for other, word in ((server.server, 'twice; remove one of them'), (f'localhost:{server.port}', 'is one of those before it')):
            p = collect(server.url('twice', f'?shards={server.server},{other}'), directory=d)
            said = p.communicate('a;b 1\n', timeout=300)[1]
            check(p.returncode and word in said, f'{other}: {said}')
        check('twice' not in server.ask('SHOW DATABASES'), 'no database was created')


@test
def a_query_above_the_memory_limit_is_rejected_with_an_explanation():
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
def concurrent_imports_of_a_run_with_the_same_id_store_it_once():
    url = both('runs')
    same = [imported(url, '--source', 'shop', '--id', 'same') for _ in range(4)]
    said = [p.communicate(timeout=120)[1] for p in same]
    check(all(p.returncode == 0 for p in same), f'all imports succeed: {said}')
    check(sum('already stored' in text for text in said) == 3, f'three imports report that the run is already stored: {said}')
    other = [imported(url, '--source', 'shop', '--id', 'other', '--label', f'n={i}') for i in range(4)]
    said = [p.communicate(timeout=120)[1] for p in other]
    check(sorted(p.returncode for p in other) == [0, 2, 2, 2], f'one of the conflicting imports succeeds: {said}')
    check(sum("there is another run 'other'" in text for text in said) == 3, f'the other imports report the conflict: {said}')
    check(sum(int(s.ask('SELECT count() FROM runs', 'runs')) for s in servers()) == 2, 'two runs are stored')


def runs_stored(database, pair):
    return sum(int(s.ask('SELECT count() FROM runs WHERE seq NOT IN (SELECT seq FROM runs_removed)', database)) for s in pair)


@test
def runs_are_found_after_a_shard_is_added():
    one, two = servers()
    names = [f'r{i}' for i in range(12)]
    post = lambda page, name, text: status_of(page, f'/api/v1/runs?source=shop&id={name}', 'POST', text.encode())
    with Directory() as d:
        with Page(d, one.url('grown')) as page:
            check(all(post(page, n, f'main;{n} 3\n')[0] == 201 for n in names), 'the runs are stored on one server')
        with Page(d, both('grown')) as page:
            for n in names:
                status, text = status_of(page, f'/api/v1/runs/shop/{n}?format=folded')
                check(status == 200 and f'main;{n} 3' in text, f'{n} is found: {status} {text[:200]}')
                status, text = post(page, n, f'main;{n} 3\n')
                check(status == 200 and not json.loads(text)['stored'], f'{n} is recognized as already stored: {status} {text[:200]}')
                status, text = post(page, n, f'main;{n} 4\n')
                check(status == 409, f'a different run with the id {n} is rejected: {status} {text[:200]}')
            check(len(json.loads(status_of(page, '/api/v1/runs?source=shop&limit=100')[1])['runs']) == len(names), 'each is listed once')
            for n in names[:6]:
                check(status_of(page, f'/api/v1/runs/shop/{n}', 'DELETE')[0] in (200, 204), f'{n} is removed')
                check(status_of(page, f'/api/v1/runs/shop/{n}')[0] == 404, f'{n} is gone')
                check(post(page, n, f'main;{n} 5\n')[0] == 201, f'{n} can be stored again')
            check(runs_stored('grown', (one, two)) == len(names) and runs_stored('grown', (two,)) > 0, 'some of the runs are stored on the new server')
        with Page(d, two.url('grown', f'?shards={two.server},{one.server}')) as page:
            check(all(status_of(page, f'/api/v1/runs/shop/{n}')[0] == 200 for n in names), 'all runs are found with the servers in another order')


@test
def markers_of_removed_runs_are_deleted_after_the_runs():
    one, two = pair = servers()
    noted = lambda: [int(s.ask('SELECT count() FROM runs_removed', 'swept')) for s in pair]
    with Directory() as d:
        with Page(d, both('swept')) as page:
            for i in range(20):
                check(status_of(page, f'/api/v1/runs?source=shop&id=r{i}', 'POST', f'main;f{i} 3\n'.encode())[0] == 201, 'the run is stored')
        for s in pair:          # of runs of long ago
            s.ask('INSERT INTO runs_removed SELECT 202601, number + 1 FROM system.numbers LIMIT 2000', 'swept')
        with Page(d, both('swept'), '--runs-count', '5') as page:
            check(wait_for(lambda: max(noted()) <= 20), f'old markers are deleted: {noted()}')
            check(wait_for(lambda: sum(int(s.ask('SELECT count() FROM runs', 'swept')) for s in pair) == 5), 'the removed runs are deleted')
            ids = sorted(r['id'] for r in json.loads(status_of(page, '/api/v1/runs?source=shop')[1])['runs'])
            check(ids == sorted(f'r{i}' for i in range(15, 20)), f'the newest runs are kept: {ids}')
            check(sum(noted()) == 15, f'markers of recently stored runs are kept: {noted()}')


@test
def the_runs_table_is_rewritten_only_when_many_runs_are_removed():
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
            check(wait_for(lambda: mutations('runs_removed') > before, 100), 'maintenance ran')
            check(wait_for(lambda: not mutations('runs', ' AND is_done = 0') and not mutations('runs_removed', ' AND is_done = 0')), 'all mutations completed')
            return sorted(r['id'] for r in json.loads(status_of(page, '/api/v1/runs?source=shop&limit=100')[1])['runs'])

    def store_all(page):
        for name in ids:
            check(status_of(page, f'/api/v1/runs?source=shop&id={name}', 'POST', f'main;{name} 3\n'.encode())[0] == 201, 'the run is stored')
    with Directory() as d:
        removed_and_maintained(ids[:1], store_all)
        check(mutations('runs') == 1 and rows() == 39, f'the first removed run of a day is deleted immediately: {rows()}')
        removed_and_maintained(ids[1:3])
        check(mutations('runs') == 1 and rows() == 39, f'the deletion of two of 39 runs is postponed: {rows()}')
        listed = removed_and_maintained(ids[3:10])
        check(mutations('runs') == 2 and rows() == 30, f'nine removed runs are deleted in one mutation: {rows()}')
        check(listed == ids[10:], f'the other runs are listed: {listed}')


@test
def two_sinks_that_share_a_server_and_a_database_are_rejected():
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
            check(wait_for(lambda: any('listening on' in line for line in lines), 60), f'the daemon starts: {lines}')
            serve(d, f'{start}to:\n  - "{alias}"\n')
            p.send_signal(signal.SIGHUP)
            check(wait_for(lambda: any('the store of the page and a sink write to one database' in line for line in lines), 30), f'a database shared with the store of the page is rejected: {lines}')
            serve(d, f'{start}to:\n  - "{alias}2"\n')
            p.send_signal(signal.SIGHUP)
            check(wait_for(lambda: two.ask('SHOW DATABASES').split().count('overlap2'), 30), f'another database is accepted: {lines}')
            serve(d, f'{start}to:\n  - "{alias}2?timeout=20s"\n')
            p.send_signal(signal.SIGHUP)
            check(wait_for(lambda: any('timeout=20s' in line for line in lines), 30), f'a changed URL is accepted: {lines}')
            check(not any('two sinks' in line for line in lines), f'{lines}')
        finally:
            p.terminate()
            check(p.wait(60) == 0, f'the daemon runs until it is stopped: {lines}')
            reader.join(10)
            p.stderr.close()


@test
def passwords_are_read_from_files_and_never_shown():
    with ClickHouse(password='geheim7') as server, Directory() as d:
        with open(f'{d}/password', 'w') as f:
            f.write('geheim7\n')
        url = server.url('secret', f'?password-file={d}/password').replace('//', '//default@')
        collected(stacks(10), url, directory=d)
        check(stored('secret', server) > 0, 'samples are stored')
        p = collect(server.url('secret').replace('//', '//default:wrong9@'), directory=d)
        said = p.communicate('a;b 1\n', timeout=60)[1]
        check(p.returncode and 'wrong' in said and 'wrong9' not in said and 'geheim7' not in said, said)


def sql_of_docs():
    with open(DOCS) as f:
        return re.findall(r'```sql\n(.*?)```', f.read(), re.S)


@test
def the_documented_schema_matches_the_created_tables():
    server = servers()[0]
    with Directory() as d:
        collected(stacks(100), server.url('schema1'), directory=d)
    server.ask('CREATE DATABASE schema2')
    tables = [s for block in sql_of_docs() for s in block.split(';') if 'CREATE TABLE' in s]
    for sql in tables:
        server.ask(sql, 'schema2')
    shown = [server.ask("SELECT name, engine, partition_key, sorting_key FROM system.tables WHERE database = 'schema%d' ORDER BY name" % i)
             + server.ask("SELECT table, name, type FROM system.columns WHERE database = 'schema%d' ORDER BY table, name" % i) for i in (1, 2)]
    check(shown[0] == shown[1] and len(tables) == 8, f'both schemas have 8 tables, not {len(tables)}: {shown}')


@test
def the_documented_sql_queries_return_results():
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
            check(answer or 'SELECT' not in sql.split('\n')[0], f'the query returns results: {sql[:200]}')
    check(count > 8, f'more than 8 queries were found, not {count}')


run_tests()
