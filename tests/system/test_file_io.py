"""`strobe record --file-io` and `strobe files` on real PHP processes whose calls are known; skips with the kernel's reason where
BPF is not permitted."""
import collections
import json
import os
import re
import shutil
import signal
import subprocess

from daemon import Daemon
from fpm import Fpm
from recording import OLD_KERNEL, Cgroup
from strobe_test import STROBE, Directory, Skip, check, main, test, wait_for

# Scripts wait for a line before they begin, so that the recording is there.
GATE = '<?php\nfgets(STDIN);\n'
BINARY = os.path.abspath(STROBE)

WORK = GATE + '''
chdir($argv[1]);
function put($name, $size, $times, $mode = 'w') {
    $f = fopen($name, $mode);
    stream_set_write_buffer($f, 0);
    for ($i = 0; $i < $times; $i++) fwrite($f, str_repeat('x', $size));
    return $f;
}
function get($name) { $f = fopen($name, 'r'); $n = 0; while (($s = fread($f, 8192)) !== '' && $s !== false) $n += strlen($s); return $n; }
class Cache { static function load($name) { return include $name; } }

$f = put('a.txt', 1000, 25);
fsync($f); fdatasync($f); fstat($f);
fclose($f);
get('a.txt');
fclose(put('a.txt', 10, 3, 'a'));
$f = fopen('a.txt', 'r+'); ftruncate($f, 7000); fclose($f);
get('a.txt');

$f = put('gone.txt', 100, 2); unlink('gone.txt'); fwrite($f, '12345'); fclose($f);
$f = put('old.txt', 100, 2); rename('old.txt', 'new.txt'); fwrite($f, '1234567'); fclose($f);

for ($i = 0; $i < 3; $i++) Cache::load('included.php');
@file_get_contents('missing.txt');
is_file('missing.txt'); file_exists('a.txt'); is_readable('a.txt'); stat('link');
copy('a.txt', 'copy.txt');
scandir('.');
get('link');
'''


def check_permitted(r):
    if r.returncode == 2 and re.search('does not let this user|no BPF|built without|perf_event_paranoid|take BPF', r.stderr):
        raise Skip(r.stderr.strip()[:200])


def waits_for_its_line(pid):
    try:
        with open(f'/proc/{pid}/comm') as c, open(f'/proc/{pid}/wchan') as f:
            return c.read().startswith('php') and 'pipe_read' in f.read()
    except OSError:
        return False


class Script:
    """A PHP that waits at its gate."""

    def __init__(self, directory, source, *args, command=('php', '-d', 'opcache.enable_cli=0')):
        if not shutil.which('php'):
            raise Skip('there is no php here')
        self.path = f'{directory}/script.php'
        with open(self.path, 'w') as f:
            f.write(source)
        self.command = [*command, self.path, *args]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = self.process.pid
        return self

    def is_waiting(self):
        return waits_for_its_line(self.pid)

    def go(self):
        self.process.stdin.write(b'go\n')
        self.process.stdin.close()

    def finish(self):
        """Waits for the end."""
        self.said = self.process.stdout.read().decode()
        self.process.wait(timeout=60)

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        for f in (self.process.stdin, self.process.stdout):
            f.close()


def links(pid):
    """The number of BPF programs that the process has attached."""
    n = 0
    for fd in os.listdir(f'/proc/{pid}/fdinfo'):
        try:
            with open(f'/proc/{pid}/fdinfo/{fd}') as f:
                n += 'link_type' in f.read()
        except OSError:
            pass
    return n


def records(process):
    """Whether all is attached (exec, fork, and the two of file I/O or of switches), who slept is known, and events are waited for."""
    if process.poll() is not None:
        return True
    with open(f'/proc/{process.pid}/wchan') as f:
        return links(process.pid) >= 4 and 'epoll' in f.read()


