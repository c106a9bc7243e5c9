/** Work that must not overlap is done in the order in which it was given. */
export const createTurns = () => {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  };
};

export type InTurn = ReturnType<typeof createTurns>;
