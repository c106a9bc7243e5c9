import { readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { writeDurably } from '../files/durable-file.ts';
import { agentVersion, packageFolder } from '../version.ts';

/** Which installed version is to run instead of the one the process was started from. */
export interface Current {
  readonly version: string;
  /** The version it was installed beside. Once that is replaced by hand, this here no longer counts. */
  readonly base: string;
  /** It has not yet been seen to reach the controller. */
  readonly isTrial: boolean;
  /** What ran before; nothing when that was the base. */
  readonly previous?: string;
}

const read = async <T>(file: string): Promise<T | undefined> => {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as T;
  } catch {
    return undefined;
  }
};

/** The folder of installed versions and the notes about which of them is in use. */
export class Versions {
  readonly folder: string;
  #turn: Promise<void> = Promise.resolve();

  constructor(dataDir: string) {
    this.folder = join(dataDir, 'versions');
  }

  /** True when this very process was started from an installed version. */
  get isInstalled(): boolean {
    return packageFolder.startsWith(`${this.folder}/`);
  }

  mainOf(version: string): string {
    return join(this.folder, version, 'src/main.ts');
  }

  async current(): Promise<Current | undefined> {
    return read<Current>(join(this.folder, 'current.json'));
  }

  /** From the next start on, this version is tried. */
  choose(version: string): Promise<void> {
    return this.#inTurn(() => this.#choose(version));
  }

  /** The version has reached the controller: it is no longer on trial. */
  confirm(version: string): Promise<void> {
    return this.#inTurn(async () => {
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
    // One that was never seen to work is nothing to return to.
    const previous = before?.isTrial ? before.previous : before?.version;
    await this.#write({ version, base, isTrial: true, ...(previous !== undefined && { previous }) });
  }

  /** Back to what ran before; the reason is kept until somebody asks for it. */
  async giveUp({ version, base, previous }: Current, reason: string): Promise<void> {
    if (previous === undefined) await unlink(join(this.folder, 'current.json'));
    else await this.#write({ version: previous, base, isTrial: false });
    await writeDurably(join(this.folder, 'failed.json'), JSON.stringify({ version, reason }));
  }

  /** Why the last upgrade was undone, told once. */
  async takeFailure(): Promise<string | undefined> {
    const file = join(this.folder, 'failed.json');
    const failure = await read<{ version: string; reason: string }>(file);
    if (failure === undefined) return undefined;
    await unlink(file);
    return `the upgrade to ${failure.version} was undone: ${failure.reason}`;
  }

  /** What one order notes, the next one finds. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => {});
    return done;
  }

  async #write(current: Current): Promise<void> {
    await writeDurably(join(this.folder, 'current.json'), JSON.stringify(current));
  }
}
