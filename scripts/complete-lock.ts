import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run.ts';

// `npm run lock`: adds the optional packages of every platform to the lock file, including those that the configured
// registry lacks. `npm ci` requires all of them in the file and installs only those of its own platform. Digests that npm
// left out are added, too: without one, `npm ci` takes whatever the registry sends.

interface Entry {
  version?: string;
  integrity?: string;
  link?: boolean;
  dev?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}

const systems = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32'];
const processors = ['arm64', 'arm', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64'];

const platformOf = (name: string): Entry => {
  const words = name.split(/[-/]/);
  const os = words.find((word) => systems.includes(word));
  const cpu = words.find((word) => processors.includes(word));
  const libc = words.some((word) => word.startsWith('musl')) ? 'musl' : undefined;
  return { ...(os && { os: [os] }), ...(cpu && { cpu: [cpu] }), ...(libc && { libc: [libc] }) };
};

const file = join(root, 'package-lock.json');
const lock = JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, Entry> };
const missing = Object.values(lock.packages).flatMap(({ optionalDependencies = {}, dev }) =>
  Object.entries(optionalDependencies)
    .filter(([name]) => !(`node_modules/${name}` in lock.packages))
    .map(([name, version]) => ({ name, entry: { version, ...(dev && { dev }), optional: true, ...platformOf(name) } })),
);
for (const { name, entry } of missing) lock.packages[`node_modules/${name}`] = entry;

const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();
const integrityOf = async (name: string, version: string): Promise<string | undefined> => {
  const reply = await fetch(`${registry}${name.replace('/', '%2f')}/${version}`);
  const { dist } = (reply.ok ? await reply.json() : {}) as { dist?: { integrity?: string } };
  return dist?.integrity;
};
let added = 0;
for (const [path, entry] of Object.entries(lock.packages)) {
  const [, name] = /.*node_modules\/(.+)$/.exec(path) ?? [];
  const { version, integrity, link, ...rest } = entry;
  if (name === undefined || version === undefined || link || integrity !== undefined) continue;
  const found = await integrityOf(name, version);
  if (found === undefined) continue;
  lock.packages[path] = { version, integrity: found, ...rest };
  added += 1;
}

lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${missing.length} packages of other platforms and ${added} digests added`);
