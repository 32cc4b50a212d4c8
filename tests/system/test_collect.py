"""`strobe collect`: several sources and sinks in one daemon, sums that add up, counters over HTTP, units of systemd."""
import os
import re
import socket
import subprocess
import threading
import time
import urllib.error

from collector import Collector, publish, total, write
from daemon import Daemon
from redis_server import free_port
from strobe_test import ROOT, STROBE, Directory, Skip, check, main, test, wait_for
from wire import connect, message


@test
def the_counters_of_three_sources_and_two_sinks_are_consistent_at_any_time():
    with Directory() as directory:
        port, log, a, b = free_port(), f'{directory}/x.log', f'{directory}/a', f'{directory}/b'
        os.makedirs(f'{directory}/logs/hourly')
        write(f'{directory}/logs/hourly/2026-11-21_18.index.log', 'x 1\n')
        options = ['--from', f'unix:{directory}/s', '--from', f'resp://127.0.0.1:{port}', '--from', f'file:{log}',
                   '--arclamp-metrics', f'{directory}/logs', '--to', f'sqlite:{a}', '--to', f'sqlite:{b}']
        with Collector(directory, *options) as c:
            def send():
                s = connect(f'{directory}/s')
                for i in range(300):
                    s.send(message({('main', f'f{i % 40}'): 3}))
                    publish(port, [f'/srv/index.php;main;g{i % 30} 2'] * 5)
                    write(log, f'/srv/api.php;main;h{i % 20} 1\n' * 4)
                    if i % 30 == 15:            # neither side waits for long, however busy the machine is
                        wait_for(lambda: len(readings) > i // 30)

            sender, readings = threading.Thread(target=send), []
            sender.start()
            while sender.is_alive():
                readings.append(c.sums())
            sender.join()
            wanted = [900, 3000, 1200]
            check(wait_for(lambda: [s['samples']['stored'] for s in c.sums()['sources']] == wanted),
                  f'all samples are stored: {c.status()["sources"]}')
            check(len(readings) > 5, f'the counters were read while samples arrived: {len(readings)}')
            s = c.sums()
            check([k['samples']['stored'] for k in s['sinks']] == [5100, 5100], f'each sink stores all samples: {s["sinks"]}')
            metrics = c.get('/metrics')
            for line in [f'strobe_source_samples_stored_total{{source="unix:{directory}/s"}} 900',
                         f'strobe_sink_samples_handed_total{{sink="sqlite:{a}"}} 5100',
                         f'strobe_lines_received_total{{source="file:{log}"}} 1200', 'strobe_samples_stored_total 5100',
                         'strobe_ready 1', 'arclamp_log_bytes_total{period="hourly"} 4']:
                check(f'\n{line}\n' in metrics, f'/metrics contains {line}')
            text = subprocess.run([STROBE, 'status', '--url', c.url], capture_output=True, text=True).stdout
            check('900 samples received = 900 in all sinks + 0 dropped + 0 in flight' in text, f'strobe status shows the sums:\n{text}')
            check(c.get('/healthz') == 'ok\n', 'the liveness check succeeds')
            try:
                c.get('/')
                check(False, 'the collector serves no page')
            except urllib.error.HTTPError as e:
                check(e.code == 404 and 'counters only' in e.read().decode(), 'the 404 response states that only counters are served')
            check(c.stop() == 0, 'the collector exits with 0')
        check(total(directory, a) == 5100 and total(directory, b) == 5100, 'both stores return all samples')


@test
def hundreds_of_idle_http_connections_do_not_lock_out_other_clients():
    with Directory() as directory, Collector(directory, '--from', f'unix:{directory}/s', '--to', f'sqlite:{directory}/a') as c:
        address = ('127.0.0.1', int(c.url.rsplit(':', 1)[1]))
        request, crowd = f'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{address[1]}\r\n\r\n'.encode(), []
        start = time.monotonic()
        for i in range(400):
            crowd.append(socket.create_connection(address, timeout=25))
            # Nothing, a part of a header, or a whole request and then nothing more.
            crowd[-1].sendall([b'', request[:40], request][i % 3])
            if i % 40 == 0:
                c.get('/metrics', timeout=25)
        metrics = c.get('/metrics', timeout=25)
        seconds = time.monotonic() - start
        # A silent connection is closed after 30 s by itself: nobody waits for that.
        check(seconds < 25, f'other clients are answered without delay: {seconds:.1f} s in total')
        closed = int(re.search(r'^strobe_http_connections_evicted_total (\d+)', metrics, re.M).group(1))
        check(150 <= closed <= 250, f'idle connections are evicted: {closed} of 400')
        wait_for(lambda: any('HTTP connections' in line for line in c.lines))
        check(len([line for line in c.lines if 'HTTP connections' in line]) == 1, f'the limit is logged once: {c.lines}')
        crowd[-1].sendall(request)
        check(b'200 OK' in crowd[-1].recv(1000), 'the newest connection is still open')
        for s in crowd:
            s.close()


@test
def status_finds_a_collector_at_its_usual_address():
    with Directory() as directory, socket.socket() as serve, socket.socket() as collect:
        try:
            serve.bind(('127.0.0.1', 8787))
            collect.bind(('127.0.0.1', 8788))
        except OSError as e:
            raise Skip('another daemon has the usual ports') from e
        collect.close()
        with Collector(directory, '--from', f'unix:{directory}/s', '--to', f'sqlite:{directory}/a', '--listen', '127.0.0.1:8788'):
            shown = subprocess.run([STROBE, 'status'], capture_output=True, text=True, timeout=60)
            check(shown.returncode == 0 and 'at http://127.0.0.1:8788' in shown.stdout, f'{shown}')
        shown = subprocess.run([STROBE, 'status'], capture_output=True, text=True, timeout=60)
        check(shown.returncode == 2 and 'no daemon answers at http://127.0.0.1:8787' in shown.stderr, f'{shown}')


@test
def a_second_collector_on_the_same_state_directory_exits_with_2_and_names_the_first():
    with Directory() as directory:
        with Collector(directory, '--from', f'unix:{directory}/s', '--to', f'sqlite:{directory}/a') as c:
            second = subprocess.run([STROBE, 'collect', '--listen', 'none', '--state', f'{directory}/state', '--from',
                                     f'unix:{directory}/t', '--to', f'sqlite:{directory}/b'],
                                    capture_output=True, text=True, timeout=60)
            check(second.returncode == 2 and f'(pid {c.process.pid})' in second.stderr and '--state' in second.stderr,
                  f'{second.returncode}: {second.stderr}')
            check(not os.path.exists(f'{directory}/t'), 'no socket was created before the check')


@test
def a_collector_is_not_ready_while_no_source_is_up():
    with Directory() as directory:
        with Collector(directory, '--from', f'file:{directory}/x.log', '--to', f'sqlite:{directory}/a') as c:
            def ready():
                try:
                    return c.get('/readyz') == 'ok\n' and 'yes'
                except urllib.error.HTTPError as e:
                    return f'{e.code} {e.read().decode()}'

            check('503' in ready() and 'waiting for the file' in ready(), f'the response gives the reason: {ready()}')
            write(f'{directory}/x.log', 'main 1\n')
            check(wait_for(lambda: ready() == 'yes'), f'the collector is ready once the file exists: {ready()}')


@test
def a_port_in_use_for_the_counters_is_only_a_warning():
    with Directory() as directory, socket.socket() as busy:
        busy.bind(('127.0.0.1', 0))
        busy.listen()
        done = subprocess.run([STROBE, 'collect', '--from', '-', '--to', f'sqlite:{directory}/a', '--listen',
                               f'127.0.0.1:{busy.getsockname()[1]}'], input='main;a 1\n', capture_output=True, text=True,
                              timeout=60)
        check(done.returncode == 0 and 'counters are not served' in done.stderr and '1 stored' in done.stderr,
              f'{done.returncode}: {done.stderr}')


@test
def the_packaged_example_configurations_are_accepted():
    with Directory() as directory:
        with Daemon(directory, '-c', f'{ROOT}/packaging/strobe.yaml') as d:
            check(d.status()['store']['max_age_seconds'] == 30 * 86400, 'strobe serve reads strobe.yaml')
            check(d.stop() == 0, 'the daemon exits with 0')
        done = subprocess.run([STROBE, 'collect', '-c', f'{ROOT}/packaging/collect.yaml', '--from', '-', '--to',
                               f'sqlite:{directory}/a', '--listen', 'none'], input='main;a 1\n', capture_output=True, text=True)
        check(done.returncode == 0, f'strobe collect reads collect.yaml: {done.stderr}')


@test
def the_systemd_units_are_valid_and_sandboxed():
    units = [f'{ROOT}/packaging/systemd/{name}' for name in ['strobe.service.in', 'strobe-collect.service.in', 'strobe.socket.in',
                                                               'strobe-collect.socket.in', 'strobe-record.service.in']]
    with Directory() as directory:
        paths = []
        for unit in units:
            with open(unit) as f:
                text = f.read().replace('@bindir@/strobe', STROBE).replace('@sysconfdir@', '/etc')
            paths.append(f'{directory}/{os.path.basename(unit)[:-3]}')
            write(paths[-1], text, 'w')
            if unit.endswith('service.in') and 'record' not in unit:
                for line in ['Type=notify', 'WatchdogSec=', 'ProtectSystem=strict', 'NoNewPrivileges=yes',
                             'ExecReload=/bin/kill -HUP $MAINPID', 'MemoryMax=', 'SystemCallFilter=']:
                    check(f'\n{line}' in text, f'{os.path.basename(unit)} has {line}')
        if subprocess.run(['sh', '-c', 'command -v systemd-analyze'], capture_output=True).returncode:
            raise Skip('there is no systemd-analyze')
        done = subprocess.run(['systemd-analyze', 'verify', *paths], capture_output=True, text=True, timeout=60)
        said = [line for line in done.stderr.splitlines() if 'strobe' in line and 'man strobe' not in line]
        check(not said, f'systemd-analyze verify: {said}')
        for service in paths[:2]:
            done = subprocess.run(['systemd-analyze', 'security', '--offline=yes', '--threshold=15', '--no-pager', service],
                                  capture_output=True, text=True, timeout=60)
            check('--offline' in done.stderr or done.returncode == 0, f'the exposure level is at most 1.5: {done.stdout[-200:]}')


main()
