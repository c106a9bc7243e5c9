import { startsWith, u8 } from '../../bytes.ts';
import type { Flow } from '../flow.ts';
import type { Session } from '../session.ts';
import { classify } from './app-protocol.ts';
import { findClientHello } from './client-hello.ts';
import { findHttpHost } from './http-host.ts';
import { ja3Of, ja4Of } from './tls-fingerprints.ts';

/** How much of the start of a direction is looked at: one TLS record of the largest size. */
export const MAX_HEAD_BYTES = 16_389;
const MAX_HELD_BYTES = 32 * 1024 * 1024;
const ENOUGH_BYTES = 8;
/** Limits repeated parsing of a hello that arrives in many small segments. */
const MAX_LOOKS = 64;

/** Looks at the start of both directions until the protocol and the name of the server are known. */
export class AppDetector {
  #heldBytes = 0;

  look(session: Session, flow: Flow, bytes: Uint8Array | null, start: number, count: number): void {
    const side = flow.isA ? 1 : 2;
    const head = session.head;
    if (head !== null && head.isA === flow.isA) {
      this.#resume(session, bytes, start, count);
    } else if ((session.unseen & side) !== 0) {
      session.unseen &= ~side;
      if (bytes === null || !needsMore(session, bytes, start, start + count)) return;
      if (head === null) this.#hold(session, flow.isA, bytes, start, count);
    }
  }

  #hold(session: Session, isA: boolean, bytes: Uint8Array, start: number, count: number): void {
    if (!session.isTcp || count >= MAX_HEAD_BYTES || this.#heldBytes > MAX_HELD_BYTES) return;
    const held = new Uint8Array(Math.max(512, count * 2));
    held.set(bytes.subarray(start, start + count));
    session.head = { isA, bytes: held, length: count, looks: 0 };
    this.#heldBytes += held.length;
  }

  #resume(session: Session, bytes: Uint8Array | null, start: number, count: number): void {
    const head = session.head;
    if (head === null) return;
    if (bytes !== null) {
      const taken = Math.min(count, MAX_HEAD_BYTES - head.length);
      this.#reserve(head, head.length + taken);
      head.bytes.set(bytes.subarray(start, start + taken), head.length);
      head.length += taken;
      head.looks++;
      const isUndecided = head.looks < MAX_LOOKS && needsMore(session, head.bytes, 0, head.length);
      if (isUndecided && head.length < MAX_HEAD_BYTES && this.#heldBytes <= MAX_HELD_BYTES) return;
    }
    this.#heldBytes -= head.bytes.length;
    session.head = null;
  }

  #reserve(head: { bytes: Uint8Array; length: number }, wanted: number): void {
    if (wanted <= head.bytes.length) return;
    const larger = new Uint8Array(Math.min(MAX_HEAD_BYTES, wanted * 2));
    larger.set(head.bytes.subarray(0, head.length));
    this.#heldBytes += larger.length - head.bytes.length;
    head.bytes = larger;
  }
}

/** Inspects the bytes; returns true if more bytes of this direction may be needed. */
function needsMore(session: Session, bytes: Uint8Array, start: number, end: number): boolean {
  if (session.appProtocol === 'unknown') session.appProtocol = classify(session, bytes, start, end);
  switch (session.appProtocol) {
    case 'unknown':
      return end - start < ENOUGH_BYTES;
    case 'http':
      return readHost(session, bytes, start, end);
    case 'tls':
      return readHello(session, bytes, start, end);
    default:
      session.unseen = 0;
      return false;
  }
}

function readHost(session: Session, bytes: Uint8Array, start: number, end: number): boolean {
  if (startsWith(bytes, start, end, 'HTTP/')) return false;
  const host = findHttpHost(bytes, start, end);
  if (host === undefined) return true;
  session.unseen = 0;
  session.httpHost = host;
  return false;
}

function readHello(session: Session, bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start >= 6 && u8(bytes, start + 5) !== 1) return false;
  const hello = findClientHello(bytes, start, end);
  if (hello === 'incomplete') return true;
  if (hello === undefined) return false;
  session.unseen = 0;
  session.sni = hello.serverName;
  session.ja3 = ja3Of(hello);
  session.ja4 = ja4Of(hello);
  return false;
}
