"""Addresses of the pages of xhprof and uprofiler lead to Strobe's; docs/xhprof-ui.md lists them."""
import json
import os
import re
import urllib.parse

import wire
from daemon import Daemon, ask_without_redirects as ask
from strobe_test import ROOT, Directory, Skip, check, main, test

CART = os.path.join(ROOT, 'tests/data/cart.json')


def some_runs(d):
    with open(CART, 'rb') as f:
        cart = f.read()
    for name in ('shop/1', 'shop/2', 'shop/3', 'blog/5f1a', 'uprofiler/5f1a', 'xhprof/77', 'mine/9'):
        source, run = name.split('/')
        status, _, text = ask(d, f'/api/v1/runs?source={source}&id={run}', 'POST', cart)
        check(status == 201, text)


# The address that is asked for, and where it leads.
LINKS = {
    'index.php?run=1&source=shop': '/runs/shop/1',
    'index.php?run=1&source=shop&sort=cpu': '/runs/shop/1?column=cpu_ns&sort=total',
    'index.php?run=1&source=shop&sort=excl_wt&all=1': '/runs/shop/1?column=wall_ns',
    'index.php?run=1&source=shop&sort=ct': '/runs/shop/1?column=calls',
    'index.php?run=1&source=shop&sort=fn': '/runs/shop/1?sort=name',
    'index.php?run=1&source=shop&symbol=Cart%3A%3Atotal&sort=mu': '/runs/shop/1?function=Cart%3A%3Atotal&column=memory_bytes&sort=total',
    'index.php?run=1&source=shop&symbol=Cart%3A%3Aprice%401': '/runs/shop/1?function=Cart%3A%3Aprice',
    'index.php?run=1&source=shop&symbol=class%40anonymous': '/runs/shop/1?function=class%40anonymous',
    'index.php?run1=1&run2=2&source=shop': '/?run=shop/2&base=shop/1',
    'index.php?run1=1&run2=2&source=shop&symbol=main()&sort=ct': '/?run=shop/2&base=shop/1&function=main%28%29&column=calls',
    'index.php?run=1,2,3&source=shop': '/?run=shop/1&run=shop/2&run=shop/3',
    'index.php?run=1,2,3&wts=20,30,50&source=shop': '/?run=shop/1&run=shop/2&run=shop/3&weights=20%2C30%2C50',
    'index.php?run=1,2&wts=0.2,0.8&source=shop&symbol=f': '/?run=shop/1&run=shop/2&weights=2%2C8&function=f',
    'index.php?run=5f1a': '/runs/uprofiler/5f1a',
    'index.php?run=77': '/runs/xhprof/77',
    'index.php?run=9&symbol=f': '/runs/mine/9?function=f',
    'index.php': '/runs',
    'index.php?source=shop': '/runs?source=shop',
    'callgraph.php?run=1&source=shop': '/callgraph.svg?run=shop/1&threshold=1',
    'callgraph.php?run=1&source=shop&threshold=0.05&type=png&critical=true': '/callgraph.svg?run=shop/1&threshold=5',
    'callgraph.php?run=1&source=shop&func=Cart%3A%3Atotal&threshold=0': '/callgraph.svg?run=shop/1&function=Cart%3A%3Atotal&threshold=0',
    'callgraph.php?run1=1&run2=2&source=shop&threshold=7': '/callgraph.svg?run=shop/2&base=shop/1&threshold=1',
}


@test
def links_of_xhprof_and_uprofiler_redirect_to_the_equivalent_pages():
    with Directory() as directory, Daemon(directory) as d:
        some_runs(d)
        for link, address in LINKS.items():
            for folder in ('/', '/xhprof_html/', '/uprofiler_html/'):
                status, headers, _ = ask(d, folder + link)
                check((status, headers['Location']) == (302, address), f'{folder}{link}: {status} {headers["Location"]}')
        # Their own links name the folder.
        for folder in ('/', '/xhprof_html/'):
            status, headers, _ = ask(d, f'{folder}?run=1&source=shop&symbol=f')
            check((status, headers['Location']) == (302, '/runs/shop/1?function=f'), f'{folder}: {headers["Location"]}')
        check(ask(d, '/?run1=1&run2=2&source=shop')[1]['Location'] == '/?run=shop/2&base=shop/1', 'a comparison is redirected as well')
        status, headers, page = ask(d, '/?entry=x')
        check(status == 200 and 'Location' not in headers, 'the start page is not redirected')
        for name in ('/runs/shop/1', '/runs?source=shop'):
            check(ask(d, name)[0] == 200, f'{name} is found')
        check(ask(d, '/xhprof_html/css/xhprof.css')[0] == 404, 'other files of the old programs return 404')


