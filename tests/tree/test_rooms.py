#!/usr/bin/env python3
"""Compares ARCHITECTURE.md's map of folders and headers with the tree."""
import collections
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PLACES = ('src', 'extension', 'wire', 'bench', 'tests')


def folders(*below):
    """Folders with sources of their own, such as src/collect/redis."""
    found = []
    for place in below:
        for path, directories, files in os.walk(os.path.join(ROOT, place)):
            directories[:] = [d for d in directories if d not in ('corpus', 'node_modules', '.libs')]
            if any(f.endswith(('.c', '.h')) for f in files):
                found.append(os.path.relpath(path, ROOT))
    return sorted(found)


def headers():
    places = collections.defaultdict(list)
    for folder in folders(*PLACES):
        for name in os.listdir(os.path.join(ROOT, folder)):
            if name.endswith('.h'):
                places[name].append(folder)
    return places


def on_the_map():
    """The first cells of the tables, and what the second ones name below them: `resp/`, `perf/`."""
    with open(os.path.join(ROOT, 'ARCHITECTURE.md'), encoding='utf-8') as f:
        rows = re.findall(r'^\| `([\w/]+)/` \| ([^|]*)', f.read(), re.M)
    places = set()
    for name, text in rows:
        room = name if os.path.isdir(os.path.join(ROOT, name)) else f'extension/{name}'
        places.add(room)
        below = f'{room}/src' if room == 'web' else room
        places |= {f'{below}/{part}' for part in re.findall(r'`(\w+)/`', text)}
    return places


def told(condition, sentence, why):
    print(f'{"ok" if condition else "not ok"} - {sentence}' + ('' if condition else f'\n# {why}'))


def main():
    twice = {name: where for name, where in headers().items() if len(where) > 1}
    told(not twice, 'header names are unique', twice)
    rooms = [f for f in folders('src', 'extension') if f not in ('extension', 'extension/tests')]
    told(len(rooms) > 20 and set(rooms) <= on_the_map(), 'ARCHITECTURE.md lists every folder', sorted(set(rooms) - on_the_map()))
    gone = [p for p in on_the_map() if not os.path.isdir(os.path.join(ROOT, p))]
    told(not gone, 'every folder in ARCHITECTURE.md exists', gone)
    others = [n for n in os.listdir(os.path.join(ROOT, 'src/cli'))
              if not re.fullmatch(r'cmd_\w+\.c|main\.c|commands\.h|meson\.build', n)]
    told(not others, 'src/cli contains only commands', others)


if __name__ == '__main__':
    main()
