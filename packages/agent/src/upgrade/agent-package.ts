import { hash, type KeyObject } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { signPackage } from '@rushhour/protocol';
import { packageFolder } from '../version.ts';
import { type TarFile, tarOf } from './tar.ts';

interface Manifest {
  readonly version: string;
  readonly dependencies: Record<string, string>;
  readonly exports: Record<string, string>;
}

const manifestOf = async (folder: string): Promise<Manifest> =>
  JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));

/** Workspace packages the agent depends on; they are included in the archive. */
const ownPackages = async (): Promise<string[]> => {
  const { dependencies } = await manifestOf(packageFolder);
  return Object.keys(dependencies).flatMap((name) => /^@rushhour\/(.+)$/.exec(name)?.[1] ?? []);
};

const isShipped = (path: string) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !path.includes('testing/');

/** The sources as JavaScript: Node.js does not strip types below `node_modules`, where `npm install` puts a package. */
const javascriptOf = (source: string): string =>
  stripTypeScriptTypes(source).replace(/(['"])(\.{1,2}\/[^'"\n]*)\.ts\1/g, '$1$2.js$1');

const programOf = async (folder: string, path: string): Promise<TarFile> => {
  const code = javascriptOf(await readFile(join(folder, path), 'utf8'));
  return { name: path.replace(/\.ts$/, '.js'), content: Buffer.from(code) };
};

const sourcesOf = async (folder: string): Promise<TarFile[]> => {
  const entries = await readdir(join(folder, 'src'), { recursive: true });
  const paths = entries.filter(isShipped).map((entry) => `src/${entry}`);
  return Promise.all(paths.toSorted().map((path) => programOf(folder, path)));
};

const below = (prefix: string, files: readonly TarFile[]): TarFile[] =>
  files.map((file) => ({ ...file, name: `${prefix}${file.name}` }));

const jsonFile = (name: string, value: unknown): TarFile => ({
  name,
  content: Buffer.from(`${JSON.stringify(value, null, 2)}\n`),
});

const exportsOf = ({ exports }: Manifest) =>
  Object.fromEntries(Object.entries(exports).map(([name, file]) => [name, file.replace(/\.ts$/, '.js')]));

const ownPackage = async (name: string): Promise<TarFile[]> => {
  const folder = join(dirname(packageFolder.replace(/\/$/, '')), name);
  const manifest = await manifestOf(folder);
  const shipped = { ...manifest, exports: exportsOf(manifest) };
  return below(`node_modules/@rushhour/${name}/`, [jsonFile('package.json', shipped), ...(await sourcesOf(folder))]);
};

/** Agents of the earlier form start `src/main.ts`. */
const earlierMain: TarFile = { name: 'src/main.ts', content: Buffer.from("import './main.js';\n") };

const isMain = ({ name }: TarFile) => name === 'src/main.js';
const withInterpreter = (file: TarFile): TarFile => ({
  ...file,
  mode: 0o755,
  content: Buffer.concat([Buffer.from('#!/usr/bin/env node\n'), file.content]),
});

/** The files of the agent and of our packages in it, as JavaScript; other dependencies are not included. */
export const agentFiles = async (version?: string): Promise<TarFile[]> => {
  const manifest = await manifestOf(packageFolder);
  const own = await ownPackages();
  const shipped = {
    ...manifest,
    version: version ?? manifest.version,
    exports: exportsOf(manifest),
    bin: { 'rushhour-agent': 'src/main.js' },
    engines: { node: '>=24' },
    bundleDependencies: own.map((name) => `@rushhour/${name}`),
  };
  const sources = (await sourcesOf(packageFolder)).map((file) => (isMain(file) ? withInterpreter(file) : file));
  const beside = await Promise.all(own.map(ownPackage));
  return [jsonFile('package.json', shipped), ...sources, earlierMain, ...beside.flat()];
};

/** The package: for upgrades, and for `npm install`. */
export const packAgent = async (version?: string): Promise<Buffer> =>
  promisify(gzip)(tarOf(below('package/', await agentFiles(version))));

/** A package that agents accept if they trust the key. */
export const signed = (archive: Buffer, key: KeyObject): Buffer =>
  Buffer.concat([archive, signPackage(hash('sha256', archive, 'hex'), key)]);
