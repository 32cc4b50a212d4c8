"""strobe doctor: real pools of php-fpm, processes and daemons, each broken in one way.

As root the tests run in a mount namespace of their own, so that php-fpm reads an ini directory of theirs.
"""
import contextlib
import json
import os
import platform
import pty
import re
import shutil
import signal
import subprocess
import sys

from daemon import Daemon
from fpm import BUSY
from recording import forbid
from strobe_test import EXTENSION, ROOT, STROBE, Directory, Skip, check, fastcgi, find_fpm, in_container, main, some, test, wait_for

NOBODY = 65534
# The program beside which the extensions for each PHP are.
BESIDE = f'{ROOT}/build/strobe'


def doctor(*arguments, program=STROBE, environment=None, **more):
    """Returns (exit code, findings)."""
    done = subprocess.run([program, 'doctor', '--json', *arguments], capture_output=True, text=True,
                          env={**os.environ, **(environment or {})}, timeout=120, **more)
    check(done.returncode in (0, 2, 4), f'status {done.returncode}: {done.stderr}')
    return done.returncode, json.loads(done.stdout)['findings']


def find(findings, name, about=''):
    """The first finding of this kind; {} if there is none."""
    return next((f for f in findings if f['check'] == name and about in f['about']), {})


def problems(findings, about=''):
    return [f['check'] for f in findings if f['level'] == 'problem' and about in f['about']]


