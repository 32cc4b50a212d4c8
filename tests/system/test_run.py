"""`strobe run`: the program it runs is undisturbed, and the user sees its profile."""
import json
import os
import pty
import re
import signal
import subprocess
import time

from daemon import Daemon
from strobe_test import EXTENSION, STROBE, Directory, Skip, check, main, test, wait_for

BUSY = '<?php function busy($s) { $n = 0; for ($t = microtime(true); microtime(true) - $t < $s;) $n++; return $n; }\n'


class Place:
    """A directory with scripts, from which commands run; TMPDIR lies in it, so that leftovers show."""

    def __enter__(self):
        if not os.path.exists(STROBE):
            raise Skip(f'{STROBE} is not built')
        self.holder = Directory()
        self.path = self.holder.__enter__()
        os.mkdir(f'{self.path}/tmp')
        self.environment = {k: v for k, v in os.environ.items() if k not in ('XDG_RUNTIME_DIR', 'PHP_INI_SCAN_DIR')}
        self.environment['TMPDIR'] = f'{self.path}/tmp'
        return self

    def __exit__(self, *_):
        check(os.listdir(f'{self.path}/tmp') == [], 'no temporary files remain')
        self.holder.__exit__()

    def script(self, text, name='script.php', mode=0o644):
        path = f'{self.path}/{name}'
        with open(path, 'w') as f:
            f.write(text)
        os.chmod(path, mode)
        return path

    def command(self, *command, options=()):
        if not os.path.exists(EXTENSION):
            raise Skip(f'{EXTENSION} is not built')
        return [STROBE, 'run', '--extension', EXTENSION, *options, '--', *command]

    def run(self, *command, options=(), environment=None, **more):
        return subprocess.run(self.command(*command, options=options), capture_output=True, text=True, timeout=120,
                              cwd=self.path, env={**self.environment, **(environment or {})}, **more)

    def samples(self, result):
        found = re.search(r'(\d+) samples? \(', result.stderr)
        return int(found.group(1)) if found else 0


@test
def a_script_is_profiled_without_changing_its_output():
    with Place() as p:
        script = p.script(BUSY + 'function outer() { busy(0.5); } outer(); echo "to stdout\n"; '
                          'fwrite(STDERR, "to stderr\n"); echo fgets(STDIN);')
        r = p.run('php', script, input='to stdin\n')
        check(r.returncode == 0, f'exit 0: {r.returncode} {r.stderr}')
        check(r.stdout == 'to stdout\nto stdin\n', f'stdout is the script\'s alone: {r.stdout!r}')
        check(r.stderr.startswith('to stderr\nstrobe: '), f'stderr begins with the script\'s: {r.stderr!r}')
        check(re.search(r'strobe: [\d.]+ m?s wall, [\d.]+ m?s CPU, \d+ samples \(100 Hz, php \d+\.\d+\.\d+\)',
                        r.stderr), f'the summary: {r.stderr}')
        check(p.samples(r) >= 20, f'half a second has about 50 samples, not {p.samples(r)}')
        check('busy' in r.stderr and 'outer' in r.stderr, f'the functions are listed: {r.stderr}')
        check('strobe flamegraph profile.strobe' in r.stderr, 'the next step is named')
        with open(f'{p.path}/profile.strobe', 'rb') as f:
            check(f.read(4) == b'STRB', 'the profile is written')


@test
def the_exit_code_is_that_of_the_command():
    with Place() as p:
        for code in (0, 1, 42, 255):
            r = p.run('php', '-r', f'exit({code});', options=['-q'])
            check(r.returncode == code, f'{code} stays {code}, not {r.returncode}')
        r = p.run('php', '-r', 'posix_kill(getmypid(), SIGKILL);' if has('posix') else 'exit(137);', options=['-q'])
        check(r.returncode == 137, f'a signal is 128 + its number, not {r.returncode}')
        r = p.run('sh', '-c', 'kill -TERM $$', options=['-q'])
        check(r.returncode == 143, f'likewise for other commands, not {r.returncode}')


