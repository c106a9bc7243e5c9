import { cpSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';

/** Open pages may still load assets of the build they came from. */
const retentionMs = 3_600_000;

/**
 * Moves a finished build to the folder that the controller serves: assets first, `index.html` last. Requests and builds
 * at the same time always find a complete build.
 */
export const publish = (staging: string, target: string): Plugin => ({
  name: 'publish',
  apply: 'build',
  closeBundle: () => {
    const assets = join(target, 'assets');
    mkdirSync(assets, { recursive: true });
    const names = readdirSync(join(staging, 'assets'));
    for (const name of names) renameSync(join(staging, 'assets', name), join(assets, name));
    rmSync(join(staging, 'assets'), { recursive: true });
    const page = join(staging, 'index.html');
    for (const name of readdirSync(staging).filter((one) => one !== 'index.html')) {
      cpSync(join(staging, name), join(target, name), { recursive: true });
    }
    renameSync(page, join(target, 'index.html'));
    rmSync(staging, { recursive: true });
    const isOld = (name: string) =>
      (statSync(join(assets, name), { throwIfNoEntry: false })?.mtimeMs ?? 0) < Date.now() - retentionMs;
    for (const name of readdirSync(assets).filter((one) => !names.includes(one))) {
      if (isOld(name)) rmSync(join(assets, name), { force: true });
    }
  },
});
