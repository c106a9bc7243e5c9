import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { readRows } from '../../../../store/assets/dictionaries.ts';
import type { Executor } from '../../../../store/engine/database.ts';

const rowsAtOnce = 1000;

/** Rows or values in an archive: one line of JSON each. */
async function* linesOf(executor: Executor, { id, rowCount }: { id: number; rowCount: number }) {
  for (let from = 0; from < rowCount; from += rowsAtOnce) {
    const rows = await readRows(executor, id, { from, limit: rowsAtOnce });
    yield rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  }
}

/** Path and length of the rows in an archive. */
export const measureRows = async (executor: Executor, dictionary: { id: number; rowCount: number }) => {
  if (dictionary.rowCount === 0) return { rowsPath: '', rowsBytes: 0 };
  const hash = createHash('sha256');
  let rowsBytes = 0;
  for await (const lines of linesOf(executor, dictionary)) {
    hash.update(lines);
    rowsBytes += Buffer.byteLength(lines);
  }
  return { rowsPath: `payload/${hash.digest('hex')}`, rowsBytes };
};

/** Reads the same rows again; fails if they changed since they were measured. */
export const openRows = (executor: Executor, dictionary: { id: number; rowCount: number }, rowsPath: string) =>
  Readable.from(unchanged(linesOf(executor, dictionary), rowsPath), { objectMode: false });

async function* unchanged(lines: AsyncIterable<string>, rowsPath: string) {
  const hash = createHash('sha256');
  for await (const some of lines) {
    hash.update(some);
    yield Buffer.from(some);
  }
  if (`payload/${hash.digest('hex')}` !== rowsPath) throw new Error('a dictionary was changed while it was exported');
}
