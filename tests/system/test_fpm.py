"""The extension inside php-fpm: pools, reloads, preloading, opcache, workers that come and go."""
import os
import signal
import threading
import time

from fpm import BUSY, Fpm
from strobe_test import Directory, check, fastcgi, main, test, wait_for

@test
def each_worker_has_one_thread_and_the_master_none():
    with Directory() as d, Fpm(d) as fpm:
        fpm.write('page.php', BUSY + 'busy(0.03); echo getmypid();')
        pids = {fpm.get('page.php') for _ in range(30)}
        check(pids <= {str(p) for p in fpm.workers()}, 'requests are answered by workers')
        check(fpm.threads(fpm.process.pid) == 1, 'the master has one thread')
        for pid in pids:
            check(fpm.threads(int(pid)) == 2, f'worker {pid} has two')
        messages = wait_for(lambda: fpm.receiver.poll() or (len(fpm.receiver.messages) >= 25 and fpm.receiver.messages))
        check(messages and len(messages) <= 30, f'a message per request: {len(fpm.receiver.messages)}')
        check(fpm.receiver.accepted == len(pids), 'one connection per worker')
        # Samples that a late ticking thread missed by the end of a request are in no message: a busy machine costs some.
        samples = [sum(m.stacks.values()) for m in messages or []]
        check(sum(samples) >= 20 * len(samples) and min(samples, default=0) >= 5, f'samples of 1 ms in requests of 30 ms: {samples}')
        for m in messages or []:
            check(m.labels['sapi'] == 'fpm-fcgi' and m.labels['entry'] == 'page' and m.labels['method'] == 'GET',
                  f'labels {m.labels}')
        fpm.check_healthy()


@test
def pools_have_their_own_labels_and_may_be_off():
    pools = {'shop': ['php_admin_value[strobe.labels] = "pool=shop,deploy=7"'],
             'blog': ['php_value[strobe.labels] = "pool=blog"', 'php_value[strobe.period] = 0.002'],
             'quiet': ['php_admin_value[strobe.mode] = off']}
    with Directory() as d, Fpm(d, pools) as fpm:
        fpm.write('page.php', BUSY + 'busy(0.05);')
        for pool in pools:
            for _ in range(4):
                fpm.get('page.php', pool)
        wait_for(lambda: fpm.receiver.poll() or len(fpm.receiver.messages) >= 8)
        seen = {m.labels.get('pool'): m for m in fpm.receiver.messages}
        check(set(seen) == {'shop', 'blog'}, f'two of three pools are sampled: {set(seen)}')
        check(seen['shop'].labels['deploy'] == '7' and seen['shop'].period == 1000000, 'shop has its labels')
        check(seen['blog'].period == 2000000, 'blog has its period')
        fpm.check_healthy()


@test
def a_reload_under_load_loses_no_request_and_sampling_goes_on():
    with Directory() as d, Fpm(d) as fpm:
        fpm.write('page.php', BUSY + 'busy(0.02); echo "page";')
        answers, errors, stop = [], [], threading.Event()

        def load():
            while not stop.is_set():
                try:
                    answers.append(fastcgi(f'{d}/www.sock', f'{d}/page.php')[1])
                except OSError as e:        # the socket is away for a moment while the master starts again
                    errors.append(e)
                    time.sleep(0.01)

        threads = [threading.Thread(target=load) for _ in range(2)]
        for t in threads:
            t.start()
        for _ in range(3):
            time.sleep(1)
            before = set(fpm.workers())
            fpm.process.send_signal(signal.SIGUSR2)
            wait_for(lambda: fpm.receiver.poll() or (fpm.workers() and not before & set(fpm.workers())))
        fpm.receiver.poll()
        n = len(fpm.receiver.messages)
        check(wait_for(lambda: fpm.receiver.poll() or len(fpm.receiver.messages) > n + 5), 'workers of after the reload are sampled')
        check(wait_for(lambda: len(answers) > 50), f'{len(answers)} answers')
        stop.set()
        for t in threads:
            t.join()
        wrong = [a for a in answers if a != 'page']
        check(len(wrong) <= len(answers) / 10, f'{len(wrong)} of {len(answers)} answers are cut off')
        check(fpm.threads(fpm.process.pid) == 1, 'the master has one thread')
        fpm.check_healthy()


