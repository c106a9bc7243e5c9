import { createHash } from 'node:crypto';
import { buffer, json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { packageTrailerBytes, UntrustedPackage, verifyPackageTrailer } from '@rushhour/protocol';
import { ArchiveError } from '../assets/archives/archive-error.ts';
import { openArchive } from '../assets/archives/open-archive.ts';
import { invalid, orNotFound } from '../errors.ts';
import { type FileRow, files as fileTable } from '../store/assets/files.ts';
import type { Blobs } from '../store/blobs/blobs.ts';
import type { Store } from '../store/store.ts';

/** What agents are upgraded with. */
export interface AgentPackage {
  readonly sha256: string;
  readonly size: number;
  readonly version: string;
}

interface Deps {
  readonly store: Store;
  readonly blobs: Blobs;
  /** Keys whose packages are accepted. */
  readonly packageKeys: readonly string[];
}

const manifestPath = 'package/package.json';
const maxManifestBytes = 65_536;

const refuse = (path: string, code: string, message: string) => invalid([{ path, code, message }]);

const archiveBytesOf = ({ size }: FileRow) => Math.max(0, size - packageTrailerBytes);

/** The version in the manifest of a signed package; undefined if it is not one of the agent. */
const versionIn = async (blobs: Blobs, file: FileRow): Promise<string | undefined> => {
  const size = archiveBytesOf(file);
  const archive = await openArchive({ stream: await blobs.read(file.sha256, { start: 0, end: size }), size });
  try {
    for await (const member of archive.members()) {
      if (member.name !== manifestPath || (member.declaredSize ?? 0) > maxManifestBytes) continue;
      const { name, version } = (await json(member.open())) as { name?: unknown; version?: unknown };
      return name === '@rushhour/agent' && typeof version === 'string' ? version : undefined;
    }
    return undefined;
  } finally {
    await archive.close();
  }
};

/** Throws `UntrustedPackage` unless a trusted key has signed the file. Agents check it again with the keys they trust. */
const verifySignature = async ({ blobs, packageKeys }: Deps, file: FileRow): Promise<void> => {
  const end = archiveBytesOf(file);
  const trailer = await buffer(await blobs.read(file.sha256, { start: end }));
  const hash = createHash('sha256');
  if (end > 0) await pipeline(await blobs.read(file.sha256, { start: 0, end }), hash);
  verifyPackageTrailer(trailer, hash.digest('hex'), packageKeys);
};

const isUsable = ({ state, category }: FileRow) => state === 'ready' && category !== 'malware';

const findByVersion = async ({ store }: Deps, version: string) => {
  const name = `rushhour-agent-${version}.tgz`;
  const { rows } = await fileTable.page(store.read, { key: 'id', order: 'desc', limit: 100, offset: 0, search: name });
  const file = rows.find((row) => row.name === name && isUsable(row));
  if (file === undefined) throw refuse('/params/version', 'NO_PACKAGE', `there is no file ${name}`);
  return file;
};

const findById = async ({ store }: Deps, id: number) => {
  const file = await orNotFound(fileTable.find(store.read, id), 'file', id);
  if (!isUsable(file)) throw refuse('/params/fileId', 'NOT_READY', 'is not a file that can be used');
  return file;
};

/** The stored package for an upgrade, by its id or by the version in its name: signed, of the agent, of that version. */
export const findPackage = async (
  deps: Deps,
  { fileId, version }: { fileId?: number; version?: string },
): Promise<AgentPackage> => {
  if (fileId === undefined && version === undefined)
    throw refuse('/params', 'REQUIRED', 'must name a fileId or a version');
  const file = fileId === undefined ? await findByVersion(deps, version as string) : await findById(deps, fileId);
  const path = fileId === undefined ? '/params/version' : '/params/fileId';
  await verifySignature(deps, file).catch((error) => {
    if (error instanceof UntrustedPackage) throw refuse(path, error.code, error.message);
    throw error;
  });
  const found = await versionIn(deps.blobs, file).catch((error) => {
    if (error instanceof ArchiveError || error instanceof SyntaxError) return undefined;
    throw error;
  });
  if (found === undefined) throw refuse(path, 'NO_PACKAGE', 'is not a package of the agent');
  if (version !== undefined && found !== version)
    throw refuse(path, 'OTHER_VERSION', `is version ${found}, not ${version}`);
  return { sha256: file.sha256, size: file.size, version: found };
};
