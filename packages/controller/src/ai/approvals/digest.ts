import { canonicalJson, fingerprintOf } from '../../canonical-json.ts';

/** Equal for equal values, however they are written. */
export const digestOf = (value: unknown): string => `sha256:${fingerprintOf(value)}`;

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
    const member = `${pointer}/${escaped(name)}`;
    if (Object.hasOwn(before, name) && Object.hasOwn(after, name)) {
      yield* differences(before[name], after[name], member);
    } else yield member;
  }
}

const maxPointers = 50;

/** JSON pointers of what differs, never the values. */
export const changedPointers = (before: unknown, after: unknown, max = maxPointers): string[] => {
  const found: string[] = [];
  for (const pointer of differences(before, after, '')) {
    if (found.length >= max) break;
    found.push(pointer);
  }
  return found;
};
