"""`strobe top` on real PHP processes: its screen on a terminal, and its lines."""
import json
import os
import re
import signal
import subprocess
import threading
import time

from fpm import Fpm
from recording import CHAINS, HOSTILE, HOSTILE_NAME, LONG_SLEEP, Php, Script, unprivileged
from screen import Screen
from strobe_test import STROBE, Directory, check, main, test, wait_for

BUSY_AND_ASLEEP = '''<?php
function burn() { for ($i = 0; $i < 100000; $i++) md5("$i"); }
function nap() { usleep(100000); }
echo "ready\\n";
while (true) { burn(); nap(); }
'''


def command(*args):
    return [os.path.abspath(STROBE), 'top', *map(str, args)]


def run(*args, **popen):
    return subprocess.run(command(*args), capture_output=True, text=True, timeout=120, **popen)


def row(text, name):
    """The numbers of a row, as text."""
    found = re.search(rf'^(.*?)  {re.escape(name)}(?:$|  )', text, re.M)
    return found and found.group(1).split()


def names(text):
    """Returns the names of the rows, in their order."""
    return re.findall(r'(?:[\d.]+|-)(?: [nmµ]?s| min| h)?  ([A-Za-z_/[][^\s]*)', text.split('total  function')[-1])


def times_off(text):
    """Seconds of the rows in the column of their own time off the CPU, which on a busy machine those that compute have, too."""
    lines = text.splitlines()
    head = next((i for i, line in enumerate(lines) if 'off-CPU' in line and line.endswith('  function')), None)
    if head is None:
        return []
    cells = [line[:lines[head].index('off-CPU') + len('off-CPU')].split() for line in lines[head + 1:]]
    units = {'h': 3600, 'min': 60, 's': 1, 'ms': 1e-3, 'µs': 1e-6, 'ns': 1e-9}
    return [float(c[-2]) * units[c[-1]] if c[-1] in units else 0 for c in cells if len(c) > 2]


def sampled(text, name):
    """Whether a row has time on the CPU."""
    return row(text, name) and row(text, name)[1] != '0.0'


@test
def the_screen_follows_a_script_and_responds_to_keys():
    with Directory() as d, Php(d, BUSY_AND_ASLEEP) as php, Screen(command('-p', php.process.pid), 110, 24, cwd=d) as s:
        check(s.wait(lambda t: row(t, 'md5') and row(t, 'usleep') and row(t, 'burn')), s.text())
        lines = s.lines()
        check(re.match(rf'strobe top: process {php.process.pid} \| last [\d.]+ s of \d:\d\d \| PHP frames, 99 Hz$', lines[0]), lines[0])
        check(re.match(r'on CPU [\d.]+, blocked [\d.]+, waiting for a CPU [\d.]+ threads on average$', lines[1]), lines[1])
        check(re.match(r'0 lost; [\d,]+ (ticks|observations): [\d,]+ kept', lines[2]), lines[2])
        s.type('t')
        check(s.wait(lambda t: 'sorted by total' in t and names(t)[:1] == [php.path]), f'the script is at the top with the total: {s.text()}')
        s.type('o')
        check(s.wait(lambda t: 'sorted by off' in t and 'usleep' in names(t) and times_off(t) == sorted(times_off(t), reverse=True) and times_off(t)[:1] > [0]),
              f'the longest wait comes first: {s.text()}')
        s.type('/BURN\r')
        check(s.wait(lambda t: 'filter /BURN/' in t and names(t) == ['burn']), s.text())
        s.type('/\x15(\r')
        check(s.wait(lambda t: 'invalid regular expression' in t), s.text())
        s.type('\x1b')
        check(s.wait(lambda t: 'filter: ' not in t), s.text())
        s.type('\x1b')
        check(s.wait(lambda t: 'filter /' not in t and row(t, 'usleep')), s.text())
        s.type('\t' * 5)
        check(s.wait(lambda t: 'by entry' in t and row(t, 'script')), s.text())
        s.type('\r')
        check(s.wait(lambda t: 'by function' in t and 'entry=script' in t and row(t, 'nap')), s.text())
        s.type('a')
        check(s.wait(lambda t: '| all 0:' in t or '| all 1:' in t), s.text())
        s.type('?')
        check(s.wait(lambda t: 'filter rows by a regular expression' in t), s.text())
        s.type('x')
        check(s.wait(lambda t: row(t, 'burn')), s.text())
        s.type('q')
        check(s.wait_for_end() == 0 and s.is_as_before(), f'{s.process.returncode} {s.text()}')
        check(b'\x1b[?25h' in s.bytes.split(b'strobe top')[-1], 'the cursor is restored')


