import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';

export interface Verdict {
  readonly ok: boolean;
  readonly stdout: Buffer;
  /** Both streams as text. */
  readonly text: string;
}

/** Runs the `openssl` command, an independent implementation. */
export function openssl(...args: string[]): Promise<Verdict> {
  return new Promise((resolve, reject) => {
    const child = spawn('openssl', args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.on('error', reject);
    child.on('close', (code) => {
      const out = Buffer.concat(stdout);
      resolve({ ok: code === 0, stdout: out, text: Buffer.concat([out, ...stderr]).toString() });
    });
  });
}

/** Runs `openssl` to make something, and fails the test where it cannot. */
export async function makeWithOpenssl(...args: string[]): Promise<Buffer> {
  const { ok, stdout, text } = await openssl(...args);
  if (!ok) throw new Error(`openssl ${args.join(' ')}: ${text}`);
  return stdout;
}

export interface Folder {
  path(name: string): string;
  write(name: string, content: string | Uint8Array): Promise<string>;
}

/** A folder for the tests of one file, removed after them. */
export function useFolder(): Folder {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'certificates-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return {
    path: (name) => join(folder, name),
    write: async (name, content) => {
      await writeFile(join(folder, name), content);
      return join(folder, name);
    },
  };
}

/** The certificates of a PEM text, each as PEM. */
export function certificatesIn(pem: string): string[] {
  return pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n/g) ?? [];
}

/** The public half of a certificate, a request or a private key, as openssl sees it. */
export async function publicKeyIn(folder: Folder, pem: string): Promise<string> {
  const file = await folder.write('any.pem', pem);
  if (pem.includes('PRIVATE KEY')) return (await makeWithOpenssl('pkey', '-in', file, '-pubout')).toString();
  const command = pem.includes('CERTIFICATE REQUEST') ? 'req' : 'x509';
  return (await makeWithOpenssl(command, '-in', file, '-noout', '-pubkey')).toString();
}
