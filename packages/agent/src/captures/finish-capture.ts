import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, rename, rm, stat, truncate } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { BlockMeter } from '@rushhour/pcap';
import { contentPath, type DumpRecord, partsOf, saveRecord } from './capture-record.ts';

const hashOf = async (path: string): Promise<string> => {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
};

/** Puts the parts of a dump together; each is a section of its own, so that nothing in them changes. */
const joinParts = async (parts: readonly string[], path: string): Promise<void> => {
  const [first, ...others] = parts;
  if (first === undefined) return;
  for (const part of others) {
    await pipeline(createReadStream(part), createWriteStream(first, { flags: 'a' }));
    await rm(part);
  }
  const file = await open(first, 'r');
  await file.sync().finally(() => file.close());
  await rename(first, path);
};

/** Closes a dump whose parts are complete: from now on it can be read and does not change. */
export const finishDump = async (folder: string, record: DumpRecord): Promise<DumpRecord> => {
  const path = contentPath(folder, record);
  await joinParts(await partsOf(folder, record), path);
  const { size } = await stat(path);
  const closed: DumpRecord = { ...record, state: 'closed', size, sha256: await hashOf(path) };
  await saveRecord(folder, closed);
  return closed;
};

/** Closes a dump whose process could not: cuts off what was half written and counts what is left. */
export const salvageDump = async (folder: string, record: DumpRecord, problem: string): Promise<DumpRecord> => {
  let packets = 0;
  let firstAt: number | null = null;
  let lastAt: number | null = null;
  for (const part of await partsOf(folder, record)) {
    const meter = new BlockMeter();
    for await (const chunk of createReadStream(part)) meter.push(chunk as Buffer);
    await truncate(part, meter.wholeBytes);
    packets += meter.packets;
    firstAt ??= meter.firstMs ?? null;
    lastAt = meter.lastMs ?? lastAt;
  }
  return finishDump(folder, { ...record, packets, firstAt, lastAt, truncated: true, problem });
};
