/**
 * A write that the system takes at once calls back before the event loop turns, so a sender that goes on in the callback
 * would keep timers and other sockets waiting for ever. This lets so many actions pass in one turn and the rest in later ones.
 */
export class Turns {
  readonly #most: number;
  readonly #waiting: (() => void)[] = [];
  #passed = 0;
  #isBooked = false;

  constructor(most: number) {
    this.#most = most;
  }

  pass(action: () => void): void {
    if (!this.#isBooked) {
      this.#isBooked = true;
      setImmediate(this.#turn);
    }
    if (this.#passed++ < this.#most) action();
    else this.#waiting.push(action);
  }

  readonly #turn = (): void => {
    this.#isBooked = false;
    this.#passed = 0;
    for (const action of this.#waiting.splice(0, this.#most)) this.pass(action);
    if (this.#waiting.length > 0 && !this.#isBooked) {
      this.#isBooked = true;
      setImmediate(this.#turn);
    }
  };
}
