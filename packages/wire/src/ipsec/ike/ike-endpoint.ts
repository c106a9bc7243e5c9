import { packBytes } from '../../bytes/packed-bytes.ts';
import { TimerWheel } from '../../bytes/timer-wheel.ts';
import type { IpsecCrypto } from './crypto.ts';
import { answerInit } from './exchanges/init-exchange.ts';
import { type IkeEvents, type IkeOwner, IkeSa } from './ike-sa.ts';
import {
  concatBytes,
  type IkeHeader,
  type IkePayload,
  IkeSyntaxError,
  ikeHeaderBytes,
  isSameBytes,
  readHeader,
  readPayloads,
  readUint32,
  UnsupportedPayloadError,
  writeMessage,
} from './messages/message.ts';
import { exchangeType, headerFlag, notifyType, payloadType } from './messages/numbers.ts';
import { PayloadSet } from './messages/payload-set.ts';
import { notify, readNonce } from './messages/payloads.ts';
import type { IkePeer, IkeRoute } from './peer.ts';
import { handleMessage, handleTimer, initiate, runTasks } from './session.ts';

/** Milliseconds of a tick of the timer wheel. */
const tickMs = 10;
/** An initiator that does not go on after its first message is forgotten after this time. */
const halfOpenMs = 30_000;
const maxSpiHigh = 0x1fffff;
/** Of the second byte of an SPI; the first one is zero. */
const maxSpiByte = maxSpiHigh >>> 16;
const wordRange = 2 ** 32;

export interface IkeEndpointOptions {
  readonly crypto: IpsecCrypto;
  readonly nowMs: number;
  readonly events: Partial<IkeEvents>;
  /** Sends a message of IKE; the transport adds the marker of encapsulated routes. */
  send(route: IkeRoute, message: Uint8Array): void;
  sendKeepalive?(route: IkeRoute): void;
  /** Responder: what is configured for an initiator; undefined: it is not answered. */
  findPeer?(route: IkeRoute): IkePeer | undefined;
  /** Half-open SAs from which on initiators have to return a cookie. */
  readonly cookieThreshold?: number;
  /** Half-open SAs from which on initiators are ignored. */
  readonly maxHalfOpen?: number;
}

const ignore = () => undefined;
const noEvents: IkeEvents = {
  onKeys: ignore,
  onEstablished: ignore,
  onClosed: ignore,
  onReplaced: ignore,
  onChildUp: ignore,
  onChildDown: ignore,
  onChildFailed: ignore,
  onExchange: ignore,
  onRetransmit: ignore,
  onCookie: ignore,
  onMoved: ignore,
};

/** All IKE SAs of one side: finds them by SPI, runs their timers, and answers initiators. */
export class IkeEndpoint implements IkeOwner {
  readonly crypto: IpsecCrypto;
  readonly events: IkeEvents;
  nowMs: number;
  readonly counters = { received: 0, unknown: 0, invalid: 0, cookiesSent: 0, refused: 0 };
  readonly #options: IkeEndpointOptions;
  readonly #slots: (IkeSa | undefined)[] = [];
  readonly #slotOf = new Map<number, number>();
  readonly #free: number[] = [];
  readonly #halfOpen = new Map<string, IkeSa>();
  readonly #espSpis = new Set<number>();
  readonly #timers: TimerWheel;
  readonly #startMs: number;
  readonly #secret: Uint8Array;

  constructor(options: IkeEndpointOptions) {
    this.#options = options;
    this.crypto = options.crypto;
    this.events = { ...noEvents, ...options.events };
    this.nowMs = options.nowMs;
    this.#startMs = options.nowMs;
    this.#timers = new TimerWheel(0);
    this.#secret = options.crypto.random(32);
  }

  /** SAs that are not authenticated yet, of initiators. */
  get halfOpenCount(): number {
    return this.#halfOpen.size;
  }

  get count(): number {
    return this.#slotOf.size;
  }

