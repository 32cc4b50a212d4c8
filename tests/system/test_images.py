"""Follows the recipes of images step by step, in copies of a Debian that debootstrap makes: a FROM is a copy, a RUN a command in it."""
import os
import re
import shlex
import shutil
import subprocess
import tempfile

from strobe_test import ROOT, Skip, check, main, test

# Images by what stands in for them. PHP's own have phpize and a compiler.
BASES = {'debian:bookworm': [], 'debian:bookworm-slim': [], 'php:8.4-fpm': ['php-cli', 'php-dev', 'gcc', 'libc6-dev', 'make']}


def steps(path):
    """(word, rest) of each instruction, with its lines joined."""
    with open(f'{ROOT}/packaging/docker/{path}') as f:
        text = re.sub(r'^\s*#.*\n', '', f.read(), flags=re.M).replace('\\\n', ' ')
    return [tuple(line.split(None, 1)) for line in text.splitlines() if line.strip()]


def debian():
    """A Debian 12 that stays, as those of scripts/php-chroot do; one that was interrupted is never taken for whole."""
    path = f'{ROOT}/var/test/debian-bookworm'
    if os.path.exists(path):
        return path
    mirror = subprocess.run([f'{ROOT}/scripts/debian-mirror'], capture_output=True, text=True).stdout.strip()
    if not mirror or not shutil.which('debootstrap'):
        raise Skip('debootstrap, or a mirror for it, is missing')
    os.makedirs(os.path.dirname(path), exist_ok=True)
    shutil.rmtree(f'{path}.new', ignore_errors=True)
    done = subprocess.run(['debootstrap', '--variant=minbase', 'bookworm', f'{path}.new', mirror], capture_output=True, text=True)
    if done.returncode:
        raise Skip(f'debootstrap failed: {done.stdout[-200:]}')
    settings = subprocess.run(['sh', '-c', "apt-config dump | grep -E '^Acquire::(Check-|https?::Proxy |Retries)'"], capture_output=True, text=True)
    with open(f'{path}.new/etc/apt/apt.conf.d/99host', 'w') as f:
        f.write(settings.stdout)
    with open(f'{path}.new/usr/sbin/policy-rc.d', 'w') as f:
        f.write('#!/bin/sh\nexit 101\n')
    os.chmod(f'{path}.new/usr/sbin/policy-rc.d', 0o755)
    with open(f'{path}.new/etc/dpkg/dpkg.cfg.d/unsafe-io', 'w') as f:      # as Debian's images have
        f.write('force-unsafe-io\n')
    os.rename(f'{path}.new', path)
    return path


