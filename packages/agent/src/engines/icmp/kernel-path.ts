import type { IcmpClientConfig } from '@rushhour/protocol';
import { epollPoller } from '../../net/epoll/epoll-poller.ts';
import {
  type IcmpResponse,
  numberRequest,
  readMessage,
  requestTemplate,
  templateSumOf,
} from '../../net/icmp/icmp-message.ts';
import { type IcmpSocketKind, openIcmpSocket } from '../../net/icmp/icmp-socket.ts';
import { type IcmpEvents, IcmpTransport } from '../../net/icmp/icmp-transport.ts';
import type { IcmpPath, IcmpPathEvents } from './icmp-path.ts';
import type { IcmpTarget } from './meters.ts';

/** Echo requests by a socket of the kernel. */
export class KernelIcmpPath implements IcmpPath, IcmpEvents {
  readonly #version: 4 | 6;
  readonly #kind: IcmpSocketKind;
  readonly #events: IcmpPathEvents;
  readonly #port: IcmpTransport;
  readonly #message: Buffer;
  readonly #templateSum: number;
  readonly #response: IcmpResponse = { kind: 'none', reason: '', identifier: 0, sequence: 0 };

  constructor(config: IcmpClientConfig, socket: { version: 4 | 6; kind: IcmpSocketKind }, events: IcmpPathEvents) {
    const { sourceAddress, ttl, payloadBytes, hasWrongChecksums } = config;
    this.#version = socket.version;
    this.#kind = socket.kind;
    this.#events = events;
    this.#message = requestTemplate(socket.version, payloadBytes);
    // Off by one is enough for a wrong checksum.
    this.#templateSum = templateSumOf(this.#message) + (hasWrongChecksums ? 1 : 0);
    const fd = openIcmpSocket({ ...socket, sourceAddress, ttl });
    this.#port = new IcmpTransport(fd, { poller: epollPoller(), payloadBytes }, this);
  }

  send({ peer }: IcmpTarget, identifier: number, sequence: number): void {
    numberRequest(this.#message, { version: this.#version, identifier, sequence }, this.#templateSum);
    this.#port.send(peer, this.#message, sequence);
  }

  close(): void {
    this.#port.close();
  }

  onMessage(bytes: Buffer, start: number, end: number, _index: number, now: number): void {
    const response = this.#response;
    readMessage(bytes, { start, end, version: this.#version, kind: this.#kind }, response);
    if (response.kind === 'none') return;
    // On ping sockets the kernel replaces the identifier.
    if (this.#kind === 'ping') response.identifier = -1;
    this.#events.onResponse(response, now);
  }

  onFail(sequence: number, code: string): void {
    this.#events.onFail(sequence, code);
  }

  onError(code: string): void {
    this.#events.onError(code);
  }
}
