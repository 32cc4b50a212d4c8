#!/usr/bin/env python3
"""usage: bench/sampled_shares.py [wordpress|mediawiki] [jit|interrupts]

Compares samples with traces: the share of own time that samples give to each function, beside the share in exact traces.

Two sites, WordPress's front page (wordpress.py) and MediaWiki (a page and its history out of the cache, and a parse; the wiki
of mediawiki.py), each on one php-fpm worker with opcache. In the same worker, requests that are sampled alternate with
requests that are traced and with plain ones, all with strobe.instrument=1, so that the idle observer, a few ns per call, is
part of what all three measure: a second worker without it would be another program. sampled_shares.php, prepended to each
request, begins and ends it, and adds up own time by function name. Each site is measured with samples by interrupts, and
again under the tracing JIT, where samples are taken at calls, against traces under the same JIT.

From a function's own time in the trace its share of the cost of tracing is subtracted:

    own time - calls of it * inside - calls by it * outside - paths below it * path

"inside" is what a trace adds to the own time of the function that is called, "outside" what it adds to that of its caller, both
measured in the same PHP on empty functions, apart for functions written in PHP and internal ones (sampled_shares_calibrate.php). A
path is a call's way from the root; the first call by each costs its caller more: a node is made, in memory that is cold. That is
what is left of the time by which traced requests are longer than plain ones (CPU time, the tenth percentile of each) when inside
and outside are subtracted for all calls, divided by all paths. These are times on a processor that nobody disturbs; so all are
multiplied by what the traced requests took on average, divided by that percentile.

Printed per site: functions with more than 0.5 % of own time by either, their shares in percent, and the differences in points; the
standard error expected of a share p of n independent samples is sqrt(p (1 - p) / n). On a busy machine samples and traces
err more: 10 ms for which another process runs go to one function. So requests that took more than 1.5 times the median are left
out, and "seen" is the standard error of the difference as the variation between requests shows it.

SAMPLES (200,000) is the least number of samples per site and way; PERIOD (0.0005) their distance in seconds; CLOCK (wall, or cpu:
then both measure CPU time, so that neither waiting nor other processes count). DIFFERENCES names a file for all functions as
JSON.
"""
import glob
import json
import math
import os
import random
import statistics
import sys
import time
import urllib.parse

import mediawiki
import peers
import wordpress

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES = int(os.environ.get('SAMPLES', '200000'))
PERIOD = os.environ.get('PERIOD', '0.0005')
CLOCK = os.environ.get('CLOCK', 'wall')
DIFFERENCES = os.environ.get('DIFFERENCES')
LEAST_SHARE = 0.005
TOLERANCE = 0.003
WARM_UP = 8
# A traced request tells more than a sampled one, and takes longer to read.
ROUND = ['plain'] * 2 + ['sample'] * 4 + ['trace']
# The columns of sampled_shares.php.
OWN, CALLS, CALLED, CALLED_INTERNAL, PATHS, INTERNAL = range(6)
WAYS = {'interrupts': {}, 'jit': {'opcache.jit': 'tracing', 'opcache.jit_buffer_size': '64M'}}


class Wiki(wordpress.Site):
    """MediaWiki on one php-fpm worker, with a file as its database."""
    document_root = os.environ.get('MEDIAWIKI', '/usr/share/mediawiki')
    modules = wordpress.MODULES + ['pdo', 'pdo_sqlite', 'sqlite3']

    def start_database(self):
        pass

    def environment(self):
        return dict(super().environment(), MW_CONFIG_FILE=f'{mediawiki.STATE}/LocalSettings.php')


def wiki_requests():
    text = open(sorted(glob.glob(f'{mediawiki.STATE}/content/*.txt'))[0], encoding='utf-8').read()
    parse = urllib.parse.urlencode({'action': 'parse', 'format': 'json', 'contentmodel': 'wikitext', 'disablelimitreport': 1, 'text': text}).encode()
    form = {'REQUEST_METHOD': 'POST', 'CONTENT_TYPE': 'application/x-www-form-urlencoded', 'CONTENT_LENGTH': len(parse)}
    return [('/index.php?title=Page_5', {}, b''), ('/index.php?title=Page_5&action=history', {}, b''), ('/api.php', form, parse)]


