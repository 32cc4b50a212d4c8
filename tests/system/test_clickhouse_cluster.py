"""A cluster of ClickHouse servers with replicas, and a real ZooKeeper: all replicas have all samples, once, through failures of any of them.
Two shards, of which the first has two replicas; tests share them and one database."""
import glob
import os
import re
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

from clickhouse_samples import Page, answers, collect, collected, samples_of, stacks, stored
from clickhouse_server import ClickHouse, Proxy
from redis_server import free_port
from strobe_test import Directory, check, main, test, wait_for
from zookeeper_server import ZooKeeper

OLD = "toDate(now()) - 100"
running = []


def start_with_zookeeper(server):
    """18.16 tries for a second to reach ZooKeeper, and for five seconds after a failure it crashes at ON CLUSTER. Where a busy
    machine let the first try fail the server is restarted."""
    for _ in range(5):
        server.start()
        if wait_for(lambda: reaches_zookeeper(server), 60) and not server.has_logged('DDLWorker'):
            return
        server.kill()
        server.clear_log()
    raise RuntimeError('clickhouse-server did not reach ZooKeeper')


def reaches_zookeeper(server):
    try:
        return server.ask("SELECT count() FROM system.zookeeper WHERE path = '/'")
    except RuntimeError:
        return False


def start(*servers):
    with ThreadPoolExecutor() as threads:
        list(threads.map(start_with_zookeeper, servers))


class Cluster:
    """Servers `a` and `b`, replicas of the first shard, and `c`, the second. `a` reaches ZooKeeper through `proxy`."""

    def __init__(self):
        self.zookeeper = ZooKeeper()
        self.proxy = Proxy(self.zookeeper, 'no statement has this')
        self.a, self.b, self.c = self.servers = [ClickHouse() for _ in range(3)]
        running.extend([self.zookeeper, *self.servers])
        for server in self.servers:
            server.join('copies', [[self.a, self.b], [self.c]], self.proxy if server is self.a else self.zookeeper)
        self.zookeeper.start()              # first, see start_with_zookeeper()
        start(*self.servers)

    def url(self, database='shared', more='&cluster=copies'):
        return self.a.url(database, f'?shards={self.a.server},{self.c.server}{more}')

    def sums(self):
        """The samples on each server, and those that each reads from all shards."""
        return [stored('shared', s) for s in self.servers], [
            int(s.ask('SELECT sum(value) FROM samples_all WHERE kind > 0', 'shared')) for s in self.servers]

    def have(self, samples):
        """All servers, as soon as the replica has fetched what is new."""
        def true():
            (a, b, c), every = self.sums()
            return a == b and a + c == samples and min(a, c) > 0 and every == [samples] * 3
        return wait_for(true, 60)


cluster = []
sent = []


def the_cluster():
    if not cluster:
        cluster.append(Cluster())
    return cluster[0]


def send(lines, *urls):
    with Directory() as d:
        collected(lines, the_cluster().url(), *urls, directory=d)
    sent.extend(lines)


@test
def all_replicas_store_all_samples_of_their_shard_and_every_server_reads_all_shards():
    k, lines = the_cluster(), stacks(2000)
    with Directory() as d:
        send(lines, f'sqlite:{d}/sqlite')
        check(k.have(samples_of(sent)), f'each server stores its share and reads all {samples_of(sent)} samples: {k.sums()}')
        for server in k.servers:
            local = server.ask('SELECT sum(value) FROM samples_all ANY INNER JOIN (SELECT stack, frames FROM shared.stacks) USING stack'
                               ' WHERE kind > 0 AND length(frames) = 5', 'shared')
            check(int(local) == samples_of(sent), f'a join local to each shard returns all samples: {local}')
        end = int(k.a.ask('SELECT max(toUInt32(day) * 86400 + bucket * 10) FROM samples WHERE kind > 0', 'shared'))
        found = []
        for number, url in enumerate((f'sqlite:{d}/sqlite', k.url())):
            with Directory() as p, Page(p, url) as page:
                found.append(answers(page, end))
        for what, value in found[0].items():
            check(found[1][what] == value, f'{what}: {str(found[1][what])[:300]}, not {str(value)[:300]}')
    engines = k.b.ask("SELECT name, engine FROM system.tables WHERE database = 'shared'")
    check(len(re.findall('Replicated', engines)) == 8 and len(re.findall('_all\tDistributed', engines)) == 6,
          f'a replica that is not in the URL has the same tables: {engines}')


@test
def a_replica_catches_up_after_downtime():
    k = the_cluster()
    k.b.kill()
    send(stacks(500, 2))
    k.b.start()
    check(k.have(samples_of(sent)), f'{k.sums()} of {samples_of(sent)}')


