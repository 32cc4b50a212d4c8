#!/usr/bin/env python3
"""Queries and slow readers beside the daemon: their cost is bounded, and does not affect others."""
import json
import os
import random
import re
import signal
import socket
import subprocess
import threading
import urllib.error
import urllib.request

from daemon import Daemon
from strobe_test import Directory, STROBE, check, main, test, wait_for

FOLDED = '/api/v1/profile?from=-1d&format=folded'
TOKEN, PROBE_TOKEN = 'a' * 32, 'b' * 32


def fill(directory, stacks, depth):
    """Stores so many different stacks, one sample each; 40 of them share a beginning."""
    names = [f'App\\Module{i % 97}\\Class{i}::method{i}' for i in range(2000)]
    lines = []
    for i in range(stacks):
        shared, own = random.Random(i // 40), random.Random(-i - 1)
        lines.append(';'.join(['index.php', *shared.choices(names, k=depth * 2 // 3), *own.choices(names, k=depth // 3)]))
    r = subprocess.run([STROBE, 'collect', '--from', '-', '--to', f'sqlite:{directory}/state', '--listen', 'none'],
                       input=''.join(f'{line} 1\n' for line in lines), capture_output=True, text=True)
    check(f'{stacks} stored' in r.stderr, f'the stacks are stored: {r.stderr}')
    return lines


def ask(d, path, **headers):
    """Returns status, headers and body; 0 if the connection ended."""
    try:
        with urllib.request.urlopen(urllib.request.Request(d.url + path, headers=headers), timeout=300) as r:
            return r.status, r.headers, r.read().decode()
    except urllib.error.HTTPError as e:
        with e:
            return e.code, e.headers, e.read().decode()
    except OSError:
        return 0, {}, ''


def ask_many(d, path, count):
    """Different questions, by the text "{n}" in them."""
    answers = []
    threads = [threading.Thread(target=lambda n=n: answers.append(ask(d, path.format(n=n)))) for n in range(1, count + 1)]
    for t in threads:
        t.start()
    return threads, answers


def metric(d, name):
    return int(re.search(rf'^{re.escape(name)} (\d+)$', d.get('/metrics'), re.M).group(1))


def children(pid):
    found = []
    for name in os.listdir('/proc'):
        try:
            with open(f'/proc/{name}/stat') as f:
                found += [int(name)] if int(f.read().rsplit(')', 1)[1].split()[1]) == pid else []
        except (OSError, ValueError):
            pass
    return found


def most_memory(pid):
    """The most that the process itself has had, in MB."""
    with open(f'/proc/{pid}/status') as f:
        return int(re.search(r'VmHWM:\s+(\d+)', f.read()).group(1)) // 1024


def connect_slowly(d, path):
    """Sends a request, reads the beginning of the answer and leaves the rest."""
    host, port = d.url[7:].split(':')
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.settimeout(300)
    s.connect((host, int(port)))
    s.sendall(f'GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n'.encode())
    return s, s.recv(100)


@test
def a_query_above_the_memory_limit_is_pruned_with_a_warning():
    with Directory() as directory:
        fill(directory, 20000, 45)
        with Daemon(directory, '--query-memory', '64M') as d:
            threads, answers = ask_many(d, FOLDED, 4)
            for t in threads:
                t.join()
            good = [a for a in answers if a[0] == 200]
            check(good, f'at least one query is answered: {answers}')
            for status, headers, text in answers:
                if status == 200:
                    check(re.search(r'the smallest stacks, with \d+ of 20000 samples, are cut short at \[pruned\]',
                                    headers.get('Strobe-Warning', '')), f'the response has a warning: {headers}')
                    check(sum(int(line.rsplit(' ', 1)[1]) for line in text.splitlines()) == 20000, 'the total is correct')
                else:
                    check(status == 503 and headers['Retry-After'], f'other queries are rejected with 503: {status} {text}')
            status, _, text = ask(d, '/api/v1/functions?from=-1d&limit=3')
            answer = json.loads(text)
            check(status == 200 and 'cut short at [pruned]' in answer['warning'] and answer['total'] == 20000,
                  f'the JSON response contains the warning: {text[:300]}')
            check(metric(d, 'strobe_queries_pruned_total') >= 2, 'pruned queries are counted')
            check(metric(d, 'strobe_query_memory_max_bytes') == 64 << 20, 'the metrics include the memory limit')
            check(wait_for(lambda: metric(d, 'strobe_query_memory_bytes') == 0), 'all memory is released')
        with Daemon(directory) as d:
            status, headers, text = ask(d, FOLDED)
            check(status == 200 and 'Strobe-Warning' not in headers and len(text.splitlines()) == 20000,
                  'the result is complete with the default limit')


@test
def slow_clients_hold_little_memory():
    with Directory() as directory:
        lines = fill(directory, 10000, 45)
        with Daemon(directory) as d:
            readers = [connect_slowly(d, FOLDED) for _ in range(40)]
            check(all(head.startswith(b'HTTP/1.1 200') for _, head in readers), 'all clients are answered')
            size = len(ask(d, FOLDED)[2])
            check(size > 10 << 20, f'every response is larger than 10 MB: {size >> 20} MB')
            check(most_memory(d.process.pid) < 80, f'the daemon uses less than 80 MB: {most_memory(d.process.pid)} MB')
            held = metric(d, 'strobe_query_memory_bytes')
            check(40 << 16 < held < 40 * size // 5, f'the memory held for the clients is counted: {held >> 20} MB of {40 * size >> 20}')
            pieces, s = [], readers[7][0]           # thousands of them
            while piece := s.recv(1 << 20):
                pieces.append(piece)
            text = b''.join(pieces).split(b'\r\n\r\n', 1)[1].decode()
            check(sorted(text.splitlines()) == sorted(f'{line} 1' for line in lines), 'a client that resumes reading gets the complete response')
            for s, _ in readers:
                s.close()
            check(wait_for(lambda: metric(d, 'strobe_query_memory_bytes') == 0), 'the memory is released')


def post(d, path, body):
    try:
        with urllib.request.urlopen(urllib.request.Request(d.url + path, data=body, method='POST'), timeout=300) as r:
            return r.status, r.headers, r.read().decode()
    except urllib.error.HTTPError as e:
        with e:
            return e.code, e.headers, e.read().decode()


@test
def large_uploads_are_rejected_while_queries_and_responses_hold_the_memory():
    with Directory() as directory, Daemon(directory, '--query-memory', '64M') as d:
        # Names that hardly get smaller: each answer that is not read holds about 5 MB.
        names = ''.join(f'main;{os.urandom(1000).hex()} 1\n' for _ in range(5000)).encode()
        # Made before any reader waits: after 30 seconds without progress its connection is closed. The large one takes about 20 MB to read: a
        # small one may take 4 MB, beside the 10 MB that the daemon may have free since it read the names, and a large one 32.
        small, large = (''.join(f'main;f{i};g{i} 1\n' for i in range(n)).encode() for n in (10, 35000))
        check(post(d, '/api/v1/runs?source=s&id=names', names)[0] == 201, 'a run is stored')
        readers = [connect_slowly(d, '/api/v1/runs/s/names?format=folded') for _ in range(5)]
        check(all(head.startswith(b'HTTP/1.1 200') for _, head in readers), 'five clients read it slowly')
        starter, = children(d.process.pid)
        os.kill(starter, signal.SIGSTOP)
        held = metric(d, 'strobe_query_memory_bytes')
        threads, _ = ask_many(d, '/api/v1/labels?from=-{n}h', 4)
        check(wait_for(lambda: metric(d, 'strobe_query_memory_bytes') >= held + (24 << 20)), 'four queries are in progress')
        held = metric(d, 'strobe_query_memory_bytes')
        check(40 << 20 < held < 60 << 20, f'queries and responses hold between 40 and 60 MB: {held >> 20} MB')
        check(post(d, '/api/v1/runs?source=s&id=small', small)[0] == 201, 'a small upload is accepted')
        status, headers, text = post(d, '/api/v1/runs?source=s&id=large', large)
        check(status == 503 and headers['Retry-After'] and 'of the 64 MB of --query-memory; send it again' in text,
              f'a large upload is rejected with 503: {status} {text}')
        check(metric(d, 'strobe_uploads_rejected_total{reason="busy"}') == 1, 'the rejected upload is counted')
        now = metric(d, 'strobe_query_memory_bytes')
        check(now <= held, f'the memory of the rejected upload is released: {now} bytes held, and {held} before')
        os.kill(starter, signal.SIGCONT)
        for t in threads:
            t.join(60)
        for s, _ in readers:
            s.close()
        check(wait_for(lambda: metric(d, 'strobe_query_memory_bytes') == 0), 'the memory is released')
        answer = post(d, '/api/v1/runs?source=s&id=large', large)
        check(answer[0] == 201, f'the large upload is accepted on retry: {answer}')


@test
def probes_are_answered_while_queries_are_stuck():
    with Directory() as directory, Daemon(directory) as d:
        starter, = children(d.process.pid)
        os.kill(starter, signal.SIGSTOP)
        # Four are under way, 64 wait.
        threads, answers = ask_many(d, '/api/v1/labels?from=-{n}h', 90)
        check(wait_for(lambda: len(answers) == 22), f'22 of 90 queries are rejected, not {len(answers)}')
        check(all(status == 503 and headers['Retry-After'] and 'too busy' in text for status, headers, text in answers),
              f'the response says that the daemon is too busy: {answers[:1]}')
        for path in ('/healthz', '/readyz', '/metrics', '/api/v1/status') * 5:
            check(d.get(path), f'{path} answers')
        os.kill(starter, signal.SIGCONT)
        for t in threads:
            t.join(60)
        check(len([a for a in answers if a[0] == 200]) == 68, 'the other queries are answered once the process is resumed')
        check(metric(d, 'strobe_queries_failed_total{reason="busy"}') == 22, 'the rejected queries are counted')
        os.kill(starter, signal.SIGSTOP)
        ask_many(d, '/api/v1/labels', 10)
        check(d.stop() == 0, 'the daemon exits with 0 while queries are in progress')


@test
def identical_concurrent_queries_share_their_results():
    with Directory() as directory, Daemon(directory) as d:
        starter, = children(d.process.pid)
        os.kill(starter, signal.SIGSTOP)
        # Four are under way, one waits, and the others follow it.
        threads, answers = ask_many(d, '/api/v1/labels', 90)
        check(wait_for(lambda: metric(d, 'strobe_queries_shared_total') >= 85), 'all requests have arrived')
        os.kill(starter, signal.SIGCONT)
        for t in threads:
            t.join(60)
        check(len(answers) == 90 and all(a[0] == 200 and '"labels":[]' in a[2] for a in answers), f'all requests are answered: {answers[:1]}')
        queries, shared = metric(d, 'strobe_queries_total'), metric(d, 'strobe_queries_shared_total')
        check(queries + shared == 90 and queries <= 5, f'at most 5 queries are executed: {queries}')
        check(len({a[2] for a in answers}) <= queries, 'every query gives one answer')


@test
def the_daemon_is_not_ready_when_the_process_that_starts_queries_has_exited():
    with Directory() as directory, Daemon(directory) as d:
        starter, = children(d.process.pid)
        check(ask(d, '/readyz')[0] == 200, 'the daemon is ready at first')
        os.kill(starter, signal.SIGKILL)
        check(wait_for(lambda: ask(d, '/readyz')[0] == 503), 'the daemon is no longer ready')
        check('the process that starts them has exited; restart strobe' in ask(d, '/readyz')[2], 'the response gives the reason')
        status, _, text = ask(d, FOLDED)
        check(status == 503 and 'restart strobe' in text, f'a query fails with the same reason: {status} {text}')
        check(d.get('/healthz') and d.stop() == 0, 'the daemon is alive and exits with 0')


@test
def the_process_that_starts_queries_exits_when_the_daemon_is_killed():
    with Directory() as directory, Daemon(directory) as d:
        starter, = children(d.process.pid)
        d.process.kill()
        d.process.wait()
        check(wait_for(lambda: not os.path.exists(f'/proc/{starter}')), 'the process that starts queries has exited')


@test
def probes_have_their_own_address_and_token():
    with Directory() as directory:
        for name, token in (('token', TOKEN), ('probe', PROBE_TOKEN)):
            with open(f'{directory}/{name}', 'w') as f:
                f.write(token + '\n')
            os.chmod(f'{directory}/{name}', 0o600)
        with open(f'{directory}/strobe.yaml', 'w') as f:
            f.write(f'token-file: {directory}/token\nprobe-listen: 127.0.0.1:0\nprobe-token-file: {directory}/probe\n')
        with Daemon(directory, '-c', f'{directory}/strobe.yaml') as d:
            front = d.url
            check(wait_for(lambda: any('answering probes at' in line for line in d.lines)), 'the log names the probe address')
            probes = next(line for line in d.lines if 'answering probes at' in line).rsplit(' ', 1)[1]
            bearer = {'probe': f'Bearer {PROBE_TOKEN}', 'main': f'Bearer {TOKEN}', 'none': ''}

            def status(url, path, which):
                d.url = url
                return ask(d, path, Authorization=bearer[which])[0]

            for path in ('/healthz', '/readyz', '/metrics'):
                for url in (front, probes):
                    check([status(url, path, w) for w in ('probe', 'main', 'none')] == [200, 200, 401], f'{url}{path}')
            check(status(front, '/api/v1/labels', 'main') == 200, 'the main token permits all requests')
            check(status(front, '/api/v1/labels', 'probe') == 401, 'the probe token permits no other requests')
            check(status(front, '/api/v1/runs/a/b', 'probe') == 401, 'the probe token does not permit access to runs')
            for path in ('/', '/api/v1/status', '/api/v1/labels', '/login'):
                check(status(probes, path, 'main') == 404, f'{path} is not found at the probe address')
        refused = subprocess.run([STROBE, 'serve', '--listen', '127.0.0.1:0', '--probe-listen', '0.0.0.0:0', '--from',
                                  f'unix:{directory}/s', '--store', f'sqlite:{directory}/other'], capture_output=True,
                                 text=True, timeout=60)
        check(refused.returncode == 2 and 'give a token for probes with --probe-token-file' in refused.stderr,
              f'a probe address beyond localhost requires a token: {refused}')


if __name__ == '__main__':
    main()
