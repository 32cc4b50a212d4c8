#!/usr/bin/env python3
"""Compares the size of an SVG of so many frames with flamegraph.pl's for the same input.

Both draw the same elements at the same places, so the size of its file follows from the frames in ours: its tags around the same
title, numbers, color and label, a <text> also where there is no label, and 12.7 kB that are in each of its files: head,
script and lines of text (of the version of 2019 and later, counted once from its source). If the script is installed,
FLAMEGRAPH_PL names it, and it is run instead. """
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
STROBE = os.environ.get('STROBE', os.path.join(os.path.dirname(HERE), 'build', 'strobe'))
SCRIPT = os.environ.get('FLAMEGRAPH_PL')
FIXED = 12_700
FRAMES = (10, 50, 100, 200, 500, 1000, 2000, 5000)
FRAME = re.compile(r'<g><title>([^<]*)</title><rect x="([^"]*)" y="([^"]*)" width="([^"]*)" height="([^"]*)" fill="([^"]*)"/>'
                   r'(?:<text x="([^"]*)" y="([^"]*)">([^<]*)</text>)?</g>')


def stacks(frames):
    """Lines of a profile with that many frames: classes call each other's methods, each from several places."""
    chance = random.Random(frames)
    names = [f'App\\{chance.choice(["Model", "View", "Cache", "Http", "Log"])}\\{chance.choice(["Page", "User", "Item"])}'
             f'{chance.choice(["Reader", "Store", "Renderer", "Query"])}::{chance.choice(["get", "find", "render", "load"])}{i}'
             for i in range(max(8, frames // 4))]
    paths, known = [('{main}',)], set()
    while len(paths) < frames - 1:
        path = (*chance.choice(paths), chance.choice(names))
        if len(path) < 40 and path not in known:
            paths.append(path)
            known.add(path)
    return ''.join(f'{";".join(path)} {chance.randint(1, 99)}\n' for path in sorted(paths))


def theirs(folded, svg):
    if SCRIPT:
        return len(subprocess.run(['perl', SCRIPT, folded], capture_output=True, check=True).stdout)
    found = FRAME.findall(svg)
    if len(found) != svg.count('<title>'):
        sys.exit('svg_size: there are frames in the picture that this does not know')
    frame = ('<g >\n<title>{0}</title><rect x="{1}" y="{2}" width="{3}" height="{4}" fill="{5}" rx="2" ry="2" />\n'
             '<text  x="{6}" y="{7}" >{8}</text>\n</g>\n')
    return FIXED + sum(len(frame.format(*f[:6], f[6] or f'{float(f[1]) + 3:.2f}', f[7] or f'{float(f[2]) + 10.5:g}', f[8]))
                       for f in found)


def main():
    with tempfile.TemporaryDirectory() as d:
        folded, picture = os.path.join(d, 'a.folded'), os.path.join(d, 'a.svg')
        for frames in FRAMES:
            with open(folded, 'w', encoding='ascii') as out:
                out.write(stacks(frames))
            subprocess.run([STROBE, 'flamegraph', '-q', '--minwidth', '0', folded, '-o', picture], check=True)
            with open(picture, encoding='utf-8') as f:
                svg = f.read()
            other = theirs(folded, svg)
            print(f'svg of {svg.count("<title>")} frames\t{len(svg) / 1e3:.1f}\tkB\tflamegraph.pl {other / 1e3:.1f} kB, '
                  f'{100 * len(svg) / other:.0f} %', flush=True)


main()
