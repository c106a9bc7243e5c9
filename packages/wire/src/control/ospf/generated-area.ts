import { parseAddress } from '../../ip/address.ts';
import { createTopology, type TopologyOptions } from '../topology.ts';
import {
  createLsa,
  initialSequence,
  linkType,
  lsaType,
  type RouterLink,
  routerFlags,
  writeExternalBody,
  writeRouterBody,
} from './lsa.ts';

export type AreaKind = 'normal' | 'stub' | 'totally-stub' | 'nssa';

export interface GeneratedArea {
  readonly routerId: number;
  /** Own address on the link; the forwarding address of NSSA routes. */
  readonly address: number;
  readonly areaKind: AreaKind;
  readonly topology: TopologyOptions & { readonly prefixesPerNode: number; readonly firstPrefix: string };
  readonly externals: {
    readonly count: number;
    readonly firstPrefix: string;
    readonly isType2: boolean;
    readonly metric: number;
  };
}

const nodeMetric = 10;
const stubMetric = 1;
const maxMetric = 0xffff;
const propagates = 8;

/** Bits of options of LSAs and hellos: external routes are flooded here, or those of an NSSA. */
export const optionsOf = (kind: AreaKind): number => (kind === 'normal' ? 2 : kind === 'nssa' ? propagates : 0);

const readPrefix = (text: string): { readonly first: number; readonly bits: number; readonly mask: number } => {
  const [address = '', length] = text.split('/');
  const bits = Number(length);
  return {
    first: parseAddress(address)[3] as number,
    bits,
    mask: bits === 0 ? 0 : ~(0xffffffff >>> bits) | (bits === 32 ? -1 : 0),
  };
};

const prefixAt = ({ first, bits }: { first: number; bits: number }, index: number): number =>
  ((first >>> 0) + index * 2 ** (32 - bits)) >>> 0;

/** The routers and prefixes behind an emulated router, and the routes from outside that it announces. */
export class OspfArea {
  readonly neighboursOf: readonly (readonly number[])[];
  readonly #options: GeneratedArea;
  readonly #prefix;
  /** Metric of each node; changes on purpose. */
  readonly #metrics: Uint16Array;

  constructor(options: GeneratedArea) {
    this.#options = options;
    this.neighboursOf = createTopology(options.topology);
    this.#prefix = readPrefix(options.topology.firstPrefix);
    this.#metrics = new Uint16Array(this.neighboursOf.length).fill(nodeMetric);
  }

  get nodes(): number {
    return this.neighboursOf.length;
  }

  get isBoundary(): boolean {
    return this.#options.externals.count > 0;
  }

  idOf(node: number): number {
    return (this.#options.routerId + 1 + node) >>> 0;
  }

  isGenerated(routerId: number): boolean {
    const offset = (routerId - this.#options.routerId) >>> 0;
    return offset >= 1 && offset <= this.nodes;
  }

  /** The link of the emulated router to node 0, both without addresses. */
  linkToNodes(isOverloaded: boolean): RouterLink[] {
    if (this.nodes === 0) return [];
    const metric = isOverloaded ? maxMetric : nodeMetric;
    return [{ type: linkType.pointToPoint, id: this.idOf(0), data: 1, metric }];
  }

  changeMetric(random: () => number): number {
    const node = Math.floor(random() * this.nodes);
    this.#metrics[node] = 1 + Math.floor(random() * 100);
    return node;
  }

  routerLsa(node: number, sequence = initialSequence): Uint8Array {
    const { routerId, areaKind, topology } = this.#options;
    const metric = this.#metrics[node] as number;
    const ids = [...(node === 0 ? [routerId] : []), ...(this.neighboursOf[node] ?? []).map((one) => this.idOf(one))];
    const links: RouterLink[] = ids.map((id, i) => ({ type: linkType.pointToPoint, id, data: i + 1, metric }));
    for (let i = 0; i < topology.prefixesPerNode; i++) {
      const id = prefixAt(this.#prefix, node * topology.prefixesPerNode + i);
      links.push({ type: linkType.stub, id, data: this.#prefix.mask >>> 0, metric: stubMetric });
    }
    const id = this.idOf(node);
    const header = { type: lsaType.router, id, router: id, options: optionsOf(areaKind) & 2, sequence };
    return createLsa(header, writeRouterBody(0, links));
  }

  externalLsa(index: number, sequence = initialSequence): Uint8Array {
    const { externals, routerId, areaKind, address } = this.#options;
    const prefix = readPrefix(externals.firstPrefix);
    const isNssa = areaKind === 'nssa';
    const header = {
      type: isNssa ? lsaType.nssa : lsaType.external,
      id: prefixAt(prefix, index),
      router: routerId,
      options: isNssa ? propagates : 2,
      sequence,
    };
    const forwarding = isNssa ? address : 0;
    const { isType2, metric } = externals;
    return createLsa(header, writeExternalBody({ mask: prefix.mask >>> 0, isType2, metric, forwarding }));
  }

  /** Everything that is flooded besides the LSA of the emulated router itself. */
  *lsas(): Iterable<Uint8Array> {
    for (let node = 0; node < this.nodes; node++) yield this.routerLsa(node);
    for (let index = 0; index < this.#options.externals.count; index++) yield this.externalLsa(index);
  }

  /** Bits of the own router LSA. */
  get flags(): number {
    return this.isBoundary ? routerFlags.asBoundary : 0;
  }
}
