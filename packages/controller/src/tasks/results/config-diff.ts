export interface Difference {
  /** JSON pointer. */
  path: string;
  base: unknown;
  target: unknown;
}

const maxDifferences = 1000;

const isBranch = (value: unknown): value is Record<string, unknown> | unknown[] =>
  typeof value === 'object' && value !== null;

const escaped = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1');

/** Where two JSON values differ, deepest places first named. What one of them lacks is null there. */
export const configDiff = (base: unknown, target: unknown): Difference[] => {
  const found: Difference[] = [];
  const compare = (path: string, a: unknown, b: unknown) => {
    if (found.length >= maxDifferences) return;
    if (isBranch(a) && isBranch(b) && Array.isArray(a) === Array.isArray(b)) {
      const [one, other] = [a, b] as Record<string, unknown>[];
      for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
        compare(`${path}/${escaped(key)}`, one?.[key], other?.[key]);
      }
    } else if (JSON.stringify(a) !== JSON.stringify(b)) found.push({ path, base: a ?? null, target: b ?? null });
  };
  compare('', base, target);
  return found;
};
