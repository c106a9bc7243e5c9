/** Concurrent reads of one key share one result, which is dropped in the event-loop iteration after it arrives. */
export const createSharedReads = () => {
  const pending = new Map<string, Promise<unknown>>();
  return <T>(key: string, read: () => Promise<T>): Promise<T> => {
    const known = pending.get(key);
    if (known !== undefined) return known as Promise<T>;
    const reading = read();
    pending.set(key, reading);
    const forget = () => setImmediate(() => pending.delete(key));
    reading.then(forget, forget);
    return reading;
  };
};

export type SharedReads = ReturnType<typeof createSharedReads>;