def has(extension):
    return subprocess.run(['php', '-r', f'exit(extension_loaded("{extension}") ? 0 : 1);']).returncode == 0


@test
def failures_of_strobe_itself_exit_with_125_to_127():
    with Place() as p:
        r = p.run('no-such-command-anywhere')
        check(r.returncode == 127 and "'no-such-command-anywhere'" in r.stderr,
              f'not found: {r.returncode} {r.stderr}')
        p.script('x', name='data.txt')
        r = p.run('./data.txt')
        check(r.returncode == 126 and 'data.txt' in r.stderr, f'not executable: {r.returncode} {r.stderr}')
        p.script('no program', name='odd', mode=0o755)
        r = p.run('./odd')
        check(r.returncode == 126 and '#!' in r.stderr, f'no #! line: {r.returncode} {r.stderr}')
        for options in (['--nonsense'], ['-F', '0'], ['--clock', 'moon'], ['-o', '-'], ['-o', 'x.unknown'],
                        ['-o', '/nonexistent/x.strobe'], ['-o', '/tmp']):
            r = p.run('php', '-r', 'echo 1;', options=options)
            word = 'standard output' if options[-1] == '-' else f"invalid -F '{options[-1]}'" if options[0] == '-F' else options[-1]
            check(r.returncode == 125 and r.stdout == '' and word in r.stderr,
                  f'{options}: {r.returncode} {r.stderr!r}')
        r = subprocess.run([STROBE, 'run'], capture_output=True, text=True)
        check(r.returncode == 125 and 'strobe run -- php' in r.stderr, f'no command: {r.returncode} {r.stderr!r}')


@test
def an_unwritable_output_is_reported_before_the_command_runs():
    if os.geteuid() == 0:
        place = '/proc'                     # even root cannot make files there
    with Place() as p:
        if os.geteuid() != 0:
            place = f'{p.path}/readonly'
            os.mkdir(place, 0o555)
        r = p.run('php', '-r', 'usleep(50000); echo "ran";', options=['-F', '1000', '-o', f'{place}/x.strobe'])
        check(r.returncode == 125 and place in r.stderr, f'exits with 125 and a message: {r.returncode} {r.stderr!r}')
        if os.geteuid() != 0:
            check(r.stdout == '', 'the command has not run')


@test
def child_processes_of_the_command_are_profiled():
    with Place() as p:
        child = p.script(BUSY + 'function in_child() { busy(0.3); } in_child();', name='child.php')
        parent = p.script(BUSY + f'function in_parent() {{ busy(0.3); }} in_parent(); '
                          f'passthru(PHP_BINARY . " " . escapeshellarg("{child}"));', name='parent.php')
        r = p.run('php', parent, options=['-o', 'x.folded'])
        with open(f'{p.path}/x.folded') as f:
            folded = f.read()
        check('in_parent;busy' in folded and 'in_child;busy' in folded, f'both processes are profiled: {folded}')
        r = p.run('sh', '-c', f'php {child}; php {child}', options=['-o', 'y.folded'])
        check(p.samples(r) >= 30, f'two children of a shell: {r.stderr}')


@test
def a_script_with_a_shebang_line_needs_no_php_in_the_command():
    with Place() as p:
        p.script('#!/usr/bin/env php\n' + BUSY + 'busy(0.3);', name='tool', mode=0o755)
        r = p.run('./tool')
        check(r.returncode == 0 and p.samples(r) >= 15, f'sampled: {r.stderr}')


@test
def signals_are_forwarded_to_the_command_and_strobe_outlives_it():
    with Place() as p:
        ready = f'{p.path}/ready'
        script = p.script('#!/bin/sh\ntrap "exit 7" TERM\ntrap "exit 8" HUP\ntrap "exit 9" INT\n'
                          f'touch {ready}\nwhile :; do sleep 0.05; done\n', name='waits', mode=0o755)
        for signo, code in ((signal.SIGTERM, 7), (signal.SIGHUP, 8), (signal.SIGINT, 9)):
            process = subprocess.Popen(p.command(script, options=['-q']), cwd=p.path, env=p.environment,
                                       stderr=subprocess.DEVNULL)
            check(wait_for(lambda: os.path.exists(ready)), 'the command runs')
            process.send_signal(signo)
            check(process.wait(60) == code, f'{signo.name} gives {code}, not {process.returncode}')
            os.unlink(ready)


