"""ClickHouse whose tables are lost, all or some of their rows: a daemon creates them again and sends the names anew."""
import json
import signal
import time

from clickhouse_pair import both, mortal, mortals, readiness, run_tests, servers, status_of
from clickhouse_samples import Page, answers, collected, samples_of, stacks, stored
from strobe_test import Directory, check, test, wait_for


@test
def tables_dropped_while_the_daemon_runs_are_recreated():
    one, two = pair = servers()
    with Directory() as d, Page(d, both('emptied')) as page:
        def ingest(tag):
            lines = ''.join(f'main;{tag}{i} 1\n' for i in range(40)).encode()
            check(status_of(page, f'/ingest?name={tag}.cpu', 'POST', lines)[0] == 200, f'the push {tag} is accepted')

        def functions():
            status, text = status_of(page, '/api/v1/profile?from=-2h&format=folded')
            return sorted({line.split(';')[1].split()[0] for line in text.splitlines()}) if status == 200 else [text]
        ingest('first')
        check(wait_for(lambda: len(functions()) == 40), 'forty functions are stored')
        two.ask('DROP DATABASE emptied')
        ingest('second')
        check(wait_for(lambda: sum('second' in f for f in functions()) == 40, 100), f'later samples are stored: {functions()[:3]}')
        check(all('first' in f or 'second' in f for f in functions()), f'every function has its name: {functions()}')
        for table in ('frames', 'schema'):
            one.ask(f'DROP TABLE {table}', 'emptied')
            ingest(table)
            check(wait_for(lambda: sum(table in f for f in functions()) == 40, 100), f'later samples are stored after {table} was dropped: {functions()[:3]}')
        check(wait_for(lambda: readiness(page)[0] == 200, 30), 'the daemon is ready')
    check(any('recreated tables' in line for line in page.daemon.said.lines()), 'the log reports the recreated tables')


@test
def names_are_resent_when_another_daemon_recreated_the_tables():
    server = servers()[0]
    url = server.url('renewed')
    with Directory() as d, Page(d, url) as page, Directory() as other:
        def shown():
            status, text = status_of(page, '/api/v1/profile?from=-2h&format=folded')
            return text
        ingest = lambda: status_of(page, '/ingest?name=shop.cpu', 'POST', b'main;work 1\n')
        ingest()
        check(wait_for(lambda: 'main;work' in shown()), 'the function is shown')
        # As if nothing of this daemon had met them while they were gone.
        page.daemon.process.send_signal(signal.SIGSTOP)
        server.ask('DROP DATABASE renewed')
        collected(['other;thing 1\n'], url, directory=other)
        page.daemon.process.send_signal(signal.SIGCONT)
        ingest()
        check(wait_for(lambda: ingest() and 'main;work' in shown(), 100), f'its name is sent again: {shown()}')
        check(wait_for(lambda: 'other;thing' in shown()), 'the functions of the other daemon are shown as well')


@test
def names_are_resent_to_a_restarted_server():
    _, two = pair = mortals()
    with Directory() as d, Page(d, both('restarted', pair=mortal)) as page:
        lines = ''.join(f'main;f{i} 3\n' for i in range(100)).encode()
        ingest = lambda: status_of(page, '/ingest?name=shop', 'POST', lines)[0] == 200
        unknown = lambda: status_of(page, '/api/v1/profile?from=-1h&format=folded')[1].count('[unknown')
        check(ingest() and wait_for(lambda: stored('restarted', *pair) == 300) and not unknown(), 'all samples are stored')
        time.sleep(65)          # it has seen when the servers started
        two.kill()
        two.start()
        two.ask('TRUNCATE TABLE stacks', 'restarted')       # as if the power had failed
        check(wait_for(lambda: ingest() and not unknown(), 100), f'names of all stacks are sent again; unknown: {unknown()} are unknown')


@test
def sums_are_correct_when_a_shard_lost_the_kinds_of_its_samples():
    one, two = servers()
    lines = stacks(200)

    def forget_kinds(server):
        server.ask('ALTER TABLE kinds DELETE WHERE kind > 0', 'kindless')
        check(wait_for(lambda: int(server.ask('SELECT count() FROM kinds', 'kindless')) == 0, 60), 'the kinds are deleted')
    with Directory() as d:
        collected(lines, both('kindless'), directory=d)
        end = int(one.ask('SELECT max(toUInt32(day) * 86400 + bucket * 10) FROM samples WHERE kind > 0', 'kindless'))
        check(stored('kindless', one) > 0 and stored('kindless', two) > 0, 'both shards store samples')
        with Page(d, both('kindless')) as page:
            def found():
                sums = status_of(page, f'/pyroscope/render?query=samples:samples:count::{{}}&from={end - 600}&until={end + 600}')
                return {**answers(page, end), 'sums': sums}
            before = found()
            check(sum(json.loads(before['sums'][1])['timeline']['samples']) == samples_of(lines), before['sums'])
            check(sum(before['time line']) == samples_of(lines), f'all samples are found: {before["looked"]}')
            forget_kinds(two)
            check(found() == before, f'the results are unchanged: {found()["looked"]}')
            two.ask("INSERT INTO kinds VALUES (77, 1, 0, 0, 'samples', 'count', 0)", 'kindless')
            check(found() == before, f'a different kind on that shard does not change the results: {found()["looked"]}')
            check(not any('their kind' in line for line in page.daemon.said.lines()), 'nothing is logged')
            forget_kinds(two)
            forget_kinds(one)
            check(sum(found()['time line']) == 0 and not found()['folded'], 'without kinds on any shard nothing is shown')
            said = lambda: [line for line in page.daemon.said.lines() if 'their kind is in no server' in line]
            check(wait_for(said) and len(said()) == 1, f'the log reports the missing kinds once: {page.daemon.said.lines()}')


run_tests()
