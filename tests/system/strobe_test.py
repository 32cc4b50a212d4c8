"""Shared by the system tests: lines that the runner counts, a receiver that decodes messages, a FastCGI client.

Environment: STROBE is the path of the binary, STROBE_EXTENSION that of strobe.so. Both default to the build tree.
STROBE_TEST_TIMES=1 prints the seconds and the CPU seconds of each test.
"""
import array
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STROBE = os.environ.get('STROBE', os.path.join(ROOT, 'build', 'strobe'))
EXTENSION = os.environ.get('STROBE_EXTENSION', os.path.join(ROOT, 'build', 'strobe.so'))

tests = []
failures = []


class Skip(Exception):
    """Raised by a test that cannot run here; its text is the reason."""


def test(function):
    """Registers a test; its sentence is the function's name."""
    tests.append(function)
    return function


def test_in_full(function):
    """A test that takes a quarter of a minute of CPU time: only with STROBE_TEST_IN_FULL=1, as in the suite "long"."""
    return test(function) if os.environ.get('STROBE_TEST_IN_FULL') else function


def check(holds, sentence):
    if not holds:
        failures.append(sentence)
        print(f'# NOT TRUE: {sentence}', flush=True)
    return holds


def some(cases, every=4):
    """Cases that differ by values alone: every fourth, from the first one on. With STROBE_TEST_IN_FULL=1, as in the suite "long", all of them."""
    return [case for i, case in enumerate(cases) if i % every == 0 or os.environ.get('STROBE_TEST_IN_FULL')]


def in_container():
    """Whether this is a container without systemd, in which remedies of strobe are others."""
    signs = os.path.exists('/.dockerenv') or os.path.exists('/run/.containerenv') or os.environ.get('container') or os.environ.get('KUBERNETES_SERVICE_HOST')
    with open('/proc/self/mountinfo') as mounts:
        signs = signs or any(line.split()[4] == '/' and '/io.containerd.snapshotter.' in line for line in mounts)
    return bool(signs) and not os.path.exists('/run/systemd/system')


def cpu_seconds():
    """CPU time of this program and of the programs that it has waited for."""
    return sum(os.times()[:4])


def main():
    """Runs every registered test, or those whose names contain an argument."""
    failed = 0
    for function in tests:
        sentence = function.__name__.replace('_', ' ')
        if len(sys.argv) > 1 and not any(word in function.__name__ for word in sys.argv[1:]):
            continue
        failures.clear()
        begun, used = time.monotonic(), cpu_seconds()
        try:
            function()
        except Skip as reason:
            print(f'skip - {sentence}: {reason}', flush=True)
            continue
        except Exception as e:              # a crash of the test itself is a failure with its place
            where = e.__traceback__
            while where.tb_next:
                where = where.tb_next
            check(False, f'{type(e).__name__}: {e} (line {where.tb_lineno})')
        print(f'{"not ok" if failures else "ok"} - {sentence}', flush=True)
        if os.environ.get('STROBE_TEST_TIMES'):
            print(f'# {time.monotonic() - begun:.1f} s, {cpu_seconds() - used:.1f} s of CPU time', flush=True)
        failed += bool(failures)
    sys.exit(1 if failed else 0)


def skip_all(reason):
    """Every registered test is skipped, as the programs that they share cannot run."""
    for function in tests:
        print(f'skip - {function.__name__.replace("_", " ")}: {reason}')


def wait_for(condition, seconds=60):
    """Waits until `condition()` is true; returns its value, or the last false one when time is up. It is up late, since
    machines are busy: a wait that times out has failed anyway. Conditions are often queries, and many programs wait at the same
    time, so the polling interval grows with the wait."""
    begun = time.monotonic()
    while not (value := condition()) and (waited := time.monotonic() - begun) < seconds:
        time.sleep(min(0.02 + waited / 20, 0.25))
    return value


