"""Channels of real Redis servers, on good days and bad ones: nothing that arrived is lost or counted twice, each trouble
is said once with what to do, and what strangers publish becomes neither a path nor a line of the log."""
import json
import os
import random
import re
import signal
import socket
import threading
import time
import urllib.parse

from daemon import Daemon
from redis_server import Client, RedisServer, encode, free_port
from strobe_test import Directory, check, main, test, wait_for


def samples(d):
    return d.status()['samples']


def stored(d, count, seconds=60):
    """Waits until so many samples are stored; says whether the sums are exact."""
    wait_for(lambda: samples(d)['stored'] >= count, seconds)
    s = samples(d)
    dropped = s['dropped']['queue_full'] + s['dropped']['rejected']
    return check(s['stored'] == count and s['received'] == s['stored'] + s['queued'] + dropped,
                 f'{count} samples are stored and the counters add up: {s}')


def said(d, words, count=1, seconds=60):
    """Waits for a log line with these words; it comes `count` times and not again."""
    return wait_for(lambda: sum(words in line for line in d.lines) >= count, seconds)


def times_said(d, words):
    return sum(words in line for line in d.lines)


def publish(server, channel, lines):
    """Returns the number of receivers of all messages together."""
    c = server.connect()
    n = sum(c.pipeline(('PUBLISH', channel, line) for line in lines))
    c.close()
    return n


@test
def messages_published_on_many_channels_are_counted_exactly():
    rng = random.Random(5)
    channels = [f'excimer-{i}' for i in range(60)]
    with RedisServer() as r, Directory() as directory:
        url = r.url('?channel=' + ','.join(channels) + '&pattern=other.*&label.site=one')
        with Daemon(directory, '--from', url) as d:
            r.wait_for_subscriber(channels[-1])
            total = 0
            c = r.connect()
            commands = []
            for i in range(6000):
                counts = [rng.randint(1, 9) for _ in range(rng.randint(1, 4))]
                total += sum(counts)
                text = '\n'.join(f'/srv/index.php;main;f{rng.randint(0, 50)} {n}' for n in counts)
                commands.append(('PUBLISH', rng.choice(channels + ['other.x', 'other.y']), text + rng.choice(['', '\n'])))
            check(c.pipeline(commands) == [1] * 6000, 'each message was received once')
            stored(d, total)
            mine = json.loads(d.get('/api/v1/profile?from=-1h&filter=' + urllib.parse.quote('profiler=other.x')))
            check(mine, 'the channel is the label profiler')
            check('subscribed to excimer-0, excimer-1, excimer-2 and 58 more' in '\n'.join(d.lines), 'the subscribed channels are logged')


@test
def the_subscriber_reconnects_after_a_late_start_a_restart_and_a_disconnect():
    with Directory() as directory:
        r = RedisServer()
        with Daemon(directory, '--from', r.url('?channel=excimer')) as d:
            check(said(d, 'Connection refused; is Redis running?'), 'the refused connection is logged')
            time.sleep(2)
            check(times_said(d, 'Connection refused') == 1, 'logged once')
            with r:
                r.start()
                r.wait_for_subscriber('excimer')
                check(publish(r, 'excimer', ['a;b 1'] * 1000) == 1000, 'all messages were delivered')
                stored(d, 1000)
                r.restart()                             # kill -9; it keeps nothing
                r.wait_for_subscriber('excimer')
                check(publish(r, 'excimer', ['a;c 2'] * 500) == 500, 'all messages were delivered after the restart')
                r.restart(signal.SIGTERM)
                r.wait_for_subscriber('excimer')
                r.command('FLUSHALL')
                r.command('CLIENT', 'KILL', 'TYPE', 'pubsub')
                r.wait_for_subscriber('excimer')
                check(publish(r, 'excimer', ['a;d 3'] * 100) == 100, 'all messages were delivered after the disconnect')
                stored(d, 1000 + 1000 + 300)
                check(times_said(d, 'the connection is lost: it closed the connection') == 3 and
                      times_said(d, 'reconnected after') == 3, f'each lost connection is logged once: {d.lines}')
                check(times_said(d, 'Redis had closed the connection') == 1, 'the intended disconnect is logged')


