"""`strobe record` on real PHP processes. Where BPF is not permitted, or STROBE_WITHOUT=bpf says so, the same promises are kept by
reading memory, but for those about the kernel's part."""
import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

from daemon import Daemon
from fpm import Fpm
from recording import CHAINS, LONG_SLEEP, OLD_KERNEL, Cgroup, Php, check_chains, cpu_seconds, record, stacks, wait_for_samples
from strobe_test import EXTENSION, ROOT, STROBE, Directory, Skip, check, fastcgi, main, test, wait_for

def pending_signals(pid):
    """Signals sent to a process that its threads have not seen yet."""
    with open(f'/proc/{pid}/status') as f:
        return int(re.search(r'^ShdPnd:\s*(\w+)', f.read(), re.M)[1], 16)


SLEEPS = '<?php function nap() { usleep(5000); } echo "ready\\n"; while (true) nap();'


GENERATORS = '''<?php
function burn() { for ($i = 0; $i < 2000; $i++); }
function inner() { while (true) { burn(); yield 1; } }
function middle() { yield from inner(); }
function outer() { yield from middle(); }
function in_fiber() { while (true) { burn(); Fiber::suspend(); } }
$fiber = new Fiber('in_fiber');
$fiber->start();
echo "ready\\n";
foreach (outer() as $x) $fiber->resume();
'''
EMBED = '''#include <sapi/embed/php_embed.h>
int main(int argc, char **argv)
{
	zend_file_handle f;
	PHP_EMBED_START_BLOCK(argc, argv)
	zend_stream_init_filename(&f, argv[1]);
	php_execute_script(&f);
	PHP_EMBED_END_BLOCK()
	return 0;
}
'''


@test
def recorded_stacks_match_the_script():
    with Directory() as d, Php(d, CHAINS) as php:
        r = record('-p', php.process.pid, '-F', 999, '-d', 1, '--lang', 'php', '-o', f'{d}/out.folded')
        check(r.returncode == 0, r.stderr)
        check_chains(f'{d}/out.folded', php.path)


@test
def the_programs_for_the_oldest_kernels_give_the_same_result():
    with Directory() as d, Php(d, CHAINS) as php:
        r = record('-p', php.process.pid, '-F', 999, '-d', 1, '--lang', 'php', '-o', f'{d}/out.folded',
                   env={**os.environ, **OLD_KERNEL})
        check(r.returncode == 0, r.stderr)
        check_chains(f'{d}/out.folded', php.path)


@test
def off_cpu_time_is_attributed_to_the_waiting_function():
    with Directory() as d, Php(d, SLEEPS) as php:
        r = record('-p', php.process.pid, '--off-cpu', '-d', 1, '--lang', 'php', '-k', '-o', f'{d}/out.folded')
        check(r.returncode == 0 and 'blocked' in r.stderr, r.stderr)
        chains = list(stacks(f'{d}/out.folded'))
        waits = sum(n for frames, n in chains if ('nap', 'usleep') in zip(frames, frames[1:]))
        check(waits > 0.9 * sum(n for _, n in chains) > 0, f'usleep waits: {chains}')
        check(re.search(r'^ self%.*\n.* usleep( |$)', r.stderr, re.M), f'the waiting function is at the top of the table: {r.stderr}')
        check('bpf_prog' not in open(f'{d}/out.folded').read(), "the sampler's own frames are left out")


@test
def an_empty_recording_explains_itself_and_exits_with_4():
    with Directory() as d, Php(d, '<?php echo "ready\\n"; sleep(1000);') as php:
        r = record('-p', php.process.pid, '-d', 1, '-o', f'{d}/out.folded')
        check(r.returncode == 4, r)
        # Without an idle CPU nobody knows whether it was.
        check(re.search(r'^strobe: 0 of [\d,]+ (ticks|observations) found PHP on CPU: (the process was idle; send traffic or add --off-cpu|'
                       r'other programs had all CPUs)', r.stderr, re.M), r.stderr)


@test
def a_process_without_php_is_rejected():
    with subprocess.Popen(['sleep', '1000']) as other:
        r = record('-p', other.pid, '-d', 1)
        other.kill()
    check(r.returncode == 2 and 'runs no PHP' in r.stderr, r)


