import { createMemory, type Memory } from '../../bytes/memory.ts';
import { macBytes } from '../../ethernet/ethernet.ts';
import { copyAddress, writeAddress6 } from '../../ip/address.ts';
import type { SessionCause } from '../causes.ts';
import { addressWords, allDhcpAgents, PacketWriter6, unspecified, writeLinkLocal } from '../ipv6/packets.ts';
import { timerKind } from '../timers.ts';
import { ClientId, ServerIds } from './client-id.ts';
import type { Dhcpv6ClientHost, Dhcpv6ClientOptions } from './client-options.ts';
import {
  Dhcpv6Message,
  Dhcpv6Writer,
  dhcpv6Option,
  dhcpv6Port,
  dhcpv6Status,
  dhcpv6Type,
  type IdentityAssociation,
  maxDhcpv6Bytes,
  RelayMessage,
} from './message.ts';
import { ReconfigureKeys } from './reconfigure.ts';

const state = { init: 0, soliciting: 1, requesting: 2, bound: 3, renewing: 4, rebinding: 5 } as const;
const forever = 0xffffffff;
const nothing = new Uint8Array(0);
/** What a relay adds at most: its header and both identifiers of 255 bytes. */
const maxRelayBytes = 600;
const requested = [dhcpv6Option.dnsServers, dhcpv6Option.domainList];
/** RFC 8415: share of the preferred lifetime after which a lease is renewed, and rebound. */
const renewShare = 0.5;
const rebindShare = 0.8;
/** Enterprise number of remote identifiers: that for documentation (RFC 5612). */
const enterprise = 32_473;

/** The DHCPv6 clients of a port (RFC 8415), one for each session. Their state lies in typed arrays. */
export class Dhcpv6Clients {
  readonly counters = { sent: 0, received: 0, invalid: 0, timeouts: 0, renewals: 0, reconfigured: 0 };
  /** Address of each session, four words; 0 without one. */
  readonly address: Int32Array;
  /** Delegated prefix of each session, four words. */
  readonly prefix: Int32Array;
  /** Length of the delegated prefix; 0: there is none. */
  readonly prefixLength: Uint8Array;
  readonly leaseSec: Uint32Array;
  readonly #state: Uint8Array;
  readonly #attempts: Uint16Array;
  readonly #transaction: Int32Array;
  readonly #server: Int16Array;
  /** A server has nothing to give. */
  readonly #isExhausted: Uint8Array;
  readonly #startedMs: Float64Array;
  readonly #rebindMs: Float64Array;
  readonly #expiryMs: Float64Array;
  readonly #servers = new ServerIds();
  readonly #keys: ReconfigureKeys | undefined;
  readonly #clientId: ClientId;
  readonly #options: Dhcpv6ClientOptions;
  readonly #host: Dhcpv6ClientHost;
  readonly #packets: PacketWriter6;
  readonly #message = new Dhcpv6Message();
  readonly #relay = new RelayMessage();
  readonly #writer = new Dhcpv6Writer();
  readonly #inner: Memory = createMemory(maxDhcpv6Bytes);
  readonly #mac = new Uint8Array(macBytes);
  readonly #own = new Int32Array(addressWords);

  constructor(host: Dhcpv6ClientHost, options: Dhcpv6ClientOptions) {
    const { count } = host.lines;
    this.#host = host;
    this.#options = options;
    this.#packets = new PacketWriter6(host.frames);
    this.#clientId = new ClientId(options.duid, options.duidTimeSec);
    if (options.reconfigure) this.#keys = new ReconfigureKeys(count);
    this.address = new Int32Array(count * addressWords);
    this.prefix = new Int32Array(count * addressWords);
    this.prefixLength = new Uint8Array(count);
    this.leaseSec = new Uint32Array(count);
    this.#state = new Uint8Array(count);
    this.#attempts = new Uint16Array(count);
    this.#transaction = new Int32Array(count);
    this.#server = new Int16Array(count).fill(-1);
    this.#isExhausted = new Uint8Array(count);
    this.#startedMs = new Float64Array(count);
    this.#rebindMs = new Float64Array(count);
    this.#expiryMs = new Float64Array(count);
  }

  /** Answers are for the relay of the access node. */
  get isRelayed(): boolean {
    return this.#options.relay !== undefined;
  }

  /** A session has or wants a lease: its timer is in use. */
  isActive(session: number): boolean {
    return this.#state[session] !== state.init;
  }

