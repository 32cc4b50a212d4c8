"""Bad days of a fleet, with real servers: relays, a Redis, a daemon and two ClickHouse servers that share the samples, of which one is slow, is out of
disk, hangs or is restarted in the middle of an insert, or all are down at once; and questions about a year."""
import concurrent.futures
import contextlib
import datetime
import os
import random
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request

import wire
from clickhouse_server import ClickHouse, Proxy
from clickhouse_site import Site, SlowProxy, end_servers, holds, servers, stored, url_of
from redis_server import RedisServer
from relay import Relay, one
from strobe_test import STROBE, Directory, Skip, check, main, test, wait_for

def check_none_dropped(site, count):
    """Strobe counts samples as stored when it has the answer to the insert, which comes after a server has them."""
    def samples():
        return site.status()['samples']
    check(wait_for(lambda: samples()['stored'] == count) and sum(samples()['dropped'].values()) == 0, f'all samples are stored and none are dropped: {samples()}')


@test
def a_slow_shard_causes_lag_that_is_reported_and_loses_no_samples():
    first, second = servers()
    with Directory() as d, SlowProxy(second) as slow, Site(d, url_of('slow', (first, slow))) as site:
        site.send(*(one(f'first{i}') for i in range(20)))
        check(wait_for(lambda: holds('slow', 20, 1, first, second)), 'samples are stored before the shard is slow')
        slow.delay, count = 0.6, 20
        for _ in range(8):
            site.send(*(one(f'f{i}') for i in range(count, count + 20)))
            count += 20
            time.sleep(0.3)
        check(wait_for(lambda: site.metric('strobe_sink_lag_seconds') >= 2), 'the lag is reported')
        slow.delay = 0
        check(wait_for(lambda: holds('slow', count, 1, first, second)), f'all samples are stored once: {len(stored("slow", first, second))} of {count}')
        check(wait_for(lambda: site.metric('strobe_sink_lag_seconds') == 0), 'the lag is gone')
        check_none_dropped(site, count)


@contextlib.contextmanager
def small_disk(server, size):
    """The server's data on a disk of its own."""
    path = f'{server.directory}/data'
    os.makedirs(path, exist_ok=True)
    if subprocess.run(['mount', '-t', 'tmpfs', '-o', f'size={size}', 'tmpfs', path], capture_output=True).returncode:
        raise Skip('no small disk can be mounted here')
    try:
        yield path
    finally:
        server.kill()
        subprocess.run(['umount', '-l', path])


def fill(path):
    with contextlib.suppress(OSError), open(f'{path}/ballast', 'wb', buffering=0) as f:
        while True:
            f.write(bytes(4096))


@test
def samples_are_queued_while_a_shard_has_a_full_disk_and_stored_ones_can_be_read():
    full, other = ClickHouse(), servers()[0]
    with small_disk(full, '64m') as disk, full, Directory() as d, Site(d, url_of('full', (other, full))) as site:
        site.send(*(one(f'f{i}', 3) for i in range(40)))
        check(wait_for(lambda: holds('full', 40, 3, other, full)), 'samples are stored before the disk is full')
        fill(disk)
        for i in range(40, 140, 20):
            site.send(*(one(f'f{k}', 3) for k in range(i, i + 20)))
            time.sleep(0.3)
        check(wait_for(lambda: any('disk is full' in line for line in site.lines)), f'the full disk is logged: {site.lines}')
        check(site.metric('strobe_sink_failing') == 1, 'the metrics show the failing sink')
        check(wait_for(lambda: site.metric('strobe_sink_lag_seconds') >= 1), 'the metrics show the lag')
        status, warning, text = site.ask('/api/v1/profile?from=-1h&format=folded')
        check(status == 200 and text.count('main;f') >= 40, f'stored samples can be read: {status} {warning} {text[:200]}')
        os.unlink(f'{disk}/ballast')
        check(wait_for(lambda: holds('full', 140, 3, other, full)), f'all samples are stored once when there is space again: {stored("full", other, full)}')
        check_none_dropped(site, 420)
        check(wait_for(lambda: site.metric('strobe_sink_failing') == 0), 'the sink is no longer failing')


