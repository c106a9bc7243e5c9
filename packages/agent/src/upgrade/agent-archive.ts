import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { agentVersion, packageFolder } from '../version.ts';
import { agentFiles } from './agent-package.ts';
import { type TarFile, tarOf } from './tar.ts';

export type Architecture = 'x64' | 'arm64';

/** Where the parts that depend on the architecture are. */
export interface MachineParts {
  /** The program `node`. */
  readonly node: string;
  /** The package `@koromix/koffi-linux-ARCH`. */
  readonly koffi: string;
}

const findInstalled = (name: string): string => {
  for (let folder = packageFolder; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name);
    if (existsSync(candidate)) return candidate;
    if (dirname(folder) === folder) throw new Error(`${name} is not installed: run npm ci`);
  }
};

/** The parts of this machine. Node.js from npm is preferred: one of a distribution may need libraries of its own. */
export const partsOfThisMachine = (arch: Architecture): MachineParts => {
  const koffi = findInstalled(`@koromix/koffi-linux-${arch}`);
  const packaged = join(dirname(dirname(koffi)), `node-linux-${arch}`, 'bin/node');
  return { koffi, node: existsSync(packaged) ? packaged : process.execPath };
};

/** Files that a running agent never reads. The scripts of koffi are among its sources. */
const isLeftOut = (path: string) =>
  /(^|\/)(doc|vendor|test)\/|\.(d\.[cm]?ts|map|md|cc|hh|inc|S|asm)$|CMakeLists|^musl_/.test(path);

const filesOf = async (folder: string, prefix: string, leaveOut: (path: string) => boolean): Promise<TarFile[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((e) => relative(folder, join(e.parentPath, e.name)));
  return Promise.all(
    paths
      .filter((path) => !leaveOut(path))
      .toSorted()
      .map(async (path) => ({ name: `${prefix}${path}`, content: await readFile(join(folder, path)) })),
  );
};

const libraries = ['koffi', 're2js', 'typebox', 'ws'];
const serviceScript = new URL('../../service/rushhour-agent', import.meta.url);

/** Everything but Node.js. */
const programFiles = async (arch: Architecture, { koffi }: MachineParts): Promise<TarFile[]> => {
  const third = libraries.map((name) => filesOf(findInstalled(name), `package/node_modules/${name}/`, isLeftOut));
  const native = filesOf(koffi, `package/node_modules/@koromix/koffi-linux-${arch}/`, isLeftOut);
  const own = (await agentFiles()).map((file) => ({ ...file, name: `package/${file.name}` }));
  const script = { name: 'rushhour-agent', content: await readFile(serviceScript), mode: 0o755 };
  return [script, ...own, ...(await Promise.all([...third, native])).flat()];
};

/** Described by the file beside the archive, which the controller reads. */
interface AgentArchive {
  readonly version: string;
  readonly arch: Architecture;
  readonly bytes: number;
  readonly sha256: string;
  /** The same archive without compression, for machines without gzip. */
  readonly tarBytes: number;
  readonly tarSha256: string;
  /** What it was made of. */
  readonly digest: string;
}

const digestOf = async (files: readonly TarFile[], node: string): Promise<string> => {
  const { size, mtimeMs } = await stat(node);
  const parts = files.map(({ name, content }) => `${name} ${hash('sha256', content, 'hex')}`);
  return hash('sha256', [...parts, `node ${size} ${mtimeMs}`].join('\n'), 'hex');
};

const isFinished = async (file: string, description: string, digest: string): Promise<boolean> => {
  const text = await readFile(description, 'utf8').catch(() => '{}');
  return (JSON.parse(text) as AgentArchive).digest === digest && existsSync(file);
};

/** Replaces a file at once, so that no reader sees a part of it. */
const replaceFile = async (file: string, content: Buffer | string): Promise<void> => {
  await writeFile(`${file}.tmp`, content);
  await rename(`${file}.tmp`, file);
};

/**
 * Writes the archive that installs an agent with its Node.js, and a description of it beside it (`.json`). One that
 * is there and was made of the same files is kept. Resolves with its path.
 */
export const writeAgentArchive = async (arch: Architecture, parts: MachineParts, folder: string): Promise<string> => {
  const file = join(folder, `rushhour-agent-${agentVersion}-linux-${arch}.tar.gz`);
  const description = file.replace(/\.tar\.gz$/, '.json');
  const files = await programFiles(arch, parts);
  const digest = await digestOf(files, parts.node);
  if (await isFinished(file, description, digest)) return file;
  const tar = tarOf([{ name: 'bin/node', content: await readFile(parts.node), mode: 0o755 }, ...files]);
  const content = await promisify(gzip)(tar, { level: 3 });
  const archive: AgentArchive = {
    ...{ version: agentVersion, arch, digest },
    bytes: content.length,
    sha256: hash('sha256', content, 'hex'),
    tarBytes: tar.length,
    tarSha256: hash('sha256', tar, 'hex'),
  };
  await mkdir(folder, { recursive: true });
  await replaceFile(file, content);
  await replaceFile(description, `${JSON.stringify(archive, null, 2)}\n`);
  return file;
};
