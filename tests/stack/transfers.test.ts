import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { HostStack } from '@rushhour/protocol';
import { describe, expect, it, onTestFinished } from 'vitest';
import { inside, startJobChild } from '../engines/job-child.ts';
import { runJobIn, type Side, startJobIn } from '../engines/namespaces.ts';
import { execute, requireProgram } from '../engines/programs.ts';
import { useCable } from '../engines/use-cable.ts';
import { createDisorderlyCable } from './disorderly-cable.ts';

/**
 * Of each direction. The long form:
 * RUSHHOUR_TRANSFER_MIB=1024 RUSHHOUR_SHORT_CONNECTIONS=10000 vitest run --project system tests/stack/transfers.test.ts
 */
const totalMib = Number(process.env['RUSHHOUR_TRANSFER_MIB'] ?? 4);
const shortCount = Number(process.env['RUSHHOUR_SHORT_CONNECTIONS'] ?? 200);
/** Of 1000 segments. */
const losses = [0, 1, 10, 50];
const bodyBytes = Math.min(totalMib, 64) * 2 ** 20;
const times = Math.max(1, Math.floor(totalMib / 64));
/** A prime length: no part of the body that is missing, twice or moved leaves the digest as it is. */
const pattern = 'segments-'.repeat(40).slice(0, 251);
const body = { type: 'pattern', data: pattern, size: bodyBytes } as const;
const digest = createHash('sha256')
  .update(pattern.repeat(Math.ceil(bodyBytes / pattern.length)).slice(0, bodyBytes))
  .digest('hex');

const hostsOn = (side: Side, hosts: string): HostStack => ({
  interface: side.device,
  networks: [{ subnet: '10.99.0.0/24', hosts: [hosts] }],
  vlan: [],
  header: {},
  tcp: {},
});

/** Drops a part of the TCP segments that reach Linux, and of those that it sends. */
const impair = ({ run, device }: Side, perMille: number): void => {
  if (perMille === 0) return;
  run('nft', 'add table netdev t');
  for (const hook of ['ingress', 'egress']) {
    run('nft', `add chain netdev t ${hook} { type filter hook ${hook} device ${device} priority 0 ; }`);
    run('nft', `add rule netdev t ${hook} meta l4proto tcp numgen random mod 1000 < ${perMille} counter drop`);
  }
};

/** Answers every POST with the SHA-256 of its body. */
const digestServer = `
import hashlib, http.server
class Handler(http.server.BaseHTTPRequestHandler):
  protocol_version = 'HTTP/1.1'
  def do_POST(self):
    left, sha = int(self.headers['Content-Length']), hashlib.sha256()
    while left > 0:
      part = self.rfile.read(min(left, 65536))
      if not part: return
      left -= len(part)
      sha.update(part)
    text = sha.hexdigest().encode()
    self.send_response(200)
    self.send_header('Content-Length', str(len(text)))
    self.end_headers()
    self.wfile.write(text)
  def log_message(self, *args): pass
server = http.server.ThreadingHTTPServer(('10.99.0.2', 8081), Handler)
print('ready', flush=True)
server.serve_forever()
`;

const startDigestServer = async ({ namespace }: Side): Promise<void> => {
  const child = spawn('ip', ['netns', 'exec', namespace, 'python3', '-c', digestServer], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill());
  await once(child.stdout, 'data');
};

/** Linux on the right fetches from emulated hosts on the left, then they send to Linux; both compare every byte. */
const transferBoth = async (left: Side, right: Side) => {
  requireProgram('curl');
  const server = await startJobIn(left, {
    engine: 'http',
    config: { role: 'server', listen: [{ host: '0.0.0.0', port: 8080 }], responses: [{ body }] },
    duration: { mode: 'continuous' },
    stack: hostsOn(left, '10.99.0.200'),
  });
  for (let fetched = 0; fetched < times; fetched++) {
    const fetchOne = 'curl -sS --max-time 250 http://10.99.0.200:8080/ | sha256sum';
    const { stdout } = await execute(inside(right)[0] as string, [...inside(right).slice(1), 'sh', '-c', fetchOne]);
    expect(stdout.split(' ')[0]).toBe(digest);
  }
  const served = await server.stop();
  await startDigestServer(right);
  const client = await runJobIn(left, {
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
    duration: { mode: 'count', count: times },
    stack: hostsOn(left, '10.99.0.10'),
  });
  expect([client.counter('http.ok'), client.counter('http.ko')]).toEqual([times, 0]);
  return { client, served };
};

