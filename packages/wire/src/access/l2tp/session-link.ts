import type { Memory } from '../../bytes/memory.ts';
import { ipv4Bytes, writeIpv4 } from '../../ip/ipv4.ts';
import { udpBytes } from '../../udp/udp.ts';
import type { PacketWriter } from '../echo.ts';
import type { PppLink } from '../ppp/packet.ts';
import type { Calls } from './calls.ts';
import type { L2tpLink } from './tunnels.ts';

const timeToLive = 64;

/** Sends the packets of PPP sessions as data messages. */
export class SessionLink implements PppLink, PacketWriter {
  readonly #link: L2tpLink;
  readonly #calls: Calls;
  #identification = 0;

  constructor(link: L2tpLink, calls: Calls) {
    this.#link = link;
    this.#calls = calls;
  }

  get memory(): Memory {
    return this.#link.memory;
  }

  /** Largest packet of a session. */
  get mtu(): number {
    return this.#link.mtu - ipv4Bytes - udpBytes - this.#calls.headBytes;
  }

  begin(session: number, length: number): number {
    const { headBytes } = this.#calls;
    const at = this.#link.begin(session, headBytes + length);
    return at < 0 ? -1 : at + headBytes;
  }

  send(session: number, at: number, end: number, protocol: number): void {
    const call = this.#calls.find(session);
    const start = this.#calls.wrap(session, this.memory, at, end, protocol);
    if (call !== undefined && start >= 0) this.#link.send(call.tunnel.peer, start, end, { path: session, tos: 0 });
  }

  writeIpv4(
    at: number,
    end: number,
    { source, destination, protocol, tos }: { source: number; destination: number; protocol: number; tos: number },
  ): void {
    this.#identification = (this.#identification + 1) & 0xffff;
    writeIpv4(this.memory.view, at, {
      tos,
      length: end - at,
      identification: this.#identification,
      fragment: 0,
      ttl: timeToLive,
      protocol,
      source,
      destination,
    });
  }
}
