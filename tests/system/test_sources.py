"""Sources of `strobe collect`, from where samples come to the store: files that grow, times, Arc Lamp's client, Redis at a unix
socket, sockets of systemd, pipes."""
import fcntl
import os
import random
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import threading
import time
from urllib.parse import quote

from collector import Collector, arclamp_config, logged, publish, total, total_so_far, write, write_config
from daemon import Daemon
from redis_server import RedisServer
from strobe_test import STROBE, Directory, Skip, check, main, test, wait_for
from wire import connect, message


def tells_birth(directory):
    return subprocess.run(['stat', '-c', '%W', directory], capture_output=True, text=True).stdout.strip() not in ('0', '-', '')


@test
def a_file_is_followed_through_rotation_and_sigkill_without_loss_or_duplication():
    with Directory() as directory:
        log, store = f'{directory}/x.log', f'{directory}/store'
        options = ['--from', f'file:{log}?channel=excimer&label.host=web1', '--to', f'sqlite:{store}']
        kills, written, rotated = int(os.environ.get('STROBE_TEST_KILLS', '8')), 0, 0
        random.seed(7)
        f = open(log, 'a')
        c = Collector(directory, *options).start()
        for kill in range(kills):
            for i in range(4):
                f.write(f'/srv/index.php;main;f{i} 1\n' * 300)
                f.flush()
                written += 300
                time.sleep(random.random() / 4)
            if kill % 3 == 2:
                os.rename(log, f'{log}.{rotated}')
                rotated += 1
                f.write('/srv/late.php;main 1\n' * 10)     # the writer has not noticed yet
                written += 10
                f.close()
                f = open(log, 'a')
            c.process.kill()
            c.process.wait()
            c.start()
        f.close()
        check(wait_for(lambda: total_so_far(store) >= written), f'all entries are read: {total_so_far(store)} of {written}')
        check(wait_for(lambda: c.sums()['samples']['queued'] == 0), 'the queue is empty')
        time.sleep(1)                                          # for what would come twice
        check(c.stop() == 0, 'exits with 0')
        check(total(directory, store) == written, f'{total(directory, store)} of {written} lines after {kills} kills')


@test
def late_and_early_messages_are_stored_at_their_own_time_within_bounds():
    with Directory() as directory:
        now = time.time_ns()
        # The local date is another one than in UTC for a part of the day, and summer time begins or ends somewhere.
        with Daemon(directory, environment={'TZ': 'STROBE-14DST,M1.1.0,M12.5.6'}) as d:
            s = connect(d.socket)
            hour = 3600 * 10 ** 9
            s.send(message({('late',): 1}, end=now - 3 * hour))
            s.send(message({('early',): 2}, end=now + 30 * 10 ** 9))
            s.send(message({('ancient',): 4}, end=now - 30 * hour))
            s.send(message({('future',): 8}, end=now + hour))
            check(wait_for(lambda: d.status()['samples']['stored'] == 15), 'all four are stored')
            check(d.status()['samples']['times_corrected'] == 2, 'two corrected times are counted')

            def between(first, last):
                seconds = now / 1e9
                return sorted(re.findall(r'^(\w+)', d.get(f'/api/v1/profile?format=folded&from={seconds + first:.0f}'
                                                          f'&to={seconds + last:.0f}'), re.M))

            check(between(-3 * 3600 - 60, -3 * 3600 + 60) == ['late'], f'late: {between(-3 * 3600 - 60, -3 * 3600 + 60)}')
            check(between(-60, 20) == ['ancient', 'future'], f'messages out of bounds get the time of arrival: {between(-60, 20)}')
            check('early' in between(-60, 60), 'slightly early messages keep their time')
            days = {time.strftime('%Y-%m-%d', time.gmtime(now / 1e9 + n)) + '.db' for n in [60, 0, -3 * 3600]}
            found = {name for name in os.listdir(f'{directory}/state') if name.endswith('.db') and name[0] == '2'}
            check(found <= days, f'days are those of UTC: {found}')


# As Arc Lamp's client does: a connection for each sample, a line for each stack, one PUBLISH.
CLIENT = '''<?php
function publish($line) {
    $redis = new Redis();
    if (!$redis->connect("127.0.0.1", (int)$_SERVER["argv"][1], 0.1)) exit(1);
    $redis->publish("excimer", $line);
}
$script = realpath($_SERVER["SCRIPT_FILENAME"]);
for ($i = 0; $i < 5; $i++) {
    publish("$script;Shop::run;Cart::total 1");
    publish("/srv/blog/wp-cron.php;do_tasks;class@anonymous\\0/srv/blog/x.php:3\$0::__invoke 1");
}
'''


