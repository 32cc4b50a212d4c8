"""Comparisons of ranges, of sets of labels and of deploys have the numbers of what was sent, in every form of answer."""
import collections
import contextlib
import json
import os
import random
import struct
import subprocess
import time
import urllib.error
import urllib.parse

from daemon import Daemon
from strobe_test import ROOT, STROBE, Directory, check, main, test, wait_for
from wire import connect, message

DAY, SPAN = 86400, 600
SET_CLOCK = os.environ.get('STROBE_SET_CLOCK', f'{ROOT}/build/meson/tests/system/libset_clock.so')
NAMES = ['main', 'App\\Kernel::handle', 'Cart::total', 'Cart::price', '<b>"é', 'PDO::query']
LABELS = [{'deploy': deploy, 'entry': entry, 'from': origin} for deploy in ('6', '7', '!odd*') for entry in ('index', 'api')
          for origin in ('mobile', 'web')]


def send(d, begin, day, chance, counts):
    s, n = connect(d.socket), 0
    for labels in LABELS:
        stacks = {('main', *chance.choices(NAMES[1:], k=chance.randrange(5))): chance.randrange(1, 200) for _ in range(12)}
        s.send(message(stacks, labels, end=int((begin - day * DAY + chance.randrange(1, SPAN - 1)) * 1e9)))
        for stack, samples in stacks.items():
            counts[day, tuple(labels.items()), stack] += samples
            n += samples
    s.close()
    check(wait_for(lambda: d.status()['samples']['stored'] == n), f'all samples are stored: {d.status()["samples"]}')


@contextlib.contextmanager
def store(begin, yesterday=False):
    """A daemon with samples of each set of labels in this range, and in that of the day before, which a daemon took whose clock
    was a day back. And what was sent: (day, labels, stack) to samples."""
    chance, counts = random.Random(16), collections.Counter()
    with Directory() as directory:
        if yesterday:
            with open(f'{directory}/offset', 'wb') as f:
                f.write(struct.pack('<q', -DAY))
            with Daemon(directory, environment={'LD_PRELOAD': SET_CLOCK, 'CLOCK_OFFSET_FILE': f'{directory}/offset'}) as d:
                send(d, begin, 1, chance, counts)
        with Daemon(directory) as d:
            send(d, begin, 0, chance, counts)
            yield d, counts


def by_function(counts, day, **wanted):
    """Self and total of each function over what has these labels."""
    own, total = collections.Counter(), collections.Counter()
    for (when, labels, stack), n in counts.items():
        if when == day and all(dict(labels)[k] == v for k, v in wanted.items()):
            own[stack[-1]] += n
            for name in set(stack):
                total[name] += n
    return own, total


def query(path, parameters):
    return f'{path}?{urllib.parse.urlencode(parameters, doseq=True)}'


def get(d, path, parameters):
    try:
        return d.get(query(path, parameters))
    except urllib.error.HTTPError as e:
        raise AssertionError(f'{query(path, parameters)}: {e.code} {e.read()}') from e


def check_scaled(d, parameters, table, before, after):
    """Each value before is rounded by itself: in the table, on the function's page, of a group with one function and in strobe diff."""
    numerator, denominator = sum(after[0].values()), sum(before[0].values())
    groups = json.loads(get(d, '/api/v1/table', {**parameters, 'by': 'class'}))
    r = subprocess.run([STROBE, 'diff', '--all', '--json', d.url + query('/', parameters)], capture_output=True, text=True, timeout=60)
    check(r.returncode == 0, f'{r}')
    diff = {f['function']: f for f in json.loads(r.stdout)['functions']}
    check(set(diff) == set(table['name']), f'{set(diff)}')
    for i, name in enumerate(table['name']):
        function = json.loads(get(d, '/api/v1/function', {**parameters, 'function': name}))['function']
        for kind, measured in (('self', before[0][name]), ('total', before[1][name])):
            wanted = (2 * measured * numerator + denominator) // (2 * denominator)
            got = [table[kind][0][i], function[kind][0], diff[name][kind]['before']]
            check(got == [wanted] * 3, f'{parameters} {name} {kind}: {got}, not {wanted}')
            check([table[f'{kind}_measured'][i], function[f'{kind}_measured']] == [measured] * 2, f'{name}: {function}')
            check(abs(100 * measured / table['whole_measured'] - diff[name][kind]['before_percent']) < 1e-6, f'{name}: {diff[name]}')
            check(diff[name][kind]['delta'] == table[kind][1][i] - wanted, f'{name}: {diff[name]}')
            if name == 'App\\Kernel::handle':
                group = groups['name'].index('App\\Kernel')
                check(groups[kind][0][group] == wanted, f'{groups}')