@test
def ctrl_c_in_a_terminal_reaches_the_command_once():
    with Place() as p:
        ready, count = f'{p.path}/ready', f'{p.path}/count'
        p.script(f'<?php pcntl_async_signals(true); $n = 0;\n'
                 'pcntl_signal(SIGINT, function () use (&$n) { $n++; });\n'
                 f'touch("{ready}"); for ($t = microtime(true); microtime(true) - $t < 1.0;) usleep(1000);\n'
                 f'file_put_contents("{count}", $n); exit(3);')
        if not has('pcntl'):
            raise Skip('php has no pcntl')
        command = p.command('php', f'{p.path}/script.php', options=['-q'])
        try:
            pid, terminal = pty.fork()
        except OSError as e:
            raise Skip(f'no terminal can be made here: {e}') from e
        if pid == 0:
            os.chdir(p.path)
            os.execve(command[0], command, p.environment)
        check(wait_for(lambda: os.path.exists(ready)), 'the script runs')
        os.write(terminal, b'\x03')
        status = os.waitpid(pid, 0)[1]
        os.close(terminal)
        check(os.waitstatus_to_exitcode(status) == 3, f'the exit code is the script\'s: {status}')
        with open(count) as f:
            check(f.read() == '1', 'the script received one SIGINT')


@test
def the_reason_for_an_empty_profile_is_reported():
    with Place() as p:
        script = p.script(BUSY + 'busy(0.3);')
        r = p.run('php', '-n', script)
        check(r.returncode == 0 and 'no samples' in r.stderr and '-n' in r.stderr, f'-n: {r.stderr!r}')
        r = p.run('php', '-r', '1;', options=['-F', '0.01'])       # a tick may fall into any script, in a hundred of the longest
        check('sampling period of 100.00 s' in r.stderr and '-F 1000' in r.stderr, f'short: {r.stderr!r}')
        r = p.run('sleep', '0.5')
        check('ran no PHP' in r.stderr, f'no PHP: {r.stderr!r}')
        r = p.run('env', '-u', 'PHP_INI_SCAN_DIR', 'php', script)
        check('environment' in r.stderr, f'cleared environment: {r.stderr!r}')
        # The start of PHP may take a tenth of a second on a slow machine, which is far from ten of these periods.
        r = p.run('php', '-r', 'usleep(400000);', options=['--clock', 'cpu', '-F', '10'])
        check('CPU time' in r.stderr and '--clock wall' in r.stderr, f'no CPU used: {r.stderr!r}')
        r = subprocess.run([STROBE, 'report', f'{p.path}/profile.strobe'], capture_output=True, text=True)
        check(r.returncode == 4 and 'nothing was sampled' in r.stderr,
              f'the profile of this run is empty: {r.returncode} {r.stderr!r}')


@test
def a_run_without_samples_does_not_overwrite_an_earlier_profile():
    with Place() as p:
        script = p.script(BUSY + 'busy(0.2);')
        for output in 'profile.strobe', 'a.folded', 'a.svg', 'a.html':
            p.run('php', script, options=['-o', output])
            with open(f'{p.path}/{output}', 'rb') as f:
                good = f.read()
            r = p.run('php', '-n', script, options=['-q', '-o', output])
            check(f'left {output} as it was' in r.stderr and 'no samples' in r.stderr, f'it is reported: {r.stderr!r}')
            with open(f'{p.path}/{output}', 'rb') as f:
                check(f.read() == good, f'{output} is the earlier one')
        r = p.run('php', script)
        check('as it was' not in r.stderr and 'wrote profile.strobe' in r.stderr, f'a run with samples overwrites it: {r.stderr!r}')
        r = p.run('php', '-n', script, options=['-o', 'new.strobe'])
        check(os.path.exists(f'{p.path}/new.strobe') and 'as it was' not in r.stderr, f'no earlier profile to keep: {r.stderr!r}')


