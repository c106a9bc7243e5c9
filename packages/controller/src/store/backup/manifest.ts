import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { StartError } from '../../errors.ts';
import type { Engine } from '../engine/database.ts';

export const manifestFormat = 'rushhour.backup/1';

interface TableEntry {
  readonly name: string;
  readonly rows: number;
  /** Of the compressed file. */
  readonly sha256: string;
}

/** What a backup holds. It is written last: a backup without it is not complete. */
export interface Manifest {
  readonly format: string;
  readonly version: string;
  readonly schemaVersion: number;
  readonly createdAt: string;
  readonly engine: Engine;
  readonly hasKey: boolean;
  /** SHA-256 of the copy of an SQLite database. */
  readonly databaseSha256?: string;
  /** Of a PostgreSQL database. */
  readonly tables: readonly TableEntry[];
  /** Hashes of file contents. */
  readonly blobs: readonly string[];
}

export const tableFile = (folder: string, name: string) => join(folder, 'tables', `${name}.jsonl.gz`);
export const databaseCopy = (folder: string) => join(folder, 'rushhour.db');
export const blobFile = (folder: string, sha256: string) => join(folder, 'blobs', sha256.slice(0, 2), sha256);
export const keyFile = (folder: string) => join(folder, 'secret.key');
const manifestFile = (folder: string) => join(folder, 'manifest.json');

export const hashOfFile = async (path: string): Promise<string> => {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
};

export const writeManifest = (folder: string, manifest: Manifest) => {
  const draft = `${manifestFile(folder)}.new`;
  writeFileSync(draft, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600, flush: true });
  renameSync(draft, manifestFile(folder));
};

export const readManifest = (folder: string): Manifest => {
  if (!existsSync(manifestFile(folder))) {
    throw new StartError(`${folder} holds no complete backup: manifest.json is missing`);
  }
  const manifest = JSON.parse(readFileSync(manifestFile(folder), 'utf8')) as Manifest;
  if (manifest.format !== manifestFormat)
    throw new StartError(`${folder} has the format ${manifest.format}, not ${manifestFormat}`);
  return manifest;
};
