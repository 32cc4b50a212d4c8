"""The site seen from outside: `strobe record` on the workers of php-fpm while they serve, and the pictures of it; and that of a
Perl program.

If the kernel does not permit it, or the sampler was not built, there are none, and `why_not` says so.
"""
import glob
import os
import shutil
import signal
import subprocess

from servers import Server, ServerError

RATE = '499'
# Pictures of the site: recording, column, title.
PICTURES = {
    'system.svg': ('system', 'cpu_ns', 'DokuWiki from outside: PHP, C and the kernel on CPU'),
    'off-cpu.svg': ('system', 'off_cpu_ns', 'DokuWiki from outside: time off CPU'),
    'file-io.svg': ('files', 'io_ns', 'DokuWiki from outside: time in calls that read and write files'),
}
PERL = 'perl.svg'
PERL_SECONDS = '2'


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
        self.pictures = {}
        self.why_not = self.why_no_perl = ''
        self.servers = {}

    def path(self, name):
        return os.path.join(self.state, name)

    def start(self):
        for name in (*PICTURES, PERL, 'system.strobe', 'files.strobe'):
            try:
                os.unlink(self.path(name))
            except FileNotFoundError:
                pass
        workers = [word for pid in children(self.parent) for word in ('-p', pid)]
        for name, options in (('system', ['--wall', '-F', RATE]), ('files', ['--file-io'])):
            command = [self.strobe, 'record', *options, '-q', '-o', self.path(f'{name}.strobe'), *workers]
            self.servers[name] = Server(f'strobe record ({name})', command, self.path(f'record-{name}.log'), stop_signal=signal.SIGINT)

    def finish(self):
        """Ends the recordings and draws them."""
        self.stop()
        for name, server in self.servers.items():
            if server.process.returncode != 0 or not os.path.exists(self.path(f'{name}.strobe')):
                self.why_not = self.why_not or self.reason(server)
        for picture, (name, column, title) in PICTURES.items():
            if os.path.exists(self.path(f'{name}.strobe')):
                self.draw(picture, name, column, title)

    @staticmethod
    def reason(server):
        with open(server.log, encoding='utf-8', errors='replace') as f:
            said = f.read().strip().splitlines()
        return said[0] if said else f'strobe record ended with status {server.process.returncode}'

    def draw(self, picture, name, column, title):
        r = subprocess.run([self.strobe, 'flamegraph', '-q', '--column', column, '--title', title, '-o', self.path(picture),
                            self.path(f'{name}.strobe')], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if r.returncode not in (0, 4):
            raise ServerError(f'strobe flamegraph ended with status {r.returncode}: {r.stderr.strip()}')
        if r.returncode == 0:
            self.pictures[picture] = self.path(picture)

    def draw_perl(self):
        """A program that every Perl has, over the documentation of its modules."""
        modules = sorted(glob.glob('/usr/share/perl/*/**/*.pm', recursive=True))
        if not shutil.which('podchecker') or not modules:
            self.why_no_perl = 'there is no podchecker, or no module of Perl'
            return
        program = subprocess.Popen(['podchecker', *modules], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            r = subprocess.run([self.strobe, 'record', '-q', '-p', str(program.pid), '-d', PERL_SECONDS, '-F', RATE, '-o',
                                self.path(PERL)], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        finally:
            program.kill()
            program.wait()
        if r.returncode == 0:
            self.pictures[PERL] = self.path(PERL)
        else:
            self.why_no_perl = (r.stderr.strip().splitlines() or [f'strobe record ended with status {r.returncode}'])[0]

    def stop(self):
        for server in self.servers.values():
            server.stop()
