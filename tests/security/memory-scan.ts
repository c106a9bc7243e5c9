import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';

const pieceBytes = 4 * 1024 * 1024;

interface Region {
  readonly start: number;
  readonly end: number;
}

/** The writable memory regions of a process. */
const writableOf = (pid: number): Region[] =>
  readFileSync(`/proc/${pid}/maps`, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, start, end] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
      return start === undefined || end === undefined
        ? []
        : [{ start: Number.parseInt(start, 16), end: Number.parseInt(end, 16) }];
    });

/** Counts occurrences of bytes in the memory of a process. */
export const countInMemory = (pid: number, wanted: Buffer): number => {
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  const piece = Buffer.alloc(pieceBytes + wanted.length);
  let found = 0;
  try {
    for (const { start, end } of writableOf(pid)) {
      for (let at = start; at < end; at += pieceBytes) {
        found += countIn(piece, readAt(memory, piece, at, Math.min(end - at, piece.length)), wanted);
      }
    }
    return found;
  } finally {
    closeSync(memory);
  }
};

const readAt = (memory: number, piece: Buffer, at: number, length: number): number => {
  try {
    return readSync(memory, piece, 0, length, at);
  } catch {
    // Unmapped since it was listed.
    return 0;
  }
};

const countIn = (piece: Buffer, length: number, wanted: Buffer): number => {
  const read = piece.subarray(0, length);
  let count = 0;
  for (let at = read.indexOf(wanted); at >= 0 && at < pieceBytes; at = read.indexOf(wanted, at + 1)) count += 1;
  return count;
};

/** The children of a process. */
export const childrenOf = (pid: number): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return Number(/^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${name}/status`, 'utf8'))?.[1]) === pid;
      } catch {
        return false;
      }
    })
    .map(Number);
