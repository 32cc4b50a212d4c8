"""SIGHUP to `strobe collect` with sinks that are removed, also dead ones, and put back: their queues, and the samples in them."""
import contextlib
import json
import os
import signal
import socket
import sqlite3
import subprocess
import urllib.error

from collector import Collector, arclamp_config, logged, publish, total, write, write_config
from redis_server import free_port
from strobe_test import STROBE, Directory, check, main, test, wait_for
from wire import connect, message


@contextlib.contextmanager
def dead_sinks(count):
    """URLs of stores whose server refuses connections: its port is taken, but nobody listens."""
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        yield [f'clickhouse://127.0.0.1:{s.getsockname()[1]}/d{i}' for i in range(count)]


def lock(store):
    """Nobody else may write to the store until this is closed."""
    day = next(name for name in os.listdir(store) if name.endswith('.db') and name[0].isdigit())
    held = sqlite3.connect(f'{store}/{day}', isolation_level=None)
    held.execute('BEGIN IMMEDIATE')
    return held


def fails(c, sink):
    return wait_for(lambda: c.sink(sink)['failing'])


def closed(c, sink):
    """The line that says so, once it is there."""
    def line():
        return next((line for line in c.lines if f'{sink} is closed' in line), None)

    wait_for(line)
    return line() or ''


def ready(c):
    try:
        c.get('/readyz')
    except urllib.error.HTTPError:
        return False
    return True


def metric(c, line):
    return line in c.get('/metrics').splitlines()


@test
def a_removed_failing_sink_is_shown_as_draining_and_does_not_affect_readiness():
    with Directory() as directory, dead_sinks(1) as (dead,):
        config, log, a = f'{directory}/c.yaml', f'{directory}/x.log', f'sqlite:{directory}/a'
        write(log, 'main;a 3\n' * 10)
        write_config(config, **{'from': [f'file:{log}'], 'to': [dead, a]})
        with Collector(directory, '-c', config) as c:
            check(wait_for(lambda: c.sink(a)['samples']['stored'] == 30) and fails(c, dead), f'{c.status()["sinks"]}')
            check(not ready(c), 'a sink fails')
            write_config(config, **{'from': [f'file:{log}'], 'to': [a]})
            c.hup(f'removed sink {dead} is failing: ')
            said = next(line for line in c.lines if 'removed sink' in line)
            check('; its queue of 30 samples or runs is given up once it has stored nothing for 300 seconds. '
                  'To keep it, add the sink again; to drop it now, restart' in said, said)
            check(wait_for(lambda: ready(c)), f'a removed sink does not affect readiness: {c.status()["not_ready"]}')
            check([(k['url'], k['draining'], k['failing']) for k in c.sums()['sinks']] == [(a, False, False), (dead, True, True)],
                  f'{c.status()["sinks"]}')
            check(not c.status()['commits']['failing'], f'{c.status()["commits"]}')
            for line in (f'strobe_sink_draining{{sink="{a}"}} 0', f'strobe_sink_draining{{sink="{dead}"}} 1', 'strobe_ready 1',
                         f'strobe_sink_samples_queued{{sink="{dead}"}} 30', 'strobe_removed_sink_samples_dropped_total 0'):
                check(metric(c, line), line)
            status = subprocess.run([STROBE, 'status', '--url', c.url], capture_output=True, text=True, timeout=60)
            check(f'{dead} (removed, draining): FAILING, ' in status.stdout and ', ready\n' in status.stdout, status.stdout)
            doctor = subprocess.run([STROBE, 'doctor', '--json', '--url', c.url], capture_output=True, text=True, timeout=120)
            found = [f for f in json.loads(doctor.stdout)['findings'] if dead in f['about']]
            check([(f['check'], f['level']) for f in found] == [('removed-sink-failing', 'warning')], f'{found}')
            write(log, 'main;a 3\n' * 10)
            check(wait_for(lambda: c.sink(a)['samples']['stored'] == 60), 'the other sink continues')
            check(c.sink(dead)['samples']['handed'] == 30, 'the removed sink receives no more samples')


