import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Job } from '@rushhour/protocol';
import { describe, expect, it } from 'vitest';
import type { Engine } from '../../engine.ts';
import { engines } from '../../engines/index.ts';
import { describeHost } from '../../machine/host.ts';
import { SampleStore } from '../../samples.ts';
import { parseConfig, prepareJob } from './prepare-job.ts';

const engineOf = (id: string) => engines.get(id) as Engine;
const targets = [{ host: '127.0.0.1', port: 80 }];
const listen = [{ port: 80 }];
const client = { role: 'client', targets };
const server = { role: 'server', listen };
const replay = {
  client: { ...client, script: '/script', targets: targets.map((target) => ({ ...target, place: 0 })) },
  server: { ...server, answers: '/answers' },
};
const attempts = { attempts: '/attempts', runToken: 'abcd', proofKey: '0123456789abcdef' };
const carried = { service: 'web', protocol: 'http' };
const attack = {
  client: { ...client, ...attempts, targets: targets.map((target) => ({ ...target, ...carried })) },
  server: { ...server, ...attempts, listen: listen.map((place) => ({ ...place, ...carried })) },
};
const capture = '/capture';
const session = { sessions: [{ sessionIndex: 0 }], speed: { mode: 'max' } };
const applications = [{ name: 'shop', capture, ...session, users: 1, seed: 'a' }];
const application = {
  client: {
    ...client,
    applications,
    targets: [{ host: '127.0.0.1', ports: [{ recorded: 80, ports: [80] }] }],
    shares: [{ firstUser: 0, users: 1, iterations: 1, load: {} }],
  },
  server: { ...server, applications },
};
const ipsec = { settings: { psk: 'only the two know' } };
/** Engines that need more configuration than targets and listen addresses. */
const routers = { entry: 0, interfaces: [['lo']] };
const header = { ttl: 64, dscp: 0, ecn: 0, flowLabel: 0, vlan: [] };
const sidesOf: Record<string, { readonly client: object; readonly server: object }> = {
  waf: attack,
  'cve-replay': attack,
  'malware-transfer': attack,
  fuzzing: attack,
  'compromised-host': attack,
  'har-replay': replay,
  application,
  'pcap-replay': { client: { ...client, capture }, server: { ...server, parts: [{ capture, targets }] } },
  dns: { client: { ...client, names: ['a.test'] }, server },
  'ipsec-load': {
    client: { ...client, ...ipsec, concurrentHandshakes: 1 },
    server: { ...server, ...ipsec },
  },
  'ipsec-tunnel': {
    client: { ...client, ...ipsec, tunnels: 1 },
    server: { ...server, ...ipsec, tunnels: 1 },
  },
  rocev2: {
    client: { ...client, verb: 'write', queuePairs: 1, retryMs: 10, retryCount: 7, header },
    server: { ...server, header },
  },
  'plane.control': {
    client: { ...routers, role: 'client', profiles: { bgp: [{ session: { peerAddress: '127.0.0.1' } }] } },
    server: { ...routers, role: 'server', profiles: { ospf: [{}] } },
  },
};

describe('configuration of engines', () => {
  it.each([
    ['http', client],
    ['http', server],
    ['tcp', client],
    ['tcp', server],
    ['tls', client],
    ['tls', server],
    ['udp', client],
    ['udp', server],
    ['dns', { ...client, names: ['example.test'] }],
    ['dns', server],
    ['stateless-server', { listen }],
    ['har-replay', { ...replay.client }],
    ['har-replay', { ...replay.server }],
  ])('fills in everything that is left out: %s %j', (id, config) => {
    const filled = parseConfig(engineOf(id), config) as object;
    expect(Object.keys(filled).length).toBeGreaterThan(Object.keys(config).length);
    expect(() => parseConfig(engineOf(id), { ...config, unheardOf: 1 })).toThrow('unheardOf');
  });

  it('lists every problem, not only the first', () => {
    const bad = { role: 'client', targets: [{ host: '', port: 0 }], connections: 0, method: 'get it' };
    const parse = () => parseConfig(engineOf('http'), bad);
    for (const path of ['/targets/0/host', '/targets/0/port', '/connections', '/method']) expect(parse).toThrow(path);
  });

  it('knows every target of a client and none of a server', () => {
    for (const [id, engine] of engines) {
      // Subscribers send to the gateway they find.
      if (id === 'stateless-server' || id === 'plane.access') continue;
      const sides = sidesOf[id] ?? { client, server };
      expect(engine.targetsOf(parseConfig(engine, sides.client))).toEqual(['127.0.0.1']);
      expect(engine.targetsOf(parseConfig(engine, sides.server))).toEqual([]);
    }
  });

  it('runs every engine on this machine', async () => {
    for (const engine of engines.values())
      expect(await engine.check(describeHost())).toMatchObject({ isAvailable: true });
  });
});

describe('claims', () => {
  const claims = ['10.214.1.7-10.214.1.8', '10.214.2.0/30'];
  const listen = [{ host: '10.214.1.8', port: 18_765 }];
  const order = (config: object): Job => ({
    runId: 1,
    epoch: 0,
    engine: 'http',
    config: { role: 'server', listen, ...config },
    duration: { mode: 'continuous', seconds: 1, count: 1, rampUpSec: 0, warmUpSec: 0, rampDownSec: 0 },
    claims,
    cpuCores: 1,
  });
  const deps = (isNetAdmin: boolean) => ({
    engines,
    host: { ...describeHost(), isNetAdmin },
    store: new SampleStore(),
    signal: new AbortController().signal,
    note: () => {},
  });
  const routes = () => execFileSync('ip', ['route', 'show', 'table', 'local', 'proto', '213'], { encoding: 'utf8' });

  it('make addresses local for the duration of the job', async () => {
    const run = await prepareJob(order({}), deps(true));
    expect(routes()).toContain('10.214.2.0/30');
    const client = connect(18_765, '10.214.1.8');
    await once(client, 'connect');
    client.destroy();
    await run.close();
    expect(routes()).not.toContain('10.214.');
  });

  it('are released when the job cannot be prepared, and refused without permission', async () => {
    const blocker = createServer().listen(18_766, '127.0.0.1');
    await once(blocker, 'listening');
    const taken = order({ listen: [{ host: '127.0.0.1', port: 18_766 }] });
    await expect(prepareJob(taken, deps(true))).rejects.toThrow('EADDRINUSE');
    blocker.close();
    expect(routes()).not.toContain('10.214.');
    await expect(prepareJob(order({}), deps(false))).rejects.toMatchObject({ code: 'NOT_PERMITTED' });
  });
});