  *sas(): Generator<IkeSa> {
    for (const sa of this.#slots) if (sa !== undefined) yield sa;
  }

  /** Opens an IKE SA. */
  open(peer: IkePeer, route: IkeRoute, context?: unknown): IkeSa {
    const sa = this.#create({ peer, route, isInitiator: true });
    sa.context = context;
    if (peer.timers.handshakeMs > 0) sa.expireAt = this.nowMs + peer.timers.handshakeMs;
    initiate(sa);
    return sa;
  }

  /** Deletes an SA; `isSilent`: the peer is not notified. */
  close(sa: IkeSa, isSilent = false): void {
    if (isSilent || sa.isHalfOpen) sa.close('closed');
    else if (sa.state === 'established') {
      sa.tasks.length = 0;
      sa.addTask({ kind: 'delete' });
      this.run(sa);
    }
  }

  /** Moves an SA of an initiator to another address of this side; the peer is asked to follow. */
  move(sa: IkeSa, route: IkeRoute): void {
    sa.route = route;
    this.events.onMoved(sa);
    sa.tasks.unshift({ kind: 'update' });
    this.run(sa);
  }

  /** Starts what an owner has added to the tasks of an SA. */
  run(sa: IkeSa): void {
    runTasks(sa);
    sa.reschedule();
  }

  /** Handles a message without marker. `bytes` may change after the call. */
  receive(route: IkeRoute, bytes: Uint8Array): void {
    this.counters.received++;
    const message = new Uint8Array(bytes);
    const header = readHeader(message);
    if (header === undefined || header.majorVersion !== 2) {
      this.counters.invalid++;
      return;
    }
    const isFromInitiator = (header.flags & headerFlag.initiator) !== 0;
    const isResponse = (header.flags & headerFlag.response) !== 0;
    if (header.exchange === exchangeType.saInit && isFromInitiator && !isResponse) {
      this.#receiveInit(route, header, message);
      return;
    }
    const sa = this.#find(isFromInitiator ? header.responderSpi : header.initiatorSpi);
    if (sa === undefined) {
      this.counters.unknown++;
      return;
    }
    sa.arrivedBy = route;
    handleMessage(sa, header, message);
    sa.arrivedBy = undefined;
    if (!sa.isHalfOpen && !sa.isInitiator) this.#halfOpen.delete(halfOpenKey(sa.route, sa.remoteSpi));
  }

  /** Sets the time and runs timers. */
  advance(nowMs: number): void {
    this.nowMs = nowMs;
    this.#timers.advance(Math.floor((nowMs - this.#startMs) / tickMs), (slot) => {
      const sa = this.#slots[slot];
      if (sa !== undefined) handleTimer(sa);
    });
  }

  send(sa: IkeSa, message: Uint8Array): void {
    this.#options.send(sa.route, message);
  }

  sendKeepalive(sa: IkeSa): void {
    this.#options.sendKeepalive?.(sa.route);
  }

  setTimer(sa: IkeSa, atMs: number): void {
    if (sa.slot < 0) return;
    if (atMs === Number.POSITIVE_INFINITY) this.#timers.clear(sa.slot);
    else this.#timers.set(sa.slot, Math.ceil((atMs - this.#startMs) / tickMs));
  }

  createReplacement(sa: IkeSa, { isInitiator }: { readonly isInitiator: boolean }): IkeSa {
    return this.#create({ peer: sa.peer, route: sa.route, isInitiator });
  }

  /** Values up to 255 are reserved. */
  allocateSpi(): number {
    for (;;) {
      const spi = readUint32(this.crypto.random(4), 0);
      if (spi < 256 || this.#espSpis.has(spi)) continue;
      this.#espSpis.add(spi);
      return spi;
    }
  }

  releaseSpi(spi: number): void {
    this.#espSpis.delete(spi);
  }

  release(sa: IkeSa): void {
    const { slot } = sa;
    if (slot < 0) return;
    sa.slot = -1;
    this.#slotOf.delete(spiKey(sa.localSpi));
    this.#slots[slot] = undefined;
    this.#timers.clear(slot);
    this.#free.push(slot);
    if (!sa.isInitiator) this.#halfOpen.delete(halfOpenKey(sa.route, sa.remoteSpi));
  }

  #find(spi: Uint8Array): IkeSa | undefined {
    // The bits of an SPI that are not part of its key are zero.
    const slot = readUint32(spi, 0) > maxSpiHigh ? undefined : this.#slotOf.get(spiKey(spi));
    return slot === undefined ? undefined : this.#slots[slot];
  }

  #create(options: { peer: IkePeer; route: IkeRoute; isInitiator: boolean }): IkeSa {
    const localSpi = this.#newSpi();
    const sa = new IkeSa(this, { ...options, localSpi });
    const slot = this.#free.pop() ?? this.#slots.length;
    sa.slot = slot;
    this.#slots[slot] = sa;
    this.#slotOf.set(spiKey(localSpi), slot);
    return sa;
  }

  /** SPIs have 53 random bits, so that a number is the key of the table. */
  #newSpi(): Uint8Array {
    for (;;) {
      const spi = this.crypto.random(8);
      spi[0] = 0;
      spi[1] = (spi[1] as number) & maxSpiByte;
      const key = spiKey(spi);
      if (key !== 0 && !this.#slotOf.has(key)) return spi;
    }
  }

  #receiveInit(route: IkeRoute, header: IkeHeader, message: Uint8Array): void {
    const key = halfOpenKey(route, header.initiatorSpi);
    const known = this.#halfOpen.get(key);
    if (known !== undefined) {
      known.repeatResponse(0);
      return;
    }
    const { findPeer, cookieThreshold = Number.POSITIVE_INFINITY, maxHalfOpen = 1_000_000 } = this.#options;
    const isValid = isSameBytes(header.responderSpi, new Uint8Array(8)) && header.messageId === 0;
    const peer = isValid ? findPeer?.(route) : undefined;
    if (peer === undefined || this.#halfOpen.size >= maxHalfOpen) {
      this.counters.refused++;
      return;
    }
    const payloads = this.#readInit(header, message);
    if (payloads === undefined) return;
    if (this.#halfOpen.size >= cookieThreshold && !this.#hasCookie(route, header, payloads)) return;
    const sa = this.#create({ peer, route, isInitiator: false });
    sa.remoteSpi = header.initiatorSpi.slice();
    sa.expireAt = this.nowMs + halfOpenMs;
    this.#halfOpen.set(key, sa);
    this.#answer(sa, payloads, message);
  }

  #answer(sa: IkeSa, payloads: readonly IkePayload[], message: Uint8Array): void {
    try {
      answerInit(sa, payloads, message);
      sa.reschedule();
    } catch (error) {
      if (!(error instanceof IkeSyntaxError)) throw error;
      this.counters.invalid++;
      sa.close('INVALID_SYNTAX');
    }
  }

  #readInit(header: IkeHeader, message: Uint8Array): IkePayload[] | undefined {
    try {
      const payloads = readPayloads(message, ikeHeaderBytes, header.firstPayload);
      readNonce(new PayloadSet(payloads).get(payloadType.nonce));
      return payloads;
    } catch (error) {
      if (!(error instanceof IkeSyntaxError) && !(error instanceof UnsupportedPayloadError)) throw error;
      this.counters.invalid++;
      return undefined;
    }
  }

  /** True if the initiator has returned its cookie; else it is sent one. Nothing is stored for it. */
  #hasCookie(route: IkeRoute, header: IkeHeader, payloads: readonly IkePayload[]): boolean {
    const set = new PayloadSet(payloads);
    const nonce = set.get(payloadType.nonce);
    const cookie = this.crypto.sha1(concatBytes(nonce, route.remoteAddress, header.initiatorSpi, this.#secret));
    const given = set.notification(notifyType.cookie)?.data;
    if (given !== undefined && isSameBytes(given, cookie)) return true;
    this.counters.cookiesSent++;
    const { initiatorSpi } = header;
    const fields = { initiatorSpi, responderSpi: new Uint8Array(8), exchange: exchangeType.saInit };
    const flags = headerFlag.response;
    this.#options.send(route, writeMessage({ ...fields, flags, messageId: 0 }, [notify(notifyType.cookie, cookie)]));
    return false;
  }
}

/** The table's key of an SPI that this side has chosen; SPIs of others may share one. */
const spiKey = (spi: Uint8Array): number => (readUint32(spi, 0) & maxSpiHigh) * wordRange + readUint32(spi, 4);

/** Ports are left out: they change where a NAT is found. */
const halfOpenKey = ({ remoteAddress }: IkeRoute, spi: Uint8Array): string => packBytes(remoteAddress) + packBytes(spi);
