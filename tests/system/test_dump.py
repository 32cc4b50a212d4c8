"""`strobe dump` on real PHP processes."""
import json
import os
import re
import subprocess

from fpm import Fpm
from recording import HOSTILE, HOSTILE_NAME, Php, Script, unprivileged
from strobe_test import ROOT, STROBE, Directory, Skip, check, in_container, main, test, wait_for


SLOW = '''<?php
class Shop
{
    function wait($s) {
        sleep($s);
    }
}
function cart() {
    (new Shop)->wait(20);
}
cart();
'''


def dump(*args, **popen):
    return subprocess.run([STROBE, 'dump', *map(str, args)], capture_output=True, text=True, timeout=120, **popen)


def busy(args=('--fpm',)):
    return [p for p in json.loads(dump(*args, '--json').stdout)['processes'] if p['state'] != 'idle']


@test
def dump_and_doctor_give_the_same_reason_why_a_process_cannot_be_inspected():
    """Process 1 is one that even root may not inspect in some containers, where a security module forbids it."""
    found = json.loads(subprocess.run([STROBE, 'doctor', '-p', '1', '--json'], capture_output=True, text=True, timeout=120).stdout)['findings']
    memory = next(f for f in found if f['check'] == 'memory')
    if memory['level'] != 'ok':
        cause = memory['cause'].split('from outside: ')[1]
        r = dump('-p', 1)
        check(r.returncode == 2 and f'process 1: {cause}; {memory["fix"]}; or sample from inside' in r.stderr, f'{r.stderr}, not {cause}')
    if os.geteuid() != 0:
        raise Skip('only root has processes that others may not read')
    with Directory() as d:
        os.chmod(d, 0o755)
        r = dump('-p', 1, cwd=d, **unprivileged())
        remedy = 'run it on the host, or give the container --user 0 --cap-add SYS_PTRACE' if in_container() else 'run it as root'
        check(f"cannot inspect process 1: it is another user's, and you lack CAP_SYS_PTRACE; {remedy}" in r.stderr, r.stderr)


@test
def a_request_is_shown_with_its_url_age_and_stack():
    with Directory() as d, Fpm(d, plain=True, pools={'www': [], 'blog': []}, settings={'max_execution_time': '0'}) as fpm:
        slow = fpm.write('slow.php', SLOW.replace('20', '4'))
        fpm.begin('slow.php', method='POST', query='card=4711', uri='/shop/cart?card=4711')
        check(wait_for(lambda: any(p['stack'][0]['function'] == 'sleep' for p in busy() if p['stack'])), dump('--fpm'))
        mine = [p for p in json.loads(dump('--fpm', '--json').stdout)['processes'] if p['pid'] in fpm.workers()]
        check(len(mine) == 4, f'every worker is listed once: {mine}')
        one = next(p for p in mine if p['state'] != 'idle')
        check((one['state'], one['pool'], one['method'], one['uri'], one['script']) == ('waiting', 'www', 'POST', '/shop/cart', slow), one)
        check(0 <= one['age_seconds'] < 60 and one['requests'] == 1, one)
        check(one['stack'] == [
            {'function': 'sleep', 'file': None, 'line': None},
            {'function': 'Shop::wait', 'file': slow, 'line': 5},
            {'function': 'cart', 'file': slow, 'line': 9},
            {'function': slow, 'file': slow, 'line': 11}], one)
        check('4711' not in json.dumps(mine), 'the query string is not shown')
        text = dump('--fpm').stdout
        check(re.search(rf'^{one["pid"]} php-fpm, pool www: POST /shop/cart, for [\d.]+ s, waiting\n    sleep\n    Shop::wait  {slow}:5\n'
                        rf'    cart  {slow}:9\n    {slow}:11\n', text, re.M), text)
        for p in mine:
            if p['state'] == 'idle':
                check(re.search(rf'^{p["pid"]} php-fpm, pool {p["pool"]}: idle, 0 requests so far$', text, re.M), f'an idle worker is shown on one line: {text}')
        check(wait_for(lambda: all(p['pid'] not in fpm.workers() for p in busy())), 'the request finishes')
        check(next(p for p in json.loads(dump('-p', one['pid'], '--json').stdout)['processes'])['requests'] == 1, 'the finished request is counted')


@test
def request_ages_are_correct_across_time_namespaces():
    namespace = ['unshare', '-T', '--monotonic', '360000', '--boottime', '360000']
    if subprocess.run([*namespace, '--fork', 'true'], capture_output=True).returncode:
        raise Skip('no time namespace can be made here')
    both = [*namespace, '--fork', '--kill-child']
    for inside, outside in ((namespace, []), ([], both), (namespace, both)):
        with Directory() as d, Fpm(d, plain=True, settings={'max_execution_time': '0'}, prefix=inside) as fpm:
            fpm.write('slow.php', SLOW.replace('20', '4'))
            fpm.begin('slow.php')

            def ages():
                r = subprocess.run([*outside, STROBE, 'dump', '--json', *(x for p in fpm.workers() for x in ('-p', str(p)))],
                                   capture_output=True, text=True, timeout=120)
                return [p['age_seconds'] for p in json.loads(r.stdout)['processes'] if p['stack']]

            check(wait_for(ages), 'the request is shown')
            age = ages()[:1]
            check(age and 0 <= age[0] < 60, f'the age of the request is correct with php-fpm in {inside} and strobe in {outside}: {age}')
            wait_for(lambda: not ages())


