/** Keeps the `max` values that were asked for last, because the same task is planned many times. */
export const createRecent = <T>(max: number) => {
  const kept = new Map<string, T>();
  return async (key: string, read: () => Promise<T>): Promise<T> => {
    const found = kept.get(key) ?? (await read());
    kept.delete(key);
    kept.set(key, found);
    for (const oldest of [...kept.keys()].slice(0, Math.max(0, kept.size - max))) kept.delete(oldest);
    return found;
  };
};
