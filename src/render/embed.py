"""Turns text files into a C file with their bytes: embed.py OUT.c FILE... defines asset_FILE_SUFFIX and its size, and for
the scripts in pictures the hashes by which a content security policy names them.

The SVG's script is compressed, together with the style sheets that only it needs; picture-unpack.js says how.
A file that would end the CDATA section or the element around it is refused here, once, and not in each picture.
"""

import base64
import hashlib
import json
import pathlib
import re
import sys
import zlib


def c_name(name):
    return "asset_" + name.replace(".", "_").replace("-", "_")


def without_blanks(css):
    css = re.sub(rb"/\*.*?\*/", b"", css, flags=re.S)
    return re.sub(rb"\s*([{};,>])\s*", rb"\1", re.sub(rb":\s+", b":", css)).replace(b";}", b"}").strip() + b"\n"


def contents(path):
    data = path.read_bytes()
    if path.suffix == ".css":
        data = without_blanks(data)
    in_xml = path.suffix == ".css" and path.name != "picture-html.css"
    if b"]]>" in data or b"</script" in data or b"</style" in data or (in_xml and (b"<" in data or b"&" in data)):
        sys.exit(f"{path.name} cannot stand in a picture: it has ]]>, </script or </style, or < or & in a style sheet of an SVG")
    data.decode("ascii")
    return data


def c_array(name, data):
    lines = [",".join(str(byte) for byte in data[at:at + 32]) for at in range(0, len(data), 32)]
    text = "const char {0}[] = {{\n{1}\n}};\nconst size_t {0}_size = sizeof({0});\n".format(
        c_name(name), ",\n".join(lines))
    return text


def with_style(script, css):
    """A script that brings its style sheet along."""
    return (b'{const e=document.createElementNS("http://www.w3.org/2000/svg","style");e.textContent=' +
            json.dumps(css.decode()).encode() + b";document.currentScript.before(e)}" + script)


def packed(script):
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15, 9)
    stream = deflate.compress(script) + deflate.flush()
    if stream[0] & 7 != 5 or len(script) > 1 << 17:
        sys.exit("the script in an SVG is more than one block of deflate or than 128 KB, which picture-unpack.js cannot read")
    digits = bytes(c for c in range(ord("!"), 127) if chr(c) not in "&<>")
    bits, count = int.from_bytes(stream, "little"), -(-8 * len(stream) // 13)
    values = (bits >> 13 * i & 0x1fff for i in range(count))
    return b"".join(bytes((digits[v // 91], digits[v % 91])) for v in values)


def policy(*scripts):
    digests = [base64.b64encode(hashlib.sha256(script).digest()).decode() for script in scripts]
    return " ".join(f"'sha256-{digest}'" for digest in digests)


def main():
    out, *files = [pathlib.Path(name) for name in sys.argv[1:]]
    bytes_of = {path.name: contents(path) for path in files}
    style, unpack = bytes_of.pop("marks.css") + bytes_of.pop("controls.css"), bytes_of["picture-unpack.js"]
    svg, pairs = (with_style(bytes_of[name], style) for name in ("picture-svg.js", "picture-svg-pairs.js"))
    bytes_of["picture-svg.js"], bytes_of["picture-svg-pairs.js"] = packed(svg), packed(pairs)
    parts = ['#include "assets.h"\n#include "callgraph.h"\n#include "render.h"\n'] + [c_array(name, data) for name, data in bytes_of.items()]
    hashes = {"flamegraph_svg_script_hashes": [unpack, svg, pairs], "picture_svg_hashes": [unpack, svg],
              "picture_svg_pairs_hashes": [unpack, pairs], "flamegraph_html_script_hashes": [bytes_of["picture-html.js"], bytes_of["still.js"]],
              "callgraph_svg_script_hash": [b"\n" + bytes_of["callgraph.js"]]}
    for name, scripts in hashes.items():
        parts.append(f'const char {name}[] = "{policy(*scripts)}";\n')
    out.write_text("\n".join(parts))


main()
