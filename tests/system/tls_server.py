"""Redis servers with TLS for the system tests, and certificates that are made for them.

    with Certificates() as c, TlsServer(c) as r:
        r.url('?channel=excimer')       # rediss://127.0.0.1:PORT/?channel=excimer&ca-file=…/ca.pem
        r.command('PING')               # without TLS, over another port of the same server
"""
import shutil
import subprocess
import tempfile

from redis_server import RedisCluster, RedisServer, free_port
from strobe_test import Skip

NAMES = 'DNS:localhost,IP:127.0.0.1'


def with_parameter(url, parameter):
    return url + ('' if url.endswith('?') else '&') + parameter


class Certificates:
    """Two authorities, `ca` and `stranger`, and what the first has signed. All are files of `directory`, NAME.pem and NAME.key."""

    def __enter__(self):
        if not shutil.which('openssl'):
            raise Skip('openssl is not installed')
        self.directory = tempfile.mkdtemp(prefix='strobe-tls-')
        for name in ('ca', 'stranger'):
            self.openssl('req', '-x509', *self.new_key(name), '-days', '2', '-subj', f'/CN=test {name}', '-out', self.path(f'{name}.pem'))
        self.sign('server', NAMES, 'serverAuth,clientAuth')        # both, for nodes of a cluster
        self.sign('elsewhere', 'DNS:redis.example', 'serverAuth')
        self.sign('expired', NAMES, 'serverAuth', days=0)            # in this second; OpenSSL 3.4 and later give no past one
        self.sign('client', 'DNS:web7', 'clientAuth')
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.directory, ignore_errors=True)

    def path(self, name):
        return f'{self.directory}/{name}'

    def openssl(self, *words):
        done = subprocess.run(['openssl', *words], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f'openssl {words}: {done.stderr}')

    def new_key(self, name):
        return ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', self.path(f'{name}.key')]

    def sign(self, name, names, purpose, days=2):
        with open(self.path('extensions'), 'w') as f:
            f.write(f'subjectAltName={names}\nextendedKeyUsage={purpose}\n')
        self.openssl('req', '-new', *self.new_key(name), '-subj', f'/CN={name}', '-out', self.path('request'))
        self.openssl('x509', '-req', '-in', self.path('request'), '-CA', self.path('ca.pem'), '-CAkey', self.path('ca.key'), '-CAcreateserial',
                     '-days', str(days), '-extfile', self.path('extensions'), '-out', self.path(f'{name}.pem'))


class TlsServer(RedisServer):
    """`port` is the plain one, for the test itself; `tls_port` is the other one."""

    def __init__(self, certificates, *options, certificate='server', clients='no', **more):
        super().__init__(*options, **more)
        self.certificates, self.tls_port = certificates, free_port()
        self.options += ['--tls-port', str(self.tls_port), '--tls-auth-clients', clients,
                         '--tls-cert-file', certificates.path(f'{certificate}.pem'), '--tls-key-file', certificates.path(f'{certificate}.key'),
                         '--tls-ca-cert-file', certificates.path('ca.pem')]

    def is_ready(self):
        try:
            return super().is_ready()
        except RuntimeError:
            if 'Bad directive or wrong number of arguments' in self.log_text():
                raise Skip('this redis-server was built without TLS') from None
            raise

    def url(self, rest='?', login=None, ca='ca'):
        """`rest` is '?' and parameters; without `ca` the system's authorities are used."""
        url = super().url(rest, login).replace('redis://', 'rediss://').replace(f':{self.port}/', f':{self.tls_port}/')
        return with_parameter(url, f'ca-file={self.certificates.path(ca)}.pem') if ca else url


class TlsCluster(RedisCluster):
    """Its nodes talk to each other by TLS, and name their ports with TLS to those who ask with TLS."""

    def __init__(self, certificates, count=3):
        self.nodes = [TlsServer(certificates, '--cluster-enabled', 'yes', '--cluster-port', str(free_port()), '--cluster-node-timeout', '2000',
                                '--tls-cluster', 'yes') for _ in range(count)]
