#!/usr/bin/env python3
"""The budget of queries and slow readers (--query-memory): four folded profiles of 600,000 deep samples at once, then forty
readers that leave an answer of 25 MB unread. Memory is that of the daemon and its processes of queries together, as the
kernel shares it out (Pss), every 20 ms. Probes are sent during that time, one after another.

BUDGET_SAMPLES: how many samples, each a stack of its own; 600,000 unless given.
"""
import os
import random
import socket
import statistics
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
os.environ.setdefault('STROBE', os.path.join(ROOT, 'build', 'strobe'))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'system'))
from daemon import Daemon                       # noqa: E402
from strobe_test import STROBE, Directory       # noqa: E402

SAMPLES = int(os.environ.get('BUDGET_SAMPLES', '600000'))
DEPTH, READERS, READ_BYTES = 45, 40, 25 << 20
FOLDED = '/api/v1/profile?from=-10d&format=folded'
PROBES = ('/healthz', '/readyz', '/metrics')


def row(name, value, unit, remark=''):
    print(f'{name}\t{value}\t{unit}\t{remark}', flush=True)


def fill(directory, most_bytes=None):
    """Stores SAMPLES different stacks, or that many bytes of them; 40 at a time share a prefix. Returns their number."""
    names = [f'App\\Module{i % 97}\\Class{i}::method{i}' for i in range(2000)]
    command = [STROBE, 'collect', '--from', '-', '--to', f'sqlite:{directory}/state', '--listen', 'none']
    count = size = 0
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as p:
        while size < most_bytes if most_bytes else count < SAMPLES:
            if count % 40 == 0:
                shared = random.Random(count // 40).choices(names, k=DEPTH * 2 // 3)
            line = ';'.join(['index.php', *shared, *random.Random(-count - 1).choices(names, k=DEPTH // 3)]) + ' 1\n'
            p.stdin.write(line)
            count, size = count + 1, size + len(line)
    return count


class Watch:
    """Measures the peak memory of the daemon and all its descendants, and the response times of probes, until the end
    of the block."""

    def __init__(self, d):
        self.d, self.most, self.probes, self.failed, self.over = d, 0, [], 0, threading.Event()
        self.threads = [threading.Thread(target=f) for f in (self.measure, self.probe)]

    def __enter__(self):
        for t in self.threads:
            t.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for t in self.threads:
            t.join()

    def processes(self):
        pids = [self.d.process.pid]
        for pid in pids:
            try:
                with open(f'/proc/{pid}/task/{pid}/children', encoding='ascii') as f:
                    pids += map(int, f.read().split())
            except OSError:
                pass
        return pids

    def measure(self):
        while not self.over.wait(0.02):
            total = 0
            for pid in self.processes():
                try:
                    with open(f'/proc/{pid}/smaps_rollup', encoding='ascii') as f:
                        total += sum(int(line.split()[1]) for line in f if line.startswith('Pss:'))
                except OSError:
                    pass
            self.most = max(self.most, total)

    def probe(self):
        while not self.over.is_set():
            for path in PROBES:
                start = time.monotonic()
                try:
                    self.d.get(path)
                    self.probes.append(time.monotonic() - start)
                except OSError:
                    self.failed += 1
            time.sleep(0.005)

    def rows(self, name):
        row(f'{name}: memory at most', f'{self.most / 1024:.0f}', 'MB', 'the daemon and its queries together')
        row(f'{name}: a probe, p50', f'{1e3 * statistics.median(self.probes):.1f}', 'ms')
        row(f'{name}: a probe, the slowest', f'{1e3 * max(self.probes):.1f}', 'ms',
            f'goal 100 ms; of {len(self.probes)} probes, {self.failed} not answered')
        row(f'{name}: the daemon', 'up' if self.d.process.poll() is None else 'ended', '')


def ask(d, path):
    """Returns the status, the size of the answer, and its warning about missing data."""
    try:
        with urllib.request.urlopen(d.url + path, timeout=600) as r:
            size = 0
            while piece := r.read(1 << 20):
                size += len(piece)
            return r.status, size, r.headers.get('Strobe-Warning', '')
    except urllib.error.HTTPError as e:
        with e:
            return e.code, 0, f'Retry-After {e.headers["Retry-After"]}' if e.headers['Retry-After'] else e.read().decode()
    except OSError as e:
        return 'none', 0, str(e)


def queries():
    with Directory() as directory:
        count = fill(directory)
        with Daemon(directory) as d:
            answers = []
            threads = [threading.Thread(target=lambda: answers.append(ask(d, FOLDED))) for _ in range(4)]
            start = time.monotonic()
            with Watch(d) as watch:
                for t in threads:
                    t.start()
                for t in threads:
                    t.join()
            name = f'4 folded profiles of {count:,} samples'
            for status, size, remark in sorted(answers, key=str):
                row(f'{name}: status', status, '', ', '.join(filter(None, [f'{size / 1e6:.0f} MB' if size else '', remark])))
            row(f'{name}: took', f'{time.monotonic() - start:.1f}', 's')
            watch.rows(name)


def connect_slowly(d):
    host, port = d.url[7:].split(':')
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.settimeout(600)
    s.connect((host, int(port)))
    s.sendall(f'GET {FOLDED} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n'.encode())
    return s, s.recv(100).split(b'\r\n')[0].decode()


def slow_readers():
    with Directory() as directory:
        fill(directory, READ_BYTES)
        with Daemon(directory) as d:
            with Watch(d) as watch:
                readers = [connect_slowly(d) for _ in range(READERS)]
                size = ask(d, FOLDED)[1]
            name = f'{READERS} slow readers of {size / 1e6:.0f} MB'
            heads = [head for _, head in readers]
            for head in sorted(set(heads)):
                row(f'{name}: answered {head[9:]}', heads.count(head), 'times')
            watch.rows(name)
            for s, _ in readers:
                s.close()


if __name__ == '__main__':
    queries()
    slow_readers()
