#!/usr/bin/env python3
"""Reads --help of every command: one line per option, and one placeholder per meaning."""
import os
import re
import subprocess

STROBE = os.environ['STROBE']
COLUMN = 28             # texts of options begin here or further right
WIDTH = 80

# Options whose name means something else in another command, each with all its placeholders.
SEVERAL = {
    '--from': {'FORMAT', 'TIME', 'URL'},
    '--to': {'TIME', 'URL'},
}
# Letters of more than one option: the ones that other tools or habits fix. `-n N` is how many are listed elsewhere.
LETTERS = {
    '-a': {'--all', '--all-columns'},
    '-c': {'--calls', '--config'},              # stackcollapse-xdebug.php
    '-n': {'--native', '--rows', ''},           # of `strobe record`; difffolded.pl
    '-s': {'--sort', '--strip-hex'},            # perf report; difffolded.pl
    '-u': {'--url', '--user'},                  # of `strobe record`
}
# Options that take a value in some commands only.
VALUE_OR_FLAG = {'--context': 'stackcollapse-perf.pl has a flag, annotate a number', '--pid': 'stackcollapse-perf.pl has a flag, perf record a number'}
# Placeholders that another one took the place of.
FORMER = {'DIRECTORY', 'KEY=VALUE', 'SECONDS', 'LINES', 'MB', 'ROWS', 'WHAT', 'WHICH', 'HOW', 'OUT', 'ADDRESS', 'SOCKET', 'PATTERN'}
# Placeholders with their meanings: a new one is another meaning, and a meaning has only one.
MEANINGS = {
    'A:B': 'part of a chart, in fractions or times', 'CGROUP': 'path of a cgroup', 'CHANGES:FILE': 'options, and the file of a picture',
    'CIDR': 'address or network', 'CLOCK': 'wall or cpu', 'COLOR': 'color of a background', 'COLUMN': 'column of a profile',
    'COMMAND': 'command line', 'DAYS': 'number of days', 'DIR': 'path of a directory', 'DURATION': 'number with a unit of time',
    'ENCODING': 'encoding of an SVG', 'EVENT': 'event of perf', 'FILE': 'path of a file, or -', 'FONT': 'name of a font',
    'FORMAT': 'format of profiles', 'FUNCTION': 'name of a function, or a unique part', 'GLOB': 'pattern with * and ?',
    'GROUP': 'rows or colors by this', 'HEADER': 'name of an HTTP header', 'HOST': 'name of a host', 'HOST:PORT': 'address to listen on',
    'HZ': 'samples per second', 'ID': 'id of a run or a container', 'KEY': 'order of rows', 'LABEL': 'name of a label',
    'LABEL=VALUE': 'a label', 'LANGUAGE': 'language of frames', 'MIN,MAX': 'range of seconds', 'MODE': 'one of several ways', 'N': 'number',
    'NAME': 'identifier of a source, entry point or channel', 'NAME=FUNCTION': 'name of a picture, and a function', 'N[%]': 'width',
    'PALETTE': 'color palette', 'PERCENT': 'percentage', 'PERIOD': 'step of a time series', 'PID': 'process ID', 'PX': 'pixels',
    'REGEX': 'regular expression', 'RULE': 'rule of a label', 'SIZE': 'bytes, with K, M or G',
    'TEXT': 'any text', 'TIME': 'point in time', 'URL': 'source, sink, store or page', 'USER': 'name of a user',
    'W,W,...': 'weights of profiles', '[PERIOD=]FILE': 'file of a period',
}


def told(wrong, sentence):
    print(f'{"not ok" if wrong else "ok"} - {sentence}' + ''.join(f'\n# {w}' for w in wrong))


def output(*words):
    return subprocess.run([STROBE, *words], capture_output=True, text=True, check=True).stdout


def commands():
    return re.findall(r'^  ([a-z]+) {2,}', output('--help'), re.M)


def entries(text):
    """The options of a help: form, and the lines of its text."""
    found = []
    for line in text.split('\n'):
        option = re.match(r' {2}(?:-\w, | {4})?(-{1,2}[a-zA-Z][\w-]*.*)$', line)
        if option:
            form, _, rest = option.group(1).partition('  ')
            found.append((form.strip(), [rest.strip()]))
        elif found and line.startswith(' ' * COLUMN):
            found[-1][1].append(line.strip())
    return found


def letters(known):
    """The long names of each letter, "" if it has none."""
    found = {}
    for command in known:
        for letter, name in re.findall(r'^  (-\w)(?:, (--[\w-]+))?', output(command, '--help'), re.M):
            found.setdefault(letter, set()).add(name)
    return found


def with_and_without_value(known):
    """Options that take a value in one command and none in another."""
    found = {}
    for command in known:
        for form, _ in entries(output(command, '--help')):
            name, _, value = form.partition(' ')
            found.setdefault(name, set()).add(bool(value))
    return {name for name, values in found.items() if len(values) > 1}


def placeholders(known):
    """The placeholders of each long option, with a command for each."""
    found = {}
    for command in known:
        for form, _ in entries(output(command, '--help')):
            option = re.match(r'(--[\w-]+) (\S.*)$', form)
            if option:
                found.setdefault(option.group(1), {})[option.group(2)] = command
    return found


def main():
    known = commands()
    texts = {command: output(command, '--help') for command in known}
    told([f'only {len(known)} commands'] * (len(known) < 15) + [f'{c}: {form}: {lines}' for c in known for form, lines in entries(texts[c]) if len(lines) != 1 or not lines[0]],
         'every option in --help is described on one line')
    told([f'{c}: {line}' for c in known for line in texts[c].split('\n') if len(line) > WIDTH],
         f'no line of a --help is wider than {WIDTH} columns')
    told([f'{c}: {line}' for c in known for line in texts[c].split('\n\n')[0].split('\n') if line.count('[') != line.count(']')],
         'Usage lines do not break within brackets')
    told([f'{c}: {p}' for c in known for form, _ in entries(texts[c]) if (p := form.partition(' ')[2]) and p not in MEANINGS],
         'every placeholder has one meaning, listed in this test')
    told([f'{p}' for p in MEANINGS if not any(form.endswith(f' {p}') for c in known for form, _ in entries(texts[c]))],
         'every placeholder listed in this test is in use')
    told([f'{option}: {values}' for option, values in placeholders(known).items() if len(values) > 1 and set(values) != SEVERAL.get(option)],
         'an option has the same placeholder in all commands')
    told([f'{letter}: {names}' for letter, names in letters(known).items() if len(names) > 1 and names != LETTERS.get(letter)],
         'a letter stands for the same option in all commands, except where another tool defines it')
    told(sorted(with_and_without_value(known) ^ set(VALUE_OR_FLAG)), 'an option takes a value in all commands or in none')
    told([line for line in texts['convert'].partition('\nFormats:\n')[2].partition('\n\n')[0].split('\n') if not re.match(r'[a-z-]+ \((read|written|read, written)\): .*\.$', line)],
         'every format in convert --help is described on one line')
    told([f'{c}: {form}' for c in known for form, _ in entries(texts[c]) if set(form.split()) & FORMER],
         'no option uses a placeholder that has been replaced')


if __name__ == '__main__':
    main()
