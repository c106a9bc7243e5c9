import { describe, expect, it } from 'vitest';
import { useCable } from '../engines/use-cable.ts';
import { startFrr } from './frr.ts';
import { packetFrom } from './packet-from.ts';
import { profileOf } from './profiles.ts';
import { rowsOf } from './result-rows.ts';
import { startRouters } from './routers.ts';

const configOf = (isPassive: boolean): string =>
  `router bgp 65001
    bgp router-id 10.99.0.2
    no bgp ebgp-requires-policy
    neighbor 10.99.0.10 remote-as 65000
    neighbor 10.99.0.10 password right
    neighbor 10.99.0.10 timers connect 1
    ${isPassive ? 'neighbor 10.99.0.10 passive' : ''}`;

const firstSegment = 'src 10.99.0.2 and tcp dst port 179 and tcp[tcpflags] & tcp-syn != 0';

interface Summary {
  readonly ipv4Unicast?: { readonly peers: Record<string, { state: string; pfxRcd: number }> };
}

describe('BGP sessions signed with MD5', () => {
  const cable = useCable('test');

  const startSigned = (key: string, isPassive: boolean) => {
    const profile = profileOf('bgp', {
      session: { localAddress: '10.99.0.10', peerAddress: '10.99.0.2', connectRetrySec: 1, passive: isPassive },
      routes: { ipv4Count: 1000 },
      authentication: { kind: 'md5', key },
    });
    return startRouters(cable.left, { bgp: [profile] });
  };

  /** Segments that the kernel of the other end has dropped because of their signatures. */
  const dropped = (): number => {
    const lines = cable.right.run('cat', '/proc/net/netstat').split('\n');
    const [names = '', values = ''] = lines.filter((line) => line.startsWith('TcpExt:'));
    return Number(values.split(' ')[names.split(' ').indexOf('TCPMD5Failure')]);
  };

  it.each([
    ['we call', false],
    ['FRR calls', true],
  ])('come up with the same key and stay down with another one: %s', async (_, isPassive) => {
    const frr = await startFrr(cable.right, ['bgpd'], configOf(!isPassive));
    const peer = async () =>
      ((await frr.json('show bgp summary json')) as Summary).ipv4Unicast?.peers['10.99.0.10'] ?? { state: '' };
    const before = dropped();
    const wrong = await startSigned('wrong', isPassive);
    // Where FRR calls, nobody answers, and it repeats its first segment.
    if (isPassive) for (let i = 0; i < 2; i++) await packetFrom(cable.right, firstSegment);
    else await expect.poll(() => dropped() - before, { interval: 200 }).toBeGreaterThan(1);
    expect(await peer()).not.toMatchObject({ state: 'Established' });
    const [row] = rowsOf(await wrong.stop(), 'neighbours');
    expect(row).toMatchObject({ cells: { routesSent: 0, uptimeSec: 0 } });
    const right = await startSigned('right', isPassive);
    await expect.poll(peer, { interval: 200 }).toMatchObject({ state: 'Established', pfxRcd: 1000 });
    expect(rowsOf(await right.stop(), 'neighbours')).toMatchObject([{ state: 'established', cells: { flaps: 0 } }]);
  });
});
