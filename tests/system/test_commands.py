"""Behavior shared by all commands that `strobe --help` lists."""
import re
import subprocess

from strobe_test import STROBE, check, main, test


def run(*arguments):
    return subprocess.run([STROBE, *arguments], capture_output=True, text=True, timeout=60)


def commands():
    return re.findall(r'^  ([a-z]+)  +\S', run('--help').stdout.split('\n\n')[2], re.M)


@test
def help_lists_the_commands_on_stdout():
    r = run('--help')
    check(r.returncode == 0 and not r.stderr, f'exit 0 and nothing on stderr: {r}')
    check({'run', 'serve', 'status'} <= set(commands()), f'the commands are listed: {commands()}')
    check(run().stdout == r.stdout and run('help').stdout == r.stdout and run('-h').stdout == r.stdout,
          'strobe, strobe help and strobe -h say the same')


@test
def every_command_has_help_within_80_columns_and_a_man_page():
    check(commands(), 'the help lists commands')
    for name in commands():
        r = run(name, '--help')
        check(r.returncode == 0 and not r.stderr and r.stdout.startswith(f'Usage: strobe {name}'), f'{name}: {r}')
        check(run('help', name).stdout == r.stdout, f'strobe help {name} prints the same')
        check(max(map(len, r.stdout.splitlines())) <= 80, f'{name}: no line exceeds 80 columns')
        page = run('man', name)
        check(page.returncode == 0 and page.stdout.startswith('.TH'), f'{name}: {page.stdout[:80]!r}')
        check(run('man').stdout.count(f'strobe\\-{name}') >= 1, f'strobe(1) mentions {name}')


@test
def an_unknown_option_is_rejected_with_a_suggestion_and_a_reference_to_the_help():
    for name in commands():
        r = run(name, '--halp')
        check(r.returncode == (125 if name == 'run' else 1) and not r.stdout, f'{name}: {r}')
        check("'--help'" in r.stderr and f'strobe {name} --help' in r.stderr, f'{name}: {r.stderr!r}')


@test
def an_unknown_command_is_rejected_with_a_suggestion():
    r = run('serv')
    check(r.returncode == 1 and "did you mean 'serve'?" in r.stderr and not r.stdout, f'{r}')
    r = run('xyzzy')
    check(r.returncode == 1 and 'strobe --help' in r.stderr, f'{r}')
    check(run('help', 'serv').returncode == 1, 'strobe help rejects an unknown command as well')
    check(run('--serve').returncode == 1, 'an option before the command is rejected')


@test
def the_version_is_printed_on_one_line():
    r = run('--version')
    check(r.returncode == 0 and re.fullmatch(r'strobe \d+\.\d+\.\d+\n', r.stdout), f'{r}')


if __name__ == '__main__':
    main()
