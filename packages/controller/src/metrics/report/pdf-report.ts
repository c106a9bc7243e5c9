import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { createPermits } from '../../concurrency/semaphore.ts';

const run = promisify(execFile);
const programs = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const timeoutMs = 60_000;

/** No program of the machine can print. */
export class NoBrowser extends Error {}

const isMissing = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** A browser takes hundreds of megabytes: few run, others wait in order. */
const browsers = createPermits(2);

/** Runs the first of the programs that the machine has. */
const runFirst = async (
  candidates: readonly string[],
  args: readonly string[],
  signal: AbortSignal | undefined,
): Promise<void> => {
  for (const program of candidates) {
    try {
      await run(program, args, { timeout: timeoutMs, killSignal: 'SIGKILL', signal });
      return;
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }
  throw new NoBrowser(`none of ${candidates.join(', ')} is installed`);
};

/** Prints a self-contained page when its turn comes; `signal` gives up, waiting or printing. */
export const printPdf = async (html: string, signal?: AbortSignal, candidates = programs): Promise<Buffer> => {
  const release = await browsers.acquire(signal);
  try {
    return await printNow(html, signal, candidates);
  } finally {
    release();
  }
};

/** The browser gets a folder of its own and nothing to load. */
const printNow = async (html: string, signal: AbortSignal | undefined, candidates: readonly string[]) => {
  const folder = await mkdtemp(join(tmpdir(), 'rushhour-pdf-'));
  try {
    const page = join(folder, 'report.html');
    const output = join(folder, 'report.pdf');
    await writeFile(page, html, { mode: 0o600 });
    await runFirst(
      candidates,
      [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-extensions',
        '--disable-javascript',
        '--no-pdf-header-footer',
        `--user-data-dir=${join(folder, 'profile')}`,
        `--print-to-pdf=${output}`,
        pathToFileURL(page).href,
      ],
      signal,
    );
    return await readFile(output);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