@test
def a_hung_server_is_detected_within_ten_seconds():
    with RedisServer() as r, Directory() as directory, \
            Daemon(directory, '--from', r.url('?channel=excimer')) as d:
        r.wait_for_subscriber('excimer')
        r.pause()
        start = time.monotonic()
        check(said(d, 'does not answer (PING); it is hung', seconds=30), 'it is logged')
        took = time.monotonic() - start
        check(took < 10, f'within ten seconds: {took:.1f}')
        r.resume()
        wait_for(lambda: times_said(d, 'subscribed to') == 2)
        check(publish(r, 'excimer', ['a;b 1'] * 10) == 10, 'one subscriber reconnected')
        stored(d, 10)


@test
def authentication_and_permission_errors_are_logged_without_passwords():
    with RedisServer(password='geheim') as r, RedisServer(user='eve', password='pw', rules='+@all -subscribe &* ~*') as acl, \
            Directory() as directory:
        with open(f'{directory}/password', 'w', encoding='ascii') as f:
            f.write('geheim\n')
        urls = [r.url('?channel=none', login=''), r.url('?channel=wrong', login='bob:falsch@'),
                r.url('?channel=right'), r.url(f'?channel=file&password-file={directory}/password', login=''),
                acl.url('?channel=forbidden'), r.url('9999?channel=database')]
        with Daemon(directory, *(word for url in urls for word in ('--from', url))) as d:
            check(said(d, 'requires a password; set password-file='), 'no password: the missing password is logged')
            check(said(d, 'rejects the user or the password'), 'wrong password: logged')
            check(said(d, 'does not permit this to the user'), 'missing permission: logged')
            check(said(d, 'has no database 9999'), 'a missing database is logged')
            r.wait_for_subscriber('right')
            r.wait_for_subscriber('file')
            publish(r, 'right', ['a;b 1'])
            publish(r, 'file', ['a;b 2'])
            stored(d, 3)
            time.sleep(2)
            everything = '\n'.join(d.lines) + d.get('/metrics') + d.get('/api/v1/status')
            check('geheim' not in everything and 'falsch' not in everything, 'no password is shown')
            check(times_said(d, 'requires a password') == 1 and times_said(d, 'does not permit') == 1, 'each is logged once')


@test
def loading_read_only_orphaned_and_full_servers_are_handled():
    loading = RedisServer(*RedisServer.LOADS_SLOWLY)
    full = RedisServer('--maxmemory', '3mb', '--maxmemory-policy', 'noeviction')
    with loading, full, RedisServer() as master, Directory() as directory:
        replica = RedisServer('--replicaof', f'127.0.0.1 {master.port}', '--replica-read-only', 'yes')
        orphan = RedisServer('--replicaof', f'127.0.0.1 {free_port()}', '--replica-serve-stale-data', 'no')
        with replica, orphan:
            wait_for(lambda: replica.info('replication')['master_link_status'] == 'up')
            filler = full.connect()
            while True:
                filler.socket.sendall(encode('RPUSH', 'x', b'x' * 100000))
                if isinstance(filler.read(), Exception):
                    break
            loading.restart_loading()
            urls = [s.url('?channel=excimer') for s in (loading, replica, orphan, full)]
            with Daemon(directory, *(word for url in urls for word in ('--from', url))) as d:
                check(said(d, 'is loading its data; retrying'), f'loading is logged: {d.lines}')
                check(said(d, 'is a replica that has lost its master'), 'a replica without its master is logged')
                replica.wait_for_subscriber('excimer')
                full.wait_for_subscriber('excimer')
                check(publish(master, 'excimer', ['a;b 1'] * 7) == 0, 'the master has no subscriber')
                check(publish(full, 'excimer', ['a;b 1'] * 11) == 11, 'a server without memory still publishes')
                stored(d, 18)
                orphan.command('REPLICAOF', 'NO', 'ONE')
                orphan.wait_for_subscriber('excimer')
                loading.end_loading()
                loading.wait_for_subscriber('excimer')
                publish(orphan, 'excimer', ['a;b 1'] * 100)
                publish(loading, 'excimer', ['a;b 1'] * 1000)
                stored(d, 1118)
                check(times_said(d, 'is loading its data') == 1, 'loading is logged once')


