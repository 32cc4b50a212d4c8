"""ClickHouse with a server that is away or hangs, or behind a proxy that answers for it, and with labels that are lost: answers name what they miss, and what can come back does."""
import http.client
import http.server
import json
import threading
import time
import urllib.request

from clickhouse_pair import both, mortal, mortals, readiness, run_tests, servers, status_of
from clickhouse_samples import Page, collected, samples_of, stacks, stored
from strobe_test import Directory, check, test, wait_for


@test
def an_unavailable_shard_is_named_in_warnings_and_the_other_shard_is_shown():
    one, two = mortals()
    lines = stacks(5000)
    with Directory() as d:
        collected(lines, both('away', pair=mortal), directory=d)
        second = stored('away', two)
        with Page(d, both('away', pair=mortal)) as page:
            for away in (two.pause, two.kill):
                away()
                with urllib.request.urlopen(page.daemon.url + '/api/v1/profile?from=-2h', timeout=60) as r:
                    warning, answer = r.headers['Strobe-Warning'], json.loads(r.read())
                check(two.server in (warning or '') and one.server not in warning, f'the response header names the unavailable shard: {warning}')
                check(two.server in answer.get('warning', ''), 'the JSON response names it')
                check(answer['looked']['samples'] == samples_of(lines) - second, 'samples of the other shard are returned')
                with urllib.request.urlopen(page.daemon.url + '/api/v1/labels?from=-2h', timeout=60) as r:
                    check(two.server in (r.headers['Strobe-Warning'] or ''), 'the header of the labels response names it')
                    check(two.server in json.loads(r.read())['warning'], 'the JSON of the labels response names it')
                check(two.server in json.loads(page.get('/api/v1/timeline?from=-2h'))['warning'], 'the timeline names it')
                check(two.server in json.loads(page.get('/api/v1/runs'))['warning'], 'the list of runs names it')
                check(f'no answer from {two.server}' in page.get('/runs'), 'the page with the list of runs names it')
                check(two.server in page.get('/?from=-2h'), 'the flame graph page names it')
                answers = [(status_of(page, f'/api/v1/runs/shop/n{i}'), time.monotonic()) for i in range(2)]
                check(all(code == 503 and two.server in text for (code, text), _ in answers), f'a request for a run that the shard may store returns 503: {answers}')
                check(answers[1][1] - answers[0][1] < 5, f'the second request does not wait for the shard again: {answers}')
                began = time.monotonic()
                posted = [status_of(page, f'/api/v1/runs?source=shop&id={away.__name__}{i}', 'POST', b'main;work 3') for i in range(4)]
                check(all(code in (201, 503) for code, _ in posted), f'runs are stored or rejected with 503: {posted}')
                check(time.monotonic() - began < 25, f'storing runs does not wait long: {time.monotonic() - began}')
                if away is two.pause:
                    two.resume()
            two.start()
            answer = json.loads(page.get('/api/v1/profile?from=-2h'))
            check('warning' not in answer and answer['looked']['samples'] == samples_of(lines), 'all samples are returned once the shard is back')


@test
def a_client_with_a_short_timeout_gets_the_other_shard_and_a_warning_about_the_hanging_one():
    one, two = mortals()
    lines = stacks(500)
    with Directory() as d:
        collected(lines, both('patience', pair=mortal), directory=d)
        first = stored('patience', one)
        with Page(d, both('patience', pair=mortal)) as page:
            now = int(time.time() * 1000)
            body = {'profileTypeID': 'wall:samples:count:wall:nanoseconds', 'labelSelector': '{}', 'start': now - 7200_000, 'end': now}
            types = page.daemon.url + '/querier.v1.QuerierService/ProfileTypes'
            r = urllib.request.Request(types, json.dumps({'start': now - 7200_000, 'end': now}).encode(), {'Content-Type': 'application/json'})
            with urllib.request.urlopen(r, timeout=60) as answer:
                kinds = [t['ID'] for t in json.loads(answer.read())['profileTypes']]
            body['profileTypeID'] = next(k for k in kinds if ':samples:count:' in k)
            two.pause()
            try:
                r = urllib.request.Request(page.daemon.url + '/querier.v1.QuerierService/SelectMergeStacktraces', json.dumps(body).encode(),
                                           {'Content-Type': 'application/json', 'Connect-Timeout-Ms': '3000'})
                with urllib.request.urlopen(r, timeout=60) as answer:
                    warning, graph = answer.headers['Strobe-Warning'] or '', json.loads(answer.read())['flamegraph']
                check(two.server in warning and one.server not in warning, f'the header names the hanging shard: {warning}')
                check(int(graph['total']) == first, f'samples of the other shard are returned: {graph["total"]} of {first}')
            finally:
                two.resume()


