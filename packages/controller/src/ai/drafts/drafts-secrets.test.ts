import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { createSecrets } from '../../store/engine/secrets.ts';
import { createRedactor, isMark } from '../gateway/redact.ts';
import { generateMark, hideSecrets, markedPointers, resolveSecrets } from './drafts-secrets.ts';

const redactor = createRedactor(createSecrets(randomBytes(32)));
const clear = {
  comment: 'x',
  configuration: [{ values: { ipsecPsk: 'canary-1', rate: 3 } }, { values: { ipsecKey: 'canary-2' } }],
};
const pointers = ['/configuration/0/values/ipsecPsk', '/configuration/1/values/ipsecKey'];
const { task: shown, secrets } = hideSecrets(redactor, clear);
const codesOf = (given: unknown) =>
  resolveSecrets(redactor, given, secrets).issues.map(({ path, code }) => `${code} ${path}`);
const withValues = (index: number, values: object) => {
  const copy = structuredClone(shown) as { configuration: { values: object }[] };
  Object.assign(copy.configuration[index]?.values ?? {}, values);
  return copy;
};

it('takes secrets out and puts them back where they stood', () => {
  expect(JSON.stringify(shown)).not.toContain('canary');
  expect(markedPointers(shown)).toEqual(pointers);
  expect(resolveSecrets(redactor, shown, secrets)).toEqual({ task: clear, issues: [] });
});

it('refuses secrets of keys, marks in other places and marks of other secrets', () => {
  const mark = (shown as typeof clear).configuration[0]?.values.ipsecPsk;
  expect(isMark(mark)).toBe(true);
  expect(codesOf(withValues(0, { ipsecPsk: 'mine' }))).toEqual([`SECRET_NOT_ALLOWED ${pointers[0]}`]);
  expect(codesOf(withValues(1, { ipsecKey: mark }))).toEqual([`MARK_MISPLACED ${pointers[1]}`]);
  expect(codesOf(withValues(0, { other: mark }))).toEqual(['MARK_MISPLACED /configuration/0/values/other']);
  expect(codesOf(withValues(0, { ipsecPsk: '__redacted__:hmac:000000000000' }))).toEqual([
    `MARK_MISPLACED ${pointers[0]}`,
  ]);
});

it('makes secrets up where it is asked to, and only there', () => {
  const { task, issues } = resolveSecrets(redactor, withValues(0, { ipsecPsk: generateMark }), secrets);
  expect(issues).toEqual([]);
  expect(task).toMatchObject({
    configuration: [{ values: { ipsecPsk: expect.stringMatching(/^[0-9a-f]{32}$/) } }, {}],
  });
  expect(codesOf(withValues(0, { rate: generateMark }))).toEqual(['NOT_A_SECRET /configuration/0/values/rate']);
});
