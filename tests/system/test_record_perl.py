"""`strobe record` on real Perl processes, with threads and (where one is built) without, against what Perl says itself."""
import glob
import json
import os
import re
import shutil
import subprocess

from daemon import Daemon
from recording import OLD_KERNEL, record, stacks
from strobe_test import ROOT, Directory, Skip, check, main, test, wait_for

DATA = f'{ROOT}/tests/data/perl'
UNTHREADED = f'{ROOT}/var/test/perl-unthreaded'

# Each stack has the letters of one chain, in order.
CHAINS = '''package Shop;
sub new { bless {}, shift }
sub total { main::a1(); my @x = sort { main::b1(); $a <=> $b } 2, 1; return 1 }
package main;
sub a3 { for my $i (1 .. 5) { } } sub a2 { a3() } sub a1 { a2() }
sub b3 { my $x = 0; $x += $_ for 1 .. 5; return $x } sub b2 { b3() } sub b1 { b2() }
sub evals { eval { a1(); 1 } or die; eval 'b1(); 1' or die }
my $closure = sub { b1(); a1() };
$| = 1;
print "ready\\n";
while (1) { a1(); b1(); Shop->new->total; $closure->(); evals() }
'''
BELOW = {
    'Shop::new': '', 'Shop::total': 'ab', 'main::evals': 'e', '(eval)': 'ab', 'main::__ANON__': 'ab',
}
RECURSION = '''use Carp;
sub down { my $n = shift; return $n > 1 ? down($n - 1) : stay() }
sub said { Carp::longmess('here') }
sub stay { print said(), "ready\\n"; 1 while 1 }
$| = 1;
down(%d);
'''
SLEEPS = '$| = 1; sub nap { select undef, undef, undef, 0.005 } print "ready\\n"; nap() while 1;\n'
SLEEPER = '$| = 1; sub inner { sleep 1000 } sub outer { inner() } print "ready\\n"; outer();\n'
THREADS = '''use threads;
sub one { 1 while 1 } sub two { 1 while 1 }
my @threads = (threads->create(\\&one), threads->create(\\&two));
$| = 1;
print "ready\\n";
$_->join for @threads;
'''
HOST = '''#include <stddef.h>
void *perl_alloc(void); void perl_construct(void *); int perl_run(void *);
int perl_parse(void *, void *, int, char **, char **);
void Perl_sys_init3(int *, char ***, char ***);
int main(int argc, char **argv, char **env) {
	void *p;
	Perl_sys_init3(&argc, &argv, &env);
	p = perl_alloc();
	perl_construct(p);
	return perl_parse(p, NULL, argc, argv, NULL) ? 1 : perl_run(p);
}
'''


def perls():
    """The commands of all Perls that are here."""
    if not shutil.which('perl'):
        raise Skip('there is no perl here')
    built = f'{UNTHREADED}/bin/perl'
    return [['perl']] + ([[built, f'-I{UNTHREADED}/lib']] if os.path.exists(built) else [])


class Perl:
    """A script that runs until the end of the block; `said` is what it printed before "ready"."""

    def __init__(self, command, *args, cwd=None):
        self.command, self.cwd = [*command, *args], cwd

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True, cwd=self.cwd)
        self.said = []
        while (line := self.process.stdout.readline()) not in ('ready\n', ''):
            self.said.append(line.rstrip('\n'))
        check(line, f'{self.command} is ready')
        return self

    @property
    def pid(self):
        return self.process.pid

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def script(directory, source):
    path = f'{directory}/script.pl'
    with open(path, 'w', encoding='utf-8') as f:
        f.write(source)
    return path


def placeless(frame):
    return re.sub(r'(?<=__ANON__)\[.*\]$', '', frame)


def most(path):
    """The stack with most samples."""
    return max(stacks(path), key=lambda s: s[1])[0]


def check_recording(r):
    if r.returncode == 2 and re.search('Perl (can only be sampled with BPF|requires BPF)', r.stderr):
        raise Skip(r.stderr.strip()[:200])
    check(r.returncode == 0, r.stderr)


@test
def every_kind_of_frame_matches_the_output_of_caller():
    for perl in perls():
        with Directory() as d, Perl(perl, 'chains.pl', 'spin', cwd=DATA) as p:
            check_recording(record('-p', p.pid, '--lang', 'perl', '-F', 199, '-d', 2, '-o', f'{d}/out.folded'))
            expected = [line.split('\t')[0] for line in p.said]
            found = {tuple(map(placeless, frames)) for frames, _ in stacks(f'{d}/out.folded')}
            check(found == {tuple(expected)}, f'{perl}: {found} is {expected}')
            check(len(expected) > 90, 'more than 50 frames')