@test
def the_output_format_follows_the_file_name():
    with Place() as p:
        script = p.script(BUSY + 'busy(0.3);')
        r = p.run('php', script, options=['-o', 'x.svg', '-q'])
        check(r.stderr == '', f'-q is quiet: {r.stderr!r}')
        with open(f'{p.path}/x.svg') as f:
            svg = f.read()
        check(svg.startswith('<?xml') or svg.startswith('<svg'), 'an SVG')
        check('busy' in svg, 'the SVG contains the function')
        r = p.run('php', script, options=['-o', 'x.folded', '-n', '0', '-F', '500'])
        check('busy' in r.stderr and '%' in r.stderr, f'-n 0 prints all functions: {r.stderr}')
        check(p.samples(r) >= 60, f'-F 500 takes more samples: {r.stderr}')


@test
def an_extension_built_for_another_php_is_rejected_with_a_remedy():
    with Place() as p:
        with open(EXTENSION, 'rb') as f:
            data = f.read()
        broken = re.sub(rb'API20\d{6},', b'API20990101,', data)
        with open(f'{p.path}/strobe.so', 'wb') as f:
            f.write(broken)
        r = subprocess.run([STROBE, 'run', '--extension', f'{p.path}/strobe.so', '--', 'php', '-r', 'echo 1;'],
                           capture_output=True, text=True, env=p.environment, cwd=p.path)
        check(r.returncode == 125 and r.stdout == '', f'exits with 125 without running the command: {r.returncode} {r.stdout!r}')
        check('API20990101' in r.stderr and 'make PHP_CONFIG=' in r.stderr and r.stderr.count('\n') == 1,
              f'the message is one line: {r.stderr!r}')
        r = subprocess.run([STROBE, 'run', '--extension', f'{p.path}/none.so', '--', 'php', '-r', 'echo 1;'],
                           capture_output=True, text=True, env=p.environment, cwd=p.path)
        check(r.returncode == 125 and 'none.so' in r.stderr, f'a missing extension is reported: {r.stderr!r}')


@test
def a_missing_php_is_reported():
    with Place() as p:
        os.mkdir(f'{p.path}/bin')
        os.symlink('/bin/sleep', f'{p.path}/bin/sleep')
        r = p.run('sleep', '0', environment={'PATH': f'{p.path}/bin'})
        check(r.returncode == 125 and 'found no PHP' in r.stderr, f'{r.returncode} {r.stderr!r}')


@test
def an_extension_that_is_already_loaded_is_not_loaded_twice():
    with Place() as p:
        os.mkdir(f'{p.path}/conf.d')
        with open(f'{p.path}/conf.d/strobe.ini', 'w') as f:
            f.write(f'extension={EXTENSION}\n')
        script = p.script(BUSY + 'busy(0.3);')
        r = p.run('php', script, environment={'PHP_INI_SCAN_DIR': f'{p.path}/conf.d'})
        check(r.stdout == '' and 'already loaded' not in r.stderr, f'no warning: {r.stdout!r}')
        check(p.samples(r) >= 15, f'sampled: {r.stderr}')


@test
def strobe_does_not_wait_for_a_background_child():
    with Place() as p:
        with open(f'{p.path}/out', 'w+') as out:
            command = p.command('sh', '-c', 'php -r "sleep(60);" & echo $!', options=['-q'])
            result = subprocess.run(command, stdout=out, stderr=out, cwd=p.path, env=p.environment, timeout=50)
            out.seek(0)
            child = int(out.readline())
        check(result.returncode == 0, 'strobe exits before the grandchild')
        try:
            os.kill(child, signal.SIGKILL)
        except ProcessLookupError:
            check(False, 'the grandchild was still running')


