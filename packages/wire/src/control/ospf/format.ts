import type { MessageWriter } from '../message-writer.ts';
import type { LsaHeader, NewLsa } from './lsa.ts';

export const ospfType = { hello: 1, description: 2, request: 3, update: 4, acknowledgement: 5 } as const;
export const ddFlag = { master: 1, more: 2, init: 4 } as const;
export const ospfProtocol = 89;

export type OspfNetwork = 'point-to-point' | 'broadcast' | 'non-broadcast' | 'point-to-multipoint';

/** The routers of such a network elect a designated one, which speaks for the network. */
export const hasDesignated = (network: OspfNetwork): boolean => network === 'broadcast' || network === 'non-broadcast';

export type AreaKind = 'normal' | 'stub' | 'totally-stub' | 'nssa';

export interface OspfHeader {
  readonly type: number;
  readonly routerId: number;
  readonly areaId: number;
}

export interface ReceivedOspf extends OspfHeader {
  /** The body lies in [start, end) of `view`. */
  readonly view: DataView;
  readonly start: number;
  readonly end: number;
}

/** Addresses of a packet. */
export interface PacketEnds {
  readonly source: Int32Array;
  readonly destination: Int32Array;
}

export interface Hello {
  /** Of version 2. */
  readonly mask: number;
  /** Of version 3. */
  readonly interfaceId: number;
  readonly helloSec: number;
  readonly options: number;
  readonly priority: number;
  readonly deadSec: number;
  /** Names of the designated routers: addresses in version 2, router ids in version 3. */
  readonly designated: number;
  readonly backup: number;
  readonly neighbours: readonly number[];
}

export interface Description {
  readonly mtu: number;
  readonly options: number;
  readonly flags: number;
  readonly sequence: number;
  readonly headers: readonly LsaHeader[];
}

/** `headers`: LSA headers as they are sent, 20 bytes each. */
export type NewDescription = Omit<Description, 'headers' | 'options'> & { readonly headers: readonly Uint8Array[] };

export interface LsaReference {
  readonly type: number;
  readonly id: number;
  readonly router: number;
}

/** What a router knows about its link when it describes itself. */
export interface LinkState {
  /** Neighbours with the same database. */
  readonly adjacent: readonly {
    readonly routerId: number;
    /** How elections call it. */
    readonly name: number;
    readonly interfaceId: number;
  }[];
  /** Name of the designated router; 0: none. */
  readonly designated: number;
  readonly lsas: Iterable<{ readonly header: LsaHeader; readonly bytes: Uint8Array }>;
}

export interface OwnLsa extends Omit<NewLsa, 'sequence'> {
  write(writer: MessageWriter): void;
}

type Write = (writer: MessageWriter) => void;

/** What differs between the versions: packets, LSAs and how a router describes itself. */
export interface OspfFormat {
  readonly groups: { readonly all: Int32Array; readonly designated: Int32Array };
  /** Bytes of a packet that are no body, IP header and authentication included. */
  readonly overheadBytes: number;
  /** Bytes of a description before the headers of LSAs. */
  readonly descriptionBytes: number;
  /** How the elections call this router. */
  readonly name: number;
  nameOf(routerId: number, source: Int32Array): number;
  /** `sequence`: of authentication by digests. */
  encode(
    header: OspfHeader,
    write: Write,
    to: { readonly destination: Int32Array; readonly sequence: number },
  ): Uint8Array;
  /** Reads a packet; undefined where it is to be discarded. */
  parse(bytes: Uint8Array, ends: PacketEnds): ReceivedOspf | undefined;
  /** A neighbour is gone: what was known about its packets no longer holds. */
  forget(routerId: number): void;
  /** `hello` without what the version adds by itself. */
  writeHello(hello: Omit<Hello, 'mask' | 'interfaceId' | 'options'>): Write;
  readHello(packet: ReceivedOspf): Hello | undefined;
  /** Mask and kind of area must be the same on both sides (RFC 2328, section 10.5). */
  isHelloAccepted(hello: Hello): boolean;
  writeDescription(description: NewDescription): Write;
  readDescription(packet: ReceivedOspf): Description | undefined;
  writeRequest(wanted: readonly LsaReference[]): Write;
  readRequest(packet: ReceivedOspf): LsaReference[];
  readLsaHeader(view: DataView, at: number): LsaHeader;
  /** What the router has to say about itself and its link now. */
  ownLsas(state: LinkState): OwnLsa[];
  /** Whether a received LSA may change what the router says about its link. */
  changesOwn(header: LsaHeader): boolean;
}

/** The routers and prefixes behind an emulated router, and the routes from outside that it announces. */
export interface OspfArea {
  readonly nodes: number;
  isGenerated(routerId: number): boolean;
  /** Gives a router other metrics; returns its LSA. */
  changeMetric(random: () => number): Uint8Array;
  /** Everything that is flooded besides the LSAs of the emulated router itself. */
  lsas(): Iterable<Uint8Array>;
}
