"""php-fpm, nginx and `strobe serve` as private children: on loopback, and gone when the demo ends.

Each child is asked to die with us (PR_SET_PDEATHSIG), so that even a demo that was killed leaves none behind. They
run in sessions of their own, because Ctrl-C is for the demo, which then stops them in the right order.
"""
import ctypes
import glob
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
import urllib.parse

PR_SET_PDEATHSIG = 1
PATHS = os.environ.get('PATH', '') + ':/usr/sbin:/sbin:/usr/local/sbin'
# Characters that nginx, php-fpm and php.ini all accept in a quoted value.
SAFE_PATH = re.compile(r'[^\x00-\x1f"\'$;{}\\%]*')
SOCKET_MAX = 107


class ServerError(Exception):
    pass


def find_program(*names):
    for name in names:
        path = shutil.which(name, path=PATHS)
        if path:
            return path
    return None


def free_port(first=0, count=1):
    """The first free port of the range; any free one for 0."""
    for port in range(first, first + count):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                s.bind(('127.0.0.1', port))
                return s.getsockname()[1]
            except OSError:
                continue
    return free_port()


def die_with_parent():
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def tail(path, lines=12):
    try:
        with open(path, encoding='utf-8', errors='replace') as f:
            return ''.join(f.readlines()[-lines:]).rstrip()
    except OSError:
        return ''


class Server:
    """One child with its log file."""

    def __init__(self, name, command, log, env=None, stop_signal=signal.SIGTERM):
        self.name, self.log, self.stop_signal = name, log, stop_signal
        with open(log, 'w', encoding='utf-8') as out:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=env,
                                            start_new_session=True, preexec_fn=die_with_parent)

    def wait_until(self, ready, seconds=30):
        end = time.monotonic() + seconds
        while not ready():
            self.check()
            if time.monotonic() > end:
                raise ServerError(f'{self.name} did not get ready within {seconds} s; its log says:\n{tail(self.log)}')
            time.sleep(0.05)

    def check(self):
        if self.process.poll() is not None:
            raise ServerError(f'{self.name} ended with status {self.process.returncode}; its log says:\n'
                              f'{tail(self.log)}')

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(self.stop_signal)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                pass
        # Children of a killed master are in its session.
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()


def answers(port, path='/', host='127.0.0.1'):
    """Whether a web server answers there with anything."""
    client = http.client.HTTPConnection(host, port, timeout=5)
    try:
        client.request('GET', path)
        client.getresponse().read()
        return True
    except (OSError, http.client.HTTPException):
        return False
    finally:
        client.close()


class Php:
    """The PHP of the demo: a version that has php-fpm and a built extension, the default PHP's first."""

    def __init__(self, build):
        self.version = self.extension = self.fpm = None
        tried = []
        for version in self.versions(build):
            extension = os.path.join(build, f'php{version}', 'strobe.so')
            fpm = find_program(f'php-fpm{version}', 'php-fpm')
            if fpm and not self.is_version(fpm, version):
                fpm = None
            if fpm and os.path.exists(extension):
                self.version, self.extension, self.fpm = version, extension, fpm
                break
            tried.append(f'PHP {version}: ' + ('no php-fpm' if not fpm else 'no extension'))
        if not self.version:
            raise ServerError('no PHP has both php-fpm and a built extension: '
                              + ('; '.join(tried) or f'there is no extension under {build}')
                              + '. Install php-fpm and php-dev (`make setup`), then `make`')
        self.cli = find_program(f'php{self.version}', 'php') or 'php'
        self.modules = self.list_modules()
        lacking = [m for m in ('mbstring', 'xml', 'dom', 'json', 'session') if m not in self.modules]
        if lacking:
            raise ServerError(f'{self.fpm} lacks what DokuWiki needs: {", ".join(lacking)}. Install '
                              f'php{self.version}-xml and php{self.version}-mbstring')

    @staticmethod
    def versions(build):
        paths = glob.glob(f'{glob.escape(build)}/php[0-9]*.[0-9]*/strobe.so')
        found = sorted((os.path.basename(os.path.dirname(p))[3:] for p in paths),
                       key=lambda v: [int(n) for n in v.split('.')], reverse=True)
        default = os.path.basename(os.path.dirname(os.path.realpath(os.path.join(build, 'strobe.so'))))[3:]
        return sorted(found, key=lambda v: v != default)

    @staticmethod
    def is_version(fpm, version):
        out = subprocess.run([fpm, '-n', '-v'], capture_output=True, text=True, errors='replace').stdout
        return out.startswith(f'PHP {version}.')

    def list_modules(self):
        out = subprocess.run([self.fpm, '-m'], capture_output=True, text=True, errors='replace').stdout
        return {line.strip().lower() for line in out.splitlines()}


