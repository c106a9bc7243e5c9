import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { inside } from '../engines/job-child.ts';
import { type Side, startJobIn } from '../engines/namespaces.ts';
import { execute, requireProgram, stopProcess } from '../engines/programs.ts';
import { useCable } from '../engines/use-cable.ts';
import { createLine } from './three-namespaces.ts';

const cable = useCable('test');
const header = { ttl: 64, dscp: 26, ecn: 2, flowLabel: 0, vlan: [] };
const shared = { mtu: 1024, messageBytes: 20_000, header };
const continuous = { mode: 'continuous' } as const;

const startServer = async (side: Side, more: object = {}) => {
  const config = { role: 'server', listen: [{ host: side.address, port: 4791 }], ...shared, ...more };
  const server = await startJobIn(side, { engine: 'rocev2', config, duration: continuous });
  onTestFinished(async () => {
    await server.stop().catch(() => {});
  });
  return server;
};

const clientOf = (to: Side, more: object = {}) => ({
  engine: 'rocev2',
  config: {
    role: 'client',
    targets: [{ host: to.address, port: 4791, weight: 1 }],
    rotation: 'roundRobin',
    sources: { addresses: [], networks: [], ranges: [], rotation: 'roundRobin' },
    verb: 'write',
    queuePairs: 4,
    retryMs: 200,
    retryCount: 7,
    ...shared,
    ...more,
  },
});

/** What arrives at an interface while a test runs: frames that it sends itself pass the capture point by. */
const capture = async (side: Side) => {
  requireProgram('tshark');
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-rdma-'));
  const file = join(folder, 'all.pcap');
  const [program = '', ...before] = inside(side);
  const options = ['-U', '--immediate-mode', '-s', '10000', '-B', '65536', '-i', side.device, '-w', file, 'udp'];
  const child = spawn(program, [...before, 'tcpdump', ...options], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await new Promise((resolve) => child.stderr.once('data', resolve));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return async (...args: string[]): Promise<string[]> => {
    let size = -1;
    while (statSync(file).size !== size) {
      size = statSync(file).size;
      await sleep(500);
    }
    await stopProcess(child);
    const { stdout } = await execute('tshark', ['-r', file, ...args], { maxBuffer: 1 << 28 });
    return stdout.split('\n').filter(Boolean);
  };
};

/** An end of the cable by its address of a version. */
const endOf = (side: Side, version: 4 | 6, address6: string): Side => {
  if (version === 4) return side;
  side.run('ip', 'address', 'add', `${address6}/64`, 'dev', side.device, 'nodad');
  return { ...side, address: address6 };
};

it.each([4, 6] as const)('messages of every operation arrive over IPv%i without a warning', async (version) => {
  const left = endOf(cable.left, version, 'fd00:7::1');
  const right = endOf(cable.right, version, 'fd00:7::2');
  const captures = [await capture(left), await capture(right)];
  const server = await startServer(right);
  let messages = 0;
  for (const verb of ['write', 'writeImm', 'send', 'sendImm', 'read']) {
    const client = await startJobIn(left, {
      ...clientOf(right, { verb }),
      duration: { mode: 'count', count: 10 },
    });
    const totals = await client.totals;
    expect(totals.counter('rocev2.messages')).toBe(10);
    expect(totals.counter(verb === 'read' ? 'rocev2.rxBytes' : 'rocev2.txBytes')).toBeGreaterThanOrEqual(200_000);
    expect(totals.histogram('rocev2.latency').count).toBe(10);
    expect(totals.histogram('rocev2.completion').count).toBeGreaterThan(0);
    messages += 10;
  }
  const received = await server.stop();
  expect(received.counter('rocev2.messages')).toBe(messages);
  expect(received.counter('rocev2.rxBytes')).toBe(4 * 200_000);
  expect(received.counter('rocev2.invalidCrc')).toBe(0);
  const names = ['infiniband.bth.opcode', '_ws.expert.message', version === 4 ? 'ip.version' : 'ipv6.version'];
  const fields = ['-Y', 'infiniband', '-T', 'fields', '-E', 'separator=,', ...names.flatMap((name) => ['-e', name])];
  const lines = (await Promise.all(captures.map((read) => read(...fields)))).flat();
  const opcodes = new Set(lines.map((line) => Number(line.split(',')[0])));
  expect(new Set(lines.map((line) => line.split(',')[2]))).toEqual(new Set([`${version}`]));
  for (const opcode of [0, 1, 2, 3, 6, 7, 8, 9, 12, 13, 14, 15, 17, 100]) expect(opcodes).toContain(opcode);
  expect(lines.filter((line) => line.split(',')[1] !== '')).toEqual([]);
});

it('losses are repaired, and congestion slows the sender down', async () => {
  const { left, middle, right } = createLine();
  middle.run('nft', 'add', 'table', 'ip', 'fault');
  middle.run('nft', 'add', 'chain', 'ip', 'fault', 'on', '{ type filter hook forward priority 0; }');
  const data = ['ip', 'daddr', right.address, 'udp', 'length', '>', '500', 'numgen', 'inc', 'mod'];
  middle.run('nft', 'add', 'rule', 'ip', 'fault', 'on', ...data, '100', '50', 'drop');
  middle.run('nft', 'add', 'rule', 'ip', 'fault', 'on', ...data, '20', '3', 'ip', 'ecn', 'set', 'ce');
  const congestion = { dscp: 48, delayUs: 50 };
  const dcqcn = {
    alphaG: 0.004,
    initialAlpha: 1,
    rateReduceMinUs: 50,
    timeResetUs: 5000,
    byteReset: 0,
    additiveBps: 1e6,
    hyperBps: 1e6,
  };
  const server = await startServer(right, { congestion });
  const sources = { addresses: [left.address], networks: [], ranges: ['10.99.7.1-10.99.7.3'], rotation: 'roundRobin' };
  const more = { congestion, dcqcn, rateBps: 400e6, queuePairs: 1, sources };
  const client = await startJobIn(left, { ...clientOf(right, more), duration: { mode: 'count', count: 100 } });
  const sent = await client.totals;
  const received = await server.stop();
  expect(sent.outcome.notes).toContain('1 of 4 source addresses are used, one for each queue pair');
  expect(sent.counter('rocev2.messages')).toBe(100);
  expect(received.counter('rocev2.rxBytes')).toBe(100 * 20_000);
  expect(sent.counter('rocev2.retransmits')).toBeGreaterThan(0);
  expect(sent.counter('rocev2.naks')).toBeGreaterThan(0);
  expect(received.counter('rocev2.sequenceErrors')).toBeGreaterThan(0);
  expect(received.counter('rocev2.ecnMarked')).toBeGreaterThan(0);
  expect(received.counter('rocev2.cnpSent')).toBeGreaterThan(0);
  expect(sent.counter('rocev2.cnpReceived')).toBe(received.counter('rocev2.cnpSent'));
  expect(sent.gauge('rocev2.rateBps')).toBeLessThan(400e6);
  // The machine still answers for its own address.
  expect(left.run('ping', '-c', '1', right.address)).toMatch(/1 received(?!.*duplicates)/);
});
