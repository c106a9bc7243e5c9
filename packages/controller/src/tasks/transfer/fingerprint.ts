import { createHash } from 'node:crypto';

/** JSON with sorted members and no blanks: equal values have equal texts. */
const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  const sorted = members.sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${sorted.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join()}}`;
};

export const sha256Of = (content: string | Uint8Array) => createHash('sha256').update(content).digest('hex');

export const fingerprintOf = (value: unknown) => sha256Of(canonical(value));