class Directory:
    """A temporary directory that everybody may enter; removed in the end."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix='strobe-')
        os.chmod(self.path, 0o755)
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)


class Message:
    """One decoded message of wire/strobe_wire.h."""

    def __init__(self, data):
        (magic, version, kind, self.clock, _, length, self.pid, self.start, self.end, self.period, labels, columns,
         drops, flags, strings, frames, nodes, _) = struct.unpack_from('<4sBBBBIIQQQHHHHIIII', data)
        if magic != b'STRB' or version not in (1, 2) or kind != 1 or length != len(data) or flags != version - 1:
            raise ValueError(f'bad header {data[:64].hex()}')
        self.data, self.at = data, 64 if version == 1 else 80
        texts = [b''] + [self.bytes() for _ in range(strings)]
        texts = [t.decode('utf-8', 'surrogateescape') for t in texts]
        self.labels = {texts[self.varint()]: texts[self.varint()] for _ in range(labels)}
        self.columns = [(texts[self.varint()], texts[self.varint()]) for _ in range(columns)]
        self.drops = {self.varint(): self.varint() for _ in range(drops)}
        self.frames = [(texts[self.varint()], texts[self.varint()], self.varint()) for _ in range(frames)]
        paths, self.stacks = [()], {}
        for i in range(1, nodes + 1):
            parent = i - self.varint()
            paths.append(paths[parent] + (self.frames[self.varint()][0],))
            if version == 2:
                self.varint()               # the executed line
            z = [self.varint() for _ in range(columns)][0]
            if z:
                self.stacks[paths[i]] = self.stacks.get(paths[i], 0) + ((z >> 1) ^ -(z & 1))
        if self.at != len(data):
            raise ValueError('bytes after the last section')

    def varint(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def bytes(self):
        n = self.varint()
        self.at += n
        return self.data[self.at - n:self.at]


class Receiver:
    """Listens on a unix socket as the daemon would."""

    def __init__(self, path):
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(path)
        os.chmod(path, 0o666)
        self.listener.listen(128)
        self.listener.setblocking(False)
        self.connections, self.messages, self.accepted = [], [], 0

    def poll(self):
        while True:
            try:
                self.connections.append(self.listener.accept()[0])
                self.accepted += 1
            except BlockingIOError:
                break
        for c in list(self.connections):
            while True:
                try:
                    data, control, _, _ = c.recvmsg(1 << 18, socket.CMSG_SPACE(4), socket.MSG_DONTWAIT)
                except (BlockingIOError, ConnectionResetError):
                    break
                if not data:
                    self.connections.remove(c)
                    c.close()
                    break
                if data[:4] == b'STRF':
                    fds = array.array('i', control[0][2])
                    with os.fdopen(fds[0], 'rb') as f:
                        f.seek(0)
                        data = f.read()
                self.messages.append(Message(data))

    def close(self):
        for c in self.connections:
            c.close()
        self.listener.close()


def fastcgi(path, script, method='GET', query='', timeout=30, uri=None):
    """Requests `script` from php-fpm on the unix socket `path`, as the web server does for `uri`. Returns (headers, body)."""
    def record(kind, content):
        return struct.pack('>BBHHBx', 1, kind, 1, len(content), 0) + content

    def pair(key, value):
        key, value = key.encode(), value.encode()
        sizes = b''.join(bytes([n]) if n < 128 else struct.pack('>I', n | 1 << 31) for n in (len(key), len(value)))
        return sizes + key + value

    params = b''.join(pair(k, v) for k, v in {
        'SCRIPT_FILENAME': script, 'SCRIPT_NAME': '/' + os.path.basename(script), 'REQUEST_METHOD': method,
        'QUERY_STRING': query, 'REQUEST_URI': uri or '/' + os.path.basename(script), 'SERVER_PROTOCOL': 'HTTP/1.1',
        'CONTENT_LENGTH': '0'}.items())
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(timeout)
        s.connect(path)
        s.sendall(record(1, struct.pack('>HB5x', 1, 0)) + record(4, params) + record(4, b'') + record(5, b''))
        data = b''
        while chunk := s.recv(1 << 16):
            data += chunk
    out, at = b'', 0
    while at + 8 <= len(data):
        kind, n, padding = data[at + 1], *struct.unpack_from('>HB', data, at + 4)
        if kind == 6:
            out += data[at + 8:at + 8 + n]
        at += 8 + n + padding
    head, _, body = out.partition(b'\r\n\r\n')
    return head.decode(), body.decode('utf-8', 'replace')


def find_fpm():
    """php-fpm of the PHP that the extension is built for."""
    version = subprocess.run(['php', '-r', 'echo PHP_MAJOR_VERSION, ".", PHP_MINOR_VERSION;'], capture_output=True,
                             text=True).stdout
    path = os.environ.get('PATH', '') + ':/usr/sbin:/sbin'
    for name in (f'php-fpm{version}', 'php-fpm'):
        if found := shutil.which(name, path=path):
            return found
    raise Skip('php-fpm is not installed')
