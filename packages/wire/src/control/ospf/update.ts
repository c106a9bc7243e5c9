import type { MessageWriter } from '../message-writer.ts';
import type { OspfFormat, ReceivedOspf } from './format.ts';
import { type LsaHeader, lsaHeaderBytes } from './lsa.ts';

// Updates and acknowledgements are alike in both versions.

export const writeUpdate = (lsas: readonly Uint8Array[]) => (writer: MessageWriter) => {
  writer.u32(lsas.length);
  for (const lsa of lsas) writer.copy(lsa);
};

/** Copies of the LSAs of an update; those that do not fit into the packet end the list. */
export const readUpdate = ({ view, start, end }: ReceivedOspf): Uint8Array[] => {
  if (end - start < 4) return [];
  const lsas: Uint8Array[] = [];
  let at = start + 4;
  for (let left = view.getUint32(start); left > 0 && at + lsaHeaderBytes <= end; left--) {
    const length = view.getUint16(at + 18);
    if (length < lsaHeaderBytes || at + length > end) break;
    lsas.push(new Uint8Array(view.buffer.slice(view.byteOffset + at, view.byteOffset + at + length)));
    at += length;
  }
  return lsas;
};

export const writeAcknowledgement = (headers: readonly Uint8Array[]) => (writer: MessageWriter) => {
  for (const header of headers) writer.copy(header);
};

type ReadHeader = OspfFormat['readLsaHeader'];

export const readHeaders = (read: ReadHeader, view: DataView, start: number, end: number): LsaHeader[] => {
  const headers: LsaHeader[] = [];
  for (let at = start; at + lsaHeaderBytes <= end; at += lsaHeaderBytes) headers.push(read(view, at));
  return headers;
};

export const readAcknowledgement = (read: ReadHeader, { view, start, end }: ReceivedOspf): LsaHeader[] =>
  readHeaders(read, view, start, end);
