import type { Job } from '@rushhour/protocol';
import { expect, it } from 'vitest';
import { usedInterfaces } from './used-interfaces.ts';

it('emulated hosts are captured on their interface, whatever routes the machine has', async () => {
  const config = { targets: [{ host: '10.77.0.1' }], listen: [{ host: '0.0.0.0' }] };
  const stack = { interface: 'veth7', networks: [], vlan: [], header: {}, tcp: {} };
  expect(await usedInterfaces([{ config, stack } as unknown as Job])).toEqual(['veth7']);
  expect(await usedInterfaces([{ config: { listen: [{ host: '127.0.0.1' }] } } as unknown as Job])).toEqual(['lo']);
});
