"""SIGHUP and sources: the same input by another path or with other parameters, standard input, listeners, and groups of streams."""
import os
import signal
import sqlite3
import subprocess
import threading
import time

from collector import Collector, arclamp_config, logged, publish, total, write, write_config
from redis_server import Client, RedisServer, free_port
from strobe_test import STROBE, Directory, check, main, test, wait_for
from wire import connect, message


@test
def changing_parameters_of_a_stream_or_file_by_sighup_reads_nothing_twice():
    with Directory() as directory, RedisServer() as redis:
        config, log, sent, over = f'{directory}/c.yaml', f'{directory}/x.log', [0, 0], threading.Event()

        def configure(n):
            write_config(config, to=[f'sqlite:{directory}/a'],
                         **{'from': [redis.url(f'?stream=s&label.n={n}'), f'file:{log}?label.n={n}']})

        def send():
            client = redis.connect()
            while not over.wait(0.02):
                client.pipeline([('XADD', 's', '*', 'line', f'index.php;t{i} 1') for i in range(20)])
                write(log, ''.join(f'index.php;u{i} 1\n' for i in range(20)))
                sent[0], sent[1] = sent[0] + 20, sent[1] + 20
            client.close()

        configure(0)
        with Collector(directory, '-c', config) as c:
            sender = threading.Thread(target=send)
            sender.start()
            for n in range(1, 4):
                time.sleep(0.7)
                configure(n)
                c.hup('reloaded the configuration; sources: 2, sinks: 1')
            check(wait_for(lambda: [s['url'].rpartition('=')[2] for s in c.status()['sources']] == ['3', '3']),
                  f'both sources use the latest parameters: {c.lines}')
            time.sleep(0.3)
            over.set()
            sender.join()
            check(wait_for(lambda: c.sink(f'sqlite:{directory}/a')['samples']['stored'] == sum(sent)),
                  f'{sent} were sent: {c.status()["sinks"]}')
            time.sleep(1.2)
            check(c.stop() == 0, 'exits with 0')
        check(total(directory, f'{directory}/a') == sum(sent), 'each is counted once')


@test
def a_renamed_file_remains_the_same_source_after_sighup():
    for wait, moved in ((0, 'php.log'), (1, 'php.log'), (1, 'sub/php.log')):
        with Directory() as directory:
            config, old, new = f'{directory}/c.yaml', f'{directory}/app.log', f'{directory}/{moved}'
            os.mkdir(f'{directory}/sub')
            write(old, 'main;a 1\n' * 100)
            write_config(config, **{'from': [f'file:{old}'], 'to': [f'sqlite:{directory}/a']})
            with Collector(directory, '-c', config) as c:
                check(wait_for(lambda: c.sums()['samples']['stored'] == 100), f'read at first: {c.sums()}')
                os.rename(old, new)
                time.sleep(wait)
                write(new, 'main;a 1\n' * 7)
                write_config(config, **{'from': [f'file:{new}'], 'to': [f'sqlite:{directory}/a']})
                c.hup('reloaded the configuration')
                write(new, 'main;a 1\n' * 5)
                check(wait_for(lambda: c.sums()['samples']['stored'] >= 112), f'the lines written since: {c.sums()} {c.lines}')
                time.sleep(1)
                check(c.sums()['samples']['stored'] == 112, f'each is counted once: {c.sums()} {c.lines}')
                check(c.stop() == 0, 'exits with 0')