@test
def an_exiting_process_is_reported_as_exiting():
    """Its first thread has ended, so it has no program any more, as threads of the kernel."""
    with subprocess.Popen([sys.executable, '-c', 'import ctypes, threading, time; threading.Thread(target=time.sleep, args=(1000,)).start(); '
                           'ctypes.CDLL(None).pthread_exit(None)']) as other:
        state = re.compile(r'\) Z ')
        wait_for(lambda: state.search(open(f'/proc/{other.pid}/stat').read()))
        r = record('-p', other.pid, '-d', 1)
        other.kill()
    check(r.returncode == 2 and f'process {other.pid} is exiting' in r.stderr, r)
    r = record('-p', 2, '-d', 1)        # kthreadd, unless this is a container
    check(r.returncode == 2 and 'is exiting' not in r.stderr, r)


@test
def a_target_without_php_is_rejected_with_the_pid_of_its_php_child():
    with Directory() as d, Php(d, SLEEPS, 'timeout', '1000', 'php') as wrapper:
        with open(f'/proc/{wrapper.process.pid}/task/{wrapper.process.pid}/children') as f:
            php = f.read().strip()
        try:
            r = record('-p', wrapper.process.pid, '-d', 1)
            check(r.returncode == 2 and f'its child process {php} does: use -p {php}' in r.stderr, r)
        finally:
            wrapper.process.terminate()     # which timeout hands on
            wrapper.process.wait()


def call_chains(path):
    """Time by chain of the functions of a script."""
    sums = {}
    for frames, n in stacks(path):
        chain = ';'.join(f for f in frames[1:] if re.fullmatch(r'[a-z_]+', f))
        sums[chain] = sums.get(chain, 0) + n
    return sums


@test
def generators_and_fibers_are_recorded_with_their_callers():
    with Directory() as d, Php(d, GENERATORS) as php:
        r = record('-p', php.process.pid, '-F', 999, '-d', 1, '--lang', 'php', '-o', f'{d}/out.folded')
        check(r.returncode == 0, r.stderr)
        chains = call_chains(f'{d}/out.folded')
        burning = {chain: n for chain, n in chains.items() if chain.endswith('burn')}
        check(set(burning) == {'outer;middle;inner;burn', 'in_fiber;burn'}, f'burn is called from two places: {chains}')


@test
def a_sleep_longer_than_the_recording_is_counted_with_its_stack():
    with Directory() as d, Php(d, LONG_SLEEP) as php:
        r = record('-p', php.process.pid, '--off-cpu', '-d', 2, '-o', f'{d}/out.folded', kernel=True)
        check(r.returncode == 0, r.stderr)
        found = stacks(f'{d}/out.folded')
        check(len(found) == 1 and ';deep;sleep;' in ';'.join(found[0][0]) and found[0][0][-1].endswith('_[k]'), f'one stack: {found}')
        check(found[0][1] >= 2e9, f'with the whole time: {found}')
        r = record('-p', php.process.pid, '--off-cpu', '-d', 1, env={**os.environ, 'STROBE_WITHOUT': 'task_iter'})
        check(r.returncode == 4, f'empty on old kernels: {r}')


@test
def only_the_first_thread_of_a_process_has_php_frames():
    if not os.path.exists(EXTENSION):
        raise Skip('the extension, which starts a thread, is not built')
    ticking = ['php', '-n', '-d', f'extension={EXTENSION}', '-d', 'strobe.mode=sample', '-d', 'strobe.period=0.001']
    for source, chain in ((SLEEPS, 'nap;usleep'), (LONG_SLEEP, 'deep;sleep')):
        with Directory() as d, Php(d, source, *ticking) as php:
            check(len(os.listdir(f'/proc/{php.process.pid}/task')) > 1, 'the process has a second thread')
            r = record('-p', php.process.pid, '--off-cpu', '-d', 2, '-o', f'{d}/out.folded', kernel=True)
            check(r.returncode == 0, r.stderr)
            waits = sum(n for _, n in stacks(f'{d}/out.folded'))
            seconds = waits / 1e9
            check(any(f';{chain};' in ';'.join(frames) for frames, _ in stacks(f'{d}/out.folded')), f'{chain} waits')
            check(seconds <= 2.3, f'one thread waits at most for the elapsed time: {seconds} s: {r.stderr}')
            check(not any('start_thread' in frames for frames, _ in stacks(f'{d}/out.folded')), 'only the first thread is recorded')
            r = record('-p', php.process.pid, '--off-cpu', '--idle', '-d', 1, '-o', f'{d}/out.folded')
            others = [frames for frames, _ in stacks(f'{d}/out.folded') if 'start_thread' in frames]
            check(others and not any(php.path in frames for frames in others), f'other threads have no PHP frames: {others}')


