#!/usr/bin/env python3
"""The page and its files in a browser (Debian's Chromium, headless, without a GPU; puppeteer-core of web/node_modules), and the daemon
while many people ask it. Missing programs are reported, and their part left out.

With words (files, day, people) only these. BROWSER_SAMPLES: of the day in the store; 3,000,000 unless given.
"""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import ingest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
STROBE = os.environ.get('STROBE', os.path.join(ROOT, 'build', 'strobe'))
STORE = os.path.join(os.environ.get('STROBE_BUILD', os.path.join(ROOT, 'build', 'meson')), 'bench', 'store_bench')
SAMPLES = int(os.environ.get('BROWSER_SAMPLES', '3000000'))
DAY = 1763683200
CLIENTS, SECONDS, RATE = 50, 30, 1000
AIMS = {'a day of samples, first paint': 500, 'zoom, per frame': 16, ': sort': 50, 'call graph': 300, '77,000 frames, HTML: open': 500,
        '77,000 frames, SVG: open': 500, '77,000 frames, HTML: zoom': 100, '77,000 frames, SVG: zoom': 100}
row = ingest.row


def tree(frames, path):
    """Folded stacks with that many frames, a twentieth of them different functions, 20 to 60 deep like those of a
    framework."""
    chance = random.Random(frames)
    names = [f'Site\\Part{i % 40}\\Class{i % 211}::step{i}' for i in range(max(100, frames // 20))]
    made, paths = 0, [[]]
    with open(path, 'w', encoding='ascii') as out:
        while made < frames:
            like = paths[chance.randrange(len(paths))]
            depth = chance.randrange(20, 60)
            path_ = like[:min(depth - 1, int(len(like) * (0.3 + 0.65 * chance.random())))]
            made += depth - len(path_)
            path_ = path_ + [names[chance.randrange(len(names))] for _ in range(depth - len(path_))]
            if len(paths) < 20000:
                paths.append(path_)
            out.write(f'{{main}};{";".join(path_)} {1 + int(3 / (0.05 + chance.random()))}\n')


def functions(count, path):
    with open(path, 'w', encoding='ascii') as out:
        for i in range(count):
            out.write(f'{{main}};App\\Kernel::handle;App\\Part{i % 90}\\Class{i % 700}::method{i} {1 + i * 7919 % 1000}\n')


def site(path):
    """Calls between 400 functions of a site, like those of the demo: a few of them take most of the time."""
    chance = random.Random(4)
    calls = {i: [chance.randrange(i + 1, min(400, i + 60)) for _ in range(chance.randrange(1, 5))] for i in range(399)}
    with open(path, 'w', encoding='ascii') as out:
        for _ in range(8000):
            at, stack = 0, ['{main}']
            while at in calls and chance.random() > 0.06:
                at = calls[at][int(len(calls[at]) * chance.random() ** 2)]
                stack.append(f'Doku\\Part{at % 20}::function{at}')
            out.write(';'.join(stack) + ' 1\n')


def picture(directory, name, suffix, *options):
    out = os.path.join(directory, f'{name}.{suffix}')
    subprocess.run([STROBE, 'flamegraph', '-q', os.path.join(directory, f'{name}.folded'), '-o', out, *options], check=True)
    return 'file://' + out


def browser():
    """Returns (chromium, node_modules), or a sentence."""
    chromium = next((p for p in map(shutil.which, ('chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome')) if p), None)
    modules = os.environ.get('NODE_MODULES') or os.path.join(ROOT, 'web', 'node_modules')
    if not chromium or not shutil.which('node'):
        return 'needs chromium and node'
    if not os.path.isdir(os.path.join(modules, 'puppeteer-core')):
        return 'needs puppeteer-core: (cd web && npm ci)'
    return chromium, modules


def page(found, *given):
    env = dict(os.environ, CHROMIUM=found[0], NODE_MODULES=found[1])
    with subprocess.Popen(['node', os.path.join(HERE, 'browser.mjs'), json.dumps(given)], env=env, stdout=subprocess.PIPE, text=True) as p:
        for line in p.stdout:
            name, value, remark = json.loads(line)
            aim = next((ms for part, ms in AIMS.items() if part in name), None)
            row(name, f'{value:.1f}' if value < 100 else f'{value:.0f}', 'ms', f'({remark}{"; " if remark and aim else ""}{f"aim {aim}" if aim else ""})')
    if p.returncode:
        row('browser', '-', '', f'node ended with {p.returncode}')


def measure_files(found):
    with tempfile.TemporaryDirectory(prefix='strobe-') as d:
        path = lambda name: os.path.join(d, name + '.folded')
        for name, frames in (('n77', 77_000), ('n100', 100_000), ('n1000', 1_000_000)):
            tree(frames, path(name))
        functions(10_000, path('functions'))
        site(path('site'))
        page(found, *[('file', how) for how in (
            {'name': '77,000 frames, HTML', 'address': picture(d, 'n77', 'html')},
            {'name': '77,000 frames, SVG', 'address': picture(d, 'n77', 'svg', '--minwidth', '0')},
            {'name': '100,000 frames', 'address': picture(d, 'n100', 'html'), 'acts': ['frame']},
            {'name': '1 M frames', 'address': picture(d, 'n1000', 'html'), 'acts': ['frame', 'zoom']},
            {'name': 'table of 10,000 functions', 'address': picture(d, 'functions', 'html'), 'acts': ['sort']},
            {'name': 'a site of 400 functions', 'address': picture(d, 'site', 'html'), 'acts': ['calls'], 'rounds': 5})])
        measure_call_graph(d)


def measure_call_graph(directory):
    with tempfile.TemporaryDirectory(prefix='strobe-') as s:
        store = f'sqlite:{s}/s'
        subprocess.run([STROBE, 'import', '--source', 'bench', '--id', 'site', '--store', store, os.path.join(directory, 'site.folded')],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        d = ingest.Daemon(s)
        times = []
        for _ in range(5):
            start = time.monotonic()
            urllib.request.urlopen(d.url + '/api/v1/callgraph?run=bench/site').read()
            times.append(time.monotonic() - start)
        d.stop()
    row('a site of 400 functions, by the server: call graph', f'{sorted(times)[2] * 1000:.0f}', 'ms', '(of 5; aim 300)')


def measure_day(found):
    with tempfile.TemporaryDirectory(prefix='strobe-') as s:
        subprocess.run([STORE, '-n', str(SAMPLES), '-k', os.path.join(s, 's')], check=True, stdout=subprocess.DEVNULL)
        d = ingest.Daemon(s, 'resp://127.0.0.1:0', '--retain', '0')     # its day is long ago
        day = f'from={DAY}&to={DAY + 86400}'
        page(found, ('day', {'site': d.url, 'full': day, 'empty': f'from={DAY - 7200}&to={DAY - 3600}'}))
        start = time.monotonic()
        size = len(urllib.request.urlopen(f'{d.url}/api/v1/profile?{day}&format=flame').read())
        row('page: the same day, the server alone', f'{(time.monotonic() - start) * 1000:.0f}', 'ms', f'({size / 1e6:.1f} MB)')
        d.stop()


def asked(url, answers, until, number):
    """One query per second by one person: graph, table, timeline and labels in turn."""
    kinds = ('profile?format=flame&', 'table?', 'timeline?', 'labels?')
    time.sleep(number / CLIENTS)
    begin, n = time.monotonic(), 0
    while time.monotonic() < until:
        start = time.monotonic()
        try:
            with urllib.request.urlopen(f'{url}/api/v1/{kinds[(n + number) % len(kinds)]}from=-1h', timeout=30) as r:
                r.read()
                answers.append((r.status, time.monotonic() - start))
        except OSError as e:
            answers.append((getattr(e, 'code', 0), time.monotonic() - start))
        n += 1
        time.sleep(max(0, begin + n - time.monotonic()))


def measure_people():
    """People send queries while samples arrive; measures how late these are committed."""
    with tempfile.TemporaryDirectory(prefix='strobe-') as s:
        d = ingest.Daemon(s)
        ingest.load(d.port, 20_000)
        answers, late, until = [], [], time.monotonic() + SECONDS
        loader = threading.Thread(target=lambda: sent.append(ingest.load(d.port, RATE * SECONDS, f'rate={RATE}')[0]))
        sent = []
        people = [threading.Thread(target=asked, args=(d.url, answers, until, i)) for i in range(CLIENTS)]
        for t in (loader, *people):
            t.start()
        while loader.is_alive():
            with urllib.request.urlopen(d.url + '/metrics') as r:
                text = r.read().decode()
            last = next(float(l.split()[-1]) for l in text.splitlines() if l.startswith('strobe_sink_last_commit_timestamp_seconds{'))
            if last:        # 0: none yet
                late.append(max(0, time.time() - last - 1))
            time.sleep(0.25)
        for t in (loader, *people):
            t.join()
        stored = d.wait_until_stored(20_000 + sent[0])
        with urllib.request.urlopen(d.url + '/api/v1/status') as r:
            status = json.load(r)
        d.stop()
    well = sorted(seconds for code, seconds in answers if code == 200)
    row('50 people, a query a second each: answered', f'{len(well)}', f'of {len(answers)}',
        f'(half within {well[len(well) // 2] * 1000:.0f} ms, 99 % within {well[len(well) * 99 // 100] * 1000:.0f} ms)' if well else '')
    dropped = sum(status['samples']['dropped'].values()) if isinstance(status['samples']['dropped'], dict) else 0
    row('50 people, a query a second each: samples lost', f'{20_000 + sent[0] - stored + dropped}', f'of {20_000 + sent[0]:,}', f'({RATE:,}/s; aim 0)')
    row('50 people, a query a second each: commits late', f'{max(late):.1f}' if late else '-', 's',
        '(at most, beyond the second between two; their time is known in whole seconds; aim 2)' if late else '(there was none)')


def main():
    found, wanted = browser(), sys.argv[1:] or ['files', 'day', 'people']
    if isinstance(found, str):
        row('browser', '-', '', found)
    else:
        if 'files' in wanted:
            measure_files(found)
        if 'day' in wanted:
            measure_day(found)
    if 'people' in wanted:
        measure_people()


if __name__ == '__main__':
    main()
