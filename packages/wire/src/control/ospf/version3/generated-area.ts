import { PrefixSequence } from '../../prefix-sequence.ts';
import type { AreaKind, OspfArea } from '../format.ts';
import { emulatedRouter, GeneratedNodes, type GeneratedPrefixes, nodeMetric } from '../generated-nodes.ts';
import { createLsa, initialSequence } from '../lsa.ts';
import {
  asBoundary,
  linkType,
  lsaOf,
  lsaType,
  optionsOf,
  type Prefix,
  type RouterLink,
  writeExternalBody,
  writePrefixesBody,
  writeRouterBody,
} from './lsa.ts';

export interface Version3AreaOptions extends GeneratedPrefixes {
  readonly areaKind: AreaKind;
  /** Own address besides the link-local one: where NSSA routes lead to. */
  readonly address: Int32Array | undefined;
}

const prefixMetric = 1;
const maxMetric = 0xffff;
/** Prefixes of one LSA: it fits into a packet. */
const prefixesPerLsa = 50;
/** Interfaces are called after the node at their other end; the real link of the emulated router is 1. */
const interfaceTo = (node: number): number => node + 2;

/** The network behind an emulated router of version 3. */
export class Version3Area implements OspfArea {
  readonly #options: Version3AreaOptions;
  readonly #nodes: GeneratedNodes;
  readonly #prefixes: PrefixSequence;
  readonly #externals: PrefixSequence;

  constructor(options: Version3AreaOptions) {
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

  /** The link of the emulated router to node 0. */
  linkToNodes(isOverloaded: boolean): RouterLink[] {
    return this.nodes === 0 ? [] : [this.#link(emulatedRouter, 0, isOverloaded ? maxMetric : nodeMetric)];
  }

  /** Bits of the own router LSA. */
  get flags(): number {
    return this.#options.externals.count > 0 ? asBoundary : 0;
  }

  changeMetric(random: () => number): Uint8Array {
    return this.#routerLsa(this.#nodes.changeMetric(random));
  }

  *lsas(): Iterable<Uint8Array> {
    for (let node = 0; node < this.nodes; node++) {
      yield this.#routerLsa(node);
      yield* this.#prefixLsas(node);
    }
    for (let index = 0; index < this.#options.externals.count; index++) yield this.#externalLsa(index);
  }

  #link(from: number, to: number, metric: number): RouterLink {
    return {
      type: linkType.pointToPoint,
      metric,
      interfaceId: interfaceTo(to),
      neighbourInterfaceId: interfaceTo(from),
      neighbour: this.#nodes.idOf(to),
    };
  }

  #routerLsa(node: number): Uint8Array {
    const metric = this.#nodes.metricOf(node);
    const links = this.#nodes.linksOf(node).map((other) => this.#link(node, other, metric));
    const header = { ...lsaOf(lsaType.router, 0, this.#nodes.idOf(node)), sequence: initialSequence };
    return createLsa(header, writeRouterBody(0, optionsOf(this.#options.areaKind), links));
  }

  *#prefixLsas(node: number): Iterable<Uint8Array> {
    const { offset, prefixesPerNode } = this.#options.topology;
    const router = this.#nodes.idOf(node);
    const first = offset + node * prefixesPerNode;
    for (let from = 0; from < prefixesPerNode; from += prefixesPerLsa) {
      const length = Math.min(prefixesPerLsa, prefixesPerNode - from);
      const prefixes = Array.from({ length }, (_, i) => prefixOf(this.#prefixes, first + from + i));
      const header = { ...lsaOf(lsaType.intraAreaPrefix, from / prefixesPerLsa, router), sequence: initialSequence };
      yield createLsa(header, writePrefixesBody({ type: lsaType.router, id: 0, router }, prefixMetric, prefixes));
    }
  }

  #externalLsa(index: number): Uint8Array {
    const { externals, routerId, areaKind, address } = this.#options;
    const isNssa = areaKind === 'nssa';
    const prefix = prefixOf(this.#externals, externals.offset + index);
    const header = lsaOf(isNssa ? lsaType.nssa : lsaType.external, index + 1, routerId);
    const { isType2, metric } = externals;
    const body = writeExternalBody({ prefix, isType2, metric, forwarding: isNssa ? address : undefined });
    return createLsa({ ...header, sequence: initialSequence }, body);
  }
}

const prefixOf = (sequence: PrefixSequence, index: number): Prefix => ({
  words: sequence.at(index).slice(),
  bits: sequence.bits,
});
