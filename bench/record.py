#!/usr/bin/env python3
"""`strobe record`: nanoseconds per sample by the kernel's own count, its native part apart, slowdown of a program, the sampler's own
CPU time, how soon the first sample comes, impossible stacks, short processes, and memory over time (RECORD_MINUTES=10; 1 unless given).

Slowdown is paired: windows with and without the recording alternate in one running program, and its work is divided by the
CPU time that it used, so that other programs do not count. Without the right to load BPF programs it prints one line.
"""
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
STROBE = os.environ.get('STROBE', os.path.join(os.path.dirname(HERE), 'build', 'strobe'))
SCRIPT = os.path.join(HERE, 'record.php')
PHP = os.environ.get('PHP', 'php')
STATS = '/proc/sys/kernel/bpf_stats_enabled'
CHAINS = '''<?php
function a3() { for ($i = 0; $i < 20; $i++); } function a2() { a3(); } function a1() { a2(); }
function b3() { for ($i = 0; $i < 20; $i++); } function b2() { b3(); } function b1() { b2(); }
echo "ready\\n";
while (true) { a1(); b1(); }
'''
WINDOW = 1.0


def row(name, value, unit, remark=''):
    print(f'{name}\t{value}\t{unit}\t{remark}', flush=True)


class Target:
    def __init__(self, *command, ready=True):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE if ready else subprocess.DEVNULL)
        if ready:
            self.process.stdout.readline()

    def __enter__(self):
        return self.process

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def recording(*options, wait=True):
    """Starts a recording, and waits until it samples, unless wait is False."""
    r = subprocess.Popen([STROBE, 'record', '-q', *map(str, options)], stderr=subprocess.PIPE, text=True)
    while wait and r.poll() is None and not on_cpu(r.pid)['run_cnt']:
        time.sleep(0.02)
    return r


def finish(r, number=signal.SIGINT):
    if r.poll() is None:
        r.send_signal(number)
    said = r.communicate(timeout=60)[1]
    if r.returncode not in (0, 4):
        raise RuntimeError(said.strip())
    return r.returncode


def on_cpu(pid):
    """Returns the kernel's counters of the sampling program of one process: run_cnt, run_time_ns."""
    ids = set()
    try:
        for fd in os.listdir(f'/proc/{pid}/fdinfo'):
            with open(f'/proc/{pid}/fdinfo/{fd}') as f:
                ids.update(map(int, re.findall(r'^prog_id:\s+(\d+)', f.read(), re.M)))
    except OSError:
        pass
    tool = shutil.which('bpftool', path=os.environ.get('PATH', '') + ':/usr/sbin:/sbin')
    r = subprocess.run([tool, '-j', 'prog', 'show', 'name', 'on_cpu'], capture_output=True, text=True)
    found = json.loads(r.stdout) if r.returncode == 0 else []
    mine = [p for p in (found if isinstance(found, list) else [found]) if p.get('id') in ids]
    return {key: sum(p.get(key, 0) for p in mine) for key in ('run_cnt', 'run_time_ns')}


def cpu_seconds(pid):
    with open(f'/proc/{pid}/stat') as f:
        fields = f.read().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def early_exit(out):
    """The cost of a tick that hits another program, from a recording of an idle process."""
    with Target(PHP, '-n', '-r', 'echo "ready\n"; sleep(1000);') as idle:
        r = recording('-p', idle.pid, '-F', 999, '-o', out)
        time.sleep(2)
        p = on_cpu(r.pid)
        finish(r)
    return p['run_time_ns'] / max(1, p['run_cnt'])


def per_sample(opcache, out, windows=6):
    """The kernel counts the program's time over all ticks; that of ticks that hit another program is subtracted. The
    smallest and the median of several recordings: other load can only make it longer."""
    settings = ['-d', 'zend_extension=opcache', '-d', 'opcache.enable_cli=1', '-d', 'opcache.jit=disable'] if opcache else []
    early, found = early_exit(out), []
    with Target(PHP, '-n', *settings, SCRIPT, '34') as php:
        for _ in range(windows):
            r = recording('-p', php.pid, '-F', 999, '-o', out)
            time.sleep(1.5)
            p = on_cpu(r.pid)
            finish(r)
            share = samples(out) / max(1, p['run_cnt'])      # share of ticks that hit PHP
            if samples(out) < 200:                           # the machine was busy
                continue
            found.append((p['run_time_ns'] / p['run_cnt'] - early * (1 - share)) / share)
    return min(found), statistics.median(found)


