import type { StackTunnel } from '@rushhour/protocol';
import {
  type FrameSink,
  type HostGroup,
  KeyTable,
  type Memory,
  parseAddress,
  type Tunnel,
  TunnelSet,
} from '@rushhour/wire';
import type { Hosts } from './hosts.ts';
import { tunnelCodec } from './tunnel-codec.ts';

const addressWords = 4;
const mapped = 0xffff;
const etherType = { ipv4: 0x0800, arp: 0x0806, ipv6: 0x86dd } as const;

/**
 * The tunnels of a job as the link of the hosts inside them. A client's host i uses tunnel i modulo their number; a
 * server answers by the tunnel that the other host was last heard from.
 */
export class Tunnels implements FrameSink {
  readonly carriesTags = true;
  readonly hasEthernet: boolean;
  readonly mtu: number;
  readonly tunnels: readonly Tunnel[];
  /** Takes what the tunnels unwrap; set before the first packet. */
  inner: HostGroup | undefined;
  readonly #isServer: boolean;
  readonly #heard = new KeyTable({ width: addressWords, seed: 0x7f4a7c15 });
  readonly #tunnelOf: number[] = [];
  readonly #source = new Int32Array(addressWords);
  #current: Tunnel;
  #last = 0;

  constructor(config: StackTunnel, outer: HostGroup, outerHosts: Hosts, version: 4 | 6) {
    this.#isServer = config.isServer;
    const codecs = config.ends.map((_, index) => tunnelCodec(config, { index, isServer: config.isServer, version }));
    const [sample] = codecs;
    if (sample === undefined) throw new RangeError('a tunnel needs two ends');
    const set = new TunnelSet(outer, sample);
    this.tunnels = config.ends.map(({ local, remote }, index) => {
      const addresses = new Int32Array(2 * addressWords);
      addresses.set(parseAddress(local), 0);
      addresses.set(parseAddress(remote), addressWords);
      const path = outerHosts.indexOf(addresses, 0);
      if (path < 0) throw new RangeError(`${local} is not among the outer addresses of the tunnels`);
      const tunnel = set.add(codecs[index] as (typeof codecs)[number], addresses, path);
      tunnel.receiver = {
        receive: (memory, start, end) => this.#receive(index, memory, start, end),
        flush() {},
      };
      return tunnel;
    });
    this.#current = this.tunnels[0] as Tunnel;
    this.hasEthernet = sample.payload === 'ethernet';
    this.mtu = this.#current.mtu;
  }

  get memory(): Memory {
    return this.#current.memory;
  }

  begin(length: number, path: number, keys?: Int32Array, at = 0): number {
    this.#current = this.tunnels[this.#indexFor(path, keys, at)] as Tunnel;
    return this.#current.begin(length);
  }

  commit(offset: number, length: number): void {
    this.#current.commit(offset, length);
  }

  #indexFor(path: number, keys: Int32Array | undefined, at: number): number {
    if (!this.#isServer) return path % this.tunnels.length;
    if (keys === undefined) return this.#last;
    const slot = this.#heard.find(keys, at + addressWords);
    return slot < 0 ? path % this.tunnels.length : (this.#tunnelOf[slot] as number);
  }

  #receive(index: number, memory: Memory, start: number, end: number): void {
    this.#last = index;
    if (this.#isServer && this.tunnels.length > 1 && this.#readSource(memory, start, end)) {
      const known = this.#heard.find(this.#source, 0);
      this.#tunnelOf[known < 0 ? this.#heard.add(this.#source, 0) : known] = index;
    }
    this.inner?.receive(memory, start, end);
  }

  /** Who sent a packet or frame; false if it has no address. */
  #readSource({ view }: Memory, start: number, end: number): boolean {
    if (!this.hasEthernet) {
      const isV6 = end - start >= 40 && view.getUint8(start) >>> 4 === 6;
      if (!isV6 && end - start < 20) return false;
      this.#setSource(view, start + (isV6 ? 8 : 12), isV6);
      return true;
    }
    if (end - start < 42) return false;
    const type = view.getUint16(start + 12);
    if (type === etherType.ipv4) this.#setSource(view, start + 26, false);
    else if (type === etherType.arp) this.#setSource(view, start + 28, false);
    else if (type === etherType.ipv6) this.#setSource(view, start + 22, true);
    else return false;
    return true;
  }

  #setSource(view: DataView, at: number, isV6: boolean): void {
    const source = this.#source;
    if (isV6) for (let i = 0; i < addressWords; i++) source[i] = view.getInt32(at + i * 4);
    else {
      source[0] = 0;
      source[1] = 0;
      source[2] = mapped;
      source[3] = view.getInt32(at);
    }
  }
}
