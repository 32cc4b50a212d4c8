#!/usr/bin/env python3
"""usage: tests/cli/others.py STROBE

Reads the output of `strobe convert` with other readers: a decoder of Protocol Buffers that shares nothing with ours, pprof of Go where
there is one, callgrind_annotate of Valgrind. Prints one line per test.
"""
import glob
import gzip
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

DATA = pathlib.Path(__file__).resolve().parent.parent / 'data'
STROBE = sys.argv[1]
failed = False


def report(sentence, wrong=None, skip=None):
    global failed
    if skip:
        print(f'skip - {sentence}: {skip}')
    elif wrong:
        failed = True
        print(f'# {wrong}\nnot ok - {sentence}')
    else:
        print(f'ok - {sentence}')


def strobe(*args):
    return subprocess.run([STROBE, *map(str, args)], check=True, capture_output=True).stdout


def folded(file, column):
    """Value by stack, as `strobe collapse` has it."""
    out = {}
    for line in strobe('collapse', '--column', column, file).decode().splitlines():
        stack, value = line.rsplit(' ', 1)
        out[stack] = int(value)
    return out


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """number => list of its values: ints and bytes"""
    out, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        elif key & 7:
            raise ValueError(f'type {key & 7}')
        out.setdefault(key >> 3, []).append(value)
    return out


def numbers(data):
    out, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        out.append(value - (1 << 64) if value >> 63 else value)
    return out


def decode_pprof(data):
    """column => stack => value"""
    profile = fields(gzip.decompress(data))
    strings = [s.decode() for s in profile[6]]
    types = [strings[fields(t)[1][0]] for t in profile[1]]
    functions = {fields(f)[1][0]: strings[fields(f)[2][0]] for f in profile[5]}
    locations = {fields(x)[1][0]: functions[fields(fields(x)[4][0])[1][0]] for x in profile[4]}
    out = {t: {} for t in types}
    for sample in map(fields, profile[2]):
        stack = ';'.join(locations[i] for i in reversed(numbers(sample[1][0])))
        for name, value in zip(types, numbers(sample[2][0])):
            if value > 0:
                out[name][stack] = value
    return out


def find_pprof():
    for name in ['pprof', 'google-pprof']:
        if shutil.which(name) and b'proto' in subprocess.run([name, '-help'], capture_output=True).stderr:
            return [name]
    if shutil.which('go'):
        return ['go', 'tool', 'pprof']
    tools = glob.glob('/usr/lib/go-*/pkg/tool/*/pprof')
    return [tools[0]] if tools else None


def check_pprof(work):
    for file in ['cart.xhprof', 'shop.strobe']:
        got = decode_pprof(strobe('convert', '-f', 'pprof', DATA / file))
        wrong = [c for c in got if got[c] != folded(DATA / file, c)]
        report(f'pprof: {file} decoded by others has the stacks and values of collapse', wrong)
    sentence = 'pprof: the pprof of Go shows the same self values'
    tool = find_pprof()
    if not tool:
        return report(sentence, skip='there is no pprof and no go here')
    path = work / 'shop.pb.gz'
    path.write_bytes(strobe('convert', '-f', 'pprof', DATA / 'shop.strobe'))
    out = subprocess.run([*tool, '-top', '-nodefraction=0', path], capture_output=True, text=True, check=True).stdout
    got = {m[2]: int(m[1]) for m in re.finditer(r'^ +(\d+) +[\d.]+% +[\d.]+% +\d+ +[\d.]+% +(.*)$', out, re.M) if m[1] != '0'}
    want = {}
    for stack, value in folded(DATA / 'shop.strobe', 'samples').items():
        leaf = stack.rsplit(';', 1)[-1]
        want[leaf] = want.get(leaf, 0) + value
    report(sentence, got != want and f'{got} is not {want}')


def annotated(path, *options):
    """function => cost, as callgrind_annotate prints it"""
    out = subprocess.run(['callgrind_annotate', '--threshold=100', '--auto=no', *options, path], capture_output=True, text=True,
                         check=True).stdout
    return {m[2]: int(m[1].replace(',', '')) for m in re.finditer(r'^ *([\d,]+) +\( ?[\d.]+%\)  .*?:(\S.*)$', out, re.M)}


