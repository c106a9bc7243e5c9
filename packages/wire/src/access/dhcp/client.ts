import type { Memory } from '../../bytes/memory.ts';
import { copyMac, etherType, macBytes } from '../../ethernet/ethernet.ts';
import type { SessionCause } from '../causes.ts';
import { broadcastMac, type FrameWriter, udp4HeaderBytes } from '../frames.ts';
import type { Lines } from '../lines.ts';
import { type SessionTimers, timerKind } from '../timers.ts';
import { DhcpMessage, DhcpWriter, dhcpOption, dhcpPort, dhcpType, maxDhcpBytes } from './message.ts';

const state = { init: 0, selecting: 1, requesting: 2, bound: 3, renewing: 4, rebinding: 5 } as const;
const forever = 0xffffffff;
const anywhere = -1;

export interface DhcpClientOptions {
  readonly timeoutMs: number;
  /** Messages of one kind without an answer before the session fails. */
  readonly retries: number;
  readonly isBroadcast: boolean;
  readonly rapidCommit: boolean;
  readonly hostName: (session: number) => Uint8Array;
  readonly vendorClass: Uint8Array;
  readonly clientId: 'mac' | 'duid' | 'none';
  readonly parameters: Uint8Array;
  /** Percent of the lease after which it is renewed. */
  readonly renewPct: number;
  /** Option 82, as the access node of the subscriber adds it. */
  readonly relay?:
    | {
        readonly circuitId: (session: number) => Uint8Array;
        readonly remoteId: (session: number) => Uint8Array;
        /** 0: the messages come from the subscriber itself. */
        readonly gatewayAddress: number;
      }
    | undefined;
}

export interface DhcpClientHost {
  readonly frames: FrameWriter;
  readonly lines: Lines;
  readonly timers: SessionTimers;
  readonly random: () => number;
  /** A lease is obtained; false: it was renewed. */
  onBound(session: number, isNew: boolean): void;
  onFailed(session: number, cause: SessionCause): void;
}

interface Recipient {
  readonly isUnicast: boolean;
  /** The address in use, of a client that has one. */
  readonly clientAddress?: number;
  readonly requested?: number;
  readonly namesServer?: boolean;
}

/** What the clients of a port have sent and received. */
export const dhcpCounters = () => ({ sent: 0, received: 0, invalid: 0, timeouts: 0, naks: 0, renewals: 0 });

/** The DHCP clients of a port (RFC 2131), one for each session. Their state lies in typed arrays. */
export class DhcpClients {
  readonly counters = dhcpCounters();
  readonly address: Int32Array;
  readonly netmask: Int32Array;
  readonly router: Int32Array;
  readonly dns: Int32Array;
  readonly leaseSec: Uint32Array;
  readonly #server: Int32Array;
  readonly #serverMacs: Uint8Array;
  readonly #state: Uint8Array;
  readonly #attempts: Uint16Array;
  readonly #xid: Int32Array;
  readonly #startedMs: Float64Array;
  readonly #rebindMs: Float64Array;
  readonly #expiryMs: Float64Array;
  readonly #options: DhcpClientOptions;
  readonly #host: DhcpClientHost;
  readonly #message = new DhcpMessage();
  readonly #writer = new DhcpWriter();
  readonly #mac = new Uint8Array(macBytes);
  readonly #peerMac = new Uint8Array(macBytes);

  constructor(host: DhcpClientHost, options: DhcpClientOptions) {
    const { count } = host.lines;
    this.#host = host;
    this.#options = options;
    this.address = new Int32Array(count);
    this.netmask = new Int32Array(count);
    this.router = new Int32Array(count);
    this.dns = new Int32Array(count * 2);
    this.leaseSec = new Uint32Array(count);
    this.#server = new Int32Array(count);
    this.#serverMacs = new Uint8Array(count * macBytes);
    this.#state = new Uint8Array(count);
    this.#attempts = new Uint16Array(count);
    this.#xid = new Int32Array(count);
    this.#startedMs = new Float64Array(count);
    this.#rebindMs = new Float64Array(count);
    this.#expiryMs = new Float64Array(count);
  }

  /** Address at which a relay expects answers; 0: none. */
  get relayAddress(): number {
    return this.#options.relay?.gatewayAddress ?? 0;
  }

  start(session: number): void {
    this.#xid[session] = Math.floor(this.#host.random() * 2 ** 32);
    this.#startedMs[session] = this.#host.timers.nowMs;
    this.#attempts[session] = 0;
    this.#enter(session, state.selecting);
    this.#transmit(session);
  }

