#!/usr/bin/env python3
"""A relay on a host: samples over the unix socket, a spool, and a stream of a real Redis, on good days and bad ones.

STROBE_RELAY_ROUNDS is how often the relay is killed (2)."""
import ctypes
import glob
import json
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import threading
import time
import urllib.request
from urllib.parse import quote

import wire
from collector import Collector
from redis_server import RedisCluster, RedisServer
from relay import Relay, Stream, load, one, unpack
from strobe_test import STROBE, Directory, check, main, test, wait_for

ROUNDS = int(os.environ.get('STROBE_RELAY_ROUNDS', '2'))
BUCKET = 10_000_000_000


def pack(data):
    library = load('zstd', 'libzstd.so.1')
    library.ZSTD_compress.restype = ctypes.c_size_t
    room = ctypes.create_string_buffer(len(data) + 1000)
    size = library.ZSTD_compress(room, ctypes.c_size_t(len(room)), data, ctypes.c_size_t(len(data)), 1)
    return room.raw[:size]


def hash_of(data):
    library = load('xxhash', 'libxxhash.so.0')
    library.XXH3_64bits.restype = ctypes.c_uint64
    return library.XXH3_64bits(data, ctypes.c_size_t(len(data))).to_bytes(8, 'little')


def url(redis, rest='stream=strobe&window=1'):
    return redis.url('?' + rest)


