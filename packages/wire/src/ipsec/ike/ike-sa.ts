import { type PackedBytes, packBytes, unpackBytes } from '../../bytes/packed-bytes.ts';
import type { ChildSa } from './child-sa.ts';
import type { IpsecCrypto, KeyExchange, PacketCipher } from './crypto.ts';
import { deriveIkeKeys, type IkeKeyInput, type IkeKeys, type Nonces } from './key-schedule.ts';
import { type IkePayload, writeMessage } from './messages/message.ts';
import { headerFlag } from './messages/numbers.ts';
import type { Identification } from './messages/payloads.ts';
import { FragmentBuffer, type OpenedMessage, sealMessages } from './messages/sealed-message.ts';
import type { Suite } from './messages/suites.ts';
import type { EapClient, IkeCause, IkeClock, IkePeer, IkeRoute } from './peer.ts';

export type IkeState = 'init' | 'auth' | 'established' | 'closing' | 'closed';

const never = Number.POSITIVE_INFINITY;
const maxRetransmitMs = 16_000;
const noSpi = new Uint8Array(8);
const noKey = new Uint8Array(0);

const bytesOf = (bytes: Uint8Array | PackedBytes): Uint8Array =>
  typeof bytes === 'string' ? unpackBytes(bytes) : bytes;

/** A request that waits for its response. */
interface PendingRequest {
  readonly id: number;
  readonly exchange: number;
  readonly packets: readonly Uint8Array[];
  readonly sentMs: number;
  readonly onReply: (payloads: readonly IkePayload[], message: Uint8Array, opened?: OpenedMessage) => void;
  retransmits: number;
}

/** Work that needs a request; requests are sent one after the other. */
export type IkeTask =
  | { readonly kind: 'createChild'; readonly index: number }
  | { readonly kind: 'rekeyChild'; readonly child: ChildSa }
  | { readonly kind: 'deleteChild'; readonly child: ChildSa }
  | { readonly kind: 'rekeyIke' }
  | { readonly kind: 'check' }
  /** This side has another address (MOBIKE). */
  | { readonly kind: 'update' }
  | { readonly kind: 'delete' };

/** What is known only until the SA is authenticated. */
export interface Negotiation {
  keyExchange: KeyExchange | undefined;
  nonces: Nonces | undefined;
  localNonce: Uint8Array;
  cookie: Uint8Array | undefined;
  group: number;
  /** First message of either side, as sent. */
  localInit: Uint8Array;
  remoteInit: Uint8Array;
  /** Hashes of digital signatures that the peer supports. */
  hashes: readonly number[] | undefined;
  /** Second key exchange that is still to come; 0: none. */
  additional: number;
  /** Both sides of the exchanges before IKE_AUTH, which authentication covers. */
  intermediate: Uint8Array | undefined;
  /** Initiators that authenticate by EAP. */
  eap?: EapClient | undefined;
  /** Attempts with another group or a cookie. */
  attempts: number;
}

export interface IkeEvents {
  /** Both sides have the keys; the peer is not authenticated yet. */
  onKeys(sa: IkeSa, keys: IkeKeys): void;
  onEstablished(sa: IkeSa): void;
  onClosed(sa: IkeSa, cause: IkeCause): void;
  /** The SA has new keys: child SAs belong to the other one now. */
  onReplaced(sa: IkeSa, by: IkeSa): void;
  onChildUp(sa: IkeSa, child: ChildSa, replaced?: ChildSa): void;
  onChildDown(sa: IkeSa, child: ChildSa): void;
  /** A child SA that the peer refuses, by the name of its notification. */
  onChildFailed(sa: IkeSa, index: number, cause: IkeCause): void;
  onExchange(sa: IkeSa, exchange: number, durationMs: number): void;
  onRetransmit(sa: IkeSa): void;
  onCookie(sa: IkeSa): void;
  /** Its packets go between other addresses or ports from now on. */
  onMoved(sa: IkeSa): void;
}

