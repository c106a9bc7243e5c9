import type { IpsecSettings } from '@rushhour/protocol';
import { afterEach, expect, it } from 'vitest';
import { runJobIn } from '../engines/namespaces.ts';
import { useCable } from '../engines/use-cable.ts';
import { insideAddress, type StrongSwan, startStrongSwan } from './strongswan.ts';
import { createAuthority } from './test-authority.ts';

const cable = useCable('file');
let gateway: StrongSwan | undefined;
afterEach(() => gateway?.stop());

const users = [0, 1, 2, 3];
const range = { start: '10.1.0.0', end: '10.1.0.255' };

const configuration = `
connections { gw {
  version = 2
  local_addrs = 10.99.0.2
  remote_addrs = 10.99.0.11-10.99.0.14
  proposals = aes128-sha256-x25519
  unique = never
  send_certreq = no
  local { auth = pubkey
    certs = server.pem
    id = server.test }
  remote { auth = eap-mschapv2
    eap_id = %any }
  children { gw {
    local_ts = 10.2.0.0/24
    remote_ts = 10.1.0.0/24
    esp_proposals = aes256gcm16 } }
} }
secrets { ${users.map((index) => `eap-${index} { id = user${index}\n secret = "the password" }`).join('\n')} }`;

it('lets users in by EAP-MSCHAPv2, each with its own name, and refuses a wrong password or an unknown authority', async () => {
  const authority = createAuthority('rsa');
  const server = authority.issue('server.test');
  gateway = await startStrongSwan(cable.right, {
    connections: configuration,
    files: {
      'x509ca/ca.pem': authority.certificate,
      'x509/server.pem': server.certificate,
      'private/server.pem': server.privateKey,
    },
  });
  const open = (more: Partial<IpsecSettings>) =>
    runJobIn(cable.left, {
      engine: 'ipsec-tunnel',
      config: {
        role: 'client',
        targets: [{ host: '10.99.0.2', port: 500 }],
        sourceCount: 4,
        tunnels: users.length,
        settings: {
          ...{ authMethod: 'eap-mschapv2', eapIdentity: 'user{index}', psk: 'the password', ca: authority.certificate },
          ...{ ikeEncryption: 'aes128', natt: true, localRange: range, uniqueSelectors: true },
          remoteRange: { start: '10.2.0.0', end: '10.2.0.255' },
          ...more,
        },
        inside: { client: range, server: { start: insideAddress, end: insideAddress } },
      },
      duration: { mode: 'time', seconds: 5 },
      stack: {
        interface: cable.left.device,
        networks: [{ subnet: '10.99.0.0/24', hosts: ['10.99.0.11-10.99.0.14'] }],
        ...{ vlan: [], header: {}, tcp: {}, path: 'af_packet' },
      },
    });
  const up = await open({});
  expect(up.counter('ipsec-tunnel.opened')).toBe(users.length);
  expect(up.counter('ipsec-tunnel.rxBytes')).toBeGreaterThan(0);
  for (const index of users) expect(gateway.log()).toContain(`user${index}`);
  const wrong = await open({ psk: 'another password' });
  expect(wrong.counter('ipsec-tunnel.opened')).toBe(0);
  expect(wrong.counter('ipsec-tunnel.failed.eapFailure')).toBeGreaterThan(0);
  const strange = await open({ ca: createAuthority('rsa').certificate });
  expect(strange.counter('ipsec-tunnel.failed.untrusted')).toBeGreaterThan(0);
});
