"""The call graph of a comparison has the functions and arrows of both sides, with the values that this test counts from the
stacks."""
import collections
import random
import re
import urllib.error
import urllib.request
import xml.etree.ElementTree as xml

from daemon import Daemon
from strobe_test import Directory, Skip, check, main, test

SVG = '{http://www.w3.org/2000/svg}'
TITLE = '{http://www.w3.org/1999/xlink}title'
NAMES = 'abcdefghi'


def side(seed, names):
    """Stacks with their values: a few functions, some of which call themselves or each other."""
    chance = random.Random(seed)
    stacks = {}
    for _ in range(30):
        depth = chance.randrange(1, 5)
        stack = ('main',) + tuple(chance.choice(names) for _ in range(depth))
        stacks[stack] = stacks.get(stack, 0) + chance.randrange(1, 1000)
    return stacks


def counted(stacks):
    """A value counts once for each function and once for each pair of caller and callee on its stack."""
    totals = collections.Counter()
    for stack, value in stacks.items():
        for name in set(stack):
            totals[name] += value
        for pair in set(zip(stack, stack[1:])):
            totals[' → '.join(pair)] += value
    return totals


BEFORE = side(1, NAMES[:-1]) | {('main', 'old', 'a'): 700}
AFTER = side(2, NAMES[1:]) | {('main', 'new'): 900}


def post(d, run, stacks):
    text = ''.join(f'{";".join(stack)} {value}\n' for stack, value in stacks.items())
    request = urllib.request.Request(f'{d.url}/api/v1/runs?source=shop&id={run}', data=text.encode())
    with urllib.request.urlopen(request, timeout=60) as r:
        check(r.status == 201, r.status)


def number(text):
    return int(text.replace(',', ''))


def drawn(d, query):
    """By name of the function or "caller → callee": values before and after, color, and whether it is dashed."""
    try:
        tree = xml.fromstring(d.get('/api/v1/callgraph?' + query))
    except urllib.error.HTTPError as e:
        if e.code == 503:
            raise Skip('strobe was built without Graphviz') from e
        raise
    found = {}
    for g in tree.iter(SVG + 'g'):
        kind = g.get('class', '').split(' ')
        link = g.find(f'.//{SVG}a') if kind[0] in ('node', 'edge') else None
        if link is None:
            continue
        name, words = link.get(TITLE).split('\n')
        sides = re.match(r'before ([\d,]+)[^;]*; after ([\d,]+)', words)
        shape = link.find(SVG + 'path')
        color = shape.get('fill' if kind[0] == 'node' else 'stroke')
        found[name] = (number(sides[1]), number(sides[2]), color, bool(shape.get('stroke-dasharray')), kind)
    return found


def check_look(name, values):
    """Orange has more red than blue, blue less; what did not change has as much of both."""
    before, after, color, dashed, kind = values
    red, blue = int(color[1:3], 16), int(color[5:7], 16)
    wanted = (after > before) - (after < before)
    check((red > blue) - (red < blue) == wanted, f'{name}: {before} to {after} is {color}')
    check(('grew' in kind, 'fell' in kind) == (wanted > 0, wanted < 0), f'{name}: {kind}')
    check(dashed == (after == 0), f'{name}: only functions and arrows without calls in the second profile are dashed')


@test
def a_comparison_shows_the_values_of_both_sides():
    before, after = counted(BEFORE), counted(AFTER)
    with Directory() as directory, Daemon(directory) as d:
        post(d, 'before', BEFORE)
        post(d, 'after', AFTER)
        graph = drawn(d, 'run=shop/after&base=shop/before&scale=none&threshold=0')
        for name, values in graph.items():
            check(values[:2] == (before[name], after[name]), f'{name}: {values[:2]}, not {before[name]}, {after[name]}')
            check_look(name, values)
        functions = {name for name in before.keys() | after.keys() if '→' not in name}
        check(functions <= graph.keys(), f'all functions are drawn; missing: {functions - graph.keys()}')
        check(graph['old'][1] == 0 and graph['a'][1] == 0 and graph['new'][0] == 0, 'some functions are removed, and some are new')
        check(graph['main → old'][1] == 0 and graph['main → new'][0] == 0, 'some arrows are removed, and some are new')


@test
def swapping_the_two_profiles_swaps_colors_and_values():
    with Directory() as directory, Daemon(directory) as d:
        post(d, 'before', BEFORE)
        post(d, 'after', AFTER)
        there = drawn(d, 'run=shop/after&base=shop/before&scale=none&threshold=0')
        back = drawn(d, 'run=shop/before&base=shop/after&scale=none&threshold=0')
        check(there.keys() == back.keys(), there.keys() ^ back.keys())
        for name, values in back.items():
            check(values[:2] == there[name][1::-1], f'{name}: {values[:2]}')
            check_look(name, values)


@test
def a_graph_of_one_function_shows_its_callers_and_callees_from_both_sides():
    """Only stacks through it, of either side."""
    parts = [counted({s: v for s, v in stacks.items() if 'a' in s}) for stacks in (BEFORE, AFTER)]
    with Directory() as directory, Daemon(directory) as d:
        post(d, 'before', BEFORE)
        post(d, 'after', AFTER)
        graph = drawn(d, 'run=shop/after&base=shop/before&scale=none&threshold=0&function=a')
        check({'a', 'old', 'main'} <= graph.keys() and 'new' not in graph, graph.keys())
        for name, values in graph.items():
            check(values[:2] == (parts[0][name], parts[1][name]), f'{name}: {values[:2]}')


main()
