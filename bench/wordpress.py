#!/usr/bin/env python3
"""usage: bench/wordpress.py [setup]

The overhead of tracing one request by secret: WordPress's front page on php-fpm with opcache.

The site is made once, under var/bench/wordpress: Debian's packages of WordPress, MariaDB and PHP's mysqli are downloaded
with apt-get and unpacked there, never installed, and WordPress installs itself through wp-admin/install.php. Each run
starts a database and one php-fpm worker, with sockets in a temporary folder, and stops both in the end.

Traced and untraced requests alternate in the same worker. Their CPU time is what the kernel counted for the worker's threads
(/proc/PID/task/*/schedstat) from before the request until the worker waits for the next one, so that sending the
trace and freeing it are included. "The floor" is observer_floor.c in a worker of its own: what no exact trace can go below. The ratio is that of the medians; in brackets the quartiles of the pairs' own ratios. A worker's first trace costs more, as nothing is kept from one before it.

For other measurements, from a program in this folder:

    import wordpress
    if reason := wordpress.why_not():        # sets the site up if it is missing (about 20 s); None if all is well
        ...
    with wordpress.Site({'strobe.trigger_secret': SECRET, 'strobe.instrument': '1'}) as site:   # lines of its php.ini
        status, body = site.get('/')         # or site.get('/?p=4', {'HTTP_X_STROBE_TRACE': SECRET})
        ns = site.cpu(lambda: site.get('/')) # CPU time of the worker, ns
        site.worker                          # its pid
        site.messages                        # what the extension sent: raw wire messages, see decode()

`Site(settings, extension=None)` leaves Strobe out, `Site(settings, beside=site)` shares the database of another one: there can
be one database at a time. `setup` only sets up. ROUNDS is the number of pairs.
"""
import array
import glob
import os
import re
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

import mediawiki
import peers

EXTENSION = os.environ.get('STROBE_EXTENSION', os.path.join(peers.ROOT, 'build', 'strobe.so'))
STATE = os.path.join(peers.ROOT, 'var', 'bench', 'wordpress')
SITE, PACKAGES, DATABASE = f'{STATE}/site', f'{STATE}/packages', f'{STATE}/database'
NEEDED = ['wordpress', 'wordpress-theme-twentytwentythree', 'mariadb-server-core', 'php-getid3', 'libaio1', 'libwrap0', 'liburing2']
# Extensions that Debian packages separately, in the order of their dependencies.
MODULES = ['mysqlnd', 'mysqli', 'ctype', 'mbstring', 'dom', 'xml', 'simplexml', 'xmlreader', 'curl', 'exif', 'fileinfo', 'iconv',
           'intl', 'tokenizer', 'posix']
SECRET = 'secret of the bench, 32 bytes...'
ROUNDS = int(os.environ.get('ROUNDS', '60'))
WARM_UP = 12
# Additional workers, each for its first trace.
WORKERS = int(os.environ.get('WORKERS', '5'))


# --- Processes ---

def php_version():
    return re.match(r'\d+\.\d+', peers.php_says('PHP_VERSION')).group(0)


def find_fpm():
    return os.environ.get('PHP_FPM') or shutil.which(f'php-fpm{php_version()}', path=os.environ['PATH'] + ':/usr/sbin')


def wait_for(condition, what, process):
    for _ in range(600):
        if condition():
            return
        if process.poll() is not None:
            break
        time.sleep(0.05)
    raise RuntimeError(f'{what} did not start')


def end(process, number):
    if process.poll() is None:
        process.send_signal(number)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def mariadbd(*arguments, **keywords):
    base = f'{PACKAGES}/usr'
    libraries = ':'.join(glob.glob(f'{PACKAGES}/**/lib/*-linux-gnu', recursive=True))
    return subprocess.Popen([f'{base}/sbin/mariadbd', '--no-defaults', f'--basedir={base}', f'--datadir={DATABASE}',
                             f'--lc-messages-dir={base}/share/mysql', f'--character-sets-dir={base}/share/mysql/charsets',
                             '--skip-networking', '--skip-grant-tables', '--skip-log-bin',
                             *(['--user=root'] if os.geteuid() == 0 else []), *arguments],
                            env=dict(os.environ, LD_LIBRARY_PATH=libraries), stdout=subprocess.DEVNULL, **keywords)


