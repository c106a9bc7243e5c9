import { latin1, u8, u16, u24 } from '../../bytes.ts';
import { printable } from './http-host.ts';

const HANDSHAKE_RECORD = 22;
const MAX_HELLO_BYTES = 65_536;

export interface ClientHello {
  readonly version: number;
  readonly ciphers: readonly number[];
  readonly extensions: readonly number[];
  readonly serverName: string;
  readonly hasServerName: boolean;
  readonly groups: readonly number[];
  readonly pointFormats: readonly number[];
  readonly signatureAlgorithms: readonly number[];
  readonly supportedVersions: readonly number[];
  /** The first protocol offered, as bytes in Latin-1. */
  readonly alpn: string;
}

/** Reads the hello at the start of a stream; undefined when it is none or makes no sense. */
export function findClientHello(bytes: Uint8Array, start: number, end: number): ClientHello | 'incomplete' | undefined {
  const message = handshakeMessage(bytes, start, end);
  if (message === 'incomplete' || message === undefined) return message;
  try {
    return readHello(new Cursor(message, 0, message.length));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** GREASE values (RFC 8701) are reserved and excluded from fingerprints. */
export function withoutGrease(values: readonly number[]): number[] {
  return values.filter((value) => (value & 0x0f0f) !== 0x0a0a || value >>> 8 !== (value & 255));
}

/** Body of the first handshake message, which may be spread over several records. */
function handshakeMessage(bytes: Uint8Array, start: number, end: number): Uint8Array | 'incomplete' | undefined {
  const parts: Uint8Array[] = [];
  let held = 0;
  let wanted = 4;
  for (let at = start; held < wanted; ) {
    if (end - at < 5) return 'incomplete';
    const length = u16(bytes, at + 3);
    if (u8(bytes, at) !== HANDSHAKE_RECORD || length === 0) return undefined;
    const part = bytes.subarray(at + 5, Math.min(end, at + 5 + length));
    parts.push(part);
    held += part.length;
    at += 5 + length;
    if (wanted === 4 && held >= 4) wanted = 4 + u24(parts.length === 1 ? part : joined(parts, held), 1);
    if (wanted > MAX_HELLO_BYTES) return undefined;
    if (held < wanted && at > end) return 'incomplete';
  }
  const message = parts.length === 1 ? (parts[0] as Uint8Array) : joined(parts, held);
  return u8(message, 0) === 1 ? message.subarray(4, wanted) : undefined;
}

function joined(parts: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function readHello(cursor: Cursor): ClientHello {
  const version = cursor.u16();
  cursor.take(32);
  cursor.vector8();
  const ciphers = cursor.vector16().list16();
  cursor.vector8();
  const found = new Map<number, Cursor>();
  const extensions: number[] = [];
  const block = cursor.isAtEnd ? cursor : cursor.vector16();
  while (!block.isAtEnd) {
    const type = block.u16();
    const body = block.vector16();
    extensions.push(type);
    if (!found.has(type)) found.set(type, body);
  }
  return {
    version,
    ciphers,
    extensions,
    serverName: serverNameOf(found.get(0)),
    hasServerName: found.has(0),
    groups: found.get(10)?.vector16().list16() ?? [],
    pointFormats: found.get(11)?.vector8().list8() ?? [],
    signatureAlgorithms: found.get(13)?.vector16().list16() ?? [],
    supportedVersions: found.get(43)?.vector8().list16() ?? [],
    alpn: found.get(16)?.vector16().vector8().text() ?? '',
  };
}

function serverNameOf(extension: Cursor | undefined): string {
  if (extension === undefined || extension.isAtEnd) return '';
  const names = extension.vector16();
  return names.u8() === 0 ? printable(names.vector16().text()) : '';
}

/** Reads forward inside fixed bounds; leaving them is a RangeError. */
class Cursor {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  #at: number;

  constructor(bytes: Uint8Array, start: number, end: number) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#end;
  }

  take(count: number): number {
    const at = this.#at;
    if (count > this.#end - at) throw new RangeError('beyond the end of the message');
    this.#at += count;
    return at;
  }

  u8(): number {
    return u8(this.#bytes, this.take(1));
  }

  u16(): number {
    return u16(this.#bytes, this.take(2));
  }

  vector8(): Cursor {
    return this.#inner(this.u8());
  }

  vector16(): Cursor {
    return this.#inner(this.u16());
  }

  list8(): number[] {
    return Array.from(this.#bytes.subarray(this.#at, this.#end));
  }

  list16(): number[] {
    const values: number[] = [];
    while (this.#end - this.#at >= 2) values.push(this.u16());
    return values;
  }

  text(): string {
    return latin1(this.#bytes, this.#at, this.#end);
  }

  #inner(count: number): Cursor {
    const start = this.take(count);
    return new Cursor(this.#bytes, start, start + count);
  }
}
