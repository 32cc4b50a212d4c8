"""`strobe collect`: several sources and sinks in one daemon, sums that add up, SIGHUP, files that grow, caps."""
import glob
import json
import os
import random
import re
import signal
import socket
import sqlite3
import subprocess
import threading
import time
import urllib.error
import urllib.request

from daemon import Daemon
from redis_server import RedisServer
from strobe_test import ROOT, STROBE, Directory, Skip, check, main, test, wait_for
from wire import connect, message


class Collector(Daemon):
    """Runs `strobe collect` with these options, and with `directory`/state and a free port."""

    def __init__(self, directory, *options, environment=None):
        super().__init__(directory, environment=environment)
        self.command = [STROBE, 'collect', '--listen', '127.0.0.1:0', '--state', f'{directory}/state', *options]

    def sums(self):
        """What a status says, after each of its sums was checked."""
        s = self.status()
        for source in s['sources']:
            n = source['samples']
            check(n['received'] == n['stored'] + n['dropped'] + n['in_flight'], f'a source adds up: {source["url"]} {n}')
        for sink in s['sinks']:
            n = sink['samples']
            check(n['handed'] == n['stored'] + n['queued'] + sum(n['dropped'].values()), f'a sink adds up: {sink["url"]} {n}')
        n = s['samples']
        check(n['received'] == n['stored'] + n['queued'] + sum(n['dropped'].values()), f'the whole adds up: {n}')
        return s

    def sink(self, url):
        return next(k for k in self.sums()['sinks'] if k['url'] == url)

    def hup(self, sentence):
        """Reads the configuration again, until it has said so."""
        before = len(self.lines)
        self.process.send_signal(signal.SIGHUP)
        check(wait_for(lambda: any(sentence in line for line in self.lines[before:])),
              f'SIGHUP says "{sentence}": {self.lines[before:]}')


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def total(directory, store):
    """Samples in a store, by asking it."""
    with Daemon(directory, '--store', f'sqlite:{store}') as d:
        folded = d.get('/api/v1/profile?format=folded&from=-2d')
    return sum(int(line.rsplit(' ', 1)[1]) for line in folded.splitlines())


def publish(port, lines):
    """As a client of Redis does, one answer for each."""
    with socket.create_connection(('127.0.0.1', port)) as s:
        for line in lines:
            data = line.encode()
            s.sendall(b'*3\r\n$7\r\nPUBLISH\r\n$7\r\nexcimer\r\n$%d\r\n%s\r\n' % (len(data), data))
        answers = b''
        while answers.count(b'\n') < len(lines):
            answers += s.recv(65536) or exit('the listener hung up')


def write(path, text, mode='a'):
    with open(path, mode) as f:
        f.write(text)


def write_config(path, **options):
    write(path, json.dumps(options), 'w')        # JSON is YAML


@test
def three_sources_and_two_sinks_add_up_at_any_moment():
    with Directory() as directory:
        port, log, a, b = free_port(), f'{directory}/x.log', f'{directory}/a', f'{directory}/b'
        os.makedirs(f'{directory}/logs/hourly')
        write(f'{directory}/logs/hourly/2026-11-21_18.index.log', 'x 1\n')
        options = ['--from', f'unix:{directory}/s', '--from', f'resp://127.0.0.1:{port}', '--from', f'file:{log}',
                   '--arclamp-metrics', f'{directory}/logs', '--to', f'sqlite:{a}', '--to', f'sqlite:{b}']
        with Collector(directory, *options) as c:
            def send():
                s = connect(f'{directory}/s')
                for i in range(300):
                    s.send(message({('main', f'f{i % 40}'): 3}))
                    publish(port, [f'/srv/index.php;main;g{i % 30} 2'] * 5)
                    write(log, f'/srv/api.php;main;h{i % 20} 1\n' * 4)

            sender = threading.Thread(target=send)
            sender.start()
            readings = 0
            while sender.is_alive():
                c.sums()
                readings += 1
            sender.join()
            wanted = [900, 3000, 1200]
            check(wait_for(lambda: [s['samples']['stored'] for s in c.sums()['sources']] == wanted),
                  f'all of it is stored: {c.status()["sources"]}')
            check(readings > 5, f'sums were read while samples came: {readings}')
            s = c.sums()
            check([k['samples']['stored'] for k in s['sinks']] == [5100, 5100], f'each sink has all: {s["sinks"]}')
            metrics = c.get('/metrics')
            for line in [f'strobe_source_samples_stored_total{{source="unix:{directory}/s"}} 900',
                         f'strobe_sink_samples_handed_total{{sink="sqlite:{a}"}} 5100',
                         f'strobe_lines_received_total{{source="file:{log}"}} 1200', 'strobe_samples_stored_total 5100',
                         'strobe_ready 1', 'arclamp_log_bytes_total{period="hourly"} 4']:
                check(f'\n{line}\n' in metrics, f'/metrics says {line}')
            text = subprocess.run([STROBE, 'status', '--url', c.url], capture_output=True, text=True).stdout
            check('900 samples received = 900 stored + 0 dropped + 0 on their way' in text, f'status shows sums:\n{text}')
            check(c.get('/healthz') == 'ok\n', 'it is alive')
            try:
                c.get('/')
                check(False, 'there is no page')
            except urllib.error.HTTPError as e:
                check(e.code == 404 and 'counters only' in e.read().decode(), 'there is no page, and the answer says so')
            check(c.stop() == 0, 'it ends with 0')
        check(total(directory, a) == 5100 and total(directory, b) == 5100, 'both stores give all of it back')


