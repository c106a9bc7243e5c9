import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Side, startJobIn } from '../engines/namespaces.ts';
import { stopNeighbourDiscovery, useCable } from '../engines/use-cable.ts';
import { startSniffer } from '../stack/sniffer.ts';
import { complaints, rowsOf, runProgram, temporaryFolder, untilMore, watched } from './access-results.ts';
import { accessJob, profile } from './profiles.ts';

const program = '/lib/systemd/systemd-networkd';
const network = (device: string) => `[Match]
Name=${device}
[Network]
DHCP=yes
IPv6AcceptRA=yes
DHCPPrefixDelegation=yes
[DHCPv4]
UseHostname=no
[DHCPv6]
UseHostname=no
[DHCPPrefixDelegation]
UplinkInterface=:self
SubnetId=7
`;

/**
 * Starts systemd-networkd without the rest of systemd, with a `/run` of its own. It waits for no udev where `/sys` cannot
 * be written.
 */
const startNetworkd = (side: Side) => {
  const file = join(temporaryFolder(), 'uplink.network');
  writeFileSync(file, network(side.device), { mode: 0o644 });
  const script = `set -e
    content=$(cat ${file})
    mount -t tmpfs tmpfs /run
    mkdir -p /run/systemd/network /run/systemd/netif/links /run/systemd/netif/leases /run/systemd/netif/lldp
    chown -R systemd-network:systemd-network /run/systemd/netif
    mount -o remount,ro /sys
    echo "$content" > /run/systemd/network/10-uplink.network
    SYSTEMD_LOG_LEVEL=debug SYSTEMD_LOG_TARGET=console exec ${program}`;
  return runProgram(side, 'unshare', ['-m', 'sh', '-c', script]);
};

describe('systemd-networkd', () => {
  const cable = useCable('test', stopNeighbourDiscovery);

  it('obtains and renews addresses and a prefix from our gateway, and gives the lease of DHCP back', async () => {
    const { left, right } = cable;
    const sniffer = await startSniffer(left);
    const server = await startJobIn(right, {
      ...accessJob('server', right.device, {
        ipoe: profile('ipoe', { ipv6: { enabled: true, method: 'dhcpv6' } }),
        dhcp: profile('dhcp', { server: { leaseSec: 30 } }),
        dhcpv6: profile('dhcpv6', { server: { preferredSec: 30, validSec: 60 } }),
      }),
      ...watched,
    });
    left.run('ip', 'addr', 'flush', 'dev', left.device);
    left.run('ip', 'link', 'set', left.device, 'addrgenmode', 'eui64');
    for (const state of ['down', 'up']) left.run('ip', 'link', 'set', left.device, state);
    const networkd = startNetworkd(left);
    const addresses = () => left.run('ip', '-o', 'addr', 'show', 'dev', left.device);
    await expect.poll(addresses).toContain('inet 100.64.0.2/10');
    await expect.poll(addresses).toContain('inet6 2001:db8:1::2/128');
    await expect.poll(addresses).toMatch(/inet6 2001:db8:4000:7:[0-9a-f:]+\/64/);
    expect(left.run('ip', 'route')).toMatch(/default via 100\.64\.0\.1 dev l0 proto dhcp/);
    await expect.poll(() => left.run('ip', '-6', 'route')).toMatch(/default via fe80::1/);
    expect(left.run('ping', '-c', '2', '-i', '0.2', '-W', '5', '100.64.0.1')).toContain('2 received');
    // Half of the life of the leases later it asks for them again.
    await expect.poll(networkd.output).toMatch(/DHCPv4 client: REQUEST \(renewing\)/);
    await expect.poll(networkd.output).toMatch(/DHCPv6 client: Sent Renew/);
    await untilMore(server, 'access.tx.dhcp', 2);
    await untilMore(server, 'access.tx.dhcpv6', 2);
    expect(addresses()).toContain('inet 100.64.0.2/10');
    networkd.child.kill('SIGTERM');
    await networkd.exited;
    const totals = await server.stop();
    await sniffer.stop();
    // It does not give leases of DHCPv6 back.
    expect(rowsOf(totals)[0]).toMatchObject({ state: 'idle', cells: { mac: expect.stringMatching(/:/) } });
    expect(rowsOf(totals)).toHaveLength(2);
    expect(await complaints(sniffer, 'dhcp || dhcpv6 || icmpv6')).toEqual([]);
  });
});