@test
def a_file_under_another_path_is_the_same_source_after_sighup_restart_and_rotation():
    with Directory() as directory:
        config, log = f'{directory}/c.yaml', f'{directory}/x.log'
        os.symlink(directory, f'{directory}/link')
        os.mkdir(f'{directory}/sub')
        os.symlink('x.log', f'{directory}/alias.log')
        file, linked, alias, hard = f'file:{log}', f'file:{directory}/link/x.log', f'file:{directory}/alias.log', f'file:{directory}/hard'
        paths = [f'file:{directory}//x.log', f'file:{directory}/./x.log', f'file://{log}', f'file:{directory}/sub/../x.log', linked,
                 alias, hard, file]
        one_file = f'{file} and {linked} are one file, whose lines would count twice; remove one of them'
        sent = 0

        def configure(*sources, sink='a'):
            write_config(config, **{'from': [*sources], 'to': [f'sqlite:{directory}/{sink}']})

        def start(*sources):
            configure(*sources, sink='b')
            return subprocess.run([STROBE, 'collect', '-c', config, '--listen', 'none', '--state', f'{directory}/other'],
                                  capture_output=True, text=True, timeout=20).stderr

        def send(n, path=log):
            nonlocal sent
            write(path, 'main;a 1\n' * n)
            sent += n

        def is_read(c, already=0):
            check(wait_for(lambda: c.sums()['samples']['stored'] == sent - already), f'each line is counted once: {sent} {c.sums()} {c.lines}')
            time.sleep(0.5)
            check(c.sums()['samples']['stored'] == sent - already, f'no more lines are read: {sent} {c.sums()} {c.lines}')

        check('is already read' in start(file, paths[0]), 'a duplicate in one list is rejected')
        check(one_file in start(file, linked), 'rejected through a link before the file exists')
        send(100)
        check(one_file in start(file, linked), 'rejected through a link once the file exists')
        os.link(log, f'{directory}/hard')
        configure(file)
        with Collector(directory, '-c', config) as c:
            for other in paths:
                is_read(c)
                configure(other)
                c.hup('reloaded the configuration')
                check(wait_for(lambda: [s['url'] for s in c.status()['sources']] == [other]), f'{c.status()["sources"]}')
                send(1)
            for other in paths:                           # gone in between
                is_read(c)
                configure(f'unix:{directory}/s')
                c.hup('reloaded the configuration')
                check(wait_for(lambda: not any('file:' in s['url'] for s in c.status()['sources'])), f'{c.status()["sources"]}')
                send(10)
                configure(other)
                c.hup('reloaded the configuration')
            is_read(c)
            configure(file, linked)
            c.hup(f'was not applied: {config}:1: {one_file}')
            check(c.stop() == 0, 'exits with 0')
        for other in paths:
            before = sent
            send(5)
            configure(other)
            with Collector(directory, '-c', config) as c:
                is_read(c, before)
                send(5)
                is_read(c, before)
                check(c.stop() == 0, 'exits with 0')
        before = sent
        send(20)
        os.rename(log, f'{log}.1')
        send(30)
        configure(linked)
        with Collector(directory, '-c', config) as c:
            is_read(c, before)
            os.rename(log, f'{log}.2')                    # while it is given another path
            send(3, f'{log}.2')
            send(4)
            configure(alias)
            c.hup('reloaded the configuration')
            send(5)
            is_read(c, before)
            check(c.stop() == 0, 'exits with 0')
        stored = total(directory, f'{directory}/a')
        check(stored == sent, f'nothing is lost or duplicated: {stored} of {sent}')


@test
def a_socket_path_spelled_differently_is_the_same_source():
    with Directory() as directory:
        config = f'{directory}/c.yaml'
        os.symlink(directory, f'{directory}/link')
        paths = [f'{directory}/s', f'{directory}/./s', f'{directory}/link/s', f'{directory}//s']

        def configure(*sources):
            write_config(config, **{'from': [*sources], 'to': [f'sqlite:{directory}/a']})

        for path in paths[1:]:
            configure(f'unix:{paths[0]}', f'unix:{path}')
            done = subprocess.run([STROBE, 'collect', '-c', config, '--listen', 'none', '--state', f'{directory}/other'],
                                  capture_output=True, text=True, timeout=20)
            check(done.returncode == 2 and f'unix:{path} and unix:{paths[0]} ({config}:1) are the same source' in done.stderr, f'{path}: {done.stderr}')
        configure(f'unix:{paths[0]}')
        with Collector(directory, '-c', config) as c:
            inode = os.stat(paths[0]).st_ino
            for path in [*paths[1:], paths[0]]:
                for source in (f'unix:{path}', path):
                    configure(source)
                    c.hup('reloaded the configuration; sources: 1')
            configure(f'unix:{paths[0]}', paths[2])
            c.hup(f'was not applied: {config}:1: {paths[2]} and unix:{paths[0]} ({config}:1) are the same source')
            check(os.stat(paths[0]).st_ino == inode, 'the socket was never replaced')
            check(not any('added source' in line or 'is closed' in line for line in c.lines), f'{c.lines}')
            check(c.stop() == 0, 'exits with 0')


