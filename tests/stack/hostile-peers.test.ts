import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HostStack } from '@rushhour/protocol';
import { describe, expect, it, onTestFinished } from 'vitest';
import { residentBytes } from '../../bench/process-usage.ts';
import { inside, startJobChild } from '../engines/job-child.ts';
import { type Side, startJobIn } from '../engines/namespaces.ts';
import { execute, requireProgram } from '../engines/programs.ts';
import { useCable } from '../engines/use-cable.ts';

/** The long form: RUSHHOUR_ZERO_WINDOW_SEC=60 RUSHHOUR_FLOOD=1000000 vitest run --project system tests/stack/hostile-peers.test.ts */
const closedSec = Number(process.env['RUSHHOUR_ZERO_WINDOW_SEC'] ?? 2);
const floodCount = Number(process.env['RUSHHOUR_FLOOD'] ?? 100_000);

const bodyBytes = 6_000_000;
const pattern = 'segments-'.repeat(40).slice(0, 251);
const body = { type: 'pattern', data: pattern, size: bodyBytes } as const;
const digest = createHash('sha256')
  .update(pattern.repeat(Math.ceil(bodyBytes / pattern.length)).slice(0, bodyBytes))
  .digest('hex');

const hostsOn = (side: Side, hosts: string, more: Partial<HostStack> = {}, gateway?: string): HostStack => ({
  interface: side.device,
  networks: [{ subnet: '10.99.0.0/24', hosts: [hosts], ...(gateway !== undefined && { gateway }) }],
  vlan: [],
  header: {},
  tcp: {},
  ...more,
});

