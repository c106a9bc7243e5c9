import { requireLibc } from '../kernel/libc.ts';
import { discardFreeBlocks } from '../transport/send-queue.ts';

const quietMs = 1000;
/** Fewer are not worth the time. */
const minHandshakes = 500;

/**
 * Many handshakes at once need more than twice the memory of the sessions that remain. It is given back once no
 * handshake has ended for a while.
 */
class HandshakeMemory {
  #count = 0;
  #countBefore = 0;
  #timer: NodeJS.Timeout | undefined;

  handshakeDone(): void {
    this.#count++;
    this.#timer ??= setInterval(() => this.#look(), quietMs).unref();
  }

  #look(): void {
    const isQuiet = this.#count === this.#countBefore;
    this.#countBefore = this.#count;
    if (!isQuiet) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (this.#count >= minHandshakes) {
      requireLibc().trimHeap();
      discardFreeBlocks();
    }
    this.#count = 0;
    this.#countBefore = 0;
  }
}

/** That of this thread. */
export const handshakeMemory = new HandshakeMemory();
