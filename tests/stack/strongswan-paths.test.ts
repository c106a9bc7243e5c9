import { execFileSync } from 'node:child_process';
import { afterEach, expect, it } from 'vitest';
import { totalsOf } from '../engines/job.ts';
import { type JobProcess, type Side, startJobIn } from '../engines/namespaces.ts';
import { useCable } from '../engines/use-cable.ts';
import { insideAddress, type StrongSwan, startStrongSwan } from './strongswan.ts';

const cable = useCable('test');
let gateway: StrongSwan | undefined;
afterEach(() => gateway?.stop());

const tunnels = 4;
const inside = {
  client: { start: '10.1.0.0', end: '10.1.0.255' },
  server: { start: insideAddress, end: insideAddress },
};

const settings = {
  ...{ mode: 'tunnel', authMethod: 'psk', psk: 'a long secret', ikeEncryption: 'aes128' },
  ...{ dpdIntervalSec: 1, dpdTimeoutSec: 6, rekeySec: 0, uniqueSelectors: true },
  localRange: inside.client,
  remoteRange: { start: '10.2.0.0', end: '10.2.0.255' },
};

const gatewayAt = (local: string) => ({
  connections: `connections { gw {
    version = 2
    local_addrs = ${local}
    remote_addrs = %any
    proposals = aes128-sha256-x25519
    unique = never
    encap = yes
    local { auth = psk
      id = gateway.test }
    remote { auth = psk }
    children { gw {
      local_ts = 10.2.0.0/24
      remote_ts = 10.1.0.0/24
      esp_proposals = aes256gcm16 } }
  } }
  secrets { ike-all { secret = "a long secret" } }`,
});

/** Tunnels of emulated hosts to the gateway, with an echo through each every second. */
const startTunnels = (peer: string, { more = {}, sourceCount = tunnels, router = {} }) => {
  return startJobIn(cable.left, {
    engine: 'ipsec-tunnel',
    isWatched: true,
    config: {
      ...{ role: 'client', targets: [{ host: peer, port: 500 }], sourceCount, tunnels, inside },
      settings: { ...settings, ...more },
    },
    duration: { mode: 'continuous' },
    stack: {
      interface: cable.left.device,
      networks: [{ subnet: '10.99.0.0/24', hosts: ['10.99.0.11-10.99.0.14'], ...router }],
      ...{ vlan: [], header: {}, tcp: {}, path: 'af_packet' },
    },
  });
};

/** What a job that runs has counted. */
const countIn = ({ summaries }: JobProcess, name: string): number =>
  totalsOf({ status: 'finished', notes: [], saturatedSeconds: {} }, summaries).counter(`ipsec-tunnel.${name}`);

const untilUp = (count: number) =>
  expect
    .poll(async () => (await gateway?.control('--list-sas'))?.match(/ESTABLISHED/g)?.length ?? 0, { timeout: 30_000 })
    .toBe(count);

it('goes on from another source address when one is cut off, without new tunnels (MOBIKE)', async () => {
  gateway = await startStrongSwan(cable.right, gatewayAt('10.99.0.2'));
  const job = await startTunnels('10.99.0.2', { more: { dpdTimeoutSec: 60 } });
  await untilUp(tunnels);
  cable.right.run('nft', 'add table ip cut; add chain ip cut input { type filter hook input priority 0; }');
  cable.right.run('nft', 'add rule ip cut input ip saddr 10.99.0.11 drop');
  const remotes = async () => ((await gateway?.control('--list-sas')) ?? '').match(/@ 10\.99\.0\.1\d/g) ?? [];
  await expect.poll(remotes, { timeout: 30_000 }).not.toContain('@ 10.99.0.11');
  expect((await remotes()).length).toBe(tunnels);
  await expect.poll(() => countIn(job, 'moved')).toBe(1);
  const totals = await job.stop();
  expect(totals.counter('ipsec-tunnel.moved')).toBe(1);
  expect(totals.counter('ipsec-tunnel.opened')).toBe(tunnels);
  expect(totals.counter('ipsec-tunnel.dpdTimeouts')).toBe(0);
});

it('opens its tunnels again when the gateway was killed and is back', async () => {
  gateway = await startStrongSwan(cable.right, gatewayAt('10.99.0.2'));
  const job = await startTunnels('10.99.0.2', { more: { dpdTimeoutSec: 3 }, sourceCount: 1 });
  await untilUp(tunnels);
  await gateway.stop('SIGKILL');
  gateway = await startStrongSwan(cable.right, gatewayAt('10.99.0.2'));
  await untilUp(tunnels);
  await expect.poll(() => countIn(job, 'opened')).toBe(2 * tunnels);
  const totals = await job.stop();
  expect(totals.counter('ipsec-tunnel.dpdTimeouts')).toBe(tunnels);
  expect(totals.counter('ipsec-tunnel.opened')).toBe(2 * tunnels);
});

/** The right end of the cable translates addresses; the gateway is in a namespace behind it. */
const startBehindNat = async (): Promise<{ readonly side: Side; remove(): void }> => {
  const { right } = cable;
  const namespace = `${right.namespace}n`;
  const ip = (...args: string[]) => execFileSync('ip', args);
  ip('netns', 'add', namespace);
  ip('link', 'add', 'n0', 'netns', right.namespace, 'type', 'veth', 'peer', 'n1', 'netns', namespace);
  const run: Side['run'] = (program, ...args) =>
    execFileSync('ip', ['netns', 'exec', namespace, program, ...args], { encoding: 'utf8' });
  right.run('ip', 'address', 'add', '10.98.0.1/24', 'dev', 'n0');
  right.run('ip', 'link', 'set', 'n0', 'up');
  right.run('sysctl', '-qw', 'net.ipv4.ip_forward=1');
  right.run('nft', 'add table ip nat; add chain ip nat post { type nat hook postrouting priority 100; }');
  right.run('nft', 'add rule ip nat post oifname "n0" masquerade');
  run('ip', 'address', 'add', '10.98.0.2/24', 'dev', 'n1');
  for (const device of ['lo', 'n1']) run('ip', 'link', 'set', device, 'up');
  const side = { namespace, device: 'n1', address: '10.98.0.2', run };
  return { side, remove: () => ip('netns', 'del', namespace) };
};

it('carries traffic through a NAT, with ESP in UDP', async () => {
  const { side, remove } = await startBehindNat();
  try {
    gateway = await startStrongSwan(side, gatewayAt('10.98.0.2'));
    const job = await startTunnels('10.98.0.2', { router: { gateway: '10.99.0.2' } });
    await untilUp(tunnels);
    const listed = await gateway.control('--list-sas');
    expect(listed.match(/@ 10\.98\.0\.1\[/g)?.length).toBe(tunnels);
    // An echo counts as lost when the machine takes longer than until the next one: two rounds without that have to come.
    let before = { lost: -1, answered: 0 };
    const answeredSinceLoss = () => {
      const [lost, answered] = [countIn(job, 'errors.timeout'), countIn(job, 'rxBytes')];
      if (lost !== before.lost) before = { lost, answered };
      return answered - before.answered;
    };
    await expect.poll(answeredSinceLoss).toBeGreaterThanOrEqual(tunnels * 2 * 84);
    const totals = await job.stop();
    expect(totals.counter('ipsec-tunnel.opened')).toBe(tunnels);
  } finally {
    await gateway?.stop();
    gateway = undefined;
    remove();
  }
});
