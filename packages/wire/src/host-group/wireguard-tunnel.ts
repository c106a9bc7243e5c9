import { createMemory, type Memory } from '../bytes/memory.ts';
import { isSamePrefix } from '../ip/address.ts';
import { ipProtocol } from '../ip/header-fields.ts';
import { pseudoHeaderSum } from '../ip/pseudo-header.ts';
import { udpBytes, writeUdp, writeUdpUnchecked } from '../udp/udp.ts';
import { type DeviceOptions, dataHeaderBytes, tagBytes, WireGuardDevice } from '../wireguard/device.ts';
import { messageType } from '../wireguard/handshake.ts';
import type { WireGuardPeer } from '../wireguard/peer.ts';
import type { HostGroup } from './host-group.ts';
import type { FrameSink, OnLinkPrefix } from './hosts.ts';
import type { TunnelReceiver } from './tunnel.ts';

const addressWords = 4;
const keepalive = 0;

/** One tunnel to a peer: the sink of the hosts inside it. */
export class WireGuardTunnel implements FrameSink {
  readonly carriesTags = true;
  readonly counters = { sentPackets: 0, sentBytes: 0, receivedPackets: 0, receivedBytes: 0, invalid: 0, refused: 0 };
  receiver: TunnelReceiver | undefined;
  /** Milliseconds that the first handshake took; undefined before. */
  setupMs: number | undefined;
  readonly peer: WireGuardPeer;
  readonly #lower: HostGroup;
  readonly #allowed: readonly OnLinkPrefix[];
  readonly #isV4: boolean;

  constructor(lower: HostGroup, peer: WireGuardPeer, allowed: readonly OnLinkPrefix[]) {
    this.#lower = lower;
    this.peer = peer;
    this.#allowed = allowed;
    this.#isV4 = peer.endpoint[0] === 0 && peer.endpoint[2] === 0xffff;
  }

  get isUp(): boolean {
    return this.peer.current !== undefined;
  }

  get memory(): Memory {
    return this.#lower.output.memory;
  }

  get mtu(): number {
    return this.#lower.output.mtu - (this.#isV4 ? 20 : 40) - udpBytes - dataHeaderBytes - tagBytes;
  }

  begin(length: number): number {
    const { peer } = this;
    if (peer.outgoing() === undefined) return this.#refuse();
    const before = udpBytes + dataHeaderBytes;
    const total = before + this.#padded(length) + tagBytes;
    const at = this.#lower.output.begin(peer.endpoint, 0, peer.path, ipProtocol.udp, total);
    return at < 0 ? this.#refuse() : at + before;
  }

  commit(offset: number, length: number): void {
    const { memory, peer } = this;
    const session = peer.current as NonNullable<WireGuardPeer['current']>;
    const padded = this.#padded(length);
    const at = offset - dataHeaderBytes;
    memory.bytes.fill(0, offset + length, offset + padded);
    const counter = session.seal(memory.bytes, offset, offset + padded);
    memory.view.setUint32(at, messageType.data, true);
    memory.view.setUint32(at + 4, session.remoteIndex, true);
    memory.view.setUint32(at + 8, counter >>> 0, true);
    memory.view.setUint32(at + 12, Math.floor(counter / 2 ** 32), true);
    this.counters.sentPackets++;
    this.counters.sentBytes += length;
    peer.noteSent(length > keepalive);
    this.#send(at - udpBytes, offset + padded + tagBytes);
  }

  /** A packet without data. */
  sendKeepalive(): void {
    const at = this.begin(keepalive);
    if (at >= 0) this.commit(at, keepalive);
  }

  /** A decrypted packet. */
  receive(memory: Memory, start: number, end: number): void {
    if (end === start) return;
    if (!this.#isAllowed(memory, start, end)) {
      this.counters.invalid++;
      return;
    }
    this.counters.receivedPackets++;
    this.counters.receivedBytes += end - start;
    this.receiver?.receive(memory, start, end);
  }

  #send(at: number, end: number): void {
    const { memory, peer } = this;
    const ports = peer.endpoint[8] as number;
    if (this.#isV4) writeUdpUnchecked(memory, at, end, ports);
    else writeUdp(memory, at, end, ports, pseudoHeaderSum(peer.endpoint, 0, ipProtocol.udp));
    this.#lower.output.commit(at, end - at, 0);
  }

