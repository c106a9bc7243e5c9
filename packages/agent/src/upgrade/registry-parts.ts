import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageFolder } from '../version.ts';
import type { Architecture, MachineParts } from './agent-archive.ts';

const run = promisify(execFile);

interface Locked {
  readonly version: string;
  readonly integrity: string;
}

/** The version and checksum of a package in our lock file. */
const lockedPackage = async (name: string): Promise<Locked> => {
  const lock = JSON.parse(await readFile(join(packageFolder, '../../package-lock.json'), 'utf8'));
  const found = (lock as { packages: Record<string, Locked> }).packages[`node_modules/${name}`];
  if (found === undefined) throw new Error(`package-lock.json has no ${name}`);
  return found;
};

/** Fetches a package from the npm registry and unpacks it. */
const unpacked = async (name: string, folder: string): Promise<string> => {
  const { version, integrity } = await lockedPackage(name);
  const { stdout } = await run('npm', ['pack', '--json', `${name}@${version}`], {
    cwd: folder,
    maxBuffer: 64 * 1024 * 1024,
  });
  const [packed] = JSON.parse(stdout) as { filename: string; integrity: string }[];
  if (packed?.integrity !== integrity) throw new Error(`${name}@${version} is not the one of package-lock.json`);
  const target = join(folder, name.replace(/\W/g, '-'));
  await run('mkdir', ['-p', target]);
  await run('tar', ['-xzf', join(folder, packed.filename), '-C', target, '--strip-components=1']);
  return target;
};

/** The parts of another architecture, from the npm registry. */
export const partsFromRegistry = async (arch: Architecture, folder: string): Promise<MachineParts> => ({
  node: join(await unpacked(`node-linux-${arch}`, folder), 'bin/node'),
  koffi: await unpacked(`@koromix/koffi-linux-${arch}`, folder),
});