@test
def an_arc_lamp_host_migrates_with_its_client_and_yaml_and_without_redis():
    if b'redis' not in subprocess.run(['php', '-m'], capture_output=True).stdout:
        raise Skip('PHP has no redis extension')
    with Directory() as directory:
        write(f'{directory}/index.php', CLIENT)

        def run_site():
            done = subprocess.run(['php', f'{directory}/index.php', str(port)], capture_output=True, text=True, timeout=60)
            check(done.returncode == 0 and not done.stdout, f'the client works: {done.stdout}{done.stderr}')

        def wait_for_lines(n):
            check(wait_for(lambda: logged(directory).get('hourly all', b'').count(b'\n') == n), f'{n} lines: {logged(directory)}')

        with RedisServer() as redis:
            port = redis.port
            config = arclamp_config(directory, port)
            with Collector(directory, '--arclamp', config) as c:
                check(wait_for(lambda: c.sums()['sources'][0]['up']), f'the collector reads from the Redis in the file: {c.lines}')
                run_site()
                wait_for_lines(10)
                check(c.stop() == 0, 'exits with 0')
        before = logged(directory)
        index = f'{directory}/index.php;Shop::run;Cart::total 1\n'.encode() * 5
        cron = b'/srv/blog/wp-cron.php;do_tasks;class@anonymous\0/srv/blog/x.php:3$0::__invoke 1\n' * 5
        check(sorted(before) == ['daily all', 'daily index', 'hourly all', 'hourly index', 'hourly wp-cron']
              or sorted(before) == ['daily all', 'daily wp-cron', 'hourly all', 'hourly index', 'hourly wp-cron'],
              f'the tree is that of Arc Lamp: {sorted(before)}')
        check(before['hourly index'] == index and before['hourly wp-cron'] == cron, f'lines are verbatim: {before}')
        check(before['daily all'].count(b'\n') == 5, 'sample_pop is applied')
        # The same client, the same file, no Redis; and a store, for any range at any time.
        options = ['-c', config, '--from', f'resp://127.0.0.1:{port}', '--listen', '127.0.0.1:0']
        d = Daemon(directory, environment={'STROBE_SOCKET': f'{directory}/none'})
        d.command = [STROBE, 'serve', *options, '--store', f'sqlite:{directory}/store']
        with d:
            run_site()
            wait_for_lines(20)
            check(wait_for(lambda: d.status()['samples']['stored'] == 10), f'all is stored: {d.status()["samples"]}')
            folded = d.get('/api/v1/profile?format=folded&from=-15m&entry=index')
            check(f'{directory}/index.php;Shop::run;Cart::total 5' in folded, f'a range of the store: {folded}')
            check(d.stop() == 0, 'exits with 0')
        after = logged(directory)
        check(after['hourly index'] == index * 2 and after['hourly wp-cron'] == cron * 2, 'the same files are continued')


@test
def a_redis_at_a_unix_socket_works_as_source_as_sink_and_in_the_yaml():
    with Directory() as directory, Directory() as center:
        path, config = f'{directory}/redis.sock', f'{directory}/arclamp-log.yaml'
        write(config, f"""
base_path: {directory}/logs
redis: {{unix_socket_path: {path}, db: 3, password: geheim, socket_timeout: 5}}
redis_channel: excimer,excimer-wall
logs: [{{period: hourly, format: '%Y-%m-%d_%H', retain: 24}}]
""")
        url = f'redis://:geheim@{quote(path, safe="")}/3?stream=strobe'
        with RedisServer('--unixsocket', path, password='geheim') as redis, \
             Collector(directory, '--arclamp', config, '--to', url) as edge, \
             Collector(center, '--from', f'{url}&group=g', '--to', f'sqlite:{center}/s') as c:
            redis.wait_for_subscriber('excimer-wall')
            redis.command('PUBLISH', 'excimer', 'index.php;main 1')
            redis.command('PUBLISH', 'excimer-wall', 'index.php;main 2')
            check(wait_for(lambda: logged(directory).get('hourly index', b'').count(b'\n') == 2), f'{logged(directory)}')
            check(edge.stop() == 0, 'the relay forwards its queue and exits with 0')
            check(wait_for(lambda: c.sums()['samples']['stored'] == 3), f'the entry is in the stream: {c.status()}')
            check(c.stop() == 0, 'exits with 0')
            check(not any('geheim' in line for line in edge.lines + c.lines), 'no password is shown')


