const magic = 0x52555348;

export interface Stamp {
  readonly flow: number;
  readonly sequence: number;
  readonly sentAt: number;
}

/** Big-endian: magic and flow (4 bytes each), sequence number and send time in ms since 1970 (doubles). */
export const writeStamp = (bytes: Buffer, flow: number, sequence: number, sentAt: number): void => {
  bytes.writeUInt32BE(magic, 0);
  bytes.writeUInt32BE(flow, 4);
  bytes.writeDoubleBE(sequence, 8);
  bytes.writeDoubleBE(sentAt, 16);
};

/** Undefined when the packet has no stamp. */
export const readStamp = (bytes: Buffer, at: number, end: number): Stamp | undefined => {
  if (end - at < 24 || bytes.readUInt32BE(at) !== magic) return undefined;
  return {
    flow: bytes.readUInt32BE(at + 4),
    sequence: bytes.readDoubleBE(at + 8),
    sentAt: bytes.readDoubleBE(at + 16),
  };
};
