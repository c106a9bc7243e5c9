interface Waiting {
  resolve(release: () => void): void;
}

export interface Permits {
  /** Waits in call order for a permit. The result releases it; releasing twice has no effect. */
  acquire(signal?: AbortSignal): Promise<() => void>;
}

/** A fixed number of permits, granted in call order. */
export const createPermits = (count: number): Permits => {
  let free = count;
  const queue: Waiting[] = [];

  const permit = () => {
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      // A waiting caller inherits the permit, so a new caller cannot overtake it.
      const next = queue.shift();
      if (next) next.resolve(permit());
      else free += 1;
    };
  };

  const acquire = (signal?: AbortSignal) =>
    new Promise<() => void>((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      if (free > 0) {
        free -= 1;
        return resolve(permit());
      }
      const giveUp = () => {
        queue.splice(queue.indexOf(waiting), 1);
        reject(signal?.reason);
      };
      const waiting: Waiting = {
        resolve: (release) => {
          signal?.removeEventListener('abort', giveUp);
          resolve(release);
        },
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      queue.push(waiting);
    });

  return { acquire };
};

/** Runs at most `count` pieces of work concurrently; further work waits in call order. */
export const createSemaphore = (count: number) => {
  const { acquire } = createPermits(count);
  return async <T>(work: () => Promise<T>): Promise<T> => {
    const release = await acquire();
    try {
      return await work();
    } finally {
      release();
    }
  };
};