def run(*args, scripts, env=None):
    """Records from before the scripts begin until all have ended."""
    for s in scripts:
        check(wait_for(s.is_waiting), 'the script waits for input')
    targets = [word for s in scripts for word in ('-p', str(s.pid))]
    p = subprocess.Popen([BINARY, *map(str, args), *targets], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         env={**os.environ, **(env or {})})
    wait_for(lambda: records(p))
    for s in scripts:
        s.go()
    for s in scripts:
        s.finish()
    out, err = p.communicate(timeout=60)
    r = subprocess.CompletedProcess(args, p.returncode, out, err)
    check_permitted(r)
    return r


def files(*args, scripts, **more):
    r = run('files', '--json', '-n', 0, *args, scripts=scripts, **more)
    check(r.returncode == 0, r.stderr)
    return json.loads(r.stdout)


def stacks(path):
    with open(path) as f:
        return [(line.rsplit(' ', 1)[0].split(';'), int(line.rsplit(' ', 1)[1])) for line in f]


# --- strace's view

OPERATIONS = {'read': 'read', 'pread64': 'read', 'write': 'write', 'pwrite64': 'write', 'openat': 'open', 'newfstatat': 'stat', 'stat': 'stat',
              'lstat': 'stat', 'fstat': 'stat', 'access': 'stat', 'faccessat': 'stat', 'faccessat2': 'stat', 'fsync': 'fsync', 'fdatasync': 'fsync',
              'copy_file_range': 'read', 'sendfile': 'read', 'statx': 'stat'}


def absolute(path, directory):
    path = os.path.join(directory, path)
    while '/./' in path or '//' in path:
        path = path.replace('/./', '/').replace('//', '/')
    return path[:-2] if path.endswith('/.') else path


def traced(log, directory):
    """{path: {operation: [calls, failed, bytes]}} of what follows the gate."""
    found = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0, 0]))
    with open(log) as f:
        lines = f.read().split('read(0<pipe', 1)[1].split('\n')[1:]
    for line in lines:
        m = re.match(r'\d+ +(\w+)\((.*)\) += (-?\d+)(?:<(.*?)>(\(deleted\))?)?(?: E\w+ .*)?$', line)
        if not m or m[1] not in OPERATIONS:
            continue
        operation, result = OPERATIONS[m[1]], int(m[3])
        opened = re.findall(r'(?:^|, )\d+<([^>]*)>(\(deleted\))?', m[2])
        named = re.search(r'"([^"]*)"', m[2])
        if operation == 'open' and result >= 0:
            paths = [(m[4], m[5])]
        elif operation in ('open', 'stat') and named and (named[1] or not opened):
            paths = [(absolute(named[1], directory), None)]
        else:
            paths = opened
        for i, (path, deleted) in enumerate(paths):
            if not path.startswith('/'):
                continue
            entry = found[path + (' (deleted)' if deleted else '')]['write' if i else operation]
            entry[0] += 1
            entry[1] += result < 0
            if operation in ('read', 'write'):
                entry[2] += max(result, 0)
    return {path: dict(operations) for path, operations in found.items()}


def rows_of(answer):
    return {row['path']: {o: [c['calls'], c['failed'], c['bytes']] for o, c in row['operations'].items()} for row in answer['files']}


def rows_by_path(answer):
    return {row['path']: row for row in answer['files']}


def prepare(d):
    os.mkdir(f'{d}/site')
    with open(f'{d}/site/included.php', 'w') as f:
        f.write('<?php return ' + repr('y' * 5000) + ';')
    os.symlink('a.txt', f'{d}/site/link')
    return f'{d}/site'


def traced_child(strace):
    """The script's process. Others come before it: strace tries out what ptrace can do."""
    found = []

    def look():
        with open(f'/proc/{strace}/task/{strace}/children') as f:
            found[:] = [int(pid) for pid in f.read().split() if waits_for_its_line(pid)]
        return found

    check(wait_for(look), 'strace is attached to the script')
    return found[0]


def check_work(d, env=None):
    strace = shutil.which('strace')
    if not strace:
        raise Skip('strace is not installed')
    work = prepare(d)
    command = [strace, '-f', '-y', '-qq', '-s', '4096', '-o', f'{d}/log', 'php', '-d', 'opcache.enable_cli=0']
    with Script(d, WORK, work, command=command) as script:
        script.pid = traced_child(script.process.pid)
        found = files(scripts=[script], env=env)
    check(found['left_out']['lost'] == 0 and found['left_out']['files'] == 0, found['left_out'])
    return work, found, traced(f'{d}/log', work)


