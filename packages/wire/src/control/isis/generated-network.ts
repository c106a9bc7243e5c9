import { MessageWriter } from '../message-writer.ts';
import { PrefixSequence } from '../prefix-sequence.ts';
import { createTopology, type TopologyOptions } from '../topology.ts';
import { bytesOfHex, packedTlvs, systemIdBytes, type Tlv, tlvOf, tlvType } from './pdu.ts';
import { type Segments, segmentTlvs } from './segments.ts';
import { ipv6Tlvs, systemsTlvs, type Topologies, topologyTlvs } from './topologies.ts';

export interface GeneratedNetwork extends Topologies {
  /** Hexadecimal system id of the emulated router; those of the generated ones follow. */
  readonly systemId: string;
  readonly areas: readonly Uint8Array[];
  readonly routerId: number;
  /** Host name of router `n` behind the emulated one, which is 0. */
  hostNameOf(n: number): string;
  /** Segment routing; undefined: none. */
  readonly segments?: Segments | undefined;
  /** Index of the first prefix of all. */
  readonly firstPrefix: number;
  readonly topology: TopologyOptions & {
    readonly prefixesPerNode: number;
    readonly ipv4Start: string;
    readonly ipv6Start: string;
  };
}

const nodeMetric = 10;
const prefixMetric = 10;
const protocolIds = { ipv4: 0xcc, ipv6: 0x8e } as const;

export const systemIdAfter = (systemId: string, steps: number): string =>
  (Number.parseInt(systemId, 16) + steps).toString(16).padStart(2 * systemIdBytes, '0');

/** Reachability of a neighbouring system or pseudonode with a wide metric (RFC 5305). */
export const systemReachability = (nodeId: string, metric: number): Uint8Array =>
  new MessageWriter(16).copy(bytesOfHex(nodeId)).u24(metric).u8(0).take();

export const ipv4Reachability = (address: number, bits: number, metric: number): Uint8Array => {
  const writer = new MessageWriter(16).u32(metric).u8(bits);
  for (let byte = 0; byte < Math.ceil(bits / 8); byte++) writer.u8((address >>> (24 - 8 * byte)) & 255);
  return writer.take();
};

const ipv6Reachability = (words: Int32Array, bits: number, metric: number): Uint8Array => {
  const writer = new MessageWriter(32).u32(metric).u8(0).u8(bits);
  for (let byte = 0; byte < Math.ceil(bits / 8); byte++)
    writer.u8(((words[byte >> 2] as number) >>> (24 - 8 * (byte & 3))) & 255);
  return writer.take();
};

/** The systems and prefixes behind an emulated router. */
export class IsisNetwork {
  readonly neighboursOf: readonly (readonly number[])[];
  readonly #options: GeneratedNetwork;
  readonly #metrics: Uint32Array;
  readonly #prefixes4: PrefixSequence;
  readonly #prefixes6: PrefixSequence;

  constructor(options: GeneratedNetwork) {
    this.#options = options;
    this.#prefixes4 = new PrefixSequence(options.topology.ipv4Start);
    this.#prefixes6 = new PrefixSequence(options.topology.ipv6Start);
    this.neighboursOf = createTopology(options.topology);
    this.#metrics = new Uint32Array(this.nodes).fill(nodeMetric);
  }

  get nodes(): number {
    return this.neighboursOf.length;
  }

  systemIdOf(node: number): string {
    return systemIdAfter(this.#options.systemId, node + 1);
  }

  /** The generated router with a system id, or -1. */
  nodeOf(systemId: string): number {
    const node = Number.parseInt(systemId, 16) - Number.parseInt(this.#options.systemId, 16) - 1;
    return node >= 0 && node < this.nodes ? node : -1;
  }

  /** Gives a router other metrics; returns which. */
  changeMetric(random: () => number): number {
    const node = Math.floor(random() * this.nodes);
    this.#metrics[node] = 1 + Math.floor(random() * 100);
    return node;
  }

  /** TLVs that every system has; `n` is 0 for the emulated router itself. */
  commonTlvs(n: number, isOverloaded = false): Tlv[] {
    const { areas, hasIpv4, hasIpv6, hostNameOf, routerId, segments } = this.#options;
    const protocols = [...(hasIpv4 ? [protocolIds.ipv4] : []), ...(hasIpv6 ? [protocolIds.ipv6] : [])];
    return [
      tlvOf(tlvType.areas, (writer) => {
        for (const area of areas) writer.u8(area.length).copy(area);
      }),
      tlvOf(tlvType.protocols, (writer) => {
        for (const protocol of protocols) writer.u8(protocol);
      }),
      ...topologyTlvs(this.#options, isOverloaded),
      ...(hasIpv4 ? [tlvOf(tlvType.routerId, (writer) => writer.u32(routerId + n))] : []),
      ...(segments === undefined ? [] : segmentTlvs(segments, routerId + n, n)),
      ...(hostNameOf(n) === '' ? [] : [{ type: tlvType.hostName, value: new TextEncoder().encode(hostNameOf(n)) }]),
    ];
  }

  tlvsOf(node: number): Tlv[] {
    const { systemId, topology, hasIpv4, hasIpv6, firstPrefix } = this.#options;
    const metric = this.#metrics[node] as number;
    const systems = [
      ...(node === 0 ? [systemId] : []),
      ...(this.neighboursOf[node] ?? []).map((one) => this.systemIdOf(one)),
    ];
    const first = firstPrefix + node * topology.prefixesPerNode;
    const indexes = Array.from({ length: topology.prefixesPerNode }, (_, i) => first + i);
    const [prefixes4, prefixes6] = [this.#prefixes4, this.#prefixes6];
    const ipv4 = (hasIpv4 ? indexes : []).map((index) =>
      ipv4Reachability(prefixes4.at(index)[3] as number, prefixes4.bits, prefixMetric),
    );
    const ipv6 = (hasIpv6 ? indexes : []).map((index) =>
      ipv6Reachability(prefixes6.at(index), prefixes6.bits, prefixMetric),
    );
    return [
      ...this.commonTlvs(node + 1),
      ...systemsTlvs(
        this.#options,
        systems.map((system) => systemReachability(`${system}00`, metric)),
      ),
      ...packedTlvs(tlvType.reachableIpv4, ipv4),
      ...ipv6Tlvs(this.#options, ipv6),
    ];
  }
}
