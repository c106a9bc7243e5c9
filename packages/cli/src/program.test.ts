import { api, type Collection } from '@rushhour/contract';
import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { requestOf } from './call/request-of.ts';
import { programOf } from './program.ts';
import { digestOf } from './routes/route-digest.ts';

const collections: Readonly<Record<string, Collection>> = api;
const digest = digestOf(collections);
const operations = Object.entries(collections).flatMap(([name, { tag, routes }]) =>
  Object.entries(routes).map(([operation, route]) => ({ name, tag, operation, route })),
);
const membersOf = (schema: unknown) =>
  Object.entries((schema as { properties?: Record<string, { readOnly?: boolean }> } | undefined)?.properties ?? {})
    .filter(([, { readOnly }]) => readOnly !== true)
    .map(([name]) => name);

it('every operation has help with all its members, its permission and an example', () => {
  expect(operations.length).toBe(226);
  for (const { tag, operation, route } of operations) {
    const root = programOf(digest, [tag, operation]);
    const command = root.commands.find((one) => one.name() === tag)?.commands.find((one) => one.name() === operation);
    let help = '';
    command?.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
    const names = [route.params, route.query, route.body, route.upload].flatMap(membersOf);
    for (const name of names) expect(help).toContain(`--${name} `);
    expect(help).toContain(`rushhour ${tag} ${operation}`);
    expect(help).toContain(route.summary.split(' ')[0]);
    expect(help).toMatch(/needs the permission|may call it|takes a key/);
  }
});

it('every other command has an example in its help', () => {
  const without: string[] = [];
  const look = (command: Command, words: string) => {
    let help = '';
    command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
    if (command.commands.length === 0 && !/\nExamples?:\n +\S/.test(help)) without.push(words);
    for (const child of command.commands) look(child as Command, `${words} ${child.name()}`);
  };
  const tags = Object.values(collections).map(({ tag }) => tag);
  for (const command of programOf(digest, []).commands) {
    if (!tags.includes(command.name()) && command.name() !== 'complete') look(command as Command, command.name());
  }
  expect(without).toEqual([]);
});

it('no member has the name of an option that every command has', () => {
  const common = ['url', 'token', 'ca-cert', 'output', 'help', 'json', 'file', 'save'];
  for (const { route } of operations) {
    const names = [route.params, route.query, route.body, route.upload].flatMap(membersOf);
    expect(names.filter((name) => common.includes(name))).toEqual([]);
  }
});

const parse = (tag: string, operation: string, options: Record<string, string[]>, json?: string) => {
  const route = digest[tag]?.routes[operation];
  if (route === undefined) throw new Error('no such route');
  return requestOf(route, { options, ...(json && { json }) });
};

it('assigns every option to path, query or body, in its type', async () => {
  expect(await parse('groups', 'get', { id: ['7'] })).toEqual({ params: { id: 7 }, query: {} });
  expect(await parse('groups', 'list', { count: ['10'] })).toEqual({ params: {}, query: { count: 10 } });
  expect(await parse('projects', 'create', { name: ['12'], description: ['x'] })).toEqual({
    params: {},
    query: {},
    body: { name: '12', description: 'x' },
  });
  for (const texts of [['[1,2]'], ['1,2'], ['1', '2']]) {
    expect(await parse('users', 'block', { array: texts })).toMatchObject({ body: { array: [1, 2] } });
  }
  expect(await parse('tasks', 'list', { full: ['true'] })).toMatchObject({ query: { full: true } });
  expect(await parse('groups', 'create', { permissions: ['[{"value":41}]'] }, '{"name":"a"}')).toMatchObject({
    body: { name: 'a', permissions: [{ value: 41 }] },
  });
});

it('says which value is malformed', async () => {
  await expect(parse('groups', 'get', { id: ['x'] })).rejects.toThrow('--id takes a number, not "x"');
  await expect(parse('tasks', 'list', { full: ['maybe'] })).rejects.toThrow('--full takes true or false');
  await expect(parse('groups', 'create', {}, '{')).rejects.toThrow('--json:');
  await expect(parse('groups', 'create', {}, '@/nowhere.yaml')).rejects.toThrow('/nowhere.yaml');
});
