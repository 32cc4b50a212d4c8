#!/usr/bin/env python3
"""Compares docs/metrics.md with /metrics: the families, their types and their labels."""
import glob
import os
import re
import signal
import subprocess
import tempfile
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STROBE = os.environ['STROBE']
# With every kind of source and sink that has metrics of its own; nothing answers at port 1.
ARGUMENTS = ['--from', 'redis://127.0.0.1:1/?stream=a&group=g', '--to', 'redis://127.0.0.1:1/?stream=b', '--to', 'otlp://127.0.0.1:1']
ONLY_SOMETIMES = {'process_resident_memory_bytes', 'strobe_store_free_bytes'}


def told(wrong, sentence):
    print(f'{"not ok" if wrong else "ok"} - {sentence}' + ''.join(f'\n# {w}' for w in wrong), flush=True)


def read(path):
    with open(os.path.join(ROOT, path), encoding='utf-8') as f:
        return f.read()


def documented():
    """Name and labels of each first cell of a table."""
    rows = re.findall(r'^\| `((?:strobe|arclamp|process)_[a-z_]+)(?:\{([a-z,]+)\})?` \|', read('docs/metrics.md'), re.M)
    return {name: set(labels.split(',')) - {''} for name, labels in rows}, [name for name, _ in rows]


def in_the_code():
    names = set()
    for path in ('src/serve/metrics.c', 'src/arclamp/arclamp_metrics.c'):
        names |= set(re.findall(r'"((?:strobe|arclamp|process)_[a-z_]+)"', read(path)))
    for path in glob.glob(os.path.join(ROOT, 'src/daemon/sink_*.c')):
        text = re.sub(r'"\s+"', '', read(os.path.relpath(path, ROOT)))
        names |= {f'strobe_{name}' for name in re.findall(r'\{ "([a-z_]+)",\s+"', text)}
    return names


def answer(directory):
    """The /metrics of a daemon on a free port."""
    for name in ('logs/daily/2026-11-01.excimer.all.log', 'svgs/daily/2026-11-01.excimer.all.svgz'):
        os.makedirs(os.path.dirname(f'{directory}/{name}'))
        with open(f'{directory}/{name}', 'w', encoding='ascii') as f:
            f.write('index.php;Cart::add 1\n' * 4)
    daemon = subprocess.Popen([STROBE, 'serve', '--listen', '127.0.0.1:0', '--from', f'unix:{directory}/strobe.sock', '--store', f'sqlite:{directory}/store',
                               '--to', f'logs:{directory}/written', '--arclamp-metrics', f'{directory}/logs', *ARGUMENTS],
                              stderr=subprocess.PIPE, text=True)
    try:
        for line in daemon.stderr:
            at = re.search(r'http://127\.0\.0\.1:\d+', line)
            if at:
                with urllib.request.urlopen(at.group(0) + '/metrics', timeout=30) as r:
                    return r.read().decode()
    finally:
        daemon.send_signal(signal.SIGTERM)
        daemon.wait(60)
    return ''


def families(text):
    """Type and labels of each family."""
    found = {}
    for name, kind, samples in re.findall(r'^# TYPE (\S+) (\w+)\n((?:[^#].*\n)*)', text, re.M):
        found[name] = (kind, set(re.findall(r'[{,]([a-z_]+)="', samples)), bool(samples))
    return found


def main():
    labels, names = documented()
    code = in_the_code()
    told([f'only {len(code)}'] * (len(code) < 130) + sorted(code - set(names)), 'docs/metrics.md documents every metric of the program')
    told(sorted(set(names) - code) + sorted({name for name in names if names.count(name) > 1}),
         'every metric in docs/metrics.md exists in the program and is listed once')
    with tempfile.TemporaryDirectory() as directory:
        shown = families(answer(directory))
    told(sorted(code - set(shown) - ONLY_SOMETIMES) + sorted(set(shown) - code), 'a daemon with all sinks exports exactly these metrics')
    told([f'{name}: {kind}' for name, (kind, _, _) in shown.items() if (kind == 'counter') != (name.endswith('_total') and not name.startswith('arclamp_'))],
         'metrics named _total are counters, except those of Arc Lamp')
    told([f'{name}: {had}, not {labels.get(name)}' for name, (_, had, samples) in shown.items() if samples and had != labels.get(name)],
         'every metric has the labels documented in docs/metrics.md')


if __name__ == '__main__':
    main()
