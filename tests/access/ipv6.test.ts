import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Side, startJobIn } from '../engines/namespaces.ts';
import { stopNeighbourDiscovery, useCable } from '../engines/use-cable.ts';
import { startSniffer } from '../stack/sniffer.ts';
import {
  columnOf,
  complaints,
  rowsOf,
  runProgram,
  temporaryFolder,
  untilMore,
  untilStopped,
  untilUp,
  watched,
} from './access-results.ts';
import { accessJob, profile, sessionsProfile } from './profiles.ts';

const ipv6Only = (method: 'dhcpv6' | 'slaac') =>
  profile('ipoe', { ipv4: { enabled: false }, ipv6: { enabled: true, method } });
const proof = { traffic: { ipv6PacketsPerSec: 2 } };

/** A router of the kernel: a link-local address and one of the network. */
const makeRouter = ({ device, run }: Side): void => {
  run('sysctl', '-qw', 'net.ipv6.conf.all.forwarding=1', `net.ipv6.conf.${device}.accept_dad=0`);
  run('ip', 'addr', 'add', 'fe80::1/64', 'dev', device, 'nodad');
  run('ip', 'addr', 'add', '2001:db8:1::1/64', 'dev', device, 'nodad');
};

describe('IPv6 of access sessions', () => {
  const cable = useCable('test', stopNeighbourDiscovery);

  it('comes from our gateway through a lightweight relay, without a complaint of tshark', async () => {
    const { left, right } = cable;
    const [fromClient, fromServer] = await Promise.all([startSniffer(right), startSniffer(left)]);
    const accessLine = profile('accessLine', { vlan: { mode: '1:1', outerStart: 100, outerEnd: 199 } });
    const ipoe = profile('ipoe', { ipv6: { enabled: true } });
    const server = await startJobIn(right, {
      ...accessJob('server', right.device, { ipoe, dhcp: profile('dhcp'), dhcpv6: profile('dhcpv6'), accessLine }),
      ...watched,
    });
    const client = await startJobIn(left, {
      ...accessJob('client', left.device, {
        sessions: sessionsProfile(50, proof),
        links: profile('links', { link: { sourceMac: '02:11:00:00:00:01' } }),
        ...{ ipoe, dhcp: profile('dhcp', { client: { timeoutSec: 1 } }), accessLine },
        dhcpv6: profile('dhcpv6', { relay: { enabled: true }, client: { timeoutSec: 1, rapidCommit: false } }),
      }),
      ...watched,
    });
    await untilUp(client, 50, ['address', 'ipv6', 'prefix']);
    await untilUp(server, 50, ['prefix']);
    await untilMore(client, 'access.proofReceived', 50);
    const totals = await client.stop();
    const served = await server.stop();
    await Promise.all([fromClient.stop(), fromServer.stop()]);
    for (const column of ['ipv6', 'prefix', 'address']) expect(columnOf(totals, column)).toHaveLength(50);
    expect(columnOf(totals, 'gateway6')).toEqual(['fe80::1']);
    expect(totals.counter('access.tx.dhcpv6')).toBeGreaterThanOrEqual(150);
    expect(columnOf(served, 'prefix').filter((prefix) => prefix !== undefined)).toHaveLength(50);
    expect(rowsOf(served).filter(({ state }) => state === 'up')).toEqual([]);
    const relayed = await fromClient.fields('dhcpv6.msgtype == 12', [
      'dhcpv6.interface_id',
      'dhcpv6.remoteid.enterprise',
    ]);
    expect(relayed.length).toBeGreaterThan(0);
    for (const one of [fromClient, fromServer]) expect(await complaints(one, 'dhcpv6 || icmpv6')).toEqual([]);
  });

  it('comes from dnsmasq, with addresses by DHCPv6', async () => {
    const { left, right } = cable;
    makeRouter(right);
    const folder = temporaryFolder();
    const dnsmasq = runProgram(right, 'dnsmasq', [
      ...['--no-daemon', '--port=0', `--interface=${right.device}`, '--bind-interfaces', '--conf-file=/dev/null'],
      ...['--enable-ra', '--dhcp-range=2001:db8:1::100,2001:db8:1::1ff,64,2m', '--log-dhcp'],
      `--dhcp-leasefile=${join(folder, 'leases')}`,
    ]);
    await expect.poll(dnsmasq.output).toContain('router advertisement on 2001:db8:1::');
    const client = await startJobIn(left, {
      ...accessJob('client', left.device, {
        sessions: sessionsProfile(40, proof),
        ipoe: ipv6Only('dhcpv6'),
        dhcpv6: profile('dhcpv6', { client: { timeoutSec: 1 } }),
        links: profile('links', { link: { sourceMac: '02:22:00:00:00:01' } }),
      }),
      ...watched,
    });
    await untilUp(client, 40, ['ipv6']);
    await untilMore(client, 'access.proofReceived', 80);
    const totals = await client.stop();
    expect(columnOf(totals, 'ipv6')).toHaveLength(40);
    await expect.poll(() => readFileSync(join(folder, 'leases'), 'utf8')).not.toContain('2001:db8:1::1');
    expect(dnsmasq.output()).toMatch(/DHCPRELEASE/);
  });

  it('is made from the prefix that radvd advertises', async () => {
    const { left, right } = cable;
    makeRouter(right);
    const folder = temporaryFolder();
    const config = join(folder, 'radvd.conf');
    writeFileSync(
      config,
      `interface ${right.device} { AdvSendAdvert on; MinRtrAdvInterval 3; MaxRtrAdvInterval 4; prefix 2001:db8:1::/64 {}; };`,
    );
    const radvd = runProgram(right, 'radvd', [
      '-n',
      '-m',
      'stderr',
      '-d',
      '1',
      '-C',
      config,
      '-p',
      join(folder, 'pid'),
    ]);
    await expect.poll(radvd.output).toContain('version');
    const client = await startJobIn(left, {
      ...accessJob('client', left.device, {
        sessions: sessionsProfile(20, proof),
        ipoe: ipv6Only('slaac'),
        links: profile('links', { link: { sourceMac: '02:33:00:00:00:01' } }),
      }),
      ...watched,
    });
    await untilUp(client, 20, ['ipv6']);
    await untilMore(client, 'access.proofReceived', 20);
    const totals = await client.stop();
    expect(columnOf(totals, 'ipv6')).toHaveLength(20);
    expect(columnOf(totals, 'ipv6')).toContain('2001:db8:1:0:33:ff:fe00:1');
  });

  it('serves dhclient with an address and a prefix, and the kernel with a router', async () => {
    const { left, right } = cable;
    const server = await startJobIn(right, {
      ...accessJob('server', right.device, { ipoe: ipv6Only('dhcpv6'), dhcpv6: profile('dhcpv6') }),
      duration: untilStopped,
    });
    left.run('sysctl', '-qw', `net.ipv6.conf.${left.device}.accept_ra=2`, `net.ipv6.conf.${left.device}.accept_dad=0`);
    left.run('ip', 'link', 'set', left.device, 'addrgenmode', 'eui64');
    left.run('ip', 'link', 'set', left.device, 'down');
    left.run('ip', 'link', 'set', left.device, 'up');
    await expect.poll(() => left.run('ip', '-6', 'route')).toContain('default via fe80::1');
    const folder = temporaryFolder();
    const leases = join(folder, 'leases');
    const dhclient = runProgram(left, 'dhclient', [
      ...['-6', '-N', '-P', '-d', '-1', '-v', '-sf', '/bin/true', '-lf', leases, '-pf', join(folder, 'pid')],
      left.device,
    ]);
    await expect.poll(dhclient.output).toContain('Bound to lease');
    const lease = readFileSync(leases, 'utf8');
    expect(lease).toContain('iaaddr 2001:db8:1::2');
    expect(lease).toMatch(/iaprefix 2001:db8:4000::\/56/);
    expect(lease).toContain('option dhcp6.domain-search "rushhour.test."');
    left.run('ip', 'addr', 'add', '2001:db8:1::2/128', 'dev', left.device, 'nodad');
    const ping = ['-6', '-c', '2', '-i', '0.2', '-W', '5', '-I', left.device, 'fe80::1'];
    expect(left.run('ping', ...ping)).toContain('2 received');
    await server.stop();
  });
});
