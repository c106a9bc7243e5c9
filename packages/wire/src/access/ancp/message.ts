import { copyOf } from '../../bytes/memory.ts';

/** Messages of the Access Node Control Protocol (RFC 6320). */
export const ancpType = { adjacency: 10, portUp: 80, portDown: 81 } as const;
export const adjacencyCode = { syn: 1, synAck: 2, ack: 3, reset: 4 } as const;
export const ancpCapability = { topology: 1 } as const;
/** Technologies of lines: any, passive optical networks, DSL. */
export const ancpTechnology = { any: 0, pon: 1, dsl: 5 } as const;

const version = 0x32;
const identifier = 0x880c;
/** Identifier and length before each message on TCP. */
const envelopeBytes = 4;
/** Up to the list of capabilities. */
const adjacencyBytes = 36;
const masterFlag = 0x80;
const newAdjacency = 1;
const timerUnitMs = 100;
const nameBytes = 6;
const eventBytes = 40;
const tlvHeadBytes = 4;
/** One message, of which there is no second part. */
const unsegmented = 0x8001;
const tlvType = { circuitId: 1, remoteId: 2, line: 4 } as const;
const lineValue = { upstream: 0x81, downstream: 0x82, state: 0x8f, type: 0x91 } as const;
const lineState = { showtime: 1, idle: 2 } as const;

/** One end of an adjacency. */
export interface AncpEnd {
  readonly name: Uint8Array;
  readonly port: number;
  readonly instance: number;
}

export interface Adjacency {
  /** A code of `adjacencyCode`. */
  readonly code: number;
  /** Gateways are masters, access nodes are not. */
  readonly isMaster: boolean;
  readonly timerMs: number;
  readonly sender: AncpEnd;
  readonly receiver: AncpEnd;
  readonly capabilities: readonly number[];
}

/** What an access node says about a line. Rates of 0 are left out. */
export interface LineReport {
  readonly isUp: boolean;
  readonly circuitId: Uint8Array;
  readonly remoteId: Uint8Array;
  readonly upstreamKbps: number;
  readonly downstreamKbps: number;
  readonly technology: number;
  /** Type of a line of DSL; 0 is any other. */
  readonly dslType: number;
}

export type AncpMessage = { readonly adjacency: Adjacency } | { readonly line: LineReport } | { readonly type: number };

/** A message with its envelope, empty but for the version and the type. */
const begin = (length: number, type: number): DataView => {
  const view = new DataView(new ArrayBuffer(envelopeBytes + length));
  view.setUint16(0, identifier);
  view.setUint16(2, length);
  view.setUint8(envelopeBytes, version);
  view.setUint8(envelopeBytes + 1, type);
  return view;
};

export const writeAdjacency = (adjacency: Adjacency): Uint8Array => {
  const { sender, receiver, capabilities } = adjacency;
  const listed = capabilities.length * tlvHeadBytes;
  const view = begin(adjacencyBytes + listed, ancpType.adjacency);
  const bytes = new Uint8Array(view.buffer);
  const at = envelopeBytes;
  view.setUint8(at + 2, Math.round(adjacency.timerMs / timerUnitMs));
  view.setUint8(at + 3, (adjacency.isMaster ? masterFlag : 0) | adjacency.code);
  bytes.set(sender.name, at + 4);
  bytes.set(receiver.name, at + 10);
  view.setUint32(at + 16, sender.port);
  view.setUint32(at + 20, receiver.port);
  view.setUint32(at + 24, (newAdjacency << 24) | sender.instance);
  view.setUint32(at + 28, receiver.instance);
  view.setUint8(at + 32, ancpTechnology.any);
  view.setUint8(at + 33, capabilities.length);
  view.setUint16(at + 34, listed);
  for (const [i, capability] of capabilities.entries())
    view.setUint16(at + adjacencyBytes + i * tlvHeadBytes, capability);
  return bytes;
};

const padded = (length: number) => (length + 3) & ~3;

/** A value with its type and length, at a multiple of four bytes. */
const tlv = (type: number, value: Uint8Array): Uint8Array => {
  const bytes = new Uint8Array(tlvHeadBytes + padded(value.length));
  const view = new DataView(bytes.buffer);
  view.setUint16(0, type);
  view.setUint16(2, value.length);
  bytes.set(value, tlvHeadBytes);
  return bytes;
};

const word = (value: number) => Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value);

const join = (parts: readonly Uint8Array[]): Uint8Array => {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
};

/** What is known of a line, as values of four bytes. */
const lineValuesOf = ({ isUp, upstreamKbps, downstreamKbps, dslType }: LineReport): Uint8Array[] => {
  const values: [number, number][] = [
    [lineValue.type, dslType],
    ...(isUp && upstreamKbps > 0 ? [[lineValue.upstream, upstreamKbps] satisfies [number, number]] : []),
    ...(isUp && downstreamKbps > 0 ? [[lineValue.downstream, downstreamKbps] satisfies [number, number]] : []),
    [lineValue.state, isUp ? lineState.showtime : lineState.idle],
  ];
  return values.map(([type, value]) => tlv(type, word(value)));
};