class Site:
    """The wiki behind nginx and php-fpm. With a `socket_path` it is sampled, without PHP never hears of Strobe."""

    def __init__(self, name, state, sockets, wiki, php, socket_path=None, workers=4, period='0.01', secret=None):
        self.name, self.state, self.wiki, self.php, self.workers = name, state, wiki, php, workers
        self.prefix = os.path.join(state, name)
        self.fpm_socket = os.path.join(sockets, f'{name}.fpm')
        self.socket_path, self.period, self.secret = socket_path, period, secret
        self.port = free_port()
        self.fpm = self.nginx = None
        for d in ('log', 'temp', 'nginx'):
            os.makedirs(os.path.join(self.prefix, d), exist_ok=True)

    def start(self):
        self.start_fpm()
        self.start_nginx()

    def start_fpm(self):
        as_root = 'user = root\ngroup = root\n' if os.geteuid() == 0 else ''
        write(os.path.join(self.prefix, 'fpm.conf'), f'''[global]
error_log = "{self.prefix}/log/fpm.log"
[wiki]
{as_root}listen = "{self.fpm_socket}"
listen.mode = 0600
pm = static
pm.max_children = {self.workers}
catch_workers_output = yes
php_admin_value[memory_limit] = 256M
php_admin_value[session.save_path] = "{self.prefix}/temp"
php_admin_value[upload_tmp_dir] = "{self.prefix}/temp"
{self.pool_settings()}''')
        command = [self.php.fpm, '--nodaemonize', '--fpm-config', os.path.join(self.prefix, 'fpm.conf'),
                   '-d', 'opcache.enable=1', '-d', 'display_errors=0']
        if os.geteuid() == 0:
            command.append('--allow-to-run-as-root')
        if self.socket_path:
            if 'strobe' not in self.php.modules:
                command += ['-d', f'extension="{self.php.extension}"']
            command += ['-d', 'strobe.mode=sample', '-d', f'strobe.period={self.period}',
                        '-d', f'strobe.socket="{self.socket_path}"']
            if self.secret:
                command += ['-d', 'strobe.instrument=1']
        elif 'strobe' in self.php.modules:
            command += ['-d', 'strobe.mode=off']
        remove(self.fpm_socket)
        self.fpm = Server('php-fpm', command, os.path.join(self.prefix, 'log', 'fpm.out'))
        self.fpm.wait_until(lambda: os.path.exists(self.fpm_socket))

    def pool_settings(self):
        """Labels are given per pool, as a site with several pools would do it."""
        settings = 'php_admin_value[strobe.labels] = "site=dokuwiki,pool=wiki"\n' if self.socket_path else ''
        if self.secret:
            settings += (f'php_admin_value[strobe.trigger_secret] = "{self.secret}"\n'
                         'php_admin_flag[strobe.trace_flame_chart] = on\n')
        return settings

    def start_nginx(self):
        program = find_program('nginx')
        if not program:
            raise ServerError('nginx is not installed: `make setup` installs it')
        for attempt in range(5):
            # Read afresh by each attempt: another program may have taken the port meanwhile.
            write(os.path.join(self.prefix, 'nginx.conf'), self.nginx_conf())
            self.nginx = Server('nginx', [program, '-p', self.prefix + '/', '-c', 'nginx.conf', '-e', 'log/nginx.log'],
                                os.path.join(self.prefix, 'log', 'nginx.out'))
            try:
                self.nginx.wait_until(lambda: answers(self.port, '/lib/exe/none'))
                return
            except ServerError:
                self.nginx.stop()
                if attempt == 4:
                    raise
                self.port = free_port()

    def nginx_conf(self):
        user = 'user root root;\n' if os.geteuid() == 0 else ''
        parameters = {
            'QUERY_STRING': '$query_string', 'REQUEST_METHOD': '$request_method', 'CONTENT_TYPE': '$content_type',
            'CONTENT_LENGTH': '$content_length', 'SCRIPT_NAME': '$fastcgi_script_name', 'REQUEST_URI': '$request_uri',
            'DOCUMENT_URI': '$document_uri', 'DOCUMENT_ROOT': '$document_root', 'SERVER_PROTOCOL': '$server_protocol',
            'REQUEST_SCHEME': '$scheme', 'GATEWAY_INTERFACE': 'CGI/1.1', 'SERVER_SOFTWARE': 'nginx',
            'REMOTE_ADDR': '$remote_addr', 'REMOTE_PORT': '$remote_port', 'SERVER_ADDR': '$server_addr',
            'SERVER_PORT': '$server_port', 'SERVER_NAME': '$server_name', 'HTTP_HOST': '$http_host',
            # As if this web server had asked for a password: DokuWiki gives security tokens to known users only.
            'REMOTE_USER': 'crew', 'REDIRECT_STATUS': '200', 'SCRIPT_FILENAME': '$document_root$fastcgi_script_name'}
        lines = '\n'.join(f'\t\t\tfastcgi_param {k} {v};' for k, v in parameters.items())
        return f'''{user}daemon off;
worker_processes 1;
pid nginx.pid;
error_log log/nginx.log;
events {{ worker_connections 256; }}
http {{
	types {{
		text/html html; text/css css; application/javascript js; image/png png; image/gif gif;
		image/jpeg jpg; image/svg+xml svg; image/x-icon ico; text/plain txt;
	}}
	default_type application/octet-stream;
	access_log off;
	server_tokens off;
	client_max_body_size 8m;
	client_body_temp_path nginx/body;
	proxy_temp_path nginx/proxy;
	fastcgi_temp_path nginx/fastcgi;
	uwsgi_temp_path nginx/uwsgi;
	scgi_temp_path nginx/scgi;
	server {{
		listen 127.0.0.1:{self.port};
		server_name 127.0.0.1 localhost;
		root "{self.wiki.root}";
		index doku.php;
		location ~ ^/(data|conf|bin|inc|vendor)/ {{ return 403; }}
		location / {{ try_files $uri $uri/ =404; }}
		location ~ \\.php$ {{
			try_files $uri =404;
{lines}
			fastcgi_read_timeout 120;
			fastcgi_buffers 16 32k;
			fastcgi_buffer_size 64k;
			fastcgi_pass "unix:{self.fpm_socket}";
		}}
	}}
}}
'''

    def check(self):
        self.fpm.check()
        self.nginx.check()

    def stop(self):
        for server in (self.nginx, self.fpm):
            if server:
                server.stop()
        remove(self.fpm_socket)

    def log(self):
        return tail(os.path.join(self.prefix, 'log', 'fpm.log')) or tail(os.path.join(self.prefix, 'log', 'fpm.out'))


