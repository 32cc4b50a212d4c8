"""A private `strobe serve` for the system tests."""
import json
import os
import signal
import subprocess
import threading
import urllib.request

from strobe_test import STROBE, Skip, wait_for


class Daemon:
    """Runs on `directory`/strobe.sock and `directory`/state, with a free port."""

    def __init__(self, directory, *options, environment=None, stdin=None):
        if not os.path.exists(STROBE):
            raise Skip(f'{STROBE} is not built')
        self.directory = directory
        self.socket = f'{directory}/strobe.sock'
        self.command = [STROBE, 'serve', '--listen', '127.0.0.1:0', '--from', f'unix:{self.socket}',
                        '--store', f'sqlite:{directory}/state', *options]
        self.environment = {**os.environ, **(environment or {})}
        self.stdin = stdin
        self.process = None
        self.lines = []

    def start(self):
        self.lines, self.url = [], None
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                        env=self.environment, stdin=self.stdin)
        self.reader = threading.Thread(target=self.read, args=(self.process.stderr,), daemon=True)
        self.reader.start()
        wait_for(lambda: self.url or self.process.poll() is not None)
        if not self.url:
            # What it said last may not have been read yet. One that still runs says no more.
            if self.process.poll() is not None:
                self.reader.join(10)
            raise RuntimeError('the daemon did not start: ' + ' '.join(self.lines))
        return self

    def read(self, stream):
        for line in stream:
            self.lines.append(line.rstrip('\n'))
            if 'listening on' in line and 'http://' in line:
                self.url = 'http://' + line.split('http://')[1].strip()

    def get(self, path, timeout=20):
        with urllib.request.urlopen(self.url + path, timeout=timeout) as r:
            return r.read().decode()

    def status(self):
        return json.loads(self.get('/api/v1/status'))

    def stop(self, signo=signal.SIGTERM):
        """Returns the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signo)
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        finally:
            self.reader.join(10)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.reader.join(10)
        self.process.stderr.close()
