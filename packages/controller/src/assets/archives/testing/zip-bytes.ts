import { crc32, deflateRawSync } from 'node:zlib';
import type { ArchiveErrorCode } from '../archive-error.ts';
import type { OpenOptions } from '../open-archive.ts';

/** An archive that must be refused, and how. */
export interface HostileArchive {
  readonly what: string;
  readonly code: ArchiveErrorCode;
  /** The member that the error must name; left out where the archive itself is at fault. */
  readonly member?: string;
  readonly bytes: () => Buffer | Promise<Buffer>;
  readonly options?: OpenOptions;
}

/** One member, with every field that a hostile archive may lie about. */
export interface ZipMemberBytes {
  readonly name: string | Buffer;
  readonly content?: Buffer;
  /** 0 stored (default), 8 deflated. */
  readonly method?: number;
  /** What is stored in the place of the packed content. */
  readonly packed?: Buffer;
  readonly crc?: number;
  readonly declaredSize?: number;
  readonly declaredPackedSize?: number;
  readonly flags?: number;
  /** Unix mode, kept in the upper half of the external attributes. */
  readonly mode?: number;
  readonly centralExtra?: Buffer;
  readonly localName?: string | Buffer;
  readonly localMethod?: number;
  readonly disk?: number;
  /** Place of the local header that the list gives; default the true one. */
  readonly offset?: number;
  /** Leaves the local header and content out: the member lies elsewhere. */
  readonly isListedOnly?: boolean;
}

export interface ZipEndBytes {
  readonly count?: number;
  readonly directorySize?: number;
  readonly directoryOffset?: number;
  readonly comment?: Buffer;
}

interface Fields {
  readonly name: Buffer;
  readonly packed: Buffer;
  readonly crc: number;
  readonly size: number;
  readonly packedSize: number;
}

export function zipBytes(members: readonly ZipMemberBytes[], end: ZipEndBytes = {}): Buffer {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let at = 0;
  for (const member of members) {
    const local = member.isListedOnly ? Buffer.alloc(0) : localBytes(member);
    central.push(centralBytes(member, member.offset ?? at));
    locals.push(local);
    at += local.length;
  }
  const directory = Buffer.concat(central);
  return Buffer.concat([...locals, directory, endBytes(members.length, directory.length, at, end)]);
}

export function localBytes(member: ZipMemberBytes): Buffer {
  const { packed, ...fields } = fieldsOf(member);
  const name = Buffer.from(member.localName ?? member.name);
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  writeCommon(header, 4, { ...fields, packed, name }, { ...member, method: member.localMethod ?? member.method ?? 0 });
  return Buffer.concat([header, name, packed]);
}

export function centralBytes(member: ZipMemberBytes, offset: number): Buffer {
  const fields = fieldsOf(member);
  const extra = member.centralExtra ?? Buffer.alloc(0);
  const header = Buffer.alloc(46);
  header.writeUInt32LE(0x02014b50, 0);
  header.writeUInt16LE((3 << 8) | 20, 4);
  writeCommon(header, 6, fields, member);
  header.writeUInt16LE(extra.length, 30);
  header.writeUInt16LE(member.disk ?? 0, 34);
  header.writeUInt32LE(((member.mode ?? 0o100644) << 16) >>> 0, 38);
  header.writeUInt32LE(offset, 42);
  return Buffer.concat([header, fields.name, extra]);
}

export function endBytes(count: number, directorySize: number, directoryOffset: number, end: ZipEndBytes = {}): Buffer {
  const comment = end.comment ?? Buffer.alloc(0);
  const record = Buffer.alloc(22);
  record.writeUInt32LE(0x06054b50, 0);
  record.writeUInt16LE(end.count ?? count, 8);
  record.writeUInt16LE(end.count ?? count, 10);
  record.writeUInt32LE(end.directorySize ?? directorySize, 12);
  record.writeUInt32LE(end.directoryOffset ?? directoryOffset, 16);
  record.writeUInt16LE(comment.length, 20);
  return Buffer.concat([record, comment]);
}

function fieldsOf(member: ZipMemberBytes): Fields {
  const content = member.content ?? Buffer.from('content');
  const packed = member.packed ?? (member.method === 8 ? deflateRawSync(content) : content);
  return {
    name: Buffer.from(member.name),
    packed,
    crc: member.crc ?? crc32(content),
    size: member.declaredSize ?? content.length,
    packedSize: member.declaredPackedSize ?? packed.length,
  };
}

/** The fields from "version needed" to the length of the name, which both headers share. */
function writeCommon(header: Buffer, at: number, fields: Fields, member: ZipMemberBytes): void {
  header.writeUInt16LE(20, at);
  header.writeUInt16LE(member.flags ?? 0, at + 2);
  header.writeUInt16LE(member.method ?? 0, at + 4);
  header.writeUInt32LE(0x00210000, at + 6);
  header.writeUInt32LE(fields.crc, at + 10);
  header.writeUInt32LE(fields.packedSize, at + 14);
  header.writeUInt32LE(fields.size, at + 18);
  header.writeUInt16LE(fields.name.length, at + 22);
}