@test
def a_second_collector_on_one_state_directory_says_so_and_ends_with_2():
    with Directory() as directory:
        with Collector(directory, '--from', f'unix:{directory}/s', '--to', f'sqlite:{directory}/a') as c:
            second = subprocess.run([STROBE, 'collect', '--listen', 'none', '--state', f'{directory}/state', '--from',
                                     f'unix:{directory}/t', '--to', f'sqlite:{directory}/b'],
                                    capture_output=True, text=True, timeout=20)
            check(second.returncode == 2 and f'process {c.process.pid}' in second.stderr and '--state' in second.stderr,
                  f'{second.returncode}: {second.stderr}')
            check(not os.path.exists(f'{directory}/t'), 'it has not taken a socket before')


@test
def it_is_not_ready_while_no_source_is_up():
    with Directory() as directory:
        with Collector(directory, '--from', f'file:{directory}/x.log', '--to', f'sqlite:{directory}/a') as c:
            def ready():
                try:
                    return c.get('/readyz') == 'ok\n' and 'yes'
                except urllib.error.HTTPError as e:
                    return f'{e.code} {e.read().decode()}'

            check('503' in ready() and 'waiting for the file' in ready(), f'it says why: {ready()}')
            write(f'{directory}/x.log', 'main 1\n')
            check(wait_for(lambda: ready() == 'yes'), f'it is, with the file: {ready()}')


@test
def hup_takes_sources_and_sinks_in_and_out_and_loses_nothing():
    with Directory() as directory:
        config, first, second = f'{directory}/c.yaml', f'{directory}/first.log', f'{directory}/second.log'
        a, b = f'{directory}/a', f'{directory}/b'
        token = f'{directory}/token'
        write(first, '')
        write(second, '')
        write(token, 'a-token-of-enough-letters\n')
        os.chmod(token, 0o600)
        write_config(config, **{'from': [f'file:{first}', f'unix:{directory}/s'], 'to': [f'sqlite:{a}']})
        with Collector(directory, '-c', config) as c:
            write(first, 'main;a 1\n' * 500)
            wait_for(lambda: c.sums()['sources'][0]['samples']['received'] == 500)
            connect(f'{directory}/s').send(message({('main', 'x'): 7}))
            wait_for(lambda: c.sums()['samples']['received'] == 507)
            # Both with something under way: they are stored, and then closed.
            write_config(config, **{'from': [f'file:{second}'], 'to': [f'sqlite:{a}', f'sqlite:{b}'], 'label-values': 5})
            c.hup('the configuration was read again')
            check(wait_for(lambda: sum('all that came from it stored' in line for line in c.lines) == 2),
                  f'sources leave when they are done: {c.lines}')
            check(not os.path.exists(f'{directory}/s'), 'the socket is gone')
            write(second, ''.join(f'/srv/e{i}.php;main 1\n' for i in range(20)))
            check(wait_for(lambda: [k['samples']['stored'] for k in c.sums()['sinks']] == [527, 20]),
                  f'the new sink has what came since: {c.status()["sinks"]}')
            check(wait_for(lambda: c.status()['samples']['label_values_folded'] >= 15), 'the new cap of label values holds')
            for text, sentence in [('form: [x]', "c.yaml:1: there is no 'form'; did you mean 'from'?"),
                                   ('from: [', 'nothing has changed'), ('to: [nonsense:x]', 'nothing has changed'),
                                   (json.dumps({'from': [f'file:{second}', 'unix:/nonexistent/x'], 'to': [f'sqlite:{b}']}),
                                    'nothing has changed')]:
                write(config, text, 'w')
                c.hup(sentence)
                check([k['url'] for k in c.sums()['sinks']] == [f'sqlite:{a}', f'sqlite:{b}'], f'both are there after {text}')
            write_config(config, **{'from': [f'file:{second}'], 'to': [f'sqlite:{b}'], 'token-file': token})
            c.hup('holds after a restart only')
            check(wait_for(lambda: any(f'sqlite:{a} is closed' in line for line in c.lines)), 'a sink leaves when it is done')
            write(second, 'main;z 1\n')
            check(wait_for(lambda: c.sink(f'sqlite:{b}')['samples']['stored'] == 21), 'the other one goes on')
            check(c.stop() == 0, 'it ends with 0')
        check(total(directory, a) == 527 and total(directory, b) == 21, 'nothing is lost or doubled')


