import type { MessageWriter } from '../../message-writer.ts';
import { LdpError, ldpStatus, ldpTlv, writeTlv } from '../pdu.ts';

/** Elements of a FEC for multicast trees (RFC 6388, sections 2.2 and 3.2). */
export const treeElement = { pointToMultipoint: 6, upstream: 7, downstream: 8 } as const;

const ipv4Family = 1;
const opaqueType = { id: 1, sourceAndGroup: 3 } as const;
const fixedBytes = 10;

/** What tells trees with the same root apart. */
export type TreeName =
  | { readonly kind: 'id'; readonly id: number }
  /** Source and group of an IPv4 stream (RFC 6826). */
  | { readonly kind: 'stream'; readonly source: number; readonly group: number };

export interface TreeFec {
  readonly element: number;
  readonly root: number;
  /** Undefined: of a kind that is not known. */
  readonly name: TreeName | undefined;
}

export const writeTreeFec = (writer: MessageWriter, element: number, root: number, name: TreeName): void =>
  writeTlv(writer, ldpTlv.fec, () => {
    const isId = name.kind === 'id';
    writer.u8(element).u16(ipv4Family).u8(4).u32(root);
    writer.u16(isId ? 7 : 11);
    writer.u8(isId ? opaqueType.id : opaqueType.sourceAndGroup).u16(isId ? 4 : 8);
    if (name.kind === 'id') writer.u32(name.id);
    else writer.u32(name.source).u32(name.group);
  });

/** Reads the element of a FEC TLV; undefined: it is not that of a tree. */
export const parseTreeFec = (view: DataView): TreeFec | undefined => {
  const element = view.getUint8(0);
  const { pointToMultipoint, downstream } = treeElement;
  if (element < pointToMultipoint || element > downstream) return undefined;
  if (view.byteLength < fixedBytes) throw new LdpError(ldpStatus.malformedValue);
  if (view.getUint16(1) !== ipv4Family || view.getUint8(3) !== 4) throw new LdpError(ldpStatus.unsupportedFamily);
  if (fixedBytes + view.getUint16(8) !== view.byteLength) throw new LdpError(ldpStatus.malformedValue);
  return { element, root: view.getUint32(4), name: parseName(view) };
};

const parseName = (view: DataView): TreeName | undefined => {
  const length = view.byteLength - fixedBytes;
  if (length < 3 || view.getUint16(fixedBytes + 1) !== length - 3) return undefined;
  const type = view.getUint8(fixedBytes);
  const value = fixedBytes + 3;
  if (type === opaqueType.id && length === 7) return { kind: 'id', id: view.getUint32(value) };
  if (type !== opaqueType.sourceAndGroup || length !== 11) return undefined;
  return { kind: 'stream', source: view.getUint32(value), group: view.getUint32(value + 4) };
};
