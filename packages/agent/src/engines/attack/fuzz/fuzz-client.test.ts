import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AttackClientConfig, AttackServerConfig, type Attempt, type AttemptRecord } from '@rushhour/protocol';
import type { TSchema } from 'typebox';
import * as value from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { freePort } from '../../../../../../tests/process/free-port.ts';
import { describeHost } from '../../../machine/host.ts';
import { SampleStore } from '../../../samples.ts';
import { fuzzing } from '../index.ts';

const { Default } = value as unknown as { Default(schema: TSchema, value: unknown): unknown };
const shared = { runToken: 'test1', proofKey: 'a key that both ends know' };

/** A device that passes everything on until it sees a certain text: then it dies, and is started again a little later. */
const fragileDevice = async (port: number, to: number, deadly: string | readonly string[], isBack = true) => {
  const sockets = new Set<Socket>();
  let server: Server;
  const start = () =>
    new Promise<void>((resolve) => {
      server = createServer((client) => {
        const inner = connect(to, '127.0.0.1');
        for (const socket of [client, inner]) {
          sockets.add(socket);
          socket.on('error', () => {}).on('close', () => [client, inner].map((one) => one.destroy()));
        }
        client.on('data', (bytes) =>
          [deadly].flat().some((text) => bytes.includes(text)) ? die() : inner.write(bytes),
        );
        inner.pipe(client);
      });
      server.listen(port, '127.0.0.1', resolve);
    });
  const die = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    if (isBack) setTimeout(() => void start(), 20).unref();
  };
  await start();
  return () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
};

const caseOf = (id: number, text: string): Attempt => ({
  ...{
    id,
    kind: 'fuzz',
    refId: 0,
    refName: `case ${id} of seed 1`,
    variant: 'bit-flip',
    category: 'fuzzing',
    expected: 'allow',
  },
  ...{ severity: 'info', techniques: [], direction: 'c2s', service: 'raw' },
  exchange: {
    protocol: 'raw',
    transport: 'tcp',
    sends: [{ content: { data: Buffer.from(text).toString('base64') }, waitResponse: true }],
    answers: [],
  },
});

const run = async (ports: { device: number; server: number }, cases: readonly Attempt[], fuzz: object) => {
  const folder = mkdtempSync(join(tmpdir(), 'fuzz-'));
  const attempts = join(folder, 'attempts');
  writeFileSync(attempts, cases.map((one) => `${JSON.stringify(one)}\n`).join(''));
  const [records, notes, stop, samples] = [
    [] as AttemptRecord[],
    [] as string[],
    new AbortController(),
    new SampleStore(),
  ];
  const context = {
    duration: { mode: 'continuous', seconds: 1, count: 1, rampUpSec: 0, warmUpSec: 0, rampDownSec: 0 } as const,
    ...{ samples, host: describeHost(), core: { index: 0, count: 1 }, signal: stop.signal },
    addressOf: (host: string) => host,
    progress: () => {},
    note: (remark: string) => void notes.push(remark),
    putRow: () => {},
    record: (record: AttemptRecord) => void records.push(record),
  };
  const endpoint = { host: '127.0.0.1', service: 'raw', protocol: 'raw' };
  const control = { everyAttempts: 5, retries: 0, timeoutMs: 400 };
  const server = { role: 'server', listen: [{ ...endpoint, port: ports.server }], attempts, ...shared };
  const client = {
    role: 'client',
    targets: [{ ...endpoint, port: ports.device }],
    attempts,
    timeoutMs: 400,
    control,
    fuzz,
    ...shared,
  };
  const answering = await fuzzing.prepare({
    ...context,
    config: Default(AttackServerConfig, server) as AttackServerConfig,
  });
  const trying = await fuzzing.prepare({
    ...context,
    config: Default(AttackClientConfig, client) as AttackClientConfig,
  });
  const answered = answering.start();
  await trying.start();
  stop.abort();
  await Promise.all([trying.close(), answered.then(() => answering.close())]);
  rmSync(folder, { recursive: true });
  const findings = records.flatMap((record) => (record.side === 'finding' ? [record] : []));
  const counts = (kind: string) => samples.counter(`fuzzing.finding.${kind}`).value;
  return { notes, findings, counts, clients: records.filter((record) => record.side === 'client') };
};

