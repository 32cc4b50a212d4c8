"""Native frames of `strobe record` on real PHP processes: merged with PHP's, and compared with another unwinder."""
import glob
import os
import re
import shutil
import signal
import subprocess

from recording import Php, has_clocks, record as record_any, skip_without_bpf, stacks
from strobe_test import STROBE, Directory, Skip, check, main, test, wait_for


def record(*args, env=None):
    """Without BPF there are no native frames."""
    return record_any(*args, env=env, kernel=True)


# Each chain waits in pause(), at the end of another way from PHP through C to PHP.
CHAINS = '''<?php
class Order {
    static function by_price($a, $b) { pause(); return $a <=> $b; }
    function __destruct() { pause(); }
}
class Label {
    function __toString() { pause(); return ''; }
}
function pause() { usleep(3000); }
function replace($m) { pause(); return 'x'; }
function sorted() { $x = [2, 1]; usort($x, ['Order', 'by_price']); }
function replaced() { preg_replace_callback('/a/', 'replace', 'a'); }
function destroyed() { $o = new Order; $o = null; }
function values() { pause(); yield 1; }
function more() { yield from values(); }
function generated() { foreach (more() as $x); }
function body() { pause(); Fiber::suspend(1); pause(); }
function in_fiber() { $f = new Fiber('body'); $f->start(); $f->resume(); }
function direct() { array_map('usleep', [3000]); }
function included() { include __DIR__ . '/included.php'; }
function load($c) { pause(); eval("class $c {}"); }
function loaded() { static $n = 0; class_exists('Auto' . $n++); }
function report() { pause(); return true; }
function wrong() { set_error_handler('report'); echo $undefined; restore_error_handler(); }
function text() { return 'a' . new Label; }
function nested() { array_map(function ($x) { $y = [2, 1]; usort($y, function ($a, $b) { pause(); return 0; }); }, [1]); }
spl_autoload_register('load');
echo "ready\\n";
while (true) {
    sorted(); replaced(); destroyed(); generated(); in_fiber(); direct(); included(); loaded(); wrong(); text(); nested();
}
'''

# Expected stacks: PHP's frames, root first below the script, and where C code stands between PHP functions.
EXPECTED = {
    'sorted': ['usort', '*', 'zend_call_function', 'Order::by_price', 'pause', 'usleep', '*'],
    'replaced': ['preg_replace_callback', '*', 'zend_call_function', 'replace', 'pause', 'usleep', '*'],
    'destroyed': ['~', 'zend_objects_store_del', '*', 'zend_call_function', 'Order::__destruct', 'pause', 'usleep', '*'],
    'generated': ['*', 'zend_generator_resume', 'more', 'values', 'pause', 'usleep', '*'],
    'direct': ['array_map', '*', 'zend_call_function', 'usleep', '*'],
    'included': ['INCLUDED', 'pause', 'usleep', '*'],
    'loaded': ['class_exists', '*', 'zend_lookup_class_ex', '*', 'zend_call_function', 'load', 'pause', 'usleep', '*'],
    'wrong': ['*', 'zend_error', '*', 'zend_call_function', 'report', 'pause', 'usleep', '*'],
    'text': ['*', 'zend_std_cast_object_tostring', '*', 'zend_call_function', 'Label::__toString', 'pause', 'usleep', '*'],
    'nested': ['array_map', '*', 'zend_call_function', 'CLOSURE', 'usort', '*', 'zend_call_function', 'CLOSURE', 'pause',
               'usleep', '*'],
    'in_fiber': ['FIBER', '*', 'zend_call_function', 'body', 'pause', 'usleep', '*'],
}
ROOT = ['_start', '*', 'zend_execute_scripts', 'zend_execute', 'SCRIPT']


