#!/usr/bin/env python3
"""Access control of the daemon, the requests it refuses, and its secrets."""
import base64
import http.client
import http.server
import os
import re
import shutil
import socket
import stat
import subprocess
import threading

from daemon import Daemon
from redis_server import RedisServer, free_port
from strobe_test import ROOT, STROBE, Directory, Skip, check, main, test, wait_for


# --- Requests that can be read in two ways ---

def port_of(daemon):
    return int(daemon.url.rsplit(':', 1)[1])


def ask(daemon, request):
    """Sends bytes and returns all that is answered until the connection is closed, or is silent."""
    with socket.create_connection(('127.0.0.1', port_of(daemon)), 20) as s:
        s.sendall(request.replace(b'HOST', b'Host: 127.0.0.1:%d' % port_of(daemon)))
        answer = b''
        s.settimeout(20)
        try:
            while part := s.recv(65536):
                answer += part
        except ConnectionResetError:
            pass
        return answer


POST = b'POST /api/v1/runs?source=a HTTP/1.1\r\nHOST\r\n'
GET = b'GET /healthz HTTP/1.1\r\nHOST\r\n'
CHUNK = b'\r\n9\r\nmain;f 3\n\r\n0\r\n\r\n'

REFUSED = {
    'two lengths': POST + b'Content-Length: 9\r\nContent-Length: 5\r\n\r\nmain;f 3\n',
    'the same length twice': POST + b'Content-Length: 9\r\nContent-Length: 9\r\n\r\nmain;f 3\n',
    'a list of lengths': POST + b'Content-Length: 9, 9\r\n\r\nmain;f 3\n',
    'a length and chunks': POST + b'Content-Length: 9\r\nTransfer-Encoding: chunked\r\n' + CHUNK,
    'chunks and a length': POST + b'Transfer-Encoding: chunked\r\nContent-Length: 9\r\n' + CHUNK,
    'two encodings': POST + b'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n' + CHUNK,
    'another encoding': POST + b'Transfer-Encoding: xchunked\r\n' + CHUNK,
    'a blank before the colon': POST + b'Transfer-Encoding : chunked\r\n' + CHUNK,
    'a tab before the colon': POST + b'Transfer-Encoding\t: chunked\r\n' + CHUNK,
    'a length with a blank before its colon': POST + b'Content-Length : 9\r\n\r\nmain;f 3\n',
    'a continued line': GET + b'X: a\r\n b\r\n\r\n',
    'NUL in a value': GET + b'X: a\0b\r\n\r\n',
    'NUL in Host': b'GET /healthz HTTP/1.1\r\nHOST\0.evil\r\n\r\n',
    'NUL in a name': GET + b'X\0: a\r\n\r\n',
    'NUL in a length': POST + b'Content-Length: 9\0\r\n\r\nmain;f 3\n',
    'NUL in the address': b'GET /healthz\0x HTTP/1.1\r\nHOST\r\n\r\n',
    'NUL in the version': b'GET /healthz HTTP/1.1\0\r\nHOST\r\n\r\n',
    'a NUL that is escaped': b'GET /healthz%00x HTTP/1.1\r\nHOST\r\nConnection: close\r\n\r\n',
    'a lone CR': GET + b'X: a\rTransfer-Encoding: chunked\r\n\r\n',
}


@test
def ambiguous_or_malformed_http_requests_are_rejected_with_status_400():
    with Directory() as d, Daemon(d) as daemon:
        for what, request in REFUSED.items():
            answer = ask(daemon, request)
            check(answer.startswith(b'HTTP/1.1 400 '), f'{what}: {answer[:80]!r}')
            check(b'201 Created' not in answer and b'200 OK' not in answer, f'{what} is not processed: {answer!r}')
        counted = [line for line in daemon.get('/metrics').splitlines() if 'http_requests' in line and '"400"' in line]
        check(counted and int(float(counted[0].split()[-1])) == len(REFUSED), f'every rejected request is counted: {counted}')
        answer = ask(daemon, POST + b'Transfer-Encoding: chunked\r\nConnection: close\r\n' + CHUNK)
        check(answer.startswith(b'HTTP/1.1 201 '), f'a chunked body is accepted: {answer[:200]!r}')


