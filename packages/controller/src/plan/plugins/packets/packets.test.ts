import { describe, expect, it } from 'vitest';
import { configProblems } from '../../testing/engine-check.ts';
import { agentOf, interfaceOf, networkOf, sidesOf } from '../../testing/plan-fixture.ts';

const six = { agents: [1, 2].map((id) => agentOf(id, { addresses: [`fd00::${id}`] })) };

describe('streams', () => {
  it('are numbered frames of the ordered sizes at the ordered rate', () => {
    const mix = [
      { frameSize: 64, weight: 7 },
      { frameSize: 1518, weight: 1 },
    ];
    const { client, server, plan, issues } = sidesOf(7, { packetsPerSecond: 800, payload: { mix }, maxStreams: 3 });
    expect(issues).toEqual([]);
    expect(client).toMatchObject({ load: { rate: 800 }, loadUnit: 'pps', sizes: { mix }, streams: 3 });
    expect(server).toMatchObject({ listen: [{ host: '10.0.0.2', port: 15_009 }], protocol: 'udp' });
    expect(plan.estimate.pps).toBe(800);
    for (const config of [client, server]) expect(configProblems({ engine: 'stream', config })).toEqual([]);
  });

  it('carry tags, labels, tunnels and fields that change', () => {
    const vlan = [{ id: 5, tpid: '0x88a8' }, { id: 6 }];
    const tunnel = { type: 'vxlan', source: '10.0.0.1', destination: '10.0.0.2', network: 7 };
    const modifiers = [{ field: 'sourcePort', mode: 'random', count: 9 }];
    const payload = { mpls: [{ label: 3 }], tunnel, modifiers };
    const { client, server } = sidesOf(7, { ppsUnlimited: true, frameSize: 256, ipLayer: { vlan, dscp: 46 }, payload });
    expect(client).toMatchObject({
      load: {},
      headers: {
        vlan: [
          { id: 5, type: 0x88a8 },
          { id: 6, type: 0x8100 },
        ],
        mpls: [{ label: 3, ttl: 64 }],
        dscp: 46,
        tunnel,
      },
      modifiers,
    });
    expect(server['protocol']).toBe('other');
    expect(configProblems({ engine: 'stream', config: client })).toEqual([]);
    const outside = { ...payload, tunnel: { ...tunnel, destination: '8.8.8.8' } };
    expect(sidesOf(7, { ppsUnlimited: true, frameSize: 256, payload: outside }).issues).toEqual([
      'payload/tunnel/destination TARGET_NOT_ALLOWED',
    ]);
  });

  it('take their rate in frames, bits or percent of the line', () => {
    expect(sidesOf(7, { payload: { rateBps: 8e6 } }).client).toMatchObject({ load: { rate: 8e6 }, loadUnit: 'bps' });
    expect(sidesOf(7, { payload: { linePct: 50 } }).client).toMatchObject({ load: { rate: 50 }, loadUnit: 'linePct' });
    expect(sidesOf(7, {}).issues).toEqual(['packetsPerSecond RATE_MISSING']);
  });

  it('need frames that hold their headers', () => {
    const issueCodes = (values: object, options = {}) => sidesOf(7, { packetsPerSecond: 1, ...values }, options).issues;
    expect(issueCodes({ frameSize: 64 })).toEqual([]);
    expect(issueCodes({ frameSize: 80, ipLayer: { version: 6 } }, six)).toEqual(['frameSize FRAME_TOO_SMALL']);
    expect(issueCodes({ payload: { sweep: { first: 64, last: 128 }, protocol: 'tcp' } })).toEqual([
      'payload/sweep/first FRAME_TOO_SMALL',
    ]);
    expect(sidesOf(7, { packetsPerSecond: 1, ipLayer: { version: 6 } }, six).client['sizes']).toEqual({
      mix: [{ frameSize: 84, weight: 1 }],
    });
  });
});

