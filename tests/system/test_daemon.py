"""`strobe serve` and `strobe status`: starts, stops, kills, strangers on the socket."""
import json
import os
import random
import shutil
import signal
import socket
import stat
import subprocess
import threading
import time

from daemon import Daemon
from strobe_test import EXTENSION, STROBE, Directory, Skip, check, main, test, wait_for
from wire import connect, message, send_memfd

WORK = {('main', 'work'): 3, ('main', 'rest'): 1}


def stored(d):
    return d.status()['samples']['stored']


def run(*arguments, **options):
    return subprocess.run([STROBE, *arguments], capture_output=True, text=True, timeout=60, **options)


@test
def samples_are_stored_shown_and_kept_across_a_restart():
    with Directory() as directory:
        with Daemon(directory) as d:
            s = connect(d.socket)
            for _ in range(25):
                s.send(message(WORK))
            check(wait_for(lambda: stored(d) == 100), f'100 samples are stored, not {stored(d)}')
            check(d.stop() == 0, 'the daemon exits with 0 on SIGTERM')
            s.close()
            check(not os.path.exists(d.socket), 'the socket file is removed')
            check(len(d.lines) == 1, f'one line is printed, not {d.lines}')
        with Daemon(directory) as d:
            check(d.status()['store']['oldest'], 'the store reports its oldest sample')
            profile = d.get('/api/v1/profile?from=-1h')
            check('work' in profile and 'main' in profile, f'the samples are still there: {profile[:200]}')
            check(d.stop(signal.SIGINT) == 0, 'the daemon exits with 0 on SIGINT')


@test
def samples_sent_just_before_shutdown_are_flushed():
    with Directory() as directory:
        with Daemon(directory) as d:
            s = connect(d.socket)
            for _ in range(50):
                s.send(message(WORK))
            check(d.stop() == 0, 'the daemon exits with 0')
            s.close()
        with Daemon(directory) as d:
            check('"work"' in d.get('/api/v1/profile?from=-1h') or 'work' in d.get('/api/v1/profile?from=-1h'),
                  'the samples are stored')
            total = total_samples(d)
            check(total == 200, f'200 samples are stored, not {total}')


def total_samples(d):
    """Samples in the store, as the timeline counts them."""
    answer = json.loads(d.get('/api/v1/timeline?from=-1h'))
    return sum(answer['samples'])


@test
def only_the_owner_and_the_group_can_access_the_socket():
    with Directory() as directory, Daemon(directory) as d:
        mode = stat.S_IMODE(os.stat(d.socket).st_mode)
        check(mode == 0o660, f'the mode is 660, not {mode:o}')


@test
def php_finds_the_daemon_of_a_user_without_a_runtime_directory():
    if os.geteuid() != 0:
        raise Skip('only root can become another user')
    if not shutil.which('php') or not os.path.exists(EXTENSION):
        raise Skip('there is no PHP, or no extension for it')
    with Directory() as directory:
        home, program, extension = f'{directory}/home', f'{directory}/strobe', f'{directory}/strobe.so'
        shutil.copy(STROBE, program)
        shutil.copy(EXTENSION, extension)
        os.mkdir(home)
        os.chown(home, 64999, 64999)
        who = {'user': 64999, 'group': 64999, 'extra_groups': [], 'cwd': '/'}
        environment = {'HOME': home, 'PATH': os.environ['PATH']}
        d = Daemon(directory)
        d.command = [program, 'serve', '--listen', '127.0.0.1:0']
        d.environment, d.who = environment, who
        with d:
            place = f'{home}/.local/state/strobe'
            check(stat.S_IMODE(os.stat(place).st_mode) & 0o077 == 0, f'only the owner can access {place}')
            code = '$t = microtime(true); while (microtime(true) - $t < 0.5) md5((string)$t);'
            for words in ([program, 'run', '-o', f'{home}/x.strobe', '--', 'php', '-n', '-r', code],
                          ['php', '-n', '-d', f'extension={extension}', '-d', 'strobe.mode=sample', '-r', code]):
                done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=120, **who)
                check(done.returncode == 0, f'{words}: {done.stderr}')
            check(wait_for(lambda: stored(d) > 0), f'samples are stored: {d.lines}')


