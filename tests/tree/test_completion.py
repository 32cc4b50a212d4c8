#!/usr/bin/env python3
"""Completes command lines of strobe in real shells: bash, and zsh and fish where they are installed."""
import os
import pty
import re
import select
import shutil
import subprocess
import tempfile
import time

STROBE = os.environ['STROBE']
FILES = ['profile.strobe', 'profiles with blanks.folded', 'notes.txt']
FOLDERS = ['pictures']


def told(wrong, sentence):
    print(f'{"not ok" if wrong else "ok"} - {sentence}' + ''.join(f'\n# {w}' for w in wrong), flush=True)


def script(shell, directory):
    name = {'bash': 'strobe.bash', 'zsh': '_strobe', 'fish': 'strobe.fish'}[shell]
    path = os.path.join(directory, name)
    with open(path, 'w') as f:
        subprocess.run([STROBE, 'completion', shell], stdout=f, check=True)
    return path


def commands():
    text = subprocess.run([STROBE, '--help'], capture_output=True, text=True, check=True).stdout
    return re.findall(r'^  ([a-z]+) {2,}', text, re.M)


def options(command):
    text = subprocess.run([STROBE, command, '--help'], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r'(?:^  |^ {6}|, )(--?[a-zA-Z][\w-]*)(?=[ ,\n])', text[text.index('\n\n'):], re.M)) - {'-h'}


def bash_proposes(path, work, words):
    """The proposals of bash's own function for the last of the words."""
    code = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); compopt() { :; }; _strobe; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(['bash', '--norc', '--noprofile', '-c', code, 'bash', path, *words], cwd=work, capture_output=True, text=True)
    if done.returncode or done.stderr:
        return {f'bash: {done.stderr}'}
    return set(done.stdout.split('\n')) - {''}


