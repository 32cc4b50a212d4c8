#!/usr/bin/env python3
"""Instructions per call with the extension loaded and off: they must be those of PHP without it.

callgrind counts exactly: two runs that differ only in the number of calls give the instructions of one call.
"""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
EXTENSION = os.environ.get('STROBE_EXTENSION', os.path.join(os.path.dirname(HERE), 'build', 'strobe.so'))
PHP = os.environ.get('PHP', 'php')
CODE = {
    'userland call': '<?php function f($x) { return $x + 1; } for ($i = 0, $n = (int)$argv[1]; $i < $n; $i++) f($i);',
    'method call': '<?php class C { function f($x) { return $x + 1; } } $c = new C; '
                   'for ($i = 0, $n = (int)$argv[1]; $i < $n; $i++) $c->f($i);',
    'internal call': '<?php for ($i = 0, $n = (int)$argv[1]; $i < $n; $i++) abs($i);',
}


def instructions(script, calls, loaded):
    command = ['valgrind', '--tool=callgrind', '--callgrind-out-file=/dev/null', PHP, '-n']
    if loaded:
        command += ['-d', f'extension={EXTENSION}']
    out = subprocess.run(command + [script, str(calls)], capture_output=True, text=True, check=True).stderr
    return int(re.search(r'Collected : (\d+)', out).group(1))


def per_call(script, loaded):
    few, many = 10_050, 50_250
    return (instructions(script, many, loaded) - instructions(script, few, loaded)) / (many - few)


def main():
    worst = 0
    with tempfile.TemporaryDirectory() as directory:
        for name, code in CODE.items():
            script = os.path.join(directory, 'calls.php')
            with open(script, 'w') as f:
                f.write(code)
            without, loaded = per_call(script, False), per_call(script, True)
            worst = max(worst, abs(loaded - without))
            print(f'instructions per {name}, without Strobe\t{without:.2f}\tinstructions')
            print(f'instructions per {name}, loaded and off\t{loaded:.2f}\tinstructions')
    # A tenth of an instruction means one in ten calls: the remaining difference is the growth of tables during
    # startup.
    sys.exit(1 if worst > 0.1 else 0)


main()