def check_equal(rows, expected):
    for path in sorted(set(rows) | set(expected)):
        check(rows.get(path) == expected.get(path), f'{path}: strobe {rows.get(path)}, strace {expected.get(path)}')
    check(len(rows) > 8, rows)


@test
def calls_and_bytes_match_those_reported_by_strace():
    with Directory() as d:
        work, found, expected = check_work(d)
        rows = rows_of(found)
        check_equal(rows, expected)
        # And those that the script meant.
        check(rows[f'{work}/a.txt']['write'] == [28, 0, 25030], rows[f'{work}/a.txt'])
        check(rows[f'{work}/a.txt']['read'][2] == 25000 + 7000 + 7000 + 7000, rows[f'{work}/a.txt'])
        check(rows[f'{work}/a.txt']['fsync'] == [2, 0, 0], rows[f'{work}/a.txt'])
        check(rows[f'{work}/gone.txt']['write'] == [2, 0, 200] and rows[f'{work}/gone.txt (deleted)']['write'] == [1, 0, 5], 'writes to a file after its deletion are listed separately')
        check(rows[f'{work}/old.txt']['write'] == [2, 0, 200] and rows[f'{work}/new.txt']['write'] == [1, 0, 7], 'writes to a renamed file are attributed to both names')
        check(rows[f'{work}/included.php']['read'][2] == 3 * os.path.getsize(f'{work}/included.php'), rows[f'{work}/included.php'])
        check(rows[f'{work}/missing.txt']['open'] == [1, 1, 0], rows[f'{work}/missing.txt'])
        check(rows[f'{work}/copy.txt']['write'][2] == 7000, rows[f'{work}/copy.txt'])
        check(f'{work}/link' in rows and 'read' not in rows[f'{work}/link'], 'reads through a symlink are attributed to its target')
        stack = {row['path']: row['stack']['frames'] for row in found['files']}
        check(stack[f'{work}/included.php'] == [f'{d}/script.php', 'Cache::load'], stack[f'{work}/included.php'])
        check(stack[f'{work}/new.txt'] == [f'{d}/script.php', 'fwrite'], stack[f'{work}/new.txt'])


@test
def the_fallbacks_for_old_kernels_give_the_same_result():
    with Directory() as d:
        _, found, expected = check_work(d, env=OLD_KERNEL)
        check_equal(rows_of(found), expected)


# --- graphs

WRITES = GATE + 'function save($d) { $f = fopen("$d/x", "w"); for ($i = 0; $i < 40; $i++) fwrite($f, str_repeat("x", 20000)); } save($argv[1]);'


@test
def stacks_are_weighted_by_bytes_calls_or_latency():
    sums = {}
    for weight in ('--bytes', '--count', '--latency'):
        with Directory() as d, Script(d, WRITES, d) as script:
            r = run('record', '--file-io', weight, '-o', f'{d}/out.folded', scripts=[script])
            check(r.returncode == 0, r.stderr)
            sums[weight] = {tuple(f[1:-1]): n for f, n in stacks(f'{d}/out.folded') if f[-1] == f'{d}/x'}
            said = re.search(r'([\d,]+) write of ([\d,]+) bytes', r.stderr)
            check(said and int(said[2].replace(',', '')) >= 800000, r.stderr)
    check(sums['--bytes'] == {('save', 'fwrite', 'write'): 800000}, sums)
    calls = sums['--count']
    check(calls[('save', 'fopen', 'open')] == 1 and calls[('save', 'fwrite', 'write')] >= 40, sums)
    check(set(sums['--latency']) == set(calls) and min(sums['--latency'].values()) > 100, sums)


