/** A piece of a message: messages may be longer than what their carrier takes at once. */
export interface MessagePart {
  readonly sender: string;
  /** Of the message, by its sender. */
  readonly number: number;
  readonly index: number;
  readonly count: number;
  readonly bytes: Buffer;
}

/** A message as pieces of at most `partBytes`. */
export const partsOf = (sender: string, number: number, message: unknown, partBytes: number): MessagePart[] => {
  const bytes = Buffer.from(JSON.stringify(message));
  const count = Math.max(1, Math.ceil(bytes.length / partBytes));
  return Array.from({ length: count }, (_, index) => {
    return { sender, number, index, count, bytes: bytes.subarray(index * partBytes, (index + 1) * partBytes) };
  });
};

/** Puts messages together again. Parts of one sender arrive in order; a message with a missing part is dropped. */
export const createAssembly = (deliver: (from: string, message: unknown) => void) => {
  const open = new Map<string, { number: number; parts: Buffer[] }>();
  return ({ sender, number, index, count, bytes }: MessagePart) => {
    const known = open.get(sender);
    const message = index === 0 || known?.number !== number ? { number, parts: [] } : known;
    open.delete(sender);
    if (message.parts.length !== index) return;
    message.parts.push(bytes);
    if (message.parts.length < count) open.set(sender, message);
    else deliver(sender, JSON.parse(Buffer.concat(message.parts).toString()));
  };
};