/** Port up or port down. */
export const writeLineReport = (report: LineReport): Uint8Array => {
  const texts = [
    tlv(tlvType.circuitId, report.circuitId),
    ...(report.remoteId.length > 0 ? [tlv(tlvType.remoteId, report.remoteId)] : []),
  ];
  const tlvs = [...texts, tlv(tlvType.line, join(lineValuesOf(report)))];
  const block = join(tlvs);
  const type = report.isUp ? ancpType.portUp : ancpType.portDown;
  const view = begin(eventBytes + block.length, type);
  const bytes = new Uint8Array(view.buffer);
  const at = envelopeBytes;
  view.setUint16(at + 8, unsegmented);
  view.setUint16(at + 10, eventBytes + block.length);
  view.setUint8(at + 33, type);
  view.setUint8(at + 34, report.technology);
  view.setUint16(at + 36, tlvs.length);
  view.setUint16(at + 38, block.length);
  bytes.set(block, at + eventBytes);
  return bytes;
};

const readAdjacency = (bytes: Uint8Array, view: DataView): Adjacency | undefined => {
  if (bytes.length < adjacencyBytes) return undefined;
  const capabilities: number[] = [];
  let at = adjacencyBytes;
  for (let left = view.getUint8(33); left > 0 && at + tlvHeadBytes <= bytes.length; left--) {
    capabilities.push(view.getUint16(at));
    at += tlvHeadBytes + view.getUint16(at + 2);
  }
  const end = (nameAt: number, portAt: number, instanceAt: number): AncpEnd => ({
    name: copyOf(bytes, nameAt, nameAt + nameBytes),
    port: view.getUint32(portAt),
    instance: view.getUint32(instanceAt) & 0xff_ffff,
  });
  return {
    code: view.getUint8(3) & ~masterFlag,
    isMaster: (view.getUint8(3) & masterFlag) !== 0,
    timerMs: view.getUint8(2) * timerUnitMs,
    sender: end(4, 16, 24),
    receiver: end(10, 20, 28),
    capabilities,
  };
};

/** Values between two offsets; undefined if one does not end there. */
const readTlvs = (bytes: Uint8Array, view: DataView, start: number, end: number) => {
  const found = new Map<number, { readonly at: number; readonly length: number }>();
  for (let at = start; at < end; ) {
    if (at + tlvHeadBytes > end) return undefined;
    const length = view.getUint16(at + 2);
    if (at + tlvHeadBytes + length > Math.min(end, bytes.length)) return undefined;
    found.set(view.getUint16(at), { at: at + tlvHeadBytes, length });
    at += tlvHeadBytes + padded(length);
  }
  return found;
};

const readLine = (bytes: Uint8Array, view: DataView): LineReport | undefined => {
  if (bytes.length < eventBytes) return undefined;
  const end = eventBytes + view.getUint16(38);
  const tlvs = end > bytes.length ? undefined : readTlvs(bytes, view, eventBytes, end);
  const circuit = tlvs?.get(tlvType.circuitId);
  if (tlvs === undefined || circuit === undefined) return undefined;
  const textOf = ({ at, length } = { at: 0, length: 0 }) => copyOf(bytes, at, at + length);
  const line = tlvs.get(tlvType.line);
  const values = line && readTlvs(bytes, view, line.at, line.at + line.length);
  if (line !== undefined && values === undefined) return undefined;
  const numberOf = (type: number) => {
    const value = values?.get(type);
    return value?.length === 4 ? view.getUint32(value.at) : 0;
  };
  return {
    isUp: view.getUint8(1) === ancpType.portUp,
    circuitId: textOf(circuit),
    remoteId: textOf(tlvs.get(tlvType.remoteId)),
    upstreamKbps: numberOf(lineValue.upstream),
    downstreamKbps: numberOf(lineValue.downstream),
    technology: view.getUint8(34),
    dslType: numberOf(lineValue.type),
  };
};

/** Reads a message without its envelope; undefined if it is none. */
export const readAncp = (bytes: Uint8Array): AncpMessage | undefined => {
  if (bytes.length < 12 || bytes[0] !== version) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const type = bytes[1] as number;
  if (type === ancpType.adjacency) {
    const adjacency = readAdjacency(bytes, view);
    return adjacency && { adjacency };
  }
  if (type !== ancpType.portUp && type !== ancpType.portDown) return { type };
  const line = readLine(bytes, view);
  return line && { line };
};

/** Takes messages from a stream, without their envelopes. */
export class AncpStream {
  #rest: Uint8Array = new Uint8Array(0);

  /** The messages that are whole; undefined if the stream is none of ANCP. */
  push(bytes: Uint8Array): Uint8Array[] | undefined {
    const all = this.#rest.length === 0 ? bytes : join([this.#rest, bytes]);
    const view = new DataView(all.buffer, all.byteOffset, all.length);
    const messages: Uint8Array[] = [];
    let at = 0;
    while (at + envelopeBytes <= all.length) {
      if (view.getUint16(at) !== identifier) return undefined;
      const end = at + envelopeBytes + view.getUint16(at + 2);
      if (end > all.length) break;
      messages.push(all.subarray(at + envelopeBytes, end));
      at = end;
    }
    this.#rest = copyOf(all, at);
    return messages;
  }
}
