import type { IpsecSettings } from '@rushhour/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { runJobIn, startJobIn } from '../engines/namespaces.ts';
import { useCable } from '../engines/use-cable.ts';
import { startPartner } from './start-partner.ts';
import { insideAddress, type StrongSwan, startStrongSwan } from './strongswan.ts';
import { createAuthority } from './test-authority.ts';

const base: IpsecSettings = {
  mode: 'tunnel',
  authMethod: 'psk',
  psk: 'a long secret',
  cipher: 'aes256gcm16',
  encrypts: true,
  pfs: false,
  natt: true,
  localRange: { start: '10.1.0.0', end: '10.1.0.255' },
  remoteRange: { start: '10.2.0.0', end: '10.2.0.255' },
  dpdIntervalSec: 0,
  dpdTimeoutSec: 0,
  rekeySec: 0,
  lifetimeSec: 0,
  uniqueSelectors: false,
  firstIndex: 0,
  children: 1,
};

/** Ranges where strongSwan is the initiator. */
const swapped = {
  localRange: { start: '10.2.0.0', end: '10.2.0.255' },
  remoteRange: { start: '10.1.0.0', end: '10.1.0.255' },
};

const ikeCiphers = [
  'aes128',
  'aes192',
  'aes256',
  'aes128ctr',
  'aes256ctr',
  'aes128gcm8',
  'aes192gcm12',
  'aes256gcm16',
  'chacha20poly1305',
];
const hashes = ['sha1', 'sha256', 'sha384', 'sha512'];
const groups = [
  'modp2048',
  'modp3072',
  'modp4096',
  'modp6144',
  'modp8192',
  'ecp256',
  'ecp384',
  'ecp521',
  'curve25519',
  'x448',
];
const espCiphers = [
  'aes128-sha1',
  'aes192-sha256',
  'aes256-sha384',
  'aes256-sha512',
  'aes128ctr-sha256',
  'aes128gcm8',
  'aes192gcm12',
  'aes256gcm16',
  'chacha20poly1305',
  'null-sha256',
];

const isCombined = (cipher: string) => /gcm|poly/.test(cipher);

const connection = (name: string, body: string, child = '') => `
  ${name} {
    version = 2
    local_addrs = 10.99.0.2
    remote_addrs = 10.99.0.1
    encap = yes
    ${body}
    children { ${name} {
      local_ts = 10.2.0.0/24
      remote_ts = 10.1.0.0/24
      ${child}
    } }
  }`;

const pskAuth = 'local { auth = psk }\n remote { auth = psk }';
const secrets = 'secrets { ike-all { secret = "a long secret" } }';

