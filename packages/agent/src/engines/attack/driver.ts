import type { TlsOptions } from 'node:tls';
import type {
  AttackListen,
  Attempt,
  ClientObservation,
  Content,
  ExchangeProtocol,
  ServerObservation,
} from '@rushhour/protocol';
import type { AttackRoute, ConnectionSettings } from './client-connection.ts';
import type { ConnectionPool } from './connection-pool.ts';
import type { CookieJar } from './cookie-jar.ts';

export type { AttackRoute } from './client-connection.ts';

/** What both ends of an entry share. */
export interface AttackContext {
  readonly runToken: string;
  readonly proofKey: string;
  /** Whether test traffic is marked as such. */
  readonly marker: boolean;
  /** Whether connections of HTTP stay open after an exchange. */
  readonly keepAlive: boolean;
  /** Milliseconds since the start of the order. */
  elapsedMs(): number;
  /** The bytes themselves; files are opened in memory only. */
  bytesOf(content: Content): Buffer;
}

export interface ClientContext extends AttackContext, ConnectionSettings {
  readonly pool: ConnectionPool;
  /** Where cookies are followed. */
  readonly cookies?: CookieJar;
}

/** What a driver tells of an attempt; times and names are added by the runner. */
export type ClientOutcome = Pick<
  ClientObservation,
  | 'ip'
  | 'port'
  | 'connect'
  | 'isComplete'
  | 'sentBytes'
  | 'sentSha256'
  | 'end'
  | 'status'
  | 'rxBytes'
  | 'rxSha256'
  | 'responseIsOurs'
  | 'ttfbMs'
  | 'error'
  | 'excerpt'
>;

/** Whether a harmless exchange was answered by our own server. */
export interface ProofOutcome {
  readonly ip: string;
  readonly isGood: boolean;
  readonly detail: string;
}

/** What our server saw; the runner adds the side. */
export type ServerOutcome = Omit<ServerObservation, 'side'>;

export interface ServerContext extends AttackContext {
  readonly tls: TlsOptions;
  /** The attempt of a token, if it is of this entry. */
  attemptOf(token: string): { readonly attempt: Attempt; readonly step: number } | undefined;
  /** All attempts of a service, in the order in which they are tried. */
  attemptsOf(service: string): readonly Attempt[];
  record(outcome: ServerOutcome): void;
}

/** An open listener. `close` tells first of what had begun and was never finished. */
export interface AttackListener {
  close(): Promise<void>;
}

/** Of an attempt that was not made. */
export const noOutcome: ClientOutcome = {
  ip: '',
  port: 0,
  connect: 'none',
  isComplete: false,
  sentBytes: 0,
  sentSha256: '',
  end: 'none',
  status: 0,
  rxBytes: 0,
  rxSha256: '',
  responseIsOurs: false,
  ttfbMs: 0,
};

/** One protocol, both ends. What the network or the device does is told, never thrown. */
export interface ProtocolDriver {
  readonly protocols: readonly ExchangeProtocol[];
  attempt(attempt: Attempt, route: AttackRoute, context: ClientContext): Promise<ClientOutcome>;
  /** Asks our own server to prove itself, in a way that no device minds. */
  prove(nonce: string, route: AttackRoute, context: ClientContext): Promise<ProofOutcome>;
  listen(endpoint: AttackListen, context: ServerContext): Promise<AttackListener>;
}
