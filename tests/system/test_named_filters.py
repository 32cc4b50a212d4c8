"""Named filters belong to all who may read, are changed by those who may write, and last."""
import html
import json
import os
import re
import urllib.error
import urllib.parse
import urllib.request

from daemon import Daemon
from strobe_test import Directory, check, main, test

TOKENS = {'write': 'the-token-that-writes-0123456789', 'read': 'the-token-that-reads-0123456789'}
NAME, QUERY = 'API, <slow> & "quoted" ü', 'from=-1h&entry=api*&host=!web1'
LONG = '&'.join(['entry=' + 'x' * 345] * 6)       # 2,111 bytes


def options(directory):
    for role, token in TOKENS.items():
        with open(f'{directory}/{role}', 'w', opener=lambda path, flags: os.open(path, flags, 0o600), encoding='utf-8') as f:
            f.write(token)
    return '--token-file', f'{directory}/write', '--read-token-file', f'{directory}/read'


def send(daemon, method, path, role=None, form=None, session=None):
    """Status and text of an answer; redirects are not followed."""
    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_):
            return None
    request = urllib.request.Request(daemon.url + path, method=method, data=urllib.parse.urlencode(form).encode() if form is not None else None)
    if role:
        request.add_header('Authorization', f'Bearer {TOKENS[role]}')
    if form is not None:
        request.add_header('Origin', daemon.url)
    if session:
        request.add_header('Cookie', session)
    try:
        with urllib.request.build_opener(Stay).open(request, timeout=20) as r:
            return r.status, r.read().decode(), r.headers
    except urllib.error.HTTPError as e:
        return e.code, e.read().decode(), e.headers


def log_in(daemon, role):
    status, text, headers = send(daemon, 'POST', '/login', form={'token': TOKENS[role], 'next': '/filters'})
    check(status == 303, f'{status} {text}')
    return headers['Set-Cookie'].split(';')[0]


def listed(daemon, role='read'):
    status, text, _ = send(daemon, 'GET', '/api/v1/filters', role)
    check(status == 200, f'{status} {text}')
    return [(f['name'], f['query']) for f in json.loads(text)['filters']]


def api(name=NAME, query=None):
    return '/api/v1/filters?' + urllib.parse.urlencode({'name': name, **({'query': query} if query else {})})


@test
def only_writers_change_filters_and_all_readers_see_them():
    with Directory() as d, Daemon(d, *options(d)) as daemon:
        check(send(daemon, 'GET', '/api/v1/filters')[0] == 401, 'listing filters requires authentication')
        check(send(daemon, 'POST', api(query=QUERY))[0] in (401, 403), 'adding a filter requires authentication')
        check(send(daemon, 'POST', api(query=QUERY), 'read')[0] == 403, 'a reader cannot add a filter')
        check(listed(daemon) == [], 'no filter was added')
        check(send(daemon, 'POST', api(query=QUERY), 'write')[0] == 201, 'a writer can add a filter')
        check(listed(daemon) == listed(daemon, 'write') == [(NAME, QUERY)], f'{listed(daemon)}')
        check(send(daemon, 'DELETE', api(), 'read')[0] == 403 and listed(daemon), 'a reader cannot delete a filter')
        check(send(daemon, 'DELETE', api(), 'write')[0] == 204 and not listed(daemon), 'a writer can delete a filter')
        check(send(daemon, 'DELETE', api(), 'write')[0] == 404, 'a deleted filter is not found')


@test
def only_writers_see_the_forms_and_a_deletion_requires_confirmation():
    with Directory() as d, Daemon(d, *options(d)) as daemon:
        check(send(daemon, 'POST', api(query=QUERY), 'write')[0] == 201, 'the filter is added')
        reader, writer = log_in(daemon, 'read'), log_in(daemon, 'write')
        page = send(daemon, 'GET', '/filters?from=-5m', session=reader)[1]
        check('entry=api*' in page and 'action="/filters"' not in page and 'Save this' not in page, page)
        page = send(daemon, 'GET', '/filters?from=-5m', session=writer)[1]
        token = re.search(r'name="form_token" value="(\w+)"', page).group(1)
        check('Save this view' in page and '<slow>' not in page, page)
        forms = {'form_token': token, 'delete': NAME, 'confirmed': '1'}
        check(send(daemon, 'POST', '/filters', form=forms, session=reader)[0] == 403 and listed(daemon), 'a reader cannot use the form token of a writer')
        check(send(daemon, 'POST', '/filters', form={'delete': NAME, 'confirmed': '1'}, session=writer)[0] == 403, 'a form without the token is rejected')
        status, page, _ = send(daemon, 'POST', '/filters', form={'form_token': token, 'delete': NAME}, session=writer)
        check(status == 200 and 'name="confirmed"' in page and '<slow>' not in page and listed(daemon), f'{status} {page}')
        status, _, headers = send(daemon, 'POST', '/filters', form=forms, session=writer)
        check(status == 303 and headers['Location'] == '/filters' and not listed(daemon), f'{status}')


