import { appendFile, readFile } from 'node:fs/promises';
import { StartError } from '../../errors.ts';
import { type AuditCheckpoint, takeCheckpoint } from '../engine/audit.ts';
import type { Store } from '../store.ts';

const isCheckpoint = (value: unknown): value is AuditCheckpoint => {
  const { at, entries, hash, mac } = (value ?? {}) as Partial<AuditCheckpoint>;
  return [at, hash, mac].every((text) => typeof text === 'string') && Number.isSafeInteger(entries);
};

/** One checkpoint per line, as JSON. */
export const readCheckpoints = async (file: string): Promise<AuditCheckpoint[]> => {
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line.trim() !== '');
  return lines.map((line, index) => {
    const refusal = new StartError(`line ${index + 1} of ${file} is not a checkpoint of the audit chain`);
    try {
      const value: unknown = JSON.parse(line);
      if (isCheckpoint(value)) return value;
    } catch {
      throw refusal;
    }
    throw refusal;
  });
};

/** Writes a checkpoint whenever the chain has grown since the last one. */
export const createCheckpointWriter = (
  { read, secrets }: Pick<Store, 'read' | 'secrets'>,
  file: string | undefined,
  report: (checkpoint: AuditCheckpoint) => void,
) => {
  let entries = 0;
  return async () => {
    const checkpoint = await takeCheckpoint(read, secrets);
    if (checkpoint.entries === entries) return;
    if (file !== undefined) await appendFile(file, `${JSON.stringify(checkpoint)}\n`, { mode: 0o600, flush: true });
    entries = checkpoint.entries;
    report(checkpoint);
  };
};
