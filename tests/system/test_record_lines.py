"""Executed lines, from a PHP or Perl process through recording, file, daemon and store to `strobe annotate`. The cost
of each line follows from how often it runs, so only the order and the places of lines are checked."""
import json
import os
import shutil
import subprocess
import urllib.request

from daemon import Daemon
from recording import Php, record
from strobe_test import STROBE, Directory, Skip, check, main, test, wait_for

# Line 10 has a quarter of line 11's work; nothing runs on lines 1 and 8. Functions begin on lines 2, where $n is received, and 9.
PHP = '''<?php
function leaf(int $n): int {
	$x = 0;
	for ($i = 0; $i < $n; $i++) {
		$x ^= $i * 31;
	}
	return $x;
}
function caller(): int {
	$a = leaf(2000);
	$b = leaf(8000);
	return $a ^ $b;
}
echo "ready\\n";
while (true) {
	caller();
}
'''
LINES = {'leaf': {2, 3, 4, 5, 7}, 'caller': {9, 10, 11, 12}, 'main': {15, 16}}
STARTS = {'leaf': 2, 'caller': 9}
# Lines 8 and 9 evaluate code that differs in the line alone. Line 10's exception destroys a variable.
ODD = '''<?php
class Bag {
	function __destruct() { for ($i = 0; $i < 3000; $i++); }
}
function throws() { $bag = new Bag; throw new Exception; }
echo "ready\\n";
while (true) {
	eval('for ($i = 0; $i < 3000; $i++);');
	eval('for ($i = 0; $i < 3000; $i++);');
	try { throws(); }
	catch (Exception $e) { }
}
'''
PERL = '''sub leaf {
	my $x = 0;
	for my $i (1 .. $_[0]) {
		$x ^= $i * 31;
	}
	return $x;
}
sub caller_of {
	leaf(2000);
	leaf(8000);
}
$| = 1;
print "ready\\n";
while (1) {
	caller_of();
}
'''


def strobe(*args):
    return subprocess.run([os.path.abspath(STROBE), *map(str, args)], capture_output=True, text=True, timeout=60)


def speedscope(path_or_text):
    """[(stack of (name, file, executed line, start), value)] of a file with lines, from any writer."""
    text = path_or_text
    if not text.startswith('{'):
        r = strobe('convert', path_or_text, '-f', 'speedscope', '--column', 'samples')
        check(r.returncode == 0, r.stderr)
        text = r.stdout
    d = json.loads(text)
    check('strobe_starts' in d, 'the profile has executed lines')
    frames = [(f['name'], f.get('file', ''), f.get('line', 0), start) for f, start in zip(d['shared']['frames'], d['strobe_starts'])]
    p = d['profiles'][0]
    return [([frames[f] for f in stack], n) for stack, n in zip(p['samples'], p['weights'])]


def check_php(stacks, script):
    calls = {10: 0, 11: 0}
    for stack, n in stacks:
        for name, file, line, start in stack:
            kind = 'main' if name == script else name
            if kind not in LINES:
                continue
            # 0 is a frame that was just being entered.
            check(line in LINES[kind] | {0}, f'a line of {name}: {line}')
            check(start == STARTS.get(kind, start), f'{name} begins at {start}')
            if kind == 'caller' and line in calls and stack[-1][0] != 'caller':
                calls[line] += n
    check(calls[11] > calls[10] > 0, f'both calls, the longer one with more samples: {calls}')


@test
def executed_lines_are_kept_in_every_format():
    with Directory() as d, Php(d, PHP) as php:
        r = record('-p', php.process.pid, '-F', 999, '-d', 1, '-o', f'{d}/out.strobe')
        check(r.returncode == 0, r.stderr)
        check_php(speedscope(f'{d}/out.strobe'), php.path)
        for form in ('pb.gz', 'speedscope.json'):
            check(strobe('convert', f'{d}/out.strobe', '-o', f'{d}/out.{form}').returncode == 0, form)
            check_php(speedscope(f'{d}/out.{form}'), php.path)
        # By function there is one frame each, as ever.
        check('caller;leaf' in strobe('collapse', f'{d}/out.strobe').stdout, 'folded')
        r = record('-p', php.process.pid, '-F', 999, '-d', 1, '--no-lines', '-o', f'{d}/plain.json')
        with open(f'{d}/plain.json', encoding='utf-8') as f:
            check('strobe_starts' not in json.load(f), '--no-lines')


