import type { Memory } from '../bytes/memory.ts';
import type { HostGroup } from '../host-group/host-group.ts';
import type { Packet } from '../host-group/packet.ts';
import { type HeaderFields, ipProtocol } from '../ip/header-fields.ts';
import { pseudoHeaderSum } from '../ip/pseudo-header.ts';
import { UdpHeader, udpBytes, writeUdp, writeUdpUnchecked } from '../udp/udp.ts';
import { type Crc32, createIcrc } from './icrc.ts';
import type { PacketKind, RdmaOutput } from './output.ts';
import { icrcBytes } from './packet.ts';

export const rdmaPort = 4791;
const keyWords = 9;
const congestionExperienced = 3;
const ipBytes = { 4: 20, 6: 40 } as const;

/** Hosts also send ICMP. */
const isRdma = ({ view }: Memory, ip: number, udp: number, isV6: boolean): boolean =>
  view.getUint8(ip + (isV6 ? 6 : 9)) === ipProtocol.udp && view.getUint16(udp + 2) === rdmaPort;

export interface CarrierReceiver {
  /** A packet with a valid check sequence [start, end) behind the UDP header. `key`: own and remote address, ports. */
  receive(
    arrival: { readonly key: Int32Array; readonly path: number; readonly isMarked: boolean },
    memory: Memory,
    start: number,
    end: number,
  ): void;
}

export interface CarrierOptions {
  readonly crc32: Crc32;
  readonly fields: HeaderFields;
  readonly congestionFields: HeaderFields;
}

/** RoCEv2 packets of emulated hosts: UDP with the invariant CRC. All other packets to the hosts are ignored. */
export class UdpCarrier implements RdmaOutput {
  readonly counters = { invalid: 0 };
  receiver: CarrierReceiver | undefined;
  readonly #group: HostGroup;
  readonly #icrc: ReturnType<typeof createIcrc>;
  readonly #key = new Int32Array(keyWords);
  readonly #arrivalKey = new Int32Array(keyWords);
  readonly #header = new UdpHeader();
  #path = 0;
  #isCongestion = false;

  constructor(group: HostGroup, options: CarrierOptions) {
    this.#group = group;
    this.#icrc = createIcrc(options.crc32);
    group.output.fieldsOf = () => (this.#isCongestion ? options.congestionFields : options.fields);
    group.output.seal = (memory, start, end) => this.#seal(memory, start, end);
    group.rawHandler = (packet, protocol, memory, start, end) => {
      if (protocol === ipProtocol.udp) this.#take(packet, memory, start, end);
    };
  }

  get memory(): Memory {
    return this.#group.output.memory;
  }

  /** The following packets go from a host to this flow. */
  aim(key: Int32Array, path: number): void {
    this.#key.set(key.subarray(0, keyWords));
    this.#path = path;
  }

  begin(length: number, kind: PacketKind): number {
    this.#isCongestion = kind === 'congestion';
    const at = this.#group.output.begin(this.#key, 0, this.#path, ipProtocol.udp, udpBytes + length);
    return at < 0 ? -1 : at + udpBytes;
  }

  commit(at: number, length: number): void {
    writeUdpUnchecked(this.memory, at - udpBytes, at + length, this.#key[8] as number);
    this.#group.output.commit(at - udpBytes, udpBytes + length, 0);
    this.#isCongestion = false;
  }

  /** Over IPv6 the UDP checksum is not optional; it covers the check sequence. */
  #seal(memory: Memory, start: number, end: number): void {
    const isV6 = (memory.bytes[start] as number) >>> 4 === 6;
    const udp = start + (isV6 ? ipBytes[6] : ipBytes[4]);
    if (!isRdma(memory, start, udp, isV6)) return;
    memory.view.setUint32(end - icrcBytes, this.#icrc(memory.bytes, start, end - icrcBytes), true);
    if (isV6) writeUdp(memory, udp, end, this.#key[8] as number, pseudoHeaderSum(this.#key, 0, ipProtocol.udp));
  }

  #take(packet: Packet, memory: Memory, start: number, end: number): void {
    const header = this.#header;
    const pseudoSum = packet.checks ? pseudoHeaderSum(packet.addresses, 0, ipProtocol.udp) : 0;
    if (!header.parse(memory, start, end, pseudoSum, packet.checks) || header.destinationPort !== rdmaPort) return;
    const ipStart = start - (packet.isV6 ? ipBytes[6] : ipBytes[4]);
    const last = header.end - icrcBytes;
    if (last - header.payload < 12 || ipStart < 0) return;
    if (this.#icrc(memory.bytes, ipStart, last) !== memory.view.getUint32(last, true)) {
      this.counters.invalid++;
      return;
    }
    const key = this.#arrivalKey;
    key.set(packet.addresses);
    key[8] = (rdmaPort << 16) | header.sourcePort;
    const arrival = { key, path: packet.path, isMarked: packet.ecn === congestionExperienced };
    this.receiver?.receive(arrival, memory, header.payload, header.end);
  }
}
