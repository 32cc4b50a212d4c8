#!/usr/bin/env python3
"""Measures how long Grafana waits for each call of its Pyroscope data source and of Profiles Drilldown, over a day of 3 million samples
and 100,000 runs.

GRAFANA_SAMPLES, GRAFANA_RUNS: of the day in the store; 3,000,000 and 100,000 unless given. Each call is made five times over HTTP; the middle one counts.
"""
import http.client
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'system'))
from daemon import Daemon                               # noqa: E402

SAMPLES = int(os.environ.get('GRAFANA_SAMPLES', '3000000'))
RUNS = int(os.environ.get('GRAFANA_RUNS', '100000'))
STORE_BENCH = os.path.join(os.environ.get('STROBE_BUILD', os.path.join(ROOT, 'build', 'meson')), 'bench', 'store_bench')
WORK = os.path.join(ROOT, 'var', 'bench', 'grafana')
START, DAY = 1763683200_000, 86400_000                  # 2025-11-21 00:00 UTC, in ms, as in store_bench.c
WALL = 'wall:wall:nanoseconds:cpu:nanoseconds'
RUN = 'run:wall:nanoseconds::'
TIMES = 5


def ask(daemon, name, fields, packed=True):
    """Returns the seconds, and the answer."""
    c = http.client.HTTPConnection(urllib.parse.urlparse(daemon.url).netloc, timeout=60)
    begin = time.monotonic()
    c.request('POST', '/querier.v1.QuerierService/' + name, json.dumps(fields), {'Content-Type': 'application/json', 'Accept-Encoding': 'gzip' if packed else 'identity'})
    r = c.getresponse()
    body = r.read()
    took = time.monotonic() - begin
    c.close()
    if r.status != 200:
        sys.exit(f'{name}: {r.status} {body[:300]}')
    return took, body


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK)
    subprocess.run([STORE_BENCH, '-n', str(SAMPLES), '-w', '600', '-r', str(RUNS), '-k', os.path.join(WORK, 'state')], check=True, stdout=sys.stderr)
    with Daemon(WORK, '--retain', '0', '--runs-age', '0', '--runs-count', '0', '--runs-size', '0') as daemon:
        span = {'start': START, 'end': START + DAY}
        all_ = {'profile_typeID': WALL, 'label_selector': '{}', **span}
        service = json.loads(ask(daemon, 'LabelValues', {'name': 'service_name', **span}, packed=False)[1])['names'][0]
        one = {**all_, 'label_selector': f'{{service_name="{service}"}}'}
        runs = {**all_, 'profile_typeID': RUN}
        calls = [
            ('ProfileTypes', span), ('LabelNames', span), ('LabelValues', {'name': 'service_name', **span}),
            ('Series', {'labelNames': ['service_name', '__profile_type__'], **span}), ('GetProfileStats', {}),
            ('SelectSeries', {**all_, 'step': 60}), ('SelectSeries, by service', {**all_, 'step': 60, 'groupBy': ['service_name']}),
            ('SelectMergeStacktraces', {**all_, 'maxNodes': 16384}), ('SelectMergeStacktraces, one service', {**one, 'maxNodes': 16384}),
            ('SelectMergeProfile, one service', one), ('Diff', {'left': one, 'right': one}),
            ('Series, runs', {'labelNames': ['service_name'], 'matchers': [f'{{__profile_type__="{RUN}"}}'], **span}),
            ('LabelValues, runs of one host', {'name': 'service_name', 'matchers': ['{host="web7"}'], **span}),
            ('SelectSeries, runs', {**runs, 'step': 60}), ('SelectMergeStacktraces, runs', {**runs, 'maxNodes': 16384}),
            ('SelectMergeStacktraces, runs of one host', {**runs, 'label_selector': '{host="web7"}', 'maxNodes': 16384}),
        ]
        for name, fields in calls:
            taken = [ask(daemon, name.split(',')[0], fields) for _ in range(TIMES)]
            took, size = statistics.median(t for t, _ in taken), len(taken[0][1])
            print(f'grafana: {name}\t{took * 1000:.0f}\tms\t{size / 1000:.0f} kB, a day of {SAMPLES:,} samples and {RUNS:,} runs', flush=True)
    shutil.rmtree(WORK, ignore_errors=True)


if __name__ == '__main__':
    main()