def check_callgrind(work):
    sentence = "callgrind: callgrind_annotate's self and inclusive costs are ours"
    if not shutil.which('callgrind_annotate'):
        return report(sentence, skip='there is no callgrind_annotate here')
    file = DATA / 'blog.folded'
    path = work / 'callgrind.out.blog'
    path.write_bytes(strobe('convert', '-f', 'callgrind', file))
    own, total = {}, {}
    for stack, value in folded(file, 'samples').items():
        frames = stack.split(';')
        level = frames[:-1].count(frames[-1])
        leaf = frames[-1] + (f"'{level + 1}" if level else '')
        own[leaf] = own.get(leaf, 0) + value
        for name in set(frames):
            total[name] = total.get(name, 0) + value
    got = annotated(path)
    report(sentence + ': self', got != own and f'{got} is not {own}')
    got = {k: v for k, v in annotated(path, '--inclusive=yes').items() if "'" not in k and k != '(root)'}
    report(sentence + ': inclusive', got != total and f'{got} is not {total}')


# speedscope's file format as it is published: what must be there and of which type; what may be ends with "?". A list of one
# is an array of that, several types are alternatives. "strobe" is an addition of ours, which others pass over.
NUMBER = (int, float)
FRAME = {'name': str, 'file?': str, 'line?': NUMBER, 'col?': NUMBER}
PROFILE = {'type': str, 'name': str, 'unit': str, 'startValue': NUMBER, 'endValue': NUMBER, 'samples': [[int]], 'weights': [NUMBER]}
SPEEDSCOPE = {'$schema': str, 'shared': {'frames': [FRAME]}, 'profiles': [PROFILE], 'name?': str, 'exporter?': str,
              'activeProfileIndex?': NUMBER, 'strobe?': dict}
UNITS = {'none', 'nanoseconds', 'microseconds', 'milliseconds', 'seconds', 'bytes'}


def misfits(value, shape, where):
    """Sentences on what is not of that shape."""
    if isinstance(shape, list):
        if not isinstance(value, list):
            return [f'{where} is no array']
        return [m for i, item in enumerate(value) for m in misfits(item, shape[0], f'{where}[{i}]')]
    if not isinstance(shape, dict):
        return [] if isinstance(value, shape) and not isinstance(value, bool) else [f'{where} is {value!r}']
    if not isinstance(value, dict):
        return [f'{where} is no object']
    known = {key.rstrip('?') for key in shape}
    wrong = [f'{where} has {key}' for key in value if key not in known]
    for key, inner in shape.items():
        name = key.rstrip('?')
        if name in value:
            wrong += misfits(value[name], inner, f'{where}.{name}')
        elif name == key:
            wrong.append(f'{where} has no {key}')
    return wrong


def speedscope_misfits(file):
    data = json.loads(strobe('convert', '-f', 'speedscope', file))
    wrong = misfits(data, SPEEDSCOPE, 'the file')
    if wrong:
        return wrong
    if data['$schema'] != 'https://www.speedscope.app/file-format-schema.json':
        wrong.append(data['$schema'])
    if not 0 <= data.get('activeProfileIndex', 0) < len(data['profiles']):
        wrong.append('activeProfileIndex')
    frames = len(data['shared']['frames'])
    for p in data['profiles']:
        if p['type'] != 'sampled' or p['unit'] not in UNITS or len(p['samples']) != len(p['weights']):
            wrong.append(f"{p['name']}: type, unit or number of weights")
        if any(not 0 <= f < frames for stack in p['samples'] for f in stack) or min(p['weights'], default=0) < 0:
            wrong.append(f"{p['name']}: a frame that is not there, or a weight below zero")
        if p['startValue'] + sum(p['weights']) > p['endValue']:
            wrong.append(f"{p['name']}: weights up to {sum(p['weights'])} end behind {p['endValue']}")
    return wrong


def check_speedscope():
    for file in ('blog.folded', 'cart.xhprof', 'shop.strobe', 'words.perf', 'shop.xt'):
        wrong = speedscope_misfits(DATA / file)
        report(f'speedscope: {file} has the shape of the published format', '; '.join(wrong[:5]))


def main():
    check_speedscope()
    with tempfile.TemporaryDirectory(prefix='strobe-others-') as directory:
        check_pprof(pathlib.Path(directory))
        check_callgrind(pathlib.Path(directory))
    sys.exit(failed)


main()
