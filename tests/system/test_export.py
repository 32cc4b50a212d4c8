"""`strobe export` and `strobe grep` on trees that change meanwhile: kills, full disks, others at work; and beside a daemon."""
import fcntl
import glob
import gzip
import json
import os
import random
import resource
import signal
import subprocess
import time

from daemon import Daemon
from strobe_test import STROBE, Directory, check, main, test, wait_for
import wire

OLD = time.time() - 20 * 86400


def strobe(directory, *arguments, **more):
    return subprocess.run([STROBE, *arguments], cwd=directory, capture_output=True, text=True, errors='replace', timeout=60,
                          stdin=subprocess.DEVNULL, **more)


def put_log(directory, name, lines, mtime=OLD):
    path = os.path.join(directory, 'logs', name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.writelines(line + '\n' for line in lines)
    os.utime(path, (mtime, mtime))
    return path


def stacks(count, seed):
    """Lines of which most are different, so that there is something to do."""
    r = random.Random(seed)
    return [';'.join(['index.php'] + [f'Class{r.randrange(60)}::method{r.randrange(40)}' for _ in range(r.randrange(3, 25))])
            + ' 1' for _ in range(count)]


def files(directory, part):
    return sorted(os.path.relpath(p, directory) for p in glob.glob(f'{directory}/{part}/*/*'))


def is_whole(path):
    try:
        return gzip.open(path).read().endswith(b'</svg>\n')
    except (OSError, EOFError):
        return False


def kill_after(seconds, directory, *arguments):
    """Runs it and kills it with all that it started; true if it was still at work."""
    p = subprocess.Popen([STROBE, *arguments], cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)
    time.sleep(seconds)
    p.send_signal(signal.SIGKILL)
    return p.wait() == -signal.SIGKILL


def unlocked(path):
    """Jobs end with their parent, but not in the same moment."""
    def try_lock():
        with open(path, 'w', encoding='utf-8') as f:
            try:
                fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            return True
    return wait_for(try_lock)


@test
def killing_an_export_leaves_no_incomplete_flame_graphs():
    with Directory() as d:
        for i in range(4):
            put_log(d, f'daily/2026-11-0{i + 1}.all.log', stacks(1500, i))
        killed = 0
        for seconds in [0.01, 0.03, 0.06, 0.1, 0.15, 0.2]:
            killed += kill_after(seconds, d, 'export', 'svgs', '--logs', 'logs', '-j2')
            broken = [f for f in files(d, 'svgs') if f.endswith('.svgz') and not is_whole(f'{d}/{f}')]
            check(not broken, f'after {seconds} s: {broken}')
            if os.path.exists(f'{d}/svgs/.export-svgs.lock'):
                check(unlocked(f'{d}/svgs/.export-svgs.lock'), 'no process holds the lock')
        check(killed > 0, 'at least one export was killed before it finished')
        r = strobe(d, 'export', 'svgs', '--logs', 'logs')
        check(r.returncode == 0, f'{r}')
        check(len(files(d, 'svgs')) == 8 and all(is_whole(f'{d}/{f}') for f in files(d, 'svgs')), f'{files(d, "svgs")}')
        r = strobe(d, 'export', 'svgs', '--logs', 'logs')
        check('0 drawn' in r.stderr and '4 up to date' in r.stderr, f'{r}')


@test
def no_lines_are_lost_when_compression_is_killed():
    with Directory() as d:
        lines = stacks(20000, 7)
        path = put_log(d, 'daily/2026-11-01.all.log', lines)
        killed = 0
        for seconds in [0.01, 0.03, 0.05, 0.08, 0.12, 0.2]:
            killed += kill_after(seconds, d, 'export', 'compress', '--logs', 'logs', '--older-than', '7')
            check(os.path.exists(path) or is_log(path + '.gz', lines), f'the log exists, compressed or not, after {seconds} s')
            if os.path.exists(f'{d}/logs/.export-compress.lock'):
                check(unlocked(f'{d}/logs/.export-compress.lock'), 'no process holds the lock')
        check(killed > 0, 'at least one compression was killed before it finished')
        r = strobe(d, 'export', 'compress', '--logs', 'logs', '--older-than', '7')
        check(r.returncode == 0, f'{r}')
        check(files(d, 'logs') == ['logs/daily/2026-11-01.all.log.gz'], f'{files(d, "logs")}')
        check(is_log(path + '.gz', lines), 'the compressed log contains all lines, sorted')
        check(abs(os.path.getmtime(path + '.gz') - OLD) < 0.001, 'the compressed log has the modification time of the log')


def is_log(path, lines):
    with gzip.open(path, 'rt', encoding='utf-8') as f:
        return f.read().splitlines() == sorted(lines)


@test
def a_concurrent_export_of_the_same_tree_is_skipped():
    with Directory() as d:
        put_log(d, 'daily/2026-11-01.all.log', stacks(10, 1))
        first = subprocess.Popen([STROBE, 'export', 'svgs', '--logs', 'logs', '--upload', f'sh -c "touch {d}/begun; sleep 50"'],
                                 cwd=d, stderr=subprocess.DEVNULL)
        check(wait_for(lambda: os.path.exists(f'{d}/begun')), 'the first export is running')
        r = strobe(d, 'export', 'svgs', '--logs', 'logs')
        check(r.returncode == 0 and 'another export is already running' in r.stderr and 'drawn' not in r.stderr, f'{r}')
        r = strobe(d, 'export', 'compress', '--logs', 'logs')
        check(r.returncode == 0 and '1 compressed' in r.stderr, f'compression can run at the same time: {r}')
        first.kill()
        first.wait()
        check(unlocked(f'{d}/svgs/.export-svgs.lock'), 'its jobs and their commands have exited')


@test
def a_log_removed_during_the_export_is_skipped():
    with Directory() as d:
        gone = put_log(d, 'daily/2026-11-01.all.log', stacks(10, 1))
        put_log(d, 'daily/2026-11-02.all.log', stacks(10, 2), OLD + 5)
        r = strobe(d, 'export', 'svgs', '--logs', 'logs', '-j1', '--upload', f'sh -c "rm -f {gone}" {{}}')
        check(r.returncode == 0 and '1 drawn' in r.stderr and '1 removed meanwhile' in r.stderr, f'{r}')
        check(len(files(d, 'svgs')) == 2, f'{files(d, "svgs")}')


@test
def a_failed_write_leaves_the_existing_files_unchanged():
    def small_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))

    with Directory() as d:
        lines = stacks(3000, 1)
        path = put_log(d, 'daily/2026-11-01.all.log', lines)
        r = strobe(d, 'export', 'svgs', '--logs', 'logs', preexec_fn=small_files)
        check(r.returncode == 2 and 'cannot write' in r.stderr and '1 failed' in r.stderr, f'{r}')
        check(files(d, 'svgs') == [], f'{files(d, "svgs")}')
        r = strobe(d, 'export', 'compress', '--logs', 'logs', preexec_fn=small_files)
        check(r.returncode == 2 and 'cannot write' in r.stderr and '1 failed' in r.stderr, f'{r}')
        check(files(d, 'logs') == ['logs/daily/2026-11-01.all.log'], f'{files(d, "logs")}')
        check(strobe(d, 'export', 'svgs', '--logs', 'logs').returncode == 0, 'flame graphs are drawn once there is space again')
        check(strobe(d, 'export', 'compress', '--logs', 'logs').returncode == 0 and is_log(path + '.gz', lines), 'the log is compressed once there is space again')


