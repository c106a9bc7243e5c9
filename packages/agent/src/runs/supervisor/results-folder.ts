import { readdir, readFile, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { writeDurably } from '../../files/durable-file.ts';
import type { SavedRun } from './run-record.ts';

type RunName = Pick<SavedRun, 'runId' | 'epoch'>;

/** Results of runs that ended without a session, one file per run. */
export class ResultsFolder {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async save(run: SavedRun): Promise<void> {
    await writeDurably(this.#fileOf(run), JSON.stringify(run));
  }

  async remove(run: RunName): Promise<void> {
    await unlink(this.#fileOf(run)).catch(() => {});
  }

  /** Results of earlier processes. An unreadable file is renamed and reported to `onBad`. */
  async load(onBad: (problem: string) => void): Promise<SavedRun[]> {
    const names = await readdir(this.#folder).catch(() => []);
    const runs: SavedRun[] = [];
    for (const name of names.filter((entry) => /^\d+-\d+\.json$/.test(entry))) {
      const file = join(this.#folder, name);
      try {
        runs.push(JSON.parse(await readFile(file, 'utf8')) as SavedRun);
      } catch (error) {
        onBad(`results in ${name} cannot be read: ${(error as Error).message}`);
        await rename(file, `${file}.bad`).catch(() => {});
      }
    }
    return runs;
  }

  #fileOf({ runId, epoch }: RunName): string {
    return join(this.#folder, `${runId}-${epoch}.json`);
  }
}
