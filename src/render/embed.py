"""Turns text files into a C file with their bytes: embed.py OUT.c FILE... defines asset_FILE_SUFFIX and its size, and for
picture-KIND.js the hash by which a content security policy names it.

A file that would end the CDATA section or the element around it is refused here, once, and not in each picture.
"""

import base64
import hashlib
import pathlib
import re
import sys

# What stands between the tags and the script: see put_script in flamegraph.c and html.c.
BEFORE_SCRIPT = {"picture-svg.js": b"\n", "picture-html.js": b""}


def c_name(path):
    return "asset_" + path.name.replace(".", "_").replace("-", "_")


def without_blanks(css):
    css = re.sub(rb"/\*.*?\*/", b"", css, flags=re.S)
    return re.sub(rb"\s*([{};,>])\s*", rb"\1", re.sub(rb":\s+", b":", css)).replace(b";}", b"}").strip() + b"\n"


def contents(path):
    data = path.read_bytes()
    if path.suffix == ".css":
        data = without_blanks(data)
    if b"]]>" in data or b"</script" in data or (path.suffix == ".css" and (b"<" in data or b"&" in data)):
        sys.exit(f"{path.name} cannot stand in a picture: it has ]]> or </script, or < or & in a style sheet")
    data.decode("ascii")
    return data


def c_array(path):
    data = contents(path)
    lines = [",".join(str(byte) for byte in data[at:at + 32]) for at in range(0, len(data), 32)]
    text = "const char {0}[] = {{\n{1}\n}};\nconst size_t {0}_size = sizeof({0});\n".format(
        c_name(path), ",\n".join(lines))
    if path.name in BEFORE_SCRIPT:
        digest = base64.b64encode(hashlib.sha256(BEFORE_SCRIPT[path.name] + data).digest()).decode()
        kind = path.stem.removeprefix("picture-")
        text += f'const char flamegraph_{kind}_script_hash[] = "sha256-{digest}";\n'
    return text


def main():
    out, *files = [pathlib.Path(name) for name in sys.argv[1:]]
    parts = ['#include "assets.h"\n#include "render.h"\n'] + [c_array(path) for path in files]
    out.write_text("\n".join(parts))


main()
