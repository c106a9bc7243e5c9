"""OpenStack Swift with its S3 interface, whole in one process on loopback. Ends when standard input does.

usage: s3-test-server.py FOLDER     prints "ready PORT" once it answers
"""
import os
import sys

import eventlet
import eventlet.wsgi

eventlet.patcher.monkey_patch()

from swift.common import utils  # noqa: E402
from swift.common.ring import RingBuilder  # noqa: E402

KINDS = ('account', 'container', 'object')

SWIFT = '''
[swift-hash]
swift_hash_path_suffix = test
[storage-policy:0]
name = one
default = yes
'''

BACKEND = '''
[DEFAULT]
swift_dir = {folder}
devices = {folder}/devices
mount_check = false
[pipeline:main]
pipeline = app
[app:app]
use = egg:swift#{kind}
'''

# Nothing listens at the address of the cache: Swift insists on one being named, and goes on without it.
PROXY = '''
[DEFAULT]
swift_dir = {folder}
[pipeline:main]
pipeline = catch_errors cache s3api tempauth copy slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:1
[filter:s3api]
use = egg:swift#s3api
location = test-1
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
[filter:copy]
use = egg:swift#copy
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
'''


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, 'w') as file:
        file.write(text)
    return path


def build_ring(folder, kind, port):
    builder = RingBuilder(4, 1, 0)
    builder.add_dev({'id': 0, 'region': 1, 'zone': 1, 'ip': '127.0.0.1', 'port': port, 'device': 'd1', 'weight': 1})
    builder.rebalance()
    builder.get_ring().save(os.path.join(folder, kind + '.ring.gz'))


def serve(socket, conf):
    from swift.common.wsgi import SwiftHttpProtocol, loadapp
    log = open(os.devnull, 'w')
    eventlet.spawn(eventlet.wsgi.server, socket, loadapp(conf), log, protocol=SwiftHttpProtocol, debug=False)


def main(folder):
    os.makedirs(os.path.join(folder, 'devices', 'd1'))
    write(folder, 'swift.conf', SWIFT)
    utils.set_swift_dir(folder)
    backends = {kind: eventlet.listen(('127.0.0.1', 0)) for kind in KINDS}
    for kind, socket in backends.items():
        build_ring(folder, kind, socket.getsockname()[1])
    for kind, socket in backends.items():
        serve(socket, write(folder, kind + '.conf', BACKEND.format(folder=folder, kind=kind)))
    front = eventlet.listen(('127.0.0.1', 0))
    serve(front, write(folder, 'proxy.conf', PROXY.format(folder=folder)))
    print('ready', front.getsockname()[1], flush=True)
    while True:
        eventlet.hubs.trampoline(0, read=True)
        if not os.read(0, 1):
            return


main(os.path.abspath(sys.argv[1]))
