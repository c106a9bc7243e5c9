import {
  copyOf,
  formatAddress,
  ipProtocol,
  type Memory,
  type Packet,
  pseudoHeaderSum,
  UdpHeader,
} from '@rushhour/wire';
import type { HostLayers } from '../../net/host-network.ts';

/** A router that takes the datagrams of a port. */
export interface Hearer {
  readonly address: string;
  hear(bytes: Uint8Array, source: Int32Array): void;
}

/** Ports that protocols use at both ends, of all routers on an interface. */
export class DatagramPorts {
  readonly #layers: HostLayers;
  readonly #hearers = new Map<number, Hearer[]>();
  readonly #udp = new UdpHeader();

  constructor(layers: HostLayers) {
    this.#layers = layers;
  }

  get isEmpty(): boolean {
    return this.#hearers.size === 0;
  }

  /** Gives a router the datagrams of a port, whether they are sent to it or to a group. */
  add(port: number, hearer: Hearer): void {
    const known = this.#hearers.get(port);
    if (known !== undefined) {
      known.push(hearer);
      return;
    }
    const hearers = [hearer];
    this.#hearers.set(port, hearers);
    this.#layers.group.udp.bind(port, {
      onDatagram: (key, _packet, memory, start, end) => {
        const one = hearers.find(({ address }) => address === formatAddress(key, 0));
        if (((key[8] as number) & 0xffff) === port) one?.hear(copyOf(memory.bytes, start, end), key.slice(4, 8));
        return one !== undefined;
      },
    });
  }

  /** Datagrams to groups, from and to the port of a protocol. */
  receive(packet: Packet, memory: Memory, start: number, end: number): void {
    const udp = this.#udp;
    const { addresses, checks, isV6 } = packet;
    const pseudoSum = checks ? pseudoHeaderSum(addresses, 0, ipProtocol.udp) : 0;
    if (!udp.parse(memory, start, end, pseudoSum, checks) || udp.destinationPort !== udp.sourcePort) return;
    const source = addresses.slice(4, 8);
    for (const { address, hear } of this.#hearers.get(udp.destinationPort) ?? [])
      if (address.includes(':') === isV6) hear(copyOf(memory.bytes, udp.payload, udp.end), source);
  }
}