const harmless = (count: number) => Array.from({ length: count }, (_, id) => caseOf(id, `hello ${id} world`));
const settings = { recoveryMs: 5000, maxMs: 60_000, minimise: true, stopOnHealth: true };

describe('a fragile target', () => {
  it('is reported with the case that stopped it and a minimised reproducer', async () => {
    const ports = { device: await freePort(), server: await freePort() };
    const close = await fragileDevice(ports.device, ports.server, '\0\0');
    const cases = [
      ...harmless(7),
      caseOf(7, `${'x'.repeat(40)}\0\0${'y'.repeat(40)}`),
      ...harmless(4).map((one) => ({ ...one, id: one.id + 8 })),
    ];
    const { notes, findings, clients } = await run(ports, cases, settings);
    close();
    expect(notes).toEqual(['finding health-lost: case 7 of seed 1 stops the target']);
    const [finding] = findings.filter(({ kind }) => kind === 'health-lost');
    expect(finding).toMatchObject({ attempt: 7, name: 'case 7 of seed 1', target: `127.0.0.1:${ports.device}` });
    const shortest = Buffer.from('\0\0').toString('base64');
    expect(finding?.reproducer).toMatchObject({ protocol: 'raw', sends: [{ content: { data: shortest } }] });
    expect(clients.map((seen) => seen.side === 'client' && (seen.skipped ?? 'sent'))).toEqual([
      ...Array(8).fill('sent'),
      ...Array(4).fill('stopped'),
    ]);
  });

  it('that does not recover ends the run with a finding', async () => {
    const ports = { device: await freePort(), server: await freePort() };
    const close = await fragileDevice(ports.device, ports.server, 'die', false);
    const { notes, findings } = await run(ports, [...harmless(3), caseOf(3, 'please die now'), ...harmless(2)], {
      ...settings,
      recoveryMs: 300,
    });
    close();
    expect(notes).toEqual([expect.stringMatching(/^finding health-lost: the target stopped after .*did not recover/)]);
    expect(findings.filter(({ kind }) => kind === 'health-lost')).toMatchObject([{ attempt: null, name: '' }]);
  });

  it('that survives everything has no findings', async () => {
    const ports = { device: await freePort(), server: await freePort() };
    const close = await fragileDevice(ports.device, ports.server, 'never sent');
    const { notes, findings, clients } = await run(ports, harmless(12), settings);
    close();
    expect([notes, findings]).toEqual([[], []]);
    expect(clients.map((seen) => seen.side === 'client' && seen.responseIsOurs)).toEqual(Array(12).fill(true));
  });

  it('that stops again by the same cause is one finding, and another cause is another one', async () => {
    const ports = { device: await freePort(), server: await freePort() };
    const close = await fragileDevice(ports.device, ports.server, ['\0\0', 'die']);
    const deadly = ['xx\0\0yy', 'die at once', 'another\0\0one', 'now die'].map((text, i) => caseOf(20 + i, text));
    const { findings, counts } = await run(ports, [...harmless(3), ...deadly], { ...settings, stopOnHealth: false });
    close();
    const lost = findings.filter(({ kind }) => kind === 'health-lost');
    expect(lost.map(({ attempt, repeats }) => [attempt, repeats])).toEqual([
      [20, undefined],
      [21, undefined],
      [22, 20],
      [23, 21],
    ]);
    expect(lost.map(({ reproducer }) => reproducer !== undefined)).toEqual([true, true, false, false]);
    expect(counts('health-lost')).toBe(4);
  });

  it('is reported once for each rule when it lets through what it should refuse', async () => {
    const ports = { device: await freePort(), server: await freePort() };
    const close = await fragileDevice(ports.device, ports.server, 'never sent');
    const refused = [0, 1, 2].map((id) => ({
      ...caseOf(id, `case ${id}`),
      ...{ expected: 'block' as const, category: id === 2 ? 'a rule' : 'another rule' },
    }));
    const { findings } = await run(
      ports,
      [...refused, ...harmless(2).map((one) => ({ ...one, id: one.id + 9 }))],
      settings,
    );
    close();
    expect(findings.map(({ kind, detail, repeats }) => [kind, detail.split(': ')[1], repeats])).toEqual([
      ['unexpected-accept', 'another rule', undefined],
      ['unexpected-accept', 'another rule', 0],
      ['unexpected-accept', 'a rule', undefined],
    ]);
  });
});
