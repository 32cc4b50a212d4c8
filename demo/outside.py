"""The site seen from outside: `strobe record` on the workers of php-fpm while they serve, and the pictures of it.

Where the kernel does not let us, or the sampler was not built, there are none, and `why_not` says so.
"""
import glob
import os
import signal
import subprocess

from servers import Server, ServerError

RATE = '499'


def children(parent):
    """Processes that `parent` started."""
    found = []
    for path in glob.glob('/proc/[0-9]*/stat'):
        try:
            with open(path, encoding='utf-8', errors='replace') as f:
                fields = f.read().rpartition(')')[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            found.append(path.split('/')[2])
    return found


class Outside:
    def __init__(self, strobe, state, parent):
        self.strobe, self.state, self.parent = strobe, state, parent
        self.profile = os.path.join(state, 'system.strobe')
        self.pictures = {}
        self.why_not = ''
        self.server = None

    def start(self):
        for name in ('system.strobe', 'system.svg', 'off-cpu.svg'):
            try:
                os.unlink(os.path.join(self.state, name))
            except FileNotFoundError:
                pass
        command = [self.strobe, 'record', '--wall', '-F', RATE, '-q', '--rows', '0', '-o', self.profile]
        for pid in children(self.parent):
            command += ['-p', pid]
        self.server = Server('strobe record', command, os.path.join(self.state, 'record.log'), stop_signal=signal.SIGINT)

    def finish(self):
        """Ends the recording and draws it."""
        self.server.stop()
        code = self.server.process.returncode
        if code != 0 or not os.path.exists(self.profile):
            with open(self.server.log, encoding='utf-8', errors='replace') as f:
                said = f.read().strip().splitlines()
            self.why_not = said[0] if said else f'strobe record ended with status {code}'
            return
        self.draw('system.svg', 'cpu_ns', 'DokuWiki from outside: PHP, C and the kernel on CPU')
        self.draw('off-cpu.svg', 'off_cpu_ns', 'DokuWiki from outside: time off CPU')

    def draw(self, name, column, title):
        path = os.path.join(self.state, name)
        r = subprocess.run([self.strobe, 'flamegraph', '-q', '--column', column, '--title', title, '-o', path, self.profile],
                           stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if r.returncode not in (0, 4):
            raise ServerError(f'strobe flamegraph ended with status {r.returncode}: {r.stderr.strip()}')
        if r.returncode == 0:
            self.pictures[name] = path

    def stop(self):
        if self.server:
            self.server.stop()
