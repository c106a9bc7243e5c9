import { setTimeout as sleep } from 'node:timers/promises';
import type { IpsecSettings, ResultRow } from '@rushhour/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine, EngineContext } from '../../engine.ts';
import { epollPoller } from '../../net/epoll/epoll-poller.ts';
import type { HostNetwork } from '../../net/host-network.ts';
import { createMemoryNetworks, type Impairment } from '../../net/ipsec/testing/memory-network.ts';
import { kernelEventLoop } from '../../net/loop/kernel-event-loop.ts';
import { parseConfig } from '../../runs/job/prepare-job.ts';
import { SampleStore } from '../../samples.ts';
import { ipsecLoad } from '../ipsec-load/index.ts';
import { ipsecTunnel } from './index.ts';

beforeAll(() => {
  epollPoller();
  kernelEventLoop.acquire({ usesPromises: true });
});
afterAll(() => kernelEventLoop.release({ usesPromises: true }));

const base: Partial<IpsecSettings> = { psk: 'a long secret' };
/** Far more than it takes: a busy machine may stand still for seconds. */
const maxWaitMs = 60_000;

const startJob = async (engine: Engine, hostNetwork: HostNetwork, job: { config: object; duration?: object }) => {
  const samples = new SampleStore();
  const controller = new AbortController();
  const rows = new Map<number, ResultRow>();
  const notes: string[] = [];
  const events: string[] = [];
  const duration = { mode: 'continuous', seconds: 1, count: 1, rampUpSec: 0, warmUpSec: 0, rampDownSec: 0 };
  const context = {
    config: parseConfig(engine, job.config),
    duration: { ...duration, ...job.duration },
    samples,
    hostNetwork,
    signal: controller.signal,
    core: { index: 0, count: 1 },
    addressOf: (host: string) => host,
    host: { writesKeys: false },
    putRow: (_: string, row: ResultRow) => void rows.set(row.index, row),
    note: (remark: string) => void notes.push(remark),
    progress: (line: string) => void events.push(line),
    record: () => {},
  } as unknown as EngineContext<unknown>;
  const run = await engine.prepare(context);
  const done = run.start();
  const until = async (isReached: () => boolean) => {
    for (const end = performance.now() + maxWaitMs; !isReached() && performance.now() < end; ) await sleep(20);
  };
  return {
    rows,
    notes,
    events,
    run,
    done,
    until,
    count: (name: string) => samples.counter(name).value,
    gauge: (name: string) => samples.gauge(name).value,
    samples,
    async stop() {
      controller.abort();
      await done;
      await run.close();
    },
  };
};

const targets = ['10.0.1.1', '10.0.1.2'].map((host) => ({ host, port: 500 }));
const listen = [{ host: '0.0.0.0', port: 500 }];

interface Outer {
  readonly near: string;
  readonly far: string;
  readonly targets: readonly { readonly host: string; readonly port: number }[];
}

const outside4: Outer = { near: '10.0.0.1-10.0.0.8', far: '10.0.1.1-10.0.1.2', targets };
const outside6: Outer = {
  ...{ near: 'fd00:1::1-fd00:1::8', far: 'fd00:2::1-fd00:2::2' },
  targets: ['fd00:2::1', 'fd00:2::2'].map((host) => ({ host, port: 500 })),
};

interface Path {
  readonly outside?: Outer;
  readonly sourceCount?: number;
  readonly impair?: Impairment;
}

const startTunnels = async (settings: object, more: object = {}, path: Path = {}) => {
  const { outside = outside4, sourceCount = 8, impair } = path;
  const [near, far] = createMemoryNetworks([outside.near, outside.far], impair);
  const config = { settings: { ...base, ...settings }, tunnels: 20, ...more };
  const server = await startJob(ipsecTunnel, far, { config: { role: 'server', listen, ...config } });
  const client = await startJob(ipsecTunnel, near, {
    config: { role: 'client', targets: outside.targets, sourceCount, ...config },
  });
  return { client, server };
};