@test
def a_process_stopped_throughout_is_counted_with_its_stack():
    with Directory() as d, Php(d, '<?php function busy() { echo "ready\\n"; flush(); while (true); } busy();') as php:
        php.process.send_signal(signal.SIGSTOP)
        r = record('-p', php.process.pid, '--off-cpu', '-d', 1, '--lang', 'php', '-o', f'{d}/out.folded')
        check(r.returncode == 0 and call_chains(f'{d}/out.folded').keys() == {'busy'}, r.stderr)
        # Without BPF the time begins with the first look.
        least, took = 0.9e9 if 'no BPF' in r.stderr else 1e9, sum(n for _, n in stacks(f'{d}/out.folded'))
        check(took >= least, f'the whole time: {took}: {r.stderr}')


def check_loop(d, *command, sleeps=True):
    with Php(d, CHAINS, *command) as php:
        r = record('-p', php.process.pid, '-F', 999, '-d', 1, '--lang', 'php', '-o', f'{d}/out.folded')
        check(r.returncode == 0, r.stderr)
        check_chains(f'{d}/out.folded', php.path)
    with Php(d, LONG_SLEEP, *command) as php:
        r = record('-p', php.process.pid, '--off-cpu', '-d', 1, '--lang', 'php', '-o', f'{d}/out.folded')
        check(r.returncode == 0 and call_chains(f'{d}/out.folded').keys() == {'deep;sleep'}, r.stderr)


def embed(d, config, *flags):
    """A program that has PHP in a library."""
    includes = subprocess.run([config, '--includes'], capture_output=True, text=True).stdout.split()
    with open(f'{d}/embed.c', 'w') as f:
        f.write(EMBED)
    r = subprocess.run(['cc', '-w', '-o', f'{d}/embed', f'{d}/embed.c', *includes, *flags], capture_output=True, text=True)
    if r.returncode:
        raise Skip('there is no libphp to link with: ' + r.stderr.strip().splitlines()[0][:200])
    return f'{d}/embed'


@test
def php_in_a_shared_library_is_recorded():
    version = subprocess.run(['php-config', '--version'], capture_output=True, text=True).stdout[:3]
    with Directory() as d:
        check_loop(d, embed(d, 'php-config', f'-lphp{version}'))


@test
def a_libphp_that_sleeps_throughout_is_found_in_a_container():
    """There the kernel's number of a process is not the one that a program sees."""
    version = subprocess.run(['php-config', '--version'], capture_output=True, text=True).stdout[:3]
    namespace = ['unshare', '--fork', '--pid', '--mount-proc', '--kill-child']
    if subprocess.run([*namespace, 'true'], capture_output=True).returncode:
        raise Skip('no pid namespace can be made here')
    with Directory() as d:
        program = embed(d, 'php-config', f'-lphp{version}')
        with open(f'{d}/script.php', 'w') as f:
            f.write(LONG_SLEEP)
        r = subprocess.run([*namespace, 'sh', '-c', '"$1" "$2" > "$3" & pid=$!; until grep -q ready "$3"; do sleep 0.1; done; '
                            '"$4" record -p $pid --off-cpu -d 1 --lang php -o "$5"', 'sh', program, f'{d}/script.php', f'{d}/said',
                            os.path.abspath(STROBE), f'{d}/out.folded'], capture_output=True, text=True, timeout=120)
        check(r.returncode == 0 and call_chains(f'{d}/out.folded').keys() == {'deep;sleep'}, r.stderr)


ZTS = f'{ROOT}/var/test/php-zts'


def need_zts():
    if not os.path.exists(f'{ZTS}/bin/php'):
        raise Skip('there is no thread-safe PHP; scripts/php-zts var/test/php-zts builds one')


@test
def a_thread_safe_php_is_recorded():
    need_zts()
    with Directory() as d:
        check_loop(d, f'{ZTS}/bin/php', '-n')


@test
def a_thread_safe_libphp_is_recorded():
    need_zts()
    with Directory() as d:
        check_loop(d, embed(d, f'{ZTS}/bin/php-config', f'-L{ZTS}/lib', '-lphp', f'-Wl,-rpath,{ZTS}/lib'))


@test
def a_deleted_php_binary_is_recorded():
    with Directory() as d:
        shutil.copy(os.path.realpath(shutil.which('php') or 'php'), f'{d}/program')
        with Php(d, CHAINS, f'{d}/program') as php:
            os.unlink(f'{d}/program')
            r = record('-p', php.process.pid, '-F', 999, '-d', 1, '--lang', 'php', '-o', f'{d}/out.folded')
            check(r.returncode == 0, r.stderr)
            check_chains(f'{d}/out.folded', php.path)


