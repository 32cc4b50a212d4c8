"""A wall clock that is set while a collector runs (set_clock.c), and the end of daylight saving: nothing is lost, counted twice
or late, and each sample is where the clock was."""
import glob
import os
import struct
import time

from daemon import Daemon
from redis_server import Client, RedisServer, free_port
from strobe_test import ROOT, STROBE, Directory, check, main, test, wait_for

SET_CLOCK = os.environ.get('STROBE_SET_CLOCK', f'{ROOT}/build/meson/tests/system/libset_clock.so')
HOUR = 3600
EACH = 50       # lines of each source at each time


class Clocked(Daemon):
    """A collector from a listener and a file into trace logs, a store and a relay."""

    def __init__(self, directory, redis, environment):
        super().__init__(directory, environment=environment)
        self.port, self.sent = free_port(), 0
        self.file, self.logs, self.store = f'{directory}/f', f'{directory}/logs', f'{directory}/store'
        config = f'{directory}/arclamp-log.yaml'
        with open(config, 'w') as f:
            f.write(f'base_path: {self.logs}\nredis_channel: excimer\n'
                    "logs:\n - {period: hourly, format: '%Y-%m-%d_%H', retain: 5}\n")
        self.command = [STROBE, 'collect', '--listen', '127.0.0.1:0', '--state', f'{directory}/cs', '--arclamp', config,
                        '--from', f'resp://127.0.0.1:{self.port}', '--from', f'file:{self.file}', '--to', f'sqlite:{self.store}',
                        '--to', redis.url('?stream=strobe&window=1')]

    def send(self, frame):
        """Lines that name the time they were sent at, and waits until every sink has them."""
        client = Client(self.port)
        for _ in range(EACH):
            client.command('PUBLISH', 'excimer', f'/srv/index.php;{frame} 1')
        client.close()
        with open(self.file, 'a') as f:
            f.write(f'/srv/api.php;{frame} 1\n' * EACH)
        self.sent += 2 * EACH
        check(wait_for(self.has_all), f'{frame}: every sink stores all {self.sent} samples: {self.status()["sinks"]}')

    def has_all(self):
        relay = next(s for s in self.status()['sinks'] if s['url'].startswith('redis'))['counts']
        return self.status()['samples']['stored'] == self.sent and relay['relay_forwarded_samples_total'] == self.sent


def hour_of(seconds):
    return time.strftime('%Y-%m-%d_%H', time.gmtime(seconds))


def lines_of(path):
    if not os.path.exists(path):
        return []
    with open(path) as f:
        return f.read().splitlines()


def samples_of(d, at):
    """The frames that this daemon's store has within two minutes around this time, and their samples."""
    folded = d.get(f'/api/v1/profile?format=folded&from={int(at) - 60}&to={int(at) + 60}')
    return {line.rsplit(' ', 1)[0].split(';')[1]: int(line.rsplit(' ', 1)[1]) for line in folded.splitlines() if 'index' in line}


@test
def no_samples_are_lost_when_the_clock_is_set_back_and_forward():
    with Directory() as directory, RedisServer() as redis:
        offset = os.open(f'{directory}/offset', os.O_CREAT | os.O_WRONLY)

        def set_clock(by):
            os.pwrite(offset, struct.pack('q', by), 0)
            return time.time() + by

        set_clock(0)
        c = Clocked(directory, redis, {'LD_PRELOAD': SET_CLOCK, 'CLOCK_OFFSET_FILE': f'{directory}/offset'})
        os.makedirs(f'{c.logs}/hourly')
        old = [f'{c.logs}/hourly/{hour_of(time.time() - back * HOUR)}.all.log' for back in (3, 4)]
        for i, path in enumerate(old):
            with open(path, 'w') as f:
                f.write('/srv/index.php;before 1\n')
            os.utime(path, (time.time() - (3 + i) * HOUR,) * 2)
        with c:
            times = []
            for frame, by in [('now', 0), ('back', -HOUR), ('forward', HOUR), ('again', 0)]:
                times.append((frame, set_clock(by)))
                c.send(frame)
            check(c.stop() == 0, 'the collector exits with 0')
        with Daemon(directory, '--store', f'sqlite:{c.store}') as d:
            for frame, at in times:
                hours = {hour_of(at), hour_of(at + 30)}        # should one end just now
                lines = [line for hour in hours for line in lines_of(f'{c.logs}/hourly/{hour}.all.log')]
                count = sum(f';{frame} ' in line for line in lines)
                check(count == 2 * EACH, f'{frame}: the hourly logs contain {2 * EACH} lines, not {count}, in {hours}')
                check(samples_of(d, at).get(frame) == EACH, f'{frame}: the store has its samples at the time when they were taken')
        check(all(map(os.path.exists, old)), 'retention removes no files')


@test
def the_end_of_daylight_saving_time_does_not_shift_hours():
    with Directory() as directory, RedisServer() as redis:
        end = int(time.time()) + 3
        local = time.gmtime(end + 2 * HOUR)
        # Two hours before UTC until then, one hour after.
        zone = f'CET-1CEST,0/0,{local.tm_yday - 1}/{local.tm_hour}:{local.tm_min:02}:{local.tm_sec:02}'
        with Clocked(directory, redis, {'TZ': zone}) as c:
            c.send('summer')
            wait_for(lambda: time.time() > end + 0.5)
            c.send('winter')
            check(c.stop() == 0, 'the collector exits with 0')
        hours = {hour_of(end - 4), hour_of(end), hour_of(end + 60)}
        made = {os.path.basename(path).split('.')[0] for path in glob.glob(f'{c.logs}/hourly/*')}
        check(made <= hours, f'hourly logs are named by UTC hours: {made}')
        lines = [line for path in glob.glob(f'{c.logs}/hourly/*.all.log') for line in lines_of(path)]
        check(len(lines) == 4 * EACH, f'the logs contain {4 * EACH} lines, not {len(lines)}')
        with Daemon(directory, '--store', f'sqlite:{c.store}') as d:
            check(samples_of(d, end) == {'summer': EACH, 'winter': EACH}, 'the store has samples from before and after the change')


main()