@test
def a_paused_table_does_not_change_while_the_recording_continues():
    with Directory() as d, Php(d, BUSY_AND_ASLEEP) as php, Screen(command('-p', php.process.pid, '--every', '100ms'), 110, 24) as s:
        check(s.wait(lambda t: row(t, 'burn')), s.text())
        s.type(' ')
        check(s.wait(lambda t: 'PAUSED' in t), s.text())
        before = s.text()
        check(not s.wait(lambda t: t != before, 1), 'the table does not change')
        s.type('a')
        check(s.wait(lambda t: '| all ' in t), s.text())
        stopped = re.search(r'all (\d+:\d+)', s.text()).group(1)
        s.type('p')
        check(s.wait(lambda t: 'PAUSED' not in t and re.search(r'all (\d+:\d+)', t) and re.search(r'all (\d+:\d+)', t).group(1) != stopped),
              f'the time of the pause was recorded: {s.text()}')
        s.type('r')
        check(s.wait(lambda t: re.search(r'all 0:0[0-2]', t)), f'a reset restarts the time: {s.text()}')


@test
def the_current_view_is_saved_to_a_file():
    with Directory() as d, Php(d, BUSY_AND_ASLEEP) as php, Screen(command('-p', php.process.pid), 110, 24, cwd=d) as s:
        check(s.wait(lambda t: sampled(t, 'burn') and row(t, 'usleep')), s.text())
        s.type('w')
        check(s.wait(lambda t: re.search(r'save to: strobe-top-\d{8}-\d{6}\.svg', t)), s.text())
        s.type('\r')
        check(s.wait(lambda t: re.search(r'wrote strobe-top-\d{8}-\d{6}\.svg', t)), s.text())
        picture = next(name for name in os.listdir(d) if name.startswith('strobe-top-'))
        with open(f'{d}/{picture}') as f:
            text = f.read()
        check(text.startswith('<?xml') and 'burn' in text and 'ticks' in text, text[:300])
        s.type('ow\x15waits.folded\r')
        check(s.wait(lambda t: 'wrote waits.folded' in t), s.text())
        with open(f'{d}/waits.folded') as f:
            stacks = dict(line.rsplit(' ', 1) for line in f.read().splitlines())
        check(int(stacks.get(f'{php.path};nap;usleep', 0)) > 100_000_000, f'the file contains off-CPU time: {stacks}')
        s.type('w\x15/nonexistent/x.svg\r')
        check(s.wait(lambda t: "not saved: cannot write '/nonexistent/x.svg'" in t), s.text())
        s.type('w\x15x.unknown\r')
        check(s.wait(lambda t: 'not saved: cannot infer the output format' in t), s.text())
        s.type('q')
        check(s.wait_for_end() == 0, s.text())


@test
def resizing_and_tiny_terminals_are_handled():
    with Directory() as d, Php(d, BUSY_AND_ASLEEP) as php, Screen(command('-p', php.process.pid), 110, 24) as s:
        check(s.wait(lambda t: row(t, 'burn')), s.text())
        for columns, lines in ((40, 10), (3, 2), (1, 1), (200, 50), (80, 24)):
            s.resize(columns, lines)
            check(s.wait(lambda t: columns < 40 or ('self%' in t and 'burn' in t and len(s.lines()[-1]) > 10)), f'{columns}x{lines}: {s.text()}')
        check(s.process.poll() is None, 'it is still running')
        s.type('q')
        check(s.wait_for_end() == 0, s.text())


@test
def the_terminal_is_restored_on_every_exit():
    with Directory() as d, Php(d, BUSY_AND_ASLEEP) as php:
        for how in ('ctrl-c', signal.SIGTERM, 'hang up', 'time'):
            with Screen(command('-p', php.process.pid, *(['-d', '2'] if how == 'time' else []))) as s:
                check(s.wait(lambda t: row(t, 'burn') or how == 'time'), s.text())
                if how == 'ctrl-c':
                    s.type('\x03')
                elif how == 'hang up':
                    s.hang_up()
                    check(wait_for(lambda: s.process.poll() is not None), 'exits when its terminal closes')
                    continue
                elif how != 'time':
                    s.process.send_signal(how)
                check(s.wait_for_end() == 0 and s.is_as_before(), f'{how}: {s.process.returncode} {s.text()}')


@test
def an_unknown_terminal_gets_plain_tables_and_a_warning():
    with Directory() as d, Php(d, BUSY_AND_ASLEEP) as php, Screen(command('-p', php.process.pid, '-d', 2), term='nonesuch') as s:
        check(s.wait_for_end() == 0, s.text())
        check("unknown terminal 'nonesuch' (TERM); printing plain tables" in s.text().replace('\n', ''), s.text())
        check(b'\x1b' not in s.bytes and row(s.text(), 'burn'), s.text())