@test
def a_mismatching_offset_table_is_rejected():
    with Directory() as d, Php(d, CHAINS) as php:
        line = subprocess.run([f'{ROOT}/scripts/php-offsets'], capture_output=True, text=True).stdout
        if not line:
            raise Skip('there are no headers of PHP')
        with open(f'{d}/good', 'w') as f:
            f.write(line)
        with open(f'{d}/bad', 'w') as f:
            f.write(re.sub(r'class_name=\d+', 'class_name=16', line))
        r = record('-p', php.process.pid, '-d', 1, '--php-offsets', f'{d}/bad')
        check(r.returncode == 2 and 'does not match' in r.stderr and 'Exception' in r.stderr, r)
        r = record('-p', php.process.pid, '-F', 999, '-d', 1, '--lang', 'php', '--php-offsets', f'{d}/good', '-o', f'{d}/out.folded')
        check(r.returncode == 0, r.stderr)
        check_chains(f'{d}/out.folded', php.path)


@test
def the_offset_table_matches_the_headers():
    line = subprocess.run([f'{ROOT}/scripts/php-offsets'], capture_output=True, text=True).stdout.split()
    if not line:
        raise Skip('there are no headers of PHP')
    with open(f'{ROOT}/src/capture/php_offsets.txt') as f:
        rows = [row.split() for row in f if row.strip() and not row.startswith('#')]
    here = {}
    for row in [r for r in rows if r[0] == 'all'] + [r for r in rows if r[0] == line[0]]:
        here.update(pair.split('=') for pair in row[1:])
    check(here == dict(pair.split('=') for pair in line[1:]), f'{here} {line}')


@test
def a_recording_stopped_by_a_signal_is_kept():
    for signo in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with Directory() as d, Php(d, CHAINS) as php:
            p = subprocess.Popen([STROBE, 'record', '-P', php.path, '-F', '999', '--lang', 'php', '-o', f'{d}/out.folded'],
                                 stderr=subprocess.PIPE, text=True)
            wait_for_samples(p, php.process.pid, 0.3)
            p.send_signal(signo)
            said = p.communicate(timeout=60)[1]
            check(p.returncode == 0 and re.search('[0-9] samples of', said), f'{signo}: {p.returncode} {said}')
            check_chains(f'{d}/out.folded', php.path)


@test
def a_signal_during_startup_shuts_down_cleanly():
    line = subprocess.run([f'{ROOT}/scripts/php-offsets'], capture_output=True, text=True).stdout
    if not line:
        raise Skip('there are no headers of PHP')
    for signo, count in ((signal.SIGINT, 1), (signal.SIGTERM, 1), (signal.SIGHUP, 1), (signal.SIGTERM, 2)):
        with Directory() as d, Php(d, SLEEPS) as php:
            # It reads the table of offsets first, and that waits for a writer.
            os.mkfifo(f'{d}/table')
            p = subprocess.Popen([STROBE, 'record', '-p', str(php.process.pid), '-q', '--php-offsets', f'{d}/table', '-o', f'{d}/out.folded'],
                                 stderr=subprocess.PIPE, text=True)
            with open(f'{d}/table', 'w') as f:
                for _ in range(count):
                    p.send_signal(signo)
                    wait_for(lambda: p.poll() is not None or not pending_signals(p.pid))
                if count == 1:
                    f.write(line)
            said = p.communicate(timeout=120)[1]
            check(p.returncode == (4 if count == 1 else -signo), f'{signo} × {count}: {p.returncode} {said}')


@test
def nohup_keeps_the_recording_running_without_its_terminal():
    with Directory() as d, Php(d, CHAINS) as php:
        p = subprocess.Popen(['nohup', STROBE, 'record', '-P', php.path, '-F', '999', '--lang', 'php', '-o', f'{d}/out.folded'],
                             stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True)
        wait_for_samples(p, php.process.pid, 0.2)
        p.send_signal(signal.SIGHUP)
        wait_for_samples(p, php.process.pid, 0.2)
        check(p.poll() is None, 'it is still running')
        p.send_signal(signal.SIGTERM)
        said = p.communicate(timeout=60)[1]
        check(p.returncode == 0, said)


