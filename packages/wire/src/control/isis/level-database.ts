import type { IsisAuthentication } from './authentication.ts';
import { authenticationTlvs, sign } from './authentication.ts';
import {
  agedLsp,
  compareLsp,
  createLsp,
  fragmentsOf,
  type LspContext,
  type LspEntry,
  lifetimeOf,
  lspFlags,
  purgedLsp,
  readLspEntry,
  type StoredLsp,
  storedOf,
} from './lsp.ts';
import {
  bytesOfHex,
  headerBytes,
  hexOf,
  type Level,
  lspIdBytes,
  packedTlvs,
  pduType,
  type ReceivedPdu,
  type Tlv,
  tlvType,
  valuesOf,
  writePdu,
} from './pdu.ts';

const resendMs = 5000;
/** A purged LSP is kept so long, so that older instances are recognised. */
const zeroAgeMs = 60_000;
const maxPerCall = 100;
const entryBytes = 16;
/** Entries of a sequence numbers PDU of at most 1492 bytes, authentication included. */
const entriesPerPdu = 80;
const firstId = '0'.repeat(2 * lspIdBytes);
const lastId = 'f'.repeat(2 * lspIdBytes);
const neverSent = Number.NEGATIVE_INFINITY;

export interface DatabaseOptions {
  readonly level: Level;
  readonly systemId: string;
  readonly isBroadcast: boolean;
  readonly isOverloaded: boolean;
  readonly lifetimeSec: number;
  readonly refreshSec: number;
  readonly authentication: IsisAuthentication;
  /** Whether a system is the emulated router or one behind it. */
  isOwn(systemId: string): boolean;
  send(pdu: Uint8Array): void;
}

interface OwnLsp {
  readonly flags: number;
  readonly tlvs: readonly Tlv[];
}

/** The link-state database of a level and its synchronisation over one link (ISO 10589, section 7.3). */
export class LevelDatabase {
  readonly lsps = new Map<string, StoredLsp>();
  /** The link has a neighbour of the level. */
  isUp = false;
  /** Answers requests on a broadcast network. */
  isDesignated = false;
  readonly #options: DatabaseOptions;
  readonly #context: LspContext;
  /** What the content of own LSPs is. */
  readonly #own = new Map<string, OwnLsp>();
  /** LSPs to send, and when that was done last (send routeing message flags). */
  readonly #toSend = new Map<string, number>();
  /** LSPs to acknowledge or to ask for (send sequence numbers flags). */
  readonly #toList = new Map<string, LspEntry>();

  constructor(options: DatabaseOptions) {
    this.#options = options;
    this.#context = options;
  }

