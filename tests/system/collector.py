"""A private `strobe collect` for the system tests, and what is sent to it and found behind it."""
import contextlib
import glob
import json
import os
import signal
import socket
import subprocess

from daemon import Daemon
from strobe_test import STROBE, check, wait_for


class Collector(Daemon):
    """Runs `strobe collect` with these options, and with `directory`/state and a free port."""

    def __init__(self, directory, *options, environment=None, stdin=None):
        super().__init__(directory, environment=environment, stdin=stdin)
        self.command = [STROBE, 'collect', '--listen', '127.0.0.1:0', '--state', f'{directory}/state', *options]

    def sums(self):
        """The status, after checking each of its sums."""
        s = self.status()
        for source in s['sources']:
            n = source['samples']
            check(n['received'] == n['stored'] + n['dropped'] + n['in_flight'], f'a source adds up: {source["url"]} {n}')
        for sink in s['sinks']:
            n = sink['samples']
            check(n['handed'] == n['stored'] + n['queued'] + sum(n['dropped'].values()), f'a sink adds up: {sink["url"]} {n}')
        n = s['samples']
        check(n['received'] == n['stored'] + n['queued'] + sum(n['dropped'].values()), f'the whole adds up: {n}')
        return s

    def sink(self, url):
        return next(k for k in self.sums()['sinks'] if k['url'] == url)

    def hup(self, sentence):
        """Reads the configuration again, until it has said so."""
        before = len(self.lines)
        self.process.send_signal(signal.SIGHUP)
        check(wait_for(lambda: any(sentence in line for line in self.lines[before:])),
              f'SIGHUP says "{sentence}": {self.lines[before:]}')


class ConfiguredServer(Collector):
    """Runs `strobe serve` with a configuration file alone."""

    def __init__(self, directory, config):
        super().__init__(directory)
        self.command = [STROBE, 'serve', '-c', config]


def total(directory, store):
    """Samples in a store, by asking it."""
    with Daemon(directory, '--store', f'sqlite:{store}') as d:
        folded = d.get('/api/v1/profile?format=folded&from=-2d')
    return sum(int(line.rsplit(' ', 1)[1]) for line in folded.splitlines())


def total_so_far(store):
    """The same during writes."""
    r = subprocess.run([STROBE, 'grep', '--store', f'sqlite:{store}', '--from', '-2d', '--lowercase', '--no-skip', '--json'],
                       capture_output=True, text=True)
    return json.loads(r.stdout)['samples'] if r.returncode == 0 else 0


def publish(port, lines):
    """As a client of Redis does, one answer for each."""
    with socket.create_connection(('127.0.0.1', port)) as s:
        for line in lines:
            data = line.encode()
            s.sendall(b'*3\r\n$7\r\nPUBLISH\r\n$7\r\nexcimer\r\n$%d\r\n%s\r\n' % (len(data), data))
        answers = b''
        while answers.count(b'\n') < len(lines):
            answers += s.recv(65536) or exit('the listener hung up')


def write(path, text, mode='a'):
    with open(path, mode) as f:
        f.write(text)


def write_config(path, **options):
    write(path, json.dumps(options), 'w')        # JSON is YAML


def arclamp_config(directory, port):
    write(f'{directory}/arclamp-log.yaml', f'''
base_path: {directory}/logs
redis:
  host: 127.0.0.1
  port: {port}
  socket_timeout: 5
redis_channel: excimer
logs:
  - period: hourly
    format: '%Y-%m-%d_%H'
    retain: 24
  - period: daily
    format: '%Y-%m-%d'
    retain: 7
    sample_pop: 2
''')
    return f'{directory}/arclamp-log.yaml'


def logged(directory):
    """Lines by period and tag, for any time in the names. A failed sink removes the files that it created."""
    found = {}
    for path in glob.glob(f'{directory}/logs/[a-z]*/*.log'):
        key = os.path.basename(os.path.dirname(path)) + ' ' + path.split('.')[-2]
        with contextlib.suppress(FileNotFoundError):
            with open(path, 'rb') as f:
                found[key] = found.get(key, b'') + f.read()
    return found
