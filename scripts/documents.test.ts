import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packages } from './rooms.ts';
import { root } from './run.ts';

const architecture = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');

/** Paths in backticks that begin with a folder of the repository. */
const pathsIn = (text: string) =>
  [...text.matchAll(/`((?:packages|scripts|tests|bench|docs)\/[^`\s]*)`/g)].flatMap(([, path]) => path ?? []);
const missing = (paths: readonly string[]) => paths.filter((path) => !existsSync(join(root, path)));

it('every path in ARCHITECTURE.md exists', () => {
  expect(pathsIn(architecture).length).toBeGreaterThan(40);
  expect(missing(pathsIn(architecture))).toEqual([]);
});

it('a path that does not exist is found', () => {
  expect(missing(pathsIn('see `packages/nowhere/src/x.ts`'))).toEqual(['packages/nowhere/src/x.ts']);
});

it('every path in the other documents exists', () => {
  const documents = globSync('{README,CONTRIBUTING}.md', { cwd: root }).concat(globSync('docs/**/*.md', { cwd: root }));
  const text = documents.map((path) => readFileSync(join(root, path), 'utf8')).join('\n');
  expect(missing(pathsIn(text).filter((path) => !/[<…]/.test(path)))).toEqual([]);
});

it('the table of packages is that of scripts/rooms.ts', () => {
  const rows = architecture.matchAll(/^\| ([a-z]+) \| ([\w, –]+) \| /gm);
  const shown = [...rows].map(([, name, imports]) => [name, imports === '–' ? [] : imports?.split(', ')]);
  expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(packages.map(({ name, imports }) => [name, imports])));
});

it('every folder of the controller and the agent is in its table', () => {
  const folders = globSync('packages/{controller,agent}/src/*/', { cwd: root }).map((path) => path.split('/')[3]);
  const internal = ['testing', 'log', 'probe', 'process'];
  expect(folders.filter((name) => !internal.includes(name ?? '') && !architecture.includes(`\`${name}/\``))).toEqual(
    [],
  );
});
