import type { AttackTarget, Attempt } from '@rushhour/protocol';
import { type Chooser, chooserOf } from '../../../net/load/rotation.ts';
import type { ProtocolDriver } from '../driver.ts';
import { driverFor } from '../protocols/index.ts';

/** State of the path to one target. */
export interface TargetPath {
  readonly target: AttackTarget;
  readonly weight: number;
  readonly driver: ProtocolDriver;
  isProven: boolean;
  /** It was proven at least once: when lost it may come back. */
  wasProven: boolean;
  lostProofs: number;
  sinceControl: number;
}

export const unprovenPath = (target: AttackTarget): TargetPath => ({
  target,
  weight: target.weight,
  driver: driverFor(target.protocol),
  isProven: false,
  wasProven: false,
  lostProofs: 0,
  sinceControl: 0,
});

/** The paths of a client by service. */
export class Paths {
  readonly #byService: ReadonlyMap<string, readonly TargetPath[]>;
  readonly #choosers = new Map<string, Chooser<TargetPath>>();

  constructor(paths: readonly TargetPath[]) {
    this.#byService = Map.groupBy(paths, ({ target }) => target.service);
  }

  /** Attempts take turns unless they name an address; there may be fewer addresses than they name. */
  pathOf({ service, addressIndex }: Attempt): TargetPath | undefined {
    const paths = this.#byService.get(service) ?? [];
    if (addressIndex !== undefined) return paths[addressIndex];
    if (paths.length === 0) return undefined;
    const chooser = this.#choosers.get(service) ?? chooserOf(paths, 'roundRobin');
    this.#choosers.set(service, chooser);
    return chooser(0);
  }
}
