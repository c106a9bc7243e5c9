import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { createRedactor, isMark } from './redact.ts';

const derive = (purpose: string, input: string) => createHmac('sha256', 'key').update(`${purpose}\0${input}`).digest();
const { redact, redactSealed, markOf } = createRedactor({ derive });

it('secrets become marks wherever they stand, and everything else stays', () => {
  const pem = '-----BEGIN EC PRIVATE KEY-----\nx\n-----END EC PRIVATE KEY-----';
  const found = redact({
    name: 'kept',
    configuration: [{ values: { ipsecPsk: 'canary-1', frameSize: 64 } }],
    headers: [
      { name: 'Authorization', value: 'Bearer canary-2' },
      { name: 'Accept', value: '*/*' },
    ],
    map: { Cookie: 'canary-3' },
    ops: [
      { op: 'replace', path: '/configuration/0/values/ipsecPsk', value: 'canary-5' },
      { op: 'add', path: '/comment', value: 'stays' },
    ],
    private: 'canary-4',
    notes: [pem],
    password: '',
  });
  expect(JSON.stringify(found)).not.toMatch(/canary|PRIVATE/);
  expect(found.ops[1]?.value).toBe('stays');
  expect(found.headers[1]).toEqual({ name: 'Accept', value: '*/*' });
  expect(found.configuration[0]?.values.frameSize).toBe(64);
  expect([found.name, found.password]).toEqual(['kept', '']);
  expect(isMark(found.notes[0])).toBe(true);
});

it('a mark tells equality in the same place and nothing across places', () => {
  expect(markOf('/a', 'x')).toBe(markOf('/a', 'x'));
  expect(markOf('/a', 'x')).not.toBe(markOf('/b', 'x'));
  expect(redact({ psk: 'x' })).toEqual({ psk: markOf('/psk', 'x') });
  expect(redact(redact({ psk: 'x' }))).toEqual({ psk: markOf('/psk', 'x') });
});

it('sealed secrets are marked by their true value', () => {
  const task = { configuration: [{ values: { ipsecPsk: '********' } }] };
  const pointer = '/configuration/0/values/ipsecPsk';
  expect(redactSealed(task, { [pointer]: 'true' })).toEqual({
    configuration: [{ values: { ipsecPsk: markOf(pointer, 'true') } }],
  });
});
