import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { packageTrailerBytes, verifyPackageTrailer } from '@rushhour/protocol';
import { packageFolder } from '../version.ts';
import { BadArchive, filesIn } from './tar.ts';
import { findMain } from './versions.ts';

const maxBytes = 200 * 1024 * 1024;
const maxFiles = 20_000;
const root = 'package/';
const ownScope = '@rushhour/';

const safePathOf = (name: string): string => {
  const path = name.startsWith(root) ? name.slice(root.length) : '';
  const isSafe =
    path !== '' && !/[\\\0:]/.test(path) && path.split('/').every((part) => !['', '.', '..'].includes(part));
  if (!isSafe) throw new BadArchive(`the package holds a file with the name ${JSON.stringify(name.slice(0, 100))}`);
  return path;
};

const unpack = async (archive: Buffer, folder: string): Promise<void> => {
  const tar = await promisify(gunzip)(archive, { maxOutputLength: maxBytes }).catch((cause) => {
    throw new BadArchive('the package is not a gzip archive or too large', { cause });
  });
  let count = 0;
  for (const { name, content } of filesIn(tar)) {
    if (++count > maxFiles) throw new BadArchive('the package holds too many files');
    const path = join(folder, safePathOf(name));
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(path, content);
  }
};

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Record<string, string>;
}

const checkManifest = async (folder: string, version: string): Promise<Manifest> => {
  const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => '{}');
  const manifest = JSON.parse(text) as Manifest;
  if (manifest.name !== '@rushhour/agent') throw new BadArchive('the package is not an agent package');
  if (manifest.version !== version) throw new BadArchive(`the package is version ${manifest.version}, not ${version}`);
  if (findMain(folder) === undefined) throw new BadArchive('the package has no src/main.js');
  return manifest;
};

/** Where a dependency of this agent is installed. */
const findInstalled = (name: string): string | undefined => {
  for (let folder = packageFolder; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name);
    if (existsSync(candidate)) return candidate;
    if (dirname(folder) === folder) return undefined;
  }
};

/** Our packages are in the archive; third-party ones are linked from this agent. */
const linkDependencies = async (folder: string, { dependencies = {} }: Manifest): Promise<void> => {
  for (const name of Object.keys(dependencies)) {
    const link = join(folder, 'node_modules', name);
    if (existsSync(link)) continue;
    const own = name.startsWith(ownScope) ? join('packages', name.slice(ownScope.length)) : '';
    const target = own !== '' && existsSync(join(folder, own)) ? join('../..', own) : findInstalled(name);
    if (target === undefined) throw new BadArchive(`the package needs ${name}, which is not on this machine`);
    await mkdir(dirname(link), { recursive: true, mode: 0o700 });
    await symlink(target, link);
  }
};

export const isVersion = (text: string) => /^\d[0-9A-Za-z.+-]{0,63}$/.test(text);

/** The archive of a signed package. Throws `UntrustedPackage` unless one of the trusted keys has signed it. */
const verifiedArchive = async (file: string, trustedKeys: readonly string[]): Promise<Buffer> => {
  const content = await readFile(file);
  const end = Math.max(0, content.length - packageTrailerBytes);
  const archive = content.subarray(0, end);
  verifyPackageTrailer(content.subarray(end), hash('sha256', archive, 'hex'), trustedKeys);
  return archive;
};

export interface Installation {
  readonly file: string;
  readonly version: string;
  readonly versionsFolder: string;
  /** Keys that may have signed the package. */
  readonly trustedKeys: readonly string[];
}

/** Installs a signed package into `versions/<version>`. Leaves nothing behind if it is invalid. */
export const installPackage = async ({ file, version, versionsFolder, trustedKeys }: Installation): Promise<void> => {
  if (!isVersion(version)) throw new BadArchive(`${version} is not a version`);
  const folder = join(versionsFolder, version);
  const unfinished = `${folder}.tmp`;
  if (packageFolder.startsWith(`${folder}/`)) throw new Error(`version ${version} is running`);
  const archive = await verifiedArchive(file, trustedKeys);
  await rm(unfinished, { recursive: true, force: true });
  try {
    await unpack(archive, unfinished);
    await linkDependencies(unfinished, await checkManifest(unfinished, version));
    await rm(folder, { recursive: true, force: true });
    await rename(unfinished, folder);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  }
};
