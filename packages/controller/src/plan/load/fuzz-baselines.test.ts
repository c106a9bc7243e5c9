import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { shopCapture, shopSteps } from '../../assets/applications/testing/shop-capture.ts';
import type { PlanApplication } from '../core/plan-input.ts';
import { entryOf } from '../testing/plan-fixture.ts';
import { fuzzBaselineRequests, readFuzzBaselines } from './fuzz-baselines.ts';

const capture = { name: 'shop.pcap', sha256: 'ab'.repeat(32), size: 1, isReady: true };
const read = readFuzzBaselines({ read: async () => Readable.from([shopCapture()]) });

/** Of an application that plays session 2 alone. */
const application = {
  ...{ clientIp: '', parameters: [], capture },
  sessions: [{ sessionIndex: 2 }],
} as unknown as PlanApplication;

const baselineOf = async (fuzzingParams: object) => {
  const configuration = [entryOf(18, { fuzzingParams })];
  const requests = fuzzBaselineRequests(configuration, new Map([[1, capture]]), new Map([[1, application]]));
  const found = (await read(requests)).get('/configuration/0');
  if (found === undefined || 'problem' in found) throw new Error(JSON.stringify(found));
  return found;
};

it('sessions of a capture are read as requests of HTTP', async () => {
  const { sessions, leftOut } = await baselineOf({ protocol: 'http', baseline: { kind: 'pcap', id: 1 } });
  expect(leftOut).toEqual([]);
  expect(sessions.map(({ index, requests }) => [index, requests.length])).toEqual([
    [0, 2],
    [2, 1],
  ]);
  expect(sessions[0]?.requests[0]).toMatchObject({ method: 'POST', path: '/login' });
  expect(sessions[0]?.requests[1]).toMatchObject({
    path: '/cart',
    headers: expect.arrayContaining([{ name: 'Cookie', value: 'sid=8f3a99c04d' }]),
  });
  expect(sessions[0]?.responses.map(({ body }) => body.toString())).toEqual(['hello', 'cart of anna']);
});

it('sessions of a capture are bytes for other protocols, and targets choose among them', async () => {
  const params = { protocol: 'tcp', baseline: { kind: 'pcap', id: 1 }, targets: [{ part: 'bytes', sessionIdx: 0 }] };
  const { sessions } = await baselineOf(params);
  expect(sessions.map(({ index }) => index)).toEqual([0]);
  expect(sessions[0]?.requests.map((one) => one.kind === 'raw' && one.data.toString())).toEqual([
    shopSteps[0],
    shopSteps[2],
  ]);
  const datagrams = await baselineOf({ protocol: 'udp', baseline: { kind: 'pcap', id: 1 } });
  expect(datagrams.sessions).toMatchObject([{ index: 1, requests: [{ transport: 'udp' }] }]);
});

it('of an application only its own sessions are changed', async () => {
  const { sessions } = await baselineOf({ protocol: 'http', baseline: { kind: 'application', id: 1 } });
  expect(sessions).toMatchObject([{ index: 2, requests: [{ path: '/other' }] }]);
});
