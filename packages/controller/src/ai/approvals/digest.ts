import { hash } from 'node:crypto';

/** JSON as RFC 8785 writes it: members sorted by code units, numbers and strings as ECMAScript does, no blanks. */
export const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  const sorted = members.sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${sorted.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join()}}`;
};

/** The same for values that mean the same, however they are written down. */
export const digestOf = (value: unknown): string => `sha256:${hash('sha256', canonicalJson(value), 'hex')}`;

const isHolder = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const escaped = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');

const namesOf = (value: Record<string, unknown>) => Object.keys(value).filter((name) => value[name] !== undefined);

function* differences(before: unknown, after: unknown, pointer: string): Generator<string> {
  const areAlike = isHolder(before) && isHolder(after) && Array.isArray(before) === Array.isArray(after);
  if (!areAlike) {
    if (canonicalJson(before ?? null) !== canonicalJson(after ?? null)) yield pointer;
    return;
  }
  for (const name of new Set([...namesOf(before), ...namesOf(after)])) {
    const place = `${pointer}/${escaped(name)}`;
    if (Object.hasOwn(before, name) && Object.hasOwn(after, name)) {
      yield* differences(before[name], after[name], place);
    } else yield place;
  }
}

const mostPointers = 50;

/** JSON pointers of what differs, never the values. */
export const changedPointers = (before: unknown, after: unknown, most = mostPointers): string[] => {
  const found: string[] = [];
  for (const pointer of differences(before, after, '')) {
    if (found.length >= most) break;
    found.push(pointer);
  }
  return found;
};