@test
def the_tested_perls_include_one_without_threads():
    if len(perls()) < 2:
        raise Skip('there is no Perl without threads; scripts/perl-unthreaded var/test/perl-unthreaded builds one')
    config = subprocess.run([*perls()[1], '-MConfig', '-e', 'print $Config{useithreads} // "none"'], capture_output=True, text=True,
                            check=True).stdout
    check(config == 'none', config)


@test
def the_offset_table_matches_the_headers():
    with open(f'{ROOT}/src/capture/perl_offsets.txt', encoding='utf-8') as f:
        rows = [row.split() for row in f if row.strip() and not row.startswith('#')]
    commands = [[], [f'{UNTHREADED}/bin/perl', f'{UNTHREADED}/CORE']]
    lines = [subprocess.run([f'{ROOT}/scripts/perl-offsets', *c], capture_output=True, text=True, check=False).stdout.split()
             for c in commands]
    if not any(lines):
        raise Skip('there are no headers of Perl')
    for line in filter(None, lines):
        here = {}
        for row in [r for r in rows if r[0] == 'all'] + [r for r in rows if r[0] == line[0]]:
            here.update(pair.split('=') for pair in row[1:])
        # Without threads these are variables, and the script says 0.
        told = {k: v for k, v in (pair.split('=') for pair in line[1:]) if v != '0'}
        check({k: here.get(k) for k in told} == told and len(told) >= len(here) - 4, f'{here} {line}')


@test
def profiles_of_perl_are_sent_to_a_daemon_with_the_program_as_entry_label():
    with Directory() as d, Daemon(d) as daemon, Perl(perls()[0], script(d, CHAINS)):
        r = record('--lang', 'perl', '-F', 499, '-d', 2, '--to', daemon.socket)
        check(r.returncode == 0, r.stderr)
        wait_for(lambda: daemon.status()['samples']['stored'] > 0)
        labels = {label['key']: {v['value'] for v in label['values']}
                  for label in json.loads(daemon.get('/api/v1/labels?from=-1h'))['labels']}
        check('script' in labels.get('entry', ()), f'{labels}')


@test
def recursion_depth_matches_carp():
    for perl in perls():
        with Directory() as d, Perl(perl, script(d, RECURSION % 80)) as p:
            check_recording(record('-p', p.pid, '--lang', 'perl', '-F', 199, '-d', 2, '-o', f'{d}/out.folded'))
            carp = [m[1] for line in p.said if (m := re.match(r'\t(\S+)\(.*\) called at', line))]
            check(len(carp) == 81, f'Carp names 81 calls: {carp}')
            check(most(f'{d}/out.folded')[1:] == carp[::-1], f'{most(f"{d}/out.folded")} is {carp}')


@test
def a_stack_over_the_depth_limit_is_truncated_at_its_root_with_a_warning():
    with Directory() as d, Perl(perls()[0], script(d, RECURSION % 400)) as p:
        r = record('-p', p.pid, '--lang', 'perl', '-F', 199, '-d', 2, '-o', f'{d}/out.folded')
        check_recording(r)
        check('deeper than 256 frames' in r.stderr, r.stderr)
        frames = most(f'{d}/out.folded')
        check(frames[0] == '[truncated]' and frames[-1] == 'main::stay' and len(frames) == 256, frames)


def check_chain(frames, path):
    """Raises unless the stack is one that the script can have."""
    check(frames[0] == path, f'the program is the root: {frames}')
    rest, may = [placeless(f) for f in frames[1:]], None
    while rest and rest[0] in BELOW:
        check(may is None or (may == 'e' and rest[0] == '(eval)'), f'{rest[0]} is called at this point: {frames}')
        may = BELOW[rest.pop(0)]
    letters = ''.join(f.removeprefix('main::') for f in rest)
    check(letters in ('', 'a1', 'a1a2', 'a1a2a3', 'b1', 'b1b2', 'b1b2b3'), f'one chain, callers first: {frames}')
    check(not letters or may is None or letters[0] in may, f'{letters} is called at this point: {frames}')


