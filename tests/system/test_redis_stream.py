"""`strobe collect` as a member of a consumer group: what was added to a stream is stored, and counts once, whatever fails
to the collector, to Redis, or to the disk. STROBE_KILLS sets how often collectors are killed (102)."""
import json
import os
import random
import resource
import signal
import subprocess
import threading
import time
import urllib.request
from urllib.parse import quote

import collector
import wire
from redis_server import RedisCluster, RedisError, RedisServer, free_port
from strobe_test import STROBE, Directory, Skip, check, main, test, wait_for

SEED = int(os.environ.get('STROBE_SEED', time.time_ns() % 1000000))


class Collector:
    """Reads `url` into a store below `directory`. Killed and started again it is the same collector."""

    def __init__(self, directory, url, *options):
        if not os.path.exists(STROBE):
            raise Skip(f'{STROBE} is not built')
        os.makedirs(directory, exist_ok=True)
        self.directory, self.process, self.lines = directory, None, []
        self.command = [STROBE, 'collect', '--from', url, '--to', f'sqlite:{directory}/store', '--state', f'{directory}/state',
                        '--listen', 'none', *options]

    def start(self, **options):
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **options)
        threading.Thread(target=self.read, args=(self.process.stderr,), daemon=True).start()
        return self

    def read(self, stream):
        for line in stream:
            self.lines.append(line.rstrip('\n'))

    def says(self, text, seconds=60):
        return wait_for(lambda: any(text in line for line in list(self.lines)), seconds)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.kill()
            return None

    def stored(self, since='-2h'):
        """The content of the store, as numbers of samples by folded stack."""
        socket = f'{self.directory}/unused.sock'
        p = subprocess.Popen([STROBE, 'serve', '--listen', '127.0.0.1:0', '--from', f'unix:{socket}', '--store',
                              f'sqlite:{self.directory}/store'], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            for line in p.stderr:
                if 'http://' in line:
                    url = 'http://' + line.split('http://')[1].strip().split()[0]
                    with urllib.request.urlopen(url + f'/api/v1/profile?from={since}&format=folded') as r:
                        text = r.read().decode()
                    return {stack: int(n) for stack, _, n in (line.rpartition(' ') for line in text.splitlines())}
            raise RuntimeError('the store could not be served')
        finally:
            p.terminate()
            p.wait()
            p.stderr.close()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.kill()


class Sent:
    """Adds entries to a stream and knows what they add up to."""

    def __init__(self, client, key='strobe'):
        self.client, self.key, self.sums, self.number = client, key, {}, 0

    def count(self, stack, n):
        self.sums[stack] = self.sums.get(stack, 0) + n

    def lines(self, count, *options):
        """Entries of one folded line each."""
        commands = []
        for _ in range(count):
            self.number += 1
            stack, n = f'index.php;main;f{self.number % 37};g{self.number % 11}', self.number % 3 + 1
            self.count(stack, n)
            commands.append(('XADD', self.key, *options, '*', 'line', f'{stack} {n}'))
        return self.client.pipeline(commands)

    def batch(self, batch_id, times=1):
        """A relay's batch of two messages, sent `times` times."""
        stacks = [{('index', 'relayed', f'r{batch_id % 7}'): 5}, {('index', 'relayed'): 2}]
        for messages in stacks:
            for stack, n in messages.items():
                self.count(';'.join(stack), n)
        data = b''.join(wire.message(s) for s in stacks)
        for _ in range(times):
            self.client.command('XADD', self.key, '*', 'strobe', data, 'id', f'{batch_id:016x}', 'host', 'web1')

    def total(self):
        return sum(self.sums.values())


def pending(server, key='strobe', group='g'):
    return server.command('XPENDING', key, group)[0]


def groups(server, key='strobe'):
    return {g[1].decode(): dict(zip([k.decode() for k in g[::2]], g[1::2])) for g in server.command('XINFO', 'GROUPS', key)}


def is_read(server, key='strobe', group='g'):
    """Everything was handed out and acknowledged."""
    try:
        g = groups(server, key).get(group)
        last = server.command('XINFO', 'STREAM', key)
    except RedisError:
        return False
    last = dict(zip(last[::2], last[1::2]))[b'last-generated-id']
    return g and g['last-delivered-id'] == last and g['pending'] == 0


def check_stored(collector, sent, sentence):
    stored = collector.stored()
    if not check(stored == sent.sums, sentence):
        wrong = {s: (stored.get(s, 0), sent.sums.get(s, 0)) for s in {*stored, *sent.sums} if stored.get(s, 0) != sent.sums.get(s, 0)}
        print(f'# stored {sum(stored.values())}, sent {sent.total()}, seed {SEED}; stored and sent of', dict(list(wrong.items())[:5]))


# --- The collector is killed ---

def kill_often(server, directory, number, kills, failures):
    rng = random.Random(SEED * 1000 + number)
    key, c = f'stream{number}', None
    sent = Sent(server.connect(), key)
    collector = Collector(f'{directory}/{number}', server.url(f'?stream={key}&group=g'))
    batch = number << 32
    for _ in range(kills):
        # Most kills come around the commit, which is a second after the start.
        collector.start()
        end = time.monotonic() + (rng.uniform(0.02, 1.4) if rng.random() < 0.3 else rng.uniform(0.97, 1.12))
        while time.monotonic() < end:
            sent.lines(rng.randrange(1, 30))
            if rng.random() < 0.3:
                batch += 1
                sent.batch(batch, times=rng.choice([1, 1, 2]))
            time.sleep(min(0.03, max(0, end - time.monotonic())))
        collector.kill()
    collector.start()
    if not wait_for(lambda: is_read(server, key)):
        failures.append(f'{key} is not read: {server.command("XINFO", "GROUPS", key)} {collector.lines[-3:]}')
    collector.stop()
    return collector, sent


@test
def collectors_killed_a_hundred_times_neither_lose_nor_duplicate_samples():
    kills, threads, results, failures = int(os.environ.get('STROBE_KILLS', 102)), [], {}, []
    with Directory() as directory, RedisServer() as server:
        def work(number):
            try:
                results[number] = kill_often(server, directory, number, (kills + 5) // 6, failures)
            except Exception as e:
                failures.append(repr(e))
        # Calls of one client from several threads would mix.
        clients = threading.local()
        server.command = lambda *words: clients.__dict__.setdefault('c', server.connect()).command(*words)
        for number in range(6):
            threads.append(threading.Thread(target=work, args=(number,)))
            threads[-1].start()
        for t in threads:
            t.join()
        check(not failures, f'all streams are read completely: {failures}')
        for number, (collector, sent) in sorted(results.items()):
            check_stored(collector, sent, f'collector {number} has stored what was sent, once')


# --- Consumers ---

@test
def entries_of_a_dead_consumer_are_claimed_but_not_those_of_a_slow_one():
    with Directory() as directory, RedisServer() as server:
        client, sent, theirs = server.connect(), Sent(server.connect()), Sent(server.connect())
        server.command('XGROUP', 'CREATE', 'strobe', 'g', '0', 'MKSTREAM')
        theirs.lines(50)
        client.command('XREADGROUP', 'GROUP', 'g', 'slow', 'STREAMS', 'strobe', '>')
        sent.lines(250)
        client.command('XREADGROUP', 'GROUP', 'g', 'gone', 'STREAMS', 'strobe', '>')
        stop = threading.Event()

        def stay():
            while not stop.wait(0.2):
                client.command('XREADGROUP', 'GROUP', 'g', 'slow', 'COUNT', 1, 'STREAMS', 'strobe', '9999999999999-0')
        thread = threading.Thread(target=stay)
        thread.start()
        with Collector(directory + '/c', server.url('?stream=strobe&group=g&consumer=new&claim-idle=5')) as c:
            check(wait_for(lambda: pending(server) == 50), 'all except the 50 entries of the slow consumer are acknowledged')
            time.sleep(6)
            check(pending(server) == 50, 'the slow consumer keeps its entries')
            c.stop()
            check(any("from the consumer 'gone'" in line for line in c.lines), 'the takeover is logged')
            check_stored(c, sent, 'claimed entries are stored')
        stop.set()
        thread.join()


@test
def two_collectors_cannot_share_a_consumer_name():
    with Directory() as directory, RedisServer() as server:
        sent, url = Sent(server.connect()), server.url('?stream=strobe&group=g&consumer=web1')
        with Collector(directory + '/a', url) as a, Collector(directory + '/b', url) as b:
            check(wait_for(lambda: any('another collector reads' in line for line in a.lines + b.lines)),
                  'the second collector reports the other one')
            first, second = (b, a) if any('another collector' in line for line in a.lines) else (a, b)
            sent.lines(200)
            check(wait_for(lambda: is_read(server)), 'the first collector reads')
            first.stop()
            check_stored(first, sent, 'the first collector has stored everything')
            sent.sums.clear()
            sent.lines(100)
            check(wait_for(lambda: is_read(server)), 'the second collector reads after the first has exited')
            second.stop()
            check_stored(second, sent, 'later samples are stored')


# --- The content of entries ---

@test
def duplicate_relay_batches_count_once_and_malformed_entries_are_acknowledged():
    with Directory() as directory, RedisServer() as server:
        sent = Sent(server.connect())
        with Collector(directory + '/c', server.url('?stream=strobe&group=g&label.pool=api')) as c:
            sent.batch(1, times=2)
            sent.batch(2)
            sent.lines(5)
            server.command('XADD', 'strobe', '*', 'a', '1', 'b', '2')
            server.command('XADD', 'strobe', '*', 'line', 'no count')
            server.command('XADD', 'strobe', '*', 'strobe', b'STRB\x01 garbage')
            server.command('XADD', 'strobe', '*', 'strobe', b'\x28\xb5\x2f\xfd garbage')
            check(wait_for(lambda: is_read(server)), 'all are acknowledged')
            c.kill()
        with Collector(directory + '/c', server.url('?stream=strobe&group=g&label.pool=api')) as c:
            data = b''.join(wire.message(s) for s in ({('index', 'relayed', 'r1'): 5}, {('index', 'relayed'): 2}))
            server.command('XADD', 'strobe', '*', 'strobe', data, 'id', f'{1:016x}')
            check(wait_for(lambda: is_read(server)), 'entries resent after a crash are acknowledged')
            c.stop()
            check_stored(c, sent, 'each batch counts once')


# --- Trimming ---

@test
def streams_are_trimmed_behind_the_slowest_group_and_entries_trimmed_unread_are_counted():
    with Directory() as directory, RedisServer() as server:
        sent = Sent(server.connect())
        server.command('XGROUP', 'CREATE', 'strobe', 'slow', '0', 'MKSTREAM')
        sent.lines(2000)
        with Collector(directory + '/c', server.url('?stream=strobe&group=g')) as c:
            check(wait_for(lambda: is_read(server)), 'the stream is read')
            time.sleep(1.5)
            check(server.command('XLEN', 'strobe') == 2000, 'entries unread by another group are kept')
            taken = server.command('XREADGROUP', 'GROUP', 'slow', 'x', 'COUNT', 1000, 'STREAMS', 'strobe', '>')[0][1]
            server.command('XACK', 'strobe', 'slow', *[e[0] for e in taken[500:]])
            time.sleep(1.5)
            check(server.command('XLEN', 'strobe') == 2000, 'entries not acknowledged by another group are kept')
            server.command('XACK', 'strobe', 'slow', *[e[0] for e in taken[:500]])
            check(wait_for(lambda: server.command('XLEN', 'strobe') <= 1200), 'entries acknowledged by all groups are trimmed')
            check(server.command('XLEN', 'strobe') >= 1000, 'other entries are kept')
            server.command('XGROUP', 'DESTROY', 'strobe', 'slow')
            check(wait_for(lambda: server.command('XLEN', 'strobe') <= 200), 'a removed group keeps no entries')

            c.process.send_signal(signal.SIGSTOP)
            sent.lines(900)
            server.command('XTRIM', 'strobe', 'MAXLEN', 100)
            time.sleep(0.6)                 # since 7.2 Redis knows of it only until somebody reads
            c.process.send_signal(signal.SIGCONT)
            check(c.says('800 entries of the stream'), f'800 entries that were trimmed unread are counted: {c.lines[-3:]}')
            check(wait_for(lambda: is_read(server)), 'the rest is read')
            c.stop()
            check(len([line for line in c.lines if 'were trimmed before' in line]) == 1, 'logged once')


# --- Redis ---

@test
def no_entries_are_lost_if_redis_is_killed_hangs_or_loses_the_group():
    with Directory() as directory, RedisServer('--appendonly', 'yes', '--appendfsync', 'always') as server:
        server.options += ['--appendonly', 'yes']
        sent = Sent(server.connect())
        with Collector(directory + '/c', server.url('?stream=strobe&group=g')) as c:
            sent.lines(300)
            check(c.says('reading the stream'), 'the stream is read')
            for signo in (signal.SIGKILL, signal.SIGTERM):
                server.restart(signo)
                sent.client = server.connect()
                sent.lines(300)
            server.pause()
            time.sleep(1)
            server.resume()
            sent.lines(300)
            check(wait_for(lambda: is_read(server)), 'the stream is read to its end after each failure')
            server.command('DEL', 'strobe')
            sent.lines(300)
            check(c.says('was missing, so Redis has lost data'), 'a lost group is created again and logged')
            check(wait_for(lambda: is_read(server)), 'reading continues')
            server.command('XGROUP', 'DESTROY', 'strobe', 'g')
            sent.lines(100)
            check(wait_for(lambda: is_read(server)), 'reading continues at its position if the entries still exist')
            c.stop()
            check_stored(c, sent, 'all is stored once')


@test
def a_redis_that_is_out_of_memory_is_still_read():
    with Directory() as directory, RedisServer('--maxmemory', '3mb') as server:
        sent = Sent(server.connect())
        server.command('XGROUP', 'CREATE', 'strobe', 'g', '0', 'MKSTREAM')
        sent.lines(500)
        try:
            for i in range(2000):
                server.command('SET', f'other{i}', 'x' * 10000)
        except RedisError as e:
            check('OOM' in str(e), 'Redis is out of memory')
        with Collector(directory + '/c', server.url('?stream=strobe&group=g')) as c:
            check(wait_for(lambda: is_read(server)), 'the stream is read and acknowledged')
            c.stop()
            check_stored(c, sent, 'all are stored')
            check(len([line for line in c.lines if 'out of memory' in line]) in (1, 2), f'logged, but not every second: {c.lines}')


def check_six_streams(cluster, url):
    with Directory() as directory, cluster:
        sums = {}
        keys = [f'{{{i}}}strobe' for i in range(6)]

        def add(rounds):
            for key in keys:
                node = cluster.node_of(key)
                client = node.connect()
                s = Sent(client, key)
                s.lines(rounds)
                client.close()
                for stack, n in s.sums.items():
                    sums[stack] = sums.get(stack, 0) + n

        add(200)
        with Collector(directory + '/c', f'{url}?stream=strobe&group=g&keys=6') as c:
            check(c.says('reading the stream'), 'all streams are read')
            add(200)
            source = cluster.node_of(keys[2])
            target = next(n for n in cluster.nodes if n is not source)
            cluster.move_slot(source.command('CLUSTER', 'KEYSLOT', keys[2]), source, target)
            check(cluster.node_of(keys[2]) is target, 'a slot has moved')
            add(200)
            check(wait_for(lambda: all(is_read(cluster.node_of(k), k) for k in keys)), 'all streams are read completely')
            c.stop()
            sent = Sent(None)
            sent.sums = sums
            check_stored(c, sent, 'all are stored once')


@test
def six_streams_on_three_nodes_are_read_while_a_slot_moves():
    cluster = RedisCluster()
    check_six_streams(cluster, cluster.url())


@test
def six_streams_are_read_through_a_unix_socket_from_nodes_that_announce_no_host():
    with Directory() as directory:
        cluster = RedisCluster('--cluster-preferred-endpoint-type', 'unknown-endpoint')
        path = f'{directory}/redis.sock'
        cluster.nodes[0].options += ['--unixsocket', path]
        check_six_streams(cluster, f'redis://{quote(path, safe="")}/')


# --- Records of batches ---

def records(server, stream):
    return server.command('HLEN', f'{{{stream}}}:batches:g')


def collect_to_nowhere(directory, url):
    """Its batches stay in flight for ever."""
    return collector.Collector(directory, '--from', url, '--to', f'otlp://127.0.0.1:{free_port()}')


@test
def an_in_flight_batch_is_recorded_on_the_cluster_node_of_its_stream():
    cluster = RedisCluster()
    with Directory() as directory, cluster:
        stream = next(name for name in (f's{i}' for i in range(100)) if cluster.node_of(name) is not cluster.nodes[0])
        node, url = cluster.node_of(stream), cluster.url(f'?stream={stream}&group=g')
        node.command('XADD', stream, '*', 'line', 'main;f 1')
        with collect_to_nowhere(directory + '/a', url):
            check(wait_for(lambda: records(node, stream) == 1), 'the batch is recorded')
            time.sleep(1.5)
            check(records(node, stream) == 1, 'recorded while in flight')
        with Collector(directory + '/b', url + '&consumer=b&claim-idle=2') as c:
            check(wait_for(lambda: records(node, stream) == 0), 'no longer recorded once stored')
            check(c.stop() == 0 and sum(c.stored().values()) == 1, 'the sample is stored')


@test
def a_batch_that_waits_days_for_another_sink_counts_once():
    with Directory() as directory, RedisServer('--appendonly', 'yes', '--appendfsync', 'always') as server:
        days_ago = time.time() - 5 * 86400
        server.command('XADD', 'strobe', f'{int(days_ago * 1000)}-1', 'line', 'main;f 1')
        c = Collector(directory, server.url('?stream=strobe&group=g'), '--to', f'otlp://127.0.0.1:{free_port()}')
        with c:
            check(wait_for(lambda: records(server, 'strobe') == 1), 'the batch is in flight')
            time.sleep(9)           # the store compacts the day five seconds after the start
            c.kill()
        check(c.stored('-10d') == {'main;f': 1}, 'the sample is stored')
        for name in os.listdir(f'{directory}/store'):
            os.utime(f'{directory}/store/{name}', (days_ago, days_ago))
        # And once more, before Redis is back.
        server.terminate()
        with c:
            time.sleep(9)
            server.start()
            check(c.says('reading the stream'), 'the collector reads the stream again')
            check(wait_for(lambda: server.command('XPENDING', 'strobe', 'g')[0] == 1), 'the batch is still in flight')
            time.sleep(2.5)
            c.kill()
        check(c.stored('-10d') == {'main;f': 1}, 'the sample is stored once')


@test
def an_idle_collector_that_waits_for_its_sink_keeps_its_pending_entries():
    with Directory() as directory, RedisServer() as server:
        url = server.url('?stream=strobe&group=g&claim-idle=2')
        server.command('XADD', 'strobe', '*', 'line', 'main;f 1')
        with collect_to_nowhere(directory + '/a', url + '&consumer=a'):
            check(wait_for(lambda: records(server, 'strobe') == 1), 'one collector has the entry')
            with Collector(directory + '/b', url + '&consumer=b') as other:
                check(other.says('reading the stream'), 'another collector reads')
                time.sleep(6)
                check(not any('which is gone' in line for line in other.lines), f'the other collector does not claim it: {other.lines}')
                check(server.command('XPENDING', 'strobe', 'g')[3][0][0] == b'a', 'the first collector still holds the entry')


@test
def a_redis_user_without_permission_to_write_records_still_reads_the_stream():
    with Directory() as directory, RedisServer() as server:
        server.command('ACL', 'SETUSER', 'reader', 'on', '>secret', '~*', '+@all', '-hset', '-hdel', '-hgetall')
        sent = Sent(server.connect())
        sent.lines(50)
        with Collector(directory + '/c', server.url('?stream=strobe&group=g').replace('://', '://reader:secret@')) as c:
            check(wait_for(lambda: is_read(server)), 'all entries are read')
            c.stop()
            check(any('cannot record the batches' in line and 'hset' in line.lower() for line in c.lines), f'it is logged: {c.lines}')
            check(sum('record' in line for line in c.lines) == 2, f'once for writing, once for reading: {c.lines}')
            check_stored(c, sent, 'all are stored')


# --- The disk ---

@test
def entries_stay_in_the_stream_while_the_disk_is_full():
    with Directory() as directory, RedisServer() as server:
        sent = Sent(server.connect())

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
        c = Collector(directory + '/c', server.url('?stream=strobe&group=g&claim-idle=2'), '--queue-bytes', '1M')
        c.start(preexec_fn=limit)
        try:
            sent.lines(200)
            commands = []
            for i in range(10000):
                stack = f'index.php;main;{"long" * 20}{i};{"name" * 20}{i * 7}'
                sent.count(stack, 1)
                commands.append(('XADD', 'strobe', '*', 'line', stack + ' 1'))
            sent.client.pipeline(commands)
            check(c.says('cannot store samples'), 'waiting samples are logged')
            check(wait_for(lambda: pending(server) > 0), 'nothing is acknowledged while the disk is full')
            lag = groups(server)['g']['lag']
            check(lag is None or lag > 500, f'reading stops at the memory limit ({lag} entries wait)')
            with Collector(directory + '/other', server.url('?stream=strobe&group=g&consumer=other&claim-idle=2')) as other:
                other.says('reading the stream')
                time.sleep(0.2)
                other.stop()
                theirs = other.stored()
            resource.prlimit(c.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            check(wait_for(lambda: is_read(server)), 'all is stored and acknowledged once there is space')
            c.stop()
            for stack, n in theirs.items():
                sent.sums[stack] -= n
            sent.sums = {k: n for k, n in sent.sums.items() if n}
            check_stored(c, sent, 'only once')
        finally:
            c.__exit__()


@test
def large_entries_do_not_exceed_the_queue_limit():
    stacks = [{('main', *(f'f{i}_{k}_{j}' for j in range(40))): 1 for k in range(400)} for i in range(30)]
    with Directory() as directory, RedisServer() as server:
        for i, s in enumerate(stacks):
            server.connect().command('XADD', 'strobe', '*', 'strobe', wire.message(s), 'id', f'{i:016x}', 'host', 'web1')
        with collector.Collector(directory, '--from', server.url('?stream=strobe&group=g'), '--to', f'otlp://127.0.0.1:{free_port()}',
                     '--queue-bytes', '8M') as c:
            sizes = []
            check(wait_for(lambda: sizes.append(c.status()['sinks'][0]['queue_bytes']) or sizes[-1] > 3 << 20), f'entries are queued: {sizes[-1:]}')
            time.sleep(1)
            for _ in range(20):
                sizes.append(c.status()['sinks'][0]['queue_bytes'])
            check(max(sizes) <= 8 << 20, f'the queue stays within its limit: {max(sizes)}')
            check(c.status()['samples']['dropped']['queue_full'] == 0, 'nothing is dropped')


if __name__ == '__main__':
    main()
