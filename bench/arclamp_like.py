"""A consumer that works like Arc Lamp's log service: each message is appended to a file per log group and tag, and
each of these four files is opened and closed for it. Ends after COUNT messages.

usage: arclamp_like.py PORT BASE COUNT
"""
import datetime
import os
import re
import sys

import redis

GROUPS = [('hourly', '%Y-%m-%d_%H'), ('daily', '%Y-%m-%d')]
TAG = re.compile(r'/(\w+)\.php')


def append(base, period, name, tag, line):
    path = f'{base}/{period}/{name}.{tag}.log'
    if not os.path.isfile(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'ab') as f:
        f.write(line + b'\n')


def main():
    port, base, count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    pubsub = redis.Redis(port=port).pubsub()
    pubsub.subscribe('excimer')
    for message in pubsub.listen():
        if message['type'] != 'message':
            print('subscribed', flush=True)
            continue
        line = message['data']
        now = datetime.datetime.utcnow()
        found = TAG.search(str(line.split(b';', 1)[0]))
        for period, pattern in GROUPS:
            name = now.strftime(pattern)
            append(base, period, name, 'all', line)
            if found:
                append(base, period, name, found.group(1), line)
        count -= 1
        if count == 0:
            break


main()
