import type { Readable } from 'node:stream';
import type { Executor } from '../../store/engine/database.ts';

export interface DictionaryFile {
  readonly name: string;
  open(): Promise<Readable>;
}

/** The operations on stored files that dictionaries need. */
export interface DictionaryFiles {
  /** undefined when there is no such file, or its content is not complete. */
  find(executor: Executor, fileID: number): Promise<DictionaryFile | undefined>;
}
