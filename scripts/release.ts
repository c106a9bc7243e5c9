import { execFileSync } from 'node:child_process';
import { createPrivateKey, createPublicKey, hash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { publicKeyText, releaseKeys } from '@rushhour/protocol';
import { ensureWeb } from './build-web.ts';
import { hasSection, taggedVersion } from './release-version.ts';
import { root } from './run.ts';

const usage = `usage: npm run release -- [--arch x64,arm64] [--out FOLDER] [--version VERSION] [--key FILE] [--stage]

Makes, for each architecture, the archive of the controller and the one of agents, both with their Node.js, and for all of
them SHA256SUMS and a bill of materials (CycloneDX). The version is that of the tag vX.Y.Z on this commit; without one it
must be given. --stage writes the unpacked controller into FOLDER instead.

--key names a private key made by \`npm run agent:key\`, which becomes a release key: controllers and agents of this release
accept packages for upgrades that are signed with it, and one of this version is written, rushhour-agent-VERSION.tgz. Use
the same key for the next release, and keep it away from controllers. Without a release key agents accept only packages
signed with a key of their administrators.
`;

const packages = ['agent', 'cli', 'client', 'contract', 'controller', 'pcap', 'pools', 'protocol', 'wire'];
const documents = ['LICENSE', 'README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'docs'];
const files = ['package.json', 'package-lock.json', '.npmrc', 'deploy', ...documents];

const isShipped = (path: string) => !/(^|\/)(node_modules|testing)(\/|$)|\.test\.tsx?$/.test(relative(root, path));

/** What all archives of a release have in common. */
interface Edition {
  readonly version: string;
  /** The private key that signs the package for upgrades. */
  readonly keyFile: string | undefined;
  readonly keys: readonly string[];
}

const editionOf = (version: string, file: string | undefined): Edition => {
  if (file === undefined) return { version, keyFile: undefined, keys: releaseKeys };
  const keyFile = resolve(file);
  const key = createPublicKey(createPrivateKey(readFileSync(keyFile)));
  return { version, keyFile, keys: [...new Set([...releaseKeys, publicKeyText(key)])] };
};

const npm = (folder: string, ...args: string[]) =>
  execFileSync('npm', args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 64 * 1024 * 1024 });

/** Libraries that the controller, agents and the command line need, for another machine if need be. */
const installLibraries = (folder: string, arch: string) => {
  const workspaces = ['controller', 'agent', 'cli'].map((name) => `--workspace=@rushhour/${name}`);
  npm(folder, 'ci', '--omit=dev', '--include-workspace-root', ...workspaces, '--os=linux', `--cpu=${arch}`);
};

const setVersion = (file: string, version: string) => {
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  for (const name of Object.keys(manifest.dependencies ?? {}))
    if (name.startsWith('@rushhour/')) manifest.dependencies[name] = version;
  writeFileSync(file, `${JSON.stringify({ ...manifest, version }, null, 2)}\n`);
};

const command = `#!/bin/sh
folder=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
exec "$folder/bin/node" "$folder/packages/cli/src/main.js" "$@"
`;

const keyList = /(releaseKeys: readonly string\[\] = )\[[^\]]*\]/;

/** Writes the release keys into the program: those of the sources, and the one that signs this release. */
const embedKeys = (folder: string, keys: readonly string[]) => {
  const file = join(folder, 'packages/protocol/src/messages/release-keys.ts');
  const source = readFileSync(file, 'utf8');
  if (!keyList.test(source)) throw new Error(`${file} has no list of release keys`);
  writeFileSync(file, source.replace(keyList, `$1${JSON.stringify(keys)}`));
};