@test
def the_recording_ends_with_its_process():
    with Directory() as d, Php(d, CHAINS) as php:
        p = subprocess.Popen([STROBE, 'record', '-p', str(php.process.pid), '-F', '999', '--lang', 'php', '-o', f'{d}/out.folded'],
                             stderr=subprocess.PIPE, text=True)
        wait_for_samples(p, php.process.pid, 0.3)
        php.process.kill()
        # Nobody waits for it, so it stays a zombie.
        said = p.communicate(timeout=60)[1]
        check(p.returncode == 0 and re.search('^strobe: the process ended, and the recording with it, after [0-9.]+ s$', said, re.M), said)
        check_chains(f'{d}/out.folded', php.path)
        r = record('-p', php.process.pid, '-d', 60)
        check(r.returncode == 2 and f'process {php.process.pid} is a zombie: it has exited, but its parent has not reaped it' in r.stderr, r)


@test
def each_file_suffix_selects_a_format_that_includes_the_tick_counts():
    starts = {'svg': b'<?xml', 'svgz': b'\x1f\x8b', 'html': b'<!DOCTYPE', 'bt': b' ', 'pb.gz': b'\x1f\x8b', 'json': b'{', 'callgrind': b'', 'strobe': b''}
    with Directory() as d, Php(d, CHAINS) as php:
        for suffix, start in starts.items():
            # Native code takes much time to start with. Pictures are colored by layer where there is some.
            languages = [] if suffix in ('svg', 'svgz', 'html', 'strobe') else ['--lang', 'php']
            r = record('-p', php.process.pid, '-F', 999, '-d', 0.5, *languages, '-o', f'{d}/out.{suffix}')
            check(r.returncode == 0, f'{suffix}: {r.stderr}')
            with open(f'{d}/out.{suffix}', 'rb') as f:
                head = f.read(20)
            check(len(head) == 20 and head.lower().startswith(start.lower()), f'{suffix} begins with {start}: {head}')
        picture = subprocess.run([STROBE, 'flamegraph', f'{d}/out.strobe', '-o', f'{d}/again.svg'], capture_output=True, text=True)
        check(picture.returncode == 0, picture.stderr)
        for name in ('out.svg', 'again.svg', 'out.svgz', 'out.html', 'out.callgrind', 'out.json', 'out.pb.gz'):
            with (gzip.open if name.endswith('z') else open)(f'{d}/{name}', 'rb') as f:
                text = f.read().decode('utf-8', 'replace')
            check(re.search(r'sampler\W+record', text) and re.search(r'ticks\W+\d{2,}', text) and re.search(r'kept\W+\d{2,}', text),
                  f'{name}: {text[:300]}')
            check(not re.search('svgz?$|html$', name) or '"colorBy":"layer"' in text, f'{name} is colored by layer')


MANY_STACKS = '''<?php
for ($i = 0; $i < 40; $i++)
    eval("function f$i(\\$d) { if (\\$d <= 0) { for (\\$k = 0; \\$k < 300; \\$k++); return; } ('f' . mt_rand(0, 39))(\\$d - 1); }");
echo "ready\\n";
while (true) f0(30);
'''


@test
def kept_lost_idle_and_other_ticks_add_up_to_all_ticks():
    with Directory() as d, Php(d, MANY_STACKS) as php:
        p = subprocess.Popen([os.path.abspath(STROBE), 'record', '-p', str(php.process.pid), '-F', '10000', '--lang', 'php', '-o', f'{d}/out.strobe'],
                             stderr=subprocess.PIPE, text=True, env={**os.environ, 'STROBE_WITHOUT': ''})
        wait_for_samples(p, php.process.pid, 0.2)
        # Nobody takes the counts out of their table meanwhile.
        p.send_signal(signal.SIGSTOP)
        start = cpu_seconds(php.process.pid)
        wait_for(lambda: cpu_seconds(php.process.pid) - start >= 3, 60)
        p.send_signal(signal.SIGCONT)
        p.send_signal(signal.SIGINT)
        said = p.communicate(timeout=120)[1]
        if 'no BPF' in said:
            raise Skip('reading memory keeps no such table')
        check(p.returncode == 0, said)
        def number(words):
            found = re.search(words.replace('N', r'([\d,]+)'), said)
            return int(found[1].replace(',', '')) if found else 0

        kept, ticks, idle, other = (number(w) for w in ('N samples of PHP', 'of N ticks', r'\(N found an idle', 'CPU, N another program'))
        lost = number('N samples were lost: the table')
        check(lost > 100, f'the table was full: {said}')
        check(ticks == kept + lost + idle + other, f'{ticks} ticks: {said}')
        subprocess.run([STROBE, 'convert', f'{d}/out.strobe', '-o', f'{d}/out.folded'], check=True, stderr=subprocess.DEVNULL)
        check(sum(n for _, n in stacks(f'{d}/out.folded')) == kept, f'the profile contains the kept ticks: {said}')


