/** A message with its length prefix, as sent over TCP and TLS. */
export const frame = (message: Buffer): Buffer => {
  const framed = Buffer.allocUnsafe(message.length + 2);
  framed.writeUInt16BE(message.length, 0);
  message.copy(framed, 2);
  return framed;
};

const empty = Buffer.alloc(0);

/** Splits a byte stream into messages. */
export class Deframer {
  #rest: Buffer = empty;

  /** Messages are valid during the call only. */
  feed(bytes: Buffer, onMessage: (message: Buffer) => void): void {
    const data = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    let at = 0;
    while (data.length - at >= 2) {
      const end = at + 2 + data.readUInt16BE(at);
      if (data.length < end) break;
      onMessage(data.subarray(at + 2, end));
      at = end;
    }
    this.#rest = at === data.length ? empty : Buffer.from(data.subarray(at));
  }
}
