import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Logger } from 'pino';
import { build } from '../system/build.ts';

const packer = fileURLToPath(new URL('../../../agent/src/upgrade/pack-agent.ts', import.meta.url));

/** An archive with an agent and its Node.js, as the file beside it describes it. */
export interface AgentArchive {
  readonly file: string;
  readonly arch: string;
  readonly version: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly tarBytes: number;
  readonly tarSha256: string;
}

const described = async (folder: string, name: string): Promise<AgentArchive[]> => {
  const text = await readFile(join(folder, name), 'utf8');
  const archive = JSON.parse(text) as Omit<AgentArchive, 'file'>;
  return archive.version === build.version
    ? [{ ...archive, file: join(folder, name.replace(/\.json$/, '.tar.gz')) }]
    : [];
};

/**
 * Archives that agents are installed from. The one for the architecture of this machine is made when it is first
 * needed, by a process of its own; others are there if the operator put them into the folder.
 */
export const createAgentArchives = (folder: string | undefined, log: Logger) => {
  let making: Promise<unknown> | undefined;
  const make = async (into: string) => {
    const options = ['--disable-warning=ExperimentalWarning', packer, 'archive', '--out', into];
    await promisify(execFile)(process.execPath, options).catch((error: unknown) => {
      // The next request tries again.
      making = undefined;
      log.error({ err: error }, 'could not make the archive that agents are installed from');
    });
  };
  const prepare = async () => {
    if (folder === undefined) return;
    making ??= make(folder);
    await making;
  };
  return {
    prepare,
    /** All that can be installed now. */
    list: async (): Promise<AgentArchive[]> => {
      if (folder === undefined) return [];
      await prepare();
      const names = await readdir(folder).catch(() => []);
      const found = await Promise.all(
        names.filter((name) => name.endsWith('.json')).map((name) => described(folder, name)),
      );
      return found.flat();
    },
  };
};
