import { describe, expect, it } from 'vitest';
import { useCable } from '../engines/use-cable.ts';
import { startFrr } from './frr.ts';
import { profileOf } from './profiles.ts';
import { startRouters } from './routers.ts';

const nodes = 100;
const topology = { kind: 'grid', nodes, prefixesPerNode: 2, ipv4Start: '10.64.0.0/24' } as const;
const prefixes = Array.from({ length: nodes * 2 }, (_, i) => `10.64.${i}.0/24`).sort();

describe('IS-IS', () => {
  const cable = useCable('test');

  it.each([
    ['point-to-point', '2', 'none', ''],
    ['broadcast', '1', 'md5', 'isis password md5 secret'],
  ] as const)(
    'floods a network of routers to FRR: %s, level %s, authentication %s',
    async (network, level, kind, lines) => {
      const levelName = level === '1' ? 'level-1' : 'level-2-only';
      const frr = await startFrr(
        cable.right,
        ['isisd'],
        `router isis test
          is-type ${levelName}
          net 49.0001.0000.0000.0002.00
          lsp-gen-interval 1
          spf-interval 1
          ${kind === 'md5' ? 'area-password md5 secret authenticate snp validate' : ''}
         interface ${cable.right.device}
          ip router isis test
          isis circuit-type ${levelName}
          isis hello-interval 1
          isis hello-multiplier 4
          isis csnp-interval 2
          ${network === 'point-to-point' ? 'isis network point-to-point' : 'isis priority 100'}
          ${lines}`,
      );
      const profile = profileOf('isis', {
        instance: { level, protocols: ['ipv4'], hostName: 'edge-{n}' },
        interface: { network, helloSec: 1, holdMultiplier: 4, csnpSec: 2 },
        authentication: { kind, key: 'secret' },
        topology,
      });
      const job = await startRouters(cable.left, { isis: [profile] });
      const learnt = async () => {
        const text = await frr.show('show isis route');
        return [...new Set(text.match(/10\.64\.\d+\.0\/24/g) ?? [])].sort();
      };
      await expect.poll(learnt, { interval: 300 }).toEqual(prefixes);
      expect(await frr.show('show isis neighbor')).toMatch(/edge-1\s/);
      const database = await frr.show('show isis database');
      expect(database.match(/edge-\d+\.00-00/g)).toHaveLength(nodes + 1);
      const totals = await job.stop();
      expect(totals.gauge('control.sessionsUp')).toBe(1);
      // Own and generated routers and the neighbour, which is designated on a broadcast network.
      expect(totals.gauge('control.lsdbSize')).toBe(nodes + 2 + (network === 'broadcast' ? 1 : 0));
      await expect.poll(learnt, { interval: 300 }).toEqual([]);
    },
  );

  it.each(['point-to-point', 'broadcast'] as const)(
    'has a topology of its own for IPv6, which FRR takes routes from: %s',
    async (network) => {
      const frr = await startFrr(
        cable.right,
        ['isisd'],
        `router isis test
          is-type level-2-only
          net 49.0001.0000.0000.0002.00
          topology ipv6-unicast
          lsp-gen-interval 1
          spf-interval 1
         interface ${cable.right.device}
          ip router isis test
          ipv6 router isis test
          isis hello-interval 1
          isis hello-multiplier 4
          ${network === 'point-to-point' ? 'isis network point-to-point' : 'isis priority 100'}`,
      );
      const profile = profileOf('isis', {
        instance: { protocols: ['ipv4', 'ipv6'], multiTopology: true },
        interface: { network, helloSec: 1, holdMultiplier: 4, csnpSec: 2 },
        topology: { ...topology, nodes: 20, ipv6Start: '2001:db8:6000::/64' },
      });
      await startRouters(cable.left, { isis: [profile] });
      const learnt = async () => {
        const text = await frr.show('show isis route');
        return new Set(text.match(/2001:db8:6000:\S*\/64/g) ?? []).size;
      };
      await expect.poll(learnt, { interval: 300 }).toBe(40);
      const database = await frr.show('show isis database detail rushhour-2.00-00');
      expect(database).toMatch(/MT Reachability: \S+ \(Metric: 10\) ipv6-unicast/);
      expect(database).toMatch(/MT IPv6 Reachability: 2001:db8:6000::\/64 \(Metric: 10\) ipv6-unicast/);
    },
  );

  it('announces a segment for each router, which FRR has routes with labels for', async () => {
    const frr = await startFrr(
      cable.right,
      ['isisd'],
      `router isis test
        is-type level-2-only
        net 49.0001.0000.0000.0002.00
        lsp-gen-interval 1
        spf-interval 1
        segment-routing on
        segment-routing global-block 16000 23999
       interface ${cable.right.device}
        ip router isis test
        isis hello-interval 1
        isis hello-multiplier 4
        isis network point-to-point`,
    );
    const profile = profileOf('isis', {
      instance: { protocols: ['ipv4'], routerId: '192.0.2.1' },
      interface: { network: 'point-to-point', helloSec: 1, holdMultiplier: 4, csnpSec: 2 },
      segmentRouting: { enabled: true, blockStart: 17_000, nodeIndexStart: 100 },
      topology: { ...topology, kind: 'ring', nodes: 20 },
    });
    const job = await startRouters(cable.left, { isis: [profile] });
    // The labels that FRR sends are those of the block of its neighbour, which is our first router.
    const labelled = async () => {
      const text = await frr.show('show isis route prefix-sid');
      return [...text.matchAll(/(192\.0\.2\.\d+)\/32 .*?(\d+|implicit-null|pop)\S* *$/gim)]
        .map(([, prefix, label]) => `${prefix} ${label}`.toLowerCase())
        .sort();
    };
    await expect.poll(labelled, { interval: 300 }).toHaveLength(21);
    const expected = Array.from({ length: 20 }, (_, i) => `192.0.2.${i + 2} ${17_101 + i}`);
    expect(await labelled()).toEqual(['192.0.2.1 pop', ...expected].sort());
    const nodes = await frr.show('show isis segment-routing node');
    expect(nodes).toContain('17000 - 24999');
    await job.stop();
  });

  it('is the designated router of a network with FRR, at both levels', async () => {
    const frr = await startFrr(
      cable.right,
      ['isisd'],
      `interface ${cable.right.device}
        ip router isis test
        isis hello-interval 1
        isis priority 10
       router isis test
        net 49.0001.0000.0000.0002.00
        metric-style wide`,
    );
    const profile = profileOf('isis', {
      instance: { level: '1-2', protocols: ['ipv4'] },
      interface: { network: 'broadcast', helloSec: 1, holdMultiplier: 4, csnpSec: 1, priority: 100 },
      topology: { ...topology, kind: 'tree' },
    });
    await startRouters(cable.left, { isis: [profile] });
    const learnt = async () => (await frr.show('show isis route')).match(/10\.64\.\d+\.0\/24/g)?.length ?? 0;
    await expect.poll(learnt, { interval: 300 }).toBe(2 * prefixes.length);
    expect(await frr.show('show isis database')).toContain('rushhour-1.01-00');
  });
});