def kill_when(p, script, options, signo, after=0, php=('php',)):
    """Ends the command by a signal, so many seconds after the script has touched `ready`: its PHP by SIGKILL, otherwise strobe.
    Returns what strobe said, the profile, and how long the script went on at least."""
    ready = f'{p.path}/ready'
    process = subprocess.Popen(p.command(*php, script, options=['-o', 'x.folded', *options]), cwd=p.path, stdin=subprocess.PIPE,
                               env=p.environment, stderr=subprocess.PIPE, text=True,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    check(wait_for(lambda: os.path.exists(ready)), 'the script runs')
    seen = time.monotonic()
    os.unlink(ready)
    time.sleep(after)
    waited = time.monotonic() - seen
    if signo == signal.SIGKILL:
        with open(f'/proc/{process.pid}/task/{process.pid}/children') as f:
            os.kill(int(f.read().split()[0]), signo)
    else:
        process.send_signal(signo)
    stderr = process.communicate(timeout=60)[1]
    check(process.returncode == 128 + signo, f'{signo.name} is the exit code: {process.returncode} {stderr}')
    lines = {}
    if os.path.exists(f'{p.path}/x.folded'):
        with open(f'{p.path}/x.folded') as f:
            lines = dict(line.rsplit(' ', 1) for line in f)
        os.unlink(f'{p.path}/x.folded')
    return stderr, lines, waited


# Half a second that takes next to no CPU time. If the ticking thread is late, what the last tick counts belongs to the call behind.
FIRST = 'function first() { for ($end = microtime(true) + 0.5; microtime(true) < $end;) time_nanosleep(0, 5000000); }'


def sum_of(lines, name):
    return sum(int(n) for stack, n in lines.items() if name in stack.split(';'))


@test
def a_command_terminated_by_a_signal_loses_at_most_the_last_second():
    with Place() as p:
        loop = p.script(BUSY + FIRST + ' function then() { for ($i = 0; $i < 100; $i++) usleep(10000); }\n'
                        f'first(); then(); touch("{p.path}/ready"); while (true) busy(0.01);')
        for signo in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            stderr, lines, _ = kill_when(p, loop, [], signo)
            check(sum_of(lines, 'first') >= 25 and 'samples (100 Hz' in stderr,
                  f'{signo.name}: {sum_of(lines, "first")} samples of half a second; {stderr}')
            stderr, lines, _ = kill_when(p, loop, ['--trace'], signo)
            check(sum_of(lines, 'first') >= 0.49e9 and 'calls in 1 trace' in stderr and 'did not end' in stderr,
                  f'{signo.name}: {sum_of(lines, "first")} ns of half a second; {stderr}')


WAITS = {
    'sleep': 'sleep(1000);',
    'usleep': 'usleep(1000000000);',
    'stream_socket_recvfrom': '$p = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0); '
                              'stream_socket_recvfrom($p[0], 9);',
}


@test
def a_command_terminated_in_a_blocking_call_loses_at_most_its_last_second():
    with Place() as p:
        for call, code in WAITS.items():
            script = p.script(f'<?php {FIRST} function waits() {{ {code} }}\n'
                              f'first(); touch("{p.path}/ready"); waits();')
            for signo in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL) if call == 'sleep' else (signal.SIGKILL,):
                for options, unit in ([], 100), (['--trace'], 1e9):
                    stderr, lines, waited = kill_when(p, script, options, signo, after=1.6)
                    what = f'{signo.name} {call} {options}: {lines} of {waited} s; {stderr}'
                    check(sum_of(lines, 'first') >= 0.25 * unit, f'the time before the call: {what}')
                    check(sum_of(lines, call) >= (waited - 1) * unit, f'the call: {what}')
                    wall = float(re.search(r'strobe: ([\d.]+) s wall', stderr).group(1))
                    check(sum(map(int, lines.values())) <= (wall + 0.02) * unit, f'no more than the elapsed time: {what}')


