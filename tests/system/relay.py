"""A relay for the system tests: `strobe collect` from a unix socket to a stream of Redis; and what that stream holds."""
import ctypes
import ctypes.util
import signal
import subprocess
import threading
import urllib.request

import wire
from strobe_test import STROBE, Message, wait_for


class Relay:
    """Started by `with`, or start() and end(). `lines` are what it says."""

    def __init__(self, directory, url, state='state'):
        self.directory, self.url, self.lines, self.process = directory, url, [], None
        self.socket, self.state = f'{directory}/strobe.sock', f'{directory}/{state}'

    def start(self, ready=True):
        self.address, self.connection, self.lines = None, None, []
        self.process = subprocess.Popen(
            [STROBE, 'collect', '--from', f'unix:{self.socket}', '--to', self.url, '--state', self.state,
             '--listen', '127.0.0.1:0'], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=self.read, args=(self.process.stderr,), daemon=True)
        self.reader.start()
        if ready and not wait_for(lambda: self.address or self.process.poll() is not None):
            raise RuntimeError('the relay did not start: ' + ' '.join(self.lines))
        return self

    def read(self, stream):
        for line in stream:
            self.lines.append(line.rstrip('\n'))
            if 'http://' in line and not self.address:
                self.address = 'http://' + line.split('http://')[1].split()[0]

    def send(self, *messages):
        if self.connection is None:
            self.connection = wire.connect(self.socket)
        for m in messages:
            self.connection.send(m)

    def figures(self):
        """The metrics of the relay, by name without "strobe_" and "relay_"; with the label reason as name{reason}."""
        with urllib.request.urlopen(self.address + '/metrics', timeout=10) as r:
            text = r.read().decode()
        found = {}
        for line in text.splitlines():
            if line.startswith(('strobe_relay_', 'strobe_spool_')):
                name, value = line.removeprefix('strobe_').removeprefix('relay_').rsplit(' ', 1)
                reason = name.split('reason="')[1].split('"')[0] if 'reason="' in name else ''
                found[name.split('{')[0] + (f'{{{reason}}}' if reason else '')] = float(value)
        return found

    def figure(self, name):
        return int(self.figures()[name])

    def is_exact(self):
        """found + handed = forwarded + known + dropped + waiting. A figure may change between two that are read."""
        def balance():
            f = self.figures()
            dropped = sum(v for k, v in f.items() if k.startswith('dropped_samples_total'))
            return f['recovered_samples_total'] + f['received_samples_total'] == \
                f['forwarded_samples_total'] + f['deduplicated_samples_total'] + dropped + f['waiting_samples']
        return wait_for(balance)

    def wait_until_on_disk(self, samples):
        """Waits until the relay has received `samples` since its start: they are in the spool, or in a part of its next entry."""
        return wait_for(lambda: self.figure('received_samples_total') >= samples)

    def wait_until_forwarded(self, samples, seconds=60):      # between two attempts it waits up to 30
        """Counts known samples too: they were sent again because an answer was lost, and were forwarded before."""
        return wait_for(lambda: self.figure('forwarded_samples_total') + self.figure('deduplicated_samples_total') >= samples,
                        seconds)

    def end(self, signo=signal.SIGTERM):
        if self.connection:
            self.connection.close()
            self.connection = None
        if self.process.poll() is None:
            self.process.send_signal(signo)
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        finally:
            self.process.wait()
            self.reader.join(10)
            self.process.stderr.close()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        if self.connection:
            self.connection.close()
        self.process.wait()
        self.reader.join(10)


def one(name, samples=1, **more):
    return wire.message({('main', name): samples}, **more)


def load(name, file):
    return ctypes.CDLL(ctypes.util.find_library(name) or file)


def unpack(data):
    """One frame of zstd."""
    library = load('zstd', 'libzstd.so.1')
    library.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
    library.ZSTD_decompress.restype = ctypes.c_size_t
    size = library.ZSTD_getFrameContentSize(data, ctypes.c_size_t(len(data)))
    out = ctypes.create_string_buffer(size + 1)
    got = library.ZSTD_decompress(out, ctypes.c_size_t(size), data, ctypes.c_size_t(len(data)))
    if got != size:
        raise ValueError('no frame of zstd')
    return out.raw[:size]


def messages_in(data):
    while data:
        size = int.from_bytes(data[8:12], 'little')
        yield data[:size]
        data = data[size:]


class Stream:
    """The content of a stream: sums by stack, and each message in order."""

    def __init__(self, redis, key='strobe'):
        self.messages, self.entries, self.ids, self.sums, self.runs = [], [], [], {}, 0
        for _, fields in redis.command('XRANGE', key, '-', '+'):
            entry = dict(zip(fields[::2], fields[1::2]))
            self.entries.append(entry)
            self.ids.append(entry[b'id'])
            for data in messages_in(unpack(entry[b'strobe'])):
                if data[5] == 2:
                    self.runs += 1
                    continue
                m = Message(data)
                self.messages.append(m)
                for stack, samples in m.stacks.items():
                    self.sums[stack] = self.sums.get(stack, 0) + samples

    def total(self):
        return sum(self.sums.values())

    def order(self):
        """The numbers of the functions f0, f1, … as they came; those of one message are sorted."""
        return [n for m in self.messages for n in sorted(int(stack[1][1:]) for stack in m.stacks)]
