"""`strobe record` without BPF: as an unprivileged user, by reading memory; and what it says where that is closed too."""
import os
import platform
import re
import shutil
import subprocess
import threading
import time

from fpm import Fpm
from recording import CHAINS, LONG_SLEEP, Php, Script, check_chains, forbid, stacks, unprivileged
from strobe_test import ROOT, STROBE, Directory, Skip, check, in_container, main, test

WITHOUT = {**os.environ, 'STROBE_WITHOUT': 'bpf'}


def record(*args, env=None, **popen):
    return subprocess.run([STROBE, 'record', *map(str, args)], capture_output=True, text=True, timeout=120, env=env, **popen)


def open_directory(d):
    os.chmod(d, 0o777)
    return d


def field(pid, key):
    with open(f'/proc/{pid}/status') as f:
        return re.search(f'^{key}:\\s*(.*)$', f.read(), re.M).group(1)


class Watch:
    """Whether a process is ever stopped or traced."""

    def __init__(self, pid):
        self.pid, self.over, self.looks, self.seen = pid, False, 0, set()

    def look(self):
        while not self.over:
            state, tracer = field(self.pid, 'State')[0], field(self.pid, 'TracerPid')
            self.looks += 1
            if state in 'Tt' or tracer != '0':
                self.seen.add((state, tracer))
            time.sleep(0.001)

    def __enter__(self):
        self.thread = threading.Thread(target=self.look)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over = True
        self.thread.join()


@test
def an_unprivileged_user_can_sample_their_own_processes():
    with Directory() as d, Script(d, CHAINS) as php:
        r = record('-p', php.process.pid, '-F', 499, '-d', 1, '-o', f'{open_directory(d)}/out.folded', **unprivileged())
        check(r.returncode == 0, r.stderr)
        check_chains(f'{d}/out.folded', php.path)
        if os.geteuid() == 0:
            remedy = 'run it on the host, or give the container --user 0 --cap-add BPF' if in_container() else 'sudo, or once: setcap'
            check(re.match(f'strobe: no BPF: (you lack CAP_BPF and CAP_PERFMON(; a system call filter [^:]*)?: {remedy}|this strobe was built without)',
                           r.stderr), r.stderr)
        check(len(re.findall('^strobe: no BPF', r.stderr, re.M)) == 1, f'the message is printed once: {r.stderr}')


def nobody_with(capabilities, *command):
    """As nobody, with these capabilities alone."""
    if os.geteuid() or not shutil.which('setpriv'):
        raise Skip('only root can give capabilities, by setpriv')
    only = ','.join(['-all', *capabilities])
    r = subprocess.run(['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups', f'--inh-caps={only}', f'--ambient-caps={only}',
                        f'--bounding-set={only}', STROBE, *map(str, command)], capture_output=True, text=True, timeout=120)
    if r.stderr.startswith('setpriv'):
        raise Skip(r.stderr.splitlines()[0][:200])
    return r


def two_capabilities(*command):
    """As nobody, with CAP_BPF and CAP_PERFMON alone."""
    r = nobody_with(['+bpf', '+perfmon'], 'record', *command)
    if 'no BPF' in r.stderr:
        raise Skip(r.stderr.splitlines()[0][:200])
    return r


@test
def two_capabilities_suffice_for_programs_whose_path_is_accessible():
    with Directory() as d, Php(d, CHAINS) as php:
        open_directory(d)
        for choice in (['-p', php.process.pid], ['-P', php.path]):
            r = two_capabilities(*choice, '-F', 499, '-d', 1, '--lang', 'php', '-o', f'{d}/out.folded')
            check(r.returncode == 0, f'{choice}: {r.stderr}')
            check_chains(f'{d}/out.folded', php.path)
    with Directory() as d, Php(d, LONG_SLEEP) as php:
        r = two_capabilities('-p', php.process.pid, '--off-cpu', '-d', 1, '-o', f'{open_directory(d)}/out.folded')
        check(r.returncode == 4 and '1 thread slept when the recording began and may not be read' in r.stderr and 'CAP_SYS_PTRACE' in r.stderr, r)