SHORT = {
    'a loop': 'while (true) $i = ($i ?? 0) + 1;',
    'calls': 'function f($x) { return $x + 1; } while (true) f(1);',
    'a loop of usleep()': 'while (true) usleep(20000);',
    'calls that wait, one behind the other': 'usleep(150000);' * 20,
    'sleep()': 'sleep(1000);',
    'a read': 'fread(STDIN, 1);',
    'a call that computes': 'hash_pbkdf2("sha256", "a", "b", 1000000000);',
    'a fiber': '$f = new Fiber(function () { sleep(1000); }); $f->start();',
    'a generator': 'function g() { sleep(1000); yield 1; } foreach (g() as $x);',
}
CACHED = ('-d', 'opcache.enable_cli=1')
WAYS = {
    'plain': (),
    'opcache': CACHED,
    'JIT': (*CACHED, '-d', 'opcache.jit_buffer_size=32M', '-d', 'opcache.jit=tracing', '-d', 'strobe.instrument=1'),
}


@test
def nine_tenths_of_a_second_yield_samples_in_any_code():
    with Place() as p:
        cases = [(what, 'plain') for what in SHORT] + [('a loop', 'JIT'), ('sleep()', 'JIT'), ('calls', 'opcache')]
        if os.environ.get('STROBE_TEST_IN_FULL'):
            cases = [(what, way) for what in ('a loop', 'calls', 'sleep()') for way in ('opcache', 'JIT')]
        for what, way in cases:
            for options in [], ['--trace']:
                stderr, lines, waited = kill_when(p, f'touch("{p.path}/ready"); {SHORT[what]}', options,
                                                  signal.SIGKILL if way == 'JIT' else signal.SIGINT, 0.9, ['php', *WAYS[way], '-r'])
                check(sum(map(int, lines.values())) > 0, f'{what}, {way} {options}: nothing of {waited} s; {stderr}')


@test
def strobe_adds_no_signal_handlers_to_php():
    with Place() as p:
        # 32 and 33 are the C library's, in a process that has threads.
        code = ('usleep(300000); preg_match("/SigCgt:\\s*(\\w+)/", file_get_contents("/proc/self/status"), $m);'
                'echo "caught: ", hexdec($m[1]) & ~(3 << 31);')
        alone = subprocess.run(['php', '-r', code], capture_output=True, text=True).stdout
        check('caught' in alone, alone)
        for options in [], ['--trace']:
            r = p.run('php', '-r', code, options=options)
            check(r.stdout == alone, f'{options}: {r.stdout}, alone {alone}')


@test
def a_blocking_call_that_returns_is_counted_once():
    with Place() as p:
        script = p.script('<?php $t = hrtime(true); function waits() { usleep(1200000); } waits(); echo hrtime(true) - $t;')
        for options, unit in ([], 100), (['--trace'], 1e9):
            r = p.run('php', script, options=['-o', 'x.folded', *options])
            with open(f'{p.path}/x.folded') as f:
                lines = dict(line.rsplit(' ', 1) for line in f)
            check(1.18 * unit <= sum_of(lines, 'usleep') <= int(r.stdout) / 1e9 * unit + 1, f'{lines} of {r.stdout} ns')
            check('did not end' not in r.stderr, r.stderr)


@test
def a_command_killed_before_it_sent_any_data_is_reported_as_killed():
    with Place() as p:
        script = p.script(f'<?php touch("{p.path}/ready"); posix_kill(getmypid(), SIGSTOP);')
        if not has('posix'):
            raise Skip('php has no posix')
        for options in ([], ['--trace']):
            stderr, lines, _ = kill_when(p, script, options, signal.SIGKILL)
            check(not lines and 'Killed' in stderr and 'no PHP with the extension' not in stderr, f'{options}: {stderr}')
            check('JIT' not in stderr, f'{options}: {stderr}')