@test
def eval_code_and_destructors_are_attributed_to_their_source_lines():
    with Directory() as d, Php(d, ODD) as php:
        r = record('-p', php.process.pid, '-F', 999, '-d', 1, '--lang', 'php', '-o', f'{d}/out.strobe')
        check(r.returncode == 0, r.stderr)
        callers = {}
        for stack, _ in speedscope(f'{d}/out.strobe'):
            for (_, _, line, _), (name, *_) in zip(stack, stack[1:]):
                callers.setdefault(name, set()).add(line)
        # 0 is a frame that was just being entered.
        check(callers[f"{php.path}(8) : eval()'d code"] <= {0, 8}, callers)
        check(callers[f"{php.path}(9) : eval()'d code"] <= {0, 9}, callers)
        check(callers['Bag::__destruct'] <= {0, 10}, callers)


@test
def source_is_annotated_with_the_time_of_each_line():
    with Directory() as d, Php(d, PHP) as php:
        r = record('-p', php.process.pid, '-F', 999, '-d', 1, '-o', f'{d}/out.strobe')
        check(r.returncode == 0, r.stderr)
        found = json.loads(strobe('annotate', f'{d}/out.strobe', '--json').stdout)
        check(found['file'] == php.path and found['source'] == 'unchanged', found)
        took = {line['line']: line for line in found['lines']}
        check(took[11]['text'] == '\t$b = leaf(8000);', took[11])
        check(took[11]['total'] > took[10]['total'] > 0, found)
        check(sum(line['self'] for line in found['lines']) == found['self'], found)
        hot = sum(took[n]['self'] for n in (4, 5) if n in took)
        check(hot > found['self'] / 2, f'most time is in the loop: {found}')
        with open(php.path, 'a', encoding='utf-8') as f:
            f.write('// more\n')
        os.utime(php.path, (2000000000, 2000000000))
        r = strobe('annotate', f'{d}/out.strobe', 'leaf')
        check('was modified at 2033-05-18' in r.stdout, r.stdout)


@test
def executed_lines_of_perl_are_kept():
    if not shutil.which('perl'):
        raise Skip('there is no perl here')
    with Directory() as d, Php(d, PERL, 'perl') as perl:
        r = record('-p', perl.process.pid, '-F', 999, '-d', 1, '-o', f'{d}/out.strobe')
        if 'no BPF' in r.stderr:
            raise Skip(r.stderr.splitlines()[0][:200])
        check(r.returncode == 0, r.stderr)
        calls = {9: 0, 10: 0}
        for stack, n in speedscope(f'{d}/out.strobe'):
            for name, _, line, _ in stack:
                if name == 'main::leaf':
                    check(line in (0, 1, 2, 3, 4, 6), f'a line of leaf: {line}')
                if name == 'main::caller_of' and line in calls:
                    calls[line] += n
        check(calls[10] > calls[9] > 0, f'{calls}')


@test
def the_daemon_stores_executed_lines_and_returns_them_on_request():
    with Directory() as d, Daemon(d) as daemon, Php(d, PHP) as php:
        r = record('-p', php.process.pid, '-F', 999, '-d', 1, '--lang', 'php', '--to', daemon.socket)
        check(r.returncode == 0, r.stderr)
        wait_for(lambda: daemon.status()['samples']['stored'] > 0)
        query = '/api/v1/profile?from=-1h&format='
        check_php(speedscope(daemon.get(query + 'speedscope')), php.path)
        check('strobe_starts' not in json.loads(daemon.get(query + 'speedscope&lines=0')), 'lines=0')
        plain, lined = json.loads(daemon.get(query + 'json')), json.loads(daemon.get(query + 'json&lines=1'))
        check('line' not in plain['nodes'] and len(plain['nodes']['parent']) < len(lined['nodes']['parent']), 'a node per line')
        check({0, 11} < set(lined['nodes']['line']), lined['nodes']['line'])
        pairs = list(zip(plain['nodes']['parent'], plain['nodes']['frame']))
        check(len(pairs) == len(set(pairs)), 'each function is one node per path')
        check(sum(plain['nodes']['values'][0]) == sum(lined['nodes']['values'][0]), 'the sums are the same')
        with urllib.request.urlopen(daemon.url + query + 'strobe', timeout=20) as answer, open(f'{d}/day.strobe', 'wb') as f:
            f.write(answer.read())
        check_php(speedscope(f'{d}/day.strobe'), php.path)
        r = strobe('report', f'{d}/day.strobe', '--by', 'line', '--json')
        check(f'{php.path}:11' in {row['line'] for row in json.loads(r.stdout)['lines']}, r.stdout)


if __name__ == '__main__':
    main()
