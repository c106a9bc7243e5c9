/** A message with its length prefix, as sent over TCP and TLS. */
export const frame = (message: Buffer): Buffer => {
  const framed = Buffer.allocUnsafe(message.length + 2);
  framed.writeUInt16BE(message.length, 0);
  message.copy(framed, 2);
  return framed;
};

/** Splits a byte stream into messages. */
export class Deframer {
  #rest: Buffer = Buffer.alloc(0);

  feed(bytes: Buffer, onMessage: (message: Buffer) => void): void {
    let data = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    while (data.length >= 2) {
      const end = 2 + data.readUInt16BE(0);
      if (data.length < end) break;
      onMessage(data.subarray(2, end));
      data = data.subarray(end);
    }
    this.#rest = Buffer.from(data);
  }
}