@test
def the_jit_is_named_as_the_cause_if_a_killed_command_left_no_samples():
    jit = ['-d', 'opcache.jit_buffer_size=32M', '-dopcache.jit=tracing']
    with Place() as p:
        for settings, blamed in (jit, True), (['-d', 'opcache.jit=tracing', '-d', 'opcache.jit_buffer_size=0'], False), ([*jit, '-d', 'strobe.instrument=1'], False):
            stderr, lines, _ = kill_when(p, f'touch("{p.path}/ready"); while (true) $i = ($i ?? 0) + 1;', [], signal.SIGKILL, 0.3 if blamed else 1.5,
                                         ['php', *CACHED, *settings, '-r'])
            told = "JIT compiler is on" in stderr and 'strobe.instrument=1' in stderr and 'opcache.jit=disable' in stderr
            check(told == blamed and bool(lines) != blamed, f'{settings}: {lines} {stderr}')


CHART = r"""<?php
$log = [];
function note($what, $name = '') { $GLOBALS['log'][] = [$what, $name, hrtime(true)]; }
function leaf() { note('in', 'leaf'); usleep(200); note('out'); }
function middle($n) { note('in', 'middle'); for ($i = 0; $i < $n; $i++) leaf(); note('out'); }
function last() { note('in', 'last'); middle(1); leaf(); note('out'); }
function page() { note('in', 'page'); leaf(); middle(2); last(); middle(0); note('out'); }
for ($i = 0; $i < 3; $i++) page();
echo json_encode($log);
"""
OWN = ('page', 'middle', 'leaf', 'last')


def spans_of_log(text):
    """[depth, name, latest start, earliest end] as the program has noted it."""
    spans, open_ = [], []
    for what, name, at in json.loads(text):
        if what == 'in':
            spans.append([len(open_), name, at, None])
            open_.append(len(spans) - 1)
        else:
            spans[open_.pop()][3] = at
    return spans


def spans_of_chrome(text):
    """The same, in nanoseconds, of the functions in OWN."""
    spans, open_ = [], []
    for e in json.loads(text)['traceEvents']:
        start = round(e['ts'] * 1000)
        while open_ and open_[-1][1] <= start and open_[-1][1] < start + round(e['dur'] * 1000):
            open_.pop()
        depth = sum(name in OWN for name, _ in open_)
        open_.append((e['name'], start + round(e['dur'] * 1000)))
        if e['name'] in OWN:
            spans.append([depth, e['name'], start, open_[-1][1]])
    return spans


@test
def a_flame_chart_matches_the_order_logged_by_the_program():
    with Place() as p:
        r = p.run('php', p.script(CHART), options=['--trace', '--flame-chart'])
        check(r.returncode == 0 and '1 trace ' in r.stderr and 'flame chart' not in r.stderr, r.stderr)
        expected = spans_of_log(r.stdout)
        with open(f'{p.path}/profile.strobe', 'rb') as f:
            check(b'sampled' not in f.read(), 'the chart is not sampled')
        made = subprocess.run([STROBE, 'convert', '-q', '-f', 'chrome', 'profile.strobe'], cwd=p.path, capture_output=True, text=True)
        charted = spans_of_chrome(made.stdout)
        check([s[:2] for s in charted] == [s[:2] for s in expected] and len(charted) == 3 * 10, f'{charted} {expected}')
        # A call begins before it notes that and ends afterwards, by the two clocks whose difference is one number.
        latest = min(e[2] - c[2] for e, c in zip(expected, charted))
        earliest = max(e[3] - c[3] for e, c in zip(expected, charted))
        check(earliest <= latest + 100000, f'{earliest} {latest}')
        scope = subprocess.run([STROBE, 'convert', '-q', '-f', 'speedscope', 'profile.strobe'], cwd=p.path, capture_output=True, text=True)
        file = json.loads(scope.stdout)
        events = next(q for q in file['profiles'] if q['name'] == 'wall_ns')['events']
        names = [file['shared']['frames'][e['frame']]['name'] for e in events if e['type'] == 'O']
        check([n for n in names if n in OWN] == [s[1] for s in expected], f'{names}')
        svg = subprocess.run([STROBE, 'flamegraph', '--flamechart', 'profile.strobe', '-o', '-'], cwd=p.path, capture_output=True, text=True)
        check(svg.stdout.count('<title>page') == 3, svg.stdout[:300])
        merged = subprocess.run([STROBE, 'convert', '-q', '-f', 'chrome', 'profile.strobe', 'profile.strobe'], cwd=p.path, capture_output=True, text=True)
        check('"chart"' in made.stdout and '"chart"' not in merged.stdout, 'a merge of two runs has no flame chart')
        r = subprocess.run([STROBE, 'import', '--id', 'one', '--store', f'sqlite:{p.path}/store', 'profile.strobe'], cwd=p.path, capture_output=True, text=True)
        check(r.stdout == 'run/one\n', f'{r}')


