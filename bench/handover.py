#!/usr/bin/env python3
"""The cost for PHP to hand a message over, and the number of lost ones: with the daemon up, absent, and stopped by SIGSTOP.

Uses the sender of the extension itself (handover.c) against a real `strobe serve`. All samples that the sender counts
as handed over must have been received: they are compared with the daemon's own count. Ends with an error if a message
was lost that must not be, or if the two differ. """
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
STROBE = os.environ.get('STROBE', os.path.join(os.path.dirname(HERE), 'build', 'strobe'))
HANDOVER = os.environ.get('HANDOVER', os.path.join(os.path.dirname(HERE), 'build', 'meson', 'bench', 'handover'))
NODES = 29      # a message of 1 KB


class Daemon:
    def __init__(self, directory):
        self.path = f'{directory}/s'
        self.log = open(f'{directory}/log', 'w+')
        self.process = subprocess.Popen([STROBE, 'serve', '--from', f'unix:{self.path}', '--store', f'sqlite:{directory}/state',
                                         '--listen', '127.0.0.1:0'], stdout=self.log, stderr=self.log)
        self.url = self.wait(self.find_url)

    def wait(self, condition):
        for _ in range(600):
            found = condition()
            if found:
                return found
            time.sleep(0.05)
        sys.exit('strobe serve did not get there')

    def find_url(self):
        with open(self.log.name) as f:
            words = f.read().split()
        urls = [w.rstrip('/,;') for w in words if w.startswith('http://127.0.0.1:')]
        return urls[0] if urls and os.path.exists(self.path) else None

    def received(self):
        with urllib.request.urlopen(self.url + '/api/v1/status', timeout=60) as r:
            return json.load(r)['samples']['received']

    def end(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.terminate()
        self.process.wait(30)
        self.log.close()


def measure(name, path, count, pause, *more, daemon=None, lossless=False):
    """Whether the outcome was as required."""
    before = daemon.received() if daemon else 0
    p50, p99, longest, lost, size = subprocess.run([HANDOVER, path, str(count), str(pause), *map(str, more)],
                                                   capture_output=True, text=True, check=True).stdout.split()
    print(f'handing over a message, {name}, p50\t{p50}\tµs')
    print(f'handing over a message, {name}, p99\t{p99}\tµs\t(longest {longest}, {size} bytes each)')
    print(f'handing over a message, {name}, lost\t{lost}\t\t(of {count})')
    sys.stdout.flush()
    if daemon:
        expected = before + (count - int(lost)) * (more[0] if more else 40)
        daemon.wait(lambda: daemon.received() >= expected)
        if daemon.received() != expected:
            print(f'{name}: the daemon has received {daemon.received() - before} samples, not {expected - before}', file=sys.stderr)
            return False
    return not lossless or lost == '0'


def main():
    with tempfile.TemporaryDirectory(prefix='strobe-') as directory:
        measure('daemon absent', f'{directory}/s', 20_000, 100)
        daemon = Daemon(directory)
        try:
            well = [measure('daemon up', daemon.path, 20_000, 100, daemon=daemon, lossless=True),
                    measure('10,000 without a pause', daemon.path, 10_000, 0, NODES, daemon=daemon, lossless=True),
                    measure('100,000 at 50,000/s', daemon.path, 100_000, 0, NODES, 50_000, daemon=daemon, lossless=True)]
            daemon.process.send_signal(signal.SIGSTOP)
            measure('daemon stopped', daemon.path, 20_000, 100)
        finally:
            daemon.end()
        sys.exit(0 if all(well) else 1)


main()
