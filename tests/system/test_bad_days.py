"""Bad days of `strobe collect`: a sink that hangs, a full disk, no descriptors left, ten thousand processes at once."""
import contextlib
import glob
import os
import re
import socket
import sqlite3
import subprocess
import time

from collector import Collector, logged, publish, total
from redis_server import RedisServer, free_port
from strobe_test import ROOT, Directory, Skip, check, main, test, wait_for
from wire import connect, message


@test
def a_hanging_sink_uses_at_most_its_queue_limit_and_other_sinks_keep_working():
    with Directory() as directory:
        a, b = f'{directory}/a', f'{directory}/b'
        options = ['--from', f'unix:{directory}/s', '--to', f'sqlite:{a}', '--to', f'sqlite:{b}', '--queue-bytes', '1M']
        with Collector(directory, *options) as c:
            s = connect(f'{directory}/s')
            s.send(message({('main', 'first'): 1}))
            check(wait_for(lambda: c.sink(f'sqlite:{b}')['samples']['stored'] == 1), 'the sink stores samples before it hangs')
            day = next(name for name in os.listdir(b) if name.endswith('.db'))
            lock = sqlite3.connect(f'{b}/{day}', isolation_level=None)
            lock.execute('BEGIN IMMEDIATE')               # nobody else may write
            sent, most = 1, 0
            for i in range(25):
                s.send(message({('main', f'function{i}', f'another_function_{i}_{j}'): 1 for j in range(1000)}))
                sent += 1000
                check(wait_for(lambda: c.sink(f'sqlite:{a}')['samples']['stored'] == sent), 'the other sink keeps storing samples')
                most = max(most, c.sink(f'sqlite:{b}')['queue_bytes'])
            check(wait_for(lambda: c.sink(f'sqlite:{b}')['samples']['dropped']['queue_full'] > 0) and most <= 2 << 20,
                  f'the queue stops growing at its limit and the excess is counted as dropped: {most} bytes, {c.sink(f"sqlite:{b}")}')
            check(wait_for(lambda: c.sink(f'sqlite:{b}')['lag_seconds'] > 1), f'the lag is reported: {c.sink(f"sqlite:{b}")}')
            lock.execute('ROLLBACK')
            lock.close()
            check(wait_for(lambda: c.sink(f'sqlite:{b}')['samples']['queued'] == 0), 'queued samples are stored once the sink recovers')
            n = c.sink(f'sqlite:{b}')['samples']
            check(n['stored'] + n['dropped']['queue_full'] == sent, f'the remaining samples are counted as dropped: {n}')
            check(c.stop() == 0, 'the collector exits with 0')
        check(total(directory, a) == sent and total(directory, b) == n['stored'], 'both stores contain the counted samples')


def fill(directory):
    """Takes all the room that is left."""
    with contextlib.suppress(OSError), open(f'{directory}/ballast', 'wb', buffering=0) as f:
        while True:
            f.write(bytes(4096))


@test
def a_full_disk_under_the_store_the_logs_and_the_spool_loses_no_samples():
    with Directory() as directory, RedisServer() as redis:
        disk, port = f'{directory}/disk', free_port()
        os.mkdir(disk)
        if subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', disk], capture_output=True).returncode:
            raise Skip('no small disk can be mounted here')
        try:
            sinks = [f'sqlite:{disk}/store', f'logs:{disk}/logs', redis.url('?stream=s&window=0')]
            options = [word for url in sinks for word in ('--to', url)]
            with Collector(directory, '--from', f'resp://127.0.0.1:{port}', '--state', f'{disk}/state', *options) as c:
                lines = [f'index.php;main;{os.urandom(100).hex()} 1' for _ in range(3000)]

                def stored():
                    return [k['samples']['stored'] for k in c.sums()['sinks']]

                def send(first, last):
                    publish(port, lines[first:last])

                send(0, 500)
                check(wait_for(lambda: stored() == [500] * 3), f'all sinks store samples before the disk is full: {stored()}')
                fill(disk)
                send(500, 2500)
                check(wait_for(lambda: all(k['failing'] for k in c.sums()['sinks'])), f'all sinks report failures: {c.status()["sinks"]}')
                check(c.status()['samples']['dropped'] == {'queue_full': 0, 'rejected': 0}, 'no samples are dropped')
                os.unlink(f'{disk}/ballast')
                check(wait_for(lambda: stored() == [2500] * 3), f'queued samples are stored once there is space again: {stored()}')
                send(2500, 3000)
                check(wait_for(lambda: stored() == [3000] * 3), f'new samples are stored as well: {stored()}')
                said = [line for line in c.lines if 'cannot store samples' in line]
                check(len(said) == 3, f'each sink logs the failure once: {said}')
                check(c.stop() == 0, 'the collector exits with 0')
            check(total(directory, f'{disk}/store') == 3000, 'the store contains all samples')
            for path in glob.glob(f'{disk}/logs/*/*.all.log'):
                check(sorted(open(path).read().split('\n')[:-1]) == sorted(lines), f'{path} contains each line once')
            check(redis.command('XLEN', 's') > 0, 'the stream contains the samples that were spooled')
        finally:
            subprocess.run(['umount', '-l', disk])