@test
def samples_are_forwarded_merged_by_series_and_time_bucket():
    with Directory() as d, RedisServer() as redis, Relay(d, url(redis, 'stream=strobe&window=2&host=web7')) as relay:
        check(relay.figure('up') == 1, 'the relay is up before it has anything to forward')
        end = time.time_ns() - 3 * BUCKET
        for i in range(300):
            relay.send(one(f'f{i % 3}', end=end + i % 2 * BUCKET))
        relay.send(one('other', 7, labels={'entry': 'api', 'host': 'db1'}, end=end))
        check(relay.wait_until_forwarded(307), 'all samples are forwarded')
        s = Stream(redis)
        check(s.sums == {('main', 'f0'): 100, ('main', 'f1'): 100, ('main', 'f2'): 100, ('main', 'other'): 7},
              'sums match the sent samples')
        check(len(s.messages) <= 2 * 3 and len(s.entries) <= 2, 'samples are merged by series and bucket')
        check({m.end // BUCKET for m in s.messages} == {end // BUCKET, end // BUCKET + 1}, 'each in its bucket')
        check({m.labels['host'] for m in s.messages} == {'web7', 'db1'}, 'the host is a label')
        check({(m.clock, m.period) for m in s.messages} == {(1, 10_000_000)}, 'clock and period are kept')
        check(all(e[b'host'] == b'web7' and len(e[b'id']) == 16 for e in s.entries), 'entries contain id and host')
        check(relay.is_exact(), 'the counters add up')
        check(relay.figure('up') == 1, 'reported as connected')
        relay.send(one('last', 5))
        check(relay.end() == 0, 'exits with 0')
        check(Stream(redis).total() == 312, 'the open window is sent at shutdown')


@test
def a_run_is_forwarded_unchanged():
    with Directory() as d, RedisServer() as redis, Relay(d, url(redis)) as relay:
        run = wire.run_message([(0, 'main()', 1, 1000, 0), (1, 'f', 2, 500, 0)], {'id': 'r1', 'source': 'web'})
        relay.send(run)
        check(wait_for(lambda: redis.command('XLEN', 'strobe') == 1), 'the run is one entry')
        check(unpack(Stream(redis).entries[0][b'strobe']) == run, 'byte for byte')
        check(wait_for(lambda: relay.figure('forwarded_runs_total') == 1), 'it is counted')


@test
def an_entry_that_the_broker_always_rejects_is_dropped_and_counted():
    with Directory() as d, RedisServer('--proto-max-bulk-len', '1mb') as redis, Relay(d, url(redis)) as relay:
        calls = [(0, 'main()', 1, 1000, 0)] + [(1, random.randbytes(30000).hex(), 1, 1, 0) for _ in range(60)]
        relay.send()
        wire.send_memfd(relay.connection, wire.run_message(calls))
        relay.send(one('small'))
        check(relay.wait_until_forwarded(1), 'later entries arrive')
        check(relay.figure('dropped_runs_total{rejected}') == 1, 'it is counted')
        check(Stream(redis).runs == 0 and redis.command('XLEN', 'strobe') == 1, 'the entry is not in the stream')


@test
def entries_queued_during_a_broker_outage_are_forwarded_once_and_in_order():
    with Directory() as d, RedisServer() as redis:
        redis.kill()
        relay = Relay(d, url(redis)).start()
        try:
            for i in range(4):
                relay.send(one(f'f{i}'))
                check(relay.wait_until_on_disk(i + 1), 'the sample is on disk')
                time.sleep(1.1)
            check(wait_for(lambda: relay.figure('waiting_entries') >= 2), 'entries are queued')
            check(relay.figure('up') == 0, 'reported as disconnected')
            relay.end(signal.SIGKILL)           # a restart meanwhile loses nothing
            relay.start()
            check(relay.figure('recovered_samples_total') == 4, 'entries are recovered after a restart')
            check(wait_for(lambda: any('is queued in' in line for line in relay.lines)), 'the failure is logged')
            time.sleep(1.5)
            redis.start()
            check(relay.wait_until_forwarded(4), 'all arrive')
            s = Stream(redis)
            check(s.sums == {('main', f'f{i}'): 1 for i in range(4)}, 'each is counted once')
            check(s.order() == [0, 1, 2, 3], 'in order')
            check(len([line for line in relay.lines if 'is queued in' in line]) == 1, 'the failure is logged once')
            check(wait_for(lambda: any('again' in line for line in relay.lines)), 'the recovery is logged')
            check(relay.is_exact(), 'the counters add up')
        finally:
            relay.__exit__()


@test
def entries_wait_while_the_broker_rejects_writes():
    days = [('READONLY', ('REPLICAOF', '127.0.0.1', '1'), ('REPLICAOF', 'NO', 'ONE')),
            ('OOM', ('CONFIG', 'SET', 'maxmemory', '1'), ('CONFIG', 'SET', 'maxmemory', '0')),
            ('NOAUTH', ('CONFIG', 'SET', 'requirepass', 'secret'), ('CONFIG', 'SET', 'requirepass', ''))]
    words = {'READONLY': 'replica', 'OOM': 'out of memory', 'NOAUTH': 'password'}
    with Directory() as d, RedisServer() as redis, Relay(d, url(redis)) as relay:
        sent = 0
        for name, begin, end in days:
            admin = redis.connect()
            admin.command(*begin)
            if name == 'NOAUTH':
                for client in admin.command('CLIENT', 'LIST').decode().splitlines():
                    if 'name=strobe' in client:
                        admin.command('CLIENT', 'KILL', 'ID', client.split()[0].split('=')[1])
            relay.send(one(name))
            check(wait_for(lambda: any(words[name] in line for line in relay.lines)), f'{name} is logged')
            check(relay.figure('up') == 0, f'{name}: reported as down')
            admin.command(*end)
            admin.close()
            redis.forget_client()
            sent += 1
            check(relay.wait_until_forwarded(sent), f'{name}: the sample is forwarded afterwards')
        check(Stream(redis).sums == {('main', name): 1 for name, *_ in days}, 'each is counted once')
        said = [line for line in relay.lines if 'is queued in' in line]
        check(len(said) == 3, f'each is logged once: {said}')


@test
def the_relay_retries_while_the_broker_loads_a_large_dump():
    with Directory() as d, RedisServer(*RedisServer.LOADS_SLOWLY) as redis, Relay(d, url(redis, 'stream=strobe&window=0')) as relay:
        relay.send(one('before'))
        check(relay.wait_until_forwarded(1), 'the first arrives')
        redis.restart_loading()
        relay.send(one('meanwhile', 3))
        check(wait_for(lambda: any('is loading its data' in line for line in relay.lines)), f'it is logged: {relay.lines}')
        check(not redis.is_ready(), 'Redis is still loading')
        f = relay.figures()
        check((f['up'], f['waiting_samples'], f['forwarded_samples_total']) == (0, 3, 1), f'later samples are queued: {f}')
        check(relay.is_exact(), 'the counters add up')
        redis.end_loading()
        check(relay.wait_until_forwarded(4), 'samples arrive after loading')
        check(Stream(redis).sums == {('main', 'before'): 1, ('main', 'meanwhile'): 3}, 'each exists once beside the loaded data')
        check(len([line for line in relay.lines if 'is loading its data' in line]) == 1, 'logged once')
        check(wait_for(lambda: any('forwarding to' in line for line in relay.lines)), 'the recovery is logged')


@test
def the_relay_continues_after_the_broker_hangs_or_loses_its_data():
    with Directory() as d, RedisServer() as redis, Relay(d, url(redis)) as relay:
        relay.send(one('before'))
        check(relay.wait_until_forwarded(1), 'the first arrives')
        redis.pause()
        relay.send(one('hung'))
        time.sleep(2.5)
        check(relay.figure('forwarded_samples_total') == 1, 'nothing is forwarded while the broker hangs')
        relay.send(one('still hung'))
        redis.process.kill()                    # in its sleep, and its data is gone
        redis.process.wait()
        redis.forget_client()
        redis.start()
        check(relay.wait_until_forwarded(3), 'the rest arrives')
        check(Stream(redis).sums == {('main', 'hung'): 1, ('main', 'still hung'): 1}, 'each exists once')
        redis.pause()
        relay.send(one('late'))
        time.sleep(2)
        redis.resume()
        check(relay.wait_until_forwarded(4), 'a late reply counts')
        check(Stream(redis).sums[('main', 'late')] == 1, 'nothing is duplicated')


class DeafProxy:
    """Passes questions on to Redis, and loses the answers to the script, connection and all, while `deaf`."""

    def __init__(self, port):
        self.target, self.deaf, self.lost = port, False, 0
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                a = self.listener.accept()[0]
            except OSError:
                return
            b = socket.create_connection(('127.0.0.1', self.target))
            for source, to, lossy in ((a, b, False), (b, a, True)):
                threading.Thread(target=self.pump, args=(source, to, lossy), daemon=True).start()

    def pump(self, source, to, lossy):
        try:
            while data := source.recv(1 << 16):
                if lossy and self.deaf and data.startswith(b'$'):
                    self.lost += 1
                    break
                to.sendall(data)
        except OSError:
            pass
        for s in (source, to):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


@test
def entries_whose_reply_was_lost_are_not_duplicated():
    with Directory() as d, RedisServer() as redis:
        proxy = DeafProxy(redis.port)
        with Relay(d, f'redis://127.0.0.1:{proxy.port}/?stream=strobe&window=1') as relay:
            proxy.deaf = True
            relay.send(one('a'))
            check(wait_for(lambda: proxy.lost >= 1), 'a reply is lost')
            relay.send(one('b'))
            check(relay.wait_until_on_disk(2), 'another sample is on disk')
            relay.end(signal.SIGKILL)           # nor after a restart
            relay.start()
            check(wait_for(lambda: proxy.lost >= 2), 'another reply is lost')
            proxy.deaf = False
            check(wait_for(lambda: relay.figure('waiting_entries') == 0), 'no entries are queued')
            s = Stream(redis)
            check(s.sums == {('main', 'a'): 1, ('main', 'b'): 1}, 'each exists once')
            check(len(set(s.ids)) == len(s.ids), 'ids are unique')
            check(relay.figure('deduplicated_entries_total') >= 1, 'deduplicated entries are counted')
        proxy.listener.close()


def calls(redis, name):
    return int(redis.info('commandstats').get(f'cmdstat_{name}', 'calls=0,').split('calls=')[1].split(',')[0])


@test
def the_script_is_sent_only_if_redis_has_not_cached_it():
    with Directory() as d, RedisServer('--appendonly', 'yes', '--appendfsync', 'always') as redis, \
            Relay(d, url(redis, 'stream=strobe&window=0')) as relay:
        def forwards(count):
            first = relay.figure('forwarded_samples_total')
            for i in range(first, first + count):
                relay.send(one(f'f{i}'))
                check(relay.wait_until_forwarded(i + 1), f'{i} is forwarded')

        forwards(3)
        check((calls(redis, 'eval'), calls(redis, 'evalsha')) == (1, 3), 'the script is sent once')
        redis.command('SCRIPT', 'FLUSH')
        forwards(2)
        check((calls(redis, 'eval'), calls(redis, 'evalsha')) == (2, 5), 'the script is sent again after a flush')
        redis.restart()
        forwards(2)
        check(calls(redis, 'eval') == 1, 'the script is sent again after a restart of Redis')
        check(Stream(redis).sums == {('main', f'f{i}'): 1 for i in range(7)}, 'each exists once')
        check(relay.is_exact() and relay.figure('deduplicated_samples_total') == 0, 'the counters add up')


@test
def a_promoted_replica_deduplicates_entries_of_its_master():
    with Directory() as d, RedisServer() as master, RedisServer() as replica:
        replica.command('REPLICAOF', '127.0.0.1', master.port)
        check(wait_for(lambda: replica.info('replication')['master_link_status'] == 'up'), 'the replica is connected')
        proxy = DeafProxy(master.port)
        with Relay(d, f'redis://127.0.0.1:{proxy.port}/?stream=strobe&window=0') as relay:
            relay.send(one('before'))
            check(relay.wait_until_forwarded(1), 'the first entry arrives')
            proxy.deaf = True
            relay.send(one('its answer is lost'))
            check(wait_for(lambda: proxy.lost >= 1), 'a reply is lost')
            check(wait_for(lambda: replica.command('XLEN', 'strobe') == 2), 'the replica has the entry')
            replica.command('REPLICAOF', 'NO', 'ONE')
            master.kill()
            proxy.target, proxy.deaf = replica.port, False
            relay.send(one('after'))
            check(relay.wait_until_forwarded(3), 'all is forwarded')
            check(relay.figure('deduplicated_samples_total') == 1, 'entries on the replica are deduplicated')
        names = ('before', 'its answer is lost', 'after')
        check(Stream(replica).sums == {('main', name): 1 for name in names}, 'each exists once')
        proxy.listener.close()


@test
def the_script_is_sent_every_time_for_a_user_without_evalsha():
    with Directory() as d, RedisServer(password='secret', user='relay', rules='~strobe ~{strobe}:seen:* -@all +eval +xadd +get +set '
                                       '+ping +client|setname +xrange +info') as redis, \
            Relay(d, url(redis, 'stream=strobe&window=0')) as relay:
        for i in range(3):
            relay.send(one(f'f{i}'))
            check(relay.wait_until_forwarded(i + 1), f'{i} is forwarded')
        check(Stream(redis).sums == {('main', f'f{i}'): 1 for i in range(3)}, 'each exists once')
        check(not any('is queued in' in line for line in relay.lines), f'no failure is logged: {relay.lines}')


@test
def a_relay_restored_from_an_old_state_loses_no_new_samples():
    with Directory() as d, RedisServer() as redis:
        relay = Relay(d, url(redis, 'stream=strobe&window=0')).start()
        relay.send(one('before', 10))
        check(relay.wait_until_forwarded(10), 'the first arrives')
        relay.end()
        shutil.copytree(relay.state, f'{d}/snapshot')
        for name in ('lost with the snapshot', 'after it'):
            with relay:
                for _ in range(10):
                    relay.send(one(name, 100))
                    time.sleep(0.15)
                check(relay.wait_until_forwarded(1000), f'{name}: the entries are processed')
                check(relay.figure('forwarded_samples_total') == 1000 and relay.figure('deduplicated_samples_total') == 0,
                      f'{name}: all are forwarded, none deduplicated: {relay.figures()}')
                relay.end()
            shutil.rmtree(relay.state)
            shutil.copytree(f'{d}/snapshot', relay.state)
        s = Stream(redis)
        check(s.sums == {('main', 'before'): 10, ('main', 'lost with the snapshot'): 1000, ('main', 'after it'): 1000},
              f'the stream contains all samples: {s.sums}')


@test
def two_relays_on_copies_of_one_spool_forward_queued_entries_once():
    with Directory() as d, RedisServer() as redis:
        redis.kill()
        first = Relay(d, url(redis, 'stream=strobe&window=0')).start()
        first.send(one('waits', 5))
        check(first.wait_until_on_disk(5), 'the sample is on disk')
        first.end()
        shutil.copytree(first.state, f'{d}/copy')
        second = Relay(d, first.url, 'copy')
        second.socket += '2'
        redis.start()
        with first, second:
            check(first.wait_until_forwarded(5) and second.wait_until_forwarded(5), 'queued entries are forwarded')
            first.send(one('first', 100))
            second.send(one('second', 100))
            check(first.wait_until_forwarded(105) and second.wait_until_forwarded(105), 'later entries are forwarded')
            known = first.figure('deduplicated_samples_total') + second.figure('deduplicated_samples_total')
            check(known == 5, f'one copy of the queued entries is deduplicated: {known}')
            check(first.is_exact() and second.is_exact(), 'the counters add up')
        s = Stream(redis)
        check(s.sums == {('main', 'waits'): 5, ('main', 'first'): 100, ('main', 'second'): 100}, f'each exists once: {s.sums}')


def replace_entry(path, message):
    """The only entry of a segment, with another content under its instance and number: as a process makes it that goes
    on from the snapshot of a virtual machine."""
    with open(path, 'rb') as f:
        header = bytearray(f.read(88))
    body = pack(message)
    header[44:48] = len(body).to_bytes(4, 'little')
    header[56:64] = hash_of(body)
    header[80:88] = hash_of(bytes(header[:80]))
    with open(path, 'wb') as f:
        f.write(header + body)


@test
def a_reused_entry_number_with_different_content_is_not_deduplicated():
    with Directory() as d, RedisServer() as redis:
        redis.kill()
        relay = Relay(d, url(redis, 'stream=strobe&window=0&host=')).start()
        relay.send(one('first', 7))
        check(relay.wait_until_on_disk(7), 'the sample is on disk')
        relay.end()
        shutil.copytree(relay.state, f'{d}/snapshot')
        redis.start()
        with relay:
            check(relay.wait_until_forwarded(7), 'the first entry is forwarded')
        shutil.rmtree(relay.state)
        shutil.copytree(f'{d}/snapshot', relay.state)
        segment, = glob.glob(f'{relay.state}/*/*.spool')
        second = one('second', 7)
        replace_entry(segment, second)
        for known in (0, 7):
            with relay:
                check(relay.wait_until_forwarded(7), 'the second entry is forwarded')
                f = relay.figures()
                check((f['forwarded_samples_total'], f['deduplicated_samples_total']) == (7 - known, known), f'the entry is either forwarded or deduplicated: {f}')
                check(f['renumbered_entries_total'] == (known == 0), 'it is counted')
                check(relay.is_exact(), 'the counters add up')
                relay.end()
            said = [line for line in relay.lines if 'earlier state' in line and ': 1 of its entries' in line]
            check(len(said) == (known == 0), f'logged once: {relay.lines}')
            shutil.rmtree(relay.state)
            shutil.copytree(f'{d}/snapshot', relay.state)
            replace_entry(segment, second)
        s = Stream(redis)
        check(s.sums == {('main', 'first'): 7, ('main', 'second'): 7}, f'the stream has both: {s.sums}')
        check(len(set(s.ids)) == 2, 'ids are unique')


def old_record(sequence, message, samples, instance=0x1122334455667788):
    """An entry as the spool's version 1 had it."""
    body = pack(message)
    header = struct.pack('<4sBBBBQQQQIIQ', b'SPLR', 1, 1, 3, 0, sequence, 0, time.time_ns(), samples, 0, len(body), instance)
    header += hash_of(body)
    return header + hash_of(header) + body


@test
def a_spool_of_an_earlier_version_is_forwarded_once():
    with Directory() as d, RedisServer() as redis:
        relay = Relay(d, url(redis, 'stream=strobe&window=0&host='))
        with relay:
            check(relay.wait_until_forwarded(0), 'the spool directory exists')
            relay.end()
        spool, = glob.glob(f'{relay.state}/spool-*')
        for name in os.listdir(spool):
            os.unlink(f'{spool}/{name}')
        with open(f'{spool}/0000000000000001.spool', 'wb') as f:
            f.write(old_record(1, one('the broker has it', 7), 7) + old_record(2, one('waits', 5), 5))
        # The answer to the first one was lost when the earlier version ended.
        redis.command('SET', '{strobe}:seen:1122334455667788', '1')
        with relay:
            check(relay.wait_until_forwarded(12), 'queued entries are forwarded')
            f = relay.figures()
            check((f['forwarded_samples_total'], f['deduplicated_samples_total']) == (5, 7), f'queued entries are forwarded once: {f}')
            check(f['set_aside_files_total'] == 0 and relay.is_exact(), 'the counters add up')
        s = Stream(redis)
        check(s.sums == {('main', 'waits'): 5}, f'the entry is in the stream: {s.sums}')


@test
def relays_to_two_databases_have_separate_spools_and_an_old_spool_goes_to_its_only_relay():
    with Directory() as d, RedisServer() as redis:
        redis.kill()
        two = redis.url('2?stream=strobe&window=1')
        spool = f'{d}/state/spool-127.0.0.1-{redis.port}'
        relay = Relay(d, two).start()
        try:
            relay.send(one('before'))
            check(wait_for(lambda: relay.figure('waiting_entries') == 1), 'an entry is queued')
            relay.end()
            os.rename(f'{spool}.2-strobe', f'{spool}-strobe')          # as an earlier version named it
            relay.start()
            check(os.path.exists(f'{spool}.2-strobe') and not os.path.exists(f'{spool}-strobe'), f'{os.listdir(d + "/state")}')
            check(relay.figure('recovered_samples_total') == 1, 'the queued entry is recovered')
            relay.end()
            os.rename(f'{spool}.2-strobe', f'{spool}-strobe')
            redis.start()
            # With a relay of the database 0 there, nobody knows whose it was: it stays where it is.
            with Collector(d, '--from', f'unix:{d}/s', '--to', two, '--to', redis.url('0?stream=strobe&window=1')) as c:
                check(os.path.exists(f'{spool}.2-strobe') and os.path.exists(f'{spool}-strobe'), f'{os.listdir(d + "/state")}')
                wire.connect(f'{d}/s').send(one('after'))
                check(wait_for(lambda: redis.command('XLEN', 'strobe') == 2), 'database 0 receives both entries')
                client = redis.connect()
                client.command('SELECT', '2')
                check(wait_for(lambda: client.command('XLEN', 'strobe') == 1), 'the other database receives later entries')
                client.close()
                check(c.stop() == 0, 'exits with 0')
        finally:
            relay.__exit__()


@test
def a_relay_killed_at_random_neither_loses_nor_duplicates_durable_samples():
    random.seed(5)
    with Directory() as d, RedisServer() as redis:
        relay, durable, number = Relay(d, url(redis)), [], 0
        for _ in range(ROUNDS):
            relay.start()
            first, taken, end = number, 0, time.monotonic() + 0.6 + random.random() * 2.2
            while time.monotonic() < end:
                try:
                    relay.send(one(f'f{number}'))
                except OSError:
                    break
                number += 1
                if number % 10 == 0:
                    taken = relay.figure('received_samples_total')
                time.sleep(0.01)
            relay.end(signal.SIGKILL)
            durable += range(first, first + taken)
        with relay:
            check(wait_for(lambda: relay.figure('waiting_samples') == 0), 'no entries remain queued')
            check(relay.is_exact(), 'the counters add up')
        s = Stream(redis)
        check(all(v == 1 for v in s.sums.values()), 'nothing is duplicated')
        missing = [n for n in durable if ('main', f'f{n}') not in s.sums]
        check(durable and not missing, f'none of {len(durable)} durable samples is missing ({missing[:9]})')
        check(s.order() == sorted(s.order()), 'they are in order')


@test
def a_spool_over_its_limit_drops_and_counts_the_oldest_entries():
    with Directory() as d, RedisServer() as redis:
        redis.kill()
        relay = Relay(d, url(redis, 'stream=strobe&window=0&spool=1M')).start()
        try:
            for i in range(12):
                stacks = {('main', random.randbytes(20000).hex() + f'-{i}-{k}'): 10 for k in range(10)}
                relay.send(*(wire.message({k: v}) for k, v in stacks.items()))
                if i % 2:       # so that there are several entries
                    relay.wait_until_on_disk(100 * (i + 1))
            check(wait_for(lambda: relay.figure('received_samples_total') == 1200), 'all are received')
            check(wait_for(lambda: relay.figures().get('dropped_samples_total{spool_full}', 0) > 0), 'some samples are dropped')
            check(relay.figure('spool_bytes') <= 1 << 20, 'the spool stays within its limit')
            check(relay.is_exact(), 'the counters add up')
            redis.start()
            check(wait_for(lambda: relay.figure('waiting_samples') == 0), 'the rest arrives')
            s = Stream(redis)
            check(s.total() == 1200 - relay.figure('dropped_samples_total{spool_full}'), 'missing samples are counted as dropped')
            check(any(stack[1].endswith('-11-9') for stack in s.sums), 'the newest entries are kept')
            check(not any(stack[1].endswith('-0-0') for stack in s.sums), 'the oldest entries are dropped')
        finally:
            relay.__exit__()


@test
def two_relays_cannot_share_a_spool():
    with Directory() as d, RedisServer() as redis, Relay(d, url(redis)):
        other = Relay(d, url(redis))
        other.socket += '2'
        other.start(ready=False)
        check(other.process.wait(60) == 2, 'the second relay exits')
        other.reader.join(5)
        check(any('another' in line for line in other.lines), 'the reason is logged')


def spread_over(cluster, directory, url):
    """Six hosts send one sample each. Returns the key of each, by host."""
    keys = {}
    for host in ('web1', 'web2', 'web3', 'web4', 'web5', 'web6'):
        with Relay(directory, f'{url}?stream=strobe&keys=16&window=1&host={host}', state=host) as relay:
            relay.send(one(host))
            check(relay.wait_until_forwarded(1), f'samples of {host} arrive')
            check(relay.end() == 0, f'{host} exits with 0')
        for key in [f'{{{i}}}strobe' for i in range(16)]:
            node = cluster.node_of(key)
            if node.command('XLEN', key) and key not in keys.values():
                keys[host] = key
    nodes = {cluster.node_of(key).port for key in keys.values()}
    check(len(keys) >= 3 and len(nodes) >= 2, f'hosts are spread ({keys})')
    total = sum(Stream(cluster.node_of(k), k).total() for k in set(keys.values()))
    check(total == 6, 'everything arrived')
    return keys


@test
def hosts_are_spread_over_a_cluster_behind_a_unix_socket_whose_nodes_announce_no_host():
    with Directory() as d:
        cluster = RedisCluster('--cluster-preferred-endpoint-type', 'unknown-endpoint')
        path = f'{d}/redis.sock'
        cluster.nodes[0].options += ['--unixsocket', path]
        with cluster:
            spread_over(cluster, d, f'redis://{quote(path, safe="")}/')


@test
def a_cluster_keeps_the_stream_of_each_host_under_one_key():
    with Directory() as d, RedisCluster() as cluster:
        keys = spread_over(cluster, d, cluster.url())

        # A slot that moves while a relay uses it.
        key = keys['web1']
        node = cluster.node_of(key)
        other = next(n for n in cluster.nodes if n is not node)
        before = Stream(node, key).total()
        with Relay(d, cluster.url('?stream=strobe&keys=16&window=0&host=web1'), state='web1') as relay:
            relay.send(one('before'))
            check(relay.wait_until_forwarded(1), 'one is forwarded before the migration')

            def send_meanwhile():
                other.command('SCRIPT', 'FLUSH')
                relay.send(one('meanwhile'))
                check(relay.wait_until_forwarded(2), 'one is forwarded during the migration (ASK), to a node without the script')
            cluster.move_slot(node.command('CLUSTER', 'KEYSLOT', key), node, other, send_meanwhile)
            relay.send(one('after'))
            check(relay.wait_until_forwarded(3), 'one is forwarded after the migration')
        check(Stream(other, key).total() == before + 3, 'all entries are on the new node of the slot')


class Center:
    """The collector that reads the stream, with a store."""

    def __init__(self, directory, url):
        self.directory, self.process = directory, None
        self.command = [STROBE, 'collect', '--from', url, '--to', f'sqlite:{directory}/store', '--state',
                        f'{directory}/center', '--listen', 'none']

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return self

    def end(self, signo):
        self.process.send_signal(signo)
        return self.process.wait(60)

    def stored(self):
        """Sums by folded stack, and the ids of runs."""
        p = subprocess.Popen([STROBE, 'serve', '--listen', '127.0.0.1:0', '--from', f'unix:{self.directory}/unused', '--store',
                              f'sqlite:{self.directory}/store'], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            address = next(line.split('http://')[1].split()[0] for line in p.stderr if 'http://' in line)
            with urllib.request.urlopen(f'http://{address}/api/v1/profile?from=-2h&format=folded', timeout=20) as r:
                sums = {stack: int(n) for stack, _, n in (line.rpartition(' ') for line in r.read().decode().splitlines())}
            with urllib.request.urlopen(f'http://{address}/api/v1/runs', timeout=20) as r:
                return sums, [run['id'] for run in json.load(r)['runs']]
        finally:
            p.terminate()
            p.wait()
            p.stderr.close()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


@test
def relay_and_collector_wait_while_the_broker_is_loading_its_data():
    with RedisServer(*RedisServer.LOADS_SLOWLY) as redis, Directory() as d:
        redis.restart_loading()
        with Relay(d, url(redis)) as relay, Center(d, redis.url('?stream=strobe&group=g')) as center:
            relay.send(one('f0'))
            check(wait_for(lambda: any('loading' in line for line in relay.lines)), f'it is logged: {relay.lines}')
            check(relay.figure('up') == 0, 'reported as down')
            redis.end_loading()
            check(relay.wait_until_forwarded(1), 'samples arrive after loading')
            check(len([line for line in relay.lines if 'loading' in line]) == 1, f'logged once: {relay.lines}')
            check(wait_for(lambda: any(group[7] != b'0-0' for group in redis.command('XINFO', 'GROUPS', 'strobe'))), 'the stream is read')
            check(center.end(signal.SIGTERM) == 0, 'the collector exits with 0')
            check(center.stored()[0] == {'main;f0': 1}, 'all are stored')


@test
def each_sample_is_stored_once_whichever_process_is_killed():
    random.seed(3)
    with Directory() as d, RedisServer('--appendonly', 'yes', '--appendfsync', 'always') as redis, \
            Relay(d, url(redis)) as relay, Center(d, redis.url('?stream=strobe&group=g')) as center:
        sums = {}
        for i in range(24):
            for _ in range(20):
                name = f'f{random.randrange(40)}'
                relay.send(one(name, 2))
                sums[f'main;{name}'] = sums.get(f'main;{name}', 0) + 2
            time.sleep(0.15)
            if i in (6, 18):
                center.end(signal.SIGKILL)
                center.start()
            if i == 9:
                redis.restart()
            if i == 12:
                before = sum(sums.values())
                check(relay.wait_until_on_disk(before), 'all sent samples are on disk')
                relay.end(signal.SIGKILL)
                relay.start()
        relay.send(wire.run_message([(0, 'main()', 1, 1000, 0)], {'id': 'r1', 'source': 'web'}))
        # The run is handed on at once, samples with the batch of their second.
        since = sum(sums.values()) - before
        check(wait_for(lambda: relay.figure('received_runs_total') == 1 and relay.figure('received_samples_total') == since
                       and relay.figure('waiting_samples') == 0 and relay.figure('waiting_runs') == 0), 'all is forwarded')

        def is_read():
            group = redis.command('XINFO', 'GROUPS', 'strobe')[0]
            facts = dict(zip(group[::2], group[1::2]))
            return facts[b'pending'] == 0 and facts[b'lag'] == 0
        check(wait_for(is_read), 'all entries are read and acknowledged')
        check(center.end(signal.SIGTERM) == 0, 'the collector exits with 0')
        stored, runs = center.stored()
        check(stored == sums, f'the store matches the sent samples: {sum(stored.values())} of {sum(sums.values())}')
        check(runs == ['r1'], f'the run is stored: {runs}')


if __name__ == '__main__':
    main()
