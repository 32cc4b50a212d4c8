#!/usr/bin/env python3
"""The cost of one sample for PHP, at stacks of 10, 50 and 100 functions, beside Debian's php-excimer.

Two views: the time inside our handler by its own clock, which includes reading that clock twice; and the CPU time that
the whole process, with its ticker thread, spends more than without a profiler, per stack walked. Runs are
interleaved, and medians are printed with the quartiles, because the second view is a small difference of large numbers.
"""
import json
import os
import statistics
import subprocess

from peers import peer

HERE = os.path.dirname(os.path.abspath(__file__))
EXTENSION = os.environ.get('STROBE_EXTENSION', os.path.join(os.path.dirname(HERE), 'build', 'strobe.so'))
PHP = os.environ.get('PHP', 'php')
ROUNDS = int(os.environ.get('ROUNDS', '9'))
WORK = 60_000_000


def run(depth, kind):
    command = [PHP, '-n']
    if kind in ('strobe', 'strobe without lines'):
        command += ['-d', f'extension={EXTENSION}', '-d', 'strobe.mode=sample', '-d', 'strobe.period=0.001',
                    '-d', 'strobe.socket=/nonexistent', '-d', f'strobe.lines={int(kind == "strobe")}']
    if kind == 'Excimer':
        command += ['-d', f'extension={peer("excimer")}']
    if kind == 'strobe as Excimer':
        command += ['-d', f'extension={EXTENSION}', '-d', 'strobe.compat=excimer']
    command += [os.path.join(HERE, 'sample_cost.php'), str(depth), str(WORK), 'excimer' if 'Excimer' in kind else kind]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def spread(values):
    q = statistics.quantiles(values, n=4)
    return f'{statistics.median(values):.2f}\tµs\t({q[0]:.2f} to {q[2]:.2f})'


def main():
    kinds = ['none', 'strobe', 'strobe without lines', 'strobe as Excimer'] + (['Excimer'] if peer('excimer') else [])
    for depth in (10, 50, 100):
        runs = {kind: [] for kind in kinds}
        for _ in range(ROUNDS):
            for kind in kinds:
                runs[kind].append(run(depth, kind))
        for kind in ('strobe', 'strobe without lines'):
            print(f'one sample at depth {depth}, in the handler, median, {kind}\t'
                  + spread([r['median'] / 1e3 for r in runs[kind]]))
            print(f'one sample at depth {depth}, in the handler, mean, {kind}\t'
                  + spread([r['ns'] / r['stacks'] / 1e3 for r in runs[kind]]))
        for kind in kinds[1:]:
            extra = [(r['cpu'] - n['cpu']) / r['stacks'] * 1e6 for r, n in zip(runs[kind], runs['none'])]
            print(f'one sample at depth {depth}, CPU of the process, {kind}\t' + spread(extra))


main()
