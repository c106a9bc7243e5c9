import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { api, type Collection } from '@rushhour/contract';
import { expect, it } from 'vitest';
import { programOf } from '../../packages/cli/src/program.ts';
import { digestOf } from '../../packages/cli/src/routes/route-digest.ts';
import { commandsOf, documents, root } from './documents.ts';

/** Commands that `how-to.test.ts` and `quick-start.test.ts` do not run themselves, and the test that does. */
const elsewhere: readonly [command: RegExp, test: string, contains: string][] = [
  [/^npm ci && npm (start|test)$/, 'tests/process/process.test.ts', 'prints credentials once'],
  [/^RUSHHOUR_HOST=.*npm start$/, 'tests/process/process.test.ts', 'HTTPS uses the configured certificate'],
  [/^curl .*install\.sh \| sh/, 'tests/deploy/agent-install.test.ts', 'the printed command works with curl'],
  [/^npm run agent:(key|pack) /, 'packages/agent/src/upgrade/upgrade.test.ts', 'pack-agent.ts'],
  [/^npm run agent:archive /, 'tests/deploy/agent-install.test.ts', "'archive'"],
  [/^useradd /, 'tests/deploy/agent-install.test.ts', 'useradd'],
  [/^npm run release /, 'tests/deploy/release.test.ts', 'scripts/release.ts'],
  [/^rushhour (backup|restore) /, 'tests/process/backup.test.ts', 'backup'],
  [/^ln -s \/opt\/rushhour/, 'tests/deploy/release.test.ts', 'ln -s /opt/rushhour'],
  [/^rushhour audit verify$/, 'tests/cli/calls.test.ts', '`audit verify` reads'],
  [
    /^(npm run rushhour -- |rushhour )(login|watch|tasks|files|groups) ?/,
    'tests/cli/calls.test.ts',
    'streams print events',
  ],
  [/^rushhour token (create|list|revoke)/, 'tests/cli/run.test.ts', "'token', 'create'"],
  [/^export RUSHHOUR_URL=/, 'tests/cli/run.test.ts', 'RUSHHOUR_TOKEN'],
  [/^(npm run rushhour -- |rushhour )run /, 'tests/cli/run.test.ts', 'runs a template to its end'],
  [/^(export (DATABASE_URL|S3_URL|RUSHHOUR_SECRET_KEY)=|npm start$)/, 'tests/process/process.test.ts', 'DATABASE_URL'],
  // A program of others; the protocol and the header are what the test uses.
  [/^claude mcp add /, 'packages/controller/src/http/mcp/mcp.behaviour.test.ts', 'StreamableHTTP'],
];

/** An operation of the contract: each of them is a command, which the tests of the command line walk through. */
const isOperation = (command: string) => {
  const [, tag, operation = ''] = /^(?:npm run rushhour -- |rushhour )([\w-]+) (\w+)/.exec(command) ?? [];
  const collections = Object.values(api) as unknown as Collection[];
  return collections.some((collection) => collection.tag === tag && Object.hasOwn(collection.routes, operation));
};

const scripts = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts as Record<string, string>;
/** Benches, fuzzing and kills: their short forms are tests. */
const isScript = (command: string) => {
  const name = /^npm run ((?:bench:\w+)|fuzz|crash|check|demo)\b/.exec(command)?.[1];
  return name !== undefined && Object.hasOwn(scripts, name);
};

const isRunHere = (path: string) =>
  (path.startsWith('docs/how-to/') && !path.endsWith('postgresql-s3.md')) || path === 'docs/quick-start.md';

it('every command of the documents is run by a test', () => {
  const commands = documents
    .filter(({ path }) => !isRunHere(path))
    .flatMap((document) => commandsOf(document).map((command) => ({ path: document.path, command })));
  expect(commands.length).toBeGreaterThan(30);
  const isTested = (command: string) =>
    isOperation(command) || isScript(command) || elsewhere.some(([pattern]) => pattern.test(command));
  const untested = commands.filter(({ command }) => !isTested(command));
  expect(untested).toEqual([]);
});

it('the tests that run the others exist', () => {
  const missing = elsewhere.filter(([, test, contains]) => {
    const file = join(root, test);
    return !existsSync(file) || !readFileSync(file, 'utf8').includes(contains);
  });
  expect(missing.map(([command, test]) => [String(command), test])).toEqual([]);
});

/** The words of a command line before its first pipe or redirection, without quotes. */
const wordsOf = (command: string) => {
  const [own = ''] = command.split(/ (?:\|\|?|>|&&) /);
  return (own.match(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g) ?? []).map((word) => word.replaceAll(/['"]/g, ''));
};

type Command = ReturnType<typeof programOf>;

/** Parses as the program does, without doing anything. */
const withoutActions = (command: Command): Command => {
  command.configureOutput({ writeOut: () => {}, writeErr: () => {}, outputError: () => {} });
  if (command.commands.length === 0) command.action(() => {});
  for (const child of command.commands) withoutActions(child as Command);
  return command;
};

const digest = digestOf(api as unknown as Record<string, Collection>);
const isCall = /^(npm run rushhour -- |rushhour )/;
const problemOf = async (command: string) => {
  const words = wordsOf(command.replace(isCall, ''));
  return withoutActions(programOf(digest, words))
    .parseAsync(words, { from: 'user' })
    .then(
      () => undefined,
      ({ code, message }: { code: string; message: string }) =>
        code === 'commander.helpDisplayed' ? undefined : message,
    );
};

it('the command line knows every command and option of the documents', async () => {
  expect(await problemOf('rushhour tasks lists')).toContain('unknown command');
  expect(await problemOf('rushhour tasks list --colour red')).toContain('unknown option');
  const calls = documents.flatMap((document) => commandsOf(document)).filter((line) => isCall.test(line));
  expect(calls.length).toBeGreaterThan(50);
  const problems: [string, string | undefined][] = [];
  for (const call of calls) {
    const problem = await problemOf(call);
    if (problem !== undefined) problems.push([call, problem]);
  }
  expect(problems).toEqual([]);
});
