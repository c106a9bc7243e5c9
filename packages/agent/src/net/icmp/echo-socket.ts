import { checksumOf, sumOf } from '@rushhour/pcap/checksum';
import { epollPoller } from '../epoll/epoll-poller.ts';
import { readSocketAddress, socketAddressBytes, writeSocketAddress } from '../kernel/socket-address.ts';
import { turnLoop } from '../loop/kernel-event-loop.ts';
import { type IcmpEvents, IcmpPort } from './icmp-port.ts';
import { icmpType, openIcmpSocket } from './icmp-socket.ts';
import { type IcmpNews, icmpHeaderBytes, readMessage } from './message.ts';

const mostBytes = 2048;
const messagesAtOnce = 16;

/** An echo as it came. */
export interface Echo {
  readonly identifier: number;
  readonly sequence: number;
  readonly payload: Buffer;
  readonly peer: string;
  /** The address it came to; empty where the system does not tell. */
  readonly own: string;
}

interface EchoHandlers {
  onEcho(echo: Echo): void;
  /** A message with this number was refused on the way, or by the system. */
  onRefused(sequence: number, reason: string): void;
}

interface EchoWish {
  readonly version: 4 | 6;
  readonly hears: 'request' | 'reply';
  readonly sourceAddress?: string | undefined;
}

const addressAt = (bytes: Buffer, at: number) => bytes.subarray(at, at + 4).join('.');

/** A raw socket for echoes whose contents matter. It needs the right `cap_net_raw`. */
export class EchoSocket implements IcmpEvents {
  readonly #version: 4 | 6;
  readonly #hears: number;
  readonly #handlers: EchoHandlers;
  readonly #port: IcmpPort;
  #sentIdentifier = -1;

  constructor({ version, hears, sourceAddress }: EchoWish, handlers: EchoHandlers) {
    const { request, reply, unreachable, exceeded } = icmpType[version];
    this.#version = version;
    this.#hears = hears === 'request' ? request : reply;
    this.#handlers = handlers;
    const types = hears === 'request' ? [request] : [reply, unreachable, exceeded];
    const fd = openIcmpSocket({ version, way: 'raw', sourceAddress, types });
    const sizes = { payloadBytes: mostBytes, receiveBytes: mostBytes, count: messagesAtOnce, isNamed: true };
    this.#port = new IcmpPort(fd, { poller: epollPoller(), ...sizes }, this);
    turnLoop.acquire();
  }

  send(to: string, type: 'request' | 'reply', { identifier, sequence, payload }: Omit<Echo, 'peer' | 'own'>): void {
    const message = Buffer.alloc(icmpHeaderBytes + payload.length);
    this.#sentIdentifier = identifier;
    message[0] = icmpType[this.#version][type];
    message.writeUInt16BE(identifier, 4);
    message.writeUInt16BE(sequence, 6);
    message.set(payload, icmpHeaderBytes);
    // The kernel puts in checksums of IPv6 itself, for they cover the addresses.
    if (this.#version === 4) message.writeUInt16BE(checksumOf(sumOf(message, 0, message.length)), 2);
    const peer = Buffer.alloc(socketAddressBytes);
    this.#port.send(peer.subarray(0, writeSocketAddress(peer, 0, { address: to, port: 0 })), message, sequence);
  }

  onMessage(bytes: Buffer, start: number, end: number, index: number): void {
    const isFour = this.#version === 4;
    const at = isFour ? start + ((bytes[start] as number) & 15) * 4 : start;
    if (at + icmpHeaderBytes > end) return;
    if (bytes[at] !== this.#hears) {
      this.#tellRefusal(bytes, start, end);
      return;
    }
    this.#handlers.onEcho({
      identifier: bytes.readUInt16BE(at + 4),
      sequence: bytes.readUInt16BE(at + 6),
      payload: Buffer.from(bytes.subarray(at + icmpHeaderBytes, end)),
      peer: readSocketAddress(this.#port.peerOf(index), 0).address,
      own: isFour ? addressAt(bytes, start + 16) : '',
    });
  }

  onFail(sequence: number, code: string): void {
    this.#handlers.onRefused(sequence, code);
  }

  /** What the socket says besides belongs to no message. */
  onError(): void {}

  /** Only refusals of what was sent from here: a raw socket hears those of everyone. */
  #tellRefusal(bytes: Buffer, start: number, end: number): void {
    const news: IcmpNews = { kind: 'none', reason: '', identifier: 0, sequence: 0 };
    readMessage(bytes, { start, end, version: this.#version, way: 'raw' }, news);
    if (news.kind === 'refused' && news.identifier === this.#sentIdentifier) {
      this.#handlers.onRefused(news.sequence, news.reason);
    }
  }

  close(): void {
    this.#port.close();
    turnLoop.release();
  }
}
