import type { IpsecSettings } from '@rushhour/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { useCable } from '../engines/use-cable.ts';
import { type Libreswan, startLibreswan } from './libreswan.ts';
import { startPartner } from './start-partner.ts';

const near = { start: '10.1.0.0', end: '10.1.0.255' };
const far = { start: '10.2.0.0', end: '10.2.0.255' };

const base: IpsecSettings = {
  ...{ mode: 'tunnel', authMethod: 'psk', psk: 'a long secret', cipher: 'aes256gcm16' },
  ...{ encrypts: true, pfs: false, natt: true, uniqueSelectors: false, firstIndex: 0, children: 1 },
  ...{ localRange: near, remoteRange: far },
  ...{ dpdIntervalSec: 0, dpdTimeoutSec: 0, rekeySec: 0, lifetimeSec: 0 },
};

/** Ranges where Libreswan is the initiator. */
const swapped = { localRange: far, remoteRange: near };

interface Proposal {
  readonly ours: Partial<IpsecSettings>;
  readonly ike: string;
  readonly esp: string;
}

/** Each algorithm in the names of both sides. */
const proposals: readonly Proposal[] = [
  {
    ours: { ikeEncryption: 'aes128', ikePrf: 'sha256', ikeGroup: 'x25519', cipher: 'aes256gcm16' },
    ...{ ike: 'aes128-sha2_256-dh31', esp: 'aes_gcm256' },
  },
  {
    ours: { ikeEncryption: 'aes256', ikePrf: 'sha256', ikeGroup: 'modp2048', cipher: 'aes128-sha256' },
    ...{ ike: 'aes256-sha2_256-dh14', esp: 'aes128-sha2_256' },
  },
  {
    ours: { ikeEncryption: 'aes256', ikePrf: 'sha512', ikeGroup: 'ecp384', cipher: 'aes256-sha512' },
    ...{ ike: 'aes256-sha2_512-dh20', esp: 'aes256-sha2_512' },
  },
  {
    ours: { ikeEncryption: 'aes256gcm16', ikePrf: 'sha384', ikeGroup: 'ecp256', cipher: 'aes128gcm16' },
    ...{ ike: 'aes_gcm256-sha2_384-dh19', esp: 'aes_gcm128' },
  },
  {
    ours: { ikeEncryption: 'aes256ctr', ikePrf: 'sha256', ikeGroup: 'modp3072', cipher: 'chacha20poly1305' },
    ...{ ike: 'aes_ctr256-sha2_256-dh15', esp: 'chacha20_poly1305' },
  },
  {
    ours: { ikeEncryption: 'aes128', ikePrf: 'sha1', ikeGroup: 'ecp521', cipher: 'aes128-sha1' },
    ...{ ike: 'aes128-sha1-dh21', esp: 'aes128-sha1' },
  },
];

const connection = (name: string, { ike, esp }: { ike: string; esp: string }) => `
conn ${name}
  ikev2=insist
  authby=secret
  left=10.99.0.2
  leftsubnet=10.2.0.0/24
  right=10.99.0.1
  rightsubnet=10.1.0.0/24
  pfs=no
  ike=${ike}
  esp=${esp}
  auto=add
`;

const isDefined = (text: string | undefined): text is string => text !== undefined;
/** What Libreswan has agreed to, in its words and order. */
const chosen = (log: string, kind: 'IKE' | 'ESP') =>
  [...log.matchAll(new RegExp(`proposal \\d+:${kind}=(\\S+) (?:SPI=\\S+ )?chosen`, 'g'))]
    .map(([, suite]) => suite)
    .filter(isDefined);