@test
def a_file_is_followed_through_rotation_and_kill_9_without_loss_or_doubling():
    with Directory() as directory:
        log, store = f'{directory}/x.log', f'{directory}/store'
        options = ['--from', f'file:{log}?channel=excimer&label.host=web1', '--to', f'sqlite:{store}']
        kills, written, rotated = int(os.environ.get('STROBE_TEST_KILLS', '8')), 0, 0
        random.seed(7)
        f = open(log, 'a')
        c = Collector(directory, *options).start()
        for kill in range(kills):
            for i in range(4):
                f.write(f'/srv/index.php;main;f{i} 1\n' * 300)
                f.flush()
                written += 300
                time.sleep(random.random() / 4)
            if kill % 3 == 2:
                os.rename(log, f'{log}.{rotated}')
                rotated += 1
                f.write('/srv/late.php;main 1\n' * 10)     # the writer has not noticed yet
                written += 10
                f.close()
                f = open(log, 'a')
            c.process.kill()
            c.process.wait()
            c.start()
        f.close()
        check(wait_for(lambda: c.sums()['samples']['queued'] == 0 and time.sleep(0.5) is None), 'it comes to rest')
        time.sleep(1)
        check(c.stop() == 0, 'it ends with 0')
        check(total(directory, store) == written, f'{total(directory, store)} of {written} lines after {kills} kills')


@test
def a_sink_that_hangs_takes_its_cap_of_memory_and_all_else_goes_on():
    with Directory() as directory:
        a, b = f'{directory}/a', f'{directory}/b'
        options = ['--from', f'unix:{directory}/s', '--to', f'sqlite:{a}', '--to', f'sqlite:{b}', '--queue-bytes', '1M']
        with Collector(directory, *options) as c:
            s = connect(f'{directory}/s')
            s.send(message({('main', 'first'): 1}))
            check(wait_for(lambda: c.sink(f'sqlite:{b}')['samples']['stored'] == 1), 'it works at first')
            day = next(name for name in os.listdir(b) if name.endswith('.db'))
            lock = sqlite3.connect(f'{b}/{day}', isolation_level=None)
            lock.execute('BEGIN IMMEDIATE')               # nobody else may write
            sent, most = 1, 0
            for i in range(25):
                s.send(message({('main', f'function{i}', f'another_function_{i}_{j}'): 1 for j in range(1000)}))
                sent += 1000
                time.sleep(0.2)
                most = max(most, c.sink(f'sqlite:{b}')['queue_bytes'])
            stuck = c.sink(f'sqlite:{b}')
            check(stuck['samples']['dropped']['queue_full'] > 0 and most <= 2 << 20,
                  f'its queue stops at the cap and what is above it is counted: {most} bytes, {stuck}')
            check(stuck['lag_seconds'] > 1, f'its lag is seen: {stuck}')
            check(wait_for(lambda: c.sink(f'sqlite:{a}')['samples']['stored'] == sent), 'the other sink has all')
            lock.execute('ROLLBACK')
            lock.close()
            check(wait_for(lambda: c.sink(f'sqlite:{b}')['samples']['queued'] == 0, 30), 'what waited is stored then')
            n = c.sink(f'sqlite:{b}')['samples']
            check(n['stored'] + n['dropped']['queue_full'] == sent, f'and the rest is counted: {n}')
            check(c.stop() == 0, 'it ends with 0')
        check(total(directory, a) == sent and total(directory, b) == n['stored'], 'the stores agree')


