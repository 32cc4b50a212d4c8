"""Progress of long steps: a bar on a terminal, plain lines elsewhere."""
import os
import sys
import time

WIDTH = 28


class Step:
    """`with Step('Building the index') as step: step.at(0.5, 'page 120')`. What it says stays readable in a log file:
    there it is one line when the step begins and one when it ends."""

    def __init__(self, title):
        self.title = title
        self.start = time.monotonic()
        self.shown = 0.0
        self.terminal = sys.stdout.isatty() and os.environ.get('TERM') != 'dumb'
        self.note = ''

    def __enter__(self):
        if self.terminal:
            self.draw(0.0)
        else:
            print(f'{self.title} ...', flush=True)
        return self

    def at(self, share, note=''):
        self.note = note
        now = time.monotonic()
        if self.terminal and now - self.shown > 0.1:
            self.shown = now
            self.draw(min(1.0, max(0.0, share)))

    def draw(self, share):
        full = int(share * WIDTH)
        bar = '#' * full + '.' * (WIDTH - full)
        line = f'{self.title:<34} [{bar}] {int(share * 100):3d} %  {self.note}'
        sys.stdout.write('\r\033[K' + line[:terminal_width() - 1])
        sys.stdout.flush()

    def __exit__(self, kind, value, trace):
        seconds = time.monotonic() - self.start
        note = f'  {self.note}' if self.note else ''
        end = 'done' if kind is None else 'stopped'
        if self.terminal:
            sys.stdout.write('\r\033[K')
        print(f'{self.title:<34} {end} in {seconds:.1f} s{note}', flush=True)
        return False


def terminal_width():
    try:
        return max(40, os.get_terminal_size().columns or 100)
    except OSError:
        return 100
