import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { publicKeyText } from '@rushhour/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench } from '../testing/agent-process.ts';
import { ProtocolServer } from '../testing/protocol-server.ts';
import { packAgent, signed } from './agent-package.ts';
import { installPackage } from './install.ts';
import { tarOf } from './tar.ts';

const bench = new Bench();
let server: ProtocolServer;

const release = generateKeyPairSync('ed25519');
const stranger = generateKeyPairSync('ed25519');
const releaseKey = publicKeyText(release.publicKey);
const signedPackage = (archive: Buffer) => signed(archive, release.privateKey);

beforeEach(async () => {
  server = await ProtocolServer.start();
  server.packageKeys = [releaseKey];
});
afterEach(async () => {
  await bench.close();
  await server.vanish();
  expect(server.violations).toEqual([]);
});

const archiveOf = (files: Record<string, string>) =>
  gzipSync(tarOf(Object.entries(files).map(([name, text]) => ({ name, content: Buffer.from(text) }))));
const manifestOf = (version: string) => JSON.stringify({ name: '@rushhour/agent', version });

describe('upgrade of an agent', () => {
  it('installs the package, restarts into it, and rolls back one that does not work', async () => {
    const { uuid, agent } = await bench.join(server);
    const good = server.addFile(signedPackage(await packAgent('9.8.7')));
    const after = server.heard.length;
    expect(await server.ask(uuid, { kind: 'upgrade', ...good, version: '9.8.7' })).toMatchObject({ ok: true });
    const hello = await server.until({ type: 'hello', uuid, after });
    expect(hello.facts.version).toBe('9.8.7');
    expect(await agent.exited).toBe(0);
    const installed = async () => (await readdir(join(agent.dataDir, 'versions'))).toSorted();
    await expect.poll(installed).toEqual(['9.8.7', 'current.json']);

    const broken = server.addFile(
      signedPackage(
        archiveOf({ 'package/package.json': manifestOf('9.9.0'), 'package/src/main.ts': 'throw new Error("broken");' }),
      ),
    );
    const later = server.heard.length;
    expect(await server.ask(uuid, { kind: 'upgrade', ...broken, version: '9.9.0' })).toMatchObject({ ok: true });
    const back = await server.until({ type: 'hello', uuid, after: later });
    expect(back.facts.version).toBe('9.8.7');
    await server.until({
      type: 'logs',
      uuid,
      after: later,
      fits: ({ lines }) => lines.some(({ message }) => message.startsWith('the upgrade to 9.9.0 was rolled back')),
    });
  });

  it('rejects an invalid package', async () => {
    const folder = await bench.folder();
    const versions = join(folder, 'versions');
    const file = join(folder, 'package.tgz');
    const refused = async (content: Buffer, version = '2.0.0') => {
      await mkdir(versions, { recursive: true });
      await writeFile(file, signedPackage(content));
      return installPackage({ file, version, versionsFolder: versions, trustedKeys: [releaseKey] }).then(
        () => 'installed',
        (error: Error) => error.message,
      );
    };
    const main = { 'package/src/main.ts': '' };
    expect(await refused(Buffer.from('no gzip'))).toContain('not a gzip archive');
    expect(await refused(archiveOf({ 'package/../../evil': 'x' }))).toContain('a file with the name');
    expect(await refused(archiveOf({ '/etc/passwd': 'x' }))).toContain('a file with the name');
    expect(await refused(archiveOf({ 'package/package.json': '{"name":"left-pad"}' }))).toContain(
      'not an agent package',
    );
    expect(await refused(archiveOf({ 'package/package.json': manifestOf('3.0.0'), ...main }))).toContain('not 2.0.0');
    expect(await refused(archiveOf({ 'package/package.json': manifestOf('2.0.0') }))).toContain('no src/main.js');
    expect(await refused(archiveOf({ ...main }), '../up')).toContain('is not a version');
    const needy = JSON.stringify({ name: '@rushhour/agent', version: '2.0.0', dependencies: { 'not-here': '1' } });
    expect(await refused(archiveOf({ 'package/package.json': needy, ...main }))).toContain('needs not-here');
    expect(await readdir(versions)).toEqual([]);
    expect(await refused(archiveOf({ 'package/package.json': manifestOf('2.0.0'), ...main }))).toBe('installed');
  });

  it('refuses packages that no key pinned at the enrolment has signed', async () => {
    const { uuid, agent } = await bench.join(server);
    // Only the first welcome counts: a controller cannot add keys later.
    server.packageKeys = [publicKeyText(stranger.publicKey)];
    const after = server.heard.length;
    server.drop(uuid);
    await server.until({ type: 'heartbeat', uuid, after });
    const archive = archiveOf({ 'package/package.json': manifestOf('6.6.6'), 'package/src/main.ts': 'evil();' });
    const tampered = signedPackage(archive);
    tampered[20] = (tampered[20] as number) ^ 1;
    for (const [content, problem] of [
      [archive, 'the package is not signed'],
      [signed(archive, stranger.privateKey), `${publicKeyText(stranger.publicKey)}, which is not trusted`],
      [tampered, 'the signature does not match'],
      [Buffer.alloc(0), 'the package is not signed'],
    ] as const) {
      const file = server.addFile(content);
      const { ok, error } = await server.ask(uuid, { kind: 'upgrade', ...file, version: '6.6.6' });
      expect({ ok, error }).toEqual({ ok: false, error: expect.stringContaining(problem) });
    }
    await expect(readdir(join(agent.dataDir, 'versions'))).rejects.toThrow('ENOENT');
  });

  it('accepts a key that the administrator of the machine adds', async () => {
    const { uuid } = await bench.join(server, undefined, ['--package-keys', publicKeyText(stranger.publicKey)]);
    const archive = archiveOf({ 'package/package.json': manifestOf('6.6.6'), 'package/src/main.ts': '' });
    const file = server.addFile(signed(archive, stranger.privateKey));
    expect(await server.ask(uuid, { kind: 'upgrade', ...file, version: '6.6.6' })).toMatchObject({ ok: true });
  });

  it('is packed and signed by the commands of the documentation', async () => {
    const folder = await bench.folder();
    const command = fileURLToPath(new URL('./pack-agent.ts', import.meta.url));
    const run = (...args: string[]) => execFileSync(process.execPath, [command, ...args], { encoding: 'utf8' });
    const [keyFile, out] = [join(folder, 'key.pem'), join(folder, 'agent.tgz')];
    const key = run('key', keyFile).trim();
    expect((await stat(keyFile)).mode & 0o777).toBe(0o600);
    expect(run('pack', '--key', keyFile, '--version', '7.0.0', '--out', out)).toContain(key);
    const versionsFolder = join(folder, 'versions');
    const installation = { file: out, version: '7.0.0', versionsFolder };
    await expect(installPackage({ ...installation, trustedKeys: [releaseKey] })).rejects.toThrow('not trusted');
    await installPackage({ ...installation, trustedKeys: [key] });
    expect(await readdir(versionsFolder)).toEqual(['7.0.0']);
  });
});