@test
def late_and_early_messages_go_to_their_own_time_within_bounds_whatever_the_clock_of_the_machine_shows():
    with Directory() as directory:
        now = time.time_ns()
        # The local date is another one than in UTC for a part of the day, and summer time begins or ends somewhere.
        with Daemon(directory, environment={'TZ': 'STROBE-14DST,M1.1.0,M12.5.6'}) as d:
            s = connect(d.socket)
            hour = 3600 * 10 ** 9
            s.send(message({('late',): 1}, end=now - 3 * hour))
            s.send(message({('early',): 2}, end=now + 30 * 10 ** 9))
            s.send(message({('ancient',): 4}, end=now - 30 * hour))
            s.send(message({('future',): 8}, end=now + hour))
            check(wait_for(lambda: d.status()['samples']['stored'] == 15), 'all four are stored')
            check(d.status()['samples']['times_corrected'] == 2, 'two are counted as far off')

            def between(first, last):
                seconds = now / 1e9
                return sorted(re.findall(r'^(\w+)', d.get(f'/api/v1/profile?format=folded&from={seconds + first:.0f}'
                                                          f'&to={seconds + last:.0f}'), re.M))

            check(between(-3 * 3600 - 60, -3 * 3600 + 60) == ['late'], f'late: {between(-3 * 3600 - 60, -3 * 3600 + 60)}')
            check(between(-60, 20) == ['ancient', 'future'], f'the time of arrival for those far off: {between(-60, 20)}')
            check('early' in between(-60, 60), 'a little early is fine')
            days = {time.strftime('%Y-%m-%d', time.gmtime(now / 1e9 + n)) + '.db' for n in [0, -3 * 3600]}
            found = {name for name in os.listdir(f'{directory}/state') if name.endswith('.db') and name[0] == '2'}
            check(found <= days, f'days are those of UTC: {found}')


@test
def a_busy_port_for_counters_is_a_warning():
    with Directory() as directory, socket.socket() as busy:
        busy.bind(('127.0.0.1', 0))
        busy.listen()
        done = subprocess.run([STROBE, 'collect', '--from', '-', '--to', f'sqlite:{directory}/a', '--listen',
                               f'127.0.0.1:{busy.getsockname()[1]}'], input='main;a 1\n', capture_output=True, text=True,
                              timeout=20)
        check(done.returncode == 0 and 'no counters to ask for' in done.stderr and '1 stored' in done.stderr,
              f'{done.returncode}: {done.stderr}')


# As Arc Lamp's client does: a connection for each sample, a line for each stack, one PUBLISH.
CLIENT = '''<?php
function publish($line) {
    $redis = new Redis();
    if (!$redis->connect("127.0.0.1", (int)$_SERVER["argv"][1], 0.1)) exit(1);
    $redis->publish("excimer", $line);
}
$script = realpath($_SERVER["SCRIPT_FILENAME"]);
for ($i = 0; $i < 5; $i++) {
    publish("$script;Shop::run;Cart::total 1");
    publish("/srv/blog/wp-cron.php;do_tasks;class@anonymous\\0/srv/blog/x.php:3\$0::__invoke 1");
}
'''


def arclamp_config(directory, port):
    write(f'{directory}/arclamp-log.yaml', f'''
base_path: {directory}/logs
redis:
  host: 127.0.0.1
  port: {port}
  socket_timeout: 5
redis_channel: excimer
logs:
  - period: hourly
    format: '%Y-%m-%d_%H'
    retain: 24
  - period: daily
    format: '%Y-%m-%d'
    retain: 7
    sample_pop: 2
''')
    return f'{directory}/arclamp-log.yaml'


def logged(directory):
    """Lines by period and tag, whatever the time in the names is."""
    found = {}
    for path in glob.glob(f'{directory}/logs/[a-z]*/*.log'):
        key = os.path.basename(os.path.dirname(path)) + ' ' + path.split('.')[-2]
        found[key] = found.get(key, b'') + open(path, 'rb').read()
    return found


