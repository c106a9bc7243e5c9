import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Attempt, AttemptRecord, ClientObservation, HostStack, ServerObservation } from '@rushhour/protocol';
import { expect, it, onTestFinished } from 'vitest';
import { runJobIn, type Side, startJobIn } from '../engines/namespaces.ts';
import { useCable } from '../engines/use-cable.ts';
import { startSniffer } from './sniffer.ts';

const cable = useCable('test');
const forms = [
  'tcp-segment-1',
  'tcp-segment-8',
  'tcp-out-of-order',
  'tcp-overlap',
  'tcp-urgent',
  'tcp-checksum-decoy',
  'ip-fragment-24',
  'ip-ttl-decoy',
] as const;
const shared = { runToken: 'test1', proofKey: 'a key that both ends know' };
const carried = { service: 'http', protocol: 'http', transport: 'tcp', isTls: false };
const word = 'union-select-from-users';

/** One attack in each form, long enough for several segments. */
const attemptsFile = (names: readonly string[]): string => {
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-forms-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const body = { data: Buffer.from(`q=${word}&pad=${'x'.repeat(1200)}`).toString('base64') };
  const lines = names.map((packets, id): Attempt => {
    const request = { method: 'POST', path: `/${id}?q=${word}`, version: '1.1', headers: [], body } as const;
    const answer = { mode: 'canned', status: 200, headers: [] } as const;
    const exchange = { protocol: 'http', steps: [{ request, answer }], packets } as unknown as Attempt['exchange'];
    return {
      ...{ id, kind: 'waf', refId: 0, refName: packets, variant: packets, category: 'sqli', expected: 'block' },
      ...{ severity: 'high', techniques: [], direction: 'c2s', service: 'http', exchange },
    };
  });
  const file = join(folder, 'attempts');
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return file;
};

const stackOn = (side: Side, hosts: string, gateway?: string): HostStack => {
  const subnet = '10.99.0.0/24';
  const macPolicy = { mode: 'perIp', start: '02:aa:00:00:00:01' };
  const network = { subnet, hosts: [hosts], macs: { network: { subnet, macPolicy }, records: [] } };
  return {
    interface: side.device,
    networks: [gateway === undefined ? network : { ...network, gateway }],
    ...{ vlan: [], header: {}, tcp: {} },
  };
};

interface Route {
  readonly names: readonly string[];
  readonly server: Side;
  readonly target: string;
  readonly stack?: HostStack;
  readonly gateway?: string;
}

/** Sends the attacks and returns what both ends saw. */
const exchange = async ({ names, server, target, stack, gateway }: Route) => {
  const attempts = attemptsFile(names);
  const answering = await startJobIn(server, {
    engine: 'waf',
    config: { role: 'server', listen: [{ host: '0.0.0.0', port: 8080, ...carried }], attempts, ...shared },
    duration: { mode: 'continuous' },
    ...(stack && { stack }),
  });
  const client = await runJobIn(cable.left, {
    engine: 'waf',
    config: {
      role: 'client',
      targets: [{ host: target, port: 8080, ...carried }],
      attempts,
      timeoutMs: 5000,
      ...shared,
    },
    duration: { mode: 'continuous' },
    stack: stackOn(cable.left, '10.99.0.10', gateway),
  });
  const served = await answering.stop();
  const recordsOf = <T>({ summaries }: typeof client, side: AttemptRecord['side']) =>
    summaries.flatMap(({ records = [] }) => records as AttemptRecord[]).filter((one) => one.side === side) as T[];
  return {
    clients: recordsOf<ClientObservation>(client, 'client').toSorted((a, b) => a.attempt - b.attempt),
    servers: recordsOf<ServerObservation>(served, 'server').filter(({ attempt }) => attempt !== null),
  };
};

const expectWhole = ({ clients, servers }: Awaited<ReturnType<typeof exchange>>, names: readonly string[]) => {
  expect(clients.map(({ attempt, end, responseIsOurs }) => [names[attempt], end, responseIsOurs])).toEqual(
    names.map((name) => [name, 'response', true]),
  );
  const seen = servers.toSorted((a, b) => (a.attempt ?? 0) - (b.attempt ?? 0));
  expect(seen.map(({ attempt, seen: how }) => [names[attempt ?? 0], how])).toEqual(names.map((name) => [name, 'full']));
};

