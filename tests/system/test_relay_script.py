"""The script by which a relay adds its entries, run in a real Redis: each entry counts once, also with records that earlier versions left, and
what it writes is small."""
import contextlib
import os
import random

from redis_server import RedisError, RedisServer
from strobe_test import ROOT, check, main, test

RECORD, REMEMBERED, SECONDS = '{strobe}:seen:1', 256, 2592000
# Wrote its record as a whole for each entry.
EARLIER = (
    "local value = redis.call('GET', KEYS[2]) or '' "
    'local old = tonumber(value) or 0 '
    'local list, seen, last = {}, {}, old '
    "for pair, n in string.gmatch(value, '((%d+):%x+)') do "
    'list[#list + 1] = pair seen[pair] = true last = math.max(last, tonumber(n)) '
    'end '
    'local result, failed, before = {}, nil, #list '
    'for i = 4, #ARGV, 3 do '
    "local pair, n = ARGV[i] .. ':' .. ARGV[i + 1], tonumber(ARGV[i]) "
    "if seen[pair] or n <= old then result[#result + 1] = 'k' else "
    "local r = redis.pcall('XADD', KEYS[1], '*', 'strobe', ARGV[i + 2], 'id', ARGV[i + 1], 'host', ARGV[1]) "
    "if type(r) == 'table' and r.err then failed = r break end "
    "result[#result + 1] = n > last and 'a' or 'r' "
    'list[#list + 1] = pair seen[pair] = true last = math.max(last, n) '
    'end '
    'end '
    'if #list > before then '
    "redis.call('SET', KEYS[2], table.concat(list, ' ', math.max(1, #list - ARGV[3] + 1)), 'EX', ARGV[2]) "
    'end '
    'return failed or table.concat(result)')


def script():
    with open(f'{ROOT}/src/relay/forward.lua', encoding='utf-8') as f:
        return f.read()


class Relay:
    """Entries by their numbers; the id of one is its number and `life`, the content of another with the same number."""

    def __init__(self, redis, text=None, **login):
        self.redis, self.text, self.client = redis, text or script(), redis.connect()
        if login:
            self.client.command('AUTH', login['user'], login['password'])

    def add(self, *numbers, life=0, body='body'):
        """The letters that it answers with."""
        entries = [word for n in numbers for word in (n, f'{life:08x}{n:08x}', body)]
        return self.client.command('EVAL', self.text, 2, 'strobe', RECORD, 'web1', SECONDS, REMEMBERED, *entries).decode()

    def ids(self):
        return [entry[1][3].decode() for entry in self.redis.command('XRANGE', 'strobe', '-', '+')]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.close()


@contextlib.contextmanager
def relay(*options, **more):
    with RedisServer(*options, **more) as redis, Relay(redis) as r:
        yield r


@test
def repeated_entries_are_deduplicated():
    with relay() as r:
        check(r.add(1, 2, 3) == 'aaa', 'new entries are added')
        check(r.add(1, 2, 3, 4) == 'kkka', 'existing entries are skipped')
        check(r.add(5, 5) == 'ak', 'duplicates within one call are skipped')
        check(len(set(r.ids())) == len(r.ids()) == 5, f'each exists once: {r.ids()}')


@test
def an_entry_with_the_number_of_another_is_added_and_reported_as_renumbered():
    with relay() as r:
        r.add(*range(1, 11))
        check(r.add(4, 5, life=1) == 'rr', 'entries with other content are renumbered')
        check(r.add(4, 5, life=1) == 'kk', 'renumbered entries are deduplicated')
        check(r.add(6, 7, life=1) == 'rr', 'the highest number is that of the first')
        check(r.add(11) == 'a' and r.add(8, life=1) == 'r' and r.add(12, 9, life=1) == 'ar', 'in turns')
        check(r.add(*range(1, 12)) == 'k' * 11 and len(set(r.ids())) == len(r.ids()), f'each exists once: {r.ids()}')


