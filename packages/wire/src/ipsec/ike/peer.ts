import type { Credential, IpsecCrypto, PeerCheck } from './crypto.ts';
import type { Identification, TrafficSelector } from './messages/payloads.ts';
import type { Offer } from './messages/suites.ts';

/** The two ends that messages of an SA travel between. Addresses have 4 or 16 bytes. */
export interface IkeRoute {
  readonly localAddress: Uint8Array;
  readonly localPort: number;
  readonly remoteAddress: Uint8Array;
  readonly remotePort: number;
  /** UDP port 4500, where ESP shares the flow: messages are preceded by four zeros. */
  readonly isEncapsulated: boolean;
  /** Number that the transport finds its socket or host by. */
  readonly path: number;
}

/** What follows a packet of EAP. */
export type EapStep =
  | { readonly kind: 'respond'; readonly packet: Uint8Array }
  /** The key that both sides have now. */
  | { readonly kind: 'succeeded'; readonly key: Uint8Array }
  | { readonly kind: 'failed'; readonly cause: string };

/** The side of one EAP conversation that asks to be let in. */
export interface EapClient {
  readonly identity: string;
  receive(packet: Uint8Array): EapStep;
  /** The conversation is over, whatever its result. */
  close?(): void;
}

export type IkeAuthentication =
  | { readonly kind: 'sharedKey'; readonly key: Uint8Array }
  | { readonly kind: 'certificate'; readonly credential: Credential }
  /** Initiator only: the responder has a certificate, this side answers by EAP. */
  | { readonly kind: 'eap'; readonly server: PeerCheck; createClient(): EapClient };

/** Selectors of one child SA, from this side. */
export interface ChildSelectors {
  readonly local: readonly TrafficSelector[];
  readonly remote: readonly TrafficSelector[];
}

/** Milliseconds; 0: never. */
export interface IkeTimers {
  /** Between checks that the peer is alive. */
  readonly dpdIntervalMs: number;
  /** Silence after which a peer is dead. */
  readonly dpdTimeoutMs: number;
  /** Until keys are renewed by this side. */
  readonly rekeyMs: number;
  /** Until an SA ends. */
  readonly lifetimeMs: number;
  /** Between NAT keep-alives where a NAT is in between. */
  readonly keepaliveMs: number;
  /** Before the first retransmission; doubled each time. */
  readonly retransmitMs: number;
  readonly maxRetransmits: number;
  /** Until an SA that this side opens has to be up. */
  readonly handshakeMs: number;
}

export const defaultIkeTimers: IkeTimers = {
  dpdIntervalMs: 30_000,
  dpdTimeoutMs: 150_000,
  rekeyMs: 0,
  lifetimeMs: 0,
  keepaliveMs: 20_000,
  retransmitMs: 1000,
  maxRetransmits: 5,
  handshakeMs: 0,
};

/** What is configured for the other end of an IKE SA. */
export interface IkePeer {
  readonly ikeOffers: readonly Offer[];
  readonly espOffers: readonly Offer[];
  readonly authentication: IkeAuthentication;
  /** Absent: the address, or the subject of the certificate. */
  readonly localId?: Identification | undefined;
  /** Absent: any. */
  readonly remoteId?: Identification | undefined;
  /** One for each child SA; the first comes with the IKE SA. None: the IKE SA is closed after its own selectors fail. */
  readonly children: readonly ChildSelectors[];
  readonly isTransport: boolean;
  /** Initiator: other addresses of this side may take over its SAs (MOBIKE). */
  readonly isMobile?: boolean | undefined;
  /** ESP in UDP even without a NAT in between. */
  readonly forcesEncapsulation: boolean;
  readonly timers: IkeTimers;
  /** Packets of ESP that may arrive out of order. */
  readonly replayWindow: number;
  /** Initiator: asks for an inner address of this version. */
  readonly requestsAddress?: 4 | 6 | undefined;
  /** Responder: the inner address for an initiator that asks for one of this version. */
  assignAddress?(version: 4 | 6, initiator: Identification): Uint8Array | undefined;
}

/** Why an SA ended: the name of a notification, or one of these. */
export type IkeCause =
  | 'timeout'
  | 'deadPeer'
  | 'closed'
  | 'deleted'
  | 'lifetime'
  | 'replaced'
  | 'untrusted'
  | (string & {});

/** Cryptography and the clock that all SAs of an endpoint share. */
export interface IkeClock {
  readonly crypto: IpsecCrypto;
  /** Milliseconds that only grow. */
  nowMs: number;
}
