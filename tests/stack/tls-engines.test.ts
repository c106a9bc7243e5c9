import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSelfSigned } from '@rushhour/agent';
import type { Attempt, AttemptRecord, ClientObservation, HostStack, ServerObservation } from '@rushhour/protocol';
import { expect, it, onTestFinished } from 'vitest';
import { harOf } from '../../packages/controller/src/assets/har/testing/har-fixture.ts';
import { forget, recordShop } from '../engines/application/capture.ts';
import { compiledFiles, exact } from '../engines/har-replay/recording.ts';
import { runJobIn, type Side, startJobIn } from '../engines/namespaces.ts';
import { useCable } from '../engines/use-cable.ts';

const cable = useCable('test');
const serverHost = '10.99.0.200';
const identity = createSelfSigned(['a.test', 'b.test']);
const tls = { verify: true, ca: identity.certificate, resumption: 'psk' };
const untilStopped = { mode: 'continuous' } as const;

const stackOn = ({ device }: Side, hosts: string, start: string): HostStack => {
  const subnet = '10.99.0.0/24';
  const macs = { network: { subnet, macPolicy: { mode: 'perIp', start } }, records: [] };
  return { interface: device, networks: [{ subnet, hosts: [hosts], macs }], vlan: [], header: {}, tcp: {} };
};
const servers = () => stackOn(cable.right, serverHost, '02:bb:00:00:00:00');
const clients = () => stackOn(cable.left, '10.99.0.10-10.99.0.12', '02:aa:00:00:00:01');

it('emulated hosts replay a recording over TLS, by HTTP/1.1 and HTTP/2, and in the clear', async () => {
  const text = 'abcdefghij'.repeat(20_000);
  const { script, answers } = compiledFiles(
    harOf(
      { url: 'https://a.test/1', version: 'http/1.1', text },
      { url: 'https://b.test/2', version: 'h2', atMs: 5, text },
      { url: 'http://a.test/3', atMs: 10, text },
    ),
    exact,
  );
  const server = await startJobIn(cable.right, {
    engine: 'har-replay',
    config: {
      role: 'server',
      listen: [{ host: '0.0.0.0', port: 8443 }],
      names: ['a.test', 'b.test'],
      tls: { ...identity },
      answers,
    },
    duration: untilStopped,
    stack: servers(),
  });
  const targets = [{ host: serverHost, port: 8443, place: 0 }];
  const client = await runJobIn(cable.left, {
    engine: 'har-replay',
    config: { role: 'client', targets, script, tls, users: 3, iterations: 2, connections: 'perEntry' },
    duration: untilStopped,
    stack: clients(),
  });
  const served = await server.stop();
  expect([client.outcome.error, served.outcome.error]).toEqual([undefined, undefined]);
  expect([client.counter('har-replay.ok'), client.counter('har-replay.requests')]).toEqual([18, 18]);
  expect(client.counter('har-replay.connections')).toBe(18);
  expect(served.counter('har-replay.served')).toBe(18);
  expect(client.counter('stack.rxFrames')).toBeGreaterThan((18 * text.length) / 1500);
});

it('emulated hosts replay an application over TLS', async () => {
  const shop = await recordShop();
  onTestFinished(() => forget(shop));
  const play = {
    ...{ name: 'shop', capture: shop.file, sessions: [{ sessionIndex: 0 }, { sessionIndex: 1 }] },
    ...{ speed: { mode: 'max' }, users: 3, seed: 'a', timeoutMs: 5000 },
  };
  const server = await startJobIn(cable.right, {
    engine: 'application',
    config: {
      role: 'server',
      applications: [play],
      listen: [{ host: '0.0.0.0', port: 8443, recorded: shop.port }],
      tls: { ...identity },
    },
    duration: untilStopped,
    stack: servers(),
  });
  const client = await runJobIn(cable.left, {
    engine: 'application',
    config: {
      role: 'client',
      applications: [play],
      targets: [{ host: serverHost, ports: [{ recorded: shop.port, ports: [8443] }] }],
      shares: [{ firstUser: 0, users: 3, iterations: 4, load: {} }],
      tls: { ...tls, sni: 'a.test' },
    },
    duration: untilStopped,
    stack: clients(),
  });
  const served = await server.stop();
  expect([client.outcome.error, served.outcome.error]).toEqual([undefined, undefined]);
  expect([client.counter('application.ok'), client.counter('application.ko')]).toEqual([24, 0]);
  expect(served.counter('application.mismatches')).toBe(0);
  expect(client.counter('stack.rxFrames')).toBeGreaterThan(24);
});

