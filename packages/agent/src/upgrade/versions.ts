import { existsSync } from 'node:fs';
import { readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { writeDurably } from '../files/durable-file.ts';
import { agentVersion, packageFolder } from '../version.ts';

/** The installed version to run instead of the one the process was started from. */
export interface Current {
  readonly version: string;
  /** The version it was installed from. Once that is replaced manually, this entry is ignored. */
  readonly base: string;
  /** It has not reached the controller yet. */
  readonly isTrial: boolean;
  /** The previous version; undefined if that was the base. */
  readonly previous?: string;
}

const read = async <T>(file: string): Promise<T | undefined> => {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as T;
  } catch {
    return undefined;
  }
};

/** The program of an unpacked package; TypeScript in packages of the earlier form. */
export const findMain = (folder: string): string | undefined =>
  ['main.js', 'main.ts'].map((name) => join(folder, 'src', name)).find(existsSync);

/** The folder of installed versions and the record of which is in use. */
export class Versions {
  readonly folder: string;
  #queue: Promise<void> = Promise.resolve();

  constructor(dataDir: string) {
    this.folder = join(dataDir, 'versions');
  }

  /** True if this process was started from an installed version. */
  get isInstalled(): boolean {
    return packageFolder.startsWith(`${this.folder}/`);
  }

  mainOf(version: string): string {
    return findMain(join(this.folder, version)) ?? join(this.folder, version, 'src', 'main.js');
  }

  async current(): Promise<Current | undefined> {
    return read<Current>(join(this.folder, 'current.json'));
  }

  /** Makes this version the one to try at the next start. */
  choose(version: string): Promise<void> {
    return this.#serialise(() => this.#choose(version));
  }

  /** Ends the trial of a version that has reached the controller. */
  confirm(version: string): Promise<void> {
    return this.#serialise(async () => {
      const current = await this.current();
      if (current?.version === version && current.isTrial) {
        await this.#write({ version, base: current.base, isTrial: false });
      }
    });
  }

  async #choose(version: string): Promise<void> {
    const found = await this.current();
    const before = this.isInstalled || found?.base === agentVersion ? found : undefined;
    const base = before?.base ?? agentVersion;
    // A version that never worked is nothing to return to.
    const previous = before?.isTrial ? before.previous : before?.version;
    await this.#write({ version, base, isTrial: true, ...(previous !== undefined && { previous }) });
  }

  /** Returns to the previous version; the reason is kept until `takeFailure`. */
  async giveUp({ version, base, previous }: Current, reason: string): Promise<void> {
    if (previous === undefined) await unlink(join(this.folder, 'current.json'));
    else await this.#write({ version: previous, base, isTrial: false });
    await writeDurably(join(this.folder, 'failed.json'), JSON.stringify({ version, reason }));
  }

  /** Why the last upgrade was rolled back; returned once. */
  async takeFailure(): Promise<string | undefined> {
    const file = join(this.folder, 'failed.json');
    const failure = await read<{ version: string; reason: string }>(file);
    if (failure === undefined) return undefined;
    await unlink(file);
    return `the upgrade to ${failure.version} was rolled back: ${failure.reason}`;
  }

  /** Serialises changes, so that each sees the previous one. */
  #serialise(work: () => Promise<void>): Promise<void> {
    const done = this.#queue.then(work);
    this.#queue = done.catch(() => {});
    return done;
  }

  async #write(current: Current): Promise<void> {
    await writeDurably(join(this.folder, 'current.json'), JSON.stringify(current));
  }
}