describe('hosts of streams', () => {
  const macPolicy = { mode: 'derived', prefix: '02:1a:4c' } as const;
  const networks = [networkOf(1, '10.20.0.0/28', { macPolicy }), networkOf(2, '10.30.0.0/28', { macPolicy })];
  const inNetworks = {
    sources: [{ agent: { id: 1 }, network: { id: 1 } }],
    targets: [{ agent: { id: 2 }, network: { id: 2 } }],
  };

  it('have the MACs and the gateway of their network, and no machine claims their addresses', () => {
    const { plan, client, server, issues } = sidesOf(7, { packetsPerSecond: 10, ...inNetworks }, { networks });
    expect(issues).toEqual([]);
    expect(client['hosts']).toMatchObject([{ subnet: '10.20.0.0/28', macs: { network: { macPolicy } } }]);
    expect(server['hosts']).toMatchObject([{ subnet: '10.30.0.0/28', macs: { network: { macPolicy } } }]);
    expect(plan.agents.flatMap(({ jobs }) => jobs.flatMap(({ job }) => job.claims ?? []))).toEqual([]);
    for (const config of [client, server]) expect(configProblems({ engine: 'stream', config })).toEqual([]);
  });

  it('have those of the interface without a policy', () => {
    const plain = [networkOf(1, '10.20.0.0/28'), networkOf(2, '10.30.0.0/28')];
    const { client, server } = sidesOf(7, { packetsPerSecond: 10, ...inNetworks }, { networks: plain });
    expect([client['hosts'], server['hosts']]).toEqual([undefined, undefined]);
  });

  it('send by the interface that their source names', () => {
    const agents = [1, 2].map((id) => agentOf(id, { interfaces: [interfaceOf(id, `10.0.0.${id}/24`)] }));
    const sources = [{ agent: { id: 1 }, interfaceId: 1 }];
    const [{ name } = { name: '' }] = agents[0]?.interfaces ?? [];
    expect(sidesOf(7, { packetsPerSecond: 10, sources }, { agents }).client['interface']).toBe(name);
    expect(sidesOf(20, { packetsPerSecond: 10, sources }, { agents }).client['interface']).toBe(name);
  });

  it('cut their frames as ordered, where the last fragment can hold the signature', () => {
    const planOf = (fragmentSize: number, more: object = {}) =>
      sidesOf(7, { packetsPerSecond: 1, frameSize: 1518, ipLayer: { fragmentSize }, ...more });
    expect(planOf(500)).toMatchObject({ issues: [], client: { headers: { fragmentBytes: 500 } } });
    expect(planOf(51).issues).toEqual(['ipLayer/fragmentSize NOT_SUPPORTED']);
    const tunnel = { type: 'gre', source: '10.0.0.1', destination: '10.0.0.2' };
    expect(planOf(500, { payload: { tunnel } }).issues).toEqual(['ipLayer/fragmentSize NOT_SUPPORTED']);
    const flows = { packetsPerSecond: 10, ipLayer: { fragmentSize: 500 } };
    expect(sidesOf(20, flows).issues).toEqual(['ipLayer/fragmentSize NOT_SUPPORTED']);
  });
});

describe('ICMP', () => {
  it('asks each target once in an interval, or at a rate', () => {
    const { client, server, issues } = sidesOf(5, { icmpParams: { count: 3, intervalMs: 500, size: 10 } });
    expect(issues).toEqual([]);
    expect(client).toMatchObject({ load: { rate: 2 }, limit: 3, payloadBytes: 10, targets: [{ host: '10.0.0.2' }] });
    for (const config of [client, server]) expect(configProblems({ engine: 'icmp', config })).toEqual([]);
    expect(sidesOf(5, { packetsPerSecond: 70 }).client['load']).toEqual({ rate: 70 });
  });

  it('has a version of its own, with its own kinds of messages', () => {
    expect(sidesOf(5, { icmpParams: { version: 6 } }, six).client['targets']).toMatchObject([{ host: 'fd00::2' }]);
    const issuesOf = (icmpParams: object) => sidesOf(5, { icmpParams }).issues;
    expect(issuesOf({ type: 'neighbourSolicitation' })).toContain('icmpParams/type NOT_SUPPORTED');
    expect(issuesOf({ type: 'timestamp', version: 6 })).toContain('icmpParams/type NOT_SUPPORTED');
    expect(issuesOf({ type: 'redirect' })).toEqual(['icmpParams/type STACK_NEEDS_NETWORK']);
  });
});