@test
def a_second_instance_reports_the_resource_that_is_in_use():
    with Directory() as directory, Daemon(directory) as d:
        second = run(*d.command[1:])
        check(second.returncode == 2, f'the exit status is 2, not {second.returncode}')
        check(second.stderr.count('\n') == 1 and f'{directory}/state' in second.stderr,
              f'one line names the state directory: {second.stderr!r}')
        other = run('serve', '--listen', '127.0.0.1:0', '--from', f'unix:{d.socket}',
                    '--store', f'sqlite:{directory}/other')
        check(other.returncode == 2 and 'another strobe listens on unix:' in other.stderr,
              f'a socket in use is reported: {other.stderr!r}')
        port = d.url.rsplit(':', 1)[1]
        third = run('serve', '--listen', f'127.0.0.1:{port}', '--from', f'unix:{directory}/third.sock',
                    '--store', f'sqlite:{directory}/third')
        check(third.returncode == 2 and port in third.stderr, f'a port in use is reported: {third.stderr!r}')
        check(not os.path.exists(f'{directory}/third.sock'), 'no socket is left behind')
        s = connect(d.socket)
        s.send(message(WORK))
        check(wait_for(lambda: stored(d) == 4), 'the first daemon keeps working')
        s.close()


@test
def sigkill_under_load_loses_at_most_the_last_second():
    with Directory() as directory:
        with Daemon(directory) as d:
            s = connect(d.socket)
            begin, committed = time.monotonic(), 0
            while time.monotonic() < begin + (4 if committed else 60):
                s.send(message(WORK))
                time.sleep(0.002)
                committed = committed or stored(d)
            committed = stored(d)
            d.process.kill()
            d.process.wait()
            s.close()
        check(committed > 0, 'samples were committed')
        check(os.path.exists(d.socket), 'the socket of the killed daemon still exists')
        with Daemon(directory) as d:
            total = total_samples(d)
            check(total >= committed, f'all {committed} committed samples are found, not {total}')
            check(not [line for line in d.lines if 'listening' not in line], f'the daemon starts without warnings: {d.lines}')
            s = connect(d.socket)
            s.send(message(WORK))
            check(wait_for(lambda: stored(d) == 4), 'new samples are stored')
            check(wait_for(lambda: total_samples(d) == total + 4), 'the new samples are added to the old ones')
            s.close()


@test
def malformed_messages_are_counted_and_do_not_affect_other_clients():
    with Directory() as directory, Daemon(directory) as d:
        good, bad = connect(d.socket), connect(d.socket)
        noise = random.Random(1)
        for _ in range(300):
            bad.send(noise.randbytes(noise.randrange(1, 3000)))
        whole = message(WORK)
        for n in range(1, len(whole)):
            bad.send(whole[:n])
        good.send(whole)
        check(wait_for(lambda: stored(d) == 4), 'the valid message is stored')
        check(wait_for(lambda: sum(d.status()['sources'][0]['rejected'].values()) == 300 + len(whole) - 1),
              f'every malformed message is counted: {d.status()["sources"][0]["rejected"]}')
        try:
            for _ in range(2000):
                bad.send(b'STRBnonsense')
            closed = False
        except (BrokenPipeError, ConnectionResetError):
            closed = True
        check(closed or wait_for(lambda: d.status()['sources'][0]['connections_closed_for_garbage'] == 1),
              'the client is disconnected')
        check(d.status()['samples']['received'] == 4, 'no malformed message is accepted as a sample')
        good.close()
        bad.close()


@test
def large_messages_are_received_through_a_memfd():
    with Directory() as directory, Daemon(directory) as d:
        s = connect(d.socket)
        send_memfd(s, message(WORK, padding=50))
        check(wait_for(lambda: stored(d) == 4), 'a message of 3 MB is stored')
        check(d.status()['sources'][0]['rejected']['memfd'] == 0, 'no memfd is rejected')
        s.close()


