import { Ajv } from 'ajv';
import { expect, it } from 'vitest';
import { EntryValues } from '../entry-values.ts';
import { hazardOf } from './entries.ts';
import { findPlugin, plugins } from './index.ts';
import { toJsonSchema } from './json-schema.ts';
import { referencesIn } from './members/references.ts';
import { findMetric, metricsOf } from './metrics.ts';
import { taskReferences } from './task-references.ts';

const ajv = new Ajv({ allErrors: true, strict: false, useDefaults: true });
const http = findPlugin(1);
if (http === undefined) throw new Error('there is no plugin 1');

it('the catalogue has every plugin of the API exactly once', () => {
  expect(plugins.map(({ id }) => id)).toEqual([...Array.from({ length: 21 }, (_, i) => i + 1), 101, 102]);
  expect(new Set(plugins.map(({ name }) => name)).size).toBe(plugins.length);
});

it('some plugin takes each of the 95 members of values with its declared type', () => {
  const members = Object.entries(EntryValues.properties as Record<string, { type?: string }>);
  const taken = new Map<string, Set<string | undefined>>();
  for (const { schema } of plugins) {
    for (const [name, { type }] of Object.entries(schema.properties as Record<string, { type?: string }>)) {
      taken.set(name, (taken.get(name) ?? new Set()).add(type));
    }
  }
  expect(members).toHaveLength(95);
  expect([...taken.keys()].sort()).toEqual(members.map(([name]) => name).sort());
  for (const [name, { type }] of members) expect([name, ...(taken.get(name) ?? [])]).toEqual([name, type]);
});

it.each(plugins)('the examples of $name fit its schema and the declared types of the document', (plugin) => {
  const check = ajv.compile(plugin.schema);
  const checkDeclared = ajv.compile(EntryValues);
  expect(plugin.examples.length).toBeGreaterThan(0);
  for (const example of plugin.examples) {
    const values = structuredClone(example);
    check(values);
    expect(check.errors ?? []).toEqual([]);
    checkDeclared(values);
    expect(checkDeclared.errors ?? []).toEqual([]);
  }
});

it('applying a schema fills in every default, nested ones included', () => {
  const values: Record<string, unknown> = { requestsPerSecond: 5, httpParams: { path: '/x' } };
  expect(ajv.compile(http.schema)(values)).toBe(true);
  expect(values).toMatchObject({
    isServer: false,
    rotationMode: 'roundRobin',
    cpuCores: 1,
    duration: { mode: 'time', seconds: 10, rampUpSec: 0 },
    httpParams: { method: 'GET', path: '/x', version: '1.1', connections: 50, expect: { status: [] } },
    keepAlive: { enabled: true },
  });
  expect(values).not.toHaveProperty('tlsParams');
});

it('the published schema requires no member that has a default', () => {
  const published = toJsonSchema(http.schema);
  expect(published).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' });
  expect(published).not.toHaveProperty('required');
  expect(toJsonSchema(findPlugin(8)?.schema as never)).toMatchObject({
    required: ['pcapReplayParams'],
    properties: { pcapReplayParams: { required: ['fileId'] } },
  });
});

it('metric names are unique', () => {
  for (const plugin of plugins) {
    const names = metricsOf(plugin).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  }
});

it('findMetric finds metrics by name, members of a family included', () => {
  expect(findMetric(http, 'http.latency')?.type).toBe('histogram');
  expect(findMetric(http, 'http.status.200')?.name).toBe('http.status.*');
  expect(findMetric(http, 'txBps')?.unit).toBe('bit/s');
  expect(findMetric(http, 'http.status.')).toBeUndefined();
  expect(findMetric(http, 'tcp.attempted')).toBeUndefined();
});

it('referencesIn finds every id that a schema marks', () => {
  const values = {
    sources: [{ agent: { id: 3, name: 'x' }, network: { id: 8 }, interfaceId: 5 }],
    httpParams: { body: { type: 'file', fileId: 4 } },
    tlsParams: { certificateID: 6 },
  };
  expect(referencesIn(http.schema, values, '/values').map(({ kind, id, path }) => [kind, id, path])).toEqual([
    ['agent', 3, '/values/sources/0/agent/id'],
    ['network', 8, '/values/sources/0/network/id'],
    ['interface', 5, '/values/sources/0/interfaceId'],
    ['file', 4, '/values/httpParams/body/fileId'],
    ['certificate', 6, '/values/tlsParams/certificateID'],
  ]);
  const fuzzing = findPlugin(18);
  const baseline = (kind: string) => ({ fuzzingParams: { protocol: 'tcp', baseline: { kind, id: 9 } } });
  const kinds = ['pcap', 'application', 'request'].map((kind) =>
    referencesIn(fuzzing?.schema as never, baseline(kind)).map((found) => found.kind),
  );
  expect(kinds).toEqual([['file'], ['application'], []]);
  const ipsec = findPlugin(12);
  expect(
    referencesIn(ipsec?.schema as never, { ipsecCert: '12', ipsecCa: '-----BEGIN CERTIFICATE-----' }),
  ).toMatchObject([{ kind: 'certificate', id: 12, path: '/ipsecCert' }]);
});

it('taskReferences covers entries, suites and planes', () => {
  const found = taskReferences({
    configuration: [
      {
        plugin: { id: 21 },
        subplugins: { subplugins: [{ plugin: { id: 1 }, values: { sources: [{ agent: { id: 2 } }] } }] },
      },
    ],
    accessPlane: [{ agent: { id: 3 }, interfaces: [7], dhcp: [10] }],
    controlPlane: [{ agent: { id: 4 }, interfaces: [[8], [9]], 'igmp-querier': [11] }],
  });
  expect(found.map(({ kind, id, path, protocol }) => [kind, id, path, protocol])).toEqual([
    ['agent', 2, '/configuration/0/subplugins/subplugins/0/values/sources/0/agent/id', undefined],
    ['agent', 3, '/accessPlane/0/agent/id', undefined],
    ['interface', 7, '/accessPlane/0/interfaces/0', undefined],
    ['dictionary', 10, '/accessPlane/0/dhcp/0', 'dhcp'],
    ['agent', 4, '/controlPlane/0/agent/id', undefined],
    ['interface', 8, '/controlPlane/0/interfaces/0/0', undefined],
    ['interface', 9, '/controlPlane/0/interfaces/1/0', undefined],
    ['dictionary', 11, '/controlPlane/0/igmp-querier/0', 'igmp-querier'],
  ]);
});

it('the hazard of a task is the highest of its parts', () => {
  const entry = (id: number) => ({ plugin: { id } });
  expect(hazardOf({ configuration: [entry(1)] })).toBe(0);
  expect(hazardOf({ configuration: [entry(1), entry(7)] })).toBe(2);
  expect(hazardOf({ configuration: [{ ...entry(21), subplugins: { subplugins: [entry(1), entry(18)] } }] })).toBe(3);
  expect(hazardOf({ configuration: [entry(1)], controlPlane: [{}] })).toBe(1);
});
