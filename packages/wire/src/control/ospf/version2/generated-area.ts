import { PrefixSequence } from '../../prefix-sequence.ts';
import type { AreaKind, OspfArea } from '../format.ts';
import { GeneratedNodes, type GeneratedPrefixes, nodeMetric } from '../generated-nodes.ts';
import { createLsa, initialSequence } from '../lsa.ts';
import { asBoundary, linkType, lsaOf, lsaType, type RouterLink, writeExternalBody, writeRouterBody } from './lsa.ts';

export interface Version2AreaOptions extends GeneratedPrefixes {
  /** Own address on the link; the forwarding address of NSSA routes. */
  readonly address: number;
  readonly areaKind: AreaKind;
}

const stubMetric = 1;
const maxMetric = 0xffff;
const propagates = 8;

/** Bits of options of LSAs and hellos: external routes are flooded here, or those of an NSSA. */
export const optionsOf = (kind: AreaKind): number => (kind === 'normal' ? 2 : kind === 'nssa' ? propagates : 0);

const maskOf = (bits: number): number => (bits === 0 ? 0 : (0xffffffff << (32 - bits)) >>> 0);

/** The network behind an emulated router of version 2. */
export class Version2Area implements OspfArea {
  readonly #options: Version2AreaOptions;
  readonly #nodes: GeneratedNodes;
  readonly #prefixes: PrefixSequence;
  readonly #externals: PrefixSequence;

  constructor(options: Version2AreaOptions) {
    this.#options = options;
    this.#nodes = new GeneratedNodes(options.routerId, options.topology);
    this.#prefixes = new PrefixSequence(options.topology.firstPrefix);
    this.#externals = new PrefixSequence(options.externals.firstPrefix);
  }

  get nodes(): number {
    return this.#nodes.count;
  }

  isGenerated(routerId: number): boolean {
    return this.#nodes.has(routerId);
  }

  /** The link of the emulated router to node 0, both without addresses. */
  linkToNodes(isOverloaded: boolean): RouterLink[] {
    if (this.nodes === 0) return [];
    const metric = isOverloaded ? maxMetric : nodeMetric;
    return [{ type: linkType.pointToPoint, id: this.#nodes.idOf(0), data: 1, metric }];
  }

  changeMetric(random: () => number): Uint8Array {
    return this.#routerLsa(this.#nodes.changeMetric(random));
  }

  *lsas(): Iterable<Uint8Array> {
    for (let node = 0; node < this.nodes; node++) yield this.#routerLsa(node);
    for (let index = 0; index < this.#options.externals.count; index++) yield this.#externalLsa(index);
  }

  /** Bits of the own router LSA. */
  get flags(): number {
    return this.#options.externals.count > 0 ? asBoundary : 0;
  }

  #routerLsa(node: number): Uint8Array {
    const { areaKind, topology } = this.#options;
    const metric = this.#nodes.metricOf(node);
    const ids = this.#nodes.linksOf(node).map((other) => this.#nodes.idOf(other));
    const links: RouterLink[] = ids.map((id, i) => ({ type: linkType.pointToPoint, id, data: i + 1, metric }));
    for (let i = 0; i < topology.prefixesPerNode; i++) {
      const [, , , id = 0] = this.#prefixes.at(topology.offset + node * topology.prefixesPerNode + i);
      links.push({ type: linkType.stub, id: id >>> 0, data: maskOf(this.#prefixes.bits), metric: stubMetric });
    }
    const id = this.#nodes.idOf(node);
    const header = { ...lsaOf(optionsOf(areaKind) & 2, lsaType.router, id, id), sequence: initialSequence };
    return createLsa(header, writeRouterBody(0, links));
  }

  #externalLsa(index: number): Uint8Array {
    const { externals, routerId, areaKind, address } = this.#options;
    const [, , , id = 0] = this.#externals.at(externals.offset + index);
    const isNssa = areaKind === 'nssa';
    const type = isNssa ? lsaType.nssa : lsaType.external;
    const header = { ...lsaOf(isNssa ? propagates : 2, type, id >>> 0, routerId), sequence: initialSequence };
    const forwarding = isNssa ? address : 0;
    const { isType2, metric } = externals;
    return createLsa(header, writeExternalBody({ mask: maskOf(this.#externals.bits), isType2, metric, forwarding }));
  }
}
