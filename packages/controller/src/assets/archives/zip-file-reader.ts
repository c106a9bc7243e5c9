import { Reader } from '@zip.js/zip.js';
import { ArchiveError } from './archive-error.ts';

// Only the central directory is read in one piece; a thousand members need a hundredth of this.
const maxReadBytes = 8 * 1024 * 1024;
const chunkBytes = 64 * 1024;

/** As much of an open file as reading a zip needs. */
export interface ZipFile {
  stat(): Promise<{ size: number }>;
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
}

/** A zip in memory, for content that must not touch the disk. */
export const fileOfBytes = (bytes: Buffer): ZipFile => ({
  stat: async () => ({ size: bytes.length }),
  read: async (buffer, offset, length, position) => ({
    bytesRead: bytes.copy(buffer, offset, position, position + length),
  }),
});

/** Gives zip.js random access to an open file. */
export class ZipFileReader extends Reader<ZipFile> {
  readonly #file: ZipFile;

  constructor(file: ZipFile) {
    super(file);
    this.#file = file;
  }

  override async init(): Promise<void> {
    await super.init?.();
    this.size = (await this.#file.stat()).size;
  }

  override async readUint8Array(offset: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
    if (length > maxReadBytes) {
      throw new ArchiveError('TOO_MANY_MEMBERS', '', 'the list of members is larger than 8 MiB');
    }
    const buffer = new Uint8Array(Math.max(0, Math.min(length, this.size - offset)));
    let filled = 0;
    while (filled < buffer.length) {
      const { bytesRead } = await this.#file.read(buffer, filled, buffer.length - filled, offset + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return buffer.subarray(0, filled);
  }

  override createReadable(options?: Parameters<Reader<ZipFile>['createReadable']>[0]): ReadableStream {
    return super.createReadable({ ...options, chunkSize: chunkBytes });
  }
}
