import { ACK, FIN, PSH, RST, SYN } from '../dissect/frame.ts';
import { tcpPacket } from '../write/frame-builder.ts';

export interface ScriptEnds {
  client: string;
  server: string;
  clientPort: number;
  serverPort: number;
  clientSeq?: number;
  serverSeq?: number;
}

const NOTHING = new Uint8Array(0);

/** Plays a TCP conversation and collects its IP packets in order. */
export class TcpScript {
  readonly packets: Uint8Array[] = [];
  readonly #ends: ScriptEnds;
  readonly #next: { client: number; server: number };

  constructor(ends: Partial<ScriptEnds> = {}) {
    this.#ends = { client: '10.1.0.1', server: '10.2.0.1', clientPort: 40_000, serverPort: 8080, ...ends };
    this.#next = { client: ends.clientSeq ?? 1000, server: ends.serverSeq ?? 9000 };
  }

  open(): this {
    this.#send('client', NOTHING, SYN);
    this.#next.client++;
    this.#send('server', NOTHING, SYN | ACK);
    this.#next.server++;
    return this.#send('client', NOTHING, ACK);
  }

  client(payload: string | Uint8Array): this {
    return this.#say('client', payload);
  }

  server(payload: string | Uint8Array): this {
    return this.#say('server', payload);
  }

  close(): this {
    this.#send('client', NOTHING, FIN | ACK);
    this.#next.client++;
    this.#send('server', NOTHING, FIN | ACK);
    this.#next.server++;
    return this.#send('client', NOTHING, ACK);
  }

  reset(): this {
    return this.#send('server', NOTHING, RST | ACK);
  }

  acknowledge(side: 'client' | 'server'): this {
    return this.#send(side, NOTHING, ACK);
  }

  /** Leaves the packet sent last out of the capture. */
  lose(): this {
    this.packets.pop();
    return this;
  }

  /** Sends the packet sent last once more. */
  repeat(): this {
    this.packets.push(this.packets.at(-1) as Uint8Array);
    return this;
  }

  /** Exchanges the last two packets. */
  swap(): this {
    this.packets.push(...this.packets.splice(-2).reverse());
    return this;
  }

  #say(side: 'client' | 'server', payload: string | Uint8Array): this {
    const bytes = typeof payload === 'string' ? new TextEncoder().encode(payload) : payload;
    this.#send(side, bytes, ACK | PSH);
    this.#next[side] += bytes.length;
    return this;
  }

  #send(side: 'client' | 'server', payload: Uint8Array, flags: number): this {
    const { client, server, clientPort, serverPort } = this.#ends;
    const isClient = side === 'client';
    const seq = this.#next[side] >>> 0;
    const ack = (flags & ACK) === 0 ? 0 : this.#next[isClient ? 'server' : 'client'] >>> 0;
    const ends = isClient
      ? { src: client, dst: server, srcPort: clientPort, dstPort: serverPort }
      : { src: server, dst: client, srcPort: serverPort, dstPort: clientPort };
    this.packets.push(tcpPacket(payload, { ...ends, seq, ack, flags }));
    return this;
  }
}
