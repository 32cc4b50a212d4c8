"""The scripts behind `make`, on machines with other tools than this one."""
import glob
import json
import os
import shutil
import subprocess
import tempfile

from strobe_test import ROOT, Skip, check, main, test


def tools(directory, without=(), **other):
    """Fills a directory that can stand as PATH: links to all programs of this machine but those whose names begin so."""
    for place in os.environ['PATH'].split(':') + ['/usr/bin', '/bin']:
        for program in glob.glob(place + '/*'):
            link = os.path.join(directory, os.path.basename(program))
            if not os.path.lexists(link) and not os.path.basename(program).startswith(tuple(without) or ('\0',)):
                os.symlink(program, link)
    for name, program in other.items():
        link = os.path.join(directory, name)
        if os.path.lexists(link):
            os.unlink(link)
        os.symlink(program, link)
    return {**os.environ, **options_of_the_tree(), 'PATH': directory}


def options_of_the_tree():
    """The variables that this tree was built with: with others, scripts/build would reconfigure the tree, by programs in a PATH
    that is gone after the test."""
    with open(f'{ROOT}/build/.options') as f:
        options = f.read().split()
    with open(f'{ROOT}/build/.compiler') as f:
        variables = {'CC': f.read().strip(), 'WERROR': '1' if '-Dwerror=true' in options else ''}
    variables['PREFIX'] = ''.join(o.partition('=')[2] for o in options if o.startswith('-Dprefix='))
    return variables


def phps_with(awk):
    if not shutil.which(awk):
        raise Skip(f'{awk} is not installed')
    expected = subprocess.run([f'{ROOT}/scripts/phps'], capture_output=True, text=True, check=True).stdout
    check(expected, 'one is installed')
    with tempfile.TemporaryDirectory() as directory:
        r = subprocess.run([f'{ROOT}/scripts/phps'], capture_output=True, text=True, env=tools(directory, awk=shutil.which(awk)))
    check(r.returncode == 0 and not r.stderr and [line.split('\t')[0] for line in r.stdout.splitlines()] ==
          [line.split('\t')[0] for line in expected.splitlines()], f'{r}')


@test
def php_installations_are_found_with_mawk():
    phps_with('mawk')


@test
def php_installations_are_found_with_gawk():
    phps_with('gawk')


@test
def php_installations_are_found_with_busybox():
    phps_with('busybox')


@test
def a_build_without_php_fails_with_a_message():
    with tempfile.TemporaryDirectory() as directory:
        env = tools(directory, without=['php'])
        env.pop('PHP_CONFIG', None)
        if glob.glob('/usr/local/bin/php-config*'):
            raise Skip('a php-config lies in /usr/local/bin, where it is always found')
        r = subprocess.run([f'{ROOT}/scripts/build'], capture_output=True, text=True, env=env, timeout=300)
        check(r.returncode == 2 and 'php-dev' in r.stderr and 'PHP_CONFIG=none' in r.stderr, f'{r}')
        r = subprocess.run([f'{ROOT}/scripts/build'], capture_output=True, text=True, env={**env, 'PHP_CONFIG': 'none'}, timeout=300)
        check(r.returncode == 0 and 'php' not in r.stderr, f'the binary alone is built: {r}')
        r = subprocess.run([f'{ROOT}/scripts/build'], capture_output=True, text=True, env={**env, 'PHP_CONFIG': '/nonexistent'}, timeout=300)
        check(r.returncode == 2 and '/nonexistent' in r.stderr, f'{r}')


@test
def the_build_fails_if_the_extension_cannot_be_built_for_a_php():
    with tempfile.TemporaryDirectory() as directory:
        env = tools(directory, without=['php'])
        env.pop('PHP_CONFIG', None)
        for name, version, number in (('php-config', '8.3.9', 80309), ('php-config7.4', '7.4.33', 70433)):
            with open(os.path.join(directory, name), 'w') as f:
                f.write(f'#!/bin/sh\ncase $1 in --version) echo {version};; --vernum) echo {number};; --include-dir) echo /usr;; *) echo;; esac\n')
            os.chmod(os.path.join(directory, name), 0o755)
        r = subprocess.run([f'{ROOT}/scripts/build'], capture_output=True, text=True, env=env, timeout=300)
        check(r.returncode == 2 and 'php-dev' in r.stderr, f'{r}')
        check('7.4' in r.stderr and 'left out' in r.stderr, f'a PHP that is too old is named: {r}')
        check('`php` starts' not in r.stderr, f'no `php` command is named: {r}')
        with open(os.path.join(directory, 'php'), 'w') as f:
            f.write('#!/bin/sh\necho 8.4\n')
        os.chmod(os.path.join(directory, 'php'), 0o755)
        r = subprocess.run([f'{ROOT}/scripts/build'], capture_output=True, text=True, env=env, timeout=300)
        check('PHP 8.4, the one that `php` starts' in r.stderr, f'a php without a php-config of its own is named: {r}')


def everything_below(directory):
    return sorted(os.path.relpath(os.path.join(where, name), directory) for where, folders, files in os.walk(directory) for name in folders + files)


