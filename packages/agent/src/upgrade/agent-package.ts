import { hash, type KeyObject } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { signPackage } from '@rushhour/protocol';
import { packageFolder } from '../version.ts';
import { type TarFile, tarOf } from './tar.ts';

/** Workspace packages the agent depends on; they are included in the archive. */
const ownPackages = async (): Promise<string[]> => {
  const manifest = JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8'));
  const { dependencies } = manifest as { dependencies: Record<string, string> };
  return Object.keys(dependencies).flatMap((name) => /^@rushhour\/(.+)$/.exec(name)?.[1] ?? []);
};

const isShipped = (path: string) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !path.includes('testing/');

const sourcesOf = async (folder: string, prefix: string): Promise<TarFile[]> => {
  const entries = await readdir(join(folder, 'src'), { recursive: true });
  const paths = ['package.json', ...entries.filter(isShipped).map((entry) => `src/${entry}`)].toSorted();
  return Promise.all(
    paths.map(async (path) => ({ name: `${prefix}${path}`, content: await readFile(join(folder, path)) })),
  );
};

/** The upgrade archive: the sources as they are here, optionally with another version. */
export const packAgent = async (version?: string): Promise<Buffer> => {
  const beside = (await ownPackages()).map((name) =>
    sourcesOf(join(dirname(packageFolder), name), `package/packages/${name}/`),
  );
  const files = (await Promise.all([sourcesOf(packageFolder, 'package/'), ...beside])).flat();
  return promisify(gzip)(tarOf(version === undefined ? files : files.map((file) => withVersion(file, version))));
};

const withVersion = (file: TarFile, version: string): TarFile => {
  if (file.name !== 'package/package.json') return file;
  return {
    ...file,
    content: Buffer.from(JSON.stringify({ ...JSON.parse(file.content.toString()), version }, null, 2)),
  };
};

/** A package that agents accept if they trust the key. */
export const signed = (archive: Buffer, key: KeyObject): Buffer =>
  Buffer.concat([archive, signPackage(hash('sha256', archive, 'hex'), key)]);
