"""Runs copies of extension/tests/*.phpt with PHP's own run-tests.php, several at a time, and prints a line for each."""
import concurrent.futures
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, 'build')
# They take most of the time, since they wait or start hundreds of programs: beside the others, which measure shares of time and
# need a processor, each in a run of run-tests.php of its own.
LONG = [name + '.phpt' for name in ('guest_ends', 'guest_calls', 'status', 'guest_cycles', 'ends', 'daemon', 'guest_limits')]
# The number of other tests that share one run of run-tests.php.
TOGETHER = 8

LINE = re.compile(r'(PASS|FAIL|SKIP|BORK|LEAK|LEAKED|WARN|XFAIL|XLEAK)(?:&\w+)* .*'
                  r'\[(?:.*/)?([^/\]]+\.phpt)\]\s*(.*)')


class Php:
    def __init__(self, version, config):
        self.version, self.config = version, config
        self.binary = self.runner = self.ask('--php-binary')  # the PHP under test, and the one that runs the tests
        self.extension = os.path.join(BUILD, f'php{version}', 'strobe.so')
        self.run_tests = self.find_run_tests()

    def ask(self, option):
        return subprocess.run([self.config, option], capture_output=True, text=True).stdout.strip()

    def find_run_tests(self):
        """phpize's files lie beside the extensions in Debian, below the prefix elsewhere."""
        api = os.path.basename(self.ask('--extension-dir'))
        places = [f'/usr/lib/php/{api}/build', os.path.join(self.ask('--prefix'), 'lib', 'php', 'build'),
                  os.path.join(self.ask('--lib-dir') or '/nonexistent', 'build')]
        for place in places:
            path = os.path.join(place, 'run-tests.php')
            if os.path.exists(path):
                return path
        return None


def skip(sentence, reason):
    print(f'skip - {sentence}: {reason}', flush=True)


def failed_before(label):
    """The tests that a second try is about, None at the first (tests/run says which sentences failed)."""
    sentences = os.environ.get('FAILED_BEFORE')
    if not sentences:
        return None
    return {m[1] + '.phpt' for m in re.finditer(rf'^{re.escape(label)}: .*\((\w+)\)$', sentences, re.M)}


class Title:
    """The first line of a test is its sentence."""

    def __init__(self, folder):
        self.folder = folder

    def of(self, name):
        with open(os.path.join(self.folder, name), encoding='utf-8', errors='replace') as f:
            lines = f.read().split('\n')
        return lines[1].strip() if len(lines) > 1 and lines[0] == '--TEST--' else name


def report(text, folder, label):
    """Translates the lines of run-tests.php; returns the names of the tests they speak of."""
    title = Title(folder)
    text = re.sub(r'\x1b\[[0-9;]*m', '', text)
    names = set()
    for line in re.split(r'[\r\n]', text):
        m = LINE.match(line)
        if not m:
            continue
        status, name, rest = m.groups()
        names.add(name)
        sentence = f'{label}: {title.of(name)} ({name[:-5]})'
        if status in ('PASS', 'XFAIL'):
            print(f'ok - {sentence}')
        elif status == 'WARN' and 'passed on retry' in rest:
            # PHP's runner tries tests that look at clocks once more.
            print(f'flaky - {sentence}')
        elif status == 'SKIP':
            print(f'skip - {sentence}: {rest.removeprefix("reason:").strip() or "not for this PHP"}')
        else:
            print(f'not ok - {sentence}')
            if not show_files(folder, name):
                print(''.join(f'# {l}\n' for l in text.splitlines()[-60:]))
    sys.stdout.flush()
    return names


def show_files(folder, name):
    shown = False
    for ending in ('diff', 'mem'):
        path = os.path.join(folder, name[:-4] + ending)
        if os.path.exists(path):
            with open(path, encoding='utf-8', errors='replace') as f:
                print(''.join('# ' + line for line in f.readlines()[:60]))
            shown = True
    return shown


def keep(folder, only):
    """Removes the tests that are not meant; returns how many are left."""
    kept = 0
    for path in glob.glob(os.path.join(folder, '*.phpt')):
        with open(path, encoding='utf-8', errors='replace') as f:
            meant = only(f.read())
        if meant:
            kept += 1
        else:
            os.unlink(path)
    return kept


def left_out_by_content(folder, reasons):
    for name in sorted(os.listdir(folder)):
        if not name.endswith('.phpt'):
            continue
        with open(os.path.join(folder, name), encoding='utf-8', errors='replace') as f:
            text = f.read()
        for pattern, reason in reasons.items():
            if re.search(pattern, text):
                yield name, reason
                break


