import { cpSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';

/** Pages that are open may still ask for the parts of the build they came from. */
const keptMs = 3_600_000;

/**
 * Puts a finished build where the controller looks for it: assets first, the page that names them last, so that whoever
 * reads meanwhile, or builds at the same time, always finds a whole one.
 */
export const publish = (staging: string, place: string): Plugin => ({
  name: 'publish',
  apply: 'build',
  closeBundle: () => {
    const assets = join(place, 'assets');
    mkdirSync(assets, { recursive: true });
    const names = readdirSync(join(staging, 'assets'));
    for (const name of names) renameSync(join(staging, 'assets', name), join(assets, name));
    rmSync(join(staging, 'assets'), { recursive: true });
    const page = join(staging, 'index.html');
    for (const name of readdirSync(staging).filter((one) => one !== 'index.html')) {
      cpSync(join(staging, name), join(place, name), { recursive: true });
    }
    renameSync(page, join(place, 'index.html'));
    rmSync(staging, { recursive: true });
    const isOld = (name: string) =>
      (statSync(join(assets, name), { throwIfNoEntry: false })?.mtimeMs ?? 0) < Date.now() - keptMs;
    for (const name of readdirSync(assets).filter((one) => !names.includes(one))) {
      if (isOld(name)) rmSync(join(assets, name), { force: true });
    }
  },
});
