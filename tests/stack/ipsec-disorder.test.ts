import type { HostStack, IpsecSettings } from '@rushhour/protocol';
import { afterEach, expect, it } from 'vitest';
import { type JobOptions, totalsOf } from '../engines/job.ts';
import { type JobProcess, runJobIn, type Side, startJobIn } from '../engines/namespaces.ts';
import { createDisorderlyCable, type Disorder, type DisorderlyCable, type DisorderShares } from './disorderly-cable.ts';
import { insideAddress, type StrongSwan, startStrongSwan } from './strongswan.ts';

// IPsec over a cable that repeats, reorders, replays, cuts and garbles packets of ESP and messages of IKE.

const shares: DisorderShares = {
  of: 'ipsec',
  latePerMille: 60,
  twicePerMille: 60,
  replayedPerMille: 60,
  cutPerMille: 60,
  garbledPerMille: 60,
};

let cable: DisorderlyCable | undefined;
let gateway: StrongSwan | undefined;
afterEach(async () => {
  await gateway?.stop();
  gateway = undefined;
  await cable?.remove();
  cable = undefined;
});

const start = async (): Promise<DisorderlyCable> => {
  cable = await createDisorderlyCable(shares);
  return cable;
};

/** Nothing passes any more; every kind of disorder has happened. */
const end = async (): Promise<Disorder> => {
  const disorder = (await cable?.cut()) as Disorder;
  for (const kind of ['late', 'twice', 'replayed', 'cut', 'garbled'] as const)
    expect(disorder[kind]).toBeGreaterThan(0);
  return disorder;
};

const settings: IpsecSettings = {
  ...{ mode: 'tunnel', authMethod: 'psk', psk: 'a long secret', cipher: 'aes256gcm16', ikeEncryption: 'aes128' },
  ...{ encrypts: true, pfs: false, natt: false, dpdIntervalSec: 0, dpdTimeoutSec: 0, rekeySec: 0, lifetimeSec: 0 },
  ...{ uniqueSelectors: false, firstIndex: 0, children: 1 },
};

const hostsOn = ({ device }: Side, subnet: string, hosts: string): HostStack => ({
  interface: device,
  networks: [{ subnet, hosts: [hosts] }],
  ...{ vlan: [], header: {}, tcp: {}, path: 'af_packet' },
});

const outer = { subnet: '10.99.0.0/24', client: '10.99.0.11', server: '10.99.0.21' };
const inside = { server: '10.50.1.1', clients: '10.50.0.1-10.50.0.8' };

/** Hosts inside a tunnel. */
const insideOf = (side: Side, more: object, isServer: boolean): HostStack => {
  const [local, remote] = isServer ? [outer.server, outer.client] : [outer.client, outer.server];
  return {
    ...hostsOn(side, '10.50.0.0/16', isServer ? inside.server : inside.clients),
    tunnel: {
      ...{ type: 'ipsec', params: {}, isServer, ends: [{ local, remote }] },
      ipsec: { ...settings, ...more },
      outer: { subnet: outer.subnet, hosts: [local] },
    },
  };
};

const count = 400;
const last = 'the last bytes of the body';
const body = { type: 'text', data: `${'segments-'.repeat(2200)}${last}` } as const;
const server = (host: string): Pick<JobOptions, 'engine' | 'config' | 'duration'> => ({
  engine: 'http',
  config: { role: 'server', listen: [{ host, port: 8080 }], responses: [{ body }] },
  duration: { mode: 'continuous' },
});
const client = (host: string): Pick<JobOptions, 'engine' | 'config' | 'duration'> => ({
  engine: 'http',
  config: {
    ...{ role: 'client', targets: [{ host, port: 8080 }], connections: 8, timeoutMs: 120_000 },
    expect: { bodyContains: body.data },
  },
  duration: { mode: 'count', count },
});

it.each([
  ['ESP', {}],
  ['ESP in UDP', { natt: true }],
  ['keys that are renewed', { rekeySec: 1 }],
  ['CBC and extended sequence numbers', { cipher: 'aes128-sha256-esn' }],
])('transfers are whole between both ends, with %s', async (_, more) => {
  const { left, right } = await start();
  const far = await startJobIn(right, { ...server('0.0.0.0'), stack: insideOf(right, more, true) });
  const near = await runJobIn(left, { ...client(inside.server), stack: insideOf(left, more, false) });
  const served = await far.stop();
  expect([near.counter('http.ok'), near.counter('http.ko')]).toEqual([count, 0]);
  expect(served.counter('http.served')).toBe(count);
  await end();
});