HOSTILE = [
    b'../../../etc/passwd;x 1', b'/srv/../../a/..;b 1', b'..;a 1', b'.;a 1', b'a\x00b;c 1', b'\x1b[31mred\x1b[0m;x 1',
    b'\x1b]0;title\x07;b 1', b'%s%n%s;%x 1', b'<script>alert(1)</script>;x 1', b'\xff\xfe\x80;x 1', b'a;;;;b 1',
    b'=;{}",\\\';y 1', b'x' * 200000 + b';y 1', b';'.join(b'f' for _ in range(9000)) + b' 1', b'\r;\r;a\rb 1',
    b'con;aux;nul 1', b'-rf;* 1', '\u202egnp.exe;\u2028x 1'.encode(), b'a b c;d e 1', b'index.php;main 1\r',
]
REFUSED = [
    b'', b'\n\n\n', b' ', b'no count', b'a;b 0', b'a;b -3', b'a;b 1.5', b'a;b 99999999999999999999999', b'12', b' 12',
    b'x' * (1 << 20) + b';y 1', b';'.join(b'f' for _ in range(10001)) + b' 1', b'\x00', b'a;b 1e3', b'{"json": true}',
    os.urandom(3000).replace(b'\n', b'').replace(b' ', b''), b'SPRF' + bytes(200),
]


@test
def untrusted_messages_create_no_paths_and_inject_no_log_lines():
    channels = ['excimer', '../../../tmp/strobe-evil', 'a/b', 'c\x1b[2J', 'd e']
    with RedisServer('--client-output-buffer-limit', 'pubsub 0 0 0') as r, Directory() as directory:
        quoted = ','.join(urllib.parse.quote(c, safe='') for c in channels)
        with Daemon(directory, '--from', r.url('?channel=' + quoted + '&pattern=x*')) as d:
            r.wait_for_subscriber(channels[-1])
            c = r.connect()
            for channel in channels + ['x\n<b>\x1b[0m', 'x' * 5000]:
                c.pipeline([('PUBLISH', channel, m) for m in HOSTILE + REFUSED])
            c.command('PUBLISH', 'excimer', b'one;x 1\nno count\n\ntwo;y 2\r\nthree;z 3')
            c.command('PUBLISH', 'excimer', b'a' * 5000000)
            c.command('PUBLISH', 'excimer', b'a' * (65 << 20))
            check(said(d, 'a reply is larger than 64 MB'), 'an oversized reply is not kept in memory')
            wait_for(lambda: times_said(d, 'subscribed to') == 2)
            c.command('PUBLISH', 'excimer', b'last;one 1000')
            stored(d, len(HOSTILE) * 7 + 6 + 1000)
            check(d.process.poll() is None, 'the daemon is running')
            log = ''.join(d.lines)
            check(all(ch >= ' ' and ch != '\x7f' for ch in log), 'the log has no control characters')
            check(times_said(d, 'is invalid: ') == 1, 'malformed lines are logged once')
            check(not os.path.exists('/tmp/strobe-evil') and not os.path.exists(f'{directory}/state/a'), 'no path was created')
            files = {f for _, _, names in os.walk(f'{directory}/state') for f in names}
            check(all(f.endswith(('.sqlite', '-wal', '-shm', '.lock', 'lock', 'journal')) or f[0].isalnum() for f in files),
                  f'the store has its own files only: {files}')
            json.loads(d.get('/api/v1/profile?from=-1h'))