describe('Libreswan', () => {
  const cable = useCable('test');
  let gateway: Libreswan | undefined;
  afterEach(() => gateway?.stop());
  // A kernel without ESP lets Libreswan finish IKE and refuses the child SA.
  const hasEsp = () => {
    const state = ['src', '10.99.0.2', 'dst', '10.99.0.1', 'proto', 'esp', 'spi', '0x1', 'mode', 'tunnel'];
    const keys = ['enc', 'cbc(aes)', `0x${'11'.repeat(16)}`, 'auth', 'hmac(sha1)', `0x${'11'.repeat(20)}`];
    try {
      cable.right.run('ip', 'xfrm', 'state', 'add', ...state, ...keys);
      cable.right.run('ip', 'xfrm', 'state', 'flush');
      return true;
    } catch {
      return false;
    }
  };

  it('agrees to the main proposals of ours, and refuses a wrong key', async () => {
    const all = { ike: proposals.map(({ ike }) => ike).join(), esp: proposals.map(({ esp }) => esp).join() };
    const configuration = `config setup\n${connection('gw', all)}`;
    gateway = await startLibreswan(cable.right, { configuration, secrets: '%any %any : PSK "a long secret"\n' });
    const settings = proposals.map(({ ours }) => ({ ...base, ...ours }));
    const wrong: IpsecSettings[] = [
      { ...base, ...proposals[0]?.ours, psk: 'another secret' },
      { ...base, ikeEncryption: 'aes192', ikePrf: 'sha384' },
    ];
    const results = await startPartner(cable.left, { settings: [...settings, ...wrong], isResponder: false }).ended;
    const log = gateway.log();
    expect(log.match(/responder established IKE SA; authenticated peer using authby=secret/g)?.length).toBe(
      proposals.length,
    );
    expect(chosen(log, 'IKE').slice(0, proposals.length)).toEqual([
      'AES_CBC_128-HMAC_SHA2_256-HMAC_SHA2_256_128-CURVE25519',
      'AES_CBC_256-HMAC_SHA2_256-HMAC_SHA2_256_128-MODP2048',
      'AES_CBC_256-HMAC_SHA2_512-HMAC_SHA2_512_256-ECP_384',
      'AES_GCM_C_256-HMAC_SHA2_384-ECP_256',
      'AES_CTR_256-HMAC_SHA2_256-HMAC_SHA2_256_128-MODP3072',
      'AES_CBC_128-HMAC_SHA1-HMAC_SHA1_96-ECP_521',
    ]);
    expect(chosen(log, 'ESP')).toEqual([
      'AES_GCM_C_256-DISABLED',
      'AES_CBC_128-HMAC_SHA2_256_128-DISABLED',
      'AES_CBC_256-HMAC_SHA2_512_256-DISABLED',
      'AES_GCM_C_128-DISABLED',
      'CHACHA20_POLY1305-DISABLED',
      'AES_CBC_128-HMAC_SHA1_96-DISABLED',
    ]);
    const expected = hasEsp() ? 'up' : 'TS_UNACCEPTABLE';
    expect(results.map(({ outcome }) => outcome)).toEqual([
      ...proposals.map(() => expected),
      ...['closed AUTHENTICATION_FAILED', 'closed NO_PROPOSAL_CHOSEN'],
    ]);
  });

  it('initiates with the main proposals, and trusts our answers', async () => {
    const names = proposals.map((one, index) => connection(`c${index}`, one));
    const configuration = `config setup\n${names.join('')}`;
    gateway = await startLibreswan(cable.right, { configuration, secrets: '%any %any : PSK "a long secret"\n' });
    const settings = proposals.map(({ ours }) => ({ ...base, ...swapped, ...ours }));
    const partner = startPartner(cable.left, { settings, isResponder: true });
    await expect.poll(() => partner.lines.length).toBe(1);
    for (const index of proposals.keys()) {
      partner.use(index);
      await gateway.control('--initiate', '--asynchronous', '--name', `c${index}`);
      const isTrusted = () => gateway?.log().includes(`"c${index}" #`) === true && established(gateway.log(), index);
      await expect.poll(isTrusted, { timeout: 20_000 }).toBe(true);
      await gateway.control('--delete', '--name', `c${index}`);
    }
    partner.stop();
    const outcomes = (await partner.ended).map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => outcome === 'up').length).toBeGreaterThanOrEqual(proposals.length);
  });
});

const established = (log: string, index: number): boolean =>
  new RegExp(`"c${index}" #\\d+: initiator established IKE SA; authenticated peer`).test(log);