@test
def a_removed_failing_sink_is_closed_at_the_drain_deadline_and_its_samples_are_counted():
    with Directory() as directory, dead_sinks(1) as (dead,):
        config, log, a = f'{directory}/c.yaml', f'{directory}/x.log', f'sqlite:{directory}/a'
        write(log, 'main;a 3\n' * 10)
        write_config(config, **{'from': [f'file:{log}'], 'to': [dead, a]})
        with Collector(directory, '-c', config, environment={'STROBE_DRAIN_SECONDS': '1'}) as c:
            check(wait_for(lambda: c.sink(a)['samples']['stored'] == 30) and fails(c, dead), f'{c.status()["sinks"]}')
            write(log, 'main;a 3\n' * 4)
            check(wait_for(lambda: c.sink(dead)['samples']['handed'] == 42), 'a failing sink is kept until it is removed')
            write_config(config, **{'from': [f'file:{log}'], 'to': [a]})
            c.hup('reloaded the configuration; sources: 1, sinks: 1')
            check('; 42 samples or runs in its queue could not be stored (' in closed(c, dead) and 'no other sink' not in closed(c, dead),
                  f'{c.lines}')
            check(wait_for(lambda: c.sums()['samples']['stored'] == 42), f'the other sink has the samples: {c.status()["samples"]}')
            s = c.sums()
            check([k['url'] for k in s['sinks']] == [a], f'{s["sinks"]}')
            check(s['samples']['dropped_for_removed_sinks'] == 42 and not any(s['samples']['dropped'].values()), f'{s["samples"]}')
            check(metric(c, 'strobe_removed_sink_samples_dropped_total 42') and metric(c, 'strobe_removed_sink_runs_dropped_total 0'), 'in the metrics')
            check(wait_for(lambda: any('42 samples (removed_sink)' in line for line in c.lines)), f'{c.lines}')
            check(s['sources'][0]['samples']['in_flight'] == 0, f'no samples of the file are in flight: {s["sources"]}')
            check(c.stop() == 0, 'exits with 0')
        check(total(directory, f'{directory}/a') == 42, 'nothing is lost or duplicated')
        write(log, 'main;a 3\n')
        write_config(config, **{'from': [f'file:{log}'], 'to': [f'sqlite:{directory}/b']})
        with Collector(directory, '-c', config) as c:
            check(wait_for(lambda: c.sums()['samples']['stored'] == 3), f'the file continues at its offset: {c.sums()}')
            check(c.stop() == 0, 'exits with 0')


@test
def samples_queued_only_for_a_removed_sink_go_to_the_remaining_sinks():
    with Directory() as directory, dead_sinks(1) as (dead,):
        config, log, a = f'{directory}/c.yaml', f'{directory}/x.log', f'sqlite:{directory}/a'
        sources = {'from': [f'file:{log}', f'unix:{directory}/s']}
        write(log, 'main;a 3\n' * 10)
        write_config(config, **sources, to=[dead])
        with Collector(directory, '-c', config, environment={'STROBE_DRAIN_SECONDS': '1'}) as c:
            connect(f'{directory}/s').send(message({('main', 'x'): 7}))
            check(wait_for(lambda: c.sink(dead)['samples']['queued'] == 37) and fails(c, dead), f'{c.status()["sinks"]}')
            write_config(config, **sources, to=[a, f'logs:{directory}/logs'])
            c.hup('reloaded the configuration; sources: 2, sinks: 2')
            check('; 37 samples or runs in its queue could not be stored (' in closed(c, dead) and
                  '; 37 of them were in no other sink and go to the remaining ones' in closed(c, dead), f'{c.lines}')
            check(wait_for(lambda: [k['samples']['stored'] for k in c.sums()['sinks']] == [37, 37]), f'{c.status()["sinks"]}')
            check(wait_for(lambda: c.sums()['samples']['stored'] == 37), f'{c.status()["samples"]}')
            check(c.sums()['samples']['dropped_for_removed_sinks'] == 0, f'no sample is lost: {c.status()["samples"]}')
            check(c.stop() == 0, 'exits with 0')
        check(total(directory, f'{directory}/a') == 37, 'nothing is lost or duplicated')
        lines = logged(directory) if os.path.isdir(f'{directory}/logs') else {}
        check(lines, 'the trace logs contain the samples')


