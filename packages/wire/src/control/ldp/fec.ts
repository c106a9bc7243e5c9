import { formatAddress, writeMapped } from '../../ip/address.ts';
import type { MessageWriter } from '../message-writer.ts';
import { LdpError, ldpStatus, ldpTlv, writeTlv } from './pdu.ts';

const element = { wildcard: 1, prefix: 2, typedWildcard: 5 } as const;
/** Address families, as the messages number them. */
export const ldpFamily = { ipv4: 1, ipv6: 2 } as const;

/** What a label is for; a wildcard stands for all labels, or all of a family. */
export type Fec =
  | { readonly kind: 'wildcard'; readonly family: number | undefined }
  | { readonly kind: 'prefix'; readonly family: number; readonly prefix: string };

export interface LdpPrefix {
  /** Of the address (see ip/address.ts). */
  readonly words: Int32Array;
  readonly isV4: boolean;
  readonly length: number;
}

export const writePrefixFec = (writer: MessageWriter, { words, isV4, length }: LdpPrefix): void =>
  writeTlv(writer, ldpTlv.fec, () => {
    writer
      .u8(element.prefix)
      .u16(isV4 ? ldpFamily.ipv4 : ldpFamily.ipv6)
      .u8(length);
    const first = isV4 ? 3 : 0;
    for (let bits = 0; bits < length; bits += 8)
      writer.u8(((words[first + (bits >> 5)] as number) >>> (24 - (bits & 31))) & 0xff);
  });

export const writeWildcardFec = (writer: MessageWriter): void =>
  writeTlv(writer, ldpTlv.fec, () => writer.u8(element.wildcard));

/** The elements of a FEC TLV. */
export const parseFecs = (view: DataView): Fec[] => {
  const fecs: Fec[] = [];
  for (let at = 0; at < view.byteLength; ) {
    const kind = view.getUint8(at);
    if (kind === element.wildcard) {
      fecs.push({ kind: 'wildcard', family: undefined });
      at++;
    } else if (kind === element.typedWildcard) {
      if (at + 5 > view.byteLength || view.getUint8(at + 2) < 2) throw new LdpError(ldpStatus.malformedValue);
      if (view.getUint8(at + 1) !== element.prefix) throw new LdpError(ldpStatus.unknownFec);
      fecs.push({ kind: 'wildcard', family: view.getUint16(at + 3) });
      at += 3 + view.getUint8(at + 2);
    } else if (kind === element.prefix) {
      const fec = parsePrefix(view, at);
      fecs.push(fec);
      at += 4 + Math.ceil(view.getUint8(at + 3) / 8);
    } else throw new LdpError(ldpStatus.unknownFec);
  }
  if (fecs.length === 0) throw new LdpError(ldpStatus.malformedValue);
  return fecs;
};

const parsePrefix = (view: DataView, at: number): Fec => {
  if (at + 4 > view.byteLength) throw new LdpError(ldpStatus.malformedValue);
  const family = view.getUint16(at + 1);
  const length = view.getUint8(at + 3);
  if (family !== ldpFamily.ipv4 && family !== ldpFamily.ipv6) throw new LdpError(ldpStatus.unsupportedFamily);
  const size = Math.ceil(length / 8);
  if (length > (family === ldpFamily.ipv4 ? 32 : 128) || at + 4 + size > view.byteLength)
    throw new LdpError(ldpStatus.malformedValue);
  const bytes = new DataView(new ArrayBuffer(16));
  for (let i = 0; i < size; i++) bytes.setUint8(i, view.getUint8(at + 4 + i));
  const words = new Int32Array(4);
  if (family === ldpFamily.ipv4) writeMapped(words, 0, bytes.getInt32(0));
  else for (let i = 0; i < 4; i++) words[i] = bytes.getInt32(i * 4);
  return { kind: 'prefix', family, prefix: `${formatAddress(words)}/${length}` };
};