@test
def sighup_rejects_parameters_of_a_socket_instead_of_taking_them_as_part_of_its_path():
    with Directory() as directory:
        config, sinks = f'{directory}/c.yaml', {'to': [f'sqlite:{directory}/a']}
        write_config(config, **sinks, **{'from': [f'{directory}/s?label.dc=x']})       # a bare path is what it says
        with Collector(directory, '-c', config) as c:
            for url in (f'unix:{directory}/t?label.dc=x', f'unix:{directory}/s?label.dc=x'):
                write_config(config, **sinks, **{'from': [url]})
                c.hup(f"was not applied: {config}:1: '{url}': a socket takes no parameters")
            check(sorted(name for name in os.listdir(directory) if name[0] in 'st' and name != 'state') == ['s?label.dc=x'],
                  f'{os.listdir(directory)}')
            check(c.stop() == 0, 'exits with 0')


@test
def the_collector_exits_if_sighup_removes_the_last_source_after_stdin_reached_eof():
    for text, stored in [('main;a 4\n', 7), ('', 3)]:
        with Directory() as directory:
            config, a, unix = f'{directory}/c.yaml', f'sqlite:{directory}/a', f'unix:{directory}/s'
            write_config(config, **{'from': ['-', unix], 'to': [a]})
            write(f'{directory}/in', text)
            with open(f'{directory}/in') as given:
                c = Collector(directory, '-c', config, stdin=given)
                c.start()
            check(wait_for(lambda: c.status()['sources'][0]['state'] == 'ended'), 'standard input has ended')
            connect(f'{directory}/s').send(message({('main',): 3}))
            check(wait_for(lambda: c.sums()['samples']['received'] == stored), 'the collector continues with the other source')
            write_config(config, **{'from': ['-'], 'to': [a]})
            c.hup('stdin reached EOF and no other source is configured; exiting')
            check(wait_for(lambda: c.process.poll() is not None), 'the collector exits by itself')
            check(c.stop() == 0 and f' with {stored} samples: {stored} stored' in c.lines[-1], f'the counts are logged: {c.lines}')
            check(total(directory, f'{directory}/a') == stored, 'all is stored')


@test
def the_collector_exits_after_stdin_reached_eof_if_the_new_source_cannot_be_opened():
    with Directory() as directory:
        config, a, log = f'{directory}/c.yaml', f'sqlite:{directory}/a', f'{directory}/x.log'
        write_config(config, **{'from': ['-', f'file:{log}'], 'to': [a]})
        write(log, 'main;a 1\n')
        c = Collector(directory, '-c', config, stdin=subprocess.DEVNULL)
        c.start()
        check(wait_for(lambda: c.sink(a)['samples']['stored'] == 1), 'the file is read')
        day = next(name for name in os.listdir(f'{directory}/a') if name.endswith('.db'))
        lock = sqlite3.connect(f'{directory}/a/{day}', isolation_level=None)
        lock.execute('BEGIN IMMEDIATE')               # data read from the file cannot be stored meanwhile
        write(log, 'main;a 2\n')
        check(wait_for(lambda: c.sums()['samples']['received'] == 3), 'a batch is in flight')
        write_config(config, **{'from': ['-', f'file:{log}?channel=x'], 'to': [a]})
        c.hup('reloaded the configuration; sources: 2, sinks: 1')
        os.unlink(log)
        os.mkdir(log)
        lock.close()
        check(wait_for(lambda: c.process.poll() is not None), f'the collector exits by itself: {c.lines}')
        check(any('a source of the new configuration was not added' in line for line in c.lines), f'the reason is logged: {c.lines}')
        check(c.stop() == 0, 'exits with 0')


