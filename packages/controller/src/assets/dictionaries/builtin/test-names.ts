import type { BuiltinDictionary } from './builtin-dictionary.ts';

const domains = ['shop', 'bank', 'news', 'office', 'school', 'clinic', 'travel', 'games', 'cloud', 'video'];
const hosts = ['www', 'mail', 'api', 'static', 'login'];

/** Names at the edges of what DNS allows. */
const edges = [
  'test',
  'a.test',
  '1.test',
  '0-0.test',
  '_service._tcp.office.test',
  'with--hyphens.test',
  'xn--mnchen-3ya.test',
  'xn--fsqu00a.test',
  'xn--ls8h.test',
  `${'l'.repeat(63)}.test`,
  `${Array.from({ length: 3 }, (_, i) => String(i + 1).repeat(63)).join('.')}.${'z'.repeat(56)}.test`,
  `${Array.from({ length: 60 }, () => 'd').join('.')}.test`,
  'no-such-name.test',
  'slow.test',
  'wildcard.any.of.these.test',
];

export const testNames: BuiltinDictionary = {
  name: 'Names below .test',
  description: 'Host names that can never be real (RFC 6761): services, and names at the edges of what DNS allows',
  tags: 'dns,host',
  selection: 'shuffle',
  columns: ['host'],
  values: [...domains.flatMap((domain) => hosts.map((host) => `${host}.${domain}.test`)), ...edges],
};
