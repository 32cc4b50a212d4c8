#!/usr/bin/env python3
"""Writes a C file with a script for Redis: embed_script.py OUT.c FILE defines forward_script, its size, and the SHA-1 in hexadecimal by
which EVALSHA names it. Comments and blank lines are left out."""

import hashlib
import pathlib
import sys

out, path = sys.argv[1:]
lines = pathlib.Path(path).read_text(encoding='utf-8').split('\n')
script = '\n'.join(line.strip() for line in lines if line.strip() and not line.strip().startswith('--'))
data = script.encode('ascii')
rows = [','.join(str(byte) for byte in data[at:at + 32]) for at in range(0, len(data), 32)]
pathlib.Path(out).write_text('#include "forward_script.h"\n\nconst char forward_script[] = {\n%s\n};\n'
                             'const size_t forward_script_size = sizeof(forward_script);\nconst char forward_script_sha1[] = "%s";\n'
                             % (',\n'.join(rows), hashlib.sha1(data).hexdigest()), encoding='ascii')
