import { expect, it } from 'vitest';
import { useCable } from '../engines/use-cable.ts';
import { startFrr } from './frr.ts';
import { profileOf } from './profiles.ts';
import { rowsOf } from './result-rows.ts';
import { startRouters } from './routers.ts';

const cable = useCable('test', ({ right }) => {
  right.run('ip', 'address', 'add', 'fd99::2/64', 'dev', right.device, 'nodad');
  right.run('ip', 'link', 'set', 'lo', 'up');
});

const routes = {
  ...{ ipv4Count: 40, ipv4Start: '10.128.0.0/24', ipv6Count: 40, ipv6Start: '2001:db8:8000::/48' },
  ...{ med: 7, asPath: [64_512], communities: ['65000:100'] },
};
const ipv4 = Array.from({ length: 40 }, (_, i) => `10.128.${i}.0/24`);
const ipv6 = Array.from({ length: 40 }, (_, i) => `2001:db8:${(0x8000 + i).toString(16)}::/48`);

/** The names that FRR has for the families. */
const versions = {
  4: {
    families: ['ipv4-labeled', 'ipv4-multicast', 'vpnv4', 'ipv4-flowspec'],
    names: ['ipv4 labeled-unicast', 'ipv4 multicast', 'ipv4 vpn', 'ipv4 flowspec'],
    ...{ own: '10.99.0.10', peer: '10.99.0.2', prefixes: ipv4, pattern: /10\.128\.\d+\.0\/24/g },
  },
  6: {
    families: ['ipv6-labeled', 'ipv6-multicast', 'vpnv6', 'ipv6-flowspec'],
    names: ['ipv6 labeled-unicast', 'ipv6 multicast', 'ipv6 vpn', 'ipv6 flowspec'],
    ...{ own: 'fd99::10', peer: 'fd99::2', prefixes: ipv6, pattern: /2001:db8:80[0-9a-f]{2}::\/48/g },
  },
} as const;

it.each([4, 6] as const)(
  'FRR holds the routes of all families of IPv%i, over sessions of that version',
  async (version) => {
    const { families, names, own, peer, prefixes, pattern } = versions[version];
    const frr = await startFrr(
      cable.right,
      ['bgpd'],
      `router bgp 65001
      bgp router-id 10.99.0.2
      no bgp ebgp-requires-policy
      no bgp default ipv4-unicast
      neighbor ${own} remote-as 65000
      neighbor ${own} passive
      ${names.map((name) => `address-family ${name}\n neighbor ${own} activate\n exit-address-family`).join('\n')}`,
    );
    const session = { connectRetrySec: 1, localAddress: own, peerAddress: peer, routerId: '10.99.0.10' };
    const job = await startRouters(cable.left, {
      bgp: [profileOf('bgp', { session, routes, capabilities: { families: [...families] } })],
    });
    const prefixesOf = async (name: string) =>
      [...new Set((await frr.show(`show bgp ${name}`)).match(pattern) ?? [])].sort();
    for (const name of names)
      await expect.poll(() => prefixesOf(name), { interval: 300 }).toEqual([...prefixes].sort());
    const third = prefixes[3] as string;
    // The first label is 16.
    const labeled = await frr.show(`show bgp ${names[0]} ${third}`);
    expect(labeled).toMatch(/Remote label: 19\b/);
    const vpn = await frr.show(`show bgp ${names[2]} ${third}`);
    expect(vpn).toMatch(/Remote label: 19\b/);
    expect(vpn).toContain('10.99.0.10:1');
    expect(vpn).toContain('RT:65000:1');
    for (const text of [labeled, vpn, await frr.show(`show bgp ${names[1]} ${third}`)]) {
      expect(text).toContain('65000 64512');
      expect(text).toContain('metric 7');
      expect(text).toContain('Community: 65000:100');
    }
    expect(await frr.show(`show bgp ${names[3]} detail`)).toContain('FS:rate 0');
    job.command({ action: 'withdraw' });
    const left = async () => {
      const counts: string[] = [];
      for (const name of names) counts.push(`${name} ${(await prefixesOf(name)).length}`);
      return counts;
    };
    await expect.poll(left, { interval: 300 }).toEqual(names.map((name) => `${name} 0`));
    await job.stop();
  },
);

it('FRR keeps our routes while we restart, and asks for them again', async () => {
  const frr = await startFrr(
    cable.right,
    ['bgpd'],
    `router bgp 65001
      bgp router-id 10.99.0.2
      bgp graceful-restart
      no bgp ebgp-requires-policy
      neighbor 10.99.0.10 remote-as 65000
      neighbor 10.99.0.10 passive`,
  );
  const job = await startRouters(cable.left, {
    bgp: [
      profileOf('bgp', {
        session: { connectRetrySec: 1, localAddress: '10.99.0.10', peerAddress: '10.99.0.2' },
        capabilities: { gracefulRestartSec: 60 },
        routes: { ...routes, ipv6Count: 0 },
      }),
    ],
  });
  const table = async () =>
    (await frr.show('show bgp ipv4 unicast')).split('\n').filter((line) => line.includes('10.128.'));
  const neighbour = () => rowsOf(job, 'neighbours')[0];
  await expect.poll(async () => (await table()).length, { interval: 300 }).toBe(40);
  await frr.show('clear bgp 10.99.0.10 soft in');
  const sent = async () => /Route refresh: +(\d+)/i.exec(await frr.show('show bgp neighbors 10.99.0.10'))?.[1];
  await expect.poll(sent, { interval: 300 }).toBe('1');
  expect((await table()).length).toBe(40);
  // The connection is dropped without a word: no route is missing at any time.
  job.command({ action: 'restart' });
  await expect.poll(() => neighbour()?.cells['flaps'], { interval: 200 }).toBe(1);
  expect((await table()).length).toBe(40);
  await expect.poll(() => neighbour()?.state, { interval: 300, timeout: 60_000 }).toBe('established');
  await expect.poll(async () => (await table()).some((line) => line.startsWith('S'))).toBe(false);
  expect((await table()).length).toBe(40);
  await job.stop();
});
