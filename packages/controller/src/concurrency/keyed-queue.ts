/** Work on the same thing is done in the order in which it came; work on different things does not wait. */
export const createMailbox = (onError: (error: unknown, key: number) => void) => {
  const last = new Map<number, Promise<void>>();
  return {
    post: (key: number, work: () => Promise<unknown>): Promise<void> => {
      const before = last.get(key) ?? Promise.resolve();
      const done = before.then(work).then(
        () => {},
        (error) => onError(error, key),
      );
      last.set(key, done);
      void done.then(() => {
        if (last.get(key) === done) last.delete(key);
      });
      return done;
    },
    idle: async () => {
      while (last.size > 0) await Promise.all(last.values());
    },
  };
};
