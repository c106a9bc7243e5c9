import type { HttpClientConfig } from '@rushhour/protocol';
import type { Route, Transport } from '../../../net/transport/transport.ts';
import type { Exchange } from './exchange.ts';
import type { JourneyTarget } from './step-request.ts';

/** Carries the exchanges of one user over connections that it opens when they are needed. */
export interface Carrier {
  /** Exchanges at the same time. */
  readonly maxExchanges: number;
  /** Must be called only while there are fewer. */
  send(exchange: Exchange, now: number): void;
  /** Times out exchanges and closes idle connections. */
  sweep(now: number): void;
  /** Closes idle connections; exchanges under way end first. */
  retire(): void;
  /** Closes immediately; requests under way count as unanswered. */
  abandon(): void;
}

export interface CarrierContext {
  /** Of the user. */
  readonly index: number;
  readonly config: HttpClientConfig;
  /** All connections of a user go to one target until all of them are closed. */
  readonly chooseTarget: (user: number) => JourneyTarget;
  readonly routeTo: (target: JourneyTarget, user: number) => Route;
  readonly onConnecting: () => void;
  /** The connection is closed or has failed. */
  readonly onClosed: (now: number) => void;
}

export interface TcpCarrierContext extends CarrierContext {
  readonly transport: Transport;
}
