import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Side, startJobIn } from '../engines/namespaces.ts';
import { stopNeighbourDiscovery, useCable } from '../engines/use-cable.ts';
import { addressesOf, columnOf, runProgram, temporaryFolder, untilUp, watched } from './access-results.ts';
import { accessJob, profile, sessionsProfile } from './profiles.ts';

/** Starts a server of Kea with its own files. */
const startKea = async (side: Side, version: 4 | 6, config: object) => {
  const folder = temporaryFolder();
  const file = join(folder, 'kea.json');
  const name = `kea-dhcp${version}`;
  const own = {
    'interfaces-config': { interfaces: [side.device] },
    'lease-database': { type: 'memfile', persist: false },
    loggers: [{ name, output_options: [{ output: 'stdout' }], severity: 'INFO' }],
  };
  writeFileSync(file, JSON.stringify({ [`Dhcp${version}`]: { ...own, 'valid-lifetime': 120, ...config } }));
  const server = runProgram(side, 'env', [`KEA_PIDFILE_DIR=${folder}`, 'KEA_LOCKFILE_DIR=none', name, '-c', file]);
  await expect.poll(server.output).toContain(`DHCP${version}_STARTED`);
  return server;
};

const clientOf = (side: Side, more: Record<string, unknown[]>) => ({
  ...accessJob('client', side.device, {
    sessions: sessionsProfile(50, { traffic: { ipv4PacketsPerSec: 0 } }),
    dhcp: profile('dhcp', { client: { timeoutSec: 1 } }),
    ...more,
  }),
  ...watched,
});

describe('sessions without PPP', () => {
  const cable = useCable('test', stopNeighbourDiscovery);

  it('obtain addresses from Kea, which answers requests for two messages by four', async () => {
    const { left, right } = cable;
    const kea = await startKea(right, 4, {
      subnet4: [
        {
          subnet: '10.99.0.0/24',
          pools: [{ pool: '10.99.0.100-10.99.0.199' }],
          'option-data': [{ name: 'routers', data: right.address }],
        },
      ],
    });
    const links = profile('links', { link: { sourceMac: '02:55:00:00:00:01' } });
    const dhcp = profile('dhcp', { client: { timeoutSec: 1, rapidCommit: true } });
    const client = await startJobIn(left, clientOf(left, { ipoe: profile('ipoe'), links, dhcp }));
    await untilUp(client, 50);
    const totals = await client.stop();
    expect(addressesOf(totals)).toHaveLength(50);
    expect(totals.counter('access.failures.dhcp-refused')).toBe(0);
    await expect.poll(() => kea.output().match(/DHCP4_RELEASE /g)?.length).toBe(50);
  });

  it('obtain addresses and prefixes from Kea by DHCPv6', async () => {
    const { left, right } = cable;
    right.run('sysctl', '-qw', 'net.ipv6.conf.all.forwarding=1', `net.ipv6.conf.${right.device}.accept_dad=0`);
    right.run('ip', 'addr', 'add', 'fe80::1/64', 'dev', right.device, 'nodad');
    const config = join(temporaryFolder(), 'radvd.conf');
    const intervals = 'MinRtrAdvInterval 3; MaxRtrAdvInterval 4;';
    writeFileSync(config, `interface ${right.device} { AdvSendAdvert on; AdvManagedFlag on; ${intervals} };`);
    const pid = join(temporaryFolder(), 'pid');
    runProgram(right, 'radvd', ['-n', '-m', 'stderr', '-d', '1', '-C', config, '-p', pid]);
    await startKea(right, 6, {
      'server-id': { type: 'EN', 'enterprise-id': 32_473, identifier: '01020304', persist: false },
      subnet6: [
        {
          ...{ subnet: '2001:db8:1::/64', interface: right.device },
          pools: [{ pool: '2001:db8:1::100-2001:db8:1::1ff' }],
          'pd-pools': [{ prefix: '2001:db8:4000::', 'prefix-len': 36, 'delegated-len': 56 }],
        },
      ],
    });
    const client = await startJobIn(
      left,
      clientOf(left, {
        ipoe: profile('ipoe', { ipv4: { enabled: false }, ipv6: { enabled: true } }),
        dhcpv6: profile('dhcpv6', { client: { timeoutSec: 1 } }),
        links: profile('links', { link: { sourceMac: '02:56:00:00:00:01' } }),
      }),
    );
    await untilUp(client, 50, ['ipv6', 'prefix']);
    const totals = await client.stop();
    for (const column of ['ipv6', 'prefix']) expect(columnOf(totals, column)).toHaveLength(50);
  });

  it('obtain addresses from the server of ISC, until its pool is exhausted', async () => {
    const { left, right } = cable;
    const folder = temporaryFolder();
    const at = (name: string) => join(folder, name);
    const subnet = `range 10.99.0.100 10.99.0.139; option routers ${right.address};`;
    writeFileSync(
      at('dhcpd.conf'),
      `authoritative; ping-check false; default-lease-time 120; subnet 10.99.0.0 netmask 255.255.255.0 { ${subnet} }\n`,
    );
    writeFileSync(at('leases'), '');
    const files = ['-cf', at('dhcpd.conf'), '-lf', at('leases'), '-pf', at('pid')];
    const dhcpd = runProgram(right, 'dhcpd', ['-4', '-f', '-d', '--no-pid', ...files, right.device]);
    await expect.poll(dhcpd.output).toContain('Listening on LPF');
    const links = profile('links', { link: { sourceMac: '02:57:00:00:00:01' } });
    const client = await startJobIn(left, clientOf(left, { ipoe: profile('ipoe'), links }));
    await untilUp(client, 40);
    await expect.poll(dhcpd.output).toContain('no free leases');
    const totals = await client.stop();
    expect(addressesOf(totals)).toHaveLength(40);
  });
});