@test
def sigkill_while_a_removed_sink_is_drained_duplicates_nothing():
    with Directory() as directory, dead_sinks(1) as (dead,):
        config, first, second = f'{directory}/c.yaml', f'{directory}/x.log', f'{directory}/y.log'
        a, sources = f'sqlite:{directory}/a', {'from': [f'file:{directory}/x.log', f'file:{directory}/y.log']}
        write(first, 'main;a 3\n' * 10)
        write(second, '')
        write_config(config, **sources, to=[dead, a])
        with Collector(directory, '-c', config) as c:
            check(wait_for(lambda: c.sink(a)['samples']['stored'] == 30) and fails(c, dead), f'both sinks have the samples: {c.status()["sinks"]}')
            write_config(config, **sources, to=[dead])
            c.hup('reloaded the configuration; sources: 2, sinks: 1')
            write(second, 'main;b 5\n' * 4)
            check(wait_for(lambda: c.sink(dead)['samples']['queued'] == 50), f'only one sink has the later samples: {c.status()["sinks"]}')
            write_config(config, **sources, to=[a])
            c.hup('reloaded the configuration; sources: 2, sinks: 1')
            check(c.sink(dead)['draining'], f'{c.status()["sinks"]}')
            c.stop(signal.SIGKILL)
        with Collector(directory, '-c', config) as c:
            check(wait_for(lambda: c.sums()['samples']['stored'] == 50), f'both files are read again: {c.sums()}')
            write(first, 'main;a 3\n')
            check(wait_for(lambda: c.sums()['samples']['stored'] == 53), f'reading continues: {c.sums()}')
            check([k['url'] for k in c.status()['sinks']] == [a], 'the removed sink is not restored')
            check(c.stop() == 0, 'exits with 0')
        check(total(directory, f'{directory}/a') == 53, 'each line is counted once')


@test
def a_removed_sink_keeps_its_queue_each_time_it_is_added_again():
    with Directory() as directory:
        config, a, b = f'{directory}/c.yaml', f'sqlite:{directory}/a', f'sqlite:{directory}/b'
        both, one = ({'from': [f'unix:{directory}/s'], 'to': sinks} for sinks in ([a, b], [a]))
        write_config(config, **both)
        with Collector(directory, '-c', config) as c:
            s = connect(f'{directory}/s')
            s.send(message({('main',): 1}))
            check(wait_for(lambda: c.sink(b)['samples']['stored'] == 1), 'both sinks have the first sample')
            held = lock(f'{directory}/b')
            s.send(message({('main',): 2}))
            check(wait_for(lambda: c.sink(a)['samples']['stored'] == 3) and fails(c, b), 'one sink has the second sample')
            for _ in range(10):
                write_config(config, **one)
                c.hup('reloaded the configuration; sources: 1, sinks: 1')
                write_config(config, **both, **{'label-values': 'x'})
                c.hup('was not applied')
                check(c.sink(b)['draining'], 'an invalid configuration does not add the sink again')
                write_config(config, **both)
                c.hup(f'took up sink {b} again with its queue of 2 samples or runs')
                check(wait_for(lambda: [k['draining'] for k in c.status()['sinks']] == [False, False]), f'{c.status()["sinks"]}')
            check(not ready(c), 'the sink affects readiness again')
            write_config(config, **one)
            c.hup('reloaded the configuration; sources: 1, sinks: 1')
            s.send(message({('main',): 4}))
            check(wait_for(lambda: c.sink(a)['samples']['stored'] == 7), 'one sink has the third sample')
            write_config(config, **both)
            c.hup(f'took up sink {b} again with its queue of 2 samples or runs')
            s.send(message({('main',): 8}))
            check(wait_for(lambda: c.sink(b)['samples']['queued'] == 10), f'{c.status()["sinks"]}')
            held.close()
            check(wait_for(lambda: [k['samples']['stored'] for k in c.sums()['sinks']] == [15, 11]), f'{c.status()["sinks"]}')
            check(wait_for(lambda: ready(c)) and c.sums()['samples']['dropped_for_removed_sinks'] == 0, f'{c.status()["samples"]}')
            check(not any('is closed' in line for line in c.lines), f'the sink was never closed: {c.lines}')
            write_config(config, **one)
            c.hup(f'{b} is closed; its queue was stored')
            check(c.stop() == 0, 'exits with 0')
        check(total(directory, f'{directory}/a') == 15 and total(directory, f'{directory}/b') == 11, 'nothing is lost or duplicated')


