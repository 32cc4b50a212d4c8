"""SIGHUP with a source that another one would replace: another group of a stream, a path that does not exist, a file that was rotated."""
import os
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


main()