@test
def two_capabilities_suffice_for_pools():
    with Directory() as d, Fpm(d, plain=True, children=1) as fpm:
        open_directory(d)
        fpm.write('page.php', '<?php function spin() { for ($t = microtime(true); microtime(true) - $t < 3;); } spin();')
        thread = threading.Thread(target=fpm.get, args=('page.php',))
        thread.start()
        r = two_capabilities('--fpm', '-F', 499, '-d', 2, '--lang', 'php', '-o', f'{d}/out.folded')
        thread.join()
        check(r.returncode == 0 and any('spin' in frames for frames, _ in stacks(f'{d}/out.folded')), r.stderr)


@test
def cap_sys_ptrace_suffices_to_sample_by_reading_memory():
    with Directory() as d, Php(d, CHAINS) as php:
        open_directory(d)
        r = nobody_with(['+sys_ptrace'], 'record', '-p', php.process.pid, '-F', 499, '-d', 1, '-o', f'{d}/out.folded')
        check(r.returncode == 0 and 'no BPF: you lack CAP_BPF and CAP_PERFMON' in r.stderr, r)
        check_chains(f'{d}/out.folded', php.path)
        r = nobody_with(['+sys_ptrace'], 'dump', '-p', php.process.pid)
        check(r.returncode == 0 and php.path in r.stdout, r)
        r = nobody_with(['+sys_ptrace'], 'doctor', '--url', 'http://127.0.0.1:1', '-p', php.process.pid)
        check('you may read its memory' in r.stdout, r)


@test
def a_missing_bpf_capability_and_the_denied_memory_access_are_both_reported():
    with Directory() as d, Php(d, LONG_SLEEP) as php:
        for capability, missing in (('+bpf', 'CAP_PERFMON'), ('+perfmon', 'CAP_BPF')):
            r = nobody_with([capability], 'record', '-p', php.process.pid, '-d', 1, '-o', f'{open_directory(d)}/out.folded')
            check(r.returncode == 2 and f'no BPF: you lack {missing}: ' in r.stderr and
                  f"and no permission to read the memory of process {php.process.pid}: it is another user's" in r.stderr, r)


@test
def a_seccomp_filter_that_forbids_sampling_is_reported():
    if os.geteuid() or platform.machine() != 'x86_64':
        raise Skip('root alone has everything but what the filter forbids; numbers of system calls are those of x86-64')
    bpf, readv = 321, 310
    with Directory() as d, Php(d, CHAINS) as php:
        r = record('-p', php.process.pid, '-d', 1, '-o', f'{d}/out.folded', preexec_fn=lambda: forbid(bpf, 0x00050001))
        check(r.returncode == 0 and 'no BPF: a system call filter (seccomp) forbids it: run it on the host' in r.stderr, r)
        check_chains(f'{d}/out.folded', php.path)

        def forbid_both():
            forbid(bpf, 0x00050001)
            forbid(readv, 0x00050001)
        r = record('-p', php.process.pid, '-d', 1, preexec_fn=forbid_both)
        check(r.returncode == 2 and 'no access to memory: a system call filter (seccomp) forbids it' in r.stderr and 'strobe.mode=sample' in r.stderr, r)


@test
def stacks_are_consistent_and_the_process_is_never_stopped():
    with Directory() as d, Script(d, CHAINS) as php, Watch(php.process.pid) as watch:
        samples = 0
        for turn in range(60):
            r = record('-p', php.process.pid, '-F', 5000, '-d', 1, '-o', f'{d}/out.folded', env=WITHOUT)
            check(r.returncode == 0, r.stderr)
            check_chains(f'{d}/out.folded', php.path)       # no function of one chain below one of the other
            samples += sum(n for _, n in stacks(f'{d}/out.folded'))
            if samples >= 10000:
                break
        check(samples >= 10000, f'at least 10000 samples were taken, not {samples}')
        check(watch.looks > 100 and not watch.seen, f'the process was never stopped or traced in {watch.looks} checks: {watch.seen}')
        check(php.process.poll() is None, 'the process is still running')