@test
def processes_are_selected_by_cgroup_and_by_container():
    with Cgroup() as group, Directory() as d, Php(d, LONG_SLEEP) as inside, Directory() as other, \
            Php(other, LONG_SLEEP.replace('deep', 'elsewhere')):
        group.take(inside.process.pid)
        for choice in (['--cgroup', os.path.basename(group.path)], ['--cgroup', group.path], ['--container', group.id[:12]]):
            r = record(*choice, '--wall', '-d', 1, '--lang', 'php', '-o', f'{d}/out.folded')
            check(r.returncode == 0, f'{choice}: {r.stderr}')
            check(call_chains(f'{d}/out.folded').keys() == {'deep;sleep'}, f'{choice}: {stacks(f"{d}/out.folded")}')
        r = record('--container', '0123456789')
        check(r.returncode == 2 and "no container's id begins" in r.stderr, r)


@test
def a_cgroup_is_found_in_a_partially_mounted_hierarchy():
    """Containers see a part of it, or all of it from a namespace of their own, in which /proc/PID/cgroup has shorter paths."""
    with Cgroup() as outer, Directory() as d, Php(d, LONG_SLEEP) as inside, Directory() as other, \
            Php(other, LONG_SLEEP.replace('deep', 'elsewhere')):
        inner, mount = f'{outer.path}/inner', os.path.dirname(outer.path)
        os.mkdir(inner)
        try:
            with open(f'{inner}/cgroup.procs', 'w') as f:
                f.write(str(inside.process.pid))
            command = '"$1" record --cgroup "$2" --off-cpu -d 1 --lang php -o "$3"'
            for namespace, prepare, group in ((['-m'], f'mount --bind {outer.path} /mnt && umount {mount}', 'inner'),
                                              (['-m'], f'mount --bind {outer.path} /mnt && umount {mount}', '/'),
                                              (['-C'], 'true', f'{os.path.basename(outer.path)}/inner')):
                for way in ({}, {'STROBE_WITHOUT': 'bpf'}):
                    r = subprocess.run(['sh', '-c', f'echo $$ > {outer.path}/cgroup.procs; exec "$@"', 'sh', 'unshare', *namespace, 'sh', '-c',
                                        f'{prepare} && {command}', 'sh', os.path.abspath(STROBE), group, f'{d}/out.folded'],
                                       capture_output=True, text=True, timeout=120, env={**os.environ, **way})
                    if r.returncode and 'unshare' in r.stderr:
                        raise Skip(r.stderr)
                    check(r.returncode == 0, f'{namespace} {group} {way}: {r.stderr}')
                    check(call_chains(f'{d}/out.folded').keys() == {'deep;sleep'}, f'{namespace} {group} {way}: {r.stderr}')
                    os.remove(f'{d}/out.folded')
        finally:
            inside.process.kill()
            inside.process.wait()
            wait_for(lambda: not open(f'{inner}/cgroup.procs').read())
            os.rmdir(inner)


@test
def a_time_namespace_affects_neither_process_lookup_nor_durations():
    """There /proc tells other start times than the kernel has, and CLOCK_MONOTONIC is another one."""
    with Directory() as d:
        for name, source in (('asleep', LONG_SLEEP), ('busy', CHAINS)):
            with open(f'{d}/{name}.php', 'w') as f:
                f.write(source)
        for hours in (100, -1):
            offset = str(hours * 3600)
            namespace = ['unshare', '-T', '--monotonic', offset, '--boottime', offset, '--fork', '--kill-child']
            if subprocess.run([*namespace, 'true'], capture_output=True).returncode:
                if hours > 0:
                    raise Skip('no time namespace can be made here')
                continue        # the machine has not run for so long
            for name, options, wanted in (('asleep', ['--off-cpu'], {'deep;sleep'}), ('busy', ['-F', '499'], None)):
                r = subprocess.run([*namespace, 'sh', '-c', 'php -n "$1" > "$2" & pid=$!; until test -s "$2"; do sleep 0.1; done; '
                                    'out=$3 strobe=$4; shift 4; "$strobe" record -p $pid -d 1 --lang php -o "$out" "$@"; e=$?; kill $pid; exit $e',
                                    'sh', f'{d}/{name}.php', f'{d}/said', f'{d}/out.folded', os.path.abspath(STROBE), *options],
                                   capture_output=True, text=True, timeout=120)
                check(r.returncode == 0, f'{name}, {hours} h: {r.stderr}')
                if wanted:
                    check(call_chains(f'{d}/out.folded').keys() == wanted, r.stderr)
                    took = sum(count for _, count in stacks(f'{d}/out.folded'))
                    check(0.9e9 < took < 60e9, f'about a second of {hours} hours: {took}')
                os.remove(f'{d}/said')