@test
def lines_are_sorted_on_disk_when_memory_is_limited():
    with Directory() as d:
        lines = stacks(20000, 3)
        path = put_log(d, 'daily/2026-11-01.all.log', lines)
        r = strobe(d, 'export', 'compress', '--logs', 'logs', '--memory', '1M')
        check(r.returncode == 0 and is_log(path + '.gz', lines), f'{r}')
        check(files(d, 'logs') == ['logs/daily/2026-11-01.all.log.gz'], f'{files(d, "logs")}')


@test
def watch_redraws_changed_logs_until_it_is_terminated():
    with Directory() as d:
        path = put_log(d, 'daily/2026-11-01.all.log', ['index.php;Cart::add 1'])
        p = subprocess.Popen([STROBE, 'export', 'svgs', '--logs', 'logs', '--watch', '1'], cwd=d, stderr=subprocess.DEVNULL)
        picture = f'{d}/svgs/daily/2026-11-01.all.svgz'
        check(wait_for(lambda: os.path.exists(picture)), 'the first flame graph is drawn')
        with open(path, 'a', encoding='utf-8') as f:
            f.write('index.php;Page::get 1\n')
        check(wait_for(lambda: b'Page::get' in gzip.open(picture).read()), 'the flame graph shows the added line')
        p.terminate()
        check(p.wait(60) == 0, 'the command exits with 0 on SIGTERM')


@test
def progress_is_shown_on_a_terminal_and_a_one_line_summary_elsewhere():
    with Directory() as d:
        put_log(d, 'daily/2026-11-01.all.log', stacks(10, 1))
        ours, theirs = os.openpty()
        command = [STROBE, 'export', 'svgs', '--logs', 'logs', '--redraw']
        check(subprocess.run(command, cwd=d, stderr=theirs, timeout=60).returncode == 0, 'the command exits with 0')
        os.close(theirs)
        shown = b''
        try:
            while more := os.read(ours, 4096):
                shown += more
        except OSError:             # all was read, and nobody writes any more
            pass
        os.close(ours)
        check(b'1 of 1: logs/daily/2026-11-01.all.log' in shown and b'1 drawn' in shown, f'{shown}')
        r = strobe(d, *command[1:])
        check('1 of 1' not in r.stderr and r.stderr.count('\n') == 1, f'{r}')


