import type { HostStack } from '@rushhour/protocol';
import { describe, expect, it } from 'vitest';
import type { RunPlan } from '../core/agent-plan.ts';
import type { PlanMac } from '../core/plan-input.ts';
import { planRun } from '../core/plan-run.ts';
import { agentOf, entryOf, inputOf, interfaceOf, issueCodes, networkOf } from '../testing/plan-fixture.ts';

type Values = Record<string, unknown>;
type InputOptions = NonNullable<Parameters<typeof inputOf>[1]>;

const agents = [1, 2].map((id) => agentOf(id, { interfaces: [interfaceOf(id, `10.0.0.${id}/24`)] }));
const clients = networkOf(1, '10.20.0.0/24', { gateway: '10.20.0.1' });
const servers = networkOf(2, '10.30.0.0/16');
const networks = [clients, servers];
const sides = {
  sources: [{ agent: { id: 1 }, network: { id: 1 } }],
  targets: [{ agent: { id: 2 }, ip: '10.30.0.9' }],
};
const rates: Record<number, Values> = { 1: { requestsPerSecond: 10 }, 2: {}, 3: { packetsPerSecond: 10 } };

const planOf = (pluginId: number, values: Values, options: InputOptions = {}): RunPlan =>
  planRun(inputOf([entryOf(pluginId, { ...sides, ...rates[pluginId], ...values })], { agents, networks, ...options }));

const jobOf = ({ agents: plans }: RunPlan, role: 'client' | 'server', entry = 0) =>
  plans.flatMap(({ jobs }) => jobs).find((job) => job.role === role && job.entry === entry)?.job;

const stacksOf = (plan: RunPlan): (HostStack | undefined)[] => [
  jobOf(plan, 'client')?.stack,
  jobOf(plan, 'server')?.stack,
];

describe('an entry runs on kernel sockets', () => {
  it.each<[string, Values, InputOptions]>([
    ['of a network with a gateway', {}, {}],
    ['with tuning that sockets take', { tcpConfiguration: { mss: 600, congestion: 'bbr', keepAliveSec: 0 } }, {}],
    ['with empty lists', { ipLayer: { vlan: [] }, tunnelIDs: [] }, {}],
    [
      'of a network that leaves MACs to the interface',
      {},
      { networks: [{ ...clients, macPolicy: { mode: 'interface' }, macOverrides: [] }, servers] },
    ],
  ])('%s', (_, values, options) => {
    const plan = planOf(1, values, options);
    expect(issueCodes(plan)).toEqual([]);
    expect(stacksOf(plan)).toEqual([undefined, undefined]);
  });
});

describe('60,000 addresses', () => {
  const many = networkOf(3, '10.64.0.0/16', { macPolicy: { mode: 'derived' } });
  const excludes = ['10.64.234.97-10.64.255.254'];
  const targets = [{ agent: { id: 2 }, network: { id: 3 }, ports: '8080' }];
  const options = { networks: [clients, { ...many, excludes }] };

  it.each([1, 2, 3, 5])('are server addresses and targets of plugin %i, as a range', (id) => {
    const plan = planOf(id, { targets }, options);
    expect(issueCodes(plan)).toEqual([]);
    expect(jobOf(plan, 'client')?.config).toMatchObject({
      targets: [{ host: '10.64.0.1', last: '10.64.234.96', port: 8080, weight: 1 }],
    });
    expect(jobOf(plan, 'server')?.stack?.networks).toMatchObject([{ hosts: ['10.64.0.1-10.64.234.96'] }]);
    expect(JSON.stringify(plan).length).toBeLessThan(10_000);
  });

  it('are refused where kernel sockets would have to listen on each, and beyond what may be reached', () => {
    const plain = { networks: [clients, { ...networkOf(3, '10.64.0.0/16'), excludes }] };
    expect(issueCodes(planOf(1, { targets }, plain))).toEqual(['targets/0 TOO_MANY_TARGETS']);
    const outside = { networks: [clients, { ...many, subnet: '100.64.0.0/16', excludes: [] }] };
    expect(issueCodes(planOf(1, { targets }, { ...outside, allowedTargets: ['100.64.0.0/17'] }))).toContain(
      'targets/0 TARGET_NOT_ALLOWED',
    );
  });
});