@test
def a_host_of_arc_lamp_moves_with_its_client_and_its_yaml_and_redis_goes():
    if b'redis' not in subprocess.run(['php', '-m'], capture_output=True).stdout:
        raise Skip('PHP has no redis extension')
    with Directory() as directory:
        write(f'{directory}/index.php', CLIENT)

        def run_site():
            done = subprocess.run(['php', f'{directory}/index.php', str(port)], capture_output=True, text=True, timeout=30)
            check(done.returncode == 0 and not done.stdout, f'the client works: {done.stdout}{done.stderr}')

        def wait_for_lines(n):
            check(wait_for(lambda: logged(directory).get('hourly all', b'').count(b'\n') == n), f'{n} lines: {logged(directory)}')

        with RedisServer() as redis:
            port = redis.port
            config = arclamp_config(directory, port)
            with Collector(directory, '--arclamp', config) as c:
                check(wait_for(lambda: c.sums()['sources'][0]['up']), f'it listens to the Redis of the file: {c.lines}')
                run_site()
                wait_for_lines(10)
                check(c.stop() == 0, 'it ends with 0')
        before = logged(directory)
        index = f'{directory}/index.php;Shop::run;Cart::total 1\n'.encode() * 5
        cron = b'/srv/blog/wp-cron.php;do_tasks;class@anonymous\0/srv/blog/x.php:3$0::__invoke 1\n' * 5
        check(sorted(before) == ['daily all', 'daily index', 'hourly all', 'hourly index', 'hourly wp-cron']
              or sorted(before) == ['daily all', 'daily wp-cron', 'hourly all', 'hourly index', 'hourly wp-cron'],
              f'the tree is that of Arc Lamp: {sorted(before)}')
        check(before['hourly index'] == index and before['hourly wp-cron'] == cron, f'lines are verbatim: {before}')
        check(before['daily all'].count(b'\n') == 5, 'sample_pop is heeded')
        # The same client, the same file, no Redis; and a store, for any range at any time.
        options = ['-c', config, '--from', f'resp://127.0.0.1:{port}', '--listen', '127.0.0.1:0']
        d = Daemon(directory, environment={'STROBE_SOCKET': f'{directory}/none'})
        d.command = [STROBE, 'serve', *options, '--store', f'sqlite:{directory}/store']
        with d:
            run_site()
            wait_for_lines(20)
            check(wait_for(lambda: d.status()['samples']['stored'] == 10), f'it is stored: {d.status()["samples"]}')
            folded = d.get('/api/v1/profile?format=folded&from=-15m&entry=index')
            check(f'{directory}/index.php;Shop::run;Cart::total 5' in folded, f'a range of the store: {folded}')
            check(d.stop() == 0, 'it ends with 0')
        after = logged(directory)
        check(after['hourly index'] == index * 2 and after['hourly wp-cron'] == cron * 2, 'the same files go on')


@test
def from_a_relay_by_a_stream_to_a_centre_that_lets_the_stream_go_and_takes_it_again():
    with Directory() as edge, Directory() as centre, RedisServer() as redis:
        url, config = f'redis://127.0.0.1:{redis.port}/?stream=strobe', f'{centre}/c.yaml'
        without = {'from': [f'unix:{centre}/s'], 'to': [f'sqlite:{centre}/a']}
        with_stream = {**without, 'from': [f'{url}&group=g', f'unix:{centre}/s']}
        write_config(config, **with_stream)
        relay = Collector(edge, '--from', f'unix:{edge}/s', '--to', f'{url}&window=1')
        with Collector(centre, '-c', config) as c, relay:
            s = connect(f'{edge}/s')

            def send_and_wait(stored):
                for i in range(10):
                    s.send(message({('main', f'f{i}'): 2}))
                return wait_for(lambda: c.sums()['samples']['stored'] == stored)

            check(send_and_wait(20), f'what the relay sent is stored: {c.status()["samples"]}')
            check(wait_for(lambda: c.status()['sources'][0]['stream']['pending'] == 0), 'and acknowledged')
            write_config(config, **without)
            c.hup('the configuration was read again')
            check(wait_for(lambda: any('all that came from it stored' in line for line in c.lines)), f'the stream goes: {c.lines}')
            write_config(config, **with_stream)
            c.hup('the configuration was read again')
            check(send_and_wait(40), f'and comes again: {c.status()["samples"]}')
            n = relay.sums()['sinks'][0]
            check(n['up'] and n['counts']['relay_handed_samples_total'] == 40, f'the relay has handed all over: {n}')
            check(relay.stop() == 0 and c.stop() == 0, 'both end with 0')
        check(total(centre, f'{centre}/a') == 40, 'nothing is lost or doubled')