@test
def a_pipelined_request_before_a_rejected_one_is_answered():
    with Directory() as d, Daemon(d) as daemon:
        answer = ask(daemon, GET + b'\r\n' + GET + b'X: a\0b\r\n\r\n' + GET + b'\r\n')
        check(answer.count(b'HTTP/1.1 200 ') == 1 and answer.count(b'HTTP/1.1 400 ') == 1, f'{answer!r}')
        answer = ask(daemon, POST + b'Content-Length: 9\r\n\r\nmain;f 3\n' + GET + b'X : a\r\n\r\n')
        check(answer.count(b'HTTP/1.1 201 ') == 1 and answer.count(b'HTTP/1.1 400 ') == 1, f'{answer!r}')


@test
def a_client_that_is_still_sending_receives_the_error_response():
    """Bytes that arrive on a closed connection reset it, and the answer is lost with it."""
    with Directory() as d, Daemon(d) as daemon:
        for begin, status in (b'GET /?entry=' + b'a' * 20_000, b'414'), (GET + b'X : a\r\n', b'400'):
            with socket.create_connection(('127.0.0.1', port_of(daemon)), 20) as s:
                s.sendall(begin.replace(b'HOST', b'Host: 127.0.0.1:%d' % port_of(daemon)))
                s.recv(1, socket.MSG_PEEK)
                for _ in range(10):
                    s.sendall(b'a' * 90_000)
                answer = b''
                while part := s.recv(65536):
                    answer += part
                check(answer.startswith(b'HTTP/1.1 ' + status), f'{begin[:20]}: {answer[:80]!r}')
                check(b'\r\nConnection: close\r\n' in answer, f'{answer[:300]}')


@test
def a_client_that_never_stops_sending_is_disconnected():
    with Directory() as d, Daemon(d) as daemon, socket.create_connection(('127.0.0.1', port_of(daemon)), 20) as s:
        sent = 0
        try:
            while sent < 100 << 20:
                s.sendall(b'a' * 65536)
                sent += 65536
        except (ConnectionResetError, BrokenPipeError):
            pass
        check(sent < 100 << 20, f'the connection is closed before 100 MB; {sent} bytes were accepted')


# --- Files of the daemon's own ---

def failure(function, *arguments):
    try:
        function(*arguments)
    except Exception as e:
        return e
    return None


def mode(path):
    return stat.S_IMODE(os.lstat(path).st_mode)


@test
def a_symlink_in_place_of_the_journal_is_not_followed():
    with Directory() as d:
        victim = f'{d}/victim'
        os.mkdir(f'{d}/state')
        open(victim, 'w').write('precious')
        os.symlink(victim, f'{d}/state/collect.journal')
        with RedisServer() as r:
            daemon = Daemon(d, '--from', r.url('?stream=s&group=g'))
            try:
                daemon.start()
                check(False, 'the daemon refuses to start')
                daemon.stop()
            except RuntimeError as e:
                check('journal' in str(e) and 'symbolic link' in str(e), str(e))
        check(open(victim).read() == 'precious', 'the target of the symlink is unchanged')