@test
def a_daemon_resumed_from_sigstop_reads_the_messages_buffered_in_the_socket():
    with Directory() as directory, Daemon(directory) as d:
        s = connect(d.socket)
        s.send(message(WORK))
        wait_for(lambda: stored(d) == 4)
        d.process.send_signal(signal.SIGSTOP)
        s.setblocking(False)
        sent = 0
        try:
            while sent < 10000:
                s.send(message(WORK))
                sent += 1
        except BlockingIOError:
            pass
        d.process.send_signal(signal.SIGCONT)
        check(0 < sent < 10000, f'the socket buffer is full after {sent} messages')
        check(wait_for(lambda: stored(d) == 4 + 4 * sent), 'every message that the socket accepted is stored')
        s.setblocking(True)
        s.send(message(WORK, drops={2: 77}))
        check(wait_for(lambda: d.status()['samples']['dropped_by_senders']['socket_full'] == 77),
              'the samples dropped by the sender are reported')
        s.close()


@test
def hundreds_of_connected_processes_are_served():
    with Directory() as directory, Daemon(directory) as d:
        senders = [connect(d.socket) for _ in range(300)]
        for s in senders:
            s.send(message(WORK))
        check(wait_for(lambda: stored(d) == 1200), 'every message is stored')
        check(d.status()['sources'][0]['connections'] == 300, 'all processes are connected')
        for s in senders:
            s.close()
        check(wait_for(lambda: d.status()['sources'][0]['connections'] == 0), 'all connections are closed')


@test
def samples_prevented_by_the_jit_are_counted_and_reported():
    with Directory() as directory, Daemon(directory) as d:
        s = connect(d.socket)
        s.send(message({}, drops={6: 1500}))
        check(wait_for(lambda: d.status()['samples']['dropped_by_senders']['jit'] == 1500),
              f'a message without samples is counted: {d.status()["samples"]}')
        check(d.status()['samples']['received'] == 0, 'no samples were received')
        check('strobe_samples_dropped_total{reason="jit"} 1500' in d.get('/metrics'), 'the metrics include the reason jit')
        text = run('status', '--url', d.url)
        check(text.returncode == 0 and 'jit 1,500' in text.stdout and 'take no samples' in text.stdout, text.stdout)
        s.close()


@test
def status_shows_the_counters_and_reports_a_missing_daemon():
    with Directory() as directory, Daemon(directory) as d:
        s = connect(d.socket)
        s.send(message(WORK, drops={1: 5}))
        wait_for(lambda: stored(d) == 4)
        text = run('status', '--url', d.url)
        check(text.returncode == 0 and '4 received, 4 stored' in text.stdout and 'no_daemon 5' in text.stdout,
              f'the text output contains the counters: {text.stdout} {text.stderr}')
        raw = run('status', '--url', d.url, '--json')
        check(json.loads(raw.stdout)['samples']['stored'] == 4, 'the JSON output contains them as well')
        s.close()
        d.stop()
        gone = run('status', '--url', d.url)
        check(gone.returncode == 2 and 'strobe serve' in gone.stderr and not gone.stdout,
              f'a missing daemon is an error that suggests strobe serve: {gone.stderr!r}')


@test
def a_daemon_with_a_token_file_requires_the_token():
    with Directory() as directory:
        with open(f'{directory}/token', 'w') as f:
            f.write('0123456789abcdef0123456789abcdef\n')
        os.chmod(f'{directory}/token', 0o600)
        with Daemon(directory, '--token-file', f'{directory}/token') as d:
            without = run('status', '--url', d.url)
            check(without.returncode == 2 and '--token-file' in without.stderr, f'a request without the token is rejected: {without.stderr!r}')
            given = run('status', '--url', d.url, '--token-file', f'{directory}/token')
            check(given.returncode == 0, f'a request with the token is accepted: {given.stderr!r}')
        wide = run('serve', '--listen', '0.0.0.0:0', '--from', f'unix:{directory}/w.sock',
                   '--store', f'sqlite:{directory}/w')
        check(wide.returncode == 2 and 'token' in wide.stderr, f'listening on all addresses requires a token: {wide.stderr!r}')


