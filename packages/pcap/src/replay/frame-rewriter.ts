import { latin1, putU16, u8, u16 } from '../bytes.ts';
import { adjustedChecksum, sumOf } from '../checksum.ts';
import { dissectEthernet } from '../dissect/dissect.ts';
import { Frame } from '../dissect/frame.ts';
import { endsSum, setIpv4Checksum, setTransportChecksum, transportChecksumOffset } from './frame-checksums.ts';
import { findEnds, isIpv4Arp, isSpecial } from './frame-ends.ts';
import { quotedPacket, solicitedAddress } from './quoted-packet.ts';
import type { ClientAddress, NewEnds, ReplayRules } from './replay-rules.ts';

/** Index of a server in order of first appearance, and the size of its address. */
export interface ServerNumber {
  readonly index: number;
  readonly size: 4 | 16;
}

interface Side {
  readonly isFromClient: boolean;
  readonly flow: number;
}

/** Rewrites addresses, ports and header fields of frames. */
export class FrameRewriter {
  readonly clients = new RecordedEnds();
  readonly servers = new RecordedEnds();
  /** Of the last rewritten frame: offsets of client addresses, and its server. */
  clientAddresses: ClientAddress[] = [];
  server: ServerNumber | undefined;
  readonly #rules: ReplayRules;
  readonly #frame = new Frame();

  constructor(rules: ReplayRules) {
    this.#rules = rules;
  }

  /** Rewrites an Ethernet frame in place. False when there is no address for it. */
  rewrite(bytes: Uint8Array, start: number, length: number, side: Side): boolean {
    const frame = this.#frame;
    this.clientAddresses = [];
    this.server = undefined;
    dissectEthernet(frame, bytes, start, length);
    const before = frame.ipVersion === 0 ? 0 : endsSum(frame);
    if (!this.#renumber(frame, side)) return false;
    if (frame.ipVersion === 0) {
      if (isIpv4Arp(frame)) this.#arpMacs(frame);
      return true;
    }
    this.#header(frame);
    if (this.#rules.fixesChecksums) {
      if (frame.ipVersion === 4) setIpv4Checksum(bytes, frame.networkStart);
      setTransportChecksum(frame, before);
    }
    return true;
  }

  #header({ bytes, networkStart: at, ipVersion, end }: Frame): void {
    const { ttl, dscp } = this.#rules;
    if (ttl !== undefined) bytes[at + (ipVersion === 4 ? 8 : 7)] = ttl;
    if (ipVersion === 4) {
      // Segmentation offload leaves the length zero.
      if (u16(bytes, at + 2) === 0) putU16(bytes, at + 2, Math.min(0xffff, end - at));
      if (dscp !== undefined) bytes[at + 1] = (dscp << 2) | (u8(bytes, at + 1) & 3);
    } else if (dscp !== undefined) putU16(bytes, at, (u16(bytes, at) & 0xf03f) | (dscp << 6));
  }

  #renumber(frame: Frame, { isFromClient, flow }: Side): boolean {
    const { ends } = this.#rules;
    const found = findEnds(frame);
    if (ends === undefined || found === undefined) return true;
    const { size } = found;
    const [client, server] = isFromClient ? [found.source, found.destination] : [found.destination, found.source];
    const checksums = checksumsOf(frame);
    if (!this.#client(frame, { at: client, size, checksums }, ends)) return false;
    if (!isSpecial(frame.bytes, server, size)) {
      this.server = { index: this.servers.addressAt(frame.bytes, server, size), size };
    }
    if (!this.#server(frame.bytes, server, size, ends)) return false;
    if (frame.ipVersion === 0) return true;
    if (frame.hasPorts) this.#ports(frame, isFromClient, flow, ends);
    this.#inside(frame, isFromClient, ends);
    return true;
  }

  #client(frame: Frame, target: Omit<ClientAddress, 'index'>, ends: NewEnds): boolean {
    const { bytes, linkStart } = frame;
    const { at, size, checksums, inverse } = target;
    if (isSpecial(bytes, at, size)) return true;
    const index = this.clients.addressAt(bytes, at, size);
    const address = ends.client(index, size);
    if (address === undefined) return false;
    bytes.set(address, at);
    const { fixesChecksums } = this.#rules;
    this.clientAddresses.push({
      ...{ at: at - linkStart, size, index },
      checksums: fixesChecksums ? checksums.map((checksum) => checksum - linkStart) : [],
      ...(fixesChecksums && inverse !== undefined && { inverse: inverse - linkStart }),
    });
    return true;
  }

