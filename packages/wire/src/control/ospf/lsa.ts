import { isFletcherValid, setFletcher } from '../fletcher.ts';
import { MessageWriter } from '../message-writer.ts';

export const lsaHeaderBytes = 20;
export const maxAge = 3600;
export const initialSequence = -0x7fffffff;
/** Ages that differ by more than this make an instance newer (RFC 2328, section 13.1). */
const maxAgeDifference = 900;

/** Identity and version of an LSA. */
export interface LsaHeader {
  readonly age: number;
  readonly type: number;
  readonly id: number;
  readonly router: number;
  /** Signed. */
  readonly sequence: number;
  readonly checksum: number;
  readonly length: number;
}

export const lsaKey = ({ type, id, router }: Pick<LsaHeader, 'type' | 'id' | 'router'>): string =>
  `${type} ${id} ${router}`;

/** Reads a header; `type`: as the version has it. */
export const lsaHeaderOf = (view: DataView, at: number, type: number): LsaHeader => ({
  age: view.getUint16(at) & 0x7fff,
  type,
  id: view.getUint32(at + 4),
  router: view.getUint32(at + 8),
  sequence: view.getInt32(at + 12),
  checksum: view.getUint16(at + 16),
  length: view.getUint16(at + 18),
});

/** Positive if `a` is newer than `b`, negative if it is older, 0 for the same instance. */
export const compareLsa = (a: LsaHeader, b: LsaHeader): number => {
  if (a.sequence !== b.sequence) return a.sequence > b.sequence ? 1 : -1;
  if (a.checksum !== b.checksum) return a.checksum > b.checksum ? 1 : -1;
  const isOld = (age: number) => age >= maxAge;
  if (isOld(a.age) !== isOld(b.age)) return isOld(a.age) ? 1 : -1;
  if (Math.abs(a.age - b.age) > maxAgeDifference) return a.age < b.age ? 1 : -1;
  return 0;
};

/** The checksum covers everything but the age. */
const covered = 2;
const checksumAt = 16;

export const isLsaChecksumValid = (bytes: Uint8Array): boolean => isFletcherValid(bytes, covered);

export const setLsaChecksum = (bytes: Uint8Array): void => setFletcher(bytes, covered, checksumAt);

export interface NewLsa {
  readonly type: number;
  readonly id: number;
  readonly router: number;
  /** The 16 bits before the id: options and type, or in version 3 the type alone. */
  readonly typeField: number;
  readonly sequence: number;
}

/** An LSA of age 0 with the body that `write` adds. */
export const createLsa = (header: NewLsa, write: (writer: MessageWriter) => void): Uint8Array => {
  const writer = new MessageWriter(64);
  writer.u16(0).u16(header.typeField).u32(header.id).u32(header.router).u32(header.sequence).u16(0).u16(0);
  write(writer);
  writer.view.setUint16(18, writer.length);
  const bytes = writer.take();
  setLsaChecksum(bytes);
  return bytes;
};
