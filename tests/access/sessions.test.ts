import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startJobIn } from '../engines/namespaces.ts';
import { stopNeighbourDiscovery, useCable } from '../engines/use-cable.ts';
import { type Sniffer, startSniffer } from '../stack/sniffer.ts';
import {
  addressesOf,
  complaints,
  newestUpOf,
  rowsOf,
  runProgram,
  temporaryFolder,
  untilMore,
  untilStopped,
  untilUp,
  watched,
} from './access-results.ts';
import { accessJob, profile, sessionsProfile } from './profiles.ts';

describe('access sessions', () => {
  const cable = useCable('test', stopNeighbourDiscovery);

  it('obtain addresses in VLANs of their own from our gateway, without a complaint of tshark', async () => {
    const [fromClient, fromServer] = await Promise.all([startSniffer(cable.right), startSniffer(cable.left)]);
    const accessLine = profile('accessLine', {
      vlan: { mode: '1:1', outerStart: 100, outerEnd: 109, innerStart: 5, innerEnd: 14, outerTpid: '0x88a8' },
    });
    const server = await startJobIn(cable.right, {
      ...accessJob('server', cable.right.device, { ipoe: profile('ipoe'), dhcp: profile('dhcp'), accessLine }),
      ...watched,
    });
    const relay = { enabled: true };
    const client = await startJobIn(cable.left, {
      ...accessJob('client', cable.left.device, {
        sessions: sessionsProfile(100, { traffic: { ipv4PacketsPerSec: 2 } }),
        ipoe: profile('ipoe'),
        dhcp: profile('dhcp', { relay, client: { timeoutSec: 1 } }),
        links: profile('links', { link: { sourceMac: '02:11:00:00:00:01' } }),
        accessLine,
      }),
      ...watched,
    });
    await untilUp(client, 100);
    await untilMore(client, 'access.proofReceived', 200);
    const totals = await client.stop();
    const served = await server.stop();
    await Promise.all([fromClient.stop(), fromServer.stop()]);
    expect(totals.counter('access.tx.dhcp')).toBeGreaterThanOrEqual(300);
    expect(totals.histogram('access.setup').count).toBe(100);
    expect(addressesOf(totals)).toHaveLength(100);
    expect(rowsOf(totals)).toHaveLength(100);
    expect(rowsOf(totals)[12]).toMatchObject({
      index: 12,
      state: 'ended',
      cells: { mac: '02:11:00:00:00:0d', vlan: '101.7', lastError: 'stopped', flaps: 0, attempts: 1 },
    });
    expect(served.gauge('access.established')).toBe(0);
    const circuitId = 'dhcp.option.agent_information_option.agent_circuit_id';
    const frames = await fromClient.fields('dhcp.option.dhcp == 1', ['ieee8021ad.id', 'vlan.id', circuitId]);
    expect(frames.length).toBeGreaterThan(0);
    for (const [outer, inner, circuit = ''] of frames) {
      const number = Number(Buffer.from(circuit, 'hex').toString().split(':')[1]) - 1;
      expect([outer, inner]).toEqual([`${100 + Math.floor(number / 10)}`, `${5 + (number % 10)}`]);
    }
    for (const one of [fromClient, fromServer]) expect(await complaints(one, 'dhcp || arp || icmp')).toEqual([]);
  });

  it('obtain addresses from dnsmasq', async () => {
    const { right, left } = cable;
    const folder = temporaryFolder();
    const { address, device } = right;
    const dnsmasq = runProgram(right, 'dnsmasq', [
      '--no-daemon',
      '--port=0',
      `--interface=${device}`,
      '--bind-interfaces',
      '--dhcp-range=10.99.0.100,10.99.0.199,255.255.255.0,2m',
      `--dhcp-option=3,${address}`,
      '--dhcp-authoritative',
      `--dhcp-leasefile=${join(folder, 'leases')}`,
      '--conf-file=/dev/null',
      '--no-ping',
    ]);
    await expect.poll(dnsmasq.output).toContain('sockets bound');
    const client = await startJobIn(left, {
      ...accessJob('client', left.device, {
        sessions: sessionsProfile(50, { traffic: { ipv4PacketsPerSec: 1 } }),
        ipoe: profile('ipoe'),
        dhcp: profile('dhcp', { client: { timeoutSec: 1 } }),
        links: profile('links', { link: { sourceMac: '02:22:00:00:00:01' } }),
      }),
      ...watched,
    });
    await untilUp(client, 50);
    await untilMore(client, 'access.proofReceived', 50);
    const totals = await client.stop();
    expect(addressesOf(totals)).toHaveLength(50);
    expect(totals.counter('access.failures.dhcp-refused')).toBe(0);
    await expect.poll(() => readFileSync(join(folder, 'leases'), 'utf8').trim()).toBe('');
    expect(dnsmasq.output()).toMatch(/DHCPACK\(\w+\) 10\.99\.0\.\d+ 02:22:00:00:00:01 host-1/);
  });

  it('serve dhclient, which reaches the gateway', async () => {
    const { right, left } = cable;
    const server = await startJobIn(right, {
      ...accessJob('server', right.device, { ipoe: profile('ipoe'), dhcp: profile('dhcp') }),
      duration: untilStopped,
    });
    const folder = temporaryFolder();
    const leases = join(folder, 'leases');
    const dhclient = runProgram(left, 'dhclient', [
      '-4',
      '-d',
      '-1',
      '-v',
      '-sf',
      '/bin/true',
      '-lf',
      leases,
      '-pf',
      join(folder, 'pid'),
      left.device,
    ]);
    await expect.poll(dhclient.output).toContain('bound to 100.64.0.2');
    const lease = readFileSync(leases, 'utf8');
    expect(lease).toContain('option routers 100.64.0.1;');
    expect(lease).toContain('option domain-name "rushhour.test";');
    left.run('ip', 'addr', 'add', '100.64.0.2/10', 'dev', left.device);
    expect(left.run('ping', '-c', '2', '-i', '0.2', '-W', '5', '100.64.0.1')).toContain('2 received');
    await server.stop();
  });

  it('set up PPPoE sessions with our concentrator, without a complaint of tshark', async () => {
    const { right, left } = cable;
    const given = ['address', 'ipv6', 'prefix'];
    const [fromClient, fromServer] = await Promise.all([startSniffer(right), startSniffer(left)]);
    const ppp = profile('ppp', { lcp: { timeoutSec: 1, echoSec: 1 }, auth: { timeoutSec: 1 } });
    const server = await startJobIn(right, {
      ...accessJob('server', right.device, {
        pppoe: profile('pppoe'),
        ppp,
        dhcpv6: profile('dhcpv6', { server: { reconfigureSec: 1 } }),
      }),
      ...watched,
    });
    const client = await startJobIn(left, {
      ...accessJob('client', left.device, {
        sessions: sessionsProfile(100, { traffic: { ipv4PacketsPerSec: 2, ipv6PacketsPerSec: 1 } }),
        dhcpv6: profile('dhcpv6', { client: { timeoutSec: 1, reconfigure: true } }),
        pppoe: profile('pppoe', { discovery: { timeoutSec: 1 }, accessLine: { enabled: true } }),
        accessLine: profile('accessLine', { vlan: { mode: '1:1', outerStart: 100, outerEnd: 199 } }),
        links: profile('links', { link: { sourceMac: '02:33:00:00:00:01' } }),
        ppp,
      }),
      ...watched,
    });
    for (const job of [client, server]) await untilUp(job, 100, given);
    await untilMore(client, 'access.proofReceived', 200);
    // Two answers for each lease, then requests to renew and their answers.
    await untilMore(client, 'access.rx.dhcpv6', 400);
    const totals = await client.stop();
    const served = await server.stop();
    await Promise.all([fromClient.stop(), fromServer.stop()]);
    expect(totals.histogram('access.setup').count).toBe(100);
    const byMac = (from: typeof totals) =>
      new Map(newestUpOf(from).map(({ cells }) => [cells['mac'], given.map((name) => cells[name])]));
    expect(byMac(served)).toEqual(byMac(totals));
    const addresses = [...byMac(totals).values()];
    for (const i of given.keys()) expect(new Set(addresses.map((all) => all[i])).size).toBe(100);
    expect(served.histogram('access.setup').count).toBe(100);
    expect(rowsOf(served)).toHaveLength(100);
    expect(rowsOf(totals)[7]).toMatchObject({ state: 'ended', cells: { lastError: 'stopped', vlan: '107' } });
    const codesOf = async (one: Sniffer) => new Set((await one.fields('pppoed', ['pppoe.code'])).flat());
    expect(await codesOf(fromClient)).toEqual(new Set(['0x09', '0x19', '0xa7']));
    expect(await codesOf(fromServer)).toEqual(new Set(['0x07', '0x65', '0xa7']));
    expect((await fromServer.fields('chap.code == 3', ['frame.number'])).length).toBeGreaterThan(0);
    expect((await fromClient.fields('pppoes && dhcpv6.msgtype == 8', ['frame.number'])).length).toBeGreaterThan(0);
    expect((await fromServer.fields('pppoes && dhcpv6.msgtype == 10', ['frame.number'])).length).toBeGreaterThan(0);
    expect((await fromClient.fields('pppoes && dhcpv6.msgtype == 5', ['frame.number'])).length).toBeGreaterThan(0);
    for (const one of [fromClient, fromServer]) expect(await complaints(one, 'pppoed || pppoes')).toEqual([]);
  });
});