class PopenWith:
    """Processes that are started meanwhile have these options of subprocess.Popen, too."""

    def __init__(self, **options):
        self.options, self.popen = options, subprocess.Popen

    def __enter__(self):
        subprocess.Popen = lambda *a, **o: self.popen(*a, **{**o, **self.options})

    def __exit__(self, *_):
        subprocess.Popen = self.popen


class PassedSocket:
    """A port of loopback on which a parent listens, and which it passes to each start of a collector, as systemd does."""

    def __init__(self):
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]

    def hand_to(self, collector):
        fd = self.listener.fileno()
        collector.command = ['sh', '-c', f'exec 3<&{fd}; LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"', 'sh', *collector.command]
        with PopenWith(pass_fds=(fd,)):
            return collector.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


@test
def a_systemd_socket_is_used_and_queues_clients_until_the_collector_runs():
    with Directory() as directory, PassedSocket() as passed:
        resp, config = f'resp://127.0.0.1:{passed.port}', f'{directory}/collect.yaml'
        with_resp, without = ({'from': sources, 'to': [f'sqlite:{directory}/a']}
                              for sources in ([f'unix:{directory}/s', resp], [f'unix:{directory}/s']))
        write_config(config, **with_resp)
        client = socket.create_connection(('127.0.0.1', passed.port))       # before anybody is there
        client.sendall(b'*3\r\n$7\r\nPUBLISH\r\n$1\r\nx\r\n$8\r\nmain;a 5\r\n')
        c = passed.hand_to(Collector(directory, '-c', config))
        check(client.recv(100).startswith(b':'), 'data sent before the start is answered')
        check(wait_for(lambda: c.sums()['samples']['stored'] == 5), 'all are stored')
        write_config(config, **without)
        c.hup('reloaded the configuration')
        check(wait_for(lambda: any('everything received from it is stored' in line for line in c.lines)), f'the source is closed: {c.lines}')
        write_config(config, **with_resp)
        c.hup(f'added source {resp}')
        publish(passed.port, ['main;b 2'])
        check(wait_for(lambda: c.sums()['samples']['stored'] == 7), 'the source is added again while systemd holds the address')
        check(c.stop() == 0, 'exits with 0')


@test
def a_systemd_socket_serves_one_source_however_its_address_is_written():
    with Directory() as directory, PassedSocket() as passed:
        first, second = f'resp://127.0.0.1:{passed.port}', f'resp://127.1:{passed.port}'
        c = Collector(directory, '--from', first, '--from', second, '--to', f'sqlite:{directory}/a')
        try:
            passed.hand_to(c)
            check(False, f'the collector started: {c.lines}')
        except RuntimeError as e:
            check(f'cannot listen on {second}: the source {first} already listens there; remove one of them' in str(e), f'{e}')
        finally:
            check(c.stop() == 2, 'exits with 2')


@test
def an_unused_systemd_socket_is_logged():
    with Directory() as directory, PassedSocket() as passed:
        c = passed.hand_to(Collector(directory, '--from', f'unix:{directory}/s', '--to', f'sqlite:{directory}/a'))
        hint = f'add --from resp://127.0.0.1:{passed.port} or'
        check(wait_for(lambda: any(hint in line for line in c.lines)), f'the remedy is logged: {c.lines}')
        check(c.stop() == 0, 'exits with 0')


@test
def data_left_in_the_stdin_pipe_is_stored_at_shutdown():
    with Directory() as directory:
        reader, writer = os.pipe()
        size = fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 1 << 20)
        c = Collector(directory, '--from', '-', '--to', f'sqlite:{directory}/a')
        with PopenWith(stdin=reader):
            c.start()
        os.close(reader)
        c.process.send_signal(signal.SIGSTOP)
        line, count = b'/srv/index.php;main;' + b'f' * 1000 + b' 2\n', 0
        while (count + 8) * len(line) < size:
            os.write(writer, line)
            count += 1
        os.write(writer, line[:100])        # a writer that is interrupted in a line
        c.process.send_signal(signal.SIGTERM)
        c.process.send_signal(signal.SIGCONT)
        check(c.process.wait(60) == 0, 'exits with 0')
        check(total(directory, f'{directory}/a') == 2 * count, f'{count} lines of the pipe are stored')
        os.close(writer)


