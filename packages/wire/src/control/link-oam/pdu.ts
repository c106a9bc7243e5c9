import { copyOf } from '../../bytes/memory.ts';
import { MessageWriter } from '../message-writer.ts';

/** Slow protocols, and link OAM among them (IEEE 802.3, annex 57A). */
export const slowProtocols = 0x8809;
export const oamSubtype = 3;
/** Destination of all packets. */
export const oamGroup: readonly number[] = [0x01, 0x80, 0xc2, 0x00, 0x00, 0x02];

export const oamCode = { information: 0, event: 1, variableRequest: 2, variableResponse: 3, loopback: 4 } as const;
export const oamFlag = {
  linkFault: 1,
  dyingGasp: 2,
  critical: 4,
  localEvaluating: 8,
  localStable: 16,
  remoteEvaluating: 32,
  remoteStable: 64,
} as const;
export const oamConfig = { active: 1, loopback: 4, events: 8, variables: 16 } as const;

const tlv = { local: 1, remote: 2, frameErrors: 2 } as const;
const informationBytes = 16;
const frameErrorBytes = 26;
const headerBytes = 4;
/** Frames have 60 bytes without their check sequence, 14 of them before the subtype. */
const minBytes = 46;

/** What an end says about itself. */
export interface OamInformation {
  readonly revision: number;
  readonly state: number;
  readonly config: number;
  readonly maxPduBytes: number;
  readonly oui: number;
}

export interface OamPdu {
  readonly flags: number;
  readonly code: number;
  readonly local: OamInformation | undefined;
  /** Whether the sender has heard the receiver. */
  readonly hasRemote: boolean;
  /** Behind the code. */
  readonly body: Uint8Array;
}

const writeInformation = (writer: MessageWriter, type: number, information: OamInformation): void => {
  const { revision, state, config, maxPduBytes, oui } = information;
  writer.u8(type).u8(informationBytes).u8(1).u16(revision).u8(state).u8(config).u16(maxPduBytes).u24(oui).u32(0);
};

/** A packet from its subtype on, filled up to the shortest frame. */
export const writeOam = (flags: number, code: number, write: (writer: MessageWriter) => void): Uint8Array => {
  const writer = new MessageWriter(64).u8(oamSubtype).u16(flags).u8(code);
  write(writer);
  if (writer.length < minBytes) writer.zeros(minBytes - writer.length);
  return writer.take();
};

export const writeOamInformation = (
  flags: number,
  { local, remote }: { readonly local: OamInformation; readonly remote: OamInformation | undefined },
): Uint8Array =>
  writeOam(flags, oamCode.information, (writer) => {
    writeInformation(writer, tlv.local, local);
    if (remote !== undefined) writeInformation(writer, tlv.remote, remote);
  });

/** Frames with errors within a window. Times are units of 100 ms. */
export interface FrameErrors {
  readonly timestamp: number;
  readonly window: number;
  readonly threshold: number;
  readonly errors: number;
  readonly totalErrors: number;
  readonly totalEvents: number;
}

export const writeFrameErrors = (flags: number, sequence: number, event: FrameErrors): Uint8Array =>
  writeOam(flags, oamCode.event, (writer) => {
    const { timestamp, window, threshold, errors, totalErrors, totalEvents } = event;
    writer.u16(sequence).u8(tlv.frameErrors).u8(frameErrorBytes).u16(timestamp).u16(window);
    writer.u32(threshold).u32(errors);
    writer.u32(Math.floor(totalErrors / 2 ** 32)).u32(totalErrors);
    writer.u32(totalEvents);
  });

const readInformation = (view: DataView, at: number): OamInformation => ({
  revision: view.getUint16(at + 3),
  state: view.getUint8(at + 5),
  config: view.getUint8(at + 6),
  maxPduBytes: view.getUint16(at + 7) & 0x7ff,
  oui: view.getUint32(at + 8) & 0xffffff,
});

/** Reads a packet from its subtype on; undefined: it is none of link OAM, or broken. */
export const parseOam = (bytes: Uint8Array): OamPdu | undefined => {
  if (bytes.length < headerBytes || bytes[0] !== oamSubtype) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [flags, code] = [view.getUint16(1), view.getUint8(3)];
  const body = copyOf(bytes, headerBytes, bytes.length);
  if (code !== oamCode.information) return { flags, code, local: undefined, hasRemote: false, body };
  let local: OamInformation | undefined;
  let hasRemote = false;
  for (let at = headerBytes; at + 2 <= bytes.length && bytes[at] !== 0; at += bytes[at + 1] as number) {
    const length = bytes[at + 1] as number;
    if (length < 2 || at + length > bytes.length) return undefined;
    if (bytes[at] === tlv.local && length === informationBytes) local = readInformation(view, at);
    hasRemote ||= bytes[at] === tlv.remote && length === informationBytes;
  }
  return { flags, code, local, hasRemote, body };
};
