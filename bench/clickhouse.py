#!/usr/bin/env python3
"""usage: bench/clickhouse.py [SAMPLES]

Measures a ClickHouse of this machine with a day of a large site (store_bench.c): 3 million samples of 150 hosts, inserted in batches of about
10,000 and then queried; the bytes after all parts were merged; the callers of a function by SQL; and the rate of inserts with large
batches.
"""
import os
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'system'))
from clickhouse_server import ClickHouse  # noqa: E402
from strobe_test import Skip  # noqa: E402

BENCH = os.path.join(os.environ.get('STROBE_BUILD', os.path.join(ROOT, 'build', 'meson')), 'bench', 'store_bench')
CALLERS = '''SELECT frames[indexOf(frames, f) - 1] AS caller, sum(n) FROM (SELECT stack, sum(value) AS n FROM samples WHERE kind > 0 GROUP BY stack)
ANY INNER JOIN (SELECT stack, frames, toUInt64(%s) AS f FROM stacks WHERE has(frames, f)) USING stack GROUP BY caller'''


def median_ms(function, times=5):
    taken = []
    for _ in range(times):
        started = time.monotonic()
        function()
        taken.append((time.monotonic() - started) * 1000)
    return sorted(taken)[times // 2]


def main():
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 3000000
    with ClickHouse() as server:
        seconds = max(86400 * 20000 // samples, 1)
        subprocess.run([BENCH, '-n', str(samples), '-w', str(seconds), '-u', server.url('bench')], check=True)
        for table in ('samples', 'series', 'stacks', 'frames'):
            server.ask(f'OPTIMIZE TABLE {table}', 'bench')
        parts = 'FROM system.parts WHERE active AND database = currentDatabase()'
        size = int(server.ask(f'SELECT sum(bytes_on_disk) {parts}', 'bench'))
        print(f'clickhouse_fleet_bytes_per_sample_merged\t{size / samples:.2f}\tbytes\tdictionaries included')
        size = int(server.ask(f"SELECT sum(bytes_on_disk) {parts} AND table = 'samples'", 'bench'))
        print(f'clickhouse_fleet_bytes_per_sample_table\t{size / samples:.2f}\tbytes\tthe table of samples alone')
        frame = server.ask('SELECT f FROM (SELECT arrayJoin(frames) AS f FROM stacks) GROUP BY f ORDER BY abs(toInt64(count()) - 7000) LIMIT 1',
                           'bench').strip()
        count = server.ask(f'SELECT count() FROM stacks WHERE has(frames, toUInt64({frame}))', 'bench').strip()
        ms = median_ms(lambda: server.ask(CALLERS % frame, 'bench'))
        print(f'clickhouse_callers_of_a_function\t{ms:.1f}\tms\tof one in {count} stacks')
        subprocess.run([BENCH, '-n', str(samples), '-o', 'burst', '-u', server.url('burst')], check=True)


try:
    main()
except Skip as reason:
    print(f'clickhouse\t-\t\t{reason}')
