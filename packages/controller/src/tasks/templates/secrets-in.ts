import { secretValues } from '@rushhour/contract';

const secretNames = new Set<string>(secretValues);

export interface FoundSecret {
  /** JSON pointer. */
  readonly path: string;
  readonly name: string;
  /** The object that contains it. */
  readonly holder: Record<string, unknown>;
}

/** Texts in a task that are secrets, masks included. */
export const secretsIn = (task: unknown): FoundSecret[] => {
  const found: FoundSecret[] = [];
  const walk = (value: unknown, path: string) => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, member] of Object.entries(value)) {
      const pointer = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      if (secretNames.has(name) && typeof member === 'string' && member !== '') {
        found.push({ path: pointer, name, holder: value as Record<string, unknown> });
      } else walk(member, pointer);
    }
  };
  walk(task, '');
  return found;
};
