"""The walkers for arm64, by qemu's user mode: unit tests and fuzz targets of src/elf and src/capture, with the memory of real PHPs
and Perls, cross-compiled with Debian's libraries for arm64 (var/test/arm64-build). The BPF programs are compiled too, and cannot
be loaded there."""
import json
import os
import shutil
import subprocess

from strobe_test import ROOT, Skip, check, main, test

HERE = f'{ROOT}/var/test/arm64-build'
SYSTEM, BUILD = f'{HERE}/root', f'{HERE}/build'
CROSS = '''[binaries]
c = ['aarch64-linux-gnu-gcc', '--sysroot={0}']
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['qemu-aarch64', '-L', '{0}']

[properties]
sys_root = '{0}'
pkg_config_libdir = '{0}/usr/lib/aarch64-linux-gnu/pkgconfig:{0}/usr/share/pkgconfig'

[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
'''
# Calls that qemu's user mode does not have.
WITHOUT = {
    'test_symbols': 'it opens files below a root by openat2', 'test_perf_map': 'it opens files below a root by openat2',
    'test_fastcgi': 'it reads memory by process_vm_readv', 'test_remote_walk': 'it reads memory by process_vm_readv',
}


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, errors='replace', **options)


def libraries():
    """Packages that the build needs, less those that run on this machine."""
    with open(f'{ROOT}/scripts/packages.txt') as f:
        names = [line.split()[1] for line in f if line.startswith('build ')]
    return [name.split('|')[0] for name in names if name.endswith('-dev') and not name.startswith('php')]


def set_up():
    for tool in ('aarch64-linux-gnu-gcc', 'qemu-aarch64', 'meson', 'clang', 'bpftool'):
        if not shutil.which(tool, path=f'{os.environ["PATH"]}:/usr/sbin'):
            raise Skip(f'{tool} is not installed')
    if not os.path.isdir(SYSTEM):
        r = run(f'{ROOT}/scripts/arm64-root', SYSTEM, *libraries())
        if r.returncode == 77:
            raise Skip(r.stdout.strip().splitlines()[-1])
        if r.returncode:
            raise RuntimeError(r.stderr)
    if not os.path.exists(f'{BUILD}/build.ninja'):
        with open(f'{HERE}/cross.ini', 'w') as f:
            f.write(CROSS.format(SYSTEM))
        r = run('meson', 'setup', '--cross-file', f'{HERE}/cross.ini', '-Dwerror=false', BUILD, ROOT,
                env={k: v for k, v in os.environ.items() if k not in ('CC', 'CFLAGS')})
        if r.returncode:
            raise RuntimeError(r.stdout[-3000:] + r.stderr)


def programs():
    """{program: (arguments, environment)} of the tests of both rooms."""
    found = {}
    for t in json.loads(run('meson', 'introspect', '--tests', BUILD).stdout):
        for i, word in enumerate(t['cmd']):
            if word.startswith((f'{BUILD}/src/elf/', f'{BUILD}/src/capture/')):
                found[word] = (t['cmd'][i + 1:], t['env'])
                break
    return found


@test
def the_stack_walkers_and_their_fuzz_targets_pass_on_arm64():
    set_up()
    found = programs()
    r = run('ninja', '-C', BUILD, *[os.path.relpath(p, BUILD) for p in found])
    if r.returncode:
        raise RuntimeError(r.stdout[-3000:])
    ran = 0
    for path, (arguments, environment) in sorted(found.items()):
        name = os.path.basename(path)
        if name in WITHOUT:
            print(f'skip - {name} on arm64: {WITHOUT[name]}, which qemu has not')
            continue
        r = run('qemu-aarch64', '-L', SYSTEM, path, *arguments, env={**os.environ, **environment}, cwd=BUILD, timeout=600)
        ran += sum(line.startswith('ok - ') for line in r.stdout.splitlines())
        check(r.returncode == 0, f'{name}: {r.stdout[-2000:]}{r.stderr[-2000:]}')
    check(ran > 60, f'more than 60 tests were run: {ran}')
    print(f'# {ran} tests of {len(found) - len(WITHOUT)} programs')


if __name__ == '__main__':
    main()