@test
def a_sort_by_a_missing_metric_is_redirected_to_the_default_metric():
    sampled = wire.message({('main()', 'f'): 3})
    with Directory() as directory, Daemon(directory) as d:
        some_runs(d)
        for run, body in (('folded', b'main;f 3\n'), ('sampled', sampled)):
            status, _, text = ask(d, f'/api/v1/runs?source=mine&id={run}', 'POST', body)
            check(status == 201, text)
        for link, address in {
                'run=folded&source=mine&sort=excl_wt': '/runs/mine/folded',
                'run=folded&source=mine&sort=cpu': '/runs/mine/folded?sort=total',
                'run=folded&source=mine&sort=ct&symbol=f': '/runs/mine/folded?function=f',
                'run=folded&source=mine&sort=samples': '/runs/mine/folded?column=samples&sort=total',
                'run=sampled&source=mine&sort=wt': '/runs/mine/sampled?column=wall_ns&sort=total',
                'run=sampled&source=mine&sort=cpu': '/runs/mine/sampled?sort=total',
                'run1=sampled&run2=folded&source=mine&sort=wt': '/?run=mine/folded&base=mine/sampled&sort=total',
                'run1=folded&run2=sampled&source=mine&sort=excl_wt': '/?run=mine/sampled&base=mine/folded',
                'run=sampled,folded&source=mine&sort=excl_wt': '/?run=mine/sampled&run=mine/folded'}.items():
            status, headers, _ = ask(d, f'/index.php?{link}')
            check((status, headers['Location']) == (302, address), f'{link}: {status} {headers["Location"]}')
            check(ask(d, address)[0] == 200, f'the page {address} is found')
        status, headers, _ = ask(d, '/index.php?run=none&source=mine&sort=wt')
        check((status, headers['Location']) == (302, '/runs/mine/none?column=wall_ns&sort=total'), f'an unknown run is redirected to its page: {status}')


@test
def typeahead_responses_match_those_of_uprofiler():
    """Every function of the array that has the text in any case, sorted by bytes, an exact one first; f@1 is f."""
    with open(CART) as f:
        array = json.load(f)
    functions = {re.sub(r'@\d+$', '', name) for pair in array for name in pair.split('==>')}

    def expected(text):
        found = sorted(name for name in functions if text.lower() in name.lower())
        return [text] * (text in functions) + [name for name in found if name != text]

    with Directory() as directory, Daemon(directory) as d:
        some_runs(d)
        for text in ('', 'c', 'CART', 'main()', 'total', 'mysql_wait', 'nothing at all'):
            for path in ('/typeahead.php', '/uprofiler_html/typeahead.php'):
                status, headers, answer = ask(d, f'{path}?q={urllib.parse.quote(text)}&run=1&source=shop')
                check(status == 200 and headers['Content-Type'] == 'text/plain; charset=utf-8', f'{status}')
                check(answer.split('\n')[:-1] == expected(text), f'{text!r}: {answer!r}, not {expected(text)}')
        status, _, answer = ask(d, '/typeahead.php?q=m&run1=1&run2=2&source=shop&limit=10&timestamp=1')
        check(answer.split('\n')[:-1] == expected('m'), f'names of two runs are listed once: {answer!r}')
        status, _, answer = ask(d, '/typeahead.php?q=m&limit=10')
        check(status == 400 and 'no run is selected' in answer, answer)
        check(ask(d, '/typeahead.php?q=m&run=none&source=shop')[0] == 404, 'an unknown run returns 404')