@test
def a_rejected_form_is_shown_again_with_the_entered_values():
    with Directory() as d, Daemon(d, *options(d)) as daemon:
        check(send(daemon, 'POST', api(query=QUERY), 'write')[0] == 201, 'the filter is added')
        writer = log_in(daemon, 'write')
        page = send(daemon, 'GET', f'/filters?{QUERY}', session=writer)[1]
        form = {'form_token': re.search(r'name="form_token" value="(\w+)"', page).group(1), 'query': QUERY, 'name': NAME}
        status, page, _ = send(daemon, 'POST', '/filters', form=form, session=writer)
        fields = dict(re.findall(r'name="(\w+)"[^>]* value="([^"]*)"', page))
        check(status == 409 and 'already exists' in page and html.unescape(fields['name']) == NAME and html.unescape(fields['query']) == QUERY, f'{status} {page}')
        status, page, _ = send(daemon, 'POST', '/filters', form={**form, 'name': 'other', 'form_token': fields['form_token']}, session=writer)
        check(status == 303 and listed(daemon) == [(NAME, QUERY), ('other', QUERY)], f'{status} {page}')
        status, page, _ = send(daemon, 'POST', '/filters', form={**form, 'name': '<i>' + 81 * 'x'}, session=writer)
        check(status == 400 and '80 characters' in page and '&lt;i&gt;xxx' in page and '<i>' not in page, f'{status} {page}')
        status, page, _ = send(daemon, 'POST', '/filters', form={**form, 'form_token': 'x'}, session=writer)
        check(status == 403 and 'name="name"' not in page, f'{status} {page}')


@test
def the_length_limit_of_names_counts_characters_as_in_the_form():
    with Directory() as d, Daemon(d, *options(d)) as daemon:
        page = send(daemon, 'GET', '/filters?from=-5m', session=log_in(daemon, 'write'))[1]
        most = int(re.search(r'name="name" maxlength="(\d+)"', page).group(1))
        names = [letter * most for letter in 'xü€\U0001f600']
        for name in names:
            check(send(daemon, 'POST', api(name, QUERY), 'write')[0] == 201, name)
            status, text, _ = send(daemon, 'POST', api(name + name[0], QUERY), 'write')
            check(status == 400 and f'1 to {most} characters' in text, f'{status} {text}')
        for i in range(100 - len(names)):
            check(send(daemon, 'POST', api(f'{i:02}' + '\U0001f600' * (most - 2), 'a=' + 'x' * 1020 + '&b=' + 'x' * 1023), 'write')[0] == 201, f'{i}')
        daemon.stop()
        with Daemon(d, *options(d)) as again:
            check(len(listed(again)) == 100, 'the longest possible list can be read again')


@test
def too_long_views_and_unexpected_request_bodies_are_rejected_with_a_reason():
    with Directory() as d, Daemon(d, *options(d)) as daemon:
        writer = log_in(daemon, 'write')
        page = send(daemon, 'GET', '/filters?' + LONG, session=writer)[1]
        check('This view cannot be saved' in page and '2111 bytes' in page and 'at most 2048' in page and 'name="name"' not in page, page)
        status, text, _ = send(daemon, 'POST', api(query=LONG), 'write')
        check(status == 400 and '2111 bytes' in text, f'{status} {text}')
        status, text, _ = send(daemon, 'POST', api(query='entry=' + 'x' * 1100), 'write')
        check(status == 400 and 'longer than 1024 bytes' in text, f'{status} {text}')
        for size in (1, 70_000):
            status, text, _ = send(daemon, 'POST', api(query=QUERY), 'write', form={'name': 'x' * size})
            check(status == 413 and 'accepts a request body' in text, f'{status} {text}')
        check(send(daemon, 'POST', '/filters', session=writer, form={'name': 'x' * 70_000})[0] == 413, 'a form that is too large is rejected')
        check(listed(daemon) == [], 'no filter was added')


@test
def filters_survive_a_restart_and_only_damaged_lines_are_skipped():
    with Directory() as d:
        with Daemon(d, *options(d)) as daemon:
            for name, query in ((NAME, QUERY), ('other', 'run=shop/a&base=shop/b')):
                check(send(daemon, 'POST', api(name, query), 'write')[0] == 201, name)
        path = f'{d}/state/named-filters'
        check(os.stat(path).st_mode & 0o777 == 0o600, oct(os.stat(path).st_mode))
        with Daemon(d, *options(d)) as daemon:
            check(listed(daemon) == [(NAME, QUERY), ('other', 'run=shop/a&base=shop/b')], f'{listed(daemon)}')
            daemon.process.kill()
        with open(path, 'a', encoding='utf-8') as f:
            f.write('noquery\n%zz from=-1h\nlast from=-2h\n')
        with Daemon(d, *options(d)) as daemon:
            check([name for name, _ in listed(daemon)] == [NAME, 'other', 'last'], f'{listed(daemon)}')
            check(send(daemon, 'GET', '/?' + QUERY, 'read')[0] == 200, 'the filter can be opened')


if __name__ == '__main__':
    main()
