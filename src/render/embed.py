"""Turns text files into a C file with their bytes: embed.py OUT.c FILE... defines asset_FILE_SUFFIX and its size.

A file that would end the CDATA section or the element around it is refused here, once, and not in each picture.
"""

import pathlib
import sys


def c_name(path):
    return "asset_" + path.name.replace(".", "_").replace("-", "_")


def c_array(path):
    data = path.read_bytes()
    if b"]]>" in data or (path.suffix == ".css" and (b"<" in data or b"&" in data)):
        sys.exit(f"{path.name} cannot stand in an SVG: it has ]]>, or < or & in a style sheet")
    data.decode("ascii")
    lines = [",".join(str(byte) for byte in data[at:at + 32]) for at in range(0, len(data), 32)]
    return "const char {0}[] = {{\n{1}\n}};\nconst size_t {0}_size = sizeof({0});\n".format(
        c_name(path), ",\n".join(lines))


def main():
    out, *files = [pathlib.Path(name) for name in sys.argv[1:]]
    parts = ['#include "assets.h"\n'] + [c_array(path) for path in files]
    out.write_text("\n".join(parts))


main()
