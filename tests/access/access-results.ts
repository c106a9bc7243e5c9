import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ResultRow, RowsRecord } from '@rushhour/protocol';
import { expect, onTestFinished } from 'vitest';
import { sumOf, type Totals } from '../engines/job.ts';
import type { JobProcess, Side } from '../engines/namespaces.ts';
import { requireProgram } from '../engines/programs.ts';
import type { Sniffer } from '../stack/sniffer.ts';

export const seconds = (value: number) => ({ mode: 'time', seconds: value }) as const;
export const untilStopped = { mode: 'continuous' } as const;
/** A job that goes on until what it reports is enough. */
export const watched = { duration: untilStopped, isWatched: true } as const;

type Reports = Pick<Totals, 'summaries'>;

/** All rows of a table that were reported, oldest first. */
const reportsOf = ({ summaries }: Reports, table = 'sessions'): ResultRow[] =>
  summaries.flatMap(({ records = [] }) =>
    (records as RowsRecord[]).flatMap((record) => (record.table === table ? record.rows : [])),
  );

/** Every state that ports were reported in. */
export const portRowsOf = (totals: Totals): ResultRow[] => reportsOf(totals, 'ports');

/** The last state of each row. */
export const rowsOf = (totals: Reports): ResultRow[] =>
  new Map(reportsOf(totals).map((row) => [row.index, row])).values().toArray();

/** Values of a column that established sessions had while the job ran. */
export const columnOf = (totals: Totals, column: string): unknown[] => [
  ...new Set(reportsOf(totals).flatMap(({ state, cells }) => (state === 'up' ? [cells[column]] : []))),
];

/** The newest row of each session in which it was up. */
export const newestUpOf = (from: Reports): ResultRow[] =>
  new Map(reportsOf(from).flatMap((row) => (row.state === 'up' ? [[row.index, row]] : []))).values().toArray();

/** Waits until so many sessions are up at once and have all that the columns name. */
export const untilUp = async (job: JobProcess, count: number, columns: readonly string[] = ['address']) => {
  const newest = () => new Map(reportsOf(job).map((row) => [row.index, row])).values();
  const isComplete = ({ state, cells }: ResultRow) =>
    state === 'up' && columns.every((name) => (cells[name] ?? null) !== null);
  await expect.poll(() => newest().filter(isComplete).toArray().length).toBe(count);
};

/** Waits until a watched job has counted more than `least`. */
export const untilMore = (job: JobProcess, name: string, min: number) =>
  expect.poll(() => sumOf(job.summaries, name)).toBeGreaterThan(min);

export const addressesOf = (totals: Totals): unknown[] => columnOf(totals, 'address');

/** Packets that tshark finds wrong or warns about. */
export const complaints = async (sniffer: Sniffer, filter: string): Promise<string[][]> =>
  sniffer.fields(`(${filter}) && (_ws.malformed || _ws.expert.severity >= 0x600000)`, [
    '_ws.col.info',
    '_ws.expert.message',
  ]);

export const runProgram = (side: Side, program: string, args: string[]) => {
  requireProgram(program);
  const child = spawn('ip', ['netns', 'exec', side.namespace, program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes: Buffer) => {
      output += bytes.toString();
    });
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  return { child, exited, output: () => output };
};

export const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-access-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};
