import { describe, expect, it } from 'vitest';
import { planRun } from '../../core/plan-run.ts';
import { configProblems } from '../../testing/engine-check.ts';
import {
  agentOf,
  configsOf,
  entryOf,
  inputOf,
  interfaceOf,
  issueCodes,
  networkOf,
} from '../../testing/plan-fixture.ts';
import { manualKeyBytes } from './manual-keys.ts';

const agents = [1, 2, 3].map((id) => agentOf(id, { interfaces: [interfaceOf(id, `10.0.0.${id}/24`)] }));
const networks = [networkOf(1, '10.20.0.0/24'), networkOf(2, '10.30.0.0/28')];
const certificates = new Map([
  [1, { name: 'gateway', certificate: 'PEM', privateKey: 'KEY' }],
  [2, { name: 'authority', certificate: 'CA', privateKey: '' }],
]);
const ends = {
  sources: [{ agent: { id: 1 }, network: { id: 1 } }],
  targets: [{ agent: { id: 2 }, network: { id: 2 } }],
  ipsecPsk: 'a long secret',
};

const planOf = (id: number, values: object) => {
  const plan = planRun(inputOf([entryOf(id, { ...ends, ...values })], { agents, networks, certificates }));
  const isValid = plan.issues.every(({ severity }) => severity !== 'error');
  const jobs = plan.agents.flatMap((agent) => agent.jobs.map(({ job }) => job));
  if (isValid) expect(jobs.flatMap(configProblems)).toEqual([]);
  const stacks = jobs.map(({ stack }) => stack);
  const [client = {}] = configsOf(plan, 1, 'client');
  return { plan, stacks, issues: issueCodes(plan), client, server: configsOf(plan, 2, 'server')[0] ?? {} };
};

describe('EAP', () => {
  const eap = { ipsecAuthMethod: 'eap-mschapv2', ipsecPsk: 'user{index}:the password', ipsecCa: '2' };
  const gateway = { targets: [{ ip: '10.40.0.1' }] };

  it.each([12, 13])('of plugin %i has the user of each tunnel and the authority of the gateway', (plugin) => {
    const { client, issues } = planOf(plugin, { ...eap, ...gateway });
    expect(issues).toEqual([]);
    const settings = { authMethod: 'eap-mschapv2', eapIdentity: 'user{index}', psk: 'the password', ca: 'CA' };
    expect(client).toMatchObject({ settings });
  });

  it.each([12, 13])('of plugin %i may show a certificate instead', (plugin) => {
    const certified = { ...gateway, ipsecAuthMethod: 'eap-tls', ipsecPsk: undefined, ipsecCert: '1', ipsecCa: '2' };
    const { client, issues } = planOf(plugin, certified);
    expect(issues).toEqual([]);
    expect(client).toMatchObject({
      settings: { authMethod: 'eap-tls', certificate: 'PEM', privateKey: 'KEY', ca: 'CA' },
    });
    expect(planOf(plugin, { ...certified, ipsecCa: undefined }).issues.join()).toContain('ipsecCa REQUIRED');
    expect(planOf(plugin, { ...certified, ipsecCert: undefined }).issues.join()).toContain('ipsecCert REQUIRED');
    expect(planOf(plugin, { ...certified, ipsecPsk: 'user:word' }).issues.join()).toContain('ipsecPsk NOT_SUPPORTED');
    expect(planOf(plugin, { ...certified, targets: ends.targets }).issues.join()).toContain('NOT_SUPPORTED');
  });

  it('needs user and password, an authority, and a gateway that is not an agent', () => {
    expect(planOf(12, { ...eap, ...gateway, ipsecPsk: 'nobody' }).issues.join()).toContain('KEY_INVALID');
    expect(planOf(12, { ...eap, ...gateway, ipsecCa: undefined }).issues.join()).toContain('REQUIRED');
    expect(planOf(12, eap).issues.join()).toContain('NOT_SUPPORTED');
    expect(planOf(12, { ...eap, ...gateway, ipsecCert: '1' }).issues.join()).toContain('NOT_SUPPORTED');
  });
});

