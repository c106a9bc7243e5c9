import {
  type EspOutbound,
  encryptionKeyBytes,
  espPayloadRoom,
  type FrameSink,
  type HostGroup,
  integrityKeyBytes,
  ipProtocol,
  isMappedAddress,
  KeyTable,
  type Memory,
  pseudoHeaderSum,
  writeIpv4,
  writeIpv6,
  writeUdp,
  writeUdpUnchecked,
} from '@rushhour/wire';
import { offerOf } from '../../net/ipsec/ipsec-peer.ts';
import { nodeIpsecCrypto } from '../../net/ipsec/node-crypto.ts';
import { minOuterMtu } from '../tunnels/tunnels.ts';
import type { IpsecLink } from './ipsec-link.ts';
import type { IpsecMonitor } from './ipsec-monitor.ts';
import { type InstalledChild, IpsecSessions, type IpsecTunnelsConfig, type OuterHosts } from './ipsec-sessions.ts';

const addressWords = 4;
const portsWord = 8;
const udpBytes = 8;
const headerBytes = { 4: 20, 6: 40 } as const;

/**
 * IPsec as the link of the hosts inside it. A client's host i uses tunnel i modulo their number; a server answers by
 * the tunnel that the other host was last heard from. Packets wait until their tunnel is up.
 */
export class IpsecTunnels implements FrameSink {
  readonly carriesTags = true;
  readonly hasEthernet = false;
  /** Largest inner packet: outer ones are limited by the interface, the settings and what routers on the way say. */
  mtu: number;
  /** Takes what the tunnels unwrap; set before the first packet. */
  inner: HostGroup | undefined;
  readonly #sessions: IpsecSessions;
  readonly #outer: HostGroup;
  readonly #isServer: boolean;
  readonly #isTransport: boolean;
  readonly #version: 4 | 6;
  readonly #heard = new KeyTable({ width: addressWords, seed: 0x6d2b79f5 });
  readonly #linkOf: IpsecLink[] = [];
  /** Transport mode: tunnels by the two addresses of a packet. */
  readonly #pairs = new KeyTable({ width: 2 * addressWords, seed: 0x1b873593 });
  readonly #linkOfPair: IpsecLink[] = [];
  readonly #source = new Int32Array(addressWords);
  #current: IpsecLink | undefined;
  #esp: EspOutbound | undefined;
  #headAt = 0;
  #hasRefused = false;

  constructor(config: IpsecTunnelsConfig, outer: HostGroup, hosts: OuterHosts, version: 4 | 6) {
    this.#outer = outer;
    this.#isServer = config.isServer;
    this.#version = version;
    this.#sessions = new IpsecSessions(config, outer, hosts, version);
    const { settings } = this.#sessions;
    this.#isTransport = settings.mode === 'transport';
    this.mtu = this.#innerMtu(hosts.version, config.mtu);
    this.#sessions.onEsp = (key, path, memory, start, end) => this.#receive(key, path, memory, start, end);
    outer.handleProtocol(ipProtocol.esp, {
      receive: ({ addresses, path }, memory, start, end) => this.#receive(addresses, path, memory, start, end),
    });
    outer.icmp.onPathMtu = (mtu) => {
      const lower = this.#innerMtu(hosts.version, Math.max(mtu, minOuterMtu));
      if (lower >= this.mtu) return;
      this.mtu = lower;
      this.inner?.tcp.onLinkMtu();
    };
    for (const link of this.#sessions.links) this.#linkOfPair[this.#pairs.add(link.key, 0)] = link;
  }

  get monitor(): IpsecMonitor {
    return this.#sessions.monitor;
  }

  /** Child SAs that packets are taken by. */
  get children(): Iterable<InstalledChild> {
    return this.#sessions.children.values();
  }

  get memory(): Memory {
    return this.#outer.output.memory;
  }

  advance(nowMs: number): void {
    this.#sessions.advance(nowMs);
  }

  giveUp(waitedMs: number): void {
    this.#sessions.giveUp(waitedMs);
  }

  close(): void {
    this.#sessions.close();
  }

  begin(length: number, path: number, keys?: Int32Array, at = 0): number {
    const link = this.#linkFor(path, keys, at);
    const child = link?.childFor(path);
    if (link === undefined || child === undefined) return this.#refuse();
    const { outbound } = child;
    const udp = link.isEncapsulated ? udpBytes : 0;
    const removed = this.#isTransport ? headerBytes[this.#version] : 0;
    const before = udp + outbound.headBytes;
    const protocol = udp > 0 ? ipProtocol.udp : ipProtocol.esp;
    const size = before + length - removed + outbound.maxTailBytes;
    const offset = this.#outer.output.begin(link.key, 0, link.path, protocol, size);
    if (offset < 0) return this.#refuse();
    this.#current = link;
    this.#esp = outbound;
    this.#headAt = offset;
    return offset + before - removed;
  }

  commit(offset: number, length: number): void {
    const { memory } = this;
    const link = this.#current as IpsecLink;
    const esp = this.#esp as EspOutbound;
    const removed = this.#isTransport ? headerBytes[this.#version] : 0;
    const nextHeader = removed > 0 ? protocolOf(memory, offset) : this.#innerProtocol(memory, offset);
    const end = esp.seal(memory, offset + removed, offset + length, nextHeader);
    if (end < 0) return;
    this.monitor.counters.txBytes += length - removed;
    const at = this.#headAt;
    if (link.isEncapsulated) {
      const ports = link.key[portsWord] as number;
      if (isMappedAddress(link.key, 0)) writeUdpUnchecked(memory, at, end, ports);
      else writeUdp(memory, at, end, ports, pseudoHeaderSum(link.key, 0, ipProtocol.udp));
    }
    this.#outer.output.commit(at, end - at, 0);
  }

  /** True if packets were refused since the last call: their senders have to be called again. */
  takeRefusal(): boolean {
    const hasRefused = this.#hasRefused;
    this.#hasRefused = false;
    return hasRefused;
  }

  #refuse(): -1 {
    this.#hasRefused = true;
    return -1;
  }

