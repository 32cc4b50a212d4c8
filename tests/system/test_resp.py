"""The listener that speaks Redis' protocol, with the clients that people have: phpredis as Arc Lamp's client uses it,
redis-cli, redis-benchmark, thousands of connections.

STROBE_SOAK_SECONDS: how long the soak lasts; 3 unless given.
"""
import collections
import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import threading
import time

from daemon import Daemon
from strobe_test import Directory, Skip, check, main, test, wait_for

# Treats the lines of a profiler's log as Arc Lamp's client does, in our own words.
CLIENT = r'''<?php
[, $port, $timeout] = $argv;
$start = microtime(true);
$lines = "/srv/w/index.php;main;work 3\n/srv/w/index.php;main 1\n\n";
try {
    $redis = new Redis;
    if (!$redis->connect('127.0.0.1', (int)$port, (float)$timeout)) {
        throw new Exception('no connection');
    }
    foreach (explode("\n", $lines) as $line) {
        if ($line !== '') {
            echo $redis->publish('excimer', $line), "\n";
        }
    }
    echo "published\n";
} catch (Exception $e) {
    echo get_class($e), ': ', $e->getMessage(), "\n";
}
printf("%.2f seconds\n", microtime(true) - $start);
'''


class Listener(Daemon):
    def __init__(self, directory, parameters=''):
        super().__init__(directory, '--from', f'resp://127.0.0.1:0{parameters}')

    def start(self):
        super().start()
        self.port = int(re.search(r'resp://127\.0\.0\.1:(\d+)', ' '.join(self.lines)).group(1))
        return self

    def stored(self):
        return self.status()['samples']['stored']

    def wait_for_samples(self, n, seconds=60):
        return wait_for(lambda: self.stored() >= n, seconds) and self.stored() == n

    def log(self, text):
        return [line for line in self.lines if text in line]


def need(program):
    if not shutil.which(program):
        raise Skip(f'{program} is not installed')


def php(d, *settings, timeout='0.1'):
    need('php')
    if 'redis' not in subprocess.run(['php', '-m'], capture_output=True, text=True).stdout.split():
        raise Skip('PHP has no redis extension')
    path = f'{d.directory}/client.php'
    with open(path, 'w', encoding='utf-8') as f:
        f.write(CLIENT)
    return subprocess.run(['php', *settings, path, str(d.port), timeout], capture_output=True, text=True, timeout=60).stdout


def cli(d, *arguments):
    need('redis-cli')
    return subprocess.run(['redis-cli', '-p', str(d.port), *arguments], capture_output=True, text=True, timeout=60).stdout.strip()


def command(*parts):
    return b'*%d\r\n' % len(parts) + b''.join(b'$%d\r\n%s\r\n' % (len(p), p) for p in parts)


def publish(line):
    return command(b'PUBLISH', b'excimer', line)


@test
def the_arc_lamp_client_publishes_without_a_redis():
    with Directory() as directory, Listener(directory) as d:
        out = php(d)
        check(out.startswith('1\n1\npublished\n'), f'each line is answered 1: {out}')
        check(d.wait_for_samples(4), f'4 samples are stored, not {d.stored()}')
        profile = d.get('/api/v1/profile?from=-1h')
        check('work' in profile and '/srv/w/index.php' in profile, f'the stack is in the profile: {profile[:300]}')
        check('index' in d.get('/api/v1/labels?from=-1h'), 'the entry point is a label')


@test
def a_suspended_daemon_delays_a_client_only_until_its_timeout_and_loses_no_lines():
    with Directory() as directory, Listener(directory) as d:
        d.process.send_signal(signal.SIGSTOP)
        try:
            # The kernel takes the connection and the first line; the answer is what phpredis waits for.
            out = php(d, '-d', 'default_socket_timeout=1')
        finally:
            d.process.send_signal(signal.SIGCONT)
        check('RedisException' in out, f'phpredis gives up: {out}')
        seconds = float(re.search(r'([\d.]+) seconds', out).group(1))
        check(seconds < 3, f'it took {seconds} s with a timeout of 1 s')
        check(d.wait_for_samples(3), f'the line sent in the meantime is stored: {d.stored()} samples')


@test
def without_a_daemon_the_client_fails_immediately():
    with Directory() as directory:
        with Listener(directory) as d:
            check(d.stop() == 0, 'exits with 0 on SIGTERM')
            out = php(d)
            check('Connection refused' in out, f'the connection is refused: {out}')


