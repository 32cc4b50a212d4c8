"""`strobe serve` over two ClickHouse servers that share the samples, for tests."""
import concurrent.futures
import contextlib
import re
import time
import urllib.error
import urllib.request

import wire
from clickhouse_server import ClickHouse, Proxy
from daemon import Daemon

PAIR = []


def servers():
    while len(PAIR) < 2:
        PAIR.append(ClickHouse())
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return list(pool.map(ClickHouse.start, PAIR))


def end_servers():
    for s in PAIR:
        s.__exit__()


def url_of(database, servers_and_proxies, more=''):
    """The URL of a database whose samples are spread over these servers."""
    shards = ','.join(f'127.0.0.1:{s.port}' for s in servers_and_proxies)
    return f'clickhouse://{shards.split(",")[0]}/{database}?shards={shards}{more}'


class Site(Daemon):
    """`strobe serve` over a ClickHouse store."""

    def __init__(self, directory, url, *options):
        super().__init__(directory, '--state', f'{directory}/serve', '--retain', '0', '--max-bytes', '0', *options)
        self.command[self.command.index('--store') + 1] = url
        self.connection = None

    def send(self, *messages):
        if self.connection is None:
            self.connection = wire.connect(self.socket)
        for m in messages:
            self.connection.send(m)

    def metric(self, name):
        """The most of those with this name."""
        return max((float(v) for v in re.findall(rf'^{name}(?:{{.*}})? (\S+)$', self.get('/metrics'), re.M)), default=0)

    def ask(self, path):
        """Status, warning and text."""
        try:
            with urllib.request.urlopen(self.url + path, timeout=120) as r:
                return r.status, r.headers['Strobe-Warning'] or '', r.read().decode()
        except urllib.error.HTTPError as e:
            with e:
                return e.code, e.headers['Strobe-Warning'] or '', e.read().decode()


def stored(database, *shards):
    """Samples by stack; 0 while a server does not have the table yet."""
    found = []
    for s in shards:
        with contextlib.suppress(RuntimeError, OSError):
            found += [int(n) for n in s.ask('SELECT sum(value) FROM samples WHERE kind > 0 GROUP BY stack', database).split()]
    return found


def holds(database, count, each, *shards):
    """Whether so many stacks are stored, with so many samples each."""
    return sorted(stored(database, *shards)) == [each] * count


class SlowProxy(Proxy):
    """Passes all on; answers wait for `delay` seconds."""

    def __init__(self, server):
        self.delay = 0
        super().__init__(server, 'no such statement')

    def pump(self, source, target, state, is_request):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if not is_request:
                    time.sleep(self.delay)
                target.sendall(data)
        for s in (source, target):
            with contextlib.suppress(OSError):
                s.shutdown(2)