@test
def a_socket_that_systemd_made_is_taken_and_holds_clients_while_nobody_runs():
    with Directory() as directory, socket.socket() as listener:
        listener.bind(('127.0.0.1', 0))
        listener.listen(64)
        port = listener.getsockname()[1]
        c = Collector(directory, '--from', f'resp://127.0.0.1:{port}', '--to', f'sqlite:{directory}/a')
        c.command = ['sh', '-c', f'exec 3<&{listener.fileno()}; LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"', 'sh', *c.command]
        client = socket.create_connection(('127.0.0.1', port))       # before anybody is there
        client.sendall(b'*3\r\n$7\r\nPUBLISH\r\n$1\r\nx\r\n$8\r\nmain;a 5\r\n')
        os.set_inheritable(listener.fileno(), True)
        popen = subprocess.Popen
        try:
            subprocess.Popen = lambda *a, **o: popen(*a, **o, close_fds=False)
            c.start()
        finally:
            subprocess.Popen = popen
        check(client.recv(100).startswith(b':'), 'what was sent before the start is answered')
        check(wait_for(lambda: c.sums()['samples']['stored'] == 5), 'and stored')
        check(c.stop() == 0, 'it ends with 0')


@test
def the_example_files_of_the_package_are_taken():
    with Directory() as directory:
        with Daemon(directory, '-c', f'{ROOT}/packaging/strobe.yaml') as d:
            check(d.status()['store']['max_age_seconds'] == 30 * 86400, 'strobe.yaml is read by serve')
            check(d.stop() == 0, 'it ends with 0')
        done = subprocess.run([STROBE, 'collect', '-c', f'{ROOT}/packaging/collect.yaml', '--from', '-', '--to',
                               f'sqlite:{directory}/a', '--listen', 'none'], input='main;a 1\n', capture_output=True, text=True)
        check(done.returncode == 0, f'collect.yaml by collect: {done.stderr}')


@test
def units_of_systemd_are_valid_and_locked_up():
    units = [f'{ROOT}/packaging/systemd/{name}' for name in ['strobe.service.in', 'strobe-collect.service.in', 'strobe.socket.in',
                                                               'strobe-collect.socket.in']]
    with Directory() as directory:
        paths = []
        for unit in units:
            with open(unit) as f:
                text = f.read().replace('@bindir@/strobe', STROBE).replace('@sysconfdir@', '/etc')
            paths.append(f'{directory}/{os.path.basename(unit)[:-3]}')
            write(paths[-1], text, 'w')
            if unit.endswith('service.in'):
                for line in ['Type=notify', 'WatchdogSec=', 'ProtectSystem=strict', 'NoNewPrivileges=yes',
                             'ExecReload=/bin/kill -HUP $MAINPID', 'MemoryMax=', 'SystemCallFilter=']:
                    check(f'\n{line}' in text, f'{os.path.basename(unit)} has {line}')
        if subprocess.run(['sh', '-c', 'command -v systemd-analyze'], capture_output=True).returncode:
            raise Skip('there is no systemd-analyze')
        done = subprocess.run(['systemd-analyze', 'verify', *paths], capture_output=True, text=True, timeout=60)
        said = [line for line in done.stderr.splitlines() if 'strobe' in line and 'man strobe' not in line]
        check(not said, f'systemd-analyze verify: {said}')


@test
def ten_thousand_processes_that_send_at_one_moment_are_all_heard():
    senders, count = os.environ.get('STROBE_SENDERS', f'{ROOT}/build/meson/tests/system/senders'), 10000
    with Directory() as directory:
        port, store = free_port(), f'{directory}/store'
        with Collector(directory, '--from', f'unix:{directory}/s', '--from', f'resp://127.0.0.1:{port}', '--to', f'sqlite:{store}') as c:
            crowd = subprocess.run([senders, f'{directory}/s', str(port), str(count)], stdout=subprocess.PIPE, text=True, timeout=300)
            started, sent = map(int, crowd.stdout.split())
            if started < count:
                raise Skip(f'this machine starts only {started} processes')
            check(sent == count, f'{sent} of {started} processes sent')
            check(wait_for(lambda: c.sums()['samples']['stored'] == 3 * count), f'all of them are stored: {c.status()["samples"]}')
            check([s['connections_total'] for s in c.status()['sources']] == [count // 2] * 2, 'each had a connection')
            check(wait_for(lambda: not any(s['connections'] for s in c.status()['sources'])), 'none is left over')
            c.stop()
        check(total(directory, store) == 3 * count, 'and so says the store')


main()