def matches(frames, pattern, script):
    """Whether a stack is the pattern: '*' stands for one native frame or more, none of them the interpreter's; '~' also for
    none, as compiled PHP calls without a handler in between."""
    words = {'SCRIPT': re.escape(script), 'INCLUDED': re.escape(os.path.dirname(script) + '/included.php'),
             'CLOSURE': r'\{closure:' + re.escape(script) + r'\(\d+\)\}', 'FIBER': 'Fiber::(start|resume)',
             '*': r'(?!execute_ex)[\w.:@+-]+(;(?!execute_ex)[\w.:@+-]+)*', '~': '~'}
    regex = ';'.join(words.get(w, re.escape(w)) for w in pattern).replace('~;', f'({words["*"]};)?')
    return re.fullmatch(regex, ';'.join(frames)) is not None


JIT = ['-d', 'opcache.enable_cli=1', '-d', 'opcache.file_update_protection=0', '-d', 'opcache.jit_buffer_size=32M', '-d']


def has_opcache():
    r = subprocess.run(['php', '-d', 'opcache.enable_cli=1', '-r', 'exit(function_exists("opcache_get_status") ? 0 : 1);'])
    return r.returncode == 0


def user_frames(frames):
    return [f for f in frames if not f.endswith('_[k]')]


def check_merged(directory, *options, env=None):
    with Php(directory, CHAINS, 'php', *options) as php:
        with open(f'{directory}/included.php', 'w') as f:
            f.write('<?php pause();')
        r = record('-p', php.process.pid, '--off-cpu', '-d', 2, '-o', f'{directory}/out.folded', '-q', env=env)
        check(r.returncode == 0, r.stderr)
        found = stacks(f'{directory}/out.folded')
    seen = set()
    for frames, _ in found:
        frames = user_frames(frames)
        if frames[-1] not in ('clock_nanosleep', '__nanosleep', 'usleep') or 'pause' not in frames and 'direct' not in frames:
            continue                # a switch for want of a CPU, anywhere
        name = next((f for f in frames if f in EXPECTED), None)
        if not check(name, f'a chain of the script: {frames}'):
            continue
        seen.add(name)
        root = ['SCRIPT'] if name == 'in_fiber' else ROOT
        check(matches(frames, root + [name] + EXPECTED[name], php.path), f'merged in the order of calls: {frames}')
        # A static function of a file without symbols; usleep() of the C library is called by it. While the JIT traces a loop it is
        # called by opcache's recorder.
        check('zif_usleep' in frames[frames.index('usleep'):], f'functions in C have the names of their source: {frames}')
    check(seen == set(EXPECTED), f'every chain: {sorted(set(EXPECTED) - seen)} are missing')


@test
def callbacks_through_c_code_are_merged_in_call_order():
    with Directory() as d:
        check_merged(d)


@test
def the_programs_for_older_kernels_merge_stacks_identically():
    with Directory() as d:
        check_merged(d, env={**os.environ, 'STROBE_WITHOUT': 'bpf_loop'})


@test
def stacks_of_jit_compiled_php_are_merged_identically():
    if not has_opcache():
        raise Skip('this php has no opcache')
    for mode in 'tracing', 'function':
        with Directory() as d:
            check_merged(d, *JIT, f'opcache.jit={mode}')


# A library whose usleep() finds the part that holds compiled code, makes it writable, as PHP's JIT does around each compilation,
# and stays.
WRITABLE = r'''
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int usleep(useconds_t us)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long start, end;
	char line[512];

	(void)us;
	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, " r-xs ") && sscanf(line, "%lx-%lx", &start, &end) == 2 &&
		    !mprotect((void *)start, end - start, PROT_READ | PROT_WRITE))
			puts("ready");
	fflush(stdout);
	for (;;)
		sleep(1000);
	return 0;
}
'''


