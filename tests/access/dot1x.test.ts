import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Side, startJobIn } from '../engines/namespaces.ts';
import { stopNeighbourDiscovery, useCable } from '../engines/use-cable.ts';
import { startSniffer } from '../stack/sniffer.ts';
import { columnOf, complaints, rowsOf, runProgram, seconds, temporaryFolder, untilStopped } from './access-results.ts';
import { accessJob, profile, sessionsProfile } from './profiles.ts';

const users = Array.from({ length: 10 }, (_, i) => `"user${i + 1}@rushhour.test" MD5 "test-${i + 1}"`);

/** Keys and certificates of an authority, of a server and a client that it has signed, and of another authority. */
const createPki = (folder: string) => {
  const at = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe' });
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  for (const name of ['ca', 'other'])
    openssl(
      'req',
      '-x509',
      ...curve,
      '-days',
      '2',
      '-subj',
      `/CN=${name}`,
      '-keyout',
      at(`${name}.key`),
      '-out',
      at(`${name}.pem`),
    );
  for (const name of ['server', 'client']) {
    openssl('req', ...curve, '-subj', `/CN=${name}`, '-keyout', at(`${name}.key`), '-out', at(`${name}.csr`));
    const authority = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial'];
    openssl('x509', '-req', '-in', at(`${name}.csr`), ...authority, '-days', '2', '-out', at(`${name}.pem`));
  }
  return { read: (name: string) => readFileSync(at(name), 'utf8') };
};

/** Starts hostapd with its own server of EAP. */
const startHostapd = async (side: Side, folder: string, users: readonly string[]) => {
  const at = (name: string) => join(folder, name);
  writeFileSync(at('users'), `${users.join('\n')}\n`);
  const tls = [`ca_cert=${at('ca.pem')}`, `server_cert=${at('server.pem')}`, `private_key=${at('server.key')}`];
  const lines = ['driver=wired', 'ieee8021x=1', 'eap_server=1', `eap_user_file=${at('users')}`, 'logger_stdout=-1'];
  writeFileSync(at('hostapd.conf'), `${[`interface=${side.device}`, ...lines, ...tls].join('\n')}\n`);
  const hostapd = runProgram(side, 'hostapd', [at('hostapd.conf')]);
  await expect.poll(hostapd.output, { timeout: 30_000 }).toContain('AP-ENABLED');
  return hostapd;
};

