"""A terminal of so many columns and lines for a program, and what stands on it."""
import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time

from strobe_test import Skip

# Debian's packages are there for other Pythons, too, as long as they are written in Python.
sys.path.append('/usr/lib/python3/dist-packages')
try:
    import pyte
except ImportError:
    pyte = None


class Screen:
    """Runs a command on a terminal of its own until the end of the block. pyte knows what a `linux` terminal does."""

    def __init__(self, command, columns=100, lines=30, term='linux', locale='C.UTF-8', **popen):
        if not pyte:
            raise Skip('there is no pyte (python3-pyte)')
        self.command, self.term, self.locale, self.popen = command, term, locale, popen
        self.screen = pyte.Screen(columns, lines)
        self.stream = pyte.ByteStream(self.screen)
        self.bytes = b''

    def __enter__(self):
        self.master, self.slave = pty.openpty()
        self.set_size()
        self.before = termios.tcgetattr(self.slave)
        env = {**os.environ, 'TERM': self.term, 'LC_ALL': self.locale}
        for name in ('COLUMNS', 'LINES', 'NO_COLOR'):
            env.pop(name, None)
        env.update(self.popen.pop('env', {}))
        self.process = subprocess.Popen(self.command, stdin=self.slave, stdout=self.slave, stderr=self.slave, env=env,
                                        start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0), **self.popen)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        for fd in (self.master, self.slave):
            if fd >= 0:
                os.close(fd)

    def set_size(self):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack('HHHH', self.screen.lines, self.screen.columns, 0, 0))

    def resize(self, columns, lines):
        self.screen.resize(lines, columns)
        self.set_size()

    def type(self, keys):
        os.write(self.master, keys.encode())

    def read(self, seconds=0.05):
        """Takes what the program has written, and returns whether there was something."""
        before = len(self.bytes)
        while select.select([self.master], [], [], seconds)[0]:
            data = os.read(self.master, 1 << 16)
            self.bytes += data
            if b'was built without ncurses' in self.bytes:
                raise Skip('this strobe was built without ncurses')
            self.stream.feed(data)
            seconds = 0
        return len(self.bytes) > before

    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    def text(self):
        return '\n'.join(self.lines())

    def wait(self, condition, seconds=60):
        """Until `condition(text of the screen)` is true, which it returns, or the last false value."""
        end = time.monotonic() + seconds
        self.read()
        while not (value := condition(self.text())) and time.monotonic() < end:
            while not self.read() and time.monotonic() < end:
                pass
        return value

    def wait_for_end(self, seconds=60):
        """The exit code; None while it is running."""
        end = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < end:
            self.read()
        self.read()
        return self.process.poll()

    def is_as_before(self):
        """Whether the terminal's modes are those that it had before."""
        return termios.tcgetattr(self.slave) == self.before

    def hang_up(self):
        os.close(self.slave)
        os.close(self.master)
        self.master = self.slave = -1
