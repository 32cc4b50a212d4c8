#!/usr/bin/env python3
"""The cost of taking a message in: CPU time of the whole daemon, from the socket into SQLite, and messages per second on
one core; the same from a Redis; beside it a consumer that works as Arc Lamp's log service does (python3-redis and
redis-server).

INGEST_COUNT: messages of the long run; 3,000,000, a day of a fleet of 150 hosts, unless given.
"""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
STROBE = os.environ.get('STROBE', os.path.join(ROOT, 'build', 'strobe'))
LOAD = os.path.join(os.environ.get('STROBE_BUILD', os.path.join(ROOT, 'build', 'meson')), 'bench', 'ingest_load')
COUNT = int(os.environ.get('INGEST_COUNT', '3000000'))
TICK = os.sysconf('SC_CLK_TCK')
CPUS = sorted(os.sched_getaffinity(0))


def row(name, value, unit, remark=''):
    print(f'{name}\t{value}\t{unit}\t{remark}', flush=True)


def cpu_of(pid):
    with open(f'/proc/{pid}/stat', encoding='utf-8') as f:
        fields = f.read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def rss_of(pid):
    with open(f'/proc/{pid}/status', encoding='utf-8') as f:
        return int(re.search(r'VmRSS:\s*(\d+)', f.read()).group(1)) / 1024


def on_cpu(n):
    """The measured process has a core of its own if there are several, and the sender uses the others."""
    if len(CPUS) == 1:
        return None
    return lambda: os.sched_setaffinity(0, {CPUS[0]} if n == 0 else set(CPUS[1:]))


class Daemon:
    """`strobe serve` with one source and a store of its own."""

    def __init__(self, directory, source='resp://127.0.0.1:0', *options):
        self.process = subprocess.Popen(
            [STROBE, 'serve', '--listen', '127.0.0.1:0', '--from', source, '--store', f'sqlite:{directory}/s', *options],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=on_cpu(0),
            env=dict(os.environ, XDG_STATE_HOME=directory))
        lines = ''
        while 'http://' not in lines:
            line = self.process.stderr.readline()
            if not line:
                raise RuntimeError(lines.strip())
            lines += line
        listener = re.search(r'resp://127\.0\.0\.1:(\d+)', lines)
        self.port = int(listener.group(1)) if listener else None
        self.url = re.search(r'http://\S+', lines).group(0)
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        self.pid = self.process.pid
        self.cpu = cpu_of(self.pid)

    def stored(self):
        with urllib.request.urlopen(self.url + '/api/v1/status') as r:
            return json.load(r)['samples']['stored']

    def wait_until_stored(self, count):
        end = time.monotonic() + 60
        while self.stored() < count and time.monotonic() < end:
            time.sleep(0.2)
        return self.stored()

    def answer_seconds(self):
        start = time.monotonic()
        with urllib.request.urlopen(self.url + '/api/v1/profile?from=-1h') as r:
            while r.read(1 << 20):
                pass
        return time.monotonic() - start

    def stop(self):
        """Returns the CPU seconds since the start."""
        self.process.send_signal(signal.SIGTERM)
        _, _, usage = os.wait4(self.pid, 0)
        self.process.returncode = 0
        return usage.ru_utime + usage.ru_stime - self.cpu


def load(port, count, *options):
    out = subprocess.run([LOAD, str(port), str(count), *options], stdout=subprocess.PIPE, text=True, check=True,
                         stderr=subprocess.DEVNULL, preexec_fn=on_cpu(1)).stdout.split()
    return int(out[0]), int(out[1]), float(out[2])


def measure(name, count, *options):
    with tempfile.TemporaryDirectory(prefix='strobe-') as directory:
        d = Daemon(directory)
        sent, _, seconds = load(d.port, count, *options)
        stored = d.wait_until_stored(sent)
        cpu = d.stop()
    lost = '' if stored == sent else f'{sent - stored} OF {sent} LOST, '
    row(f'ingest, {name}', f'{cpu / sent * 1e6:.2f}', 'µs CPU per message', f'({lost}{sent:,} in {seconds:.1f} s)')
    return sent / seconds, sent / cpu


