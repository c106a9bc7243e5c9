/** The reader reuses one Packet: what is needed after the sink returns must be copied. */
export interface Packet {
  /** From 1, as in the file. */
  number: number;
  seconds: number;
  nanoseconds: number;
  linkType: number;
  /** The captured frame is `bytes[start … start + length)`. */
  bytes: Uint8Array;
  start: number;
  length: number;
  wireLength: number;
}

/** Returning false ends the reading. */
export type PacketSink = (packet: Packet) => boolean | undefined;

export function createPacket(): Packet {
  return {
    number: 0,
    seconds: 0,
    nanoseconds: 0,
    linkType: 0,
    bytes: new Uint8Array(0),
    start: 0,
    length: 0,
    wireLength: 0,
  };
}

export function copyOf(packet: Packet): Packet {
  const bytes = packet.bytes.slice(packet.start, packet.start + packet.length);
  return { ...packet, bytes, start: 0 };
}

/** Milliseconds of `packet` after an origin, without losing nanoseconds to large numbers. */
export function millisecondsSince(packet: Packet, originSeconds: number, originNanoseconds: number): number {
  return (packet.seconds - originSeconds) * 1000 + (packet.nanoseconds - originNanoseconds) / 1e6;
}
