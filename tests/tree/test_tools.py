#!/usr/bin/env python3
"""The tools of a contributor: what editors know of the sources, `make format`, and the one place of the version. With "rules" only
whether .clang-format has the rules of the code, in more folders.
"""
import contextlib
import glob
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STROBE = os.environ['STROBE']


def told(wrong, sentence):
    print(f'{"not ok" if wrong else "ok"} - {sentence}' + ''.join(f'\n# {w}' for w in wrong), flush=True)


def read(path):
    with open(os.path.join(ROOT, path), encoding='utf-8') as f:
        return f.read()


# --- compile_commands.json ---

def entries():
    found = {}
    for entry in json.loads(read('compile_commands.json')):
        path = os.path.realpath(os.path.join(entry['directory'], entry['file']))
        found[os.path.relpath(path, ROOT)] = entry
    return found


def compiles(entry):
    """By the entry alone, as a tool would do it."""
    words = entry.get('arguments') or shlex.split(entry['command'])
    # Files that the build writes stay as they are.
    if '-o' in words:
        at = words.index('-o')
        words = words[:at] + words[at + 2:]
    words = [w for i, w in enumerate(words) if w not in ('-MD', '-MMD', '-MQ', '-MF', '-MT') and (i == 0 or words[i - 1] not in ('-MQ', '-MF', '-MT'))]
    return subprocess.run([*words, '-fsyntax-only'], cwd=entry['directory'], capture_output=True, text=True)


def editors():
    if not glob.glob(os.path.join(ROOT, 'build/php*/commands')):
        print('skip - compile_commands.json: no extension was built in this tree')
        return
    found = entries()
    sources = [os.path.relpath(path, ROOT) for place in ('extension', 'src') for path in glob.glob(os.path.join(ROOT, place, '**/*.c'), recursive=True)]
    # Files of the other choice when libbpf or ncurses are there, and one that musl's compiler takes.
    optional = {p for p in sources if re.search(r'(_none|_of_test)\.c$', p)}
    lacking = sorted(set(p for p in sources if not os.path.basename(p).startswith(('test_', 'fuzz_'))) - set(found) - optional)
    told(lacking, 'compile_commands.json contains every source of daemon and extension')

    wrong = []
    for path in ('src/base/options.c', 'src/store/store.c', 'src/capture/bpf/sampler.bpf.c', 'extension/strobe.c', 'extension/sample/sampler.c',
                 'extension/compat/xhprof/xhprof.c'):
        if path not in found:
            wrong.append(f'{path} has no entry' if os.path.exists(os.path.join(ROOT, path)) else f'{path} is not there: name another file')
            continue
        done = compiles(found[path])
        if done.returncode:
            wrong.append(f'{path}: {done.stderr[:400]}')
    told(wrong, 'sources of daemon and extension compile with their entries in compile_commands.json')

    if not shutil.which('clangd'):
        print('skip - clangd parses sources of daemon and extension: clangd is not installed')
        return
    wrong = []
    for path in ('src/base/size.c', 'extension/setting_words.c'):
        done = subprocess.run(['clangd', f'--check={path}', '--background-index=false'], cwd=ROOT, capture_output=True, text=True)
        if 'All checks completed, 0 errors' not in done.stderr or 'Compile command from CDB' not in done.stderr:
            wrong.append(f'{path}: {done.stderr[-600:]}')
    told(wrong, 'clangd parses sources of daemon and extension without errors')


# --- make format ---

KEPT = '''#define FIRST		1	/* by tabs */
#define SECOND_ONE	2

struct pair {
	int a;			/* one */
	long second;		/* two */
};

int  old( int x ){ return x; }
'''
ADDED = '''
int fresh( int x,int y )
{
  return x+y;		/* the sum */
}
'''
FORMATTED = '''
int fresh(int x, int y)
{
	return x + y; /* the sum */
}
'''


def format_test():
    if not shutil.which('clang-format'):
        print('skip - make format: clang-format is not installed')
        return
    with tempfile.TemporaryDirectory() as tree:
        def run(*words):
            return subprocess.run(words, cwd=tree, capture_output=True, text=True)
        os.makedirs(f'{tree}/scripts')
        os.makedirs(f'{tree}/src')
        shutil.copy(f'{ROOT}/scripts/format', f'{tree}/scripts/format')
        shutil.copy(f'{ROOT}/.clang-format', tree)
        with open(f'{tree}/src/a.c', 'w') as f:
            f.write(KEPT)
        run('git', 'init', '-q', '-b', 'main')
        run('git', 'add', '.')
        run('git', '-c', 'user.name=x', '-c', 'user.email=x@localhost', 'commit', '-qm', 'x')
        with open(f'{tree}/src/a.c', 'a') as f:
            f.write(ADDED)
        check = run('scripts/format', '--check')
        done = run('scripts/format')
        with open(f'{tree}/src/a.c') as f:
            text = f.read()
        again = run('scripts/format', '--check')
    told([] if check.returncode == 3 and done.returncode == 0 and text == KEPT + FORMATTED else [check, done, text],
         'make format formats only changed lines')
    told([] if again.returncode == 0 and not again.stdout else [again], 'make format does not change formatted lines again')


