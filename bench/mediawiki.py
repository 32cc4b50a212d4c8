#!/usr/bin/env python3
"""usage: bench/mediawiki.py [PAGE] [WORD...]

Measures what profiling costs a real program: MediaWiki parsing a page of wikitext, beside Debian's profilers.

The wiki is made once, under var/bench/mediawiki, by the reference workloads (STROBE_WORKLOADS, or shared/workloads
beside this repository), which need Debian's package mediawiki. Every variant is a process that waits for its turn, so that
all are measured within the same seconds; who comes first changes with every round, and every few rounds come new
processes, as where one's memory lies makes some percent. The parses are cut into thousands of laps, the same in each
variant, and each lap is taken from the round in which it was fastest: the sum is what the parses take on a machine that
nobody disturbs, the first of them, which makes the tree, included. First the ratio of those sums to the one without a
profiler; then the median of the rounds' own ratios, by CPU time, which is all there is of samplers. Two pages: one of 150 kB, made of the others, and a
short one that is parsed often, whose calls do less each. "The floor" is observer_floor.c: what no exact trace can go below.
Samples at calls are compared with the same program under the JIT, where they are the only safe way: its base is a variant, too.
With words only the variants whose name holds one; with the name of a page ("Large") only that one.
"""
import glob
import json
import os
import statistics
import subprocess
import sys

import peers

HERE = os.path.dirname(os.path.abspath(__file__))
EXTENSION = os.environ.get('STROBE_EXTENSION', os.path.join(peers.ROOT, 'build', 'strobe.so'))
WORKLOADS = os.environ.get('STROBE_WORKLOADS', os.path.join(os.path.dirname(peers.ROOT), 'shared', 'workloads'))
STATE = os.path.join(peers.ROOT, 'var', 'bench', 'mediawiki')
ROUNDS = int(os.environ.get('ROUNDS', '7'))
ROUNDS_PER_PROCESS = 3
PAGES = [('Large', 2), ('Page 5', 60)]
LARGE_BYTES = 150_000
TIDEWAYS = 'tideways_xhprof_enable/tideways_xhprof_disable '
# Ten times slower than the others, so two rounds are enough.
SLOW = {'tideways, wall and CPU', 'tideways, all metrics'}
SLOW_ROUNDS = 2
# Base for variants under the JIT.
JIT_BASE = 'tracing JIT, no profiler'
JIT = ['-d', 'opcache.enable_cli=1', '-d', 'opcache.jit_buffer_size=64M', '-d', 'opcache.jit=tracing']
# Most laps contain no sample at all, so the fastest ones do not show the cost of samples.
SAMPLED = ('sampled every', 'Excimer, 1 ms')


def why_not():
    if not peers.loads(EXTENSION):
        return f'{peers.PHP} does not load {EXTENSION}'
    if not os.path.exists(os.path.join(WORKLOADS, 'mediawiki-setup')):
        return f'the reference workloads are not in {WORKLOADS}; STROBE_WORKLOADS names their place'
    if not os.path.exists(os.path.join(os.environ.get('MEDIAWIKI', '/usr/share/mediawiki'), 'maintenance')):
        return 'Debian\'s package mediawiki is not installed'
    # Otherwise ours would disable itself, and the original's cost would be listed under our name.
    for name in ('tideways_xhprof', 'excimer'):
        if subprocess.run([peers.PHP, '-r', f'exit((int)extension_loaded("{name}"));']).returncode:
            return f'{name} is loaded by every PHP here: take it out of php.ini'
    if not os.path.exists(f'{STATE}/LocalSettings.php'):
        os.makedirs(os.path.dirname(STATE), exist_ok=True)
        r = subprocess.run([os.path.join(WORKLOADS, 'mediawiki-setup'), STATE], stdout=sys.stderr, env=dict(os.environ, PHP=peers.PHP))
        if r.returncode != 0:
            return 'mediawiki-setup failed'
    if not os.path.exists(f'{STATE}/Large.txt'):
        return make_large_page()
    return None