class Images:
    def __init__(self, directory):
        self.directory, self.stages, self.log = directory, {}, ''

    def shell(self, root, command, folder='/', user=None):
        # /proc exists while the command does.
        words = ['unshare', '-m', 'sh', '-c', 'mount -t proc proc "$1/proc" && shift && exec "$@"', 'sh', root,
                 'chroot', *(['--userspec', user] if user else []), root, '/usr/bin/env', '-i', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin',
                 'DEBIAN_FRONTEND=noninteractive', 'LC_ALL=C', 'sh', '-c', f'cd {folder} && {command}']
        done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        self.log = done.stdout + done.stderr
        return done

    def base(self, name):
        """Made once: a Debian with what the image has."""
        path = f'{self.directory}/base-{re.sub("[^a-z0-9.]", "-", name)}'
        if os.path.exists(path):
            return path
        plain = debian()
        self.copy_root(plain, path)
        if BASES[name]:
            done = self.shell(path, 'apt-get update && apt-get install -y --no-install-recommends ' + ' '.join(BASES[name]))
            check(done.returncode == 0, f'{name}: {self.log[-400:]}')
        return path

    @staticmethod
    def copy_root(source, target):
        """With the device files that debootstrap has made; nothing of the machine is mounted there, since the copy is removed in the end."""
        subprocess.run(['cp', '-a', '--one-file-system', source, target], check=True)

    def copy_tree(self, root, target):
        """The context: what git knows, as the files are now."""
        names = subprocess.run(['git', '-C', ROOT, 'ls-files', '-co', '--exclude-standard'], capture_output=True, text=True, check=True).stdout
        subprocess.run(['tar', '-C', ROOT, '-cf', f'{self.directory}/context.tar', '--verbatim-files-from', '-T', '-'], input=names, text=True, check=True)
        os.makedirs(root + target, exist_ok=True)
        subprocess.run(['tar', '-C', root + target, '--no-same-owner', '-xf', f'{self.directory}/context.tar'], check=True)

    def copy_from(self, source, target):
        if os.path.isdir(source):
            subprocess.run(['cp', '-a', f'{source}/.', target], check=True)
        else:
            shutil.copy2(source, target)

    def build(self, recipe):
        """Returns the root directory of the last stage, and its settings."""
        arguments, settings, root, folder = {}, {}, None, '/'
        for word, rest in steps(recipe):
            for name, value in arguments.items():
                rest = rest.replace(f'${{{name}}}', value) if word == 'FROM' else rest
            if word == 'ARG':
                arguments.update([rest.split('=', 1)])
            elif word == 'FROM':
                name, _, stage = rest.partition(' AS ')
                root, folder, settings = f'{self.directory}/{recipe}-{len(self.stages)}', '/', {}
                self.stages[stage or str(len(self.stages))] = root
                if name == 'scratch':
                    os.makedirs(root)
                else:
                    self.copy_root(self.base(name), root)
            elif word == 'WORKDIR':
                folder = rest
            elif word == 'RUN':
                done = self.shell(root, re.sub(' +', ' ', rest), folder)
                if not check(done.returncode == 0, f'{recipe}: {rest[:60]}…: {self.log[-600:]}'):
                    return None, settings
            elif word == 'COPY':
                words = shlex.split(rest)
                if words[0].startswith('--from='):
                    self.copy_from(self.stages[words[0][len('--from='):]] + words[1], root + words[2])
                else:
                    check(words[0] == '.', f'the context: {rest}')
                    self.copy_tree(root, words[1])
            else:
                settings[word] = rest
        return root, settings


def images():
    if os.geteuid() != 0:
        raise Skip('a chroot needs root')
    return tempfile.TemporaryDirectory(prefix='strobe-images-', ignore_cleanup_errors=True)


@test
def the_image_of_the_daemon_is_built_and_runs():
    with images() as directory:
        i = Images(directory)
        root, settings = i.build('Dockerfile')
        if not root:
            return
        check(settings['USER'] == 'strobe' and settings['CMD'] == '["serve"]', f'{settings}')
        program = settings['ENTRYPOINT'].strip('[]"')
        done = i.shell(root, f'{program} --version', user='strobe:strobe')
        check(done.returncode == 0 and done.stdout.startswith('strobe '), f'{done}')
        environment = settings['ENV']
        started = i.shell(root, f'export {environment}; timeout -s TERM 5 {program} serve --listen 127.0.0.1:0 2>&1; true', user='strobe:strobe')
        check('listening on' in started.stdout and '/run/strobe/strobe.sock' in started.stdout, f'{started}')
        check(os.path.exists(f'{root}/var/lib/strobe'), 'the state directory exists where the volume is mounted')
        # libcurl is loaded when needed, which ldd does not show.
        check(i.shell(root, 'ldconfig -p | grep -q libcurl-gnutls.so.4').returncode == 0, 'libcurl is installed')


@test
def the_image_of_the_extension_is_built_and_loads():
    with images() as directory:
        i = Images(directory)
        root, _ = i.build('Dockerfile.extension')
        if not root:
            return
        php = f'{directory}/php'
        i.copy_root(i.base('php:8.4-fpm'), php)
        i.copy_from(root, php)                          # COPY --from=… / /
        done = i.shell(php, "php -r 'echo phpversion(\"strobe\"), \" \", ini_get(\"strobe.mode\");'")
        check(re.fullmatch(r'[\d.]+ sample', done.stdout), f'{done}')


if __name__ == '__main__':
    main()
