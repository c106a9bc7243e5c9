import type { Readable } from 'node:stream';
import { ArchiveError } from './archive-error.ts';
import type { ArchiveMeter } from './archive-meter.ts';

const maxNameChars = 1024;
const maxSegmentBytes = 255;
// Marks that turn the direction of text make a name look like another.
const hiddenCharacters = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u;

/** The name below the folder of the archive, without `./` before or `/` behind; empty for that folder itself. */
export function parseMemberName(raw: string): string {
  const name = raw.replace(/^(\.\/)+/, '').replace(/\/$/, '');
  if (raw === '.' || (name === '' && raw.startsWith('./'))) return '';
  const fault = faultOf(name);
  if (fault) throw new ArchiveError('UNSAFE_NAME', raw, fault);
  return name;
}

function faultOf(name: string): string | undefined {
  if (name === '') return 'the name is empty';
  if (name.length > maxNameChars) return `the name is longer than ${maxNameChars} characters`;
  if (hiddenCharacters.test(name)) return 'the name contains a control character';
  if (name.includes('\\')) return 'the name contains a backslash';
  if (name.startsWith('/')) return 'the name is absolute';
  if (/^[A-Za-z]:/.test(name)) return 'the name begins with a drive letter';
  const segments = name.split('/');
  if (segments.includes('..')) return 'the name leads out of the archive';
  if (segments.includes('') || segments.includes('.')) return 'the name has an empty part';
  if (segments.some((segment) => Buffer.byteLength(segment) > maxSegmentBytes)) return 'a part of the name is too long';
  return undefined;
}

/** Remembers names, so that no member can take the place of another. */
export class MemberNames {
  readonly #folders = new Map<string, boolean>();

  /** Folders may be named again, files may not. */
  add(name: string, isFolder: boolean): void {
    if (name === '' && !isFolder)
      throw new ArchiveError('UNSAFE_NAME', '.', 'a file has the name of the folder it is in');
    const key = name.normalize('NFC');
    const known = this.#folders.get(key);
    if (known === undefined) this.#folders.set(key, isFolder);
    else if (!(known && isFolder)) throw new ArchiveError('DUPLICATE_NAME', name, 'the name occurs twice');
  }
}

export type ArchiveFormat = 'zip' | 'tar' | 'tar.gz' | 'gz';

/** A file in an archive. Folders are checked and counted but not handed out. */
export interface ArchiveMember {
  /** Safe relative name with `/` between its parts. */
  readonly name: string;
  /** Names of the inner archives the member lies in, outermost first; empty for a member of the archive itself. */
  readonly within: readonly string[];
  /** What the archive claims, `null` where it claims nothing; the content is checked against it while it is read. */
  readonly declaredSize: number | null;
  readonly isEncrypted: boolean;
  readonly modifiedAt: Date | null;
  /** The content, once, and before the next member is asked for. Fails with an ArchiveError. */
  open(): Readable;
}

export interface Archive {
  readonly format: ArchiveFormat;
  /**
   * Members in the order of the archive. A zip is checked whole before the first one; of a tar only what has been read,
   * so keep nothing until the loop is over, or run `verifyArchive` first.
   */
  members(): AsyncGenerator<ArchiveMember, void, undefined>;
  close(): Promise<void>;
}

/** State shared by the readers of one archive. */
export interface ReadingContext {
  readonly meter: ArchiveMeter;
  readonly within: readonly string[];
  readonly password: string | undefined;
}
