/** Runs at most `permits` pieces of work concurrently; further work waits in call order. */
export const createSemaphore = (permits: number) => {
  let free = permits;
  const waiting: (() => void)[] = [];
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      // A waiting caller inherits the permit, so a new caller cannot overtake it.
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
};