def rules_test(sample, least):
    if not shutil.which('clang-format'):
        print('skip - the rules of .clang-format: clang-format is not installed')
        return
    lines = 0
    with tempfile.TemporaryDirectory() as tree:
        for place in sample:
            shutil.copytree(f'{ROOT}/{place}', f'{tree}/{place}', ignore=shutil.ignore_patterns('corpus'))
        os.makedirs(f'{tree}/scripts')
        shutil.copy(f'{ROOT}/scripts/format', f'{tree}/scripts/format')
        shutil.copy(f'{ROOT}/.clang-format', tree)
        subprocess.run(['git', 'init', '-q', tree], check=True)
        subprocess.run(['git', '-C', tree, 'add', '.'], check=True)
        done = subprocess.run([f'{tree}/scripts/format', '--check', '--all'], capture_output=True, text=True)
        for path in glob.glob(f'{tree}/**/*.[ch]', recursive=True):
            with open(path, encoding='utf-8') as f:
                lines += len(f.readlines())
    changed = len(re.findall(r'^-(?!--)', done.stdout, re.M))
    told([] if lines > least and changed < lines * 0.03 else [f'{changed} of {lines} lines would change'],
         '.clang-format matches the code: formatting whole folders would change less than 3 % of their lines')


# --- The version ---

def versions():
    """The version of each part, by the name of the part."""
    said = {'strobe --version': subprocess.run([STROBE, '--version'], capture_output=True, text=True).stdout.split()[-1]}
    for page in ([], ['run']):
        text = subprocess.run([STROBE, 'man', *page], capture_output=True, text=True).stdout
        said[f'man page {"-".join(["strobe", *page])}'] = re.search(r'^\.TH .*?"Strobe ([^"]+)"', text, re.M)[1]
    said['extension/php_strobe.h'] = re.search(r'PHP_STROBE_VERSION "([^"]+)"', read('extension/php_strobe.h'))[1]
    said['CHANGELOG.md'] = re.search(r'^## ([\w.-]+)', read('CHANGELOG.md'), re.M)[1]
    if os.path.exists(f'{ROOT}/build/strobe.so'):
        php = subprocess.run(['php', '-n', '-d', f'extension={ROOT}/build/strobe.so', '-r', 'echo Strobe\\VERSION, " ", phpversion("strobe");'],
                             capture_output=True, text=True)
        said['Strobe\\VERSION'], said['phpversion("strobe")'] = (php.stdout.split() + ['none', 'none'])[:2]
    with tempfile.TemporaryDirectory() as out:
        path = subprocess.run([f'{ROOT}/scripts/pecl-package', out], capture_output=True, text=True, check=True).stdout.strip()
        said['name of the PECL package'] = os.path.basename(path).removeprefix('strobe-').removesuffix('.tgz')
        with tarfile.open(path) as package:
            xml = package.extractfile('package.xml').read().decode()
        said['package.xml, release'] = re.search('<release>([^<]+)</release>', xml)[1]
        said['package.xml, api'] = re.search('<api>([^<]+)</api>', xml)[1]
    # Packagist and PIE take a package's version from its tag; a number here would be one more to forget.
    composer = json.loads(read('composer.json'))
    said['composer.json'] = composer.get('version', said['extension/php_strobe.h'])
    return said


def places_of(version):
    """The files of the sources, packages and goldens that spell `version` out."""
    places = ['meson.build', 'composer.json', 'extension', 'wire', 'packaging', 'scripts', 'src', 'tests/cli', 'web/src']
    names = subprocess.run(['git', '-C', ROOT, 'ls-files', '-z', *places], capture_output=True, text=True).stdout.split('\0')
    spelled = re.compile(rb'(?<![\w.])' + re.escape(version.encode()) + rb'(?![\w.])')
    for name in names:
        # Inputs of tests hold the version of the Strobe that wrote them.
        if name and '/corpus/' not in name and not os.path.basename(name).startswith('test_') and os.path.isfile(f'{ROOT}/{name}'):
            with open(f'{ROOT}/{name}', 'rb') as f:
                if spelled.search(f.read()):
                    yield name


def version_test():
    said = versions()
    wanted = said['extension/php_strobe.h']
    told([name for name in places_of(wanted) if name != 'extension/php_strobe.h'], 'only extension/php_strobe.h contains the version')
    told([f'{part}: {version}, not {wanted}' for part, version in said.items() if version != wanted],
         'binary, man pages, extension, packages and CHANGELOG.md have the same version')


# --- A test of the extension that fails now and then ---

UNSTEADY = '''--TEST--
It passes at the second try
--FILE--
<?php
usleep(1);
$tried = __DIR__ . '/tried';
echo file_exists($tried) ? 'fine' : 'NOT TRUE: the first try';
touch($tried);
?>
--EXPECT--
fine
'''


def unsteady_test():
    sentence = 'the runner of PHP does not retry a failed test and shows its output'
    config = shutil.which('php-config')
    if not config:
        print(f'skip - {sentence}: php-config is not installed (package php-dev)')
        return
    sys.path.insert(0, os.path.join(ROOT, 'tests', 'php'))
    import phpt
    php = phpt.Php('', config)
    if not php.run_tests:
        print(f'skip - {sentence}: there is no run-tests.php for it')
        return
    with tempfile.TemporaryDirectory(prefix='strobe-tools-') as directory:
        tests = os.path.join(directory, 'tests')
        os.mkdir(tests)
        with open(os.path.join(tests, 'unsteady.phpt'), 'w', encoding='utf-8') as f:
            f.write(UNSTEADY)
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            phpt.run_groups(php, ['-p', php.binary], dict(os.environ, NO_INTERACTION='1', NO_COLOR='1'), tests, ['unsteady.phpt'], 'PHP')
        lines = said.getvalue().splitlines()
    right = 'not ok - PHP: It passes at the second try (unsteady)' in lines and any('NOT TRUE: the first try' in line for line in lines)
    told([] if right else lines, sentence)


def main():
    if sys.argv[1:] == ['rules']:
        rules_test(['src/base', 'src/profile', 'extension/sample'], 10000)
        return
    editors()
    format_test()
    rules_test(['extension/sample'], 5000)
    version_test()
    unsteady_test()


if __name__ == '__main__':
    main()