@test
def every_recorded_stack_is_possible_in_the_script():
    for perl in perls():
        with Directory() as d, Perl(perl, path := script(d, CHAINS)) as p:
            r = record('-p', p.pid, '--lang', 'perl', '-F', 4999, '-d', 3, '-o', f'{d}/out.folded')
            check_recording(r)
            for frames, _ in stacks(f'{d}/out.folded'):
                check_chain(frames, path)
            names = {f for frames, _ in stacks(f'{d}/out.folded') for f in frames}
            check({'Shop::total', '(eval)', 'main::a3', 'main::b3', f'main::__ANON__[{path}:8]'} <= names, names)


@test
def the_programs_for_the_oldest_kernels_give_the_same_result():
    with Directory() as d, Perl(perls()[0], path := script(d, CHAINS)) as p:
        check_recording(record('-p', p.pid, '--lang', 'perl', '-F', 999, '-d', 2, '-o', f'{d}/out.folded',
                               env={**os.environ, **OLD_KERNEL}))
        for frames, _ in stacks(f'{d}/out.folded'):
            check_chain(frames, path)


def check_layers(frames, path):
    """Raises unless Perl's frames are one piece between native ones, and possible."""
    check(path in frames and 'Perl_runops_standard' not in frames, f'frames of Perl replace runops: {frames}')
    root, perl = frames[:frames.index(path)], frames[frames.index(path):]
    check('perl_run' in root, f'the caller of Perl is above: {frames}')
    end = 1 + max(i for i, f in enumerate(perl) if f == path or '::' in f or f == '(eval)')
    check_chain(perl[:end], path)
    return perl[end:]


@test
def native_frames_surround_the_frames_of_perl():
    for env in ({}, {'STROBE_WITHOUT': 'bpf_loop'}):
        for perl in perls():
            with Directory() as d, Perl(perl, path := script(d, CHAINS)) as p:
                check_recording(record('-p', p.pid, '-u', '-F', 999, '-d', 2, '-o', f'{d}/out.folded', env={**os.environ, **env}))
                leaves = [check_layers(frames, path) for frames, _ in stacks(f'{d}/out.folded') if 'main' in frames]
                check(any(x and x[0].startswith('Perl_pp_') for x in leaves), f'operators are below their subs: {leaves}')


@test
def native_only_stacks_contain_the_interpreter():
    for how in (['-n'], ['--lang', 'native']):
        with Directory() as d, Perl(perls()[0], path := script(d, CHAINS)) as p:
            check_recording(record('-p', p.pid, *how, '-F', 999, '-d', 2, '-o', f'{d}/out.folded'))
            frames = {f for frames, _ in stacks(f'{d}/out.folded') for f in frames}
            check({'perl_run', 'Perl_runops_standard', 'Perl_pp_sort'} <= frames and path not in frames, frames)


@test
def functions_are_shown_with_file_and_line():
    with Directory() as d, Perl(perls()[0], path := script(d, CHAINS)) as p:
        r = record('-p', p.pid, '--lang', 'perl', '-F', 999, '-d', 2, '--rows', 50, '-o', f'{d}/out.strobe')
        check_recording(r)
        check(re.search(rf'main::a3 +{re.escape(path)}:5$', r.stderr, re.M), r.stderr)
        check(re.search(rf'\(eval\) +{re.escape(path)}:7$', r.stderr, re.M), r.stderr)


@test
def off_cpu_time_is_attributed_to_the_waiting_sub():
    for perl in perls():
        with Directory() as d, Perl(perl, path := script(d, SLEEPS)) as p:
            check_recording(record('-p', p.pid, '--off-cpu', '--lang', 'perl', '-d', 2, '-o', f'{d}/out.folded'))
            check(any(frames[:2] == [path, 'main::nap'] for frames, _ in stacks(f'{d}/out.folded')), 'waits of nap')


@test
def a_process_asleep_throughout_is_counted_for_the_whole_recording():
    for perl in perls():
        with Directory() as d, Perl(perl, path := script(d, SLEEPER)) as p:
            r = record('-p', p.pid, '--off-cpu', '--lang', 'perl', '-d', 1, '-o', f'{d}/out.folded')
            check_recording(r)
            found = stacks(f'{d}/out.folded')
            check([f for f, _ in found] == [[path, 'main::outer', 'main::inner']] and found[0][1] >= 900e6, (found, r.stderr))


