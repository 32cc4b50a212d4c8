"""Entries of a stream that were delivered to a daemon which died: the next consumer stores each sample once, however much of
a batch is stored, in one ClickHouse or in two shards of it. Its state directory is gone, too."""
import contextlib
import itertools
import os
import random
import socket
import threading
import time

from clickhouse_server import Proxy
from clickhouse_site import Site, SlowProxy, end_servers, holds, servers, stored, url_of
from redis_server import RedisError, RedisServer
from strobe_test import Directory, check, main, test, wait_for

SEED = int(os.environ.get('STROBE_SEED', time.time_ns() % 1000000))


def records(redis, stream='strobe', group='g'):
    return redis.command('HLEN', f'{{{stream}}}:batches:{group}')


def pending(redis, stream='strobe', group='g'):
    return redis.command('XPENDING', stream, group)[0]


def add(redis, first, count):
    for i in range(first, first + count):
        redis.command('XADD', 'strobe', '*', 'line', f'main;f{i} 1')


class Reader(Site):
    """`strobe serve` that reads the stream as `consumer`, with a state directory of its own."""

    def __init__(self, directory, redis, store, consumer, state):
        os.makedirs(f'{directory}/{state}', exist_ok=True)
        super().__init__(f'{directory}/{state}', store, '--from',
                         redis.url(f'?stream=strobe&group=g&consumer={consumer}&claim-idle=3'))


def check_takeover(database, consumer, after):
    """A reader is killed when it inserts into the second shard, before or after that shard has the samples."""
    first, second = servers()
    reader = []
    with Directory() as d, RedisServer() as redis, \
            Proxy(second, 'no statement has this', lambda: reader[0].process.kill(), after) as proxy:
        reader.append(Reader(d, redis, url_of(database, (first, proxy)), 'one', 'one'))
        with reader[0]:
            add(redis, 0, 1)
            check(wait_for(lambda: holds(database, 1, 1, first, second) and pending(redis) == 0), 'the first batch is stored')
            proxy.expect('INSERT INTO samples')
            add(redis, 1, 60)
            check(proxy.cut.wait(60), 'the consumer was killed')
            half = len(stored(database, first, second))
            check(1 < half <= 61 and pending(redis) > 0 and records(redis) > 0, f'{half} are stored, but not acknowledged')
        with Reader(d, redis, url_of(database, (first, second)), consumer, 'other') as other:
            check(wait_for(lambda: pending(redis) == 0 and other.status()['samples']['stored'] > 0, 90), 'another consumer takes over')
            check(holds(database, 61, 1, first, second), f'each is stored once: {sorted(stored(database, first, second))}')
            check(wait_for(lambda: records(redis) == 0), 'no record is left')


@test
def a_batch_stored_on_one_shard_only_is_completed_once_by_another_consumer():
    check_takeover('claimed', 'two', False)


@test
def a_stored_but_unacknowledged_batch_is_not_duplicated_by_another_consumer():
    check_takeover('claimed_after', 'two', True)


@test
def entries_deleted_while_pending_for_a_dead_consumer_are_counted():
    first, second = servers()
    with Directory() as d, RedisServer() as redis:
        with Reader(d, redis, url_of('deleted', (first, second)), 'one', 'one') as one:
            add(redis, 0, 1)
            check(wait_for(lambda: holds('deleted', 1, 1, first, second) and pending(redis) == 0), 'the first batch is stored')
            one.process.kill()
            one.process.wait()
        add(redis, 1, 250)
        entries = redis.command('XREADGROUP', 'GROUP', 'g', 'one', 'COUNT', 250, 'STREAMS', 'strobe', '>')[0][1]
        deleted = [e[0] for e in entries[3:203]]
        redis.command('XDEL', 'strobe', *deleted)
        with Reader(d, redis, url_of('deleted', (first, second)), 'two', 'two') as two:
            check(wait_for(lambda: pending(redis) == 0 and holds('deleted', 51, 1, first, second), 60), 'the rest is stored')
            check(wait_for(lambda: two.status()['sources'][1]['stream']['trimmed_unread'] == 200), 'deleted entries are counted')
            check(two.status()['sources'][1]['stream']['claimed'] == 50, 'deleted entries do not count as claimed')


@test
def a_batch_is_stored_once_by_the_same_consumer_without_its_state_directory():
    check_takeover('renamed', 'one', False)


