import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { plugins } from './index.ts';
import { findMetric } from './metrics.ts';

const agent = join(import.meta.dirname, '../../../../agent/src');
const engines = join(agent, 'engines');

const sourceOf = (engine: string, folder = engines) =>
  readdirSync(join(folder, engine), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => readFileSync(join(folder, engine, file), 'utf8'))
    .join('\n');

/** Metric names in a source; a computed last part is replaced by `x`. */
const metricsIn = (source: string, prefix: string) => {
  const calls = source.matchAll(new RegExp(`['\`](${prefix}\\.[A-Za-z][\\w.]*(?:\\$\\{[^}]*\\}[^'\`]*)?)['\`]`, 'g'));
  return [...new Set([...calls].map(([, name = '']) => name.replace(/\$\{.*$/, 'x')))];
};
const writtenBy = (engine: string) => metricsIn(sourceOf(engine), engine);

/** Those that engines with QUIC have from the code they share. */
const sharedOfQuic = [
  ...readFileSync(join(agent, 'net/quic/quic-meters.ts'), 'utf8').matchAll(/\$\{engine\}\.(\w+)/g),
].map(([, name = '']) => name);

const built = readdirSync(engines, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  // Not engines with metrics of their own: the code shared by all security engines, and the planes.
  .filter((name) => name !== 'attack' && !name.endsWith('-plane'));
const planes = readdirSync(engines).filter((name) => name.endsWith('-plane'));

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
  const byEveryEngine = [
    'errors.*',
    'targetLoad',
    'begun',
    'dropped',
    'alerts.sent.*',
    'alerts.received.*',
    'earlyData.*',
    ...sharedOfQuic,
  ].map((name) => `${engine}.${name}`);
  const unwritten = described.filter(
    (name) => !byEveryEngine.includes(name) && !written.some((found) => findMetric(plugin, found)?.name === name),
  );
  expect(unwritten).toEqual([]);
});

it.each(planes)('every metric that the %s writes is described', (folder) => {
  const prefix = folder.replace('-plane', '');
  const plugin = plugins.find(({ name }) => name === `plane.${prefix}`);
  if (plugin === undefined) throw new Error(`there is no plugin plane.${prefix}`);
  const written = metricsIn(`${sourceOf(folder)}\n${sourceOf(prefix, agent)}`, prefix);
  expect(written.length).toBeGreaterThan(4);
  expect(written.filter((name) => findMetric(plugin, name) === undefined)).toEqual([]);
});

it('every metric of emulated routers is described', () => {
  const written = [...sourceOf('control', agent).matchAll(/['`](control\.\w+(?:\.\w+)?)['`]/g)].map(
    ([, name = '']) => name,
  );
  const plugin = plugins.find(({ name }) => name === 'plane.control');
  expect(written.length).toBeGreaterThan(3);
  expect(written.filter((name) => plugin === undefined || findMetric(plugin, name) === undefined)).toEqual([]);
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