@test
def invalid_paths_addresses_and_options_are_rejected_with_a_message():
    with Directory() as directory:
        cases = [
            (['--store', f'sqlite:{directory}/a', '--from', f'unix:{directory}/missing/s'], 2, 'missing'),
            (['--store', f'sqlite:{directory}/b', '--from', 'tcp:127.0.0.1:99'], 2, 'tcp:127.0.0.1:99'),
            (['--store', f'sqlite:{directory}/c', '--from', f'unix:{directory}/' + 'x' * 200], 2, 'bytes'),
            (['--store', 'nosuch:/x', '--from', f'unix:{directory}/s'], 2, 'nosuch'),
            (['--store', 'sqlite:/proc/nowhere', '--from', f'unix:{directory}/s'], 2, '/proc/nowhere'),
            (['--max-bytes', 'lots'], 1, 'lots'),
            (['--retain', '-1'], 1, '--retain'),
            (['--nonsense'], 1, 'nonsense'),
            (['operand'], 1, 'operand'),
        ]
        for options, code, word in cases:
            r = run('serve', '--listen', '127.0.0.1:0', *options)
            check(r.returncode == code and word in r.stderr and not r.stdout,
                  f'{options}: exit status {code} and a message with {word!r}, not {r.returncode} {r.stderr!r}')


@test
def without_options_the_default_directories_of_the_user_are_used():
    with Directory() as directory:
        environment = {'STROBE_SOCKET': f'{directory}/own.sock', 'STATE_DIRECTORY': f'{directory}/own-state'}
        d = Daemon(directory, environment=environment)
        d.command = [STROBE, 'serve', '--listen', '127.0.0.1:0']
        d.socket = f'{directory}/own.sock'
        with d:
            s = connect(d.socket)
            s.send(message(WORK))
            check(wait_for(lambda: stored(d) == 4), 'samples are stored')
            check(os.path.isdir(f'{directory}/own-state'), 'the state directory is taken from the environment')
            s.close()
            check(d.stop() == 0, 'the daemon exits with 0')


@test
def systemd_notifications_and_socket_activation_work():
    with Directory() as directory:
        notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        notices.bind(f'{directory}/notify')
        told = []

        def hear():     # all the time, as systemd does: a socket holds ten, and the next one would be lost
            while notice := notices.recv(100):
                told.append(notice)

        hearer = threading.Thread(target=hear, daemon=True)
        hearer.start()
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener.bind(f'{directory}/strobe.sock')
        listener.listen(10)
        early = connect(f'{directory}/strobe.sock')     # before the daemon runs
        early.send(message(WORK))
        d = Daemon(directory, environment={'NOTIFY_SOCKET': f'{directory}/notify', 'WATCHDOG_USEC': '200000',
                                           'LISTEN_FDS': '1'})
        # As systemd does it: the socket is descriptor 3, and LISTEN_PID is the process that execs.
        d.command = ['sh', '-c', f'exec 3<&{listener.fileno()}; LISTEN_PID=$$ exec "$@"', 'sh', *d.command]
        os.set_inheritable(listener.fileno(), True)
        popen = subprocess.Popen
        try:
            subprocess.Popen = lambda *a, **k: popen(*a, **k, pass_fds=(listener.fileno(),))
            d.start()
        finally:
            subprocess.Popen = popen
        try:
            check(wait_for(lambda: told) and told[0] == b'READY=1', f'READY=1 is sent: {told}')
            check(wait_for(lambda: told[1:]) and told[1] == b'WATCHDOG=1', f'WATCHDOG=1 is sent: {told}')
            check(wait_for(lambda: stored(d) == 4), 'messages sent before the start are received')
            check(d.stop() == 0, 'the daemon exits with 0')
            check(wait_for(lambda: b'STOPPING=1' in told), f'STOPPING=1 is sent: {told[-3:]}')
            others = [n for n in told[1:told.index(b'STOPPING=1')] if n != b'WATCHDOG=1']
            check(not others, f'no other notification is sent in between: {others}')
            check(os.path.exists(f'{directory}/strobe.sock'), "the socket of systemd is kept")
        finally:
            d.__exit__()
            last = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            last.sendto(b'', f'{directory}/notify')
            hearer.join(20)
            for s in (last, notices, listener, early):
                s.close()


if __name__ == '__main__':
    main()
