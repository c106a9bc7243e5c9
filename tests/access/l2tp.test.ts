import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Side, startJobIn } from '../engines/namespaces.ts';
import { stopNeighbourDiscovery, useCable } from '../engines/use-cable.ts';
import { type Sniffer, startSniffer } from '../stack/sniffer.ts';
import {
  addressesOf,
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

const concentrator = '10.99.0.50';
const networkServer = '10.99.0.60';
const secret = 'shared-secret';

/** Starts xl2tpd with a section, and returns what it writes. */
const startXl2tpd = (side: Side, section: readonly string[]): (() => string) => {
  const folder = temporaryFolder();
  const secrets = join(folder, 'secrets');
  const configuration = join(folder, 'xl2tpd.conf');
  writeFileSync(secrets, `* * ${secret}\n`, { mode: 0o600 });
  writeFileSync(configuration, ['[global]', 'port = 1701', `auth file = ${secrets}`, ...section, ''].join('\n'));
  const files = ['-c', configuration, '-p', join(folder, 'pid'), '-C', join(folder, 'control')];
  return runProgram(side, 'xl2tpd', ['-D', ...files]).output;
};

describe('sessions in tunnels of L2TP', () => {
  const cable = useCable('test', stopNeighbourDiscovery);

  it('come up between our ends, several to a tunnel, without a complaint of tshark', async () => {
    const { left, right } = cable;
    const [fromClient, fromServer] = await Promise.all([startSniffer(right), startSniffer(left)]);
    const ppp = profile('ppp', { lcp: { timeoutSec: 1, echoSec: 1 }, auth: { timeoutSec: 1 } });
    const session = { maxPerTunnel: 10, dataSequencing: true, dataLength: true };
    const l2tpOf = (localAddress: string, peerAddress?: string) =>
      profile('l2tp', {
        tunnel: { localAddress, ...(peerAddress && { peerAddress }), secret, tosOfControl: 0xc0 },
        session,
      });
    const server = await startJobIn(right, {
      ...accessJob('server', right.device, { l2tp: l2tpOf(networkServer), ppp }),
      ...watched,
    });
    const client = await startJobIn(left, {
      ...accessJob('client', left.device, {
        sessions: sessionsProfile(40, { traffic: { ipv4PacketsPerSec: 2 } }),
        links: profile('links', { link: { sourceMac: '02:77:00:00:00:01' } }),
        l2tp: l2tpOf(concentrator, networkServer),
        ppp,
      }),
      ...watched,
    });
    for (const job of [client, server]) await untilUp(job, 40);
    await untilMore(client, 'access.proofReceived', 80);
    const totals = await client.stop();
    const served = await server.stop();
    await Promise.all([fromClient.stop(), fromServer.stop()]);
    expect(totals.histogram('access.setup').count).toBe(40);
    expect(totals.histogram('access.step.call').count).toBe(40);
    expect(addressesOf(totals)).toHaveLength(40);
    expect(columnOf(totals, 'mac')).toEqual(['02:77:00:00:00:01']);
    expect(columnOf(totals, 'peer')).toEqual([networkServer]);
    expect(columnOf(served, 'peer')).toEqual([concentrator]);
    expect(columnOf(served, 'tunnelId')).toHaveLength(4);
    expect(served.histogram('access.setup').count).toBe(40);
    expect([served.counter('access.flapped'), served.gauge('access.established')]).toEqual([0, 0]);
    expect(rowsOf(totals)[39]).toMatchObject({ state: 'ended', cells: { lastError: 'stopped', attempts: 1 } });
    const typesOf = async (one: Sniffer) =>
      new Set((await one.fields('l2tp.avp.message_type', ['l2tp.avp.message_type'])).flat());
    expect(await typesOf(fromClient)).toEqual(new Set(['1', '3', '4', '10', '12', '14']));
    expect(await typesOf(fromServer)).toEqual(new Set(['2', '11', '14']));
    for (const one of [fromClient, fromServer]) expect(await complaints(one, 'l2tp || arp || icmp')).toEqual([]);
  });

  it('are called for at xl2tpd, which takes tunnel, secret and calls', async () => {
    const { left, right } = cable;
    const output = startXl2tpd(right, [
      '[lns default]',
      'ip range = 10.77.0.2-10.77.0.9',
      'local ip = 10.77.0.1',
      'challenge = yes',
      'require authentication = no',
      'ppp debug = no',
    ]);
    await expect.poll(output).toContain('Listening on IP address');
    const sniffer = await startSniffer(right);
    const client = await startJobIn(left, {
      ...accessJob('client', left.device, {
        sessions: sessionsProfile(2, { life: { maxAttempts: 1 } }),
        l2tp: profile('l2tp', { tunnel: { localAddress: concentrator, peerAddress: right.address, secret } }),
        ppp: profile('ppp'),
      }),
      duration: untilStopped,
    });
    await expect.poll(() => output().match(/Call established with/g)).toHaveLength(2);
    const totals = await client.stop();
    await sniffer.stop();
    expect(output()).toContain(`Connection established to ${concentrator}, 1701`);
    expect(totals.histogram('access.step.call').count).toBe(2);
    expect(await complaints(sniffer, 'l2tp')).toEqual([]);
  });

  it('of xl2tpd come in at our end, which proves that it knows the secret', async () => {
    const { left, right } = cable;
    const server = await startJobIn(left, {
      ...accessJob('server', left.device, {
        l2tp: profile('l2tp', { tunnel: { localAddress: networkServer, secret, helloSec: 1 } }),
        ppp: profile('ppp'),
      }),
      duration: untilStopped,
    });
    const output = startXl2tpd(right, [
      '[lac rushhour]',
      `lns = ${networkServer}`,
      'challenge = yes',
      'autodial = yes',
      'redial = no',
      'require authentication = no',
    ]);
    await expect.poll(output).toContain(`Connection established to ${networkServer}, 1701`);
    await expect.poll(output).toContain('Call established with');
    const totals = await server.stop();
    expect(totals.counter('access.rx.l2tp')).toBeGreaterThan(3);
  });
});
