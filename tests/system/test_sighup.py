"""SIGHUP to `strobe collect`: sources, sinks and channels that come and go, and what needs a restart."""
import contextlib
import json
import os
import random
import socket
import sqlite3
import subprocess
import threading
import time

from collector import Collector, ConfiguredServer, arclamp_config, logged, publish, total, write, write_config
from redis_server import Client, RedisServer, free_port
from strobe_test import STROBE, Directory, check, main, test, wait_for
from wire import connect, message


@test
def hup_takes_sources_and_sinks_in_and_out_and_loses_nothing():
    with Directory() as directory:
        config, first, second = f'{directory}/c.yaml', f'{directory}/first.log', f'{directory}/second.log'
        a, b = f'{directory}/a', f'{directory}/b'
        token = f'{directory}/token'
        write(first, '')
        write(second, '')
        write(token, 'a-token-of-enough-letters\n')
        os.chmod(token, 0o600)
        write_config(config, **{'from': [f'file:{first}', f'unix:{directory}/s'], 'to': [f'sqlite:{a}']})
        with Collector(directory, '-c', config) as c:
            write(first, 'main;a 1\n' * 500)
            wait_for(lambda: c.sums()['sources'][0]['samples']['received'] == 500)
            connect(f'{directory}/s').send(message({('main', 'x'): 7}))
            wait_for(lambda: c.sums()['samples']['received'] == 507)
            # Both with something under way: they are stored, and then closed.
            write_config(config, **{'from': [f'file:{second}'], 'to': [f'sqlite:{a}', f'sqlite:{b}'], 'label-values': 5})
            c.hup('reloaded the configuration')
            check(wait_for(lambda: sum('everything received from it is stored' in line for line in c.lines) == 2),
                  f'sources leave when they are done: {c.lines}')
            check(not os.path.exists(f'{directory}/s'), 'the socket is gone')
            write(second, ''.join(f'/srv/e{i}.php;main 1\n' for i in range(20)))
            check(wait_for(lambda: [k['samples']['stored'] for k in c.sums()['sinks']] == [527, 20]),
                  f'the new sink has what came since: {c.status()["sinks"]}')
            check(wait_for(lambda: c.status()['samples']['label_values_folded'] >= 15), 'the new cap of label values holds')
            for text, sentence in [('form: [x]', "c.yaml:1: unknown key 'form'; did you mean 'from'?"),
                                   ('from: [', 'was not applied'), ('to: [nonsense:x]', 'was not applied'),
                                   (json.dumps({'from': [f'file:{second}', 'unix:/nonexistent/x'], 'to': [f'sqlite:{b}']}),
                                    'was not applied'),
                                   (json.dumps({'from': [f'file:{second}', f'file:{second}?channel=x'], 'to': [f'sqlite:{b}']}),
                                    'remove one of them')]:
                write(config, text, 'w')
                c.hup(sentence)
                check([k['url'] for k in c.sums()['sinks']] == [f'sqlite:{a}', f'sqlite:{b}'], f'both are there after {text}')
            write_config(config, **{'from': [f'file:{second}'], 'to': [f'sqlite:{b}'], 'token-file': token})
            c.hup('token-file changed; restart to apply')
            check(wait_for(lambda: any(f'sqlite:{a} is closed' in line for line in c.lines)), 'a sink leaves when it is done')
            write(second, 'main;z 1\n')
            check(wait_for(lambda: c.sink(f'sqlite:{b}')['samples']['stored'] == 21), 'the other one goes on')
            check(c.stop() == 0, 'it ends with 0')
        check(total(directory, a) == 527 and total(directory, b) == 21, 'nothing is lost or doubled')