/** Everything a controller needs, with its Node.js, in one folder. */
const stage = async (folder: string, arch: string, { version, keys }: Edition) => {
  await ensureWeb();
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const path of [...files, ...packages.map((name) => `packages/${name}`)])
    cpSync(join(root, path), join(folder, path), { recursive: true, filter: isShipped });
  // The manifest alone: the lock file names the package, and its libraries are in the built pages already.
  cpSync(join(root, 'packages/web/package.json'), join(folder, 'packages/web/package.json'));
  installLibraries(folder, arch);
  cpSync(join(root, 'packages/web/dist'), join(folder, 'packages/web/dist'), { recursive: true });
  mkdirSync(join(folder, 'bin'));
  renameSync(join(folder, `node_modules/node-linux-${arch}/bin/node`), join(folder, 'bin/node'));
  rmSync(join(folder, `node_modules/node-linux-${arch}`), { recursive: true });
  rmSync(join(folder, 'node_modules/.bin'), { recursive: true, force: true });
  writeFileSync(join(folder, 'bin/rushhour'), command, { mode: 0o755 });
  for (const name of packages) setVersion(join(folder, 'packages', name, 'package.json'), version);
  setVersion(join(folder, 'package.json'), version);
  embedKeys(folder, keys);
};

const archive = (folder: string, name: string, out: string) =>
  execFileSync('tar', ['-czf', join(out, `${name}.tar.gz`), '--owner=0', '--group=0', '-C', folder, name]);

/** The archives of one architecture. Agents are packed by the staged program, so that they have its version and keys. */
const release = async (arch: string, edition: Edition, out: string) => {
  const { version, keyFile } = edition;
  const name = `rushhour-${version}-linux-${arch}`;
  const work = join(out, '.work');
  await stage(join(work, name), arch, edition);
  archive(work, name, out);
  const packer = join(work, name, 'packages/agent/src/upgrade/pack-agent.ts');
  const pack = (...args: string[]) =>
    execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', packer, ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  pack('archive', '--arch', arch, '--out', out);
  // The same for all architectures.
  if (keyFile !== undefined) pack('pack', '--key', keyFile, '--out', join(out, `rushhour-agent-${version}.tgz`));
  rmSync(work, { recursive: true });
};

interface Locked {
  readonly version?: string;
  readonly dev?: boolean;
}

/** All libraries of the product, those inside the built pages included, without the tools of its development. */
const writeBill = (version: string, out: string) => {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked>;
  };
  const shipped = new Set(
    Object.entries(lock.packages).flatMap(([path, { version: locked, dev }]) =>
      dev ? [] : [`${path.split('node_modules/').at(-1)}@${locked}`],
    ),
  );
  const bill = JSON.parse(npm(root, 'sbom', '--package-lock-only', '--sbom-format', 'cyclonedx').toString());
  const components = bill.components.filter((component: { 'bom-ref': string }) => shipped.has(component['bom-ref']));
  writeFileSync(join(out, `rushhour-${version}.cdx.json`), `${JSON.stringify({ ...bill, components }, null, 1)}\n`);
};

const writeSums = (out: string) => {
  const names = readdirSync(out).filter((name) => /\.(tar\.gz|tgz|json)$/.test(name));
  const lines = names.toSorted().map((name) => `${hash('sha256', readFileSync(join(out, name)), 'hex')}  ${name}\n`);
  writeFileSync(join(out, 'SHA256SUMS'), lines.join(''));
  for (const name of names) console.log(join(out, name));
};

const { values } = parseArgs({
  options: {
    arch: { type: 'string', default: process.arch },
    out: { type: 'string', default: 'dist/release' },
    version: { type: 'string' },
    key: { type: 'string' },
    stage: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const architectures = values.arch.split(',');
const version = values.version ?? taggedVersion(root);
if (values.help || version === undefined || !architectures.every((arch) => arch === 'x64' || arch === 'arm64')) {
  process.stderr.write(usage);
  process.exit(values.help ? 0 : 64);
}
if (values.version === undefined && !hasSection(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version)) {
  process.stderr.write(`CHANGELOG.md has no section "## ${version}": name what is under "## Unreleased" by it first\n`);
  process.exit(64);
}
const out = resolve(root, values.out);
const edition = editionOf(version, values.key);
if (edition.keys.length === 0)
  console.error(
    'No release key: agents accept only upgrades signed with a key of their administrators (--help, --key).',
  );
if (values.stage) await stage(out, architectures[0] ?? '', edition);
else {
  if (!existsSync(out)) mkdirSync(out, { recursive: true });
  for (const arch of architectures) await release(arch, edition, out);
  writeBill(version, out);
  writeSums(out);
}
