import type { Chunk } from '../../net/transport/transport.ts';

/** What a channel tells the client. A token stands for one query under way on that channel. */
export interface MessageTransportEvents {
  onAnswer(token: number, answer: Chunk): void;
  /** The query will not be answered. */
  onFail(token: number, code: string): void;
  /** Something went wrong that concerns no single query. */
  onError(code: string): void;
  onConnect(ms: number): void;
}

/** A way to one server that carries queries and answers. Tokens are also the ids of the messages. */
export interface MessageTransport {
  /** The bytes are needed no longer than this call. */
  send(message: Buffer, token: number): void;
  /** The client no longer waits for this answer. */
  forget(token: number): void;
  close(): void;
}