@test
def jit_code_that_is_writable_during_compilation_is_unwound():
    if not has_opcache():
        raise Skip('this php has no opcache')
    if not shutil.which('cc'):
        raise Skip('there is no C compiler for the library that stops PHP there')
    script = CHAINS.replace('echo "ready\\n";', '')
    with Directory() as d:
        with open(f'{d}/writable.c', 'w') as f:
            f.write(WRITABLE)
        subprocess.run(['cc', '-shared', '-fPIC', '-o', f'{d}/writable.so', f'{d}/writable.c'], check=True)
        with Php(d, script, 'env', f'LD_PRELOAD={d}/writable.so', 'php', *JIT, 'opcache.jit=function') as php:
            r = record('-p', php.process.pid, '--off-cpu', '-d', 1, '-o', f'{d}/out.folded', '-q')
            check(r.returncode == 0, r.stderr)
            found = [user_frames(frames) for frames, _ in stacks(f'{d}/out.folded')]
    check(len(found) == 1 and matches(found[0], ROOT + ['sorted'] + EXPECTED['sorted'], php.path), f'the whole stack: {found}')


# The resolver of a function with several versions runs while the dynamic linker binds it, at its first call. This one stays there.
BINDING = r'''#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static int version(void) { return 0; }
static __attribute__((noinline)) void burn(void) { for (volatile long i = 0; i < 3000000; i++); }
static void stay(void)
{
	struct timespec t = { SECONDS, NANOSECONDS };

	write(1, "ready\n", 6);
	for (;;) {
		nanosleep(&t, NULL);
		burn();
	}
}
static void *resolve(void) { stay(); return version; }
int versioned(void) __attribute__((ifunc("resolve")));
int usleep(useconds_t us) { return versioned() + 1; }
'''


def stacks_while_binding(directory, sleep, *options):
    """Stacks of a PHP in the resolver, which sleeps so many seconds and nanoseconds at a time."""
    with open(f'{directory}/binding.c', 'w') as f:
        f.write(BINDING.replace('SECONDS, NANOSECONDS', sleep))
    subprocess.run(['cc', '-shared', '-fPIC', '-O1', '-Wl,-z,lazy', '-o', f'{directory}/binding.so', f'{directory}/binding.c'], check=True)
    with Php(directory, CHAINS.replace('echo "ready\\n";', ''), 'env', f'LD_PRELOAD={directory}/binding.so', 'php') as php:
        r = record('-p', php.process.pid, '-d', 1, '-o', f'{directory}/out.folded', '-q', *options)
        check(r.returncode == 0 and 'unknown native' not in r.stderr, r.stderr)
        return php.path, [user_frames(frames) for frames, _ in stacks(f'{directory}/out.folded')]


@test
def the_resolver_of_the_dynamic_linker_is_unwound():
    if not shutil.which('cc'):
        raise Skip('there is no C compiler for the library with such a function')
    for sleep, options, ends in (('1000, 0', ['--off-cpu'], ['nanosleep']), ('0, 3000000', ['--wall'], ['nanosleep', 'burn'])):
        with Directory() as d:
            path, found = stacks_while_binding(d, sleep, *options)
        pattern = ROOT + ['sorted', 'usort', '*', 'zend_call_function', 'Order::by_price', 'pause', 'usleep', '*']
        for frames in found:
            check(matches(frames, pattern, path), f'the whole stack: {frames}')
            check('_dl_fixup' in frames[:-1], f'the dynamic linker calls the resolver: {frames}')
        for end in ends:
            check(any(end in f[-1] for f in found), f'both sleeping and running stacks, with {options}: {found}')


@test
def a_thread_already_asleep_has_a_complete_merged_stack():
    with Directory() as d, Php(d, CHAINS.replace('usleep(3000)', 'echo "ready\\n"; usleep(1000000000)')) as php:
        r = record('-p', php.process.pid, '--off-cpu', '-d', 1, '-o', f'{d}/out.folded', '-q')
        check(r.returncode == 0, r.stderr)
        found = [user_frames(frames) for frames, _ in stacks(f'{d}/out.folded')]
        check(len(found) == 1 and matches(found[0], ROOT + ['sorted'] + EXPECTED['sorted'], php.path), f'one stack, with all layers: {found}')