describe('an entry runs on the stack', () => {
  const field = (name: string, value: unknown): [string, Values] => [name, { ipLayer: { [name]: value } }];
  it.each<[string, Values]>([
    field('ttl', 9),
    field('dscp', 46),
    field('ecn', 1),
    field('df', false),
    field('fragmentSize', 800),
    field('vlan', [{ id: 7 }]),
    ['sack', { tcpConfiguration: { sack: false } }],
    ['timestamps', { tcpConfiguration: { timestamps: true } }],
    ['TCP ECN', { tcpConfiguration: { ecn: true } }],
  ])('because of %s', (_, values) => {
    for (const id of [1, 2]) {
      const plan = planOf(id, values);
      expect(issueCodes(plan)).toEqual([]);
      expect(stacksOf(plan).map((stack) => stack?.interface)).toEqual(['eth1', 'eth2']);
    }
  });

  it.each<[string, number, Values]>([
    ['HTTP/3', 1, { httpParams: { version: '3' }, tlsParams: {} }],
    ['HTTP/3 beside HTTP/1.1', 1, { httpParams: { altSvc: true }, tlsParams: {} }],
    ['DNS over QUIC', 4, { dnsParams: { transport: 'doq', names: ['a.test'] }, requestsPerSecond: 10 }],
  ])('with %s', (_, id, values) => {
    const plan = planOf(id, { ...values, ipLayer: { ttl: 9 } });
    expect(issueCodes(plan)).toEqual([]);
    expect(stacksOf(plan)).not.toContain(undefined);
  });

  it.each<[Values, number]>([
    [{}, 100_000],
    [{ ipLayer: { ttl: 9 } }, 1_000_000],
  ])('with up to a million TCP connections at once (%j)', (values, connections) => {
    const plan = planOf(2, { ...values, tcpConfiguration: { connections: 1_000_000 } });
    expect(jobOf(plan, 'client')?.config).toMatchObject({ connections });
  });

  it.each<[string, object]>([
    ['a MAC policy', { macPolicy: { mode: 'derived' } }],
    ['MAC overrides', { macOverrides: [{ ip: '10.20.0.7', mac: '02:00:00:00:00:07' }] }],
    ['a static gateway MAC', { gatewayMacMode: 'static', gatewayMac: '02:00:00:00:00:fe' }],
  ])('because a network has %s', (_, more) => {
    const plan = planOf(3, {}, { networks: [{ ...clients, ...more }, servers] });
    expect(issueCodes(plan)).toEqual([]);
    expect(stacksOf(plan)).not.toContain(undefined);
  });

  it.each<[string, Values]>([
    ['a source network', {}],
    ['another message', { icmpParams: { type: 'timestamp' } }],
  ])('because of %s of ICMP; the kernel of a machine answers for itself', (_, values) => {
    const plan = planOf(5, values);
    expect(issueCodes(plan)).toEqual([]);
    expect(stacksOf(plan)).not.toContain(undefined);
    const toMachine = planOf(5, { ...values, targets: [{ agent: { id: 2 } }] });
    expect(issueCodes(toMachine)).toEqual([]);
    expect(stacksOf(toMachine).map((stack) => stack?.interface)).toEqual(['eth1', undefined]);
  });

  it.each(['icmp', 'raw'])('because a stateless server answers %s packets', (protocol) => {
    const entry = entryOf(6, { targets: sides.targets, statelessServerParams: { protocol } });
    const plan = planRun(inputOf([entry], { agents, networks }));
    expect(issueCodes(plan)).toEqual([]);
    expect(jobOf(plan, 'server')?.stack?.interface).toBe('eth2');
  });

  it('with what the entry says of headers, tags and TCP', () => {
    const ipLayer = {
      ttl: 9,
      dscp: 46,
      ecn: 1,
      df: true,
      fragmentSize: 800,
      vlan: [
        { id: 5, tpid: '0x88A8' },
        { id: 6, pcp: 3 },
      ],
    };
    const tcpConfiguration = { mss: 600, window: 9000, sack: false, timestamps: true, ecn: true, congestion: 'reno' };
    const plan = planOf(2, { ipLayer, tcpConfiguration: { ...tcpConfiguration, synRetries: 2, keepAliveSec: 7 } });
    expect(issueCodes(plan)).toEqual([]);
    for (const stack of stacksOf(plan)) {
      expect(stack).toMatchObject({
        vlan: [
          { id: 5, pcp: 0, tpid: 0x88a8 },
          { id: 6, pcp: 3, tpid: 0x8100 },
        ],
        header: { ttl: 9, dscp: 46, ecn: 1, df: true, fragmentSize: 800 },
        tcp: { ...tcpConfiguration, congestion: 'newreno', synRetries: 2, keepAliveSec: 7 },
      });
    }
    expect(jobOf(plan, 'client')?.config).not.toHaveProperty('tuning');
  });

  it('with wrong checksums of the client only', () => {
    const headers = stacksOf(planOf(3, { invalidChecksum: true })).map((stack) => stack?.header);
    expect(headers).toEqual([{ invalidChecksum: true }, {}]);
  });
});