@test
def redis_cli_works_with_the_listener():
    with Directory() as directory, Listener(directory) as d:
        check(cli(d, 'ping') == 'PONG', 'PING')
        check(cli(d, '-3', 'ping') == 'PONG', 'PING after HELLO 3')
        check(cli(d, 'publish', 'excimer', 'index.php;main;work 5') == '1', 'PUBLISH')
        check(cli(d, 'publish', 'excimer', 'no line') == '0', 'PUBLISH of something else')
        first, second = (cli(d, 'xadd', 'strobe', '*', 'line', 'a;b 1', 'host', 'web1') for _ in range(2))
        check(tuple(map(int, first.split('-'))) < tuple(map(int, second.split('-'))), f'ids increase: {first}, {second}')
        check("unknown command 'keys'" in cli(d, 'keys', '*'), 'unknown commands are reported')
        check('redis_version' in cli(d, 'info'), 'INFO')
        check(d.wait_for_samples(7), f'7 samples are stored, not {d.stored()}')
        check('web1' in d.get('/api/v1/labels?from=-1h'), 'a field of the entry is a label')


@test
def a_password_is_required_and_never_logged():
    with Directory() as directory:
        with open(f'{directory}/password', 'w', encoding='utf-8') as f:
            f.write('geheim\n')
        with Listener(directory, f'?password-file={directory}/password') as d:
            check('NOAUTH' in cli(d, 'publish', 'excimer', 'a 1'), 'without the password')
            check(cli(d, '--no-auth-warning', '-a', 'geheim', 'publish', 'excimer', 'a 1') == '1', 'with the password')
            check('WRONGPASS' in cli(d, 'auth', 'falsch'), 'with a wrong password')
            wait_for(lambda: d.log('wrong password'))
            shown = d.get('/api/v1/status') + ' '.join(d.lines)
            check('geheim' not in shown and len(d.log('wrong password')) == 1, f'the password is not in {d.lines}')


@test
def a_listener_beyond_localhost_requires_a_password():
    with Directory() as directory:
        d = Daemon(directory, '--from', 'resp://0.0.0.0:0')
        try:
            d.start()
            check(False, 'the daemon started')
            d.stop()
        except RuntimeError as e:
            check('without a password: anybody could send samples' in str(e), f'the reason is reported: {e}')
            check(d.process.wait(60) == 2, 'exits with 2')
        d.said.thread.join(10)
        d.process.stderr.close()


@test
def an_http_client_is_disconnected_and_logged_once():
    need('curl')
    with Directory() as directory, Listener(directory) as d:
        for _ in range(3):
            r = subprocess.run(['curl', '-s', '-m', '5', '-d', 'PUBLISH excimer "evil 1"', f'http://127.0.0.1:{d.port}/'],
                               capture_output=True, text=True)
            check(r.returncode == 52 and r.stdout == '', f'an empty reply: {r.returncode} {r.stdout!r}')
        check(wait_for(lambda: len(d.log('possible attack')) == 1), f'one line is logged: {d.lines}')
        check(d.status()['samples']['received'] == 0, 'no sample was received')


@test
def redis_benchmark_works_with_the_listener():
    need('redis-benchmark')
    with Directory() as directory, Listener(directory) as d:
        r = subprocess.run(['redis-benchmark', '-p', str(d.port), '-n', '50000', '-c', '50', '-P', '16', '-q', 'publish', 'excimer',
                            'index.php;main;work 1'], capture_output=True, text=True, timeout=60)
        check(r.returncode == 0 and 'requests per second' in r.stdout, f'the benchmark completes: {r.stdout[-200:]}')
        check(d.wait_for_samples(50000), f'all are stored, not {d.stored()}')