BUSY = '''<?php
function hot($n) { $a = 1; for ($i = 0; $i < $n; $i++) { $a = ($a * 31 + $i) & 0xffff; } return $a; }
function by($a, $b) { return hot(500) & 0 | $a <=> $b; }
function work() { $x = [3, 1, 2]; usort($x, 'by'); }
echo "ready\\n";
while (true) work();
'''


def check_busy(frames, script, jit):
    """Checks a sample on the CPU: the script below zend_execute, hot() below the callback, nothing unknown."""
    frames = user_frames(frames)
    check('[unknown native]' not in frames and '[truncated]' not in frames, f'the whole stack: {frames}')
    check(frames[0] == '_start' and frames[frames.index('zend_execute') + 1:][:1] in ([script], ['execute_ex'], []),
          f'the script is below the interpreter: {frames}')
    if 'hot' in frames:
        check(frames[frames.index('hot') - 2:frames.index('hot')] == ['zend_call_function', 'by'] and
              frames[frames.index(script) + 1:][:2] == ['work', 'usort'], f'callers come first: {frames}')
    # A function that has just returned has no PHP frame any more.
    check('[jit]_[j]' not in frames or (jit and (frames[-1] == '[jit]_[j]' or
                                                 frames[frames.index('[jit]_[j]') - 1] == 'zend_call_function')),
          f'compiled code is a leaf: {frames}')


@test
def on_cpu_samples_have_complete_stacks_with_and_without_jit():
    for jit in ('', 'tracing', 'function') if has_opcache() else ('',):
        options = [*JIT, f'opcache.jit={jit}'] if jit else []
        with Directory() as d, Php(d, BUSY, 'php', *options) as php:
            r = record('-p', php.process.pid, '-F', 997, '-d', 2, '-o', f'{d}/out.folded')
            check(r.returncode == 0 and 'unknown' not in r.stderr, r.stderr)
            found = stacks(f'{d}/out.folded')
        hot = sum(n for frames, n in found if 'hot' in frames)
        compiled = sum(n for frames, n in found if '[jit]_[j]' in frames)
        for frames, _ in found:
            check_busy(frames, php.path, jit)
        check(hot > 20, f'hot() is sampled: {hot}')
        check((compiled > 0) == bool(jit), f'{compiled} samples in compiled code, with jit={jit!r}')


REGEXES = '''<?php
$text = str_repeat('aaaaaaaaaaaaaaaaaaaaaaaa ', 20);
function matched($t) { return preg_match('/(a+)+b/', substr($t, 0, 18)); }
function replaced($t) { return preg_replace_callback('/(\\w+)\\s/', 'by', $t); }
function by($m) { return inner($m[0]); }
function inner($x) { return preg_replace('/a(?=a+a+a+$)/', 'b', $x); }
echo "ready\\n";
while (true) { matched($text); replaced($text); }
'''


@test
def jit_compiled_regexes_keep_php_callers_in_order():
    if subprocess.run(['php', '-r', 'exit(ini_get("pcre.jit") === false ? 1 : 0);']).returncode:
        raise Skip('this PCRE has no JIT')
    with Directory() as d, Php(d, REGEXES, 'php', '-d', 'pcre.jit=1') as php:
        r = record('-p', php.process.pid, '-F', 997, '-d', 2, '-u', '-o', f'{d}/out.folded')
        check(r.returncode == 0, r.stderr)
        found = [(frames, n) for frames, n in stacks(f'{d}/out.folded') if '[jit]_[j]' in frames]
    ways = {'preg_match': ['matched', 'preg_match'], 'preg_replace': ['replaced', 'preg_replace_callback', 'by', 'inner', 'preg_replace'],
            'preg_replace_callback': ['replaced', 'preg_replace_callback']}
    seen = 0
    for frames, n in found:
        at = frames.index('[unknown native]') if '[unknown native]' in frames else -1
        # The native code that called it is not known, PHP's callers are, and nothing else is reported.
        check(at > 0 and frames[at + 1] == '[jit]_[j]' and frames[:at] == [php.path, *ways.get(frames[at - 1], ['?'])],
              f'PHP frames, then unknown native frames, then generated code: {frames}')
        seen += n
    said = re.search('^strobe: ([0-9,]+) native stacks end at code whose caller cannot be found, such as generated code', r.stderr, re.M)
    check(seen > 20 and said and int(said[1].replace(',', '')) >= seen, f'{seen} samples in regexes: {r.stderr}')


