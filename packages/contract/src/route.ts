import type { Static, TSchema } from 'typebox';
import type { AiOperation } from './ai-scopes.ts';
import type { Permission } from './permissions.ts';

/** Who may call a route: anyone, any signed-in user, a holder of an AI key, or a user whose group holds the named permission. */
export type Access = 'public' | 'session' | 'aiKey' | Permission;

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly summary: string;
  readonly access: Access;
  /** Present if and only if access is `aiKey`. */
  readonly ai?: AiOperation;
  readonly params?: TSchema;
  readonly query?: TSchema;
  /** Schema of the JSON body. `bodyOptional` lets a client leave it out. */
  readonly body?: TSchema;
  readonly bodyOptional?: true;
  /** Maximum JSON body in bytes, if not the setting `limits.bodyBytes`. */
  readonly bodyLimit?: number;
  /** Text parts of a `multipart/form-data` body with one `file` part, accepted instead of the JSON body. */
  readonly upload?: TSchema;
  /** The body is a plain stream of bytes (`application/octet-stream`). */
  readonly chunk?: true;
  /** Schema of the 200 body. Omitted when the reply is empty. */
  readonly reply?: TSchema;
  /** Media types of the 200 body when it is a file. */
  readonly download?: readonly string[];
  /** The file has an ETag, which `If-None-Match` may name; with `ranges`, parts of it can be requested too. */
  readonly conditional?: 'etag' | 'ranges';
  /** Schema of one event when the reply is `text/event-stream`. */
  readonly events?: TSchema;
  /** Allowed before the user has set a password and accepted the agreement. */
  readonly beforePassword?: true;
  /** Allowed before the user has accepted the agreement. */
  readonly beforeAgreement?: true;
  /** Headers that the operation reads or sets beside those of all routes, with their meaning. */
  readonly headers?: {
    readonly request?: Readonly<Record<string, string>>;
    readonly reply?: Readonly<Record<string, string>>;
  };
  /** Statuses besides those common to all routes (see `statusesOf`). */
  readonly errors?: readonly number[];
}

export interface Collection<Routes extends Record<string, Route> = Record<string, Route>> {
  readonly tag: string;
  readonly title: string;
  readonly routes: Routes;
}

/** A route by method and path (`GET /tasks/:id`), with the literal types of its schemas. */
export const route = <const Rest extends Omit<Route, 'method' | 'path'>>(
  endpoint: `${Route['method']} ${string}`,
  rest: Rest,
): Rest & Pick<Route, 'method' | 'path'> => {
  const [method, path] = endpoint.split(' ') as [Route['method'], string];
  return { method, path, ...rest };
};

export const collection = <const Routes extends Record<string, Route>>(c: Collection<Routes>): Collection<Routes> => c;

type Part<R, K extends 'params' | 'query'> = R extends { readonly [P in K]: infer S extends TSchema }
  ? { readonly [P in K]: Static<S> }
  : unknown;

type BodyPart<R> = R extends { readonly body: infer S extends TSchema }
  ? R extends { readonly bodyOptional: true } | { readonly upload: TSchema }
    ? { readonly body?: Static<S> | undefined }
    : { readonly body: Static<S> }
  : unknown;

/** The text parts of an upload. */
export type UploadFieldsOf<R extends Route> = R extends { readonly upload: infer S extends TSchema }
  ? Static<S>
  : never;

/** The validated parts of a request, as a handler receives them and a client sends them. */
export type RequestOf<R extends Route> = Part<R, 'params'> & Part<R, 'query'> & BodyPart<R>;

export type EventOf<R extends Route> = R extends { readonly events: infer S extends TSchema } ? Static<S> : never;

/** What a handler returns and a client receives: the reply, a stream of events, or nothing. */
export type ReplyOf<R extends Route> = R extends { readonly reply: infer S extends TSchema }
  ? Static<S>
  : R extends { readonly events: TSchema }
    ? AsyncIterable<EventOf<R>>
    : undefined;

export const permissionOf = ({ access }: Route): Permission | undefined =>
  access === 'public' || access === 'session' || access === 'aiKey' ? undefined : access;

/** Every status the route may answer with, 200 first. */
export const statusesOf = (route: Route): number[] => {
  const statuses = new Set([200, 400, 429, 500, 503, ...(route.errors ?? [])]);
  if (route.access !== 'public') for (const status of [401, 403]) statuses.add(status);
  if (route.conditional !== undefined) statuses.add(304);
  if (route.conditional === 'ranges') for (const status of [206, 416]) statuses.add(status);
  if (route.body !== undefined || route.chunk || route.upload)
    for (const status of [408, 413, 415]) statuses.add(status);
  return [...statuses].sort((a, b) => a - b);
};
