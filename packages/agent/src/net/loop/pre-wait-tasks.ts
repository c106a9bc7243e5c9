/** Something that gathers what is to be sent. */
export interface Flushable {
  flush(): void;
}

/** What is to be done before the next wait. What comes up meanwhile is for the time after it. */
export class Errands {
  #actions: (() => void)[] = [];
  /** Two lists that take turns: they are filled again and again, and never have to grow for that. */
  #booked: Flushable[] = [];
  #emptied: Flushable[] = [];
  #count = 0;

  get isNone(): boolean {
    return this.#count === 0 && this.#actions.length === 0;
  }

  /** Outside of the call that asks for it. */
  soon(action: () => void): void {
    this.#actions.push(action);
  }

  /** Calls `flush` once, outside of the call that asks for it. */
  flushLater(what: Flushable): void {
    this.#booked[this.#count++] = what;
  }

  run(): void {
    if (this.#actions.length > 0) {
      const actions = this.#actions;
      this.#actions = [];
      for (const action of actions) action();
    }
    this.flush();
  }

  /** Of what is to be done only the sending. */
  flush(): void {
    const [booked, count] = [this.#booked, this.#count];
    this.#booked = this.#emptied;
    this.#emptied = booked;
    this.#count = 0;
    for (let index = 0; index < count; index++) (booked[index] as Flushable).flush();
  }
}
