/**
 * Reads that many ask for at the same moment are done once. An answer holds until the turn of the event loop ends:
 * whoever is woken later reads anew.
 */
export const createSharedReads = () => {
  const underWay = new Map<string, Promise<unknown>>();
  return <T>(key: string, read: () => Promise<T>): Promise<T> => {
    const known = underWay.get(key);
    if (known !== undefined) return known as Promise<T>;
    const reading = read();
    underWay.set(key, reading);
    const forget = () => setImmediate(() => underWay.delete(key));
    reading.then(forget, forget);
    return reading;
  };
};

export type SharedReads = ReturnType<typeof createSharedReads>;
