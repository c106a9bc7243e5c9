#!/usr/bin/env node
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Client, RequestFailed } from '@rushhour/client';
import { api, type Collection } from '@rushhour/contract';
import { optionsOf, requestOf, UsageError } from './arguments.ts';
import { helpFor, overview } from './help.ts';
import { openSession, withRefresh } from './session.ts';

const collections = Object.entries(api as Record<string, Collection>);
const print = (value: unknown) =>
  process.stdout.write(`${typeof value === 'string' ? value : JSON.stringify(value, null, 2)}\n`);

/** Controller and agent run as separate processes. */
const runProgram = (file: string, args: readonly string[]) => {
  const path = fileURLToPath(new URL(`../../${file}`, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  child.on('exit', (code) => process.exit(code ?? 1));
};

const login = async (options: Map<string, string>) => {
  const session = openSession(options.get('url'));
  const email = options.get('email');
  if (email === undefined) throw new UsageError('login needs --email');
  const password = process.env['RUSHHOUR_PASSWORD'] ?? (await text(process.stdin)).replace(/\r?\n$/, '');
  const { data } = await session.client.auth.login({ body: { email, password } });
  session.save();
  print(
    `signed in as ${data.user.realName}${data.isRequiredToSetPassword ? '; now set a password: rushhour auth password --currentPassword … --newPassword …' : ''}`,
  );
};

const reopenMs = 1000;

/** Follows the notifications. The controller ends a stream with its access token: it is refreshed and reopened. */
const watch = async (url: string | undefined) => {
  let lastId: string | undefined;
  for (;;) {
    await withRefresh(openSession(url), async (client) => {
      const headers = lastId === undefined ? {} : { 'last-event-id': lastId };
      for await (const event of await client.notifications.stream({}, { headers })) {
        lastId = event.id ?? lastId;
        print(JSON.stringify(event));
      }
    });
    await sleep(reopenMs);
  }
};

const call = async (tag: string, operation: string | undefined, args: readonly string[]) => {
  const [name, collection] = collections.find(([, { tag: known }]) => known === tag) ?? [];
  if (name === undefined || collection === undefined)
    throw new UsageError(`there is no collection ${tag}\n${overview()}`);
  const route = operation === undefined ? undefined : collection.routes[operation];
  if (operation === undefined || route === undefined) return print(helpFor(collection));
  const options = optionsOf(args);
  const url = options.find(([option]) => option === 'url')?.[1];
  const request = requestOf(
    route,
    options.filter(([option]) => option !== 'url'),
  );
  const session = openSession(url);
  const reply = await withRefresh(session, (client: Client) => {
    const operations = client[name as keyof Client] as unknown as Record<string, (request: object) => Promise<unknown>>;
    return (operations[operation] as (request: object) => Promise<unknown>)(request);
  });
  session.save();
  if (reply instanceof Response) process.stdout.write(Buffer.from(await reply.arrayBuffer()));
  else if (reply !== undefined) print(reply);
};

const main = async ([command, ...rest]: readonly string[]) => {
  if (command === undefined || command === 'help' || command === '--help') return print(overview());
  if (command === 'start') return runProgram('controller/src/main.ts', rest);
  if (command === 'agent') return runProgram('agent/src/main.ts', rest);
  if (command === 'audit') return runProgram('controller/src/audit-command.ts', rest);
  if (command === 'login') return login(new Map(optionsOf(rest)));
  if (command === 'watch') return watch(new Map(optionsOf(rest)).get('url'));
  return call(command, rest[0], rest.slice(1));
};

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError) && !(error instanceof RequestFailed)) throw error;
  process.stderr.write(`${error.message}\n`);
  if (error instanceof RequestFailed)
    for (const { path, message } of error.data.issues ?? []) process.stderr.write(`  ${path}: ${message}\n`);
  process.exitCode = error instanceof UsageError ? 64 : 1;
}