@test
def workers_that_end_after_some_requests_end_well():
    with Directory() as d, Fpm(d, {'www': ['pm.max_requests = 3']}) as fpm:
        fpm.write('page.php', BUSY + 'busy(0.01); echo getmypid();')
        pids = {fpm.get('page.php') for _ in range(40)}
        check(len(pids) > 8, f'{len(pids)} workers in 40 requests')
        fpm.check_healthy()


@test
def preloading_starts_no_thread_in_the_master():
    with Directory() as d:
        with open(f'{d}/preload.php', 'w') as f:
            f.write(BUSY + 'class Preloaded { function work() { return busy(0.05); } } busy(0.05);')
        settings = {'zend_extension': 'opcache', 'opcache.enable': '1', 'opcache.preload': f'{d}/preload.php',
                    'opcache.preload_user': 'root' if os.geteuid() == 0 else ''}
        with Fpm(d, settings=settings) as fpm:
            fpm.write('page.php', '<?php (new Preloaded)->work(); echo "worked";')
            check(fpm.get('page.php') == 'worked', 'the preloaded class is there')
            check(fpm.threads(fpm.process.pid) == 1, 'the master has one thread')
            wait_for(lambda: fpm.receiver.poll() or fpm.receiver.messages)
            names = {name for m in fpm.receiver.messages for stack in m.stacks for name in stack}
            check('Preloaded::work' in names, f'and is seen in samples: {names}')
            check(all(m.labels.get('entry') == 'page' for m in fpm.receiver.messages), 'preloading itself is not sampled')
            fpm.check_healthy()


def opcache_resets(more):
    settings = {'zend_extension': 'opcache', 'opcache.enable': '1', 'strobe.period': '0.0005', 'opcache.memory_consumption': '16',
                'opcache.max_wasted_percentage': '1', 'opcache.file_update_protection': '0', **more}
    with Directory() as d, Fpm(d, settings=settings) as fpm:
        for i in range(20):
            body = ''.join(f'function only{i}_{k}() {{ return busy(0.0007); }}\n' for k in range(10))
            fpm.write(f'page{i}.php', BUSY + body + ''.join(f'only{i}_{k}();' for k in range(10)) + f'echo "page{i}";')
        fpm.write('reset.php', '<?php opcache_reset(); echo "reset";')
        wrong = 0
        for round in range(15):
            for i in range(20):
                wrong += fpm.get(f'page{i}.php') != f'page{i}'
            wrong += fpm.get('reset.php') != 'reset'
        wait_for(lambda: fpm.receiver.poll() or len(fpm.receiver.messages) > 200)
        check(wrong == 0, f'{wrong} answers were wrong')
        samples = misplaced = 0
        for m in fpm.receiver.messages:
            page = m.labels['entry'].removeprefix('page')
            for stack, n in m.stacks.items():
                samples += n
                misplaced += n * any(f.startswith('only') and not f.startswith(f'only{page}_') for f in stack)
        check(samples > 1000 and misplaced == 0, f'{misplaced} of {samples} samples are in the wrong script')
        fpm.check_healthy()



@test
def opcache_resets_under_load_give_no_wrong_stack():
    opcache_resets({'opcache.jit': 'off'})


@test
def opcache_resets_under_load_give_no_wrong_stack_at_calls_under_the_jit():
    opcache_resets({'opcache.jit': 'tracing', 'opcache.jit_buffer_size': '32M', 'strobe.instrument': '1'})


main()