  start(session: number): void {
    this.#isExhausted[session] = 0;
    this.#server[session] = -1;
    this.#enter(session, state.soliciting);
    this.#transmit(session);
  }

  /** Gives everything back, if there is something, and forgets it. */
  stop(session: number, releases: boolean): void {
    if (releases && (this.#state[session] as number) >= state.bound) {
      this.#newTransaction(session);
      this.#send(session, dhcpv6Type.release);
    }
    this.#forget(session);
  }

  /** The address is used by another machine. */
  decline(session: number): void {
    this.#newTransaction(session);
    this.#send(session, dhcpv6Type.decline);
    this.#forget(session);
    this.#host.onFailed(session, 'IPv6: address in use');
  }

  onTimer(session: number): void {
    const now = this.#host.timers.nowMs;
    const current = this.#state[session] as number;
    if (current === state.bound) this.#enter(session, state.renewing);
    else if (current === state.renewing && now >= (this.#rebindMs[session] as number))
      this.#enter(session, state.rebinding);
    else if (current === state.rebinding && now >= (this.#expiryMs[session] as number)) {
      this.#fail(session, 'DHCPv6: lease expired');
      return;
    } else {
      this.counters.timeouts++;
      if (this.#giveUp(session, current)) return;
    }
    this.#transmit(session);
  }

  /** A payload of UDP for the client of a session, or for its relay. */
  receive(session: number, memory: Memory, start: number, end: number): void {
    const message = this.#message;
    let [from, to] = [start, end];
    if (this.isRelayed) {
      const relay = this.#relay;
      if (!relay.parse(memory, start, end) || relay.type !== dhcpv6Type.relayReply) {
        this.counters.invalid++;
        return;
      }
      [from, to] = [relay.innerAt, relay.innerEnd];
    }
    if (!message.parse(memory, from, to) || message.serverIdAt < 0 || !this.#isOwn(session, memory)) {
      this.counters.invalid++;
      return;
    }
    if (message.type === dhcpv6Type.reconfigure) {
      this.#onReconfigure(session, memory, [from, to]);
      return;
    }
    if (message.transaction !== this.#transaction[session]) return;
    this.counters.received++;
    if (message.type === dhcpv6Type.advertise) this.#onAdvertise(session, memory);
    else if (message.type === dhcpv6Type.reply) this.#onReply(session, memory);
  }

  /** A server asks the session to renew its lease, and proves that it is the one that gave it. */
  #onReconfigure(session: number, memory: Memory, range: readonly [number, number]): void {
    const requestType = this.#keys?.requestIn(session, memory, this.#message, range) ?? 0;
    if (requestType === 0) this.counters.invalid++;
    if (requestType === 0 || this.#state[session] !== state.bound) return;
    this.counters.received++;
    this.counters.reconfigured++;
    this.#enter(session, requestType === dhcpv6Type.renew ? state.renewing : state.rebinding);
    this.#transmit(session);
  }

  #isOwn(session: number, { bytes }: Memory): boolean {
    this.#host.lines.writeMac(session, this.#mac, 0);
    const own = this.#clientId.of(this.#mac);
    const { clientIdAt, clientIdLength } = this.#message;
    return clientIdAt >= 0 && clientIdLength === own.length && own.every((byte, i) => bytes[clientIdAt + i] === byte);
  }

  #onAdvertise(session: number, { bytes }: Memory): void {
    const { serverIdAt, serverIdLength } = this.#message;
    if (this.#state[session] !== state.soliciting) return;
    if (!this.#isEnough()) {
      this.#isExhausted[session] = 1;
      return;
    }
    const server = this.#servers.numberOf(bytes.subarray(serverIdAt, serverIdAt + serverIdLength));
    if (server < 0) return;
    this.#server[session] = server;
    this.#take(session);
    this.#enter(session, state.requesting);
    this.#transmit(session);
  }

  #onReply(session: number, memory: Memory): void {
    const { bytes } = memory;
    const before = this.#state[session] as number;
    const message = this.#message;
    if (before === state.init || before === state.bound) return;
    if (before === state.soliciting && !(this.#options.rapidCommit && message.hasRapidCommit)) return;
    if (!this.#isEnough()) {
      // A server that does not know a lease any more is asked for a new one by the next attempt of the session.
      this.#fail(session, this.#isShortage() ? 'pool exhausted' : 'DHCPv6: refused');
      return;
    }
    const { serverIdAt, serverIdLength } = message;
    const server = this.#servers.numberOf(bytes.subarray(serverIdAt, serverIdAt + serverIdLength));
    if (server < 0) return;
    this.#server[session] = server;
    this.#take(session);
    this.#keys?.learn(session, memory, message);
    this.#state[session] = state.bound;
    this.#setLease(session);
    const isNew = before <= state.requesting;
    if (!isNew) this.counters.renewals++;
    this.#host.onBound(session, isNew);
  }

  /** The message gives what the session cannot do without. */
  #isEnough(): boolean {
    const { address, prefix, status } = this.#message;
    const isUsable = ({ hasLease, validSec, status: own }: IdentityAssociation) =>
      hasLease && validSec > 0 && own === dhcpv6Status.success;
    if (status !== dhcpv6Status.success) return false;
    return this.#options.wantsAddress ? isUsable(address) : isUsable(prefix);
  }

  #isShortage(): boolean {
    const { address, prefix, status } = this.#message;
    const shortages: readonly number[] = [dhcpv6Status.noAddress, dhcpv6Status.noPrefix];
    return [status, address.status, prefix.status].some((one) => shortages.includes(one));
  }

  #take(session: number): void {
    const { address, prefix } = this.#message;
    const at = session * addressWords;
    if (this.#options.wantsAddress) copyAddress(address.address, 0, this.address, at);
    const hasPrefix = this.#options.wantsPrefix && prefix.hasLease && prefix.validSec > 0;
    copyAddress(hasPrefix ? prefix.address : unspecified, 0, this.prefix, at);
    this.prefixLength[session] = hasPrefix ? prefix.prefixLength : 0;
  }

  #setLease(session: number): void {
    const { address, prefix } = this.#message;
    const { timers } = this.#host;
    const leases = [
      ...(this.#options.wantsAddress ? [address] : []),
      ...((this.prefixLength[session] as number) > 0 ? [prefix] : []),
    ];
    const lowest = (of: (one: IdentityAssociation) => number) => Math.min(...leases.map(of));
    const validSec = lowest((one) => one.validSec);
    this.leaseSec[session] = validSec;
    if (validSec === forever) {
      timers.clear(session, timerKind.ipv6);
      return;
    }
    const preferredSec = Math.min(
      lowest((one) => one.preferredSec),
      validSec,
    );
    // A lease that is never preferred is renewed all the same.
    const usedSec = preferredSec || validSec;
    const renewSec = lowest((one) => one.renewSec || usedSec * renewShare);
    const rebindSec = lowest((one) => one.rebindSec || usedSec * rebindShare);
    this.#expiryMs[session] = timers.nowMs + validSec * 1000;
    this.#rebindMs[session] = timers.nowMs + Math.min(Math.max(rebindSec, renewSec), validSec) * 1000;
    timers.set(session, timerKind.ipv6, Math.min(renewSec, validSec) * 1000);
  }

  /** True if the attempts of a setup are used up. A lease that is being renewed lasts until it expires. */
  #giveUp(session: number, current: number): boolean {
    if (current > state.requesting) return false;
    const attempts = (this.#attempts[session] as number) + 1;
    this.#attempts[session] = attempts;
    if (attempts <= this.#options.retries) return false;
    this.#fail(session, this.#isExhausted[session] === 1 ? 'pool exhausted' : 'DHCPv6: no answer');
    return true;
  }

  #enter(session: number, next: number): void {
    this.#state[session] = next;
    this.#attempts[session] = 0;
    this.#newTransaction(session);
  }

  #newTransaction(session: number): void {
    this.#transaction[session] = Math.floor(this.#host.random() * 2 ** 24);
    this.#startedMs[session] = this.#host.timers.nowMs;
  }

  #fail(session: number, cause: SessionCause): void {
    this.#forget(session);
    this.#host.onFailed(session, cause);
  }

  #forget(session: number): void {
    this.#state[session] = state.init;
    this.#host.timers.clear(session, timerKind.ipv6);
    this.address.fill(0, session * addressWords, (session + 1) * addressWords);
    this.prefixLength[session] = 0;
    this.#keys?.forget(session);
  }

  /** Sends the message of the present state and sets the timer for the next attempt. */
  #transmit(session: number): void {
    const { timers } = this.#host;
    const current = this.#state[session] as number;
    let waitMs = this.#options.timeoutMs;
    if (current === state.soliciting) this.#send(session, dhcpv6Type.solicit);
    else if (current === state.requesting) this.#send(session, dhcpv6Type.request);
    else {
      const isRenewing = current === state.renewing;
      const left = ((isRenewing ? this.#rebindMs : this.#expiryMs)[session] as number) - timers.nowMs;
      waitMs = Math.min(left, Math.max(waitMs, left / 2));
      this.#send(session, isRenewing ? dhcpv6Type.renew : dhcpv6Type.rebind);
    }
    timers.set(session, timerKind.ipv6, waitMs);
  }

  #send(session: number, type: number): void {
    const { lines } = this.#host;
    const { relay } = this.#options;
    const packets = this.#packets;
    lines.writeMac(session, this.#mac, 0);
    if (this.#host.writeOwn === undefined) writeLinkLocal(this.#mac, this.#own, 0);
    else this.#host.writeOwn(session, this.#own);
    const at = packets.beginUdp(session, maxDhcpv6Bytes + (relay === undefined ? 0 : maxRelayBytes));
    if (at < 0) return;
    const end =
      relay === undefined ? this.#write(packets.memory, at, session, type) : this.#writeRelayed(at, session, type);
    packets.setAddresses(this.#own, 0, allDhcpAgents, 0);
    this.counters.sent++;
    const source = relay === undefined ? dhcpv6Port.client : dhcpv6Port.server;
    packets.sendUdp(at, end, (source << 16) | dhcpv6Port.server, {
      path: session,
      tags: lines.tagsOf(session),
      sourceMac: this.#mac,
      destinationMac: packets.multicastMac,
    });
  }

  #writeRelayed(at: number, session: number, type: number): number {
    const { relay } = this.#options;
    const inner = this.#write(this.#inner, 0, session, type);
    const { memory } = this.#packets;
    const writer = this.#writer.beginRelay(memory, at, dhcpv6Type.relayForward, 0);
    writeAddress6(memory.view, at + 2, unspecified, 0);
    writeAddress6(memory.view, at + 18, this.#own, 0);
    const [interfaceId, remoteId] = [relay?.interfaceId(session), relay?.remoteId(session)];
    if (interfaceId?.length) writer.bytes(dhcpv6Option.interfaceId, interfaceId);
    if (remoteId?.length)
      writer.bytes(dhcpv6Option.remoteId, Uint8Array.from([0, 0, enterprise >> 8, enterprise & 255, ...remoteId]));
    return writer.bytes(dhcpv6Option.relayMessage, this.#inner.bytes.subarray(0, inner)).end;
  }

  #write(memory: Memory, at: number, session: number, type: number): number {
    const { timers } = this.#host;
    const { rapidCommit } = this.#options;
    const elapsed = Math.min(Math.floor((timers.nowMs - (this.#startedMs[session] as number)) / 10), 0xffff);
    const writer = this.#writer.begin(memory, at, type, this.#transaction[session] as number);
    writer.bytes(dhcpv6Option.clientId, this.#clientId.of(this.#mac));
    const isToOne = type !== dhcpv6Type.solicit && type !== dhcpv6Type.rebind;
    if (isToOne) writer.bytes(dhcpv6Option.serverId, this.#servers.idOf(this.#server[session] as number));
    writer.numbers16(dhcpv6Option.elapsedTime, [elapsed]);
    const isQuestion = type !== dhcpv6Type.release && type !== dhcpv6Type.decline;
    if (isQuestion) writer.numbers16(dhcpv6Option.request, requested);
    if (isQuestion && this.#keys !== undefined) writer.bytes(dhcpv6Option.reconfigureAccept, nothing);
    if (type === dhcpv6Type.solicit && rapidCommit) writer.bytes(dhcpv6Option.rapidCommit, nothing);
    this.#writeAssociations(session, type);
    return writer.end;
  }

  #writeAssociations(session: number, type: number): void {
    const { wantsAddress, wantsPrefix, prefixLength } = this.#options;
    const isFirst = type === dhcpv6Type.solicit;
    const at = session * addressWords;
    const iaid = new DataView(this.#mac.buffer).getInt32(2);
    const given = isFirst ? undefined : this.address;
    if (wantsAddress) this.#writer.association(dhcpv6Option.iaNa, { iaid, words: given, at });
    if (!wantsPrefix || type === dhcpv6Type.decline) return;
    const length = this.prefixLength[session] as number;
    if (isFirst) this.#writer.association(dhcpv6Option.iaPd, { iaid, words: unspecified, prefixLength });
    else if (length > 0)
      this.#writer.association(dhcpv6Option.iaPd, { iaid, words: this.prefix, at, prefixLength: length });
  }
}