@test
def a_daemon_is_not_ready_while_a_shard_hangs():
    one, two = mortals()
    with Directory() as d, Page(d, both('ready', pair=mortal)) as page:
        check(readiness(page)[:2] == (200, 'ok\n'), f'the daemon is ready at first: {readiness(page)}')
        two.pause()
        try:
            for _ in range(2):
                status, text, seconds = readiness(page)
                check(status == 503 and two.server in text and one.server not in text, f'the response names the hanging shard: {status} {text}')
                check(seconds < 5, f'readiness is answered within 5 s: {seconds}')
            one.pause()
            names = ', '.join(sorted((one.server, two.server)))
            check(wait_for(lambda: f'{names} do not answer' in readiness(page)[1], 30), f'the response names both shards: {readiness(page)}')
            one.resume()
            with urllib.request.urlopen(page.daemon.url + '/ingest?name=shop.cpu', data=b'main;work 3', timeout=20) as r:
                check(r.status == 200, 'samples are accepted and queued')
        finally:
            one.resume()
            two.resume()
        check(wait_for(lambda: readiness(page)[0] == 200, 30), f'the daemon is ready again: {readiness(page)}')


@test
def a_running_daemon_does_not_write_to_tables_upgraded_by_a_newer_strobe():
    pair = one, two = servers()
    with Directory() as d, Page(d, both('upgraded')) as page:
        pushed = []

        def push():
            pushed.append(status_of(page, '/ingest?name=shop', 'POST', ''.join(f'main;f{i} 3\n' for i in range(40)).encode())[0])
            return pushed[-1] == 200

        def sink():
            return json.loads(page.get('/api/v1/status'))['sinks'][0]

        def says_why(text):
            return f'the database \'upgraded\' at {two.server} has schema 2 of a newer Strobe, and this one knows 1' in text
        check(push() and wait_for(lambda: stored('upgraded', *pair) == 120), 'samples are stored before the upgrade')
        two.ask('INSERT INTO schema VALUES (2)', 'upgraded')
        status, text, _ = readiness(page)
        check(status == 503 and says_why(text), f'the daemon is not ready: {status} {text}')
        status, text = status_of(page, '/api/v1/profile?from=-1h')
        check(status == 503 and says_why(text), f'queries are rejected: {status} {text}')
        check(wait_for(lambda: time.sleep(0.5) or push() and sink()['failing'], 40), f'samples are queued: {sink()}')
        check(says_why(sink()['why']), f'the status gives the reason: {sink()}')
        rows = stored('upgraded', *pair)
        time.sleep(3)           # three more attempts
        check(push() and stored('upgraded', *pair) == rows, 'no more samples are written')
        said = [line for line in page.daemon.said.lines() if 'cannot store samples' in line]
        check(len(said) == 1 and says_why(said[0]), f'the log reports the reason once: {said}')
        two.ask('ALTER TABLE schema DELETE WHERE version = 2', 'upgraded')
        check(wait_for(lambda: stored('upgraded', *pair) == 120 * len(pushed), 60), f'no samples are lost: {sink()}')
        check(not sink()['failing'] and wait_for(lambda: readiness(page)[0] == 200, 30), f'the daemon is ready again: {readiness(page)}')


@test
def labels_lost_by_one_server_are_copied_from_the_others():
    one, two = pair = servers()
    unlabeled = lambda s: int(s.ask('SELECT count() FROM samples WHERE kind > 0 AND series NOT IN (SELECT series FROM series)', 'unlabeled'))
    lose = lambda s: s.ask('TRUNCATE TABLE series', 'unlabeled')
    with Directory() as d:
        for name in 'shop', 'blog':
            with Page(d, both('unlabeled')) as page:
                lines = ''.join(f'main;f{i} 3\n' for i in range(200))
                check(status_of(page, f'/ingest?name={name}', 'POST', lines.encode())[0] == 200, 'the samples are accepted')
                of = lambda n: samples_of(status_of(page, f'/api/v1/profile?from=-1h&service_name={n}&format=folded')[1].splitlines())
                check(wait_for(lambda: of(name) == 600), f'all samples are found: {of(name)}')
        lose(two)
        check(unlabeled(two) > 0, 'the server lost its labels')
        with Page(d, both('unlabeled')) as page:
            check(wait_for(lambda: of('shop') == of('blog') == 600, 20), f'the labels are restored: {of("shop")}, {of("blog")}')
            check(any('copied from the other servers' in line for line in page.daemon.said.lines()), 'the log reports the copied labels')
        for s in pair:
            lose(s)
        with Page(d, both('unlabeled')) as page:
            said = lambda: [line for line in page.daemon.said.lines() if 'no other server has them' in line]
            check(wait_for(lambda: len(said()) == 2, 20), f'the log reports labels that no server has: {page.daemon.said.lines()}')
        # Copies of the samples under other days, which have no labels either.
        columns = one.ask("SELECT name FROM system.columns WHERE database = 'unlabeled' AND table = 'samples'").split()
        latest = one.ask('SELECT max(day) FROM samples', 'unlabeled').strip()
        for days in range(1, 5):
            of_then = ', '.join(f"toDate('{latest}') - {days}" if c == 'day' else c for c in columns)
            one.ask(f"INSERT INTO samples ({', '.join(columns)}) SELECT {of_then} FROM samples WHERE day = '{latest}'", 'unlabeled')
        days = one.ask('SELECT uniqExact(day), min(day), max(day) FROM samples WHERE kind > 0', 'unlabeled').split()
        with Page(d, both('unlabeled')) as page:
            check(wait_for(lambda: len(said()) == 2, 20), f'one log line per server covers all days: {page.daemon.said.lines()}')
            check(any(f'has lost its rows of {days[0]} days from {days[1]} to {days[2]} in' in line for line in said()), f'{days}: {said()}')