@test
def ten_thousand_concurrent_connections_all_get_replies():
    count = 10000
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2 * count:
        raise Skip(f'the limit of descriptors is {hard}')
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        with Directory() as directory, Listener(directory) as d:
            clients = [socket.create_connection(('127.0.0.1', d.port), 20) for _ in range(count)]
            for i, c in enumerate(clients):
                c.sendall(publish(b'index.php;worker_%d;work 1' % (i % 100)))
            answered = sum(c.recv(16) == b':1\r\n' for c in clients)
            check(answered == count, f'{count} are answered, not {answered}')
            with open(f'/proc/{d.process.pid}/status', encoding='utf-8') as f:
                rss = int(re.search(r'VmRSS:\s*(\d+)', f.read()).group(1)) // 1024
            check(rss < 150, f'the daemon takes {rss} MB')
            for c in clients:
                c.close()
            check(d.wait_for_samples(count), f'all are stored, not {d.stored()}')
            check(wait_for(lambda: sum(s['connections'] for s in d.status()['sources']) == 0), 'no connection is left')
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@test
def messages_acknowledged_before_shutdown_are_stored():
    answered = []

    def send(port):
        n = 0
        with socket.create_connection(('127.0.0.1', port), 20) as c:
            try:
                while True:
                    c.sendall(publish(b'index.php;main;work 1') * 10)
                    got = b''
                    while len(got) < 40:
                        more = c.recv(64)
                        if not more:
                            raise ConnectionError
                        got += more
                        n += more.count(b'\n')
            except OSError:
                answered.append(n)

    with Directory() as directory:
        with Listener(directory) as d:
            threads = [threading.Thread(target=send, args=(d.port,)) for _ in range(4)]
            for t in threads:
                t.start()
            check(wait_for(lambda: d.status()['samples']['received'] > 200), 'all clients are sending')
            check(d.stop() == 0, 'exits with 0')
            for t in threads:
                t.join()
        with Listener(directory) as d:
            stored = sum(json.loads(d.get('/api/v1/timeline?from=-1h'))['samples'])
            check(sum(answered) > 100, f'{sum(answered)} were answered')
            check(stored >= sum(answered), f'{sum(answered)} were answered and {stored} are stored')


@test
def published_samples_are_stored_exactly_across_several_batches():
    random.seed(5)
    stacks = [';'.join(['/srv/w/%s.php' % random.choice(['index', 'api', 'load'])] +
                       [f'f{random.randrange(20)}' for _ in range(random.randrange(1, 12))]) for _ in range(400)]
    wanted = collections.Counter()
    with Directory() as directory, Listener(directory) as d:
        with socket.create_connection(('127.0.0.1', d.port), 20) as c:
            for _ in range(25):
                part = b''
                for _ in range(400):
                    stack, count = random.choice(stacks), random.randrange(1, 4)
                    wanted[stack] += count
                    part += publish(f'{stack} {count}\n'.encode())
                c.sendall(part)
                got = 0
                while got < 400:
                    got += c.recv(65536).count(b'\n')
                time.sleep(0.1)
        check(d.wait_for_samples(sum(wanted.values())), f'{sum(wanted.values())} samples are stored, not {d.stored()}')
        check(d.status()['commits']['done'] > 1, 'in several batches')
        stored = collections.Counter()
        for line in d.get('/api/v1/profile?from=-1h&format=folded').splitlines():
            stack, _, count = line.rpartition(' ')
            stored[stack] += int(count)
        check(stored == wanted, f'each stack has its samples: {(stored - wanted) + (wanted - stored)}')


@test
def incomplete_commands_and_idle_connections_do_not_block_other_clients():
    with Directory() as directory, Listener(directory, '?idle=1') as d:
        slow = [socket.create_connection(('127.0.0.1', d.port), 20) for _ in range(200)]
        for i, c in enumerate(slow):
            c.sendall(publish(b'index.php;main;work 1')[:i % 40])
        check(cli(d, 'publish', 'excimer', 'a;b 1') == '1', 'other clients are served')
        check(wait_for(lambda: sum(s['connections'] for s in d.status()['sources']) == 0), 'idle connections are closed')
        for c in slow:
            c.close()


@test
def memory_use_stays_flat_under_arbitrary_input():
    need('redis-benchmark')
    seconds = float(os.environ.get('STROBE_SOAK_SECONDS', '3'))
    with Directory() as directory, Listener(directory) as d:
        def load(until):
            while time.monotonic() < until:
                subprocess.run(['redis-benchmark', '-p', str(d.port), '-n', '40000', '-c', '20', '-P', '32', '-r', '150', '-q',
                                'publish', 'excimer', 'index.php;main;function___rand_int__;inner;__rand_int__ 1'],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)

        def rss():
            with open(f'/proc/{d.process.pid}/status', encoding='utf-8') as f:
                return int(re.search(r'VmRSS:\s*(\d+)', f.read()).group(1)) // 1024

        load(time.monotonic() + seconds / 2)
        first = rss()
        load(time.monotonic() + seconds / 2)
        check(rss() < first * 1.3 + 20, f'{first} MB halfway and {rss()} MB at the end')
        s = d.status()['samples']
        check(s['received'] == s['stored'] + s['queued'] + sum(s['dropped'].values()), f'nothing is unaccounted for: {s}')


main()