@test
def control_characters_in_file_names_are_escaped_in_all_output():
    with Directory() as d:
        put_log(d, 'da\x1b[31mily\n/2026-11-01.a\x1b]0;x\x07l\nl.log', ['index.php;\x1b[2JCart::add 1'])
        for words in (['export', 'svgs'], ['export', 'metrics'], ['export', 'index']):
            r = strobe(d, *words, '--logs', 'logs')
            check(r.returncode == 0 and '\x1b' not in r.stdout + r.stderr and '\x07' not in r.stdout + r.stderr, f'{words}: {r}')
        index = json.loads(strobe(d, 'export', 'index', '--logs', 'logs').stdout)
        check(len(index) == 3 and index[0]['entry'] == 'a\ufffd]0;x\ufffdl\nl', f'{index}')
        r = strobe(d, 'grep', f'logs/da\x1b[31mily\n/2026-11-01.a\x1b]0;x\x07l\nl.log')
        check(r.returncode == 0 and '\x1b' not in r.stdout + r.stderr, f'{r}')


@test
def trace_logs_written_by_collect_are_drawn_searched_and_measured():
    with Directory() as d:
        with open(f'{d}/arclamp-log.yaml', 'w', encoding='utf-8') as f:
            f.write(f'base_path: {d}/logs\nlogs:\n  - {{format: "%Y-%m-%d.excimer", period: daily, retain: 3}}\n')
        lines = '/srv/w/index.php;Cart::add;strlen 3\n/srv/w/load.php;UploadBase::performUpload 1\n'
        r = subprocess.run([STROBE, 'collect', '--arclamp', 'arclamp-log.yaml', '--from', '-', '--state', 'state', '--listen',
                            'none'], cwd=d, input=lines, capture_output=True, text=True, timeout=60)
        check(r.returncode == 0, f'{r}')
        r = strobe(d, 'export', 'svgs', '--arclamp', 'arclamp-log.yaml')
        names = [f.split('.', 1)[1] for f in files(d, 'svgs')]
        check(r.returncode == 0 and names == sorted(
            f'excimer.{tag}{turned}.svgz' for tag in ('all', 'all.fn-Upload', 'index', 'load') for turned in ('.reversed', '')),
            f'{names} {r}')
        r = strobe(d, 'grep', '--arclamp', 'arclamp-log.yaml', '--entrypoint', 'index')
        check('1 | Cart::add | 100.00%' in r.stdout, f'{r}')
        r = strobe(d, 'export', 'metrics', '--arclamp', 'arclamp-log.yaml')
        check('arclamp_newest_log_seconds{period="daily",profiler="excimer",entry="load",compressed="no"} ' in r.stdout, f'{r}')


@test
def grep_counts_samples_from_a_store_and_from_a_daemon():
    with Directory() as d:
        with Daemon(d) as daemon:
            sender = wire.connect(daemon.socket)
            sender.send(wire.message({('index.php', 'Cart::add', 'strlen'): 3, ('index.php', 'Page::get'): 1},
                                     labels={'entry': 'index', 'profiler': 'excimer'}))
            sender.send(wire.message({('api.php', 'Api::run'): 6}, labels={'entry': 'api', 'profiler': 'wall'}))
            check(wait_for(lambda: daemon.status()['samples']['stored'] == 10), 'the samples are stored')
            for where in (['--url', daemon.url], ['--store', f'sqlite:{d}/state']):
                r = strobe(d, 'grep', *where, '--json')
                got = {f['function']: f['samples'] for f in json.loads(r.stdout)['functions']}
                check(got == {'Api::run': 6, 'Cart::add': 3, 'Page::get': 1}, f'{where}: {r}')
                r = strobe(d, 'grep', *where, '--entrypoint', 'index')
                check('Top 20 functions, index.php:' in r.stdout and '75.00%' in r.stdout and 'Api' not in r.stdout, f'{r}')
                r = strobe(d, 'grep', *where, '--channel', 'wall')
                check('Api::run | 100.00%' in r.stdout and 'Cart' not in r.stdout, f'{r}')
                r = strobe(d, 'grep', *where, '--entrypoint', 'nobody')
                check(r.returncode == 4 and not r.stdout and 'nothing to list' in r.stderr, f'{where}: {r}')


main()