@test
def hup_says_what_of_sources_and_sinks_cannot_change_while_they_run():
    with Directory() as directory:
        config, relay = f'{directory}/c.yaml', 'redis://u:geheim@127.0.0.1:1/?stream=x'
        resp, store, logs = f'resp://127.0.0.1:{free_port()}', f'sqlite:{directory}/a', f'logs:{directory}/logs'
        given = {'from': [f'unix:{directory}/s', resp, '-'], 'to': [store, logs, relay + '&window=1'], 'allow-host': ['a.example']}
        write_config(config, **given)
        with Collector(directory, '-c', config) as c:
            def to(*sinks):
                return {'to': [*given['to'][:3 - len(sinks)], *sinks]}

            for other, sentence in [
                    (to(relay + '&window=2'), 'cannot change to another window= at run time'),
                    (to(relay), 'cannot change to another window= at run time'),
                    (to(relay + '&window=1&spool=2M&host=x'), 'cannot change to another spool= and host= at run time'),
                    (to(relay.replace('geheim', 'anders') + '&window=1'), 'cannot change to another password at run time'),
                    (to(logs + '/', given['to'][2]), f"cannot change to another spelling at run time, since it has '{directory}/logs' open"),
                    (to(given['to'][2], 'redis://127.0.0.1:2/?stream=x', 'redis://127.0.0.1:2/?stream=x'),
                     'is listed twice; remove one of them'),
                    ({'to': [*given['to'], store]}, f'{store} is listed twice; remove one of them'),
                    ({'to': [*given['to'], relay + '&window=2']}, 'two sinks write to'),
                    ({'from': [*given['from'], resp]}, f'{resp} is listed twice; remove one of them'),
                    ({'from': [f'unix:{directory}/s', resp, '-?label.a=b']}, 'the parameters of standard input cannot change at run time'),
                    ({'from': [*given['from'], f'{resp}?channel=x']}, f'{resp} is already a source, perhaps with other parameters')]:
                write_config(config, **{**given, **other})
                c.hup(sentence)
                check(c.lines[-1].startswith('strobe: the new configuration is invalid and was not applied: ') and
                      ('restart' in c.lines[-1] or 'remove' in c.lines[-1]), f'and what to do: {c.lines[-1]}')
            check(not any('geheim' in line or 'anders' in line for line in c.lines), 'no password is shown')
            # The same setting in other words is no change, and settings that wait for a restart are named.
            write_config(config, **{**given, 'from': [f'{directory}/s', resp, '-'], 'to': [f'{directory}/a', *given['to'][1:]],
                                    'allow-host': ['b.example'], 'arclamp-metrics': directory})
            c.hup('reloaded the configuration; sources: 3, sinks: 3')
            said = [line.split(' changed; restart to apply')[0] for line in c.lines if 'changed; restart to apply' in line]
            check(said == ['strobe: allow-host', 'strobe: arclamp-metrics'], f'{said}')
            check(not any('is closed' in line for line in c.lines), f'nothing was closed: {c.lines}')
            write_config(config, **{**given, 'to': [store]})
            c.hup(f'{logs} is closed')
            check(wait_for(lambda: any('stream=x&window=1 is closed' in line for line in c.lines)), f'the relay goes: {c.lines}')
            write_config(config, **{**given, 'to': [store, relay + '&window=2']})
            c.hup('reloaded the configuration; sources: 3, sinks: 2')
            write_config(config, **given, quiet=True)
            c.hup('cannot change to another window=')
            write_config(config, **{**given, 'to': [store], 'allow-host': ['b.example']}, quiet=True)
            before = len(c.lines)
            c.hup('allow-host changed')
            write_config(config, **{**given, 'to': [store], 'allow-host': ['c.example']}, quiet=True)
            c.hup('allow-host changed')
            check(all('allow-host changed' in line for line in c.lines[before:]), f'quiet holds without a restart: {c.lines[before:]}')
            write_config(config, **{**given, 'to': [store]}, quiet=False)
            c.hup('reloaded the configuration')
            check(c.stop() == 0, 'it ends with 0')
    with Directory() as directory:
        done = subprocess.run([STROBE, 'collect', '--listen', 'none', '--state', directory, '--from', '-', '--to', f'sqlite:{directory}/a',
                               '--to', f'{directory}/a/'], input='main;a 1', capture_output=True, text=True, timeout=60)
        check(done.returncode == 2 and f"two sinks write to '{directory}/a'" in done.stderr, f'{done.stderr}')


