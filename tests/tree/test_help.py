#!/usr/bin/env python3
"""Reads --help of every command: one line per option, and one placeholder per meaning."""
import os
import re
import subprocess

STROBE = os.environ['STROBE']
COLUMN = 28             # texts of options begin here
WIDTH = 80

# Options whose name means something else in another command, each with all its placeholders.
SEVERAL = {
    '--by': {'GROUP', 'KEY'},
    '--from': {'FORMAT', 'TIME', 'URL'},
    '--function': {'FUNCTION', 'REGEX'},
    '--label': {'LABEL', 'LABEL=VALUE'},
    '--to': {'SOCKET', 'TIME', 'URL'},
}
# Placeholders that another one took the place of.
FORMER = {'DIRECTORY', 'KEY=VALUE', 'LINES', 'MB', 'ROWS', 'WHAT', 'WHICH', 'HOW'}


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
            found.append((form.strip(), [rest.strip()] if rest else []))
        elif found and line.startswith(' ' * COLUMN):
            found[-1][1].append(line.strip())
    return found


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
    told([f'only {len(known)} commands'] * (len(known) < 15) + [f'{c}: {form}: {lines}' for c in known for form, lines in entries(texts[c]) if len(lines) != 1],
         'each option of each --help has one line of text')
    told([f'{c}: {line}' for c in known for line in texts[c].split('\n') if len(line) > WIDTH],
         f'no line of a --help is wider than {WIDTH} columns')
    told([f'{option}: {values}' for option, values in placeholders(known).items() if len(values) > 1 and set(values) != SEVERAL.get(option)],
         'an option has the same placeholder in all commands')
    told([f'{c}: {form}' for c in known for form, _ in entries(texts[c]) if set(form.split()) & FORMER],
         'no option has a placeholder that another one took the place of')


if __name__ == '__main__':
    main()