@contextlib.contextmanager
def running(*command, **more):
    """A process that waits for the end of its standard input, once it has printed a line."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **more)
    try:
        process.line = process.stdout.readline()
        yield process
    finally:
        process.kill()
        process.communicate()


WAIT = 'echo "ready\\n"; fgets(STDIN);'


def need_extension():
    if not os.path.exists(EXTENSION):
        raise Skip(f'{EXTENSION} is not built')


def need_root():
    if os.geteuid() != 0:
        raise Skip('needs root')


class Pools:
    """A php-fpm that reads its settings from an ini directory, as an installed one does."""

    def __init__(self, directory, pools, ini):
        need_root()
        need_extension()
        program = find_fpm()
        version = re.search(r'\d+\.\d+', program)
        self.conf_d = f'/etc/php/{version.group()}/fpm/conf.d' if version else ''
        if not os.path.isdir(self.conf_d):
            raise Skip('php-fpm has no ini directory of Debian')
        self.directory = directory
        os.mkdir(f'{directory}/conf.d')
        with open(f'{directory}/conf.d/90-strobe.ini', 'w') as f:
            f.write(ini)
        if subprocess.run(['mount', '--bind', f'{directory}/conf.d', self.conf_d], stderr=subprocess.DEVNULL).returncode:
            raise Skip('mounting is not permitted')
        with open(f'{directory}/fpm.conf', 'w') as f:
            f.write(f'[global]\nerror_log = {directory}/fpm.log\ndaemonize = no\n')
            for name, lines in pools.items():
                f.write(f'[{name}]\nlisten = {directory}/{name}.sock\npm = static\npm.max_children = 2\n' + '\n'.join(lines) + '\n')
        self.process = subprocess.Popen([program, '-R', '-y', f'{directory}/fpm.conf'], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        self.names = list(pools)

    def __enter__(self):
        wait_for(lambda: len(self.workers()) == 2 * len(self.names))
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(60)
        subprocess.run(['umount', self.conf_d])

    def workers(self, pool=''):
        """Returns the workers that have set their title, the last step of their start."""
        with open(f'/proc/{self.process.pid}/task/{self.process.pid}/children') as f:
            children = f.read().split()
        found = []
        for pid in children:
            with open(f'/proc/{pid}/cmdline') as f:
                if f'pool {pool}' in f.read():
                    found.append(pid)
        return found


@test
def php_fpm_pools_that_cannot_send_are_reported_with_remedies():
    with Directory() as d:
        socket = f'{d}/strobe.sock'
        os.mkdir(f'{d}/jail')
        pools = {'right': ['user = www-data'], 'stranger': ['user = nobody'],
                 'jailed': ['user = www-data', f'chroot = {d}/jail'],
                 'mistaken': ['user = www-data', 'php_admin_value[strobe.mode] = on']}
        ini = f'extension={EXTENSION}\nstrobe.mode=sample\nstrobe.period=0.001\nstrobe.socket={socket}\n'
        with Daemon(d) as daemon, Pools(d, pools, ini) as fpm:
            shutil.chown(socket, 'root', 'www-data')
            os.chmod(socket, 0o660)
            with open(f'{d}/page.php', 'w') as f:
                f.write(BUSY + 'busy(0.05);')
            fastcgi(f'{d}/right.sock', f'{d}/page.php')
            check(wait_for(lambda: daemon.status()['samples']['stored']), 'the correctly configured pool sends samples')

            code, findings = doctor('--url', daemon.url)
            check(code == 2, f'pools that cannot send are reported as problems: {code}')
            check(find(findings, 'daemon')['level'] == 'ok' and find(findings, 'socket')['level'] == 'ok', 'the daemon and the socket are found')
            check(find(findings, 'arrived').get('level') == 'ok', f'the daemon has received samples: {find(findings, "arrived")}')
            check(not problems(findings, 'pool right'), f'the correctly configured pool has no problems: {problems(findings, "pool right")}')
            right = find(findings, 'process', 'pool right')
            check('2 × ' in right['about'] and 'every 0.001 s' in right['cause'], f'its workers are summarized in one line: {right}')

            stranger = find(findings, 'socket-permission', 'pool stranger')
            check(stranger.get('level') == 'problem' and f'user nobody may not write to {socket}' in stranger['cause'] and
                  'group www-data' in stranger['cause'], f'a user without write permission is reported: {stranger}')
            check(re.match('run the daemon with a group of that PHP: ' if in_container() else
                           'usermod -aG www-data nobody(; then restart that PHP| && systemctl restart )', stranger.get('fix', '')), f'the remedy adds the group: {stranger}')
            jailed = find(findings, 'socket-root', 'pool jailed')
            check(jailed.get('fix') == f'mkdir -p {d}/jail{d} && mount --bind {d} {d}/jail{d}', f'the chroot is reported with its remedy: {jailed}')
            mistaken = find(findings, 'setting-invalid', 'pool mistaken')
            check(mistaken.get('level') == 'problem' and mistaken['cause'].startswith('strobe.mode=1 is ignored') and
                  f'({d}/fpm.conf:' in mistaken['cause'], f'an invalid mode is reported: {mistaken}')

            # The remedies supply what was missing.
            os.makedirs(f'{d}/jail{d}')
            subprocess.run(['mount', '--bind', d, f'{d}/jail{d}'], check=True)
            try:
                _, findings = doctor('--url', daemon.url, '-p', fpm.workers('jailed')[0])
                check(not problems(findings), f'the problem is solved once the chroot contains the socket: {problems(findings)}')
            finally:
                subprocess.run(['umount', f'{d}/jail{d}'], check=True)


@test
def doctor_inspects_a_single_worker_of_a_pool():
    with Directory() as d:
        socket = f'{d}/strobe.sock'
        ini = f'extension={EXTENSION}\nstrobe.mode=sample\nstrobe.socket={socket}\n'
        with Daemon(d) as daemon, Pools(d, {'www': ['user = www-data']}, ini) as fpm:
            os.chmod(socket, 0o666)
            code, findings = doctor('--url', daemon.url, '-p', fpm.workers()[0])
            check(code == 4, f'the only problem is that no samples have arrived: {code} {problems(findings)}')
            check(problems(findings) == ['nothing-arrived'], f'{problems(findings)}')
            check('runs php-fpm ' in find(findings, 'php')['cause'], f'the SAPI is reported: {find(findings, "php")}')
            check(find(findings, 'process', 'pool www (user www-data)'), 'the worker can send samples')
            check('not dumpable' in find(findings, 'memory')['cause'], f'{find(findings, "memory")}')
            text = json.dumps(findings)
            check('build id ' in text and 'unwind tables' in text, 'the build ID and the unwind tables are reported')

            _, findings = doctor('--url', daemon.url, '-p', str(fpm.process.pid))
            check(fpm.workers()[0] in find(findings, 'master')['cause'], f'the finding about the master names a worker: {find(findings, "master")}')


@test
def a_pool_that_was_not_restarted_after_an_ini_change_is_reported():
    with Directory() as d, Pools(d, {'www': ['user = www-data']}, '; nothing\n') as fpm:
        with open(f'{d}/conf.d/90-strobe.ini', 'w') as f:
            f.write(f'extension={EXTENSION}\nstrobe.mode=sample\n')
        _, findings = doctor('--url', 'http://127.0.0.1:1', '-p', fpm.workers()[0])
        check('not-restarted' in problems(findings), f'{problems(findings)}')


@test
def remedies_name_the_configuration_file_with_the_wrong_setting():
    with Directory() as d:
        socket, conf = f'{d}/strobe.sock', f'{d}/fpm.conf'
        pools = {'negative': ['php_value[strobe.period] = -1'], 'elsewhere': [f'php_admin_value[strobe.socket] = {d}/none/s'],
                 'variable': [f'env[STROBE_SOCKET] = {d}/none/s']}
        pools = {name: ['user = www-data', *lines] for name, lines in pools.items()}
        with Daemon(d) as daemon, Pools(d, pools, f'extension={EXTENSION}\nstrobe.mode=sample\n') as fpm:
            os.chmod(socket, 0o666)
            _, findings = doctor('--url', daemon.url)
            negative = find(findings, 'setting-invalid', 'pool negative')
            check(f'({conf}:' in negative['cause'] and negative['fix'].endswith(f' in {conf}; then restart that PHP'), f'{negative}')
            elsewhere = find(findings, 'socket-absent', 'pool elsewhere')
            check(elsewhere['fix'] == f'strobe.socket = {socket} in {conf}; then restart that PHP', f'{elsewhere}')
            variable = find(findings, 'socket-absent', 'pool variable')
            check(variable['fix'] == f'strobe.socket = {socket} in {fpm.conf_d}/90-strobe.ini; then restart that PHP', f'{variable}')


@test
def an_extension_loaded_by_the_configuration_of_a_pool_is_recognized():
    with Directory() as d:
        lines = ['user = www-data', f'php_admin_value[extension] = {EXTENSION}', 'php_admin_value[strobe.mode] = sample',
                 'php_admin_value[strobe.period] = 0.25', f'php_admin_value[strobe.socket] = {d}/strobe.sock']
        with Daemon(d) as daemon, Pools(d, {'www': lines}, '; nothing\n') as fpm:
            os.chmod(f'{d}/strobe.sock', 0o666)
            _, findings = doctor('--url', daemon.url, '-p', fpm.workers()[0])
            check('samples every 0.25 s' in find(findings, 'process').get('cause', ''), f'{findings}')


@test
def an_incompatible_or_missing_extension_is_reported_with_a_matching_one():
    need_extension()
    if not os.path.exists(BESIDE):
        raise Skip(f'{BESIDE} is not there')
    with Directory() as d, Pools(d, {'www': ['user = www-data']}, '; nothing\n') as fpm:
        with open(EXTENSION, 'rb') as f:
            image = f.read()
        build = re.search(rb'API(\d+),', image)
        with open(f'{d}/strobe.so', 'wb') as f:
            f.write(image.replace(build[0], b'API20010101,'))
        ini = f'{fpm.conf_d}/90-strobe.ini'
        for value, name, why in ((f'{d}/strobe.so', 'extension-build', 'was built for API20010101'),
                                 (f'{d}/none/strobe.so', 'extension-file', 'which does not exist')):
            with open(f'{d}/conf.d/90-strobe.ini', 'w') as f:
                f.write(f'extension={value}\n')
            _, findings = doctor('--url', 'http://127.0.0.1:1', program=BESIDE)
            one = find(findings, name, 'php-fpm')
            check(why in one['cause'], f'{one}')
            fits = re.fullmatch(rf'extension=(.*/strobe\.so|strobe) in {re.escape(ini)}:1; then restart that PHP', one['fix'])
            check(fits, f'the remedy names the matching extension beside the strobe binary: {one}')


@test
def a_process_without_the_extension_is_reported_with_a_remedy():
    need_extension()
    with running('php', '-n', '-r', WAIT) as p:
        code, findings = doctor('--url', 'http://127.0.0.1:1', '-p', str(p.pid))
        one = find(findings, 'not-loaded')
        check(code == 2 and one.get('level') == 'problem' and one['fix'], f'{code} {one}')
        if os.path.exists(BESIDE):
            _, findings = doctor('--url', 'http://127.0.0.1:1', '-p', str(p.pid), program=BESIDE)
            one = find(findings, 'not-loaded')
            check('extension=' in one['fix'] and 'strobe.mode=sample' in one['fix'], f'the remedy names the settings of an extension that is already built: {one}')


@test
def a_socket_hidden_by_the_mount_namespace_of_a_process_is_reported():
    need_root()
    need_extension()
    if subprocess.run(['unshare', '-m', 'true'], capture_output=True).returncode:
        raise Skip('no mount namespace can be made here')
    with Directory() as d, Daemon(d) as daemon:
        php = f'-d extension={EXTENSION} -d strobe.mode=sample -d strobe.socket={daemon.socket}'
        with running('unshare', '-m', 'sh', '-c', f"mount -t tmpfs none {d} && exec php -n {php} -r '{WAIT}'") as p:
            if p.poll() is not None:
                raise Skip('mounting is not permitted')
            _, findings = doctor('--url', daemon.url, '-p', str(p.pid))
            one = find(findings, 'socket-absent')
            check('mounted for it alone' in one['cause'] and one['fix'].startswith(f'mount {d} ' if in_container() else f'BindPaths={d} '), f'{one}')


@test
def doctor_dump_and_record_report_that_proc_hides_processes():
    need_root()
    with Directory() as d, running('php', '-n', '-r', WAIT) as p:
        program = shutil.copy(STROBE, f'{d}/strobe')
        os.chmod(d, 0o777)

        def hidden(command):
            done = subprocess.run(['unshare', '-m', 'sh', '-c', f'mount -t proc -o hidepid=2 proc /proc || exit 77; cd {d}; '
                                   f'exec setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups {program} {command}'],
                                  capture_output=True, text=True, timeout=120)
            if done.returncode == 77 or done.stderr.startswith(('mount', 'setpriv', 'unshare')):
                raise Skip(f'no such /proc here: {done.stderr.strip()}')
            return done.stdout + done.stderr

        for command in ('doctor --url http://127.0.0.1:1', f'doctor --url http://127.0.0.1:1 -p {p.pid}', 'dump', f'dump -p {p.pid}',
                        'record -d 1', f'record -d 1 -p {p.pid}'):
            said = hidden(command)
            check('/proc hides the processes of other users from you' in said and
                  ('--cap-add SYS_PTRACE' if in_container() else 'mount -o remount,hidepid=0 /proc') in said, f'{command}: {said}')


SIGNS = (('touch /run/.containerenv', True), ('mkdir -p /run/systemd/system', False))    # and whether that is a container without systemd


def where(sign, *command):
    """The command in a mount namespace of its own, whose /run has only that sign."""
    need_root()
    mounts = f'mount -t tmpfs tmpfs /run && {sign}'
    tried = subprocess.run(['unshare', '-m', 'sh', '-c', mounts], capture_output=True, text=True)
    if tried.returncode:
        raise Skip(f'no mounts of its own here: {tried.stderr.strip()}')
    return ['unshare', '-m', 'sh', '-c', f'{mounts} && cd / && exec "$@"', 'sh', *command]


@test
def remedies_differ_between_containers_and_hosts():
    for sign, contained in SIGNS:
        with Directory() as d:
            program = shutil.copy(STROBE, f'{d}/strobe')
            os.chmod(d, 0o755)
            done = subprocess.run(where(sign, 'setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups', program, 'doctor', '--json',
                                        '--url', 'http://127.0.0.1:1'), capture_output=True, text=True, timeout=120)
        fixes = [f['fix'] or '' for f in json.loads(done.stdout)['findings']]
        for word in ('sudo', 'systemctl', 'journalctl', 'setcap', 'sysctl', 'usermod'):
            check(not contained or not any(word in fix for fix in fixes), f'{word}: {fixes}')
        check(any("start the daemon's container" in fix for fix in fixes) == contained, f'{fixes}')
        check(any('systemctl start' in fix for fix in fixes) != contained, f'{fixes}')
        if any('CAP_SYS_PTRACE' in f['cause'] for f in json.loads(done.stdout)['findings']):
            check(any('--user 0 --cap-add' in fix for fix in fixes) == contained, f'{fixes}')


@test
def a_daemon_without_samples_suggests_the_doctor_for_a_container_or_a_host():
    for sign, contained in SIGNS:
        with Directory() as d:
            daemon = Daemon(d)
            daemon.command = where(sign, *daemon.command)
            with daemon:
                said = subprocess.run(where(sign, STROBE, 'status', '--url', daemon.url), capture_output=True, text=True, timeout=60).stdout
                page = subprocess.run([STROBE, 'report', daemon.url], capture_output=True, text=True, timeout=60).stderr
        check(f'no data?    `{"" if contained else "sudo "}strobe doctor` finds' in said, f'{said}')
        check(("`strobe doctor` in the daemon's container checks" if contained else '`sudo strobe doctor` on this machine checks') in page, f'{page}')


@test
def a_missing_daemon_and_a_missing_socket_are_reported():
    with Directory() as d:
        for name in ('none.sock', 'dead.sock'):
            if name == 'dead.sock':
                subprocess.run([sys.executable, '-c', 'import socket, sys; socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).bind(sys.argv[1])',
                                f'{d}/{name}'], check=True)
            code, findings = doctor('--url', 'http://127.0.0.1:1', environment={'STROBE_SOCKET': f'{d}/{name}'})
            check(code == 2 and 'no daemon answers at http://127.0.0.1:1' in find(findings, 'daemon')['cause'], 'no daemon answers')
            check('strobe serve' in find(findings, 'daemon')['fix'], f'the remedy suggests strobe serve: {find(findings, "daemon")}')
            socket = find(findings, 'socket', name)
            check(socket.get('level') == 'problem' and ('the socket does not exist' if name == 'none.sock' else 'no daemon listens') in socket['cause'],
                  f'{socket}')
            check(not os.path.exists(f'{d}/none.sock'), 'the socket was not created')


@test
def a_daemon_without_a_socket_source_is_noted_without_a_problem():
    with Directory() as d:
        daemon = Daemon(d)
        daemon.command[daemon.command.index(f'unix:{daemon.socket}')] = f'file:{d}/lines'
        with daemon:
            _, findings = doctor('--url', daemon.url, environment={'STROBE_SOCKET': daemon.socket})
        check(find(findings, 'no-socket')['level'] == 'note' and not find(findings, 'socket'), f'{findings}')


@test
def doctor_reports_a_stopped_daemon_after_a_timeout():
    with Directory() as d, Daemon(d) as daemon:
        daemon.process.send_signal(signal.SIGSTOP)
        try:
            code, findings = doctor('--url', daemon.url, environment={'STROBE_SOCKET': daemon.socket})
        finally:
            daemon.process.send_signal(signal.SIGCONT)
        found = find(findings, 'daemon')
        check(code == 2 and found['level'] == 'problem', f'{found}')
        check('does not answer within 5 s; it is stopped, hung or overloaded' in found['cause'] and
              ('restart the daemon' if in_container() else 'systemctl restart') in found['fix'], f'{found}')


def status(*arguments):
    done = subprocess.run([STROBE, 'status', *arguments], capture_output=True, text=True, timeout=60)
    check(done.returncode == 2, f'status {done.returncode}: {done.stderr}')
    return done.stderr


@test
def an_invalid_command_line_is_an_error_and_not_a_finding():
    for arguments, said in ((('--token-file', '/none'), "cannot open '/none': No such file or directory"),
                            (('--url', 'ftp://x'), "invalid address 'ftp://x'")):
        done = subprocess.run([STROBE, 'doctor', *arguments], capture_output=True, text=True, timeout=60)
        check(done.returncode == 2 and said in done.stderr and not done.stdout, f'{done}')
        check(said in status(*arguments), 'strobe status reports the same error')


@test
def missing_and_wrong_tokens_and_too_many_attempts_are_reported():
    with Directory() as d:
        for name, token in (('right', 'a' * 32), ('wrong', 'b' * 32)):
            with open(f'{d}/{name}', 'w', opener=lambda path, flags: os.open(path, flags, 0o600)) as f:
                f.write(token)
        with Daemon(d, '--token-file', f'{d}/right') as daemon:
            socket = {'STROBE_SOCKET': daemon.socket}
            missing = find(doctor('--url', daemon.url, environment=socket)[1], 'token')
            check('requires an access token' in missing['cause'] and missing['fix'] == 'strobe doctor --token-file FILE', f'{missing}')
            wrong = find(doctor('--url', daemon.url, '--token-file', f'{d}/wrong', environment=socket)[1], 'token')
            check(f"does not accept the token in '{d}/wrong'" in wrong['cause'] and "daemon's token-file" in wrong['fix'], f'{wrong}')
            by_variable = find(doctor('--url', daemon.url, environment={**socket, 'STROBE_TOKEN': 'c' * 32})[1], 'token')
            check('does not accept the token in STROBE_TOKEN' in by_variable['cause'], f'{by_variable}')
            check(f"does not accept the token in '{d}/wrong'" in status('--url', daemon.url, '--token-file', f'{d}/wrong'), 'strobe status reports the wrong token as well')
            for _ in range(20):
                often = status('--url', daemon.url, '--token-file', f'{d}/wrong')
                if 'too many' in often:
                    break
            check('too many wrong tokens from this address; try again in' in often, f'{often}')
            often = find(doctor('--url', daemon.url, '--token-file', f'{d}/right', environment=socket)[1], 'token')
            check('too many wrong tokens from this address; try again in' in often['cause'] and 'systemctl' not in often['fix'], f'{often}')


@test
def another_program_at_the_address_of_the_daemon_is_reported():
    with Directory() as d, running(sys.executable, '-c', """if True:
        import socket, sys
        s = socket.create_server(('127.0.0.1', 0))
        print(s.getsockname()[1], flush=True)
        while True:
            c = s.accept()[0]
            c.recv(4096)
            c.sendall(b'SSH-2.0-x')
            c.close()""", text=True) as other:
        code, findings = doctor('--url', f'http://127.0.0.1:{other.line.strip()}', environment={'STROBE_SOCKET': f'{d}/none.sock'})
        found = find(findings, 'daemon')
        check(code == 2 and 'is not a strobe daemon: its answer is not HTTP' in found['cause'] and '--url' in found['fix'], f'{found}')


WRONG = {'mode': 'on', 'clock': 'cpus', 'period': '0', 'flush': 'x', 'trace_flush': '0.001', 'request_rate': '2', 'trace_rate': '-1',
         'max_depth': '3', 'trace_max_nodes': '5', 'trace_flame_chart': 'x', 'trace_chart_calls': '5', 'instrument': 'perhaps', 'compat_builtins': 'maybe', 'lines': 'all', 'sample': '1'}
RIGHT = {'mode': 'sample', 'clock': 'cpu', 'period': '1e-3', 'flush': '0.5', 'trace_flush': '0', 'request_rate': '0.5', 'trace_rate': '1',
         'max_depth': '64', 'trace_max_nodes': '1024', 'trace_flame_chart': '1', 'trace_chart_calls': '1024', 'instrument': 'auto', 'compat_builtins': 'off', 'lines': '0', 'labels': '"a=b,c=d"'}


@test
def doctor_and_php_reject_the_same_settings():
    need_extension()
    for settings in (WRONG, RIGHT):
        options = [o for name, value in settings.items() for o in ('-d', f'strobe.{name}={value}')]
        command = ['php', '-n', '-d', f'extension={EXTENSION}', '-d', 'display_startup_errors=1', '-d', 'display_errors=stderr']
        said = subprocess.run([*command, *options, '-r', ''], capture_output=True, text=True)
        by_php = set(re.findall(r'strobe\.(\w+)', said.stderr + said.stdout))
        with running(*command, *options, '-r', WAIT, stderr=subprocess.DEVNULL) as p:
            _, findings = doctor('--url', 'http://127.0.0.1:1', '-p', str(p.pid))
        invalid = [f['cause'] for f in findings if f['check'] == 'setting-invalid']
        by_doctor = {re.match(r'strobe\.(\w+)', cause).group(1) for cause in invalid}
        check(by_php == by_doctor, f'PHP {sorted(by_php)}, doctor {sorted(by_doctor)}')
        check(by_doctor == (set(WRONG) if settings is WRONG else set()), f'{sorted(by_doctor)}')


@test
def a_jit_configuration_that_prevents_sampling_is_reported():
    need_extension()
    base = ['php', '-n', '-d', 'zend_extension=opcache', '-d', f'extension={EXTENSION}', '-d', 'strobe.mode=sample', '-d', 'opcache.enable_cli=1']
    jit = ['-d', 'opcache.jit=tracing', '-d', 'opcache.jit_buffer_size=16M']
    for options, expected in ((jit, True), ([*jit, '-d', 'strobe.instrument=1'], False), (['-d', 'opcache.jit=tracing', '-d', 'opcache.jit_buffer_size=0'], False)):
        script = 'echo (Strobe\\status()["not_sampled"] ?? "") . "\\n";' + WAIT
        with running(*base, *options, '-r', script, stderr=subprocess.DEVNULL) as p:
            _, findings = doctor('--url', 'http://127.0.0.1:1', '-p', str(p.pid))
        check(('jit' in problems(findings)) == expected, f'{options}: {problems(findings)}')


@test
def a_deleted_php_binary_is_reported():
    with Directory() as d:
        shutil.copy(os.path.realpath(shutil.which('php')), f'{d}/php8')
        with running(f'{d}/php8', '-n', '-r', WAIT) as p:
            os.unlink(f'{d}/php8')
            _, findings = doctor('--url', 'http://127.0.0.1:1', '-p', str(p.pid))
            check(find(findings, 'program-deleted', f'{d}/php8'), f'{[f["check"] for f in findings]}')
            check('runs php ' in find(findings, 'php')['cause'], 'the process is inspected nevertheless')


@test
def a_missing_process_is_reported_and_an_invalid_process_id_is_rejected():
    p = subprocess.Popen(['true'])
    p.wait()
    code, findings = doctor('--url', 'http://127.0.0.1:1', '-p', str(p.pid))
    check(code == 2 and find(findings, 'process')['cause'] == 'there is no such process', f'{code} {findings}')
    for word in ('x', '-1', '0', '12 '):
        done = subprocess.run([STROBE, 'doctor', '-p', word], capture_output=True, text=True)
        check(done.returncode == 1 and f"invalid -p '{word}'; use the number of a process" in done.stderr, f'{word}: {done.returncode} {done.stderr}')


@test
def missing_privileges_are_named_for_an_unprivileged_user():
    need_root()
    with Directory() as d, running('php', '-n', '-r', WAIT) as p:
        program = shutil.copy(STROBE, f'{d}/strobe')
        code, findings = doctor('--url', 'http://127.0.0.1:1', '-p', str(p.pid), program=program, user=NOBODY, group=NOBODY, extra_groups=[])
        check(code == 2, f'{code}')
        memory = find(findings, 'memory')
        check("another user's" in memory['cause'] and 'CAP_SYS_PTRACE' in memory['cause'], f'{memory}')
        check('cannot tell whether it has the extension: Permission denied' in find(findings, 'process-unknown')['cause'], f'{find(findings, "process-unknown")}')
        bpf = find(findings, 'bpf')
        if not bpf:
            raise Skip('this machine lets everybody use BPF')
        check('CAP_BPF' in bpf['cause'] and ('--cap-add BPF' if in_container() else 'setcap') in bpf['fix'], f'{bpf}')


@test
def kernel_features_can_be_disabled_through_strobe_without():
    _, findings = doctor('--url', 'http://127.0.0.1:1', environment={'STROBE_WITHOUT': 'bpf,readv,bfp'})
    for name in ('bpf', 'readv'):
        check(find(findings, name)['cause'] == 'switched off by STROBE_WITHOUT', f'{find(findings, name)}')
    check("'bfp'" in find(findings, 'without')['cause'] and ' readv' in find(findings, 'without')['fix'], f"{find(findings, 'without')}")
    check('only the extension can sample' in find(findings, 'ladder')['cause'], f'{find(findings, "ladder")}')


@test
def recordings_match_the_kernel_features_of_the_doctor():
    need_root()
    with Directory() as d, running('php', '-n', '-r', WAIT) as p:
        def way(feature):
            environment = {'STROBE_WITHOUT': feature}
            done = subprocess.run([STROBE, 'record', '-p', str(p.pid), '-d', '0.2', '-o', f'{d}/out.folded'], capture_output=True, text=True,
                                  env={**os.environ, **environment}, timeout=120)
            _, findings = doctor('--url', 'http://127.0.0.1:1', environment=environment)
            return 'no BPF: ' not in done.stderr, find(findings, 'ladder')

        if not way('')[0]:
            raise Skip('this machine has no BPF')
        _, findings = doctor('--url', 'http://127.0.0.1:1', environment={'STROBE_WITHOUT': 'none'})
        features = re.sub(',| or ', ' ', find(findings, 'without')['fix']).split()[1:]
        check('bpf_loop' in features, f'{features}')
        for feature in some(features):
            programs, ladder = way(feature)
            check(programs == (ladder['level'] == 'ok'), f'without {feature}: {programs} {ladder}')


@test
def php_is_recognized_under_another_file_name():
    with Directory() as d:
        shutil.copy(os.path.realpath(shutil.which('php')), f'{d}/interpreter')
        with running(f'{d}/interpreter', '-n', '-r', WAIT) as p:
            _, findings = doctor('--url', 'http://127.0.0.1:1', '-p', str(p.pid))
            check('runs php ' in find(findings, 'php').get('cause', '') and not find(findings, 'no-php'), f'{findings}')
    with running('sh', '-c', 'echo ready; read line') as p:
        _, findings = doctor('--url', 'http://127.0.0.1:1', '-p', str(p.pid))
        check('runs no PHP' in find(findings, 'no-php').get('cause', ''), f'{findings}')


@test
def a_seccomp_filter_that_forbids_bpf_is_reported():
    need_root()
    if platform.machine() != 'x86_64':
        raise Skip('numbers of system calls are those of x86-64')
    bpf = 321
    _, findings = doctor('--url', 'http://127.0.0.1:1', preexec_fn=lambda: forbid(bpf, 0x00050001))
    check('seccomp' in find(findings, 'bpf')['cause'], f'{find(findings, "bpf")}')
    _, findings = doctor('--url', 'http://127.0.0.1:1', preexec_fn=lambda: forbid(bpf, 0x80000000))
    killed = find(findings, 'killed')
    check('seccomp' in killed.get('cause', '') and 'BPF' in killed['about'], f'a filter that kills the process is reported: {killed}')


@test
def colors_are_used_only_on_a_terminal_and_without_no_color():
    def shown(environment):
        leader, follower = pty.openpty()
        subprocess.run([STROBE, 'doctor', '--url', 'http://127.0.0.1:1', '-p', '1'], stdout=follower, env={**os.environ, **environment})
        os.close(follower)
        text = b''
        with contextlib.suppress(OSError):
            while part := os.read(leader, 65536):
                text += part
        os.close(leader)
        return text

    os.environ.pop('NO_COLOR', None)
    check(b'\033[' in shown({}), 'the output to a terminal is colored')
    check(b'\033[' not in shown({'NO_COLOR': '1'}), 'NO_COLOR disables colors')
    plain = subprocess.run([STROBE, 'doctor', '--url', 'http://127.0.0.1:1', '-p', '1'], capture_output=True).stdout
    check(b'\033[' not in plain and b'Daemon' in plain, 'the output to a pipe is not colored')


if os.geteuid() == 0 and 'STROBE_OWN_MOUNTS' not in os.environ and shutil.which('unshare'):
    os.environ['STROBE_OWN_MOUNTS'] = '1'
    if subprocess.run(['unshare', '-m', 'true'], stderr=subprocess.DEVNULL).returncode == 0:
        os.execvp('unshare', ['unshare', '-m', sys.executable, *sys.argv])
main()
