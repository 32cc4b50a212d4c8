"""SIGHUP to `strobe collect`: sources and sinks are added and removed under load, and nothing is lost or counted twice."""
import contextlib
import json
import os
import random
import threading
import time

from collector import Collector, publish, total, write, write_config
from redis_server import Client, RedisServer, free_port
from strobe_test import Directory, check, main, test, wait_for
from wire import connect, message


@test
def sighup_adds_and_removes_sources_and_sinks_without_loss():
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
                  f'sources are closed once drained: {c.lines}')
            check(not os.path.exists(f'{directory}/s'), 'the socket is removed')
            write(second, ''.join(f'/srv/e{i}.php;main 1\n' for i in range(20)))
            check(wait_for(lambda: [k['samples']['stored'] for k in c.sums()['sinks']] == [527, 20]),
                  f'the new sink has later samples: {c.status()["sinks"]}')
            check(wait_for(lambda: c.status()['samples']['label_values_folded'] >= 15), 'the new cap of label values holds')
            for text, sentence in [('form: [x]', "c.yaml:1: unknown key 'form'; did you mean 'from'?"),
                                   ('from: [', 'was not applied'), ('to: [nonsense:x]', 'was not applied'),
                                   (json.dumps({'from': [f'file:{second}', 'unix:/nonexistent/x'], 'to': [f'sqlite:{b}']}),
                                    'was not applied'),
                                   (json.dumps({'from': [f'file:{second}', f'file:{second}?channel=x'], 'to': [f'sqlite:{b}']}),
                                    'remove one of them')]:
                write(config, text, 'w')
                c.hup(sentence)
                check([k['url'] for k in c.sums()['sinks']] == [f'sqlite:{a}', f'sqlite:{b}'], f'both sinks exist after {text}')
            write_config(config, **{'from': [f'file:{second}'], 'to': [f'sqlite:{b}'], 'token-file': token})
            c.hup('token-file changed; restart to apply')
            check(wait_for(lambda: any(f'sqlite:{a} is closed' in line for line in c.lines)), 'a sink is closed once drained')
            write(second, 'main;z 1\n')
            check(wait_for(lambda: c.sink(f'sqlite:{b}')['samples']['stored'] == 21), 'the other sink continues')
            check(c.stop() == 0, 'exits with 0')
        check(total(directory, a) == 527 and total(directory, b) == 21, 'nothing is lost or duplicated')


@test
def a_stream_source_removed_and_added_again_by_sighup_loses_no_relayed_samples():
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

            check(send_and_wait(20), f'samples of the relay are stored: {c.status()["samples"]}')
            check(wait_for(lambda: c.status()['sources'][0]['stream']['pending'] == 0), 'all are acknowledged')
            write_config(config, **without)
            c.hup('reloaded the configuration')
            check(wait_for(lambda: any('everything received from it is stored' in line for line in c.lines)), f'the stream source is closed: {c.lines}')
            write_config(config, **with_stream)
            c.hup('reloaded the configuration')
            check(send_and_wait(40), f'samples of the added stream are stored: {c.status()["samples"]}')
            n = relay.sums()['sinks'][0]
            check(n['up'] and n['counts']['relay_received_samples_total'] == 40, f'the relay has forwarded everything: {n}')
            check(relay.stop() == 0 and c.stop() == 0, 'both exit with 0')
        check(total(center, f'{center}/a') == 40, 'nothing is lost or duplicated')


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
def two_hundred_random_reloads_under_traffic_neither_lose_nor_duplicate_samples():
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
            check(all(traffic.sent.values()), f'every kind of source has received samples: {traffic.sent}')
            check(wait_for(lambda: c.sink(a)['samples']['stored'] == sent), f'{traffic.sent}: {c.sums()["samples"]} {c.status()["sources"]}')
            # Removed sinks may still be flushing their queues.
            check(wait_for(lambda: c.sums()['samples']['stored'] == c.sums()['samples']['received'] == sent), f'{c.status()["samples"]}')
            applied = sum('reloaded the configuration' in line for line in c.lines)
            check(applied > 100, f'{applied} were valid')
            check(not any('was not added' in line for line in c.lines), 'each waiting source was opened')
            check(c.stop() == 0, 'exits with 0')
        check(total(directory, f'{directory}/a') == sent, 'nothing is lost or duplicated')


main()
