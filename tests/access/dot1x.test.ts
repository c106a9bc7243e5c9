import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startJobIn } from '../engines/namespaces.ts';
import { stopNeighbourDiscovery, useCable } from '../engines/use-cable.ts';
import { startSniffer } from '../stack/sniffer.ts';
import { columnOf, complaints, rowsOf, runProgram, seconds, temporaryFolder, untilStopped } from './access-results.ts';
import { accessJob, profile, sessionsProfile } from './profiles.ts';

const users = Array.from({ length: 10 }, (_, i) => `"user${i + 1}@rushhour.test" MD5 "test-${i + 1}"`);

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
