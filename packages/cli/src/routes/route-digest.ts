import type { Collection, Route } from '@rushhour/contract';
import { type OptionSpec, optionsOf } from './option-spec.ts';

/** What the command line knows of a route: enough to call it and to explain it. */
export interface RouteDigest extends Pick<Route, 'method' | 'path' | 'summary' | 'access'> {
  readonly options: readonly OptionSpec[];
  readonly hasBody?: true;
  readonly isUpload?: true;
  readonly isChunk?: true;
  readonly download?: readonly string[];
  /** Whether the reply is a stream of events. */
  readonly events?: NonNullable<Route['events']>;
}

export interface CollectionDigest {
  readonly tag: string;
  readonly title: string;
  readonly routes: Readonly<Record<string, RouteDigest>>;
}

/** All collections, by the names they have in the client. */
export type Digest = Readonly<Record<string, CollectionDigest>>;

const digestOfRoute = (route: Route): RouteDigest => ({
  method: route.method,
  path: route.path,
  summary: route.summary,
  access: route.access,
  options: optionsOf(route),
  ...(route.body && { hasBody: true }),
  ...(route.upload && { isUpload: true }),
  ...(route.chunk && { isChunk: true }),
  ...(route.download && { download: route.download }),
  ...(route.events && { events: {} as NonNullable<Route['events']> }),
});

export const digestOf = (collections: Readonly<Record<string, Collection>>): Digest =>
  Object.fromEntries(
    Object.entries(collections).map(([name, { tag, title, routes }]) => [
      name,
      {
        tag,
        title,
        routes: Object.fromEntries(Object.entries(routes).map(([key, route]) => [key, digestOfRoute(route)])),
      },
    ]),
  );
