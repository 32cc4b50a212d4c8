"""Follows the section "Your first format" of CONTRIBUTING.md in a clone of the tree."""
import os
import re
import shutil
import subprocess
import tempfile

from strobe_test import ROOT, Skip, check, main, test


def section():
    with open(f'{ROOT}/CONTRIBUTING.md', encoding='utf-8') as f:
        return re.search(r'^## Your first format\n(.*?)^## ', f.read(), re.M | re.S)[1]


def blocks(kind):
    return re.findall(rf'^```{kind}\n(.*?)^```$', section(), re.M | re.S)


def apply(diff, tree):
    done = subprocess.run(['git', '-C', tree, 'apply', '-'], input=diff, capture_output=True, text=True)
    check(done.returncode == 0, f'git apply: {done.stderr}')


def copy_of_the_tree(tree):
    """Its files as they are, committed in a repository of their own."""
    listed = subprocess.run(['git', '-C', ROOT, 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], capture_output=True)
    if listed.returncode:
        raise Skip('this tree is no repository')
    for name in listed.stdout.decode().split('\0'):
        if name and os.path.lexists(f'{ROOT}/{name}'):
            os.makedirs(os.path.dirname(f'{tree}/{name}'), exist_ok=True)
            shutil.copy2(f'{ROOT}/{name}', f'{tree}/{name}', follow_symlinks=False)
    for words in (['init', '-q', '-b', 'main'], ['add', '-A'], ['-c', 'user.name=x', '-c', 'user.email=x@localhost', 'commit', '-qm', 'x']):
        subprocess.run(['git', '-C', tree, *words], check=True)


@test
def the_instructions_for_adding_a_format_work():
    with tempfile.TemporaryDirectory() as parent:
        tree = f'{parent}/strobe'
        copy_of_the_tree(tree)
        # The tree has been built before, as that of whoever reads the section.
        subprocess.run([f'{tree}/scripts/build', '--configure'], capture_output=True, check=True)
        reader, unit = blocks('c')
        os.makedirs(f'{tree}/src/formats/corpus/tally')
        for path, text in (('tally.c', reader), ('test_tally.c', unit), ('corpus/tally/first', blocks('text')[0])):
            with open(f'{tree}/src/formats/{path}', 'w', encoding='utf-8') as f:
                f.write(text)
        for diff in blocks('diff'):
            apply(diff, tree)

        def run(command):
            env = {k: v for k, v in os.environ.items() if not k.startswith(('STROBE', 'MESON', 'MAKE'))}
            return subprocess.run(command, shell=True, cwd=tree, env=env, capture_output=True, text=True, timeout=1200)
        tried = re.findall(r'^    (.*)$', section()[section().index('**5. Try it.**'):section().index('**6. ')], re.M)
        check(len(tried) == 5, f'{tried}')
        for command in tried:
            # The extension has nothing to do with it.
            done = run(command.replace('make', 'make PHP_CONFIG=none', 1) if command == 'make' else command)
            check(done.returncode == 0, f'{command}: {done.stdout[-800:]} {done.stderr[-800:]}')
            if 'TESTS=tally' in command:
                check(re.search(r'\b[1-9]\d* passed, 0 failed', done.stdout), done.stdout[-800:])
            if ' report ' in command:
                check('strlen' in done.stdout and '12' in done.stdout, f'{done}')
            if command == 'make format':
                changed = run('git diff --stat; git status --short').stdout
                check('src/formats/tally.c' in changed, changed)
                with open(f'{tree}/src/formats/tally.c', encoding='utf-8') as f:
                    check(f.read() == reader, f'the code in the section is already formatted: {run("diff - src/formats/tally.c").stdout}')


if __name__ == '__main__':
    main()
