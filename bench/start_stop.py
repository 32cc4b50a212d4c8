#!/usr/bin/env python3
"""The cost of starting and stopping a profiler, beside Debian's php-excimer and php-tideways through the same classes and
functions: elapsed time, because threads that are made and joined are waited for. The fastest of 50 in a row, and the
median of all such batches of interleaved rounds.
"""
import json
import os
import statistics
import subprocess

import peers

HERE = os.path.dirname(os.path.abspath(__file__))
EXTENSION = os.environ.get('STROBE_EXTENSION', os.path.join(peers.ROOT, 'build', 'strobe.so'))
ROUNDS = int(os.environ.get('ROUNDS', '5'))
WAYS = {'excimer, new': 'new ExcimerProfiler, start, stop', 'excimer, kept': 'ExcimerProfiler, start and stop',
        'timer': 'new ExcimerTimer, start, stop', 'tideways': 'tideways_xhprof, enable and disable',
        'sampler, new': 'new Strobe\\Sampler, start, stop', 'sampler, kept': 'Strobe\\Sampler, start and stop',
        'trace': 'Strobe\\Trace, start and stop'}


def main():
    strobe = ['-d', f'extension={EXTENSION}', '-d', 'strobe.compat=excimer,tideways_xhprof', '-d', 'strobe.instrument=1']
    runs = []
    for way in WAYS:
        runs.append((way, 'strobe', strobe))
        peer = {'excimer': 'excimer', 'timer': 'excimer', 'tideways': 'tideways_xhprof'}.get(way.split(',')[0])
        if peer and (path := peers.peer(peer)):
            runs.append((way, 'tideways' if peer != 'excimer' else 'Excimer', ['-d', f'extension={path}']))
    taken = {(way, who): [] for way, who, _ in runs}
    for _ in range(ROUNDS):
        for way, who, settings in runs:
            # Creating a thread for each start is slow.
            count = 500 if who == 'Excimer' else 2000
            r = subprocess.run([peers.PHP, '-n', *settings, os.path.join(HERE, 'start_stop.php'), way, str(count)],
                               capture_output=True, text=True)
            if r.returncode == 0:
                taken[way, who] += json.loads(r.stdout)
    for (way, who), ns in taken.items():
        if not ns:
            peers.say(f'{WAYS[way]} of {who} did not run')
            continue
        print(f'{WAYS[way]}: {who}\t{min(ns) / 1e3:.2f}\tµs\t(median {statistics.median(ns) / 1e3:.2f})')


main()
