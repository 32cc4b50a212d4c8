"""A real ZooKeeper for the system tests, on a free port of loopback, killed and started again.

    with ZooKeeper() as z:
        z.port
        z.kill(); z.start()
"""
import os
import shutil
import socket
import subprocess
import tempfile

from redis_server import free_port
from strobe_test import Skip, wait_for

# The first names those that it needs.
JARS = ['/usr/share/java/zookeeper.jar', '/usr/share/java/slf4j-simple.jar']
CONFIG = '''tickTime=500
dataDir={d}/data
clientPortAddress=127.0.0.1
clientPort={port}
admin.enableServer=false
preAllocSize=1024
4lw.commands.whitelist=srvr
'''


class ZooKeeper:
    def __init__(self):
        if not shutil.which('java') or not all(os.path.exists(jar) for jar in JARS):
            raise Skip('libzookeeper-java or default-jre-headless is not installed')
        self.directory, self.port, self.process = tempfile.mkdtemp(prefix='strobe-zookeeper-'), free_port(), None
        with open(f'{self.directory}/config', 'w') as f:
            f.write(CONFIG.format(d=self.directory, port=self.port))

    def start(self):
        with open(f'{self.directory}/output', 'ab') as log:
            self.process = subprocess.Popen(['java', '-Xmx64m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-cp', ':'.join(JARS),
                                             'org.apache.zookeeper.server.ZooKeeperServerMain', f'{self.directory}/config'],
                                            stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        if not wait_for(self.is_ready, 120):
            with open(f'{self.directory}/output', errors='replace') as f:
                raise RuntimeError('ZooKeeper did not become ready: ' + f.read()[-2000:])
        return self

    def is_ready(self):
        if self.process.poll() is not None:
            raise RuntimeError('ZooKeeper ended')
        try:
            with socket.create_connection(('127.0.0.1', self.port), 5) as s:
                s.sendall(b'srvr')
                return s.recv(100).startswith(b'Zookeeper version')
        except OSError:
            return False

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)
