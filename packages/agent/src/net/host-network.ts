import type { Duplex } from 'node:stream';
import type { FrameSink, HostGroup, IcmpHandler, OutgoingIcmp, RawHandler } from '@rushhour/wire';
import type { DatagramTransport } from './datagram/datagram-transport.ts';
import type { ConnectionOptions, Dialer, Transport } from './transport/transport.ts';

export interface HostIcmpEvents {
  /** Answers, errors about messages of the hosts, and other messages that the hosts do not answer themselves. */
  onMessage?: IcmpHandler;
  /** Takes echo requests; without it the hosts answer them. */
  onEcho?: IcmpHandler;
  /** The neighbour that a message had to go to cannot be reached. */
  onUnreachable?(message: OutgoingIcmp): void;
}

/** ICMP of emulated hosts. Addresses are words as in @rushhour/wire. */
export interface HostIcmp {
  /** Echo requests that the hosts have answered. */
  readonly answered: number;
  writeAddress(host: number, to: Int32Array, at: number): void;
  writeMac(host: number, to: Uint8Array): void;
  /** Returns false if too many messages wait for their neighbours. */
  send(host: number, to: Int32Array, message: OutgoingIcmp): boolean;
  close(): void;
}

/** All packets to the hosts except ICMP. */
export interface HostPackets {
  /** Sends the payload of an IP packet from a host. Returns false if it was dropped. */
  send(host: number, to: Int32Array, packet: { protocol: number; bytes: Uint8Array }): boolean;
  close(): void;
}

/** Emulated hosts below their transports: for protocols on IP and Ethernet. */
export interface HostLayers {
  readonly group: HostGroup;
  /** Name of the interface. */
  readonly interface: string;
  readonly hostCount: number;
  /** Index of the host with an address, or -1. */
  hostOf(address: Int32Array): number;
  writeAddress(host: number, to: Int32Array, at: number): void;
  writeMac(host: number, to: Uint8Array, at: number): void;
  /** Where frames of a host are written and sent, Ethernet header included. */
  readonly sink: FrameSink;
  /** VLAN tags of a host. */
  tagsOf(host: number): number;
  /** Sends what has been written, once the event at hand is handled. */
  scheduleFlush(): void;
}

/** A request for a new TCP connection, whether or not anything listens. */
export interface SynSeen {
  /** Empty where the system does not say. */
  readonly ip: string;
  readonly port: number;
  readonly peerIp: string;
  readonly peerPort: number;
}

/** Transports of emulated hosts, for jobs that do not use the sockets of the kernel. */
export interface HostNetwork extends Dialer {
  /** Addresses of the hosts. */
  readonly addresses: readonly string[];
  readonly layers: HostLayers;
  createTransport(options: ConnectionOptions): Transport;
  createDatagrams(): DatagramTransport;
  createIcmp(events: HostIcmpEvents): HostIcmp;
  /** Reports every request for a TCP connection, also those that are refused. Returns a function that stops it. */
  watchSyns(onSyn: (seen: SynSeen) => void): () => void;
  createPackets(onPacket: RawHandler): HostPackets;
  /** Streams of the connections to a port. Returns a function that stops listening. */
  serve(
    where: { readonly host: string; readonly port: number },
    onSocket: (socket: Duplex) => void,
  ): Promise<() => Promise<void>>;
  /** Handles what has arrived: the rest would be lost when the engine stops. */
  poll(): void;
  close(): Promise<void>;
}
