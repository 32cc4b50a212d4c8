#!/usr/bin/env python3
"""Redis with TLS: channels, streams, relays and clusters over it count as without, and what is wrong with a certificate or a peer is
said in one sentence."""
import os
import shutil
import signal
import subprocess
import time

from collector import Collector, logged, publish, total, write
from relay import Relay, Stream, one
from strobe_test import STROBE, Directory, check, main, test, wait_for
from tls_server import Certificates, TlsCluster, TlsServer, with_parameter

MEGABYTE = 1 << 20


def long_line(number, size):
    """A folded line of about so many bytes."""
    return f'main;f{number};' + ';'.join('x' * 200 for _ in range(size // 201)) + ' 1'


def stored(d, count, seconds=60):
    """Waits until so many samples are stored, and not one more."""
    wait_for(lambda: d.status()['samples']['stored'] >= count, seconds)
    n = d.sums()['samples']
    return check(n['stored'] == count == n['received'], f'{count} samples: {n}')


def collect(directory, url, *options):
    return Collector(directory, '--from', url, '--to', f'sqlite:{directory}/store', *options)


@test
def rapidly_published_messages_are_counted_exactly_over_tls():
    with Certificates() as c, TlsServer(c) as r, Directory() as directory, collect(directory, r.url('?channel=excimer')) as d:
        r.wait_for_subscriber('excimer')
        publish(r.port, [f'main;f{i % 7} 1' for i in range(2000)])
        stored(d, 2000)
        publish(r.port, [long_line(i, MEGABYTE - 4096) for i in range(12)])      # of many records, and more than is read ahead
        stored(d, 2012)
        d.process.send_signal(signal.SIGSTOP)
        publish(r.port, [long_line(i, 1000) for i in range(1000)])       # the socket holds them: Redis 7.0 hangs up if it is full
        d.process.send_signal(signal.SIGCONT)
        stored(d, 3012)
        publish(r.port, ['main;last 1'])
        stored(d, 3013)
        check(d.stop() == 0, 'exits with 0')
        check(total(directory, f'{directory}/store') == 3013, 'all are in the store')


@test
def a_stream_is_read_and_acknowledged_over_tls():
    with Certificates() as c, TlsServer(c, password='secret', user='reader') as r, Directory() as directory:
        admin = r.connect()
        admin.pipeline([('XADD', 's', '*', 'line', long_line(i, 20000)) for i in range(600)], at_once=50)
        with collect(directory, r.url('?stream=s&group=g')) as d:
            stored(d, 600)
            admin.pipeline([('XADD', 's', '*', 'line', f'main;g{i} 1') for i in range(2000)])
            stored(d, 2600)
            check(wait_for(lambda: admin.command('XPENDING', 's', 'g')[0] == 0), 'all are acknowledged')
            admin.command('XADD', 's', '*', 'line', 'main;last 1')
            stored(d, 2601)
            check(d.stop() == 0, 'exits with 0')
        check(admin.command('XPENDING', 's', 'g')[0] == 0, 'all are acknowledged after shutdown')
        admin.close()


@test
def a_relay_loses_nothing_when_the_server_is_restarted():
    with Certificates() as c, Directory() as d, TlsServer(c, '--appendonly', 'yes', '--appendfsync', 'always') as r, \
            Relay(d, r.url('?stream=strobe&window=0')) as relay:
        sent = 0
        for restart in (signal.SIGTERM, signal.SIGKILL, None):
            for _ in range(20):
                relay.send(one(f'f{sent}'))
                sent += 1
                time.sleep(0.02)
            if restart:
                check(wait_for(lambda: relay.figure('forwarded_samples_total') > 0), 'some are forwarded before the restart')
                r.restart(restart, down=1)
        relay.send(one('large', labels={f'l{i}': 'x' * 200 for i in range(10)}))
        check(relay.wait_until_forwarded(sent + 1), 'all are forwarded')
        s = Stream(r)
        check(s.total() == sent + 1 and all(n == 1 for n in s.sums.values()), f'each is counted once: {s.total()} of {sent + 1}')
        check(relay.is_exact(), 'the counters add up')
        check(relay.end() == 0, 'exits with 0')


@test
def large_entries_are_forwarded_over_tls():
    with Certificates() as c, Directory() as d, TlsServer(c) as r, Relay(d, r.url('?stream=strobe&window=1')) as relay:
        for i in range(40):
            relay.send(*[one(f'{"y" * 900}{i}.{k}') for k in range(50)])
        check(relay.wait_until_forwarded(2000), 'all are forwarded')
        check(Stream(r).total() == 2000, 'all are stored')


@test
def the_nodes_of_a_cluster_are_connected_over_tls():
    with Certificates() as c, Directory() as d, TlsCluster(c) as cluster:
        keys, ca = 8, f'&ca-file={c.path("ca.pem")}'
        home = f'rediss://127.0.0.1:{cluster.nodes[0].tls_port}/?stream=strobe&keys={keys}'
        hosts = [f'host{i}' for i in range(5)]
        for host in hosts:
            with Relay(d, f'{home}&window=0&host={host}{ca}', state=f'state-{host}') as relay:
                relay.send(one(host, 3))
                check(relay.wait_until_forwarded(3), f'samples of {host} are forwarded')
        with collect(d, f'{home}&group=g{ca}') as reader:
            stored(reader, 3 * len(hosts))
        used = [n for n in cluster.nodes if int(n.command('DBSIZE'))]
        check(len(used) == len(cluster.nodes), 'all nodes are used')


# --- Failures ---

def says(url, words, seconds=30):
    """A relay and a subscriber log one line each with these words about this Redis."""
    with Directory() as directory, Collector(directory, '--from', with_parameter(url, 'channel=c'), '--to', f'logs:{directory}/logs') as subscriber, \
            Relay(directory, with_parameter(url, 'stream=s&window=0'), state='relay') as relay:
        relay.send(one('a'))
        for who, lines in (('subscriber', subscriber.lines), ('relay', relay.lines)):
            wait_for(lambda lines=lines: any(words in line for line in lines), seconds)
            said = [line for line in lines if words in line]
            check(len(said) == 1, f'the {who} says "{words}": {lines}')
        check(relay.figure('waiting_samples') == 1, 'the sample is queued')


def works(url):
    with Directory() as directory, Collector(directory, '--from', with_parameter(url, 'channel=c'), '--to', f'logs:{directory}/logs') as subscriber, \
            Relay(directory, with_parameter(url, 'stream=s&window=0'), state='relay') as relay:
        relay.send(one('a'))
        check(relay.wait_until_forwarded(1), f'a sample is forwarded: {relay.lines}')
        check(wait_for(lambda: any('subscribed to' in line for line in subscriber.lines)), f'a channel is subscribed to: {subscriber.lines}')


@test
def a_server_certificate_must_be_trusted_valid_and_issued_for_the_host():
    with Certificates() as c:
        with TlsServer(c) as r:
            says(r.url(ca='stranger'), f"no authority in '{c.path('stranger.pem')}' (ca-file=) has signed it")
            says(r.url(ca=None), 'no authority that this system knows has signed it; name the authority with ca-file=FILE')
            says(r.url() + '&server-name=redis.example', "its certificate is not for 'redis.example'")
            works(r.url().replace('127.0.0.1', 'localhost'))
            works(r.url('?verify=no', ca=None))
        with TlsServer(c, certificate='elsewhere') as r:
            says(r.url(), "its certificate is not for '127.0.0.1'; use a host that the certificate names, or server-name=NAME")
            works(r.url() + '&server-name=redis.example')
        with TlsServer(c, certificate='expired') as r:
            says(r.url(), 'its certificate has expired')
        with TlsServer(c, certificate='client') as r:
            says(r.url() + '&server-name=web7', 'its certificate is not trusted')


@test
def client_certificates_are_supported():
    with Certificates() as c:
        with TlsServer(c, clients='yes') as r:
            says(r.url(), 'does it require a client certificate? Give cert-file=FILE and key-file=FILE')
            says(r.url() + f'&cert-file={c.path("stranger.pem")}&key-file={c.path("stranger.key")}',
                 f"it does not accept our certificate '{c.path('stranger.pem')}' (cert-file=)")
            works(r.url() + f'&cert-file={c.path("client.pem")}&key-file={c.path("client.key")}')
            with open(c.path('both.pem'), 'w') as f:
                f.writelines(open(c.path(name)).read() for name in ('client.pem', 'client.key'))
            works(r.url() + f'&cert-file={c.path("both.pem")}')
            done = subprocess.run([STROBE, 'collect', '--from', r.url('?channel=c') + f'&cert-file={c.path("client.pem")}&key-file={c.path("server.key")}',
                                   '--to', f'sqlite:{c.path("store")}', '--state', c.path('state'), '--listen', 'none'],
                                  capture_output=True, text=True, timeout=30)
            check(done.returncode == 2 and 'cannot use the certificate' in done.stderr, f'a mismatching key is rejected at startup: {done.stderr}')
        with TlsServer(c, '--tls-protocols', 'TLSv1.2', clients='yes') as r:
            says(r.url(), 'does it require a client certificate? Give cert-file=FILE and key-file=FILE')
            works(r.url() + f'&cert-file={c.path("client.pem")}&key-file={c.path("client.key")}')


@test
def tls_on_one_side_only_is_reported():
    with Certificates() as c, TlsServer(c) as r:
        says(f'redis://127.0.0.1:{r.tls_port}/?', 'does it require TLS (rediss://)?')
        says(r.url().replace(str(r.tls_port), str(r.port)), 'TLS on this port')


@test
def a_renewed_ca_file_is_reloaded():
    with Certificates() as c, TlsServer(c) as r, Directory() as d:
        shutil.copy(c.path('stranger.pem'), c.path('new.pem'))
        with Relay(d, r.url('?stream=s&window=0', ca='new')) as relay:
            relay.send(one('a'))
            check(wait_for(lambda: any('no authority in' in line for line in relay.lines)), 'the certificate of another authority is rejected')
            os.unlink(c.path('new.pem'))
            check(wait_for(lambda: any('cannot read' in line for line in relay.lines), 90), f'then the file is missing: {relay.lines}')
            shutil.copy(c.path('ca.pem'), c.path('new.pem'))
            check(relay.wait_until_forwarded(1, 90), 'forwarded once the certificate is valid')


@test
def ssl_in_the_arc_lamp_configuration_enables_tls():
    with Certificates() as c, TlsServer(c) as r, Directory() as directory:
        write(f'{directory}/a.yaml', f'''
base_path: {directory}/logs
redis: {{host: localhost, port: {r.tls_port}, ssl: true, ssl_ca_certs: {c.path("ca.pem")}}}
redis_channel: excimer
logs: [{{period: hourly, format: "%Y-%m-%d_%H", retain: 2}}]
''', 'w')
        with Collector(directory, '--arclamp', f'{directory}/a.yaml') as d:
            r.wait_for_subscriber('excimer')
            publish(r.port, ['/srv/index.php;main 1'] * 100)
            check(wait_for(lambda: logged(directory).get('hourly all', b'').count(b'\n') == 100), f'all lines are logged: {d.lines}')


@test
def no_password_is_sent_to_an_unverified_server():
    with Certificates() as c, TlsServer(c, certificate='elsewhere', password='secret') as r:
        with Directory() as directory, Relay(directory, r.url('?stream=s&window=0', login=':wrong@')) as relay:
            relay.send(one('a'))
            check(wait_for(lambda: any('is not for' in line for line in relay.lines)), 'the wrong host name is reported')
            check(',failed_calls=0' in r.info('commandstats')['cmdstat_auth'], 'no password was sent')


if __name__ == '__main__':
    main()
