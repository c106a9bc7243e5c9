import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from './run.ts';

interface Entry {
  readonly integrity?: string;
  readonly link?: boolean;
  readonly resolved?: string;
  readonly os?: string | readonly string[];
  readonly cpu?: string | readonly string[];
}

const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  packages: Readonly<Record<string, Entry>>;
};
const installed = Object.entries(packages).filter(([path, { link }]) => path.includes('node_modules/') && !link);
const isOneOf = (given: Entry['os'], wanted: readonly string[]) =>
  given === undefined || [given].flat().some((one) => wanted.includes(one as string));

it('what is installed on Linux is pinned by its digest, and names no registry', () => {
  const ours = installed.filter(([, { os, cpu }]) => isOneOf(os, ['linux']) && isOneOf(cpu, ['x64', 'arm64']));
  expect(ours.length).toBeGreaterThan(300);
  expect(ours.filter(([, { integrity }]) => integrity === undefined).map(([path]) => path)).toEqual([]);
  expect(installed.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).toEqual([]);
});