@test
def duplicate_sources_of_a_file_stream_or_channel_are_rejected_by_sighup_and_at_startup():
    with Directory() as directory, RedisServer() as redis:
        config, file, stream = f'{directory}/c.yaml', f'file:{directory}/x.log', redis.url('?stream=s')
        other = stream.replace('127.0.0.1', '%3127.0.0.1')      # in other words: %31 is a 1
        local = stream.replace('127.0.0.1', 'localhost')

        def configure(*sources):
            write_config(config, **{'from': [*sources], 'to': [f'sqlite:{directory}/a']})

        configure(file, stream)
        with Collector(directory, '-c', config) as c:
            for sources, twice in [
                    ([f'{file}?channel=a', f'{file}?channel=b', stream], f'{file}?channel=b'),
                    ([file, f'{stream}&label.n=1', f'{other}&label.n=2'], f'{other}&label.n=2'),
                    ([file, stream, local], local),
                    ([file, stream, redis.url('?channel=x'), redis.url('?channel=x').replace('127.0.0.1', 'localhost')], None),
                    ([file, stream, redis.url('?channel=x'), redis.url('1?channel=y,x')], None)]:
                configure(*sources)
                sentence = (f'{twice} is already read, perhaps with other parameters; remove one of them' if twice else
                            f"{sources[3]}: {sources[2]} already subscribes to the channel 'x'")
                c.hup(f'was not applied: {config}:1: {sentence}')
                check([s['url'] for s in c.status()['sources']] == [file, stream], f'{c.status()["sources"]}')
                done = subprocess.run([STROBE, 'collect', '-c', config, '--listen', 'none', '--state', f'{directory}/other'],
                                      capture_output=True, text=True, timeout=20, env={**os.environ, 'STROBE_TO': f'{directory}/b'})
                check(done.returncode == 2 and sentence in done.stderr, f'a start reports the same error: {done.stderr}')
            configure(file, local)
            c.hup('reloaded the configuration; sources: 2, sinks: 1')
            check(wait_for(lambda: any(f'added source {local}' in line for line in c.lines)), f'added under its other name: {c.lines}')
            check(sum('added source' in line for line in c.lines) == 1, f'added after the other is closed: {c.lines}')
            configure(f'{file}?channel=a', stream, redis.url('?channel=x'))
            c.hup('reloaded the configuration; sources: 3, sinks: 1')
            configure(f'{file}?channel=a', stream, redis.url('?channel=x&label.n=1'))       # one in the place of the other is fine
            c.hup('reloaded the configuration; sources: 3, sinks: 1')
            check(wait_for(lambda: any(f'added source {file}?channel=a' in line for line in c.lines)), f'{c.lines}')
            write(f'{directory}/x.log', 'main;a 3\n')
            check(wait_for(lambda: c.sums()['samples']['stored'] == 3), 'one source is read')
            check(c.stop() == 0, 'exits with 0')


@test
def a_listener_in_place_of_redis_uses_the_channels_of_the_yaml_and_sighup_reloads_them():
    with Directory() as directory:
        port = free_port()
        config = arclamp_config(directory, port)
        with Collector(directory, '--arclamp', config, '--from', f'resp://127.0.0.1:{port}?idle=60') as c:
            client = Client(port)
            check(client.command('PUBLISH', 'excimer', 'index.php;main 1') == 1, 'the channels of redis_channel are accepted')
            check(client.command('PUBLISH', 'other', 'index.php;main 2') == 0, 'other channels are not accepted')
            text = open(config).read()
            write(config, text.replace('redis_channel: excimer', 'redis_channel: [excimer, other]'), 'w')
            c.hup('reloaded the configuration; sources: 1, sinks: 1')
            client = Client(port)
            check(client.command('PUBLISH', 'other', 'index.php;main 3') == 1, 'the same port has the new channels')
            check(wait_for(lambda: logged(directory).get('hourly index') == b'index.php;main 1\nindex.php;main 3\n'),
                  f'accepted lines are logged: {logged(directory)}')
            check(c.stop() == 0, 'exits with 0')


