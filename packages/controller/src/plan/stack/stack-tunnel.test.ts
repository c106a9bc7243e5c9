import type { HostStack } from '@rushhour/protocol';
import { describe, expect, it } from 'vitest';
import type { RunPlan } from '../core/agent-plan.ts';
import type { PlanTunnel } from '../core/plan-input.ts';
import { planRun } from '../core/plan-run.ts';
import { agentOf, entryOf, inputOf, interfaceOf, issueCodes, networkOf } from '../testing/plan-fixture.ts';

type Values = Record<string, unknown>;

const agents = [1, 2].map((id) => agentOf(id, { interfaces: [interfaceOf(id, `10.0.0.${id}/24`)] }));
const networks = [networkOf(1, '10.20.0.0/24', { gateway: '10.20.0.1' }), networkOf(2, '10.30.0.0/16')];
const sides = {
  sources: [{ agent: { id: 1 }, network: { id: 1 } }],
  targets: [{ agent: { id: 2 }, ip: '10.30.0.9' }],
};

const stacksOf = ({ agents: plans }: RunPlan): (HostStack | undefined)[] =>
  (['client', 'server'] as const).map(
    (role) => plans.flatMap(({ jobs }) => jobs).find((job) => job.role === role && job.entry === 0)?.job.stack,
  );