def native_part(out, windows=6):
    """Nanoseconds of the native part of a sample, and its frames: alternates recordings with and without native
    frames."""
    early, found = early_exit(out), {'php': [], 'all': []}
    with Target(PHP, '-n', SCRIPT, '34') as php:
        for _ in range(windows):
            for kind, options in (('php', ['--lang', 'php']), ('all', [])):
                r = recording('-p', php.pid, '-F', 999, '-o', out, *options)
                time.sleep(1.5)
                p = on_cpu(r.pid)
                finish(r)
                share = samples(out) / max(1, p['run_cnt'])
                if samples(out) >= 200:
                    found[kind].append((p['run_time_ns'] / p['run_cnt'] - early * (1 - share)) / share)
        r = recording('-p', php.pid, '-F', 999, '-d', 1, '-o', out, '--lang', 'native', wait=False)
        r.wait()
        finish(r)
    with open(out) as f:
        stacks = [line.rsplit(' ', 1) for line in f]
    frames = sum(int(n) * (s.count(';') + 1) for s, n in stacks) / sum(int(n) for _, n in stacks)
    return min(found['all']) - min(found['php']), statistics.median(found['all']) - statistics.median(found['php']), frames


def samples(path):
    with open(path) as f:
        return sum(int(line.rsplit(' ', 1)[1]) for line in f)


def rounds(path, begin, end):
    """Returns rounds per CPU second between two times."""
    with open(path) as f:
        rows = [tuple(map(float, line.split())) for line in f if line.count(' ') == 2 and line.endswith('\n')]
    rows = [r for r in rows if begin <= r[0] <= end]
    return (rows[-1][1] - rows[0][1]) / (rows[-1][2] - rows[0][2])


def slowdown(hz, directory, pairs=12):
    log = f'{directory}/rounds'
    open(log, 'w').close()
    ratios = []
    with Target(PHP, '-n', SCRIPT, '34', '0', log, ready=False) as php:
        time.sleep(0.5)
        for _ in range(pairs):
            begin = time.time()
            time.sleep(WINDOW)
            middle = time.time()
            r = recording('-p', php.pid, '-F', hz, '-o', f'{directory}/out.folded')
            start = time.time()
            time.sleep(WINDOW)
            end = time.time()
            finish(r)
            ratios.append(rounds(log, begin, middle) / rounds(log, start, end) - 1)
        os.unlink(log)
    return 100 * statistics.median(ratios), [100 * q for q in statistics.quantiles(ratios, n=4)]


def own_cpu(directory):
    targets = [Target(PHP, '-n', SCRIPT, '34') for _ in range(12)]
    try:
        r = recording(*[x for t in targets for x in ('-p', t.process.pid)], '-F', 99, '-o', f'{directory}/out.folded')
        before, seconds = cpu_seconds(r.pid), 20
        time.sleep(seconds)
        used = cpu_seconds(r.pid) - before
        finish(r)
    finally:
        for t in targets:
            t.__exit__()
    return 100 * used / seconds


def first_sample(directory):
    """From the start of the command to its first sample, in the shortest recording that has one."""
    with Target(PHP, '-n', SCRIPT, '34') as php:
        times = []
        for _ in range(5):
            begin = time.monotonic()
            r = recording('-p', php.pid, '-F', 999, '-o', f'{directory}/out.folded')
            times.append(1000 * (time.monotonic() - begin))
            finish(r)
    return min(times), statistics.median(times)