SITES = {'wordpress': ('WordPress', wordpress.why_not, wordpress.Site, lambda: [('/', {}, b'')]),
         'mediawiki': ('MediaWiki', lambda: (None if wordpress.find_fpm() else 'php-fpm is not installed') or mediawiki.why_not(), Wiki, wiki_requests)}


class Shares:
    """Sums by function over requests, with the data for their variance."""

    def __init__(self):
        self.sums, self.total, self.total_square, self.requests = {}, 0.0, 0.0, 0

    def add(self, values, count):
        """Adds one of `count` requests of a kind; all kinds count alike."""
        total = sum(values.values()) / count
        for name, x in values.items():
            x /= count
            s = self.sums.setdefault(name, [0.0, 0.0, 0.0])
            s[0] += x
            s[1] += x * x
            s[2] += x * total
        self.total += total
        self.total_square += total * total
        self.requests += 1

    def share(self, name):
        return self.sums.get(name, [0])[0] / self.total

    def error(self, name):
        """Returns the standard error of a ratio of sums over requests."""
        p, (_, square, product) = self.share(name), self.sums.get(name, [0, 0, 0])
        return math.sqrt(max(0, square - 2 * p * product + p * p * self.total_square)) / self.total


def request(site, what, url, more, body):
    to = site.path('shares.json')
    status, answer = site.get(url, {**more, 'STROBE_SHARES': f'{what} {CLOCK} {PERIOD}', 'STROBE_SHARES_TO': to}, body)
    # A program may finish its answer before its shutdown.
    for _ in range(10000):
        if status != 200 or os.path.exists(to):
            break
        time.sleep(0.001)
    else:
        raise RuntimeError(f'{url}: there is no result')
    if status != 200:
        raise RuntimeError(f'{url} answered {status}: {answer[:300]!r}')
    with open(to, encoding='utf-8') as f:
        result = json.load(f)
    os.unlink(to)
    if 'rows' in result:
        result['total'] = sum(row[0] for row in result['rows'].values())
    return result


def measure(site, requests):
    """Returns for each kind of request the rows of sampled and traced ones, and CPU times by kind of measurement."""
    seen = [{what: [] for what in ('plain', 'sample', 'trace')} for _ in requests]
    samples, order = 0, random.Random(1)
    for _ in range(WARM_UP):
        for r in requests:
            for what in seen[0]:
                request(site, what, *r)
    while samples < SAMPLES:
        for r, results in zip(requests, seen):
            # The request after a traced one finds caches cold and the database long idle.
            for what in order.sample(ROUND, len(ROUND)):
                results[what].append(request(site, what, *r))
        samples = sum(r['total'] for results in seen for r in undisturbed(results['sample']))
        peers.say(f'{samples} samples')
    return seen


def undisturbed(results):
    """Returns those that took at most 1.5 times the median."""
    median = statistics.median(r['total'] for r in results)
    return [r for r in results if r['total'] <= 1.5 * median]


def tenth(values):
    return statistics.quantiles(values, n=10)[0]


class Cost:
    """The cost of tracing, in ns."""

    def __init__(self, site, seen):
        measured = [request(site, 'calibrate', '/', {}, b'') for _ in range(3)]
        self.inside, self.outside = [0, 0], [0, 0]
        for internal, kinds in enumerate((('function', 'method'), ('internal',))):
            self.inside[internal] = statistics.mean(m[k]['inside'] for m in measured for k in kinds)
            self.outside[internal] = statistics.mean(m[k]['outside'] for m in measured for k in kinds)
        rows = [row for results in seen for row in results['trace'][-1]['rows'].values()]
        cpu = [{what: [r['cpu'] for r in results[what]] for what in ('plain', 'trace')} for results in seen]
        self.calls, self.paths = sum(r[CALLS] for r in rows), sum(r[PATHS] for r in rows)
        self.added = sum(tenth(c['trace']) - tenth(c['plain']) for c in cpu)
        self.path = 0
        self.path = max(0, self.added - sum(map(self.of, rows))) / self.paths
        self.slowness = sum(statistics.mean(c['trace']) for c in cpu) / sum(tenth(c['trace']) for c in cpu)

    def of(self, row):
        """Returns the time that tracing added to the own time of a function."""
        return (row[CALLS] * self.inside[row[INTERNAL]] + row[CALLED] * self.outside[0] + row[CALLED_INTERNAL] * self.outside[1] +
                row[PATHS] * self.path)

    def without(self, rows):
        return {name: row[OWN] - self.of(row) * self.slowness for name, row in rows.items()}


