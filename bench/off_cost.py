#!/usr/bin/env python3
"""The added cost of a call when Strobe is loaded and nothing is traced, with and without the call observer, on the PHP that
is installed and on that of Debian 13 (a chroot that the tests made, var/test/trixie; needs root): interpreted, with opcache,
and with its tracing JIT. CPU time as in trace_cost.py.
"""
import os
import shutil
import subprocess
import sys

import peers
import trace_cost
from trace_cost import KINDS, SENTENCES, Variant

HERE = os.path.dirname(os.path.abspath(__file__))
EXTENSION = os.environ.get('STROBE_EXTENSION', os.path.join(peers.ROOT, 'build', 'strobe.so'))
ROUNDS = int(os.environ.get('ROUNDS', '7'))
CHROOT = os.environ.get('STROBE_CHROOT', os.path.join(peers.ROOT, 'var', 'test', 'trixie'))
OPCACHE = ['-d', 'zend_extension=opcache', '-d', 'opcache.enable_cli=1']
JIT = OPCACHE + ['-d', 'opcache.jit=tracing', '-d', 'opcache.jit_buffer_size=64M']
WAYS = {'interpreter': [], 'opcache': OPCACHE, 'JIT': JIT}


def places():
    """(name, command that runs PHP, folder of the script, path of strobe.so)."""
    version = peers.php_says('PHP_MAJOR_VERSION, ".", PHP_MINOR_VERSION')
    yield f'PHP {version}', [peers.PHP], HERE, EXTENSION
    inside = '/srv/strobe/build/php8.4/strobe.so'
    if os.geteuid() != 0 or not os.path.exists(CHROOT + inside):
        peers.say(f'PHP 8.4 is not measured: there is no {CHROOT}{inside}, or no right to enter it (`make test TESTS=chroot` makes it)')
        return
    shutil.copy(os.path.join(HERE, 'trace_cost.php'), CHROOT + '/srv/strobe/trace_cost.php')
    yield 'PHP 8.4', ['chroot', CHROOT, 'php8.4'], '/srv/strobe', inside


def main():
    kinds = sys.argv[1:] or KINDS
    for place, php, folder, extension in places():
        for way, settings in WAYS.items():
            load = settings + ['-d', f'extension={extension}']
            chosen = [Variant('none', settings, 'none'), Variant('instrument=0', load + ['-d', 'strobe.instrument=0'], 'off'),
                      Variant('instrument=1', load + ['-d', 'strobe.instrument=1'], 'off')]
            if not trace_cost.run(trace_cost.command(php, chosen[0], 'calls', 1000, 1, folder)):
                peers.say(f'{place}, {way}: it does not run')
                continue
            for kind in kinds:
                ns = trace_cost.measure(php, chosen, kind, ROUNDS, 2_000_000, folder)
                for v in chosen[1:]:
                    least, median, _ = trace_cost.cells(ns, v.name)
                    print(f'off, {place}, {way}, one {SENTENCES[kind]}: {v.name}\t{least:.1f}\tns\t(median {median:.1f})', flush=True)


main()
