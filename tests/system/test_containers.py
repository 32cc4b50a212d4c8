"""PHP in containers and pods: labels that say where a process runs, a root file system that cannot be written, and the recipes in packaging."""
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request

import yaml

from collector import Collector
from daemon import Daemon
from recording import Cgroup
from strobe_test import EXTENSION, ROOT, STROBE, Directory, Skip, check, main, test, wait_for
from wire import connect, message

SENDER = '''
import sys
sys.path.insert(0, sys.argv[1])
from wire import connect, message, run_message
s = connect(sys.argv[2])
labels = eval(sys.argv[4])
s.send(run_message([(0, 'main()', 1, 1000, 0)], labels=labels) if 'id' in labels else message({('index.php', sys.argv[3]): 1}, labels=labels))
print('sent', flush=True)
sys.stdin.read()
'''
POD = {'POD_NAME': 'shop-7d9', 'OTEL_RESOURCE_ATTRIBUTES': 'service.name=shop,deployment.environment=staging'}


@contextlib.contextmanager
def sender(path, name='work', labels=None, environment=None, before=None):
    """A process that sends one sample, and lives until the end of the block. `before` gets its number before it connects."""
    code = f'import sys; sys.stdin.readline()\n{SENDER}'
    p = subprocess.Popen([sys.executable, '-c', code, f'{ROOT}/tests/system', path, name, repr(labels or {'entry': 'index'})],
                         env={**os.environ, **(environment or {})}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        if before:
            before(p.pid)
        p.stdin.write('\n')
        p.stdin.flush()
        check(p.stdout.readline() == 'sent\n', f'{name} sent its message')
        yield p
    finally:
        p.stdin.close()
        p.wait(60)
        p.stdout.close()


def labels_of(daemon):
    found = json.loads(daemon.get('/api/v1/labels'))['labels']
    return {label['key']: {v['value']: v['samples'] for v in label['values']} for label in found}


def stored(daemon, samples):
    check(wait_for(lambda: daemon.status()['samples']['stored'] == samples), f'{samples} samples are stored')


@test
def samples_are_labeled_from_the_environment_of_their_process():
    rules = ('pod=env:POD_NAME', 'service_name=otel:service.name', 'node=daemon-env:NODE_NAME')
    with Directory() as directory, Daemon(directory, *(w for r in rules for w in ('--label-from', r)), environment={'NODE_NAME': 'n3'}) as d:
        with sender(d.socket, environment=POD), sender(d.socket, 'own', {'entry': 'index', 'pod': 'mine'}, POD), sender(d.socket, 'bare'):
            stored(d, 3)
        labels = labels_of(d)
        check(labels['pod'] == {'shop-7d9': 1, 'mine': 1}, f'explicit labels take precedence, and missing variables add no label: {labels}')
        check(labels['service_name'] == {'shop': 2} and labels['node'] == {'n3': 3}, f'{labels}')
        check(d.status()['sources'][0]['peers_unlabeled'] == 0, 'all processes could be inspected')


@test
def runs_are_labeled_like_samples_and_keep_their_own_labels():
    with Directory() as directory, Daemon(directory, '--label-from', 'pod=env:POD_NAME', '--label-from', 'id=env:POD_NAME') as d:
        with sender(d.socket, labels={'id': 'one', 'url': '/cart'}, environment=POD), sender(d.socket, labels={'id': 'two', 'pod': 'mine'}, environment=POD), \
                sender(d.socket, labels={'id': 'bare'}):
            check(wait_for(lambda: d.status()['runs']['stored'] == 3), 'three runs are stored')
        runs = {r['id']: r for r in json.loads(d.get('/api/v1/runs'))['runs']}
        check({k: r['labels'].get('pod') for k, r in runs.items()} == {'one': 'shop-7d9', 'two': 'mine', 'bare': None}, f'{runs}')
        check(runs['one']['url'] == '/cart', f'{runs}')


@test
def samples_from_a_recorder_are_not_labeled_with_its_own_environment():
    with Directory() as directory, Daemon(directory, '--label-from', 'pod=env:POD_NAME', '--label-from', 'node=daemon-env:NODE_NAME',
                                          environment={'NODE_NAME': 'n3'}) as d:
        with sender(d.socket, labels={'entry': 'index', 'sampler': 'record'}, environment=POD):
            stored(d, 1)
        labels = labels_of(d)
        check(labels['node'] == {'n3': 1} and 'pod' not in labels, f'{labels}')


@test
def samples_are_labeled_from_the_control_group_of_their_process():
    with Directory() as directory, Cgroup() as group, Daemon(directory, '--label-from', 'container=cgroup:container') as d:
        with sender(d.socket, before=group.take), sender(d.socket):
            stored(d, 2)
        check(labels_of(d)['container'] == {group.id[:12]: 1}, f'{labels_of(d)}')


@test
def the_cardinality_limit_applies_to_labels_from_the_environment():
    with Directory() as directory, Daemon(directory, '--label-from', 'pod=env:POD_NAME', '--label-values', '2') as d:
        for i in range(4):
            with sender(d.socket, environment={'POD_NAME': f'pod-{i}'}):
                stored(d, i + 1)
        check(labels_of(d)['pod'] == {'pod-0': 1, 'pod-1': 1, 'other': 2}, f'{labels_of(d)}')


@test
def an_unreadable_process_is_counted_and_its_samples_are_stored_without_labels():
    if os.geteuid() != 0:
        raise Skip('another user is needed, hence root')
    with Directory() as directory:
        os.chmod(directory, 0o777)
        d = Daemon(directory, '--label-from', 'pod=env:POD_NAME')
        shutil.copy(STROBE, f'{directory}/strobe')
        d.command[0] = f'{directory}/strobe'
        d.who = {'user': 65534, 'group': 65534, 'extra_groups': []}
        with d:
            for i in range(2):
                with sender(d.socket, environment=POD):
                    stored(d, i + 1)
            said = [line for line in d.lines if 'labels of process' in line]
            check(len(said) == 1 and 'Permission denied' in said[0] and '/environ' in said[0], f'the failure is logged once: {d.lines}')
            check(d.status()['sources'][0]['peers_unlabeled'] == 2, 'unlabeled processes are counted')
            check('strobe_peers_unlabeled_total{source="unix:' in d.get('/metrics'), 'the Prometheus metrics include the counter')
            check('pod' not in labels_of(d), f'{labels_of(d)}')


@test
def an_invalid_label_rule_is_rejected_with_its_location_in_the_file():
    with Directory() as directory:
        with open(f'{directory}/c.yaml', 'w') as f:
            f.write('label-from:\n  - pod=env:POD_NAME\n  - node=NODE\n')
        r = subprocess.run([STROBE, 'serve', '-c', f'{directory}/c.yaml'], capture_output=True, text=True)
        check(r.returncode == 1 and 'c.yaml:' in r.stderr and "invalid 'label-from: node=NODE'; use " in r.stderr and 'daemon-env:' in r.stderr, f'{r}')


@test
def a_changed_label_rule_requires_a_restart():
    with Directory() as directory:
        def write(rule):
            with open(f'{directory}/c.yaml', 'w') as f:
                f.write(f'label-from: [{rule}]\n')
        write('pod=env:POD_NAME')
        with Daemon(directory, '--config', f'{directory}/c.yaml') as d:
            write('pod=env:HOSTNAME')
            d.process.send_signal(signal.SIGHUP)
            check(wait_for(lambda: any('label-from changed; restart to apply' in line for line in d.lines)), f'{d.lines}')


@test
def the_extension_labels_samples_from_environment_variables():
    if not os.path.exists(EXTENSION):
        raise Skip('the extension is not built')
    with Directory() as directory, Daemon(directory) as d:
        with open(f'{ROOT}/packaging/docker/strobe.ini') as f:
            ini = re.sub('^;(?=strobe)', '', f.read(), flags=re.M).replace('extension=strobe', f'extension={EXTENSION}')
        with open(f'{directory}/php.ini', 'w') as f:
            f.write(f'{ini}\nstrobe.socket={d.socket}\n')
        subprocess.run(['php', '-c', f'{directory}/php.ini', '-r', 'for ($i = 0, $t = microtime(true); microtime(true) - $t < 0.2; $i++);'],
                       env={**os.environ, 'POD_NAME': 'shop-7d9', 'POD_NAMESPACE': 'prod', 'PHP_INI_SCAN_DIR': ''}, check=True, timeout=60)
        check(wait_for(lambda: d.status()['samples']['stored'] > 0), 'samples are stored')
        labels = labels_of(d)
        check(list(labels['pod']) == ['shop-7d9'] and list(labels['namespace']) == ['prod'], f'{labels}')


READ_ONLY = '''
set -e
mount -t tmpfs -o mode=777 none "$1"
mount -o remount,bind,ro /
if touch /tmp/strobe-probe 2>/dev/null; then exit 9; fi
shift
exec setpriv --reuid=999 --regid=999 --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs "$@"
'''


@test
def the_daemon_runs_with_a_read_only_root_filesystem():
    if os.geteuid() != 0 or subprocess.run(['unshare', '-m', 'true'], capture_output=True).returncode:
        raise Skip('mount namespaces need root')
    with Directory() as directory:
        os.chmod(directory, 0o755)
        volume = f'{directory}/v'
        os.mkdir(volume)
        shutil.copy(STROBE, f'{directory}/strobe')
        d = Daemon(volume)
        d.command = ['unshare', '-m', 'sh', '-c', READ_ONLY, 'sh', volume, f'{directory}/strobe', *d.command[1:]]
        d.environment = {'PATH': '/usr/bin:/bin:/usr/sbin:/sbin'}
        with d:
            path = f'/proc/{d.process.pid}/root{d.socket}'
            os.symlink(path, f'{directory}/s')
            s = connect(f'{directory}/s')
            s.send(message({('index.php', 'main', 'work'): 3}))
            stored(d, 3)
            for what in ('profile?format=folded', 'profile?format=svg', 'callgraph', 'table', 'status'):
                check(d.get(f'/api/v1/{what}'), f'/api/v1/{what} answers')
            check('work' in d.get('/api/v1/profile?format=folded'), 'a query returns the function')
            check(d.get('/metrics') and d.get('/'), 'the metrics and the page are served')
            s.close()
            check(d.stop() == 0, f'the daemon exits with 0: {d.lines}')


RELAY = '''
set -e
{ grep -v '^strobe:' /etc/group; echo strobe:x:999:; } > "$1/group"
mount --bind "$1/group" /etc/group
chown 0:0 "$1/run"
shift
exec setpriv --reuid=0 --regid=33 --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs "$@"
'''


@test
def root_in_the_group_of_the_workers_creates_the_socket_without_capabilities():
    if os.geteuid() != 0 or subprocess.run(['unshare', '-m', 'true'], capture_output=True).returncode:
        raise Skip('mount namespaces need root')
    with Directory() as directory:
        os.mkdir(f'{directory}/run', 0o755)
        d = Daemon(f'{directory}/run')
        d.command = ['unshare', '-m', 'sh', '-c', RELAY, 'sh', directory, *d.command]
        with d:
            socket = os.stat(d.socket)
            check((socket.st_uid, socket.st_gid, socket.st_mode & 0o777) == (0, 33, 0o660), f'{socket}')


BURN = 'function burn() { for ($i = 0; $i < 100000; $i++); } echo "ready\\n"; while (true) burn();'
SAMPLER = '''
set -e
mount --bind "$1" "$1"
mount -o remount,bind,ro "$1"
mount -o remount,bind,ro /
if touch "$1/probe" /tmp/strobe-probe 2>/dev/null; then exit 9; fi
shift
exec setpriv --regid=33 --clear-groups --inh-caps=-all --no-new-privs "$@"
'''


@test
def the_sampler_of_the_manifest_works_with_only_its_listed_capabilities():
    if os.geteuid() != 0 or subprocess.run(['unshare', '-m', 'true'], capture_output=True).returncode:
        raise Skip('mount namespaces need root')
    args = next(c['args'] for name, pod in pods() if name == 'strobe-record' for c in pod['containers'])
    bounds = ','.join(['-all'] + [f'+{c.lower()}' for c in sampler_capabilities()])
    with Directory() as directory, Daemon(directory) as d, \
            subprocess.Popen(['php', '-n', '-r', BURN], stdout=subprocess.PIPE, user=65534, group=65534, extra_groups=[]) as php:
        php.stdout.readline()
        os.chmod(directory, 0o755)
        os.chown(d.socket, 0, 33)
        words = [a.replace('unix:/run/strobe/strobe.sock', f'unix:{d.socket}') for a in args if a != '--quiet']
        r = subprocess.run(['unshare', '-m', 'sh', '-c', SAMPLER, 'sh', directory, f'--bounding-set={bounds}', STROBE, *words, '--duration', '4',
                            '--pid', str(php.pid)], capture_output=True, text=True, timeout=120)
        php.kill()
        check(r.returncode == 0 and 'reading memory' not in r.stderr, f'{r}')
        check(wait_for(lambda: d.status()['samples']['stored'] > 0), f'samples are stored: {d.status()["samples"]} {r}')
        folded = d.get('/api/v1/profile?format=folded')
        check('burn' in folded, f'{folded}')


# --- The files in packaging ---

def documents(path):
    with open(f'{ROOT}/packaging/{path}') as f:
        return list(yaml.safe_load_all(f))


def pods():
    for path in ('kubernetes/node.yaml', 'kubernetes/strobe.yaml'):
        for document in documents(path):
            if document['kind'] in ('DaemonSet', 'StatefulSet'):
                yield document['metadata']['name'], document['spec']['template']['spec']


@test
def containers_are_unprivileged_with_a_read_only_root_filesystem():
    for name, pod in pods():
        for container in pod['containers']:
            rights = container['securityContext']
            check(rights['readOnlyRootFilesystem'] and not rights['allowPrivilegeEscalation'] and 'privileged' not in rights, f'{name}: {rights}')
            check(rights['capabilities']['drop'] == ['ALL'], f'{name}: {rights}')
            added = rights['capabilities'].get('add', [])
            check(not added or name == 'strobe-record', f'{name} adds no capabilities, but has {added}')
            volumes = {v['name'] for v in pod['volumes']} | ({'state'} if name == 'strobe' else set())
            check({m['name'] for m in container['volumeMounts']} <= volumes, f'the volumes that {name} mounts are defined')
    for service in documents('docker/compose.yaml')[0]['services'].values():
        check(service.get('read_only') or service['image'] != 'strobe', f'{service}')


def sampler_capabilities():
    return next(c['securityContext']['capabilities']['add'] for name, pod in pods() if name == 'strobe-record' for c in pod['containers'])


@test
def the_sampler_container_has_the_capabilities_of_the_systemd_service():
    with open(f'{ROOT}/packaging/systemd/strobe-record.service.in') as f:
        unit = re.search('^AmbientCapabilities=(.*)$', f.read(), re.M)[1].split()
    check(sorted(f'CAP_{c}' for c in sampler_capabilities()) == sorted(unit), f'{sampler_capabilities()} and {unit}')


@test
def the_php_service_starts_after_the_daemon_that_owns_the_socket_volume():
    services = documents('docker/compose.yaml')[0]['services']
    check(services['php']['depends_on'] == ['strobe'], f'{services["php"]}')


@test
def the_commands_in_the_container_manifests_use_existing_options():
    commands = [c['args'] for _, pod in pods() for c in pod['containers']]
    commands += [c['readinessProbe']['exec']['command'][1:] for _, pod in pods() for c in pod['containers'] if 'exec' in c.get('readinessProbe', {})]
    commands += [s['command'] for s in documents('docker/compose.yaml')[0]['services'].values() if s['image'] == 'strobe']
    check(len(commands) == 5, f'{commands}')
    for words in commands:
        r = subprocess.run([STROBE, *words, '--help'], capture_output=True, text=True)
        check(r.returncode == 0 and 'usage: strobe' in r.stdout.lower(), f'{words}: {r.stderr}')


@test
def the_documented_daemons_differ_only_in_consumer_port_and_volume():
    with open(f'{ROOT}/docs/containers.md') as f:
        blocks = [list(yaml.safe_load_all(text)) for text in re.findall('```yaml\n(.*?)```', f.read(), re.S)]
    services = list(next(b[0]['services'] for b in blocks if 'services' in b[0]).values())
    pod = next(b[0]['spec']['template']['spec']['containers'][0] for b in blocks if b[0].get('kind') == 'StatefulSet')
    check(services[0]['volumes'] != services[1]['volumes'] and services[0]['ports'] != services[1]['ports'], f'{services}')
    own = [re.subn('consumer=strobe-[12]', 'consumer=', ' '.join(s['command'])) for s in services]
    check(own[0] == own[1] and own[0][1] == 1 and services[0]['command'] != services[1]['command'], f'{own}')
    with Directory() as directory:
        for i, words in enumerate([s['command'] for s in services] + [pod['args']]):
            for name, local in (('$(POD_NAME)', 'strobe-0'), ('//redis/', '//127.0.0.1:1/'), ('//redis.strobe.svc/', '//127.0.0.1:1/'),
                                ('db1.clickhouse.svc:8123', '127.0.0.1:1'), ('db2.clickhouse.svc:8123', '127.0.0.1:2'), ('db1:8123', '127.0.0.1:1'),
                                ('db2:8123', '127.0.0.1:2'), ('0.0.0.0:8787', '127.0.0.1:0'), ('/run/secrets/', f'{directory}/')):
                words = [word.replace(name, local) for word in words]
            with open(f'{directory}/strobe-token', 'w') as f:
                f.write('0123456789abcdef' * 4 + '\n')
            os.chmod(f'{directory}/strobe-token', 0o600)
            p = subprocess.Popen([STROBE, *words, '--state', f'{directory}/state-{i}'] + (['--listen', '127.0.0.1:0'] if i == 2 else []),
                                 stderr=subprocess.PIPE, text=True)
            line = next((line for line in iter(p.stderr.readline, '') if 'listening on' in line), '')
            p.terminate()
            said = p.communicate(timeout=60)[1]
            check('into clickhouse://127.0.0.1:1/strobe' in line and 'redis://127.0.0.1:1/' in line, f'{words}: {line} {said}')


@test
def the_daemon_accepts_the_host_names_of_its_kubernetes_service():
    service = next(d['metadata'] for d in documents('kubernetes/strobe.yaml') if d['kind'] == 'Service')
    allowed = [word.split('=')[1] for name, pod in pods() if name == 'strobe' for c in pod['containers'] for word in c['args']
               if word.startswith('--allow-host=')]
    name, namespace = service['name'], service['namespace']
    with Directory() as directory, Daemon(directory, *[f'--allow-host={name}' for name in allowed]) as d:
        for host in (name, f'{name}.{namespace}', f'{name}.{namespace}.svc', f'{name}.{namespace}.svc.cluster.local'):
            request = urllib.request.Request(d.url + '/healthz', headers={'Host': f'{host}:8787'})
            with urllib.request.urlopen(request, timeout=30) as r:
                check(r.status == 200, f'{host}: {r.status}')


@test
def the_relay_configuration_of_the_manifest_is_accepted():
    text = next(d['data']['collect.yaml'] for d in documents('kubernetes/node.yaml') if d['kind'] == 'ConfigMap')
    with Directory() as directory:
        text = text.replace('/run/strobe', directory).replace('redis.strobe.svc', '127.0.0.1:1').replace('/var/lib/strobe', f'{directory}/state')
        with open(f'{directory}/collect.yaml', 'w') as f:
            f.write(text)
        c = Collector(directory, environment={'NODE_NAME': 'n3'})
        c.command = [STROBE, 'collect', '--listen', '127.0.0.1:0', f'--config={directory}/collect.yaml']
        with c:
            check(c.status()['sources'][0]['url'] == f'unix:{directory}/strobe.sock', f'{c.status()["sources"]}')
            with sender(f'{directory}/strobe.sock', environment=POD):
                check(wait_for(lambda: c.status()['samples']['received'] == 1), 'the relay receives samples')


if __name__ == '__main__':
    main()
