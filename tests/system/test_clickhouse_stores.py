"""ClickHouse keeps what every store promises, on one server and on two."""
import os
import subprocess

from clickhouse_pair import both, run_tests, servers
from strobe_test import Skip, check, test

CONFORMANCE = os.environ.get('STROBE_STORE_TESTS', '').split(':')


def drop_databases(prefix):
    """Each has eight tables, which the server looks after as long as they are there."""
    for server in servers():
        for name in server.ask('SHOW DATABASES').split():
            if name.startswith(prefix):
                server.ask(f'DROP DATABASE {name}')


def conforms(url, rows):
    """All programs at the same time: they mostly wait for answers. With `rows`, entries share their stacks, as in the daemon."""
    if not all(os.path.exists(program) for program in CONFORMANCE):
        raise Skip('the tests of stores are not built')
    programs = [(os.path.basename(program), subprocess.Popen([program], env={**os.environ, 'STORE_URL': url, **rows}, stdout=subprocess.PIPE,
                                                             stderr=subprocess.STDOUT, text=True)) for program in CONFORMANCE]
    for name, p in programs:
        said = p.communicate()[0]
        bad = [line for line in said.splitlines() if line.startswith(('not ok', '#'))]
        check(p.returncode == 0, f'{name}: ' + '; '.join(bad)[:2000])
        check(said.count('\nok - ') > 0, f'{name} runs at least one test')
    drop_databases('test_')


@test
def one_server_passes_the_store_conformance_tests():
    conforms(servers()[0].url('NEW'), {})
    conforms(servers()[0].url('NEW'), {'STROBE_TEST_ROWS': '1'})


@test
def two_shards_pass_the_store_conformance_tests():
    conforms(both('NEW'), {'STROBE_TEST_ROWS': '1'})


run_tests()
