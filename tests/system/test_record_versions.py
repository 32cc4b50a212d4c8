"""`strobe record` on real PHPs of other versions, in chroots, and on a thread-safe one: classes, closures, generators, fibers,
opcache, preloaded code. Makes the chroot of Debian's oldest release with PHP, and the thread-safe PHP; the others are used where
they are, and skipped with what makes them where not."""
import os
import subprocess
import tempfile
import threading

from recording import record as record_any, stacks
from strobe_test import ROOT, Directory, Skip, check, main, test, wait_for

KINDS = '''<?php
class Shop {
    public static function hot() { for ($i = 0; $i < 20000; $i++); }
    public function lines() { yield from $this->inner(); self::hot(); yield 2; }
    private function inner() { self::hot(); yield 1; }
    public function total() {
        array_map(function ($x) { foreach ($this->lines() as $line); }, [1]);
    }
    public function fiber() {
        $f = new Fiber(function () { Fiber::suspend(); self::hot(); });
        $f->start();
        $f->resume();
    }
}
function checkout() { (new Shop)->total(); }
spl_autoload_register(function ($class) { Shop::hot(); });
echo "ready\\n";
while (true) {
    checkout();
    is_callable('Missing::method');
    if (PHP_VERSION_ID >= 80100)
        (new Shop)->fiber();
}
'''
OTHERS = 'MIRROR=URL KEYRING=FILE scripts/php-chroot {} {} --only'
OPCACHE = ['-d', 'zend_extension=opcache', '-d', 'opcache.enable_cli=1', '-d', 'opcache.file_update_protection=0',
           '-d', 'opcache.jit=disable']


class Chroot:
    """A release, and its PHP; makes the chroot if it is one that Debian's archive of this machine has."""

    def __init__(self, suite, version, make=None):
        self.tree, self.version = f'{ROOT}/var/test/{suite}', version
        if os.geteuid() != 0:
            raise Skip('only root enters a chroot')
        if not os.path.exists(f'{self.tree}/usr/bin/php{version}') and make:
            r = subprocess.run([f'{ROOT}/scripts/php-chroot', suite, version, '--only'], capture_output=True, text=True)
            if r.returncode == 77:
                raise Skip(r.stdout.strip().splitlines()[-1])
        if not os.path.exists(f'{self.tree}/usr/bin/php{version}'):
            raise Skip(f'there is no PHP {version} in a chroot; {OTHERS.format(suite, version)} makes one')

    def php(self, *command):
        return subprocess.Popen(['chroot', self.tree, f'php{self.version}', '-n', *command], stdout=subprocess.PIPE)


def chains(chroot, directory, *options):
    """The stacks of a script that runs in the chroot."""
    path = f'{directory}/kinds.php'
    with chroot.php(*options, path[len(chroot.tree):]) as php:
        try:
            check(php.stdout.readline() == b'ready\n', 'the script runs')
            r = record_any('-p', php.pid, '-F', 999, '-d', 2, '--lang', 'php', '-o', f'{directory}/out.folded', kernel=True)
        finally:
            php.kill()
    check(r.returncode == 0, r.stderr)
    check('unreadable' not in r.stderr, r.stderr)
    return stacks(f'{directory}/out.folded')


def check_kinds(found, script, version):
    """Each chain that the script has, to its end, and no frame in it that is not in the script."""
    total = [script, 'checkout', 'Shop::total', 'array_map', f'Shop::{{closure:{script}(7)}}']
    wanted = [total + ['Shop::lines', 'Shop::inner', 'Shop::hot'], total + ['Shop::lines', 'Shop::hot']]
    load = [script, 'is_callable'] + (['spl_autoload_call'] if version < '8.0' else [])
    wanted.append(load + [f'{{closure:{script}(16)}}', 'Shop::hot'])
    if version >= '8.1':
        wanted.append([script, 'Shop::fiber', 'Fiber::resume', f'Shop::{{closure:{script}(10)}}', 'Shop::hot'])
    found = [frames for frames, _ in found]
    for chain in wanted:
        check(chain in found, f'{chain} of {found}')
    hot = [frames for frames in found if frames[-1] == 'Shop::hot']
    check(all(frames in wanted for frames in hot), f'the innermost function has no other callers: {hot}')
    check(not [f for frames in found for f in frames if f.startswith('[unknown')], f'{found}')


def each_kind(suite, version, make=None):
    chroot = Chroot(suite, version, make)
    with tempfile.TemporaryDirectory(dir=f'{chroot.tree}/var/tmp') as d:
        script = f'{d}/kinds.php'
        with open(script, 'w') as f:
            f.write(KINDS)
        inside = script[len(chroot.tree):]
        check_kinds(chains(chroot, d), inside, version)
        # From 8.5 on opcache is part of PHP.
        opcache = OPCACHE if version < '8.5' else OPCACHE[2:]
        check_kinds(chains(chroot, d, *opcache), inside, version)
        with open(f'{d}/early.php', 'w') as f:
            f.write('<?php function early() { return 1; } class Early { }')
        early = ['-d', f'opcache.preload={d[len(chroot.tree):]}/early.php', '-d', 'opcache.preload_user=root']
        check_kinds(chains(chroot, d, *opcache, *early), inside, version)


@test
def every_kind_of_frame_is_recorded_in_php_7_4():
    each_kind('bullseye', '7.4', make=True)


@test
def every_kind_of_frame_is_recorded_in_php_8_1():
    each_kind('jammy', '8.1')


