import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, rename, rm, stat, truncate } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { BlockMeter } from '@rushhour/pcap';
import { type CaptureRecord, contentPath, partsOf, saveRecord } from './capture-record.ts';

const hashOf = async (path: string): Promise<string> => {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
};

/** Concatenates the parts of a capture; each is a pcapng section, so nothing in them changes. */
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

/** Closes a capture whose parts are complete: from now on it is readable and does not change. */
export const finishCapture = async (folder: string, record: CaptureRecord): Promise<CaptureRecord> => {
  const path = contentPath(folder, record);
  await joinParts(await partsOf(folder, record), path);
  const { size } = await stat(path);
  const closed: CaptureRecord = { ...record, state: 'closed', size, sha256: await hashOf(path) };
  await saveRecord(folder, closed);
  return closed;
};

/** Closes a capture whose process was killed: truncates incomplete blocks and counts the rest. */
export const salvageCapture = async (
  folder: string,
  record: CaptureRecord,
  problem: string,
): Promise<CaptureRecord> => {
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
  return finishCapture(folder, { ...record, packets, firstAt, lastAt, truncated: true, problem });
};
