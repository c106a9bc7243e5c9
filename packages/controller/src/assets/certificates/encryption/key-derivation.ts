import { hash, pbkdf2, scrypt } from 'node:crypto';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { promisify } from 'node:util';
import { CertificateError } from '../certificate-error.ts';

const pbkdf2Async = promisify(pbkdf2);
const scryptAsync = promisify<string, Uint8Array, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(
  scrypt,
);
const maxScryptBytes = 64 * 1024 * 1024;
const yieldEvery = 2000;
// This loop runs on the event loop, in slices, so its iterations cost more than those of the thread pool.
const pkcs12Price = 4;

/** The iterations an upload may still use. The file sets its own iteration counts, so they need a limit. */
export interface DerivationBudget {
  iterationsLeft: number;
}

export function createDerivationBudget(): DerivationBudget {
  return { iterationsLeft: 3_000_000 };
}

export type Digest = 'sha1' | 'sha224' | 'sha256' | 'sha384' | 'sha512';

export interface DerivationCost {
  readonly salt: Uint8Array;
  readonly iterations: number;
  readonly digest: Digest;
  readonly keyBytes: number;
}

/** `null` and `''` differ in PKCS#12: files without a passphrase exist in both forms. */
export type Passphrase = string | null;

export async function derivePbkdf2(
  passphrase: Passphrase,
  cost: DerivationCost,
  budget: DerivationBudget,
): Promise<Buffer> {
  spend(budget, cost.iterations);
  return pbkdf2Async(passphrase ?? '', cost.salt, cost.iterations, cost.keyBytes, cost.digest);
}

export interface ScryptCost {
  readonly salt: Uint8Array;
  readonly N: number;
  readonly r: number;
  readonly p: number;
  readonly keyBytes: number;
}

export async function deriveScrypt(
  passphrase: Passphrase,
  cost: ScryptCost,
  budget: DerivationBudget,
): Promise<Buffer> {
  const { N, r, p } = cost;
  if (128 * N * r > maxScryptBytes || p > 16) throw tooCostly();
  spend(budget, N * r * p);
  return scryptAsync(passphrase ?? '', cost.salt, cost.keyBytes, { N, r, p, maxmem: maxScryptBytes * 2 });
}

export type Pkcs12Purpose = 'key' | 'iv' | 'mac';
const purposeIds: Record<Pkcs12Purpose, number> = { key: 1, iv: 2, mac: 3 };

/** RFC 7292 appendix B; the loop yields to the event loop as it runs. */
export async function derivePkcs12(
  passphrase: Passphrase,
  purpose: Pkcs12Purpose,
  cost: DerivationCost,
  budget: DerivationBudget,
): Promise<Buffer> {
  const blockBytes = cost.digest === 'sha384' || cost.digest === 'sha512' ? 128 : 64;
  const diversifier = Buffer.alloc(blockBytes, purposeIds[purpose]);
  const input = Buffer.concat([cost.salt, bmpPasswordOf(passphrase)].map((part) => repeatTo(part, blockBytes)));
  const pieces: Buffer[] = [];
  for (let made = 0; made < cost.keyBytes; ) {
    spend(budget, cost.iterations * pkcs12Price);
    let piece = Buffer.concat([diversifier, input]);
    for (let i = 0; i < cost.iterations; i++) {
      piece = hash(cost.digest, piece, 'buffer');
      if (i % yieldEvery === yieldEvery - 1) await yieldToEventLoop();
    }
    pieces.push(piece);
    made += piece.length;
    addToBlocks(input, repeatTo(piece, blockBytes).subarray(0, blockBytes));
  }
  return Buffer.concat(pieces).subarray(0, cost.keyBytes);
}

/** UTF-16 big-endian with two zero bytes at the end. */
function bmpPasswordOf(passphrase: Passphrase): Buffer {
  return passphrase === null ? Buffer.alloc(0) : Buffer.from(`${passphrase}\0`, 'utf16le').swap16();
}

function repeatTo(bytes: Uint8Array, blockBytes: number): Buffer {
  return bytes.length === 0
    ? Buffer.alloc(0)
    : Buffer.alloc(Math.ceil(bytes.length / blockBytes) * blockBytes, Buffer.from(bytes));
}

/** Adds `addend` + 1 to every block of `input`, big-endian and modulo the block size. */
function addToBlocks(input: Buffer, addend: Buffer): void {
  for (let start = 0; start < input.length; start += addend.length) {
    let carry = 1;
    for (let i = addend.length - 1; i >= 0; i--) {
      carry += (input[start + i] ?? 0) + (addend[i] ?? 0);
      input[start + i] = carry & 255;
      carry >>= 8;
    }
  }
}

function spend(budget: DerivationBudget, iterations: number): void {
  if (!(iterations >= 1)) throw new Error('iteration count below 1');
  budget.iterationsLeft -= iterations;
  if (budget.iterationsLeft < 0) throw tooCostly();
}

function tooCostly(): CertificateError {
  return new CertificateError(
    'UNSUPPORTED_ENCRYPTION',
    '/passphrase',
    'the passphrase is hashed with more work than this service allows; save the file again with fewer iterations',
  );
}
