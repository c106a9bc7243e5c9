/** Runs work with the same key in order, one piece at a time; work with different keys runs concurrently. */
export const createKeyedQueue = <Key extends string | number>() => {
  const last = new Map<Key, Promise<unknown>>();
  const run = async <T>(key: Key, work: () => Promise<T>): Promise<T> => {
    const result = (last.get(key) ?? Promise.resolve()).then(work, work);
    const settled = result.catch(() => {});
    last.set(key, settled);
    try {
      return await result;
    } finally {
      if (last.get(key) === settled) last.delete(key);
    }
  };
  /** Whether work with this key is queued or running. */
  const isBusy = (key: Key) => last.has(key);
  /** Resolves when no work is queued or running. */
  const idle = async () => {
    while (last.size > 0) await Promise.all(last.values());
  };
  return { run, isBusy, idle };
};
