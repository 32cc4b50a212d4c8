"""ClickHouse whose tables are lost, all or some of their rows: a daemon creates them again and sends the names anew."""
import json
import signal
import time

from clickhouse_pair import both, mortal, mortals, readiness, run_tests, servers, status_of
from clickhouse_samples import Page, answers, collected, samples_of, stacks, stored
from strobe_test import Directory, check, test, wait_for


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
def names_are_sent_again_to_a_server_that_was_restarted():
    _, two = pair = mortals()
    with Directory() as d, Page(d, both('restarted', pair=mortal)) as page:
        lines = ''.join(f'main;f{i} 3\n' for i in range(100)).encode()
        ingest = lambda: status_of(page, '/ingest?name=shop', 'POST', lines)[0] == 200
        unknown = lambda: status_of(page, '/api/v1/profile?from=-1h&format=folded')[1].count('[unknown')
        check(ingest() and wait_for(lambda: stored('restarted', *pair) == 300) and not unknown(), 'all are there')
        time.sleep(65)          # it has seen when the servers started
        two.kill()
        two.start()
        two.ask('TRUNCATE TABLE stacks', 'restarted')       # as if the power had failed
        check(wait_for(lambda: ingest() and not unknown(), 100), f'stacks are named again: {unknown()} are unknown')


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


run_tests()