@test
def hup_refuses_what_the_next_start_would_refuse():
    with Directory() as directory:
        config, given = f'{directory}/c.yaml', {'from': [f'unix:{directory}/s'], 'to': [f'logs:{directory}/logs'], 'listen': '127.0.0.1:0',
                                                'store': f'sqlite:{directory}/a'}
        os.symlink(directory, f'{directory}/link')
        write(f'{directory}/short', 'short\n')
        os.chmod(f'{directory}/short', 0o600)
        write_config(config, **given)
        with ConfiguredServer(directory, config) as d:
            for other, sentence in [({'listen': 'nonsense'}, "invalid address 'nonsense'"),
                                    ({'listen': '0.0.0.0:80'}, 'can be reached from other machines'),
                                    ({'probe-listen': 'zz'}, "invalid address 'zz'"),
                                    ({'listen': '127.0.0.1:1', 'probe-listen': '127.0.0.1:1'},
                                     "'probe-listen' 127.0.0.1:1 is the address of --listen; give it another port"),
                                    ({'trusted-proxy': ['junk']}, "'junk' "),
                                    ({'user-header': 'a b:'}, "'a b:' is not the name of a header"),
                                    ({'writer': ['me']}, 'names users of a proxy; give its address'),
                                    ({'allow-host': ['a b/']}, 'a b/'),
                                    ({'store': 'junk:x'}, "'junk:x' is not the URL of a store"),
                                    ({'store': 'sqlite:/proc/x'}, "/proc/x"),
                                    ({'store': f'{directory}/a'}, 'is not the address of a store'),
                                    ({'state': '/proc/x'}, "/proc/x"),
                                    ({'arclamp-metrics': '/nonexistent'}, "cannot open '/nonexistent'"),
                                    ({'token-file': '/nonexistent'}, "'/nonexistent' does not exist; create it with: openssl rand"),
                                    ({'read-token-file': f'{directory}/short'}, 'the token has 5 characters'),
                                    ({'arclamp': '/nonexistent'}, "cannot open '/nonexistent'")]:
                place = '' if 'store' in other else f"{config}:1: '{[*other][-1]}'"
                write_config(config, **{**given, **other})
                d.hup('was not applied: ')
                check(sentence in d.lines[-1] and place in d.lines[-1], f'{other}: {d.lines[-1]}')
                write_config(config, **{'store': f'sqlite:{directory}/c', **other, 'to': []})
                started = subprocess.run([STROBE, 'serve', '-c', config, '--from', f'unix:{directory}/t'],
                                         capture_output=True, text=True, timeout=20)
                check(started.returncode == 2 and sentence in started.stderr and place in started.stderr, f'{other} at the start: {started.stderr}')
            write_config(config, **{**given, 'store': f'sqlite:{directory}/b', 'to': [f'{directory}/b']})
            d.hup(f'was not applied: {config}:1: two sinks write to')
            for other in [{'listen': '127.0.0.1:1'}, {'store': f'sqlite:{directory}/b'},
                          {'store': f'sqlite:{directory}/link/a'}, {'state': f'{directory}/link/a'}, {'state': f'{directory}/d'},
                          {'arclamp-metrics': f'{directory}/logs'}, {'probe-listen': '127.0.0.1:1'}]:
                write_config(config, **{**given, **other})
                d.hup('reloaded the configuration; sources: 1, sinks: 2')
            check(d.stop() == 0, 'it ends with 0')


@test
def an_address_that_another_program_has_is_refused_by_sighup():
    with Directory() as directory, socket.create_server(('127.0.0.1', 0)) as other:
        config, taken = f'{directory}/c.yaml', f'127.0.0.1:{other.getsockname()[1]}'
        given = {'from': [f'unix:{directory}/s'], 'store': f'sqlite:{directory}/a', 'listen': '127.0.0.1:0'}
        write_config(config, **given)
        with ConfiguredServer(directory, config) as d:
            for option in ('listen', 'probe-listen'):
                write_config(config, **{**given, option: taken})
                d.hup(f"was not applied: {config}:1: '{option}': {taken} is in use")
            write_config(config, **{**given, 'listen': '127.0.0.99.1:1'})
            d.hup('was not applied: ')
            own = d.url.rsplit(':', 1)[1]
            write_config(config, **{**given, 'listen': f'localhost:{own}'})
            d.hup('listen changed; restart to apply')
            other.close()
            write_config(config, **{**given, 'listen': taken})
            d.hup('listen changed; restart to apply')
            check(d.stop() == 0, 'it ends with 0')


