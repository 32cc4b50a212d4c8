"""Runs the commands that the documents show in blocks, in a folder with sample inputs. Commands that cannot run here
are listed with the reason, and their options are parsed by the command itself."""
import glob
import gzip
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile

from daemon import Said
from strobe_test import EXTENSION, ROOT, STROBE, check, main, test, wait_for

DOCUMENTS = ['README.md', 'CONTRIBUTING.md', *sorted(set(glob.glob('docs/**/*.md', root_dir=ROOT, recursive=True)) - {'docs/history.md'})]
VERBS = re.findall(r'^  ([a-z]+) {2,}', subprocess.run([STROBE, '--help'], capture_output=True, text=True).stdout, re.M)
COMMAND = re.compile(r'(?:sudo |[A-Z_]+=\S+ |perf script[^|]*\| )*(?:build/)?strobe (?:%s)\b(?!:)' % '|'.join(VERBS))

# A command that matches is not run, only its options are read, for the reason given.
NOT_RUN = [
    (r'\bstrobe (record|top|dump|files)\b', 'looks at processes that run, with rights; tests/system/test_{record,top,dump,file_io}.py run these'),
    (r'(\.\.\.|\[-|\[FILE|…)', 'a synopsis, not a command'),
    (r'corpus/tally', 'needs what CONTRIBUTING.md adds; tests/system/test_first_format.py follows it'),
    (r'\bstrobe annotate (profile|.*function=)', 'needs a profile with lines, and its source; tests/cli/annotate*.sh and test_profile_urls.py have both'),
    (r'\bstrobe diff -o', 'names a suffix, without the two profiles'),
    (r'clickhouse://db1', 'needs that server; tests/system/test_clickhouse.py starts some'),
    (r'TITLE|LOG\b', 'stands for a line of a script'),
    (r'\bstrobe run .*(artisan|bin/console|vendor/bin|wp-cli|\bwp )', 'needs that framework, which is not among the packages of the tests'),
]

PROGRAMS = {
    'sudo': 'exec "$@"',
    'perf': 'case "$*" in *trace*) cat "$SAMPLES/sched.perf" ;; *) cat "$SAMPLES/words.perf" ;; esac',
    'rsync': 'true', 'swift': 'true', 'to-object-store': 'true',
}
SCRIPT = '''<?php
class Markdown {
    function block($n) { return $n ? md5($this->block($n - 1)) : usleep(2000); }
}
for ($i = 0; $i < 30; $i++)
    (new Markdown)->block(3);
'''
FOLDED = '''index.php;Shop::page;PDO::query 40
index.php;Shop::page;Markdown::block;Markdown::block;preg_replace 30
index.php;Shop::page;EditPage::show 12
index.php;Shop::page;Page::footer 6
'''


def blocks(path):
    """The lines of code blocks, those that end with a backslash joined with the next ones."""
    fenced, lines = False, []
    with open(os.path.join(ROOT, path), encoding='utf-8') as f:
        for line in f.read().replace('\\\n', ' ').splitlines():
            if line.strip().startswith('```'):
                fenced = not fenced
            elif fenced or line.startswith('    '):
                lines.append(line.strip())
    return lines


def commands(path):
    for line in blocks(path):
        # Columns of a block stand two blanks apart; what is behind a command is a remark.
        for part in re.split(r'(?<=\S) {2,}(?!--)', line.removeprefix('$ ')):
            if COMMAND.match(part):
                # Joined lines are wide.
                yield re.sub(r' +', ' ', part)


def spans(path):
    """The commands with options or operands in the sentences and tables of a document."""
    with open(os.path.join(ROOT, path), encoding='utf-8') as f:
        text = re.sub(r'^```.*?^```|^ {4}.*?$', '', f.read(), flags=re.M | re.S)
    for code in re.findall(r'`([^`]+)`', text):
        command = re.sub(r'\s+', ' ', code)
        if COMMAND.match(command) and len(re.split(r'\bstrobe ', command, maxsplit=1)[1].split()) > 1:
            yield command


def is_mention(command):
    """Whether it names options, or stands for many commands, so that nothing can be run: it has no file, or a placeholder."""
    return not re.search(r"[./'<]| -- ", command) or re.search(r'(?<![-\w])[A-Z]+(?![\w:])|…|\.\.\.', command)


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


