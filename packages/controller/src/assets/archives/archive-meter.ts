import { ArchiveError } from './archive-error.ts';

export interface ArchiveLimits {
  /** Files and folders, those of archives inside archives included. */
  readonly maxMembers: number;
  /** Unpacked bytes to packed bytes, of each member and of the whole. */
  readonly maxRatio: number;
  /** 1 is an archive, 2 an archive inside it. */
  readonly maxDepth: number;
  /** Unpacked bytes of all members together. */
  readonly maxBytes: number;
}

export const defaultArchiveLimits: ArchiveLimits = {
  maxMembers: 1000,
  maxRatio: 200,
  maxDepth: 2,
  maxBytes: 4 * 1024 ** 3,
};

// A short text of spaces exceeds any ratio and is harmless.
const ratioGraceBytes = 1024 * 1024;

/** Counts the bytes that arrive; sizes that an archive declares are not trusted. */
export class ArchiveMeter {
  readonly limits: ArchiveLimits;
  #members = 0;
  #input = 0;
  #output = 0;

  constructor(limits: ArchiveLimits) {
    this.limits = limits;
  }

  addMember(name: string): void {
    this.#members += 1;
    if (this.#members <= this.limits.maxMembers) return;
    throw new ArchiveError('TOO_MANY_MEMBERS', name, `the archive has more than ${this.limits.maxMembers} members`);
  }

  /** Bytes of the outermost archive; those of inner ones are its output. */
  addInput(bytes: number): void {
    this.#input += bytes;
  }

  addOutput(bytes: number, name: string): void {
    this.#output += bytes;
    this.requireBytes(this.#output, name);
    this.requireRatio(this.#output, this.#input, name);
  }

  requireBytes(output: number, name: string): void {
    if (output <= this.limits.maxBytes) return;
    throw new ArchiveError('TOO_LARGE', name, `the archive unpacks to more than ${this.limits.maxBytes} bytes`);
  }

  requireRatio(output: number, input: number, name: string): void {
    if (output <= Math.max(ratioGraceBytes, input * this.limits.maxRatio)) return;
    throw new ArchiveError(
      'ARCHIVE_BOMB',
      name,
      `the data unpacks to more than ${this.limits.maxRatio} times its size`,
    );
  }

  requireDepth(depth: number, name: string): void {
    if (depth <= this.limits.maxDepth) return;
    throw new ArchiveError('TOO_DEEP', name, `archives are nested more than ${this.limits.maxDepth} deep`);
  }
}