@test
def a_proc_of_another_pid_namespace_is_rejected():
    """Its numbers differ, so lookups by number would find the wrong process."""
    namespace = ['unshare', '--fork', '--pid', '--kill-child']
    if subprocess.run([*namespace, 'true'], capture_output=True).returncode:
        raise Skip('no pid namespace can be made here')
    with Directory() as d, Php(d, LONG_SLEEP) as php:
        pid = str(php.process.pid)
        for way in ({}, {'STROBE_WITHOUT': 'bpf'}):
            for arguments in (['record', '-p', pid, '-d', '1', '-o', f'{d}/out.folded'], ['dump', '-p', pid], ['top', '-p', pid, '-d', '1'],
                              ['files', '-p', pid, '-d', '1']):
                r = subprocess.run([*namespace, STROBE, *arguments], capture_output=True, text=True, timeout=120, env={**os.environ, **way})
                check(r.returncode == 2 and "another pid namespace than strobe's: mount -t proc" in r.stderr, f'{way} {arguments}: {r}')
        r = subprocess.run([*namespace, STROBE, 'doctor', '--json'], capture_output=True, text=True, timeout=120)
        check("another pid namespace than strobe's" in r.stdout, r.stdout)


ALPHA = '<?php function alpha_one() { for ($i = 0; $i < 300000; $i++); } function alpha_two() { alpha_one(); } alpha_two(); echo "a";'


class Requests:
    """Requests one script after the other from a php-fpm until the end of the block."""

    def __init__(self, fpm, scripts, pools=('www',)):
        self.fpm, self.scripts, self.pools, self.over = fpm, scripts, pools, False

    def ask(self):
        while not self.over:
            for pool in self.pools:
                for script in self.scripts:
                    self.fpm.get(script, pool=pool)

    def __enter__(self):
        self.thread = threading.Thread(target=self.ask)
        self.thread.start()

    def __exit__(self, *_):
        self.over = True
        self.thread.join()


@test
def functions_at_the_same_address_keep_their_names():
    with Directory() as d, Fpm(d, plain=True, children=1) as fpm:
        fpm.write('a.php', ALPHA)
        fpm.write('b.php', ALPHA.replace('alpha', 'bravo'))
        with Requests(fpm, ['a.php', 'b.php']):
            r = record('--fpm', '-F', 999, '-d', 3, '--lang', 'php', '-o', f'{d}/out.folded')
        check(r.returncode == 0, r.stderr)
        seen = set()
        for frames, n in stacks(f'{d}/out.folded'):
            if frames[0] in (f'{d}/a.php', f'{d}/b.php') and len(frames) > 1:
                word = 'alpha' if frames[0] == f'{d}/a.php' else 'bravo'
                seen.add(word)
                check(all(f.startswith(word) for f in frames[1:]), f'only functions of that script: {frames}')
        check(seen == {'alpha', 'bravo'}, f'both scripts: {seen}')


@test
def profiles_are_sent_to_a_daemon_with_pool_and_entry_labels():
    with Directory() as d, Daemon(d) as daemon, Directory() as f, Fpm(f, pools={'shop': [], 'blog': []}, plain=True, children=1) as fpm:
        fpm.write('cart.php', ALPHA)
        with Requests(fpm, ['cart.php'], pools=['shop', 'blog']):
            r = record('--fpm', '-F', 999, '-d', 1.5, '--wall', '--to', daemon.socket, '--label', 'pid')
        check(r.returncode == 0 and 'profiles were sent' in r.stderr, r.stderr)
        wait_for(lambda: daemon.status()['samples']['stored'] > 0)
        labels = {label['key']: {v['value'] for v in label['values']} for label in json.loads(daemon.get('/api/v1/labels?from=-1h'))['labels']}
        check(labels.get('pool') == {'shop', 'blog'} and 'cart' in labels.get('entry', ()) and 'GET' in labels.get('method', ()) and
              labels.get('sampler') == {'record'}, f'{labels}')
        # A tick may also find the master, which looks after its workers once a second.
        workers = {str(pid) for pid in fpm.workers()}
        check(workers <= labels.get('pid', set()) <= workers | {str(fpm.process.pid)}, f'{workers} {labels}')
        folded = daemon.get('/api/v1/profile?format=folded&from=-1h&pool=shop')
        check('alpha_two;alpha_one' in folded, folded[:500])