# --- FastCGI ---

def fastcgi(path, parameters, body=b''):
    """Sends one request over its own connection; returns what arrived on stdout."""
    def record(kind, data):
        return struct.pack('>BBHHBB', 1, kind, 1, len(data), 0, 0) + data

    pairs = b''
    for name, value in parameters.items():
        name, value = name.encode(), str(value).encode()
        pairs += struct.pack('>II', len(name) | 1 << 31, len(value) | 1 << 31) + name + value
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(600)
        s.connect(path)
        s.sendall(record(1, struct.pack('>HB5x', 1, 0)) + record(4, pairs) + record(4, b'') + record(5, body) +
                  (record(5, b'') if body else b''))
        received = b''.join(iter(lambda: s.recv(1 << 16), b''))
    out, at = b'', 0
    while at + 8 <= len(received):
        _, kind, _, length, padding = struct.unpack_from('>BBHHB', received, at)
        if kind == 6:
            out += received[at + 8:at + 8 + length]
        at += 8 + length + padding
    return out


# --- The messages ---

class Receiver(threading.Thread):
    """Receives messages like the daemon, large ones from their memfd."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.messages = []
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(path)
        self.listener.listen(16)
        self.start()

    def run(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.read, args=(connection,), daemon=True).start()

    def read(self, connection):
        while True:
            data, control, _, _ = connection.recvmsg(1 << 18, socket.CMSG_SPACE(4))
            if not data:
                return
            for level, kind, payload in control:
                if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                    fd = array.array('i', payload[:4])[0]
                    data = os.pread(fd, os.fstat(fd).st_size, 0)
                    os.close(fd)
            self.messages.append(data)


def decode(message):
    """A wire message as {'columns': names, 'frames': [(name, file, line)], 'nodes': [(parent, frame, values)]}; node
    0 is the message's own root, which is not included, so parent 1 is nodes[0]. Values are self values, as on the
    wire."""
    kind, = struct.unpack_from('<B', message, 5)
    label_count, column_count, drop_count = struct.unpack_from('<HHH', message, 40)
    string_count, frame_count, node_count = struct.unpack_from('<III', message, 48)
    at = 64

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            b = message[at]
            at += 1
            value |= (b & 127) << shift
            shift += 7
            if b < 128:
                return value

    strings = ['']
    for _ in range(string_count):
        n = varint()
        strings.append(message[at:at + n].decode('utf-8', 'replace'))
        at += n
    labels = {strings[varint()]: strings[varint()] for _ in range(label_count)}
    columns = [(strings[varint()], strings[varint()])[0] for _ in range(column_count)]
    drops = {varint(): varint() for _ in range(drop_count)}
    frames = [(strings[varint()], strings[varint()], varint()) for _ in range(frame_count)]
    nodes = []
    for i in range(1, node_count + 1):
        parent, frame = i - varint(), varint()
        nodes.append((parent, frame, [(v >> 1) ^ -(v & 1) for v in (varint() for _ in columns)]))
    return {'kind': kind, 'labels': labels, 'columns': columns, 'drops': drops, 'frames': frames, 'nodes': nodes}


# --- The site ---

class Site:
    """WordPress with its database and one php-fpm worker. `settings` are added to its php.ini."""
    document_root, modules = SITE, MODULES

    def __init__(self, settings=None, extension=EXTENSION, beside=None):
        self.directory = tempfile.mkdtemp(prefix='strobe-wordpress-')
        self.settings, self.extension = settings or {}, extension
        self.database_socket = beside.database_socket if beside else self.path('mariadb.sock')
        self.database = self.fpm = self.receiver = None

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.fpm:
            end(self.fpm, signal.SIGTERM)
        if self.database:
            end(self.database, signal.SIGTERM)
        if self.receiver:
            self.receiver.listener.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def path(self, name):
        return f'{self.directory}/{name}'

    def start_database(self):
        with open(self.path('mariadb.log'), 'w') as log:
            self.database = mariadbd(f'--socket={self.database_socket}', f'--pid-file={self.path("mariadb.pid")}', stderr=log)
        wait_for(lambda: os.path.exists(self.database_socket), 'mariadbd', self.database)

    def start(self):
        if not os.path.exists(self.database_socket):
            self.start_database()
        self.receiver = Receiver(self.path('strobe'))
        with open(self.path('php.ini'), 'w') as f:
            f.write(self.ini())
        with open(self.path('fpm.conf'), 'w') as f:
            f.write(f'[global]\nerror_log = {self.path("fpm.log")}\ndaemonize = no\n[www]\nlisten = {self.path("fpm")}\n'
                    f'pm = static\npm.max_children = 1\nclear_env = no\nchdir = {self.document_root}\n' +
                    ('user = root\ngroup = root\n' if os.geteuid() == 0 else ''))
        self.fpm = subprocess.Popen(self.fpm_command(), env=self.environment(), stdin=subprocess.DEVNULL,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(lambda: os.path.exists(self.path('fpm')) and self.children(), 'php-fpm', self.fpm)
        self.worker = self.children()[0]

    def fpm_command(self):
        return [find_fpm(), '-R', '-F', '-c', self.path('php.ini'), '-y', self.path('fpm.conf')]

    def environment(self):
        return dict(os.environ, PHP_INI_SCAN_DIR='', STROBE_BENCH_DB=self.database_socket)

    def ini(self):
        lines = ['memory_limit = 256M', 'sendmail_path = /bin/true', f'error_log = {self.path("php.log")}', 'log_errors = 1',
                 'display_errors = 0', 'opcache.enable = 1', 'opcache.enable_cli = 1', 'opcache.max_accelerated_files = 10000']
        directory = peers.php_says('PHP_EXTENSION_DIR')
        if os.path.exists(f'{directory}/opcache.so'):
            lines.append('zend_extension = opcache.so')
        own = f'{PACKAGES}/usr/lib/php/{os.path.basename(directory)}'
        for module in self.modules:
            found = [p for p in (f'{directory}/{module}.so', f'{own}/{module}.so') if os.path.exists(p)]
            lines += [f'extension = {p}' for p in found[:1]]
        settings = dict(self.settings)
        if self.extension:
            lines.append(f'extension = {self.extension}')
            settings = {'strobe.mode': 'off', 'strobe.socket': self.path('strobe'), **settings}
        return '\n'.join(lines) + '\n' + ''.join(f'{k} = "{v}"\n' for k, v in settings.items())

    def children(self):
        with open(f'/proc/{self.fpm.pid}/task/{self.fpm.pid}/children') as f:
            return [int(p) for p in f.read().split()]

    @property
    def messages(self):
        return self.receiver.messages

    def parameters(self, url='/', more=None):
        """The variables that a web server sets for a request."""
        parsed = urllib.parse.urlsplit(url)
        script = parsed.path if parsed.path.endswith('.php') else '/index.php'
        return {'GATEWAY_INTERFACE': 'CGI/1.1', 'SERVER_SOFTWARE': 'bench', 'SERVER_PROTOCOL': 'HTTP/1.1', 'SERVER_NAME': 'localhost',
                'SERVER_PORT': '80', 'HTTP_HOST': 'localhost', 'REMOTE_ADDR': '127.0.0.1', 'REQUEST_METHOD': 'GET',
                'REQUEST_URI': url, 'SCRIPT_NAME': script, 'SCRIPT_FILENAME': self.document_root + script,
                'DOCUMENT_ROOT': self.document_root,
                'QUERY_STRING': parsed.query, **(more or {})}

    def get(self, url='/', more=None, body=b''):
        """Returns the status and the body. `more` are additional FastCGI parameters."""
        answer = fastcgi(self.path('fpm'), self.parameters(url, more), body)
        head, _, content = answer.partition(b'\r\n\r\n')
        status = re.search(rb'^Status: (\d+)', head, re.M)
        return int(status.group(1)) if status else 200, content

    def post(self, url, fields):
        body = urllib.parse.urlencode(fields).encode()
        return self.get(url, {'REQUEST_METHOD': 'POST', 'CONTENT_TYPE': 'application/x-www-form-urlencoded',
                              'CONTENT_LENGTH': len(body)}, body)

    def cpu_ns(self):
        """Returns the CPU time of the worker so far, once it waits for a request."""
        def read():
            total = 0
            for task in os.listdir(f'/proc/{self.worker}/task'):
                with open(f'/proc/{self.worker}/task/{task}/schedstat') as f:
                    total += int(f.read().split()[0])
            return total

        def sleeps():
            with open(f'/proc/{self.worker}/stat') as f:
                return f.read().rpartition(')')[2].split()[0] == 'S'

        before = -1
        while True:
            now = read()
            if now == before and sleeps():
                return now
            before = now
            time.sleep(0.001)

    def cpu(self, what):
        """Returns the CPU time of the worker for `what()`, ns."""
        before = self.cpu_ns()
        what()
        return self.cpu_ns() - before


# --- Setting up ---

CONFIG = r"""<?php
define('DB_NAME', 'wordpress');
define('DB_USER', 'root');
define('DB_PASSWORD', '');
define('DB_HOST', 'localhost:' . getenv('STROBE_BENCH_DB'));
define('DB_CHARSET', 'utf8mb4');
define('DB_COLLATE', '');
foreach (['AUTH_KEY', 'SECURE_AUTH_KEY', 'LOGGED_IN_KEY', 'NONCE_KEY', 'AUTH_SALT', 'SECURE_AUTH_SALT', 'LOGGED_IN_SALT', 'NONCE_SALT'] as $key)
	define($key, "the bench's $key");
