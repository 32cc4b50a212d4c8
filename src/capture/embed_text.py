#!/usr/bin/env python3
"""Writes a C file with the bytes of a text: embed_text.py NAME OUT.c FILE defines NAME and NAME_size."""

import pathlib
import sys

name, out, path = sys.argv[1:]
data = pathlib.Path(path).read_bytes()
lines = [",".join(str(byte) for byte in data[at:at + 32]) for at in range(0, len(data), 32)]
pathlib.Path(out).write_text("#include <stddef.h>\n\nextern const char {0}[];\nextern const size_t {0}_size;\n\n"
                             "const char {0}[] = {{\n{1}\n}};\nconst size_t {0}_size = sizeof({0});\n"
                             .format(name, ",\n".join(lines)))