type StartedJob = Awaited<ReturnType<typeof startJob>>;

/** An echo of the engine with its headers, over IPv4 and over IPv6. */
const echoBytes = { 4: 84, 6: 104 } as const;

/**
 * Waits until 20 tunnels have answered twice and renewed their keys so often without a loss. An echo counts as lost
 * when the process stands still until the next one, so there may be losses before.
 */
const untilNothingIsLost = async (
  { count, until }: StartedJob,
  rekeys = 0,
  bytes: number = echoBytes[4],
): Promise<void> => {
  let before = { lost: -1, answered: 0, rekeys: 0 };
  const isWhole = () => {
    const lost = count('ipsec-tunnel.errors.timeout');
    const now = { lost, answered: count('ipsec-tunnel.rxBytes'), rekeys: count('ipsec-tunnel.rekeys') };
    if (lost !== before.lost) before = now;
    return now.answered - before.answered >= 2 * 20 * bytes && now.rekeys - before.rekeys >= rekeys;
  };
  await until(isWhole);
  expect(isWhole()).toBe(true);
};
const inside = { client: { start: '10.1.0.1', end: '10.1.0.20' }, server: { start: '10.2.0.1', end: '10.2.0.3' } };
const inside6 = { client: { start: 'fd01::1', end: 'fd01::14' }, server: { start: 'fd02::1', end: 'fd02::3' } };
/** Without IKE, the same in both directions. */
const manual = { authMethod: 'manual', spi: 4096, encryptionKey: '11'.repeat(36) };

