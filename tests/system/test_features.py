"""`strobe record` without each feature of the kernel in turn, by STROBE_WITHOUT: the rest still works."""
import json
import os
import re
import subprocess

from recording import CHAINS, LONG_SLEEP, Php, check_chains, record, skip_without_bpf, stacks
from strobe_test import STROBE, Directory, check, main, test

# Features that this way of sampling needs; without one of them memory is read.
NEEDED = ['bpf', 'ringbuf', 'btf', 'tp_btf', 'perf']
# Features that improve it.
NEWER = ['bpf_loop', 'task_pointer', 'task_pt_regs', 'task_iter']
OTHERS = ['perf_own', 'tracefs', 'readv']


def without(*names):
    return {**os.environ, 'STROBE_WITHOUT': ','.join(names)}


@test
def every_kernel_feature_that_can_be_disabled_is_tested():
    said = subprocess.run([STROBE, 'doctor', '--json', '--url', 'http://127.0.0.1:1'], capture_output=True, text=True, env=without('none')).stdout
    # "use name, name or name"
    fix = next((f['fix'] for f in json.loads(said)['findings'] if f['check'] == 'without'), '')
    names = re.sub(',| or ', ' ', fix).split()
    check(names and set(NEEDED + NEWER + OTHERS) == set(names[1:]), f'{fix}')


@test
def without_a_feature_that_bpf_requires_memory_is_read():
    with Directory() as d, Php(d, CHAINS) as php:
        for name in NEEDED:
            r = record('-p', php.process.pid, '-F', 499, '-d', 1, '-o', f'{d}/out.folded', env=without(name))
            check(r.returncode == 0 and r.stderr.startswith('strobe: no BPF: switched off by STROBE_WITHOUT'), f'{name}: {r.stderr}')
            check_chains(f'{d}/out.folded', php.path)


@test
def off_cpu_recording_works_without_perf_events():
    with Directory() as d, Php(d, LONG_SLEEP) as php:
        r = record('-p', php.process.pid, '--off-cpu', '-d', 1, '-k', '-o', f'{d}/out.folded', env=without('perf'))
        skip_without_bpf(r.stderr)
        check(r.returncode == 0 and 'no BPF' not in r.stderr and stacks(f'{d}/out.folded'), r.stderr)


@test
def recordings_work_without_features_of_newer_kernels():
    with Directory() as d, Php(d, CHAINS) as php, Directory() as e, Php(e, LONG_SLEEP) as asleep:
        for names in [[n] for n in NEWER + OTHERS] + [NEWER]:
            r = record('-p', php.process.pid, '-F', 499, '-d', 1, '-u', '-o', f'{d}/out.folded', env=without(*names))
            skip_without_bpf(r.stderr)
            check(r.returncode == 0, f'{names}: {r.stderr}')
            found = [frames for frames, _ in stacks(f'{d}/out.folded')]
            check(any(f[0] == '_start' and f[-1] in ('a3', 'b3') for f in found), f'{names}: stacks combine native and PHP frames: {found}')
            r = record('-p', asleep.process.pid, '--wall', '-d', 1, '-o', f'{e}/out.folded', env=without(*names))
            found = [frames for frames, _ in stacks(f'{e}/out.folded')] if r.returncode == 0 else []
            check(r.returncode == (4 if 'task_iter' in names else 0), f'{names}: {r.stderr}')
            check(all(('_start' in f) == (not {'task_pt_regs', 'task_pointer'} & set(names)) for f in found), f'{names}: {found}')
            check(('no iterator over threads' in r.stderr) == ('task_iter' in names) or r.returncode == 4, f'{names}: {r.stderr}')


if __name__ == '__main__':
    main()
