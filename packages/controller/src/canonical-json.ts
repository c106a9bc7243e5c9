import { hash } from 'node:crypto';

/** JSON after RFC 8785: members sorted by code units, numbers and strings as ECMAScript writes them, no white space. */
export const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  const sorted = members.sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${sorted.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join()}}`;
};

/** SHA-256 in hex of the canonical JSON: equal for equal values, independent of the order of members. */
export const fingerprintOf = (value: unknown): string => hash('sha256', canonicalJson(value), 'hex');
