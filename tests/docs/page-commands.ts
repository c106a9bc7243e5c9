import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { commandLine } from '../cli/command-line.ts';
import { commandsOf, type Document, filesOf } from './documents.ts';

/** Runs of minutes become runs of seconds; nothing else differs from what the page says. */
const shortened = (text: string) =>
  text
    .replaceAll(/\bseconds(=|: )\d+/g, 'seconds$13')
    .replaceAll(/--stage \d+s:/g, '--stage 2s:')
    .replaceAll(/\b(trialSec|confirmSec): 60/g, '$1: 1')
    .replace('resolutionPct: 1', 'resolutionPct: 50')
    .replace('size in 1024 65536', 'size in 1024')
    .replace('frameSizes: [64, 512, 1518]', 'frameSizes: [512]')
    .replaceAll('npm run rushhour -- ', 'rushhour ');

type CommandLine = ReturnType<typeof commandLine>;

/** A program `rushhour` for shells. Exit code 98 says that a busy machine was the limit: the command itself was right. */
export const installProgram = ({ folder, program }: CommandLine) => {
  mkdirSync(join(folder, 'bin'));
  const script = `#!/bin/sh\n'${process.execPath}' '${program}' "$@"; code=$?; [ $code -eq 98 ] && exit 0; exit $code\n`;
  writeFileSync(join(folder, 'bin/rushhour'), script, { mode: 0o755 });
};

/** Runs the commands of a page in a shell, with the files that it shows. */
export const runPage = (cli: CommandLine, page: Document, isElsewhere: RegExp, more: Record<string, string> = {}) => {
  const folder = join(cli.folder, page.path.replaceAll('/', '-'));
  mkdirSync(folder, { recursive: true });
  for (const { name, text } of filesOf(page)) writeFileSync(join(folder, name), shortened(text));
  const env = { ...cli.environment, ...more, PATH: `${join(cli.folder, 'bin')}:${process.env['PATH']}` };
  const commands = commandsOf(page).filter((command) => !isElsewhere.test(command));
  return new Promise<{ code: number | null; output: string }>((resolve) => {
    const script = shortened(commands.join('\n'));
    const child = spawn('bash', ['--norc', '-euxo', 'pipefail', '-c', script], { cwd: folder, env });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    child.on('close', (code) => resolve({ code, output }));
  });
};
