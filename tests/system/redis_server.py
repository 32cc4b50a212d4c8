"""Real Redis servers for the system tests: started on free ports of loopback, each in a directory of its own, stopped,
hung, killed and started again; and a cluster of three.

    with RedisServer('--maxmemory', '20mb') as r:
        r.command('PUBLISH', 'excimer', 'a;b 1')
        r.pause(); r.resume(); r.kill(); r.start()
        r.url('?channel=excimer')                  # redis://127.0.0.1:PORT/?channel=excimer

Commands go through a small client of their own, so that python3-redis is not needed.
"""
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from strobe_test import Skip, wait_for


class RedisError(Exception):
    """An error reply."""


given_ports = set()


def free_port():
    """None of those that the kernel gives to connections: a restarted server needs the same one, and who asks
    for it meanwhile would otherwise now and then be given that very port, and be connected to himself. None twice: of
    the servers of one test some ask before others have begun to listen."""
    for _ in range(1000):
        port = random.SystemRandom().randrange(10000, 32000)
        if port in given_ports:
            continue
        with socket.socket() as s:
            try:
                s.bind(('127.0.0.1', port))
            except OSError:
                continue
        given_ports.add(port)
        return port
    raise RuntimeError('no port is free')


def encode(*words):
    parts = [b'*%d\r\n' % len(words)]
    for word in words:
        word = word if isinstance(word, bytes) else str(word).encode()
        parts.append(b'$%d\r\n%s\r\n' % (len(word), word))
    return b''.join(parts)