describe('802.1X', () => {
  const cable = useCable('test', stopNeighbourDiscovery);

  it('lets supplicants in at hostapd, and refuses the one with another password', async () => {
    const { left, right } = cable;
    const folder = temporaryFolder();
    const [config, userFile] = [join(folder, 'hostapd.conf'), join(folder, 'users')];
    // The last user has another password.
    writeFileSync(userFile, `${users.join('\n').replace('test-10', 'other')}\n`);
    writeFileSync(
      config,
      [
        `interface=${right.device}`,
        ...['driver=wired', 'ieee8021x=1', 'eap_server=1', `eap_user_file=${userFile}`, 'logger_stdout=-1'],
        '',
      ].join('\n'),
    );
    const hostapd = runProgram(right, 'hostapd', [config]);
    await expect.poll(hostapd.output, { timeout: 30_000 }).toContain('AP-ENABLED');
    const sniffer = await startSniffer(right);
    const client = await startJobIn(left, {
      ...accessJob('client', left.device, {
        sessions: sessionsProfile(10),
        links: profile('links', { link: { sourceMac: '02:88:00:00:00:01' } }),
        dot1x: profile('dot1x', { supplicant: { method: 'md5' }, timers: { startPeriodSec: 2 } }),
      }),
      duration: seconds(5),
    });
    const totals = await client.totals;
    await sniffer.stop();
    expect(totals.histogram('access.setup').count).toBe(9);
    expect(totals.counter('access.failures.802-1x-refused')).toBe(1);
    expect(columnOf(totals, 'authentication')).toEqual(['EAP-MD5']);
    expect(rowsOf(totals).find(({ index }) => index === 9)).toMatchObject({ cells: { authentication: 'none' } });
    expect(hostapd.output()).toContain('CTRL-EVENT-EAP-SUCCESS 02:88:00:00:00:01');
    expect(await sniffer.fields('eapol.type == 2', ['frame.number'])).not.toEqual([]);
    // All that tshark finds is what it says of the method.
    const found = (await complaints(sniffer, 'eapol')).map(([, message]) => message);
    expect(new Set(found)).toEqual(new Set(['Vulnerable to MITM attacks. If possible, change EAP type.']));
  });

  it.each([
    ['peap-mschapv2', 'PEAP-MSCHAPv2'],
    ['ttls-pap', 'EAP-TTLS-PAP'],
    ['ttls-mschapv2', 'EAP-TTLS-MSCHAPv2'],
    ['tls', 'EAP-TLS'],
  ] as const)(
    'lets supplicants in at hostapd by %s, and refuses the one who cannot prove itself',
    async (method, name) => {
      const { left, right } = cable;
      const folder = temporaryFolder();
      const pki = createPki(folder);
      const hostapd = await startHostapd(right, folder, [
        '* PEAP,TTLS,TLS',
        // The last user has another password.
        ...[1, 2, 3].map((n) => `"user${n}@rushhour.test" MSCHAPV2,TTLS-PAP,TTLS-MSCHAPV2 "test-${n % 3}" [2]`),
      ]);
      const sniffer = await startSniffer(right);
      const [supplicant] = profile('dot1x', {
        supplicant: { method, ...(method !== 'tls' && { outerIdentity: 'anonymous' }) },
        timers: { startPeriodSec: 2 },
      });
      const identity =
        method === 'tls' ? { certificate: pki.read('client.pem'), privateKey: pki.read('client.key') } : {};
      const job = (ca: string, mac: string) => ({
        ...accessJob('client', left.device, {
          sessions: sessionsProfile(3, { life: { reconnect: false } }),
          links: profile('links', { link: { sourceMac: mac } }),
          dot1x: [{ ...supplicant, supplicant: { ...supplicant?.supplicant, ...identity, ca } }],
        }),
        duration: seconds(4),
      });
      const client = await startJobIn(left, job(pki.read('ca.pem'), '02:89:00:00:00:01'));
      const totals = await client.totals;
      // Users of certificates have no passwords.
      const expected = method === 'tls' ? 3 : 2;
      expect(totals.histogram('access.setup').count).toBe(expected);
      expect(columnOf(totals, 'authentication')).toEqual([name]);
      expect(totals.counter('access.failures.802-1x-refused')).toBe(3 - expected);
      if (method === 'tls') {
        // A server that another authority has signed.
        const distrustful = await startJobIn(left, job(pki.read('other.pem'), '02:8a:00:00:00:01'));
        expect((await distrustful.totals).histogram('access.setup').count).toBe(0);
      }
      await sniffer.stop();
      expect(hostapd.output()).toContain('CTRL-EVENT-EAP-SUCCESS 02:89:00:00:00:01');
      const found = (await complaints(sniffer, 'eapol')).map(([, message]) => message ?? '');
      expect(found.filter((message) => !/ignored unknown|Alert/i.test(message))).toEqual([]);
    },
  );

  it('lets wpa_supplicant in at our authenticator, which then serves it by DHCP', async () => {
    const { left, right } = cable;
    const folder = temporaryFolder();
    const dot1x = profile('dot1x', { supplicant: { method: 'md5' }, timers: { authPeriodSec: 2 } });
    const server = await startJobIn(right, {
      ...accessJob('server', right.device, { dot1x, ipoe: profile('ipoe'), dhcp: profile('dhcp') }),
      duration: untilStopped,
    });
    const config = join(folder, 'wpa.conf');
    writeFileSync(
      config,
      'ap_scan=0\nnetwork={\nkey_mgmt=IEEE8021X\neap=MD5\nidentity="user7@rushhour.test"\npassword="test-7"\neapol_flags=0\n}\n',
    );
    const supplicant = runProgram(left, 'wpa_supplicant', ['-D', 'wired', '-i', left.device, '-c', config]);
    await expect.poll(supplicant.output, { timeout: 60_000 }).toContain('CTRL-EVENT-EAP-SUCCESS');
    const dhclient = runProgram(left, 'dhclient', [
      ...['-4', '-d', '-1', '-v', '-sf', '/bin/true', '-lf', join(folder, 'leases'), '-pf', join(folder, 'pid')],
      left.device,
    ]);
    await expect.poll(dhclient.output, { timeout: 30_000 }).toContain('bound to 100.64.0.2');
    const served = await server.stop();
    expect(columnOf(served, 'identity')).toContain('user7@rushhour.test');
  });
});
