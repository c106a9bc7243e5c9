import { hash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { type CompiledHar, compileHar } from './compile-har.ts';
import type { HarParams } from './har-selection.ts';
import { HarError } from './har-warnings.ts';

/** A file as agents get it. */
interface HarFile {
  readonly bytes: Uint8Array;
  readonly sha256: string;
}

/** The buffer of the recording is transferred to the thread. */
export type HarWork = { readonly recording: Uint8Array; readonly params: HarParams };
export type HarResult =
  | (Pick<CompiledHar, 'summary' | 'warnings' | 'issues'> & { readonly client: HarFile; readonly server: HarFile })
  | { readonly problem: { readonly code: string; readonly message: string } };

const fileOf = (content: object): HarFile => {
  const bytes = new TextEncoder().encode(JSON.stringify(content));
  return { bytes, sha256: hash('sha256', bytes, 'hex') };
};

/** Reads a recording and makes the files of both sides. */
export const harResultOf = ({ recording, params }: HarWork): HarResult => {
  try {
    const { script, answers, summary, warnings, issues } = compileHar(new TextDecoder().decode(recording), params);
    return { summary, warnings, issues, client: fileOf(script), server: fileOf(answers) };
  } catch (error) {
    if (!(error instanceof HarError)) throw error;
    return { problem: { code: error.code, message: error.message } };
  }
};

const patienceMs = 60_000;
const maxInlineBytes = 1024 * 1024;

/** In a thread of its own. */
const compileAside = async (work: HarWork): Promise<HarResult> => {
  // Transferred, not copied: copying a large recording would block requests too.
  const transferList = [work.recording.buffer as ArrayBuffer];
  const worker = new Worker(new URL('./har-worker.ts', import.meta.url), {
    workerData: work,
    transferList,
    execArgv: [],
  });
  const { promise, resolve } = Promise.withResolvers<HarResult>();
  const fail = (message: string) => resolve({ problem: { code: 'HAR_BROKEN', message } });
  const timer = setTimeout(() => fail(`takes more than ${patienceMs / 1000} s to read`), patienceMs);
  worker.on('message', resolve);
  worker.on('error', ({ message }) => fail(`cannot be read: ${message}`));
  worker.on('exit', () => fail('cannot be read: it needs too much memory'));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
};

/** A large recording would block every request; for a small one starting a thread takes longer than the work. */
export const compileRecording = async (work: HarWork): Promise<HarResult> =>
  work.recording.length <= maxInlineBytes ? harResultOf(work) : compileAside(work);
