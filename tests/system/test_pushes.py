"""Pushes of other profilers: what is refused and why, names as long as addresses, and what becomes of samples that were accepted when
a sink is away, at shutdown and after a crash."""
import http.client
import json
import random
import signal
import threading
import time
import urllib.parse

from daemon import Daemon
from pprof_file import Pprof, form
from pushes import metric, push
from redis_server import free_port
from strobe_test import Directory, check, main, test, wait_for

TYPES = (('samples', 'count'), ('cpu', 'nanoseconds'))


def pprof(samples, types=TYPES):
    return Pprof(types, samples, time.time_ns(), ('cpu', 'nanoseconds'), 10**7)


def stored(daemon):
    """Samples by function, self."""
    rows = json.loads(daemon.get('/api/v1/functions?from=-1h&to=now&limit=0'))['functions']
    return {row['name']: row['self'] for row in rows if row['self']}


def is_stored(daemon, samples):
    return wait_for(lambda: daemon.status()['samples']['stored'] >= samples, 30)


@test
def duplicate_sample_types_are_rejected_and_counted():
    stack = [('main', 'a.php', 1)]
    with Directory() as d, Daemon(d) as daemon:
        for types in ((('cpu', 'nanoseconds'), ('cpu', 'nanoseconds')), (('cpu', 'nanoseconds'), ('cpu', 'milliseconds'))):
            body, kind = form(profile=pprof([(stack, (5, 6), {})], types).gzip())
            status, text = push(daemon, body, kind=kind)
            check(status == 422 and "its sample types 1 and 2 are both the column 'cpu_ns'; send each type once" in text, f'{status} {text}')
        check(metric(daemon, 'strobe_pushes_rejected_total{reason="damaged"}') == 2, 'rejected pushes are counted')
        check(push(daemon, *[form(profile=pprof([(stack, (5, 6), {})]).gzip())[0]], kind=kind)[0] == 200, 'two different types are accepted')


@test
def a_name_with_many_labels_is_accepted():
    pod = {f'k8s.pod.label.team-{i}'.replace('-', '_'): 'x' * 150 + str(i) for i in range(30)}
    name = 'shop.cpu{ ' + ', '.join(f'{k} = {v}' for k, v in pod.items()) + ' }'
    with Directory() as d, Daemon(d) as daemon:
        check(len(urllib.parse.quote(name)) > 5000, 'the name is longer than 5000 bytes')
        status, text = push(daemon, b'main;work 3', name=name)
        check(status == 200, f'{status} {text}')
        is_stored(daemon, 3)
        labels = {row['key']: row['values'][0]['value'] for row in json.loads(daemon.get('/api/v1/labels?from=-1h'))['labels']}
        check(all(labels.get(k.replace('.', '_')) == v for k, v in pod.items()), f'all labels are stored: {sorted(labels)}')
        for bad in ('shop{a-b=c}', 'sh op{}', 'shop{a', 'shop{=b}', 'shop{ä=b}'):
            status, text = push(daemon, b'main;work 3', name=bad)
            check(status == 400 and text, f'{bad}: {status} {text}')


def stacks(count, seed, length=40):
    return '\n'.join(f'main;f{seed}_{i}_{"x" * length} 1' for i in range(count)).encode()


@test
def a_push_rejected_for_a_full_queue_names_the_sink():
    gone = f'otlp://127.0.0.1:{free_port()}'
    with Directory() as d:
        daemon = Daemon(d)
        daemon.command[1:] = ['collect', '--listen', '127.0.0.1:0', '--from', f'unix:{d}/s', '--to', gone, '--state', f'{d}/state',
                              '--queue-bytes', '1M']
        with daemon:
            answers = [push(daemon, stacks(1500, i)) for i in range(12)]
            full = [text for status, text in answers if status == 503]
            check(answers[0][0] == 200 and full, f'{[a[0] for a in answers]}')
            check(f'the queue of {gone}' in full[-1] and 'is full' in full[-1], f'the response names the sink: {full[-1:]}')
            check(metric(daemon, 'strobe_pushes_rejected_total{reason="busy"}') == len(full), 'rejected pushes are counted')
            check(metric(daemon, 'strobe_queue_bytes') <= 1 << 20, 'the queue does not exceed its limit')
            check(metric(daemon, 'strobe_samples_dropped_total') == 0, 'no accepted samples are dropped')


@test
def samples_that_did_not_reach_a_sink_are_reported_at_shutdown():
    gone = f'otlp://127.0.0.1:{free_port()}'
    with Directory() as d:
        with Daemon(d, '--to', gone) as daemon:
            check(push(daemon, b'main;work 12')[0] == 200, 'the push is accepted')
            check(wait_for(lambda: stored(daemon).get('work') == 12), 'SQLite stores the samples')
            code = daemon.stop()
        said = ' '.join(daemon.lines)
        check(f'12 samples and 0 runs did not reach {gone} before shutdown' in said, said)
        check('all samples and runs are stored, but some did not reach every sink before shutdown' in said, said)
        check('could not be stored' not in said and code, f'no stored samples are reported as lost: {code} {said}')


@test
def a_crash_loses_at_most_the_last_two_seconds_and_duplicates_no_samples():
    r = random.Random(3)
    with Directory() as d:
        answered, sent = {}, set()
        for turn in range(3):
            with Daemon(d) as daemon:
                url, stop = daemon.url, threading.Event()

                def send(worker):
                    for i in range(1000):
                        if stop.wait(0.01):
                            return
                        name = f'f{turn}_{worker}_{i}'
                        body, kind = form(profile=pprof([([('main', 'a.php', 1), (name, 'a.php', 2)], (3, 3 * 10**7), {})]).gzip())
                        sent.add(name)
                        try:
                            if push(daemon, body, kind=kind)[0] == 200:
                                answered[name] = time.monotonic()
                        except OSError:
                            pass
                        except http.client.HTTPException:
                            pass
                workers = [threading.Thread(target=send, args=(w,)) for w in range(4)]
                for w in workers:
                    w.start()
                time.sleep(2 + r.random())
                daemon.process.send_signal(signal.SIGKILL)
                daemon.process.wait()
                killed = time.monotonic()
                stop.set()
                for w in workers:
                    w.join()
            answered = {name: at for name, at in answered.items() if not name.startswith(f'f{turn}_') or at < killed - 2}
        with Daemon(d) as daemon:
            found = stored(daemon)
            lost = [name for name in answered if name not in found]
            check(len(answered) > 50, f'more than 50 pushes were accepted in time: {len(answered)}')
            check(not lost, f'no push accepted two seconds before the crash is lost: {len(lost)} of {len(answered)}')
            check(set(found.values()) == {3}, f'every sample is stored once: {set(found.values())}')
            check(set(found) <= sent, 'only pushed samples are stored')


main()