it.each(['dot', 'doh'])('emulated hosts ask and answer DNS by TLS: %s', async (transport) => {
  const server = await startJobIn(cable.right, {
    engine: 'dns',
    config: {
      role: 'server',
      listen: [{ host: '0.0.0.0', port: 8853, transport }],
      tls: { ...identity },
      answers: [{ name: 'www.example.test', type: 'A', data: '192.0.2.10' }],
    },
    duration: untilStopped,
    stack: servers(),
  });
  const asking = { transport, targets: [{ host: serverHost, port: 8853 }], names: ['www.example.test'], sockets: 3 };
  const client = await runJobIn(cable.left, {
    engine: 'dns',
    config: { role: 'client', ...asking, tls: { ...tls, sni: 'a.test' }, concurrency: 20, timeoutMs: 10_000 },
    duration: { mode: 'count', count: 300 },
    stack: clients(),
  });
  const served = await server.stop();
  expect([client.outcome.error, served.outcome.error]).toEqual([undefined, undefined]);
  expect([client.counter('dns.rcode.NOERROR'), client.counter('dns.connections')]).toEqual([300, 3]);
  expect(served.counter('dns.answered')).toBe(300);
});

const callForm = { method: 'POST', headers: [{ name: 'content-type', value: 'application/grpc' }] };
it.each([
  ['WebSockets', { webSocket: { isCompressed: true, message: { type: 'text', data: 'hello' } } }, {}],
  ['gRPC calls', { version: '2', grpc: { call: 'bidirectional', messages: 3 } }, callForm],
])('emulated hosts carry %s over TLS', async (_, mode, form) => {
  const server = await startJobIn(cable.right, {
    engine: 'http',
    config: { role: 'server', listen: [{ host: '0.0.0.0', port: 8443 }], tls: { ...identity }, ...mode },
    duration: untilStopped,
    stack: servers(),
  });
  const common = { targets: [{ host: serverHost, port: 8443 }], connections: 3, tls: { ...tls, sni: 'a.test' } };
  const client = await runJobIn(cable.left, {
    engine: 'http',
    config: { role: 'client', ...common, ...mode, ...form },
    duration: { mode: 'count', count: 120 },
    stack: clients(),
  });
  const served = await server.stop();
  expect([client.outcome.error, served.outcome.error]).toEqual([undefined, undefined]);
  const messages = 'grpc' in mode ? 360 : 120;
  expect(client.counter('http.messagesReceived')).toBe(messages);
  expect(served.counter('http.messagesReceived')).toBe(messages);
});

const attempt = (id: number, version: '1.1' | '2', more: object = {}): Attempt => {
  const headers = [{ name: 'Host', value: 'a.test' }];
  const request = { method: 'POST', path: `/${id}`, version, headers, body: { data: 'eA==' } };
  const answer = { mode: 'echo', status: 200, headers: [] };
  return {
    ...{ id, kind: 'waf', refId: 0, refName: `${id}`, variant: 'plain', category: 'sqli', expected: 'block' },
    ...{ severity: 'high', techniques: [], direction: 'c2s', service: 'http' },
    exchange: { protocol: 'http', steps: [{ request, answer }], ...more } as unknown as Attempt['exchange'],
  };
};

it('emulated hosts send attacks over TLS, whole, in small segments and by HTTP/2', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-tls-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'attempts');
  const list = [attempt(0, '1.1'), attempt(1, '1.1', { packets: 'tcp-segment-8' }), attempt(2, '2')];
  writeFileSync(file, list.map((one) => `${JSON.stringify(one)}\n`).join(''));
  const shared = { runToken: 'test1', proofKey: 'a key that both ends know' };
  const service = { service: 'http', protocol: 'http', transport: 'tcp', isTls: true };
  const server = await startJobIn(cable.right, {
    engine: 'waf',
    config: {
      role: 'server',
      listen: [{ host: '0.0.0.0', port: 8443, ...service }],
      attempts: file,
      tls: { ...identity },
      ...shared,
    },
    duration: untilStopped,
    stack: servers(),
  });
  const client = await runJobIn(cable.left, {
    engine: 'waf',
    config: {
      role: 'client',
      targets: [{ host: serverHost, port: 8443, ...service }],
      attempts: file,
      timeoutMs: 5000,
      tls: { ...tls, resumption: 'none', sni: 'a.test' },
      ...shared,
    },
    duration: untilStopped,
    stack: clients(),
  });
  const served = await server.stop();
  const recordsOf = <T>({ summaries }: typeof client, side: AttemptRecord['side']) =>
    summaries.flatMap(({ records = [] }) => records as AttemptRecord[]).filter((one) => one.side === side) as T[];
  const sent = recordsOf<ClientObservation>(client, 'client').toSorted((a, b) => a.attempt - b.attempt);
  expect(sent.map(({ end, responseIsOurs }) => [end, responseIsOurs])).toEqual(list.map(() => ['response', true]));
  const arrived = recordsOf<ServerObservation>(served, 'server')
    .filter((one) => one.attempt !== null)
    .toSorted((a, b) => (a.attempt ?? 0) - (b.attempt ?? 0));
  expect(arrived.map(({ seen }) => seen)).toEqual(list.map(() => 'full'));
  // What TLS offered is known on both sides; the server of HTTP/2 does not report it.
  expect(arrived.slice(0, 2).map(({ tls: hello }) => hello)).toEqual(sent.slice(0, 2).map(({ tls: hello }) => hello));
  expect(sent[0]?.tls?.ja4).toMatch(/^t13d/);
});
