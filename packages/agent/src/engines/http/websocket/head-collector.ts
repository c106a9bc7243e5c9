import type { Chunk } from '../../../net/transport/transport.ts';

const maxHeadBytes = 65_536;
const headEnd = Buffer.from('\r\n\r\n');

interface CollectedHead {
  /** Without the empty line. */
  readonly text: string;
  /** What came after it. */
  readonly rest: Buffer;
}

/** Collects the head of a request or an answer. */
export class HeadCollector {
  #bytes: Buffer = Buffer.alloc(0);

  /** Undefined until the head is complete. Throws when it is too long. */
  feed({ bytes, start, end }: Chunk): CollectedHead | undefined {
    this.#bytes = Buffer.concat([this.#bytes, bytes.subarray(start, end)]);
    const at = this.#bytes.indexOf(headEnd);
    if (at > maxHeadBytes || (at < 0 && this.#bytes.length > maxHeadBytes)) throw new Error('the head has no end');
    if (at < 0) return undefined;
    return { text: this.#bytes.toString('latin1', 0, at), rest: this.#bytes.subarray(at + headEnd.length) };
  }

  reset(): void {
    this.#bytes = Buffer.alloc(0);
  }
}
