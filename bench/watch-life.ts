export const timesOf = async (work: () => Promise<unknown>, times: number) => {
  const found: number[] = [];
  for (let i = 0; i < times; i += 1) {
    const before = performance.now();
    await work();
    found.push(performance.now() - before);
  }
  return found.sort((a, b) => a - b);
};

export const p99 = (times: readonly number[]) => times[Math.ceil(times.length * 0.99) - 1] ?? Number.POSITIVE_INFINITY;

/** Asks for `/livez` all the time, and returns the function that ends it with the slowest of a hundred answers. */
export const watchLife = (url: string) => {
  const times: number[] = [];
  let isOn = true;
  const done = (async () => {
    while (isOn) {
      times.push(...(await timesOf(() => fetch(`${url}/livez`).then((reply) => reply.text()), 1)));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  return async () => {
    isOn = false;
    await done;
    return p99(times.sort((a, b) => a - b));
  };
};