describe('tunnels', () => {
  it('come up from all addresses to all peers, with a row for each child SA', async () => {
    const { client, server } = await startTunnels({ children: 2, rekeySec: 0 });
    await client.until(() => client.gauge('ipsec-tunnel.childUp') === 40 && server.rows.size === 40);
    expect(client.gauge('ipsec-tunnel.ikeUp')).toBe(20);
    expect(server.gauge('ipsec-tunnel.childUp')).toBe(40);
    expect(client.samples.histogram('ipsec-tunnel.setup').count).toBe(20);
    const cells = [...client.rows.values()].map((row) => row.cells);
    expect(new Set(cells.map(({ peer, local }) => `${local} ${peer}`)).size).toBe(16);
    expect(cells[0]).toMatchObject({
      role: 'initiator',
      ikeProposal: 'aes256-sha256-prfsha256-curve25519',
      espProposal: 'aes256gcm16',
      localSelector: '0.0.0.0-255.255.255.255',
      rekeys: 0,
    });
    const spisOf = ({ rows }: typeof client, name: string) => [...rows.values()].map((row) => row.cells[name]).sort();
    expect(spisOf(server, 'inboundSpi')).toEqual(spisOf(client, 'outboundSpi'));
    await client.stop();
    expect(client.notes).toEqual([]);
    await server.until(() => server.gauge('ipsec-tunnel.ikeUp') === 0);
    expect([...server.rows.values()].map(({ state }) => state)).toEqual(Array(40).fill('down'));
    await server.stop();
  });

  it.each([
    ['a selector of their own', { uniqueSelectors: true, localRange: inside.client, remoteRange: inside.server }, {}],
    ['ESP in UDP', { natt: true }, {}],
    ['keys by hand', manual, {}],
    ['IPv6 outside', {}, { outside: outside6 }],
    ['IPv6 inside', {}, { hosts: inside6 }],
    ['IPv6 on both sides, ESP in UDP', { natt: true }, { outside: outside6, hosts: inside6 }],
  ])('carry echoes between the addresses inside, with %s', async (_, settings, between) => {
    const { outside, hosts = inside } = between as { outside?: Outer; hosts?: typeof inside };
    const { client, server } = await startTunnels(settings, { inside: hosts }, { ...(outside && { outside }) });
    const carrying = ({ rows }: StartedJob) => [...rows.values()].filter(({ cells }) => Number(cells['rxBytes']) > 0);
    await client.until(() => carrying(client).length === 20 && carrying(server).length === 20);
    expect([carrying(client).length, carrying(server).length]).toEqual([20, 20]);
    expect([client.rows.size, server.rows.size]).toEqual([20, 20]);
    await untilNothingIsLost(client, 0, echoBytes[hosts === inside6 ? 6 : 4]);
    await client.stop();
    await server.stop();
  });

  it('carry on over a wire that repeats, reorders, replays, cuts and garbles packets', async () => {
    const protocolAt = 9;
    const esp = 50;
    let count = 0;
    const old: Uint8Array[] = [];
    const impair: Impairment = (packet) => {
      const changed = packet.slice();
      changed[packet.length - 3] = (changed[packet.length - 3] as number) ^ 0x55;
      const kinds: readonly (readonly Uint8Array[])[] = [
        ...[[packet], [packet, packet], [changed, packet], [packet.slice(0, packet.length >> 1), packet]],
        [packet, ...old.splice(0, 1)],
      ];
      if (packet[protocolAt] === esp) old.push(packet);
      return kinds[count++ % kinds.length] ?? [];
    };
    const { client, server } = await startTunnels({ rekeySec: 1.5 }, { inside }, { impair });
    await untilNothingIsLost(client, 20);
    expect(client.gauge('ipsec-tunnel.ikeUp')).toBe(20);
    expect(client.count('ipsec-tunnel.opened')).toBe(20);
    const errorsOf = (name: string) => client.count(name) + server.count(name);
    expect(errorsOf('ipsec-tunnel.replayErrors')).toBeGreaterThan(0);
    expect(errorsOf('ipsec-tunnel.authErrors')).toBeGreaterThan(0);
    await client.stop();
    await server.stop();
  });

  it('renew their keys, and rows keep count', async () => {
    const { client, server } = await startTunnels({ rekeySec: 0.4 }, {}, { sourceCount: 3 });
    expect(client.notes).toEqual(['3 of 8 source addresses were used']);
    const isRenewedTwice = () => [...client.rows.values()].some(({ cells }) => Number(cells['rekeys']) > 1);
    await client.until(() => isRenewedTwice() && client.count('ipsec-tunnel.rekeys') > 20 && client.rows.size === 20);
    expect(isRenewedTwice()).toBe(true);
    expect(client.count('ipsec-tunnel.rekeys')).toBeGreaterThan(20);
    expect(client.rows.size).toBe(20);
    await client.until(() => client.events.some((line) => line.endsWith(': keys of ESP renewed')));
    expect(client.events.join('\n')).toMatch(/: up/);
    expect(client.events.join('\n')).toMatch(/: keys of ESP renewed/);
    await client.stop();
    await server.stop();
  });

  it('that fail are counted by the notification of the peer', async () => {
    const [near, far] = createMemoryNetworks(['10.0.0.1', '10.0.1.1']);
    const server = await startJob(ipsecTunnel, far, {
      config: { role: 'server', listen, settings: { ...base, cipher: 'aes128-sha256' }, tunnels: 1 },
    });
    const settings = { ...base, psk: 'another secret' };
    const client = await startJob(ipsecTunnel, near, {
      config: { role: 'client', targets: targets.slice(0, 1), settings, tunnels: 1 },
    });
    await client.until(() => client.rows.size > 0);
    expect(client.count('ipsec-tunnel.failed.AUTHENTICATION_FAILED')).toBeGreaterThan(0);
    expect(client.rows.get(0)).toMatchObject({ state: 'failed', cells: { cause: 'AUTHENTICATION_FAILED' } });
    expect(client.events).toContain('10.0.0.1 to 10.0.1.1: not opened: AUTHENTICATION_FAILED');
    await client.stop();
    await server.stop();
  });

  it('of a count end once they are up', async () => {
    const [near, far] = createMemoryNetworks(['10.0.0.1', '10.0.1.1']);
    const settings = base;
    const server = await startJob(ipsecTunnel, far, { config: { role: 'server', listen, settings, tunnels: 5 } });
    const client = await startJob(ipsecTunnel, near, {
      config: { role: 'client', targets: targets.slice(0, 1), settings, tunnels: 5 },
      duration: { mode: 'count', count: 5 },
    });
    await client.done;
    expect(client.count('ipsec-tunnel.opened')).toBe(5);
    await client.run.close();
    await server.stop();
  });
});

