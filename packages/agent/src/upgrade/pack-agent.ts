import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { publicKeyText } from '@rushhour/protocol';
import { agentVersion } from '../version.ts';
import { partsOfThisMachine, writeAgentArchive } from './agent-archive.ts';
import { packAgent, signed } from './agent-package.ts';
import { partsFromRegistry } from './registry-parts.ts';

const usage = `usage: npm run agent:key -- FILE
       npm run agent:pack -- [--key FILE] [--version VERSION] [--out FILE]
       npm run agent:archive -- --arch x64|arm64 [--out FOLDER]

agent:key   creates an Ed25519 key pair: the private key in FILE, which must not exist, the public key on the terminal
agent:pack  writes a package for upgrades of agents, made from the sources here and signed with that private
            key; without --key a package that only npm install takes
agent:archive  writes the archive that a machine without Node.js installs an agent from, into ./data/agent-archives,
            where the controller looks for it; Node.js of another architecture comes from the npm registry
`;

const createKey = async (file: string): Promise<void> => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
  await writeFile(file, pem, { mode: 0o600, flag: 'wx' });
  process.stdout.write(`${publicKeyText(publicKey)}\n`);
};

const pack = async (keyFile: string | undefined, version: string, out: string): Promise<void> => {
  if (keyFile === undefined) {
    await writeFile(out, await packAgent(version));
    process.stdout.write(`${out}: version ${version}, not signed: for npm install\n`);
    return;
  }
  const key = createPrivateKey(await readFile(keyFile, 'utf8'));
  if (key.asymmetricKeyType !== 'ed25519') throw new Error(`${keyFile} is not an Ed25519 private key`);
  const content = signed(await packAgent(version), key);
  await writeFile(out, content);
  const signer = publicKeyText(createPublicKey(key));
  process.stdout.write(`${out}: version ${version}, ${content.length} bytes, signed with ${signer}\n`);
};

const archive = async (arch: string, folder: string): Promise<void> => {
  if (arch !== 'x64' && arch !== 'arm64') throw new Error(`--arch must be x64 or arm64, not ${arch}`);
  const scratch = await mkdtemp(join(tmpdir(), 'rushhour-agent-'));
  try {
    const parts = arch === process.arch ? partsOfThisMachine(arch) : await partsFromRegistry(arch, scratch);
    process.stdout.write(`${await writeAgentArchive(arch, parts, resolve(folder))}\n`);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
};

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    key: { type: 'string' },
    version: { type: 'string' },
    out: { type: 'string' },
    arch: { type: 'string' },
  },
});
const [command, file] = positionals;
const version = values.version ?? agentVersion;
try {
  if (command === 'key' && file !== undefined) await createKey(file);
  else if (command === 'pack') await pack(values.key, version, values.out ?? `rushhour-agent-${version}.tgz`);
  else if (command === 'archive') await archive(values.arch ?? process.arch, values.out ?? './data/agent-archives');
  else {
    process.stderr.write(usage);
    process.exitCode = 64;
  }
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
