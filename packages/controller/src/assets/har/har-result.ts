import { hash } from 'node:crypto';
import { type CompiledHar, compileHar } from './compile-har.ts';
import type { HarParams } from './har-selection.ts';
import { HarError } from './har-warnings.ts';

/** A file as agents get it. */
export interface HarFile {
  readonly bytes: Uint8Array;
  readonly sha256: string;
}

/** The bytes of the recording belong to whoever does the work. */
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