def typed(arguments, env, setup, keys, done, work):
    """Types the keys into a shell at a terminal. Returns what it showed since, as soon as the pattern `done` is part of it."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(work)
        os.execvpe(arguments[0], arguments, {**env, 'TERM': 'dumb', 'HOME': work, 'PATH': os.environ['PATH'], 'LC_ALL': 'C.UTF-8'})
    shown = ''

    def until(pattern, seconds=30):
        nonlocal shown
        end = time.monotonic() + seconds
        while not re.search(pattern, shown) and time.monotonic() < end:
            if select.select([terminal], [], [], 0.1)[0]:
                try:
                    shown += os.read(terminal, 4096).decode('utf-8', 'replace')
                except OSError:
                    break
    os.write(terminal, (setup + 'printf "%s%s\\n" rea dy\n').encode())
    until('ready')
    shown = ''
    os.write(terminal, keys.encode())
    until(done)
    os.close(terminal)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    return shown


def formats(way):
    """The names that `strobe convert --help` lists as read or written."""
    shown = subprocess.run([STROBE, 'convert', '--help'], capture_output=True, text=True).stdout
    return {name for name, ways in re.findall(r'^([a-z-]+) \((.*?)\):', shown, re.M) if way in ways}


def in_bash(work):
    path = script('bash', work)
    known = commands()
    wrong = [] if len(known) > 10 else [f'the commands are {known}']
    for command in known:
        got = bash_proposes(path, work, ['strobe', command, '-'])
        if got != options(command):
            wrong.append(f'{command}: missing {options(command) - got}, and not in --help {got - options(command)}')
    told(wrong, 'bash completes all options in --help of every command')

    everything = {*FILES, *FOLDERS, os.path.basename(path)}
    cases = [
        (['strobe', ''], {*known, 'help', '--help', '--version'}),
        (['strobe', 'flamegr'], {'flamegraph'}),
        (['strobe', 'help', 'dif'], {'diff'}),
        (['strobe', 'completion', ''], {'bash', 'zsh', 'fish'}),
        (['strobe', 'export', ''], {'svgs', 'compress', 'index', 'metrics'}),
        (['strobe', 'report', 'prof'], {'profile.strobe', 'profiles with blanks.folded'}),
        (['strobe', 'flamegraph', '-o', ''], everything),
        (['strobe', 'flamegraph', '--output', '=', 'no'], {'notes.txt'}),
        (['strobe', 'export', 'svgs', '--logs', ''], {*FOLDERS}),
        (['strobe', 'record', '-d', ''], set()),
        (['strobe', 'run', '--clock', ''], {'wall', 'cpu'}),
        (['strobe', 'run', '--clock', '=', 'c'], {'cpu'}),
        (['strobe', 'convert', '-f', 'p'], {'pprof'}),
        (['strobe', 'convert', '--from', ''], formats('read')),
        (['strobe', 'convert', '--format', ''], formats('written')),
        *((['strobe', command, '--from', ''], formats('read')) for command in ('annotate', 'callgraph', 'collapse', 'flamegraph', 'report')),
        (['strobe', 'record', '--off'], {'--off-cpu'}),
        (['strobe', 'run', '--', 'printen'], {'printenv'}),
        (['strobe', 'run', '--', 'printenv', '-'], set()),
        (['strobe', 'run', '--', 'printenv', 'no'], {'notes.txt'}),
        (['strobe', 'nonsense', ''], set()),
    ]
    told([f'{words}: {got}, not {want}' for words, want in cases for got in [bash_proposes(path, work, words)] if got != want],
         'bash completes commands, files, folders and operands only where they are valid')

    shown = typed(['bash', '--norc', '--noprofile', '-i'], {'PS1': '$ '}, f'source {path}\n', 'strobe flamegr\tprofiles\t --outp\t',
                  r'--output ', work)
    told([] if r'strobe flamegraph profiles\ with\ blanks.folded  --output ' in shown else [repr(shown)],
         'Tab completes a command line in a terminal, including names with spaces')


def in_zsh(work):
    folder = os.path.join(work, 'functions')
    os.mkdir(folder)
    script('zsh', folder)
    wrong = []
    setup = f'fpath=({folder} $fpath); autoload -U compinit; compinit -u -D; PROMPT="$ "\n'
    for keys, done in [('strobe flamegr\t', 'flamegraph '), ('strobe record --off\t', '--off-cpu '), ('strobe convert --fro\t', '--from='),
                       ('strobe export comp\t', 'compress '), ('strobe report pictu\t', 'pictures/'), ('strobe run -- printen\t', 'printenv ')]:
        shown = typed(['zsh', '-f', '-i'], {'FPATH': os.environ.get('FPATH', '')} if 'FPATH' in os.environ else {}, setup, keys, re.escape(done), work)
        if done not in shown:
            wrong.append(f'{keys!r}: {shown!r}')
    told(wrong, 'zsh completes commands, options, operands and files')


def in_fish(work):
    path = script('fish', work)
    wrong = []
    for line, want in [('strobe flamegr', {'flamegraph'}), ('strobe record --off', {'--off-cpu'}), ('strobe export c', {'compress'}),
                       ('strobe completion ', {'bash', 'zsh', 'fish'}), ('strobe flamegraph -o no', {'notes.txt', '-onotes.txt'})]:
        done = subprocess.run(['fish', '--no-config', '-c', f'source {path}; complete -C "{line}"'], cwd=work, capture_output=True, text=True,
                              env={**os.environ, 'HOME': work})
        word = line.rsplit(' ', 1)[1]           # fish 4 also proposes options that only contain it
        got = {text.split('\t')[0] for text in done.stdout.splitlines() if not word.startswith('-') or text.startswith(word)}
        if not got or not got <= want:
            wrong.append(f'{line}: {got} {done.stderr}')
    told(wrong, 'fish completes commands, options, operands and files')


def main():
    with tempfile.TemporaryDirectory() as work:
        for name in FILES:
            open(os.path.join(work, name), 'w').close()
        for name in FOLDERS:
            os.mkdir(os.path.join(work, name))
        in_bash(work)
    for shell, test in (('zsh', in_zsh), ('fish', in_fish)):
        if not shutil.which(shell):
            print(f'skip - completion in {shell}: {shell} is not installed')
            continue
        with tempfile.TemporaryDirectory() as work:
            for name in FILES:
                open(os.path.join(work, name), 'w').close()
            for name in FOLDERS:
                os.mkdir(os.path.join(work, name))
            test(work)
    shown = [subprocess.run([STROBE, *words], capture_output=True, text=True)
             for words in (('completion', '--help'), ('completion', '-h'), ('help', 'completion'))]
    told([s for s in shown if s.returncode or s.stderr or not s.stdout.startswith('Usage: strobe completion bash|zsh|fish\n')],
         'strobe completion prints its help')
    done = subprocess.run([STROBE, 'completion', 'csh'], capture_output=True, text=True)
    told([] if done.returncode == 1 and 'bash, zsh and fish' in done.stderr else [done], 'an unsupported shell is rejected with a list of the supported ones')


if __name__ == '__main__':
    main()
