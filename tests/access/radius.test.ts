import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startJobIn } from '../engines/namespaces.ts';
import { stopNeighbourDiscovery, useCable } from '../engines/use-cable.ts';
import {
  addressesOf,
  columnOf,
  rowsOf,
  runProgram,
  temporaryFolder,
  untilMore,
  untilStopped,
  untilUp,
  watched,
} from './access-results.ts';
import { radiusSection, startFreeRadius } from './freeradius.ts';
import { accessJob, profile, sessionsProfile } from './profiles.ts';

const users = [
  'user1@rushhour.test Cleartext-Password := "test-1"\n  Framed-IP-Address = 10.55.0.1, Class = 0x676f6c64',
  'user2@rushhour.test Cleartext-Password := "test-2"\n  Framed-Pool = "gold", Acct-Interim-Interval = 60',
  'user3@rushhour.test Cleartext-Password := "another"',
];

const gold = { name: 'gold', start: '10.66.0.1', size: 10 };
const once = { life: { reconnect: false, maxAttempts: 1 } };
const lcp = { timeoutSec: 1 };
const ip6cp = { enabled: false };

describe('FreeRADIUS behind our concentrator', () => {
  const cable = useCable('test', stopNeighbourDiscovery);

  it.each(['pap', 'chap', 'mschapv2'] as const)(
    'decides about users with %s and keeps account of them',
    async (protocol) => {
      const { left, right } = cable;
      const server = await startFreeRadius(right, users);
      const ppp = { auth: { protocol, timeoutSec: 5 }, lcp, ip6cp };
      const gateway = await startJobIn(right, {
        ...accessJob('server', right.device, {
          pppoe: profile('pppoe'),
          ppp: profile('ppp', {
            ...ppp,
            server: { decision: 'radius', pools: [gold] },
            radius: radiusSection({ interimSec: 1 }),
          }),
        }),
        duration: untilStopped,
      });
      const client = await startJobIn(left, {
        ...accessJob('client', left.device, {
          sessions: sessionsProfile(3, { ...once, traffic: { ipv4PacketsPerSec: 5 } }),
          pppoe: profile('pppoe'),
          ppp: profile('ppp', ppp),
          links: profile('links', { link: { sourceMac: '02:77:00:00:00:01' } }),
        }),
        ...watched,
      });
      await untilUp(client, 2);
      await untilMore(client, 'access.proofReceived', 10);
      await untilMore(client, 'access.failures.authentication-refused', 0);
      const of = (kind: string, user: number) =>
        server.records().filter((text) => text.includes(`Acct-Status-Type = ${kind}`) && text.includes(`user${user}@`));
      await expect.poll(() => of('Interim-Update', 1).length).toBeGreaterThan(1);
      const totals = await client.stop();
      const served = await gateway.stop();
      expect(addressesOf(totals).toSorted()).toEqual(['10.55.0.1', '10.66.0.1']);
      expect(totals.counter('access.failures.authentication-refused')).toBe(1);
      expect(served.counter('access.failures.authentication-refused')).toBe(1);
      expect([of('Start', 1), of('Start', 2), of('Stop', 1), of('Stop', 2)].map(({ length }) => length)).toEqual([
        1, 1, 1, 1,
      ]);
      // The server has asked for records of this one once a minute.
      expect(of('Interim-Update', 2)).toEqual([]);
      const [stop = ''] = of('Stop', 1);
      for (const part of [
        'Framed-IP-Address = 10.55.0.1',
        'Class = 0x676f6c64',
        'Calling-Station-Id = "02-77-00-00-00-01"',
        'Acct-Terminate-Cause = User-Request',
        `NAS-Port-Id = "${right.device}"`,
      ])
        expect(stop).toContain(part);
      const octets = Number(/Acct-Input-Octets = (\d+)/.exec(stop)?.[1]);
      const row = rowsOf(totals).find(({ index }) => index === 0);
      expect(octets).toBe(row?.cells['txBytes']);
    },
  );

  it('says so in the session table when the server is silent', async () => {
    const { left, right } = cable;
    const ppp = { lcp, ip6cp };
    const gateway = await startJobIn(right, {
      ...accessJob('server', right.device, {
        pppoe: profile('pppoe'),
        ppp: profile('ppp', { ...ppp, server: { decision: 'radius' }, radius: radiusSection() }),
      }),
      ...watched,
    });
    const client = await startJobIn(left, {
      ...accessJob('client', left.device, {
        sessions: sessionsProfile(2, once),
        pppoe: profile('pppoe'),
        ppp: profile('ppp', ppp),
      }),
      duration: untilStopped,
    });
    await untilMore(gateway, 'access.failures.radius-no-answer', 1);
    const totals = await client.stop();
    const served = await gateway.stop();
    expect(totals.histogram('access.setup').count).toBe(0);
    expect(rowsOf(served).map(({ cells }) => cells['lastError'])).toEqual(['RADIUS: no answer', 'RADIUS: no answer']);
    expect(served.counter('access.timeouts.radius')).toBe(4);
  });
});