/** What an SA needs of the endpoint that it belongs to. */
export interface IkeOwner extends IkeClock {
  readonly events: IkeEvents;
  send(sa: IkeSa, message: Uint8Array): void;
  /** One byte that keeps the mapping of a NAT. */
  sendKeepalive(sa: IkeSa): void;
  /** Calls the timer of the SA at a time; replaces what was set before. */
  setTimer(sa: IkeSa, atMs: number): void;
  /** A new SA that replaces the given one. */
  createReplacement(sa: IkeSa, options: { readonly isInitiator: boolean }): IkeSa;
  /** An SPI of ESP that no other child SA of the endpoint has. */
  allocateSpi(): number;
  release(sa: IkeSa): void;
}

/** One IKE SA: keys, message numbers, the request that is under way, and timers. The exchanges are in other files. */
export class IkeSa {
  readonly owner: IkeOwner;
  readonly isInitiator: boolean;
  /** Number of the SA in its endpoint; -1: it is not in it. */
  slot = -1;
  state: IkeState = 'init';
  peer: IkePeer;
  route: IkeRoute;
  /** Where the message that is being handled came from. */
  arrivedBy: IkeRoute | undefined;
  suite: Suite | undefined;
  /** Until the peer is authenticated. */
  authKeys: IkeKeys['authentication'] | undefined;
  negotiation: Negotiation | undefined;
  localIdentity: Identification | undefined;
  remoteIdentity: Identification | undefined;
  /** Inner address that the responder has assigned. */
  innerAddress: Uint8Array | undefined;
  hasNat = false;
  /** This side is behind the NAT and has to keep its mapping. */
  isBehindNat = false;
  canFragment = false;
  /** Both sides take a new address without new keys (RFC 4555). */
  isMobile = false;
  rekeys = 0;
  startedMs: number;
  establishedMs = 0;
  readonly children: ChildSa[] = [];
  readonly tasks: IkeTask[] = [];
  readonly counters = { sent: 0, received: 0, retransmits: 0, invalid: 0 };
  heardMs: number;
  rekeyAt = never;
  expireAt = never;
  keepaliveAt = never;
  /** Tasks wait until then, after the peer has reported a temporary failure. */
  tasksAt = 0;
  /** Another SA has its child SAs. */
  isReplaced = false;
  /** Its lifetime is over. */
  isExpired = false;
  /** The SA that this side is replacing it by. */
  replacement: IkeSa | undefined;
  /** The peer has begun to replace it at the same time. */
  collision: { readonly sa: IkeSa; readonly nonce: Uint8Array } | undefined;
  /** The transport keeps what it knows of the session here. */
  context: unknown;
  /** As arrays until the SA is authenticated, because they are needed often. */
  #localSpi: Uint8Array | PackedBytes;
  #remoteSpi: Uint8Array | PackedBytes = noSpi;
  #pending: PendingRequest | undefined;
  #retransmitAt = never;
  #nextRequest = 0;
  #expected = 0;
  #lastResponse: readonly (Uint8Array | PackedBytes)[] = [];
  #derivation: PackedBytes = packBytes(noKey);
  #sealer: PacketCipher | undefined;
  #opener: PacketCipher | undefined;
  #fragments: FragmentBuffer | undefined;

  constructor(
    owner: IkeOwner,
    options: { peer: IkePeer; route: IkeRoute; isInitiator: boolean; localSpi: Uint8Array },
  ) {
    this.owner = owner;
    this.isInitiator = options.isInitiator;
    this.#localSpi = options.localSpi;
    this.peer = options.peer;
    this.route = options.route;
    this.startedMs = owner.nowMs;
    this.heardMs = owner.nowMs;
  }

