import type { Api, Collection, ReplyOf, RequestOf, Route } from '@rushhour/contract';
import type { Tokens } from './identity/sessions.ts';
import type { Origin } from './store/change.ts';

/** One request, seen by a handler: where it comes from and what may be added to its answer. */
export interface Visitor extends Origin {
  /** The refresh token of the cookie, if any. */
  readonly refreshToken: string | undefined;
  readonly lastEventId: string | undefined;
  /** Aborted when the client goes away or the controller stops. */
  readonly signal: AbortSignal;
  setHeader(name: string, value: string): void;
  /** Hands out session cookies, or takes them away. */
  setSession(tokens: Tokens | undefined): void;
  /** The signed-in user of a public route, where there is one. */
  caller(): Promise<Caller | undefined>;
}

/** A signed-in user. Present on every route whose access is not `public`. */
export interface Caller extends Visitor {
  readonly userId: number;
  readonly sessionId: number;
  readonly isRequiredToSetPassword: boolean;
  readonly agreementAccepted: boolean;
  /** The integers of the group's permissions. */
  readonly permissions: ReadonlySet<number>;
}

export type Handler<R extends Route> = (
  request: RequestOf<R>,
  caller: R['access'] extends 'public' ? Visitor : Caller,
) => Promise<ReplyOf<R>> | ReplyOf<R> | (ReplyOf<R> extends undefined ? Promise<void> | void : never);

/** One handler for each route of a collection: a missing or misspelt one does not compile. */
export type Handlers<C extends Collection> = { readonly [K in keyof C['routes']]: Handler<C['routes'][K]> };

/** The handlers of the whole API. */
export type AllHandlers = { readonly [Name in keyof Api]: Handlers<Api[Name]> };
