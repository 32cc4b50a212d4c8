"""Writes messages of wire/strobe_wire.h, as a PHP process does."""
import array
import fcntl
import os
import socket
import struct
import time

SEALS = 0x0002 | 0x0004 | 0x0008 | 0x0001       # SHRINK, GROW, WRITE, SEAL


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def message(stacks, labels=None, clock=1, period=10_000_000, end=None, drops=None, padding=0):
    """One message. `stacks` maps tuples of names, root first, to numbers of samples."""
    strings, frames, nodes = {}, {}, {}

    def text(s):
        return strings.setdefault(s, len(strings) + 1)

    pairs = [(text(k), text(v)) for k, v in (labels or {'entry': 'index'}).items()]
    column = (text('samples'), text('count'))
    order = []
    for stack, samples in stacks.items():
        parent = 0
        for i, name in enumerate(stack):
            path = stack[:i + 1]
            if path not in nodes:
                frame = frames.setdefault(name, (len(frames), text(name)))[0]
                order.append([parent, frame, 0])
                nodes[path] = len(order)
            parent = nodes[path]
        order[parent - 1][2] += samples
    for i in range(padding):
        text(f'{i:060000d}')

    body = b''.join(varint(len(s.encode())) + s.encode() for s in strings)
    body += b''.join(varint(k) + varint(v) for k, v in pairs)
    body += varint(column[0]) + varint(column[1])
    body += b''.join(varint(k) + varint(v) for k, v in (drops or {}).items())
    body += b''.join(varint(name) + varint(0) + varint(0) for _, name in frames.values())
    body += b''.join(varint(i + 1 - p) + varint(f) + varint(2 * n) for i, (p, f, n) in enumerate(order))
    end = end or time.time_ns()
    return struct.pack('<4sBBBBIIQQQHHHHIIII', b'STRB', 1, 1, clock, 0, 64 + len(body), os.getpid(), end - 1000, end,
                       period, len(pairs), 1, len(drops or {}), 0, len(strings), len(frames), len(order), 0) + body


def signed(n):
    return varint(2 * n if n >= 0 else -2 * n - 1)


UNITS = {'calls': 'count', 'wall_ns': 'nanoseconds', 'cpu_ns': 'nanoseconds', 'off_cpu_ns': 'nanoseconds',
         'memory_bytes': 'bytes'}


def run_message(calls, labels=None, columns=('calls', 'wall_ns', 'memory_bytes'), end=None, duration=1_000_000,
                drops=None):
    """One run. `calls` is a list of (parent, name, values…): the parent's number counts from 1, 0 is the root."""
    strings, frames = {}, {}

    def text(s):
        return strings.setdefault(s, len(strings) + 1)

    pairs = [(text(k), text(v)) for k, v in (labels or {}).items()]
    named = [(text(c), text(UNITS[c])) for c in columns]
    for parent, name, *values in calls:
        frames.setdefault(name, (len(frames), text(name)))
    body = b''.join(varint(i - parent) + varint(frames[name][0]) + b''.join(signed(v) for v in values)
                    for i, (parent, name, *values) in enumerate(calls, 1))
    head = b''.join(varint(len(s.encode())) + s.encode() for s in strings)
    head += b''.join(varint(a) + varint(b) for a, b in pairs + named)
    head += b''.join(varint(k) + varint(v) for k, v in (drops or {}).items())
    head += b''.join(varint(name) + varint(0) + varint(0) for _, name in frames.values())
    body = head + body
    end = end or time.time_ns()
    return struct.pack('<4sBBBBIIQQQHHHHIIII', b'STRB', 1, 2, 0, 0, 64 + len(body), os.getpid(), end - duration, end,
                       0, len(pairs), len(columns), len(drops or {}), 0, len(strings), len(frames), len(calls),
                       0) + body


def connect(path, blocking=True):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.setblocking(blocking)
    s.connect(path)
    return s


def send_memfd(s, data):
    """Sends a message that is too large for a datagram."""
    fd = os.memfd_create('test', os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.truncate(fd, len(data))
        os.pwrite(fd, data, 0)
        fcntl.fcntl(fd, 1033, SEALS)            # F_ADD_SEALS
        s.sendmsg([struct.pack('<4sIQ', b'STRF', 1, len(data))],
                  [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [fd]))])
    finally:
        os.close(fd)
