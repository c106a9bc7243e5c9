import { KeyTable } from '../bytes/key-table.ts';
import type { Memory } from '../bytes/memory.ts';
import { copyAddress } from '../ip/address.ts';
import { ipProtocol } from '../ip/header-fields.ts';
import { pseudoHeaderSum } from '../ip/pseudo-header.ts';
import type { LinkCodec } from '../links/link.ts';
import { udpBytes, writeUdp, writeUdpUnchecked } from '../udp/udp.ts';
import type { HostGroup } from './host-group.ts';
import type { FrameSink } from './hosts.ts';
import type { Packet } from './packet.ts';

const ethernetInside = 14;

/** Takes packets that a tunnel has unwrapped: a `HostGroup` above it. */
export interface TunnelReceiver {
  /** `isChecked`: checksums inside need no verification, as a kernel on the same machine leaves them out there too. */
  receive(memory: Memory, start: number, end: number, isChecked?: boolean): void;
  flush(): void;
}

/** One tunnel between an emulated host of a lower group and a far end: the sink of the hosts inside it. */
export class Tunnel implements FrameSink {
  readonly codec: LinkCodec;
  readonly carriesTags = true;
  readonly counters = { sentPackets: 0, sentBytes: 0, receivedPackets: 0, receivedBytes: 0, invalid: 0, refused: 0 };
  /** What is inside; set before the first packet. */
  receiver: TunnelReceiver | undefined;
  readonly #lower: HostGroup;
  readonly #key: Int32Array;
  readonly #path: number;
  readonly #protocol: number;
  readonly #udp: number;
  readonly #isUnchecked: boolean;

  /** `key`: outer local and remote address (8 words) and ports. */
  constructor(lower: HostGroup, codec: LinkCodec, key: Int32Array, path: number) {
    if (codec.carrier.kind === 'ethernet') throw new RangeError(`${codec.name} is not carried by IP`);
    this.codec = codec;
    this.#lower = lower;
    this.#key = key;
    this.#path = path;
    this.#protocol = codec.carrier.kind === 'ip' ? codec.carrier.protocol : ipProtocol.udp;
    this.#udp = codec.carrier.kind === 'udp' ? udpBytes : 0;
    const isV4 = key[0] === 0 && key[2] === 0xffff;
    this.#isUnchecked = isV4 && codec.carrier.kind === 'udp' && codec.carrier.hasChecksum !== true;
  }

  get memory(): Memory {
    return this.#lower.output.memory;
  }

  get mtu(): number {
    const outerIp = this.#key[0] === 0 && this.#key[2] === 0xffff ? 20 : 40;
    const inner = this.codec.payload === 'ethernet' ? ethernetInside : 0;
    return this.#lower.output.mtu - outerIp - this.#udp - this.codec.headerLength - inner;
  }

  begin(length: number): number {
    const before = this.#udp + this.codec.headerLength;
    const at = this.#lower.output.begin(this.#key, 0, this.#path, this.#protocol, before + length);
    if (at >= 0) return at + before;
    this.counters.refused++;
    return -1;
  }

  commit(offset: number, length: number): void {
    const { memory } = this;
    const end = offset + length;
    let at = this.codec.wrap(memory, offset, end);
    if (this.#udp > 0) {
      at -= udpBytes;
      if (this.#isUnchecked) writeUdpUnchecked(memory, at, end, this.#key[8] as number);
      else writeUdp(memory, at, end, this.#key[8] as number, pseudoHeaderSum(this.#key, 0, ipProtocol.udp));
    }
    this.counters.sentPackets++;
    this.counters.sentBytes += length;
    this.#lower.output.commit(at, end - at, 0);
  }

  /** A packet of the carrier. */
  receive(memory: Memory, start: number, end: number, isChecked = false): void {
    const inner = this.codec.unwrap(memory, start, end);
    if (inner < 0) {
      this.counters.invalid++;
      return;
    }
    this.counters.receivedPackets++;
    this.counters.receivedBytes += end - inner;
    this.receiver?.receive(memory, inner, end, isChecked);
  }
}

const keyWords = 9;

/** The tunnels of one kind that end at hosts of a group, found by addresses and tunnel identifier. */
export class TunnelSet {
  readonly counters = { unknown: 0, answered: 0 };
  readonly #group: HostGroup;
  readonly #codec: LinkCodec;
  readonly #table = new KeyTable({ width: keyWords, seed: 0x51ed270b });
  readonly #tunnels: (Tunnel | undefined)[] = [];
  readonly #probe = new Int32Array(keyWords);
  readonly #answerKey = new Int32Array(keyWords);

  /** `sample`: any codec of the kind; it names the carrier and reads identifiers. */
  constructor(group: HostGroup, sample: LinkCodec) {
    this.#group = group;
    this.#codec = sample;
    const { carrier } = sample;
    if (carrier.kind === 'udp')
      group.udp.bind(carrier.port, {
        onDatagram: (key, packet, memory, start, end) => this.#receive(key, packet, memory, start, end),
      });
    else if (carrier.kind === 'ip') {
      const receive = (packet: Packet, memory: Memory, start: number, end: number) =>
        this.#receive(undefined, packet, memory, start, end);
      group.handleProtocol(carrier.protocol, { receive });
    } else throw new RangeError(`${sample.name} is not carried by IP`);
  }

  /** Adds a tunnel from the local to the remote address of `key` (8 words) of the host `path`. */
  add(codec: LinkCodec, addresses: Int32Array, path: number, sourcePort?: number): Tunnel {
    const key = new Int32Array(keyWords);
    for (let i = 0; i < 8; i++) key[i] = addresses[i] as number;
    if (codec.carrier.kind === 'udp') key[8] = ((sourcePort ?? codec.carrier.port) << 16) | codec.carrier.port;
    const tunnel = new Tunnel(this.#group, codec, key, path);
    const probe = key.slice();
    probe[8] = codec.id;
    if (this.#table.find(probe, 0) >= 0)
      throw new RangeError(`${codec.name} tunnel ${codec.id} exists between these addresses`);
    this.#tunnels[this.#table.add(probe, 0)] = tunnel;
    return tunnel;
  }

  #receive(key: Int32Array | undefined, packet: Packet, memory: Memory, start: number, end: number): void {
    const probe = this.#probe;
    copyAddress(packet.addresses, 0, probe, 0);
    copyAddress(packet.addresses, 4, probe, 4);
    probe[8] = this.#codec.idAt(memory, start, end);
    const slot = this.#table.find(probe, 0);
    const tunnel = slot < 0 ? undefined : this.#tunnels[slot];
    if (tunnel !== undefined) tunnel.receive(memory, start, end, !packet.checks);
    else if (key === undefined || !this.#answer(key, packet, memory, start, end)) this.counters.unknown++;
  }

  /** Messages of the tunnel protocol itself are answered whatever tunnels exist. */
  #answer(key: Int32Array, packet: Packet, memory: Memory, start: number, end: number): boolean {
    if (this.#codec.answer === undefined || end - start > 64) return false;
    const copy = { bytes: new Uint8Array(128), view: new DataView(new ArrayBuffer(0)) };
    copy.bytes.set(memory.bytes.subarray(start, end));
    copy.view = new DataView(copy.bytes.buffer);
    const answerEnd = this.#codec.answer(copy, 0, end - start);
    if (answerEnd < 0) return false;
    this.#answerKey.set(key);
    this.counters.answered++;
    return this.#group.udp.send(this.#answerKey, packet.path, copy.bytes, 0, answerEnd);
  }
}