@test
def names_cannot_inject_terminal_escape_sequences():
    with Directory() as d, Php(d, HOSTILE, name=HOSTILE_NAME) as php:
        with Screen(command('-p', php.process.pid), 110, 24) as s:
            check(s.wait(lambda t: ('漢 字' in t or '漢字' in t) and '31mred' in t), s.text())
            check(b'\x9b' not in s.bytes and b'\x1b]' not in s.bytes and b'\x07' not in s.bytes and s.screen.title == '', s.bytes[:500])
            s.type('d')
            check(s.wait(lambda t: 'requests now' in t and '31mred' in t), s.text())
            s.type('\r')
            check(s.wait(lambda t: '    ' in t and 'requests now' in t), s.text())
            check(b'\x9b' not in s.bytes and b'\x1b]' not in s.bytes and b'\x07' not in s.bytes and s.screen.title == '', s.bytes[:500])
            s.type('xq')
            check(s.wait_for_end() == 0, s.text())
        lines = run('-p', php.process.pid, '-d', 1)
        check('\x1b' not in lines.stdout and '31mred' in lines.stdout, lines)


@test
def the_table_remains_after_the_process_has_ended():
    with Directory() as d, Php(d, BUSY_AND_ASLEEP) as php, Screen(command('-p', php.process.pid), 110, 24) as s:
        check(s.wait(lambda t: row(t, 'burn')), s.text())
        php.process.kill()         # and nobody waits for it: a zombie
        check(s.wait(lambda t: 'ENDED' in t and row(t, 'burn')), s.text())
        s.type('q')
        check(s.wait_for_end() == 0, s.text())


@test
def plain_tables_show_the_time_of_functions():
    with Directory() as d, Php(d, BUSY_AND_ASLEEP) as php:
        r = run('-p', php.process.pid, '-d', 3)
        check(r.returncode == 0 and r.stdout.count('function') == 1, r)
        check(re.match(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ on CPU [\d.]+, blocked [\d.]+, .* threads on average; 0 lost; [\d,]+ (ticks|observations): [\d,]+ kept',
                       r.stdout), r.stdout)
        check(sampled(r.stdout, 'burn') and row(r.stdout, 'usleep'), r.stdout)
        start = time.monotonic()
        r = run('-p', php.process.pid, '-d', 4, '--every', '1s', '--json')
        took = time.monotonic() - start
        tables = [json.loads(line) for line in r.stdout.splitlines()]
        check(r.returncode == 0 and 2 <= len(tables) <= took + 1, f'a table each second: {r.stdout}')
        check(3 < sum(t['seconds'] for t in tables) <= took, [t['seconds'] for t in tables])
        for t in tables:
            counts = t['counts']
            check((t['ticks'], t['kept']) == (counts['ticks'], counts['kept']), counts)
            check('observations' in counts or t['ticks'] == t['kept'] + t['lost'] + counts.get('ticks_idle', 0) + counts.get('ticks_other', 0), t)
            selves = sum(r['self_ns'] for r in t['rows']), sum(r['off_cpu_self_ns'] for r in t['rows'])
            check(t['more'] > 0 or selves == (t['on_cpu_ns'], t['off_cpu_ns']), f'selves add up: {selves} {t}')
            main_row = next((r for r in t['rows'] if r['function'] == php.path), None)
            check(not main_row or main_row['total_ns'] == t['on_cpu_ns'], t)
        r = run('-p', php.process.pid, '-d', 2, '--on-cpu', '--filter', 'BURN|nap')
        # A tick may find nap() before it sleeps.
        check(r.returncode == 0 and 'off-CPU' not in r.stdout and names(r.stdout) in (['burn'], ['burn', 'nap']), r.stdout)
        r = run('-p', php.process.pid, '-d', 1, '--off-cpu')
        check(r.returncode == 0 and 'self%' not in r.stdout and row(r.stdout, 'usleep'), r.stdout)


@test
def an_unfinished_wait_is_counted_in_every_second():
    with Directory() as d, Php(d, LONG_SLEEP) as php:
        r = run('-p', php.process.pid, '-d', 4, '--every', '1s', '--json')
        tables = [json.loads(line) for line in r.stdout.splitlines()]
        check(r.returncode == 0 and len(tables) >= 2, r)
        waits = [sum(row['off_cpu_self_ns'] for row in t['rows'] if row['function'] == 'sleep') / 1e9 for t in tables]
        check(all(waits[:-1]) and abs(sum(waits) - sum(t['seconds'] for t in tables)) < 0.5, f'{waits} {r.stdout}')