@test
def a_symlink_in_place_of_the_consumer_token_is_replaced():
    with Directory() as d, RedisServer() as r:
        victim, token = f'{d}/victim', f'{d}/state/consumer-token'
        os.mkdir(f'{d}/state')
        open(victim, 'w').write('0123456789abcdef')
        os.symlink(victim, token)
        umask = os.umask(0)
        try:
            with Daemon(d, '--from', r.url('?stream=s&group=g')) as daemon:
                wait_for(lambda: os.path.exists(f'{d}/state/collect.journal'))
                check(not os.path.islink(token) and mode(token) == 0o600, f'{token} is a regular file that only its owner can read: {oct(mode(token))}')
                check(open(token).read() != open(victim).read(), 'the token is not read from the target of the symlink')
                check(mode(f'{d}/state/collect.journal') == 0o600, 'only the owner of the journal can read it')
                check(any('symbolic link' in line for line in daemon.lines), 'the log reports the symlink')
        finally:
            os.umask(umask)
        check(open(victim).read() == '0123456789abcdef', 'the target of the symlink is unchanged')


# --- Secrets ---

SECRET = 'hunter2hunter2hunter2'


def command_line(pid):
    return open(f'/proc/{pid}/cmdline', 'rb').read().decode()


@test
def passwords_appear_in_no_command_line_log_or_response():
    with Directory() as d:
        urls = ['--from', f'redis://:{SECRET}@127.0.0.1:1/?channel=a', '--from', f'redis://ann:{SECRET}@127.0.0.1:1/?stream=a&group=g',
                '--from', f'resp://127.0.0.1:0?password={SECRET}', '--to', f'redis://:{SECRET}@127.0.0.1:1/?stream=b']
        with Daemon(d, *urls) as daemon:
            check(SECRET not in command_line(daemon.process.pid), command_line(daemon.process.pid))
            check('resp://127.0.0.1:0?password=***' in command_line(daemon.process.pid), command_line(daemon.process.pid))
            wait_for(lambda: sum('127.0.0.1:1' in line for line in daemon.lines) >= 3)
            for path in ('/api/v1/status', '/metrics', '/readyz'):
                check(SECRET not in (answer := daemon.get(path) if path != '/readyz' else ''), f'{path}: {answer}')
            check(any('a password on the command line' in line for line in daemon.lines), 'the log warns about a password on the command line')
            daemon.stop()
        check(not any(SECRET in line for line in daemon.lines), '\n'.join(daemon.lines))


@test
def passwords_appear_in_no_error_message():
    places = [f'redis://127.0.0.1/?channel=a&password={SECRET}', f'redis://127.0.0.1/?stream=a&group=g&pass%77ord={SECRET}',
              f'redis://:{SECRET}@', f'redis://:{SECRET[:3]}/{SECRET}@h/?channel=a', f'redis://:{SECRET}@h/?x=y', f'foo://ann:{SECRET}@h',
              f'foo://h/?password={SECRET}', f'resp://:{SECRET}@nowhere.invalid:0', f'unix:x?password={SECRET}', f'-?password={SECRET}',
              f'rediss://:{SECRET}@h']
    with Directory() as d:
        for place in places:
            for words in (['collect', '--listen', 'none', '--state', d, '--to', f'sqlite:{d}/x', '--from', place],
                          ['collect', '--listen', 'none', '--state', d, '--from', f'unix:{d}/s', '--to', place],
                          ['collect', place], ['serve', '--store', place], ['status', '--url', place], [f'--from={place}'],
                          [place], ['collect', '--retain', place], ['serve', '--frm', place], ['report', place]):
                done = subprocess.run([STROBE, *words], capture_output=True, text=True, timeout=60)
                check(done.returncode not in (0, None) and SECRET not in done.stdout + done.stderr, f'{words}: {done.stderr}')


