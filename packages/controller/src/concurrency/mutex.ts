/** Runs work one piece at a time, in the order of the calls. */
export const createMutex = () => {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  };
};

export type Mutex = ReturnType<typeof createMutex>;
