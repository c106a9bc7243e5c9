import { MessageWriter } from '../message-writer.ts';
import { type BgpFamily, findFamily } from './families.ts';
import { beginMessage, bgpType, endMessage } from './message.ts';
import { BgpError, bgpError, openError } from './notification.ts';

export interface GracefulRestart {
  readonly restartSec: number;
  /** The sender has restarted: it asks the neighbour to keep its routes until it has announced its own. */
  readonly isRestarting: boolean;
  readonly families: readonly BgpFamily[];
  /** Families whose packets it has gone on to forward meanwhile. */
  readonly forwarded: readonly BgpFamily[];
}

/** What a speaker offers in its OPEN (RFC 5492). */
export interface BgpCapabilities {
  readonly families: readonly BgpFamily[];
  readonly fourByteAs: boolean;
  readonly routeRefresh: boolean;
  readonly extendedMessages: boolean;
  /** Families whose routes may have IPv6 next hops (RFC 8950). */
  readonly extendedNextHop: readonly BgpFamily[];
  /** Families with several paths to a prefix, by direction (RFC 7911). */
  readonly addPath: { readonly sends: readonly BgpFamily[]; readonly receives: readonly BgpFamily[] };
  readonly gracefulRestart: GracefulRestart | undefined;
}

export interface OpenMessage {
  readonly as: number;
  readonly holdSec: number;
  readonly routerId: number;
  readonly capabilities: BgpCapabilities;
}

const version = 4;
const asTrans = 23_456;
const capabilitiesParameter = 2;
const extendedParameters = 255;
const capability = {
  multiprotocol: 1,
  routeRefresh: 2,
  extendedNextHop: 5,
  extendedMessages: 6,
  gracefulRestart: 64,
  fourByteAs: 65,
  addPath: 69,
} as const;
const addPathBits = { receive: 1, send: 2 } as const;

const writeCapability = (writer: MessageWriter, code: number, write: (writer: MessageWriter) => void): void => {
  writer.u8(code);
  const at = writer.reserve(1);
  write(writer);
  writer.bytes[at] = writer.length - at - 1;
};

const writeFamilyCapabilities = (writer: MessageWriter, offered: BgpCapabilities): void => {
  for (const { afi, safi } of offered.families)
    writeCapability(writer, capability.multiprotocol, (w) => w.u16(afi).u8(0).u8(safi));
  if (offered.extendedNextHop.length > 0)
    writeCapability(writer, capability.extendedNextHop, (w) => {
      for (const { afi, safi } of offered.extendedNextHop) w.u16(afi).u16(safi).u16(2);
    });
  const { sends, receives } = offered.addPath;
  const withPaths = offered.families.filter((family) => sends.includes(family) || receives.includes(family));
  if (withPaths.length > 0)
    writeCapability(writer, capability.addPath, (w) => {
      for (const family of withPaths) {
        const bits =
          (sends.includes(family) ? addPathBits.send : 0) | (receives.includes(family) ? addPathBits.receive : 0);
        w.u16(family.afi).u8(family.safi).u8(bits);
      }
    });
};

const writeCapabilities = (writer: MessageWriter, open: OpenMessage): void => {
  const offered = open.capabilities;
  writeFamilyCapabilities(writer, offered);
  if (offered.routeRefresh) writeCapability(writer, capability.routeRefresh, () => {});
  if (offered.extendedMessages) writeCapability(writer, capability.extendedMessages, () => {});
  if (offered.fourByteAs) writeCapability(writer, capability.fourByteAs, (w) => w.u32(open.as));
  const restart = offered.gracefulRestart;
  if (restart !== undefined)
    writeCapability(writer, capability.gracefulRestart, (w) => {
      w.u16((restart.isRestarting ? 0x8000 : 0) | restart.restartSec);
      for (const family of restart.families)
        w.u16(family.afi)
          .u8(family.safi)
          .u8(restart.forwarded.includes(family) ? 0x80 : 0);
    });
};

export const openMessage = (open: OpenMessage): Uint8Array => {
  const writer = new MessageWriter(128);
  const start = beginMessage(writer, bgpType.open);
  writer.u8(version);
  writer.u16(open.as > 0xffff ? asTrans : open.as);
  writer.u16(open.holdSec).u32(open.routerId);
  const capabilities = new MessageWriter(128);
  writeCapabilities(capabilities, open);
  const content = capabilities.take();
  if (content.length === 0) writer.u8(0);
  else if (content.length <= 253)
    writer
      .u8(content.length + 2)
      .u8(capabilitiesParameter)
      .u8(content.length)
      .copy(content);
  else {
    // Lengths of 16 bits (RFC 9072).
    writer
      .u8(extendedParameters)
      .u8(extendedParameters)
      .u16(content.length + 3);
    writer.u8(capabilitiesParameter).u16(content.length).copy(content);
  }
  endMessage(writer, start);
  return writer.take();
};

/** Collects capabilities of a received OPEN. */
class Received {
  readonly families: BgpFamily[] = [];
  readonly extendedNextHop: BgpFamily[] = [];
  readonly addPath = { sends: [] as BgpFamily[], receives: [] as BgpFamily[] };
  as: number | undefined;
  routeRefresh = false;
  extendedMessages = false;
  gracefulRestart: GracefulRestart | undefined;

