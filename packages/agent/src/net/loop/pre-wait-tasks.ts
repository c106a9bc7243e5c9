/** Something that buffers data to send. */
export interface Flushable {
  flush(): void;
}

/** Tasks to run before the next wait. Tasks added while they run are left for the time after the wait. */
export class PreWaitTasks {
  #actions: (() => void)[] = [];
  /** Two lists used alternately: both keep their capacity, so scheduling a flush allocates nothing. */
  #scheduled: Flushable[] = [];
  #emptied: Flushable[] = [];
  #count = 0;

  get isEmpty(): boolean {
    return this.#count === 0 && this.#actions.length === 0;
  }

  /** Runs `action` later, outside of the current call. */
  defer(action: () => void): void {
    this.#actions.push(action);
  }

  /** Calls `flush` once, outside of the current call. */
  scheduleFlush(target: Flushable): void {
    this.#scheduled[this.#count++] = target;
  }

  run(): void {
    if (this.#actions.length > 0) {
      const actions = this.#actions;
      this.#actions = [];
      for (const action of actions) action();
    }
    this.flush();
  }

  /** Runs the scheduled flushes only, not the deferred actions. */
  flush(): void {
    const [scheduled, count] = [this.#scheduled, this.#count];
    this.#scheduled = this.#emptied;
    this.#emptied = scheduled;
    this.#count = 0;
    for (let index = 0; index < count; index++) (scheduled[index] as Flushable).flush();
  }
}
