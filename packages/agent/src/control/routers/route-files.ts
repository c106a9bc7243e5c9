import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import type { ControlPlaneConfig } from '@rushhour/protocol';
import { ImportedTable, MrtReader } from '@rushhour/wire';
import type { BgpProfile } from './profiles.ts';

/** Tables of routes by the profile that names their file. */
export type RouteTables = ReadonlyMap<BgpProfile, ImportedTable>;

const chunkBytes = 1 << 20;

const isGzip = async (path: string): Promise<boolean> => {
  const file = await open(path);
  const { buffer } = await file.read(Buffer.alloc(2), 0, 2, 0).finally(() => file.close());
  return buffer.readUInt16BE(0) === 0x1f8b;
};

/** Reads an MRT file, plain or as gzip. Throws where it is broken. */
const readTable = async (path: string, imported: BgpProfile['imported']): Promise<ImportedTable> => {
  const table = new ImportedTable(imported);
  const reader = new MrtReader((route) => table.add(route));
  const file = createReadStream(path, { highWaterMark: chunkBytes });
  const bytes: AsyncIterable<Buffer> = (await isGzip(path))
    ? file.pipe(createGunzip({ chunkSize: chunkBytes })).on('close', () => file.destroy())
    : file;
  for await (const chunk of bytes) reader.read(chunk);
  reader.end();
  if (table.count === 0) {
    const from = imported.peerIndex === undefined ? '' : ` of peer ${imported.peerIndex}`;
    throw new RangeError(`the MRT file has no routes${from}: ${reader.peers.length} peers`);
  }
  return table;
};

/** The tables of all profiles of a job; a file with the same options is read once. */
export const readRouteTables = async (
  { profiles }: ControlPlaneConfig,
  note: (remark: string) => void,
): Promise<RouteTables> => {
  const tables = new Map<BgpProfile, ImportedTable>();
  const known = new Map<string, ImportedTable>();
  for (const profile of (profiles['bgp'] ?? []) as BgpProfile[]) {
    const { file } = profile.imported;
    if (file === undefined) continue;
    const key = JSON.stringify(profile.imported);
    const table = known.get(key) ?? (await readTable(file, profile.imported));
    if (!known.has(key) && table.left > 0)
      note(`BGP: ${table.left} routes of the file are left out: there are more than the profile allows, or too long`);
    known.set(key, table);
    tables.set(profile, table);
  }
  return tables;
};
