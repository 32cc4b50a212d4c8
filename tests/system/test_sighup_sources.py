"""SIGHUP with a source that another one would replace: another group of a stream, a path that does not exist, a file that was rotated."""
import os
import signal
import time

from collector import Collector, total, write, write_config
from redis_server import RedisServer
from strobe_test import Directory, check, main, test, wait_for


@test
def another_group_of_a_running_stream_is_refused_and_the_source_goes_on():
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
            check(wait_for(lambda: any(f'added source {old}&label.n=2' in line for line in c.lines)), f'other parameters can: {c.lines}')
            is_read(c, 5)
            check(c.stop() == 0, 'it ends with 0')
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
            check(c.stop() == 0, 'it ends with 0')
        client.close()
        check(total(directory, f'{directory}/a') == before + 8, 'nothing is lost or doubled')


@test
def a_path_that_cannot_be_read_in_place_of_a_source_that_goes_is_named_with_it():
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
            check(not any('replaces' in line for line in c.lines[before:]), f'one more source takes none away: {c.lines[before:]}')
            check(c.stop() == 0, 'it ends with 0')
        check(total(directory, f'{directory}/a') == sent, 'the file went on where it was')


@test
def a_rotated_file_that_is_configured_by_its_new_name_goes_on_where_it_was():
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
                check(c.sums()['samples']['stored'] == sent, f'each line counts once: {sent} {c.sums()["samples"]} {c.lines}')
                check(not any('named' in line for line in c.lines), f'no file is missing: {c.lines}')
                check(c.stop() == 0, 'it ends with 0')
            check(total(directory, f'{directory}/a') == sent, 'nothing is lost or doubled')


main()
