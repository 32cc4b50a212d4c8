"""A private `strobe serve` for the system tests."""
import json
import os
import select
import signal
import subprocess
import threading
import urllib.error
import urllib.request

from strobe_test import STROBE, Skip, wait_for


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


unredirected = urllib.request.build_opener(NoRedirect)


def ask_without_redirects(d, path, method='GET', body=None, **headers):
    """(status, headers, text) of a request."""
    request = urllib.request.Request(d.url + path, data=body, method=method, headers=headers)
    try:
        with unredirected.open(request, timeout=60) as r:
            return r.status, r.headers, r.read().decode()
    except urllib.error.HTTPError as e:
        return e.code, e.headers, e.read().decode()


class Said:
    """A program's output, by lines: complete until now, even if the reading thread lags behind."""

    def __init__(self, stream):
        self.stream, self.heard, self.part, self.ended = stream, [], b'', False
        self.lock = threading.Lock()
        self.thread = threading.Thread(target=self.follow, daemon=True)
        self.thread.start()

    def follow(self):
        while not self.ended:
            select.select([self.stream], [], [])
            self.catch_up()

    def catch_up(self):
        with self.lock:
            while not self.ended and select.select([self.stream], [], [], 0)[0]:
                data = os.read(self.stream.fileno(), 65536)
                self.ended = not data
                *lines, self.part = (self.part + data).split(b'\n')
                self.heard += [line.decode() for line in lines]

    def lines(self):
        self.catch_up()
        return self.heard


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
        self.who = {}                       # user and group of subprocess.Popen
        self.process = None
        self.said = None

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        env=self.environment, stdin=self.stdin, **self.who)
        self.said = Said(self.process.stderr)
        wait_for(lambda: self.find_url() or self.process.poll() is not None)
        if not self.url:
            # Its last lines may not have been read yet. A daemon that still runs prints no more.
            if self.process.poll() is not None:
                self.said.thread.join(10)
            raise RuntimeError('the daemon did not start: ' + ' '.join(self.lines))
        return self

    @property
    def lines(self):
        return self.said.lines() if self.said else []

    def find_url(self):
        said = [line for line in self.lines if 'listening on' in line and 'http://' in line]
        self.url = 'http://' + said[-1].split('http://')[1].strip() if said else None
        return self.url

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
            self.said.thread.join(10)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.said.thread.join(10)
        self.process.stderr.close()
