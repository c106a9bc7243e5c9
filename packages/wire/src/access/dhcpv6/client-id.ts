import { copyOf } from '../../bytes/memory.ts';
import { macBytes } from '../../ethernet/ethernet.ts';

export type DuidKind = 'll' | 'llt' | 'uuid';

const type = { llt: 1, ll: 3, uuid: 4 } as const;
const ethernet = 1;
/** The fixed part of UUIDs of clients: version 8, whose content is free (RFC 9562). */
const uuidHead = [0x52, 0x75, 0x73, 0x68, 0x68, 0x6f, 0x80, 0x72, 0x80, 0x00];

/** The identifiers of clients (RFC 8415, section 11), made from their MACs. */
export class ClientId {
  readonly bytes: Uint8Array;
  readonly #macAt: number;

  /** `timeSec`: seconds since 2000, for the kind that has a time. */
  constructor(kind: DuidKind, timeSec: number) {
    const head = { ll: [0, type.ll, 0, ethernet], llt: [0, type.llt, 0, ethernet], uuid: [0, type.uuid, ...uuidHead] }[
      kind
    ];
    const time = [timeSec >>> 24, (timeSec >>> 16) & 255, (timeSec >>> 8) & 255, timeSec & 255];
    const start = kind === 'llt' ? [...head, ...time] : head;
    this.#macAt = start.length;
    this.bytes = Uint8Array.from([...start, ...new Uint8Array(macBytes)]);
  }

  /** The identifier of the client with a MAC, valid until the next call. */
  of(mac: Uint8Array): Uint8Array {
    this.bytes.set(mac, this.#macAt);
    return this.bytes;
  }
}

/** Identifiers of servers, each kept once: many clients have few servers. */
export class ServerIds {
  readonly #ids: Uint8Array[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #max = 4096;

  /** The number of an identifier; -1 when there are more servers than can be real. */
  numberOf(bytes: Uint8Array): number {
    const text = String.fromCharCode(...bytes);
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    if (this.#ids.length >= this.#max) return -1;
    this.#numbers.set(text, this.#ids.length);
    return this.#ids.push(copyOf(bytes)) - 1;
  }

  idOf(number: number): Uint8Array {
    return this.#ids[number] as Uint8Array;
  }
}