def compare(d, parameters, before, after):
    """The table of `parameters` against (self, total) of both sides, as they are and by shares."""
    table = json.loads(get(d, '/api/v1/table', {**parameters, 'scale': 'none'}))
    rows = {name: i for i, name in enumerate(table['name'])}
    names = {*before[1], *after[1]}
    check(set(rows) == names, f'{parameters}: {set(rows) ^ names}')
    for name in names:
        got = [[table[kind][side][rows[name]] for side in (0, 1)] for kind in ('self', 'total')]
        check(got == [[before[k][name], after[k][name]] for k in (0, 1)], f'{parameters} {name}: {got}')
    check(table['whole'] == [sum(before[0].values()), sum(after[0].values())], f'{table["whole"]}')
    # By shares, which samples are compared by unless somebody wants something else.
    scaled = json.loads(get(d, '/api/v1/table', parameters))
    factor = sum(after[0].values()) / sum(before[0].values())
    check(abs(scaled['compared']['factor'] - factor) < 1e-9, f'{scaled["compared"]}')
    check(scaled['whole'][0] == scaled['whole'][1] == sum(after[0].values()), f'{scaled["whole"]}')
    check_scaled(d, parameters, scaled, before, after)
    function = json.loads(get(d, '/api/v1/function', {**parameters, 'scale': 'none', 'function': 'Cart::total'}))
    check(function['function']['total'] == [before[1]['Cart::total'], after[1]['Cart::total']], f'{function["function"]}')
    for path in ('/', '/flamegraph.svg', '/callgraph.svg', '/api/v1/profile', '/api/v1/functions'):
        check(get(d, path, parameters), path)
    page = get(d, '/', parameters)
    check('compared with' in page and '<b>' not in page.partition('<main>')[2].replace('<body>', ''), page)
    return table


@test
def a_time_range_is_compared_with_the_same_time_yesterday():
    begin = int(time.time()) // 60 * 60 - 2 * SPAN
    now = {'from': begin, 'to': begin + SPAN}
    with store(begin, yesterday=True) as (d, counts):
        yesterday = {**now, 'base_from': begin - DAY, 'base_to': begin - DAY + SPAN}
        compare(d, yesterday, by_function(counts, 1), by_function(counts, 0))
        compare(d, {**yesterday, 'entry': 'api'}, by_function(counts, 1, entry='api'), by_function(counts, 0, entry='api'))
        # As the page writes a range that moves on with now.
        back = int(time.time()) - begin
        moving = {'from': f'-{back + 60}s', 'to': 'now', 'base_from': f'-{back + 60 + DAY}s', 'base_to': f'-{DAY}s'}
        compare(d, moving, by_function(counts, 1), by_function(counts, 0))


@test
def two_deploys_and_two_label_sets_are_compared():
    begin = int(time.time()) // 60 * 60 - 2 * SPAN
    now = {'from': begin, 'to': begin + SPAN}
    with store(begin, yesterday=True) as (d, counts):
        table = compare(d, {**now, 'deploy': '7', 'base.deploy': '6'}, by_function(counts, 0, deploy='6'), by_function(counts, 0, deploy='7'))
        check((table['compared']['before_labels'], table['compared']['after_labels']) == ('deploy=6', 'deploy=7'), f'{table["compared"]}')
        compare(d, {**now, 'deploy': '7', 'entry': 'api', 'base.deploy': '6'}, by_function(counts, 0, deploy='6', entry='api'),
                by_function(counts, 0, deploy='7', entry='api'))
        compare(d, {**now, 'deploy': '7', 'entry': 'api', 'base.deploy': '6', 'base.entry': 'index'},
                by_function(counts, 0, deploy='6', entry='index'), by_function(counts, 0, deploy='7', entry='api'))
        # The deploy of yesterday at this time.
        compare(d, {**now, 'deploy': '7', 'base.deploy': '6', 'base_from': begin - DAY, 'base_to': begin - DAY + SPAN},
                by_function(counts, 1, deploy='6'), by_function(counts, 0, deploy='7'))
        # All against one; values and names that look like something else.
        compare(d, {**now, 'base.deploy': '=!odd*'}, by_function(counts, 0, deploy='!odd*'), by_function(counts, 0))
        compare(d, {**now, 'label.from': 'web', 'base.from': 'mobile'}, by_function(counts, 0, **{'from': 'mobile'}), by_function(counts, 0, **{'from': 'web'}))
        compare(d, {**now, 'label.from': 'web', 'base.label.from': 'mobile'}, by_function(counts, 0, **{'from': 'mobile'}), by_function(counts, 0, **{'from': 'web'}))


@test
def an_error_names_the_side_of_a_comparison_that_has_no_samples():
    begin = int(time.time()) // 60 * 60 - 2 * SPAN
    with store(begin) as (d, _):
        for parameters, words in (({'deploy': '7', 'base.deploy': '5'}, 'deploy=5'), ({'deploy': '5', 'base.deploy': '7'}, 'deploy=5'),
                                  ({'base_from': begin - 9 * DAY, 'base_to': begin - 8 * DAY}, 'no samples in')):
            try:
                raise AssertionError(d.get(query('/api/v1/table', {'from': begin, 'to': begin + SPAN, **parameters})))
            except urllib.error.HTTPError as e:
                why = json.loads(e.read())['error']
                check(e.code == 400 and words in why, f'{parameters}: {why}')


if __name__ == '__main__':
    main()