@test
def parameters_are_never_used_as_paths_or_markup():
    with Directory() as directory, Daemon(directory) as d:
        some_runs(d)
        for link in ('run=../../etc/passwd&source=shop', 'run=1&source=../x', 'run=1&source=%2Fetc', 'run=1%2C..%2Fx&source=shop',
                     'run1=1&source=shop', 'run1=..%2F1&run2=2&source=shop', 'run=1,2&wts=1&source=shop', 'run=1,2&wts=a,b&source=shop',
                     'run=,&source=shop', 'run=' + ','.join('1' * 33) + '&source=shop', 'run=1&source=<script>',
                     'run=%3Cscript%3Ealert(1)%3C/script%3E&source=shop', 'run=1%0d%0aX:%20y&source=shop', 'run=' + 'a' * 65 + '&source=shop'):
            for page in ('index.php', 'callgraph.php'):
                status, headers, text = ask(d, f'/{page}?{link}')
                check(status == 400 and '<script>' not in text and 'class="why"' in text, f'{page}?{link}: {status}')
                check('Location' not in headers and 'X' not in headers, link)
        check(ask(d, '/index.php?run=none')[0] == 404, 'an unknown run returns 404')
        for page in ('index.php', 'callgraph.php', 'xhprof_html/index.php', 'uprofiler_html/'):
            for source in ('%22%3E', '../x', 'a' * 65):
                status, headers, text = ask(d, f'/{page}?source={source}')
                check(status == 400 and 'is not a valid source' in text and 'Location' not in headers, f'{page}?source={source}: {status}')
        for symbol in ('</a><script>', '\r\nX: y', '/etc/passwd', '../x', 'a&base=shop/2', 'é"\''):
            status, headers, text = ask(d, '/index.php?run=1&source=shop&symbol=' + urllib.parse.quote(symbol))
            where = urllib.parse.urlsplit(headers['Location'])
            check(status == 302 and where.path == '/runs/shop/1', f'{symbol!r}: {status} {headers["Location"]}')
            check(urllib.parse.parse_qs(where.query) == {'function': [symbol]}, f'{symbol!r}: {where.query}')
            check(re.fullmatch(r'[!-~]*', headers['Location']) and '<' not in headers['Location'], 'the redirect address is plain ASCII')
        status, _, _ = ask(d, '/index.php?run=1&source=shop', 'POST', b'x')
        check(status in (405, 413), f'methods other than GET are rejected: {status}')


@test
def a_call_graph_of_one_function_shows_its_callers_and_callees():
    with Directory() as directory, Daemon(directory) as d:
        some_runs(d)
        status, _, whole = ask(d, '/callgraph.svg?run=shop/1&threshold=0')
        if status == 503:
            raise Skip(whole)
        status, _, part = ask(d, '/callgraph.svg?run=shop/1&threshold=0&function=mysql_wait')
        check(status == 200 and 'mysql_wait' in part and 'main()' in part, part)
        check('Cart::price' in whole and 'Cart::price' not in part, 'unrelated functions are not shown')
        check(ask(d, '/callgraph.svg?run=shop/1&function=none')[0] == 404, 'an unknown function returns 404')


@test
def the_documented_table_of_redirects_matches_the_daemon():
    """Each row's old address leads to its new one, with real names put in."""
    names = {'NS': 'shop', 'ID': '1', 'A': '1', 'B': '2', 'F': 'Cart::add', 'TEXT': 'm', 'HOST': ''}

    def filled(text):
        return re.sub(r'\b(' + '|'.join(names) + r')\b', lambda m: names[m[0]], text)

    with open(os.path.join(ROOT, 'docs/xhprof-ui.md')) as f:
        rows = [row.split(' | ') for row in re.findall(r'^\| (.*) \|$', f.read(), re.M)][1:]
    check(len(rows) >= 15, f'at least 15 rows were found, not {len(rows)}')
    before = {'theirs': '', 'ours': ''}
    with Directory() as directory, Daemon(directory) as d:
        some_runs(d)
        for feature, theirs, ours in rows:
            old, new = re.match('`(.*?)`', theirs)[1], re.match('`(.*?)`', ours)
            if not new:
                old = before['theirs'] + old[1:] if old.startswith('…') else old
                status, headers, text = ask(d, '/' + filled(old))
                check(status == 200 or ask(d, headers['Location'])[0] == 200, f'{feature}: {old} is {status} {text}')
                continue
            new = new[1]
            # "…&symbol=F" goes on from the last address that was given in full.
            old = before['theirs'] + old[1:] if old.startswith('…') else old
            new = before['ours'] + new[1:] if new.startswith('…') else new
            if '…' not in theirs:
                before = {'theirs': old, 'ours': new}
            status, headers, _ = ask(d, '/' + filled(old))
            got = urllib.parse.urlsplit(headers['Location'] or '')
            wanted = urllib.parse.urlsplit(filled(new))
            queries = [sorted(urllib.parse.parse_qsl(u.query)) for u in (got, wanted)]
            if wanted.path == '/callgraph.svg' and 'threshold' not in old:
                queries[1] = sorted(queries[1] + [('threshold', '1')])
            check(status == 302 and got.path == (wanted.path or '/') and queries[0] == queries[1],
                  f'{feature}: {old} leads to {headers["Location"]}, not {new}')
            status, _, text = ask(d, filled(new))
            check(status == 200 and ('function=' not in new or 'Cart::add' in text), f'{feature}: {new} is {status}')


main()