  #server(bytes: Uint8Array, at: number, size: 4 | 16, ends: NewEnds): boolean {
    if (isSpecial(bytes, at, size)) return true;
    const address = ends.server(this.servers.addressAt(bytes, at, size), size);
    if (address !== undefined) bytes.set(address, at);
    return address !== undefined;
  }

  #ports({ bytes, transportStart: at }: Frame, isFromClient: boolean, flow: number, ends: NewEnds): void {
    if (flow === -1 || ends.clientPort === undefined || ends.serverPort === undefined) return;
    const [client, server] = isFromClient ? [at, at + 2] : [at + 2, at];
    putU16(bytes, client, ends.clientPort(flow));
    putU16(bytes, server, ends.serverPort(this.servers.port(u16(bytes, server))));
  }

  /** Addresses in the payload: the packet quoted in an ICMP error, and the target of neighbour discovery. */
  #inside(frame: Frame, isFromClient: boolean, ends: NewEnds): void {
    const { bytes } = frame;
    const outer = transportChecksumOffset(frame);
    const solicited = solicitedAddress(frame);
    if (solicited !== undefined && !isSpecial(bytes, solicited, 16)) {
      if (this.clients.findAddress(bytes, solicited, 16) !== undefined)
        this.#client(frame, { at: solicited, size: 16, checksums: [outer] }, ends);
      else if (this.servers.findAddress(bytes, solicited, 16) !== undefined) this.#server(bytes, solicited, 16, ends);
    }
    const quoted = quotedPacket(frame);
    if (quoted === undefined) return;
    const { size, source, destination, checksum, transportChecksum } = quoted;
    const sum = () => sumOf(bytes, source, source + 2 * size);
    const before = sum();
    const covering = [checksum, transportChecksum].filter((offset) => offset > 0);
    // The quoted packet travelled in the opposite direction.
    const [client, server] = isFromClient ? [destination, source] : [source, destination];
    // An address and one checksum of it cancel each other out in the checksum of the error.
    const outside = { 0: { checksums: [outer] }, 1: {}, 2: { inverse: outer } }[covering.length];
    this.#client(frame, { at: client, size, checksums: covering, ...outside }, ends);
    this.#server(bytes, server, size, ends);
    if (!this.#rules.fixesChecksums) return;
    for (const offset of covering) putU16(bytes, offset, adjustedChecksum(u16(bytes, offset), before, sum()) || 0xffff);
  }

  #arpMacs({ bytes, networkStart: at }: Frame): void {
    const { macs, keepsMacs } = this.#rules;
    if (keepsMacs) return;
    bytes.set(macs.source, at + 8);
    const isKnown = bytes.subarray(at + 18, at + 24).some((byte) => byte !== 0);
    if (isKnown) bytes.set(macs.destination, at + 18);
  }
}

/** The checksums that an address in the IP header counts into. */
function checksumsOf(frame: Frame): number[] {
  if (frame.ipVersion === 0) return [];
  const transport = frame.protocol === 1 ? 0 : transportChecksumOffset(frame);
  const header = frame.ipVersion === 4 ? frame.networkStart + 10 : 0;
  return [header, transport].filter((offset) => offset > 0);
}

/** Numbers addresses and ports of one side in order of first appearance, per address size. */
class RecordedEnds {
  readonly #addresses = new Map<string, number>();
  readonly #ports = new Map<number, number>();
  readonly #counts = { 4: 0, 16: 0 };

  /** How many addresses of this size there are. */
  countOf(size: 4 | 16): number {
    return this.#counts[size];
  }

  addressAt(bytes: Uint8Array, at: number, size: 4 | 16): number {
    const key = latin1(bytes, at, at + size);
    const known = this.#addresses.get(key);
    if (known !== undefined) return known;
    const index = this.#counts[size]++;
    this.#addresses.set(key, index);
    return index;
  }

  /** Undefined if this side has not used the address. */
  findAddress(bytes: Uint8Array, at: number, size: 4 | 16): number | undefined {
    return this.#addresses.get(latin1(bytes, at, at + size));
  }

  port(port: number): number {
    const known = this.#ports.get(port) ?? this.#ports.size;
    this.#ports.set(port, known);
    return known;
  }
}
