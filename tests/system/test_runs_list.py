"""The list of runs: totals, orders, filters, pieces, and what is ticked in it."""
import glob
import html
import json
import os
import re
import subprocess
import urllib.parse

from daemon import Daemon, ask_without_redirects as ask
from strobe_test import ROOT, STROBE, Directory, check, main, test

DATA = os.path.join(ROOT, 'tests/data')
COLUMNS = {'wall': 'wall_ns', 'cpu': 'cpu_ns', 'memory': 'memory_bytes', 'peak': 'peak_memory_bytes', 'calls': 'calls'}


def strobe(*arguments):
    return subprocess.run([STROBE, *arguments], capture_output=True, text=True, timeout=120)


def xhprof(wall, **more):
    return json.dumps({'main()': {'ct': 1, 'wt': wall, **more}, 'main()==>f': {'ct': 3, 'wt': wall // 2}}).encode()


def listed(d, query=''):
    return [f'{r["source"]}/{r["id"]}' for r in json.loads(d.get('/api/v1/runs?' + query))['runs']]


def on_page(page):
    return re.findall(r'<th scope="row"[^>]*><a href="/runs/([^"]*)">', page)


def post(d, query, wall, **more):
    status, _, text = ask(d, '/api/v1/runs?' + query, 'POST', xhprof(wall, **more))
    check(status == 201, text)


def some_runs(d):
    post(d, 'source=shop&id=a1&url=/cart&label.host=web1&label.deploy=70', 500, cpu=100, mu=10, pmu=3000)
    post(d, 'source=shop&id=a2&url=/cart%3Fx%3D1&label.host=web2&label.deploy=71', 900, cpu=50, mu=-30, pmu=2000)
    post(d, 'source=blog&id=b1&name=%3Cb%3Efirst&label.host=web1', 700)


@test
def totals_match_strobe_report_for_real_files():
    """Compares each column of the file with sums computed by another program from the file itself."""
    files = sorted(glob.glob(DATA + '/*.xhprof') + [DATA + '/cart.json'])
    with Directory() as directory, Daemon(directory) as d:
        for n, file in enumerate(files):
            imported = strobe('import', '--source', 'files', '--id', str(n), '--store', f'sqlite:{directory}/state', file)
            check(imported.returncode == 0, imported.stderr)
        runs = {r['id']: r for r in json.loads(d.get('/api/v1/runs?source=files'))['runs']}
        check(len(runs) == len(files), f'all are listed: {len(runs)} of {len(files)}')
        for n, file in enumerate(files):
            totals = runs[str(n)]['totals']
            check(totals.get('wall_ns') and totals.get('calls'), f'{file} has totals: {totals}')
            for column, total in totals.items():
                report = json.loads(strobe('report', '--json', '--column', column, file).stdout)
                check(report['total'] == total, f'{column} of {file}: {total} in the list, {report["total"]} in the report')


@test
def each_column_sorts_both_ways_in_the_api_and_on_the_page():
    with Directory() as directory, Daemon(directory) as d:
        some_runs(d)
        expected = {
            'wall': 'a2 b1 a1', 'memory': 'a1 a2 b1', 'cpu': 'a1 a2 b1', 'peak': 'a1 a2 b1', 'calls': 'b1 a2 a1',
            'duration': 'a2 b1 a1',
        }
        for key, ids in expected.items():
            for order in ('', '&order=desc'):
                got = ' '.join(run.split('/')[1] for run in listed(d, f'sort={key}{order}'))
                check(got == ids, f'{key}{order}: {got}, not {ids}')
            up = ' '.join(run.split('/')[1] for run in listed(d, f'sort={key}&order=asc'))
            check(up == ' '.join(reversed(ids.split())), f'{key} upwards: {up}')
        check(listed(d, 'sort=source') == ['blog/b1', 'shop/a1', 'shop/a2'], 'by source')
        check(listed(d, 'sort=id&order=desc') == ['blog/b1', 'shop/a2', 'shop/a1'], 'by id')
        check(listed(d, 'sort=name') == ['shop/a1', 'shop/a2', 'blog/b1'], 'by displayed name')
        page = d.get('/runs')
        for title in ('Started (UTC)', 'Wall', 'CPU', 'Memory', 'Peak memory', 'Calls', 'Source', 'Id', 'Run'):
            link = re.search(rf'<a href="([^"]*)">{re.escape(title)}</a>', page)
            if not check(link, f'{title} is a link'):
                continue
            there = d.get(html.unescape(link[1]))
            key = urllib.parse.parse_qs(urllib.parse.urlsplit(html.unescape(link[1])).query)
            check(on_page(there) == listed(d, f'sort={key["sort"][0]}&order={key["order"][0]}'), f'{title} sorts')
            check(len(re.findall('aria-sort=', there)) == 1, f'{title} is marked as sorted')
        check('aria-sort="descending"' in d.get('/runs?sort=cpu'), 'largest first')
        check('sort=cpu&amp;order=asc">CPU' in d.get('/runs?sort=cpu&source=shop'), 'a second click reverses the order')
        for bad in ('sort=shape', 'order=up', 'after=1', 'limit=-1', 'labels=host', 'sort=cpu&after=x.1'):
            check(ask(d, '/api/v1/runs?' + bad)[0] == 400 and ask(d, '/runs?' + bad)[0] == 400, bad)


@test
def runs_are_filtered_by_source_id_time_url_labels_and_text():
    with Directory() as directory, Daemon(directory) as d:
        some_runs(d)
        for query, ids in {
            'source=blog': 'b1', 'id=a': 'a1 a2', 'id=2': 'a2', 'url=/cart': 'a1 a2', 'url=%3Fx': 'a2', 'since=-1h': 'a1 a2 b1',
            'until=-1h': '', 'host=web1': 'a1 b1', 'label.host=!web1': 'a2', 'labels=host%3Dweb1+deploy%3D7*': 'a1',
            'labels=host%3D!web1': 'a2', 'search=CART': 'a1 a2', 'search=FIRST': 'b1', 'search=web2': 'a2',
            'search=blog': 'b1', 'search=71': 'a2', 'source=shop&search=web1&id=a': 'a1', 'search=%25': '',
        }.items():
            got = ' '.join(sorted(run.split('/')[1] for run in listed(d, query)))
            check(got == ids, f'{query}: {got}, not {ids}')
            check(' '.join(sorted(r.split('/')[1] for r in on_page(d.get('/runs?' + query)))) == ids, f'the page: {query}')
        page = d.get('/runs?search=first&labels=host%3Dweb1&deploy=!7&sort=wall')
        check('name="search" size="18" placeholder="id, URL, name or label" value="first"' in page, 'the form keeps the text')
        check('<input type="hidden" name="deploy" value="!7">' in page and 'name="sort" value="wall"' in page, 'the form keeps the other filters')
        check('&lt;b&gt;first' in page and '<b>first' not in page, 'names are escaped')
        check('<option value="host=web1">' in page, 'labels of the runs are offered')


@test
def a_long_list_is_paginated_in_every_sort_order():
    with Directory() as directory, Daemon(directory) as d:
        for i in range(25):
            post(d, f'source=s&id=r{i}&url=/p/{i % 3}', 1000 + i * 7 % 25)
        for sort in ('wall', 'name', 'start', 'calls', 'source'):
            seen, link, pages = [], f'/runs?limit=10&sort={sort}', 0
            while link and pages < 9:
                page = d.get(link)
                seen += on_page(page)
                more = re.search(r'<a rel="next" href="([^"]*)">', page)
                check('First runs' in page or not pages, 'a link to the first page')
                link, pages = more and html.unescape(more[1]), pages + 1
            check(pages == 3 and seen == listed(d, f'limit=100&sort={sort}'), f'{sort}: {pages} pages, {len(seen)} runs')


@test
def selected_runs_are_compared_or_aggregated():
    with Directory() as directory, Daemon(directory) as d:
        some_runs(d)
        page = d.get('/runs?source=shop')
        check('name="run" value="shop/a1"' in page and 'action="/runs/choose"' in page, 'runs have checkboxes')
        for query, address in {
            'run=shop/a2&run=shop/a1&do=compare&weights=': '/?run=shop/a2&base=shop/a1',
            'run=shop/a2&run=blog/b1&do=aggregate&weights=': '/?run=shop/a2&run=blog/b1',
            'run=shop/a2&run=shop/a1&do=aggregate&weights=20,30': '/?run=shop/a2&run=shop/a1&weights=20%2C30',
            'run=shop/a2&run=shop/a1&do=aggregate&weights=0.25,2': '/?run=shop/a2&run=shop/a1&weights=25%2C200',
            'run=shop/a2&do=aggregate&weights=5': '/runs/shop/a2',
        }.items():
            status, headers, _ = ask(d, '/runs/choose?' + query)
            check(status == 302 and headers['Location'] == address, f'{query}: {status} {headers["Location"]}')
        for query in ('do=compare', 'run=shop/a1&do=compare', 'do=aggregate', 'run=../x&do=aggregate', 'run=a&do=aggregate',
                      'run=shop/a1&run=shop/a2&weights=1', 'run=shop/a1&run=shop/a2&weights=1,x', 'run=a/b&run=a/c&weights=0,0',
                      'run=a/b&run=a/c&weights=1,2,', 'run=a/b&run=a/c&weights=1,2000000000001',
                      '&'.join(f'run=a/{i}' for i in range(33))):
            status, _, text = ask(d, '/runs/choose?' + query)
            check(status == 400 and 'class="why"' in text, f'{query}: {status}')


def form(d, files, token=None, **fields):
    """(status, headers, text) of files sent with the form of the list, as a browser sends them."""
    if token is None:
        token = form_token(d)
    body = b''
    for name, value in {**({'form_token': token} if token else {}), **fields}.items():
        body += f'--x7\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
    for name, content in files:
        body += (f'--x7\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
                 'Content-Type: application/octet-stream\r\n\r\n').encode() + content + b'\r\n'
    return ask(d, '/runs', 'POST', body + b'--x7--\r\n', **{'Content-Type': 'multipart/form-data; boundary=x7'})


def form_token(d, **headers):
    found = re.search(r'name="form_token" value="([0-9a-f]*)"', ask(d, '/runs', **headers)[2])
    return found and found[1]


def delete(d, token, *runs, **more):
    fields = [('run', run) for run in runs] + [('form_token', token)] + list(more.items())
    return ask(d, '/runs/delete', 'POST', urllib.parse.urlencode(fields).encode())


@test
def files_uploaded_through_a_form_without_scripts_keep_their_names():
    with Directory() as directory, Daemon(directory) as d:
        status, headers, _ = form(d, [('5f1a.shop.xhprof', xhprof(500))])
        check(status == 303 and headers['Location'] == '/runs/shop/5f1a', f'{status} {headers["Location"]}')
        check(json.loads(d.get('/api/v1/runs/shop/5f1a'))['run']['totals']['wall_ns'] == 500_000, 'with its values')
        status, headers, _ = form(d, [('C:\\tmp\\5f1b.blog.uprofiler', xhprof(600)), ('x.folded', b'a;b 3\n')], source='mine')
        check(status == 303 and headers['Location'] == '/runs', f'{status} {headers["Location"]}')
        runs = listed(d)
        named = [run for run in runs if run.startswith('mine/')]
        check(len(runs) == 3 and len(named) == 2, f'the others are of the source of the form: {runs}')
        check(form(d, [('x.folded', b'a;b 3\n')], source='mine')[0] == 303 and len(listed(d)) == 3, 'a repeated upload is the same run')
        check('<td>3 samples</td>' in d.get('/runs'), 'a run of samples shows their number')
        status, _, text = form(d, [('5f1a.shop.xhprof', xhprof(501)), ('<b>.png', b'\x89PNG and so on'), ('n.b.xhprof', xhprof(7))])
        check(status == 409 and 'another run' in text and '&lt;b&gt;.png' in text and '<b>' not in text, f'{status} {text}')
        check('Stored 1 of 3 files' in text and 'PNG image' in text and 'b/n' in listed(d), 'the valid file is stored')
        status, _, text = form(d, [('n.b.xhprof', xhprof(7)), ('m.b.xhprof', xhprof(8)), ('<b>.png', b'\x89PNG and so on')])
        check('Stored 1 of 3 files; 1 was stored before<' in text and 'b/m' in listed(d), f'{status} {text}')
        check(ask(d, '/api/v1/runs/b/m', 'DELETE')[0] == 204, 'the extra run is deleted')
        status, headers, _ = form(d, [('../../etc/passwd.xhprof', xhprof(900))])
        check(status == 303 and headers['Location'].startswith('/runs/default/'), 'paths are removed from file names')
        for files, fields in (([], {}), ([('', b'')], {}), ([('a', xhprof(1))], {'source': '../x'}),
                              ([('a', xhprof(1))], {'source': 's' * 65})):
            check(form(d, files, **fields)[0] == 400, f'{files} {fields}')
        check(ask(d, '/runs', 'POST', b'{}')[0] == 400 and ask(d, '/runs', 'POST', b'')[0] == 400, 'bodies other than forms are rejected')
        check(len(listed(d)) == 5, 'nothing else was stored')
        status, _, text = form(d, [('empty.folded', b'')])
        check(status == 400 and 'Stored 0 of 1 file<' in text and 'empty.folded' in text and 'the file is empty' in text, f'{status} {text}')
        status, _, text = form(d, [('<i>.shop.xhprof', b'a:1:{s:2:"ct"')])
        check(status == 400 and '&#39;&lt;i&gt;.shop.xhprof&#39; (xhprof): at byte 12' in text and 'the body' not in text, f'the message names the file: {text}')


@test
def runs_are_deleted_by_a_form_after_confirmation():
    with Directory() as directory, Daemon(directory) as d:
        some_runs(d)
        token = form_token(d)
        status, _, text = delete(d, token, 'shop/a1', 'blog/b1', list='source=shop&sort=cpu')
        check(status == 200 and 'Delete 2 runs?' in text and len(listed(d)) == 3, f'a confirmation is requested: {status}')
        hidden = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', text)
        body = urllib.parse.urlencode([(name, html.unescape(value)) for name, value in hidden]).encode()
        status, headers, _ = ask(d, '/runs/delete', 'POST', body)
        check(status == 303 and headers['Location'] == '/runs?source=shop&sort=cpu', f'{status} {headers["Location"]}')
        check(listed(d) == ['shop/a2'], f'two runs are deleted: {listed(d)}')
        check(ask(d, '/runs/delete', 'POST', body)[0] == 303, 'deleting again succeeds')
        for runs, status in (((), 400), (('../x',), 400), (('shop',), 400)):
            check(delete(d, token, *runs, confirmed=1)[0] == status, f'{runs}')
        status, headers, _ = delete(d, token, 'shop/none', confirmed=1, list='a\r\nX: y')
        check(status == 303 and headers['Location'] == '/runs' and not headers['X'], 'an invalid list address is ignored')
        check(ask(d, '/runs/delete')[0] == 405 and listed(d) == ['shop/a2'], 'GET does not delete')


@test
def forms_require_the_csrf_token_of_the_running_daemon_and_the_write_role():
    with Directory() as directory:
        with open(f'{directory}/write', 'w') as f:
            f.write('0123456789abcdef-write')
        with open(f'{directory}/read', 'w') as f:
            f.write('0123456789abcdef-read')
        write, read = {'Authorization': 'Bearer 0123456789abcdef-write'}, {'Authorization': 'Bearer 0123456789abcdef-read'}
        with Daemon(directory) as d:
            some_runs(d)
            token = form_token(d)
            check(token and len(token) == 32, 'the form has a token')
            for wrong in ('', '0' * 32, token[:-1], token + '0'):
                check(form(d, [('a.b.xhprof', xhprof(1))], token=wrong)[0] == 403, f'upload with {wrong!r}')
                check(delete(d, wrong, 'shop/a1', confirmed=1)[0] == 403, f'delete with {wrong!r}')
            status, _, _ = ask(d, '/runs/delete', 'POST', f'run=shop/a1&confirmed=1&form_token={token}'.encode(),
                               Origin='http://evil.example')
            check(status == 403 and len(listed(d)) == 3, 'other origins are rejected')
        with Daemon(directory, '--token-file', f'{directory}/write', '--read-token-file', f'{directory}/read') as d:
            check(not form_token(d, **read) and 'formaction' not in ask(d, '/runs', **read)[2], 'readers see no form')
            mine = form_token(d, **write)
            check(mine and mine != token, 'each start has its own token')
            body = f'run=shop/a1&confirmed=1&form_token={mine}'.encode()
            check(ask(d, '/runs/delete', 'POST', body, **read)[0] == 403, 'readers are rejected')
            check(ask(d, '/runs/delete', 'POST', body)[0] in (401, 403), 'anonymous clients are rejected')
            check(ask(d, '/runs/delete', 'POST', body.replace(mine.encode(), token.encode()), **write)[0] == 403, 'a token of an earlier start is rejected')
            check(ask(d, '/runs/delete', 'POST', body, **write)[0] == 303, 'writers are accepted')
            runs = json.loads(ask(d, '/api/v1/runs', **read)[2])['runs']
            check(len(runs) == 2, f'one run is deleted: {len(runs)}')


main()