class HalfProxy(Proxy):
    """The first connection on which `statement` is seen passes on half of that piece; then `then` is called, and the connection goes on if
    the server still has it. So does the next one after again()."""

    def again(self):
        self.cut.clear()
        self.is_cut.release()

    def pump(self, source, target, state, is_request):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if is_request and self.pattern.search(data) and self.is_cut.acquire(blocking=False):
                    half = (data.find(b'\r\n\r\n') + len(data)) // 2
                    target.sendall(data[:half])
                    self.then()
                    self.cut.set()
                    data = data[half:]
                target.sendall(data)
        for s in (source, target):
            with contextlib.suppress(OSError):
                s.shutdown(2)


def restart(server):
    server.kill()                           # SIGTERM waits for the rest of the insert
    server.start()


def hang(server):
    server.pause()
    time.sleep(2)
    server.resume()


@test
def samples_are_stored_once_when_a_shard_hangs_or_restarts_during_an_insert():
    first, second = servers()
    happens = [hang]
    with Directory() as d, HalfProxy(second, 'INSERT INTO samples', lambda: happens[0](second)) as half, \
            Site(d, url_of('middle', (first, half))) as site:
        for count, happens[0] in ((100, hang), (200, restart)):
            for i in range(count - 100, count, 50):
                site.send(*(one(f'f{k}', 2) for k in range(i, i + 50)))
                time.sleep(0.4)
            check(half.cut.wait(60), f'{happens[0].__name__}: the insert was interrupted')
            check(wait_for(lambda: holds('middle', count, 2, first, second)),
                  f'{happens[0].__name__}: all samples are stored once: {len(stored("middle", first, second))} of {count}')
            half.again()
        check_none_dropped(site, 400)


@contextlib.contextmanager
def hosts(*names):
    """A directory with one for each."""
    with Directory() as d:
        for name in names:
            os.mkdir(f'{d}/{name}')
        yield d


def long_names(count):
    """Messages with one sample each, of 40 KB that cannot be compressed by more than half."""
    return [one(random.randbytes(20000).hex()) for _ in range(count)]


@test
def a_long_outage_of_all_servers_loses_no_samples_and_the_lag_is_reported():
    shards = servers()
    with hosts('web1', 'web2') as d, RedisServer('--appendonly', 'yes', '--appendfsync', 'always') as redis, \
            Relay(f'{d}/web1', redis.url('?stream=strobe&window=0&host=web1')) as web1, \
            Relay(f'{d}/web2', redis.url('?stream=strobe&window=0&host=web2')) as web2, \
            Site(d, url_of('down', shards), '--from', redis.url('?stream=strobe&group=g'), '--queue-bytes', '1M') as site:
        relays, sent = (web1, web2), 0
        for relay in relays:
            relay.send(*long_names(5))
        check(wait_for(lambda: holds('down', 10, 1, *shards)), 'samples are stored before the outage')
        redis.kill()
        for s in shards:
            s.kill()
        sent = 5
        for _ in range(5):                      # ten times what the queue of the daemon holds
            for relay in relays:
                relay.send(*long_names(30))
            sent += 30
            check(all(relay.wait_until_on_disk(sent) for relay in relays), 'the relays spool all samples')
        web1.end(9)
        web1.start()
        check(wait_for(lambda: all(r.figure('up') == 0 and r.figure('oldest_entry_timestamp_seconds') > 0 for r in relays)), 'the relays report their unsent entries')
        check(web1.figure('recovered_samples_total') == web2.figure('waiting_samples') == sent - 5, f'the metrics of the relays account for all samples: {web1.figures()} {web2.figures()}')

        redis.start()
        check(wait_for(lambda: all(r.figure('waiting_samples') == 0 for r in relays)), 'the relays have sent everything once Redis is back')
        check(wait_for(lambda: site.metric('strobe_sink_lag_seconds') >= 2), 'the lag of ClickHouse is reported')
        check(wait_for(lambda: site.metric('strobe_sink_failing') == 1), 'the metrics show the failing sink')
        check(site.metric('strobe_queue_bytes') < 2 * sent * 20000, f'the queue does not hold all samples: {site.metric("strobe_queue_bytes")}')
        check(site.metric('strobe_stream_lag_entries') + site.metric('strobe_stream_pending_entries') > 0, 'the other samples remain in the stream')
        servers()
        check(wait_for(lambda: holds('down', 2 * sent, 1, *shards)), f'all samples are stored once: {len(stored("down", *shards))} of {2 * sent}')
        check(all(relay.is_exact() for relay in relays), 'the counters of the relays add up')
        check_none_dropped(site, 2 * sent)
        check(wait_for(lambda: site.metric('strobe_sink_lag_seconds') == 0), 'the lag is gone')


