import { api, protocolNames } from '@rushhour/contract';
import { dictionaryTypes, issuesOfDictionary, selections } from '@rushhour/pools';
import { describe, expect, it } from 'vitest';
import { allBuiltin, contentOf } from '../ensure-builtin.ts';

const enumOf = (member: 'type' | 'selection') =>
  (api.dictionaries.routes.list.query.properties[member] as unknown as { enum: string[] }).enum;

describe('built-in dictionaries', () => {
  it.each(allBuiltin)('hold sound rows: $name', (builtin) => {
    const content = contentOf(builtin);
    expect(issuesOfDictionary(content)).toEqual([]);
    const rows = content.type === 'list' ? content.values : content.rows.map((row) => row.join('\0'));
    expect(rows.length).toBeGreaterThan(40);
    expect(new Set(rows).size).toBe(rows.length);
    expect(rows.every((row) => row.isWellFormed())).toBe(true);
  });

  it('name only hosts below .test, none of them too long for DNS', () => {
    const { values = [] } = allBuiltin.find(({ name }) => name === 'Names below .test') ?? {};
    for (const host of values) {
      expect(host).toMatch(/(^|\.)test$/);
      expect(host.length).toBeLessThanOrEqual(253);
      for (const label of host.split('.')) expect(label.length, host).toBeLessThanOrEqual(63);
    }
    expect(Math.max(...values.map(({ length }) => length))).toBe(253);
  });

  it('list real ports once for each transport', () => {
    const { rows = [] } = allBuiltin.find(({ name }) => name === 'Common ports') ?? {};
    for (const [port, transport, service] of rows) {
      expect(Number(port)).toBeGreaterThan(0);
      expect(Number(port)).toBeLessThan(65_536);
      expect(['tcp', 'udp']).toContain(transport);
      expect(service).toMatch(/^[a-z0-9-]+$/);
    }
    expect(new Set(rows.map(([port, transport]) => `${port}/${transport}`)).size).toBe(rows.length);
  });
});

describe('the contract', () => {
  it('names the types and selections that can be drawn', () => {
    expect(enumOf('type')).toEqual([...dictionaryTypes, ...protocolNames.map((name) => `protocol.${name}`)]);
    expect(enumOf('selection')).toEqual([...selections]);
  });
});
