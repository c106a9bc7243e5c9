import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { MessagePart } from './message-parts.ts';

/** A key of the installation for each sender. Every process is a sender of its own, so that no number is used twice. */
export type PeerKey = (sender: string) => Buffer;

const algorithm = 'aes-256-gcm';
const [senderBytes, numberBytes, tagBytes] = [16, 6, 16];
/** Sender, number of the message, number of the part, number of parts; then the tag and the sealed bytes. */
const headBytes = senderBytes + numberBytes + 4 + 4;
/** What sealing adds to a part. */
export const sealBytes = headBytes + tagBytes;

/** Number of the message and of the part: never the same twice for one sender. */
const nonceOf = (head: Buffer) => {
  const nonce = Buffer.alloc(12);
  head.copy(nonce, 0, senderBytes, senderBytes + numberBytes + 4);
  return nonce;
};

export const sealPart = ({ sender, number, index, count, bytes }: MessagePart, key: Buffer): Buffer => {
  const head = Buffer.alloc(headBytes);
  head.write(sender, 'hex');
  head.writeUIntBE(number, senderBytes, numberBytes);
  head.writeUInt32BE(index, senderBytes + numberBytes);
  head.writeUInt32BE(count, senderBytes + numberBytes + 4);
  const cipher = createCipheriv(algorithm, key, nonceOf(head)).setAAD(head);
  const sealed = Buffer.concat([cipher.update(bytes), cipher.final()]);
  return Buffer.concat([head, cipher.getAuthTag(), sealed]);
};

/** Throws for what no controller of the installation sealed. */
export const openPart = (sealed: Buffer, keyOf: PeerKey): MessagePart => {
  const head = sealed.subarray(0, headBytes);
  const sender = head.toString('hex', 0, senderBytes);
  const decipher = createDecipheriv(algorithm, keyOf(sender), nonceOf(head)).setAAD(head);
  decipher.setAuthTag(sealed.subarray(headBytes, sealBytes));
  const bytes = Buffer.concat([decipher.update(sealed.subarray(sealBytes)), decipher.final()]);
  return {
    sender,
    number: head.readUIntBE(senderBytes, numberBytes),
    index: head.readUInt32BE(senderBytes + numberBytes),
    count: head.readUInt32BE(senderBytes + numberBytes + 4),
    bytes,
  };
};

/** Refuses parts that were seen before: others may send again what a controller sent. */
export const createReplayGuard = () => {
  const latest = new Map<string, { number: number; index: number }>();
  return ({ sender, number, index }: MessagePart): boolean => {
    const last = latest.get(sender);
    if (last !== undefined && (number < last.number || (number === last.number && index <= last.index))) return false;
    latest.set(sender, { number, index });
    return true;
  };
};