@test
def times_match_the_accounting_of_the_scheduler():
    with Directory() as d, Script(d, CHAINS) as busy, Directory() as e, Script(e, LONG_SLEEP) as asleep:
        def on_cpu():
            with open(f'/proc/{busy.process.pid}/schedstat') as f:
                return int(f.read().split()[0])
        before = on_cpu()
        r = record('-p', busy.process.pid, '-p', asleep.process.pid, '--wall', '-d', 3, '-o', f'{d}/out.folded', env=WITHOUT)
        after = on_cpu()
        check(r.returncode == 0, r.stderr)
        seconds = float(re.search(r'ticks?, ([\d.]+) s', r.stderr).group(1))
        sleeping = sum(n for frames, n in stacks(f'{d}/out.folded') if frames[-1] == 'sleep') / 1e9
        check(abs(sleeping - seconds) < 0.2, f'a sleeping process is accounted for the whole time: {sleeping} of {seconds} s')
        total, between = re.search(r"([\d.]+) s on CPU by the kernel's account, ([\d.]+) s of it between samples", r.stderr).groups()
        check(0 < float(total) <= (after - before) / 1e9 + 0.01, f'the CPU time does not exceed that of the process: {total} {after - before}')
        check(float(between) <= 0.1 * float(total) + 0.05, f'nearly all of the CPU time has a stack: {r.stderr}')


@test
def short_lived_processes_are_sampled():
    with Directory() as d:
        with open(f'{d}/short.php', 'w') as f:
            f.write('<?php function spin($t) { while (getrusage()["ru_utime.tv_usec"] < $t) for ($i = 0; $i < 1000; $i++); } '
                    'eval("function short_$argv[1]() { spin(150000); } short_$argv[1]();");')
        p = subprocess.Popen([STROBE, 'record', '-P', f'{d}/short', '-F', '999', '-o', f'{d}/out.folded'], env=WITHOUT,
                             stderr=subprocess.PIPE, text=True)
        said = p.stderr.readline()
        check(said.startswith('strobe: no BPF'), said)
        for i in range(10):
            subprocess.run(['php', f'{d}/short.php', str(i)], check=True)
        p.terminate()
        said = p.communicate(timeout=60)[1]
        check(p.returncode == 0, said)
        seen = {f for frames, _ in stacks(f'{d}/out.folded') for f in frames if f.startswith('short_')}
        check(seen == {f'short_{i}' for i in range(10)}, f'all ten processes are sampled: {seen}')


@test
def restarted_workers_are_sampled():
    with Directory() as d, Fpm(d, plain=True, children=1, pools={'www': ['pm.max_requests = 1']}) as fpm:
        fpm.write('page.php', '<?php function spin() { usleep(600000); for ($t = microtime(true); microtime(true) - $t < 0.4;); } '
                              'eval("function page_$_GET[n]() { spin(); } page_$_GET[n]();");')
        p = subprocess.Popen([STROBE, 'record', '--fpm', '-F', '499', '-o', f'{d}/out.folded'], env=WITHOUT, stderr=subprocess.PIPE,
                             text=True)
        p.stderr.readline()
        for i in range(5):
            fpm.get('page.php', query=f'n={i}')
        p.terminate()
        said = p.communicate(timeout=60)[1]
        check(p.returncode == 0, said)
        seen = {f for frames, _ in stacks(f'{d}/out.folded') for f in frames if f.startswith('page_')}
        check(seen == {f'page_{i}' for i in range(5)}, f'every restarted worker is sampled: {seen} {said}')