@test
def samples_are_queued_while_zookeeper_is_down():
    k, lines = the_cluster(), stacks(500, 3)
    k.zookeeper.kill()
    with Directory() as d:
        p = collect(k.url(), directory=d)
        p.stdin.write(''.join(lines))
        p.stdin.flush()
        said = [p.stderr.readline() for _ in range(2)]
        check(any('cannot store samples, keeping them in memory' in line for line in said), f'the log reports the outage: {said}')
        k.zookeeper.start()
        sent.extend(lines)
        check(k.have(samples_of(sent)), f'queued samples are stored once ZooKeeper is back: {k.sums()} of {samples_of(sent)}')
        said = p.communicate(timeout=300)[1]
        check(p.returncode == 0, said)


def errors_at(port):
    with urllib.request.urlopen(f'http://127.0.0.1:{port}/metrics', timeout=60) as r:
        return int(re.search(r'^strobe_store_errors_total\S* (\d+)', r.read().decode(), re.M).group(1))


@test
def an_insert_with_an_unknown_zookeeper_commit_is_retried():
    k, lines = the_cluster(), stacks(300, 4)
    k.proxy.pattern = re.compile(rb'/shared/samples/log/log-[^/]*block_id', re.S)
    with Directory() as d:
        port = free_port()
        p = collect(k.url(), directory=d, listen=f'127.0.0.1:{port}')
        p.stdin.write(''.join(lines))
        p.stdin.flush()
        check(k.proxy.cut.wait(120), 'the connection was cut before the commit')
        check(wait_for(lambda: int(k.a.ask("SELECT parts_to_check FROM system.replicas WHERE table = 'samples'")) == 1, 60),
              'the server has the rows, but their commit is unknown')
        before = errors_at(port)
        check(wait_for(lambda: errors_at(port) >= before + 2, 60), 'the insert is not considered stored')
        k.a.ask('SYSTEM RESTART REPLICA shared.samples')    # else it finds out after 5 minutes
        sent.extend(lines)
        check(k.have(samples_of(sent)), f'the samples are sent again: {k.sums()} of {samples_of(sent)}')
        said = p.communicate(timeout=300)[1]
        check(p.returncode == 0, said)


def make_old(server, table):
    """Names are dropped a day after they were written, by the time of the part's directory."""
    server.ask(f'DETACH TABLE {table}', 'shared')
    for part in glob.glob(f'{server.directory}/data/data/shared/{table}/*_*'):
        os.utime(part, (0, time.time() - 2 * 86400))
    server.ask(f'ATTACH TABLE {table}', 'shared')


@test
def an_expired_day_is_dropped_from_all_replicas():
    k = the_cluster()
    for server in (k.a, k.c):
        server.ask(f'INSERT INTO samples VALUES ({OLD}, 0, 1, 0, 5, 5), ({OLD}, 1, 1, 1, 5, 7)', 'shared')
        server.ask(f"INSERT INTO series VALUES ({OLD}, 1, ['a'], ['b'])", 'shared')
        server.ask(f'INSERT INTO stacks VALUES (toYYYYMM({OLD}), 1, 1, 0, [1], [])', 'shared')

    def left():
        return [int(s.ask(f'SELECT count() FROM {table}', 'shared')) for s in k.servers for table in (
            f'(SELECT * FROM samples WHERE day = {OLD})', f'(SELECT * FROM series WHERE day = {OLD})',
            f'(SELECT * FROM stacks WHERE month = toYYYYMM({OLD}))')]
    check(wait_for(lambda: left() == [2, 1, 1] * 3), f'all replicas store an old day: {left()}')
    for server in k.servers:
        for table in ('series', 'stacks'):
            make_old(server, table)
    # A replica that has just lost ZooKeeper may refuse the first attempt; the next one is a minute later.
    with Directory() as d, Page(d, k.url(), '--retain', '30') as page:
        check(wait_for(lambda: left() == [0] * 9, 150), f'the old day is dropped from all replicas: {left()} {[line for line in page.daemon.lines if "maintenance" in line]}')
    check(k.have(samples_of(sent)), f'all other samples are kept: {k.sums()} of {samples_of(sent)}')


@test
def an_unavailable_shard_is_named_in_the_warning_and_fails_distributed_tables():
    k = the_cluster()
    with Directory() as d, Page(d, k.url(more='&cluster=copies&timeout=5s')) as page:
        k.c.kill()
        with urllib.request.urlopen(page.daemon.url + '/api/v1/profile?from=-2h', timeout=60) as r:
            warning = r.headers['Strobe-Warning'] or ''
        check(k.c.server in warning and k.a.server not in warning, f'the warning names the unavailable shard: {warning}')
        try:
            k.a.ask('SELECT sum(value) FROM samples_all', 'shared')
            check(False, 'an SQL query of a distributed table fails')
        except RuntimeError:
            pass
    k.c.start()


@test
def unreplicated_tables_are_rejected_in_a_replicated_cluster():
    k = the_cluster()
    with Directory() as d:
        collected(stacks(10), k.url('plain', ''), directory=d)
        p = collect(k.url('plain'), directory=d)
        said = p.communicate('a;b 1\n', timeout=300)[1]
        check(p.returncode and "the tables of database 'plain'" in said and 'are not Replicated; use another database' in said, said)


try:
    main()
finally:
    for s in reversed(running):
        s.__exit__()