@test
def a_recorded_strobe_file_contains_all_weights():
    with Directory() as d, Script(d, WRITES, d) as script:
        r = run('record', '--file-io', '-o', f'{d}/out.strobe', scripts=[script])
        check(r.returncode == 0, r.stderr)
        for column, least in (('io_bytes', 800000), ('io_calls', 41), ('io_ns', 1000)):
            r = subprocess.run([BINARY, 'report', '--column', column, '--json', f'{d}/out.strobe'], capture_output=True, text=True)
            rows = {row['function']: row for row in json.loads(r.stdout)['functions']} if not r.returncode else {}
            check(rows.get(f'{d}/x', {}).get('self', 0) >= least, f'{column}: {r.stdout[:500]} {r.stderr}')


# --- names

NAMES = GATE + '''
chdir($argv[1]);
file_put_contents("semi;colon\\nnewline", 'abc');
for ($i = 0; $i < 20; $i++) { mkdir(str_repeat(chr(97 + $i), 200)); chdir(str_repeat(chr(97 + $i), 200)); }
$left = 4095 - strlen(getcwd()) - 1;
@is_file(str_repeat('z', min($left, 255)));
$f = fopen(str_repeat('y', min($left, 255) - 1), 'w'); fwrite($f, 'long'); fclose($f);
'''


@test
def long_paths_and_paths_with_special_characters_are_recorded():
    with Directory() as d:
        os.mkdir(f'{d}/site')
        base = f'{d}/site/' + '/'.join(chr(97 + i) * 200 for i in range(20))
        with Script(d, NAMES, f'{d}/site') as script:
            rows = rows_of(files(scripts=[script]))
        check(rows.get(f'{d}/site/semi;colon\nnewline', {}).get('write') == [1, 0, 3], [p[:80] for p in rows])
        left = 4095 - len(base) - 1
        check(rows.get(f'{base}/' + 'y' * (min(left, 255) - 1), {}).get('write') == [1, 0, 4], [(len(p), p[-20:]) for p in rows])
        check(f'{base}/' + 'z' * min(left, 255) in rows, [(len(p), p[-20:]) for p in rows])
        check(max(len(p) for p in rows) >= 4090, max(len(p) for p in rows))
        shutil.rmtree(f'{d}/site')
        os.mkdir(f'{d}/site')
        with Script(d, NAMES, f'{d}/site') as script:
            r = run('record', '--file-io', '--count', '-o', f'{d}/out.folded', scripts=[script])
        check(r.returncode == 0, r.stderr)
        found = [f for f, _ in stacks(f'{d}/out.folded')]
        check([f'{d}/script.php', 'file_put_contents', 'write', f'{d}/site/semi_colon_newline'] in found, [f[:4] for f in found][:5])


CHROOT = GATE + '''
$outside = fopen("$argv[1]/outside", 'w');
mkdir("$argv[1]/root"); chroot("$argv[1]/root"); chdir('/');
mkdir('sub'); file_put_contents('/sub/inside', 'abc'); is_file('sub/inside');
fwrite($outside, '1234');
'''


@test
def paths_are_relative_to_the_root_of_the_process():
    if os.geteuid():
        raise Skip('chroot() takes root')
    with Directory() as d, Script(d, CHROOT, d) as script:
        rows = rows_of(files(scripts=[script]))
        check(rows.get('/sub/inside', {}).get('write') == [1, 0, 3] and 'stat' in rows['/sub/inside'], rows)
        check(rows.get(f'(unreachable){d}/outside', {}).get('write') == [1, 0, 4], rows)
        check(f'{d}/outside' in rows and 'write' not in rows[f'{d}/outside'], rows)


# --- several at once

WAITS = GATE + '''
function slow($name) { $f = fopen($name, 'r'); $t = hrtime(true); fread($f, 100); return hrtime(true) - $t; }
echo slow($argv[1]);
'''


