/** States of a session (RFC 5880, section 4.1). */
export const bfdState = { adminDown: 0, down: 1, init: 2, up: 3 } as const;

export const bfdDiagnostic = {
  none: 0,
  timeExpired: 1,
  echoFailed: 2,
  neighbourDown: 3,
  planeReset: 4,
  pathDown: 5,
  adminDown: 7,
} as const;

const version = 1;
export const bfdBytes = 24;
const flag = { poll: 0x20, final: 0x10, control: 8, authentication: 4, demand: 2, multipoint: 1 } as const;

/** A control packet. Times are microseconds. */
export interface BfdPacket {
  diagnostic: number;
  state: number;
  isPoll: boolean;
  isFinal: boolean;
  isDemand: boolean;
  multiplier: number;
  myDiscriminator: number;
  yourDiscriminator: number;
  desiredTxUs: number;
  requiredRxUs: number;
  requiredEchoUs: number;
}

export const writeBfd = (packet: BfdPacket): Uint8Array => {
  const bytes = new Uint8Array(bfdBytes);
  const view = new DataView(bytes.buffer);
  bytes[0] = (version << 5) | packet.diagnostic;
  bytes[1] =
    (packet.state << 6) |
    (packet.isPoll ? flag.poll : 0) |
    (packet.isFinal ? flag.final : 0) |
    (packet.isDemand ? flag.demand : 0);
  bytes[2] = packet.multiplier;
  bytes[3] = bfdBytes;
  view.setUint32(4, packet.myDiscriminator);
  view.setUint32(8, packet.yourDiscriminator);
  view.setUint32(12, packet.desiredTxUs);
  view.setUint32(16, packet.requiredRxUs);
  view.setUint32(20, packet.requiredEchoUs);
  return bytes;
};

/**
 * Reads a packet [start, end); undefined where RFC 5880, section 6.8.6 discards it. `isSigned`: packets must have
 * authentication, which is checked elsewhere; otherwise they must have none.
 */
export const parseBfd = (bytes: Uint8Array, start: number, end: number, isSigned = false): BfdPacket | undefined => {
  if (end - start < bfdBytes) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset + start, end - start);
  const flags = view.getUint8(1);
  const length = view.getUint8(3);
  const isDiscarded =
    view.getUint8(0) >>> 5 !== version ||
    length < bfdBytes ||
    length > end - start ||
    view.getUint8(2) === 0 ||
    (flags & flag.multipoint) !== 0 ||
    ((flags & flag.authentication) !== 0) !== isSigned ||
    view.getUint32(4) === 0 ||
    (view.getUint32(8) === 0 && flags >>> 6 > bfdState.down);
  if (isDiscarded) return undefined;
  return {
    diagnostic: view.getUint8(0) & 31,
    state: flags >>> 6,
    isPoll: (flags & flag.poll) !== 0,
    isFinal: (flags & flag.final) !== 0,
    isDemand: (flags & flag.demand) !== 0,
    multiplier: view.getUint8(2),
    myDiscriminator: view.getUint32(4),
    yourDiscriminator: view.getUint32(8),
    desiredTxUs: view.getUint32(12),
    requiredRxUs: view.getUint32(16),
    requiredEchoUs: view.getUint32(20),
  };
};