describe('a tunnel', () => {
  const tunnel = (more: Partial<PlanTunnel> = {}): PlanTunnel => ({
    ...{ name: 'tunnel', type: 'vxlan', clientIp: '10.0.0.11', serverIp: '10.0.0.12', endpoints: '', count: 0 },
    ...{ mtu: 1500, params: { vni: 7, vniStep: 10 }, ...more },
  });
  const wireGuard = (params: Values): Partial<PlanTunnel> => ({ type: 'wireguard', params });
  const ipsec = (params: Values): Partial<PlanTunnel> => ({ type: 'ipsec', params });
  const through = (values: Values, ...tunnels: PlanTunnel[]) =>
    planRun(
      inputOf([entryOf(1, { ...sides, requestsPerSecond: 10, ...values })], {
        agents,
        networks,
        tunnels: new Map(tunnels.map((one, i) => [i + 1, one])),
      }),
    );
  const ofSides = (plan: RunPlan) => stacksOf(plan).map((stack) => stack?.tunnel);

  it('has both ends, and the networks are inside', () => {
    const plan = through({ tunnelID: 1 }, tunnel());
    expect(issueCodes(plan)).toEqual([]);
    const common = { type: 'vxlan', params: { vni: 7, vniStep: 10 } };
    expect(ofSides(plan)).toEqual([
      {
        ...{ ...common, mtu: 1500, isServer: false, ends: [{ local: '10.0.0.11', remote: '10.0.0.12' }] },
        outer: { subnet: '10.0.0.0/24', hosts: ['10.0.0.11'] },
      },
      {
        ...{ ...common, mtu: 1500, isServer: true, ends: [{ local: '10.0.0.12', remote: '10.0.0.11' }] },
        outer: { subnet: '10.0.0.0/24', hosts: ['10.0.0.12'] },
      },
    ]);
    expect(stacksOf(plan)[0]?.networks).toMatchObject([{ subnet: '10.20.0.0/24' }]);
  });

  it('may carry the tag of the entry inside, or a control word', () => {
    const tagged = through(
      { tunnelID: 1, ipLayer: { vlan: [{ id: 7 }] } },
      tunnel({ params: { vni: 7, innerVlan: true } }),
    );
    expect(issueCodes(tagged)).toEqual([]);
    expect(stacksOf(tagged)).toMatchObject([{ vlan: [{ id: 7 }] }, { vlan: [{ id: 7 }] }]);
    const labelled = through({ tunnelID: 1 }, tunnel({ type: 'mpls', params: { controlWord: true } }));
    expect(issueCodes(labelled)).toEqual([]);
    expect(ofSides(labelled)).toMatchObject([{ params: { controlWord: true } }, { params: { controlWord: true } }]);
  });

  it('of IPsec has its settings, and secrets nowhere else', () => {
    const record = ipsec({
      psk: 'k',
      ikeEncr: 'aes256',
      rekeyTime: 60,
      tsSrcStart: '10.20.0.0',
      tsSrcEnd: '10.20.0.255',
      ttl: 9,
    });
    const plan = through({ tunnelID: 1 }, tunnel(record));
    expect(issueCodes(plan)).toEqual([]);
    const common = { authMethod: 'psk', psk: 'k', ikeEncryption: 'aes256', cipher: 'aes256gcm16', rekeySec: 60 };
    const localRange = { start: '10.20.0.0', end: '10.20.0.255' };
    expect(ofSides(plan)).toMatchObject(
      [false, true].map((isServer) => ({ type: 'ipsec', isServer, ipsec: { ...common, localRange } })),
    );
    expect(ofSides(plan).map((one) => one?.params)).toEqual([{ ttl: 9 }, { ttl: 9 }]);
  });

  it('of WireGuard has keys of its own for every source', () => {
    const sources = [1, 1].map((id) => ({ agent: { id }, network: { id: 1 } }));
    const record = { ...wireGuard({ privateKey: 'k' }), endpoints: '10.0.0.11-10.0.0.14 > 10.0.0.20' };
    const plan = through({ tunnelID: 1, sources }, tunnel(record));
    expect(issueCodes(plan)).toEqual([]);
    const stacks = plan.agents.flatMap(({ jobs }) => jobs.map(({ job }) => job.stack?.tunnel?.params));
    expect(stacks).toEqual([0, 0, 2].map((keyIndex) => ({ privateKey: 'k', keyIndex })));
  });

  it('has the largest outer packet and the gateway of the record', () => {
    const record = tunnel({ serverIp: '10.8.0.1', mtu: 1400, params: { vni: 7, gateway: '10.0.0.254' } });
    const [client] = ofSides(through({ tunnelID: 1, targets: [{ ip: '10.30.0.9' }] }, record));
    expect(client).toMatchObject({ mtu: 1400, outer: { subnet: '10.0.0.0/24', gateway: '10.0.0.254' } });
  });

  it('takes ends of the entry instead of those of the record', () => {
    const list = tunnel({ endpoints: '10.9.0.1-10.9.0.3 > 10.9.1.1', params: { gateway: '10.0.0.254' } });
    const endsOf = (values: Values) => ofSides(through({ tunnelID: 1, ...values }, list))[0]?.ends;
    expect(endsOf({})).toHaveLength(3);
    expect(endsOf({ tunnelClientIp: '10.9.2.1' })).toEqual([{ local: '10.9.2.1', remote: '10.0.0.12' }]);
    expect(endsOf({ tunnelServerIp: '10.9.2.1' })).toEqual([{ local: '10.0.0.11', remote: '10.9.2.1' }]);
    expect(endsOf({ tunnelEndpoints: '10.9.3.1 > 10.9.3.2' })).toEqual([{ local: '10.9.3.1', remote: '10.9.3.2' }]);
  });

  it('is one of several that are alike', () => {
    const [one, two] = [tunnel(), tunnel({ clientIp: '10.0.0.13' })];
    const plan = through({ tunnelIDs: [1, 2] }, one, two);
    expect(issueCodes(plan)).toEqual([]);
    expect(ofSides(plan)[0]?.ends.map(({ local }) => local)).toEqual(['10.0.0.11', '10.0.0.13']);
    expect(ofSides(plan)[0]?.outer.hosts).toEqual(['10.0.0.11', '10.0.0.13']);
  });

  it('is divided over the sources, with the identifiers of its part', () => {
    const sources = [1, 1].map((id) => ({ agent: { id }, network: { id: 1 } }));
    const plan = through({ tunnelID: 1, sources }, tunnel({ endpoints: '10.0.0.11-10.0.0.14 > 10.0.0.20' }));
    expect(issueCodes(plan)).toEqual([]);
    const stacks = plan.agents.flatMap(({ jobs }) => jobs.map(({ job }) => job.stack?.tunnel));
    expect(stacks.map((one) => [one?.isServer, one?.params['vni'], one?.ends.length])).toEqual([
      [true, 7, 4],
      [false, 7, 2],
      [false, 27, 2],
    ]);
  });

  it.each<[string, Values, Partial<PlanTunnel>[], string[]]>([
    ['WireGuard without a key', { tunnelID: 1 }, [wireGuard({})], ['tunnelID TUNNEL_KEYS_INVALID']],
    [
      'WireGuard to a far end of others that an agent is to be',
      { tunnelID: 1 },
      [wireGuard({ privateKey: 'k', peerPublicKey: 'p' })],
      ['tunnelID TUNNEL_KEYS_INVALID'],
    ],
    ['a far end that no route leads to', { tunnelID: 1 }, [{ serverIp: '10.8.0.1' }], ['tunnelID TUNNEL_NO_ROUTE']],
    ['IPsec without a key', { tunnelIDs: [1] }, [ipsec({})], ['tunnelIDs/0 TUNNEL_KEYS_INVALID']],
    [
      'IPsec of an unknown cipher',
      { tunnelID: 1 },
      [ipsec({ psk: 'k', ikeEncr: 'x' })],
      ['tunnelID TUNNEL_KEYS_INVALID'],
    ],
    [
      'IPsec in transport mode',
      { tunnelID: 1 },
      [ipsec({ psk: 'k', mode: 'transport' })],
      ['tunnelID TUNNEL_KEYS_INVALID'],
    ],
    ['IPsec without a certificate', { tunnelID: 1 }, [ipsec({ authMethod: 'cert' })], ['tunnelID TUNNEL_KEYS_INVALID']],
    [
      'an inner tag that the entry does not give',
      { tunnelID: 1 },
      [{ params: { innerVlan: true } }],
      ['tunnelID REQUIRED'],
    ],
    [
      'an inner tag without a frame',
      { tunnelID: 1, ipLayer: { vlan: [{ id: 7 }] } },
      [{ type: 'gre', params: { innerVlan: true } }],
      ['tunnelID NOT_SUPPORTED'],
    ],
    ['frames in MPLS', { tunnelID: 1 }, [{ type: 'mpls', params: { ethernet: true } }], ['tunnelID NOT_SUPPORTED']],
    ['no record', { tunnelID: 3 }, [], ['tunnelID TUNNEL_UNKNOWN']],
    ['no tunnel', { tunnelClientIp: '10.9.0.1' }, [], ['tunnelClientIp REQUIRED']],
    ['different ones', { tunnelIDs: [1, 2] }, [{}, { params: { vni: 9 } }], ['tunnelIDs/1 TUNNELS_DIFFER']],
    ['a missing end', { tunnelID: 1 }, [{ serverIp: '' }], ['tunnelID TUNNEL_ENDS_INVALID']],
    ['an end that its machine has', { tunnelID: 1 }, [{ clientIp: '10.0.0.1' }], ['tunnelID TUNNEL_ENDS_INVALID']],
    ['a public end', { tunnelID: 1 }, [{ serverIp: '8.8.8.8' }], ['tunnelID TARGET_NOT_ALLOWED']],
    [
      'fewer ends than sources',
      { tunnelID: 1, sources: [1, 1].map((id) => ({ agent: { id }, network: { id: 1 } })) },
      [{}],
      ['tunnelID TUNNEL_TOO_FEW_ENDS'],
    ],
    [
      'two agents at the far end',
      { tunnelID: 1, targets: [1, 2].map((id) => ({ agent: { id }, network: { id: 2 }, ports: '80' })) },
      [{}],
      ['targets NOT_SUPPORTED'],
    ],
  ])('is refused with %s', (_, values, records, expected) => {
    const codes = issueCodes(through(values, ...records.map((record) => tunnel(record))));
    expect(codes.filter((code) => !code.includes('TOO_MANY_TARGETS'))).toEqual(expected);
  });
});