@test
def an_error_about_an_item_of_a_list_has_its_line():
    with Directory() as directory:
        config, given = f'{directory}/c.yaml', f'from: [unix:{directory}/s]\nstore: sqlite:{directory}/a\nlisten: 127.0.0.1:0\n'
        write(config, given, 'w')
        with ConfiguredServer(directory, config) as d:
            for option, good, wrong in (('source-dir', directory, 'relative'), ('service-label', 'app', 'a b'),
                                        ('label-from', 'pod=env:POD_NAME', 'nonsense')):
                write(config, f'{given}{option}:\n  - {good}\n  - {wrong}\n', 'w')
                d.hup(f"was not applied: {config}:6: '{option}': ")
            check(d.stop() == 0, 'it ends with 0')


@test
def an_error_about_a_source_or_a_sink_has_file_line_and_url_and_changes_nothing():
    with Directory() as directory:
        config, socket, store = f'{directory}/c.yaml', f'unix:{directory}/s', f'sqlite:{directory}/a'
        secret = f'{directory}/secret'
        os.mkdir(f'{directory}/dir')
        write(f'{directory}/no.pem', 'nothing')
        write(f'{directory}/empty', '')

        def configure(key, url, more=''):
            items = {'from': [socket], 'to': [store]}
            items[key].append(url)
            lines = [f'{key}:\n' + ''.join(f'  - "{item}"\n' for item in items[key]) for key in ('from', 'to')]
            write(config, ''.join(lines) + more, 'w')

        def start():
            return subprocess.run([STROBE, 'collect', '-c', config, '--listen', 'none', '--state', f'{directory}/state'],
                                  capture_output=True, text=True, timeout=20)

        wrong = [
            ('from', f'redis://127.0.0.1:1/?stream=s&password-file={secret}', f"password-file: cannot open '{secret}': No such file or directory"),
            ('from', f'redis://127.0.0.1:1/?channel=s&password-file={directory}/empty', 'password-file: '),
            ('to', f'redis://127.0.0.1:1/?stream=s&password-file={secret}', f"password-file: cannot open '{secret}'"),
            ('from', f'rediss://127.0.0.1:1/?stream=s&ca-file={secret}', f"cannot read '{secret}' (ca-file=)"),
            ('from', f'rediss://127.0.0.1:1/?stream=s&ca-file={directory}/no.pem', '(ca-file=) contains no PEM certificate'),
            ('to', f'rediss://127.0.0.1:1/?stream=s&cert-file={secret}', f"cannot read '{secret}' (cert-file=)"),
            ('to', f'otlp://127.0.0.1:1/?token-file={secret}', f"token-file: cannot open '{secret}'"),
            ('to', f'pyroscope://127.0.0.1:1/?password-file={secret}', f"password-file: cannot open '{secret}'"),
            ('to', f'otlp://127.0.0.1:1/?tls=yes&ca-file={secret}', f"ca-file: cannot read '{secret}'"),
            ('to', f'clickhouse://127.0.0.1:1/d?password-file={secret}', f"password-file: cannot open '{secret}'"),
            ('from', 'redis://localhost:1/99999?stream=s', 'the database must be a number from 0 to 65535'),
            ('from', 'rediss://localhost:1/?stream=s&verify=perhaps', 'verify=perhaps: use yes or no'),
            ('from', 'redis://u:geheim@localhost:1/?channel=', 'channel= and pattern= are empty'),
            ('to', 'redis://u:geheim@localhost:1/?stream=s&window=100000', 'window=100000: use a duration from 0 to 5m'),
            ('from', 'runs:/tmp?clock=cpu', "unknown parameter 'clock'"),
            ('from', 'resp://127.0.0.1:99999', 'a listener looks like resp://127.0.0.1:6379'),
            ('from', f'file:{directory}/dir', f"'{directory}/dir' is a directory; name a file in it"),
            ('from', socket, f'{socket} is listed twice; remove one of them'),
            ('to', 'otlp://', 'the host is missing')]
        number = {'from': 3, 'to': 5}
        write(config, f'from: [{socket}]\nto: [{store}]\n', 'w')
        with Collector(directory, '-c', config) as c:
            running = [s['url'] for s in c.status()['sources']]
            for key, url, sentence in wrong:
                shown = url.replace('geheim', '***')
                configure(key, url)
                c.hup('was not applied: ')
                check(f'was not applied: {config}:{number[key]}: ' in c.lines[-1] and sentence in c.lines[-1] and 'geheim' not in c.lines[-1] and
                      (shown in c.lines[-1] or url.startswith('file:')), f'{url}: {c.lines[-1]}')
                check([s['url'] for s in c.status()['sources']] == running, f'{url}: {[s["url"] for s in c.status()["sources"]]}')
            stream = 'redis://127.0.0.1:1/?stream=s'
            write(config, json.dumps({'from': [socket, f'{stream}&group=a', f'{stream}&group=b'], 'to': [store]}), 'w')
            c.hup(f'{stream}&group=b and {stream}&group=a ({config}:1) are two groups of one stream, so each entry would count twice; '
                  'remove one of them')
            write(config, json.dumps({'from': [socket], 'to': [f'{directory}/{i}' for i in range(9)]}), 'w')
            c.hup('there are more than 8 sinks; remove some')
            write(config, json.dumps({'from': [], 'to': [store]}), 'w')
            c.hup('reloaded the configuration; sources: 0, sinks: 1')
            check(wait_for(lambda: not os.path.exists(f'{directory}/s')), 'an empty list is no source')
            check(c.stop() == 0, 'it ends with 0')
        for key, url, sentence in wrong:
            configure(key, url)
            done = start()
            check(done.returncode == 2 and f'{config}:{number[key]}: ' in done.stderr and sentence in done.stderr and
                  'geheim' not in done.stderr, f'{url} at the start: {done.stderr}')
        write(config, json.dumps({'from': [socket], 'to': [f'{directory}/{i}' for i in range(9)]}), 'w')
        check('there are more than 8 sinks; remove some' in start().stderr, 'a start says the same')
        write(config, json.dumps({'from': [], 'to': [store]}), 'w')
        check("c.yaml:1: 'from' is empty, and with --listen none nothing can be pushed; add a source" in start().stderr, 'without pushes')
        with Collector(directory, '-c', config) as c:
            check(any('collecting from pushes only into' in line for line in c.lines), f'{c.lines}')
        with Collector(directory, '-c', config, environment={'STROBE_FROM': f'unix:{directory}/t'}) as c:
            check(any(f'collecting from unix:{directory}/t' in line for line in c.lines), f'{c.lines}')