@test
def a_continuous_writer_to_stdin_loses_no_line_at_shutdown():
    """Lines written between the last read of the pipe and its end used to be lost."""
    line = b'/srv/index.php;main;work 1\n'
    with Directory() as directory:
        written = 0
        for _ in range(15):
            reader, writer = os.pipe()
            c = Collector(directory, '--from', '-', '--to', f'sqlite:{directory}/a')
            with PopenWith(stdin=reader):
                c.start()
            os.close(reader)
            threading.Timer(0.05, c.process.send_signal, [signal.SIGTERM]).start()
            try:
                while True:
                    written += os.write(writer, line) == len(line)
            except BrokenPipeError:
                os.close(writer)
            check(c.process.wait(60) == 0, 'exits with 0')
        check(total(directory, f'{directory}/a') == written, f'{written} lines that were written are stored')


@test
def a_rotated_file_keeps_its_offset_until_a_sink_has_its_lines():
    with Directory() as directory:
        log, options = f'{directory}/app.log', ('--from', f'file:{directory}/app.log', '--to', f'sqlite:{directory}/a')
        with Collector(directory, *options) as c:
            write(log, 'main;a 1\n')
            check(wait_for(lambda: c.sums()['samples']['stored'] == 1), 'the store works')
            day = next(name for name in os.listdir(f'{directory}/a') if name.endswith('.db'))
            lock = sqlite3.connect(f'{directory}/a/{day}', isolation_level=None)
            lock.execute('BEGIN IMMEDIATE')               # nobody else may write
            write(log, 'main;b 1\n' * 5)
            check(wait_for(lambda: c.sums()['samples']['received'] == 6), 'five lines are queued')
            os.rename(log, f'{log}.1')
            write(log, 'main;c 1\n')
            check(wait_for(lambda: c.sums()['samples']['received'] == 7), 'the new file is read')
            time.sleep(12)                                # the old one is quiet for more than 10 s
            check(c.stop() == 2, 'exits with 2 while the store is locked')
            lock.execute('ROLLBACK')
            lock.close()
        with Collector(directory, *options) as c:
            check(wait_for(lambda: c.sums()['samples']['stored'] == 6), f'the six lines are read again: {c.sums()["samples"]} {c.lines}')
            check(c.stop() == 0, 'exits with 0')
        check(total(directory, f'{directory}/a') == 7, 'nothing is lost or duplicated')



def rotate_by_number(log, numbers=8):
    for number in range(numbers, 0, -1):
        if os.path.exists(f'{log}.{number}'):
            os.rename(f'{log}.{number}', f'{log}.{number + 1}')
    os.rename(log, f'{log}.1')


@test
def files_rotated_while_the_collector_was_down_are_read_once_and_their_copies_never():
    with Directory() as directory:
        if not tells_birth(directory):
            raise Skip('the file system does not tell when a file was made')
        by_number, by_date, store = f'{directory}/n.log', f'{directory}/d.log', f'{directory}/store'
        c = Collector(directory, '--from', f'file:{by_number}', '--from', f'file:{by_date}', '--to', f'sqlite:{store}')
        written, day = 0, 0

        def put(count):
            nonlocal written
            for log in (by_number, by_date):
                write(log, ''.join(f'main;f{written + i} 1\n' for i in range(count)))
                written += count

        for i, away in enumerate((2, 3, 0, 2, 1, 4)):
            with c:
                put(20)
                check(wait_for(lambda: total_so_far(store) >= written), f'all entries are read: {total_so_far(store)} of {written}')
                if i % 2:
                    c.process.kill()
                    c.process.wait()
                else:
                    check(c.stop() == 0, 'exits with 0')
            for _ in range(away):
                put(7)
                day += 1
                for log in (by_number, by_date):
                    shutil.copy(log, f'{log}.bak')
                os.rename(by_date, f'{by_date}-202611{day:02}')
                rotate_by_number(by_number)
                put(5)
        with c:
            check(wait_for(lambda: total_so_far(store) >= written), f'all entries are read: {total_so_far(store)} of {written}')
            time.sleep(1)                                      # for what would come twice
            check(c.stop() == 0, 'exits with 0')
        check(total(directory, store) == written, f'{total(directory, store)} of {written} lines')