def long_run():
    """A day of a fleet at once: speed, memory, and the store's answers afterwards."""
    with tempfile.TemporaryDirectory(prefix='strobe-') as directory:
        d = Daemon(directory)
        memory, sent, seconds = [], 0, 0
        for _ in range(3):
            n, _, s = load(d.port, COUNT // 3)
            sent, seconds = sent + n, seconds + s
            memory.append(rss_of(d.pid))
        stored = d.wait_until_stored(sent)
        answer = min(d.answer_seconds() for _ in range(3))
        cpu = d.stop()
        size = sum(os.path.getsize(f'{directory}/s/{f}') for f in os.listdir(f'{directory}/s'))
    row('ingest, resp://, a day at once', f'{cpu / sent * 1e6:.2f}', 'µs CPU per message',
        f'({sent - stored} of {sent:,} lost)')
    row('ingest, resp://, a day at once, taken', f'{sent / seconds:,.0f}', 'messages/s', 'with the daemon on one core')
    row('ingest, resp://, a day at once, one core would take', f'{sent / cpu:,.0f}', 'messages/s')
    row('ingest, resp://, memory after each third of it', ' '.join(f'{m:.0f}' for m in memory), 'MB')
    row('ingest, resp://, the store after it', f'{size / 1e6:.1f}', 'MB', f'its whole profile is answered in {answer:.2f} s')


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


class Redis:
    """A redis-server without persistence."""

    def __enter__(self):
        self.directory = tempfile.mkdtemp(prefix='strobe-')
        self.port = free_port()
        self.process = subprocess.Popen(
            ['redis-server', '--port', str(self.port), '--bind', '127.0.0.1', '--save', '', '--dir', self.directory],
            stdout=subprocess.DEVNULL, preexec_fn=on_cpu(1))
        while self.ask('PING') != '+PONG':
            time.sleep(0.05)
        return self

    def ask(self, line):
        """Returns the last line of the answer."""
        try:
            with socket.create_connection(('127.0.0.1', self.port), 5) as s:
                s.sendall(line.encode() + b'\r\n')
                return s.recv(65536).decode().strip().split('\r\n')[-1]
        except OSError:
            return ''

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)
        shutil.rmtree(self.directory, ignore_errors=True)


def consume(python, name, count, *options):
    """The same messages through a Redis and a consumer in Python."""
    with tempfile.TemporaryDirectory(prefix='strobe-') as directory, Redis() as redis:
        consumer = subprocess.Popen([python, os.path.join(HERE, 'arclamp_like.py'), str(redis.port), directory, str(count)],
                                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, preexec_fn=on_cpu(0))
        consumer.stdout.readline()
        before = cpu_of(consumer.pid)
        load(redis.port, count, *options)
        _, status, usage = os.wait4(consumer.pid, 0)
        consumer.returncode = 0
        cpu = usage.ru_utime + usage.ru_stime - before
    row(f'ingest, as arclamp-log, {name}', f'{cpu / count * 1e6:.1f}', 'µs CPU per message',
        '' if status == 0 else '(cut off by Redis)')


def from_redis(name, query, is_ready, count, *options):
    """The same messages through a Redis into our daemon."""
    with tempfile.TemporaryDirectory(prefix='strobe-') as directory, Redis() as redis:
        try:
            d = Daemon(directory, f'redis://127.0.0.1:{redis.port}/?{query}')
        except RuntimeError as e:
            row(f'ingest, {name}', '-', '', str(e))
            return
        end = time.monotonic() + 10
        while not is_ready(redis) and time.monotonic() < end:
            time.sleep(0.05)
        sent, _, seconds = load(redis.port, count, *options)
        stored = d.wait_until_stored(sent)
        cpu = d.stop()
    lost = '' if stored == sent else f'{sent - stored} of {sent} lost, '
    row(f'ingest, {name}', f'{cpu / max(stored, 1) * 1e6:.2f}', 'µs CPU per message', f'({lost}{sent:,} in {seconds:.1f} s)')


def is_subscribed(redis):
    return redis.ask('PUBSUB NUMSUB excimer') == ':1'


def has_group(redis):
    return redis.ask('XINFO GROUPS strobe') not in ('', '*0') and not redis.ask('XINFO GROUPS strobe').startswith('-')


def python_with_redis():
    """Usually Debian's Python, whatever else is in the PATH; None if there is none, or no redis-server."""
    for python in (sys.executable, '/usr/bin/python3'):
        if shutil.which('redis-server') and os.path.exists(python) and \
                subprocess.run([python, '-c', 'import redis'], stderr=subprocess.DEVNULL).returncode == 0:
            return python
    return None


def main():
    peer = python_with_redis()
    if not peer:
        row('ingest, as arclamp-log', '-', '', 'needs redis-server and python3-redis')
    if peer:
        consume(peer, 'a burst of 20,000', 20000)
    measure('resp://, a burst of 20,000', 20000)
    measure('resp://, 500,000 at once', 500000)
    if peer:
        consume(peer, '1,000/s', 3000, 'rate=1000')
    measure('resp://, 1,000/s', 3000, 'rate=1000')
    measure('resp://, 20,000/s', 100000, 'rate=20000')
    measure('resp://, a connection for each message', 20000, 'each=1')
    if peer:
        from_redis('pub/sub, 500,000 at once', 'channel=excimer', is_subscribed, 500000)
        from_redis('pub/sub, 40,000/s', 'channel=excimer', is_subscribed, 200000, 'rate=40000')
        from_redis('a stream, 100,000 at once', 'stream=strobe&group=g', has_group, 100000, 'xadd=1')
    long_run()


if __name__ == '__main__':
    main()