@test
def other_parameters_of_a_stream_or_a_file_by_sighup_read_nothing_twice():
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
                  f'both are read with the last parameters: {c.lines}')
            time.sleep(0.3)
            over.set()
            sender.join()
            check(wait_for(lambda: c.sink(f'sqlite:{directory}/a')['samples']['stored'] == sum(sent)),
                  f'{sent} were sent: {c.status()["sinks"]}')
            time.sleep(1.2)
            check(c.stop() == 0, 'it ends with 0')
        check(total(directory, f'{directory}/a') == sum(sent), 'each counts once')


@test
def a_file_that_was_renamed_is_the_same_source_after_sighup():
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
                check(c.sums()['samples']['stored'] == 112, f'each once: {c.sums()} {c.lines}')
                check(c.stop() == 0, 'it ends with 0')


@test
def a_file_by_another_path_is_the_same_source_after_sighup_and_restart_also_through_rotation():
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
            check(wait_for(lambda: c.sums()['samples']['stored'] == sent - already), f'each line counts once: {sent} {c.sums()} {c.lines}')
            time.sleep(0.5)
            check(c.sums()['samples']['stored'] == sent - already, f'and no more come: {sent} {c.sums()} {c.lines}')

        check('is already read' in start(file, paths[0]), 'twice in one list it is refused')
        check(one_file in start(file, linked), 'through a link as well, before the file is there')
        send(100)
        check(one_file in start(file, linked), 'and once it is')
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
            check(c.stop() == 0, 'it ends with 0')
        for other in paths:
            before = sent
            send(5)
            configure(other)
            with Collector(directory, '-c', config) as c:
                is_read(c, before)
                send(5)
                is_read(c, before)
                check(c.stop() == 0, 'it ends with 0')
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
            check(c.stop() == 0, 'it ends with 0')
        stored = total(directory, f'{directory}/a')
        check(stored == sent, f'nothing is lost or doubled: {stored} of {sent}')