def many_stacks(count):
    """Folded lines with no more in common than their first frame; the first hundred were sampled ten times."""
    r = random.Random(1)
    names = [f'App\\Module{i % 97}\\Class{i}::method{i}' for i in range(2000)]
    return [f'index.php;{";".join(r.choices(names, k=20))} {10 if i < 100 else 1}\n' for i in range(count)]


def collect(lines, directory, *urls):
    to = [word for url in urls for word in ('--to', url)]
    p = subprocess.run([STROBE, 'collect', '--from', '-', *to, '--state', f'{directory}/collect', '--listen', 'none'],
                       input=''.join(lines), capture_output=True, text=True)
    check(p.returncode == 0, p.stderr)


def year_of_clickhouse(database, *shards):
    """The samples of today in the twelve months before, too."""
    for s in shards:
        s.ask('INSERT INTO samples SELECT day - 30 * back, kind, stack, series, bucket, value FROM (SELECT * FROM samples) '
              'ARRAY JOIN arrayMap(x -> x + 1, range(12)) AS back', database)


def year_of_sqlite(directory):
    for name in [name for name in os.listdir(directory) if re.fullmatch(r'\d{4}-\d\d-\d\d\.db', name)]:
        day = datetime.date.fromisoformat(name[:-3])
        for back in range(1, 13):
            shutil.copy(f'{directory}/{name}', f'{directory}/{day - datetime.timedelta(days=30 * back)}.db')


YEAR = 'from=-366d'


def is_pruned_and_says_so(site, total):
    status, warning, text = site.ask(f'/api/v1/profile?{YEAR}&format=folded')
    sums = [int(line.rsplit(' ', 1)[1]) for line in text.splitlines()] if status == 200 else []
    check(status == 200 and 'cut short at [pruned]' in warning and 'shorter range' in warning, f'the response has a warning: {status} {warning} {text[:200]}')
    whole = [line for line in text.splitlines() if line.endswith(' 130') and '[pruned]' not in line]
    check(sum(sums) == total and len(whole) == 100, f'the total is correct and the largest stacks are complete: {sum(sums)} {len(whole)}')
    status, _, text = site.ask(f'/?{YEAR}')
    check(status == 200 and 'cut short at [pruned]' in text, f'the page has a warning: {status}')
    check(site.metric('strobe_queries_pruned_total') >= 2, 'pruned queries are counted')


@test
def a_query_of_a_year_is_pruned_to_its_memory_limit_with_a_warning():
    shards, lines = servers(), many_stacks(20000)
    total = 13 * (20000 + 900)
    with Directory() as d:
        url = url_of('year', shards)
        collect(lines, d, url, f'sqlite:{d}/sqlite')
        year_of_clickhouse('year', *shards)
        year_of_sqlite(f'{d}/sqlite')
        for store in (f'sqlite:{d}/sqlite', url):
            with Site(d, store, '--query-memory', '64M') as site:
                is_pruned_and_says_so(site, total)


try:
    main()
finally:
    end_servers()
