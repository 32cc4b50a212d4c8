"""usage: FLAMEGRAPH_PL=flamegraph.pl flamegraph_pl.py STROBE: whether --compat draws what flamegraph.pl draws.

Both draw the same lines with the same options, in directories of their own; then each frame must be there as often: title,
x, y, width, height, fill, place of the label, label. The lines are the project's own and some that are made up, with what
is easily got wrong: several counts, fractions, zeros, siblings that sort between, empty frames, suffixes. SEEDS (200) says
how many are made up. flamegraph.pl is not part of this project; without it the test is skipped.
"""
import collections
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

FRAME = re.compile(r'<title>(.*?)</title><rect x="([^"]*)" y="([^"]*)" width="([^"]*)" height="([^"]*)" fill="([^"]*)"'
                   r'[^>]*>\s*<text\s+x="([^"]*)" y="([^"]*)"[^>]*>(.*?)</text>', re.S)
PALETTES = 'hot mem io wakeup chain java js perl red green blue aqua yellow purple orange'.split()
OPTIONS = [
    [], ['--hash'], ['--reverse'], ['--inverted'], ['--flamechart'], ['--minwidth', '1'], ['--minwidth=5%'],
    ['--minwidth=0'], ['--minwidth', '0', '--reverse'], ['--countname', 'calls', '--nametype=Name:'], ['--total', '1000'],
    ['--total=3'], ['--total', '12345.678'], ['--factor', '2.5'], ['--factor=1000'], ['--cp'], ['--negate'],
    ['--inverted', '--subtitle', 's', '--title=t'], ['--reverse', '--inverted', '--hash'], ['--nameattr', 'attributes'],
    ['--width=800', '--height', '20', '--fontsize', '11.3', '--fontwidth', '.7'],
    ['--fonttype=ui-monospace,monospace', '--fontsize=11', '--minwidth=1', '--title=x'], ['--reverse', '--colors=blue'],
]
OPTIONS += [[f'--colors={p}'] for p in PALETTES] + [['--hash', '--colors', p] for p in PALETTES]
NAMES = ['a', 'b', 'foo', 'foo.bar', 'foo bar', 'x 12', 'main', '--', '-', 'w--', '\u00e9', '\u65e5\u672c\u8a9e' * 4, 'a`b',
         '`x`y', 'mod`sub`z', 'f_[k]', 'g_[j]', 'h_[i]', 'w_[w]', 'java/lang/X', 'Ljava/x', 'A::b', 'A:::b', 'x/y.js:3',
         'Perl_run', 'x.pl', ' ', '', '_[k]', '<x>&"\'', 'a\tb', '0', '1.5', 'Foo->bar', 'a_name_that_is_cut_off']
FILES = {'attributes': b'foo\thref=http://x/?a=1&amp;b=2\ttitle=A &amp; B\na\tclass=c\tg_extra=data-x="1"\n',
         'palette.map': b'a->rgb(1,2,3)\nFoo->bar->rgb(4,5,6)\n'}


def count(r, kind):
    return [str(r.randint(1, 50)), r.choice(['0', '0', '1', '5', '1000000']), f'{r.randint(0, 9)}.{r.randint(0, 99):02d}',
            r.choice(['5.', '0.5', '00012', '1.0', '3', '.5', '-3', 'x', '', '1e5', '0.1', '0.2'])][kind]


def made_up(seed):
    r = random.Random(seed)
    kind, two, names, lines = r.randint(0, 3), r.random() < .35, r.sample(NAMES, r.randint(2, 12)), []
    for _ in range(r.randint(1, 60)):
        line = ';'.join(r.choice(names) for _ in range(r.randint(0, 6))) + ';' * (r.random() < .05)
        line += r.choice([' '] * 20 + ['\t', '  ']) + count(r, kind) + (f' {count(r, kind)}' if two else '')
        lines += [line] * r.choice([1, 1, 1, 2])
    return '\n'.join(lines).encode() + b'\n' * (r.random() < .8)


def draw(command, lines):
    with tempfile.TemporaryDirectory() as directory:
        for name, content in FILES.items():
            (pathlib.Path(directory) / name).write_bytes(content)
        done = subprocess.run(command, cwd=directory, input=lines, capture_output=True)
        colors = (pathlib.Path(directory) / 'palette.map').read_bytes() if '--cp' in command else b''
    frames = collections.Counter(m.groups() for m in FRAME.finditer(done.stdout.decode('utf-8', 'surrogateescape')))
    return done.returncode, frames, colors if frames else b''


def compare(name, lines, options, perl, strobe):
    _, want, want_colors = draw(['perl', perl] + options, lines)
    code, got, got_colors = draw([strobe, 'flamegraph', '--compat'] + options, lines)
    if want == got and want_colors == got_colors and (code == 0 or not want):
        return True
    print(f'# {name} {" ".join(options)}: {sum(want.values())} frames, here {sum(got.values())}, exit {code}')
    for which, frame in [('not here', f) for f in want - got][:3] + [('only here', f) for f in got - want][:3]:
        print(f'# {which}: {frame}')
    return False


def main():
    perl, strobe = os.environ.get('FLAMEGRAPH_PL'), os.path.abspath(sys.argv[1])
    if not perl:
        print('skip - the frames of flamegraph.pl: FLAMEGRAPH_PL does not say where it is')
        return
    perl = os.path.abspath(perl)
    blog = (pathlib.Path(__file__).parents[1] / 'data' / 'blog.folded').read_bytes()
    cases = [('blog', blog, o) for o in OPTIONS]
    for seed in range(int(os.environ.get('SEEDS', '200'))):
        cases.append((f'seed {seed}', made_up(seed), OPTIONS[seed % len(OPTIONS)]))
    wrong = [c for c in cases if not compare(*c, perl, strobe)]
    print(f'{"not ok" if wrong else "ok"} - {len(cases) - len(wrong)} of {len(cases)} pictures are those of flamegraph.pl')
    sys.exit(1 if wrong else 0)


main()
