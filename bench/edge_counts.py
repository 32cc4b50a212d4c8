#!/usr/bin/env python3
"""usage: bench/edge_counts.py [--extension SO]

Compares the counts of all pairs of caller and callee with those of the original: Twig renders templates and Composer writes
its class map, each once under Debian's php-tideways and once under Strobe that stands in for it. Prints how many pairs
and calls are equal; ends with status 1, the differences on standard error, if any is not.

Debian's packages of both libraries and of what they need are unpacked under var/bench/peers; nothing is installed.
Missing packages are reported, and are no failure.

The original counts internal functions twice on PHP 8.2, unless it is started with NO_BUILTINS: then once, and not never.
It drops main() as a caller. So its NO_BUILTINS is compared with our 0, and pairs of main() by their callee alone. It
always compiles strlen() and the like as calls, as strobe.compat_builtins does.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

import peers

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARIES = {'twig': ('Twig', 'php-twig'), 'composer': ('Composer', 'composer')}
MODULES = ['ctype', 'mbstring', 'tokenizer', 'phar', 'iconv', 'intl']
API = 'tideways_xhprof'
NO_BUILTINS = 8
# Neither Git, the network, the terminal nor chance may affect Composer (it randomly cleans its cache in one of fifty
# runs).
ENVIRONMENT = {'COMPOSER_ROOT_VERSION': '1.0.0', 'COMPOSER_ALLOW_SUPERUSER': '1', 'COLUMNS': '80', 'LINES': '24',
               'SHELL_INTERACTIVE': '0', 'COMPOSER_DISABLE_NETWORK': '1',
               'COMPOSER_TEST_SUITE': '1'}


def packages(wanted):
    """The package and all PHP code that it requires, as for a machine without any."""
    with tempfile.NamedTemporaryFile() as nothing:
        r = subprocess.run(['apt-get', 'install', '-s', '--no-install-recommends', '-o', f'Dir::State::status={nothing.name}', wanted],
                           capture_output=True, text=True)
    names = re.findall(r'^Inst (\S+)', r.stdout, re.M)
    modules = {f'php-{m}' for m in MODULES} | {'php-common', 'php-cli'}
    return [n for n in names if re.match(r'php-|jsonlint$', n) and n not in modules] + [wanted] if names else []


def library(name):
    """Returns the folder with its code, or None."""
    share = os.path.join(peers.DIRECTORY, 'usr', 'share')
    _, package = LIBRARIES[name]
    done = os.path.join(peers.DIRECTORY, f'.{package}')
    if os.path.exists(done):
        return share
    try:
        needed = packages(package)
    except OSError as e:
        return peers.say(f'{name} is not traced: {e}')
    if not needed:
        return peers.say(f'{name} is not traced: apt knows no package {package}')
    os.makedirs(peers.DIRECTORY, exist_ok=True)
    for p in dict.fromkeys(needed):
        why = peers.unpack(p, peers.DIRECTORY)
        if why:
            return peers.say(f'{name} is not traced: {p}: {why}')
    open(done, 'w').close()
    return share


def modules():
    options = []
    for m in MODULES:
        if peers.php_says(f'(int)extension_loaded("{m}")') != '1':
            options += ['-d', f'extension={m}']
    return options


def make_project(directory):
    os.makedirs(f'{directory}/src')
    with open(f'{directory}/composer.json', 'w') as f:
        json.dump({'name': 'a/b', 'autoload': {'psr-4': {'App\\': 'src/'}, 'classmap': ['src/']}}, f)
    for i in range(20):
        with open(f'{directory}/src/Class{i}.php', 'w') as f:
            f.write(f'<?php namespace App; abstract class Class{i} {{ abstract function f(); }} interface Of{i} {{}}\n')


def record(name, share, options, flags):
    """Returns pairs and counts, without the different names of main() and without the numbers of template classes."""
    # The same path for both, since the work depends on its length.
    with tempfile.TemporaryDirectory() as parent:
        directory = os.path.join(parent, 'project')
        make_project(directory)
        result = os.path.join(parent, 'result')
        r = subprocess.run([peers.PHP, '-n', *modules(), *options, f'{HERE}/edge_counts.php', name, API, str(flags), result, share],
                           cwd=directory, env={**os.environ, **ENVIRONMENT, 'HOME': parent, 'COMPOSER_HOME': parent},
                           stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if not os.path.exists(result):
            said = (r.stdout + r.stderr).strip().splitlines() or ['it said nothing']
            sys.exit(f'{name} with {" ".join(options)} ended with status {r.returncode}: {said[0]}')
        with open(result) as f:
            found = json.load(f)
    counts = {}
    for pair, count in found.items():
        pair = re.sub(r'(__TwigTemplate_[0-9a-f]{32}___)\d+', r'\1N', pair.removeprefix('main()==>'))
        counts[pair] = counts.get(pair, 0) + count
    return counts


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n\n')[1], allow_abbrev=False)
    p.add_argument('--extension', default=os.environ.get('STROBE_EXTENSION', os.path.join(peers.ROOT, 'build', 'strobe.so')))
    o = p.parse_args()
    original = peers.peer(API)
    well = True
    for name, (title, _) in LIBRARIES.items():
        share = original and library(name)
        if not share:
            continue
        theirs = record(name, share, ['-d', f'extension={original}'], NO_BUILTINS)
        ours = record(name, share, ['-d', f'extension={os.path.abspath(o.extension)}', '-d', f'strobe.compat={API}',
                                    '-d', 'strobe.compat_builtins=1'], 0)
        wrong = sorted(pair for pair in {*theirs, *ours} if theirs.get(pair) != ours.get(pair))
        for pair in wrong[:20]:
            print(f'# {title}: {pair}: {theirs.get(pair, 0)} calls with the original, {ours.get(pair, 0)} with Strobe', file=sys.stderr)
        print(f'{title}: pairs of caller and callee with the count of {API}\t{len(theirs) - len(wrong)}\tof {len(theirs)}\t'
              f'{sum(theirs.values())} calls', flush=True)
        well = well and not wrong
    return 0 if well else 1


if __name__ == '__main__':
    sys.exit(main())