@test
def clients_cannot_exhaust_the_file_descriptors_that_sinks_need():
    with Directory() as directory:
        port = free_port()
        c = Collector(directory, '--from', f'resp://127.0.0.1:{port}', '--to', f'sqlite:{directory}/a',
                      '--to', f'logs:{directory}/logs')
        # Two files for each of 30 entries, more than there is room for.
        c.command = ['sh', '-c', 'ulimit -n 60; exec "$@"', 'sh', *c.command]
        with c:
            clients = [socket.create_connection(('127.0.0.1', port)) for _ in range(100)]
            check(wait_for(lambda: any('connections is reached' in line for line in c.lines)), f'the connection limit is logged: {c.lines}')
            for i in range(30):
                line = b'e%d.php;main 1' % i
                clients[0].sendall(b'*3\r\n$7\r\nPUBLISH\r\n$7\r\nexcimer\r\n$%d\r\n%s\r\n' % (len(line), line))
            check(wait_for(lambda: logged(directory).get('hourly all', b'').count(b'\n') == 30), f'the logs are written: {c.lines}')
            check(not any('Too many open files' in line for line in c.lines), f'no sink runs out of file descriptors: {c.lines}')
            for client in clients:
                client.close()
            check(wait_for(lambda: [k['samples']['stored'] for k in c.sums()['sinks']] == [30, 30]), f'{c.lines}')
            check(c.stop() == 0, 'the collector exits with 0')


@test
def slow_http_clients_do_not_exhaust_the_file_descriptors_of_sources():
    with Directory() as directory:
        port = free_port()
        c = Collector(directory, '--from', f'resp://127.0.0.1:{port}', '--from', f'unix:{directory}/s',
                      '--to', f'sqlite:{directory}/a', '--to', f'logs:{directory}/logs')
        c.command = ['sh', '-c', 'ulimit -n 64; exec "$@"', 'sh', *c.command]
        with c, contextlib.ExitStack() as stack:
            address = ('127.0.0.1', int(c.url.rsplit(':', 1)[1]))
            slow = [stack.enter_context(socket.create_connection(address)) for _ in range(161)]
            for client in slow:
                with contextlib.suppress(OSError):
                    client.sendall(b'GET /metrics HTTP/1.1\r\nHost: 127')
            check(wait_for(lambda: any('HTTP connections' in line for line in c.lines)), f'the limit of HTTP connections is logged: {c.lines}')
            for i in range(30):
                publish(port, [f'e{i}.php;main 1'])
            s = connect(f'{directory}/s')
            s.send(message({('main', 'f'): 5}))
            stored = [35, 35]
            check(wait_for(lambda: [k['samples']['stored'] for k in c.sums()['sinks']] == stored), f'all samples are stored: {c.lines}')
            check(all(k['connections_refused'] == 0 for k in c.status()['sources']), 'no source connection was refused')
            check(wait_for(lambda: logged(directory).get('hourly all', b'').count(b'\n') >= 30), 'the logs are written')
            s.close()
            check(c.stop() == 0, 'the collector exits with 0')


@test
def drops_are_logged_with_their_counts_at_most_once_per_minute():
    with Directory() as directory:
        port = free_port()
        with Collector(directory, '--from', f'resp://127.0.0.1:{port}', '--to', f'sqlite:{directory}/a') as c:
            def said():
                return [line for line in c.lines if 'strobe: dropped: ' in line]

            sent = 0
            for i in range(12):
                publish(port, ['a;b 1', ';x 9223372036854775807', 'a;b 1000000000001'])
                sent += 2
                time.sleep(0.25)
            check(wait_for(said), 'the first drop is logged')
            check(len(said()) == 1, f'it is logged once within a minute: {said()}')
            check(c.stop() == 0, 'the collector exits with 0')
        numbers = [int(n) for line in said() for n in re.findall(r'(\d+) lines of resp://\S+ \(bad_count\)', line)]
        check(sum(numbers) == sent and len(numbers) == len(said()) <= 2, f'every drop is counted in one log line, the last ones at shutdown: {said()}')


@test
def samples_of_ten_thousand_simultaneous_senders_are_all_stored():
    senders, count = os.environ.get('STROBE_SENDERS', f'{ROOT}/build/meson/tests/system/senders'), 10000
    with Directory() as directory:
        port, store = free_port(), f'{directory}/store'
        with Collector(directory, '--from', f'unix:{directory}/s', '--from', f'resp://127.0.0.1:{port}', '--to', f'sqlite:{store}') as c:
            crowd = subprocess.run([senders, f'{directory}/s', str(port), str(count)], stdout=subprocess.PIPE, text=True, timeout=300)
            started, sent = map(int, crowd.stdout.split())
            if started < count:
                raise Skip(f'this machine starts only {started} processes')
            check(sent == count, f'all {started} processes sent their samples, not {sent}')
            check(wait_for(lambda: c.sums()['samples']['stored'] == 3 * count), f'all samples are stored: {c.status()["samples"]}')
            check([s['connections_total'] for s in c.status()['sources']] == [count // 2] * 2, 'every process was connected')
            check(wait_for(lambda: not any(s['connections'] for s in c.status()['sources'])), 'no connection remains open')
            c.stop()
        check(total(directory, store) == 3 * count, 'the store contains all samples')


main()
