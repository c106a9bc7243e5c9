import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { collectionCommand } from './call/operation-command.ts';
import { watchCommand } from './call/watch-command.ts';
import { commandExamples } from './command-examples.ts';
import { completeCommand, completionCommand } from './completion.ts';
import { loginCommand } from './connection/login-command.ts';
import { tokenCommand } from './connection/token-command.ts';
import { exitCodeHelp } from './exit-codes.ts';
import { failureOf } from './failures.ts';
import { localCommands } from './local/programs.ts';
import { loadDigest } from './routes/cached-digest.ts';
import type { Digest } from './routes/route-digest.ts';
import { runCommand } from './run/run-command.ts';
import { applyCommand, exportCommand } from './task-files/task-file-commands.ts';

const versionOf = () =>
  (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }).version;

/** Errors end as exceptions with their own exit codes; help is colourless and as wide as the terminal. */
const prepare = (command: Command, words: readonly string[] = []) => {
  command.exitOverride().showHelpAfterError('(--help shows what there is)').helpCommand(false);
  const examples = commandExamples[words.join(' ')];
  if (examples !== undefined) command.addHelpText('after', `\nExamples:\n  ${examples.join('\n  ')}`);
  for (const child of command.commands) prepare(child as Command, [...words, child.name()]);
};

/** Only the named collection gets its operations: building all of them takes longer than a call. */
const addCollections = (root: Command, digest: Digest, words: readonly string[]) => {
  root.commandsGroup('Collections of the API:');
  for (const [name, { tag, title, routes }] of Object.entries(digest)) {
    const isNamed = words.includes(tag);
    const command = isNamed
      ? collectionCommand(digest, name, words)
      : new Command(tag).description(`${title}: ${Object.keys(routes).length} operations`);
    root.addCommand(command);
  }
};

export const programOf = (digest: Digest, words: readonly string[]): Command => {
  const root = new Command('rushhour')
    .description('Controller for network traffic testing. Every operation of the API is a command.')
    .version(`rushhour ${versionOf()}`, '-V, --version', 'print the version')
    .addHelpText('after', `\n${exitCodeHelp}`);
  root.commandsGroup('Commands:');
  const remote = [runCommand, applyCommand, exportCommand, loginCommand, tokenCommand, watchCommand];
  for (const command of remote) root.addCommand(command(digest));
  root.commandsGroup('On this machine:');
  for (const command of [...localCommands(), completionCommand()]) root.addCommand(command);
  addCollections(root, digest, words);
  root.addCommand(completeCommand(root), { hidden: true });
  prepare(root);
  return root;
};

/** The reader of the output has gone, as with `| head`: that is an interrupt, so that `run` stops its run. */
const endWithReader = () =>
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.kill(process.pid, 'SIGINT');
  });

export const main = async (words: readonly string[]) => {
  endWithReader();
  try {
    const digest = await loadDigest();
    const isAlone =
      words.length === 0 || (words.length === 1 && Object.values(digest).some(({ tag }) => tag === words[0]));
    await programOf(digest, words).parseAsync([...words, ...(isAlone ? ['--help'] : [])], { from: 'user' });
  } catch (error) {
    const { text, code } = failureOf(error);
    if (text !== '') process.stderr.write(`${text}\n`);
    process.exitCode = code;
  }
};
