import type { Readable } from 'node:stream';
import { invalid, orNotFound } from '../../errors.ts';
import type { FileRow } from '../../store/assets/files.ts';
import type { Blobs, Digests, Staged } from '../../store/blobs/blobs.ts';
import type { Change } from '../../store/engine/change.ts';
import type { Executor } from '../../store/engine/database.ts';

/** A stored file whose content can be read as often as needed. */
export interface CaptureFile extends FileRow {
  open(): Promise<Readable>;
}

interface NewCapture {
  readonly name: string;
  readonly category: 'pcap';
  readonly kind: 'pcap';
  readonly mime: string;
  readonly source: 'trimmed' | 'import' | 'builtin';
  readonly tags?: string;
  readonly original_sha256?: string;
}

/** The operations on stored files that applications need. */
export interface ApplicationFiles {
  readonly blobs: Pick<Blobs, 'stage' | 'readStaged' | 'discard'>;
  /** undefined when there is no such file, or its content is not complete. */
  find(executor: Executor, id: number): Promise<CaptureFile | undefined>;
  /** Makes staged contents durable and then runs `record`, a change; if that fails, nothing stays. */
  keep<T>(staged: readonly Staged[], record: () => Promise<T>): Promise<T>;
  insert(tx: Change, content: Digests & { size: number }, facts: NewCapture): Promise<number>;
  remove(tx: Change, rows: readonly FileRow[]): Promise<void>;
}

const mimes = { pcap: 'application/vnd.tcpdump.pcap', pcapng: 'application/x-pcapng' };

export const captureFacts = (
  facts: Pick<NewCapture, 'name' | 'source' | 'original_sha256' | 'tags'> & { format: string },
) => {
  const { format, ...rest } = facts;
  const mime = format === 'pcapng' ? mimes.pcapng : mimes.pcap;
  return { ...rest, mime, category: 'pcap', kind: 'pcap' } as const;
};

/** The capture with this id, or the refusal that fits. */
export const requireCapture = async (files: ApplicationFiles, executor: Executor, id: number) => {
  const file = await orNotFound(files.find(executor, id), 'file', id);
  if (file.kind !== 'pcap') {
    const message = `file ${id} is not a capture`;
    throw invalid([{ path: '/pcapFileId', code: 'NOT_A_PCAP', message }], 'NOT_A_PCAP');
  }
  return file;
};
