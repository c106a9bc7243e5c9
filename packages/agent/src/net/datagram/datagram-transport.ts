import type { Listen } from '@rushhour/protocol';
import type { CreateAlarm } from '../loop/alarm.ts';
import type { Chunk, Route } from '../transport/transport.ts';

/** A received datagram. Valid during the call only: the object and its memory are reused for the next one. */
export interface Datagram extends Chunk {
  /** The same number for all datagrams of one remote endpoint. */
  readonly from: number;
  /** Index in the receive batch, for `reply`. */
  readonly index: number;
}

export interface DatagramEvents {
  onMessage(datagram: Datagram): void;
  /** The kernel has accepted the datagram with this token. */
  onSent(token: number, now: number): void;
  /** The kernel has rejected the datagram with this token. */
  onFail(token: number, code: string): void;
  /** An error that belongs to no particular datagram. */
  onError(code: string): void;
}

export interface DatagramSocket {
  /** The port that it is bound to, where the kernel has it. */
  readonly port?: number;
  /** For connected sockets. Copies the bytes before it returns. */
  send(bytes: Uint8Array, token: number): void;
  /** Replies to the sender; only while the datagram is being handled. */
  reply(datagram: Datagram, bytes: Uint8Array, token: number): void;
  /** Returns a function that replies to the sender later. */
  createReply(datagram: Datagram): (bytes: Uint8Array, token: number) => void;
  /** Afterwards nothing is received, and its port is free. */
  close(): void;
}

export interface DatagramOptions {
  /** Maximum number of datagrams that wait to be sent together, and of bytes in each. */
  readonly sendBatch: { readonly count: number; readonly bytes: number };
  /** 0 keeps the system default. */
  readonly receiveBufferBytes: number;
  /**
   * Similar datagrams may pass the kernel as one (UDP GSO and GRO). Fast, but firewall rules on the path then count and
   * drop them as one: not for jobs that count every datagram.
   */
  readonly usesSegmentation?: boolean;
}

/** Carries datagrams. */
export interface DatagramTransport {
  readonly name: string;
  readonly createAlarm: CreateAlarm;
  connect(route: Route, options: DatagramOptions, events: DatagramEvents): Promise<DatagramSocket>;
  bind(
    where: Listen & { readonly isShared: boolean },
    options: DatagramOptions,
    createEvents: (socket: DatagramSocket) => DatagramEvents,
  ): Promise<DatagramSocket>;
  /** Closes all sockets. */
  close(): Promise<void>;
}