  get localSpi(): Uint8Array {
    return bytesOf(this.#localSpi);
  }

  get remoteSpi(): Uint8Array {
    return bytesOf(this.#remoteSpi);
  }

  set remoteSpi(spi: Uint8Array) {
    this.#remoteSpi = spi;
  }

  get crypto(): IpsecCrypto {
    return this.owner.crypto;
  }

  get initiatorSpi(): Uint8Array {
    return this.isInitiator ? this.localSpi : this.remoteSpi;
  }

  get responderSpi(): Uint8Array {
    return this.isInitiator ? this.remoteSpi : this.localSpi;
  }

  get opener(): PacketCipher | undefined {
    return this.#opener;
  }

  get isBusy(): boolean {
    return this.#pending !== undefined;
  }

  /** How often the request under way was sent again. */
  get unanswered(): number {
    return this.#pending?.retransmits ?? 0;
  }

  get isHalfOpen(): boolean {
    return this.state === 'init' || this.state === 'auth';
  }

  /** The message of the request under way. */
  get lastRequest(): Uint8Array {
    return this.#pending?.packets[0] ?? noSpi;
  }

  /** The message of the last response. */
  get lastResponse(): Uint8Array {
    const [first = noSpi] = this.#lastResponse;
    return bytesOf(first);
  }

  /** Key that further keys are derived from. */
  get derivation(): Uint8Array {
    return unpackBytes(this.#derivation);
  }

  /** Message number of the next request of the peer. */
  get expected(): number {
    return this.#expected;
  }

  get fragments(): FragmentBuffer {
    this.#fragments ??= new FragmentBuffer();
    return this.#fragments;
  }

  /** Fragments of a whole message are not needed any more. */
  dropFragments(): void {
    this.#fragments = undefined;
  }

  setKeys(suite: Suite, input: Omit<IkeKeyInput, 'suite' | 'initiatorSpi' | 'responderSpi'>): void {
    const { crypto, initiatorSpi, responderSpi } = this;
    const keys = deriveIkeKeys(crypto, { ...input, suite, initiatorSpi, responderSpi });
    this.suite = suite;
    this.#derivation = packBytes(keys.derivation);
    this.authKeys = keys.authentication;
    const [own, other] = this.isInitiator ? [keys.initiator, keys.responder] : [keys.responder, keys.initiator];
    this.#sealer = crypto.createCipher(suite, own);
    this.#opener = crypto.createCipher(suite, other);
    this.owner.events.onKeys(this, keys);
  }

  /** Sends a request. There is none under way. */
  request(exchange: number, payloads: readonly IkePayload[], onReply: PendingRequest['onReply']): void {
    const id = this.#nextRequest;
    const packets = this.#write(payloads, { exchange, messageId: id, isResponse: false });
    this.#pending = { id, exchange, packets, onReply, sentMs: this.owner.nowMs, retransmits: 0 };
    this.#retransmitAt = this.owner.nowMs + this.peer.timers.retransmitMs;
    this.sendAll(packets);
    this.reschedule();
  }

  /** The first message is sent again as a new one: with a cookie or another group. */
  resetRequest(): void {
    this.#pending = undefined;
    this.#nextRequest = 0;
  }

  /** Answers the request that is being handled. */
  respond(exchange: number, payloads: readonly IkePayload[]): void {
    const packets = this.#write(payloads, { exchange, messageId: this.#expected, isResponse: true });
    this.#expected++;
    this.#lastResponse = this.state === 'init' ? packets : packets.map(packBytes);
    this.sendAll(packets);
  }

  /** True if a request is the one that was answered last; it is answered again. */
  repeatResponse(messageId: number): boolean {
    if (messageId !== this.#expected - 1) return false;
    this.sendAll(this.#lastResponse.map(bytesOf));
    return true;
  }

  /** Ends the request under way if this is its response. */
  takePending(messageId: number, exchange: number): PendingRequest | undefined {
    const pending = this.#pending;
    if (pending === undefined || pending.id !== messageId || pending.exchange !== exchange) return undefined;
    this.#pending = undefined;
    this.#retransmitAt = never;
    this.#nextRequest = messageId + 1;
    this.owner.events.onExchange(this, exchange, this.owner.nowMs - pending.sentMs);
    return pending;
  }

  /** What arrived was not its response: the request is under way as before. */
  keepPending(pending: PendingRequest): void {
    this.#pending = pending;
    this.#nextRequest = pending.id;
    this.#retransmitAt = this.owner.nowMs + this.#retransmitMs(pending);
  }

  /** Sends the pending request again if it is time. Returns false when the peer has been silent too long. */
  retransmit(): boolean {
    const pending = this.#pending;
    const { nowMs, events } = this.owner;
    if (pending === undefined || nowMs < this.#retransmitAt) return true;
    const { maxRetransmits, dpdTimeoutMs } = this.peer.timers;
    const isEstablished = this.state === 'established' && dpdTimeoutMs > 0;
    const isOver = isEstablished ? nowMs - this.heardMs >= dpdTimeoutMs : pending.retransmits >= maxRetransmits;
    if (isOver) return false;
    pending.retransmits++;
    this.counters.retransmits++;
    this.#retransmitAt = nowMs + this.#retransmitMs(pending);
    events.onRetransmit(this);
    this.sendAll(pending.packets);
    return true;
  }

  sendAll(packets: readonly Uint8Array[]): void {
    this.counters.sent += packets.length;
    for (const packet of packets) this.owner.send(this, packet);
  }

  /** A request whose response does not matter: the SA is gone. */
  sendLast(exchange: number, payloads: readonly IkePayload[]): void {
    this.sendAll(this.#write(payloads, { exchange, messageId: this.#nextRequest, isResponse: false }));
  }

  addTask(task: IkeTask): void {
    this.tasks.push(task);
  }

  reschedule(): void {
    if (this.state === 'closed') return;
    const { dpdIntervalMs } = this.peer.timers;
    const checkAt =
      this.state === 'established' && dpdIntervalMs > 0 && !this.isBusy ? this.heardMs + dpdIntervalMs : never;
    let at = Math.min(this.#retransmitAt, this.expireAt, this.keepaliveAt, this.rekeyAt, checkAt);
    if (this.tasks.length > 0 && !this.isBusy) at = Math.min(at, this.tasksAt);
    for (const child of this.children) at = Math.min(at, child.rekeyAt, child.expireAt);
    this.owner.setTimer(this, at);
  }

  close(cause: IkeCause): void {
    if (this.state === 'closed') return;
    this.state = 'closed';
    this.#pending = undefined;
    this.forgetNegotiation();
    this.tasks.length = 0;
    for (const child of [...this.children]) this.removeChild(child);
    this.owner.release(this);
    this.owner.events.onClosed(this, cause);
  }

  /** The SA is authenticated: what is kept of it takes little memory from now on. */
  pack(): void {
    this.#localSpi = packBytes(this.localSpi);
    this.#remoteSpi = packBytes(this.remoteSpi);
    this.localIdentity = undefined;
    this.remoteIdentity = undefined;
    this.authKeys = undefined;
  }

  /** What was needed to find out who the peer is. */
  forgetNegotiation(): void {
    this.negotiation?.eap?.close?.();
    this.negotiation = undefined;
  }

  removeChild(child: ChildSa): void {
    const at = this.children.indexOf(child);
    if (at < 0) return;
    this.children.splice(at, 1);
    child.state = 'deleted';
    this.owner.events.onChildDown(this, child);
  }

  #retransmitMs({ retransmits }: PendingRequest): number {
    return Math.min(this.peer.timers.retransmitMs * 2 ** retransmits, maxRetransmitMs);
  }

  #write(
    payloads: readonly IkePayload[],
    { exchange, messageId, isResponse }: { exchange: number; messageId: number; isResponse: boolean },
  ): readonly Uint8Array[] {
    const flags = (this.isInitiator ? headerFlag.initiator : 0) | (isResponse ? headerFlag.response : 0);
    const { initiatorSpi, responderSpi } = this;
    const fields = { initiatorSpi, responderSpi, exchange, flags, messageId };
    const isSealed = this.#sealer !== undefined && this.state !== 'init';
    if (!isSealed) return [writeMessage(fields, payloads)];
    return sealMessages({ cipher: this.#sealer as PacketCipher, fields }, payloads, this.canFragment);
  }
}