/** Starts a Python program in a namespace; resolves when it has printed its first line. */
const startPython = async (side: Side, program: string, ...args: string[]): Promise<ChildProcess> => {
  const [command = '', ...rest] = [...inside(side), 'python3', '-c', program, ...args];
  const child = spawn(command, rest, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
};

/** Reads nothing of a request for some seconds, then all of it, and answers with the digest of the body. */
const lazyServer = `
import hashlib, socket, sys, time
listening = socket.create_server(('10.99.0.2', 8081))
listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
print('ready', flush=True)
while True:
  s, _ = listening.accept()
  time.sleep(float(sys.argv[1]))
  head = b''
  while b'\\r\\n\\r\\n' not in head: head += s.recv(1)
  left = int(head.lower().split(b'content-length:')[1].split(b'\\r\\n')[0])
  sha = hashlib.sha256()
  while left > 0:
    part = s.recv(65536)
    if not part: break
    sha.update(part)
    left -= len(part)
  text = sha.hexdigest().encode()
  s.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n%s' % (len(text), text))
`;

/** Asks for an answer, does not read it for some seconds, then reads all of it and prints the digest. */
const lazyClient = `
import hashlib, socket, sys, time
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
print('ready', flush=True)
s.connect(('10.99.0.200', 8080))
s.sendall(b'GET / HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n')
time.sleep(float(sys.argv[1]))
text = b''
while part := s.recv(65536): text += part
print(hashlib.sha256(text.split(b'\\r\\n\\r\\n', 1)[1]).hexdigest(), flush=True)
`;

/** Every second connection is reset after the first bytes; the others are answered. */
const resettingServer = `
import socket, struct
listening = socket.create_server(('10.99.0.2', 8081), backlog=64)
print('ready', flush=True)
count = 0
while True:
  s, _ = listening.accept()
  s.recv(20)
  count += 1
  if count % 2 == 0: s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
  else: s.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\nConnection: close\\r\\n\\r\\nok')
  if count % 2 == 1:
    s.shutdown(socket.SHUT_WR)
    while s.recv(4096): pass
  s.close()
`;

/** SYNs from addresses that do not exist, with checksums. Arguments: interface, both MACs, number. Prints it at the end. */
const flooder = `
import random, socket, struct, sys
device, own, host = sys.argv[1], bytes.fromhex(sys.argv[2].replace(':', '')), bytes.fromhex(sys.argv[3].replace(':', ''))
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind((device, 0))
def folded(data):
  total = sum(struct.unpack('!%dH' % (len(data) // 2), data))
  while total >> 16: total = (total & 0xffff) + (total >> 16)
  return 0xffff - total
target = socket.inet_aton('10.99.0.200')
print('ready', flush=True)
for index in range(int(sys.argv[4])):
  source = struct.pack('!I', 0xc6120000 + random.getrandbits(17))
  ip = struct.pack('!BBHHHBBH', 0x45, 0, 40, index & 0xffff, 0, 64, 6, 0) + source + target
  ip = ip[:10] + struct.pack('!H', folded(ip)) + ip[12:]
  tcp = struct.pack('!HHIIBBHHH', random.randint(1024, 65535), 8080, random.getrandbits(32), 0, 0x50, 2, 64240, 0, 0)
  tcp = tcp[:16] + struct.pack('!H', folded(source + target + struct.pack('!HH', 6, 20) + tcp)) + tcp[18:]
  try: s.send(host + own + b'\\x08\\x00' + ip + tcp)
  except OSError: pass
print('done', flush=True)
`;

describe('emulated hosts', () => {
  const cable = useCable('test');

  const serve = (gateway?: string) =>
    startJobChild(
      'job-process.ts',
      {
        engine: 'http',
        config: { role: 'server', listen: [{ host: '0.0.0.0', port: 8080 }], responses: [{ body }] },
        duration: { mode: 'continuous' },
        stack: hostsOn(cable.left, '10.99.0.200', {}, gateway),
      },
      inside(cable.left),
    );

  it('wait for a peer whose window stays closed, and then send every byte', async () => {
    const { child, totals } = await serve();
    const reader = await startPython(cable.right, lazyClient, String(closedSec));
    let heard = '';
    reader.stdout?.on('data', (bytes) => {
      heard += bytes;
    });
    await startPython(cable.right, lazyServer, String(closedSec));
    const client = await startJobIn(cable.left, {
      engine: 'http',
      config: {
        role: 'client',
        targets: [{ host: '10.99.0.2', port: 8081 }],
        connections: 1,
        timeoutMs: 250_000,
        method: 'POST',
        body,
        expect: { bodyContains: digest },
      },
      duration: { mode: 'count', count: 1 },
      stack: hostsOn(cable.left, '10.99.0.10'),
    });
    await expect.poll(() => heard, { timeout: 250_000 }).toContain(digest);
    const sent = await client.totals;
    expect([sent.counter('http.ok'), sent.counter('http.ko')]).toEqual([1, 0]);
    child.stdin.end();
    expect((await totals).counter('http.served')).toBe(1);
  });

  it('notice by keep-alive probes that peers have vanished', async () => {
    const listen = [{ host: '10.99.0.2', port: 8081 }];
    const config = { role: 'server', mode: 'sink', listen };
    const server = await startJobIn(cable.right, { engine: 'tcp', config, duration: { mode: 'continuous' } });
    const client = await startJobIn(cable.left, {
      engine: 'tcp',
      config: { role: 'client', mode: 'receive', targets: listen, connections: 5, totalSessions: 5 },
      duration: { mode: 'continuous' },
      stack: hostsOn(cable.left, '10.99.0.10-10.99.0.14', { tcp: { keepAliveSec: 1 } }),
    });
    await expect.poll(() => cable.right.run('ss', '-tnH', 'state', 'established').trim().split('\n').length).toBe(5);
    cable.right.run('nft', 'add table netdev t');
    for (const hook of ['ingress', 'egress']) {
      const where = `{ type filter hook ${hook} device ${cable.right.device} priority 0 ; }`;
      cable.right.run('nft', `add chain netdev t ${hook} ${where}`);
      cable.right.run('nft', `add rule netdev t ${hook} drop`);
    }
    // It ends by itself when all sessions have ended.
    const ended = await client.totals;
    expect([ended.counter('tcp.established'), ended.counter('tcp.errors.timeout')]).toEqual([5, 5]);
    await server.stop();
  });

  it('count connections that are reset, and go on with others', async () => {
    await startPython(cable.right, resettingServer);
    const client = await startJobIn(cable.left, {
      engine: 'http',
      config: {
        role: 'client',
        targets: [{ host: '10.99.0.2', port: 8081 }],
        connections: 1,
        keepAlive: { enabled: false },
      },
      duration: { mode: 'count', count: 40 },
      stack: hostsOn(cable.left, '10.99.0.10-10.99.0.14'),
    });
    const { counter } = await client.totals;
    expect([counter('http.ok'), counter('http.errors.reset')]).toEqual([20, 20]);
  });

  it('serve their clients during a flood of SYNs, with the memory of the half-open connections they may have', async () => {
    requireProgram('ab');
    const { left, right } = cable;
    const { child, totals } = await serve(right.address);
    right.run('ping', '-c', '1', '-W', '20', '10.99.0.200');
    const macOf = (command: string[]) => /([\da-f]{2}:){5}[\da-f]{2}/.exec(right.run('ip', ...command))?.[0] as string;
    const own = macOf(['-br', 'link', 'show', right.device]);
    const host = macOf(['neigh', 'show', '10.99.0.200']);
    const before = residentBytes(child.pid);
    const flood = await startPython(right, flooder, right.device, own, host, String(floodCount));
    const [program = '', ...args] = [...inside(right), 'ab', '-q', '-s', '250', '-c', '5', '-n', '30'];
    const { stdout } = await execute(program, [...args, 'http://10.99.0.200:8080/']);
    const during = [
      flood.exitCode,
      /Complete requests:\s+(\d+)/.exec(stdout)?.[1],
      /Failed requests:\s+(\d+)/.exec(stdout)?.[1],
    ];
    expect(during.slice(1)).toEqual(['30', '0']);
    if (flood.exitCode === null) await once(flood, 'exit');
    await sleep(500);
    const again = await execute(program, [...args, 'http://10.99.0.200:8080/']);
    expect(again.stdout).toMatch(/Complete requests:\s+30\n/);
    expect(residentBytes(child.pid) - before).toBeLessThan(250e6);
    child.stdin.end();
    const served = await totals;
    expect([served.counter('http.served'), served.outcome.error]).toEqual([60, undefined]);
    expect(left.run('ip', 'link')).toContain(left.device);
  });
});