@test
def the_scoreboard_of_workers_is_found_after_the_wall_clock_was_set_back():
    library = os.environ.get('STROBE_SET_CLOCK', f'{ROOT}/build/meson/tests/system/libset_clock.so')
    if not os.path.exists(library):
        raise Skip(f'{library} is not built')
    with Directory() as d:
        with open(f'{d}/offset', 'wb') as f:
            f.write((-7200).to_bytes(8, 'little', signed=True))
        with Fpm(d, plain=True, settings={'max_execution_time': '0'},
                 prefix=['env', f'LD_PRELOAD={library}', f'CLOCK_OFFSET_FILE={d}/offset']) as fpm:
            fpm.write('slow.php', SLOW.replace('20', '4'))
            fpm.begin('slow.php')
            check(wait_for(lambda: any(p['pid'] in fpm.workers() for p in busy())), 'the request is shown')
            mine = [p for p in json.loads(dump('--fpm', '--json').stdout)['processes'] if p['pid'] in fpm.workers()]
            check(sorted(p['requests'] or 0 for p in mine) == [0, 1], f'the request counts of both workers are shown: {mine}')
            check(any(p['stack'] and 0 <= p['age_seconds'] < 60 for p in mine), f'the age of the request is correct: {mine}')
            wait_for(lambda: all(p['pid'] not in fpm.workers() for p in busy()))


@test
def a_command_line_script_is_shown_with_its_path_and_stack():
    with Directory() as d, Script(d, '<?php function deep() { sleep(1000); } echo "ready\\n"; flush(); deep();') as php:
        wait_for(lambda: 'sleep' in dump('-p', php.process.pid).stdout)
        r = dump('-p', php.process.pid, **unprivileged())
        check(r.returncode == 0 and re.fullmatch(rf'{php.process.pid} php: {php.path}, for [\d.]+ s, waiting\n    sleep\n    deep  '
                                                 rf'{php.path}:1\n    {php.path}:1\n', r.stdout), r)


@test
def control_characters_in_names_are_not_written_to_the_terminal():
    with Directory() as d, Php(d, HOSTILE, name=HOSTILE_NAME) as php:
        def said():
            return subprocess.run([STROBE, 'dump', '-p', str(php.process.pid)], capture_output=True, timeout=120).stdout
        check(wait_for(lambda: b'31mred' in said()), said())
        check(not any(c in said().replace(b'\xc2\x9b', b'') for c in (b'\x1b', b'\x07', b'\x9b')), said())


@test
def a_script_on_cpu_is_shown_as_running():
    with Directory() as d, Script(d, '<?php function spin() { while (true); } echo "ready\\n"; spin();') as php:
        check(wait_for(lambda: '\n    spin  ' in dump('-p', php.process.pid).stdout), 'the running function is shown')
        r = dump('-p', php.process.pid)
        check(re.search('^' + str(php.process.pid) + r' php: .*, running$', r.stdout, re.M), r)


@test
def every_thread_of_a_thread_safe_php_is_listed():
    zts = f'{ROOT}/var/test/php-zts'
    if not os.path.exists(f'{zts}/bin/php'):
        raise Skip('there is no thread-safe PHP; scripts/php-zts var/test/php-zts builds one')
    with Directory() as d:
        flags = subprocess.run([f'{zts}/bin/php-config', '--includes'], capture_output=True, text=True).stdout.split()
        subprocess.run(['cc', '-w', '-o', f'{d}/threads', f'{ROOT}/tests/php/threads.c', *flags, f'-L{zts}/lib', '-lphp',
                        f'-Wl,-rpath,{zts}/lib', '-lpthread'], check=True)
        with open(f'{d}/thread.php', 'w') as f:
            f.write('<?php function nap() { sleep(1000); } $f = "thread_$_SERVER[THREAD]"; eval("function $f() { nap(); } $f();");')
        with subprocess.Popen([f'{d}/threads', '1', '4', f'{d}/thread.php']) as p:
            def napping():
                return {tuple(frame['function'] for frame in t['stack'][:3]): t['tid'] for t in busy(('-p', p.pid)) if t['stack']}
            wanted = {('sleep', 'nap', f'thread_{i}') for i in range(4)}
            check(wait_for(lambda: napping().keys() == wanted), f'every thread has its stack: {napping()}')
            check(len(set(napping().values())) == 4, 'every thread has its own id')
            p.kill()


@test
def processes_that_cannot_be_inspected_are_reported_with_the_reason():
    with subprocess.Popen(['sleep', '1000']) as other:
        r = dump('-p', other.pid)
        other.kill()
    check(r.returncode == 2 and 'runs no PHP that can be inspected' in r.stderr, r)
    r = dump('-p', 'x')
    check(r.returncode == 2 and "invalid -p 'x'" in r.stderr, r)
    r = dump(env={**os.environ, 'STROBE_WITHOUT': 'readv'})
    check(r.returncode == 2 and 'switched off by STROBE_WITHOUT' in r.stderr and 'strobe run -- php SCRIPT' in r.stderr, r)
    if os.geteuid() != 0:
        return
    with Directory() as d, Fpm(d, plain=True, children=1) as fpm:
        r = dump('--fpm', cwd='/', **unprivileged())
        check(r.returncode == 2 and 'may not be read' in r.stderr, r)


if __name__ == '__main__':
    main()
