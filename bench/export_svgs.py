#!/usr/bin/env python3
"""The cost of drawing a trace log, and of sorting and compressing it: CPU time, memory, sizes.

The log is made by profile_text.c under var/bench/export and deleted afterwards; with SIZE=full it is a day of 3,000,000 lines
(2.9 GB), else a thirtieth of that. Each figure is the least CPU time (user and system, with all processes) of ROUNDS=3 runs, the
memory is that of the largest process. flamegraph.pl and gzip are run once on the same file if they are in PATH.
"""
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
STROBE = os.environ.get('STROBE', os.path.join(ROOT, 'build', 'strobe'))
GENERATOR = os.path.join(os.environ.get('STROBE_BUILD', os.path.join(ROOT, 'build', 'meson')), 'bench', 'profile_text')
PLACE = os.path.join(ROOT, 'var', 'bench', 'export')
ROUNDS = int(os.environ.get('ROUNDS', '3'))
FULL = os.environ.get('SIZE') == 'full'
LINES, STACKS = (3_000_000, 50_000) if FULL else (100_000, 20_000)
LOG = os.path.join(PLACE, 'logs', 'daily', '2026-11-20.all.log')
OLD = 1_700_000_000


def row(name, value, unit, remark=''):
    print(f'{name}\t{value}\t{unit}\t{remark}'.rstrip('\t'), flush=True)


def measure(command, output=os.devnull):
    """Returns CPU seconds and peak memory in bytes of a command and all its descendants."""
    with open(output, 'wb') as out, open(os.devnull, encoding='utf-8') as nothing:
        child = subprocess.Popen(command, stdin=nothing, stdout=out, stderr=subprocess.DEVNULL, cwd=PLACE)
        _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f'export_svgs: {" ".join(command)} ended with {child.returncode}')
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def megabytes(n):
    return f'{n / 1e6:,.1f} MB' if n < 1e8 else f'{n / 1e6:,.0f} MB'


def draw(name, *options, before=lambda: None):
    runs = []
    for _ in range(ROUNDS):
        before()
        runs.append(measure([STROBE, 'export', 'svgs', '--logs', 'logs', '-j1', *options]))
    pictures = [e.stat().st_size for e in os.scandir(os.path.join(PLACE, 'svgs', 'daily'))]
    row(f'export svgs, {name}', f'{min(r[0] for r in runs):.3f}', 's',
        f'{megabytes(max(r[1] for r in runs))} of memory; {len(pictures)} pictures, {megabytes(sum(pictures))}')


def nothing_drawn():
    shutil.rmtree(os.path.join(PLACE, 'svgs'), ignore_errors=True)


def compress(name, *options):
    plain = LOG + '.kept'
    if not os.path.exists(plain):
        os.link(LOG, plain)
    if not os.path.exists(LOG):
        os.link(plain, LOG)
    seconds, memory = measure([STROBE, 'export', 'compress', '--logs', 'logs', '--older-than', '1', *options])
    packed = [e for e in os.scandir(os.path.dirname(LOG)) if e.name.startswith(os.path.basename(LOG) + '.') and
              not e.name.endswith('.kept')]
    row(f'export compress, {name}', f'{seconds:.2f}', 's', f'{megabytes(memory)} of memory; {megabytes(packed[0].stat().st_size)}')
    os.unlink(packed[0].path)
    os.link(plain, LOG)


def peers():
    if shutil.which('flamegraph.pl'):
        out = os.path.join(PLACE, 'out.svg')
        for options in ([], ['--reverse', '--colors=blue']):
            seconds, memory = measure(['flamegraph.pl', '--minwidth=1', *options, LOG], out)
            row(' '.join(['flamegraph.pl', *options]), f'{seconds:.2f}', 's', f'{megabytes(memory)} of memory')
        os.unlink(out)
    if shutil.which('gzip'):
        out = os.path.join(PLACE, 'out.gz')
        seconds, _ = measure(['gzip', '-9c', LOG], out)
        row('gzip -9 of the unsorted log', f'{seconds:.2f}', 's', megabytes(os.path.getsize(out)))
        os.unlink(out)


def main():
    if not os.path.exists(GENERATOR):
        sys.exit(f'there is no {GENERATOR}; run bench/run export_svgs, which builds it')
    shutil.rmtree(PLACE, ignore_errors=True)
    os.makedirs(os.path.dirname(LOG))
    with open(LOG, 'wb') as out:
        subprocess.run([GENERATOR, 'folded', str(LINES), str(STACKS), '12', '37'], stdout=out, check=True)
    os.utime(LOG, (OLD, OLD))
    row('a log', megabytes(os.path.getsize(LOG)), '', f'{LINES:,} lines, {STACKS:,} stacks'
        + ('' if FULL else '; SIZE=full takes a day of 2.9 GB'))
    with open(LOG, encoding='utf-8', errors='replace') as f:
        names = f.readline().rsplit(' ', 1)[0].split(';')
    draw('forward and reversed', '--no-fn', before=nothing_drawn)
    draw('and of four functions', *(w for i, n in enumerate(names[1:5]) for w in ('--fn', f'F{i}={n}')), before=nothing_drawn)
    draw('nothing has changed', *(w for i, n in enumerate(names[1:5]) for w in ('--fn', f'F{i}={n}')))
    compress('gzip -9')
    compress('zstd', '--zstd')
    peers()
    shutil.rmtree(PLACE, ignore_errors=True)


main()
