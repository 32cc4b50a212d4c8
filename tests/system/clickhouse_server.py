"""Real ClickHouse servers for the system tests: started on free ports of loopback, each in a directory of its own (in memory where
that is possible, as creating a table waits for the disk), hung, killed and started again; and a proxy that cuts connections at a chosen
statement.

    with ClickHouse() as c:
        c.ask('SELECT 1')                          # text
        c.url('shop', '?timeout=5s')               # clickhouse://127.0.0.1:PORT/shop?timeout=5s
        with Proxy(c, 'INSERT INTO samples', c.kill) as p:
            p.url('shop')                          # the first such statement kills the server instead of reaching it
"""
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import urllib.error
import urllib.request
from urllib.parse import quote

from redis_server import free_port
from strobe_test import Skip, wait_for

MEMORY = '/dev/shm'
# The settings that are left out are off in 18.16: the logs of queries, parts and threads, graphite, dictionaries.
CONFIG = '''<yandex>
 <logger><level>warning</level><log>{d}/log</log><errorlog>{d}/errors</errorlog></logger>
 <http_port>{http}</http_port><tcp_port>{tcp}</tcp_port><interserver_http_port>{inter}</interserver_http_port>
 <listen_host>127.0.0.1</listen_host>
 <path>{d}/data/</path><tmp_path>{d}/tmp/</tmp_path><user_files_path>{d}/files/</user_files_path>
 <format_schema_path>{d}/formats/</format_schema_path>
 <mark_cache_size>8388608</mark_cache_size>
 <users_config>{d}/users.xml</users_config>{more}
 <default_profile>default</default_profile><default_database>default</default_database>
</yandex>
'''
USERS = '''<yandex>
 <profiles><default>
  <background_pool_size>2</background_pool_size><background_schedule_pool_size>2</background_schedule_pool_size>
 </default></profiles>
 <users><default><password>{password}</password><networks><ip>127.0.0.1</ip></networks><profile>default</profile>
  <quota>default</quota></default></users>
 <quotas><default></default></quotas>
</yandex>
'''