  take(code: number, view: DataView, start: number, end: number): void {
    const length = end - start;
    if (code === capability.multiprotocol && length === 4)
      this.#add(this.families, view.getUint16(start), view.getUint8(start + 3));
    else if (code === capability.routeRefresh) this.routeRefresh = true;
    else if (code === capability.extendedMessages) this.extendedMessages = true;
    else if (code === capability.fourByteAs && length === 4) this.as = view.getUint32(start);
    else if (code === capability.extendedNextHop) this.#takeNextHops(view, start, end);
    else if (code === capability.addPath) this.#takeAddPath(view, start, end);
    else if (code === capability.gracefulRestart && length >= 2) this.#takeRestart(view, start, end);
  }

  #add(to: BgpFamily[], afi: number, safi: number): void {
    const family = findFamily(afi, safi);
    if (family !== undefined && !to.includes(family)) to.push(family);
  }

  #takeNextHops(view: DataView, start: number, end: number): void {
    for (let at = start; at + 6 <= end; at += 6)
      if (view.getUint16(at + 4) === 2) this.#add(this.extendedNextHop, view.getUint16(at), view.getUint16(at + 2));
  }

  #takeAddPath(view: DataView, start: number, end: number): void {
    for (let at = start; at + 4 <= end; at += 4) {
      const bits = view.getUint8(at + 3);
      if (bits < 1 || bits > 3) continue;
      const { sends, receives } = this.addPath;
      if ((bits & addPathBits.send) !== 0) this.#add(sends, view.getUint16(at), view.getUint8(at + 2));
      if ((bits & addPathBits.receive) !== 0) this.#add(receives, view.getUint16(at), view.getUint8(at + 2));
    }
  }

  #takeRestart(view: DataView, start: number, end: number): void {
    const word = view.getUint16(start);
    const families: BgpFamily[] = [];
    const forwarded: BgpFamily[] = [];
    for (let at = start + 2; at + 4 <= end; at += 4) {
      const [afi, safi] = [view.getUint16(at), view.getUint8(at + 2)];
      this.#add(families, afi, safi);
      if ((view.getUint8(at + 3) & 0x80) !== 0) this.#add(forwarded, afi, safi);
    }
    this.gracefulRestart = { restartSec: word & 0xfff, isRestarting: (word & 0x8000) !== 0, families, forwarded };
  }
}

const malformed = () => new BgpError(bgpError.open, 0);

const readParameters = (view: DataView, start: number, end: number, received: Received): void => {
  const first = view.getUint8(start);
  const isExtended = first !== 0 && start + 1 < end && view.getUint8(start + 1) === extendedParameters;
  const head = isExtended ? 3 : 2;
  let at = start + (isExtended ? 4 : 1);
  if (isExtended ? at > end || view.getUint16(start + 2) !== end - at : first !== end - at) throw malformed();
  while (at < end) {
    if (at + head > end) throw malformed();
    const type = view.getUint8(at);
    const last = at + head + (isExtended ? view.getUint16(at + 1) : view.getUint8(at + 1));
    if (last > end) throw malformed();
    if (type !== capabilitiesParameter) throw new BgpError(bgpError.open, openError.unsupportedParameter);
    readCapabilities(view, at + head, last, received);
    at = last;
  }
};

const readCapabilities = (view: DataView, start: number, end: number, received: Received): void => {
  for (let at = start; at < end; ) {
    if (at + 2 > end) throw malformed();
    const last = at + 2 + view.getUint8(at + 1);
    if (last > end) throw malformed();
    received.take(view.getUint8(at), view, at + 2, last);
    at = last;
  }
};

/** Reads the body [start, end) of an OPEN. Throws a `BgpError` for what RFC 4271, section 6.2 refuses. */
export const parseOpen = (bytes: Uint8Array, start: number, end: number): OpenMessage => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes[start] !== version)
    throw new BgpError(bgpError.open, openError.unsupportedVersion, Uint8Array.of(0, version));
  const holdSec = view.getUint16(start + 3);
  if (holdSec === 1 || holdSec === 2) throw new BgpError(bgpError.open, openError.unacceptableHoldTime);
  const routerId = view.getUint32(start + 5);
  if (routerId === 0) throw new BgpError(bgpError.open, openError.badIdentifier);
  const received = new Received();
  readParameters(view, start + 9, end, received);
  const as = received.as ?? view.getUint16(start + 1);
  if (as === 0) throw new BgpError(bgpError.open, openError.badPeerAs);
  const { families, extendedNextHop, addPath, routeRefresh, extendedMessages, gracefulRestart } = received;
  return {
    as,
    holdSec,
    routerId,
    capabilities: {
      // A speaker without the capability exchanges IPv4 unicast routes only.
      families: families.length > 0 ? families : [findFamily(1, 1) as BgpFamily],
      fourByteAs: received.as !== undefined,
      routeRefresh,
      extendedMessages,
      extendedNextHop,
      addPath,
      gracefulRestart,
    },
  };
};
