import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { plugins } from './index.ts';
import { findMetric } from './metrics.ts';

const engines = join(import.meta.dirname, '../../../../agent/src/engines');

const sourceOf = (engine: string) =>
  readdirSync(join(engines, engine))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => readFileSync(join(engines, engine, file), 'utf8'))
    .join('\n');

/** Metric names in the sources; a computed last part is replaced by `x`. */
const writtenBy = (engine: string) => {
  const calls = sourceOf(engine).matchAll(
    new RegExp(`['\`](${engine}\\.[A-Za-z][\\w.]*(?:\\$\\{[^}]*\\}[^'\`]*)?)['\`]`, 'g'),
  );
  return [...new Set([...calls].map(([, name = '']) => name.replace(/\$\{.*$/, 'x')))];
};

const built = readdirSync(engines, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  // Not an engine: the code shared by all security engines.
  .filter((name) => name !== 'attack');

it('every engine of the agent belongs to a plugin', () => {
  expect(built.length).toBeGreaterThanOrEqual(6);
  expect(built.filter((engine) => !plugins.some((plugin) => plugin.engines.includes(engine)))).toEqual([]);
});

it.each(built)('every metric that the engine %s writes is described, and no other', (engine) => {
  const plugin = plugins.find(({ engines: ids }) => ids.includes(engine));
  if (plugin === undefined) throw new Error(`no plugin runs on ${engine}`);
  const written = writtenBy(engine);
  expect(written.length).toBeGreaterThan(4);
  expect(written.filter((name) => findMetric(plugin, name) === undefined)).toEqual([]);
  const described = plugin.metrics.map(({ name }) => name).filter((name) => name.startsWith(`${engine}.`));
  const byEveryEngine = [`${engine}.errors.*`, `${engine}.targetLoad`, `${engine}.begun`, `${engine}.dropped`];
  const unwritten = described.filter(
    (name) => !byEveryEngine.includes(name) && !written.some((found) => findMetric(plugin, found)?.name === name),
  );
  expect(unwritten).toEqual([]);
});

it('every metric of security tests is described by each of their plugins', () => {
  const source = sourceOf('attack');
  const counted = [...source.matchAll(/count\(['`](\w+(?:\.\w+)?)(?:\.\$\{[^}]*\})?['`]\)/g)].map(
    ([, name = '']) => name,
  );
  const named = [...source.matchAll(/`\$\{engine\}\.(\w+)`/g)].map(([, name = '']) => name);
  const written = [...new Set([...counted, ...named])];
  expect(written.length).toBeGreaterThan(6);
  for (const engine of ['waf', 'cve-replay', 'malware-transfer', 'compromised-host', 'fuzzing']) {
    const plugin = plugins.find(({ engines: ids }) => ids.includes(engine));
    const names = written.map((name) => `${engine}.${name === 'module' ? 'module.x' : name}`);
    expect(names.filter((name) => plugin === undefined || findMetric(plugin, name) === undefined)).toEqual([]);
  }
});
