import { copyOf } from '../../bytes/memory.ts';
import { isFletcherValid, setFletcher } from '../fletcher.ts';
import { authenticationTlvs, type IsisAuthentication, sign } from './authentication.ts';
import {
  bytesOfHex,
  headerBytes,
  hexOf,
  type Level,
  lspIdBytes,
  pduType,
  type ReceivedPdu,
  type Tlv,
  writePdu,
} from './pdu.ts';

const at = { lifetime: 10, id: 12, sequence: 20, checksum: 24, flags: 26 } as const;
export const lspFlags = { overload: 4, level1: 1, level2: 3 } as const;
/** Largest LSP that every router takes (ISO 10589: originatingLSPBufferSize). */
const maxLspBytes = 1492;

/** What identifies an instance of an LSP, as sequence numbers PDUs list it. */
export interface LspEntry {
  /** System, pseudonode and fragment as 16 hexadecimal digits. */
  readonly id: string;
  readonly lifetimeSec: number;
  readonly sequence: number;
  readonly checksum: number;
}

/** An LSP in the database. */
export interface StoredLsp extends LspEntry {
  readonly bytes: Uint8Array;
  /** When `lifetimeSec` was true, in milliseconds. */
  readonly at: number;
}

export interface LspContext {
  readonly level: Level;
  readonly authentication: IsisAuthentication;
  readonly lifetimeSec: number;
}

export interface NewLsp {
  readonly id: string;
  readonly sequence: number;
  readonly flags: number;
  readonly tlvs: readonly Tlv[];
}

export const readLspEntry = ({ bytes, view }: Pick<ReceivedPdu, 'bytes' | 'view'>): LspEntry => ({
  id: hexOf(bytes.subarray(at.id, at.id + lspIdBytes)),
  lifetimeSec: view.getUint16(at.lifetime),
  sequence: view.getUint32(at.sequence),
  checksum: view.getUint16(at.checksum),
});

export const isLspValid = ({ bytes }: Pick<ReceivedPdu, 'bytes'>): boolean => isFletcherValid(bytes, at.id);

export const storedOf = (bytes: Uint8Array, now: number): StoredLsp => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { ...readLspEntry({ bytes, view }), bytes, at: now };
};

const writeLsp = (lsp: NewLsp, { level, authentication }: LspContext, lifetimeSec: number): Uint8Array => {
  const type = level === 1 ? pduType.lsp1 : pduType.lsp2;
  const tlvs = [...authenticationTlvs(authentication), ...lsp.tlvs];
  const fixed = (writer: Parameters<Parameters<typeof writePdu>[1]>[0]) => {
    writer.u16(0).u16(lifetimeSec).copy(bytesOfHex(lsp.id)).u32(lsp.sequence).u16(0).u8(lsp.flags);
  };
  const bytes = writePdu(type, fixed, tlvs);
  sign(bytes, headerBytes[type] as number, authentication);
  setFletcher(bytes, at.id, at.checksum);
  return bytes;
};

export const createLsp = (lsp: NewLsp, context: LspContext): Uint8Array => writeLsp(lsp, context, context.lifetimeSec);

/** The LSP without content and lifetime: flooding it removes it everywhere. */
export const purgedLsp = ({ id, sequence, bytes }: StoredLsp, context: LspContext): Uint8Array =>
  writeLsp({ id, sequence, flags: bytes[at.flags] as number, tlvs: [] }, context, 0);

export const lifetimeOf = ({ lifetimeSec, at: since }: Pick<StoredLsp, 'lifetimeSec' | 'at'>, now: number): number =>
  Math.max(0, lifetimeSec - Math.floor((now - since) / 1000));

/** The LSP with what is left of its lifetime. */
export const agedLsp = (lsp: StoredLsp, now: number): Uint8Array => {
  const bytes = copyOf(lsp.bytes);
  const left = lifetimeOf(lsp, now);
  bytes[at.lifetime] = left >>> 8;
  bytes[at.lifetime + 1] = left & 255;
  return bytes;
};

/** Positive if the first instance is newer. */
export const compareLsp = (one: LspEntry, other: LspEntry): number => {
  if (one.sequence !== other.sequence) return one.sequence - other.sequence;
  return Number(one.lifetimeSec === 0) - Number(other.lifetimeSec === 0);
};

/** Divides TLVs over the fragments of an LSP: at most 256. */
export const fragmentsOf = (tlvs: readonly Tlv[], authentication: IsisAuthentication): Tlv[][] => {
  const signature = authenticationTlvs(authentication).reduce((sum, { value }) => sum + 2 + value.length, 0);
  const room = maxLspBytes - (headerBytes[pduType.lsp1] as number) - signature;
  const fragments: Tlv[][] = [[]];
  let used = 0;
  for (const tlv of tlvs) {
    const size = 2 + tlv.value.length;
    if (used + size > room) {
      fragments.push([]);
      used = 0;
    }
    fragments.at(-1)?.push(tlv);
    used += size;
  }
  if (fragments.length > 256)
    throw new RangeError(`an IS-IS router needs ${fragments.length} fragments; 256 is the most`);
  return fragments;
};