@test
def a_socket_in_another_spelling_is_the_same_source():
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
            check(os.stat(paths[0]).st_ino == inode, 'its socket was never replaced')
            check(not any('added source' in line or 'is closed' in line for line in c.lines), f'{c.lines}')
            check(c.stop() == 0, 'it ends with 0')


@test
def parameters_of_a_socket_are_refused_by_sighup_and_no_part_of_its_name():
    with Directory() as directory:
        config, sinks = f'{directory}/c.yaml', {'to': [f'sqlite:{directory}/a']}
        write_config(config, **sinks, **{'from': [f'{directory}/s?label.dc=x']})       # a bare path is what it says
        with Collector(directory, '-c', config) as c:
            for url in (f'unix:{directory}/t?label.dc=x', f'unix:{directory}/s?label.dc=x'):
                write_config(config, **sinks, **{'from': [url]})
                c.hup(f"was not applied: {config}:1: '{url}': a socket takes no parameters")
            check(sorted(name for name in os.listdir(directory) if name[0] in 'st' and name != 'state') == ['s?label.dc=x'],
                  f'{os.listdir(directory)}')
            check(c.stop() == 0, 'it ends with 0')


@test
def where_standard_input_has_ended_and_sighup_leaves_no_other_source_it_ends():
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
            check(wait_for(lambda: c.sums()['samples']['received'] == stored), 'it goes on for the other source')
            write_config(config, **{'from': ['-'], 'to': [a]})
            c.hup('stdin reached EOF and no other source is configured; exiting')
            check(wait_for(lambda: c.process.poll() is not None), 'it ends by itself')
            check(c.stop() == 0 and f' with {stored} samples: {stored} stored' in c.lines[-1], f'and says what came: {c.lines}')
            check(total(directory, f'{directory}/a') == stored, 'all is stored')


@test
def where_standard_input_has_ended_and_what_waited_cannot_be_opened_it_ends():
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
        check(wait_for(lambda: c.sums()['samples']['received'] == 3), 'something is under way')
        write_config(config, **{'from': ['-', f'file:{log}?channel=x'], 'to': [a]})
        c.hup('reloaded the configuration; sources: 2, sinks: 1')
        os.unlink(log)
        os.mkdir(log)
        lock.close()
        check(wait_for(lambda: c.process.poll() is not None), f'it ends by itself: {c.lines}')
        check(any('a source of the new configuration was not added' in line for line in c.lines), f'and says why: {c.lines}')
        check(c.stop() == 0, 'with 0')


@test
def two_sources_of_one_file_or_stream_or_channel_are_refused_by_sighup_as_by_a_start_also_where_both_would_wait():
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
                check(done.returncode == 2 and sentence in done.stderr, f'a start says the same: {done.stderr}')
            configure(file, local)
            c.hup('reloaded the configuration; sources: 2, sinks: 1')
            check(wait_for(lambda: any(f'added source {local}' in line for line in c.lines)), f'by its other name: {c.lines}')
            check(sum('added source' in line for line in c.lines) == 1, f'after the other is closed: {c.lines}')
            configure(f'{file}?channel=a', stream, redis.url('?channel=x'))
            c.hup('reloaded the configuration; sources: 3, sinks: 1')
            configure(f'{file}?channel=a', stream, redis.url('?channel=x&label.n=1'))       # one in the place of the other is fine
            c.hup('reloaded the configuration; sources: 3, sinks: 1')
            check(wait_for(lambda: any(f'added source {file}?channel=a' in line for line in c.lines)), f'{c.lines}')
            write(f'{directory}/x.log', 'main;a 3\n')
            check(wait_for(lambda: c.sums()['samples']['stored'] == 3), 'one of them is read')
            check(c.stop() == 0, 'it ends with 0')