class Sandbox:
    """A folder with inputs of all names that the documents use, the paths of a machine below it, and a daemon with samples and runs."""

    def __enter__(self):
        self.root = tempfile.mkdtemp(prefix='strobe-')
        self.env = {'PATH': f'{self.root}/bin:/usr/bin:/bin', 'HOME': self.root, 'LC_ALL': 'C.UTF-8', 'TZ': 'UTC', 'XDG_RUNTIME_DIR': f'{self.root}/run',
                    'XDG_STATE_HOME': f'{self.root}/state', 'STROBE_SOCKET': f'{self.root}/run/strobe.sock', 'SAMPLES': f'{self.root}/samples'}
        for folder in ('bin', 'run', 'run/strobe', 'state', 'etc/strobe', 'srv/svgs', 'var/lib/strobe', 'var/lib/prometheus/node-exporter', 'var/log', 'work',
                       'var/xhprof', 'build', 'usr/local/bin', 'tmp', 'var/lib/node_exporter'):
            os.makedirs(f'{self.root}/{folder}')
        shutil.copytree(f'{ROOT}/tests/data', f'{self.root}/samples')
        for name, text in PROGRAMS.items():
            self.program(f'bin/{name}', text)
        self.program('usr/local/bin/to-object-store', 'true')
        # As in a build tree: `strobe run` looks for the extension beside its own file.
        self.exe = f'{self.root}/exe/strobe'
        os.mkdir(f'{self.root}/exe')
        shutil.copy(STROBE, self.exe)
        os.symlink(EXTENSION, f'{self.root}/exe/strobe.so')
        os.symlink(self.exe, f'{self.root}/bin/strobe')
        self.inputs()
        self.machine()
        self.start_daemon()
        return self

    def program(self, path, text):
        with open(f'{self.root}/{path}', 'w') as f:
            f.write(f'#!/bin/sh\n{text}\n')
        os.chmod(f'{self.root}/{path}', 0o755)

    def strobe(self, *words, **more):
        done = subprocess.run([self.exe, *words], env=self.env, capture_output=True, text=True, timeout=120, **more)
        if done.returncode:
            raise RuntimeError(f'strobe {words}: {done}')
        return done

    def inputs(self):
        """Templates of the working folder: each document begins with a copy of them."""
        os.makedirs(f'{self.root}/inputs/build')
        os.symlink(self.exe, f'{self.root}/inputs/build/strobe')

        def put(name, data):
            with open(f'{self.root}/inputs/{name}', 'wb') as f:
                f.write(data)
        put('script.php', SCRIPT.encode())
        for name in ('stacks', 'before', 'after', 'week', 'monday', 'out', 'day'):
            put(f'{name}.folded', FOLDED.encode())
        put('anything.txt', FOLDED.encode())
        put('both.folded', re.sub(r' (\d+)$', r' \1 \1', FOLDED, flags=re.M).encode())
        put('day.log', FOLDED.encode() + b'index.php;MediaWiki\\Parser::parse 3\n')
        with open(f'{self.root}/samples/words.perf', 'rb') as f:
            perf = f.read()
        put('out.perf', perf)
        put('out.perf.gz', gzip.compress(perf))
        put('daily.json', b'[]')
        for name in ('a.bt', 'worker.bt'):
            shutil.copy(f'{self.root}/samples/worker.bt', f'{self.root}/inputs/{name}')
        shutil.copy(f'{self.root}/samples/shop.phpspy', f'{self.root}/inputs/traces')
        shutil.copy(f'{self.root}/samples/cart.xhprof', f'{self.root}/tmp/1.shop.xhprof')
        for name in ('before1', 'before2', 'cached', 'uncached'):
            shutil.copy(f'{self.root}/samples/cart.xhprof', f'{self.root}/inputs/{name}.xhprof')
        where = {'cwd': f'{self.root}/inputs'}
        self.strobe('run', '-q', '-F', '1000', '-o', 'real.strobe', '--', 'php', 'script.php', **where)
        self.strobe('convert', 'real.strobe', 'stacks.folded', '-o', 'profile.strobe', **where)
        for name in ('before', 'after', 'base', 'new', 'monday', 'tuesday', 'mon', 'tue', 'tests', 'a', 'b', 'old'):
            self.strobe('convert', 'stacks.folded', '-o', f'{name}.strobe', **where)

    def machine(self):
        os.makedirs(f'{self.root}/srv/arclamp/logs/hourly')
        os.makedirs(f'{self.root}/srv/arclamp/logs/daily')
        for period, time in (('hourly', '2026-11-21_18'), ('daily', '2026-11-21')):
            for tag in ('all', 'index'):
                with open(f'{self.root}/srv/arclamp/logs/{period}/{time}.{tag}.log', 'w') as f:
                    f.write(FOLDED)
        with open(f'{self.root}/etc/arclamp-log.yaml', 'w') as f:
            f.write(f'base_path: {self.root}/srv/arclamp/logs\nredis:\n  host: 127.0.0.1\n  port: {free_port()}\nredis_channel: excimer\n'
                    "logs:\n  - period: hourly\n    format: '%Y-%m-%d_%H'\n    retain: 9\n")
        for name in ('token', 'read-token', 'otel-token'):
            with open(f'{self.root}/etc/strobe/{name}', 'w') as f:
                f.write(f'{name}-0123456789abcdef\n')
            os.chmod(f'{self.root}/etc/strobe/{name}', 0o600)
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=redis', '-keyout', '/dev/null',
                        '-out', f'{self.root}/etc/strobe/redis-ca.pem'], capture_output=True, check=True)
        with open(f'{self.root}/etc/strobe/strobe.yaml', 'w') as f:
            f.write('retain: 30\n')
        open(f'{self.root}/var/log/strobe.folded', 'w').close()

    def start_daemon(self):
        store = f'sqlite:{self.root}/var/lib/strobe'
        for entry in ('api', 'index'):
            self.strobe('collect', '--from', f'-?label.entry={entry}', '--to', store, '--listen', 'none', input=FOLDED)
        for name, count in (('a', 40), ('b', 55)):
            with open(f'{self.root}/run.folded', 'w') as f:
                f.write(FOLDED.replace(' 40', f' {count}'))
            self.strobe('import', '--store', store, '--source', 'shop', '--id', name, f'{self.root}/run.folded')
        self.daemon = subprocess.Popen([self.exe, 'serve', '--store', store, '--listen', '127.0.0.1:0', '--from', f'unix:{self.root}/run/main.sock'],
                                       env=self.env, stderr=subprocess.PIPE)
        self.said = Said(self.daemon.stderr)
        found = wait_for(lambda: re.search(r'http://(127\.0\.0\.1:\d+)', self.text(self.said)))
        self.address = found[1]

    @staticmethod
    def text(said):
        said.catch_up()
        return '\n'.join(line if isinstance(line, str) else line.decode() for line in said.heard)

    def here(self, command):
        """The command with the machine's paths and addresses turned into those of the sandbox."""
        command = re.sub(r'(?<![\w.])/(?=(?:srv|etc|var/lib|var/log|var/xhprof|usr/local/bin|tmp|run/strobe)/)', f'{self.root}/', command)
        if re.search(r'\bstrobe (export|grep) ', command) and not re.search('--(logs|store|url)', command):
            command += f' --logs {self.root}/srv/arclamp/logs'
        if re.search(r'\bstrobe (serve|collect) ', command):
            command = re.sub(r'0\.0\.0\.0:\d+', '127.0.0.1:0', command)
            command = command.replace('resp://127.0.0.1:6379', f'resp://127.0.0.1:{free_port()}')
            command += '' if '--listen' in command else ' --listen 127.0.0.1:0'
            # The store of the daemon that runs is taken.
            if 'collect' not in command and '--store' not in command:
                command += f' --store sqlite:{self.root}/state/store-{free_port()}'
            return command.replace('/var/lib/strobe', '/state/other')
        return re.sub(r'127\.0\.0\.1:878\d', self.address, command)

    def folder(self, document):
        path = f'{self.root}/work/{document.replace("/", "-")}'
        if not os.path.exists(path):
            shutil.copytree(f'{self.root}/inputs', path, symlinks=True)
        return path

    def run(self, command, folder):
        """The error in the command, or None."""
        line = self.here(command)
        if '--callers' in command:
            # `strobe run` of the same document may have written another one.
            shutil.copy(f'{self.root}/inputs/profile.strobe', folder)
        if re.search(r'\bstrobe (serve|collect)\b', line) and '--from -' not in line:
            return self.serve(line, folder)
        done = subprocess.run(['sh', '-c', line], cwd=folder, env=self.env, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
        # The doctor looks at this machine, and finds what it finds; a threshold may be crossed.
        fine = {0, 2, 4} if ' doctor' in line else {0, 3} if '--fail-over' in line else {0}
        return None if done.returncode in fine else f'{command}: exit code {done.returncode}: {done.stderr.strip()[:300]} ({line})'

    def serve(self, line, folder):
        """A daemon listens, and exits cleanly on request."""
        p = subprocess.Popen(['sh', '-c', f'exec {line.removeprefix("sudo ")}'], cwd=folder, env=self.env, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        said = Said(p.stderr)
        wait_for(lambda: 'listening on http' in self.text(said) or p.poll() is not None)
        ran = p.poll() is None
        if ran:
            p.send_signal(signal.SIGTERM)
        try:
            p.wait(60)
        except subprocess.TimeoutExpired:
            p.kill()
            p.wait()
        return None if ran and p.returncode == 0 else f'{line}: exit code {p.returncode}: {self.text(said)[-400:]}'

    def reads_options(self, command):
        """The error in the options of a command that is not run; --help behind them is reached if they are right."""
        words = re.sub(r"'[^']*'", 'X', re.split(r' -- | [|<>]', command)[0])
        words = re.sub(r'\[[^]]*\]|\.\.\.|…', '', words)
        words = words[words.index('strobe '):].split()[1:]
        done = subprocess.run([self.exe, *words, '--help'], env=self.env, capture_output=True, text=True, timeout=60)
        return None if done.returncode == 0 else f'{command}: {done.stderr.strip()}'

    def has_options(self, command):
        """The options of a mention that its command does not have, or None."""
        verb = re.search(r'\bstrobe (\w+)', command)[1]
        known = subprocess.run([self.exe, verb, '--help'], env=self.env, capture_output=True, text=True, timeout=60).stdout
        wrong = [o for o in re.findall(r' (--?[a-z][\w-]*)', command.split(' -- ')[0]) if not re.search(rf'(?<!\S){o}(?![\w-])', known)]
        return f'{command}: no {", ".join(wrong)}' if wrong else None

    def __exit__(self, *_):
        self.daemon.send_signal(signal.SIGTERM)
        self.daemon.wait(60)
        shutil.rmtree(self.root, ignore_errors=True)


def reason(command):
    return next((why for pattern, why in NOT_RUN if re.search(pattern, command)), None)


@test
def the_commands_in_the_documentation_run():
    ran, read, done = 0, {}, set()
    with Sandbox() as sandbox:
        for document in DOCUMENTS:
            for command in commands(document):
                if (document, command) in done:
                    continue
                done.add((document, command))
                why = reason(command)
                wrong = sandbox.reads_options(command) if why else sandbox.run(command, sandbox.folder(document))
                check(not wrong, f'{document}: {wrong}')
                if why:
                    read.setdefault(why, []).append(command)
                else:
                    ran += 1
    for why, listed in read.items():
        print(f'# {len(listed)} not run: {why}')
    print(f'# {ran} were run')
    check(ran >= 60, f'at least 60 commands were run, not {ran}')


@test
def inline_commands_in_the_documentation_run_and_their_options_exist():
    ran, mentioned = 0, 0
    with Sandbox() as sandbox:
        for document in DOCUMENTS:
            for command in dict.fromkeys(spans(document)):
                if is_mention(command):
                    wrong = sandbox.has_options(command)
                elif reason(command):
                    wrong = sandbox.reads_options(command)
                else:
                    wrong = sandbox.run(command, sandbox.folder(document))
                    ran += 1
                mentioned += bool(is_mention(command))
                check(not wrong, f'{document}: {wrong}')
    print(f'# {ran} were run; {mentioned} name options or have placeholders, and their options exist')
    check(ran >= 15 and mentioned >= 30, f'at least 15 commands and 30 mentions were found, not {ran} and {mentioned}')


@test
def every_exclusion_from_the_documented_commands_matches_a_command():
    every = [command for document in DOCUMENTS for command in (*commands(document), *spans(document))]
    for pattern, why in NOT_RUN:
        check(any(re.search(pattern, command) for command in every), f'a command is excluded because it {why}')


if __name__ == '__main__':
    main()
