"""SIGHUP with a configuration that cannot be applied: it changes nothing, and the log names file, line, reason and remedy."""
import json
import os
import socket
import subprocess

from collector import Collector, ConfiguredServer, write, write_config
from redis_server import free_port
from strobe_test import STROBE, Directory, check, main, test, wait_for


@test
def sighup_reports_changes_of_sources_and_sinks_that_require_a_restart():
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
                      ('restart' in c.lines[-1] or 'remove' in c.lines[-1]), f'the message names a remedy: {c.lines[-1]}')
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
            check(wait_for(lambda: any('stream=x&window=1 is closed' in line for line in c.lines)), f'the relay is closed: {c.lines}')
            write_config(config, **{**given, 'to': [store, relay + '&window=2']})
            c.hup('reloaded the configuration; sources: 3, sinks: 2')
            write_config(config, **given, quiet=True)
            c.hup('cannot change to another window=')
            write_config(config, **{**given, 'to': [store], 'allow-host': ['b.example']}, quiet=True)
            before = len(c.lines)
            c.hup('allow-host changed')
            write_config(config, **{**given, 'to': [store], 'allow-host': ['c.example']}, quiet=True)
            c.hup('allow-host changed')
            check(all('allow-host changed' in line for line in c.lines[before:]), f'quiet takes effect without a restart: {c.lines[before:]}')
            write_config(config, **{**given, 'to': [store]}, quiet=False)
            c.hup('reloaded the configuration')
            check(c.stop() == 0, 'exits with 0')
    with Directory() as directory:
        done = subprocess.run([STROBE, 'collect', '--listen', 'none', '--state', directory, '--from', '-', '--to', f'sqlite:{directory}/a',
                               '--to', f'{directory}/a/'], input='main;a 1', capture_output=True, text=True, timeout=60)
        check(done.returncode == 2 and f"two sinks write to '{directory}/a'" in done.stderr, f'{done.stderr}')


@test
def sighup_rejects_any_configuration_that_a_start_would_reject():
    with Directory() as directory:
        config, given = f'{directory}/c.yaml', {'from': [f'unix:{directory}/s'], 'to': [f'logs:{directory}/logs'], 'listen': '127.0.0.1:0',
                                                'store': f'sqlite:{directory}/a'}
        os.symlink(directory, f'{directory}/link')
        write(f'{directory}/short', 'short\n')
        os.chmod(f'{directory}/short', 0o600)
        write_config(config, **given)
        with ConfiguredServer(directory, config) as d:
            for other, sentence in [({'listen': 'nonsense'}, "invalid 'listen: nonsense'"),
                                    ({'listen': '0.0.0.0:80'}, 'can be reached from other machines'),
                                    ({'probe-listen': 'zz'}, "invalid 'probe-listen: zz'"),
                                    ({'listen': '127.0.0.1:1', 'probe-listen': '127.0.0.1:1'},
                                     "'probe-listen' 127.0.0.1:1 is the address of --listen; give it another port"),
                                    ({'trusted-proxy': ['junk']}, "invalid 'trusted-proxy: junk'; use an IP address"),
                                    ({'user-header': 'a b:'}, "invalid 'user-header: a b:'; use letters"),
                                    ({'writer': ['me']}, 'names users of a proxy; give its address'),
                                    ({'allow-host': ['a b/']}, "invalid 'allow-host: a b/'; use a host name"),
                                    ({'store': 'junk:x'}, "'junk:x' is not the URL of a store"),
                                    ({'store': 'sqlite:/proc/x'}, "/proc/x"),
                                    ({'store': f'{directory}/a'}, 'is not the address of a store'),
                                    ({'state': '/proc/x'}, "/proc/x"),
                                    ({'arclamp-metrics': '/nonexistent'}, "cannot open '/nonexistent'"),
                                    ({'token-file': '/nonexistent'}, "'/nonexistent' does not exist; create it with: openssl rand"),
                                    ({'read-token-file': f'{directory}/short'}, 'the token has 5 characters'),
                                    ({'arclamp': '/nonexistent'}, "cannot open '/nonexistent'")]:
                name = [*other][-1]
                place = '' if 'store' in other else f"{config}:1: " + (f"invalid '{name}: " if sentence.startswith('invalid') else f"'{name}'")
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
            check(d.stop() == 0, 'exits with 0')


@test
def sighup_rejects_an_address_in_use_by_another_program():
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
            check(d.stop() == 0, 'exits with 0')


@test
def an_error_about_a_list_item_names_its_line():
    with Directory() as directory:
        config, given = f'{directory}/c.yaml', f'from: [unix:{directory}/s]\nstore: sqlite:{directory}/a\nlisten: 127.0.0.1:0\n'
        write(config, given, 'w')
        with ConfiguredServer(directory, config) as d:
            for option, good, wrong in (('source-dir', directory, 'relative'), ('service-label', 'app', 'a b'),
                                        ('label-from', 'pod=env:POD_NAME', 'nonsense')):
                write(config, f'{given}{option}:\n  - {good}\n  - {wrong}\n', 'w')
                d.hup(f"was not applied: {config}:6: ")
                check(f"'{option}" in d.lines[-1], f'the error names the option: {d.lines[-1]}')
            check(d.stop() == 0, 'exits with 0')


@test
def an_error_about_a_source_or_sink_names_file_line_and_url_and_changes_nothing():
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
            check(wait_for(lambda: not os.path.exists(f'{directory}/s')), 'the socket is removed with the last source')
            check(c.stop() == 0, 'exits with 0')
        for key, url, sentence in wrong:
            configure(key, url)
            done = start()
            check(done.returncode == 2 and f'{config}:{number[key]}: ' in done.stderr and sentence in done.stderr and
                  'geheim' not in done.stderr, f'{url} at the start: {done.stderr}')
        write(config, json.dumps({'from': [socket], 'to': [f'{directory}/{i}' for i in range(9)]}), 'w')
        check('there are more than 8 sinks; remove some' in start().stderr, 'a start reports the same error')
        write(config, json.dumps({'from': [], 'to': [store]}), 'w')
        check("c.yaml:1: 'from' is empty, and with --listen none nothing can be pushed; add a source" in start().stderr, 'without pushes')
        with Collector(directory, '-c', config) as c:
            check(any('collecting from pushes only into' in line for line in c.lines), f'{c.lines}')
        with Collector(directory, '-c', config, environment={'STROBE_FROM': f'unix:{directory}/t'}) as c:
            check(any(f'collecting from unix:{directory}/t' in line for line in c.lines), f'{c.lines}')


main()
