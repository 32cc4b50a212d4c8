#!/usr/bin/env python3
"""Prints one hash of everything that web/dist is built from."""

import hashlib
import os

ALONE = ['build.sh', 'package.json', 'package-lock.json', 'tsconfig.json', 'vite.config.js', 'vite.picture.config.js']


def sources():
    found = list(ALONE)
    for folder, _, names in os.walk('src'):
        found += [os.path.join(folder, name) for name in names]
    return sorted(found)


def main():
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    h = hashlib.sha256()
    for path in sources():
        with open(path, 'rb') as f:
            h.update(hashlib.sha256(f.read()).hexdigest().encode() + b'  ' + path.encode() + b'\n')
    print(h.hexdigest())


main()