@test
def each_option_selects_its_kind_of_frames():
    with Directory() as d, Php(d, BUSY) as php:
        def names(*options):
            r = record('-p', php.process.pid, '-F', 499, '-d', 1, '-q', '-o', f'{d}/out.folded', *options)
            check(r.returncode == 0, r.stderr)
            return {f for frames, _ in stacks(f'{d}/out.folded') for f in frames}
        php_only, native, user = names('--lang', 'php'), names('-n'), names('-u')
    check({'hot', 'usort', php.path} <= php_only and not php_only & {'_start', 'zend_execute', 'execute_ex'}, str(php_only))
    check({'_start', 'zend_execute', 'execute_ex'} <= native and not native & {'hot', 'usort', php.path}, str(native))
    check({'_start', 'zend_execute', 'hot', 'usort', php.path} <= user, str(user))
    check(not any(f.endswith('_[k]') for f in php_only | native | user), 'kernel frames only on request')


@test
def generated_code_is_named_from_the_perf_map():
    if not has_opcache():
        raise Skip('this php has no opcache')
    with Directory() as d, Php(d, BUSY, 'php', *JIT, 'opcache.jit=function', '-d', 'opcache.jit_debug=0x10') as php:
        path = f'/tmp/perf-{php.process.pid}.map'
        try:
            r = record('-p', php.process.pid, '-F', 997, '-d', 2, '-q', '-o', f'{d}/out.folded')
            check(r.returncode == 0, r.stderr)
            if not os.path.exists(path):
                raise Skip('this opcache writes no perf map')
        finally:
            if os.path.exists(path):
                os.unlink(path)
        names = {f for frames, _ in stacks(f'{d}/out.folded') for f in frames}
    check(any(f.startswith('JIT$') and f.endswith('hot_[j]') for f in names), str(names))


@test
def frames_of_exited_processes_are_symbolized():
    with Directory() as d:
        script = f'{d}/short.php'
        with open(script, 'w') as f:
            f.write('<?php function hot() { $a = ""; for ($i = 0; $i < 300000; $i++) { $a = md5("$a$i"); } } hot();')
        with subprocess.Popen([STROBE, 'record', '-F', '997', '-d', '4', '-u', '-q', '-o', f'{d}/out.folded'],
                              stderr=subprocess.PIPE, text=True) as recording:
            while recording.poll() is None:
                subprocess.run(['php', script], check=True)
            said = recording.stderr.read()
        skip_without_bpf(said)
        check(os.path.exists(f'{d}/out.folded'), said)
        found = [frames for frames, _ in stacks(f'{d}/out.folded') if script in frames and 'hot' in frames]
    # Until the first answer about a process its samples have PHP's frames alone; one that was given while it still mapped its
    # libraries lacks those until the next.
    check(all(f[0] in ('_start', script, '[unknown native]') for f in found), str(found))
    check(any(f[0] == '_start' and 'zend_execute' in f for f in found), f'whole stacks of short processes: {found}')
    check(any(pair == ('md5', 'zif_md5') for f in found for pair in zip(f, f[1:])), f'functions in C are named: {found}')


LATE = '''<?php
echo "ready\\n";
fgets(STDIN);
$z = FFI::cdef('unsigned long adler32(unsigned long, const char *, unsigned int);', __DIR__ . '/libcopy.so');
$text = str_repeat('abc', 1000000);
function sum($z, $text) { for ($i = 0; $i < 50; $i++) $z->adler32($i, $text, strlen($text)); }
function child($z, $text) { while (true) sum($z, $text); }
function parent_of_it($z, $text) { while (true) sum($z, $text); }
pcntl_fork() ? parent_of_it($z, $text) : child($z, $text);
'''