@test
def sighup_takes_over_an_address_only_from_a_listener_that_is_removed():
    with Directory() as directory:
        config, port = f'{directory}/c.yaml', free_port()
        unix, resp, other = f'unix:{directory}/s', f'resp://127.0.0.1:{port}', f'resp://localhost:{port}'
        store = {'to': [f'sqlite:{directory}/a']}
        write_config(config, **store, **{'from': [unix, resp]})
        with Collector(directory, '-c', config) as c:
            page = int(c.url.rstrip('/').rsplit(':', 1)[1])

            def one_line_is_taken(total):
                publish(port, ['index.php;main 1'])
                return wait_for(lambda: c.sums()['samples']['received'] == total)

            for sources, sentence in [
                    ([unix, resp, other], f'cannot listen on {other}: the source {resp} already listens there; remove one of them'),
                    ([unix, other, f'resp://127.1:{port}'], 'already listens there; remove one of them'),
                    ([unix, resp, f'resp://127.0.0.1:{page}'], f'cannot listen on resp://127.0.0.1:{page}: Address already in use'),
                    # Addresses earlier in the list are open by then and have to be given back.
                    ([unix, f'{resp}?channel=x', 'unix:/nonexistent/x'], "cannot listen in '/nonexistent'"),
                    ([unix, f'{resp}?channel=x', f'resp://127.0.0.1:{page}'], 'Address already in use')]:
                write_config(config, **store, **{'from': sources})
                c.hup(sentence)
                check('was not applied' in c.lines[-1], f'the configuration is not applied: {c.lines[-1]}')
                check([s['url'] for s in c.status()['sources']] == [unix, resp], f'{c.status()["sources"]}')
                check(one_line_is_taken(c.sums()['samples']['received'] + 1), 'the old source still works')
            check(c.status()['samples']['received'] == 5, 'each line is read by one source and counted once')
            write_config(config, **store, **{'from': [unix, other]})
            c.hup('reloaded the configuration; sources: 2, sinks: 1')
            check(one_line_is_taken(6), 'another spelling of the same address takes over')
            check(c.status()['sources'][1]['url'] == other, f'{c.status()["sources"]}')
            check(c.stop() == 0, 'exits with 0')


@test
def changing_the_group_of_a_running_stream_is_rejected_and_the_source_continues():
    with Directory() as directory, RedisServer() as redis:
        config, sent = f'{directory}/c.yaml', 0
        old, new, other = (redis.url(f'?stream=s{more}') for more in ('&group=old', '&group=new&label.n=1', '&label.n=1'))
        client = redis.connect()

        def configure(*sources):
            write_config(config, **{'from': [*sources, f'unix:{directory}/s'], 'to': [f'sqlite:{directory}/a']})

        def is_read(c, n):
            nonlocal sent
            client.pipeline([('XADD', 's', '*', 'line', f'index.php;f{i} 1') for i in range(n)])
            sent += n
            check(wait_for(lambda: c.sums()['samples']['stored'] == sent), f'each entry counts once: {sent} {c.sums()}')

        client.command('XGROUP', 'CREATE', 's', 'slow', '0', 'MKSTREAM')      # keeps all entries in the stream
        configure(old)
        with Collector(directory, '-c', config) as c:
            is_read(c, 20)
            for url in (new, other):
                configure(url)
                c.hup(f'was not applied: {config}:1: {url}: the group= of the running source {old} cannot change at run time, since a new '
                      'group reads the stream from its first entry; restore it, or create the new group where the old one is '
                      '(XGROUP CREATE) and restart')
                check([s['url'] for s in c.status()['sources']] == [old, f'unix:{directory}/s'], f'{c.status()["sources"]}')
                is_read(c, 5)
            groups = [dict(zip(g[::2], g[1::2])) for g in client.command('XINFO', 'GROUPS', 's')]
            check(sorted(g[b'name'] for g in groups) == [b'old', b'slow'], f'no other group was created: {groups}')
            configure(f'{old}&label.n=2')
            c.hup('reloaded the configuration')
            check(wait_for(lambda: any(f'added source {old}&label.n=2' in line for line in c.lines)), f'other parameters are applied: {c.lines}')
            is_read(c, 5)
            check(c.stop() == 0, 'exits with 0')
        # As docs/pipeline.md renames a group.
        groups = [dict(zip(g[::2], g[1::2])) for g in client.command('XINFO', 'GROUPS', 's')]
        group = next(g for g in groups if g[b'name'] == b'old')
        check(group[b'pending'] == 0, f'nothing is pending: {group}')
        client.command('XGROUP', 'CREATE', 's', 'new', group[b'last-delivered-id'])
        client.command('XGROUP', 'DESTROY', 's', 'old')
        before, sent = sent, 0
        configure(new)
        with Collector(directory, '-c', config) as c:
            is_read(c, 7)
            time.sleep(0.5)
            is_read(c, 1)
            check(c.stop() == 0, 'exits with 0')
        client.close()
        check(total(directory, f'{directory}/a') == before + 8, 'nothing is lost or duplicated')