describe('emulated hosts', () => {
  it('have the MACs and the gateway of their network', () => {
    const macs = new Map<number, PlanMac>([
      [4, { id: 4, kind: 'range', address: '02:00:00:00:01:00', count: 1000 }],
      [5, { id: 5, kind: 'oui', address: '02:1a:4c', count: null }],
      [6, { id: 6, kind: 'address', address: '02:00:00:00:00:06' }],
    ]);
    const network = {
      ...clients,
      ...{ macPolicy: { mode: 'pool', macIds: [4] }, gatewayMacMode: 'mac', gatewayMacId: 5, excludes: ['10.20.0.9'] },
    };
    const [client, server] = stacksOf(planOf(1, {}, { networks: [network, servers], macs }));
    expect(client?.networks).toEqual([
      {
        subnet: '10.20.0.0/24',
        hosts: ['10.20.0.2-10.20.0.8', '10.20.0.10-10.20.0.254'],
        macs: {
          network: expect.objectContaining({
            subnet: '10.20.0.0/24',
            macPolicy: network.macPolicy,
            excludes: ['10.20.0.9'],
          }),
          records: [macs.get(4), macs.get(5)],
        },
        gateway: '10.20.0.1',
        gatewayMac: '02:1a:4c:00:00:00',
      },
    ]);
    expect(server?.networks).toEqual([{ subnet: '10.30.0.9/32', hosts: ['10.30.0.9'] }]);
  });

  it('are in the prefix of the interface that contains them', () => {
    const values = { targets: [{ agent: { id: 2 }, ip: '10.0.0.77' }], ipLayer: { ttl: 3 } };
    expect(stacksOf(planOf(1, values))[1]?.networks).toEqual([{ subnet: '10.0.0.0/24', hosts: ['10.0.0.77'] }]);
  });

  it('of a server listen on all their addresses, however many they are, and claim none', () => {
    const network = { ...servers, pattern: '10.30.0-3.*' };
    const values = {
      isServer: true,
      sources: [],
      targets: [{ agent: { id: 2 }, network: { id: 2 }, ports: '80,443' }],
    };
    const plan = planOf(1, { ...values, ipLayer: { ttl: 9 } }, { networks: [network] });
    expect(issueCodes(plan)).toEqual([]);
    expect(jobOf(plan, 'server')).toMatchObject({
      config: {
        listen: [
          { host: '0.0.0.0', port: 80 },
          { host: '0.0.0.0', port: 443 },
        ],
      },
      stack: { networks: [{ subnet: '10.30.0.0/16', hosts: ['10.30.0.1-10.30.3.255'] }] },
    });
    expect(jobOf(plan, 'server')).not.toHaveProperty('claims');
  });

  it('of different jobs are different, and a client sends to those of its server', () => {
    const [one, two] = [{ network: { id: 1 } }, { network: { id: 2 } }];
    const network = networkOf(2, '10.30.0.0/28');
    const values = {
      sources: [{ agent: { id: 1 }, ...one }],
      targets: [{ agent: { id: 2 }, ...two }],
      ipLayer: { ttl: 9 },
    };
    const entries = [1, 3].map((id) => entryOf(id, { ...values, ...rates[id] }));
    const plan = planRun(inputOf(entries, { agents, networks: [clients, network] }));
    expect(issueCodes(plan)).toEqual([]);
    const hostsOf = (role: 'client' | 'server', entry: number) => jobOf(plan, role, entry)?.stack?.networks[0]?.hosts;
    expect([hostsOf('client', 0), hostsOf('client', 1)]).toEqual([
      ['10.20.0.2-10.20.0.127'],
      ['10.20.0.128-10.20.0.254'],
    ]);
    expect([hostsOf('server', 0), hostsOf('server', 1)]).toEqual([['10.30.0.1-10.30.0.7'], ['10.30.0.8-10.30.0.14']]);
    expect(jobOf(plan, 'client', 1)?.config).toMatchObject({
      targets: [8, 9, 10, 11, 12, 13, 14].map((i) => ({ host: `10.30.0.${i}` })),
    });
    expect(plan.agents.map(({ gateways }) => gateways)).toEqual([[], []]);
  });

  it('answer clients on kernel sockets where an entry of its own puts them there', () => {
    const target = { agent: { id: 2 }, network: { id: 2 } };
    const network = networkOf(2, '10.30.0.0/30');
    const answering = entryOf(1, { isServer: true, targets: [target], ipLayer: { ttl: 9 } });
    const asking = entryOf(1, { sources: [{ agent: { id: 1 } }], targets: [target], requestsPerSecond: 1 });
    const plan = planRun(inputOf([answering, asking], { agents, networks: [network] }));
    expect(issueCodes(plan)).toEqual([]);
    expect(plan.agents.map(({ agentId, jobs }) => [agentId, ...jobs.map(({ job }) => job.stack?.header)])).toEqual([
      [2, { ttl: 9 }],
      [1, undefined],
    ]);
    expect(jobOf(plan, 'client', 1)?.config).toMatchObject({ targets: [{ host: '10.30.0.1' }, { host: '10.30.0.2' }] });
  });
});