@test
def the_record_keeps_the_latest_entries_and_stays_small():
    random.seed(7)
    with relay() as r:
        n = most = 0
        while n < 1000:
            count = random.choice((1, 1, 1, 2, 64))
            check(r.add(*range(n + 1, n + count + 1)) == 'a' * count, f'{n}: new entries are added')
            n += count
            most = max(most, r.redis.command('STRLEN', RECORD))
            again = range(max(1, n - REMEMBERED + 1), n + 1)
            if n % 5 == 0:
                check(r.add(*again) == 'k' * len(again), f'{n}: the last {len(again)} are known')
        check(most < 2 * REMEMBERED * len('1000:0123456789abcdef '), f'{most} bytes at most')
        check(len(set(r.ids())) == len(r.ids()) == n, 'each exists once')


@test
def records_are_compatible_with_earlier_versions_in_both_directions():
    random.seed(3)
    with relay() as new, Relay(new.redis, EARLIER) as old:
        n = 0
        for turn in range(60):
            one, other = (new, old) if turn % 2 else (old, new)
            count, before = random.choice((1, 3, 30)), n
            check(one.add(*range(n + 1, n + count + 1)) == 'a' * count, f'turn {turn}: new entries are added')
            n += count
            for r in (other, one):
                check(r.add(*range(before + 1, n + 1)) == 'k' * count, f'turn {turn}: both versions deduplicate them')
        check(len(set(new.ids())) == len(new.ids()) == n, 'each exists once')
        new.redis.command('SET', RECORD, '17')
        check(new.add(16, 17, 18, life=1) == 'kka', 'a bare number covers all entries up to it')
        check(new.add(18, life=1) == 'k' and old.add(18, life=1) == 'k', 'later entries are deduplicated')


@test
def an_entry_adds_little_overhead_to_the_append_only_file():
    with relay('--appendonly', 'yes', '--auto-aof-rewrite-percentage', '0') as r:
        def written():
            return sum(os.path.getsize(os.path.join(path, name)) for path, _, names in os.walk(r.redis.directory)
                       for name in names if 'aof' in name)

        for n in range(1, 301):
            r.add(n, body='x' * 800)
        r.redis.command('CONFIG', 'SET', 'appendfsync', 'always')
        before = written()
        for n in range(301, 813):
            r.add(n, body='x' * 800)
        each = (written() - before) / 512
        check(800 < each < 1300, f'{each:.0f} bytes each')


@test
def the_record_expires_about_a_month_after_the_last_entry():
    with relay() as r:
        r.add(1)
        for left, expected in ((SECONDS - 80000, SECONDS - 80000), (SECONDS - 90000, SECONDS), (100, SECONDS), (None, SECONDS)):
            r.redis.command(*(['EXPIRE', RECORD, left] if left else ['PERSIST', RECORD]))
            n = len(r.ids()) + 1
            check(r.add(n, n - 1) == 'ak', 'earlier entries are deduplicated')
            ttl = r.redis.command('TTL', RECORD)
            check(abs(ttl - expected) < 60, f'{left}: expires in {ttl} seconds, not {expected}')


@test
def entries_added_before_a_rejected_one_are_remembered():
    with relay() as r:
        r.add(1)
        r.redis.command('XSETID', 'strobe', '18446744073709551615-18446744073709551613')
        try:
            check(False, f'XADD fails at the last id of the stream: {r.add(2, 3, 4, 5)}')
        except RedisError as e:
            check('XADD' in str(e) or 'ID' in str(e), f'the error is returned: {e}')
        check(r.add(1, 2, 3) == 'kkk', 'entries added before are deduplicated')
        check(len(r.ids()) == 3, f'each exists once: {r.ids()}')


@test
def a_user_with_the_permissions_of_an_earlier_version_adds_each_entry_once():
    with RedisServer() as redis:
        for name, more in (('earlier', ()), ('partly', ('+ttl',))):
            redis.command('ACL', 'SETUSER', name, 'on', '>secret', '~strobe', '~{strobe}:seen:*', '-@all', '+auth', '+eval', '+xadd', '+get', '+set', *more)
            with Relay(redis, user=name, password='secret') as r:
                redis.command('DEL', RECORD, 'strobe')
                check(r.add(1) + r.add(2, 3) + r.add(1, 2, 3, 4) == 'aaakkka', f'{name}: once')
                check(abs(redis.command('TTL', RECORD) - SECONDS) < 60, f'{name}: the record expires')


main()
