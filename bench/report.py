#!/usr/bin/env python3
"""The cost of tables and call graphs of a large profile: CPU time of strobe, and for pictures the time on the clock, which is
bounded by two seconds.

The profile is made by profile_text.c under var/bench/text, converted to Strobe's own format, and deleted afterwards. Each
figure is the least of ROUNDS=3 runs; of pictures it is the most.
"""
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
STROBE = os.environ.get('STROBE', os.path.join(ROOT, 'build', 'strobe'))
GENERATOR = os.path.join(os.environ.get('STROBE_BUILD', os.path.join(ROOT, 'build', 'meson')), 'bench', 'profile_text')
PLACE = os.path.join(ROOT, 'var', 'bench', 'text')
ROUNDS = int(os.environ.get('ROUNDS', '3'))


def measure(*arguments):
    """Returns CPU seconds, elapsed seconds, and the messages of one run of strobe."""
    begin = time.monotonic()
    child = subprocess.Popen([STROBE, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True)
    said = child.stderr.read()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f'report: strobe {" ".join(arguments)} ended with {child.returncode}: {said}')
    return used.ru_utime + used.ru_stime, time.monotonic() - begin, said


def main():
    os.makedirs(PLACE, exist_ok=True)
    folded, profile = os.path.join(PLACE, 'report.folded'), os.path.join(PLACE, 'report.strobe')
    picture = os.path.join(PLACE, 'report.svg')
    with open(folded, 'wb') as out:
        subprocess.run([GENERATOR, 'folded', '20000', '20000', '30', '80'], stdout=out, check=True)
    subprocess.run([STROBE, 'convert', folded, '-o', profile], check=True, stderr=subprocess.DEVNULL)
    with open(folded, encoding='utf-8', errors='replace') as f:
        function = f.readline().split(';')[3]
    only = min(measure('convert', profile, '-o', picture + '.strobe')[0] for _ in range(ROUNDS))
    print(f'reading and writing it again\t{only:.2f}\ts\tof 20,000 stacks, 30 to 80 deep', flush=True)
    for name, arguments in (('report', []), ('report --callers --callees', ['--callers', function, '--callees', function]),
                            ('report --by namespace', ['--by', 'namespace']), ('report --csv -n 0', ['--csv', '-n', '0'])):
        least = min(measure('report', profile, *arguments)[0] for _ in range(ROUNDS))
        print(f'strobe {name}\t{least:.2f}\ts', flush=True)
    for name, arguments in (('callgraph', []), ('callgraph --nodes 1000', ['--nodes', '1000', '--threshold', '0']),
                            ('callgraph --nodes 5000', ['--nodes', '5000', '--threshold', '0'])):
        dot = min(measure('callgraph', profile, '-q', '-o', picture + '.dot', *arguments)[0] for _ in range(ROUNDS))
        _, clock, said = max((measure('callgraph', profile, '-o', picture, *arguments) for _ in range(ROUNDS)), key=lambda m: m[1])
        remark = f'on the clock, with reading; {dot:.2f} s of CPU without laying out'
        print(f'strobe {name}\t{clock:.2f}\ts\t{remark}{"; drawn with fewer functions" if "so the picture shows" in said else ""}', flush=True)
    for path in (folded, profile, picture, picture + '.dot', picture + '.strobe'):
        os.unlink(path)


main()