def run_phpt(label, php, extension, binary_options=(), env=None, leave_out=None, inner=None, leave_out_with=None,
             only=None, unmeant=()):
    """Runs the tests in a copy. `inner` are ini settings of the programs that the tests start. `leave_out` holds reasons
    by names of tests, `leave_out_with` by what is found in them. `only` says which texts are meant at all,
    `unmeant` names tests that are not."""
    if not php.run_tests:
        skip(label, f'no run-tests.php for {php.config} (package php-dev)')
        return
    if not os.path.exists(extension):
        print(f'not ok - {label}: there is no {extension}; `make` builds it')
        return
    with tempfile.TemporaryDirectory(prefix='strobe-phpt-') as copy:
        tests = os.path.join(copy, 'tests')
        shutil.copytree(os.path.join(ROOT, 'extension', 'tests'), tests,
                        ignore=lambda _, names: [n for n in names if not n.endswith(('.phpt', '.inc', '.php'))])
        shutil.copy(os.path.join(ROOT, 'extension', 'strobe.stub.php'), copy)   # which a test compares with the extension
        again = failed_before(label)
        if again is not None:
            every = {name for name in os.listdir(tests) if name.endswith('.phpt')}
            if not again & every:
                return
            unmeant = every - again
        for name in unmeant:
            os.unlink(os.path.join(tests, name))
        if only and not keep(tests, only):
            return
        for name, reason in (leave_out or {}).items():
            path = os.path.join(tests, name)
            if os.path.exists(path):
                skip(f'{label}: {Title(tests).of(name)} ({name[:-5]})', reason)
                os.unlink(path)
        for name, reason in left_out_by_content(tests, leave_out_with or {}):
            skip(f'{label}: {Title(tests).of(name)} ({name[:-5]})', reason)
            os.unlink(os.path.join(tests, name))
        full = dict(os.environ, NO_INTERACTION='1', NO_COLOR='1', TEST_TIMEOUT='900', TEST_PHP_EXECUTABLE=php.binary, **(env or {}))
        if inner:
            full['STROBE_TEST_INI'] = json.dumps(inner)
        files = sorted(os.path.basename(path) for path in glob.glob(os.path.join(tests, '*.phpt')))
        said = run_groups(php, ['-p', php.binary, '-d', f'extension={extension}', *binary_options], full, tests, files, label)
        if files and said == 0:
            print(f'not ok - {label}: run-tests.php ran no test')


def groups_of(files):
    alone = [name for name in LONG if name in files]
    others = [name for name in files if name not in alone]
    return [[name] for name in alone] + [others[i:i + TOGETHER] for i in range(0, len(others), TOGETHER)]


def copy_runner(path, folder):
    """PHP's runner tries tests once more whose text mentions clocks or sleeps, which is nearly all, and throws the first output away.
    A test that fails now and then is a defect: it fails here, and tests/run shows its output and names it if it passes later."""
    with open(path, encoding='utf-8') as f:
        text = f.read()
    copy = os.path.join(folder, os.path.basename(path))
    with open(copy, 'w', encoding='utf-8') as f:
        f.write(re.sub(r'^(function error_may_be_retried\(.*\n\{\n)', r'\1    return false;\n', text, flags=re.M))
    return copy


def run_groups(php, options, env, tests, files, label):
    """Returns of how many tests run-tests.php spoke. A run that ends early costs only its own tests."""
    lock = threading.Lock()

    def run(group):
        # run-tests.php keeps a file beside itself while it runs.
        with tempfile.TemporaryDirectory(prefix='runner-', dir=os.path.dirname(tests)) as folder:
            runner = copy_runner(php.run_tests, folder)
            # -n: the ini files of this machine are not part of the test; modules that a test asks for are loaded by name.
            command = [php.runner, '-n', runner, '-q', '-n', '-j1', *options, *(os.path.join(tests, name) for name in group)]
            out = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True, errors='replace', cwd=folder).stdout
        with lock:
            said = report(out, tests, label)
            if len(said) < len(group):
                print(''.join(f'# {line}\n' for line in out.splitlines()[-60:]))
            for name in set(group) - said:
                print(f'not ok - {label}: run-tests.php ended before {name}')
            return len(said)

    groups = groups_of(files)
    with concurrent.futures.ThreadPoolExecutor(2) as long, concurrent.futures.ThreadPoolExecutor(1) as others:
        jobs = [(long if group[0] in LONG else others).submit(run, group) for group in groups]
        return sum(job.result() for job in jobs)
