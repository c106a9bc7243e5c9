import type { HostStack } from '@rushhour/protocol';
import { groupOfFlow } from '@rushhour/wire';
import { expect, it } from 'vitest';
import { Hosts } from '../hosts.ts';
import { shareKindOf, stackWorkers } from './stack-share.ts';

const networks = [{ subnet: '10.0.0.0/24', hosts: ['10.0.0.5', '10.0.0.10-10.0.0.18'] }];
const stack = { interface: 'eth0', networks, vlan: [], header: {}, tcp: {} } as HostStack;

const addressesOf = (hosts: Hosts): number[] => {
  const words = new Int32Array(4);
  return Array.from({ length: hosts.count }, (_, host) => {
    hosts.writeAddress(host, words, 0);
    expect(hosts.indexOf(words, 0)).toBe(host);
    return (words[3] as number) & 255;
  });
};

it('every worker of a client has hosts of its own, and together they have all', () => {
  const shares = [0, 1, 2].map((index) => addressesOf(new Hosts(stack, new Uint8Array(6), { index, count: 3 })));
  expect(shares).toEqual([
    [5, 10, 11],
    [12, 13, 14],
    [15, 16, 17, 18],
  ]);
});

it('there are no more workers than can be kept apart, and the reason is given', () => {
  expect(stackWorkers(stack, shareKindOf({ role: 'client' }), 4)).toEqual({ count: 4 });
  expect(stackWorkers(stack, shareKindOf({ role: 'client' }), 16)).toMatchObject({
    count: 10,
    reason: expect.stringContaining('host'),
  });
  expect(stackWorkers(stack, shareKindOf({ role: 'server' }), 16)).toEqual({ count: 16 });
  expect(stackWorkers({ ...stack, tunnel: {} as never }, 'flows', 4)).toMatchObject({
    count: 1,
    reason: expect.stringContaining('tunnels'),
  });
});

it('flows are spread evenly, also when all their ports are even', () => {
  for (const count of [2, 3, 8]) {
    const flows = Array.from({ length: count }, () => 0);
    for (let port = 32_768; port < 60_000; port += 2) {
      const group = groupOfFlow(0x0a00_0001, port, count);
      flows[group] = (flows[group] as number) + 1;
    }
    const fair = 13_616 / count;
    expect(Math.max(...flows)).toBeLessThan(fair * 1.1);
    expect(Math.min(...flows)).toBeGreaterThan(fair * 0.9);
  }
});
