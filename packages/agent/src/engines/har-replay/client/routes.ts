import type { HarOrigin, HarReplayClientConfig, HarReplayTarget } from '@rushhour/protocol';
import type { SourcePool } from '../../../net/addresses/source-addresses.ts';
import { type Chooser, chooserOf } from '../../../net/load/rotation.ts';
import type { Route } from '../../../net/transport/transport.ts';

/** The route of a user to an origin. */
export type FindRoute = (origin: number, user: number) => Route;

/** Targets of an origin: those with the recorded port, if any. */
const targetsOf = (origin: HarOrigin, places: readonly number[], targets: readonly HarReplayTarget[]) => {
  const named = places.length === 0 ? targets : targets.filter(({ place }) => places.includes(place));
  const exact = named.filter(({ port }) => port === origin.port);
  return exact.length > 0 ? exact : named;
};

interface RouteDeps {
  readonly config: HarReplayClientConfig;
  readonly origins: readonly HarOrigin[];
  readonly sources: SourcePool;
  addressOf(host: string): string;
}

export const createRoutes = ({ config, origins, sources, addressOf }: RouteDeps): FindRoute => {
  const choosers = origins.map((origin, i): Chooser<{ address: string; port: number }> => {
    const targets = targetsOf(origin, config.places[i] ?? [], config.targets);
    if (targets.length === 0) throw new Error(`no target for ${origin.authority}`);
    const endpoints = targets.map(({ host, port, weight }) => ({ address: addressOf(host), port, weight }));
    return chooserOf(endpoints, config.rotation);
  });
  return (origin, user) => {
    const { address, port } = (choosers[origin] as (typeof choosers)[number])(user);
    return { address, port, ...sources.next(user) };
  };
};