@test
def a_listener_in_the_place_of_redis_takes_the_channels_of_the_yaml_and_sighup_reads_them_again():
    with Directory() as directory:
        port = free_port()
        config = arclamp_config(directory, port)
        with Collector(directory, '--arclamp', config, '--from', f'resp://127.0.0.1:{port}?idle=60') as c:
            client = Client(port)
            check(client.command('PUBLISH', 'excimer', 'index.php;main 1') == 1, 'what redis_channel names is taken')
            check(client.command('PUBLISH', 'other', 'index.php;main 2') == 0, 'and nothing else')
            text = open(config).read()
            write(config, text.replace('redis_channel: excimer', 'redis_channel: [excimer, other]'), 'w')
            c.hup('reloaded the configuration; sources: 1, sinks: 1')
            client = Client(port)
            check(client.command('PUBLISH', 'other', 'index.php;main 3') == 1, 'the same port has the new channels')
            check(wait_for(lambda: logged(directory).get('hourly index') == b'index.php;main 1\nindex.php;main 3\n'),
                  f'what was taken is logged: {logged(directory)}')
            check(c.stop() == 0, 'it ends with 0')


@test
def sighup_takes_an_address_over_only_from_a_listener_that_goes():
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
                check('was not applied' in c.lines[-1], f'and nothing has changed: {c.lines[-1]}')
                check([s['url'] for s in c.status()['sources']] == [unix, resp], f'{c.status()["sources"]}')
                check(one_line_is_taken(c.sums()['samples']['received'] + 1), 'the old one is whole')
            check(c.status()['samples']['received'] == 5, 'each line came to one source, and counts once')
            write_config(config, **store, **{'from': [unix, other]})
            c.hup('reloaded the configuration; sources: 2, sinks: 1')
            check(one_line_is_taken(6), 'another spelling alone takes the address over')
            check(c.status()['sources'][1]['url'] == other, f'{c.status()["sources"]}')
            check(c.stop() == 0, 'it ends with 0')


@test
def from_a_relay_by_a_stream_to_a_center_that_lets_the_stream_go_and_takes_it_again():
    with Directory() as edge, Directory() as center, RedisServer() as redis:
        url, config = f'redis://127.0.0.1:{redis.port}/?stream=strobe', f'{center}/c.yaml'
        without = {'from': [f'unix:{center}/s'], 'to': [f'sqlite:{center}/a']}
        with_stream = {**without, 'from': [f'{url}&group=g', f'unix:{center}/s']}
        write_config(config, **with_stream)
        relay = Collector(edge, '--from', f'unix:{edge}/s', '--to', f'{url}&window=1')
        with Collector(center, '-c', config) as c, relay:
            s = connect(f'{edge}/s')

            def send_and_wait(stored):
                for i in range(10):
                    s.send(message({('main', f'f{i}'): 2}))
                return wait_for(lambda: c.sums()['samples']['stored'] == stored)

            check(send_and_wait(20), f'what the relay sent is stored: {c.status()["samples"]}')
            check(wait_for(lambda: c.status()['sources'][0]['stream']['pending'] == 0), 'and acknowledged')
            write_config(config, **without)
            c.hup('reloaded the configuration')
            check(wait_for(lambda: any('everything received from it is stored' in line for line in c.lines)), f'the stream goes: {c.lines}')
            write_config(config, **with_stream)
            c.hup('reloaded the configuration')
            check(send_and_wait(40), f'and comes again: {c.status()["samples"]}')
            n = relay.sums()['sinks'][0]
            check(n['up'] and n['counts']['relay_received_samples_total'] == 40, f'the relay has handed all over: {n}')
            check(relay.stop() == 0 and c.stop() == 0, 'both end with 0')
        check(total(center, f'{center}/a') == 40, 'nothing is lost or doubled')