  /** Packets are padded to 16 bytes, but never beyond the MTU. */
  #padded(length: number): number {
    return Math.max(length, Math.min((length + 15) & ~15, this.mtu));
  }

  /** Whether the source of a packet is among the addresses of the peer. */
  #isAllowed({ view }: Memory, start: number, end: number): boolean {
    if (this.#allowed.length === 0) return true;
    const isV6 = view.getUint8(start) >>> 4 === 6;
    if (end - start < (isV6 ? 40 : 20)) return false;
    const at = start + (isV6 ? 8 : 12);
    const source = isV6
      ? Int32Array.from({ length: addressWords }, (_, i) => view.getInt32(at + i * 4))
      : Int32Array.of(0, 0, 0xffff, view.getInt32(at));
    return this.#allowed.some(({ address, bits }) => isSamePrefix(address, 0, source, 0, bits));
  }

  #refuse(): -1 {
    this.counters.refused++;
    return -1;
  }
}

export interface WireGuardEnd {
  readonly privateKey: Uint8Array;
  readonly peerKey: Uint8Array;
  readonly presharedKey: Uint8Array;
  /** Outer local and remote address (8 words). */
  readonly addresses: Int32Array;
  readonly path: number;
  readonly keepaliveSec: number;
  readonly allowed: readonly OnLinkPrefix[];
}

type SetOptions = Pick<DeviceOptions, 'crypto' | 'nowMs' | 'wallMs' | 'maxHandshakesPerSecond'> & {
  readonly port: number;
};

const keyWords = 9;
const maxMessageBytes = 65_536;

/** The WireGuard tunnels that end at hosts of a group. */
export class WireGuardSet {
  readonly #group: HostGroup;
  readonly #options: SetOptions;
  /** By host, then by private key. */
  readonly #devices = new Map<number, Map<string, WireGuardDevice>>();
  readonly #tunnels = new Map<WireGuardPeer, WireGuardTunnel>();
  /** Datagrams in shared memory are decrypted in a copy. */
  readonly #plain = createMemory(maxMessageBytes);

  constructor(group: HostGroup, options: SetOptions) {
    this.#group = group;
    this.#options = options;
    group.udp.bind(options.port, {
      onDatagram: (key, packet, memory, start, end) => this.#receive(key, packet.path, { memory, start, end }),
    });
  }

  get counters(): WireGuardDevice['counters'] {
    const total = { failed: 0, handshakes: 0, cookiesSent: 0, invalid: 0, replayed: 0, unknownPeers: 0 };
    for (const { counters } of this.#all()) {
      for (const name of Object.keys(total) as (keyof typeof total)[]) total[name] += counters[name];
    }
    return total;
  }

  add(end: WireGuardEnd): WireGuardTunnel {
    const device = this.#deviceOf(end);
    const endpoint = new Int32Array(keyWords);
    endpoint.set(end.addresses);
    endpoint[8] = (this.#options.port << 16) | this.#options.port;
    const keys = { publicKey: end.peerKey, presharedKey: end.presharedKey };
    const peer = device.addPeer({ keys, endpoint, path: end.path, keepaliveSec: end.keepaliveSec });
    const tunnel = new WireGuardTunnel(this.#group, peer, end.allowed);
    this.#tunnels.set(peer, tunnel);
    return tunnel;
  }

  advance(nowMs: number): void {
    for (const device of this.#all()) device.advance(nowMs);
  }

  *#all(): Iterable<WireGuardDevice> {
    for (const devices of this.#devices.values()) yield* devices.values();
  }

  #deviceOf({ privateKey, path }: WireGuardEnd): WireGuardDevice {
    const devices = this.#devices.get(path) ?? new Map<string, WireGuardDevice>();
    this.#devices.set(path, devices);
    const name = privateKey.join();
    const known = devices.get(name);
    if (known !== undefined) return known;
    const device = new WireGuardDevice({
      ...this.#options,
      privateKey,
      transmit: (endpoint, host, message) => void this.#group.udp.send(endpoint, host, message),
      sendKeepalive: (peer) => this.#tunnels.get(peer)?.sendKeepalive(),
      onSession: (peer, setupMs) => {
        const tunnel = this.#tunnels.get(peer);
        if (tunnel !== undefined) tunnel.setupMs ??= setupMs;
      },
    });
    devices.set(name, device);
    return device;
  }

  #receive(key: Int32Array, path: number, datagram: { memory: Memory; start: number; end: number }): void {
    const devices = this.#devices.get(path);
    if (devices === undefined) return;
    const { memory, start, end } = datagram;
    const { bytes } = this.#plain;
    for (const device of devices.values()) {
      bytes.set(memory.bytes.subarray(start, end));
      const found = device.receive(key, path, bytes.subarray(0, end - start));
      if (found === undefined) continue;
      this.#tunnels.get(found.peer)?.receive(this.#plain, found.start, found.end);
      return;
    }
  }
}