@test
def servers_that_violate_the_redis_protocol_are_rejected_without_harm():
    """A web server, one that hangs up, and one that promises two billion elements."""
    answers = [b'HTTP/1.1 400 Bad Request\r\n\r\n', b'', b'*2147483647\r\n', b'$-5\r\n', b'*1\r\n' * 10000]
    listener = socket.create_server(('127.0.0.1', 0))
    stop = threading.Event()

    def serve():
        listener.settimeout(0.2)
        n = 0
        while not stop.is_set():
            try:
                s, _ = listener.accept()
            except OSError:
                continue
            with s:
                s.settimeout(1)
                try:
                    s.recv(1000)
                    s.sendall(answers[n % len(answers)])
                except OSError:
                    pass
            n += 1

    thread = threading.Thread(target=serve)
    thread.start()
    port = listener.getsockname()[1]
    try:
        with Directory() as directory, Daemon(directory, '--from', f'redis://127.0.0.1:{port}/?channel=a') as d:
            check(said(d, "it does not speak the Redis protocol; is it a Redis?"), 'it is logged')
            check(said(d, 'ended the connection before it was ready'), 'the ended connection is logged')
            check(said(d, 'or has more than 1048576 elements'), 'oversized array headers are rejected')
            check(d.process.poll() is None, 'the daemon is running')
    finally:
        stop.set()
        thread.join()
        listener.close()


@test
def a_disconnected_slow_subscriber_logs_the_missed_messages_and_reconnects():
    with RedisServer('--client-output-buffer-limit', 'pubsub 2mb 1mb 5') as r, Directory() as directory, \
            Daemon(directory, '--from', r.url('?channel=excimer')) as d:
        r.wait_for_subscriber('excimer')
        d.process.send_signal(signal.SIGSTOP)           # nobody reads any more
        line = 'index.php;' + 'f' * 1000 + ' 1'
        delivered = publish(r, 'excimer', [line] * 30000)
        check(delivered < 30000, f'Redis disconnected the subscriber: {delivered}')
        d.process.send_signal(signal.SIGCONT)
        check(said(d, 'Redis had closed the connection, as it does for slow subscribers'), f'it is logged: {d.lines}')
        got = samples(d)['received']
        check(0 < got < delivered, f'messages buffered in the kernel arrived: {got} of {delivered}')
        check(said(d, f'up to {30000 - got} messages were missed'), f'the number of missed messages is logged ({got} received): {d.lines}')
        check(publish(r, 'excimer', [line] * 1000) == 1000, 'the subscriber has reconnected')
        stored(d, got + 1000)


def waiting_bytes(connection):
    """The subscribers' output buffers in the server."""
    clients = connection.command('CLIENT', 'LIST', 'TYPE', 'pubsub').decode()
    return sum(int(size) for size in re.findall(r'\bomem=(\d+)', clients))


@test
def a_burst_of_a_hundred_thousand_messages_does_not_disconnect_the_subscriber():
    count, limit = 100000, 16 << 20     # The server cuts off at 32 MB, and how fast it is read depends on who else wants a CPU.
    with RedisServer() as r, Directory() as directory, \
            Daemon(directory, '--from', r.url('?channel=excimer')) as d:
        r.wait_for_subscriber('excimer')
        c, other = r.connect(), r.connect()
        block = b''.join(encode('PUBLISH', 'excimer', f'/srv/index.php;main;f{i};{"g" * 900} 1') for i in range(1000))
        delivered = 0
        for _ in range(count // 1000):
            c.socket.sendall(block)
            delivered += sum(c.read() for _ in range(1000))
            if waiting_bytes(other) > limit:
                wait_for(lambda: waiting_bytes(other) < limit, 60)
        check(delivered == count, f'{delivered} delivered')
        stored(d, count)


if __name__ == '__main__':
    main()
