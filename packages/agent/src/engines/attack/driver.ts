import type {
  AttackListen,
  Attempt,
  ClientObservation,
  Content,
  ExchangeProtocol,
  ServerObservation,
  TlsServerSettings,
} from '@rushhour/protocol';
import type { HostNetwork } from '../../net/host-network.ts';
import type { SecureSocketsOptions } from '../../net/secure-sockets.ts';
import type { AttackRoute, ConnectionSettings } from './transport/client-connection.ts';
import type { ConnectionPool } from './transport/connection-pool.ts';
import type { CookieJar } from './transport/cookie-jar.ts';

export type { AttackRoute } from './transport/client-connection.ts';

/** Shared by client and server of an entry. */
export interface AttackContext {
  readonly runToken: string;
  readonly proofKey: string;
  /** Whether requests carry the X-Traffic-Test marker. */
  readonly marker: boolean;
  /** Whether HTTP connections are reused. */
  readonly keepAlive: boolean;
  /** Milliseconds since the start of the job. */
  elapsedMs(): number;
  /** The content as bytes; sealed files are decrypted in memory only. */
  bytesOf(content: Content): Buffer;
}

export interface ClientContext extends AttackContext, ConnectionSettings {
  /** Attempts are sent past the device. */
  readonly isBare?: boolean;
  /** Host of HTTP proofs where the attempt names none. */
  readonly proofHost?: string;
  readonly proofPath: string;
  /** Version of HTTP proofs. */
  readonly proofVersion: '1.1' | '2';
  /** Set when HTTP proofs are gRPC calls of this method. */
  readonly proofGrpcPath?: string;
  readonly pool: ConnectionPool;
  /** Set when cookies are kept. */
  readonly cookies?: CookieJar;
}

/** Result of an attempt as seen by a driver; the caller adds times and names. */
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
  | 'isAltered'
  | 'changes'
  | 'tls'
  | 'ttfbMs'
  | 'error'
  | 'excerpt'
>;

/** Result of a control exchange with our own server. */
export interface ProofOutcome {
  readonly ip: string;
  readonly isGood: boolean;
  readonly detail: string;
  /** The server has received the attempt that was asked about. */
  readonly hasArrived?: boolean;
}

/** Result as seen by our server; the caller adds the side. */
export type ServerOutcome = Omit<ServerObservation, 'side'>;

export interface ServerContext extends AttackContext {
  readonly tls: TlsServerSettings;
  /** What else sessions of TLS need. */
  readonly secure: Omit<SecureSocketsOptions, 'alpn' | 'listen'>;
  readonly hostNetwork?: HostNetwork | undefined;
  /** The attempt of a token; undefined for tokens of other entries. */
  attemptOf(token: string): { readonly attempt: Attempt; readonly step: number; readonly isBare: boolean } | undefined;
  /** True once all of an attempt has arrived. */
  hasSeen(attempt: number): boolean;
  /** All attempts of a service, in execution order. */
  attemptsOf(service: string): readonly Attempt[];
  record(outcome: ServerOutcome): void;
}

/** An open listener. `close` first reports incomplete requests. */
export interface AttackListener {
  close(): Promise<void>;
}

/** Outcome of an attempt that was not made. */
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

/** Client and server of one protocol. Network errors are reported as outcomes, never thrown. */
export interface ProtocolDriver {
  readonly protocols: readonly ExchangeProtocol[];
  attempt(attempt: Attempt, route: AttackRoute, context: ClientContext): Promise<ClientOutcome>;
  /** Sends a harmless request whose answer only our own server can give, addressed as the attempt was. */
  prove(nonce: string, route: AttackRoute, context: ClientContext, after?: Attempt): Promise<ProofOutcome>;
  listen(endpoint: AttackListen, context: ServerContext): Promise<AttackListener>;
}
