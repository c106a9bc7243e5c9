import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { publicKeyText } from '@rushhour/protocol';
import { agentVersion } from '../version.ts';
import { packAgent, signed } from './agent-package.ts';

const usage = `usage: npm run agent:key -- FILE
       npm run agent:pack -- --key FILE [--version VERSION] [--out FILE]

agent:key   creates an Ed25519 key pair: the private key in FILE, which must not exist, the public key on the terminal
agent:pack  writes a package for upgrades of agents, made from the sources here and signed with that private key
`;

const createKey = async (file: string): Promise<void> => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
  await writeFile(file, pem, { mode: 0o600, flag: 'wx' });
  process.stdout.write(`${publicKeyText(publicKey)}\n`);
};

const pack = async (keyFile: string, version: string, out: string): Promise<void> => {
  const key = createPrivateKey(await readFile(keyFile, 'utf8'));
  if (key.asymmetricKeyType !== 'ed25519') throw new Error(`${keyFile} is not an Ed25519 private key`);
  const content = signed(await packAgent(version), key);
  await writeFile(out, content);
  const signer = publicKeyText(createPublicKey(key));
  process.stdout.write(`${out}: version ${version}, ${content.length} bytes, signed with ${signer}\n`);
};

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { key: { type: 'string' }, version: { type: 'string' }, out: { type: 'string' } },
});
const [command, file] = positionals;
const version = values.version ?? agentVersion;
try {
  if (command === 'key' && file !== undefined) await createKey(file);
  else if (command === 'pack' && values.key !== undefined)
    await pack(values.key, version, values.out ?? `rushhour-agent-${version}.tgz`);
  else {
    process.stderr.write(usage);
    process.exitCode = 64;
  }
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
