import type { Readable } from 'node:stream';
import type { Api, Collection, ReplyOf, RequestOf, Route, UploadFieldsOf } from '@rushhour/contract';
import type { AiCaller, Caller, Visitor } from './caller.ts';

/** A file that arrives with a request. Read it to its end or throw; it is never kept in memory. */
export interface Upload<Fields> {
  readonly fields: Fields;
  readonly filename: string;
  readonly stream: Readable;
}

/** A file sent as the response. */
export interface Download {
  readonly type: string;
  readonly body: Readable | Buffer | string;
  readonly status?: 200 | 206 | 304;
  readonly headers?: Record<string, string>;
}

type UploadPart<R extends Route> = R extends { readonly upload: object }
  ? { readonly upload?: Upload<UploadFieldsOf<R>> | undefined }
  : unknown;
type ChunkPart<R extends Route> = R extends { readonly chunk: true }
  ? { readonly chunk: { readonly stream: Readable | undefined; readonly contentRange: string | undefined } }
  : unknown;
type AnswerOf<R extends Route> = R extends { readonly download: readonly string[] } ? Download : ReplyOf<R>;

type CallerOf<R extends Route> = R['access'] extends 'public'
  ? Visitor
  : R['access'] extends 'aiKey'
    ? AiCaller
    : Caller;

export type Handler<R extends Route> = (
  request: RequestOf<R> & UploadPart<R> & ChunkPart<R>,
  caller: CallerOf<R>,
) => Promise<AnswerOf<R>> | AnswerOf<R> | (AnswerOf<R> extends undefined ? Promise<void> | void : never);

/** One handler for each route of a collection: a missing or misspelt one does not compile. */
export type Handlers<C extends Collection> = { readonly [K in keyof C['routes']]: Handler<C['routes'][K]> };

/** The handlers of the whole API. */
export type AllHandlers = { readonly [Name in keyof Api]: Handlers<Api[Name]> };
