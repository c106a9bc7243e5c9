import { isFletcherValid, setFletcher } from '../fletcher.ts';
import { MessageWriter } from '../message-writer.ts';

export const lsaType = { router: 1, network: 2, summary: 3, asbrSummary: 4, external: 5, nssa: 7 } as const;
export const lsaHeaderBytes = 20;
export const maxAge = 3600;
export const initialSequence = -0x7fffffff;
/** Ages that differ by more than this make an instance newer (RFC 2328, section 13.1). */
const maxAgeDifference = 900;

/** Identity and version of an LSA. */
export interface LsaHeader {
  readonly age: number;
  readonly options: number;
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

export const readLsaHeader = (view: DataView, at: number): LsaHeader => ({
  age: view.getUint16(at) & 0x7fff,
  options: view.getUint8(at + 2),
  type: view.getUint8(at + 3),
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
  readonly options: number;
  readonly sequence: number;
}

/** An LSA of age 0 with the body that `write` adds. */
export const createLsa = (header: NewLsa, write: (writer: MessageWriter) => void): Uint8Array => {
  const writer = new MessageWriter(64);
  writer.u16(0).u8(header.options).u8(header.type).u32(header.id).u32(header.router).u32(header.sequence).u16(0).u16(0);
  write(writer);
  writer.view.setUint16(18, writer.length);
  const bytes = writer.take();
  setLsaChecksum(bytes);
  return bytes;
};

export const linkType = { pointToPoint: 1, transit: 2, stub: 3 } as const;

export interface RouterLink {
  readonly type: number;
  readonly id: number;
  readonly data: number;
  readonly metric: number;
}

export const routerFlags = { areaBorder: 1, asBoundary: 2 } as const;

export const writeRouterBody = (flags: number, links: readonly RouterLink[]) => (writer: MessageWriter) => {
  writer.u8(flags).u8(0).u16(links.length);
  for (const { id, data, type, metric } of links) writer.u32(id).u32(data).u8(type).u8(0).u16(metric);
};

export const writeNetworkBody = (mask: number, routers: readonly number[]) => (writer: MessageWriter) => {
  writer.u32(mask);
  for (const router of routers) writer.u32(router);
};

export const writeExternalBody =
  (external: {
    readonly mask: number;
    readonly isType2: boolean;
    readonly metric: number;
    readonly forwarding: number;
  }) =>
  (writer: MessageWriter) => {
    writer
      .u32(external.mask)
      .u8(external.isType2 ? 0x80 : 0)
      .u24(external.metric);
    writer.u32(external.forwarding).u32(0);
  };
