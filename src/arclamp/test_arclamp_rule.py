#!/usr/bin/env python3
"""The tree that Strobe writes against one that is written line by line, by the rule of arclamp-log with the tag rule repaired.

usage: test_arclamp_rule.py TEST-LOGS
"""
import os
import random
import re
import subprocess
import sys
import tempfile
from datetime import datetime, timezone

GROUPS = [('hourly', '%Y-%m-%d_%H', 1), ('daily', '%Y-%m-%d', 1), ('weekly', '%G-W%V.sampled', 7)]
ENTRIES = ['/srv/app/index.php', 'index.php', '/srv/app/wp-cron.php', '/srv/app/admin-ajax.php', '/srv/loadphp', '/srv/php/run',
           '/srv/app/a b.php', '/srv/app/a.php.php', '/srv/../..', '', '/', 'x' * 64 + '.php', 'x' * 65 + '.php', 'ä.php',
           '/srv/app/all.php', '/srv/app/.php', '/srv/a/b;c', 'UPPER_lower-1.2.php', '/srv/app/api.PHP']


def tag_of(line):
    """The basename of the first frame without .php, if it can be a file name."""
    name = re.split(rb';| (?=[0-9]+$)', line, maxsplit=1)[0].rsplit(b'/', 1)[-1]
    if name.endswith(b'.php') and name != b'.php':
        name = name[:-4]
    fit = re.fullmatch(rb'[A-Za-z0-9._-]{1,64}', name) and name not in (b'.', b'..', b'all', b'other')
    return name.decode() if fit else 'other'


def make_lines():
    r = random.Random(7)
    at = 1795284622.0
    for i in range(5000):
        at += r.expovariate(1) * 60
        when = at - (r.randrange(7200) if i % 10 == 0 else 0)         # some come late
        frames = [r.choice(ENTRIES)] + [f'Class{r.randrange(50)}::method' for _ in range(r.randrange(6))]
        line = ';'.join(frames).encode()
        if i % 50 == 0:
            line += b';class@anonymous\0/srv/x.php:3$0\xff\x1b[31m'
        if not line:
            line = b';f'
        yield int(when * 1000000000), line + b' %d' % r.randrange(1, 5)


def write_by_rule(base, lines):
    skipped = [0] * len(GROUPS)
    for time_ns, line in lines:
        when = datetime.fromtimestamp(time_ns // 1000000000, timezone.utc)
        for i, (period, form, pop) in enumerate(GROUPS):
            skipped[i] += 1
            if skipped[i] < pop:
                continue
            skipped[i] = 0
            os.makedirs(os.path.join(base, period), 0o755, exist_ok=True)
            for tag in ('all', tag_of(line)):
                with open(os.path.join(base, period, f'{when.strftime(form)}.{tag}.log'), 'ab') as f:
                    f.write(line + b'\n')


def read_tree(base):
    found = {}
    for directory, _, names in os.walk(base):
        for name in names:
            path = os.path.join(directory, name)
            if '.strobe' not in path:
                with open(path, 'rb') as f:
                    found[os.path.relpath(path, base)] = f.read()
    return found


def main():
    lines = list(make_lines())
    with tempfile.TemporaryDirectory(prefix='strobe-logs-') as scratch:
        ours, theirs = os.path.join(scratch, 'ours'), os.path.join(scratch, 'theirs')
        with open(os.path.join(scratch, 'a.yaml'), 'w', encoding='utf-8') as f:
            f.write(f'base_path: {ours}\nredis_channel: x\nredis: {{host: h}}\nlogs:\n')
            for period, form, pop in GROUPS:
                f.write(f'  - {{period: {period}, format: "{form}", retain: 1000, sample_pop: {pop}}}\n')
        with open(os.path.join(scratch, 'lines'), 'wb') as f:
            for time_ns, line in lines:
                f.write(b'%d %d\n%s' % (time_ns, len(line), line))
        subprocess.run([sys.argv[1], os.path.join(scratch, 'a.yaml'), os.path.join(scratch, 'lines')], check=True)
        write_by_rule(theirs, lines)
        a, b = read_tree(ours), read_tree(theirs)
    for name in sorted(set(a) | set(b)):
        if a.get(name) != b.get(name):
            print(f'# {name}: {len(a.get(name, b""))} bytes, not {len(b.get(name, b""))}')
    print(('ok' if a == b and len(b) > 500 else 'not ok') + f' - {len(lines)} lines make the same {len(b)} files as line by line')
    return 0 if a == b else 1


if __name__ == '__main__':
    sys.exit(main())
