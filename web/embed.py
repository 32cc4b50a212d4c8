#!/usr/bin/env python3
"""Writes a C file that holds the built web files, compressed: embed.py OUT.c FILE…

The same files always give the same bytes: no time, no name and no level that differs between versions of zlib stands
in the gzip header.
"""

import gzip
import hashlib
import os
import sys

TYPES = {
    '.css': 'text/css; charset=utf-8',
    '.js': 'text/javascript; charset=utf-8',
    '.svg': 'image/svg+xml',
}


def c_bytes(data):
    lines = []
    for i in range(0, len(data), 32):
        lines.append('\t' + ','.join(str(b) for b in data[i:i + 32]) + ',')
    return '\n'.join(lines)


def main():
    out, files = sys.argv[1], sorted(sys.argv[2:], key=os.path.basename)
    names, arrays, rows = hashlib.sha256(), [], []

    for i, path in enumerate(files):
        name = os.path.basename(path)
        with open(path, 'rb') as f:
            data = f.read()
        names.update(name.encode() + b'\0' + len(data).to_bytes(8, 'little') + data)
        packed = gzip.compress(data, 9, mtime=0)
        arrays.append('static const unsigned char asset_%d[] = {\n%s\n};\n' % (i, c_bytes(packed)))
        rows.append('\t{ "%s", "%s", asset_%d, sizeof(asset_%d), %d },\n'
                    % (name, TYPES[os.path.splitext(name)[1]], i, i, len(data)))

    with open(out, 'w') as f:
        f.write('/* Made by web/embed.py from web/dist. */\n\n#include "web_assets.h"\n\n')
        f.write('const char assets_hash[] = "%s";\n\n' % names.hexdigest()[:16])
        f.write('\n'.join(arrays))
        f.write('\nconst struct asset assets[] = {\n%s\t{ 0 },\n};\n' % ''.join(rows))


main()