def make_large_page():
    """Makes the page `Large` of the texts of the others. Returns an error, or None."""
    text = b''.join(open(p, 'rb').read() for p in sorted(glob.glob(f'{STATE}/content/*.txt')))[:LARGE_BYTES]
    path = f'{STATE}/Large.txt'
    with open(path, 'wb') as f:
        f.write(text)
    script = os.path.join(os.environ.get('MEDIAWIKI', '/usr/share/mediawiki'), 'maintenance', 'importTextFiles.php')
    r = subprocess.run([peers.PHP, script, '--overwrite', '-u', 'Admin', path], capture_output=True, text=True,
                       env=dict(os.environ, MW_CONFIG_FILE=f'{STATE}/LocalSettings.php'))
    if r.returncode != 0:
        os.unlink(path)
        return f'the page cannot be imported: {(r.stdout + r.stderr).strip()[:200]}'
    return None


def floor():
    """Returns the path of observer_floor.so, built if older than its source; None if it cannot be built."""
    source, built = os.path.join(HERE, 'observer_floor.c'), os.path.join(peers.ROOT, 'var', 'bench', 'observer_floor.so')
    if not os.path.exists(built) or os.path.getmtime(built) < os.path.getmtime(source):
        config = os.environ.get('PHP_CONFIG', 'php-config')
        try:
            includes = subprocess.run([config, '--includes'], capture_output=True, text=True, check=True).stdout.split()
            subprocess.run(['cc', '-O2', '-shared', '-fPIC', *includes, source, '-o', built], check=True, stdout=sys.stderr)
        except (OSError, subprocess.SubprocessError) as e:
            peers.say(f'the floor is not measured: {e}')
            return None
    if peers.loads(built):
        return built
    peers.say(f'the floor is not measured: {peers.PHP} does not load {built}')
    return None


def variants():
    strobe = ['-d', f'extension={EXTENSION}', '-d', 'strobe.socket=/nonexistent']
    tracing = strobe + ['-d', 'strobe.compat=tideways_xhprof']
    chosen = {'none': ([], 'none'), 'strobe, loaded, instrument=0': (strobe + ['-d', 'strobe.instrument=0'], 'off'),
              'strobe, idle, instrument=1': (strobe + ['-d', 'strobe.instrument=1'], 'off'),
              'strobe, wall': (tracing, TIDEWAYS + '0'), 'strobe, wall and CPU': (tracing, TIDEWAYS + '1'),
              'strobe, wall and memory': (tracing, TIDEWAYS + '6'), 'strobe, all metrics': (tracing, TIDEWAYS + '7'),
              'strobe, sampled every 10 ms': (strobe + ['-d', 'strobe.mode=sample'], 'off'),
              'strobe as Excimer, 1 ms': (strobe + ['-d', 'strobe.compat=excimer'], 'excimer 0.001')}
    chosen |= {JIT_BASE: (JIT, 'none'),
               'tracing JIT, strobe, idle, instrument=1': (JIT + strobe + ['-d', 'strobe.instrument=1'], 'off'),
               'tracing JIT, strobe, at calls, every 10 ms': (JIT + strobe + ['-d', 'strobe.instrument=1', '-d', 'strobe.mode=sample'], 'off')}
    if least_of_all := floor():
        chosen['the floor: the observer, and the counter read'] = (['-d', f'extension={least_of_all}'], 'off')
    if excimer := peers.peer('excimer'):
        chosen['Excimer, 1 ms'] = (['-d', f'extension={excimer}'], 'excimer 0.001')
    if tideways := peers.peer('tideways_xhprof'):
        load = ['-d', f'extension={tideways}']
        chosen |= {'tideways, idle': (load, 'off'), 'tideways, wall': (load, TIDEWAYS + '0'),
                   'tideways, wall and CPU': (load, TIDEWAYS + '1'), 'tideways, wall and memory': (load, TIDEWAYS + '6'),
                   'tideways, all metrics': (load, TIDEWAYS + '7')}
    return chosen


