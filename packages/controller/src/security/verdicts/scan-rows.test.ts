import type { Attempt, AttemptRecord, ClientObservation, ServerObservation } from '@rushhour/protocol';
import { expect, it } from 'vitest';
import { defaultPolicy } from './evidence.ts';
import { joinRecords } from './join-records.ts';

const scanAttempt = (id: number, port: number, isOpen: boolean): Attempt => ({
  ...{ id, kind: 'campaign', refId: 12, refName: 'Discovery', variant: '1 sweep', category: 'discovery' },
  ...{ expected: 'block', severity: 'medium', techniques: ['T1046'], direction: 'c2s', service: 'raw-tcp-22' },
  exchange: { protocol: 'scan', port, isOpen, timeoutMs: 500 },
});

const looked = (attempt: number, connect: ClientObservation['connect'], more: object = {}): ClientObservation => ({
  ...{ side: 'client', attempt, target: '10.0.0.9:22', ip: connect === 'ok' ? '10.0.0.1' : '', port: 0, connect },
  ...{ isComplete: true, sentBytes: 0, sentSha256: '', end: 'none', status: 0, rxBytes: 0, rxSha256: '' },
  ...{ responseIsOurs: false, ttfbMs: 0, startedMs: 1000 + attempt, endedMs: 1002 + attempt, isShunned: false },
  ...more,
});
const asked = (port: number, more: Partial<ServerObservation> = {}): ServerObservation => ({
  ...{ side: 'server', attempt: null, step: 0, correlation: 'none', ip: '10.0.0.9', port, peerIp: '10.0.0.1' },
  ...{ peerPort: 40_000, seen: 'connected', rxBytes: 0, rxSha256: '', sentBytes: 0, sentSha256: '', end: 'none' },
  ...{ atMs: 1001, ...more },
});
const control = (isGood: boolean, startedMs: number): AttemptRecord => ({
  ...{ side: 'control', reason: 'before', service: 'raw-tcp-22', target: '10.0.0.9:22', ip: '10.0.0.1', isGood },
  ...{ detail: '', startedMs, endedMs: startedMs + 1 },
});

interface Case {
  readonly isOpen: boolean;
  readonly seen: ClientObservation;
  readonly arrived: readonly ServerObservation[];
  readonly after?: boolean;
}

const judge = ({ isOpen, seen, arrived, after = true }: Case) => {
  const records = [control(true, 1), seen, ...arrived, control(after, 5000)];
  const [result] = joinRecords({
    attempts: [scanAttempt(0, 80, isOpen)],
    policy: defaultPolicy,
    jobRecords: [{ agentId: 1, orderIndex: 0, startAfterMs: 0, records }],
    t0: 0,
    name: 'test',
  });
  return `${result?.outcome} ${result?.mechanism ?? ''} ${result?.reason.split(':')[0]}`;
};

it.each([
  ['an open port that accepts', { isOpen: true, seen: looked(0, 'ok'), arrived: [asked(80)] }, /^passed .*found open/],
  [
    'a closed port that its machine refuses',
    { isOpen: false, seen: looked(0, 'refused'), arrived: [asked(80)] },
    /^passed .*found closed/,
  ],
  [
    'a refusal of which the machine knows nothing',
    { isOpen: false, seen: looked(0, 'refused'), arrived: [] },
    /^blocked connect-refused/,
  ],
  [
    'another port that was asked for',
    { isOpen: false, seen: looked(0, 'refused'), arrived: [asked(81)] },
    /^blocked connect-refused/,
  ],
  [
    'a look at another time',
    { isOpen: false, seen: looked(0, 'refused'), arrived: [asked(80, { atMs: 60_000 })] },
    /^blocked connect-refused/,
  ],
  ['silence', { isOpen: true, seen: looked(0, 'timeout'), arrived: [] }, /^blocked silent-drop/],
  [
    'silence of a path that is gone',
    { isOpen: true, seen: looked(0, 'timeout'), arrived: [], after: false },
    /^inconclusive .*device_unreachable/,
  ],
  ['an error of ICMP', { isOpen: true, seen: looked(0, 'unreachable'), arrived: [] }, /^blocked icmp/],
  ['a lost answer', { isOpen: true, seen: looked(0, 'timeout'), arrived: [asked(80)] }, /^blocked response-blocked/],
  [
    'a sender that is shut out',
    { isOpen: false, seen: looked(0, 'timeout', { isShunned: true }), arrived: [], after: false },
    /^blocked silent-drop client_shunned/,
  ],
  [
    'a closed port that a device opens',
    { isOpen: false, seen: looked(0, 'ok'), arrived: [] },
    /^modified content-replaced/,
  ],
  ['a device that accepts instead', { isOpen: true, seen: looked(0, 'ok'), arrived: [] }, /^inconclusive .*a device/],
] as const)('a look at a port: %s', (_, given, verdict) => {
  expect(judge(given)).toMatch(verdict);
});

it('one request to connect explains one look only', () => {
  const records = [control(true, 1), looked(0, 'refused'), looked(1, 'refused'), asked(80), control(true, 5000)];
  const results = joinRecords({
    attempts: [scanAttempt(0, 80, false), scanAttempt(1, 80, false)],
    policy: defaultPolicy,
    jobRecords: [{ agentId: 1, orderIndex: 0, startAfterMs: 0, records }],
    t0: 0,
    name: 'test',
  });
  expect(results.map(({ outcome }) => outcome)).toEqual(['passed', 'blocked']);
});