@test
def tokens_are_read_from_the_environment_or_from_files():
    token, reader = 'write' + SECRET, 'read' + SECRET
    with Directory() as d:
        with open(f'{d}/token', 'w') as f:
            f.write(reader + '\n')
        os.chmod(f'{d}/token', 0o600)
        with Daemon(d, '--read-token-file', f'{d}/token', environment={'STROBE_TOKEN': token, 'STROBE_WITHOUT': 'bpf_loop', 'STROBE_SWITCHES_PER_SECOND': '100'}) as daemon:
            check(SECRET not in command_line(daemon.process.pid), 'the command line contains no token')
            check('401' in str(failure(daemon.get, '/metrics')), 'a request without a token is rejected with 401')
            for which in ({'STROBE_TOKEN': token}, {'STROBE_TOKEN': reader}):
                done = subprocess.run([STROBE, 'status', '--url', daemon.url], env={**os.environ, **which}, capture_output=True, text=True)
                check(done.returncode == 0 and 'samples' in done.stdout, done.stderr)
            done = subprocess.run([STROBE, 'status', '--url', daemon.url], capture_output=True, text=True)
            check(done.returncode == 2 and '--token-file' in done.stderr, done.stderr)
            check(not any(SECRET in line for line in daemon.lines), '\n'.join(daemon.lines))
            check(not any('unknown environment variable' in line for line in daemon.lines), '\n'.join(daemon.lines))


@test
def the_suggested_command_for_a_missing_token_file_creates_it_and_its_directory():
    with Directory() as d:
        path = f'{d}/none/of it/token'
        command = [STROBE, 'serve', '--store', f'sqlite:{d}/a', '--from', f'unix:{d}/s', '--listen', '127.0.0.1:0', '--token-file', path]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        check(done.returncode == 2 and ' does not exist; create it with: ' in done.stderr, f'{done}')
        remedy = done.stderr.splitlines()[0].split('create it with: ')[1]
        subprocess.run(f'umask 022; {remedy}', shell=True, check=True)
        check(mode(path) == 0o600 and os.path.getsize(path) == 65, f'{remedy}: {oct(mode(path))}')
        with Daemon(d, '--token-file', path) as daemon:
            check(not any('other users may read' in line for line in daemon.lines), f'{daemon.lines}')
        with open(path, 'w'):
            pass
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        check(done.returncode == 2 and f"contains no token; create one with: {remedy}" in done.stderr, f'{done}')


# --- Behind a proxy, with the configurations of docs/access.md ---

class Proxy:
    """nginx or caddy in the foreground."""

    def __init__(self, port, *command, **options):
        self.port = port
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **options)
        if not wait_for(lambda: self.process.poll() is not None or self.answers()) or self.process.poll() is not None:
            self.process.kill()
            raise RuntimeError(f'{command[0]} did not start: {self.process.stderr.read()[-1000:]}')

    def answers(self):
        try:
            socket.create_connection(('127.0.0.1', self.port), 5).close()
            return True
        except OSError:
            return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(60)
        self.process.stderr.close()


def documented(kind, number=0):
    with open(f'{ROOT}/docs/access.md') as f:
        return re.findall(rf'```{kind}\n(.*?)```', f.read(), re.S)[number]


def nginx(directory, port, daemon, number, oauth='127.0.0.1:4180'):
    if not shutil.which('nginx'):
        raise Skip('nginx is not installed')
    text = re.sub(r'\n\s*ssl_\w+ [^;]*;', '', documented('nginx', number)).replace('listen 443 ssl', f'listen 127.0.0.1:{port}')
    text = text.replace('127.0.0.1:8787', daemon.url[len('http://'):]).replace('/etc/nginx/strobe.htpasswd', f'{directory}/htpasswd').replace('127.0.0.1:4180', oauth)
    text = text.replace('$scheme', 'https')         # as with a certificate
    with open(f'{directory}/nginx.conf', 'w') as f:
        f.write(f'daemon off; master_process off; pid {directory}/nginx.pid; error_log stderr; events {{}}\n'
                f'http {{ access_log off; client_body_temp_path {directory}/b; proxy_temp_path {directory}/p; fastcgi_temp_path {directory}/f;'
                f' uwsgi_temp_path {directory}/u; scgi_temp_path {directory}/s;\n{text}}}\n')
    return Proxy(port, 'nginx', '-p', directory, '-c', f'{directory}/nginx.conf', '-e', 'stderr')