def compare(what, site, requests):
    seen = measure(site, requests)
    cost = Cost(site, seen)
    left_out = 0
    for results in seen:
        for kind in ('sample', 'trace'):
            left_out += len(results[kind])
            results[kind] = undisturbed(results[kind])
            left_out -= len(results[kind])
    sampled, traced, n = Shares(), Shares(), 0
    for results in seen:
        for r in results['sample']:
            sampled.add({name: row[0] for name, row in r['rows'].items()}, len(results['sample']))
            n += r['total']
        for r in results['trace']:
            traced.add(cost.without(r['rows']), len(results['trace']))
    rows = []
    for name in sampled.sums.keys() | traced.sums.keys():
        p, q = sampled.share(name), traced.share(name)
        if max(p, q) >= LEAST_SHARE:
            rows.append((q, p, p - q, math.hypot(sampled.error(name), traced.error(name)), name))
    rows.sort(reverse=True)
    worst = max(rows, key=lambda r: abs(r[2]))
    outside_tolerance = [r for r in rows if abs(r[2]) > TOLERANCE]
    print(f'{what}: samples\t{n:,.0f}\t\tin {sampled.requests} requests; {traced.requests} traced ones; {left_out} left out')
    print(f'{what}: cost of tracing\t{cost.added / cost.calls:.1f}\tns\tper call; of functions {cost.inside[0]:.1f} inside and {cost.outside[0]:.1f} '
          f'outside, of internal ones {cost.inside[1]:.1f} and {cost.outside[1]:.1f}, per path {cost.path:.0f}; {cost.calls:,.0f} calls, '
          f'{cost.paths:,.0f} paths; slowness {cost.slowness:.2f}')
    print(f'{what}: functions above {LEAST_SHARE:.1%}\t{len(rows)}\t\t{len(outside_tolerance)} differ by more than {TOLERANCE * 100:.1f} points')
    print(f'{what}: largest difference\t{worst[2] * 100:+.2f}\tpoints\t{worst[4]}')
    for q, p, difference, error, name in rows:
        print(f'{what}: {name}\t{difference * 100:+.2f}\tpoints\ttrace {q:.2%}, samples {p:.2%}; '
              f'error {math.sqrt(q * (1 - q) / n) * 100 if q > 0 else 0:.2f} expected, {error * 100:.2f} seen', flush=True)
    if DIFFERENCES:
        keep(what, sampled, traced, n, [r['rows'] for results in seen for r in results['trace']], vars(cost))


def keep(what, sampled, traced, n, traces, cost):
    sums = {}
    for rows in traces:
        for name, row in rows.items():
            sums[name] = [a + b for a, b in zip(sums.get(name, [0] * 6), row)]
    everything = {name: {'trace': traced.share(name), 'samples': sampled.share(name), 'error': math.hypot(sampled.error(name), traced.error(name)),
                         'rows': sums.get(name)} for name in sampled.sums.keys() | traced.sums.keys()}
    with open(DIFFERENCES, 'a', encoding='utf-8') as f:
        f.write(json.dumps({'what': what, 'samples': n, 'cost': cost, 'requests': [sampled.requests, traced.requests],
                            'functions': everything}) + '\n')


def main():
    words = sys.argv[1:]
    for name, (title, why_not, kind, requests) in SITES.items():
        if any(w in SITES for w in words) and name not in words:
            continue
        if reason := why_not():
            peers.say(f'{title} is not measured: {reason}')
            print(f'Shares of samples, {title}\t-\t\tnot measured: {reason}')
            continue
        for way, settings in WAYS.items():
            if any(w in WAYS for w in words) and way not in words:
                continue
            settings = {'strobe.instrument': '1', 'auto_prepend_file': f'{HERE}/sampled_shares.php', **settings}
            with kind(settings) as site:
                compare(f'{title}, {"tracing JIT, samples at calls" if way == "jit" else "samples by interrupts"}', site, requests())


if __name__ == '__main__':
    main()