@test
def a_program_without_a_file_gets_the_same_entry_label_as_in_the_extension():
    source = 'function nap() { for ($i = 0; $i < 10000; $i++); } echo "ready\\n"; while (true) nap();'
    if not os.path.exists(EXTENSION):
        raise Skip('the extension is not built')
    for words, text in (['-r', source], None), ([], f'<?php {source}'):
        with Directory() as d, Daemon(d) as daemon:
            options = ['-n', '-d', f'extension={EXTENSION}', '-d', 'strobe.mode=sample', '-d', f'strobe.socket={daemon.socket}',
                       '-d', 'strobe.labels="host=node-a"']
            php = subprocess.Popen(['php', *options, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            php.stdin.write(text or '')
            php.stdin.close()
            php.stdout.readline()
            r = record('-p', php.pid, '-F', 99, '-d', 1, '--lang', 'php', '--to', daemon.socket, '--label', 'host=node-a')
            php.terminate()
            php.wait()
            php.stdout.close()
            check(r.returncode == 0, r.stderr)
            for sampler in 'record', '!record':
                found = lambda: json.loads(daemon.get(f'/api/v1/labels?from=-1h&sampler={sampler}'))['labels']
                check(wait_for(found), f'{sampler}: samples are stored')
                labels = {label['key']: [v['value'] for v in label['values']] for label in found()}
                check(labels['entry'] == ['-'] and labels['host'] == ['node-a'], f'{sampler}: {labels}')


@test
def php_is_recorded_with_any_request_method():
    with Directory() as f, Fpm(f, plain=True, children=1) as fpm:
        fpm.write('busy.php', '<?php function busy() { while (!file_exists(__DIR__ . "/end")); } busy();')
        for method in ('M-SEARCH', 'get', 'VERSION-CONTROL-OF-MINE', ''):
            request = threading.Thread(target=fastcgi, args=(f'{f}/www.sock', f'{f}/busy.php', method))
            start = cpu_seconds(fpm.workers()[0])
            request.start()
            wait_for(lambda: cpu_seconds(fpm.workers()[0]) - start > 0.2)
            r = record('-p', fpm.workers()[0], '-d', 0.3, '--lang', 'php', '-o', f'{f}/out.folded')
            fpm.write('end', '')
            request.join()
            os.unlink(f'{f}/end')
            check(r.returncode == 0 and ';busy' in open(f'{f}/out.folded').read(), f'{method}: {r.stderr}')


@test
def a_daemon_receives_waits_before_they_end():
    with Directory() as d, Daemon(d) as daemon, Directory() as f, Php(f, LONG_SLEEP) as php:
        command = [os.path.abspath(STROBE), 'record', '-p', str(php.process.pid), '--wall', '--lang', 'php', '--to', daemon.socket]
        recording = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)

        def slept():
            time.sleep(0.2)
            folded = daemon.get('/api/v1/profile?format=folded&column=off_cpu_ns&from=-1h')
            return sum(int(line.rsplit(' ', 1)[1]) for line in folded.splitlines() if ';deep;sleep' in line) / 1e9

        early = wait_for(slept)
        going_on = recording.poll() is None
        recording.send_signal(signal.SIGINT)
        words = recording.communicate(timeout=60)[1]
        check(going_on and early > 5, f'the sleep is stored before it ends: {early} {words}')
        seconds = float(re.search(r'(?:in|ticks,) ([0-9.]+) s', words)[1])
        check(wait_for(lambda: slept() > seconds - 1) and slept() < seconds + 0.5, f'no second is counted twice: {slept()} {words}')


@test
def an_unreachable_daemon_is_reported_with_its_address():
    with Directory() as d, Php(d, SLEEPS) as php:
        r = record('-p', php.process.pid, '-d', 1, '--off-cpu', '--to', f'{d}/nobody.sock')
        check(r.returncode == 2 and f"cannot connect to the daemon at '{d}/nobody.sock'" in r.stderr, r)


if __name__ == '__main__':
    main()
