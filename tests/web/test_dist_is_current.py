#!/usr/bin/env python3
"""web/dist is committed, so it must be what the sources give: test_dist_is_current.py

Always: the hash of the sources is the one that dist was built from, and the sizes are within their limits. Where node
and npm are there, dist is built again in a temporary folder and compared byte for byte.
"""

import gzip
import os
import shutil
import subprocess
import sys
import tempfile

WEB = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'web')
DIST = os.path.join(WEB, 'dist')
ALL_BYTES, PLAIN_BYTES = 80 * 1024, 45 * 1024
failed = False


def result(good, sentence, *notes):
    global failed
    failed |= not good
    for note in notes if not good else ():
        print('# ' + note)
    print(('ok - ' if good else 'not ok - ') + sentence)


def read(path):
    with open(path, 'rb') as f:
        return f.read()


def packed(name):
    return len(gzip.compress(read(os.path.join(DIST, name)), 9))


def check_hash():
    now = subprocess.run([sys.executable, os.path.join(WEB, 'source_hash.py')], capture_output=True, text=True, check=True)
    built = read(os.path.join(DIST, 'SOURCE_HASH')).decode().strip()
    result(now.stdout.strip() == built, 'web/dist was built from the current sources', 'run sh web/build.sh')


def check_sizes():
    plain = packed('app.js') + packed('match.js') + packed('app.css')
    everything = sum(packed(name) for name in os.listdir(DIST) if not name.startswith('picture-'))
    result(plain <= PLAIN_BYTES, 'the page without its chart is at most 45 KB compressed', '%d bytes' % plain)
    result(everything <= ALL_BYTES, 'the whole page is at most 80 KB compressed', '%d bytes' % everything)


def check_lock():
    lock = read(os.path.join(WEB, 'package-lock.json')).decode()
    result('"resolved"' not in lock, 'package-lock.json names no registry')


def why_no_build():
    for program in 'node', 'npm':
        if not shutil.which(program):
            return '%s is not installed' % program
    version = subprocess.run(['node', '-p', 'process.versions.node'], capture_output=True, text=True).stdout.strip()
    if tuple(int(n) for n in version.split('.')[:2]) < (20, 19):
        return 'node %s is older than 20.19' % version
    return None


def check_build():
    sentence = 'rebuilding web/dist gives the same bytes'
    why = why_no_build()
    if why:
        print('skip - %s: %s' % (sentence, why))
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, 'web')
        shutil.copytree(WEB, copy, ignore=shutil.ignore_patterns('node_modules', 'dist'))
        install = subprocess.run(['npm', 'ci', '--no-audit', '--no-fund', '--loglevel=error'], cwd=copy,
                                 capture_output=True, text=True)
        if install.returncode:
            print('skip - %s: npm could not install the packages: %s' % (sentence, install.stderr.strip()[:160].replace('\n', ' ')))
            return
        build = subprocess.run(['sh', 'build.sh'], cwd=copy, capture_output=True, text=True)
        if build.returncode:
            result(False, sentence, *build.stderr.splitlines()[-10:], *build.stdout.splitlines()[-10:])
            return
        here, there = sorted(os.listdir(DIST)), sorted(os.listdir(os.path.join(copy, 'dist')))
        differ = [n for n in here if n in there and read(os.path.join(DIST, n)) != read(os.path.join(copy, 'dist', n))]
        result(here == there and not differ, sentence, 'files: %s, built: %s' % (here, there), 'different: %s' % differ)


check_hash()
check_sizes()
check_lock()
check_build()
sys.exit(1 if failed else 0)