def impossible(directory, wanted=10000):
    script = f'{directory}/chains.php'
    with open(script, 'w') as f:
        f.write(CHAINS)
    seen = wrong = 0
    with Target(PHP, '-n', script) as php:
        while seen < wanted:
            r = recording('-p', php.pid, '-F', 4999, '-d', 4, '-o', f'{directory}/out.folded', wait=False)
            r.wait()
            finish(r)
            with open(f'{directory}/out.folded') as f:
                for line in f:
                    stack, n = line.rsplit(' ', 1)
                    chain = [x for x in stack.split(';') if re.fullmatch('[ab][123]', x)]
                    seen += int(n)
                    if [x[1] for x in chain] != list('123')[:len(chain)] or len({x[0] for x in chain}) > 1:
                        wrong += int(n)
    return wrong, seen


def short_processes(directory, count=40):
    """Each has its number in the name of its function, and burns 30 ms of CPU time."""
    burn = 'function burn_%d() { for ($u = getrusage()["ru_utime.tv_usec"]; abs(getrusage()["ru_utime.tv_usec"] - $u) < 15000;); } burn_%d();'
    r = recording('-F', 999, '-o', f'{directory}/out.folded')
    for i in range(count):
        subprocess.run([PHP, '-n', '-r', burn % (i, i)], check=True)
    finish(r)
    with open(f'{directory}/out.folded') as f:
        return len(set(re.findall(r'burn_\d+', f.read())))


def memory(directory, minutes):
    """Resident memory of a recording at 999 Hz after a tenth of the time, and at its end."""
    def resident(pid):
        with open(f'/proc/{pid}/status') as f:
            return int(re.search(r'VmRSS:\s+(\d+)', f.read()).group(1))

    script = f'{directory}/chains.php'
    with Target(PHP, '-n', script) as php:
        r = recording('-p', php.pid, '-F', 999, '-o', f'{directory}/out.folded')
        time.sleep(6 * minutes)
        early = resident(r.pid)
        time.sleep(54 * minutes)
        late = resident(r.pid)
        finish(r)
    return early, late


def measure(directory):
    out = f'{directory}/out.folded'
    for opcache in (True, False):
        least, median = per_sample(opcache, out)
        row(f'record: one sample of 34 frames, {"with" if opcache else "without"} opcache', f'{least:.0f}', 'ns',
            f'median {median:.0f}; aim {13000 if opcache else 26000}')
    least, median, frames = native_part(out)
    row(f'record: of it, native frames ({frames:.0f})', f'{least:.0f}', 'ns', f'median {median:.0f}; aim 6000 for 15')
    for hz, aim in ((99, 0.2), (999, 1.5)):
        median, quarters = slowdown(hz, directory)
        row(f'record: slowdown at {hz} Hz', f'{median:.2f}', '%', f'quartiles {quarters[0]:.2f} to {quarters[2]:.2f}; aim {aim}')
    row('record: CPU of strobe, 99 Hz, 12 workers', f'{own_cpu(directory):.2f}', '% of a core', 'aim 0.5')
    least, median = first_sample(directory)
    row('record: first tick of one process', f'{least:.0f}', 'ms', f'median {median:.0f}; aim 500')
    wrong, seen = impossible(directory)
    row('record: impossible stacks', wrong, f'of {seen}', 'aim 0')
    row('record: caught of 40 processes of 30 ms, 999 Hz', short_processes(directory), 'processes', 'aim 40')
    minutes = float(os.environ.get('RECORD_MINUTES', '1'))
    early, late = memory(directory, minutes)
    row(f'record: growth of memory in {minutes:g} min at 999 Hz', late - early, 'kB', f'of {late} kB')


def main():
    try:
        with open(STATS) as f:
            was = f.read().strip()
        with open(STATS, 'w') as f:
            f.write('1')
    except OSError as e:
        row('record', '-', '', f'left out: {e.strerror} ({STATS})')
        return 0
    try:
        with tempfile.TemporaryDirectory() as directory:
            measure(directory)
    except RuntimeError as e:
        row('record', '-', '', f'left out: {e}')
    finally:
        with open(STATS, 'w') as f:
            f.write(was)
    return 0


sys.exit(main())