  #innerProtocol({ view }: Memory, offset: number): number {
    return view.getUint8(offset) >>> 4 === 6 ? ipProtocol.ipv6 : ipProtocol.ipip;
  }

  /** Room for UDP is kept, because a NAT may be found at any time. */
  #innerMtu(outerVersion: 4 | 6, limit = Number.POSITIVE_INFINITY): number {
    const { encryptions, integrities } = offerOf(this.#sessions.settings);
    const [first] = encryptions;
    const spec = { encryption: first?.id ?? 0, keyBits: first?.keyBits ?? 0, integrity: integrities[0] ?? 0 };
    const cipher = nodeIpsecCrypto.createCipher(spec, {
      encryption: new Uint8Array(encryptionKeyBytes(spec)),
      integrity: new Uint8Array(integrityKeyBytes(spec.integrity)),
    });
    const room = Math.min(this.#outer.output.mtu, limit) - headerBytes[outerVersion] - udpBytes;
    return espPayloadRoom(cipher, room) + (this.#isTransport ? headerBytes[this.#version] : 0);
  }

  #linkFor(path: number, keys: Int32Array | undefined, at: number): IpsecLink | undefined {
    const { links } = this.#sessions;
    if (this.#isTransport && keys !== undefined) {
      const slot = this.#pairs.find(keys, at);
      if (slot >= 0) return this.#linkOfPair[slot];
    }
    if (!this.#isServer) return links[path % links.length];
    if (keys === undefined) return undefined;
    const slot = this.#heard.find(keys, at + addressWords);
    return slot < 0 ? undefined : this.#linkOf[slot];
  }

  #receive(key: Int32Array, path: number, memory: Memory, start: number, end: number): void {
    if (end - start < 8) return;
    const spi = memory.view.getUint32(start);
    const sessions = this.#sessions;
    const installed = sessions.children.get(spi) ?? sessions.acceptManual(spi, key, path);
    if (installed === undefined || !installed.child.inbound.open(memory, start, end)) return;
    sessions.heard(installed);
    const { inbound } = installed.child;
    this.monitor.counters.rxBytes += inbound.end - inbound.start;
    const at = installed.child.isTransport ? this.#restoreHeader(memory, installed) : inbound.start;
    if (at < 0) return;
    if (this.#isServer) this.#remember(memory, at, installed);
    this.inner?.receive(memory, at, inbound.end);
  }

  /** Transport mode: the IP header is not inside; it is written before the payload, over the ESP header. */
  #restoreHeader(memory: Memory, { child, link }: InstalledChild): number {
    const { start, end, nextHeader } = child.inbound;
    const isV4 = isMappedAddress(link.key, 0);
    const at = start - headerBytes[isV4 ? 4 : 6];
    if (at < 0) return -1;
    if (isV4) {
      const [source, destination] = [link.key[7] as number, link.key[3] as number];
      const fields = { tos: 0, length: end - at, identification: 0, fragment: 0, ttl: 64, protocol: nextHeader };
      writeIpv4(memory.view, at, { ...fields, source, destination });
      return at;
    }
    const header = { trafficClass: 0, flowLabel: 0, payloadLength: end - start, protocol: nextHeader, hopLimit: 64 };
    writeIpv6(memory.view, at, header);
    for (let i = 0; i < addressWords; i++) {
      memory.view.setInt32(at + 8 + i * 4, link.key[addressWords + i] as number);
      memory.view.setInt32(at + 24 + i * 4, link.key[i] as number);
    }
    return at;
  }

  #remember({ view }: Memory, start: number, { link, child }: InstalledChild): void {
    const source = this.#source;
    const isV6 = child.inbound.end - start >= 40 && view.getUint8(start) >>> 4 === 6;
    if (!isV6 && child.inbound.end - start < 20) return;
    for (let i = 0; i < addressWords; i++) {
      source[i] = isV6 ? view.getInt32(start + 8 + i * 4) : ([0, 0, 0xffff][i] ?? view.getInt32(start + 12));
    }
    const known = this.#heard.find(source, 0);
    this.#linkOf[known < 0 ? this.#heard.add(source, 0) : known] = link;
  }
}

const protocolOf = ({ view }: Memory, offset: number): number =>
  view.getUint8(offset) >>> 4 === 6 ? view.getUint8(offset + 6) : view.getUint8(offset + 9);