describe('IPsec tunnels', () => {
  it('are between the addresses of sources and targets, and both sides have the same keys', () => {
    const { client, server, stacks, issues } = planOf(12, {
      ipsecTunnelCount: 100,
      ipsecTunnelSrcIpCount: 10,
      ipsecTunnelOpenRatePps: 20,
      ipsecMultiChildCount: 2,
      ipsecNatt: 1,
    });
    expect(issues).toEqual([]);
    expect(client).toMatchObject({
      tunnels: 100,
      sourceCount: 10,
      settings: { psk: 'a long secret', children: 2, natt: true, openRate: 20, firstIndex: 0, cipher: 'aes256gcm16' },
    });
    expect((client['targets'] as unknown[]).length).toBe(14);
    expect(server).toMatchObject({ tunnels: 100, settings: { psk: 'a long secret', children: 2 } });
    expect(stacks.map((stack) => stack?.networks[0]?.subnet).sort()).toEqual(['10.20.0.0/24', '10.30.0.0/28']);
  });

  it('are divided over the sources, each with selectors and addresses inside of its own', () => {
    const sources = [1, 3].map((id) => ({ agent: { id }, network: { id: 1 } }));
    const inside = { ipsecInnerSrcStart: '10.1.0.1', ipsecInnerSrcEnd: '10.1.0.9' };
    const { plan, issues } = planOf(12, {
      ...{ sources, ipsecTunnelCount: 9, ipsecTunnelUniqueTsi: 1 },
      ...{ ...inside, ipsecInnerDstStart: '10.2.0.1', ipsecInnerDstEnd: '10.2.0.1' },
    });
    expect(issues).toEqual([]);
    const of = (id: number) => configsOf(plan, id, 'client')[0];
    expect([of(1), of(3)]).toMatchObject([
      { tunnels: 5, settings: { firstIndex: 0, localRange: { start: '10.1.0.1', end: '10.1.0.9' } } },
      { tunnels: 4, settings: { firstIndex: 5, uniqueSelectors: true } },
    ]);
  });

  it('may have a second key exchange', () => {
    const { client, issues } = planOf(12, { ipsecIkeDh: 'curve25519+mlkem768, ecp256' });
    expect(issues).toEqual([]);
    expect(client).toMatchObject({ settings: { ikeGroup: 'curve25519+mlkem768, ecp256' } });
    expect(planOf(12, { ipsecIkeDh: 'mlkem768' }).issues).toEqual(['ipsecIkeDh NOT_SUPPORTED']);
  });

  it('take certificates from the collection', () => {
    const { client, issues } = planOf(12, {
      ...{ ipsecPsk: undefined, ipsecAuthMethod: 'cert', ipsecCert: '1', ipsecCa: '2' },
    });
    expect(issues).toEqual([]);
    expect(client).toMatchObject({ settings: { certificate: 'PEM', privateKey: 'KEY', ca: 'CA' } });
  });

  it.each([
    [{ ipsecPsk: undefined }, 'ipsecPsk REQUIRED'],
    [{ ipsecCipher: 'blowfish' }, 'ipsecCipher NOT_SUPPORTED'],
    [{ ipsecIkeDh: 'modp99' }, 'ipsecIkeDh NOT_SUPPORTED'],
    [{ ipsecPsk: undefined, ipsecAuthMethod: 'cert', ipsecCert: '2' }, 'ipsecCert CERTIFICATE_WITHOUT_KEY'],
    [{ ipsecPsk: undefined, ipsecAuthMethod: 'cert', ipsecCert: '7' }, 'ipsecCert CERTIFICATE_UNKNOWN'],
    [{ ipsecCert: '1' }, 'ipsecCert NOT_SUPPORTED'],
    [{ ipsecSpi: '0x1000' }, 'ipsecSpi NOT_SUPPORTED'],
    [{ ipsecPeerBase: '10.0.0.9' }, 'ipsecPeerBase NOT_SUPPORTED'],
    [{ ipsecPeerCount: 2 }, 'ipsecPeerCount NOT_SUPPORTED'],
    [{ targets: [], ipsecPeerBase: '10.0.0.9', ipsecPeerCount: 2000 }, 'ipsecPeerCount TOO_MANY_TARGETS'],
    [{ ipsecTunnelSrcIpCount: 300 }, 'ipsecTunnelSrcIpCount ADDRESSES_TOO_FEW'],
    [{ ipsecTunnelUniqueTsi: 1 }, 'ipsecTunnelUniqueTsi ADDRESSES_TOO_FEW'],
    [{ ipsecTsSrcStart: '10.1.0.1' }, 'ipsecTsSrcEnd REQUIRED'],
    [{ ipsecTsSrcStart: '10.1.0.9', ipsecTsSrcEnd: '10.1.0.1' }, 'ipsecTsSrcEnd RANGE_INVALID'],
    [{ ipsecMode: 'transport', ipsecTunnelUniqueTsi: 1 }, 'ipsecTunnelUniqueTsi NOT_SUPPORTED'],
    [{ clientPortRange: '1000-2000' }, 'clientPortRange NOT_SUPPORTED'],
    [{ sources: [{ agent: { id: 1 } }] }, '/configuration/0/plugin/id STACK_NEEDS_NETWORK'],
  ])('are refused for %o', (values, issue) => {
    expect(planOf(12, values).issues).toContain(issue);
  });

  it('with keys by hand need keys of the right length, and nothing of IKE', () => {
    const manual = {
      ipsecPsk: undefined,
      ipsecAuthMethod: 'manual',
      ipsecSpi: '4096',
      ipsecCipherKey: '11'.repeat(36),
    };
    expect(planOf(12, manual)).toMatchObject({ issues: [], client: { settings: { spi: 4096 } } });
    expect(planOf(12, { ...manual, ipsecCipherKey: '11'.repeat(32) }).issues).toEqual(['ipsecCipherKey KEY_INVALID']);
    expect(planOf(12, { ...manual, ipsecKey: '11'.repeat(32) }).issues).toEqual(['ipsecKey KEY_INVALID']);
    expect(planOf(12, { ...manual, ipsecPfs: 1 }).issues).toEqual(['ipsecPfs NOT_SUPPORTED']);
    expect(planOf(12, { ...manual, ipsecSpi: '9' }).issues).toEqual(['ipsecSpi RANGE_INVALID']);
  });

  it.each([
    ['aes256gcm16', true, 36, 0],
    ['aes128-sha1', true, 16, 20],
    ['aes192ctr-sha512', true, 28, 64],
    ['null-sha256', true, 0, 32],
    ['chacha20poly1305', true, 36, 0],
    ['aes128', true, 16, 32],
    ['aes128-sha384', false, 0, 48],
    ['aes128gcm16', false, 20, 0],
    ['3des-sha1', true, 24, 20],
  ])('keys of %s, encrypting %s', (cipher, encrypts, encryption, integrity) => {
    expect(manualKeyBytes(cipher, encrypts)).toEqual({ encryption, integrity });
  });
});

