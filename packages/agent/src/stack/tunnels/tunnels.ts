import type { StackTunnel } from '@rushhour/protocol';
import {
  type FrameSink,
  GtpPaths,
  type HostGroup,
  KeyTable,
  type LinkCodec,
  type Memory,
  parseAddress,
  type Tunnel,
  type TunnelReceiver,
  TunnelSet,
  WireGuardSet,
  WireGuardTunnel,
} from '@rushhour/wire';
import type { Hosts } from '../hosts.ts';
import { tunnelCodec } from './tunnel-codec.ts';
import { wireGuardCrypto } from './wireguard-crypto.ts';
import { wireGuardSettings } from './wireguard-settings.ts';

const addressWords = 4;
const mapped = 0xffff;
/** Every IPv4 network carries packets of this size; smaller announcements are attacks or mistakes. */
export const minOuterMtu = 552;
/** Above this a WireGuard end asks for cookies. */
const maxHandshakesPerSecond = 2000;
const etherType = { ipv4: 0x0800, arp: 0x0806, vlan: 0x8100, ipv6: 0x86dd } as const;

type AnyTunnel = Tunnel | WireGuardTunnel;

interface TunnelEnd {
  /** Outer local and remote address. */
  readonly addresses: Int32Array;
  /** Outer host. */
  readonly path: number;
}

interface CreatedTunnels {
  readonly tunnels: readonly AnyTunnel[];
  /** Packets that belonged to no tunnel, by cause. */
  readonly errors: () => Readonly<Record<string, number>>;
  /** Frames are inside, not IP packets. */
  readonly hasEthernet: boolean;
  readonly advance: (nowMs: number) => void;
}

const createCodecTunnels = (
  config: StackTunnel,
  outer: HostGroup,
  { ends, version }: { ends: readonly TunnelEnd[]; version: 4 | 6 },
): CreatedTunnels => {
  const codecs = ends.map((_, index) => tunnelCodec(config, { index, isServer: config.isServer, version }));
  const [sample] = codecs;
  if (sample === undefined) throw new RangeError('a tunnel needs two ends');
  const set = new TunnelSet(outer, sample);
  const tunnels = ends.map(({ addresses, path }, index) => set.add(codecs[index] as LinkCodec, addresses, path));
  const errors = () => ({ unknown: set.counters.unknown });
  return { tunnels, hasEthernet: sample.payload === 'ethernet', advance: () => {}, errors };
};

const createWireGuardTunnels = (config: StackTunnel, outer: HostGroup, ends: readonly TunnelEnd[]): CreatedTunnels => {
  const { port, keepaliveSec, allowed, keysOf } = wireGuardSettings(config);
  const nowMs = performance.now();
  const set = new WireGuardSet(outer, {
    crypto: wireGuardCrypto,
    nowMs,
    wallMs: Date.now,
    port,
    maxHandshakesPerSecond,
  });
  const tunnels = ends.map((end, index) => set.add({ ...end, ...keysOf(index), keepaliveSec, allowed }));
  const errors = () => {
    const { invalid, replayed, unknownPeers, failed } = set.counters;
    return { invalid, replayed, unknown: unknownPeers, handshake: failed };
  };
  return { tunnels, hasEthernet: false, advance: (now) => set.advance(now), errors };
};

/** Ends of GTP tunnels answer echo requests of GTP-C, and ask where an interval is given. */
const createGtpPaths = ({ type, params }: StackTunnel, outer: HostGroup): GtpPaths | undefined => {
  if (type !== 'gtpu') return undefined;
  const { echoInterval = 0 } = params as { echoInterval?: number };
  return new GtpPaths(outer.udp, echoInterval * 1000);
};

/**
 * The tunnels of a job as the link of the hosts inside them. A client's host i uses tunnel i modulo their number; a
 * server answers by the tunnel that the other host was last heard from.
 */
export class Tunnels implements FrameSink {
  readonly carriesTags = true;
  readonly hasEthernet: boolean;
  readonly tunnels: readonly AnyTunnel[];
  /** A packet has been refused since the last call of `takeRefusal`. */
  #hasRefused = false;
  readonly #advance: (nowMs: number) => void;
  readonly #errors: () => Readonly<Record<string, number>>;
  /** When the first packet of each tunnel left and arrived, for tunnels without a handshake. */
  readonly #firstSent: Float64Array;
  readonly #firstReceived: Float64Array;
  /** Takes what the tunnels unwrap; set before the first packet. */
  inner: HostGroup | undefined;
  readonly #outer: HostGroup;
  /** Path management of GTP, and the path of each tunnel. */
  readonly gtp: GtpPaths | undefined;
  readonly #gtpPaths: readonly number[];
  #outerMtu: number;
  readonly #isServer: boolean;
  readonly #heard = new KeyTable({ width: addressWords, seed: 0x7f4a7c15 });
  readonly #tunnelOf: number[] = [];
  readonly #source = new Int32Array(addressWords);
  #current: AnyTunnel;
  #last = 0;

