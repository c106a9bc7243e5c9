import type { Memory } from '../../bytes/memory.ts';
import { type ControlPolicy, type Verdict, verdict } from './control-protocol.ts';
import type { OptionList } from './packet.ts';

export type NetworkEvents = Pick<ControlPolicy, 'onOpened' | 'onReopened' | 'onClosed' | 'onFailed'>;

const ipcpOption = { address: 3, dns1: 129, dns2: 131 } as const;
const dnsOptions = [ipcpOption.dns1, ipcpOption.dns2] as const;

export interface IpcpOptions {
  readonly capacity: number;
  /** Client: address asked for, 0 for any. Server: its own address. */
  readonly address: number;
  readonly requestDns: boolean;
  /** Server: name servers it hands out. */
  readonly dns?: readonly [number, number];
}

/** Options of IPCP (RFC 1332, RFC 1877) of all sessions of a port. */
export class Ipcp implements ControlPolicy {
  /** Own address of each session. */
  readonly address: Int32Array;
  /** Address of the peer; on a server, the one that is handed out. */
  readonly peer: Int32Array;
  readonly dns: Int32Array;
  readonly #refused: Uint8Array;
  readonly #options: IpcpOptions;
  readonly #events: NetworkEvents;

  constructor(options: IpcpOptions, events: NetworkEvents) {
    const { capacity } = options;
    this.#options = options;
    this.#events = events;
    this.address = new Int32Array(capacity);
    this.peer = new Int32Array(capacity);
    this.dns = new Int32Array(capacity * 2);
    this.#refused = new Uint8Array(capacity);
  }

  /** `peer`: the address for the peer, on a server. */
  begin(session: number, peer: number): void {
    this.address[session] = this.#options.address;
    this.peer[session] = peer;
    this.dns.fill(0, session * 2, session * 2 + 2);
    this.#refused[session] = 0;
  }

  request(session: number, options: OptionList): void {
    options.word(ipcpOption.address, this.address[session] as number);
    const refused = this.#refused[session] as number;
    if (!this.#options.requestDns) return;
    for (const [i, type] of dnsOptions.entries())
      if ((refused & (1 << i)) === 0) options.word(type, this.dns[session * 2 + i] as number);
  }

  judge(session: number, memory: Memory, at: number, length: number, wanted: OptionList): Verdict {
    const type = memory.view.getUint8(at);
    const { dns } = this.#options;
    if (length !== 6) return verdict.reject;
    const value = memory.view.getInt32(at + 2);
    if (type === ipcpOption.address) {
      if (dns === undefined) {
        if (value === 0) return verdict.reject;
        this.peer[session] = value;
        return verdict.ack;
      }
      return this.#want(type, value, this.peer[session] as number, wanted);
    }
    const index = dnsOptions.indexOf(type as (typeof dnsOptions)[number]);
    if (index < 0 || dns === undefined || dns[index] === 0) return verdict.reject;
    return this.#want(type, value, dns[index] as number, wanted);
  }

  judgeMissing(session: number, seen: number, wanted: OptionList): void {
    if (this.#options.dns !== undefined && (seen & (1 << ipcpOption.address)) === 0)
      wanted.word(ipcpOption.address, this.peer[session] as number);
  }

  onNak(session: number, memory: Memory, at: number, length: number): void {
    if (length !== 6) return;
    const type = memory.view.getUint8(at);
    const value = memory.view.getInt32(at + 2);
    const index = dnsOptions.indexOf(type as (typeof dnsOptions)[number]);
    if (type === ipcpOption.address) this.address[session] = value;
    else if (index >= 0) this.dns[session * 2 + index] = value;
  }

  onReject(session: number, type: number): void {
    const index = dnsOptions.indexOf(type as (typeof dnsOptions)[number]);
    if (index >= 0) this.#refused[session] = (this.#refused[session] as number) | (1 << index);
    // Without an address IPv4 is of no use.
    else if (type === ipcpOption.address) this.#events.onClosed(session, true);
  }

  onOpened(session: number): void {
    const isClient = this.#options.dns === undefined;
    // A server that agrees to no address has given none.
    if (isClient && this.address[session] === 0) this.#events.onClosed(session, true);
    else this.#events.onOpened(session);
  }

  onReopened(session: number): void {
    this.#events.onReopened(session);
  }

  onClosed(session: number, isPeer: boolean): void {
    this.#events.onClosed(session, isPeer);
  }

  onFailed(session: number, reason: 'timeout' | 'options'): void {
    this.#events.onFailed(session, reason);
  }

  #want(type: number, value: number, right: number, wanted: OptionList): Verdict {
    if (value === right) return verdict.ack;
    wanted.word(type, right);
    return verdict.nak;
  }
}

const interfaceIdOption = 1;

/** The interface identifiers of IP6CP (RFC 5072) of all sessions of a port: two words each. */
export class Ip6cp implements ControlPolicy {
  readonly own: Int32Array;
  readonly peer: Int32Array;
  readonly #events: NetworkEvents;
  readonly #random: () => number;

  constructor(capacity: number, random: () => number, events: NetworkEvents) {
    this.own = new Int32Array(capacity * 2);
    this.peer = new Int32Array(capacity * 2);
    this.#random = random;
    this.#events = events;
  }

  begin(session: number, high: number, low: number): void {
    this.own[session * 2] = high;
    this.own[session * 2 + 1] = low;
    this.peer.fill(0, session * 2, session * 2 + 2);
  }

  request(session: number, options: OptionList): void {
    options.words(interfaceIdOption, this.own[session * 2] as number, this.own[session * 2 + 1] as number);
  }

  judge(session: number, memory: Memory, at: number, length: number, wanted: OptionList): Verdict {
    if (memory.view.getUint8(at) !== interfaceIdOption || length !== 10) return verdict.reject;
    const high = memory.view.getInt32(at + 2);
    const low = memory.view.getInt32(at + 6);
    const isOwn = high === this.own[session * 2] && low === this.own[session * 2 + 1];
    if ((high === 0 && low === 0) || isOwn) {
      const word = () => Math.floor(this.#random() * 2 ** 32) | 0;
      wanted.words(interfaceIdOption, word() & ~0x0200_0000, word() | 1);
      return verdict.nak;
    }
    this.peer[session * 2] = high;
    this.peer[session * 2 + 1] = low;
    return verdict.ack;
  }

  onNak(session: number, memory: Memory, at: number, length: number): void {
    if (memory.view.getUint8(at) !== interfaceIdOption || length !== 10) return;
    this.own[session * 2] = memory.view.getInt32(at + 2);
    this.own[session * 2 + 1] = memory.view.getInt32(at + 6);
  }

  onReject(session: number): void {
    this.#events.onClosed(session, true);
  }

  onOpened(session: number): void {
    this.#events.onOpened(session);
  }

  onReopened(session: number): void {
    this.#events.onReopened(session);
  }

  onClosed(session: number, isPeer: boolean): void {
    this.#events.onClosed(session, isPeer);
  }

  onFailed(session: number, reason: 'timeout' | 'options'): void {
    this.#events.onFailed(session, reason);
  }
}