@test
def uninstall_removes_the_installed_files_and_nothing_else():
    with tempfile.TemporaryDirectory() as d:
        env = {**os.environ, **options_of_the_tree(), 'DESTDIR': d}
        prefix = env['PREFIX'] or '/usr/local'
        os.makedirs(f'{d}{prefix}/bin')
        os.makedirs(f'{d}{prefix}/share/man/man1')
        for path in (f'{d}{prefix}/bin/strobe-of-mine', f'{d}{prefix}/share/man/man1/strobe-of-mine.1'):
            open(path, 'w').close()
        before = everything_below(d)
        for _ in range(2):
            r = subprocess.run([f'{ROOT}/scripts/install'], capture_output=True, text=True, env=env, timeout=300)
            check(r.returncode == 0, f'{r}')
        installed = set(everything_below(d)) - set(before)
        for name in ('bin/strobe', 'share/man/man1/strobe-run.1', 'share/bash-completion/completions/strobe.bash', 'lib/systemd/system/strobe.service'):
            check(f'{prefix}/{name}'[1:] in installed, f'{name}: {sorted(installed)}')
        check(any(name.endswith('/strobe.so') for name in installed), f'{sorted(installed)}')

        # A file of somebody else in a folder that install has made keeps the folder.
        open(f'{d}{prefix}/share/doc/strobe/examples/mine.yaml', 'w').close()
        r = subprocess.run([f'{ROOT}/scripts/uninstall'], capture_output=True, text=True, env=env, timeout=300)
        check(r.returncode == 0 and not r.stderr, f'{r}')
        left = {f'{prefix}/share/doc/strobe/examples/mine.yaml'[1:]}
        while '/' in (folder := min(left, key=len)) and os.path.dirname(folder):
            left.add(os.path.dirname(folder))
        check(set(everything_below(d)) == set(before) | left, f'{set(everything_below(d)) ^ (set(before) | left)}')

        r = subprocess.run([f'{ROOT}/scripts/uninstall'], capture_output=True, text=True, env=env, timeout=300)
        check(r.returncode == 2 and 'nothing of Strobe is installed' in r.stderr, f'{r}')


@test
def uninstall_removes_directories_left_empty():
    with tempfile.TemporaryDirectory() as d:
        os.makedirs(f'{d}/opt/strobe/lib/strobe')
        with open(f'{d}/opt/strobe/lib/strobe/installed', 'w') as f:
            f.write('/opt/\n/opt/strobe/\n/opt/strobe/lib/\n/opt/strobe/lib/strobe/\n/opt/strobe/lib/strobe/installed\n')
        r = subprocess.run([f'{ROOT}/scripts/uninstall'], capture_output=True, text=True,
                           env={**os.environ, 'DESTDIR': d, 'PREFIX': '/opt/strobe'}, timeout=300)
        check(r.returncode == 0 and not os.listdir(d), f'{r} {everything_below(d)}')


@test
def zsh_completion_is_installed_in_a_directory_that_zsh_searches():
    if not shutil.which('zsh'):
        raise Skip('zsh is not installed')
    read = subprocess.run(['zsh', '-f', '-c', 'print -l $fpath'], capture_output=True, text=True, check=True).stdout.split('\n')
    for prefix in ('/usr', '/usr/local'):
        with tempfile.TemporaryDirectory() as d:
            subprocess.run(['meson', 'setup', f'--prefix={prefix}', d, ROOT], stdout=subprocess.DEVNULL, check=True, timeout=300)
            placed = json.loads(subprocess.run(['meson', 'introspect', '--installed', d], capture_output=True, text=True, check=True).stdout)
        folder = next(os.path.dirname(path) for path in placed.values() if path.endswith('/_strobe'))
        check(folder in read, f'{folder}: {read}')


@test
def uninstall_rejects_a_file_list_with_paths_outside_the_prefix():
    with tempfile.TemporaryDirectory() as d:
        os.makedirs(f'{d}/opt/strobe/lib/strobe')
        os.makedirs(f'{d}/etc')
        open(f'{d}/etc/keep', 'w').close()
        for line in ('/etc/keep', '/etc/', '/opt/strobe/../../etc/keep'):
            with open(f'{d}/opt/strobe/lib/strobe/installed', 'w') as f:
                f.write(f'/opt/strobe/lib/strobe/installed\n{line}\n')
            r = subprocess.run([f'{ROOT}/scripts/uninstall'], capture_output=True, text=True,
                               env={**os.environ, 'DESTDIR': d, 'PREFIX': '/opt/strobe'}, timeout=300)
            check(r.returncode == 2 and 'damaged' in r.stderr and os.path.exists(f'{d}/etc/keep')
                  and os.path.exists(f'{d}/opt/strobe/lib/strobe/installed'), f'{r}')


@test
def shellcheck_reports_no_problems():
    if not shutil.which('shellcheck'):
        raise Skip('shellcheck is not installed')
    scripts = [f'{ROOT}/.ci/run', f'{ROOT}/web/build.sh']
    for path in sorted(glob.glob(f'{ROOT}/scripts/*') + glob.glob(f'{ROOT}/tests/**/run', recursive=True) + [f'{ROOT}/demo/run']):
        with open(path, encoding='utf-8') as f:
            first = f.readline()
        if first.startswith('#!') and 'sh' in first.split('/')[-1]:
            scripts.append(path)
    r = subprocess.run(['shellcheck', '--severity=warning', *scripts], capture_output=True, text=True)
    check(len(scripts) > 10 and r.returncode == 0, r.stdout)


if __name__ == '__main__':
    main()
