import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '../connection/folders.ts';
import type { Digest } from './route-digest.ts';

const sources = ['@rushhour/contract', './option-spec.ts', './route-digest.ts'];

/**
 * Names the contract: `openapi.json`, which is derived from it and checked against it, by size and time. Reading all
 * sources would take as long as the call.
 */
const sourcePrint = () => {
  const [entry = '', ...own] = sources.map((name) => fileURLToPath(import.meta.resolve(name)));
  const files = [join(dirname(entry), '../openapi.json'), entry, ...own];
  return files
    .flatMap((file) => statSync(file, { throwIfNoEntry: false }) ?? [])
    .map(({ size, mtimeMs }) => `${size} ${mtimeMs}`)
    .join(', ');
};

const keep = (file: string, text: string) => {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const draft = `${file}.${process.pid}`;
    writeFileSync(draft, text, { mode: 0o600 });
    renameSync(draft, file);
  } catch {
    // A folder that cannot be written costs time, not function.
  }
};

/**
 * The routes of the contract. Loading the contract with its schemas takes three times as long as a call, so the digest
 * is kept in the cache folder and made again when a source has changed.
 */
export const loadDigest = async (): Promise<Digest> => {
  const file = join(cacheFolder(), 'routes.json');
  const print = sourcePrint();
  try {
    const kept = JSON.parse(readFileSync(file, 'utf8')) as { print: string; digest: Digest };
    if (kept.print === print) return kept.digest;
  } catch {
    // None yet, or damaged: it is made again.
  }
  const [{ api }, { digestOf }] = await Promise.all([import('@rushhour/contract'), import('./route-digest.ts')]);
  const digest = digestOf(api);
  keep(file, JSON.stringify({ print, digest }));
  return digest;
};