/** Segments with data of each form, by the port of its client: [seq, bytes, urgent, checksum status, ttl, data]. */
const segmentsOf = async (
  sniffer: Awaited<ReturnType<typeof startSniffer>>,
  { clients }: { clients: ClientObservation[] },
) => {
  const fields = ['tcp.srcport', 'tcp.seq_raw', 'tcp.len', 'tcp.flags.urg', 'ip.ttl', 'tcp.payload'];
  const rows = await sniffer.fields('ip.src==10.99.0.10 && tcp.len>0', fields);
  return clients.map(({ port }) =>
    rows
      .filter(([source]) => Number(source) === port)
      .map(([, seq, length, urgent, ttl, data]) => ({
        ...{ seq: Number(seq), length: Number(length), ttl: Number(ttl), data: data ?? '' },
        isUrgent: urgent === '1' || urgent === 'True',
      })),
  );
};

it('attacks leave in every form of packets, and a server of the kernel behind a router reads the same bytes', async () => {
  const far = `${cable.right.namespace}f`;
  const ip = (...args: string[]) => void execFileSync('ip', args);
  const run = (...args: string[]) => ip('-n', cable.right.namespace, ...args);
  ip('netns', 'add', far);
  onTestFinished(() => ip('netns', 'del', far));
  run('link', 'add', 'mid', 'type', 'veth', 'peer', 'name', 'far', 'netns', far);
  run('addr', 'add', '10.97.0.1/24', 'dev', 'mid');
  run('link', 'set', 'mid', 'up');
  const behind = (...args: string[]) => ip('-n', far, ...args);
  behind('addr', 'add', '10.97.0.2/24', 'dev', 'far');
  behind('link', 'set', 'far', 'up');
  behind('link', 'set', 'lo', 'up');
  behind('route', 'add', 'default', 'via', '10.97.0.1');
  cable.right.run('sysctl', '-qw', 'net.ipv4.ip_forward=1');
  const server: Side = { ...cable.right, namespace: far, device: 'far', address: '10.97.0.2' };
  const sniffer = await startSniffer(cable.right);
  const gateway = cable.right.address;
  const seen = await exchange({ names: forms, server, target: server.address, gateway });
  await sniffer.stop();
  expectWhole(seen, forms);
  // A busy machine captures a part of them.
  const [ones, eights, reversed, overlapping, urgent, wrong, , decoys] = await segmentsOf(sniffer, seen);
  expect(new Set(ones?.map(({ length }) => length))).toEqual(new Set([1]));
  expect(Math.max(...(eights ?? []).map(({ length }) => length))).toBe(8);
  expect(reversed?.slice(0, 5).map(({ seq }) => seq)).toEqual(
    reversed
      ?.slice(0, 5)
      .map(({ seq }) => seq)
      .toSorted((a, b) => b - a),
  );
  const twice = overlapping?.filter(({ seq, length }, i) => {
    const next = overlapping[i + 1];
    return next !== undefined && next.seq > seq && next.seq < seq + length;
  });
  expect(twice?.length).toBeGreaterThan(5);
  expect(urgent?.filter(({ isUrgent }) => isUrgent).length).toBe(1);
  const pairs = wrong?.filter(({ seq, data }, i) => wrong[i + 1]?.seq === seq && wrong[i + 1]?.data !== data);
  expect(pairs?.length).toBeGreaterThan(5);
  const fragments = await sniffer.fields('ip.src==10.99.0.10 && ip.flags.mf==1', ['ip.len']);
  expect(fragments.length).toBeGreaterThan(20);
  expect(new Set(fragments.flat())).toEqual(new Set(['44']));
  // No packet shows what a device would look for, except those with urgent data, whose first half is whole.
  const hidden = Buffer.from(word).toString('hex');
  for (const segments of [ones, eights, reversed, overlapping]) {
    expect(segments?.filter(({ data }) => data.includes(hidden))).toEqual([]);
  }
  for (const ttl of [1, 64]) expect(decoys?.filter((one) => one.ttl === ttl).length).toBeGreaterThan(5);
});

// Packets with a time to live of 1 arrive without a router, and those of one machine have no checksums to be verified.
const local = forms.filter((name) => !name.endsWith('decoy'));

it('emulated hosts read the same bytes', async () => {
  const stack = stackOn(cable.right, '10.99.0.200');
  expectWhole(await exchange({ names: local, server: cable.right, target: '10.99.0.200', stack }), local);
});