class Client:
    """One connection. Replies are bytes, int, None, lists; error replies are raised (in lists they are values)."""

    def __init__(self, port, password=None, user=None, timeout=10):
        self.socket = socket.create_connection(('127.0.0.1', port), timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile('rb')
        if password is not None:
            self.command(*(['AUTH', user] if user else ['AUTH']), password)

    def command(self, *words):
        self.socket.sendall(encode(*words))
        return self.reply()

    def pipeline(self, commands, at_once=1000):
        """Sends many commands (tuples of words) and returns their replies."""
        replies, block = [], []
        for words in commands:
            block.append(encode(*words))
            if len(block) == at_once:
                replies += self.send_block(block)
                block = []
        return replies + self.send_block(block)

    def send_block(self, block):
        self.socket.sendall(b''.join(block))
        return [self.reply() for _ in block]

    def reply(self):
        value = self.read()
        if isinstance(value, RedisError):
            raise value
        return value

    def read(self):
        line = self.file.readline()
        if not line.endswith(b'\r\n'):
            raise ConnectionError('the server closed the connection')
        kind, rest = line[:1], line[1:-2]
        if kind == b'+':
            return rest
        if kind == b'-':
            return RedisError(rest.decode(errors='replace'))
        if kind == b':':
            return int(rest)
        if kind == b'$':
            return None if rest == b'-1' else self.file.read(int(rest) + 2)[:-2]
        if kind == b'*':
            return None if rest == b'-1' else [self.read() for _ in range(int(rest))]
        raise ConnectionError(f'not the protocol: {line!r}')

    def close(self):
        self.file.close()
        self.socket.close()


class RedisServer:
    """A redis-server in the foreground, without persistence unless the options say so ('--appendonly', 'yes').

    With a password alone it wants that; with a user too there is this user, who may do `rules`, and no default one."""

    def __init__(self, *options, password=None, user=None, rules='~* &* +@all'):
        if not shutil.which('redis-server'):
            raise Skip('redis-server is not installed')
        self.password, self.user, self.process, self.client = password, user, None, None
        self.directory = tempfile.mkdtemp(prefix='strobe-redis-')
        self.port = free_port()
        self.options = list(options)
        if password is not None and user is None:
            self.options += ['--requirepass', password]
        if user is not None:
            self.options += ['--user', 'default', 'off', '--user', user, 'on', '>' + password, *rules.split()]

    # --- Life ---

    def start(self, *more, wait=True):
        """Starts it unless it runs, on the same port and directory as before; `more` options for this time."""
        if self.process and self.process.poll() is None:
            return self
        self.log = open(f'{self.directory}/log', 'ab')
        self.process = subprocess.Popen(
            ['redis-server', '--port', str(self.port), '--bind', '127.0.0.1', '--dir', self.directory, '--save', '',
             '--appendonly', 'no', '--daemonize', 'no', *self.options, *more],
            stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL)
        self.log.close()
        if wait:
            self.wait_until_ready()
        return self

    def is_ready(self):
        if self.process.poll() is not None:
            raise RuntimeError('redis-server ended: ' + self.log_text()[-2000:])
        try:
            c = Client(self.port, timeout=2)
        except OSError:
            return False
        try:
            c.command('PING')
            return True
        except RedisError as e:
            return not str(e).startswith('LOADING')      # NOAUTH, MASTERDOWN: it answers
        except OSError:
            return False
        finally:
            c.close()

    def wait_until_ready(self, seconds=60):
        if not wait_for(self.is_ready, seconds):
            raise RuntimeError('redis-server did not become ready: ' + self.log_text()[-2000:])

    def log_text(self):
        with open(f'{self.directory}/log', errors='replace') as f:
            return f.read()

    def pause(self):
        """Hung: it accepts connections (the kernel does) and says nothing."""
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def kill(self):
        self.end(signal.SIGKILL)

    def terminate(self):
        self.end(signal.SIGTERM)

    def end(self, signo):
        self.forget_client()
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(signo)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def restart(self, signo=signal.SIGKILL, down=0):
        self.end(signo)
        time.sleep(down)
        return self.start()

    LOADS_SLOWLY = ('--enable-debug-command', 'yes', '--rdbcompression', 'no', '--loading-process-events-interval-bytes', '1024')

    def restart_loading(self):
        """Kills it and starts it again with so many keys that it loads them for minutes, or until `end_loading`. It needs
        the options LOADS_SLOWLY."""
        self.command('DEBUG', 'POPULATE', 60000)
        self.command('SAVE')
        self.kill()
        self.start('--key-load-delay', '2000', wait=False)

    def end_loading(self):
        if not wait_for(lambda: self.command('CONFIG', 'SET', 'key-load-delay', '0') == b'OK', 60):
            raise RuntimeError('redis-server does not answer: ' + self.log_text()[-2000:])
        self.wait_until_ready()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    # --- Talking to it ---

    def connect(self, timeout=10):
        """A connection of one's own, to close()."""
        return Client(self.port, self.password, self.user, timeout)

    def command(self, *words):
        """Over a connection that is kept, and made again once when the server was."""
        for attempt in range(2):
            try:
                if self.client is None:
                    self.client = self.connect()
                return self.client.command(*words)
            except (ConnectionError, BrokenPipeError):
                self.forget_client()
                if attempt:
                    raise
        return None

    def forget_client(self):
        if self.client:
            self.client.close()
        self.client = None

    def info(self, section='all'):
        text = self.command('INFO', section).decode(errors='replace')
        return dict(line.split(':', 1) for line in text.splitlines() if ':' in line)

    def subscribers(self, channel):
        return self.command('PUBSUB', 'NUMSUB', channel)[1]

    def wait_for_subscriber(self, channel, seconds=60):
        if not wait_for(lambda: self.subscribers(channel) > 0, seconds):
            raise RuntimeError(f'nobody subscribes to {channel}: {self.log_text()[-500:]}')

    def url(self, rest='', login=None):
        """`rest` is such as '?channel=excimer'. The login is that of the server unless another is given."""
        if login is None and self.password is not None:
            login = f'{self.user or ""}:{self.password}@'
        return f'redis://{login or ""}127.0.0.1:{self.port}/{rest}'


class RedisCluster:
    """Masters that share the slots evenly. `nodes` are RedisServers; options are for each."""

    def __init__(self, *options, count=3):
        self.nodes = [RedisServer('--cluster-enabled', 'yes', '--cluster-port', str(free_port()),
                                  '--cluster-node-timeout', '2000', *options) for _ in range(count)]

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.__exit__()
            raise

    def start(self):
        slots = 16384
        for node in self.nodes:
            node.start(wait=False)
        for node in self.nodes:
            node.wait_until_ready()
        for i, node in enumerate(self.nodes):
            first, last = slots * i // len(self.nodes), slots * (i + 1) // len(self.nodes) - 1
            node.command('CLUSTER', 'ADDSLOTSRANGE', first, last)
            node.command('CLUSTER', 'SET-CONFIG-EPOCH', i + 1)
        for other in self.nodes[1:]:
            bus = other.options[other.options.index('--cluster-port') + 1]
            self.nodes[0].command('CLUSTER', 'MEET', '127.0.0.1', other.port, bus)
        if not wait_for(self.is_ready):
            raise RuntimeError('the cluster did not come together: ' + self.nodes[0].command('CLUSTER', 'INFO').decode())
        return self

    def is_ready(self):
        return all('cluster_state:ok' in (info := n.command('CLUSTER', 'INFO').decode()) and
                   f'cluster_known_nodes:{len(self.nodes)}' in info and 'cluster_slots_ok:16384' in info
                   for n in self.nodes)

    def node_of(self, key):
        """The server whose slots hold this key."""
        slot = self.nodes[0].command('CLUSTER', 'KEYSLOT', key)
        for first, last, master, *_ in self.nodes[0].command('CLUSTER', 'SLOTS'):
            if first <= slot <= last:
                return next(n for n in self.nodes if n.port == master[1])
        raise RuntimeError(f'no node has slot {slot}')

    def move_slot(self, slot, source, target, meanwhile=lambda: None):
        """Moves a slot and its keys from one node to another, as redis-cli --cluster reshard does. `meanwhile` is called when the keys are
        there and the slot is not yet."""
        ids = {n: n.command('CLUSTER', 'MYID') for n in (source, target)}
        target.command('CLUSTER', 'SETSLOT', slot, 'IMPORTING', ids[source])
        source.command('CLUSTER', 'SETSLOT', slot, 'MIGRATING', ids[target])
        while keys := source.command('CLUSTER', 'GETKEYSINSLOT', slot, 100):
            source.command('MIGRATE', '127.0.0.1', target.port, '', 0, 5000, 'KEYS', *keys)
        meanwhile()
        for node in (target, source, *self.nodes):
            node.command('CLUSTER', 'SETSLOT', slot, 'NODE', ids[target])

    def url(self, rest=''):
        return self.nodes[0].url(rest)

    def __exit__(self, *_):
        for node in self.nodes:
            node.__exit__()