describe('the stack is refused', () => {
  const ttl = { ipLayer: { ttl: 9 } };
  const target = (endpoint: Values): Values => ({ ...ttl, targets: [{ agent: { id: 2 }, ...endpoint }] });
  it.each<[string, Values, string[]]>([
    [
      'without addresses of the source',
      { ...ttl, sources: [{ agent: { id: 1 } }] },
      ['ipLayer/ttl STACK_NEEDS_NETWORK'],
    ],
    ['without addresses of the target', target({}), ['ipLayer/ttl STACK_NEEDS_NETWORK']],
    ['on the address of a machine', target({ ip: '10.0.0.2' }), ['ipLayer/ttl STACK_NEEDS_NETWORK']],
    ['on loopback', { ...ttl, targets: [{ ip: '127.0.0.1' }] }, ['ipLayer/ttl STACK_NEEDS_NETWORK']],
    [
      'with an unknown interface',
      target({ ip: '10.30.0.9', interfaceId: 9 }),
      ['targets/0/interfaceId INTERFACE_UNKNOWN'],
    ],
    [
      'with a third tag or tags of other types',
      { ipLayer: { vlan: [{ id: 1, tpid: '0x9200' }, { id: 2, tpid: '0x0800' }, { id: 3 }] } },
      ['ipLayer/vlan/2 NOT_SUPPORTED', 'ipLayer/vlan/0/tpid NOT_SUPPORTED', 'ipLayer/vlan/1/tpid NOT_SUPPORTED'],
    ],
    [
      'with another congestion control',
      { ...ttl, tcpConfiguration: { congestion: 'bbr' } },
      ['tcpConfiguration/congestion NOT_SUPPORTED'],
    ],
    ['with a flow label of IPv4', { ipLayer: { flowLabel: 7 } }, ['ipLayer/flowLabel NOT_SUPPORTED']],
    [
      'for the same host twice',
      { ...ttl, sources: [1, 1].map((id) => ({ agent: { id }, ip: '10.20.0.7' })) },
      ['sources/1 ADDRESS_OVERLAP'],
    ],
  ])('%s', (_, values, expected) => {
    expect(issueCodes(planOf(2, values))).toEqual(expected);
  });

  it('for addresses that a machine has', () => {
    const taken = [networkOf(1, '10.0.0.0/24')];
    expect(issueCodes(planOf(2, ttl, { networks: taken }))).toEqual(['sources/0/network/id ADDRESS_OVERLAP']);
  });

  it('on an agent that may not send frames, with the agent and the reason', () => {
    const weak = [
      agents[0] as (typeof agents)[0],
      { ...agentOf(2), ...agents[1], system: { caps: ['cap_net_admin'] } },
    ];
    expect(planOf(2, ttl, { agents: weak }).issues).toMatchObject([
      { severity: 'error', code: 'STACK_UNAVAILABLE', agentId: 2, path: '/configuration/0/values/targets/0/agent/id' },
    ]);
  });

  it('until one of several interfaces is chosen', () => {
    const many = (...interfaces: ReturnType<typeof interfaceOf>[]) => [
      agentOf(1, { interfaces }),
      agents[1] as (typeof agents)[0],
    ];
    const management = { ...interfaceOf(3, '10.3.0.1/24'), role: 'mgmt' as const };
    const loopback = { ...interfaceOf(1, '127.0.0.1/8'), name: 'lo', role: 'mgmt' as const };
    const [first, second] = [interfaceOf(4, '10.4.0.1/24'), interfaceOf(5)];
    const interfaceWith = (...interfaces: ReturnType<typeof interfaceOf>[]) => {
      const plan = planOf(2, ttl, { agents: many(...interfaces) });
      return stacksOf(plan)[0]?.interface ?? plan.issues.map(({ code, path, message }) => ({ code, path, message }));
    };
    expect(interfaceWith(loopback, management, first)).toBe('eth4');
    expect(interfaceWith(loopback, management)).toBe('eth3');
    expect(interfaceWith(loopback, first, second)).toEqual([
      {
        code: 'INTERFACE_NEEDED',
        path: '/configuration/0/values/sources/0/interfaceId',
        message: expect.stringContaining('4 (eth4), 5 (eth5)'),
      },
    ]);
    const chosen = { ...ttl, sources: [{ agent: { id: 1 }, network: { id: 1 }, interfaceId: 5 }] };
    expect(stacksOf(planOf(2, chosen, { agents: many(first, second) }))[0]?.interface).toBe('eth5');
  });
});
