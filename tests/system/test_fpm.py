"""The extension inside php-fpm: pools, reloads, preloading, opcache, workers that come and go."""
import os
import signal
import threading
import time

from fpm import BUSY, Fpm
from strobe_test import Directory, check, fastcgi, main, test, wait_for

@test
def the_extension_starts_one_thread_per_worker_and_none_in_the_master():
    with Directory() as d, Fpm(d) as fpm:
        fpm.write('page.php', BUSY + 'busy(0.03); echo getmypid();')
        pids = {fpm.get('page.php') for _ in range(30)}
        check(pids <= {str(p) for p in fpm.workers()}, 'the requests are served by the workers')
        check(fpm.threads(fpm.process.pid) == 1, 'the master has one thread')
        for pid in pids:
            check(fpm.threads(int(pid)) == 2, f'worker {pid} has two threads')
        messages = wait_for(lambda: fpm.receiver.poll() or (len(fpm.receiver.messages) >= 25 and fpm.receiver.messages))
        check(messages and len(messages) <= 30, f'one message is sent per request: {len(fpm.receiver.messages)}')
        check(fpm.receiver.accepted == len(pids), 'every worker uses one connection')
        # Samples that a late ticking thread missed by the end of a request are in no message: a busy machine costs some.
        samples = [sum(m.stacks.values()) for m in messages or []]
        check(sum(samples) >= 20 * len(samples) and min(samples, default=0) >= 5, f'requests of 30 ms have samples every 1 ms: {samples}')
        for m in messages or []:
            check(m.labels['sapi'] == 'fpm-fcgi' and m.labels['entry'] == 'page' and m.labels['method'] == 'GET',
                  f'labels {m.labels}')
        fpm.check_healthy()


@test
def labels_period_and_mode_can_be_set_per_pool():
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
def sampling_continues_after_a_reload_under_load():
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
        check(wait_for(lambda: fpm.receiver.poll() or len(fpm.receiver.messages) > n + 5), 'the workers started by the reload are sampled')
        check(wait_for(lambda: len(answers) > 50), f'more than 50 requests were answered, not {len(answers)}')
        stop.set()
        for t in threads:
            t.join()
        wrong = [a for a in answers if a != 'page']
        check(len(wrong) <= len(answers) / 10, f'at most a tenth of the answers are cut off: {len(wrong)} of {len(answers)}')
        check(fpm.threads(fpm.process.pid) == 1, 'the master has one thread')
        fpm.check_healthy()


@test
def workers_exit_cleanly_after_max_requests():
    with Directory() as d, Fpm(d, {'www': ['pm.max_requests = 3']}) as fpm:
        fpm.write('page.php', BUSY + 'busy(0.01); echo getmypid();')
        pids = {fpm.get('page.php') for _ in range(40)}
        check(len(pids) > 8, f'more than 8 workers served 40 requests, not {len(pids)}')
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
            check(fpm.get('page.php') == 'worked', 'the preloaded class is available')
            check(fpm.threads(fpm.process.pid) == 1, 'the master has one thread')
            wait_for(lambda: fpm.receiver.poll() or fpm.receiver.messages)
            names = {name for m in fpm.receiver.messages for stack in m.stacks for name in stack}
            check('Preloaded::work' in names, f'the preloaded class appears in samples: {names}')
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
        check(wrong == 0, f'no answer is wrong, but {wrong} are')
        samples = misplaced = 0
        for m in fpm.receiver.messages:
            page = m.labels['entry'].removeprefix('page')
            for stack, n in m.stacks.items():
                samples += n
                misplaced += n * any(f.startswith('only') and not f.startswith(f'only{page}_') for f in stack)
        check(samples > 1000 and misplaced == 0, f'no sample is attributed to the wrong script: {misplaced} of {samples}')
        fpm.check_healthy()



@test
def stacks_are_correct_during_opcache_resets():
    opcache_resets({'opcache.jit': 'off'})


@test
def stacks_sampled_at_calls_under_the_jit_are_correct_during_opcache_resets():
    opcache_resets({'opcache.jit': 'tracing', 'opcache.jit_buffer_size': '32M', 'strobe.instrument': '1'})


main()
