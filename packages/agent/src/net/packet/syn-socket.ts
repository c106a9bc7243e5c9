import { epollPoller } from '../epoll/epoll-poller.ts';
import type { SynSeen } from '../host-network.ts';
import type { IcmpEvents } from '../icmp/icmp-transport.ts';
import { IcmpTransport } from '../icmp/icmp-transport.ts';
import { configureOrClose, openSocket } from '../kernel/socket.ts';
import { family, readSocketAddress } from '../kernel/socket-address.ts';
import { kernelEventLoop } from '../loop/kernel-event-loop.ts';
import { assemble, op, verdicts } from './packet-filter.ts';
import { attachProgram } from './packet-socket.ts';

const socketRaw = 3;
const tcpProtocol = 6;
const portsBytes = 4;
const flagsAt = 13;
const synAndAck = 0x12;
const syn = 0x02;

const isSyn = [
  { code: op.and, k: synAndAck },
  { code: op.jumpIfEqual, k: syn, whenTrue: 'accept', otherwise: 'reject' },
  ...verdicts,
] as const;

/** Raw sockets of IPv4 begin with the header of IP, those of IPv6 with that of TCP. */
const programs = {
  4: assemble([{ code: op.headerLengthToX, k: 0 }, { code: op.loadByteAtX, k: flagsAt }, ...isSyn]),
  6: assemble([{ code: op.loadByte, k: flagsAt }, ...isSyn]),
} as const;

/** Sees all requests for TCP connections that reach the machine. Requires `cap_net_raw`. */
export class SynSocket implements IcmpEvents {
  readonly #version: 4 | 6;
  readonly #onSyn: (seen: SynSeen) => void;
  readonly #transport: IcmpTransport;

  constructor(version: 4 | 6, onSyn: (seen: SynSeen) => void) {
    this.#version = version;
    this.#onSyn = onSyn;
    const domain = version === 4 ? family.inet : family.inet6;
    const fd = configureOrClose(openSocket(domain, socketRaw, tcpProtocol), (opened) =>
      attachProgram(opened, programs[version]),
    );
    this.#transport = new IcmpTransport(fd, { poller: epollPoller(), payloadBytes: 0, hasPeers: true }, this);
    kernelEventLoop.acquire();
  }

  onMessage(bytes: Buffer, start: number, end: number, index: number): void {
    const isFour = this.#version === 4;
    const at = isFour ? start + ((bytes[start] as number) & 15) * 4 : start;
    if (at + portsBytes > end) return;
    this.#onSyn({
      ip: isFour ? bytes.subarray(start + 16, start + 20).join('.') : '',
      port: bytes.readUInt16BE(at + 2),
      peerIp: readSocketAddress(this.#transport.peerOf(index), 0).address,
      peerPort: bytes.readUInt16BE(at),
    });
  }

  /** Nothing is sent. */
  onFail(): void {}

  onError(): void {}

  close(): void {
    this.#transport.close();
    kernelEventLoop.release();
  }
}