  constructor(config: StackTunnel, outer: HostGroup, { hosts, version }: { hosts: Hosts; version: 4 | 6 }) {
    this.#isServer = config.isServer;
    const ends = config.ends.map(({ local, remote }): TunnelEnd => {
      const addresses = new Int32Array(2 * addressWords);
      addresses.set(parseAddress(local), 0);
      addresses.set(parseAddress(remote), addressWords);
      const path = hosts.indexOf(addresses, 0);
      if (path < 0) throw new RangeError(`${local} is not among the outer addresses of the tunnels`);
      return { addresses, path };
    });
    const { tunnels, hasEthernet, advance, errors } =
      config.type === 'wireguard'
        ? createWireGuardTunnels(config, outer, ends)
        : createCodecTunnels(config, outer, { ends, version });
    const [first] = tunnels;
    if (first === undefined) throw new RangeError('a tunnel needs two ends');
    for (const [index, tunnel] of tunnels.entries()) {
      const receive: TunnelReceiver['receive'] = (memory, start, end, isChecked) =>
        this.#receive(index, memory, start, end, isChecked);
      tunnel.receiver = { receive, flush() {} };
    }
    this.tunnels = tunnels;
    this.#advance = advance;
    this.#errors = errors;
    this.#firstSent = new Float64Array(tunnels.length).fill(Number.NaN);
    this.#firstReceived = new Float64Array(tunnels.length).fill(Number.NaN);
    this.#current = first;
    this.hasEthernet = hasEthernet;
    this.#outer = outer;
    this.gtp = createGtpPaths(config, outer);
    this.#gtpPaths = ends.map(({ addresses, path }) => this.gtp?.add(addresses, path, performance.now()) ?? -1);
    this.#outerMtu = config.mtu ?? outer.output.mtu;
    outer.icmp.onPathMtu = (mtu) => {
      const lower = Math.max(mtu, minOuterMtu);
      if (lower >= this.#outerMtu) return;
      this.#outerMtu = lower;
      this.inner?.tcp.onLinkMtu();
    };
  }

  /** Largest inner packet: outer ones are limited by the interface, the record and what routers on the way say. */
  get mtu(): number {
    return this.#current.mtu - Math.max(0, this.#outer.output.mtu - this.#outerMtu);
  }

  /** Runs timers of the tunnels. */
  advance(nowMs: number): void {
    this.#advance(nowMs);
    this.gtp?.advance(nowMs);
  }

  /** Whether the far end has been heard from, and the milliseconds from the first packet to that. */
  stateOf(index: number): { readonly isUp: boolean; readonly setupMs: number | undefined } {
    const tunnel = this.tunnels[index];
    if (tunnel instanceof WireGuardTunnel) return tunnel;
    const setupMs = (this.#firstReceived[index] as number) - (this.#firstSent[index] as number);
    const isDown = this.gtp?.isDown(this.#gtpPaths[index] as number) === true;
    return { isUp: !isDown && !Number.isNaN(this.#firstReceived[index]), setupMs: setupMs >= 0 ? setupMs : undefined };
  }

  /** Packets that were lost or refused, by cause. */
  errors(): Readonly<Record<string, number>> {
    const invalid = this.tunnels.reduce((sum, { counters }) => sum + counters.invalid, 0);
    const others = this.#errors();
    return { ...others, invalid: invalid + (others['invalid'] ?? 0) };
  }

  /** True if packets were refused since the last call: their senders have to be called again. */
  takeRefusal(): boolean {
    const hasRefused = this.#hasRefused;
    this.#hasRefused = false;
    return hasRefused;
  }

  get memory(): Memory {
    return this.#current.memory;
  }

  begin(length: number, path: number, keys?: Int32Array, at = 0): number {
    const index = this.#indexFor(path, keys, at);
    this.#current = this.tunnels[index] as AnyTunnel;
    if (Number.isNaN(this.#firstSent[index])) this.#firstSent[index] = performance.now();
    const offset = this.#current.begin(length);
    if (offset < 0) this.#hasRefused = true;
    return offset;
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

  #receive(index: number, memory: Memory, start: number, end: number, isChecked = false): void {
    this.#last = index;
    if (Number.isNaN(this.#firstReceived[index])) this.#firstReceived[index] = performance.now();
    if (this.#isServer && this.tunnels.length > 1 && this.#readSource(memory, start, end)) {
      const known = this.#heard.find(this.#source, 0);
      this.#tunnelOf[known < 0 ? this.#heard.add(this.#source, 0) : known] = index;
    }
    this.inner?.receive(memory, start, end, isChecked);
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
    const ip = start + (view.getUint16(start + 12) === etherType.vlan ? 18 : 14);
    if (end - ip < 28) return false;
    const type = view.getUint16(ip - 2);
    if (type === etherType.ipv4) this.#setSource(view, ip + 12, false);
    else if (type === etherType.arp) this.#setSource(view, ip + 14, false);
    else if (type === etherType.ipv6) this.#setSource(view, ip + 8, true);
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
