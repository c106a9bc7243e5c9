import type { AreaKind, OspfNetwork } from '../format.ts';
import type { Version2Area } from './generated-area.ts';
import type { OspfAuthentication } from './packet.ts';

/** An emulated router of version 2 and its link. */
export interface Version2Options {
  readonly routerId: number;
  readonly areaKind: AreaKind;
  readonly address: number;
  readonly mask: number;
  readonly network: OspfNetwork;
  readonly cost: number;
  readonly isOverloaded: boolean;
  readonly authentication: OspfAuthentication;
  readonly area: Version2Area;
}
