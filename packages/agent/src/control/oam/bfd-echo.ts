import { type Memory, parseAddress, updateChecksum } from '@rushhour/wire';
import { sendDatagramFrame } from '../routers/datagram-frame.ts';
import type { PlaneContext } from '../routers/router.ts';

export const bfdEchoPort = 3785;
const macBytes = 6;
const ethernetBytes = 14;
const hopLimit = 255;
const udpProtocol = 17;
const versions = { 2048: { ttl: 8, protocol: 9, udp: 20 }, 34525: { ttl: 7, protocol: 6, udp: 40 } } as const;

interface BfdEchoOptions {
  readonly context: PlaneContext;
  readonly host: number;
  readonly local: string;
  readonly peer: string;
}

/** The echo packets of a session (RFC 5881, section 4): own ones, and those of the neighbour, which are forwarded. */
export class BfdEcho {
  readonly #context: PlaneContext;
  readonly #host: number;
  readonly #local: Int32Array;
  readonly #peer: Int32Array;
  readonly #mac = new Uint8Array(macBytes);

  constructor({ context, host, local, peer }: BfdEchoOptions) {
    this.#context = context;
    this.#host = host;
    this.#local = parseAddress(local);
    this.#peer = parseAddress(peer);
    context.layers.writeMac(host, this.#mac, 0);
  }

  /** Sends a packet to the neighbour that is addressed to the own router. */
  send(payload: Uint8Array): void {
    this.#sendTo(this.#local, hopLimit, payload);
  }

  /** A datagram from the neighbour to the own address goes back, as FRR does it: with a hop less. */
  answer(payload: Uint8Array, ttl: number): void {
    if (ttl === hopLimit) this.#sendTo(this.#peer, hopLimit - 1, payload);
  }

  /** Forwards an echo packet of the neighbour back to it; false: the frame [start, end) is none. */
  forward({ bytes, view }: Memory, start: number, end: number): boolean {
    const header = versions[view.getUint16(start + 2 * macBytes) as keyof typeof versions];
    const ip = start + ethernetBytes;
    if (header === undefined || ip + header.udp + 8 > end) return false;
    const isEcho = bytes[ip + header.protocol] === udpProtocol && view.getUint16(ip + header.udp + 2) === bfdEchoPort;
    if (!isEcho || this.#mac.some((byte, i) => byte !== bytes[start + i])) return false;
    const ttl = bytes[ip + header.ttl] as number;
    if (ttl > 1) this.#return(bytes.slice(start, end), header.ttl);
    return true;
  }

  #return(frame: Uint8Array, ttlAt: number): void {
    const { sink, scheduleFlush } = this.#context.layers;
    const at = sink.begin(frame.length, this.#host);
    if (at < 0) return;
    const { bytes, view } = sink.memory;
    bytes.set(frame, at);
    bytes.set(frame.subarray(macBytes, 2 * macBytes), at);
    bytes.set(this.#mac, at + macBytes);
    const word = at + ethernetBytes + ttlAt - (ttlAt % 2);
    const before = view.getUint16(word);
    bytes[at + ethernetBytes + ttlAt] = (frame[ethernetBytes + ttlAt] as number) - 1;
    // IPv6 has no checksum of the header.
    const sum = at + ethernetBytes + 10;
    if (ttlAt === versions[0x0800].ttl)
      view.setUint16(sum, updateChecksum(view.getUint16(sum), before, view.getUint16(word)));
    sink.commit(at, frame.length);
    scheduleFlush();
  }

  #sendTo(destination: Int32Array, ttl: number, payload: Uint8Array): void {
    const { group } = this.#context.layers;
    const slot = group.neighbours?.resolve(this.#peer, 0, 0, this.#host) ?? -1;
    const mac = group.neighbours?.macs.subarray(slot * macBytes, (slot + 1) * macBytes);
    if (slot < 0 || mac === undefined) return;
    const ports = (bfdEchoPort << 16) | bfdEchoPort;
    const frame = { host: this.#host, mac, source: this.#local, destination, ttl, ports };
    sendDatagramFrame(this.#context, frame, payload);
  }
}
