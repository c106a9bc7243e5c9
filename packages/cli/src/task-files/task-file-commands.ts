import { Command } from 'commander';
import { addConnectionOptions, connectionOf } from '../common-options.ts';
import { connect, refreshingClient } from '../connection/connection.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Digest } from '../routes/route-digest.ts';

/** `apply`: tasks as the files say. */
export const applyCommand = (digest: Digest): Command => {
  const command = new Command('apply')
    .description('create or change tasks as files say, and show the difference')
    .argument('<files...>', 'task files in YAML or JSON')
    .option('--diff', 'only show the difference; exit code 1 when there is one')
    .addHelpText('after', '\nThe comment of a file identifies its task. docs/cli.md describes task files.');
  addConnectionOptions(command);
  return command.action(async (files: string[], { diff = false }: { diff?: boolean }) => {
    const client = refreshingClient(await connect(digest, connectionOf(command)));
    // The contract is needed to find references, and is loaded only here.
    const { applyFiles } = await import('./apply-task.ts');
    if ((await applyFiles(client, files, diff)) && diff) process.exitCode = exitCodes.refused;
  });
};

/** `export`: stored tasks as files. */
export const exportCommand = (digest: Digest): Command => {
  const command = new Command('export')
    .description('print tasks as YAML with names instead of ids, to be kept in a repository')
    .argument('<ids...>', 'ids of tasks')
    .option('--to <folder>', 'a file for each task in this folder');
  addConnectionOptions(command);
  return command.action(async (ids: string[], { to }: { to?: string }) => {
    const client = refreshingClient(await connect(digest, connectionOf(command)));
    const { exportTasks } = await import('./apply-task.ts');
    await exportTasks(client, ids.map(Number), to);
  });
};
