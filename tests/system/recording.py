"""Shared by the tests of `strobe record`: scripts that are recorded from outside, and their expected stacks."""
import ctypes
import os
import re
import shutil
import subprocess

from strobe_test import STROBE, Directory, Skip, check, wait_for

CHAINS = '''<?php
function a3() { for ($i = 0; $i < 20; $i++); } function a2() { a3(); } function a1() { a2(); }
function b3() { for ($i = 0; $i < 20; $i++); } function b2() { b3(); } function b1() { b2(); }
class Shop { function total() { return array_map(function ($x) { a1(); b1(); return $x; }, [1]); } }
echo "ready\\n";
while (true) { a1(); b1(); (new Shop)->total(); }
'''
# Function names may have any byte above 127: 0x9b begins a command to an 8-bit terminal. File names may have any byte.
HOSTILE_NAME = '\x1b]0;title\x07\x1b[2J.php'
HOSTILE = b'''<?php
eval("function \x9b31mred() { for (\\$i = 0; \\$i < 1000; \\$i++); usleep(500); }");
eval("function \xe6\xbc\xa2\xe5\xad\x97\xff() { for (\\$i = 0; \\$i < 1000; \\$i++); }");
echo "ready\\n";
while (true) { "\x9b31mred"(); "\xe6\xbc\xa2\xe5\xad\x97\xff"(); }
'''
# Leaves out what kernels have got since 5.8.
OLD_KERNEL = {'STROBE_WITHOUT': 'bpf_loop,task_iter,task_pt_regs,task_pointer'}
LONG_SLEEP = '<?php function deep() { sleep(1000); } echo "ready\\n"; @ob_flush(); flush(); deep();'


class Php:
    """A script that runs until the end of the block."""

    def __init__(self, directory, source, *command, name='script.php'):
        if not shutil.which('php'):
            raise Skip('there is no php here')
        self.command = command or ['php']
        self.path = f'{directory}/{name}'
        with open(self.path, 'wb') as f:
            f.write(source if isinstance(source, bytes) else source.encode())

    def __enter__(self):
        self.process = subprocess.Popen([*self.command, self.path], stdout=subprocess.PIPE)
        self.process.stdout.readline()
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Script(Php):
    """The same of a user without privileges."""

    def __enter__(self):
        self.process = subprocess.Popen([*self.command, self.path], stdout=subprocess.PIPE, **unprivileged())
        self.process.stdout.readline()
        return self


def unprivileged():
    """Arguments of Popen for a user without privileges: nobody if the test is run by root, otherwise who runs it."""
    return {'user': 65534, 'group': 65534, 'extra_groups': []} if os.geteuid() == 0 else {}


def forbid(number, action):
    """Makes one system call fail with EPERM, or kill, in this process from now on (x86-64)."""
    libc = ctypes.CDLL(None, use_errno=True)
    program = b''.join(code.to_bytes(2, 'little') + bytes([jt, jf]) + k.to_bytes(4, 'little') for code, jt, jf, k in (
        (0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, action), (0x06, 0, 0, 0x7fff0000)))
    text = ctypes.create_string_buffer(program)

    class Filter(ctypes.Structure):
        _fields_ = [('length', ctypes.c_ushort), ('code', ctypes.c_void_p)]

    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(Filter(4, ctypes.addressof(text)))):
        raise OSError('no filter')


def skip_without_bpf(words):
    if 'reading the memory of processes instead' in words:
        raise Skip(words.splitlines()[0][:200])


def record(*args, env=None, kernel=False):
    """`kernel`: the test is about what only BPF can do."""
    with Directory() as d:
        r = subprocess.run([os.path.abspath(STROBE), 'record', *map(str, args)], capture_output=True, text=True, timeout=120,
                           env=env, cwd=d)
    if kernel:
        skip_without_bpf(r.stderr)
    return r


def cpu_seconds(pid):
    with open(f'/proc/{pid}/stat') as f:
        fields = f.read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def has_clocks(pid):
    """Whether a recording has begun: by then it has found the running processes."""
    try:
        return any('perf_event' in os.readlink(f'/proc/{pid}/fd/{fd}') for fd in os.listdir(f'/proc/{pid}/fd'))
    except OSError:
        return False


def has_begun(recording, pid):
    """Whether strobe samples a process by now: its clocks run, or it watches the threads of the process."""
    try:
        links = [os.readlink(f'/proc/{recording.pid}/fd/{fd}') for fd in os.listdir(f'/proc/{recording.pid}/fd')]
    except OSError:
        return False
    return any('perf_event' in link or link.startswith(f'/proc/{pid}/task/') for link in links)


def wait_for_samples(recording, pid, seconds=1):
    """Until the process has had so much of a CPU since the recording began."""
    check(wait_for(lambda: recording.poll() is not None or has_begun(recording, pid)), 'the recording begins')
    start = cpu_seconds(pid)
    check(wait_for(lambda: cpu_seconds(pid) - start >= seconds), 'the process runs')


def stacks(path):
    """[(frames, root first), count] of a folded file."""
    with open(path, encoding='utf-8') as f:
        return [(line.rsplit(' ', 1)[0].split(';'), int(line.rsplit(' ', 1)[1])) for line in f]


def check_chains(path, script):
    found = stacks(path)
    samples = sum(n for _, n in found)
    check(samples > 20, f'enough samples: {samples}')
    for frames, n in found:
        letters = {f[0] for f in frames if re.fullmatch('[ab][123]', f)}
        check(len(letters) < 2, f'no stack of both chains: {frames} {n}')
        check(frames[0] in (script, '[outside PHP functions]'), f'the script is the root: {frames}')
        order = [f[1] for f in frames if re.fullmatch('[ab][123]', f)]
        check(order == sorted(order) and order == list('123')[:len(order)], f'callers come first: {frames}')
    names = {f for frames, _ in found for f in frames}
    check(f'{{closure:{script}(4)}}' in str(names) and 'Shop::total' in names, f'classes and closures: {names}')


class Cgroup:
    """A control group of its own, where version 2 is mounted and may be written."""

    def __enter__(self):
        with open('/proc/self/mountinfo') as f:
            mounts = [line.split()[4] for line in f if ' - cgroup2 ' in line]
        if not mounts:
            raise Skip('cgroup v2 is not mounted')
        self.id = os.urandom(32).hex()
        self.path = f'{mounts[0]}/docker-{self.id}.scope'
        try:
            os.mkdir(self.path)
        except OSError as e:
            raise Skip(f'{self.path}: {e.strerror}') from e
        return self

    def take(self, pid):
        with open(f'{self.path}/cgroup.procs', 'w') as f:
            f.write(str(pid))

    def __exit__(self, *_):
        wait_for(lambda: not open(f'{self.path}/cgroup.procs').read())
        os.rmdir(self.path)
