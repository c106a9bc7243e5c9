import { checksumOf, sumOf } from '@rushhour/pcap/checksum';
import { epollPoller } from '../epoll/epoll-poller.ts';
import { readSocketAddress, socketAddressBytes, writeSocketAddress } from '../kernel/socket-address.ts';
import { kernelEventLoop } from '../loop/kernel-event-loop.ts';
import { type IcmpResponse, icmpHeaderBytes, readMessage } from './icmp-message.ts';
import { icmpType, openIcmpSocket } from './icmp-socket.ts';
import { type IcmpEvents, IcmpTransport } from './icmp-transport.ts';

const maxBytes = 2048;
const batchCount = 16;

/** A received echo message. */
export interface Echo {
  readonly identifier: number;
  readonly sequence: number;
  readonly payload: Buffer;
  readonly peer: string;
  /** The destination address; empty if the system does not provide it. */
  readonly own: string;
}

interface EchoHandlers {
  onEcho(echo: Echo): void;
  /** The message with this sequence number was rejected on the path or by the system. */
  onRefused(sequence: number, reason: string): void;
}

interface EchoSocketOptions {
  readonly version: 4 | 6;
  readonly receives: 'request' | 'reply';
  readonly sourceAddress?: string | undefined;
}

const addressAt = (bytes: Buffer, at: number) => bytes.subarray(at, at + 4).join('.');

/** A raw socket for echo messages with arbitrary payloads. Requires `cap_net_raw`. */
export class EchoSocket implements IcmpEvents {
  readonly #version: 4 | 6;
  readonly #receivedType: number;
  readonly #handlers: EchoHandlers;
  readonly #transport: IcmpTransport;
  #sentIdentifier = -1;

  constructor({ version, receives, sourceAddress }: EchoSocketOptions, handlers: EchoHandlers) {
    const { request, reply, unreachable, exceeded } = icmpType[version];
    this.#version = version;
    this.#receivedType = receives === 'request' ? request : reply;
    this.#handlers = handlers;
    const types = receives === 'request' ? [request] : [reply, unreachable, exceeded];
    const fd = openIcmpSocket({ version, kind: 'raw', sourceAddress, types });
    const sizes = { payloadBytes: maxBytes, receiveBytes: maxBytes, count: batchCount, hasPeers: true };
    this.#transport = new IcmpTransport(fd, { poller: epollPoller(), ...sizes }, this);
    kernelEventLoop.acquire();
  }

  send(to: string, type: 'request' | 'reply', { identifier, sequence, payload }: Omit<Echo, 'peer' | 'own'>): void {
    const message = Buffer.alloc(icmpHeaderBytes + payload.length);
    this.#sentIdentifier = identifier;
    message[0] = icmpType[this.#version][type];
    message.writeUInt16BE(identifier, 4);
    message.writeUInt16BE(sequence, 6);
    message.set(payload, icmpHeaderBytes);
    // The kernel fills in ICMPv6 checksums, which cover the addresses.
    if (this.#version === 4) message.writeUInt16BE(checksumOf(sumOf(message, 0, message.length)), 2);
    const peer = Buffer.alloc(socketAddressBytes);
    this.#transport.send(peer.subarray(0, writeSocketAddress(peer, 0, { address: to, port: 0 })), message, sequence);
  }

  onMessage(bytes: Buffer, start: number, end: number, index: number): void {
    const isFour = this.#version === 4;
    const at = isFour ? start + ((bytes[start] as number) & 15) * 4 : start;
    if (at + icmpHeaderBytes > end) return;
    if (bytes[at] !== this.#receivedType) {
      this.#reportError(bytes, start, end);
      return;
    }
    this.#handlers.onEcho({
      identifier: bytes.readUInt16BE(at + 4),
      sequence: bytes.readUInt16BE(at + 6),
      payload: Buffer.from(bytes.subarray(at + icmpHeaderBytes, end)),
      peer: readSocketAddress(this.#transport.peerOf(index), 0).address,
      own: isFour ? addressAt(bytes, start + 16) : '',
    });
  }

  onFail(sequence: number, code: string): void {
    this.#handlers.onRefused(sequence, code);
  }

  /** Other socket errors belong to no message. */
  onError(): void {}

  /** Reports errors about our own messages only: a raw socket receives those of every process. */
  #reportError(bytes: Buffer, start: number, end: number): void {
    const response: IcmpResponse = { kind: 'none', reason: '', identifier: 0, sequence: 0 };
    readMessage(bytes, { start, end, version: this.#version, kind: 'raw' }, response);
    if (response.kind === 'refused' && response.identifier === this.#sentIdentifier) {
      this.#handlers.onRefused(response.sequence, response.reason);
    }
  }

  close(): void {
    this.#transport.close();
    kernelEventLoop.release();
  }
}
