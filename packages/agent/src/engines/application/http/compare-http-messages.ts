import { describeDifference, firstDifference } from '../session/difference.ts';
import type { Fault } from '../session/receive-step.ts';
import { type Field, type HttpMessage, methodOf, statusOf, targetOf } from './http-message.ts';

/**
 * Fields that are hop-by-hop, describe the framing of the body (the body itself is compared), or may be rewritten by a
 * proxy.
 */
const proxyFields = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  ...['content-length', 'expect', 'host', 'via', 'forwarded', 'x-real-ip', 'max-forwards'],
  ...['server', 'date', 'age'],
]);

const isProxyField = (name: string): boolean => proxyFields.has(name) || name.startsWith('x-forwarded-');

/** The first difference between two messages; undefined when they are equivalent. */
export const compareMessages = (expected: HttpMessage, arrived: HttpMessage, kind: 'request' | 'response') => {
  const start = compareStart(expected, arrived, kind) ?? compareFields(expected, arrived);
  if (start !== undefined) return fault(start, 0);
  const at = firstDifference(expected.body, arrived.body);
  return at === undefined
    ? undefined
    : fault(`has a body that ${describeDifference(expected.body, arrived.body, at)}`, at);
};

const fault = (text: string, at: number): Fault => ({ kind: 'modified', text, at });

const compareStart = (expected: HttpMessage, arrived: HttpMessage, kind: 'request' | 'response') => {
  if (kind === 'response') {
    const [wanted, found] = [statusOf(expected), statusOf(arrived)];
    return wanted === found ? undefined : `has status ${found} instead of ${wanted}`;
  }
  const [wanted, found] = [expected, arrived].map((message) => `${methodOf(message)} ${targetOf(message)}`);
  return wanted === found ? undefined : `asks ${found} instead of ${wanted}`;
};

const compareFields = (expected: HttpMessage, arrived: HttpMessage): string | undefined => {
  const named = new Set(
    [expected, arrived].flatMap(({ fields }) =>
      fields.filter(({ name }) => name === 'connection').flatMap(({ value }) => value.toLowerCase().split(/\s*,\s*/)),
    ),
  );
  const wanted = valuesByName(expected.fields, named);
  const found = valuesByName(arrived.fields, named);
  for (const [name, value] of wanted) {
    const other = found.get(name);
    if (other === undefined) return `lacks the field ${name}: ${JSON.stringify(value)}`;
    if (other !== value) return `has the field ${name}: ${JSON.stringify(other)} instead of ${JSON.stringify(value)}`;
  }
  for (const [name, value] of found) {
    if (!wanted.has(name)) return `has the field ${name}: ${JSON.stringify(value)}, which was not sent`;
  }
  return undefined;
};

/** Joins repeated fields; the order of different fields is irrelevant. */
const valuesByName = (fields: readonly Field[], leftOut: ReadonlySet<string>): Map<string, string> => {
  const values = new Map<string, string>();
  for (const { name, value } of fields) {
    if (isProxyField(name) || leftOut.has(name)) continue;
    const before = values.get(name);
    values.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return values;
};
