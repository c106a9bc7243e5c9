import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { runEvents } from './en-run-events.ts';
import { labels } from './labels.ts';

const packages = new URL('../../../', import.meta.url);
const folders = ['agent/src/runs', 'agent/src/control', 'controller/src/runs'];
/** Where an event of a run is written down. */
const written = [
  /\b(?:kind|type): '(\w+)',\s*(?:severity|agentID|source: '(?:agent|controller|user)'|message)\b/g,
  /\beventOf\('(\w+)'/g,
  /\bcontext\.event\('([\w-]+)'/g,
];

const typesIn = (source: string): string[] =>
  written.flatMap((pattern) => [...source.matchAll(pattern)].map(([, type = '']) => type));
const unlabelled = (types: readonly string[]) =>
  types.filter((type) => runEvents[type] === undefined && !labels.has(type));

it('finds an event without a label', () => {
  const source = "events: [{ type: 'newEvent', severity: 'info' }]; context.event('bgp', router, 'up');";
  expect(unlabelled(typesIn(source))).toEqual(['newEvent']);
});

it('labels every event of a run', () => {
  const files = folders.flatMap((folder) =>
    readdirSync(new URL(folder, packages), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
      .map((path) => new URL(`${folder}/${path}`, packages)),
  );
  const types = [...new Set(files.flatMap((file) => typesIn(readFileSync(file, 'utf8'))))];
  expect(types.length).toBeGreaterThan(25);
  expect(unlabelled(types)).toEqual([]);
});
