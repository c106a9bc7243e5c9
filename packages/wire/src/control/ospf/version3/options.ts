import type { AreaKind, OspfNetwork } from '../format.ts';
import type { Version3Authentication } from './authentication.ts';
import type { Version3Area } from './generated-area.ts';
import type { Prefix } from './lsa.ts';

/** An emulated router of version 3 and its link. */
export interface Version3Options {
  readonly routerId: number;
  readonly areaKind: AreaKind;
  readonly instanceId: number;
  readonly linkLocal: Int32Array;
  /** The network of the link, where the router has another address. */
  readonly prefix: Prefix | undefined;
  /** That address alone, which point-to-multipoint networks announce. */
  readonly ownAddress: Prefix | undefined;
  readonly network: OspfNetwork;
  readonly priority: number;
  readonly cost: number;
  readonly isOverloaded: boolean;
  readonly authentication: Version3Authentication;
  readonly area: Version3Area;
}

/** Id of the interface that all emulated routers have. */
export const ownInterfaceId = 1;
