import type { IpsecSettings, RowsRecord } from '@rushhour/protocol';
import { afterEach, expect, it } from 'vitest';
import type { Totals } from '../engines/job.ts';
import { runJobIn } from '../engines/namespaces.ts';
import { useCable } from '../engines/use-cable.ts';
import { insideAddress, type StrongSwan, startStrongSwan } from './strongswan.ts';
import { type Authority, createAuthority } from './test-authority.ts';

const cable = useCable('file');
let gateway: StrongSwan | undefined;
afterEach(() => gateway?.stop());

const users = [0, 1, 2, 3];
const range = { start: '10.1.0.0', end: '10.1.0.255' };

const configurationOf = (method: 'eap-mschapv2' | 'eap-tls', pool = '') => `
connections { gw {
  version = 2
  local_addrs = 10.99.0.2
  remote_addrs = 10.99.0.11-10.99.0.14
  proposals = aes128-sha256-x25519
  unique = never
  send_certreq = no
  ${pool === '' ? '' : 'pools = inside'}
  local { auth = pubkey
    certs = server.pem
    id = server.test }
  remote { auth = ${method}
    eap_id = %any }
  children { gw {
    local_ts = 10.2.0.0/24
    remote_ts = ${pool === '' ? '10.1.0.0/24' : 'dynamic'}
    esp_proposals = aes256gcm16 } }
} }
${pool === '' ? '' : `pools { inside { addrs = ${pool} } }`}
secrets { ${users.map((index) => `eap-${index} { id = user${index}\n secret = "the password" }`).join('\n')} }`;

const startGateway = (method: 'eap-mschapv2' | 'eap-tls', authority: Authority, pool = '') => {
  const server = authority.issue('server.test');
  return startStrongSwan(cable.right, {
    connections: configurationOf(method, pool),
    files: {
      'x509ca/ca.pem': authority.certificate,
      'x509/server.pem': server.certificate,
      'private/server.pem': server.privateKey,
    },
  });
};

/** Tunnels of four emulated hosts, each with an echo through it every second. */
const open = (settings: Partial<IpsecSettings>, hasInside = true) =>
  runJobIn(cable.left, {
    engine: 'ipsec-tunnel',
    config: {
      role: 'client',
      targets: [{ host: '10.99.0.2', port: 500 }],
      sourceCount: 4,
      tunnels: users.length,
      settings: {
        ...{ ikeEncryption: 'aes128', natt: true, uniqueSelectors: hasInside },
        ...(hasInside && { localRange: range }),
        remoteRange: { start: '10.2.0.0', end: '10.2.0.255' },
        ...settings,
      },
      ...(hasInside && { inside: { client: range, server: { start: insideAddress, end: insideAddress } } }),
    },
    duration: { mode: 'time', seconds: 4 },
    stack: {
      interface: cable.left.device,
      networks: [{ subnet: '10.99.0.0/24', hosts: ['10.99.0.11-10.99.0.14'] }],
      ...{ vlan: [], header: {}, tcp: {}, path: 'af_packet' },
    },
  });

/** Why tunnels failed. */
const failures = ({ summaries }: Totals): string[] => {
  const prefix = 'ipsec-tunnel.failed.';
  const names = summaries.flatMap(({ series }) => series.flatMap(({ counters }) => Object.keys(counters)));
  return [...new Set(names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length)))];
};

it('lets users in by EAP-MSCHAPv2, each with its own name, and refuses a wrong password or an unknown authority', async () => {
  const authority = createAuthority('rsa');
  gateway = await startGateway('eap-mschapv2', authority);
  const user = { authMethod: 'eap-mschapv2', eapIdentity: 'user{index}', psk: 'the password' } as const;
  const up = await open({ ...user, ca: authority.certificate });
  expect(up.counter('ipsec-tunnel.opened')).toBe(users.length);
  expect(up.counter('ipsec-tunnel.rxBytes')).toBeGreaterThan(0);
  for (const index of users) expect(gateway.log()).toContain(`user${index}`);
  const wrong = await open({ ...user, psk: 'another password', ca: authority.certificate });
  expect(wrong.counter('ipsec-tunnel.opened')).toBe(0);
  expect(wrong.counter('ipsec-tunnel.failed.eapFailure')).toBeGreaterThan(0);
  const strange = await open({ ...user, ca: createAuthority('rsa').certificate });
  expect(strange.counter('ipsec-tunnel.failed.untrusted')).toBeGreaterThan(0);
});

it.each(['rsa', 'ecdsa'] as const)(
  'lets users in by EAP-TLS with certificates of %s, and says why not',
  async (kind) => {
    const authority = createAuthority(kind);
    gateway = await startGateway('eap-tls', authority);
    const own = { authMethod: 'eap-tls', ca: authority.certificate } as const;
    const up = await open({ ...own, ...authority.issue('user.test') });
    expect(failures(up)).toEqual([]);
    expect(up.counter('ipsec-tunnel.opened')).toBe(users.length);
    expect(up.counter('ipsec-tunnel.rxBytes')).toBeGreaterThan(0);
    expect(gateway.log()).toContain("'user.test' with EAP successful");
    const stranger = await open({ ...own, ...createAuthority(kind).issue('user.test') });
    expect(stranger.counter('ipsec-tunnel.opened')).toBe(0);
    expect(failures(stranger)).toEqual(['alert.certificateUnknown']);
  },
);

it('asks the gateway for addresses inside, which the selectors show', async () => {
  const authority = createAuthority('ecdsa');
  gateway = await startGateway('eap-tls', authority, '10.1.0.16/28');
  const settings = { authMethod: 'eap-tls', ca: authority.certificate, ...authority.issue('user.test') } as const;
  const { summaries, ...up } = await open(settings, false);
  expect(up.counter('ipsec-tunnel.opened')).toBe(users.length);
  const records = summaries.flatMap((summary) => (summary.records ?? []) as Partial<RowsRecord>[]);
  const rows = records.flatMap(({ table, rows: some = [] }) => (table === 'sas' ? some : []));
  const selectors = new Set(rows.map(({ cells }) => String(cells['localSelector'])));
  expect([...selectors].sort()).toEqual(['10.1.0.17', '10.1.0.18', '10.1.0.19', '10.1.0.20']);
});