@test
def removed_sinks_count_toward_the_limit_of_sinks_until_they_are_closed():
    with Directory() as directory, dead_sinks(8) as dead:
        config, log, a = f'{directory}/c.yaml', f'{directory}/x.log', f'sqlite:{directory}/a'
        write(log, 'main;a 3\n')
        write_config(config, **{'from': [f'file:{log}'], 'to': [a, *dead[:7]]})
        with Collector(directory, '-c', config, environment={'STROBE_DRAIN_SECONDS': '1'}) as c:
            check(all(fails(c, sink) for sink in dead[:7]), f'{c.status()["sinks"]}')
            write_config(config, **{'from': [f'file:{log}'], 'to': [a, *dead[1:]]})
            c.hup(f'was not applied: {config}:1: {dead[7]}: there are more than 8 sinks, including removed ones whose queues are not '
                  f'stored yet ({dead[0]}); send SIGHUP again once the log reports one of them closed')
            check([k['draining'] for k in c.status()['sinks']] == [False] * 8, f'nothing has changed: {c.status()["sinks"]}')
            write_config(config, **{'from': [f'file:{log}'], 'to': [a]})
            c.hup('reloaded the configuration; sources: 1, sinks: 1')
            check(all('; 3 samples or runs in its queue could not be stored' in closed(c, sink) for sink in dead[:7]), f'{c.lines}')
            check(wait_for(lambda: c.sums()['samples']['dropped_for_removed_sinks'] == 21), f'3 samples of each sink are dropped: {c.status()["samples"]}')
            write_config(config, **{'from': [f'file:{log}'], 'to': [a, *dead[1:]]})
            c.hup('reloaded the configuration; sources: 1, sinks: 8')


@test
def a_sink_that_could_not_be_drained_before_shutdown_is_logged():
    with Directory() as directory:
        config, a, b = f'{directory}/c.yaml', f'sqlite:{directory}/a', f'sqlite:{directory}/b'
        write_config(config, **{'from': [f'unix:{directory}/s'], 'to': [a, b]})
        with Collector(directory, '-c', config) as c:
            s = connect(f'{directory}/s')
            s.send(message({('main',): 1}))
            check(wait_for(lambda: c.sink(b)['samples']['stored'] == 1), 'both sinks have the first sample')
            held = lock(f'{directory}/b')
            s.send(message({('main',): 2}))
            check(wait_for(lambda: c.sink(a)['samples']['stored'] == 3), 'one sink has the second sample')
            write_config(config, **{'from': [f'unix:{directory}/s'], 'to': [a]})
            c.hup('reloaded the configuration; sources: 1, sinks: 1')
            check(c.stop() == 2, 'exits with 2')
            held.close()
            said = [line for line in c.lines if f'{b} is closed' in line]
            check(len(said) == 1 and f'strobe: {b} is closed; 2 samples or runs in its queue could not be stored (' in said[0], f'{c.lines}')
        check(total(directory, f'{directory}/b') == 1, 'the store is missing the reported samples')


@test
def a_removed_relay_reports_the_entries_left_in_its_spool():
    with Directory() as directory:
        config, relay = f'{directory}/c.yaml', 'redis://127.0.0.1:1/?stream=s&window=1'
        given = {'from': [f'unix:{directory}/s'], 'to': [f'sqlite:{directory}/a', relay]}
        write_config(config, **given)
        with Collector(directory, '-c', config) as c:
            connect(f'{directory}/s').send(message({('main', 'x'): 7}))
            check(wait_for(lambda: metric(c, f'strobe_relay_waiting_entries{{sink="{relay}"}} 1')), 'an entry is queued')
            connect(f'{directory}/s').send(message({('main', 'x'): 7}))
            check(wait_for(lambda: metric(c, f'strobe_relay_waiting_entries{{sink="{relay}"}} 2')), 'another entry is queued')
            write_config(config, **{**given, 'to': given['to'][:1]})
            c.hup(f'{relay} is closed; its spool still has 2 entries, which wait until a sink of this URL is added again')
            check(c.stop() == 0, 'exits with 0')