@test
def each_thread_is_recorded_with_its_own_stack():
    if subprocess.run(['perl', '-Mthreads', '-e', '1'], capture_output=True, check=False).returncode:
        raise Skip('this perl has no threads')
    with Directory() as d, Perl(['perl'], script(d, THREADS)) as p:
        check_recording(record('-p', p.pid, '--lang', 'perl', '-F', 499, '-d', 2, '-o', f'{d}/out.folded'))
        names = {frames[-1] for frames, _ in stacks(f'{d}/out.folded')}
        check({'main::one', 'main::two'} <= names, names)


@test
def a_program_that_embeds_libperl_is_sampled():
    version = subprocess.run(['perl', '-e', 'printf "%vd", $^V'], capture_output=True, text=True, check=True).stdout
    libraries = glob.glob(f'/usr/lib/*/libperl.so.{version.rpartition(".")[0]}')
    if not libraries or not shutil.which('cc'):
        raise Skip('there is no libperl of this perl, or no compiler')
    with Directory() as d:
        with open(f'{d}/host.c', 'w', encoding='utf-8') as f:
            f.write(HOST)
        subprocess.run(['cc', '-o', f'{d}/host', f'{d}/host.c', libraries[0]], check=True)
        with Perl([f'{d}/host'], path := script(d, CHAINS)) as p:
            check_recording(record('-p', p.pid, '--lang', 'perl', '-F', 999, '-d', 2, '-o', f'{d}/out.folded'))
            for frames, _ in stacks(f'{d}/out.folded'):
                check_chain(frames, path)


@test
def without_a_target_every_perl_is_sampled_but_only_if_perl_is_selected():
    with Directory() as d, Perl(perls()[0], path := script(d, CHAINS)):
        check_recording(record('--lang', 'perl', '-F', 199, '-d', 2, '-o', f'{d}/perl.folded'))
        check(any(frames[0] == path for frames, _ in stacks(f'{d}/perl.folded')), 'the script is recorded')
        r = record('-F', 199, '-d', 2, '-o', f'{d}/php.folded')
        check('of PHP on CPU' in r.stderr or 'found PHP on CPU' in r.stderr, r.stderr)
        check(r.returncode == 4 or all(path not in frames for frames, _ in stacks(f'{d}/php.folded')), 'no Perl is recorded')
        check_recording(record('-a', '-F', 199, '-d', 2, '-o', f'{d}/all.folded'))
        check(any(path in frames for frames, _ in stacks(f'{d}/all.folded')), 'both languages are recorded')


@test
def a_mismatching_offset_table_is_rejected():
    table = f'{ROOT}/src/capture/perl_offsets.txt'
    for wrong, why in (('defgv=184', 'variable $_'), ('hv_name=32', 'main package'), ('si_type=44', 'do not lead')):
        with Directory() as d, Perl(['perl'], script(d, CHAINS)) as p:
            with open(table, encoding='utf-8') as f, open(f'{d}/wrong.txt', 'w', encoding='utf-8') as out:
                name, number = wrong.split('=')
                out.write(f.read().replace(wrong, f'{name}={int(number) - 8}'))
            r = record('-p', p.pid, '-d', 1, '--perl-offsets', f'{d}/wrong.txt', '-o', f'{d}/out.folded')
            check(r.returncode == 2 and 'does not match' in r.stderr and why in r.stderr, r)


@test
def perl_is_recorded_despite_aliased_variables():
    source = 'sub other { 1 } sub work { for my $i (1 .. 1000) { } } local *_ = *other; $| = 1; print "ready\\n"; while (1) { work() }\n'
    with Directory() as d, Perl(['perl'], script(d, source)) as p:
        check_recording(record('-p', p.pid, '-F', 199, '-d', 1, '-o', f'{d}/out.folded'))
        check('main::work' in open(f'{d}/out.folded').read(), 'the sub is sampled')


@test
def unsupported_languages_and_targets_are_rejected():
    with Directory() as d, Perl(perls()[0], script(d, CHAINS)) as p:
        r = record('-p', p.pid, '--lang', 'php', '-d', 1)
        check(r.returncode == 2 and 'runs no PHP' in r.stderr and 'executor_globals' in r.stderr, r)
    r = record('--lang', 'ruby', '-d', 1)
    check(r.returncode == 1 and 'php, perl or native' in r.stderr, r)
    r = record('--lang', 'perl', '--fpm', '-d', 1)
    check(r.returncode == 1 and 'php-fpm runs no Perl' in r.stderr, r)


if __name__ == '__main__':
    main()
