import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { launch } from './launcher.ts';
import { Versions } from './versions.ts';

let folder: string;
let versions: Versions;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rushhour-launcher-'));
  versions = new Versions(folder);
});
afterEach(() => rm(folder, { recursive: true }));

const install = async (version: string, source: string) => {
  await mkdir(dirname(versions.mainOf(version)), { recursive: true });
  await writeFile(versions.mainOf(version), source);
  await versions.choose(version);
};
const run = (trialMs = 5000) => launch({ versions, args: [], endsWithParent: false, trialMs, runHere: async () => 42 });
const connects = (version: string, code: number) => `
  import { Versions } from ${JSON.stringify(import.meta.resolve('./versions.ts'))};
  await new Versions(${JSON.stringify(folder)}).confirm('${version}');
  process.send({ type: 'connected' }, () => process.exit(${code}));
`;

describe('launcher', () => {
  it('runs the version it was started from when no other is installed', async () => {
    expect(await run()).toBe(42);
  });

  it('keeps a version that has reached the controller', async () => {
    await install('2.0.0', connects('2.0.0', 3));
    expect(await run()).toBe(3);
    expect(await versions.current()).toMatchObject({ version: '2.0.0', isTrial: false });
    expect(await versions.takeFailure()).toBeUndefined();
  });

  it('rolls back when a version does not reach the controller in time', async () => {
    await install('2.0.0', connects('2.0.0', 3));
    await run();
    await install('3.0.0', 'setInterval(() => {}, 1000);');
    expect(await run(700)).toBe(3);
    expect(await versions.current()).toMatchObject({ version: '2.0.0' });
    expect(await versions.takeFailure()).toContain(
      '3.0.0 was rolled back: it did not reach the controller within 0.7 s',
    );
    await install('4.0.0', 'process.exit(9)');
    await install('4.0.1', 'process.exit(9)');
    expect(await run()).toBe(3);
  });

  it('rolls back to the base version, and ignores installed ones once that is replaced', async () => {
    await install('2.0.0', 'process.exit(9)');
    expect(await run()).toBe(42);
    expect(await versions.takeFailure()).toContain('ended before it reached the controller');
    await install('3.0.0', connects('3.0.0', 3));
    await writeFile(join(versions.folder, 'current.json'), '{"version":"3.0.0","base":"0.0.1","isTrial":false}');
    expect(await run()).toBe(42);
    await install('3.0.0', connects('3.0.0', 3));
    expect(await run()).toBe(3);
  });
});
