/** Work that shares the path with others, and work that must have it alone. */
export class Solo {
  #running = 0;
  #alone: Promise<unknown> = Promise.resolve();
  #idle: (() => void)[] = [];

  async shared<T>(work: () => Promise<T>): Promise<T> {
    for (let last: unknown; last !== this.#alone; ) {
      last = this.#alone;
      await last;
    }
    this.#running += 1;
    try {
      return await work();
    } finally {
      this.#running -= 1;
      if (this.#running === 0) for (const resolve of this.#idle.splice(0)) resolve();
    }
  }

  /** Must not be called within shared work, which it waits for. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#alone.then(async () => {
      if (this.#running > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
      return work();
    });
    this.#alone = result.catch(() => {});
    return result;
  }
}