describe('IKE load', () => {
  it('is begun at a rate by sources, and answered by targets', () => {
    const { client, server, issues } = planOf(13, {
      ...{
        ipsecLoadHsRatePps: 500,
        ipsecLoadConcurrentHs: 50,
        ipsecLoadKeepalivePps: 10,
        ipsecLoadRecycleAfterMs: 900,
      },
      ...{ ipsecLoadSrcIpCount: 20, ipsecLoadResponderPoolCap: 1000, ipsecLoadResponderIdleRecycleMs: 5000 },
    });
    expect(issues).toEqual([]);
    expect(client).toMatchObject({
      ...{
        load: { rate: 500 },
        concurrentHandshakes: 50,
        keepalivesPerSecond: 10,
        recycleAfterMs: 900,
        sourceCount: 20,
      },
    });
    expect(server).toMatchObject({ poolCap: 1000, idleRecycleMs: 5000 });
  });

  it('gives sources without addresses those from the base on', () => {
    const { stacks, issues } = planOf(13, {
      ...{ sources: [{ agent: { id: 1 } }], ipsecLoadLocalBaseIp: '10.0.0.100', ipsecLoadSrcIpCount: 50 },
    });
    expect(issues).toEqual([]);
    expect(stacks.flatMap((stack) => stack?.networks ?? [])).toContainEqual({
      subnet: '10.0.0.0/24',
      hosts: ['10.0.0.100-10.0.0.149'],
    });
  });

  it('is answered by sources as responders, without targets', () => {
    const { plan, issues } = planOf(13, { targets: [], ipsecLoadRole: 'responder', ipsecLoadResponderPoolCap: 77 });
    expect(issues).toEqual([]);
    expect(configsOf(plan, 1, 'client')).toMatchObject([{ role: 'server', poolCap: 77 }]);
    expect(planOf(13, { ipsecLoadRole: 'responder' }).issues).toEqual(['targets NOT_SUPPORTED']);
    const rated = planOf(13, { targets: [], ipsecLoadRole: 'responder', ipsecLoadHsRatePps: 5 });
    expect(rated.issues).toEqual(['ipsecLoadHsRatePps NOT_SUPPORTED']);
  });
});