def visit(port, path='/', method='GET', body=None, **headers):
    """Returns the status and all that is answered."""
    c = http.client.HTTPConnection('127.0.0.1', port, timeout=60)
    c.request(method, path, body=body, headers={'Host': 'strobe.example.org', **{k.replace('_', '-'): v for k, v in headers.items()}})
    answer = c.getresponse()
    text = f'{answer.headers}\n{answer.read().decode()}'
    c.close()
    return answer.status, text


def basic(user, password):
    return 'Basic ' + base64.b64encode(f'{user}:{password}'.encode()).decode()


def check_users(port, ann, bob):
    """`ann` and `bob` are headers by which the proxy knows them; ann may write."""
    profile = {'method': 'POST', 'path': '/api/v1/runs?source=a', 'body': 'main;f 3\n', 'Origin': 'https://strobe.example.org'}
    status, text = visit(port, **ann)
    check(status == 200 and '<div class="who">ann</div>' in text, f'the page shows that ann is signed in: {status} {text[:300]}')
    status, text = visit(port, **bob, X_Forwarded_User='ann')
    check(status == 200 and '<div class="who">bob</div>' in text, f'an X-Forwarded-User header from the client is ignored: {status} {text[:300]}')
    check(visit(port, X_Forwarded_User='ann')[0] in (401, 403), 'requests that the proxy did not authenticate are rejected')
    status, text = visit(port, **bob, **profile)
    check(status == 403 and '--writer' in text, f'bob has read access only: {status} {text}')
    status, text = visit(port, **ann, **profile)
    check(status == 201, f'ann has write access: {status} {text}')
    check(visit(port, **ann, method='POST', path='/api/v1/runs?source=a', body='main;f 3\n', Origin='https://evil.example')[0] == 403,
          'a cross-origin request cannot write on behalf of ann')


def proxied(directory, *more):
    return Daemon(directory, '--trusted-proxy', '127.0.0.1', '--allow-host', 'strobe.example.org', '--writer', 'ann', *more)


@test
def users_authenticated_by_nginx_are_identified_by_user_name():
    with Directory() as d, proxied(d) as daemon:
        with open(f'{d}/htpasswd', 'w') as f:
            f.write('ann:{PLAIN}one\nbob:{PLAIN}two\n')
        with nginx(d, free_port(), daemon, 0) as proxy:
            check_users(proxy.port, {'Authorization': basic('ann', 'one')}, {'Authorization': basic('bob', 'two')})
        status, _ = visit(port_of(daemon), Host=daemon.url[len('http://'):])
        check(status == 401, f'requests that bypass the proxy are unauthenticated: {status}')
        with socket.create_connection(('127.0.0.1', port_of(daemon)), 20, source_address=('127.0.0.2', 0)) as s:
            s.sendall(b'GET / HTTP/1.0\r\nHost: strobe.example.org\r\nX-Forwarded-User: ann\r\n\r\n')
            check(b' 401 ' in s.recv(100), 'headers from an untrusted address are ignored')


class FakeOauth2Proxy(http.server.BaseHTTPRequestHandler):
    """oauth2-proxy as nginx sees it: 202 with the user for a cookie, else 401, and a page to sign in."""

    def do_GET(self):
        user = re.search(r'_oauth2_proxy=(\w+)', self.headers.get('Cookie', ''))
        self.send_response(202 if user and self.path == '/oauth2/auth' else 401 if self.path == '/oauth2/auth' else 403)
        if user:
            self.send_header('X-Auth-Request-Email', user[1])
        self.send_header('Content-Length', '0')
        self.end_headers()

    do_POST = do_GET

    def log_message(self, *_):
        pass


