"""Sinks that are receivers of others, otlp:// and pyroscope://: one request per tenant, what an answer means, and what is said of errors."""
import gzip
import hashlib
import http.server
import subprocess
import threading
import time
from email.utils import formatdate

from daemon import Daemon
from pprof_file import Pprof, form
from strobe_test import STROBE, Directory, check, main, test, wait_for
from pushes import metric, push


class Receiver:
    """Answers each POST as `answers` says, of which the last one stays, and may be a function of the body; keeps the time, the tenant and
    the body of each."""

    def __init__(self, *answers):
        self.answers, self.requests, self.bodies = list(answers), [], []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self):
                outer.bodies.append(self.rfile.read(int(self.headers['Content-Length'])))
                outer.requests.append((time.monotonic(), self.headers['X-Scope-OrgID']))
                answer = outer.answers.pop(0) if len(outer.answers) > 1 else outer.answers[0]
                if not answer:
                    self.close_connection = True
                    return
                status, headers, text = (*(answer(outer.bodies[-1]) if callable(answer) else answer), b'')[:3]
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                if status != 204:
                    self.send_header('Content-Length', str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.at = f'127.0.0.1:{self.server.server_address[1]}'
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def sink(daemon):
    return next(s for s in daemon.status()['sinks'] if '://127' in s['url'])


@test
def series_are_sent_in_one_request_per_tenant():
    for scheme in 'otlp', 'pyroscope':
        with Receiver((500 if scheme == 'pyroscope' else 503, {}), (200, {})) as r, Directory() as d, Daemon(d, '--to', f'{scheme}://{r.at}') as daemon:
            for i in range(20):
                for tenant in 'team-1', 'team-2', None:
                    status, text = push(daemon, b'main;work 1', f'service{i}.cpu', headers={'X-Scope-OrgID': tenant} if tenant else {})
                    check(status == 200, f'{status} {text}')
            check(wait_for(lambda: sink(daemon)['samples']['stored'] == 60, 60), f'{sink(daemon)}')
            tenants = [tenant for _, tenant in r.requests]
            seconds = 1 + int(r.requests[-1][0] - r.requests[0][0])
            check(len(tenants) <= 3 * seconds + 1, f'{scheme}: {tenants} in {seconds} s')
            check(set(tenants) == {'team-1', 'team-2', None}, f'{scheme}: {tenants}')
            check(metric(daemon, 'strobe_export_rejected_samples_total') == 0, 'no samples are rejected')


def fields(message):
    """Pairs of number and bytes; numbers are left out."""
    at = 0

    def varint():
        nonlocal at
        n, shift = 0, 0
        while True:
            n, shift, at = n | (message[at] & 127) << shift, shift + 7, at + 1
            if message[at - 1] < 128:
                return n
    while at < len(message):
        key = varint()
        if key & 7 == 2:
            size = varint()
            yield key >> 3, message[at:at + size]
            at += size
        else:
            varint()


@test
def strings_that_pyroscope_would_reject_are_sanitized():
    with Receiver((200, {})) as r, Directory() as d, Daemon(d, '--to', f'pyroscope://{r.at}') as daemon:
        types = (('lock-waits', 'count'), ('cpu', 'nanoseconds'))
        body, kind = form(profile=Pprof(types, [([('main', 'a.php', 1)], (5, 6), {})], time.time_ns(), ('cpu', 'nanoseconds'), 10**7).gzip())
        check(push(daemon, body, kind=kind, name='shop')[0] == 200, 'a type with a dash is accepted')
        check(push(daemon, b'main;work 3', name=b'lab.wall{where=K\xf6ln}')[0] == 200, 'a label that is not UTF-8 is accepted')
        check(wait_for(lambda: sum(len(list(fields(body))) for body in r.bodies) == 2, 30), f'both are sent: {daemon.lines}')
        series = [list(fields(s)) for body in r.bodies for _, s in fields(body)]
        labels = [dict(zip(*[iter(part for _, part in fields(pair))] * 2)) for s in series for n, pair in s if n == 1]
        check({b'where': 'K\ufffdln'.encode()} in labels, f'{labels}')
        pprofs = [gzip.decompress(dict(fields(sample))[1]) for s in series for n, sample in s if n == 2]
        strings = [text for p in pprofs for n, text in fields(p) if n == 6]
        check(b'lock_waits' in strings and not any(b'lock-waits' in text for text in strings), f'{strings}')


@test
def every_2xx_status_counts_as_success():
    for scheme in 'otlp', 'pyroscope':
        for status in 202, 204:
            with Receiver((status, {})) as r, Directory() as d, Daemon(d, '--to', f'{scheme}://{r.at}') as daemon:
                push(daemon, b'main;work 3')
                check(wait_for(lambda: r.requests, 30), 'the profile is sent')
                daemon.stop()
                check(not any('rejected profiles' in line for line in daemon.lines), f'{scheme} {status}: {daemon.lines}')


@test
def retries_honor_the_retry_after_header():
    for date in False, True:
        after = formatdate(time.time() + 5, usegmt=True) if date else '4'
        with Receiver((429, {'Retry-After': after}), (200, {})) as r, Directory() as d, Daemon(d, '--to', f'otlp://{r.at}') as daemon:
            push(daemon, b'main;work 3')
            check(wait_for(lambda: len(r.requests) == 2, 60), f'the request is retried: {daemon.lines}')
            check(r.requests[1][0] - r.requests[0][0] > 2.5, f'the retry came {r.requests[1][0] - r.requests[0][0]} s later, with Retry-After: {after}')


@test
def errors_name_the_sink_by_its_configured_url():
    with Receiver(None) as r, Directory() as d, Daemon(d, '--to', f'otlp://{r.at}') as daemon:
        push(daemon, b'main;work 3')
        check(wait_for(lambda: any(f'otlp://{r.at} closed the connection' in line for line in daemon.lines), 30), f'{daemon.lines}')
        check(not any(f'http://{r.at}' in line for line in daemon.lines), f'{daemon.lines}')


@test
def the_status_shows_the_reason_of_a_failing_sink_between_retries():
    with Receiver((200, {})) as r:
        at = r.at
    for scheme in 'otlp', 'pyroscope':
        with Directory() as d, Daemon(d, '--to', f'{scheme}://{at}') as daemon:
            push(daemon, b'main;work 3')
            check(wait_for(lambda: sink(daemon)['why'], 30), 'the sink fails')
            said = set()
            # Retries come after 1, 2 and 4 seconds, so that most of these are in between.
            for _ in range(20):
                said.add(sink(daemon)['why'])
                time.sleep(0.2)
            check(all('Connection refused' in why for why in said), f'{said}')
            check(any('; retrying in ' in why for why in said), f'{said}')


@test
def the_status_shows_the_store_as_complete_beside_a_failing_sink():
    with Receiver((503, {})) as r, Directory() as d, Daemon(d, '--to', f'otlp://{r.at}') as daemon:
        push(daemon, b'main;work 3')
        check(wait_for(lambda: sink(daemon)['samples']['queued'] == 3 and daemon.status()['store']['samples_stored'] == 3, 30), f'{daemon.status()}')
        store = next(s for s in daemon.status()['sinks'] if s['url'].startswith('sqlite:'))
        check(wait_for(lambda: daemon.status()['samples']['queued'] == 3 and store['samples']['stored'] == 3, 30), f'{store}')
        text = subprocess.run([STROBE, 'status', '--url', daemon.url], capture_output=True, text=True, check=True).stdout
        check('3 received, 0 in all sinks, 3 queued for at least one (each sink is below)' in text, text)
        check('3 samples handed = 3 stored + 0 queued' in text and '3 samples handed = 0 stored + 3 queued' in text, text)
        text = subprocess.run([STROBE, 'doctor', '--url', daemon.url], capture_output=True, text=True).stdout
        check(f'3 received, 3 stored in {store["url"]}, 0 stored in otlp://{r.at}' in text, text)


def services_of(body):
    """The values of service_name of a request to Pyroscope, in order."""
    series = [list(fields(s)) for _, s in fields(body)]
    labels = [dict(zip(*[iter(part for _, part in fields(pair))] * 2)) for s in series for n, pair in s if n == 1]
    return [pair[b'service_name'].decode() for pair in labels if b'service_name' in pair]


@test
def series_that_pyroscope_stored_from_a_failed_request_are_not_resent():
    """Each series is stored on its own since 1.15; the answer names the others by their place."""
    stored, held_up = [], []

    def judge(body):
        errors = []
        for i, service in enumerate(services_of(body)):
            why = 'invalid_argument: it is refused' if service.startswith('bad') else ''
            if service.startswith('late') and service not in held_up:
                held_up.append(service)
                why = 'unavailable: no segment writer'
            if why:
                errors.append(f'push series with index {i} and id  failed: {why}')
            else:
                stored.append(service)
        text = f'{len(errors)} errors: ' * (len(errors) > 1) + '; '.join(errors)
        return (500, {'Content-Type': 'application/json'}, f'{{"code":"unknown","message":"{text}"}}'.encode()) if errors else (200, {})
    with Receiver(judge) as r, Directory() as d, Daemon(d, '--to', f'pyroscope://{r.at}') as daemon:
        names = [f'{kind}{i}' for i in range(9) for kind in ('good', 'bad', 'late')]
        for name in names:
            check(push(daemon, b'main;work 1', f'{name}.cpu')[0] == 200, 'the push is accepted')
        check(wait_for(lambda: len(stored) == 18 and not sink(daemon)['samples']['queued'], 60), f'{stored} {sink(daemon)}')
        check(sorted(stored) == sorted(name for name in names if not name.startswith('bad')), f'every valid series is stored once: {sorted(stored)}')
        check(metric(daemon, 'strobe_export_rejected_samples_total') + sink(daemon)['samples']['dropped']['rejected'] >= 9, 'the rejected series are counted')
        check(metric(daemon, 'strobe_export_rejected_samples_total') == 9, 'no other series is counted as rejected')


@test
def a_rejected_series_is_soon_isolated_from_the_others():
    for scheme in 'otlp', 'pyroscope':
        of = {'otlp': gzip.decompress, 'pyroscope': bytes}[scheme]

        def judge(body):
            return (400, {}) if b'bad-one' in of(body) else (200, {})
        with Receiver(judge) as r, Directory() as d, Daemon(d, '--to', f'{scheme}://{r.at}') as daemon:
            rejected = []
            for turn in range(1, 9):
                before, requests = metric(daemon, 'strobe_export_rejected_samples_total'), len(r.requests)
                names = [f'service{i}' for i in range(99)] + ['bad-one']
                for name in names:
                    check(push(daemon, b'main;work 1', f'{name}.cpu')[0] == 200, 'the push is accepted')
                finished = lambda of: of['handed'] == 100 * turn and not of['queued']
                check(wait_for(lambda: finished(sink(daemon)['samples']), 30), f'{sink(daemon)}')
                rejected.append(metric(daemon, 'strobe_export_rejected_samples_total') - before)
                check(len(r.requests) - requests < 150, f'fewer than 150 requests are needed: {len(r.requests) - requests}')
            check(rejected[-1] == rejected[-2] == 1, f'{scheme}: the invalid series is finally rejected alone: {rejected}')
            check(sum(rejected) < 300, f'{scheme}: fewer than 300 samples are rejected in total: {rejected}')


@test
def a_request_body_that_is_too_large_is_split():
    for scheme in 'otlp', 'pyroscope':
        with Receiver(lambda body: (413, {}) if len(body) > 30000 else (200, {})) as r, Directory() as d, Daemon(d, '--to', f'{scheme}://{r.at}') as daemon:
            for i in range(40):
                lines = ''.join(f'main;{hashlib.sha256(f"{i} {k}".encode()).hexdigest()} 1\n' for k in range(60))
                check(push(daemon, lines.encode(), f'service{i}.cpu')[0] == 200, 'the push is accepted')
            check(wait_for(lambda: sink(daemon)['samples']['stored'] == 2400, 60), f'{scheme}: {sink(daemon)}')
            check(metric(daemon, 'strobe_export_rejected_samples_total') == 0, f'{scheme}: no samples are rejected')
            check(any(len(body) > 30000 for body in r.bodies), f'{scheme}: some requests were too large')


main()