class Gateway:
    """A proxy before a server, which passes requests on, or answers them with `instead`, a status and a body; or it sends the answers
    to queries of samples byte by byte (`drips`), or after so many seconds (`delay`)."""

    def __init__(self, server):
        self.instead, self.drips, self.delay = None, False, 0
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self):
                body = self.rfile.read(int(self.headers['Content-Length'] or 0))
                headers = {}
                if outer.instead:
                    status, data = outer.instead
                else:
                    c = http.client.HTTPConnection('127.0.0.1', server.port, timeout=60)
                    c.request(self.command, self.path, body, {'Content-Type': self.headers['Content-Type'] or 'text/plain'})
                    answer = c.getresponse()
                    status, data = answer.status, answer.read()
                    headers = {k: v for k, v in answer.getheaders() if k.startswith('X-')}
                    c.close()
                pieces = [data]
                if b'FROM samples' in body:
                    time.sleep(outer.delay)
                    pieces = [data[i:i + 1] for i in range(len(data))] if outer.drips else pieces
                self.send_response(status)
                for k, v in headers.items():
                    self.send_header(k, v)
                self.send_header('Content-Length', str(len(data)))
                self.end_headers()
                try:
                    for piece in pieces:
                        self.wfile.write(piece)
                        time.sleep(0.2 if outer.drips else 0)
                except OSError:
                    self.close_connection = True        # whoever asked has not waited for it

            do_GET = do_POST

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.server = f'127.0.0.1:{self.http.server_address[1]}'
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()


@test
def responses_of_a_program_other_than_clickhouse_are_not_accepted():
    one, two = servers()
    with Directory() as d, Gateway(two) as gateway, Page(d, one.url('gateway', f'?shards={one.server},{gateway.server}')) as page:
        def push(lines):
            return status_of(page, '/ingest?name=shop', 'POST', lines)[0]

        def samples():
            return samples_of(status_of(page, '/api/v1/profile?from=-1h&format=folded')[1].splitlines())

        def sink():
            return json.loads(page.get('/api/v1/status'))['sinks'][0]

        check(push(''.join(f'main;f{i} 3\n' for i in range(200)).encode()) == 200 and wait_for(lambda: samples() == 600), 'samples are stored before the failure')
        for step, (status, text) in enumerate(((503, b'Service Unavailable'), (200, b'<html>It works!</html>'), (200, b'')), 1):
            gateway.instead = status, text
            check(push(''.join(f'main;g{step}_{i} 3\n' for i in range(200)).encode()) == 200, 'the samples are accepted')
            check(wait_for(lambda: sink()['failing'], 30), f'{status} {text}: the sink reports a failure: {sink()}')
            check(sink()['samples']['stored'] == 600 * step, f'{sink()}')
            why = sink()['why']
            check(gateway.server in why and ('answered 503' in why if status == 503 else 'is not ClickHouse' in why), why)
            code, answer = status_of(page, '/api/v1/profile?from=-1h')
            if status == 503:
                check(code == 200 and gateway.server in json.loads(answer)['warning'], f'samples of the other server are returned with a warning: {code} {answer[:200]}')
            else:
                check(code >= 500 and 'is not ClickHouse' in answer, f'a wrong address is an error: {code} {answer[:200]}')
            gateway.instead = None
            check(wait_for(lambda: samples() == 600 * (step + 1), 60), f'every sample is stored once: {samples()}')


@test
def a_shard_that_responds_byte_by_byte_is_skipped_after_five_seconds():
    one, two = servers()
    lines = stacks(2000)
    with Directory() as d:
        collected(lines, both('dripping'), directory=d)
        second = stored('dripping', two)
        with Gateway(two) as gateway, Page(d, one.url('dripping', f'?shards={one.server},{gateway.server}')) as page:
            def found():
                began = time.monotonic()
                answer = json.loads(page.get('/api/v1/profile?from=-2h'))
                return answer['looked']['samples'], gateway.server in answer.get('warning', ''), time.monotonic() - began
            check(found()[:2] == (samples_of(lines), False), 'all samples are returned at first')
            gateway.drips = True
            samples, named, seconds = found()
            check(samples == samples_of(lines) - second and named, f'samples of the other shard and the name of the slow one are returned: {samples} {named}')
            check(5 <= seconds < 20, f'the query takes between 5 and 20 s: {seconds}')
            samples, named, seconds = found()
            check(samples == samples_of(lines) - second and named, f'the next query returns the same: {samples} {named}')
            check(seconds < 4, f'the next query does not wait for the slow shard: {seconds}')
            gateway.drips, gateway.delay = False, 7
            check(wait_for(lambda: found()[1] is False, 60), 'a response that starts late is waited for')
            check(found()[0] == samples_of(lines), 'all samples are returned')


run_tests()
