"""Executed lines, from the extension through `strobe run`, the daemon and a relay to `strobe report` and `strobe
annotate`. The cost of each line follows from how many bytes it hashes."""
import json
import os
import re
import subprocess
import urllib.request

from collector import Collector
from daemon import Daemon
from lined_script import CALLS, MOVED, OWN, need_extension, run, sample, strobe, write_script
from redis_server import RedisServer
from strobe_test import EXTENSION, STROBE, Directory, check, main, test, wait_for


def check_shares(samples, what):
    """Samples by line against parts of the work."""
    for parts in (OWN, CALLS):
        whole = sum(samples.get(line, 0) for line in parts)
        check(whole > 100, f'{what}: {samples}')
        for line, part in parts.items():
            share, expected = samples[line] / whole, part / sum(parts.values())
            check(abs(share - expected) < MOVED, f'{what}, line {line}: {share:.2f}, not {expected:.2f}')


def check_report(profile, script):
    rows = json.loads(strobe('report', profile, '--by', 'line', '--json'))['lines']
    check_shares({int(row['line'].rsplit(':', 1)[1]): row['total'] for row in rows if row['line'].startswith(script + ':')}, 'report')


def by_function(profile):
    rows = json.loads(strobe('report', profile, '--json'))['functions']
    return {row['function']: row['total'] for row in rows}


@test
def profiles_of_strobe_run_attribute_shares_to_executed_lines():
    need_extension()
    with Directory() as d:
        script = write_script(d)
        profile = run(d, script)
        check_report(profile, script)
        found = json.loads(strobe('annotate', profile, '--json'))
        took = {line['line']: line for line in found['lines']}
        check(found['file'] == script and found['source'] == 'unchanged', f'{found}')
        check_shares({n: took[n]['total'] for n in {**OWN, **CALLS}}, 'annotate')
        check(took[9]['text'].strip().startswith('$s = md5($this->data . '), f'{took[9]}')
        for form in ('pb.gz', 'speedscope.json'):
            strobe('convert', profile, '-o', f'{d}/out.{form}')
            check_report(f'{d}/out.{form}', script)


@test
def functions_have_the_same_values_with_and_without_lines():
    need_extension()
    with Directory() as d:
        script = write_script(d)
        profile = run(d, script)
        stacks = [line.rsplit(' ', 1)[0] for line in strobe('collapse', profile).splitlines()]
        check(len(stacks) == len(set(stacks)), f'each stack of functions once: {stacks}')
        with_lines = by_function(profile)
        strobe('convert', profile, '--no-lines', '-o', f'{d}/plain.strobe')
        check(with_lines == by_function(f'{d}/plain.strobe'), 'the values are the same')
        plain = by_function(run(d, script, '-d', 'strobe.lines=0'))
        # Two runs: a function that hardly takes time is sampled in one of them by chance.
        share = {f: plain.get(f, 0) / plain[script] - with_lines.get(f, 0) / with_lines[script] for f in {*with_lines, *plain}}
        check(all(abs(difference) < MOVED for difference in share.values()), f'{share}')
        r = subprocess.run([os.path.abspath(STROBE), 'annotate', profile], capture_output=True, text=True, timeout=60)
        check(r.returncode == 4 and 'has executed lines' in r.stderr, f'strobe.lines=0 leaves them out: {r.returncode} {r.stderr}')


def check_daemon(daemon, script, directory):
    query = '/api/v1/profile?from=-1h&format='
    with urllib.request.urlopen(daemon.url + query + 'strobe', timeout=20) as answer, open(f'{directory}/day.strobe', 'wb') as f:
        f.write(answer.read())
    check_report(f'{directory}/day.strobe', script)
    for form, suffix in (('pprof', 'pb.gz'), ('speedscope', 'speedscope.json')):
        with urllib.request.urlopen(daemon.url + query + form, timeout=20) as answer, open(f'{directory}/day.{suffix}', 'wb') as f:
            f.write(answer.read())
        check_report(f'{directory}/day.{suffix}', script)
    plain = json.loads(daemon.get(query + 'json'))
    pairs = list(zip(plain['nodes']['parent'], plain['nodes']['frame']))
    check('line' not in plain['nodes'] and len(pairs) == len(set(pairs)), 'each function is one node per path')


@test
def the_daemon_stores_executed_lines_sent_by_php():
    need_extension()
    with Directory() as d, Daemon(d) as daemon:
        script = write_script(d)
        sample(daemon.socket, script)
        wait_for(lambda: daemon.status()['samples']['stored'] > 900)
        check_daemon(daemon, script, d)


@test
def a_relay_forwards_executed_lines():
    need_extension()
    with Directory() as d, RedisServer() as redis:
        script = write_script(d)
        os.mkdir(f'{d}/relay')
        with Collector(f'{d}/relay', '--from', f'unix:{d}/relay.sock', '--to', redis.url('?stream=strobe&window=1')), \
                Daemon(d, '--from', redis.url('?stream=strobe&group=g')) as daemon:
            sample(f'{d}/relay.sock', script)
            wait_for(lambda: daemon.status()['samples']['stored'] > 900)
            check_daemon(daemon, script, d)


if __name__ == '__main__':
    main()