@test
def read_times_are_attributed_to_the_right_process():
    with Directory() as d, Directory() as e:
        for name in ('a', 'b'):
            os.mkfifo(f'{d}/{name}')
        with Script(d, WAITS, f'{d}/a') as a, Script(e, WAITS, f'{d}/b') as b:
            feeder = subprocess.Popen(['sh', '-c', f'(sleep 1; exec 3> {d}/a; sleep 1; echo 1 >&3) & (sleep 1; exec 3> {d}/b; sleep 0.3; echo 1 >&3); wait'])
            rows = rows_by_path(files('--all-files', '-r', scripts=[a, b]))
            feeder.wait()
            for script, name in ((a, 'a'), (b, 'b')):
                took, row = int(script.said), rows.get(f'{d}/{name}', {})
                ns = row.get('operations', {}).get('read', {}).get('ns', 0)
                check(row.get('bytes') == 2 and took * 0.9 - 1e7 <= ns <= took, f'{name}: {ns} of {took}: {row}')


THREADS = GATE + '''
$c = FFI::cdef('typedef unsigned long pthread_t; void *fopen(const char *, const char *); int getc(void *);
    int pthread_create(pthread_t *, void *, void *, void *); int pthread_join(pthread_t, void *);');
function start($c, $name) {
    $t = $c->new('pthread_t');
    $c->pthread_create(FFI::addr($t), null, FFI::cast('void *', $c->getc), $c->fopen($name, 'r+'));
    return $t;
}
function waiting() { $n = 0; foreach (glob('/proc/self/task/*/wchan') as $f) $n += str_contains(file_get_contents($f), 'pipe_read'); return $n; }
$a = start($c, $argv[1]);
while (waiting() < 1) usleep(1000);
$b = start($c, $argv[2]);
while (waiting() < 2) usleep(1000);
$t = hrtime(true);
usleep(200000);
file_put_contents($argv[2], 'x'); $c->pthread_join($b->cdata, null);
usleep(300000);
file_put_contents($argv[1], 'x'); $c->pthread_join($a->cdata, null);
echo hrtime(true) - $t;
'''


@test
def read_times_are_attributed_to_the_right_thread():
    command = ['php', '-d', 'ffi.enable=1']
    if subprocess.run([*command, '-r', 'exit(extension_loaded("ffi") ? 0 : 1);'], capture_output=True).returncode:
        raise Skip('this PHP has no FFI to start threads with')
    with Directory() as d:
        for name in ('a', 'b'):
            os.mkfifo(f'{d}/{name}')
        with Script(d, THREADS, f'{d}/a', f'{d}/b', command=command) as script:
            rows = rows_by_path(files('--all-files', '-r', scripts=[script]))
            took, a, b = int(script.said), rows[f'{d}/a']['ns'], rows[f'{d}/b']['ns']
        check(rows[f'{d}/a']['calls'] == rows[f'{d}/b']['calls'] == 1, rows)
        check(a >= 5e8 and a - b >= 2e8 and b >= 2e8, f'the times of both threads are measured: {a} ns and {b} ns of {took}')


FORKS = GATE + '''
function work($name, $size) { $f = fopen($name, 'w'); stream_set_write_buffer($f, 0); for ($i = 0; $i < 500; $i++) fwrite($f, str_repeat('x', $size)); }
$children = [];
for ($i = 1; $i <= 2; $i++) { if (!($pid = pcntl_fork())) { work("$argv[1]/$i", $i * 10); exit; } }
while (pcntl_wait($status) > 0);
'''


