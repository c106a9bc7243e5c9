import { type GroupRecord, recordType } from '../../access/groups/group-format.ts';
import { igmpType } from '../../access/igmp/message.ts';
import { checksumOf, isSumValid, sumBytes } from '../../bytes/checksum.ts';
import { Memory } from '../../bytes/memory.ts';
import { floatField, type GroupMessage, type GroupQuery } from '../groups/querier-format.ts';
import { MessageWriter } from '../message-writer.ts';

const messageBytes = 8;
const longQueryBytes = 12;
const recordBytes = 8;
const maxCode = 255;

export const floatCode = (value: number): number => floatField(value, 8);

/** A query as queriers of a version send it. Version 1 knows no groups, and versions below 3 no sources. */
export const writeGroupQuery = ({ version, group, sources, ...query }: GroupQuery<number>): Uint8Array => {
  const writer = new MessageWriter(64);
  const tenths = Math.round(query.responseMs / 100);
  const code = version === 1 ? 0 : version === 2 ? Math.min(Math.max(tenths, 1), maxCode) : floatCode(tenths);
  writer
    .u8(igmpType.query)
    .u8(code)
    .u16(0)
    .u32(group ?? 0);
  if (version === 3) {
    writer.u8(query.robustness).u8(floatCode(query.intervalSec)).u16(sources.length);
    for (const source of sources) writer.u32(source);
  }
  const bytes = writer.take();
  const memory = new Memory(bytes);
  memory.view.setUint16(2, checksumOf(sumBytes(memory, 0, bytes.length)));
  return bytes;
};

const recordOf = (type: number, group: number): GroupMessage<number> => ({
  kind: 'report',
  records: [{ type, group, sources: [] }],
});

/** Reads a message; undefined: broken or unknown. Reports and leaves of old versions become records of version 3. */
export const parseGroupMessage = (bytes: Uint8Array): GroupMessage<number> | undefined => {
  const memory = new Memory(bytes);
  if (bytes.length < messageBytes || !isSumValid(sumBytes(memory, 0, bytes.length))) return undefined;
  const { view } = memory;
  const group = view.getUint32(4);
  switch (bytes[0]) {
    case igmpType.query:
      return bytes.length === messageBytes || bytes.length >= longQueryBytes ? { kind: 'query' } : undefined;
    case igmpType.reportV1:
    case igmpType.reportV2:
      return isGroup(group) ? recordOf(recordType.isExclude, group) : undefined;
    case igmpType.leave:
      return isGroup(group) ? recordOf(recordType.toInclude, group) : undefined;
    case igmpType.reportV3:
      return { kind: 'report', records: readRecords(view) };
    default:
      return undefined;
  }
};

/** Groups of the link itself, up to 224.0.0.255, are never asked for. */
const isGroup = (address: number): boolean => address >>> 28 === 0xe && address >>> 8 !== 0xe00000;

/** Records that do not fit into the message end the list. */
const readRecords = (view: DataView): GroupRecord<number>[] => {
  const records: GroupRecord<number>[] = [];
  let at = messageBytes;
  for (let left = view.getUint16(6); left > 0 && at + recordBytes <= view.byteLength; left--) {
    const count = view.getUint16(at + 2);
    const end = at + recordBytes + count * 4;
    if (end > view.byteLength) break;
    const start = at + recordBytes;
    const group = view.getUint32(at + 4);
    const sources = Array.from({ length: count }, (_, i) => view.getUint32(start + i * 4));
    if (isGroup(group)) records.push({ type: view.getUint8(at), group, sources });
    at = end + view.getUint8(at + 1) * 4;
  }
  return records;
};
