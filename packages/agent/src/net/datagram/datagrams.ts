import type { Listen } from '@rushhour/protocol';
import type { CreateAlarm } from '../loop/alarm.ts';
import type { Chunk, Route } from '../transport/transport.ts';

/** A packet that has arrived. Valid during the call only: the next one comes in the same object and memory. */
export interface Datagram extends Chunk {
  /** The same for all packets from one address and port. */
  readonly from: number;
  /** Among the packets handed over together; for `reply`. */
  readonly index: number;
}

export interface DatagramEvents {
  onMessage(datagram: Datagram): void;
  /** The system has taken the packet that was given this token. */
  onSent(token: number, now: number): void;
  /** It has not, and will not. */
  onFail(token: number, code: string): void;
  /** Something went wrong that concerns no packet of ours. */
  onError(code: string): void;
}

export interface DatagramSocket {
  /** Of a connected socket. The bytes are needed no longer than this call. */
  send(bytes: Uint8Array, token: number): void;
  /** To where the packet came from; only while it is being handled. */
  reply(datagram: Datagram, bytes: Uint8Array, token: number): void;
  /** The same for later: remembers where the packet came from. */
  replyLater(datagram: Datagram): (bytes: Uint8Array, token: number) => void;
}

export interface DatagramOptions {
  /** How many packets may wait to be sent together, and the largest of them. */
  readonly leaving: { readonly count: number; readonly bytes: number };
  /** 0 leaves the system default. */
  readonly receiveBufferBytes: number;
  /**
   * Packets alike may travel through this machine as one. That is fast, but a rule of the kernel on the way counts and
   * drops them as one, too: not for those who count each.
   */
  readonly mayJoin?: boolean;
}

/** A way to carry packets. */
export interface Datagrams {
  readonly name: string;
  readonly createAlarm: CreateAlarm;
  connect(route: Route, options: DatagramOptions, events: DatagramEvents): Promise<DatagramSocket>;
  bind(
    where: Listen & { readonly isShared: boolean },
    options: DatagramOptions,
    createEvents: (socket: DatagramSocket) => DatagramEvents,
  ): Promise<DatagramSocket>;
  /** Closes all its sockets. */
  close(): Promise<void>;
}