class ClickHouse:
    def __init__(self, password=''):
        if not shutil.which('clickhouse-server'):
            raise Skip('clickhouse-server is not installed (Debian 12 has it, Debian 13 does not)')
        self.directory = tempfile.mkdtemp(prefix='strobe-clickhouse-', dir=MEMORY if os.access(MEMORY, os.W_OK) else None)
        self.port, self.tcp, self.between, self.password, self.process = free_port(), free_port(), free_port(), password, None
        self.configure()
        with open(f'{self.directory}/users.xml', 'w') as f:
            f.write(USERS.format(password=password))

    def configure(self, more=''):
        with open(f'{self.directory}/config.xml', 'w') as f:
            f.write(CONFIG.format(d=self.directory, http=self.port, tcp=self.tcp, inter=self.between, more=more))

    def join(self, cluster, shards, zookeeper=None):
        """Before it starts: the cluster that it knows, whose shards are lists of replicas."""
        def replica(server):
            return f'<replica><host>127.0.0.1</host><port>{server.tcp}</port></replica>'
        text = ''.join(f'<shard><internal_replication>true</internal_replication>{"".join(map(replica, shard))}</shard>' for shard in shards)
        more = f'<remote_servers><{cluster}>{text}</{cluster}></remote_servers>'
        if zookeeper:
            number = [self in shard for shard in shards].index(True) + 1
            more += (f'<zookeeper><node><host>127.0.0.1</host><port>{zookeeper.port}</port></node></zookeeper>'
                     f'<macros><shard>{number}</shard><replica>{self.port}</replica></macros>'
                     '<distributed_ddl><path>/clickhouse/ddl</path></distributed_ddl><interserver_http_host>127.0.0.1</interserver_http_host>')
        self.configure(more)

    def start(self):
        if self.process and self.process.poll() is None:
            return self
        with open(f'{self.directory}/output', 'ab') as log:
            self.process = subprocess.Popen(['clickhouse-server', f'--config-file={self.directory}/config.xml'], stdout=log,
                                            stderr=log, stdin=subprocess.DEVNULL, cwd=self.directory)
        if not wait_for(self.is_ready, 120):
            with open(f'{self.directory}/output', errors='replace') as f:
                raise RuntimeError('clickhouse-server did not become ready: ' + f.read()[-2000:])
        return self

    def is_ready(self):
        if self.process.poll() is not None:
            raise RuntimeError('clickhouse-server ended')
        try:
            return self.ask('SELECT 1') == '1\n'
        except OSError:
            return False

    def has_logged(self, text):
        with open(f'{self.directory}/errors', errors='replace') as f:
            return text in f.read()

    def clear_log(self):
        open(f'{self.directory}/errors', 'w').close()

    def ask(self, sql, database='default'):
        request = urllib.request.Request(f'http://127.0.0.1:{self.port}/?database={database}', data=sql.encode(),
                                         headers={'X-ClickHouse-User': 'default', 'X-ClickHouse-Key': self.password})
        try:
            with urllib.request.urlopen(request, timeout=30) as r:
                return r.read().decode(errors='surrogateescape')
        except urllib.error.HTTPError as e:
            raise RuntimeError(f'{sql[:200]}: {e.read().decode(errors="replace")[:500]}') from None

    def expect(self, statement):
        """Another one, for what is said from now on."""
        self.pattern = re.compile(b'|'.join(re.escape(s.encode()) for s in (statement, quote(statement))))

    def url(self, database, parameters=''):
        return f'clickhouse://127.0.0.1:{self.port}/{database}{parameters}'

    @property
    def server(self):
        return f'127.0.0.1:{self.port}'

    def pause(self):
        """Until its main thread has run once more, which takes long on a busy machine, the other threads go on to answer."""
        self.process.send_signal(signal.SIGSTOP)
        if not wait_for(self.is_stopped):
            raise RuntimeError('clickhouse-server did not stop')

    def is_stopped(self):
        states = set()
        for thread in os.listdir(f'/proc/{self.process.pid}/task'):
            try:
                with open(f'/proc/{self.process.pid}/task/{thread}/stat') as f:
                    states.add(f.read().rsplit(')', 1)[1].split()[0])
            except OSError:
                pass            # the thread has ended
        return states == {'T'}

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)


class Proxy:
    """Stands before a server. The first connection on which `statement` is seen is cut: before the server gets it, or, with
    `after`, when the server has answered it, whose answer is lost. `then` is called at that moment."""

    def __init__(self, server, statement, then=lambda: None, after=False):
        self.server, self.then, self.after = server, then, after
        self.expect(statement)
        self.is_cut, self.cut = threading.Lock(), threading.Event()
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def expect(self, statement):
        """Another one, for what is said from now on."""
        self.pattern = re.compile(b'|'.join(re.escape(s.encode()) for s in (statement, quote(statement))))

    def url(self, database, parameters=''):
        return f'clickhouse://127.0.0.1:{self.port}/{database}{parameters}'

    def accept(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            try:
                upstream = socket.create_connection(('127.0.0.1', self.server.port), 30)
            except OSError:
                client.close()
                continue
            upstream.settimeout(None)
            state = {'lose': False}
            threading.Thread(target=self.pump, args=(client, upstream, state, True), daemon=True).start()
            threading.Thread(target=self.pump, args=(upstream, client, state, False), daemon=True).start()

    def pump(self, source, target, state, is_request):
        seen, pattern = b'', self.pattern
        try:
            while data := source.recv(1 << 16):
                if pattern is not self.pattern:     # a test has another one now, for what comes from here on
                    seen, pattern = b'', self.pattern
                seen = (seen + data)[-(1 << 17):]
                if is_request and pattern.search(seen) and self.is_cut.acquire(blocking=False):
                    if not self.after:
                        self.then()
                        self.cut.set()
                        break
                    state['lose'] = True
                if not is_request and state['lose']:
                    self.then()
                    self.cut.set()
                    break
                target.sendall(data)
        except OSError:
            pass
        for s in (source, target):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()
