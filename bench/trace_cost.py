#!/usr/bin/env python3
"""usage: bench/trace_cost.py [--extension SO] [--peer SO|none] [--rounds N] [--calls N] [--counts]
                           [--only VARIANT,...] [--table] [KIND...]

Measures the cost of one traced call, by kind of call and by what is measured, with Strobe and with Debian's php-tideways in the
same run through the same functions (tideways_xhprof_enable and _disable).

Nanoseconds are the process's CPU time for 500,000 calls, each variant a process, interleaved with one without any
profiler; a process does it some times and its fastest counts. Printed is the smallest of all rounds less the smallest
without a profiler, then the median over the rounds of the paired differences. --counts gives callgrind's instructions
per call instead (the slope between 10,050 and 50,250 calls), which do not depend on what else the machine does; they
leave out what happens in the kernel, and valgrind has no rseq, so that CPU time is read the slow way there.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys

import peers

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = ['calls', 'method', 'recursion', 'internal', 'mixed_internals', 'deep', 'fiber']
SENTENCES = {'calls': 'userland call', 'method': 'method call', 'recursion': 'recursive call (fib)',
             'internal': 'internal call', 'mixed_internals': 'internal call (five in turn)',
             'deep': 'mutual recursion 200 deep', 'fiber': 'resume of a fiber, until it suspends'}
TIDEWAYS = 'tideways_xhprof_enable/tideways_xhprof_disable '
CPU, MEMORY, ALLOCATIONS = 1, 6, 16
METRICS = {'wall': 0, 'wall+cpu': CPU, 'wall+memory': MEMORY, 'all': CPU | MEMORY, 'allocations': ALLOCATIONS}
# Calls with CPU time are so slow that fewer of them are enough.
SLOW = {'tideways wall+cpu', 'tideways all'}
TIMES = 3


class Variant:
    def __init__(self, name, ini, watcher):
        self.name, self.ini, self.watcher = name, ini, watcher


def variants(extension, peer):
    """The first variant is the one without a profiler."""
    strobe = ['-d', f'extension={extension}']
    standing_in = strobe + ['-d', 'strobe.compat=tideways_xhprof', '-d', 'strobe.instrument=1']
    chosen = [Variant('none', [], 'none')]
    for name, flags in METRICS.items():
        chosen.append(Variant(f'strobe {name}', standing_in, f'{TIDEWAYS}{flags}'))
    own = strobe + ['-d', 'strobe.instrument=1']
    chosen.append(Variant('strobe counts only', own, 'strobe:COUNTS'))
    chosen.append(Variant('strobe counts, time by samples', own, 'strobe:SAMPLED_WALL'))
    chosen.append(Variant('strobe wall, flame chart', own, 'chart:WALL'))
    chosen.append(Variant('strobe all, flame chart', own, 'chart:WALL+CPU+MEMORY+PEAK_MEMORY'))
    chosen.append(Variant('strobe loaded, instrument=0', strobe + ['-d', 'strobe.instrument=0'], 'off'))
    chosen.append(Variant('strobe idle, instrument=1', standing_in, 'off'))
    if peer:
        tideways = ['-d', f'extension={peer}']
        for name, flags in METRICS.items():
            if name != 'allocations':
                chosen.append(Variant(f'tideways {name}', tideways, f'{TIDEWAYS}{flags}'))
        chosen.append(Variant('tideways idle', tideways, 'off'))
    return chosen


def chosen_by(words, name):
    return name in words or any(w in name for w in words if w not in [f'{who} {m}' for who in ('strobe', 'tideways')
                                                                     for m in METRICS])


def command(php, variant, kind, calls, times, folder=HERE):
    return [*php, '-n', *variant.ini, f'{folder}/trace_cost.php', kind, str(calls), variant.watcher, str(times)]


def run(arguments):
    r = subprocess.run(arguments, capture_output=True, text=True)
    try:
        return json.loads(r.stdout[r.stdout.rindex('{'):]) if r.returncode == 0 else None
    except ValueError:
        return None


def problem(arguments):
    r = subprocess.run(arguments, capture_output=True, text=True)
    said = (r.stdout + r.stderr).strip().splitlines() or ['it said nothing']
    return next((line for line in said if 'rror' in line), said[0])[:100]


def those_that_run(php, chosen):
    """Reports and drops variants that this build lacks, such as an API that is not compiled in."""
    kept = []
    for v in chosen:
        arguments = command(php, v, 'calls', 1000, 1)
        result = run(arguments)
        if not result:
            peers.say(f'{v.name} is left out: {problem(arguments)}')
        elif result['seen'] is not None and result['seen'] < result['calls']:
            sys.exit(f'{v.name} saw {result["seen"]} of {result["calls"]} calls: what it costs says nothing')
        else:
            kept.append(v)
    return kept


def instructions(php, variant, kind):
    """Per call; also how many calls the trace recorded for each one made."""
    def count(calls):
        arguments = ['valgrind', '--tool=callgrind', '--callgrind-out-file=/dev/null',
                     *command(php, variant, kind, calls, 1)]
        r = subprocess.run(arguments, capture_output=True, text=True, check=True)
        return int(re.search(r'Collected : (\d+)', r.stderr).group(1)), json.loads(r.stdout[r.stdout.rindex('{'):])['calls']

    (few, a), (many, b) = count(10_050), count(50_250)
    return (many - few) / (b - a)


def print_counts(php, chosen, kinds):
    base = {}
    for v in chosen:
        for kind in kinds:
            n = instructions(php, v, kind)
            base.setdefault(kind, n)
            what = f'{n:.1f}\tinstructions' if v.name == 'none' else f'{n - base[kind]:.1f}\tinstructions\tadded'
            print(f'instructions of one {SENTENCES[kind]}: {v.name}\t{what}', flush=True)


def measure(php, chosen, kind, rounds, calls, folder=HERE):
    """Lists nanoseconds per call, a number for each round."""
    ns = {v.name: [] for v in chosen}
    for _ in range(rounds):
        for v in chosen:
            n = calls // 10 if v.name in SLOW else calls
            result = run(command(php, v, kind, n, TIMES, folder))
            if not result:
                sys.exit(f'{v.name} failed: {problem(command(php, v, kind, n, TIMES, folder))}')
            ns[v.name].append(min(result['ns']) / result['calls'])
    return ns


def cells(ns, name):
    """Returns the difference of minima, the median paired difference, and the median ratio."""
    pairs = list(zip(ns[name], ns['none']))
    return (min(ns[name]) - min(ns['none']), statistics.median(a - b for a, b in pairs),
            statistics.median(a / b for a, b in pairs))


def print_rows(kind, chosen, ns):
    print(f'one {SENTENCES[kind]}, without a profiler\t{min(ns["none"]):.1f}\tns')
    for v in chosen[1:]:
        least, median, ratio = cells(ns, v.name)
        print(f'one {SENTENCES[kind]}: {v.name}\t{least:.1f}\tns\t(median {median:.1f}, ×{ratio:.2f})', flush=True)


def print_table(chosen, results):
    width = max(len(v.name) for v in chosen)
    print('ns per call: least / median paired'.ljust(width), *(k.rjust(16) for k in results))
    print('none'.ljust(width), *(f'{min(ns["none"]):.1f}'.rjust(16) for ns in results.values()))
    for v in chosen[1:]:
        print(v.name.ljust(width), *('{:.1f} / {:.1f}'.format(*cells(ns, v.name)).rjust(16) for ns in results.values()))


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n\n')[1], allow_abbrev=False)
    p.add_argument('--extension', default=os.environ.get('STROBE_EXTENSION', os.path.join(peers.ROOT, 'build', 'strobe.so')))
    p.add_argument('--peer')
    p.add_argument('--rounds', type=int, default=int(os.environ.get('ROUNDS', '7')))
    p.add_argument('--calls', type=int, default=500_000)
    p.add_argument('--counts', action='store_true')
    p.add_argument('--only', default='')
    p.add_argument('--table', action='store_true')
    p.add_argument('kinds', nargs='*', metavar='KIND')
    o = p.parse_args()
    php, kinds = [peers.PHP], o.kinds or KINDS
    if wrong := set(kinds) - set(KINDS):
        p.error(f'there is no kind {", ".join(wrong)}; kinds: {" ".join(KINDS)}')
    peer = o.peer or peers.peer('tideways_xhprof')
    words = [w for w in o.only.split(',') if w]
    chosen = variants(os.path.abspath(o.extension), None if peer == 'none' else peer)
    chosen = those_that_run(php, [v for v in chosen if v.name == 'none' or not words or chosen_by(words, v.name)])
    if o.counts:
        print_counts(php, chosen, kinds)
        return
    results = {}
    for kind in kinds:
        results[kind] = measure(php, chosen, kind, o.rounds, o.calls)
        if not o.table:
            print_rows(kind, chosen, results[kind])
    if o.table:
        print_table(chosen, results)


if __name__ == '__main__':
    main()