/** What both ends have counted so far. */
const countIn = (jobs: readonly JobProcess[], name: string): number =>
  jobs.reduce((sum, { summaries }) => {
    const totals = totalsOf({ status: 'finished', notes: [], saturatedSeconds: {} }, summaries);
    return sum + totals.counter(`ipsec-tunnel.${name}`);
  }, 0);

const tunnels = 100;
const echoBytes = 84;

it('every packet that comes again or is changed is counted as that, and only these are', async () => {
  const { left, right } = await start();
  const ranges = { client: { start: '10.1.0.1', end: '10.1.0.100' }, server: { start: '10.2.0.1', end: '10.2.0.1' } };
  const common = { engine: 'ipsec-tunnel', isWatched: true, duration: { mode: 'continuous' } } as const;
  const config = { settings, tunnels, inside: ranges };
  const far = await startJobIn(right, {
    ...common,
    config: { role: 'server', listen: [{ host: '0.0.0.0', port: 500 }], ...config },
    stack: hostsOn(right, outer.subnet, outer.server),
  });
  const near = await startJobIn(left, {
    ...common,
    config: { role: 'client', targets: [{ host: outer.server, port: 500 }], sourceCount: 4, ...config },
    stack: hostsOn(left, outer.subnet, '10.99.0.11-10.99.0.14'),
  });
  await expect.poll(() => countIn([near], 'opened'), { timeout: 60_000 }).toBe(tunnels);
  const echoes = 6;
  await expect
    .poll(() => countIn([near], 'rxBytes'), { timeout: 60_000 })
    .toBeGreaterThan(echoes * tunnels * echoBytes);
  expect(countIn([near], 'opened')).toBe(tunnels);
  const { repeatedEsp, cutEsp, garbledEsp } = await end();
  const both = [near, far];
  await expect.poll(() => countIn(both, 'authErrors'), { timeout: 30_000 }).toBe(cutEsp + garbledEsp);
  expect(countIn(both, 'replayErrors')).toBe(repeatedEsp);
  expect(repeatedEsp).toBeGreaterThan(100);
  await near.stop();
  await far.stop();
});

const connections = `connections { gw {
    version = 2
    local_addrs = 10.99.0.2
    remote_addrs = ${outer.client}
    proposals = aes128-sha256-x25519
    encap = yes
    local { auth = psk }
    remote { auth = psk }
    children { gw {
      local_ts = 10.2.0.0/24
      remote_ts = 10.1.0.0/24
      esp_proposals = aes256gcm16 } }
  } }
  secrets { ike-all { secret = "a long secret" } }`;

it.each([
  ['without new keys', 0],
  ['while keys are renewed', 2],
])('transfers are whole through strongSwan, %s', async (_, rekeySec) => {
  const { left, right } = await start();
  gateway = await startStrongSwan(right, { connections });
  const far = await startJobIn(right, server(insideAddress));
  const ipsec: IpsecSettings = {
    ...{ ...settings, natt: true, rekeySec },
    localRange: { start: '10.1.0.0', end: '10.1.0.255' },
    remoteRange: { start: '10.2.0.0', end: '10.2.0.255' },
  };
  const near = await runJobIn(left, {
    ...client(insideAddress),
    stack: {
      ...hostsOn(left, '10.1.0.0/24', '10.1.0.1-10.1.0.4'),
      tunnel: {
        ...{ type: 'ipsec', params: {}, isServer: false, ipsec },
        ends: [{ local: outer.client, remote: '10.99.0.2' }],
        outer: { subnet: outer.subnet, hosts: [outer.client] },
      },
    },
  });
  const served = await far.stop();
  expect([near.counter('http.ok'), near.counter('http.ko')]).toEqual([count, 0]);
  expect(served.counter('http.served')).toBe(count);
  expect(gateway.log()).toContain('CHILD_SA gw{1} established');
  await end();
});
