"""Samples for the tests of ClickHouse: folded lines, `strobe collect` that stores them, and `strobe serve` that shows them."""
import json
import subprocess

from daemon import Daemon
from strobe_test import STROBE, check


def stacks(count, seed=1):
    """Folded lines with many stacks in common."""
    lines, r = [], seed
    for _ in range(count):
        r = (r * 1103515245 + 12345) & 0x7fffffff
        lines.append(f'index.php;main;Router::{r >> 8 & 7};Page::{r >> 11 & 31};Database::{r >> 16 & 15} {1 + (r >> 20 & 3)}\n')
    return lines


def samples_of(lines):
    return sum(int(line.rsplit(' ', 1)[1]) for line in lines)


def collect(*urls, directory, source='-', listen='none', **options):
    to = [word for url in urls for word in ('--to', url)]
    return subprocess.Popen([STROBE, 'collect', '--from', source, *to, '--state', f'{directory}/state', '--listen', listen],
                            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **options)


def collected(lines, *urls, directory):
    """Through `strobe collect`, to its end."""
    p = collect(*urls, directory=directory)
    said = p.communicate(''.join(lines), timeout=300)[1]
    check(p.returncode == 0, f'collect ended well: {p.returncode} {said}')
    return said


def stored(database, *list_of_servers):
    return sum(int(s.ask('SELECT sum(value) FROM samples WHERE kind > 0', database)) for s in list_of_servers)


class Page:
    """`strobe serve` of a store."""

    def __init__(self, directory, url, *options):
        self.daemon = Daemon(directory, '--state', f'{directory}/serve-state', *options)
        self.daemon.command[self.daemon.command.index('--store') + 1] = url

    def get(self, path):
        return self.daemon.get(path, timeout=120)

    def __enter__(self):
        self.daemon.start()
        return self

    def __exit__(self, *_):
        self.daemon.__exit__()


def answers(page, end):
    """All queries about samples, for a fixed range."""
    range_ = f'from={end - 3600}&to={end + 3600}'
    labels = json.loads(page.get(f'/api/v1/labels?{range_}'))['labels']
    profile = json.loads(page.get(f'/api/v1/profile?{range_}'))
    looked = {k: v for k, v in profile['looked'].items() if k in ('days', 'series', 'series_matched', 'samples', 'store_from', 'store_to')}
    return {'folded': sorted(page.get(f'/api/v1/profile?{range_}&format=folded').splitlines()),
            'one entry': sorted(page.get(f'/api/v1/profile?{range_}&format=folded&entry=index').splitlines()),
            'time line': json.loads(page.get(f'/api/v1/timeline?{range_}&step=10s'))['samples'],
            'labels': labels, 'looked': looked}