@test
def an_unreadable_path_is_reported_with_the_source_that_it_replaces():
    with Directory() as directory:
        config, log, sent = f'{directory}/c.yaml', f'{directory}/app.log', 0
        os.mkdir(f'{directory}/runs')
        write(f'{directory}/plain', '')

        def configure(*sources):
            write_config(config, **{'from': [*sources, f'unix:{directory}/s'], 'to': [f'sqlite:{directory}/a']})

        def is_read(c):
            nonlocal sent
            write(log, 'main;a 1\n' * 10)
            sent += 10
            check(wait_for(lambda: c.sums()['samples']['stored'] == sent), f'{sent}: {c.sums()["samples"]} {c.lines}')

        right, runs = f'file:{log}', f'runs:{directory}/runs'
        configure(right, runs)
        with Collector(directory, '-c', config) as c:
            for path, why in ((f'{directory}/ap.log', 'No such file or directory'), (f'{directory}/plain/x', 'Not a directory')):
                is_read(c)
                for old, new, others in ((right, f'file:{path}', [runs]), (runs, f'runs:{path}', [right])):
                    configure(new, *others)
                    c.hup(f"{new} replaces {old}, but '{path}' cannot be read ({why}); retrying. If the path is wrong, correct it and "
                          'send SIGHUP again')
                    configure(right, runs)
                    c.process.send_signal(signal.SIGHUP)
                    check(wait_for(lambda: {right, runs} <= {s['url'] for s in c.status()['sources']}), f'{c.status()["sources"]}')
            is_read(c)
            before = len(c.lines)
            configure(right, f'file:{directory}/more.log', runs)
            c.process.send_signal(signal.SIGHUP)
            check(wait_for(lambda: len(c.status()['sources']) == 4), f'{c.status()["sources"]}')
            check(not any('replaces' in line for line in c.lines[before:]), f'an added source replaces none: {c.lines[before:]}')
            check(c.stop() == 0, 'exits with 0')
        check(total(directory, f'{directory}/a') == sent, 'the file continued at its offset')


@test
def a_rotated_file_configured_by_its_new_name_continues_at_its_offset():
    for wait in (1, 12):                                  # while both files are followed, and after the old one was quiet for 10 s
        with Directory() as directory:
            config, old, new, sent = f'{directory}/c.yaml', f'{directory}/app.log', f'{directory}/php.log', 0

            def configure(path):
                write_config(config, **{'from': [f'file:{path}'], 'to': [f'sqlite:{directory}/a']})

            def is_read(c, path, n):
                nonlocal sent
                write(path, 'main;a 1\n' * n)
                sent += n
                check(wait_for(lambda: c.sums()['samples']['stored'] >= sent), f'{sent} in {path}: {c.sums()["samples"]} {c.lines}')

            configure(old)
            with Collector(directory, '-c', config) as c:
                is_read(c, old, 100)
                os.rename(old, new)
                is_read(c, old, 3)                        # a new file at the old name
                time.sleep(wait)
                for path in (new, old, new):
                    configure(path)
                    c.hup('reloaded the configuration')
                    check(wait_for(lambda: [s['url'] for s in c.status()['sources']] == [f'file:{path}']), f'{c.status()["sources"]}')
                    is_read(c, path, 5)
                time.sleep(0.5)
                check(c.sums()['samples']['stored'] == sent, f'each line is counted once: {sent} {c.sums()["samples"]} {c.lines}')
                check(not any('named' in line for line in c.lines), f'no file is missing: {c.lines}')
                check(c.stop() == 0, 'exits with 0')
            check(total(directory, f'{directory}/a') == sent, 'nothing is lost or duplicated')


main()
