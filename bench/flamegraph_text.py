#!/usr/bin/env python3
"""The cost of reading text and drawing it: CPU time, memory, size of the picture, and the rate beside that of `cat`.

The texts are made by profile_text.c under var/bench/text and deleted afterwards; unless SIZE=full they are small. Each figure
is the least CPU time (user and system) of ROUNDS=3 runs; the memory is the largest of all. The scripts of FlameGraph and
inferno's programs are run once on the same files if they are in PATH.
"""
import gzip
import os
import shutil
import subprocess
import sys
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
STROBE = os.environ.get('STROBE', os.path.join(ROOT, 'build', 'strobe'))
GENERATOR = os.path.join(os.environ.get('STROBE_BUILD', os.path.join(ROOT, 'build', 'meson')), 'bench', 'profile_text')
PLACE = os.path.join(ROOT, 'var', 'bench', 'text')
ROUNDS = int(os.environ.get('ROUNDS', '3'))
FULL = os.environ.get('SIZE') == 'full'
KEEP = os.environ.get('KEEP') == '1'

FOLDED = [('100,000 lines, 20,000 stacks', 100_000, 20_000, 30, 80)]
LARGE = [('1,000,000 lines, 20,000 stacks', 1_000_000, 20_000, 30, 80),
         ('1,000,000 lines, 200,000 stacks', 1_000_000, 200_000, 30, 80),
         ('a day: 3,000,000 lines, 50,000 stacks', 3_000_000, 50_000, 12, 37)]
PERF = (64_000, 20_000, 20, 60) if FULL else (6_400, 2_000, 20, 60)
BT = (165_000, 20_000, 20, 60) if FULL else (15_000, 2_000, 20, 60)
FOLDED_PEERS = ['flamegraph.pl', 'inferno-flamegraph']
COLLAPSE_PEERS = {'perf': ['stackcollapse-perf.pl', 'inferno-collapse-perf'], 'bt': ['stackcollapse-stap.pl']}


def row(name, value, unit, remark=''):
    print(f'{name}\t{value}\t{unit}\t{remark}'.rstrip('\t'), flush=True)


def measure(command, output, rounds=ROUNDS):
    """Returns the smallest CPU seconds and the largest memory in bytes of `command`, whose standard output goes to
    the file `output`."""
    seconds, memory = [], 0
    for _ in range(rounds):
        with open(output, 'wb') as out, open(os.devnull) as nothing:
            child = subprocess.Popen(command, stdin=nothing, stdout=out, stderr=subprocess.DEVNULL)
            _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            return None
        seconds.append(used.ru_utime + used.ru_stime)
        memory = max(memory, used.ru_maxrss * 1024)
    return min(seconds), memory


def make(name, kind, *numbers):
    path = os.path.join(PLACE, name)
    with open(path, 'wb') as out:
        subprocess.run([GENERATOR, kind, *map(str, numbers)], stdout=out, check=True)
    return path


def megabytes(n):
    return f'{n / 1e6:,.1f} MB' if n < 1e8 else f'{n / 1e6:,.0f} MB'


class Text:
    """One file, and the speed of `cat` with it; deleted at the end."""
    def __init__(self, path, about):
        self.path, self.about = path, about
        self.size = os.path.getsize(path)

    def __enter__(self):
        self.cat = max(measure(['cat', self.path], os.devnull)[0], 1e-3)
        row(f'cat, {megabytes(self.size)} ({self.about})', f'{self.cat:.3f}', 's', f'{self.size / self.cat / 1e6:,.0f} MB/s')
        return self

    def __exit__(self, *_):
        if not KEEP:
            os.unlink(self.path)

    def show(self, what, command, rounds=ROUNDS, output='out.svg'):
        output = os.path.join(PLACE, output)
        got = measure(command, output, rounds)
        if not got:
            row(f'{what}, {self.about}', '-', '', 'it failed')
            return
        seconds = max(got[0], 1e-3)
        row(f'{what}, {self.about}', f'{seconds:.3f}', 's',
            f'{megabytes(got[1])} of memory, writes {megabytes(os.path.getsize(output))}, '
            f'{self.size / seconds / 1e6:,.0f} MB/s, {100 * self.cat / seconds:.0f}% of cat')
        os.unlink(output)

    def peers(self, names, *options):
        for name in names:
            if shutil.which(name):
                self.show(' '.join([name, *options]), [name, *options, self.path], rounds=1)


def draw(text):
    strobe = [STROBE, 'flamegraph', text.path]
    text.show('flamegraph', strobe)
    text.show('flamegraph --reverse', [*strobe, '--reverse'])
    words = subprocess.run([STROBE, 'flamegraph', '--help'], capture_output=True, text=True).stdout
    if '--also' in words:
        also = [f'{change}:{os.path.join(PLACE, name)}' for change, name in
                [('reverse', 'also1.svg'), ('focus=Parser', 'also2.svg'), ('reverse,focus=Gateway', 'also3.svg')]]
        text.show('flamegraph, four pictures by --also', [*strobe, '-q', *(w for a in also for w in ('--also', a))])
    if '.html' in words:
        # The format is recognized only by the name.
        html = os.path.join(PLACE, 'out.html')
        text.show('flamegraph -o x.html', [*strobe, '-q', '-o', html], output='out.html')
    text.peers(FOLDED_PEERS)
    text.peers(FOLDED_PEERS, '--reverse')


def compare(text):
    # Read twice, so the rate is half that of the bytes.
    both = [text.path, text.path]
    text.show('diff with itself', [STROBE, 'diff', *both])
    text.show('diff --folded with itself', [STROBE, 'diff', '--folded', *both], output='out.folded')
    if shutil.which('difffolded.pl'):
        text.show('difffolded.pl with itself', ['difffolded.pl', *both], rounds=1, output='out.folded')


def draw_compressed(path, about):
    packed = path + '.gz'
    with open(path, 'rb') as plain, gzip.open(packed, 'wb', compresslevel=zlib.Z_BEST_SPEED) as out:
        shutil.copyfileobj(plain, out, 1 << 20)
    got = measure([STROBE, 'flamegraph', packed], os.path.join(PLACE, 'out.svg'))
    if got:
        row(f'flamegraph of .gz, {about}', f'{got[0]:.3f}', 's', f'{megabytes(os.path.getsize(path) / got[0])}/s of text')
    os.unlink(packed)


def main():
    if not os.path.exists(GENERATOR):
        sys.exit(f'there is no {GENERATOR}; run bench/run flamegraph_text, which builds it')
    os.makedirs(PLACE, exist_ok=True)
    if not FULL:
        row('text to pictures', '-', '', 'only the smaller inputs; SIZE=full has 10 GB in turn')
    for about, *numbers in FOLDED + (LARGE if FULL else []):
        with Text(make('a.folded', 'folded', *numbers), about) as text:
            draw(text)
            compare(text)
            if text.size < 1e9:
                draw_compressed(text.path, about)
    for kind, numbers, about in [('perf', PERF, 'perf script'), ('bt', BT, 'SystemTap .bt')]:
        with Text(make(f'a.{kind}', kind, *numbers), about) as text:
            text.show('collapse', [STROBE, 'collapse', text.path], output='out.folded')
            text.peers(COLLAPSE_PEERS[kind])
    shutil.rmtree(PLACE, ignore_errors=True)


main()
