import type { Task } from '@rushhour/contract';
import { expect, it } from 'vitest';
import { addressesOf, idsOf, tunnelIdsOf } from './topology-ends.ts';

const entry = (values: object) => ({ plugin: { id: 1 }, values });
const task = {
  configuration: [
    entry({
      sources: [{ agent: { id: 1 }, ip: '10.0.0.1', ports: '1024' }, { agent: { id: 2 } }],
      targets: [
        { agent: { id: 3 }, ip: '10.0.1.1', ports: '80,443' },
        { ip: '2001:db8::1', ports: '80' },
      ],
      tunnelID: 7,
    }),
    entry({
      sources: [{ agent: { id: 1 }, network: { id: 4 }, ip: '10.0.0.1' }],
      targets: [{ ip: '10.0.1.9' }],
      tunnelIDs: [7, 8],
    }),
  ],
} as unknown as Pick<Task, 'configuration'>;

it('both sides of a task have agents, networks and addresses, each once', () => {
  expect(idsOf(task, 'sources', 'agent')).toEqual([1, 2]);
  expect(idsOf(task, 'sources', 'network')).toEqual([4]);
  expect(addressesOf(task, 'sources')).toEqual(['10.0.0.1']);
  expect(addressesOf(task, 'targets')).toEqual(['10.0.1.1:80,443', '[2001:db8::1]:80', '10.0.1.9']);
});

it('tunnels of all entries carry the traffic', () => {
  expect(tunnelIdsOf(task)).toEqual([7, 8]);
});
