"""Random programs for the corpus: loops, arithmetic, arrays, strings and calls, made from a seed.

write(folder, seed) writes one in the format of programs/, with EXPECT in place of its result: nobody knows it before a
PHP without a JIT has run it. Numbers stay small and loops are counted, so that every program ends and none overflows.
"""
import os
import random

VARIABLES = ['a', 'b', 'c', 'd']


class Maker:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.lines, self.depth, self.loops, self.helpers = [], 0, [], 0

    def line(self, text):
        self.lines.append('\t' * self.depth + text)

    def block(self, head, body):
        self.line(head + ' {')
        self.depth += 1
        body()
        self.depth -= 1
        self.line('}')

    def value(self):
        r = self.r.random()
        if r < 0.5:
            return '$' + self.r.choice(VARIABLES)
        if r < 0.65 and self.loops:
            return self.r.choice(self.loops)
        if r < 0.75:
            return f'$p[{self.index()}]'
        if r < 0.83:
            return f"($h['k' . ({self.plain()} & 7)] ?? {self.r.randrange(9)})"
        if r < 0.88 and self.helpers:
            return f'helper{self.r.randrange(self.helpers)}({self.plain()}, $p)'
        if r < 0.92:
            return f'ord($s[{self.plain()} % strlen($s)])'
        if r < 0.95:
            return '(int)$f'
        return str(self.r.randrange(1, 100))

    def plain(self):
        return self.r.choice(['$' + self.r.choice(VARIABLES), *self.loops])

    def index(self):
        return f'{self.plain()} & 15'

    def number(self):
        a, b = self.value(), self.value()
        return self.r.choice([f'{a} + {b}', f'{a} * {self.r.randrange(2, 9)} + {b}', f'{a} ^ {b}', f'({a} << 2) - {b}',
                              f'{a} - ({b} >> 1)', f'{a} | {b}', f'{a} % 37 + {b}', f'max({a}, {b})', f'abs({a} - {b})'])

    def condition(self):
        a, b = self.value(), self.value()
        return self.r.choice([f'{a} < {b}', f'({a}) % 3 === 1', f'isset($p[{self.plain()}])', f'array_key_exists({self.plain()}, $p)',
                              f'in_array({a}, $p, true)', f"!isset($h['k' . ({self.plain()} & 15)])", f'{a} & 1 && {b} > 20', f'$f > {a}',
                              f"str_contains($s, 'c')", f'{a} === {b} || {self.plain()} & 2'])

    def statement(self, level):
        kinds = ['assign'] * 6 + ['op'] * 4 + ['packed'] * 3 + ['hash'] * 2 + ['float'] * 2 + ['string', 'if', 'if']
        if level < 3:
            kinds += ['for', 'for', 'while', 'foreach']
        if self.loops:
            kinds += ['leave']
        kind = self.r.choice(kinds)
        v = '$' + self.r.choice(VARIABLES)
        if kind == 'assign':
            self.line(f'{v} = ({self.number()}) & 0xffff;')
        elif kind == 'op':
            self.line(self.r.choice([f'{v} += {self.plain()} & 63;', f'{v}++;', f'{v} ^= {self.plain()};', f'{v} = {v} & 0x7fff;']))
        elif kind == 'packed':
            self.line(self.r.choice([f'$p[{self.index()}] = ({self.number()}) & 0xfff;', f'$p[{self.index()}]++;']))
        elif kind == 'hash':
            self.line(f"$h['k' . ({self.plain()} & 7)] = ({self.number()}) & 0xff;")
        elif kind == 'float':
            self.line(self.r.choice([f'$f = $f * 0.75 + {self.plain()};', '$f += 0.5;', f'$f = ($f + {self.plain()}) / 3.0;']))
        elif kind == 'string':
            self.line(f"$s = substr($s . chr(97 + ({self.plain()} & 15)), -12);")
        elif kind == 'if':
            self.block(f'if ({self.condition()})', lambda: self.statements(level + 1, 2))
            if self.r.random() < 0.4:
                self.lines[-1] += ' else {'
                self.depth += 1
                self.statements(level + 1, 2)
                self.depth -= 1
                self.line('}')
        elif kind == 'leave':
            self.line(f'if ({self.condition()})')
            self.line('\t' + self.r.choice(['continue;', 'continue;', 'break;']))
        else:
            self.loop(kind, level)

    def loop(self, kind, level):
        counter = f'$i{len(self.loops)}'
        times = self.r.randrange(3, 14 - 3 * level)
        if kind == 'foreach':
            head, before = f'foreach ($p as {counter} => $x{len(self.loops)})', None
        elif kind == 'while':
            head, before = f'while ({counter}++ < {times})', f'{counter} = 0;'
        else:
            head, before = f'for ({counter} = 0; {counter} < {times}; {counter}++)', None
        if before:
            self.line(before)
        self.loops.append(counter)
        self.block(head, lambda: self.statements(level + 1, 5))
        self.loops.pop()

    def statements(self, level, most):
        for _ in range(self.r.randrange(1, most + 1)):
            self.statement(level)

    def helper(self, n):
        self.line(f'function helper{n}(int $a, array $p): int')
        self.line('{')
        self.depth = 1
        self.line("$b = 3; $c = $a & 7; $d = 1; $f = 1.5; $s = 'abc'; $h = [];")
        self.loop(self.r.choice(['for', 'while', 'foreach']), 2)
        self.line('return ($a + $b + $c + $d + (int)$f) & 0xffff;')
        self.depth = 0
        self.line('}')
        self.line('')
        self.helpers = n + 1

    def program(self, seed):
        self.line('<?php')
        self.line(f'namespace Corpus\\Random{seed};')
        self.line('')
        self.line('use function abs, array_key_exists, chr, in_array, json_encode, max, md5, ord, range, str_contains, strlen, substr;')
        self.line('')
        for n in range(self.r.randrange(1, 3)):
            self.helper(n)
        self.line('function work(int $a, int $b): array')
        self.line('{')
        self.depth = 1
        self.line("$c = 5; $d = 9; $f = 0.25; $s = 'xyz'; $p = range(1, 16); $h = ['k1' => 4];")
        for _ in range(3):
            self.loop(self.r.choice(['for', 'while', 'foreach']), 0)
            self.statements(2, 2)
        self.line('return [$a, $b, $c, $d, $f, $s, $p, $h];')
        self.depth = 0
        self.line('}')
        self.line('')
        self.line(f'return [EXPECT, fn () => md5(json_encode([work({self.r.randrange(99)}, 3), work(7, {self.r.randrange(99)})]))];')
        return '\n'.join(self.lines) + '\n'


def write(folder, seed):
    """Returns its name."""
    name = f'random_{seed}'
    with open(os.path.join(folder, name + '.php'), 'w') as f:
        f.write(Maker(seed).program(seed))
    return name