describe('FreeRADIUS behind our server of DHCP', () => {
  const cable = useCable('test', stopNeighbourDiscovery);

  it.each([true, false])('decides which clients of DHCP get an address (it answers: %s)', async (answers) => {
    const { left, right } = cable;
    const records = answers
      ? (
          await startFreeRadius(right, [
            '02:77:00:00:00:01 Cleartext-Password := "02:77:00:00:00:01"\n  Framed-IP-Address = 100.64.0.77',
            '02:77:00:00:00:02 Cleartext-Password := "02:77:00:00:00:02"\n  Session-Timeout = 2000',
          ])
        ).records
      : () => [];
    const gateway = await startJobIn(right, {
      ...accessJob('server', right.device, {
        ipoe: profile('ipoe'),
        dhcp: profile('dhcp', { server: { decision: 'radius' }, radius: radiusSection() }),
      }),
      ...watched,
    });
    const client = await startJobIn(left, {
      ...accessJob('client', left.device, {
        sessions: sessionsProfile(3, once),
        ipoe: profile('ipoe'),
        dhcp: profile('dhcp', { client: { timeoutSec: 3, retries: 1 } }),
        links: profile('links', { link: { sourceMac: '02:77:00:00:00:01' } }),
      }),
      ...watched,
    });
    await untilUp(client, answers ? 2 : 0);
    await expect.poll(() => rowsOf(gateway).filter(({ cells }) => cells['lastError'])).toHaveLength(answers ? 1 : 3);
    const totals = await client.stop();
    const served = await gateway.stop();
    const errors = rowsOf(served).flatMap(({ cells }) => cells['lastError'] ?? []);
    if (!answers) {
      expect(addressesOf(totals)).toEqual([]);
      expect(new Set(errors)).toEqual(new Set(['RADIUS: no answer']));
      return;
    }
    expect(addressesOf(totals)).toHaveLength(2);
    expect(addressesOf(totals)).toContain('100.64.0.77');
    expect(columnOf(totals, 'leaseSec').toSorted()).toEqual([2000, 3600]);
    expect(errors).toEqual(['authentication: refused']);
    const kinds = records().map((text) => /Acct-Status-Type = (\w+)/.exec(text)?.[1]);
    expect(kinds.toSorted()).toEqual(['Start', 'Start', 'Stop', 'Stop']);
  });
});

describe('FreeRADIUS behind our authenticator', () => {
  const cable = useCable('test', stopNeighbourDiscovery);

  it('lets wpa_supplicant in by PEAP with MS-CHAPv2, and refuses another password', async () => {
    const { left, right } = cable;
    const server = await startFreeRadius(right, users);
    const dot1x = profile('dot1x', { authenticator: { decision: 'radius' }, radius: radiusSection() });
    const authenticator = await startJobIn(right, {
      ...accessJob('server', right.device, { dot1x, ipoe: profile('ipoe'), dhcp: profile('dhcp') }),
      duration: untilStopped,
    });
    const supplicantOf = (password: string) => {
      const config = join(temporaryFolder(), 'wpa.conf');
      const lines = [
        'key_mgmt=IEEE8021X\neap=PEAP\nidentity="user1@rushhour.test"',
        `password="${password}"\nphase2="auth=MSCHAPV2"\nca_cert="${server.certificate}"\neapol_flags=0`,
      ];
      writeFileSync(config, `ap_scan=0\nnetwork={\n${lines.join('\n')}\n}\n`);
      return runProgram(left, 'wpa_supplicant', ['-D', 'wired', '-i', left.device, '-c', config]);
    };
    const good = supplicantOf('test-1');
    await expect.poll(good.output, { timeout: 60_000 }).toContain('CTRL-EVENT-EAP-SUCCESS');
    good.child.kill('SIGTERM');
    await good.exited;
    const bad = supplicantOf('wrong');
    await expect.poll(bad.output, { timeout: 60_000 }).toContain('CTRL-EVENT-EAP-FAILURE');
    const served = await authenticator.stop();
    expect(columnOf(served, 'identity')).toEqual(['user1@rushhour.test']);
    expect(rowsOf(served)[0]).toMatchObject({ state: 'held', cells: { lastError: 'refused by the RADIUS server' } });
    expect(server.records().map((text) => /Acct-Status-Type = (\w+)/.exec(text)?.[1])).toEqual(['Start', 'Stop']);
  });

  it.each(['md5', 'peap-mschapv2'] as const)('lets our supplicants in by %s', async (method) => {
    const { left, right } = cable;
    await startFreeRadius(right, users);
    const dot1x = { supplicant: { method }, timers: { startPeriodSec: 2 } };
    const authenticator = await startJobIn(right, {
      ...accessJob('server', right.device, {
        dot1x: profile('dot1x', { ...dot1x, authenticator: { decision: 'radius' }, radius: radiusSection() }),
      }),
      duration: untilStopped,
    });
    const client = await startJobIn(left, {
      ...accessJob('client', left.device, { sessions: sessionsProfile(3, once), dot1x: profile('dot1x', dot1x) }),
      ...watched,
    });
    await untilUp(client, 2, ['authentication']);
    await untilMore(client, 'access.failures.802-1x-refused', 0);
    const totals = await client.stop();
    expect(totals.histogram('access.setup').count).toBe(2);
    expect(totals.counter('access.failures.802-1x-refused')).toBe(1);
    await authenticator.stop();
  });
});