class Link:
    """Stands before a Redis: requests wait for `delay` seconds, and the first one with `held` in it until it is let go."""

    def __init__(self, redis):
        self.redis, self.delay, self.held, self.reads = redis, 0, None, 0
        self.is_held, self.let_go = threading.Event(), threading.Event()
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def url(self, path):
        return f'redis://127.0.0.1:{self.port}/{path}'

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, server = self.listener.accept()[0], socket.create_connection(('127.0.0.1', self.redis.port))
                threading.Thread(target=self.pump, args=(client, server, self.wait), daemon=True).start()
                threading.Thread(target=self.pump, args=(server, client, lambda data: None), daemon=True).start()

    def wait(self, data):
        self.reads += data.count(b'XREADGROUP')
        if self.held and self.held in data and not self.is_held.is_set():
            self.is_held.set()
            self.let_go.wait(60)
        time.sleep(self.delay)

    def pump(self, source, target, wait):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                wait(data)
                target.sendall(data)
        for s in (source, target):
            with contextlib.suppress(OSError):
                s.shutdown(socket.SHUT_RDWR)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


@test
def a_consumer_that_restarts_while_another_claims_its_batch_loses_nothing():
    first, second = servers()
    readers = []
    with Directory() as d, RedisServer() as redis, Link(redis) as link, Link(redis) as other_link, \
            Proxy(first, 'no statement has this', lambda: readers[0].process.kill()) as proxy:
        readers.append(Reader(d, link, f'clickhouse://127.0.0.1:{proxy.port}/back', 'one', 'one'))
        with readers[0] as one:
            add(redis, 0, 1)
            check(wait_for(lambda: sum(stored('back', first)) == 1 and pending(redis) == 0), 'the first batch is stored')
            proxy.expect('INSERT INTO samples')
            redis.connect().pipeline([('XADD', 'strobe', '*', 'line', f'main;f{i} 1') for i in range(1, 201)])
            check(proxy.cut.wait(60) and one.process.wait(20) and records(redis) > 0, 'the consumer was killed')
            other_link.held = b'XCLAIM'
            with Reader(d, other_link, first.url('back'), 'two', 'two'):
                check(other_link.is_held.wait(30), 'another consumer is about to claim the batch')
                link.delay, link.reads = 0.15, 0
                one.command[one.command.index('--store') + 1] = first.url('back')
                with one:
                    check(wait_for(lambda: link.reads >= 4), 'the first consumer has restarted and read a part')
                    other_link.let_go.set()
                    check(wait_for(lambda: pending(redis) == 0, 60), 'all is acknowledged')
                    check(holds('back', 201, 1, first), f'all are stored once: {sum(stored("back", first))} of 201')


class Writer:
    """Adds entries to the stream until it is stopped. Their ids are its own, so that one whose answer was lost is added once."""

    def __init__(self, redis):
        self.redis, self.count, self.stopped = redis, 0, threading.Event()
        self.first_ms = time.time_ns() // 1_000_000
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def add(self, client):
        try:
            client.command('XADD', 'strobe', f'{self.first_ms + self.count}-1', 'line', f'main;f{self.count} 1')
        except RedisError as e:
            if 'equal or smaller' not in str(e):    # it has this one already
                return                              # it is loading, and will take it later
        self.count += 1

    def run(self):
        while not self.stopped.is_set():
            with contextlib.suppress(OSError):
                client = self.redis.connect()
                while not self.stopped.is_set():
                    self.add(client)
                    time.sleep(0.005)
            time.sleep(0.05)

    def stop(self):
        self.stopped.set()
        self.thread.join()
        return self.count


def check_chaos(database, redis, happens):
    """Readers of which one is killed at any moment and another one comes; `happens` after each."""
    first, second = servers()
    rng, numbers = random.Random(SEED), itertools.count()
    with Directory() as d, SlowProxy(second) as slow, contextlib.ExitStack() as all_readers:
        def reader():
            name = f'r{next(numbers)}'
            return all_readers.enter_context(Reader(d, redis, url_of(database, (first, slow)), name, name))
        readers, writer = [reader(), reader()], Writer(redis)
        for _ in range(6):
            slow.delay = 0.2                        # so that a batch is half stored for most of the time
            time.sleep(rng.uniform(1, 4))
            i = rng.randrange(2)
            readers[i].process.kill()
            happens()
            slow.delay = 0
            readers[i] = reader()
        sent = writer.stop()
        check(wait_for(lambda: len(stored(database, first, second)) == sent and pending(redis) == 0, 90),
              f'seed {SEED}: all are stored: {len(stored(database, first, second))} of {sent}')
        check(holds(database, sent, 1, first, second), f'seed {SEED}: each once: {sum(stored(database, first, second))} of {sent}')
        reader()                    # one that was killed between the acknowledgement and the end of its record has left that
        check(wait_for(lambda: records(redis) == 0), f'seed {SEED}: no record is left: {records(redis)}')


@test
def consumers_restarted_without_their_state_store_each_sample_once():
    with RedisServer() as redis:
        check_chaos('chaos', redis, lambda: None)


@test
def consumers_restarted_while_redis_is_killed_store_each_sample_once():
    with RedisServer('--appendonly', 'yes', '--appendfsync', 'always') as redis:
        def restart():
            redis.kill()
            redis.start()
        check_chaos('chaos_redis', redis, restart)


try:
    main()
finally:
    end_servers()
