import { findPlugin } from '@rushhour/contract';
import { describe, expect, it } from 'vitest';
import { issuesOfUnknown } from '../check/check-definition.ts';
import { issuesOfTemplate } from './check-template.ts';
import { templateOfTask } from './from-task.ts';

const agent = (id: number, more = {}) => ({ agent: { id }, ...more });
const made = (configuration: unknown[], more = {}) =>
  templateOfTask(
    { comment: 'c', accessPlane: [], controlPlane: [], dumps: {}, configuration, ...more },
    (id) => findPlugin(id)?.name,
  );
const http = (sources: unknown[], targets: unknown[], more = {}) => ({
  plugin: { id: 1 },
  values: { sources, targets, requestsPerSecond: 10, ...more },
});

describe('a template made of a task', () => {
  it('has a slot for each agent, named by what it does first', () => {
    const { slots, task } = made([http([agent(10), agent(11)], [agent(12)]), http([agent(12)], [agent(10)])]);
    expect(slots).toEqual([
      { name: 'client1', role: 'any', requires: ['http'] },
      { name: 'client2', role: 'client', requires: ['http'] },
      { name: 'server1', role: 'any', requires: ['http'] },
    ]);
    expect(task['configuration']).toMatchObject([
      {
        values: {
          sources: [{ agent: { id: { $slot: 'client1' } } }, { agent: { id: { $slot: 'client2' } } }],
          targets: [{ agent: { id: { $slot: 'server1' } } }],
        },
      },
      { values: { sources: [{ agent: { id: { $slot: 'server1' } } }] } },
    ]);
  });

  it('goes into suites and planes and leaves interfaces behind', () => {
    const { slots, task } = made(
      [
        {
          plugin: { id: 21 },
          values: {},
          subplugins: { subplugins: [http([agent(1, { interfaceId: 5 })], [agent(2)])] },
        },
      ],
      { accessPlane: [{ agent: { id: 3 }, isServer: true, interfaces: [7] }], controlPlane: [{ agent: { id: 1 } }] },
    );
    expect(slots.map(({ name }) => name)).toEqual(['client1', 'server1', 'server2']);
    expect(JSON.stringify(task)).not.toMatch(/interface/);
    expect(task['accessPlane']).toEqual([{ agent: { id: { $slot: 'server2' } }, isServer: true }]);
  });

  it('asks for secrets anew', () => {
    const entry = {
      plugin: { id: 12 },
      values: { sources: [agent(1)], targets: [agent(2)], ipsecAuthMethod: 'psk', ipsecPsk: '********' },
    };
    const template = made([entry, structuredClone(entry)]);
    expect(template.parameters.map(({ name }) => name)).toEqual(['ipsecPsk1', 'ipsecPsk2']);
    expect(issuesOfTemplate(template, issuesOfUnknown)).toEqual([]);
  });

  it('is sound', () => {
    expect(issuesOfTemplate(made([http([agent(4)], [agent(5)])]), issuesOfUnknown)).toEqual([]);
  });
});
