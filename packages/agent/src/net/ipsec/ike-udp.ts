import type { IkeRoute, Memory, Packet, UdpLayer } from '@rushhour/wire';
import { addressBytes } from './ipsec-peer.ts';

export const ikePort = { plain: 500, encapsulated: 4500 } as const;
const ports = Object.values(ikePort);
const keyWords = 9;
const portsWord = 8;
const markerBytes = 4;
const keepalive = Uint8Array.of(0xff);

export interface IkeUdpEvents {
  /** A message of IKE without its marker; the bytes are valid during the call only. */
  onMessage(route: IkeRoute, message: Uint8Array): void;
  /** An ESP packet in UDP; `key`: local and remote address, and both ports. */
  onEsp(key: Int32Array, path: number, memory: Memory, start: number, end: number): void;
}

const maxRoutes = 1024;
const routeWords = keyWords + 1;

const routeOf = (key: Int32Array, path: number): IkeRoute => {
  const localPort = (key[portsWord] as number) >>> 16;
  return {
    localAddress: addressBytes(key, 0),
    remoteAddress: addressBytes(key, 4),
    localPort,
    remotePort: (key[portsWord] as number) & 0xffff,
    isEncapsulated: localPort === ikePort.encapsulated,
    path,
  };
};

/** Routes of the flows that were heard last: SAs of one flow share theirs. */
class RecentRoutes {
  readonly #words = new Int32Array(maxRoutes * routeWords);
  readonly #routes: (IkeRoute | undefined)[] = new Array<undefined>(maxRoutes);

  find(key: Int32Array, path: number): IkeRoute {
    let hash = path;
    for (let i = 0; i < keyWords; i++) hash = Math.imul(hash ^ (key[i] as number), 0x9e3779b1);
    const slot = (hash >>> 16) & (maxRoutes - 1);
    const known = this.#routes[slot];
    if (known !== undefined && this.#isAt(slot, key, path)) return known;
    const words = this.#words;
    const at = slot * routeWords;
    for (let i = 0; i < keyWords; i++) words[at + i] = key[i] as number;
    words[at + keyWords] = path;
    const route = routeOf(key, path);
    this.#routes[slot] = route;
    return route;
  }

  #isAt(slot: number, key: Int32Array, path: number): boolean {
    const words = this.#words;
    const at = slot * routeWords;
    for (let i = 0; i < keyWords; i++) if (words[at + i] !== key[i]) return false;
    return words[at + keyWords] === path;
  }
}

/** IKE on the two UDP ports of emulated hosts. Messages on port 4500, which ESP shares, begin with four zeros. */
export class IkeUdp {
  readonly #udp: UdpLayer;
  readonly #events: IkeUdpEvents;
  readonly #words = new Int32Array(keyWords);
  readonly #routes = new RecentRoutes();

  constructor(udp: UdpLayer, events: IkeUdpEvents) {
    this.#udp = udp;
    this.#events = events;
    for (const port of ports) {
      udp.bind(port, {
        onDatagram: (key, packet, memory, start, end) => this.#receive(key, packet, memory, start, end),
      });
    }
  }

  send(route: IkeRoute, message: Uint8Array): void {
    if (!route.isEncapsulated) {
      this.#transmit(route, message);
      return;
    }
    const marked = new Uint8Array(markerBytes + message.length);
    marked.set(message, markerBytes);
    this.#transmit(route, marked);
  }

  /** One byte that keeps the mapping of a NAT. */
  sendKeepalive(route: IkeRoute): void {
    this.#transmit(route, keepalive);
  }

  close(): void {
    for (const port of ports) this.#udp.unbind(port);
  }

  #receive(key: Int32Array, { path }: Packet, memory: Memory, start: number, end: number): boolean {
    const localPort = (key[portsWord] as number) >>> 16;
    const isEncapsulated = localPort === ikePort.encapsulated;
    let at = start;
    if (isEncapsulated) {
      // A single byte only keeps the mapping of a NAT.
      if (end - start <= markerBytes) return true;
      if (memory.view.getUint32(start) !== 0) {
        this.#events.onEsp(key, path, memory, start, end);
        return true;
      }
      at += markerBytes;
    }
    this.#events.onMessage(this.#routes.find(key, path), memory.bytes.subarray(at, end));
    return true;
  }

  #transmit({ localAddress, localPort, remoteAddress, remotePort, path }: IkeRoute, bytes: Uint8Array): void {
    const words = this.#words;
    writeWords(localAddress, words, 0);
    writeWords(remoteAddress, words, 4);
    words[portsWord] = (localPort << 16) | remotePort;
    this.#udp.send(words, path, bytes);
  }
}

/** Writes an address of 4 or 16 bytes as words. */
export const writeWords = (address: Uint8Array, words: Int32Array, at: number): void => {
  const view = new DataView(address.buffer, address.byteOffset, address.length);
  const isV4 = address.length === 4;
  for (let i = 0; i < 4; i++) words[at + i] = isV4 ? ([0, 0, 0xffff][i] ?? view.getInt32(0)) : view.getInt32(i * 4);
};
