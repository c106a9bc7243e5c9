const magic = 0x52555348;

/** Milliseconds since 1970 with the fineness of the monotonic clock. */
export const wallClock = (): number => performance.timeOrigin + performance.now();

export interface Stamp {
  readonly flow: number;
  readonly sequence: number;
  readonly sentAt: number;
}

/** Layout: magic, flow (4 bytes each), sequence number, time of sending (doubles). Big-endian. */
export const writeStamp = (bytes: Buffer, flow: number, sequence: number, sentAt: number): void => {
  bytes.writeUInt32BE(magic, 0);
  bytes.writeUInt32BE(flow, 4);
  bytes.writeDoubleBE(sequence, 8);
  bytes.writeDoubleBE(sentAt, 16);
};

/** Undefined when the packet is none of ours. */
export const readStamp = (bytes: Buffer): Stamp | undefined => {
  if (bytes.length < 24 || bytes.readUInt32BE(0) !== magic) return undefined;
  return { flow: bytes.readUInt32BE(4), sequence: bytes.readDoubleBE(8), sentAt: bytes.readDoubleBE(16) };
};