$table_prefix = 'wp_';
/* Nothing may reach for the network, and every request does the same. */
define('DISABLE_WP_CRON', true);
define('WP_HTTP_BLOCK_EXTERNAL', true);
define('AUTOMATIC_UPDATER_DISABLED', true);
define('WP_DEBUG', false);
define('ABSPATH', __DIR__ . '/');
require_once ABSPATH . 'wp-settings.php';
"""

# Run once through FastCGI, like WordPress's own code.
CONTENT = r"""<?php
require __DIR__ . '/wp-load.php';
$words = explode(' ', 'profile sample stack frame caller callee request worker cache query template block theme page post answer question summer winter river mountain');
mt_srand(42);
$sentence = function () use ($words) {
	for ($s = [], $i = mt_rand(8, 16); $i > 0; $i--)
		$s[] = $words[mt_rand(0, count($words) - 1)];
	return ucfirst(implode(' ', $s)) . '.';
};
for ($i = 1; $i <= 12; $i++) {
	$content = '';
	for ($p = 0; $p < 6; $p++) {
		for ($text = [], $n = 0; $n < 6; $n++)
			$text[] = $sentence();
		if ($p % 3 === 1)
			$content .= "<!-- wp:heading -->\n<h2>" . rtrim($sentence(), '.') . "</h2>\n<!-- /wp:heading -->\n\n";
		$content .= "<!-- wp:paragraph -->\n<p>" . implode(' ', $text) . " \"Quoted\" -- with <strong>emphasis</strong> and a <a href=\"https://example.org/$i\">link</a>...</p>\n<!-- /wp:paragraph -->\n\n";
	}
	$category = wp_create_category("Category " . ($i % 4));
	$id = wp_insert_post(['post_title' => "Post $i: " . $sentence(), 'post_content' => $content, 'post_status' => 'publish', 'post_author' => 1,
		'post_date' => sprintf('2024-03-%02d 12:00:00', $i), 'post_category' => [$category], 'tags_input' => [$words[$i], $words[$i + 1]]], true);
	if (is_wp_error($id))
		die('failed: ' . $id->get_error_message());
	wp_insert_comment(['comment_post_ID' => $id, 'comment_content' => $sentence(), 'comment_author' => 'A reader', 'comment_approved' => 1]);
}
echo "done";
"""


def fetch_packages():
    """Returns an error, or None."""
    mysql = f'php{php_version()}-mysql'
    for package in NEEDED + [mysql]:
        mark = f'{PACKAGES}/.{package}'
        if os.path.exists(mark):
            continue
        os.makedirs(PACKAGES, exist_ok=True)
        if problem := peers.unpack(package, PACKAGES):
            return f'{package}: {problem}'
        open(mark, 'w').close()
    return None


def copy_site():
    shutil.copytree(f'{PACKAGES}/usr/share/wordpress', SITE, dirs_exist_ok=True, symlinks=True)
    # Links to other packages are followed if these are unpacked; the others are scripts for browsers.
    for folder, _, names in os.walk(SITE):
        for name in names:
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                continue
            source = os.path.normpath(os.path.join(f'{PACKAGES}/usr/share/wordpress', os.path.relpath(folder, SITE), os.readlink(path)))
            os.unlink(path)
            if os.path.isfile(source):
                shutil.copy(source, path)
            else:
                open(path, 'w').close()
    with open(f'{SITE}/wp-config.php', 'w') as f:
        f.write(CONFIG)


def make_database():
    """Returns an error, or None."""
    shutil.rmtree(DATABASE, ignore_errors=True)
    os.makedirs(DATABASE)
    sql = 'CREATE DATABASE mysql;\nUSE mysql;\n'
    for name in ('mysql_system_tables', 'mysql_performance_tables', 'mysql_system_tables_data'):
        with open(f'{PACKAGES}/usr/share/mysql/{name}.sql', encoding='utf-8') as f:
            sql += f.read() + '\n'
    sql += 'CREATE DATABASE wordpress CHARACTER SET utf8mb4;\n'
    p = mariadbd('--bootstrap', stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    err = p.communicate(sql.encode())[1]
    return None if p.returncode == 0 else f'mariadbd --bootstrap: {err.decode(errors="replace")[-300:]}'


def install():
    """Returns an error, or None."""
    with Site(extension=None) as site:
        status, body = site.post('/wp-admin/install.php?step=2', {
            'weblog_title': 'Strobe bench', 'user_name': 'admin', 'admin_password': 'a password of the bench',
            'admin_password2': 'a password of the bench', 'admin_email': 'admin@example.org', 'blog_public': '0'})
        if status != 200 or b'wp-login.php' not in body:
            return f'wp-admin/install.php answered {status}: {re.sub(rb"<[^>]*>", b"", body)[-300:]!r}'
        # Below SITE, so that opcache and WordPress treat it like any other script.
        with open(f'{SITE}/content.php', 'w') as f:
            f.write(CONTENT.replace("require __DIR__ . '/wp-load.php';",
                                    "require __DIR__ . '/wp-load.php'; require ABSPATH . 'wp-admin/includes/taxonomy.php';"))
        status, body = site.get('/content.php')
        os.unlink(f'{SITE}/content.php')
        if status != 200 or body != b'done':
            return f'the posts were not made: {status} {body[-300:]!r}'
        status, body = site.get('/')
        if status != 200 or b'Post 12' not in body:
            return f'the front page answered {status}: {body[:300]!r}'
    return None


def why_not():
    """Sets the site up if it is missing. Returns the reason why it cannot be measured, or None."""
    if not find_fpm():
        return f'php-fpm{php_version()} is not installed'
    if os.path.exists(f'{STATE}/ready'):
        return None
    peers.say('setting up WordPress')
    os.makedirs(STATE, exist_ok=True)
    if problem := fetch_packages():
        return problem
    copy_site()
    if problem := make_database() or install():
        return problem
    open(f'{STATE}/ready', 'w').close()
    return None


# --- The measurement ---

def calls_of(message):
    run = decode(message)
    column = run['columns'].index('calls')
    return sum(values[column] for _, _, values in run['nodes']), len(run['nodes']), len(run['frames'])


def traced_request(site):
    before = len(site.messages)
    site.get('/', {'HTTP_X_STROBE_TRACE': SECRET})
    for _ in range(2000):
        if len(site.messages) > before:
            return
        time.sleep(0.001)
    sys.exit('the trace of a request did not arrive')


def quartiles(values):
    low, _, high = statistics.quantiles(values, n=4)
    return f'{low:.3f} to {high:.3f}'


def first_trace(settings, beside):
    """The CPU time of the first traced request of an otherwise warm worker, divided by that of an untraced one."""
    with Site(settings, beside=beside) as site:
        for _ in range(WARM_UP):
            site.get()
        untraced = statistics.median(site.cpu(site.get) for _ in range(7))
        return site.cpu(lambda: traced_request(site)) / untraced


def measure():
    settings = {'strobe.instrument': '1', 'strobe.trigger_secret': SECRET}
    least_of_all = mediawiki.floor()
    with Site(settings) as site, Site(extension=None, beside=site) as without, Site(extension=least_of_all, beside=site) as floor:
        requests = {'traced': lambda: site.cpu(lambda: traced_request(site)), 'untraced': lambda: site.cpu(site.get),
                    'without': lambda: without.cpu(without.get)}
        if least_of_all:
            requests['floor'] = lambda: floor.cpu(floor.get)
        for _ in range(WARM_UP):
            for request in requests.values():
                request()
        times = {name: [] for name in requests}
        for i in range(ROUNDS):
            names = list(requests)
            at = i % len(names)
            for name in names[at:] + names[:at]:
                times[name].append(requests[name]())
        calls, nodes, functions = calls_of(site.messages[-1])
        size = len(site.messages[-1])
        first = [first_trace(settings, site) for _ in range(WORKERS)]
    medians = {name: statistics.median(t) for name, t in times.items()}
    pairs = [a / b for a, b in zip(times['traced'], times['untraced'])]
    idle = [a / b for a, b in zip(times['untraced'], times['without'])]
    least = [a / b for a, b in zip(times.get('floor', []), times['without'])]
    added = medians['traced'] - medians['untraced']
    print(f'WordPress, front page, without Strobe\t{medians["without"] / 1e6:.1f}\tms\tCPU time of the worker')
    print(f'WordPress: strobe.instrument=1, not traced\t×{medians["untraced"] / medians["without"]:.3f}\t\t(pairs {quartiles(idle)})')
    if least:
        print(f'WordPress: the floor: the observer, and the counter read\t×{medians["floor"] / medians["without"]:.3f}\t\t(pairs {quartiles(least)})')
    print(f'WordPress: traced by secret\t×{medians["traced"] / medians["untraced"]:.3f}\t\t'
          f'(pairs {quartiles(pairs)}; {calls:,} calls, {nodes:,} nodes, {functions:,} functions, {size / 1e3:.0f} kB)')
    print(f'WordPress: traced by secret, per call\t{added / calls:.0f}\tns\t{added / 1e6:.2f} ms for the request')
    if first:
        print(f'WordPress: the first trace of a worker\t×{statistics.median(first):.2f}\t\t({", ".join(f"{f:.2f}" for f in sorted(first))})')


def main():
    reason = why_not()
    if not reason and not sys.argv[1:] and not os.path.exists(EXTENSION):
        reason = f'{EXTENSION} is not built'
    if reason:
        peers.say(f'WordPress is not measured: {reason}')
        print(f'WordPress\t-\t\tnot measured: {reason}')
    elif sys.argv[1:] != ['setup']:
        measure()


if __name__ == '__main__':
    main()