@test
def users_authenticated_by_oauth2_proxy_with_nginx_are_identified_by_email():
    with Directory() as d, proxied(d) as daemon:
        oauth = http.server.ThreadingHTTPServer(('127.0.0.1', 0), FakeOauth2Proxy)
        threading.Thread(target=oauth.serve_forever, daemon=True).start()
        try:
            with nginx(d, free_port(), daemon, 1, f'127.0.0.1:{oauth.server_port}') as proxy:
                check_users(proxy.port, {'Cookie': '_oauth2_proxy=ann'}, {'Cookie': '_oauth2_proxy=bob'})
        finally:
            oauth.shutdown()
            oauth.server_close()


@test
def users_authenticated_by_caddy_are_identified_by_user_name():
    if not shutil.which('caddy'):
        raise Skip('caddy is not installed')
    with Directory() as d, proxied(d) as daemon:
        port, hashed = free_port(), {}
        for user, password in (('ann', 'one'), ('bob', 'two')):
            hashed[user] = subprocess.run(['caddy', 'hash-password', '--plaintext', password], check=True, capture_output=True,
                                          text=True, env={**os.environ, 'HOME': d}).stdout.strip()
        text = documented('caddyfile').replace('strobe.example.org', f'http://strobe.example.org:{port}')
        text = text.replace('ann $2a$14$HASH', f'ann {hashed["ann"]}\n\t\tbob {hashed["bob"]}')
        version = subprocess.run(['caddy', 'version'], capture_output=True, text=True).stdout.lstrip('v').split('.')
        if [int(n) for n in version[:2]] < [2, 8]:
            text = text.replace('basic_auth', 'basicauth')
        text = text.replace('127.0.0.1:8787', daemon.url[len('http://'):])
        with open(f'{d}/Caddyfile', 'w') as f:
            f.write('{\n\tadmin off\n\tauto_https off\n}\n' + text)
        with Proxy(port, 'caddy', 'run', '--config', f'{d}/Caddyfile', '--adapter', 'caddyfile',
                   env={**os.environ, 'HOME': d, 'XDG_CONFIG_HOME': d, 'XDG_DATA_HOME': d}) as proxy:
            check_users(proxy.port, {'Authorization': basic('ann', 'one')}, {'Authorization': basic('bob', 'two')})


# --- The installed binaries ---

def readelf(option, path):
    return subprocess.run(['readelf', option, '--wide', path], check=True, capture_output=True, text=True).stdout


@test
def installed_binaries_are_built_with_hardening_options():
    if not shutil.which('readelf'):
        raise Skip('readelf is not installed')
    with Directory() as d:
        done = subprocess.run([f'{ROOT}/scripts/install'], env={**os.environ, 'DESTDIR': d}, capture_output=True, text=True)
        check(done.returncode == 0, done.stderr)
        installed = [os.path.join(where, name) for where, _, names in os.walk(d) for name in names]
        programs = [path for path in installed if open(path, 'rb').read(4) == b'\x7fELF']
        check(any(path.endswith('/bin/strobe') for path in programs), f'the strobe binary is among {programs}')
        check(any(path.endswith('/strobe.so') for path in programs) or not os.path.exists(f'{ROOT}/build/strobe.so'),
              f'the extension is among {programs}')
        for path in programs:
            header, dynamic, segments = readelf('--file-header', path), readelf('--dynamic', path), readelf('--segments', path)
            symbols = re.findall(r'__\w+_chk\w*', readelf('--dyn-syms', path))
            name = path[len(d):]
            check('DYN (' in header, f'{name} is position-independent')
            check('PIE' in dynamic or name.endswith('.so'), f'{name} is a PIE')
            check('BIND_NOW' in dynamic, f'{name} has BIND_NOW')
            check('GNU_RELRO' in segments, f'{name} has RELRO')
            check(not re.search(r'GNU_STACK.*RWE', segments), f'{name} has no executable stack')
            check('__stack_chk_fail' in symbols, f'{name} has a stack protector')
            check(any(s != '__stack_chk_fail' for s in symbols), f'{name} has fortified functions')


if __name__ == '__main__':
    main()
