import type { StatelessServerConfig } from '@rushhour/protocol';
import type { Samples } from '../../engine.ts';
import { messagesOf } from '../../net/load/payload.ts';
import { cyclerOf } from '../../net/load/rotation.ts';
import { countError } from '../../net/metrics/count-error.ts';

const printable = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join('');

/** The first lines of the RFC 864 pattern: 72 characters each, shifted by one character per line. */
export const chargenText = (lines: number): Buffer =>
  Buffer.from(
    Array.from(
      { length: lines },
      (_, line) => `${(printable + printable).slice(line % 95, (line % 95) + 72)}\r\n`,
    ).join(''),
  );

/** Limits events per second, in windows of one second. */
class RateLimit {
  readonly #max: number;
  #second = 0;
  #count = 0;

  constructor(max: number) {
    this.#max = max;
  }

  allows(): boolean {
    if (this.#max === 0) return true;
    const second = Math.floor(performance.now() / 1000);
    if (second !== this.#second) [this.#second, this.#count] = [second, 0];
    return ++this.#count <= this.#max;
  }
}

/** Builds responses and counts traffic. */
export class Responder {
  readonly #config: StatelessServerConfig;
  readonly #nextReply: () => Buffer;
  readonly #limit: RateLimit;
  readonly #peers = new Set<string>();
  readonly #samples: Samples;
  readonly #meters;

  constructor(config: StatelessServerConfig, samples: Samples) {
    this.#config = config;
    this.#samples = samples;
    this.#nextReply = cyclerOf(messagesOf(config.reply));
    this.#limit = new RateLimit(config.maxRate);
    this.#meters = {
      received: samples.counter('stateless-server.received'),
      answered: samples.counter('stateless-server.answered'),
      dropped: samples.counter('stateless-server.dropped'),
      rxBytes: samples.counter('stateless-server.rxBytes'),
      txBytes: samples.counter('stateless-server.txBytes'),
      peers: samples.gauge('stateless-server.peers'),
    };
  }

  addPeer(peer: string): void {
    this.#peers.add(peer);
    this.#meters.peers.set(this.#peers.size);
  }

  /** Handles received bytes; calls `send` with the response, if any, after the configured delay. */
  respond(bytes: Buffer, send: (answer: Buffer, onSent: (error: Error | null | undefined) => void) => void): void {
    this.#meters.received.add(1);
    this.#meters.rxBytes.add(bytes.length);
    if (this.#config.mode === 'discard') return;
    if (!this.#limit.allows()) {
      this.#meters.dropped.add(1);
      return;
    }
    const answer = this.#answerTo(bytes);
    const go = () =>
      send(answer, (error) => {
        if (error) return this.fail(error);
        this.#meters.answered.add(1);
        this.#meters.txBytes.add(answer.length);
      });
    if (this.#config.delayMs > 0) setTimeout(go, this.#config.delayMs);
    else go();
  }

  fail(error: Error): void {
    countError(this.#samples, 'stateless-server', (error as NodeJS.ErrnoException).code ?? 'other');
  }

  #answerTo(bytes: Buffer): Buffer {
    if (this.#config.mode === 'echo') return bytes;
    if (this.#config.mode === 'reply') return this.#nextReply();
    // RFC 864: over UDP a random number of characters from 0 to 512.
    const text = chargenText(7);
    return text.subarray(0, Math.floor(Math.random() * 513));
  }
}