describe('strongSwan', () => {
  const cable = useCable('test');
  let gateway: StrongSwan | undefined;
  afterEach(() => gateway?.stop());

  it('answers with every algorithm, and refuses wrong keys with the right notification', async () => {
    const withHash = ikeCiphers.flatMap((cipher) =>
      isCombined(cipher) ? `${cipher}-prfsha256-x25519` : `${cipher}-sha256-x25519`,
    );
    const proposals = [
      ...withHash,
      ...hashes.map((hash) => `aes128-${hash}-x25519`),
      ...groups.map((group) => `aes128-sha256-${group}`),
    ];
    gateway = await startStrongSwan(cable.right, {
      connections: `connections { ${connection('gw', `${pskAuth}\n proposals = ${proposals.join(',')}`, `esp_proposals = ${espCiphers.join(',')}`)} } ${secrets}`,
    });
    const ike = (more: Partial<IpsecSettings>): IpsecSettings => ({
      ...base,
      ikeEncryption: 'aes128',
      ikePrf: 'sha256',
      ikeGroup: 'x25519',
      ...more,
    });
    const cases = [
      ...ikeCiphers.map((ikeEncryption) => ike({ ikeEncryption })),
      ...hashes.map((ikePrf) => ike({ ikePrf })),
      ...groups.map((ikeGroup) => ike({ ikeGroup })),
      ...espCiphers.map((cipher) => ike({ cipher })),
    ];
    const wrong = [
      ike({ psk: 'another secret' }),
      ike({ ikeEncryption: 'aes192', ikePrf: 'sha512' }),
      ike({ cipher: 'aes192-sha512' }),
      ike({ remoteRange: { start: '10.9.0.0', end: '10.9.0.9' } }),
    ];
    const { ended } = startPartner(cable.left, { settings: [...cases, ...wrong], isResponder: false });
    const results = await ended;
    expect(results.slice(0, cases.length).map(({ outcome }) => outcome)).toEqual(cases.map(() => 'up'));
    expect(results.slice(cases.length).map(({ outcome }) => outcome)).toEqual([
      'closed AUTHENTICATION_FAILED',
      'closed NO_PROPOSAL_CHOSEN',
      'NO_PROPOSAL_CHOSEN',
      'TS_UNACCEPTABLE',
    ]);
  });

  it('initiates with every algorithm', async () => {
    const names = [
      ...groups.map((group) => ({ ike: `aes128-sha256-${group}`, esp: 'aes256gcm16' })),
      ...espCiphers.map((esp) => ({ ike: 'aes256gcm16-prfsha384-x25519', esp })),
    ];
    gateway = await startStrongSwan(cable.right, {
      connections: `connections { ${names
        .map(({ ike, esp }, i) => connection(`c${i}`, `${pskAuth}\n proposals = ${ike}`, `esp_proposals = ${esp}`))
        .join('\n')} } ${secrets}`,
    });
    const settings = names.map(({ ike, esp }) => {
      const [ikeEncryption = '', hash = '', ikeGroup = ''] = ike.split('-');
      return { ...base, ...swapped, ikeEncryption, ikePrf: hash.replace('prf', ''), ikeGroup, cipher: esp };
    });
    const partner = startPartner(cable.left, { settings, isResponder: true });
    await expect.poll(() => partner.lines.length).toBe(1);
    for (const [i] of names.entries()) {
      partner.use(i);
      const output = await gateway.control('--initiate', '--child', `c${i}`, '--timeout', '10');
      expect(output).toContain('initiate completed successfully');
      await gateway.control('--terminate', '--ike', `c${i}`, '--timeout', '10');
    }
    partner.stop();
    await partner.ended;
  });

  it('renews keys of both kinds, begun by either side', async () => {
    gateway = await startStrongSwan(cable.right, {
      connections: `connections { ${connection('gw', `${pskAuth}\n proposals = aes128-sha256-x25519`, 'esp_proposals = aes256gcm16-x25519,aes256gcm16')} } ${secrets}`,
    });
    const ours = { ...base, rekeySec: 2, pfs: true, ikeEncryption: 'aes128', ikePrf: 'sha256', ikeGroup: 'x25519' };
    const results = await startPartner(cable.left, { settings: [ours], isResponder: false }).ended;
    const outcomes = results.map(({ outcome }) => outcome);
    expect(outcomes).toContain('child rekeyed');
    expect(outcomes).toContain('IKE rekeyed');
    const partner = startPartner(cable.left, { settings: [{ ...ours, ...swapped, rekeySec: 0 }], isResponder: true });
    await expect.poll(() => partner.lines.length).toBeGreaterThan(0);
    await gateway.control('--initiate', '--child', 'gw', '--timeout', '10');
    await gateway.control('--rekey', '--child', 'gw');
    await expect.poll(() => partner.lines.map(({ outcome }) => outcome)).toContain('child rekeyed');
    await gateway.control('--rekey', '--ike', 'gw');
    await expect.poll(() => partner.lines.map(({ outcome }) => outcome)).toContain('IKE rekeyed');
    partner.stop();
    await partner.ended;
  });

  it.each(['rsa', 'ecdsa'] as const)(
    'and we trust each other by %s certificates of one authority only',
    async (kind) => {
      const authority = createAuthority(kind);
      const [client, server] = [authority.issue('client.test'), authority.issue('server.test')];
      const expired = authority.issue('old.test', -1);
      const stranger = createAuthority(kind).issue('client.test');
      gateway = await startStrongSwan(cable.right, {
        connections: `connections { ${connection(
          'gw',
          `local { auth = pubkey
           certs = server.pem
           id = server.test }
         remote { auth = pubkey }
         proposals = aes128-sha256-x25519`,
          'esp_proposals = aes256gcm16',
        )} }`,
        files: {
          'x509ca/ca.pem': authority.certificate,
          'x509/server.pem': server.certificate,
          'private/server.pem': server.privateKey,
        },
      });
      const of = ({ certificate, privateKey }: typeof client, ca = authority.certificate): IpsecSettings => ({
        ...base,
        ...{ authMethod: 'cert', ikeEncryption: 'aes128', certificate, privateKey, ca },
      });
      const settings = [of(client), of(expired), of(stranger), of(client, stranger.certificate)];
      const results = await startPartner(cable.left, { settings, isResponder: false }).ended;
      expect(results.map(({ outcome }) => outcome)).toEqual([
        'up',
        'closed AUTHENTICATION_FAILED',
        'closed AUTHENTICATION_FAILED',
        'closed untrusted',
      ]);
      const answering = { ...of(client), ...swapped };
      const partner = startPartner(cable.left, {
        settings: [answering, { ...of(expired), ...swapped }],
        isResponder: true,
      });
      await expect.poll(() => partner.lines.length).toBe(1);
      expect(await gateway.control('--initiate', '--child', 'gw', '--timeout', '10')).toContain(
        'completed successfully',
      );
      partner.stop();
      await partner.ended;
    },
  );

  it.each([
    ['us', 0.7],
    ['the gateway', 0],
  ])('carries requests of emulated hosts, also while keys are renewed by %s', async (_, rekeySec) => {
    gateway = await startStrongSwan(cable.right, {
      connections: `connections { ${connection(
        'gw',
        `${pskAuth}\n proposals = aes128-sha256-x25519`,
        'esp_proposals = aes256gcm16-x25519,aes256gcm16',
      ).replace('10.99.0.1\n', '10.99.0.11\n')} } ${secrets}`,
    });
    const server = await startJobIn(cable.right, {
      engine: 'http',
      config: {
        role: 'server',
        listen: [{ host: insideAddress, port: 8080 }],
        responses: [{ body: { type: 'zero', size: 20_000 } }],
      },
      duration: { mode: 'continuous' },
    });
    const job = await startJobIn(cable.left, {
      engine: 'http',
      config: { role: 'client', targets: [{ host: insideAddress, port: 8080 }], connections: 4 },
      duration: { mode: 'count', count: 2000 },
      stack: {
        interface: cable.left.device,
        networks: [{ subnet: '10.1.0.0/24', hosts: ['10.1.0.1-10.1.0.4'] }],
        ...{ vlan: [], header: {}, tcp: {}, path: 'af_packet' },
        tunnel: {
          type: 'ipsec',
          params: {},
          ipsec: { ...base, ikeEncryption: 'aes128', rekeySec, pfs: true },
          isServer: false,
          ends: [{ local: '10.99.0.11', remote: '10.99.0.2' }],
          outer: { subnet: '10.99.0.0/24', hosts: ['10.99.0.11'] },
        },
      },
    });
    let isDone = false;
    const ended = job.totals.finally(() => {
      isDone = true;
    });
    while (rekeySec === 0 && !isDone) {
      await gateway.control('--rekey', '--child', 'gw');
      await gateway.control('--rekey', '--ike', 'gw');
    }
    const client = await ended;
    const served = await server.stop();
    expect(client.counter('http.ok')).toBe(2000);
    expect(served.counter('http.served')).toBe(2000);
    expect(gateway.log()).toContain('CHILD_SA gw{2} established');
  });

  /** A job of IPsec from four emulated hosts to the gateway. */
  const gatewayJob = async (engine: string, config: object, duration: object) => {
    gateway = await startStrongSwan(cable.right, {
      connections: `connections { ${connection(
        'gw',
        `${pskAuth}\n proposals = aes128-sha256-x25519\n unique = never`,
        'esp_proposals = aes256gcm16-x25519,aes256gcm16',
      ).replace('10.99.0.1\n', '10.99.0.11-10.99.0.14\n')} } ${secrets}`,
    });
    const targets = [{ host: '10.99.0.2', port: 500 }];
    return runJobIn(cable.left, {
      engine,
      config: { role: 'client', targets, sourceCount: 4, ...config },
      duration,
      stack: {
        interface: cable.left.device,
        networks: [{ subnet: '10.99.0.0/24', hosts: ['10.99.0.11-10.99.0.14'] }],
        ...{ vlan: [], header: {}, tcp: {}, path: 'af_packet' },
      },
    });
  };

  it('answers the echoes inside tunnels of ipsec-tunnel', async () => {
    const settings = { ...base, ikeEncryption: 'aes128', uniqueSelectors: true, localRange: base.localRange };
    const client = { start: '10.1.0.0', end: '10.1.0.255' };
    const config = { settings, tunnels: 4, inside: { client, server: { start: insideAddress, end: insideAddress } } };
    const totals = await gatewayJob('ipsec-tunnel', config, { mode: 'time', seconds: 6 });
    expect(totals.counter('ipsec-tunnel.opened')).toBe(4);
    expect(totals.counter('ipsec-tunnel.txBytes')).toBeGreaterThan(4 * 84);
    expect(totals.counter('ipsec-tunnel.rxBytes')).toBeGreaterThan(4 * 84);
    expect(totals.counter('ipsec-tunnel.errors.timeout')).toBe(0);
  });

  it('completes the handshakes of ipsec-load', async () => {
    const config = { settings: { ...base, ikeEncryption: 'aes128' }, load: { rate: 20 }, concurrentHandshakes: 20 };
    const totals = await gatewayJob('ipsec-load', { ...config, recycleAfterMs: 500 }, { mode: 'count', count: 60 });
    expect(totals.counter('ipsec-load.completed')).toBe(60);
    expect(totals.counter('ipsec-load.recycled')).toBeGreaterThan(10);
    expect(totals.counter('ipsec-load.failed')).toBe(0);
  });
});
