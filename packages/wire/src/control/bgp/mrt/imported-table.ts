import { copyOf } from '../../../bytes/memory.ts';
import { MessageWriter } from '../../message-writer.ts';
import type { PathAttributes } from '../attributes.ts';
import type { BgpFamily } from '../families.ts';
import type { RouteSource } from '../route-source.ts';
import { type ImportOptions, importAttributes } from './import-attributes.ts';
import type { MrtRoute } from './reader.ts';

export interface TableOptions {
  /** Whose routes are taken; undefined: the first route to each prefix. */
  readonly peerIndex?: number | undefined;
  readonly maxRoutes: number;
}

/** Routes that share family and attributes. */
interface RouteSet {
  readonly family: BgpFamily;
  readonly attributes: Uint8Array;
  /** Numbers of its routes, in the order of the file. */
  readonly routes: number[];
}

/** Length of the longest prefix, with its length. */
const maxBytes = 17;
const maxAttributeBytes = 3800;

/** One route to each prefix of a file: prefixes one after the other in memory, attributes once for all that share them. */
export class ImportedTable {
  readonly #options: TableOptions;
  readonly #prefixes = new MessageWriter(4096);
  readonly #starts: number[] = [];
  readonly #sets = new Map<string, RouteSet>();
  /** Routes that are not taken: beyond the limit, or with attributes that a message has no room for. */
  left = 0;
  #lastPrefix = '';

  constructor(options: TableOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#starts.length;
  }

  /** Takes a route of the file, if it is one of those wanted. Routes to a prefix come one after the other. */
  add({ family, nlri, attributes, peerIndex, entry }: MrtRoute): void {
    const wanted = this.#options.peerIndex;
    if (wanted === undefined ? entry > 0 : peerIndex !== wanted) return;
    // A peer that announces several paths is taken once.
    const prefix = `${family.afi} ${String.fromCharCode(...nlri.bytes.subarray(nlri.start, nlri.end))}`;
    if (prefix === this.#lastPrefix) return;
    this.#lastPrefix = prefix;
    const isLong = attributes.end - attributes.start > maxAttributeBytes;
    if (isLong || this.count >= this.#options.maxRoutes) {
      this.left++;
      return;
    }
    this.#starts.push(this.#prefixes.length);
    this.#prefixes.copy(nlri.bytes.subarray(nlri.start, nlri.end));
    this.#setOf(family, attributes.bytes.subarray(attributes.start, attributes.end)).routes.push(this.count - 1);
  }

  /** Sources for a session, one for each set of attributes. `nextHopOf`: undefined leaves a family out. */
  sources(
    options: ImportOptions & { readonly nextHopOf: (family: BgpFamily) => Uint8Array | undefined },
  ): RouteSource[] {
    const hops = new Map<BgpFamily, Uint8Array | undefined>();
    return [...this.#sets.values()].flatMap(({ family, attributes, routes }) => {
      if (!hops.has(family)) hops.set(family, options.nextHopOf(family));
      const nextHop = hops.get(family);
      if (nextHop === undefined) return [];
      return {
        family,
        count: routes.length,
        maxBytes,
        nextHop,
        // Read when they are announced: a full table has more sets than memory should hold.
        get attributes(): PathAttributes {
          return importAttributes(attributes, options);
        },
        write: (writer: MessageWriter, index: number) => this.#write(writer, routes[index] as number),
      };
    });
  }

  #setOf(family: BgpFamily, attributes: Uint8Array): RouteSet {
    const key = `${family.afi} ${String.fromCharCode(...attributes)}`;
    const known = this.#sets.get(key);
    if (known !== undefined) return known;
    const set = { family, attributes: copyOf(attributes), routes: [] };
    this.#sets.set(key, set);
    return set;
  }

  #write(writer: MessageWriter, route: number): void {
    const start = this.#starts[route] as number;
    const { bytes } = this.#prefixes;
    const last = start + 1 + (((bytes[start] as number) + 7) >> 3);
    writer.copy(bytes.subarray(start, last));
  }
}
