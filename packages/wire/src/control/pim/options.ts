export interface PimOptions {
  /** Own address, 4 or 16 bytes; link-local with IPv6. */
  readonly address: Uint8Array;
  readonly mode: 'sparse' | 'source-specific';
  readonly helloSec: number;
  readonly holdSec: number;
  readonly drPriority: number;
  readonly propagationMs: number;
  readonly overrideMs: number;
  readonly sendsGenerationId: boolean;
  /** The neighbour that is asked for trees; undefined: the one that was heard first. */
  readonly upstream?: Uint8Array | undefined;
  readonly rendezvous: {
    readonly kind: 'static' | 'bootstrap' | 'none';
    /** Undefined: the neighbour that is asked. A candidate for bootstrap router then offers itself. */
    readonly address?: Uint8Array | undefined;
    /** 0: no candidate. */
    readonly bootstrapPriority: number;
  };
  readonly joins: {
    readonly periodSec: number;
    readonly firstGroup: Uint8Array;
    /** 0: nothing is joined. */
    readonly groupCount: number;
    readonly sources: readonly Uint8Array[];
  };
  readonly registers: { readonly perSec: number; readonly isNull: boolean };
  /** Largest message in bytes. */
  readonly maxBytes: number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

const isMulticast = (address: Uint8Array): boolean =>
  address.length === 4 ? (address[0] as number) >>> 4 === 0xe : address[0] === 0xff;

/** Throws where a router cannot do what is asked of it. */
export const checkPimOptions = ({ address, mode, rendezvous, joins, registers }: PimOptions): void => {
  const isShared = joins.sources.length === 0;
  const isSpecific = mode === 'source-specific';
  const given = [joins.firstGroup, ...joins.sources, ...(rendezvous.address === undefined ? [] : [rendezvous.address])];
  const rules: readonly (readonly [isBroken: boolean, path: string, reason: string])[] = [
    [given.some(({ length }) => length !== address.length), 'joins', 'addresses are not all of the same version'],
    [!isMulticast(joins.firstGroup), 'joins.groupStart', 'is no multicast group'],
    [isSpecific && joins.groupCount > 0 && isShared, 'joins.sources', 'the mode source-specific needs sources'],
    [isSpecific && registers.perSec > 0, 'registers.perSec', 'the mode source-specific has no rendezvous point'],
    [rendezvous.kind === 'none' && registers.perSec > 0, 'registers.perSec', 'there is no rendezvous point'],
    [rendezvous.kind === 'none' && isShared && joins.groupCount > 0, 'joins.sources', 'there is no rendezvous point'],
  ];
  const broken = rules.find(([isBroken]) => isBroken);
  if (broken !== undefined) throw new RangeError(`PIM ${broken[1]}: ${broken[2]}`);
};