@test
def rows_can_be_pools_and_scripts_of_php_fpm():
    with Directory() as d, Fpm(d, plain=True, pools={'www': [], 'blog': []}) as fpm:
        fpm.write('checkout.php', '<?php function pay() { $e = microtime(true) + 0.02; while (microtime(true) < $e); usleep(50000); } pay();')
        ended = threading.Event()

        def ask(pool):
            while not ended.is_set():
                fpm.get('checkout.php', pool=pool)
        askers = [threading.Thread(target=ask, args=(pool,)) for pool in ('www', 'blog')]
        for thread in askers:
            thread.start()
        try:
            pids = [arg for pid in fpm.workers() for arg in ('-p', str(pid))]
            for by, wanted in (('pool', {'www', 'blog'}), ('entry', {'checkout'}), ('pid', {str(p) for p in fpm.workers()})):
                t = json.loads(run(*pids, '--by', by, '-d', 2, '--json', '--rows', 0).stdout)
                found = {r[by] for r in t['rows'] if r[by] and r['self_ns'] and r['off_cpu_self_ns']}
                check(found and found <= wanted and (by == 'pid' or found == wanted), f'{by}: {t}')
            check('pay' in run('--fpm', '-d', 1, '--filter', '^pay$').stdout, 'with --fpm')
        finally:
            ended.set()
            for thread in askers:
                thread.join()


@test
def running_requests_are_shown_with_their_url_and_stack():
    with Directory() as d, Fpm(d, plain=True, pools={'www': [], 'blog': []}, settings={'max_execution_time': '0'}) as fpm:
        slow = fpm.write('slow.php', '<?php function wait() { sleep(1000); } wait();')

        def ask():
            try:
                fpm.get('slow.php', method='POST', query='card=4711', uri='/shop/cart?card=4711', timeout=600)
            except OSError:
                pass        # php-fpm ends before the request
        threading.Thread(target=ask, daemon=True).start()
        pids = [arg for pid in fpm.workers() for arg in ('-p', str(pid))]
        with Screen(command(*pids), 120, 24) as s:
            s.type('d')
            check(s.wait(lambda t: re.search(r'^\d+ +[\d.]+ m?s  waiting +www +POST /shop/cart +sleep < wait < ', t, re.M)), s.text())
            check('requests now: 1, oldest first; 3 idle workers' in s.text(), s.text())
            s.type('\r')
            check(s.wait(lambda t: re.search(rf'^    sleep\n    wait  {slow}:1\n    {slow}:1$', t, re.M)), s.text())
            s.type('x/blog\r')
            check(s.wait(lambda t: 'The filter hides every request' in t and 'requests now: 0' in t), s.text())
            s.type('\x1b')
            check(s.wait(lambda t: '/shop/cart' in t), s.text())
            s.type('d')
            check(s.wait(lambda t: 'by function' in t and row(t, 'sleep')), s.text())
            s.type('q')
            check(s.wait_for_end() == 0, s.text())
            check(b'4711' not in s.bytes, 'the query string is not shown')


@test
def an_empty_table_shows_the_reason():
    with Directory() as d, Php(d, '<?php echo "ready\\n"; sleep(1000);') as php:
        r = run('-p', php.process.pid, '-d', 1, '--on-cpu')
        # Without an idle CPU nobody knows whether it was.
        reason = r'^0 of [\d,]+ (ticks|observations) found PHP on CPU: (the process was idle|other programs had all CPUs)'
        check(r.returncode == 4 and re.search(reason, r.stdout, re.M), r)
        with Screen(command('-p', php.process.pid, '--on-cpu'), 110, 24) as s:
            check(s.wait(lambda t: re.search(reason, t, re.M)), s.text())
            s.type('q')
            check(s.wait_for_end() == 4, f'{s.process.returncode} {s.text()}')


@test
def without_bpf_process_memory_is_read_instead():
    with Directory() as d, Script(d, CHAINS) as php:
        env = {**os.environ, 'STROBE_WITHOUT': 'bpf'}
        r = run('-p', php.process.pid, '-d', 2, env=env, cwd='/', **unprivileged())
        check(r.returncode == 0 and 'reading the memory of processes instead' in r.stderr and row(r.stdout, 'a3'), r)
        with Screen(command('-p', php.process.pid), 110, 24, env=env) as s:
            check(s.wait(lambda t: row(t, 'a3') and 'no BPF, so memory is read instead' in t and 'observations: ' in t), s.text())
            s.type('q')
            check(s.wait_for_end() == 0, s.text())


if __name__ == '__main__':
    main()
