interface Waiting {
  resolve(leave: () => void): void;
}

export interface Places {
  /** Waits in line for a place; call what it resolves to, once or more often, to leave. */
  enter(signal?: AbortSignal): Promise<() => void>;
}

/** A fixed number of places, given out in the order they were asked for. */
export const createPlaces = (count: number): Places => {
  let free = count;
  const line: Waiting[] = [];

  const place = () => {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const next = line.shift();
      if (next) next.resolve(place());
      else free += 1;
    };
  };

  const enter = (signal?: AbortSignal) =>
    new Promise<() => void>((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      if (free > 0) {
        free -= 1;
        return resolve(place());
      }
      const giveUp = () => {
        line.splice(line.indexOf(waiting), 1);
        reject(signal?.reason);
      };
      const waiting: Waiting = {
        resolve: (leave) => {
          signal?.removeEventListener('abort', giveUp);
          resolve(leave);
        },
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      line.push(waiting);
    });

  return { enter };
};