@test
def libraries_loaded_later_and_child_processes_are_unwound():
    missing = subprocess.run(['php', '-r', 'foreach (["FFI", "pcntl"] as $e) if (!extension_loaded($e)) exit(1);']).returncode
    library = next((p for p in glob.glob('/usr/lib/*/libz.so.1') + glob.glob('/lib/*/libz.so.1')), None)
    if missing or not library:
        raise Skip('this php has no FFI or pcntl, or there is no libz')
    with Directory() as d:
        shutil.copy(library, f'{d}/libcopy.so')
        with open(f'{d}/late.php', 'w') as f:
            f.write(LATE)
        with subprocess.Popen(['php', '-d', 'ffi.enable=1', f'{d}/late.php'], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              start_new_session=True) as php:
            try:
                php.stdout.readline()
                with subprocess.Popen([STROBE, 'record', '-P', f'{d}/late.php', '-F', '499', '-d', '4', '-u', '-q', '-o',
                                       f'{d}/out.folded'], stderr=subprocess.PIPE, text=True) as recording:
                    wait_for(lambda: recording.poll() is not None or has_clocks(recording.pid))
                    php.stdin.write(b'go\n')
                    php.stdin.flush()
                    recording.wait()
                    skip_without_bpf(recording.stderr.read())
            finally:
                os.killpg(php.pid, signal.SIGKILL)
        found = [frames for frames, _ in stacks(f'{d}/out.folded')]
    for function in 'child', 'parent_of_it':
        whole = [f for f in found if function in f and f[0] == '_start' and f[-1].startswith('adler32')]
        check(whole, f'{function}() in a library loaded later: {found}')


def unwound_by_gdb(pid):
    """Function names, leaf first, '??' where gdb has none; with the frames of the interpreter as they are."""
    r = subprocess.run(['gdb', '-p', str(pid), '-batch', '-nx', '-iex', 'set debuginfod enabled off', '-ex', 'bt'],
                       capture_output=True, text=True, timeout=120)
    return [m[1] for m in re.finditer(r'^#\d+ +(?:0x[0-9a-f]+ in )?([^ ]+) \(', r.stdout, re.M)]


@test
def native_frames_match_those_of_gdb():
    if not shutil.which('gdb'):
        raise Skip('there is no gdb to compare with')
    source = CHAINS.replace('usleep(3000)', 'sleep(1)').split("spl_autoload_register('load');")[0]
    for call in 'sorted', 'replaced', 'destroyed', 'nested', 'in_fiber':
        with Directory() as d, Php(d, source + f'echo "ready\\n"; while (true) {call}();') as php:
            # gdb stops the process between two sleeps or in one: only a whole sleep is compared.
            other = unwound_by_gdb(php.process.pid)
            r = record('-p', php.process.pid, '--off-cpu', '-d', 3, '-n', '-q', '-o', f'{d}/out.folded')
            check(r.returncode == 0, r.stderr)
            ours = [user_frames(frames) for frames, _ in stacks(f'{d}/out.folded')]
        ours = [f for f in ours if f[-1] in ('clock_nanosleep', '__nanosleep') and len(f) > 5]
        if not check(other and 'nanosleep' in other[0] and ours, f'{call}: {other} {ours}'):
            continue
        # The choice among several names of one address differs: glibc's have many.
        names = [[f if '+0x' not in f else '??' for f in reversed(frames)] for frames in ours]
        same = [f for f in names if len(f) == len(other) and
                all(a == b or '??' in (a, b) or a.strip('_') in b or b.strip('_') in a for a, b in zip(f, other))]
        check(same, f'{call}: gdb has {other}, we have {names}')


if __name__ == '__main__':
    main()