class Parser:
    """A PHP that parses on request, and waits otherwise."""

    def __init__(self, settings, watcher, page, parses):
        self.command = [peers.PHP, '-d', 'memory_limit=2G', *settings, os.path.join(HERE, 'mediawiki_parse.php'), watcher, str(parses), page]
        self.seconds, self.laps, self.calls, self.problem, self.process = [], [], None, None, None
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True, env=dict(os.environ, MW_CONFIG_FILE=f'{STATE}/LocalSettings.php'))
        self.length = (self.answer() or {}).get('length')

    def answer(self):
        seen = ''
        for line in self.process.stdout:
            if line.startswith('{'):
                return json.loads(line)
            seen += line
        self.problem = seen.strip()[:300] or f'status {self.process.wait()}'
        return None

    def parse(self):
        self.process.stdin.write('\n')
        self.process.stdin.flush()
        if result := self.answer():
            self.seconds.append(result['seconds'])
            self.laps.append(result['laps'])
            self.calls = result['calls']

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def least(rounds):
    """Returns the seconds of all laps, each from the round in which it was fastest."""
    if len({len(laps) for laps in rounds}) != 1:
        sys.exit('the laps of one round are not those of another')
    return sum(map(min, zip(*rounds))) / 1e9


def measure(page, parses, words):
    chosen = {n: v for n, v in variants().items() if n == 'none' or not words or any(w in n for w in words)}
    if any(n.startswith('tracing JIT') for n in chosen):
        chosen[JIT_BASE] = variants()[JIT_BASE]
    parsers = {n: Parser(settings, watcher, page, parses) for n, (settings, watcher) in chosen.items()}
    base = parsers['none']
    if base.problem:
        peers.say(f'{page} is not measured: {base.problem}')
        return
    names = list(parsers)
    for i in range(ROUNDS):
        if i and i % ROUNDS_PER_PROCESS == 0:
            for name, p in parsers.items():
                if name not in SLOW or i < SLOW_ROUNDS:
                    p.end()
                    p.start()
        for name in names[i % len(names):] + names[:i % len(names)]:
            p = parsers[name]
            if p.problem or (name in SLOW and i >= SLOW_ROUNDS):
                continue
            if p.length != base.length:
                sys.exit(f'{name}: the page has {p.length} bytes, not {base.length}')
            p.parse()
    what = f'MediaWiki, {page}'
    if not base.problem:
        print(f'{what}, {parses} parses, no profiler\t{least(base.laps) * 1e3:.0f}\tms\t{len(base.laps[0]):,} laps')
    without = base
    for name, p in parsers.items():
        base = parsers[JIT_BASE] if name.startswith('tracing JIT') and name != JIT_BASE else without
        p.end()
        if base.problem or p.problem:
            peers.say(f'{name} is left out: {p.problem or base.problem}')
        elif p is not base and len(p.laps[0]) != len(base.laps[0]):
            sys.exit(f'{name}: {len(p.laps[0])} laps, not {len(base.laps[0])}')
        elif p is not base:
            paired = statistics.median(a / b for a, b in zip(p.seconds, base.seconds))
            seen = f', {p.calls / 1e6:.1f} M calls' if p.calls and p.calls > 50_000 else f', {p.calls} samples' if p.calls else ''
            if any(w in name for w in SAMPLED):
                print(f'{what}: {name}\t×{paired:.2f}\t\tthe median{seen}', flush=True)
            else:
                ratio = least(p.laps) / least(base.laps[:len(p.laps)])
                print(f'{what}: {name}\t×{ratio:.3f}\t\t(median ×{paired:.2f}{seen})', flush=True)


def main():
    if reason := why_not():
        peers.say(f'MediaWiki is not measured: {reason}')
        print(f'MediaWiki parse\t-\t\tnot measured: {reason}')
        return
    wanted = [p for p in PAGES if p[0] in sys.argv[1:]]
    words = [w for w in sys.argv[1:] if w not in (p[0] for p in wanted)]
    for page, parses in wanted or PAGES:
        measure(page, parses, words)


if __name__ == '__main__':
    main()