@test
def every_kind_of_frame_is_recorded_in_php_8_3():
    each_kind('noble', '8.3')


@test
def every_kind_of_frame_is_recorded_in_php_8_4():
    each_kind('trixie', '8.4')


@test
def every_kind_of_frame_is_recorded_in_php_8_5():
    each_kind('sid', '8.5')


# --- a wrong table

IDLE_AT_FIRST = '''<?php
class Shop { function hot() { for ($i = 0; $i < 20000; $i++); } }
while (!file_exists($argv[1])) usleep(10000);
while (true) (new Shop)->hot();
'''


@test
def the_offset_check_is_deferred_until_a_process_runs_a_method():
    """As long as no method runs, the class of a function can be anywhere."""
    line = subprocess.run([f'{ROOT}/scripts/php-offsets'], capture_output=True, text=True).stdout
    if not line:
        raise Skip('there are no headers of PHP')
    with Directory() as d:
        with open(f'{d}/table', 'w') as f:
            f.write(line.replace('fn_scope=16', 'fn_scope=24'))
        with open(f'{d}/script.php', 'w') as f:
            f.write(IDLE_AT_FIRST)
        with subprocess.Popen(['php', '-n', f'{d}/script.php', f'{d}/go']) as php:
            later = threading.Timer(3, lambda: open(f'{d}/go', 'w').close())
            later.start()
            r = record_any('-p', php.pid, '-F', 999, '-d', 15, '--lang', 'php', '--php-offsets', f'{d}/table', '-o', f'{d}/out.folded',
                           kernel=True)
            later.join()
            php.kill()
        check('does not match' in r.stderr and 'an object and no class' in r.stderr, r.stderr)


# --- thread-safe PHP

def thread_safe():
    zts = f'{ROOT}/var/test/php-zts'
    r = subprocess.run([f'{ROOT}/scripts/php-zts', zts], capture_output=True, text=True)
    if r.returncode == 77:
        raise Skip(r.stdout.strip().splitlines()[-1])
    return zts


def version_of(zts):
    return subprocess.run([f'{zts}/bin/php-config', '--version'], capture_output=True, text=True).stdout.rpartition('.')[0]


@test
def every_kind_of_frame_is_recorded_in_a_thread_safe_php():
    zts = thread_safe()
    with Directory() as d:
        script = f'{d}/kinds.php'
        with open(script, 'w') as f:
            f.write(KINDS)
        with subprocess.Popen([f'{zts}/bin/php', '-n', script], stdout=subprocess.PIPE) as php:
            php.stdout.readline()
            r = record_any('-p', php.pid, '-F', 999, '-d', 2, '--lang', 'php', '-o', f'{d}/out.folded', kernel=True)
            php.kill()
        check(r.returncode == 0 and 'unreadable' not in r.stderr, r.stderr)
        check_kinds(stacks(f'{d}/out.folded'), script, version_of(zts))


@test
def every_kind_of_frame_is_recorded_in_each_thread_of_an_embedded_php():
    """A program with a thread-safe libphp, whose threads run at the same time what looks alike but for a name."""
    zts, threads = thread_safe(), 3
    with Directory() as d:
        flags = subprocess.run([f'{zts}/bin/php-config', '--includes'], capture_output=True, text=True).stdout.split()
        subprocess.run(['cc', '-w', '-o', f'{d}/threads', f'{ROOT}/tests/php/threads.c', *flags, f'-L{zts}/lib', '-lphp',
                        f'-Wl,-rpath,{zts}/lib', '-lpthread'], check=True)
        for n in range(threads):
            with open(f'{d}/kinds{n}.php', 'w') as f:
                f.write(KINDS.replace('Shop', f'Shop{n}').replace('checkout', f'checkout{n}')
                        .replace('echo "ready\\n"', f'touch("{d}/ready{n}")'))
        with open(f'{d}/thread.php', 'w') as f:
            f.write('<?php include __DIR__ . "/kinds$_SERVER[THREAD].php";')
        with subprocess.Popen([f'{d}/threads', '1', str(threads), f'{d}/thread.php'], stdout=subprocess.DEVNULL) as p:
            try:
                check(wait_for(lambda: all(os.path.exists(f'{d}/ready{n}') for n in range(threads))), 'all threads run')
                r = record_any('-p', p.pid, '-F', 999, '-d', 5, '--lang', 'php', '-o', f'{d}/out.folded', kernel=True)
            finally:
                p.kill()
        check(r.returncode == 0 and 'unreadable' not in r.stderr, r.stderr)
        found = stacks(f'{d}/out.folded')
        # PHP cuts a fiber off its callers a moment before it leaves it.
        whole = [frames for frames, _ in found if frames[-1] != 'Fiber::suspend']
        check(all(frames[0] in (f'{d}/thread.php', '[outside PHP functions]') for frames in whole), f'{found}')
        for n in range(threads):
            mine = [([f.replace(f'Shop{n}', 'Shop').replace(f'checkout{n}', 'checkout') for f in frames[1:]], count)
                    for frames, count in found if frames[1:2] == [f'{d}/kinds{n}.php']]
            check_kinds(mine, f'{d}/kinds{n}.php', version_of(zts))
            others = [f'Shop{k}' for k in range(threads) if k != n]
            check(not [f for frames, _ in mine for f in frames if f.split('::')[0] in others], f'no frame of another thread: {mine}')


if __name__ == '__main__':
    main()
