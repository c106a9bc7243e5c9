import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench } from '../testing/agent-process.ts';
import { ProtocolServer } from '../testing/protocol-server.ts';
import { packAgent } from './agent-package.ts';
import { installPackage } from './install.ts';
import { tarOf } from './tar.ts';

const bench = new Bench();
let server: ProtocolServer;

beforeEach(async () => {
  server = await ProtocolServer.start();
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
    const good = server.addFile(await packAgent('9.8.7'));
    const after = server.heard.length;
    expect(await server.ask(uuid, { kind: 'upgrade', ...good, version: '9.8.7' })).toMatchObject({ ok: true });
    const hello = await server.until({ type: 'hello', uuid, after });
    expect(hello.facts.version).toBe('9.8.7');
    expect(await agent.exited).toBe(0);
    const installed = async () => (await readdir(join(agent.dataDir, 'versions'))).toSorted();
    await expect.poll(installed).toEqual(['9.8.7', 'current.json']);

    const broken = server.addFile(
      archiveOf({ 'package/package.json': manifestOf('9.9.0'), 'package/src/main.ts': 'throw new Error("broken");' }),
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
      await writeFile(file, content);
      return installPackage(file, version, versions).then(
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
    expect(await refused(archiveOf({ 'package/package.json': manifestOf('2.0.0') }))).toContain('no src/main.ts');
    expect(await refused(archiveOf({ ...main }), '../up')).toContain('is not a version');
    const needy = JSON.stringify({ name: '@rushhour/agent', version: '2.0.0', dependencies: { 'not-here': '1' } });
    expect(await refused(archiveOf({ 'package/package.json': needy, ...main }))).toContain('needs not-here');
    expect(await readdir(versions)).toEqual([]);
    expect(await refused(archiveOf({ 'package/package.json': manifestOf('2.0.0'), ...main }))).toBe('installed');
  });
});