@test
def processes_started_during_the_recording_are_counted_separately():
    with Directory() as d, Script(d, FORKS, d) as script:
        check(wait_for(script.is_waiting), 'the script is waiting')
        p = subprocess.Popen([BINARY, 'files', '--json', '-n', '0', '-w', '-a'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_for(lambda: records(p))
        script.go()
        script.process.wait()
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=60)
        check_permitted(subprocess.CompletedProcess('', p.returncode, out, err))
        rows = rows_of(json.loads(out))
        check([rows.get(f'{d}/{i}', {}).get('write') for i in (1, 2)] == [[500, 0, 5000], [500, 0, 10000]], rows)


# --- kinds of files

SOCKETS = GATE + '''
[$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
stream_set_write_buffer($a, 0);
for ($i = 0; $i < 5; $i++) { fwrite($a, "12345678"); fread($b, 8); }
echo "out";
file_put_contents("$argv[1]/x", "1");
'''


@test
def sockets_and_pipes_are_excluded_by_default():
    with Directory() as d, Script(d, SOCKETS, d) as script:
        found = files(scripts=[script])
        check({p for p in rows_of(found)} == {f'{d}/x'}, found)
        check(found['counts']['calls'] == found['calls'] > 0 and found['counts']['calls_other_kinds'] == found['left_out']['other_kinds'] > 0,
              found['counts'])
        check(found['left_out']['other_kinds'] >= 1, found['left_out'])
    with Directory() as d, Script(d, SOCKETS, d) as script:
        rows = rows_of(files('--all-files', scripts=[script]))
        check(rows.get('[socket unix]', {}).get('write') == [5, 0, 40] and rows['[socket unix]']['read'][2] == 40, rows)
        check(rows.get('[pipe]', {}).get('write') == [1, 0, 3], rows)


@test
def reads_or_writes_can_be_selected():
    for option, operation in (('-r', 'read'), ('-w', 'write')):
        with Directory() as d:
            work = prepare(d)
            with Script(d, WORK, work) as script:
                found = files(option, '--bytes', scripts=[script])
            check({o for row in found['files'] for o in row['operations']} == {operation}, found)
            sizes = [row['bytes'] for row in found['files']]
            check(sizes == sorted(sizes, reverse=True) and len(sizes) >= 2, sizes)


@test
def the_table_shows_files_and_stacks():
    with Directory() as d, Script(d, WRITES, d) as script:
        r = run('files', '-n', 1, '--count', scripts=[script])
        lines = r.stdout.splitlines()
        check(r.returncode == 0 and 'calls of PHP' in r.stderr, r)
        check(lines[0].split()[:5] == ['time', 'calls', 'failed', 'read', 'written'] and lines[1].endswith(f' {d}/x'), r.stdout)
        check(re.match(rf' +\d+\.\d %  {d}/script.php;save;fwrite$', lines[2]), r.stdout)


@test
def a_process_without_file_io_is_reported():
    with Directory() as d, Script(d, GATE) as script:
        check(wait_for(script.is_waiting), 'the script is waiting')
        for command in (['files'], ['record', '--file-io', '-o', f'{d}/out.folded']):
            r = subprocess.run([BINARY, *command, '-p', str(script.pid), '-d', '1'], capture_output=True, text=True)
            check_permitted(r)
            check(r.returncode == 4 and 'the process made no calls that are recorded' in r.stderr, r)


@test
def calls_below_the_minimum_latency_are_excluded_and_counted():
    with Directory() as d, Script(d, WRITES, d) as script:
        r = run('record', '--file-io', '--min', '50s', '-o', f'{d}/out.folded', scripts=[script])
        check(r.returncode == 4 and re.search(r'\d+ calls are left out: below the minimum', r.stderr), r)


# --- distributions

SLEEPS = GATE + 'for ($i = 0; $i < 100; $i++) usleep(3000);'


def histogram(text, title):
    m = re.search(rf'=== {title} \(in us\) ===\nmin/avg/max: (\d+)/(\d+)/(\d+)\n *value \|-{{50}} +count\n((?:.*\n)*)', text)
    check(m, text)
    rows = {int(v): int(n) for v, n in re.findall(r'^ *(\d+) \|[@ ]{50} +(\d+)$', m[4], re.M)} if m else {}
    return [int(m[i]) for i in (1, 2, 3)] if m else [0, 0, 0], rows


@test
def off_cpu_times_are_shown_as_a_histogram():
    with Directory() as d, Script(d, SLEEPS) as script:
        r = run('record', '--off-cpu', '--distr', '--min', '2ms', '-o', f'{d}/out.folded', scripts=[script])
        (low, average, high), rows = histogram(r.stderr, 'Off-CPU time distribution')
        check(2000 <= low <= average <= high and high >= 3000, r.stderr)
        unseen = re.search(r'(\d+) waits? (?:has|have) no end', r.stderr)
        check(sum(rows.values()) >= 100 - int(unseen[1] if unseen else 0) and all(n == 0 for v, n in rows.items() if v < 1024), r.stderr)
        total = sum(n for _, n in stacks(f'{d}/out.folded'))
        check(abs(total / 1000 / sum(rows.values()) - average) <= 1 + average * 0.01, f'{total} {average} {rows}')


@test
def file_io_latencies_are_shown_as_a_histogram():
    with Directory() as d, Script(d, WRITES, d) as script:
        r = run('record', '--file-io', '--distr', '--count', '-o', f'{d}/out.folded', scripts=[script])
        (low, average, high), rows = histogram(r.stderr, 'File I/O latency distribution')
        check(low <= average <= high, r.stderr)
        check(sum(rows.values()) == sum(n for _, n in stacks(f'{d}/out.folded')), r.stderr)


# --- pools

PAGE = '''<?php
function save($name) { $f = fopen($name, 'w'); stream_set_write_buffer($f, 0); for ($i = 0; $i < 10; $i++) fwrite($f, str_repeat('x', 1000)); }
save($_GET['to']);
'''


class Files:
    """`strobe files` of what happens in the block."""

    def __init__(self, *args):
        self.args = args

    def __enter__(self):
        self.process = subprocess.Popen([BINARY, 'files', '--json', '-n', '0', *map(str, self.args)], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        wait_for(lambda: records(self.process))
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=60)
        check_permitted(subprocess.CompletedProcess('', self.process.returncode, out, err))
        self.answer = json.loads(out) if out else {'files': []}


def written(answer, d):
    """{name: [calls, bytes, frames]} of files in a directory."""
    return {row['path'][len(d) + 1:]: [row['operations']['write']['calls'], row['operations']['write']['bytes'], row['stack']['frames']]
            for row in answer['files'] if row['path'].startswith(f'{d}/') and 'write' in row['operations']}


@test
def only_requests_of_php_fpm_pools_are_counted():
    with Directory() as d, Fpm(d, pools={'shop': [], 'blog': []}, plain=True, children=2) as fpm, Directory() as e, Script(e, WRITES, e) as other:
        page = fpm.write('page.php', PAGE)
        check(wait_for(other.is_waiting), 'the script is waiting')
        with Files('--fpm', '-w') as recording:
            other.go()
            other.finish()
            for pool in ('shop', 'blog'):
                for i in range(20):
                    fpm.get('page.php', pool=pool, query=f'to={d}/{pool}')
        expected = [200, 200000, [page, 'save', 'fwrite']]
        check(written(recording.answer, d) == {'shop': expected, 'blog': expected}, recording.answer['files'])
        check(not written(recording.answer, e), 'a command line script is not counted')


@test
def workers_can_be_selected_by_control_group():
    with Cgroup() as group, Directory() as d, Fpm(d, pools={'shop': [], 'blog': []}, plain=True, children=1) as fpm:
        page = fpm.write('page.php', PAGE)
        group.take(fpm.workers('shop')[0])
        for choice in (['--cgroup', group.path], ['--container', group.id[:12]]):
            with Files(*choice, '-w') as recording:
                for i in range(20):
                    for pool in ('shop', 'blog'):
                        fpm.get('page.php', pool=pool, query=f'to={d}/{pool}')
            check(written(recording.answer, d) == {'shop': [200, 200000, [page, 'save', 'fwrite']]}, recording.answer['files'])


# --- to the daemon

@test
def file_io_recordings_can_be_sent_to_a_daemon():
    with Directory() as d, Daemon(d) as daemon, Directory() as e, Script(e, WRITES, e) as script:
        r = run('record', '--file-io', '--bytes', '--to', daemon.socket, scripts=[script])
        check(r.returncode == 0 and 'profiles were sent' in r.stderr, r.stderr)
        wanted = f'save;fwrite;write;{e}/x 800000'
        folded = lambda: daemon.get('/api/v1/profile?format=folded&from=-1h&entry=script')
        check(wait_for(lambda: wanted in folded()), folded()[:500])


if __name__ == '__main__':
    main()
