/**
 * The last bytes of each frame of a stream: magic (3), sender (2), stream (3), sequence number (4), seconds (2) and
 * nanoseconds (4) of the wall clock. At the end, so that it is found whatever headers are added or removed on the path.
 */
export const signatureBytes = 18;

export const signatureMark = 0x527568;
/** Value and mask for a packet filter. */
export const signatureFilter = { value: signatureMark * 256, mask: 0xffff_ff00 } as const;

export const maxStreams = 2 ** 24;

export interface Signature {
  sender: number;
  stream: number;
  sequence: number;
  seconds: number;
  nanoseconds: number;
}

/** Writes sender and magic, which never change. */
export const writeSender = (frame: Buffer, sender: number): void => {
  const at = frame.length - signatureBytes;
  frame.fill(0, at);
  frame.writeUIntBE(signatureMark, at, 3);
  frame.writeUInt16BE(sender, at + 3);
};

/** False if the frame has no signature. */
export const readSignature = (bytes: Buffer, end: number, into: Signature): boolean => {
  const at = end - signatureBytes;
  if (bytes.readUIntBE(at, 3) !== signatureMark) return false;
  into.sender = bytes.readUInt16BE(at + 3);
  into.stream = bytes.readUIntBE(at + 5, 3);
  into.sequence = bytes.readUInt32BE(at + 8);
  into.seconds = bytes.readUInt16BE(at + 12);
  into.nanoseconds = bytes.readUInt32BE(at + 14);
  return true;
};
