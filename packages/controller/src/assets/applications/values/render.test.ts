import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type Parameter, parameterOf } from '../parameter.ts';
import { Renderer } from './render.ts';

const session = {
  sessionIndex: 0,
  srcIp: '10.1.0.1',
  srcPort: 4000,
  dstIp: '10.2.0.1',
  dstPort: 80,
  appProtocol: 'http',
};
const texts = [
  'POST /login HTTP/1.1\r\nHost: app.test\r\nContent-Length: 9\r\n\r\nuser=anna',
  'HTTP/1.1 200 OK\r\nSet-Cookie: sid=0001\r\nContent-Length: 2\r\n\r\nok',
  'GET / HTTP/1.1\r\nCookie: sid=0001\r\n\r\n',
];
const at = (stepIdx: number, text: string) => {
  const side = stepIdx === 1 ? ('server' as const) : ('client' as const);
  return { sessionIdx: 0, stepIdx, side, offset: texts[stepIdx]?.indexOf(text) ?? 0, length: text.length };
};
const rendered = (parameters: Parameter[], values: Record<string, string> = {}, mode = 'stateful') => {
  const renderer = new Renderer({
    mode,
    parameters,
    sessions: [session],
    step: (sessionIdx, stepIdx) => ({
      sessionIdx,
      stepIdx,
      side: stepIdx === 1 ? 'server' : 'client',
      atMs: stepIdx,
      bytes: Buffer.from(texts[stepIdx] ?? ''),
    }),
    values,
    startedAtMs: 1_700_000_000_000,
  });
  const steps = texts.map((_, stepIdx) => renderer.step(0, stepIdx));
  return { steps, texts: steps.map(({ bytes }) => Buffer.from(bytes).toString()), issues: renderer.issues };
};

const user = parameterOf({ name: 'user', defaultValue: 'bartholomew', stepsMappings: [at(0, 'anna')] });
const sid = parameterOf({ name: 'sid', defaultValue: '77', stepsMappings: [at(1, '0001')] });
const echo = parameterOf({
  name: 'echo',
  source: 'extract',
  extractStepIdx: 1,
  extractOffset: at(1, '0001').offset,
  extractLength: 4,
  stepsMappings: [at(2, '0001')],
});

describe('rendered steps', () => {
  test('are the recorded ones where nothing is mapped', () => {
    const { steps, texts: same } = rendered([]);
    expect(same).toEqual(texts);
    expect(steps[0]?.sha256).toBe(
      createHash('sha256')
        .update(texts[0] ?? '')
        .digest('hex'),
    );
  });

  test('carry values, a right Content-Length, and what was extracted from the substituted bytes', () => {
    const { texts: out, issues } = rendered([user, sid, echo]);
    expect(issues).toEqual([]);
    expect(out[0]).toContain('Content-Length: 16\r\n\r\nuser=bartholomew');
    expect(out[1]).toContain('sid=77\r\n');
    expect(out[2]).toContain('Cookie: sid=77\r\n');
    expect(rendered([user, sid, echo], { user: 'x', sid: '1234567' }).texts[2]).toContain('Cookie: sid=1234567\r\n');
  });

  test('keep the recorded bytes where a value does not fit, and say so', () => {
    const { texts: out, issues } = rendered([user], {}, 'packet');
    expect(out).toEqual(texts);
    expect(issues).toMatchObject([{ path: '/parameters/0', code: 'VALUE_UNFIT', severity: 'error' }]);
    expect(rendered([user], { user: 'bo' }, 'packet').texts[0]).toContain('user=bo  ');
    const drawn = { ...user, source: 'dictionary', defaultValue: 'dict/1/login' };
    expect(rendered([drawn]).issues).toMatchObject([{ code: 'VALUE_MISSING', severity: 'warning' }]);
  });
});
