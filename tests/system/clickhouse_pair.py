"""Two ClickHouse servers of a test program: one pair is shared by tests, each with a database of its own; another is for those that end
or hang servers. It has few tables and is therefore there again at once."""
import time
import urllib.error
import urllib.request

from clickhouse_server import ClickHouse
from strobe_test import main

shared, mortal = [], []


def started(pair):
    """Both of a pair, started when the first test needs them, and again when one ended one."""
    if not pair:
        pair.extend([ClickHouse(), ClickHouse()])
        for server in pair:
            server.join('both', [[s] for s in pair])
    return [s.start() for s in pair]


def servers():
    return started(shared)


def mortals():
    return started(mortal)


def both(database, more='', pair=shared):
    one, two = started(pair)
    return one.url(database, f'?shards={one.server},{two.server}{more}')


def status_of(page, path, method='GET', data=None):
    r = urllib.request.Request(page.daemon.url + path, data, method=method)
    try:
        with urllib.request.urlopen(r, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as e:
        return e.code, e.read().decode()


def readiness(page):
    """The status and the text of /readyz, and how long they took."""
    began = time.monotonic()
    try:
        with urllib.request.urlopen(page.daemon.url + '/readyz', timeout=60) as r:
            return r.status, r.read().decode(), time.monotonic() - began
    except urllib.error.HTTPError as e:
        return e.code, e.read().decode(), time.monotonic() - began


def run_tests():
    try:
        main()
    finally:
        for server in shared + mortal:
            server.__exit__()
