import { describe, expect, it } from 'vitest';
import { linkLocalOf, type Side } from '../engines/namespaces.ts';
import { useCable } from '../engines/use-cable.ts';
import { startBird } from './bird.ts';
import { startFrr } from './frr.ts';
import { profileOf } from './profiles.ts';
import { rowsOf } from './result-rows.ts';
import { startRouters } from './routers.ts';

const nodes = 100;
const topology = { kind: 'grid', nodes, prefixesPerNode: 2, ipv4Start: '10.64.0.0/24' } as const;
const prefixes = Array.from({ length: nodes * 2 }, (_, i) => `10.64.${i}.0/24`).sort();

describe('OSPF', () => {
  const cable = useCable('test');

  const { own, theirs } = { own: '10.99.0.1', theirs: '10.99.0.2' };

  it.each([
    ['point-to-point', 'none', '', [], ''],
    ['broadcast', 'md5', 'ip ospf message-digest-key 7 md5 secret\n ip ospf authentication message-digest', [], ''],
    ['non-broadcast', 'none', '', [theirs], `neighbor ${own}`],
    ['point-to-multipoint', 'none', '', [], ''],
  ] as const)('floods a network of routers to FRR over a %s link, authentication %s', async (...given) => {
    const [network, kind, lines, neighbours, more] = given;
    const frr = await startFrr(
      cable.right,
      ['ospfd'],
      `interface ${cable.right.device}
        ip ospf area 0
        ip ospf hello-interval 1
        ip ospf dead-interval 4
        ip ospf network ${network}
        ${lines}
       router ospf
        ospf router-id 10.99.0.2
        ${more}`,
    );
    const profile = profileOf('ospf', {
      instance: { routerId: '192.0.2.1' },
      interface: { network, neighbours: [...neighbours], helloSec: 1, deadSec: 4, priority: 0 },
      authentication: { kind, keyId: 7, key: 'secret' },
      externals: { count: 50, start: '10.96.0.0/24' },
      topology,
    });
    const job = await startRouters(cable.left, { ospf: [profile] });
    const routes = async () => {
      const all = Object.entries((await frr.json('show ip ospf route json')) as Record<string, { routeType?: string }>);
      const isOurs = ([, route]: [string, { routeType?: string }]) => /^N/.test(route.routeType ?? '');
      return all.filter(isOurs).map(([prefix]) => prefix);
    };
    const learnt = async () => (await routes()).filter((prefix) => prefix.startsWith('10.64.')).sort();
    await expect.poll(learnt, { interval: 200 }).toEqual(prefixes);
    const externals = async () => (await routes()).filter((prefix) => prefix.startsWith('10.96.'));
    await expect.poll(async () => (await externals()).length, { interval: 200 }).toBe(50);
    const totals = await job.stop();
    expect(totals.gauge('control.sessionsUp')).toBe(1);
    // Own and generated routers, the routes from outside and the neighbour, which is designated where one must be.
    const hasNetwork = network === 'broadcast' || network === 'non-broadcast';
    expect(totals.gauge('control.lsdbSize')).toBe(nodes + 50 + 2 + (hasNetwork ? 1 : 0));
    await expect.poll(learnt, { interval: 200 }).toEqual([]);
  });

  it('floods a network of routers to BIRD', async () => {
    const bird = await startBird(
      cable.right,
      `router id 10.99.0.2;
       protocol ospf v2 { area 0 { interface "${cable.right.device}" { type ptp; hello 1; dead 4; }; }; }`,
    );
    const profile = profileOf('ospf', {
      instance: { routerId: '192.0.2.1' },
      interface: { helloSec: 1, deadSec: 4 },
      topology: { ...topology, kind: 'tree' },
    });
    await startRouters(cable.left, { ospf: [profile] });
    const learnt = async () => {
      const lines = (await bird.show('show route')).match(/^10\.64\.\S+/gm) ?? [];
      return lines.sort();
    };
    await expect.poll(learnt, { interval: 200 }).toEqual(prefixes);
  });

  it.each([
    ['secret', 'full'],
    ['other', 'down'],
  ] as const)('of version 3 proves to BIRD who it is with the key %s: %s', async (key, state) => {
    const neighbours = await signedBird(cable.right);
    const profile = profileOf('ospf', {
      instance: { version: 3, routerId: '192.0.2.1' },
      interface: { helloSec: 1, deadSec: 4 },
      authentication: { kind: 'hmac-sha-256', keyId: 7, key },
      topology: { kind: 'tree', nodes: 20 },
    });
    const job = await startRouters(cable.left, { ospf: [profile] });
    if (state === 'full') await expect.poll(neighbours, { interval: 200 }).toMatch(/Full/);
    else {
      // Longer than an adjacency with the right key takes.
      await new Promise((resolve) => setTimeout(resolve, 5000));
      expect(await neighbours()).not.toMatch(/Full|Init|ExStart/i);
    }
    const totals = await job.stop();
    expect(totals.gauge('control.sessionsUp')).toBe(state === 'full' ? 1 : 0);
  });

  it.each([
    ['non-broadcast', 'nonbroadcast'],
    ['point-to-multipoint', 'ptmp'],
  ] as const)('of version 3 floods a network of routers to BIRD over a %s link', async (network, type) => {
    const address = linkLocalOf(cable.right);
    const bird = await startBird(
      cable.right,
      `router id 10.99.0.2;
       protocol ospf v3 { ipv6 { }; area 0 { interface "${cable.right.device}" {
         type ${type}; hello 1; dead 4; poll 1; priority 5; neighbors { fe80::a63:1 eligible; }; }; }; }`,
    );
    const profile = profileOf('ospf', {
      instance: { version: 3, routerId: '192.0.2.1' },
      interface: { network, neighbours: [address], helloSec: 1, deadSec: 4 },
      topology: { kind: 'tree', nodes: 20 },
    });
    await startRouters(cable.left, { ospf: [profile] });
    const expected = Array.from({ length: 20 }, (_, i) => prefix6('2001:db8:6000', i)).sort();
    const learnt = async () => ((await bird.show('show route')).match(/^2001:db8:60\S+/gm) ?? []).sort();
    await expect.poll(learnt, { interval: 200 }).toEqual(expected);
  });

  it.each(['point-to-point', 'broadcast'] as const)(
    'of version 3 floods a network of routers to FRR over a %s link',
    async (network) => {
      cable.right.run('ip', 'addr', 'add', '2001:db8:50::2/64', 'dev', cable.right.device, 'nodad');
      const frr = await startFrr(
        cable.right,
        ['ospf6d'],
        `interface ${cable.right.device}
        ipv6 ospf6 area 0.0.0.0
        ipv6 ospf6 hello-interval 1
        ipv6 ospf6 dead-interval 4
        ipv6 ospf6 network ${network}
        ipv6 ospf6 instance-id 7
        ipv6 ospf6 priority 0
       router ospf6
        ospf6 router-id 10.99.0.2`,
      );
      const profile = profileOf('ospf', {
        instance: { version: 3, routerId: '192.0.2.1', instanceId: 7 },
        interface: { network, helloSec: 1, deadSec: 4 },
        externals: { count: 50 },
        topology: { kind: 'grid', nodes, prefixesPerNode: 2 },
      });
      const job = await startRouters(cable.left, { ospf: [profile] });
      const learnt = async () => {
        const text = await frr.show('show ipv6 ospf6 route');
        const lines = [...text.matchAll(/^\*N (IA|E2)\s+(\S+)\s+fe80::a63:1\s/gm)];
        return lines.map(([, kind, prefix]) => `${kind} ${prefix}`).sort();
      };
      const expected = [
        ...Array.from({ length: nodes * 2 }, (_, i) => `IA ${prefix6('2001:db8:6000', i)}`),
        ...Array.from({ length: 50 }, (_, i) => `E2 ${prefix6('2001:db8:6800', i)}`),
      ].sort();
      await expect.poll(learnt, { interval: 500 }).toEqual(expected);
      const totals = await job.stop();
      expect(totals.gauge('control.sessionsUp')).toBe(1);
      const rows = rowsOf(totals, 'routes').filter(({ cells }) => cells['neighbour'] === '10.99.0.2');
      const families = rows.map(({ cells }) => cells['family']).sort();
      // What FRR says about itself, its link and its prefix; on a broadcast network we tell the prefix for it.
      const own = ['type 0x2001', ...(network === 'broadcast' ? [] : ['type 0x2009']), 'type 8'];
      expect(families).toEqual(own);
      await expect.poll(learnt, { interval: 500 }).toEqual([]);
    },
  );
});

/** BIRD with a key; its list of neighbours. */
const signedBird = async (side: Side) => {
  const bird = await startBird(
    side,
    `router id 10.99.0.2;
     protocol ospf v3 { ipv6 { }; area 0 { interface "${side.device}" { type ptp; hello 1; dead 4;
       authentication cryptographic; password "secret" { id 7; algorithm hmac sha256; }; }; }; }`,
  );
  return () => bird.show('show ospf neighbors');
};

const prefix6 = (start: string, index: number): string =>
  index === 0 ? `${start}::/64` : `${start}:${index.toString(16)}::/64`;
