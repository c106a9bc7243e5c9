import { describe, expect, it } from 'vitest';
import { sessionOfSteps, sessionsOfHar } from '../../../security/fuzzing/recorded-session.ts';
import { sidesOf } from '../../testing/plan-fixture.ts';

type Attempt = Record<string, unknown> & { variant: string; expected: string; exchange: Record<string, never> };

const file = { name: 'f', sha256: 'ab'.repeat(32), size: 3, isReady: true };
const login = { kind: 'http', method: 'POST', path: '/login?next=home&lang=en', headers: [] };

const planned = (params: object, options: object = {}) => {
  const values = { fuzzingParams: { protocol: 'http', maxCases: 60, ...params } };
  const { plan, issues, client } = sidesOf(18, values, { files: new Map([[1, file]]), ...options });
  const cases = (plan.attempts[0]?.text ?? '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Attempt);
  return { issues, client, cases, policy: plan.attempts[0]?.policy };
};
const stepsOf = ({ exchange }: Attempt) =>
  (exchange as unknown as { steps: { request: { path: string; body?: { data: string } } }[] }).steps;
const bodyOf = (attempt: Attempt) => Buffer.from(stepsOf(attempt)[0]?.request.body?.data ?? '', 'base64').toString();
const of = (request: object, more: object = {}) => ({ baseline: { kind: 'request', request }, ...more });

describe('targets choose what cases change', () => {
  it('by a pattern of names', () => {
    const { cases } = planned(of(login, { targets: [{ part: 'query', keysRegex: '^la' }] }));
    expect(new Set(cases.map(({ variant }) => variant.replace(/^\S+ /, '')))).toEqual(new Set(['query lang']));
    expect(cases.every((one) => stepsOf(one)[0]?.request.path.includes('next=home&'))).toBe(true);
    expect(planned(of(login, { targets: [{ part: 'query', keysRegex: '(' }] })).issues).toContain(
      'fuzzingParams/targets/0/keysRegex BAD_REGEX',
    );
  });

  it('by a range of bytes', () => {
    const body = 'keep-CHANGE-keep';
    const { cases } = planned(of({ ...login, body }, { targets: [{ part: 'body', offset: 5, length: 6 }] }));
    expect(cases.every((one) => /^keep-.*-keep$/s.test(bodyOf(one)))).toBe(true);
    expect(new Set(cases.map(bodyOf)).size).toBeGreaterThan(20);
    const beyond = planned(of({ ...login, body }, { targets: [{ part: 'body', offset: 99 }] }));
    expect(beyond.issues).toContain('fuzzingParams/targets/0 NO_PART');
  });

  it('by names within cookies, forms and JSON', () => {
    const cookie = { ...login, headers: [{ name: 'Cookie', value: 'a=1; sid=22; b=3' }] };
    const { cases } = planned(of(cookie, { targets: [{ part: 'cookie', keys: ['sid'] }] }));
    const cookies = cases.map((one) => JSON.stringify(stepsOf(one)));
    expect(cookies.every((text) => text.includes('a=1; sid=') && text.includes('; b=3'))).toBe(true);
    const form = planned(of({ ...login, body: 'a=1&b=2&c=3' }, { targets: [{ part: 'body', keys: ['b'] }] }));
    expect(form.cases.every((one) => /^a=1&b=.*&c=3$/s.test(bodyOf(one)))).toBe(true);
    const json = planned(of({ ...login, body: '{"a": 1, "b": "x"}' }, { targets: [{ part: 'body', keys: ['a'] }] }));
    expect(json.cases.every((one) => /^\{"a": .*, "b": "x"\}$/s.test(bodyOf(one)))).toBe(true);
  });
});

describe('a baseline that is recorded', () => {
  const har = {
    log: {
      entries: ['/login', '/cart?item=7'].map((path, i) => ({
        startedDateTime: new Date(i * 1000).toISOString(),
        request: { method: 'GET', url: `http://shop.test${path}`, headers: [{ name: 'Accept', value: '*/*' }] },
        response: { status: 200 + i, headers: [], content: { text: `page ${i}`, size: 6, mimeType: 'text/plain' } },
      })),
    },
  };
  const baseline = { kind: 'har', id: 1 };
  const baselines = new Map([['/configuration/0', sessionsOfHar(JSON.stringify(har))]]);

  it('of a HAR is sent whole, with one message changed', () => {
    const { cases, issues } = planned({ baseline, targets: [{ part: 'query', stepIdx: 1 }] }, { baselines });
    expect(issues).toEqual([]);
    expect(cases.every((one) => stepsOf(one).length === 2 && stepsOf(one)[0]?.request.path === '/login')).toBe(true);
    expect(cases.every(({ variant }) => variant.endsWith('step 1 query item'))).toBe(true);
    expect(JSON.stringify(cases[0])).toContain('"status":201');
  });

  it('of a capture is bytes, answered as recorded', () => {
    const steps = ['EHLO a\r\n', '250 ok\r\n', 'QUIT\r\n', '221 bye\r\n'].map((text, i) => ({
      side: i % 2 === 0 ? ('client' as const) : ('server' as const),
      bytes: Buffer.from(text),
    }));
    const session = sessionOfSteps(steps, { index: 3, transport: 'tcp', isHttp: false });
    const found = { sessions: session === undefined ? [] : [session], leftOut: ['session 4'] };
    const { cases, issues } = planned(
      { protocol: 'smtp', baseline: { kind: 'pcap', id: 1 }, targets: [{ part: 'bytes', sessionIdx: 3, stepIdx: 0 }] },
      { baselines: new Map([['/configuration/0', found]]) },
    );
    expect(issues).toEqual(['warning fuzzingParams/baseline/id BASELINE_CUT']);
    const [{ exchange } = { exchange: {} }] = cases;
    const data = (text: string) => ({ data: Buffer.from(text).toString('base64') });
    expect(exchange).toMatchObject({ answers: [data('250 ok\r\n'), data('221 bye\r\n')] });
    expect((exchange as { sends?: unknown[] }).sends?.[1]).toMatchObject({ content: data('QUIT\r\n') });
  });

  it('that does not exist, cannot be read or does not fit is refused', () => {
    expect(planned({ baseline: { kind: 'har', id: 9 } }).issues).toContain(
      'fuzzingParams/baseline/id BASELINE_UNKNOWN',
    );
    const problem = { problem: { code: 'HAR_BROKEN', message: 'is no HAR' } };
    expect(planned({ baseline }, { baselines: new Map([['/configuration/0', problem]]) }).issues).toContain(
      'fuzzingParams/baseline/id HAR_BROKEN',
    );
    expect(planned({ baseline, protocol: 'smtp' }, { baselines }).issues).toContain(
      'fuzzingParams/protocol PROTOCOL_MISMATCH',
    );
  });
});

it('cases that break the protocol are expected to be refused', () => {
  const { cases } = planned(
    of(login, { targets: [{ part: 'method' }], mutators: [{ name: 'unicode' }, { name: 'integer-edge' }] }),
  );
  const refused = cases.filter(({ expected }) => expected === 'block');
  expect(refused.length).toBeGreaterThan(5);
  expect(refused.length).toBeLessThan(cases.length);
  expect(new Set(refused.map(({ category }) => category))).toEqual(new Set(['the method is no token (RFC 9110, 9.1)']));
});

it('cases may share connections, and reports may list all of them', () => {
  const { client, policy, issues } = planned(of(login, { connectionPerCase: false, record: 'all' }));
  expect(issues).toEqual([]);
  expect(client).toMatchObject({ keepAlive: true });
  expect(policy).toMatchObject({ record: 'all' });
});