/** A peer that never answers. */
const blackHole = (): HostNetwork => createMemoryNetworks(['10.0.0.1-10.0.0.8', '10.0.1.1-10.0.1.2'], () => [])[0];

describe('handshakes without an answer', () => {
  it('of load time out, and count with the time they waited', async () => {
    const settings = { ...base, handshakeTimeoutSec: 0.4 };
    const client = await startJob(ipsecLoad, blackHole(), {
      config: { role: 'client', targets, sourceCount: 8, settings, concurrentHandshakes: 10 },
      duration: { mode: 'count', count: 10 },
    });
    await client.done;
    await client.run.close();
    const names = ['started', 'completed', 'failed', 'errors.timeout'];
    expect(names.map((name) => client.count(`ipsec-load.${name}`))).toEqual([10, 0, 10, 10]);
    const handshake = client.samples.histogram('ipsec-load.handshake');
    expect(handshake.count).toBe(10);
    expect(handshake.min).toBeGreaterThanOrEqual(400_000);
  });

  it('of tunnels time out, and count with the time they waited', async () => {
    const settings = { ...base, handshakeTimeoutSec: 0.4 };
    const client = await startJob(ipsecTunnel, blackHole(), {
      config: { role: 'client', targets, sourceCount: 8, settings, tunnels: 5 },
    });
    await client.until(() => client.count('ipsec-tunnel.failed.timeout') === 5);
    await client.stop();
    const setup = client.samples.histogram('ipsec-tunnel.setup');
    expect([client.count('ipsec-tunnel.failed.timeout'), setup.count]).toEqual([5, 5]);
    expect(setup.min).toBeGreaterThanOrEqual(400_000);
    expect(client.rows.get(0)).toMatchObject({ state: 'failed', cells: { cause: 'timeout' } });
  });

  it('have timed out at the end of a run that is shorter than their time', async () => {
    const load = await startJob(ipsecLoad, blackHole(), {
      config: { role: 'client', targets, sourceCount: 8, settings: base, concurrentHandshakes: 10 },
    });
    const tunnels = await startJob(ipsecTunnel, blackHole(), {
      config: { role: 'client', targets, sourceCount: 8, settings: base, tunnels: 5 },
    });
    // Load waits three seconds for the last answers.
    await load.stop();
    await sleep(200);
    await tunnels.stop();
    expect(load.count('ipsec-load.failed')).toBe(10);
    expect(load.samples.histogram('ipsec-load.handshake').min).toBeGreaterThan(2_900_000);
    expect(tunnels.count('ipsec-tunnel.failed.timeout')).toBe(5);
    expect(tunnels.samples.histogram('ipsec-tunnel.setup').min).toBeGreaterThan(2_900_000);
    expect(tunnels.rows.get(4)).toMatchObject({ state: 'failed', cells: { cause: 'timeout' } });
  });
});

const startLoad = async ({ client = {}, server = {}, settings = {}, duration = {} }) => {
  const [near, far] = createMemoryNetworks(['10.0.0.1-10.0.0.100', '10.0.1.1-10.0.1.2']);
  const answering = await startJob(ipsecLoad, far, {
    config: { role: 'server', listen, settings: { ...base, ...settings }, ...server },
  });
  const opening = await startJob(ipsecLoad, near, {
    config: { role: 'client', targets, sourceCount: 100, settings: base, concurrentHandshakes: 10, ...client },
    duration,
  });
  return { opening, answering };
};

