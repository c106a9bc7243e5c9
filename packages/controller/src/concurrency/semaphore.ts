/** Runs at most `atOnce` pieces of work together; the others wait in line. */
export const createTurns = (atOnce: number) => {
  let free = atOnce;
  const waiting: (() => void)[] = [];
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      // The turn is handed on; nobody who comes now can take it.
      if (next) next();
      else free += 1;
    }
  };
};