  /** Originates the LSP of a system or pseudonode (14 hexadecimal digits) with this content. */
  originate(node: string, tlvs: readonly Tlv[], now: number): void {
    const { level, isOverloaded, authentication, systemId } = this.#options;
    const overload = isOverloaded && node === `${systemId}00` ? lspFlags.overload : 0;
    const flags = (level === 1 ? lspFlags.level1 : lspFlags.level2) | overload;
    const fragments = fragmentsOf(tlvs, authentication);
    fragments.forEach((content, index) => {
      const id = `${node}${index.toString(16).padStart(2, '0')}`;
      this.#own.set(id, { flags, tlvs: content });
      this.#renew(id, (this.lsps.get(id)?.sequence ?? 0) + 1, now);
    });
    for (let index = fragments.length; index < 256; index++) {
      const id = `${node}${index.toString(16).padStart(2, '0')}`;
      if (!this.#own.has(id)) break;
      this.#purge(id, now);
    }
  }

  /** Takes an own LSP back. */
  withdraw(node: string, now: number): void {
    for (const id of [...this.#own.keys()]) if (id.startsWith(node)) this.#purge(id, now);
  }

  /** Takes all own LSPs back and sends that at once. */
  withdrawAll(now: number): void {
    for (const id of [...this.#own.keys()]) this.#purge(id, now);
    if (this.isUp) for (const id of this.#toSend.keys()) this.#sendLsp(id, now);
    this.#toSend.clear();
    this.lsps.clear();
  }

  /** The link has got its first neighbour: everything is sent, and on a point-to-point link listed first. */
  synchronise(now: number): void {
    if (!this.#options.isBroadcast) this.sendComplete(now);
    for (const id of this.lsps.keys()) this.#toSend.set(id, neverSent);
  }

  forgetNeighbours(): void {
    this.#toSend.clear();
    this.#toList.clear();
  }

  receiveLsp(pdu: ReceivedPdu, now: number): void {
    const entry = readLspEntry(pdu);
    const known = this.lsps.get(entry.id);
    const order = known === undefined ? 1 : compareLsp(entry, currentOf(known, now));
    if (order > 0 && this.#options.isOwn(entry.id.slice(0, 12))) this.#outdo(pdu, entry, now);
    else if (order > 0) this.#install(pdu, entry, now);
    else if (order === 0) this.#acknowledge(entry);
    else {
      this.#toSend.set(entry.id, neverSent);
      this.#toList.delete(entry.id);
    }
  }

  /** Complete or partial sequence numbers of a neighbour. */
  receiveSequenceNumbers(pdu: ReceivedPdu, now: number): void {
    const { isBroadcast } = this.#options;
    const isComplete = pdu.type === pduType.csnp1 || pdu.type === pduType.csnp2;
    if (!isComplete && isBroadcast && !this.isDesignated) return;
    const entries = valuesOf(pdu, tlvType.lspEntries).flatMap(readEntries);
    for (const entry of entries) this.#compareWith(entry, now);
    if (!isComplete) return;
    const [from, to] = [hexOf(pdu.bytes.subarray(17, 25)), hexOf(pdu.bytes.subarray(25, 33))];
    const listed = new Set(entries.map(({ id }) => id));
    for (const lsp of this.lsps.values()) {
      if (lsp.id < from || lsp.id > to || listed.has(lsp.id) || lifetimeOf(lsp, now) === 0) continue;
      this.#toSend.set(lsp.id, neverSent);
    }
  }

  advance(now: number): void {
    this.#age(now);
    if (!this.isUp) return;
    let sent = 0;
    for (const [id, sentAt] of this.#toSend) {
      if (now - sentAt < resendMs) continue;
      if (sent++ === maxPerCall) break;
      this.#sendLsp(id, now);
      if (this.#options.isBroadcast) this.#toSend.delete(id);
      else this.#toSend.set(id, now);
    }
    this.#sendPartial();
  }

  /** Lists the whole database. */
  sendComplete(now: number): void {
    const all = [...this.lsps.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    for (let from = 0; from === 0 || from < all.length; from += entriesPerPdu) {
      const part = all.slice(from, from + entriesPerPdu);
      const first = from === 0 ? firstId : (part[0] as StoredLsp).id;
      const next = all[from + entriesPerPdu];
      const last = next === undefined ? lastId : (part.at(-1) as StoredLsp).id;
      this.#sendEntries(
        'csnp',
        part.map((lsp) => currentOf(lsp, now)),
        { first, last },
      );
    }
  }

  #compareWith(entry: LspEntry, now: number): void {
    const known = this.lsps.get(entry.id);
    if (known === undefined) {
      if (entry.lifetimeSec === 0 || entry.sequence === 0) return;
      this.#toList.set(entry.id, { id: entry.id, sequence: 0, lifetimeSec: 0, checksum: 0 });
      return;
    }
    const order = compareLsp(entry, currentOf(known, now));
    if (order <= 0) this.#toList.delete(entry.id);
    if (order === 0) this.#toSend.delete(entry.id);
    else if (order < 0) this.#toSend.set(entry.id, neverSent);
    else {
      this.#toSend.delete(entry.id);
      this.#toList.set(entry.id, currentOf(known, now));
    }
  }

  #install(pdu: ReceivedPdu, entry: LspEntry, now: number): void {
    this.#acknowledge(entry);
    if (entry.lifetimeSec === 0 && !this.lsps.has(entry.id)) return;
    this.lsps.set(entry.id, { ...entry, bytes: pdu.bytes, at: now });
  }

  #acknowledge(entry: LspEntry): void {
    this.#toSend.delete(entry.id);
    if (this.#options.isBroadcast) this.#toList.delete(entry.id);
    else this.#toList.set(entry.id, entry);
  }

  /** An instance of an own LSP from an earlier life: a newer one replaces it, or it is purged. */
  #outdo(pdu: ReceivedPdu, entry: LspEntry, now: number): void {
    if (this.#own.has(entry.id)) this.#renew(entry.id, entry.sequence + 1, now);
    else if (entry.lifetimeSec === 0) this.#acknowledge(entry);
    else this.#storePurge({ ...entry, bytes: pdu.bytes, at: now }, now);
  }

  #renew(id: string, sequence: number, now: number): void {
    const own = this.#own.get(id) as OwnLsp;
    this.lsps.set(id, storedOf(createLsp({ id, sequence, ...own }, this.#context), now));
    this.#toSend.set(id, neverSent);
  }

  #purge(id: string, now: number): void {
    const lsp = this.lsps.get(id);
    this.#own.delete(id);
    if (lsp !== undefined) this.#storePurge(lsp, now);
  }

  #storePurge(lsp: StoredLsp, now: number): void {
    this.lsps.set(lsp.id, storedOf(purgedLsp(lsp, this.#context), now));
    this.#toSend.set(lsp.id, neverSent);
  }

  #age(now: number): void {
    const { refreshSec } = this.#options;
    for (const lsp of this.lsps.values()) {
      const ageMs = now - lsp.at;
      if (this.#own.has(lsp.id)) {
        if (ageMs >= refreshSec * 1000) this.#renew(lsp.id, lsp.sequence + 1, now);
      } else if (ageMs >= lsp.lifetimeSec * 1000 + zeroAgeMs) {
        this.lsps.delete(lsp.id);
        this.#toSend.delete(lsp.id);
      }
    }
  }

  #sendLsp(id: string, now: number): void {
    const lsp = this.lsps.get(id);
    if (lsp !== undefined) this.#options.send(agedLsp(lsp, now));
  }

  #sendPartial(): void {
    const { isBroadcast } = this.#options;
    if (this.#toList.size === 0 || (isBroadcast && this.isDesignated)) return;
    const entries = [...this.#toList.values()];
    this.#toList.clear();
    for (let from = 0; from < entries.length; from += entriesPerPdu)
      this.#sendEntries('psnp', entries.slice(from, from + entriesPerPdu));
  }

  #sendEntries(kind: 'csnp' | 'psnp', entries: readonly LspEntry[], range?: { first: string; last: string }): void {
    const { level, authentication, systemId, send } = this.#options;
    const type = pduType[`${kind}${level}`];
    const tlvs = [...authenticationTlvs(authentication), ...packedTlvs(tlvType.lspEntries, entries.map(writeEntry))];
    const pdu = writePdu(
      type,
      (writer) => {
        writer.u16(0).copy(bytesOfHex(systemId)).u8(0);
        if (range !== undefined) writer.copy(bytesOfHex(range.first)).copy(bytesOfHex(range.last));
      },
      tlvs,
    );
    sign(pdu, headerBytes[type] as number, authentication);
    send(pdu);
  }
}

const currentOf = (lsp: StoredLsp, now: number): LspEntry => ({
  id: lsp.id,
  sequence: lsp.sequence,
  checksum: lsp.checksum,
  lifetimeSec: lifetimeOf(lsp, now),
});

const writeEntry = ({ id, lifetimeSec, sequence, checksum }: LspEntry): Uint8Array => {
  const bytes = new Uint8Array(entryBytes);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, lifetimeSec);
  bytes.set(bytesOfHex(id), 2);
  view.setUint32(10, sequence);
  view.setUint16(14, checksum);
  return bytes;
};

const readEntries = (value: Uint8Array): LspEntry[] => {
  const view = new DataView(value.buffer, value.byteOffset, value.byteLength);
  return Array.from({ length: Math.floor(value.length / entryBytes) }, (_, index) => {
    const at = index * entryBytes;
    return {
      lifetimeSec: view.getUint16(at),
      id: hexOf(value.subarray(at + 2, at + 10)),
      sequence: view.getUint32(at + 10),
      checksum: view.getUint16(at + 14),
    };
  });
};