class Traffic:
    """Samples to sources that come and go, from a thread. They count as sent if the sender got no error."""

    def __init__(self, directory, redis, port):
        self.directory, self.redis, self.port = directory, redis, port
        self.sent, self.over, self.sockets = {'file': 0, 'stream': 0, 'socket': 0, 'listener': 0}, threading.Event(), {}
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def send(self, name):
        with contextlib.suppress(OSError):
            if name not in self.sockets:
                self.sockets[name] = connect(f'{self.directory}/{name}')
            self.sockets[name].send(message({('main', name): 3}))
            self.sent['socket'] += 3
            return
        self.sockets.pop(name, None)

    def publish(self):
        with contextlib.suppress(OSError):
            self.sent['listener'] += Client(self.port).command('PUBLISH', 'x', 'index.php;p 1')

    def run(self):
        client = self.redis.connect()
        while not self.over.wait(0.003):
            client.pipeline([('XADD', 's', '*', 'line', f'index.php;s{i} 1') for i in range(5)])
            self.sent['stream'] += 5
            for name in ('x', 'y'):
                write(f'{self.directory}/{name}.log', f'index.php;{name} 1\n' * 5)
                self.sent['file'] += 5
            self.send('s')
            self.send('t')
            self.publish()
        client.close()


@test
def two_hundred_reloads_with_any_sources_and_sinks_under_traffic_lose_and_double_nothing():
    chance = random.Random(17)
    with Directory() as directory, RedisServer() as redis:
        config, port, a = f'{directory}/c.yaml', free_port(), f'sqlite:{directory}/a'
        socket, listener = f'unix:{directory}/s', f'resp://127.0.0.1:{port}'

        def other(url, mark):
            """The same input with parameters of its own."""
            return f'{url}{mark}label.n={chance.randrange(4)}'

        def any_configuration():
            sources = [other(f'file:{directory}/{name}.log', '?') for name in 'xy']
            sources += [other(redis.url('?stream=s'), '&'), f'{listener}?idle={chance.randrange(50, 54)}']
            wrong = [f'unix:{directory}/none/s', f'file:{directory}/z?label.n=1', f'file:{directory}/z?label.n=2', socket]
            sources = [s for s in sources if chance.random() < 0.7] + [s for s in wrong if chance.random() < 0.05]
            sinks = [f'sqlite:{directory}/{name}' for name in 'bcd' if chance.random() < 0.5]
            chance.shuffle(sources)
            # Senders would find the other socket for a moment if it came before something wrong.
            return {'from': [*sources, *[f'unix:{directory}/t'] * chance.randrange(2), socket], 'to': [a, *sinks],
                    'label-values': chance.randrange(5, 500)}

        write_config(config, **{'from': [socket], 'to': [a]})
        with Collector(directory, '-c', config) as c:
            with Traffic(directory, redis, port) as traffic:
                for _ in range(200):
                    write_config(config, **any_configuration())
                    c.hup('configuration')
                    time.sleep(chance.random() * 0.05)
                write_config(config, **{'from': [f'file:{directory}/x.log', f'file:{directory}/y.log', redis.url('?stream=s'), socket],
                                        'to': [a]})
                check(wait_for(lambda: c.hup('configuration') or 'reloaded the configuration; sources: 4, sinks: 1' in c.lines[-1]),
                      f'{c.lines[-3:]}')
            sent = sum(traffic.sent.values())
            check(all(traffic.sent.values()), f'every kind of source has taken something: {traffic.sent}')
            check(wait_for(lambda: c.sink(a)['samples']['stored'] == sent), f'{traffic.sent}: {c.sums()["samples"]} {c.status()["sources"]}')
            check(c.sums()['samples']['stored'] == c.sums()['samples']['received'] == sent, f'{c.status()["samples"]}')
            applied = sum('reloaded the configuration' in line for line in c.lines)
            check(applied > 100, f'{applied} were valid')
            check(not any('was not added' in line for line in c.lines), 'each source that had to wait was opened')
            check(c.stop() == 0, 'it ends with 0')
        check(total(directory, f'{directory}/a') == sent, 'nothing is lost or doubled')


main()