/** Opens and closes a connection for each request, in both directions; all are answered. */
const shortConnections = async (left: Side, right: Side) => {
  requireProgram('ab');
  const [small, common] = [{ type: 'text', data: 'short' } as const, { duration: { mode: 'continuous' } as const }];
  const server = await startJobIn(left, {
    engine: 'http',
    config: { role: 'server', listen: [{ host: '0.0.0.0', port: 8080 }], responses: [{ body: small }] },
    stack: hostsOn(left, '10.99.0.200'),
    ...common,
  });
  const [program = '', ...args] = [...inside(right), 'ab', '-q', '-s', '250', '-c', '20', '-n', String(shortCount)];
  const { stdout } = await execute(program, [...args, 'http://10.99.0.200:8080/']);
  expect(/Complete requests:\s+(\d+)/.exec(stdout)?.[1]).toBe(String(shortCount));
  expect(/Failed requests:\s+(\d+)/.exec(stdout)?.[1]).toBe('0');
  await server.stop();
  const far = await startJobIn(right, {
    engine: 'http',
    config: { role: 'server', listen: [{ host: '10.99.0.2', port: 8080 }], responses: [{ body: small }] },
    ...common,
  });
  const client = await runJobIn(left, {
    engine: 'http',
    config: {
      role: 'client',
      targets: [{ host: '10.99.0.2', port: 8080 }],
      connections: 20,
      timeoutMs: 250_000,
      keepAlive: { enabled: false },
      expect: { bodyContains: 'short' },
    },
    duration: { mode: 'count', count: shortCount },
    stack: hostsOn(left, '10.99.0.10-10.99.0.19'),
  });
  expect([client.counter('http.ok'), client.counter('http.ko')]).toEqual([shortCount, 0]);
  expect((await far.stop()).counter('http.served')).toBe(shortCount);
};

describe('transfers between emulated hosts and the TCP of Linux', () => {
  const cable = useCable('test');

  it.each(losses)('are whole in both directions when %i of 1000 segments are lost', async (perMille) => {
    impair(cable.right, perMille);
    const { client } = await transferBoth(cable.left, cable.right);
    if (perMille === 50) expect(client.counter('stack.retransmits')).toBeGreaterThan(10);
  });

  it.each(shortCount > 200 ? losses : [0, 10])(
    'are answered on short connections when %i of 1000 segments are lost',
    async (perMille) => {
      impair(cable.right, perMille);
      await shortConnections(cable.left, cable.right);
    },
  );
});

it('transfers are whole and short connections answered when segments overtake each other and arrive twice', async () => {
  const { left, right, remove } = await createDisorderlyCable({ latePerMille: 20, twicePerMille: 20 });
  let counts: Awaited<ReturnType<typeof remove>> | undefined;
  try {
    await transferBoth(left, right);
    await shortConnections(left, right);
  } finally {
    counts = await remove();
  }
  expect(Math.min(counts.late, counts.twice)).toBeGreaterThan(20);
});

describe('an agent that is killed', () => {
  const cable = useCable('test');

  it.each(['af_xdp', 'af_packet'] as const)('leaves nothing of its hosts on the interface (%s)', async (path) => {
    const state = () => cable.left.run('ip', '-d', 'addr').replaceAll(' tentative', '');
    const before = state();
    const job = {
      engine: 'tcp',
      config: { role: 'server', listen: [{ host: '0.0.0.0', port: 8080 }], mode: 'sink' },
      duration: { mode: 'continuous' },
      stack: { ...hostsOn(cable.left, '10.99.0.200-10.99.0.203'), path },
    };
    const { child } = await startJobChild('job-process.ts', job, inside(cable.left));
    expect(cable.right.run('ping', '-c', '1', '-W', '20', '10.99.0.202')).toContain(' 0% packet loss');
    const during = state();
    if (path === 'af_xdp') expect(during).toContain('xdp');
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    await expect.poll(state).toBe(before);
    expect(() => cable.right.run('ping', '-c', '1', '-W', '1', '10.99.0.202')).toThrow();
  });
});
