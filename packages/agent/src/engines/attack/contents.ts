import { createDecipheriv } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Attempt, Content, SealedFile } from '@rushhour/protocol';
import { sha256Of } from './proof.ts';

/** All attempts of an entry. The hash of the file was verified on arrival. */
export const readAttempts = (path: string): Attempt[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Attempt);

const open = ({ path, key, nonce, tag }: SealedFile): Buffer => {
  const sealed = readFileSync(path);
  if (key === '') return sealed;
  const cipher = createDecipheriv('aes-256-gcm', Buffer.from(key, 'base64'), Buffer.from(nonce, 'base64'));
  cipher.setAuthTag(Buffer.from(tag, 'base64'));
  const parts = [cipher.update(sealed), cipher.final()];
  const bytes = Buffer.concat(parts);
  // The buffer wiped at the end must be the only copy.
  for (const part of parts) part.fill(0);
  return bytes;
};

/** Contents of attempts. Sealed files are decrypted on first use, in memory only, and wiped at the end. */
export class Contents {
  readonly #files: ReadonlyMap<string, SealedFile>;
  readonly #opened = new Map<string, Buffer>();

  constructor(files: readonly SealedFile[]) {
    this.#files = new Map(files.map((file) => [file.sha256, file]));
  }

  bytesOf(content: Content): Buffer {
    if ('data' in content) return Buffer.from(content.data, 'base64');
    const opened = this.#opened.get(content.file);
    if (opened !== undefined) return opened;
    const file = this.#files.get(content.file);
    if (file === undefined) throw new Error(`file ${content.file} is not among the files of the job`);
    const bytes = open(file);
    if (sha256Of(bytes) !== file.sha256) throw new Error(`file ${file.sha256} has a different hash`);
    this.#opened.set(file.sha256, bytes);
    return bytes;
  }

  wipe(): void {
    for (const bytes of this.#opened.values()) bytes.fill(0);
    this.#opened.clear();
  }
}