  /** Gives the address back, if there is one, and forgets it. */
  stop(session: number, releases: boolean): void {
    if (releases && (this.#state[session] as number) >= state.bound) {
      const options = { isUnicast: true, clientAddress: this.address[session] as number };
      this.#send(session, dhcpType.release, options);
    }
    this.#forget(session);
  }

  /** The address is used by another machine. */
  decline(session: number): void {
    const address = this.address[session] as number;
    this.#send(session, dhcpType.decline, { isUnicast: false, requested: address });
    this.#forget(session);
    this.#host.onFailed(session, 'DHCP: address in use');
  }

  onTimer(session: number): void {
    const now = this.#host.timers.nowMs;
    const current = this.#state[session] as number;
    if (current === state.bound) this.#enter(session, state.renewing);
    else if (current === state.renewing && now >= (this.#rebindMs[session] as number))
      this.#enter(session, state.rebinding);
    else if (current === state.rebinding && now >= (this.#expiryMs[session] as number)) {
      this.#fail(session, 'DHCP: lease expired');
      return;
    } else {
      this.counters.timeouts++;
      if (this.#giveUp(session, current)) return;
    }
    this.#transmit(session);
  }

  /** A payload of UDP for a client or a relay; `sourceMac`: where the MAC of its sender stands. */
  receive(memory: Memory, start: number, end: number, sourceMac: number): void {
    const message = this.#message;
    if (!message.parse(memory, start, end) || !message.isReply) {
      this.counters.invalid++;
      return;
    }
    const session = this.#host.lines.indexOf(memory.bytes, message.macAt);
    if (session < 0) return;
    const isForced = message.type === dhcpType.forceRenew && this.#state[session] === state.bound;
    if (!isForced && message.xid !== this.#xid[session]) return;
    this.counters.received++;
    if (isForced) this.onTimer(session);
    else if (message.type === dhcpType.offer) this.#onOffer(session, memory);
    else if (message.type === dhcpType.ack) this.#onAck(session, memory, sourceMac);
    else if (message.type === dhcpType.nak) this.#onNak(session, memory);
  }

  #onOffer(session: number, memory: Memory): void {
    const server = this.#message.word(memory, dhcpOption.serverId);
    if (this.#state[session] !== state.selecting || server === 0 || this.#message.yourAddress === 0) return;
    this.address[session] = this.#message.yourAddress;
    this.#server[session] = server;
    this.#attempts[session] = 0;
    this.#enter(session, state.requesting);
    this.#transmit(session);
  }

  #onAck(session: number, memory: Memory, sourceMac: number): void {
    const before = this.#state[session] as number;
    const message = this.#message;
    const isRapid =
      before === state.selecting && this.#options.rapidCommit && message.find(dhcpOption.rapidCommit) >= 0;
    if (before === state.init || before === state.bound || (before === state.selecting && !isRapid)) return;
    if (message.yourAddress === 0) return;
    if (message.word(memory, dhcpOption.leaseTime, forever) === 0) {
      this.#fail(session, 'DHCP: lease expired');
      return;
    }
    this.address[session] = message.yourAddress;
    this.#server[session] = message.word(memory, dhcpOption.serverId, this.#server[session]);
    this.netmask[session] = message.word(memory, dhcpOption.netmask);
    this.router[session] = message.word(memory, dhcpOption.router);
    const dns = message.find(dhcpOption.dnsServers);
    const dnsCount = dns < 0 ? 0 : message.lengthOf(dhcpOption.dnsServers) >> 2;
    for (let i = 0; i < 2; i++) this.dns[session * 2 + i] = i < dnsCount ? memory.view.getInt32(dns + i * 4) : 0;
    copyMac(memory.bytes, sourceMac, this.#serverMacs, session * macBytes);
    this.#setLease(session, memory);
    this.#enter(session, state.bound);
    const isNew = before <= state.requesting;
    if (!isNew) this.counters.renewals++;
    this.#host.onBound(session, isNew);
  }

  #setLease(session: number, memory: Memory): void {
    const lease = this.#message.word(memory, dhcpOption.leaseTime, -1) >>> 0;
    const { timers } = this.#host;
    this.leaseSec[session] = lease;
    if (lease === forever) {
      timers.clear(session, timerKind.ipv4);
      return;
    }
    const rebindSec = this.#message.word(memory, dhcpOption.rebindingTime) >>> 0 || lease * 0.875;
    this.#expiryMs[session] = timers.nowMs + lease * 1000;
    this.#rebindMs[session] = timers.nowMs + Math.min(rebindSec, lease) * 1000;
    timers.set(session, timerKind.ipv4, lease * 10 * this.#options.renewPct);
  }

  #onNak(session: number, memory: Memory): void {
    const current = this.#state[session] as number;
    const isOurs = current >= state.requesting && current !== state.bound;
    if (!isOurs || (current === state.requesting && !this.#isFromServer(session, memory))) return;
    this.counters.naks++;
    this.#fail(session, 'DHCP: refused');
  }

  #isFromServer(session: number, memory: Memory): boolean {
    return this.#message.word(memory, dhcpOption.serverId) === this.#server[session];
  }

  /** True if the attempts of a setup are used up. A lease that is being renewed lasts until it expires. */
  #giveUp(session: number, current: number): boolean {
    if (current > state.requesting) return false;
    const attempts = (this.#attempts[session] as number) + 1;
    this.#attempts[session] = attempts;
    if (attempts <= this.#options.retries) return false;
    this.#fail(session, current === state.selecting ? 'DHCP: no offer' : 'DHCP: no acknowledgement');
    return true;
  }

  #enter(session: number, next: number): void {
    this.#state[session] = next;
  }

  #fail(session: number, cause: SessionCause): void {
    this.#forget(session);
    this.#host.onFailed(session, cause);
  }

  #forget(session: number): void {
    this.#enter(session, state.init);
    this.#host.timers.clear(session, timerKind.ipv4);
    this.address[session] = 0;
    this.router[session] = 0;
  }

  /** Sends the message of the present state and sets the timer for the next attempt. */
  #transmit(session: number): void {
    const { timers } = this.#host;
    const address = this.address[session] as number;
    let waitMs = this.#options.timeoutMs;
    switch (this.#state[session]) {
      case state.selecting:
        this.#send(session, dhcpType.discover, { isUnicast: false });
        break;
      case state.requesting:
        this.#send(session, dhcpType.request, { isUnicast: false, requested: address, namesServer: true });
        break;
      default: {
        const isRenewing = this.#state[session] === state.renewing;
        const limit = (isRenewing ? this.#rebindMs : this.#expiryMs)[session] as number;
        waitMs = Math.min(limit - timers.nowMs, Math.max(waitMs, (limit - timers.nowMs) / 2));
        this.#send(session, dhcpType.request, { isUnicast: isRenewing, clientAddress: address });
      }
    }
    timers.set(session, timerKind.ipv4, waitMs);
  }

  #send(session: number, type: number, given: Recipient): void {
    const { frames, lines } = this.#host;
    const base = frames.begin(session, udp4HeaderBytes + maxDhcpBytes);
    if (base < 0) return;
    lines.writeMac(session, this.#mac, 0);
    const at = base + udp4HeaderBytes;
    const end = this.#write(session, at, type, given);
    const { isUnicast, clientAddress = 0 } = given;
    const { relayAddress } = this;
    if (isUnicast) copyMac(this.#serverMacs, session * macBytes, this.#peerMac, 0);
    const packet = frames.wrapUdp4(at, end, {
      source: isUnicast ? clientAddress : relayAddress,
      destination: isUnicast ? (this.#server[session] as number) : anywhere,
      sourcePort: relayAddress === 0 || isUnicast ? dhcpPort.client : dhcpPort.server,
      destinationPort: dhcpPort.server,
    });
    this.counters.sent++;
    frames.send(packet, end, etherType.ipv4, {
      path: session,
      tags: lines.tagsOf(session),
      sourceMac: this.#mac,
      destinationMac: isUnicast ? this.#peerMac : broadcastMac,
    });
  }

  #write(
    session: number,
    at: number,
    type: number,
    { isUnicast, clientAddress = 0, requested, namesServer = false }: Recipient,
  ): number {
    const options = this.#options;
    const { relay } = options;
    const { frames, timers } = this.#host;
    const isQuestion = type === dhcpType.discover || type === dhcpType.request;
    const writer = this.#writer.begin(frames.memory, at, {
      isReply: false,
      type,
      xid: this.#xid[session] as number,
      secs: Math.min(Math.floor((timers.nowMs - (this.#startedMs[session] as number)) / 1000), 0xffff),
      isBroadcast: options.isBroadcast && isQuestion && !isUnicast,
      clientAddress,
      relayAddress: isUnicast ? 0 : this.relayAddress,
      hops: relay !== undefined && this.relayAddress !== 0 && !isUnicast ? 1 : 0,
      mac: this.#mac,
    });
    this.#writeClientId();
    if (requested !== undefined) writer.word(dhcpOption.requestedAddress, requested);
    const isToOne = namesServer || type === dhcpType.release || type === dhcpType.decline;
    if (isToOne) writer.word(dhcpOption.serverId, this.#server[session] as number);
    if (isQuestion) this.#writeQuestions(session, type);
    if (relay !== undefined && !isUnicast) writer.relay(relay.circuitId(session), relay.remoteId(session));
    return writer.end();
  }

  #writeClientId(): void {
    const { clientId } = this.#options;
    const writer = this.#writer;
    if (clientId === 'mac') writer.bytes(dhcpOption.clientId, this.#mac, 1);
    if (clientId !== 'duid') return;
    // RFC 4361: type 255, an identity association made from the MAC, and a DUID of type link layer.
    const value = new Uint8Array(14);
    value.set(this.#mac.subarray(2), 0);
    value.set([0, 3, 0, 1], 4);
    value.set(this.#mac, 8);
    writer.bytes(dhcpOption.clientId, value, 255);
  }

  #writeQuestions(session: number, type: number): void {
    const { hostName, vendorClass, parameters, rapidCommit } = this.#options;
    const writer = this.#writer;
    if (rapidCommit && type === dhcpType.discover) writer.empty(dhcpOption.rapidCommit);
    const name = hostName(session);
    if (name.length > 0) writer.bytes(dhcpOption.hostName, name);
    if (vendorClass.length > 0) writer.bytes(dhcpOption.vendorClass, vendorClass);
    if (parameters.length > 0) writer.bytes(dhcpOption.parameters, parameters);
  }
}