@test
def a_possibly_rotated_file_is_reported_and_read_once_it_is_added_as_a_source():
    with Directory() as directory:
        log, store = f'{directory}/x.log', f'{directory}/store'
        options = ('--from', f'file:{log}', '--to', f'sqlite:{store}')
        with Collector(directory, *options) as c:
            write(log, 'main;a 1\n')
            check(wait_for(lambda: c.sums()['samples']['stored'] == 1), 'the line is stored')
            check(c.stop() == 0, 'exits with 0')
        os.remove(log)                                         # as with `rotate 1`
        write(f'{log}.1', 'main;b 1\n')
        write(log, 'main;c 1\n')
        with Collector(directory, *options) as c:
            said = f"'{log}.1' may have lines that were written while '{log}' was not followed, and is not read: it may be a copy"
            check(wait_for(lambda: said in ' '.join(c.lines)), f'the file is reported: {c.lines}')
            check(f'if its lines are missing, add file:{log}.1 as a source' in ' '.join(c.lines), 'the remedy is logged')
            check(wait_for(lambda: total_so_far(store) == 2), 'the new file is read')
            check(c.stop() == 0, 'exits with 0')
        with Collector(directory, '--from', f'file:{log}.1', *options) as c:
            check(wait_for(lambda: total_so_far(store) == 3), 'the line is read after the remedy')
            check(c.stop() == 0, 'exits with 0')
            check(said not in ' '.join(c.lines), 'the file is reported once')
        check(total(directory, store) == 3, 'each line is counted once')


@test
def a_file_listed_under_its_old_and_new_name_is_read_once_in_any_order():
    for order in (1, -1):
        with Directory() as directory:
            config, old, new, store, written = f'{directory}/c.yaml', f'{directory}/a', f'{directory}/a-2026', f'{directory}/store', 0

            def configure(*paths):
                write_config(config, **{'from': [f'file:{path}' for path in paths][::order], 'to': [f'sqlite:{store}']})

            def put(*paths):
                nonlocal written
                for path in paths:
                    write(path, f'main;f{written} 1\n')
                    written += 1

            def all_is_read():
                check(wait_for(lambda: total_so_far(store) >= written), f'all entries are read: {total_so_far(store)} of {written}')

            configure(old)
            c = Collector(directory, '-c', config).start()
            put(old)
            all_is_read()
            c.stop()
            put(old)
            os.rename(old, new)
            put(old)
            configure(old, new)
            c.start()
            put(old, new)
            all_is_read()
            c.process.kill()
            c.process.wait()
            put(old, new)
            c.start()
            all_is_read()
            os.rename(old, f'{directory}/t')                   # they swap their names
            os.rename(new, old)
            os.rename(f'{directory}/t', new)
            put(old, new)
            all_is_read()
            for paths in ((new,), (old,), (old, new)):
                configure(*paths)
                c.hup('reloaded the configuration')
                check(wait_for(lambda: len(c.status()['sources']) == len(paths)), f'{c.status()["sources"]}')
                put(*paths)
                all_is_read()
            time.sleep(1)                                      # for what would come twice
            check(c.stop() == 0, 'exits with 0')
            check(total(directory, store) == written, f'{total(directory, store)} of {written} lines')


@test
def the_unread_rest_of_a_file_moved_by_copytruncate_is_reported_with_its_offset():
    with Directory() as directory:
        log, store = f'{directory}/x.log', f'{directory}/store'
        options = ('--from', f'file:{log}', '--to', f'sqlite:{store}')
        with Collector(directory, *options) as c:
            write(log, 'main;a 1\n')
            check(wait_for(lambda: c.sums()['samples']['stored'] == 1), 'the line is stored')
            check(c.stop() == 0, 'exits with 0')
        write(log, 'main;b 1\n')
        shutil.copy(log, f'{log}.1')
        write(log, 'main;c 1\n', 'w')
        with Collector(directory, *options) as c:
            said = f"'{log}.1' may have lines that were written while '{log}' was not followed, and is not read: it may be a copy"
            check(wait_for(lambda: said in ' '.join(c.lines)), f'the copy is reported: {c.lines}')
            check('to read the rest, write `tail -c +10` of it to another file' in ' '.join(c.lines), f'the remedy is logged: {c.lines}')
            subprocess.run(f'tail -c +10 {log}.1 >{directory}/rest', shell=True, check=True)
            check(c.stop() == 0, 'exits with 0')
        with Collector(directory, '--from', f'file:{directory}/rest', *options) as c:
            check(wait_for(lambda: total_so_far(store) == 3), 'the line is read after the remedy')
            check(c.stop() == 0, 'exits with 0')
        check(total(directory, store) == 3, 'each line is counted once')


main()