class Daemon:
    """`strobe serve` on a store of its own."""

    def __init__(self, binary, state, sockets, first_port=8787, source_dirs=()):
        self.binary, self.state, self.source_dirs = binary, state, source_dirs
        self.socket_path = os.path.join(sockets, 'strobe.sock')
        self.log = os.path.join(state, 'strobe.log')
        self.first_port, self.port, self.server = first_port, None, None

    def start(self):
        if not os.access(self.binary, os.X_OK):
            raise ServerError(f'there is no {self.binary}: `make` builds it')
        # A socket that a killed daemon left is replaced by the daemon itself.
        for attempt in range(5):
            self.port = free_port(self.first_port, 20)
            self.server = Server('strobe serve', [
                self.binary, 'serve', '--store', 'sqlite:' + os.path.join(self.state, 'state'),
                '--from', 'unix:' + self.socket_path, '--listen', f'127.0.0.1:{self.port}',
                *(word for d in self.source_dirs for word in ('--source-dir', d))], self.log)
            try:
                self.server.wait_until(self.ready)
                return
            except ServerError:
                self.server.stop()
                if attempt == 4 or 'in use; choose' not in tail(self.log):
                    raise

    def ready(self):
        try:
            return self.get('/readyz')[0] == 200
        except (OSError, http.client.HTTPException):
            return False

    def get(self, path, **query):
        """Returns status and body."""
        client = http.client.HTTPConnection('127.0.0.1', self.port, timeout=60)
        try:
            client.request('GET', path + ('?' + urllib.parse.urlencode(query) if query else ''))
            response = client.getresponse()
            return response.status, response.read()
        finally:
            client.close()

    def status(self):
        return json.loads(self.get('/api/v1/status')[1])

    def settle(self, seconds=10):
        """Waits until what was received is stored. Returns the status."""
        end = time.monotonic() + seconds
        while True:
            status = self.status()
            samples = status['samples']
            lost = sum(samples['dropped'].values())
            if samples['received'] <= samples['stored'] + lost or time.monotonic() > end:
                return status
            time.sleep(0.1)

    def check(self):
        self.server.check()

    def stop(self):
        if self.server:
            self.server.stop()


def write(path, text):
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)


def remove(path):
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