@test
def a_thread_safe_php_is_sampled_through_its_thread_local_storage():
    zts = f'{ROOT}/var/test/php-zts/bin/php'
    if not os.path.exists(zts):
        raise Skip('there is no thread-safe PHP; scripts/php-zts var/test/php-zts builds one')
    with Directory() as d, Script(d, CHAINS, zts, '-n') as php:
        r = record('-p', php.process.pid, '-F', 499, '-d', 2, '-o', f'{d}/out.folded', env=WITHOUT)
        check(r.returncode == 0, r.stderr)
        check_chains(f'{d}/out.folded', php.path)


@test
def errors_about_inaccessible_processes_suggest_the_extension():
    inside = 'or sample from inside, without privileges: strobe run -- php SCRIPT, or the extension with strobe.mode=sample'
    with Directory() as d, Script(d, LONG_SLEEP) as php:
        r = record('-p', php.process.pid, '-d', 1, env={**os.environ, 'STROBE_WITHOUT': 'bpf,readv'})
        check(r.returncode == 2 and 'no access to memory: switched off by STROBE_WITHOUT' in r.stderr and inside in r.stderr, r)
    if os.geteuid() != 0:
        raise Skip('only root has processes that others may not read')
    remedy = ('run it on the host, or give the container --user 0 --cap-add SYS_PTRACE' if in_container() else
              'run it as root (sudo), or: setcap cap_sys_ptrace+ep on the file of strobe')
    with Directory() as d, Php(d, LONG_SLEEP) as php:
        r = record('-p', php.process.pid, '-d', 1, cwd=open_directory(d), **unprivileged())
        check(r.returncode == 2 and f"no permission to read the memory of process {php.process.pid}: it is another user's, and you lack "
              f'CAP_SYS_PTRACE; {remedy}' in r.stderr and
              inside in r.stderr, r)
        r = record('-P', php.path, '-d', 1, cwd=open_directory(d), **unprivileged())
        check(r.returncode == 4 and f"1 PHP process may not be read, process {php.process.pid}: it is another user's" in r.stderr and inside in r.stderr, r)
    with Directory() as d, Fpm(d, plain=True, children=1, pools={'www': ['user = nobody', 'group = nogroup']}) as fpm:
        r = record('-p', fpm.workers()[0], '-d', 1, cwd=open_directory(d), **unprivileged())
        check(r.returncode == 2 and 'it is not dumpable, and you lack CAP_SYS_PTRACE; process.dumpable = yes in its pool' in r.stderr and
              inside in r.stderr, r)


@test
def native_and_kernel_frames_require_bpf():
    with Directory() as d, Script(d, LONG_SLEEP) as php:
        r = record('-p', php.process.pid, '-k', '-d', 1, env=WITHOUT)
        check(r.returncode == 2 and 'native and kernel frames require BPF: switched off by STROBE_WITHOUT: unset STROBE_WITHOUT' in r.stderr, r)
        r = record('-p', php.process.pid, '--lang', 'native', '-d', 1, env=WITHOUT)
        check(r.returncode == 2 and 'native and kernel frames require BPF: switched off by STROBE_WITHOUT: unset STROBE_WITHOUT' in r.stderr, r)


@test
def the_language_can_be_selected_without_bpf():
    with Directory() as d, Script(d, CHAINS) as php:
        r = record('-p', php.process.pid, '--lang', 'php', '-d', 1, '-o', f'{d}/out.folded', env=WITHOUT)
        check(r.returncode == 0, r)
        check_chains(f'{d}/out.folded', php.path)


@test
def sampling_perl_requires_bpf():
    r = record('--lang', 'perl', '-d', 1, env=WITHOUT)
    check(r.returncode == 2 and 'Perl can only be sampled with BPF, which is unavailable: switched off by STROBE_WITHOUT: unset STROBE_WITHOUT'
          in r.stderr, r)
    with subprocess.Popen(['sleep', '1000']) as other:
        r = record('-p', other.pid, '-d', 1, env=WITHOUT)
        other.kill()
        check(r.returncode == 2 and 'runs no PHP that can be sampled' in r.stderr and 'Perl requires BPF' in r.stderr, r)


if __name__ == '__main__':
    main()