@test
def the_flame_chart_of_several_processes_shows_the_first_one():
    with Place() as p:
        script = p.script('<?php function in_parent() { usleep(1000); } function in_child() { usleep(1000); }\n'
                          'in_parent(); if (!($pid = pcntl_fork())) { in_child(); exit(0); } pcntl_waitpid($pid, $status); in_parent();')
        r = p.run('php', script, options=['--trace', '--flame-chart'])
        check(re.search(r'the flame chart lacks \d+ calls\n', r.stderr) and 'first of 2 traces' in r.stderr, r.stderr)
        made = subprocess.run([STROBE, 'convert', '-q', '-f', 'chrome', 'profile.strobe'], cwd=p.path, capture_output=True, text=True)
        names = [e['name'] for e in json.loads(made.stdout)['traceEvents']]
        check(names.count('in_parent') == 2 and 'in_child' not in names, f'{names}')
        report = subprocess.run([STROBE, 'report', 'profile.strobe'], cwd=p.path, capture_output=True, text=True)
        check('in_child' in report.stdout, report.stdout)


@test
def a_flame_chart_reports_its_limit_and_survives_sigkill():
    with Place() as p:
        script = p.script('<?php function f() { } for ($i = 0; $i < 3000; $i++) f(); usleep(1500000); posix_kill(getmypid(), 9);')
        r = p.run('php', '-d', 'strobe.trace_chart_calls=2000', script, options=['--trace', '--flame-chart'])
        check(r.returncode == 137 and 'for which strobe.trace_chart_calls has no room' in r.stderr and 'did not end' in r.stderr, r.stderr)
        made = subprocess.run([STROBE, 'convert', '-q', '-f', 'chrome', 'profile.strobe'], cwd=p.path, capture_output=True, text=True)
        events = json.loads(made.stdout)['traceEvents']
        check(len(events) == 2000 and events[0]['dur'] >= 500000, f'{len(events)} {events[0]}')
        r = p.run('php', script, options=['--flame-chart'])
        check(r.returncode == 125 and '--flame-chart needs --trace' in r.stderr, r.stderr)


@test
def a_traced_request_sends_its_flame_chart_to_the_daemon():
    with Directory() as d:
        daemon = Daemon(d).start()
        try:
            script = f'{d}/x.php'
            with open(script, 'w') as f:
                f.write('<?php function a() { b(1); c(); b(2); } function b($n) { usleep(300); } function c() { } a();')
            subprocess.run(['php', '-d', f'extension={EXTENSION}', '-d', 'strobe.mode=off', '-d', 'strobe.trace_rate=1', '-d', 'strobe.instrument=1',
                            '-d', 'strobe.trace_flame_chart=1', '-d', f'strobe.socket={daemon.socket}', script], check=True)
            runs = wait_for(lambda: json.loads(daemon.get('/api/v1/runs'))['runs'])
            events = json.loads(daemon.get(f'/api/v1/profile?run={runs[0]["source"]}/{runs[0]["id"]}&format=chrome'))['traceEvents']
            check([e['name'] for e in events if e['name'] in 'abc'] == ['a', 'b', 'c', 'b'], f'{events}')
            main_ = events[0]
            check(main_['name'] == 'main()' and main_['ts'] < 10000 and all(e['ts'] + e['dur'] <= main_['ts'] + main_['dur'] + 0.001 for e in events), f'{events}')
        finally:
            daemon.stop()


if __name__ == '__main__':
    main()
