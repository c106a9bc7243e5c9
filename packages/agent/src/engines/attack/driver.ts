import type { ConnectionOptions, TlsOptions } from 'node:tls';
import type {
  AttackListen,
  Attempt,
  ClientObservation,
  Content,
  ExchangeProtocol,
  ServerObservation,
} from '@rushhour/protocol';
import type { CookieJar } from './cookie-jar.ts';
import type { KeptDialogs } from './kept-dialogs.ts';

/** What both ends of an entry share. */
export interface Scene {
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

export interface ClientScene extends Scene {
  readonly kept: KeptDialogs;
  /** Where cookies are followed. */
  readonly cookies?: CookieJar;
  readonly tls: ConnectionOptions;
  readonly signal: AbortSignal;
}

/** Where one attempt goes and where it comes from. */
export interface AttackRoute {
  /** As it stands in the plan, for names in requests. */
  readonly host: string;
  readonly address: string;
  readonly port: number;
  readonly transport: 'tcp' | 'udp' | 'icmp';
  readonly isTls: boolean;
  readonly localAddress?: string;
  readonly localPort?: number;
  /** Named in the handshake of TLS, unless the entry names one. */
  readonly serverName?: string;
  readonly timeoutMs: number;
}

/** What a driver tells of an attempt; times and names are added by the runner. */
export type ClientSight = Pick<
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
export interface ProofSight {
  readonly ip: string;
  readonly isGood: boolean;
  readonly detail: string;
}

/** What our server saw; the runner adds the side. */
export type ServerSight = Omit<ServerObservation, 'side'>;

export interface ServerScene extends Scene {
  readonly tls: TlsOptions;
  /** The attempt of a token, if it is of this entry. */
  attemptOf(token: string): { readonly attempt: Attempt; readonly step: number } | undefined;
  /** All attempts of a service, in the order in which they are tried. */
  attemptsOf(service: string): readonly Attempt[];
  record(sight: ServerSight): void;
}

/** An open listener. `close` tells first of what had begun and was never finished. */
export interface AttackListener {
  close(): Promise<void>;
}

/** Of an attempt that was not made. */
export const nothingSeen: ClientSight = {
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
  attempt(attempt: Attempt, route: AttackRoute, scene: ClientScene): Promise<ClientSight>;
  /** Asks our own server to prove itself, in a way that no device minds. */
  prove(nonce: string, route: AttackRoute, scene: ClientScene): Promise<ProofSight>;
  listen(place: AttackListen, scene: ServerScene): Promise<AttackListener>;
}
