import { tlsProfiles } from '@rushhour/contract';
import { expect, it } from 'vitest';
import { guard, step } from './campaign-suite.ts';
import { addresses, attack, type Lab, tally } from './lab.ts';

const sweptPorts = [22, 80, 135, 443, 445, 3389];
const sweep = {
  name: 'Sweep of a network',
  steps: [
    step(0, {
      ...{ name: 'sweep', tactic: 'discovery', technique: 'T1018', action: 'host-sweep', protocol: 'tcp', port: 445 },
      ...{ direction: 'lateral', repeat: 1 },
      params: { count: 6, ports: sweptPorts.join(','), open: '80,445', rate: 500, timeoutMs: 500 },
    }),
  ],
};

/** With a name of its own each time, so that a test can be repeated. */
const networkOf = async (lab: Lab, subnet: string) =>
  (await lab.system.client.networks.create({ body: { name: `${subnet} ${Date.now()}`, subnet } as never })).data;

/** How often which port was judged how. */
const foundPorts = (attempts: Awaited<ReturnType<typeof attack>>['attempts']) => {
  const found = Map.groupBy(attempts, ({ request, reason, outcome, mechanism }) =>
    [request?.split(',')[0], outcome, mechanism ?? '', reason.split(':')[0]].join(' ').replaceAll('  ', ' '),
  );
  return Object.fromEntries([...found].map(([name, all]) => [name, all.length]));
};

/** A sweep of a network by hosts with addresses of their own; `labOf` is called when the test runs. */
export const sweepThroughRouter = (labOf: () => Lab) => {
  it('several hosts at once sweep a network in which few ports are open, past a firewall that answers for some', async () => {
    const lab = labOf();
    const [clients, servers] = [await networkOf(lab, '10.97.1.96/29'), await networkOf(lab, '10.97.2.96/29')];
    guard(lab, 'tcp dport 3389 reject with tcp reset', 'ip daddr 10.97.2.98 tcp dport 22 drop');
    const { attempts, rates } = await attack(lab, {
      plugin: 19,
      to: addresses.server,
      port: 0,
      values: {
        sources: [{ agent: { id: lab.client.id }, network: { id: clients } }],
        targets: [{ agent: { id: lab.server.id }, network: { id: servers } }],
        compromisedHostParams: { campaign: sweep, hosts: 3, detection: { control: { timeoutMs: 1000, retries: 1 } } },
      },
    });
    lab.inDevice('nft', 'delete', 'table', 'inet', 'guard');
    const counts = foundPorts(attempts);
    const port = (number: number, verdict: string) => `connect to port ${number} ${verdict}`;
    expect(counts).toMatchObject({
      [port(22, 'passed found closed')]: 15,
      [port(80, 'passed found open')]: 18,
      [port(135, 'passed found closed')]: 18,
      [port(443, 'passed found closed')]: 18,
      [port(445, 'passed found open')]: 18,
    });
    const stopped = attempts.filter(({ outcome }) => outcome === 'blocked');
    expect(tally(stopped)).toEqual({ 'blocked connect-refused': 18, 'blocked silent-drop': 3 });
    expect(tally(attempts)).toMatchObject({ passed: 87 });
    expect(rates.coverage.value).toBe(1);
    expect([...new Set(attempts.map(({ client }) => client.ip))].sort()).toEqual([
      '10.97.1.97',
      '10.97.1.98',
      '10.97.1.99',
    ]);
    const reached = new Set(attempts.flatMap(({ server: { ip } }) => (ip === '' ? [] : ip)));
    expect(reached).toEqual(new Set([97, 98, 99, 100, 101, 102].map((last) => `10.97.2.${last}`)));
  });
};

const beacons = {
  name: 'Beacons of many clients',
  steps: tlsProfiles.map((tlsProfile, idx) =>
    step(idx, {
      ...{ name: tlsProfile, technique: 'T1573.002', action: 'https-beacon', protocol: 'https', port: 8443, repeat: 1 },
      params: { tlsProfile, sni: 'cdn.example.test' },
    }),
  ),
};

/** Beacons that imitate other TLS clients. */
export const beaconsThroughRouter = (labOf: () => Lab) => {
  it('beacons imitate the TLS of other clients, and the report shows the fingerprint of each', async () => {
    const lab = labOf();
    const { attempts, security } = await attack(lab, {
      plugin: 19,
      to: addresses.server,
      port: 0,
      values: {
        targets: [{ agent: { id: lab.server.id }, ip: addresses.server }],
        compromisedHostParams: { campaign: beacons },
      },
    });
    expect(tally(attempts)).toEqual({ passed: tlsProfiles.length });
    expect(attempts.map(({ server }) => server.tls)).toEqual(attempts.map(({ client }) => client.tls));
    const hellos = security.campaign?.hellos ?? [];
    expect(hellos.map(({ steps }) => steps)).toEqual(tlsProfiles.map((name, idx) => [`${idx + 1} ${name}`]));
    expect(hellos.every(({ changed }) => changed.length === 0)).toBe(true);
    // With a name; browsers offer HTTP/2 first; the old client offers six suites of TLS 1.2, and no ALPN.
    const ja4 = Object.fromEntries(hellos.map((hello, n) => [tlsProfiles[n], hello.ja4]));
    expect(ja4).toMatchObject({
      browser: expect.stringMatching(/^t13d15\d\dh2_/),
      go: expect.stringMatching(/^t13d13\d\dh1_/),
      'old-implant': expect.stringMatching(/^t12d06\d\d00_/),
    });
  });
};