@test
def a_relay_removed_within_its_first_window_reports_a_queued_entry():
    with Directory() as directory:
        config, relay = f'{directory}/c.yaml', 'redis://127.0.0.1:1/?stream=s&window=5m'
        given = {'from': [f'unix:{directory}/s'], 'to': [f'sqlite:{directory}/a', relay]}
        write_config(config, **given)
        with Collector(directory, '-c', config) as c:
            connect(f'{directory}/s').send(message({('main', 'x'): 7}))
            check(wait_for(lambda: metric(c, f'strobe_relay_waiting_samples{{sink="{relay}"}} 7')), 'the window holds the samples')
            check(metric(c, f'strobe_relay_waiting_entries{{sink="{relay}"}} 0'), 'the window is open')
            write_config(config, **{**given, 'to': given['to'][:1]})
            c.hup(f'{relay} is closed; its spool still has 1 entry, which waits until a sink of this URL is added again')
            check('its queue was stored' not in closed(c, relay), f'{c.lines}')
            write_config(config, **given)
            c.hup('reloaded the configuration; sources: 1, sinks: 2')
            check(metric(c, f'strobe_relay_recovered_samples_total{{sink="{relay}"}} 7') and
                  metric(c, f'strobe_relay_waiting_entries{{sink="{relay}"}} 1'), 'the added relay recovers the samples')
            check(c.stop() == 0, 'exits with 0')


@test
def a_sink_that_writes_to_the_stream_of_a_source_is_rejected():
    with Directory() as directory:
        config, source = f'{directory}/c.yaml', 'redis://127.0.0.1:1/?stream=s'
        sentence = (f'the sink redis://localhost:1/?stream=s&window=1 writes to the stream that the source {source} ({config}:1) reads, '
                    'so each sample would be received again without end; remove one of them')
        apart = {'from': [source], 'to': [f'sqlite:{directory}/a']}
        loop = {**apart, 'to': [*apart['to'], 'redis://localhost:1/?stream=s&window=1']}
        write_config(config, **loop)
        done = subprocess.run([STROBE, 'collect', '-c', config, '--listen', 'none', '--state', f'{directory}/other'],
                              capture_output=True, text=True, timeout=20)
        check(done.returncode == 2 and sentence in done.stderr, f'at the start: {done.stderr}')
        write_config(config, **apart)
        with Collector(directory, '-c', config) as c:
            write_config(config, **loop)
            c.hup(sentence)
            check(f'was not applied: {config}:1: ' in c.lines[-1], f'{c.lines[-1]}')
            check(c.stop() == 0, 'exits with 0')


@test
def changed_trace_log_groups_take_effect_after_sighup():
    with Directory() as directory:
        port = free_port()
        config = arclamp_config(directory, port)
        with Collector(directory, '--arclamp', config, '--from', f'resp://127.0.0.1:{port}') as c:
            def publish_and_wait(frame):
                publish(port, [f'/srv/index.php;{frame} 1'] * 4)
                check(wait_for(lambda: logged(directory).get('hourly all', b'').count(frame.encode()) == 4), f'{frame} is written')

            publish_and_wait('first')
            with open(config) as f:
                text = f.read()
            write(config, text.replace('period: daily', 'period: weekly').replace("'%Y-%m-%d'", "'%G-W%V'"), 'w')
            c.hup('reloaded the configuration')
            publish_and_wait('second')
            write(config, text.replace('period: daily', 'period: ../daily'), 'w')
            c.hup('was not applied')
            publish_and_wait('third')
            check(c.stop() == 0, 'exits with 0')
        lines = {key: data.split() for key, data in logged(directory).items()}
        check([line for line in lines['daily all'] if b';' in line] == [b'/srv/index.php;first'] * 2, f'the removed group: {lines}')
        check([line for line in lines['weekly all'] if b';' in line] ==
              [b'/srv/index.php;second'] * 2 + [b'/srv/index.php;third'] * 2, f'the added group: {lines}')


main()
