"""The timeline by a label counts what was sent: the values with most samples one by one, and all others together."""
import collections
import json
import random
import time
import urllib.parse

from daemon import Daemon
from strobe_test import Directory, check, main, test, wait_for
from wire import connect, message

STEP = 60
SHOWN = 6
ENTRIES = ['index', 'api', 'search', '', 'cron', 'a=b,c', 'ünï', 'x*', '!odd', 'last']


def sent(d, begin):
    """Sends some samples of each entry in each of ten minutes; what was sent, by entry and minute."""
    chance = random.Random(3)
    counts = collections.defaultdict(lambda: [0] * 10)
    s = connect(d.socket)
    for minute in range(10):
        for number, entry in enumerate(ENTRIES):
            n = chance.randrange(1, 20 * (number + 1))
            labels = {'host': f'web{minute % 2}', **({'entry': entry} if entry else {})}
            s.send(message({('main',): n}, labels, end=int((begin + minute * STEP + 25) * 1e9)))
            counts[entry][minute] += n
    s.close()
    total = sum(map(sum, counts.values()))
    check(wait_for(lambda: d.status()['samples']['stored'] == total), f'{total} samples are stored')
    return counts


def ask(d, begin, **parameters):
    query = {'from': begin, 'to': begin + 10 * STEP, 'step': f'{STEP}s', **parameters}
    return json.loads(d.get('/api/v1/timeline?' + urllib.parse.urlencode(query)))


def expect(answer, counts, wanted):
    """Values of `wanted` with most samples first; what remains of each minute, and what has no such label, are the others."""
    ranked = sorted(filter(None, wanted), key=lambda entry: -sum(counts[entry]))
    shown = {v['value']: v['samples'] for v in answer['values']}
    check(list(shown) == ranked[:SHOWN], f'{list(shown)}, not {ranked[:SHOWN]}')
    for entry, samples in shown.items():
        check(samples[:10] == counts[entry], f'{entry}: {samples}, not {counts[entry]}')
    others = [sum(counts[entry][i] for entry in wanted if entry not in shown) for i in range(10)]
    check(answer['others'][:10] == others, f'{answer["others"]}, not {others}')
    check(answer['samples'][:10] == [sum(counts[entry][i] for entry in wanted) for i in range(10)], 'the totals match')


@test
def the_timeline_shows_each_label_value_and_the_rest_as_others():
    begin = int(time.time()) // STEP * STEP - 20 * STEP
    with Directory() as directory, Daemon(directory) as d:
        counts = sent(d, begin)
        expect(ask(d, begin, split='entry'), counts, ENTRIES)
        plain = ask(d, begin)
        check('values' not in plain and 'others' not in plain, 'values are returned only on request')
        answer = ask(d, begin, split='nothing')
        check(answer['values'] == [] and answer['others'] == answer['samples'] == plain['samples'], 'without such a label, all samples are others')


@test
def the_timeline_applies_filters_on_its_label_and_on_others():
    begin = int(time.time()) // STEP * STEP - 20 * STEP
    with Directory() as directory, Daemon(directory) as d:
        counts = sent(d, begin)
        expect(ask(d, begin, split='entry', entry='!last'), counts, [e for e in ENTRIES if e != 'last'])
        expect(ask(d, begin, split='entry', entry='=x*'), counts, ['x*'])
        expect(ask(d, begin, split='entry', entry='a*'), counts, ['api', 'a=b,c'])
        on_web1 = {entry: [n if i % 2 else 0 for i, n in enumerate(all)] for entry, all in counts.items()}
        expect(ask(d, begin, split='entry', host='web1'), on_web1, ENTRIES)


main()