describe('IKE load', () => {
  it('begins handshakes at its rate, from all addresses', async () => {
    const client = { load: { rate: 100 } };
    const begunAt = performance.now();
    const { opening, answering } = await startLoad({ client, duration: { mode: 'count', count: 100 } });
    await opening.done;
    // The last is due 99 intervals after the first.
    expect(performance.now() - begunAt).toBeGreaterThan(980);
    expect(opening.count('ipsec-load.completed')).toBe(100);
    expect(opening.count('ipsec-load.failed')).toBe(0);
    const { exchange, handshake } = {
      exchange: opening.samples.histogram('ipsec-load.exchange'),
      handshake: opening.samples.histogram('ipsec-load.handshake'),
    };
    expect(handshake.count).toBe(100);
    expect(exchange.count).toBe(200);
    await answering.until(() => answering.gauge('ipsec-load.poolUsed') === 100);
    expect(answering.count('ipsec-load.completed')).toBe(100);
    expect(opening.notes).toEqual([]);
    await opening.run.close();
    expect(opening.notes).toEqual(['50 of 100 source addresses were used']);
    await answering.stop();
  });

  it('keeps sessions alive', async () => {
    const { opening, answering } = await startLoad({ client: { load: { rate: 20 }, keepalivesPerSecond: 200 } });
    const exchange = opening.samples.histogram('ipsec-load.exchange');
    // What is above the two exchanges of each handshake are dead-peer checks.
    const checks = () => exchange.count - 2 * opening.count('ipsec-load.started');
    await opening.until(() => checks() > 50);
    expect(checks()).toBeGreaterThan(50);
    await opening.stop();
    expect(opening.count('ipsec-load.failed')).toBe(0);
    expect(opening.count('ipsec-load.errors.deadPeer')).toBe(0);
    await answering.stop();
  });

  it('closes sessions and opens them again', async () => {
    // Sessions to be opened again come before new ones. Without a rate the first ten begin at once, so that each of the
    // two peers has taken the five addresses in turn before the first session is closed, however slow the machine is.
    const client = { load: {}, recycleAfterMs: 300, sourceCount: 5 };
    const { opening, answering } = await startLoad({ client });
    await opening.until(() => opening.count('ipsec-load.recycled') > 20);
    expect(opening.count('ipsec-load.recycled')).toBeGreaterThan(20);
    await opening.stop();
    expect(opening.count('ipsec-load.completed')).toBe(opening.count('ipsec-load.started'));
    expect(opening.notes).toEqual(['5 of 100 source addresses were used']);
    await answering.stop();
  });

  it('is refused when the pool of the responder is full, and has places again once sessions are idle', async () => {
    const server = { poolCap: 5, idleRecycleMs: 300 };
    const { opening, answering } = await startLoad({ server, client: { load: { rate: 50 } } });
    const hasRefused = () => answering.count('ipsec-load.errors.poolFull') > 0;
    await answering.until(() => hasRefused() && answering.count('ipsec-load.recycled') >= 5);
    expect(hasRefused()).toBe(true);
    expect(answering.count('ipsec-load.recycled')).toBeGreaterThanOrEqual(5);
    expect(answering.gauge('ipsec-load.poolUsed')).toBeLessThanOrEqual(5);
    await opening.stop();
    await answering.stop();
  });

  it('counts failures by their cause', async () => {
    const { opening, answering } = await startLoad({
      settings: { psk: 'another secret' },
      duration: { mode: 'count', count: 10 },
    });
    await opening.done;
    expect(opening.count('ipsec-load.errors.AUTHENTICATION_FAILED')).toBe(10);
    expect(opening.count('ipsec-load.failed')).toBe(10);
    expect(answering.count('ipsec-load.failed')).toBe(10);
    await opening.run.close();
    await answering.stop();
  });
});
