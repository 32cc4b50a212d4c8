"""profile.proto and the form of Pyroscope's old agents, as other profilers send them, written by hand."""
import gzip


def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while n > 0x7f:
        out.append(n & 0x7f | 0x80)
        n >>= 7
    return bytes(out) + bytes([n])


def field(number, value):
    """A number, or bytes, text or a message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def numbers(number, values, packed=True):
    if packed:
        return field(number, b''.join(varint(v) for v in values))
    return b''.join(field(number, v) for v in values)


class Pprof:
    """Samples are (stack, values, labels), a stack a list of (name, file, line that ran), root first."""

    def __init__(self, types, samples, time_ns=0, period_type=None, period=0, packed=True):
        self.strings, self.functions, self.locations, self.packed = {'': 0}, {}, {}, packed
        self.parts = [field(1, self.type(t)) for t in types]
        for stack, values, labels in samples:
            self.parts.append(field(2, self.sample(stack, values, labels)))
        for (name, file), i in self.functions.items():
            self.parts.append(field(5, field(1, i) + field(2, self.string(name)) + field(4, self.string(file)) + field(5, 1)))
        for (name, file, line), i in self.locations.items():
            at = field(1, self.functions[name, file]) + field(2, line)
            self.parts.append(field(4, field(1, i) + field(4, at)))
        if period_type:
            self.parts += [field(11, self.type(period_type)), field(12, period)]
        if time_ns:
            self.parts.append(field(9, time_ns))
        self.parts += [field(6, s) for s in self.strings]

    def string(self, text):
        return self.strings.setdefault(text, len(self.strings))

    def type(self, pair):
        return field(1, self.string(pair[0])) + field(2, self.string(pair[1]))

    def location(self, name, file, line):
        self.functions.setdefault((name, file), len(self.functions) + 1)
        return self.locations.setdefault((name, file, line), len(self.locations) + 1)

    def sample(self, stack, values, labels):
        out = numbers(1, [self.location(*frame) for frame in reversed(stack)], self.packed) + numbers(2, values, self.packed)
        for key, value in labels.items():
            out += field(3, field(1, self.string(key)) + field(2, self.string(value)))
        return out

    def bytes(self):
        return b''.join(self.parts)

    def gzip(self):
        return gzip.compress(self.bytes(), 1)


def form(**files):
    """The body and the type of a multipart form."""
    boundary = 'strobe-test-boundary'
    body = b''.join(f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; filename="{name}"\r\n\r\n'.encode() + data + b'\r\n'
                    for name, data in files.items())
    return body + f'--{boundary}--\r\n'.encode(), f'multipart/form-data; boundary={boundary}'
